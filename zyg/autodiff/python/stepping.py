"""What functions of the library give one by one, as generators in Python: these become part of the loops that go through them.

They have no names but their own variables, as their code comes to stand in functions of other modules.
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from zyg.ir.core import Block, Instr, Value


def _totals(iterable: Any) -> Iterator[Any]:
    first, total = True, None
    for x in iterable:
        total = x if first else total + x
        first = False
        yield total


def _totals_by(iterable: Any, function: Any) -> Iterator[Any]:
    first, total = True, None
    for x in iterable:
        total = x if first else function(total, x)
        first = False
        yield total


def _spread(function: Any, iterable: Any) -> Iterator[Any]:
    for arguments in iterable:
        yield function(*arguments)


def _mapped(function: Any, iterable: Any) -> Iterator[Any]:
    for x in iterable:
        yield function(x)


def _accepted(function: Any, iterable: Any) -> Iterator[Any]:
    for x in iterable:
        if function(x):
            yield x


def _rejected(function: Any, iterable: Any) -> Iterator[Any]:
    for x in iterable:
        if not function(x):
            yield x


def _accepted_first(function: Any, iterable: Any) -> Iterator[Any]:
    for x in iterable:
        if not function(x):
            return
        yield x


def _from_rejected(function: Any, iterable: Any) -> Iterator[Any]:
    dropped = True
    for x in iterable:
        if dropped and function(x):
            continue
        dropped = False
        yield x


def _numbered(iterable: Any) -> Iterator[Any]:
    number = 0
    for x in iterable:
        yield number, x
        number = number + 1


# By what is called, with how many arguments: which of them is a function, and the generator.
_GENERATORS: dict[tuple[Any, int], tuple[int | None, Any]] = {
    (itertools.accumulate, 1): (None, _totals),
    (itertools.accumulate, 2): (1, _totals_by),
    (itertools.starmap, 2): (0, _spread),
    (itertools.filterfalse, 2): (0, _rejected),
    (itertools.takewhile, 2): (0, _accepted_first),
    (itertools.dropwhile, 2): (0, _from_rejected),
    (map, 2): (0, _mapped),
    (filter, 2): (0, _accepted),
    (enumerate, 1): (None, _numbered),
}
# Loops over these have ways of their own, unless it is the items of a generator that they number.
ONLY_OF_GENERATORS = frozenset({enumerate})
_FUNCTIONS = (FunctionType, BuiltinFunctionType, type)


def named(makers: dict[Value, tuple[Block, Instr]], v: Value, namespace: dict[str, Any]) -> Any:
    """What a name, or the name of something in a module, stands for; None for other values."""
    instr = makers[v][1] if v in makers else None
    if instr is None:
        return None
    if instr.op == "global":
        name = instr.attrs["name"]
        return namespace.get(name, vars(builtins).get(name))
    if instr.op == "getattr":
        module = named(makers, instr.operands[0], namespace)
        return getattr(module, instr.attrs["name"], None) if type(module) is ModuleType else None
    return None


def generator_of(
    makers: dict[Value, tuple[Block, Instr]], call: Instr, namespace: dict[str, Any]
) -> tuple[Any, CodeType] | None:
    """The function of the library that a call is of, and the code of the generator; None for others."""
    callee, *arguments = call.operands
    called = named(makers, callee, namespace)
    if type(called) is not type:
        return None
    where, generator = _GENERATORS.get((called, len(arguments)), (None, None))
    if generator is None:
        return None
    if where is not None:
        # (`filter(None, xs)` and `accumulate(xs, None)` call nothing.)
        maker = makers[arguments[where]][1] if arguments[where] in makers else None
        if (
            maker is None
            or maker.op != "make_function"
            and type(named(makers, arguments[where], namespace)) not in _FUNCTIONS
        ):
            return None
    return called, generator.__code__


__all__ = ["ONLY_OF_GENERATORS", "generator_of", "named"]
