"""What C code does to instances of classes derived from dict, OrderedDict and defaultdict by the `__setitem__`, `__getitem__` and
`__contains__` that these classes have of their own: as code in Python, which is differentiated."""

from __future__ import annotations

import operator
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

from . import calls
from .arithmetic import find, is_python
from .backs import run_shifted
from .builtins_ import MISSING

_ASKED = ("__setitem__", "__getitem__", "__contains__")


def are_own(x: Any) -> bool:
    """Whether C code of OrderedDict asks methods in Python for the items of this one."""
    cls = type(x)
    return cls is not OrderedDict and isinstance(x, OrderedDict) and _are_own(cls)


def _are_own(cls: type) -> bool:
    return any(is_python(find(cls, name)) for name in _ASKED)


def call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """(value, back) of one of the functions below; the back gives a cotangent for each of their arguments."""
    y, back = calls.call(function, args, kwargs)
    return y, None if back is None else (run_shifted, back)


def chosen(function: Callable[..., Any], plain: Any) -> Any:
    """The handler of a method of OrderedDict that asks for items by their methods: `function`, where a class has its own."""

    def handler(x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return call(function, x, *args, **kwargs) if are_own(x) else plain(x, *args, **kwargs)

    return handler


def construct(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any] | None:
    """An instance of a class derived from OrderedDict, with methods for items of its own; None if it has none."""
    return call(_made, cls, *args, **kwargs) if _are_own(cls) else None


def _made(cls: Any, /, *args: Any, **items: Any) -> Any:
    made = cls.__new__(cls)
    update(made, *args, **items)
    return made


def update(self: Any, other: Any = MISSING, /, **items: Any) -> None:
    if other is not MISSING:
        if type(other) is dict:
            _add(self, list(other.items()))
        elif (keys := getattr(other, "keys", None)) is not None:
            for key in keys():
                self[key] = other[key]
        elif (pairs := getattr(other, "items", None)) is not None:
            _add(self, pairs())
        else:
            _add(self, other)
    _add(self, list(items.items()))


def _add(self: Any, pairs: Any) -> None:
    for key, value in pairs:
        self[key] = value


def setdefault(self: Any, key: Any, default: Any = None) -> Any:
    if operator.contains(self, key):  # (`in` would be quiet in a run-time function)
        return self[key]
    self[key] = default
    return default


def copied(self: Any) -> Any:
    made = type(self)()
    for key in list(OrderedDict.__iter__(self)):
        made[key] = self[key]
    return made


def union(left: Any, right: Any) -> Any:
    made = (type(left) if isinstance(left, OrderedDict) else type(right))(left)
    update(made, right)
    return made


def united(self: Any, other: Any) -> Any:
    """self |= other"""
    update(self, other)
    return self


def from_keys(cls: Any, keys: Any, value: Any = None) -> Any:
    """cls.fromkeys(keys, value), of any class derived from dict."""
    made = cls()
    for key in keys:
        made[key] = value
    return made


def make_default(self: defaultdict[Any, Any], key: Any) -> Any:
    """What a defaultdict does for a missing key."""
    value = self.default_factory()  # pyright: ignore[reportOptionalCall] (the caller has looked)
    self[key] = value
    return value
