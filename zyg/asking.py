"""Which code runs where classes are asked for their instances and subclasses: `isinstance` and `issubclass`."""

from __future__ import annotations

import abc
import weakref
from collections.abc import Iterator
from types import FunctionType, UnionType
from typing import Any

from zyg.ir.plainly import get_plainly


def classes_in(given: Any) -> Iterator[Any]:
    """What `isinstance` takes for classes: they may be in tuples of tuples, and in unions."""
    if isinstance(given, (tuple, UnionType)):
        for part in given if isinstance(given, tuple) else given.__args__:
            yield from classes_in(part)
    else:
        yield given


def asks_nobody(given: Any, cls: type) -> bool:
    """Whether no code of the user's runs where these classes are asked whether `cls` is derived from one of them."""
    if type(given) is abc.ABCMeta:  # one class, most likely
        return _is_known(given, cls) or _asks_nobody(given, cls)
    return all(type(c) is type or _is_known(c, cls) or _asks_nobody(c, cls) for c in classes_in(given))


def _asks_nobody(cls: Any, other: type) -> bool:
    # An abstract class looks at the bases before it asks others.
    return _is_silent(cls) and (cls in other.__mro__ or all(map(_is_silent, asked(cls))))


def asked(cls: Any) -> list[Any]:
    """A class, and those that it asks in turn: an abstract class asks what is registered with it, and all that are derived from it."""
    found = [cls]
    for c in found:
        if type(c) is abc.ABCMeta:
            registered = (r() for r in _kept(c)[0])
            found += [x for x in (*registered, *type.__subclasses__(c)) if x is not None and x not in found]
    return found


def tells_its_class(cls: type) -> bool:
    """Whether `x.__class__` of instances is their class."""
    return _find(cls, "__class__") is _CLASS


def _is_known(cls: Any, other: type) -> bool:
    """Whether an abstract class remembers what it was told of another one."""
    if type(cls) is not abc.ABCMeta:
        return False
    told = _told.get((id(cls), id(other)))
    if told is not None and told[0]() is cls and told[1]() is other and told[2] in (None, abc.get_cache_token()):
        return True
    _, yes, no, version = _kept(cls)
    reference = weakref.ref(other)
    if reference in yes:
        version = None  # which is never forgotten
    elif version != abc.get_cache_token() or reference not in no:
        return False
    if len(_told) >= _MANY:
        _told.clear()
    _told[id(cls), id(other)] = weakref.ref(cls), reference, version
    return True


# What has been found to be remembered, and which version of what is registered it was told for, as abstract classes copy all that they
# remember to tell it.
_told: dict[tuple[int, int], tuple[Any, Any, int | None]] = {}
_MANY = 1000


def _is_silent(cls: Any) -> bool:
    """Whether nothing of the user's runs where it is this class's turn."""
    if type(cls) is type:
        return True
    if type(cls) is not abc.ABCMeta or any(_find(cls, name) is not None for name in _ANSWERING):
        return False
    hook = _find(cls, "__subclasshook__")
    return hook is _NO_HOOK or _module_of(hook) in _ABSTRACT


def _find(cls: type, name: str) -> Any:
    return next((c.__dict__[name] for c in cls.__mro__ if name in c.__dict__), None)


def _module_of(hook: Any) -> str | None:
    function = get_plainly(hook, "__func__")
    return function.__module__ if isinstance(function, FunctionType) else None


# What is registered with an abstract class, and its caches: what stands there is answered without asking anybody.
_kept: Any = vars(abc)["_get_dump"]
_CLASS = vars(object)["__class__"]
_NO_HOOK = vars(object)["__subclasshook__"]
_ANSWERING = ("__instancecheck__", "__subclasscheck__", "__subclasses__")
_ABSTRACT = frozenset({"collections.abc", "numbers", "typing"})
