"""What flows along the edges into a block: parameters for the block, and each edge's arguments for them, converted where their
types differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zyg.ir.core import Value, const
from zyg.ir.dtypes import single
from zyg.ir.types import BOOL, F32, I64, Array, Scalar, Type

from .merging import DEFAULT, choice_option, maybe_present
from .scalars import EXACT_INTEGERS, convert, scalar_value
from .values import (
    ArrayValue,
    ChoiceValue,
    ComplexValue,
    Known,
    MaybeValue,
    Number,
    Record,
    Reference,
    as_complex,
    option_kind,
    references,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator
    from .frames import Edge, Node


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
            from .growing import growing_fields

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
