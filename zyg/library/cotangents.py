"""Cotangents as abstract values: of the structure of what they belong to, with numbers for numbers, arrays for arrays, and
named tuples for structs and for what functions captured."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zyg.autodiff.activity import differentiable
from zyg.errors import Misuse
from zyg.frontend.evaluator import Evaluator
from zyg.frontend.kinds import known_items
from zyg.frontend.later import arrays, complex_arrays, growing, subscripts
from zyg.frontend.scalars import scalar_value
from zyg.frontend.turned import Axes
from zyg.frontend.values import (
    NONE,
    Abstract,
    ArrayValue,
    ChoiceValue,
    ComplexArrayValue,
    ComplexValue,
    DictValue,
    FunctionValue,
    Heap,
    Known,
    MaybeValue,
    Number,
    Record,
    Reference,
    Shape,
    SliceValue,
    StructValue,
    TupleValue,
    as_complex,
    describe,
    is_number,
    is_numeric,
    known,
)
from zyg.gradient_classes import closure_gradient_class, gradient_class
from zyg.ir.core import Const, Value, array_type, const
from zyg.ir.types import BOOL, F64, I64, Array, Type, cotangent_type
from zyg.typeof import UNBOUND

from .bodies import Body


class Mirror:
    """Turns the cotangents or tangents of numbers and arrays into values of the structure that these are part of, None
    for what has none.  `place` tells for a number or array, by the identity of its SSA value, which one is its."""

    def __init__(self, heap: Heap, place: dict[int, int], axes: dict[int, Axes] | None = None):
        self.heap = heap
        self.place = place
        self.axes = axes or {}
        self.callers: dict[int, Value] = {}  # by the same identity, what the caller has for it
        self.open: set[Any] = set()  # the objects that are being mirrored

    def leaf(self, e: Evaluator, v: Number | ArrayValue, given: Sequence[Value]) -> Abstract:
        d = given[self.place[id(v.value)]]
        if not isinstance(v, ArrayValue):
            return Number(d)
        axes = self.axes.get(id(v.value))
        return ArrayValue(d) if axes is None else arrays.permuted(e, ArrayValue(d), axes)

    def of(self, e: Evaluator, v: Abstract, cotangents: Sequence[Value]) -> Abstract:
        if isinstance(v, ChoiceValue) and any(id(leaf) in self.place for leaf in leaves_of(v, self.heap)):
            raise e.refuse(
                "a derivative by what is one object on one path and another one on the other",
                hint="pass the numbers and arrays in them, and choose these: np.where(c, x, y), x if c else y",
            )
        if isinstance(v, (Number, ArrayValue)):
            return self.leaf(e, v, cotangents) if id(v.value) in self.place else NONE
        if isinstance(v, MaybeValue):
            return self.of(e, v.item, cotangents)
        if isinstance(v, ComplexValue):
            return _complex([self.of(e, p, cotangents) for p in v.parts()])
        if isinstance(v, ComplexArrayValue):
            floats = self.of(e, v.floats, cotangents)
            return ComplexArrayValue(floats) if isinstance(floats, ArrayValue) else NONE
        if isinstance(v, TupleValue):
            items = [self.of(e, i, cotangents) for i in v.items]
            return NONE if _all_none(items) else TupleValue(tuple(items))
        if isinstance(v, StructValue):
            return self._struct(e, v.cls, v.names, v.items, cotangents)
        if isinstance(v, FunctionValue):
            # By what it captured, under the names of the variables.
            parts = [self.of(e, c, cotangents) for c in v.captured]
            cls = closure_gradient_class(v.name, v.code.co_freevars)
            return NONE if _all_none(parts) else StructValue(cls, cls._fields, tuple(parts))
        if isinstance(v, Reference):
            record = self.heap[v.id]
            if record.kind == "cell":
                return self.of(e, record.fields[0], cotangents)
            if v.id in self.open:
                return NONE  # an object that is part of itself
            self.open.add(v.id)
            found = self._object(e, record, cotangents)
            self.open.discard(v.id)
            return found
        return NONE

    def _object(self, e: Evaluator, record: Record, cotangents: Sequence[Value]) -> Abstract:
        if isinstance(record.meta, Shape):
            return self._struct(e, record.meta.cls, record.names, record.fields, cotangents)
        if record.kind == "growing":
            return self._growing(e, record, cotangents)
        items = tuple(self.of(e, i, cotangents) for i in record.fields)
        if _all_none(items):
            return NONE
        i = e.new_id("gradient")
        e.heap[i] = Record(record.kind, record.meta, items)
        return Reference(i)

    def _growing(self, e: Evaluator, record: Record, cotangents: Sequence[Value]) -> Abstract:
        """Of a list of run-time length: a list as long, without what has no gradient."""
        if growing.is_table(record):
            return self._table(e, record, cotangents)
        columns = iter(record.fields[1:])
        arrays: list[Value] = []

        def item(example: Abstract) -> Abstract:
            if isinstance(example, Number):
                column = next(columns)
                if id(column) not in self.place:
                    return NONE
                arrays.append(cotangents[self.place[id(column)]])
                assert isinstance(arrays[-1].type, Array)
                return Number(Value(arrays[-1].type.dtype))
            first = len(arrays)
            parts = [item(p) for p in example.parts()]
            if not parts or _all_none(parts):
                return NONE
            if isinstance(example, ComplexValue):
                for n, p in enumerate(parts):
                    if p is NONE:
                        zeros = e.op("alloc", e.dim(arrays[first], 0), type=Array(F64, 1), fill="zeros")
                        arrays.insert(first + n, zeros)
                return ComplexValue(Number(Value(F64)), Number(Value(F64)))
            if isinstance(example, StructValue):
                return StructValue(gradient_class(example.cls, example.names), example.names, tuple(parts))
            if isinstance(example, DictValue):
                return DictValue(example.names, tuple(parts))
            return TupleValue(tuple(parts))

        assert isinstance(record.meta, growing.Layout)
        layout = growing.common_layout([item(record.meta.example)])
        if not arrays:
            return NONE
        i = e.new_id("gradient")
        e.heap[i] = Record("growing", layout, (e.dim(arrays[0], 0), *arrays))
        return Reference(i)

    def _table(self, e: Evaluator, record: Record, cotangents: Sequence[Value]) -> Abstract:
        """Of a list of lists of floats: lists as long, in memory of the same make."""
        assert isinstance(record.meta, growing.Layout)
        columns, pools = record.meta.parts(record)
        if len(pools) != 1 or id(record.fields[0]) not in self.callers:
            raise e.refuse("this derivative by a list of lists, or of one", hint="use an array")
        ((fill, pool),) = pools
        if id(pool) not in self.place:
            return NONE
        cotangent = cotangents[self.place[id(pool)]]
        length, *columns, fill = (self.callers[id(v)] for v in (record.fields[0], *columns, fill))
        row = growing.common_layout([Number(Value(array_type(cotangent).dtype))])
        i = e.new_id("gradient")
        layout = growing.common_layout([growing.ListValue(row, Value(I64))])
        e.heap[i] = Record("growing", layout, (length, *columns, fill, cotangent))
        return Reference(i)

    def _struct(
        self, e: Evaluator, cls: Any, names: tuple[str, ...], items: Any, cotangents: Sequence[Value]
    ) -> Abstract:
        parts = [self.of(e, i, cotangents) for i in items]
        return NONE if _all_none(parts) else StructValue(gradient_class(cls, tuple(names)), tuple(names), tuple(parts))


class Gradients(Mirror):
    """Turns the cotangents of parameters into values that mirror the arguments."""

    def __init__(self, body: Body, params: list[Value], gradients: Sequence[int]):
        # Per parameter that the value depends on: which of the cotangents is its.
        super().__init__(body.heap, {id(params[k]): n for n, k in enumerate(gradients)}, body.axes)
        self.callers = {id(p): v for p, v in zip(params, body.operands)}
        self.args = body.args
        self.params = params  # keeps the identities

    def mirror(self, e: Evaluator, cotangents: Sequence[Value]) -> list[Abstract]:
        return [self.of(e, a, cotangents) for a in self.args]


def _complex(parts: list[Abstract]) -> Abstract:
    """The cotangent or tangent of a complex number from those of its parts; a tuple of several if they are tuples."""
    if _all_none(parts):
        return NONE
    lanes = next((len(p.items) for p in parts if isinstance(p, TupleValue)), None)
    if lanes is not None:
        columns = [p.items if isinstance(p, TupleValue) else (p,) * lanes for p in parts]
        return TupleValue(tuple(_complex(list(both)) for both in zip(*columns)))
    re, im = (Known(0.0) if p is NONE else p for p in parts)
    return ComplexValue(re, im)


def _all_none(items: Sequence[Abstract]) -> bool:
    return all(isinstance(i, Known) and i.object is None for i in items)


def leaves_of(v: Any, heap: Heap, seen: set[Any] | None = None) -> list[Value]:
    seen = set() if seen is None else seen
    if isinstance(v, Value):
        return [v]
    if isinstance(v, Reference):
        if v.id in seen:
            return []
        seen.add(v.id)
        return [leaf for x in heap[v.id].fields for leaf in leaves_of(x, heap, seen)]
    return [leaf for p in v.parts() for leaf in leaves_of(p, heap, seen)]


def cotangent_of(e: Evaluator, v: Abstract, heap: Heap, seeds: dict[int, Value]) -> Abstract:
    """The cotangent that a rule gets for its value: numbers for numbers, and so on, with fields by name for structs."""
    if isinstance(v, Number):
        return Number(seeds[id(v.value)]) if id(v.value) in seeds else NONE
    if isinstance(v, ArrayValue):
        return ArrayValue(seeds[id(v.value)]) if id(v.value) in seeds else NONE
    if isinstance(v, ComplexValue):
        return _complex([cotangent_of(e, p, heap, seeds) for p in v.parts()])
    if isinstance(v, ComplexArrayValue):
        floats = cotangent_of(e, v.floats, heap, seeds)
        return ComplexArrayValue(floats) if isinstance(floats, ArrayValue) else NONE
    if isinstance(v, TupleValue):
        return TupleValue(tuple(cotangent_of(e, i, heap, seeds) for i in v.items))
    if isinstance(v, StructValue):
        items = tuple(cotangent_of(e, i, heap, seeds) for i in v.items)
        return StructValue(gradient_class(v.cls, v.names), v.names, items)
    if isinstance(v, Reference) and heap[v.id].kind in ("object", "list", "dict"):
        record = heap[v.id]
        items = tuple(cotangent_of(e, i, heap, seeds) for i in record.fields)
        if record.kind == "dict":
            made = e.new_id(f"cotangent {v.id}")
            e.heap[made] = Record("dict", record.meta, items)
            return Reference(made)
        if not isinstance(record.meta, Shape):
            return TupleValue(items)
        return StructValue(gradient_class(record.meta.cls, record.names), record.names, items)
    return NONE


def items_of(e: Evaluator, v: Abstract) -> Sequence[Abstract] | None:
    """The items of a tuple, struct, object, dict, or list of known length."""
    if isinstance(v, (TupleValue, StructValue)):
        return v.items
    if isinstance(v, Reference) and e.heap[v.id].kind in ("list", "object", "dict"):
        return e.heap[v.id].fields
    return None


class Matching:
    """Takes a cotangent or tangent (`noun`) of `name` apart, along the structure of what it belongs to (`what`): numbers for
    numbers, arrays for arrays, None for zero.  Subclasses say what becomes of a number and of an array; `by_value` has the
    outcome, by the identity of the SSA value.  `at` is the place that is looked at."""

    def __init__(self, e: Evaluator, heap: Heap, noun: str, name: str, what: str):
        self.e = e
        self.heap = heap
        self.noun, self.name, self.what = noun, name, what
        self.by_value: dict[int, Any] = {}
        self.at = ""

    def match_part(self, step: str, wanted: Abstract, given: Abstract) -> None:
        before = self.at
        self.at += step
        self.match(wanted, given)
        self.at = before

    @abstractmethod
    def number(self, wanted: Number, given: Abstract) -> None: ...

    @abstractmethod
    def array(self, wanted: ArrayValue, given: ArrayValue) -> None: ...

    def wrong(self, wanted: Abstract, given: Abstract, why: str = "") -> Exception:
        return Misuse(
            f"a {self.noun} for {self.name} of another structure than {self.what}: {self.at or self.what} "
            + (why or f"is {describe(wanted, self.heap)}"),
            self.e.position,
            types=[describe(given, self.e.heap)],
            hint="give a number for a number, an array for an array, a tuple for a tuple, None for zero",
        )

    def as_array(self, wanted: Abstract, given: Abstract) -> Abstract:
        """What is given for an array, as one where it stands for one."""
        return given

    def fits_number(self, given: Abstract) -> bool:
        return is_number(given)

    def fits_array(self, wanted: ArrayValue, given: Abstract) -> bool:
        return isinstance(given, ArrayValue) and given.type.ndim == wanted.type.ndim

    def match(self, wanted: Abstract, given: Abstract) -> None:
        if isinstance(given, Known) and given.object is None:
            return
        if isinstance(wanted, (ArrayValue, ComplexArrayValue)):
            given = self.as_array(wanted, given)
        if isinstance(wanted, Number):
            if not self.fits_number(given):
                raise self.wrong(wanted, given)
            if differentiable(wanted.type):
                self.number(wanted, given)
            return
        if isinstance(wanted, ArrayValue):
            if not self.fits_array(wanted, given):
                raise self.wrong(wanted, given)
            assert isinstance(given, ArrayValue)
            if differentiable(wanted.type):
                self.array(wanted, given)
            return
        if isinstance(wanted, ComplexValue) and is_numeric(given):
            for part, g in zip(wanted.parts(), as_complex(given).parts()):
                self.match(part, g)
            return
        if isinstance(wanted, ComplexArrayValue) and isinstance(given, ComplexArrayValue):
            self.match(wanted.floats, given.floats)
            return
        if isinstance(wanted, MaybeValue):
            self.match(wanted.item, given)
            return
        if isinstance(wanted, Reference) and self.heap[wanted.id].kind == "growing":
            why = None if self.match_growing(self.heap[wanted.id], given) else ""
        else:
            why = self.match_parts(wanted, given)
        if why is not None:
            raise self.wrong(wanted, given, why)

    def match_parts(self, wanted: Abstract, given: Abstract) -> str | None:
        """Match what a structure holds: by name what is given by names, else by position. If that cannot be, why ("" if it is
        another kind of thing)."""
        parts, steps, aliases = self._parts(wanted)
        items, names = items_of(self.e, given), field_names(self.e, given)
        if parts is None or items is None:
            return ""
        if names is not None and aliases is not None:
            there = [(n, i) for n, i in zip(names, items) if not (isinstance(i, Known) and i.object is UNBOUND)]
            for name, _ in there:
                if name not in aliases:
                    kind = (
                        "key" if isinstance(wanted, Reference) and self.heap[wanted.id].kind == "dict" else "attribute"
                    )
                    return f"has no {kind} {name!r}"
            for name, item in there:
                at = aliases[name]
                self.match_part(steps[at], parts[at], item)
            return None
        if names is not None and not _has_positions(given):
            return ""
        if len(items) != len(parts):
            return f"has {len(parts)} items, not {len(items)}"
        for step, w, g in zip(steps, parts, items):
            self.match_part(step, w, g)
        return None

    def _parts(self, wanted: Abstract) -> tuple[Sequence[Abstract] | None, list[str], dict[str, int] | None]:
        """What a structure holds, the steps that lead there, and by each name that it may be given under, which one that is."""
        names: Sequence[str] | None = None
        parts: Sequence[Abstract]
        if isinstance(wanted, FunctionValue):
            # The class of its gradient has other names for some variables.
            variables, held = wanted.code.co_freevars, [self._held(c) for c in wanted.captured]
            fields = closure_gradient_class(wanted.name, variables)._fields
            aliases = {n: at for at, n in (*enumerate(fields), *enumerate(variables))}
            return held, [f".{n}" for n in variables], aliases
        if isinstance(wanted, TupleValue):
            parts = wanted.items
        elif isinstance(wanted, StructValue):
            names, parts = wanted.names, wanted.items
        elif isinstance(wanted, Reference) and self.heap[wanted.id].kind in ("list", "object", "dict"):
            record = self.heap[wanted.id]
            parts = record.fields
            if record.kind != "list":
                named = record.named()
                names, parts = tuple(named), tuple(named.values())
            if record.kind == "dict":
                return parts, [f"[{n!r}]" for n in named], {n: at for at, n in enumerate(named)}
        else:
            return None, [], None
        if names is None:
            return parts, [f"[{n}]" for n in range(len(parts))], None
        return parts, [f".{n}" for n in names], {n: at for at, n in enumerate(names)}

    def match_growing(self, record: Record, given: Abstract) -> bool:
        """A list of run-time length: by a list, or by an array per leaf of an item."""
        if growing.is_table(record):
            raise self.e.refuse(f"a {self.noun} for a list of lists", hint="use an array")
        wanted = [ArrayValue(column) for column in record.fields[1:]]
        columns: list[Abstract] = []
        if isinstance(given, Reference) and self.e.heap[given.id].kind in ("list", "growing"):
            assert isinstance(record.meta, growing.Layout)
            layout = growing.require_growing(self.e, given, [record.meta.example])
            length, *arrays = self.e.heap[given.id].fields
            if len(layout.leaves) != len(wanted):
                return False
            columns = [
                subscripts.get_item(self.e, ArrayValue(a), SliceValue(NONE, Number(length), NONE)) for a in arrays
            ]
        elif isinstance(given, ArrayValue):
            columns = [given]
        elif isinstance(given, ComplexArrayValue):
            columns = [complex_arrays.part(self.e, given, name) for name in ("real", "imag")]
        else:
            columns = list(items_of(self.e, given) or ()) if _has_positions(given) else []
        if len(columns) != len(wanted):
            return False
        for w, g in zip(wanted, columns):
            self.match(w, g)
        return True

    def _held(self, captured: Abstract) -> Abstract:
        """What a captured variable holds."""
        if isinstance(captured, Reference) and self.heap[captured.id].kind == "cell":
            return self.heap[captured.id].fields[0]
        return captured


def _has_positions(given: Abstract) -> bool:
    """Whether a structure has places, and not names alone."""
    return isinstance(given, TupleValue) or isinstance(given, StructValue) and issubclass(given.cls, tuple)


def made_an_array(e: Evaluator, wanted: Abstract, given: Abstract) -> Abstract:
    """What users give for an array: a list or tuple of numbers, or of rows, and an array of other numbers, stand for the array that
    NumPy makes of them, as outside of compiled code."""
    type = cotangent_type(arrays.memory(wanted).type)
    if not isinstance(type, Array):
        return given
    real = isinstance(wanted, ArrayValue)
    if (
        isinstance(given, ComplexArrayValue)
        or isinstance(given, ArrayValue)
        and real
        and given.type.dtype == type.dtype
    ):
        return given
    if not isinstance(given, ArrayValue) and not _is_of_numbers(e, given, is_number if real else is_numeric):
        return given
    dtype = arrays.numpy_dtype(type.dtype) if real else np.dtype(complex)
    return e.call(known(np.asarray), [given, Known(dtype)])


def _is_of_numbers(e: Evaluator, v: Abstract, of: Callable[[Abstract], bool]) -> bool:
    """Whether a list or a tuple has numbers in it, and such lists and tuples, alone."""
    if isinstance(v, Reference) and e.heap[v.id].kind == "growing":
        return True
    items = known_items(e, v)
    return items is not None and all(of(i) or _is_of_numbers(e, i, of) for i in items)


def number_as(e: Evaluator, v: Abstract, type: Type) -> Value:
    """A number as a cotangent of type f64 or f32."""
    value = scalar_value(e, v)
    if isinstance(value, Const):
        return const(float(value.value), type)
    if value.type is BOOL:
        value = e.op("cast", value, type=F64)
    return value if value.type == type else e.op("cast", value, type=type)


def array_seed(e: Evaluator, given: ArrayValue, wanted: Value, name: str) -> Value:
    """An array given as a cotangent, as the shadow type of the array it belongs to."""
    shadow = cotangent_type(wanted.type)
    assert isinstance(shadow, Array)
    contiguous = Array(shadow.dtype, shadow.ndim, "C")
    if given.type.dtype != shadow.dtype:
        raise e.refuse(
            f"a cotangent with elements of type {given.type.dtype} for {name}", hint=f"its value takes {shadow.dtype}"
        )
    if given.type == shadow:
        return given.value
    shape = [e.op("dim", given.value, axis=axis) for axis in range(shadow.ndim)]
    copy = e.op("alloc", *shape, type=contiguous, fill="empty", name="seed")
    e.emit("copyto", e.op("view", copy, type=given.type, spec=":" * shadow.ndim) if given.type != contiguous else copy,
           given.value)  # fmt: skip
    return copy if shadow == contiguous else e.op("view", copy, type=shadow, spec=":" * shadow.ndim)


def field_names(e: Evaluator, v: Abstract) -> tuple[str, ...] | None:
    if isinstance(v, StructValue):
        return v.names
    if isinstance(v, Reference) and e.heap[v.id].kind in ("object", "dict"):
        return e.heap[v.id].names
    return None
