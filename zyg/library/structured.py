"""Structures as vectors of the numbers in them, for derivatives by all of these at once (drivers.py).

A *leaf* is a float, an array of floats, or a tuple or list of floats, which counts as a vector (nested ones as a matrix).  What
else a structure holds is constant.  A matrix of derivatives, with a row for each number of one structure and a column for each of
another, becomes a structure of structures of its blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from zyg.autodiff.helpers import empty_like
from zyg.frontend.evaluator import Evaluator
from zyg.frontend.growing import Layout
from zyg.frontend.lists import known_items
from zyg.frontend.scalars import to_float
from zyg.frontend.values import (
    GIVEN,
    MUTABLE_KINDS,
    NONE,
    READ_ONLY,
    STAND_IN,
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    Known,
    Number,
    Record,
    Reference,
    Shape,
    StructValue,
    TupleValue,
    known,
    map_leaves,
    number_type,
    reachable,
)
from zyg.gradient_classes import gradient_class
from zyg.ir.core import Value, const
from zyg.ir.types import F32, Array

from . import drivers
from .registry import emits
from .tangents import twin


def put(vector: Any, at: int, a: Any) -> None:
    flat = np.asarray(a).ravel()
    vector[at : at + flat.size] = flat


def set_part(a: Any, vector: Any, at: int) -> None:
    a[...] = vector[at : at + a.size].reshape(a.shape)


def listed(vector: Any, at: int, n: int) -> list[float]:
    return [float(vector[at + i]) for i in range(n)]


def block(matrix: Any, row: int, rows: int, column: int, columns: int, shape: tuple[int, ...]) -> Any:
    return np.ascontiguousarray(matrix[row : row + rows, column : column + columns]).reshape(shape)


def _is_float(v: Abstract) -> bool:
    scalar = number_type(v)
    return scalar is not None and scalar.kind == "f"


def _lengths(e: Evaluator, v: Abstract) -> list[Value] | None:
    """The shape of a leaf; None for what is none."""
    if _is_float(v):
        return []
    if isinstance(v, ArrayValue):
        return [e.dim(v.value, axis) for axis in range(v.type.ndim)] if v.type.dtype.kind == "f" else None
    if isinstance(v, Reference) and e.heap[v.id].kind == "growing":
        return [e.heap[v.id].fields[0]] if _is_float(_item(e, v)) else None
    items = None if isinstance(v, StructValue) else known_items(e, v)
    if not items or any(isinstance(i, ArrayValue) for i in items):
        return None
    first, *others = [_lengths(e, i) for i in items]
    if first is None or any(o is None or list(map(_key, o)) != list(map(_key, first)) for o in others):
        return None
    return [const(len(items)), *first]


def _item(e: Evaluator, v: Reference) -> Abstract:
    """What the items of a list of run-time length are like."""
    layout = e.heap[v.id].meta
    assert isinstance(layout, Layout)
    return layout.example


def _key(length: Value) -> Any:
    return getattr(length, "value", length)


def _holds_floats(e: Evaluator, v: Reference) -> bool:
    """Whether a list of run-time length has floats in it, which are not its items."""
    record = e.heap[v.id]
    return record.kind == "growing" and any(
        isinstance(x.type, Array) and x.type.dtype.kind == "f" for x in record.fields
    )


def _size(e: Evaluator, lengths: list[Value]) -> Value:
    size: Value = const(1)
    for length in lengths:
        size = e.builder.arith("mul", size, length)
    return size


def _is_structure(e: Evaluator, v: Abstract) -> bool:
    return isinstance(v, (TupleValue, StructValue)) or isinstance(v, Reference) and e.heap[v.id].kind in MUTABLE_KINDS


def _parts(e: Evaluator, v: Abstract) -> tuple[Abstract, ...]:
    if isinstance(v, Reference):
        record = e.heap[v.id]
        return () if record.kind == "growing" else record.fields
    return tuple(v.parts()) if isinstance(v, (TupleValue, StructValue)) else ()


def _leaves(e: Evaluator, v: Abstract, seen: tuple[Any, ...] = ()) -> Iterator[tuple[Abstract, list[Value]]]:
    """The leaves of a structure with their shapes, in order."""
    if isinstance(v, (ComplexValue, ComplexArrayValue)):
        e.type_error("zyg.jacobian or zyg.hessian of a structure with complex numbers in it: each " + drivers.REAL)
    lengths = _lengths(e, v)
    if lengths is not None:
        yield v, lengths
    elif isinstance(v, Reference) and _holds_floats(e, v):
        raise e.refuse("zyg.jacobian or zyg.hessian by a list of lists, or of tuples", hint="use an array")
    elif not (isinstance(v, Reference) and v.id in seen):
        for part in _parts(e, v):
            yield from _leaves(e, part, (*seen, v.id) if isinstance(v, Reference) else seen)


def _single(e: Evaluator, v: Abstract) -> bool:
    if isinstance(v, ArrayValue):
        return v.type.dtype is F32
    return number_type(v) is F32


@emits(drivers.packed)
def packed(e: Evaluator, values: Abstract) -> Abstract:
    leaves = list(_leaves(e, values))
    total: Value = const(0)
    starts = []
    for _, lengths in leaves:
        starts.append(total)
        total = e.builder.arith("add", total, _size(e, lengths))
    dtype = np.float32 if leaves and all(_single(e, v) for v, _ in leaves) else np.float64
    vector = e.call(known(np.zeros), [Number(total), known(dtype)])
    for (v, _), start in zip(leaves, starts):
        e.call(known(put), [vector, Number(start), v])
    return vector


@emits(drivers.unpacked)
def unpacked(e: Evaluator, values: Abstract, vector: Abstract, function: Abstract, others: Abstract) -> Abstract:
    at: list[Value] = [const(0)]
    made: dict[Any, Reference] = {}
    open_: list[Any] = []

    def number(v: Abstract) -> Abstract:
        assert isinstance(vector, ArrayValue)
        loaded = e.op("load", vector.value, at[0])
        at[0] = e.builder.arith("add", at[0], const(1))
        own = number_type(v)
        assert own is not None
        return Number(e.builder.cast(loaded, own), isinstance(v, Number) and v.numpy)

    def of(v: Abstract) -> Abstract:
        if _is_float(v):
            return number(v)
        if isinstance(v, ArrayValue):
            if v.type.dtype.kind != "f":
                return ArrayValue(twin(e, v.value))
            start = Number(at[0])
            at[0] = e.builder.arith("add", at[0], _size(e, _lengths(e, v) or []))
            part = ArrayValue(empty_like(e.op, v.value))
            e.call(known(set_part), [part, vector, start])
            return part
        if isinstance(v, Reference) and e.heap[v.id].kind in MUTABLE_KINDS:
            if v.id not in made:
                open_.append(v.id)
                found = of_object(v)
                open_.pop()
                return found
            if v.id not in open_:  # the numbers that it has are those of its first place
                for _, lengths in _leaves(e, v, tuple(open_)):
                    at[0] = e.builder.arith("add", at[0], _size(e, lengths))
            return made[v.id]
        if isinstance(v, (TupleValue, StructValue)):
            return v.with_parts([of(p) for p in v.parts()])
        return map_leaves(v, lambda leaf: twin(e, leaf) if isinstance(leaf.type, Array) else leaf)

    def of_object(v: Reference) -> Abstract:
        record, lengths = e.heap[v.id], _lengths(e, v)
        if record.kind == "growing" and lengths is not None:
            start = Number(at[0])
            at[0] = e.builder.arith("add", at[0], lengths[0])
            found = e.call(known(listed), [vector, start, Number(lengths[0])])
            assert isinstance(found, Reference)
            made[v.id] = stands_in(e, found, record)
            return found
        made[v.id] = Reference(e.new_id("unpacked"))
        e.heap[made[v.id].id] = record
        if record.kind == "growing":
            leaf = lambda x: twin(e, x) if isinstance(x.type, Array) else x
            fields = [map_leaves(x, leaf) for x in record.fields]
        else:
            fields = [of(x) for x in record.fields]
        e.heap[made[v.id].id] = record.with_fields(fields)
        return made[v.id]

    found = of(values)
    return TupleValue((found, replaced(e, function, made), replaced(e, others, made, copies=True)))


def stands_in(e: Evaluator, made: Reference, record: Record) -> Reference:
    """A new object in the place of the one with this record: where the program meets that one, too, they are one to it."""
    own = e.heap[made.id]
    e.heap[made.id] = Record(
        own.kind, own.meta, own.fields, own.state | (record.state & (GIVEN | READ_ONLY)) | STAND_IN
    )
    return made


def replaced(e: Evaluator, v: Abstract, made: dict[Any, Reference], copies: bool = False) -> Abstract:
    """The same structure with other objects in the place of some, and new ones for those that hold such, or all if `copies` is
    said, of arrays too."""
    heap = reachable([v], e.heap)
    ids = {i: new.id for i, new in made.items()}
    for i, record in heap.items():
        if i not in made and (copies and record.kind in MUTABLE_KINDS or made.keys() & reachable([Reference(i)], heap)):
            ids[i] = e.new_id("copy")
    rename = lambda i: ids.get(i, i)
    leaf = lambda x: twin(e, x) if copies and isinstance(x.type, Array) else x
    for i, record in heap.items():
        if i in ids and i not in made:
            e.heap[ids[i]] = record.with_fields(map_leaves(x, leaf, rename) for x in record.fields)
    return map_leaves(v, leaf, rename)


def _repeated(e: Evaluator, values: Abstract) -> list[tuple[Value, Value, Value]]:
    """Where numbers stand in a vector of those in a structure that stand in it before, as their objects do in the structure:
    where they stand first, where again, how many."""
    at: Value = const(0)
    first: dict[Any, Value] = {}
    found: list[tuple[Value, Value, Value]] = []

    def of(v: Abstract, place: tuple[Any, ...], open_: tuple[Any, ...]) -> None:
        """`place` is that in the object around it, which begins with its id."""
        nonlocal at
        if isinstance(v, Reference):
            if v.id in open_:
                return
            place, open_ = (v.id,), (*open_, v.id)
        lengths = _lengths(e, v)
        parts = _parts(e, v)
        if lengths is None or parts:
            for n, part in enumerate(parts):
                of(part, (*place, n), open_)
            return
        size = _size(e, lengths)
        if place[0] is not None and place in first:
            found.append((first[place], at, size))
        first.setdefault(place, at)
        at = e.builder.arith("add", at, size)

    of(values, (None,), ())
    return found


def show_again(matrix: Any, first: int, at: int, size: int) -> None:
    matrix[:, at : at + size] = matrix[:, first : first + size]


@emits(drivers.columns_of_one)
def columns_of_one(e: Evaluator, values: Abstract, matrix: Abstract) -> Abstract:
    for places in _repeated(e, values):
        e.call(known(show_again), [matrix, *map(Number, places)])
    return NONE


def _mirrored(e: Evaluator, v: Abstract, make: Callable[[Abstract, list[Value], Value], Abstract]) -> Abstract:
    """The structure with something in the place of each leaf, which is made of it, its shape and where it begins; None for
    what has no leaves."""
    at: list[Value] = [const(0)]
    open_: set[Any] = set()

    def of(v: Abstract) -> Abstract:
        lengths = _lengths(e, v)
        if lengths is not None:
            start = at[0]
            at[0] = e.builder.arith("add", start, _size(e, lengths))
            return make(v, lengths, start)
        if isinstance(v, Reference) and v.id in open_ or not _is_structure(e, v):
            return NONE
        if isinstance(v, Reference):
            open_.add(v.id)
        parts = tuple(of(p) for p in _parts(e, v))
        if isinstance(v, Reference):
            open_.discard(v.id)
        if all(p is NONE for p in parts):
            return NONE
        if isinstance(v, TupleValue):
            return TupleValue(parts)
        if isinstance(v, StructValue):
            return StructValue(gradient_class(v.cls, v.names), v.names, parts)
        assert isinstance(v, Reference)
        record = e.heap[v.id]
        if isinstance(record.meta, Shape):
            return StructValue(gradient_class(record.meta.cls, record.names), record.names, parts)
        id = e.new_id("derivatives")
        e.heap[id] = Record(record.kind, record.meta, parts)
        return Reference(id)

    return of(v)


@emits(drivers.blocks)
def blocks(e: Evaluator, outer: Abstract, inner: Abstract, matrix: Abstract) -> Abstract:
    assert isinstance(matrix, ArrayValue)

    def row(_: Abstract, down: list[Value], start: Value) -> Abstract:
        def entry(_: Abstract, across: list[Value], first: Value) -> Abstract:
            if not down and not across:
                return Number(e.op("load", matrix.value, start, first))
            shape = TupleValue(tuple(map(Number, (*down, *across))))
            places = [Number(v) for v in (start, _size(e, down), first, _size(e, across))]
            return e.call(known(block), [matrix, *places, shape])

        return _mirrored(e, inner, entry)

    return _mirrored(e, outer, row)


@emits(drivers.is_structure)
def is_structure(e: Evaluator, *values: Abstract) -> Abstract:
    return Known(any(_is_structure(e, v) for v in values))


@emits(drivers.as_floats)
def as_floats(e: Evaluator, args: Abstract, places: Abstract) -> Abstract:
    """An object that is given in several places is another one in all of them."""
    assert isinstance(args, TupleValue) and isinstance(places, TupleValue)
    made: dict[Any, Reference] = {}

    def of(v: Abstract) -> Abstract:
        if isinstance(v, Reference) and v.id in made:
            return made[v.id]
        items = known_items(e, v)
        if isinstance(v, Reference):
            record = e.heap[v.id]
            if record.kind == "growing":
                found = e.call(known(floats_of), [v])
                assert isinstance(found, Reference)
                made[v.id] = found
            else:
                made[v.id] = Reference(e.new_id("floats"))
                e.heap[made[v.id].id] = record.with_fields(map(of, record.fields))
            return stands_in(e, made[v.id], record)
        return Number(to_float(e, v)) if items is None else TupleValue(tuple(map(of, items)))

    found = [
        of(x) if p is not NONE and _is_vector(e, x) and _is_structure(e, x) and _lengths(e, x) is None else x
        for x, p in zip(args.items, places.items)
    ]
    return TupleValue(
        tuple(x if isinstance(x, Reference) and x in made.values() else replaced(e, x, made) for x in found)
    )


@emits(drivers.as_varied)
def as_varied(e: Evaluator, x: Abstract) -> Abstract:
    scalar = number_type(x)
    if scalar is not None and scalar.kind == "i":
        return e.call(known(float), [x])
    if isinstance(x, ArrayValue) and x.type.dtype.kind == "i":
        return e.call(known(np.asarray), [x, known(np.float64)])
    return x


def floats_of(x: list[Any]) -> list[float]:
    return [float(v) for v in x]


@emits(drivers.is_vector)
def is_vector(e: Evaluator, value: Abstract) -> Abstract:
    return Known(_is_vector(e, value))


def _is_vector(e: Evaluator, v: Abstract) -> bool:
    """Whether this is a number, or a tuple or list of numbers, nested or not, which make an array."""
    return _vector_shape(e, v) is not None


def _vector_shape(e: Evaluator, v: Abstract) -> tuple[int | None, ...] | None:
    """The shape of that array, with None for a length that is known when it runs; None for what is no such thing."""
    if isinstance(v, Reference) and e.heap[v.id].kind == "growing":
        return (None,) if number_type(_item(e, v)) is not None else None
    items = None if isinstance(v, StructValue) else known_items(e, v)
    if items is None:
        return () if number_type(v) is not None else None
    shapes = {_vector_shape(e, i) for i in items}
    if len(shapes) > 1:
        return None
    inner = shapes.pop() if shapes else ()
    return None if inner is None else (len(items), *inner)
