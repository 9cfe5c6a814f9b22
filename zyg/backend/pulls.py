"""Built-in functions that record what is done with small arrays, and run it back. (What they do is in `llvm/runtime/pulls.py`.)"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import cpython as layout
from .llvm.runtime.pull_rules import (
    ALIGNED,
    ARITHMETICS,
    CASE,
    KEPT,
    LOOPS,
    MASKS,
    P_IS_BOOLS,
    PLAN,
    ROLES,
    RULES,
    Y_IS_NUMBER,
)

_FASTCALL_KEYWORDS = 0x82


class _Method(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    ]  # fmt: skip


class Start:
    """When native code begins to run: a part of the runtime that Python code does without until it has paid for it."""

    def __init__(self, part: str, to_link: int, patience: int):
        self.part = part
        # To link native code that is kept on disk, or to compile it, takes as long as so many calls of what does the same in Python.
        self.to_link, self.patience = to_link, patience
        self.calls = 0
        self.started = False
        self.starting = threading.Lock()
        self.waiting: list[Callable[[], None]] = []

    def count(self) -> None:
        """One more call of what does the same in Python."""
        self.calls += 1
        if self.calls >= self.to_link and not self.started:
            if self.calls >= self.patience or _is_kept(self.part):
                self.start()
            else:
                self.to_link = self.patience

    def when_started(self, begin: Callable[[], None]) -> None:
        """To be called when there is native code: it is to `settle` built-in functions."""
        if self.started:
            begin()
        else:
            self.waiting.append(begin)

    def start(self) -> None:
        """From now on native code runs. (If this is interrupted, the next call of it goes on with the rest.)"""
        if not self.starting.acquire(blocking=False):  # another thread is at it
            return
        try:
            while self.waiting:
                self.waiting[0]()
                del self.waiting[0]
            self.started = True
        finally:
            self.starting.release()


ARRAYS = Start("pulls", 1 << 9, 1 << 12)
COTANGENTS = Start("cotangents", 1 << 11, 1 << 15)  # of whose calls each takes a fraction of the time
ALIKE = Start("alike", 1 << 9, 1 << 13)
STANDING = Start("standing", 1 << 8, 1 << 11)


class State(tuple[Any, ...]):
    """What a built-in function is bound to. First comes a Python function that does the same; until there is native code, who counts."""

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self[1].count()
        return self[0](*args, **kwargs)


TABLES: list[
    dict[Any, Any]
] = []  # in which there may be built-in functions among the keys: their hash is another one when they are settled
_keep: list[Any] = []  # what built-in functions refer to, for the life of the process
when_started, start = ARRAYS.when_started, ARRAYS.start


def _is_kept(part: str) -> bool:
    from .llvm.engine import engine

    return engine().is_kept(part)


def deferred(name: str, function: Callable[..., Any], counted: bool = True, start: Start = ARRAYS) -> Any:
    """A built-in function that calls `function`, until there is native code for it (`settle`). counted: calls tell that it is wanted."""
    call = ctypes.cast(ctypes.pythonapi.PyObject_Vectorcall, ctypes.c_void_p).value
    method = _Method(name.encode(), call, _FASTCALL_KEYWORDS, None)
    _keep.append(method)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.addressof(method), State((function, start)) if counted else function, None)


def settle(builtin: Any, symbol: str, *state: Any, part: str = "pulls") -> None:
    """From now on native code runs where `builtin` is called: it is bound to the Python function that was called so far, and `state`."""
    from .llvm.engine import engine

    before = builtin.__self__
    bound = State((before[0] if type(before) is State else before, *state))
    address = engine().part(part)[symbol]
    _keep.append((builtin, before))
    method = ctypes.c_void_p.from_address(id(builtin) + layout.BUILTIN_METHOD).value
    assert method is not None
    known = [(table, table[builtin]) for table in TABLES if builtin in table]
    try:
        for table, _ in known:
            del table[builtin]
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(bound))
        ctypes.c_void_p.from_address(id(builtin) + layout.BUILTIN_SELF).value = id(bound)
        _Method.from_address(method).function = address
    finally:  # whatever interrupts
        for table, value in known:
            table[builtin] = value


def _slot(cls: type, name: str) -> int:
    """Where instances have a slot."""
    getset, offset = 40, 16  # PyMemberDescrObject.d_member, PyMemberDef.offset
    member = ctypes.c_uint64.from_address(id(cls.__dict__[name]) + getset).value
    return ctypes.c_int64.from_address(member + offset).value


def slots_of(cls: type, *names: str) -> bytes:
    """Where instances of a class have these, for native code."""
    return struct.pack(f"{len(names)}Q", *(_slot(cls, name) for name in names))


def about_shadows(shadows: type, slots: tuple[str, ...], of_array: str) -> tuple[Any, ...]:
    """The state of what runs backs.

    shadows: a class; slots: of that, the dict of shadows by identity, the list of what is kept, the dict of refusals, that of
    memory; of_array: the name of the method that gives a shadow.
    """
    return slots_of(shadows, *slots), np.dtype(float), np.dtype(bool), shadows, of_array


def plan(rule: str, limit: int, skip: int = 0, of_number: bool = False, **maps: tuple[int, ...]) -> bytes:
    """How a back is run: by which rule, in at most `limit` steps.

    skip: how many operands come before a and b. maps: for y, p, q, a, and b, the axis that goes with each of the last loops, -1 where
    there is none; where none is given, the last axis goes with the last loop.
    """
    flags = of_number * Y_IS_NUMBER | (rule in MASKS) * P_IS_BOOLS
    places: list[int] = []
    for role in ROLES:
        found = maps.get(role)
        places += (ALIGNED,) * LOOPS if found is None else (*(-1,) * (LOOPS - len(found)), *found)
    return struct.pack(PLAN, list(RULES).index(rule), limit, flags, skip, *places)


@dataclass(frozen=True)
class Case:
    """What a record keeps, of KEPT, as p and q of its back, and whether the back names its operands; with a plan."""

    plan: Any
    p: str = ""
    q: str = ""
    a: bool = True
    b: bool = True

    def pack(self) -> bytes:
        return struct.pack(CASE, KEPT.index(self.p), KEPT.index(self.q), self.a, self.b)


def settle_record(
    builtin: Any,
    function: Any,
    pull: Any,
    kind: int,
    cases: Sequence[Case | None],
    limit: int,
    *,
    which: str = "",
    numbers: Any = None,
) -> None:
    """Native code records calls of `function`.

    kind: ARITHMETIC: an operator, of which `which` is the name: the cases are of arrays, an array and a number, a number and an array;
    `numbers` runs backs of two numbers. PRODUCT: of two vectors, vector and matrix, matrix and vector, two matrices, which keep the
    same. FUNCTION: of one array. POWER: of an array and a number that is 2, of others.
    """
    how = [bytes(struct.calcsize(CASE)) if c is None else c.pack() for c in cases][:3]
    head = struct.pack("3q", kind, list(ARITHMETICS).index(which) if which else 0, limit)
    plans = [None if c is None else c.plan for c in cases]
    settle(builtin, "zyg_record", function, pull, head + b"".join(how), np.dtype(float), *plans, numbers)


def settle_number(builtin: Any, which: str) -> None:
    """Native code runs backs (builtin, y, a, b) of an operator with two numbers."""
    settle(builtin, "zyg_pull_number", bytes([list(ARITHMETICS).index(which)]))


__all__ = [
    "ALIKE",
    "ARRAYS",
    "COTANGENTS",
    "STANDING",
    "TABLES",
    "Case",
    "Start",
    "State",
    "about_shadows",
    "deferred",
    "plan",
    "settle",
    "settle_number",
    "settle_record",
    "slots_of",
    "start",
    "when_started",
]
