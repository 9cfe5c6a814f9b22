"""numpy.linalg: eigenvalues and eigenvectors of general matrices.

Those of a real matrix are complex in general.  NumPy before 2.5 gives real arrays where all of them are real, and so does this
beside it: the result is then of one type or the other when it runs.  The cores give complex ones always.

The derivatives are for eigenvalues that differ from each other (Giles 2008, section 3.1, with complex numbers).  A vector has the
norm 1, and its largest component is real, as LAPACK makes it; both go into its derivative.  Vectors of equal eigenvalues have
none (hermitian.py), and where there are not n of them, as of a defective matrix, nothing has a derivative: it is nan (`spanning`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import shared, unchecked
from zyg.rules import adjoint, tangent

from .. import blas
from ..intrinsics import unsupported
from ..registry import implements
from .hermitian import ROUNDED, inverse_differences, steady, undetermined
from .layouts import conj_swapped, is_complex, packed, swapped
from .linalg import square
from .singular import svdvals_of

_OF_NUMPY = np.linalg.eig(np.eye(1))
EigResult = type(_OF_NUMPY)
REAL_WHERE_ALL_ARE = _OF_NUMPY[0].dtype.kind == "f"  # NumPy before 2.5


def finite_square(a: Any, name: str) -> Any:
    x = square(a, name)
    if x.dtype == np.float32:
        unsupported(name + " of float32 (whose eigenvalues are complex64)", "convert first: a.astype(np.float64)")
    if not np.all(np.isfinite(x)):
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs")
    return x


@implements(np.linalg.eig)
def eig(a: Any) -> Any:
    x = finite_square(a, "np.linalg.eig")
    w, v = eig_stack(x)
    if REAL_WHERE_ALL_ARE and not is_complex(x) and np.all(w.imag == 0.0):
        return EigResult(w.real, v.real)
    return EigResult(w, v)


@implements(np.linalg.eigvals)
def eigvals(a: Any) -> Any:
    x = finite_square(a, "np.linalg.eigvals")
    w = eigvals_stack(x)
    if REAL_WHERE_ALL_ARE and not is_complex(x) and np.all(w.imag == 0.0):
        return w.real
    return w


def eig_stack(a: Any) -> tuple[Any, Any]:
    if a.ndim == 2:
        return eig_of(a)
    ws, vs = np.empty(a.shape[:-1], np.complex128), np.empty(a.shape, np.complex128)
    for i in range(len(a)):
        w, v = eig_stack(a[i])
        ws[i] = w
        vs[i] = v
    return ws, vs


def eigvals_stack(a: Any) -> Any:
    if a.ndim == 2:
        return eigvals_of(a)
    ws = np.empty(a.shape[:-1], np.complex128)
    for i in range(len(a)):
        ws[i] = eigvals_stack(a[i])
    return ws


def eig_of(a: Any) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors of a matrix, as complex numbers, in the order and with the signs that LAPACK has for its type."""
    w, v = np.linalg.eig(a)
    return w.astype(np.complex128), v.astype(np.complex128)


def eigvals_of(a: Any) -> Any:
    return np.linalg.eigvals(a).astype(np.complex128)


@implements(eig_of)
@shared
@unchecked
def _eig_of(a: Any) -> Any:
    n = len(a)
    w, v = np.empty(n, np.complex128), np.empty((n, n), np.complex128)
    if n > 0:
        if is_complex(a):
            return complex_eig(a, w, v, True)
        columns = real_eig(a, w, True)
        _put_vectors(v, columns, w)
    return w, v


@unchecked
def _put_vectors(v: Any, columns: Any, w: Any) -> None:
    """What LAPACK gives for a real matrix: of a pair of eigenvalues, the real and the imaginary part of a vector."""
    n, j = len(w), 0
    while j < n:
        if w[j].imag == 0.0:
            for i in range(n):
                v[i, j] = complex(columns[j, i], 0.0)
            j += 1
        else:
            for i in range(n):
                v[i, j] = complex(columns[j, i], columns[j + 1, i])
                v[i, j + 1] = complex(columns[j, i], -columns[j + 1, i])
            j += 2


@unchecked
def real_eig(a: Any, w: Any, vectors: bool) -> Any:
    """Sets w; gives the columns of LAPACK's matrix of vectors, as rows."""
    n = len(a)
    x, left, columns = packed(swapped(a)), np.empty(1, np.float64), np.empty((n, n), np.float64)
    re, im, work = np.empty(n, np.float64), np.empty(n, np.float64), np.empty(1, np.float64)
    job = blas.VECTORS if vectors else blas.NO_VECTORS
    blas.geev(blas.NO_VECTORS, job, n, x, n, re, im, left, 1, columns, n, work, -1)
    length = int(work[0])
    work = np.empty(length, np.float64)
    if blas.geev(blas.NO_VECTORS, job, n, x, n, re, im, left, 1, columns, n, work, length) != 0:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    for i in range(n):
        w[i] = complex(re[i], im[i])
    return columns


@unchecked
def complex_eig(a: Any, w: Any, v: Any, vectors: bool) -> Any:
    n = len(a)
    x, left, reals = packed(swapped(a)), np.empty(1, np.complex128), np.empty(2 * n, np.float64)
    columns, work = np.empty((n, n), np.complex128), np.empty(1, np.complex128)
    job = blas.VECTORS if vectors else blas.NO_VECTORS
    blas.geev_complex(blas.NO_VECTORS, job, n, x, n, w, left, 1, columns, n, work, -1, reals)
    length = int(work[0].real)
    work = np.empty(length, np.complex128)
    if blas.geev_complex(blas.NO_VECTORS, job, n, x, n, w, left, 1, columns, n, work, length, reals) != 0:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    if vectors:
        v[:] = swapped(columns)
    return w, v


@implements(eigvals_of)
@shared
@unchecked
def _eigvals_of(a: Any) -> Any:
    n = len(a)
    w = np.empty(n, np.complex128)
    if n > 0:
        if is_complex(a):
            complex_eig(a, w, np.empty((0, 0), np.complex128), False)
        else:
            real_eig(a, w, False)
    return w


def of_kind(made: Any, a: Any) -> Any:
    """The cotangent of a real matrix is real."""
    return made if is_complex(a) else made.real


@unchecked
def largest(v: Any) -> Any:
    """Which component of each column is the largest: the one that LAPACK makes real."""
    n = len(v)
    rows = np.zeros(n, np.int64)
    for j in range(n):
        most = -1.0
        for i in range(n):
            size = v[i, j].real * v[i, j].real + v[i, j].imag * v[i, j].imag
            if size > most and v[i, j].imag == 0.0:
                rows[j], most = i, size
    return rows


def spanning(v: Any, order: int) -> Any:
    """1; nan if the vectors do not span the space, as far as one can tell from what is divided by the least of their singular values
    to the power `order`. The derivative is that of one order more (as of `undetermined`)."""
    s = np.linalg.svd(v, compute_uv=False)
    return np.nan if len(s) > 0 and s[-1] <= (ROUNDED * len(s) * np.finfo(s.dtype).eps) ** (1.0 / order) * s[0] else 1.0


@implements(spanning)
@shared
@unchecked
def _spanning(v: Any, order: int) -> Any:
    s = svdvals_of(v)
    return np.nan if len(s) > 0 and s[-1] <= (ROUNDED * len(s) * np.finfo(s.dtype).eps) ** (1.0 / order) * s[0] else 1.0


@adjoint(spanning)
def _spanning_rule(v: Any, order: int) -> Any:
    def back(d: Any) -> Any:
        return v * (spanning(v, order + 1) - 1.0), None

    return spanning(v, order), back


@tangent(spanning)
def _spanning_tangent(v: Any, order: int) -> Any:
    return spanning(v, order), lambda *_: spanning(v, order + 1) - 1.0


def known_of_equal(w: Any, of_pairs: Any) -> Any:
    """1: a factor of cotangents, or tangents, of the values. Their derivative has differences of these divided by those of the values. Of equal values
    both are 0, and nothing shows that there was something: so this says that there is no derivative."""
    return steady(w, of_pairs, 1)


@adjoint(eig_of)
def _eig_rule(a: Any) -> Any:
    w, v = eig_of(a)

    def back(d: Any) -> Any:
        dw, dv = d
        vh, rows = conj_swapped(v), largest(v)
        along = np.sum(np.conj(v) * dv, axis=0)
        turned = dv - v * along.real
        for j in range(len(rows)):
            turned[rows[j], j] -= 1j * (along[j].imag / v[rows[j], j].real)
        inner = np.matmul(vh, turned)
        sure = spanning(v, 1) * steady(w, inner, 2) * known_of_equal(w, dw[:, None] + dw[None, :])
        inner = inner * np.conj(inverse_differences(w)) + undetermined(w, inner, 1) + np.diag(dw)
        return (of_kind(np.linalg.solve(vh, np.matmul(inner, vh)), a) * sure,)

    return (w, v), back


@tangent(eig_of)
def _eig_tangent(a: Any) -> Any:
    w, v = eig_of(a)

    def push(da: Any) -> Any:
        inner = np.linalg.solve(v, np.matmul(da, v)) * spanning(v, 1)
        dv, rows = (
            np.matmul(v, inner * inverse_differences(w) + undetermined(w, inner, 1)) * steady(w, inner, 2),
            largest(v),
        )
        along = np.sum(np.conj(v) * dv, axis=0).real
        turn = np.zeros(len(w), np.complex128)
        for j in range(len(rows)):
            turn[j] = complex(-along[j], -dv[rows[j], j].imag / v[rows[j], j].real)
        return np.diagonal(inner) * known_of_equal(w, inner), dv + v * turn

    return (w, v), push


@shared
def eigvals_cotangent(w: Any, v: Any, dw: Any) -> Any:
    vh = conj_swapped(v)
    return np.linalg.solve(vh, dw[:, None] * vh) * (spanning(v, 1) * known_of_equal(w, dw[:, None] + dw[None, :]))


@shared
def eigvals_tangent(w: Any, v: Any, da: Any) -> Any:
    inner = np.linalg.solve(v, np.matmul(da, v))
    return np.diagonal(inner) * (spanning(v, 1) * known_of_equal(w, inner))


@adjoint(eigvals_of)
def _eigvals_rule(a: Any) -> Any:
    w, v = eig_of(a)

    def back(dw: Any) -> Any:
        return (of_kind(eigvals_cotangent(w, v, dw), a),)

    return w, back


@tangent(eigvals_of)
def _eigvals_tangent(a: Any) -> Any:
    w, v = eig_of(a)

    def push(da: Any) -> Any:
        return eigvals_tangent(w, v, da + 0j)

    return w, push
