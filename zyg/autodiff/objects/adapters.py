"""Calls that leave defaults out or pass arguments by keyword, at a place that is passed again and again: where each argument
goes is found out once."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from types import FunctionType
from typing import Any

from zyg.autodiff.identity import lasts, note

from . import calls
from .cotangents import is_number

Forward = Callable[..., tuple[Any, Any]]


def adapter(f: FunctionType, count: int, names: tuple[str, ...] = (), bound: bool = False) -> Forward | None:
    """The forward half of a plain function for `count` arguments by position and further ones by these keywords; None where the
    arguments do not fit. `bound`: for a method, whose pullback gives no cotangent of the function."""
    entry = calls.known_function(f.__code__)
    if entry is None or entry.generator:
        return None
    if f.__closure__ is not None and not lasts(f):  # it is not kept
        return _adapter(entry, f, count, names, bound)
    way = (count, names, bound)
    last = entry.made.get(way)
    if last is None or last[0] is not f or last[1] is not f.__defaults__ or last[2] is not f.__kwdefaults__:
        last = f, f.__defaults__, f.__kwdefaults__, _adapter(entry, f, count, names, bound)
        note(entry.made, way, (f,), last)
    return last[3]


def _adapter(entry: calls.Function, f: FunctionType, count: int, names: tuple[str, ...], bound: bool) -> Forward | None:
    code = f.__code__
    total = code.co_argcount + code.co_kwonlyargcount
    parameters = code.co_varnames[:total]
    allowed = parameters[code.co_posonlyargcount :]
    if code.co_flags & 0x0C:
        return _spreading(entry, f, count, names, bound)
    if count > code.co_argcount or not all(
        name in allowed[max(count - code.co_posonlyargcount, 0) :] for name in names
    ):
        return None
    forward = entry.bind_method(f) if bound else entry.bind(f)
    if count == total:
        return forward  # whatever the defaults are
    defaults = f.__defaults__ or ()
    if not names and not code.co_kwonlyargcount and count + len(defaults) >= total and count < total and lasts(f):
        # Its defaults are constants. (Who remembers this looks whether they are others now.)
        made = FunctionType(forward.__code__, f.__globals__, f.__name__, defaults[count - total :], f.__closure__)
        made.__qualname__ = f.__qualname__
        return made
    source = [*range(count), *[-1] * (total - count)]  # per parameter the number of the argument
    for k, name in enumerate(names):
        source[parameters.index(name)] = count + k
    by_keyword = f.__kwdefaults__ or {}
    filled: list[Any] = []
    keys: list[Any] = []  # of the defaults that are taken
    carrying: list[tuple[int, Any]] = []  # of those that may carry a derivative, with their place
    for at in range(total):
        if source[at] < 0:
            key: Any = parameters[at] if at >= code.co_argcount else at - code.co_argcount + len(defaults)
            if key not in by_keyword if at >= code.co_argcount else key < 0:
                return None
            value = by_keyword[key] if at >= code.co_argcount else defaults[key]
            source[at] = count + len(names) + len(filled)
            filled.append(value)
            keys.append(key)
            if is_number(value) or type(value) is tuple:
                carrying.append((at + (not bound), key))
    arrange = _picker(source)
    first = 0 if bound else 1
    give_back = _picker([*range(first), *[first + source.index(k) for k in range(count + len(names))]])
    fill = tuple(filled)
    by_default, by_keyword_default = f.__defaults__, f.__kwdefaults__
    named = [(key, value) for key, value in zip(keys, filled) if type(key) is str]

    def call(*args: Any) -> tuple[Any, Any]:
        if (
            f.__defaults__ is not by_default
            or f.__kwdefaults__ is not by_keyword_default
            or (named and any(by_keyword.get(key, call) is not value for key, value in named))
        ):
            return _generally(f, args, names, bound)
        y, back = forward(*arrange(args + fill))
        return y, None if back is None else (run_adapted, back, f, give_back, carrying)

    return call


def _spreading(
    entry: calls.Function, f: FunctionType, count: int, names: tuple[str, ...], bound: bool
) -> Forward | None:
    """The same for a function that takes `*args` or `**kwargs`, and gets all other arguments."""
    code = f.__code__
    taken, total = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    by_position, by_keyword = code.co_flags & 0x04, code.co_flags & 0x08
    spread = count - taken
    if spread < 0 or (spread and not by_position) or (names and not by_keyword) or total > taken:
        return None
    if any(name in code.co_varnames[code.co_posonlyargcount : taken] for name in names):
        return None  # given twice
    forward = entry.bind_method(f) if bound else entry.bind(f)
    first = 0 if bound else 1

    def call(*args: Any) -> tuple[Any, Any]:
        if not by_keyword:
            y, back = forward(*args[:taken], args[taken:])
            return y, None if back is None else (run_spread, back, first + taken, spread, names, None)
        more = dict(zip(names, args[count:]))
        rest = (args[taken:count], more) if by_position else (more,)
        y, back = forward(*args[:taken], *rest)
        return y, None if back is None else (run_spread, back, first + taken, spread, names, more)

    return call


def run_spread(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, before, spread, names, more = back
    given = calls.run(inner, d, shadows)
    rest = [shadows.take_key(more, name) for name in names]
    if given is None:
        return (*[None] * (before + spread), *rest)
    if not spread:
        return (*given[:before], *rest)
    extra = given[before]
    return (*given[:before], *(extra if extra is not None else (None,) * spread), *rest)


def _picker(numbers: list[int]) -> Callable[[Any], tuple[Any, ...]]:
    """The function that picks the items of these numbers from a tuple."""
    if numbers == list(range(len(numbers))):
        length = len(numbers)
        return lambda x: x[:length]
    if len(numbers) > 1:
        return itemgetter(*numbers)
    return lambda x: tuple([x[k] for k in numbers])


def run_adapted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, f, give_back, carrying = back
    given = calls.run(inner, d, shadows)
    if given is None:
        return None
    for at, key in carrying:
        if given[at] is not None:
            shadows.add_key(f, key, given[at])  # `make_function` takes it from there
    return give_back(given)


def _generally(f: FunctionType, args: tuple[Any, ...], names: tuple[str, ...], bound: bool) -> tuple[Any, Any]:
    """The defaults are others now."""
    split = len(args) - len(names)
    y, back = calls.call(f, args[:split], dict(zip(names, args[split:])))
    return y, (calls.run_shifted, back) if bound and back is not None else back


__all__ = ["adapter"]
