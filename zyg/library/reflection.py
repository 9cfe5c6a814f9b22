"""What differentiated code can ask, and how it stops a derivative."""

from __future__ import annotations

from zyg.frontend.infer import Evaluator
from zyg.frontend.values import (
    Abstract,
    Known,
    map_leaves,
)
from zyg.ir.core import Const

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


_register()
