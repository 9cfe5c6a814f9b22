"""Derivatives as functions (`zyg.grad(f)` and its like) and what a call of each of zyg's own public functions means in compiled
code."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from zyg.errors import Misuse
from zyg.frontend.evaluator import Evaluator
from zyg.frontend.frames import Context
from zyg.frontend.values import (
    NONE,
    Abstract,
    CallableValue,
    ComplexValue,
    Known,
    Number,
    TupleValue,
    describe,
    is_number,
    known,
)
from zyg.ir.core import const
from zyg.ir.records import record
from zyg.params import Params
from zyg.transforms import ARGNUMS, DIRECT_KINDS, Argnums, Transform, argument_places, as_said, checked_argnums, chosen

from .bodies import shown
from .cotangents import items_of
from .gradients import with_gradient
from .registry import emits

FIRST, FALSE = Known(0), Known(False)
# Where the emitters of public functions are; modules that are loaded by need.
DIRECT = {
    "gradient": "gradients",
    "withgradient": "gradients",
    "pullback": "pullbacks",
    "jvp": "tangents",
    "implicit_gradient": "implicit",
    "implicit_pullback": "implicit",
}


@record(eq=False)
class TransformValue(CallableValue):
    """`zyg.grad(f)` and its like, made in compiled code: `function` may have captured values."""

    transform: Transform
    function: Abstract

    def head(self) -> Any:
        transform = self.transform
        return ("transform", transform.kind, transform.argnums, transform.options, transform.has_aux, transform.asked)

    def parts(self) -> tuple[Any, ...]:
        return (self.function,)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return TransformValue(self.transform, parts[0])

    def call(self, e: Evaluator, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
        return call_transform(e, self.transform, args, keywords, self.function)


def value_and_grad(
    e: Evaluator, transform: Transform, f: Abstract, args: list[Abstract], keywords: dict[str, Abstract]
) -> tuple[Abstract, Abstract]:
    numbers = _chosen(e, transform.kind, transform.argnums, f, args)
    asked = transform.asked or transform.kind
    value, gradients = with_gradient(e, f, args, keywords, asked, numbers, transform.has_aux)
    picked = [gradients[n] for n in numbers]
    return value, TupleValue(tuple(picked)) if isinstance(transform.argnums, tuple) else picked[0]


def _chosen(e: Evaluator, kind: str, argnums: Argnums, f: Abstract, args: list[Abstract]) -> tuple[int, ...]:
    try:
        return chosen(kind, argnums, shown(f), len(args))
    except TypeError as error:
        e.type_error(str(error))
        raise
    except ValueError as error:
        e.throw("ValueError", str(error))
        raise


def by_arguments(
    e: Evaluator, kind: str, argnums: Argnums, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """A call of one of the drivers that take `argnums`."""
    keywords = dict(keywords)
    if "argnums" in keywords:
        said = keywords.pop("argnums")
        argnums = None if said is NONE and kind == "jacobian" else _constant(e, kind, said)
    if not args:
        e.type_error(f"{kind}() missing 1 required positional argument: 'function'")
    f, *given = args
    direction = []
    if kind == "hvp":
        if len(given) < 2:
            e.type_error("hvp takes a function, its arguments, and a direction behind these: zyg.hvp(f, x, v)")
        *given, v = given
        direction = [v]
    numbers = _chosen(e, kind, argnums, f, given)
    driver = getattr(import_module(".drivers", __package__), kind)
    return e.call(
        known(driver),
        [
            f,
            TupleValue(tuple(given)),
            *direction,
            known(as_said(numbers, argnums)),
            known(argument_places(numbers, len(given))),
        ],
        keywords,
    )


def derivative(e: Evaluator, f: Abstract, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    name = shown(f)
    if len(args) != 1:
        e.type_error(
            f"derivative({name}) takes 1 argument, not {len(args)}: it is for functions of one variable; "
            f"use zyg.gradient({name}, ...) for more"
        )
    if isinstance(args[0], ComplexValue):
        e.type_error(
            f"derivative({name}) at a complex number: use zyg.gradient({name}, z) if the value is real, or zyg.pullback({name}, z)"
        )
    if not is_number(args[0]):
        raise Misuse(
            f"derivative({name}) at something that is not a number",
            e.position,
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
    if transform.kind in DIRECT_KINDS and any(isinstance(v, Known) and isinstance(v.object, Params) for v in args):
        said = f"{transform.kind} by Params in native code"
        raise e.refuse(said, hint="call it from Python, or pass the arrays as arguments")
    f = known(transform.function) if function is None else function
    context = e.context
    if transform.options is not None:
        context = Context(transform.options, context.level, context.forwards)
    with e.in_context(context):
        kind = transform.kind
        if kind == "jit":
            return e.call(f, args, keywords)
        if kind == "grad":
            value, gradients = value_and_grad(e, transform, f, args, keywords)
            return TupleValue((gradients, value.parts()[1])) if transform.has_aux else gradients
        if kind == "value_and_grad":
            return TupleValue(value_and_grad(e, transform, f, args, keywords))
        if kind == "derivative":
            return derivative(e, f, args, keywords)
        if kind in ARGNUMS:
            return by_arguments(e, kind, transform.argnums, args, keywords)
        home = DIRECT.get(kind)
        if home is not None:
            return getattr(import_module(f".{home}", __package__), kind)(e, *args, **keywords)
        drivers = import_module(".drivers", __package__)
        return e.call(known(getattr(drivers, kind)), args, keywords)


def _transform(
    e: Evaluator, kind: str, function: Abstract, argnums: Abstract = FIRST, has_aux: Abstract = FALSE, asked: str = ""
) -> Abstract:
    """`zyg.grad(f, argnums)` and its like, called in compiled code."""
    if not isinstance(has_aux, Known) or not isinstance(has_aux.object, bool):
        raise e.refuse(f"has_aux of {kind} that is not known when compiling", hint="write True or False")
    made = Transform(kind, None, _constant(e, kind, argnums), has_aux=has_aux.object, asked=asked)
    return TransformValue(made, function)


def slope(e: Evaluator, function: Abstract, argnums: Abstract, asked: Abstract) -> Abstract:
    """`drivers.slope`."""
    assert isinstance(asked, Known)
    return _transform(e, "grad", function, argnums, asked=asked.object)


def _constant(e: Evaluator, kind: str, argnums: Abstract) -> Argnums:
    """What compiled code says for `argnums`."""
    items = items_of(e, argnums)
    numbers = [n.object for n in ((argnums,) if items is None else items) if isinstance(n, Known)]
    if len(numbers) != (1 if items is None else len(items)):
        raise e.refuse(f"argnums of {kind} that are not known when compiling", hint="write the numbers")
    try:
        return checked_argnums(numbers[0] if items is None else numbers)
    except (TypeError, ValueError) as error:
        e.throw(type(error).__name__, str(error))
        raise


def _register() -> None:
    import zyg

    @emits(zyg.grad)
    def grad(e: Evaluator, function: Abstract, argnums: Abstract = FIRST, *, has_aux: Abstract = FALSE) -> Abstract:
        return _transform(e, "grad", function, argnums, has_aux)

    @emits(zyg.value_and_grad)
    def value_and_grad(
        e: Evaluator, function: Abstract, argnums: Abstract = FIRST, *, has_aux: Abstract = FALSE
    ) -> Abstract:
        return _transform(e, "value_and_grad", function, argnums, has_aux)

    @emits(zyg.derivative)
    def derivative(e: Evaluator, function: Abstract) -> Abstract:
        return _transform(e, "derivative", function)

    @emits(zyg.jit)
    def jit(e: Evaluator, function: Abstract) -> Abstract:
        return function


_register()
