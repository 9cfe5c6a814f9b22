"""Hoist guards out of loops by having two versions of the loop.

Input: loops in the form of loop_simplify, invariant code in preheaders (licm), what is certain already gone (ranges).
Output: where the guards of a counted loop nest compare linear functions of the counters with invariants, the
preheader of the outermost loop for which this can be computed tests whether they hold in all iterations.  If so, a
version without these guards runs (and without the wrapping of negative indices and the overflow checks of indices),
else a copy of the loop as it was.  Without checks in its body a stencil vectorises.

The forms are exact because the test also asks that every invariant in them is small (below 2**55 in magnitude): then
nothing wraps, in the loop or in the test.

Invariant: the function computes and raises the same.  Growth is bounded by LARGEST_LOOP and GROWTH; the guards of the
copy carry attrs["kept"], so that no later run tries again. A loop that calls functions or goes through whole arrays stays
as it is: beside that its guards cost nothing.
"""

from __future__ import annotations

from ..analysis import Loop, Loops, definitions
from ..builder import Variables
from ..core import CALLING, Block, Const, Function, Instr, Target, Value, clone_blocks, const, map_uses, uses
from ..counters import find_counter, walks_array
from ..records import field, record
from ..types import BOOL, I64
from .ranges import UNCHECKED
from .rewriting import substitute

LARGEST_LOOP = 600  # instructions
GROWTH = 3000  # instructions added to a function
MAGNITUDE = 2**55
_TERMS, _COEFFICIENT, _CONSTANT = 4, 16, 2**40


def run(function: Function) -> bool:
    if len(function.blocks) == 1 or not any(i.op == "guard" for _, i in function.instructions()):
        return False
    if any(b.handler is not None for b in function.blocks):
        return False
    loops = Loops(function)
    if not loops.all:
        return False
    forms = _Forms(function, loops)
    analyses = find_hoistable(loops, forms)
    growth = 0
    renamed: set[Value] = set()  # what an earlier versioning gave a second definition
    changed = False
    for loop in loops.all:  # outer before inner: inner loops are then versioned in the fast version only
        analysis = analyses.get(loop)
        if analysis is None or not analysis.worthwhile or analysis.mentions(renamed):
            continue
        size = sum(len(b.instrs) for b in loop.blocks)
        if size > LARGEST_LOOP or growth + size > GROWTH:
            continue
        growth += size
        renamed |= _Versioning(function, forms, analysis).run()
        changed = True
    return changed


# ----------------------------------------------------------------------------------------------- linear forms


@record(frozen=True)
class Linear:
    """The sum of coefficient * value, and a constant.

    values: all that went into it, also what cancelled.  needs: what it takes for granted.
    """

    terms: dict[Value, int]
    constant: int = 0
    values: frozenset[Value] = frozenset()
    needs: tuple[Assumption, ...] = ()

    def plus(self, other: Linear | None, factor: int = 1) -> Linear | None:
        if other is None:
            return None
        terms = dict(self.terms)
        for value, coefficient in other.terms.items():
            terms[value] = terms.get(value, 0) + factor * coefficient
            if terms[value] == 0:
                del terms[value]
        constant = self.constant + factor * other.constant
        if len(terms) > _TERMS or abs(constant) > _CONSTANT or any(abs(c) > _COEFFICIENT for c in terms.values()):
            return None
        return Linear(terms, constant, self.values | other.values, self.needs + other.needs)


@record(frozen=True)
class Assumption:
    """A condition that the fast version takes for granted.

    `form`, of values outside of the loop, is not negative just if this is right; None if `condition` itself is outside.
    """

    condition: Value
    holds: bool
    form: Linear | None = None


@record
class Counter:
    """A loop's counter, to which `step` is added each time round.

    In the blocks that `body` dominates it lies between `start` and `bound` (the last value that the test lets through).
    """

    loop: Loop
    param: Value
    step: int
    body: Block
    start: Value
    bound: Linear


@record
class Analysis:
    """What versioning one loop gains."""

    loop: Loop
    assumptions: dict[Value, Assumption] = field(default_factory=dict)
    worthwhile: bool = False  # whether it frees an innermost loop of a guard

    def values(self) -> dict[Value, None]:
        """The invariants that have to be small."""
        forms = [a.form for a in self.assumptions.values() if a.form is not None]
        found = {v for form in forms for v in form.values}
        ordered = [v for form in forms for v in form.terms]  # a reproducible order for most
        return dict.fromkeys([*ordered, *sorted(found - set(ordered), key=lambda v: v.name)])

    def mentions(self, values: set[Value]) -> bool:
        return any(
            a.condition in values or (a.form is not None and not values.isdisjoint(a.form.values))
            for a in self.assumptions.values()
        )


def find_hoistable(loops: Loops, forms: _Forms) -> dict[Loop, Analysis]:
    """Per loop, the guards that are best tested in its preheader (no loop further out would do)."""
    result: dict[Loop, Analysis] = {}
    for block in loops.dominators.order:
        loop = loops.of.get(block)
        if loop is None:
            continue
        for instr in block.instrs:
            if instr.op != "guard" or isinstance(instr.operands[0], Const) or "kept" in instr.attrs:
                continue
            best: tuple[Loop, tuple[Assumption, ...]] | None = None
            around: Loop | None = loop
            while around is not None and around.preheader is not None and not forms.is_heavy(around):
                assumptions = forms.assumptions(instr.operands[0], True, around)
                if assumptions is None:
                    break
                best = around, assumptions
                around = around.parent
            if best is not None:
                analysis = result.setdefault(best[0], Analysis(best[0]))
                analysis.worthwhile |= not loop.children
                for assumption in best[1]:
                    analysis.assumptions[assumption.condition] = assumption
    return result


# x op y, as factor * (x - y) + constant >= 0
_POSITIVE = {"lt": (-1, -1), "le": (-1, 0), "gt": (1, -1), "ge": (1, 0)}
_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


class _Forms:
    """Linear forms of integers, relative to a loop: in terms of the counters in it and of what is outside of it."""

    def __init__(self, function: Function, loops: Loops):
        self.loops = loops
        self.defined = definitions(function)
        self.predecessors = function.predecessors()
        self.counters: dict[Value, Counter | None] = {}
        self.tested = {loop.header: find_counter(loop) for loop in loops.all}
        self.cache: dict[tuple[Value, Loop], Linear | None] = {}
        self.heavy: dict[Loop, bool] = {}

    def is_heavy(self, loop: Loop) -> bool:
        """Whether a loop does so much that its guards do not count."""
        if loop not in self.heavy:
            self.heavy[loop] = any(i.op in CALLING or walks_array(i) for b in loop.blocks for i in b.instrs)
        return self.heavy[loop]

    def inside(self, value: Value, loop: Loop) -> bool:
        return not isinstance(value, Const) and self.defined[value][0] in loop.blocks

    def maker(self, value: Value) -> Instr | None:
        return self.defined[value][1] if value in self.defined else None

    def form(self, value: Value, loop: Loop) -> Linear | None:
        if isinstance(value, Const):
            return Linear({}, value.value) if type(value.value) is int and abs(value.value) <= _CONSTANT else None
        if value not in self.defined:  # made by a versioning
            return None
        if not self.inside(value, loop):
            return Linear({value: 1}, 0, frozenset({value}))
        key = (value, loop)
        if key not in self.cache:
            self.cache[key] = None  # while it is being found out
            self.cache[key] = self._form(value, loop)
        return self.cache[key]

    def _form(self, value: Value, loop: Loop) -> Linear | None:
        instr = self.maker(value)
        if instr is None:
            return Linear({value: 1}, 0, frozenset({value})) if self.counter(value) is not None else None
        op, operands = UNCHECKED.get(instr.op, instr.op), instr.operands
        if op == "stop":
            return self.form(operands[0], loop)
        if op == "neg":
            return Linear({}).plus(self.form(operands[0], loop), -1)
        if op in ("add", "sub"):
            x = self.form(operands[0], loop)
            return x and x.plus(self.form(operands[1], loop), 1 if op == "add" else -1)
        if op == "mul":
            x, y = operands
            x, y = (y, x) if isinstance(x, Const) else (x, y)
            return Linear({}).plus(self.form(x, loop), y.value) if isinstance(y, Const) else None
        if op == "select":
            return self._index(instr, loop)
        return None

    def _index(self, instr: Instr, loop: Loop) -> Linear | None:
        """`select (lt i, 0), i + n, i`: taken as i, for granted that i is never negative."""
        condition, x, y = instr.operands
        test = self.maker(condition)
        if test is None or test.op not in ("lt", "ge"):
            return None
        zero = test.operands[1]
        if not isinstance(zero, Const) or zero.value != 0:
            return None
        form = self.form(y if test.op == "lt" else x, loop)
        needs = self.assumptions(condition, test.op == "ge", loop)
        return form and form.plus(Linear({}, needs=needs)) if needs is not None else None

    # --------------------------------------------------------------------------------------------- counters

    def counter(self, param: Value) -> Counter | None:
        if param not in self.counters:
            self.counters[param] = None
            self.counters[param] = self._counter(param)
        return self.counters[param]

    def _counter(self, param: Value) -> Counter | None:
        header, instr = self.defined[param]
        loop = self.loops.of.get(header)
        if instr is not None or loop is None or loop.header is not header or param.type is not I64:
            return None
        found, preheader = self.tested[header], loop.preheader
        if found is None or found.param is not param or found.tested is not param or found.block is not header:
            return None
        if preheader is None or loop.latch is None or loop.latch.instrs[-1].op != "jump" or abs(found.step) > _CONSTANT:
            return None
        if not found.ends or found.op == "ne":
            return None
        body = header.instrs[-1].targets[1 - found.leaving].block
        limit = self.form(found.bound, loop)
        if limit is None or len(self.predecessors[body]) != 1:
            return None
        # The last value of the counter that the test lets through.
        last = limit.plus(Linear({}, {"lt": -1, "gt": 1}.get(found.op, 0)))
        if last is None:
            return None
        start = preheader.instrs[-1].targets[0].args[found.index]
        return Counter(loop, param, found.step, body, start, last)

    # ------------------------------------------------------------------------------------------- conditions

    def assumptions(self, condition: Value, holds: bool, loop: Loop) -> tuple[Assumption, ...] | None:
        """What makes `condition` come out as `holds` in all iterations of `loop`; None if that cannot be told."""
        if isinstance(condition, Const):
            return () if condition.value is holds else None
        if not self.inside(condition, loop):
            return (Assumption(condition, holds),)
        instr = self.maker(condition)
        if instr is None:
            return None
        if instr.op == "not":
            return self.assumptions(instr.operands[0], not holds, loop)
        if instr.op == ("and" if holds else "or") and condition.type is BOOL:
            x, y = (self.assumptions(v, holds, loop) for v in instr.operands)
            return x + y if x is not None and y is not None else None
        if instr.op not in _POSITIVE or instr.operands[0].type is not I64:
            return None
        factor, constant = _POSITIVE[instr.op if holds else _OPPOSITE[instr.op]]
        x, y = (self.form(v, loop) for v in instr.operands)
        difference = x and x.plus(y, -1)
        form = difference and Linear({}, constant).plus(difference, factor)
        least = form and self.least(form, self.defined[condition][0], loop)
        if least is None or (not least.terms and least.constant < 0):  # for certain it does not always hold
            return None
        return (*least.needs, Assumption(condition, holds, least))

    def least(self, form: Linear, block: Block, loop: Loop) -> Linear | None:
        """The least value of `form` in `block` over all iterations of `loop`, in terms of what is outside of it."""
        counters = self.counters_in(form, loop)
        while counters:
            # An inner counter's limits may depend on the outer counters, so it goes first.
            inner = max(counters, key=lambda c: c.loop.depth)
            if not self.loops.dominators.dominates(inner.body, block):
                return None
            start, last = self.form(inner.start, loop), self.last(inner, loop)
            if start is None or last is None:
                return None
            coefficient = form.terms.get(inner.param, 0)
            extreme = start if (coefficient > 0) == (inner.step > 0) else last
            without = Linear(
                {v: c for v, c in form.terms.items() if v is not inner.param},
                form.constant,
                (form.values | start.values | last.values) - {inner.param},
                form.needs + start.needs + last.needs,
            )
            following = without.plus(extreme, coefficient)
            if following is None:
                return None
            form, block = following, inner.loop.header
            counters = self.counters_in(form, loop)
        return form

    def counters_in(self, form: Linear, loop: Loop) -> list[Counter]:
        return [c for v in form.values if self.inside(v, loop) and (c := self.counters.get(v)) is not None]

    def last(self, counter: Counter, loop: Loop) -> Linear | None:
        """The last value of a counter; exact if its step is 1 or all is constant, else a bound."""
        total: Linear | None = Linear({}, counter.bound.constant)
        for value, coefficient in counter.bound.terms.items():
            total = total and total.plus(self.form(value, loop), coefficient)
        if total and not total.terms and abs(counter.step) > 1 and isinstance(counter.start, Const):
            return Linear({}, total.constant - (total.constant - counter.start.value) % counter.step, total.values)
        return total


# ------------------------------------------------------------------------------------------------- versioning


class _Versioning:
    """Makes the two versions of one loop. The blocks that are there become the fast one."""

    def __init__(self, function: Function, forms: _Forms, analysis: Analysis):
        self.function = function
        self.forms = forms
        self.analysis = analysis
        self.loop = analysis.loop
        preheader = self.loop.preheader
        assert preheader is not None
        self.preheader = preheader
        self.position = preheader.instrs[-1].position

    def run(self) -> set[Value]:
        """Values of the loop that are used after it, and so have two definitions now."""
        fast = [b for b in self.function.blocks if b in self.loop.blocks]
        values: dict[Value, Value] = {}
        slow = clone_blocks(fast, values, lambda name: f"{name}.checked")
        for block in slow:
            for instr in block.instrs:
                if instr.op == "guard":
                    instr.attrs["kept"] = True
        escaping = self.escaping()
        self.enter(fast, slow)
        if escaping:
            self.merge(fast, slow, values, escaping)
        self.drop_checks(fast)
        return escaping

    def enter(self, fast: list[Block], slow: list[Block]) -> None:
        entering = self.preheader.instrs.pop()
        everything = self.emit_test()
        targets: list[Target] = []
        header = self.loop.header
        for name, first in (("fast", header), ("checked", slow[fast.index(header)])):
            block = Block(f"{header.name}.{name}")
            onward = Target(first, list(entering.targets[0].args))
            block.instrs.append(Instr("jump", targets=[onward], position=self.position))
            targets.append(Target(block))
            if first is header:
                self.loop.entering = [(block, onward)]
        self.preheader.instrs.append(Instr("branch", [everything], targets=targets, position=self.position))
        at = self.function.blocks.index(fast[0])
        self.function.blocks[at:at] = [t.block for t in targets]
        at = self.function.blocks.index(fast[-1]) + 1
        self.function.blocks[at:at] = slow

    # ---------------------------------------------------------------------------------------------- the test

    def emit(self, op: str, *operands: Value) -> Value:
        type = I64 if op in ("add", "sub", "mul") else BOOL
        result = Value(type, "inside" if type is BOOL else "")
        self.preheader.instrs.append(Instr(op, list(operands), [result], position=self.position))
        return result

    def emit_test(self) -> Value:
        conditions: list[Value] = []
        seen: set[tuple[frozenset[tuple[Value, int]], int]] = set()
        for assumption in self.analysis.assumptions.values():
            form = assumption.form
            if form is None:
                condition = assumption.condition
                conditions.append(condition if assumption.holds else self.emit("not", condition))
                continue
            key = (frozenset(form.terms.items()), form.constant)
            if key not in seen:
                seen.add(key)
                conditions.append(self.emit_not_negative(form))
        for value in self.analysis.values():
            if not self.is_small(value, 4):
                conditions.append(self.emit("le", value, const(MAGNITUDE)))
                conditions.append(self.emit("ge", value, const(-MAGNITUDE)))
        everything = conditions[0]
        for condition in conditions[1:]:
            everything = self.emit("and", everything, condition)
        return everything

    def is_small(self, value: Value, depth: int) -> bool:
        """Whether it can be seen that a value is small: made from lengths of arrays and literals."""
        if isinstance(value, Const):
            return type(value.value) is int and abs(value.value) <= _CONSTANT
        maker = self.forms.maker(value)
        if maker is None or depth == 0:
            return False
        if maker.op in ("add", "sub", "neg", "stop"):
            return all(self.is_small(v, depth - 1) for v in maker.operands)
        if maker.op == "select":
            return all(self.is_small(v, depth - 1) for v in maker.operands[1:])
        return maker.op == "dim"

    def emit_not_negative(self, form: Linear) -> Value:
        total: Value = const(form.constant)
        for value, coefficient in sorted(form.terms.items(), key=lambda term: -term[1]):
            scale = abs(coefficient)
            part = value if scale == 1 else self.emit("mul", value, const(scale))
            if coefficient < 0:
                total = self.emit("sub", total, part)
            else:
                total = part if isinstance(total, Const) and total.value == 0 else self.emit("add", part, total)
        return self.emit("ge", total, const(0))

    # --------------------------------------------------------------------------------- merging and simplifying

    def escaping(self) -> set[Value]:
        """What is defined in the loop and used outside."""
        inside = self.loop.blocks
        defined = {v for b in inside for v in b.params} | {v for b in inside for i in b.instrs for v in i.results}
        return {
            v for b in self.function.blocks if b not in inside for i in b.instrs for v in uses(i) if v in defined
        }  # fmt: skip

    def merge(self, fast: list[Block], slow: list[Block], values: dict[Value, Value], escaping: set[Value]) -> None:
        """After the loop a value of it comes from one version or the other."""
        ssa: Variables[Value] = Variables(type_of=lambda v: v.type, name_of=lambda v: v.name)
        for block in self.function.blocks:
            for target in block.successors():
                ssa.add_edge(block, target)
        for block in self.function.blocks:
            ssa.seal(block)
        dominators = self.forms.loops.dominators
        for value in escaping:
            home = self.forms.defined[value][0]
            for block, copy in zip(fast, slow, strict=True):
                if dominators.dominates(home, block):
                    ssa.write(block, value, value)
                    ssa.write(copy, value, values[value])
        versions = {*fast, *slow}
        for block in self.function.blocks:
            if block not in versions:
                for instr in block.instrs:
                    map_uses(instr, lambda v, b=block: ssa.read(b, v) if v in escaping else v)
        ssa.finish(self.function.blocks)

    def drop_checks(self, fast: list[Block]) -> None:
        """In the fast version the conditions are constants, and arithmetic on indices does not overflow."""
        known: dict[Value, Value] = {c: const(a.holds) for c, a in self.analysis.assumptions.items()}
        small = set(self.analysis.values())
        for block in fast:
            for instr in block.instrs:
                substitute(instr, known)
                if instr.op in UNCHECKED and self.cannot_overflow(instr, block, small):
                    instr.op = UNCHECKED[instr.op]

    def cannot_overflow(self, instr: Instr, block: Block, small: set[Value]) -> bool:
        form = self.forms.form(instr.results[0], self.loop)
        if form is None or form.needs:
            return False
        least = self.forms.least(form, block, self.loop)
        return least is not None and least.values <= small
