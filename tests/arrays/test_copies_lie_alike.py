"""Code that runs on copies of its arguments (Hessians, Jacobians, pushforwards, checkpoints) does what it does with the arguments:
`ravel` and `reshape` are views of the copies where they are views of these.  The oracles are differences of plain Python."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import zyg
from zyg.twins import twin

from ..turns import each_in_long_turn, each_in_turn

BASE = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]])
W = np.sin(np.arange(6.0) * 1.7).reshape(2, 3) + 0.3


def lying(name: str, values: np.ndarray) -> np.ndarray:
    """An array with these values, in an order."""
    wide = np.zeros((5, 7))
    made = {
        "C": np.zeros((2, 3)),
        "F": np.zeros((3, 2)).T,
        "apart": wide[:4:2, :6:2],
        "merging": np.zeros((2, 6))[:, ::2],
        "backwards": np.zeros((2, 3))[::-1, ::-1],
        "columns": wide[::-2, ::3].T[:, :2].T,
        "swapped": wide[:3, 1:3].T,
    }[name]
    made[...] = values
    return made


NAMES = ["C", "F", "apart", "merging", "backwards", "columns", "swapped"]


def f(a, b):
    a.ravel()[1:] *= b
    a.reshape(-1)[::2] *= b * b
    a.reshape(3, 2)[0] *= 1.5
    return np.sum(a * a * W) * b


def of_both(p):
    return f(p["a"], p["b"])


def checkpointed(a, b):
    return zyg.checkpoint(f, a, b) + np.sum(a)


def plain(a, b):
    return f(a, b) + np.sum(a)


def slopes(function, name, a, h):
    result = np.zeros(a.shape)
    for i in np.ndindex(a.shape):
        d = np.zeros(a.shape)
        d[i] = h
        result[i] = (function(lying(name, a + d), 1.5) - function(lying(name, a - d), 1.5)) / (2 * h)
    return result


@each_in_long_turn
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_that_run_on_copies(name):
    expected = slopes(f, name, BASE, 1e-4)
    a = lambda: lying(name, BASE)
    np.testing.assert_allclose(zyg.gradient(f, a(), 1.5)[0], expected, rtol=1e-6)
    np.testing.assert_allclose(zyg.jacobian(lambda a, b: (f(a, b), b), a(), 1.5)[0][0], expected, rtol=1e-6)
    _, push = zyg.pushforward(f, a(), 1.5)
    np.testing.assert_allclose(push(np.ones((2, 3)), 0.0), np.sum(expected), rtol=1e-6)
    pushed = zyg.jit(lambda a: zyg.pushforward(f, a, 1.5)[1](np.ones((2, 3)), 0.0))
    np.testing.assert_allclose(pushed(a()), np.sum(expected), rtol=1e-6)
    assert zyg.gradcheck(f, a(), 1.5)

    second = np.zeros((2, 3, 2, 3))
    for i in np.ndindex(2, 3):
        d = np.zeros((2, 3))
        d[i] = 1e-2
        change = slopes(f, name, BASE + d, 1e-2) - slopes(f, name, BASE - d, 1e-2)
        second[(..., *i)] = change / 2e-2
    np.testing.assert_allclose(zyg.hessian(f, a(), 1.5), second, atol=1e-6)
    np.testing.assert_allclose(zyg.hessian(of_both, {"a": a(), "b": 1.5})["a"]["a"], second, atol=1e-6)
    np.testing.assert_allclose(zyg.hessian(f, a(), 1.5, argnums=(0, 1))[0][0], second, atol=1e-6)


@each_in_turn
@pytest.mark.parametrize("name", NAMES)
def test_what_is_checkpointed(name):
    value, (found, _) = zyg.withgradient(checkpointed, lying(name, BASE), 1.5)
    assert value == pytest.approx(plain(lying(name, BASE), 1.5))
    np.testing.assert_allclose(found, slopes(plain, name, BASE, 1e-4), rtol=1e-6)


def test_twins():
    rng = np.random.default_rng(0)
    for shape in ((4,), (3, 4), (2, 3, 4), (2, 1, 3), (1, 1)):
        for _ in range(40):
            order = rng.permutation(len(shape))
            wide = rng.normal(size=[2 * shape[k] + rng.integers(2) for k in order])
            step = [int(rng.choice([1, 2, -1])) for _ in shape]
            cut = [
                slice(None, n, s) if s > 0 else slice(n - 1, None, s) for n, s in zip([shape[k] for k in order], step)
            ]
            a = wide[tuple(cut)].transpose(np.argsort(order))
            b = twin(a)
            np.testing.assert_array_equal(a, b)
            assert not np.shares_memory(a, b)
            assert b.flags.c_contiguous == a.flags.c_contiguous
            assert b.flags.f_contiguous == a.flags.f_contiguous
            for other in ((-1,), (2, -1), (-1, 2), a.shape[::-1]):
                if not (a.size % 2 and 2 in other):
                    views = [np.shares_memory(x, x.reshape(other)) for x in (a, b)]
                    assert views[0] == views[1], (a.shape, a.strides, b.strides, other)


def in_python(x):
    text = f"{type(x).__name__}"  # (the name of a type is nothing that compiled code knows)
    with warnings.catch_warnings():
        return np.sum(x * W) + len(text)


@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
def test_what_is_repeated_in_memory_has_no_gradient_in_python():
    x = np.broadcast_to(BASE[0], (2, 3))
    np.testing.assert_allclose(zyg.gradient(in_python, np.copy(x))[0], W)
    with pytest.raises(TypeError, match="share memory"):
        zyg.gradient(in_python, x)
