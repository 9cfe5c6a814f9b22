"""What native code knows of the memory layout of CPython's and NumPy's objects, verified when this module is imported.

Compiled functions read floats, small ints, tuples, functions and ndarrays straight from memory, which is what makes a
call as cheap as one of a C extension.  Every offset used is checked here against the running interpreter; a build that
differs (free-threaded, debug, another word size) is refused with a clear error instead of being misread.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import types
from typing import Any

import numpy as np

VERSION = sys.version_info[:2]
WORD = 8

# struct _object { Py_ssize_t ob_refcnt; PyTypeObject *ob_type; }
OB_REFCNT = 0
OB_TYPE = 8
OB_HEAD = object.__basicsize__
OB_SIZE = OB_HEAD
FLOAT_VALUE = OB_HEAD
# PyLongObject: 3.11 has ob_size (sign and number of digits), from 3.12 lv_tag (digits << 3 | sign); then 30-bit digits
LONG_TAG = OB_HEAD
LONG_DIGIT = OB_HEAD + 8
TUPLE_ITEMS = tuple.__basicsize__
BYTES_DATA = bytes.__basicsize__ - 1
LIST_ITEMS = OB_HEAD + 8
RANGE_START = OB_HEAD
CELL_CONTENTS = OB_HEAD
FUNCTION_GLOBALS = OB_HEAD
FUNCTION_CODE = OB_HEAD + 32
FUNCTION_DEFAULTS = OB_HEAD + 40
FUNCTION_KWDEFAULTS = OB_HEAD + 48
FUNCTION_CLOSURE = OB_HEAD + 56
# PyTypeObject.tp_version_tag: changes whenever a class or a base of it does; 0 while it is not known
TYPE_VERSION = 48 * WORD
TYPE_MRO = 43 * WORD
# PyCFunctionObject
BUILTIN_METHOD = OB_HEAD
BUILTIN_SELF = OB_HEAD + 8
CAPSULE_POINTER = OB_HEAD
CAPSULE_NAME = OB_HEAD + 8
DICT_VERSION = OB_HEAD + 8
COMPLEX_VALUE = OB_HEAD
# numpy scalars keep their value after the head
SCALAR_VALUE = OB_HEAD
ARRAY_DATA = OB_HEAD
ARRAY_NDIM = OB_HEAD + 8
ARRAY_SHAPE = OB_HEAD + 16
ARRAY_STRIDES = OB_HEAD + 24
ARRAY_BASE = OB_HEAD + 32
ARRAY_DESCR = OB_HEAD + 40
ARRAY_FLAGS = OB_HEAD + 48
ARRAY_HANDLER = OB_HEAD + 72
DESCR_BYTEORDER = OB_HEAD + 10
DESCR_TYPE_NUMBER = OB_HEAD + 12

_HANDLER_NAME = b"mem_handler"  # of NumPy's capsules: kept here, since a capsule does not copy it

COMPLEX128 = np.dtype(np.complex128).num
UBYTE = np.dtype(np.uint8).num

FLAG_C_CONTIGUOUS = 0x0001
FLAG_F_CONTIGUOUS = 0x0002
FLAG_OWNDATA = 0x0004
FLAG_ALIGNED = 0x0100
FLAG_WRITEABLE = 0x0400

IMMORTAL = VERSION >= (3, 12)  # None, True, small ints ... have a reference count that must not be touched

# Slots of NumPy's C API table (numpy/_core/code_generators/numpy_api.py); stable since 1.7.
_NUMPY_API = {"PyArray_New": 93, "PyArray_NewCopy": 85, "PyArray_SetBaseObject": 282}


class LayoutError(ImportError):
    """The running interpreter lays its objects out in a way that native code does not know."""


def _word(address: int) -> int | None:
    return ctypes.c_void_p.from_address(address).value


def _int32(address: int) -> int:
    return ctypes.c_int32.from_address(address).value


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise LayoutError(
            f"zyg's native back end does not know the layout of {what} in Python {sys.version.split()[0]} "
            f"with NumPy {np.__version__}; it supports CPython 3.11 to 3.13 (with the GIL) and NumPy 2"
        )


def _check_objects() -> None:
    _require(sys.implementation.name == "cpython", "objects")
    _require(ctypes.sizeof(ctypes.c_void_p) == WORD and OB_HEAD == 16 and sys.byteorder == "little", "objects")
    value = 1.2345
    _require(_word(id(value) + OB_TYPE) == id(float), "objects")
    _require(ctypes.c_double.from_address(id(value) + FLOAT_VALUE).value == value, "floats")
    number = complex(1.5, value)  # held while it is looked at
    pair_of_floats = (ctypes.c_double * 2).from_address(id(number) + COMPLEX_VALUE)
    _require(tuple(pair_of_floats) == (1.5, value), "complex numbers")
    digits, tag = 123456, _word(id(123456) + LONG_TAG)
    _require(_int32(id(digits) + LONG_DIGIT) == digits, "ints")
    _require(tag == (1 if VERSION < (3, 12) else 1 << 3), "ints")
    pair = (value, [])
    _require(_word(id(pair) + OB_SIZE) == 2 and _word(id(pair) + TUPLE_ITEMS) == id(value), "tuples")
    text = b"text"
    _require(ctypes.string_at(id(text) + BYTES_DATA, len(text)) == text, "bytes")
    items = [value]
    table = _word(id(items) + LIST_ITEMS)
    _require(_word(id(items) + OB_SIZE) == 1 and table is not None and _word(table) == id(value), "lists")
    counts = range(1234567, 2345678, 3456)
    _require(_word(id(counts) + RANGE_START) == id(counts.start), "ranges")
    _require(_word(id(counts) + RANGE_START + 16) == id(counts.step), "ranges")


def type_version(cls: type) -> int:
    """A number that another one takes the place of when a class, or a base of it, changes; 0 if there is none."""
    type.__getattribute__(cls, "__init__")  # a class gets its number when something is looked up
    return version_word(cls).value


def version_word(cls: type) -> ctypes.c_uint32:
    """Where that number stands, as long as the class lives."""
    return ctypes.c_uint32.from_address(id(cls) + TYPE_VERSION)


def _check_types() -> None:
    class Base:
        pass

    class Derived(Base):
        pass

    before = type_version(Derived), type_version(Base)
    same = type_version(Derived), type_version(Base)
    setattr(Base, "changed", None)  # noqa: B010
    after = type_version(Derived), type_version(Base)
    _require(0 not in before and before == same and not {*before} & {*after}, "classes")


def _check_functions() -> None:
    cell = types.CellType("contents")
    _require(_word(id(cell) + CELL_CONTENTS) == id(cell.cell_contents), "cells")

    def sample(x: int = 1, *, y: int = 2) -> Any:
        return cell

    _require(_word(id(type(sample)) + TYPE_MRO) == id(type(sample).__mro__), "classes")
    _require(_word(id(sample) + FUNCTION_GLOBALS) == id(sample.__globals__), "functions")
    _require(_word(id(sample) + FUNCTION_CODE) == id(sample.__code__), "functions")
    _require(_word(id(sample) + FUNCTION_DEFAULTS) == id(sample.__defaults__), "functions")
    _require(_word(id(sample) + FUNCTION_KWDEFAULTS) == id(sample.__kwdefaults__), "functions")
    items: list[int] = []
    append = items.append
    _require(_word(id(append) + BUILTIN_SELF) == id(items), "built-in functions")
    _require(_word(id(sample) + FUNCTION_CLOSURE) == id(sample.__closure__), "functions")


def _check_arrays() -> None:
    array = np.zeros((3, 5))
    view = array[:, ::2]
    at = id(view)
    _require(_word(at + ARRAY_DATA) == view.__array_interface__["data"][0], "arrays")
    _require(_int32(at + ARRAY_NDIM) == 2 and _word(at + ARRAY_BASE) == id(array), "arrays")
    for offset, expected in ((ARRAY_SHAPE, view.shape), (ARRAY_STRIDES, view.strides)):
        numbers = _word(at + offset)
        _require(numbers is not None and tuple((ctypes.c_ssize_t * 2).from_address(numbers)) == expected, "arrays")
    descr = _word(at + ARRAY_DESCR)
    _require(descr == id(view.dtype) and descr is not None, "arrays")
    assert descr is not None
    _require(_int32(descr + DESCR_TYPE_NUMBER) == view.dtype.num, "dtypes")
    _require(ctypes.c_char.from_address(descr + DESCR_BYTEORDER).value == b"=", "dtypes")
    flags = _int32(at + ARRAY_FLAGS)
    _require(flags & FLAG_ALIGNED != 0 and flags & FLAG_WRITEABLE != 0 and not flags & FLAG_C_CONTIGUOUS, "arrays")
    array.flags.writeable = False
    _require(not _int32(id(array) + ARRAY_FLAGS) & FLAG_WRITEABLE, "arrays")
    _require(bool(_int32(id(array) + ARRAY_FLAGS) & FLAG_OWNDATA), "arrays")
    for scalar, kind in ((np.float64(1.5), ctypes.c_double), (np.float32(1.5), ctypes.c_float),
                         (np.int64(-7), ctypes.c_int64), (np.int32(-7), ctypes.c_int32)):  # fmt: skip
        _require(kind.from_address(id(scalar) + SCALAR_VALUE).value == scalar, "NumPy scalars")


def _dict_has_version() -> bool:
    """Whether every change of a dict changes the word at DICT_VERSION, so that a lookup need not be repeated."""
    probe = {"a": 1}
    at = id(probe) + DICT_VERSION
    seen = {_word(at)}
    for change in (lambda: probe.__setitem__("a", 2), lambda: probe.__setitem__("b", 1), lambda: probe.pop("a"),
                   lambda: probe.update(c=1), probe.clear):  # fmt: skip
        change()
        seen.add(_word(at))
    return len(seen) == 6


_check_objects()
_check_functions()
_check_types()
_check_arrays()
DICT_HAS_VERSION = _dict_has_version()


def numpy_api(name: str) -> int:
    """The address of a function of NumPy's C API."""
    umath: Any = importlib.import_module("numpy._core._multiarray_umath")

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = get(umath._ARRAY_API, None)
    address = _word(table + WORD * _NUMPY_API[name])
    assert address is not None
    return address


def make_memory_handler(handler: int) -> object:
    """A capsule of functions by which NumPy frees the memory of arrays, of the C structure (PyDataMem_Handler) at an address."""
    array = np.empty(1)
    usual = ctypes.py_object.from_address(id(array) + ARRAY_HANDLER).value
    _require(type(usual).__name__ == "PyCapsule" and '"mem_handler"' in repr(usual), "arrays")
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    capsule: object = make(("PyCapsule_New", ctypes.pythonapi))(handler, _HANDLER_NAME, None)
    # It is counted by hand, by arrays that are there until the very end.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(capsule))
    return capsule


def numpy_functions() -> tuple[str, ...]:
    return tuple(_NUMPY_API)
