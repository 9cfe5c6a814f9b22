"""What reads and writes text: what it gives carries no derivative, as long as nobody has put a number into it that it gives back."""

from __future__ import annotations

import _csv
import gc
import io
import re
import struct
import sys
from abc import ABCMeta
from collections import OrderedDict
from collections.abc import Iterator
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, NoneType
from typing import Any

from zyg.ir.plainly import own_attributes

from . import calls, foreign, iteration, matches, reach
from .arithmetic import find, is_python
from .attributes import ATTRIBUTES
from .calls import known, method
from .cotangents import INERT, NUMERIC
from .foreign_calls import call_foreign

READER, WRITER = type(_csv.reader(())), type(_csv.writer(io.StringIO()))

# What is gone through by C code alone, line by line, and what does so.
_LINED = frozenset({list, tuple, str, io.StringIO, io.TextIOWrapper})
_LINES = frozenset({io.StringIO, io.TextIOWrapper, type(iter([])), type(iter(())), type(iter(""))})
_STREAMS = frozenset({io.StringIO, io.TextIOWrapper})
# Of readers and writers: their dialect, the row that is being read, and the method `write` of what is written to.
_OF_READERS = _LINES | {list, str, NoneType, type, _csv.Dialect}
_OF_WRITERS = frozenset({str, NoneType, type, _csv.Dialect, BuiltinFunctionType})
_CELLS = INERT | {int, float}
_FORMAT = INERT | {int}


def is_text(x: Any) -> bool:
    """Whether it is text, or a list or tuple of texts."""
    t = type(x)
    return t in INERT or ((t is list or t is tuple) and INERT.issuperset(map(type, x)))


@known(io.StringIO)
def _kept(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Its methods are those of `matches`."""
    if INERT.issuperset(map(type, (*args, *kwargs.values()))):
        return io.StringIO(*args, **kwargs), None
    return call_foreign(io.StringIO, *args, **kwargs)


# ------------------------------------------------------------------------------------------------------------- tables


def reads_alone(reader: Any) -> bool:
    """Whether the next row is made by C code alone. (Each line has to be text.)

    >>> reads_alone(_csv.reader(["1,2"])), reads_alone(_csv.reader(map(str, "12")))
    (True, False)
    """
    return _OF_READERS.issuperset(map(type, gc.get_referents(reader)))


@known(_csv.reader)
def _reader(lines: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if _FORMAT.issuperset(map(type, (*args, *kwargs.values()))):
        if type(lines) in _LINED:
            return _csv.reader(lines, *args, **kwargs), None
        if _runs_code(lines):
            y, back = calls.call(_reading, (lines, args, kwargs))
            return y, None if back is None else (_run_reading, back)
    return call_foreign(_csv.reader, lines, *args, **kwargs)


def _run_reading(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else given[:2]


def _runs_code(lines: Any) -> bool:
    """Whether lines are made by code that is differentiated: what that does belongs between what is done with the rows."""
    t = type(lines)
    if issubclass(t, iteration.Iterator):
        return True
    of_library = str(t.__module__).partition(".")[0] in sys.stdlib_module_names
    return not of_library and any(is_python(find(t, name)) for name in ("__iter__", "__next__", "__getitem__"))


_END = object()


class Reader:
    """A `csv.reader` of such lines, in code that is differentiated."""

    def __init__(self, lines: Any, args: tuple[Any, ...], options: dict[str, Any]):
        self._lines = lines
        self._format = args, options
        self.dialect = _dialect(args, options)
        self.line_num = 0

    def __iter__(self) -> Reader:
        return self

    def __next__(self) -> list[Any]:
        lines = [next(self._lines)]
        while True:
            self.line_num += 1
            row = _row(lines, *self._format, False)
            if row is not None:
                return row
            line = next(self._lines, _END)
            if line is _END:
                return _row(lines, *self._format, True)
            lines.append(line)


def _reading(lines: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Reader:
    return Reader(iter(lines), args, options)


def _dialect(args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return _csv.reader((), *args, **options).dialect


class _GoesOn(Exception):
    pass


def _row(lines: list[str], args: tuple[Any, ...], options: dict[str, Any], are_all: bool) -> Any:
    """The row that lines are; None if it goes on."""

    def given() -> Iterator[str]:
        yield from lines
        if not are_all:
            raise _GoesOn

    try:
        return next(_csv.reader(given(), *args, **options))
    except _GoesOn:
        return None


for _function in (_dialect, _row, matches.told):  # which get text
    known(_function, exact=True)(partial(calls.call_plainly, _function))


def _rows(reader: Any) -> tuple[Any, Any]:
    return (reader, None) if reads_alone(reader) else (iteration.unknown(reader), iteration.NOTHING)


def _lines_read(reader: Any) -> tuple[Any, Any]:
    return reader.line_num, None


def _of_format(name: str) -> Any:
    return lambda x: (getattr(x, name), None)


iteration.SOURCES[READER] = _rows
ATTRIBUTES[READER, "line_num"] = _lines_read
for _name in ("format", "size"):
    ATTRIBUTES[struct.Struct, _name] = _of_format(_name)
for _function in (struct.pack, struct.unpack, struct.unpack_from, struct.calcsize):
    known(_function)(partial(matches.call_on_bytes, _function, call_foreign))


def reads_rows(x: Any) -> bool | None:
    """Whether a `csv.DictReader` gives nothing but text; None for objects of other classes."""
    csv = sys.modules.get("csv")
    if csv is None or type(x) is not csv.DictReader:
        return None
    held = vars(x)
    reader, names = held.get("reader"), held.get("_fieldnames")
    if type(reader) is not READER or not reads_alone(reader):
        return False
    if names is not None and not (type(names) in (list, tuple) and _TEXTS.issuperset(map(type, names))):
        return False
    return type(held.get("restval")) in _TEXTS and type(held.get("restkey")) in _TEXTS


_TEXTS = frozenset({str, NoneType})


def _writes_alone(writer: Any) -> bool:
    """Whether text is written by C code alone.

    >>> _writes_alone(_csv.writer(io.StringIO()))
    True
    """
    held = gc.get_referents(writer)
    if not _OF_WRITERS.issuperset(map(type, held)):
        return False
    return all(type(f.__self__) in _STREAMS for f in held if type(f) is BuiltinFunctionType)


def _is_row(row: Any) -> bool:
    return type(row) in (list, tuple) and _CELLS.issuperset(map(type, row))


def writes_row(x: Any, row: Any) -> bool:
    """Whether a `csv.DictWriter` writes a row, or several, by C code and the library's own code alone."""
    csv = sys.modules.get("csv")
    if csv is None or type(x) is not csv.DictWriter:
        return False
    held = vars(x)
    writer, names = held.get("writer"), held.get("fieldnames")
    if type(writer) is not WRITER or not _writes_alone(writer) or type(held.get("restval")) not in _CELLS:
        return False
    if type(names) not in (list, tuple) or not _TEXTS.issuperset(map(type, names)):
        return False
    rows = row if type(row) in (list, tuple) else (row,)
    return all(
        type(r) is dict and INERT.issuperset(map(type, r)) and _CELLS.issuperset(map(type, r.values())) for r in rows
    )


@method(WRITER, "writerow", exact=True)
def _write_row(writer: Any, row: Any, /) -> tuple[Any, Any]:
    """It tells how much was written."""
    if _is_row(row) and _writes_alone(writer):
        return writer.writerow(row), None
    return calls.call_foreign_method(writer.writerow, writer, row)


@method(WRITER, "writerows", exact=True)
def _write_rows(writer: Any, rows: Any, /) -> tuple[Any, Any]:
    if type(rows) in (list, tuple) and all(map(_is_row, rows)) and _writes_alone(writer):
        return writer.writerows(rows), None
    return calls.call_foreign_method(writer.writerows, writer, rows)


# ---------------------------------------------------------------------------------------- objects that read text


def hold_text(objects: tuple[Any, ...]) -> bool:
    """Whether it is plain that objects of the library hold nothing but text, and functions and classes of the library's."""
    level, seen = list(objects), set[int]()
    while level:
        kinds = set(map(type, level)) - _ENDING
        if not all(t in _HOLDING or t in _CODE or t.__module__ in _READING for t in kinds):
            return False
        further = []
        for x in level:
            t = type(x)
            if t in kinds and id(x) not in seen:
                seen.add(id(x))
                if t not in _CODE:
                    further.append(x)
                elif not _is_of_library(x):
                    return False
        level = gc.get_referents(*further)
    return True


def _is_of_library(x: Any) -> bool:
    if type(x) is FunctionType:
        return foreign.is_of_library(x.__code__.co_filename)
    if type(x) is BuiltinFunctionType:
        of = x.__self__
        return type(of) is ModuleType or (type(of) is dict and of is _constants_of_json())
    return not x.__flags__ & _HEAP or x.__module__ in _READING or x.__module__ in _OF_LIBRARY


def _constants_of_json() -> Any:
    """What decoders take `NaN` and its like from."""
    return getattr(sys.modules.get("json.decoder"), "_CONSTANTS", None)


_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_HOLDING = frozenset({dict, OrderedDict, list, tuple, set, frozenset, partial, MethodType})
_CODE = frozenset({FunctionType, BuiltinFunctionType, type, ABCMeta})
_ENDING = (INERT - _CODE) | {re.Pattern}
_READING = reach.READ | {"_json"}
_OF_LIBRARY = frozenset({"collections", "collections.abc", "functools", "re", "io"})


# Attributes that rows are filled with, whatever they are: ints in others are counted by the object itself.
_FILLING = frozenset({"restkey", "restval"})
_CONTAINERS = (list, tuple, set, frozenset)


def hold_numbers(objects: tuple[Any, ...]) -> bool:
    """Whether there are numbers in objects of the library that read text, beside what these count, or steps that are differentiated."""
    seen = set[int]()
    work: list[Any] = list(objects)
    while work:
        x = work.pop()
        t = type(x)
        if t in INERT or id(x) in seen:
            continue
        seen.add(id(x))
        if issubclass(t, (*NUMERIC, iteration.Iterator)) or (t is READER and not reads_alone(x)):
            return True
        if issubclass(t, dict):
            work.extend(x.values())
        elif issubclass(t, _CONTAINERS):
            if not INERT.issuperset(map(type, x)):
                work.extend(x)
        elif not issubclass(t, type):
            held = own_attributes(x)
            if type(held) is dict:
                work.extend(v for name, v in held.items() if type(v) is not int or name in _FILLING)
    return False


__all__ = ["READER", "hold_numbers", "hold_text", "is_text", "reads_alone", "reads_rows"]
