"""Derivatives that are programs over others: written in Python, and compiled with the functions they are called for.

`jvp`, `pullback` and `grad` mean here what they mean in any compiled code, so these nest and differentiate.  What they lack
there is `several`, which carries several tangents through one run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import zyg

LANES = 4  # measured: see docs/decisions


def several(function: Any, args: tuple[Any, ...], tangents: tuple[Any, ...], lanes: int) -> tuple[Any, Any]:
    """`zyg.jvp` with `lanes` tangents at once: a tuple for a number, one more dimension, the last, for an array."""
    raise NotImplementedError


def copies(values: Any) -> Any:
    """The same structure with copies of all arrays and of what can be changed."""
    raise NotImplementedError


def pushforward(function: Any, *args: Any, **keywords: Any) -> Any:
    kept = copies(args)

    def push(*tangents: Any) -> Any:
        return zyg.jvp(function, copies(kept), tangents, **keywords)[1]

    return zyg.jvp(function, args, tuple([None for _ in args]), **keywords)[0], push


def hvp(function: Any, x: Any, v: Any, **keywords: Any) -> Any:
    return zyg.jvp(zyg.grad(function), (x,), (v,), **keywords)[1]


def hessian(function: Any, x: Any, **keywords: Any) -> Any:
    if isinstance(x, np.ndarray):
        return _hessian_of_array(function, x, **keywords)
    second = zyg.jvp(zyg.grad(function), (x,), (1.0,), **keywords)[1]
    return 0.0 if second is None else second


def _hessian_of_array(function: Any, x: Any, **keywords: Any) -> Any:
    n = x.size
    result = np.zeros((n, n))
    for start in range(0, n, LANES):
        seeds = np.zeros((n, LANES))
        for k in range(min(LANES, n - start)):
            seeds[start + k, k] = 1.0
        tangents = (seeds.reshape((*x.shape, LANES)),)
        columns = several(zyg.grad(function), (copies(x),), tangents, LANES, **keywords)[1]
        if columns is not None:
            flat = columns.reshape((n, LANES))
            for row in range(n):
                for k in range(min(LANES, n - start)):
                    result[row, start + k] = flat[row, k]
    return result.reshape(x.shape + x.shape)
