"""numpy.linalg of complex matrices: NumPy's values, small and by LAPACK; derivatives against differences. And what is near a
singular matrix, or is not square."""

from __future__ import annotations

import numpy as np
import pytest

import zyg

from ..turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn

L = np.linalg
H = 1e-4


def numbers(*shape, seed=0):
    rng = np.random.default_rng(seed + sum(shape))
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def definite(n):
    root = numbers(n, n)
    return root @ root.conj().T + np.diag(np.arange(n) * 3.0 + n)


def everything(a, b, tall):
    q, r = L.qr(tall)
    return (
        L.solve(a, b), L.solve(a.real, b), L.inv(a), L.det(a), *L.slogdet(a), L.cholesky(a), L.cholesky(a, upper=True), *L.eigh(a),
        q, r, *L.svd(tall), *L.svd(tall, full_matrices=False), L.pinv(tall), L.norm(a), L.norm(a, 1), L.norm(a, axis=0), L.norm(b, 3),
    )  # fmt: skip


def test_values():
    mine = zyg.jit(everything)
    for n in (1, 3, 10):
        given = definite(n), numbers(n), numbers(n + 2, n)
        for found, wanted in zip(mine(*given), everything(*given), strict=True):
            assert np.asarray(found).dtype == np.asarray(wanted).dtype
            assert np.allclose(found, wanted, rtol=1e-9)


def size(z):
    """A real number that depends on all of z's absolute values, each in its own way."""
    return np.sum(np.abs(z) ** 2 * (1.0 + np.arange(z.size).reshape(z.shape)))


def systems(a):
    b = a + 1j * np.triu(a)  # whose determinant is not real
    sign, log = L.slogdet(b)
    return size(L.solve(a, a[:2].T)) + size(L.inv(a)) + L.det(b[:3, :3] / 5).imag + sign.real + log


def triangular_factors(a):
    q, r = L.qr(a[:, :-1])
    return size(L.cholesky(a)) + size(r) + size(q) + (q[0, 0] * r[0, 1]).imag


def spectrum(a):
    w, v = L.eigh(a)
    return size((v * np.exp(-w)) @ v.conj().T) + np.sum(np.sin(w)) + size(v[0])


def singular(a):
    u, s, vt = L.svd(a[:, :-1])
    k = len(s)
    rest = u[:, k:] @ u[:, k:].conj().T
    return size((u[:, :k] * np.exp(-s)) @ vt) + np.sum(s) + size(rest) + rest[0, 1].imag + size(u[0, :k])


def inverses(a):
    return (
        size(L.pinv(a[:, :-1])) + size(L.lstsq(a[:, :-1], a[:, -1])[0]) + L.norm(a, "nuc") + np.sum(L.norm(a, axis=0))
    )


def along(f, a, d):
    at = lambda t: f(a + t * d)
    return (8 * (at(H) - at(-H)) - (at(2 * H) - at(-2 * H))) / (12 * H)


def inner(x, y):
    return np.sum(np.real(np.conj(x) * y))


@each_in_long_turn
@pytest.mark.parametrize("f", [systems, triangular_factors, spectrum, singular, inverses])
def test_derivatives(f):
    for n in (3, 10):
        a, d = definite(n), numbers(n, n, seed=1)
        d = d + d.conj().T
        slope = pytest.approx(along(f, a, d), rel=1e-6)
        assert inner(zyg.gradient(f, a)[0], d) == slope
        assert zyg.jvp(f, (a,), (d,))[1] == slope


@pytest.mark.parametrize("f", [lambda a: size(L.solve(a, a[0])), lambda a: size(L.cholesky(a))])
def test_second_derivatives(f):
    a, d = definite(3), numbers(3, 3, seed=1)
    d = d + d.conj().T
    found = zyg.hvp(f, a, d)
    assert np.allclose(
        found, along(lambda a: zyg.gradient(f, a)[0], a, d), rtol=1e-6, atol=1e-6 * np.max(np.abs(found))
    )


def second_of_det(a, d):
    """The gradient of the derivative of the determinant along d: minors of two rows and two columns less."""
    n = len(a)
    made = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            rows, columns = np.arange(n) != i, np.arange(n) != j
            minor, change = a[rows][:, columns], d[rows][:, columns]
            for k in range(n - 1):
                turned = minor.copy()
                turned[k] = change[k]
                made[i, j] += (-1) ** (i + j) * L.det(turned)
    return made


def test_second_derivatives_of_the_determinant_near_singular_matrices():
    f = lambda a: L.det(a)
    rng = np.random.default_rng(4)
    for n, rank in ((2, 1), (3, 2), (4, 3), (4, 2), (5, 4), (3, 3)):
        a = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n))
        d = rng.normal(size=(n, n))
        wanted = second_of_det(a, d)
        assert np.allclose(zyg.hvp(f, a, d), wanted, atol=1e-9 * np.max(np.abs(wanted)))


def test_at_the_edges():
    nan, zero = np.full((3, 3), np.nan), np.zeros((3, 3))
    assert np.isnan(zyg.jit(lambda a: L.cholesky(a))(nan)[2]).all()  # as LAPACK has it
    condition = zyg.jit(lambda a: (L.cond(a), L.cond(a, 1), L.norm(a[:0], np.inf), L.norm(a[0, :0], np.inf)))
    assert condition(zero) == (np.inf, np.inf, 0.0, 0.0)
    with pytest.raises(L.LinAlgError, match="empty"):
        condition(zero[:0])
