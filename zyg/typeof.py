"""From Python values to types: what the dispatcher and inference know of an argument, a global or a captured value."""

from __future__ import annotations

import dataclasses
import types
from typing import Any

import numpy as np

from .errors import IntegerTooLarge, UntypableValue
from .ir.types import (
    BOOL,
    F32,
    F64,
    I32,
    I64,
    NONE,
    RANGE,
    U8,
    Array,
    Closure,
    Const,
    NpScalar,
    Scalar,
    Struct,
    Tuple,
    Type,
)
from .rules import singled_out


class _Unbound:
    """The type's value for a cell that is empty."""

    def __repr__(self) -> str:
        return "UNBOUND"


UNBOUND = _Unbound()

_SCALAR_OF_DTYPE: dict[tuple[str, int], Scalar] = {
    ("f", 8): F64,
    ("f", 4): F32,
    ("i", 8): I64,
    ("i", 4): I32,
    ("u", 1): U8,
    ("b", 1): BOOL,
}
_PYTHON_SCALARS: dict[type, Type] = {float: F64, int: I64, bool: BOOL, type(None): NONE, range: RANGE}
_NUMPY_SCALARS: dict[type, Type] = {
    np.dtype(code).type: NpScalar(scalar)
    for code, scalar in (("f8", F64), ("f4", F32), ("i8", I64), ("i4", I32), ("u1", U8), ("?", BOOL))
}
_DTYPES = "float64, float32, int64, int32, uint8 or bool"


def type_of(value: Any, _open: tuple[int, ...] = ()) -> Type:
    """The type of a Python value; UntypableValue for those that compiled code cannot take.

    >>> print(type_of((1, 2.5, None)), type_of(np.zeros((2, 3))), type_of(np.float32(1)))
    (i64, f64, None) array<f64, 2, C> np.f32
    """
    cls = type(value)
    if cls is int and not -(2**63) <= value < 2**63:
        raise IntegerTooLarge(f"the integer {value}, which does not fit into 64 bits", hint="pass a float")
    simple = _PYTHON_SCALARS.get(cls) or _NUMPY_SCALARS.get(cls)
    if simple is not None:
        return simple
    if isinstance(value, np.ndarray):
        return _array_type(value)
    if cls is tuple:
        return Tuple(tuple(type_of(item, _open) for item in value))
    if cls is types.FunctionType:
        return _function_type(value, _open)
    if isinstance(value, (str, bytes)):
        return Const(value)
    own = getattr(value, "__zyg_type__", None)
    if isinstance(own, Type):
        return own
    names = struct_fields(cls)
    if names is not None:
        method = unfollowed_method(cls)
        if method is not None:
            raise UntypableValue(
                f"a {cls.__qualname__}, whose {method} compiled code does not follow",
                hint=f"take {method} out of the class",
            )
        return Struct(cls, names, tuple(type_of(getattr(value, name), _open) for name in names))
    if callable(value) or isinstance(value, (types.ModuleType, type, np.dtype, types.EllipsisType)):
        return Const(value)
    raise _refusal(value)


def struct_fields(cls: type) -> tuple[str, ...] | None:
    """The fields of a dataclass or named tuple; None for other classes."""
    if dataclasses.is_dataclass(cls):
        return tuple(f.name for f in dataclasses.fields(cls))
    names = getattr(cls, "_fields", None) if issubclass(cls, tuple) else None
    return tuple(names) if names is not None else None


# What compiled code does itself for instances of structs: a class that overrides it would mean something else.
_OWN_DATACLASS = ("__setattr__", "__getattr__", "__getattribute__", "__float__", "__int__", "__index__", "__contains__")
_OWN_NAMED_TUPLE = ("__len__", "__getitem__", "__iter__", "__contains__", "__getattribute__")


def unfollowed_method(cls: type) -> str | None:
    """A special method that the user wrote for a dataclass or named tuple and that compiled code would pass over."""
    own = _OWN_NAMED_TUPLE if issubclass(cls, tuple) else _OWN_DATACLASS
    for base in cls.__mro__:
        for name in own:
            method = vars(base).get(name)
            if isinstance(method, types.FunctionType) and method.__code__.co_filename != "<string>":
                return name
    return None


def dtype_scalar(dtype: np.dtype) -> Scalar | None:
    """The machine scalar of a NumPy dtype; None if there is none."""
    return _SCALAR_OF_DTYPE.get((dtype.kind, dtype.itemsize)) if dtype.isnative else None


def _array_type(array: np.ndarray) -> Array:
    dtype = array.dtype
    scalar = dtype_scalar(dtype)
    if scalar is None:
        if not dtype.isnative:
            raise UntypableValue(
                f"an array of {dtype}, whose byte order is not this machine's",
                hint="convert it: x.astype(x.dtype.newbyteorder('='))",
            )
        raise UntypableValue(f"an array of dtype {dtype}", hint=f"use an array of {_DTYPES}")
    if type(array) not in (np.ndarray, np.memmap):
        raise UntypableValue(
            f"a {type(array).__module__}.{type(array).__qualname__}, a subclass of ndarray", hint="pass np.asarray(x)"
        )
    if not array.flags.aligned:
        raise UntypableValue("an array whose elements are not aligned in memory", hint="pass x.copy()")
    layout = "C" if array.flags.c_contiguous else "A"
    return Array(scalar, array.ndim, layout, bool(array.flags.writeable))


def _function_type(function: types.FunctionType, open_: tuple[int, ...]) -> Type:
    """By code and captures; by identity where a function captures itself (its type would contain itself)."""
    if id(function) in open_ or (function.__closure__ and singled_out(function.__code__)):
        return Const(function)
    open_ = (*open_, id(function))
    try:
        captured = tuple(_cell_type(cell, open_) for cell in function.__closure__ or ())
        defaults = tuple(type_of(d, open_) for d in function.__defaults__ or ())
        kwdefaults = tuple((n, type_of(d, open_)) for n, d in (function.__kwdefaults__ or {}).items())
    except UntypableValue:
        # What it holds may never be used in compiled code; if it is, inference looks at it and says which one.
        return Const(function)
    return Closure(function.__code__, captured, defaults, kwdefaults, id(function.__globals__), function)


def _cell_type(cell: types.CellType, open_: tuple[int, ...]) -> Type:
    try:
        return type_of(cell.cell_contents, open_)
    except ValueError:
        return Const(UNBOUND)


def _refusal(value: Any) -> UntypableValue:
    cls = type(value)
    name = cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    if cls in (list, set, frozenset, dict):
        hint = "pass a tuple, or an array (np.array(x))" if cls is list else "pass a tuple or a dataclass"
    elif cls in (complex, np.complex128, np.complex64):
        hint = "pass real and imaginary part as two floats"
    elif isinstance(value, np.generic):
        hint = f"convert it to {_DTYPES}"
    else:
        hint = "pass numbers, arrays, tuples, named tuples, dataclasses or functions"
    article = "an" if name[0] in "aeiou" else "a"
    return UntypableValue(f"{article} {name} cannot be passed to compiled code", hint=hint)
