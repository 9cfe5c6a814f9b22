"""What differentiated code can ask, how it stops a derivative, and loops that it wants checkpointed."""

from __future__ import annotations

import math

from zyg.frontend import iterators, lists
from zyg.frontend.boundary import scalar_value
from zyg.frontend.infer import Evaluator, Stop
from zyg.frontend.operators import to_int
from zyg.frontend.values import NONE, Abstract, Known, Number, is_number, map_leaves
from zyg.ir.core import Const, Instr, Value, const
from zyg.ir.types import F64, I64

from .bodies import call_copied, infer_body
from .gradients import finish_objects, returns_nothing
from .registry import emits


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
        return map_leaves(x, lambda v: v if isinstance(v, Const) else e.op("stop", v, name=v.name))

    @emits(zyg.checkpoint)
    def checkpoint(e: Evaluator, function: Abstract, *args: Abstract) -> Abstract:
        if e.context.level == 0:
            return e.call(function, list(args))
        body = infer_body(e, function, list(args), {}, e.context.level, "")
        results = call_copied(e, body.module, body.name, body.operands, checkpoint=True)
        if returns_nothing(body):
            e.builder.append(Instr("unreachable"))
            raise Stop
        return finish_objects(e, body, results)

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


def _is_none(v: Abstract) -> bool:
    return isinstance(v, Known) and v.object is None


def _checkpointed_iterator(e: Evaluator, iterable: Abstract, kind: str, *limits: Abstract) -> Abstract:
    numbers = [Known(v.object) if isinstance(v, Known) else Number(e.op("stop", _whole(e, v))) for v in limits]
    return iterators.new_iterator(e, ("checkpointed", kind), iterators.make_iterator(e, iterable), *numbers)


def _whole(e: Evaluator, v: Abstract) -> Value:
    value = scalar_value(e, v)
    return e.op("cast", value, type=I64) if value.type is not I64 else value


_register()
