"""Generator expressions that are passed on: the function that one is compiled to is made, called once, and gone.

So nothing is to be remembered of the function but its code, which is known when the code around it is compiled.
"""

from __future__ import annotations

from inspect import CO_GENERATOR
from types import CodeType, FunctionType
from typing import Any

from zyg.ir.core import Instr

from ..objects import calls, generators, reversals
from ..objects.passing import passes
from ..trying import bodies
from .sites import Site, fill

_NAME = "<genexpr>"  # CPython's; no other function can have it


def is_of_expression(made: Instr) -> bool:
    """Whether an operation makes the function of a generator expression."""
    if made.op != "make_function":
        return False
    code = made.attrs["code"]
    return code.co_name == _NAME and code.co_flags & CO_GENERATOR and not {*made.attrs["has"]} - {"closure"}


# Where a place has the forward halves, plain and watched.
_PLAIN, _WATCHED = 1, 3


@passes()
def begin(f: FunctionType, iterator: Any, site: Site) -> tuple[Any, Any]:
    """(generator, back) of the call of such a function."""
    half = site[_WATCHED if bodies else _PLAIN] or _half_of(f, site)
    if half is None:
        return calls.forward_of(f)(iterator)
    generator = generators.Generator(FunctionType(half, f.__globals__, _NAME, None, f.__closure__)(iterator))
    return generator, (reversals.run_generator, generator.record)  # (it does nothing when it is closed)


def _half_of(f: FunctionType, site: Site) -> CodeType | None:
    """The code of the forward half, if functions of this code are differentiated as Python code."""
    entry = calls.known_function(f.__code__)
    if entry is None or not entry.generator:
        return None
    fill(site)
    half = site[_WATCHED if bodies else _PLAIN] = entry.forward(f)
    return half


__all__ = ["begin", "is_of_expression"]
