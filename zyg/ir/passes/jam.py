"""Several iterations of the loop around an innermost one go through it together (unroll-and-jam).

Input: any function, best after everything else.  In the nests in question (nests.py) what the inner loop reads or adds to is
in part the same for each iteration of the outer one:

    for j:  for i:  y[i] += a[j] * x[j, i]              for j:  d = 0;  for i:  d += s[i] * x[j, i];  da[j] += d

Output: a loop over several iterations of the outer loop at once, and the loop as it was for the rest:

    for j by 4:  for i:  t = y[i];  t += a[j] * x[j, i];  ..  t += a[j+3] * x[j+3, i];  y[i] = t

(by WIDTHS, the widest first.)  What they share is loaded once, what they add to is kept in a register, and sums that have an
order, each in its own, no longer wait for one another.  That no iteration is made before another that it meets in memory is
seen from the indices, or for arrays from outside by a test that they do not overlap.

Invariant: every element gets the same values in the same order; sums of cotangents may have another one.
"""

from __future__ import annotations

from ..builder import Builder
from ..core import Block, Function, Instr, Target, Value, const
from ..types import I64, Scalar
from .nests import ACCESSES, PURE, Distances, Nest, find_nests
from .places import Memory, Place

WIDTHS = (8, 4)  # iterations at once
LONGEST = 24  # instructions of the inner loop
LIGHT = 14  # instructions of an inner loop of which the widest variant is made
FEWEST = 8  # iterations of the inner loop, where they are known, that are worth it
PAIRS = 4  # of arrays that are tested for having no memory in common
SAVED = 0.3  # of the accesses to memory, at least
_CHEAP = frozenset(
    {"add", "sub", "mul", "neg", "abs", "select", "cast", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"}
)
_SUMS = frozenset({"add", "sub"})


def run(function: Function) -> bool:
    if not any(_may_be_a_body(b) for b in function.blocks):
        return False
    memory = Memory(function)
    changed = False
    for nest in find_nests(function, memory):
        distances = Distances(nest, memory)
        entering = nest.entering
        for width in _widths(nest, distances):
            jam = _Jam(nest, distances, width)
            entering = jam.run(function, entering, first=entering is nest.entering)
            changed = True
    return changed


def _may_be_a_body(block: Block) -> bool:
    latch = block.terminator
    if latch.op != "jump" or latch.attrs or block.params or len(block.instrs) > LONGEST:
        return False
    return any(i.op in ("load", "accum") for i in block.instrs) and block in (
        t.block for t in latch.targets[0].block.successors()
    )


def _widths(nest: Nest, distances: Distances) -> list[int]:
    """How many iterations go together; none where that may not be or does not pay."""
    if len(nest.body.instrs) > LONGEST:
        return []
    inner, outer = nest.inner.trips, nest.outer.trips
    if inner is not None and inner < FEWEST:
        return []
    if any(i.op not in ACCESSES and i.op in PURE - _CHEAP for i in nest.body.instrs[:-1] if not _is_index(i)):
        return []
    given = WIDTHS if len(nest.body.instrs) <= LIGHT else WIDTHS[1:]
    widths = [w for w in given if outer is None or w <= outer]
    if not widths:
        return []
    jam = _Jam(nest, distances, widths[-1])
    if not jam.pays() or not jam.in_turn() or not distances.keeps_order(widths[0]):
        return []
    return widths if len(distances.apart) <= PAIRS else []


def _is_index(instr: Instr) -> bool:
    return all(r.type is I64 for r in instr.results) or instr.op in ("view", "transpose")


class _Jam:
    """Carries it out, for one width.  Of the nest's blocks `header, before.., head, body, behind..` it makes

    choose:             the loop as it was if arrays overlap                     (only where that has to be tested)
    header'(p):         before' if there are as many more iterations, else header(p)
    before':            what comes before the inner loop, of one iteration after the other
    head'(q), body':    the inner loop; what is not uniform in it `width` times
    behind':            what comes behind it, of one iteration after the other; header'(..)
    """

    def __init__(self, nest: Nest, distances: Distances, width: int):
        self.nest = nest
        self.distances = distances
        self.width = width
        self.shared, self.kept = self._shared()
        self.maps: list[dict[Value, Value]] = [{} for _ in range(width)]
        self.where = {id(a.instr): a.place for a in nest.accesses}
        self.first: list[Instr] = []  # of what is behind the inner loop, what the next iteration begins with
        self.late: set[Value] = set()  # what the outer loop carries on, and is known behind the inner one only

    # ------------------------------------------------------------------------------------------- what it saves

    def _shared(self) -> tuple[set[int], dict[Place, Scalar]]:
        """Loads in the inner loop that are the same for all iterations of the outer one (by id), and elements, with their
        types, that each of these changes in turn, and that nothing else looks at."""
        nest, shared, kept = self.nest, set[int](), dict[Place, Scalar]()
        inside = [a for a in nest.accesses if a.stage == 1]
        for access in inside:
            operands = access.instr.operands
            same = all(nest.is_uniform(v) for v in (operands if access.instr.op == "load" else operands[2:]))
            if not same or not all(nest.is_uniform(v) for terms in access.place.terms for v, _ in terms):
                continue
            root = access.place.root
            others = [
                b for b in nest.accesses
                if b.writes and b is not access and (b.place.root is root or not self.distances.different(root, b.place.root))
            ]  # fmt: skip
            if not access.writes and not others:
                shared.add(id(access.instr))
                # What is computed from it is uniform too, which is for LLVM to see.
            elif access.writes and self._alone(access.place):
                type = operands[1].type
                assert isinstance(type, Scalar)
                kept[access.place] = type
        return shared, kept

    def _alone(self, place: Place) -> bool:
        """Whether all accesses of the nest that might meet this element's array are to this very place, in the inner loop."""
        return all(
            a.stage == 1 and a.place == place
            if a.place.root is place.root
            else self.distances.different(a.place.root, place.root)
            for a in self.nest.accesses
        )

    def pays(self) -> bool:
        """Whether enough of the accesses to memory go, or sums that have an order are added up side by side."""
        nest = self.nest
        inside = {*nest.head.params, *(r for i in nest.body.instrs for r in i.results)}
        total = saved = 0
        for access in nest.accesses:
            moves = any(v in inside for terms in access.place.terms for v, _ in terms)
            if access.stage != 1 or not (moves or access.writes):
                continue
            count = 2 if access.instr.op == "accum" else 1
            total += count
            if access.place in self.kept or id(access.instr) in self.shared:
                saved += count
        if not total:
            return False
        return saved * (self.width - 1) >= SAVED * total * self.width or self._sums_in_order()

    def _sums_in_order(self) -> bool:
        nest = self.nest
        made = {r: i for i in nest.body.instrs for r in i.results}
        for param, following in zip(nest.head.params, nest.body.terminator.targets[0].args, strict=True):
            step = made.get(following)
            if step is None or nest.is_uniform(param) or step.op not in _SUMS or param not in step.operands:
                continue
            if (
                isinstance(param.type, Scalar)
                and param.type.kind == "f"
                and "reassoc" not in step.attrs.get("fast", ())
            ):
                return True
        return False

    # ------------------------------------------------------------------------------------------- what it needs

    def in_turn(self) -> bool:
        """Whether an iteration can begin before the one before it has gone through the inner loop."""
        nest = self.nest
        made = {r for i in nest.before for r in i.results}
        early = {v for v in nest.defined if v in made}
        for instr in nest.behind:
            if instr.op in PURE and all(
                v in early or v in nest.header.params or v not in nest.defined for v in instr.operands
            ):
                self.first.append(instr)
                early.update(instr.results)
        params = nest.header.params
        late = {
            p for p, v in zip(params, nest.again.args, strict=True)
            if v in nest.defined and v not in early and v not in params
        }  # fmt: skip
        while more := {p for p, v in zip(params, nest.again.args, strict=True) if v in late} - late:
            late |= more
        self.late = late
        needed = [*nest.before, *nest.head.instrs, *nest.body.instrs, *self.first]
        if any(v in late for i in needed for v in i.operands):
            return False
        return not any(v in late for v in (*nest.enter.args, *nest.body.terminator.targets[0].args))

    # ------------------------------------------------------------------------------------------- carrying it out

    def run(self, function: Function, entering: list[Target], first: bool) -> list[Target]:
        """Before the nest comes the loop over several iterations, which is entered instead; gives the edge from this one to
        the other."""
        nest = self.nest
        self.in_turn()
        b = Builder(function)
        b.position = nest.header.terminator.position
        by = f"by{self.width}"
        header, before = Block(f"{nest.header.name}.{by}"), Block(f"{nest.head.name}.{by}.enter")
        head, body = Block(f"{nest.head.name}.{by}"), Block(f"{nest.body.name}.{by}")
        behind = Block(f"{nest.head.name}.{by}.exit")
        blocks = [header, before, head, body, behind]
        entry = header
        if self.distances.apart and first:
            entry = self.choose(b, header)
            blocks.insert(0, entry)
        for target in entering:
            target.block = entry
        header.params = [Value(p.type, p.name) for p in nest.header.params]
        self.test(b, header, before)
        self.go_through_before(before, head)
        self.go_through_head(head, body, behind)
        self.go_through_body(body, head)
        self.go_through_behind(behind, header)
        at = function.blocks.index(nest.header)
        function.blocks[at:at] = blocks
        return header.terminator.targets[1:]

    def choose(self, b: Builder, header: Block) -> Block:
        nest = self.nest
        choose = Block(f"{nest.header.name}.choose", [Value(p.type, p.name) for p in nest.header.params])
        b.at(choose)
        overlap: Value | None = None
        for pair in self.distances.apart:
            found = b.op("overlap", *pair)
            overlap = found if overlap is None else b.op("or", overlap, found)
        assert overlap is not None
        b.branch(overlap, nest.header, header, choose.params, choose.params)
        return choose

    def test(self, b: Builder, header: Block, before: Block) -> None:
        """Go on if there are as many more iterations.  What is left is a number between 0 and 2**64 then: where it does not fit,
        it is negative, and the loop as it was goes on."""
        counter = self.nest.outer
        b.at(header)
        j = header.params[counter.index]
        more = b.op(counter.op, j, counter.bound)
        left = b.op("sub", counter.bound, j) if counter.step > 0 else b.op("sub", j, counter.bound)
        least = self.width - 1 if counter.op in ("le", "ge") else self.width
        enough = b.op("and", more, b.op("ge", left, const(least)))
        b.branch(enough, before, self.nest.header, (), header.params)
        self.maps[0].update(zip(self.nest.header.params, header.params, strict=True))

    def go_through_before(self, block: Block, head: Block) -> None:
        nest = self.nest
        test = nest.outer.test
        for n in range(self.width):
            if n:
                self.begin(n, late=False)
            for instr in (*nest.before, *self.first):
                if instr is not test:
                    self.copy(instr, n, block)
        args: list[Value] = []
        for param, first in zip(nest.head.params, nest.enter.args, strict=True):
            args += [self.of(first, n) for n in self.versions(param)]
        position = nest.header.terminator.position
        block.instrs.append(Instr("jump", targets=[Target(head, args)], position=position))

    def begin(self, n: int, late: bool) -> None:
        """What the outer loop carries on to iteration n: what is known early, or late."""
        nest = self.nest
        for param, following in zip(nest.header.params, nest.again.args, strict=True):
            if (param in self.late) == late:
                self.maps[n][param] = self.of(following, n - 1)

    def go_through_head(self, head: Block, body: Block, behind: Block) -> None:
        nest = self.nest
        for param in nest.head.params:
            new = Value(param.type, param.name)
            for n in self.versions(param):
                new = Value(param.type, param.name)
                head.params.append(new)
                self.maps[n][param] = new
            if len(self.versions(param)) == 1:
                self.share(param, new)
        for instr in nest.head.instrs[:-1]:
            self.copy_all(instr, head)
        branch = nest.head.terminator
        targets = [Target(body), Target(body)]
        targets[nest.inner.leaving] = Target(behind)
        condition = self.of(branch.operands[0], 0)
        head.instrs.append(Instr("branch", [condition], [], dict(branch.attrs), targets, branch.position))

    def go_through_body(self, body: Block, head: Block) -> None:
        nest = self.nest
        held: dict[Place, Value] = {}
        for n in range(self.width):
            for instr in nest.body.instrs[:-1]:
                if all(nest.is_uniform(r) for r in instr.results) and instr.op in PURE or id(instr) in self.shared:
                    if n == 0:
                        self.copy(instr, 0, body)
                        for r in instr.results:
                            self.share(r, self.maps[0][r])
                elif instr.op in ACCESSES and self.where[id(instr)] in self.kept:
                    self.keep(instr, n, body, held)
                else:
                    self.copy(instr, n, body)
        for place, value in held.items():
            access = next(a for a in nest.accesses if a.place == place and a.writes)
            indices = [self.of(v, 0) for v in access.instr.operands[2:]]
            array = self.of(access.instr.operands[0], 0)
            body.instrs.append(Instr("store", [array, value, *indices], position=access.instr.position))
        latch = nest.body.terminator
        args: list[Value] = []
        for param, following in zip(nest.head.params, latch.targets[0].args, strict=True):
            args += [self.of(following, n) for n in self.versions(param)]
        attrs = {"parallel": True} if self.distances.independent(self.width) else {}
        body.instrs.append(Instr("jump", [], [], attrs, [Target(head, args)], latch.position))

    def keep(self, instr: Instr, n: int, body: Block, held: dict[Place, Value]) -> None:
        """An access to an element that is kept in a register from one iteration of the outer loop to the next."""
        place = self.where[id(instr)]
        array, *rest = instr.operands
        if instr.op == "store":
            held[place] = self.of(rest[0], n)
            return
        value = held.get(place)
        if value is None:
            indices = rest if instr.op == "load" else rest[1:]
            value = Value(self.kept[place], instr.results[0].name if instr.results else "")
            operands = [self.of(v, 0) for v in (array, *indices)]
            body.instrs.append(Instr("load", operands, [value], {}, [], instr.position))
        if instr.op == "load":
            self.maps[n][instr.result] = value
            held.setdefault(place, value)
        else:
            sum = Value(self.kept[place])
            fast = {k: v for k, v in instr.attrs.items() if k == "fast"}
            body.instrs.append(Instr("add", [value, self.of(rest[0], n)], [sum], fast, [], instr.position))
            held[place] = sum

    def go_through_behind(self, block: Block, header: Block) -> None:
        nest = self.nest
        done = {id(i) for i in self.first}
        for n in range(self.width):
            if n:
                self.begin(n, late=True)
            for instr in nest.behind:
                if id(instr) not in done:
                    self.copy(instr, n, block)
        args = [self.of(v, self.width - 1) for v in nest.again.args]
        block.instrs.append(Instr("jump", targets=[Target(header, args)], position=nest.header.terminator.position))

    # ------------------------------------------------------------------------------------------------- copies

    def versions(self, param: Value) -> range:
        return range(1 if param in self.nest.uniform else self.width)

    def of(self, v: Value, n: int) -> Value:
        """What stands for a value in iteration n."""
        return self.maps[n].get(v, v)

    def share(self, v: Value, new: Value) -> None:
        for map in self.maps:
            map[v] = new

    def copy_all(self, instr: Instr, block: Block) -> None:
        if all(r in self.nest.uniform for r in instr.results):
            self.copy(instr, 0, block)
            for r in instr.results:
                self.share(r, self.maps[0][r])
        else:
            for n in range(self.width):
                self.copy(instr, n, block)

    def copy(self, instr: Instr, n: int, block: Block) -> None:
        results = [Value(r.type, r.name) for r in instr.results]
        operands = [self.of(v, n) for v in instr.operands]
        self.maps[n].update(zip(instr.results, results, strict=True))
        block.instrs.append(Instr(instr.op, operands, results, dict(instr.attrs), [], instr.position))


__all__ = ["run"]
