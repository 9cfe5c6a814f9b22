"""The plain version of blocks of reverse halves: cotangents are there, and are numbers; what was read plainly has no pullback."""

from __future__ import annotations

from typing import Any

from zyg.ir.core import Const, Function, Instr, Value
from zyg.ir.types import OBJECT

from .versions import NOTHING, Test, Versions, in_versions, is_nothing

_READ = frozenset({"getattr", "getitem"})
_WRITTEN = frozenset({"setattr", "setitem"})


def plain_reverse(function: Function) -> Function:
    """A reverse half with its blocks in two versions, where that is worth it; it is not changed itself."""
    return in_versions(function, _PlainReverse, _has_formulas, 1)


def _is_rare(instr: Instr) -> bool:
    return instr.op == "pull" and "rare" in instr.attrs and not is_nothing(instr.operands[0])


def _has_formulas(instr: Instr) -> bool:
    return _is_rare(instr) and "brief" not in instr.attrs


class _PlainReverse(Versions):
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
            self._test(Test("some", v))
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
            self._test(Test("none", instr.operands[0]))  # (it is popped where the block begins)
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
        if is_nothing(self._of(d)) or not instr.results:
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
        if is_nothing(a) or is_nothing(b):
            self.value[instr.result] = b if is_nothing(a) else a
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
            if is_nothing(self._of(d)) or special:
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
