"""Items of containers, and the operators and displays that make them."""

from __future__ import annotations

import array
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from itertools import repeat
from typing import Any

import numpy as np

from zyg.autodiff import objects

from . import calls, foreign, iteration, numpy_, reentry
from .arithmetic import find, is_python
from .cotangents import accumulate
from .iteration import run_list_item
from .reach import PLAIN as UNASKED
from .reach import check_key, entered

# -------------------------------------------------------------------------------------------------- getitem


# Exactly these types are read and written as lists and dicts are; reading what a dict has not is another matter.
_LISTS = frozenset({deque, array.array})
_DICTS = frozenset({defaultdict, OrderedDict, Counter})


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
        return plain_getitem(x, key)
    return _other_item(x, key)


# (What is frequent stands alone: second derivatives through Python differentiate these functions.)


def _other_item(x: Any, key: Any) -> tuple[Any, Any]:
    t = type(x)
    if t is np.ndarray or (issubclass(t, np.ndarray) and not is_python(find(t, "__getitem__"))):
        return numpy_.getitem(x, key)
    if t is np.flatiter:
        return numpy_.getitem(x.base, _unravelled(x, key))
    if t is str or t is bytes or t is range:
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


def _unravelled(x: np.flatiter[Any], key: Any) -> tuple[Any, ...]:
    """Items of `a.flat` as items of `a`."""
    return np.unravel_index(np.arange(x.base.size)[key], x.base.shape)


def _general_item(x: Any, key: Any) -> tuple[Any, Any]:
    t = type(x)
    if isinstance(x, type):
        generic: Any = x  # list[int], and enumerations by name
        own, of_class = find(t, "__getitem__"), find(x, "__class_getitem__")
        if entered((own,), deep=True):
            y, back = calls.call(own.__get__(x, t), (key,))
        elif own is None and entered((getattr(of_class, "__func__", of_class),), deep=True):
            y, back = calls.call(generic.__class_getitem__, (key,))
        else:
            return generic[key], None
        return y, None if back is None else (_run_method_item, back)
    method = find(t, "__getitem__")
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


_HINT = "use a list, a dict or an array, or take it out of the derivative's path with zyg.stop_gradient"


def _run_method_item(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return calls.run(back[1], d, shadows)


def _missing_item(x: Any, key: Any) -> tuple[Any, Any]:
    """An item of a subclass of dict: `__missing__` is for what is not there."""
    check_key(key)
    if dict.__contains__(x, key):
        return dict.__getitem__(x, key), (iteration.run_dict_item, x, key)
    missing = find(type(x), "__missing__")
    if is_python(missing):
        y, back = calls.call(missing.__get__(x, type(x)), (key,))
        return y, None if back is None else (_run_method_item, back)
    if isinstance(x, defaultdict) and x.default_factory is not None:
        y, back = calls.call(x.default_factory, ())
        x[key] = y
        return y, (run_default_made, x, key, back)
    return x[key], None  # Counter gives 0; a plain dict raises


def run_default_made(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, key, made = back
    calls.run(made, accumulate(d, shadows.take_key(x, key)), shadows)


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


def run_list_slice(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The cotangents of a new list go to the items that it was made of."""
    taken = shadows.take_list(back[1])
    if taken is not None:
        shadows.add_items(back[2], zip(back[3], taken))


def run_list_part(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The same of items that stand one behind the other."""
    shadow = shadows.items.get(id(back[1]))
    if shadow:
        shadows.add_all(back[2], back[3], shadow)
        shadow.clear()


_LIMITS = frozenset({int, type(None)})


def part_of_list(x: list[Any], key: slice) -> tuple[Any, Any]:
    """`x[a:b]` of a list."""
    start = key.start
    if start is None:
        start = 0
    if type(start) is not int or key.step is not None or type(key.stop) not in _LIMITS:
        return plain_getitem(x, key)  # something may be asked for its index
    y = x[key]
    return y, (run_list_part, y, x, start if start >= 0 else max(start + len(x), 0))


_BASES = (tuple, list, deque, array.array, OrderedDict, dict, set)


def base_of(x: Any) -> Any:
    """The builtin class of a container: what it does, whatever a subclass does in its place."""
    if type(x) in _BASES:
        return type(x)
    return next(base for base in _BASES if isinstance(x, base))


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
        return y, (run_tuple_slice, indices, len(x)) if base is tuple else (run_list_slice, y, x, indices)
    index = operator.index(key)
    index = index if index >= 0 else index + len(x)
    return y, (run_tuple_item, index, len(x)) if base is tuple else (run_list_item, x, index)


def plain_setitem(x: Any, key: Any, value: Any) -> Any:
    """What the builtin class of a container does for `x[key] = value`."""
    base = base_of(x)
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


def record_setitem(x: Any, key: Any, value: Any) -> Any:
    t = type(x)
    if t is list and type(key) is int:
        x[key] = value
        return (run_list_set, x, key if key >= 0 else key + len(x))
    if t is dict or t in _DICTS:
        if type(key) not in UNASKED:
            check_key(key)
        x[key] = value
        return _dict_set(x, key)
    return _set_other_item(x, key, value)


def _set_other_item(x: Any, key: Any, value: Any) -> Any:
    t = type(x)
    if t in _LISTS and type(key) is int:
        x[key] = value
        return (run_list_set, x, key if key >= 0 else key + len(x))
    if t is np.ndarray or (issubclass(t, np.ndarray) and not is_python(find(t, "__setitem__"))):
        return numpy_.setitem(x, key, value)
    if t is np.flatiter:
        return numpy_.setitem(x.base, _unravelled(x, key), value)
    method = find(t, "__setitem__")
    if is_python(method):
        _, back = calls.call(method.__get__(x, t), (key, value))
        return back
    if isinstance(x, (list, deque, array.array)):
        return plain_setitem(x, key, value)
    if isinstance(x, dict):
        check_key(key)
        x[key] = value
        return _dict_set(x, key)
    _, made = reentry.followed(operator.setitem, (x, key, value), deep=True)
    back = foreign.result(None, f"a derivative through an item of a {t.__name__}", _HINT, (x, key, value))[1]
    return back if made is None else (_run_entered, back, made)


def _run_entered(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    called = calls.run(back[2], None, shadows)
    return called if given is None else given if called is None else tuple(map(accumulate, given, called))


def _dict_set(x: Any, key: Any) -> Any:
    return (_run_dict_set_by_number, x, key) if iteration.is_number_key(key) else (run_dict_set, x, key)


def _run_dict_set_by_number(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, refused_key(back[1], back[2], shadows), shadows.take_key(back[1], back[2])


def refused_key(x: Any, key: Any, shadows: Any) -> Any:
    """What flows to a key of a dict that has been asked for its keys."""
    refused = shadows.mark_of(x, keys=True)
    if refused is None or not iteration.is_number_key(key):
        return None
    return objects.structure.refuse(objects.structure.form(key), refused, shadows)


def run_list_set(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, shadows.take_item(back[1], back[2])


def run_dict_set(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, shadows.take_key(back[1], back[2])


def _set_slice(x: Any, key: slice, value: Any) -> Any:
    by_itself = is_python(find(type(value), "__next__"))  # only an iterator is asked for its length
    iterator, rec = iteration.listed(value) if by_itself else iteration.pairs(value)
    both = list(zip(iterator, repeat(None)) if rec is None else iterator)
    start, stop, step = key.indices(len(x))
    x[key] = [v for v, _ in both] if isinstance(x, list) else type(x)(x.typecode, [v for v, _ in both])
    backs = [b for _, b in both]
    if step == 1:
        return (run_set_slice, x, start, max(stop, start), backs, rec)
    return (run_set_strided, x, range(start, stop, step), backs, rec)


def run_set_slice(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """`x[start:stop] = value` may have changed the length."""
    _, x, start, stop, backs, rec = back
    shadow = shadows.list_of(x)
    end = start + len(backs)
    taken = shadow[start:end]
    if len(shadow) > start:
        shadow[start:end] = [None] * (stop - start)
    _give(taken, backs, shadows)
    whole = None if rec is None else rec[0](rec, None, shadows)
    return None, None, None if whole is None else whole[0]


def run_set_strided(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, indices, backs, rec = back
    taken = [shadows.take_item(x, index) for index in indices]
    _give(taken, backs, shadows)
    whole = None if rec is None else rec[0](rec, None, shadows)
    return None, None, None if whole is None else whole[0]


def _give(taken: Any, backs: Any, shadows: Any) -> None:
    """Run the backs of items on what has been taken for each; where there is nothing, on None."""
    for k in range(len(backs) - 1, -1, -1):
        inner = backs[k]
        if inner is not None:
            inner[0](inner, taken[k] if k < len(taken) else None, shadows)


# -------------------------------------------------------------------------------------------------- delitem


def record_delitem(x: Any, key: Any) -> Any:
    method = find(type(x), "__delitem__")
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


# ------------------------------------------------------------------------------------------------- displays


def made_tuple(shadows: Any, d: Any, y: Any, *items: Any) -> Any:
    return d


def made_list(shadows: Any, d: Any, y: Any, *items: Any) -> Any:
    taken = shadows.take_list(y)
    if taken is None:
        return None
    taken.extend([None] * (len(items) - len(taken)))
    return taken


def made_set(shadows: Any, d: Any, y: Any, *items: Any) -> Any:
    taken = shadows.take_dict(y)
    return None if taken is None else [taken.pop(v, None) for v in items]


def made_dict(shadows: Any, d: Any, y: Any, *operands: Any) -> Any:
    taken = shadows.take_dict(y) or {}
    if not taken and not shadows.marks:
        return None
    result: list[Any] = [None] * len(operands)
    for at in range(len(operands) - 2, -1, -2):  # of a key that is there twice the last value counts
        result[at] = refused_key(y, operands[at], shadows) if shadows.marks else None
        result[at + 1] = taken.pop(operands[at], None)
    return result


def made_frozen_key_dict(shadows: Any, d: Any, y: Any, *operands: Any) -> Any:
    *values, keys = operands
    taken = shadows.take_dict(y)
    if taken is None:
        return None
    result = [None] * len(values)
    for at in range(len(values) - 1, -1, -1):
        result[at] = taken.pop(keys[at], None)
    return result


def made_tuple_of_list(shadows: Any, d: Any, y: Any, x: Any) -> None:
    """`tuple(list)` at the end of a display with a star."""
    if d is not None:
        for index, c in enumerate(d):
            if c is not None:
                shadows.add_item(x, index, c)


def made_function(shadows: Any, d: Any, y: Any, *operands: Any) -> Any:
    """Defaults of a function: calls that leave them out add to the function's shadow. The last operand says which
    operands there are."""
    if not shadows.items.get(id(y)):
        return None
    *values, has = operands
    taken = shadows.take_dict(y)
    result: list[Any] = [None] * len(values)
    for at, what in enumerate(has):
        if what == "defaults":
            result[at] = tuple([taken.get(k) for k in range(len(values[at]))])
        elif what == "kwdefaults":
            for name in values[at]:
                if taken.get(name) is not None:
                    shadows.add_key(values[at], name, taken[name])
    return result


# --------------------------------------------------------------------- what comprehensions and displays add


def record_list_append(x: Any, value: Any) -> Any:
    x.append(value)
    return (run_appended, x, len(x) - 1)


def run_appended(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    shadow = shadows.items.get(id(back[1]))
    if shadow and len(shadow) > back[2]:
        return None, shadow.pop()
    return None


def record_set_add(x: Any, value: Any) -> Any:
    if type(value) not in UNASKED:
        check_key(value)
    if value in x:
        return None
    set.add(x, value)
    return (run_set_added, x, value)


def run_set_added(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, shadows.take_key(back[1], back[2])


def record_fill(x: Any, values: Any) -> Any:
    """`x.extend(values)` of a new list, which the iterator does not see grow."""
    t = type(values)
    if t not in iteration.DRAINED and t not in iteration.DRAINS:
        return record_list_extend(x, values)
    start = len(x)
    items, drain = iteration.drained(values)
    base_of(x).extend(x, items)
    return (run_filled, x, start, len(items), drain)


def run_filled(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, start, count, drain = back
    taken = _cut(shadows, x, start)
    if not taken:
        return None, iteration.give(drain, None, shadows)
    taken.extend([None] * (count - len(taken)))
    return None, iteration.give(drain, taken, shadows)


def record_list_extend(x: Any, values: Any) -> Any:
    """`x.extend(values)`."""
    start = len(x)
    if type(values) is list and values is not x:
        base_of(x).extend(x, values)
        return (run_extended_by_list, x, start, values, len(values))
    if values is x:
        values = list(x)
        base_of(x).extend(x, values)
        return (run_extended_by_itself, x, start)
    iterator, rec = iteration.listed(values)
    if rec is None:
        base_of(x).extend(x, iterator)
        return (run_extended_plainly, x, start)
    backs = []
    append = base_of(x).append
    for item, back in iterator:
        append(x, item)
        backs.append(back)
    return (run_extended, x, start, backs, rec)


def _cut(shadows: Any, x: Any, start: int) -> Any:
    shadow = shadows.items.get(id(x))
    if not shadow or len(shadow) <= start:
        return ()
    taken = shadow[start:]
    del shadow[start:]
    return taken


def run_extended(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, start, backs, rec = back
    _give(_cut(shadows, x, start), backs, shadows)
    whole = rec[0](rec, None, shadows)
    return None, None if whole is None else whole[0]


def run_extended_plainly(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _cut(shadows, back[1], back[2])


def run_extended_by_list(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    taken = _cut(shadows, back[1], back[2])
    if taken:
        shadows.add_all(back[3], 0, taken)


def run_extended_by_itself(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    for index, c in enumerate(_cut(shadows, back[1], back[2])):
        if c is not None:
            shadows.add_item(back[1], index, c)


def record_set_update(x: Any, values: Any) -> Any:
    iterator, rec = iteration.pairs(values)
    if rec is None:
        set.update(x, iterator)
        return None
    backs = []
    for item, back in list(iterator):
        if type(item) not in UNASKED:
            check_key(item)
        if item not in x:
            set.add(x, item)
            backs.append((item, back))
    return (run_set_updated, x, backs, rec)


def run_set_updated(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, backs, rec = back
    for item, inner in reversed(backs):
        c = shadows.take_key(x, item)
        if inner is not None:
            inner[0](inner, c, shadows)
    whole = rec[0](rec, None, shadows)
    return None, None if whole is None else whole[0]


def record_dict_setitem(x: Any, key: Any, value: Any) -> Any:
    if type(key) not in UNASKED:
        check_key(key)
    x[key] = value
    return _dict_set(x, key)


def record_dict_update(x: Any, other: Any) -> Any:
    """`x.update(other)` for a mapping or pairs."""
    store = base_of(x).__setitem__
    if isinstance(other, dict):
        base_of(x).update(x, other)
        return (run_dict_updated, x, other, tuple(other))
    if hasattr(other, "keys"):
        names, backs = list(other.keys()), []
        for name in names:
            value, back = record_getitem(other, name)
            store(x, name, value)
            backs.append((name, back))
        return (run_updated_by_pairs, x, backs, iteration.NOTHING)
    iterator, rec = iteration.with_backs(other)
    backs = []
    for item, back in iterator:
        key, value, inner = iteration.record_unpack(item, 2)
        check_key(key)
        store(x, key, value)
        backs.append((key, (_run_value_of_pair, back, inner, x, key)))
    return (run_updated_by_pairs, x, backs, rec)


def _run_value_of_pair(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    given = calls.run(back[2], (refused_key(back[3], back[4], shadows), d), shadows)
    if back[1] is not None:
        back[1][0](back[1], None if given is None else given[0], shadows)


def run_dict_updated(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, other, keys = back
    for key in reversed(keys):
        c = shadows.take_key(x, key)
        if c is not None:
            shadows.add_key(other, key, c)


def run_updated_by_pairs(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, backs, rec = back
    for key, inner in reversed(backs):
        c = shadows.take_key(x, key)
        if inner is not None:
            inner[0](inner, c, shadows)
    whole = None if rec is None else rec[0](rec, None, shadows)
    return None, None if whole is None else whole[0]


def record_dict_merge(x: Any, other: Any, function: Any) -> Any:
    """The keyword arguments of a call."""
    if type(other) is dict and not other:
        return None
    for k in other if isinstance(other, dict) or not hasattr(other, "keys") else other.keys():
        if k in x:
            raise TypeError(f"{foreign.name_of(function)}() got multiple values for keyword argument '{k}'")
        if type(k) is not str and not isinstance(k, str):
            raise TypeError("keywords must be strings")
    back = record_dict_update(x, other)
    return back if isinstance(other, dict) else (_run_merged, back)


def _run_merged(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (*given, None)


# -------------------------------------------------------------------------------------------------- operators


def binary(op: str, a: Any, b: Any) -> tuple[Any, Any] | None:
    """(value, back) of an operator on sequences and dicts, None if it is something else."""
    if op == "add":
        if isinstance(a, tuple) and isinstance(b, tuple):
            return a + b, (run_tuple_sum, len(a))
        if isinstance(a, (list, deque, array.array)):
            y: Any = operator.add(a, b)
            return y, (run_list_sum, y, a, b, len(a))
        if isinstance(a, (str, bytes)):
            return a + b, None
    elif op == "mul":
        sequence, swapped = (a, False) if not isinstance(a, int) else (b, True)
        if isinstance(a, (list, tuple, deque, array.array)) and not isinstance(b, int):
            count, asked = reentry.index_of(b)
            if asked is not None:
                made = binary(op, a, count)
                return None if made is None else (made[0], (reentry.run_at_index, made[1], asked))
        if isinstance(sequence, tuple):
            return a * b, (run_tuple_repeated, len(sequence), swapped)
        if isinstance(sequence, (list, deque, array.array)):
            y = a * b
            return y, (run_list_repeated, y, sequence, len(sequence))
        if isinstance(sequence, (str, bytes)):
            return reentry.followed(operator.mul, (a, b))
    elif op == "or" and isinstance(a, dict) and isinstance(b, dict):
        y = a | b
        return y, (run_dict_union, y, a, b, tuple(b))
    elif op in ("or", "and", "sub", "xor") and isinstance(a, (set, frozenset)):
        y = FUNCTIONS[op](a, b)
        return y, (run_set_operation, y, a, b)
    elif op == "mod" and isinstance(a, (str, bytes)):
        return reentry.followed(operator.mod, (a, b))
    return None


FUNCTIONS = {"or": operator.or_, "and": operator.and_, "sub": operator.sub, "xor": operator.xor}


def run_tuple_sum(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (d[: back[1]] or None, d[back[1] :] or None)


def run_list_sum(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, y, a, b, length = back
    for index, c in enumerate(shadows.take_list(y) or ()):
        if c is not None:
            if index < length:
                shadows.add_item(a, index, c)
            else:
                shadows.add_item(b, index - length, c)


def run_tuple_repeated(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, length, swapped = back
    total: Any = None
    for start in range(0, len(d), length or 1):
        total = accumulate(total, tuple(d[start : start + length]))
    return (None, total) if swapped else (total, None)


def run_list_repeated(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, y, x, length = back
    for index, c in enumerate(shadows.take_list(y) or ()):
        if c is not None:
            shadows.add_item(x, index % length, c)


def run_dict_union(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, y, a, b, keys = back
    for key, c in (shadows.take_dict(y) or {}).items():
        if c is not None:
            shadows.add_key(b if key in keys else a, key, c)


def run_set_operation(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, y, a, b = back
    for key, c in (shadows.take_dict(y) or {}).items():
        if c is not None:
            shadows.add_key(a if key in a else b, key, c)


def inplace(op: str, a: Any, b: Any) -> tuple[Any, Any] | None:
    """(value, back) of an in-place operator on containers; None if it is something else."""
    if isinstance(a, (list, deque, array.array)):
        if op == "add":
            inner = record_list_extend(a, b)
            return a, (run_inplace, inner)
        if op == "mul" and isinstance(b, int):
            length = len(a)
            a *= b
            return a, (run_list_repeated_in_place, a, length)
    if op == "or" and isinstance(a, dict):
        inner = record_dict_update(a, b)
        return a, (run_inplace, inner)
    if isinstance(a, set) and op in ("or", "and", "sub", "xor"):
        if op == "or":
            inner = record_set_update(a, b)
            return a, None if inner is None else (run_inplace, inner)
        before = set(a)
        a = INPLACE[op](a, b)
        return a, (run_set_shrunk, a, before) if op != "xor" else None
    return None


INPLACE = {"and": operator.iand, "sub": operator.isub, "xor": operator.ixor}


def run_inplace(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return back[1][0](back[1], None, shadows)


def run_set_shrunk(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Elements that left have no cotangents from later; those that stayed keep theirs."""


def run_list_repeated_in_place(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, length = back
    for index, c in enumerate(_cut(shadows, x, length)):
        if c is not None:
            shadows.add_item(x, index % length, c)


PLAIN = {
    "tuple": made_tuple, "list": made_list, "set": made_set, "dict": made_dict,
    "frozen_key_dict": made_frozen_key_dict, "list_to_tuple": made_tuple_of_list, "make_function": made_function,
}  # fmt: skip

RECORD = {
    "getitem": record_getitem, "setitem": record_setitem, "delitem": record_delitem,
    "list_append": record_list_append, "set_add": record_set_add, "list_extend": record_fill,
    "set_update": record_set_update, "dict_setitem": record_dict_setitem, "dict_update": record_dict_update,
    "dict_merge": record_dict_merge,
}  # fmt: skip
