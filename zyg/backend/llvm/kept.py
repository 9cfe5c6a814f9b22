"""Functions of the library that are the same in every program, as modules of their own: they are compiled once, kept on disk as the
runtime is (cache.py), and linked once per process.

Their text says nothing of the program that calls them.  The numbers that stand for errors count from 1 in each; where there are
any, a function of the program, which has the name that is called, makes the program's numbers of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.core import Function
from ...ir.records import replace
from .lowered import FunctionABI, Lowered
from .text import ModuleText

LINES = 60  # of assembly, from which on a function is worth a call that LLVM does not see into
_NAME = "zyg_library"

Write = Callable[[Lowered, str, str], None]  # to a module, a function by its name, with this linkage


def is_library(function: Function) -> bool:
    """Whether it is one that library code shares between its calls."""
    return {"shared", "name"} <= function.attrs.keys()


def keep(lowered: Lowered, names: Sequence[str], write: Write) -> bool:
    """Make a function, and what it calls, a module of its own, if it can be one; whether it is."""
    from .cache import digest

    first = names[0]
    abi = lowered.signatures[first]
    alone = Lowered(ModuleText(), lowered.errors[:1], [], masks=lowered.masks)
    alone.signatures = {**lowered.signatures, first: replace(abi, symbol="@" + _NAME)}
    for name in names:
        write(alone, name, "" if name == first else "internal ")
    text = alone.text
    if text.count("\n") < LINES or alone.objects:
        return False
    symbol = f"{_NAME}_{digest(text)[:32]}"
    lowered.kept[symbol] = text.replace(f"@{_NAME}(", f"@{symbol}(")
    there = replace(abi, symbol="@" + symbol)
    lowered.module.externals[symbol] = there.declaration()
    if len(alone.errors) > 1:
        _call_with_numbers(lowered, abi, there, alone)
    else:
        lowered.signatures[first] = there
    return True


def _call_with_numbers(lowered: Lowered, abi: FunctionABI, there: FunctionABI, alone: Lowered) -> None:
    """The function that is called in the program."""
    before = len(lowered.errors) - 1
    lowered.errors += alone.errors[1:]
    arguments = there.declaration().partition("(")[2].removesuffix(")").split(", ")
    given = ", ".join(f"{type} %a{n}" for n, type in enumerate(arguments))
    lowered.module.functions.append(
        f"define internal fastcc {abi.result} {abi.symbol}({given}) {lowered.module.group('nounwind')} {{\n"
        "entry:\n"
        f"  %r = call fastcc {there.result} {there.symbol}({given})\n"
        f"  %own = extractvalue {there.result} %r, 0\n"
        "  %failed = icmp sgt i32 %own, 0\n"
        f"  %number = add i32 %own, {before}\n"
        "  %status = select i1 %failed, i32 %number, i32 %own\n"
        f"  %result = insertvalue {there.result} %r, i32 %status, 0\n"
        f"  ret {there.result} %result\n"
        "}"
    )
    if lowered.settled:
        lowered.settled.add(abi.symbol)
