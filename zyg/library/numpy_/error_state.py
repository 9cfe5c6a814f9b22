"""`with np.errstate(...)`: compiled code gives no warnings, so there is nothing to do on entering or leaving."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zyg.frontend.values import NONE, Abstract, Known, TupleValue

from ..registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

QUIET = ("ignore", "warn")


@emits(np.errstate)
def errstate(e: Evaluator, **kinds: Abstract) -> Abstract:
    for name, v in kinds.items():
        if not isinstance(v, Known) or v.object not in (*QUIET, None):
            raise e.refuse(
                f"np.errstate({name}=...) of another kind than 'ignore' and 'warn' in native code",
                hint="test the numbers, np.isfinite(x)",
            )
    return Known(np.errstate())


@emits((np.errstate, "__enter__"))
def _enter(e: Evaluator, manager: Abstract) -> Abstract:
    return TupleValue((Known(leave), NONE))


def leave(*exception: object) -> None:
    """In place of `__exit__`."""


@emits(leave)
def _exit(e: Evaluator, *exception: Abstract) -> Abstract:
    return NONE
