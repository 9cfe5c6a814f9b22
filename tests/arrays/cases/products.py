"""Products and contractions, numpy.linalg, numpy.fft, convolutions, polynomials."""

from __future__ import annotations

import numpy as np

from zyg.library.numpy_ import hermitian, linalg, pseudo_inverses, qr, signals, singular, triangular

from ..case import case
from ..drawing import A, Num

D = "dfD"
case(
    [np.dot, (np.ndarray, "dot")],
    lambda a, b: (np.dot(a, b), a.dot(b)),
    a=A("n|n m|n m|m", "dflD", "finite"),
    b=A("n|m k|m|m k", "dflD", "finite"),
    tolerance=64,
)
case(np.dot, lambda a, b: np.dot(a, b), a=A("n m k", "dl", "finite"), b=A("k|k p|q k p", "dl", "finite"), tolerance=64)
case(np.dot, lambda a, x: np.dot(a, x), a=A("n|n m", "dl", "finite"), x=Num("dl", "few"))
case(
    np.matmul,
    lambda a, b: np.matmul(a, b),
    a=A("n|n m|n m|m|p n m|p n m", "dflD", "finite"),
    b=A("n|m k|m|m k|m k|p m k", "dflD", "finite"),
    tolerance=64,
)
case(np.matmul, lambda a, b: a @ b, a=A("n|n m|n m|m", D, "finite"), b=A("n|m k|m|m k", D, "finite"), tolerance=64)
case(
    np.matmul,
    lambda a, b, c: np.matmul(a, b, out=c) + c,
    a=A("n m", "d", "finite"),
    b=A("m k", "d", "finite"),
    c=A("n k", "d", "finite"),
    tolerance=64,
)
case(np.matmul, lambda a: a.T @ a, a=A("n m", "dl", "finite"), tolerance=64)
case(np.vdot, lambda a, b: np.vdot(a, b), a=A("n|n m", "dlD", "finite"), b=A("n|n m", "dD", "finite"), tolerance=64)
case(np.vdot, lambda a, b: np.vdot(a, b) * (a @ b), a=A("30", "D", "finite"), b=A("30", "dD", "finite"), tolerance=64)
case(np.inner, lambda a, b: np.inner(a, b), a=A("n|m n", "dl", "finite"), b=A("n|k n", "dl", "finite"), tolerance=64)
case(np.outer, lambda a, b: np.outer(a, b), a=A("n|n m", "dlD", "finite"), b=A("m", "dl", "finite"))
case(np.cross, lambda a, b: np.cross(a, b), a=A("3|n 3", "dl", "finite"), b=A("3|n 3", "dl", "finite"))
case(np.kron, lambda a, b: np.kron(a, b), a=A("n|n m", "dl", "finite"), b=A("m|k p", "dl", "finite"))
case(np.trace, lambda a: np.trace(a, 1, dtype=np.float64), a=A("n m|n m 2", "dfl", "finite"))
case(
    np.outer,
    lambda a, b: np.outer(a, b, out=np.zeros((a.size, b.size), np.float32 if a.dtype == np.float32 else float)),
    a=A("n", "df", "finite"),
    b=A("m", "l", "finite"),
    derivative=False,
)
case([np.trace, (np.ndarray, "trace")], lambda a: (np.trace(a), a.trace()), a=A("n m", "dfl", "finite"))
case(
    np.tensordot,
    lambda a, b: (np.tensordot(a, b), np.tensordot(b, np.moveaxis(a, (2, 3), (0, 1))), np.tensordot(a[0], b.T, 1)),
    a=A("n m k l", "dl", "finite", least=1),
    b=A("k l", "dl", "finite", least=1),
)
case(
    np.tensordot,
    lambda a, b: np.tensordot(a, b),
    a=A("n m k", "d", "finite"),
    b=A("m k p", "d", "finite"),
    tolerance=64,
)
case(
    np.tensordot,
    lambda a, b: np.tensordot(a, b, axes=1),
    a=A("n m|n m k", "dl", "finite"),
    b=A("m p|k p", "dl", "finite"),
    tolerance=64,
)
case(
    np.tensordot,
    lambda a, b: np.tensordot(a, b, axes=([0, 1], [1, 0])),
    a=A("n m k", "d", "finite"),
    b=A("m n p", "d", "finite"),
    tolerance=64,
)
for _text, _a, _b in (
    ("ij,jk->ik", "n m", "m k"), ("ij,ij->", "n m", "n m"), ("i,j->ij", "n", "m"), ("ij,kj->ik", "n m", "k m"),
    ("bij,bjk->bik", "p n m", "p m k"), ("ij,j", "n m", "m"), ("ijk,k->ij", "n m k", "k"), ("ij,ij->i", "n m", "n m"),
):  # fmt: skip
    case(
        np.einsum,
        (lambda t: lambda a, b: np.einsum(t, a, b))(_text),
        a=A(_a, "dlD"[:2], "finite"),
        b=A(_b, "d", "finite"),
        tolerance=64,
    )
for _text, _a, _b in (
    ("ij,kj->ik", "n m", "k 1"), ("ij,jk->ik", "n 1", "m k"), ("aij,ijb->ab", "n 1 m", "m 1 k"), ("ij,kj->i", "n m", "k 1"),
):  # fmt: skip
    case(
        np.einsum,
        (lambda t: lambda a, b: np.einsum(t, a, b))(_text),
        a=A(_a, "dl", "finite"),
        b=A(_b, "d", "finite"),
        tolerance=64,
    )
for _text, _a in (
    ("ii->i", "n n"),
    ("ii", "n n"),
    ("ij->ji", "n m"),
    ("ij->j", "n m"),
    ("ijk->ki", "n m k"),
    ("i...->...", "n m|n m k"),
):
    case(np.einsum, (lambda t: lambda a: np.einsum(t, a))(_text), a=A(_a, "dl", "finite"), tolerance=64, memory=False)
case(np.einsum, lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]), a=A("n m", "dl", "finite"), b=A("m k", "d", "finite"), tolerance=64)  # fmt: skip
case(np.einsum, lambda a, b: np.einsum(a, [..., 3], b, [3]), a=A("n m|n m k", "d", "finite"), b=A("m|k", "d", "finite"), tolerance=64)  # fmt: skip
case(np.einsum, lambda a: np.einsum("ij->i", a), a=A("n m", "dfiB", "few"), tolerance=64)


def _einsum_into(a, b):
    out = np.zeros(a.shape[:1])
    return np.einsum("ij,ij->i", a, b, out=out), out


case(np.einsum, _einsum_into, a=A("n m", "d", "finite"), b=A("n m", "d", "finite"), tolerance=64)
case(
    np.einsum,
    lambda a, b, c: np.einsum("ij,jk,kl->il", a, b, c),
    a=A("n m", "d", "finite"),
    b=A("m k", "d", "finite"),
    c=A("k p", "d", "finite"),
    tolerance=64,
)

LOOSE = {"tolerance": 2000.0}
L = np.linalg
case(np.kron, lambda a, b: np.kron(a, b), a=A("n m|n m k", "dl", "finite"), b=A("p|p q r", "d", "finite"))
case([np.dot, (np.ndarray, "dot")], lambda a, b: (np.dot(a, b, out=np.ones((2, 3))), a.dot(b, np.ones((2, 3)))), a=A("2 m", "d", "finite"), b=A("m 3", "d", "finite"), tolerance=64)  # fmt: skip
case(L.qr, lambda a: np.linalg.qr(a, "complete"), a=A("5 3|3 5|4 4", "dfD", "regular"), **LOOSE)
case(L.qr, lambda a: np.linalg.qr(a, "complete"), a=A("n m|2 4 3|0 3", "dD", "finite"), derivative=False, **LOOSE)
case([L.svd], lambda a: np.linalg.svd(a + a.T, compute_uv=False, hermitian=True), a=A("n n", "d", "regular"), **LOOSE)
case([L.pinv], lambda a: np.linalg.pinv(a + a.T, hermitian=True), a=A("n n", "d", "regular"), **LOOSE)
case(
    [L.svd],
    lambda a: np.matmul(np.linalg.svd(a + a.T, hermitian=True)[0] ** 2, np.linalg.svd(a + a.T, hermitian=True).S),
    a=A("n n", "d", "regular"),
    **LOOSE,
)
case(
    [L.solve, triangular.solve_factored, triangular.factor],
    lambda a, b: np.linalg.solve(a, b),
    a=A("n n", "dfD", "regular"),
    b=A("n|n k", "dfD", "finite"),
    **LOOSE,
)
case(
    L.solve, lambda a, b: np.linalg.solve(a, b), a=A("p n n", "dD", "regular", 1), b=A("p n k", "d", "finite"), **LOOSE
)
case(L.inv, lambda a: np.linalg.inv(a), a=A("n n|p n n", "dfD", "regular"), **LOOSE)
case([L.det, linalg.determinant], lambda a: np.linalg.det(a), a=A("n n|p n n", "dfD", "regular"), tolerance=1e4)
case(linalg.cofactors, lambda a: np.linalg.det(a / 40), a=A("n n", "d", "deficient"), tolerance=1e5)
case([L.slogdet, linalg.sign_and_log], lambda a: np.linalg.slogdet(a), a=A("n n", "dfD", "regular"), **LOOSE)
case([L.cholesky, triangular.cholesky_lower], lambda a: np.linalg.cholesky(a), a=A("n n", "dfD", "definite"), **LOOSE)
case(L.cholesky, lambda a: np.linalg.cholesky(a, upper=True), a=A("n n|p n n", "dD", "definite"), **LOOSE)
case([L.qr, qr.qr_of], lambda a: np.linalg.qr(a), a=A("n n", "dfD", "regular"), **LOOSE)
case(L.qr, lambda a: np.linalg.qr(a), a=A("5 3|3 5", "dD", "regular"), **LOOSE)
case(L.qr, lambda a: np.linalg.qr(a, mode="r"), a=A("5 3|4 4", "d", "regular"), **LOOSE)
case([L.eigh, hermitian.eigh_of], lambda a: np.linalg.eigh(a)[0], a=A("n n", "dfD", "symmetric", 1), **LOOSE)
case(L.eigh, lambda a: np.linalg.eigh(a, "U"), a=A("3 3|4 4", "dD", "regular"), derivative=False, **LOOSE)
case([L.eigh, L.eigvalsh], lambda a: np.abs(np.linalg.eigh(a, "U")[1]) + np.linalg.eigvalsh(a, "U"), a=A("n n", "dD", "symmetric", 1), **LOOSE)  # fmt: skip
case(
    [L.eigh, hermitian.steady],
    lambda a, w: np.sum(np.abs(np.linalg.eigh(a)[1] ** 2) * w),
    a=A("n n", "dD", "symmetric", 1),
    w=A("n n", "d", "finite"),
    **LOOSE,
)
case(
    [L.eigvalsh, hermitian.eigvalsh_of, hermitian.by_values, hermitian.sure_once],
    lambda a: np.linalg.eigvalsh(a),
    a=A("n n", "dfD", "symmetric", 1),
    **LOOSE,
)
case(L.eigvalsh, lambda a: np.linalg.eigvalsh(a), a=A("2 n n", "dD", "symmetric", 1), **LOOSE)
case(
    [L.svd, singular.svdvals_of],
    lambda a: np.linalg.svd(a, compute_uv=False),
    a=A("n m|n n", "dD", "regular", 1),
    **LOOSE,
)
case(L.svd, lambda a: np.linalg.svd(a, compute_uv=False), a=A("2 n m|2 3 1 2", "dD", "regular", 1), **LOOSE)
case([L.svd, singular.svd_of], lambda a: np.linalg.svd(a)[1], a=A("n m|n n", "dD", "regular", 1), **LOOSE)
case(L.svd, lambda a: np.linalg.svd(a, full_matrices=False)[1], a=A("n m|n n", "d", "regular", 1), **LOOSE)
case(
    L.svd,
    lambda a, w: np.sum(np.abs(np.linalg.svd(a)[0][0] * w)) + np.sum(np.abs(np.linalg.svd(a)[2][:, 0]) ** 2 * w[0]),
    a=A("3 5|4 3|3 3", "dD", "regular", 1),
    w=A("3|4|3", "d", "finite"),
    derivative=False,
    **LOOSE,
)
case(L.svdvals, lambda a: np.linalg.svdvals(a), a=A("n m", "d", "regular", 1), **LOOSE)
case(
    L.lstsq, lambda a, b: np.linalg.lstsq(a, b)[0], a=A("5 3|3 3", "dD", "regular"), b=A("5|3", "dD", "finite"), **LOOSE
)
case(
    [L.pinv, pseudo_inverses.pseudo_inverse, pseudo_inverses.kept_and_rest],
    lambda a: np.linalg.pinv(a),
    a=A("n m|n n|p n n", "dfD", "regular", 1),
    tolerance=1e5,
)
# One of three singular values is cut off, and stays so.
case(
    [L.pinv, pseudo_inverses.stein],
    lambda a: np.linalg.pinv(np.diag(np.array([3.0, 2.0, 0.2])) + 0.1 * np.tanh(a), rcond=0.3),
    a=A("3 3", "d", "finite"),
    tolerance=1e5,
)
case(L.matrix_power, lambda a: np.linalg.matrix_power(a, 3), a=A("n n", "dl", "unit"), **LOOSE)
case(L.matrix_power, lambda a: np.linalg.matrix_power(a, -2), a=A("n n", "d", "regular"), tolerance=1e5)
case(L.matrix_rank, lambda a: np.linalg.matrix_rank(a), a=A("n m|p q n m", "dD", "regular", 1), derivative=False)
case(L.norm, lambda a: np.linalg.norm(a), a=A("n|n m|n m k", "dfD", "finite", 1), **LOOSE)
case(L.norm, lambda a: np.linalg.norm(a, axis=0), a=A("n|n m", "dD", "finite"), **LOOSE)
case(L.norm, lambda a: np.linalg.norm(a, 1), a=A("n|n m", "dD", "finite"), **LOOSE)
case(L.norm, lambda a: np.linalg.norm(a, np.inf), a=A("n|n m", "dfD", "finite"), **LOOSE)
case(L.norm, lambda a: np.linalg.norm(a, -np.inf), a=A("n|n m", "dl", "finite"), **LOOSE)
case(L.norm, lambda a: np.linalg.norm(a, 2, axis=(0, -1)), a=A("n m|n m k", "dD", "regular", 1), **LOOSE)
case(L.norm, lambda a: np.linalg.norm(a, "nuc", axis=(1, 0), keepdims=True), a=A("n m", "dD", "regular", 1), **LOOSE)
case(L.norm, lambda a: np.linalg.norm(a, "fro"), a=A("n m", "d", "finite", 1), **LOOSE)
case(L.norm, lambda a: np.linalg.norm(a, axis=1, keepdims=True), a=A("n m", "d", "finite", 1), **LOOSE)
case(L.norm, lambda a: np.linalg.norm(a, 3), a=A("n", "d", "finite", 1), **LOOSE)
case(L.cond, lambda a: np.linalg.cond(a), a=A("n n", "d", "symmetric", 1), tolerance=1e5)
case(
    L.multi_dot,
    lambda a, b, c: np.linalg.multi_dot([a, b, c]),
    a=A("n m", "d", "finite"),
    b=A("m k", "dD", "finite"),
    c=A("k p", "d", "finite"),
    tolerance=64,
)
case(L.eigvals, lambda a: np.linalg.eigvals(a), a=A("n n", "d", "symmetric", 1), derivative=False, **LOOSE)

for _f in (np.fft.fft, np.fft.ifft, np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn):
    _two = "2" in _f.__name__
    case(_f, (lambda f: lambda a: f(a))(_f), a=A("n m" if _two else "n|n m", "dD", "finite", 1), tolerance=64)
case(np.fft.rfft, lambda a: np.fft.rfft(a), a=A("n|n m", "d", "finite", 1), tolerance=64)
case(np.fft.irfft, lambda a: np.fft.irfft(a), a=A("n|n m", "D", "finite", 2), tolerance=64)
case(np.fft.fft, lambda a: np.fft.fft(a, n=5, norm="ortho"), a=A("n", "dD", "finite", 1), tolerance=64)
case(np.fft.fft, lambda a: np.fft.fft(a, axis=0), a=A("n m", "dD", "finite", 1), tolerance=64)
case(np.fft.rfft2, lambda a: np.fft.rfft2(a), a=A("n m", "d", "finite", 2), tolerance=64)
case(np.fft.hfft, lambda a: np.fft.hfft(a), a=A("n", "D", "finite", 2), tolerance=64)
case(
    [np.fft.fftshift, np.fft.ifftshift],
    lambda a: (np.fft.fftshift(a), np.fft.ifftshift(a)),
    a=A("n|n m", "dD"),
    exact=True,
)
case(
    [np.fft.fftfreq, np.fft.rfftfreq],
    lambda n: (np.fft.fftfreq(n, 0.1), np.fft.rfftfreq(n, 0.5)),
    n=Num("l", choices=(1, 4, 5)),
    derivative=False,
)
for _mode in ("full", "same", "valid"):
    case(
        [np.convolve, signals.convolved, signals.correlated],
        (lambda m: lambda a, b: np.convolve(a, b, m))(_mode),
        a=A("n", "dl", "finite", 1),
        b=A("m", "dl", "finite", 1),
        tolerance=64,
    )
    case(
        np.correlate,
        (lambda m: lambda a, b: np.correlate(a, b, m))(_mode),
        a=A("n", "dl", "finite", 1),
        b=A("m", "dl", "finite", 1),
        tolerance=64,
    )
case(np.convolve, lambda a, b: np.convolve(a, b), a=A("n", "D", "finite", 1), b=A("m", "dD", "finite", 1), tolerance=64)
case(np.polyval, lambda p, x: np.polyval(p, x), p=A("n", "dl", "finite"), x=A("m|m k|", "dl", "unit"), tolerance=256)
# (Of a matrix of one row they have no dimensions: values of two kinds, which have a derivative where they are made one.)
case(np.cov, lambda a: np.cov(a), a=A("1 m|n m|m", "d", "finite", 2), tolerance=256, derivative=False)
case(np.cov, lambda a: np.sum(np.cov(a) ** 2), a=A("1 m|n m|m", "d", "finite", 2), tolerance=256)
case(
    np.cov,
    lambda a, w, n: (
        np.atleast_2d(np.cov(a, aweights=w)),
        np.atleast_2d(np.cov(a, fweights=n)),
        np.atleast_2d(np.cov(a, None, True, True, None, n, w)),
    ),
    a=A("1 m|2 m", "dl", "finite", 2),
    w=A("m", "d", "positive"),
    n=A("m", "l", "positive"),
    tolerance=256,
)
case(np.cov, lambda a, w: np.cov(a, a[0], aweights=w, dtype=np.float32), a=A("2 m", "df", "finite", 2), w=A("m", "d"), tolerance=256, derivative=False)  # fmt: skip
case(np.corrcoef, lambda a: np.corrcoef(a), a=A("1 m|2 m", "d", "finite", 3), tolerance=1e4, derivative=False)
case(np.corrcoef, lambda a: np.atleast_2d(np.corrcoef(a)), a=A("1 m|2 m", "d", "finite", 3), tolerance=1e4)

case(L.cross, lambda a, b: np.linalg.cross(a, b), a=A("3|n 3", "dl", "finite"), b=A("3|n 3", "dl", "finite"))
case(
    L.matmul, lambda a, b: np.linalg.matmul(a, b), a=A("n m", "dl", "finite"), b=A("m k", "dl", "finite"), tolerance=64
)
case(L.matrix_norm, lambda a: np.linalg.matrix_norm(a), a=A("n m", "d", "finite", 1), **LOOSE)
case(L.vector_norm, lambda a: np.linalg.vector_norm(a, axis=(0, 1), keepdims=True), a=A("n m", "dD", "finite"), **LOOSE)
case(L.vector_norm, lambda a: np.linalg.vector_norm(a, axis=0), a=A("n|n m", "d", "finite", 1), **LOOSE)
case(L.outer, lambda a, b: np.linalg.outer(a, b), a=A("n", "dl", "finite"), b=A("m", "dl", "finite"))
case(
    L.tensordot,
    lambda a, b: np.linalg.tensordot(a, b, axes=1),
    a=A("n m", "d", "finite"),
    b=A("m p", "d", "finite"),
    tolerance=64,
)
case(L.trace, lambda a: np.linalg.trace(a), a=A("n m|p n m", "dl", "finite"))
case(L.diagonal, lambda a: np.linalg.diagonal(a, offset=1), a=A("n m|p n m", "dlD"), exact=True)
case(L.cond, lambda a: np.linalg.cond(a, 1), a=A("n n", "dD", "regular", 1), tolerance=1e6)
case(
    L.matrix_rank, lambda a: np.linalg.matrix_rank(a, rtol=0.1), a=A("n m|p n n", "dD", "regular", 1), derivative=False
)
case(L.pinv, lambda a: np.linalg.pinv(a, rtol=1e-9), a=A("n m", "dD", "regular", 1), tolerance=1e5)
case(
    L.lstsq,
    lambda a, b: np.linalg.lstsq(a, b),
    a=A("5 3|3 3", "d", "regular"),
    b=A("5|3", "d", "finite"),
    derivative=False,
    **LOOSE,
)
case(L.vecdot, lambda a, b: np.linalg.vecdot(a, b), a=A("n|m n", "d", "finite"), b=A("n", "d", "finite"), tolerance=64)
case(np.vecdot, lambda a, b: np.vecdot(a, b), a=A("n|m n", "dD", "finite"), b=A("n", "dD", "finite"), tolerance=64)
case(np.fft.ihfft, lambda a: np.fft.ihfft(a), a=A("n", "d", "finite", 1), tolerance=64)
case(np.fft.irfft2, lambda a: np.fft.irfft2(a), a=A("n m", "D", "finite", 2), tolerance=64)
case(np.fft.irfftn, lambda a: np.fft.irfftn(a), a=A("n m", "D", "finite", 2), tolerance=64)
case(np.fft.rfftn, lambda a: np.fft.rfftn(a), a=A("n m", "d", "finite", 2), tolerance=64)
case(np.polyder, lambda p: np.polyder(p), p=A("n", "dl", "finite", 1))
case(np.unwrap, lambda a: np.unwrap(a), a=A("n", "d", "finite"))
case(
    np.polyfit,
    lambda x, y, w: (np.polyfit(x, y, 1, cov=True), np.polyfit(x, y, 2, cov="unscaled", w=w), np.polyfit(x, y, 1, full=True)[3]),
    x=A("5", "d", "ascending"),
    y=A("5", "d", "finite"),
    w=A("5", "d", "positive"),
    tolerance=1e6,
    second=False,
)  # fmt: skip
case(np.polyfit, lambda x, y: np.polyfit(x, y, 1), x=A("5", "d", "ascending"), y=A("5", "d", "finite"), tolerance=1e5)
