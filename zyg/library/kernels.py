"""Kernels of our own for library code, beside those of BLAS (blas.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zyg.backend.llvm import matrixmath

from .intrinsics import compiled_only
from .registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator
    from zyg.frontend.values import Abstract

AVAILABLE = matrixmath.available()
# Elements of a result of `add_dots` beyond which it is better to copy the matrices before they are multiplied.
MOST = 128 * 128
# The least numbers of rows and columns of `product`, which computes six by 32 elements at a time, and the most
# multiplications: beyond, BLAS may have threads for it.
ROWS, COLUMNS, WORK = 4, 12, 1 << 23


@compiled_only
def product(
    n: int, m: int, length: int, a: Any, step_a: int, next_a: int, b: Any, step_b: int, c: Any, step_c: int, adds: int
) -> None:
    """c = a @ b, or c += a @ b, for matrices of doubles; `step`: from one row to the next, in elements, and `next`: from one column
    to the next. Rows of b and c lie together."""


@emits(product)
def _product(e: Evaluator, *args: Abstract) -> Abstract:
    return _emit(e, "zyg_product", "vvvrvvrvmvv", args)


@compiled_only
def add_dots(n: int, m: int, length: int, a: Any, step_a: int, b: Any, step_b: int, c: Any, step_c: int) -> None:
    """c += a @ b.T for matrices of doubles; `step`: from one row to the next, in elements, whose rows lie together."""


@emits(add_dots)
def _add_dots(e: Evaluator, *args: Abstract) -> Abstract:
    return _emit(e, "zyg_add_dots", "vvvrvrvmv", args)


def rows(
    n: int, m: int, length: int, a: Any, a0: int, a1: int, b: Any, b0: int, b1: int, c: Any, c0: int, c1: int, adds: int
) -> None:
    """c = a @ b, or c += a @ b, for matrices of few doubles on any machine; each with its strides."""
    c[...] = c + a @ b if adds else a @ b


@emits(rows)
def _rows(e: Evaluator, *args: Abstract) -> Abstract:
    return _emit(e, "zyg_rows", "vvvrvvrvvmvvv", args)


def _emit(e: Evaluator, symbol: str, spec: str, args: tuple[Abstract, ...]) -> Abstract:
    from zyg.frontend.scalars import scalar_value
    from zyg.frontend.values import ArrayValue, Known

    operands = [v.value if isinstance(v, ArrayValue) else scalar_value(e, v) for v in args]
    e.emit("foreign", *operands, types=(), symbol=symbol, spec=spec, int=64)
    return Known(None)
