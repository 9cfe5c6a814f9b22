"""Calls of functions that have a rule of the user's: `rule(*args, **kwargs) -> value, back`."""

from __future__ import annotations

import functools
import inspect
import math
import threading
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from zyg import composed
from zyg.autodiff import objects
from zyg.errors import Misuse, Unsupported
from zyg.ir.plainly import get_plainly
from zyg.rules import Rule, is_users, keyword_only, parameters_of, tangent_rule_for

from . import foreign, gathering, keeping, memory, scattering, structure, watched
from .cotangents import Refused, is_number, refused_in

_met = threading.local()


def met() -> int:
    """How many calls by rules of users there have been in this thread."""
    return getattr(_met, "calls", 0)


def note_met(rule: Rule) -> None:
    if is_users(rule):
        _met.calls = met() + 1


BEYOND = 1 << 30  # in place of a position: there is no cotangent


def call(rule: Any, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """(value, back) of `f(*args, **kwargs)` by its rule."""
    if kwargs and not is_users(rule) and not rule.takes(kwargs):
        return objects.calls.call_foreign(f, *args, **kwargs)
    note_met(rule)
    order: Any = None
    positional: Any = args
    if kwargs:
        # Arguments that the rule takes by position have cotangents, however they were passed.
        names = (*parameters_of(rule.function)[0], *keyword_only(rule.function))
        order = [(names.index(n) if n in names else BEYOND, structure.form(v)) for n, v in kwargs.items()]
        positional, kwargs = rule.bind(args, kwargs, lambda default: default)
    if not rule.mutates and all(map(_is_real, positional)):
        value, user = _checked(rule.function(*positional, **kwargs), f)
        user = keeping.kept(user, rule.function, f)
        if is_number(value):
            return value, (run_numbers, user, f, len(args), len(positional), order)
        return value, (
            run,
            user,
            f,
            [structure.NUMBER] * len(positional),
            structure.form(value),
            None,
            (),
            len(args),
            order,
        )
    # Forms are taken before the rule runs: it may change what it is given.
    forms = [structure.form(a) for a in positional]
    before = watched.watch([a for k, a in enumerate(positional) if k not in rule.mutates])
    value, user = _checked(rule.function(*positional, **kwargs), f)
    user = keeping.kept(user, rule.function, f)
    if isinstance(value, np.ndarray):
        same = [a for k, a in enumerate(positional) if k not in rule.mutates and _shares(value, a)]
        if same:
            value = memory.apart(value)
            user = _Apart(value, same, user, f)
    after = tuple([(k, structure.form(positional[k])) for k in rule.mutates if k < len(positional)])
    written = watched.changed(before) if before is not None else []
    changed = (written, foreign.caller()) if written else None
    back = (run, user, f, forms, structure.form(value), changed, after, len(args), order)
    made = [g for g in positional if type(g) is FunctionType and (g.__defaults__ or g.__kwdefaults__)]
    return value, (_run_beside_defaults, back, made) if made else back


def _run_beside_defaults(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What a rule gives for a function is by what that captured. There is nothing by the defaults of its parameters."""
    _, inner, functions = back
    given = inner[0](inner, d, shadows)
    if given is None:
        return None
    error = Misuse(
        f"a derivative by the default of a parameter of a function that {foreign.name_of(inner[2])} is given, whose rule gives "
        "cotangents of what functions captured only",
        hint="let the function use the variable itself, or a constant: zyg.stop_gradient(x)",
    )
    for g in functions:
        for holder, defaults in (
            (g, dict(enumerate(g.__defaults__ or ()))),
            (g.__kwdefaults__, g.__kwdefaults__ or {}),
        ):
            for key, value in defaults.items():
                c = scattering.refuse(structure.form(value), Refused(error), shadows)
                if c is not None:
                    shadows.add_key(holder, key, c)
    return given


_COMPLEX = (complex, np.complexfloating)


def _is_real(x: Any) -> bool:
    return type(x) is float or (is_number(x) and not isinstance(x, _COMPLEX))


def _shares(value: np.ndarray, argument: Any) -> bool:
    return isinstance(argument, np.ndarray) and np.may_share_memory(value, argument)


class _Apart:
    """The pullback of a rule that returned an array which it was given. The cotangent of the result is its own, as long as nobody
    writes to that memory: then there is none, neither by the result nor by the argument."""

    def __init__(self, value: np.ndarray, arguments: list[np.ndarray], user: Any, f: Any):
        self.arguments, self.user, self.f = arguments, user, f
        self.written = memory.watch(value)
        self.place = foreign.caller()

    def __call__(self, *ds: Any) -> Any:
        if self.written:
            raise self.error()
        return self.user(*ds)

    def check(self, shadows: Any) -> None:
        if self.written and any(foreign.has_shadow(x, shadows) for x in self.arguments):
            raise self.error()

    def error(self) -> Unsupported:
        return Unsupported(
            f"a derivative through the rule for {foreign.name_of(self.f)}, which returns an array that it was given, and which "
            "is written afterwards",
            foreign.position_of(self.place),
            hint="let the rule return a copy of the array",
        )


def _checked(made: Any, f: Any) -> tuple[Any, Any]:
    if type(made) is not tuple or len(made) != 2 or not callable(made[1]):
        raise Misuse(
            f"the rule for {foreign.name_of(f)}, which does not return a value and a function, its pullback",
            foreign.position_of(foreign.caller()),
            types=[repr(made)],
            hint="return value, back",
        )
    return made


def _entries(given: Any, f: Any, count: int, least: int) -> Any:
    if given is None and count == 0:
        return ()
    if not isinstance(given, (tuple, list)) or len(given) < count:
        raise misfit(given, f, f"{count} positional arguments")
    if len(given) > count and len(given) > (most := _parameters(f)):
        raise misfit(given, f, f"{most} parameters")
    return given


def misfit(given: Any, f: Any, wanted: str) -> Misuse:
    """The error of a pullback that gives something else than a cotangent for each argument."""
    kinds = [type(c).__name__ for c in given] if isinstance(given, (tuple, list)) else []
    return Misuse(
        f"the rule for {foreign.name_of(f)}, whose pullback does not return one entry for each of the {wanted}",
        foreign.position_of(foreign.place_in_half()),
        types=[
            f"({', '.join(kinds)}{',' * (len(kinds) == 1)})"
            if isinstance(given, (tuple, list))
            else type(given).__name__
        ],
        hint="return a tuple with a cotangent per argument, None for those without: lambda d: (d, d)",
    )


def _parameters(f: Any) -> float:
    """How many cotangents a rule may give: also for parameters that a call leaves to their defaults."""
    code = get_plainly(f, "__code__")
    if type(code) is not CodeType or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return math.inf
    return code.co_argcount + code.co_kwonlyargcount


def run_numbers(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Numbers in, a number out."""
    _, user, f, count, total, order = back
    if d is None:
        return None
    if type(d) is Refused:
        return _in_order((d,) * total, (d,) * (total + len(order or ())), count, order, f, shadows)
    else:
        given = _entries(user(d), f, total, count)
        for k, c in enumerate(given[:total]):
            if type(c) is not float and c is not None:
                what = f"the cotangent of argument {k + 1} that the rule for {foreign.name_of(f)} gave"
                real = scattering.scatter(structure.NUMBER, c, shadows, what)
                if isinstance(c, _COMPLEX):
                    given = (*given[:k], real, *given[k + 1 :])
    return _in_order(given if order is None else given[:total], given, count, order, f, shadows)


def _in_order(flowing: Any, entries: Any, count: int, order: Any, f: Any, shadows: Any) -> Any:
    """The cotangents by the arguments of the call, from those by the parameters of the rule: what flows to those that have a
    position, and the entries for all."""
    if order is None:
        return (None, *flowing)
    named: list[Any] = []
    for at, form in order:
        if at < len(flowing):
            named.append(flowing[at])
        elif at < len(entries):
            what = f"the cotangent of argument {at + 1} that the rule for {foreign.name_of(f)} gave"
            named.append(scattering.scatter(form, entries[at], shadows, what))
        else:
            named.append(scattering.refuse(form, _by_keyword(f), shadows))
    return (None, *flowing[:count], *named)


def _by_keyword(f: Any) -> Refused:
    return Refused(
        Misuse(
            f"a derivative by a keyword argument of {foreign.name_of(f)}, whose rule gives cotangents for positional "
            "arguments only",
            hint="let the rule give entries for its keyword-only parameters behind the others, or pass it as a constant: "
            "zyg.stop_gradient(x)",
        )
    )


def run(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, user, f, forms, form, changed, after, count, order = back
    if type(user) is _Apart:
        user.check(shadows)
    written, place = changed or ((), None)
    for x in written:
        if foreign.has_shadow(x, shadows):
            raise Unsupported(
                f"the rule for {foreign.name_of(f)} changes its argument, which carries a derivative",
                foreign.position_of(place),
                hint="say which arguments it changes with @zyg.adjoint(f, mutates=...), or let the rule work on a copy",
            )
    refused = refused_in(d) if form[0] in ("number", "tuple") else None
    try:
        d = gathering.gather(form, d, shadows, take=True) if refused is None else d
        contents = [gathering.gather(held, None, shadows, take=True) for _, held in after]
    except Unsupported as error:
        refused, contents = Refused(error), []
    if refused is not None:
        flowing = [scattering.refuse(held, refused, shadows) for held in forms]
        for _, held in order or ():
            scattering.refuse(held, refused, shadows)
        return _in_order(flowing, flowing, count, order, f, shadows)
    if d is None and all(c is None for c in contents):
        return None
    given = user(gathering.dense(form, d), *[gathering.dense(held, c) for (_, held), c in zip(after, contents)])
    entries = _entries(given, f, len(forms), count)
    what = f"that the rule for {foreign.name_of(f)} gave"
    flowing = [
        scattering.scatter(held, c, shadows, f"the cotangent of argument {k + 1} {what}")
        for k, (held, c) in enumerate(zip(forms, entries))
    ]
    return _in_order(flowing, entries, count, order, f, shadows)


# ---------------------------------------------------------------------------------------------------- tangent rules


class _Modes(threading.local):
    """Forward mode is made of pullbacks: while one for it is computed, tangent rules say what functions do. `levels`: whether that is
    so for each of the pullbacks that are computed within one another, from outside."""

    levels: tuple[bool, ...] = ()


_modes = _Modes()


def enter(forward: bool, inner: bool = False) -> tuple[bool, ...]:
    """A pullback is about to be made; `inner`: it is differentiated in its turn. What is given is for `leave`."""
    before = _modes.levels
    _modes.levels = (*before, forward) if inner else (forward,)
    return before


def leave(before: tuple[bool, ...]) -> None:
    _modes.levels = before


def in_forward_mode(depth: int = 0) -> bool:
    """Whether the derivative that is being taken here is in forward mode: of code that is differentiated so often in turn besides."""
    return depth < len(_modes.levels) and _modes.levels[depth]


def tangent_of(f: Any) -> Rule | None:
    """The rule for forward mode that a user has given."""
    rule = tangent_rule_for(f)
    return None if rule is None or str(get_plainly(rule.function, "__module__", "")).startswith("zyg.") else rule


def with_tangent(f: Any, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    rule = tangent_of(f)
    return otherwise if rule is None else functools.partial(call_by_tangent, rule, otherwise, f)


def call_by_tangent(rule: Rule, otherwise: Callable[..., Any], f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A call of a function that has a rule for forward mode."""
    if not in_forward_mode():
        return otherwise(*args, **kwargs)
    if rule.mutates:
        raise Unsupported(
            f"the tangent rule for {foreign.name_of(f)}, which changes its argument, in forward mode through Python",
            foreign.position_of(foreign.caller()),
            hint="let the rule return the new value, or the code around it be native (zyg.jit tells what prevents that)",
        )
    transposed = Rule(rule.target, functools.partial(_transposed, rule), rule.epoch)
    positional, rest = rule.bind(args, kwargs, lambda default: default)
    y, back = call(transposed, f, *positional, **rest)
    if back is None or not kwargs:
        return y, back
    names = parameters_of(rule.function)[0]
    order = tuple([names.index(n) if n in names else len(positional) + list(rest).index(n) for n in kwargs])
    return y, (_run_named, back, len(args), order)


def _run_named(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, count, order = back
    given = inner[0](inner, d, shadows)
    return None if given is None else (None, *given[1 : 1 + count], *[given[1 + at] for at in order])


def _transposed(rule: Rule, *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], Any]]:
    """A tangent rule as one for cotangents: a tangent per number in the arguments tells the slopes."""
    value, push = rule.function(*args, **kwargs)
    what = f"the tangent of an argument of {foreign.name_of(rule.target)}"
    paths = list(composed.places(args, what))

    def back(d: Any) -> Any:
        pushed = {at: push(*composed.filled(args, {at: 1.0})) for at in paths}
        tangents = {at: composed.Tangents.of_value(rule.target, value, t) for at, t in pushed.items()}
        return composed.filled(args, {at: composed.dot(d, t) for at, t in tangents.items()})

    return value, back
