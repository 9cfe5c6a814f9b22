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
forgets(_found.clear)


def above(make: Any, owner: type, x: Any, name: str) -> Callable[..., Any]:
    """`make(owner, x).name`, where `make` is what `super` stands for, to be called with the object first."""
    bound = getattr(make(owner, x), name)
    return lambda _, *args, **kwargs: bound(*args, **kwargs)


@calls.known(above, exact=True)
def _above(make: Any, owner: type, x: Any, name: str) -> tuple[Any, Any]:
    cls = type(x)
    if make is super:
        found = _found.get((owner, cls, name)) or _find(owner, cls, name)
        if found is not None:
            return found, None
    return calls.differentiated(above)(make, owner, x, name)


def _find(owner: Any, cls: type, name: str) -> Any:
    """The method of instances of a class, if it is a plain function, or a method of a builtin class that has a rule."""
    at = next((k for k, c in enumerate(cls.__mro__) if c is owner), None)
    if at is None or issubclass(cls, type):
        return None
    found = next((vars(c)[name] for c in cls.__mro__[at + 1 :] if name in vars(c)), None)
    if type(found) is not FunctionType and not _has_rule(found, cls):
        return None
    note_class(cls)
    note(_found, (owner, cls, name), (owner, cls), found)
    return found


def _has_rule(found: Any, cls: type) -> bool:
    """Whether it is a method of a builtin class, whose rule serves instances of `cls`."""
    if type(found) not in (MethodDescriptorType, WrapperDescriptorType) or issubclass(cls, np.ndarray):
        return False
    sized_by_itself = type(find(cls, "__len__")) is FunctionType
    return not sized_by_itself and calls.method_handler(found.__objclass__, found.__name__) is not None


__all__ = ["above"]
