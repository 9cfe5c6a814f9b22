"""Compute the same thing once.

Input: any function.  Output: an instruction that computes what a dominating one has computed is replaced by it (pure
ops and overflow checks); a load is replaced by an earlier load or store of the same element in its block with no
write in between; guards and branches on conditions that are known to hold (tested by a dominating guard or branch) go
or are decided.

The strong zero of a derivative, `select (eq d, 0), 0, d / x` with attrs["strong"], is the quotient where it is known
that x is not 0.

Invariant: no instruction moves.
"""

from __future__ import annotations

from typing import Any

from ..analysis import Dominators, edges
from ..core import Block, Const, Function, Instr, Value, const
from ..ops import OPS
from ..types import BOOL
from .rewriting import constant_key, replace_elsewhere, substitute

_MERGED = frozenset(
    name for name, op in OPS.items()
    if op.effects in ("pure", "value_check") and op.level == "machine" and name != "undefined"
)  # fmt: skip
_COMMUTATIVE = frozenset(name for name, op in OPS.items() if op.commutative)
# writes that cannot change an element of an array
_HARMLESS = frozenset({"alloc", "stack", "push", "pop", "reserve", "rewind", "cursor", "tape", "drop", "guard",
                       "retain", "poll"})  # fmt: skip
_ARITHMETIC = frozenset({"add", "sub", "mul", "div", "sdiv", "neg", "abs", "select", "cast", "lt", "le", "gt", "ge",
                         "eq", "ne", "and", "or", "not", "cadd", "csub", "cmul", "cneg", "fmin", "fmax", "minimum", "maximum"})  # fmt: skip
_EFFECTS = {name: op.effects for name, op in OPS.items()}


def run(function: Function) -> bool:
    return _Walk(function).run()


class _Walk:
    """A walk over the dominator tree with a table that is undone on the way up."""

    def __init__(self, function: Function):
        self.function = function
        self.table: dict[Any, list[Value]] = {}
        self.replaced: dict[Value, Value] = {}
        self.known: dict[Value, Const] = {}  # conditions whose truth is known here
        self.divisors: dict[Value, Value] = {}  # per quotient
        self.logic: dict[Value, Instr] = {}  # what makes a condition out of others
        self.changed = False

    def run(self) -> bool:
        function = self.function
        if len(function.blocks) == 1:
            self.block(function.entry, [], [])
            seen = function.blocks
        else:
            seen = self.tree()
        replace_elsewhere(function, self.replaced, seen)
        return self.changed

    def tree(self) -> list[Block]:
        """Gives the blocks that were walked through."""
        dominators = Dominators(self.function)
        children = dominators.children()
        count: dict[Block, int] = {}
        for block in dominators.order:
            for target in edges(block):
                count[target.block] = count.get(target.block, 0) + 1
        entry = self.function.entry
        # (block, or None to undo; what to undo)
        undo: tuple[list[Any], list[Value]] = ([], [])
        stack: list[tuple[Block | None, tuple[list[Any], list[Value]]]] = [(entry, undo)]
        while stack:
            block, undo = stack.pop()
            keys, conditions = undo
            if block is None:
                for key in keys:
                    del self.table[key]
                for condition in conditions:
                    del self.known[condition]
                continue
            parent = dominators.immediate[block]
            if parent is not None and count[block] == 1:
                self.learn_from_branch(parent, block, conditions)
            self.block(block, keys, conditions)
            stack.append((None, undo))
            stack += [(child, ([], [])) for child in reversed(children[block])]
        return dominators.order

    def learn_from_branch(self, parent: Block, block: Block, conditions: list[Value]) -> None:
        """The only edge into `block` tells what the branch saw."""
        last = parent.instrs[-1]
        if last.op != "branch" or last.targets[0].block is last.targets[1].block:
            return
        condition = last.operands[0]
        if condition.type is BOOL and not isinstance(condition, Const):
            self.learn(condition, last.targets[0].block is block, conditions)

    def learn(self, condition: Value, holds: bool, conditions: list[Value]) -> None:
        work = [(condition, holds)]
        while work:
            condition, holds = work.pop()
            if condition in self.known or isinstance(condition, Const):
                continue
            self.known[condition] = const(holds, BOOL)
            conditions.append(condition)
            instr = self.logic.get(condition)
            if instr is None:
                continue
            if instr.op == "not":
                work.append((instr.operands[0], not holds))
            elif (instr.op == "and") == holds:  # all of an `and` that holds, none of an `or` that does not
                work += [(v, holds) for v in instr.operands]

    def block(self, block: Block, keys: list[Any], conditions: list[Value]) -> None:
        table, replaced = self.table, self.replaced
        loads: dict[Any, Value] = {}
        kept: list[Instr] = []
        for instr in block.instrs:
            if replaced:
                substitute(instr, replaced)
            op = instr.op
            if op in _MERGED:
                if self.known:
                    self.use_known(instr)
                    if "strong" in instr.attrs and self.is_quotient(instr):
                        replaced[instr.results[0]] = instr.operands[2]
                        self.changed = True
                        continue
                if op in ("and", "or", "not") and instr.results[0].type is BOOL:
                    self.logic[instr.results[0]] = instr
                elif op == "div":
                    self.divisors[instr.results[0]] = instr.operands[1]
                key = _key(instr)
                before = table.get(key) if key is not None else None
                if before is not None:
                    replaced.update(zip(instr.results, before, strict=True))
                    self.changed = True
                    continue
                if key is not None:
                    table[key] = instr.results
                    keys.append(key)
            elif op == "load":
                key = _element(instr.operands[0], instr.operands[1:])
                if key in loads:
                    replaced[instr.results[0]] = loads[key]
                    self.changed = True
                    continue
                loads[key] = instr.results[0]
            elif op == "store":
                loads.clear()
                loads[_element(instr.operands[0], instr.operands[2:])] = instr.operands[1]
            elif op == "guard":
                condition = instr.operands[0]
                known = self.known.get(condition)
                if known is not None:
                    if known.value:
                        self.changed = True
                        continue
                    instr.operands[0] = known
                    self.changed = True
                elif not isinstance(condition, Const):
                    self.learn(condition, True, conditions)
            elif op == "branch":
                known = self.known.get(instr.operands[0])
                if known is not None:
                    instr.operands[0] = known
                    self.changed = True
            elif op == "jump":
                args = instr.targets[0].args
                for n, v in enumerate(args):
                    if v in self.known:
                        args[n] = self.known[v]
                        self.changed = True
            elif op not in _HARMLESS and _EFFECTS[op] in ("write", "effect"):
                loads.clear()
            kept.append(instr)
        if len(kept) < len(block.instrs):
            block.instrs[:] = kept

    def use_known(self, instr: Instr) -> None:
        """Boolean operations see known conditions as constants (fold does the rest)."""
        if instr.op in ("and", "or", "not", "xor", "select"):
            for n, v in enumerate(instr.operands):
                known = self.known.get(v)
                if known is not None:
                    instr.operands[n] = known
                    self.changed = True

    def is_quotient(self, select: Instr) -> bool:
        """Whether the third operand of a strong zero may stand for all of it, its divisor not being 0."""
        divisor = self.divisors.get(select.operands[2])
        if divisor is None:
            return False
        if isinstance(divisor, Const):
            return bool(divisor.value)
        zero = _operand(const(0.0, divisor.type))
        for op, holds in _NOT_ZERO:
            condition = self.table.get((op, None, _operand(divisor), zero))
            known = self.known.get(condition[0]) if condition is not None else None
            if known is not None and known.value is holds:
                return True
        return False


# comparisons with 0 that say that something is not 0, and how they have to come out
_NOT_ZERO = (("gt", True), ("lt", True), ("ne", True), ("le", False), ("ge", False), ("eq", False))


def _operand(v: Value) -> Any:
    return constant_key(v) if isinstance(v, Const) else v


def _element(array: Value, indices: list[Value]) -> Any:
    return (array, *map(_operand, indices))


def _in_front(y: Value, x: Value) -> bool:
    """Whether x stands before y where their order is free: constants, of which there are several that are equal, come last."""
    if isinstance(x, Const) or isinstance(y, Const):
        return not isinstance(x, Const)
    return id(x) < id(y)


def _key(instr: Instr) -> Any:
    """Equal for instructions that compute the same; None if that cannot be told."""
    operands = [_operand(v) for v in instr.operands]
    if instr.op in _COMMUTATIVE and len(operands) == 2 and _in_front(*instr.operands):
        operands.reverse()
    # what matters to mathematical functions, and promises, make no difference to arithmetic
    attrs = instr.attrs
    if attrs and instr.op in _ARITHMETIC:
        attrs = {k: v for k, v in attrs.items() if k not in ("vectormath", "nsw")}
    if not attrs:
        return (instr.op, instr.results[0].type if instr.op == "cast" else None, *operands)
    attributes = tuple(sorted(attrs.items()))
    key = (instr.op, attributes, tuple(r.type for r in instr.results), *operands)
    try:
        hash(key)
    except TypeError:
        return None
    return key
