"""Calls of code that zyg cannot see into."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MethodDescriptorType
from typing import Any

import numpy as np

from zyg.autodiff import objects
from zyg.errors import Unsupported
from zyg.homes import home
from zyg.ir.plainly import get_plainly
from zyg.remedies import rule_of

from . import foreign, library_calls, memory, user_rules
from .backs import run
from .cotangents import INERT, Refused, accumulate, refused_in

# What is of these types is not changed, runs no code of the user's, and is kept by nobody who would give it back.
_SIMPLE = INERT | {float, int, complex}
_NUMBERS = frozenset({float, int, complex})
_FLOATS = {float}


def foreign_function(f: Any) -> Callable[..., tuple[Any, Any]]:
    """What a call means of a function of C code, or of a class method of a builtin class, that zyg cannot see into."""
    return partial(call_foreign if library_calls.knows(f) or f in _WRITING else _call_simply, f)


def _call_simply(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Where nothing but numbers and text is given, nothing has to be looked for: it is not changed, and does nothing. If a number
    may have gone in, a number that comes out is refused."""
    kinds = set(map(type, args))
    if kwargs:
        kinds.update(map(type, kwargs.values()))
    if not _SIMPLE.issuperset(kinds):
        return call_foreign(f, *args, **kwargs)
    value = f(*args, **kwargs)
    if type(value) in INERT or _NUMBERS.isdisjoint(kinds):
        return value, None
    operands = (f.__self__, *args, *kwargs.values())
    if type(value) in _NUMBERS or (type(value) is tuple and _SIMPLE.issuperset(map(type, value))):
        return value, (_run_simply, f, operands)
    return foreign.result(value, *_what_is_refused(f, foreign.name_of(f), args, kwargs), operands)


def _run_simply(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    refused = None
    if d is None or set(map(type, d if type(d) is tuple else (d,))) != _FLOATS:
        if not foreign.any_in(d):
            return None
        refused = refused_in(d)
    _, f, operands = back
    refused = refused or Refused(None, (_refusal, f, foreign.place_in_half()))
    return [refused if type(x) in _NUMBERS else None for x in operands]


def _refusal(f: Any, place: Any) -> Unsupported:
    what, hint = _what_is_refused(f, foreign.name_of(f), (), {})
    return Unsupported(what, foreign.position_of(place), hint=hint)


def call_foreign(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Code that zyg cannot see into: it runs, natively if the library has it."""
    made = library_calls.call_entry(f, args, kwargs)
    if made is not None:
        return made
    return run_foreign(f, foreign.name_of(f), get_plainly(f, "__self__", f), args, kwargs)


def _run_consumer(f: Any, name: str, owner: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Foreign code that gets iterators: what it takes from these is noted."""
    items: list[Any] = []
    backs: list[Any] = []

    def noted(x: Any) -> Any:
        if not isinstance(x, objects.iteration.Iterator):
            return x
        return _noting(x, items, backs)

    y, back = run_foreign(f, name, owner, tuple(map(noted, args)), {k: noted(v) for k, v in kwargs.items()}, items)
    return y, (run_consumer, back, items, backs, 1 + len(args) + len(kwargs))


def _noting(x: Any, items: list[Any], backs: list[Any]) -> Any:
    for item, back in x.pairs:
        items.append(item)
        backs.append(back)
        yield item


def run_consumer(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, items, backs, count = back
    given = run(inner, d, shadows)
    taken = shadows.take_list(items) or []
    for k in range(len(backs) - 1, -1, -1):
        if backs[k] is not None:
            backs[k][0](backs[k], taken[k] if k < len(taken) else None, shadows)
    return None if given is None else given[:count]


def of_constants(forward: Any) -> Any:
    """The same as such a call, where no argument carries a derivative; None of other calls."""
    if type(forward) is not partial or forward.func is not _call_simply:
        return None
    return partial(_call_of_constants, *forward.args)


def _call_of_constants(f: Any, /, *args: Any) -> tuple[Any, Any]:
    return (f(*args), None) if _SIMPLE.issuperset(map(type, args)) else call_foreign(f, *args)


def run_foreign(f: Any, name: str, owner: Any, args: Any, kwargs: Any, items: Any = None) -> tuple[Any, Any]:
    operands = (owner, *args, *kwargs.values())
    # (In a second derivative what notes the items of an iterator is one, too.)
    if items is None and any(isinstance(x, objects.iteration.Iterator) for x in operands[1:]):
        return _run_consumer(f, name, owner, args, kwargs)
    before = objects.watched.watch(operands)
    forms = [objects.structure.form(x) for x in operands] if before is not None else []
    value, entered = objects.reentry.followed(f, args, kwargs, True, (owner,), before)
    if items is not None:
        operands = (*operands, items)
    refused_to = _integers_of(operands) if _are_by_nature_integers(f, owner, args, kwargs, value) else operands
    value, back = foreign.result(value, *_what_is_refused(f, name, args, kwargs), refused_to)
    if before is not None:
        changed = objects.watched.changed(before)
        written = _written(f, owner, args, kwargs)
        changed += [x for x in written if not any(x is y for y in changed)]
        for x in written:
            memory.writing(x)
        if changed:
            back = (objects.watched.run_changed, changed, operands, forms, back, name, foreign.caller())
    held = memory.held_by(value, operands)
    if held:
        back = foreign.holding(held, back, f"`{name}`")
    return value, back if entered is None else (run_entered, back, entered)


_OF_NUMBERS = "numpy", "scipy"


def _are_by_nature_integers(f: Any, owner: Any, args: Any, kwargs: Any, value: Any) -> bool:
    """Whether a result of a function of NumPy's or SciPy's are integers and bools alone: what they are found from that is no integer
    has no derivative by way of them.

    Not so of methods of arrays and numbers, as `view`, and of views of memory: their integers may be the bits of floats. Nor of functions that
    call others, which may keep what they get, and of those that write to an array that they are given."""
    if (
        not _holds_no_more_than(value, "iub")
        or home(f).partition(".")[0] not in _OF_NUMBERS
        or isinstance(owner, (np.ndarray, np.generic))
        or isinstance(f, MethodDescriptorType)
        or foreign.is_opaque(owner)
        or any(callable(x) and not isinstance(x, type) for x in (*args, *kwargs.values()))
        or any(isinstance(kwargs.get(name), (np.ndarray, tuple)) for name in _INTO)
    ):
        return False
    parts = value if isinstance(value, (tuple, list)) else (value,)
    return all(x.base is None and not any(x is y for y in args) for x in parts if isinstance(x, np.ndarray))


_INTO = "out", "output"  # NumPy's name and SciPy's


def _integers_of(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """These operands, with None for those that hold floats and complex numbers alone."""
    return tuple([None if _holds_no_more_than(x, "fc") else x for x in operands])


def _holds_no_more_than(x: Any, kinds: str) -> bool:
    """Whether this is a number, an array, or a tuple or a list of them, all of one of these kinds."""
    if type(x) in (tuple, list):
        return all(_holds_no_more_than(item, kinds) for item in x)
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype.kind in kinds
    return _KINDS.get(type(x), "O") in kinds


_KINDS = {bool: "b", int: "i", float: "f", complex: "c"}


def _what_is_refused(f: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str]:
    """A message, and a hint."""
    what = f"a derivative through `{name}`, which zyg cannot see into"
    if user_rules.tangent_of(f) is not None:
        what = f"a derivative in reverse mode through `{name}`, which has a rule for forward mode only"
    hint = f"{rule_of(name)}, or wrap its arguments in zyg.stop_gradient"
    if library_calls.knows(f):
        why = library_calls.why_refused(f, args, kwargs)
        if why is not None:
            what = f"a derivative through `{name}`, which comes from native code; that refuses {why.what.removesuffix(' in native code')}"
            return what, f"{why.hint or 'change that'}, or wrap its arguments in zyg.stop_gradient"
        hint = "call it in a function of its own with @zyg.jit, which gives a new array or a number, or wrap its arguments in zyg.stop_gradient"
    return what, hint


# They write to an array, with whatever was there: what they write may be equal to it.
_WRITING = frozenset({np.copyto, np.put, np.putmask, np.place, np.put_along_axis, np.fill_diagonal})
_FUNCTIONS = frozenset(map(type, _WRITING))


def _written(f: Any, owner: Any, args: Any, kwargs: Any) -> list[np.ndarray]:
    """The arrays that NumPy's functions say they write to."""
    into = [kwargs.get("out")]
    name = get_plainly(f, "__name__", "")
    if name == "put" and isinstance(owner, np.ndarray):
        into.append(owner)
    elif type(f) in _FUNCTIONS and f in _WRITING:
        into += args[:1]
    elif name == "shuffle":
        into += args[:2]  # of the generator's class it is an argument
    return [x for x in into if isinstance(x, np.ndarray)]


def run_entered(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Foreign code has called Python code: what that did is undone."""
    _, outer, inner = back
    given = run(outer, d, shadows)
    called = run(inner, d, shadows)
    if given is None or called is None:
        return given if called is None else (None, *called)
    return [*map(accumulate, given[: 1 + len(called)], (None, *called)), *given[1 + len(called) :]]


__all__ = ["call_foreign", "foreign_function", "of_constants", "run_foreign"]
