"""Calls of C functions by symbol: BLAS, LAPACK, special functions."""

from __future__ import annotations

from ....ir.core import Instr
from ....ir.foreign import ARRAYS, arguments
from ....ir.types import F32, F64, I32, I64, U8, Scalar
from ..lowered import LoweringError
from ..text import ARENA
from .arrays import parts_of
from .function import FunctionLowering, scalar_type
from .registry import lowers

_TYPES = {F64: "double", F32: "float", I32: "i32", U8: "i8"}


@lowers("foreign")
def foreign(e: FunctionLowering, instr: Instr) -> None:
    """Numbers by pointer live on the stack; an integer is as wide as the C function wants it."""
    wide = f"i{instr.attrs['int']}"
    results = iter(instr.results)
    returned = next(results) if instr.attrs.get("returns") else None
    given: list[str] = []
    places: list[tuple[Scalar, str, str]] = []
    for letter, operand in arguments(instr):
        if letter in ARRAYS:
            assert operand is not None
            given.append(f"ptr {parts_of(e, operand).data}")
            continue
        value = next(results) if operand is None else operand
        own = scalar_type(value)
        type = _foreign_type(own, wide)
        if letter == "v":
            given.append(f"{type} {_narrowed(e, e.value(value), own, wide)}")
            continue
        place = e.alloca(type, value.name or "argument")
        if letter == "p":
            e.emit(f"store {type} {_narrowed(e, e.value(value), own, wide)}, ptr {place}")
        else:
            places.append((own, type, place))
        given.append(f"ptr {place}")
    result = "void" if returned is None else _foreign_type(scalar_type(returned), wide)
    types = ", ".join(argument.partition(" ")[0] for argument in given)
    callee = e.module.external(instr.attrs["symbol"], result, types, ARENA)
    made = e.call(result, callee, *given, hint="returned")
    values = [] if returned is None else [_widened(e, made, scalar_type(returned), wide)]
    for own, type, place in places:
        values.append(_widened(e, e.let(f"load {type}, ptr {place}", "out"), own, wide))
    for value, name in zip(instr.results, values, strict=True):
        e.bind(value, [name])


def _foreign_type(scalar: Scalar, wide: str) -> str:
    if scalar is I64:
        return wide
    if scalar not in _TYPES:
        raise LoweringError(f"a {scalar} is nothing that a C function takes")
    return _TYPES[scalar]


def _narrowed(e: FunctionLowering, value: str, scalar: Scalar, wide: str) -> str:
    return e.let(f"trunc i64 {value} to {wide}") if scalar is I64 and wide != "i64" else value


def _widened(e: FunctionLowering, value: str, scalar: Scalar, wide: str) -> str:
    return e.let(f"sext {wide} {value} to i64") if scalar is I64 and wide != "i64" else value
