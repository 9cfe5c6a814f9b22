"""The two forms of a forward half, plain and watched, and how a call comes to the one that is wanted.

Where a function is looked up while a `try` body runs, the watched form is found. A plain half that was found before asks at its
start whether one runs now, and has the watched form do the work then.
"""

from __future__ import annotations

import weakref
from types import CellType, CodeType, FunctionType
from typing import Any

from zyg.errors import Unsupported
from zyg.ir.core import Block, Const, Function, Instr, Target, Value
from zyg.ir.types import BOOL, OBJECT

from ..trying import bodies
from .forward import is_prologue


class Watched:
    """The watched form of the functions of a code object; `bound`: for methods."""

    __slots__ = ("__weakref__", "_code", "bound")

    def __init__(self, code: CodeType, bound: bool):
        self._code = weakref.ref(code)
        self.bound = bound

    @property
    def code(self) -> CodeType | None:
        return self._code()

    def function(self, cells: tuple[CellType, ...], scope: dict[str, Any]) -> FunctionType:
        from .compile import differentiated

        code = self._code()
        if code is None:
            raise Unsupported(
                "a call, in a `try` body, of a function of which only a reference from within another object is left",
                hint="keep the function under a name until it has been called",
            )
        made = differentiated(code, self.bound, scope, watched=True)
        return FunctionType(made, scope, made.co_name, None, cells or None)


def run_watched(watched: Watched, cells: tuple[CellType, ...], scope: dict[str, Any], *args: Any) -> Any:
    """What a plain half is while a `try` body runs."""
    return watched.function(cells, scope)(*args)


def ask_at_start(half: Function, watched: Watched) -> Function:
    """Let a plain half ask which form is wanted; it is changed."""
    entry = half.entry
    cells: list[Value] = [Value(OBJECT) for _ in half.attrs.get("free", ())]
    found = [Instr("free_cell", [], [c], {"name": name}) for c, name in zip(cells, half.attrs.get("free", ()))]
    at = next(n for n, i in enumerate(entry.instrs) if not is_prologue(i))
    begin, other = Block("begin"), Block("watched")
    begin.instrs = entry.instrs[at:]
    asked = Value(BOOL)
    entry.instrs[at:] = [
        Instr("truth", [Const(bodies, OBJECT)], [asked]),
        Instr("branch", [asked], [], {}, [Target(other), Target(begin)]),
    ]
    closure, scope, pair = Value(OBJECT), Value(OBJECT), Value(OBJECT)
    other.instrs = [
        *found,
        Instr("tuple", cells, [closure]),
        Instr("call_object", [Const(globals, OBJECT)], [scope], {"keywords": ()}),
    ]
    # What is a variable of inner functions has gone to its cell.
    held = {i.operands[0]: i for i in entry.instrs if i.op == "new_cell" and i.operands}
    args: list[Value] = []
    for p in half.params:
        args.append(p)
        if p in held:
            args[-1] = Value(OBJECT)
            other.instrs.append(Instr("get_cell", [held[p].result], [args[-1]], dict(held[p].attrs)))
    operands = [Const(run_watched, OBJECT), Const(watched, OBJECT), closure, scope, *args]
    other.instrs.append(Instr("call_object", operands, [pair], {"keywords": ()}))
    other.instrs.append(Instr("return", [pair]))
    half.blocks.insert(1, begin)
    half.blocks.append(other)
    return half


__all__ = ["Watched", "ask_at_start", "run_watched"]
