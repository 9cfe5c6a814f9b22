"""Growing lists: those whose length is known only when the code runs.

Such a list is a record of the number of items and an array per leaf of an item, with spare room that doubles.  So lists need no
type in the IR, and are differentiated as arrays are.

Arrays are put into a growing list by value: their elements stand one after the other in a *pool* per leaf, and an item is
where its own begin, and its shape.  It is an error to change an array that is in such a list (listed.py sees to that).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.ir.core import Instr, Value, array_type, const
from zyg.ir.records import record as as_record
from zyg.ir.types import I64, Array, Scalar

from . import pools as pools_
from .meeting import join_numbers, joined_number, met
from .merging import DEFAULT, Merge, State
from .scalars import scalar_value
from .values import (
    GIVEN,
    LENT,
    LISTED,
    READ_ONLY,
    ROW,
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    ConflictValue,
    DictValue,
    Heap,
    Known,
    Number,
    Record,
    Reference,
    Shape,
    StructValue,
    TupleValue,
    as_complex,
    describe,
    is_number,
    is_numeric,
    known,
    reachable,
    references,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator


def item_template(records: list[Any]) -> list[Abstract]:
    """Examples of items of the lists that meet."""
    examples: list[Abstract] = []
    for r in records:
        if r is DEFAULT:
            continue
        if r.kind == "growing":
            examples.append(r.meta.example)
        else:
            examples.extend(r.fields)
    return examples


def by_value(v: Abstract, heap: Heap) -> Abstract:
    """An object as it is now, to be kept in a growing list; other values as they are."""
    if isinstance(v, Reference) and heap[v.id].kind in ("list", "growing"):
        return _list_as_item(heap[v.id], heap) or v
    if isinstance(v, Reference) and isinstance(heap[v.id].meta, Shape):
        record = heap[v.id]
        return StructValue(record.shape.cls, record.names, tuple(by_value(f, heap) for f in record.fields))
    if isinstance(v, Reference) and heap[v.id].state & LENT:
        record = heap[v.id]
        return DictValue(record.names, tuple(by_value(f, heap) for f in record.fields), True)
    if isinstance(v, (TupleValue, StructValue, DictValue)):
        return v.with_parts([by_value(p, heap) for p in v.parts()])
    return v


def _moved(r: Any, state: State) -> Any:
    """The record of a list on an edge with its objects by value, if nothing else refers to them."""
    if r is DEFAULT or r.kind != "list" or not any(True for f in r.fields for _ in references(f)):
        return r
    values = [*state.slots, *(f for other in state.heap.values() for f in other.fields)]
    count = Counter(id for v in values for id in references(v))
    inside = [id for f in r.fields for id in _objects_in(f, state.heap)]
    return r.with_fields(by_value(f, state.heap) for f in r.fields) if all(count[i] == 1 for i in inside) else r


def _objects_in(v: Abstract, heap: Heap) -> list[Hashable]:
    """The objects that a value refers to, and those that they refer to."""
    return list(reachable([v], heap))


def as_item(e: Evaluator, v: Abstract) -> Abstract:
    """A value to be put into a growing list: an object by value, which then must not change any more."""
    found = _objects_in(v, e.heap)
    count = Counter(id for part in (v, *(f for o in found for f in e.heap[o].fields)) for id in references(part))
    for id in found:
        record = e.heap[id]
        if record.state & LENT:
            continue
        whole = record.kind == "object" or isinstance(by_value(Reference(id), e.heap), ListValue)
        if not whole or count[id] > 1:
            raise e.refuse(
                f"a list whose length is not known when compiling, of {describe(v, e.heap)}s",
                types=[describe(v, e.heap)],
                hint="use a tuple of them, or an array",
            )
        if record.state & (GIVEN | READ_ONLY | LISTED):
            raise e.refuse(
                f"a list whose length is not known when compiling, of objects that are somewhere else too: "
                f"{describe(Reference(id), e.heap)}",
                hint="use a tuple, or put a new object into the list",
            )
        e.heap[id] = Record(record.kind, record.meta, record.fields, record.state | LISTED)
    return by_value(v, e.heap)


class Layout:
    """How items of a growing list are stored: `example` is an item with stand-ins for leaves, `leaves` the types of the
    columns, `pools` those of the elements of arrays. Layouts of the same item type are equal.

    The record of a list holds its length, the columns, and for each pool how much of it is used, and the pool itself.  An array
    has columns for where it begins and for the lengths of its axes; and, if it is not known to be in C order, for its room and its
    strides (pools.py): `orders` says which leaves these are.
    """

    def __init__(
        self,
        example: Abstract,
        leaves: tuple[tuple[Scalar, bool], ...],
        pools: tuple[Scalar, ...] = (),
        orders: frozenset[int] = frozenset(),
    ):
        self.example = example
        self.leaves = leaves
        self.pools = pools
        self.orders = orders

    def places(self) -> list[tuple[int, int]]:
        """Of each leaf how many that are in no order come before it, and of those that are which of the order's, else -1."""
        result: list[tuple[int, int]] = []
        before = axis = 0
        for n in range(len(self.leaves)):
            result.append((before, axis if n in self.orders else -1))
            before, axis = (before, axis + 1) if n in self.orders else (before + 1, 0)
        return result

    def parts(self, record: Record) -> tuple[list[Value], list[tuple[Value, Value]]]:
        """The columns, and the pools with how much of each is used."""
        _, *columns = record.fields[: len(self.leaves) + 1]
        rest = record.fields[len(self.leaves) + 1 :]
        return columns, list(zip(rest[::2], rest[1::2]))

    def _key(self) -> Any:
        return (_outline(self.example), self.leaves, self.pools)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@as_record(slots=True, eq=False)
class ListValue(Abstract):
    """A list as an item of a growing list: the layout of its items (None if it has none), its length, and its columns, or
    its items if these are known."""

    layout: Layout | None
    length: Value
    columns: tuple[Value, ...] = ()
    items: tuple[Abstract, ...] | None = None

    def head(self) -> Hashable:
        return ("list item", self.layout)


def _list_as_item(record: Record, heap: Heap) -> ListValue | None:
    """A list whose items are numbers, or tuples of them; None for any other."""
    if record.kind == "growing":
        assert isinstance(record.meta, Layout)
        length, *columns = record.fields
        return None if record.meta.pools else ListValue(record.meta, length, tuple(columns))
    items = [by_value(item, heap) for item in record.fields]
    layout = common_layout(items)
    if items and (layout is None or layout.pools):
        return None
    return ListValue(layout, const(len(items)), items=tuple(items))


def _outline(v: Any) -> Any:
    if isinstance(v, Value):
        return v.type
    return (v.head(), *map(_outline, v.parts()))


def common_layout(items: list[Abstract], e: Evaluator | None = None) -> Layout | None:
    """The layout that all these items fit into; None if there is none (or no item to tell). `e` knows in which order arrays are."""
    leaves: list[tuple[Scalar, bool]] = []
    orders: set[int] = set()
    pools: list[Scalar] = []

    def join(vs: list[Abstract]) -> Abstract | None:
        first = vs[0]
        if all(map(is_number, vs)):
            joined = join_numbers(vs)
            if joined is None:
                return None
            leaves.append(joined)
            return joined_number(Value(joined[0]), joined[1], vs)
        if any(isinstance(v, ComplexValue) for v in vs) and all(map(is_numeric, vs)):
            numbers: list[ComplexValue] = [as_complex(v) for v in vs]
            numpy = any(v.numpy for v in numbers)
            classes = met(vs, np.complex128 if numpy else complex)
            vs = [ComplexValue(v.re, v.im, numpy, classes) for v in numbers]
            first = vs[0]
        if isinstance(first, ListValue):
            lists = [v for v in vs if isinstance(v, ListValue)]
            inner = common_layout([v.layout.example for v in lists if v.layout is not None])
            if inner is None or len(lists) < len(vs) or any(v.items is None and v.layout != inner for v in lists):
                return None
            leaves.extend([(I64, False)] * (1 + len(inner.leaves)))
            pools.extend(scalar for scalar, _ in inner.leaves)
            return ListValue(inner, Value(I64))
        if isinstance(first, ArrayValue):
            if any(v.head() != first.head() for v in vs):
                return None
            usual = e is None or all(pools_.lies_in_order(e, v.value) for v in vs if isinstance(v, ArrayValue))
            own = Array(first.type.dtype, first.type.ndim, "C" if usual else "A")
            leaves.extend([(I64, False)] * (1 + own.ndim))
            if not usual:
                orders.update(range(len(leaves), len(leaves) + 1 + own.ndim))
                leaves.extend([(I64, False)] * (1 + own.ndim))
            pools.append(own.dtype)
            return ArrayValue(Value(own))
        if isinstance(first, (TupleValue, StructValue, DictValue, ComplexValue, ComplexArrayValue)):
            if any(type(v) is not type(first) or v.head() != first.head() for v in vs):
                return None
            columns = [[v.parts()[i] for v in vs] for i in range(len(first.parts()))]
            # (of objects that are arguments there may be attributes that nobody has to know)
            unknown = isinstance(first, (StructValue, DictValue)) and first.lent
            parts = [c[0] if unknown and isinstance(c[0], ConflictValue) else join(c) for c in columns]
            return None if any(p is None for p in parts) else first.with_parts(parts)
        if isinstance(first, Known) and all(isinstance(v, Known) and v.head() == first.head() for v in vs):
            return first
        return None

    if not items:
        return None
    example = join(items)
    return None if example is None else Layout(example, tuple(leaves), tuple(pools), frozenset(orders))


def item_leaves(v: Abstract, layout: Layout) -> list[tuple[Abstract, Abstract]]:
    """The numbers, arrays and lists in an item, in the order of the layout's leaves, with their examples."""
    result: list[tuple[Abstract, Abstract]] = []

    def walk(example: Abstract, v: Abstract) -> None:
        if isinstance(example, (Number, ArrayValue, ListValue)):
            result.append((example, v))
        else:
            whole = as_complex(v) if isinstance(example, ComplexValue) else v
            for p, q in zip(example.parts(), whole.parts()):
                walk(p, q)

    walk(layout.example, v)
    return result


def merge_growing(merge: Merge, path: tuple[Any, ...], records: list[Any], states: list[State]) -> Record:
    records = [_moved(r, state) for r, state in zip(records, states)]
    layout = common_layout(item_template(records), merge.lengths.e)
    real = [r for r in records if r is not DEFAULT]
    state = real[0].state
    if layout is None:
        return Record("list", ("mixed", merge.described(item_template(records))), (), state)
    fields: list[Any] = []
    growing = [r for r in real if r.kind == "growing" and r.meta == layout]
    columns: list[Any] = [DEFAULT if r is DEFAULT else r.fields if r in growing else None for r in records]
    lengths = [c if c is DEFAULT else Value(I64) if c is None else c[0] for c in columns]
    fields.append(merge.leaf((*path, "length"), I64, lengths, False))
    for i, (scalar, _) in enumerate(layout.leaves):
        type = Array(scalar, 1)
        arrays = [c if c is DEFAULT else Value(type) if c is None else c[i + 1] for c in columns]
        fields.append(merge.leaf((*path, "data", i), type, arrays, False))
    for i, scalar in enumerate(layout.pools):
        at = len(layout.leaves) + 1 + 2 * i
        for k, type in ((at, I64), (at + 1, Array(scalar, 1))):
            values = [c if c is DEFAULT else Value(type) if c is None else c[k] for c in columns]
            fields.append(merge.leaf((*path, "pool", k), type, values, False))
    return Record("growing", layout, tuple(fields), state)


def growing_fields(merged: Record, other: Any, heap: Heap) -> Any:
    """The fields of a list on an edge with this heap, as those of the growing list that it is joined to."""
    layout = merged.meta
    assert isinstance(layout, Layout)
    if not isinstance(other, Record):
        return DEFAULT
    if other.kind == "growing" and other.meta == layout:
        return other.fields
    if other.kind == "growing":
        own = other.meta
        assert isinstance(own, Layout)
        if len(own.leaves) - len(own.orders) != len(layout.leaves) - len(layout.orders):
            return (other.fields[0], *[_real_list_of_complex] * (len(layout.leaves) + 2 * len(layout.pools)))
        there = {place: n for n, place in enumerate(own.places())}
        columns = [
            _converted(other, there[place], scalar) if place in there else _in_c_order(other)
            for place, (scalar, _) in zip(layout.places(), layout.leaves)
        ]
        return (other.fields[0], *columns, *other.fields[len(own.leaves) + 1 :])

    made: list[Value] = []  # all of it at once

    def field(i: int) -> Any:
        def make(e: Evaluator) -> Value:
            if not made:
                made.extend(_stored(e, layout, [by_value(item, heap) for item in other.fields]))
            return made[i]

        return make

    return (const(len(other.fields)), *(field(i) for i in range(len(layout.leaves) + 2 * len(layout.pools))))


def _in_c_order(other: Record) -> Any:
    """A column of rooms, or of strides, for arrays of which none were kept."""
    assert pools_.IN_C_ORDER == 0
    return lambda e: e.op("alloc", e.dim(other.fields[1], 0), type=Array(I64, 1), fill="zeros")


def _real_list_of_complex(e: Evaluator) -> Value:
    raise e.refuse(
        "complex numbers in a list of real ones whose length is not known when compiling",
        hint="begin with complex numbers: [complex(v) for v in values]",
    )


def _stored(e: Evaluator, layout: Layout, items: list[Abstract]) -> list[Value]:
    """The columns and pools of a growing list of these items."""
    room = const(max(4, len(items)))
    columns = [e.op("alloc", room, type=Array(scalar, 1), fill="empty") for scalar, _ in layout.leaves]
    pools: list[tuple[Value, Value]] = [
        (const(0), e.op("alloc", room, type=Array(scalar, 1), fill="empty")) for scalar in layout.pools
    ]
    for n, item in enumerate(items):
        _store(e, layout, columns, pools, const(n), item)
    return [*columns, *(v for pool in pools for v in pool)]


def _store(
    e: Evaluator,
    layout: Layout,
    columns: list[Value],
    pools: list[tuple[Value, Value]],
    position: Value,
    item: Abstract,
) -> None:
    """Put an item into the columns, and the elements of its arrays behind those in the pools, which may become others."""
    values: list[Value] = []
    at = 0
    for example, leaf in item_leaves(item, layout):
        if isinstance(leaf, ListValue):
            assert isinstance(example, ListValue) and example.layout is not None
            own = leaf.columns if leaf.items is None else _stored(e, example.layout, list(leaf.items))
            values.append(leaf.length)
            for column in own:
                head = Array(array_type(column).dtype, 1, "A")
                part = e.op("view", column, const(0), leaf.length, const(1), type=head, spec="s")
                values.append(pools[at][0])
                pools[at] = pools_.put(e, *pools[at], part, [leaf.length], None)
                at += 1
        elif isinstance(leaf, ArrayValue):
            lengths = [e.dim(leaf.value, axis) for axis in range(leaf.type.ndim)]
            values += [pools[at][0], *lengths]
            order = None
            if isinstance(example, ArrayValue) and example.type.layout != "C":
                order = pools_.order_of(e, leaf.value, lengths)
                values += [order[0], *order[1]]
            pools[at] = pools_.put(e, *pools[at], leaf.value, lengths, order)
            at += 1
        else:
            values.append(scalar_value(e, leaf, layout.leaves[len(values)][0]))
    for column, value in zip(columns, values):
        listing(e, "store", column, value, position)


def _converted(other: Record, i: int, scalar: Scalar) -> Any:
    array = other.fields[i + 1]
    if array.type.dtype is scalar:
        return array

    def make(e: Evaluator) -> Value:
        from zyg.library.iterables import copy_converted

        if other.state & ROW:
            raise row_of_another_type(e)

        wanted = e.op("alloc", e.dim(array, 0), type=Array(scalar, 1), fill="empty")
        e.call(known(copy_converted), [ArrayValue(array), ArrayValue(wanted), Number(other.fields[0])])
        return wanted

    return make


def require_growing(e: Evaluator, v: Reference, example: list[Abstract]) -> Layout:
    """Turn a list into a growing one that takes items like those of `example`."""
    record = e.heap[v.id]
    rows: tuple[Any, ...] = ()
    if record.kind == "list":
        rows = record.fields
        record = e.heap[v.id] = record.with_fields(as_item(e, f) for f in rows)
    items = item_template([record]) + example
    layout = common_layout(items, e)
    if layout is None:
        kinds = [describe(i, e.heap) for i in items] or ["nothing that tells the type"]
        raise e.refuse("a list whose items do not have one type", types=kinds, hint="use a tuple, or an array")
    if record.kind == "growing" and record.meta == layout:
        return layout
    if record.state & ROW:
        return _of_row(e, record.meta, layout)
    merged = Record("growing", layout, ())
    fields = [f(e) if callable(f) and not isinstance(f, Value) else f for f in growing_fields(merged, record, e.heap)]
    e.heap[v.id] = Record("growing", layout, tuple(fields), record.state)
    for position, row in enumerate(rows):
        _now_a_row(e, v, const(position), row)
    return layout


def exact_lists(e: Evaluator, v: Abstract) -> None:
    """Give the growing lists in a value arrays without spare room, as cotangents have none."""
    for id, record in reachable([v], e.heap).items():
        if record.kind == "growing":
            length, *columns = record.fields
            refuse_arrays(e, record)
            e.heap[id] = record.with_fields((length, *(copied_part(e, c, const(0), length) for c in columns)))


def is_table(record: Record) -> bool:
    """Whether a growing list is one of lists of numbers, or of tuples of them."""
    return isinstance(record.meta, Layout) and isinstance(record.meta.example, ListValue)


def refuse_arrays(e: Evaluator, record: Record) -> None:
    """For where a list of arrays would have to leave compiled code, or to have a cotangent."""
    assert isinstance(record.meta, Layout)
    if record.meta.pools:
        raise e.refuse(
            "a list of arrays whose length is not known when compiling, as an argument or a result of native code",
            hint="return np.array(xs), or a tuple",
        )


def growing_length(e: Evaluator, v: Reference) -> Value:
    record = e.heap[v.id]
    if record.kind == "growing":
        return record.fields[0]
    refuse_mixed(e, record)
    return const(len(record.fields))


def refuse_mixed(e: Evaluator, record: Record) -> None:
    if isinstance(record.meta, tuple) and record.meta and record.meta[0] == "mixed":
        types, what, hint = record.meta[1], "a list whose items do not have one type", "use a tuple, or an array"
        if len(types) == 1:
            what = "a list of objects that hold other lists or objects, or one of which stands in several places"
            hint = "make each object where it is put into the list, of numbers and arrays alone, or keep a list of numbers for each attribute"
        raise e.refuse(f"{what}, where the length of the list is known at run time only", types=types, hint=hint)


def growing_item(e: Evaluator, v: Reference, position: Value) -> Abstract:
    """The item at an index that is in range."""
    layout = require_growing(e, v, [])
    columns, pools = layout.parts(e.heap[v.id])
    values, data = iter(columns), iter(pools)

    def build(example: Any) -> Any:
        if isinstance(example, Number):
            return Number(e.op("load", next(values), position), example.numpy, example.classes)
        if isinstance(example, ListValue):
            assert example.layout is not None
            count = e.op("load", next(values), position)
            starts = [e.op("load", next(values), position) for _ in example.layout.leaves]
            own = [pools_.take(e, next(data)[1], start, [count]) for start in starts]
            id = e.new_id("listed")
            of_table = e.heap[v.id].state
            row = ROW if is_table(e.heap[v.id]) and not of_table & GIVEN else 0  # and not in a tuple
            state = LISTED | row | (of_table & (READ_ONLY | GIVEN))
            e.heap[id] = Record("growing", example.layout, (count, *own), state)
            return Reference(id)
        if isinstance(example, ArrayValue):
            start, *lengths = [e.op("load", next(values), position) for _ in range(1 + example.type.ndim)]
            pool = next(data)[1]
            if example.type.layout == "C":
                return ArrayValue(pools_.take(e, pool, start, lengths))
            room, *strides = [e.op("load", next(values), position) for _ in range(1 + example.type.ndim)]
            return ArrayValue(pools_.take_in_order(e, pool, start, lengths, room, strides))
        parts = example.parts()
        built = example.with_parts([build(p) for p in parts]) if parts else example
        return _taken_out(e, built) if isinstance(built, DictValue) else built

    return build(layout.example)


def _taken_out(e: Evaluator, v: DictValue) -> Reference:
    """A dict out of a list, which must not be changed: the list would not see it."""
    id = e.new_id("dict item")
    e.heap[id] = Record("dict", v.names, v.items, (READ_ONLY | LENT) if v.lent else LISTED)
    return Reference(id)


def store_growing(e: Evaluator, v: Reference, position: Value, item: Abstract) -> None:
    """v[position] = item"""
    if e.heap[v.id].state & ROW:
        _store_in_row(e, v, position, item)
        return
    given, item = item, as_item(e, item)
    layout = require_growing(e, v, [item])
    record = writable_list(e, v)
    columns, pools = layout.parts(record)
    _store(e, layout, columns, pools, position, item)
    e.heap[v.id] = record.written((record.fields[0], *columns, *(v for pool in pools for v in pool)))
    _now_a_row(e, v, position, given)


def _now_a_row(e: Evaluator, v: Reference, position: Value, item: Abstract) -> None:
    """A list was put into another one: from now on it is its part of that one's memory, by whatever name it is known."""
    if isinstance(item, Reference) and is_table(e.heap[v.id]):
        row = growing_item(e, v, position)
        assert isinstance(row, Reference)
        e.heap[item.id] = e.heap[row.id]


def growing_meta(e: Evaluator, v: Reference) -> Layout:
    meta = e.heap[v.id].meta
    assert isinstance(meta, Layout)
    return meta


def _store_in_row(e: Evaluator, v: Reference, position: Value, item: Abstract) -> None:
    """An item of a list that is an item of a growing list: in the memory of that one (listed.py sees to other names for it)."""
    layout = growing_meta(e, v)
    item = by_value(item, e.heap)
    _of_row(e, layout, common_layout([layout.example, item]))
    columns, _ = layout.parts(e.heap[v.id])
    for column, (_, leaf), (scalar, _) in zip(columns, item_leaves(item, layout), layout.leaves):
        e.emit("store", column, scalar_value(e, leaf, scalar), position)
        e.inference.row_stores.add(e.latest)


def _of_row(e: Evaluator, own: Any, wanted: Layout | None) -> Layout:
    """The layout of a list that is an item of a list: it takes what has its type, whatever class that would have in CPython."""
    if not isinstance(own, Layout) or wanted is None or (own.leaves, own.pools) != (wanted.leaves, wanted.pools):
        of_numpy = (
            isinstance(own, Layout)
            and wanted is not None
            and [scalar for scalar, _ in own.leaves] == [scalar for scalar, _ in wanted.leaves]
        )
        raise row_of_another_type(e, of_numpy)
    return own


def row_of_another_type(e: Evaluator, of_numpy: bool = False) -> Exception:
    """`of_numpy`: it differs in whether its numbers are Python's or NumPy's, for which 1 / 0.0 is not the same."""
    return e.refuse(
        "a list in a list whose length is not known when compiling gets an item of another type"
        + (": one of Python's numbers and NumPy's, of which elements of arrays are" if of_numpy else ""),
        hint="write float(x)" if of_numpy else "begin with items of that type: [0.0] * n for floats",
    )


def append_growing(e: Evaluator, v: Reference, item: Abstract) -> None:
    given, item = item, as_item(e, item)
    layout = require_growing(e, v, [item])
    length = e.heap[v.id].fields[0]
    arrays, pools = layout.parts(e.heap[v.id])
    if not arrays:
        e.heap[v.id] = e.heap[v.id].written((e.op("add", length, const(1)),))
        return
    room = e.dim(arrays[0], 0)
    full = e.op("ge", length, room)
    grow, go_on = e.split(full, "grow", "append")
    join = e.join()
    heap = e.heap
    e.at(grow)
    wider = []
    double = e.op("mul", e.op("add", room, const(2)), const(2))
    for array in arrays:
        wider.append(ArrayValue(copied_part(e, array, const(0), room, double)))
    join.add(TupleValue(tuple(wider)))
    e.at(go_on)
    e.heap = heap
    join.add(TupleValue(tuple(map(ArrayValue, arrays))))
    joined = join.finish()
    assert isinstance(joined, TupleValue)
    data = tuple(a.value for a in joined.items if isinstance(a, ArrayValue))
    e.heap[v.id] = e.heap[v.id].written((length, *data, *(v for pool in pools for v in pool)))
    store_growing(e, v, length, item)
    e.heap[v.id] = e.heap[v.id].replace(0, e.op("add", length, const(1)))
    _now_a_row(e, v, length, given)


def writable_list(e: Evaluator, v: Reference) -> Record:
    from .classes import writable

    return writable(e, v, "a change")


def part_of(e: Evaluator, v: Reference, first: Value, count: Value) -> Reference:
    """v[first : first + count], in range, as a new list."""
    layout = require_growing(e, v, [])
    columns, pools = layout.parts(e.heap[v.id])
    columns = [copied_part(e, column, first, count) for column in columns]
    filled: list[Value] = []
    for fill, data in pools:
        filled += [fill, copied_part(e, data, const(0), fill)]
        e.inference.pooled.add(e.latest)  # what is in the list is in another one now
    id = e.new_id("list")
    e.heap[id] = Record("growing", layout, (count, *columns, *filled))
    return Reference(id)


def copied_part(e: Evaluator, array: Value, first: Value, count: Value, room: Value | None = None) -> Value:
    """array[first : first + count] as a new array, with more room behind it if wanted."""
    assert isinstance(array.type, Array)
    copy = e.op("alloc", room if room is not None else count, type=array.type, fill="empty")
    if room is not None:
        e.inference.grown.add(e.latest)
    head = Array(array.type.dtype, 1, "A")
    to = listing_view(e, copy, const(0), count, head)
    listing(e, "copyto", to, listing_view(e, array, first, count, head))
    return copy


def listing_view(e: Evaluator, array: Value, first: Value, count: Value, type: Array) -> Value:
    """A part of a list's memory that only the list itself deals with."""
    part = e.op("view", array, first, count, const(1), type=type, spec="s")
    e.inference.listings.add(e.latest)
    return part


def listing(e: Evaluator, op: str, *operands: Value) -> Instr:
    """An instruction by which a list changes what it is made of."""
    e.emit(op, *operands)
    e.inference.listings.add(e.latest)
    return e.latest
