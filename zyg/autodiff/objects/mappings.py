"""What C code asks of mappings that are no dicts: their keys, by the methods of their classes, and the items at these."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from typing import Any

from zyg.autodiff import objects

from . import calls
from .arithmetic import find, is_python
from .backs import run_shifted

_OF_DICTS = frozenset({dict, OrderedDict, defaultdict, Counter})


def is_taken_as_dict(x: Any) -> bool:
    """Whether C code takes the items of an instance of dict by itself, whatever methods its class has.

    >>> class Own(dict):
    ...     def __iter__(self):
    ...         return iter("ab")
    >>> is_taken_as_dict({}), is_taken_as_dict(OrderedDict()), is_taken_as_dict(Own()), is_taken_as_dict([])
    (True, True, False, False)
    """
    cls = type(x)
    if cls in _OF_DICTS:
        return True
    if not isinstance(x, dict):
        return False
    method = find(cls, "__iter__")
    if method is dict.__iter__:
        return True
    # (OrderedDict has an `__iter__` of its own: C code asks it for its keys, and for the items at these.)
    return method is OrderedDict.__iter__ and not any(is_python(find(cls, name)) for name in ("keys", "__getitem__"))


def has_methods(x: Any) -> bool:
    """Whether OrderedDict may find a method `keys` or `items` of what it is given."""
    asks = objects.attributes.may_run_code
    return any(asks(x, name) or hasattr(x, name) for name in ("keys", "items"))


def record_has_keys(x: Any) -> tuple[bool, Any]:
    """`hasattr(x, "keys")`, and what undoes that."""
    if not objects.attributes.may_run_code(x, "keys"):
        return hasattr(x, "keys"), None
    return calls.call(hasattr, (x, "keys"))


def record_names(x: Any) -> tuple[list[Any] | None, Any]:
    """A list of the keys of a mapping, as C code makes it, None for what has no `keys`; and a back, which gives a cotangent of `x`."""
    names, back = calls.call(_names, (x,))
    return names, None if back is None else (run_shifted, back)


def _names(x: Any) -> list[Any] | None:
    keys = getattr(x, "keys", None)
    if keys is None:
        return None
    found = keys()
    if not hasattr(type(found), "__iter__") and not hasattr(type(found), "__getitem__"):
        raise TypeError(f"{type(x).__name__}.keys() returned a non-iterable (type {type(found).__name__})")
    return list(iter(found))


__all__ = ["has_methods", "is_taken_as_dict", "record_has_keys", "record_names"]
