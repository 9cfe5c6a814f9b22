"""Arguments that an entry does not take: NumPy's defaults pass, others are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.errors import Unsupported
from zyg.fallback import python_pullback
from zyg.library.intrinsics import unsupported


def test_a_default_of_numpys_passes():
    a = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(zyg.jit(lambda a: np.zeros_like(a, subok=True))(a), np.zeros_like(a))
    assert np.array_equal(zyg.jit(lambda a: np.zeros_like(a, None, "K"))(a), np.zeros_like(a))


@pytest.mark.parametrize(
    "function, text",
    [
        (lambda a: np.zeros_like(a, subok=False), r"np\.zeros_like\(subok=\.\.\.\)"),
        (lambda a: np.asarray(a, device="cpu"), r"np\.asarray\(device=\.\.\.\)"),
        (lambda a: a.copy(order="C", foo=1), "unexpected keyword argument 'foo'"),
    ],
)
def test_others_are_refused_by_name(function, text):
    with pytest.raises(TypeError if "foo" in text else Unsupported, match=text):
        zyg.jit(function)(np.ones(3))


def test_library_code_refuses_values():
    def f(x, kind):
        if kind == "odd":
            unsupported("np.f(kind='odd')", "write kind='even'")
        return x

    assert zyg.jit(lambda x: f(x, "even"))(1.0) == 1.0
    with pytest.raises(Unsupported, match="instead: write kind='even'"):
        zyg.jit(lambda x: f(x, "odd"))(1.0)


@each_in_turn
@pytest.mark.parametrize("dtype, order", [(float, "C"), (float, "F"), (complex, "C"), (int, "C"), (bool, "F")])
def test_diagonals_of_ones(dtype, order):
    for columns in (None, 0, 2, 7):
        made = lambda n, k, columns=columns: np.eye(n, columns, k, dtype, order)
        compiled = zyg.jit(made)
        for n in (0, 1, 3, 5):
            for k in (-6, -3, -1, 0, 1, 2, 9):
                expected, found = made(n, k), compiled(n, k)
                assert found.dtype == expected.dtype and np.array_equal(found, expected)
                assert found.flags.f_contiguous == expected.flags.f_contiguous


def test_integers_in_steps():
    for start, stop, step in ((3, 20, 1), (20, 3, -1), (0, 100, 7), (-5, -40, -3), (2**62, 2**62 + 9, 1), (9, 1, 1)):
        found = zyg.jit(lambda n, stop=stop, step=step: np.arange(n, stop, step))(start)
        assert found.dtype == np.int64 and np.array_equal(found, np.arange(start, stop, step))


SPECIAL, LINALG = pytest.importorskip("scipy.special"), pytest.importorskip("scipy.linalg")


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize(
    "function, name",
    [
        (lambda a: np.pad(a, 1, mode="reflect", reflect_type="odd").sum(), r"np\.pad\(reflect_type=\.\.\.\)"),
        (lambda a: SPECIAL.logsumexp(a, return_sign=True)[0], r"scipy\.special\.logsumexp\(return_sign=\.\.\.\)"),
        (lambda a: np.linalg.trace(a, dtype=np.float64), r"np\.linalg\.trace\(dtype=\.\.\.\)"),
        (lambda a: LINALG.solve(a, np.ones(2), assume_a="pos").sum(), r"scipy\.linalg\.solve\(assume_a=\.\.\.\)"),
        (lambda a: np.matmul(a, a, axes=[(0, 1)] * 3).sum(), r"np\.matmul\(axes=\.\.\.\)"),
        (lambda a: SPECIAL.factorial(a, extend="complex").real.sum(), r"scipy\.special\.factorial\(.*extend"),
    ],
)
def test_derivatives_are_refused_by_the_same_name(function, name):
    a = np.array([[2.0, 1.0], [1.0, 3.0]])
    with pytest.raises(Unsupported, match=name):
        zyg.jit(function)(a)
    with pytest.raises(Unsupported, match=f"a derivative through .*{name}") as caught:
        zyg.gradient(function, a)
    assert "test_numpy_arguments.py" in str(caught.value) and "instead: " in str(caught.value)


def test_results_that_are_written_to_an_array_through_python():
    def f(a, b):
        c = np.fft.fft(a * a, out=b)
        return np.abs(b[1]) + c[2].real + np.abs(b[2])

    a = np.array([0.3, -1.0, 2.0, 0.7])
    with pytest.raises(Unsupported, match=r"np\.fft\.fft\(out=\.\.\.\)"):
        zyg.jit(f)(a, np.empty(4, complex))
    with pytest.warns(zyg.FallbackWarning, match=r"np\.fft\.fft\(out="):
        found, _ = zyg.gradient(f, a, np.empty(4, complex))
    step = 1e-6 * np.eye(4)
    expected = [(f(a + h, np.empty(4, complex)) - f(a - h, np.empty(4, complex))) / 2e-6 for h in step]
    assert found == pytest.approx(expected, rel=1e-7)


def test_functions_of_grids_may_have_keywords():
    def f(a):
        return np.fromfunction(lambda i, j, a, b=2.0: a * a * i + b * j, (2, 3), a=a).sum()

    assert zyg.jit(f)(3.0) == f(3.0)
    assert zyg.gradient(f, 3.0) == (18.0,)
    assert python_pullback(f, (3.0,), {})[1](1.0) == (18.0,)
