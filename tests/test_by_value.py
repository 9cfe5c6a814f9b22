"""Values that have to be known when compiling, such as axes, may come from arguments, defaults, closures and globals: the
function is compiled for their values."""

import warnings

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn


AXIS = 1


def squares(a, axis=0, keepdims=False):
    return np.sum(np.sum(a, axis=axis, keepdims=keepdims) ** 2)


def weighted(a, axis, n):
    return np.sum(np.sum(a, axis=axis) ** n)


def long(a, axis):
    """Too long to be compiled in place."""
    total = 0.0
    for i in range(len(a)):
        for j in range(len(a[0])):
            if i > j:
                total += a[i, j] * 2.0
            elif i < j:
                total -= a[i, j] * 3.0
            else:
                total += 1.0
    while total > 1e10:
        total -= 1.0
    return total + np.sum(np.sum(a, axis=axis) ** 2)


@pytest.fixture(autouse=True)
def natively():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


A = np.arange(12.0).reshape(3, 4)


def by_hand(a, axis):
    return 2 * np.sum(a, axis=axis, keepdims=True) * np.ones_like(a)


def test_argument():
    compiled = zyg.jit(squares)
    for args in ((), (1,), (0,), (-1, True), (1, False)):
        assert compiled(A, *args) == squares(A, *args)
    assert compiled(A, axis=(0, 1)) == squares(A, axis=(0, 1))
    with pytest.raises(np.exceptions.AxisError, match="axis 2 is out of bounds"):
        compiled(A, 2)


def test_default_closure_and_global(monkeypatch):
    np.testing.assert_allclose(zyg.gradient(squares, A)[0], by_hand(A, 0))
    axis = 1
    captured = lambda a: squares(a, axis)
    np.testing.assert_allclose(zyg.gradient(captured, A)[0], by_hand(A, 1))
    axis = 0
    np.testing.assert_allclose(zyg.gradient(captured, A)[0], by_hand(A, 0))
    module_wide = zyg.jit(lambda a: squares(a, AXIS))
    assert module_wide(A) == squares(A, 1)
    monkeypatch.setitem(globals(), "AXIS", 0)
    assert module_wide(A) == squares(A, 0)


def test_other_integers_stay_variables():
    compiled = zyg.jit(weighted)
    for n in (2, 3, 4, 20):
        assert compiled(A, 1, n) == weighted(A, 1, n)
    assert len(compiled.signatures) == 1
    assert compiled(A, 0, 2) == weighted(A, 0, 2)
    assert len(compiled.signatures) == 2


def test_through_calls_and_derivatives_inside():
    assert zyg.jit(lambda a, axis: long(a, axis))(A, 1) == long(A, 1)
    inside = zyg.jit(lambda a, axis: zyg.gradient(squares, a, axis)[0])
    np.testing.assert_allclose(inside(A, 1), by_hand(A, 1))
    second = zyg.jit(lambda a, axis: zyg.gradient(lambda b: zyg.gradient(squares, b, axis)[0][0, 0], a)[0])
    np.testing.assert_allclose(second(A, 1), [[2.0] * 4, [0.0] * 4, [0.0] * 4])


def test_what_is_computed_is_refused():
    with pytest.raises(zyg.Unsupported, match="an axis that is not known when compiling"):
        zyg.jit(lambda a: np.sum(a, axis=int(a[0, 0])))(A)


def test_stages_of_it_can_be_seen():
    assert "func" in str(zyg.code_typed(squares, A, 1))
    assert "func" in str(zyg.code_adjoint(squares, A, 1))
    assert "define" in str(zyg.code_llvm(squares, A, 1))


INTEGER = np.int64(1)


def test_axes_that_are_numpy_integers():
    compiled = zyg.jit(lambda a, k: np.sum(a, axis=k) * 2.0)
    for k in (np.int64(1), np.int32(-1), np.int64(0)):
        np.testing.assert_array_equal(compiled(A, k), np.sum(A, axis=k) * 2.0)
    for f in (lambda a: squares(a, np.int64(1)), lambda a: squares(a, INTEGER)):
        assert zyg.jit(f)(A) == f(A)
        np.testing.assert_allclose(zyg.gradient(f, A)[0], by_hand(A, 1))
    kept = zyg.jit(lambda a, k: np.sum(a, axis=k) * k)(np.ones((2, 2), np.int32), np.int64(1))
    assert kept.dtype == np.int64


def test_truth_values_are_axes_where_numpy_takes_them():
    for f in (np.sum, np.argmax, np.mean, np.take, np.sort, np.flip, np.expand_dims, np.diff, np.median):
        call = (lambda a: np.take(a, [0], axis=True)) if f is np.take else lambda a, f=f: f(a, axis=True)
        try:
            expected = call(A)
        except TypeError:
            with pytest.raises(TypeError, match="an integer is required"):
                zyg.jit(call)(A)
        else:
            np.testing.assert_array_equal(zyg.jit(call)(A), expected)


def test_what_is_tried_is_seen_by_no_other_call(monkeypatch):
    """While one call tries arguments by their values, another thread's calls go on by types."""
    from zyg.callables import DISPATCHER
    from zyg.dispatch import MAX_ROWS, Dispatcher

    f = zyg.jit(weighted)
    dispatcher = getattr(f, DISPATCHER)
    plain = dispatcher.types_of((A, 1, 2), {}, MAX_ROWS, dispatcher.by_value)
    specialise, seen = Dispatcher._specialise, []

    def watched(self, *args):
        if self is dispatcher:
            seen.append(self.types_of((A, 1, 2), {}, MAX_ROWS, self.by_value))
        return specialise(self, *args)

    monkeypatch.setattr(Dispatcher, "_specialise", watched)
    assert f(A, 1, 2) == weighted(A, 1, 2)
    assert len(seen) > 2 and set(seen) == {plain}
    assert dispatcher.types_of((A, 1, 2), {}, MAX_ROWS, dispatcher.by_value) != plain  # what has helped stays
    assert f(A, 0, 3) == weighted(A, 0, 3)
