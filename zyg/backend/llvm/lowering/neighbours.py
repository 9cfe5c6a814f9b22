"""Adding, in lanes, to slices of one array that lie a few elements apart (attrs["neighbours"], ir/passes/neighbours.py).

What goes to the slices that lie ahead reaches the last of them a few elements later: the lanes of it that are beyond this round
are kept in a register for the next.  So each element is written once, when it is complete, and none is read that a store has not
come to memory with.  Between calls of the function what is not complete yet is in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....ir.core import Instr, Value
from .arrays import access, element, parts_of

if TYPE_CHECKING:
    from .vectors import VectorLowering


class Neighbours:
    """One such array in the function that is being lowered."""

    def __init__(self, e: VectorLowering, members: list[tuple[Value, int]]):
        self.e = e
        self.ahead = dict(members)  # how far each slice lies ahead of the last one
        self.first, self.furthest = members[0]
        self.last = members[-1][0]
        self.type = e.vector_type("double")
        self.kept = {v: e.alloca(self.type, "kept") for v, ahead in members if ahead}
        self.given: dict[Value, str] = {}

    def begin(self) -> None:
        """What the elements before have added to the first ones here."""
        e, width = self.e, self.e.width
        start, stop = (e.value(p) for p in e.function.params[-3:-1])
        some = e.let(f"icmp slt i64 {start}, {stop}")
        lanes = ", ".join(f"i1 {'true' if k < self.furthest else 'false'}" for k in range(width))
        mask = e.vector_type("i1")
        self.mask = e.let(f"select i1 {some}, {mask} <{lanes}>, {mask} zeroinitializer")
        callee = e.module.intrinsic(f"llvm.masked.load.v{width}f64.p0", self.type, f"ptr, i32, {mask}, {self.type}")
        given = f"ptr {self.address(start)}, i32 8, {mask} {self.mask}, {self.type} zeroinitializer"
        before = e.let(f"call {self.type} {callee}({given}){access(e, self.last)}")
        order = ", ".join(f"i32 {(k + self.furthest) % width}" for k in range(width))
        before = e.let(f"shufflevector {self.type} {before}, {self.type} poison, <{width} x i32> <{order}>")
        for v, place in self.kept.items():
            e.emit(f"store {self.type} {before if v is self.first else 'zeroinitializer'}, ptr {place}")

    def put(self, instr: Instr, address: str, annotation: str) -> None:
        """What a slice gets in this round; with the last one, the elements are complete."""
        e, (array, value, *indices) = self.e, instr.operands
        given = e.vector(value)
        if array is self.first and instr.op == "accum":
            given = e.let(f"fadd {self.type} {e.read_row(address, self.type, 8, annotation, indices)}, {given}")
        self.given[array] = given
        if array is not self.last:
            return
        total = given
        for v, place in self.kept.items():
            kept = e.let(f"load {self.type}, ptr {place}")
            total = e.let(f"fadd {self.type} {total}, {self.moved(kept, self.given[v], self.ahead[v])}")
            e.emit(f"store {self.type} {self.given[v]}, ptr {place}")
        e.write_lanes(total, address, self.type, 8, annotation, indices)

    def end(self) -> None:
        """Put what is not complete to memory."""
        e, width, mask = self.e, self.e.width, self.e.vector_type("i1")
        total = ""
        for v, place in self.kept.items():
            kept = self.moved(e.let(f"load {self.type}, ptr {place}"), "zeroinitializer", self.ahead[v])
            total = e.let(f"fadd {self.type} {total}, {kept}") if total else kept
        callee = e.module.intrinsic(f"llvm.masked.store.v{width}f64.p0", "void", f"{self.type}, ptr, i32, {mask}")
        place = self.address(e.value(e.function.params[-2]))
        e.emit(f"call void {callee}({self.type} {total}, ptr {place}, i32 8, {mask} {self.mask}){access(e, self.last)}")

    def address(self, at: str) -> str:
        return element(self.e, parts_of(self.e, self.last), [at])

    def moved(self, before: str, now: str, by: int) -> str:
        """The last lanes of the round before, then the first ones of this."""
        width = self.e.width
        order = ", ".join(f"i32 {width - by + k}" for k in range(width))
        return self.e.let(f"shufflevector {self.type} {before}, {self.type} {now}, <{width} x i32> <{order}>")
