"""What LLVM is told of memory: which arrays and stacks of a function cannot overlap.

Other things that it could not know are said elsewhere: memory of stacks, arrays and the context never overlap
(`ModuleText.tag`); guards hold (branch weights); mathematical functions have no effects, and have vector variants.
"""

from __future__ import annotations

from ....ir.analysis import may_keep
from ....ir.core import Function, Value
from ....ir.ops import SAME_MEMORY
from ....ir.types import Array, Stack
from ..text import SELF, ModuleText

FLOWS = frozenset({*SAME_MEMORY, "select", "cursor"})
MAX_SCOPES = 48  # alias metadata grows with the square of their number


class Scopes:
    """Alias scopes: which arrays and stacks of a function cannot overlap, by where their memory comes from.

    A root is an `alloc` (fresh memory, unlike any other), a `stack` (likewise), or an array parameter, of which LLVM is told
    by the attribute `noalias` where it is unlike the others.  What is loaded from a stack or returned by a call may be
    anything but an array that was never given away.
    """

    UNKNOWN = None

    def __init__(self, module: ModuleText, function: Function, name: str):
        self.module = module
        self.roots: dict[Value, frozenset[object]] = {}
        self.numbers: dict[object, int] = {}
        self.annotations: dict[frozenset[object], str] = {}
        self.unknown = frozenset({self.UNKNOWN})
        self.kept: set[object] = set()  # arrays that were never given away
        distinct: list[object] = []
        for p in function.params:
            if isinstance(p.type, Array):
                self.roots[p] = frozenset({"parameters"})
        for _, instr in function.instructions():
            if instr.op in ("alloc", "stack"):
                self.roots[instr.result] = frozenset({instr.result})
                distinct.append(instr.result)
        self.distinct = distinct
        parameters = any("parameters" in roots for roots in self.roots.values())
        if 0 < len(distinct) <= MAX_SCOPES and (len(distinct) > 1 or parameters):
            self.propagate(function)
            self.find_kept(function)
            domain = module.node(f'!{{{SELF}, !"{metadata_string(name)}"}}')
            for root in distinct:
                self.numbers[root] = module.node(f"!{{{SELF}, !{domain}}}")

    def propagate(self, function: Function) -> None:
        """Roots flow through views, selects and block arguments, to a fixpoint."""
        flows: list[tuple[Value, list[Value]]] = []
        incoming: dict[Value, list[Value]] = {}
        for block in function.blocks:
            for instr in block.instrs:
                for value in instr.results:
                    if not isinstance(value.type, (Array, Stack)) or value in self.roots:
                        continue
                    if instr.op in FLOWS:
                        flows.append((value, [v for v in instr.operands if isinstance(v.type, (Array, Stack))]))
                    else:
                        self.roots[value] = self.unknown
                for target in instr.targets:
                    for param, arg in zip(target.block.params, target.args):
                        if isinstance(param.type, (Array, Stack)):
                            incoming.setdefault(param, []).append(arg)
        flows += incoming.items()
        changed = True
        while changed:
            changed = False
            for value, sources in flows:
                new = frozenset().union(*(self.roots.get(s, frozenset()) for s in sources))
                if new != self.roots.get(value, frozenset()):
                    self.roots[value] = new
                    changed = True

    def find_kept(self, function: Function) -> None:
        """The arrays made here to which nothing leads that is loaded from a stack or given by a call."""
        self.kept.update(i.result for _, i in function.instructions() if i.op == "alloc")
        for _, instr in function.instructions():
            if instr.op not in FLOWS and may_keep(instr):
                for v in instr.operands:
                    self.kept -= self.roots.get(v, frozenset())

    def annotation(self, value: Value) -> str:
        if not self.numbers:
            return ""
        roots = self.roots.get(value, self.unknown)
        known = self.annotations.get(roots)
        if known is None:
            known = self.annotations[roots] = self._annotation(roots)
        return known

    def _annotation(self, roots: frozenset[object]) -> str:
        if not roots:
            return ""
        if self.UNKNOWN in roots:
            others = [n for r, n in self.numbers.items() if r in self.kept and r not in roots]
            return f", !noalias !{self._list(others)}" if others else ""
        mine = [self.numbers[r] for r in self.distinct if r in roots]
        others = [self.numbers[r] for r in self.distinct if r not in roots]
        text = ""
        if mine and "parameters" not in roots:
            text += f", !alias.scope !{self._list(mine)}"
        if others:
            text += f", !noalias !{self._list(others)}"
        return text

    def _list(self, numbers: list[int]) -> int:
        return self.module.node("!{" + ", ".join(f"!{n}" for n in numbers) + "}")


def metadata_string(text: str) -> str:
    return "".join(c if (c.isalnum() and c.isascii()) or c in "._" else "_" for c in text)
