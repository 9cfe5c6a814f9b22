"""Where control flow meets: the states of several edges into a block become one.

What is the same on all edges stays what it is; numbers that differ become parameters of the block, objects that differ
become objects of their own, or a choice between them by number.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.errors import Unsupported
from zyg.ir import types as t
from zyg.ir.core import Const, Value, const
from zyg.ir.records import field, record
from zyg.ir.types import BOOL, F64, I64, Scalar, Type
from zyg.typeof import UNBOUND

from .meeting import join_numbers, met, mixture
from .values import (
    LISTED,
    NUMBER_CLASSES,
    ROW,
    UNORDERED,
    Abstract,
    ArrayValue,
    ChoiceValue,
    ComplexValue,
    ConflictValue,
    FunctionValue,
    Heap,
    Known,
    MaybeValue,
    MethodValue,
    Number,
    Record,
    Reference,
    Shape,
    as_complex,
    can_be_written,
    describe,
    is_data,
    is_number,
    is_numeric,
    is_reference,
    option_kind,
    options_of,
    reachable,
    references,
    same,
    same_heap,
    same_leaf,
)

if TYPE_CHECKING:
    from .carried import CarriedLengths
    from .evaluator import Evaluator


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
    # Of a joined state: the objects that are the same on all edges, with all that they hold.
    unchanged: Heap = field(default_factory=dict)

    def same(self, other: State) -> bool:
        return (
            len(self.slots) == len(other.slots)
            and all(map(same, self.slots, other.slots))
            and same_heap(self.heap, other.heap)
        )


# The fields of iterators that change as they advance, by kind (see iterators.py).
COUNTERS: dict[Any, tuple[int, ...]] = {
    "range": (0,), "stepped": (0, 1), "array": (1,), "list": (1,), "reversed": (1,), "enumerate": (0, 1), "zip": tuple(range(64)),
}  # fmt: skip


class Merge:
    """Joins the states of the edges into a block.

    A leaf that is the same SSA value on all edges stays that value; otherwise it becomes a parameter of the block.
    `parameters` keeps them by path from one run to the next, so that the fixpoint iteration sees stable values.
    `force` has the indices of slots whose numbers shall be parameters at once (variables that a loop changes).
    `apart`: a variable that is an argument that cannot be written here, and there a new array, is kept as two.
    `lengths`: what is known of the lengths of arrays; `rounds`: how often the block has been evaluated.
    """

    def __init__(
        self,
        parameters: dict[tuple[Any, ...], Value],
        states: list[State],
        force: frozenset[int],
        owner: object,
        lengths: CarriedLengths,
        rounds: int = 0,
        apart: bool = False,
    ):
        self.apart = apart
        self.lengths = lengths
        self.rounds = rounds
        self.parameters = parameters
        self.states = states
        self.force = force
        self.owner = owner
        self.heap: Heap = {}
        self.maps: list[dict[Hashable, Hashable]] = [{} for _ in states]
        self.pending: list[tuple[Hashable, list[Record | Default], tuple[Any, ...], bool]] = []
        # Slots about which something was decided before, or is now: whatever they reach is looked at.
        self.settled = force | {path[0] for path in parameters}
        self.unchanged: Heap = {}

    def run(self) -> State:
        columns = list(zip(*(s.slots for s in self.states)))
        slots: list[Any] = [None] * len(columns)
        self.find_unchanged(columns)
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
        return State(slots, self.heap, self.maps, self.unchanged)

    def find_unchanged(self, columns: list[tuple[Any, ...]]) -> None:
        """Most objects are the same on all edges: they need no look at their fields."""
        if len(self.states) < 2:
            return
        own, *others = [s.heap for s in self.states]
        same = [
            vs[0]
            for n, vs in enumerate(columns)
            if n not in self.settled and (all(v is vs[0] for v in vs) or _one_object(vs))
        ]
        found = {i: r for i, r in reachable(same, own).items() if all(h.get(i) is r for h in others)}
        for s in self.states if self.settled else ():
            for i in reachable([s.slots[n] for n in self.settled], s.heap):
                found.pop(i, None)
        holders: dict[Hashable, list[Hashable]] = {}
        for i, r in found.items():
            for inner in r.references():
                holders.setdefault(inner, []).append(i)
        work = [i for inner, holding in holders.items() if inner not in found for i in holding]
        while work:
            i = work.pop()
            if found.pop(i, None) is not None:
                work.extend(holders.get(i, ()))
        self.unchanged = found
        self.heap.update(found)
        for m in self.maps:
            m.update(zip(found, found))

    def drain(self) -> None:
        while self.pending:
            id, records, path, force = self.pending.pop()
            self.heap[id] = self.record((*path, "*"), records, force)

    def stays(self, first: Any, vs: list[Any]) -> bool:
        return all(v is first for v in vs) and all(i in self.unchanged for i in references(first))

    def value(self, path: tuple[Any, ...], vs: list[Any], force: bool) -> Abstract:
        first = vs[0]
        if not force and path[0] not in self.settled and first is not DEFAULT and self.stays(first, vs):
            return first
        present = [v for v in vs if v is not DEFAULT]
        first = present[0]
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
        if self.apart and "*" not in path and len({can_be_written(v) for v in present}) > 1:
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
        before = value = self.parameters.get(path)
        if value is None or value.type != type:
            name = next((v.name for v in values if isinstance(v, Value) and v.name), "")
            value = self.parameters[path] = Value(type, name)
        if isinstance(type, t.Array):
            # What is known of a parameter never changes: where less turns out to be, or something else, it is another one.
            value = self.parameters[path] = self.lengths.of_parameter(value, before, values, self.rounds)
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
        classes = mixture(present, scalar, numpy)
        if isinstance(first, Number) and leaf is first.value and first.numpy == numpy and first.classes == classes:
            return first
        return Number(leaf, numpy, classes)

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
        if all(is_numeric(v) and option_kind(v) == "number" for v in present):
            if len(present) < len(self.states) or len({is_number(v) for v in present}) > 1:
                # It stays complex when this is evaluated again, so that the iteration settles.
                self.parameters.setdefault((*path, "complex"), _RENAMED)
            numpy = any(isinstance(v, (ComplexValue, Number)) and v.numpy for v in present)
            classes = met(present, np.complex128 if numpy else complex)
            vs = [v if v is DEFAULT else as_complex(_python_number(v)) for v in vs]
            vs = [v if v is DEFAULT else ComplexValue(v.re, v.im, numpy, classes) for v in vs]
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
            return ConflictValue("different kinds of object", found, _ONE_KIND)
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
            what = f"one of more than {MAX_OPTIONS} objects or functions, as turns out when it runs"
            return ConflictValue(what, (what,), "keep the numbers in a list or an array, and choose by an index: xs[k]")
        tag = self.leaf((*path, "tag"), I64, [Value(I64) for _ in vs], True)
        return ChoiceValue(tag, tuple(options))

    def record(self, path: tuple[Any, ...], records: list[Any], force: bool) -> Record:
        real = [r for r in records if r is not DEFAULT]
        state = 0
        for r in real:
            state |= r.state
        if any(r.state & (LISTED | ROW) == LISTED for r in real):
            state &= ~ROW
        if any(r.state != state for r in real):
            records = [r if r is DEFAULT else Record(r.kind, r.meta, r.fields, state) for r in records]
            real = [r for r in records if r is not DEFAULT]
        first = real[0]
        mixed = [r for r in real if r.kind == "list" and isinstance(r.meta, tuple) and r.meta[:1] == ("mixed",)]
        if mixed:  # there is nothing in its record that could meet what others hold: it stays what is refused
            return mixed[0]
        if first.kind in ("object", "dict") and any(r.meta != first.meta for r in real):
            # What some have and others not is optional.
            names = tuple(dict.fromkeys(n for r in real for n in r.named()))
            if first.kind == "dict" and any(
                [n for n in names if n in own] != [*own] for own in (r.named() for r in real)
            ):
                state |= UNORDERED
            meta = Shape(first.meta.cls, names) if isinstance(first.meta, Shape) else names
            records = [r if r is DEFAULT else Record(r.kind, meta, r.under(names), state) for r in records]
            real = [r for r in records if r is not DEFAULT]
            first = real[0]
        elif any(r.kind == "growing" for r in real) or any(len(r.fields) != len(first.fields) for r in real):
            from .growing import merge_growing

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
            for option in options_of(v):
                if option_kind(option) not in kinds:
                    kinds.add(option_kind(option))
                    options.append(option)
        if all(isinstance(o, (Known, FunctionValue, MethodValue)) and not is_number(o) for o in options) or (
            1 < len(options) <= MAX_ARRAYS and all(map(is_data, options))
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
        return ConflictValue("values of different types", self.described(present), _ONE_KIND)

    def described(self, vs: Iterable[Any]) -> tuple[str, ...]:
        """What values are, for a message, each kind once."""
        heap = ChainMap(*(s.heap for s in self.states))
        return tuple(dict.fromkeys(describe(v, heap) for v in vs))


def _one_object(vs: tuple[Any, ...]) -> bool:
    return type(vs[0]) is Reference and all(type(v) is Reference and v.id == vs[0].id for v in vs)


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


_ONE_KIND = "give it one type on all paths, or go on with it on each path by itself"
MAX_OPTIONS = 16  # objects that one variable may refer to
MAX_ARRAYS = 4  # kinds of array, a number among them, that one variable may be


def _python_number(v: Any) -> Any:
    """A NumPy scalar that is to be the part of a complex number, by its value: what meets there has 64 bits."""
    return Number(v.value) if isinstance(v, Number) and v.numpy else v


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


def _of_dict(iterator: Record) -> bool:
    return isinstance(iterator.meta, tuple) and iterator.meta[0] == "dict"


def records_fit(records: list[Record]) -> bool:
    first = records[0]
    lists = ("list", "growing")
    for r in records[1:]:
        if r.kind != first.kind and not (r.kind in lists and first.kind in lists):
            return False
        if first.kind == "object":
            if r.shape.cls is not first.shape.cls:
                return False
        elif first.kind == "iterator" and first.meta == r.meta and (first.meta == ("tuple",) or _of_dict(first)):
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


# ------------------------------------------------------------------------ where one certain thing is wanted


def conflict(e: Evaluator, v: ConflictValue) -> Exception:
    if len(v.found) > 1:
        return e.refuse(f"a value that is {' on one path and '.join(v.found)} on another", hint=v.hint)
    return e.refuse(v.what, hint=v.hint) if v.place is None else Unsupported(v.what, v.place, hint=v.hint)


def settled(e: Evaluator, v: Abstract, message: Callable[[], str] | str, error: str = "TypeError") -> Abstract:
    """A value that cannot be None any more: where it may be, a guard raises TypeError(message), or another error."""
    if isinstance(v, ConflictValue):
        raise conflict(e, v)
    if isinstance(v, MaybeValue):
        if v.absent is not None:
            e.guard(
                v.present, "UnboundLocalError", "cannot access a local variable that is not associated with a value"
            )
        else:
            e.guard(v.present, error, message if isinstance(message, str) else message())
        return settled(e, v.item, message, error)
    return v
