"""`super().name(...)`: what the classes after one have under a name, called with the object first.

The attribute is only called, so that it need not be bound: emitted code asks for the function, and passes the object.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

import numpy as np

from ..identity import note
from ..objects import calls
from ..objects.arithmetic import find
from .knowledge import forgets, note_class

_found: dict[tuple[type, type, str], Any] = {}  # by the class that asks, the class of the object, and the name
_found_new: dict[tuple[type, type], Any] = {}  # `__new__`: by the class that asks, and the class that is to be made
forgets(_found.clear)
forgets(_found_new.clear)


def above(make: Any, owner: type, x: Any, name: str) -> Callable[..., Any]:
    """`make(owner, x).name`, where `make` is what `super` stands for, to be called with the object first."""
    bound = getattr(make(owner, x), name)
    return lambda _, *args, **kwargs: bound(*args, **kwargs)


@calls.known(above, exact=True)
def _above(make: Any, owner: type, x: Any, name: str) -> tuple[Any, Any]:
    cls = type(x)
    # (For a class that is derived from `owner`, `super` looks into its own bases.)
    if make is super and not (name != "__new__" and isinstance(x, type) and owner in _bases(x)):
        if name == "__new__" and cls is type:
            found = _found_new.get((owner, x)) or _find_new(owner, x)
            if found is not None:
                return found, None
        found = _found.get((owner, cls, name)) or _find(owner, cls, name)
        if found is not None:
            return found, None
    return calls.differentiated(above)(make, owner, x, name)


_bases = type.__dict__["__mro__"].__get__


def _find(owner: Any, cls: type, name: str) -> Any:
    """The method of instances of a class, if it is a plain function, or a method of a builtin class that has a rule."""
    at = next((k for k, c in enumerate(cls.__mro__) if c is owner), None)
    if at is None:
        return None
    found = next((vars(c)[name] for c in cls.__mro__[at + 1 :] if name in vars(c)), None)
    if type(found) is not FunctionType and not _has_rule(found, cls):
        return None
    note_class(cls)
    note(_found, (owner, cls, name), (owner, cls), found)
    return found


def _find_new(owner: Any, cls: type) -> Any:
    """What makes an instance of a class, if it is that of a builtin class: a function of the object that `super` was asked about, too."""
    at = next((k for k, c in enumerate(cls.__mro__) if c is owner), None)
    if at is None:
        return None
    found = next(vars(c)["__new__"] for c in cls.__mro__[at + 1 :] if "__new__" in vars(c))
    made = next((function for builtin, function in _OF_BUILTIN if builtin is found), None)
    if made is not None:
        note_class(cls)
        note(_found_new, (owner, cls), (owner, cls), made)
    return made


def _tuple_new(_: type, cls: type, /, *args: Any) -> Any:
    return tuple.__new__(cls, *args)


def _float_new(_: type, cls: type, /, *args: Any) -> Any:
    return float.__new__(cls, *args)


def _int_new(_: type, cls: type, /, *args: Any) -> Any:
    return int.__new__(cls, *args)


def _str_new(_: type, cls: type, /, *args: Any) -> Any:
    return str.__new__(cls, *args)


def _object_new(_: type, cls: type, /, *args: Any) -> Any:
    return object.__new__(cls, *args)


def _handler_of_new(forward: Any) -> Any:
    def handler(_: type, cls: type, /, *args: Any) -> tuple[Any, Any]:
        y, back = forward(cls, *args)
        return y, None if back is None else (calls.run_unshifted, back)

    return handler


_OF_BUILTIN: list[tuple[Any, Any]] = [
    *[(tuple.__new__, _tuple_new), (float.__new__, _float_new), (int.__new__, _int_new)],
    *[(str.__new__, _str_new), (object.__new__, _object_new)],
]
for _builtin, _function in _OF_BUILTIN:
    calls.known(_function, exact=True)(_handler_of_new(calls.KNOWN[_builtin]))


def _has_rule(found: Any, cls: type) -> bool:
    """Whether it is a method of a builtin class, whose rule serves instances of `cls`."""
    if type(found) not in (MethodDescriptorType, WrapperDescriptorType) or issubclass(cls, np.ndarray):
        return False
    sized_by_itself = type(find(cls, "__len__")) is FunctionType
    return not sized_by_itself and calls.method_handler(found.__objclass__, found.__name__) is not None


__all__ = ["above"]
