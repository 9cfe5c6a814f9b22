"""Draws of the module `random`: which one comes depends on nothing but the generator's state, which holds no number that has a
derivative. What is chosen out of something has the derivative of the item that it is."""

from __future__ import annotations

import _random
import functools
import random
from typing import Any

from zyg import rules

from . import builtins_, calls, filling
from .calls import known, method
from .cotangents import INERT, accumulate

for _name in ("random", "getrandbits"):
    method(_random.Random, _name, exact=True)(functools.partial(builtins_._constant, getattr(_random.Random, _name)))
method(random.Random, "seed", exact=True)(functools.partial(builtins_._constant, random.Random.seed))
known(random.Random, exact=True)(functools.partial(builtins_._constant, random.Random))


def is_as_made(draws: Any) -> bool:
    """Whether a generator of the module `random` is as the library makes it: `gauss` keeps a number in it."""
    return type(draws) is random.Random and len(vars(draws)) == 1


def gives_number(f: Any) -> bool:
    """Whether a function is a method of `random.Random`, in Python, that gives a number: of constants it is one."""
    return f in _NUMBERS and rules.rule_for(f) is None and f not in calls.KNOWN


_NUMBERS = frozenset(
    [
        getattr(random.Random, name)
        for name in "randint randrange uniform triangular gauss normalvariate lognormvariate expovariate "
        "vonmisesvariate gammavariate betavariate paretovariate weibullvariate".split()
    ]
)


@known(random.Random.choice, exact=True)
def _choice(draws: Any, seq: Any) -> tuple[Any, Any]:
    if not is_as_made(draws) or type(seq) not in _CHOSEN_FROM or not seq:
        return calls.differentiated(random.Random.choice)(draws, seq)
    at = getattr(draws, "_randbelow")(len(seq))  # noqa: B009
    return seq[at], (_run_choice, seq, at)


_CHOSEN_FROM = frozenset({list, tuple})


def _run_choice(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, seq, at = back
    if d is None:
        return None
    if type(seq) is list:
        shadows.add_item(seq, at, d)
        return None
    return None, None, shadows.in_tuple(d, at, len(seq))


def _choosing(f: Any) -> Any:
    """Calls of a method that chooses several items: `f` chooses among their places."""

    def handler(draws: Any, population: Any, /, *rest: Any, **named: Any) -> tuple[Any, Any]:
        t = type(population)
        plain = is_as_made(draws) and all(map(_is_plain, (*rest, *named.values())))
        if not plain or t not in _CHOSEN_FROM or not population:
            if plain and (t is range or t is str):
                return _drawn(f, draws, population, rest, named), None
            return calls.differentiated(f)(draws, population, *rest, **named)
        at = _drawn(f, draws, range(len(population)), rest, named)
        y = [population[k] for k in at]
        if t is list:
            return y, (filling.run_sorted_list, y, population, at, None)
        if INERT.issuperset(map(type, population)):
            return y, None
        return y, (_run_of_tuple, y, at, len(population), len(rest) + len(named))

    return handler


def _is_plain(x: Any) -> bool:
    """Whether a count, or weights, are numbers that run no code. (Which places are chosen is a matter of integers.)"""
    return x is None or type(x) is int or (type(x) in _CHOSEN_FROM and _WEIGHTS.issuperset(map(type, x)))


_WEIGHTS = frozenset({int, float})


def _drawn(f: Any, draws: Any, population: Any, rest: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    return f(draws, population, *rest, **named)


builtins_.constant(_drawn)


def _run_of_tuple(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, at, count, others = back
    taken = shadows.take_list(y)
    if taken is None:
        return None
    ds: list[Any] = [None] * count
    for k, c in zip(at, taken):
        ds[k] = accumulate(ds[k], c)
    return None, None, tuple(ds), *[None] * others


for _function in (random.Random.choices, random.Random.sample):
    known(_function, exact=True)(_choosing(_function))


__all__ = ["gives_number", "is_as_made"]
