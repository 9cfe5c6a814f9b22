"""Short paths of second derivatives: what the usual cases of frequent run-time functions are where they are differentiated in turn.

A second derivative runs through the run-time functions of the first one (`nested.py`). Some of them are called for each operation
of the program: those that record an operator or an attribute, run a pullback, add to a shadow. What they do with plain numbers and
attributes, and the pullback of that, stands here; all else goes the general way, through their code.
"""

from __future__ import annotations

from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from zyg.autodiff.python import nested as halves

from . import arithmetic, attributes, calls, numpy_, subscripts
from .arithmetic import find, run_rule
from .attributes import is_slot, plain_lookup, run_attr, run_set_attr
from .cotangents import NUMERIC, accumulate, is_number
from .holders import Holder
from .passing import passes, passes_in_turn
from .reach import PLAIN as UNASKED
from .shadows import F64, Shadows

Made = tuple[Any, Any]
known = calls.known


@passes()
def _generally(function: Any, *args: Any) -> Made:
    return calls.differentiated(function)(*args)


# ------------------------------------------------------------------------------------------------ operators


def _operator(name: str) -> Any:
    record, rule = arithmetic.RECORD[name], arithmetic.RULES[name]

    @passes()
    @passes_in_turn()
    def in_turn(a: Any, b: Any) -> Made:
        if type(a) is float and type(b) is float:
            made = record(a, b)
            return made, (_run_operator, rule, made[0], a, b)
        if type(a) is np.ndarray or type(b) is np.ndarray:
            found = _elementwise_in_turn(numpy_.OPERATORS[name], (a, b))
            if found is not None:
                return found
        return _generally(record, a, b)

    return in_turn


for _name, _function in arithmetic.IN_TURN.items():
    known(_function, exact=True)(_operator(_name))


def _run_operator(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Of (y, (run_rule, rule, y, a, b))."""
    if d is None:
        return None
    _, rule, y, a, b = back
    dy, kept = d
    da = db = None
    if kept is not None:
        _, _, more, da, db = kept
        dy = accumulate(dy, more)
    if dy is not None:
        by_a, by_b = rule(dy, y, a, b)
        da, db = accumulate(da, by_a), accumulate(db, by_b)
    return None, da, db


# Of the rules of operators on floats, for each of the two that they give: its cotangents by (d, y, a, b), from its own, `c`.


def _same(c: float, d: float, y: float, a: float, b: float) -> tuple[Any, ...]:
    return c, None, None, None


def _negative(c: float, d: float, y: float, a: float, b: float) -> tuple[Any, ...]:
    return -c, None, None, None


def _times_b(c: float, d: float, y: float, a: float, b: float) -> tuple[Any, ...]:
    return c * b, None, None, c * d


def _times_a(c: float, d: float, y: float, a: float, b: float) -> tuple[Any, ...]:
    return c * a, None, c * d, None


def _over_b(c: float, d: float, y: float, a: float, b: float) -> tuple[Any, ...]:
    return c / b, None, None, -c * (d / b) / b


def _by_divisor(c: float, d: float, y: float, a: float, b: float) -> tuple[Any, ...]:
    c = c / b
    return -(c * y), -(c * d), None, c * (d * y / b)


_RULES = {
    arithmetic.add: (_same, _same), arithmetic.sub: (_same, _negative), arithmetic.mul: (_times_b, _times_a),
    arithmetic.truediv: (_over_b, _by_divisor),
}  # fmt: skip


def _run_rule_in_turn(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, (_, rule, y, a, b), at, wanted = back
    found: tuple[Any, ...] = (None,) * 4
    for k, c in zip(wanted, d):
        if c is not None:
            found = tuple(map(accumulate, found, _RULES[rule][k](c, at, y, a, b)))
    return None, (None, None, *found[1:]), found[0], None, None


# ------------------------------------------------------------------------------------------------ pullbacks


@known(halves.pull, exact=True)
def _pull(back: Any, d: Any, shadows: Any, wanted: tuple[int, ...]) -> Made:
    if back is None:
        return (None,) * len(wanted), None
    if type(back) is float:
        if d is None:
            return (None,) * len(wanted), None
        if type(d) is not float:
            return _generally(halves.pull, back, d, shadows, wanted)
        return tuple([d * back if k == 1 else None for k in wanted]), (_run_slope, back, d, wanted)
    if type(back) is not tuple:
        return _generally(halves.pull, back, d, shadows, wanted)
    run = back[0]
    if run is run_rule and type(d) is float and back[1] in _RULES:
        _, rule, y, a, b = back
        if type(a) is float and type(b) is float and (b or rule is not arithmetic.truediv):
            given = rule(d, y, a, b)
            return tuple([given[k] for k in wanted]), (_run_rule_in_turn, back, d, wanted)
    given, inner = calls.call(run, (back, d, shadows))
    if given is None:
        return (None,) * len(wanted), None if inner is None else (_run_pull, inner, wanted, 0)
    if type(given) is not tuple:
        items = [subscripts.record_getitem(given, k) for k in wanted]
        return tuple([y for y, _ in items]), (_run_pull_of_others, inner, [b for _, b in items])
    return tuple([given[k] for k in wanted]), None if inner is None else (_run_pull, inner, wanted, len(given))


def _run_slope(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, slope, at, wanted = back
    c = None if d is None or 1 not in wanted else d[wanted.index(1)]
    return None if c is None else (None, c * at, c * slope, None, None)


def _run_pull(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, wanted, count = back
    if d is not None and count:
        parts: list[Any] = [None] * count
        for k, c in zip(wanted, d):
            if c is not None:
                parts[k] = c if parts[k] is None else accumulate(parts[k], c)
        d = tuple(parts)
    else:
        d = None
    return _behind(calls.run(inner, d, shadows))


def _run_pull_of_others(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, items = back
    whole = None
    for k, item in enumerate(items):
        given = calls.run(item, None if d is None else d[k], shadows)
        if given is not None:
            whole = accumulate(whole, given[0])
    return _behind(calls.run(inner, whole, shadows))


def _behind(given: Any) -> Any:
    """The cotangents of a pullback, the cotangent and the shadows from those of a call of what stands first in the pullback."""
    if given is None:
        return None
    first, of_back, of_d, *_ = (*given, None, None, None)
    if first is not None:
        of_back = accumulate(of_back, (first,) + (None,) * (len(of_back) - 1)) if of_back is not None else (first,)
    return None, of_back, of_d, None, None


@known(accumulate, exact=True)
def _accumulate(x: Any, y: Any) -> Made:
    if x is None:
        return y, None if y is None else _TO_SECOND
    if y is None:
        return x, _TO_FIRST
    if type(x) is float and type(y) is float:
        return x + y, _TO_BOTH
    return _generally(accumulate, x, y)


def _run_accumulate(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (None, d if back[1] else None, d if back[2] else None)


_TO_FIRST, _TO_SECOND, _TO_BOTH = (
    (_run_accumulate, True, False),
    (_run_accumulate, False, True),
    (_run_accumulate, True, True),
)


# ----------------------------------------------------------------------------------------------- attributes


@known(attributes.record_getattr, exact=True)
@passes()
@passes_in_turn()
def _getattr(x: Any, name: str) -> Made:
    cls = type(x)
    if plain_lookup(cls):
        found = find(cls, name)
        if found is None or is_slot(cls, found):
            if name != "__dict__" and find(cls, "__getattr__") is None:
                return (getattr(x, name), (run_attr, x, name)), (_run_getattr, x, name)
        elif type(found) is FunctionType and not issubclass(type(x), (tuple, *NUMERIC)):
            y = getattr(x, name)
            if type(y) is MethodType and y.__func__ is found:
                return (y, None), None
    return _generally(attributes.record_getattr, x, name)


def _run_getattr(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        run_attr(back, d[0], shadows)


@known(attributes.record_setattr, exact=True)
@passes()
@passes_in_turn()
def _setattr(x: Any, value: Any, name: str) -> Made:
    cls = type(x)
    if find(cls, "__setattr__") is object.__setattr__ and not issubclass(
        cls, (type, ModuleType, FunctionType, np.ndarray)
    ):
        found = find(cls, name)
        if found is None or is_slot(cls, found):
            object.__setattr__(x, name, value)
            return (run_set_attr, x, name), (_run_setattr, x, name)
    return _generally(attributes.record_setattr, x, value, name)


def _run_setattr(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, shadows.take_attr(back[1], back[2]), None


@known(run_attr, exact=True)
def _run_attr(back: tuple[Any, ...], d: Any, inner: Any) -> Made:
    if d is None:
        return None, None
    _, x, name = back
    if type(d) is float and not name.startswith("__"):
        holder = inner.holder_of(x)
        old = getattr(holder, name, None)
        if old is None or type(old) is float:
            setattr(holder, name, d if old is None else old + d)
            return None, (_run_run_attr, holder, name, old)
    return _generally(run_attr, back, d, inner)


def _run_run_attr(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What is there now is what was there, and what was added."""
    _, holder, name, old = back
    c = shadows.take_attr(holder, name)
    if c is None:
        return None
    if old is not None:
        shadows.add_attr(holder, name, c)
    return None, None, c, None


@known(Shadows.attributes_of, exact=True)
def _attributes_of(inner: Any, x: Any) -> Made:
    holder = inner.holders.get(id(x))
    return inner.attributes_of(x), None if holder is None else (_run_attributes_of, holder)


def _run_attributes_of(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """What has come to items of the dict belongs to the attributes."""
    shadows.holder_of(back[1])


@known(Shadows.take_attr, exact=True)
def _take_attr(inner: Any, x: Any, name: str) -> Made:
    if issubclass(type(x), (ModuleType, Holder)) or name.startswith("__"):
        return _generally(Shadows.take_attr, inner, x, name)
    holder = inner.holders.get(id(x))
    d = None if holder is None else getattr(holder, name, None)
    if d is None:
        return None, None
    setattr(holder, name, None)
    return d, (_run_take_attr, holder, name)


def _run_take_attr(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, holder, name = back
    shadows.take_attr(holder, name)
    if d is not None:
        shadows.add_attr(holder, name, d)


@known(run_set_attr, exact=True)
def _run_set_attr(back: tuple[Any, ...], d: Any, inner: Any) -> Made:
    d, taken = _take_attr(inner, back[1], back[2])
    return (None, d), None if taken is None else (_run_run_set_attr, taken)


def _run_run_set_attr(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    calls.run(back[1], None if d is None else d[1], shadows)


# ---------------------------------------------------------------------------------------------------- items


@known(subscripts.record_getitem, exact=True)
@passes()
@passes_in_turn()
def _getitem(x: Any, key: Any) -> Made:
    t = type(x)
    if (t is list or t is tuple) and type(key) is int or t is dict and type(key) in UNASKED:
        made = subscripts.record_getitem(x, key)
        return made, (_run_getitem, made[1])
    return _generally(subscripts.record_getitem, x, key)


def _run_getitem(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = None if d is None or d[0] is None else calls.run(back[1], d[0], shadows)
    return None if given is None else (None, given[0], None)


@known(Shadows.add_key, exact=True)
def _add_key(inner: Any, mapping: Any, key: Any, d: Any) -> Made:
    if type(d) is float:
        shadow = inner.dict_of(mapping)
        old = shadow.get(key)
        if old is None or type(old) is float:
            shadow[key] = d if old is None else old + d
            return None, (_run_add_key, shadow, key, old)
    return _generally(Shadows.add_key, inner, mapping, key, d)


def _run_add_key(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, shadow, key, old = back
    c = shadows.take_key(shadow, key)
    if c is None:
        return None
    if old is not None:
        shadows.add_key(shadow, key, c)
    return None, None, None, None, c


@known(Shadows.take_key, exact=True)
def _take_key(inner: Any, mapping: Any, key: Any) -> Made:
    shadow = inner.items.get(id(mapping))
    d = None if shadow is None else shadow.pop(key, None)
    return d, None if d is None else (_run_take_key, shadow, key)


def _run_take_key(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, shadow, key = back
    shadows.take_key(shadow, key)
    if d is not None:
        shadows.add_key(shadow, key, d)


@known(Shadows.add_item, exact=True)
def _add_item(inner: Any, sequence: Any, index: int, d: Any) -> Made:
    if type(d) is float:
        shadow = inner.list_of(sequence)
        count = len(shadow)
        old = shadow[index] if index < count else None
        if old is None or type(old) is float:
            inner.add_item(sequence, index, d)
            return None, (_run_add_item, shadow, index, old, count)
    return _generally(Shadows.add_item, inner, sequence, index, d)


def _run_add_item(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, shadow, index, old, count = back
    c = shadows.take_item(shadow, index)
    if index >= count:  # so many there were before
        del shadows.list_of(shadow)[count:]
    elif c is not None and old is not None:
        shadows.add_item(shadow, index, c)
    return None if c is None else (None, None, None, None, c)


@known(Shadows.take_item, exact=True)
def _take_item(inner: Any, sequence: Any, index: int) -> Made:
    shadow = inner.items.get(id(sequence))
    if shadow is None or index >= len(shadow) or shadow[index] is None:
        return None, None
    return inner.take_item(sequence, index), (_run_take_item, shadow, index)


def _run_take_item(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, shadow, index = back
    shadows.take_item(shadow, index)
    if d is not None:
        shadows.add_item(shadow, index, d)


# --------------------------------------------------------------------------------------------------- arrays


@known(numpy_.as_operand, exact=True)
def _as_operand(x: Any) -> Made:
    if isinstance(x, np.ndarray) or is_number(x):
        return (x, None), _FIRST
    return _generally(numpy_.as_operand, x)


def _run_first(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (None, d[0])


_FIRST = (_run_first,)


@known(numpy_.unbroadcast, exact=True)
def _unbroadcast(c: Any, shape: tuple[int, ...]) -> Made:
    if isinstance(c, np.ndarray) and c.shape == shape:
        return c, None
    return _generally(numpy_.unbroadcast, c, shape)


@known(Shadows.add_array, exact=True)
def _add_array(inner: Any, array: np.ndarray, d: Any) -> Made:
    if array.dtype.kind == "f" and type(d) is np.ndarray:
        view = inner.of_array(array)
        if d.dtype == view.dtype and d.shape == view.shape and view.ndim:
            back = arithmetic.RECORD["iadd"](view, d)[1]
            return None, None if back is None else (_run_aside, back)
    return _generally(Shadows.add_array, inner, array, d)


@known(Shadows.take_array, exact=True)
def _take_array(inner: Any, array: np.ndarray) -> Made:
    if not inner.has_array(array):
        return None, None
    if inner.refusals:
        return _generally(Shadows.take_array, inner, array)
    view = inner.of_array(array)
    taken, copying = calls.call(view.copy, ())
    return taken, (_run_aside, copying, subscripts.RECORD["setitem"](view, ..., 0.0))


def _run_aside(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """What was done to arrays, of which each has its own shadow."""
    for k in range(len(back) - 1, 0, -1):
        calls.run(back[k], None, shadows)


def _elementwise_in_turn(u: np.ufunc, xs: tuple[Any, ...]) -> Made | None:
    """`numpy_.elementwise` of arrays of float64 and numbers; None for others."""
    if not all(map(_is_simple, xs)):
        return None
    y, computing = numpy_.elementwise(u, *xs)
    if type(y) is not np.ndarray or computing is None:
        return None
    uses_y, uses_x, slopes = numpy_.UFUNCS[u]
    value, copying = calls.call(y.copy, ()) if uses_y else (None, None)
    copies = [calls.call(x.copy, ()) if type(x) is np.ndarray else (x, None) for x in xs] if uses_x else []
    values = tuple([c for c, _ in copies]) or (None,) * len(xs)
    made = numpy_.run_elementwise, y, slopes, value, values, xs, y.shape
    return (y, made), (_run_elementwise, computing, (_run_aside, copying, *[b for _, b in copies]))


def _is_simple(x: Any) -> bool:
    return type(x) is float or type(x) is np.ndarray and x.dtype == F64 and x.ndim > 0


def _run_elementwise(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, computing, copying = back
    _run_aside(copying, None, shadows)
    given = calls.run(computing, None, shadows)
    if d is not None and d[1] is not None:
        for cotangents in d[1][4:6]:
            given = (
                cotangents
                if given is None
                else given
                if cotangents is None
                else tuple(map(accumulate, given, cotangents))
            )
    return None if given is None else (None, *given)


@known(numpy_.run_elementwise, exact=True)
def _pull_elementwise(back: tuple[Any, ...], d: Any, inner: Any) -> Made:
    _, y, slopes, value, values, operands, _ = back
    if type(y) is np.ndarray and slopes not in numpy_.CHOICES and not inner.refusals and all(map(_is_simple, operands)):
        found, computing = calls.call(slopes, (value, *values))
        if all(_is_simple(s) and np.isfinite(s).all() for s in found):
            dy, taking = _take_array(inner, y)
            if dy is None:
                return None, taking
            inner.hush()
            given, steps = [], []
            for x, slope in zip(operands, found):
                c, times = arithmetic.RECORD["mul"](dy, slope)
                total, giving = calls.call(numpy_.give, (x, c, inner))
                given.append(total)
                steps.append((times, giving))
            return tuple(given), (_run_pull_elementwise, taking, computing, steps)
    return _generally(numpy_.run_elementwise, back, d, inner)


def _run_pull_elementwise(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, taking, computing, steps = back
    of_slopes: list[Any] = [None] * len(steps)
    for k in range(len(steps) - 1, -1, -1):
        times, giving = steps[k]
        calls.run(giving, None if d is None else d[k], shadows)
        given = calls.run(times, None, shadows)
        of_slopes[k] = None if given is None else given[1]
    given = calls.run(computing, tuple(of_slopes), shadows)
    calls.run(taking, None, shadows)
    return None if given is None else (None, (None, None, None, None, tuple(given[2:]), None, None), None, None)
