"""The module functools."""

from __future__ import annotations

import abc
import functools
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, NoneType
from typing import Any

from ..trying import bodies
from . import builtins_, calls, iteration, later, listwise, reentry, sources
from .adapters import adapter
from .calls import known
from .classes import without_flow
from .cotangents import INERT, accumulate, sums
from .passing import hands_on, passes
from .shadows import add_all

_MISSING = object()


@known(functools.reduce)
def _reduce(f: Any, iterable: Any, initial: Any = _MISSING, /) -> tuple[Any, Any]:
    if type(iterable) is list:
        return _reduce_list(f, iterable, initial)
    iterator, rec = iteration.with_backs(iterable)
    forward = calls.forward_by_others(f)
    steps: list[Any] = []
    total = initial
    first: list[Any] = []  # what gives the first item its cotangent, if it is the first total
    empty = sources.whole(iterator)
    with reentry.undone((_run_steps, steps, rec, first)):
        for item, back in iterator:
            if total is _MISSING:
                total = item
                first.append(back)
                continue
            try:
                total, step = forward(total, item)
            except BaseException as error:
                if bodies:
                    steps.append((later.escaping.left_call(error), back))
                raise
            steps.append((step, back))
    if total is _MISSING:
        with reentry.gathering([back for back in (rec, empty) if back is not None]):
            functools.reduce(f, ())  # raises the TypeError
    return total, (_run_reduce, steps, rec, first[0] if first else None, initial is not _MISSING)


def _run_steps(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The function has raised after these steps."""
    _, steps, rec, first = back
    return _run_reduce((None, steps, rec, first[0] if first else None, not first), None, shadows)


def _run_reduce(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, steps, rec, first, started = back
    for step, inner in reversed(steps):
        given = calls.run(step, d, shadows)
        if inner is not None:
            inner[0](inner, None if given is None else given[2], shadows)
        d = None if given is None else given[1]
    if first is not None:
        first[0](first, d, shadows)
    whole = None if rec is None else rec[0](rec, None, shadows)
    return None, None, None if whole is None else whole[0], d if started else None


def _reduce_list(f: Any, x: list[Any], initial: Any) -> tuple[Any, Any]:
    """The same of a list, which `f` may change on the way."""
    started = initial is not _MISSING
    items = [initial, *x] if started else x[:]
    made = listwise.totals(f, items) if items else None
    if made is not None:
        ys, by_total, by_item = made
        return ys[-1], (_run_reduced, x, by_total, by_item, started)
    forward = calls.forward_by_others(f)
    iterator = iter(x)
    total = initial if started else next(iterator, _MISSING)
    if total is _MISSING:
        functools.reduce(f, ())  # raises the TypeError
    steps: list[Any] = []
    back = _run_reduce_list, x, steps, started
    with reentry.undone(back, steps):
        for item in iterator:
            total, step = forward(total, item)
            steps.append(step)
    return total, back


def _run_reduced(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, by_total, by_item, started = back
    if d is None:
        return None
    ds = listwise.last_to_items(d, by_total, by_item)
    first = ds.pop(0) if started else None
    add_all(shadows, x, 0, ds)
    return None, None, None, first


def _run_reduce_list(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, steps, started = back
    shadow = shadows.list_of(x)
    at = len(steps) if not started else len(steps) - 1  # which item a step was about
    for step in reversed(steps):
        given = None if step is None else step[0](step, d, shadows)
        if given is None:
            d = None
        else:
            d, c = given[1], given[2]
            if c is not None:
                if at >= len(shadow):
                    shadow.extend([None] * (at - len(shadow)))
                    shadow.append(c)
                else:
                    old = shadow[at]
                    shadow[at] = c if old is None else old + c if type(old) is float else accumulate(old, c)
        at -= 1
    if started:
        return None, None, None, d
    if d is not None:
        shadows.add_item(x, 0, d)
    return None


@known(functools.partial)
def _partial(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y = functools.partial(f, *args, **kwargs)
    inner = f if y.func is not f else None
    return y, (_run_partial, y, inner, len(y.args) - len(args), len(args), tuple(kwargs))


def _run_partial(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangents of fixed arguments gather in the shadow of the partial object; those that were another one's (`inner`) go to
    that."""
    _, y, inner, before, count, names = back
    held = shadows.take_attr(y, "args")
    if inner is not None:
        if held is not None and any(c is not None for c in held[:before]):
            shadows.add_attr(inner, "args", held[:before])
        for name in inner.keywords:
            if name not in names and (c := shadows.take_key(y.keywords, name)) is not None:
                shadows.add_key(inner.keywords, name, c)
    given = held[before:] if held is not None else (None,) * count
    return None, None, *given, *[shadows.take_key(y.keywords, name) for name in names]


@passes()
def call_partial(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A call of a `functools.partial`."""
    named = {**f.keywords, **kwargs} if kwargs else f.keywords
    forward, bound = _function_of(f, len(f.args) + len(args), tuple(named))
    if forward is None:
        return _call_named(f, args, kwargs, named)
    if kwargs:
        return _call_by_names(forward, bound, f, args, kwargs, named)
    return _call_fixed(forward, bound, f, args)


def _function_of(f: Any, count: int, names: tuple[str, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The forward half of a plain function in a partial object, or of one that is bound there to what has no cotangent that flows, and
    what it is bound to; else None."""
    of = f.func
    if type(of) is FunctionType:
        return adapter(of, count, names), ()
    if type(of) is MethodType and type(of.__func__) is FunctionType:
        kind = type(of.__self__)
        if kind in without_flow or not later.knowledge.flows(kind):
            return adapter(of.__func__, 1 + count, names, True), (of.__self__,)
    return None, ()


@passes(lambda variables: [(_run_fixed, variables["f"], len(variables["args"]))])
def _call_fixed(forward: Any, bound: tuple[Any, ...], f: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    y, back = forward(*bound, *f.args, *args, *f.keywords.values())
    return y, None if back is None else (_run_fixed, back, f, len(args))


@passes(lambda v: [(_run_call_partial, *_names_of_partial(v["f"], v["args"], v["kwargs"], v["named"]))])
def _call_by_names(
    forward: Any, bound: tuple[Any, ...], f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], named: dict[str, Any]
) -> tuple[Any, Any]:
    y, back = forward(*bound, *f.args, *args, *named.values())
    return y, None if back is None else (_run_call_partial, back, *_names_of_partial(f, args, kwargs, named))


@passes(lambda v: [(_run_call_partial, *_names_of_partial(v["f"], v["args"], v["kwargs"], v["named"]))])
def _call_named(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], named: dict[str, Any]) -> tuple[Any, Any]:
    y, back = calls.forward_by_others(f.func, bool(named))(*f.args, *args, **named)
    return y, None if back is None else (_run_call_partial, back, *_names_of_partial(f, args, kwargs, named))


@passes()
def read_partial_method(found: functools.partialmethod[Any], x: Any, cls: type) -> tuple[Any, Any]:
    """What `partialmethod` gives for an instance: a partial object of the method, with the same fixed arguments."""
    if type(found.func) is FunctionType and type(found.keywords) is dict and type(found.args) is tuple:
        y: Any = found.__get__(x, cls)
        if INERT.issuperset(map(type, found.args)) and INERT.issuperset(map(type, found.keywords.values())):
            return y, None
        return y, (_run_read_partial_method, found, y)
    y, back = calls.call(functools.partialmethod.__get__, (found, x, cls))
    return y, None if back is None else (_run_partial_method_got, back)


def _run_partial_method_got(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (given[2],)


def _run_read_partial_method(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, found, y = back
    held = shadows.take_attr(y, "args")
    if held is not None:
        shadows.add_attr(found, "args", held)
    for name in y.keywords:
        if (c := shadows.take_key(y.keywords, name)) is not None:
            shadows.add_key(found.keywords, name, c)


def _names_of_partial(f: Any, args: Any, kwargs: Any, named: Any) -> tuple[Any, ...]:
    fixed = tuple([n for n in f.keywords if n not in kwargs])
    return f, len(args), fixed, tuple(named), tuple(kwargs)


def forward_of_partial(f: Any, arity: int) -> Any:
    """The same for a place that is passed again and again, with `arity` arguments by position; None if it is not that simple."""
    fixed, keywords, names = f.args, f.keywords, [*f.keywords]
    if type(f) is not functools.partial:
        return None
    if type(f.func) is FunctionType:
        forward = adapter(f.func, len(fixed) + arity, tuple(names))
    else:  # of a module, like `operator.mul`
        builtin = type(f.func) is BuiltinFunctionType and type(f.func.__self__) in (ModuleType, NoneType)
        forward = calls.forward_of(f.func) if builtin and not names else None
    if forward is None:
        return None
    start = 1 + len(fixed)
    end = start + arity

    @passes(lambda variables: _around_fixed(variables))  # (the code is that of all these functions)
    def call(*args: Any) -> tuple[Any, Any]:
        if f.args is not fixed or f.keywords is not keywords or (keywords or names) and [*keywords] != names:
            return call_partial(f, *args)
        y, back = forward(*fixed, *args, *keywords.values()) if names else forward(*fixed, *args)
        return y, None if back is None else (run, back)

    @hands_on
    def run(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
        inner = back[1]
        given = inner[0](inner, d, shadows)
        if given is None:
            return None
        if start == 2:
            new = given[1]
            if new is not None:
                holder = shadows.holders.get(id(f)) or shadows.holder_of(f)
                before = getattr(holder, "args", None)
                if before is not None:
                    new = before[0] + new if type(before[0]) is float else accumulate(before[0], new)
                holder.args = (new,)
        elif start > 2:
            holder = shadows.holders.get(id(f)) or shadows.holder_of(f)
            before = getattr(holder, "args", None)
            given_fixed = tuple(given[1:start])
            holder.args = given_fixed if before is None else sums(before, given_fixed)
        if names:
            shadow = shadows.items.get(id(keywords))
            if shadow is None:
                shadow = shadows.dict_of(keywords)
            for name, new in zip(names, given[end:]):
                if new is not None:
                    old = shadow.get(name)
                    shadow[name] = new if old is None else old + new if type(old) is float else accumulate(old, new)
        return None, *given[start:end]

    return call


def _around_fixed(variables: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    f, keywords = variables["f"], variables["keywords"]
    changed = f.args is not variables["fixed"] or f.keywords is not keywords or [*keywords] != variables["names"]
    return [] if changed else [(variables["run"],)]


@hands_on
def _run_fixed(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(run_fixed, back of the function, the partial object, how many arguments the call had)"""
    _, inner, f, count = back
    given = calls.run(inner, d, shadows)
    if given is None:
        return None
    start = 1 + len(f.args)
    for c in given[1:start]:
        if c is not None:
            shadows.add_attr(f, "args", tuple(given[1:start]))
            break
    for name, c in zip(f.keywords, given[start + count :]):
        if c is not None:
            shadows.add_key(f.keywords, name, c)
    return None, *given[start : start + count]


@hands_on
def _run_call_partial(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, f, count, fixed, order, names = back
    given = calls.run(inner, d, shadows)
    if given is None:
        return None
    bound = tuple(given[1 : 1 + len(f.args)])
    if any(c is not None for c in bound):
        shadows.add_attr(f, "args", bound)
    start = 1 + len(f.args) + count
    by_name = dict(zip(order, given[start:]))
    for name in fixed:
        if by_name.get(name) is not None:
            shadows.add_key(f.keywords, name, by_name[name])
    return None, *given[1 + len(f.args) : start], *[by_name.get(name) for name in names]


builtins_.constant(functools.cache, functools.lru_cache, functools.wraps, functools.update_wrapper, abc.get_cache_token)
