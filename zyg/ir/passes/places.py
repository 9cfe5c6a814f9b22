"""Where loads and stores go: elements of arrays that are no views, by indices that are linear forms; and the innermost loops
that the adjoint pass makes, which count down to 0.
"""

from __future__ import annotations

from typing import NamedTuple

from ..core import Block, Const, Function, Instr, Target, Value
from ..types import I64, Array, Scalar

_DEPTH = 16  # of additions that make up an index

Terms = frozenset[tuple[Value, int]]


class Linear(NamedTuple):
    """The sum of coefficient * value, and a constant; exact modulo 2**64."""

    terms: Terms
    constant: int


class Place(NamedTuple):
    """An element: an array that is no view, and an index per dimension as a linear form."""

    root: Value
    terms: tuple[Terms, ...]
    constants: tuple[int, ...]


class Memory:
    """Where accesses go, and which memory is distinct."""

    def __init__(self, function: Function):
        self.made = {r: i for b in function.blocks for i in b.instrs for r in i.results}
        self.noalias = {function.params[k] for k in function.attrs.get("noalias", ())}
        self.params = set(function.params)
        self.forms: dict[Value, Linear] = {}

    def form(self, value: Value, depth: int = 0) -> Linear:
        if isinstance(value, Const):
            return Linear(frozenset(), value.value)
        known = self.forms.get(value)
        if known is None:
            known = self.forms[value] = self._form(value, depth)
        return known

    def _form(self, value: Value, depth: int) -> Linear:
        instr = self.made.get(value)
        if instr is not None and depth < _DEPTH:
            operands = instr.operands
            if instr.op in ("add", "sub"):
                x, y = (self.form(v, depth + 1) for v in operands)
                return plus(x, y, 1 if instr.op == "add" else -1)
            if instr.op == "neg":
                return plus(Linear(frozenset(), 0), self.form(operands[0], depth + 1), -1)
        return Linear(frozenset({(value, 1)}), 0)

    def place(self, instr: Instr) -> Place:
        """Of a load, store or accum."""
        array, *indices = instr.operands if instr.op == "load" else [instr.operands[0], *instr.operands[2:]]
        forms = [self.form(v) for v in indices]
        while (view := self.made.get(array)) is not None and view.op in ("view", "transpose"):
            if view.op == "transpose":
                outer = [forms[axis] for axis in view.attrs["axes"]]
            else:
                outer = self._outer(view, forms)
            if outer is None:
                break
            array, forms = view.operands[0], outer
        return Place(array, tuple(f.terms for f in forms), tuple(f.constant for f in forms))

    def _outer(self, view: Instr, forms: list[Linear]) -> list[Linear] | None:
        """The indices in what is viewed, if the view steps by ones."""
        operands, inner = iter(view.operands[1:]), iter(forms)
        outer = []
        for letter in view.attrs["spec"]:
            if letter == "i":
                outer.append(self.form(next(operands)))
            elif letter == ":":
                outer.append(next(inner))
            elif letter == "n":
                next(inner)
            else:
                start, _, step = next(operands), next(operands), next(operands)
                if not isinstance(step, Const) or step.value != 1:
                    return None
                outer.append(plus(self.form(start), next(inner), 1))
        return outer

    def owner(self, root: Value) -> Value | None:
        """The alloc (or parameter) that the memory belongs to; None if that is not known."""
        while True:
            instr = self.made.get(root)
            if instr is None:
                return root if root in self.params else None
            if instr.op == "alloc":
                return root
            if instr.op not in ("view", "reshape", "transpose"):
                return None
            root = instr.operands[0]

    def distinct(self, a: Value, b: Value) -> bool:
        """Whether two arrays have no memory in common."""
        if a is b:
            return False
        x, y = self.owner(a), self.owner(b)
        if x is None or y is None or x is y:
            return False
        return not (x in self.params and y in self.params) or x in self.noalias or y in self.noalias

    def proper(self, root: Value) -> bool:
        """Whether different indices are different memory: not so where strides may be 0, in an array from outside."""
        assert isinstance(root.type, Array)
        if root.type.layout == "C":
            return True
        owner = self.owner(root)
        return owner is not None and owner not in self.params


def plus(x: Linear, y: Linear, factor: int) -> Linear:
    constant = x.constant + factor * y.constant
    if not y.terms:
        return Linear(x.terms, constant)
    terms = dict(x.terms)
    for value, coefficient in y.terms:
        terms[value] = terms.get(value, 0) + factor * coefficient
    return Linear(frozenset((v, c) for v, c in terms.items() if c), constant)


class Countdown(NamedTuple):
    """A loop `header(.., k, ..): branch (eq k, 0), exit, body` of which k goes down by ones, with one path through its body."""

    header: Block
    body: Block
    counter: Value
    entering: list[Target]

    @property
    def starts(self) -> list[Value]:
        n = self.header.params.index(self.counter)
        return [target.args[n] for target in self.entering]


def countdown(body: Block, memory: Memory, predecessors: dict[Block, list[tuple[Block, Target]]]) -> Countdown | None:
    """The loop of which this is the body, if it is such a one."""
    latch = body.instrs[-1]
    if latch.op != "jump" or body.params or len(predecessors[body]) != 1:
        return None
    header = latch.targets[0].block
    if len(header.instrs) != 2 or predecessors[body][0][0] is not header or "kept" in latch.attrs:
        return None
    test, branch = header.instrs
    if test.op != "eq" or branch.op != "branch" or branch.operands[0] is not test.results[0]:
        return None
    if branch.targets[0].block in (header, body) or branch.targets[1].block is not body:
        return None
    counter, zero = test.operands
    if counter.type is not I64 or counter not in header.params or not isinstance(zero, Const) or zero.value != 0:
        return None
    if not all(isinstance(p.type, Scalar) for p in header.params):
        return None
    n = header.params.index(counter)
    if memory.form(latch.targets[0].args[n]) != Linear(frozenset({(counter, 1)}), -1):
        return None
    return Countdown(header, body, counter, [t for b, t in predecessors[header] if b is not body])


def sign_of(place: Place, counter: Value, inside: set[Value], memory: Memory) -> int:
    """1 or -1 if the last index goes with the counter or against it and all else stays the same in the loop; else 0."""
    if place.root in inside or not place.terms or not memory.proper(place.root):
        return 0
    *others, last = place.terms
    coefficient = dict(last).get(counter, 0)
    if any(v in inside for terms in others for v, _ in terms) or any(v in inside for v, _ in last if v is not counter):
        return 0
    return coefficient if coefficient in (1, -1) else 0
