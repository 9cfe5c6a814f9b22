"""Callables that are made anew share their code, where it is right for both; and nothing is kept alive by that."""

from __future__ import annotations

import gc
import warnings
import weakref

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg import rules, sharing
from zyg.pipeline import timings

SCALE = 2.0


def square(x):
    return SCALE * x * x


def helper(x):
    return 3.0 * x


def compilations(make, *calls):
    """How often is compiled for `make(*given)(x)`, and what comes out."""
    results = []
    with timings() as times:
        for given, x in calls:
            results.append(make(*given)(x))
    return sum(stage == "native" for _, stage, _ in times), results


def test_the_same_function():
    count, results = compilations(lambda: zyg.derivative(square), *[((), float(k)) for k in range(1, 5)])
    assert (count, results) == (1, [4.0, 8.0, 12.0, 16.0])
    assert compilations(lambda: zyg.derivative(zyg.derivative(square)), ((), 1.0), ((), 2.0)) == (1, [4.0, 4.0])
    assert compilations(lambda: zyg.jit(square), ((), 1.0), ((), 2.0)) == (1, [2.0, 8.0])


def test_options_and_arguments_are_told_apart():
    f = lambda x, y: x * y
    found = [zyg.grad(f, argnums)(2.0, 3.0) for argnums in (0, 1, (0, 1), 0, (1, 0))]
    assert found == [3.0, 2.0, (3.0, 2.0), 3.0, (2.0, 3.0)]
    assert zyg.jit(lambda x: x * x)(3) == 9
    assert [type(zyg.jit(square)(v)) for v in (1.0, np.float32(1.0), 2)] == [float, np.float32, float]


@each_in_turn
def test_functions_made_anew_read_what_they_have_captured():
    def make(a, n):
        def f(x):
            return a * x**n

        return zyg.derivative(f)

    count, results = compilations(make, ((2.0, 3), 1.0), ((5.0, 2), 3.0), ((1.0, 4), 2.0))
    assert results == [6.0, 30.0, 32.0]
    assert count == 1
    arrays = lambda w: zyg.grad(lambda x: np.sum(w * x))
    count, results = compilations(arrays, ((np.arange(3.0),), np.ones(3)), ((np.ones(3),), np.ones(3)))
    assert count == 1 and [list(r) for r in results] == [[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]
    assert make(2, 3)(1.0) == 6.0  # of another type
    fitted = lambda x, y: zyg.grad(lambda w: np.sum((x @ w - y) ** 2))
    count, results = compilations(fitted, ((np.eye(2), 1.0), np.ones(2)), ((2.0 * np.eye(2), 1.0), np.ones(2)))
    assert count == 1 and [list(r) for r in results] == [[0.0, 0.0], [4.0, 4.0]]


def test_functions_that_capture_functions():
    def make(a):
        inner = lambda x: a * x
        outer = lambda x: inner(x) * inner(x)
        return zyg.derivative(outer)

    assert compilations(make, ((2.0,), 1.0), ((3.0,), 1.0)) == (1, [8.0, 18.0])

    def pair(a, b):
        first, second = lambda x: a * x, lambda x: b * x * x
        return zyg.derivative(lambda x: first(second(x)))

    assert [pair(1.0, 2.0)(3.0), pair(2.0, 1.0)(3.0)] == [12.0, 12.0]
    one = lambda a: lambda x: a * x
    both = lambda f, g: zyg.derivative(lambda x: f(x) * g(x))
    same = one(2.0)
    # Captured twice, or two of the same code: told apart by what was captured.
    assert [both(same, same)(1.0), both(one(2.0), one(3.0))(1.0), both(same, one(5.0))(1.0)] == [8.0, 12.0, 20.0]


def test_recursive_functions_made_anew():
    def make(a):
        def power(x, n):
            return a if n == 0 else x * power(x, n - 1)

        return zyg.grad(power)

    assert [make(2.0)(3.0, 2), make(5.0)(3.0, 2)] == [12.0, 30.0]


def test_globals_that_change():
    def run():
        return zyg.derivative(lambda x: helper(x) * SCALE)(1.0)

    global SCALE, helper
    before = helper
    try:
        first = run()
        SCALE = 4.0
        second = run()
        helper = lambda x: x * x
        third = run()
        helper = before
        assert [first, second, third, run()] == [6.0, 12.0, 8.0, 12.0]
    finally:
        SCALE, helper = 2.0, before


def test_functions_whose_code_changes():
    def make():
        return lambda x: x * x

    f, g = make(), make()
    first, second = zyg.derivative(f), zyg.derivative(g)
    assert first(3.0) == second(3.0) == 6.0
    g.__code__ = (lambda x: x * x * x).__code__
    assert (first(3.0), second(3.0)) == (6.0, 27.0)


def test_rules_are_of_one_function():
    def make(a):
        return lambda x: a * x * x

    f, g = make(1.0), make(1.0)
    assert zyg.derivative(f)(3.0) == 6.0

    @zyg.adjoint(g)
    def rule(x):
        return x * x, lambda d: (100.0 * d,)

    try:
        assert (zyg.derivative(f)(3.0), zyg.derivative(g)(3.0)) == (6.0, 100.0)
        assert (zyg.derivative(lambda x: f(x))(3.0), zyg.derivative(lambda x: g(x))(3.0)) == (6.0, 100.0)
        assert zyg.derivative(make(2.0))(3.0) == 12.0
    finally:
        rules.remove(g)
    assert zyg.derivative(g)(3.0) == 6.0


@each_in_turn
def test_defaults_are_told_apart():
    make = lambda n: zyg.derivative(lambda x, n=n: x**n)
    assert [make(n)(2.0) for n in (1, 1.0, 2, 3, 2)] == [1.0, 1.0, 4.0, 12.0, 4.0]
    arrays = lambda w: zyg.grad(lambda x, w=w: np.sum(w * x))
    assert [list(arrays(w)(np.ones(2))) for w in (np.ones(2), np.arange(2.0))] == [[1.0, 1.0], [0.0, 1.0]]


@each_in_turn
def test_what_is_captured_is_not_kept_alive():
    def run(captured):
        inner = lambda x: x * captured[0]
        return zyg.derivative(lambda x: inner(x) + np.sum(captured))(1.0)

    for _ in range(3):
        data = np.ones(3)
        reference = weakref.ref(data)
        assert run(data) == 1.0
        del data
        gc.collect()
        assert reference() is None


@each_in_turn
def test_little_is_kept():
    def make(k):
        scope = {}
        exec(f"def f(x):\n    return x * {float(k)}", scope)
        return zyg.derivative(scope["f"])

    for k in range(sharing.KEPT + 3):
        assert make(k)(1.0) == k
    assert len(sharing._compiled) <= sharing.KEPT

    used = lambda: zyg.derivative(lambda x: 7.0 * x)
    used()(1.0)
    for k in range(2 * sharing.KEPT):
        make(-k)(1.0)
        if k % 8 == 0:
            assert compilations(used, ((), 1.0)) == (0, [7.0])


@pytest.mark.parametrize("wrap", [zyg.grad, zyg.value_and_grad, zyg.jit])
def test_other_errors_stay(wrap):
    for _ in range(2):
        with pytest.raises(TypeError):
            wrap(square)(1.0, 2.0)


def attempts(make, *calls):
    """How often the compiler is asked, and what comes out."""
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        with timings() as times:
            for given, x in calls:
                results.append(make(*given)(x))
    return sum(stage == "typed" for _, stage, _ in times), results


def refused(x):
    return x * len(str(bytearray(b"abc"))) * SCALE


def test_refusals_are_shared():
    factor = len(str(bytearray(b"abc"))) * SCALE
    count, results = attempts(lambda: zyg.grad(refused), ((), 1.0), ((), 2.0), ((), 3.0))
    assert results == [factor] * 3
    assert count == 1

    def make(a):
        return zyg.grad(lambda x: a * refused(x))

    count, results = attempts(make, ((2.0,), 1.0), ((3.0,), 1.0), ((5.0,), 2.0))
    assert results == [2 * factor, 3 * factor, 5 * factor]
    assert count == 1


def test_what_is_captured_decides_on_refusals():
    def make(a):
        return zyg.grad(lambda x: x * (a if isinstance(a, float) else float(sorted(a)[0])))

    count, results = attempts(make, (({2},), 1.0), ((3.0,), 1.0), (({4},), 1.0), ((5.0,), 1.0))
    assert results == [2.0, 3.0, 4.0, 5.0]
    assert count == 2


def test_shared_refusals_end_with_what_they_rest_on(monkeypatch):
    make = lambda: zyg.grad(lambda x: helper(x))
    monkeypatch.setitem(globals(), "helper", refused)
    count, _ = attempts(make, ((), 1.0), ((), 1.0))
    assert count == 1
    monkeypatch.setitem(globals(), "helper", lambda x: 3.0 * x)
    count, results = attempts(make, ((), 1.0), ((), 1.0))
    assert (count, results) == (1, [3.0, 3.0])


@each_in_turn
def test_shared_refusals_keep_nothing_alive():
    class Data:
        def value(self):
            return float(str(bytearray(b"2.0"), "ascii"))

    def make(data):
        return zyg.grad(lambda x: data.value() * x)

    data = Data()
    attempts(make, ((data,), 1.0))
    gone = weakref.ref(data)
    del data
    gc.collect()
    assert gone() is None


def test_a_refusal_of_one_universal_function_is_none_of_another():
    """Closures over universal functions were all refused after one of them."""
    special = pytest.importorskip("scipy.special")
    applied = lambda f: lambda x: np.sum(f(x, 0.5))
    x = np.array([1.5, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        with pytest.raises(zyg.Unsupported):
            zyg.gradient(applied(special.gammaincc), x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert zyg.gradient(applied(special.xlogy), x)[0] == pytest.approx(np.log(0.5))
