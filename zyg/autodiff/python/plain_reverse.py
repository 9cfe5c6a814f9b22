"""The plain version of blocks of reverse halves: cotangents are there, and are numbers; what was read plainly has no pullback."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from zyg.ir.core import Block, Const, Function, Instr, Value
from zyg.ir.types import OBJECT

from .versions import NOTHING, Test, Versions, gives_position, in_versions, is_nothing

# What a loop goes through, by the function that is called for it: of whose items there is nothing to know; where the items of
# tuples come from, all from the same place, or each from a place of its own; and whose items say where they come from.
_OTHERS = frozenset({"range", "keys", "items", "zip", "enumerate"})
_NONE = type(None)
_INT = frozenset({int})
_LISTS = frozenset({list, deque})  # whose shadows are lists
_EACH = lambda count: (list,) * count
_PARTS = {
    "zip": _EACH,
    "enumerate": lambda count: (_NONE, list),
    "items": lambda count: (_NONE, dict),
}
_APART = frozenset(
    {"pairwise", "product", "combinations", "combinations_with_replacement", "permutations", "zip_longest"}
)
_CHAINED = frozenset({"chain", "from_iterable"})
_READ = frozenset({"getattr", "getitem"})
_WRITTEN = frozenset({"setattr", "setitem"})
# What reads a part of something, and what sets it.
_READS_PART = _READ | {"get_cell"}
_SETS_PART = {"setattr": "getattr", "setitem": "getitem", "set_cell": "get_cell"}
# What does nothing to shadows, or adds to them at most.
_ADDS = frozenset({"accumulate", "rule", "tuple", "parts", "cotangents", "join", "pop"})


def plain_reverse(function: Function) -> Function:
    """A reverse half with its blocks in two versions, where that is worth it; it is not changed itself."""
    return in_versions(function, _PlainReverse, lambda instr: _has_formulas(instr) or _is_step(instr), 1)


def _is_rare(instr: Instr) -> bool:
    return instr.op == "pull" and "rare" in instr.attrs and not is_nothing(instr.operands[0])


def _has_formulas(instr: Instr) -> bool:
    return _is_rare(instr) and "brief" not in instr.attrs


def _is_step(instr: Instr) -> bool:
    """Whether a cotangent may come to an item of a list or tuple, or to a value of a dict, that a loop goes through."""
    if instr.op != "pull" or instr.attrs.get("access") != "get_next" or "brief" in instr.attrs:
        return False
    alone = instr.attrs["over"] in ("", "values")
    return not is_nothing(instr.operands[1]) and (alone or "apart" in instr.attrs)


def _only_adds(instr: Instr) -> bool:
    """Whether the reverse of what was done plainly takes nothing out of a shadow."""
    if instr.op != "pull":
        return instr.op in _ADDS
    access = instr.attrs.get("access")
    return access in _READS_PART or access == "get_next" or (access is None and _has_formulas(instr))


class _Taken(NamedTuple):
    """A cotangent that was taken out of a shadow, by which instruction, and where: it may come that it is put back."""

    d: Value
    by: Instr
    segment: int


class _PlainReverse(Versions):
    def __init__(self, *args: Any):
        self.given: set[Value] = set()  # found to be other than None
        self.absent: set[Value] = set()  # found to be None
        self.numbers: set[Value] = set()  # numbers, or None
        self.tested_rare: set[Value] = set()
        self.looked_up: set[tuple[Value, ...]] = set()  # shadows that are at hand, of the likely kinds
        self.skipped = -1  # what has been done up to here
        self.taken: dict[Any, _Taken] = {}  # by what tells the part of a shadow
        # With the block, instruction and segment that would put it back.
        self.given_back: list[tuple[_Taken, Block, Instr, int]] = []
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

    def _absent(self, original: Value) -> None:
        """Let a value be None where the current operation stands."""
        v = self._of(original)
        if v not in self.absent:
            if self.made_at.get(original, -1) >= self.begun:
                self._begin_here()
            self.absent.add(v)
            self._test(Test("none", v))

    def _number(self, result: Value, value: Value) -> None:
        self.value[result] = value
        self.given.add(value)
        self.numbers.add(value)

    def _nothing(self, results: list[Value]) -> None:
        for r in results:
            self.value[r] = NOTHING

    def _translate(self, instr: Instr) -> None:
        if self.number < self.skipped:
            return
        if not _only_adds(instr):
            self.taken.clear()
        if instr.op == "tuple" and (self._items_of_tuples(instr) or self._taken_apart(instr)):
            return
        if instr.op == "parts" and self._items_of_tuples(instr):
            return
        rare = _has_formulas(instr)
        if rare:
            self._ask_rare(instr)
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
            self._next(instr)
        elif gives_position(instr):
            self._at_position(instr)
        elif instr.op == "pull" and "access" in instr.attrs and is_nothing(instr.operands[0]):
            self._note_part(instr, self._copy(instr, **self._about(instr.operands[1])))  # what is always done plainly
        else:
            self._copy(instr)

    def _formulas(self, instr: Instr, d: Value, operands: list[Value]) -> None:
        if is_nothing(self._of(d)) or not instr.results:
            self._nothing(instr.results)
            return
        if "counts" in instr.attrs and self._of(d) not in self.given:  # of an int, most likely
            self._absent(d)
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
        if self._of(other) in self.given:
            self._number(instr.result, self._emit("add", [a, b], instr.position))
            return
        # (What a loop adds to is None once: that alone is no reason to leave the plain version.)
        self._copy(instr, given=(a in self.given, b in self.given), numbers=True)
        self.given.add(self.value[instr.result])
        self.numbers.add(self.value[instr.result])

    def _about(self, d: Value) -> dict[str, Any]:
        d = self._of(d)
        return {"given": d in self.given, "number": d in self.numbers}

    def _shadows(self, instr: Instr, of: str, kinds: Any, early: bool) -> list[Value]:
        """The shadows of a likely kind of what an instruction is about."""
        _, _, shadows, x, _, _, last, _ = instr.operands
        found = self.around.looked_up(last, of, kinds)
        if found not in self.looked_up:
            self.looked_up.add(found)
            test = Test("looked_up", self._of(x), among=(of, kinds), shadows=(shadows, *found))
            if early:
                self._test_early(x, test)
            else:
                self._begin_here()
                self._test(test)
        return list(found[1:])

    def _next(self, instr: Instr) -> None:
        """An item of what a loop goes through."""
        d, over = instr.operands[1], instr.attrs["over"]
        if over in _OTHERS or is_nothing(self._of(d)):
            self._copy(instr, **self._about(d))
            return
        self._known(d)  # what has no cotangent needs no shadow
        if over in _CHAINED:
            self._shadows(instr, "where", None, early=False)
            source, place = self._unpacked(instr, 2)
            self._begin(self.number)
            last, shadow = self.around.looked_up(instr.operands[6], "items", list)
            self._test(Test("looked_up", source, among=("items", list), shadows=(instr.operands[2], last, shadow)))
            self._add(instr, self._of(d), list, shadow, place)
            return
        kind = dict if over == "values" else list
        (shadow,) = self._shadows(instr, "next", kind, early=False)
        self._add(instr, self._of(d), kind, shadow, instr.operands[0])

    def _at_position(self, instr: Instr) -> None:
        """What has the position in a list or deque as its pullback, done plainly."""
        if "inline" in instr.attrs:
            self._undone(instr)
        elif instr.attrs["access"] == "list_append":
            self._taken_back(instr)
        elif is_nothing(self._of(instr.operands[1])):
            self._copy(instr)
        else:
            self._read_from_end(instr)

    def _read_from_end(self, instr: Instr) -> None:
        back = instr.operands[0]
        self._test_early(back, Test("typed", self._of(back), int, _INT))
        (shadow,) = self._shadows(instr, "items", _LISTS, early=True)
        self._nothing(instr.results)
        back, d, shadows, x, _, name, *_ = map(self._of, instr.operands)
        attrs = instr.attrs | self._about(instr.operands[1]) | {"wanted": (), "shadow": list}
        self._emit_pull(instr, [back, d, shadows, x, back, name, NOTHING, shadow], attrs, [])

    def _taken_back(self, instr: Instr) -> None:
        """What was appended to a list: its pullback is the position."""
        back, wanted = instr.operands[0], instr.attrs["wanted"]
        self._test_early(back, Test("typed", self._of(back), int, _INT))
        (shadow,) = self._shadows(instr, "items", _LISTS, early=True)
        self._nothing(instr.results)
        kept = [n for n, k in enumerate(wanted) if k == 1]
        operands = [*map(self._of, instr.operands[:6]), NOTHING, shadow]
        attrs = instr.attrs | {"wanted": tuple(wanted[n] for n in kept), "shadow": list}
        self._emit_pull(instr, operands, attrs, [instr.results[n] for n in kept])

    def _undone(self, instr: Instr) -> None:
        """A method of a list or a deque whose pullback is the position."""
        back, wanted = instr.operands[0], instr.attrs["wanted"]
        self._begin_here()
        self._test(Test("typed", self._of(back), int, _INT))
        self._nothing(instr.results)
        kept = [n for n, k in enumerate(wanted) if k == 1 and instr.attrs["inline"] == "append"]
        attrs = instr.attrs | {"wanted": tuple(wanted[n] for n in kept), "position": True}
        self._emit_pull(instr, list(map(self._of, instr.operands)), attrs, [instr.results[n] for n in kept])

    def _emit_pull(self, instr: Instr, operands: list[Value], attrs: dict[str, Any], results: list[Value]) -> Instr:
        """A pull that gives some of the results of `instr`."""
        copy = Instr("pull", operands, [], attrs, [], instr.position)
        for r in results:
            self.value[r] = Value(r.type, r.name)
            copy.results.append(self.value[r])
        self.here.instrs.append(copy)
        return copy

    # What `x.a += v` takes out of the shadow of `x` goes to `v`, and back to where it was: it can as well stay there. What is
    # added to that place meanwhile does not mind; where other code may look, or take something, it is not done.

    def _note_part(self, instr: Instr, made: Instr) -> None:
        """What was emitted for the access `instr` takes a cotangent out of a shadow, or puts it back."""
        kind = instr.attrs["access"]
        if kind in _SETS_PART:
            if made.results:
                self.taken[self._part(instr)] = _Taken(made.results[0], made, len(self.segments) - 1)
        elif not made.results:
            taken = self.taken.get(self._part(instr))
            if taken is not None and taken.d is made.operands[1]:
                del self.taken[self._part(instr)]
                self.given_back.append((taken, self.here, made, len(self.segments) - 1))

    def _part(self, instr: Instr) -> Any:
        """What tells the part of a shadow that an access is about."""
        kind = instr.attrs["access"]
        of = _SETS_PART.get(kind, kind)
        _, _, _, x, key, name, *_ = instr.operands
        part = self._of(key) if of == "getitem" else name
        return of, self._of(x), (type(part.value), part.value) if isinstance(part, Const) else part

    def _completed(self) -> None:
        for taken, at, instr, segment in self.given_back:
            # If control goes to the general version in between, that puts it back: it has to be nothing, then.
            tests = [test for between in self.segments[taken.segment + 1 : segment + 1] for test in between.tests]
            if all(test.what == "some" and test.value is taken.d for test in tests):
                taken.by.attrs["stays"] = True
                at.instrs.remove(instr)

    def _unpacked(self, step: Instr, count: int) -> list[Value]:
        """The items of the part that an item of what a loop goes through belongs to."""
        made = [Value(OBJECT) for _ in range(count)]
        self.here.instrs.append(
            Instr("unpack", [self._of(step.operands[0])], made, {"count": count}, [], step.position)
        )
        return made

    def _add(self, instr: Instr, d: Value, kind: type, shadow: Value, part: Value) -> None:
        """Add a cotangent to a part of a shadow, for an item that a loop goes through."""
        if is_nothing(d):
            return
        attrs = {**instr.attrs, **self._about(d), "shadow": kind}
        operands = [part, d, *instr.operands[2:6], NOTHING, shadow]
        self.here.instrs.append(Instr("pull", list(map(self._of, operands)), [], attrs, [], instr.position))

    def _items_of_tuples(self, made: Instr) -> bool:
        """Tuples that a loop goes through, and that are taken apart, by the loop itself or behind: their items are added to the shadows
        of what they are items of, without the tuple of the cotangents."""
        following, d = self.number + 1, made.results[0]
        if not self._used_once(d):
            return False
        taken = None
        if made.op == "tuple":
            taken, *_ = [*self.body[following : following + 1], None]
            if taken is None or taken.op != "pull" or not _has_formulas(taken) or taken.attrs["of"] != "unpack":
                return False
            if taken.operands[1] is not d or len(taken.results) != 1 or not self._used_once(taken.results[0]):
                return False
            following, d = following + 1, taken.results[0]
        step, *_ = [*self.body[following : following + 1], None]
        if step is None or step.attrs.get("access") != "get_next" or step.operands[1] is not d:
            return False
        apart = step.attrs["over"] in _APART
        kinds = _EACH if apart else _PARTS.get(step.attrs["over"])
        if kinds is None or len(kinds := kinds(len(made.operands))) != len(made.operands):
            return False
        if taken is not None:
            self._ask_rare(taken)
        shadows = self._shadows(step, "apart" if apart else "next", kinds, early=False)
        places = self._unpacked(step, len(kinds)) if apart else [step.operands[0]] * len(kinds)
        for d, kind, shadow, place in zip(made.operands, kinds, shadows, places, strict=True):
            if kind is not _NONE:
                self._add(step, self._of(d), kind, shadow, place)
        self.skipped = following + 1
        return True

    def _taken_apart(self, made: Instr) -> bool:
        """A tuple that was taken apart: its cotangent is the tuple of those of its items, if there are any."""
        taken, *_ = [*self.body[self.number + 1 : self.number + 2], None]
        if taken is None or taken.op != "pull" or taken.attrs["of"] != "unpack" or not _has_formulas(taken):
            return False
        if taken.operands[1] is not made.results[0] or not self._used_once(made.results[0]):
            return False
        self._ask_rare(taken)
        self.skipped = self.number + 2
        parts = [self._of(v) for v in made.operands]
        for result in taken.results:
            if all(map(is_nothing, parts)):
                self.value[result] = NOTHING
            elif self.given.isdisjoint(parts):
                self.value[result] = self._emit("parts", parts, taken.position, result.name)
            else:
                self.value[result] = self._emit("tuple", parts, taken.position, result.name)
                self.given.add(self.value[result])
        return True

    def _used_once(self, v: Value) -> bool:
        return self.around.counts[v] == 1

    def _ask_rare(self, instr: Instr) -> None:
        """Nothing was recorded rarely: it is popped where the block begins."""
        if instr.operands[0] not in self.tested_rare:
            self._test(Test("none", instr.operands[0]))
            self.tested_rare.add(instr.operands[0])

    def _access(self, instr: Instr) -> None:
        """What was read or written plainly."""
        kind, d = instr.attrs["access"], instr.operands[1]
        is_set = kind in _READ and self._part(instr) in self.taken  # in the same place: then that is no tuple
        about = self._about(d)
        likely = instr.attrs.get("likely") if is_set or "component" not in instr.attrs else None
        whole = True
        if kind in _READ:
            key, name = instr.operands[4:6]
            whole = is_set or kind == "getattr" or likely is not None
            whole = whole or (isinstance(key, Const) and type(key.value) is not int)
            special = kind == "getattr" and isinstance(name, Const) and name.value.startswith("__")  # of a method
            if is_nothing(self._of(d)) or special:
                self._nothing(instr.results)
                return
            kept = [] if whole and "called" not in instr.attrs else list(range(len(instr.attrs["wanted"])))
        else:
            at = 2 if kind == "setitem" else 1
            kept = [n for n, k in enumerate(instr.attrs["wanted"]) if k == at]
        wanted = instr.attrs["wanted"]
        others = instr.results[len(wanted) :] if not is_set else []
        self._nothing(instr.results)
        operands = [NOTHING, *[self._of(v) for v in instr.operands[1:]]]
        attrs = instr.attrs | about | {"wanted": tuple(wanted[n] for n in kept)}
        if likely is not None:
            kinds = None if instr.attrs["surely"] else _LISTS if likely is list else likely
            operands[6:] = [NOTHING, *self._shadows(instr, "items", kinds, early=True)]
            attrs["shadow"] = likely
        if is_set:
            attrs.pop("component", None)
        del attrs["rare"]
        self._note_part(instr, self._emit_pull(instr, operands, attrs, [*[instr.results[n] for n in kept], *others]))
