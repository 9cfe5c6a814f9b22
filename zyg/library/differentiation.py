"""Derivatives taken inside compiled code, which is also how they are taken at top level: `zyg.gradient(f, x)` compiles this
very call.

The function to differentiate is inferred on its own, at one level more, into a module of its own; the adjoint pass runs
there; and what it made is copied into the module under construction and called.  So the result is typed SSA like any
other, and derivatives nest.

A custom rule becomes a pair of functions that the call carries along (`ir.core.Rule`), for the adjoint pass to use.
"""

from __future__ import annotations

import inspect
import itertools
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from zyg.autodiff.activity import Summary, differentiable, summarise
from zyg.autodiff.adjoint import Adjoint, adjoint
from zyg.frontend.boundary import conflict, disassemble, scalar_value
from zyg.frontend.calls import Outline, widened
from zyg.frontend.infer import Context, Evaluator, Inference, Stop, _hidden_parameters, _order_blocks, known
from zyg.frontend.operators import settled
from zyg.frontend.values import (
    NONE,
    Abstract,
    ArrayValue,
    CallableValue,
    ConflictValue,
    FunctionValue,
    Heap,
    Known,
    MaybeValue,
    Number,
    PullbackValue,
    Reference,
    StructValue,
    TupleValue,
    describe,
    is_number,
    map_leaves,
    reachable,
)
from zyg.ir import types as t
from zyg.ir.core import Const, Instr, Module, Rule, Value, clone, const
from zyg.ir.passes import optimise
from zyg.ir.passes.inline import remove_unused
from zyg.ir.types import BOOL, F32, F64, Array, Type, cotangent_type
from zyg.transforms import Transform
from zyg.transforms import describe as describe_callable

from .registry import emits

if TYPE_CHECKING:
    from zyg.rules import Rule as UserRule

_numbers = itertools.count(1)
FIRST = Known(0)

# ------------------------------------------------------------------------------------------- the function


@dataclass
class Body:
    """A function inferred on its own, for differentiation.

    Its parameters are the leaves of the callee, the arguments, the objects they reach, and then its hidden inputs; its
    results the leaves of its value, then those of the objects afterwards.
    """

    module: Module
    name: str
    args: list[Abstract]  # in terms of its parameters
    heap: Heap  # as it was at entry
    operands: list[Value]  # what the caller passes for the parameters
    order: list[Any]  # ids of the caller's objects
    value: Abstract  # in terms of its results
    after: Heap
    outputs: int  # how many of the results are leaves of the value
    results: list[Value] = field(default_factory=list)  # stand-ins for the results in `value` and `after`


def infer_body(
    e: Evaluator, f: Abstract, args: list[Abstract], keywords: dict[str, Abstract], level: int, not_none: str
) -> Body:
    """Infer a call of `f` as a function of its own, at the given level of differentiation.

    A value that may be None is checked when the code runs, if `not_none` has the message for it.
    """
    if e.depth > 40:
        raise e.refuse(
            "derivatives nested more than 40 deep", hint="a function that takes its own derivative cannot be compiled"
        )
    roots = [widened(e, v) for v in (f, *args, *keywords.values())]
    heap = {i: r.with_fields(widened(e, x) for x in r.fields) for i, r in reachable(roots, e.heap).items()}
    outline = Outline(heap)
    outline.of(roots)
    inference = Inference(e.options)
    inference.guards = e.inference.guards
    name = _name(f)
    inner = Evaluator(inference, name, Context(e.options, level))
    inference.module.add(inner.function)
    inner.builder.position = e.builder.position
    inner.depth = e.depth + 1
    names = iter(outline.leaves)

    def parameter(_: Value) -> Value:
        outer = next(names)
        value = Value(outer.type, outer.name)
        inner.function.params.append(value)
        return value

    def rename(i: Any) -> Any:
        return ("argument", outline.numbers[i])

    own = [map_leaves(r, parameter, rename) for r in roots]
    for i in outline.order:
        inner.heap[rename(i)] = heap[i].with_fields(map_leaves(x, parameter, rename) for x in heap[i].fields)
    _name_parameters(own[0], own[1:])
    at_entry = dict(inner.heap)
    count = len(args)
    body = Body(
        inference.module, name, own[1 : 1 + count], at_entry, list(outline.leaves), list(outline.order), NONE, {}, 0
    )
    try:
        value = inner.call(own[0], own[1 : 1 + count], dict(zip(keywords, own[1 + count :])))
    except Stop:
        pass
    else:
        value = widened(inner, settled(inner, value, not_none) if not_none else value)
        objects = [Reference(rename(i)) for i in outline.order]
        kept = {
            i: r.with_fields(widened(inner, x) for x in r.fields)
            for i, r in reachable([value, *objects], inner.heap).items()
        }
        shape = Outline(kept)
        shape.of([value])
        body.outputs = len(shape.leaves)
        reached = len(shape.order)
        shape = Outline(kept)
        shape.of([value, *objects])
        if reached and body.outputs != len(shape.leaves):
            body.outputs = _count_leaves(value, kept)
        inner.builder.ret(*shape.leaves)
        inner.function.results = tuple(v.type for v in shape.leaves)
        body.results = [Value(v.type, v.name) for v in shape.leaves]
        following = iter(body.results)
        stand_in = lambda _: next(following)
        body.value = map_leaves(value, stand_in)
        for o in objects:
            map_leaves(o, stand_in)
        body.after = {i: kept[i].with_fields(map_leaves(x, stand_in) for x in kept[i].fields) for i in shape.order}
    _hidden_parameters(inference)
    for evaluator in inference.evaluators:
        _order_blocks(evaluator.function)
    for entry, _ in inner.inputs.values():
        leaves: list[Value] = []
        disassemble(e, e.input(entry.kind, entry.container, entry.name, entry.type), leaves)
        body.operands.extend(leaves)
    return body


def _count_leaves(v: Abstract, heap: Heap) -> int:
    shape = Outline(heap)
    shape.value(v)
    return len(shape.leaves)


def _shown(f: Abstract) -> str:
    """The name of a function for a message."""
    if isinstance(f, FunctionValue):
        return f.name
    return describe_callable(f.object) if isinstance(f, Known) else "function"


def _name(f: Abstract) -> str:
    """The name of a function as a name in the IR."""
    name = _shown(f)
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name).strip("_") or "lambda"


def _name_parameters(f: Abstract, args: Sequence[Abstract]) -> None:
    """Give parameters the names that the source has for them."""
    code = f.code if isinstance(f, FunctionValue) else getattr(getattr(f, "object", None), "__code__", None)
    if code is None:
        return
    for name, v in zip(code.co_varnames, args):
        if isinstance(v, (Number, ArrayValue)):
            v.value.name = name
        elif isinstance(v, StructValue):
            for inner, item in zip(v.names, v.items):
                if isinstance(item, (Number, ArrayValue)):
                    item.value.name = f"{name}.{inner}"


def copy_functions(e: Evaluator, module: Module, root: str) -> str:
    """Copy a function with all that it calls into the module under construction; gives its name there."""
    target = e.inference.module
    names: dict[str, str] = {}
    work = [root]
    while work:
        name = work.pop()
        if name in names:
            continue
        names[name] = target.unique_name(name)
        made = target.add(clone(module.functions[name], names[name]))
        for _, instr in made.instructions():
            if instr.op == "call":
                work.append(instr.attrs["callee"])
                rule = instr.attrs.get("rule")
                if rule is not None:
                    work += [rule.forward, rule.reverse]
    for name in names.values():
        for _, instr in target.functions[name].instructions():
            if instr.op == "call":
                instr.attrs["callee"] = names[instr.attrs["callee"]]
                rule = instr.attrs.get("rule")
                if rule is not None:
                    instr.attrs["rule"] = Rule(names[rule.forward], names[rule.reverse], rule.gradients)
    return names[root]


def call_copied(e: Evaluator, module: Module, root: str, operands: list[Value]) -> list[Value]:
    """Copy a function here and call it."""
    name = copy_functions(e, module, root)
    return e.emit("call", *operands, types=tuple(e.inference.module.functions[name].results), callee=name)


# --------------------------------------------------------------------------------------- differentiation


@dataclass
class Differentiated:
    """A body with its adjoint; `dependent` are the indices of the parameters that a differentiable path leads from."""

    body: Body
    adjoint: Adjoint
    dependent: set[int]
    params: list[Value]


def differentiate(
    e: Evaluator,
    f: Abstract,
    args: list[Abstract],
    keywords: dict[str, Abstract],
    split: bool,
    check: Callable[[Evaluator, Body], None],
    chosen: Sequence[int] | None = None,
) -> Differentiated:
    not_none = "" if split else f"the value of {_shown(f)} is None; its gradient takes a number"
    body = infer_body(e, f, args, keywords, e.context.level + 1, not_none)
    if not body.results and body.value is NONE:
        pass  # it raises always, or gives nothing: `check` says what that means
    check(e, body)
    module, name = body.module, body.name
    params = list(module.functions[name].params)
    wanted = {id(v) for n, a in enumerate(body.args) if chosen is None or n in chosen for v in _leaves(a, body.heap)}
    summaries = summarise(module, name)
    _refuse_overlap(e, body, params, summaries[name])
    bits = 0
    for r in range(body.outputs):
        bits |= summaries[name].results[r]
    dependent = {k for k, p in enumerate(params) if id(p) in wanted and bits >> k & 1 and differentiable(p.type)}
    optimise(module, "clean")
    made = adjoint(module, name, [k in dependent for k in range(len(params))], split=split, outputs=range(body.outputs))
    return Differentiated(body, made, dependent, params)


def _leaves(v: Any, heap: Heap, seen: set[Any] | None = None) -> list[Value]:
    seen = set() if seen is None else seen
    if isinstance(v, Value):
        return [v]
    if isinstance(v, Reference):
        if v.id in seen:
            return []
        seen.add(v.id)
        return [leaf for x in heap[v.id].fields for leaf in _leaves(x, heap, seen)]
    return [leaf for p in v.parts() for leaf in _leaves(p, heap, seen)]


def _refuse_overlap(e: Evaluator, body: Body, params: list[Value], summary: Summary) -> None:
    """Arrays that overlap may not be written under differentiation: their shadows would have to overlap too."""
    arrays = [k for k, p in enumerate(params) if isinstance(p.type, Array) and differentiable(p.type)]
    for n, k in enumerate(arrays):
        if k in summary.written:
            _refuse_self_overlap(e, body.operands[k], params[k].name or "?")
        for other in arrays[n + 1 :]:
            if k in summary.written or other in summary.written:
                names = " and ".join(params[i].name or "?" for i in (k, other))
                apart = e.op("not", e.op("overlap", body.operands[k], body.operands[other]))
                e.guard(apart, "ValueError", f"the arrays {names} overlap in memory and are written: "
                        "the derivative needs arrays that are apart; pass a copy")  # fmt: skip


def _refuse_self_overlap(e: Evaluator, array: Value, name: str) -> None:
    """Elements of an array that is written may not share memory (as those of `as_strided` may): those of its shadow do
    not.  They are apart if of any two dimensions one steps over the whole extent of the other."""
    assert isinstance(array.type, Array)
    if array.type.layout == "C":
        return
    itemsize = const(array.type.dtype.bits // 8)
    dims = [e.op("dim", array, axis=k) for k in range(array.type.ndim)]
    steps = [e.op("abs", e.op("stride", array, axis=k)) for k in range(array.type.ndim)]
    trivial = [e.op("le", d, const(1)) for d in dims]
    apart: Value = const(True)
    for k, step in enumerate(steps):
        conditions = [e.op("or", trivial[k], e.op("ge", step, itemsize))]
        for other in range(k):
            over = e.op("ge", step, e.op("mul", steps[other], dims[other]))
            under = e.op("ge", steps[other], e.op("mul", step, dims[k]))
            either = e.op("or", e.op("or", trivial[k], trivial[other]), e.op("or", over, under))
            conditions.append(either)
        for condition in conditions:
            apart = condition if isinstance(apart, Const) else e.op("and", apart, condition)
    e.guard(apart, "ValueError", f"elements of the array {name} overlap in memory and are written: the derivative needs "
            "elements that are apart; pass a copy")  # fmt: skip


def _finish_objects(e: Evaluator, body: Body, results: list[Value]) -> Abstract:
    """What a call of the body means here: its value, and the caller's objects afterwards."""
    leaves = dict(zip(map(id, body.results), results))
    ids: dict[Any, Any] = {}

    def rename(inner: Any) -> Any:
        if inner not in ids:
            if isinstance(inner, tuple) and inner[:1] == ("argument",):
                ids[inner] = body.order[inner[1]]
            else:
                ids[inner] = e.new_id("returned")
                e.heap[ids[inner]] = body.after[inner]
        return ids[inner]

    def leaf(v: Value) -> Value:
        return v if isinstance(v, Const) else leaves[id(v)]

    value = map_leaves(body.value, leaf, rename)
    for inner in list(body.after):
        rename(inner)
    for inner, record in body.after.items():
        e.heap[ids[inner]] = record.with_fields(map_leaves(x, leaf, rename) for x in record.fields)
    return value


class Gradients:
    """Turns the cotangents of parameters into values that mirror the arguments."""

    def __init__(self, d: Differentiated):
        self.args = d.body.args
        self.heap = d.body.heap
        # Per parameter that the value depends on: which of the cotangents is its.
        self.place = {id(d.params[k]): n for n, k in enumerate(d.adjoint.gradients)}
        self.params = d.params  # keeps the identities

    def mirror(self, e: Evaluator, cotangents: Sequence[Value]) -> list[Abstract]:
        return [self.of(e, a, cotangents) for a in self.args]

    def of(self, e: Evaluator, v: Abstract, cotangents: Sequence[Value]) -> Abstract:
        if isinstance(v, (Number, ArrayValue)):
            if id(v.value) not in self.place:
                return NONE
            d = cotangents[self.place[id(v.value)]]
            return ArrayValue(d) if isinstance(v, ArrayValue) else Number(d)
        if isinstance(v, MaybeValue):
            return self.of(e, v.item, cotangents)
        if isinstance(v, TupleValue):
            items = [self.of(e, i, cotangents) for i in v.items]
            return NONE if _all_none(items) else TupleValue(tuple(items))
        if isinstance(v, StructValue):
            return self._struct(e, v.cls, v.names, v.items, cotangents)
        if isinstance(v, FunctionValue):
            # By what it captured, under the names of the variables.
            parts = [self.of(e, c, cotangents) for c in v.captured]
            cls = closure_gradient_class(v.name, v.code.co_freevars)
            return NONE if _all_none(parts) else StructValue(cls, cls._fields, tuple(parts))  # type: ignore[attr-defined]
        if isinstance(v, Reference):
            record = self.heap[v.id]
            if record.kind == "cell":
                return self.of(e, record.fields[0], cotangents)
            if record.kind == "object":
                from zyg.typeof import struct_fields

                names = struct_fields(record.meta) or ()  # type: ignore[arg-type]
                return self._struct(e, record.meta, names, record.fields, cotangents)
            if record.kind == "list":
                items = [self.of(e, i, cotangents) for i in record.fields]
                if _all_none(items):
                    return NONE
                i = e.new_id("list")
                e.heap[i] = replace(record, fields=tuple(items))
                return Reference(i)
        return NONE

    def _struct(
        self, e: Evaluator, cls: Any, names: tuple[str, ...], items: Any, cotangents: Sequence[Value]
    ) -> Abstract:
        parts = [self.of(e, i, cotangents) for i in items]
        return NONE if _all_none(parts) else StructValue(gradient_class(cls, tuple(names)), tuple(names), tuple(parts))


def _all_none(items: Sequence[Abstract]) -> bool:
    return all(isinstance(i, Known) and i.object is None for i in items)


@cache
def gradient_class(cls: type, names: tuple[str, ...]) -> type:
    """The named tuple that holds the gradient by an instance of `cls`."""
    made = namedtuple(f"{cls.__name__}Gradient", names)  # type: ignore[misc]
    made.__module__ = cls.__module__
    return made


@cache
def closure_gradient_class(name: str, variables: tuple[str, ...]) -> type:
    """The named tuple that holds the gradient by what a function captured."""
    plain = "".join(c for c in name if c.isalnum() or c == "_").strip("_0123456789")
    return namedtuple(f"{plain or 'closure'}Gradient", variables, rename=True)  # type: ignore[misc,return-value]


# ------------------------------------------------------------------------------------ the public functions


def _real_scalar(what: str) -> Callable[[Evaluator, Body], None]:
    def check(e: Evaluator, body: Body) -> None:
        v = body.value
        if not body.results and v is NONE and _returns_nothing(body):
            return
        if isinstance(v, Number) and v.type is not BOOL:
            return
        if isinstance(v, ConflictValue):
            raise conflict(e, v)
        raise e.refuse(
            f"the {what} of a function whose value is not a real number",
            types=[describe(v, body.after)],
            hint="use zyg.pullback(f, *args), which takes a cotangent for the value, or zyg.jacobian(f, *args)",
        )

    return check


def _returns_nothing(body: Body) -> bool:
    """Whether no path of the function returns."""
    function = body.module.functions[body.name]
    return not any(i.op == "return" for _, i in function.instructions())


def _any_value(e: Evaluator, body: Body) -> None:
    """Any value has a pullback."""


def with_gradient(
    e: Evaluator,
    f: Abstract,
    args: list[Abstract],
    keywords: dict[str, Abstract],
    what: str = "gradient",
    chosen: Sequence[int] | None = None,
) -> tuple[Abstract, list[Abstract]]:
    """(value, gradient per positional argument)."""
    d = differentiate(e, f, args, keywords, False, _real_scalar(what), chosen)
    seeds: list[Value] = []
    if d.adjoint.seeds:
        seeds.append(const(1.0, cotangent_type(d.body.results[0].type)))
    results = call_copied(e, d.body.module, d.adjoint.function, [*d.body.operands, *seeds])
    if _returns_nothing(d.body):
        e.builder.append(Instr("unreachable"))
        raise Stop
    value = _finish_objects(e, d.body, results)
    return value, Gradients(d).mirror(e, results[len(d.body.results) :])


def _split_function(e: Evaluator, args: tuple[Abstract, ...], what: str) -> tuple[Abstract, list[Abstract]]:
    if not args:
        e.type_error(f"{what}() missing 1 required positional argument: 'function'")
    return args[0], list(args[1:])


def gradient(e: Evaluator, *args: Abstract, **keywords: Abstract) -> Abstract:
    f, rest = _split_function(e, args, "gradient")
    return TupleValue(tuple(with_gradient(e, f, rest, keywords)[1]))


def withgradient(e: Evaluator, *args: Abstract, **keywords: Abstract) -> Abstract:
    f, rest = _split_function(e, args, "withgradient")
    value, gradients = with_gradient(e, f, rest, keywords, "withgradient")
    return TupleValue((value, TupleValue(tuple(gradients))))


@dataclass(eq=False)
class Plan:
    """What a pullback is, apart from what it saved: its reverse function, the shape of the cotangent it takes and of what
    it gives.

    A `PullbackValue` holds what the reverse function takes, and then the lengths of the arrays in the value, in order:
    cotangents have to be of the same shape.
    """

    module: Module
    reverse: str
    unique: str
    name: str
    value: Abstract
    after: Heap
    outputs: list[Value]
    seeds: tuple[int, ...]
    gradients: Gradients
    saved: tuple[Type, ...]
    type: t.PullbackType | None = None

    def arrays(self) -> list[ArrayValue]:
        """The arrays in the value that take a cotangent."""
        wanted = {id(self.outputs[r]) for r in self.seeds}
        return [ArrayValue(v) for v in self.outputs if id(v) in wanted and isinstance(v.type, Array)]

    def type_of(self, v: PullbackValue) -> t.PullbackType:
        assert self.type is not None
        return self.type

    def call(self, e: Evaluator, v: PullbackValue, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
        if keywords or len(args) != 1:
            e.type_error(f"the pullback of {self.name} takes 1 argument, the cotangent of its value")
        count = len(v.saved) - sum(x.type.ndim for x in self.arrays())
        seeds = Seeds(self, e, iter(v.saved[count:])).of(args[0])
        results = call_copied(e, self.module, self.reverse, [*v.saved[:count], *seeds])
        return TupleValue(tuple(self.gradients.mirror(e, results)))


class Seeds:
    """Takes a cotangent apart into the seeds of a reverse function, as the value of the forward function was."""

    def __init__(self, plan: Plan, e: Evaluator, lengths: Iterator[Value]):
        self.plan = plan
        self.e = e
        self.by_value: dict[int, Value] = {}
        self.shapes = {id(a.value): [next(lengths) for _ in range(a.type.ndim)] for a in plan.arrays()}

    def of(self, cotangent: Abstract) -> list[Value]:
        self.match(self.plan.value, cotangent)
        seeds = []
        for r in self.plan.seeds:
            v = self.plan.outputs[r]
            found = self.by_value.get(id(v))
            seeds.append(found if found is not None else self.zero(v))
        return seeds

    def zero(self, v: Value) -> Value:
        if isinstance(v.type, Array):
            raise self.e.refuse(
                f"None as the cotangent of an array, the value of {self.plan.name}", hint="give an array of zeros"
            )
        return const(0.0, cotangent_type(v.type))

    def wrong(self, wanted: Abstract, given: Abstract) -> Exception:
        return self.e.refuse(
            f"a cotangent for {self.plan.name} of another structure than its value",
            types=[describe(given, self.e.heap)],
            hint=f"the value is {describe(wanted, self.plan.after)}; give a number for a number, an array for an array, a tuple "
            "for a tuple, None for zero",
        )

    def check_shape(self, wanted: ArrayValue, given: ArrayValue) -> None:
        for axis, length in enumerate(self.shapes.get(id(wanted.value), ())):
            found = self.e.op("dim", given.value, axis=axis)
            self.e.guard(
                self.e.op("eq", found, length),
                "ValueError",
                f"the cotangent of {self.plan.name} has another shape than its value: along axis {axis} its length is "
                "{}, not {}",
                found,
                length,
            )

    def match(self, wanted: Abstract, given: Abstract) -> None:
        e = self.e
        if isinstance(given, Known) and given.object is None:
            return
        if isinstance(wanted, Number):
            if not is_number(given):
                raise self.wrong(wanted, given)
            if differentiable(wanted.type):
                self.by_value[id(wanted.value)] = number_as(e, given, cotangent_type(wanted.type))
            return
        if isinstance(wanted, ArrayValue):
            if not isinstance(given, ArrayValue) or given.type.ndim != wanted.type.ndim:
                raise self.wrong(wanted, given)
            self.check_shape(wanted, given)
            self.by_value[id(wanted.value)] = array_seed(e, given, wanted.value, self.plan.name)
            return
        if isinstance(wanted, (TupleValue, StructValue)):
            items = items_of(e, given)
            names = wanted.names if isinstance(wanted, StructValue) else None
            if isinstance(given, StructValue) and names is not None:
                fields = dict(zip(given.names, given.items))
                if not set(fields) <= set(names):
                    raise self.wrong(wanted, given)
                for name, item in zip(names, wanted.items):
                    if name in fields:
                        self.match(item, fields[name])
                return
            if items is None or len(items) != len(wanted.items):
                raise self.wrong(wanted, given)
            for w, g in zip(wanted.items, items):
                self.match(w, g)
            return
        if isinstance(wanted, Reference):
            record = self.plan.after[wanted.id]
            items = items_of(e, given)
            if record.kind in ("list", "object") and items is not None and len(items) == len(record.fields):
                for w, g in zip(record.fields, items):
                    self.match(w, g)
                return
        raise self.wrong(wanted, given)


def items_of(e: Evaluator, v: Abstract) -> Sequence[Abstract] | None:
    """The items of a tuple, struct, or list of known length."""
    if isinstance(v, (TupleValue, StructValue)):
        return v.items
    if isinstance(v, Reference) and e.heap[v.id].kind in ("list", "object"):
        return e.heap[v.id].fields
    return None


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


def pullback(e: Evaluator, *args: Abstract, **keywords: Abstract) -> Abstract:
    f, rest = _split_function(e, args, "pullback")
    d = differentiate(e, f, rest, keywords, True, _any_value)
    results = call_copied(e, d.body.module, d.adjoint.forward, d.body.operands)
    if _returns_nothing(d.body):
        e.builder.append(Instr("unreachable"))
        raise Stop
    value = _finish_objects(e, d.body, results)
    saved = results[len(d.body.results) :]
    remove_unused(d.body.module, {d.adjoint.reverse})
    plan = Plan(
        d.body.module,
        d.adjoint.reverse,
        f"{d.adjoint.reverse}#{next(_numbers)}",
        _shown(f),
        d.body.value,
        d.body.after,
        d.body.results,
        d.adjoint.seeds,
        Gradients(d),
        d.adjoint.saved,
    )
    values = dict(zip(map(id, d.body.results), results))
    for array in plan.arrays():
        saved += [e.op("dim", values[id(array.value)], axis=axis) for axis in range(array.type.ndim)]
    plan.saved = tuple(v.type for v in saved)
    plan.type = _pullback_type(e, plan, d)
    return TupleValue((value, PullbackValue(plan, tuple(saved))))


def _pullback_type(e: Evaluator, plan: Plan, d: Differentiated) -> t.PullbackType:
    heap = e.heap
    e.heap = dict(heap) | plan.after
    reverse = plan.module.functions[plan.reverse]
    dummies = [Value(result, "") for result in reverse.results]
    gradients = disassemble(e, TupleValue(tuple(plan.gradients.mirror(e, dummies))), [])
    value = disassemble(e, plan.value, [])
    e.heap = heap
    return t.PullbackType(plan.unique, value, gradients, plan.saved, plan)


@dataclass(eq=False)
class TransformValue(CallableValue):
    """`zyg.grad(f)` and its like, made in compiled code: `function` may have captured values."""

    transform: Transform
    function: Abstract

    def head(self) -> Any:
        return ("transform", self.transform.kind, self.transform.argnums, self.transform.options)

    def parts(self) -> tuple[Any, ...]:
        return (self.function,)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return TransformValue(self.transform, parts[0])

    def call(self, e: Evaluator, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
        return call_transform(e, self.transform, args, keywords, self.function)


def value_and_grad(
    e: Evaluator, transform: Transform, f: Abstract, args: list[Abstract], keywords: dict[str, Abstract]
) -> tuple[Abstract, Abstract]:
    argnums = transform.argnums
    several = isinstance(argnums, tuple)
    chosen = [n + len(args) if n < 0 else n for n in (argnums if several else (argnums,))]
    for n in chosen:
        if not 0 <= n < len(args):
            e.type_error(
                f"{transform.kind} of {_name(f)} by argument {n}, but {len(args)} positional arguments were given"
            )
    value, gradients = with_gradient(e, f, args, keywords, transform.kind, chosen)
    picked = [gradients[n] for n in chosen]
    return value, TupleValue(tuple(picked)) if several else picked[0]


def derivative(e: Evaluator, f: Abstract, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    name = _shown(f)
    if len(args) != 1:
        e.type_error(
            f"derivative({name}) takes 1 argument, not {len(args)}: it is for functions of one variable; "
            f"use zyg.gradient({name}, ...) for more"
        )
    if not is_number(args[0]):
        raise e.refuse(
            f"derivative({name}) at something that is not a number",
            types=[describe(args[0], e.heap)],
            hint=f"use zyg.gradient({name}, x)",
        )
    _, (g,) = with_gradient(e, f, args, keywords, "derivative")
    return Number(const(0.0)) if g is NONE else g


def call_transform(
    e: Evaluator,
    transform: Transform,
    args: list[Abstract],
    keywords: dict[str, Abstract],
    function: Abstract | None = None,
) -> Abstract:
    """A call of something that zyg made: `jit(f)`, `grad(f)`, ..., or one of the public functions."""
    f = known(transform.function) if function is None else function
    context = e.context
    if transform.options is not None:
        context = Context(transform.options, context.level)
    with e.in_context(context):
        kind = transform.kind
        if kind == "jit":
            return e.call(f, args, keywords)
        if kind == "grad":
            return value_and_grad(e, transform, f, args, keywords)[1]
        if kind == "value_and_grad":
            return TupleValue(value_and_grad(e, transform, f, args, keywords))
        if kind == "derivative":
            return derivative(e, f, args, keywords)
        direct = {"gradient": gradient, "withgradient": withgradient, "pullback": pullback, "jacobian": jacobian}[kind]
        return direct(e, *args, **keywords)


def jacobian(e: Evaluator, *args: Abstract, **keywords: Abstract) -> Abstract:
    """By a pullback per element of the value."""
    f, rest = _split_function(e, args, "jacobian")
    pair = pullback(e, f, *rest, **keywords)
    assert isinstance(pair, TupleValue)
    value, back = pair.items
    if is_number(value):
        return e.call(back, [Number(const(1.0))])
    items = items_of(e, value)
    if items is not None and all(map(is_number, items)):
        rows = []
        for n in range(len(items)):
            seed = TupleValue(tuple(Number(const(1.0 if k == n else 0.0)) for k in range(len(items))))
            rows.append(e.call(back, [seed]))
        columns = []
        for k in range(len(rest)):
            columns.append(TupleValue(tuple(r.items[k] for r in rows if isinstance(r, TupleValue))))
        return TupleValue(tuple(columns))
    raise e.refuse(
        "zyg.jacobian, inside compiled code, of a function whose value is not a number or a tuple of numbers",
        types=[describe(value, e.heap)],
        hint="call zyg.jacobian from Python, or pull unit vectors back with zyg.pullback",
    )


# ------------------------------------------------------------------------------------------ custom rules


@dataclass(eq=False)
class RulePair:
    """A rule, inferred for arguments of certain types: the names of its functions and the shape of its value."""

    plain: str
    rule: Rule | None  # None for a rule that always raises
    value: Abstract
    after: Heap
    results: list[Value]


def call_with_rule(e: Evaluator, rule: UserRule, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    """A call, under differentiation, of a function that has a rule."""
    roots = [widened(e, v) for v in (*args, *keywords.values())]
    heap = {i: r.with_fields(widened(e, x) for x in r.fields) for i, r in reachable(roots, e.heap).items()}
    outline = Outline(heap)
    key = ("rule", rule.epoch, outline.of(roots), tuple(keywords), len(args), e.context)
    pair = e.inference.specialisations.get(key)
    if pair is None:
        pair = _infer_rule(e, rule, roots, len(args), tuple(keywords), heap, outline)
        e.inference.specialisations[key] = pair
    attrs = {} if pair.rule is None else {"rule": pair.rule}
    results = e.emit("call", *outline.leaves, types=tuple(v.type for v in pair.results), callee=pair.plain, **attrs)
    assert e.builder.block is not None
    e.calls.append((e.builder.block.instrs[-1], pair))
    if pair.rule is None:
        e.builder.append(Instr("unreachable"))
        raise Stop
    leaves = dict(zip(map(id, pair.results), results))
    leaf = lambda v: v if isinstance(v, Const) else leaves[id(v)]
    ids: dict[Any, Any] = {}
    for i, record in pair.after.items():
        ids[i] = e.new_id("returned")
        e.heap[ids[i]] = record
    for i, record in pair.after.items():
        e.heap[ids[i]] = record.with_fields(map_leaves(x, leaf, ids.__getitem__) for x in record.fields)
    return map_leaves(pair.value, leaf, ids.__getitem__)


def _infer_rule(
    e: Evaluator,
    rule: UserRule,
    roots: list[Abstract],
    count: int,
    keywords: tuple[str, ...],
    heap: Heap,
    outline: Outline,
) -> RulePair:
    name = f"{describe_callable(rule.target)}.rule"
    name = "".join(c if c.isalnum() or c in "_." else "_" for c in name)
    module = e.inference.module
    context = Context(e.options, e.context.level - 1)
    forward = Evaluator(e.inference, module.unique_name(f"{name}.forward"), context)
    module.add(forward.function)
    own, at_entry = _parameters(e, forward, roots, heap, outline)
    operands = list(forward.function.params)
    _check_parameters(e, rule, rule.function, count, keywords, "the rule for")
    try:
        made = forward.call(known(rule.function), own[:count], dict(zip(keywords, own[count:])))
    except Stop:
        return _raising_rule(forward)
    if not isinstance(made, TupleValue) or len(made.items) != 2:
        raise e.refuse(
            f"the rule for {describe_callable(rule.target)}, which does not return two things",
            types=[describe(made, forward.heap)],
            hint="return value, back",
        )
    if isinstance(made.items[0], ConflictValue):
        raise conflict(e, made.items[0])
    if not isinstance(made.items[1], FunctionValue) and not (
        isinstance(made.items[1], Known) and callable(made.items[1].object)
    ):
        raise e.refuse(
            f"the rule for {describe_callable(rule.target)}, whose second result is not a function",
            types=[describe(made.items[1], forward.heap)],
            hint="return value, back, where back takes the cotangent of the value and gives those of the arguments",
        )
    if isinstance(made.items[1], FunctionValue):
        _check_parameters(e, rule, made.items[1], 1, (), "the pullback of the rule for")
    value, back = widened(forward, made.items[0]), made.items[1]
    objects = {
        i: r.with_fields(widened(forward, x) for x in r.fields) for i, r in reachable([value], forward.heap).items()
    }
    if any(i in at_entry for i in objects):
        raise e.refuse(f"a rule for {describe_callable(rule.target)} whose value is an object that it was given")
    _same_objects(e, rule, at_entry, forward.heap)
    value_shape = Outline(objects)
    value_shape.of([value])
    stand_ins = [Value(v.type, v.name) for v in value_shape.leaves]
    following = iter(stand_ins)
    template = map_leaves(value, lambda _: next(following))
    after = {i: objects[i].with_fields(map_leaves(x, lambda _: next(following)) for x in objects[i].fields)
             for i in value_shape.order}  # fmt: skip
    back_heap = {
        i: r.with_fields(widened(forward, x) for x in r.fields) for i, r in reachable([back], forward.heap).items()
    }
    back = widened(forward, back)
    back_shape = Outline(back_heap)
    back_shape.of([back])
    reverse = Evaluator(e.inference, module.unique_name(f"{name}.reverse"), context)
    module.add(reverse.function)
    (own_back,), _ = _parameters(forward, reverse, [back], back_heap, back_shape)
    seeds = {id(v): Value(cotangent_type(v.type), f"d_{v.name}") for v in stand_ins if differentiable(v.type)}
    cotangent = _cotangent(template, after, seeds)
    try:
        given = reverse.call(own_back, [cotangent], {})
    except Stop:  # it raises, whatever its argument is: the types of what it would give are those of the arguments
        gradients = [k for k, v in enumerate(operands) if differentiable(v.type)]
        reverse.function.results = tuple(cotangent_type(operands[k].type) for k in gradients)
    else:
        leaves, gradients = _rule_gradients(e, reverse, rule, given, own[:count], at_entry, operands)
        reverse.builder.ret(*leaves)
        reverse.function.results = tuple(v.type for v in leaves)
    saved = list(back_shape.leaves)
    for entry, _ in reverse.inputs.values():
        extra: list[Value] = []
        disassemble(forward, forward.input(entry.kind, entry.container, entry.name, entry.type), extra)
        saved.extend(extra)
    for key in reverse.inputs:
        reverse.function.params.extend(reverse.input_leaves[key])
    reverse.inputs.clear()
    reverse.function.params.extend(seeds.values())
    forward.builder.ret(*value_shape.leaves, *saved)
    forward.function.results = tuple(v.type for v in (*value_shape.leaves, *saved))
    plain = Evaluator(e.inference, module.unique_name(name), context)
    module.add(plain.function)
    for p in forward.function.params:
        plain.function.params.append(Value(p.type, p.name))
    results = plain.emit("call", *plain.function.params, types=forward.function.results, callee=forward.function.name)
    assert plain.builder.block is not None
    plain.calls.append((plain.builder.block.instrs[-1], None))
    plain.builder.ret(*results[: len(value_shape.leaves)])
    plain.function.results = tuple(v.type for v in value_shape.leaves)
    pair_rule = Rule(forward.function.name, reverse.function.name, tuple(gradients))
    return RulePair(plain.function.name, pair_rule, template, after, stand_ins)


def _raising_rule(forward: Evaluator) -> RulePair:
    """A rule that raises, whatever its arguments are: so does the call."""
    return RulePair(forward.function.name, None, NONE, {}, [])


def _check_parameters(e: Evaluator, rule: UserRule, f: Any, count: int, keywords: tuple[str, ...], what: str) -> None:
    """Whether a rule, or what it returns, can be called with so many arguments."""
    code = f.code if isinstance(f, FunctionValue) else getattr(f, "__code__", None)
    if code is None:
        return
    defaults = len(f.defaults) if isinstance(f, FunctionValue) else len(getattr(f, "__defaults__", None) or ())
    takes_any = bool(code.co_flags & inspect.CO_VARARGS)
    if count > code.co_argcount and not takes_any or count + len(keywords) < code.co_argcount - defaults:
        raise e.refuse(
            f"{what} {describe_callable(rule.target)}, which takes {code.co_argcount} positional arguments where {count} "
            "are given",
            hint="a rule takes the arguments of its function; what it returns takes one, the cotangent of the value",
        )


def _positional(function: Any) -> int | None:
    """How many positional parameters a function has; None if it takes any number, or does not tell."""
    code = getattr(function, "__code__", None)
    return None if code is None or code.co_flags & inspect.CO_VARARGS else code.co_argcount


def _cotangent(v: Abstract, heap: Heap, seeds: dict[int, Value]) -> Abstract:
    """The cotangent that a rule gets for its value: numbers for numbers, and so on, with fields by name for structs."""
    if isinstance(v, Number):
        return Number(seeds[id(v.value)]) if id(v.value) in seeds else NONE
    if isinstance(v, ArrayValue):
        return ArrayValue(seeds[id(v.value)]) if id(v.value) in seeds else NONE
    if isinstance(v, TupleValue):
        return TupleValue(tuple(_cotangent(i, heap, seeds) for i in v.items))
    if isinstance(v, StructValue):
        items = tuple(_cotangent(i, heap, seeds) for i in v.items)
        return StructValue(gradient_class(v.cls, v.names), v.names, items)
    if isinstance(v, Reference) and heap[v.id].kind in ("object", "list"):
        record = heap[v.id]
        items = tuple(_cotangent(i, heap, seeds) for i in record.fields)
        if record.kind == "list":
            return TupleValue(items)
        from zyg.typeof import struct_fields

        names = struct_fields(record.meta) or ()  # type: ignore[arg-type]
        return StructValue(gradient_class(record.meta, names), names, items)  # type: ignore[arg-type]
    return NONE


def _parameters(
    outer: Evaluator, inner: Evaluator, roots: list[Abstract], heap: Heap, outline: Outline
) -> tuple[list[Abstract], Heap]:
    """Parameters of a function under construction for the leaves of these values."""
    inner.builder.position = outer.builder.position
    inner.depth = outer.depth + 1
    names = iter(outline.leaves)

    def parameter(_: Value) -> Value:
        given = next(names)
        value = Value(given.type, given.name)
        inner.function.params.append(value)
        return value

    rename = lambda i: ("argument", outline.numbers[i])
    own = [map_leaves(r, parameter, rename) for r in roots]
    for i in outline.order:
        inner.heap[rename(i)] = heap[i].with_fields(map_leaves(x, parameter, rename) for x in heap[i].fields)
    return own, dict(inner.heap)


def _same_objects(e: Evaluator, rule: UserRule, before: Heap, after: Heap) -> None:
    from zyg.frontend.values import same_heap

    if not same_heap(before, {i: after[i] for i in before}):
        raise e.refuse(
            f"the rule for {describe_callable(rule.target)}, which changes an object that it was given",
            hint="return the new value instead",
        )


def _rule_gradients(
    e: Evaluator,
    reverse: Evaluator,
    rule: UserRule,
    given: Abstract,
    own: list[Abstract],
    heap: Heap,
    params: list[Value],
) -> tuple[list[Value], list[int]]:
    """The leaves of what a rule's `back` returns, and which operand of the call each belongs to; `own` are the arguments
    in terms of `params`, and `heap` the objects that they reach."""
    name = describe_callable(rule.target)
    if not own and isinstance(given, Known) and given.object is None:
        return [], []
    if isinstance(given, TupleValue) and len(given.items) > len(own) and len(given.items) == _positional(rule.function):
        given = TupleValue(given.items[: len(own)])  # entries for parameters that this call leaves to their defaults
    if not isinstance(given, TupleValue) or len(given.items) != len(own):
        raise e.refuse(
            f"the rule for {name}, whose pullback does not return one entry for each of the {len(own)} positional arguments",
            types=[describe(given, reverse.heap)],
            hint="return a tuple with a cotangent per argument, None for those without: lambda d: (d, d)",
        )
    leaves: list[Value] = []
    indices: list[int] = []
    index = {id(v): k for k, v in enumerate(params)}

    def match(wanted: Abstract, item: Abstract, what: str) -> None:
        if isinstance(item, Known) and item.object is None:
            return
        if isinstance(wanted, Number) and is_number(item):
            if differentiable(wanted.type):
                leaves.append(number_as(reverse, item, cotangent_type(wanted.type)))
                indices.append(index[id(wanted.value)])
            return
        if isinstance(wanted, ArrayValue) and isinstance(item, ArrayValue) and item.type.ndim == wanted.type.ndim:
            leaves.append(array_seed(reverse, item, wanted.value, name))
            indices.append(index[id(wanted.value)])
            return
        items = items_of(reverse, item)
        if isinstance(wanted, FunctionValue) and items is not None and len(items) == len(wanted.captured):
            for variable, w, x in zip(wanted.code.co_freevars, wanted.captured, items):
                if isinstance(w, Reference) and heap[w.id].kind == "cell":
                    w = heap[w.id].fields[0]
                match(w, x, f"'{variable}', captured by {what},")
            return
        if isinstance(wanted, (TupleValue, StructValue)) and items is not None:
            if isinstance(wanted, StructValue):
                fields = _field_names(reverse, item)
                if fields is not None:
                    by_name = dict(zip(wanted.names, wanted.items))
                    for n, x in zip(fields, items):
                        if n not in by_name:
                            break
                        match(by_name[n], x, f"{what}.{n}")
                    else:
                        return
            if len(items) == len(wanted.items):
                for n, (w, x) in enumerate(zip(wanted.items, items)):
                    match(w, x, f"{what}[{n}]")
                return
        if isinstance(wanted, Reference) and items is not None and len(items) == len(heap[wanted.id].fields):
            for n, (w, x) in enumerate(zip(heap[wanted.id].fields, items)):
                match(w, x, f"{what}[{n}]")
            return
        raise e.refuse(
            f"the cotangent of {what} that the rule for {name} gives",
            types=[describe(item, reverse.heap)],
            hint="give a cotangent of the structure of the argument, or None",
        )

    for n, (w, item) in enumerate(zip(own, given.items)):
        match(w, item, f"argument {n + 1}")
    return leaves, indices


def _field_names(e: Evaluator, v: Abstract) -> tuple[str, ...] | None:
    if isinstance(v, StructValue):
        return v.names
    if isinstance(v, Reference) and e.heap[v.id].kind == "object":
        from zyg.typeof import struct_fields

        return struct_fields(e.heap[v.id].meta)  # type: ignore[arg-type]
    return None


# ---------------------------------------------------------------------------------- reflection, and stopping


def _transform(e: Evaluator, kind: str, function: Abstract, argnums: Abstract = FIRST) -> Abstract:
    """`zyg.grad(f, argnums)` and its like, called in compiled code."""
    numbers = argnums.items if isinstance(argnums, TupleValue) else (argnums,)
    if not all(isinstance(n, Known) and type(n.object) is int for n in numbers):
        raise e.refuse(f"argnums of {kind} that are not known when compiling", hint="write the numbers")
    found = tuple(n.object for n in numbers if isinstance(n, Known))
    return TransformValue(Transform(kind, None, found if isinstance(argnums, TupleValue) else found[0]), function)


def _register() -> None:
    import zyg

    @emits(zyg.grad)
    def grad(e: Evaluator, function: Abstract, argnums: Abstract = FIRST) -> Abstract:
        return _transform(e, "grad", function, argnums)

    @emits(zyg.value_and_grad)
    def value_and_grad(e: Evaluator, function: Abstract, argnums: Abstract = FIRST) -> Abstract:
        return _transform(e, "value_and_grad", function, argnums)

    @emits(zyg.derivative)
    def derivative(e: Evaluator, function: Abstract) -> Abstract:
        return _transform(e, "derivative", function)

    @emits(zyg.jit)
    def jit(e: Evaluator, function: Abstract) -> Abstract:
        return function

    @emits(zyg.isderiving)
    def isderiving(e: Evaluator) -> Abstract:
        return Known(e.context.level > 0)

    @emits(zyg.nestlevel)
    def nestlevel(e: Evaluator) -> Abstract:
        return Known(e.context.level)

    @emits(zyg.stop_gradient)
    def stop_gradient(e: Evaluator, x: Abstract) -> Abstract:
        return map_leaves(x, lambda v: v if isinstance(v, Const) else e.op("stop", v, name=v.name))


_register()

__all__ = ["F32", "Plan", "call_transform", "call_with_rule", "gradient", "jacobian", "pullback", "withgradient"]
