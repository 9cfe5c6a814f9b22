"""Taking abstract values apart into SSA values and putting them together: at entries, at returns, and on edges."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from zyg.ir import types as t
from zyg.ir.core import Value, const
from zyg.ir.records import record
from zyg.ir.types import BOOL, F32, F64, I64, Array, Scalar, Type

from .merging import DEFAULT, choice_option, conflict, maybe_present
from .scalars import EXACT_INTEGERS, convert, scalar_value, single
from .values import (
    MUTABLE_KINDS,
    READ_ONLY,
    WRITTEN,
    Abstract,
    ArrayValue,
    ChoiceValue,
    ComplexArrayValue,
    ComplexValue,
    ConflictValue,
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
    StructValue,
    TupleValue,
    as_complex,
    describe,
    is_number,
    option_kind,
    references,
    same,
)

if TYPE_CHECKING:
    from .infer import Edge, Evaluator, Node


# ------------------------------------------------------------------------------------- structured types


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
        if isinstance(type, t.NoneType):
            return Known(None)
        if isinstance(type, t.Const):
            from .infer import known

            return known(type.value)
        if isinstance(type, t.Tuple):
            return TupleValue(self.all(type.items))
        if isinstance(type, t.Struct):
            return StructValue(type.cls, type.names, self.all(type.items))
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
        raise self.e.refuse(f"a value of type {type}")

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
            fields = self.under_names(type.names, type.items)
            return Record("object", Shape(type.cls, type.names), fields, self.state)
        from .lists import common_layout

        assert isinstance(type, t.Sequence)
        example = Assembly(self.e, map(Value, t.flatten(type.item)), self.identity).of(type.item)
        layout = common_layout([example])
        assert layout is not None
        return Record("growing", layout, tuple(next(self.leaves) for _ in t.flatten(type)), self.state)


def disassemble(e: Evaluator, v: Abstract, leaves: list[Value]) -> Type:
    """The structured type of a value; appends its leaves."""
    return Disassembly(e, leaves).of(v)


@record(frozen=True)
class Write:
    """What is written back into argument object number `number`: attributes or items by name (of which those named
    `removed` are taken out before), or all items of a list."""

    number: int
    content: Type
    removed: tuple[str, ...] = ()


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
        hint = "return numbers, arrays, tuples, lists, dicts or objects"
        raise e.refuse(f"a {describe(v, e.heap)}, as an argument or a result of compiled code", hint=hint)

    def once(self, v: StructValue) -> None:
        """An object out of a list of run-time length, or such a list: two of them could be, or hold, the same object."""
        from .construction import frozen

        if issubclass(v.cls, tuple) or frozen(v.cls):
            return
        if v.cls in self.by_value:
            raise self.e.refuse(
                f"several {v.cls.__name__} objects out of a list, or such an object and the list, as parts of a result",
                hint="return the list alone",
            )
        self.by_value.add(v.cls)

    def all(self, values: Iterable[Abstract]) -> tuple[Type, ...]:
        return tuple(map(self.of, values))

    def object(self, v: Reference) -> Type:
        if v.id in self.given:
            return t.Given(self.given[v.id])
        if self.e.heap[v.id].state & READ_ONLY:
            raise self.e.refuse(
                f"a {describe(v, self.e.heap)} that is a global or captured variable, as a result of compiled code",
                hint="pass it as an argument",
            )
        if v.id in self.open or v.id in self.made and self.optional:
            raise self.e.refuse(f"a {describe(v, self.e.heap)} that is part of itself, or there in several places")
        if v.id in self.made:
            return t.Shared(self.made[v.id])
        if self.optional:
            self.made[v.id] = -1  # not to be referred to: it may not be there
        else:
            self.made[v.id] = sum(n >= 0 for n in self.made.values())
        self.open.add(v.id)
        result = self.contents(self.e.heap[v.id])
        self.open.discard(v.id)
        return result

    def contents(self, record: Record) -> Type:
        """The type of an object by what its record holds."""
        if record.kind == "list":
            from .lists import refuse_mixed

            refuse_mixed(self.e, record)
            return t.ListType(self.all(record.fields))
        if record.kind == "growing":
            from .lists import Layout, refuse_arrays

            assert isinstance(record.meta, Layout)
            refuse_arrays(self.e, record)
            self.leaves.extend(record.fields)
            inner = Disassembly(self.e, [])
            inner.by_value = self.by_value
            return t.Sequence(inner.of(record.meta.example))
        named = record.named()
        for name, v in named.items():
            if isinstance(v, MaybeValue) and v.absent is not None:
                what = f"the attribute '{name}'" if record.kind == "object" else f"the key '{name}'"
                raise self.e.refuse(f"{what}, which is set on some paths only, of something that leaves compiled code")
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
                if not changed and not removed:
                    continue
                now = now.with_named(changed)
            else:
                removed = tuple(old)
        writes.append(Write(number, d.contents(now), removed))
    return tuple(writes)


# ------------------------------------------------------------------------------------------------- edges


def convert_edges(e: Evaluator, node: Node) -> None:
    """Give a node's block its parameters, and each edge the arguments for them, converted where types differ."""
    params: list[Value] = []
    node.head.params = params
    owned = {id(v) for v in node.parameters.values()}
    if not owned:
        return
    assert node.state is not None
    edges = list(node.edges.values())
    columns: list[list[Any]] = [[] for _ in edges]
    walk = _Walk(owned, node, params, columns)
    for i, merged in enumerate(node.state.slots):
        walk.value(merged, [edge.state.slots[i] for edge in edges])
        walk.drain()
    for edge, column in zip(edges, columns):
        _fill(e, edge, column)


class _Walk:
    """Goes through a joined state and those of the edges in step, and notes what each parameter is on each edge.

    An entry of a column is an SSA value, or a function that emits what makes one.
    """

    def __init__(self, owned: set[int], node: Node, params: list[Value], columns: list[list[Any]]):
        assert node.state is not None
        self.owned = owned
        self.heap = node.state.heap
        self.unchanged = node.state.unchanged
        self.heaps = [edge.state.heap for edge in node.edges.values()]
        self.maps = [node.maps.get(key, {}) for key in node.edges]  # per edge: which object of its became which one
        self.origins = [{became: id for id, became in m.items()} for m in self.maps]
        self.params = params
        self.columns = columns
        self.seen: set[Any] = set()
        self.pending: list[tuple[Record, list[Any]]] = []

    def drain(self) -> None:
        while self.pending:
            record, others = self.pending.pop()
            self.record(record, others)

    def leaf(self, value: Value, makes: Callable[[int], Any]) -> None:
        if id(value) in self.owned:
            self.params.append(value)
            for n, column in enumerate(self.columns):
                column.append(makes(n))

    def value(self, m: Any, vs: list[Any]) -> None:
        if all(v is m for v in vs) and all(i in self.unchanged for i in references(m)):
            return  # parameters of this block are not on the edges that come from before it
        if isinstance(m, Number):
            scalar = m.type
            self.leaf(m.value, lambda n: _number(vs[n], scalar))
        elif isinstance(m, ArrayValue):
            type = m.type
            self.leaf(m.value, lambda n: _array(vs[n], type))
        elif isinstance(m, ComplexValue):
            self.parts(m.parts(), [v if v is DEFAULT else as_complex(v).parts() for v in vs])
        elif isinstance(m, MaybeValue):
            mark = m.absent
            self.leaf(m.present, lambda n: const(False) if vs[n] is DEFAULT else maybe_present(vs[n], mark))
            items = []
            for v in vs:
                if v is DEFAULT or isinstance(v, Known) and v.object is mark:
                    items.append(DEFAULT)
                else:
                    items.append(v.item if isinstance(v, MaybeValue) and v.absent is mark else v)
            self.value(m.item, items)
        elif isinstance(m, ChoiceValue) and isinstance(m.options[0], Reference):
            ids = [o.id for o in m.options if isinstance(o, Reference)]
            self.leaf(m.tag, lambda n: _object_tag(vs[n], ids, self.maps[n]))
            for option in m.options:
                self.value(option, vs)
        elif isinstance(m, ChoiceValue):
            self.leaf(m.tag, lambda n: _tag(vs[n], m))
            for option in m.options:
                self.value(option, [choice_option(v, option) for v in vs])
        elif isinstance(m, Reference):
            if m.id not in self.seen and m.id not in self.unchanged:
                self.seen.add(m.id)
                # Not by `vs`: this variable may be another object on some edge, where the object exists nevertheless.
                records = [
                    heap[origin[m.id]] if m.id in origin else DEFAULT for origin, heap in zip(self.origins, self.heaps)
                ]
                self.pending.append((self.heap[m.id], records))
        else:
            self.parts(m.parts(), [v if v is DEFAULT else v.parts() for v in vs])

    def parts(self, merged: Any, columns: list[Any]) -> None:
        for i, part in enumerate(merged):
            column = [c if c is DEFAULT else c[i] for c in columns]
            if isinstance(part, Value):
                type = part.type
                self.leaf(part, lambda n, column=column, type=type: _plain(column[n], type))
            else:
                self.value(part, column)

    def record(self, record: Record, others: list[Any]) -> None:
        if record.kind == "growing":
            from .lists import growing_fields

            self.parts(record.fields, [growing_fields(record, o, h) for o, h in zip(others, self.heaps)])
            return
        if record.kind in ("object", "dict"):
            self.parts(record.fields, [o if o is DEFAULT else o.under(record.names) for o in others])
            return
        self.parts(record.fields, [o if o is DEFAULT else o.fields for o in others])


def _number(v: Any, type: Scalar) -> Any:
    if v is DEFAULT:
        return const(0, type)
    if isinstance(v, Number) and v.value.type is type:
        return v.value
    if isinstance(v, Known) and (type.kind == "f" or v.object in (0, 1)) and abs(v.object) <= EXACT_INTEGERS:
        return const(single(v.object) if type is F32 else v.object, type)
    if isinstance(v, Known) and type is I64 and abs(v.object) < 2**63:
        return const(int(v.object))
    return lambda e: scalar_value(e, v, type)


def _array(v: Any, type: Array) -> Any:
    if v is DEFAULT:
        return lambda e: empty_array(e, type)
    if v.value.type == type:
        return v.value
    return lambda e: array_as(e, v.value, type)


def _object_tag(v: Any, ids: list[Any], became: dict[Any, Any]) -> Any:
    """Which of the objects `ids` a variable refers to on an edge, whose own objects became others at the join."""
    if v is DEFAULT:
        return const(0)
    if isinstance(v, Reference):
        return const(ids.index(became[v.id]))
    own = [ids.index(became[o.id]) for o in v.options]
    return v.tag if own == list(range(len(own))) else _translated(v.tag, own)


def _translated(tag: Value, own: list[int]) -> Callable[[Evaluator], Value]:
    def translate(e: Evaluator) -> Value:
        result: Value = const(own[-1])
        for number, index in reversed(list(enumerate(own[:-1]))):
            result = e.op("select", e.op("eq", tag, const(number)), const(index), result)
        return result

    return translate


def _tag(v: Any, m: ChoiceValue) -> Any:
    kinds = list(map(option_kind, m.options))
    if v is DEFAULT:
        return const(0)
    if not isinstance(v, ChoiceValue):
        return const(kinds.index(option_kind(v)))
    own = [kinds.index(option_kind(o)) for o in v.options]
    return v.tag if own == list(range(len(own))) else _translated(v.tag, own)


def _plain(v: Any, type: Type) -> Any:
    if v is DEFAULT:
        return default(type)
    if callable(v) and not isinstance(v, Value):
        return v
    if v.type == type:
        return v
    if isinstance(type, Array):
        return lambda e: array_as(e, v, type)
    assert isinstance(type, Scalar)
    return lambda e: convert(e, v, type)


def default(type: Type) -> Any:
    """Any value of the type, for where it will not be looked at."""
    if isinstance(type, Scalar):
        return const(False) if type is BOOL else const(0, type)
    if isinstance(type, Array):
        return lambda e: empty_array(e, type)
    return lambda e: e.op("undefined", type=type)


def empty_array(e: Evaluator, type: Array) -> Value:
    owned = Array(type.dtype, type.ndim)
    value = e.op("alloc", *[const(0)] * type.ndim, type=owned, fill="empty")
    return array_as(e, value, type)


def array_as(e: Evaluator, value: Value, type: Array) -> Value:
    """The same array under a more general type (any strides, read-only)."""
    if value.type == type:
        return value
    spec = ":" * type.ndim
    return e.op("view", value, type=type, spec=spec, name=value.name)


def _fill(e: Evaluator, edge: Edge, column: list[Any]) -> None:
    if all(isinstance(entry, Value) for entry in column):
        edge.target.args = list(column)
        return
    block = edge.block
    position = e.builder.position
    e.builder.position = edge.position
    terminator = block.instrs[-1]
    if terminator.op == "jump":
        block.instrs.pop()
        e.at(block)
        heap = e.heap
        args = [entry if isinstance(entry, Value) else entry(e) for entry in column]
        e.heap = heap
        terminator.targets[0].args = args
        assert e.builder.block is not None
        e.builder.block.instrs.append(terminator)
    else:
        middle = e.block("edge")
        e.at(middle)
        args = [entry if isinstance(entry, Value) else entry(e) for entry in column]
        e.builder.jump(edge.target.block, *args)
        edge.target.block = middle
        edge.target.args = []
    e.builder.position = position
