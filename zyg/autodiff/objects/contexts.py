"""Context variables: what one holds has its cotangent as an attribute of the variable."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Any

from .calls import method

_NO_DEFAULT = object()


@method(ContextVar, "get")
def _get(variable: ContextVar[Any], default: Any = _NO_DEFAULT) -> tuple[Any, Any]:
    y = variable.get(_NO_DEFAULT)
    if y is not _NO_DEFAULT:
        return y, (_run_get, variable)
    return (variable.get(), None) if default is _NO_DEFAULT else (default, (_run_default,))


def _run_get(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_attr(back[1], "value", d)


def _run_default(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, d


@method(ContextVar, "set")
def _set(variable: ContextVar[Any], value: Any) -> tuple[Any, Any]:
    token = variable.set(value)
    return token, (_run_set, variable, token)


def _run_set(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, variable, token = back
    taken = shadows.take_attr(variable, "value")
    before = shadows.take_attr(token, "before")
    if before is not None:
        shadows.add_attr(variable, "value", before)
    return None, taken


@method(ContextVar, "reset")
def _reset(variable: ContextVar[Any], token: Token[Any]) -> tuple[Any, Any]:
    variable.reset(token)
    return None, (_run_reset, variable, token)


def _run_reset(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """What the variable gathered afterwards belongs to what it held before the token was made."""
    _, variable, token = back
    taken = shadows.take_attr(variable, "value")
    if taken is not None:
        shadows.add_attr(token, "before", taken)
