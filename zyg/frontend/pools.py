"""Arrays in the pools of growing lists (growing.py): their elements stand one after the other, in the order in which they lay.

What is known to be in C order is kept without more than its lengths. Of other arrays there are a *room* and a stride per axis, in
elements, by which one that is taken out lies as the one did that was put in: along which axis of two the stride is larger, where it is
0 or negative, and whether the array is contiguous, in C order or Fortran's. Only how large the gaps are between elements is not kept:
the room is 2 if there are any, so that every second place is free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from zyg.ir.core import Instr, Value, array_type, const
from zyg.ir.types import Array

from .values import ArrayValue

if TYPE_CHECKING:
    from .evaluator import Evaluator

IN_C_ORDER = 0  # as a room: there are no strides
# What of an array tells whether there are gaps, and how large they are (names for orders.record_read).
CONTIGUITY = frozenset({"flags", "nditer"})
GAPS = frozenset({"strides"})


def lies_in_order(e: Evaluator, array: Value) -> bool:
    from .orders import sorted_strides  # on demand: only arrays have an order

    return array_type(array).ndim < 2 or sorted_strides(e, array, repeats=False)


def order_of(e: Evaluator, array: Value, lengths: list[Value]) -> tuple[Value, list[Value]]:
    """The room and the strides by which an array is put into a pool."""
    from .orders import stride

    turned = _before_turn(e, array)
    if turned is not None:
        contiguous: dict[int, Value] = {}
        inside: Value = const(1)
        for axis in reversed(turned[1]):
            contiguous[axis], length = inside, lengths[axis]
            inside = e.op("mul", inside, e.op("select", e.op("eq", length, const(0)), const(1), length))
        return const(1), [contiguous[axis] for axis in range(len(lengths))]
    item = const(_item(array))
    given = [stride(e, array, axis).bytes for axis in range(len(lengths))]
    sizes = [e.op("abs", step) for step in given]
    seen = _seen(e, lengths, [e.op("eq", step, const(0)) for step in given])
    steps: list[Value] = []
    gaps: Value = const(False)
    for k, size in enumerate(sizes):
        step: Value = const(1)
        for j, other in enumerate(sizes):
            if j != k:
                inside = e.op("lt" if j < k else "le", other, size)
                step = e.op("mul", step, e.op("select", inside, seen[j], const(1)))
        steps.append(step)
        apart = e.op("ne", size, e.op("mul", step, item))
        gaps = e.op("or", gaps, e.op("and", apart, e.op("gt", seen[k], const(1))))
    room = e.op("select", gaps, const(2), const(1))
    # The last axis may be that of real and imaginary part, which stay next to each other.
    beside = e.op("eq", sizes[-1], item)
    factors = [room] * (len(steps) - 1) + [e.op("select", beside, const(1), room)]
    result = []
    for step, factor, own in zip(steps, factors, given):
        step = e.op("mul", step, factor)
        step = e.op("select", e.op("lt", own, const(0)), e.op("sub", const(0), step), step)
        result.append(e.op("select", e.op("eq", own, const(0)), const(0), step))
    return room, result


def _before_turn(e: Evaluator, array: Value) -> tuple[Value, Sequence[int]] | None:
    """What an array was before its axes were put into another order, if that is in C order, and where each of them went."""
    from .orders import seems
    from .turned import before

    found = before(e, array)
    if found is None or array_type(found[0]).layout != "C" or e.seeming and seems(e, array):
        return None
    return found


def _item(array: Value) -> int:
    return max(1, array_type(array).dtype.bits // 8)


def _seen(e: Evaluator, lengths: list[Value], repeats: list[Value]) -> list[Value]:
    """The lengths without repetitions."""
    several = [e.op("and", again, e.op("gt", d, const(1))) for d, again in zip(lengths, repeats)]
    return [e.op("select", again, const(1), d) for d, again in zip(lengths, several)]


def put(
    e: Evaluator, fill: Value, pool: Value, array: Value, lengths: list[Value], order: tuple[Value, list[Value]] | None
) -> tuple[Value, Value]:
    """A pool, made larger if need be, with the elements of an array behind those that it has."""
    from .growing import copied_part, listing

    lost = frozenset[str]()
    if array_type(array).layout != "C":
        lost = GAPS if order is not None else GAPS | CONTIGUITY
    turned = _before_turn(e, array) if order is not None else None
    if turned is not None:
        # There are no gaps: its elements are copied as they stand in memory.
        array, order = turned[0], None
        lengths = [lengths[axis] for axis in turned[1]]
    if order is not None:
        repeats = [e.op("eq", step, const(0)) for step in order[1]]
        lengths = _seen(e, lengths, repeats)
        slices = [v for d in lengths for v in (const(0), d, const(1))]
        shown = Array(array_type(array).dtype, len(lengths), "A", array_type(array).writable)
        array = e.op("view", array, *slices, type=shown, spec="s" * len(lengths))
    size = product(e, lengths if order is None else [*lengths, order[0]])
    end = e.op("add", fill, size)
    room = e.dim(pool, 0)

    def larger() -> ArrayValue:
        double = e.op("mul", room, const(2))
        wanted = e.op("select", e.op("gt", end, double), end, double)
        return ArrayValue(copied_part(e, pool, const(0), fill, wanted))

    found = e.if_else(e.op("gt", end, room), larger, lambda: ArrayValue(pool))
    assert isinstance(found, ArrayValue)
    to = _elements(e, found.value, fill, size, lengths, order, e.inference.listings.add)
    copied = listing(e, "copyto", to, array)
    e.inference.pooled.add(copied)
    if lost:
        e.inference.lost[copied] = lost
    return end, found.value


def take(e: Evaluator, pool: Value, start: Value, lengths: list[Value]) -> Value:
    """An array in C order whose elements stand in a pool."""
    return _elements(e, pool, start, product(e, lengths), lengths, None)


def take_in_order(
    e: Evaluator, pool: Value, start: Value, lengths: list[Value], room: Value, strides: list[Value]
) -> Value:
    """An array as it was put in."""
    usual = e.op("eq", room, const(IN_C_ORDER))
    step: Value = const(1)
    steps: list[Value] = []
    for length, own in zip(reversed(lengths), reversed(strides)):
        steps.insert(0, e.op("select", usual, step, own))
        step = e.op("mul", step, length)
    room = e.op("select", usual, const(1), room)
    seen = _seen(e, lengths, [e.op("eq", step, const(0)) for step in steps])
    found = _elements(e, pool, start, product(e, [*seen, room]), seen, (room, steps))
    return e.op("broadcast", found, *lengths, type=Array(array_type(pool).dtype, len(lengths), "A"))


def _elements(
    e: Evaluator,
    pool: Value,
    start: Value,
    size: Value,
    lengths: list[Value],
    order: tuple[Value, list[Value]] | None,
    made: Callable[[Instr], None] = lambda _: None,
) -> Value:
    """A part of a pool, seen as an array."""
    dtype, n = array_type(pool).dtype, len(lengths)
    part = e.op("view", pool, start, size, const(1), type=Array(dtype, 1), spec="s")
    made(e.latest)
    shape = lengths if order is None else [*lengths, order[0]]
    seen = e.op("reshape", part, *shape, type=Array(dtype, len(shape)))
    made(e.latest)
    if order is None:
        return seen
    item = const(_item(pool))
    strides = [e.op("mul", step, item) for step in order[1]]
    laid = e.op("strided", seen, *strides, item, type=Array(dtype, n + 1, "A"))
    made(e.latest)
    first = e.op("view", laid, const(0), type=Array(dtype, n, "A"), spec=":" * n + "i")
    made(e.latest)
    return first


def product(e: Evaluator, lengths: list[Value]) -> Value:
    size: Value = const(1)
    for length in lengths:
        size = e.op("mul", size, length)
    return size
