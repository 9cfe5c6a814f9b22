"""The plain version of blocks of forward halves: what has been tested is known, and operators and accesses are the interpreter's."""

from __future__ import annotations

from collections import deque
from functools import cached_property
from typing import Any

from zyg.backend.phrases import REALS
from zyg.ir.core import Const, Function, Instr, Value
from zyg.ir.types import OBJECT

from ..objects import reach
from . import rules
from .versions import NATURAL, NOTHING, Carried, Test, Versions, in_versions, reads_from_end

# What items are read of, and set, plainly, and what keys may be positions.
_ORDERED = frozenset({list, tuple, deque})
_LISTS = frozenset({list, deque})
_INT_OF_INTS = frozenset({"add", "sub", "mul"})  # what gives an int of ints
_LIST, _DICT, _TUPLE, _INT, _BOOL, _CLASS = (frozenset({t}) for t in (list, dict, tuple, int, bool, type))
_LEN = Const(len, OBJECT)
_DISPLAYS = {"list": list, "tuple": tuple, "dict": dict}
# What runs no code of the user's (items are only those of tuples, here).
_QUIET = frozenset({"tuple", "list", "getitem", "is", "is_not", "get_cell", "nothing_recorded", "push", "unbound"})
_COMPARISONS = frozenset({"lt", "le", "eq", "ne", "gt", "ge"})


def plain_forward(function: Function) -> Function:
    """A forward half with its blocks in two versions, where that is worth it; it is not changed itself."""
    return in_versions(function, _PlainForward, _is_written_out, 2)


def _is_written_out(instr: Instr) -> bool:
    """Whether the plain version of an instruction is what CPython does."""
    if instr.op != "record" or "direct" not in instr.attrs:
        return False
    direct = instr.attrs["direct"]
    if direct == "list_append" or reads_from_end(instr, 2):
        return True
    if "rare" not in instr.attrs:
        return False
    if direct in ("getattr", "setattr", "unpack", "len", "isinstance"):
        return True
    if direct in ("getitem", "setitem"):
        return "likely" in instr.attrs
    if direct in _COMPARISONS:
        return all(
            not isinstance(v, Const) or type(v.value) in types
            for v, types in zip(instr.operands[1:3], instr.attrs["plain"])
        )
    if "exactly" in instr.attrs:
        return "unless" not in instr.attrs  # which is asked at each
    if "plain" in instr.attrs or rules.base(direct) not in rules.DIRECT:
        return False
    return all(not isinstance(v, Const) or type(v.value) in REALS for v in instr.operands[1:])


class _PlainForward(Versions):
    def __init__(self, *args: Any):
        self.facts: set[tuple[Value, Any]] = set()  # values and the types of which they are one, or NATURAL
        self.typed: set[tuple[Value, int]] = (
            set()
        )  # of types of which it may be forgotten that their comparisons are plain
        self.flags: set[Value] = set()  # found to be None: what blocks before have recorded rarely
        self.types: dict[Value, Value] = {}  # of objects, by a value
        self.members: set[tuple[Value, int]] = set()
        self.same: set[Value] = set()  # found to be the class, or the function, that they most likely are
        self.read: dict[tuple[Value, str], Value] = {}  # what attributes are known to be
        self.barrier = -1  # where other code may have run last
        super().__init__(*args)

    def _translate(self, instr: Instr) -> None:
        if not _is_written_out(instr):
            self._copy(instr)
            if instr.op in _QUIET:
                return
            self.barrier = self.number
            self.types.clear()
            self.members.clear()
            self.read.clear()
            return
        direct = instr.attrs["direct"]
        if direct in _TRANSLATED:
            _TRANSLATED[direct](self, instr)
        elif direct in _COMPARISONS:
            self._comparison(instr)
        elif "exactly" in instr.attrs:
            self._of_types(instr)
        else:
            self._arithmetic(instr)

    def _carried(self, tests: list[Test]) -> Carried | None:
        """Where a loop goes round from the end of this block, numbers that this version has computed need no test in the next
        iteration, nor does what the loop leaves as it is: a parameter of the loop's header is None if they come from here."""
        last = self.end.terminator
        if last.op != "jump" or self.block.handler is not None:
            return None
        (target,) = last.targets
        header = target.block
        came = dict(zip(header.params, target.args, strict=True))
        loop = self.around.loop(header, self.block)

        def is_sure(test: Test) -> bool:
            v, what = test.value, test.fact
            if what is None or (v not in came and (not loop or self.around.home.get(v) in loop)):
                return False
            return self._knows(self._of(came.get(v, v)), what)

        sure = [test for test in tests if is_sure(test)]
        if not sure:
            return None
        known, passed = Value(OBJECT), Value(OBJECT)
        header.params.append(known)
        self.end.params.append(passed)
        for other in self.around.targets[header]:
            other.args.append(passed if other is target else Const(False, OBJECT))
        self.here.terminator.targets[0].args.append(NOTHING)
        return Carried(known, sure)

    def _knows(self, v: Value, what: Any) -> bool:
        """Whether a value is known to be of one of some types, or natural."""
        if isinstance(v, Const):
            return type(v.value) in what if what is not NATURAL else type(v.value) is int and v.value >= 0
        if (v, what) in self.facts:
            return True
        made = self.around.makers.get(v)
        if made is not None and made.op in _DISPLAYS:
            return what is not NATURAL and _DISPLAYS[made.op] in what
        if v in self.around.gathered and what is not NATURAL:
            return self.around.gathered[v] in what
        return what is not NATURAL and any(w is v and fact is not NATURAL and fact <= what for w, fact in self.facts)

    def _learn(self, original: Value, what: Any, likely: type) -> None:
        """Let a value be of one of some types, or natural."""
        v = self._of(original)
        natural = self.around.integers.get(original)
        if natural is not None and (natural if what is NATURAL else int in what):
            return
        if not self._knows(v, what):
            self._test_early(original, Test(NATURAL if what is NATURAL else "typed", v, likely, what))
            self.facts.add((v, what))

    def _is_there(self, original: Value) -> bool:
        """Whether a value is there where the segment begins."""
        return self.made_at.get(original, -1) < self.begun

    def _flag(self, flag: Value) -> None:
        """What was found before is so if `flag` is None."""
        if flag not in self.flags:
            if not self._is_there(flag):
                self._begin_here()
            self.flags.add(flag)
            self._test(Test("none", self._of(flag)))

    def _arithmetic(self, instr: Instr) -> None:
        attrs = instr.attrs
        count = len(instr.operands) - 2 - attrs["flags"]
        operands, flags = instr.operands[1 : 1 + count], instr.operands[1 + count : -1]
        own = instr.operands[-1]
        for flag, flagged in zip(reversed(flags), attrs["flagged"], strict=True):
            for k in flagged:
                v = self._of(operands[k])
                if flag is own:
                    self._learn(operands[k], REALS, float)
                elif not self._knows(v, REALS):
                    self._flag(flag)
                    self.facts.add((v, REALS))
        direct = attrs["direct"]
        counts = rules.base(direct) in _INT_OF_INTS and all(
            k in attrs["ints"] or (isinstance(v, Const) and type(v.value) is int) for k, v in enumerate(operands)
        )
        for k in attrs["tests"]:
            is_int = k in attrs["ints"]
            self._learn(operands[k], _INT if counts and is_int else REALS, int if is_int else float)
        (result,) = instr.results
        made = self._emit(direct, [self._of(v) for v in operands], instr.position, result.name)
        self.value[result] = made
        if counts and all(self._knows(self._of(v), _INT) for v in operands):
            self.facts.add((made, _INT))
        elif rules.base(direct) != "pow":
            self.facts.add((made, REALS))

    def _of_types(self, instr: Instr) -> None:
        """Text that is put together, and the like: the result is of the type of what is no int."""
        operands, types = instr.operands[1:3], instr.attrs["exactly"]
        for k in instr.attrs["tests"]:
            self._learn(operands[k], frozenset({types[k]}), types[k])
        (result,) = instr.results
        made = self._emit(instr.attrs["direct"], [self._of(v) for v in operands], instr.position, result.name)
        self.value[result] = made
        self.facts.add((made, frozenset({types[types[0] is int]})))

    def _comparison(self, instr: Instr) -> None:
        attrs = instr.attrs
        operands, flags = instr.operands[1:3], instr.operands[3:-1]
        own = instr.operands[-1]
        asked = [k for k in range(2) if k not in attrs["tests"]]
        for flag in flags:
            if flag is own:
                if not all(self._knows(self._of(operands[k]), REALS) for k in asked):
                    self._begin_here()
                    self._test(Test("none", flag))
            else:
                self._flag(flag)
        for k in attrs["tests"]:
            types = attrs["plain"][k]
            v = self._of(operands[k])
            other = operands[1 - k]
            likely = int if k in attrs["ints"] else type(other.value) if isinstance(other, Const) else float
            if isinstance(types, frozenset):
                self._learn(operands[k], types, likely)
            elif not isinstance(v, Const) and not self._knows(v, REALS) and (v, id(types)) not in self.typed:
                if not self._is_there(operands[k]):
                    self._begin_here()
                self._test(Test("typed", v, likely, types))
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

    def _is_same(self, original: Value, constant: Any) -> None:
        """An object is this very class, or function."""
        x = self._of(original)
        if x not in self.same:
            if not self._is_there(original):
                self._begin_here()
            self._test(Test("same", x, among=constant))
            self.same.add(x)

    def _is_among(self, original: Value, classes: Any) -> None:
        """A class is among those that hold a number which carries no derivative."""
        x = self._of(original)
        if (x, id(classes)) in self.members:
            return
        if not self._is_there(original) or self.barrier >= self.begun:
            self._begin_here()
        self._test(Test("member", x, among=classes))
        self.members.add((x, id(classes)))

    def _getattr(self, instr: Instr) -> None:
        _, x, name, types, *_ = instr.operands
        assert isinstance(types, Const) and isinstance(name, Const)
        if "class" in instr.attrs:
            self._is_same(x, instr.attrs["class"])
            if "constants" in instr.attrs:
                self._is_among(x, instr.attrs["constants"])
        else:
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

    # ---- containers

    def _items_of(self, instr: Instr) -> None:
        """Let a container be a likely one, and its key a position, or one that is looked up plainly."""
        _, x, key, *_ = instr.operands
        likely = instr.attrs["likely"]
        if likely is dict:
            self._learn(x, _DICT, dict)
            return
        self._learn(x, _LISTS if instr.attrs["direct"] == "setitem" or x in self._changed else _ORDERED, list)
        self._learn(key, _INT, int)
        self._learn(key, NATURAL, int)

    @cached_property
    def _changed(self) -> set[Value]:
        """Containers whose items are set in the block, too."""
        return {instr.operands[1] for instr in self.body if instr.attrs.get("direct") == "setitem"}

    def _getitem(self, instr: Instr) -> None:
        if reads_from_end(instr, 2):
            _, x, key = instr.operands
            self._learn(x, _LISTS, list)
            count = self._emit("call_object", [_LEN, self._of(x)], instr.position, keywords=())
            self.value[instr.results[1]] = self._emit("add", [count, key], instr.position)  # the position
        else:
            self._items_of(instr)
        operands = [self._of(v) for v in instr.operands[1:3]]
        self.value[instr.results[0]] = self._emit("getitem", operands, instr.position, instr.results[0].name)

    def _setitem(self, instr: Instr) -> None:
        self._items_of(instr)
        operands = [self._of(v) for v in instr.operands[1:4]]
        self.here.instrs.append(Instr("setitem", operands, [], {}, [], instr.position))

    def _unpack(self, instr: Instr) -> None:
        _, x, count, *_ = instr.operands
        assert isinstance(count, Const)
        self._learn(x, _TUPLE, tuple)
        made = [Value(r.type, r.name) for r in instr.results]
        self.value.update(zip(instr.results, made))
        self.here.instrs.append(Instr("unpack", [self._of(x)], made, {"count": count.value}, [], instr.position))

    def _length(self, instr: Instr) -> None:
        _, callee, x, *_ = instr.operands
        self._is_same(callee, len)
        self._learn(x, reach.SIZED, list)
        made = self._emit("call_object", [_LEN, self._of(x)], instr.position, instr.results[0].name, keywords=())
        self.value[instr.results[0]] = made
        self.facts |= {(made, _INT), (made, NATURAL)}

    def _isinstance(self, instr: Instr) -> None:
        _, callee, x, cls, *parts, _ = instr.operands
        self._is_same(callee, isinstance)
        for part in parts or [cls]:
            self._learn(part, _CLASS, type)
        self._member(x, instr.attrs["types"])
        operands = [Const(isinstance, OBJECT), self._of(x), self._of(cls)]
        made = self._emit("call_object", operands, instr.position, instr.results[0].name, keywords=())
        self.value[instr.results[0]] = made
        self.facts.add((made, _BOOL))

    def _list_append(self, instr: Instr) -> None:
        """Its pullback is the position."""
        _, x, value, *_ = instr.operands
        self._learn(x, _LIST, list)
        (back,) = instr.results
        self.value[back] = self._emit("call_object", [_LEN, self._of(x)], instr.position, keywords=())
        self.here.instrs.append(Instr("list_append", [self._of(x), self._of(value)], [], {}, [], instr.position))


_TRANSLATED = {
    "getattr": _PlainForward._getattr, "setattr": _PlainForward._setattr, "getitem": _PlainForward._getitem,
    "setitem": _PlainForward._setitem, "unpack": _PlainForward._unpack, "list_append": _PlainForward._list_append,
    "len": _PlainForward._length, "isinstance": _PlainForward._isinstance,
}  # fmt: skip
