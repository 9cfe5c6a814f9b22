"""min, max, sum, any, all: what runs through an iterable to one value."""

from __future__ import annotations

import builtins
import math
import operator
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zyg.frontend import comparison, type_names
from zyg.frontend.later import lists
from zyg.frontend.meeting import classes_of, join_numbers, joined_number
from zyg.frontend.python_numbers import message_of
from zyg.frontend.scalars import scalar_value
from zyg.frontend.values import NONE, Abstract, Known, TupleValue, is_number, is_numeric, known
from zyg.ir.core import Const

from .intrinsics import cut, is_now, machine, now_float, select
from .registry import emits, implements

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator


COMPENSATED = sys.version_info >= (3, 12)


def _extreme(name: str) -> Callable[..., Abstract]:
    """min or max: the first one that no other is beyond, by Python's comparisons."""
    op, before = ("lt", operator.lt) if name == "min" else ("gt", operator.gt)
    empty = message_of(getattr(builtins, name), [])

    def emitter(e: Evaluator, *args: Abstract, key: Abstract = NONE, default: Abstract | None = None) -> Abstract:
        if len(args) > 1:
            if default is not None:
                e.type_error(f"Cannot specify a default for {name}() with multiple positional arguments")
            items: tuple[Abstract, ...] | None = args
        elif args:
            items = lists.all_items(e, args[0])
            if items is not None and not items:
                if default is not None:
                    return default
                e.throw("ValueError", empty)
        else:
            e.type_error(f"{name} expected at least 1 argument, got 0")
            raise AssertionError
        no_key = isinstance(key, Known) and key.object is None
        if items is None:
            otherwise = default if default is not None else Known(None)
            has_default = Known(default is not None)
            return e.call(known(extreme), [args[0], known(before), key, has_default, otherwise, Known(empty)])
        keyed = [v if no_key else e.call(key, [v]) for v in items]
        best, best_key = items[0], keyed[0]
        for v, k in zip(items[1:], keyed[1:]):
            best, best_key = _better(e, op, v, k, best, best_key, no_key)
        return best

    return emitter


def _better(
    e: Evaluator, op: str, v: Abstract, k: Abstract, best: Abstract, best_key: Abstract, no_key: bool
) -> tuple[Abstract, Abstract]:
    flag = comparison.truth(e, comparison.compare(e, op, k, best_key))
    if isinstance(flag, Const):
        return (v, k) if flag.value else (best, best_key)
    if is_number(v) and is_number(best) and join_numbers([v, best]) is not None:
        chosen = _select_numbers(e, flag, v, best)
        if no_key:
            return chosen, chosen
        if is_number(k) and is_number(best_key) and join_numbers([k, best_key]) is not None:
            return chosen, _select_numbers(e, flag, k, best_key)
    both = e.if_else(flag, lambda: TupleValue((v, k)), lambda: TupleValue((best, best_key)))
    assert isinstance(both, TupleValue)
    return both.items[0], both.items[0] if no_key else both.items[1]


def _select_numbers(e: Evaluator, flag: Any, x: Abstract, y: Abstract) -> Abstract:
    joined = join_numbers([x, y])
    assert joined is not None
    scalar, numpy = joined
    chosen = e.op("select", flag, scalar_value(e, x, scalar), scalar_value(e, y, scalar))
    return joined_number(chosen, numpy, (x, y))


emits(min)(_extreme("min"))
emits(max)(_extreme("max"))


def extreme(iterable: Any, before: Any, key: Any, has_default: bool, default: Any, empty: str) -> Any:
    """min(iterable, key=key), where `before` is <, or max, where it is >."""
    iterator = iter(iterable)
    for first in iterator:
        best = first
        best_key = key(first) if key is not None else first
        for x in iterator:
            k = key(x) if key is not None else x
            better = before(k, best_key)
            best = _choose(better, x, best)
            best_key = _choose(better, k, best_key)
        return best
    if has_default:
        return default
    raise ValueError(empty)


def extreme_of_arguments(function: Any, name: str, items: Any, key: Any) -> Any:
    """min(*items, key=key), or max, of a number of items that is known at run time only."""
    if len(items) == 0:
        raise TypeError(f"{name} expected at least 1 argument, got 0")
    if len(items) == 1:
        return _of_one(function, items[0], key)
    return function(items, key=key)


def _of_one(function: Any, item: Any, key: Any) -> Any:
    """function(item, key=key): a number is no iterable."""
    return function(item, key=key)


@emits(_of_one)
def _of_one_emitter(e: Evaluator, function: Abstract, item: Abstract, key: Abstract) -> Abstract:
    if is_numeric(item):
        mixed = len(classes_of(item)) > 1  # `min(2.0, *x)`, of which one is not the only one
        e.type_error(f"'{'float' if mixed else type_names.python_type_name(e, item)}' object is not iterable")
    return e.call(function, [item], {"key": key})


def _choose(condition: bool, x: Any, y: Any) -> Any:
    """`x if condition else y`: a select for numbers, a branch for the rest."""
    return x if condition else y


@emits(_choose)
def _choose_emitter(e: Evaluator, condition: Abstract, x: Abstract, y: Abstract) -> Abstract:
    flag = comparison.truth(e, condition)
    if isinstance(flag, Const):
        return x if flag.value else y
    if is_number(x) and is_number(y) and join_numbers([x, y]) is not None:
        return _select_numbers(e, flag, x, y)
    return e.if_else(flag, lambda: x, lambda: y)


@implements(sum)
def sum_(iterable: Any, /, start: Any = 0) -> Any:
    """sum, as the running CPython adds: floats with Neumaier's compensation from 3.12 on."""
    if isinstance(start, str):
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    total = start
    compensation = 0.0
    for x in iterable:
        if COMPENSATED and is_now(total, float) and is_now(x, float):
            so_far, item = now_float(total), now_float(x)
            t = so_far + item
            larger = machine("ge", machine("abs", so_far), machine("abs", item))
            # Exact differences, whose derivative is 0.
            big = cut(select(larger, so_far, item))
            small = cut(select(larger, item, so_far))
            compensation += (big - cut(t)) + small
            total = t
        else:
            if COMPENSATED and is_now(total, float) and not (is_now(x, int) or is_now(x, bool)):
                total = _compensated(now_float(total), compensation)
                compensation = 0.0
            total = total + x
    if COMPENSATED and is_now(total, float):
        total = _compensated(now_float(total), compensation)
    return total


def _compensated(total: float, compensation: float) -> float:
    return select(machine("lt", machine("abs", compensation), math.inf), total + compensation, total)


@implements(any)
def any_(iterable: Any, /) -> bool:
    for x in iterable:  # noqa: SIM110
        if x:
            return True
    return False


@implements(all)
def all_(iterable: Any, /) -> bool:
    for x in iterable:  # noqa: SIM110
        if not x:
            return False
    return True
