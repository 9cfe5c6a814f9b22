"""Methods of NumPy's numbers: they are those of arrays without dimensions, and what comes out without dimensions is a number.

(Those that reductions and a few others have of their own stand beside those of arrays; attributes and keys in `frontend.numpy_numbers`.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from zyg.frontend import arrays
from zyg.frontend.arrays import dtype_of
from zyg.frontend.numpy_numbers import python_number
from zyg.frontend.values import Abstract, Known, MethodValue

from ..registry import emits
from .constructors import asarray
from .ufuncs import cast_scalar

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

K_ORDER, UNSAFE, YES = Known("K"), Known("unsafe"), Known(True)


@emits((np.generic, "item"), (np.generic, "tolist"))
def scalar_item(e: Evaluator, v: Abstract) -> Abstract:
    return python_number(e, v)


@emits((np.generic, "astype"))
def scalar_astype(
    e: Evaluator,
    v: Abstract,
    dtype: Abstract,
    order: Abstract = K_ORDER,
    casting: Abstract = UNSAFE,
    *,
    copy: Abstract = YES,
) -> Abstract:
    if isinstance(casting, Known) and casting.object == "unsafe":
        return cast_scalar(e, v, dtype_of(e, dtype))
    return of_array(e, "astype", v, [dtype, order, casting], {})


def of_array(e: Evaluator, name: str, v: Abstract, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    made = e.call(MethodValue((np.ndarray, name), asarray(e, v)), args, keywords)
    return arrays.scalar_of(e, made) if isinstance(made, arrays.ARRAYS) and arrays.ndim(made) == 0 else made


def _method(name: str) -> Callable[..., Abstract]:
    def entry(e: Evaluator, v: Abstract, *args: Abstract, **keywords: Abstract) -> Abstract:
        return of_array(e, name, v, list(args), keywords)

    return entry


for _name in ("reshape", "ravel", "flatten", "copy", "squeeze", "transpose", "repeat", "take", "conj", "nonzero"):
    emits((np.generic, _name))(_method(_name))
