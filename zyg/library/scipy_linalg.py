"""scipy.linalg: Cholesky's factorisation and triangular systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from .numpy_.layouts import conj_swapped, conjugated, packed, swapped
from .numpy_.linalg import floats, of_one_type, square
from .numpy_.triangular import cholesky_lower, solve_lower
from .registry import implements


@implements(sl.cholesky)
def cholesky(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:  # an array that may be overwritten is not: what it holds afterwards is nobody's business
    x = square(a, "scipy.linalg.cholesky")
    if lower:
        return cholesky_lower(x)
    return packed(conj_swapped(cholesky_lower(conj_swapped(x))))


@implements(sl.cho_factor)
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return cholesky(a, lower), lower


@implements(sl.cho_solve)
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    c, lower = c_and_lower
    factor, y = square(c, "scipy.linalg.cho_solve"), floats(b, "scipy.linalg.cho_solve")
    if factor.shape[1] != y.shape[0]:
        raise ValueError(f"incompatible dimensions ({factor.shape[0]}, {factor.shape[1]}) and ({y.shape[0]},)")
    factor, y = of_one_type(factor, y)
    low = factor if lower else conj_swapped(factor)
    columns = y[:, None] if y.ndim == 1 else y
    x = solve_lower(low, solve_lower(low, columns, False), True)
    return x[:, 0] if y.ndim == 1 else x


@implements(sl.solve_triangular)
def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    t, y = square(a, "scipy.linalg.solve_triangular"), floats(b, "scipy.linalg.solve_triangular")
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
    return x[:, 0] if y.ndim == 1 else x


def transposed_solution(t: Any, b: Any, lower: bool) -> Any:
    """inv(t).T @ b for a triangular t."""
    if lower:
        return conjugated(solve_lower(t, conjugated(b), True))
    return solve_lower(swapped(t), b, False)


@implements(sl.solve)
def solve(a: Any, b: Any, overwrite_a: bool = False, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    return np.linalg.solve(a, b)


@implements(sl.inv)
def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return np.linalg.inv(a)


@implements(sl.det)
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return np.linalg.det(a)
