"""numpy.linalg: what follows from singular values: least squares, ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import shared_with_adjoint

from ..registry import implements
from .linalg import floats, of_one_type
from .pseudo_inverses import default_rcond, pseudo_inverse
from .singular import svdvals_of, svdvals_stack
from .triangular import squared


@implements(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    x, y = floats(a, "np.linalg.lstsq"), floats(b, "np.linalg.lstsq")
    if x.ndim != 2:
        raise np.linalg.LinAlgError(f"{x.ndim}-dimensional array given. Array must be two-dimensional")
    if x.shape[0] != y.shape[0]:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    x, y = of_one_type(x, y)
    if x.dtype == np.float32:  # NumPy has it done in double
        wide = x.astype(float)
        best, squares, rank, values = least_squares(wide, y.astype(float), limit_of_lapack(wide, rcond))
        return best.astype(x.dtype), squares.astype(x.dtype), rank, values.astype(x.dtype)
    return least_squares(x, y, limit_of_lapack(x, rcond))


def limit_of_lapack(x: Any, rcond: Any) -> Any:
    """What gelsd multiplies the largest singular value by, to cut off those up to the product. nan cuts off none."""
    if rcond is None:
        return default_rcond(x)
    if rcond <= 0 or rcond >= 1:
        return 2.0**-53  # the precision of a double: half of np.finfo's eps
    return float(rcond) if rcond == rcond else -1.0


@shared_with_adjoint
def least_squares(x: Any, y: Any, cutoff: Any) -> Any:
    m, n = x.shape
    values = singular_values(x)
    rank = 0
    for i in range(len(values)):
        if values[i] > cutoff * values[0]:
            rank += 1
    best = np.matmul(pseudo_inverse(x, cutoff, False), y)
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
    return svdvals_of(a)


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    x = floats(A, "np.linalg.matrix_rank")
    if x.ndim < 2:
        return int(np.any(x != 0))
    values = np.abs(np.linalg.eigvalsh(x)) if hermitian else svdvals_stack(x)
    if tol is not None:
        return np.count_nonzero(values > np.asarray(tol)[..., None], axis=-1)
    relative = default_rcond(x) if rtol is None else np.asarray(rtol)[..., None]
    return np.count_nonzero(values > np.max(values, axis=-1, keepdims=True, initial=0) * relative, axis=-1)
