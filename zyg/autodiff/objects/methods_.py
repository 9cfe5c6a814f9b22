"""The methods of builtin classes: of lists, numbers and text, and what those of all containers have in common."""

from __future__ import annotations

import array
import functools
import operator
import types
from collections import deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import Any

from ..trying import bodies
from . import calls, construction, draining, iteration, keys, later, reentry, subscripts
from .arithmetic import RECORD, RULES, find, is_python, number_back
from .builtins_ import ask, shift
from .calls import method
from .cotangents import INERT, NUMBERS, all_real, is_number
from .filling import order_of
from .iteration import Iterator
from .passing import passes
from .reach import PLAIN
from .shadows import ABOUT, add_all, in_python, settle

# ---------------------------------------------------------------------------------------------- methods of list


@method(list, "append", exact=True)
def _append(x: list[Any], value: Any) -> tuple[Any, Any]:
    list.append(x, value)
    return None, (construction.run_appended, x, len(x) - 1)


@method(list, "extend", exact=True)
def _extend(x: list[Any], values: Any) -> tuple[Any, Any]:
    return None, construction.record_list_extend(x, values)


@method(list, "insert", exact=True)
def insert(x: Any, index: int, value: Any) -> tuple[Any, Any]:
    index, asked = reentry.index_of(index)
    at = operator.index(index)
    at = max(at + len(x), 0) if at < 0 else min(at, len(x))
    subscripts.base_of(x).insert(x, index, value)
    back = (run_inserted, x, at)
    return None, back if asked is None else (reentry.run_at_index, back, asked)


def run_inserted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    shadow = shadows.items.get(id(back[1]))
    if shadow and len(shadow) > back[2]:
        return None, None, shadow.pop(back[2])
    return None


@method(list, "pop", exact=True)
def _pop(x: list[Any], index: int = -1) -> tuple[Any, Any]:
    if type(index) is not int:
        index, asked = reentry.index_of(index)
        if asked is not None:
            with reentry.undone(asked):
                y, back = _pop(x, index)
            return y, (reentry.run_at_index, back, asked)
    y = x.pop(index) if type(x) is list else subscripts.base_of(x).pop(x, index)
    return y, (run_popped, x, index if index >= 0 else index + len(x) + 1)


def run_popped(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The item is there again, with the cotangent of what was popped."""
    _, x, index = back
    shadow = shadows.items.get(id(x))
    if shadow is not None and index < len(shadow):
        shadow.insert(index, d)
    elif d is not None:
        shadows.add_item(x, index, d)


@method(list, "remove", exact=True)
def _remove(x: Any, value: Any) -> tuple[Any, Any]:
    if type(x) is list and type(value) in PLAIN and PLAIN.issuperset(map(type, x)):
        index = x.index(value)  # nobody is asked
        del x[index]
        return None, (subscripts.run_deleted, x, (index,))
    base = subscripts.base_of(x)
    index, asked = reentry.followed(base.index, (x, value))
    base.__delitem__(x, index)
    back = (subscripts.run_deleted, x, (index,))
    return None, back if asked is None else (_run_removed, back, asked)


def _run_removed(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    calls.run(back[1], None, shadows)
    return calls.run(back[2], None, shadows)


@method(list, "clear", exact=True)
def _clear(x: Any) -> tuple[Any, Any]:
    base = subscripts.base_of(x)
    base.__delitem__(x, slice(None)) if base is array.array else base.clear(x)
    return None, (run_cleared, x)


def run_cleared(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    shadows.take_list(back[1])


@method(list, "copy", exact=True)
def _list_copy(x: list[Any]) -> tuple[Any, Any]:
    y = list.copy(x)
    return y, (subscripts.run_list_part, y, x, 0, 1)


@method(list, "reverse", exact=True)
def _reverse(x: Any) -> tuple[Any, Any]:
    if type(x) is list:
        x.reverse()
    else:
        subscripts.base_of(x).reverse(x)
    return None, (run_reversed, x, len(x))


def _run_reversed(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, count = back
    shadow = shadows.items.get(id(x))
    if shadow:
        if len(shadow) < count:
            shadow.extend([None] * (count - len(shadow)))
        shadow.reverse()


run_reversed = in_python("pull", _run_reversed)
settle(run_reversed, "zyg_pull_reversed", *ABOUT)


@method(list, "sort", exact=True)
@passes()
def _sort(x: list[Any], *, key: Any = None, reverse: bool = False) -> tuple[Any, Any]:
    """(What is called meanwhile finds an empty list, and an exception leaves the items in the order that sorting has come to.)"""
    items = list.copy(x)
    if (
        key is None and type(reverse) is bool and (all_real(items) or NUMBERS.issuperset(map(type, items)))
    ):  # nobody is asked
        order = sorted(range(len(items)), key=items.__getitem__, reverse=reverse)
        list.sort(x, reverse=reverse)
        return None, (run_permuted, x, order)
    order = list(range(len(items)))
    list.clear(x)
    asked = None
    try:
        asked = order_of(items, key, reverse, (draining.give_list, x), _sorting(order))[1]
        if list.__len__(x):
            raise ValueError("list modified during sort")
    except BaseException as error:
        list.clear(x)
        list.extend(x, [items[k] for k in order])
        if bodies:
            later.escaping.attach(error, (_run_sort_left, x, order, asked, later.escaping.swallowed(error)))
        raise
    list.extend(x, [items[k] for k in order])
    return None, (run_permuted, x, order) if asked is None else (_run_sort, x, order, asked)


def _sorting(order: list[int]) -> Any:
    """What sorts these numbers in their place, as CPython does it with the items."""

    def sort(numbers: Any, key: Any, reverse: Any) -> list[int]:
        order.sort(key=key, reverse=reverse)
        return order

    sort.__qualname__, sort.__module__ = "list.sort", "builtins"  # for refusals
    return sort


def _run_sort(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, order, asked = back
    permuted = _permuted(x, order, shadows)
    ds = keys.added(permuted, keys.undo(asked, shadows))  # (what is undone finds an empty list)
    if ds is not None:
        shadows.list_of(x)[:] = ds


def _run_sort_left(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, order, asked, raised = back
    ds = _permuted(x, order, shadows)
    if asked is not None:
        ds = keys.added(ds, keys.undo(asked, shadows))
    calls.run(raised, None, shadows)
    if ds is not None:
        add_all(shadows, x, 0, ds)


def _run_permuted(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, order = back
    shadow = shadows.items.get(id(x))
    if not shadow:
        return
    taken = shadow[:]
    if len(shadow) != len(order):
        shadow[:] = [None] * len(order)
    for at, c in zip(order, taken):
        shadow[at] = c


run_permuted = in_python("pull", _run_permuted)
settle(run_permuted, "zyg_pull_permuted", *ABOUT)


def _permuted(x: Any, order: Any, shadows: Any) -> list[Any] | None:
    taken = shadows.take_list(x)
    if taken is None:
        return None
    result = [None] * len(order)
    for at, c in zip(order, taken):
        result[at] = c
    return result


@method(types.MethodType, "__call__", exact=True)
def _method_call(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if is_number(f.__self__) or isinstance(f.__self__, tuple):  # whose cotangent flows: no object of it is here
        return calls.call_foreign(f.__call__, *args, **kwargs)
    return calls.call(f, args, kwargs)


@method(types.BuiltinFunctionType, "__call__", exact=True)
@method(types.FunctionType, "__call__", exact=True)
def _function_call(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return calls.call(f, args, kwargs)


def query_methods(cls: type, *names: str) -> None:
    for name in names:
        method(cls, name, exact=True)(functools.partial(ask, getattr(cls, name)))


query_methods(list, "index", "count", "__len__", "__contains__", "__repr__", "__eq__", "__sizeof__")
query_methods(tuple, "index", "count", "__len__", "__contains__", "__repr__", "__eq__", "__hash__")
query_methods(dict, "__len__", "__contains__", "__repr__", "__eq__")
query_methods(set, "__len__", "__contains__", "__repr__", "__eq__", "isdisjoint", "issubset", "issuperset")
query_methods(frozenset, "__len__", "__contains__", "__repr__", "__eq__", "isdisjoint", "issubset", "issuperset")
query_methods(deque, "index", "count", "__len__", "__contains__", "__repr__", "__eq__")
query_methods(object, "__repr__", "__str__", "__format__", "__hash__", "__eq__", "__ne__", "__sizeof__", "__dir__")
query_methods(int, "bit_length", "bit_count", "to_bytes")
query_methods(float, "is_integer", "hex", "__repr__", "__format__", "__str__", "__int__", "__trunc__", "__bool__")
query_methods(range, "index", "count", "__len__", "__contains__")


def operator_method(cls: type, name: str, handler: Callable[..., Any]) -> None:
    method(cls, name)(handler)


def _getitem_method(x: Any, key: Any, /) -> tuple[Any, Any]:
    return subscripts.plain_getitem(x, key)


def setitem_method(x: Any, key: Any, value: Any, /) -> tuple[Any, Any]:
    return None, subscripts.plain_setitem(x, key, value)


def _set_item_of_dict(x: Any, key: Any, value: Any, /) -> tuple[Any, Any]:
    dict.__setitem__(x, key, value)
    return None, (subscripts.run_dict_set, x, key)


def delitem_method(x: Any, key: Any, /) -> tuple[Any, Any]:
    return None, subscripts.plain_delitem(x, key)


def iter_method(x: Any) -> tuple[Any, Any]:
    iterator, rec = iteration.plain_pairs(x)
    return (Iterator(iterator), None if rec is iteration.NOTHING else rec) if rec is not None else (iterator, None)


for _cls in (list, dict, tuple, deque, array.array, set, frozenset):
    operator_method(_cls, "__iter__", iter_method)
method(dict, "__getitem__", exact=True)(subscripts.item_of_dict)
method(dict, "__setitem__", exact=True)(_set_item_of_dict)
for _cls in (list, dict, tuple, deque, array.array):
    if _cls is not dict:
        operator_method(_cls, "__getitem__", _getitem_method)
    if _cls is not dict and _cls is not tuple:
        operator_method(_cls, "__setitem__", setitem_method)
    if _cls is not tuple:
        operator_method(_cls, "__delitem__", delitem_method)


@method(list, "__iadd__", exact=True)
def _iadd(x: list[Any], values: Any, /) -> tuple[Any, Any]:
    return x, construction.record_list_extend(x, values)


def _operator_of_sequences(cls: type, name: str, op: str, *of: type) -> None:
    """An operator by the name of its method, which asks nothing but its class; with another operand `of` than the operator takes there it
    is up to C code."""
    compute, record = getattr(cls, name), RECORD[op]

    @method(cls, name, exact=True)
    def handler(x: Any, other: Any, /) -> tuple[Any, Any]:
        if type(x) is cls and type(other) in of:
            return record(x, other)
        return calls.call_foreign_method(compute.__get__(x), x, other)


for _cls in (list, tuple):
    _operator_of_sequences(_cls, "__add__", "add", _cls)
    _operator_of_sequences(_cls, "__mul__", "mul", int, bool)
    _operator_of_sequences(_cls, "__rmul__", "mul", int, bool)
_operator_of_sequences(list, "__imul__", "imul", int, bool)


@method(list, "__init__")
def _list_init(x: list[Any], values: Any = ()) -> tuple[Any, Any]:
    list.clear(x)
    return None, construction.record_list_extend(x, values)


# --------------------------------------------------------------------------------------- methods of immutables


@method(complex, "conjugate")
def _conjugate(x: complex) -> tuple[Any, Any]:
    return x.conjugate(), (_run_conjugate,)


def _run_conjugate(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (complex(d).conjugate(),)


def _same_number(cls: type, name: str) -> None:
    """A method that gives the number itself, as one of the builtin class."""
    compute = getattr(cls, name)

    @method(cls, name)
    def same(x: Any) -> tuple[Any, Any]:
        return compute(x), (_run_self,)


for _cls in (float, int):
    _same_number(_cls, "conjugate")
    _same_number(_cls, "__float__")


def _run_self(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return (d,)


def _number_method(cls: Any, name: str) -> Callable[[calls.Handler], calls.Handler]:
    """The decorated handler is what a call of this method of a class of numbers means. (Those of fractions are Python code.)"""
    function = getattr(cls, name)
    if type(function) is not FunctionType:
        return method(cls, name)

    def register(handler: calls.Handler) -> calls.Handler:
        calls.known(function)(lambda *args: shift(handler(*args)))
        return handler

    return register


def _binary_method(cls: Any, op: str, name: str, swapped: bool) -> None:
    compute, rule = getattr(cls, name), RULES[op]

    @_number_method(cls, name)
    def binary(x: Any, other: Any, *mod: Any) -> tuple[Any, Any]:
        y = compute(x, other, *mod)
        if y is NotImplemented or mod:
            return y, None
        return y, _binary_back(rule, y, x, other, swapped)


def _binary_back(rule: Any, y: Any, x: Any, other: Any, swapped: bool) -> Any:
    back = number_back(rule, y, *((other, x) if swapped else (x, other)))
    return (_run_swapped, back) if swapped and back is not None else back


def _run_swapped(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else given[::-1]


def _divmod_method(cls: Any, name: str, swapped: bool) -> None:
    compute, rule = getattr(cls, name), RULES["mod"]

    @_number_method(cls, name)
    def both(x: Any, other: Any) -> tuple[Any, Any]:
        y = compute(x, other)
        if y is NotImplemented:
            return y, None
        return y, (_run_divmod_method, _binary_back(rule, y[1], x, other, swapped))


def _run_divmod_method(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else calls.run(back[1], d[1], shadows)


def _unary_method(cls: Any, op: str) -> None:
    compute, rule = getattr(cls, f"__{op}__"), RULES[op]

    @_number_method(cls, f"__{op}__")
    def unary(x: Any) -> tuple[Any, Any]:
        y = compute(x)
        return y, number_back(rule, y, x)


for _cls in (float, int, complex, Fraction, Decimal):
    for _op in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
        for _name in (f"__{_op}__", f"__r{_op}__"):
            if hasattr(_cls, _name):
                _binary_method(_cls, _op, _name, _name.startswith("__r"))
    if hasattr(_cls, "__divmod__"):
        _divmod_method(_cls, "__divmod__", False)
        _divmod_method(_cls, "__rdivmod__", True)
    for _op in ("neg", "pos", "abs"):
        _unary_method(_cls, _op)


def _text_methods(cls: type) -> None:
    for name in dir(cls):
        if callable(getattr(cls, name)) and not name.startswith("__") and name not in ("join", "maketrans", "fromhex"):
            method(cls, name, exact=True)(functools.partial(ask, getattr(cls, name)))
    method(cls, "join", exact=True)(functools.partial(_join, cls.join))


_LISTED = frozenset({list, tuple})


def _join(f: Any, separator: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """CPython makes a list of the items before it joins them: where that runs differentiated code, it is made by such code."""
    if not kwargs and len(args) == 1 and type(args[0]) in _LISTED and INERT.issuperset(map(type, args[0])):
        return f(separator, args[0]), None
    if kwargs or len(args) != 1 or not (isinstance(args[0], Iterator) or is_python(find(type(args[0]), "__iter__"))):
        return ask(f, separator, *args, **kwargs)
    items, drain = draining.drained_of_iterator(args[0])
    with draining.undone(drain):
        return f(separator, items), (_run_joined, drain)


def _run_joined(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, draining.give(back[1], None, shadows)


_text_methods(str)
_text_methods(bytes)
