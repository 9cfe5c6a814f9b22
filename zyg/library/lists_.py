"""Methods of lists and dictionaries, sorting, and what indexing and comparing lists of run-time length means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zyg.frontend import classes, dicts, growing, lists
from zyg.frontend.functions import unchecked
from zyg.frontend.scalars import scalar_value, to_int
from zyg.frontend.type_names import class_of
from zyg.frontend.values import NONE, Abstract, Known, Reference, TupleValue, describe, known, reachable
from zyg.ir.core import const

from .iterables import same_item
from .registry import emits, implements

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

FALSE = Known(False)

# ------------------------------------------------------------------------------------------------- lists


@emits((list, "append"))
def _append(e: Evaluator, v: Abstract, item: Abstract) -> Abstract:
    lists.append(e, v, item)
    return NONE


@emits((list, "extend"))
def _extend(e: Evaluator, v: Abstract, iterable: Abstract) -> Abstract:
    lists.extend(e, v, iterable)
    return NONE


@emits((list, "pop"))
def _pop(e: Evaluator, v: Abstract, index: Abstract = lists.LAST) -> Abstract:
    assert isinstance(v, Reference)
    return lists.pop(e, v, index)


@unchecked
def pop_inside(items: list[Any], index: int) -> Any:
    """items.pop(index) for an index in range"""
    result = items[index]
    for k in range(index, len(items) - 1):
        items[k] = items[k + 1]
    items.pop()
    return result


@emits((list, "insert"))
def _insert(e: Evaluator, v: Abstract, index: Abstract, item: Abstract) -> Abstract:
    assert isinstance(v, Reference)
    items = lists.known_items(e, v)
    index = lists.index_argument(e, index)
    if items is not None and isinstance(index, Known):
        changed = list(items)
        changed.insert(index.object, item)
        e.heap[v.id] = classes.writable(e, v, "a change").written(changed)
        return NONE
    return e.call(known(insert_inside), [v, index, item])


@unchecked
def insert_inside(items: list[Any], index: int, item: Any) -> None:
    """items.insert(index, item)"""
    size = len(items)
    if index < 0:
        index = max(index + size, 0)
    items.append(item)
    for k in range(size, min(index, size), -1):
        items[k] = items[k - 1]
    items[min(index, size)] = item


@implements((list, "remove"))
def _remove(items: Any, value: Any) -> None:
    for k in range(len(items)):
        if same_item(items[k], value):
            items.pop(k)
            return
    raise ValueError("list.remove(x): x not in list")


@emits((list, "clear"))
def _clear(e: Evaluator, v: Abstract) -> Abstract:
    assert isinstance(v, Reference)
    lists.become(e, v, lists.new_list(e, []))
    return NONE


@implements((list, "copy"))
def _copy(items: Any) -> Any:
    return list(items)


@emits((list, "reverse"))
def _reverse(e: Evaluator, v: Abstract) -> Abstract:
    assert isinstance(v, Reference)
    items = lists.known_items(e, v)
    if items is None:
        return e.call(known(reverse_inside), [v])
    e.heap[v.id] = classes.writable(e, v, "a change").written(items[::-1])
    return NONE


@unchecked
def reverse_inside(items: list[Any]) -> None:
    size = len(items)
    for k in range(size // 2):
        items[k], items[size - 1 - k] = items[size - 1 - k], items[k]


@unchecked
def list_slice(items: list[Any], start: Any, stop: Any, step: Any) -> list[Any]:
    """items[start:stop:step]"""
    size = len(items)
    by = 1 if step is None else step
    if by == 0:
        raise ValueError("slice step cannot be zero")
    low, high = (0, size) if by > 0 else (-1, size - 1)
    first = (low if by > 0 else high) if start is None else start
    if start is not None:
        if first < 0:
            first = max(first + size, low)
        else:
            first = min(first, high)
    last = (high if by > 0 else low) if stop is None else stop
    if stop is not None:
        if last < 0:
            last = max(last + size, low)
        else:
            last = min(last, high)
    if by == 1:
        return part(items, first, max(last - first, 0))
    result = []
    for k in range(first, last, by):
        result.append(items[k])
    return result


def with_slice(items: list[Any], start: Any, stop: Any, values: list[Any]) -> list[Any]:
    """What items[start:stop] = values makes of items."""
    size = len(items)
    first, last = 0, size
    if start is not None:
        first = min(start, size) if start >= 0 else max(start + size, 0)
    if stop is not None:
        last = min(stop, size) if stop >= 0 else max(stop + size, 0)
    result = part(items, 0, first)
    result.extend(values)
    last = max(first, last)
    result.extend(part(items, last, size - last))
    return result


def part(items: list[Any], first: int, count: int) -> list[Any]:
    """items[first : first + count], in range"""
    return items[first : first + count]


@emits(part)
def _part(e: Evaluator, v: Abstract, first: Abstract, count: Abstract) -> Abstract:
    assert isinstance(v, Reference)
    return growing.part_of(e, v, to_int(e, first), to_int(e, count))


@unchecked
def equal_lists(a: list[Any], b: list[Any]) -> bool:
    """a == b"""
    if len(a) != len(b):
        return False
    for k in range(len(a)):  # noqa: SIM110
        if not same_item(a[k], b[k]):
            return False
    return True


# ----------------------------------------------------------------------------------------------- sorting


@implements(sorted)
def _sorted(iterable: Any, /, *, key: Any = None, reverse: bool = False) -> Any:
    result = list(iterable)
    result.sort(key=key, reverse=reverse)
    return result


@emits((list, "sort"))
def _sort(e: Evaluator, v: Abstract, *, key: Abstract = NONE, reverse: Abstract = FALSE) -> Abstract:
    assert isinstance(v, Reference)
    held = e.heap[v.id].references()
    if v.id in reachable([key, *map(Reference, held)], e.heap):
        raise e.refuse(
            "a list that is looked at while it is sorted (Python shows an empty one then)", hint="use sorted(...)"
        )
    return e.call(known(sort_inside), [v], {"key": key, "reverse": reverse})


def sort_inside(items: Any, *, key: Any = None, reverse: bool = False) -> None:
    if len(items) > 0:
        if key is None:
            sort_by(items, items[:], reverse)
        else:
            sort_by(items, [key(x) for x in items], reverse)


@unchecked
def sort_by(items: list[Any], keys: list[Any], reverse: bool) -> None:
    """Stable merge sort of the positions by their keys, from runs of one up; the items are moved once, in the end."""
    size = len(items)
    order = [0] * size
    for k in range(size):
        order[k] = k
    other = order[:]
    width = 1
    while width < size:
        start = 0
        while start < size:
            middle, end = min(start + width, size), min(start + 2 * width, size)
            i, j = start, middle
            for k in range(start, end):
                # The first one of equals goes first, also if the order is reversed.
                if j >= end:
                    left = True
                elif i >= middle:
                    left = False
                elif reverse:
                    left = not keys[order[i]] < keys[order[j]]
                else:
                    left = not keys[order[j]] < keys[order[i]]
                if left:
                    other[k] = order[i]
                    i += 1
                else:
                    other[k] = order[j]
                    j += 1
            start = end
        order, other = other, order
        width *= 2
    before = items[:]
    for k in range(size):
        items[k] = before[order[k]]


# ------------------------------------------------------------------------------------------ dictionaries


@emits(dict)
def _dict(e: Evaluator, v: Abstract | None = None, /, **items: Abstract) -> Abstract:
    return dicts.new_dict(e, (dicts.from_value(e, v) if v is not None else {}) | items)


@emits((dict, "get"))
def _get(e: Evaluator, v: Abstract, key: Abstract, default: Abstract = NONE) -> Abstract:
    assert isinstance(v, Reference)
    return dicts.get(e, v, key, default)


@emits((dict, "pop"))
def _dict_pop(e: Evaluator, v: Abstract, key: Abstract, default: Abstract | None = None) -> Abstract:
    assert isinstance(v, Reference)
    return dicts.pop(e, v, key, default)


@emits((dict, "setdefault"))
def _setdefault(e: Evaluator, v: Abstract, key: Abstract, default: Abstract = NONE) -> Abstract:
    assert isinstance(v, Reference)
    return dicts.setdefault(e, v, key, default)


@emits((dict, "update"))
def _update(e: Evaluator, v: Abstract, other: Abstract | None = None, /, **items: Abstract) -> Abstract:
    dicts.update(e, v, other if other is not None else TupleValue(()), items)
    return NONE


@emits((dict, "copy"))
def _dict_copy(e: Evaluator, v: Abstract) -> Abstract:
    return dicts.new_dict(e, dicts.named_items(e, v))


@emits((dict, "clear"))
def _dict_clear(e: Evaluator, v: Abstract) -> Abstract:
    assert isinstance(v, Reference)
    e.heap[v.id] = classes.writable(e, v, "a change").with_named({})
    return NONE


@emits((dict, "keys"))
def _keys(e: Evaluator, v: Abstract) -> Abstract:
    return dicts.view(e, "keys", v)


@emits((dict, "values"))
def _values(e: Evaluator, v: Abstract) -> Abstract:
    return dicts.view(e, "values", v)


@emits((dict, "items"))
def _items(e: Evaluator, v: Abstract) -> Abstract:
    return dicts.view(e, "items", v)


# ----------------------------------------------------------------------------------------------- objects


@emits(super)
def _super(e: Evaluator, *args: Abstract) -> Abstract:
    return classes.super_value(e, args)


@emits(object.__init__)
def _object_init(e: Evaluator, *args: Abstract, **keywords: Abstract) -> Abstract:
    """Of a class with an `__init__` or `__new__` of its own, who takes arguments has to keep them to itself."""
    if not args:
        e.type_error("descriptor '__init__' of 'object' object needs an argument")
    cls = class_of(e, args[0])
    if not classes.is_object_class(cls):
        raise e.refuse(f"object.__init__() of {describe(args[0], e.heap)}", hint="leave it out")
    found = classes.look_up(e, cls, "__init__")
    own = found is not None and found[1] is not object.__init__
    if len(args) > 1 or keywords:
        name = "object" if own else cls.__name__
        e.type_error(f"{name}.__init__() takes exactly one argument (the instance to initialize)")
    return NONE


_BY_NAME = 'write the name out, or keep the numbers in a dict: d["x"]'


@emits(getattr)
def get_by_name(e: Evaluator, v: Abstract, name: Abstract, default: Abstract | None = None) -> Abstract:
    if not isinstance(name, Known) or type(name.object) is not str:
        raise e.refuse("getattr() with a name that is not known when compiling", hint=_BY_NAME)
    if default is None:
        return classes.get_attribute(e, v, name.object)
    has = classes.has_attribute(e, v, name.object)
    there = const(has.object) if isinstance(has, Known) else scalar_value(e, has)
    return e.if_else(there, lambda: classes.get_attribute(e, v, name.object), lambda: default)


@emits(hasattr)
def has_by_name(e: Evaluator, v: Abstract, name: Abstract) -> Abstract:
    if not isinstance(name, Known) or type(name.object) is not str:
        raise e.refuse("hasattr() with a name that is not known when compiling", hint=_BY_NAME)
    return classes.has_attribute(e, v, name.object)


@emits(object.__setattr__)
def _store(e: Evaluator, v: Abstract, name: Abstract, value: Abstract) -> Abstract:
    if not isinstance(name, Known) or type(name.object) is not str:
        raise e.refuse("object.__setattr__ with a name that is not known when compiling", hint=_BY_NAME)
    classes.store_attribute(e, v, name.object, value)
    return NONE


@emits(setattr)
def _setattr(e: Evaluator, v: Abstract, name: Abstract, value: Abstract) -> Abstract:
    if not isinstance(name, Known) or type(name.object) is not str:
        raise e.refuse("setattr() with a name that is not known when compiling", hint=_BY_NAME)
    classes.set_attribute(e, v, name.object, value)
    return NONE
