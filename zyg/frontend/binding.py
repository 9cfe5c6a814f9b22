"""How arguments meet the parameters of a Python function; where they do not fit, TypeError with CPython's text."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING

import numpy as np

from zyg.ir.core import const

from .later import arrays, indexing
from .values import Abstract, FunctionValue, Known, TupleValue

if TYPE_CHECKING:
    from .evaluator import Evaluator


_VARARGS, _VARKEYWORDS = 0x04, 0x08


def bind(e: Evaluator, f: FunctionValue, args: list[Abstract], keywords: dict[str, Abstract]) -> list[Abstract]:
    """Arguments in the order of the code's parameters; TypeError with CPython's text where they do not fit."""
    code = f.code
    positional = code.co_argcount
    names = code.co_varnames
    total = positional + code.co_kwonlyargcount
    name = f"{code.co_qualname}()"
    slots: list[Abstract | None] = [None] * total
    slots[: min(len(args), positional)] = args[:positional]
    extra_names: dict[str, Abstract] = {}
    for key, v in keywords.items():
        if key in names[code.co_posonlyargcount : total]:
            n = names.index(key)
            if slots[n] is not None:
                e.type_error(f"{name} got multiple values for argument '{key}'")
            slots[n] = v
        elif code.co_flags & _VARKEYWORDS:
            extra_names[key] = v
        elif key in names[: code.co_posonlyargcount]:
            e.type_error(f"{name} got some positional-only arguments passed as keyword arguments: '{key}'")
        else:
            e.type_error(f"{name} got an unexpected keyword argument '{key}'")
    if len(args) > positional and not code.co_flags & _VARARGS:
        _too_many(e, f, len(args), name)
    first_default = positional - len(f.defaults)
    for n in range(max(first_default, 0), positional):
        if slots[n] is None:
            slots[n] = f.defaults[n - first_default]
    for key, v in f.kwdefaults:
        if key in names[positional:total] and slots[names.index(key)] is None:
            slots[names.index(key)] = v
    for kind, low, high in (("positional", 0, positional), ("keyword-only", positional, total)):
        missing = [f"'{names[n]}'" for n in range(low, high) if slots[n] is None]
        if missing:
            _missing(e, name, kind, missing)
    result: list[Abstract] = [s for s in slots if s is not None]
    if code.co_flags & _VARARGS:
        result.append(TupleValue(tuple(args[positional:])))
    if code.co_flags & _VARKEYWORDS:
        from .dicts import new_dict

        result.append(new_dict(e, extra_names))
    return result


def call_by_rows(e: Evaluator, callee: Abstract, array: Abstract) -> Abstract | None:
    """`f(*array)`, with as many rows as the function has parameters; None if that is not one number. Where there are more or fewer when
    the code runs, TypeError."""
    name, count = _takes_exactly(callee)
    if count is None or arrays.ndim(array) == 0:
        return None
    length = arrays.length(e, array)

    def call(n: int) -> Abstract:
        if n < count:
            return e.if_else(e.op("eq", length, const(n)), lambda: e.call(callee, rows_of(n)), lambda: call(n + 1))
        e.guard(
            e.op("eq", length, const(n)),
            "TypeError",
            f"{name} takes {count} positional arguments but {{}} were given",
            length,
        )
        return e.call(callee, rows_of(n))

    def rows_of(n: int) -> list[Abstract]:
        return [indexing.element_or_row(e, array, const(k)) for k in range(n)]

    return call(0)


def _takes_exactly(callee: Abstract) -> tuple[str, int | None]:
    """The name of a function, and how many positional arguments it takes."""
    f = callee.object if isinstance(callee, Known) else None
    if isinstance(f, np.ufunc):
        return f"compiled {f.__name__}()", f.nin  # (one more is where the result goes)
    code, defaults = (f.__code__, f.__defaults__) if isinstance(f, FunctionType) else (None, ())
    if isinstance(callee, FunctionValue):
        code, defaults = callee.code, callee.defaults
    if code is None or defaults or code.co_kwonlyargcount or code.co_flags & (_VARARGS | _VARKEYWORDS):
        return "", None
    return f"{code.co_qualname}()", code.co_argcount


def _too_many(e: Evaluator, f: FunctionValue, given: int, name: str) -> None:
    count, defaults = f.code.co_argcount, len(f.defaults)
    takes = f"from {count - defaults} to {count}" if defaults else str(count)
    plural = "" if takes == "1" else "s"
    e.type_error(
        f"{name} takes {takes} positional argument{plural} but {given} {'was' if given == 1 else 'were'} given"
    )


def _missing(e: Evaluator, name: str, kind: str, missing: list[str]) -> None:
    if len(missing) == 1:
        e.type_error(f"{name} missing 1 required {kind} argument: {missing[0]}")
    listed = f"{', '.join(missing[:-1])}{',' if len(missing) > 2 else ''} and {missing[-1]}"
    e.type_error(f"{name} missing {len(missing)} required {kind} arguments: {listed}")
