"""type(x) of what an abstract value stands for, and the name that messages give it."""

from __future__ import annotations

import types as python_types
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.ir.dtypes import NUMPY_SCALARS
from zyg.ir.types import BOOL, F64, I64, Scalar

from .merging import conflict
from .opaque import refuse_opaque
from .values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    ConflictValue,
    FunctionValue,
    Known,
    MaybeValue,
    MethodValue,
    Number,
    RangeValue,
    Reference,
    Shape,
    SliceValue,
    StructValue,
    TupleValue,
    describe,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator


_PYTHON_CLASS: dict[Scalar, type] = {F64: float, I64: int, BOOL: bool}


def class_of(e: Evaluator, v: Abstract) -> Any:
    """type(v), a class; None where it is not known."""
    if isinstance(v, Known):
        return type(v.object)
    if isinstance(v, Number):
        return NUMPY_SCALARS[v.type] if v.numpy else _PYTHON_CLASS.get(v.type)
    if isinstance(v, TupleValue):
        return tuple
    if isinstance(v, ComplexValue):
        return np.complex128 if v.numpy else complex
    if isinstance(v, StructValue):
        return v.cls
    if isinstance(v, (ArrayValue, ComplexArrayValue)):
        return np.ndarray
    if isinstance(v, FunctionValue):
        return python_types.FunctionType
    if isinstance(v, MethodValue):
        return python_types.MethodType
    if isinstance(v, RangeValue):
        return range
    if isinstance(v, SliceValue):
        return slice
    if isinstance(v, Reference):
        record = e.heap[v.id]
        if isinstance(record.meta, Shape):
            return record.meta.cls
        if record.kind == "dict":
            return dict
        if record.kind in ("list", "growing"):
            return list
        if record.kind == "iterator" and isinstance(record.meta, tuple) and record.meta[0] == "generator":
            return python_types.GeneratorType
    from .exceptions import ExceptionValue, TextValue

    if isinstance(v, ExceptionValue):
        return v.cls
    if isinstance(v, TextValue):
        return str
    return None


def python_type_name(e: Evaluator, v: Abstract) -> str:
    """What CPython's messages call the type of what an abstract value stands for."""
    if isinstance(v, ConflictValue):
        raise conflict(e, v)
    refuse_opaque(e, "this operation on", v)  # it may well have it
    cls = class_of(e, v)
    return describe(v, e.heap) if getattr(cls, "__name__", None) is None else type_name(cls)


def type_name(cls: type) -> str:
    """NumPy's classes are named with their module."""
    return f"numpy.{cls.__name__}" if cls.__module__ == "numpy" else cls.__name__


def operand_name(e: Evaluator, v: Abstract) -> str:
    """The same for the messages of operators, which may have been given None."""
    return "NoneType" if isinstance(v, MaybeValue) else python_type_name(e, v)
