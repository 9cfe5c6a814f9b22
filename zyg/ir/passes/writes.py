"""Say of calls that they do nothing but write to arrays.

Input: a module, best where loops have one latch each.  Output: a call of a function that ends, and whose only effect is what it
writes to arrays, has attrs['writes']: the operands that these arrays are.  Where nobody reads them any more, dce takes the call
away: the cotangent of a factor that nobody asked for, say.  What such a function may still fail with (no memory, an overflow of
complex or integer arithmetic) dies with its value, as it does outside of functions.

Invariant: what a call gives may be (a view of) what it is given, so writing to what a call gave is an effect.
"""

from __future__ import annotations

from ..analysis import Loops
from ..core import JUMPS, Function, Instr, Module, Value
from ..foreign import arrays_written
from ..ops import VIEWS, having
from ..readymade import code_of
from ..types import Array
from .idle import ends
from .inline import bottom_up

_SILENT = having("pure", "read", "value_check") | JUMPS | {"alloc"}
_WRITES = frozenset({"store", "accum", "fill", "copyto", "addto"})


def run(module: Module) -> list[Function]:
    """Gives the functions in which something may be taken away now: those that make arrays."""
    functions = module.functions.values()
    called = {i.attrs["callee"] for f in functions for b in f.blocks for i in b.instrs if i.op == "call"}
    order, recursive = bottom_up(module)
    known: dict[str, tuple[int, ...]] = {}
    changed: list[Function] = []
    for name in order:
        function = module.functions[name]
        # (Where it only has what it was given, or views of that, calls that write to it stay.)
        makes = any(
            i.op not in VIEWS and any(isinstance(r.type, Array) for r in i.results) for _, i in function.instructions()
        )
        for block in function.blocks:
            for instr in block.instrs:
                if instr.op != "call" or "writes" in instr.attrs:
                    continue
                written = known.get(instr.attrs["callee"])
                if written is not None:
                    instr.attrs = {**instr.attrs, "writes": written}
                    if makes and changed[-1:] != [function]:
                        changed.append(function)
        if name in called and name not in recursive:
            written = written_alone(function)
            if written is not None:
                known[name] = written
                if "offers" in function.attrs:
                    function.attrs["written"] = written  # which later processes are told that find its code
    return changed


def written_alone(function: Function) -> tuple[int, ...] | None:
    """Which parameters a function writes to, if it does nothing else."""
    if any(block.handler is not None for block in function.blocks):
        return None
    code = code_of(function)
    if code is not None:
        return code.written
    roots: dict[Value, Value] = {p: p for p in function.params}
    targets: list[Value] = []
    for _, instr in function.instructions():
        if instr.op in VIEWS:
            if instr.operands[0] in roots:
                roots[instr.result] = roots[instr.operands[0]]
        elif instr.op == "alloc":
            roots[instr.result] = instr.result
        else:
            found = _targets(instr)
            if found is None:
                return None
            targets += found
    written = {roots.get(v) for v in targets}
    loops = Loops(function)
    if None in written or not loops.complete or not all(map(ends, loops.all)):
        return None
    return tuple(n for n, p in enumerate(function.params) if p in written)


def _targets(instr: Instr) -> list[Value] | None:
    """The arrays that an instruction writes to, if it does nothing else."""
    if instr.op in _WRITES:
        return instr.operands[:1]
    if instr.attrs.get("effects"):
        return None
    if instr.op in ("apply", "foreign") or "writes" in instr.attrs:
        return arrays_written(instr)
    return [] if instr.op in _SILENT else None
