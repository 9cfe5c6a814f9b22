"""What assignment and the in-place operators do to whole arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend.edges import array_as
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    Known,
)
from zyg.ir.types import Array

from ..intrinsics import machine
from ..registry import emits
from .methods import copy

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, ZERO, YES = Known(None), Known(0), Known(True)


def without_overlap(a: Any, b: Any) -> Any:
    """b, or a copy of it if it shares memory with a."""
    return b.copy() if np.shares_memory(a, b) else b


@emits(without_overlap)
def _without_overlap(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    assert isinstance(a, ArrayValue) and isinstance(b, ArrayValue)
    general = Array(b.type.dtype, b.type.ndim, "A", b.type.writable)

    def copied() -> Abstract:
        fresh = copy(e, b)
        assert isinstance(fresh, ArrayValue)
        return ArrayValue(array_as(e, fresh.value, general))

    return e.if_else(e.op("overlap", a.value, b.value), copied, lambda: ArrayValue(array_as(e, b.value, general)))


def matmul_inplace(a: Any, b: Any) -> None:
    """a @= b"""
    if a.ndim >= 1 and b.ndim < 2:
        raise ValueError(
            "inplace matrix multiplication requires the first operand to have at least one and the second at least two dimensions."
        )
    result = a @ b
    if not np.can_cast(result.dtype, a.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast ufunc 'matmul' output from {result.dtype!r} to {a.dtype!r} with casting rule 'same_kind'"
        )
    if result.ndim > a.ndim:
        raise ValueError("output operand requires a reduction, but the reduction is not enabled.")
    if result.shape != a.shape[a.ndim - result.ndim :]:
        raise ValueError("matmul: Output operand 0 has a mismatch in its core dimension 1")
    a[...] = result


def wrapping_power(base: Any, exponent: Any) -> Any:
    """base ** exponent of NumPy integers, which wraps."""
    result = base * 0 + 1
    while exponent > 0:
        if exponent & 1:
            result = machine("mul", result, base)
        base = machine("mul", base, base)
        exponent >>= 1
    return result


# ---------------------------------------------------------------------------------------- scalar functions
