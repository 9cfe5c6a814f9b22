"""Constants of classes that compiled code does not know: a Fraction, a deque, an array of int8, a member of an IntEnum.

What an operation on such an object gives is for its class to say, and may change from call to call, so compiled code refuses
to answer for it.  Only those that are ints or floats, and do as these do, are taken as the numbers that they are.
"""

from __future__ import annotations

import types as python_types
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from zyg.remedies import remedy_for

from .values import NUMBER_CLASSES, Abstract, Known, describe, options_of

if TYPE_CHECKING:
    from .evaluator import Evaluator

# Classes whose operations compiled code knows, or that have none but to be what they are.
FAMILIAR = (
    *NUMBER_CLASSES, complex, str, bytes, tuple, frozenset, slice, range, type(None), type(...), type(NotImplemented), type, object,
    np.dtype, np.ufunc, type(np._NoValue),
    python_types.ModuleType, python_types.FunctionType, python_types.BuiltinFunctionType, python_types.MethodType,
    python_types.MethodWrapperType, python_types.WrapperDescriptorType, python_types.MethodDescriptorType,
    python_types.ClassMethodDescriptorType, python_types.GenericAlias, python_types.UnionType,
)  # fmt: skip
_OF_NUMBERS = (
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow neg pos abs int float bool eq ne lt le gt ge"
).split()
_OF_INTS = "lshift rlshift rshift rrshift and rand or ror xor rxor invert index".split()


def natural(v: Abstract) -> Abstract:
    """A constant that is an int or a float of a class of its own, as the number that it is, if it does as numbers do."""
    if type(v) is Known and isinstance(v.object, (int, float)) and type(v.object) not in NUMBER_CLASSES:
        base = _natural_class(type(v.object))
        if base is not None:
            return Known(base(v.object))
    return v


@lru_cache(1000)
def _natural_class(cls: type) -> type | None:
    base, methods = (int, [*_OF_NUMBERS, *_OF_INTS]) if issubclass(cls, int) else (float, _OF_NUMBERS)
    own = (name for name in methods if getattr(cls, f"__{name}__") is not getattr(base, f"__{name}__"))
    return None if any(own) else base


def is_opaque(v: Abstract) -> bool:
    """Whether this is a constant whose operations compiled code does not know."""
    if type(v) is not Known or type(v.object) in FAMILIAR:
        return False
    inherited = (str, bytes, tuple, type, np.dtype)  # what classes add to these does not matter here
    return not isinstance(v.object, inherited) and not callable(v.object)


def refuse_opaque(e: Evaluator, what: str, *values: Abstract, methods: tuple[str, ...] = ()) -> None:
    """Refuse an operation if one of the operands is opaque and, where `methods` are named, has one of them of its own."""
    options = (o for v in values for o in options_of(v))
    for v in options:
        if is_opaque(v) and isinstance(v, Known) and (not methods or _has_own(type(v.object), methods)):
            raise e.refuse(
                f"{what} an object of type '{type(v.object).__name__}' that native code does not know",
                types=[describe(v, e.heap)],
                hint=remedy_for(v.object) or "pass numbers, arrays, tuples or instances of plain classes",
            )


@lru_cache(1000)
def _has_own(cls: type, methods: tuple[str, ...]) -> bool:
    """Whether a class, or one that it is made of and that is not familiar, defines one of the methods."""
    return any(name in vars(base) for base in cls.__mro__ if base not in FAMILIAR for name in methods)
