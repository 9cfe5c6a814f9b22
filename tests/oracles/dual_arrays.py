"""NumPy's functions on dual numbers: an array of floats is one of objects, each of which is a dual or a float.

What NumPy does with objects by their operators (sums, products, selections, sorting, keys, updates in place) is left to it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from .dual import Dual, namespace, value_of

_MATH = {"arctan": "atan", "arcsinh": "asinh", "arctan2": "atan2", "abs": "fabs", "absolute": "fabs"}


class _Array(np.ndarray):
    """What NumPy computes of it that is floats is objects, too: of integers and truth values, for instance."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        plain = [x.view(np.ndarray) if isinstance(x, _Array) else x for x in inputs]
        if out is not None:
            options["out"] = tuple(x.view(np.ndarray) if isinstance(x, _Array) else x for x in out)
            getattr(ufunc, method)(*plain, **options)
            return out[0]
        found = getattr(ufunc, method)(*plain, **options)
        return objects(found) if isinstance(found, np.ndarray) else found


def objects(values: Any) -> np.ndarray:
    """An array of floats and duals as one of objects; what holds neither stays."""
    found = values if isinstance(values, np.ndarray) else np.array(values)
    if found.dtype.kind not in "fO":
        return found.view(_Array)
    out = np.empty(found.shape, dtype=object)
    out[...] = found
    return out.view(_Array)


def _elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    on_arrays = np.frompyfunc(function, 1, 1)

    def apply(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return on_arrays(x)
        return function(x)

    return apply


def _clipped(x: Any, low: Any, high: Any) -> Any:
    return low if x < low else high if x > high else x


class _Numpy:
    """`numpy` itself, but for what makes arrays of floats, and for mathematics."""

    linalg = SimpleNamespace(norm=lambda a: _norm(a))

    def __getattr__(self, name: str) -> Any:
        known = _MATH.get(name, name)
        if isinstance(getattr(np, name), np.ufunc) and hasattr(namespace, known):
            return _elementwise(getattr(namespace, known))
        return getattr(np, name)

    def array(self, values: Any, dtype: Any = None) -> np.ndarray:
        found = objects(values)
        if dtype is None or found.dtype == object:
            return found.copy()
        return objects(found.astype(np.float64))

    def zeros(self, shape: Any) -> np.ndarray:
        return objects(np.zeros(shape))

    def ones(self, shape: Any) -> np.ndarray:
        return objects(np.ones(shape))

    def eye(self, n: int) -> np.ndarray:
        return objects(np.eye(n))

    def arange(self, *bounds: Any) -> np.ndarray:
        return objects(np.arange(*map(value_of, bounds)))

    def full(self, shape: Any, value: Any) -> np.ndarray:
        out = self.zeros(shape)
        out[...] = value
        return out

    def zeros_like(self, a: np.ndarray) -> np.ndarray:
        return self.zeros(a.shape)

    def ones_like(self, a: np.ndarray) -> np.ndarray:
        return self.ones(a.shape)

    def clip(self, a: Any, low: Any, high: Any) -> Any:
        return np.frompyfunc(_clipped, 3, 1)(a, low, high)

    def var(self, a: Any) -> Any:
        return np.mean((a - np.mean(a)) ** 2)


def _norm(a: Any) -> Any:
    """Its slope is 0 where all are 0."""
    square = np.sum(a * a)
    return namespace.sqrt(square) if value_of(square) > 0 else 0.0 * square


numpy_on_duals: Any = _Numpy()

__all__ = ["Dual", "numpy_on_duals", "objects"]
