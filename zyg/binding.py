"""Arguments bound as Python binds them: positions, names, defaults, and CPython's own words for what does not fit."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

from .ir.records import field, record


@record(eq=False)
class Binder:
    """Binds a call's arguments as Python does, to positional arguments (as few as possible) and keyword-only ones."""

    function: Any
    bind: Callable[..., Any] = field(init=False)
    made_for: tuple[Any, ...] = field(init=False)

    def fits(self, function: types.FunctionType) -> bool:
        """Whether the parameters and their defaults are still those that this was made for."""
        now = _parameters(function)
        return len(now) == len(self.made_for) and all(x is y for x, y in zip(now, self.made_for, strict=True))

    def __post_init__(self) -> None:
        code = self.function.__code__
        self.made_for = _parameters(self.function)
        positional = code.co_varnames[: code.co_argcount]
        only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        at = code.co_argcount + code.co_kwonlyargcount
        rest = code.co_varnames[at] if code.co_flags & 0x04 else None
        extra = code.co_varnames[at + bool(rest)] if code.co_flags & 0x08 else None
        self.bind = _make_binder(self.function, positional, only, rest, extra)

    def __call__(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given, rest, only = self.bind(*args, **keywords)
        only = {name: value for name, value in only.items() if value is not _default}
        if rest:
            return self._filled(given, 0) + rest, only
        count = len(given)
        while count and given[count - 1] is _default:
            count -= 1
        return self._filled(given[:count], len(given) - count), only

    def _filled(self, given: tuple[Any, ...], dropped: int) -> tuple[Any, ...]:
        """Defaults in front of a given argument are passed like it."""
        if not any(v is _default for v in given):
            return given
        defaults = self.function.__defaults__ or ()
        offset = len(given) + dropped - len(defaults)
        return tuple(defaults[i - offset] if v is _default else v for i, v in enumerate(given))


class _Default:
    def __repr__(self) -> str:
        return "..."


_default = _Default()


def _parameters(function: types.FunctionType) -> tuple[Any, ...]:
    return function.__code__, function.__defaults__, *(function.__kwdefaults__ or ())


def _make_binder(
    function: types.FunctionType, positional: Any, only: Any, rest: str | None, extra: str | None
) -> Callable[..., Any]:
    """A Python function with the signature and the name of `function`, so that CPython itself words the errors."""
    code = function.__code__
    # Names such as ".0" (of a comprehension) cannot be written down; they cannot be passed by keyword either.
    plain = {name: name if name.isidentifier() else f"_{at}" for at, name in enumerate(positional)}
    optional = len(positional) - len(function.__defaults__ or ())
    parts = []
    for at, name in enumerate(positional):
        parts.append(plain[name] if at < optional else f"{plain[name]}=__default")
        if at + 1 == code.co_posonlyargcount:
            parts.append("/")
    if rest is not None or only:
        parts.append(f"*{rest or ''}")
    kwdefaults = function.__kwdefaults__ or {}
    parts.extend(f"{name}=__default" if name in kwdefaults else name for name in only)
    if extra is not None:
        parts.append(f"**{extra}")
    given = "".join(f"{plain[name]}, " for name in positional)
    named = ", ".join([f"{name!r}: {name}" for name in only] + ([f"**{extra}"] if extra else []))
    source = f"def bind({', '.join(parts)}):\n    return ({given}), {rest or '()'}, {{{named}}}\n"
    namespace: dict[str, Any] = {"__default": _default}
    exec(builtins.compile(source, "<zyg binder>", "exec"), namespace)
    bind = namespace["bind"]
    bind.__name__, bind.__qualname__ = function.__name__, function.__qualname__
    bind.__code__ = bind.__code__.replace(co_name=function.__code__.co_name, co_qualname=function.__qualname__)
    return bind


__all__ = ["Binder"]
