"""numpy.linalg: orthogonal factorisations, eigenvalues, singular values, and what follows from them.

Each has a core on one matrix with its rules; stacks are done one after the other.  The references:

* M. B. Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
  differentiation" (2008)
* M. Seeger, A. Hetzel, Z. Dai, E. Meissner, N. D. Lawrence, "Auto-Differentiating Linear Algebra" (2017)
* J. Townsend, "Differentiating the Singular Value Decomposition" (2016)

Eigenvectors of an eigenvalue that occurs several times, and singular vectors of such a singular value, are not determined,
and have no derivative.  What does not depend on their choice has one, and it is the one that comes out: terms with the
difference of two equal eigenvalues in the denominator are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.calls import shared, unchecked
from zyg.rules import adjoint, tangent

from .. import blas
from ..registry import implements
from .layouts import packed, swapped
from .linalg import floats, matrices, square
from .triangular import lower_half, solve_lower

EighResult = type(np.linalg.eigh(np.eye(1)))
QRResult = type(np.linalg.qr(np.eye(1)))
SVDResult = type(np.linalg.svd(np.eye(1)))


def inverse_differences(w: Any) -> Any:
    """1 / (w[j] - w[i]), and 0 where they are equal."""
    gaps = w[None, :] - w[:, None]
    return np.where(gaps == 0, 0.0, 1.0 / np.where(gaps == 0, 1.0, gaps))


@implements(inverse_differences)
@unchecked
def _inverse_differences(w: Any) -> Any:
    n = len(w)
    made = np.zeros((n, n), w.dtype)
    for i in range(n):
        for j in range(n):
            if w[i] != w[j]:
                made[i, j] = 1 / (w[j] - w[i])
    return made


def inverses(s: Any) -> Any:
    """1 / s, and 0 where s is 0."""
    return np.where(s == 0, 0.0, 1.0 / np.where(s == 0, 1.0, s))


@implements(inverses)
@unchecked
def _inverses(s: Any) -> Any:
    made = np.zeros(len(s), s.dtype)
    for i in range(len(s)):
        if s[i] != 0:
            made[i] = 1 / s[i]
    return made


# -------------------------------------------------------------------------------- symmetric eigenproblems


@implements(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    x = square(a, "np.linalg.eigh")
    w, v = eigh_stack(x if UPLO == "L" else swapped(x))
    return EighResult(w, v)


@implements(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    x = square(a, "np.linalg.eigvalsh")
    return eigh_stack(x if UPLO == "L" else swapped(x))[0]


def eigh_stack(a: Any) -> tuple[Any, Any]:
    if a.ndim == 2:
        return eigh_lower(a)
    ws, vs = np.empty(a.shape[:-1], a.dtype), np.empty(a.shape, a.dtype)
    for i in range(len(a)):
        w, v = eigh_stack(a[i])
        ws[i] = w
        vs[i] = v
    return ws, vs


def eigh_lower(a: Any) -> tuple[Any, Any]:
    """Eigenvalues, ascending, and eigenvectors of the symmetric matrix whose lower triangle is that of a."""
    w, v = np.linalg.eigh(a)
    return w, v


@implements(eigh_lower)
@shared
@unchecked
def _eigh_lower(a: Any) -> Any:
    n = len(a)
    v, w = packed(a), np.empty(n, a.dtype)
    if n > 0:
        work, whole = np.empty(1, a.dtype), np.empty(1, blas.INTEGER)
        blas.syevd(blas.VECTORS, blas.UPPER, n, v, n, w, work, -1, whole, -1)
        length, count = int(work[0]), int(whole[0])
        work, whole = np.empty(length, a.dtype), np.empty(count, blas.INTEGER)
        if blas.syevd(blas.VECTORS, blas.UPPER, n, v, n, w, work, length, whole, count) != 0:
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return w, packed(swapped(v))


@adjoint(eigh_lower)
def _eigh_rule(a: Any) -> Any:
    """Giles (2008), section 3.1; of the lower triangle, since a is given by that."""
    w, v = eigh_lower(a)

    def back(d: Any) -> Any:
        dw, dv = d
        inner = np.matmul(v.T, dv)
        inner = 0.5 * (inner - inner.T) * inverse_differences(w)
        s = np.matmul(v * dw, v.T) + np.matmul(np.matmul(v, inner), v.T)
        return (lower_half(s + s.T),)

    return (w, v), back


@tangent(eigh_lower)
def _eigh_tangent(a: Any) -> Any:
    w, v = eigh_lower(a)

    def push(da: Any) -> Any:
        low = lower_half(da)
        inner = np.matmul(np.matmul(v.T, low + low.T), v)
        return np.diagonal(inner).copy(), np.matmul(v, inner * inverse_differences(w))

    return (w, v), push


# ---------------------------------------------------------------------------------------------------- qr


@implements(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    x = matrices(a, "np.linalg.qr")
    if mode == "reduced":
        q, r = qr_stack(x)
        return QRResult(q, r)
    if mode == "r":
        return qr_stack(x)[1]
    from ..intrinsics import unsupported

    unsupported("np.linalg.qr with this mode", "use mode='reduced' or mode='r'")


def qr_stack(a: Any) -> tuple[Any, Any]:
    if a.ndim == 2:
        return qr_reduced(a)
    k = min(a.shape[-2], a.shape[-1])
    qs, rs = np.empty((*a.shape[:-1], k), a.dtype), np.empty((*a.shape[:-2], k, a.shape[-1]), a.dtype)
    for i in range(len(a)):
        q, r = qr_stack(a[i])
        qs[i] = q
        rs[i] = r
    return qs, rs


def qr_reduced(a: Any) -> tuple[Any, Any]:
    q, r = np.linalg.qr(a)
    return q, r


@implements(qr_reduced)
@shared
@unchecked
def _qr_reduced(a: Any) -> Any:
    m, n = a.shape
    k = min(m, n)
    columns, tau = packed(a.T), np.empty(max(k, 1), a.dtype)
    r = np.zeros((k, n), a.dtype)
    if k == 0:
        return np.zeros((m, k), a.dtype), r
    work = np.empty(1, a.dtype)
    blas.geqrf(m, n, columns, m, tau, work, -1)
    length = max(int(work[0]), n)
    work = np.empty(length, a.dtype)
    blas.geqrf(m, n, columns, m, tau, work, length)
    for i in range(k):
        for j in range(i, n):
            r[i, j] = columns[j, i]
    blas.orgqr(m, k, k, columns, m, tau, work, length)
    return packed(columns[:k].T), r


def mirrored(m: Any) -> Any:
    """The lower triangle, and what it is mirrored to above the diagonal: copyltu of Seeger et al."""
    low = lower_half(m)
    return low + low.T


@adjoint(qr_reduced)
def _qr_rule(a: Any) -> Any:
    """Seeger et al. (2017), section 3.2 (of LQ there), for a matrix that has as many rows as columns, or more; the further
    columns of a wide matrix are q @ (those of r)."""
    q, r = qr_reduced(a)
    m, n = a.shape

    def back(d: Any) -> Any:
        dq, dr = d
        if m >= n:
            return (tall_cotangent(q, r, dq, dr),)
        rest = dr[:, m:]
        more = dq + np.matmul(a[:, m:], rest.T)
        first = tall_cotangent(q, r[:, :m], more, dr[:, :m])
        return (np.concatenate((first, np.matmul(q, rest)), axis=1),)

    return (q, r), back


def tall_cotangent(q: Any, r: Any, dq: Any, dr: Any) -> Any:
    inner = np.matmul(r, dr.T) - np.matmul(dq.T, q)
    whole = dq + np.matmul(q, mirrored(inner))
    # whole @ inv(r).T
    return solve_lower(packed(r.T), packed(whole.T), True).T


@tangent(qr_reduced)
def _qr_tangent(a: Any) -> Any:
    q, r = qr_reduced(a)
    m, n = a.shape

    def push(da: Any) -> Any:
        k = min(m, n)
        first = da[:, :k]
        # da @ inv(r)
        changed = solve_lower(packed(r[:, :k].T), packed(first.T), False).T
        inner = np.matmul(q.T, changed)
        low = np.tril(inner, -1)
        turn = low - low.T
        dq = changed - np.matmul(q, inner) + np.matmul(q, turn)
        dr = np.matmul(q.T, da) - np.matmul(turn, r)
        return dq, np.triu(dr)

    return (q, r), push


# --------------------------------------------------------------------------------------- singular values


@implements(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    from ..intrinsics import unsupported

    x = matrices(a, "np.linalg.svd")
    if hermitian:
        unsupported("np.linalg.svd(hermitian=True)", "use np.linalg.eigh")
    if not compute_uv:
        return svd_stack(x)[1]
    if full_matrices and x.shape[-1] != x.shape[-2]:
        whole_matrices()
    u, s, vt = svd_stack(x)
    return SVDResult(u, s, vt)


def whole_matrices() -> None:
    raise NotImplementedError(
        "np.linalg.svd of a matrix that is not square gives further singular vectors, which zyg does not; "
        "pass full_matrices=False"
    )


@implements(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    return svd_stack(matrices(x, "np.linalg.svdvals"))[1]


def svd_stack(a: Any) -> tuple[Any, Any, Any]:
    if a.ndim == 2:
        return svd_reduced(a)
    k = min(a.shape[-2], a.shape[-1])
    us, vts = np.empty((*a.shape[:-1], k), a.dtype), np.empty((*a.shape[:-2], k, a.shape[-1]), a.dtype)
    ss = np.empty((*a.shape[:-2], k), a.dtype)
    for i in range(len(a)):
        u, s, vt = svd_stack(a[i])
        us[i] = u
        ss[i] = s
        vts[i] = vt
    return us, ss, vts


def svd_reduced(a: Any) -> tuple[Any, Any, Any]:
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return u, s, vt


@implements(svd_reduced)
@shared
@unchecked
def _svd_reduced(a: Any) -> Any:
    m, n = a.shape
    k = min(m, n)
    # What LAPACK sees is a.T, of which its vt, u are our u.T, vt.T: both lie as we want them.
    x, s = packed(a), np.empty(k, a.dtype)
    u, vt = np.empty((m, k), a.dtype), np.empty((k, n), a.dtype)
    if k > 0:
        work, whole = np.empty(1, a.dtype), np.empty(8 * k, blas.INTEGER)
        blas.gesdd(blas.SOME, n, m, x, n, s, vt, n, u, k, work, -1, whole)
        length = int(work[0])
        work = np.empty(length, a.dtype)
        if blas.gesdd(blas.SOME, n, m, x, n, s, vt, n, u, k, work, length, whole) != 0:  # negative for a nan
            raise np.linalg.LinAlgError("SVD did not converge")
    return u, s, vt


@adjoint(svd_reduced)
def _svd_rule(a: Any) -> Any:
    """Townsend (2016), equation 31 and those before it."""
    u, s, vt = svd_reduced(a)
    m, n = a.shape

    def back(d: Any) -> Any:
        du, ds, dvt = d
        k = len(s)
        f = inverse_differences(s * s)
        left, right = np.matmul(u.T, du), np.matmul(vt, dvt.T)
        middle = (f * (left - left.T)) * s + s[:, None] * (f * (right - right.T))
        for i in range(k):
            middle[i, i] += ds[i]
        made = np.matmul(np.matmul(u, middle), vt)
        over = inverses(s)
        if m > k:
            made = made + np.matmul((du - np.matmul(u, left)) * over, vt)
        if n > k:
            made = made + np.matmul(u * over, dvt - np.matmul(right.T, vt))
        return (made,)

    return (u, s, vt), back


@tangent(svd_reduced)
def _svd_tangent(a: Any) -> Any:
    u, s, vt = svd_reduced(a)
    m, n = a.shape

    def push(da: Any) -> Any:
        k = len(s)
        inner = np.matmul(np.matmul(u.T, da), vt.T)
        f, over = inverse_differences(s * s), inverses(s)
        row = s[:, None]
        du = np.matmul(u, f * (inner * s + row * inner.T))
        dvt = np.matmul((f * (row * inner + inner.T * s)).T, vt)
        if m > k:
            along = np.matmul(da, vt.T)
            du = du + (along - np.matmul(u, np.matmul(u.T, along))) * over
        if n > k:
            across = np.matmul(u.T, da)
            dvt = dvt + over[:, None] * (across - np.matmul(np.matmul(across, vt.T), vt))
        return du, np.diagonal(inner).copy(), dvt

    return (u, s, vt), push


# ------------------------------------------------------------------------------------ what follows of them


@implements(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False) -> Any:
    from ..intrinsics import unsupported

    if hermitian:
        unsupported("np.linalg.pinv(hermitian=True)", "leave `hermitian` out")
    x = matrices(a, "np.linalg.pinv")
    cutoff = default_rcond(x) if rcond is None else rcond
    return pinv_stack(x, cutoff)


def pinv_stack(x: Any, rcond: Any) -> Any:
    if x.ndim == 2:
        return pseudo_inverse(x, rcond)
    made = np.empty((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    for i in range(len(x)):
        made[i] = pinv_stack(x[i], rcond)
    return made


def default_rcond(x: Any) -> Any:
    return max(x.shape[-2], x.shape[-1]) * np.finfo(x.dtype).eps


@implements(default_rcond)
def _default_rcond(x: Any) -> Any:
    return max(x.shape[-2], x.shape[-1]) * (2.220446049250313e-16 if x.dtype == np.float64 else 1.1920928955078125e-07)


def pseudo_inverse(a: Any, rcond: Any) -> Any:
    return np.linalg.pinv(a, rcond)


@implements(pseudo_inverse)
@unchecked
def _pseudo_inverse(a: Any, rcond: Any) -> Any:
    u, s, vt = svd_reduced(a)
    over = np.zeros(len(s), s.dtype)
    for i in range(len(s)):
        if s[i] > rcond * s[0]:
            over[i] = 1 / s[i]
    return np.matmul(vt.T * over, u.T)


@adjoint(pseudo_inverse)
def _pseudo_inverse_rule(a: Any, rcond: Any) -> Any:
    """G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
    separate" (1973), equation 4.12, transposed: for a rank that does not change."""
    y = pseudo_inverse(a, rcond)

    def back(d: Any) -> Any:
        yt, dt = y.T, d.T
        made = -np.matmul(np.matmul(yt, d), yt)
        part = np.matmul(np.matmul(dt, y), yt)
        made = made + part - np.matmul(a, np.matmul(y, part))
        part = np.matmul(yt, np.matmul(y, dt))
        return made + part - np.matmul(np.matmul(part, y), a), None

    return y, back


@tangent(pseudo_inverse)
def _pseudo_inverse_tangent(a: Any, rcond: Any) -> Any:
    y = pseudo_inverse(a, rcond)

    def push(da: Any, _: Any) -> Any:
        made = -np.matmul(np.matmul(y, da), y)
        part = np.matmul(np.matmul(y, y.T), da.T)
        made = made + part - np.matmul(np.matmul(part, a), y)
        part = np.matmul(np.matmul(da.T, y.T), y)
        return made + part - np.matmul(y, np.matmul(a, part))

    return y, push


@implements(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    x, y = floats(a, "np.linalg.lstsq"), floats(b, "np.linalg.lstsq")
    if x.ndim != 2:
        raise np.linalg.LinAlgError(f"{x.ndim}-dimensional array given. Array must be two-dimensional")
    m, n = x.shape
    if m != y.shape[0]:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    cutoff = default_rcond(x) if rcond is None else rcond
    values = singular_values(x)
    rank = 0
    for i in range(len(values)):
        if values[i] > cutoff * values[0]:
            rank += 1
    best = np.matmul(pseudo_inverse(x, cutoff), y)
    rest = y - np.matmul(x, best)
    if y.ndim == 1:
        squares = np.zeros(1 if rank == n and m > n else 0, x.dtype)
        if rank == n and m > n:
            squares[0] = np.sum(rest * rest)
        return best, squares, rank, values
    sums = np.zeros(y.shape[1] if rank == n and m > n else 0, x.dtype)
    if rank == n and m > n:
        sums[:] = np.sum(rest * rest, axis=0)
    return best, sums, rank, values


def singular_values(a: Any) -> Any:
    return svd_reduced(a)[1]


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None) -> Any:
    x = floats(A, "np.linalg.matrix_rank")
    if x.ndim < 2:
        return int(np.any(x != 0))
    values = svd_stack(x)[1]
    if x.ndim == 2:
        return _rank(values, default_rcond(x) if tol is None else tol, tol is None)
    if x.ndim == 3:
        made = np.zeros(len(x), np.int64)
        for i in range(len(x)):
            made[i] = _rank(values[i], default_rcond(x) if tol is None else tol, tol is None)
        return made
    from ..intrinsics import unsupported

    unsupported("np.linalg.matrix_rank of this many dimensions", "write a loop over the matrices")


@unchecked
def _rank(values: Any, tol: Any, relative: bool) -> int:
    rank = 0
    for i in range(len(values)):
        if values[i] > (tol * values[0] if relative else tol):
            rank += 1
    return rank
