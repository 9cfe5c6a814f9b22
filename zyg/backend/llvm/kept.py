"""Functions of the library that are the same in every program, as modules of their own: they are compiled once, kept on disk as the
runtime is (cache.py), and linked once per process.

Their text says nothing of the program that calls them.  The numbers that stand for errors count from 1 in each; where there are
any, a function of the program, which has the name that is called, makes the program's numbers of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.core import Module
from ...ir.readymade import Readymade
from ...ir.records import replace
from .lowered import ErrorSite, FunctionABI, Lowered
from .lowering.registry import has_loops
from .text import ModuleText

LINES = 60  # of assembly, from which on a function is worth a call that LLVM does not see into
# Operations on all elements of arrays, from which on equal ones are a function: a few are loops in their place, of which LLVM makes more.
MANY_LOOPS = 8
_NAME = "zyg_library"

Write = Callable[[Lowered, str, str], None]  # to a module, a function by its name, with this linkage


def keep(lowered: Lowered, names: Sequence[str], write: Write, module: Module) -> bool:
    """Make a function, and what it calls, a module of its own, if it can be one; whether it is."""
    offers = module.functions[names[0]].attrs.get("offers", ())
    found = apart(
        lowered,
        names,
        write,
        0 if any(offer.found and not offer.half for offer in offers) else LINES,
        sum(has_loops(i) for name in names for _, i in module.functions[name].instructions()) > MANY_LOOPS,
    )
    if found is None:
        return False
    there, errors = found
    if offers and all(isinstance(site.exception, str) for site in errors):
        lowered.offers[names[0]] = _code(there, errors)
    abi = lowered.signatures[names[0]]
    if errors:
        _call_with_numbers(lowered, abi, there, errors)
    else:
        lowered.signatures[names[0]] = there
    return True


def apart(
    lowered: Lowered, names: Sequence[str], write: Write, least: int = LINES, shares: bool = False
) -> tuple[FunctionABI, list[ErrorSite]] | None:
    """How to call a function that is a module of its own, and the errors for which its numbers stand, from 1 on; None if it cannot
    be one, or has fewer lines than `least`. `shares`: operations on all elements of arrays are functions in it."""
    from .cache import digest

    abi = lowered.signatures[names[0]]
    alone = Lowered(
        ModuleText(), lowered.errors[:1], [], masks=lowered.masks, plain_loops=lowered.plain_loops, alone=True,
        shares=shares,
    )  # fmt: skip
    # Which numbers their names have depends on what else there is in the program.
    symbols = {name: f"@{_NAME}.{n}" if n else f"@{_NAME}" for n, name in enumerate(names)}
    alone.signatures |= {name: replace(lowered.signatures[name], symbol=new) for name, new in symbols.items()}
    for name in names:
        write(alone, name, "" if name == names[0] else "internal ")
    text = alone.text
    if text.count("\n") < least or alone.objects or alone.readymade:
        return None
    symbol = f"{_NAME}_{digest(text)[:32]}"
    lowered.kept[symbol] = text.replace(f"@{_NAME}(", f"@{symbol}(")
    there = replace(abi, symbol="@" + symbol)
    lowered.module.externals[symbol] = there.declaration()
    return there, alone.errors[1:]


def _code(there: FunctionABI, errors: Sequence[ErrorSite]) -> Readymade:
    """What is known here of a function that others may call without having seen it."""
    sites = tuple((site.exception, site.message, tuple(map(str, site.types))) for site in errors)
    return Readymade(there.symbol[1:], "", (), there.needs_ctx, there.fails, there.taken, sites, ())


def _call_with_numbers(lowered: Lowered, abi: FunctionABI, there: FunctionABI, errors: Sequence[ErrorSite]) -> None:
    """The function that is called in the program."""
    before = len(lowered.errors) - 1
    lowered.errors += errors
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
