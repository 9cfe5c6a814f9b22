"""Short paths for arrays of floats: numpy.linalg. (`numpy_backs` says what for.)"""

from __future__ import annotations

from typing import Any

import numpy as np

from .cotangents import Refused
from .numpy_ import refuse
from .numpy_backs import NUMBERS, Made, ndarray, of_floats, run_number_of_one, run_one, run_two
from .shadows import F64


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, *others: Any, **options: Any) -> Made:
    """Of all elements, or of each row or column of a matrix, by their squares."""
    if not of_floats(x) or ord is not None or others or options or type(keepdims) is not bool:
        return None
    if axis is None and not keepdims:
        y = np.linalg.norm(x)
        return (y, (run_number_of_one, x, _of_norm, (x.copy(), y))) if type(y) in NUMBERS else None
    if type(axis) is not int or x.ndim != 2:
        return None
    y = np.linalg.norm(x, None, axis, keepdims)
    kept = y.copy() if keepdims else np.expand_dims(y, axis).copy()
    return y, (run_one, y, x, _of_norms, x.copy(), kept)


def _of_norm(d: Any, x: Any, kept: Any) -> Any:
    value, y = kept
    return np.zeros_like(value) if y == 0 else value / y * d


def _of_norms(dy: Any, value: Any, kept: Any) -> Any:
    nothing = kept == 0
    return np.where(nothing, 0.0, value / np.where(nothing, 1.0, kept)) * dy.reshape(kept.shape)


def inverse(x: Any, *others: Any, **options: Any) -> Made:
    if not _is_matrix(x) or others or options:
        return None
    y = np.linalg.inv(x)
    return y, (run_one, y, x, _of_inverse, y.copy(), None)


def _of_inverse(dy: Any, value: Any, _: Any) -> Any:
    return -(value.T @ dy @ value.T)


def solved(a: Any, b: Any = None, *others: Any, **options: Any) -> Made:
    if not _is_matrix(a) or type(b) is not ndarray or b.dtype is not F64 or others or options or not 0 < b.ndim < 3:
        return None
    y = np.linalg.solve(a, b)
    return y, (run_two, y, a, b, _of_solution, y.copy(), a.copy(), None)


def _of_solution(dy: Any, value: Any, matrix: Any, _: Any) -> Any:
    db = np.linalg.solve(matrix.T, dy)
    return -(db[:, None] * value if value.ndim == 1 else db @ value.T), db


def logarithm(x: Any, *others: Any, **options: Any) -> Made:
    """Sign and logarithm of a determinant."""
    if not _is_matrix(x) or others or options:
        return None
    y = np.linalg.slogdet(x)
    return y, (run_logarithm, x, x.copy())


def run_logarithm(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, value = back
    dy = None if d is None else d[1]
    if dy is not None:
        if type(dy) is Refused:
            refuse(x, dy, shadows)
        else:
            shadows.hush()
            shadows.gain(x, dy * np.linalg.inv(value).T)
    return None


def _is_matrix(x: Any) -> bool:
    return type(x) is ndarray and x.dtype is F64 and x.ndim == 2
