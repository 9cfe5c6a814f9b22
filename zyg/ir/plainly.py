"""What classes and objects of the user's hold, for purposes of zyg's own: nobody is asked for it.

`getattr` and `hasattr` run a `__getattr__`, `__getattribute__` or property of the user's, which may answer to any name, raise, or
change something that the program goes by.
"""

from __future__ import annotations

from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_MISSING: Any = object()
_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class may have been written in Python

_mro = type.__dict__["__mro__"].__get__
_vars = type.__dict__["__dict__"].__get__


def in_class(cls: type, name: str, default: Any = None) -> Any:
    """What stands under a name in a class or its bases.

    >>> class Answering(type):
    ...     def __getattr__(cls, name):
    ...         return name
    >>> class A(metaclass=Answering):
    ...     x = 2.0
    >>> in_class(A, "x"), in_class(A, "y"), A.y
    (2.0, None, 'y')
    """
    for base in cls.__mro__ if type(cls) is type else _mro(cls):
        held = base.__dict__ if type(base) is type else _vars(base)
        if name in held:
            return held[name]
    return default


def is_in_class(cls: type, name: str) -> bool:
    """Whether a class or one of its bases has this name, as where Python looks a special method up."""
    return in_class(cls, name, _MISSING) is not _MISSING


def get_plainly(x: Any, name: str, default: Any = None) -> Any:
    """`getattr(x, name, default)`, for which no code of the user's runs: the default where only such code would give something.

    >>> class Answering:
    ...     def __getattr__(self, name):
    ...         return name
    >>> get_plainly(Answering(), "__name__"), get_plainly(in_class, "__name__")
    (None, 'in_class')
    """
    cls = type(x)
    if cls in _OF_THEIR_OWN:
        return getattr(x, name, default)
    if not cls.__flags__ & _HEAP:
        if cls is MethodType and name not in ("__func__", "__self__"):
            return get_plainly(x.__func__, name, default)
        if not issubclass(cls, ModuleType):
            return getattr(x, name, default)
    found = in_class(cls, name, _MISSING)
    if found is _MISSING and not issubclass(cls, type):
        held = own_attributes(x)
        return default if held is None else held.get(name, default)
    kind = type(found)
    if issubclass(kind, property) or kind.__flags__ & _HEAP and in_class(kind, "__get__") is not None:
        return default
    try:
        look: Any = (type if issubclass(cls, type) else object).__getattribute__
        return look(x, name)
    except AttributeError:
        return default


# What is of these has its attributes from C code alone: most of what is asked.
_OF_THEIR_OWN = frozenset({FunctionType, BuiltinFunctionType, CodeType, type, float, int, tuple, list, dict, str})


def has_plainly(x: Any, name: str) -> bool:
    """`hasattr(x, name)`, for which no code of the user's runs.

    >>> has_plainly(in_class, "__code__"), has_plainly(in_class, "__iter__")
    (True, False)
    """
    return get_plainly(x, name, _MISSING) is not _MISSING


def code_or_itself(function: Any) -> Any:
    """The code of a function; of what else can be called, itself."""
    return function.__code__ if type(function) is FunctionType else get_plainly(function, "__code__", function)


def own_attributes(x: Any) -> Any:
    """The `__dict__` of an object (of a bound method that of its function), or None."""
    cls = type(x)
    if cls is MethodType:
        return own_attributes(x.__func__)
    if cls is partial:
        # Asked for it, it would have one from then on, and others that are made of it would keep it apart.
        _, _, (_, _, _, held) = x.__reduce__()
        return held
    if not cls.__dictoffset__:
        return None
    try:
        return object.__getattribute__(x, "__dict__")
    except AttributeError:
        return None


__all__ = ["code_or_itself", "get_plainly", "has_plainly", "in_class", "is_in_class", "own_attributes"]
