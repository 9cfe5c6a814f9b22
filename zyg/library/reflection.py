"""What differentiated code can ask, how it stops a derivative, and loops that it wants checkpointed."""

from __future__ import annotations

import math
import types
from dataclasses import replace
from typing import Any

from zyg.errors import Misuse, Unsupported
from zyg.frontend import iterators
from zyg.frontend.boundary import disassemble
from zyg.frontend.evaluator import Evaluator
from zyg.frontend.exceptions import python_call
from zyg.frontend.frames import Stop
from zyg.frontend.later import lists
from zyg.frontend.scalars import scalar_value, to_int
from zyg.frontend.values import (
    MUTABLE_KINDS,
    NONE,
    READ_ONLY,
    STAND_IN,
    Abstract,
    ArrayValue,
    ComplexValue,
    ConflictValue,
    FunctionValue,
    Known,
    MethodValue,
    Number,
    Record,
    describe,
    is_number,
    map_leaves,
    reachable,
)
from zyg.ir.core import Const, Instr, Value, const
from zyg.ir.plainly import get_plainly, has_plainly
from zyg.ir.types import F64, I64, Array

from . import hooks
from .bodies import Body, call_copied, infer_body, shown
from .gradients import finish_objects, returns_nothing
from .registry import emits


def _stopped(e: Evaluator, x: Abstract) -> Abstract:
    """The value without its derivative: arrays and objects in it are copies, objects ones that must not be changed."""
    twins: dict[Value, Value] = {}

    def leaf(v: Value) -> Value:
        if isinstance(v, Const):
            return v
        if isinstance(v.type, Array):
            from .tangents import twin  # on demand: it loads what forward mode needs

            if v not in twins:
                twins[v] = twin(e, v)
            v = twins[v]
        return e.op("stop", v, name=v.name)

    objects = {i: r for i, r in reachable([x], e.heap).items() if r.kind in MUTABLE_KINDS}
    ids = {i: e.new_id("stopped") for i in objects}
    rename = lambda i: ids.get(i, i)
    for i, found in objects.items():
        fields = tuple(map_leaves(f, leaf, rename) for f in found.fields)
        e.heap[ids[i]] = Record(found.kind, found.meta, fields, READ_ONLY | STAND_IN if e.context.level else STAND_IN)
    return map_leaves(x, leaf, rename)


def _register() -> None:
    import zyg

    @emits(zyg.isderiving)
    def isderiving(e: Evaluator) -> Abstract:
        return Known(e.context.level > 0)

    @emits(zyg.nestlevel)
    def nestlevel(e: Evaluator) -> Abstract:
        return Known(e.context.level)

    @emits(zyg.stop_gradient)
    def stop_gradient(e: Evaluator, x: Abstract) -> Abstract:
        return _stopped(e, x)

    @emits(hooks.through)
    def through(e: Evaluator, function: Abstract, d: Abstract) -> Abstract:
        return _through(e, function, d)

    @emits(zyg.checkpoint)
    def checkpoint(e: Evaluator, function: Abstract, *args: Abstract) -> Abstract:
        if e.context.level == 0:
            return e.call(function, list(args))
        return _call_body(e, infer_body(e, function, list(args), {}, e.context.level, ""), checkpoint=True)

    @emits(zyg.checkpointed)
    def checkpointed(
        e: Evaluator, iterable: Abstract, every: Abstract = NONE, *, snapshots: Abstract = NONE
    ) -> Abstract:
        for name, v in (("every", every), ("snapshots", snapshots)):
            if not _is_none(v):
                if not is_number(v):
                    e.type_error(f"{name} is a number of {'iterations' if name == 'every' else 'states'}")
                e.guard(e.builder.arith("ge", to_int(e, v), const(1)), "ValueError", f"{name} is at least 1")
        if not _is_none(every) and not _is_none(snapshots):
            e.type_error("checkpointed takes either every= or snapshots=")
        if e.context.level == 0 or _is_none(every) and iterators.is_iterator(e, iterable):
            return iterable
        if not _is_none(every):
            return _checkpointed_iterator(e, iterable, "every", every)
        length = lists.length(e, iterable)
        if not _is_none(snapshots):
            return _checkpointed_iterator(e, iterable, "binomial", length, snapshots)
        if isinstance(length, Known):
            return _checkpointed_iterator(e, iterable, "every", Known(max(1, math.isqrt(length.object))))
        root = e.op("sqrt", e.op("cast", to_int(e, length), type=F64))
        return _checkpointed_iterator(e, iterable, "every", Number(e.op("fmax", root, const(1.0))))


def _call_body(e: Evaluator, body: Body, **attrs: Any) -> Abstract:
    results = call_copied(e, body.module, body.name, body.operands, **attrs)
    if returns_nothing(body):
        e.builder.append(Instr("unreachable"))
        raise Stop
    return finish_objects(e, body, results)


def _through(e: Evaluator, function: Abstract, d: Abstract) -> Abstract:
    """A cotangent by way of the function of a hook: compiled if it can be, else called as it is."""
    if is_number(function) or isinstance(function, Known) and not callable(function.object):
        e.type_error(f"hook takes a function and a value: {describe(function, e.heap)} cannot be called")
    try:
        body = infer_body(e, function, [d], {}, e.context.level, "")
    except Unsupported:
        called = _python_function(function)
        if called is None:
            raise
    else:
        value = body.value
        if returns_nothing(body) or _is_none(value) or _alike(value, d):
            given = _call_body(e, body)
            return _zero(d) if _is_none(value) else given
        called = _python_function(function)
        if called is None or not isinstance(value, ConflictValue):
            raise Misuse(
                f"the hook {shown(function)}, which does not give a cotangent of the kind that it gets",
                e.position,
                types=[describe(d, e.heap), describe(value, body.after)],
                hint="return a number for a number, an array for an array",
            )
    if not isinstance(d, (Number, ArrayValue)):
        raise e.refuse("a hook that native code does not know, on a structure", types=[describe(d, e.heap)],
                       hint="hook each number or array of it")  # fmt: skip
    return python_call(e, hooks.Hooked(called), [d], disassemble(e, d, []))


def _zero(d: Abstract) -> Abstract:
    """A cotangent of a number that is zero. (None is that of an array, or of a structure.)"""
    if isinstance(d, ComplexValue):
        return replace(d, re=_zero(d.re), im=_zero(d.im))
    if isinstance(d, Number):
        return Number(const(0.0, d.type), numpy=d.numpy)
    return Known(0.0) if is_number(d) else NONE


def _alike(value: Abstract, d: Abstract) -> bool:
    if isinstance(d, ArrayValue):
        return isinstance(value, ArrayValue) and value.type.ndim == d.type.ndim
    return not isinstance(d, Number) and not isinstance(value, ConflictValue) or is_number(value)


def _python_function(v: Abstract) -> Any:
    """The Python function that a value stands for, if that is one and the same whenever the code runs."""
    if isinstance(v, Known):
        return v.object
    if isinstance(v, FunctionValue) and not v.captured and not v.defaults and not v.kwdefaults:
        return v.function if v.function is not None else types.FunctionType(v.code, v.globals, v.name)
    if isinstance(v, MethodValue) and isinstance(v.receiver, Known) and not isinstance(v.function, tuple):
        return types.MethodType(v.function, v.receiver.object)
    return None


def _is_none(v: Abstract) -> bool:
    return isinstance(v, Known) and v.object is None


def _checkpointed_iterator(e: Evaluator, iterable: Abstract, kind: str, *limits: Abstract) -> Abstract:
    numbers = [Known(v.object) if isinstance(v, Known) else Number(e.op("stop", _whole(e, v))) for v in limits]
    return iterators.new_iterator(e, ("checkpointed", kind), iterators.make_iterator(e, iterable), *numbers)


def _whole(e: Evaluator, v: Abstract) -> Value:
    value = scalar_value(e, v)
    return e.op("cast", value, type=I64) if value.type is not I64 else value


_register()


@emits(get_plainly)
def _get_plainly(e: Evaluator, v: Abstract, name: Abstract, default: Abstract = NONE) -> Abstract:
    from .lists_ import get_by_name

    return get_by_name(e, v, name, default)


@emits(has_plainly)
def _has_plainly(e: Evaluator, v: Abstract, name: Abstract) -> Abstract:
    from .lists_ import has_by_name

    return has_by_name(e, v, name)
