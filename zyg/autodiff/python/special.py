"""Operators, subscripts and `with` by the special methods of classes, which are remembered by the types of the operands."""

from __future__ import annotations

import operator
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from functools import partial
from re import Match
from types import FunctionType, MethodType, WrapperDescriptorType
from typing import Any

import numpy as np

from zyg.backend import pulls
from zyg.backend.pulls import deferred, settle

from .. import objects
from ..identity import note
from ..objects import (
    arithmetic,
    calls,
    iteration,
    keys,
    numpy_items,
    numpy_numbers,
    numpy_operators,
    numpy_shortcuts,
    reach,
    subscripts,
)
from ..objects.arithmetic import find, find_special
from ..objects.container_operators import extended
from ..objects.cotangents import NUMBERS, NUMERIC, SCALARS
from ..objects.numpy_numbers import PAIRS
from ..objects.passing import passes
from ..objects.shadows import F64
from ..trying import bodies
from .bound import forward_of_method
from .knowledge import HEAP_TYPE, forgets, has_plain_shadow, is_of_python, is_of_values, is_plain, note_class, note_code
from .sites import Table, Tables, new_tables, noted, operators


def _around_binary(variables: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    found = variables.get("found")
    return [(run_reflected,)] if found is not None and found[0] else []


def _binary(op: str, short: Any = None) -> Callable[[Any, Any], tuple[Any, Any]]:
    """RECORD of a binary operator, which remembers the operator methods of classes; `short`: of arrays, most likely."""
    general = objects.RECORD[op]
    slot, reflected = f"__{op}__", f"__r{op}__"
    tables = new_tables()
    function, complex_back = arithmetic.FUNCTIONS[op], arithmetic.COMPLEX_BACKS.get(op)
    of_containers = arithmetic.OF_CONTAINERS[op]
    run_numbers = numpy_numbers.RUN.get(op)

    @passes(_around_binary)
    def record(a: Any, b: Any) -> tuple[Any, Any]:
        ta, tb = types = type(a), type(b)
        if ta is ndarray and short is not None:
            return short(a, b) or general(a, b)
        known = tables[1 if bodies else 0]
        found = known.get(types)
        if found is not None:
            by_second, method, forward = found
            if by_second:
                if getattr(tb, reflected) is method:
                    y, back = forward(b, a)
                    if back is not None:
                        back = run_reflected, back
                    return (
                        (y, back)
                        if y is not NotImplemented
                        else arithmetic.behind_answer(back, arithmetic.by_the_other, op, a, b, True)
                    )
                found = None
            elif getattr(ta, slot) is method:
                y, back = made = forward(a, b)
                return (
                    made
                    if y is not NotImplemented
                    else arithmetic.behind_answer(back, arithmetic.by_the_other, op, a, b, False)
                )
        elif ta is str and tb is str:
            return function(a, b), None
        elif (by_types := of_containers.get(types)) is not None:
            return by_types(a, b)
        elif run_numbers is not None and types in PAIRS:
            y = function(a, b)
            return y, (run_numbers, y, a, b)
        elif tb is ndarray and short is not None:
            return short(a, b) or general(a, b)
        elif (ta is complex and tb in NUMBERS or tb is complex and ta in NUMBERS) and complex_back is not None:
            return function(a, b), (complex_back, a, b)
        elif ta in NUMBERS:
            if tb not in NUMBERS and not issubclass(tb, NUMERIC):
                noted(known, types, (tb,), tb, reflected, 2, True)
            else:
                _note_numbers(known, types, op)
        elif ta not in SCALARS and ta.__flags__ & HEAP_TYPE and (ta is tb or not arithmetic.derives(tb, ta)):
            noted(known, types, types, ta, slot, 2, False)
            _note_numbers(known, types, op)
        return general(a, b)

    record.__name__ = record.__qualname__ = f"record_{op}"
    return record if short is None else deferred("record", record, counted=False)


def _note_numbers(known: Table, types: tuple[type, type], op: str) -> None:
    """Note an operator of classes derived from those of numbers, which leave it to these."""
    methods = find(types[0], f"__{op}__"), find(types[1], f"__r{op}__")
    if type(methods[0]) is not WrapperDescriptorType or type(methods[1]) is not WrapperDescriptorType:
        return
    if all(t in NUMBERS or (is_of_values(t) and issubclass(t, (float, int, complex))) for t in types):
        for t in types:
            note_class(t)
        note(known, types, types, (False, methods[0], _OF_NUMBERS[op]))


def _of_numbers(op: str) -> Any:
    function, rule, plain = arithmetic.FUNCTIONS[op], arithmetic.RULES[op], arithmetic.plain_number

    def record(a: Any, b: Any) -> tuple[Any, Any]:
        y = function(a, b)
        a, b = a if type(a) is float else plain(a), b if type(b) is float else plain(b)
        return y, (arithmetic.run_rule, rule, y, a, b)

    return record


_OF_NUMBERS = {op: _of_numbers(op) for op in ("add", "sub", "mul", "truediv", "pow", "mod")}


def run_reflected(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """From the cotangents of the second operand and of the first one."""
    given = calls.run(back[1], d, shadows)
    return None if given is None else (given[1], given[0])


def _inplace(op: str) -> Callable[[Any, Any], tuple[Any, Any]]:
    """RECORD of an in-place operator, which remembers the methods of classes; those without one have the plain operator."""
    general, plain = objects.RECORD[f"i{op}"], OPERATORS[op]
    slot, forward, reflected = f"__i{op}__", f"__{op}__", f"__r{op}__"
    short = numpy_operators.INPLACE[op]
    tables = new_tables()

    @passes()
    def record(a: Any, b: Any) -> tuple[Any, Any]:
        cls = type(a)
        if cls is ndarray:
            return short(a, b) or general(a, b)
        if cls is list:
            return extended(a, b) if op == "add" and type(b) is list and a is not b else general(a, b)
        if cls in SCALARS:
            tb = type(b)
            known = tb in SCALARS or tb is ndarray or find_special(tb, reflected) is not None
            return plain(a, b) if known else general(a, b)  # which raises what CPython does
        found = tables[1 if bodies else 0].get(cls)
        if found is not None:
            if getattr(cls, slot) is found[1]:
                y, back = made = found[2](a, b)
                return made if y is not NotImplemented else arithmetic.behind_answer(back, plain, a, b)
        elif is_plain(find(cls, slot)):
            _note_special(tables, cls, slot, 2)
        elif cls.__dictoffset__ and find_special(cls, slot) is None and is_of_python(cls):
            return plain(a, b) if find_special(cls, forward) is not None else general(a, b)
        return general(a, b)

    record.__name__ = record.__qualname__ = f"record_i{op}"
    return record


def _note_special(tables: Tables, cls: type, slot: str, arity: int) -> None:
    """Note a special method of the first operand, of which nothing but the value counts."""
    if cls.__flags__ & HEAP_TYPE and (is_of_python(cls) or is_of_values(cls)):
        noted(tables[1 if bodies else 0], cls, (cls,), cls, slot, arity, False)


_asked: dict[str, Tables] = {**objects.queries.BY_CLASS}  # by the name of a special method
for _tables in _asked.values():
    operators.extend(_tables)


def methods_asked(slot: str, watched: bool) -> Table:
    """What is known of a special method, by class: see `sites.noted`."""
    tables = _asked.get(slot)
    if tables is None:
        tables = _asked[slot] = new_tables()
    return tables[1 if watched else 0]


def special_method(slot: str, cls: type, arity: int) -> Any:
    """The forward half of a special method for `arity` arguments with `self`, whose pullback gives the cotangent of `self` first, if
    a plain function is it in that class; else None."""
    tables = _asked.get(slot)
    if tables is None:
        tables = _asked[slot] = new_tables()
    table = tables[1 if bodies else 0]
    found = table.get(cls)
    if found is None:
        method = find(cls, slot)
        if type(method) is not FunctionType or not has_plain_shadow(cls) or not reach.is_followed(method):
            return None
        noted(table, cls, (cls,), cls, slot, arity, False)
        found = table.get(cls)
        if found is None:
            return None
        note_class(cls)
        if slot in objects.queries.BY_CLASS and keys.only_looks(method):
            found = table[cls] = (*found[:2], objects.queries.looking(found[2]))
    return found[2] if getattr(cls, slot) is found[1] else None


@passes()
def record_len(f: Any, x: Any) -> tuple[Any, Any]:
    """What is called by the name of `len`."""
    return calls.forward_of(f)(x)


# The types of what is asked for its class without running code: exactly a set, in which code looks a type up at once.
TELL_THEIR_CLASS: set[Any] = set(reach.SIZED)


@forgets
def _forget_what_tells_its_class() -> None:
    TELL_THEIR_CLASS.intersection_update(reach.SIZED)


@passes()
def record_isinstance(f: Any, x: Any, cls: Any, *parts: Any) -> tuple[Any, Any]:
    """What is called by the name of `isinstance`; `parts`: the classes, where `cls` is a tuple."""
    if type(x) not in TELL_THEIR_CLASS:
        tells_its_class(x)
    return calls.forward_of(f)(x, cls)


def tells_its_class(x: Any) -> bool:
    """Whether that is so, which is noted of its type."""
    t = type(x)
    if issubclass(t, type) or not objects.builtins_.tells_its_class(x):
        return False
    note_class(t)
    note(TELL_THEIR_CLASS, t, (t,))
    return True


@passes()
def _getitem(x: Any, key: Any) -> tuple[Any, Any]:
    """RECORD["getitem"], with what is frequent first."""
    t = type(x)
    if t is ndarray:
        if type(key) is int and x.dtype is F64:
            y = x[key]
            return y, (numpy_items.run_number, x, key) if type(y) is np.float64 else None
        return numpy_items.getitem(x, key)
    found = _reading[1 if bodies else 0].get(t)
    if found is not None:
        if t.__getitem__ is found[1]:
            return found[2](x, key)
    elif t is list:
        if type(key) is slice:
            return subscripts.part_of_list(x, key)
    elif t is str:
        if type(key) is int or (
            type(key) is slice and _BOUNDS.issuperset((type(key.start), type(key.stop), type(key.step)))
        ):
            return x[key], None
    elif t is Match:
        if type(key) is str or type(key) is int:
            return x[key], None
    elif t is deque:
        if type(key) is int:
            return x[key], (iteration.run_list_item, x, key if key >= 0 else key + len(x))
    elif t is defaultdict:
        if iteration.is_label(key):
            if key in x:
                return x[key], (iteration.run_dict_item, x, key)
            if type(x.default_factory) is type and x.default_factory in _MAKE_EMPTY:
                return x[key], (subscripts.run_default_made, x, key, None)
    elif issubclass(t, tuple) and find(t, "__getitem__") is _of_tuple:
        note_class(t)
        note(_reading[1 if bodies else 0], t, (t,), (False, _of_tuple, subscripts.item_of_tuple))
    elif issubclass(t, dict) and find(t, "__getitem__") is _of_dict:
        _note_items_of_dict(t)
    else:
        _note_special(_reading, t, "__getitem__", 2)
    return objects.RECORD["getitem"](x, key)


def _note_items_of_dict(cls: type) -> None:
    """Note how items are read in a class derived from `dict` that leaves that to it, but for what is missing."""
    missing = find(cls, "__missing__")
    if not cls.__flags__ & HEAP_TYPE or not has_plain_shadow(cls):
        return
    if missing is None:
        read: Any = subscripts.item_of_dict
    else:
        forward = forward_of_method(missing, 2) if is_plain(missing) else None
        if forward is None:
            return
        note_code(missing)
        read = partial(subscripts.item_or_missing, missing, forward)
    note_class(cls)
    note(_reading[1 if bodies else 0], cls, (cls,), (False, _of_dict, read))


_BOUNDS = frozenset({int, type(None)})
_of_tuple: Any = tuple.__getitem__
_of_dict: Any = dict.__getitem__
_MAKE_EMPTY = frozenset({float, int, list, dict, set})  # what needs nothing, so that nothing comes to it


def record_part(x: Any, key: slice) -> tuple[Any, Any]:
    """The same of a slice."""
    if type(x) is list:
        return subscripts.part_of_list(x, key)
    if type(x).__getitem__ is not _of_tuple:
        return _getitem(x, key)
    start = key.start
    if type(start) is int and start >= 0 and key.stop is None and key.step is None:
        return x[start:], (subscripts.run_tuple_part, start, tuple.__len__(x))
    return subscripts.part_of_tuple(x, key)


@passes()
def record_set_part(x: Any, key: slice, value: Any) -> Any:
    """The same of `x[a:b] = value`."""
    return subscripts.record_setitem(x, key, value) if type(x) is list else _setitem(x, key, value)


@passes()
def _setitem(x: Any, key: Any, value: Any) -> Any:
    """RECORD["setitem"], with what is frequent first."""
    t = type(x)
    if t is list:
        return subscripts.record_setitem(x, key, value)
    found = _writing[1 if bodies else 0].get(t)
    if found is not None:
        if t.__setitem__ is found[1]:
            return found[2](x, key, value)[1]
    elif t is np.ndarray:
        return numpy_items.setitem(x, key, value)
    elif t is dict or t is defaultdict:
        if iteration.is_label(key):
            x[key] = value
            return (subscripts.run_dict_set, x, key)
    elif issubclass(t, dict) and find(t, "__setitem__") is dict.__setitem__:
        if t.__flags__ & HEAP_TYPE and has_plain_shadow(t):
            note_class(t)
            note(_writing[1 if bodies else 0], t, (t,), (False, dict.__setitem__, subscripts.set_in_dict))
    else:
        _note_special(_writing, t, "__setitem__", 3)
    return objects.RECORD["setitem"](x, key, value)


@passes()
def _neg(x: Any) -> tuple[Any, Any]:
    """RECORD["neg"]."""
    t = type(x)
    if t is ndarray:
        return numpy_shortcuts.FUNCTIONS[np.negative](x) or objects.RECORD["neg"](x)
    found = _negating[1 if bodies else 0].get(t)
    if found is None:
        _note_special(_negating, t, "__neg__", 1)
    elif t.__neg__ is found[1]:
        return found[2](x)
    return objects.RECORD["neg"](x)


def record_with_enter(manager: Any) -> tuple[Any, ...]:
    """RECORD["with_enter"], which remembers the methods of classes."""
    cls = type(manager)
    known = _entering[1 if bodies else 0]
    found = known.get(cls)
    if found is None:
        if is_of_python(cls) and type(find(cls, "__exit__")) is FunctionType:
            noted(known, cls, (cls,), cls, "__enter__", 1, False)
    elif cls.__enter__ is found[1]:
        leave = cls.__exit__
        y, back = found[2](manager)
        return MethodType(leave, manager), y, None if back is None else (run_enter, back)
    return objects.RECORD["with_enter"](manager)


def run_enter(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return calls.run(back[1], None if d is None else d[1], shadows)


def record_with_exit(leave: Any, exception: Any) -> tuple[Any, Any]:
    """RECORD["with_exit"], which remembers the methods."""
    if exception is None and type(leave) is MethodType:
        function = leave.__func__
        known = _leaving[1 if bodies else 0]
        found = known.get(function)
        if found is not None:
            y, back = found[2](leave.__self__, None, None, None)
            return y, None if back is None else (run_exit, back)
        if is_plain(function):
            forward = forward_of_method(function, 4)
            if forward is not None:
                note(known, function, (function,), (False, function, forward))
                note_code(function)
    return objects.RECORD["with_exit"](leave, exception)


def run_exit(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    calls.run(back[1], d, shadows)


ndarray = np.ndarray
_entering, _leaving = new_tables(), new_tables()
_reading, _writing, _negating = new_tables(), new_tables(), new_tables()
OPERATORS: dict[str, Callable[..., Any]] = {
    op: _binary(op, numpy_operators.OPERATORS.get(op))
    for op in ("add", "sub", "mul", "truediv", "matmul", "pow", "mod")
}
# Where the cotangent of one operand is not wanted, as that of a constant.
WITH_CONSTANT = {op: _binary(op, short) for op, short in numpy_operators.WITHOUT_NUMBERS.items()}
OPERATORS |= {f"i{op}": _inplace(op) for op in ("add", "sub", "mul", "truediv")}
OPERATORS |= {"neg": _neg, "getitem": deferred("record", _getitem, counted=False), "setitem": _setitem}
OPERATORS["with_enter"] = record_with_enter
OPERATORS["with_exit"] = record_with_exit


def _record_natively() -> None:
    for records, numbers in ((OPERATORS, True), (WITH_CONSTANT, False)):
        numpy_operators.record_natively(records, numbers)
        numpy_shortcuts.record_product(records["matmul"], operator.matmul)
    settle(OPERATORS["getitem"], "zyg_item", numpy_items.run_number, F64)


pulls.when_started(_record_natively)
