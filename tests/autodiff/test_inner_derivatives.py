"""Derivatives, and jitted functions, inside of object code: what their functions captured has its cotangents, to second order."""

import math

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects import inner
from zyg.fallback import python_pullback


def _stepped(x):
    return lambda s: np.array([s[0] + x * s[1], s[1] - x * np.sin(s[0])])


def jitted(x):
    return zyg.jit(lambda s: s * s * x)(x) * x


def jitted_over_an_array(x):
    a = np.array([x, 2.0])
    return float(zyg.jit(lambda s: np.sum(s * a))(a * x))


def jitted_over_a_list(x):
    held = [x, 2.0]
    return zyg.jit(lambda s: s * held[0])(x * x)


def jitted_with_a_default(x):
    def h(s, w=x):
        return s * w * w

    return zyg.jit(h)(x)


def jitted_gradient(x):
    return zyg.jit(zyg.grad(lambda s: s * s * x))(x)


def gradient(x):
    return zyg.gradient(lambda s: s * s * x, x)[0] * x


def gradient_of_what_calls_another(x):
    def inner(s):
        return s * x

    return zyg.gradient(lambda s: inner(s) * s, x)[0]


def gradient_with_a_default(x):
    return zyg.gradient(lambda s, w=x: s * s * w, x)[0]


def by_another_argument(x):
    value, slope = zyg.value_and_grad(lambda s, t: s * t * t * x, argnums=1)(2.0, x)
    return value * slope


def of_a_matrix(x):
    return float(zyg.jacobian(_stepped(x), np.array([x, 0.5]))[0].sum()) * x


def hessian(x):
    return float(zyg.hessian(lambda s: np.sum(s**3 * x), np.array([x, 1.0])).sum())


def along(x):
    value, slope = zyg.jvp(lambda s: s * s * x, (x,), (2.0,))
    return value * slope


def of_an_array_that_is_written_later(x):
    a = np.array([x, 1.0])
    g = zyg.gradient(lambda s: np.sum(a * s * s), a)[0]
    a[0] = 5.0
    return float(g @ g + a @ a * x)


def of_a_variable_that_is_bound_anew(x):
    y = x
    f = lambda s: s * y
    y = x * x
    return zyg.gradient(lambda s: f(s) * s, 2.0)[0]


def of_a_function_that_assigns(x):
    n = 0.0

    def f(s):
        nonlocal n
        n = n + s * x
        return s * s * x

    return zyg.gradient(f, 2.0)[0] * n


def twice(x):
    return zyg.gradient(lambda s: zyg.gradient(lambda t: t**3 * s * x, s)[0], x)[0]


class Settings:
    def __init__(self):
        self.w = 2.0


SETTINGS = Settings()
TABLE = {"w": 2.0}


def _variable():
    w = 2.0

    def put(v):
        nonlocal w
        w = v

    return put, lambda: w


put, get = _variable()


def _by_object(s):
    total = 0.0
    for _ in range(3):
        total += s * s * SETTINGS.w
    return total


def _by_table(s):
    total = 0.0
    for _ in range(3):
        total += s * s * TABLE["w"]
    return total


def _by_variable(s):
    total = 0.0
    for _ in range(3):
        total += s * s * get()
    return total


def loop_over_a_global_object(x):
    SETTINGS.w = x * x
    return _by_object(2.0) * x


def loop_over_a_global_dict(x):
    TABLE["w"] = x * x
    return _by_table(2.0) * x


def loop_over_a_captured_variable(x):
    put(x * x)
    return _by_variable(2.0) * x


def gradient_over_a_global_object(x):
    SETTINGS.w = x
    return zyg.gradient(lambda s: s * s * SETTINGS.w * x, x)[0]


ROWS = np.array([[0.3, -1.2], [0.7, 0.4], [1.1, 0.2]])
COLUMNS = np.array([0.5, 2.0]), np.array([1.5, -0.5])


def _misfit(s):
    return np.sum((ROWS @ s - 1.0) ** 2 * 0.5) + np.sum(COLUMNS[1] * s**3)


def _in_a_loop(s):
    total = 0.0
    for row in ROWS:
        total += row[0] * s * s + row[1]
    return total


def gradient_over_global_arrays(x):
    return float(zyg.gradient(_misfit, np.array([x, 0.5]))[0].sum()) * x


def hessian_over_global_arrays(x):
    return float(zyg.hessian(_misfit, np.array([x, 0.5])).sum()) * x


def loop_over_a_global_array(x):
    return float(_in_a_loop(x)) * x


PROGRAMS = [
    gradient_over_global_arrays, hessian_over_global_arrays, loop_over_a_global_array,
    jitted, jitted_over_an_array, jitted_over_a_list, jitted_with_a_default, jitted_gradient, gradient,
    gradient_of_what_calls_another, gradient_with_a_default, by_another_argument, of_a_matrix, hessian, along,
    of_an_array_that_is_written_later, of_a_variable_that_is_bound_anew, of_a_function_that_assigns, twice,
    loop_over_a_global_object, loop_over_a_global_dict, loop_over_a_captured_variable, gradient_over_a_global_object,
]  # fmt: skip
SLOW = [gradient_over_global_arrays, hessian_over_global_arrays, of_a_matrix, hessian]


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize(
    "f",
    [pytest.param(f, marks=each_in_turn if f in SLOW else (), id=f.__name__) for f in PROGRAMS],
)
def test_what_was_captured_has_its_derivative(f) -> None:
    x, h = 0.7, 1e-4
    value, back = python_pullback(f, (x,), {})
    assert value == f(x)
    by_differences = (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)
    assert back(1.0)[0] == pytest.approx(by_differences, rel=1e-8)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@each_in_long_turn
@pytest.mark.parametrize(
    "f", [jitted, by_another_argument, of_a_matrix, along, gradient_over_global_arrays], ids=lambda f: f.__name__
)
def test_second_derivatives(f) -> None:
    def slope(x):
        return python_pullback(f, (x,), {})[1](1.0)[0]

    x, h = 0.7, 1e-4
    by_differences = (8 * (slope(x + h) - slope(x - h)) - (slope(x + 2 * h) - slope(x - 2 * h))) / (12 * h)
    assert python_pullback(slope, (x,), {})[1](1.0)[0] == pytest.approx(by_differences, rel=1e-8)


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@each_in_turn
def test_a_second_derivative_of_a_second_derivative() -> None:
    """The inner ones went to native code, and what asks whether they have second derivatives was differentiated without end."""

    def curvature(a):
        try:
            return zyg.derivative(zyg.derivative(lambda t: math.sin(a * t)))(0.4)
        except KeyError:
            return 0.0

    a, t = 1.3, 0.4
    expected = (a * a * t * t - 2.0) * math.sin(a * t) - 4 * a * t * math.cos(a * t)
    assert zyg.hessian(curvature, a) == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@each_in_turn
def test_a_rule_for_what_a_transform_gave() -> None:
    """It was passed over: the function under the transform was differentiated."""
    slope = zyg.derivative(lambda x: x**3)
    zyg.adjoint(slope)(lambda x: (3.0 * x * x, lambda d: (100.0 * d,)))
    pushed = zyg.derivative(lambda x: x**3)
    zyg.tangent(pushed)(lambda x: (3.0 * x * x, lambda d: 100.0 * d))

    def gradient_of_it(x):
        try:
            return zyg.gradient(slope, x)[0] * x
        except KeyError:
            return 0.0

    def tangent_of_it(x):
        try:
            return zyg.jvp(pushed, (x,), (1.0,))[1] * x
        except KeyError:
            return 0.0

    def called(x):
        try:
            return slope(x)
        except KeyError:
            return 0.0

    for f in (gradient_of_it, tangent_of_it):
        assert f(3.0) == 300.0 and zyg.withgradient(f, 3.0) == (300.0, (100.0,))
    assert zyg.jvp(tangent_of_it, (3.0,), (1.0,)) == (300.0, 100.0)
    assert zyg.withgradient(called, 3.0) == (27.0, (100.0,))


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@each_in_turn
@pytest.mark.parametrize("f", [gradient_over_global_arrays, loop_over_a_global_array], ids=lambda f: f.__name__)
def test_global_arrays_have_their_derivative(f, monkeypatch) -> None:
    """Natively, and as they are now: other ones, and changed in place."""
    found = []
    call = inner.call
    monkeypatch.setattr(inner, "call", lambda *args: found.append(call(*args)) or found[-1])

    def check(array, at):
        def run():
            try:
                return f(0.7)
            except KeyError:
                return 0.0

        def moved(h):
            before = array[at]
            array[at] = before + h
            value = run()
            array[at] = before
            return value

        h = 1e-4
        by_differences = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
        value, found = zyg.withgradient(run, zyg.Params([array]))
        assert value == run()
        assert found[array][at] == pytest.approx(by_differences, rel=1e-8)

    check(ROWS, (1, 0))
    ROWS[2] += 1.0
    check(ROWS, (2, 0))
    monkeypatch.setitem(globals(), "ROWS", np.asfortranarray(np.arange(8.0).reshape(4, 2)))
    check(ROWS, (3, 0))
    if f is gradient_over_global_arrays:
        check(COLUMNS[1], 0)
    assert found and None not in found


def takes_from_outside(made):
    def f(x, y):
        it = made(x, y)
        return zyg.grad(lambda w: next(it) * w * w)(y)

    return f


@each_in_turn
@pytest.mark.parametrize(
    "made",
    [
        lambda x, y: iter([x * x, y]),
        lambda x, y: iter((x * x, y)),
        lambda x, y: (v for v in [x * x, y]),
        lambda x, y: map(math.sin, [x * x, y]),
    ],
    ids=["list", "tuple", "generator", "map"],
)
def test_what_takes_from_an_iterator_made_outside_is_refused(made):
    """(The cotangents of its items were lost.)"""
    with pytest.raises(zyg.Unsupported, match="made outside of it"):
        python_pullback(takes_from_outside(made), (0.7, 1.3), {})


def test_what_takes_text_from_an_iterator_made_outside():
    def f(x, y):
        words = iter(["a", "bc"])
        return zyg.grad(lambda w: len(next(words)) * w * w * x)(y)

    _, back = python_pullback(f, (0.7, 1.3), {})
    assert back(1.0) == pytest.approx((2.6, 1.4))
