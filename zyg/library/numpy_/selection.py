"""Choices between elements: np.where, np.clip, np.select and their relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zyg.frontend.operators import as_numpy, promote
from zyg.frontend.values import Abstract, ComplexValue, Number, is_number
from zyg.ir.core import Const, Value

from .ufuncs import strong

if TYPE_CHECKING:
    from zyg.frontend.infer import Evaluator


def choose(e: Evaluator, flag: Value, x: Abstract, y: Abstract) -> Abstract:
    """x if flag else y, of the type that both have together; neither is a branch."""
    if isinstance(x, ComplexValue) or isinstance(y, ComplexValue):
        from zyg.frontend.values import as_complex

        parts = [choose(e, flag, p, q) for p, q in zip(as_complex(x).parts(), as_complex(y).parts())]
        return ComplexValue(*(Number(p.value) for p in parts), True)  # type: ignore[attr-defined]
    if not any(isinstance(v, Number) and v.numpy for v in (x, y)):
        x = strong(e, x)
    scalar = promote(e, x, y)
    if isinstance(flag, Const):
        return Number(as_numpy(e, x if flag.value else y, scalar), True)
    assert is_number(x) and is_number(y)
    return Number(e.op("select", flag, as_numpy(e, x, scalar), as_numpy(e, y, scalar)), True)
