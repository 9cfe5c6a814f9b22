"""The methods of builtin classes: lists, dicts, sets, deques, arrays of the array module, numbers, text."""

from __future__ import annotations

import array
import functools
import operator
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from . import calls, construction, conversions, draining, foreign, iteration, reentry, structure, subscripts
from .arithmetic import RULES, number_back
from .builtins_ import MISSING, ask
from .calls import known, method
from .cotangents import accumulate
from .iterables_ import order_of, undo_keys
from .iteration import Iterator
from .reach import PLAIN, check_key

# ---------------------------------------------------------------------------------------------- methods of list


@method(list, "append", exact=True)
def _append(x: list[Any], value: Any) -> tuple[Any, Any]:
    list.append(x, value)
    return None, (construction.run_appended, x, len(x) - 1)


@method(list, "extend", exact=True)
def _extend(x: list[Any], values: Any) -> tuple[Any, Any]:
    return None, construction.record_list_extend(x, values)


@method(list, "insert", exact=True)
def _insert(x: Any, index: int, value: Any) -> tuple[Any, Any]:
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
    y = x[:]
    return y, (subscripts.run_list_slice, y, x, range(len(x)))


@method(list, "reverse", exact=True)
def _reverse(x: Any) -> tuple[Any, Any]:
    subscripts.base_of(x).reverse(x)
    return None, (run_permuted, x, range(len(x) - 1, -1, -1))


@method(list, "sort")
def _sort(x: list[Any], *, key: Any = None, reverse: bool = False) -> tuple[Any, Any]:
    order, asked = order_of(x, key, reverse)
    x[:] = [x[k] for k in order]
    return None, (run_permuted, x, order) if asked is None else (_run_sort, x, order, asked)


def _run_sort(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, order, asked = back
    run_permuted((None, x, order), None, shadows)
    undo_keys(x, asked, shadows)


def run_permuted(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, order = back
    taken = shadows.take_list(x)
    if taken is not None:
        result = [None] * len(order)
        for at, c in zip(order, taken):
            result[at] = c
        shadows.list_of(x)[:] = result


@method(types.FunctionType, "__call__", exact=True)
def _function_call(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return calls.call(f, args, kwargs)


def _query(cls: type, *names: str) -> None:
    for name in names:
        method(cls, name, exact=True)(functools.partial(ask, getattr(cls, name)))


_query(list, "index", "count", "__len__", "__contains__", "__repr__", "__eq__", "__sizeof__")
_query(tuple, "index", "count", "__len__", "__contains__", "__repr__", "__eq__", "__hash__")
_query(dict, "__len__", "__contains__", "__repr__", "__eq__")
_query(set, "__len__", "__contains__", "__repr__", "__eq__", "isdisjoint", "issubset", "issuperset")
_query(frozenset, "__len__", "__contains__", "__repr__", "__eq__", "isdisjoint", "issubset", "issuperset")
_query(deque, "index", "count", "__len__", "__contains__", "__repr__", "__eq__")
_query(object, "__repr__", "__str__", "__format__", "__hash__", "__eq__", "__ne__", "__sizeof__", "__dir__")
_query(int, "bit_length", "bit_count", "to_bytes")
_query(float, "is_integer", "hex", "__repr__", "__format__", "__str__")
_query(range, "index", "count", "__len__", "__contains__")


def _operator_method(cls: type, name: str, handler: Callable[..., Any]) -> None:
    method(cls, name)(handler)


def _getitem_method(x: Any, key: Any, /) -> tuple[Any, Any]:
    return subscripts.plain_getitem(x, key)


def _setitem_method(x: Any, key: Any, value: Any, /) -> tuple[Any, Any]:
    return None, subscripts.plain_setitem(x, key, value)


def _item_of_dict(x: Any, key: Any, /) -> tuple[Any, Any]:
    return dict.__getitem__(x, key), (iteration.run_dict_item, x, key)


def _set_item_of_dict(x: Any, key: Any, value: Any, /) -> tuple[Any, Any]:
    dict.__setitem__(x, key, value)
    return None, (subscripts.run_dict_set, x, key)


def _delitem_method(x: Any, key: Any, /) -> tuple[Any, Any]:
    return None, subscripts.plain_delitem(x, key)


def _iter_method(x: Any) -> tuple[Any, Any]:
    iterator, rec = iteration.plain_pairs(x)
    return (Iterator(iterator), None if rec is iteration.NOTHING else rec) if rec is not None else (iterator, None)


for _cls in (list, dict, tuple, deque, array.array, set, frozenset):
    _operator_method(_cls, "__iter__", _iter_method)
method(dict, "__getitem__", exact=True)(_item_of_dict)
method(dict, "__setitem__", exact=True)(_set_item_of_dict)
for _cls in (list, dict, tuple, deque, array.array):
    if _cls is not dict:
        _operator_method(_cls, "__getitem__", _getitem_method)
    if _cls is not dict and _cls is not tuple:
        _operator_method(_cls, "__setitem__", _setitem_method)
    if _cls is not tuple:
        _operator_method(_cls, "__delitem__", _delitem_method)


@method(list, "__init__")
def _list_init(x: list[Any], values: Any = ()) -> tuple[Any, Any]:
    list.clear(x)
    return None, construction.record_list_extend(x, values)


@method(dict, "__init__")
def _dict_init(x: dict[Any, Any], /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return _dict_update(x, *args, **kwargs)


@method(defaultdict, "__init__")
def _defaultdict_init(x: Any, factory: Any = None, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    defaultdict.__init__(x, factory)
    back = _dict_update(x, *args, **kwargs)[1]
    return None, None if back is None else (_run_defaultdict_init, back)


def _run_defaultdict_init(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    owner, *rest = calls.run(back[1], d, shadows)
    return owner, None, *rest


# ---------------------------------------------------------------------------------------------- methods of dict


@method(dict, "get", exact=True)
def _get(x: dict[Any, Any], key: Any, default: Any = None) -> tuple[Any, Any]:
    if type(key) not in PLAIN:
        check_key(key)
    value = dict.get(x, key, MISSING)
    if value is not MISSING:
        return value, (iteration.run_dict_item, x, key)
    return default, None if default is None else _GET_DEFAULT


def _run_get_default(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, d


_GET_DEFAULT = (_run_get_default,)


@method(dict, "setdefault", exact=True)
def _setdefault(x: dict[Any, Any], key: Any, default: Any = None) -> tuple[Any, Any]:
    if type(key) not in PLAIN:
        check_key(key)
    if dict.__contains__(x, key):
        return subscripts.base_of(x).__getitem__(x, key), (iteration.run_dict_item, x, key)
    subscripts.base_of(x).__setitem__(x, key, default)
    return default, (_run_setdefault, x, key)


def _run_setdefault(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, key = back
    return None, subscripts.refused_key(x, key, shadows), accumulate(d, shadows.take_key(x, key))


@method(dict, "pop", exact=True)
def _dict_pop(x: dict[Any, Any], key: Any, default: Any = MISSING) -> tuple[Any, Any]:
    if type(key) not in PLAIN:
        check_key(key)
    if dict.__contains__(x, key):
        return subscripts.base_of(x).pop(x, key), (_run_dict_popped, x, key)
    if default is MISSING:
        subscripts.base_of(x).pop(x, key)  # raises the KeyError
    return default, _GET_DEFAULT


def _run_dict_popped(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_key(back[1], back[2], d)


@method(dict, "popitem", exact=True)
def _popitem(x: dict[Any, Any]) -> tuple[Any, Any]:
    key, value = dict.popitem(x)
    return (key, value), (iteration.run_dict_pair, x, key, foreign.caller() if iteration.is_number_key(key) else None)


@method(dict, "update")
def _dict_update(x: dict[Any, Any], other: Any = MISSING, /, **kwargs: Any) -> tuple[Any, Any]:
    back = construction.record_dict_update(x, other) if other is not MISSING else None
    subscripts.base_of(x).update(x, kwargs)
    return None, (run_dict_method, x, back, tuple(kwargs), int(other is not MISSING))


def run_dict_method(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, inner, names, count = back
    rest = [shadows.take_key(x, name) for name in names]
    if not count:
        return None, *rest
    given = inner[0](inner, None, shadows)
    return None, None if given is None else given[1], *rest


@method(dict, "copy", exact=True)
def _dict_copy(x: dict[Any, Any]) -> tuple[Any, Any]:
    y = subscripts.base_of(x).copy(x)
    return y, (_run_dict_copy, y, x)


def _run_dict_copy(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    for key, c in (shadows.take_dict(back[1]) or {}).items():
        if c is not None:
            shadows.add_key(back[2], key, c)


@method(dict, "clear", exact=True)
def _dict_clear(x: Any) -> tuple[Any, Any]:
    subscripts.base_of(x).clear(x)
    return None, (_run_dict_cleared, x)


def _run_dict_cleared(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    shadows.take_dict(back[1])


_view: Any = object.__new__  # (the classes of collections.abc have an `__init__` in Python)


@method(dict, "values", exact=True)
def _values(x: Any) -> tuple[Any, Any]:
    made = _view(iteration.Values)
    made._mapping = x
    return made, None


@method(dict, "items", exact=True)
def _items(x: Any) -> tuple[Any, Any]:
    made = _view(iteration.Items)
    made._mapping = x
    return made, None


@method(dict, "keys", exact=True)
def _keys(x: Any) -> tuple[Any, Any]:
    made = _view(iteration.Keys)
    made._mapping = x
    return made, None


for _name in ("__init__", "keys", "items", "values", "update", "setdefault", "clear", "pop"):
    method(OrderedDict, _name, exact=True)(calls.METHODS[dict, _name])
_query(OrderedDict, "move_to_end", "__eq__")
_operator_method(OrderedDict, "__iter__", _iter_method)
_operator_method(OrderedDict, "__setitem__", _setitem_method)
_operator_method(OrderedDict, "__delitem__", _delitem_method)


@method(OrderedDict, "copy", exact=True)
def _ordered_copy(x: OrderedDict[Any, Any]) -> tuple[Any, Any]:
    if type(x) is OrderedDict:
        return _dict_copy(x)
    y, back = calls.call(type(x), (x,))  # as CPython does
    return y, (iteration.run_call, back, ())


def _of_proxy(name: str) -> None:
    handler = calls.METHODS[dict, name]

    @method(types.MappingProxyType, name, exact=True)
    def entry(x: Any, *args: Any) -> tuple[Any, Any]:
        mapping = structure.mapping_of(x)
        return ask(getattr(types.MappingProxyType, name), x, *args) if mapping is None else handler(mapping, *args)


for _name in ("get", "keys", "values", "items", "copy"):
    _of_proxy(_name)


@known(dict.fromkeys)
def _fromkeys(keys: Any, value: Any = None) -> tuple[Any, Any]:
    listed, drain = draining.drained(keys)
    for key in listed:
        check_key(key)
    y = dict.fromkeys(listed, value)
    return y, (_run_fromkeys, y, listed, tuple(y), drain)


def _run_fromkeys(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, listed, keys, drain = back
    total: Any = None
    for key in keys:
        total = accumulate(total, shadows.take_key(y, key))
    refused = [subscripts.refused_key(y, key, shadows) if iteration.is_number_key(key) else None for key in listed]
    return None, draining.give(drain, refused if any(refused) else None, shadows), total


# --------------------------------------------------------------------------------------- methods of set, deque


@method(set, "add", exact=True)
def _set_add(x: Any, value: Any) -> tuple[Any, Any]:
    return None, construction.record_set_add(x, value)


method(set, "discard", exact=True)(functools.partial(ask, set.discard))
method(set, "remove", exact=True)(functools.partial(ask, set.remove))
method(set, "clear", exact=True)(functools.partial(ask, set.clear))


@method(set, "copy", exact=True)
def _set_copy(x: Any) -> tuple[Any, Any]:
    y = set(x)
    return y, (_run_dict_copy, y, x)


@method(set, "update")
def _set_update(x: Any, *values: Any) -> tuple[Any, Any]:
    backs = [construction.record_set_update(x, v) for v in values]
    return None, (_run_set_updates, backs)


def _run_set_updates(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    result = []
    for inner in reversed(back[1]):
        given = None if inner is None else inner[0](inner, None, shadows)
        result.append(None if given is None else given[1])
    return (None, *reversed(result))


@method(set, "union")
def _union(x: Any, *others: Any) -> tuple[Any, Any]:
    y = set(x)
    backs = [construction.record_set_update(y, v) for v in others]
    return y, (_run_union, y, x, backs)


def _run_union(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    result = _run_set_updates((None, back[3]), None, shadows)
    _run_dict_copy(back, None, shadows)
    return result


def _subset(f: Any, x: Any, /, *others: Any) -> tuple[Any, Any]:
    y = f(x, *others)
    return y, (_run_dict_copy, y, x)


for _name in ("intersection", "difference"):
    method(set, _name)(functools.partial(_subset, getattr(set, _name)))


@method(deque, "append", exact=True)
def _deque_append(x: Any, value: Any) -> tuple[Any, Any]:
    if x.maxlen is not None and len(x) == x.maxlen:
        if not x.maxlen:
            return None, None
        deque.append(x, value)
        return None, (_run_rotated_in, x, len(x) - 1, 0)
    deque.append(x, value)
    return None, (construction.run_appended, x, len(x) - 1)


def _run_rotated_in(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """A full deque of bounded length: what came in goes, and what fell out at the other end is there again."""
    _, x, index, fallen = back
    shadow = shadows.list_of(x)
    shadow.extend([None] * (index + 1 - len(shadow)))
    c = shadow.pop(index)
    shadow.insert(fallen, None)
    return None, c


@method(deque, "appendleft", exact=True)
def _appendleft(x: Any, value: Any) -> tuple[Any, Any]:
    if x.maxlen is not None and len(x) == x.maxlen:
        if not x.maxlen:
            return None, None
        deque.appendleft(x, value)
        return None, (_run_rotated_in, x, 0, len(x) - 1)
    deque.appendleft(x, value)
    return None, (_run_prepended, x)


def _run_prepended(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    shadow = shadows.items.get(id(back[1]))
    return (None, shadow.pop(0)) if shadow else None


@method(deque, "pop", exact=True)
def _deque_pop(x: Any) -> tuple[Any, Any]:
    y = deque.pop(x)
    return y, (run_popped, x, len(x))


@method(deque, "popleft", exact=True)
def _popleft(x: Any) -> tuple[Any, Any]:
    y = deque.popleft(x)
    return y, (run_popped, x, 0)


@method(deque, "extend")
def _deque_extend(x: Any, values: Any) -> tuple[Any, Any]:
    if x.maxlen is None:
        return None, construction.record_list_extend(x, values)
    return None, extend_bounded(x, values)


def extend_bounded(x: Any, values: Any) -> Any:
    """`x.extend(values)` of a deque with a largest length."""
    return _each_by(_deque_append, x, values)


@method(deque, "extendleft")
def _extendleft(x: Any, values: Any) -> tuple[Any, Any]:
    return None, _each_by(_appendleft, x, values)


def _each_by(step: Any, x: Any, values: Any) -> Any:
    if values is x:  # its items are read first
        items, drain = draining.drained(values)
        return (_run_steps_by_itself, [step(x, value)[1] for value in items], drain)
    iterator, rec = iteration.with_backs(values)
    steps: list[Any] = []
    back = (_run_steps, steps, rec)
    with reentry.undone(back):  # what came before the iterator raises stays
        for value, inner in iterator:
            steps.append((step(x, value)[1], inner))
    return back


def _run_steps_by_itself(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    taken: list[Any] = []
    for step in reversed(back[1]):
        given = calls.run(step, None, shadows)
        taken.append(None if given is None else given[1])
    draining.give(back[2], taken[::-1], shadows)


def _run_steps(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    for step, inner in reversed(back[1]):
        given = calls.run(step, None, shadows)
        if inner is not None:
            inner[0](inner, None if given is None else given[1], shadows)
    whole = None if back[2] is None else back[2][0](back[2], None, shadows)
    return None if whole is None else (None, whole[0])


@method(deque, "rotate", exact=True)
@reentry.by_index(1)
def _rotate(x: Any, n: int = 1) -> tuple[Any, Any]:
    length = len(x)
    deque.rotate(x, n)
    return None, (run_permuted, x, [(k - n) % length for k in range(length)])


@method(deque, "copy", "__copy__")
def _deque_copy(x: Any) -> tuple[Any, Any]:
    y = deque.copy(x)
    return y, (subscripts.run_list_slice, y, x, range(len(x)))


method(deque, "insert", exact=True)(_insert)
for _cls in (deque, array.array):
    for _name in ("remove", "reverse", "clear"):
        if hasattr(_cls, _name):
            method(_cls, _name, exact=True)(calls.METHODS[list, _name])


@method(array.array, "append")
def _array_append(x: Any, value: Any) -> tuple[Any, Any]:
    if conversions.is_stored_as_number(x, value):
        return None, (_run_put, conversions.stored(lambda x, number: _array_append(x, number)[1], x, value), 1)
    array.array.append(x, value)
    return None, (construction.run_appended, x, len(x) - 1)


@method(array.array, "insert", exact=True)
def _array_insert(x: Any, index: Any, value: Any) -> tuple[Any, Any]:
    if conversions.is_stored_as_number(x, value):
        return None, (_run_put, conversions.stored(lambda x, number: _insert(x, index, number)[1], x, value), 2)
    return _insert(x, index, value)


def _run_put(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """`back[2]` is at which place the value stands among the arguments."""
    return *(None,) * back[2], calls.run(back[1], None, shadows)[-1]


method(array.array, "pop", exact=True)(calls.METHODS[list, "pop"])


@method(array.array, "extend", exact=True)
def _array_extend(x: Any, values: Any) -> tuple[Any, Any]:
    if type(values) not in (list, tuple):
        return None, construction.record_list_extend(x, values)
    numbers, drain = conversions.drained(values)
    return None, (_run_array_extended, construction.record_list_extend(x, numbers), numbers, drain)


def _run_array_extended(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, numbers, drain = back
    calls.run(inner, None, shadows)
    taken = shadows.take_list(numbers) or []
    return None, draining.give(drain, [*taken, *[None] * (len(numbers) - len(taken))], shadows)


@method(memoryview, "__setitem__")
def _memory_set(x: memoryview, key: Any, value: Any) -> tuple[Any, Any]:
    return None, subscripts.record_setitem(x, key, value)


_query(array.array, "index", "count", "tobytes", "buffer_info")


@method(array.array, "tolist")
def _tolist(x: Any) -> tuple[Any, Any]:
    y = x.tolist()
    return y, (subscripts.run_list_slice, y, x, range(len(x)))


# --------------------------------------------------------------------------------------- methods of immutables


@method(complex, "conjugate")
def _conjugate(x: complex) -> tuple[Any, Any]:
    return x.conjugate(), (_run_conjugate,)


def _run_conjugate(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (complex(d).conjugate(),)


@method(float, "conjugate")
def _same_number(x: Any) -> tuple[Any, Any]:
    return x, (_run_self,)


method(int, "conjugate")(_same_number)


def _run_self(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return (d,)


def _binary_method(cls: Any, op: str, name: str, swapped: bool) -> None:
    compute, rule = getattr(cls, name), RULES[op]

    def binary(x: Any, other: Any, *mod: Any) -> tuple[Any, Any]:
        y = compute(x, other, *mod)
        if y is NotImplemented or mod:
            return y, None
        x = cls.__pos__(x)  # of a subclass that is the plain number
        return y, (_run_binary_method, rule, y, x, other, swapped)

    method(cls, name)(binary)


def _run_binary_method(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, rule, y, x, other, swapped = back
    if d is None:
        return None
    return rule(d, y, other, x)[::-1] if swapped else rule(d, y, x, other)


def _unary_method(cls: Any, op: str) -> None:
    compute, rule = getattr(cls, f"__{op}__"), RULES[op]

    def unary(x: Any) -> tuple[Any, Any]:
        y = compute(x)
        return y, number_back(rule, y, cls.__pos__(x))

    method(cls, f"__{op}__")(unary)


for _cls in (float, int, complex):
    for _op in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
        for _name in (f"__{_op}__", f"__r{_op}__"):
            if hasattr(_cls, _name):
                _binary_method(_cls, _op, _name, _name.startswith("__r"))
    for _op in ("neg", "pos", "abs"):
        _unary_method(_cls, _op)


def _text_methods(cls: type) -> None:
    for name in dir(cls):
        if callable(getattr(cls, name)) and not name.startswith("__") and name not in ("join", "maketrans", "fromhex"):
            method(cls, name, exact=True)(functools.partial(ask, getattr(cls, name)))
    method(cls, "join", exact=True)(functools.partial(ask, cls.join))


_text_methods(str)
_text_methods(bytes)
