"""Abstract values: what inference knows of a Python value while it emits typed SSA.

An abstract value is a small tree whose leaves are SSA values.  A tuple is a tree of its items, a number a leaf, a function
a tree of what it captured; a constant has no leaves at all.  Mutable Python objects (cells, dataclass instances made in
the function, lists, iterators) are a `Reference` to a record in the *heap*, a mapping that inference carries along
control flow like the values of variables.  So aliasing is exact: two names of one object are two equal references.

`Merge` joins the states of several edges at a block; `leaves` and `with_leaves` take values apart and put them together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from zyg.ir import types as t
from zyg.ir.core import Const, Value, const
from zyg.ir.records import record
from zyg.ir.types import BOOL, F32, F64, I64, Scalar, Type
from zyg.typeof import UNBOUND


class Abstract:
    """Base of all abstract values. `head` identifies the node, `parts` are its children (abstract values or SSA values)."""

    __slots__ = ()

    def head(self) -> Hashable:
        raise NotImplementedError

    def parts(self) -> tuple[Any, ...]:
        return ()

    def with_parts(self, parts: list[Any]) -> Abstract:
        return self


@record(slots=True, eq=False)
class Number(Abstract):
    """A scalar in SSA. `numpy` tells a NumPy scalar, which follows NumPy's rules, from a Python number."""

    value: Value
    numpy: bool = False

    @property
    def type(self) -> Scalar:
        assert isinstance(self.value.type, Scalar)
        return self.value.type

    def head(self) -> Hashable:
        return ("number", self.numpy)

    def parts(self) -> tuple[Any, ...]:
        return (self.value,)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return Number(parts[0], self.numpy)


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
    """A named tuple, a frozen dataclass, or a dataclass instance that came in as an argument: never written."""

    cls: type
    names: tuple[str, ...]
    items: tuple[Abstract, ...]

    def head(self) -> Hashable:
        return ("struct", self.cls)

    def parts(self) -> tuple[Any, ...]:
        return self.items

    def with_parts(self, parts: list[Any]) -> Abstract:
        return StructValue(self.cls, self.names, tuple(parts))


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

    def head(self) -> Hashable:
        return ("complex", self.numpy)

    def parts(self) -> tuple[Any, ...]:
        return (self.re, self.im)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return ComplexValue(parts[0], parts[1], self.numpy)


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
        return ("choice", tuple(o.head() for o in self.options))

    def parts(self) -> tuple[Any, ...]:
        return (self.tag, *self.options)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return ChoiceValue(parts[0], tuple(parts[1:]))


class CallableValue(Abstract):
    """A value that knows itself what calling it means."""

    __slots__ = ()

    def call(self, e: Any, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
        raise NotImplementedError


class AttributedValue(Abstract):
    """A value that knows itself what its attributes are."""

    __slots__ = ()

    def attribute(self, e: Any, name: str) -> Abstract | None:
        raise NotImplementedError


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
    Python function that compiled code does not know. It is an error only where it is used."""

    what: str
    found: tuple[str, ...]
    hint: str = "give the variable one type"

    def head(self) -> Hashable:
        return ("conflict", self.what, self.found)


@record(frozen=True, slots=True)
class Shape:
    """What an object is made of: its class, and the names of the attributes that it has of its own."""

    cls: type
    names: tuple[str, ...]


MUTABLE_KINDS = ("object", "dict", "list", "growing")  # of records, those of objects that programs can see
WRITTEN, READ_ONLY, GIVEN, LISTED = 1, 2, 4, 8


@record(slots=True, eq=False)
class Record:
    """A mutable object in the heap.

    kind: "cell", "object" (an instance; `meta` is its Shape), "dict" (`meta` are its keys), "list" (of known length),
    "growing" (a list whose length is known at run time: the length and an array per leaf), or "iterator" (`meta` is its
    kind, see iterators.py).  state: WRITTEN once it was changed, READ_ONLY if it must not be (a global, for instance),
    GIVEN if it came in as an argument, LISTED once its contents were put into a growing list.
    """

    kind: str
    meta: Hashable
    fields: tuple[Any, ...]
    state: int = 0

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
        return self.meta.names if isinstance(self.meta, Shape) else self.meta  # type: ignore[return-value]

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


def known_key(obj: Any) -> Hashable:
    """Constants are equal if they cannot be told apart: numbers and strings by type and value, the rest by identity."""
    cls = type(obj)
    if cls in (bool, int, str, bytes, type(None)):
        return (cls, obj)
    if cls in (float, complex):
        return (cls, repr(obj))
    if cls is tuple:
        return (cls, tuple(map(known_key, obj)))
    return _Same(obj)


class _Same:
    """Hash and equality by identity, keeping the object alive."""

    __slots__ = ("object",)

    def __init__(self, obj: Any):
        self.object = obj

    def __hash__(self) -> int:
        return id(self.object)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.object is other.object


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
    if a.keys() != b.keys():
        return False
    for key, x in a.items():
        y = b[key]
        if x is y:
            continue
        if x.kind != y.kind or x.meta != y.meta or len(x.fields) != len(y.fields) or x.state != y.state:
            return False
        if not all(map(same, x.fields, y.fields)):
            return False
    return True


def of_numbers(v: Any) -> bool:
    """Whether it is a tuple of plain numbers, which may be a long one."""
    return type(v) is TupleValue and all(type(item) is Number for item in v.items)


def references(v: Any) -> Iterator[Hashable]:
    """The ids of the references in a value (not those behind them)."""
    if isinstance(v, Reference):
        yield v.id
    elif isinstance(v, Abstract) and not of_numbers(v):
        for part in v.parts():
            if not isinstance(part, Value):
                yield from references(part)


def reachable(roots: list[Any], heap: Heap) -> Heap:
    """The part of the heap that the roots reach, in the order of first encounter."""
    result: Heap = {}
    work = [r for v in roots for r in references(v)]
    while work:
        id = work.pop()
        if id in result:
            continue
        record = heap[id]
        result[id] = record
        for f in record.fields:
            if not isinstance(f, Value):
                work.extend(references(f))
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


def describe(v: Any, heap: Heap | None = None) -> str:
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
        name = v.function if isinstance(v.function, str) else getattr(v.function, "__name__", "?")
        return f"method {name} of {describe(v.receiver, heap)}"
    if isinstance(v, PullbackValue):
        return "pullback"
    if isinstance(v, ConflictValue):
        return " or ".join(v.found)
    if isinstance(v, Reference) and heap and v.id in heap:
        record = heap[v.id]
        if isinstance(record.meta, Shape):
            return record.meta.cls.__name__
        return {"growing": "list"}.get(record.kind, record.kind)
    return type(v).__name__.removesuffix("Value").lower()


# ------------------------------------------------------------------------------------------------ merging


class Default:
    """In place of an abstract value: this edge has none (the other side of a MaybeValue); any will do."""


DEFAULT = Default()
Slots = list[Abstract]


@record(slots=True, eq=False)
class State:
    """What is known on an edge or at the head of a block: a value per slot, and the heap that they reach."""

    slots: Slots
    heap: Heap
    # Of a joined state: per edge, which object of the edge became which one here.
    maps: list[dict[Hashable, Hashable]] | None = None

    def same(self, other: State) -> bool:
        return (
            len(self.slots) == len(other.slots)
            and all(map(same, self.slots, other.slots))
            and same_heap(self.heap, other.heap)
        )


# The fields of iterators that change as they advance, by kind (see iterators.py).
COUNTERS: dict[Any, tuple[int, ...]] = {
    "range": (0,), "stepped": (0, 1), "array": (1,), "list": (1,), "enumerate": (0, 1), "zip": tuple(range(64)),
}  # fmt: skip


class Merge:
    """Joins the states of the edges into a block.

    A leaf that is the same SSA value on all edges stays that value; otherwise it becomes a parameter of the block.
    `parameters` keeps them by path from one run to the next, so that the fixpoint iteration sees stable values.
    `force` has the indices of slots whose numbers shall be parameters at once (variables that a loop changes).
    """

    def __init__(self, parameters: dict[Hashable, Value], states: list[State], force: frozenset[int], owner: object):
        self.parameters = parameters
        self.states = states
        self.force = force
        self.owner = owner
        self.heap: Heap = {}
        self.maps: list[dict[Hashable, Hashable]] = [{} for _ in states]
        self.pending: list[tuple[Hashable, list[Record | Default], Hashable, bool]] = []

    def run(self) -> State:
        columns = list(zip(*(s.slots for s in self.states)))
        slots: list[Any] = [None] * len(columns)
        # First what is the same object on all edges: another variable that is one object here and another there must not
        # take its identity.
        shared = [
            n for n, vs in enumerate(columns) if isinstance(vs[0], Reference) and len({v.head() for v in vs}) == 1
        ]
        for n in shared:
            slots[n] = self.value((n,), list(columns[n]), n in self.force)
        self.drain()  # only now: what these hold may refer to others of them
        for n in range(len(columns)):
            if n not in shared:
                slots[n] = self.value((n,), list(columns[n]), n in self.force)
                self.drain()
        return State(slots, self.heap, self.maps)

    def drain(self) -> None:
        while self.pending:
            id, records, path, force = self.pending.pop()
            self.heap[id] = self.record((*path, "*"), records, force)  # type: ignore[misc]

    def value(self, path: tuple[Any, ...], vs: list[Any], force: bool) -> Abstract:
        present = [v for v in vs if v is not DEFAULT]
        first = present[0]
        if not (force or self.parameters) and all(v is first for v in vs) and of_numbers(first):
            return first
        if isinstance(first, Known) and type(first.object) not in NUMBER_CLASSES:
            head = first.head()
            if all(isinstance(v, Known) and v.head() == head for v in present):
                return first
        if any(isinstance(v, ConflictValue) for v in present):
            return next(v for v in present if isinstance(v, ConflictValue))
        for mark in (UNBOUND, None):
            if any(
                isinstance(v, Known) and v.object is mark or isinstance(v, MaybeValue) and v.absent is mark
                for v in present
            ):
                return self.maybe(path, vs, mark, force)
        if any(isinstance(v, ComplexValue) for v in present) or (*path, "complex") in self.parameters:
            vs, present = self.complexes(path, vs, present)
            first = present[0]
        if all(is_number(v) for v in present):
            return self.number(path, vs, force)
        if all(map(is_reference, present)):
            return self.reference(path, vs, force)
        head = first.head()
        if len(present) > 1 and not all(type(v) is type(first) and v.head() == head for v in present[1:]):
            return self.unlike(path, vs, present)
        if isinstance(first, ArrayValue):
            return self.array(path, vs, force)
        parts = first.parts()
        if not parts:
            return first
        merged = []
        for i, part in enumerate(parts):
            column = [DEFAULT if v is DEFAULT else v.parts()[i] for v in vs]
            if isinstance(part, Value):
                merged.append(self.leaf((*path, i), part.type, column, force))
            else:
                merged.append(self.value((*path, i), column, force))
        if all(map(lambda a, b: a is b, merged, parts)):
            return first
        return first.with_parts(merged)

    def leaf(self, path: tuple[Any, ...], type: Type, values: list[Any], force: bool) -> Value:
        """The value itself if all edges agree, else a parameter."""
        if path not in self.parameters and not force:
            present = [v for v in values if v is not DEFAULT]
            first = present[0]
            # Where an edge has no value, that of another may be used only if it is available there.
            everywhere = len(present) == len(values) or isinstance(first, Const)
            if everywhere and first.type == type and all(same_leaf(first, v) for v in present[1:]):
                return first
        value = self.parameters.get(path)
        if value is None or value.type != type:
            name = next((v.name for v in values if isinstance(v, Value) and v.name), "")
            value = self.parameters[path] = Value(type, name)
        return value

    def number(self, path: tuple[Any, ...], vs: list[Any], force: bool) -> Abstract:
        present = [v for v in vs if v is not DEFAULT]
        first = present[0]
        path_leaf = (*path, 0)
        if path_leaf not in self.parameters and not force and isinstance(first, Known):
            head = first.head()
            if all(isinstance(v, Known) and v.head() == head for v in present):
                return first
        joined = join_numbers(present)
        if joined is None:
            return self.unlike(path, vs, present)
        scalar, numpy = joined
        previous = self.parameters.get(path_leaf)
        if previous is not None and previous.type is F64 and scalar is I64 and not numpy and len(self.states) == 1:
            # It was a float in the end when this was evaluated before, so it will be again.
            scalar = F64
        values = [DEFAULT if v is DEFAULT else number_leaf(v, scalar) for v in vs]
        leaf = self.leaf(path_leaf, scalar, values, force)
        if isinstance(first, Number) and leaf is first.value and first.numpy == numpy:
            return first
        return Number(leaf, numpy)

    def array(self, path: tuple[Any, ...], vs: list[Any], force: bool) -> Abstract:
        present = [v for v in vs if v is not DEFAULT]
        first: t.Array = present[0].type
        layout = "C" if all(v.type.layout == "C" for v in present) else "A"
        writable = all(v.type.writable for v in present)
        previous = self.parameters.get((*path, 0))
        if isinstance(previous, Value) and isinstance(previous.type, t.Array):
            layout = "A" if previous.type.layout == "A" else layout
        type = t.Array(first.dtype, first.ndim, layout, writable)
        leaf = self.leaf((*path, 0), type, [v if v is DEFAULT else v.value for v in vs], force)
        return present[0] if leaf is present[0].value else ArrayValue(leaf)

    def maybe(self, path: tuple[Any, ...], vs: list[Any], mark: Any, force: bool) -> Abstract:
        def is_absent(v: Any) -> bool:
            return isinstance(v, Known) and v.object is mark

        items = []
        for v in vs:
            if v is DEFAULT or is_absent(v):
                items.append(DEFAULT)
            elif isinstance(v, MaybeValue) and v.absent is mark:
                items.append(v.item)
            else:
                items.append(v)
        tag = "unbound" if mark is UNBOUND else "none"
        if all(i is DEFAULT for i in items):
            return Known(mark)
        present = [v if v is DEFAULT else maybe_present(v, mark) for v in vs]
        flag = self.leaf((*path, tag), BOOL, present, False)
        item = self.value((*path, tag, "item"), items, force)
        if isinstance(item, ConflictValue):
            return item
        first = next(v for v in vs if v is not DEFAULT)
        if isinstance(first, MaybeValue) and first.present is flag and first.item is item:
            return first
        return MaybeValue(flag, item, mark)

    def complexes(self, path: tuple[Any, ...], vs: list[Any], present: list[Any]) -> tuple[list[Any], list[Any]]:
        """Complex numbers that meet, also with other numbers: all of them complex, and NumPy's if one of them is."""
        if all(isinstance(v, ComplexValue) or is_number(v) for v in present):
            if len(present) < len(self.states) or len({is_number(v) for v in present}) > 1:
                # It stays complex when this is evaluated again, so that the iteration settles.
                self.parameters.setdefault((*path, "complex"), _RENAMED)
            numpy = any(isinstance(v, (ComplexValue, Number)) and v.numpy for v in present)
            vs = [v if v is DEFAULT else as_complex(v) for v in vs]
            vs = [v if v is DEFAULT or v.numpy == numpy else ComplexValue(v.re, v.im, numpy) for v in vs]
            present = [v for v in vs if v is not DEFAULT]
        return vs, present

    def reference(self, path: tuple[Any, ...], vs: list[Any], force: bool) -> Abstract:
        if any(isinstance(v, ChoiceValue) for v in vs):
            return self.which(path, vs, force)
        known = {m.get(v.id) for m, v in zip(self.maps, vs) if v is not DEFAULT}
        if known != {None}:
            return Reference(known.pop()) if len(known) == 1 else self.which(path, vs, force)
        ids = {v.id for v in vs if v is not DEFAULT}
        # Once an object has an identity of its own here it keeps that, so that the iteration settles.
        renamed = (*path, "renamed")
        if len(ids) > 1 or any(v is DEFAULT for v in vs) or renamed in self.parameters or next(iter(ids)) in self.heap:
            self.parameters.setdefault(renamed, _RENAMED)
            id: Hashable = ("merged", self.owner, path)
        else:
            id = next(iter(ids))
        records: list[Record | Default] = []
        for m, v, s in zip(self.maps, vs, self.states):
            if v is DEFAULT:
                records.append(DEFAULT)
            else:
                m[v.id] = id
                records.append(s.heap[v.id])
        real = [r for r in records if isinstance(r, Record)]
        if not records_fit(real) and all(r.kind == "iterator" for r in real):
            self.heap[id] = Record("iterator", ("unclear",), ())
            return Reference(id)
        if not records_fit(real):
            found = tuple(sorted({describe(v, s.heap) for v, s in zip(vs, self.states) if v is not DEFAULT}))
            return ConflictValue("different kinds of object", found)
        self.heap[id] = real[0]
        self.pending.append((id, records, path, force))
        return Reference(id)

    def which(self, path: tuple[Any, ...], vs: list[Any], force: bool) -> Abstract:
        """A variable that refers to one object here and to another one there, while both are known by other names too:
        a choice between them by number."""
        first = vs[0]
        if (*path, "tag") not in self.parameters and all(
            isinstance(v, ChoiceValue) and same_leaf(v.tag, first.tag) and len(v.options) == len(first.options)
            for v in vs
        ):
            became = [
                {m.get(object_id(v.options[n])) for m, v in zip(self.maps, vs)} for n in range(len(first.options))
            ]
            if all(len(ids) == 1 and None not in ids for ids in became):
                return ChoiceValue(first.tag, tuple(Reference(ids.pop()) for ids in became))
        found: dict[Hashable, None] = {}
        columns = [
            [] if v is DEFAULT else [object_id(o) for o in v.options] if isinstance(v, ChoiceValue) else [v.id]
            for v in vs
        ]
        depth = 0
        for m, column in zip(self.maps, columns):
            for id in column:
                if id not in m:
                    fresh = [
                        Reference(id) if id in other and id not in became else DEFAULT
                        for other, became in zip(columns, self.maps)
                    ]
                    made = self.reference((*path, "other", depth), fresh, False)
                    depth += 1
                    if not isinstance(made, Reference):
                        return made
                found[m[id]] = None
        order = self.parameters.setdefault((*path, "options"), _Order())
        assert isinstance(order, _Order)
        options = order.arrange([Reference(id) for id in found])
        if len(options) > MAX_OPTIONS:
            return ConflictValue(
                "one of many objects", ("one of many objects",), "keep them in a list, or use an array"
            )
        tag = self.leaf((*path, "tag"), I64, [Value(I64) for _ in vs], True)
        return ChoiceValue(tag, tuple(options))

    def record(self, path: tuple[Any, ...], records: list[Any], force: bool) -> Record:
        real = [r for r in records if r is not DEFAULT]
        state = 0
        for r in real:
            state |= r.state
        if any(r.state != state for r in real):
            records = [r if r is DEFAULT else Record(r.kind, r.meta, r.fields, state) for r in records]
            real = [r for r in records if r is not DEFAULT]
        first = real[0]
        if first.kind in ("object", "dict") and any(r.meta != first.meta for r in real):
            # What some have and others not is optional.
            names = tuple(dict.fromkeys(n for r in real for n in r.named()))
            meta = Shape(first.meta.cls, names) if isinstance(first.meta, Shape) else names
            records = [r if r is DEFAULT else Record(r.kind, meta, r.under(names), state) for r in records]
            real = [r for r in records if r is not DEFAULT]
            first = real[0]
        elif any(r.kind == "growing" for r in real) or any(len(r.fields) != len(first.fields) for r in real):
            from .lists import merge_growing

            return merge_growing(self, path, records, self.states)
        fields = []
        forced = COUNTERS.get(first.meta[0], ()) if first.kind == "iterator" and isinstance(first.meta, tuple) else None
        whole = force
        for i, part in enumerate(first.fields):
            column = [DEFAULT if r is DEFAULT else r.fields[i] for r in records]
            if forced is not None:
                force = whole and i in forced
            if isinstance(part, Value):
                fields.append(self.leaf((*path, i), part.type, column, force))
            else:
                fields.append(self.value((*path, i), column, force))
        if len(real) == len(records) and all(map(lambda a, b: a is b, fields, first.fields)):
            return first
        return first.with_fields(fields)

    def unlike(self, path: tuple[Any, ...], vs: list[Any], present: list[Any]) -> Abstract:
        """Values of different make: a choice by number if they are constants or functions, or a number and arrays (as in
        `total = 0` before a loop that adds arrays), else a conflict."""
        options: list[Abstract] = []
        kinds: set[Hashable] = set()
        for v in present:
            for option in v.options if isinstance(v, ChoiceValue) else (v,):
                if option_kind(option) not in kinds:
                    kinds.add(option_kind(option))
                    options.append(option)
        if all(isinstance(o, (Known, FunctionValue, MethodValue)) and not is_number(o) for o in options) or (
            1 < len(options) <= MAX_ARRAYS and all(map(_is_data, options))
        ):
            # The options keep the order in which they turned up, also from one run to the next.
            order = self.parameters.setdefault((*path, "options"), _Order())
            assert isinstance(order, _Order)
            options = order.arrange(options)
            columns = []
            for i, option in enumerate(options):
                column = [choice_option(v, option) for v in vs]
                columns.append(self.value((*path, "option", i), column, False))
            if any(isinstance(c, ConflictValue) for c in columns):
                return next(c for c in columns if isinstance(c, ConflictValue))
            tag = self.leaf((*path, "tag"), I64, [Value(I64) for _ in vs], True)
            return ChoiceValue(tag, tuple(columns))
        return ConflictValue("values of different types", tuple(dict.fromkeys(describe(v) for v in present)))


class _Order(Value):
    """The order of a choice's options, kept among the parameters of a block."""

    __slots__ = ("kinds",)

    def __init__(self) -> None:
        super().__init__(t.OBJECT)
        self.kinds: list[Hashable] = []

    def arrange(self, options: list[Abstract]) -> list[Abstract]:
        for o in options:
            if option_kind(o) not in self.kinds:
                self.kinds.append(option_kind(o))
        return sorted(options, key=lambda o: self.kinds.index(option_kind(o)))


_RENAMED = Value(t.OBJECT)  # among the parameters of a block: the object at this path has an identity of its own


MAX_OPTIONS = 16  # objects that one variable may refer to
MAX_ARRAYS = 3  # kinds of array, a number among them, that one variable may be


def is_reference(v: Any) -> bool:
    """Whether a value is an object with an identity, or one of several such."""
    return isinstance(v, Reference) or isinstance(v, ChoiceValue) and isinstance(v.options[0], Reference)


def is_choice_of_data(v: Any) -> bool:
    """Whether a value is a number or an array of this or that kind, as turns out at run time."""
    return isinstance(v, ChoiceValue) and _is_data(v.options[0])


def _is_data(v: Abstract) -> bool:
    return is_numeric(v) or isinstance(v, (ArrayValue, ComplexArrayValue))


def option_kind(v: Abstract) -> Hashable:
    """What tells an option of a choice from others; numbers are one option."""
    return "number" if is_numeric(v) else v.head()


def object_id(v: Abstract) -> Hashable:
    assert isinstance(v, Reference)
    return v.id


def choice_option(v: Any, option: Abstract) -> Any:
    """The part of `v` that is the given option of a choice; DEFAULT if it is another."""
    if v is DEFAULT:
        return DEFAULT
    kind = option_kind(option)
    if isinstance(v, ChoiceValue):
        return next((o for o in v.options if option_kind(o) == kind), DEFAULT)
    return v if option_kind(v) == kind else DEFAULT


def maybe_present(v: Abstract, mark: Any) -> Value:
    if isinstance(v, MaybeValue) and v.absent is mark:
        return v.present
    return const(not (isinstance(v, Known) and v.object is mark))


def records_fit(records: list[Record]) -> bool:
    first = records[0]
    lists = ("list", "growing")
    for r in records[1:]:
        if r.kind != first.kind and not (r.kind in lists and first.kind in lists):
            return False
        if first.kind == "object":
            if r.meta.cls is not first.meta.cls:  # type: ignore[union-attr]
                return False
        elif first.kind == "iterator" and first.meta == ("tuple",) == r.meta:
            if not same(r.fields[1], first.fields[1]):
                return False  # code is made per position: there is none for several at once
        elif first.kind not in (*lists, "dict") and (r.meta != first.meta or len(r.fields) != len(first.fields)):
            return False
    return True


def number_leaf(v: Abstract, scalar: Scalar) -> Value:
    """The SSA value of a number, if it has the type; otherwise a stand-in that is equal to nothing (the edge converts)."""
    if isinstance(v, Number):
        return v.value if v.value.type is scalar else Value(scalar, v.value.name)
    assert isinstance(v, Known)
    try:
        return const(v.object, scalar)
    except (OverflowError, AssertionError):
        return Value(scalar)


_RANK = {BOOL: 0, t.U8: 1, t.I32: 2, I64: 3, F32: 4, F64: 5}


def join_numbers(vs: list[Any]) -> tuple[Scalar, bool] | None:
    """The common type of numbers that meet, and whether it is a NumPy scalar; None if there is none.

    A Python constant takes the type of the NumPy scalars that it meets if it fits exactly, as in `s = 0.0` before a loop
    that adds float32 elements: all arithmetic then is what NumPy's promotion makes of it.
    """
    numpys = {v.type for v in vs if isinstance(v, Number) and v.numpy}
    if numpys:
        scalar = max(numpys, key=_RANK.__getitem__)
        for n in numpys:
            if scalar is F32 and n in (t.I32, I64):
                scalar = F64
        for v in vs:
            if isinstance(v, Number) and v.numpy:
                continue
            other = number_type(v)
            assert other is not None
            if isinstance(v, Known):
                if not _fits(v.object, scalar):
                    if other is F64 and scalar.kind in "iub" and float(v.object).is_integer() is False:
                        scalar = F64
                    elif _RANK[other] > _RANK[scalar] and scalar in (BOOL, t.U8, t.I32, I64):
                        scalar = other
                    else:
                        return None
            elif _RANK[other] > _RANK[scalar]:
                if scalar in (F32, t.U8, t.I32):
                    return None
                scalar = other
        return scalar, True
    scalar = max((number_type(v) for v in vs), key=_RANK.__getitem__)  # type: ignore[index, arg-type]
    assert scalar is not None
    return scalar, False


def _fits(value: Any, scalar: Scalar) -> bool:
    """Whether a Python constant is one of the values of a machine type."""
    if scalar is BOOL:
        return isinstance(value, bool)
    if isinstance(value, float):
        return scalar is F64 or scalar is F32 and (value != value or _as_f32(value) == value)
    if scalar.kind == "f":
        return abs(value) <= 2 ** (24 if scalar is F32 else 53)
    low, high = (0, 255) if scalar is t.U8 else (-(2 ** (scalar.bits - 1)), 2 ** (scalar.bits - 1) - 1)
    return low <= value <= high


def _as_f32(value: float) -> float:
    import struct

    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return float("nan")
