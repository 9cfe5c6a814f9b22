"""C functions that are called by address: who knows where they are, and what a call says about its arguments.

The IR names such a function by a symbol, `provider.name`.  Compiled code is kept on disk, so addresses never stand in
it: they are asked of the provider when code is linked.

The attribute `spec` of the op `foreign` has a letter per argument of the C function:

    r   the data of an array, which is read               v   a number by value
    w   that of one that is set, every element of it      p   a pointer to a number
    m   that of one that is read and written to           o   a pointer to a number that is the next result; no operand
"""

from __future__ import annotations

from collections.abc import Callable

from .core import Instr, Value

ARRAYS, WRITTEN = "rwm", "wm"

_providers: dict[str, Callable[[str], int | None]] = {}


def provide(prefix: str, address: Callable[[str], int | None]) -> None:
    """`address(name)` tells where the function `prefix.name` is, None if it knows of no such function."""
    _providers[prefix] = address


def is_foreign(symbol: str) -> bool:
    return symbol.partition(".")[0] in _providers


def provider_of(symbol: str) -> str:
    """The module that knows where a C function is."""
    return _providers[symbol.partition(".")[0]].__module__


def address_of(symbol: str) -> int:
    prefix, _, name = symbol.partition(".")
    address = _providers[prefix](name) if prefix in _providers else None
    if address is None:
        raise LookupError(f"no C function {symbol} in this process")
    return address


def arguments(instr: Instr) -> list[tuple[str, Value | None]]:
    """The letter and the operand of each argument of a `foreign`; None for those that only take a result."""
    operands = iter(instr.operands)
    return [(letter, None if letter == "o" else next(operands)) for letter in instr.attrs["spec"]]


def arrays_written(instr: Instr) -> list[Value]:
    """The arrays that an `apply` or a `foreign` writes to, or a call that tells."""
    if instr.op == "apply":
        return instr.operands[: len(instr.attrs["modes"])]
    if instr.op == "call":
        return [instr.operands[n] for n in instr.attrs["writes"]]
    return [v for letter, v in arguments(instr) if letter in WRITTEN and v is not None]


def sets_them_whole(instr: Instr) -> bool:
    """Whether the arrays that an `apply` or a `foreign` writes to are set, all of them, whatever they held."""
    if instr.op == "apply":
        return set(instr.attrs["modes"]) == {"set"}
    return "m" not in instr.attrs["spec"]


__all__ = [
    "ARRAYS",
    "WRITTEN",
    "address_of",
    "arguments",
    "arrays_written",
    "is_foreign",
    "provide",
    "provider_of",
    "sets_them_whole",
]
