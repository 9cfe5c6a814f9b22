"""The `back` of a pullback as a Python object.

A pullback that leaves compiled code takes what it saved along in a capsule, which owns that memory.  Calling it from
Python brings the cotangent into the one form that the reverse code was compiled for, and runs it.  The capsule is only
read, so a pullback can be called any number of times, from several threads at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from . import pipeline
from .dispatch import compile_lock
from .ir.options import Options
from .ir.types import (
    BOOL,
    F32,
    F64,
    NONE,
    Array,
    Complex,
    ComplexArray,
    DictType,
    ListType,
    NpScalar,
    ObjectOf,
    OneOf,
    Optional,
    PullbackType,
    Scalar,
    Sequence,
    Shared,
    Struct,
    Tuple,
    Type,
    children,
    cotangent_type,
    flatten,
)
from .named import UnknownName, by_names


class Pullback:
    """The function from a cotangent of a value to the cotangents of the arguments that it was computed from."""

    __slots__ = ("__weakref__", "__zyg_saved__", "_reverse")

    def __init__(self, saved: Any, reverse: _Reverse):
        self.__zyg_saved__ = saved
        self._reverse = reverse

    @property
    def __zyg_type__(self) -> Type:
        return self._reverse.type

    @property
    def value_type(self) -> Type:
        """The type of the value that came with it."""
        return self._reverse.type.value

    def __call__(self, cotangent: Any, /) -> Any:
        return self._reverse.native(self, cotangent)

    def __deepcopy__(self, memo: Any) -> Pullback:
        """It never changes, and is copied as functions are."""
        return self

    def __repr__(self) -> str:
        name = self._reverse.name
        return f"<pullback{' of ' + name if name else ''}: {_describe(self._reverse.cotangent)} -> cotangents>"


def call_pullback(back: Any, cotangent: Any) -> Any:
    """What is compiled for a call from Python."""
    return back(cotangent)


class _Reverse:
    """What the pullbacks made by one piece of compiled code have in common: the native code of the reverse pass."""

    def __init__(self, type: PullbackType, options: Options):
        self.type = type
        self.options = options
        self.name = getattr(getattr(type, "plan", None), "name", "") or ""
        self.cotangent = canonical(type.value)
        self._native: Any = None
        self._alone: dict[Type, Any] = {}  # by the type of the cotangent
        self._entries: list[Any] = []
        self._lock = threading.Lock()

    @property
    def native(self) -> Any:
        if self._native is None:
            from .backend.calling import new_callable

            with self._lock:
                if self._native is None:
                    self._native = new_callable(self._miss, "pullback")
        return self._native

    def _miss(self, back: Pullback, cotangent: Any) -> Any:
        """A cotangent that native code does not take as it is, or the first one of all."""
        converted = convert(cotangent, self.cotangent, "the cotangent", self.type.value)
        return self._compiled(_given(self.cotangent, converted))(back, converted)

    def _compiled(self, cotangent: Type) -> Any:
        from .backend.calling import make_entry, new_callable, set_entries

        if cotangent not in self._alone:
            with compile_lock:
                if cotangent not in self._alone:
                    request = pipeline.Request(call_pullback, (self.type, cotangent), (), self.options, bodies=False)
                    native = pipeline.compile(request).native
                    alone = new_callable(_refused, "pullback")
                    set_entries(alone, [make_entry(native)])
                    self._entries.append(make_entry(native))
                    set_entries(self.native, self._entries)
                    self._alone[cotangent] = alone
        return self._alone[cotangent]


def _refused(back: Any, cotangent: Any) -> Any:
    from .errors import InternalError

    raise InternalError(f"the native pullback refused a cotangent of type {type(cotangent).__name__}", "entry")


def rebuild_pullback(type: PullbackType, options: Options) -> Callable[[Any], Pullback]:
    """The function that makes the Python object of a capsule, for the back end."""
    reverse = _Reverse(type, options)
    return lambda saved: Pullback(saved, reverse)


# --------------------------------------------------------------------------------------------- cotangents


def canonical(value: Type) -> Type:
    """The type of the cotangents of values of a type: floats for numbers, contiguous arrays, tuples for structures,
    None for what has no derivative."""
    if isinstance(value, NpScalar):
        return canonical(value.scalar)
    if isinstance(value, Scalar):
        return NONE if value is BOOL else F32 if value is F32 else F64
    if isinstance(value, Array):
        if value.dtype is BOOL:
            return NONE
        shadow = cotangent_type(value)
        assert isinstance(shadow, Array)
        return Array(shadow.dtype, shadow.ndim, "C")
    if isinstance(value, Complex):
        return Complex()
    if isinstance(value, ComplexArray):
        return ComplexArray(value.ndim)
    if isinstance(value, Struct) and value.cls is slice:
        return NONE
    if isinstance(value, (Tuple, ListType, Struct, DictType, ObjectOf)):
        return Tuple(tuple(map(canonical, value.items)))
    if isinstance(value, Sequence):
        columns = tuple(canonical(column) for column in children(value)[1:])
        return columns[0] if isinstance(value.item, (Scalar, NpScalar)) else Tuple(columns)
    if isinstance(value, Optional):
        return canonical(value.item)
    return NONE


def _given(wanted: Type, converted: Any) -> Type:
    """The type of a cotangent in which arrays may be left out (None): they are zeros, of a shape that the pullback knows."""
    if converted is None:
        return NONE
    return Tuple(tuple(map(_given, wanted.items, converted))) if isinstance(wanted, Tuple) else wanted


def convert(given: Any, wanted: Type, what: str, value: Type | None = None) -> Any:
    """A cotangent in the form of its canonical type; TypeError or ValueError that says what does not fit.

    `value` is the type of the value that it is a cotangent of, where that is known.
    """
    if isinstance(value, Shared) and given is not None:
        raise TypeError(
            f"{what} is of an object that the value holds before: give all of its cotangent there, None here"
        )
    if isinstance(value, OneOf) and given is not None:
        raise TypeError(f"{what} is of a value that is one of several kinds, which has no cotangent")
    if wanted == NONE:
        return None
    if isinstance(wanted, Scalar):
        return _number(given, wanted, what)
    if isinstance(wanted, Complex):
        return _complex(given, what)
    if isinstance(wanted, (Array, ComplexArray)):
        return _array(given, wanted, what)
    assert isinstance(wanted, Tuple)
    if given is None:
        return tuple(convert(None, item, what) for item in wanted.items)
    if isinstance(value, Optional):
        value = value.item
    if isinstance(value, Sequence):
        return _columns(given, wanted, what, value)
    named = _by_names(given, value, what)
    if named is not None:
        given = named
    if not isinstance(given, (tuple, list)):
        raise TypeError(f"{what} should be {_wanted(wanted, value)}, not {_kind(given)}")
    if len(given) != len(wanted.items):
        raise ValueError(f"{what} should be {_wanted(wanted, value)}; it has {len(given)} entries")
    parts = value.items if isinstance(value, (Tuple, ListType, Struct, DictType, ObjectOf)) else (None,) * len(given)
    if isinstance(value, (Struct, DictType, ObjectOf)):
        keys = isinstance(value, DictType) or value.cls is dict
        steps = [f"[{n!r}]" if keys else f".{n}" for n in _names(value)]
    else:
        steps = [f"[{n}]" for n in range(len(given))]
    quadruples = zip(given, wanted.items, parts, steps, strict=True)
    return tuple(convert(g, w, what + step, part) for g, w, part, step in quadruples)


def _names(value: Struct | DictType | ObjectOf) -> tuple[str, ...]:
    return value.keys if isinstance(value, DictType) else value.names


def _by_names(given: Any, value: Type | None, what: str) -> tuple[Any, ...] | None:
    """The parts of what is given by names, in the order of the value; None if it is given by position, or the value has no names."""
    if not isinstance(value, (Struct, DictType, ObjectOf)):
        return None
    names = _names(value)
    try:
        found = by_names(given, names)
    except UnknownName as error:
        kind = "key" if isinstance(value, DictType) or value.cls is dict else "attribute"
        raise TypeError(f"{what} has the {kind} {error.name!r}, which the value has not") from None
    return None if found is None else tuple(map(found.get, names))


def _wanted(wanted: Tuple, value: Type | None) -> str:
    """What the cotangent of a value should be, in words."""
    if isinstance(value, DictType):
        return f"a dict with the keys {', '.join(map(repr, value.keys))}"
    shape = f"a tuple of {len(wanted.items)}, {_describe(wanted)}"
    if isinstance(value, (Struct, ObjectOf)) and value.cls is not dict:
        return f"{_a(value.cls.__name__)} with {', '.join(value.names)}, or {shape}"
    return shape


def _columns(given: Any, wanted: Tuple, what: str, value: Sequence) -> tuple[Any, ...]:
    """The cotangent of a list of tuples, a list of tuples itself, by columns."""

    def flat(item: Any, type: Type) -> list[Any]:
        if isinstance(type, Complex):
            number = _complex(item, what)
            return [number.real, number.imag]
        if not isinstance(type, (Tuple, Struct)):
            return [0.0 if item is None else item] * len(flatten(type))
        items = (None,) * len(type.items) if item is None else item
        named = _by_names(items, type, f"an item of {what}")
        if named is not None:
            items = named
        if not isinstance(items, (tuple, list)) or len(items) != len(type.items):
            raise TypeError(f"{what} should be a list of tuples of {len(type.items)}")
        return [leaf for i, t in zip(items, type.items, strict=True) for leaf in flat(i, t)]

    if not isinstance(given, (list, tuple)):
        raise TypeError(f"{what} should be a list, not {_kind(given)}")
    rows = [flat(item, value.item) for item in given]
    columns = [list(c) for c in zip(*rows, strict=True)] or [[] for _ in wanted.items]
    return tuple(convert(c, w, what) for c, w in zip(columns, wanted.items, strict=True))


def _number(given: Any, wanted: Scalar, what: str) -> Any:
    if given is None:
        given = 0.0
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given[()]
    if not isinstance(given, (int, float, np.floating, np.integer, np.bool_)):
        raise TypeError(f"{what} should be a number, not {_kind(given)}")
    return np.float32(given) if wanted is F32 else float(given)


def _complex(given: Any, what: str) -> complex:
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given[()]
    if isinstance(given, np.complexfloating):
        given = complex(given)
    return given if isinstance(given, complex) else complex(_number(given, F64, what))


def _array(given: Any, wanted: Array | ComplexArray, what: str) -> np.ndarray | None:
    if given is None:
        return None
    dtype: Any = np.complex128
    if isinstance(wanted, Array):
        dtype = np.float32 if wanted.dtype is F32 else np.float64
    if not isinstance(given, (np.ndarray, list, tuple)):
        raise TypeError(f"{what} should be an array of {wanted.ndim} dimensions, not {_kind(given)}")
    array = np.asarray(given)
    if array.dtype.kind not in ("fiub" if isinstance(wanted, Array) else "cfiub"):
        numbers = "real numbers" if isinstance(wanted, Array) else "numbers"
        raise TypeError(f"{what} should be an array of {numbers}, not of {array.dtype}")
    if array.ndim != wanted.ndim:
        raise ValueError(f"{what} should have {wanted.ndim} dimensions like the value, not {array.ndim}")
    fitting = np.ascontiguousarray(array, dtype) if array.ndim else array.astype(dtype)
    return fitting if fitting.flags.writeable and type(fitting) is np.ndarray else np.array(fitting, dtype)


def _kind(value: Any) -> str:
    if value is None:
        return "None"
    return _a(type(value).__name__)


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _describe(type: Type) -> str:
    if isinstance(type, Scalar):
        return "number"
    if isinstance(type, Complex):
        return "complex number"
    if isinstance(type, (Array, ComplexArray)):
        return f"{type.ndim}-d array"
    if isinstance(type, Tuple):
        return f"({', '.join(map(_describe, type.items))}{',' if len(type.items) == 1 else ''})"
    return "None"
