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

over the range of all offsets, with zeros in the buffer on both sides.  Its iterations are independent, which the
attribute "parallel" of its branch tells to the back end.  This is done for strips of iterations, so that the buffer
stays small.  An accum whose element is taken (loaded, and then stored to) a few iterations later, as in the reverse of
a Gauss-Seidel sweep, is *carried*: its value goes there in a register.  The loop as it was stays for few iterations,
and for arrays that turn out to overlap.

Before that, in every block, `d = load e; store e, 0; ... accum e, d` is reduced to the load (the reverse of e += x),
and `store e, 0; ... accum e, x` to a store.

Invariant: results agree up to the order of sums of cotangents.
"""

from __future__ import annotations

from typing import Any

from ..analysis import Loops
from ..builder import Builder
from ..core import Block, Const, Function, Instr, Target, Value, clone_blocks, const, uses
from ..ops import OPS
from ..records import field, record
from ..types import I64, Array, Scalar
from .places import Memory, Place, Terms, countdown, sign_of
from .rewriting import substitute

STRIP = 512  # iterations between two gatherings: a buffer of 4 KB
FEWEST = 24  # iterations that make up for the buffers; for fewer there is the loop as it was
WIDEST = 8  # between the offsets of a group, at most
LONGEST = 4  # iterations that a carried value is under way, at most; not more than FEWEST
BUFFERS = 8  # per loop
PAIRS = 4  # of arrays per loop that are tested for having no memory in common
_PENDING = 16  # stores of zero that are watched at once

# What may stand in a loop besides accesses to arrays: nothing that looks at arrays, nothing that stops half-way.
_PURE = frozenset(name for name, op in OPS.items() if op.effects == "pure" and op.level == "machine")
_HARMLESS = _PURE | {"pop", "push"}
_ACCESSES = frozenset({"load", "store", "accum"})


def run(function: Function) -> bool:
    blocks = [b for b in function.blocks if any(i.op == "accum" and "cotangent" in i.attrs for i in b.instrs)]
    if not blocks or any(b.handler is not None for b in function.blocks):
        return False
    memory, predecessors = Memory(function), function.predecessors()
    buffers: _Buffers | None = None
    changed = False
    for block in blocks:
        changed |= _cancel(block, memory)
        plan = _plan(block, memory, predecessors)
        if plan is not None:
            buffers = buffers or _Buffers(Loops(function))
            _Splitting(function, plan, buffers).run()
            memory, predecessors = Memory(function), function.predecessors()
            changed = True
    return changed


# ------------------------------------------------------------------------------------------- cancelling pairs


def _cancel(block: Block, memory: Memory) -> bool:
    """`store e, 0` before `accum e, x`, with nothing between that could see e, is `store e, x`; or nothing at all,
    where x was in e before."""
    pending: dict[Place, tuple[Instr, Instr | None]] = {}  # per element: the store of zero, the load before it
    loaded: dict[Place, Instr] = {}
    removed: set[int] = set()
    changed = False

    def forget(place: Place, known: dict[Place, Any]) -> None:
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
        forget(place, pending)
        if instr.op == "load":
            if len(loaded) < _PENDING:
                loaded[place] = instr
            continue
        forget(place, loaded)
        zeroed = instr.op == "store" and _is_zero(instr.operands[1])
        if zeroed and len(pending) < _PENDING and memory.proper(place.root):
            pending[place] = instr, before
    if removed:
        block.instrs[:] = [i for i in block.instrs if id(i) not in removed]
    return changed


def _is_zero(v: Value) -> bool:
    return isinstance(v, Const) and v.value == 0


def _apart(a: Place, b: Place, memory: Memory) -> bool:
    """Whether two elements, at the same time, are certainly different ones."""
    if a.root is not b.root:
        return memory.distinct(a.root, b.root)
    if not memory.proper(a.root):
        return False
    return any(x == y and c != d for x, y, c, d in zip(a.terms, b.terms, a.constants, b.constants))


# --------------------------------------------------------------------------------------- what can be moved where


@record
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


@record
class Carried:
    """Accums to one place whose values `load` takes `distance` iterations later."""

    accums: list[Access]
    load: Instr
    distance: int


@record
class Plan:
    """What to do with one loop: its blocks, its counter, and the accums that move."""

    header: Block
    body: Block
    counter: Value
    entering: list[Target]
    memory: Memory
    apart: list[tuple[Value, Value]] = field(default_factory=list)  # taken to be different memory, to be tested
    sunk: list[Access] = field(default_factory=list)
    carried: list[Carried] = field(default_factory=list)

    @property
    def exit(self) -> Target:
        return self.header.instrs[-1].targets[0]

    def values(self) -> list[Value]:
        """What goes to buffers."""
        return list(dict.fromkeys(a.value for a in self.sunk))


def _plan(body: Block, memory: Memory, predecessors: dict[Block, list[tuple[Block, Target]]]) -> Plan | None:
    found = countdown(body, memory, predecessors)
    if found is None or all(isinstance(start, Const) and start.value < FEWEST for start in found.starts):
        return None
    loop = Plan(found.header, body, found.counter, found.entering, memory)
    inside = {*loop.header.params, *(r for b in (loop.header, body) for i in b.instrs for r in i.results)}
    accesses: list[Access] = []
    for number, instr in enumerate(body.instrs[:-1]):
        if instr.op in _ACCESSES:
            access = Access(instr, number, memory.place(instr))
            if access.cotangent:
                access.sign = sign_of(access.place, loop.counter, inside, memory)
            accesses.append(access)
        elif instr.op not in _HARMLESS:
            return None
    dependences = _Dependences(loop.counter, inside, memory, accesses)
    roots = dict.fromkeys(a.place.root for a in accesses if a.cotangent)
    for root in roots:
        _decide(loop, root, dependences)
    if len(loop.values()) > BUFFERS or len(loop.apart) > PAIRS:
        return None
    return loop if loop.sunk or loop.carried else None


class _Dependences:
    """When accesses of one loop meet."""

    def __init__(self, counter: Value, inside: set[Value], memory: Memory, accesses: list[Access]):
        self.counter = counter
        self.inside = inside
        self.memory = memory
        self.accesses = accesses
        self.apart: dict[tuple[Value, Value], None] = {}

    def different(self, a: Value, b: Value) -> bool:
        """Whether two arrays have no memory in common, as far as is known, or as can be tested before the loop."""
        if self.memory.distinct(a, b):
            return True
        x, y = self.memory.owner(a), self.memory.owner(b)
        if (x is y and x is not None) or a in self.inside or b in self.inside:
            return False
        self.apart[a, b] = None
        return True

    def later(self, accum: Access, other: Access) -> int | str | None:
        """How many iterations after `accum` the other comes to the same element: "never", or None if unknown."""
        a, b = accum.place, other.place
        if a.root is not b.root:
            return "never" if self.different(a.root, b.root) else None
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
    dependences.apart = {}
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
        carried.setdefault(accum.place, Carried([], load, distance)).accums.append(accum)
    if not carried and len({a.place for a in sunk}) < 2:
        return
    if carried:  # each iteration waits for the one before anyway: the rest costs nothing where it is
        sunk = []
    for members in _groups(sunk).values():
        offsets = [a.offset for a in members]
        if max(offsets) - min(offsets) > WIDEST:
            return
    plan.apart += dependences.apart
    plan.sunk += sunk
    plan.carried += carried.values()


def _fixed(access: Access, inside: set[Value]) -> bool:
    """Whether it is the same element in all iterations."""
    return not any(v in inside for terms in access.place.terms for v, _ in terms)


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
    """Buffers, shared by the loops of a function: none holds anything between two strips."""

    def __init__(self, loops: Loops):
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
            attrs = {"fill": "empty"}
            position = home.instrs[-1].position
            home.instrs.insert(-1, Instr("alloc", [const(STRIP + 2 * WIDEST)], [buffer], attrs, [], position))
            made.append(buffer)
        return made[number]


class _Splitting:
    """Carries out one plan.  Of a loop with parameters p, of which k is the counter, it makes these blocks:

    choose(p):    for few iterations or overlap the loop as it was, and then after(p); else strips(p, 0.0 ..)
    strips(p, r): done if k is 0, else strip
    strip:        stop = max(k - STRIP, 0); zeros beside what will be in the buffers; header(p, r)
    header(p, r): gather if k is stop, else body
    body:         as it was, but values go to buffers and registers r; header(..)
    gather:       a loop per group of rows; strips(p, r)
    done:         what is left in registers goes to memory; after(p)
    after(p):     what came after the loop

    Where nothing is sunk, there are no strips: choose goes on at header, and header at done.
    """

    def __init__(self, function: Function, plan: Plan, buffers: _Buffers):
        self.function = function
        self.plan = plan
        self.header, self.body = plan.header, plan.body
        self.n = plan.header.params.index(plan.counter)
        self.b = Builder(function)
        self.b.position = plan.body.instrs[-1].position
        self.buffers = buffers
        self.blocks: list[Block] = []  # new ones, in order
        ranges = [[a.offset for a in members] for members in _groups(plan.sunk).values()]
        self.pad = max((max(offsets) - min(offsets) for offsets in ranges), default=0)

    def run(self) -> None:
        header, body, b = self.header, self.body, self.b
        original = clone_blocks([header, body], {}, lambda name: f"{name}.few")
        original[1].instrs[-1].attrs["kept"] = True  # a later run does not try again
        outside = self.params_used_outside()
        after = self.after(original[0], outside)
        choose, done = self.block("choose"), self.block("done")
        choose.params = _copies(header.params)
        for target in self.plan.entering:
            target.block = choose
        registers = self.carry()  # parameters of the header from here on
        start = self.strips(done) if self.plan.sunk else header
        b.at(choose)
        few = b.op("lt", choose.params[self.n], const(FEWEST if self.plan.sunk else LONGEST))
        for pair in dict.fromkeys(self.plan.apart):
            few = b.op("or", few, b.op("overlap", *pair))
        zeros = [const(0.0, r.type) for r in registers]
        b.branch(few, original[0], start, choose.params, [*choose.params, *zeros])

        if start is header:
            header.instrs[1].targets[0] = Target(done)
        b.at(done)
        self.empty(start.params[len(start.params) - len(registers) :])
        b.jump(after, *[start.params[header.params.index(p)] for p in outside])

        blocks = self.function.blocks
        at = blocks.index(header)
        blocks[at:at] = [choose, *original, *self.blocks[2:4]]
        at = blocks.index(body) + 1
        blocks[at:at] = [*self.blocks[4:], done, after]

    def strips(self, done: Block) -> Block:
        """The loop over strips, around the loop itself."""
        b, header = self.b, self.header
        strips, strip, gather = self.block("strips"), self.block("strip"), self.block("gather")
        strips.params = _copies(header.params)
        b.at(strips)
        k = strips.params[self.n]
        b.branch(b.op("eq", k, const(0)), done, strip)

        b.at(strip)
        length = b.op("select", b.op("lt", k, const(STRIP)), k, const(STRIP))
        stop = b.op("sub", k, length, name="stop", nsw=True)
        stored = self.fill(stop)
        for value, buffer in stored.items():
            for p in range(self.pad):
                b.emit("store", buffer, const(0.0, value.type), const(p))
                behind = b.op("add", length, const(self.pad + p), nsw=True)
                b.emit("store", buffer, const(0.0, value.type), behind)
        b.jump(header, *strips.params)

        test = header.instrs[0]
        header.instrs[0] = Instr("eq", [self.plan.counter, stop], test.results, {}, [], test.position)
        header.instrs[1].targets[0] = Target(gather)

        b.at(gather)
        for members in _groups(self.plan.sunk).values():
            self.gather(members, stored, stop, length)
        b.jump(strips, *header.params)
        return strips

    def block(self, name: str) -> Block:
        block = Block(f"{self.header.name}.{name}")
        self.blocks.append(block)
        return block

    def params_used_outside(self) -> list[Value]:
        params = set(self.header.params)
        used = {v for v in self.plan.exit.args if v in params}
        for block in self.function.blocks:
            if block is not self.header and block is not self.body:
                for instr in block.instrs:
                    used.update(v for v in uses(instr) if v in params)
        return [p for p in self.header.params if p in used]

    def after(self, original: Block, outside: list[Value]) -> Block:
        """The block in which the two versions meet; it takes what is used later of the loop's parameters."""
        after = Block(f"{self.header.name}.after", _copies(outside))
        where = dict(zip(outside, after.params))
        for block in self.function.blocks:
            if block is not self.header and block is not self.body:
                for instr in block.instrs:
                    substitute(instr, where)
        onward = self.plan.exit
        onward.args[:] = [where.get(v, v) for v in onward.args]
        after.instrs.append(Instr("jump", targets=[onward], position=self.header.instrs[1].position))
        mine = dict(zip(self.header.params, original.params))
        original.instrs[1].targets[0] = Target(after, [mine[p] for p in outside])
        return after

    def carry(self) -> list[Value]:
        """Registers for what is carried, in each group the newest value first; the load that takes it adds it."""
        registers: list[Value] = []
        following: list[Value] = []
        sums: dict[Value, Value] = {}
        behind: dict[int, list[Instr]] = {}  # the additions behind each load
        for carried in self.plan.carried:
            value = carried.load.result
            mine = [Value(value.type, "carried") for _ in range(carried.distance)]
            sum = Value(value.type, value.name)
            addition = Instr("add", [sums.get(value, value), mine[-1]], [sum], {}, [], carried.load.position)
            behind.setdefault(id(carried.load), []).append(addition)
            sums[value] = sum
            registers += mine
            following += [self.total([a.value for a in carried.accums]), *mine[:-1]]
        gone = {id(a.instr) for a in self.plan.sunk} | {id(a.instr) for c in self.plan.carried for a in c.accums}
        instrs = []
        for instr in self.body.instrs:
            if id(instr) not in gone:
                instrs += [instr, *behind.get(id(instr), ())]
        self.body.instrs[:] = instrs
        self.header.params += registers
        self.body.instrs[-1].targets[0].args += following
        additions = {id(i) for group in behind.values() for i in group}
        for instr in self.body.instrs:
            if id(instr) not in additions:
                substitute(instr, sums)
        for access in self.plan.sunk:  # their instructions are no longer in the block
            substitute(access.instr, sums)
        return registers

    def total(self, values: list[Value]) -> Value:
        """The sum, at the end of the body."""
        total = values[0]
        for value in values[1:]:
            sum = Value(total.type, total.name)
            self.body.instrs.insert(-1, Instr("add", [total, value], [sum], {}, [], self.b.position))
            total = sum
        return total

    def fill(self, stop: Value) -> dict[Value, Value]:
        """The body stores to the buffers; gives the buffer of each value.  What is only ever added to one and the same
        element is added before."""
        places: dict[Value, set[Place]] = {}
        for access in self.plan.sunk:
            places.setdefault(access.value, set()).add(access.place)
        single: dict[Place, list[Access]] = {}
        for access in self.plan.sunk:
            if len(places[access.value]) == 1:
                single.setdefault(access.place, []).append(access)
        for accesses in single.values():
            if len(accesses) > 1:
                accesses[0].instr.operands[1] = self.total([a.value for a in accesses])
                self.plan.sunk = [a for a in self.plan.sunk if not any(a is other for other in accesses[1:])]
        values = self.plan.values()
        if not values:
            return {}
        slot = Value(I64, "slot")
        instrs = [Instr("sub", [self.plan.counter, stop], [slot], {"nsw": True})]
        if self.pad != 1:
            shifted = Value(I64, "slot")
            instrs.append(Instr("add", [slot, const(self.pad - 1)], [shifted], {"nsw": True}))
            slot = shifted
        stored: dict[Value, Value] = {}
        count: dict[Scalar, int] = {}
        for value in values:
            assert isinstance(value.type, Scalar)
            number = count[value.type] = count.get(value.type, -1) + 1
            stored[value] = self.buffers.get(self.header, value.type, number)
            instrs.append(Instr("store", [stored[value], value, slot]))
        for instr in instrs:
            instr.position = self.b.position
        self.body.instrs[-1:-1] = instrs
        return stored

    def gather(self, members: list[Access], stored: dict[Value, Value], stop: Value, length: Value) -> None:
        """A loop over all elements that the group reaches.  In iteration q it is at offset `least` of the counter
        stop + 1 + q, whose slot in the buffers is `pad + q`."""
        b = self.b
        offsets = [a.offset for a in members]
        least, most = min(offsets), max(offsets)
        sign, root = members[0].sign, members[0].place.root
        first = self.index(members[0].place.terms[-1], stop, sign * (1 + least))
        count = b.arith("add", length, const(most - least))
        rows: dict[tuple[tuple[Terms, ...], tuple[int, ...]], list[Access]] = {}
        for access in members:
            rows.setdefault((access.place.terms[:-1], access.place.constants[:-1]), []).append(access)
        others = [[self.index(t, None, c) for t, c in zip(*row)] for row in rows]
        loop, following = self.block("gather.row"), self.block("gather.next")
        q = Value(I64, "q")
        loop.params = [q]
        b.jump(loop, const(0))
        b.at(loop)
        index = b.op("add" if sign > 0 else "sub", first, q, nsw=True)
        # All loads come first: LLVM reuses what it has loaded in the iteration before, and can then still vectorise.
        shifted = {(a.value, self.pad + least - a.offset): a for a in members}
        found: dict[tuple[Value, int], Value] = {}
        for value, shift in shifted:
            slot = b.op("add", q, const(shift), nsw=True) if shift else q
            found[value, shift] = b.op("load", stored[value], slot)
        for row, accesses in zip(others, rows.values(), strict=True):
            parts = [found[a.value, self.pad + least - a.offset] for a in accesses]
            total = parts[0]
            for part in parts[1:]:
                total = b.op("add", total, part)
            b.position, before = accesses[0].instr.position, b.position
            b.emit("accum", root, total, *row, index, **accesses[0].instr.attrs)
            b.position = before
        onward = b.op("add", q, const(1), nsw=True)
        b.append(
            Instr(
                "branch",
                [b.op("lt", onward, count)],
                attrs={"parallel": True},
                targets=[Target(loop, [onward]), Target(following)],
            )
        )
        b.at(following)

    def index(self, terms: Terms, counter: Value | None, constant: int) -> Value:
        """The linear form with `counter` for the loop's counter."""
        b = self.b
        result: Value | None = None
        for value, coefficient in sorted(terms, key=lambda t: -t[1]):
            if value is self.plan.counter:
                assert counter is not None
                value = counter
            if abs(coefficient) != 1:
                value, coefficient = b.op("mul", value, const(coefficient)), 1
            if result is None:
                result = value if coefficient > 0 else b.op("neg", value)
            else:
                result = b.arith("add" if coefficient > 0 else "sub", result, value)
        return const(constant) if result is None else b.arith("add", result, const(constant))

    def empty(self, registers: list[Value]) -> None:
        """A value that nobody took, of the iteration with counter 1, 2, .., is added to memory."""
        rest = iter(registers)
        for carried in self.plan.carried:
            access = carried.accums[0]
            place = access.place
            for k in range(1, carried.distance + 1):
                row = [self.index(t, None, c) for t, c in zip(place.terms[:-1], place.constants[:-1])]
                last = self.index(place.terms[-1], const(k), place.constants[-1])
                self.b.emit("accum", place.root, next(rest), *row, last, **access.instr.attrs)


def _copies(params: list[Value]) -> list[Value]:
    return [Value(p.type, p.name) for p in params]


__all__ = ["run"]
