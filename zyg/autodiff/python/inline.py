"""What emitted code may do by itself in the place of the run-time functions, and under which test.

An attribute is read plainly where the type of the object is in the set of types for which reading that name runs no code and
gives no bound method with a cotangent; an item, of a list by a natural number. The general function adds to these sets what
it finds out.  A callee is looked up once per place: `Site` keeps the last one and its forward half.
"""

from __future__ import annotations

import weakref
from collections import deque
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

from .. import objects
from ..objects import attributes
from ..objects.arithmetic import find
from ..objects.cotangents import NUMERIC

MemberDescriptorType = attributes.MemberDescriptorType


# Operations whose reverse is written out where they were done plainly.
ACCESS = frozenset({"getattr", "setattr", "getitem", "setitem"})


class Types(set):
    """The types whose attribute `name` may be read (or set) plainly."""

    __module__ = __name__

    def __init__(self, what: str, name: str):
        super().__init__()
        self.__qualname__ = f"{what}_{name}"


readable: dict[str, Types] = {}
writable: dict[str, Types] = {}


def readers(name: str) -> Types:
    """The types whose attribute `name` may be read plainly, as far as is known."""
    if name not in readable:
        readable[name] = Types("readable", name)
        readable[name].add(ModuleType)
    return readable[name]


def writers(name: str) -> Types:
    """The types whose attribute `name` may be set plainly, as far as is known."""
    if name not in writable:
        writable[name] = Types("writable", name)
    return writable[name]


def record_getattr(x: Any, name: str, types: Types) -> tuple[Any, Any]:
    """RECORD["getattr"], which notes types that may be read plainly."""
    cls = type(x)
    if _reads_plainly(cls, name):
        types.add(cls)
    return objects.RECORD["getattr"](x, name)


def record_setattr(x: Any, value: Any, name: str, types: Types) -> Any:
    """RECORD["setattr"], which notes types that may be written plainly."""
    cls = type(x)
    if _writes_plainly(cls, name):
        types.add(cls)
    return objects.RECORD["setattr"](x, value, name)


def _reads_plainly(cls: type, name: str) -> bool:
    if issubclass(cls, (type, ModuleType, super, tuple, *NUMERIC)) or hasattr(cls, "__zyg_transform__"):
        return False
    found = find(cls, name)
    if cls in (list, dict, set, deque):
        return type(found) is MethodDescriptorType
    if not attributes.plain_lookup(cls) or not _of_python(cls):
        return False
    if found is None:
        return find(cls, "__getattr__") is None
    return type(found) in (MemberDescriptorType, FunctionType)


def _writes_plainly(cls: type, name: str) -> bool:
    if issubclass(cls, (type, ModuleType, super, tuple, *NUMERIC)) or not _of_python(cls):
        return False
    found = find(cls, name)
    if found is not None and type(found) is not MemberDescriptorType and hasattr(type(found), "__set__"):
        return False
    return find(cls, "__setattr__") is object.__setattr__


def _of_python(cls: type) -> bool:
    """Whether a class and all its bases are made by class statements."""
    return all(c is object or c.__flags__ & 1 << 9 for c in cls.__mro__)


class Site(list):
    """At a call: the function that was called last, and its forward half."""

    __module__ = __name__
    __qualname__ = "site"
    __slots__ = ("__weakref__",)

    def __hash__(self) -> int:
        return id(self)


_sites: weakref.WeakSet[Site] = weakref.WeakSet()


def new_site() -> Site:
    site = Site((None, None))
    _sites.add(site)
    return site


def forward_at(f: Any, site: Site) -> Any:
    """The forward half of `f`, which the place remembers if `f` is there to stay."""
    forward = objects.forward_of(f)
    if (type(f) is FunctionType and f.__closure__ is None and f.__defaults__ is None) or (
        type(f) is BuiltinFunctionType and type(f.__self__) is ModuleType
    ):
        site[:] = f, forward
    return forward


def forget_sites() -> None:
    """There are new rules."""
    for site in list(_sites):
        site[:] = None, None
