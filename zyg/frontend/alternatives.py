"""Numbers that are of several classes in CPython (meeting.py), where the class decides what comes out.

An int that met a float is a float in machine code. Times a float64 that gives what CPython gives; times an int32 it does not,
where it was the int. Which it is, is found out by asking what comes out for each of the classes: nothing here knows operators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.ir.core import Value
from zyg.ir.dtypes import NUMPY_SCALARS
from zyg.ir.types import BOOL, F64, I64, Scalar

from .frames import Stop
from .meeting import classes_of, is_mixed, number_class
from .type_names import certain
from .values import Abstract, ArrayValue, ComplexArrayValue, ComplexValue, Known, Number, TupleValue, number_type

if TYPE_CHECKING:
    from .evaluator import Evaluator

Outcome = tuple[Any, ...]  # the types of what comes out, or the exception that is raised
_OF_CLASS: dict[type, tuple[Scalar, bool]] = {bool: (BOOL, False), int: (I64, False), float: (F64, False)}
_OF_CLASS |= {cls: (scalar, True) for scalar, cls in NUMPY_SCALARS.items()}
# Numbers of these types compute to the same values (as long as nothing wraps).
_WIDE = {F64, I64, "complex"}


def refuse_unlike(
    e: Evaluator, function: Callable[..., Abstract], operands: Sequence[Abstract], what: str = ""
) -> None:
    """Refuses `function` of numbers and elements of arrays where its result is of another type for another of the classes of
    one of them."""
    for n, v in enumerate(operands):
        if is_mixed(v):
            rest = [_element(o) for o in operands]

            def told(cls: type, n: int = n, rest: list[Abstract] = rest) -> Outcome:
                return _outcome(e, function, [*rest[:n], _of_class(cls), *rest[n + 1 :]])

            certain(e, _with_own(v), what or _beside(operands), told)


def widened(
    e: Evaluator, function: Callable[..., Abstract], operands: Sequence[Abstract], what: str = ""
) -> frozenset[type]:
    """The NumPy classes of what `function` gives for numbers: all of 64 bits and more, or one; else they are refused."""
    columns = [sorted(classes_of(v), key=str) if is_mixed(v) else [None] for v in operands]
    found: set[Outcome] = set()
    for classes in product(*columns):
        given = [_element(v) if cls is None else _of_class(cls) for cls, v in zip(classes, operands)]
        found.add(_outcome(e, function, given))
    if len(found) > 1 and not all(len(o) == 1 and o[0] in _WIDE for o in found):
        refuse_unlike(e, function, operands, what)
    return frozenset(_class(o[0]) for o in found if len(o) == 1)


def _class(type: Any) -> type:
    return np.complex128 if type == "complex" else NUMPY_SCALARS[type]


def _beside(operands: Sequence[Abstract]) -> str:
    for v in operands:
        if isinstance(v, ArrayValue) or isinstance(v, Number) and v.numpy and not is_mixed(v):
            scalar = v.type.dtype if isinstance(v, ArrayValue) else v.type
            return f"an operation with a np.{NUMPY_SCALARS[scalar].__name__}"
    return "an operation of NumPy's"


def _with_own(v: Abstract) -> Abstract:
    """A number with the class that it has in machine code among its classes."""
    if isinstance(v, Number):
        return Number(v.value, v.numpy, classes_of(v) | {number_class(v.type, v.numpy)})
    assert isinstance(v, ComplexValue)
    return ComplexValue(v.re, v.im, v.numpy, classes_of(v) | {np.complex128 if v.numpy else complex})


def _of_class(cls: type) -> Abstract:
    if issubclass(cls, (complex, np.complexfloating)):
        return ComplexValue(Number(Value(F64)), Number(Value(F64)), issubclass(cls, np.generic))
    scalar, numpy = _OF_CLASS[cls]
    return Number(Value(scalar), numpy)


def _element(v: Abstract) -> Abstract:
    """A number that stands for the elements of an array, or for a number."""
    if isinstance(v, ArrayValue):
        return Number(Value(v.type.dtype), True)
    if isinstance(v, (ComplexArrayValue, ComplexValue)):
        numpy = not isinstance(v, ComplexValue) or v.numpy
        return ComplexValue(
            Number(Value(F64)), Number(Value(F64)), numpy, v.classes if isinstance(v, ComplexValue) else None
        )
    return Number(Value(v.type), v.numpy, v.classes) if isinstance(v, Number) else v


def _outcome(e: Evaluator, function: Callable[..., Abstract], numbers: Sequence[Abstract]) -> Outcome:
    """What `function` gives for numbers, in code that is thrown away."""
    from .evaluator import Evaluator

    module = e.inference.module
    name = module.unique_name("alternative")
    inner = Evaluator(e.inference, name, e.context)
    module.add(inner.function)
    inner.builder.position = e.builder.position
    inner.depth = e.depth + 1
    try:
        return tuple(map(_type, _items(function(inner, *numbers))))
    except Stop:
        return ("raises", inner.latest.attrs["exc"])
    finally:
        del module.functions[name]


def _items(v: Abstract) -> tuple[Abstract, ...]:
    return v.items if isinstance(v, TupleValue) else (v,)


def _type(v: Abstract) -> Any:
    if isinstance(v, ComplexValue) or isinstance(v, Known) and isinstance(v.object, complex):
        return "complex"
    return number_type(v)
