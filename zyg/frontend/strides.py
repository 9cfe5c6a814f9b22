"""What is known of strides when compiling, and the order of axes that follows from it.

The axes of an array in C order lie one inside of the other, and so do those of its views, in another order.  So which of two of its
strides is the larger one is known, but for axes of length 1, along which a stride says nothing: and by this NumPy's order of the axes of a
result (orders.py).  Where that is known whatever lengths are 1, the result is in C order by its type, or known to be an array in C order
whose axes are seen in another order.  Else the loops on it need two versions.

An array without elements is taken for one like others.  NumPy's have strides of 0, by which what such arrays are joined with, or a sum
over no elements, may lie otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, NamedTuple

from zyg.ir.core import Const, Value, array_type, const

from .sized import alike, is_known_one, is_not_one

if TYPE_CHECKING:
    from .evaluator import Evaluator


class Place(NamedTuple):
    """Of a stride: it is that along an axis of an array in C order, or along a part of one that was split, or a part of that; and every
    so manieth element is seen."""

    array: Value
    axes: tuple[int, ...]
    step: int = 1


class Stride:
    """A stride in bytes, which is computed where it is asked for, as mostly its place tells enough."""

    __slots__ = ("_bytes", "place")

    def __init__(self, bytes: Value | Callable[[], Value], place: Place | None = None):
        self._bytes, self.place = bytes, place

    @property
    def bytes(self) -> Value:
        return self._bytes if isinstance(self._bytes, Value) else self._bytes()

    @property
    def number(self) -> int | None:
        return self._bytes.value if isinstance(self._bytes, Const) else None

    def part(self, e: Evaluator, lengths: Sequence[Value], n: int) -> Stride:
        """That along one of the axes, of these lengths, that its axis was split into."""
        place = self.place
        bytes = lambda: reduce(partial(e.builder.arith, "mul"), lengths[n + 1 :], self.bytes)
        return Stride(bytes, None if place is None else place._replace(axes=(*place.axes, n)))

    def times(self, e: Evaluator, step: Value) -> Stride:
        """That along every so manieth element."""
        place = self.place
        if place is not None:
            place = place._replace(step=place.step * abs(step.value)) if isinstance(step, Const) else None
        return Stride(lambda: e.builder.arith("mul", self.bytes, step), place)


REPEATED = Stride(const(0))
# Per axis the length and the stride that tell; one element says nothing, nor does a stride of 0.
Steps = list[tuple[Value, Stride]]


def split(e: Evaluator, array: Value, shape: Sequence[Value]) -> list[int] | None:
    """The axis that each axis of an array is (a part of) when it is seen in another shape of the same size, if one axis alone is another
    one or several then, which it can always be seen as."""
    own = [e.dim(array, axis) for axis in range(array_type(array).ndim)]
    begin = end = 0
    while begin < min(len(own), len(shape)) and alike(e, own[begin], shape[begin]):
        begin += 1
    while end < min(len(own), len(shape)) - begin and alike(e, own[-1 - end], shape[-1 - end]):
        end += 1
    if len(own) - begin - end != 1 or len(shape) - begin - end < 1:
        return None
    return [*range(begin), *[begin] * (len(shape) - begin - end), *range(begin + 1, len(own))]


def known_order(
    e: Evaluator,
    shape: Sequence[Value],
    told: Sequence[Steps],
    kept: Sequence[int],
    inwards: bool = False,
) -> tuple[int, ...] | None:
    """The axes of a result from the outermost to the innermost one, by NumPy's insertion sort; None if that is not known.  `told`: of
    the operands the steps along each axis of an iteration, of which these are `kept`.  `inwards`: the sort begins with the first axis,
    and strides of 0 are compared as well."""
    places = {axis: k for k, axis in enumerate(kept)}
    found: list[tuple[list[int], frozenset[Value]]] = []
    try:
        for order, ones in _orders(_Sort(e, told, inwards), {}):
            found.append(([places[axis] for axis in order if axis in places], ones))
    except _Unknown:
        return None
    whole = found[0][0]  # if none of the lengths of which that is not known is 1
    many = [k for k in whole if not is_known_one(e, shape[k])]
    for order, ones in found:
        # It does not matter where an axis of length 1 is.
        own = [k for k in many if shape[k] not in ones]
        if [k for k in order if k in own] != own:
            return None
    return tuple(range(len(shape))) if many == sorted(many) else tuple(whole)


GUESSES = 4  # lengths of which each may be 1 or not


class _Open(Exception):
    """The order depends on whether a length is 1."""


class _Unknown(Exception):
    """The order depends on more than that."""


def _orders(sort: _Sort, assumed: dict[Value, bool]) -> Iterator[tuple[list[int], frozenset[Value]]]:
    """The orders that there may be, each with the lengths that are 1 then."""
    try:
        yield sort.run(assumed), frozenset(d for d, one in assumed.items() if one)
    except _Open as open:
        if len(assumed) == GUESSES:
            raise _Unknown from None
        for one in (False, True):
            yield from _orders(sort, {**assumed, open.args[0]: one})


class _Sort:
    """npyiter_find_best_axis_ordering, and PyArray_CreateMultiSortedStridePerm `inwards`."""

    def __init__(self, e: Evaluator, told: Sequence[Steps], inwards: bool):
        self.e, self.told, self.inwards = e, told, inwards

    def run(self, assumed: dict[Value, bool]) -> list[int]:
        """The axes from the outermost to the innermost one, if these lengths are 1."""
        axes = range(len(self.told[0]))
        says = [[self.says(length, stride, assumed) for length, stride in steps] for steps in self.told]
        placed: list[int] = []
        for new in axes if self.inwards else reversed(axes):
            at = len(placed)
            for k in reversed(range(len(placed))):
                rows = [row for row, said in enumerate(says) if said[new] and said[placed[k]]]
                if any(self.stays(row, new, placed[k]) for row in rows):
                    break
                if rows:
                    at = k
            placed.insert(at, new)
        return placed if self.inwards else placed[::-1]

    def says(self, length: Value, stride: Stride, assumed: dict[Value, bool]) -> bool:
        """Whether an operand has more than one element along an axis, and they are not one."""
        if is_known_one(self.e, length) or not self.inwards and stride.number == 0:
            return False
        if is_not_one(self.e, length):
            return True
        if length not in assumed:
            raise _Open(length)
        return not assumed[length]

    def stays(self, row: int, new: int, placed: int) -> bool:
        """Whether the new axis is not to change places with the one that was placed."""
        (_, one), (_, other) = self.told[row][new], self.told[row][placed]
        if self.inwards:
            one, other = other, one
        if one.number is not None and other.number is not None:
            return abs(one.number) >= abs(other.number)
        if one.number == 0 or other.number == 0:
            return other.number == 0
        x, y = one.place, other.place
        if x is None or y is None or x.array is not y.array:
            raise _Unknown
        if x.axes == y.axes:  # windows along it
            return x.step >= y.step
        shared = min(len(x.axes), len(y.axes))
        if x.axes[:shared] == y.axes[:shared]:
            raise _Unknown  # windows, and parts of them
        return x.axes < y.axes


__all__ = ["Place", "Steps", "Stride", "known_order", "split"]
