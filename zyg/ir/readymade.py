"""Functions of the library whose machine code is there already, made by an earlier process: what a `readymade` names.

Nothing is known of how they compute, but for what differentiation knows of any function that is called (autodiff/activity.py).
"""

from __future__ import annotations

from typing import Any

from .core import Block, Function, Instr, Position, Value
from .records import record

SHARES, CHANGED = (
    4,
    5,
)  # fields of a summary: what results share memory with, and the array parameters that are written to


@record(frozen=True)
class Readymade:
    """`entry`: the name of the object file on disk; `imports`: what that takes from elsewhere; `taken`: whether each component of its
    parameters is passed, None for all; `errors`: what the numbers stand for that it gives, from 1 on: exception, message, and
    the types of the values in it; `summary`: the fields of its `activity.Summary`, those that are no lists of numbers as such;
    `written`: the array parameters that it writes to, if it does nothing else besides giving its results (passes/writes.py);
    `halves`: the name by which those of its adjoint are found, if some are there (frontend/readymade.py)."""

    symbol: str
    entry: str
    imports: tuple[str, ...]
    needs_ctx: bool
    fails: bool
    taken: tuple[bool, ...] | None
    errors: tuple[tuple[str, str, tuple[str, ...]], ...]
    summary: tuple[tuple[Any, ...], ...]
    written: tuple[int, ...] | None = None
    halves: str = ""

    def __repr__(self) -> str:
        return self.symbol


def is_library(function: Function) -> bool:
    """Whether it is one that library code shares between its calls: what becomes of it does not depend on what else there is in a
    program, as it may be kept for others."""
    return {"shared", "name"} <= function.attrs.keys()


def function_of(
    code: Readymade, name: str, params: list[Value], results: list[Value], position: Position | None
) -> Function:
    """A function that is one of these, and nothing else."""
    block = Block("entry", params)
    block.instrs = [
        Instr("readymade", list(params), results, {"code": code}, position=position),
        Instr("return", list(results), position=position),
    ]
    function = Function(name, [block], tuple(v.type for v in results))
    function.attrs["shared"] = True
    return function


def code_of(function: Function) -> Readymade | None:
    """The code of a function that is one of these."""
    instrs = function.blocks[0].instrs
    return instrs[0].attrs["code"] if instrs and instrs[0].op == "readymade" else None


def require_body(function: Function) -> None:
    """NeedsBody if there is none."""
    code = code_of(function)
    if code is not None:
        raise NeedsBody(code)


class NeedsBody(Exception):
    """Somebody has to see into functions that are there as machine code only: the program is compiled again, with their bodies."""

    def __init__(self, *codes: Readymade):
        super().__init__(*[code.symbol for code in codes])
        self.codes = codes


__all__ = ["CHANGED", "SHARES", "NeedsBody", "Readymade", "code_of", "function_of", "is_library", "require_body"]
