"""Integer ranges: remove overflow checks and comparisons whose outcome is certain.

Input: typed code; loops are best in the form `loop(i): branch (lt i, stop), body, done` with `i + step` on the way
back.  Output: `cadd csub cmul cneg` become `add sub mul neg` where they cannot overflow; comparisons that always come
out the same are constants; guards that always hold are gone.  fold and simplify_cfg finish what follows.

What is known about an i64 value, valid in the part of the dominator tree that is being walked:
* an interval, from constants, `dim`, arithmetic, loop counters, what so many rounds add at most, and conditions that were tested on the way;
* a linear form `base + offset`, where the value is that sum without wrapping;
* bounds `x <= y + c` between two bases, from the same conditions.  They are what proves an index within `dim` when the
  loop's bound is that dimension.

Invariant: no instruction moves, and none is removed that could have raised.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis import Dominators, edges
from ..core import Block, Const, Function, Instr, Value, const
from ..records import field, record
from ..types import BOOL, I32, I64, U8, Type
from .rewriting import replace_uses, same, substitute

LOW, HIGH = -(2**63), 2**63 - 1
LARGEST_DIMENSION = 2**48
Interval = tuple[int, int]
TOP: Interval = (LOW, HIGH)
_TYPE_INTERVALS: dict[Type, Interval] = {I64: TOP, I32: (-(2**31), 2**31 - 1), U8: (0, 255), BOOL: (0, 1)}
UNCHECKED = {"cadd": "add", "csub": "sub", "cmul": "mul", "cneg": "neg"}
_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
_INTERESTING = frozenset(UNCHECKED) | _COMPARISONS
_ADDITIONS = 64  # that are looked at for what a loop adds to a number
_DEPTH, _WIDTH = 3, 8  # how many bounds are chained, and how many of a value are tried


def run(function: Function) -> bool:
    for _, instr in function.instructions():
        if instr.op in _INTERESTING and instr.operands[0].type is I64:
            return _Walk(function).run()
    return False


@record(slots=True)
class _Undo:
    """What to restore on the way up the dominator tree."""

    intervals: list[tuple[Value, Interval | None]] = field(default_factory=list)
    bounds: list[Value] = field(default_factory=list)


class Facts:
    """What is known at one place."""

    def __init__(self) -> None:
        self.intervals: dict[Value, Interval] = {}
        self.linear: dict[Value, tuple[Value, int]] = {}
        self.bounds: dict[Value, list[tuple[Value, int]]] = {}  # x: (y, c) where x <= y + c

    def form(self, value: Value) -> tuple[Value, int]:
        """`value` as base + offset."""
        return self.linear.get(value) or (value, 0)

    def interval(self, value: Value) -> Interval:
        if isinstance(value, Const):
            return (value.value, value.value) if type(value.value) is int else TOP
        low, high = self.intervals.get(value) or _TYPE_INTERVALS.get(value.type, TOP)
        linear = self.linear.get(value)
        if linear is not None:
            base, offset = linear
            base_low, base_high = self.intervals.get(base, TOP)
            low, high = max(low, base_low + offset), min(high, base_high + offset)
        return low, high

    def at_most(self, x: Value, y: Value, c: int) -> bool:
        """Whether x <= y + c is certain."""
        base_x, offset_x = self.form(x)
        base_y, offset_y = self.form(y)
        if self.interval(x)[1] <= self.interval(y)[0] + c:
            return True
        return self._bases_at_most(base_x, base_y, c + offset_y - offset_x, _DEPTH)

    def _bases_at_most(self, x: Value, y: Value, c: int, depth: int) -> bool:
        if x is y:
            return c >= 0
        if self.interval(x)[1] <= self.interval(y)[0] + c:
            return True
        if depth == 0:
            return False
        return any(self._bases_at_most(z, y, c - d, depth - 1) for z, d in self.bounds.get(x, ())[-_WIDTH:])

    # ----------------------------------------------------------------------------------------- learning

    def learn_at_most(self, x: Value, y: Value, c: int, undo: _Undo) -> None:
        """Remember x <= y + c."""
        base_x, offset_x = self.form(x)
        base_y, offset_y = self.form(y)
        c += offset_y - offset_x
        low_x, high_x = self.interval(base_x)
        low_y, high_y = self.interval(base_y)
        self.narrow(base_x, low_x, min(high_x, high_y + c), undo)
        self.narrow(base_y, max(low_y, low_x - c), high_y, undo)
        if not isinstance(base_x, Const) and not isinstance(base_y, Const) and base_x is not base_y:
            known = self.bounds.setdefault(base_x, [])
            if all(y is not base_y or d > c for y, d in known):
                known.append((base_y, c))
                undo.bounds.append(base_x)

    def narrow(self, value: Value, low: int, high: int, undo: _Undo) -> None:
        if isinstance(value, Const) or low > high:  # an empty interval: this place cannot be reached
            return
        if (low, high) != self.interval(value):
            undo.intervals.append((value, self.intervals.get(value)))
            self.intervals[value] = (low, high)

    def restore(self, undo: _Undo) -> None:
        for value, interval in reversed(undo.intervals):
            if interval is None:
                del self.intervals[value]
            else:
                self.intervals[value] = interval
        for value in reversed(undo.bounds):
            self.bounds[value].pop()


class _Walk:
    def __init__(self, function: Function):
        self.function = function
        self.facts = Facts()
        self.made: dict[Value, Instr] = {}
        for _, instr in function.instructions():
            for r in instr.results:
                self.made[r] = instr
        self.replaced: dict[Value, Value] = {}
        self.changed = False
        self.dominators = Dominators(function)
        self.incoming: dict[Block, list[tuple[Block, list[Value]]]] = {b: [] for b in self.dominators.order}
        self.handled: set[Block] = set()  # handler blocks, whose first parameter is not passed by an edge
        for block in self.dominators.order:
            for target in edges(block):
                self.incoming[target.block].append((block, target.args))
                if target is block.handler:
                    self.handled.add(target.block)
        self.position = {b: n for n, b in enumerate(self.dominators.order)}
        self.home = {p: b for b in self.dominators.order[1:] for p in b.params}
        self.at_edge: dict[int, list[Interval]] = {}  # per argument list of an edge, what was known at its start

    def run(self) -> bool:
        children = self.dominators.children()
        stack: list[tuple[Block | None, _Undo]] = [(self.function.entry, _Undo())]
        while stack:
            block, undo = stack.pop()
            if block is None:
                self.facts.restore(undo)
                continue
            self.enter(block, undo)
            self.instructions(block, undo)
            stack.append((None, undo))
            stack += [(child, _Undo()) for child in reversed(children[block])]
        replace_uses(self.function, self.replaced)
        return self.changed

    # --------------------------------------------------------------------------------------- entering blocks

    def enter(self, block: Block, undo: _Undo) -> None:
        incoming = self.incoming[block]
        if len(incoming) == 1:
            self.learn_from_edge(incoming[0][0], block, undo)
        if block is self.function.entry or block in self.handled:
            return
        for n, param in enumerate(block.params):
            if param.type is I64:
                self.parameter(block, n, param, undo)
        back = [args for source, args in incoming if self.position[source] >= self.position[block]]
        if back:
            self.running_sums(block, back)

    def learn_from_edge(self, source: Block, block: Block, undo: _Undo) -> None:
        last = source.instrs[-1]
        if last.op == "branch" and last.targets[0].block is not last.targets[1].block:
            self.learn(last.operands[0], last.targets[0].block is block, undo)

    def parameter(self, block: Block, n: int, param: Value, undo: _Undo) -> None:
        """The interval of a block parameter; for a loop's header by what the way back does to it."""
        facts = self.facts
        low, high = HIGH, LOW
        back: list[tuple[Block, Value]] = []
        for source, args in self.incoming[block]:
            if self.position[source] >= self.position[block]:
                back.append((source, args[n]))
                continue
            known = self.at_edge.get(id(args))
            interval = known[n] if known is not None else facts.interval(args[n])
            low, high = min(low, interval[0]), max(high, interval[1])
        if back:
            self.counter(block, n, param, (low, high), back, undo)
        elif (low, high) != TOP:
            facts.intervals[param] = (low, high)

    def counter(
        self, header: Block, n: int, param: Value, start: Interval, back: list[tuple[Block, Value]], undo: _Undo
    ) -> None:
        """A header's parameter that each way around the loop changes by a constant (or not at all)."""
        steps: list[int] = []
        wraps = False
        for _, arg in back:
            step = self.step(param, arg)
            if step is None:
                if start[0] >= 0 and all(self.stays_natural(arg, {param}) for _, arg in back):
                    self.facts.intervals[param] = (0, HIGH)
                return
            steps.append(step)
            wraps = wraps or self.made_by(arg, ("add", "sub")) and not self.made[arg].attrs.get("nsw")
        smallest, largest = min(steps), max(steps)
        if smallest < 0 < largest:
            return
        low, high = start
        starts = [args[n] for source, args in self.incoming[header] if self.position[source] < self.position[header]]
        if largest > 0:
            limit = max(self.limit(source, header, param, True) for source, _ in back)
            if limit + largest > HIGH and wraps:
                return
            high = min(max(high, limit + largest), HIGH)
        elif smallest < 0:
            limit = min(self.limit(source, header, param, False) for source, _ in back)
            if limit + smallest < LOW and wraps:
                return
            low = max(min(low, limit + smallest), LOW)
        self.facts.intervals[param] = (low, high)
        if len(starts) == 1:
            if smallest >= 0:
                self.facts.learn_at_most(starts[0], param, 0, undo)
            if largest <= 0:
                self.facts.learn_at_most(param, starts[0], 0, undo)

    def running_sums(self, header: Block, back: list[list[Value]]) -> None:
        """A header's parameters to which each round adds something within bounds, in a loop of so many rounds at most."""
        rounds = self.rounds(header, back)
        if rounds is None:
            return
        entering = [args for source, args in self.incoming[header] if self.position[source] < self.position[header]]
        for n, param in enumerate(header.params):
            low, high = self.facts.interval(param)
            if param.type is not I64 or (low > LOW and high < HIGH):
                continue
            added = [self.added(args[n], param, {}) for args in back]
            changes = [i for i in added if i is not None]
            if len(changes) < len(added):
                continue
            known = [(self.at_edge.get(id(args)), args[n]) for args in entering]
            starts = [self.facts.interval(v) if there is None else there[n] for there, v in known]
            least = min(i[0] for i in starts) + rounds * min(0, *(i[0] for i in changes))
            most = max(i[1] for i in starts) + rounds * max(0, *(i[1] for i in changes))
            if least >= LOW and most <= HIGH:
                self.facts.intervals[param] = max(low, least), min(high, most)

    def rounds(self, header: Block, back: list[list[Value]]) -> int | None:
        """How often control comes back to a header at most, by a counter of which the bounds are known."""
        found: list[int] = []
        for n, param in enumerate(header.params):
            steps = [self.step(param, args[n]) for args in back] if param.type is I64 else [None]
            known = [step for step in steps if step]
            if len(known) == len(steps) and (min(known) > 0 or max(known) < 0):
                low, high = self.facts.interval(param)
                found.append((high - low) // min(map(abs, known)))
        return min(found, default=None)

    def added(self, value: Value, param: Value, known: dict[Value, Interval | None]) -> Interval | None:
        """Bounds of what a round has added to a parameter where it gives `value`. `known`: those of other values; what is asked for within
        itself, an inner loop's, has none."""
        if value is param:
            return 0, 0
        if value in known or len(known) >= _ADDITIONS:
            return known.get(value)
        known[value] = None
        instr, parts = self.made.get(value), []
        if instr is not None and instr.op in ("add", "cadd", "sub", "csub"):
            x, y = instr.operands
            plus = instr.op in ("add", "cadd")
            before = self.added(x, param, known)
            if before is None and plus:
                x, y = y, x
                before = self.added(x, param, known)
            if before is not None:
                low, high = self.spread(y)
                known[value] = (before[0] + low, before[1] + high) if plus else (before[0] - high, before[1] - low)
            return known[value]
        if instr is not None and instr.op == "select":
            parts = instr.operands[1:]
        elif instr is None and (home := self.home.get(value)) is not None and home not in self.handled:
            n = home.params.index(value)
            parts = [args[n] for _, args in self.incoming[home]]
        found = [self.added(v, param, known) for v in parts]
        bounds = [i for i in found if i is not None]
        if bounds and len(bounds) == len(found):
            known[value] = min(i[0] for i in bounds), max(i[1] for i in bounds)
        return known[value]

    def spread(self, value: Value) -> Interval:
        """The interval of a value that may be made further down."""
        instr = self.made.get(value)
        if instr is not None and instr.op == "cast":
            return _TYPE_INTERVALS.get(instr.operands[0].type, TOP)
        if instr is not None and instr.op == "select":
            (a, b), (c, d) = map(self.facts.interval, instr.operands[1:])
            return min(a, c), max(b, d)
        return self.facts.interval(value)

    def stays_natural(self, value: Value, assumed: set[Value]) -> bool:
        """Whether `value` is not negative if `assumed` are not: an index that is counted on in inner loops, say."""
        if value in assumed or self.facts.interval(value)[0] >= 0:
            return True
        instr = self.made.get(value)
        if instr is not None:
            rest = instr.operands[1:] if instr.op == "select" else instr.operands
            return instr.op in _NATURAL and all(self.stays_natural(v, assumed) for v in rest)
        home = self.home.get(value)
        if home is None or home in self.handled:
            return False
        assumed.add(value)
        n = home.params.index(value)
        return all(self.stays_natural(args[n], assumed) for _, args in self.incoming[home])

    def made_by(self, value: Value, ops: tuple[str, ...]) -> bool:
        instr = self.made.get(value)
        return instr is not None and instr.op in ops

    def step(self, param: Value, arg: Value) -> int | None:
        """c where `arg` is `param` + c."""
        if arg is param:
            return 0
        instr = self.made.get(arg)
        if instr is None or instr.op not in ("add", "cadd", "sub", "csub"):
            return None
        x, y = instr.operands
        if isinstance(x, Const) and instr.op in ("add", "cadd"):
            x, y = y, x
        if x is not param or not isinstance(y, Const):
            return None
        return y.value if instr.op in ("add", "cadd") else -y.value

    def limit(self, latch: Block, header: Block, param: Value, upper: bool) -> int:
        """The largest (smallest) value of a counter at the end of `latch`, by the conditions tested on the way."""
        best = HIGH if upper else LOW
        block: Block | None = latch
        while block is not None and block is not header:
            parent = self.dominators.immediate[block]
            if parent is not None and len(self.incoming[block]) == 1:
                last = parent.instrs[-1]
                if last.op == "branch" and last.targets[0].block is not last.targets[1].block:
                    for bound in self.bounds_in(last.operands[0], last.targets[0].block is block, param, upper):
                        best = min(best, bound) if upper else max(best, bound)
            block = parent
        return best

    def bounds_in(self, condition: Value, holds: bool, param: Value, upper: bool) -> Iterator[int]:
        """Bounds of `param` that a condition gives."""
        for x, y, c in self.inequalities(condition, holds):  # x <= y + c
            if upper and x is param:
                yield self.facts.interval(y)[1] + c
            elif not upper and y is param:
                yield self.facts.interval(x)[0] - c

    # -------------------------------------------------------------------------------------------- conditions

    def inequalities(self, condition: Value, holds: bool) -> Iterator[tuple[Value, Value, int]]:
        """(x, y, c) with x <= y + c, for what follows from a condition on integers."""
        instr = self.made.get(condition)
        if instr is None:
            return
        if instr.op == ("and" if holds else "or") and condition.type is BOOL:
            for v in instr.operands:
                yield from self.inequalities(v, holds)
        elif instr.op == "not":
            yield from self.inequalities(instr.operands[0], not holds)
        elif instr.op in _COMPARISONS and instr.operands[0].type is I64:
            x, y = instr.operands
            op = instr.op if holds else _OPPOSITE[instr.op]
            if op in ("lt", "le"):
                yield x, y, -1 if op == "lt" else 0
            elif op in ("gt", "ge"):
                yield y, x, -1 if op == "gt" else 0
            elif op == "eq":
                yield x, y, 0
                yield y, x, 0

    def learn(self, condition: Value, holds: bool, undo: _Undo) -> None:
        for x, y, c in self.inequalities(condition, holds):
            self.facts.learn_at_most(x, y, c, undo)

    def compare(self, op: str, x: Value, y: Value) -> bool | None:
        at_most = self.facts.at_most
        if op in ("gt", "ge"):
            op, x, y = {"gt": "lt", "ge": "le"}[op], y, x
        if op == "lt":
            return True if at_most(x, y, -1) else False if at_most(y, x, 0) else None
        if op == "le":
            return True if at_most(x, y, 0) else False if at_most(y, x, -1) else None
        if at_most(x, y, -1) or at_most(y, x, -1):
            return op == "ne"
        if at_most(x, y, 0) and at_most(y, x, 0):
            return op == "eq"
        return None

    # ------------------------------------------------------------------------------------------ instructions

    def instructions(self, block: Block, undo: _Undo) -> None:
        kept: list[Instr] = []
        for instr in block.instrs:
            if self.replaced:
                substitute(instr, self.replaced)
            if instr.op == "guard":
                condition = instr.operands[0]
                if isinstance(condition, Const) and condition.value:
                    self.changed = True
                    continue
                self.learn(condition, True, undo)
            elif len(instr.results) == 1:
                self.result(instr, undo)
            kept.append(instr)
        if len(kept) < len(block.instrs):
            block.instrs[:] = kept
        for target in block.instrs[-1].targets:
            if any(p.type is I64 for p in target.block.params):
                self.at_edge[id(target.args)] = [self.facts.interval(a) for a in target.args]

    def result(self, instr: Instr, undo: _Undo) -> None:
        result = instr.results[0]
        op = instr.op
        if op in _COMPARISONS:
            x, y = instr.operands
            known = self.compare(op, x, y) if x.type is I64 and y.type is I64 else None
            if known is not None:
                self.replaced[result] = const(known)
                self.changed = True
            return
        if op in ("select", "and") and (self.decided(instr) or self.extremum(instr)):
            return
        if result.type is not I64:
            return
        interval = self.exact_interval(instr)
        if interval is None:
            return
        fits = interval[0] >= LOW and interval[1] <= HIGH
        if op in UNCHECKED and fits:
            instr.op = UNCHECKED[op]
            self.changed = True
        if fits or op in UNCHECKED:  # a checked op that goes on has not wrapped
            self.facts.intervals[result] = (max(interval[0], LOW), min(interval[1], HIGH))
            self.linear_form(instr, op, undo)

    def decided(self, instr: Instr) -> bool:
        """What a comparison found here decides at once: an index is not negative, so it is not wrapped."""
        x, *rest = instr.operands
        if instr.op == "select" and isinstance(x, Const):
            value = rest[0] if x.value else rest[1]
        elif instr.op == "and" and isinstance(x, Const) and x.type is BOOL:
            value = rest[0] if x.value else x
        elif instr.op == "and" and isinstance(rest[0], Const) and x.type is BOOL:
            value = x if rest[0].value else rest[0]
        else:
            return False
        self.replaced[instr.results[0]] = value
        self.changed = True
        return True

    def extremum(self, instr: Instr) -> bool:
        """The smaller or larger of two, where it is known which that is, if only one of them is."""
        found = self.min_or_max(instr)
        if found is None:
            return False
        smaller, x, y = found
        if self.facts.at_most(x, y, 0):
            value = x if smaller else y
        elif self.facts.at_most(y, x, 0):
            value = y if smaller else x
        else:
            return False
        self.replaced[instr.results[0]] = value
        self.changed = True
        return True

    def min_or_max(self, instr: Instr) -> tuple[bool, Value, Value] | None:
        """Whether it is the smaller or the larger of two integers, and these."""
        if instr.op != "select" or instr.results[0].type is not I64:
            return None
        condition, x, y = instr.operands
        test = self.made.get(condition)
        if test is None or test.op not in ("lt", "le", "gt", "ge"):
            return None
        a, b = test.operands
        if not ((same(a, x) and same(b, y)) or (same(a, y) and same(b, x))) or same(a, b):
            return None
        return same(a, x) == (test.op in ("lt", "le")), x, y

    def exact_interval(self, instr: Instr) -> Interval | None:
        """The interval of the mathematical result; None if nothing is known."""
        rule = _INTERVALS.get(instr.op)
        if rule is None:
            return None
        return rule(self, instr, *map(self.facts.interval, instr.operands))

    def linear_form(self, instr: Instr, op: str, undo: _Undo) -> None:
        facts, result, operands = self.facts, instr.results[0], instr.operands
        if op in ("add", "cadd", "sub", "csub"):
            x, y = operands
            if isinstance(x, Const) and op in ("add", "cadd"):
                x, y = y, x
            if isinstance(y, Const) and not isinstance(x, Const):
                base, offset = facts.form(x)
                facts.linear[result] = (base, offset + (y.value if op in ("add", "cadd") else -y.value))
            elif op in ("sub", "csub") and facts.interval(y)[0] >= 0:
                facts.learn_at_most(result, x, -facts.interval(y)[0], undo)
        elif op == "stop" and not isinstance(operands[0], Const):
            facts.linear[result] = facts.form(operands[0])
        elif op == "select":
            self.select(instr, undo)

    def select(self, instr: Instr, undo: _Undo) -> None:
        """min and max: the result is at most, or at least, both."""
        found = self.min_or_max(instr)
        if found is None:
            return
        smaller, *both = found
        result = instr.results[0]
        for v in both:
            if smaller:
                self.facts.learn_at_most(result, v, 0, undo)
            else:
                self.facts.learn_at_most(v, result, 0, undo)


# What is never negative where the operands are not (what is checked has not wrapped).
_NATURAL = frozenset({"cadd", "cmul", "select", "stop", "floordiv", "mod", "and", "shr"})
_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}

# ------------------------------------------------------------------------------------------ interval arithmetic


def _add(walk: _Walk, instr: Instr, x: Interval, y: Interval) -> Interval:
    return x[0] + y[0], x[1] + y[1]


def _sub(walk: _Walk, instr: Instr, x: Interval, y: Interval) -> Interval:
    return x[0] - y[1], x[1] - y[0]


def _mul(walk: _Walk, instr: Instr, x: Interval, y: Interval) -> Interval:
    corners = [a * b for a in x for b in y]
    return min(corners), max(corners)


def _neg(walk: _Walk, instr: Instr, x: Interval) -> Interval:
    return -x[1], -x[0]


def _abs(walk: _Walk, instr: Instr, x: Interval) -> Interval | None:
    if x[0] == LOW:
        return None
    return (0 if x[0] <= 0 <= x[1] else min(abs(x[0]), abs(x[1]))), max(abs(x[0]), abs(x[1]))


def _mod(walk: _Walk, instr: Instr, x: Interval, y: Interval) -> Interval | None:
    if y[0] > 0:
        return x if x[0] >= 0 and x[1] < y[0] else (0, y[1] - 1)
    return (y[0] + 1, 0) if y[1] < 0 else None


def _floordiv(walk: _Walk, instr: Instr, x: Interval, y: Interval) -> Interval | None:
    if y[0] <= 0:
        return None
    corners = [a // b for a in x for b in y]
    return min(corners), max(corners)


def _and(walk: _Walk, instr: Instr, x: Interval, y: Interval) -> Interval | None:
    positive = [v[1] for v in (x, y) if v[0] >= 0]
    return (0, min(positive)) if positive else None


def _shr(walk: _Walk, instr: Instr, x: Interval, n: Interval) -> Interval | None:
    if not 0 <= n[0] <= n[1] < 64:
        return None
    corners = [a >> b for a in x for b in n]
    return min(corners), max(corners)


def _select(walk: _Walk, instr: Instr, c: Interval, x: Interval, y: Interval) -> Interval:
    """Each side as the condition narrows it: `select (lt i, 0), i + n, i` is not negative where i + n is not."""
    condition, a, b = instr.operands
    for value, holds in ((a, True), (b, False)):
        undo = _Undo()
        walk.learn(condition, holds, undo)
        if holds:
            x = walk.facts.interval(value)
        else:
            y = walk.facts.interval(value)
        walk.facts.restore(undo)
    return min(x[0], y[0]), max(x[1], y[1])


def _cast(walk: _Walk, instr: Instr, x: Interval) -> Interval | None:
    return _TYPE_INTERVALS.get(instr.operands[0].type)


_INTERVALS = {
    "add": _add, "cadd": _add, "sub": _sub, "csub": _sub, "mul": _mul, "cmul": _mul, "neg": _neg, "cneg": _neg,
    "abs": _abs, "mod": _mod, "floordiv": _floordiv, "and": _and, "shr": _shr, "select": _select, "cast": _cast,
    "stop": lambda walk, instr, x: x,
    "dim": lambda walk, instr, x: (0, LARGEST_DIMENSION),
}  # fmt: skip
