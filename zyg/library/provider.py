"""The library that has BLAS and LAPACK.

NumPy brings a library of its own; it is in the process already and gives the results that NumPy gives, so it comes first.
Where it cannot be called (a NumPy that was built otherwise), SciPy's is taken if SciPy is installed.
"""

from __future__ import annotations

import ctypes
import importlib
from functools import lru_cache
from typing import Any

from zyg.ir.foreign import provide

# How NumPy's builds name a function of BLAS, and the bits of their integers.
_NAMES = (
    ("scipy_{}_64_", 64),
    ("scipy_{}_", 32),
    ("{}_64_", 64),
    ("{}$NEWLAPACK$ILP64", 64),
    ("{}$NEWLAPACK", 32),
    ("{}_", 32),
)


class Provider:
    """A library with BLAS and LAPACK: the addresses of its functions, and the bits of its integers."""

    def __init__(self, bits: int, pattern: str, library: Any):
        self.bits, self.pattern, self.library = bits, pattern, library

    @lru_cache(None)  # noqa: B019  (there is one provider)
    def address(self, name: str) -> int | None:
        if isinstance(self.library, ctypes.CDLL):
            found = getattr(self.library, self.pattern.format(name), None)
            return None if found is None else ctypes.cast(found, ctypes.c_void_p).value
        for module in self.library:
            capsule = module.__pyx_capi__.get(name)
            if capsule is not None:
                return pointer_in(capsule)
        return None


def pointer_in(capsule: Any) -> int:
    """The address that a capsule holds, whatever its name."""
    api = ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    return pointer_of(capsule, name_of(capsule))


@lru_cache(None)
def provider() -> Provider | None:
    try:
        # Symbols of the libraries that a library needs are found through it.
        library = ctypes.CDLL(importlib.import_module("numpy.linalg._umath_linalg").__file__)
    except (ImportError, OSError):
        library = None
    for pattern, bits in _NAMES if library is not None else ():
        if hasattr(library, pattern.format("dgemm")) and hasattr(library, pattern.format("dgesdd")):
            return Provider(bits, pattern, library)
    try:
        modules = tuple(importlib.import_module(f"scipy.linalg.cython_{name}") for name in ("blas", "lapack"))
    except ImportError:
        return None
    return Provider(32, "{}", modules)


def _address(name: str) -> int | None:
    found = provider()
    return None if found is None else found.address(name)


provide("blas", _address)


def told() -> str:
    """What code depends on that calls these functions."""
    found = provider()
    return "" if found is None else f"{found.bits} {found.pattern}"


__all__ = ["pointer_in", "provider", "told"]
