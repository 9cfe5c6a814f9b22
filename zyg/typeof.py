"""From Python values to types: what the dispatcher and inference know of an argument, a global or a captured value."""

from __future__ import annotations

import abc
import enum
import functools
import inspect
import itertools
import operator
import types
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol

import numpy as np

from zyg.ir.plainly import get_plainly, has_plainly, in_class

from .errors import IntegerTooLarge, UntypableValue, is_library
from .ir.records import replace
from .ir.types import (
    BOOL,
    F32,
    F64,
    I32,
    I64,
    NONE,
    RANGE,
    U8,
    Array,
    Closure,
    Complex,
    ComplexArray,
    Const,
    DictType,
    Fortran,
    ListType,
    NpScalar,
    ObjectOf,
    Opaque,
    Scalar,
    Sequence,
    Shared,
    Sized,
    Struct,
    Tuple,
    Type,
    all_plain,
    slot_names,
)
from .remedies import qualified, remedy, remedy_for
from .rules import singled_out
from .transforms import ATTRIBUTE


class _Unbound:
    """The type's value for a cell that is empty."""

    def __repr__(self) -> str:
        return "UNBOUND"


UNBOUND = _Unbound()

_SCALAR_OF_DTYPE: dict[tuple[str, int], Scalar] = {
    ("f", 8): F64,
    ("f", 4): F32,
    ("i", 8): I64,
    ("i", 4): I32,
    ("u", 1): U8,
    ("b", 1): BOOL,
}
_PYTHON_SCALARS: dict[type, Type] = {
    float: F64,
    int: I64,
    bool: BOOL,
    complex: Complex(),
    type(None): NONE,
    range: RANGE,
}
_NUMPY_SCALARS: dict[type, Any] = {
    np.dtype(code).type: NpScalar(scalar)
    for code, scalar in (("f8", F64), ("f4", F32), ("i8", I64), ("i4", I32), ("u1", U8), ("?", BOOL))
} | {np.complex128: Complex(numpy=True)}
SLICE = ("start", "stop", "step")
_DTYPES = "float64, float32, int64, int32, uint8, bool or complex128"
# What an array of other numbers is to be made, the first that fits.
_CONVERSIONS: dict[type, str] = {
    np.complexfloating: "convert it: x.astype(np.complex128)",
    np.float16: "convert it: x.astype(np.float32)",
    np.floating: "convert it: x.astype(np.float64)",
    np.uint64: "convert it: x.astype(np.float64)",
    np.integer: "convert it: x.astype(np.int64)",
    np.object_: "convert it, if these are numbers: x.astype(np.float64)",
}


def _is_constant(value: Any) -> bool:
    """Whether nothing in a partial or a bound method has a gradient."""
    if isinstance(value, types.MethodType):
        return _is_constant(value.__func__) and _is_constant(value.__self__)
    if isinstance(value, functools.partial):
        return all(map(_is_constant, (value.func, *value.args, *value.keywords.values())))
    return isinstance(value, (str, bytes, int, type(None), types.BuiltinFunctionType, type, np.ufunc)) or (
        isinstance(value, types.FunctionType) and not value.__closure__
    )


def _data_of(function: types.FunctionType) -> Iterator[Any]:
    """What a function, and those that it has captured, hold besides of functions and constants."""
    seen: set[int] = set()
    waiting: list[Any] = [function]
    while waiting:
        x = waiting.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, tuple):
            waiting.extend(x)
        elif isinstance(x, types.FunctionType):
            waiting += [*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
            waiting += [cell.cell_contents for cell in x.__closure__ or () if is_set(cell)]
        elif not isinstance(x, _NO_DATA):
            yield x


_NO_DATA = (str, bytes, bool, type(None), types.BuiltinFunctionType, types.ModuleType, type, np.ufunc, np.dtype)


def is_set(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def type_of(value: Any, lends_beyond: int | None = None) -> Type:
    """The type of a Python value; UntypableValue for those that compiled code cannot take. `lends_beyond`: see `Typing`.

    >>> print(type_of((1, 2.5, None)), type_of(np.zeros((2, 3))), type_of(np.float32(1)))
    (i64, f64, None) array<f64, 2, C> np.f32
    >>> print(type_of([1.0, 2.0]), type_of({"rate": 0.1, "steps": 3}))
    list[f64] {'rate': f64, 'steps': i64}
    """
    typing = Typing()
    typing.lends_beyond = lends_beyond
    return typing.of(value)


def input_type(value: Any) -> Type:
    """The type of what a global or captured variable holds, as compiled code reads it at each call."""
    return type_of(value, lends_beyond=MAX_LIST)


class Typing:
    """Types of values that belong together, such as the arguments of a call: a list, dict or object that one meets again
    is of the type `Shared`."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        # Lists of numbers, and objects, that are told together as items of a list: none is met in another place.
        self.rows: set[int] = set()
        # Objects in lists that are longer may be told together, which are then only read; None: in no list.
        self.lends_beyond: int | None = None
        self.by_value = False  # whether integers are constants
        self.sizes = False  # whether arrays are told apart by which axes are of length 1
        self.differentiated = False  # whether a gradient by the value is asked for
        self.derivative = False  # whether it is an argument of a derivative
        self.open: tuple[int, ...] = ()  # functions being looked at
        self.constant: set[int] = set()  # what functions hold that are seen as constants

    def argument(self, value: Any) -> Type:
        """The type of an argument: arrays, also those in containers, are told apart by which axes are of length 1, and those that are
        arguments themselves and in Fortran order from other strided ones."""
        self.sizes = True
        try:
            found = self.of(value)
        finally:
            self.sizes = False
        if isinstance(found, Sized) and found.array.layout != "C" and value.flags.f_contiguous and min(value.shape) > 1:
            return Fortran(replace(found.array, layout="C"))
        return found

    def of(self, value: Any) -> Type:
        cls = type(value)
        if cls is int and not -(2**63) <= value < 2**63:
            raise IntegerTooLarge(f"the integer {value}, which does not fit into 64 bits", hint="pass a float")
        if self.by_value and (cls is int or cls is bool or issubclass(cls, np.integer) and cls in _NUMPY_SCALARS):
            return Const(value)
        simple = _PYTHON_SCALARS.get(cls) or _NUMPY_SCALARS.get(cls)
        if simple is not None:
            return simple
        if isinstance(value, np.ndarray):
            found = _array_type(value)
            ones = tuple([axis for axis, length in enumerate(value.shape) if length == 1])
            return Sized(found, ones) if self.sizes else found
        if cls is tuple:
            return Tuple(tuple(map(self.of, value)))
        if cls is slice:
            return Struct(slice, SLICE, (self.of(value.start), self.of(value.stop), self.of(value.step)))
        if cls is types.FunctionType:
            return self._function(value)
        if isinstance(value, (str, bytes, enum.Enum)):
            return Const(value)
        if cls in (list, dict):
            number = self._number(value)
            if number is not None:
                return number
            return self._list(value) if cls is list else self._dict(value)
        if isinstance(in_class(cls, "__zyg_type__"), property):  # (an object's __getattr__ may answer to any name)
            return value.__zyg_type__
        names = struct_fields(cls)
        if names is not None or plain_class(cls):
            reason = obstacle(cls)
            if reason is not None:
                raise UntypableValue(f"a {cls.__qualname__}, {reason[0]}", hint=reason[1])
            if issubclass(cls, tuple):
                return Struct(cls, names or (), tuple(map(self.of, value)))
            return self._object(value)
        if cls in (functools.partial, types.MethodType) and self.differentiated and not _is_constant(value):
            raise UntypableValue(
                "a functools.partial that holds numbers or arrays" if cls is functools.partial else "a bound method",
                hint="pass a lambda that calls the function",
            )
        if callable(value) or isinstance(
            value, (types.ModuleType, type, np.dtype, types.EllipsisType, np.random.Generator, np.random.RandomState)
        ):
            return Const(value)
        raise _refusal(value)

    def _number(self, value: Any) -> Type | None:
        """Give a mutable object its number; if it has one already, it is met again."""
        if self.derivative and id(value) in self.constant:
            what = "an object that a function holds as well, which native code takes as a constant"
            raise UntypableValue(what, hint="pass it as an argument only")
        known = self.numbers.get(id(value))
        if known is not None:
            return Shared(known)
        if id(value) in self.rows:
            what = "a list that is a row of a list of lists as well"
            if type(value) is not list:
                what = f"a {type(value).__name__} that is an item of a list as well"
            raise UntypableValue(what, hint="pass a copy, or its number in the list")
        self.numbers[id(value)] = len(self.numbers)
        return None

    def _object(self, value: Any) -> Type:
        cls = type(value)
        names = field_order(cls, attribute_names(value))
        if len(names) > MAX_ITEMS:
            raise UntypableValue(f"a {cls.__qualname__} with {len(names)} attributes", hint="pass what is needed of it")
        if is_frozen(cls):
            return Struct(cls, names, tuple(self.of(getattr(value, n)) for n in names))
        number = self._number(value)
        if number is not None:
            return number
        return ObjectOf(cls, names, tuple(self._part(_getter(cls, n)(value)) for n in names))

    def _dict(self, value: dict[Any, Any]) -> Type:
        if any(type(k) is not str for k in value):
            raise UntypableValue("a dict with keys that are not strings", hint="use strings as keys, or a tuple")
        if len(value) > MAX_ITEMS:
            raise UntypableValue(f"a dict with {len(value)} keys", hint="pass an array")
        if sum(type(v) not in _PYTHON_SCALARS and type(v) not in _NUMPY_SCALARS for v in value.values()) > MAX_LIST:
            raise UntypableValue(f"a dict of {len(value)} items that are not numbers", hint="pass a list of them")
        return DictType(tuple(value), tuple(map(self._part, value.values())))

    def _part(self, value: Any) -> Type:
        """An attribute or item: what has no type is an error only where it is used."""
        before = dict(self.numbers), set(self.rows)
        try:
            return self.of(value)
        except UntypableValue as error:
            self.numbers, self.rows = before
            return Opaque(error.what, error.hint)

    def _list(self, value: list[Any]) -> Type:
        classes = set(map(type, value))
        if len(classes) == 1:
            (cls,) = classes
            if cls is int and not (min(value) >= -(2**63) and max(value) < 2**63):
                raise IntegerTooLarge("an integer which does not fit into 64 bits, in a list", hint="pass floats")
            simple = _PYTHON_SCALARS.get(cls) or _NUMPY_SCALARS.get(cls)
            if isinstance(simple, (Scalar, NpScalar, Complex)):
                return Sequence(simple)
            if issubclass(cls, tuple):
                items = {self.of(item) for item in value} if not self._holds_mutable(value[0]) else set()
                if len(items) == 1 and _is_flat(item := items.pop()):
                    return Sequence(item)
            if len(value) > MAX_LIST and _is_of_numbers(value[0]):
                items = set(map(self.of, value))
                if len(items) == 1 and _is_flat(item := items.pop()):
                    return Sequence(item)
        if len(value) > MAX_ROWS and classes == {list}:
            row = self._row(value)
            if row is not None:
                return Sequence(row)
        if self.lends_beyond is not None and len(value) > self.lends_beyond and len(classes) == 1:
            item = self._lent(value)
            if item is not None:
                return Sequence(item)
        if len(value) > MAX_LIST:
            raise UntypableValue(
                f"a list of more than {MAX_LIST} items ({len(value)}) that are not numbers of one type, nor different objects or dicts that are "
                "alike and hold numbers",
                hint="make them floats: [float(x) for x in xs]"
                if classes <= {int, float, bool}
                else "pass a tuple of them, tuple(xs), or arrays of one shape as one array, np.stack(xs)"
                if any(map(_holds_array, value))
                else "make a list or an array of each of the numbers in them, [row[0] for row in rows], with numbers for names",
            )
        return ListType(tuple(map(self.of, value)))

    def _row(self, rows: list[list[Any]]) -> Type | None:
        """The type of the lists in a list, if they are of one type, all of them numbers, and none is met in another place."""
        own = set(map(id, rows))
        if len(own) < len(rows) or not own.isdisjoint(self.numbers) or not own.isdisjoint(self.rows):
            return None
        classes = set(map(type, itertools.chain.from_iterable(rows)))
        if classes == {float} or classes == {int} and all(-(2**63) <= n < 2**63 for row in rows for n in row):
            self.rows |= own
            return Sequence(F64 if classes == {float} else I64)
        return None

    def _lent(self, objects: list[Any]) -> Struct | None:
        """The type of objects or dicts that are alike, if all that they hold are numbers and such objects, and none is met in another place."""
        met: set[int] = set()
        found = self._alike(objects, met)
        held = self.constant if self.derivative else set()
        if found is None or not all(map(met.isdisjoint, (self.numbers, self.rows, held))):
            return None
        self.rows |= met
        return found

    def _alike(self, objects: list[Any], met: set[int]) -> Struct | None:
        cls = type(objects[0])
        if cls is dict:
            if any(type(k) is not str for k in objects[0]):
                return None
            order = tuple(objects[0])
            alike = all(tuple(x) == order for x in objects)
            return self._columns(objects, order, operator.itemgetter, met) if alike else None
        if issubclass(cls, tuple) or is_frozen(cls) or not (is_dataclass(cls) or plain_class(cls)) or obstacle(cls):
            return None
        names = field_order(cls, attribute_names(objects[0]))
        alike = all(set(attribute_names(x)) == set(names) for x in objects)
        return self._columns(objects, names, functools.partial(_getter, cls), met) if alike else None

    def _columns(
        self, objects: list[Any], names: tuple[str, ...], getter: Callable[[str], Any], met: set[int]
    ) -> Struct | None:
        """The type of objects that have these attributes or keys, which `getter` gets. What is neither numbers of one type nor
        such objects, but names, say, is an error where it is used; of other objects somebody else may know."""
        before = len(met)
        met.update(map(id, objects))
        if len(met) < before + len(objects) or not 0 < len(names) <= MAX_ITEMS:
            return None
        items: list[Type] = []
        for name in names:
            column = list(map(getter(name), objects))
            classes, item = set(map(type, column)), None
            if classes <= _PYTHON_SCALARS.keys() | _NUMPY_SCALARS.keys():
                types = set(map(self.of, column))
                item = types.pop() if len(types) == 1 else None
                item = item if item is not None and _is_flat(item) else None
            elif len(classes) == 1:
                item = self._alike(column, met)
            if item is None:
                if not all_plain(column):
                    return None
                item = Opaque(f"{name!r} of many objects, as they are not numbers of one type", _APART)
            items.append(item)
        if all(isinstance(item, Opaque) for item in items):
            return None
        return Struct(type(objects[0]), names, tuple(items), lent=True)

    def _holds_mutable(self, value: Any) -> bool:
        if isinstance(value, tuple):
            return any(map(self._holds_mutable, value))
        return type(value) not in _PYTHON_SCALARS and type(value) not in _NUMPY_SCALARS

    def _function(self, function: types.FunctionType) -> Type:
        """By code and captures; by identity where a function captures itself (its type would contain itself), and what is a
        public function of zyg."""
        if ATTRIBUTE in function.__dict__ or (function.__closure__ and singled_out(function.__code__)):
            return Const(function)
        if id(function) in self.open:
            hint = "pass what it has captured as an argument"
            return self._as_constant(function, UntypableValue("a function that calls itself and holds data", hint=hint))
        before, self.open = (dict(self.numbers), self.open, set(self.rows), self.sizes), (*self.open, id(function))
        self.sizes = False
        try:
            captured = tuple(map(self._cell, function.__closure__ or ()))
            defaults = tuple(map(self.of, function.__defaults__ or ()))
            kwdefaults = tuple((n, self.of(d)) for n, d in (function.__kwdefaults__ or {}).items())
        except UntypableValue as error:
            # What it holds may never be used in compiled code; if it is, inference looks at it and says which one.
            self.numbers, self.rows = before[0], before[2]
            return self._as_constant(function, error)
        finally:
            self.open, self.sizes = before[1], before[3]
        return Closure(function.__code__, captured, defaults, kwdefaults, id(function.__globals__), function)

    def _as_constant(self, function: types.FunctionType, error: UntypableValue) -> Const:
        """By identity, if nothing that it holds may have a derivative."""
        held = list(_data_of(function))
        if held and self.derivative:
            raise error
        self.constant.update(map(id, held))
        return Const(function)

    def _cell(self, cell: types.CellType) -> Type:
        try:
            contents = cell.cell_contents
        except ValueError:
            return Const(UNBOUND)
        return self.of(contents)


MAX_ITEMS = 200  # of an object or a dict
MAX_LIST = 40  # items of a list, and values of a dict that are not numbers, that are looked at one by one
_APART = "pass what is needed of them in a list of its own"
MAX_ROWS = 8  # lists of numbers in a list, likewise


def _holds_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or isinstance(value, (tuple, list)) and any(map(_holds_array, value))


def _is_flat(type: Type) -> bool:
    """Whether a list of such items is a few arrays: numbers, and tuples of them."""
    if isinstance(type, (Tuple, Struct)):
        return bool(type.items) and all(map(_is_flat, type.items))
    return isinstance(type, (Scalar, NpScalar))


def _is_of_numbers(value: Any) -> bool:
    """Whether this is an instance of a frozen dataclass that holds numbers, and instances of such."""
    if type(value) in _PYTHON_SCALARS or type(value) in _NUMPY_SCALARS:
        return True
    names = struct_fields(type(value)) if is_frozen(type(value)) else None
    return bool(names) and all(_is_of_numbers(getattr(value, name, None)) for name in names)


def is_dataclass(cls: type) -> bool:
    """As in the module `dataclasses`, which takes longer to load than most of ours, and is not needed without any."""
    return has_plainly(cls, "__dataclass_fields__")


def is_frozen(cls: type) -> bool:
    """Whether this is a frozen dataclass, whose instances are values."""
    return is_dataclass(cls) and getattr(cls, "__dataclass_params__").frozen  # noqa: B009


def struct_fields(cls: type) -> tuple[str, ...] | None:
    """The fields of a dataclass or named tuple; None for other classes."""
    if is_dataclass(cls):
        from dataclasses import fields

        return tuple(f.name for f in fields(cls))
    names = get_plainly(cls, "_fields") if issubclass(cls, tuple) else None
    return tuple(names) if names is not None else None


# What compiled code does itself for instances: a class that overrides it would mean something else.
_OWN_OBJECT = (
    "__setattr__", "__getattribute__", "__delattr__", "__new__", "__del__", "__index__", "__complex__", "__reversed__",
    "__floor__", "__ceil__", "__trunc__", "__divmod__", "__rdivmod__", "__missing__", "__array__", "__array_ufunc__",
    "__array_function__", "__array_interface__", "__get__", "__set__", "__delete__", "__dir__",
)  # fmt: skip
_OWN_NAMED_TUPLE = (
    "__new__", "__init__", "__len__", "__getitem__", "__iter__", "__contains__", "__getattribute__", "__getattr__",
)  # fmt: skip
_FIELD: Any = type(vars(namedtuple("_Named", "x"))["x"])  # what stands for a field in the class of a named tuple
_NOTHING_OF_THEIR_OWN = {object, Generic, Protocol, abc.ABC}


def generated(code: types.CodeType) -> bool:
    """Whether dataclass() or namedtuple() wrote this method."""
    if code.co_filename != "<string>":
        return False
    return code.co_qualname.startswith("__create_fn__.") or code.co_names == ("_tuple_new",)


def taken_over(cls: type) -> tuple[str, ...]:
    """The methods whose part compiled code plays itself for instances of a class, and the attributes that it takes as they are."""
    return _OWN_NAMED_TUPLE + (struct_fields(cls) or ()) if issubclass(cls, tuple) else _OWN_OBJECT


def obstacle(cls: type) -> tuple[str, str] | None:
    """Why compiled code does not follow instances of a class, and what to do about it; None if it does. (Of what its answer hangs on,
    `taken_over` and the bases may change.)"""
    for base in cls.__mro__:
        for name in taken_over(cls):
            method = vars(base).get(name)
            if isinstance(method, (types.FunctionType, staticmethod)) and base not in _NOTHING_OF_THEIR_OWN:
                code = get_plainly(get_plainly(method, "__func__", method), "__code__")
                if code is not None and not generated(code) and not code.co_filename.startswith("<frozen"):
                    hint = remedy(name) or f"take {name} out of the class"
                    if is_library(code.co_filename):
                        hint = remedy(qualified(cls)) or "write a plain class with what is needed of it"
                    return f"whose {name} native code does not follow", hint
    if issubclass(cls, tuple):
        for name in struct_fields(cls) or ():
            if not isinstance(inspect.getattr_static(cls, name), _FIELD):
                return (
                    f"which has another {name} than its field",
                    f"take {name} out of the class, or give it another name",
                )
    elif not (_of_plain_classes(cls) if is_dataclass(cls) else plain_class(cls)):
        return "which is not a plain class", "derive it from plain classes only, without a metaclass"
    return None


def plain_class(cls: type) -> bool:
    """Whether instances are nothing but their attributes: an ordinary class whose bases are such, written in Python."""
    if type(cls) not in (type, abc.ABCMeta, type(Protocol)) or cls in _NOTHING_OF_THEIR_OWN:
        return False
    if cls.__module__ in ("builtins", "zyg", "numpy") or cls.__module__.startswith(("zyg.", "numpy.")):
        return False
    return _of_plain_classes(cls)


def _of_plain_classes(cls: type) -> bool:
    for base in cls.__mro__:
        if base not in _NOTHING_OF_THEIR_OWN and (not base.__flags__ & _HEAP_TYPE or base.__flags__ & _IMMUTABLE_TYPE):
            return False
    return cls.__new__ is object.__new__


_IMMUTABLE_TYPE, _HEAP_TYPE = 1 << 8, 1 << 9


def attribute_names(value: Any) -> tuple[str, ...]:
    """The attributes that an instance of a plain class has of its own, those in slots first. (Its `__getattr__` is not asked.)"""

    def has(name: str) -> bool:
        try:
            object.__getattribute__(value, name)
        except AttributeError:
            return False
        return True

    own = object.__getattribute__(value, "__dict__") if has("__dict__") else ()
    return (*(n for n in slot_names(type(value)) if has(n)), *own)


def _getter(cls: type, name: str) -> Callable[[Any], Any]:
    """What gets an attribute that instances have of their own, also where a property of their class stands before it."""
    if any(name in vars(base) for base in cls.__mro__) and name not in slot_names(cls):
        return lambda value: vars(value)[name]
    return operator.attrgetter(name)


def field_order(cls: type, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of attributes, those of declared fields first and in their order."""
    declared = struct_fields(cls) or ()
    return (*(n for n in declared if n in names), *(n for n in names if n not in declared))


def dtype_scalar(dtype: np.dtype) -> Scalar | None:
    """The machine scalar of a NumPy dtype; None if there is none."""
    return _SCALAR_OF_DTYPE.get((dtype.kind, dtype.itemsize)) if dtype.isnative else None


def _array_type(array: np.ndarray) -> Array | ComplexArray:
    dtype = array.dtype
    scalar = dtype_scalar(dtype)
    complex_ = dtype.isnative and dtype.type is np.complex128
    if scalar is None and not complex_:
        if not dtype.isnative:
            raise UntypableValue(
                f"an array of {dtype}, whose byte order is not this machine's",
                hint="convert it: x.astype(x.dtype.newbyteorder('='))",
            )
        wider = next((text for cls, text in _CONVERSIONS.items() if issubclass(dtype.type, cls)), "")
        raise UntypableValue(f"an array of dtype {dtype}", hint=f"{wider and wider + ', or '}use an array of {_DTYPES}")
    if type(array) not in (np.ndarray, np.memmap):
        raise UntypableValue(
            f"a {type(array).__module__}.{type(array).__qualname__}, a subclass of ndarray",
            hint=remedy_for(array) or "pass np.asarray(x), which has the data alone",
        )
    if not array.flags.aligned:
        raise UntypableValue("an array whose elements are not aligned in memory", hint="pass x.copy()")
    layout = "C" if array.flags.c_contiguous else "A"
    if scalar is None:
        return ComplexArray(array.ndim, layout, bool(array.flags.writeable))
    return Array(scalar, array.ndim, layout, bool(array.flags.writeable))


def _refusal(value: Any) -> UntypableValue:
    cls = type(value)
    name = cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    if cls in (set, frozenset):
        hint = "pass a tuple or a dict"
    elif cls is np.complex64:
        hint = "pass a complex"
    elif isinstance(value, np.generic):
        hint = f"convert it to {_DTYPES}"
    else:
        hint = "pass numbers, arrays, tuples, lists, dicts, objects of plain classes or functions"
    article = "an" if name[0] in "aeiou" else "a"
    return UntypableValue(f"{article} {name} cannot be passed to native code", hint=hint)
