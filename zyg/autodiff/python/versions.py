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

from collections.abc import Callable
from typing import Any, NamedTuple

from zyg.backend.phrases import REALS
from zyg.ir.core import Block, Const, Function, Instr, Target, Value, clone, uses
from zyg.ir.types import BOOL, NONE, OBJECT

from . import rules
from .forward import blocks_in_cycles
from .taping import join_chains, push_early

NOTHING = Const(None, NONE)
_TYPE = Const(type, OBJECT)
_READ = frozenset({"getattr", "getitem"})
_WRITTEN = frozenset({"setattr", "setitem"})
_COMPARISONS = frozenset({"lt", "le", "eq", "ne", "gt", "ge"})


def plain_reverse(function: Function) -> Function:
    """A reverse half with its blocks in two versions, where that is worth it; it is not changed itself."""
    return _in_versions(function, _PlainReverse, _has_formulas, 1)


def plain_forward(function: Function) -> Function:
    """A forward half with its blocks in two versions, where that is worth it; it is not changed itself."""
    return _in_versions(function, _PlainForward, _is_written_out, 2)


def _in_versions(
    function: Function, versions: type[_Versions], chosen: Callable[[Instr], bool], enough: int
) -> Function:
    function = clone(function)
    push_early(function)
    join_chains(function)
    if not any(chosen(instr) for _, instr in function.instructions()):
        return function
    around = _Around(function)
    behind: list[Block] = []
    layout: list[Block] = []
    for block in function.blocks:
        layout.append(block)
        places = [n for n, instr in enumerate(block.instrs) if chosen(instr)]
        if len(places) >= enough and _can_be_left(block):
            last = max(n for n, instr in enumerate(block.instrs) if n == places[-1] or _profits(instr))
            made = versions(block, places[0], last + 1, around)
            layout += made.plain
            behind += made.general
    function.blocks[:] = layout + behind
    return function


class _Around:
    """What is known of a function when its blocks get their versions."""

    def __init__(self, function: Function):
        self.looping = blocks_in_cycles(function)
        self.used_in: dict[Value, set[Block]] = {}
        self.targets: dict[Block, list[Target]] = {}  # that lead to a block
        for block in function.blocks:
            for instr in block.instrs:
                for v in uses(instr):
                    self.used_in.setdefault(v, set()).add(block)
                for target in instr.targets:
                    self.targets.setdefault(target.block, []).append(target)
            for v in block.handler.args if block.handler is not None else ():
                self.used_in.setdefault(v, set()).add(block)


def _profits(instr: Instr) -> bool:
    """Whether an instruction takes less where it is known what comes before it."""
    return instr.op == "accumulate" or (instr.op == "pull" and "access" in instr.attrs)


def _can_be_left(block: Block) -> bool:
    """Whether what the block's handler wants is there before the block."""
    if block.handler is None:
        return True
    made = {r for instr in block.instrs for r in instr.results}
    return made.isdisjoint(block.handler.args)


def _is_nothing(v: Value) -> bool:
    return isinstance(v, Const) and v.value is None


class _Test(NamedTuple):
    """A test of a value. `what`: "none", "some" (other than None), "typed" (exactly one of attrs["types"]), "member" (a type
    that is among `among`)."""

    what: str
    value: Value
    likely: type = float
    among: Any = None
    of: Value | None = None  # the object whose type `value` is to be

    def emit(self, at: Block, passed: Target, failed: Target) -> None:
        if self.what == "typed":
            found = Value(BOOL)
            attrs = {"likely": self.likely, "types": self.among}
            at.instrs.append(Instr("typed", [self.value], [found], attrs))
            at.instrs.append(Instr("branch", [found], [], {}, [passed, failed]))
            return
        if self.of is not None:
            at.instrs.append(Instr("call_object", [_TYPE, self.of], [self.value], {"keywords": ()}))
        found, truth = Value(BOOL), Value(BOOL)
        other = Const(self.among, OBJECT) if self.what == "member" else NOTHING
        at.instrs.append(Instr("contains" if self.what == "member" else "is", [self.value, other], [found]))
        at.instrs.append(Instr("truth", [found], [truth]))
        targets = [failed, passed] if self.what == "some" else [passed, failed]
        at.instrs.append(Instr("branch", [truth], [], {}, targets))


class _Segment(NamedTuple):
    """A part of the body of a block before which the plain version may be left."""

    begun: int
    general: Block
    tests: list[tuple[Block, _Test, Block]]
    values: dict[Value, Value]  # where the plain version has what was there before


class _Versions:
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
        self.tests: list[_Test] = []
        self._begin(0)
        for n, instr in enumerate(self.body):
            self.number = n
            self._translate(instr)
        self._finish()
        self._jump(self.here, self.end, [self._of(v) for v in outs])
        self._general_versions(outs)
        self.plain.append(self.end)

    def _translate(self, instr: Instr) -> None:
        """Emit an instruction of the plain version."""
        raise NotImplementedError

    def _new(self, name: str) -> Block:
        made = Block(f"{self.block.name}.{name}")
        made.in_generator = self.block.in_generator
        handler = self.block.handler
        if handler is not None:
            made.handler = Target(handler.block, list(handler.args))
        return made

    # ---- segments: the general version is entered at the start of one

    def _begin(self, number: int) -> None:
        """Begin a segment at an operation: tests come first, which are known when it is done."""
        self.begun = number
        self.before = self.here
        self.tests = []
        self.values_before = dict(self.value)
        self.here = self._new("plain")
        self.general.append(self._new("general"))

    def _begin_here(self) -> None:
        """Begin a segment at the current operation, unless one begins there."""
        if self.begun != self.number:
            self._finish()
            self._begin(self.number)

    def _test(self, test: _Test) -> None:
        self.tests.append(test)

    def _finish(self) -> None:
        """Lay a segment out: its tests behind the one before."""
        blocks = [self.before, *[self._new("test") for _ in self.tests[1:]], self.here]
        if not self.tests:
            self._jump(self.before, self.here, [])
        tests = [(at, test, onward) for at, test, onward in zip(blocks, self.tests, blocks[1:])]
        self.plain += blocks[1:]
        self.segments.append(_Segment(self.begun, self.general[-1], tests, self.values_before))

    def _general_versions(self, outs: list[Value]) -> None:
        """The general version of each segment, and the tests that lead there."""
        passed: dict[Value, Value] = {}
        ends = [segment.begun for segment in self.segments[1:]] + [len(self.body)]
        for k, (segment, end) in enumerate(zip(self.segments, ends, strict=True)):
            block = segment.general
            needed = self._needed(segment.begun, outs)
            block.params = [Value(v.type, v.name) for v in needed]
            if k:
                self._jump(self.general[k - 1], block, [passed.get(v, v) for v in needed])
            passed = dict(zip(needed, block.params, strict=True))
            args = [segment.values.get(v, v) for v in needed]
            for at, test, onward in segment.tests if k else self._carried(segment.tests):
                test.emit(at, Target(onward), Target(block, list(args)))
            for instr in self.body[segment.begun : end]:
                operands = [passed.get(v, v) for v in instr.operands]
                for r in instr.results:
                    passed[r] = Value(r.type, r.name)
                results = [passed[r] for r in instr.results]
                block.instrs.append(Instr(instr.op, operands, results, dict(instr.attrs), [], instr.position))
        args = [passed.get(v, v) for v in outs]
        self._jump(self.general[-1], self.end, args + [Const(False, OBJECT)] * (len(self.end.params) - len(outs)))

    def _carried(self, tests: list[tuple[Block, _Test, Block]]) -> list[tuple[Block, _Test, Block]]:
        """The first tests, but for those whose outcome the loop carries to the next iteration."""
        return tests

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

    def _copy(self, instr: Instr, **attrs: Any) -> None:
        copy = Instr(instr.op, [self._of(v) for v in instr.operands], [], instr.attrs | attrs, [], instr.position)
        for r in instr.results:
            self.value[r] = Value(r.type, r.name)
            copy.results.append(self.value[r])
        self.here.instrs.append(copy)


# ---------------------------------------------------------------------------------------------------- forward


def _is_written_out(instr: Instr) -> bool:
    """Whether the plain version of an instruction is what CPython does."""
    if instr.op != "record" or "direct" not in instr.attrs:
        return False
    direct = instr.attrs["direct"]
    if "rare" not in instr.attrs:
        return False
    if direct in ("getattr", "setattr"):
        return True
    if direct in _COMPARISONS:
        return all(
            not isinstance(v, Const) or type(v.value) in types
            for v, types in zip(instr.operands[1:3], instr.attrs["plain"])
        )
    if "plain" in instr.attrs or rules.base(direct) not in rules.DIRECT:
        return False
    return all(not isinstance(v, Const) or type(v.value) in REALS for v in instr.operands[1:])


class _PlainForward(_Versions):
    def __init__(self, *args: Any):
        self.reals: set[Value] = set()  # found to be real numbers
        self.typed: set[tuple[Value, int]] = set()  # found to be of other types
        self.flags: set[Value] = set()  # found to be None: what blocks before have recorded rarely
        self.types: dict[Value, Value] = {}  # of objects, by a value
        self.members: set[tuple[Value, int]] = set()
        self.read: dict[tuple[Value, str], Value] = {}  # what attributes are known to be
        self.barrier = -1  # where other code may have run last
        super().__init__(*args)

    def _translate(self, instr: Instr) -> None:
        if not _is_written_out(instr):
            self._copy(instr)
            self.barrier = self.number
            self.types.clear()
            self.members.clear()
            self.read.clear()
            return
        direct = instr.attrs["direct"]
        if direct == "getattr":
            self._getattr(instr)
        elif direct == "setattr":
            self._setattr(instr)
        elif direct in _COMPARISONS:
            self._comparison(instr)
        else:
            self._arithmetic(instr)

    def _carried(self, tests: list[tuple[Block, _Test, Block]]) -> list[tuple[Block, _Test, Block]]:
        """Where a loop goes round from the end of this block, numbers that this version has computed need no test in the next
        iteration: a parameter of the loop's header is None if they come from here."""
        last = self.end.terminator
        if last.op != "jump" or self.block.handler is not None:
            return tests
        (target,) = last.targets
        header = target.block
        came = dict(zip(header.params, target.args, strict=True))
        sure = {
            test.value
            for _, test, _ in tests
            if test.among is REALS and test.value in came and self._of(came[test.value]) in self.reals
        }
        if not sure:
            return tests
        known, passed = Value(OBJECT), Value(OBJECT)
        header.params.append(known)
        self.end.params.append(passed)
        for other in self.around.targets[header]:
            other.args.append(passed if other is target else Const(False, OBJECT))
        self.here.terminator.targets[0].args.append(NOTHING)
        onward = tests[-1][2]
        first = [test for _, test, _ in tests if test.value not in sure]
        rest = [test for _, test, _ in tests if test.value in sure]
        places = [at for at, _, _ in tests]
        result = [(at, test, on) for at, test, on in zip(places, first, places[1:])]
        extra = self._new("test")
        self.plain.insert(self.plain.index(onward), extra)
        blocks = [*places[len(first) + 1 :], extra, onward]
        _Test("none", known).emit(places[len(first)], Target(onward), Target(blocks[0]))
        return result + [(at, test, on) for at, test, on in zip(blocks, rest, blocks[1:])]

    def _is_there(self, original: Value) -> bool:
        """Whether a value is there where the segment begins."""
        return self.made_at.get(original, -1) < self.begun

    def _flag(self, flag: Value) -> None:
        """What was found before is so if `flag` is None."""
        if flag not in self.flags:
            if not self._is_there(flag):
                self._begin_here()
            self.flags.add(flag)
            self._test(_Test("none", flag))

    def _real(self, original: Value, likely: type) -> None:
        v = self._of(original)
        if isinstance(v, Const) or v in self.reals:
            return
        if not self._is_there(original):
            self._begin_here()
        self._test(_Test("typed", v, likely, REALS))
        self.reals.add(v)

    def _arithmetic(self, instr: Instr) -> None:
        attrs = instr.attrs
        count = len(instr.operands) - 2 - attrs["flags"]
        operands, flags = instr.operands[1 : 1 + count], instr.operands[1 + count : -1]
        own = instr.operands[-1]
        for flag, flagged in zip(reversed(flags), attrs["flagged"], strict=True):
            for k in flagged:
                v = self._of(operands[k])
                if v in self.reals:
                    continue
                if flag is own:
                    self._real(operands[k], float)
                else:
                    self._flag(flag)
                    self.reals.add(v)
        for k in attrs["tests"]:
            self._real(operands[k], int if k in attrs["ints"] else float)
        (result,) = instr.results
        direct = attrs["direct"]
        made = self._emit(direct, [self._of(v) for v in operands], instr.position, result.name)
        self.value[result] = made
        if rules.base(direct) != "pow":
            self.reals.add(made)

    def _comparison(self, instr: Instr) -> None:
        attrs = instr.attrs
        operands, flags = instr.operands[1:3], instr.operands[3:-1]
        own = instr.operands[-1]
        asked = [k for k in range(2) if k not in attrs["tests"]]
        for flag in flags:
            if flag is own:
                if not all(isinstance(operands[k], Const) or self._of(operands[k]) in self.reals for k in asked):
                    self._begin_here()
                    self._test(_Test("none", flag))
            else:
                self._flag(flag)
        for k in attrs["tests"]:
            types = attrs["plain"][k]
            v = self._of(operands[k])
            if isinstance(v, Const) or (v in self.reals and types >= REALS) or (v, id(types)) in self.typed:
                continue
            other = operands[1 - k]
            likely = type(other.value) if isinstance(other, Const) else float
            if not self._is_there(operands[k]):
                self._begin_here()
            self._test(_Test("typed", v, int if k in attrs["ints"] else likely, types))
            self.typed.add((v, id(types)))
        (result,) = instr.results
        self.value[result] = self._emit(attrs["direct"], [self._of(v) for v in operands], instr.position, result.name)

    def _member(self, original: Value, types: Any) -> None:
        """The class of an object is among those whose attribute is read, or set, plainly."""
        x = self._of(original)
        if (x, id(types)) in self.members:
            return
        if not self._is_there(original) or self.barrier >= self.begun:
            self._begin_here()
        known = x in self.types
        if not known:
            self.types[x] = Value(OBJECT)
        self._test(_Test("member", self.types[x], among=types, of=None if known else x))
        self.members.add((x, id(types)))

    def _getattr(self, instr: Instr) -> None:
        _, x, name, types, *_ = instr.operands
        assert isinstance(types, Const) and isinstance(name, Const)
        self._member(x, types.value.plain)
        result, *backs = instr.results
        for back in backs:
            self.value[back] = NOTHING
        key = self._of(x), name.value
        if key not in self.read:
            self.read[key] = self._emit("getattr", [key[0]], instr.position, result.name, name=name.value)
        self.value[result] = self.read[key]

    def _setattr(self, instr: Instr) -> None:
        _, x, value, name, types, *_ = instr.operands
        assert isinstance(types, Const) and isinstance(name, Const)
        self._member(x, types.value.plain)
        for back in instr.results:
            self.value[back] = NOTHING
        operands = [self._of(x), self._of(value)]
        self.here.instrs.append(Instr("setattr", operands, [], {"name": name.value}, [], instr.position))
        self.read = {key: v for key, v in self.read.items() if key[1] != name.value}
        self.read[operands[0], name.value] = operands[1]


# ---------------------------------------------------------------------------------------------------- reverse


def _is_rare(instr: Instr) -> bool:
    return instr.op == "pull" and "rare" in instr.attrs and not _is_nothing(instr.operands[0])


def _has_formulas(instr: Instr) -> bool:
    return _is_rare(instr) and "brief" not in instr.attrs


class _PlainReverse(_Versions):
    def __init__(self, *args: Any):
        self.given: set[Value] = set()  # found to be other than None
        self.numbers: set[Value] = set()  # numbers, or None
        self.tested_rare: set[Value] = set()
        self.found: set[Value] = set()  # variables with the object that was looked up last, which are up to date
        super().__init__(*args)

    def _known(self, original: Value) -> bool:
        """Let a value be other than None where the current operation stands: as far as is known, or tested where the segment
        begins, which may begin here."""
        v = self._of(original)
        if v not in self.given and not isinstance(v, Const):
            if self.made_at.get(original, -1) >= self.begun:
                self._begin_here()
            self.given.add(v)
            self._test(_Test("some", v))
        return True

    def _number(self, result: Value, value: Value) -> None:
        self.value[result] = value
        self.given.add(value)
        self.numbers.add(value)

    def _nothing(self, results: list[Value]) -> None:
        for r in results:
            self.value[r] = NOTHING

    def _translate(self, instr: Instr) -> None:
        rare = _has_formulas(instr)
        if rare and instr.operands[0] not in self.tested_rare:
            self._test(_Test("none", instr.operands[0]))  # (it is popped where the block begins)
            self.tested_rare.add(instr.operands[0])
        if instr.op == "accumulate" and "brief" not in instr.attrs:
            self._sum(instr)
        elif rare and "expressions" in instr.attrs:
            self._formulas(instr, instr.operands[1], instr.operands[3:])
        elif instr.op == "rule" and "expressions" in instr.attrs:
            self._formulas(instr, instr.operands[1], instr.operands[2:])
        elif rare and instr.attrs.get("access") in _READ | _WRITTEN:
            self._access(instr)
        elif rare and not {"access", "rule", "expressions"} & {*instr.attrs} and instr.attrs["of"] != "unpack":
            self._nothing(instr.results)  # what carries nothing where it is run plainly
        elif instr.op == "pull" and instr.attrs.get("access") == "get_next":
            self._copy(instr, **self._about(instr.operands[1]))
        else:
            self._copy(instr)

    def _formulas(self, instr: Instr, d: Value, operands: list[Value]) -> None:
        if _is_nothing(self._of(d)) or not instr.results:
            self._nothing(instr.results)
            return
        self._known(d)
        self.numbers.add(self._of(d))
        leaves = {"d": d, "y": operands[0], **dict(enumerate(operands[1:]))}
        made: dict[Any, Value] = {}

        def value_of(expression: Any) -> Value:
            if not isinstance(expression, tuple):
                return self._of(leaves[expression])
            if expression not in made:
                op, *parts = expression
                if op == "const":
                    return Const(parts[0], OBJECT)
                made[expression] = self._emit(op, [value_of(part) for part in parts], instr.position)
            return made[expression]

        for r, expression in zip(instr.results, instr.attrs["expressions"], strict=True):
            self._number(r, value_of(expression))

    def _sum(self, instr: Instr) -> None:
        _, first, second, *rare = instr.operands
        a, b = self._of(first), self._of(second)
        if _is_nothing(a) or _is_nothing(b):
            self.value[instr.result] = b if _is_nothing(a) else a
            return
        numbers = (
            instr.attrs.get("numbers")
            or (rare and rare[0] in self.tested_rare)
            or a in self.numbers
            or b in self.numbers
        )
        if not numbers or not (a in self.given or b in self.given):
            self._copy(instr, given=(a in self.given, b in self.given))
            if a in self.given or b in self.given:
                self.given.add(self.value[instr.result])
            return
        other = first if b in self.given else second
        if self._of(other) in self.given or (self.looping and self.made_at.get(other, -1) < self.begun):
            # (What a loop adds to is None once.)
            self._known(other)
            self._number(instr.result, self._emit("add", [a, b], instr.position))
            return
        self._copy(instr, given=(a in self.given, b in self.given), numbers=True)
        self.given.add(self.value[instr.result])
        self.numbers.add(self.value[instr.result])

    def _about(self, d: Value) -> dict[str, Any]:
        d = self._of(d)
        return {"given": d in self.given, "number": d in self.numbers}

    def _is_found(self, instr: Instr, always: bool) -> bool:
        """Whether an object has been looked up where it was accessed before; from now on it has, if this one does `always`."""
        last = instr.operands[6]
        found = last in self.found
        if always:
            self.found.add(last)
        return found

    def _access(self, instr: Instr) -> None:
        """What was read or written plainly."""
        kind, d = instr.attrs["access"], instr.operands[1]
        about = self._about(d)
        whole = True
        if kind in _READ:
            key, name = instr.operands[4:6]
            whole = kind == "getattr" or (isinstance(key, Const) and type(key.value) is not int)
            special = kind == "getattr" and isinstance(name, Const) and name.value.startswith("__")  # of a method
            if _is_nothing(self._of(d)) or special:
                self._nothing(instr.results)
                return
            kept = [] if whole else list(range(len(instr.attrs["wanted"])))
        else:
            at = 2 if kind == "setitem" else 1
            kept = [n for n, k in enumerate(instr.attrs["wanted"]) if k == at]
        wanted = instr.attrs["wanted"]
        others = instr.results[len(wanted) :]
        self._nothing(instr.results)
        operands = [NOTHING, *[self._of(v) for v in instr.operands[1:]]]
        attrs = instr.attrs | about | {"wanted": tuple(wanted[n] for n in kept)}
        attrs["found"] = self._is_found(instr, attrs["access"] in _WRITTEN or (about["given"] and whole))
        del attrs["rare"]
        copy = Instr("pull", operands, [], attrs, [], instr.position)
        for r in [*[instr.results[n] for n in kept], *others]:
            self.value[r] = Value(r.type, r.name)
            copy.results.append(self.value[r])
        self.here.instrs.append(copy)
