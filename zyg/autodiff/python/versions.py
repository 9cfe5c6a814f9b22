"""Blocks of both halves in two versions: a plain one for what most programs do most of the time, and the general one for all else.

In the plain version of a block of a forward half operands have been found to be real numbers, and objects to be of classes whose
attributes are read and set plainly; operators and accesses are then what they are in CPython. Each thing is tested once.
Where a block of a reverse half finds that nothing was recorded rarely, its operators have been run plainly on real numbers:
their cotangents are sums of products, and what was read plainly takes no look at a pullback.

Where a test fails, control goes on in the general version, behind what has been done:

    block:                            block:
      ...                               ...
      <operations>           ->         branch <tests>, plain, general
      <terminator>                    plain:    <operations>; jump end(...)
                                      end(...): <terminator>
                                      general:  <operations>; jump end(...)          (behind all others)
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from zyg.ir.analysis import use_counts
from zyg.ir.core import Block, Const, Function, Instr, Target, Value, clone, uses
from zyg.ir.types import BOOL, NONE, OBJECT

from .forward import blocks_in_cycles
from .landing import so_far, split_halfway
from .likely import integers
from .taping import join_chains, push_early

NOTHING = Const(None, NONE)
_TYPE = Const(type, OBJECT)
_ZERO = Const(0, OBJECT)
NATURAL = "natural"


def in_versions(function: Function, versions: type[Versions], chosen: Callable[[Instr], bool], enough: int) -> Function:
    """A function with its blocks in two versions, where at least `enough` instructions are chosen."""
    function = clone(function)
    push_early(function)
    join_chains(function)
    if not any(chosen(instr) or instr.op == "so_far" for _, instr in function.instructions()):
        return function
    around = _Around(function)
    behind: list[Block] = []
    layout: list[Block] = []
    for block in function.blocks:
        layout.append(block)
        places = [n for n, instr in enumerate(block.instrs) if chosen(instr)]
        taken = so_far(block)
        if len(places) >= enough and _can_be_left(block):
            last = max(n for n, instr in enumerate(block.instrs) if n == places[-1] or _profits(instr))
            if taken is not None:
                last = block.instrs.index(taken) - 1
            first = next(n for n, instr in enumerate(block.instrs) if n == places[0] or gives_position(instr))
            if first and _is_cotangent(block.instrs[first - 1], block.instrs[first]):
                first -= 1
            made = versions(block, first, last + 1, around)
            if taken is not None:
                made.split_halfway(taken)
            layout += made.plain
            behind += made.general
        elif taken is not None:
            results = {r for instr in block.instrs for r in instr.results}
            layout += split_halfway([block], taken.operands, lambda v: v, set(), results)[1:]
    function.blocks[:] = layout + behind
    return function


def _is_cotangent(made: Instr, pull: Instr) -> bool:
    """Whether a tuple is made of cotangents to be that of what is taken apart next."""
    return made.op == "tuple" and pull.op == "pull" and pull.operands[1] is made.result


class _Around:
    """What is known of a function when its blocks get their versions."""

    def __init__(self, function: Function):
        self.function = function
        self.gathered = {function.params[at]: kind for at, kind in function.attrs.get("gathered", {}).items()}
        self.looping = blocks_in_cycles(function)
        self.used_in: dict[Value, set[Block]] = {}
        self.targets: dict[Block, list[Target]] = {}  # that lead to a block
        self.sources: dict[Block, list[Block]] = {}  # from which a block is reached, by exceptions too
        self.home = {p: block for block in function.blocks for p in block.params}
        self.makers: dict[Value, Instr] = {}
        self.counts = use_counts(function)
        self.integers = integers(function)
        self.shadows: dict[tuple[Value, Any], tuple[Value, ...]] = {}
        for block in function.blocks:
            for instr in block.instrs:
                for v in uses(instr):
                    self.used_in.setdefault(v, set()).add(block)
                for target in instr.targets:
                    self.targets.setdefault(target.block, []).append(target)
                    self.sources.setdefault(target.block, []).append(block)
                for r in instr.results:
                    self.home[r] = block
                    self.makers[r] = instr
            if block.handler is not None:
                self.sources.setdefault(block.handler.block, []).append(block)
                for v in block.handler.args:
                    self.used_in.setdefault(v, set()).add(block)

    def looked_up(self, last: Value, of: str, kinds: Any) -> tuple[Value, ...]:
        """Variables for the object whose shadows of certain kinds were looked up last, and these; where `last` is the one for
        shadows of any kind."""
        if (last, (of, kinds)) not in self.shadows:
            count = len(kinds) if isinstance(kinds, tuple) else 1
            made = self.shadows[last, (of, kinds)] = tuple([Value(OBJECT) for _ in range(1 + count)])
            start = self.makers[last]
            entry = self.home[last]
            entry.instrs.insert(entry.instrs.index(start), Instr("nothing_looked_up", [], list(made)))
        return self.shadows[last, (of, kinds)]

    def loop(self, header: Block, end: Block) -> set[Block]:
        """The blocks of the loop that goes round from `end` to `header`; none if that is none."""
        found, work = {header, end}, [end] if end is not header else []
        while work:
            for source in self.sources.get(work.pop(), ()):
                if source not in found:
                    found.add(source)
                    work.append(source)
        return found if self.function.entry not in found else set()


def _profits(instr: Instr) -> bool:
    """Whether an instruction takes less where it is known what comes before it."""
    return instr.op == "accumulate" or (instr.op == "pull" and not instr.attrs.keys().isdisjoint(("access", "inline")))


def gives_position(instr: Instr) -> bool:
    """Whether the pullback of an operation is a position in a list or deque, if that was done plainly."""
    attrs = instr.attrs
    if instr.op != "pull" or "brief" in attrs:
        return False
    return attrs.get("access") == "list_append" or "inline" in attrs or reads_from_end(instr, 4)


def reads_from_end(instr: Instr, key: int) -> bool:
    """Whether an item is read by a constant number that is below zero, or that is undone; operand `key` is that number."""
    if "rare" in instr.attrs or "getitem" not in (instr.attrs.get("direct"), instr.attrs.get("access")):
        return False
    at = instr.operands[key]
    return isinstance(at, Const) and type(at.value) is int and at.value < 0


def _can_be_left(block: Block) -> bool:
    """Whether what the block's handler wants is there before the block."""
    if block.handler is None:
        return True
    made = {r for instr in block.instrs for r in instr.results}
    return made.isdisjoint(block.handler.args)


def is_nothing(v: Value) -> bool:
    return isinstance(v, Const) and v.value is None


def _resolved(passed: dict[Value, Value], v: Value) -> Value:
    return passed.get(v, v)


class Test(NamedTuple):
    """A test of a value. `what`: "none", "some" (other than None), "typed" (exactly of one of the types `among`), "member" (a type
    that is among `among`), "same" (`among` itself), NATURAL (an int that is not below zero), "looked_up" (what has a shadow of the kind `among`, which
    `shadows` are let to be)."""

    what: str
    value: Value
    likely: type = float
    among: Any = None
    of: Value | None = None  # the object whose type `value` is to be
    shadows: tuple[Value, ...] = ()

    @property
    def fact(self) -> Any:
        """What is known for ever of a value that has passed: a set of types, or NATURAL; else None."""
        return self.among if self.among is NATURAL or isinstance(self.among, frozenset) and self.of is None else None

    def emit(self, at: Block, passed: Target, failed: Target) -> None:
        if self.what == "typed":
            found = Value(BOOL)
            attrs = {"likely": self.likely, "types": self.among}
            at.instrs.append(Instr("typed", [self.value], [found], attrs))
            at.instrs.append(Instr("branch", [found], [], {}, [passed, failed]))
            return
        if self.what == "looked_up":
            found = Value(BOOL)
            at.instrs.append(Instr("looked_up", [self.value, *self.shadows], [found], {"kind": self.among}))
            at.instrs.append(Instr("branch", [found], [], {}, [passed, failed]))
            return
        if self.what is NATURAL:
            found = Value(BOOL)
            at.instrs.append(Instr("ge", [self.value, _ZERO], [found]))
            at.instrs.append(Instr("branch", [found], [], {}, [passed, failed]))
            return
        if self.of is not None:
            at.instrs.append(Instr("call_object", [_TYPE, self.of], [self.value], {"keywords": ()}))
        found, truth = Value(BOOL), Value(BOOL)
        other = Const(self.among, OBJECT) if self.what in ("member", "same") else NOTHING
        at.instrs.append(Instr("contains" if self.what == "member" else "is", [self.value, other], [found]))
        at.instrs.append(Instr("truth", [found], [truth]))
        targets = [failed, passed] if self.what == "some" else [passed, failed]
        at.instrs.append(Instr("branch", [truth], [], {}, targets))


class _Segment(NamedTuple):
    """A part of the body of a block before which the plain version may be left."""

    begun: int
    before: Block  # where the tests begin
    plain: Block
    general: Block
    values: dict[Value, Value]  # where the plain version has what was there before
    tests: list[Test]


class Carried(NamedTuple):
    """Tests that are not made again where a value is None."""

    flag: Value
    tests: list[Test]


class Versions:
    """The two versions of a part of a block. The block is left with what comes before it, and its end gets what comes behind."""

    def __init__(self, block: Block, first: int, behind: int, around: _Around):
        self.block = block
        self.around = around
        self.looping = block in around.looping
        used_in = around.used_in
        self.body, rest = block.instrs[first:behind], block.instrs[behind:]
        del block.instrs[first:]
        # What the body defines, and where: what is used behind it becomes parameters of the end.
        self.made_at = {r: n for n, instr in enumerate(self.body) for r in instr.results}
        later = {v for instr in rest for v in uses(instr)}
        outs = [v for v in self.made_at if v in later or used_in.get(v, set()) - {block}]
        self.plain: list[Block] = []
        self.general: list[Block] = []
        self.end = self._new("end")
        self.end.params = list(outs)
        self.end.instrs = rest
        self.value: dict[Value, Value] = {}  # what takes the place of a value in the plain version
        self.segments: list[_Segment] = []
        self.here = block
        self._begin(0)
        for n, instr in enumerate(self.body):
            self.number = n
            self._translate(instr)
        self._completed()
        self._jump(self.here, self.end, [self._of(v) for v in outs])
        self._general_versions(outs)
        self.plain.append(self.end)

    def split_halfway(self, taken: Instr) -> None:
        """Let the block's landing get what each version has computed."""
        every = [self.block, *self.plain, *self.general]
        made = {v for b in every for v in (*b.params, *[r for instr in b.instrs for r in instr.results])} - {
            *self.block.params
        }
        at_start = {r for instr in self.block.instrs for r in instr.results}
        self.plain = split_halfway([self.block, *self.plain], taken.operands, self._of, set(), made)[1:]
        general: list[Block] = []
        for block, passed in zip(self.general, self.passed, strict=True):
            current = functools.partial(_resolved, passed)
            general += split_halfway([block], taken.operands, current, at_start | set(block.params), made, general=True)
        self.general = general

    @abstractmethod
    def _translate(self, instr: Instr) -> None:
        """Emit an instruction of the plain version."""

    def _completed(self) -> None:
        """The plain version is complete, and all tests are known."""

    def _new(self, name: str) -> Block:
        made = Block(f"{self.block.name}.{name}")
        made.in_iterator = self.block.in_iterator
        handler = self.block.handler
        if handler is not None:
            made.handler = Target(handler.block, list(handler.args))
        return made

    # ---- segments: the general version is entered at the start of one

    def _begin(self, number: int) -> None:
        """Begin a segment at an operation: tests come first, which are known when all is done."""
        before, self.here = self.here, self._new("plain")
        self.begun = number
        self.segments.append(_Segment(number, before, self.here, self._new("general"), dict(self.value), []))

    def _begin_here(self) -> None:
        """Begin a segment at the current operation, unless one begins there."""
        if self.begun != self.number:
            self._begin(self.number)

    def _test(self, test: Test) -> None:
        """Test before the current segment."""
        self.segments[-1].tests.append(test)

    def _test_early(self, original: Value, test: Test) -> None:
        """Test as soon as the value is there, which may be before the current operation: for what stays as it is."""
        made = self.made_at.get(original, -1)
        if made >= self.begun:
            self._begin_here()
        next(segment for segment in self.segments if made < segment.begun).tests.append(test)

    def _general_versions(self, outs: list[Value]) -> None:
        """The general version of each segment, and the tests that lead there."""
        passed: dict[Value, Value] = {}
        self.general = [segment.general for segment in self.segments]
        self.passed: list[dict[Value, Value]] = []  # per general version, what it has in the place of a value
        ends = [segment.begun for segment in self.segments[1:]] + [len(self.body)]
        for k, (segment, end) in enumerate(zip(self.segments, ends, strict=True)):
            block = segment.general
            needed = self._needed(segment.begun, outs)
            block.params = [Value(v.type, v.name) for v in needed]
            if k:
                self._jump(self.general[k - 1], block, [passed.get(v, v) for v in needed])
            passed = dict(zip(needed, block.params, strict=True))
            self.passed.append(passed)
            self._lay_out(segment, [segment.values.get(v, v) for v in needed])
            for instr in self.body[segment.begun : end]:
                operands = [passed.get(v, v) for v in instr.operands]
                for r in instr.results:
                    passed[r] = Value(r.type, r.name)
                results = [passed[r] for r in instr.results]
                block.instrs.append(Instr(instr.op, operands, results, dict(instr.attrs), [], instr.position))
        args = [passed.get(v, v) for v in outs]
        self._jump(self.general[-1], self.end, args + [Const(False, OBJECT)] * (len(self.end.params) - len(outs)))

    def _lay_out(self, segment: _Segment, args: list[Value]) -> None:
        """The tests of a segment, one behind the other; where one fails, its general version comes with `args`."""
        sure = self._carried(segment.tests) if segment.begun == 0 else None
        tests = [test for test in segment.tests if sure is None or test not in sure.tests]
        if sure is not None:
            tests += [Test("none", sure.flag), *sure.tests]
        blocks = [segment.before, *[self._new("test") for _ in tests[1:]], segment.plain]
        self.plain += blocks[1:]
        if not tests:
            self._jump(segment.before, segment.plain, [])
        for at, test, onward in zip(blocks, tests, blocks[1:]):
            failed = Target(segment.general, list(args))
            if sure is not None and test.value is sure.flag:
                test.emit(at, Target(segment.plain), Target(onward))
            else:
                test.emit(at, Target(onward), failed)

    def _carried(self, tests: list[Test]) -> Carried | None:
        """Of the first tests those whose outcome a loop carries to the next iteration."""
        return None

    def _needed(self, begun: int, outs: list[Value]) -> list[Value]:
        """What is there before operation `begun` that the rest of the body uses, or what comes behind it."""
        used = dict.fromkeys(outs)
        for instr in self.body[begun:]:
            used.update(dict.fromkeys(uses(instr)))
        return [v for v in used if self.made_at.get(v, begun) < begun]

    def _jump(self, at: Block, to: Block, args: list[Value]) -> None:
        at.instrs.append(Instr("jump", targets=[Target(to, args)]))

    # ---- instructions

    def _of(self, v: Value) -> Value:
        return self.value.get(v, v)

    def _emit(self, op: str, operands: list[Value], position: Any, named: str = "", **attrs: Any) -> Value:
        made = Value(OBJECT, named)
        self.here.instrs.append(Instr(op, operands, [made], attrs, [], position))
        return made

    def _copy(self, instr: Instr, **attrs: Any) -> Instr:
        copy = Instr(instr.op, [self._of(v) for v in instr.operands], [], instr.attrs | attrs, [], instr.position)
        for r in instr.results:
            self.value[r] = Value(r.type, r.name)
            copy.results.append(self.value[r])
        self.here.instrs.append(copy)
        return copy
