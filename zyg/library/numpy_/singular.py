"""numpy.linalg: singular values and vectors.

The core is for one matrix and has the rules; stacks are done one after the other.  The references:

* J. Townsend, "Differentiating the Singular Value Decomposition" (2016)
* Z.-Q. Wan, S.-X. Zhang, "Automatic Differentiation for Complex Valued SVD" (2019): phases of complex matrices

Singular vectors of a singular value that occurs several times have no derivative, as eigenvectors (hermitian.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import shared, unchecked
from zyg.rules import adjoint, tangent

from .. import blas
from ..registry import implements
from .hermitian import by_values, inverse_differences, steady, turns, undetermined
from .layouts import conj_swapped, is_complex, packed, swapped
from .linalg import matrices

SVDResult = type(np.linalg.svd(np.eye(1)))


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


def inverse_differences_of_squares(s: Any) -> Any:
    """1 / (s[j]^2 - s[i]^2), and 0 where they are equal."""
    sums = s[None, :] + s[:, None]
    return inverse_differences(s) / np.where(sums == 0, s.dtype.type(1.0), sums)


@implements(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    x = matrices(a, "np.linalg.svd")
    if hermitian:
        return svd_of_hermitian(x, compute_uv)
    if not compute_uv:
        return svdvals_stack(x)
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
    return svdvals_stack(matrices(x, "np.linalg.svdvals"))


def svdvals_stack(a: Any) -> Any:
    if a.ndim == 2:
        return svdvals_of(a)
    ss = np.empty((*a.shape[:-2], min(a.shape[-2], a.shape[-1])), a.real.dtype)
    for i in range(len(a)):
        ss[i] = svdvals_stack(a[i])
    return ss


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
    k = min(m, n)
    rows, columns = m if whole else k, n if whole else k
    s = np.empty(k, a.real.dtype)
    if k == 0:
        return np.eye(m, rows, dtype=a.dtype), s, np.eye(columns, n, dtype=a.dtype)
    u, vt = np.empty((rows, m), a.dtype), np.empty((n, columns), a.dtype)
    decompose(a, blas.ALL if whole else blas.SOME, u, s, vt)
    return packed(swapped(u)), s, packed(swapped(vt))


@unchecked
def decompose(a: Any, job: int, u: Any, s: Any, vt: Any) -> None:
    """Sets s, and u and vt, transposed, if the job wants them. Of a matrix that is not empty."""
    m, n = a.shape
    k, most, columns = min(m, n), max(m, n), vt.shape[1]
    x = packed(swapped(a))
    if not np.all(np.isfinite(x)):  # some LAPACKs never come back from an infinity
        raise np.linalg.LinAlgError("SVD did not converge")
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


def svdvals_of(a: Any) -> Any:
    """The singular values of a matrix alone, for which LAPACK needs a half to a fifth of the time. Their derivative has the vectors."""
    return np.linalg.svd(a, compute_uv=False)


@implements(svdvals_of)
@shared
@unchecked
def _svdvals_of(a: Any) -> Any:
    s, none = np.empty(min(a.shape), a.real.dtype), np.empty((1, 1), a.dtype)
    if len(s) > 0:
        decompose(a, blas.NO_VECTORS, none, s, none)
    return s


@adjoint(svdvals_of)
def _svdvals_rule(a: Any) -> Any:
    u, s, vt = svd_of(a, False)

    def back(ds: Any) -> Any:
        return (by_values(s, u, ds, vt),)

    return s, back


@tangent(svdvals_of)
def _svdvals_tangent(a: Any) -> Any:
    u, s, vt = svd_of(a, False)

    def push(da: Any) -> Any:
        return np.sum((np.conj(u) * np.matmul(da, conj_swapped(vt))).real, axis=0)

    return s, push


@adjoint(svd_of)
def _svd_rule(a: Any, whole: bool) -> Any:
    """Townsend (2016), equation 31 and those before it. Further vectors, which are not determined but by what they span, turn
    as the others do: they stay orthogonal to these."""
    u, s, vt = svd_of(a, whole)

    def back(d: Any) -> Any:
        du, ds, dvt = d
        k = len(s)
        sure = steady(s, turns(u[:, :k], du[:, :k]), 2) * steady(
            s, turns(conj_swapped(vt[:k]), conj_swapped(dvt[:k])), 2
        )
        if not whole:
            return svd_cotangent(u, s, vt, du, ds, dvt) * sure, None
        first, rest = u[:, :k], u[:, k:]
        left = du[:, :k] - np.matmul(rest, np.matmul(conj_swapped(du[:, k:]), first))
        right = dvt[:k] - np.matmul(np.matmul(vt[:k], conj_swapped(dvt[k:])), vt[k:])
        return svd_cotangent(first, s, vt[:k], left, ds, right) * sure, None

    return (u, s, vt), back


@shared
def svd_cotangent(u: Any, s: Any, vt: Any, du: Any, ds: Any, dvt: Any) -> Any:
    """That of the matrix, by those of its k singular values and vectors."""
    m, k, n = len(u), len(s), vt.shape[1]
    f = inverse_differences_of_squares(s)
    left, right = np.matmul(conj_swapped(u), du), np.matmul(vt, conj_swapped(dvt))
    middle = (f * (left - conj_swapped(left))) * s + s[:, None] * (f * (right - conj_swapped(right)))
    middle = middle + undetermined(s, left, 1) + undetermined(s, right, 1)
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
        sure = steady(s, turns(u[:, :k], np.matmul(da, conj_swapped(vt[:k]))), 2)
        if not whole:
            du, ds, dvt = svd_tangents(u, s, vt, da)
            return du * sure, ds, dvt * sure
        first, rest = u[:, :k], u[:, k:]
        du, ds, dvt = svd_tangents(first, s, vt[:k], da)
        du, dvt = du * sure, dvt * sure
        more = -np.matmul(first, np.matmul(conj_swapped(du), rest))
        below = -np.matmul(np.matmul(vt[k:], conj_swapped(dvt)), vt[:k])
        return np.concatenate((du, more), axis=1), ds, np.concatenate((dvt, below), axis=0)

    return (u, s, vt), push


@shared
def svd_tangents(u: Any, s: Any, vt: Any, da: Any) -> Any:
    m, k, n = len(u), len(s), vt.shape[1]
    uh, v = conj_swapped(u), conj_swapped(vt)
    inner = np.matmul(np.matmul(uh, da), v)
    turned = conj_swapped(inner)
    f, over = inverse_differences_of_squares(s), inverses(s)
    row, tied = s[:, None], undetermined(s, inner, 1)
    du = np.matmul(u, f * (inner * s + row * turned) + tied)
    dvt = np.matmul(conj_swapped(f * (row * inner + turned * s) + tied), vt)
    if is_complex(u):
        du = du + u * (1j * (np.diagonal(inner.imag) * over))
    if m > k:
        along = np.matmul(da, v)
        du = du + (along - np.matmul(u, np.matmul(uh, along))) * over
    if n > k:
        across = np.matmul(uh, da)
        dvt = dvt + over[:, None] * (across - np.matmul(np.matmul(across, v), vt))
    return du, np.diagonal(inner.real).copy(), dvt
