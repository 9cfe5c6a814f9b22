"""Calls that leave defaults out or pass arguments by keyword, at a place that is passed again and again: where each argument
goes is found out once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from zyg.autodiff.identity import lasts
from zyg.autodiff.trying import bodies

from . import calls, functions, generators, passing
from .backs import run_shifted
from .cotangents import is_number

Forward = Callable[..., tuple[Any, Any]]


def adapter(f: FunctionType, count: int, names: tuple[str, ...] = (), bound: bool = False) -> Forward | None:
    """The forward half of a plain function for `count` arguments by position and further ones by these keywords; None where the
    arguments do not fit. `bound`: for a method, whose pullback gives no cotangent of the function."""
    entry = calls.known_entry(f)
    if entry is None:
        return None
    if f.__closure__ is not None and not lasts(f):  # it is not kept
        return _adapter(entry, f, count, names, bound)
    way = (count, names, bound)
    present = entry.present()
    last = present.get(way)
    if last is None or last[0] is not f or last[1] is not f.__defaults__ or last[2] is not f.__kwdefaults__:
        last = f, f.__defaults__, f.__kwdefaults__, _adapter(entry, f, count, names, bound)
        entry.keep(way, f, last)
    return last[3]


def _adapter(
    entry: functions.Function, f: FunctionType, count: int, names: tuple[str, ...], bound: bool
) -> Forward | None:
    defaults, of_names = f.__defaults__ or (), f.__kwdefaults__ or {}
    shape = count, names, bound, len(defaults), tuple(of_names)
    way = entry.ways.get(shape, _NOT_ASKED)
    if way is _NOT_ASKED:
        way = entry.ways[shape] = _way(entry.code, *shape)
    if way is None:
        return None
    forward = entry.bind_method(f) if bound else entry.bind(f)
    if way.of_constants and not entry.generator and lasts(f):
        return with_defaults(forward, f, defaults[way.keys[0] :])
    if way.spread is not None:
        forward = way.spread(forward)
    if way.as_given:
        return forward  # whatever the defaults are
    filled = tuple([defaults[key] if type(key) is int else of_names[key] for key in way.keys])
    return _filled(way, forward, f, count, names, bound, filled)


def of_local(f: FunctionType, count: int) -> Forward | None:
    """The forward half of a function that a function has made, for `count` arguments by position: it is made anew for each, and
    is not worth remembering for long, but what depends on the code alone has been found out. None where it has not, or where it
    is not that simple."""
    code = f.__code__
    entry = calls.known_function(code)
    if entry is None or not entry.simple:
        return None
    defaults = f.__defaults__
    way = None
    if count != code.co_argcount:
        way = None if defaults is None else entry.ways.get((count, (), False, len(defaults), ()))
        if way is None:
            return None
    half = entry.codes[1 if bodies else 0] or entry.forward(f)
    made = FunctionType(half, f.__globals__, code.co_name, None, f.__closure__)
    forward: Forward = made
    if entry.generator:
        made.__qualname__ = f.__qualname__
        forward = functools.partial(generators.call, made)
    if way is None or defaults is None:
        return forward  # whatever the defaults are
    return _filled(way, forward, f, count, (), False, defaults[way.keys[0] :])


def _filled(
    way: _Way, forward: Forward, f: FunctionType, count: int, names: tuple[str, ...], bound: bool, filled: Any
) -> Forward:
    """The forward half with the defaults that the call leaves out."""
    carrying = tuple([is_number(value) or type(value) is tuple for value in filled])
    if True in carrying and lasts(f):
        carrying = (False,) * len(filled)  # they are constants
    make = way.made.get(carrying)
    if make is None:
        of = tuple([(at, key) for at, key, carries in zip(way.places, way.keys, carrying) if carries])
        make = way.made[carrying] = making(way.source, count + len(names), bound, way.by_name, of)
    return make(forward, f, names, filled)


def with_defaults(forward: FunctionType, f: FunctionType, defaults: tuple[Any, ...]) -> FunctionType:
    """The forward half with its function's defaults, which are constants. (Who remembers this looks whether they are others now.)"""
    made = FunctionType(forward.__code__, f.__globals__, f.__name__, defaults, f.__closure__)
    made.__qualname__ = f.__qualname__
    return made


_NOT_ASKED = object()


class _Way:
    """How the arguments of a call, so many by position and others by keyword, come to the parameters of functions of one code object."""

    __slots__ = ("as_given", "by_name", "keys", "made", "of_constants", "places", "source", "spread")

    def __init__(self) -> None:
        # Per parameter (then what is behind `*args`, and each of what goes to `**kwargs`) the number of an argument, or of a default
        # behind these.
        self.source: tuple[int, ...] = ()
        self.keys: list[Any] = []  # of the defaults that are taken: a number or, of keyword-only parameters, a name
        self.places: list[int] = []  # which cotangents are those of these defaults
        self.by_name: tuple[tuple[str, int], ...] = ()  # the names among the keys, and where they stand
        self.spread: Callable[[Forward], Forward] | None = None  # what puts arguments into `*args` and `**kwargs`
        self.as_given = False  # whether nothing else is to be done
        self.of_constants = False  # whether the last parameters by position, and no others, take their defaults
        self.made: dict[tuple[bool, ...], Any] = {}  # `making`, by which of these defaults carry a derivative


def _way(
    code: CodeType, count: int, names: tuple[str, ...], bound: bool, defaults: int, of_names: tuple[str, ...]
) -> _Way | None:
    """None if the arguments do not fit."""
    taken, total = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    by_position, by_keyword = code.co_flags & 0x04, code.co_flags & 0x08
    spread, given = max(count - taken, 0), min(count, taken)
    parameters = code.co_varnames[:total]
    further = tuple([name for name in names if name not in parameters[code.co_posonlyargcount :]])
    if (spread and not by_position) or (further and not by_keyword):
        return None
    source = [*range(given), *[-1] * (total - given), *range(taken, count)]
    for k, name in enumerate(names):
        at = parameters.index(name) if name not in further else len(source)
        if at < given:
            return None  # given twice
        source[at : at + 1] = [count + k]
    way = _Way()
    for at in range(total):
        if source[at] < 0:
            key: Any = parameters[at] if at >= taken else at - taken + defaults
            if key not in of_names if at >= taken else key < 0:
                return None
            source[at] = count + len(names) + len(way.keys)
            way.keys.append(key)
            way.places.append(at + (not bound))
    way.by_name = tuple([(key, k) for k, key in enumerate(way.keys) if type(key) is str])
    way.source = tuple(source)
    if by_position or by_keyword:
        in_order = tuple(range(len(source))) if way.keys else way.source
        shape = total, spread, further, bool(by_position), bool(by_keyword), 0 if bound else 1
        way.spread = making_spread(*shape, in_order)
        way.as_given = not way.keys
    else:
        way.as_given = way.source == tuple(range(count + len(names)))
        way.of_constants = bool(way.keys) and not names and not code.co_kwonlyargcount
    return way


@functools.cache
def making(
    source: tuple[int, ...], count: int, bound: bool, by_name: tuple[tuple[str, int], ...], carrying: tuple[Any, ...]
) -> Callable[..., Forward]:
    """What makes the functions of one way of passing arguments: these are written out, since they run at each call."""
    arguments = [f"a{k}" for k in range(count)]
    defaults = [f"a{k}" for k in range(count, len(source))]
    changed = "".join(f" or by_keyword.get({key!r}) is not {defaults[at]}" for key, at in by_name)
    first = 0 if bound else 1
    given = [f"given[{k}]" for k in (*range(first), *[first + source.index(k) for k in range(count)])]
    lines = [
        "def make(forward, f, names, filled):",
        *[f"    {_listed(defaults)} = filled" for _ in defaults[:1]],
        "    by_position, by_keyword = f.__defaults__, f.__kwdefaults__",
        f"    def call({', '.join(arguments)}):",
        f"        if f.__defaults__ is not by_position or f.__kwdefaults__ is not by_keyword{changed}:",
        f"            return generally(f, {_listed(arguments)}, names, {bound})",
        f"        y, back = forward({', '.join(f'a{k}' for k in source)})",
        "        return y, None if back is None else (run, back)",
        "    def run(back, d, shadows):",
        "        back = back[1]",
        "        given = back[0](back, d, shadows)",
        "        if given is None:",
        "            return None",
        *[
            f"        add_default(shadows, {'by_keyword' if type(key) is str else 'f'}, {key!r}, given[{at}])"
            for at, key in carrying
        ],
        f"        return {_listed(given)}",
        "    return call",
    ]
    return compiled(lines, generally=_generally, add_default=add_default)


_FILE = str(Path(__file__).with_name("<adapter>"))


def _around_with_names(variables: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return [(variables["run"], variables["more"])]


def _around(variables: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return [(variables["run"],)]


def _say_what_is_around(code: CodeType) -> None:
    """Functions that were written out put `run` around pullbacks, if they have one."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if inner.co_name == "run":
                passing.hands_on_code(inner)
            elif "run" not in inner.co_freevars:
                passing.passes_code(inner)
            else:
                passing.passes_code(inner, _around_with_names if "more" in inner.co_varnames else _around)
            _say_what_is_around(inner)


def compiled(lines: list[str], **names: Any) -> Any:
    """What the function `make` is that these lines define."""
    scope: dict[str, Any] = {"__name__": __name__, **names}
    exec(compile("\n".join(lines), _FILE, "exec"), scope)
    _say_what_is_around(scope["make"].__code__)
    return scope["make"]


@functools.cache
def constructing(count: int) -> Callable[..., Forward]:
    """What makes the forward half of a class from its `__new__`, which does nothing with the arguments, and the forward half of its
    `__init__`, for `count` arguments; `generally` constructs where that has another `__init__` now."""
    arguments = [f"a{k}" for k in range(count)]
    lines = [
        "def make(cls, new, init, forward, generally):",
        f"    def construct({', '.join(arguments)}):",
        "        if cls.__init__ is not init:",
        f"            return generally({', '.join(arguments)})",
        "        made = new(cls)",
        f"        y, back = forward({', '.join(['made', *arguments])})",
        "        if y is not None:",
        "            raise TypeError(f\"__init__() should return None, not '{type(y).__name__}'\")",
        "        return made, back",
        "    return construct",
    ]
    return compiled(lines)


def _listed(items: list[str]) -> str:
    return f"({', '.join(items)}{',' * (len(items) == 1)})"


def add_default(shadows: Any, holder: Any, key: Any, d: Any) -> None:
    """A default has a cotangent: that of a function by position, where `make_function` takes it from, or of the dict of those by
    keyword, which may be changed like any other."""
    if d is not None:
        shadows.add_key(holder, key, d)


@functools.cache
def making_spread(
    taken: int,
    spread: int,
    names: tuple[str, ...],
    by_position: bool,
    by_keyword: bool,
    first: int,
    source: tuple[int, ...],
) -> Callable[[Forward], Forward]:
    """What makes the functions of one way of passing `taken` arguments, `spread` ones in a tuple and those of a dict; `source`: which
    of the arguments that are given each of these is."""
    arguments = [f"a{k}" for k in range(taken + spread)]
    named = [f"k{k}" for k in range(len(names))]
    passed = arguments[:taken]
    in_order = ", ".join([[*arguments, *named][k] for k in sorted(range(len(source)), key=source.__getitem__)])
    if by_position:
        passed.append(_listed(arguments[taken:]) if spread else "()")
    if by_keyword:
        passed.append("more")
    before = first + taken
    entries = ", ".join(f"{name!r}: {k}" for name, k in zip(names, named))
    given = [f"given[{k}]" for k in range(before)]
    extra = [f"e{k}" for k in range(spread)]
    cotangents = [*given[first:], *extra, *named]
    as_given = [*sorted(range(len(source)), key=source.__getitem__)]
    lines = [
        "def make(forward):",
        *_with_names(in_order, ", ".join(arguments), entries, by_keyword),
        f"        y, back = forward({', '.join(passed)})",
        f"        return y, None if back is None else (run, back{', more' if by_keyword else ''})",
        "    def run(back, d, shadows):",
        "        inner = back[1]",
        "        given = inner[0](inner, d, shadows)",
        *_taken_from("back[2]", names, named),
        "        if given is None:",
        f"            return {_listed(_none_but(named, first, [cotangents[k] for k in as_given]))}",
    ]
    if spread:
        lines += [
            f"        extra = given[{before}]",
            f"        {_listed(extra)} = extra[:{spread}] if extra is not None else {_listed(['None'] * spread)}",
        ]
    lines += [
        f"        return {_listed([*given[:first], *[cotangents[k] for k in as_given]])}",
        "    return call",
    ]
    return compiled(lines)


def _with_names(given: str, arguments: str, entries: str, by_keyword: bool) -> list[str]:
    """What makes the dict of further arguments calls a function with it: it is among what that was given, then."""
    if not by_keyword:
        return [f"    def call({given}):"]
    behind = ", " if arguments else ""
    return [
        f"    def call({given}):",
        f"        return call_with({arguments}{behind}{{{entries}}})",
        f"    def call_with({arguments}{behind}more):",
    ]


def _none_but(named: list[str], first: int, cotangents: list[str]) -> list[str]:
    return ["None"] * first + [c if c in named else "None" for c in cotangents]


def _taken_from(mapping: str, names: tuple[str, ...], to: list[str]) -> list[str]:
    """Take the cotangents of items of a dict, as `Shadows.take_key` does one by one."""
    if not names:
        return []
    return [
        f"        items = shadows.items.get(id({mapping}))",
        "        if items is None:",
        f"            {' = '.join(to)} = None",
        "        else:",
        *[f"            {k} = items.pop({name!r}, None)" for name, k in zip(names, to)],
    ]


def _generally(f: FunctionType, args: tuple[Any, ...], names: tuple[str, ...], bound: bool) -> tuple[Any, Any]:
    """The defaults are others now."""
    split = len(args) - len(names)
    y, back = calls.call(f, args[:split], dict(zip(names, args[split:])))
    return y, (run_shifted, back) if bound and back is not None else back


__all__ = ["adapter", "compiled", "constructing", "of_local"]
