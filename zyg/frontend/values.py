"""Abstract values: what inference knows of a Python value while it emits typed SSA.

An abstract value is a small tree whose leaves are SSA values.  A tuple is a tree of its items, a number a leaf, a function
a tree of what it captured; a constant has no leaves at all.  Mutable Python objects (cells, dataclass instances made in
the function, lists, iterators) are a `Reference` to a record in the *heap*, a mapping that inference carries along
control flow like the values of variables.  So aliasing is exact: two names of one object are two equal references.

Where edges meet, their states are joined (merging.py); boundary.py takes values apart and puts them together.
"""

from __future__ import annotations

import types as python_types
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from zyg.ir import types as t
from zyg.ir.core import Const, Position, Value, const
from zyg.ir.plainly import get_plainly
from zyg.ir.records import record
from zyg.ir.types import BOOL, F64, I64, Scalar
from zyg.typeof import UNBOUND, dtype_scalar


class Abstract:
    """Base of all abstract values. `head` identifies the node, `parts` are its children (abstract values or SSA values)."""

    __slots__ = ()

    # Whether it stands for an array (`a.flat`, `a.flags`), and is one of several where that is one of several.
    of_array = False

    @abstractmethod
    def head(self) -> Hashable: ...

    def parts(self) -> tuple[Any, ...]:
        return ()

    def with_parts(self, parts: list[Any]) -> Abstract:
        return self


@record(slots=True, eq=False)
class Number(Abstract):
    """A scalar in SSA. `numpy` tells a NumPy scalar, which follows NumPy's rules, from a Python number.

    `classes` are those that it may have in CPython, where these are not the one of its type: numbers that met were made one type.
    """

    value: Value
    numpy: bool = False
    classes: frozenset[type] | None = None

    @property
    def type(self) -> Scalar:
        assert isinstance(self.value.type, Scalar)
        return self.value.type

    def head(self) -> Hashable:
        return ("number", self.numpy, self.classes)

    def parts(self) -> tuple[Any, ...]:
        return (self.value,)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return Number(parts[0], self.numpy, self.classes)


@record(slots=True, eq=False)
class Known(Abstract):
    """A Python object that is known when compiling: a number, None, a string, a function, a module, a class."""

    object: Any

    def head(self) -> Hashable:
        return ("known", known_key(self.object))


@record(slots=True, eq=False)
class TupleValue(Abstract):
    items: tuple[Abstract, ...]

    def head(self) -> Hashable:
        return ("tuple", len(self.items))

    def parts(self) -> tuple[Any, ...]:
        return self.items

    def with_parts(self, parts: list[Any]) -> Abstract:
        return TupleValue(tuple(parts))


@record(slots=True, eq=False)
class StructValue(Abstract):
    """A named tuple, a frozen dataclass, or an object out of a list of run-time length: never written.

    lent: the list, or one that it was put together of, is an argument; the object is the caller's, and is only read.
    """

    cls: type
    names: tuple[str, ...]
    items: tuple[Abstract, ...]
    lent: bool = False

    def head(self) -> Hashable:
        return ("struct", self.cls, self.lent)

    def parts(self) -> tuple[Any, ...]:
        return self.items

    def with_parts(self, parts: list[Any]) -> Abstract:
        return StructValue(self.cls, self.names, tuple(parts), self.lent)


@record(slots=True, eq=False)
class DictValue(Abstract):
    """A dict as an item of a list of run-time length, with what it holds now. Taken out, it is a record that must not be changed.

    lent: as of an object (StructValue); else it is a gradient.
    """

    names: tuple[str, ...]
    items: tuple[Abstract, ...]
    lent: bool = False

    def head(self) -> Hashable:
        return ("dict item", self.names, self.lent)

    def parts(self) -> tuple[Any, ...]:
        return self.items

    def with_parts(self, parts: list[Any]) -> Abstract:
        return DictValue(self.names, tuple(parts), self.lent)


@record(slots=True, eq=False)
class ArrayValue(Abstract):
    value: Value

    @property
    def type(self) -> t.Array:
        assert isinstance(self.value.type, t.Array)
        return self.value.type

    def head(self) -> Hashable:
        return ("array", self.type.dtype, self.type.ndim)

    def parts(self) -> tuple[Any, ...]:
        return (self.value,)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return ArrayValue(parts[0])


@record(slots=True, eq=False)
class ComplexValue(Abstract):
    """A complex number of two floats. `numpy` tells a NumPy scalar, which follows NumPy's rules, from a Python number."""

    re: Abstract
    im: Abstract
    numpy: bool = False
    classes: frozenset[type] | None = None  # as of a Number

    def head(self) -> Hashable:
        return ("complex", self.numpy, self.classes)

    def parts(self) -> tuple[Any, ...]:
        return (self.re, self.im)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return ComplexValue(parts[0], parts[1], self.numpy, self.classes)


@record(slots=True, eq=False)
class ComplexArrayValue(Abstract):
    """An array of complex128, by the array of its parts, which has one more axis: that of real and imaginary part."""

    floats: ArrayValue

    @property
    def ndim(self) -> int:
        return self.floats.type.ndim - 1

    def head(self) -> Hashable:
        return ("complex array", self.ndim)

    def parts(self) -> tuple[Any, ...]:
        return (self.floats,)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return ComplexArrayValue(parts[0])


@record(slots=True, eq=False)
class FunctionValue(Abstract):
    """A Python function: a representative (for code, globals and names), and what this instance captured.

    `captured` has an entry per free variable: a reference to a cell in the heap where the cell was made here, else what
    the cell holds.
    """

    code: Any
    globals: dict[str, Any]
    name: str
    captured: tuple[Abstract, ...] = ()
    defaults: tuple[Abstract, ...] = ()
    kwdefaults: tuple[tuple[str, Abstract], ...] = ()
    function: Any = None  # a Python function with this code, if there is one

    def head(self) -> Hashable:
        names = tuple(n for n, _ in self.kwdefaults)
        return ("function", self.code, id(self.globals), len(self.captured), len(self.defaults), names)

    def parts(self) -> tuple[Any, ...]:
        return (*self.captured, *self.defaults, *(v for _, v in self.kwdefaults))

    def with_parts(self, parts: list[Any]) -> Abstract:
        n, m = len(self.captured), len(self.captured) + len(self.defaults)
        kw = tuple((name, v) for (name, _), v in zip(self.kwdefaults, parts[m:]))
        return FunctionValue(self.code, self.globals, self.name, tuple(parts[:n]), tuple(parts[n:m]), kw, self.function)


@record(slots=True, eq=False)
class MethodValue(Abstract):
    """A bound method: `function` (any Python object, or the name of a method of arrays) with `receiver` first."""

    function: Any
    receiver: Abstract

    def head(self) -> Hashable:
        return ("method", known_key(self.function))

    def parts(self) -> tuple[Any, ...]:
        return (self.receiver,)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return MethodValue(self.function, parts[0])


@record(slots=True, eq=False)
class DictView(Abstract):
    """`d.keys()`, `d.values()` or `d.items()`: what is in the dict when it is looked at."""

    name: str
    of: Abstract  # a Reference

    def head(self) -> Hashable:
        return ("dict view", self.name)

    def parts(self) -> tuple[Any, ...]:
        return (self.of,)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return DictView(self.name, parts[0])


@record(slots=True, eq=False)
class RangeValue(Abstract):
    start: Abstract
    stop: Abstract
    step: Abstract

    def head(self) -> Hashable:
        return ("range",)

    def parts(self) -> tuple[Any, ...]:
        return (self.start, self.stop, self.step)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return RangeValue(*parts)


@record(slots=True, eq=False)
class SliceValue(Abstract):
    start: Abstract
    stop: Abstract
    step: Abstract

    def head(self) -> Hashable:
        return ("slice",)

    def parts(self) -> tuple[Any, ...]:
        return (self.start, self.stop, self.step)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return SliceValue(*parts)


@record(slots=True, eq=False)
class MaybeValue(Abstract):
    """`item` where `present` holds, else `absent`: None, or the mark of an unbound variable."""

    present: Value
    item: Abstract
    absent: Any = None

    def head(self) -> Hashable:
        return ("maybe", self.absent is None)

    def parts(self) -> tuple[Any, ...]:
        return (self.present, self.item)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return MaybeValue(parts[0], parts[1], self.absent)


@record(slots=True, eq=False)
class ChoiceValue(Abstract):
    """One of several values without leaves in common (functions, strings; a number or arrays), or of several objects, by
    number."""

    tag: Value
    options: tuple[Abstract, ...]

    def head(self) -> Hashable:
        if isinstance(self.options[0], Reference):
            return ("choice of objects", len(self.options))
        return ("choice", tuple((option_kind(o), o.head()) for o in self.options))

    def parts(self) -> tuple[Any, ...]:
        return (self.tag, *self.options)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return ChoiceValue(parts[0], tuple(parts[1:]))


class CallableValue(Abstract):
    """A value that knows itself what calling it means."""

    __slots__ = ()

    @abstractmethod
    def call(self, e: Any, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract: ...


ARRAYS = (ArrayValue, ComplexArrayValue)


class AttributedValue(Abstract):
    """A value that knows itself what its attributes are."""

    __slots__ = ()

    @abstractmethod
    def attribute(self, e: Any, name: str) -> Abstract | None: ...


@record(slots=True, eq=False)
class PullbackValue(Abstract):
    """The `back` of a pullback. `plan` (library/pullbacks.py) tells how to call it; `saved` is what it holds."""

    plan: Any
    saved: tuple[Value, ...]

    def head(self) -> Hashable:
        return ("pullback", id(self.plan))

    def parts(self) -> tuple[Any, ...]:
        return self.saved

    def with_parts(self, parts: list[Any]) -> Abstract:
        return PullbackValue(self.plan, tuple(parts))


@record(slots=True, eq=False)
class Reference(Abstract):
    """A mutable object: its record is in the heap under `id`."""

    id: Hashable

    def head(self) -> Hashable:
        return ("reference", self.id)


@record(slots=True, eq=False)
class ConflictValue(Abstract):
    """What cannot be used: a variable where control flow meets with values that have nothing in common, the result of a
    Python function that compiled code does not know. It is an error only where it is used; the error points at the call of such a function,
    `place`."""

    what: str
    found: tuple[str, ...]
    hint: str = "give the variable one type"
    place: Position | None = None

    def head(self) -> Hashable:
        return ("conflict", self.what, self.found)


@record(frozen=True, slots=True)
class Shape:
    """What an object is made of: its class, and the names of the attributes that it has of its own."""

    cls: type
    names: tuple[str, ...]


MUTABLE_KINDS = ("object", "dict", "list", "growing")  # of records, those of objects that programs can see
WRITTEN, READ_ONLY, GIVEN, LISTED, ROW, STAND_IN, LENT, UNORDERED = 1, 2, 4, 8, 16, 32, 64, 128


@record(slots=True, eq=False)
class Record:
    """A mutable object in the heap.

    kind: "cell", "object" (an instance; `meta` is its Shape), "dict" (`meta` are its keys), "list" (of known length),
    "growing" (a list whose length is known at run time: the length and an array per leaf), or "iterator" (`meta` is its
    kind, see iterators.py).  state: WRITTEN once it was changed, READ_ONLY if it must not be (a global, for instance),
    GIVEN if it came in as an argument, LISTED once its contents were put into a growing list; ROW, too, if it is a list whose
    memory is its part of a list of lists, so that its items may be set; STAND_IN if it is a copy in the place of an object of the
    program, which may be met elsewhere; UNORDERED if it is a dict whose keys were put in on several ways in several orders.
    """

    kind: str
    meta: Hashable
    fields: tuple[Any, ...]
    state: int = 0
    held: tuple[Hashable, ...] | None = None  # what `references` answered

    def references(self) -> tuple[Hashable, ...]:
        """The ids of the objects that it refers to."""
        if self.held is None:
            found: list[Hashable] = []
            for x in self.fields:
                _collect(x, found)
            self.held = tuple(found)
        return self.held

    def with_fields(self, fields: Any) -> Record:
        return Record(self.kind, self.meta, tuple(fields), self.state)

    def replace(self, index: int, value: Any) -> Record:
        fields = list(self.fields)
        fields[index] = value
        return Record(self.kind, self.meta, tuple(fields), self.state)

    def written(self, fields: Any) -> Record:
        return Record(self.kind, self.meta, tuple(fields), self.state | WRITTEN)

    @property
    def names(self) -> tuple[str, ...]:
        """Of an object the attributes, of a dict the keys."""
        if isinstance(self.meta, Shape):
            return self.meta.names
        assert isinstance(self.meta, tuple)
        return self.meta

    @property
    def shape(self) -> Shape:
        """Of an object its class and attributes."""
        assert isinstance(self.meta, Shape)
        return self.meta

    def named(self) -> dict[str, Any]:
        """The attributes of an object, or the items of a dict, by name, without those that are known not to be there."""
        pairs = zip(self.names, self.fields)
        return {n: v for n, v in pairs if not (isinstance(v, Known) and v.object is UNBOUND)}

    def with_named(self, named: dict[str, Any]) -> Record:
        """The record with these attributes or items instead, as one that was written."""
        names = tuple(named)
        meta = Shape(self.meta.cls, names) if isinstance(self.meta, Shape) else names
        return Record(self.kind, meta, tuple(named.values()), self.state | WRITTEN)

    def under(self, names: tuple[str, ...]) -> tuple[Any, ...]:
        """The fields by these names, the mark of an unbound variable for those that are not there."""
        own = self.named()
        return tuple(own.get(n, UNBOUND_VALUE) for n in names)


Heap = dict[Hashable, Record]

NONE = Known(None)
UNBOUND_VALUE = Known(UNBOUND)
NUMBER_CLASSES = (bool, int, float)
DIFFERENTIABLE = (float,)  # others may be constants that matter: an axis, a flag


def known(value: Any) -> Abstract:
    """A constant as an abstract value; tuples become tuples of constants."""
    if value is None:
        return NONE
    if type(value) is tuple:
        return TupleValue(tuple(map(known, value)))
    if type(value) is complex:
        return ComplexValue(Known(value.real), Known(value.imag))
    if isinstance(value, np.integer) and (scalar := dtype_scalar(value.dtype)) is not None:
        return Number(const(int(value), scalar), numpy=True)
    return Known(value)


def known_key(obj: Any) -> Hashable:
    """Constants are equal if they cannot be told apart: numbers and strings by type and value, the rest by identity."""
    cls = type(obj)
    if cls in (bool, int, str, bytes, type(None)):
        return (cls, obj)
    if cls in (float, complex):
        return (cls, repr(obj))
    if cls is tuple:
        return (cls, tuple(map(known_key, obj)))
    return Same(obj)


class Same:
    """Hash and equality by identity, keeping the object alive."""

    __slots__ = ("object",)

    def __init__(self, obj: Any):
        self.object = obj

    def __hash__(self) -> int:
        return id(self.object)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.object is other.object


def is_number(v: Abstract) -> bool:
    return isinstance(v, Number) or isinstance(v, Known) and type(v.object) in NUMBER_CLASSES


def is_numeric(v: Abstract) -> bool:
    """Whether a value is a number, complex ones included."""
    return isinstance(v, ComplexValue) or is_number(v)


def as_complex(v: Any) -> Any:
    """A number as a complex number; the mark DEFAULT stays what it is."""
    return ComplexValue(v, Known(0.0)) if isinstance(v, Abstract) and is_number(v) else v


def same_leaf(a: Value, b: Value) -> bool:
    if a is b:
        return True
    if isinstance(a, Const) and isinstance(b, Const):
        return a.type == b.type and repr(a.value) == repr(b.value)
    return False


def same(a: Any, b: Any) -> bool:
    """Whether two abstract values are the same, leaf by leaf (references by id)."""
    if a is b:
        return True
    if isinstance(a, Value):
        return isinstance(b, Value) and same_leaf(a, b)
    if type(a) is not type(b) or a.head() != b.head():
        return False
    p, q = a.parts(), b.parts()
    return len(p) == len(q) and all(map(same, p, q))


def same_heap(a: Heap, b: Heap) -> bool:
    return a.keys() == b.keys() and all(same_record(x, b[key]) for key, x in a.items())


def same_record(x: Record, y: Record) -> bool:
    if x is y:
        return True
    if x.kind != y.kind or x.meta != y.meta or len(x.fields) != len(y.fields) or x.state != y.state:
        return False
    return all(map(same, x.fields, y.fields))


def references(v: Any) -> list[Hashable]:
    """The ids of the references in a value (not those behind them)."""
    found: list[Hashable] = []
    _collect(v, found)
    return found


def _collect(v: Any, found: list[Hashable]) -> None:
    kind = type(v)
    if kind is Reference:
        found.append(v.id)
    elif kind not in _WITHOUT_REFERENCES and isinstance(v, Abstract):
        for part in v.parts():
            _collect(part, found)


_WITHOUT_REFERENCES = frozenset({Value, Const, Number, Known, ArrayValue, PullbackValue, ConflictValue})


def reachable(roots: Iterable[Any], heap: Heap) -> Heap:
    """The part of the heap that the roots reach, in the order of first encounter."""
    result: Heap = {}
    work: list[Hashable] = []
    for v in roots:
        _collect(v, work)
    while work:
        id = work.pop()
        if id not in result:
            record = result[id] = heap[id]
            work.extend(record.references())
    return result


def map_leaves(v: Any, function: Callable[[Value], Any], ids: Callable[[Hashable], Hashable] | None = None) -> Any:
    """A copy with each SSA value replaced, and ids of references too if `ids` is given."""
    if isinstance(v, Value):
        return function(v)
    if isinstance(v, Reference):
        return Reference(ids(v.id)) if ids else v
    parts = v.parts()
    if not parts:
        return v
    return v.with_parts([map_leaves(p, function, ids) for p in parts])


def leaf_values(v: Any) -> Iterator[Value]:
    """The SSA values of a value without references, left to right; constants that are numbers have no leaf."""
    if isinstance(v, Value):
        yield v
    else:
        for p in v.parts():
            yield from leaf_values(p)


# -------------------------------------------------------------------------------------- structured types


def number_type(v: Abstract) -> Scalar | None:
    """The machine type of a number, None for anything else."""
    if isinstance(v, Number):
        return v.type
    if isinstance(v, Known):
        cls = type(v.object)
        return F64 if cls is float else BOOL if cls is bool else I64 if cls is int else None
    return None


def describe(v: Any, heap: Mapping[Hashable, Record] | None = None) -> str:
    """The type of a value in words for error messages."""
    if isinstance(v, Known):
        if type(v.object) in NUMBER_CLASSES:
            return {float: "f64", int: "i64", bool: "bool"}[type(v.object)]
        if v.object is None:
            return "None"
        if v.object is UNBOUND:
            return "unbound"
        return str(t.Const(v.object))
    if isinstance(v, Number):
        return str(t.NpScalar(v.type)) if v.numpy else str(v.type)
    if isinstance(v, ArrayValue):
        return str(v.type)
    if isinstance(v, ComplexValue):
        return str(t.Complex(v.numpy))
    if isinstance(v, ComplexArrayValue):
        return str(t.ComplexArray(v.ndim, v.floats.type.layout, v.floats.type.writable))
    if isinstance(v, TupleValue):
        return f"({', '.join(describe(i, heap) for i in v.items)}{',' if len(v.items) == 1 else ''})"
    if isinstance(v, StructValue):
        return f"{v.cls.__name__}({', '.join(f'{n}: {describe(i, heap)}' for n, i in zip(v.names, v.items))})"
    if isinstance(v, DictValue):
        return f"{{{', '.join(f'{n!r}: {describe(i, heap)}' for n, i in zip(v.names, v.items))}}}"
    if isinstance(v, FunctionValue):
        return f"function {v.name}"
    if isinstance(v, MaybeValue):
        return f"{describe(v.item, heap)} | {'None' if v.absent is None else 'unbound'}"
    if isinstance(v, ChoiceValue):
        return " | ".join(describe(o, heap) for o in v.options)
    if isinstance(v, RangeValue):
        return "range"
    if isinstance(v, SliceValue):
        return "slice"
    if isinstance(v, MethodValue):
        name = v.function if isinstance(v.function, str) else get_plainly(v.function, "__name__", "?")
        return f"method {name} of {describe(v.receiver, heap)}"
    if isinstance(v, PullbackValue):
        return "pullback"
    if isinstance(v, ConflictValue):
        return " or ".join(v.found)
    if isinstance(v, Reference) and heap and v.id in heap:
        record = heap[v.id]
        if isinstance(record.meta, Shape):
            return record.meta.cls.__name__
        if record.kind == "iterator" and isinstance(record.meta, tuple) and record.meta[0] == "generator":
            return "generator"
        return {"growing": "list"}.get(record.kind, record.kind)
    if isinstance(v, Reference):
        return "object"  # a list, dict or instance: which one, the heap would tell
    return type(v).__name__.removesuffix("Value").lower()


def a_thing(v: Any, heap: Heap) -> str:
    """The same with its article: "a list", "an iterator"; of functions, classes and modules which one it is."""
    for cls, what in _NAMED.items():
        if isinstance(v, Known) and isinstance(v.object, cls):
            return f"the {what} {getattr(v.object, '__qualname__', v.object.__name__)}"
    name = describe(v, heap)
    return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"


_NAMED: dict[type, str] = {
    python_types.FunctionType: "function",
    type: "class",
    python_types.ModuleType: "module",
}


def is_reference(v: Any) -> bool:
    """Whether a value is an object with an identity, or one of several such."""
    return isinstance(v, Reference) or isinstance(v, ChoiceValue) and isinstance(v.options[0], Reference)


def is_choice_of_data(v: Any) -> bool:
    """Whether a value is a number or an array of this or that kind, or a tuple of numbers of this or that length, as turns out
    at run time."""
    return isinstance(v, ChoiceValue) and is_data(v.options[0])


def is_data(v: Abstract) -> bool:
    if isinstance(v, TupleValue):
        return all(map(is_numeric, v.items))
    return is_numeric(v) or isinstance(v, (ArrayValue, ComplexArrayValue)) or v.of_array


def options_of(v: Abstract) -> tuple[Abstract, ...]:
    """What a value is one of: itself, if it is no choice."""
    return v.options if isinstance(v, ChoiceValue) else (v,)


def option_kind(v: Abstract) -> Hashable:
    """What tells an option of a choice from others. Numbers are one option, but for NumPy's scalars that compute to other values
    than Python's numbers and float64."""
    if isinstance(v, Number) and v.numpy and v.type is not F64:
        return ("number", v.type)
    return "number" if is_numeric(v) else (v.head(), can_be_written(v))


def can_be_written(v: Abstract) -> bool:
    """Whether this is no array that is read-only."""
    if isinstance(v, ComplexArrayValue):
        v = v.floats
    return not isinstance(v, ArrayValue) or v.type.writable
