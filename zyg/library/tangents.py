"""Forward mode inside compiled code, and so at top level: `zyg.jvp(f, (x,), (t,))` compiles this very call.

As for reverse mode, the function is inferred on its own at one level more, the tangent pass runs on it, and what that made is
copied into the module under construction and called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zyg.autodiff.activity import Summary, differentiable, summarise
from zyg.autodiff.helpers import empty_like, lying_as
from zyg.autodiff.tangent import Tangent, tangent
from zyg.departures import called_out
from zyg.errors import Misuse, final_refusals
from zyg.frontend.arrays import memory, permuted
from zyg.frontend.evaluator import Evaluator
from zyg.frontend.frames import Stop
from zyg.frontend.scalars import scalar_value
from zyg.frontend.turned import inverse
from zyg.frontend.values import (
    MUTABLE_KINDS,
    Abstract,
    ArrayValue,
    Known,
    Number,
    TupleValue,
    describe,
    is_number,
    known,
    map_leaves,
    reachable,
)
from zyg.ir.core import Instr, Value, const
from zyg.ir.passes import optimise
from zyg.ir.types import Array, Scalar, cotangent_type

from . import drivers
from .bodies import Body, call_copied, infer_body, shown
from .cotangents import Matching, Mirror, items_of, leaves_of, made_an_array, number_as
from .derivatives import slope
from .gradients import finish_objects, refuse_overlap, returns_nothing
from .registry import emits


class Perturbations(Matching):
    """Takes the tangents of arguments apart into those of a function's parameters.

    With several lanes the tangent of a number is a tuple of numbers, and that of an array has the lanes as its last
    dimension.  An object in several places has one tangent: those that are given for it have to be equal.
    """

    def __init__(self, e: Evaluator, body: Body, name: str, lanes: int, writes: bool):
        super().__init__(e, body.heap, "tangent", name, "its argument")
        self.lanes = lanes
        self.writes = writes  # whether the function may write to the tangents of arrays, or give them back
        params = body.module.functions[body.name].params
        self.operands = {id(p): v for p, v in zip(params, body.operands)}
        self.axes = body.axes
        self.first: dict[
            int, tuple[str, list[Abstract]]
        ] = {}  # where the tangent of a parameter was given, by the same identity

    def is_first(self, wanted: Number | ArrayValue, given: Sequence[Abstract]) -> bool:
        """Whether this is the first tangent that is given for it.  Another one is compared with it when the code runs."""
        e = self.e
        place, before = self.first.setdefault(id(wanted.value), (self.at, [*given]))
        if place == self.at:
            return True
        for x, y in zip(before, given):
            same = e.call(known(same_tangents), [x, y])
            e.guard(
                scalar_value(e, same),
                "ValueError",
                f"the tangents that {self.name} was given for {place} and {self.at}, which are one, differ: give an object that is in "
                "several places the same tangent in each, or None in all but one",
            )
        return False

    def fits_number(self, given: Abstract) -> bool:
        items = items_of(self.e, given) if self.lanes > 1 else (given,)
        return items is not None and len(items) == self.lanes and all(map(is_number, items))

    def as_array(self, wanted: Abstract, given: Abstract) -> Abstract:
        return made_an_array(self.e, wanted, given)

    def fits_array(self, wanted: ArrayValue, given: Abstract) -> bool:
        return isinstance(given, ArrayValue) and given.type.ndim == wanted.type.ndim + (self.lanes > 1)

    def number(self, wanted: Number, given: Abstract) -> None:
        items = items_of(self.e, given) if self.lanes > 1 else (given,)
        assert items is not None
        if self.is_first(wanted, items):
            self.by_value[id(wanted.value)] = [number_as(self.e, i, cotangent_type(wanted.type)) for i in items]

    def array(self, wanted: ArrayValue, given: ArrayValue) -> None:
        e = self.e
        to = self.axes.get(id(wanted.value), tuple(range(wanted.type.ndim)))
        for axis in range(wanted.type.ndim):
            length = e.op("dim", self.operands[id(wanted.value)], axis=to.index(axis))
            found = e.op("dim", given.value, axis=axis)
            e.guard(
                e.op("eq", found, length),
                "ValueError",
                f"a tangent for {self.name} has another shape than its argument: along axis {axis} its length is {{}}, not {{}}",
                found,
                length,
            )
        if not self.is_first(wanted, (given,)):
            return
        operand = self.operands[id(wanted.value)]
        if id(wanted.value) in self.axes:
            lanes = range(wanted.type.ndim, given.type.ndim)
            given = memory(permuted(e, given, (*inverse(to), *lanes)))
        self.by_value[id(wanted.value)] = [self._own(given, lane_type(wanted.value, self.lanes), operand)]

    def _own(self, given: ArrayValue, wanted: Array, operand: Value) -> Value:
        """The tangent as an array of the type that the function takes; a copy if it may be written to, or lies in another way
        than the argument (lying_as)."""
        e = self.e
        if given.type.dtype != wanted.dtype:
            raise Misuse(
                f"a tangent with elements of type {given.type.dtype} for {self.name}",
                e.position,
                hint=f"its argument takes {wanted.dtype}",
            )
        if given.type == wanted and wanted.layout == "C" and not self.writes:
            return given.value
        return copied(e, given.value, operand)


def same_tangents(x: Any, y: Any) -> bool:
    return np.array_equal(x, y, equal_nan=True)


def lane_type(array: Value, lanes: int) -> Array:
    """The type of the tangent of an array."""
    made = cotangent_type(array.type)
    assert isinstance(made, Array)
    return made if lanes == 1 else Array(made.dtype, made.ndim + 1, made.layout)


def copied(e: Evaluator, array: Value, like: Value | None = None) -> Value:
    """A C-contiguous copy of an array, or one that lies as `like` does."""
    given = array.type
    assert isinstance(given, Array)
    plain = Array(given.dtype, given.ndim, "C")
    shape = [e.op("dim", array, axis=axis) for axis in range(given.ndim)]
    copy = e.op("alloc", *shape, type=plain, fill="empty", name=array.name)
    if like is not None:
        copy = lying_as(e.op, copy, like)
    e.emit("copyto", copy, array)
    return copy


def twin(e: Evaluator, array: Value) -> Value:
    """A copy of an array that lies as it does, for code that runs on it instead."""
    made = empty_like(e.op, array)
    e.emit("copyto", made, array)
    return made


class Tangents(Mirror):
    """Turns the tangents of results into a value of the structure of the function's value."""

    def __init__(self, e: Evaluator, body: Body, made: Tangent, lanes: int, results: list[Value]):
        outputs = body.results[: body.outputs]
        super().__init__(body.after, {id(v): n for n, v in enumerate(outputs) if differentiable(v.type)})
        extra = iter(results[len(body.results) :])
        varying = set(made.outputs)
        # Per result its tangents, zeros where it does not vary.
        self.given: list[list[Value]] = []
        for r, v in enumerate(outputs):
            if r in varying:
                self.given.append([next(extra) for _ in range(1 if isinstance(v.type, Array) else lanes)])
            else:
                self.given.append(_zero(e, results[r], lanes) if differentiable(v.type) else [])

    def value(self, e: Evaluator, v: Abstract) -> Abstract:
        return self.of(e, v, [g[0] if g else const(0.0) for g in self.given])

    def leaf(self, e: Evaluator, v: Number | ArrayValue, given: Sequence[Value]) -> Abstract:
        found = self.given[self.place[id(v.value)]]
        if isinstance(v, ArrayValue):
            return ArrayValue(found[0])
        return Number(found[0]) if len(found) == 1 else TupleValue(tuple(map(Number, found)))


def _zero(e: Evaluator, result: Value, lanes: int) -> list[Value]:
    """The tangents of a result that does not vary."""
    if not isinstance(result.type, Array):
        return [const(0.0, cotangent_type(result.type))] * lanes
    wanted = lane_type(result, lanes)
    plain = Array(wanted.dtype, wanted.ndim, "C")
    made = e.op("alloc", *_lengths(e, result), *[const(lanes)] * (lanes > 1), type=plain, fill="zeros")
    return [made if wanted == plain else e.op("view", made, type=wanted, spec=":" * wanted.ndim)]


def push_forward(
    e: Evaluator,
    f: Abstract,
    args: list[Abstract],
    tangents: Sequence[Abstract],
    keywords: dict[str, Abstract],
    lanes: int = 1,
) -> tuple[Abstract, Abstract]:
    """(value, tangent of the value); a tangent per positional argument."""
    name = shown(f)
    if len(tangents) != len(args):
        e.type_error(f"{name} was given {len(args)} positional arguments, but {len(tangents)} tangents")
    body = infer_body(e, f, args, keywords, e.context.level + 1, "", forwards=True)
    module = body.module
    params = list(module.functions[body.name].params)
    summary = summarise(module, body.name)[body.name]
    writes = bool(summary.written) or any(isinstance(v.type, Array) for v in body.results)
    given = Perturbations(e, body, name, lanes, writes)
    for n, (a, t) in enumerate(zip(body.args, tangents)):
        given.match_part(f"argument {n}", a, t)
    optimise(module, "clean")
    refuse_overlap(e, body, params, summarise(module, body.name)[body.name])
    with final_refusals():
        made = tangent(module, body.name, [id(p) in given.by_value for p in params], range(body.outputs), lanes)
    operands = list(body.operands)
    for k in made.params:
        operands.extend(given.by_value[id(params[k])])
    results = call_copied(e, module, made.function, operands)
    if returns_nothing(body):
        e.builder.append(Instr("unreachable"))
        raise Stop
    value = finish_objects(e, body, results)
    return value, Tangents(e, body, made, lanes, results).value(e, body.value)


def jvp(e: Evaluator, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    if len(args) != 3:
        e.type_error(
            f"jvp takes a function, a tuple of its arguments and a tuple of their tangents, not {len(args)} arguments"
        )
    f, primals, tangents = args
    return TupleValue(
        push_forward(e, f, _several(e, primals, "arguments"), _several(e, tangents, "tangents"), keywords)
    )


def push_lanes(
    e: Evaluator, f: Abstract, args: Abstract, tangents: Abstract, lanes: Abstract, **keywords: Abstract
) -> Abstract:
    """`drivers.several`."""
    assert isinstance(lanes, Known)
    pair = push_forward(
        e, f, _several(e, args, "arguments"), _several(e, tangents, "tangents"), keywords, lanes=lanes.object
    )
    return TupleValue(pair)


def _copies(e: Evaluator, values: Abstract, kinds: tuple[str, ...] = MUTABLE_KINDS) -> Abstract:
    """The same structure with copies of all arrays, and of lists and objects.  They lie as the arrays do: code that asks for another
    shape of an array sees how."""
    leaf = lambda v: twin(e, v) if isinstance(v.type, Array) else v
    kept = {i: r for i, r in reachable([values], e.heap).items() if r.kind in kinds}
    ids = {i: e.new_id("copy") for i in kept}
    rename = lambda i: ids.get(i, i)
    for i, record in kept.items():
        e.heap[ids[i]] = record.with_fields(map_leaves(x, leaf, rename) for x in record.fields)
    return map_leaves(values, leaf, rename)


def copied_call(e: Evaluator, function: Abstract, args: Abstract) -> Abstract:
    """`drivers.copied_call`."""
    made = _copies(e, args)
    ids = dict(zip(reachable([args], e.heap), reachable([made], e.heap)))
    held = reachable([function], e.heap)
    renamed = lambda r: any(i in ids and ids[i] != i for i in reachable(list(r.fields), e.heap))
    mine = {i: r for i, r in held.items() if i not in ids and renamed(r)}
    ids.update((i, e.new_id("copy")) for i in mine)
    rename = lambda i: ids.get(i, i)
    for i, record in mine.items():
        e.heap[ids[i]] = record.with_fields(map_leaves(x, lambda v: v, rename) for x in record.fields)
    return TupleValue((map_leaves(function, lambda v: v, rename), made))


def kept_call(e: Evaluator, function: Abstract, args: Abstract) -> Abstract:
    """`drivers.kept_call`."""
    return _copies(e, TupleValue((function, args)), (*MUTABLE_KINDS, "cell"))


def told_apart(e: Evaluator, f: Abstract, args: Abstract, /, **keywords: Abstract) -> Abstract:
    """`drivers.told_apart`.  Of arrays, code asks here; of objects, the entry, which asks about those that are written to."""
    body = infer_body(e, f, _several(e, args, "arguments"), keywords, e.context.level + 1, "", forwards=True)
    params = list(body.module.functions[body.name].params)
    optimise(body.module, "clean")
    summary = summarise(body.module, body.name)[body.name]
    refuse_overlap(e, body, params, summary)
    for inner in body.after.keys() - body.unchanged:
        if isinstance(inner, tuple) and inner[:1] == ("argument",):
            own = body.order[inner[1]]
            e.heap[own] = e.heap[own].written(e.heap[own].fields)
    return Known(_changes_besides(body, summary))


def once(e: Evaluator, f: Abstract, args: Abstract, /, **keywords: Abstract) -> Abstract:
    """`drivers.once`."""
    body = infer_body(e, f, _several(e, args, "arguments"), keywords, e.context.level + 1, "", forwards=True)
    if not _changes_besides(body, summarise(body.module, body.name)[body.name]):
        return Known(False)
    optimise(
        body.module, "clean"
    )  # without inlining, what a call gives might be any of its arguments, and be written to
    return Known(_changes_besides(body, summarise(body.module, body.name)[body.name]))


def _changes_besides(body: Body, summary: Summary) -> bool:
    """Whether a call changes something that is no argument: an array or object that the function has captured, a global array, what
    Python functions change that it calls (the state of a random generator)."""
    own = {id(v) for a in body.args for v in leaves_of(a, body.heap)}
    params = body.module.functions[body.name].params
    if any(id(params[k]) not in own for k in summary.written):
        return True
    mine = reachable(body.args, body.heap)
    if any(i in body.heap and i not in mine for i in body.after.keys() - body.unchanged):
        return True
    return called_out(body.module, body.name) is not None


def cannot(e: Evaluator, what: Abstract, hint: Abstract) -> Abstract:
    """`drivers.cannot`."""
    assert isinstance(what, Known) and isinstance(hint, Known)
    raise e.refuse(what.object, hint=hint.object)


def _new(e: Evaluator, x: Abstract, shape: Callable[[Value], list[Value]]) -> Abstract:
    """An array of zeros of the type of derivatives by `x`."""
    if not isinstance(x, (Number, ArrayValue)) or not differentiable(x.value.type):
        raise e.refuse(
            "derivatives by something that is not a real number or an array of them, all at once",
            types=[describe(x, e.heap)],
            hint="pass an array",
        )
    dtype = cotangent_type(x.type.dtype if isinstance(x, ArrayValue) else x.type)
    assert isinstance(dtype, Scalar)
    lengths = shape(x.value)
    return ArrayValue(e.op("alloc", *lengths, type=Array(dtype, len(lengths), "C"), fill="zeros"))


def _lengths(e: Evaluator, array: Value) -> list[Value]:
    assert isinstance(array.type, Array)
    return [e.op("dim", array, axis=axis) for axis in range(array.type.ndim)]


def zeros(e: Evaluator, x: Abstract, lanes: Abstract) -> Abstract:
    """`drivers.zeros`."""
    assert isinstance(lanes, Known)
    extra = [const(lanes.object)] if lanes.object else []
    return _new(e, x, lambda array: [*_lengths(e, array), *extra])


def table(e: Evaluator, x: Abstract, rows: Abstract) -> Abstract:
    """`drivers.table`."""

    def shape(value: Value) -> list[Value]:
        size: Value = const(1)
        for length in _lengths(e, value) if isinstance(value.type, Array) else []:
            size = e.builder.arith("mul", size, length)
        return [scalar_value(e, rows), size]

    return _new(e, x, shape)


def dependence(e: Evaluator, f: Abstract, args: Abstract, /, **keywords: Abstract) -> Abstract:
    """`drivers.dependence`."""
    body = infer_body(e, f, _several(e, args, "arguments"), keywords, e.context.level + 1, "", forwards=True)
    summary = summarise(body.module, body.name)[body.name]
    bits = 0
    for r in range(body.outputs):
        bits |= summary.results[r]
    params = body.module.functions[body.name].params
    varied = {id(p) for k, p in enumerate(params) if bits >> k & 1 and differentiable(p.type)}
    found = [any(id(v) in varied for v in leaves_of(a, body.heap)) for a in body.args]
    return TupleValue(tuple(map(Known, found)))


def _several(e: Evaluator, v: Abstract, what: str) -> list[Abstract]:
    if not isinstance(v, TupleValue):
        raise Misuse(
            f"the {what} of zyg.jvp, which are not a tuple",
            e.position,
            types=[describe(v, e.heap)],
            hint="write zyg.jvp(f, (x, y), (tx, ty)), with None for a tangent that is zero",
        )
    return list(v.items)


emits(drivers.several)(push_lanes)
emits(drivers.slope)(slope)
for _emitter in (copied_call, kept_call, told_apart, once, cannot, zeros, table, dependence):
    emits(getattr(drivers, _emitter.__name__))(_emitter)

__all__ = ["jvp", "push_forward"]
