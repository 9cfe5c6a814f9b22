"""What assignment and the in-place operators do to whole arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend.boundary import array_as
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
    from zyg.frontend.infer import Evaluator

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
