"""`sum`, `math.prod`, `min` and `max`.

Items that run no code are taken all at once. Once there is another one, whose operators may run code, the rest is done one by one in
code that is differentiated: so the steps of a generator and the operators come in CPython's order.
"""

from __future__ import annotations

import math
import operator
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from zyg.autodiff import objects

from . import calls, draining, later, reach, reentry
from .arithmetic import of_kink
from .builtins_ import MISSING
from .calls import known
from .cotangents import NUMBERS, all_real, is_number, real_like
from .iteration import Values
from .passing import passes
from .shadows import ABOUT, add_all, add_keys, in_python, settle

# ----------------------------------------------------------------------------------------------- sums, products


@known(sum, exact=True)
def _sum(iterable: Any, /, start: Any = 0) -> tuple[Any, Any]:
    if type(iterable) in _ROWS and type(start) in _REAL and all_real(iterable):
        return sum(iterable, start), (run_sum_of_list, iterable, len(iterable))
    if type(iterable) is Values and type(iterable._mapping) is dict and type(start) in _REAL:
        mapping = iterable._mapping
        if _REAL.issuperset(map(type, mapping.values())):
            return sum(mapping.values(), start), (_run_sum_of_values, mapping, tuple(mapping))
    if type(start) not in NUMBERS:
        sum((), start)  # refuses text
        return calls.call(_added, (iterable, start))
    handed = later.handing.all_handed_on((iterable,))
    if handed is not None:
        (items,), reads = handed
        return later.handing.read_for(_sum(items, start), reads)
    items, drain, rest = draining.leading(iterable, NUMBERS)
    if rest is None:
        # As CPython adds them up, compensated from 3.12 on.
        total = sum(items, start)
        return total, (run_sum, drain, len(items), _among_complex(total, items), start)
    *numbers, odd = items
    with _unless_left(drain):
        subtotal = sum(numbers, start)
        total, further = calls.call(_added_from, (subtotal, odd, rest))
    return total, (_run_from, further, (run_sum, drain, len(numbers), _among_complex(subtotal, numbers), start))


_REAL = frozenset({float, int})
_ROWS = frozenset({list, deque})


def _among_complex(result: Any, items: Any) -> tuple[Any, ...] | None:
    """The items if they have a complex result: the cotangents of real ones among them are real."""
    return tuple(items) if issubclass(type(result), (complex, np.complexfloating)) else None


def _added(items: Any, total: Any) -> Any:
    """sum, in code that is differentiated."""
    for item in items:
        total = total + item
    return total


def _added_from(total: Any, odd: Any, rest: Any) -> Any:
    total = total + odd
    for item in rest:
        total = total + item
    return total


def _run_sum_of_list(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, items, count = back
    if not count:
        return None, None, d
    shadow = shadows.items.get(id(items))
    if shadow is None:  # as mostly, of what was made to be summed
        shadows.new_items(items).extend([d] * count)
    else:
        add_all(shadows, items, 0, [d] * count)
    return None, None, d


run_sum_of_list = in_python("pull", _run_sum_of_list)
settle(run_sum_of_list, "zyg_pull_summed", *ABOUT)


def _run_sum_of_values(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, mapping, keys = back
    add_keys(shadows, mapping, keys, (d,) * len(keys), 0)
    return None, None, d


def run_sum(back: tuple[Any, ...], d: Any, shadows: Any, behind: tuple[Any, ...] = ()) -> Any:
    _, drain, count, mixed, start = back
    own = [d] * count if mixed is None else [real_like(x, d) for x in mixed]
    whole = draining.give(drain, None if d is None and not behind else [*own, *behind], shadows)
    return None, whole, d if d is None else real_like(start, d)


def _unless_left(drain: tuple[Any, ...]) -> reentry.undone:
    """Where the rest is left by an exception, the items that came before are undone."""
    return reentry.undone((draining.run_left, drain))


def _run_from(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The rest, with the total of the numbers and the item after them; then these numbers."""
    _, further, numbers = back
    given = calls.run(further, d, shadows)
    total, odd = (None, None) if given is None else given[1:3]
    return numbers[0](numbers, total, shadows, (odd,))


@known(math.prod)
def _prod(iterable: Any, /, *, start: Any = 1) -> tuple[Any, Any]:
    if type(start) not in NUMBERS:
        return calls.call(_multiplied, (iterable, start))
    items, drain, rest = draining.leading(iterable, NUMBERS)
    numbers = items if rest is None else items[:-1]
    y = math.prod(numbers, start=start)
    before = [start]  # products of what is in front of a factor, and behind
    for v in numbers:
        before.append(before[-1] * v)
    behind: Any = 1
    weights: list[Any] = []
    for k in range(len(numbers) - 1, -1, -1):
        weights.append(before[k] * behind)
        behind = behind * numbers[k]
    weights.reverse()
    mixed = _among_complex(y, numbers)
    if mixed is not None:
        weights, behind = [w.conjugate() for w in weights], behind.conjugate()
    back = (_run_prod, drain, weights, behind, mixed, start)
    if rest is None:
        return y, back
    with _unless_left(drain):
        y, further = calls.call(_multiplied_from, (y, items[-1], rest))
    return y, (_run_from, further, back)


def _multiplied(items: Any, product: Any) -> Any:
    """math.prod, in code that is differentiated."""
    for item in items:
        product = product * item
    return product


def _multiplied_from(product: Any, odd: Any, rest: Any) -> Any:
    product = product * odd
    for item in rest:
        product = product * item
    return product


def _run_prod(back: tuple[Any, ...], d: Any, shadows: Any, beyond: tuple[Any, ...] = ()) -> Any:
    _, drain, weights, behind, mixed, start = back
    if d is None and not beyond and drain[0] in draining.WITHOUT_STEPS:
        return None
    own = [None] * len(weights) if d is None else [d * w for w in weights]
    if mixed is not None:
        own = [real_like(x, c) for x, c in zip(mixed, own)]
    whole = draining.give(drain, None if d is None and not beyond else [*own, *beyond], shadows)
    return None, whole, None if d is None else real_like(start, d * behind)


# ------------------------------------------------------------------------------------------------- min and max


_PLAIN_OR_TUPLES = reach.PLAIN | {tuple}


def _extreme(function: Any, better: Any) -> Any:
    def handler(*args: Any, key: Any = None, default: Any = MISSING) -> tuple[Any, Any]:
        if len(args) != 1:
            if not args or default is not MISSING:
                function(*args, key=key, default=default)  # raises the TypeError
            if key is None and len(args) == 2 and type(args[0]) is float and type(args[1]) is float:
                y = function(args)
                return y, _FIRST if y is args[0] else _SECOND
            if key is None and all_real(args):
                y = function(args)
                return y, (run_chosen_of_several, args.index(y), len(args))
            found, asked = objects.keys.keys_of(list(args), key, better=better)
            at, asked = objects.keys.chosen(function, found, asked)
            mixed = _among_complex(args[at], args)
            return args[at], (run_chosen_argument, at, tuple(map(is_number, args)), mixed, asked)
        iterable = args[0]
        if type(iterable) is Values and key is None and default is MISSING and type(iterable._mapping) is dict:
            mapping = iterable._mapping
            values = list(mapping.values())
            if values and _REAL.issuperset(map(type, values)):
                y = function(values)
                return y, (_run_chosen_value, mapping, tuple(mapping), values.index(y))
        alone = type(iterable) is not list and (key is None or objects.keys.calculates_alone(key))
        standing = alone and draining.is_standing(iterable)
        if type(iterable) is list or standing:
            (items, drain), rest = draining.drained(iterable), None
        else:
            quiet = _PLAIN_OR_TUPLES if alone else frozenset[type]()
            items, drain, rest = draining.leading(iterable, quiet)
        if not items:
            if default is MISSING:
                with _unless_left(drain):
                    function(())  # raises the ValueError
            return default, (run_default, drain)
        if rest is None and key is None and reach.PLAIN.issuperset(map(type, items)):
            y = function(items)
            return y, (run_chosen_plainly, items.index(y), len(items), drain)
        if rest is None:
            if standing and key is not None and reach.PLAIN.issuperset(map(type, items)):
                found, asked = [key(v) for v in items], None  # nothing has run since the key was looked at
            else:
                found, asked = objects.keys.keys_of(items, key, drain, better)
            at, asked = objects.keys.chosen(function, found, asked, drain)
            return items[at], (run_chosen_item, at, len(items), _among_complex(items[at], items), drain, asked)
        *items, odd = items
        at, asked, best, best_key = 0, None, MISSING, None
        if items:
            found, asked = objects.keys.keys_of(items, key, drain, better)
            at, asked = objects.keys.chosen(function, found, asked, drain)
            best, best_key = items[at], found[at]
        with _unless_left(drain):
            y, further = calls.call(_best, (best, best_key, odd, rest, better, key))
        return y, (_run_best, further, at, len(items), drain, asked)

    return handler


def _best(best: Any, best_key: Any, odd: Any, rest: Any, better: Callable[[Any, Any], bool], key: Any) -> Any:
    """min and max from the item `odd` on, in code that is differentiated."""
    found = odd if key is None else key(odd)
    if best is MISSING or better(found, best_key):
        best, best_key = odd, found
    for item in rest:
        found = item if key is None else key(item)
        if better(found, best_key):
            best, best_key = item, found
    return best


def _run_best(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, further, at, count, drain, asked = back
    given = calls.run(further, d, shadows)
    best, odd = (None, None) if given is None else (given[1], given[3])
    ds: list[Any] = [None] * count
    if count:
        ds[at] = best
    more = objects.keys.undo(asked, shadows)
    ds = objects.keys.added(ds, more) or ds
    return None, draining.give(drain, [*ds, odd], shadows), None, None


def _of_two(function: Any, handler: Any) -> Any:
    """The same of two arguments."""

    @passes()
    def short(a: Any, b: Any) -> tuple[Any, Any]:
        if type(a) in _REAL and type(b) in _REAL:
            y = function(a, b)
            return y, _FIRST if y is a else _SECOND
        if type(a) is str and type(b) is str:
            return function(a, b), None
        return handler(a, b)

    return short


def _of_three(function: Any, handler: Any) -> Any:
    """The same of three arguments."""

    @passes()
    def short(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
        if type(a) in _REAL and type(b) in _REAL and type(c) in _REAL:
            y = function(a, b, c)
            return y, _OF_THREE[0 if y is a else 1 if y is b else 2]
        return handler(a, b, c)

    return short


for _function, _better in ((min, operator.lt), (max, operator.gt)):
    _handler = known(_function, exact=True)(_extreme(_function, _better))
    calls.SHORT[_function, 2] = _of_two(_function, _handler)
    calls.SHORT[_function, 3] = _of_three(_function, _handler)


def run_chosen_of_two(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """One of two real numbers: the other one gets zero."""
    if d is None:
        return None
    return (None, of_kink(d), d) if back[1] else (None, d, of_kink(d))


_FIRST, _SECOND = (run_chosen_of_two, 0), (run_chosen_of_two, 1)


def run_chosen_of_several(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The same of several real numbers, the first of equal ones."""
    if d is None:
        return None
    result = [of_kink(d)] * back[2]
    result[back[1]] = d
    return None, *result, None, None


_OF_THREE = [(run_chosen_of_several, at, 3) for at in range(3)]


def run_chosen_argument(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What was chosen gets all; the first where several are equal, as in Python."""
    _, at, numbers, mixed, asked = back
    more = objects.keys.undo(asked, shadows)
    if d is None and more is None:
        return None
    result = _all_for_one(at, len(numbers), d if numbers[at] else None, mixed)
    result = [part if number else None for part, number in zip(result, numbers)]
    result[at] = d
    return None, *(objects.keys.added(result, more) or ()), None, None


def run_chosen_plainly(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, at, count, drain = back
    ds: Any = None
    if d is not None:
        ds = [of_kink(d) if type(d) is float or is_number(d) else None] * count
        ds[at] = d
    return None, drain[0](drain, ds, shadows), None, None


def _run_chosen_value(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The same of the values of a dict."""
    if d is not None:
        _, mapping, keys, at = back
        ds = [of_kink(d) if type(d) is float or is_number(d) else None] * len(keys)
        ds[at] = d
        add_keys(shadows, mapping, keys, ds, 0)


def run_chosen_item(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, at, count, mixed, drain, asked = back
    ds = None if d is None else _all_for_one(at, count, d, mixed)
    ds = objects.keys.added(ds, objects.keys.undo(asked, shadows))
    return None, draining.give(drain, ds, shadows), None, None


def _all_for_one(at: int, count: int, d: Any, mixed: tuple[Any, ...] | None) -> list[Any]:
    """The cotangent of what was chosen among `count` items, and nothing for the others: zeros of their kind, where it is a number."""
    nothing = of_kink(d) if d is not None and is_number(d) else None
    ds = [nothing] * count if mixed is None else [real_like(x, nothing) for x in mixed]
    ds[at] = d
    return ds


def run_default(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, draining.give(back[1], None, shadows), d, d
