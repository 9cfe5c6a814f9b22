"""Items of containers, which are read, set and deleted."""

from __future__ import annotations

import array
import operator
import re
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import numpy as np

from zyg.autodiff import objects
from zyg.ir.overtaking import OVERTAKING_FLAT
from zyg.ir.plainly import get_plainly

from ..identity import ByIdentity
from . import calls, conversions, foreign, iteration, numpy_items, numpy_moves, reentry
from .arithmetic import find, find_special, is_python
from .cotangents import accumulate
from .iteration import run_list_item
from .passing import passes, run_nothing_flows
from .reach import PLAIN as UNASKED
from .reach import check_key, entered
from .shadows import ABOUT, add_all, in_python, settle

# Exactly these types are read and written as lists and dicts are; reading what a dict has not is another matter.
_LISTS = frozenset({deque, array.array})
_DICTS = frozenset({defaultdict, OrderedDict, Counter})


@passes()
def record_getitem(x: Any, key: Any) -> tuple[Any, Any]:
    t = type(x)
    if t is list:
        if type(key) is int:
            return x[key], (run_list_item, x, key if key >= 0 else key + len(x))
        return part_of_list(x, key) if type(key) is slice else plain_getitem(x, key)
    if t is dict:
        if type(key) not in UNASKED:
            check_key(key)
        return x[key], (iteration.run_dict_item, x, key)
    if t is tuple:
        if type(key) is int:
            return x[key], (run_tuple_item, key if key >= 0 else key + len(x), len(x))
        return part_of_tuple(x, key) if type(key) is slice else plain_getitem(x, key)
    return _other_item(x, key)


# (What is frequent stands alone: second derivatives through Python differentiate these functions.)


@passes()
def _other_item(x: Any, key: Any) -> tuple[Any, Any]:
    t = type(x)
    if t is np.ndarray or (issubclass(t, np.ndarray) and not is_python(find(t, "__getitem__"))):
        return numpy_items.getitem(x, key)
    if issubclass(t, tuple) and find(t, "__getitem__") is _of_tuple:
        return item_of_tuple(x, key)
    if isinstance(x, (np.number, np.bool_)):
        y, back = numpy_moves.moving(operator.getitem, x, key)
        return y, None if back is None else (_run_number_item, back)
    if t is np.flatiter:
        return numpy_items.getitem(x.base, _unravelled(x, key))
    if t is re.Match and (type(key) is int or type(key) is str):
        return x[key], None
    if t is str or t is bytes or t is range:
        if type(key) is int:
            return x[key], None
        key, asked = reentry.index_of(key)
        if asked is None:
            return x[key], None
        with reentry.undone(asked):
            return x[key], (reentry.run_at_index, None, asked)
    if t in _DICTS:
        if type(key) not in UNASKED:
            check_key(key)
        return (x[key], (iteration.run_dict_item, x, key)) if key in x else _missing_item(x, key)
    if t in _LISTS and type(key) is int:
        return x[key], (run_list_item, x, key if key >= 0 else key + len(x))
    return _general_item(x, key)


def _run_number_item(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (given[1], None)


def _unravelled(x: np.flatiter[Any], key: Any) -> tuple[Any, ...]:
    """Items of `a.flat` as items of `a`."""
    return np.unravel_index(np.arange(x.base.size)[key], x.base.shape)


@passes()
def _general_item(x: Any, key: Any) -> tuple[Any, Any]:
    t = type(x)
    if isinstance(x, type):
        generic: Any = x  # list[int], and enumerations by name
        own, of_class = find(t, "__getitem__"), find(x, "__class_getitem__")
        if entered((own,), deep=True):
            y, back = calls.call(own.__get__(x, t), (key,))
        elif own is None and _is_said_by_class(t, of_class):
            y, back = calls.call(generic.__class_getitem__, (key,))
        else:
            return foreign.result(generic[key], f"a derivative through {x.__name__}[...] of a number", _HINT, (x, key))
        return y, None if back is None else (_run_method_item, back)
    method = find_special(t, "__getitem__")
    if is_python(method):
        y, back = calls.call(method.__get__(x, t), (key,))
        return y, None if back is None else (_run_method_item, back)
    if isinstance(x, (str, bytes, range)):
        return x[key], None
    if isinstance(x, (tuple, list, deque, array.array)):
        return plain_getitem(x, key)
    if isinstance(x, dict):
        return _missing_item(x, key)
    mapping = objects.structure.mapping_of(x)
    if mapping is not None:
        return record_getitem(mapping, key)
    memory = x.obj if t is memoryview else None
    return foreign.result(x[key], f"a derivative through an item of a {t.__name__}", _HINT, (x, key, memory))


def _is_said_by_class(meta: type, found: Any) -> bool:
    """Whether the `__class_getitem__` of a class is the user's; `found` is what stands in the class."""
    if found is None:
        return is_python(find(meta, "__getattr__"))
    return bool(entered((get_plainly(found, "__func__", found),), deep=True))


_HINT = "use a list, a dict or an array, or take it out of the derivative's path with zyg.stop_gradient"


def _run_method_item(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return calls.run(back[1], d, shadows)


@passes(
    lambda variables: [] if is_python(find_special(type(variables["x"]), "__missing__")) else [(run_nothing_flows,)]
)
def _missing_item(x: Any, key: Any) -> tuple[Any, Any]:
    """An item of a subclass of dict: `__missing__` is for what is not there."""
    check_key(key)
    if dict.__contains__(x, key):
        return dict.__getitem__(x, key), (iteration.run_dict_item, x, key)
    missing = find_special(type(x), "__missing__")
    if is_python(missing):
        y, back = calls.call(missing.__get__(x, type(x)), (key,))
        return y, None if back is None else (_run_method_item, back)
    if isinstance(x, defaultdict) and x.default_factory is not None:
        if is_python(find(type(x), "__setitem__")):
            return objects.item_methods.call(objects.item_methods.make_default, x, key)
        y, back = calls.forward_by_others(x.default_factory)()
        x[key] = y
        return y, (run_default_made, x, key, back)
    return x[key], None  # Counter gives 0; a plain dict raises


@passes()
def item_of_dict(x: Any, key: Any) -> tuple[Any, Any]:
    """What `dict.__getitem__` gives, of a class whose `__missing__` is not known."""
    if (type(key) is str or iteration.is_label(key)) and dict.__contains__(x, key):
        return dict.__getitem__(x, key), (iteration.run_dict_item, x, key)
    return _missing_item(x, key)


@passes()
def item_or_missing(method: Any, forward: Any, x: Any, key: Any) -> tuple[Any, Any]:
    """The same of a class whose `__missing__` is that method, with that forward half."""
    if type(key) is str or iteration.is_label(key):
        if dict.__contains__(x, key):
            return dict.__getitem__(x, key), (iteration.run_dict_item, x, key)
        if type(x).__missing__ is method:
            return forward(x, key)
    return _missing_item(x, key)


def run_default_made(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, key, made = back
    calls.run(made, accumulate(d, shadows.take_key(x, key)), shadows)


_of_tuple: Any = tuple.__getitem__


def item_of_tuple(x: Any, key: Any) -> tuple[Any, Any]:
    """The same of what is of a class derived from `tuple`, which leaves that to it."""
    if type(key) is int:
        return tuple.__getitem__(x, key), (
            run_tuple_item,
            key if key >= 0 else key + tuple.__len__(x),
            tuple.__len__(x),
        )
    return part_of_tuple(x, key) if type(key) is slice else plain_getitem(x, key)


def run_tuple_item(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, index, length = back
    result = [None] * length
    result[index] = d
    return tuple(result), None


def run_tuple_slice(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    result = [None] * back[2]
    for index, c in zip(back[1], d):
        result[index] = c
    return tuple(result), None


def _run_list_part(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The cotangents of a new list go to the items that it was made of: from a place on, at every step."""
    _, y, x, first, step = back
    shadow = shadows.items.get(id(y))
    if not shadow:
        return
    if step == 1:
        add_all(shadows, x, first, shadow)
    elif step == -1:
        add_all(shadows, x, first + 1 - len(shadow), shadow[::-1])
    else:
        shadows.add_items(x, zip(range(first, first + step * len(shadow), step), shadow))
    shadow.clear()


run_list_part = in_python("pull", _run_list_part)
settle(run_list_part, "zyg_pull_part", *ABOUT)


_LIMITS = frozenset({int, type(None)})


def part_of_list(x: list[Any], key: slice) -> tuple[Any, Any]:
    """`x[a:b]` of a list."""
    start, step = key.start, key.step
    if type(key.stop) not in _LIMITS:
        return plain_getitem(x, key)  # something may be asked for its index
    if step is not None:
        if type(step) is not int or type(start) not in _LIMITS:
            return plain_getitem(x, key)
        y = x[key]
        if start is None:
            return y, (run_list_part, y, x, 0 if step > 0 else len(x) - 1, step)
        return y, (run_list_part, y, x, key.indices(len(x))[0], step)
    if start is None:
        start = 0
    elif type(start) is not int:
        return plain_getitem(x, key)
    elif start < 0:
        start = max(start + len(x), 0)
    y = x[key]
    return y, (run_list_part, y, x, start, 1)


def part_of_tuple(x: Any, key: slice) -> tuple[Any, Any]:
    """The same of a tuple, or of a class derived from it that leaves that to it."""
    start = key.start
    if start is None:
        start = 0
    if type(start) is not int or key.step is not None or type(key.stop) not in _LIMITS:
        return plain_getitem(x, key)
    y, count = tuple.__getitem__(x, key), tuple.__len__(x)
    return y, (run_tuple_part, start if start >= 0 else max(start + count, 0), count)


def run_tuple_part(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if type(d) is not tuple:
        return None if d is None else (d, None)
    _, start, count = back
    return ((None,) * start + d + (None,) * (count - start - len(d)))[:count], None


_BASES = (tuple, list, deque, array.array, OrderedDict, dict, set)


def base_of(x: Any) -> Any:
    """The builtin class of a container: what it does, whatever a subclass does in its place."""
    t = type(x)
    found = _base.get(id(t))
    if found is None:
        found = next(base for base in _BASES if issubclass(t, base))
        _base.note(t, found)
    return found


_base = ByIdentity()  # by class


def plain_getitem(x: Any, key: Any) -> tuple[Any, Any]:
    """What the builtin class of a container does for `x[key]`, also where a subclass does it in another way."""
    base = base_of(x)
    if type(key) is not int and not issubclass(base, dict):
        key, asked = reentry.index_of(key)
        if asked is not None:
            with reentry.undone(asked):
                y, back = plain_getitem(x, key)
            return y, (reentry.run_at_index, back, asked)
    y = base.__getitem__(x, key)
    if issubclass(base, dict):
        return y, (iteration.run_dict_item, x, key)
    if type(key) is slice:
        indices = range(*key.indices(len(x)))
        if base is tuple:
            return y, (run_tuple_slice, indices, len(x))
        return y, (run_list_part, y, x, indices.start, indices.step)
    index = operator.index(key)
    index = index if index >= 0 else index + len(x)
    return y, (run_tuple_item, index, len(x)) if base is tuple else (run_list_item, x, index)


def plain_setitem(x: Any, key: Any, value: Any) -> Any:
    """What the builtin class of a container does for `x[key] = value`."""
    base = base_of(x)
    if base is array.array and conversions.is_stored_as_number(x, value):
        return conversions.stored(lambda x, number: plain_setitem(x, key, number), x, value)
    if type(key) is not int and not issubclass(base, dict):
        key, asked = reentry.index_of(key)
        if asked is not None:
            with reentry.undone(asked):
                return (reentry.run_at_index, plain_setitem(x, key, value), asked)
    if type(key) is slice:
        return _set_slice(x, key, value)
    base.__setitem__(x, key, value)
    if issubclass(base, dict):
        return (run_dict_set, x, key)
    index = operator.index(key)
    return (run_list_set, x, index if index >= 0 else index + len(x))


def plain_delitem(x: Any, key: Any) -> Any:
    """What the builtin class of a container does for `del x[key]`."""
    base = base_of(x)
    if issubclass(base, dict):
        base.__delitem__(x, key)
        return (run_dict_deleted, x, key)
    key, asked = reentry.index_of(key)
    if asked is not None:
        with reentry.undone(asked):
            return (reentry.run_at_index, plain_delitem(x, key), asked)
    indices = range(*key.indices(len(x))) if type(key) is slice else (operator.index(key),)
    if type(key) is not slice and indices[0] < 0:
        indices = (indices[0] + len(x),)
    base.__delitem__(x, key)
    return (run_deleted, x, sorted(indices))


# -------------------------------------------------------------------------------------------------- setitem


@passes()
def record_setitem(x: Any, key: Any, value: Any) -> Any:
    t = type(x)
    if t is list:
        if type(key) is int:
            x[key] = value
            return (run_list_set, x, key if key >= 0 else key + len(x))
        if type(key) is slice and (type(value) is list or type(value) is tuple):
            return _set_part(x, key, value)
    if t is dict or t in _DICTS:
        if iteration.is_label(key):
            x[key] = value
            return (run_dict_set, x, key)
        if type(key) not in UNASKED:
            check_key(key)
        x[key] = value
        return dict_set(x, key)
    return _set_other_item(x, key, value)


@passes()
def _set_other_item(x: Any, key: Any, value: Any) -> Any:
    t = type(x)
    if t in _LISTS and type(key) is int and (t is not array.array or type(value) is float):
        x[key] = value
        return (run_list_set, x, key if key >= 0 else key + len(x))
    if t is np.ndarray or (issubclass(t, np.ndarray) and not is_python(find(t, "__setitem__"))):
        return numpy_items.setitem(x, key, value)
    if t is np.flatiter:
        if isinstance(value, np.ndarray) and np.may_share_memory(x.base, value):
            raise ValueError(OVERTAKING_FLAT)
        return numpy_items.setitem(x.base, _unravelled(x, key), value)
    method = find_special(t, "__setitem__")
    if is_python(method):
        _, back = calls.call(method.__get__(x, t), (key, value))
        return back
    if isinstance(x, (list, deque, array.array)):
        return plain_setitem(x, key, value)
    if isinstance(x, dict):
        check_key(key)
        x[key] = value
        return dict_set(x, key)
    if t is memoryview:
        x[key] = value
        forms = [objects.structure.form(v) for v in (x, key, value)]
        place = foreign.caller()
        return (objects.watched.run_changed, [x.obj], (), forms, None, "memoryview.__setitem__", place)
    _, made = reentry.followed(operator.setitem, (x, key, value), deep=True)
    back = foreign.result(None, f"a derivative through an item of a {t.__name__}", _HINT, (x, key, value))[1]
    return back if made is None else (_run_entered, back, made)


def set_in_dict(x: Any, key: Any, value: Any) -> tuple[None, Any]:
    """(None, back), for instances of a class derived from `dict`, which leaves that to it."""
    if iteration.is_label(key):
        dict.__setitem__(x, key, value)
        return None, (run_dict_set, x, key)
    return None, _set_other_item(x, key, value)


def _run_entered(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    called = calls.run(back[2], None, shadows)
    return called if given is None else given if called is None else tuple(map(accumulate, given, called))


def dict_set(x: Any, key: Any) -> Any:
    return (_run_dict_set_by_number, x, key) if iteration.is_number_key(key) else (run_dict_set, x, key)


def _run_dict_set_by_number(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, refused_key(back[1], back[2], shadows), shadows.take_key(back[1], back[2])


def refused_key(x: Any, key: Any, shadows: Any) -> Any:
    """What flows to a key of a dict that has been asked for its keys."""
    refused = shadows.mark_of(x, keys=True)
    if refused is None or not iteration.is_number_key(key):
        return None
    return objects.scattering.refuse(objects.structure.form(key), refused, shadows)


def run_list_set(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, index = back
    shadow = shadows.items.get(id(x))
    if shadow is None or index >= len(shadow):
        return None
    d = shadow[index]
    shadow[index] = None
    return None, None, d


def run_dict_set(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, shadows.take_key(back[1], back[2])


def _set_part(x: list[Any], key: slice, value: Any) -> Any:
    """`x[a:b] = value` of lists and tuples."""
    if key.step is not None or type(key.start) not in _LIMITS or type(key.stop) not in _LIMITS or value is x:
        return plain_setitem(x, key, value)  # something may be asked for its index
    start, stop, _ = key.indices(len(x))
    x[key] = value
    return (_run_set_part, x, start, max(stop, start), value, len(value))


def _run_set_part_in_python(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, start, stop, value, count = back
    shadow = shadows.items.get(id(x))
    if shadow is None or len(shadow) <= start:
        return None
    taken = shadow[start : start + count]
    shadow[start : start + count] = [None] * (stop - start)
    if not taken:
        return None
    if type(value) is list:
        add_all(shadows, value, 0, taken)
        return None
    return None, None, tuple(taken) + (None,) * (count - len(taken))


_run_set_part = in_python("pull", _run_set_part_in_python)
settle(_run_set_part, "zyg_pull_set", *ABOUT)


def _set_slice(x: Any, key: slice, value: Any) -> Any:
    items, drain = objects.draining.drained_of_iterator(value)
    with objects.draining.undone(drain):
        start, stop, step = key.indices(len(x))
        base_of(x).__setitem__(x, key, items if isinstance(x, list) else type(x)(x.typecode, items))
    if step == 1:
        return (run_set_slice, x, start, max(stop, start), len(items), drain)
    return (run_set_strided, x, range(start, stop, step), drain)


def run_set_slice(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """`x[start:stop] = value` may have changed the length."""
    _, x, start, stop, count, drain = back
    shadow = shadows.list_of(x)
    end = start + count
    taken = shadow[start:end]
    if len(shadow) > start:
        shadow[start:end] = [None] * (stop - start)
    return None, None, _given_back(taken, count, drain, shadows)


def run_set_strided(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, indices, drain = back
    taken = [shadows.take_item(x, index) for index in indices]
    return None, None, _given_back(taken, len(taken), drain, shadows)


def _given_back(taken: list[Any], count: int, drain: tuple[Any, ...], shadows: Any) -> Any:
    """What comes to the value that was put in, from what has been taken for its items."""
    has_some = any(c is not None for c in taken)
    return objects.draining.give(drain, [*taken, *[None] * (count - len(taken))] if has_some else None, shadows)


@passes()
def record_delitem(x: Any, key: Any) -> Any:
    t = type(x)
    if t is list and type(key) is int:
        del x[key]
        return (run_deleted, x, (key if key >= 0 else key + len(x) + 1,))
    if t is dict and type(key) in UNASKED:
        del x[key]
        return (run_dict_deleted, x, key)
    return _delete_other_item(x, key)


@passes()
def _delete_other_item(x: Any, key: Any) -> Any:
    method = find_special(type(x), "__delitem__")
    if is_python(method):
        return calls.call(method.__get__(x, type(x)), (key,))[1]
    if isinstance(x, (list, deque, array.array)):
        return plain_delitem(x, key)
    if isinstance(x, dict):
        check_key(key)
    del x[key]
    return (run_dict_deleted, x, key) if isinstance(x, dict) else None


def run_deleted(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The items that were deleted are there again, without cotangents."""
    shadow = shadows.items.get(id(back[1]))
    if shadow:
        for index in back[2]:
            if index < len(shadow):
                shadow.insert(index, None)


def run_dict_deleted(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    shadows.take_key(back[1], back[2])


RECORD = {"getitem": record_getitem, "setitem": record_setitem, "delitem": record_delitem}
