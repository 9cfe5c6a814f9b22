"""What NumPy says of element types, all known when compiling."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays
from zyg.frontend.values import Abstract, ComplexValue, Known, Number, describe, number_type

from ..registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator


def _question(function: Callable[..., Any]) -> Callable[..., Abstract]:
    """A function of dtypes, classes and strings, asked when compiling."""

    def entry(e: Evaluator, *args: Abstract) -> Abstract:
        given = [arrays.constant(e, v, "a dtype") for v in args]
        try:
            return Known(function(*given))
        except (TypeError, ValueError) as error:
            e.throw(type(error).__name__, str(error))
            raise AssertionError from None

    return entry


for _function in (np.promote_types, np.issubdtype, np.isdtype):
    emits(_function)(_question(_function))


@emits(np.can_cast)
def can_cast(e: Evaluator, from_: Abstract, to: Abstract, casting: Abstract = Known("safe")) -> Abstract:  # noqa: B008
    own = arrays.numpy_dtype(arrays.element_type(from_)) if isinstance(from_, arrays.ARRAYS) else None
    scalar = number_type(from_)
    if scalar is not None and isinstance(from_, (Number, ComplexValue)) and from_.numpy:
        own = arrays.numpy_dtype(scalar)
    return _question(np.can_cast)(e, from_ if own is None else Known(own), to, casting)


def _limits(cls: type) -> Callable[..., Abstract]:
    def entry(e: Evaluator, dtype: Abstract) -> Abstract:
        if not isinstance(dtype, Known):
            raise e.refuse(f"np.{cls.__name__} of a value", types=[describe(dtype, e.heap)],
                           hint=f"write np.{cls.__name__}(a.dtype)")  # fmt: skip
        return _question(cls)(e, dtype)

    return entry


emits(np.finfo)(_limits(np.finfo))
emits(np.iinfo)(_limits(np.iinfo))
