"""Loops over all elements by their indices: np.ndindex, np.ndenumerate, np.nditer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, lists, orders
from zyg.frontend.scalars import scalar_value
from zyg.frontend.values import Abstract, Known, Number, TupleValue
from zyg.ir.types import I64

from ..intrinsics import unsupported
from ..registry import emits, implements

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator


@implements(np.ndindex)
def ndindex(*shape: Any) -> Any:
    lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    count = 1
    for length in lengths:
        if length < 0:
            raise ValueError("negative dimensions are not allowed")
        count = count * length
    for n in range(count):
        yield position_of(n, lengths)


def position_of(n: int, shape: Any) -> Any:
    """The index of the element that is number n, row by row."""
    return tuple([int(i) for i in np.unravel_index(n, shape)])


@emits(position_of)
def _position_of(e: Evaluator, n: Abstract, shape: Abstract) -> Abstract:
    lengths = lists.known_items(e, shape)
    assert lengths is not None
    rest = scalar_value(e, n, I64)
    found: list[Abstract] = []
    for d in reversed(lengths[1:]):
        length = scalar_value(e, d, I64)
        found.insert(0, Number(e.op("mod", rest, length)))
        rest = e.op("floordiv", rest, length)
    return TupleValue((Number(rest), *found)) if lengths else TupleValue(())


@implements(np.ndenumerate)
def ndenumerate(arr: Any) -> Any:
    for index in np.ndindex(np.shape(arr)):
        yield index, arr[index]


@implements(np.nditer, known=("op",), instead={"flags": "loop over a.flat, or np.ndindex(a.shape)"})
def nditer(op: Any) -> Any:
    """The elements as arrays of no dimensions, in the order in which they lie in memory, which has to be that of the indices."""
    if not lies_in_order(op):
        unsupported("np.nditer of an array that may lie in memory in any order", "loop over a.flat")
    if op.size == 0:
        raise ValueError("Iteration of zero-sized operands is not enabled")
    flat = np.broadcast_to(op.ravel(), (op.size,))
    for n in range(op.size):
        yield flat[n, ...]


def lies_in_order(a: Any) -> bool:
    """Whether the type of an array tells that it is contiguous; that it was when it was put into a list is seen to later (frontend/listed.py)."""
    return a.flags.c_contiguous


@emits(lies_in_order)
def _lies_in_order(e: Evaluator, a: Abstract) -> Abstract:
    if not isinstance(a, arrays.ARRAYS) or arrays.memory(a).type.layout != "C":
        return Known(False)
    orders.record_read(e, arrays.memory(a).value, "nditer")
    return Known(True)
