"""What the code of functions itself changes, as it says, without running it: `seen.append(d)`, `seen[key] = d`, `self.total += d`."""

from __future__ import annotations

import contextlib
import functools
from inspect import getattr_static
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from . import foreign
from .arithmetic import find
from .captured_places import CLOSED, space_of
from .effects import Path, changed_names

if TYPE_CHECKING:
    from .captured import Made

_UNKNOWN: Any = object()
_CALLS = 8  # one in another: what is called deeper is not looked at


class _Owned:
    """The keys of the places that functions and those that they call change, as their code says.

    data: whether this includes arrays and lists.
    """

    def __init__(self, data: bool):
        self.data = data
        self.keys: set[Any] = set()
        self.seen: set[Any] = set()

    def note_content(self, x: Any) -> None:
        if self.data or not isinstance(x, (np.ndarray, list)):
            self.keys.add((id(x),))


def changed_by_itself(user: Any, made: Made) -> frozenset[Any]:
    """What a pullback changes by itself. Arrays and lists, though, which a pullback computes with, are for it what they were, also if it
    writes to them: only a hook's function, and others that rules of zyg's own are given, may write to them as they are."""
    owned = _Owned(data=made.by_zyg)
    for f in (user, *(made.given(user) if made.by_zyg else ())):
        _note_owned(f, (), {}, owned, 0)
    return frozenset(owned.keys)


def _note_owned(f: Any, given: tuple[Any, ...], named: dict[str, Any], owned: _Owned, depth: int) -> None:
    found, seen = owned.keys, owned.seen
    if type(f) is functools.partial:
        return _note_owned(f.func, (*f.args, *given), {**f.keywords, **named}, owned, depth)
    if type(f) is MethodType:
        return _note_owned(f.__func__, (f.__self__, *given), named, owned, depth)
    if type(f) is not FunctionType:
        call = find(type(f), "__call__") if f is not _UNKNOWN and not issubclass(type(f), CLOSED) else None
        if type(call) is FunctionType:
            _note_owned(call, (f, *given), named, owned, depth)
        return None
    if depth > _CALLS or foreign.is_foreign(f) or str(f.__globals__.get("__name__")).startswith("zyg."):
        return None
    key = (f, *map(id, given), *((n, id(v)) for n, v in named.items()))
    if key in seen:
        return None
    seen.add(key)
    changed = changed_names(f.__code__)
    if not (changed.bound or changed.contents or changed.attributes or changed.calls):
        return None
    variables = _variables(f, given, named)
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
        if name in changed.bound:
            found.add((id(cell),))
    for path in changed.contents:
        if (x := _at(path, f, variables)) is not _UNKNOWN:
            owned.note_content(x)
    for *path, name in changed.attributes:
        x = _at(tuple(path), f, variables)
        found.add((id(x), name))
        descriptor = static_attribute(type(x), name) if x is not _UNKNOWN else None
        if type(descriptor) is MemberDescriptorType:
            found.add((id(x), descriptor))
        elif type(descriptor) is property:
            _note_owned(descriptor.fset, (x, _UNKNOWN), {}, owned, depth + 1)
    for callee, args, keywords in changed.calls:
        g = _at(callee, f, variables)
        if g is _UNKNOWN or issubclass(type(g), CLOSED):
            continue
        passed = tuple([_at(p, f, variables) for p in args])
        by_name = {n: _at(p, f, variables) for n, p in keywords.items()}
        if type(g) is not FunctionType or g.__closure__ or any(x is not _UNKNOWN for x in (*passed, *by_name.values())):
            _note_owned(g, passed, by_name, owned, depth + 1)
    return None


def _variables(f: FunctionType, given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """What the variables of a function stand for when it begins."""
    code = f.__code__
    names = code.co_varnames[: code.co_argcount]
    variables = dict(f.__kwdefaults__ or {})
    if f.__defaults__:
        variables.update(zip(names[-len(f.__defaults__) :], f.__defaults__))
    variables.update(zip(names, given))
    variables.update(named)
    for name, cell in zip(code.co_freevars, f.__closure__ or ()):
        with contextlib.suppress(ValueError):
            variables[name] = cell.cell_contents
    return variables


def _at(path: Path | None, f: FunctionType, variables: dict[str, Any]) -> Any:
    """What stands at the end of a path, without running code."""
    if not path:
        return _UNKNOWN
    if path[0]:
        x, rest = variables.get(path[0], _UNKNOWN), path[1:]
    else:
        x, rest = f.__globals__.get(path[1], _UNKNOWN), path[2:]
    for name in rest:
        if x is _UNKNOWN:
            break
        x = _attribute(x, name)
    return x


def _attribute(x: Any, name: str) -> Any:
    if isinstance(x, ModuleType):
        return vars(x).get(name, _UNKNOWN)
    if isinstance(x, type):
        return _UNKNOWN
    found = space_of(x).get(name, _UNKNOWN)
    if found is not _UNKNOWN:
        return found
    found = static_attribute(type(x), name)
    if type(found) is FunctionType:
        return MethodType(found, x)
    if type(found) is staticmethod:
        return found.__func__
    if type(found) is MemberDescriptorType:
        with contextlib.suppress(AttributeError):
            return found.__get__(x)
    return _UNKNOWN


def static_attribute(cls: type, name: str) -> Any:
    return getattr_static(cls, name, None)
