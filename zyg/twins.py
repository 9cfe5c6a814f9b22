"""Copies of arguments for code that runs on them instead: it cannot tell their arrays from the original ones by how they lie.

`ravel` is a view of some arrays and a copy of others, and so is `reshape`: what is written into it depends on that. Arrays that share
memory do so as copies, too. What compiled code makes of its arguments is in autodiff/helpers.py (empty_like).
"""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Iterator
from types import CellType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, TypeVar

import numpy as np

from .ir.plainly import in_class, is_in_class, own_attributes
from .ir.types import Closure
from .typeof import type_of

T = TypeVar("T")


def twins(value: T, functions: bool = False) -> T:
    """A deep copy, of what can be copied; with `functions` of those, too, that compiled code takes by what they have captured, not by
    identity."""
    found = list(_all_of(value, lambda x: _is_held(x) or (type(x) is FunctionType and not functions)))
    memo: dict[int, Any] = {id(x): x for x in found if _is_held(x)}
    for group in _groups([x for x in found if type(x) is np.ndarray and not x.dtype.hasobject]):
        memo.update((id(a), made) for a, made in zip(group, _together(group)))
    closures = [x for x in found if functions and type(x) is FunctionType and _is_by_value(x)]
    memo.update((id(f), _of_same_code(f)) for f in closures)
    unasked = [(x, _new_unasked(x)) for x in found if id(x) not in memo]
    answering = [x for x, new in unasked if new is not None]
    memo.update((id(x), new) for x, new in unasked if new is not None)
    try:
        return _filled(value, memo, closures, answering)
    except Exception:  # a lock, a generator, what says itself that it is not to be copied
        memo.update((id(x), x) for x in found if id(x) not in memo and not _can_be_copied(x))
        return _filled(value, memo, closures, answering)


def _filled(value: T, memo: dict[int, Any], closures: list[FunctionType], objects: list[Any]) -> T:
    """The copy, where `memo` has the copies of some objects, and for the closures and other objects new ones, in which there is
    nothing yet."""
    memo = dict(memo)
    for x in objects:
        _fill(memo[id(x)], x, memo)
    for f in closures:
        made = memo[id(f)]
        for cell, own in zip(f.__closure__ or (), made.__closure__ or ()):
            with contextlib.suppress(ValueError):  # nothing is in it yet
                own.cell_contents = copy.deepcopy(cell.cell_contents, memo)
        made.__defaults__ = copy.deepcopy(f.__defaults__, memo)
        made.__kwdefaults__ = copy.deepcopy(f.__kwdefaults__, memo)
    return copy.deepcopy(value, memo)


def _is_held(x: Any) -> bool:
    """Whether this is of zyg's own, which nobody changes: a callable, a pullback."""
    return callable(x) and type(x).__module__.partition(".")[0] == "zyg"


_COPYING = (
    "__deepcopy__",
    "__reduce_ex__",
    "__reduce__",
    "__getstate__",
    "__setstate__",
    "__getnewargs_ex__",
    "__getnewargs__",
)


def _new_unasked(x: Any) -> Any:
    """A new object of the class of one on which, or on whose class, code of the user's would be asked for names that `copy.deepcopy`
    looks up, while the class says nothing of copies; else None."""
    cls = type(x)
    own = in_class(cls, "__getattribute__") is not object.__getattribute__ or is_in_class(cls, "__getattr__")
    if not own and (type(cls) is type or not is_in_class(type(cls), "__getattr__")):
        return None
    if any(in_class(cls, name) is not object.__dict__.get(name) for name in _COPYING):
        return None
    for base in (object, list, dict):
        with contextlib.suppress(TypeError):  # it is derived from another class in C
            return base.__new__(cls)
    return None


def _fill(made: Any, x: Any, memo: dict[int, Any]) -> None:
    """Put deep copies of what an object holds into a new one of its class."""
    if issubclass(type(made), list):
        list.__setitem__(made, slice(None), [copy.deepcopy(item, memo) for item in list.__iter__(x)])
    elif issubclass(type(made), dict):
        dict.update(made, {copy.deepcopy(k, memo): copy.deepcopy(v, memo) for k, v in dict.items(x)})
    own = own_attributes(x)
    if type(own) is dict:
        object.__getattribute__(made, "__dict__").update({name: copy.deepcopy(v, memo) for name, v in own.items()})
    for member, held in _slots(x):
        member.__set__(made, copy.deepcopy(held, memo))


def _is_by_value(function: FunctionType) -> bool:
    try:
        return isinstance(type_of(function), Closure)
    except Exception:
        return False


def _of_same_code(f: FunctionType) -> FunctionType:
    cells = tuple(CellType() for _ in f.__closure__ or ())
    made = FunctionType(f.__code__, f.__globals__, f.__name__, None, cells)
    made.__qualname__ = f.__qualname__
    return made


def _can_be_copied(x: Any) -> bool:
    try:
        copy.copy(x)
    except Exception:
        return False
    return True


def holds_of(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether a function has something mutable of these arguments besides: captured, as a default, as what a method is bound to, in an
    object that is called."""
    fixed = (tuple, frozenset, FunctionType, MethodType)
    mutable = {id(x) for x in _all_of(args) if not issubclass(type(x), fixed)}
    return bool(mutable) and any(id(x) in mutable for x in _all_of(function))


def _all_of(value: Any, whole: Callable[[Any], bool] = lambda x: False) -> Iterator[Any]:
    """A value and what it holds, but for what nobody can change and holds nothing; each once. What is `whole` is not looked into. None
    of the program's code runs."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        x = waiting.pop()
        if not issubclass(type(x), _CONSTANT) and id(x) not in seen:
            seen.add(id(x))
            yield x
            if not whole(x):
                waiting.extend(_parts(x))


_CONSTANT = (int, float, complex, str, bytes, type(None), ModuleType, type)


def _parts(value: Any) -> Iterator[Any]:
    """What a value holds of containers, objects and functions."""
    cls = type(value)
    if issubclass(cls, dict):
        yield from dict.values(value)
    elif issubclass(cls, list):
        yield from list.__iter__(value)
    elif issubclass(cls, tuple):
        yield from tuple.__iter__(value)
    elif issubclass(cls, (set, frozenset)):
        yield from (set if issubclass(cls, set) else frozenset).__iter__(value)
    elif cls is FunctionType:
        yield from ((value.__defaults__ or ()), (value.__kwdefaults__ or {}))
        for cell in value.__closure__ or ():
            with contextlib.suppress(ValueError):  # nothing is in it yet
                yield cell.cell_contents
    elif cls is MethodType:
        yield from (value.__self__, value.__func__)
    elif issubclass(cls, functools.partial):
        yield from functools.partial.__reduce__(value)[2]
    own = own_attributes(value)
    if type(own) is dict:
        yield from own.values()
    for _, held in _slots(value):
        yield held


def _slots(x: Any) -> Iterator[tuple[MemberDescriptorType, Any]]:
    """The slots of an object in which there is something, and what that is."""
    cls = type(x)
    for base in cls.__mro__:
        for member in vars(base).values() if "__slots__" in vars(base) else ():
            if type(member) is MemberDescriptorType:
                with contextlib.suppress(AttributeError):  # nothing is in it
                    yield member, member.__get__(x, cls)


def _groups(arrays: list[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """The arrays, those together that lie in one stretch of memory."""
    stretches = sorted([(*_stretch(a), n) for n, a in enumerate(arrays)])
    group: list[np.ndarray] = []
    end = 0
    for first, last, n in stretches:
        if group and first >= end:
            yield group
            group = []
        group.append(arrays[n])
        end = max(end, last) if len(group) > 1 else last
    if group:
        yield group


def _stretch(a: np.ndarray) -> tuple[int, int]:
    """Where its elements begin and end."""
    first = last = a.__array_interface__["data"][0]
    if a.size == 0:
        return first, first
    for length, step in zip(a.shape, a.strides):
        first, last = first + min(step, 0) * (length - 1), last + max(step, 0) * (length - 1)
    return first, last + a.itemsize


def _together(group: list[np.ndarray]) -> list[np.ndarray]:
    """Copies of arrays that share memory as these do."""
    if len(group) == 1:
        return [twin(group[0])]
    bounds = [_stretch(a) for a in group]
    first, last = min(b for b, _ in bounds), max(e for _, e in bounds)
    widest = max(
        group, key=lambda a: a.itemsize
    )  # of what their memory is, as far as one can tell: others are views as another type
    size, begins = widest.itemsize, widest.__array_interface__["data"][0]
    start = (first - begins) % size
    room = np.zeros((start + last - first) // size + 1, widest.dtype)
    made = []
    for a in group:
        at = start + a.__array_interface__["data"][0] - first
        copied = np.ndarray(a.shape, a.dtype, room, at, a.strides)
        copied[...] = a
        made.append(copied)
    return made


def twin(a: np.ndarray) -> np.ndarray:
    """A copy that is contiguous where `a` is, with its axes in the same order, and seen in another shape where `a` can be. Elements that
    share memory there do not here."""
    if a.flags.c_contiguous or a.size == 0:
        return np.copy(a, "C")
    steps = [abs(step) for step in a.strides]
    many = [k for k in range(a.ndim) if a.shape[k] > 1]
    strides = list(a.strides)
    step = a.itemsize if any(steps[k] == a.itemsize for k in many) else 2 * a.itemsize
    for k in sorted(many, key=lambda k: (steps[k] == 0, steps[k], -k)):
        strides[k] = -step if a.strides[k] < 0 else step
        goes_on = any(steps[other] == steps[k] * a.shape[k] for other in many if other != k)
        step *= a.shape[k] if goes_on else a.shape[k] + 1
    first = sum(-strides[k] * (a.shape[k] - 1) for k in many if strides[k] < 0)
    made = np.ndarray(a.shape, a.dtype, np.empty(step // a.itemsize, a.dtype), first, strides)
    made[...] = a
    return made
