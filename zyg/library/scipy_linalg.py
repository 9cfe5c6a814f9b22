"""scipy.linalg: Cholesky's and the LU factorisation, and systems of equations.

SciPy looks for infinities and nans in arguments, unless it is told not to; so does this.  Arrays that may be overwritten are not:
what they hold afterwards is nobody's business.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from zyg.frontend.functions import unchecked
from zyg.rules import adjoint, tangent

from . import blas
from .intrinsics import unsupported
from .numpy_.layouts import conj_swapped, conjugated, packed, swapped
from .numpy_.linalg import floats, of_one_type
from .numpy_.triangular import cholesky_lower, factor_into, solve_lower
from .registry import implements


def checked(a: Any, name: str, check_finite: bool) -> Any:
    """The argument of a function of this module, as an array of floats or complex numbers."""
    x = floats(a, name)
    if check_finite and not np.all(np.isfinite(x)):
        raise ValueError("array must not contain infs or NaNs")
    return x


def checked_square(a: Any, name: str, check_finite: bool) -> Any:
    x = checked(a, name, check_finite)
    if x.ndim < 2:
        raise ValueError("Expected square matrix")
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"Expected square matrix, got a.shape={x.shape}")
    return x


# ------------------------------------------------------------------------------------------------ Cholesky


@implements(sl.cholesky)
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    x = checked_square(a, "scipy.linalg.cholesky", check_finite)
    if lower:
        return cholesky_lower(x)
    return packed(conj_swapped(cholesky_lower(conj_swapped(x))))


@implements(sl.cho_factor)
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return cholesky(a, lower, False, check_finite), lower


@implements(sl.cho_solve)
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    c, lower = c_and_lower
    factor = checked_square(c, "scipy.linalg.cho_solve", check_finite)
    y = checked(b, "scipy.linalg.cho_solve", check_finite)
    if factor.shape[1] != y.shape[0]:
        raise ValueError(f"incompatible dimensions ({factor.shape} and {y.shape})")
    factor, y = of_one_type(factor, y)
    low = factor if lower else conj_swapped(factor)
    columns = y[:, None] if y.ndim == 1 else y
    x = solve_lower(low, solve_lower(low, columns, False), True)
    return x[:, 0] if y.ndim == 1 else np.asfortranarray(x)


# ------------------------------------------------------------------------------------------------------ LU


def lu_of(a: Any) -> tuple[Any, Any]:
    """Both factors of a matrix in one, and the row that each was exchanged with in its turn."""
    lu, pivots = sl.lu_factor(a)
    return lu, pivots


@implements(lu_of)
@unchecked
def _lu_of(a: Any) -> Any:
    columns, exchanged = packed(swapped(a)), np.empty(min(a.shape), blas.INTEGER)
    factor_into(columns, exchanged)
    pivots = np.empty(len(exchanged), np.int32)
    for i in range(len(exchanged)):
        pivots[i] = exchanged[i] - 1
    return swapped(columns), pivots


def with_unit_diagonal(lower: Any) -> Any:
    return np.tril(lower, -1) + np.eye(lower.shape[0], lower.shape[1], dtype=lower.dtype)


def row_order(pivots: Any, m: int) -> Any:
    """Where the rows of the factors come from: those of the matrix, exchanged in turn."""
    order = np.arange(m)
    for i in range(len(pivots)):
        p = int(pivots[i])
        first, second = order[p], order[i]
        order[i], order[p] = first, second
    return order


@adjoint(lu_of)
def _lu_rule(a: Any) -> Any:
    """S. F. Walter, L. Lehmann, "Algorithmic differentiation of linear algebra functions with application in optimum
    experimental design" (2010), section 3.4; the order of rows is constant where there is a derivative.

    Of factors [l; below] and [u, right], where l and u are square, the matrix is [l u, l right; below u, ..]."""
    lu, pivots = lu_of(a)

    def back(d: Any) -> Any:
        given, _ = d
        m, n = lu.shape
        k = min(m, n)
        low, square = with_unit_diagonal(lu[:k, :k]), lu[:k, :k]
        dright, dbelow = given[:k, k:], given[k:, :k]
        lower = np.matmul(conj_swapped(low), np.tril(given[:k, :k], -1)) - np.matmul(dright, conj_swapped(lu[:k, k:]))
        upper = np.matmul(np.triu(given[:k, :k]), conj_swapped(np.triu(square))) - np.matmul(
            conj_swapped(lu[k:, :k]), dbelow
        )
        rows = by_inverse(np.concatenate((np.tril(lower, -1) + np.triu(upper), dbelow), axis=0), square, True)
        made = np.empty(lu.shape, lu.dtype)
        order = row_order(pivots, m)
        made[order[:k]] = solve_lower(low, np.concatenate((rows[:k], dright), axis=1), True)
        if m > k:
            made[order[k:]] = rows[k:]
        return (made,)

    return (lu, pivots), back


def by_inverse(x: Any, u: Any, transposed: bool) -> Any:
    """x @ inv(u) for an upper triangle u, or with `transposed` x times the conjugate transpose of inv(u)."""
    return conj_swapped(solve_lower(packed(conj_swapped(u)), packed(conj_swapped(x)), transposed))


@tangent(lu_of)
def _lu_tangent(a: Any) -> Any:
    lu, pivots = lu_of(a)

    def push(da: Any) -> Any:
        m, n = lu.shape
        k = min(m, n)
        low, square = with_unit_diagonal(lu[:k, :k]), lu[:k, :k]
        given = da[row_order(pivots, m)]
        left = solve_lower(low, packed(given[:k]), False)
        middle = by_inverse(left[:, :k], square, False)
        lower, upper = np.tril(middle, -1), np.matmul(np.triu(middle), np.triu(square))
        right = left[:, k:] - np.matmul(lower, lu[:k, k:])
        below = by_inverse(given[k:, :k] - np.matmul(lu[k:, :k], upper), square, False)
        above = np.concatenate((np.matmul(low, lower) + upper, right), axis=1)
        return np.concatenate(
            (above, np.concatenate((below, np.zeros((m - k, n - k), lu.dtype)), axis=1)), axis=0
        ), None

    return (lu, pivots), push


def one_matrix(a: Any, name: str, check_finite: bool) -> Any:
    x = checked(a, name, check_finite)
    if x.ndim != 2:
        unsupported(f"{name} of another number of dimensions than 2", "factorise one matrix after the other")
    return x


@implements(sl.lu_factor)
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return lu_of(one_matrix(a, "scipy.linalg.lu_factor", check_finite))


@implements(sl.lu)
def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True, p_indices: bool = False
) -> Any:
    both, pivots = lu_of(one_matrix(a, "scipy.linalg.lu", check_finite))
    m, n = both.shape
    k = min(m, n)
    lower, upper = with_unit_diagonal(both[:, :k]), np.triu(both[:k])
    back = np.argsort(row_order(pivots, m))
    if permute_l:
        return lower[back], upper
    if p_indices:
        return back.astype(np.int32), lower, upper
    return np.eye(m, dtype=both.real.dtype)[back], lower, upper


@implements(sl.lu_solve)
def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    given, pivots = lu_and_piv
    both = floats(given, "scipy.linalg.lu_solve")
    y = checked(b, "scipy.linalg.lu_solve", check_finite)
    if both.shape[0] != y.shape[0]:
        raise ValueError(f"Shapes of lu {both.shape} and b {y.shape} are incompatible")
    both, y = of_one_type(both, y)
    columns = y[:, None] if y.ndim == 1 else y
    order = row_order(pivots, len(both))
    if trans == 0:
        low = solve_lower(with_unit_diagonal(both), packed(columns[order]), False)
        x = solve_lower(packed(conj_swapped(both)), low, True)
    else:
        # The conjugate transpose, or of conjugates the transpose.
        right = conjugated(columns) if trans == 1 else columns
        high = solve_lower(packed(conj_swapped(both)), packed(right), False)
        made = solve_lower(with_unit_diagonal(both), high, True)[np.argsort(order)]
        x = conjugated(made) if trans == 1 else made
    return x[:, 0] if y.ndim == 1 else np.asfortranarray(x)


# ------------------------------------------------------------------------------------- systems of equations


@implements(sl.solve_triangular)
def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    t = checked_square(a, "scipy.linalg.solve_triangular", check_finite)
    y = checked(b, "scipy.linalg.solve_triangular", check_finite)
    if t.shape[0] != y.shape[0]:
        raise ValueError(f"shapes of a ({t.shape[0]}, {t.shape[1]}) and b ({y.shape[0]},) are incompatible")
    for i in range(len(t)):
        if t[i, i] == 0:
            raise np.linalg.LinAlgError(f"singular matrix: resolution failed at diagonal {i}")
    t, y = of_one_type(t, y)
    columns = y[:, None] if y.ndim == 1 else y
    if trans == 1 or trans == "T":
        x = transposed_solution(t, columns, lower)
    elif trans == 2 or trans == "C":
        x = solve_lower(t, columns, True) if lower else solve_lower(conj_swapped(t), columns, False)
    else:
        x = solve_lower(t, columns, False) if lower else solve_lower(conj_swapped(t), columns, True)
    return x[:, 0] if y.ndim == 1 else np.asfortranarray(x)


def transposed_solution(t: Any, b: Any, lower: bool) -> Any:
    """inv(t).T @ b for a triangular t."""
    if lower:
        return conjugated(solve_lower(t, conjugated(b), True))
    return solve_lower(swapped(t), b, False)


@implements(sl.solve)
def solve(a: Any, b: Any, overwrite_a: bool = False, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    x = checked_square(a, "scipy.linalg.solve", check_finite)
    y = checked(b, "scipy.linalg.solve", check_finite)
    return np.linalg.solve(x, y)


@implements(sl.inv)
def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return np.linalg.inv(checked_square(a, "scipy.linalg.inv", check_finite))


@implements(sl.det)
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return np.linalg.det(checked_square(a, "scipy.linalg.det", check_finite))
