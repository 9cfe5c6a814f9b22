"""Compiling IR text for tests of the native back end."""

from __future__ import annotations

import textwrap
from typing import Any

from zyg.backend.calling import Entry, Native, Signature, compile_module, make_entry, new_callable, set_entries
from zyg.ir.core import Module
from zyg.ir.options import Options
from zyg.ir.parsing import parse_module
from zyg.ir.types import Type
from zyg.ir.verify import verify


class Missed(Exception):
    """The call did not fit the native code and went to the dispatcher."""


def missing(*args: Any, **kwargs: Any) -> Any:
    raise Missed(args, kwargs)


def parse(text: str) -> Module:
    return parse_module(textwrap.dedent(text).strip("\n"))


def compile_text(
    source: str | Module,
    parameters: tuple[Type, ...],
    result: Type,
    *,
    entry: str | None = None,
    options: Options | None = None,
    **signature: Any,
) -> Native:
    """Compile a module, given as text or as such, for the first of its functions or `entry`."""
    module = parse(source) if isinstance(source, str) else source
    verify(module)
    name = entry or next(iter(module.functions))
    return compile_module(module, name, options or Options(), Signature(parameters, result, **signature))


def install(native: Native, names: tuple[str, ...] = (), **entry: Any) -> Any:
    function = new_callable(missing, "f")
    set_entries(function, [make_entry(native, names, **entry)])
    return function


def native(
    source: str | Module, parameters: tuple[Type, ...], result: Type, names: tuple[str, ...] = (), **kw: Any
) -> Any:
    """A callable for a function given as text; where the arguments do not fit it raises Missed."""
    return install(compile_text(source, parameters, result, **kw), names)


__all__ = ["Entry", "Missed", "compile_text", "install", "missing", "native", "parse"]
