"""Blocks of reverse halves in two versions: one for where nothing was recorded rarely, the general one for all else.

Where what a block has recorded rarely is None, its operators have been run plainly on real numbers: their cotangents are sums of
products, and what is read plainly takes no look at a pullback. Cotangents that these operators want are tested where the plain
version begins, or where they are there; where one of them is None, control goes on in the general version.

    block:                            block:
      ...                               ...
      <operations>           ->         branch <rare is None and cotangents are not None>, plain, general
      <terminator>                    plain:    <operations by formulas>; jump end(...)
                                      end(...): <terminator>
                                      general:  <operations>; jump end(...)          (behind all others)
"""

from __future__ import annotations

from typing import Any

from zyg.ir.core import Block, Const, Function, Instr, Target, Value, clone, uses
from zyg.ir.types import BOOL, NONE, OBJECT

from .forward import blocks_in_cycles

NOTHING = Const(None, NONE)
_READ = frozenset({"getattr", "getitem"})
_WRITTEN = frozenset({"setattr", "setitem"})


def with_versions(function: Function) -> Function:
    """The function with its blocks in two versions, where that is worth it; it is not changed itself."""
    if not any(_is_rare(instr) for _, instr in function.instructions()):
        return function
    function = clone(function)
    looping = blocks_in_cycles(function)
    used_in: dict[Value, set[Block]] = {}
    for block in function.blocks:
        for instr in block.instrs:
            for v in uses(instr):
                used_in.setdefault(v, set()).add(block)
        for v in block.handler.args if block.handler is not None else ():
            used_in.setdefault(v, set()).add(block)
    behind: list[Block] = []
    layout: list[Block] = []
    for block in function.blocks:
        layout.append(block)
        if block.handler is None and any(map(_has_formulas, block.instrs)):
            versions = _Versions(block, used_in, block in looping)
            layout += versions.plain
            behind += versions.general
    function.blocks[:] = layout + behind
    return function


def _is_rare(instr: Instr) -> bool:
    return instr.op == "pull" and "rare" in instr.attrs and not _is_nothing(instr.operands[0])


def _has_formulas(instr: Instr) -> bool:
    return _is_rare(instr) and "brief" not in instr.attrs


def _is_nothing(v: Value) -> bool:
    return isinstance(v, Const) and v.value is None


class _Versions:
    """The two versions of a block, which is left with what comes before them."""

    def __init__(self, block: Block, used_in: dict[Value, set[Block]], looping: bool):
        self.block = block
        self.looping = looping
        first = next(n for n, instr in enumerate(block.instrs) if _has_formulas(instr))
        self.body, last = block.instrs[first:-1], block.instrs[-1]
        del block.instrs[first:]
        # What the block defines from here on, and where: what is used behind it becomes parameters of its end.
        self.made_at = {r: n for n, instr in enumerate(self.body) for r in instr.results}
        behind = {*uses(last)}
        outs = [v for v in self.made_at if v in behind or used_in.get(v, set()) - {block}]
        self.plain: list[Block] = []
        self.general: list[Block] = []
        self.end = self._new("end")
        self.end.params = outs
        self.end.instrs = [last]
        # In the plain version
        self.value: dict[Value, Value] = {}  # what takes the place of a value
        self.given: set[Value] = set()  # is not None
        self.numbers: set[Value] = set()  # is a number, or None
        self.here = block
        self.rare = {instr.operands[0] for instr in self.body if _has_formulas(instr)}
        self.tested_rare: set[Value] = set()
        self.segments: list[tuple[int, Block, list[tuple[Block, Value, Block]], dict[Value, Value]]] = []
        self._begin(0)
        for n, instr in enumerate(self.body):
            self.number = n
            self._plain(instr)
        self._finish()
        self._jump(self.here, self.end, [self._of(v) for v in outs])
        self._general_versions(outs)
        self.plain.append(self.end)

    def _new(self, name: str) -> Block:
        made = Block(f"{self.block.name}.{name}")
        made.in_generator = self.block.in_generator
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

    def _finish(self) -> None:
        """Emit the tests of a segment."""
        ways: list[tuple[Block, Value, Block]] = []
        at = self.before
        for k, v in enumerate(self.tests):
            following = self.here if k == len(self.tests) - 1 else self._new("test")
            ways.append((at, v, following))
            if at is not self.block and at not in self.plain:
                self.plain.append(at)
            at = following
        if not self.tests:
            self._jump(self.before, self.here, [])
        if self.before is not self.block and self.before not in self.plain:
            self.plain.append(self.before)
        if self.here not in self.plain:
            self.plain.append(self.here)
        self.segments.append((self.begun, self.general[-1], ways, self.values_before))

    def _general_versions(self, outs: list[Value]) -> None:
        """The general version of each segment, and the tests that lead there."""
        count = len(self.segments)
        passed: dict[Value, Value] = {}
        for k, (begun, block, ways, values) in enumerate(self.segments):
            following = self.segments[k + 1][0] if k + 1 < count else len(self.body)
            needed = self._needed(begun, outs)
            block.params = [Value(v.type, v.name) for v in needed]
            if k:
                self._jump(self.general[k - 1], block, [passed.get(v, v) for v in needed])
            passed = dict(zip(needed, block.params, strict=True))
            for at, tested, onward in ways:
                args = [values.get(v, v) for v in needed]
                what, truth = Value(BOOL), Value(BOOL)
                at.instrs.append(Instr("is", [tested, NOTHING], [what]))
                at.instrs.append(Instr("truth", [what], [truth]))
                there, other = Target(onward), Target(block, args)
                at.instrs.append(
                    Instr("branch", [truth], [], {}, [there, other] if tested in self.rare else [other, there])
                )
            for instr in self.body[begun:following]:
                copy = Instr(
                    instr.op, [passed.get(v, v) for v in instr.operands], [], dict(instr.attrs), [], instr.position
                )
                for r in instr.results:
                    passed[r] = Value(r.type, r.name)
                    copy.results.append(passed[r])
                block.instrs.append(copy)
        self._jump(self.general[-1], self.end, [passed.get(v, v) for v in outs])

    def _needed(self, begun: int, outs: list[Value]) -> list[Value]:
        """What is there before operation `begun` that the rest of the block uses, or what comes behind it."""
        used = dict.fromkeys(outs)
        for instr in self.body[begun:]:
            used.update(dict.fromkeys(uses(instr)))
        return [v for v in used if self.made_at.get(v, begun) < begun]

    def _jump(self, at: Block, to: Block, args: list[Value]) -> None:
        at.instrs.append(Instr("jump", targets=[Target(to, args)]))

    # ---- the plain version

    def _of(self, v: Value) -> Value:
        return self.value.get(v, v)

    def _known(self, original: Value) -> bool:
        """Whether a value is not None where the current operation stands: as far as is known, or tested where the segment
        begins, which may begin here."""
        v = self._of(original)
        if v in self.given:
            return True
        if isinstance(v, Const):
            return v.value is not None
        if self.made_at.get(original, -1) >= self.begun:
            self._finish()
            self._begin(self.number)
        self._test(v)
        return True

    def _test(self, v: Value) -> None:
        if v not in self.tests:
            self.tests.append(v)
        self.given.add(v)

    def _emit(self, op: str, operands: list[Value], position: Any) -> Value:
        made = Value(OBJECT)
        self.here.instrs.append(Instr(op, operands, [made], {}, [], position))
        return made

    def _number(self, result: Value, value: Value) -> None:
        self.value[result] = value
        self.given.add(value)
        self.numbers.add(value)

    def _copy(self, instr: Instr, **attrs: Any) -> None:
        copy = Instr(instr.op, [self._of(v) for v in instr.operands], [], instr.attrs | attrs, [], instr.position)
        for r in instr.results:
            self.value[r] = Value(r.type, r.name)
            copy.results.append(self.value[r])
        self.here.instrs.append(copy)

    def _nothing(self, results: list[Value]) -> None:
        for r in results:
            self.value[r] = NOTHING

    def _plain(self, instr: Instr) -> None:
        rare = _has_formulas(instr)
        if rare and instr.operands[0] not in self.tested_rare:
            self._test(instr.operands[0])  # (it is popped where the block begins)
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

    def _access(self, instr: Instr) -> None:
        """What was read or written plainly."""
        kind, d = instr.attrs["access"], instr.operands[1]
        about = self._about(d)
        about["rare"] = None
        if kind in _READ:
            key = instr.operands[4]
            whole = kind == "getattr" or (isinstance(key, Const) and type(key.value) is not int)
            if _is_nothing(self._of(d)) or (kind == "getattr" and instr.operands[5].value.startswith("__")):
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
        del attrs["rare"]
        copy = Instr("pull", operands, [], attrs, [], instr.position)
        for r in [*[instr.results[n] for n in kept], *others]:
            self.value[r] = Value(r.type, r.name)
            copy.results.append(self.value[r])
        self.here.instrs.append(copy)
