"""NumPy's C functions that sort, for library code.

They are those of the table that every element type has, `PyArray_ArrFuncs`, whose layout is part of NumPy's binary interface
(ndarraytypes.h).  They take a pointer to the numbers, for argsort one to the places too, which they take as they are, and a
length; they need no object and no GIL.  Where a processor has vector instructions for sorting they use them.
"""

from __future__ import annotations

import ctypes
import importlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.ir.core import const
from zyg.ir.foreign import provide
from zyg.ir.records import record
from zyg.ir.types import I32, I64

from ..registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator
    from zyg.frontend.values import Abstract

_GET_TABLE = 365  # of the C interface's functions: _PyDataType_GetArrFuncs
_CASTS, _OTHERS = 21, 12  # entries of the table before those that sort
_FIRST = {"sort": _CASTS + _OTHERS, "argsort": _CASTS + _OTHERS + 3}
_KIND = {"quick": 0, "stable": 2}
_DTYPES = {"f64": "f8", "f32": "f4", "i64": "i8", "i32": "i4", "u8": "u1", "bool": "?", "c128": "c16"}


def _address(name: str) -> int | None:
    """Of `sort_f64_quick` and its like."""
    function, scalar, kind = name.split("_")
    return _table(_DTYPES[scalar])[_FIRST[function] + _KIND[kind]]


@lru_cache(None)
def _table(dtype: str) -> Any:
    interface = importlib.import_module("numpy._core._multiarray_umath")._ARRAY_API
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    functions = ctypes.cast(pointer_of(interface, None), ctypes.POINTER(ctypes.c_void_p))
    table = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(functions[_GET_TABLE] or 0)(np.dtype(dtype))
    return ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))


@lru_cache(None)
def _available() -> bool:
    """Whether this NumPy is of the version of the interface that this is written for, and has all of the functions."""
    try:
        if np.lib.NumpyVersion(np.__version__) >= "3.0.0.dev0" or ctypes.sizeof(ctypes.c_void_p) != 8:
            return False
        return all(
            _address(f"{function}_{scalar}_{kind}") for function in _FIRST for scalar in _DTYPES for kind in _KIND
        )
    except (ImportError, AttributeError, ValueError):
        return False


provide("numpy_sort", _address)
AVAILABLE = _available()


@record(frozen=True, eq=False)
class CSort:
    """`sort(a, n)` and `argsort(a, places, n)`, of packed vectors; what they give is 0 but where there is no memory."""

    function: str
    kind: str

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.function} of NumPy's C functions is for compiled code")

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
