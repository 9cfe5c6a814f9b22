"""Sorting of long arrays: NumPy's own functions in compiled code, and which element a derivative goes to."""

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

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
