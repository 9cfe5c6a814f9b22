"""How many bytes of tape a gradient needs, counted while it runs.

The optimised gradient is instrumented: each push adds the size of its record to a counter, each pop takes it off, and
the highest value is what is returned.  Chunk headers and unused room in chunks are not counted, nor are arrays that
records refer to.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from .. import pipeline
from ..api import gradient, value_and_grad
from ..dispatch import compile_lock, native_guards, native_input
from ..ir.builder import Builder
from ..ir.core import Block, Function, Instr, Module, Value, const
from ..ir.records import replace
from ..ir.types import I64, Array, Tuple, Type

_COUNTER = Array(I64, 1, "C")
_NOW, _PEAK = const(0), const(1)


def tape_bytes(function: Callable[..., Any], /, *args: Any, argnums: int | tuple[int, ...] | None = None) -> int:
    """Run the gradient of `function` at (copies of) `args`; the most bytes that were on its tape at any time.

    argnums: the gradient is by these arguments only, as for `zyg.grad`; by all of them otherwise.

    >>> def power(x, n):
    ...     r = 1.0
    ...     for _ in range(n):
    ...         r *= x
    ...     return r
    >>> tape_bytes(power, 1.0, 1000)
    8000
    """
    from ..backend.calling import make_entry, new_callable, set_entries
    from .stages import request

    with compile_lock:
        if argnums is None:
            callee, given = gradient, (function, *args)
        else:
            callee, given = value_and_grad(function, argnums), args
        wanted = request(callee, given)
        inferred = pipeline.compile(wanted, "optimised")
        count_pushes(inferred.module, inferred.entry)
        counted = replace(inferred, result=Tuple((inferred.result, I64)))
        for name, stage in pipeline.STAGES[_after("optimised") :]:
            with pipeline.timed("tape_bytes", name):
                counted = stage(wanted, counted)
        entry = make_entry(
            counted.native,
            guards=native_guards(inferred.guards),
            inputs=[native_input(source) for source in inferred.inputs],
        )
    run = new_callable(_refused, "tape_bytes")
    set_entries(run, [entry])
    _, peak = run(*given[: len(given) - len(args)], *copy.deepcopy(args))
    return peak


def _after(stage: str) -> int:
    return 1 + [name for name, _ in pipeline.STAGES].index(stage)


def _refused(*args: Any) -> Any:
    raise TypeError("the arguments do not fit what they were typed as")


def count_pushes(module: Module, entry: str) -> None:
    """Instrument a module: `entry` has one more result, the highest number of bytes on stacks and tapes."""
    for function in module.functions.values():
        counter = _start(function, function.name == entry)
        for block in function.blocks:
            _instrument(module, function, block, counter, function.name == entry)
    main = module.functions[entry]
    main.results = (*main.results, I64)


def _start(function: Function, main: bool) -> Value:
    """The counter: made in the entry function, passed to the others as their last parameter."""
    counter = Value(_COUNTER, "tape_counter")
    if main:
        function.entry.instrs.insert(0, Instr("alloc", [const(2)], [counter], {"fill": "zeros"}))
    else:
        function.params.append(counter)
    return counter


def _instrument(module: Module, function: Function, block: Block, counter: Value, main: bool) -> None:
    instrs, block.instrs = block.instrs, []
    builder = Builder(function, block)
    for instr in instrs:
        builder.position = instr.position
        if instr.op == "push":
            _count(builder, counter, record_size([v.type for v in instr.operands[1:]]))
        elif instr.op == "pop":
            _count(builder, counter, -record_size([v.type for v in instr.results]))
        elif instr.op == "call" and instr.attrs["callee"] in module.functions:
            instr.operands.append(counter)
        elif instr.op == "return" and main:
            instr.operands.append(builder.op("load", counter, _PEAK))
        block.instrs.append(instr)


def _count(builder: Builder, counter: Value, size: int) -> None:
    now = builder.op("add", builder.op("load", counter, _NOW), const(size))
    builder.emit("store", counter, now, _NOW)
    if size > 0:
        peak = builder.op("load", counter, _PEAK)
        builder.emit("store", counter, builder.op("select", builder.op("gt", now, peak), now, peak), _PEAK)


def record_size(types: list[Type]) -> int:
    """The bytes of a record of these values."""
    from ..backend.llvm.text import Record

    return Record(types).size


__all__ = ["count_pushes", "record_size", "tape_bytes"]
