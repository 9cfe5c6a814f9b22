"""Kernels of our own for library code, beside those of BLAS (blas.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zyg.ir.types import I64, Scalar

from . import blas
from .registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator
    from zyg.frontend.values import Abstract
    from zyg.ir.core import Value


def rows(
    n: int, m: int, length: int, a: Any, a0: int, a1: int, b: Any, b0: int, b1: int, c: Any, c0: int, c1: int, adds: int
) -> None:
    """c = a @ b, or c += a @ b, for matrices of few doubles on any machine; each with its strides."""
    c[...] = c + a @ b if adds else a @ b


@emits(rows)
def _rows(e: Evaluator, *args: Abstract) -> Abstract:
    return _emit(e, "zyg_rows", "vvvrvvrvvmvvv", args)


def matmul(
    n: int, m: int, length: int, a: Any, a0: int, a1: int, b: Any, b0: int, b1: int, c: Any, c0: int, c1: int, adds: int
) -> None:
    """The same of any number of doubles, by a kernel or BLAS, if there is one."""
    rows(n, m, length, a, a0, a1, b, b0, b1, c, c0, c1, adds)


@emits(matmul)
def _matmul(e: Evaluator, *args: Abstract) -> Abstract:
    found = blas.provider()
    symbol = "zyg_rows" if found is None else f"zyg_matmul_{found.bits}"
    return _emit(e, symbol, "vvvrvvrvvmvvv", args)


def first_equal(n: int, row: Any, step: int, value: float) -> int:
    """The place of the first element that is `value`, or the first nan if it is one; `n` if there is none.  `step`: the bytes from
    one element to the next."""
    return next((i for i in range(n) if row[i] == value or row[i] != row[i] and value != value), n)


@emits(first_equal)
def _first_equal(e: Evaluator, *args: Abstract) -> Abstract:
    from zyg.frontend.values import Number

    return Number(_emitted(e, "zyg_first_equal", "vrvv", args, I64)[0])


def _emit(e: Evaluator, symbol: str, spec: str, args: tuple[Abstract, ...]) -> Abstract:
    from zyg.frontend.values import Known

    _emitted(e, symbol, spec, args)
    return Known(None)


def _emitted(e: Evaluator, symbol: str, spec: str, args: tuple[Abstract, ...], *result: Scalar) -> list[Value]:
    from zyg.frontend.scalars import scalar_value
    from zyg.frontend.values import ArrayValue

    operands = [v.value if isinstance(v, ArrayValue) else scalar_value(e, v) for v in args]
    returns = {"returns": True} if result else {}
    return list(e.emit("foreign", *operands, types=result, symbol=symbol, spec=spec, int=64, **returns))
