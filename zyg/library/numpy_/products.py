"""Products of vectors and matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays
from zyg.frontend.calls import unchecked
from zyg.frontend.operators import binary, settled
from zyg.frontend.values import (
    Abstract,
    ComplexArrayValue,
    ComplexValue,
    Known,
    describe,
    is_numeric,
)

from ..registry import emits
from .ufuncs import strong

if TYPE_CHECKING:
    from zyg.frontend.infer import Evaluator

NONE, ZERO, YES = Known(None), Known(0), Known(True)


@emits(np.vdot)
def vdot(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    """The first argument conjugated, if it is complex."""
    from zyg.frontend.infer import known

    if isinstance(a, ComplexArrayValue) and a.ndim == 1 and isinstance(b, arrays.ARRAYS) and arrays.ndim(b) == 1:
        return e.call(known(dot_vectors), [a, b, Known(True)])
    if isinstance(a, ComplexValue):
        from ..complex_ import conjugate

        a = conjugate(e, a)
    return dot(e, a, b)


@emits((np.ndarray, "dot"), np.dot, np.inner)
def dot(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    from zyg.frontend.infer import known

    a, b = settled(e, a, "None is no array"), settled(e, b, "None is no array")
    if is_numeric(a) and is_numeric(b):
        return binary(e, "mul", strong(e, a), b)
    if not (isinstance(a, arrays.ARRAYS) and isinstance(b, arrays.ARRAYS) and arrays.ndim(a) == arrays.ndim(b) == 1):
        raise e.refuse(
            "dot of these", types=[describe(a, e.heap), describe(b, e.heap)], hint="write loops; vectors can be dotted"
        )
    return e.call(known(dot_vectors), [a, b, Known(False)])


@unchecked
def dot_vectors(a: Any, b: Any, conjugate: bool) -> Any:
    n = len(a)
    if n != len(b):
        raise ValueError(f"shapes ({n},) and ({len(b)},) not aligned: {n} (dim 0) != {len(b)} (dim 0)")
    total = a.dtype.type(0) * b.dtype.type(0)
    for i in range(n):
        total += (a[i].conjugate() if conjugate else a[i]) * b[i]
    return total


# ------------------------------------------------------------------------------- assignment, in-place operators
