"""np.linalg.pinv, lstsq and polyfit where singular values are cut off, equal, or 0: all are smooth there. Derivatives, second ones
in all mixes of modes too, against differences of NumPy's values."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

import zyg

from ..turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn

L = np.linalg
H = 1e-3


def numbers(*shape, seed=0, complex=False):
    rng = np.random.default_rng(seed + 10 * len(shape) + sum(shape))
    real = rng.normal(size=shape)
    return real + 1j * rng.normal(size=shape) if complex else real


def with_values(m, n, values, complex=False):
    """A matrix with these singular values."""
    left, right = (L.qr(numbers(k, k, seed=k, complex=complex))[0] for k in (m, n))
    k = len(values)
    return (left[:, :k] * np.array(values)) @ right[:k]


def hermitian(values, complex=False):
    q, _ = L.qr(numbers(len(values), len(values), complex=complex))
    return (q * np.array(values)) @ q.conj().T


def weighed(z):
    """A real number that depends on each part of z in its own way, and not linearly."""
    weights = np.cos(1.0 + np.arange(z.size)).reshape(z.shape)
    z = z - 0.3
    return np.sum(weights * (z.real**2 + 0.7 * z.real)) + np.sum(weights[::-1] * (z.imag**2 - 1.3 * z.imag))


def along(f, a, d):
    """The first and second derivative by t of f(a + t d), by differences of sixth order."""
    near = np.array([f(a + k * H * d) for k in range(-3, 4)])
    first = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
    second = np.array([2, -27, 270, -490, 270, -27, 2]) / 180
    return near @ first / H, near @ second / H**2


def inner(x, y):
    return np.sum(np.real(np.conj(x) * y))


@functools.cache
def derivatives(f):
    """The first ones in the direction d, and the second ones in all mixes of modes: functions of a and d, compiled once for all cases."""
    first = (lambda a, d: inner(zyg.grad(f)(a), d), lambda a, d: zyg.jvp(f, (a,), (d,))[1])
    second = [lambda a, d, g=g: zyg.jvp(lambda a: g(a, d), (a,), (d,))[1] for g in first]
    second += [lambda a, d, g=g: inner(zyg.grad(lambda a: g(a, d))(a), d) for g in first]
    second += [lambda a, d: inner(zyg.hvp(f, a, d), d)]
    return [zyg.jit(g) for g in first], [zyg.jit(g) for g in second]


def check(f, a, d):
    for functions, expected, error in zip(derivatives(f), along(f, a, d), (1e-7, 2e-6), strict=True):
        for g in functions:
            assert g(a, d) == pytest.approx(expected, rel=error, abs=error)


def pinv(a):
    return weighed(L.pinv(a, rcond=0.5))


def hermitian_pinv(a):
    return weighed(L.pinv(a, rtol=0.5, hermitian=True))


def solution(a):
    return weighed(L.lstsq(a, a[:, 0] + np.cos(np.arange(len(a))), 0.5)[0])


def solutions(a):
    best, rest, _, _ = L.lstsq(a, a[:, :2] ** 2, 0.5)
    return weighed(best) + np.sum(rest) ** 2


SHAPES = {
    "square": (4, 4, (3.0, 2.0, 0.9, 0.4)),
    "tall": (5, 3, (3.0, 0.9, 0.4)),
    "wide": (3, 5, (3.0, 1.7, 0.4)),
    "kept alike": (4, 5, (3.0, 3.0, 3.0, 0.9)),
    "cut off alike": (5, 4, (3.0, 0.7, 0.7, 0.7)),
    "both alike": (5, 6, (3.0, 3.0, 0.7, 0.7, 0.0)),
    "zeros": (4, 3, (3.0, 2.0, 0.0)),
    "close": (4, 4, (3.0, 1.6, 1.4, 0.2)),
    "uncut alike": (3, 4, (2.0, 2.0, 2.0)),
    "tall and alike": (5, 3, (2.0, 2.0, 2.0)),
}


@each_in_long_turn
@pytest.mark.parametrize("complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("m, n, values", SHAPES.values(), ids=SHAPES)
def test_pinv_with_a_limit(m, n, values, complex):
    a, d = with_values(m, n, values, complex), numbers(m, n, seed=1, complex=complex)
    check(pinv, a, d)


@each_in_long_turn
@pytest.mark.parametrize("complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize(
    "values", [(3.0, 2.0, -0.4), (3.0, 3.0, 3.0), (3.0, -3.0, 0.5, 0.5, -0.5), (-2.0, 0.5), (2.0, 2.0, 0.0)]
)
def test_pinv_of_hermitian_matrices(values, complex):
    a, d = hermitian(values, complex), hermitian(np.arange(1.0, 1 + len(values)), complex)
    check(hermitian_pinv, a, d)
    mixed = np.tril(a) + np.triu(numbers(*a.shape, seed=3), 1)  # of which the lower triangle is read
    found = zyg.grad(hermitian_pinv)(mixed)
    assert np.allclose(np.triu(found, 1), 0)
    assert inner(found, d) == pytest.approx(along(hermitian_pinv, mixed, d)[0], rel=1e-7)


@each_in_long_turn
def test_pinv_of_stacks():
    a = np.stack([with_values(3, 4, values) for values in ((3.0, 2.0, 0.4), (1.0, 1.0, 1.0), (4.0, 1.0, 1.0))])
    check(pinv, a, numbers(3, 3, 4, seed=1))
    b = np.stack([hermitian(values) for values in ((3.0, 2.0, 0.4), (1.0, 1.0, 1.0), (4.0, 1.0, 1.0))])
    check(hermitian_pinv, b, b[::-1] + 0.0)


STACK = np.stack([hermitian(values) for values in ((3.0, 2.0, 0.4), (1.0, 1.0, 0.5), (4.0, 1.0, -0.1))])


@pytest.mark.parametrize("is_hermitian", [False, True])
def test_a_limit_for_each_matrix(is_hermitian):
    def f(a, limits):
        return weighed(L.pinv(a, rcond=limits, hermitian=is_hermitian))

    d = STACK[::-1] + 0.0
    for limits in (np.array([0.3, 0.6, 0.01]), np.array([0.3])):
        assert f(STACK, limits) == pytest.approx(zyg.jit(f)(STACK, limits))
        wanted = along(lambda a: f(a, limits), STACK, d)  # noqa: B023
        assert inner(zyg.gradient(f, STACK, limits)[0], d) == pytest.approx(wanted[0], rel=1e-6)
    check(lambda a: f(a, np.array([0.3, 0.6, 0.01])), STACK, d)
    in_list = lambda a, x: L.pinv(a, rtol=[0.3, x, 0.01], hermitian=is_hermitian)
    assert np.allclose(zyg.jit(in_list)(STACK, 0.6), in_list(STACK, 0.6))
    two = lambda a, limits: L.pinv(np.stack([a, a[::-1]]), limits, is_hermitian)
    for limits in (np.array([[0.3], [0.6]]), np.array([0.3, 0.6, 0.01])):
        assert np.allclose(zyg.jit(two)(STACK, limits), two(STACK, limits))


@pytest.mark.parametrize("limits", [np.array([0.3]), np.array([0.3, 0.4]), np.array([[0.3, 0.4, 0.1]])], ids=np.shape)
@pytest.mark.parametrize("a", [STACK, STACK[0]], ids=np.ndim)
def test_limits_that_do_not_fit(a, limits):
    f = lambda a, limits: L.pinv(a, limits)
    try:
        wanted = f(a, limits)
    except ValueError as e:
        with pytest.raises(ValueError) as found:
            zyg.jit(f)(a, limits)
        assert str(found.value) == str(e)
    else:
        assert np.allclose(zyg.jit(f)(a, limits), wanted)


@pytest.mark.parametrize("kind", ["f", "d"])
def test_the_usual_limit(kind):
    """1e-15 if nothing is said, whatever the type; with `rtol=None` by the type and the size."""
    a = np.diag([1.0, 1e-10, 3e-16 if kind == "d" else 1e-20]).astype(kind)
    for f in (lambda a: L.pinv(a), lambda a: L.pinv(a, rtol=None), lambda a: L.pinv(a, None, True)):
        assert np.allclose(zyg.jit(f)(a), f(a))
    with pytest.raises(ValueError, match="both set"):
        zyg.jit(lambda a: L.pinv(a, 0.1, rtol=None))(a)


@each_in_long_turn
@pytest.mark.parametrize("is_hermitian", [False, True])
def test_where_the_rank_stays_below_the_full_one(is_hermitian):
    def f(v):
        root = v.reshape(4, 2)
        return weighed(L.pinv(root @ root.T if is_hermitian else root @ root[:3].T, hermitian=is_hermitian))

    check(f, numbers(8), numbers(8, seed=1))


def test_identity_and_a_product():
    def f(v):
        return weighed(L.pinv(np.outer(v, v) + np.eye(3), hermitian=True))

    def g(v):
        return weighed(L.pinv(np.outer(v, v) + np.eye(3)))

    v, d = np.array([1.0, 2.0, 0.5]), np.array([0.3, -0.2, 0.7])
    check(f, v, d)
    check(g, v, d)
    assert np.allclose(
        zyg.grad(lambda a: np.sum(L.pinv(a, hermitian=True)))(2 * np.eye(2)), [[-0.25, 0.0], [-0.5, -0.25]]
    )


@each_in_long_turn
@pytest.mark.parametrize("m, n, values", SHAPES.values(), ids=SHAPES)
def test_lstsq_with_a_limit(m, n, values):
    a, d = with_values(m, n, values), numbers(m, n, seed=1)
    check(solution, a, d)
    check(solutions, a, d)


@each_in_long_turn
def test_polyfit_with_a_limit():
    def f(x):
        return weighed(np.polyfit(x, np.array([1.0, 2.0, 5.0, 3.0]), 2, rcond=0.5))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy: "Polyfit may be poorly conditioned"
        check(f, np.array([0.0, 0.3, 0.9, 1.4]), np.array([1.0, -2.0, 1.0, 2.0]))


BESIDE_LIMITS = [-1.0, 0.0, -np.inf, 1.0, 2.5, np.inf]  # LAPACK takes machine precision instead


@pytest.mark.parametrize("kind", ["f", "d"])
def test_limits_as_lapack_takes_them(kind):
    def f(a, b, rcond):
        return L.lstsq(a, b, rcond=rcond)

    b = np.array([1.0, 2.0, 4.0]).astype(kind)
    for rcond in (*BESIDE_LIMITS, -1, 0, 3, False, True, np.nan, 0.3, np.array(0.3), 2.0**-53):
        for last in (4.5, 4.0):
            a = np.array([[1.0, 2.0], [2.0, last], [3.0, 6.0]]).astype(kind)
            wanted, found = f(a, b, rcond), zyg.jit(f)(a, b, rcond)
            if last == 4.0 and wanted[2] == 2:  # rounding errors alone
                assert found[2] == 2
                continue
            for one, other in zip(wanted, found):
                assert np.shape(one) == np.shape(other)
                assert other.dtype == one.dtype
                assert np.allclose(one, other, atol=1e-6 if kind == "f" else 1e-12)


def test_polyfit_with_limits_as_lapack_takes_them():
    def f(y, rcond):
        return np.polyfit(np.array([0.0, 1.0, 2.0, 4.0, 5.0]), y, 2, rcond)

    y = np.array([1.0, 3.0, 2.0, 5.0, 4.0])
    for rcond in BESIDE_LIMITS:
        assert np.allclose(zyg.jit(f)(y, rcond), f(y, rcond))


def test_derivatives_without_a_limit():
    def f(a, rcond):
        return weighed(L.lstsq(a, a[:, 0] + np.cos(np.arange(4)), rcond)[0])

    a, d = with_values(4, 3, (3.0, 0.9, 0.4)), numbers(4, 3, seed=1)
    for rcond in BESIDE_LIMITS:
        wanted = along(lambda a: f(a, rcond), a, d)  # noqa: B023
        assert inner(zyg.gradient(f, a, rcond)[0], d) == pytest.approx(wanted[0], rel=1e-7)
    check(lambda a: f(a, 1.0), a, d)


def test_lstsq_of_float32_in_double():
    """Which cuts off what is beneath the last place of a double."""
    a = np.array([[1.0, 0.0], [0.0, 2.0**-25], [0.0, 0.0]], np.float32)
    f = lambda a, b: L.lstsq(a, b)[0]
    b = np.array([1.0, 2.0, 4.0], np.float32)
    assert np.allclose(zyg.jit(f)(a, b), f(a, b))
    found = zyg.grad(lambda b: np.sum(f(a, b)))(b)
    assert found.dtype == np.float32
    assert np.allclose(found, [1.0, 2.0**25, 0.0])


@pytest.mark.parametrize("f", [lambda a: L.pinv(a, rcond=0.5), lambda a: L.pinv(a + a.T, 0.5, True)])
def test_of_float32(f):
    a = with_values(3, 3, (3.0, 2.0, 0.4))
    found = zyg.grad(lambda a: np.sum(f(a)))(a.astype(np.float32))
    assert found.dtype == np.float32
    assert np.allclose(found, zyg.grad(lambda a: np.sum(f(a)))(a), rtol=1e-4)


@each_in_long_turn
def test_third_derivatives():
    """By differences of the second ones."""
    a, d = with_values(4, 3, (3.0, 2.0, 0.7)), numbers(4, 3, seed=1)
    second = lambda a: inner(zyg.hvp(pinv, a, d), d)
    assert zyg.jvp(second, (a,), (d,))[1] == pytest.approx(along(second, a, d)[0], rel=1e-7)
    assert inner(zyg.grad(second)(a), d) == pytest.approx(along(second, a, d)[0], rel=1e-7)


def test_of_no_rows():
    assert zyg.grad(lambda a: np.sum(L.pinv(a)) + np.sum(a))(np.ones((0, 3))).shape == (0, 3)
