"""Reverse mode inside compiled code, which is also how it is done at top level: `zyg.gradient(f, x)` compiles this very call.

The function to differentiate is inferred on its own, at one level more, into a module of its own (`bodies`); the adjoint pass
runs there; and what it made is copied into the module under construction and called.  So the result is typed SSA like any
other, and derivatives nest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from zyg.autodiff.activity import Summary, differentiable, summarise
from zyg.autodiff.adjoint import Adjoint, adjoint
from zyg.autodiff.helpers import two_arrays
from zyg.errors import Misuse, final_refusals
from zyg.frontend import meeting
from zyg.frontend.evaluator import Evaluator
from zyg.frontend.frames import Stop
from zyg.frontend.merging import conflict
from zyg.frontend.values import (
    NONE,
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    ConflictValue,
    Heap,
    Number,
    Reference,
    TupleValue,
    describe,
    is_choice_of_data,
    map_leaves,
    reachable,
)
from zyg.ir.core import Const, Instr, Value, const
from zyg.ir.passes import optimise
from zyg.ir.records import record
from zyg.ir.types import BOOL, Array, cotangent_type
from zyg.transforms import by_name_alone

from .bodies import Body, call_copied, infer_body, shown
from .cotangents import Gradients, leaves_of


@record
class Differentiated:
    """A body with its adjoint; `dependent` are the indices of the parameters that a differentiable path leads from."""

    body: Body
    adjoint: Adjoint
    dependent: set[int]
    params: list[Value]

    def gradients(self) -> Gradients:
        return Gradients(self.body, self.params, self.adjoint.gradients)


def differentiate(
    e: Evaluator,
    f: Abstract,
    args: list[Abstract],
    keywords: dict[str, Abstract],
    split: bool,
    check: Callable[[Evaluator, Body], None],
    chosen: Sequence[int] | None = None,
    implicit: bool = False,
    has_aux: bool = False,
) -> Differentiated:
    """`implicit`: by all arrays that the function uses without taking them as arguments. `has_aux`: of the first item of its value."""
    not_none = "" if split else f"the value of {shown(f)} is None; its gradient takes a number"
    first = (lambda v: v.items[0] if isinstance(v, TupleValue) and v.items else v) if has_aux else (lambda v: v)
    body = infer_body(e, f, args, keywords, e.context.level + 1, not_none, seeded=None if split else first)
    if not body.results and body.value is NONE:
        pass  # it raises always, or gives nothing: `check` says what that means
    if not has_aux and body.real is None:
        _refuse_choice(e, body.value, body.after)
    check(e, body)
    outputs: Sequence[int] = range(body.outputs)
    if has_aux and isinstance(body.value, TupleValue):  # (a constant is no output)
        outputs = [k for k in outputs if body.results[k] in leaves_of(body.value.items[0], body.heap)][:1]
    if body.real is not None:
        outputs = [len(body.results) - 1]
    module, name = body.module, body.name
    params = list(module.functions[name].params)
    if implicit:
        body.args = [ArrayValue(p) for p in params if isinstance(p.type, Array) and differentiable(p.type)]
    wanted = {id(v) for n, a in enumerate(body.args) if chosen is None or n in chosen for v in leaves_of(a, body.heap)}
    # By the code as it is written: what the optimiser sees through does not decide whether a gradient is None.
    results = summarise(module, name)[name].results
    bits = 0
    for r in outputs:
        bits |= results[r]
    dependent = {k for k, p in enumerate(params) if id(p) in wanted and bits >> k & 1 and differentiable(p.type)}
    optimise(module, "clean")
    # By the optimised code: without inlining, what a call gives might be any of its arguments, and be written to.
    summaries: dict[str, Summary] | None = summarise(module, name)
    refuse_overlap(e, body, params, summaries[name])
    if any(i.op == "checkpoint" for f in module.functions.values() for _, i in f.instructions()):
        from zyg.autodiff import checkpointing  # on demand: it is a large module, with the parser of SSA

        checkpointing.outline(module, name)
        summaries = None
    wrt = [k in dependent for k in range(len(params))]
    with final_refusals():
        made = adjoint(module, name, wrt, split, outputs, summaries)
    return Differentiated(body, made, dependent, params)


def _refuse_choice(e: Evaluator, value: Abstract, heap: Heap) -> None:
    """What it is, or what is in it, decides what its cotangent would be."""
    records = [r.fields for r in reachable([value], heap).values()]
    for part in [value, *itertools.chain.from_iterable(records)]:
        if isinstance(part, Abstract):
            _refuse_choice_within(e, part)


def _refuse_choice_within(e: Evaluator, value: Abstract) -> None:
    if is_choice_of_data(value):
        raise e.refuse(
            "a derivative of a value that is a number or an array of this or that kind, as turns out when it runs",
            types=[describe(value)],
            hint="give it one type and number of dimensions",
        )
    for part in value.parts():
        if isinstance(part, Abstract):
            _refuse_choice_within(e, part)


def refuse_overlap(e: Evaluator, body: Body, params: list[Value], summary: Summary) -> None:
    """Arrays that overlap may not be written under differentiation: their shadows would have to overlap too."""
    arrays = [k for k, p in enumerate(params) if isinstance(p.type, Array) and differentiable(p.type)]
    for n, k in enumerate(arrays):
        if k in summary.changed:
            _refuse_self_overlap(e, body.operands[k], params[k].name)
        for other in arrays[n + 1 :]:
            if k in summary.changed or other in summary.changed:
                apart = e.op("not", e.op("overlap", body.operands[k], body.operands[other]))
                e.guard(apart, "ValueError", f"{two_arrays(params[k], params[other])} overlap in memory and are written: "
                        "the derivative needs arrays that are apart; pass a copy")  # fmt: skip


def _refuse_self_overlap(e: Evaluator, array: Value, name: str | None) -> None:
    """Elements of an array that is written may not share memory (as those of `as_strided` may): those of its shadow do
    not.  They are apart if each dimension steps over all that lies in those of smaller steps, or if there are none."""
    assert isinstance(array.type, Array)
    if array.type.layout == "C":
        return
    itemsize = const(array.type.dtype.bits // 8)
    dims = [e.op("dim", array, axis=k) for k in range(array.type.ndim)]
    steps = [e.op("abs", e.op("stride", array, axis=k)) for k in range(array.type.ndim)]
    trivial = [e.op("le", d, const(1)) for d in dims]
    extents = [e.op("mul", step, e.op("sub", d, const(1))) for step, d in zip(steps, dims)]
    none: Value = const(False)
    for d in dims:
        none = e.op("or", none, e.op("eq", d, const(0)))
    apart: Value = const(True)
    for k, step in enumerate(steps):
        within: Value = itemsize
        for other in range(len(steps)):
            if other != k:
                below = e.op("and", e.op("not", trivial[other]), e.op("le", steps[other], step))
                within = e.op("add", within, e.op("select", below, extents[other], const(0)))
        condition = e.op("or", trivial[k], e.op("ge", step, within))
        apart = condition if isinstance(apart, Const) else e.op("and", apart, condition)
    e.guard(e.op("or", none, apart), "ValueError", f"elements of {'an array' if not name else f'the array {name}'} overlap in memory and are written: the derivative needs "
            "elements that are apart; pass a copy")  # fmt: skip


def finish_objects(e: Evaluator, body: Body, results: list[Value]) -> Abstract:
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
    for inner, found in body.after.items():
        if inner in body.unchanged:
            continue
        e.heap[ids[inner]] = found.with_fields(map_leaves(x, leaf, rename) for x in found.fields)
    return value


SECOND = ("hvp", "hessian")


def real_scalar(what: str, has_aux: bool = False) -> Callable[[Evaluator, Body], None]:
    def check(e: Evaluator, body: Body) -> None:
        v = body.value
        if has_aux and not returns_nothing(body):
            if not isinstance(v, TupleValue) or len(v.items) != 2:
                what_is_wrong = f"the {what} with has_aux of a function whose value is no pair"
                raise Misuse(what_is_wrong, e.position, types=[describe(v, body.after)], hint="return value, aux")
            v = v.items[0]
        if not body.results and v is NONE and returns_nothing(body):
            return
        if isinstance(v, Number) and v.type is not BOOL or body.real is not None:
            return
        if isinstance(v, ConflictValue):
            raise conflict(e, v)
        if v is NONE and _may_raise(body):
            raise e.refuse(f"the {what} of a function that raises, or else has the value None", hint="return a number")
        if isinstance(v, ComplexValue) and not all(issubclass(c, complex) for c in meeting.classes_of(v)):
            raise e.refuse(
                f"the {what} of a function whose value is a real number on one path and a complex one on another",
                hint="return the real part on each path, or a complex number on each, for zyg.pullback",
            )
        hint = "use zyg.pullback(f, *args), which takes a cotangent for the value"
        if what in SECOND:
            hint = f"return a number, such as its sum or one of its elements: the {what} is of functions that give one"
        elif isinstance(v, Reference) and body.after[v.id].kind == "iterator":
            hint = "go through it there: return the sum of its items"
        elif v is NONE:
            hint = "return a number: a function without `return` has the value None"
        elif isinstance(v, (ArrayValue, ComplexArrayValue)):
            hint = "return a number, such as its sum or one of its elements; or " + hint + ", or zyg.jacobian(f, *args)"
        elif not isinstance(v, ComplexValue):
            hint += ", or zyg.jacobian(f, *args)"
        raise Misuse(
            f"the {what} of a function whose value is not a real number",
            e.position,
            types=[describe(v, body.after)],
            hint=hint,
        )

    return check


def _may_raise(body: Body) -> bool:
    """Whether the function may raise before it returns, which is what happens then."""
    function = body.module.functions[body.name]
    return any(i.op in ("raise", "reraise", "guard", "pycall") for _, i in function.instructions())


def returns_nothing(body: Body) -> bool:
    """Whether no path of the function returns."""
    function = body.module.functions[body.name]
    return not any(i.op == "return" for _, i in function.instructions())


def with_gradient(
    e: Evaluator,
    f: Abstract,
    args: list[Abstract],
    keywords: dict[str, Abstract],
    what: str = "gradient",
    chosen: Sequence[int] | None = None,
    has_aux: bool = False,
) -> tuple[Abstract, list[Abstract]]:
    """(value, gradient per positional argument)."""
    return gradient_of(
        e, differentiate(e, f, args, keywords, False, real_scalar(what, has_aux), chosen, False, has_aux)
    )


def gradient_of(e: Evaluator, d: Differentiated) -> tuple[Abstract, list[Abstract]]:
    seeds: list[Value] = []
    if d.adjoint.seeds:
        seeds.append(const(1.0, cotangent_type(d.body.results[d.adjoint.seeds[0]].type)))
    results = call_copied(e, d.body.module, d.adjoint.function, [*d.body.operands, *seeds], moved=True)
    if returns_nothing(d.body):
        e.builder.append(Instr("unreachable"))
        raise Stop
    value = finish_objects(e, d.body, results)
    return value, d.gradients().mirror(e, results[len(d.body.results) :])


def split_function(
    e: Evaluator, args: tuple[Abstract, ...], keywords: dict[str, Abstract], what: str
) -> tuple[Abstract, list[Abstract]]:
    if not args:
        e.type_error(f"{what}() missing 1 required positional argument: 'function'")
    if keywords and len(args) == 1:
        e.type_error(by_name_alone(what, shown(args[0]), keywords))
    return args[0], list(args[1:])


def gradient(e: Evaluator, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    f, rest = split_function(e, args, keywords, "gradient")
    return TupleValue(tuple(with_gradient(e, f, rest, keywords)[1]))


def withgradient(e: Evaluator, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    f, rest = split_function(e, args, keywords, "withgradient")
    value, gradients = with_gradient(e, f, rest, keywords, "withgradient")
    return TupleValue((value, TupleValue(tuple(gradients))))
