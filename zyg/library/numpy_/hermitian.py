"""numpy.linalg: eigenvalues and eigenvectors of symmetric and Hermitian matrices.

The core is for one matrix and has the rules; stacks are done one after the other.  The references:

* M. B. Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
  differentiation" (2008)
* M. Seeger, A. Hetzel, Z. Dai, E. Meissner, N. D. Lawrence, "Auto-Differentiating Linear Algebra" (2017)

Eigenvectors of an eigenvalue that occurs several times, or would but for rounding, are not determined, and have no derivative:
where a cotangent comes to them, that of the matrix is nan (`undetermined`).  The eigenvalues have their derivatives.  The phases of complex eigenvectors are
left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import shared, unchecked
from zyg.rules import adjoint, tangent

from .. import blas
from ..registry import implements
from .layouts import conj_swapped, is_complex, packed, swapped
from .linalg import square
from .triangular import lower_half

EighResult = type(np.linalg.eigh(np.eye(1)))


# Times eps * max |w|. Equal values come out of LAPACK as up to 5 of that apart, however many there are: what is divided by a difference
# of twice that has one digit.
ROUNDED = 10.0


def as_good_as_equal(w: Any, order: int) -> Any:
    """How far apart values may be, for nothing to be known of what is divided by their difference to this power. (To higher powers the
    errors of all n values count.)"""
    n = len(w) if order > 1 else 1
    return (ROUNDED * n * np.finfo(w.dtype).eps) ** (1.0 / order) * np.max(np.abs(w), initial=0.0)


@implements(as_good_as_equal)
@unchecked
def _as_good_as_equal(w: Any, order: int) -> Any:
    n = len(w) if order > 1 else 1
    return (ROUNDED * n * np.finfo(w.dtype).eps) ** (1.0 / order) * float(np.max(np.abs(w), initial=0.0))


def inverse_differences(w: Any) -> Any:
    """1 / (w[j] - w[i]), and 0 where they are equal, as far as one can tell."""
    gaps = w[None, :] - w[:, None]
    tied = np.abs(gaps) <= as_good_as_equal(w, 1)
    return np.where(tied, 0.0, 1.0 / np.where(tied, 1.0, gaps))


@implements(inverse_differences)
@unchecked
def _inverse_differences(w: Any) -> Any:
    n, equal = len(w), as_good_as_equal(w, 1)
    made = np.zeros((n, n), w.dtype)
    for i in range(n):
        for j in range(n):
            gap = w[j] - w[i]
            if not abs(gap) <= equal:  # a nan stays one
                made[i, j] = 1 / gap
    return made


def undetermined(w: Any, inner: Any, order: int) -> Any:
    """nan for a pair of vectors that turn into each other, whose values are equal and of which `inner` has something; else 0.

    What depends on the vectors' choice has no derivative. What does not may have one, but not by these terms: of V f(w) V^T
    they are 0 / 0, and the limit is f'(w). `order`: to what power the difference divides.
    """
    tied = (np.abs(w[None, :] - w[:, None]) <= as_good_as_equal(w, order)) & ((inner != 0) | (inner.T != 0))
    return np.where(tied & ~np.eye(len(w), dtype=bool), np.nan, 0.0)


@implements(undetermined)
@unchecked
def _undetermined(w: Any, inner: Any, order: int) -> Any:
    n, equal = len(w), as_good_as_equal(w, order)
    made = np.zeros((n, n), inner.real.dtype)
    for i in range(n):
        for j in range(n):
            if i != j and (inner[i, j] != 0 or inner[j, i] != 0) and abs(w[j] - w[i]) <= equal:
                made[i, j] = np.nan
    return made


def steady(w: Any, inner: Any, order: int) -> Any:
    """1, but its derivative is nan where there are such pairs by what is known of a difference to the power `order`, and so on with its
    derivatives.

    It stands as a factor beside terms that are divided by differences: each derivative divides them by these once more, so that rounding does harm
    at larger ones.
    """
    return 1.0


@implements(steady)
@unchecked
def _steady(w: Any, inner: Any, order: int) -> Any:
    return 1.0


@shared
def step_of_steady(w: Any, inner: Any, order: int) -> Any:
    """That derivative: 0 or nan."""
    return np.sum(undetermined(w, inner, order))


@adjoint(steady)
def _steady_rule(w: Any, inner: Any, order: int) -> Any:
    def back(d: Any) -> Any:
        return w * step_of_steady(w, inner, order) * steady(w, inner, order + 1), None, None

    return steady(w, inner, order), back


@tangent(steady)
def _steady_tangent(w: Any, inner: Any, order: int) -> Any:
    return steady(w, inner, order), lambda *_: step_of_steady(w, inner, order) * steady(w, inner, order + 1)


@shared
def turns(v: Any, dv: Any) -> Any:
    """How far cotangents of vectors go along the vectors."""
    return np.matmul(conj_swapped(v), dv)


@implements(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    x = square(a, "np.linalg.eigh")
    w, v = eigh_stack(x, is_upper(UPLO))
    return EighResult(w, v)


@implements(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    x = square(a, "np.linalg.eigvalsh")
    return eigvalsh_stack(x, is_upper(UPLO))


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


def eigvalsh_stack(a: Any, upper: bool) -> Any:
    if a.ndim == 2:
        return eigvalsh_of(a, upper)
    ws = np.empty(a.shape[:-1], a.real.dtype)
    for i in range(len(a)):
        ws[i] = eigvalsh_stack(a[i], upper)
    return ws


def eigh_of(a: Any, upper: bool) -> tuple[Any, Any]:
    """Eigenvalues, ascending, and eigenvectors of the symmetric matrix whose lower, or upper, triangle is that of a."""
    w, v = np.linalg.eigh(a, "U" if upper else "L")
    return w, v


@implements(eigh_of)
@shared
@unchecked
def _eigh_of(a: Any, upper: bool) -> Any:
    """As NumPy calls LAPACK, so that the signs of the vectors, or their phases, are NumPy's."""
    v, w = packed(swapped(a)), np.empty(len(a), a.real.dtype)
    if len(a) > 0:
        find_eigenvalues(v, w, upper, blas.VECTORS)
    return w, packed(swapped(v))


@unchecked
def find_eigenvalues(v: Any, w: Any, upper: bool, job: int) -> None:
    """Sets w, and v, the matrix transposed, to the vectors if the job wants them."""
    n, triangle = len(w), blas.UPPER if upper else blas.LOWER
    work, whole = np.empty(1, v.dtype), np.empty(1, blas.INTEGER)
    if is_complex(v):
        more = np.empty(1, np.float64)
        blas.heevd(job, triangle, n, v, n, w, work, -1, more, -1, whole, -1)
        length, reals, count = int(work[0].real), int(more[0]), int(whole[0])
        work, more, whole = np.empty(length, v.dtype), np.empty(reals, np.float64), np.empty(count, blas.INTEGER)
        failed = blas.heevd(job, triangle, n, v, n, w, work, length, more, reals, whole, count) != 0
    else:
        blas.syevd(job, triangle, n, v, n, w, work, -1, whole, -1)
        length, count = int(work[0]), int(whole[0])
        work, whole = np.empty(length, v.dtype), np.empty(count, blas.INTEGER)
        failed = blas.syevd(job, triangle, n, v, n, w, work, length, whole, count) != 0
    if failed:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")


def eigvalsh_of(a: Any, upper: bool) -> Any:
    """The eigenvalues alone, for which LAPACK needs half the time. Their derivative has the vectors."""
    return np.linalg.eigvalsh(a, "U" if upper else "L")


@implements(eigvalsh_of)
@shared
@unchecked
def _eigvalsh_of(a: Any, upper: bool) -> Any:
    w = np.empty(len(a), a.real.dtype)
    if len(a) > 0:
        find_eigenvalues(packed(swapped(a)), w, upper, blas.NO_VECTORS)
    return w


@adjoint(eigvalsh_of)
def _eigvalsh_rule(a: Any, upper: bool) -> Any:
    """That of eigh_of, without what cotangents of vectors add."""
    w, v = eigh_of(a, upper)

    def back(dw: Any) -> Any:
        s = by_values(w, v, dw, conj_swapped(v))
        half = lower_half(s + conj_swapped(s))
        return conj_swapped(half) if upper else half, None

    return w, back


def by_values(w: Any, u: Any, dw: Any, vh: Any) -> Any:
    """u diag(dw) vh: what cotangents of values make of a matrix, whose vectors are u, and vh turned.

    Vectors whose value gets none count for nothing, also where nothing is known of their derivatives: as of the zeros of a matrix of
    low rank, where a function goes by its largest values. They count where there is something by the values of such a pair: then
    derivatives are nan.
    """
    return np.matmul(u * dw, vh)


@adjoint(by_values)
def _by_values_rule(w: Any, u: Any, dw: Any, vh: Any) -> Any:
    def back(d: Any) -> Any:
        turned = np.matmul(d, conj_swapped(vh))
        inner = np.matmul(conj_swapped(u), turned)
        along = np.diagonal(inner.real) + np.sum(undetermined(w, inner, 1), axis=0)
        return None, turned * dw, along, np.matmul(conj_swapped(u * dw), d)

    return np.matmul(u * dw, vh), back


@tangent(by_values)
def _by_values_tangent(w: Any, u: Any, dw: Any, vh: Any) -> Any:
    idle = dw == 0

    def push(_: Any, tu: Any, tw: Any, tvh: Any) -> Any:
        unknown = np.sum(tu - tu, axis=0).real  # 0, or nan
        moved = np.where(idle, 0.0, tu) * dw + u * (tw + np.where(idle & (tw != 0), unknown, 0.0))
        left_out = np.sum(np.where(idle & np.isnan(unknown), 1.0, 0.0))
        made = np.matmul(moved, vh) + np.matmul(u * dw, np.where(idle[:, None], 0.0, tvh))
        return made * sure_once(left_out)

    return np.matmul(u * dw, vh), push


def sure_once(left_out: Any) -> Any:
    """1, whose derivative is nan where something was left out that counts there."""
    return 1.0


@implements(sure_once)
def _sure_once(left_out: Any) -> Any:
    return 1.0


@adjoint(sure_once)
def _sure_once_rule(left_out: Any) -> Any:
    return sure_once(left_out), lambda d: (np.where(left_out > 0, np.nan, 0.0),)


@tangent(sure_once)
def _sure_once_tangent(left_out: Any) -> Any:
    return sure_once(left_out), lambda _: np.where(left_out > 0, np.nan, 0.0)


@tangent(eigvalsh_of)
def _eigvalsh_tangent(a: Any, upper: bool) -> Any:
    w, v = eigh_of(a, upper)

    def push(da: Any, _: Any) -> Any:
        low = lower_half(conj_swapped(da) if upper else da)
        return 2.0 * np.sum((np.conj(v) * np.matmul(low, v)).real, axis=0)

    return w, push


@adjoint(eigh_of)
def _eigh_rule(a: Any, upper: bool) -> Any:
    """Giles (2008), section 3.1; of the triangle by which a is given."""
    w, v = eigh_of(a, upper)

    def back(d: Any) -> Any:
        half = eigh_cotangent(w, v, *d) * steady(w, turns(v, d[1]), 2)
        return conj_swapped(half) if upper else half, None

    return (w, v), back


@shared
def eigh_cotangent(w: Any, v: Any, dw: Any, dv: Any) -> Any:
    """That of the lower triangle."""
    vh = conj_swapped(v)
    along = np.matmul(vh, dv)
    inner = 0.5 * (along - conj_swapped(along)) * inverse_differences(w) + undetermined(w, along, 1)
    s = np.matmul(v * dw, vh) + np.matmul(np.matmul(v, inner), vh)
    return lower_half(s + conj_swapped(s))


@tangent(eigh_of)
def _eigh_tangent(a: Any, upper: bool) -> Any:
    w, v = eigh_of(a, upper)

    def push(da: Any, _: Any) -> Any:
        low = lower_half(conj_swapped(da) if upper else da)
        dw, dv = eigh_tangents(w, v, low)
        return dw, dv * steady(w, turns(v, np.matmul(low + conj_swapped(low), v)), 2)

    return (w, v), push


@shared
def eigh_tangents(w: Any, v: Any, low: Any) -> Any:
    inner = np.matmul(np.matmul(conj_swapped(v), low + conj_swapped(low)), v)
    return np.diagonal(inner.real).copy(), np.matmul(v, inner * inverse_differences(w) + undetermined(w, inner, 1))
