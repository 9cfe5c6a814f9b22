"""Where NumPy's C functions are that sort: in the table that every element type has, `PyArray_ArrFuncs`, whose layout is part of NumPy's
binary interface (ndarraytypes.h).
"""

from __future__ import annotations

import ctypes
import importlib
from functools import lru_cache
from typing import Any

import numpy as np

from zyg.ir.foreign import provide

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

__all__ = ["AVAILABLE"]
