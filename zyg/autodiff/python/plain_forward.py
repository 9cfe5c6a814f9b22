"""The plain version of blocks of forward halves: what has been tested is known, and operators and accesses are the interpreter's."""

from __future__ import annotations

from typing import Any

from zyg.backend.phrases import REALS
from zyg.ir.core import Block, Const, Function, Instr, Target, Value
from zyg.ir.types import OBJECT

from . import rules
from .versions import NOTHING, Test, Versions, in_versions

_COMPARISONS = frozenset({"lt", "le", "eq", "ne", "gt", "ge"})


def plain_forward(function: Function) -> Function:
    """A forward half with its blocks in two versions, where that is worth it; it is not changed itself."""
    return in_versions(function, _PlainForward, _is_written_out, 2)


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


class _PlainForward(Versions):
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

    def _carried(self, tests: list[tuple[Block, Test, Block]]) -> list[tuple[Block, Test, Block]]:
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
        Test("none", known).emit(places[len(first)], Target(onward), Target(blocks[0]))
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
            self._test(Test("none", flag))

    def _real(self, original: Value, likely: type) -> None:
        v = self._of(original)
        if isinstance(v, Const) or v in self.reals:
            return
        if not self._is_there(original):
            self._begin_here()
        self._test(Test("typed", v, likely, REALS))
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
                    self._test(Test("none", flag))
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
            self._test(Test("typed", v, int if k in attrs["ints"] else likely, types))
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
        self._test(Test("member", self.types[x], among=types, of=None if known else x))
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
