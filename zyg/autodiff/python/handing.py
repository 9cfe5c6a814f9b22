"""Classes whose `__iter__` is `return iter(self.items)`: what goes through an instance goes through what the attribute holds.

Nothing is asked that could tell the difference, so it need not be made an iterator first, which then is gone through.
"""

from __future__ import annotations

import builtins
import collections
import dis
from types import CodeType, FunctionType, MemberDescriptorType
from typing import Any

from ..identity import ByIdentity, note
from ..objects import attributes
from ..objects.arithmetic import find
from ..objects.backs import run
from ..objects.cotangents import INERT
from .knowledge import forgets, has_plain_shadow, note_class

_HANDED_ON = frozenset({list, tuple, dict, set, frozenset, collections.deque, range})
_STEPS = ["LOAD_GLOBAL", "LOAD_FAST", "LOAD_ATTR", "CALL", "RETURN_VALUE"]
_BESIDE = frozenset({"RESUME", "PRECALL", "PUSH_NULL", "CACHE", "NOP"})

# By class: its `__iter__`, the code of that, and the name of the attribute; None for other classes.
_known: dict[type, tuple[FunctionType, CodeType, str] | None] = {}
forgets(_known.clear)
_of_codes = ByIdentity()  # the name of the attribute, False where the code does something else
_UNKNOWN: Any = object()
_iter = builtins.iter


def handed_on(x: Any) -> tuple[Any, Any] | None:
    """(the container that an instance is gone through by, the back of reading it), or None."""
    cls = type(x)
    found = _known.get(cls, _UNKNOWN)  # (another thread may forget)
    if found is _UNKNOWN:
        found = _looked_at(cls)
    if found is None:
        return None
    method, code, name = found
    if cls.__iter__ is not method or method.__code__ is not code:
        return None
    if "iter" in method.__globals__ or builtins.iter is not _iter:
        return None
    y: Any = getattr(x, name, None)
    t = type(y)
    if t not in _HANDED_ON:
        return None
    return y, (attributes.run_attr, x, name) if t is tuple and not INERT.issuperset(map(type, y)) else None


def all_handed_on(args: tuple[Any, ...]) -> tuple[list[Any], Any] | None:
    """Arguments where these containers take the places of the instances, and what `read_for` needs; None if there are none."""
    made, reads, some = list(args), [], False
    for k, x in enumerate(args):
        handed = handed_on(x)
        if handed is not None:
            some = True
            made[k], read = handed
            if read is not None:
                reads.append((1 + k, read))
    return (made, reads) if some else None


def read_for(made: tuple[Any, Any], reads: list[tuple[int, Any]]) -> tuple[Any, Any]:
    """(value, back) of a call with the instances, from those of the call with the containers."""
    y, back = made
    return y, (_run_read, back, reads) if reads and back is not None else back


def _run_read(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, reads = back
    given = run(inner, d, shadows)
    if given is None:
        return None
    given = list(given)
    for place, read in reversed(reads):
        if place < len(given):
            read[0](read, given[place], shadows)
            given[place] = None
    return given


def _looked_at(cls: type) -> tuple[FunctionType, CodeType, str] | None:
    method, found = find(cls, "__iter__"), None
    name = _attribute(method.__code__) if type(method) is FunctionType else None
    if name is not None and _reads_plainly(cls):
        held = find(cls, name)
        if held is None or (type(held) is MemberDescriptorType and attributes.is_slot(cls, held)):
            found = method, method.__code__, name
    note(_known, cls, (cls,), found)
    note_class(cls)
    return found


def _reads_plainly(cls: type) -> bool:
    return has_plain_shadow(cls) and attributes.plain_lookup(cls) and find(cls, "__getattr__") is None


def _attribute(code: CodeType) -> str | None:
    """The attribute of the first parameter whose iterator a function gives, if it does that and nothing else."""
    found = _of_codes.of(code)  # (a class statement in a function makes a class each time, of the same code)
    if found is None:
        found = _read(code) or False
        _of_codes.note(code, found)
    return found or None


def _read(code: CodeType) -> str | None:
    steps = [i for i in dis.get_instructions(code) if i.opname not in _BESIDE]
    if code.co_argcount != 1 or [i.opname for i in steps] != _STEPS:
        return None
    function, first, attribute, *_ = [i.argval for i in steps]
    return attribute if function == "iter" and first == code.co_varnames[0] else None


__all__ = ["all_handed_on", "handed_on", "read_for"]
