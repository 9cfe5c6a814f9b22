"""Python exceptions out of native code: with the user's file, line, function and columns in the traceback.

A failed check is an index into the module's error table.  The exception is raised from a small function whose code
object claims to be the user's, at the position of the check, so that the traceback reads as if Python had run the code.
"""

from __future__ import annotations

import builtins
import ctypes
import importlib
import re
import types
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..ir.core import Position
from ..ir.departures import departs, plain
from ..ir.types import BOOL, F32, F64, I32, I64, U8, Type

_C_TYPES: dict[Type, Any] = {
    F64: ctypes.c_double, F32: ctypes.c_float, I64: ctypes.c_int64, I32: ctypes.c_int32, U8: ctypes.c_uint8,
    BOOL: ctypes.c_bool,
}  # fmt: skip


class Site(Protocol):
    """What an entry of an error table tells (see lower.ErrorSite)."""

    @property
    def exception(self) -> Any: ...
    @property
    def message(self) -> str: ...
    @property
    def position(self) -> Position | None: ...
    @property
    def types(self) -> tuple[Type, ...]: ...


def make_raiser(errors: Sequence[Site], departures: bool = False) -> Callable[[int, int], Callable[[], Any]]:
    """The function that native code calls with a status and the address of the values for the message. What it gives raises the
    error; with `departures`, of one that CPython does not raise, it gives that function (see `zyg_departed`)."""

    def prepare(status: int, address: int) -> Callable[[], Any]:
        site = errors[status]
        found = raising(make_exception(site, address), site.position)
        if not (departures and departs(site.exception)):
            return found
        vars(found)["position"] = site.position
        return lambda: found

    return prepare


def make_exception(site: Site, address: int) -> BaseException:
    values = [_C_TYPES[t].from_address(address + 8 * k).value for k, t in enumerate(site.types)]
    message = site.message.format(*values) if values else site.message
    cls = site.exception
    if isinstance(cls, str):
        module, _, name = plain(cls).rpartition(".")
        cls = getattr(importlib.import_module(module) if module else builtins, name)
    error = cls(message) if message else cls()
    if type(error) in (AttributeError, NameError) and (named := _NAMED.search(message)) is not None:
        error.name = named[1]  # as CPython has it; it is all that native code knows of what was looked for
    return error


_NAMED = re.compile(r"(?:has no attribute|^name|^cannot access free variable) '(\w+)'")


def _raise(error: BaseException) -> None:
    raise error


def raising(error: BaseException, position: Position | None) -> Callable[[], None]:
    """A function without arguments that raises `error` from the given place."""
    code = _raise.__code__
    if position is not None:
        name = position.function.rpartition(".")[2] or "<native>"
        code = code.replace(
            co_filename=position.file,
            co_name=name,
            co_qualname=position.function or name,
            co_firstlineno=max(1, position.line),
            co_linetable=_locations(position, len(code.co_code) // 2),
        )
    return types.FunctionType(code, {}, None, (error,))


def placing(position: Position, own_frames: int) -> Callable[[BaseException], Callable[[], None]]:
    """What native code asks about an exception that leaves a Python function which it has called there: the function that
    raises it from that place. The first `own_frames` of its traceback are not the user's."""

    def placed(error: BaseException) -> Callable[[], None]:
        for _ in range(own_frames):
            if error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
        return raising(error, position)

    return placed


def _locations(position: Position, units: int) -> bytes:
    """A line table (Objects/locations.md in CPython) that puts every instruction at `position`."""
    has_columns = position.end_line >= position.line and position.end_column > 0
    result = bytearray()
    while units > 0:
        length = min(units, 8)
        if has_columns:
            result.append(0x80 | 14 << 3 | length - 1)  # long form; lines relative to the first
            result += _varint(0)
            result += _varint(position.end_line - position.line)
            result += _varint(position.column + 1)
            result += _varint(position.end_column + 1)
        else:
            result.append(0x80 | 13 << 3 | length - 1)  # no columns
            result += _varint(0)
        units -= length
    return bytes(result)


def _varint(value: int) -> bytes:
    """Groups of six bits, least significant first; a signed number has its sign in the lowest bit (0 here anyway)."""
    result = bytearray()
    while value >= 64:
        result.append(0x40 | value & 63)
        value >>= 6
    result.append(value)
    return bytes(result)
