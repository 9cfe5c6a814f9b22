"""The methods of dicts."""

from __future__ import annotations

import types
from collections import OrderedDict, defaultdict
from typing import Any

from . import calls, construction, draining, foreign, item_methods, iteration, structure, subscripts
from .builtins_ import MISSING, ask
from .calls import known, method
from .cotangents import accumulate
from .methods_ import delitem_method, iter_method, operator_method, query_methods, setitem_method
from .passing import passes
from .reach import PLAIN, check_key


@method(dict, "__init__", exact=True)
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


@method(dict, "get", exact=True)
def _get(x: dict[Any, Any], key: Any, default: Any = None) -> tuple[Any, Any]:
    if type(key) not in PLAIN:
        check_key(key)
    value = dict.get(x, key, MISSING)
    if value is not MISSING:
        return value, (iteration.run_dict_item, x, key)
    return default, None if default is None else GET_DEFAULT


def _run_get_default(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, d


GET_DEFAULT = (_run_get_default,)


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
    return default, GET_DEFAULT


def _run_dict_popped(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_key(back[1], back[2], d)


@method(dict, "popitem", exact=True)
def _popitem(x: dict[Any, Any]) -> tuple[Any, Any]:
    key, value = dict.popitem(x)
    return (key, value), (iteration.run_dict_pair, x, key, foreign.caller() if iteration.is_number_key(key) else None)


@method(dict, "update", exact=True)
def _dict_update(x: dict[Any, Any], other: Any = MISSING, /, **kwargs: Any) -> tuple[Any, Any]:
    if other is MISSING and not kwargs:
        return None, None
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
    return y, (run_dict_copied, y, x)


def run_dict_copied(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
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


for _name in ("keys", "items", "values", "clear", "pop"):
    method(OrderedDict, _name, exact=True)(calls.METHODS[dict, _name])
for _name, _function in (
    ("__init__", item_methods.update),
    ("update", item_methods.update),
    ("setdefault", item_methods.setdefault),
):
    method(OrderedDict, _name, exact=True)(item_methods.chosen(_function, calls.METHODS[dict, _name]))
query_methods(OrderedDict, "move_to_end", "__eq__")
operator_method(OrderedDict, "__iter__", iter_method)
operator_method(OrderedDict, "__setitem__", setitem_method)
operator_method(OrderedDict, "__delitem__", delitem_method)


@method(OrderedDict, "copy", exact=True)
def _ordered_copy(x: OrderedDict[Any, Any]) -> tuple[Any, Any]:
    return _dict_copy(x) if type(x) is OrderedDict else item_methods.call(item_methods.copied, x)


@method(defaultdict, "__missing__", exact=True)
def _missing(x: Any, key: Any) -> tuple[Any, Any]:
    if x.default_factory is None:
        return defaultdict.__missing__(x, key), None  # raises the KeyError
    return item_methods.call(item_methods.make_default, x, key)


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


def _from_keys(cls: Any, keys: Any, value: Any = None) -> Any:
    made = cls()
    for key in keys:
        made[key] = value
    return made


@passes(lambda variables: [(_run_from_keys,)])
def from_keys(cls: type, /, keys: Any, value: Any = None) -> tuple[Any, Any]:
    """The same of a class derived from dict."""
    y, back = calls.call(_from_keys, (cls, keys, value))
    return y, None if back is None else (_run_from_keys, back)


def _run_from_keys(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, *given[2:])
