"""numpy.linalg: norms and condition numbers. The derivative of a norm at 0 is 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..intrinsics import select
from ..registry import implements
from .common import root
from .linalg import floats
from .triangular import squared


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    a = floats(x, "np.linalg.norm")
    if axis is None:
        if ord is None or (ord == 2 and a.ndim == 1) or ((ord == "fro" or ord == "f") and a.ndim == 2):
            return root(np.sum(squared(a), axis=None, keepdims=keepdims))
        if a.ndim == 1:
            return vector_norm(a, ord, 0, keepdims)
        if a.ndim == 2:
            return matrix_norm(a, ord, 0, 1, keepdims)
        raise ValueError("Improper number of dimensions to norm.")
    if isinstance(axis, int):
        return vector_norm(a, ord, axis, keepdims)
    if len(axis) == 1:
        return vector_norm(a, ord, axis[0], keepdims)
    if len(axis) == 2:
        return matrix_norm(a, ord, axis[0], axis[1], keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def vector_norm(a: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """Along an axis, several of them, or all (None)."""
    if ord is None or ord == 2:
        return root(np.sum(squared(a), axis=axis, keepdims=keepdims))
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == math.inf:
        return np.max(np.abs(a), axis=axis, keepdims=keepdims, initial=0)
    if ord == -math.inf:
        return np.min(np.abs(a), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((a != 0).astype(a.real.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(a), axis=axis, keepdims=keepdims)
    total = np.sum(np.abs(a) ** ord, axis=axis, keepdims=keepdims)
    exponent = a.real.dtype.type(1 / ord)
    return total**exponent if ord < 0 else flat_power(total, exponent)


def flat_power(s: Any, exponent: Any) -> Any:
    """s ** exponent, of what is not negative and by a positive exponent; its slope at 0 is 0."""
    return np.where(s > 0, np.where(s > 0, s, 1.0) ** exponent, s * 0.0)


@implements(flat_power)
def _flat_power(s: Any, exponent: Any) -> Any:
    if isinstance(s, np.ndarray):
        return np.where(s > 0, np.where(s > 0, s, s.dtype.type(1)) ** exponent, s * 0.0)
    return select(s > 0, select(s > 0, s, 1.0) ** exponent, s * 0.0)


def matrix_norm(a: Any, ord: Any, row: int, column: int, keepdims: bool) -> Any:
    rows, columns = row % a.ndim, column % a.ndim
    if rows == columns:
        raise ValueError("Duplicate axes given.")
    if ord is None or ord == "fro" or ord == "f":
        return root(np.sum(squared(a), axis=(row, column), keepdims=keepdims))
    if ord == 1 or ord == -1:
        sums = np.sum(np.abs(a), axis=rows, keepdims=True)
        if ord == 1:
            return np.max(sums, axis=(rows, columns), keepdims=keepdims, initial=0)
        return np.min(sums, axis=(rows, columns), keepdims=keepdims)
    if ord == math.inf or ord == -math.inf:
        sums = np.sum(np.abs(a), axis=columns, keepdims=True)
        if ord == math.inf:
            return np.max(sums, axis=(rows, columns), keepdims=keepdims, initial=0)
        return np.min(sums, axis=(rows, columns), keepdims=keepdims)
    if ord == 2 or ord == -2 or ord == "nuc":
        values = np.linalg.svd(np.moveaxis(a, (rows, columns), (-2, -1)), compute_uv=False)
        if ord == 2:
            made = np.max(values, axis=-1, initial=0)
        else:
            made = np.min(values, axis=-1) if ord == -2 else np.sum(values, axis=-1)
        return np.expand_dims(made, (rows, columns)) if keepdims else made
    raise ValueError("Invalid norm order for matrices.")


@implements(np.linalg.vector_norm)
def array_vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    return vector_norm(floats(x, "np.linalg.vector_norm"), ord, axis, keepdims)


@implements(np.linalg.matrix_norm)
def array_matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    a = floats(x, "np.linalg.matrix_norm")
    return matrix_norm(a, ord, -2, -1, keepdims)


def without_nan(x: Any) -> Any:
    """With infinity in the place of nan."""
    return np.where(np.isnan(x), math.inf, x)


@implements(without_nan)
def _without_nan(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.where(np.isnan(x), x.dtype.type(math.inf), x)
    return x.dtype.type(math.inf) if np.isnan(x) else x


@implements(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    a = floats(x, "np.linalg.cond")
    if a.ndim < 2:
        raise np.linalg.LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    if a.size == 0:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    real = a.real.dtype.type
    if a.ndim == 2:
        if np.all(np.isfinite(a)):
            return cond_of_finite(a, p)
        return real(math.nan) if np.any(np.isnan(a)) else real(math.inf)
    finite = np.all(np.isfinite(a), axis=(-2, -1))
    made = cond_of_finite(np.where(finite[..., None, None], a, np.eye(*a.shape[-2:], dtype=a.dtype)), p)
    return np.where(finite, made, np.where(np.any(np.isnan(a), axis=(-2, -1)), real(math.nan), real(math.inf)))


def cond_of_finite(a: Any, p: Any) -> Any:
    if p is None or p == 2 or p == -2:
        values = np.linalg.svd(a, compute_uv=False)
        made = values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
        return without_nan(made)  # 0 / 0
    if a.ndim == 2:
        if np.linalg.det(a) == 0:
            return a.real.dtype.type(math.inf)
        return matrix_norm(a, p, -2, -1, False) * matrix_norm(np.linalg.inv(a), p, -2, -1, False)
    singular = np.linalg.det(a) == 0
    regular = np.where(singular[..., None, None], np.eye(a.shape[-1], dtype=a.dtype), a)
    made = matrix_norm(a, p, -2, -1, False) * matrix_norm(np.linalg.inv(regular), p, -2, -1, False)
    return np.where(singular, made.dtype.type(math.inf), made)
