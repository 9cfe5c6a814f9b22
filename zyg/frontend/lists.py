"""Sequences: lists and what they share with tuples.

A list whose length is known when compiling is a record with an item per field.  Where lists of different lengths meet (a
comprehension over an array, an `append` in a loop) the list becomes a *growing* one (growing.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zyg.ir.core import Value, const
from zyg.ir.plainly import is_in_class
from zyg.remedies import OUTSIDE, qualified, remedy

from .growing import append_growing, growing_item, growing_length, part_of, refuse_mixed, require_growing, writable_list
from .kinds import is_dict, is_list, known_items
from .merging import settled
from .scalars import as_index, to_int
from .type_names import class_of, python_type_name
from .values import (
    WRITTEN,
    Abstract,
    ArrayValue,
    ChoiceValue,
    ComplexArrayValue,
    Known,
    MaybeValue,
    Number,
    RangeValue,
    Record,
    Reference,
    SliceValue,
    TupleValue,
    describe,
    known,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator


LAST = Known(-1)


def new_list(e: Evaluator, items: list[Abstract]) -> Reference:
    id = e.new_id("list")
    e.heap[id] = Record("list", None, tuple(items))
    return Reference(id)


def is_sequence(e: Evaluator, v: Abstract) -> bool:
    if isinstance(v, (TupleValue, RangeValue)) or is_list(e, v):
        return True
    cls = class_of(e, v)
    return isinstance(cls, type) and issubclass(cls, tuple)


def all_items(e: Evaluator, v: Abstract) -> tuple[Abstract, ...] | None:
    """The items of any iterable of known length (`*args`, tuple(...)); None if the length is not known."""
    items = known_items(e, v)
    if items is not None:
        return items
    if isinstance(v, RangeValue) and all(isinstance(p, Known) for p in v.parts()):
        return tuple(map(Known, range(*(p.object for p in v.parts()))))
    if isinstance(v, Known) and type(v.object) in (str, frozenset):
        return in_order(e, v)
    from . import dicts

    if is_dict(e, v):
        return dicts.keys(e, v).items
    return None


def in_order(e: Evaluator, v: Known) -> tuple[Abstract, ...]:
    """The items of a text or a set. The order of a set is that of this very object: an equal one may have another."""
    if type(v.object) is frozenset:
        e.inference.guard("order", v.object)
    return tuple(map(Known, v.object))


def length_of(e: Evaluator, v: Abstract) -> Abstract | None:
    """len(v) for what has a length here; None for anything else."""
    from . import dicts
    from .flat import FlatValue
    from .flat import length as flat_length

    if is_dict(e, v):
        assert isinstance(v, Reference)
        return Known(dicts.length(e, v))
    items = known_items(e, v)
    if items is not None:
        return Known(len(items))
    if isinstance(v, (ArrayValue, ComplexArrayValue)):
        from .arrays import length as length_of_array

        return Number(length_of_array(e, v))
    if isinstance(v, FlatValue):
        return Number(flat_length(e, v))
    if isinstance(v, RangeValue):
        from .iterators import range_length
        from .scalars import boolean

        return boolean(range_length(e, v))
    if isinstance(v, Known) and isinstance(v.object, (str, bytes, frozenset)):
        return Known(len(v.object))
    if is_list(e, v):
        assert isinstance(v, Reference)
        return Number(growing_length(e, v))
    return None


def length(e: Evaluator, v: Abstract) -> Abstract:
    result = length_of(e, v)
    if result is not None:
        return result
    if isinstance(v, ChoiceValue):
        return e.each(v, lambda one: length(e, one))
    if isinstance(v, MaybeValue) and v.absent is None:
        e.guard(v.present, "TypeError", "object of type 'NoneType' has no len()")
        return length(e, v.item)
    result = length_by_method(e, v)
    if result is not None:
        return result
    cls = class_of(e, v)
    if cls is not None and is_in_class(cls, "__len__"):
        raise e.refuse(
            f"the length of a {cls.__name__}", types=[describe(v, e.heap)], hint=remedy(qualified(cls)) or OUTSIDE
        )
    e.type_error(f"object of type '{python_type_name(e, v)}' has no len()")
    raise AssertionError


def length_by_method(e: Evaluator, v: Abstract) -> Abstract | None:
    """What an object's own `__len__` gives; None if it has none."""
    from .classes import operator_method

    found = operator_method(e, "len", v)
    if found is None:
        return None
    found = index_argument(e, found)
    e.guard(e.op("ge", to_int(e, found), const(0)), "ValueError", "__len__() should return >= 0")
    return found


def to_tuple(e: Evaluator, v: Abstract) -> Abstract:
    """tuple(v): of known length only, since a tuple's length is part of its type."""
    if isinstance(v, TupleValue):
        return v
    items = all_items(e, v)
    if items is not None:
        return TupleValue(items)
    collected = to_list(e, v)
    items = known_items(e, collected)
    if items is not None:
        return TupleValue(items)
    hint = "use an array; for an index, write its numbers out: x[k[0], k[1]]"
    raise e.refuse("a tuple whose length is not known when compiling", types=[describe(v, e.heap)], hint=hint)


def to_list(e: Evaluator, v: Abstract) -> Reference:
    from zyg.library.iterables import list_of

    items = all_items(e, v)
    if items is not None:
        return new_list(e, list(items))
    if isinstance(v, Reference) and e.heap[v.id].kind == "growing":
        return part_of(e, v, const(0), growing_length(e, v))
    result = e.call(known(list_of), [_asked_for_room(e, v)])
    assert isinstance(result, Reference)
    return result


def _asked_for_room(e: Evaluator, v: Abstract) -> Abstract:
    """What is put into a list: CPython asks an object for its length when it has its iterator, which shows if that has effects."""
    from .classes import object_record, operator_method, special
    from .iterators import make_iterator

    if object_record(e, v) is None or special(e, v, "__len__") is None:
        return v
    iterator = make_iterator(e, v)
    operator_method(e, "len", v)
    return iterator


def concatenate(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    from zyg.library.iterables import list_concatenation

    x, y = known_items(e, a), known_items(e, b)
    if x is not None and y is not None:
        return new_list(e, [*x, *y])
    return e.call(known(list_concatenation), [a, b])


def repeat(e: Evaluator, v: Reference, count: Abstract) -> Abstract:
    from zyg.library.iterables import list_repetition

    items = known_items(e, v)
    if items is not None and isinstance(count, Known):
        return new_list(e, list(items) * count.object)
    return e.call(known(list_repetition), [v, count])


def inplace(e: Evaluator, name: str, a: Reference, b: Abstract) -> Abstract:
    if name == "add":
        extend(e, a, b)
        return a
    result = repeat(e, a, index_argument(e, b, "can't multiply sequence by non-int of type '{}'"))
    assert isinstance(result, Reference)
    become(e, a, result)
    return a


def extend(e: Evaluator, v: Abstract, iterable: Abstract) -> None:
    from zyg.library.iterables import list_extension

    assert isinstance(v, Reference)
    record = writable_list(e, v)
    items = all_items(e, iterable)
    if record.kind == "list" and items is not None:
        e.heap[v.id] = record.written((*record.fields, *items))
        return
    if isinstance(iterable, Reference) and iterable.id == v.id:
        iterable = to_list(e, iterable)
    e.call(known(list_extension), [v, _asked_for_room(e, iterable)])


def become(e: Evaluator, v: Reference, other: Reference) -> None:
    """v[:] = other, of a list that nothing else refers to."""
    record, new = writable_list(e, v), e.heap[other.id]
    e.heap[v.id] = Record(new.kind, new.meta, new.fields, record.state | WRITTEN)


def slice_of(e: Evaluator, v: Reference, key: SliceValue) -> Abstract:
    from zyg.library.lists_ import list_slice

    return e.call(known(list_slice), [v, *(_slice_bound(e, p) for p in key.parts())])


SLICE_INDICES = "slice indices must be integers or None or have an __index__ method"


def _slice_bound(e: Evaluator, v: Abstract) -> Abstract:
    none = isinstance(v, Known) and v.object is None
    return v if none or isinstance(v, MaybeValue) else index_argument(e, v, SLICE_INDICES)


def set_slice(e: Evaluator, v: Reference, key: SliceValue, values: Abstract) -> None:
    """v[key] = values"""
    from zyg.library.lists_ import with_slice

    writable_list(e, v)
    if not (isinstance(key.step, Known) and key.step.object in (None, 1)):
        raise e.refuse("a change of a slice of a list with a step", hint="write a loop")
    own, new = known_items(e, v), all_items(e, values)
    bounds = (_slice_bound(e, key.start), _slice_bound(e, key.stop))
    if own is not None and new is not None and all(isinstance(b, Known) for b in bounds):
        items = list(own)
        items[slice(*(b.object for b in bounds if isinstance(b, Known)))] = new
        become(e, v, new_list(e, items))
        return
    result = e.call(known(with_slice), [v, *bounds, to_list(e, values)])
    assert isinstance(result, Reference)
    become(e, v, result)


def lists_equal(e: Evaluator, a: Abstract, b: Abstract) -> Value:
    from zyg.library.lists_ import equal_lists

    from .comparison import truth

    return truth(e, e.call(known(equal_lists), [a, b]))


def append(e: Evaluator, v: Abstract, item: Abstract) -> None:
    assert isinstance(v, Reference)
    record = writable_list(e, v)
    if record.kind == "list":
        refuse_mixed(e, record)
        e.heap[v.id] = record.written((*record.fields, item))
        return
    append_growing(e, v, item)


def index_argument(
    e: Evaluator, v: Abstract, message: str = "'{}' object cannot be interpreted as an integer"
) -> Abstract:
    """An argument that has to be an int, or have an `__index__`; `message` is that of the TypeError for others."""
    v = settled(e, v, message.format("NoneType"))
    found = as_index(e, v)
    if found is None:
        if isinstance(v, (ArrayValue, ComplexArrayValue)):
            e.type_error("only integer scalar arrays can be converted to a scalar index")
        from .classes import refuse_unless_without

        refuse_unless_without(e, v, "an object as an index", "__index__")
        e.type_error(message.format(python_type_name(e, v)))
    assert found is not None
    return found


def pop(e: Evaluator, v: Reference, key: Abstract = LAST, message: str = "pop index out of range") -> Abstract:
    """list.pop(key)"""
    from zyg.library.lists_ import pop_inside

    from .subscripts import wrapped

    record = writable_list(e, v)
    if key is not LAST:
        key = index_argument(e, key)
    if record.kind == "list" and isinstance(key, Known):
        refuse_mixed(e, record)
        items = list(record.fields)
        if not items and key is LAST:
            message = "pop from empty list"
        if not -len(items) <= key.object < len(items):
            e.throw("IndexError", message)
        item = items.pop(key.object)
        e.heap[v.id] = record.written(items)
        return item
    require_growing(e, v, [])
    if key is not LAST:
        position = wrapped(e, to_int(e, key), growing_length(e, v), message)
        return e.call(known(pop_inside), [v, Number(position)])
    record = e.heap[v.id]
    e.heap[v.id] = record.written(record.fields)
    length = growing_length(e, v)
    e.guard(e.op("gt", length, const(0)), "IndexError", "pop from empty list")
    last = e.op("sub", length, const(1))
    e.heap[v.id] = e.heap[v.id].replace(0, last)
    return growing_item(e, v, last)
