"""What functions of the library give one by one, as generators in Python: these become part of the loops that go through them.

They have no names but their own variables, as their code comes to stand in functions of other modules.
"""

from __future__ import annotations

import builtins
import itertools
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from zyg.ir.core import Block, Const, Instr, Value


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


def _first(iterable: Any, stop: int) -> Iterator[Any]:
    if stop == 0:
        return
    number = 0
    for x in iterable:
        yield x
        number = number + 1
        if number == stop:
            return


def _between(iterable: Any, start: int, stop: int) -> Iterator[Any]:
    last = stop if stop > start else start
    if last == 0:
        return
    number = 0
    for x in iterable:
        if number >= start:
            yield x
        number = number + 1
        if number == last:
            return


def _from(iterable: Any, start: int, stop: None) -> Iterator[Any]:
    number = 0
    for x in iterable:
        if number < start:
            number = number + 1
            continue
        yield x


# `zip` of generators goes on with the last one; the others take a step before each step of it. (That these begin before the last one does is seen
# by nobody: a generator does nothing until its first step. See inlining._is_of_generators.)
def _together(first: Any, second: Any) -> Iterator[Any]:
    firsts = iter(first)
    for x in firsts:  # noqa: B007
        break
    else:
        return
    for y in second:
        yield x, y
        for x in firsts:  # noqa: B007
            break
        else:
            return


def _three_together(first: Any, second: Any, third: Any) -> Iterator[Any]:
    firsts, seconds = iter(first), iter(second)
    for x in firsts:  # noqa: B007
        break
    else:
        return
    for y in seconds:  # noqa: B007
        break
    else:
        return
    for z in third:
        yield x, y, z
        for x in firsts:  # noqa: B007
            break
        else:
            return
        for y in seconds:  # noqa: B007
            break
        else:
            return


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
    (itertools.islice, 2): (None, _first),
    (itertools.islice, 3): (None, _between),
    (zip, 2): (None, _together),
    (zip, 3): (None, _three_together),
}
# Loops over these have ways of their own, unless they go through generators.
ONLY_OF_GENERATORS = frozenset({enumerate, itertools.islice, zip})
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
) -> tuple[Any, CodeType, tuple[Value, ...]] | None:
    """The function of the library that a call is of, the code of the generator, and the arguments that have to be natural numbers; None
    for others."""
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
    numbers: tuple[Value, ...] = ()
    if called is itertools.islice:
        *_, stop = arguments
        if len(arguments) == 3 and isinstance(stop, Const) and stop.value is None:
            generator, arguments = _from, arguments[:2]
        limits = arguments[1:]
        if any(isinstance(v, Const) and not (type(v.value) is int and 0 <= v.value <= sys.maxsize) for v in limits):
            return None
        numbers = tuple(v for v in limits if not isinstance(v, Const))
    return called, generator.__code__, numbers


__all__ = ["ONLY_OF_GENERATORS", "generator_of", "named"]
