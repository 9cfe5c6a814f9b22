"""Taking abstract values apart into SSA values and putting them together: at entries, at returns, and on edges."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING

from zyg.ir import types as t
from zyg.ir.core import Value
from zyg.ir.types import F64, I64, Array, Scalar, Type, Write
from zyg.typeof import SLICE

from .classes import rest_on
from .merging import conflict
from .scalars import scalar_value
from .sized import with_ones
from .turned import as_given
from .values import (
    GIVEN,
    LENT,
    LISTED,
    MUTABLE_KINDS,
    READ_ONLY,
    WRITTEN,
    Abstract,
    ArrayValue,
    ChoiceValue,
    ComplexArrayValue,
    ComplexValue,
    ConflictValue,
    DictValue,
    FunctionValue,
    Heap,
    Known,
    MaybeValue,
    Number,
    PullbackValue,
    RangeValue,
    Record,
    Reference,
    Shape,
    SliceValue,
    StructValue,
    TupleValue,
    a_thing,
    is_number,
    known,
    same,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator


def assemble(e: Evaluator, type: Type, leaves: Iterator[Value]) -> Abstract:
    """The abstract value of a structured type, with these leaves."""
    return Assembly(e, leaves, lambda number: e.new_id(f"assembled {number}")).of(type)


class Assembly:
    """Puts values together from leaves. Mutable objects are counted in the order in which one meets them; object number n
    has the identity `identity(n)`."""

    def __init__(self, e: Evaluator, leaves: Iterator[Value], identity: Callable[[int], Hashable], state: int = 0):
        self.e = e
        self.leaves = leaves
        self.identity = identity
        self.state = state
        self.ids: list[Hashable] = []

    def of(self, type: Type) -> Abstract:
        leaves = self.leaves
        if isinstance(type, Scalar):
            return Number(next(leaves))
        if isinstance(type, t.NpScalar):
            return Number(next(leaves), numpy=True)
        if isinstance(type, Array):
            return ArrayValue(next(leaves))
        if isinstance(type, t.Complex):
            return ComplexValue(Number(next(leaves)), Number(next(leaves)), type.numpy)
        if isinstance(type, t.ComplexArray):
            return ComplexArrayValue(ArrayValue(next(leaves)))
        if isinstance(type, t.Fortran):
            return as_given(self.e, self.of(type.transpose))
        if isinstance(type, t.Sized):
            return with_ones(self.e, self.of(type.array), type.ones)
        if isinstance(type, t.NoneType):
            return Known(None)
        if isinstance(type, t.Const):
            return known(type.value)
        if isinstance(type, t.Tuple):
            return TupleValue(self.all(type.items))
        if isinstance(type, t.Struct) and type.cls is slice:
            return SliceValue(*self.all(type.items))
        if isinstance(type, t.Struct) and type.cls is dict:
            return DictValue(type.names, self.all(type.items), type.lent)
        if isinstance(type, t.Struct):
            rest_on(self.e, type.cls)
            return StructValue(type.cls, type.names, self.all(type.items), type.lent)
        if isinstance(type, t.RangeType):
            return RangeValue(Number(next(leaves)), Number(next(leaves)), Number(next(leaves)))
        if isinstance(type, t.Optional):
            return MaybeValue(next(leaves), self.of(type.item))
        if isinstance(type, t.MUTABLE):
            return self.object(type)
        if isinstance(type, t.Shared):
            return Reference(self.ids[type.number])
        if isinstance(type, t.Opaque):
            return ConflictValue(type.what, (type.what,), type.hint)
        if isinstance(type, t.Closure):
            captured, defaults = self.all(type.captured), self.all(type.defaults)
            kwdefaults = tuple((name, self.of(i)) for name, i in type.kwdefaults)
            f = type.function
            return FunctionValue(type.code, f.__globals__, f.__name__, captured, defaults, kwdefaults, f)
        if isinstance(type, t.PullbackType):
            return PullbackValue(type.plan, tuple(next(leaves) for _ in type.saved))
        raise self.e.refuse(f"a value of type {type}", hint="pass numbers, arrays, tuples, or objects that hold such")

    def all(self, types: tuple[Type, ...]) -> tuple[Abstract, ...]:
        return tuple(map(self.of, types))

    def object(self, type: Type) -> Reference:
        id = self.identity(len(self.ids))
        self.ids.append(id)
        # Room for the record first: what it holds may refer to it.
        self.e.heap[id] = Record("list", None, (), self.state)
        self.e.heap[id] = self.record(type)
        return Reference(id)

    def under_names(self, names: tuple[str, ...], types: tuple[Type, ...]) -> tuple[Abstract, ...]:
        """Attributes or items, whose values are named after them."""
        items = self.all(types)
        for name, item in zip(names, items):
            if isinstance(item, (Number, ArrayValue)):
                item.value.name = f"{item.value.name}.{name}" if item.value.name else name
        return items

    def record(self, type: Type) -> Record:
        if isinstance(type, t.ListType):
            return Record("list", None, self.all(type.items), self.state)
        if isinstance(type, t.DictType):
            return Record("dict", type.keys, self.under_names(type.keys, type.items), self.state)
        if isinstance(type, t.ObjectOf):
            rest_on(self.e, type.cls)
            fields = self.under_names(type.names, type.items)
            return Record("object", Shape(type.cls, type.names), fields, self.state)
        from .growing import by_value, common_layout

        assert isinstance(type, t.Sequence)
        leaves = map(Value, t.flatten(type.item))
        example = Assembly(self.e, leaves, lambda _: self.e.new_id("example")).of(type.item)
        layout = common_layout([by_value(example, self.e.heap)])
        assert layout is not None
        return Record("growing", layout, tuple(next(self.leaves) for _ in t.flatten(type)), self.state)


def disassemble(e: Evaluator, v: Abstract, leaves: list[Value]) -> Type:
    """The structured type of a value; appends its leaves."""
    return Disassembly(e, leaves).of(v)


class Disassembly:
    """Takes values apart that belong together, such as a result and what is written back: an object that one meets again
    is of type `Shared`, one of `given` (which came in as an argument) of type `Given`."""

    def __init__(self, e: Evaluator, leaves: list[Value], given: dict[Hashable, int] | None = None):
        self.e = e
        self.leaves = leaves
        self.given = given or {}
        self.made: dict[Hashable, int] = {}
        self.open: set[Hashable] = set()
        self.by_value: set[type] = set()
        self.tables = self.rows = 0  # lists of lists of run-time length, and lists out of such
        self.optional = 0

    def of(self, v: Abstract) -> Type:
        e, leaves = self.e, self.leaves
        if isinstance(v, Number):
            leaves.append(v.value)
            return t.NpScalar(v.type) if v.numpy else v.type
        if isinstance(v, Known):
            if v.object is None:
                return t.NONE
            if is_number(v):
                leaves.append(scalar_value(e, v))
                return leaves[-1].type
            return t.Const(v.object)
        if isinstance(v, ArrayValue):
            leaves.append(v.value)
            return v.type
        if isinstance(v, ComplexValue):
            leaves.extend(scalar_value(e, part, F64) for part in v.parts())
            return t.Complex(v.numpy)
        if isinstance(v, ComplexArrayValue):
            floats = v.floats.type
            leaves.append(v.floats.value)
            return t.ComplexArray(v.ndim, floats.layout, floats.writable)
        if isinstance(v, TupleValue):
            return t.Tuple(self.all(v.items))
        if isinstance(v, StructValue):
            self.once(v)
            return t.Struct(v.cls, v.names, self.all(v.items))
        if isinstance(v, DictValue):
            if v.lent:
                raise self.lent("a dict")
            return t.Struct(dict, v.names, self.all(v.items))
        if isinstance(v, SliceValue):
            return t.Struct(slice, SLICE, self.all(v.parts()))
        if isinstance(v, RangeValue):
            leaves.extend(scalar_value(e, i, I64) for i in v.parts())
            return t.RANGE
        if isinstance(v, MaybeValue) and v.absent is None:
            leaves.append(v.present)
            self.optional += 1
            item = self.of(v.item)
            self.optional -= 1
            return t.Optional(item)
        if isinstance(v, ChoiceValue):
            leaves.append(v.tag)
            self.optional += 1
            items = self.all(v.options)
            self.optional -= 1
            return t.OneOf(items)
        if isinstance(v, FunctionValue):
            return self.function(v)
        if isinstance(v, PullbackValue):
            leaves.extend(v.saved)
            return v.plan.type_of(v)
        if isinstance(v, Reference) and e.heap[v.id].kind in MUTABLE_KINDS:
            return self.object(v)
        if isinstance(v, ConflictValue):
            raise conflict(e, v)
        from .growing import ListValue

        if isinstance(v, ListValue) and v.layout is not None:
            return t.Sequence(self.of(v.layout.example))
        hint = "return numbers, arrays, tuples, lists, dicts or objects"
        if isinstance(v, Reference) and e.heap[v.id].kind == "iterator":
            hint = "go through it there: return the sum of its items, or the list of them"
        raise e.refuse(f"{a_thing(v, e.heap)}, as an argument or a result of native code", hint=hint)

    def once(self, v: StructValue) -> None:
        """An object out of a list of run-time length, or such a list: two of them could be, or hold, the same object."""
        from .construction import frozen

        if v.lent:
            raise self.lent(f"an object, a {v.cls.__name__},")
        if issubclass(v.cls, tuple) or frozen(v.cls):
            return
        if v.cls in self.by_value:
            raise self.e.refuse(
                f"several {v.cls.__name__} objects out of a list, or such an object and the list, as parts of a result",
                hint="return the list alone",
            )
        self.by_value.add(v.cls)

    def lent(self, what: str) -> Exception:
        return self.e.refuse(
            f"{what} out of a list of many that is an argument, as an argument or a result, or part of one",
            hint="return its number in the list, or what is needed of it",
        )

    def all(self, values: Iterable[Abstract]) -> tuple[Type, ...]:
        return tuple(map(self.of, values))

    def object(self, v: Reference) -> Type:
        if v.id in self.given:
            return t.Given(self.given[v.id])
        if self.e.heap[v.id].state & LENT:
            raise self.lent("a dict")
        if self.e.heap[v.id].state & READ_ONLY:
            raise self.e.refuse(
                f"{a_thing(v, self.e.heap)} that is a global or captured variable, as a result of native code",
                hint="pass it as an argument",
            )
        if v.id in self.open or v.id in self.made and self.optional:
            raise self.e.refuse(
                f"{a_thing(v, self.e.heap)} that is part of itself, or there in several places",
                hint="give it back in one place, or give back the numbers and arrays in it",
            )
        if v.id in self.made:
            return t.Shared(self.made[v.id])
        if self.optional:
            self.made[v.id] = -1  # not to be referred to: it may not be there
        else:
            self.made[v.id] = sum(n >= 0 for n in self.made.values())
        self.open.add(v.id)
        record = self.e.heap[v.id]
        self.rows += bool(record.state & LISTED)
        if record.state & LISTED and record.state & GIVEN:
            raise self.e.refuse(
                "a list that is in a list which came in as an argument, as a result of native code",
                hint="return a copy of it",
            )
        if record.kind == "growing" and not (isinstance(v.id, tuple) and v.id[0] == "gradient"):
            from .growing import is_table

            self.tables += is_table(record)
        result = self.contents(record)
        if self.tables and self.rows + self.tables > 1:
            raise self.e.refuse(
                "lists of lists whose length is not known when compiling, several or with one of their lists, in one result",
                hint="return one of them alone",
            )
        self.open.discard(v.id)
        return result

    def contents(self, record: Record) -> Type:
        """The type of an object by what its record holds."""
        if record.kind == "list":
            from .growing import refuse_mixed

            refuse_mixed(self.e, record)
            return t.ListType(self.all(record.fields))
        if record.kind == "growing":
            from .growing import Layout, is_table, refuse_arrays

            assert isinstance(record.meta, Layout)
            if not is_table(record) or record.state & GIVEN:
                refuse_arrays(self.e, record)
            self.leaves.extend(record.fields)
            inner = Disassembly(self.e, [])
            inner.by_value = self.by_value
            return t.Sequence(inner.of(record.meta.example))
        from .dicts import check_order

        check_order(self.e, record)
        named = record.named()
        for name, v in named.items():
            if isinstance(v, MaybeValue) and v.absent is not None:
                what = f"the attribute '{name}'" if record.kind == "object" else f"the key '{name}'"
                raise self.e.refuse(
                    f"{what}, which is set on some paths only, of something that leaves native code",
                    hint="set it on all paths, if only to 0.0 or None",
                )
        if isinstance(record.meta, Shape):
            return t.ObjectOf(record.meta.cls, tuple(named), self.all(named.values()))
        return t.DictType(tuple(named), self.all(named.values()))

    def function(self, v: FunctionValue) -> Type:
        captured = []
        for c in v.captured:
            if isinstance(c, Reference) and self.e.heap[c.id].kind == "cell":
                c = self.e.heap[c.id].fields[0]
            captured.append(self.of(c))
        defaults = self.all(v.defaults)
        kwdefaults = tuple((n, self.of(d)) for n, d in v.kwdefaults)
        function = v.function
        if function is None:
            import types as python_types

            cells = tuple(python_types.CellType() for _ in v.code.co_freevars)
            function = python_types.FunctionType(v.code, v.globals, v.name, None, cells or None)
        return t.Closure(v.code, tuple(captured), defaults, kwdefaults, id(v.globals), function)


def written_back(e: Evaluator, d: Disassembly, entry: Heap) -> tuple[Write, ...]:
    """What became of the objects that came in as arguments, as far as they were changed."""
    writes = []
    for id, number in d.given.items():
        now, before = e.heap[id], entry[id]
        if not now.state & WRITTEN:
            continue
        removed: tuple[str, ...] = ()
        if now.kind in ("object", "dict") and now.kind == before.kind:
            old, new = before.named(), now.named()
            removed = tuple(n for n in old if n not in new)
            if now.kind == "object" or tuple(old) == tuple(new):
                changed = {n: v for n, v in new.items() if n not in old or not same(old[n], v)}
                now = now.with_named(changed)
            else:
                removed = tuple(old)
        writes.append(Write(number, d.contents(now), removed))
    return tuple(writes)
