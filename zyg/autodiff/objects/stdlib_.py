"""Functions of the standard library that are written in C, as what they do in Python: that is differentiated."""

from __future__ import annotations

import _typing
import bisect
import collections
import functools
import gc
import operator
import pickle
import re
import sys
import threading
import types
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from zyg.backend.phrases import PLAIN_KEYS
from zyg.errors import Unsupported
from zyg.ir.plainly import own_attributes
from zyg.remedies import remedy

from . import builtins_, calls, dates, effects, foreign, methods_, scattering, structure
from .calls import known, method
from .cotangents import SCALARS, Refused, accumulate, is_number, refused_in
from .ordering import less
from .passing import passes


def means(target: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorated function does what `target` does."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        @known(target, exact=True)
        @passes()
        def handler(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
            return calls.call(function, args, kwargs)

        return function

    return register


# ----------------------------------------------------------------------------------------------------------- sys


@means(sys.exit)
def _exit(status: Any = None, /) -> Any:
    if isinstance(status, SystemExit):
        raise status
    if isinstance(status, tuple):
        raise SystemExit(*status)
    raise SystemExit if status is None else SystemExit(status)


# -------------------------------------------------------------------------------------------------------- typing


@known(_typing._idfunc, exact=True)
def _new_type(x: Any, /) -> tuple[Any, Any]:
    """A call of what `typing.NewType` gives."""
    return x, (_run_new_type,)


def _run_new_type(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, d


# -------------------------------------------------------------------------------------------------- collections


_count: Callable[[Any, Any], None] = getattr(collections, "_count_elements")  # noqa: B009


def _count_elements(mapping: Any, iterable: Any) -> None:
    for item in iterable:
        mapping[item] = mapping.get(item, 0) + 1


@known(_count, exact=True)
def _record_count(mapping: Any, iterable: Any, /) -> tuple[Any, Any]:
    if type(mapping) not in _COUNTING or type(iterable) not in _PLAIN_ITERABLES:
        return calls.call(_count_elements, (mapping, iterable))
    if not PLAIN_KEYS.issuperset(map(type, iterable)) or not _COUNTED.issuperset(map(type, mapping.values())):
        return calls.call(_count_elements, (mapping, iterable))
    before = set(mapping)
    _count(mapping, iterable)
    return None, (_run_count, mapping, [key for key in mapping if key not in before] if before else mapping.copy())


_COUNTING = frozenset({dict, collections.Counter})
_PLAIN_ITERABLES = frozenset({list, tuple, str, dict, set, frozenset})
_COUNTED = frozenset({int, float})


def _run_count(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Counts that there were before get what comes to them; others began as a constant."""
    shadow = shadows.items.get(id(back[1]))
    if shadow:
        for key in back[2]:
            shadow.pop(key, None)


# -------------------------------------------------------------------------------------------------------- bisect


_REALS = SCALARS - {complex}


def _place(right: bool) -> Callable[..., int]:
    """bisect, in code that is differentiated. `right`: behind what is equal."""
    behind = (lambda item, x: not operator.lt(x, item)) if right else operator.lt

    def place(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> int:
        if lo < 0:
            raise ValueError("lo must be non-negative")
        if hi is None:
            hi = len(a)
        while lo < hi:
            middle = (lo + hi) // 2
            if behind(a[middle] if key is None else key(a[middle]), x):
                lo = middle + 1
            else:
                hi = middle
        return lo

    return place


def _place_plainly(right: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int | None:
    """The same, as long as it meets nothing that runs code which has to be followed."""
    if kwargs or len(args) != 2:
        return None
    a, x = args
    number = type(x) in _REALS
    if type(a) is not list:
        if type(a) is np.ndarray and a.ndim == 1 and a.dtype.kind in "fiu" and number:
            return (bisect.bisect_right if right else bisect.bisect_left)(a, x)
        return None
    lo, hi = 0, len(a)
    while lo < hi:
        middle = (lo + hi) // 2
        item = a[middle]
        if number and type(item) in _REALS:
            below = bool(x < item if right else item < x)  # NumPy has booleans of its own
        else:
            below = less(x, item) if right else less(item, x)
        if below is None:
            return None
        if below is not right:
            lo = middle + 1
        else:
            hi = middle
    return lo


def _bisect(f: Callable[..., int], right: bool) -> None:
    meaning = _place(right)

    @known(f, exact=True)
    def handler(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        at = _place_plainly(right, args, kwargs)
        return (at, None) if at is not None else calls.call(meaning, args, kwargs)


def _insort(f: Callable[..., None], place: Callable[..., int], right: bool) -> None:
    def meaning(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> None:
        a.insert(place(a, x if key is None else key(x), lo, hi, key=key), x)

    @known(f, exact=True)
    def handler(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        at = _place_plainly(right, args, kwargs)
        if at is None:
            return calls.call(meaning, args, kwargs)
        a, x = args
        a.insert(at, x)
        return None, (methods_.run_inserted, a, at)


for _right, _find, _insert in (
    (False, bisect.bisect_left, bisect.insort_left),
    (True, bisect.bisect_right, bisect.insort_right),
):
    _bisect(_find, _right)
    _insort(_insert, _find, _right)


# ----------------------------------------------------------------------------------------------- functools.cmp_to_key


class _Key:
    """What `functools.cmp_to_key` makes of an item."""

    __slots__ = ("function", "obj")
    __hash__: Any = None

    def __init__(self, function: Any, obj: Any):
        self.function = function
        self.obj = obj

    def __lt__(self, other: Any) -> Any:
        return operator.lt(self.function(self.obj, other.obj), 0)

    def __le__(self, other: Any) -> Any:
        return operator.le(self.function(self.obj, other.obj), 0)

    def __gt__(self, other: Any) -> Any:
        return operator.gt(self.function(self.obj, other.obj), 0)

    def __ge__(self, other: Any) -> Any:
        return operator.ge(self.function(self.obj, other.obj), 0)

    def __eq__(self, other: Any) -> Any:
        return operator.eq(self.function(self.obj, other.obj), 0)


@means(functools.cmp_to_key)
def _cmp_to_key(mycmp: Any) -> Any:
    return functools.partial(_Key, mycmp)


KEY_WRAPPER = type(functools.cmp_to_key(lambda a, b: 0))


def _wrapped_in(f: Any) -> Any:
    return next(x for x in gc.get_referents(f) if callable(x) and not isinstance(x, type))


def compared_by(key: Any) -> Any:
    """The function that compares two items if `functools.cmp_to_key` has made a key of it; else None."""
    if type(key) is functools.partial:
        return key.args[0] if key.func is _Key and len(key.args) == 1 and not key.keywords else None
    return _wrapped_in(key) if type(key) is KEY_WRAPPER else None


def call_key_wrapper(f: Any, obj: Any) -> tuple[Any, Any]:
    """A call of what `functools.cmp_to_key` has given elsewhere."""
    y, back = calls.call(_Key, (_wrapped_in(f), obj))
    return y, None if back is None else (_run_key, back)


def _run_key(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (given[1], given[2])


# --------------------------------------------------------------------------------------------------- collections


@method(OrderedDict, "popitem")
def _popitem(x: OrderedDict[Any, Any], last: bool = True) -> tuple[Any, Any]:
    key, value = OrderedDict.popitem(x, last)
    return (key, value), (_run_popitem, x, key)


def _run_popitem(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None and d[1] is not None:
        shadows.add_key(back[1], back[2], d[1])


# ------------------------------------------------------------------------------------------------------- pickle


@known(pickle.dumps)
def _dumps(x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    made, back = calls.call_foreign(pickle.dumps, x, *args, **kwargs)
    form = structure.form(x)
    held = dates.held_in((x,))
    making = _innermost()
    if making is not None and type(made) is bytes and (held or structure.holds_numbers(form)):
        pickled = _Pickled()
        making.pickled.setdefault(made, []).append(pickled)
        back = (_run_pickled, back, pickled, form, held)
    return made, back


class _Pickled:
    """Stands for what was written into bytes: marked where a derivative comes to what was read from these."""


def _run_pickled(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, pickled, form, held = back
    given = calls.run(inner, d, shadows)
    refused = shadows.mark_of(pickled)
    if refused is None:
        return given
    for date in held:
        shadows.mark(date, refused)
    c = scattering.refuse(form, refused, shadows)
    return (None, c) if given is None else (None, accumulate(given[1], c), *given[2:])


@known(pickle.loads)
def _loads(data: Any, /, **kwargs: Any) -> tuple[Any, Any]:
    """A copy by way of bytes, which know nothing of derivatives; of what was written into them elsewhere there is none."""
    made, back = calls.call_foreign(pickle.loads, data, **kwargs)
    pickled = [p for making in _being_made() for p in making.pickled.get(data, ())] if type(data) is bytes else []
    if pickled:
        held = dates.inside((made,))
        for date in held:
            dates.hold(date)
        return made, (_run_unpickled, back, structure.form(made), pickled, held, foreign.caller())
    return made, back


def _run_unpickled(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, form, pickled, held, place = back
    marked = next((mark for date in held if (mark := shadows.mark_of(date)) is not None), None)
    if marked or foreign.any_in(d) or structure.has_shadow(form, shadows):
        what, hint = "a derivative through `pickle.loads` of what `pickle.dumps` gave", remedy("pickle.loads") or ""
        refused = marked or refused_in(d) or Refused(Unsupported(what, foreign.position_of(place), hint=hint))
        for p in pickled:
            shadows.mark(p, refused)
    return calls.run(inner, d, shadows)


# ------------------------------------------------------------------------------------------------ functools.lru_cache

CACHED = type(functools.lru_cache(lambda: None))
# It makes a function with a cache, and calls nothing.
builtins_.constant(CACHED)


class _Memo:
    """What a cached function gave in a pullback that is being made."""

    __slots__ = ("count", "forward", "function", "memo", "typed", "wrapped")

    def __init__(self, f: Any):
        self.function = f
        # (which one, value, arguments) by key; the cotangents of values are those of items in its shadow
        self.memo: dict[Any, tuple[int, Any, tuple[Any, ...], dict[str, Any]]] = {}
        self.count = 0
        self.typed = f.cache_parameters()["typed"]
        self.wrapped: Any = None  # what it was when `forward` was found
        self.forward: Any = None


class _Making:
    """A pullback that is being made: what cached functions gave, by their identity."""

    __slots__ = ("arguments", "doubtful", "in_caches", "of_ints", "pickled", "table")

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.table: dict[int, _Memo] = {}
        self.arguments = arguments  # of the function whose pullback is made
        self.doubtful: set[int] = set()  # identities of numbers that are in several places of them, once it matters
        # Functions that depend on their arguments alone, where these are ints and text.
        self.of_ints: dict[int, Any] = {}
        self.in_caches: dict[int, _Memo] = {}  # what came into the caches of functions meanwhile
        self.pickled: dict[bytes, list[_Pickled]] = {}  # what `pickle.dumps` has made of numbers


class _Makings(threading.local):
    def __init__(self) -> None:
        self.all: list[_Making | tuple[Any, ...]] = []  # (only the arguments, as long as nothing is to be noted)


_makings = _Makings()


def _innermost() -> _Making | None:
    """The pullback that is being made."""
    makings = _makings.all
    if not makings:
        return None
    making = makings[-1]
    if isinstance(making, tuple):
        making = makings[-1] = _Making(making)
    return making


def _being_made() -> list[_Making]:
    """Those of which something was noted."""
    return [making for making in _makings.all if isinstance(making, _Making)]


def begin(args: tuple[Any, ...]) -> None:
    """A pullback is about to be made, of a function that is given these."""
    _makings.all.append(args)
    dates.begin()


def end() -> None:
    """It is made, or has failed."""
    _makings.all.pop()
    dates.end()


@passes()
def call_cached(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A call of a function with `lru_cache`. What may carry a derivative is computed anew, once in a pullback: what the cache
    has is a constant."""
    makings = _makings.all
    making = makings[-1] if makings else None
    if type(making) is not _Making:
        making = _innermost()
        if making is None:
            return calls.call_foreign(f, *args, **kwargs)
    known = making.table.get(id(f))
    if known is not None and not known.typed and not kwargs and len(args) > 1 and not making.doubtful:
        parts: list[Any] = []
        for x in args:
            t = type(x)
            if t is float:
                parts.append((_Identity, id(x)))
            elif t in _UNCHANGED:
                parts.append(x)
            else:
                break
        else:
            key: Any = tuple(parts)
            made = known.memo.get(key)
            if made is not None:
                return made[1], (_run_found, known.memo, made[0])
            return _made_anew(f, known, key, args, kwargs)
    unchanged = not kwargs and _UNCHANGED.issuperset(map(type, args))
    if known is None and unchanged and (id(f) in making.of_ints or effects.depends_on_arguments(f)):
        making.of_ints[id(f)] = f
        value = f(*args)  # a derivative by an int is refused
        if type(value) is int or type(value) is float:
            return value, (_run_of_ints, f, args)
        return foreign.result(value, _of_ints(f), _OF_INTS_HINT, (None, *args))
    if known is None:  # once it is followed, it is to the end
        if not any(map(_carries, (*args, *kwargs.values(), f.__wrapped__))):
            return _call_with_cache(making, f, args, kwargs)
        if not making.table:
            making.doubtful = _in_several_places(making.arguments)
        known = making.table[id(f)] = _Memo(f)
    memo = known.memo
    if making.doubtful and any(id(x) in making.doubtful for x in (*args, *kwargs.values())):
        raise Unsupported(
            f"a call of `{f.__wrapped__.__name__}`, which has a cache, with a number that is one object in several places of the "
            "arguments: the cache would not tell them apart",
            foreign.position_of(foreign.caller()),
            hint="give each place a number of its own (x + 0.0), or call the function without its cache (f.__wrapped__)",
        )
    if unchanged and len(args) > 1 and not known.typed:
        key = args
    elif kwargs or known.typed or len(args) == 1 or not _BY_VALUE_OR_IDENTITY.issuperset(map(type, args)):
        key = _key(args, kwargs, known.typed)
    else:  # as that does, of numbers and text
        key = tuple([(_Identity, id(x)) if type(x) is float else x for x in args])
    made = memo.get(key)
    return _made_anew(f, known, key, args, kwargs) if made is None else (made[1], (_run_found, memo, made[0]))


@passes()
def _made_anew(f: Any, known: _Memo, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    wrapped = f.__wrapped__
    if wrapped is not known.wrapped:
        known.wrapped, known.forward = wrapped, calls.forward_by_others(wrapped)
    forward = calls.forward_by_others(wrapped, by_name=True) if kwargs else known.forward
    value, back = forward(*args, **kwargs)
    at = known.count
    known.count += 1
    known.memo[key] = at, value, args, kwargs
    return value, (_run_made, known.memo, at, back)


def _carries(x: Any) -> bool:
    t = type(x)
    return t is float or (t is not int and structure.holds_numbers(structure.form(x)))


def cached_of_constants(f: Any) -> Any:
    """What a call of a function with `lru_cache` means, by position, where no argument carries a derivative; None if it may
    depend on something else. (That may change: it is for one pullback.)"""
    if not effects.depends_on_arguments(f):
        return None

    def call(*args: Any) -> tuple[Any, Any]:
        if not _SIMPLE.issuperset(map(type, args)):
            return call_cached(f, *args)
        value = f(*args)
        if type(value) in _SIMPLE:
            return value, None
        return foreign.result(value, _of_ints(f), _OF_INTS_HINT, (None, *args))

    return call


_SIMPLE = frozenset({int, float, str, bool, type(None)})


def _call_with_cache(making: _Making, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """A call that takes what the cache has. What came there while the pullback is made has the derivative that it has by global
    variables, defaults and attributes of classes; what was there before is a constant."""
    misses = f.cache_info().misses
    value, back = calls.call_foreign(f, *args, **kwargs)
    found = f.cache_info().misses == misses
    in_cache = making.in_caches.get(id(f))
    if in_cache is None:
        if found:
            return value, back
        in_cache = making.in_caches[id(f)] = _Memo(f)
    memo = in_cache.memo
    key = _key(args, kwargs, in_cache.typed)
    if found:
        made = memo.get(key)
        # (The same object: the one in the table is followed by second derivatives.)
        return (value, back) if made is None or made[1] is not value else (made[1], (_run_found, memo, made[0]))
    at = in_cache.count
    in_cache.count += 1
    memo[key] = at, value, args, kwargs
    return value, (_run_made, memo, at, back)


def _run_of_ints(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, f, args = back
    frame = sys._getframe(1)
    is_half = "__name__" not in frame.f_globals  # (it has the positions of the user's code)
    place = (frame.f_code, frame.f_lasti) if is_half else foreign.caller()
    refused = refused_in(d) or Refused(None, (_derivative_by_int, f, place))
    return (None, *[refused if type(x) is int else None for x in args])


def _derivative_by_int(f: Any, place: Any) -> Unsupported:
    return Unsupported(_of_ints(f), foreign.position_of(place), hint=_OF_INTS_HINT)


def _of_ints(f: Any) -> str:
    return f"a derivative by an int through `{foreign.name_of(f)}`, which has a cache"


_OF_INTS_HINT = "call the function without its cache (f.__wrapped__)"


def _in_several_places(args: tuple[Any, ...]) -> set[int]:
    """The identities of floats that containers and objects in the arguments have in several places. (As arguments themselves no
    two are the same object.)"""
    found: set[int] = set()
    seen = {id(x) for x in args if type(x) is float}
    work: list[Any] = [x for x in args if type(x) is not float]
    inside = set(map(id, work))
    while work:
        x = work.pop()
        held = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else (own_attributes(x) or {})
        for part in held.values() if isinstance(held, dict) else held:
            if type(part) is float:
                (found if id(part) in seen else seen).add(id(part))
            elif id(part) not in inside and not isinstance(
                part, (type, types.ModuleType, types.FunctionType, np.ndarray)
            ):
                inside.add(id(part))
                work.append(part)
    return found


def _run_made(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, memo, at, inner = back
    shadow = shadows.items.get(id(memo))
    if shadow is not None and at < len(shadow) and (found := shadow[at]) is not None:
        shadow[at] = None
        d = found if d is None else accumulate(d, found)
    return inner[0](inner, d, shadows) if type(inner) is tuple else calls.run(inner, d, shadows)


def _run_found(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_item(back[1], back[2], d)


def _key(args: tuple[Any, ...], kwargs: dict[str, Any], typed: bool) -> Any:
    """Numbers by what they are, not by what they are equal to: equal ones may have different derivatives. True is 1 where it is
    to `lru_cache`: not if types count, nor as the only argument."""
    unchanged = not kwargs and _UNCHANGED.issuperset(map(type, args))
    if unchanged and not typed and len(args) > 1:
        return args
    if unchanged:
        key = args
    else:
        key = tuple(map(_part, args)), tuple([(name, _part(v)) for name, v in kwargs.items()]) if kwargs else ()
    if typed or (len(args) == 1 and type(args[0]) is bool and not kwargs):
        return key, *map(type, args), *map(type, kwargs.values())
    return key


def _part(x: Any) -> Any:
    t = type(x)
    if t is float or t in _UNCHANGED:
        return (_Identity, id(x)) if t is float else x
    if is_number(x) or isinstance(x, np.ndarray):
        return _Identity, id(x)
    return tuple(map(_part, x)) if t is tuple else x


_UNCHANGED = frozenset({int, str, bool})
_BY_VALUE_OR_IDENTITY = _UNCHANGED | {float}


class _Identity:
    """Marks the identity of a number."""


@method(CACHED, "cache_clear", exact=True)
def _cache_clear(f: Any) -> tuple[Any, Any]:
    making = _innermost()
    if making is not None:
        making.table.pop(id(f), None)
    return f.cache_clear(), None


@method(CACHED, "cache_info", exact=True)
def _cache_info(f: Any) -> tuple[Any, Any]:
    """What differentiated code calls has a table of its own, by the identity of numbers: how often it hits is another number."""
    if any(id(f) in making.table for making in _being_made()):
        raise Unsupported(
            f"`cache_info` of `{f.__wrapped__.__name__}`, which differentiated code has called",
            foreign.position_of(foreign.caller()),
            hint="count the calls in a variable",
        )
    return f.cache_info(), None


# What patterns are made of is text: they are made once, and their parser is long.
builtins_.constant(
    *[f for name in ("_compile", "_compile_repl", "_compile_template") if (f := getattr(re, name, None))]
)
