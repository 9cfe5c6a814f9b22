"""Operators and ufuncs on whole arrays: values against NumPy, gradients against central differences."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zyg

from ..turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn

BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "le", "eq", "ne", "gt", "ge"]
UFUNCS = [
    "sin",
    "cos",
    "exp",
    "log1p",
    "sqrt",
    "tanh",
    "absolute",
    "sign",
    "floor",
    "expm1",
    "arctan",
    "isnan",
    "negative",
]
SHAPES = [((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((4, 1, 3), (2, 3)), ((0, 3), (3,)), ((1,), (5,))]


def array(shape, dtype, seed, low=1):
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return (generator.random(shape) + 0.5 * low).astype(dtype)
    return generator.integers(low, 9, shape).astype(dtype)


def same(ours, numpys):
    ours = np.asarray(ours)
    assert ours.dtype == numpys.dtype and ours.shape == numpys.shape
    np.testing.assert_array_max_ulp(ours, numpys, 4) if ours.dtype.kind == "f" else np.testing.assert_array_equal(
        ours, numpys
    )


@pytest.mark.parametrize("name", BINARY)
def test_operators(name):
    function = getattr(operator, name)
    compiled = zyg.jit(lambda a, b: function(a, b))
    for dtypes in [(np.float64, np.float64), (np.float32, np.int64), (np.int64, np.int64), (np.float32, np.float32)]:
        a, b = (array((2, 3), d, n) for n, d in enumerate(dtypes))
        same(compiled(a, b), function(a, b))


@pytest.mark.parametrize("shapes", SHAPES)
def test_broadcasting(shapes):
    a, b = (array(s, np.float64, n) for n, s in enumerate(shapes))
    same(zyg.jit(lambda a, b: a + b * a)(a, b), a + b * a)
    same(zyg.jit(lambda a, b: b - a)(a, b), b - a)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow"])
@pytest.mark.parametrize("scalar", [2, 2.5, np.float64(1.5), np.float32(0.5)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scalars_are_weak_or_strong_as_numpy_has_it(name, scalar, dtype):
    function = getattr(operator, name)
    a = array((5,), dtype, 0)
    same(zyg.jit(lambda a, s: function(a, s))(a, scalar), function(a, scalar))
    same(zyg.jit(lambda a: function(a, scalar))(a), function(a, scalar))
    same(zyg.jit(lambda a, s: function(s, a))(a, scalar), np.asarray(function(scalar, a)))


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs(name):
    function = getattr(np, name)
    compiled = zyg.jit(lambda a: function(a))
    for a in (
        array((4,), np.float64, 1),
        array((3, 4), np.float64, 2).T,
        array((2, 3), np.float32, 3),
        array((0,), np.float64, 4),
    ):
        same(compiled(a), function(a))


@settings(max_examples=40, deadline=None)
@given(n=st.integers(0, 700), step=st.sampled_from([1, 2, -1]))
def test_sums_add_up_in_numpys_order(n, step):
    a = (np.random.default_rng(n).random((3, n)) - 0.5)[:, ::step]
    for x in (a[0], a, a.T.copy()):
        assert total(x) == x.sum() or abs(total(x) - x.sum()) <= 4 * np.spacing(np.abs(x).sum())
    assert total(a[0]) == a[0].sum()


@zyg.jit
def total(a):
    return a.sum()


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(2,3\) \(2,\)"):
        zyg.jit(lambda a, b: a + b)(np.ones((2, 3)), np.ones(2))


def test_division_is_numpys():
    assert list(zyg.jit(lambda a: 1.0 / a)(np.array([0.0, -0.0, 2.0]))) == [np.inf, -np.inf, 0.5]


def gaussian(x, m, s):
    return np.sum(np.exp(-((x - m) ** 2) / (2 * s * s)))


def layer(W, x, b):
    h = np.tanh(W * x + b)
    return (h * h).sum() - np.sum(h[0])


def in_place(W, x, b):
    h = W + 0.0
    h *= x
    h += np.sin(h) * b
    h[0] = h[1] * h[0]
    total = 0.0
    for row in h:
        total += (row * row).sum()
    return total


def in_a_loop(W, x, b):
    h = W
    for k in range(3):
        h = np.sin(h * x) + b * k
        if k == 1:
            h = h / (1.0 + h * h)
    return h.sum()


def overwritten(W, x, b):
    y = W * x
    z = y * y
    y += 1.0
    x *= 2.0
    return (z * y).sum() + (x * b).sum()


def through_itself(W, x, b):
    c = x * 1.0
    c[::-1] += c
    d = c[1:]
    d *= c[:-1]
    c += np.sin(c) * c
    return (W * c * b).sum()


def swapped(W, x, b):
    p, q = x + b, x * b
    for _ in range(4):
        p, q = q, p * 0.5 + np.sin(q)
    return (p * q).sum() + W.sum()


W, x, b = array((3, 4), np.float64, 1), array((4,), np.float64, 2), array((4,), np.float64, 3)


@pytest.mark.parametrize(
    "f, args",
    [
        (gaussian, (x, 0.3, 0.7)),
        *[(f, (W, x, b)) for f in (layer, in_place, in_a_loop, overwritten, through_itself, swapped)],
    ],
)
def test_gradients(f, args):
    copies = lambda: [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    given, plain = copies(), copies()
    value, gradients = zyg.withgradient(f, *given)
    assert value == pytest.approx(f(*plain), rel=1e-13)
    for mine, theirs in zip(given, plain):
        assert np.array_equal(mine, theirs)  # what is written is written for the caller
    _, back = zyg.pullback(f, *copies())
    again = back(1.0)
    for k, g in enumerate(gradients):
        expected = differences(lambda *a: f(*a), copies, k)
        assert np.asarray(g) == pytest.approx(expected, rel=2e-6, abs=1e-8)
        assert np.asarray(again[k]) == pytest.approx(np.asarray(g), rel=1e-12)


def test_second_derivatives():
    f = lambda m: gaussian(x, m, 0.7)
    slope = lambda m: (f(m + 1e-6) - f(m - 1e-6)) / 2e-6
    second = zyg.derivative(zyg.derivative(f))(0.3)
    assert second == pytest.approx((slope(0.3 + 1e-4) - slope(0.3 - 1e-4)) / 2e-4, rel=1e-4)
    assert zyg.hvp(lambda v: gaussian(v, 0.3, 0.7), x, np.ones(4)).shape == (4,)


def test_forward_mode_agrees():
    f = lambda v: layer(W, v, b)
    tangent = np.array([1.0, -1.0, 0.5, 0.0])
    _, push = zyg.pushforward(f, x)
    assert push(tangent) == pytest.approx(float(zyg.gradient(f, x)[0] @ tangent), rel=1e-12)


def differences(f, copies, k, h=1e-6):
    def moved(index, by):
        args = copies()
        if index is None:
            args[k] += by
        else:
            args[k][index] += by
        return f(*args)

    slope = lambda index: (moved(index, h) - moved(index, -h)) / (2 * h)
    if not isinstance(copies()[k], np.ndarray):
        return slope(None)
    result = np.empty(copies()[k].shape)
    for index in np.ndindex(*result.shape):
        result[index] = slope(index)
    return result


def written(function):
    def f(a):
        b = function(a)
        b[0] = 5.0
        return a.sum()

    return f


@pytest.mark.parametrize(
    "function",
    [
        np.asarray, np.ascontiguousarray, np.array, lambda a: a.flatten(), lambda a: a.ravel(), lambda a: a.reshape(-1),
        lambda a: np.ascontiguousarray(a[None].T), lambda a: np.array(a, copy=None), lambda a: np.asarray(a, dtype=complex), lambda a: a.astype(complex), np.copy,
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [float, complex])
def test_what_shares_memory_and_what_copies(function, dtype):
    f = written(function)
    assert zyg.jit(f)(np.zeros(3, dtype)) == f(np.zeros(3, dtype))


def outcome(f, *args):
    """What a call gives and leaves in its arguments; the type of the exception, for which TypeError stands for its own."""
    args = [a.copy() for a in args]
    try:
        result = f(*args)
    except (TypeError, ValueError) as error:
        return next(c for c in (TypeError, ValueError) if isinstance(error, c)), args
    return result, args


def add_to(a, b):
    a += b
    return a


def divide(a, b):
    a /= b
    return a


def add_to_part(a, b):
    a[1:] += b
    return a


def add_to_some(a, b):
    a[[0, 1]] += b
    return a


def raise_by_number(a, b):
    a -= 1.5
    return a


def add_to_elements(a, b):
    for k in range(2):
        a[k] += 0.7
    return a


@pytest.mark.parametrize(
    "f, types",
    [
        (add_to, ["if", "ld", "Bl", "?l", "il", "fd", "iB", "dl", "lD", "dD"]),
        (divide, ["ll", "Bd", "fd"]),
        (add_to_part, ["ld", "il", "fd"]),
        (add_to_some, ["ld", "lB"]),
        (raise_by_number, ["ll", "?l", "fl"]),
        (add_to_elements, ["ll"]),
    ],
    ids=lambda v: v.__name__ if callable(v) else "",
)
def test_what_is_computed_in_place_has_to_be_of_the_same_kind(f, types):
    """Arrays of integers take no floats in place, though their elements do."""
    native = zyg.jit(f)
    for own, other in types:
        for b in (np.array(2, other), np.array([2], other)):
            args = np.array([1, 2, 4], own), b
            ours, theirs = outcome(native, *args), outcome(f, *args)
            if isinstance(theirs[0], type):
                assert ours[0] is theirs[0], (own, other)
            else:
                same(ours[0], theirs[0])
            same(ours[1][0], theirs[1][0])


def test_arrays_of_no_dimensions_in_place():
    def f(z, x):
        z += 1
        z *= z
        z -= x
        return z

    for z, x in [(1.5, 2.0), (3, 2), (3, 2.0), (1 + 2j, 2.0), (1.5, 1j), (np.float32(2), 0.1), (True, 2), (2.5, [1.0])]:
        args = np.array(z), np.array(x)
        ours, theirs = outcome(zyg.jit(f), *args), outcome(f, *args)
        if isinstance(theirs[0], type):
            assert ours[0] is theirs[0], (z, x)
        else:
            assert isinstance(ours[0], np.ndarray) and ours[0] is not theirs[0]
            same(ours[0], theirs[0])
            same(ours[1][0], theirs[1][0])

    def g(z):
        z = z.copy()
        z *= z
        z += np.sin(z)
        return z + 0.0

    dz = zyg.gradient(g, np.array(1.5))[0]
    h = 1e-6
    np.testing.assert_allclose(dz, (g(np.array(1.5 + h)) - g(np.array(1.5 - h))) / (2 * h), rtol=1e-7)


def test_a_nan_in_a_factorisation_is_an_error():
    a = np.ones((3, 3))
    a[1, 1] = np.nan
    for f in (lambda a: np.linalg.svd(a)[1], lambda a: np.linalg.eigh(a)[0]):
        with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
            zyg.jit(f)(a)


def moved_about(a, b, c):
    a[1:, ::2] = a[:-1, ::2]
    a[::-1] = a
    b[:, 1:] = b[:, :-1]
    b[::2] = c[::2]
    c[:] = c.T
    c[:, 1] = b[0]
    c[1:3] = 2.5
    b += a
    return np.sum(a * b) + np.sum(b * c * c)


def test_many_copies_are_few_functions():
    draw = np.random.default_rng(5)
    given = [draw.normal(size=(5, 5)) for _ in range(3)]
    copies = lambda: [x.copy() for x in given]
    compiled, plain = copies(), copies()
    assert zyg.jit(moved_about)(*compiled) == pytest.approx(moved_about(*plain), rel=1e-14)
    for x, y in zip(compiled, plain, strict=True):
        assert np.array_equal(x, y)
    derivatives = zyg.gradient(moved_about, *copies())
    for k, derivative in enumerate(derivatives):
        assert derivative == pytest.approx(differences(moved_about, copies, k), rel=1e-6, abs=1e-7)
    text = str(zyg.code_llvm(moved_about, *copies(), optimised=False, raw=True))
    calls, functions = (text.count(f"{what} fastcc {{i32}} @zyg.copyto.each.") for what in ("call", "define internal"))
    assert calls > functions > 0


def many_sums(x, y, m):
    a = np.sum(x * y) + np.sum(np.where(x > 0.3, x, -y)) + np.sum(np.abs(x - 2.0 * y) / 3.0)
    b = np.sum(np.floor(4.0 * x)) + np.sum(np.copysign(y, x) + 0.1 * np.trunc(3.0 * y))
    c = np.sum((x < y) * x) + np.sum(m * m) + np.sum(np.sum(m[1] * m, axis=1) / 7.0)
    return a, b, c


def test_sums_in_lanes_are_those_of_numpy_to_the_last_bit():
    draw = np.random.default_rng(11)
    compiled = zyg.jit(many_sums)
    for n in (2, 7, 8, 9, 17, 127, 128, 129, 300, 1031):
        given = (draw.normal(size=n), draw.normal(size=n), draw.normal(size=(3, n)))
        if n > 2:
            assert compiled(*given) == many_sums(*given)
    assert "<8 x double>" in str(zyg.code_llvm(many_sums, *given, optimised=False, raw=True))


@pytest.mark.parametrize("n", [7, 127, 128, 129])
def test_sums_over_all_axes_and_over_one_do_not_share_a_loop(n):
    def both(m):
        return np.sum(m * m) + np.sum(np.sum(m[1] * m, axis=1) / 7.0)

    m = np.random.default_rng(n).normal(size=(3, n))
    assert zyg.jit(both)(m) == both(m)


def refused(x, n):
    total = np.sum(x)
    for k in range(n):
        if k == 3:
            raise ValueError(f"{k} of {n} {{so far}}: {x[0]:.2f}")
        total += k
    return total


def test_messages_with_numbers_need_no_python():
    x = np.ones(3)
    assert zyg.jit(refused)(x, 3) == refused(x, 3)
    for f in (refused, zyg.jit(refused), zyg.grad(refused)):
        with pytest.raises(ValueError, match=r"^3 of 5 \{so far\}: 1\.00$"):
            f(x, 5)
    assert "PyObject_Call" not in str(zyg.code_llvm(refused, x, 5, optimised=False, raw=True))


def test_small_whole_powers_are_products():
    powers = lambda x: (x**3, x**4, x**5.0, x**-1.0, x**-2.0, np.power(x, 3), x**1.5, x**2.5)
    drawn = np.random.default_rng(0)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e-160, 1e-107, 1e155, -1e155, 1e103, 1.7e308, 1e-65, 1e61]
    x = np.concatenate([special, drawn.normal(size=2000) * 10.0 ** drawn.uniform(-60, 60, size=2000)])
    with np.errstate(all="ignore"):
        for made, exponent in zip(zyg.jit(powers)(x), (3, 4, 5, -1, -2, 3, 1.5, 2.5), strict=True):
            expected = x**exponent
            finite = np.isfinite(expected)
            np.testing.assert_array_equal(made[~finite], expected[~finite])
            assert np.array_equal(np.signbit(made[finite]), np.signbit(expected[finite]))
            exact = x[finite].astype(np.longdouble) ** exponent
            assert np.max(np.abs(made[finite] - exact) / np.spacing(np.abs(expected[finite]))) <= 4.0
    exact = zyg.jit(lambda x: x**3, vectormath=False)(x[14:])
    assert np.array_equal(exact, [float(v) ** 3 for v in x[14:]])
    points = np.array([0.0, 0.5, -1.5])
    np.testing.assert_allclose(zyg.grad(lambda x: np.sum(x**3))(points), 3 * points**2, rtol=1e-15)
    slope = zyg.grad(lambda x: np.sum(x**1.5 + x**2.5))
    np.testing.assert_allclose(slope(np.array([0.0, 0.5, 4.0])), [0.0, 1.9445436482630056, 23.0], rtol=1e-15)
    assert zyg.jit(lambda x: x**1.5, vectormath=False)(x[14:].clip(0.0)).tolist() == [
        v**1.5 for v in x[14:].clip(0.0).tolist()
    ]


def seen_otherwise(a, w):
    """Of the transposed of an array in Fortran order the elements lie one behind the other, of the shadow they have to, too."""
    b = a.T if a[0, 0] < 99.0 else w
    c = a.T.reshape((4, 6))
    d = a.ravel("F")
    d = d[1:] * d[:-1]
    e = np.ascontiguousarray(a[::-1]) * w.T + a[:, ::-1].reshape((4, 6)).T
    return (
        np.sum(b**2 * w)
        + np.sum(np.exp(0.1 * c) * w)
        + np.sum(d**2)
        + np.sum(a.reshape((3, 8), order="A") ** 3)
        + np.sum(e**2)
    )


@each_in_long_turn
def test_derivatives_of_what_is_seen_in_another_order():
    """By tangents that lie in another way the derivative was wrong, or it was refused."""
    w, base, direction = (np.random.default_rng(n).normal(size=s) for n, s in enumerate([(4, 6), (6, 4), (6, 4)]))
    wide = np.repeat(base, 2, axis=1)
    for a in (
        np.asfortranarray(base),
        base,
        base[::-1].copy()[::-1],
        base[::-1, ::-1].copy()[::-1, ::-1],
        np.asfortranarray(base[:, ::-1])[:, ::-1],
        wide[:, ::2],
        np.asfortranarray(wide)[:, ::2],
    ):

        def at(t, f, a=a):
            moved = a.copy(order="K") if a.flags.forc else np.repeat(a, 2, axis=0)[::2]
            moved += t * direction
            return f(moved, w)

        slope = lambda f: (8 * (at(1e-3, f) - at(-1e-3, f)) - (at(2e-3, f) - at(-2e-3, f))) / 12e-3
        gradient = zyg.grad(seen_otherwise)
        wanted = slope(seen_otherwise)
        assert np.sum(gradient(a, w) * direction) == pytest.approx(wanted, rel=1e-8)
        for d in (direction, np.asfortranarray(direction), np.repeat(direction, 2, axis=0)[::2]):
            assert zyg.jvp(seen_otherwise, (a, w), (d, None))[1] == pytest.approx(wanted, rel=1e-8)
        assert np.allclose(zyg.hvp(seen_otherwise, a, w, direction), slope(gradient), rtol=1e-7)
