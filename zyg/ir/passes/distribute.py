"""Split loops that add cotangents to neighbouring elements, so that the reverse of a stencil vectorises.

Input: any function, best after everything else.  The loops in question are innermost, count down to 0 and have one path
through their body, as the adjoint pass makes them; in them a value `t` is added to elements of a shadow at several
places that differ by constants:

    for k = n .. 1:   t = ...;  accum s, t, i, k+1;  accum s, t, i, k-1;  accum s, t, i+1, k

Each iteration reads what the one before it wrote, so that nothing runs side by side.  But cotangents are sums, in
whatever order (only accums with attrs["cotangent"] are touched; other code keeps its results bit by bit), and indices
that differ by a constant never meet.  Output: an accum whose element is not looked at again in the loop is *sunk*: its
value goes to a buffer, and a loop of its own gathers from there,

    for q:   accum s, buffer[q] + buffer[q+2], i, q;  accum s, buffer[q+1], i+1, q

over the range of all offsets, with zeros in the buffer on both sides.  Its iterations are independent, which the attribute
"parallel" of the jump back tells to the back end.  This is done for strips of iterations, so that the buffer stays small.
An accum whose element is taken (loaded, and then stored to) a few iterations later, as in the reverse of a Gauss-Seidel
sweep, is *carried*: its value goes there in registers.  Loops of few iterations run as they were.

Before that, in every block, `d = load e; store e, 0; ... accum e, d` is reduced to the load (the reverse of e += x), and
`store e, 0; ... accum e, x` to a store.

Invariant: results agree up to the order of sums of cotangents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ..analysis import Loops, definitions
from ..builder import Builder
from ..core import Block, Const, Function, Instr, Target, Value, clone_blocks, const, uses
from ..ops import OPS
from ..types import I64, Array, Scalar
from .rewriting import substitute

STRIP = 512  # iterations between two gatherings: a buffer of 4 KB
FEWEST = 8  # iterations; loops of fewer are left as they were
WIDEST = 8  # between the offsets of a group, at most
LONGEST = 4  # iterations that a carried value is under way, at most; not more than FEWEST
BUFFERS = 8  # per loop
_DEPTH = 16  # of additions that make up an index
_PENDING = 16  # stores of zero that are watched at once

# What may stand in a loop besides accesses to arrays: nothing that looks at arrays, nothing that stops half-way.
_HARMLESS = frozenset(name for name, op in OPS.items() if op.effects == "pure" and op.level == "machine") | {"pop", "push"}
_ACCESSES = frozenset({"load", "store", "accum"})


def run(function: Function) -> bool:
    blocks = [b for b in function.blocks if any(i.op == "accum" and "cotangent" in i.attrs for i in b.instrs)]
    if not blocks or any(b.handler is not None for b in function.blocks):
        return False
    memory = _Memory(function)
    changed = False
    for block in blocks:
        changed |= _cancel(block, memory)
    predecessors = function.predecessors()
    plans = [plan for block in blocks if (plan := _plan(block, memory, predecessors)) is not None]
    if plans:
        loops = Loops(function)  # none of them changes what the others are about
        buffers = _Buffers(function, loops)
        for plan in plans:
            _Splitting(function, plan, buffers).run()
    return changed or bool(plans)


# --------------------------------------------------------------------------------------------------- places

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


class _Memory:
    """Where accesses go, and which memory is distinct."""

    def __init__(self, function: Function):
        self.made = {r: i for b in function.blocks for i in b.instrs for r in i.results}
        self.noalias = bool(function.attrs.get("noalias"))
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
                return _plus(x, y, 1 if instr.op == "add" else -1)
            if instr.op == "neg":
                return _plus(Linear(frozenset(), 0), self.form(operands[0], depth + 1), -1)
        return Linear(frozenset({(value, 1)}), 0)

    def place(self, instr: Instr) -> Place:
        """Of a load, store or accum."""
        array, *indices = instr.operands if instr.op == "load" else [instr.operands[0], *instr.operands[2:]]
        forms = [self.form(v) for v in indices]
        while (view := self.made.get(array)) is not None and view.op == "view":
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
            else:
                start, _, step = next(operands), next(operands), next(operands)
                if not isinstance(step, Const) or step.value != 1:
                    return None
                outer.append(_plus(self.form(start), next(inner), 1))
        return outer

    def owner(self, root: Value) -> Value | None:
        """The alloc (or parameter) that the memory belongs to; None if that is not known."""
        while True:
            instr = self.made.get(root)
            if instr is None:
                return root if root in self.params else None
            if instr.op == "alloc":
                return root
            if instr.op not in ("view", "reshape"):
                return None
            root = instr.operands[0]

    def distinct(self, a: Value, b: Value) -> bool:
        """Whether two arrays have no memory in common."""
        if a is b:
            return False
        x, y = self.owner(a), self.owner(b)
        if x is None or y is None or x is y:
            return False
        return self.noalias or not (x in self.params and y in self.params)

    def proper(self, root: Value) -> bool:
        """Whether different indices are different memory: not so where strides may be 0, in an array from outside."""
        assert isinstance(root.type, Array)
        if root.type.layout == "C":
            return True
        owner = self.owner(root)
        return owner is not None and owner not in self.params


def _plus(x: Linear, y: Linear, factor: int) -> Linear:
    constant = x.constant + factor * y.constant
    if not y.terms:
        return Linear(x.terms, constant)
    terms = dict(x.terms)
    for value, coefficient in y.terms:
        terms[value] = terms.get(value, 0) + factor * coefficient
    return Linear(frozenset((v, c) for v, c in terms.items() if c), constant)


# ------------------------------------------------------------------------------------------- cancelling pairs


def _cancel(block: Block, memory: _Memory) -> bool:
    """`store e, 0` before `accum e, x`, with nothing between that could see e, is `store e, x`; or nothing at all,
    where x was in e before."""
    pending: dict[Place, tuple[Instr, Instr | None]] = {}  # per element: the store of zero, the load before it
    loaded: dict[Place, Instr] = {}
    removed: set[int] = set()
    changed = False

    def forget(place: Place, known: dict[Place, object]) -> None:
        for other in [p for p in known if not _apart(place, p, memory)]:
            del known[other]

    for instr in block.instrs:
        if instr.op not in _ACCESSES:
            if instr.op not in _HARMLESS:
                pending.clear()
                loaded.clear()
            continue
        place = memory.place(instr)
        before = loaded.get(place)
        if instr.op == "accum" and "cotangent" in instr.attrs and place in pending:
            store, load = pending[place]
            removed.add(id(store))
            if load is not None and instr.operands[1] is load.result:
                removed.add(id(instr))
            else:
                instr.op = "store"
                del instr.attrs["cotangent"]
            changed = True
        forget(place, pending)  # type: ignore[arg-type]
        if instr.op == "load":
            if len(loaded) < _PENDING:
                loaded[place] = instr
            continue
        forget(place, loaded)  # type: ignore[arg-type]
        if instr.op == "store" and _is_zero(instr.operands[1]) and len(pending) < _PENDING and memory.proper(place.root):
            pending[place] = instr, before
    if removed:
        block.instrs[:] = [i for i in block.instrs if id(i) not in removed]
    return changed


def _is_zero(v: Value) -> bool:
    return isinstance(v, Const) and v.value == 0


def _apart(a: Place, b: Place, memory: _Memory) -> bool:
    """Whether two elements, at the same time, are certainly different ones."""
    if a.root is not b.root:
        return memory.distinct(a.root, b.root)
    if not memory.proper(a.root):
        return False
    return any(x == y and c != d for x, y, c, d in zip(a.terms, b.terms, a.constants, b.constants))


# --------------------------------------------------------------------------------------- what can be moved where


@dataclass
class Access:
    """A load, store or accum in the body of a loop.

    row: for an accum that may move, the place without the counter; `place.constants[-1] * sign` is its offset then: in
    the iteration with counter k it goes to the element `sign * (k + offset)` of its row.
    """

    instr: Instr
    number: int  # in the body
    place: Place
    sign: int = 0

    @property
    def cotangent(self) -> bool:
        return self.instr.op == "accum" and "cotangent" in self.instr.attrs

    @property
    def value(self) -> Value:
        return self.instr.operands[1]

    @property
    def offset(self) -> int:
        return self.sign * self.place.constants[-1]


@dataclass
class Carried:
    """Values of accums, all to one place, that `load` takes `distance` iterations later."""

    place: Access
    values: list[Value]
    load: Instr
    distance: int


@dataclass
class Plan:
    """What to do with one loop: its blocks, its counter, and the accums that move."""

    header: Block
    body: Block
    counter: Value
    entering: list[Target]
    memory: _Memory
    sunk: list[Access] = field(default_factory=list)
    carried: list[Carried] = field(default_factory=list)

    @property
    def exit(self) -> Target:
        return self.header.instrs[-1].targets[0]

    def values(self) -> list[Value]:
        """What needs buffers."""
        return list(dict.fromkeys(a.value for a in self.sunk))


def _plan(body: Block, memory: _Memory, predecessors: dict[Block, list[tuple[Block, Target]]]) -> Plan | None:
    loop = _loop(body, memory, predecessors)
    if loop is None:
        return None
    inside = {*loop.header.params, *(r for b in (loop.header, body) for i in b.instrs for r in i.results)}
    accesses: list[Access] = []
    for number, instr in enumerate(body.instrs[:-1]):
        if instr.op in _ACCESSES:
            access = Access(instr, number, memory.place(instr))
            if access.cotangent:
                access.sign = _sign(access.place, loop.counter, inside, memory)
            accesses.append(access)
        elif instr.op not in _HARMLESS:
            return None
    dependences = _Dependences(loop.counter, inside, memory, accesses)
    roots = dict.fromkeys(a.place.root for a in accesses if a.cotangent)
    for root in roots:
        _decide(loop, root, dependences)
    if len(loop.values()) > BUFFERS:
        return None
    return loop if loop.sunk or loop.carried else None


def _loop(body: Block, memory: _Memory, predecessors: dict[Block, list[tuple[Block, Target]]]) -> Plan | None:
    """The loop of which this is the body, if it is `header(.., k, ..): branch (eq k, 0), exit, body` and k goes down."""
    latch = body.instrs[-1]
    if latch.op != "jump" or body.params or len(predecessors[body]) != 1:
        return None
    header = latch.targets[0].block
    if len(header.instrs) != 2 or predecessors[body][0][0] is not header:
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
    entering = [t for b, t in predecessors[header] if b is not body]
    if all(isinstance(t.args[n], Const) and t.args[n].value < FEWEST for t in entering):  # type: ignore[attr-defined]
        return None
    return Plan(header, body, counter, entering, memory)


def _sign(place: Place, counter: Value, inside: set[Value], memory: _Memory) -> int:
    """1 or -1 if the last index goes with the counter or against it, and all else stays the same in the loop; else 0."""
    if place.root in inside or not place.terms or not memory.proper(place.root):
        return 0
    *others, last = place.terms
    coefficient = dict(last).get(counter, 0)
    if any(v in inside for terms in others for v, _ in terms) or any(v in inside for v, _ in last if v is not counter):
        return 0
    return coefficient if coefficient in (1, -1) else 0


class _Dependences:
    """When accesses of one loop meet."""

    def __init__(self, counter: Value, inside: set[Value], memory: _Memory, accesses: list[Access]):
        self.counter = counter
        self.inside = inside
        self.memory = memory
        self.accesses = accesses

    def later(self, accum: Access, other: Access) -> int | None | str:
        """How many iterations after `accum` the other comes to the same element: "never", or None if unknown."""
        a, b = accum.place, other.place
        if a.root is not b.root:
            return "never" if self.memory.distinct(a.root, b.root) else None
        result: int | None = None
        known = True
        for x, y, c, d in zip(a.terms, b.terms, a.constants, b.constants):
            if x != y or any(v in self.inside and v is not self.counter for v, _ in x):
                known = False
            elif (self.counter, accum.sign) in x:
                result = accum.sign * (d - c)
            elif c != d:
                return "never"
        return result if known else None


def _decide(plan: Plan, root: Value, dependences: _Dependences) -> None:
    """Sink or carry all accums to the array that go along with the counter, or none if one has to stay."""
    accesses = [a for a in dependences.accesses if a.place.root is root]
    accums = [a for a in accesses if a.cotangent and not _fixed(a, dependences.inside)]
    if not accums or not all(a.sign for a in accums):
        return
    sunk: list[Access] = []
    carried: dict[Place, Carried] = {}
    # All that looks at memory, or sets it. What adds to it may come in any order.
    others = [a for a in dependences.accesses if not a.cotangent]
    for accum in accums:
        later = [(dependences.later(accum, other), other) for other in others]
        if any(when is None for when, _ in later):
            return
        coming = [
            (when, other)
            for when, other in later
            if isinstance(when, int) and (when > 0 or (when == 0 and other.number > accum.number))
        ]
        if not coming:
            sunk.append(accum)
            continue
        taken = _taken(coming)
        if taken is None:
            return
        load, distance = taken
        if accum.place in carried:
            carried[accum.place].values.append(accum.value)
        else:
            carried[accum.place] = Carried(accum, [accum.value], load, distance)
    if not carried and len({a.place for a in sunk}) < 2:
        return
    if len({a.place for a in sunk}) == 1 and not _crossed(sunk[0], accesses):
        sunk = []
    for members in _groups(sunk).values():
        offsets = [a.offset for a in members]
        if max(offsets) - min(offsets) > WIDEST:
            return
    plan.sunk += sunk
    plan.carried += carried.values()


def _fixed(access: Access, inside: set[Value]) -> bool:
    """Whether it is the same element in all iterations."""
    return not any(v in inside for terms in access.place.terms for v, _ in terms)


def _crossed(accum: Access, accesses: list[Access]) -> bool:
    return any(a.place != accum.place for a in accesses if not a.cotangent)


def _taken(coming: list[tuple[int, Access]]) -> tuple[Instr, int] | None:
    """(load, distance) if the next thing that happens to the element is that it is loaded, and then stored to."""
    coming = sorted(coming, key=lambda c: (c[0], c[1].number))
    if len(coming) < 2:
        return None
    (first, load), (second, store) = coming[:2]
    if load.instr.op != "load" or store.instr.op != "store" or first != second or not 0 < first <= LONGEST:
        return None
    return load.instr, first


def _groups(sunk: list[Access]) -> dict[tuple[Value, Terms], list[Access]]:
    """Accums to rows of one array in which the counter means the same: the range that one of them reaches is in bounds
    for all."""
    groups: dict[tuple[Value, Terms], list[Access]] = {}
    for access in sunk:
        groups.setdefault((access.place.root, access.place.terms[-1]), []).append(access)
    return groups


# ------------------------------------------------------------------------------------------------- splitting


class _Buffers:
    """Buffers, shared by the loops of a function: each is empty again when its loop is through with a strip."""

    def __init__(self, function: Function, loops: Loops):
        self.function = function
        self.loops = loops
        self.made: dict[tuple[Block, Scalar], list[Value]] = {}

    def get(self, header: Block, type: Scalar, number: int) -> Value:
        """Buffer `number` of this type; it is made before all loops."""
        home = self.loops.dominators.immediate[header]
        while home is not None and home in self.loops.of:
            home = self.loops.dominators.immediate[home]
        assert home is not None, "the entry is in no loop"
        made = self.made.setdefault((home, type), [])
        while number >= len(made):
            buffer = Value(Array(type, 1, "C"), "strip")
            home.instrs.insert(-1, Instr("alloc", [const(STRIP + 2 * WIDEST)], [buffer], {"fill": "empty"}))
            made.append(buffer)
        return made[number]


class _Splitting:
    """Carries out one plan.  With the loop's parameters p, of which k is its counter:

    choose(p):   few iterations: original loop, then after(p); else strips(p, 0.0 ..)
    strips(p, r): if k is 0: done; else strip
    strip:       stop = max(k - STRIP, 0); zeros beside the buffers; header(p, r)
    header(p, r): if k is stop: gather; else body
    body:        as it was, but values go to buffers and registers r; header(..)
    gather:      a loop per group of rows; strips(p, r)
    done:        what is left in registers goes to its place; after(p)
    after(p):    what came after the loop
    """

    def __init__(self, function: Function, plan: Plan, buffers: _Buffers):
        self.function = function
        self.plan = plan
        self.b = Builder(function)
        self.b.position = plan.body.instrs[-1].position
        types: dict[Scalar, int] = {}
        self.buffers: dict[Value, Value] = {}
        for value in plan.values():
            assert isinstance(value.type, Scalar)
            number = types.get(value.type, 0)
            types[value.type] = number + 1
            self.buffers[value] = buffers.get(plan.header, value.type, number)
        offsets = [[a.offset for a in members] for members in _groups(plan.sunk).values()]
        self.pad = max((max(o) - min(o) for o in offsets), default=0)
        self.blocks: list[Block] = []  # new ones, in order

    def run(self) -> None:
        plan, b = self.plan, self.b
        header, body, counter = plan.header, plan.body, plan.counter
        n = header.params.index(counter)
        original = clone_blocks([header, body], {}, lambda name: f"{name}.few")
        after = self.after(original)

        choose = self.block("choose", header.params)
        strips = self.block("strips", header.params)
        strip = self.block("strip")
        registers = self.carry()
        strips.params += [Value(r.type, r.name) for r in registers]
        for target in plan.entering:
            target.block = choose

        b.at(choose)
        few = b.op("lt", choose.params[n], const(FEWEST))
        zeros = [const(0.0, r.type) for r in registers]
        b.branch(few, original[0], strips, choose.params, [*choose.params, *zeros])

        done = self.block("done")
        b.at(strips)
        k = strips.params[n]
        b.branch(b.op("eq", k, const(0)), done, strip)

        b.at(strip)
        length = b.op("select", b.op("lt", k, const(STRIP)), k, const(STRIP))
        stop = b.op("sub", k, length, name="stop", nsw=True)
        for value, buffer in self.buffers.items():
            zero = const(0.0, value.type)
            for p in range(self.pad):
                b.emit("store", buffer, zero, const(p))
            for p in range(self.pad):
                b.emit("store", buffer, zero, b.op("add", length, const(self.pad + p), nsw=True))
        b.jump(header, *strips.params)

        gather = self.block("gather")
        header.instrs[0] = Instr("eq", [counter, stop], header.instrs[0].results, {}, [], header.instrs[0].position)
        header.instrs[-1].targets[0] = Target(gather)
        self.fill(stop)

        b.at(gather)
        for members in _groups(plan.sunk).values():
            self.gather(members, stop, length)
        b.jump(strips, *header.params)

        b.at(done)
        self.empty(strips.params[len(strips.params) - len(registers) :])
        where = {p: v for p, v in zip(header.params, strips.params)}
        b.jump(after, *[where[p] for p in self.outside])
        blocks = self.function.blocks
        at = blocks.index(header)
        blocks[at:at] = self.blocks[:3]
        at = blocks.index(body) + 1
        blocks[at:at] = [*self.blocks[3:], *original, after]

    def block(self, name: str, params: list[Value] | None = None) -> Block:
        block = Block(f"{self.plan.header.name}.{name}", [Value(p.type, p.name) for p in params or []])
        self.blocks.append(block)
        return block

    def after(self, original: list[Block]) -> Block:
        """A block in which the two versions meet; it takes what is used of the loop's parameters later."""
        header, body = self.plan.header, self.plan.body
        params = set(header.params)
        used = set(self.plan.exit.args) & params
        for block in self.function.blocks:
            if block is not header and block is not body:
                for instr in block.instrs:
                    used.update(v for v in uses(instr) if v in params)
        self.outside = [p for p in header.params if p in used]
        after = Block(f"{header.name}.after", [Value(p.type, p.name) for p in self.outside])
        where = dict(zip(self.outside, after.params))
        for block in self.function.blocks:
            if block is not header and block is not body:
                for instr in block.instrs:
                    substitute(instr, where)
        exit = self.plan.exit
        after.instrs.append(Instr("jump", targets=[Target(exit.block, [where.get(v, v) for v in exit.args])],
                                  position=header.instrs[-1].position))  # fmt: skip
        index = {p: k for k, p in enumerate(header.params)}
        mine = original[0].params
        original[0].instrs[-1].targets[0] = Target(after, [mine[index[p]] for p in self.outside])
        return after

    def carry(self) -> list[Value]:
        """Registers for what is carried, the newest value first; the loads that take it add it."""
        header, body = self.plan.header, self.plan.body
        b = self.b
        registers: list[Value] = []
        following: list[Value] = []
        taken: dict[Value, Value] = {}
        for carried in self.plan.carried:
            load = carried.load
            mine = [Value(load.result.type, "carried") for _ in range(carried.distance)]
            b.at(Block("sum"))
            total = carried.values[0]
            for value in carried.values[1:]:
                total = b.op("add", total, value)
            body.instrs[-1:-1] = b.block.instrs  # type: ignore[union-attr]
            registers += mine
            following += [total, *mine[:-1]]
            before = taken.get(load.result, load.result)
            sum = Value(load.result.type, load.result.name)
            at = next(k for k, i in enumerate(body.instrs) if i is load or before in i.results)
            body.instrs.insert(at + 1, Instr("add", [before, mine[-1]], [sum], {}, [], load.position))
            taken[load.result] = sum
        if taken:
            sums = {id(i) for i in body.instrs if i.op == "add" and i.operands[1] in registers}
            for instr in body.instrs:
                if id(instr) not in sums:
                    substitute(instr, taken)
            following = [taken.get(v, v) for v in following]
            self.taken = taken
        header.params += registers
        body.instrs[-1].targets[0].args += following
        return registers

    def fill(self, stop: Value) -> None:
        """In the body: values go to their buffers instead of to memory."""
        plan, b = self.plan, self.b
        gone = {id(a.instr) for a in plan.sunk} | {id(c.place.instr) for c in plan.carried}
        raise NotImplementedError


__all__ = ["run"]
