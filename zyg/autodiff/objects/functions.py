"""Python functions that are differentiated: their forward halves, by form, and how arguments come to the parameters."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any

from zyg.autodiff.identity import note
from zyg.autodiff.trying import bodies

from . import generators
from .backs import run
from .cotangents import is_number
from .passing import hands_on, passes


class Function:
    """How the functions of one code object are called under differentiation."""

    __slots__ = ("__weakref__", "_code", "codes", "generator", "made", "simple", "ways")

    def __init__(self, f: FunctionType):
        code = f.__code__
        self._code = weakref.ref(code)
        # The forward halves, plain and watched, as far as they have been asked for; and those for methods.
        self.codes: list[CodeType | None] = [None] * 4
        self.simple = not (code.co_kwonlyargcount or code.co_flags & (0x04 | 0x08))
        self.generator = bool(code.co_flags & 0x20)
        # What has been made for the functions that are called, in plain and in watched form: by the way of passing arguments.
        # Without a closure one function does for all, per module.
        self.made: tuple[dict[Any, Any], dict[Any, Any]] = {}, {}
        self.ways: dict[Any, Any] = {}  # how arguments come to the parameters (`adapters`)
        self.forward(f)

    @property
    def code(self) -> CodeType:
        code = self._code()
        assert code is not None  # who calls a function has it
        return code

    def forward(self, f: FunctionType, bound: bool = False) -> CodeType:
        """The forward half of `f`, one of these functions, in the form that is wanted now."""
        number = 2 * bound + bool(bodies)
        made = self.codes[number]
        if made is None:
            from zyg.autodiff.python import differentiated

            made = self.codes[number] = differentiated(self.code, bound, f.__globals__, bool(bodies))
        return made

    def present(self) -> dict[Any, Any]:
        """What has been made in the form that is wanted now."""
        return self.made[1 if bodies else 0]

    def bind(self, f: FunctionType) -> Callable[..., Any]:
        """The forward half as a function with the globals and the closure of `f`."""
        return self._bind(f, False)

    def bind_method(self, f: FunctionType) -> Callable[..., Any]:
        """The same, whose pullback gives the cotangent of the bound method in the place of that of `self`."""
        return self._bind(f, True)

    def _bind(self, f: FunctionType, bound: bool) -> Callable[..., Any]:
        made = self._half(f, bound)
        return functools.partial(generators.call, made) if self.generator else made

    def _half(self, f: FunctionType, bound: bool) -> FunctionType:
        present = self.present()
        known = present.get(bound) if f.__closure__ is None else None
        if known is not None and known.__globals__ is f.__globals__:
            return known
        made = _with_code(f, self.forward(f, bound))
        if f.__closure__ is None:
            self.keep(bound, f, made)
        return made

    def keep(self, way: Any, f: FunctionType, made: Any) -> None:
        """Let `made` be what has been made for `f`, and for such a way of passing arguments."""
        if note(self.present(), way, (f,), made):
            having_made.add(self)


having_made: weakref.WeakSet[Function] = weakref.WeakSet()  # those that have something since all was forgotten


def _with_code(f: FunctionType, code: CodeType) -> FunctionType:
    made = FunctionType(code, f.__globals__, f.__name__, None, f.__closure__)
    made.__qualname__ = f.__qualname__
    return made


@passes(lambda variables: by_places(variables))
def call_bound(entry: Function, f: FunctionType, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A call of a function with defaults, keywords, `*args` or `**kwargs`: brings the arguments in their places."""
    slots, places = arrange(entry, f, args, kwargs)
    y, back = entry.bind(f)(*slots)
    if back is None or places is None:
        return y, back
    return y, (run_bound, back, f, *places)


def by_places(variables: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    places = variables["places"]
    return [] if places is None else [(run_bound, variables["f"], *places)]


def arrange(entry: Function, f: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The values of the parameters, in the order of `co_varnames`; and where they came from, None if all were given in that
    order."""
    code = entry.code
    count, given = code.co_argcount, len(args)
    if not kwargs and given == count and entry.simple:
        return args, None
    names = code.co_varnames
    total = count + code.co_kwonlyargcount
    slots: list[Any] = [_MISSING] * total
    taken = min(given, count)
    slots[:taken] = args[:taken]
    where: list[int] = list(range(taken))  # the place of each argument among the parameters
    more: dict[str, Any] = {}
    flags = code.co_flags
    for name, value in kwargs.items():
        at = names.index(name, code.co_posonlyargcount, total) if name in names[code.co_posonlyargcount : total] else -1
        if at >= 0 and slots[at] is _MISSING:
            slots[at] = value
            where.append(at)
        elif at < 0 and flags & 0x08:
            more[name] = value
            where.append(-1)
        else:
            _complain(f, args, kwargs)
    if given > count and not flags & 0x04:
        _complain(f, args, kwargs)
    defaults = f.__defaults__ or ()
    by_default: list[tuple[int, Any, Any]] = []
    for at in range(total):
        if slots[at] is _MISSING:
            if at >= count:
                key: Any = names[at]
                holder: Any = f.__kwdefaults__ or {}
                if key not in holder:
                    _complain(f, args, kwargs)
                slots[at] = holder[key]
            else:
                key, holder = at - count + len(defaults), f
                if key < 0:
                    _complain(f, args, kwargs)
                slots[at] = defaults[key]
            if is_number(slots[at]) or type(slots[at]) is tuple:
                by_default.append((at, holder, key))
    if flags & 0x04:
        slots.append(args[count:])
    if flags & 0x08:
        slots.append(more)
    if not kwargs and not by_default and given == count and not flags & 0x0C:
        return slots, None
    return slots, (taken, max(given - count, 0), total, tuple(where[taken:]), tuple(kwargs), tuple(by_default), more)


_MISSING = object()


@hands_on
def run_bound(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, _f, taken, spread, total, where, names, by_default, more = back
    given = run(inner, d, shadows)
    rest = [shadows.take_key(more, name) if at < 0 else None for at, name in zip(where, names)]
    if given is None:
        return (*[None] * (1 + taken + spread), *rest)
    for at, holder, key in by_default:
        if given[1 + at] is not None:
            shadows.add_key(holder, key, given[1 + at])  # that of a function: `make_function` takes it from there
    if where:
        rest = [given[1 + at] if at >= 0 else r for at, r in zip(where, rest)]
    extra: Any = ()
    if spread:
        extra = given[1 + total]
        extra = extra if extra is not None else (None,) * spread
    return (*given[: 1 + taken], *extra, *rest)


def _complain(f: FunctionType, args: Any, kwargs: Any) -> None:
    """Raise the TypeError that CPython raises for these arguments."""
    empty = (lambda: None).__code__
    code = f.__code__.replace(
        co_code=empty.co_code, co_consts=empty.co_consts, co_freevars=(), co_cellvars=(), co_names=(),
        co_exceptiontable=b"", co_linetable=empty.co_linetable, co_stacksize=empty.co_stacksize,
    )  # fmt: skip
    stub = FunctionType(code, {}, f.__name__, f.__defaults__)
    stub.__qualname__ = f.__qualname__
    stub.__kwdefaults__ = f.__kwdefaults__
    stub(*args, **kwargs)
    raise TypeError(f"{f.__qualname__}() was called with arguments that do not fit")


__all__ = ["Function", "arrange", "by_places", "call_bound", "run_bound"]
