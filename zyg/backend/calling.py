"""From typed functions to Python callables: what a caller of the back end uses.

    native = compile_module(module, "f", options, Signature(parameters, result))
    entry = make_entry(native, ("x", "n"), guards=..., inputs=...)
    f = new_callable(dispatcher, "f")
    set_entries(f, [entry])

The native code converts arguments and results itself (llvm/entry.py, llvm/unboxing.py, llvm/boxing.py); this module has
what it asks Python for: building structured results of their leaves.
"""

from __future__ import annotations

import builtins
import itertools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..ir.dtypes import NUMPY_SCALARS
from ..ir.types import (
    BOOL,
    F64,
    I64,
    NONE,
    Closure,
    Complex,
    Const,
    DictType,
    ListType,
    NpScalar,
    ObjectOf,
    Opaque,
    RangeType,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    all_plain,
    flatten,
    slot_names,
)
from .callable import Entry, new_callable, set_entries
from .llvm.entry import Signature
from .llvm.native import Native, compile_module

make_entry = Entry


def rebuild(type: Type) -> Callable[..., Any]:
    """The function that makes an object of a structured type of its items.

    >>> from zyg.ir.types import F64, RANGE
    >>> rebuild(ListType((F64, F64)))(1.0, 2.0), rebuild(RANGE)(0, 3, 1)
    ([1.0, 2.0], range(0, 3))
    """
    if isinstance(type, ListType):
        return lambda *items: list(items)
    if isinstance(type, Sequence):
        return lambda length, *columns: _items(type.item, iter(columns), length)
    if isinstance(type, DictType):
        return lambda *items: dict(zip(type.keys, items, strict=True))
    if isinstance(type, ObjectOf):
        return _object_builder(type)
    if isinstance(type, RangeType):
        return range
    if isinstance(type, Struct):
        return _struct_builder(type)
    if isinstance(type, Closure):
        return _closure_builder(type)
    raise TypeError(f"a value of type {type} cannot be given to Python")


def _items(item: Type, columns: Iterator[Any], length: int) -> list[Any]:
    """The items of a list of run-time length, from an array per leaf (which may have room for more)."""
    if isinstance(item, NpScalar):
        return list(next(columns)[:length])
    if isinstance(item, Scalar):
        return next(columns)[:length].tolist()
    if isinstance(item, Complex):
        numbers = np.empty(length, complex)
        numbers.real, numbers.imag = (next(columns)[:length] for _ in range(2))
        return list(numbers) if item.numpy else numbers.tolist()
    if isinstance(item, Sequence):
        lengths, *begins = (next(columns)[:length].tolist() for _ in flatten(item))
        pools = [(next(columns), next(columns))[1] for _ in begins]
        return [
            _items(item.item, (pool[begin : begin + n] for pool, begin in zip(pools, at, strict=True)), n)
            for n, *at in zip(lengths, *begins, strict=True)
        ]
    if isinstance(item, (Tuple, Struct)):
        parts = [_items(part, columns, length) for part in item.items]
        rows = list(zip(*parts, strict=True)) if parts else [()] * length
        if isinstance(item, Tuple):
            return rows
        if issubclass(item.cls, tuple):
            return list(map(tuple.__new__, itertools.repeat(item.cls), rows))
        return list(itertools.starmap(_struct_builder(item), rows))
    return [rebuild_constant(item)] * length


def rebuild_constant(type: Type) -> Any:
    """The value of a type without leaves."""
    if type is NONE:
        return None
    if isinstance(type, Const):
        return type.value
    raise TypeError(f"a value of type {type} cannot be given to Python")


def require_apart(lists: tuple[list[Any] | None, ...]) -> bool:
    """Raises if a row of the lists of lists, or an object of the lists of objects, which stand before None, is in two places, or is
    one of the other objects behind it.

    >>> row = [1.0]
    >>> require_apart(([row, [2.0]], None, [3.0]))
    True
    >>> require_apart(([row, [2.0]], None, row))
    Traceback (most recent call last):
    TypeError: one list in two places
    """
    place = lists.index(None)
    met = set(map(id, lists[place + 1 :]))
    for table in lists[:place]:
        assert table is not None
        rows = set(map(id, table))
        if len(rows) < len(table) or not met.isdisjoint(rows):
            raise TypeError("one list in two places")
        met |= rows
    return True


def columns(type: Sequence) -> Callable[[list[Any]], tuple[Any, ...]]:
    """The function that makes the length and the arrays of a list, and a list of the objects in it that are only lent; it raises if
    the list is of another type.

    >>> from zyg.ir.types import F64, Tuple
    >>> columns(Sequence(Tuple((F64, F64))))([(1.0, 2.0), (3.0, 4.0)])
    (2, array([1., 3.]), array([2., 4.]), [])
    """

    def of(items: Any, item: Type, found: list[Any], objects: list[Any]) -> None:
        if isinstance(item, Opaque):
            if not all_plain(items):
                raise TypeError
            return
        if isinstance(item, Struct) and item.lent:
            objects += items
            for column, t in zip(_attributes(items, item), item.items, strict=True):
                of(column, t, found, objects)
            return
        if isinstance(item, Struct) and not issubclass(item.cls, tuple):
            if set(map(_class, items)) != {item.cls}:
                raise TypeError
            for name, t in zip(item.names, item.items, strict=True):
                of(list(map(operator.attrgetter(name), items)), t, found, objects)
            return
        if isinstance(item, (Tuple, Struct)):
            expected = tuple if isinstance(item, Tuple) else item.cls
            if not (set(map(_class, items)) <= {expected} and all(len(i) == len(item.items) for i in items)):
                raise TypeError
            parts = list(zip(*items, strict=True)) or [()] * len(item.items)
            for part, t in zip(parts, item.items, strict=True):
                of(part, t, found, objects)
            return
        if isinstance(item, Complex):
            if not set(map(_class, items)) <= {np.complex128 if item.numpy else complex}:
                raise TypeError
            found += [np.array([x.real for x in items]), np.array([x.imag for x in items])]
            return
        if isinstance(item, Sequence):
            if set(map(_class, items)) != {list}:
                raise TypeError
            lengths = np.fromiter(map(len, items), np.int64, len(items))
            found += [lengths, np.cumsum(lengths) - lengths, int(lengths.sum())]
            of(list(itertools.chain.from_iterable(items)), item.item, found, objects)
            return
        scalar = item.scalar if isinstance(item, NpScalar) else item
        assert isinstance(scalar, Scalar)
        dtype = NUMPY_SCALARS[scalar]
        expected = dtype if isinstance(item, NpScalar) else {F64: float, I64: int, BOOL: bool}[scalar]
        if not set(map(_class, items)) <= {expected}:
            raise TypeError
        found.append(np.array(items, dtype))

    def split(items: list[Any]) -> tuple[Any, ...]:
        if not items:
            raise TypeError  # an empty list has no item to tell its type
        found: list[Any] = []
        objects: list[Any] = []
        of(items, type.item, found, objects)
        return (len(items), *found, objects)

    return split


def _attributes(objects: list[Any], type: Struct) -> list[list[Any]]:
    """What the attributes of objects are, one after the other; it raises unless all are of the class and have just these."""
    if set(map(_class, objects)) != {type.cls}:
        raise TypeError
    if type.cls is dict:
        if set(map(tuple, objects)) != {type.names}:
            raise TypeError
        return [list(map(operator.itemgetter(name), objects)) for name in type.names]
    slots = slot_names(type.cls)
    inside = len(set(type.names).difference(slots))
    dicts = list(map(vars, objects)) if getattr(type.cls, "__dictoffset__", 0) else []
    if dicts and set(map(len, dicts)) != {inside}:
        raise TypeError
    for name in set(slots).difference(type.names):
        if any(hasattr(x, name) for x in objects):
            raise TypeError
    return [
        list(map(operator.attrgetter(name), objects) if name in slots else map(operator.itemgetter(name), dicts))
        for name in type.names
    ]


_class = builtins.type


def writer(write: Any) -> Callable[..., None]:
    """The function that gives an object that came in as an argument the contents it has now."""
    content = write.content
    if isinstance(content, (ListType, Sequence)):
        make = rebuild(content)

        def write_list(target: list[Any], *items: Any) -> None:
            target[:] = make(*items)

        return write_list
    if isinstance(content, DictType):

        def write_dict(target: dict[str, Any], *items: Any) -> None:
            for key in write.removed:
                del target[key]
            target.update(zip(content.keys, items, strict=True))

        return write_dict

    def write_object(target: Any, *items: Any) -> None:
        for name in write.removed:
            object.__delattr__(target, name)
        for name, item in zip(content.names, items, strict=True):
            object.__setattr__(target, name, item)

    return write_object


def _object_builder(type: ObjectOf) -> Callable[..., Any]:
    cls, names = type.cls, type.names

    def build(*items: Any) -> Any:
        # The compiled code has run __init__ already: the attributes are the final ones.
        result = object.__new__(cls)
        for name, item in zip(names, items, strict=True):
            object.__setattr__(result, name, item)
        return result

    return build


def _struct_builder(type: Struct) -> Callable[..., Any]:
    cls, names = type.cls, type.names
    if issubclass(cls, tuple):
        return lambda *items: tuple.__new__(cls, items)
    if cls is slice:
        return slice
    if cls is dict:
        return lambda *items: dict(zip(names, items, strict=True))

    def build(*items: Any) -> Any:
        # The compiled code has run __init__ and __post_init__ already: the fields are the final ones.
        result = object.__new__(cls)
        for name, item in zip(names, items, strict=True):
            object.__setattr__(result, name, item)
        return result

    return build


def _closure_builder(type: Closure) -> Callable[..., Any]:
    captured, defaults = len(type.captured), len(type.defaults)
    model = type.function

    def build(*items: Any) -> types.FunctionType:
        cells = tuple(types.CellType(item) for item in items[:captured])
        positional = items[captured : captured + defaults] or None
        function = types.FunctionType(type.code, model.__globals__, model.__name__, positional, cells)
        if type.kwdefaults:
            names = [name for name, _ in type.kwdefaults]
            function.__kwdefaults__ = dict(zip(names, items[captured + defaults :], strict=True))
        function.__qualname__ = model.__qualname__
        function.__doc__ = model.__doc__
        return function

    return build


__all__ = ["Entry", "Native", "Signature", "compile_module", "make_entry", "new_callable", "rebuild", "set_entries"]
