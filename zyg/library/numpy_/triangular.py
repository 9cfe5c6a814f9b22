"""Triangular systems, Cholesky's and the LU factorisation, for library code.

Each function is Python that NumPy runs, which says what it means and serves the rules under the Python back end; compiled code
has loops for small matrices and LAPACK for others in its place.  Stacks of matrices are done one after the other.

Matrices may be complex.  The cotangent of z is dL/dre + i dL/dim, so that the rules of real matrices hold with the conjugate
transpose in place of the transpose.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import shared, unchecked
from zyg.rules import adjoint, tangent

from .. import blas, kernels
from ..registry import implements
from .layouts import conj_swapped, conjugated, general, is_complex, is_packed, packed, swapped
from .multiplying import add_stacked, by_blas, by_rows, leading

SMALL = 8  # rows up to which loops are faster than a call of LAPACK, as in backend/llvm/factors.py

NOT_POSITIVE = "Matrix is not positive definite"
SINGULAR = "Singular matrix"


def by_lapack(a: Any) -> bool:
    """Whether LAPACK has functions for arrays of this type."""
    return by_blas(a) or blas.AVAILABLE and is_complex(a)


def by_kernels(a: Any) -> bool:
    """Whether there are kernels for a matrix (backend/llvm/factors.py): for packed ones of doubles, where there is LAPACK."""
    return blas.AVAILABLE and a.dtype == np.float64 and is_packed(a)


def lower_half(a: Any) -> Any:
    """The lower triangles, the diagonals halved."""
    return np.tril(a, -1) + 0.5 * (np.tril(a) - np.tril(a, -1))


@implements(lower_half)
@unchecked
def _lower_half(a: Any) -> Any:
    made = np.zeros(a.shape, a.dtype)
    _lower_half_into(made, general(a) if not is_complex(a) else a)
    return made


@shared
@unchecked
def _lower_half_into(made: Any, a: Any) -> None:
    if a.ndim > 2:
        for i in range(len(a)):
            _lower_half_into(made[i], a[i])
        return
    for i in range(a.shape[0]):
        for j in range(i):
            made[i, j] = a[i, j]
        made[i, i] = 0.5 * a[i, i]


def triangle(a: Any, lower: bool) -> Any:
    """One of the triangles, with zeros in the other."""
    return np.tril(a) if lower else np.triu(a)


@implements(triangle)
@unchecked
def _triangle(a: Any, lower: bool) -> Any:
    made = np.zeros(a.shape, a.dtype)
    _triangle_into(made, a, lower)
    return made


@unchecked
def _triangle_into(made: Any, a: Any, lower: bool) -> None:
    if a.ndim > 2:
        for i in range(len(a)):
            _triangle_into(made[i], a[i], lower)
        return
    n, m = a.shape
    for i in range(n):
        for j in range(0 if lower else i, min(i + 1, m) if lower else m):
            made[i, j] = a[i, j]


# ------------------------------------------------------------------------------------- triangular systems


def solve_lower(t: Any, b: Any, transposed: bool) -> Any:
    """inv(t) @ b, or with `transposed` the conjugate transpose of inv(t), times b, where t is the lower triangle of a matrix;
    b is a matrix, or both are stacks of them."""
    t = np.tril(t)
    return np.linalg.solve(conj_swapped(t) if transposed else t, b)


@implements(solve_lower)
def _solve_lower(t: Any, b: Any, transposed: bool) -> Any:
    x = packed(b)
    solve_lower_into(t, x, transposed)
    return x


@shared
@unchecked
def solve_lower_into(t: Any, x: Any, transposed: bool) -> None:
    """In the place of the right-hand sides, which are packed."""
    if t.ndim > 2:
        for i in range(len(t)):
            solve_lower_into(t[i], x[i], transposed)
        return
    n, m = x.shape
    if m == 0:
        return
    if is_complex(x) and blas.AVAILABLE and t.dtype == x.dtype and n > SMALL:
        # Conjugated and transposed is t itself, conjugated, to BLAS.
        trans = blas.PLAIN if not transposed else blas.TRANSPOSED
        low = packed(np.conj(t)) if transposed else packed(t)
        one = np.ones(1, x.dtype)
        blas.trsm_complex(blas.RIGHT, blas.UPPER, trans, blas.NOT_UNIT, m, n, one, low, n, x, m)
        return
    if by_blas(x) and t.dtype == x.dtype and n > SMALL:
        # To BLAS x is x.T, and t upper: x.T @ inv(t).T is asked for.
        trans = blas.TRANSPOSED if transposed else blas.PLAIN
        if is_packed(t):
            blas.trsm(blas.RIGHT, blas.UPPER, trans, blas.NOT_UNIT, m, n, 1.0, t, n, x, m)
        elif by_rows(t):
            blas.trsm(blas.RIGHT, blas.UPPER, trans, blas.NOT_UNIT, m, n, 1.0, t, leading(t, 0), x, m)
        else:
            blas.trsm(blas.RIGHT, blas.UPPER, trans, blas.NOT_UNIT, m, n, 1.0, packed(t), n, x, m)
        return
    for k in range(n):
        i = n - 1 - k if transposed else k
        for j in range(m):
            total = x[i, j]
            if transposed:
                for l in range(i + 1, n):
                    total -= conjugated(t[l, i]) * x[l, j]
            else:
                for l in range(i):
                    total -= t[i, l] * x[l, j]
            x[i, j] = total / (conjugated(t[i, i]) if transposed else t[i, i])


@adjoint(solve_lower)
def _solve_lower_rule(t: Any, b: Any, transposed: bool) -> Any:
    """Giles (2008), section 2.3.1: for x = inv(t) @ b, db = inv(t).T @ d and dt = -db @ x.T."""
    x = solve_lower(t, b, transposed)

    def back(d: Any) -> Any:
        db = solve_lower(t, d, not transposed)
        dt = np.matmul(x, conj_swapped(db)) if transposed else np.matmul(db, conj_swapped(x))
        return -triangle(dt, True), db, None

    return x, back


@tangent(solve_lower)
def _solve_lower_tangent(t: Any, b: Any, transposed: bool) -> Any:
    x = solve_lower(t, b, transposed)

    def push(dt: Any, db: Any, _: Any) -> Any:
        low = triangle(dt, True)
        return solve_lower(t, db - np.matmul(conj_swapped(low) if transposed else low, x), transposed)

    return x, push


# ------------------------------------------------------------------------------------------------ Cholesky


def cholesky_lower(a: Any) -> Any:
    """The factor that np.linalg.cholesky gives: of the lower triangle of a."""
    return np.linalg.cholesky(a)


@implements(cholesky_lower)
@unchecked
def _cholesky_lower(a: Any) -> Any:
    factor = packed(a)
    cholesky_into(factor)
    return factor


@shared
@unchecked
def cholesky_into(a: Any) -> None:
    if a.ndim > 2:
        for i in range(len(a)):
            cholesky_into(a[i])
        return
    n = len(a)
    if by_kernels(a):
        if kernels.cholesky(n, a) != 0:
            raise np.linalg.LinAlgError(NOT_POSITIVE)
        return
    if by_lapack(a) and n > SMALL:
        if blas.potrf(blas.UPPER, n, a, n) != 0:
            raise np.linalg.LinAlgError(NOT_POSITIVE)
    else:
        for i in range(n):
            for j in range(i):
                total = a[i, j]
                for l in range(j):
                    total -= a[i, l] * conjugated(a[j, l])
                a[i, j] = total / a[j, j]
            pivot = a[i, i].real
            for l in range(i):
                pivot -= squared(a[i, l])
            if pivot <= 0:  # a nan goes on, as in LAPACK
                raise np.linalg.LinAlgError(NOT_POSITIVE)
            a[i, i] = np.sqrt(pivot)
    for i in range(n):
        for j in range(i + 1, n):
            a[i, j] = 0


def squared(x: Any) -> Any:
    """The square of the absolute value of a number, or of the elements of an array."""
    return x.real * x.real + x.imag * x.imag if is_complex(x) else x * x


@adjoint(cholesky_lower)
def _cholesky_rule(a: Any) -> Any:
    """Murray, "Differentiation of the Cholesky decomposition" (2016), equation 10: s = inv(L).T @ lower_half(L.T @ d) @ inv(L).
    The factor depends on the lower triangle of a, and so the cotangent is that of the lower triangle."""
    factor = cholesky_lower(a)

    def back(d: Any) -> Any:
        middle = lower_half(np.matmul(conj_swapped(factor), d))
        left = solve_lower(factor, middle, True)
        s = conj_swapped(solve_lower(factor, conj_swapped(left), True))
        return (lower_half(s + conj_swapped(s)),)

    return factor, back


@tangent(cholesky_lower)
def _cholesky_tangent(a: Any) -> Any:
    """Murray (2016), equation 8: dL = L @ lower_half(inv(L) @ da @ inv(L).T)."""
    factor = cholesky_lower(a)

    def push(da: Any) -> Any:
        low = lower_half(da)
        whole = low + conj_swapped(low)
        left = solve_lower(factor, whole, False)
        inner = solve_lower(factor, conj_swapped(left), False)
        return np.matmul(factor, lower_half(conj_swapped(inner)))

    return factor, push


# ------------------------------------------------------------------------------------------ LU, and systems


def factor(a: Any) -> tuple[Any, Any]:
    """What solve_factored wants to know of a square matrix, or of a stack of them. It has no derivative."""
    if np.any(np.linalg.det(a) == 0.0):
        raise np.linalg.LinAlgError(SINGULAR)
    return a, None


@implements(factor)
@unchecked
def _factor(a: Any) -> Any:
    lu = packed(a)
    pivots = np.empty(a.shape[:-1], blas.INTEGER)
    if factor_into(lu, pivots):
        raise np.linalg.LinAlgError(SINGULAR)
    return lu, pivots


@adjoint(factor)
def _factor_rule(a: Any) -> Any:
    return factor(a), lambda d: (None,)


@shared
@unchecked
def factor_into(lu: Any, pivots: Any) -> bool:
    """The LU factorisation of a packed matrix in its place, as LAPACK's getrf makes it of the transposed; whether it is
    singular. A row of the matrix is a column to LAPACK, and is what is exchanged here: pivots[k] is 1 + the column that came
    to place k."""
    if lu.ndim > 2:
        singular = False
        for i in range(len(lu)):
            singular = factor_into(lu[i], pivots[i]) or singular
        return singular
    n, m = lu.shape
    if by_kernels(lu):
        return kernels.factor(n, m, lu, pivots) != 0
    if by_lapack(lu) and min(n, m) > SMALL:
        return blas.getrf(m, n, lu, m, pivots) > 0
    singular = False
    for k in range(min(n, m)):
        best = k
        for j in range(k + 1, m):
            if magnitude(lu[k, j]) > magnitude(lu[k, best]):
                best = j
        pivots[k] = best + 1
        if lu[k, best] == 0:
            singular = True
            continue
        if best != k:
            for i in range(n):
                lu[i, k], lu[i, best] = lu[i, best], lu[i, k]
        scale = 1 / lu[k, k]
        for j in range(k + 1, m):
            lu[k, j] *= scale
        for i in range(k + 1, n):
            head = lu[i, k]
            for j in range(k + 1, m):
                lu[i, j] -= head * lu[k, j]
    return singular


def magnitude(x: Any) -> Any:
    """That by which LAPACK chooses pivots."""
    return abs(x.real) + abs(x.imag) if is_complex(x) else abs(x)


def solve_factored(a: Any, lu: Any, pivots: Any, b: Any, transposed: bool) -> Any:
    """inv(a) @ b, or with `transposed` the conjugate transpose of inv(a), times b; `lu, pivots = factor(a)`."""
    return np.linalg.solve(conj_swapped(a) if transposed else a, b)


@implements(solve_factored)
def _solve_factored(a: Any, lu: Any, pivots: Any, b: Any, transposed: bool) -> Any:
    if is_complex(b) and transposed:
        # By the transpose of the conjugates, since LAPACK, which has a.T, knows no conjugate of that.
        columns = packed(conj_swapped(b))
        solve_factored_into(lu, pivots, columns, transposed)
        return packed(conj_swapped(columns))
    columns = packed(swapped(b))
    solve_factored_into(lu, pivots, columns, transposed)
    return packed(swapped(columns)) if b.shape[-1] != 1 else columns.reshape(b.shape)


@shared
@unchecked
def solve_factored_into(lu: Any, pivots: Any, x: Any, transposed: bool) -> None:
    """inv(a), or inv(a).T, times the right-hand sides, which are the rows of x, in their place."""
    if lu.ndim > 2:
        for i in range(len(lu)):
            solve_factored_into(lu[i], pivots[i], x[i], transposed)
        return
    count, n = x.shape
    if by_kernels(x) and by_kernels(lu):
        kernels.solve_factored(count, n, lu, pivots, x, 1 if transposed else 0)
        return
    if by_lapack(x) and n > SMALL:
        blas.getrs(blas.PLAIN if transposed else blas.TRANSPOSED, n, count, lu, n, pivots, x, n)
        return
    # The matrix is (p @ l @ u).T, with l[j, k] at lu[k, j] below its unit diagonal, u[k, j] at lu[j, k].
    for r in range(count):
        if transposed:
            for k in range(n):
                p = pivots[k] - 1
                x[r, k], x[r, p] = x[r, p], x[r, k]
            for k in range(n):
                for j in range(k + 1, n):
                    x[r, j] -= lu[k, j] * x[r, k]
            for back in range(n):
                k = n - 1 - back
                total = x[r, k]
                for j in range(k + 1, n):
                    total -= lu[j, k] * x[r, j]
                x[r, k] = total / lu[k, k]
        else:
            for k in range(n):
                total = x[r, k]
                for j in range(k):
                    total -= lu[k, j] * x[r, j]
                x[r, k] = total / lu[k, k]
            for back in range(n):
                k = n - 1 - back
                total = x[r, k]
                for j in range(k + 1, n):
                    total -= lu[k, j] * x[r, j]
                x[r, k] = total
            for back in range(n):
                k = n - 1 - back
                p = pivots[k] - 1
                x[r, k], x[r, p] = x[r, p], x[r, k]


@adjoint(solve_factored)
def _solve_factored_rule(a: Any, lu: Any, pivots: Any, b: Any, transposed: bool) -> Any:
    """Giles (2008), section 2.2.4: for x = inv(a) @ b, db = inv(a).T @ d and da = -db @ x.T."""
    x = solve_factored(a, lu, pivots, b, transposed)

    def back(d: Any) -> Any:
        db = solve_factored(a, lu, pivots, d, not transposed)
        if is_complex(a):
            return (
                -(np.matmul(x, conj_swapped(db)) if transposed else np.matmul(db, conj_swapped(x))),
                None,
                None,
                db,
                None,
            )
        if transposed:
            return lambda da: add_stacked(da, -x, swapped(db)), None, None, db, None
        return lambda da: add_stacked(da, -db, swapped(x)), None, None, db, None

    return x, back


@tangent(solve_factored)
def _solve_factored_tangent(a: Any, lu: Any, pivots: Any, b: Any, transposed: bool) -> Any:
    x = solve_factored(a, lu, pivots, b, transposed)

    def push(da: Any, _lu: Any, _pivots: Any, db: Any, _: Any) -> Any:
        return solve_factored(a, lu, pivots, db - np.matmul(conj_swapped(da) if transposed else da, x), transposed)

    return x, push
