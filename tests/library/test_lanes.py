"""Sums in NumPy's order, what is stored beside them, and derivatives under masks: one loop in the lanes of vectors."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn

SIZES = (0, 1, 7, 8, 9, 127, 128, 131, 600, 1031)
draw = np.random.default_rng(5)


def huber(delta, m, x):
    r = x - m
    a = np.abs(r)
    return np.sum(np.where(a <= delta, 0.5 * r * r, delta * (a - 0.5 * delta)))


def huber_slopes(delta, m, x):
    r = x - m
    far = np.abs(r) > delta
    by_x = np.where(far, delta * np.sign(r), r)
    return np.sum(np.where(far, np.abs(r) - delta, 0.0)), -np.sum(by_x), by_x


def check_huber(compiled, x):
    value, (by_delta, by_m, by_x) = compiled(0.8, 0.1, x)
    assert value == huber(0.8, 0.1, x)  # to the last bit
    expected = huber_slopes(0.8, 0.1, x)
    assert (by_delta, by_m) == pytest.approx(expected[:2], rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(by_x, expected[2], rtol=1e-14)


def test_value_and_gradient_in_one_loop():
    compiled = zyg.jit(zyg.value_and_grad(huber, (0, 1, 2)))
    for n in SIZES:
        check_huber(compiled, draw.normal(size=n))
        check_huber(compiled, draw.normal(size=3 * n)[::3])
        check_huber(compiled, draw.normal(size=n)[::-1])
    text = str(zyg.code_typed(zyg.value_and_grad(huber, (0, 1, 2)), 0.8, 0.1, draw.normal(size=9)))
    assert text.count("func @") == 3 and text.count("vector=8") == 1  # the function, the sums, their loop in lanes


def stored(x, y, n):
    low = x < y
    z = np.where(low, x - y, x * y)
    total = np.sum(z) + n
    c = (x * 2.0).astype(np.float32)
    partial = np.sum(c)
    return total, partial, z, low, c


def in_place(x, y):
    x *= y
    x += 1.0
    return np.sum(x), x


def several(x, y):
    """Free sums and one in NumPy's order, where a shadow is added to."""
    a = x * y
    return np.sum(a) + np.sum(np.abs(a - x) * a)


def rows(x, w):
    return np.sum(np.sum(x * w, axis=1) * 2.0) + np.sum(x * x)


def test_what_is_stored_beside_a_sum():
    compiled, compiled_in_place = zyg.jit(stored), zyg.jit(in_place)
    for n in SIZES:
        x, y = draw.normal(size=n), draw.normal(size=n)
        for ours, theirs in zip(compiled(x, y, 3), stored(x, y, 3), strict=True):
            assert np.array_equal(ours, theirs) and np.asarray(ours).dtype == np.asarray(theirs).dtype
        ours, theirs = (f(x.copy(), y) for f in (compiled_in_place, in_place))
        assert ours[0] == theirs[0] and np.array_equal(ours[1], theirs[1])


def test_what_is_added_beside_a_sum():
    compiled, of_rows = zyg.jit(zyg.value_and_grad(several, (0, 1))), zyg.jit(zyg.value_and_grad(rows, (0, 1)))
    for n in SIZES:
        x, y = draw.normal(size=n), draw.normal(size=n)
        value, (by_x, by_y) = compiled(x, y)
        assert value == several(x, y)
        a = x * y
        by_a = 1.0 + np.abs(a - x) + np.sign(a - x) * a
        np.testing.assert_allclose(by_x, by_a * y - np.sign(a - x) * a, rtol=1e-12)
        np.testing.assert_allclose(by_y, by_a * x, rtol=1e-12)
        matrix = draw.normal(size=(3, n))
        value, (by_matrix, by_w) = of_rows(matrix, y)
        assert value == pytest.approx(rows(matrix, y), rel=1e-13)
        np.testing.assert_allclose(by_matrix, 2.0 * y + 2.0 * matrix, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(by_w, 2.0 * matrix.sum(axis=0), rtol=1e-12, atol=1e-13)


def chosen(x, y):
    return np.sum(np.where(x > 0.0, x * y, 0.0) + np.where(x > 1.0, y / x, np.abs(x) * x))


@pytest.mark.parametrize("wrap", [lambda f: f, zyg.jit])
def test_what_was_not_innerdoes_not_matter(wrap):
    x, y = np.array([-1.0, 0.5, 0.0, 2.0, 0.0]), np.array([np.inf, 3.0, np.nan, -2.0, -np.inf])
    by_x, by_y = wrap(zyg.grad(chosen, (0, 1)))(x, y)
    with np.errstate(all="ignore"):
        own = np.where(x > 0, y, 0.0) + np.where(x > 1, -y / x**2, 2 * np.abs(x))
        others = np.where(x > 0, x, 0.0) + np.where(x > 1, 1 / x, 0.0)
    np.testing.assert_allclose(by_x, own, rtol=1e-14)
    np.testing.assert_allclose(by_y, others, rtol=1e-14)


def test_what_was_not_innerwithin_what_was_chosen():
    def f(x, y):
        return np.sum(np.where(x < 3, np.tanh(y) * np.where(x > 0, np.log(x) * (x + y), y), 1.5))

    x, y = np.array([-1.0, 0.5, 2.0, 4.0, np.inf]), np.array([0.3, -2.0, 1.0, 0.7, 0.1])
    with np.errstate(all="ignore"):
        by_x, by_y = zyg.gradient(f, x, y)
        slope, near, t = 1 - np.tanh(y) ** 2, x < 3, np.tanh(y)
        inner = np.where(x > 0, np.log(x) * (x + y), y)
        np.testing.assert_allclose(by_x, np.where(near & (x > 0), t * ((x + y) / x + np.log(x)), 0.0), rtol=1e-12)
        expected = np.where(near, slope * inner + t * np.where(x > 0, np.log(x), 1.0), 0.0)
    np.testing.assert_allclose(by_y, expected, rtol=1e-12)


def masked_twice(x, s):
    r = np.where(x > s, x * x, np.where(x < -s, np.log(-x), np.sqrt(np.abs(x))))
    return np.sum(np.minimum(r, 2.0) * np.maximum(x, s) - np.clip(x, -1.0, 1.0))


@pytest.mark.filterwarnings("ignore:invalid value")
def test_masks_within_masks():
    given = np.concatenate([draw.normal(size=40), [-3.0, 3.0, 0.2]])
    value = lambda v, s: masked_twice(v, s)
    by_x, by_s = zyg.gradient(value, given, 0.3)
    h = 1e-6
    for k in range(len(given)):
        step = np.zeros_like(given)
        step[k] = h
        assert by_x[k] == pytest.approx((value(given + step, 0.3) - value(given - step, 0.3)) / (2 * h), abs=1e-6)
    assert by_s == pytest.approx((value(given, 0.3 + h) - value(given, 0.3 - h)) / (2 * h), abs=1e-6)
    second = zyg.hvp(lambda v: huber(0.8, 0.1, v), given, np.ones_like(given))
    np.testing.assert_allclose(second, np.where(np.abs(given - 0.1) <= 0.8, 1.0, 0.0))


def singular(x):
    """Rules with singular points, whose zeros are under masks."""
    logs = np.where(x > 0, np.log(x), 0.0) + np.where(x > 2, x, np.sqrt(x)) * 3.0
    return np.sum(logs + np.where(x < 1, 1.0, x**1.5) + np.where(x < -1, np.arctan2(x, 2.0), np.hypot(x, 0.0)))


@pytest.mark.filterwarnings("ignore:invalid value")
def test_second_derivatives_of_singular_rules_under_masks():
    x = np.array([0.3, 0.5, 1.5, 2.5, 4.0])
    expected = -1 / x**2 - np.where(x > 2, 0.0, 0.75 * x**-1.5) + np.where(x < 1, 0.0, 0.75 * x**-0.5)
    v = draw.normal(size=5)
    np.testing.assert_allclose(zyg.hvp(singular, x, v), expected * v, rtol=1e-12)
    np.testing.assert_allclose(zyg.jvp(zyg.grad(singular), (x,), (v,))[1], expected * v, rtol=1e-12)
    twice = zyg.gradient(lambda x: zyg.gradient(singular, x)[0] @ v, x)[0]
    np.testing.assert_allclose(twice, expected * v, rtol=1e-12)


def test_second_derivatives_where_a_first_cotangent_is_zero():
    """A least-squares misfit at a perfect fit: what is added up is 0 there, and its derivative is not."""

    def misfits(x):
        roots = (
            np.sqrt(x[0] * x) - 1.0,
            np.log(x * x),
            1.0 / (x * x) - 1.0,
            (x * x) ** 1.5 - 1.0,
            np.hypot(x * x, 0.0 * x) - 1.0,
        )
        return sum(np.sum(r * r) for r in roots)

    def springs(p):
        d = p[1:] - p[:-1]
        return np.sum((np.linalg.norm(d, axis=1) - np.array([5.0, 4.0])) ** 2)

    for f, x in ((misfits, np.ones(2)), (springs, np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]]))):
        gradient, found = zyg.grad(f), zyg.hessian(f, x).reshape(x.size, x.size)
        for column, unit in zip(found.T, np.eye(x.size).reshape(-1, *x.shape), strict=True):
            slope = (gradient(x + 1e-5 * unit) - gradient(x - 1e-5 * unit)) / 2e-5
            np.testing.assert_allclose(column, slope.ravel(), rtol=1e-8, atol=1e-8)


def distances(a, b, c, x):
    return np.sum(np.abs(x - a)) + 2.0 * np.sum(np.abs(x - b)) + 3.0 * np.sum(np.abs(x - c))


def test_an_odd_number_of_sums_in_one_loop():
    value_and_grad = zyg.value_and_grad(distances, (0, 1, 2))
    for n in SIZES:
        x = draw.normal(size=n)
        value, slopes = value_and_grad(-0.5, 0.0, 0.5, x)
        assert value == pytest.approx(distances(-0.5, 0.0, 0.5, x), rel=1e-14)
        assert slopes == pytest.approx([-(k + 1) * np.sum(np.sign(x - m)) for k, m in enumerate((-0.5, 0.0, 0.5))])


def slices(x):
    ends = np.sum(np.abs(x[1:] - x[:-1])) + np.sum(x[::2][: len(x) // 2] * x[1::2] ** 2)
    return ends + np.sum((x[2:] - 2.0 * x[1:-1] + x[:-2]) ** 2 * x[1:-1]) + np.sum(x * x[::-1] ** 2)


def test_shifted_slices_of_one_array():
    for n in (3, 50, 1001):
        x, direction = draw.normal(size=n), draw.normal(size=n)
        (slope,) = zyg.gradient(slices, x)
        expected = (slices(x + 1e-6 * direction) - slices(x - 1e-6 * direction)) / 2e-6
        assert slope @ direction == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 100, 1037])
def test_backwards(n):
    """What is seen backwards is read and written a vector at a time."""

    def f(x):
        y = x[::-1] + 1.0
        return np.sum(x * y) + np.sum(y * y) * 0.5 + np.sum(np.exp(-x * x)[::-1] * x)

    def g(x, a):
        x[::-1] += a * a
        x[:, None][::-1, 0] *= 2.0
        return np.sum(x * a) + np.sum(np.where(a[::-1] > 0, x, a))

    rng = np.random.default_rng(n)
    x, a = rng.normal(size=n), rng.normal(size=n)
    np.testing.assert_allclose(zyg.jit(f)(x), f(x), rtol=1e-12, atol=1e-13)
    value, slope = zyg.jit(zyg.value_and_grad(f))(x)
    e = np.exp(-x * x)
    expected = (x[::-1] + 1.0) + x[::-1] + (x + 1.0) + e[::-1] - 2 * x * e * x[::-1]
    np.testing.assert_allclose(value, f(x), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(slope, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(zyg.jit(g)(x.copy(), a), g(x.copy(), a), rtol=1e-12, atol=1e-13)


def test_backwards_in_two_dimensions():
    def f(x):
        return (
            np.sum(x[::-1] * x, axis=1).sum()
            + np.sum(x[:, ::-1] * np.exp(x), axis=0)[::-1].sum()
            + np.max(x[::-1, ::-1] - x)
        )

    x = np.random.default_rng(3).normal(size=(6, 37))
    for a in (x, np.asfortranarray(x), x[:, ::2], x[::-1]):
        np.testing.assert_allclose(zyg.jit(f)(a), f(a), rtol=1e-12)
        slope, h = zyg.gradient(f, a)[0], np.random.default_rng(4).normal(size=a.shape)
        rise = (f(a + 1e-6 * h) - f(a - 1e-6 * h)) / 2e-6
        np.testing.assert_allclose(np.sum(slope * h), rise, rtol=1e-6)


SLICES = (slice(1, None), slice(None, -1), slice(2, -3), slice(None, None, -1), slice(-2, None), slice(40, None), slice(5, 2), slice(None, 0, -1))  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 6, 131])
@pytest.mark.parametrize("s", SLICES, ids=str)
def test_what_is_added_to_slices_of_new_arrays(n, s):
    """The gradient is set where it was only added to, and zero outside; several views of it, one after the other."""
    x = np.random.default_rng(n).normal(size=n)

    def alone(x):
        return np.sum(np.abs(x[s]) * 2.0)

    def with_another(x):
        return np.sum(x[s] * x[s]) + np.sum(np.abs(x) * x[::-1]) + np.sum(x[s] * 3.0)

    slope = zyg.jit(zyg.value_and_grad(alone))(x)[1]
    expected = np.zeros(n)
    expected[s] += 2.0 * np.sign(x[s])
    np.testing.assert_array_equal(slope, expected)
    value, slope = zyg.jit(zyg.value_and_grad(with_another))(x)
    np.testing.assert_allclose(value, with_another(x), rtol=1e-13, atol=1e-14)
    expected = np.sign(x) * x[::-1] + np.abs(x[::-1])
    expected[s] += 2.0 * x[s] + 3.0
    np.testing.assert_allclose(slope, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("n", [2, 3, 11, 100])
def test_neighbours(n):
    """Differences of neighbours, in one sum and in several, and of what reads the gradient's array again."""

    def f(x):
        d = x[1:] - x[:-1]
        return np.sum(d * d) / np.sqrt(np.sum(x * x) + np.sum(d)) + np.sum(np.exp(x[1:] * x[:-1]))

    x = np.random.default_rng(n).uniform(0.5, 1.5, size=n)
    x[-1] += 2.0
    slope = zyg.jit(zyg.value_and_grad(f))(x)[1]
    for k in range(n):
        h = np.zeros(n)
        h[k] = 1e-6
        np.testing.assert_allclose(slope[k], (f(x + h) - f(x - h)) / 2e-6, rtol=1e-6, atol=1e-6)
    second = zyg.gradient(lambda x: np.sum(zyg.value_and_grad(f)(x)[1] * x), x)[0] if n < 12 else None
    if second is not None:
        g = lambda x: zyg.gradient(f, x)[0]
        for k in range(n):
            h = np.zeros(n)
            h[k] = 1e-5
            rise = (np.sum(g(x + h) * (x + h)) - np.sum(g(x - h) * (x - h))) / 2e-5
            np.testing.assert_allclose(np.ravel(second)[k], rise, rtol=1e-5, atol=1e-5)


def test_what_waits_for_the_value():
    """A mean, which divides the sum, and its gradient are one loop; what reads the value is done behind it."""

    def mean(x, y):
        return np.mean(np.exp(x) * y) / 2.0

    def spread(x, y):
        return np.std(x * y) + np.var(x - y)

    def read_again(x, y):
        m = np.mean(x * y)
        return np.sum((x - m) * (x - m)) + np.mean(y[1:] * m)

    rng = np.random.default_rng(8)
    for n in (2, 9, 1030):
        x, y, h = rng.normal(size=n), rng.normal(size=n), rng.normal(size=(2, n))
        for f in (mean, spread, read_again):
            value, slopes = zyg.jit(zyg.value_and_grad(f, (0, 1)))(x, y)
            np.testing.assert_allclose(value, f(x, y), rtol=1e-12, atol=1e-13)
            rise = (f(x + 1e-6 * h[0], y + 1e-6 * h[1]) - f(x - 1e-6 * h[0], y - 1e-6 * h[1])) / 2e-6
            np.testing.assert_allclose(np.sum(slopes[0] * h[0] + slopes[1] * h[1]), rise, rtol=1e-6, atol=1e-7)
    typed = str(zyg.code_typed(zyg.value_and_grad(mean, (0, 1)), x, y))
    assert typed.count("vector=8") == 1


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"])
def test_zeros_that_are_chosen_where_a_comparison_holds(name):
    """The comparison may be made the other way round, which a nan must not notice."""
    compare = getattr(np, name)

    def f(x, y):
        c = compare(x, 0.5)
        return np.sum(np.where(c, 0.0, y)) + np.sum(np.where(c, -0.0, y * y)) + np.sum(np.where(c, y, 1.0))

    x = np.resize([0.5, 0.25, np.nan, 1.0, np.inf, -np.inf, 0.0, -3.0, 0.75], 50)
    y = np.random.default_rng(0).normal(size=50)
    np.testing.assert_allclose(zyg.jit(f)(x, y), f(x, y), rtol=1e-13)
    value, slope = zyg.jit(zyg.value_and_grad(f, 1))(x, y)
    np.testing.assert_allclose(value, f(x, y), rtol=1e-13)
    np.testing.assert_allclose(slope, np.where(compare(x, 0.5), 1.0, 1.0 + 2 * y), rtol=1e-13)


def test_slices_as_long_as_a_count():
    """What is sliced by a sum of the first loop is no part of one loop with it."""

    def f(x):
        n = int(np.sum(x > 0.0))
        y = x[:n] * 2.0
        return np.sum(y * y) + np.sum(x[:n] * x[::-1][:n])

    x = np.random.default_rng(5).normal(size=60)
    n = int(np.sum(x > 0))
    value, slope = zyg.jit(zyg.value_and_grad(f))(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-13)
    expected = np.zeros(60)
    expected[:n] += 8.0 * x[:n] + x[::-1][:n]
    expected[::-1][:n] += x[:n]
    np.testing.assert_allclose(slope, expected, rtol=1e-12, atol=1e-14)


def test_a_gradient_that_is_read_between_two_that_are_added():
    """Updates in place between the terms keep their order."""

    def f(x):
        y = x * 1.0
        total = np.sum(y * y[::-1])
        y[1:] += y[:-1] * 0.5
        total += np.sum(np.abs(y)) + np.sum(y * y)
        y[::-1] *= 3.0
        return total + np.sum(y[2:] * y[:-2])

    x = np.random.default_rng(6).uniform(0.5, 1.5, size=21)
    value, slope = zyg.jit(zyg.value_and_grad(f))(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-13)
    rise = [(f(x + h) - f(x - h)) / 2e-6 for h in np.eye(21) * 1e-6]
    np.testing.assert_allclose(slope, rise, rtol=1e-6)


def test_gradient_of_the_largest_of_many():
    """Of equal ones the first, and the first nan, in whichever part of the array it is."""
    f, g = zyg.value_and_grad(np.max), zyg.jit(zyg.value_and_grad(lambda x: x.min(axis=(0,))))
    for n, at in ((1, 0), (1024, 1023), (1025, 1024), (5000, 0), (5000, 2047), (5000, 4999)):
        x = draw.normal(size=n)
        for special in (9.0, np.inf, np.nan):
            x[at:] = np.where(draw.random(n - at) < 0.01, special, x[at:])
            x[at] = special
            expected = np.zeros(n)
            expected[at] = 1.0
            value, slope = f(x)
            np.testing.assert_array_equal(value, special)
            np.testing.assert_array_equal(slope, expected)
            value, slope = g(-x)
            np.testing.assert_array_equal(value, -special)
            np.testing.assert_array_equal(slope, expected)
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum"):
        f(np.zeros(0))


@pytest.mark.parametrize("ddof", [0, 1])
def test_second_derivatives_of_variances(ddof):
    """The mean is no constant, though the first derivative does not ask for its."""
    x, d = draw.normal(size=(7, 30)) + 5.0, draw.normal(size=(7, 30))
    whole = zyg.jit(lambda x: np.var(x, ddof=ddof))
    np.testing.assert_array_equal(whole(x), np.var(x, ddof=ddof))
    scale = 2 / (x.size - ddof)
    np.testing.assert_allclose(zyg.gradient(whole, x)[0], scale * (x - x.mean()), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(zyg.hvp(whole, x, d), scale * (d - d.mean()), rtol=1e-12, atol=1e-14)
    rows = lambda x: np.sum(np.var(x, axis=1, ddof=ddof, keepdims=True) * np.exp(0.1 * x[:, :1]))
    slope, h = zyg.gradient(rows, x)[0], 1e-6
    np.testing.assert_allclose(np.sum(slope * d), (rows(x + h * d) - rows(x - h * d)) / (2 * h), rtol=1e-7)
    rise = (zyg.gradient(rows, x + h * d)[0] - zyg.gradient(rows, x - h * d)[0]) / (2 * h)
    np.testing.assert_allclose(zyg.hvp(rows, x, d), rise, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_integers_are_negated_in_lanes(dtype):
    def f(x, k):
        return np.sum(-k * x) + np.sum(x**-k)

    compiled = zyg.jit(f)
    for n in (0, 1, 9, 600):
        x, k = 1.0 + draw.random(n), np.arange(n).astype(dtype) % 7
        assert compiled(x, k) == pytest.approx(f(x, k), rel=1e-12)
        slopes = (-k).astype(float) + (-k).astype(float) * x ** ((-k).astype(float) - 1)
        np.testing.assert_allclose(zyg.gradient(f, x, k)[0], slopes, rtol=1e-12)


@each_in_long_turn
def test_rows_that_are_the_same_in_each_round():
    """An outer loop in which no array moves, several rounds at a time."""

    def f(x):
        twice = np.stack([x, x * 2], axis=1).mean(1)[:, None]
        return (np.broadcast_to(x[:, None, :], (3, 2, 4)) * twice).sum() + np.kron(x[:2, :2], x)[3, 4]

    x = np.random.default_rng(2).normal(size=(3, 4))
    along = zyg.jit(zyg.grad(lambda x: np.sum(zyg.grad(f)(x) * 1.5)))
    np.testing.assert_allclose(along(x), 1.5 * zyg.hessian(f, x).sum((0, 1)), rtol=1e-12)
