"""Functions of the library whose machine code is there already, made by an earlier process: what a `readymade` names.

Nothing is known of how they compute, but for what differentiation knows of any function that is called (autodiff/activity.py).
"""

from __future__ import annotations

from typing import Any

from .core import Function
from .records import record


@record(frozen=True)
class Readymade:
    """`entry`: the name of the object file on disk; `imports`: what that takes from elsewhere; `taken`: whether each component of its
    parameters is passed, None for all; `errors`: what the numbers stand for that it gives, from 1 on: exception, message, and
    the types of the values in it; `summary`: the fields of its `activity.Summary`, those that are no lists of numbers as such."""

    symbol: str
    entry: str
    imports: tuple[str, ...]
    needs_ctx: bool
    fails: bool
    taken: tuple[bool, ...] | None
    errors: tuple[tuple[str, str, tuple[str, ...]], ...]
    summary: tuple[tuple[Any, ...], ...]

    def __repr__(self) -> str:
        return self.symbol


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
    """Somebody has to see into a function that is there as machine code only: the program is compiled again, with its body."""

    def __init__(self, code: Readymade):
        super().__init__(code.symbol)
        self.code = code


__all__ = ["NeedsBody", "Readymade", "code_of", "require_body"]
