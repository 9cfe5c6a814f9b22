"""Whether code that only calculates does so with what it is given: what it reads of objects, and its operators, may run code of their
classes, such as a property that keeps what it has computed."""

from __future__ import annotations

import dis
from collections import deque
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any

import numpy as np

from zyg.autodiff.identity import ByIdentity
from zyg.backend.cpython import type_version

from .effects import changes, functions_in
from .reach import PLAIN

_reads = ByIdentity()  # of code objects: the attributes that are read; how often code reads or operates
_DEEP = 3  # further than that nothing is looked at
_OPERATING = ("LOAD_ATTR", "BINARY_", "COMPARE_", "CONTAINS_", "UNARY_", "TO_BOOL", "POP_JUMP", "FORMAT", "GET_ITER")
_CONTAINERS = (list, tuple, set, frozenset, deque)
_HELD = (
    MemberDescriptorType,
    GetSetDescriptorType,
    FunctionType,
    BuiltinFunctionType,
    staticmethod,
    classmethod,
    type(list.append),
)
# What a class does with others than what is being looked at.
_OTHERS = frozenset(
    f"__{name}__"
    for name in "init new del init_subclass set_name class_getitem enter exit call setattr delattr setitem delitem "
    "iadd isub imul imatmul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift".split()
)
_MANY = 2000
_classes: dict[tuple[type, frozenset[str]], tuple[int, bool]] = {}


def is_quiet(f: Any, items: Iterable[Any]) -> bool:
    """Whether nothing changes where a function that only calculates is called with each of the items.

    >>> class Circle:
    ...     area = property(lambda self: vars(self).setdefault("kept", 1.0))
    >>> is_quiet(lambda c: c.area, [Circle()]), is_quiet(lambda c: c.radius, [Circle()]), is_quiet(lambda c: c[1], [(Circle(), 1.0)])
    (False, True, True)
    """
    if PLAIN.issuperset(map(type, items)):
        return True
    names, count = _reads_of(f)
    depth = min(count - 1, _DEEP)
    return all(_stays(x, names, depth) for x in items)


def _reads_of(f: Any) -> tuple[frozenset[str], int]:
    if type(f) is not FunctionType:  # a builtin function or class: it may ask anything, of the item alone
        return frozenset(), 1
    found = _reads.of(f.__code__)
    if found is None:
        instructions = list(dis.get_instructions(f.__code__))
        names = frozenset(i.argval for i in instructions if i.opname.startswith("LOAD_ATTR"))
        found = names, sum(i.opname.startswith(_OPERATING) for i in instructions)
        _reads.note(f.__code__, found)
    return found


def _stays(x: Any, names: frozenset[str], depth: int) -> bool:
    """Whether operators of an object, and reading these attributes, change nothing; and so for what it holds, so far down."""
    t = type(x)
    if t in PLAIN:
        return True
    if isinstance(x, np.ndarray):
        return x.dtype.kind != "O"
    if not _is_quiet_class(t, names):
        return False
    if depth <= 0:
        return True
    if isinstance(x, (*_CONTAINERS, dict)):
        parts = list(dict.values(x) if isinstance(x, dict) else x)
        if not PLAIN.issuperset(map(type, parts)) and not all(_stays(v, names, depth - 1) for v in parts):
            return False
    held = getattr(x, "__dict__", {})
    return all(_stays(held[name], names, depth - 1) for name in names if name in held)


def _is_quiet_class(cls: type, names: frozenset[str]) -> bool:
    if cls.__module__ == "builtins":
        return True
    version = type_version(cls)
    known = _classes.get((cls, names))
    if known is not None and version and known[0] == version:
        return known[1]
    quiet = all(_is_quiet_base(base, cls, names) for base in cls.__mro__ if base.__module__ != "builtins")
    if "<locals>" not in cls.__qualname__:
        if len(_classes) > _MANY:
            _classes.clear()
        _classes[cls, names] = version, quiet
    return quiet


def _is_quiet_base(base: type, cls: type, names: frozenset[str]) -> bool:
    for name, held in list(vars(base).items()):
        special = name.startswith("__") and name.endswith("__")
        if not (special or name in names) or name in _OTHERS:
            continue
        if special or type(held) is property:
            if any(changes(f, cls) for f in functions_in(held)):
                return False
        elif not isinstance(held, _HELD) and hasattr(
            type(held), "__get__"
        ):  # it does what it wants, as `cached_property` does
            return False
    return True


__all__ = ["is_quiet"]
