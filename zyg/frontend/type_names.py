"""type(x) of what an abstract value stands for, and the name that messages give it."""

from __future__ import annotations

import types as python_types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.ir.departures import departing
from zyg.ir.plainly import get_plainly

from .meeting import classes_of, is_mixed, number_class
from .merging import conflict, settled
from .opaque import refuse_opaque
from .values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    ConflictValue,
    DictView,
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


def class_of(e: Evaluator, v: Abstract) -> Any:
    """type(v), a class; None where it is not known. Of numbers that became one type where they met, that type (see `certain`)."""
    if isinstance(v, Known):
        return type(v.object)
    if isinstance(v, Number):
        return number_class(v.type, v.numpy)
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
    if isinstance(v, DictView):
        return type(getattr({}, v.name)())
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


def certain(
    e: Evaluator, v: Abstract, construct: str, told: Callable[[type], object] = lambda cls: cls, remedy: str = ""
) -> Abstract:
    """A value about whose class something is asked. What numbers of several classes became where they met is refused, if what is
    told of these differs."""
    if isinstance(v, (Number, ComplexValue)) and v.classes is not None and len(set(map(told, v.classes))) > 1:
        names = sorted(map(type_name, v.classes))
        conversion = "bool" if bool in v.classes else "float"
        begin = "begin with 1.0 instead of 1, sums with 0.0 (sum(xs, 0.0))"
        raise e.refuse(
            f"{construct} of a number that is {' on one path and '.join(names)} on another",
            types=[describe(v)],
            hint=remedy or f"make them one type before they meet: {begin}, or write {conversion}(x)",
        )
    return v


def python_type_name(e: Evaluator, v: Abstract) -> str:
    """What CPython's messages call the type of what an abstract value stands for."""
    if isinstance(v, ConflictValue):
        raise conflict(e, v)
    refuse_opaque(e, "this operation on", v)  # it may well have it
    v = certain(e, v, "this operation")
    cls = class_of(e, v)
    return describe(v, e.heap) if get_plainly(cls, "__name__") is None else type_name(cls)


def type_name(cls: type) -> str:
    """NumPy's classes are named with their module."""
    return f"numpy.{cls.__name__}" if cls.__module__ == "numpy" else cls.__name__


def operand_name(e: Evaluator, v: Abstract) -> str:
    """The same for the messages of operators, which may have been given None."""
    return "NoneType" if isinstance(v, MaybeValue) else python_type_name(e, v)


def settled_operand(e: Evaluator, v: Abstract, text: str, a: Abstract, b: Abstract) -> Abstract:
    """One of the operands `a` and `b` of an operator, which is not None: where it is, that raises TypeError with `text`, which has two
    places for their classes. A number that became one type with others where they met has the names of all of these there, and what is
    raised departs."""

    def name(v: Abstract) -> str:
        return " or ".join(sorted(map(type_name, classes_of(v)))) if is_mixed(v) else operand_name(e, v)

    def message() -> str:
        return text.format(name(a), name(b))

    return settled(e, v, message, departing("TypeError") if is_mixed(a) or is_mixed(b) else "TypeError")
