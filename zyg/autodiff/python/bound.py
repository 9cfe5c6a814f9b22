"""The forward halves of functions that are called as methods: their pullbacks give the cotangent of `self` first."""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import Any

from .. import objects
from ..objects import calls
from ..objects.adapters import adapter
from ..objects.passing import passes


def forward_of_method(f: Any, arity: int, names: tuple[str, ...] = ()) -> Any:
    """The forward half of the function of a bound method, for `arity` arguments with `self` and further ones by keyword; its
    pullback gives the cotangent of `self` first. None if it is not a plain function that takes these."""
    if type(f) is not FunctionType:
        return None
    entry = calls.known_entry(f)
    if entry is None:
        forward = objects.forward_of(f)
        if f in calls.KNOWN and not names:
            short = calls.AS_METHODS.get(f)
            if short is not None and short[1] == arity:
                return short[0]
            return partial(call_known_method, forward)
        entry = calls.known_entry(f)
    if entry is None:
        return None
    if entry.simple and not names and arity == f.__code__.co_argcount and "<locals>" in f.__qualname__:
        return entry.bind_method(f)  # as `adapter` has it: nothing is to be done for the arguments
    return adapter(f, arity, names, bound=True)


@passes(lambda variables: [(calls.run_shifted,)])
def call_known_method(forward: Any, *args: Any) -> tuple[Any, Any]:
    y, back = forward(*args)
    return y, None if back is None else (calls.run_shifted, back)


@passes(lambda variables: [(calls.run_shifted,)])
def call_known_method_with_names(handler: Any, names: tuple[str, ...], *args: Any) -> tuple[Any, Any]:
    split = len(args) - len(names)
    y, back = handler(*args[:split], **dict(zip(names, args[split:])))
    return y, None if back is None else (calls.run_shifted, back)
