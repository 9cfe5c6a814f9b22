"""Functions whose hidden inputs, arrays that they read from global and captured variables, are arguments in front of their own.

So these have derivatives like all arguments, of any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import zyg
from zyg.assumptions import input_value
from zyg.frontend.boundary import disassemble
from zyg.frontend.evaluator import Evaluator, Input
from zyg.frontend.frames import Stop
from zyg.frontend.values import Abstract, Known, known
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
    given = {}
    for source, v in zip(inputs, args):
        leaves = []
        given[source.kind, id(source.container), source.name] = disassemble(e, v, leaves), leaves
    rest = list(args[len(inputs) :])
    body = infer_body(e, known(reading.object.function), rest, {}, e.context.level, "", given=given)
    results = call_copied(e, body.module, body.name, body.operands)
    if returns_nothing(body):
        e.builder.append(Instr("unreachable"))
        raise Stop
    return finish_objects(e, body, results)
