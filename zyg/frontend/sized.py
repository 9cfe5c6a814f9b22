"""Arguments of which is known which axes are of length 1.

An argument that is an array comes without its axes of length 1 (ir/types.py, Sized), and is seen with them: so a column is broadcast
along its rows as one that the program made, `x[:, None]`.  None of its other axes is of length 1, so that they are not repeated: what
they are put together with is as long or does not fit.  Code that asked at each operator which of the two it is would need loops for
either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zyg.ir.core import Const, Value, const
from zyg.ir.types import Sized

from .turned import is_long
from .values import Abstract

if TYPE_CHECKING:
    from .evaluator import Evaluator


def with_ones(e: Evaluator, long: Abstract, type: Sized) -> Abstract:
    """An argument, from the array without its axes of length 1."""
    from .arrays import memory, seen

    floats = memory(long)
    e.sized.add(floats.value)
    if not type.ones:
        return long
    made = seen(e, long, "".join("n" if axis in type.ones else ":" for axis in range(type.array.ndim)))
    memory(made).value.name = floats.value.name
    return made


def is_not_one(e: Evaluator, length: Value) -> bool:
    """Whether a length is known not to be 1."""
    return length.value != 1 if isinstance(length, Const) else length in e.not_one or is_long(e, length)


def is_one(e: Evaluator, length: Value) -> Value:
    """Whether a length is 1."""
    return const(False) if is_not_one(e, length) else e.op("eq", length, const(1))
