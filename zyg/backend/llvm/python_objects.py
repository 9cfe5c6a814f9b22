"""Python objects in LLVM code: their fields, their types, and references to them.

Unboxed objects are borrowed; boxed ones are new.  Every new reference that is not yet part of the result is in a slot (an
alloca that starts as null), so that `release_slots` frees whatever there is at any exit.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ...ir.dtypes import NUMPY_SCALARS
from ...ir.types import (
    BOOL,
    F32,
    F64,
    I32,
    I64,
    U8,
    PullbackType,
    Scalar,
    Type,
)
from .. import cpython as layout
from .lowered import CodeEmitter
from .text import SIZES

_PAIRWISE = 6  # so many objects of a kind are compared in line
# References beyond the first ones lie together: as values of their own they would be joined from every exit, which takes LLVM a
# time that grows with their square.
_APART, _IN_A_ROW = 12, 64
_DTYPE_CODES = {F64: "d", F32: "f", I64: "lq", I32: "il", U8: "B", BOOL: "?"}
# NumPy may have two type numbers for integers of a size (long and long long); results get the one of np.int64.
TYPE_NUMBERS: dict[Scalar, list[int]] = {
    scalar: sorted(
        {np.dtype(c).num for c in codes if np.dtype(c).itemsize == SIZES[scalar]},
        key=lambda number, scalar=scalar: number != np.dtype(NUMPY_SCALARS[scalar]).num,
    )
    for scalar, codes in _DTYPE_CODES.items()
}


def saved_layout(type: PullbackType) -> int:
    """A number that tells layouts of saved leaves apart."""
    return zlib.crc32(f"{type.reverse} {'; '.join(map(str, type.saved))}".encode())


class PythonObjects:
    """Emits code through `emitter`; `emitter.object(x)` gives a borrowed reference to a Python object."""

    def __init__(self, emitter: CodeEmitter, rebuild: Callable[[Type], Callable[..., Any]] | None = None):
        self.e = emitter
        self.rebuild = rebuild
        self.slots: list[str] = []
        self.rows: list[str] = []  # of slots that lie together, of which the last one has `row_fill` in use
        self.row_fill = 0
        # Whether Python code may run before all is unboxed (`careful`) or during the call (`hold_arrays`): what was
        # read out of something mutable then needs a reference of its own.
        self.careful = False
        self.hold_arrays = False
        self.objects: list[str] = []  # the mutable objects that came in, in the order in which one meets them
        self.kinds: dict[Hashable, list[str]] = {}  # those that could be one object, as far as their types tell
        self.tables: list[str] = []  # lists of lists, of any number of rows, and of objects that are only lent
        self.first = 0  # where the objects of the input that is being read begin
        self.made: list[str] = []  # those made for a result
        self.optional = 0
        self.saved_slot: str | None = None  # the first pullback's capsule, which will own the context's memory

    def meet(self, o: str, kind: Hashable) -> None:
        """Note a mutable object that came in, of a type that tells it from those of other kinds."""
        self.objects.append(o)
        self.kinds.setdefault(kind, []).append(o)

    def require_different(self, miss: str) -> None:
        """Go on only where the objects that came in are different ones, as they are for the types of a signature: an object
        that is met again is of type `Shared`."""
        e = self.e
        for objects in self.kinds.values():
            if len(objects) <= _PAIRWISE:
                for at, x in enumerate(objects):
                    for y in objects[:at]:
                        e.require(e.let(f"icmp ne ptr {x}, {y}"), miss)
            else:
                table = e.alloca(f"[{len(objects)} x ptr]", "met", align=8)
                for at, x in enumerate(objects):
                    e.emit(f"store ptr {x}, ptr {e.at(table, 8 * at)}")
                different = self.api("zyg_all_different", "i1", "ptr, i64")
                e.require(e.call("i1", different, f"ptr {table}", f"i64 {len(objects)}"), miss)
        if self.tables:
            self.require_apart(self.tables, [o for o in self.objects if o not in self.tables], miss)

    def require_apart(self, tables: list[str], others: list[str], miss: str) -> None:
        """Go on only where what is in the lists is in one place, and none of the other objects."""
        from ..calling import require_apart  # on demand: it loads the engine

        e = self.e
        items = [*tables, self.data("_Py_NoneStruct"), *others]
        made = self.checked(e.call("ptr", self.api("PyTuple_New", "ptr", "i64"), f"i64 {len(items)}"), miss)
        self.keep(made)
        for k, o in enumerate(items):
            self.incref(o)
            e.emit(f"store ptr {o}, ptr {e.at(made, layout.TUPLE_ITEMS + 8 * k)}")
        call = self.api("zyg_call_or_null", "ptr", "ptr, ptr")
        function = self.object(require_apart)
        self.keep(self.checked(e.call("ptr", call, f"ptr {function}", f"ptr {made}", hint="apart"), miss))

    def api(self, name: str, result: str, arguments: str) -> str:
        return self.e.module.external(name, result, arguments)

    def data(self, name: str) -> str:
        return self.e.module.external(name)

    def field(self, type: str, base: str, offset: int, hint: str = "t") -> str:
        return self.e.field(type, base, offset, "", hint)

    def object(self, value: object, *recipe: Any) -> str:
        return self.e.object(value, *recipe)

    def require_equal(self, type: str, x: str, y: str, miss: str) -> None:
        self.e.require(self.e.let(f"icmp eq {type} {x}, {y}"), miss)

    def require_type(self, object: str, expected: str, miss: str) -> None:
        self.require_equal("ptr", self.field("ptr", object, layout.OB_TYPE, "type"), expected, miss)

    def slot(self) -> str:
        """Memory for a reference, null at first."""
        e = self.e
        if len(self.slots) < _APART:
            name = e.alloca("ptr", "reference")
            e.allocas.append(f"  store ptr null, ptr {name}")
            self.slots.append(name)
            return name
        if self.row_fill in (0, _IN_A_ROW):
            self.rows.append(e.alloca(f"[{_IN_A_ROW} x ptr]", "references", align=8))
            memset = e.module.intrinsic("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1 immarg")
            e.allocas.append(f"  call void {memset}(ptr {self.rows[-1]}, i8 0, i64 {8 * _IN_A_ROW}, i1 false)")
            self.row_fill = 0
        name = "%" + e.name("reference")
        e.allocas.append(f"  {name} = getelementptr i8, ptr {self.rows[-1]}, i64 {8 * self.row_fill}")
        self.row_fill += 1
        return name

    def keep(self, object: str) -> str:
        """Put a new reference into a slot of its own."""
        slot = self.slot()
        self.e.emit(f"store ptr {object}, ptr {slot}")
        return slot

    def release_slots(self) -> None:
        for slot in self.slots:
            self.decref(self.e.let(f"load ptr, ptr {slot}"))
            self.e.emit(f"store ptr null, ptr {slot}")
        for row in self.rows:
            self.e.call("void", self.api("zyg_drop_all", "void", "ptr, i64"), f"ptr {row}", f"i64 {_IN_A_ROW}")

    def decref(self, object: str) -> None:
        """Nothing for null."""
        self.e.call("void", self.api("Py_DecRef", "void", "ptr"), f"ptr {object}")

    def incref(self, object: str) -> None:
        self.e.call("void", self.api("Py_IncRef", "void", "ptr"), f"ptr {object}")

    def checked(self, object: str, failed: str) -> str:
        """The object that a call has made; to the block `failed` where there is none."""
        self.e.require(self.e.let(f"icmp ne ptr {object}, null"), failed)
        return object
