"""`with np.errstate(...)` natively: nothing is to be done, and exceptions pass."""

import warnings

import numpy as np
import pytest

import zyg

X = np.array([0.5, 2.0, 3.0])


def early(x):
    with np.errstate(all="ignore"), np.errstate(divide="warn"):
        y = np.log(x)
        if y[0] > 1.0:
            return y.sum()
        for i in range(len(x)):
            if y[i] > 0:
                break
            y[i] = 2.0
    return y.sum() * 2


def test_control_flow_and_derivative():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (X, X * 10):
            assert zyg.jit(early)(x) == pytest.approx(early(x), rel=1e-15)
        np.testing.assert_allclose(zyg.gradient(early, X)[0], [0.0, 1.0, 2 / 3], rtol=1e-15)


def test_exceptions_pass():
    def beyond(x):
        with np.errstate(all="ignore"):
            return x[5]

    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        zyg.jit(beyond)(X)


def test_others_are_refused():
    def strict(x):
        with np.errstate(divide="raise"):
            return np.log(x)

    def caught(x):
        try:
            with np.errstate(all="ignore"):
                return x[5]
        except IndexError:
            return x[0]

    def opened(x):
        with open("/dev/null"):
            return x[0]

    for f, text in ((strict, r"np\.errstate\(divide=\.\.\.\)"), (caught, "try/except"), (opened, "a `with` statement")):
        with pytest.raises(zyg.Unsupported, match=text):
            zyg.jit(f)(X)
