"""Kernels of our own for library code, beside those of BLAS (blas.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zyg.backend.llvm import matrixmath

from .registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator
    from zyg.frontend.values import Abstract

AVAILABLE = matrixmath.available()
# Elements of a result for which there is a better way: matrices that are packed before they are multiplied.
MOST = 128 * 128


def add_dots(n: int, m: int, length: int, a: Any, step_a: int, b: Any, step_b: int, c: Any, step_c: int) -> None:
    """c += a @ b.T for matrices of doubles; `step`: from one row to the next, in elements, whose rows lie together."""
    raise TypeError("for compiled code")


@emits(add_dots)
def _add_dots(e: Evaluator, *args: Abstract) -> Abstract:
    from zyg.frontend.scalars import scalar_value
    from zyg.frontend.values import ArrayValue, Known

    operands = [v.value if isinstance(v, ArrayValue) else scalar_value(e, v) for v in args]
    e.emit("foreign", *operands, types=(), symbol="zyg_add_dots", spec="vvvrvrvmv", int=64)
    return Known(None)
