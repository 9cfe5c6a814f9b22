"""Functions whose hidden inputs, arrays that they read from global and captured variables, are arguments in front of their own.

So these have derivatives like all arguments, of any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import zyg
from zyg.assumptions import input_value
from zyg.errors import Unsupported
from zyg.frontend.boundary import disassemble
from zyg.frontend.evaluator import Evaluator, Input
from zyg.frontend.frames import Stop
from zyg.frontend.values import Abstract, Known, TupleValue, known
from zyg.ir.core import Instr

from .bodies import call_copied, infer_body
from .gradients import finish_objects, returns_nothing
from .registry import emits


class Reading:
    """`Reading(function, inputs)(*values, *args)` is `function(*args)` where the variables hold these values: in compiled code."""

    def __init__(self, function: Callable[..., Any], inputs: Sequence[Input]):
        self.function = function
        self.inputs = tuple(inputs)
        self.__name__ = self.__qualname__ = function.__name__

    def now(self) -> tuple[Any, ...] | None:
        """What the variables hold; None if one holds nothing."""
        try:
            return tuple(map(input_value, self.inputs))
        except (NameError, ValueError):
            return None

    def __call__(self, *args: Any) -> Any:
        """In Python, where there are no hidden inputs, what compiled code gives."""
        return self._native(*args)

    @cached_property
    def _native(self) -> Callable[..., Any]:
        return zyg.jit(lambda *args: self(*args))


@emits((Reading, "__call__"))
def _call(e: Evaluator, reading: Abstract, *args: Abstract) -> Abstract:
    assert isinstance(reading, Known)
    inputs = reading.object.inputs
    return _run(e, known(reading.object.function), inputs, args[: len(inputs)], list(args[len(inputs) :]), {})


def _run(
    e: Evaluator,
    function: Abstract,
    inputs: Sequence[Input],
    values: Sequence[Abstract],
    args: list[Abstract],
    keywords: dict[str, Abstract],
) -> Abstract:
    given = {}
    for source, v in zip(inputs, values):
        leaves = []
        given[source.kind, id(source.container), source.name] = disassemble(e, v, leaves), leaves
        if source.kind == "cell":  # defaults are known by the object in their cell
            e.inference.cells.setdefault(id(input_value(source)), source.container)
    body = infer_body(e, function, args, keywords, e.context.level, "", given=given)
    results = call_copied(e, body.module, body.name, body.operands)
    if returns_nothing(body):
        e.builder.append(Instr("unreachable"))
        raise Stop
    return finish_objects(e, body, results)


class Held:
    """`Held(inputs)(values, function, *args, **keywords)` is `function(*args, **keywords)` where the variables hold these values, whatever
    the function has captured: in compiled code alone."""

    def __init__(self, inputs: Sequence[Input]):
        self.reads = tuple(inputs)  # (keeping/places.py)
        self.__name__ = self.__qualname__ = "held"

    def __call__(self, values: Any, function: Any, *args: Any, **keywords: Any) -> Any:
        raise Unsupported("a function with other values of its variables", hint="pass them as arguments")


_held: dict[Any, Held] = {}  # what is kept here keeps the containers alive
LIMIT = 64


def held(inputs: Sequence[Input]) -> Held:
    """One for all calls that have these inputs, so that they are compiled once."""
    key = tuple([(source.kind, id(source.container), source.name) for source in inputs])
    found = _held.get(key)
    if found is None:
        while len(_held) >= LIMIT:
            _held.pop(next(iter(_held)), None)
        found = _held.setdefault(key, Held(inputs))
    return found


@emits((Held, "__call__"))
def _call_held(
    e: Evaluator, held: Abstract, values: Abstract, function: Abstract, *args: Abstract, **keywords: Abstract
) -> Abstract:
    assert isinstance(held, Known) and isinstance(values, TupleValue)
    return _run(e, function, held.object.reads, values.items, list(args), keywords)
