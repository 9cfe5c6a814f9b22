"""Displays of containers, and what is added to containers."""

from __future__ import annotations

import array
from collections import OrderedDict
from operator import itemgetter
from typing import Any

from zyg.backend.phrases import PLAIN_KEYS
from zyg.errors import as_called

from . import calls, conversions, draining, item_methods, iteration, mappings, reentry, sources, subscripts, unpacking
from .backs import run_shifted
from .cotangents import INERT, SETS, accumulate
from .reach import PLAIN as UNASKED
from .reach import check_key
from .shadows import ABOUT, add_all, in_python, settle


def made_tuple(shadows: Any, d: Any, y: Any, *items: Any) -> Any:
    return d


def _made_list(shadows: Any, d: Any, y: Any, *items: Any) -> Any:
    shadow = shadows.items.get(id(y))
    if not shadow:
        return None
    taken = shadow[:]
    shadow.clear()  # compiled code may hold it
    if len(taken) < len(items):
        taken.extend([None] * (len(items) - len(taken)))
    return taken


made_list = in_python("add", _made_list)
settle(made_list, "zyg_made_list", *ABOUT)


def made_set(shadows: Any, d: Any, y: Any, *items: Any) -> Any:
    taken = shadows.take_dict(y)
    return None if taken is None else [taken.pop(v, None) for v in items]


def made_dict(shadows: Any, d: Any, y: Any, *operands: Any) -> Any:
    taken = shadows.take_dict(y) or {}
    if not taken and not shadows.marks:
        return None
    result: list[Any] = [None] * len(operands)
    for at in range(len(operands) - 2, -1, -2):  # of a key that is there twice the last value counts
        result[at] = subscripts.refused_key(y, operands[at], shadows) if shadows.marks else None
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
        add_all(shadows, x, 0, list(d))


def made_function(shadows: Any, d: Any, y: Any, *operands: Any) -> Any:
    """Defaults of a function by position: calls that leave them out add to the function's shadow. (Those by keyword are items
    of a dict.) The last operand says which operands there are."""
    if not shadows.items.get(id(y)):
        return None
    *values, has = operands
    taken = shadows.take_dict(y)
    result: list[Any] = [None] * len(values)
    for at, what in enumerate(has):
        if what == "defaults":
            result[at] = tuple([taken.get(k) for k in range(len(values[at]))])
    return result


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
    start = len(x)
    if type(values) is list and type(x) is list and values is not x:
        x.extend(values)
        return (run_extended_by_list, x, start, values, len(values))
    if type(values) is tuple and INERT.issuperset(map(type, values)):
        subscripts.base_of(x).extend(x, values)
        return (run_extended_plainly, x, start)
    items, drain = draining.drained(values, asked=True)
    subscripts.base_of(x).extend(x, items)
    return (run_filled, x, start, len(items), drain)


def run_filled(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, start, count, drain = back
    taken = cut_off(shadows, x, start)
    if not taken:
        return None, draining.give(drain, None, shadows)
    taken.extend([None] * (count - len(taken)))
    return None, draining.give(drain, taken, shadows)


def record_list_extend(x: Any, values: Any) -> Any:
    """`x.extend(values)`."""
    start = len(x)
    if type(values) is list and values is not x:
        subscripts.base_of(x).extend(x, values)
        return (run_extended_by_list, x, start, values, len(values))
    if values is x:
        values = list(x)
        subscripts.base_of(x).extend(x, values)
        return (run_extended_by_itself, x, start)
    if draining.is_certain(values):
        items, drain = draining.drained(values)
        subscripts.base_of(x).extend(x, items)
        return (run_filled, x, start, len(items), drain)
    extend = draining.EXTENDING.get(type(values))
    if extend is not None:
        return extend(x, values)
    # (A deque and an array do not ask for the length.)
    iterator, rec = (
        iteration.listed(values, iteration.pairs_to_end) if isinstance(x, list) else iteration.pairs_to_end(values)
    )
    if rec is None:
        subscripts.base_of(x).extend(x, iterator)
        return (run_extended_plainly, x, start)
    backs: list[Any] = []
    append = subscripts.base_of(x).append
    of_numbers = isinstance(x, array.array) and x.typecode in "fd"
    extended = (run_extended, x, backs, rec)
    with reentry.undone(extended):  # items stay in the list when the iterator raises
        for item, back in iterator:
            backs.append((len(x), back))
            if of_numbers:
                item, back = conversions.number_of(item, back)
                backs[-1] = len(x), back
            append(x, item)
        end = sources.record_finish(iterator)[1]
        if end is not None:
            backs.append((len(x), end))
    return extended


def cut_off(shadows: Any, x: Any, start: int) -> Any:
    shadow = shadows.items.get(id(x))
    if not shadow or len(shadow) <= start:
        return ()
    taken = shadow[start:]
    del shadow[start:]
    return taken


def run_extended(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, backs, rec = back
    for place, inner in reversed(backs):  # what made an item may have looked at those before it in the list
        c = shadows.take_appended(x, place)
        if inner is not None:
            inner[0](inner, c, shadows)
    whole = rec[0](rec, None, shadows)
    return None, None if whole is None else whole[0]


def run_extended_plainly(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    cut_off(shadows, back[1], back[2])


def run_extended_by_list(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    taken = cut_off(shadows, back[1], back[2])
    if taken:
        add_all(shadows, back[3], 0, taken)


def run_extended_by_itself(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    for index, c in enumerate(cut_off(shadows, back[1], back[2])):
        if c is not None:
            shadows.add_item(back[1], index, c)


def record_set_update(x: Any, values: Any) -> Any:
    # (C code takes the items of a set, whatever its `__iter__` is.)
    if holds_labels(values):
        set.update(x, values)
        return None
    update = draining.UPDATING.get(type(values))
    if update is not None:
        return update(x, values)
    of_set = isinstance(values, (set, frozenset))
    iterator, rec = iteration.plain_pairs(values) if of_set else iteration.pairs(values)
    if rec is None:
        set.update(x, iterator)
        return None
    backs: list[Any] = []
    updated = (run_set_updated, x, backs, rec)
    with reentry.undone(updated):
        for item, back in iterator:
            if type(item) not in UNASKED:
                check_key(item)
            if item not in x:
                set.add(x, item)
                backs.append((item, back))
    return updated


_STANDING = frozenset({*SETS, list, tuple, dict, range, str})


def holds_labels(x: Any) -> bool:
    """Whether something is gone through plainly, and gives ints, texts and their like, which have no cotangents."""
    return type(x) in _STANDING and PLAIN_KEYS.issuperset(map(type, x))


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
    return subscripts.dict_set(x, key)


def record_dict_update(x: Any, other: Any) -> Any:
    """`x.update(other)` for a mapping or pairs."""
    if type(other) is dict is type(x):
        x.update(other)
        return (run_dict_updated, x, other, tuple(other))
    if type(other) is iteration.Direct:  # `zip` and `enumerate`, most of all, which nobody asks for keys
        return _update_by_pairs(x, other)
    if mappings.is_taken_as_dict(other):
        subscripts.base_of(x).update(x, other)
        return (run_dict_updated, x, other, tuple(other))
    if isinstance(x, OrderedDict) and mappings.has_methods(other):  # which takes the keys one by one
        return (run_shifted, calls.call(item_methods.update, (x, other))[1])
    has_keys, asked = mappings.record_has_keys(other)
    if asked is None:
        return _update_by_keys(x, other) if has_keys else _update_by_pairs(x, other)
    with reentry.undone(asked):
        back = _update_by_keys(x, other) if has_keys else _update_by_pairs(x, other)
    return (_run_asked_before, asked, back)


def _run_asked_before(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, asked, inner = back
    given = calls.run(inner, None, shadows)
    calls.run(asked, None, shadows)
    return given


def _update_by_keys(x: Any, other: Any) -> Any:
    """`x.update(other)` for a mapping that is asked for its keys."""
    back = _add_by_names(x, other)
    if back is None:  # it has none any more: an AttributeError
        return (run_shifted, calls.call(_ask_for_keys, (x, other))[1])
    return back


def _ask_for_keys(x: Any, other: Any) -> None:
    other.keys()


def _add_by_names(x: Any, other: Any, function: Any = None) -> Any:
    """The items of a mapping become items of a dict; `function`: as keyword arguments of a call of that. None for what has no `keys`."""
    names, asked = mappings.record_names(other)
    if names is None:
        return None
    store = subscripts.base_of(x).__setitem__
    backs: list[Any] = []
    added = (_run_added_by_names, x, backs, asked)
    with reentry.undone(added):
        for name in names:
            if type(name) not in UNASKED:
                check_key(name)
            if function is not None and name in x:
                raise TypeError(f"{as_called(function)}got multiple values for keyword argument '{name}'")
            value, back = subscripts.record_getitem(other, name)
            store(x, name, value)
            backs.append((name, back))
    return added


def _run_added_by_names(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, backs, asked = back
    whole = None  # (of what is a value: an instance of a class derived from tuple)
    for name, inner in reversed(backs):
        given = calls.run(inner, shadows.take_key(x, name), shadows)
        if given is not None and given[0] is not None:
            whole = accumulate(whole, given[0])
    given = calls.run(asked, None, shadows)
    if given is not None and given[0] is not None:
        whole = accumulate(whole, given[0])
    return None, whole


def _update_by_pairs(x: Any, other: Any) -> Any:
    """The same for pairs of keys and values."""
    base = subscripts.base_of(x)
    if draining.is_certain(other):
        pairs, drain = draining.drained(other)
        if _TUPLE.issuperset(map(type, pairs)) and _LENGTH_TWO.issuperset(map(len, pairs)):
            keys = list(map(_FIRST, pairs))
            if PLAIN_KEYS.issuperset(map(type, keys)):
                if base is dict:
                    dict.update(x, pairs)
                else:  # whose `update` asks a class derived from it
                    for key, value in pairs:
                        base.__setitem__(x, key, value)
                return (run_updated_at_once, x, keys, drain)
        other = draining.again(other, pairs, drain)
    store = base.__setitem__
    iterator, rec = iteration.with_backs(other)
    backs = []
    updated = (run_updated_by_pairs, x, backs, rec)
    with reentry.undone(updated):
        for item, back in iterator:
            key, value, inner = unpacking.record_unpack(item, 2)
            check_key(key)
            store(x, key, value)
            backs.append((key, (_run_value_of_pair, back, inner, x, key)))
    return updated


_TUPLE = frozenset({tuple})
_FIRST = itemgetter(0)
_LENGTH_TWO = frozenset({2})


def record_dict_display(x: Any, other: Any) -> Any:
    """`{**other}`, which takes mappings only."""
    if mappings.is_taken_as_dict(other):
        return record_dict_update(x, other)
    back = _add_by_names(x, other)
    if back is None:
        raise TypeError(f"'{type(other).__name__}' object is not a mapping")
    return back


def _run_value_of_pair(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    given = calls.run(back[2], (subscripts.refused_key(back[3], back[4], shadows), d), shadows)
    if back[1] is not None:
        back[1][0](back[1], None if given is None else given[0], shadows)


def _run_dict_updated(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, other, keys = back
    shadow = shadows.items.get(id(x))
    if not shadow:
        return
    to = shadows.items_of(other)
    for key in reversed(keys):
        c = shadow.pop(key, None)
        if c is not None:
            old = to.get(key)
            to[key] = c if old is None else old + c if type(old) is float else accumulate(old, c)


run_dict_updated = in_python("pull", _run_dict_updated)
settle(run_dict_updated, "zyg_pull_updated", *ABOUT)


def run_updated_at_once(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, keys, drain = back
    shadow = shadows.items.get(id(x))
    if not shadow:
        return None, draining.give(drain, None, shadows)
    ds: list[Any] = [None] * len(keys)
    for k in range(len(keys) - 1, -1, -1):
        c = shadow.pop(keys[k], None)
        if c is not None:
            ds[k] = None, c
    return None, draining.give(drain, ds, shadows)


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
    if mappings.is_taken_as_dict(other):
        for k in other:
            if k in x:
                raise TypeError(f"{as_called(function)}got multiple values for keyword argument '{k}'")
            if type(k) is not str and not isinstance(k, str):
                raise TypeError("keywords must be strings")
        return record_dict_update(x, other)
    back = _add_by_names(x, other, function)
    if back is None:
        name = type(other).__name__
        raise TypeError(f"{as_called(function)}argument after ** must be a mapping, not {name}")
    with reentry.undone(back):
        for k in x:
            if not isinstance(k, str):
                raise TypeError("keywords must be strings")
    return (_run_merged, back)


def _run_merged(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (*given, None)


PLAIN = {
    "tuple": made_tuple, "list": made_list, "set": made_set, "dict": made_dict,
    "frozen_key_dict": made_frozen_key_dict, "list_to_tuple": made_tuple_of_list, "make_function": made_function,
}  # fmt: skip

RECORD = {
    "list_append": record_list_append, "set_add": record_set_add, "list_extend": record_fill,
    "set_update": record_set_update, "dict_setitem": record_dict_setitem, "dict_update": record_dict_display,
    "dict_merge": record_dict_merge,
}  # fmt: skip
