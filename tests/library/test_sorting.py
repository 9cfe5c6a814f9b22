"""Sorting of long arrays: NumPy's own functions in compiled code, and which element a derivative goes to."""

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn

TYPES = ("f8", "i4", "u1", "c16")


def numbers(rng, n, dtype, nans=True):
    """With many ties."""
    x = (rng.random(n) * 40).astype(dtype)
    if nans and x.dtype.kind in "fc":
        x[rng.integers(n, size=2)] = np.nan
    return x


def all_of_sorting(x):
    return (
        np.sort(x), np.argsort(x), np.argsort(x, kind="stable"), np.argsort(x, stable=True), np.partition(x, 7)[7],
        x[np.argpartition(x, -3)[-3]], np.unique(x), np.searchsorted(np.sort(x), x[:9]), np.lexsort((x, x[::-1])),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
def test_what_is_sorted_is_as_numpy_sorts_it(dtype):
    rng = np.random.default_rng(3)
    compiled = zyg.jit(all_of_sorting)
    for n in (9, 13, 100, 3000):
        x = numbers(rng, n, dtype)
        for expected, found in zip(all_of_sorting(x), compiled(x), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_groups_are_as_numpy_finds_them():
    def groups(x):
        return *np.unique(x, True, True, True), *np.unique(x, return_counts=True), np.unique(x, equal_nan=False)

    rng = np.random.default_rng(5)
    compiled = zyg.jit(groups)
    for n in (1, 15, 500):
        x = numbers(rng, n, float)
        for expected, found in zip(groups(x), compiled(x), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_partitions_of_several_places_and_rows():
    def parts(x):
        return np.partition(x, (2, -2), axis=0), np.partition(x, 1100, axis=1), np.argpartition(x, 3, axis=1)

    x = np.random.default_rng(1).random((6, 1200))
    first, second, places = zyg.jit(parts)(x)
    in_order = np.sort(x, 0)
    assert np.array_equal(first[2], in_order[2]) and np.array_equal(first[-2], in_order[-2])
    assert np.all(second[:, :1100] <= second[:, 1100:1101]) and np.all(second[:, 1100:] >= second[:, 1100:1101])
    assert np.array_equal(np.take_along_axis(x, places, 1)[:, 3], np.sort(x, 1)[:, 3])


def test_arguments_that_numpy_refuses_are_refused():
    x = np.arange(5.0)
    for function in (
        lambda x: np.partition(x, 5),
        lambda x: np.partition(x, (0, -6)),
        lambda x: np.partition(x, 1.0),
        lambda x: np.sort(x, kind="stable", stable=True),
        lambda x: np.isin(x, x, kind="table"),
        lambda x: np.isin(x, x, kind="none"),
    ):
        with pytest.raises((ValueError, TypeError)) as expected:
            function(x)
        with pytest.raises(expected.type) as found:
            zyg.jit(function)(x)
        assert str(found.value) == str(expected.value)


def order_statistics(x):
    return np.array([np.median(x), np.nanquantile(x, 0.3), np.partition(x, 40)[40], np.quantile(x, 0.93)])


@each_in_long_turn
def test_derivatives_go_to_the_elements_that_are_picked():
    """For few elements and for many, which are looked for in other ways; with nans, and with equal elements."""
    rng = np.random.default_rng(7)
    gradient = zyg.grad(lambda x, w: np.sum(order_statistics(x * x * x + x) * w))
    w = rng.standard_normal(4)
    for n in (60, 1300):
        x, v = rng.permutation(np.linspace(-2, 2, n)), rng.standard_normal(n)
        step = 1e-7
        above, below = x + step * v, x - step * v
        slope = (order_statistics(above**3 + above) - order_statistics(below**3 + below)) @ w / (2 * step)
        np.testing.assert_allclose(gradient(x, w) @ v, slope, rtol=1e-4, atol=1e-6)
        ties = np.round(x, 1)
        np.testing.assert_allclose(np.sum(gradient(ties, w) / (3 * ties * ties + 1)), np.sum(w), rtol=1e-9)
        x[:2] = np.nan
        there = gradient(x, np.array([0.0, 1.0, 0.0, 0.0])) > 0
        assert 1 <= np.count_nonzero(there) <= 2 and np.all(np.abs(x[there] - np.nanquantile(x, 0.3)) < 0.1)


def test_second_derivatives_of_sorted_numbers():
    def f(x):
        y = np.sort(x * x)
        return y[0] ** 2 * y[3] + np.median(y) ** 2 + np.partition(y, 2)[2] ** 3

    x = np.array([0.9, -1.2, 0.3, 0.7, -1.6])
    y = np.argsort(x * x)
    a, b, c = (x[y[k]] ** 2 for k in (0, 3, 2))
    expected = np.zeros((5, 5))
    # By z = x**2: d2 = 4 x_i x_j f_ij + 2 f_i on the diagonal.
    first = {y[0]: 2 * a * b, y[3]: a * a, y[2]: 2 * c + 3 * c * c}
    for i, d in first.items():
        expected[i, i] += 2 * d
    for i, j, d in ((0, 0, 2 * b), (0, 3, 2 * a), (3, 0, 2 * a), (2, 2, 2 + 6 * c)):
        expected[y[i], y[j]] += 4 * x[y[i]] * x[y[j]] * d
    np.testing.assert_allclose(zyg.hessian(f, x), expected, rtol=1e-12, atol=1e-12)


def rows_of_all_kinds(n):
    """Long rows: of numbers in no order, in order, periodic, few, equal, with nans, infinite, and such that a sample misleads."""
    rng = np.random.default_rng(11)
    k = np.arange(float(n))
    x = rng.standard_normal(n)
    peaks = np.where(k < n // 2, x * 1e-9, 1e9 * x)
    return (
        x, k, -k, np.sin(k), np.floor(x), np.ones(n), np.where(k % 700 == 5, np.nan, x), np.where(x > 0, np.inf, x),
        np.where(x > 0.1, np.nan, -np.inf), np.full(n, np.nan), peaks, np.where(k % 2 == 0, -1.0, 1.0), np.abs(k - n / 3),
    )  # fmt: skip


def selected(x):
    return (
        np.median(x), np.nanmedian(x), np.percentile(x, 30.0), np.quantile(x, [0.0, 1.0, 0.5, 0.25]),
        np.nanquantile(x, [0.9, 0.001], method="lower"), np.quantile(x, np.linspace(0, 1, 40)),
    )  # fmt: skip


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ("f8", "f4", "i4", "i8"))
def test_order_statistics_of_long_rows_are_numpys(dtype):
    compiled, along = zyg.jit(selected), zyg.jit(lambda x: (np.median(x, 1), np.quantile(x, [0.2, 0.6], axis=0)))
    for n in (2001, 5000):
        for x in rows_of_all_kinds(n):
            if dtype[0] == "i":
                x = np.nan_to_num(100 * x, posinf=7, neginf=-7)
            x = x.astype(dtype)
            for expected, found in zip(selected(x), compiled(x), strict=True):
                np.testing.assert_array_equal(found, expected)
    x = np.stack(rows_of_all_kinds(2100)[:7]).astype(dtype)
    for expected, found in zip((np.median(x, 1), np.quantile(x, [0.2, 0.6], axis=0)), along(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 if dtype == "f4" else 0)
        assert found.dtype == expected.dtype


@each_in_long_turn
def test_derivatives_of_order_statistics_of_long_rows_go_to_elements_of_their_own():
    """The two in the middle are two elements, also if they are equal, and so are those of several quantiles."""
    gradient = zyg.grad(lambda x, q: np.median(x) + 2.0 * np.nanquantile(x, 0.3) + np.sum(np.quantile(x, q)))
    q = np.array([0.7, 0.7001, 0.1])
    for x in (*rows_of_all_kinds(3000)[:6], rows_of_all_kinds(4000)[10]):
        slopes = gradient(x, q)
        places = np.argsort(x, kind="stable")
        in_order, n = x[places], len(x)
        expected = np.zeros(n)
        for fraction, weight in ((0.5, 1.0), (0.3, 2.0), *((f, 1.0) for f in q)):
            where = fraction * (n - 1)
            below, part = int(where), where - int(where)
            expected[below] += weight * (1 - part)
            if part:
                expected[below + 1] += weight * part
        for value in np.unique(in_order):  # of equal elements any may have it
            np.testing.assert_allclose(
                slopes[x == value].sum(), expected[in_order == value].sum(), rtol=1e-6, atol=1e-9
            )
    both = zyg.grad(np.median)(np.ones(3000))
    assert sorted(both[both != 0]) == [0.5, 0.5]


@each_in_long_turn
@pytest.mark.parametrize("function", (np.sort, lambda x: np.partition(x, 2), np.median, lambda x: np.quantile(x, 0.4)))
def test_pullbacks_of_pullbacks_where_orders_are_functions_of_their_own(function):
    def pulled(x, d):
        return zyg.pullback(lambda x: function(x) * x * x, x)[1](d)[0]

    x, d, e = np.array([0.3, -0.7, 1.2, 0.4, -0.1]), np.arange(1.0, 6.0), np.array([0.2, 1.0, -0.5, 0.3, 2.0])
    value, back = zyg.jit(lambda x, d: zyg.pullback(pulled, x, d)[0])(x, d), zyg.pullback(pulled, x, d)[1]
    np.testing.assert_allclose(value, pulled(x, d))
    step = 1e-6
    for slope, at in zip(back(e), range(2), strict=True):
        for k in range(5):
            moved = step * np.eye(5)[k]
            above, below = (pulled(x + s * moved, d) if at == 0 else pulled(x, d + s * moved) for s in (1, -1))
            assert slope[k] == pytest.approx(e @ (above - below) / (2 * step), abs=1e-7)


@pytest.mark.parametrize(
    "function",
    (
        lambda x: np.partition(x, 2)[:3],
        lambda x: np.partition(x.reshape(2, 3), 1, axis=1)[:, :1],
        lambda x: np.partition(np.concatenate((x, np.arange(1000.0) + 9)), 2)[:3],
        lambda x: x[np.argpartition(x, 2)[:3]],
        lambda x: x[(np.argsort(x) if x[0] > 1 else np.argsort(-x))[:3]],
    ),
    ids=("partition", "rows", "long", "argpartition", "chosen"),
)
def test_gradients_of_gradients_where_places_come_from_one_branch_or_another(function):
    x, w = np.array([3.0, 1.0, 2.0, 6.0, 5.0, 4.0]), np.arange(1.0, 7.0)
    slope = lambda x: zyg.grad(lambda x: np.sum(function(x) ** 3))(x)
    expected = np.where(np.isin(x, function(x)), 6 * w * x, 0.0)
    twice = lambda x: zyg.grad(lambda x: np.sum(w * slope(x)))(x)
    np.testing.assert_allclose(zyg.jit(twice)(x), expected)
    np.testing.assert_allclose(zyg.hvp(lambda x: np.sum(function(x) ** 3), x, w), expected)


SINGLE = np.random.default_rng(2).normal(size=(3, 4)).astype(np.float32)
FRACTIONS = [
    lambda x: np.percentile(x, [10, 20], axis=1),
    lambda x: np.percentile(x, np.array([10.0, 77.7]), axis=0),
    lambda x: np.percentile(x, 10.7, axis=1),
    lambda x: np.percentile(x, 77),
    lambda x: np.percentile(x, np.float32(77.7), axis=1),
    lambda x: np.quantile(x, [0.777, 0.1], axis=0),
    lambda x: np.quantile(x, 0.71, method="hazen", axis=1),
    lambda x: np.quantile(x, [0.3, 0.71], method="midpoint", axis=1),
    lambda x: np.nanpercentile(x, [10, 20], axis=1),
    lambda x: np.nanquantile(x, 0.31, axis=0),
    lambda x: np.median(x, axis=1),
    lambda x: np.nanmedian(x, axis=0),
]


@pytest.mark.parametrize("which", range(len(FRACTIONS)))
def test_what_is_between_elements_of_float32_is_rounded_as_numpy_rounds_it(which):
    f = FRACTIONS[which]
    expected, found = f(SINGLE), zyg.jit(f)(SINGLE)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    assert np.array_equal(found, expected)
    wanted = zyg.grad(lambda x: np.sum(f(x) ** 2))(SINGLE.astype(float))
    gradient = zyg.grad(lambda x: np.sum(f(x) ** 2))(SINGLE)
    assert gradient.dtype == np.float32
    assert np.allclose(gradient, wanted, rtol=1e-5, atol=1e-6)
