"""How the operands of an `apply` are reached from the counters of the loops that it becomes.

An array that is seen broadcast, sliced in steps of one, with an axis more, with one index fixed or with its axes elsewhere is reached
through the array behind the view: so it is known which loops do not move it, and an element that a reduction adds to can stay in a
register.  Axes that lie behind each other in all arrays become one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import NamedTuple

from ..analysis import confined_arrays
from ..core import Const, Function, Instr, Value, array_type, const
from ..ops import VIEWS
from ..types import Array
from .rewriting import same


class From(NamedTuple):
    """A position that a loop moves from `start` on, forwards or backwards."""

    loop: int
    start: Value
    back: bool


Index = tuple[int | From | Value, ...]


class Access(NamedTuple):
    """`index` has, per dimension of `array`, the number of the loop that runs through it, or a fixed position."""

    array: Value
    index: Index

    def moves(self, loop: int) -> bool:
        return any(_loop_of(i) == loop for i in self.index)

    def runs_along(self, loop: int) -> bool:
        """Whether a loop goes through elements behind each other, if the array is contiguous."""
        return (
            bool(self.index) and _loop_of(self.index[-1]) == loop and all(_loop_of(i) != loop for i in self.index[:-1])
        )

    def order(self) -> list[int]:
        """The loops that move it, in the order of its dimensions."""
        return [loop for i in self.index if (loop := _loop_of(i)) is not None]

    def renumbered(self, of: Mapping[int, int]) -> Access:
        """The same where loops have other numbers."""

        def other(i: int | From | Value) -> int | From | Value:
            return i._replace(loop=of[i.loop]) if isinstance(i, From) else of[i] if type(i) is int else i

        return Access(self.array, tuple(map(other, self.index)))

    def values(self) -> list[Value]:
        """What has to be at hand."""
        fixed = (i.start if isinstance(i, From) else i for i in self.index)
        return [self.array, *(i for i in fixed if not isinstance(i, int))]

    def replaced(self, replace: Callable[[Value], Value]) -> Access:
        """The same of other values."""

        def other(i: int | From | Value) -> int | From | Value:
            if isinstance(i, From):
                return From(i.loop, replace(i.start), i.back)
            return i if isinstance(i, int) else replace(i)

        return Access(replace(self.array), tuple(map(other, self.index)))


def _loop_of(i: int | From | Value) -> int | None:
    """The loop that moves a position."""
    return i.loop if isinstance(i, From) else i if type(i) is int else None


class Assumption(NamedTuple):
    """That dimension `axis` of `array` is as long as loop `loop`, and not repeated."""

    array: Value
    axis: int
    loop: int


class Lengths:
    """How arrays of a function were made, and how long they are."""

    def __init__(self, function: Function):
        self.made: dict[Value, Instr] = {}
        self.dims: dict[tuple[Value, int], Value] = {}
        for block in function.blocks:
            self.add(block.instrs)

    def add(self, instrs: Iterable[Instr]) -> None:
        for instr in instrs:
            for r in instr.results:
                self.made[r] = instr
            if instr.op == "dim":
                self.dims[instr.operands[0], instr.attrs["axis"]] = instr.result

    def lengths(self, array: Value) -> list[Value | None]:
        """The lengths of the dimensions as far as they are known; they need not be at hand where they are asked for."""
        type = array.type
        assert isinstance(type, Array)
        instr = self.made.get(array)
        known: list[Value | None] = [None] * type.ndim
        if instr is not None and instr.op == "alloc":
            known = list(instr.operands)
        elif instr is not None and instr.op in ("reshape", "broadcast"):
            known = list(instr.operands[1:])
        elif instr is not None and instr.op == "view":
            known = self._of_view(instr)
        elif (
            instr is not None and instr.op == "transpose" and len(set(instr.attrs["axes"])) == len(instr.attrs["axes"])
        ):
            source = self.lengths(instr.operands[0])
            known = [source[instr.attrs["axes"].index(k)] for k in range(type.ndim)]
        return [k if k is not None else self.dims.get((array, axis)) for axis, k in enumerate(known)]

    def _of_view(self, view: Instr) -> list[Value | None]:
        source = iter(self.lengths(view.operands[0]))
        operands = iter(view.operands[1:])
        result: list[Value | None] = []
        for letter in view.attrs["spec"]:
            if letter == "n":
                result.append(const(1))
                continue
            length = next(source)
            if letter == "i":
                next(operands)
            elif letter == "s":
                next(operands)
                result.append(next(operands))
                next(operands)
            else:
                result.append(length)
        return result

    def lies_apart(self, v: Value) -> bool:
        """Whether an array is known to be a view of every second element of another one, say, along some axis, or of a diagonal."""
        while (instr := self.made.get(v)) is not None and instr.op in VIEWS:
            if instr.op == "view" and any(isinstance(s, Const) and abs(s.value) > 1 for s in steps_of(instr)):
                return True
            if instr.op == "transpose" and len(set(instr.attrs["axes"])) < len(instr.attrs["axes"]):
                return True
            v = instr.operands[0]
        return False

    def root(self, v: Value) -> Value:
        """What an array is a view of: an `alloc`, or something unknown."""
        while (instr := self.made.get(v)) is not None and instr.op in VIEWS:
            v = instr.operands[0]
        return v


class Views(Lengths):
    """What is known of the arrays of a function: which are views of the same memory, too."""

    def __init__(self, function: Function):
        super().__init__(function)
        self.confined = confined_arrays(function)

    def with_confined(self, parameters: Iterable[Value]) -> Views:
        """The same, where these parameters of a function that is made stand for arrays that are confined."""
        views = copy(self)
        views.confined = self.confined.union(parameters)
        return views

    def apart(self, written: list[Value], read: list[Value]) -> bool:
        """Whether what is written is new memory, of which nothing else that is written or read is another view."""
        roots = [self.root(v) for v in written]
        fresh = all(r in self.made and self.made[r].op == "alloc" for r in roots)
        views = dict(zip(roots, written, strict=True))
        return fresh and len(views) == len(roots) and all(
            views.get(self.root(v), v) is v for v in read if isinstance(v.type, Array)
        )  # fmt: skip

    def alone(self, v: Value, others: Iterable[Value]) -> bool:
        """Whether no other of these arrays can have memory in common with `v`, however they came to be."""
        root = self.root(v)
        return root in self.confined and all(o is v or self.root(o) is not root for o in others)

    def access(self, v: Value, assumptions: list[Assumption] | None) -> Access | None:
        """How `v`, an array with an axis per loop, is reached.  What cannot be told before the code runs is added to the
        assumptions; None if it would be, and there is no list for them."""
        type = v.type
        assert isinstance(type, Array)
        array, index = v, tuple(range(type.ndim))
        while (instr := self.made.get(array)) is not None:
            if instr.op == "broadcast":
                found = self._broadcast(instr, index, assumptions)
                if found is None:
                    return None
            elif instr.op == "reshape":
                found = self._reshape(instr, index)
            elif instr.op == "view":
                found = self._view(instr, index)
            elif instr.op == "transpose":
                found = tuple(index[axis] for axis in instr.attrs["axes"])
                if len(set(instr.attrs["axes"])) < len(found):
                    found = None
            else:
                found = None
            if found is None:
                break
            array, index = instr.operands[0], found
        return Access(array, index)

    def _broadcast(self, instr: Instr, index: Index, assumptions: list[Assumption] | None) -> Index | None:
        source, shape = instr.operands[0], instr.operands[1:]
        own = self.lengths(source)
        result: list[int | From | Value] = []
        for axis, length in enumerate(own):
            position = axis + len(shape) - len(own)
            at = index[position]
            whole = length is not None and same(length, shape[position]) or axis in instr.attrs.get("unrepeated", ())
            if is_one(length):
                result.append(const(0))
            elif whole:
                result.append(at)
            elif type(at) is not int:
                return None  # a fixed position in an array that may repeat
            elif assumptions is None:
                return None
            else:
                assumptions.append(Assumption(source, axis, at))
                result.append(at)
        return tuple(result)

    def _reshape(self, instr: Instr, index: Index) -> Index | None:
        """Where only axes of length 1 come and go."""
        given = [(d, i) for d, i in zip(instr.operands[1:], index, strict=True) if not is_one(d)]
        own = self.lengths(instr.operands[0])
        rest = [d for d in own if not is_one(d)]
        if len(given) != len(rest) or not all(
            x is not None and same(x, d) for x, (d, _) in zip(rest, given, strict=True)
        ):
            return None
        positions = iter(given)
        return tuple(const(0) if is_one(d) else next(positions)[1] for d in own)

    def _view(self, instr: Instr, index: Index) -> Index | None:
        """Where axes are sliced in steps of one, unless all is contiguous as it is."""
        if array_type(instr.result).layout == "C" and "s" in instr.attrs["spec"]:
            return None
        own = iter(index)
        operands = iter(instr.operands[1:])
        result: list[int | From | Value] = []
        for letter in instr.attrs["spec"]:
            if letter == "s":
                (start, _, step), at = (next(operands), next(operands), next(operands)), next(own)
                if isinstance(at, Const) and at.value == 0:
                    result.append(start)
                elif isinstance(step, Const) and abs(step.value) == 1 and type(at) is int:
                    result.append(From(at, start, step.value < 0))
                else:
                    return None
            elif letter == "n":
                next(own)
            else:
                result.append(next(operands) if letter == "i" else next(own))
        return tuple(result)


def steps_of(view: Instr) -> list[Value]:
    """The steps of the axes that are sliced."""
    operands = iter(view.operands[1:])
    found: list[Value] = []
    for letter in view.attrs["spec"]:
        if letter == "s":
            found.append([next(operands) for _ in range(3)][2])
        elif letter == "i":
            next(operands)
    return found


def is_one(v: Value | None) -> bool:
    return isinstance(v, Const) and v.value == 1


def groups(accesses: list[Access], loops: int) -> list[list[int]]:
    """The loops, those together that can be one: in all arrays they are neighbours, or both move nothing.  The arrays are
    contiguous."""
    result: list[list[int]] = [[n] for n in range(min(loops, 1))]
    for loop in range(1, loops):
        if all(_neighbours(a, loop - 1, loop) for a in accesses):
            result[-1].append(loop)
        else:
            result.append([loop])
    return result


def _neighbours(a: Access, first: int, second: int) -> bool:
    index = a.index
    if any(isinstance(i, From) and i.loop in (first, second) for i in index):
        return False
    places = [[k for k, i in enumerate(index) if type(i) is int and i == loop] for loop in (first, second)]
    if not places[0] and not places[1]:
        return True
    return len(places[0]) == len(places[1]) == 1 and places[1][0] == places[0][0] + 1
