"""NumPy's C functions that sort (sort_table.py), for library code.

They take a pointer to the numbers, for argsort one to the places too, which they take as they are, and a
length; they need no object and no GIL.  Where a processor has vector instructions for sorting they use them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zyg.ir.core import const
from zyg.ir.records import record
from zyg.ir.types import I32, I64

from ..registry import emits
from .sort_table import AVAILABLE

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator
    from zyg.frontend.values import Abstract


@record(frozen=True, eq=False)
class CSort:
    """`sort(a, n)` and `argsort(a, places, n)`, of packed vectors; what they give is 0 but where there is no memory."""

    function: str
    kind: str

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.function} of NumPy's C functions is for native code")

    def emit(self, e: Evaluator, *args: Abstract) -> Abstract:
        from zyg.frontend import arrays
        from zyg.frontend.scalars import scalar_value
        from zyg.frontend.values import ArrayValue, ComplexArrayValue, Number

        *vectors, n = args
        numbers = vectors[0]
        assert isinstance(numbers, (ArrayValue, ComplexArrayValue))
        scalar = "c128" if isinstance(numbers, ComplexArrayValue) else str(arrays.element_type(numbers))
        operands = [memory.value for memory in map(arrays.memory, vectors)]
        (failed,) = e.emit(
            "foreign", *operands, scalar_value(e, n), const(0, I64), types=(I32,), returns=True, int=64,
            symbol=f"numpy_sort.{self.function}_{scalar}_{self.kind}", spec=("m" if self.function == "sort" else "rm") + "vv",
        )  # fmt: skip
        return Number(failed)


def _function(function: str, kind: str) -> CSort:
    made = CSort(function, kind)
    emits(made)(made.emit)
    return made


sort = _function("sort", "quick")
sort_by_counting = _function("sort", "stable")
argsort = _function("argsort", "quick")
stable_argsort = _function("argsort", "stable")

__all__ = ["AVAILABLE", "argsort", "sort", "sort_by_counting", "stable_argsort"]
