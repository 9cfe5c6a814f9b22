"""Whether code that only calculates does so with what it is given: what it reads of objects, and its operators, may run code of their
classes, such as a property that keeps what it has computed."""

from __future__ import annotations

import dis
import gc
from collections import defaultdict, deque
from collections.abc import Iterable
from contextlib import suppress
from inspect import getattr_static
from types import BuiltinFunctionType, FunctionType, GetSetDescriptorType, MemberDescriptorType, NoneType
from typing import Any

import numpy as np

from zyg.autodiff.identity import ByIdentity
from zyg.autodiff.trying import bodies
from zyg.backend.cpython import type_version
from zyg.ir.plainly import own_attributes

from .cotangents import FIELD
from .effects import changes, functions_in
from .reach import PLAIN

_reads = ByIdentity()  # of code objects: the attributes that are read; how often code reads or operates; global names
_raising = ByIdentity()
_DEEP = 3  # further than that there must be nothing that can run code
_OF_THEIR_OWN = (np.ndarray, defaultdict)  # of which not all that are of one class do the same
_OPERATING = tuple("LOAD_ATTR BINARY_ COMPARE_ CONTAINS_ UNARY_ TO_BOOL POP_JUMP FORMAT GET_ITER CALL".split())
_CONTAINERS = (list, tuple, set, frozenset, deque)
_NESTED = frozenset({list, tuple, dict})
_NESTING = PLAIN | _NESTED
_REFERRING = _NESTED | {float, int, bool, str, NoneType}  # which refer to what they contain, or to nothing
_HELD = (
    MemberDescriptorType,
    GetSetDescriptorType,
    FunctionType,
    BuiltinFunctionType,
    staticmethod,
    classmethod,
    type(list.append),
    FIELD,
)
# What a class does with others than what is being looked at.
_OTHERS = frozenset(
    f"__{name}__"
    for name in "init new del init_subclass set_name class_getitem enter exit call setattr delattr setitem delitem "
    "iadd isub imul imatmul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift".split()
)
# What operators of these names give may be an object of any class; others give a truth value, a number or text, as a rule.
_GIVING = frozenset(
    f"__{side}{name}__"
    for side in ("", "r")
    for name in "add sub mul matmul truediv floordiv mod pow and or xor lshift rshift divmod getitem getattr getattribute neg pos "
    "abs invert round iter reversed missing".split()
)
_CONSTANTS = frozenset({float, int, str, bool, complex, list, dict, set, tuple})
_MANY = 2000
_classes: dict[tuple[type, frozenset[str], bool, bool], tuple[int, bool]] = {}


def is_quiet(f: Any, items: Iterable[Any], further: int = 0) -> bool:
    """Whether nothing changes where a function that only calculates is called with each of the items. `further`: how often
    what it gives is operated on.

    >>> class Circle:
    ...     area = property(lambda self: vars(self).setdefault("kept", 1.0))
    >>> is_quiet(lambda c: c.area, [Circle()]), is_quiet(lambda c: c.radius, [Circle()]), is_quiet(lambda c: c[1], [(Circle(), 1.0)])
    (False, True, True)
    """
    names, count, globally = _reads_of(f)
    depth = count - 1 + further
    if not _all_stay(items, names, depth):
        return False
    return type(f) is not FunctionType or _all_stay(_captured(f, globally), names, depth)


def _reads_of(f: Any) -> tuple[frozenset[str], int, tuple[str, ...]]:
    if type(f) is not FunctionType:  # a builtin function or class: it may ask anything, of the item alone
        return frozenset(), 1, ()
    found = _reads.of(f.__code__)
    if found is None:
        instructions = list(dis.get_instructions(f.__code__))
        names = frozenset(i.argval for i in instructions if i.opname.startswith("LOAD_ATTR"))
        globally = tuple({i.argval for i in instructions if i.opname == "LOAD_GLOBAL"})
        found = names, sum(i.opname.startswith(_OPERATING) for i in instructions), globally
        _reads.note(f.__code__, found)
    return found


def _captured(f: FunctionType, globally: tuple[str, ...]) -> list[Any]:
    """What a function works with beside its arguments."""
    found = [f.__globals__[name] for name in globally if name in f.__globals__]
    if f.__closure__:
        with suppress(ValueError):  # a variable that is not set: the call will raise
            found += [cell.cell_contents for cell in f.__closure__]
    return [*found, *(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]


def _is_flat(x: Any) -> bool:
    """Whether it is a container of plain items, as the rows of a table are, of which there may be many."""
    t = type(x)
    if t is dict:
        return PLAIN.issuperset(map(type, x)) and PLAIN.issuperset(map(type, x.values()))
    return (t is list or t is tuple) and PLAIN.issuperset(map(type, x))


def _all_stay(xs: Iterable[Any], names: frozenset[str], depth: int, level: int = 0) -> bool:
    """Whether `_stays` is true of each. Tables are captured by functions that are called often: what is nested in plain containers is
    looked at by whole levels, which the collector's `get_referents` gives in one call."""
    kinds = set(map(type, xs))
    while not PLAIN.issuperset(kinds):
        if not _NESTING.issuperset(kinds):
            others = [x for x in xs if type(x) not in _NESTING]
            if depth <= 0:  # then the class alone counts
                others = [*{id(x) if issubclass(type(x), _OF_THEIR_OWN) else type(x): x for x in others}.values()]
            if not all(_stays(x, names, depth, level) for x in others):
                return False
        if depth <= 0:
            return True
        if not _REFERRING.issuperset(kinds):  # (a function refers to its globals)
            xs = [x for x in xs if type(x) in _NESTED]
        xs = gc.get_referents(*xs)  # of dicts not the keys that are texts
        kinds = set(map(type, xs))
        if level >= _DEEP and not PLAIN.issuperset(kinds):
            return False
        depth -= 1
        level += 1
    return True


def _stays(x: Any, names: frozenset[str], depth: int, level: int = 0) -> bool:
    """Whether operators of an object, and reading these attributes, change nothing; and so for what it holds, and what they give, so
    far down."""
    t = type(x)
    if t in PLAIN or _is_flat(x):
        return True
    if issubclass(t, np.ndarray):
        return x.dtype.kind != "O"
    if t is type or t is FunctionType or t is BuiltinFunctionType:
        return True
    if not _is_quiet_class(t, names, depth > 0):
        return False
    if issubclass(t, defaultdict) and not _makes_constants(x.default_factory):
        return False
    if depth <= 0:
        return True
    parts: list[Any] = []
    if isinstance(x, dict):
        parts = [*dict.keys(x), *dict.values(x)]
    elif isinstance(x, _CONTAINERS):
        parts = list(x)
    for name in names:
        found = _held(x, name)
        if found is not _NOTHING:
            parts.append(found)
    if PLAIN.issuperset(map(type, parts)):
        return True
    return level < _DEEP and _all_stay(parts, names, depth - 1, level + 1)


def _makes_constants(factory: Any) -> bool:
    return factory is None or (type(factory) is type and factory in _CONSTANTS)


_NOTHING = object()


def _held(x: Any, name: str) -> Any:
    """What an object, or its class, holds under a name; not what code gives for it."""
    own = own_attributes(x) or {}
    if name in own:
        return own[name]
    found = getattr_static(type(x), name, _NOTHING)
    if type(found) is MemberDescriptorType:
        return getattr(x, name, _NOTHING)
    return _NOTHING if isinstance(found, (*_HELD, property)) else found


def _is_quiet_class(cls: type, names: frozenset[str], further: bool) -> bool:
    """Whether operators and properties of these names change nothing, and give nothing that could, if something is done `further`."""
    if cls.__module__ == "builtins":
        return True
    version = type_version(cls)
    caught = bool(bodies)
    known = _classes.get((cls, names, further, caught))
    if known is not None and version and known[0] == version:
        return known[1]
    bases = [base for base in cls.__mro__ if base.__module__ != "builtins"]
    quiet = all(_is_quiet_base(base, cls, names, further, caught) for base in bases)
    if "<locals>" not in cls.__qualname__:
        if len(_classes) > _MANY:
            _classes.clear()
        _classes[cls, names, further, caught] = version, quiet
    return quiet


_TEXTS = ("__repr__", "__str__")


def may_raise(f: FunctionType) -> bool:
    """Whether a function raises exceptions of its own, or calls what may do so."""
    found = _raising.of(f.__code__)
    if found is None:
        found = any(i.opname.startswith(("RAISE", "CALL", "PRECALL")) for i in dis.get_instructions(f.__code__))
        _raising.note(f.__code__, found)
    return found


def _is_quiet_base(base: type, cls: type, names: frozenset[str], further: bool, caught: bool) -> bool:
    """`caught`: exceptions are, and what they carry may have a derivative."""
    for name, held in list(vars(base).items()):
        special = name.startswith("__") and name.endswith("__")
        if not (special or name in names) or name in _OTHERS:
            continue
        if special or type(held) is property:
            functions = functions_in(held)
            if any(changes(f, cls) or caught and name not in _TEXTS and may_raise(f) for f in functions):
                return False
            if further and functions and (name in _GIVING or not special):
                return False
        elif not isinstance(held, _HELD) and hasattr(
            type(held), "__get__"
        ):  # it does what it wants, as `cached_property` does
            return False
    return True


__all__ = ["is_quiet"]
