"""numpy.linalg: orthogonal factorisations, eigenvalues, singular values, and what follows from them.

Each has a core on one matrix with its rules; stacks are done one after the other.  The references:

* M. B. Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
  differentiation" (2008)
* M. Seeger, A. Hetzel, Z. Dai, E. Meissner, N. D. Lawrence, "Auto-Differentiating Linear Algebra" (2017)
* J. Townsend, "Differentiating the Singular Value Decomposition" (2016)

Eigenvectors of an eigenvalue that occurs several times, and singular vectors of such a singular value, are not determined,
and have no derivative.  What does not depend on their choice has one, and it is the one that comes out: terms with the
difference of two equal eigenvalues in the denominator are left out.  So are, for complex matrices, their phases.

The rules hold for complex matrices too (see triangular.py for the convention), with what the phases and the real diagonal of
R ask for more: Z.-Q. Wan, S.-X. Zhang, "Automatic Differentiation for Complex Valued SVD" (2019).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import shared, unchecked
from zyg.rules import adjoint, tangent

from .. import blas
from ..intrinsics import unsupported
from ..registry import implements
from .layouts import conj_swapped, is_complex, packed, swapped
from .linalg import floats, matrices, of_one_type, square
from .triangular import lower_half, solve_lower, squared

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
    w, v = eigh_stack(x, is_upper(UPLO))
    return EighResult(w, v)


@implements(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    x = square(a, "np.linalg.eigvalsh")
    return eigh_stack(x, is_upper(UPLO))[0]


def is_upper(uplo: str) -> bool:
    if uplo == "L" or uplo == "l":
        return False
    if uplo == "U" or uplo == "u":
        return True
    raise ValueError("UPLO argument must be 'L' or 'U'")


def eigh_stack(a: Any, upper: bool) -> tuple[Any, Any]:
    if a.ndim == 2:
        return eigh_of(a, upper)
    ws, vs = np.empty(a.shape[:-1], a.real.dtype), np.empty(a.shape, a.dtype)
    for i in range(len(a)):
        w, v = eigh_stack(a[i], upper)
        ws[i] = w
        vs[i] = v
    return ws, vs


def eigh_of(a: Any, upper: bool) -> tuple[Any, Any]:
    """Eigenvalues, ascending, and eigenvectors of the symmetric matrix whose lower, or upper, triangle is that of a."""
    w, v = np.linalg.eigh(a, "U" if upper else "L")
    return w, v


@implements(eigh_of)
@shared
@unchecked
def _eigh_of(a: Any, upper: bool) -> Any:
    """As NumPy calls LAPACK, so that the signs of the vectors, or their phases, are NumPy's."""
    n = len(a)
    if is_complex(a):
        return complex_eigh(a, upper)
    triangle = blas.UPPER if upper else blas.LOWER
    v, w = packed(swapped(a)), np.empty(n, a.dtype)
    if n > 0:
        work, whole = np.empty(1, a.dtype), np.empty(1, blas.INTEGER)
        blas.syevd(blas.VECTORS, triangle, n, v, n, w, work, -1, whole, -1)
        length, count = int(work[0]), int(whole[0])
        work, whole = np.empty(length, a.dtype), np.empty(count, blas.INTEGER)
        if blas.syevd(blas.VECTORS, triangle, n, v, n, w, work, length, whole, count) != 0:
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return w, packed(swapped(v))


@unchecked
def complex_eigh(a: Any, upper: bool) -> Any:
    n = len(a)
    triangle = blas.UPPER if upper else blas.LOWER
    v, w = packed(swapped(a)), np.empty(n, np.float64)
    if n > 0:
        work, more, whole = np.empty(1, a.dtype), np.empty(1, np.float64), np.empty(1, blas.INTEGER)
        blas.heevd(blas.VECTORS, triangle, n, v, n, w, work, -1, more, -1, whole, -1)
        length, reals, count = int(work[0].real), int(more[0]), int(whole[0])
        work, more, whole = np.empty(length, a.dtype), np.empty(reals, np.float64), np.empty(count, blas.INTEGER)
        if blas.heevd(blas.VECTORS, triangle, n, v, n, w, work, length, more, reals, whole, count) != 0:
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return w, packed(swapped(v))


@adjoint(eigh_of)
def _eigh_rule(a: Any, upper: bool) -> Any:
    """Giles (2008), section 3.1; of the triangle by which a is given."""
    w, v = eigh_of(a, upper)

    def back(d: Any) -> Any:
        dw, dv = d
        vh = conj_swapped(v)
        inner = np.matmul(vh, dv)
        inner = 0.5 * (inner - conj_swapped(inner)) * inverse_differences(w)
        s = np.matmul(v * dw, vh) + np.matmul(np.matmul(v, inner), vh)
        half = lower_half(s + conj_swapped(s))
        return conj_swapped(half) if upper else half, None

    return (w, v), back


@tangent(eigh_of)
def _eigh_tangent(a: Any, upper: bool) -> Any:
    w, v = eigh_of(a, upper)

    def push(da: Any, _: Any) -> Any:
        low = lower_half(conj_swapped(da) if upper else da)
        inner = np.matmul(np.matmul(conj_swapped(v), low + conj_swapped(low)), v)
        return np.diagonal(inner.real).copy(), np.matmul(v, inner * inverse_differences(w))

    return (w, v), push


# ---------------------------------------------------------------------------------------------------- qr


@implements(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    x = matrices(a, "np.linalg.qr")
    if mode == "r":
        return qr_stack(x, False)[1]
    if mode != "reduced" and mode != "complete":
        unsupported("np.linalg.qr with this mode", "use mode='reduced', 'complete' or 'r'")
    q, r = qr_stack(x, mode == "complete")
    return QRResult(q, r)


def qr_stack(a: Any, whole: bool) -> tuple[Any, Any]:
    if a.ndim == 2:
        return qr_of(a, whole)
    m, n = a.shape[-2], a.shape[-1]
    k = m if whole else min(m, n)
    qs, rs = np.empty((*a.shape[:-1], k), a.dtype), np.empty((*a.shape[:-2], k, n), a.dtype)
    for i in range(len(a)):
        q, r = qr_stack(a[i], whole)
        qs[i] = q
        rs[i] = r
    return qs, rs


def qr_of(a: Any, whole: bool) -> tuple[Any, Any]:
    """Of a matrix; with `whole` q is square, by further columns, and r has rows of zeros below."""
    q, r = np.linalg.qr(a, "complete" if whole else "reduced")
    return q, r


@implements(qr_of)
@shared
@unchecked
def _qr_of(a: Any, whole: bool) -> Any:
    """As NumPy calls LAPACK, so that the signs, or the phases, are NumPy's."""
    m, n = a.shape
    k = min(m, n)
    width = m if whole else k
    r = np.zeros((width, n), a.dtype)
    if k == 0:
        return np.eye(m, width, dtype=a.dtype), r
    columns, tau = np.zeros((max(width, n), m), a.dtype), np.empty(k, a.dtype)
    columns[:n] = a.T
    work = np.empty(1, a.dtype)
    blas.geqrf(m, n, columns, m, tau, work, -1)
    length = max(int(work[0].real), m, n)
    work = np.empty(length, a.dtype)
    blas.geqrf(m, n, columns, m, tau, work, length)
    for i in range(k):
        for j in range(i, n):
            r[i, j] = columns[j, i]
    if is_complex(a):
        blas.ungqr(m, width, k, columns, m, tau, work, length)
    else:
        blas.orgqr(m, width, k, columns, m, tau, work, length)
    return packed(columns[:width].T), r


def mirrored(m: Any) -> Any:
    """The lower triangle, and what it is mirrored to above the diagonal, which is real: copyltu of Seeger et al."""
    low = lower_half(m)
    return low + conj_swapped(low)


@adjoint(qr_of)
def _qr_rule(a: Any, whole: bool) -> Any:
    """Seeger et al. (2017), section 3.2 (of LQ there), for a matrix that has as many rows as columns, or more; the further
    columns of a wide matrix are q @ (those of r)."""
    q, r = qr_of(a, whole)
    m, n = a.shape

    def back(d: Any) -> Any:
        dq, dr = d
        if whole and m > n:
            first = q[:, :n]
            turned = dq[:, :n] + completion_cotangent(first, q[:, n:], dq[:, n:])
            return tall_cotangent(first, r[:n], turned, dr[:n]), None
        if m >= n:
            return tall_cotangent(q, r, dq, dr), None
        rest = dr[:, m:]
        more = dq + np.matmul(a[:, m:], conj_swapped(rest))
        left = tall_cotangent(q, r[:, :m], more, dr[:, :m])
        return np.concatenate((left, np.matmul(q, rest)), axis=1), None

    return (q, r), back


def tall_cotangent(q: Any, r: Any, dq: Any, dr: Any) -> Any:
    inner = np.matmul(r, conj_swapped(dr)) - np.matmul(conj_swapped(dq), q)
    whole = dq + np.matmul(q, mirrored(inner))
    # whole times the conjugate transpose of inv(r)
    return conj_swapped(solve_lower(packed(conj_swapped(r)), packed(conj_swapped(whole)), True))


@tangent(qr_of)
def _qr_tangent(a: Any, whole: bool) -> Any:
    q, r = qr_of(a, whole)
    m, n = a.shape

    def push(da: Any, _: Any) -> Any:
        if whole and m > n:
            first = q[:, :n]
            dfirst, dr = qr_tangents(first, r[:n], da)
            dq = np.concatenate((dfirst, completion_tangent(first, q[:, n:], dfirst)), axis=1)
            return dq, np.concatenate((dr, np.zeros((m - n, n), a.dtype)), axis=0)
        return qr_tangents(q, r, da)

    return (q, r), push


def qr_tangents(q: Any, r: Any, da: Any) -> Any:
    k = q.shape[1]
    # da @ inv(r)
    changed = conj_swapped(solve_lower(packed(conj_swapped(r[:, :k])), packed(conj_swapped(da[:, :k])), False))
    inner = np.matmul(conj_swapped(q), changed)
    low = np.tril(inner, -1)
    turn = low - conj_swapped(low)
    if is_complex(q):
        turn = turn + 1j * np.diag(np.diagonal(inner.imag))
    dq = changed - np.matmul(q, inner) + np.matmul(q, turn)
    dr = np.matmul(conj_swapped(q), da) - np.matmul(turn, r)
    return dq, np.triu(dr)


# The columns that complete q are determined by the ones before them, since LAPACK's q is a product of Householder's
# reflections, which these give (G. Ballard et al., "Reconstructing Householder vectors from tall-skinny QR", 2015): with the
# upper square of q less the identity as `head`, and what is below as `tail`,
#
#     further = [0; I] + (q - [I; 0]) @ x,    head^H @ x = tail^H
#
# Where a column needs no reflection `head` is singular: q jumps there. What depends on the space only that the further columns span
# has a derivative all the same, and gets it from their staying orthogonal to the others.


def completion(q: Any) -> tuple[Any, Any, Any]:
    """head, q - [I; 0] and x of the above."""
    k = q.shape[1]
    moved = q.copy()
    for i in range(k):
        moved[i, i] -= 1
    head = moved[:k]
    return head, moved, np.linalg.solve(conj_swapped(head), conj_swapped(q[k:]))


def is_reflected(q: Any) -> bool:
    """Whether each column of q has a reflection of its own."""
    k = q.shape[1]
    return bool(np.abs(np.linalg.det(q[:k] - np.eye(k))) > 0.5)


def completion_cotangent(q: Any, further: Any, d: Any) -> Any:
    """What the cotangent of the further columns adds to that of q."""
    if not is_reflected(q):
        return -np.matmul(further, np.matmul(conj_swapped(d), q))
    head, moved, x = completion(q)
    dx = np.linalg.solve(head, np.matmul(conj_swapped(moved), d))
    below = conj_swapped(dx)
    return np.matmul(d, conj_swapped(x)) + np.concatenate((-np.matmul(x, below), below), axis=0)


def completion_tangent(q: Any, further: Any, dq: Any) -> Any:
    if not is_reflected(q):
        return -np.matmul(q, np.matmul(conj_swapped(dq), further))
    head, moved, x = completion(q)
    k = q.shape[1]
    dx = np.linalg.solve(conj_swapped(head), conj_swapped(dq[k:]) - np.matmul(conj_swapped(dq[:k]), x))
    return np.matmul(dq, x) + np.matmul(moved, dx)


# --------------------------------------------------------------------------------------- singular values


@implements(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    x = matrices(a, "np.linalg.svd")
    if hermitian:
        return svd_of_hermitian(x, compute_uv)
    if not compute_uv:
        return svd_stack(x, False)[1]
    u, s, vt = svd_stack(x, full_matrices)
    return SVDResult(u, s, vt)


def svd_of_hermitian(x: Any, compute_uv: bool) -> Any:
    """By its eigenvalues, the largest in size first."""
    if not compute_uv:
        return np.sort(np.abs(np.linalg.eigvalsh(x)))[..., ::-1]
    w, v = np.linalg.eigh(x)
    order = np.argsort(np.abs(w))[..., ::-1]
    w = np.take_along_axis(w, order, axis=-1)
    u = np.take_along_axis(v, order[..., None, :], axis=-1)
    return SVDResult(u, np.abs(w), conj_swapped(u * np.sign(w)[..., None, :]))


@implements(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    return svd_stack(matrices(x, "np.linalg.svdvals"), False)[1]


def svd_stack(a: Any, whole: bool) -> tuple[Any, Any, Any]:
    if a.ndim == 2:
        return svd_of(a, whole)
    m, n = a.shape[-2], a.shape[-1]
    k = min(m, n)
    us = np.empty((*a.shape[:-1], m if whole else k), a.dtype)
    vts = np.empty((*a.shape[:-2], n if whole else k, n), a.dtype)
    ss = np.empty((*a.shape[:-2], k), a.real.dtype)
    for i in range(len(a)):
        u, s, vt = svd_stack(a[i], whole)
        us[i] = u
        ss[i] = s
        vts[i] = vt
    return us, ss, vts


def svd_of(a: Any, whole: bool) -> tuple[Any, Any, Any]:
    """Of a matrix; with `whole` u and vt are square, by further singular vectors."""
    u, s, vt = np.linalg.svd(a, full_matrices=whole)
    return u, s, vt


@implements(svd_of)
@shared
@unchecked
def _svd_of(a: Any, whole: bool) -> Any:
    """As NumPy calls LAPACK, so that the signs of the vectors, or their phases, are NumPy's."""
    m, n = a.shape
    k, most = min(m, n), max(m, n)
    rows, columns = m if whole else k, n if whole else k
    x, s = packed(swapped(a)), np.empty(k, a.real.dtype)
    if k == 0:
        return np.eye(m, rows, dtype=a.dtype), s, np.eye(columns, n, dtype=a.dtype)
    job = blas.ALL if whole else blas.SOME
    u, vt = np.empty((rows, m), a.dtype), np.empty((n, columns), a.dtype)
    work, whole_numbers = np.empty(1, a.dtype), np.empty(8 * k, blas.INTEGER)
    if is_complex(a):
        reals = np.empty(k * max(5 * k + 7, 2 * most + 2 * k + 1), np.float64)
        blas.gesdd_complex(job, m, n, x, m, s, u, m, vt, columns, work, -1, reals, whole_numbers)
        length = int(work[0].real)
        work = np.empty(length, a.dtype)
        failed = blas.gesdd_complex(job, m, n, x, m, s, u, m, vt, columns, work, length, reals, whole_numbers) != 0
    else:
        blas.gesdd(job, m, n, x, m, s, u, m, vt, columns, work, -1, whole_numbers)
        length = int(work[0])
        work = np.empty(length, a.dtype)
        failed = blas.gesdd(job, m, n, x, m, s, u, m, vt, columns, work, length, whole_numbers) != 0
    if failed:  # by a nan, too
        raise np.linalg.LinAlgError("SVD did not converge")
    return packed(swapped(u)), s, packed(swapped(vt))


@adjoint(svd_of)
def _svd_rule(a: Any, whole: bool) -> Any:
    """Townsend (2016), equation 31 and those before it. Further vectors, which are not determined but by what they span, turn
    as the others do: they stay orthogonal to these."""
    u, s, vt = svd_of(a, whole)

    def back(d: Any) -> Any:
        du, ds, dvt = d
        k = len(s)
        if not whole:
            return svd_cotangent(u, s, vt, du, ds, dvt), None
        first, rest = u[:, :k], u[:, k:]
        left = du[:, :k] - np.matmul(rest, np.matmul(conj_swapped(du[:, k:]), first))
        right = dvt[:k] - np.matmul(np.matmul(vt[:k], conj_swapped(dvt[k:])), vt[k:])
        return svd_cotangent(first, s, vt[:k], left, ds, right), None

    return (u, s, vt), back


def svd_cotangent(u: Any, s: Any, vt: Any, du: Any, ds: Any, dvt: Any) -> Any:
    """That of the matrix, by those of its k singular values and vectors."""
    m, k, n = len(u), len(s), vt.shape[1]
    f = inverse_differences(s * s)
    left, right = np.matmul(conj_swapped(u), du), np.matmul(vt, conj_swapped(dvt))
    middle = (f * (left - conj_swapped(left))) * s + s[:, None] * (f * (right - conj_swapped(right)))
    over = inverses(s)
    for i in range(k):
        middle[i, i] += ds[i]
        if is_complex(u):  # vt has its phases; u turns
            middle[i, i] += 1j * (left[i, i].imag * over[i])
    made = np.matmul(np.matmul(u, middle), vt)
    if m > k:
        made = made + np.matmul((du - np.matmul(u, left)) * over, vt)
    if n > k:
        made = made + np.matmul(u * over, dvt - np.matmul(conj_swapped(right), vt))
    return made


@tangent(svd_of)
def _svd_tangent(a: Any, whole: bool) -> Any:
    u, s, vt = svd_of(a, whole)

    def push(da: Any, _: Any) -> Any:
        k = len(s)
        if not whole:
            return svd_tangents(u, s, vt, da)
        first, rest = u[:, :k], u[:, k:]
        du, ds, dvt = svd_tangents(first, s, vt[:k], da)
        more = -np.matmul(first, np.matmul(conj_swapped(du), rest))
        below = -np.matmul(np.matmul(vt[k:], conj_swapped(dvt)), vt[:k])
        return np.concatenate((du, more), axis=1), ds, np.concatenate((dvt, below), axis=0)

    return (u, s, vt), push


def svd_tangents(u: Any, s: Any, vt: Any, da: Any) -> Any:
    m, k, n = len(u), len(s), vt.shape[1]
    uh, v = conj_swapped(u), conj_swapped(vt)
    inner = np.matmul(np.matmul(uh, da), v)
    turned = conj_swapped(inner)
    f, over = inverse_differences(s * s), inverses(s)
    row = s[:, None]
    du = np.matmul(u, f * (inner * s + row * turned))
    dvt = np.matmul(conj_swapped(f * (row * inner + turned * s)), vt)
    if is_complex(u):
        du = du + u * (1j * (np.diagonal(inner.imag) * over))
    if m > k:
        along = np.matmul(da, v)
        du = du + (along - np.matmul(u, np.matmul(uh, along))) * over
    if n > k:
        across = np.matmul(uh, da)
        dvt = dvt + over[:, None] * (across - np.matmul(np.matmul(across, v), vt))
    return du, np.diagonal(inner.real).copy(), dvt


# ------------------------------------------------------------------------------------ what follows of them


@implements(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    x = matrices(a, "np.linalg.pinv")
    if rcond is not None and rtol is not None:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    given = rtol if rcond is None else rcond
    if hermitian:
        w, v = np.linalg.eigh(x)
        size = np.abs(w)
        kept = size > (default_rcond(x) if given is None else given) * np.max(size, axis=-1, keepdims=True, initial=0.0)
        inverse = np.where(kept, 1.0, 0.0).astype(w.dtype) / np.where(kept, w, w.dtype.type(1.0))
        return np.matmul(v * inverse[..., None, :], conj_swapped(v))
    return pinv_stack(x, default_rcond(x) if given is None else given)


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
    return max(x.shape[-2], x.shape[-1]) * (1.1920928955078125e-07 if x.dtype == np.float32 else 2.220446049250313e-16)


def pseudo_inverse(a: Any, rcond: Any) -> Any:
    return np.linalg.pinv(a, rcond)


@implements(pseudo_inverse)
@unchecked
def _pseudo_inverse(a: Any, rcond: Any) -> Any:
    u, s, vt = svd_of(a, False)
    over = np.zeros(len(s), s.dtype)
    for i in range(len(s)):
        if s[i] > rcond * s[0]:
            over[i] = 1 / s[i]
    return np.matmul(conj_swapped(vt) * over, conj_swapped(u))


@adjoint(pseudo_inverse)
def _pseudo_inverse_rule(a: Any, rcond: Any) -> Any:
    """G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
    separate" (1973), equation 4.12, transposed: for a rank that does not change."""
    y = pseudo_inverse(a, rcond)

    def back(d: Any) -> Any:
        yt, dt = conj_swapped(y), conj_swapped(d)
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
        yt, turned = conj_swapped(y), conj_swapped(da)
        made = -np.matmul(np.matmul(y, da), y)
        part = np.matmul(np.matmul(y, yt), turned)
        made = made + part - np.matmul(np.matmul(part, a), y)
        part = np.matmul(np.matmul(turned, yt), y)
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
    x, y = of_one_type(x, y)
    cutoff = default_rcond(x) if rcond is None else rcond
    values = singular_values(x)
    rank = 0
    for i in range(len(values)):
        if values[i] > cutoff * values[0]:
            rank += 1
    best = np.matmul(pseudo_inverse(x, cutoff), y)
    rest = y - np.matmul(x, best)
    if y.ndim == 1:
        squares = np.zeros(1 if rank == n and m > n else 0, values.dtype)
        if rank == n and m > n:
            squares[0] = np.sum(squared(rest))
        return best, squares, np.int32(rank), values
    sums = np.zeros(y.shape[1] if rank == n and m > n else 0, values.dtype)
    if rank == n and m > n:
        sums[:] = np.sum(squared(rest), axis=0)
    return best, sums, np.int32(rank), values


def singular_values(a: Any) -> Any:
    return svd_of(a, False)[1]


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    x = floats(A, "np.linalg.matrix_rank")
    if x.ndim < 2:
        return int(np.any(x != 0))
    values = np.abs(np.linalg.eigvalsh(x)) if hermitian else svd_stack(x, False)[1]
    cutoff = tol if tol is not None else default_rcond(x) if rtol is None else rtol
    if x.ndim == 2:
        return _rank(values, cutoff, tol is None)
    if x.ndim == 3:
        made = np.zeros(len(x), np.int64)
        for i in range(len(x)):
            made[i] = _rank(values[i], cutoff, tol is None)
        return made
    unsupported("np.linalg.matrix_rank of this many dimensions", "write a loop over the matrices")


@unchecked
def _rank(values: Any, tol: Any, relative: bool) -> Any:
    largest = np.max(values, initial=0)
    rank = np.int64(0)
    for i in range(len(values)):
        if values[i] > (tol * largest if relative else tol):
            rank += 1
    return rank
