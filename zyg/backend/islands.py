"""Branch islands: conditional jumps that go farther than one instruction can go by way of a jump nearby.

A jump by more than 255 units takes an instruction more, for its argument, each time that control comes there. Rare cases lie
behind all other code, so that in long functions most tests had one, for a jump that is hardly ever taken.
"""

from __future__ import annotations

from itertools import accumulate, islice
from typing import Any

from bytecode import Label

from .assembly import Instruction, length
from .opcodes import PY312, PY313

_REACH = 255
_SLACK = 40  # by so much code may get longer where islands, and arguments of others, are put in
_ISLAND = 5  # how long an island is, at most
_FINAL = frozenset("JUMP_FORWARD JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT RETURN_VALUE RERAISE RAISE_VARARGS".split())
# Behind these there may be a jump: they end what belongs together.
_ENDS = ("STORE_FAST", "POP_TOP", "POP_JUMP")
# What FOR_ITER wants to find where it goes at the end of an iterator, and steps over.
_END_FOR = ("END_FOR", "POP_TOP") if PY313 else ("END_FOR",) if PY312 else ()


def with_islands(code: list[Any]) -> list[Any]:
    """The code with islands for its conditional jumps forward, as far as they need them."""
    return _Islands(code).run()


def _is_final(item: Any) -> bool:
    return type(item) is Instruction and item.name in _FINAL


class _Islands:
    def __init__(self, code: list[Any]):
        self.code = code
        self.places = list(
            accumulate(map(length, code), initial=0)
        )  # of the items, and the end, as they are without islands
        self.index = {item: n for n, item in enumerate(code) if type(item) is Label}
        self.number = 0  # of the item that was put out last
        self.result: list[Any] = []
        self.at = 0  # the length of the result
        self.wanted: dict[Label, Label] = {}  # islands that are still to come, by where they lead to
        self.begun = 0  # where the first jump is that wants one of them
        self.behind: dict[Label, Label] = {}  # the places behind what FOR_ITER wants to find

    def run(self) -> list[Any]:
        if self.places[-1] <= _REACH:
            return self.code
        free = self._next_free()
        places, wanted = self.places, self.wanted
        for n, item in enumerate(self.code):
            if type(item) is not Instruction:
                if wanted and type(item) is Label and item in wanted:
                    self._place_islands()
                self.number = n
                self.result.append(item)
                continue
            self.number = n
            name = item.name
            if name.startswith("POP_JUMP") or name == "FOR_ITER":
                item = self._reaching(item, n)
            self.result.append(item)
            self.at += places[n + 1] - places[n]
            if wanted:
                room = self.begun + _REACH - _SLACK - _ISLAND * len(wanted) - self.at
                late = places[free[n + 1]] - places[n + 1] > room  # at the next place that control does not fall to
                if late and (name in _FINAL or (room < _SLACK and name.startswith(_ENDS))):
                    self._place_islands()
        return self._with_places_behind()

    def _next_free(self) -> list[int]:
        """Per item the next place, from there on, that control does not fall through to."""
        following = len(self.code)
        found = [following] * (following + 1)
        for n in range(following - 1, -1, -1):
            item = self.code[n]
            if type(item) is Instruction and item.name in _FINAL:
                following = n + 1
            found[n] = following
        return found

    def _reaching(self, jump: Instruction, n: int) -> Instruction:
        """A jump, to an island if where it goes is far away."""
        label: Any = jump.arg
        if self.places[self.index[label]] - self.places[n] <= _REACH - _SLACK:
            return jump
        if label not in self.wanted:
            if not self.wanted:
                self.begun = self.at
            self.wanted[label] = Label()
        return Instruction(jump.name, self.wanted[label], jump.location)

    def _out(self, item: Any) -> None:
        self.result.append(item)
        self.at += length(item)

    def _place_islands(self) -> None:
        last = self.result[-1]
        over = None
        if not _is_final(last):
            over = Label()
            self._out(Instruction("JUMP_FORWARD", over))
        for label, island in self.wanted.items():
            self._out(island)
            self._island(label)
        self.wanted.clear()
        if over is not None:
            self._out(over)

    def _island(self, label: Label) -> None:
        """A jump to a label, or what is there, if that is a jump."""
        places = range(self.index[label], len(self.code))
        behind = (item for n in places if type(item := self.code[n]) is Instruction)
        first, *_ = there = [*islice(behind, max(1, len(_END_FOR)))]
        if first.name in ("JUMP_FORWARD", "JUMP_BACKWARD_NO_INTERRUPT"):
            to: Any = first.arg
            back = self.index[to] <= self.number
            name = "JUMP_BACKWARD_NO_INTERRUPT" if back else "JUMP_FORWARD"
            self._out(Instruction(name, to, first.location))
            return
        if _END_FOR and first.name == _END_FOR[0]:
            for item in there:
                self._out(item)
            label = self.behind.setdefault(label, Label())
        self._out(Instruction("JUMP_FORWARD", label, first.location))

    def _with_places_behind(self) -> list[Any]:
        if not self.behind:
            return self.result
        made: list[Any] = []
        behind, left = None, 0
        for item in self.result:
            made.append(item)
            if isinstance(item, Label) and item in self.behind:
                behind, left = self.behind[item], len(_END_FOR)
            elif left and type(item) is Instruction:
                left -= 1
                if not left:
                    made.append(behind)
        return made


__all__ = ["with_islands"]
