"""Emitting instructions, and building SSA form from variables.

`Builder` appends to a block.  `Variables` turns assignments to named variables into block arguments on the fly
(Braun, Buchwald, Hack, Leissa, Mallon, Zwinkau: "Simple and Efficient Construction of Static Single Assignment Form",
CC 2013).  The decoder uses it for Python's locals and operand stack, the adjoint pass for cotangents.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from .core import TERMINATORS, Block, Const, Function, Instr, Position, Target, Value, const, map_uses
from .ops import result_types
from .trace import Traced
from .types import BOOL, F32, F64, OBJECT, Scalar, Type


class Builder:
    """Appends instructions to `block`, with the source position `position`."""

    def __init__(self, function: Function, block: Block | None = None):
        self.function = function
        self.block = block
        self.position: Position | None = None

    def new_block(self, name: str) -> Block:
        """A block appended to the function; the builder stays where it is."""
        block = Block(name)
        self.function.blocks.append(block)
        return block

    def at(self, block: Block) -> Builder:
        self.block = block
        return self

    def append(self, instr: Instr) -> Instr:
        assert self.block is not None
        instrs = self.block.instrs
        assert not instrs or instrs[-1].op not in TERMINATORS, "emitting after a terminator"
        if instr.position is None:
            instr.position = self.position
        instrs.append(instr)
        return instr

    def emit(
        self, op: str, *operands: Value, types: tuple[Type, ...] | None = None, name: str = "", **attrs: Any
    ) -> list[Value]:
        """Emit `op`; the results' types come from the op table unless they are stated."""
        if types is None:
            inferred = result_types(op, [v.type for v in operands], attrs)
            assert inferred is not None, f"the result types of {op} have to be stated"
            types = tuple(inferred)
        results = [Value(types[0], name)] if len(types) == 1 else [Value(t, name) for t in types]
        self.append(Instr(op, list(operands), results, attrs, position=self.position))
        return results

    def op(self, op: str, *operands: Value, type: Type | None = None, name: str = "", **attrs: Any) -> Value:
        """Emit `op` and give its only result."""
        types = None if type is None else (type,)
        (result,) = self.emit(op, *operands, types=types, name=name, **attrs)
        return result

    # ------------------------------------------------------------------------------------- terminators

    def jump(self, block: Block, *args: Value, **attrs: Any) -> None:
        self.append(Instr("jump", attrs=attrs, targets=[Target(block, list(args))]))

    def branch(self, condition: Value, then: Block, other: Block, then_args: Any = (), other_args: Any = ()) -> None:
        targets = [Target(then, list(then_args)), Target(other, list(other_args))]
        self.append(Instr("branch", [condition], targets=targets))

    def switch(self, value: Value, *blocks: Block) -> None:
        self.append(Instr("switch", [value], targets=[Target(b) for b in blocks]))

    def ret(self, *values: Value) -> None:
        self.append(Instr("return", list(values)))

    # ------------------------------------------------------------------------------------- arithmetic

    def cast(self, value: Value, type: Type) -> Value:
        """`value` as `type`; constants convert at once (integers wrap, as in C)."""
        if value.type == type:
            return value
        if isinstance(value, Const) and isinstance(type, Scalar):
            known = value.value
            if type.kind in "iu" and isinstance(known, int):
                low, high = type.bounds
                known = low + (known - low) % (high - low + 1)
            return const(known, type)
        return self.op("cast", value, type=type, name=value.name)

    def arith(self, op: str, *operands: Value, **attrs: Any) -> Value:
        """`op` on operands converted to their common type (f64 over f32 over integers); see `Traced`.

        A constant adapts to the other operand's type.  Products and sums with a literal 0.0 or 1.0 fold here, so that
        derivative rules leave no litter.
        """
        if op == "select":
            condition, *rest = operands
            if isinstance(condition, Const):
                return rest[0] if condition.value else rest[1]
            condition = condition if condition.type is BOOL else self.op("ne", condition, const(0, condition.type))
            return self.op("select", condition, *self._common(rest), **attrs)
        values = self._common(operands)
        folded = self._fold(op, values)
        return folded if folded is not None else self.op(op, *values, **attrs)

    def _common(self, operands: Any) -> list[Value]:
        varying = [v.type for v in operands if not isinstance(v, Const)]
        floats = [t for t in varying if isinstance(t, Scalar) and t.kind == "f"]
        constants_float = any(isinstance(v, Const) and isinstance(v.value, float) for v in operands)
        if floats:
            common: Type = F64 if F64 in floats else F32
        elif constants_float or len(set(varying)) > 1:
            common = F64
        elif not varying:
            common = operands[0].type
        else:
            common = varying[0]
        return [self.cast(v, common) for v in operands]

    def _fold(self, op: str, values: list[Value]) -> Value | None:
        constants = [v.value if isinstance(v, Const) else None for v in values]
        if all(c is not None for c in constants):
            from .ops import OPS

            evaluate = OPS[op].eval
            assert evaluate is not None
            result = evaluate(*constants)
            type = values[0].type if not isinstance(result, bool) else BOOL
            return const(result, type)
        if op == "mul":
            for c, other in ((constants[0], values[1]), (constants[1], values[0])):
                if c == 1:
                    return other
                if c == 0:
                    return const(0.0, other.type)  # a strong zero: a cotangent that is literally 0 stays 0
        if op == "add":
            for c, other in ((constants[0], values[1]), (constants[1], values[0])):
                if c == 0:
                    return other
        if op == "sub" and constants[1] == 0:
            return values[0]
        if op == "div" and constants[1] == 1:
            return values[0]
        if op == "div" and constants[0] == 0:
            return const(0.0, values[0].type)
        return None

    def resolve(self, value: Any) -> Value:
        """For `Traced`: a leaf is an SSA value, or a function that fetches one."""
        if isinstance(value, Value):
            return value
        return value(self)

    def traced(self, value: Value) -> Traced:
        return Traced(self, value)


V = TypeVar("V", bound=Hashable)  # what stands for a variable


class Variables(Generic[V]):
    """SSA construction for variables that are assigned along control flow.

    Announce each edge with `add_edge` when a terminator is made, `write` and `read` variables per block, `seal` a block
    once all edges into it are announced, and `finish` at the end: it appends the block parameters that are needed, and
    the arguments on the edges, and rewrites uses of parameters that turned out redundant.

    `initial(variable)` gives the value of a variable that is read before any assignment (KeyError without it), and
    `at_start(block, variable)`, if given, may tell what a variable is at the start of a block (None: not known): paths into
    the block are then not searched.
    """

    def __init__(
        self,
        type_of: Callable[[V], Type] = lambda variable: OBJECT,
        initial: Callable[[V], Value] | None = None,
        name_of: Callable[[V], str] = str,
        at_start: Callable[[Block, V], Value | None] | None = None,
    ):
        self.type_of = type_of
        self.initial = initial
        self.at_start = at_start
        self.name_of = name_of
        self.current: dict[Block, dict[V, Value]] = {}
        self.sealed: set[Block] = set()
        self.incomplete: dict[Block, dict[V, Value]] = {}
        self.edges: dict[Block, list[tuple[Block, Target]]] = {}
        self.params: dict[Block, list[Value]] = {}  # made here, in order; redundant ones included
        self.incoming: dict[Value, list[Value]] = {}  # per parameter, along self.edges[block]
        self.users: dict[Value, list[Value]] = {}  # parameters that a value flows into
        self.replaced: dict[Value, Value] = {}

    def add_edge(self, source: Block, target: Target) -> None:
        """Tell that control flows from the end of `source` along `target`."""
        assert target.block not in self.sealed, target.block
        self.edges.setdefault(target.block, []).append((source, target))

    def write(self, block: Block, variable: V, value: Value) -> None:
        self.current.setdefault(block, {})[variable] = value

    def read(self, block: Block, variable: V) -> Value:
        """The value of `variable` at the end of what has been emitted into `block`."""
        work: list[tuple[Block, V, Value]] = []
        value = self._find(block, variable, work)
        if work:
            self._complete(work)
        return self.resolve(value)

    def _find(self, block: Block, variable: V, work: list[tuple[Block, V, Value]]) -> Value:
        """The value, perhaps a new parameter: `work` then tells whose arguments are to be found.

        Neither this nor `_complete` recurses along the control flow: some functions have thousands of blocks.
        """
        chain: dict[Block, None] = {}  # blocks with one predecessor
        while True:
            known = self.current.setdefault(block, {}).get(variable)
            if known is not None:
                value = self.resolve(known)
                break
            told = self.at_start(block, variable) if self.at_start is not None else None
            if told is not None:
                value = told
                self.write(block, variable, value)
                break
            edges = self.edges.get(block, [])
            if (
                block not in self.sealed or len(edges) != 1 or block in chain
            ):  # in the chain: a cycle that nothing enters
                value = self._begin(block, variable, len(edges), work)
                break
            chain[block] = None
            block = edges[0][0]
        for b in chain:
            self.write(b, variable, value)
        return value

    def _begin(self, block: Block, variable: V, edges: int, work: list[tuple[Block, V, Value]]) -> Value:
        """A block that does not know the variable, and cannot ask one predecessor: a parameter, or the initial value."""
        sealed = block in self.sealed
        if sealed and edges == 0:
            if self.initial is None:
                raise KeyError(variable)
            value = self.initial(variable)
            self.write(block, variable, value)
            return value
        if sealed and edges > 1:
            return self._meet(block, variable, work)
        return self._parameter(block, variable, work)

    def _parameter(self, block: Block, variable: V, work: list[tuple[Block, V, Value]]) -> Value:
        param = Value(self.type_of(variable), self.name_of(variable))
        self.params.setdefault(block, []).append(param)
        self.write(block, variable, param)
        if block in self.sealed:
            work.append((block, variable, param))
        else:
            self.incomplete.setdefault(block, {})[variable] = param
        return param

    def _meet(self, block: Block, variable: V, work: list[tuple[Block, V, Value]]) -> Value:
        """The value in a block of several edges. If it is one on all ways into it, then no parameters are made to be found redundant,
        which is what would happen to most where many variables pass many blocks. Else all blocks on these ways get to know it at
        once, so that none of them is gone through again."""
        between = [block]
        seen = {block}
        found: list[Value] = []
        for b in between:
            for source, _ in self.edges[b]:
                if source in seen:
                    continue
                seen.add(source)
                value = self.current.setdefault(source, {}).get(variable)
                if value is None and self.at_start is not None:
                    value = self.at_start(source, variable)
                    if value is not None:
                        self.write(source, variable, value)
                if value is None and source in self.sealed and self.edges.get(source):
                    between.append(source)
                    continue
                if value is None:
                    value = self._begin(source, variable, 0, work)
                value = self.resolve(value)
                if not found or not _same_value(value, found[0]):
                    found.append(value)
        if len(found) == 1:
            for b in between:
                self.write(b, variable, found[0])
            return found[0]
        for b in self._sources_first(block, set(between)):
            values = [self.current[source].get(variable) for source, _ in self.edges[b]]
            first = values[0]
            if first is not None and all(v is not None and _same_value(v, first) for v in values):
                self.write(b, variable, first)
            else:  # (None: on a way around a loop)
                self._parameter(b, variable, work)
        return self.current[block][variable]

    def _sources_first(self, block: Block, among: set[Block]) -> list[Block]:
        """These blocks, all of which lead to `block`, each behind its sources but for those around a loop."""
        order: list[Block] = []
        among.discard(block)
        stack = [(block, iter(self.edges[block]))]
        while stack:
            b, rest = stack[-1]
            for source, _ in rest:
                if source in among:
                    among.discard(source)
                    stack.append((source, iter(self.edges[source])))
                    break
            else:
                order.append(b)
                stack.pop()
        return order

    def seal(self, block: Block) -> None:
        """All edges into `block` are known from now on."""
        assert block not in self.sealed, block
        self.sealed.add(block)
        incomplete = self.incomplete.pop(block, None)
        if incomplete:
            self._complete([(block, variable, param) for variable, param in incomplete.items()])

    def _complete(self, work: list[tuple[Block, V, Value]]) -> None:
        """Find what is passed for new parameters, and for those that this makes."""
        made: list[Value] = []
        while work:
            block, variable, param = work.pop()
            incoming: list[Value] = []
            for source, _ in self.edges.get(block, []):
                value = self._find(source, variable, work)
                incoming.append(value)
                self.users.setdefault(value, []).append(param)
            self.incoming[param] = incoming
            made.append(param)
        for param in reversed(made):
            self._remove_redundant(param)

    def _remove_redundant(self, param: Value) -> None:
        work = [param]
        while work:
            p = work.pop()
            if p in self.replaced or p not in self.incoming:
                continue
            only: Value | None = None
            for value in map(self.resolve, self.incoming[p]):
                if value is p or (only is not None and _same_value(value, only)):
                    continue
                if only is not None:
                    break
                only = value
            else:
                if only is None:  # a loop that cannot be reached, or a variable never assigned
                    continue
                if len(self.incoming[p]) == 0:
                    continue
                self.replaced[p] = only
                users = self.users.pop(p, [])
                self.users.setdefault(only, []).extend(users)
                work.extend(users)

    def resolve(self, value: Value) -> Value:
        """What stands for `value` now, if it was a redundant parameter."""
        path = []
        while value in self.replaced:
            path.append(value)
            value = self.replaced[value]
        for v in path:
            self.replaced[v] = value
        return value

    def replace(self, substitute: Callable[[Value], Value]) -> None:
        """Substitute values that were written: where placeholders have got their meaning."""
        for values in self.incoming.values():
            values[:] = map(substitute, values)
        self.replaced = {p: substitute(v) for p, v in self.replaced.items()}

    def finish(self, blocks: list[Block], zeros: bool = False) -> None:
        """Add the parameters and arguments, and rewrite uses of redundant parameters in `blocks`. Call once.

        With `zeros`, arithmetic in `blocks` whose operands turn out to be literally zero folds, as is right for
        cotangents: 0 + d is d, 0 * x is 0.  This also finds cycles of parameters that only pass zeros around.
        """
        self._merge(blocks if zeros else [])
        for block, params in self.params.items():
            for param in params:
                if param in self.replaced:
                    continue
                block.params.append(param)
                values = self.incoming.get(param, [])
                for (_, target), value in zip(self.edges.get(block, []), values, strict=True):
                    target.args.append(self.resolve(value))
        for block in blocks:
            for instr in block.instrs:
                map_uses(instr, self.resolve)
            if block.handler is not None:
                block.handler.args[:] = [self.resolve(v) for v in block.handler.args]

    def _merge(self, blocks: list[Block]) -> None:
        """Find parameters that only ever have one value, optimistically, so that cycles of them are found too.

        `found[v]` is what `v` was seen to be so far; absent means not seen yet (top), `v` itself that it varies.
        """
        found: dict[Value, Value] = {}
        constants: dict[Hashable, Const] = {}

        def one(v: Value) -> Value:
            """The value itself; of constants that are the same, one."""
            v = self.resolve(v)
            return constants.setdefault(_constant_key(v), v) if isinstance(v, Const) else v

        params = [p for group in self.params.values() for p in group if p not in self.replaced and p in self.incoming]
        arithmetic = [i for b in blocks for i in b.instrs if i.op in _ZERO_FOLDS]
        nodes: dict[Value, tuple[Instr | None, list[Value]]] = {
            p: (None, list(map(one, self.incoming[p]))) for p in params
        }
        nodes.update((i.results[0], (i, list(map(one, i.operands)))) for i in arithmetic)
        users: dict[Value, list[Value]] = {}
        for node, (_, values) in nodes.items():
            for v in values:
                if v in nodes:
                    users.setdefault(v, []).append(node)
        work = deque(nodes)
        waiting = set(nodes)
        while work:
            node = work.popleft()
            waiting.discard(node)
            if found.get(node) is node:
                continue
            instr, values = nodes[node]
            now = [found.get(v) if v in nodes else v for v in values]
            new = _one_of(node, now) if instr is None else _fold_zero(instr, now)
            if isinstance(new, Const):
                new = one(new)
            if new is None or found.get(node) is new:
                continue
            # once a parameter changes its mind it varies: going down the lattice only
            found[node] = new if node not in found else node
            for user in users.get(node, ()):
                if user not in waiting:
                    waiting.add(user)
                    work.append(user)
        for v, s in found.items():
            if s is not v:
                self.replaced[v] = s
        for i in arithmetic:
            r = i.results[0]
            if found.get(r) is r:
                new = _fold_zero(i, [self.resolve(v) for v in i.operands])
                if new is not None and new is not r:
                    self.replaced[r] = new
        if arithmetic:
            for b in blocks:
                b.instrs[:] = [i for i in b.instrs if i.op not in _ZERO_FOLDS or i.results[0] not in self.replaced]


_ZERO_FOLDS = frozenset({"add", "sub", "mul", "div", "neg", "cast"})


def _fold_zero(instr: Instr, operands: list[Value | None]) -> Value | None:
    """What `instr` gives if zeros among its operands decide; itself if they don't; None if an operand is not known."""
    result = instr.results[0]
    if any(v is None for v in operands):
        return None
    floating = isinstance(result.type, Scalar) and result.type.kind == "f"
    zero = [floating and isinstance(v, Const) and v.value == 0 for v in operands]
    if not any(zero):
        return result
    if instr.op == "add":
        return operands[1] if zero[0] else operands[0]
    if instr.op == "sub":
        return operands[0] if zero[1] else result
    if instr.op == "div":
        return operands[0] if zero[0] else result
    return const(0.0, result.type)


def _one_of(parameter: Value, values: list[Value | None]) -> Value | None:
    """The one value of a parameter, itself if there are several, None if none is known yet."""
    known = None
    for v in values:
        if v is not None and v is not known:
            if known is not None:
                return parameter
            known = v
    return known


def _same_value(a: Value, b: Value) -> bool:
    return a is b or isinstance(a, Const) and isinstance(b, Const) and _constant_key(a) == _constant_key(b)


_WRITTEN_OUT = frozenset({bool, int, float, complex, str, bytes, tuple, type(None)})


def _constant_key(v: Const) -> Hashable:
    """Equal for constants that cannot be told apart: 0.0 and -0.0 can."""
    kind = type(v.value)
    return (v.type, kind, repr(v.value) if kind in _WRITTEN_OUT else id(v.value))
