"""The shadows of the attributes of objects, as objects with these attributes: None where there is nothing.

Compiled code reads and writes them, which takes CPython a fraction of what the items of a dict take, if it specialises these
instructions: up to 3.11 also where the class has an attribute of that name, from 3.12 on only where it has none.
"""

from __future__ import annotations

import keyword
import sys
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, ClassVar

from zyg.autodiff.identity import ByIdentity

from .arithmetic import find

_DEFAULTS_BY_CLASS = sys.version_info < (3, 12)

_names: set[str] = set()  # of attributes that compiled code reads


class Holder:
    """The shadow of the attributes of an object."""

    # (What begins with two underscores is read in other ways: it is in nobody's way here.)
    __asked__: ClassVar[set[str]] = set()  # for attributes that were not there

    if not _DEFAULTS_BY_CLASS:

        def __getattr__(self, name: str) -> None:
            if is_name(name):
                self.__asked__.add(name)


def has_attribute(name: str) -> bool:
    """Whether holders have an attribute of this name; there has to be a value where an object has none yet."""
    if name.startswith("__"):
        return False
    if name not in _names:
        _names.add(name)
        if _DEFAULTS_BY_CLASS:
            setattr(Holder, name, None)
    return True


# From 3.12 on: the holders of instances of a class are of a class of their own, and have from the start the attributes that the first
# of these instances had, or that were asked for later.
CLASSES = ByIdentity()


def class_for(x: Any, before: Any) -> type[Holder]:
    """The class of holders for an object, where CLASSES has none for its class, or only one that lacks attributes (`before`)."""
    if _DEFAULTS_BY_CLASS:
        CLASSES.note(type(x), Holder)
        return Holder
    if before is None:
        names = _attributes(x)
    else:
        _names.update(before.__asked__)  # by run-time functions, too
        names = before.__named__ | before.__asked__
    made = _class_with(names)
    CLASSES.note(type(x), made)
    return made


# By all names, and how many there are in `_names`, which only grows: so by the attributes from the start, too. A class that a function
# makes anew at each call has the same ones each time.
_made: dict[tuple[frozenset[str], int], type[Holder]] = {}
_MANY = 1000


def _class_with(names: set[str]) -> type[Holder]:
    key = frozenset(names), len(_names)
    made = _made.get(key)
    if made is None:
        at_start = sorted(filter(is_name, names & _names))
        scope: dict[str, Any] = {}
        lines = "".join(f"\n    self.{name} = None" for name in at_start)
        exec(f"def __init__(self):{lines or ' pass'}", scope)
        made = type("Holder", (Holder,), {"__init__": scope["__init__"], "__named__": names, "__asked__": set()})
        if len(_made) >= _MANY:
            _made.clear()
        _made[key] = made
    elif made.__asked__:
        asked = set(made.__asked__)
        there = asked.issubset(filter(is_name, names & _names))
        _names.update(asked)
        if not there:
            return _class_with(names | asked)
        made.__asked__.clear()  # for what was there, and had been taken away
    return made


def is_name(name: str) -> bool:
    """Whether a name of an attribute can be written in code: others are given to `setattr`."""
    return name.isidentifier() and not keyword.iskeyword(name)


def _attributes(x: Any) -> set[str]:
    cls = type(x)
    names: set[str] = set(object.__getattribute__(x, "__dict__") if cls.__dictoffset__ else ())
    for c in cls.__mro__[:-1]:
        for name, held in c.__dict__.items():
            if type(held) in _PLACES and name in _names and find(cls, name) is held:
                names.add(name)
    return names


_PLACES = frozenset({MemberDescriptorType, GetSetDescriptorType})


__all__ = ["CLASSES", "Holder", "class_for", "has_attribute", "is_name"]
