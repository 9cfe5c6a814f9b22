"""Numbers that are of one type in machine code and of several classes in CPython: an int that met a float where control flow
joins (`r = 1` before a loop with `r *= x`), is a float from there on.

What arithmetic makes of such a number may be of several classes as well, so they are carried along (`Number.classes`), and
a question about its class has no answer when compiling (`type_names.certain` refuses it).
"""

from __future__ import annotations

from itertools import product

import numpy as np

from .values import Abstract, ComplexValue, Known, Number, classes_of, number_class

_BITS = ("and", "or", "xor")


def is_mixed(v: Abstract) -> bool:
    return isinstance(v, (Number, ComplexValue)) and v.classes is not None


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


def _classes(name: str, own: type, last: Abstract, operands: tuple[type, ...]) -> set[type]:
    """Those of the result of an operator on numbers of these classes; `own` is what it is in machine code."""
    if any(issubclass(c, np.generic) for c in operands):
        return {own}
    if complex in operands:
        return {float if name == "abs" else complex}
    if float in operands or name == "truediv":
        return {float}
    if name == "pow" and not (isinstance(last, Known) and last.object >= 0):
        return {int, float}
    if name in _BITS and set(operands) == {bool}:
        return {bool}
    return {int}
