"""That a value has the class which it has in CPython, for native code in the place of Python code.

Where numbers of several classes have met, machine code has one type. Which of the classes it is in CPython is told by the value as
far as this goes: what is no whole number was no int, what is neither 0 nor 1 no bool, what has an imaginary part is complex. The
others depart (zyg.ir.departures): they are computed in Python. (A float and NumPy's float64, an int and NumPy's int64 are not told apart.)
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from zyg.ir.core import Value, const
from zyg.ir.departures import departing
from zyg.ir.types import BOOL, F64, I64

from .meeting import classes_of, is_mixed
from .scalars import any_of
from .values import Abstract, ComplexValue, Heap, MaybeValue, Number, Reference, StructValue, TupleValue

if TYPE_CHECKING:
    from .evaluator import Evaluator

MESSAGE = "a number that is of one class on one path and of another on another: which one it is here, native code does not know"


def require_classes(e: Evaluator, v: Abstract, there: Value | None = None) -> None:
    """Depart where a number in a value may be of another class than the one it has in machine code. `there`: whether it is there."""
    if isinstance(v, (Number, ComplexValue)):
        own = _is_of_its_own(e, v) if is_mixed(v) else None
        if own is not None:
            ok = own if there is None else any_of(e, own, e.op("not", there))
            e.guard(ok, departing("TypeError"), MESSAGE)
    elif isinstance(v, (TupleValue, StructValue)):
        for part in v.items:
            require_classes(e, part, there)
    elif isinstance(v, MaybeValue):
        require_classes(e, v.item, v.present if there is None else e.op("and", there, v.present))
    elif isinstance(v, Reference) and _holds_mixed(v, e.heap, set()):
        raise e.refuse(f"{MESSAGE}, in an object or list", hint="make them one type before they meet")


def _is_of_its_own(e: Evaluator, v: Number | ComplexValue) -> Value | None:
    """Whether a number cannot be of one of the smaller classes; None if there is none of these."""
    classes = classes_of(v)
    if isinstance(v, ComplexValue):
        im = v.im
        if not any(issubclass(c, (int, float)) for c in classes) or not isinstance(im, Number):
            return None
        return e.op("ne", im.value, const(0.0))
    if v.type is BOOL or not any(issubclass(c, int) for c in classes):
        return None
    if v.type is I64:
        return _neither(e, v.value, const(0), const(1)) if bool in classes else None
    if v.type is not F64:
        return None
    if int in classes:
        return e.op("ne", v.value, e.op("floor", v.value))
    return _neither(e, v.value, const(0.0), const(1.0))


def _neither(e: Evaluator, x: Value, first: Value, second: Value) -> Value:
    return e.op("and", e.op("ne", x, first), e.op("ne", x, second))


def _holds_mixed(v: Any, heap: Heap, seen: set[Hashable]) -> bool:
    """Whether there are such numbers in objects."""
    from .growing import Layout, ListValue

    if isinstance(v, Reference):
        if v.id in seen:
            return False
        seen.add(v.id)
        record = heap[v.id]
        inside = [record.meta.example] if isinstance(record.meta, Layout) else record.fields
    elif isinstance(v, ListValue):
        inside = [] if v.layout is None else [v.layout.example]
    elif isinstance(v, (TupleValue, StructValue, MaybeValue)):
        inside = v.parts()
    else:
        return isinstance(v, (Number, ComplexValue)) and is_mixed(v)
    return any(_holds_mixed(x, heap, seen) for x in inside)
