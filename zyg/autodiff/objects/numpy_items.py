"""Items and parts of arrays, which are read and written: by short paths (`numpy_backs` says what for), and by whatever key there is."""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.backend import pulls
from zyg.ir.overtaking import OVERTAKING, overtakes

from . import conversions, foreign, memory, numpy_native
from .cotangents import Refused
from .numpy_ import OF_OBJECTS, as_operand, give, of_objects, refuse
from .numpy_backs import BESIDE, BOOL, FLOATS, NUMBERS, REAL, Made, given, ndarray, of_floats
from .shadows import owner_of

_KEYS = frozenset(
    {int, tuple, np.ndarray, list, type(None), type(...), bool, np.int64, np.bool_}
)  # which nobody is asked for
_SIMPLE = frozenset({int, np.int64, slice, type(None), type(...)})  # of these keys nothing has to be kept
_PLACES = frozenset({int, np.int64})
_INDICES = frozenset({np.dtype(np.int64), np.dtype(np.int32), BOOL})


def _is_once(key: Any) -> bool:
    """Whether it is one that names no element twice."""
    return type(key) in _SIMPLE or type(key) is ndarray and key.dtype is BOOL


# ---------------------------------------------------------------------------------------------------------- reading


def _read(x: Any, key: Any) -> Made:
    """A short path of `x[key]`, of an array of floats."""
    t = type(key)
    if t in _SIMPLE or t is tuple and _SIMPLE.issuperset(map(type, key)):
        y = x[key]
        return (y, None) if type(y) is ndarray else (y, (run_number, x, key)) if type(y) in NUMBERS else None
    kept = []
    repeats = False
    for part in key if t is tuple else (key,):
        if type(part) is ndarray:
            if part.dtype not in _INDICES:
                return None
            repeats = repeats or part.dtype is not BOOL
            kept.append(part.copy())
        elif type(part) in _SIMPLE:
            kept.append(part)
        else:
            return None
    y = x[key]
    again = tuple(kept) if t is tuple else kept[0]
    if type(y) is not ndarray:
        return (y, (run_number, x, again)) if type(y) in NUMBERS else None
    if y.base is None:
        return y, (run_picked_twice if repeats else run_picked, y, x, again)
    return (y, None) if owner_of(y) is owner_of(x) else None


def run_picked(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Of elements that are taken once."""
    _, y, x, key = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(x, dy, shadows)
        else:
            shadows.of_array(x)[key] += dy


def run_picked_twice(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Of elements that may be taken more than once."""
    _, y, x, key = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(x, dy, shadows)
        else:
            np.add.at(shadows.of_array(x), key, dy)


def getitem(x: np.ndarray, key: Any) -> tuple[Any, Any]:
    """(value, back) of `x[key]`: a number, a view, or a copy."""
    if of_floats(x):
        made = _read(x, key)
        if made is not None:
            return made
    if type(key) not in _KEYS:
        from . import reentry

        key, asked = reentry.index_of(key)
        if asked is not None:
            with reentry.undone(asked):
                y, back = getitem(x, key)
            return y, (reentry.run_at_index, back, asked)
    y = x[key]
    if of_objects(x):
        return foreign.result(y, *OF_OBJECTS, (x,))
    if not isinstance(y, np.ndarray):
        if x.dtype.kind not in "fciu":
            return y, None
        return y, (run_number, x, key if type(key) is int else frozen(key))
    if x.dtype.kind not in "fciu" or owner_of(y) is owner_of(x):
        return y, None
    return y, (run_getitem, y, x, frozen(key))


def frozen(key: Any) -> Any:
    if isinstance(key, np.ndarray):
        return key.copy()
    if isinstance(key, list):
        return np.array(key) if key else np.array(key, int)
    if isinstance(key, tuple):
        return tuple([frozen(k) for k in key])
    return key


def _run_number(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        if type(d) is Refused:
            shadows.add_array(back[1], d)
        else:
            shadows.of_array(back[1])[back[2]] += d


run_number = pulls.deferred("pull", _run_number)
pulls.when_started(lambda: pulls.settle(run_number, "zyg_pull_item", *numpy_native.ABOUT_SHADOWS))


def run_getitem(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, y, x, key = back
    dy = shadows.take_array(y)
    if dy is None:
        return
    if type(dy) is Refused:
        shadows.add_array(x, dy)
    elif _repeats(key):
        np.add.at(shadows.of_array(x), key, dy)
    else:
        shadows.of_array(x)[key] += dy


def _repeats(key: Any) -> bool:
    """Whether an index may name an element twice."""
    parts = key if isinstance(key, tuple) else (key,)
    return any(isinstance(k, np.ndarray) and k.dtype.kind != "b" for k in parts)


# ---------------------------------------------------------------------------------------------------------- writing


def _write(x: Any, key: Any, value: Any) -> Any:
    """A short path of `x[key] = value`, of an array of floats: of places that are written once."""
    t = type(key)
    simple = t in _SIMPLE or t is tuple and _SIMPLE.issuperset(map(type, key))
    if not simple and not (all(map(_is_once, key)) if t is tuple else _is_once(key)):
        return None
    if type(value) in REAL:
        places = 1 if t in _PLACES else len(key) if t is tuple and _PLACES.issuperset(map(type, key)) else 0
        run: Any = run_written_item if places and places == x.ndim else run_written_number
    elif type(value) is ndarray and value.dtype in BESIDE and not _is_within(x, value):
        run = run_written
    else:
        return None
    watched = memory.writing(x)
    x[key] = value  # NumPy reads before it writes; so does the reverse
    memory.written(watched)
    return (run, x, key if simple else frozen(key), value)


def _is_within(x: Any, value: Any) -> bool:
    """Whether an array is assigned to one of the same memory."""
    return (x if x.base is None else x.base) is (value if value.base is None else value.base)


def _refuse_overtaking(x: np.ndarray, key: Any, value: np.ndarray) -> None:
    """An assignment within one array that NumPy carries out one element after the other, and reads what it has written."""
    target = np.ndarray.__getitem__(x, key)
    if not isinstance(target, np.ndarray) or target.ndim != 1 or value.size != target.size:
        return
    if np.may_share_memory(target, value) and overtakes(target, value[(0,) * (value.ndim - 1)]):
        raise ValueError(OVERTAKING)


def _run_written_item(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Of one element."""
    _, x, key, _ = back
    shadow = shadows.found_of(x)
    if shadow is None:
        return None
    if type(shadow) is Refused:
        return None, None, shadow
    ds = float(shadow[key])
    shadow[key] = 0.0
    return None, None, ds


run_written_item = pulls.deferred("pull", _run_written_item)
pulls.when_started(lambda: pulls.settle(run_written_item, "zyg_pull_written", *numpy_native.ABOUT_SHADOWS))


def run_written_number(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, key, _ = back
    shadow = shadows.found_of(x)
    if shadow is None:
        return None
    if type(shadow) is Refused:
        return None, None, shadow
    dy = shadow[key]
    ds = float(dy.sum())
    shadow[key] = 0.0
    return None, None, ds


def run_written(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, key, value = back
    shadow = shadows.found_of(x)
    if shadow is None:
        return None
    if type(shadow) is Refused:
        return None, None, refuse(value, shadow, shadows)
    dy = shadow[key].copy()
    shadow[key] = 0.0
    given(value, dy, shadows)
    return None


def setitem(x: np.ndarray, key: Any, value: Any) -> Any:
    """The back of `x[key] = value`."""
    if type(x) is ndarray and x.dtype in FLOATS:
        back = _write(x, key, value)
        if back is not None:
            return back
    if type(key) not in _KEYS:
        from . import reentry

        key, asked = reentry.index_of(key)
        if asked is not None:
            with reentry.undone(asked):
                return (reentry.run_at_index, setitem(x, key, value), asked)
    if of_objects(x):
        x[key] = value
        back = foreign.result(None, *OF_OBJECTS, (x, None, value))[1]
        return back
    if conversions.is_stored_as_number(x, value):
        return conversions.stored(lambda x, number: setitem(x, key, number), x, value)
    watched = memory.writing(x)
    value, made = as_operand(value)
    if isinstance(value, np.ndarray) and value.dtype.hasobject and x.dtype.kind in "fc":
        held, value = value, value.astype(x.dtype)
        made = foreign.result(value, *OF_OBJECTS, (held,))[1]
    if isinstance(value, np.ndarray) and _is_within(x, value):
        _refuse_overtaking(x, key, value)
    x[key] = value  # NumPy reads before it writes; so does the reverse
    memory.written(watched)
    if x.dtype.kind not in "fciu":
        return None
    back = (run_setitem, x, frozen(key), value)
    return back if made is None else (_run_setitem_of_list, back, made)


def run_setitem(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, key, value = back
    if not shadows.has_array(x):
        return None
    refused = shadows.refusal_of(x)
    if refused is not None:
        return None, None, refuse(value, refused, shadows)
    shadow = shadows.of_array(x)
    dy = shadow[key]
    if isinstance(dy, np.ndarray):
        dy = dy.copy()
        if _repeats(key):  # the last of those that are written to one place stays
            places = np.arange(x.size).reshape(x.shape)[key].ravel()
            last = np.empty(x.size, int)
            last[places] = np.arange(places.size)
            dy = np.where((last[places] == np.arange(places.size)).reshape(dy.shape), dy, 0.0)
    shadow[key] = 0.0
    return None, None, give(value, dy, shadows)


def _run_setitem_of_list(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    run_setitem(back[1], None, shadows)
    return None, None, back[2][0](back[2], None, shadows)
