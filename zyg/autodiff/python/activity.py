"""What is known of the values of object SSA before it runs: which carry no derivative, and which are numbers.

Both are optimistic fixpoints over the values: a loop counter that starts at 0 and gains 1 stays an inert number through its
block parameter.  Whatever is not known is taken to be anything, and the run-time tables decide.
"""

from __future__ import annotations

from zyg.backend.phrases import REALS
from zyg.ir.core import Block, Const, Function, Instr, Value

from .. import objects

ARITHMETIC = frozenset(
    "add sub mul truediv floordiv mod pow neg pos iadd isub imul itruediv ifloordiv imod ipow_".split()
)
INTEGRAL = frozenset("lshift rshift and or xor invert ilshift irshift iand ior ixor".split())
COMPARISONS = frozenset("lt le eq ne gt ge".split())
# Machine ops and control: nothing in them is Python's business.
CONTROL = frozenset("jump branch switch return raise reraise unreachable forget".split())


class Activity:
    """`inert(v)`: no cotangent of `v` is wanted.  `number(v)`: `v` is exactly an int, float or bool."""

    def __init__(self, function: Function, numbers: frozenset[Value] = frozenset()):
        self.function = function
        self.varied: set[Value] = set(function.params)
        self.flowing = _flowing(function)
        self.unknown: set[Value] = {p for p in function.params if p not in numbers}
        handlers: set[Block] = {b.handler.block for b in function.blocks if b.handler is not None}
        for block in handlers:
            self.unknown.add(block.params[0])
        changed = True
        while changed:
            before = (len(self.varied), len(self.unknown))
            for block in function.blocks:
                for instr in block.instrs:
                    self._step(instr)
                    for target in instr.targets:
                        self._pass(target.block.params, target.args)
                if block.handler is not None:
                    self._pass(block.handler.block.params[1:], block.handler.args)
            changed = before != (len(self.varied), len(self.unknown))

    def inert(self, v: Value) -> bool:
        return isinstance(v, Const) or v not in self.varied

    def number(self, v: Value) -> bool:
        if isinstance(v, Const):
            return type(v.value) in REALS
        return v not in self.unknown

    def _pass(self, params: list[Value], args: list[Value]) -> None:
        for p, a in zip(params, args, strict=True):
            if not self.inert(a):
                self.varied.add(p)
            if not self.number(a):
                self.unknown.add(p)

    def _step(self, instr: Instr) -> None:
        op = instr.op
        if op in ARITHMETIC or op in INTEGRAL:
            if all(map(self.number, instr.operands)):
                if op in ("pow", "ipow_"):
                    self.unknown.update(instr.results)  # of a negative base it may be complex
                if op in ARITHMETIC and "floordiv" not in op and not all(map(self.inert, instr.operands)):
                    self.varied.update(instr.results)
                return
            self.unknown.update(instr.results)
            if not all(map(self.inert, instr.operands)) and op not in objects.CONSTANT:
                self.varied.update(instr.results)
            return
        if op in ("truth", "not", "is", "is_not", "contains", "match_sequence", "match_mapping", "check_match"):
            return  # a bool
        if op in COMPARISONS and not all(map(self.number, instr.operands)):
            self.unknown.update(instr.results)
            self.varied.update(instr.results)  # what a method gives
            return
        if "counts" in instr.attrs:  # a loop over a range
            self.unknown.update(instr.results[:1] if op == "iter" else ())
            return
        if op == "next":
            self.varied.add(instr.results[1])
            self.unknown.add(instr.results[1])
            return
        if op == "item" and "numbered" in instr.attrs:  # by exactly an int, which carries nothing
            self.unknown.update(instr.results[1:])
            self.varied.update(instr.results[1:])
            return
        if op == "checked_local":
            self._pass(instr.results, instr.operands)
            return
        self.unknown.update(instr.results)
        if op == "global" and instr.result in self.flowing:
            self.varied.update(instr.results)
        if op not in objects.CONSTANT and op not in CONTROL:
            self.varied.update(instr.results)


# Operations that take nothing of a value but which object it is, and what it does.
_LOOKING = frozenset("is is_not contains truth not lt le eq ne gt ge check_match import_from".split())


def _flowing(function: Function) -> set[Value]:
    """Values that are used for more than to be called, to have their attributes read, or to be compared."""
    found: set[Value] = set()
    for block, instr in function.instructions():
        if instr.op not in _LOOKING:
            looking = instr.op in ("call_object", "call_spread", "getattr") or "call" in instr.attrs
            first = instr.operands[1:] if looking else instr.operands
            found.update(v for v in first if not isinstance(v, Const))
        for target in instr.targets:
            found.update(v for v in target.args if not isinstance(v, Const))
        if block.handler is not None:
            found.update(v for v in block.handler.args if not isinstance(v, Const))
    return found
