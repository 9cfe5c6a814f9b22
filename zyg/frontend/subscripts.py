"""x[key], x[key] = v, unpacking, and `in`."""

from __future__ import annotations

from enum import EnumType
from types import ClassMethodDescriptorType, FunctionType, GenericAlias
from typing import TYPE_CHECKING, Generic

from zyg.ir.core import Const, Value, const

from . import arrays, dicts, flat, growing, indexing, kinds, lists
from .comparison import same_item
from .exceptions import no_text
from .later import numpy_numbers
from .meeting import join_numbers, joined_number
from .merging import settled
from .scalars import any_of, as_index, boolean, scalar_value, to_int
from .type_names import python_type_name
from .values import (
    NONE,
    Abstract,
    ChoiceValue,
    ComplexValue,
    DictView,
    Known,
    Number,
    RangeValue,
    Reference,
    SliceValue,
    StructValue,
    TupleValue,
    describe,
    is_number,
    is_numeric,
    is_reference,
    known,
    number_type,
    options_of,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator


def get_item(e: Evaluator, v: Abstract, key: Abstract) -> Abstract:
    no_text(e, v, key)
    v = settled(e, v, "'NoneType' object is not subscriptable")
    if isinstance(v, arrays.ARRAYS):
        return indexing.get_item(e, v, key)
    if isinstance(v, flat.FlagsValue):
        return flat.flag(e, v, key)
    if isinstance(v, flat.FlatValue):
        return flat.get_item(e, v, key)
    if isinstance(v, (Number, ComplexValue)) and v.numpy:
        return numpy_numbers.item(e, v, key)
    if isinstance(v, DictView):
        e.type_error(f"'dict_{v.name}' object is not subscriptable")
    items = kinds.known_items(e, v)
    if items is not None:
        return _item_of(e, v, items, key)
    if kinds.is_list(e, v):
        assert isinstance(v, Reference)
        return _growing_item(e, v, key)
    if isinstance(v, RangeValue):
        return _range_item(e, v, key)
    if isinstance(v, Known):
        return _known_item(e, v, key)
    if kinds.is_dict(e, v):
        assert isinstance(v, Reference)
        return dicts.get_item(e, v, key)
    if isinstance(v, ChoiceValue) and is_reference(v):
        return e.each(v, lambda option: get_item(e, option, key))
    from .classes import operator_method, refuse_unless_without

    result = operator_method(e, "getitem", v, key)
    if result is not None:
        return result
    refuse_unless_without(e, v, "an item of an object", "__getitem__")
    e.type_error(f"'{python_type_name(e, v)}' object is not subscriptable")
    raise AssertionError


def is_index(v: Abstract) -> bool:
    scalar = number_type(v)
    return scalar is not None and scalar.kind in "iub"


def _item_of(e: Evaluator, v: Abstract, items: tuple[Abstract, ...], key: Abstract) -> Abstract:
    kind = "list" if kinds.is_list(e, v) else "tuple"
    key = settled(e, key, f"{kind} indices must be integers or slices, not NoneType")
    if isinstance(key, SliceValue) and kind == "list" and not all(isinstance(p, Known) for p in key.parts()):
        assert isinstance(v, Reference)
        return lists.slice_of(e, v, key)
    if isinstance(key, SliceValue):
        part = items[known_slice(e, key)]
        return lists.new_list(e, list(part)) if kind == "list" else TupleValue(part)
    key = _position(e, key, kind)
    if isinstance(key, Known):
        try:
            return items[key.object]
        except IndexError:
            e.throw("IndexError", f"{kind} index out of range")
    if not items:
        e.throw("IndexError", f"{kind} index out of range")
    position = wrapped(e, to_int(e, key), const(len(items)), f"{kind} index out of range")
    return choose(e, position, items)


def _position(e: Evaluator, key: Abstract, kind: str) -> Abstract:
    """A key of a list or its like as an int."""
    return lists.index_argument(e, key, kind + " indices must be integers or slices, not {}")


def known_slice(e: Evaluator, key: SliceValue) -> slice:
    parts = []
    for p in key.parts():
        if not isinstance(p, Known):
            raise e.refuse(
                "a slice of a tuple whose bounds are not known when compiling", types=[describe(p)], hint="use an array"
            )
        parts.append(p.object)
    try:
        slice(*parts).indices(1)
    except (ValueError, TypeError) as error:
        e.throw(type(error).__name__, str(error))
    return slice(*parts)


def wrapped(e: Evaluator, index: Value, length: Value, message: str) -> Value:
    """An index counted from the start, in range: negative ones count from the end."""
    low = e.op("lt", index, const(0))
    position = e.op("select", low, e.op("add", index, length), index)
    if e.options.boundscheck:
        inside = e.op("and", e.op("ge", position, const(0)), e.op("lt", position, length))
        e.guard(inside, "IndexError", message)
    return position


def choose(e: Evaluator, position: Value, items: tuple[Abstract, ...]) -> Abstract:
    """items[position] for a position in range: a chain of selects over items of one type."""
    first = items[0]
    if len(items) == 1:
        return first
    if all(map(is_number, items)):
        joined = join_numbers(list(items))
        if joined is not None:
            kinds = {number_type(i) for i in items}
            if len(kinds) > 1:
                raise e.refuse(
                    "an index that is not known when compiling, into a tuple of different types",
                    types=[describe(i) for i in items],
                    hint="make all items floats (or all ints)",
                )
            scalar, numpy = joined
            values = [scalar_value(e, i, scalar) for i in items]
            result = values[-1]
            for n in range(len(values) - 2, -1, -1):
                result = e.op("select", e.op("eq", position, const(n)), values[n], result)
            return joined_number(result, numpy, items)
    if all(type(i) is type(first) and i.head() == first.head() for i in items):
        if isinstance(first, (TupleValue, StructValue)):
            columns = [choose(e, position, tuple(i.parts()[k] for i in items)) for k in range(len(first.parts()))]
            return first.with_parts(columns)
        if isinstance(first, Known):
            return first
    return switch(e, position, items)


def switch(e: Evaluator, position: Value, items: tuple[Abstract, ...]) -> Abstract:
    """The same by control flow, for what cannot be selected (functions, arrays)."""
    join = e.join()
    heap = e.heap
    for n, item in enumerate(items[:-1]):
        here, following = e.split(e.op("eq", position, const(n)), "item", "next_item")
        e.at(here)
        join.add(item)
        e.heap = dict(heap)
        e.at(following)
    join.add(items[-1])
    return join.finish()


def _growing_item(e: Evaluator, v: Reference, key: Abstract) -> Abstract:
    if isinstance(key, SliceValue):
        return lists.slice_of(e, v, key)
    key = _position(e, key, "list")
    position = wrapped(e, to_int(e, key), growing.growing_length(e, v), "list index out of range")
    return growing.growing_item(e, v, position)


def _range_item(e: Evaluator, v: RangeValue, key: Abstract) -> Abstract:
    from .iterators import range_length, range_slice

    if isinstance(key, SliceValue):
        return range_slice(e, v, key)
    key = _position(e, key, "range")
    position = wrapped(e, to_int(e, key), range_length(e, v), "range object index out of range")
    start, step = to_int(e, v.start), to_int(e, v.step)
    return Number(e.op("stop", e.op("add", start, e.op("mul", position, step))))


_CHARACTERS = 16  # of a string, at most, that are told apart when the code runs


def _character(e: Evaluator, text: str, key: Abstract) -> Abstract:
    """A character at a place that is known when the code runs only."""
    if len(text) > _CHARACTERS:
        raise e.refuse("an item of a long string", types=[describe(key)], hint="use numbers, or a shorter string")
    if not text:
        e.throw("IndexError", "string index out of range")
    position = wrapped(e, to_int(e, key), const(len(text)), "string index out of range")
    return switch(e, position, tuple(map(Known, text)))


def _known_item(e: Evaluator, v: Known, key: Abstract) -> Abstract:
    from zyg.library import registry

    if isinstance(v.object, str):
        if isinstance(key, SliceValue):
            return Known(v.object[known_slice(e, key)])
        place = as_index(e, key)
        if isinstance(place, Known):
            try:
                return Known(v.object[place.object])
            except IndexError as error:
                e.throw("IndexError", str(error))
        if place is not None:
            return _character(e, v.object, place)
    entry = registry.method(type(v.object), "__getitem__")
    if entry is not None:
        return entry.function(e, v, key)
    if isinstance(v.object, (dict, list)):
        raise e.refuse(f"a {type(v.object).__name__} from outside of the function", hint="use a tuple, or an array")
    from .classes import refuse_unless_without

    if isinstance(v.object, type):
        return _class_item(e, v, v.object, key)

    if isinstance(v.object, str):
        e.type_error(f"string indices must be integers, not '{python_type_name(e, key)}'")
    refuse_unless_without(e, v, "an item of an object", "__getitem__")
    e.type_error(f"'{type(v.object).__name__}' object is not subscriptable")
    raise AssertionError


def _class_item(e: Evaluator, v: Known, cls: type, key: Abstract) -> Abstract:
    """cls[key]: what the class of the class, or else its own `__class_getitem__` says. Of what is generic it is the class, to compiled
    code."""
    from .classes import get_attribute, is_kind, look_up, refuse_unless_without
    from .construction import call_known

    by_metaclass = look_up(e, type(cls), "__getitem__")
    if by_metaclass is not None:
        if type(by_metaclass[1]) is FunctionType and by_metaclass[0] is not EnumType:
            return call_known(e, by_metaclass[1], [v, key])
        refuse_unless_without(e, v, "an item of an object", "__getitem__")
    found = look_up(e, cls, "__class_getitem__")
    if found is None or found[1] is None:
        if found is None:
            refuse_unless_without(e, v, f"an item of {cls.__name__}", "__getattr__", "__getattribute__")
        e.type_error(f"type '{cls.__name__}' is not subscriptable")
    assert found is not None
    owner, held = found
    makes_alias = isinstance(held, classmethod) and held.__func__ is GenericAlias
    if owner is Generic or makes_alias or type(held) is ClassMethodDescriptorType:
        parts = kinds.known_items(e, key) or (key,)
        if not all(type(k) is Known and not isinstance(k.object, (int, float, complex)) for k in parts):
            raise e.refuse(f"{cls.__name__}[...] of what is no type", hint="write types there")
        return known(cls)
    if type(held) is not FunctionType and not is_kind(held, classmethod) and not is_kind(held, staticmethod):
        raise e.refuse(f"{cls.__name__}[...] by what is no class method", hint="write `__class_getitem__` as one")
    return e.call(get_attribute(e, v, "__class_getitem__"), [key])


# ------------------------------------------------------------------------------------------------ storing


def set_item(e: Evaluator, v: Abstract, key: Abstract, value: Abstract) -> None:
    v = settled(e, v, "'NoneType' object does not support item assignment")
    if isinstance(v, arrays.ARRAYS):
        indexing.set_item(e, v, key, value)
        return
    if isinstance(v, flat.FlatValue):
        flat.set_item(e, v, key, value)
        return
    if kinds.is_dict(e, v):
        assert isinstance(v, Reference)
        dicts.set_item(e, v, key, value)
        return
    if isinstance(v, ChoiceValue) and is_reference(v):
        e.each(v, lambda option: set_item(e, option, key, value) or NONE)
        return
    if kinds.is_list(e, v):
        assert isinstance(v, Reference)
        _set_list_item(e, v, key, value)
        return
    from .classes import operator_method, refuse_unless_without

    if operator_method(e, "setitem", v, key, value) is None:
        refuse_unless_without(e, v, "an assignment to an item of an object", "__setitem__")
        e.type_error(f"'{python_type_name(e, v)}' object does not support item assignment")


def del_item(e: Evaluator, v: Abstract, key: Abstract) -> None:
    """del v[key]"""
    v = settled(e, v, "'NoneType' object doesn't support item deletion")
    if kinds.is_dict(e, v):
        assert isinstance(v, Reference)
        dicts.del_item(e, v, key)
        return
    if kinds.is_list(e, v):
        assert isinstance(v, Reference)
        if isinstance(key, SliceValue):
            lists.set_slice(e, v, key, TupleValue(()))
            return
        lists.pop(e, v, key, "list assignment index out of range")
        return
    from .classes import operator_method, refuse_unless_without

    if operator_method(e, "delitem", v, key) is None:
        refuse_unless_without(e, v, "`del` of an item of an object", "__delitem__")
        e.type_error(f"'{python_type_name(e, v)}' object doesn't support item deletion")


def _set_list_item(e: Evaluator, v: Reference, key: Abstract, value: Abstract) -> None:
    from .classes import writable

    record = writable(e, v, "an assignment to an item", in_place=not isinstance(key, SliceValue))
    growing.refuse_mixed(e, record)
    if isinstance(key, SliceValue):
        lists.set_slice(e, v, key, value)
        return
    key = _position(e, key, "list")
    if record.kind == "list" and isinstance(key, Known):
        n = len(record.fields)
        if not -n <= key.object < n:
            e.throw("IndexError", "list assignment index out of range")
        fields = list(record.fields)
        fields[key.object % n] = value
        e.heap[v.id] = record.written(fields)
        return
    length = growing.growing_length(e, v)
    position = wrapped(e, to_int(e, key), length, "list assignment index out of range")
    growing.store_growing(e, v, position, value)


# ---------------------------------------------------------------------------------------------- unpacking


def unpack(e: Evaluator, v: Abstract, count: int) -> list[Abstract]:
    """The items of an iterable, of which there have to be `count`."""
    v = settled(e, v, "cannot unpack non-iterable NoneType object")
    items = lists.all_items(e, v)
    if items is not None:
        _check_count(e, len(items), count)
        return list(items)
    if isinstance(v, arrays.ARRAYS):
        if arrays.ndim(v) == 0:
            e.type_error("iteration over a 0-d array")
        length = arrays.length(e, v)
        e.guard(
            e.op("ge", length, const(count)),
            "ValueError",
            f"not enough values to unpack (expected {count}, got {{}})",
            length,
        )
        e.guard(e.op("le", length, const(count)), "ValueError", f"too many values to unpack (expected {count})")
        return [indexing.element_or_row(e, v, const(n)) for n in range(count)]
    if is_numeric(v):
        e.type_error(f"cannot unpack non-iterable {python_type_name(e, v)} object")
    return _unpack_iterator(e, v, count)


def _check_count(e: Evaluator, found: int, count: int) -> None:
    if found < count:
        e.throw("ValueError", f"not enough values to unpack (expected {count}, got {found})")
    if found > count:
        e.throw("ValueError", f"too many values to unpack (expected {count})")


def _unpack_iterator(e: Evaluator, v: Abstract, count: int) -> list[Abstract]:
    from . import iterators

    iterator = iterators.make_iterator(e, v)
    items: list[Abstract] = []
    for n in range(count):
        join = e.join()

        def too_few(n: int = n) -> None:
            e.throw("ValueError", f"not enough values to unpack (expected {count}, got {n})")

        carried = TupleValue(tuple(items))
        iterators.advance(
            e, iterator, lambda x, carried=carried, join=join: join.add(TupleValue((*carried.items, x))), too_few
        )
        joined = join.finish()
        assert isinstance(joined, TupleValue)
        items = list(joined.items)
    join = e.join()
    carried = TupleValue(tuple(items))

    def too_many(_: Abstract) -> None:
        e.throw("ValueError", f"too many values to unpack (expected {count})")

    iterators.advance(e, iterator, too_many, lambda: join.add(carried))
    joined = join.finish()
    assert isinstance(joined, TupleValue)
    return list(joined.items)


def unpack_rest(e: Evaluator, v: Abstract, before: int, after: int) -> list[Abstract]:
    """a, *rest, z = v"""
    v = settled(e, v, "cannot unpack non-iterable NoneType object")
    items = lists.all_items(e, v)
    if items is not None:
        if len(items) < before + after:
            e.throw("ValueError", f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
        rest = lists.new_list(e, list(items[before : len(items) - after]))
        return [*items[:before], rest, *items[len(items) - after :]]
    if isinstance(v, arrays.ARRAYS) and arrays.ndim(v) > 0:
        length = arrays.length(e, v)
        message = f"not enough values to unpack (expected at least {before + after}, got {{}})"
        e.guard(e.op("ge", length, const(before + after)), "ValueError", message, length)
        end = e.op("sub", length, const(after))
        middle = indexing.get_item(e, v, SliceValue(Known(before), Number(end), Known(None)))
        firsts = [indexing.element_or_row(e, v, const(n)) for n in range(before)]
        lasts = [indexing.element_or_row(e, v, e.op("add", end, const(n))) for n in range(after)]
        return [*firsts, lists.to_list(e, middle), *lasts]
    if kinds.is_list(e, v):
        assert isinstance(v, Reference)
        count = growing.growing_length(e, v)
        message = f"not enough values to unpack (expected at least {before + after}, got {{}})"
        e.guard(e.op("ge", count, const(before + after)), "ValueError", message, count)
        end = e.op("sub", count, const(after))
        ends = [growing.growing_item(e, v, const(n)) for n in range(before)]
        ends += [growing.growing_item(e, v, e.op("add", end, const(n))) for n in range(after)]
        rest = growing.part_of(e, v, const(before), e.op("sub", end, const(before)))
        return [*ends[:before], rest, *ends[before:]]
    return unpack_rest(e, lists.to_list(e, v), before, after)


# ------------------------------------------------------------------------------------------- containment


def contains(e: Evaluator, item: Abstract, container: Abstract) -> Abstract:
    """item in container"""
    container = settled(e, container, "argument of type 'NoneType' is not iterable")
    no_text(e, item, container)
    if isinstance(container, Known) and type(container.object) is frozenset:
        items = tuple(map(Known, container.object))
    else:
        items = kinds.known_items(e, container)
    if items is not None:
        return boolean(_is_among(e, item, items))
    if kinds.is_dict(e, container):
        assert isinstance(container, Reference)
        return boolean(dicts.contains(e, container, item))
    if _is_text(container):
        item = settled(e, item, "'in <string>' requires string as left operand, not NoneType")
        return _contains_text(e, item, container)
    from .classes import operator_method

    own = operator_method(e, "contains", container, item)
    if own is not None:
        from .comparison import truth

        return boolean(truth(e, own))
    from zyg.library import iterables

    if isinstance(container, RangeValue) and is_index(item):
        return e.call(known(iterables.range_contains), [container, item])
    if isinstance(container, arrays.ARRAYS):
        return e.call(known(iterables.contains_in_array), [item, container])
    return e.call(known(iterables.contains), [item, container])


def _is_text(v: Abstract) -> bool:
    """Whether it is a str, or one of several, all known when compiling."""
    return all(
        isinstance(o, Known) and isinstance(o.object, str) and type(o.object).__contains__ is str.__contains__
        for o in options_of(v)
    )


def _contains_text(e: Evaluator, item: Abstract, container: Abstract) -> Abstract:
    if isinstance(container, ChoiceValue):
        return e.each(container, lambda option: _contains_text(e, item, option))
    if isinstance(item, ChoiceValue):
        return e.each(item, lambda option: _contains_text(e, option, container))
    assert isinstance(container, Known)
    if isinstance(item, Known) and isinstance(item.object, str):
        return Known(item.object in container.object)
    e.type_error(f"'in <string>' requires string as left operand, not {python_type_name(e, item)}")
    raise AssertionError


def _is_among(e: Evaluator, item: Abstract, items: tuple[Abstract, ...]) -> Value:
    result: Value = const(False)
    for n, x in enumerate(items):
        flag = same_item(e, x, item)
        if isinstance(flag, Const):
            if flag.value:
                return flag
        elif is_reference(x) or is_reference(item):  # objects are not asked behind the first that is equal
            others = lambda n=n: boolean(_is_among(e, item, items[n + 1 :]))
            found = scalar_value(e, e.if_else(flag, lambda: Known(True), others))
            return any_of(e, result, found)
        else:
            result = any_of(e, result, flag)
    return result
