"""From typed functions to Python callables: what a caller of the back end uses.

    native = compile_module(module, "f", options, Signature(parameters, result))
    entry = make_entry(native, ("x", "n"), guards=..., inputs=...)
    f = new_callable(dispatcher, "f")
    set_entries(f, [entry])

The native code converts arguments and results itself (llvm/entry.py, llvm/boxing.py); this module has what it asks
Python for: building structured results of their leaves.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ..ir.types import Closure, ListType, RangeType, Struct, Type
from .callable import Entry, new_callable, set_entries
from .llvm.engine import Native, compile_module
from .llvm.entry import Signature

make_entry = Entry


def rebuild(type: Type) -> Callable[..., Any]:
    """The function that makes an object of a structured type of its items.

    >>> from zyg.ir.types import F64, RANGE
    >>> rebuild(ListType((F64, F64)))(1.0, 2.0), rebuild(RANGE)(0, 3, 1)
    ([1.0, 2.0], range(0, 3))
    """
    if isinstance(type, ListType):
        return lambda *items: list(items)
    if isinstance(type, RangeType):
        return range
    if isinstance(type, Struct):
        return _struct_builder(type)
    if isinstance(type, Closure):
        return _closure_builder(type)
    raise TypeError(f"a value of type {type} cannot be given to Python")


def _struct_builder(type: Struct) -> Callable[..., Any]:
    cls, names = type.cls, type.names
    if issubclass(cls, tuple):
        return lambda *items: tuple.__new__(cls, items)

    def build(*items: Any) -> Any:
        # The compiled code has run __init__ and __post_init__ already: the fields are the final ones.
        result = object.__new__(cls)
        for name, item in zip(names, items, strict=True):
            object.__setattr__(result, name, item)
        return result

    return build


def _closure_builder(type: Closure) -> Callable[..., Any]:
    captured, defaults = len(type.captured), len(type.defaults)
    model = type.function

    def build(*items: Any) -> types.FunctionType:
        cells = tuple(types.CellType(item) for item in items[:captured])
        positional = items[captured : captured + defaults] or None
        function = types.FunctionType(type.code, model.__globals__, model.__name__, positional, cells)
        if type.kwdefaults:
            names = [name for name, _ in type.kwdefaults]
            function.__kwdefaults__ = dict(zip(names, items[captured + defaults :], strict=True))
        function.__qualname__ = model.__qualname__
        function.__doc__ = model.__doc__
        return function

    return build


__all__ = ["Entry", "Native", "Signature", "compile_module", "make_entry", "new_callable", "rebuild", "set_entries"]
