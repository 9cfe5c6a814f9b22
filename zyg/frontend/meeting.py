"""Where numbers meet: their common type in machine code, and the classes that they may have in CPython.

An int that meets a float where control flow joins (`r = 1` before a loop with `r *= x`) is a float in machine code from there on.
What arithmetic makes of such a number may be of several classes as well, so they are carried along (`Number.classes`), and
a question about its class has no answer when compiling (`type_names.certain` refuses it).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

from zyg.ir.core import Value
from zyg.ir.dtypes import NUMPY_SCALARS
from zyg.ir.types import BOOL, F64, I64, Scalar

from .values import Abstract, ComplexValue, Known, Number, number_type

_RANK = {BOOL: 0, I64: 1, F64: 2}
# With which Python numbers a NumPy scalar becomes one: with those that compute to the same values as it does, where neither
# raises. A smaller type computes to other values, so it is kept apart (`unlike` in merging.py).
_MEETS: dict[Scalar, tuple[Scalar, ...]] = {F64: (BOOL, I64, F64), I64: (BOOL, I64), BOOL: (BOOL,)}


def join_numbers(vs: list[Any]) -> tuple[Scalar, bool] | None:
    """The common type of numbers that meet, and whether it is a NumPy scalar; None if there is none."""
    types = [type for v in vs if (type := number_type(v)) is not None]
    numpys = {v.type for v in vs if isinstance(v, Number) and v.numpy}
    if not numpys:
        return max(types, key=_RANK.__getitem__), False
    scalar, *others = numpys
    return (scalar, True) if not others and all(n is scalar or n in _MEETS.get(scalar, ()) for n in types) else None


_PYTHON_CLASSES: dict[Scalar, type] = {F64: float, I64: int, BOOL: bool}


def number_class(scalar: Scalar, numpy: bool) -> type:
    return _PYTHON_CLASSES.get(scalar, float) if not numpy else NUMPY_SCALARS[scalar]


def classes_of(v: Any) -> frozenset[type]:
    """The classes that a number may have in CPython."""
    if isinstance(v, Known):
        return frozenset({type(v.object)})
    if v.classes is not None:
        return v.classes
    if isinstance(v, ComplexValue):
        return frozenset({np.complex128 if v.numpy else complex})
    return frozenset({number_class(v.type, v.numpy)})


def met(vs: Iterable[Any], own: type) -> frozenset[type] | None:
    """The classes of a number that became of class `own` where these met; None if it is of that class anyway."""
    found = frozenset().union(*map(classes_of, vs))
    return found if found != {own} else None


def mixture(vs: Sequence[Any], scalar: Scalar, numpy: bool) -> frozenset[type] | None:
    """The same of numbers that became of a scalar type."""
    own = number_class(scalar, numpy)
    for v in vs:
        if type(v) is Known:
            if type(v.object) is not own:
                return met(vs, own)
        elif v.value.type is not scalar or v.numpy != numpy or v.classes is not None:
            return met(vs, own)
    return None


def joined_number(value: Value, numpy: bool, vs: Sequence[Any]) -> Number:
    """The number that is one of `vs`, of their common type."""
    assert isinstance(value.type, Scalar)
    return Number(value, numpy, mixture(vs, value.type, numpy))


_BITS = ("and", "or", "xor")
_ORDER = ("lt", "le", "eq", "ne", "gt", "ge")


def is_mixed(v: Abstract) -> bool:
    return isinstance(v, (Number, ComplexValue)) and v.classes is not None


def may_be_python(v: Abstract) -> bool:
    """Whether a number may be one of Python's."""
    return not all(issubclass(c, np.generic) for c in classes_of(v))


def as_python(v: Abstract) -> Abstract:
    """A number that is NumPy's on some paths as Python's, whose operators raise where NumPy's give infinities or wrap."""
    if isinstance(v, Number):
        return Number(v.value, False, v.classes)
    return ComplexValue(v.re, v.im, False, v.classes) if isinstance(v, ComplexValue) else v


def as_numpys(v: Abstract) -> Abstract:
    """What such operators gave, as a NumPy scalar."""
    return (
        Number(v.value, True)
        if isinstance(v, Number)
        else ComplexValue(v.re, v.im, True)
        if isinstance(v, ComplexValue)
        else v
    )


def numpys(v: Abstract) -> frozenset[type] | None:
    """The classes of what NumPy makes of a number that may be of several ones."""
    return frozenset(np.result_type(c).type for c in classes_of(v)) if is_mixed(v) else None


def of_operator(name: str, result: Abstract, *operands: Abstract) -> Abstract:
    """The result of an operator on numbers, with the classes that it may have in CPython."""
    if not isinstance(result, (Number, ComplexValue)):
        return result
    if isinstance(result, Number):
        own = number_class(result.type, result.numpy)
    else:
        own = np.complex128 if result.numpy else complex
    found = frozenset().union(*(_classes(name, own, operands[-1], cs) for cs in product(*map(classes_of, operands))))
    classes = found if found != {own} else None
    if isinstance(result, Number):
        return Number(result.value, result.numpy, classes)
    return ComplexValue(result.re, result.im, result.numpy, classes)


def of_classes(result: Abstract, classes: frozenset[type]) -> Abstract:
    """A NumPy number that may be of these classes in CPython."""
    if isinstance(result, Number):
        return Number(
            result.value, result.numpy, classes if classes != {number_class(result.type, result.numpy)} else None
        )
    if isinstance(result, ComplexValue):
        return ComplexValue(result.re, result.im, result.numpy, classes if classes != {np.complex128} else None)
    return result


def _classes(name: str, own: type, last: Abstract, operands: tuple[type, ...]) -> set[type]:
    """Those of the result of an operator on numbers of these classes; `own` is what it is in machine code."""
    if any(issubclass(c, np.generic) for c in operands):
        return {np.bool_} if name in _ORDER else {own}
    if name in _ORDER:
        return {bool}
    if complex in operands:
        return {float if name == "abs" else complex}
    if float in operands or name == "truediv":
        return {float}
    if name == "pow" and not (isinstance(last, Known) and last.object >= 0):
        return {int, float}
    if name in _BITS and set(operands) == {bool}:
        return {bool}
    return {int}
