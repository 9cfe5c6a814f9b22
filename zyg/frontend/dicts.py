"""Dictionaries whose keys are strings that are known when compiling: objects with a field per key, in order.

Where control flow meets with different keys, those that only some of the paths have are optional: a lookup checks, but
what needs all keys (a loop, the length) is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from zyg.errors import as_called
from zyg.ir.core import Instr, Value, const
from zyg.ir.plainly import has_plainly
from zyg.typeof import UNBOUND

from . import lists
from .kinds import is_dict, is_list, known_items
from .type_names import python_type_name
from .values import (
    NONE,
    UNORDERED,
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    DictView,
    FunctionValue,
    Known,
    MaybeValue,
    MethodValue,
    Record,
    Reference,
    TupleValue,
    describe,
    is_number,
    is_numeric,
    known,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator

HINT = "use strings that are written out as keys, an object, or an array"


def new_dict(e: Evaluator, items: Mapping[str, Abstract]) -> Reference:
    id = e.new_id("dict")
    e.heap[id] = Record("dict", tuple(items), tuple(items.values()))
    return Reference(id)


def _writable(e: Evaluator, v: Reference) -> Record:
    from .classes import writable

    return writable(e, v, "a change")


def named_items(e: Evaluator, v: Abstract, ordered: bool = True) -> dict[str, Abstract]:
    """The items of a dict all of whose keys are known; also of a constant one, as defaults of parameters are. `ordered`: in their order,
    which has to be the same on all paths then."""
    if isinstance(v, Known) and isinstance(v.object, dict):
        return {k: known(x) for k, x in v.object.items()}
    if isinstance(v, Reference) and e.heap[v.id].kind == "dict":
        items = e.heap[v.id].named()
        for key, item in items.items():
            if isinstance(item, MaybeValue) and item.absent is UNBOUND:
                raise e.refuse(f"a dictionary that has the key {key!r} on some paths only", hint=HINT)
        if ordered:
            check_order(e, e.heap[v.id])
        return items
    raise e.refuse("a dictionary", types=[describe(v, e.heap)], hint=HINT)


def check_order(e: Evaluator, record: Record) -> None:
    """Unsupported for what depends on the order of keys, where that is another one on some paths."""
    if record.state & UNORDERED:
        raise e.refuse(
            "the order of a dictionary's keys, which is another one on some paths",
            hint="put the keys in in the same order on all paths, or take the items by their keys",
        )


def with_item(record: Record, name: str, value: Abstract) -> Record:
    """A dict with an item more, or another one in its place.  Where the key is there on some paths only, it comes last on the others."""
    items = record.named()
    before = items.get(name)
    made = record.with_named(items | {name: value})
    if isinstance(before, MaybeValue) and before.absent is UNBOUND and [*items][-1] != name:
        made = Record(made.kind, made.meta, made.fields, made.state | UNORDERED)
    return made


def key_of(e: Evaluator, key: Abstract) -> str:
    """A key as a string; refused where it is not known."""
    if isinstance(key, Known) and type(key.object) is str:
        return key.object
    raise e.refuse("a dictionary with this key", types=[describe(key, e.heap)], hint=HINT)


def from_instruction(e: Evaluator, instr: Instr) -> Abstract | None:
    """Displays, and what builds the keyword arguments of calls."""
    operands = [e.read(v) for v in instr.operands]
    if instr.op == "dict_merge":
        target, other, function = operands
        assert isinstance(target, Reference)
        merged = named_items(e, target)
        refuse_unless_mapping(e, other, f"{_called(function)}argument after ** must be a mapping, not {{}}")
        for key, v in named_items(e, other).items():
            if key in merged:
                e.type_error(f"{_called(function)}got multiple values for keyword argument '{key}'")
            merged[key] = v
        e.heap[target.id] = e.heap[target.id].with_named(merged)
        return None
    if instr.op == "dict_update":
        refuse_unless_mapping(e, operands[1], "'{}' object is not a mapping")
        update(e, operands[0], operands[1])
        return None
    if instr.op == "dict":
        keys, values = operands[::2], operands[1::2]
    else:
        keys, values = list(map(Known, instr.attrs["keys"])), operands
    return new_dict(e, dict(zip((key_of(e, k) for k in keys), values)))


def _called(v: Abstract) -> str:
    """What a message about the arguments of a call begins with; nothing for an instance, which says itself what it is called."""
    if isinstance(v, FunctionValue):
        return f"{v.globals.get('__name__')}.{v.code.co_qualname}() "
    function = v.object if isinstance(v, Known) else v.function if isinstance(v, MethodValue) else None
    return as_called(function) if has_plainly(function, "__qualname__") else ""


def refuse_unless_mapping(e: Evaluator, v: Abstract, message: str) -> None:
    """CPython's TypeError for what has no `keys`."""
    if is_list(e, v) or isinstance(v, (TupleValue, ArrayValue, ComplexArrayValue)) or is_numeric(v):
        e.type_error(message.format(python_type_name(e, v)))


# ------------------------------------------------------------------------------------------------- items


def _entry(e: Evaluator, v: Reference, key: Abstract) -> tuple[Value, Abstract]:
    """Whether there is such a key, and its item."""
    if is_number(key) or isinstance(key, TupleValue):
        return const(False), NONE  # no such key among strings
    item = e.heap[v.id].named().get(key_of(e, key))
    if item is None:
        return const(False), NONE
    if isinstance(item, MaybeValue) and item.absent is UNBOUND:
        return item.present, item.item
    return const(True), item


def get_item(e: Evaluator, v: Reference, key: Abstract) -> Abstract:
    present, item = _entry(e, v, key)
    _require(e, present, key)
    return item


def _require(e: Evaluator, present: Value, key: Abstract) -> None:
    """KeyError(key) where it is not there."""
    from .exceptions import ExceptionValue, raise_value

    if isinstance(key, Known) and type(key.object) is str:
        e.guard(present, "KeyError", key.object)
    else:
        raise_value(e, ExceptionValue(KeyError, (key,)))


def set_item(e: Evaluator, v: Reference, key: Abstract, value: Abstract) -> None:
    name = key_of(e, key)
    e.heap[v.id] = with_item(_writable(e, v), name, value)


def del_item(e: Evaluator, v: Reference, key: Abstract) -> None:
    record = _writable(e, v)
    present, _ = _entry(e, v, key)
    _require(e, present, key)
    items = record.named()
    del items[key_of(e, key)]
    e.heap[v.id] = record.with_named(items)


def contains(e: Evaluator, v: Reference, key: Abstract) -> Value:
    return _entry(e, v, key)[0]


def length(e: Evaluator, v: Reference) -> int:
    return len(named_items(e, v, ordered=False))


def keys(e: Evaluator, v: Abstract) -> TupleValue:
    return TupleValue(tuple(map(Known, named_items(e, v))))


def values(e: Evaluator, v: Abstract) -> TupleValue:
    return TupleValue(tuple(named_items(e, v).values()))


def pairs(e: Evaluator, v: Abstract) -> TupleValue:
    return TupleValue(tuple(TupleValue((Known(k), x)) for k, x in named_items(e, v).items()))


VIEWS = {"keys": keys, "values": values, "items": pairs}


def view(e: Evaluator, name: str, v: Abstract) -> Abstract:
    """v.keys(), v.values(), v.items()"""
    return DictView(name, v) if isinstance(v, Reference) else VIEWS[name](e, v)


# ----------------------------------------------------------------------------------------------- methods


def get(e: Evaluator, v: Reference, key: Abstract, default: Abstract) -> Abstract:
    present, item = _entry(e, v, key)
    return e.if_else(present, lambda: item, lambda: default)


def pop(e: Evaluator, v: Reference, key: Abstract, default: Abstract | None) -> Abstract:
    present, item = _entry(e, v, key)
    if default is None:
        del_item(e, v, key)
        return item
    result = e.if_else(present, lambda: item, lambda: default)
    items = _writable(e, v).named()
    items.pop(key_of(e, key), None)
    e.heap[v.id] = e.heap[v.id].with_named(items)
    return result


def setdefault(e: Evaluator, v: Reference, key: Abstract, default: Abstract) -> Abstract:
    result = get(e, v, key, default)
    set_item(e, v, key, result)
    return result


def update(e: Evaluator, target: Abstract, other: Abstract, keywords: Mapping[str, Abstract] | None = None) -> None:
    assert isinstance(target, Reference)
    made = _writable(e, target)
    for name, v in (from_value(e, other) | dict(keywords or {})).items():
        made = with_item(made, name, v)
    e.heap[target.id] = made


def from_value(e: Evaluator, v: Abstract) -> dict[str, Abstract]:
    """What dict(v) holds: the items of a dict, or pairs of known number."""
    if is_dict(e, v) or isinstance(v, Known) and isinstance(v.object, dict):
        return named_items(e, v)
    items = known_items(e, lists.to_tuple(e, v))
    if items is None:
        raise e.refuse(
            "a dictionary of items whose number is not known when compiling", types=[describe(v, e.heap)], hint=HINT
        )
    result = {}
    for pair in items:
        key, item = (*(known_items(e, pair) or ()), None, None)[:2]
        if key is None or item is None:
            raise e.refuse("a dictionary of these items", types=[describe(pair, e.heap)], hint=HINT)
        result[key_of(e, key)] = item
    return result
