"""`a.flat`: all elements of an array, row by row, for loops and indices; and `a.flags`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from zyg.ir.core import Value, const
from zyg.ir.overtaking import OVERTAKING_FLAT
from zyg.ir.records import record
from zyg.ir.types import I64

from . import arrays, indexing, lists
from .merging import settled
from .scalars import boolean, scalar_value, to_int
from .values import (
    NONE,
    Abstract,
    AttributedValue,
    Known,
    Number,
    SliceValue,
    describe,
    is_number,
    is_numeric,
    number_type,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator


@record(slots=True, eq=False)
class FlatValue(Abstract):
    """`array` itself, or seen with one axis where it is contiguous."""

    of_array = True

    array: Abstract

    def head(self) -> Hashable:
        return ("flat", self.array.head())

    def parts(self) -> tuple[Any, ...]:
        return (self.array,)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return FlatValue(parts[0])


def flat_of(e: Evaluator, a: Abstract) -> FlatValue:
    from .selection import flat

    return FlatValue(flat(e, a) if arrays.memory(a).type.layout == "C" else a)


def length(e: Evaluator, v: FlatValue) -> Value:
    return scalar_value(e, arrays.size(e, v.array), I64)


def load(e: Evaluator, v: FlatValue, position: Value) -> Abstract:
    """An element, by its position in range."""
    return indexing.load(e, v.array, _indices(e, v, position))


def _indices(e: Evaluator, v: FlatValue, position: Value) -> list[Value]:
    lengths = arrays.dims(e, v.array)
    result: list[Value] = []
    for d in reversed(lengths[1:]):
        result.insert(0, e.op("mod", position, d))
        position = e.op("floordiv", position, d)
    return [position, *result] if lengths else []


def _position(e: Evaluator, v: FlatValue, key: Abstract) -> Value:
    from .subscripts import wrapped

    size = length(e, v)
    index = to_int(e, key)
    if not e.options.boundscheck:
        return wrapped(e, index, size, "")
    position = e.op("select", e.op("lt", index, const(0)), e.op("add", index, size), index)
    inside = e.op("and", e.op("ge", position, const(0)), e.op("lt", position, size))
    e.guard(inside, "IndexError", "index {} is out of bounds for size {}", index, size)
    return position


def _is_integer(key: Abstract) -> bool:
    scalar = number_type(key)
    return is_number(key) and scalar is not None and scalar.kind in "iu"


def get_item(e: Evaluator, v: FlatValue, key: Abstract) -> Abstract:
    """An element, or a copy of several."""
    from zyg.library.numpy_.methods import copy

    from .selection import flat

    key = settled(e, key, indexing.BAD_INDEX)
    if _is_integer(key):
        return load(e, v, _position(e, v, key))
    result = indexing.get_item(e, flat(e, v.array), key)
    return copy(e, result) if isinstance(result, arrays.ARRAYS) else result


def set_item(e: Evaluator, v: FlatValue, key: Abstract, value: Abstract) -> None:
    """Set elements; as many values as there are, again and again."""
    from zyg.library.numpy_.ranges import arange
    from zyg.library.numpy_.taking import put_at
    from zyg.library.numpy_.views import as_array

    from .selection import flat

    key = settled(e, key, indexing.BAD_INDEX)
    arrays.check_writable(e, arrays.memory(v.array))
    if _is_integer(key):
        if isinstance(value, arrays.ARRAYS) and arrays.ndim(value) == 0:
            value = arrays.scalar_of(e, value)
        elif isinstance(value, arrays.ARRAYS) or lists.is_sequence(e, value):
            e.throw("ValueError", "Error setting single item of array.")
    if _is_integer(key) and is_numeric(value):
        indexing.store(e, v.array, _indices(e, v, _position(e, v, key)), value)
        return
    places = indexing.get_item(e, arange(e, Number(length(e, v))), key)
    put_at(e, v.array, flat(e, as_array(e, places)), flat(e, as_array(e, value)))


def assign(e: Evaluator, a: Abstract, value: Abstract) -> None:
    """`a.flat = value`: of as many elements NumPy takes a copy first; else it goes in order, and would read what it has written."""
    from zyg.library.numpy_.methods import copy

    if isinstance(value, arrays.ARRAYS):
        to, source = arrays.memory(a), arrays.memory(value)
        if type(value) is type(a) and to.type.dtype is source.type.dtype and to.value is not source.value:
            other = e.op("ne", *(length(e, FlatValue(v)) for v in (a, value)))
            e.guard(
                e.op("not", e.op("and", other, e.op("overlap", to.value, source.value))), "ValueError", OVERTAKING_FLAT
            )
        value = copy(e, value)
    set_item(e, flat_of(e, a), SliceValue(NONE, NONE, NONE), value)


FLAGS = ("c_contiguous", "f_contiguous", "contiguous", "fortran", "fnc", "forc", "writeable", "aligned", "behaved")


@record(slots=True, eq=False)
class FlagsValue(AttributedValue):
    """`a.flags`"""

    of_array = True

    array: Abstract

    def head(self) -> Hashable:
        return ("flags", self.array.head())

    def parts(self) -> tuple[Any, ...]:
        return (self.array,)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return FlagsValue(parts[0])

    def attribute(self, e: Evaluator, name: str) -> Abstract:
        a = self.array
        writable = arrays.memory(a).type.writable
        if name not in FLAGS:
            raise e.refuse(f"flags.{name} of an array", types=[describe(a)], hint="known are " + ", ".join(FLAGS))
        if name in ("writeable", "aligned", "behaved"):
            return Known(writable or name == "aligned")
        c = arrays.is_contiguous(e, a)
        if name in ("c_contiguous", "contiguous"):
            return boolean(c)
        f = arrays.is_contiguous(e, arrays.permuted(e, a, range(arrays.ndim(a))[::-1]))
        if name == "f_contiguous":
            return boolean(f)
        if name == "forc":
            return boolean(e.op("or", c, f))
        return boolean(e.op("and", f, e.op("not", c)))


# The attributes that a key of `a.flags` stands for.
_KEYS = dict.fromkeys(("C", "CONTIGUOUS", "C_CONTIGUOUS"), "c_contiguous")
_KEYS |= dict.fromkeys(("F", "FORTRAN", "F_CONTIGUOUS"), "f_contiguous")
_KEYS |= {
    "W": "writeable",
    "WRITEABLE": "writeable",
    "A": "aligned",
    "ALIGNED": "aligned",
    "B": "behaved",
    "BEHAVED": "behaved",
}
_KEYS |= {"FNC": "fnc", "FORC": "forc"}
_OTHERS = ("O", "OWNDATA", "X", "WRITEBACKIFCOPY", "CA", "CARRAY", "FA", "FARRAY")


def flag(e: Evaluator, v: FlagsValue, key: Abstract) -> Abstract:
    """a.flags[key]"""
    if not isinstance(key, Known):
        raise e.refuse("a flag of an array by a name that is not known when compiling", hint="write the name out")
    if key.object in _OTHERS:
        raise e.refuse(f"flags[{key.object!r}] of an array", hint="known are " + ", ".join(map(repr, _KEYS)))
    if key.object not in _KEYS:
        e.throw("KeyError", "Unknown flag")
    return v.attribute(e, _KEYS[key.object])
