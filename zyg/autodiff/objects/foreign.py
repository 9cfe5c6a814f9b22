"""Code that zyg cannot see into: it runs, and is refused when a cotangent arrives at its result."""

from __future__ import annotations

import array
import os
import re
import sys
import sysconfig
from collections import deque
from enum import Enum
from functools import partial
from io import BytesIO, IOBase
from numbers import Real
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any, NoReturn

import numpy as np

from zyg.autodiff import objects
from zyg.errors import Unsupported
from zyg.homes import public_module
from zyg.ir.core import Position
from zyg.ir.plainly import get_plainly

from . import memory
from .cotangents import INERT, Refused, is_closed, is_number, refused_in

FOREIGN_PACKAGES = frozenset(
    {
        "numpy",
        "scipy",
        "numba",
        "llvmlite",
        "ctypes",
        "statistics",
        "torch",
        "jax",
        "pandas",
        "matplotlib",
        "concurrent",
        "multiprocessing",
        "threading",
    }
)


# The functions of `statistics` that compute with floats, as the others do with fractions.
_IN_FLOATS = "NormalDist.", "quantiles"


def is_foreign(f: Any) -> bool:
    """Whether a Python function belongs to a package whose work is done outside of Python."""
    module = f.__globals__.get("__name__")
    if module == "statistics" and f.__qualname__.startswith(_IN_FLOATS):
        return False
    return isinstance(module, str) and module.partition(".")[0] in FOREIGN_PACKAGES


# Parts of zyg that run code of the user's, which may be differentiated; all others look things up, and compile.
_RUNNING = (
    "zyg.autodiff.objects.",
    "zyg.autodiff.python.above",
    "zyg.autodiff.python.begun",
    "zyg.autodiff.python.escaping",
    "zyg.autodiff.python.handing",
    "zyg.autodiff.python.matched",
    "zyg.autodiff.python.nested",
    "zyg.autodiff.python.starred",
    "zyg.backend.pullbacks",
    "zyg.composed",
    "zyg.fallback",
    "zyg.ir.ops",  # rules
    "zyg.ir.trace",
    "zyg.library.",  # rules
    "zyg.named.",
    "zyg.params.",
    "zyg.rules.Rule.bind",  # hands on what it is given
)


def is_compiler(f: Any) -> bool:
    """Whether a Python function belongs to what zyg does before code runs."""
    module = f.__globals__.get("__name__")
    if not isinstance(module, str) or not module.startswith("zyg."):
        return False
    return not f"{module}.{f.__qualname__}".startswith(_RUNNING)


def caller() -> tuple[Any, int] | None:
    """Where in the user's source the running code was called from: a code object and an instruction."""
    frame: FrameType | None = sys._getframe(1)
    first: FrameType | None = None
    while frame is not None:
        if not frame.f_globals.get("__name__", "").startswith("zyg."):
            first = first or frame
            if not is_of_library(frame.f_code.co_filename):
                return frame.f_code, frame.f_lasti
        frame = frame.f_back
    return None if first is None else (first.f_code, first.f_lasti)


def place_in_half() -> tuple[Any, int] | None:
    """Where in the user's source the half of a derivative is that is running: halves have the positions of the user's code. Outside of
    all of them, where the running code was called from."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and "__name__" in frame.f_globals:
        frame = frame.f_back
    return caller() if frame is None else (frame.f_code, frame.f_lasti)


def module_of_caller() -> str:
    """The module of the code that called what is being handled: that of a class which C code makes there."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "zyg.").startswith(
        "zyg."
    ):  # (halves of derivatives have no name)
        frame = frame.f_back
    return "__main__" if frame is None else frame.f_globals["__name__"]


_LIBRARY = sysconfig.get_path("stdlib") + os.sep


def is_of_library(filename: str) -> bool:
    """Whether a source file is of Python's own library."""
    return filename.startswith(("<frozen ", _LIBRARY)) and "site-packages" not in filename


def position_of(place: tuple[Any, int] | None) -> Position | None:
    """A place found by `caller` as a position in a source file."""
    if place is None:
        return None
    code, offset = place
    known = _positions.get((id(code), offset))
    if known is not None and known[0] is code:
        return known[1]
    if len(_positions) >= _MANY:
        _positions.clear()
    found = Position.of_instruction(code, offset)
    _positions[id(code), offset] = code, found
    return found


_positions: dict[tuple[int, int], tuple[Any, Position | None]] = {}  # the last ones that were asked for
_MANY = 100


def refuse(what: str, place: tuple[Any, int] | None, hint: str) -> NoReturn:
    raise Unsupported(what, position_of(place), hint=hint)


_OF_UFUNCS = "numpy", "scipy.special"


def name_of(function: Any) -> str:
    """How to name a callable in a message, with its module if that is needed to find it."""
    name = get_plainly(function, "__qualname__") or get_plainly(function, "__name__")
    if not isinstance(name, str):
        return f"a {type(function).__name__}"
    module = get_plainly(function, "__module__")
    if module is None and isinstance(function, np.ufunc):  # it does not say
        module = next((m for m in _OF_UFUNCS if getattr(sys.modules.get(m), name, None) is function), None)
    owner = get_plainly(function, "__self__")
    if owner is not None and not isinstance(owner, type) and not isinstance(module, str):
        return name
    if not isinstance(module, str) or module in ("builtins", "__main__"):
        return name
    return f"{public_module(module, name, function)}.{name}"


def result(value: Any, what: str, hint: str, operands: tuple[Any, ...] = ()) -> tuple[Any, Any]:
    """(value, back) of something that has no rule. A cotangent that arrives at the value becomes a refusal, which goes on
    to the operands: it is an error where it gets to what the derivative is asked for.

    An operand that zyg cannot see into may keep what it was given, and give it back later: so the refusal goes on to what it was
    given before, too."""
    forms = [objects.structure.form(x) for x in operands]
    inside = [x for x in operands if is_opaque(x)] + objects.dates.held_in(operands)
    numbers = any(map(objects.structure.holds_numbers, forms))
    kept = bool(inside) and (numbers or len(inside) > 1)
    if not kept and (value is None or type(value) in INERT or not (numbers or inside)):
        return value, None
    objects.dates.hold(value)
    return value, (_run_result, value, what, hint, caller(), forms, inside)


def _run_result(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, value, what, hint, place, forms, inside = back
    refused = refused_in(d)
    if refused is None and (any_in(d) if isinstance(d, tuple) else d is not None) or has_shadow(value, shadows):
        refused = refused or Refused(Unsupported(what, position_of(place), hint=hint))
    if refused is None:
        refused = next((found for x in inside if (found := shadows.mark_of(x)) is not None), None)
    if refused is None:
        return None
    for x in inside:
        shadows.mark(x, refused)
    return [objects.scattering.refuse(form, refused, shadows) for form in forms]


def holding(arrays: list[np.ndarray], back: Any, what: str) -> Any:
    """The back where something that foreign code gave may write to arrays: if that is so, what comes to them is refused."""
    return (_run_holding, [(x, memory.watch(x, lent=True)) for x in arrays], back, what, caller())


def _run_holding(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, held, inner, what, place = back
    for x, written in held:
        if written and has_shadow(x, shadows):
            hint = "write to the array itself, by its items, and to a copy of it what others may write to"
            error = Unsupported(
                f"a derivative through an array that was written after {what} got it", position_of(place), hint=hint
            )
            shadows.add_array(x, Refused(error))
    return None if inner is None else inner[0](inner, d, shadows)


_TRANSPARENT = (
    *(ModuleType, type, FunctionType, BuiltinFunctionType, MethodType, CodeType, CellType, tuple, list, dict, set, frozenset),
    *(deque, array.array, partial, property, BaseException, np.generic, np.dtype, re.Pattern, re.Match, Enum, Real),
    *(IOBase, bytearray, memoryview),
)  # fmt: skip


def is_opaque(x: Any) -> bool:
    """Whether `x` is an object that may keep what it is given, where zyg does not see it.

    >>> import queue
    >>> is_opaque(queue.SimpleQueue()), is_opaque([1.0]), is_opaque(2.0), is_opaque(np.array([1.0, None]))
    (True, False, False, True)
    """
    t = type(x)
    if t in INERT or is_number(x):
        return False
    known = _opaque.get(t)
    if known is not None:
        return known
    if isinstance(x, np.ndarray):
        from . import numpy_

        return numpy_.of_objects(x)
    if isinstance(x, np.void):
        return True  # a row of an array of records
    if isinstance(x, np.ufunc):
        return x.__name__.endswith("(vectorized)")  # made of a Python function
    opaque = isinstance(x, BytesIO) or not isinstance(x, _TRANSPARENT)
    if is_closed(t):
        _opaque[t] = opaque
    return opaque


_opaque: dict[type, bool] = {}  # by classes that never change


def hidden(value: Any, what: str, hint: str) -> tuple[Any, Any]:
    """The same where it is not known what the value was computed from: an error as soon as a cotangent arrives."""
    if value is None or type(value) in INERT:
        return value, None
    return value, (_run_hidden, value, what, hint, caller())


def _run_hidden(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, value, what, hint, place = back
    if (any_in(d) if isinstance(d, tuple) else d is not None) or has_shadow(value, shadows):
        refuse(what, place, hint)


def any_in(d: Any) -> bool:
    """Whether there is a cotangent in it."""
    if not isinstance(d, tuple):
        return d is not None
    return bool(d) and (type(d[0]) is float or any(map(any_in, d)))


def vanishes(shadow: np.ndarray) -> bool:
    """Whether a shadow says that no cotangent has come. One that is 0 may have a derivative: nested.py says so where that counts."""
    return not np.any(shadow)


def has_shadow(value: Any, shadows: Any) -> bool:
    """Whether a cotangent has come to a mutable object."""
    if isinstance(value, np.ndarray) and value.dtype.kind not in "OVmM":
        if value.dtype.kind not in "fciu" or not shadows.has_array(value):
            return False
        return shadows.refusal_of(value) is not None or not vanishes(shadows.of_array(value))
    if shadows.marks and (shadows.mark_of(value) or shadows.mark_of(value, keys=True)):
        return True
    if isinstance(value, tuple):
        return any(has_shadow(v, shadows) for v in value)
    items = shadows.items.get(id(value))
    if items and any(any_in(v) for v in (items.values() if isinstance(items, dict) else items)):
        return True
    attributes = shadows.attributes_of(value)
    return bool(attributes) and any(map(any_in, attributes.values()))
