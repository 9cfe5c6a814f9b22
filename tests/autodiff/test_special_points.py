"""Second derivatives through Python where random inputs do not come: perfect fits, zeros, equal elements. There first cotangents
are 0 whose derivatives are not. (Natively, and many more points: `python -m tests.arrays.points`.)"""

import math

import numpy as np
import pytest

import zyg
from tests.oracles import dual
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn

# Each is 0 where it is taken, or has a factor that is.
NUMBERS = [
    (lambda x: (x**3 - 8.0) ** 2, 2.0),
    (lambda x: (x**1.5 - 8.0) ** 2, 4.0),
    (lambda x: (2.0**x - 8.0) ** 2, 3.0),
    (lambda x: (x**x - 4.0) ** 2, 2.0),
    (lambda x: (math.pow(x, 2) - 1.0) ** 2, 1.0),
    (lambda x: x**2, 0.0),
    (lambda x: x**2.0 + (x + 1.0) ** x, 0.0),
    (lambda x: (2.0 / x - 1.0) ** 2, 2.0),
    (lambda x: (math.sqrt(x) - 2.0) ** 2, 4.0),
    (lambda x: (x - 4.0) * math.sqrt(x), 4.0),
    (lambda x: math.log(x) ** 2 + math.log(x, 2.0) ** 2, 1.0),
    (lambda x: (math.atan2(x, 1.0) - math.atan2(1.0, 1.0)) ** 2, 1.0),
    (lambda x: (math.hypot(x, 3.0) - 5.0) ** 2, 4.0),
    (lambda x: (math.fmod(x, 2.0) - 1.0) ** 2, 3.0),
    (lambda x: (math.copysign(x, -1.0) + 2.0) ** 2, 2.0),
    (lambda x: (math.remainder(x, 2.0) - 0.5) ** 2, 0.5),
    (lambda x: math.lgamma(x), 1.0),
    (lambda x: math.prod([x, x, 3.0]), 0.0),
]


def test_of_numbers():
    points = tuple(x for _, x in NUMBERS)
    total = lambda *xs: sum([f(x) for (f, _), x in zip(NUMBERS, xs)])
    found = pullback(lambda *xs: zyg.gradient(total, *xs), points)[1](tuple(1.0 for _ in points))
    wanted = [dual.derivative(f, 2)(x) for f, x in NUMBERS]
    assert found == pytest.approx(wanted, rel=1e-9)


def _parts_changed(a):
    b = a.copy()
    b *= a
    b[1:] -= a[:-1]
    return np.sum((b - np.array([0.49, 0.99, 3.11])) ** 2)


ONES, SOME, ZEROS = np.ones(3), np.array([0.7, 1.3, 2.1]), np.array([0.0, 2.0, 0.0])
ARRAYS = [
    (lambda a: np.sum((a**3 - 1.0) ** 2), ONES),
    (lambda a: np.sum((np.sqrt(a * np.array([0.0, 1.0, 1.0])) - 1.0)[1:] ** 2), ONES),
    (lambda a: (a[0] ** 3 - 1.0) ** 2 + (2.0 / a[1] - 2.0) ** 2 + np.log(a[2]) ** 2, ONES),
    (lambda a: a[1] ** a[0] + a[2] ** 2, ZEROS),
    (lambda a: np.sum(np.where(a > 0, np.log(a), 0.0) ** 2), np.array([1.0, -1.0, 2.0])),
    (lambda a: np.prod(a) + a.prod(), ZEROS),
    (lambda a: np.sum(np.prod(np.outer(a, a), axis=0)), ZEROS),
    (lambda a: np.linalg.det(a[:2, None] * a[1:]) + np.linalg.det(np.diag(a)), np.zeros(3)),
    (lambda a: (np.trace(np.outer(a, a)) - 3.0) ** 2, ONES),
    (lambda a: np.sum(np.hypot(a, 2.0) * a) + np.sum(np.logaddexp(a, 0.0)), ZEROS),
    (lambda a: np.sum(a * a[::-1]) + np.sum(a[1:] * a[:-1]), ZEROS),
    (_parts_changed, SOME),
]


def _hessian(f, x, h=1e-3):
    """By differences."""
    steps = ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0))
    at = lambda *moves: f(x + sum(m * h * e for m, e in moves))
    rows = np.eye(len(x))
    return np.array([[sum(p * q * at((m, u), (n, v)) for m, p in steps for n, q in steps) for u in rows] for v in rows]) / (144 * h * h)  # fmt: skip


@pytest.mark.parametrize("number", range(len(ARRAYS)))
def test_of_arrays(number):
    f, x = ARRAYS[number]
    with np.errstate(all="ignore"):
        wanted = _hessian(f, x)
        _, back = pullback(lambda a: zyg.gradient(f, a)[0], (x.copy(),))
    found = np.array([back(e)[0] for e in np.eye(len(x))])
    np.testing.assert_allclose(found, wanted, atol=1e-6 * (1.0 + np.abs(wanted).max()))


def writing(write):
    def f(a, v):
        b = a.copy()
        write(b, v)
        return np.sum(b)

    return pullback(f, (np.ones(3), np.ones(3)))[1]


def test_what_is_written_may_be_equal_to_what_was_there():
    given = writing(np.copyto)(1.0)
    np.testing.assert_array_equal(given, [np.zeros(3), np.ones(3)])


def test_what_is_not_known_to_write_may_write_what_was_there():
    with pytest.raises(zyg.Unsupported, match="changes its argument"):
        writing(lambda b, v: np.random.default_rng(0).permuted(b, out=b))(1.0)


@each_in_long_turn
@pytest.mark.parametrize("a, wanted", [([0.0, 0.0], [0.0, 0.0]), ([0.3, -0.7], None)])
def test_what_the_library_knows_has_a_second_derivative_at_a_perfect_fit_too(a, wanted):
    f = lambda a: np.sum((np.sinc(a) - 1.0) ** 2)
    found = pullback(lambda a: zyg.gradient(f, a)[0], (np.array(a),))[1](np.ones(2))[0]
    if wanted is None:
        wanted = _hessian(f, np.array(a)).sum(axis=0)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-12)


def test_special_functions_where_a_quotient_of_zeros_is_meant():
    special = pytest.importorskip("scipy.special")
    assert zyg.grad(zyg.grad(lambda z: special.spence(z)))(1.0) == pytest.approx(0.5)
    assert zyg.grad(zyg.grad(zyg.grad(lambda x: special.j1(x))))(0.0) == pytest.approx(-3 / 8)
    slope = lambda x: zyg.grad(lambda y: special.xlogy(x, y))(2.0)
    assert zyg.grad(slope)(0.0) == pytest.approx(0.5)


def test_a_perfect_fit_of_exponentials_of_matrices():
    linalg = pytest.importorskip("scipy.linalg")
    x, v = np.eye(2), np.array([[1.0, 0.5], [-0.3, 0.7]])
    misfit = lambda a: np.sum((linalg.expm(a) - np.e * np.eye(2)) ** 2)
    # exp(1 + h * v) is e * exp(h * v), so the Jacobian times v is e * v.
    np.testing.assert_allclose(np.sum(zyg.hvp(misfit, x, v) * v), 2 * np.e**2 * np.sum(v * v), rtol=1e-9)


class _Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __getitem__(self, key):
        if key > 1:
            raise IndexError(key)
        return self.b if key else self.a


@each_in_long_turn
def test_second_derivatives_where_an_index_error_ends_a_loop():
    f = lambda x: sum([z * z * z for z in _Pair(x, 2.0 * x)])
    assert pullback(lambda x: zyg.gradient(f, x)[0], (1.5,))[1](1.0) == (pytest.approx(6 * 9 * 1.5),)


@each_in_long_turn
@pytest.mark.parametrize("axis", [None, 0])
def test_the_largest_of_equal_elements_is_the_first(axis):
    a = -np.ones((3, 2)) if axis == 0 else -np.ones(3)
    f = lambda a: np.sum(np.linalg.norm(a, np.inf, axis=axis))
    expected = np.zeros_like(a)
    expected[0] = -1.0
    assert np.array_equal(pullback(f, (a,))[1](1.0)[0], expected)
    assert np.array_equal(zyg.gradient(f, a)[0], expected)


@pytest.mark.parametrize("function", [np.logaddexp, np.logaddexp2])
def test_the_shares_of_infinite_exponentials(function):
    """Through Python and natively: half each where both are equal."""
    inf = math.inf
    x, y = np.array([-inf, inf, inf, 1.0, -inf, 1.0]), np.array([-inf, inf, 1.0, -inf, inf, 1.0])
    shares = np.array([0.5, 0.5, 1.0, 1.0, 0.0, 0.5])
    total = lambda x, y: np.sum(function(x, y))
    for found in (pullback(total, (x, y))[1](1.0), zyg.gradient(total, x, y)):
        np.testing.assert_array_equal(found, [shares, 1.0 - shares])


def test_angles_at_the_origin():
    """There is no slope, in neither mode."""
    for f in (lambda y, x: math.atan2(y, x), lambda y, x: np.arctan2(y, x)):
        assert all(map(math.isnan, zyg.gradient(f, 0.0, 0.0)))
        assert math.isnan(zyg.jvp(f, (0.0, 0.0), (1.0, 0.0))[1]) and math.isnan(zyg.jvp(f, (0.0, 0.0), (1.0, -1.0))[1])
        assert zyg.jvp(f, (0.0, 0.0), (0.0, 0.0))[1] == 0.0
