"""How many bytes of tape a gradient needs, and which lines ask for them, counted while it runs.

The optimised gradient is instrumented: each push adds the size of its record to a counter, each pop takes it off, and
the highest value is what is on the tape at most.  Each pop also counts for itself: the instructions that use what it popped
are those that asked for it to be saved, and they have lines of the user's source.  Chunk headers and unused room in chunks
are not counted.  Arrays that records refer to are, in counters of their own, where they were made for the tape: what a loop allocates
and pushes to a stack of its own function, and pops there.
"""

from __future__ import annotations

import copy
import functools
import linecache
import os
from collections.abc import Callable, Iterator
from typing import Any

from .. import pipeline
from ..api import gradient, value_and_grad
from ..assumptions import native_guards, native_input
from ..dispatch import compile_lock
from ..ir.analysis import Loops
from ..ir.builder import Builder
from ..ir.core import Block, Function, Instr, Module, Position, Value, array_type, const
from ..ir.records import record, replace
from ..ir.types import I64, Array, Tuple, Type

_COUNTER = Array(I64, 1, "C")
# The counter array: the bytes on all tapes now, the most there were, the same of arrays, and from _SITES on for each pop how often it
# ran, and for each array that it gives how many bytes these had.
_NOW, _ARRAYS, _SITES = 0, 2, 4


@record(frozen=True)
class Saved:
    """What one line of source asked for: values of a type, so many of them."""

    file: str
    line: int
    type: Type
    count: int
    bytes: int

    @property
    def source(self) -> str:
        return linecache.getline(self.file, self.line).strip()

    @property
    def place(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}" if self.line else "?"


@record(frozen=True)
class Tape:
    """`peak`: the most bytes at any time, `arrays`: the most bytes of arrays that these referred to. `saved`: by line, what was written over the whole run (which is more than `peak`
    where a tape is used again, as by derivatives that are taken in a loop)."""

    peak: int
    arrays: int
    saved: tuple[Saved, ...]


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
    return tape(function, *args, argnums=argnums).peak


def tape(function: Callable[..., Any], /, *args: Any, argnums: int | tuple[int, ...] | None = None) -> Tape:
    """Run the gradient of `function` at (copies of) `args`; what was on its tape, and which lines asked for it."""
    from .stages import staged

    if argnums is None:
        callee, given = gradient, (function, *args)
    else:
        callee, given = value_and_grad(function, argnums), args
    wanted, inferred = staged(lambda wanted: (wanted, pipeline.compile(wanted, "optimised")), callee, given)
    return counted(wanted, inferred, (*given[: len(given) - len(args)], *copy.deepcopy(args)))


def counted(wanted: pipeline.Request, inferred: Any, given: tuple[Any, ...]) -> Tape:
    """What is on the tape of an optimised gradient, which is run with its tape counted; that changes the module."""
    from ..backend.calling import make_entry, new_callable, set_entries

    with compile_lock:
        sites = count_pushes(inferred.module, inferred.entry)
        instrumented = replace(inferred, result=Tuple((inferred.result, _COUNTER)))
        for name, stage in pipeline.STAGES[_after("optimised") :]:
            with pipeline.timed("tape", name):
                instrumented = stage(wanted, instrumented)
        entry = make_entry(
            instrumented.native,
            guards=native_guards(inferred.guards),
            inputs=[native_input(source) for source in inferred.inputs],
        )
    run = new_callable(_refused, "tape")
    set_entries(run, [entry])
    _, counter = run(*given)
    return Tape(int(counter[_NOW + 1]), int(counter[_ARRAYS + 1]), _by_line(sites, counter.tolist()))


def _after(stage: str) -> int:
    return 1 + [name for name, _ in pipeline.STAGES].index(stage)


def _refused(*args: Any) -> Any:
    raise TypeError("the arguments do not fit what they were typed as")


def record_size(types: list[Type]) -> int:
    """The bytes of a record of these values."""
    from ..backend.llvm.text import Record

    return Record(types).size


# --------------------------------------------------------------------------------------- instrumentation


@record(eq=False)
class _Site:
    """A pop: the types of what it gives, and for each of these the line that asked for it."""

    types: list[Type]
    askers: list[Position | None]
    arrays: list[int]  # which of them are arrays that were made for the tape
    at: int  # its first counter


def count_pushes(module: Module, entry: str) -> list[_Site]:
    """Instrument a module: `entry` has one more result, the array of counters. Returns the sites that are counted there."""
    uses = {id(function): _users(function) for function in module.functions.values()}
    sites: list[_Site] = []
    for function in module.functions.values():
        counter = Value(_COUNTER, "tape_counter")
        asker = functools.partial(_asker, users=uses[id(function)])
        arrays = _arrays_on_stacks(function)
        for block in function.blocks:
            _instrument(module, function, block, counter, function.name == entry, sites, asker, arrays)
        if function.name != entry:
            function.params.append(counter)
        else:
            alloc = Instr("alloc", [const(0)], [counter], {"fill": "zeros"})
            function.entry.instrs.insert(0, alloc)
    alloc.operands[0] = const(_counters(sites))
    main = module.functions[entry]
    main.results = (*main.results, _COUNTER)
    return sites


def _counters(sites: list[_Site]) -> int:
    """How many there are."""
    return sites[-1].at + 1 + len(sites[-1].arrays) if sites else _SITES


def _instrument(
    module: Module,
    function: Function,
    block: Block,
    counter: Value,
    main: bool,
    sites: list[_Site],
    asker: Callable[[Value], Position | None],
    arrays: dict[Value, list[int]],
) -> None:
    instrs, block.instrs = block.instrs, []
    builder = Builder(function, block)
    for instr in instrs:
        builder.position = instr.position
        if instr.op == "push":
            values = instr.operands[1:]
            _add(builder, counter, _NOW, const(record_size([v.type for v in values])), with_most=True)
            for n in arrays.get(instr.operands[0], ()):
                _add(builder, counter, _ARRAYS, _bytes_of(builder, values[n]), with_most=True)
        elif instr.op == "pop":
            types = [v.type for v in instr.results]
            mine = arrays.get(instr.operands[0], [])
            at = _counters(sites)
            sites.append(_Site(types, [asker(v) for v in instr.results], mine, at))
            _add(builder, counter, _NOW, const(-record_size(types)))
            _add(builder, counter, at, const(1))
            block.instrs.append(instr)
            for k, n in enumerate(mine, 1):
                size = _bytes_of(builder, instr.results[n])
                _add(builder, counter, _ARRAYS, builder.op("neg", size))
                _add(builder, counter, at + k, size)
            continue
        elif (instr.op == "call" and instr.attrs["callee"] in module.functions) or (instr.op == "return" and main):
            instr.operands.append(counter)
        block.instrs.append(instr)


def _add(builder: Builder, counter: Value, index: int, amount: Value, with_most: bool = False) -> None:
    """Add to a counter; `with_most`: the one behind it is the most that it was."""
    now = builder.op("add", builder.op("load", counter, const(index)), amount)
    builder.emit("store", counter, now, const(index))
    if with_most:
        most = builder.op("load", counter, const(index + 1))
        builder.emit("store", counter, builder.op("select", builder.op("gt", now, most), now, most), const(index + 1))


def _bytes_of(builder: Builder, array: Value) -> Value:
    type = array_type(array)
    size: Value = const(record_size([type.dtype]))
    for axis in range(type.ndim):
        size = builder.op("mul", size, builder.op("dim", array, axis=axis))
    return size


def _arrays_on_stacks(function: Function) -> dict[Value, list[int]]:
    """For the stacks that are made here, which of the values that are pushed there are always arrays that were made in the same round
    of a loop."""
    loops = Loops(function)
    made = {r: (block, instr) for block in function.blocks for instr in block.instrs for r in instr.results}
    stacks = {v for v, (_, instr) in made.items() if instr.op == "stack"}
    found: dict[Value, list[int]] = {}
    for at, instr in function.instructions():
        if instr.op == "push" and instr.operands[0] in stacks:
            makers = [made.get(v, (None, None)) for v in instr.operands[1:]]
            fresh = [
                n for n, (block, maker) in enumerate(makers)
                if block and maker and maker.op == "alloc" and loops.of.get(block) is loops.of.get(at)
            ]  # fmt: skip
            before = found.setdefault(instr.operands[0], fresh)
            found[instr.operands[0]] = [n for n in before if n in fresh]
        else:
            for v in (*instr.operands[instr.op in _OF_STACKS :], *(v for t in instr.targets for v in t.args)):
                stacks.discard(v)  # it goes elsewhere
    return {stack: arrays for stack, arrays in found.items() if stack in stacks and arrays}


_OF_STACKS = ("push", "pop", "reserve", "rewind", "drop")


# ------------------------------------------------------------------------------------------- who asked for it


def _users(function: Function) -> dict[int, list[tuple[Instr, Value | None]]]:
    """By the identity of a value, the instructions that use it; for an argument of a jump, with the parameter it becomes."""
    users: dict[int, list[tuple[Instr, Value | None]]] = {}
    for block in function.blocks:
        for instr in block.instrs:
            for operand in instr.operands:
                users.setdefault(id(operand), []).append((instr, None))
            for target in instr.targets:
                for argument, parameter in zip(target.args, target.block.params):
                    users.setdefault(id(argument), []).append((instr, parameter))
    return users


def _asker(value: Value, users: dict[int, list[tuple[Instr, Value | None]]]) -> Position | None:
    """The place of the first instruction that uses a value, or something made of it, be it in another block."""
    seen: set[int] = set()
    queue = [value]
    for v in queue:
        for instr, parameter in users.get(id(v), ()):
            if parameter is None and instr.position is not None:
                return instr.position
            for following in instr.results if parameter is None else [parameter]:
                if id(following) not in seen:
                    seen.add(id(following))
                    queue.append(following)
    return None


def _by_line(sites: list[_Site], counts: list[int]) -> tuple[Saved, ...]:
    found: dict[tuple[str, int, Type], list[int]] = {}
    for site in sites:
        count = counts[site.at]
        arrays = {n: counts[site.at + k] for k, n in enumerate(site.arrays, 1)}
        for n, (type, position, size) in enumerate(_shares(site)):
            key = (position.file, position.line, type) if position is not None else ("", 0, type)
            entry = found.setdefault(key, [0, 0])
            entry[0] += count
            entry[1] += count * size + arrays.get(n, 0)
    rows = [Saved(file, line, type, count, size) for (file, line, type), (count, size) in found.items() if count]
    return tuple(sorted(rows, key=lambda row: -row.bytes))


def _shares(site: _Site) -> Iterator[tuple[Type, Position | None, int]]:
    """The bytes of a record by what is in it; the padding goes with the first."""
    sizes = [record_size([type]) for type in site.types]
    if sizes:
        sizes[0] += record_size(site.types) - sum(sizes)
    yield from zip(site.types, site.askers, sizes)


__all__ = ["Saved", "Tape", "count_pushes", "counted", "record_size", "tape", "tape_bytes"]
