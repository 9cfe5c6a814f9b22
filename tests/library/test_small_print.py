"""Corners that differ easily: remainders by -1, what is broadcast and written, powers of bools, and the texts of errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn

NUMPY: Any = np


@each_in_turn
@pytest.mark.parametrize("error_model", ["python", "numpy"])
def test_remainders_have_their_derivative_by_a_divisor_of_one_in_magnitude(error_model):
    """x % y is x - floor(x / y) * y."""
    scalars = zyg.jit(zyg.grad(lambda x, y: x % y, argnums=(0, 1)), error_model=error_model)
    arrays = zyg.jit(zyg.grad(lambda x, y: np.sum(x % y), argnums=(0, 1)), error_model=error_model)
    for x, y in ((7, 1), (7, -1), (-7, -1), (-7, 1), (7, 2), (-7, 3), (7, -3)):
        assert scalars(x, y) == (1.0, -float(x // y))
        by_x, by_y = arrays(np.array([x]), np.array([y]))
        assert (by_x.item(), by_y.item()) == (1.0, -float(x // y))
    remainders = zyg.jit(lambda x, y: x % y)
    least = -(2**63)
    assert remainders(np.array([least, least, 5, 5]), np.array([-1, 0, -3, 0])).tolist() == [0, 0, -1, 0]
    assert remainders(least, -1) == 0


def test_arrays_that_were_broadcast_together_are_not_written():
    def tripled(z):
        view = np.broadcast_arrays(z, np.ones((2, 6)))[0]
        view *= 3.0
        return np.sum(z)

    with pytest.raises(ValueError, match="read-only"):
        zyg.jit(tripled)(np.ones(6))
    f = lambda z: sum(np.sum(a * a) for a in np.broadcast_arrays(z, np.ones((2, 3))))
    assert zyg.gradient(f, np.ones(3))[0].tolist() == [4.0, 4.0, 4.0]


def test_squares_of_bools_are_of_int8():
    flags = np.array([True, False])
    with pytest.raises(zyg.Unsupported, match="int8"):
        zyg.jit(lambda b: b**2)(flags)
    with pytest.raises(zyg.Unsupported, match="int8"):
        zyg.jit(lambda b, n: b**n)(flags, 2)
    assert zyg.jit(lambda b: b**3)(flags).dtype == (flags**3).dtype


def added(x):
    x += np.ones(3)
    return x


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (lambda x: x**2, None),
        (lambda x: x**2, [1.0, 2.0]),
        (lambda x: x.nonexistent, np.ones(4)),
        (lambda x: x.sum().nonexistent, np.ones(4)),
        (lambda x: NUMPY.nonexistent(x), np.ones(4)),
        (added, np.ones(4)),
        (lambda x: np.einsum("ij,jk", x, x), np.ones(4)),
        (lambda x: np.einsum("ii->i", x), np.ones((1, 3))),
        (lambda x: np.average(x, weights=x.T), np.ones((2, 3))),
        (lambda x: np.average(x, axis=0, weights=x.T), np.ones((2, 3))),
        (lambda x: np.average(x, axis=(0, 1), weights=x.T), np.ones((2, 3))),
        (lambda x: np.pad(x, 1, mode="bogus"), np.ones(3)),
        (lambda x: len(x[0]), np.ones(4)),
    ],
)
def test_errors_are_worded_as_theirs(function, argument):
    with pytest.raises((TypeError, AttributeError, ValueError)) as wanted:
        function(argument)
    with pytest.raises(type(wanted.value)) as found:
        zyg.jit(function)(argument)
    assert str(found.value).strip() == str(wanted.value).strip()


@each_in_turn
@pytest.mark.parametrize(
    ("text", "a", "b"),
    [("ij,kj->ik", (2, 3), (2, 1)), ("ij,kj->ik", (2, 1), (2, 3)), ("aij,ijb->ab", (2, 1, 3), (3, 1, 2))],
)
def test_einsum_repeats_axes_of_length_1(text, a, b):
    """The last of them is wrong, not refused, if the axes that are summed up are put together before they are repeated."""
    f = lambda x, y: np.einsum(text, x, y)
    rng = np.random.default_rng(1)
    x, y, tangent = rng.normal(size=a), rng.normal(size=b), rng.normal(size=b)
    value, back = zyg.pullback(zyg.jit(f), x, y)
    np.testing.assert_allclose(value, f(x, y), rtol=1e-13)
    seed = rng.normal(size=value.shape)
    slope = np.sum(f(x + 0j, y + 1e-30j * tangent).imag * seed) / 1e-30
    np.testing.assert_allclose(np.sum(back(seed)[1] * tangent), slope, rtol=1e-12)


@pytest.mark.parametrize("function", [np.linalg.svd, np.linalg.pinv], ids=["svd", "pinv"])
def test_singular_values_with_an_infinity_do_not_hang(function):
    """They did in LAPACK, where no signal is seen (and do in NumPy 2.4)."""
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        zyg.jit(lambda a: function(a))(np.array([[np.inf, 1.0], [1.0, 2.0]]))


@each_in_long_turn
@pytest.mark.parametrize("p", [None, -2, 1])
def test_condition_numbers_of_what_is_not_finite(p):
    stack = np.array([[[np.inf, 1.0], [1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]])
    of = zyg.jit(lambda a: np.linalg.cond(a, p))
    assert (of(stack[0]), of(stack[2])) == (np.inf, np.inf)
    assert np.isnan(of(np.array([[np.nan, 1.0], [1.0, 2.0]])))
    np.testing.assert_allclose(of(stack), [np.inf, np.linalg.cond(stack[1], p), np.inf], rtol=1e-12)


@each_in_turn
def test_values_that_numpys_own_tests_ask_for():
    def f(a, z, places):
        return (
            np.linalg.matrix_power(a, 1) is a,
            np.trim_zeros([0, 0, 1, 0, 2, 0]),
            np.unravel_index(0, ()),
            NUMPY.equal.reduce(a[0] > 2),
            np.can_cast(a[0, 0], np.int64),
            np.delete(a, places, axis=1),
            np.iscomplexobj([1, z]),
            np.unwrap(np.array([0.0, 7.0, np.nan, 8.0, 1.0])),
            np.unwrap(np.array([np.inf, 1e3, 3.0, 8.0])),
            np.sum(z),
            np.mean(z),
            (len(a).numerator, len(a).denominator, (len(a) > 3).numerator, int(places[0, 1].numerator)),
        )

    args = np.arange(25.0).reshape(5, 5), np.array(5 + 1j), np.array([[0, 1], [2, 1]])
    with np.errstate(invalid="ignore"):
        assert list(map(str, zyg.jit(f)(*args))) == list(map(str, f(*args)))


@each_in_turn
@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (lambda a: np.tensordot(a, a, axes=([1, 1], [0, 0])), np.ones((3, 3))),
        (lambda a: np.positive([2], out=a), np.array(5.0)),
        (lambda a: np.dot(a, a, out=a[::-1]), np.ones((3, 3))),
        (lambda a: np.delete(a, a), np.array([1.0, 2.0])),
        (lambda a: np.delete(a, True), np.array([1.0, 2.0])),
        (lambda a: np.unravel_index(a, ()), np.array([0])),
        (lambda a: NUMPY.partition(a, 1, kind="nonsense"), np.ones(3)),
        (lambda a: NUMPY.equal.reduce(a), np.array([0, 0])),
        (lambda a: NUMPY.frexp(a, out=a), np.array([5.7])),
        (lambda a: NUMPY.add(a, a, out=[]), np.array([5.7])),
        (lambda a: NUMPY.convolve(a, a, mode=None), np.ones(3)),
        (lambda a: np.isin(a, a, kind="table"), np.array([-1, 2**63 - 1])),
        (lambda a: np.size(a[0], 0), np.ones(2)),
    ],
)
def test_errors_that_numpys_own_tests_ask_for(function, argument):
    with pytest.raises(Exception) as expected:
        function(argument.copy())
    with pytest.raises(Exception) as found:
        zyg.jit(function)(argument.copy())
    public = next(c for c in expected.type.__mro__ if not c.__module__.endswith("._exceptions"))
    assert type(found.value) is public


WINDOWS: Any = NUMPY.lib.stride_tricks.sliding_window_view


def windows_of(u):
    return WINDOWS(u, 3)


@each_in_turn
def test_windows_are_taken_before_their_array_changes():
    def smoothed(x):
        u = x.copy()
        for _ in range(3):
            u[1:-1] += windows_of(u) @ np.array([0.5, -1.0, 0.5])
        return np.sum(u * u)

    x = np.arange(6.0) ** 2
    slope = zyg.gradient(smoothed, x)[0]
    for k in range(6):
        step = 1e-6 * np.eye(6)[k]
        assert slope[k] == pytest.approx((smoothed(x + step) - smoothed(x - step)) / 2e-6, rel=1e-6)


def changed_after(x):
    u = x.copy()
    seen = windows_of(u)
    u[0] = 1.0
    return np.sum(seen)


@pytest.mark.parametrize(("function", "what"), [(changed_after, "a change of an array"), (windows_of, "as a result")])
def test_windows_of_what_changes_are_refused(function, what):
    with pytest.raises(zyg.Unsupported, match=what):
        zyg.jit(function)(np.ones(5))


@each_in_turn
def test_an_axis_that_is_a_number_of_numpys_is_told_by_its_value():
    f = lambda a, axis: np.sum(a, axis=axis)
    compiled, a = zyg.jit(f), np.arange(6.0).reshape(2, 3)
    for axis in (np.int64(0), 0, np.int64(1), np.int64(0), np.int32(1), 1, np.int64(1)):
        assert compiled(a, axis).tolist() == f(a, axis).tolist()


@each_in_turn
def test_pieces_are_chosen_by_what_conditions_are_true():
    f = lambda x, c: np.piecewise(x, [c], [1.0])
    args = np.zeros(3), np.array([0, 2, 0])
    assert zyg.jit(f)(*args).tolist() == f(*args).tolist() == [0.0, 1.0, 0.0]


def first_column(a):
    total = np.zeros(a.shape)
    for k in range(3):
        total += k * a
    return total[:, 0]


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_results_through_python_that_are_views_of_what_native_code_made():
    linalg = pytest.importorskip("scipy.linalg")
    table = {("no", 1.5): 2.0}

    def f(a, b):
        return table[("no", 1.5)] * np.sum(linalg.solve(a, b)) + np.sum(first_column(a) ** 2)

    a, b = np.eye(3) + 0.1, np.arange(3.0)
    by_a, by_b = zyg.gradient(f, a, b)
    assert by_b == pytest.approx(2.0 * np.linalg.inv(a).sum(0))
    assert by_a[:, 0] - 18.0 * a[:, 0] == pytest.approx(-by_b * np.linalg.solve(a, b)[0])


def test_code_for_arrays_that_cannot_be_written_is_for_no_others():
    @zyg.jit
    def set_first(a):
        a[0] = 5.0
        return a[1:]

    locked = np.ones(3)
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        set_first(locked)
    assert set_first(np.ones(3)).flags.writeable
    seen = zyg.jit(lambda a: a[1:])
    assert [seen(a).flags.writeable for a in (locked, np.ones(3), locked)] == [False, True, False]


@each_in_turn
def test_negative_zeros_are_summed_as_by_numpy():
    def sums(a, m):
        return np.cumsum(a), np.cumsum(m, axis=0), np.nancumsum(a), a.sum(), m.sum(axis=0)

    a = np.array([-0.0, -0.0, 0.0])
    m = np.array([a, a])
    for found, expected in zip(zyg.jit(sums)(a, m), sums(a, m)):
        assert np.signbit(found).tolist() == np.signbit(expected).tolist()
        assert np.all(found == expected)


@each_in_turn
def test_slopes_where_a_gamma_below_the_line_is_infinite():
    """The value is 0 there, by a factor whose derivative is not."""
    special = pytest.importorskip("scipy.special")
    for function, x in (
        (lambda x: special.rgamma(x), -2.0), (lambda x: special.beta(x, 0.7), -1.7), (lambda n: special.binom(n, 2.5), 1.5),
        (lambda k: special.binom(2.0, k), 3.0), (lambda k: special.binom(2.0, k), -1.0), (lambda z: special.poch(z, 1.5), -2.0),
        (lambda z: special.poch(z, 2.0), -3.0),
    ):  # fmt: skip
        h = 1e-4
        below, at, above = function(x - h), function(x), function(x + h)
        first = zyg.derivative(function)
        assert first(x) == pytest.approx((above - below) / (2 * h), rel=1e-6)
        assert zyg.derivative(first)(x) == pytest.approx((above - 2 * at + below) / h**2, rel=1e-5)
