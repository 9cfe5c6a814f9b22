"""Lengths of arrays that a loop carries on, and arrays that are seen broadcast in the shape that they have.

    h = np.zeros(m)                                 loop(h): dim h is m, if it is each time around:
    for row in x:                                       select(m == 1, dim h, m) is, if dim h was
        h = np.tanh(row + h)

Input: any function.  Output: `dim` of such a parameter is the length that the array has on the way into the loop, that of an array which
is made here the length it is made with; `reshape` to an array's own shape is the array, and `broadcast` to it a view of all of it.  cse
and fold finish what follows for comparisons and guards.

What is assumed of the parameters of all loops is tested on the ways back, and dropped where it does not hold, until nothing
has to be dropped any more.  Invariant: none beyond the verifier's.
"""

from __future__ import annotations

from ..analysis import Dominators, edges
from ..core import Block, Const, Function, Instr, Value, array_type, const
from ..types import I64, Array
from .rewriting import constant_key, replace_uses

Token = object  # two lengths with equal tokens are equal
_COMPUTED = frozenset({"add", "sub", "mul", "floordiv", "select", "eq", "ne", "lt", "le", "gt", "ge"})
_DEPTH = 32  # of operations that are looked through


def run(function: Function) -> bool:
    shapes = Shapes(function)
    shapes.drop_wrong_assumptions()
    return shapes.rewrite()


class Shapes:
    def __init__(self, function: Function):
        self.function = function
        self.made: dict[Value, Instr] = {r: i for _, i in function.instructions() for r in i.results}
        self.dims = {(i.operands[0], i.attrs["axis"]): i.result for i in function.entry.instrs if i.op == "dim"}
        self.assumed: dict[Value, list[Value]] = {}  # per parameter of a loop, the lengths that it has
        self.back: dict[Value, list[Value]] = {}  # what comes in its place on the ways back
        self.meeting: dict[Value, list[Value]] = {}  # per parameter of another block, what comes in its place
        self.tokens: dict[Value, Token] = {}
        self.shapes: dict[Value, list[Token]] = {}
        self.numbers: dict[Token, int] = {}
        self.find_parameters()

    def find_parameters(self) -> None:
        dominators = Dominators(self.function)
        self.order = dominators.order
        position = {b: n for n, b in enumerate(dominators.order)}
        incoming: dict[Block, list[tuple[Block, list[Value]]]] = {b: [] for b in dominators.order}
        handlers = {b.handler.block for b in dominators.order if b.handler is not None}
        for block in dominators.order:
            for target in edges(block):
                incoming[target.block].append((block, target.args))
        for block in dominators.order[1:]:
            if block in handlers:  # what such a block gets first comes from no edge
                continue
            entering = [source for source, _ in incoming[block] if position[source] < position[block]]
            loop = len(entering) < len(incoming[block])
            if loop and (len(entering) != 1 or not dominators.dominates(entering[0], block)):
                continue
            for n, param in enumerate(block.params):
                if not isinstance(param.type, Array):
                    continue
                if not loop:
                    self.meeting[param] = [args[n] for _, args in incoming[block]]
                    continue
                first, *back = sorted(incoming[block], key=lambda edge: position[edge[0]])
                lengths = self.lengths(first[1][n])
                if lengths is not None:
                    self.assumed[param] = lengths
                    self.back[param] = [args[n] for _, args in back]

    def lengths(self, array: Value) -> list[Value] | None:
        """The lengths of an array, if they are known wherever it is."""
        instr = self.made.get(array)
        if instr is not None and instr.op == "alloc":
            return list(instr.operands)
        if instr is not None and instr.op in ("reshape", "broadcast"):
            return instr.operands[1:]
        if instr is not None and instr.op == "view" and instr.attrs["spec"] == "s":
            return [instr.operands[2]]
        known = [self.dims.get((array, axis)) for axis in range(array_type(array).ndim)]
        return [v for v in known if v is not None] if None not in known else None

    def drop_wrong_assumptions(self) -> None:
        while True:
            self.find_shapes()
            wrong = [p for p, lengths in self.assumed.items() if not self.holds(p, list(map(self.token, lengths)))]
            if not wrong:
                return
            for p in wrong:
                del self.assumed[p]
            self.tokens.clear()
            self.shapes.clear()

    def find_shapes(self) -> None:
        """Of all arrays, each after those that it is a view of."""
        for block in self.order:
            for v in [*block.params, *(r for i in block.instrs for r in i.results)]:
                if isinstance(v.type, Array):
                    self.shape(v)

    def holds(self, param: Value, lengths: list[Token]) -> bool:
        return all(arg is param or self.shape(arg) == lengths for arg in self.back[param])

    def rewrite(self) -> bool:
        replaced: dict[Value, Value] = {}
        changed = False
        for block in self.function.blocks:
            for n, instr in enumerate(block.instrs):
                if instr.op == "dim":
                    lengths = self.assumed.get(instr.operands[0]) or self.lengths_at_making(instr.operands[0])
                    if lengths is not None:
                        replaced[instr.result] = lengths[instr.attrs["axis"]]
                elif (
                    instr.op == "reshape"
                    and instr.result.type == instr.operands[0].type
                    and self.shape(instr.operands[0]) == [*map(self.token, instr.operands[1:])]
                ):
                    replaced[instr.result] = instr.operands[0]
                elif instr.op == "broadcast" and self.shape(instr.operands[0]) == [
                    *map(self.token, instr.operands[1:])
                ]:
                    given = instr.operands[:1]
                    attrs = {"spec": ":" * (len(instr.operands) - 1)}
                    block.instrs[n] = Instr("view", given, instr.results, attrs, [], instr.position)
                    changed = True
        last = lambda v: last(replaced[v]) if v in replaced else v
        replace_uses(self.function, {v: last(by) for v, by in replaced.items()})
        return changed or bool(replaced)

    def lengths_at_making(self, array: Value) -> list[Value] | None:
        """The lengths that an array was made with."""
        instr = self.made.get(array)
        if instr is None or instr.op not in ("alloc", "reshape", "broadcast"):
            return None
        return instr.operands if instr.op == "alloc" else instr.operands[1:]

    # ------------------------------------------------------------------------------------------------ tokens

    def token(self, v: Value, depth: int = 0) -> Token:
        """What stands for an integer or a condition."""
        if isinstance(v, Const):
            return constant_key(v)
        known = self.tokens.get(v)
        if known is None:
            known = self.tokens[v] = self.computed(v, depth) if depth < _DEPTH else v
        return known

    def computed(self, v: Value, depth: int) -> Token:
        instr = self.made.get(v)
        if instr is None:
            return v
        if instr.op == "stop":
            return self.token(instr.operands[0], depth + 1)
        if instr.op == "dim":
            return self.shape(instr.operands[0])[instr.attrs["axis"]]
        if instr.op == "select":
            condition, x, y = instr.operands
            holds = self.truth(condition)
            if holds is not None:
                return self.token(x if holds else y, depth + 1)
            if self.token(x, depth + 1) == self.token(y, depth + 1):
                return self.token(x)
        if instr.op in _COMPUTED:
            # One number for what is computed alike: tokens within tokens would take long to compare.
            key = (instr.op, *(self.token(x, depth + 1) for x in instr.operands))
            return self.numbers.setdefault(key, len(self.numbers))
        return v

    def truth(self, condition: Value) -> bool | None:
        """Whether a condition on lengths holds, if that is known."""
        if isinstance(condition, Const):
            return bool(condition.value)
        instr = self.made.get(condition)
        if instr is None:
            return None
        if instr.op == "eq" and instr.operands[0].type is I64:  # a nan is not equal to itself
            return True if self.token(instr.operands[0]) == self.token(instr.operands[1]) else None
        if instr.op in ("or", "and"):
            found = [self.truth(v) for v in instr.operands]
            decisive = instr.op == "or"
            return decisive if decisive in found else None if None in found else not decisive
        return None

    def shape(self, array: Value) -> list[Token]:
        """What stands for the lengths of an array."""
        known = self.shapes.get(array)
        if known is None:
            known = self.shapes[array] = self.found_shape(array)
        return known

    def found_shape(self, array: Value) -> list[Token]:
        if array in self.assumed:
            return [self.token(v) for v in self.assumed[array]]
        instr = self.made.get(array)
        if instr is not None:
            if instr.op == "alloc":
                return [self.token(v) for v in instr.operands]
            if instr.op in ("reshape", "broadcast"):
                return [self.token(v) for v in instr.operands[1:]]
            if instr.op == "view":
                return self.of_view(instr)
        shapes = [self.shape(v) for v in self.meeting.get(array, ())]
        if shapes and all(s == shapes[0] for s in shapes):
            return shapes[0]
        return [(array, axis) for axis in range(array_type(array).ndim)]

    def of_view(self, view: Instr) -> list[Token]:
        source = iter(self.shape(view.operands[0]))
        operands = iter(view.operands[1:])
        result: list[Token] = []
        for letter in view.attrs["spec"]:
            if letter == "n":
                result.append(constant_key(const(1)))
                continue
            length = next(source)
            if letter == "i":
                next(operands)
            elif letter == "s":
                next(operands)
                result.append(self.token(next(operands)))
                next(operands)
            else:
                result.append(length)
        return result
