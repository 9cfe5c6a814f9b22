"""Operators on whole lists of real numbers, and what comes back, by calls of C functions instead of one per item.

A rule gives the cotangents of the operands, lists as they are, of the values that `map(operator.mul, a, b)` and the like give; it is that
of the operator (`arithmetic`), read for lists.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import accumulate as running
from types import BuiltinFunctionType
from typing import Any

from . import calls
from .cotangents import accumulate, all_real

Rule = Callable[..., tuple[list[Any], ...]]


def _add(ds: list[Any], ys: list[Any], a: list[Any], b: list[Any]) -> tuple[list[Any], ...]:
    return ds, ds


def _sub(ds: list[Any], ys: list[Any], a: list[Any], b: list[Any]) -> tuple[list[Any], ...]:
    return ds, list(map(operator.neg, ds))


def _mul(ds: list[Any], ys: list[Any], a: list[Any], b: list[Any]) -> tuple[list[Any], ...]:
    return list(map(operator.mul, ds, b)), list(map(operator.mul, ds, a))


def _truediv(ds: list[Any], ys: list[Any], a: list[Any], b: list[Any]) -> tuple[list[Any], ...]:
    below = map(operator.neg, map(operator.mul, ds, ys))
    return list(map(operator.truediv, ds, b)), list(map(operator.truediv, below, b))


def _neg(ds: list[Any], ys: list[Any], a: list[Any]) -> tuple[list[Any], ...]:
    return (list(map(operator.neg, ds)),)


_RULES: dict[Any, tuple[int, Rule]] = {
    operator.add: (2, _add), operator.sub: (2, _sub), operator.mul: (2, _mul), operator.truediv: (2, _truediv),
    operator.neg: (1, _neg),
}  # fmt: skip


def has_rule(f: Any) -> bool:
    """Whether a function is one of these operators."""
    return type(f) is BuiltinFunctionType and f in _RULES


def rule_of(f: Any, *lists: list[Any]) -> Rule | None:
    """The rule of a function that is an operator, if all the items that it would be called with are real numbers."""
    if type(f) is not BuiltinFunctionType:
        return None
    count, rule = _RULES.get(f, (0, None))
    if rule is None or count != len(lists) or calls.forward_of(f) is not calls.KNOWN[f]:  # the user's rule
        return None
    for x in lists:
        if not all_real(x):
            return None
    return rule


def cotangents(rule: Rule, ds: list[Any], ys: list[Any], *lists: list[Any]) -> tuple[list[Any], ...]:
    """What comes to the operands, where some of the values may have no cotangent."""
    if all_real(ds):
        return rule(ds, ys, *lists)
    none = (None,) * len(lists)
    given = [
        none if d is None else [part[0] for part in rule([d], [y], *[[v] for v in values])]
        for d, y, *values in zip(ds, ys, *lists)
    ]
    return tuple([[parts[k] for parts in given] for k in range(len(lists))])


def totals(f: Any, items: list[Any]) -> tuple[list[Any], list[Any], list[Any]] | None:
    """What `accumulate(items, f)` gives, with its slopes by the total before and by the item; None where the operator has no rule
    for lists by which slopes are exact, or something raises an error."""
    rule = rule_of(f, items, items) if f is not operator.truediv else None
    if rule is None:
        return None
    try:
        ys = list(running(items, f))
        if not all_real(ys):
            return None
        by_total, by_item = rule([1.0] * (len(ys) - 1), ys[1:], ys[:-1], items[1:])
        return ys, by_total, by_item
    except ArithmeticError:  # it is raised again where it belongs
        return None


def last_to_items(d: Any, by_total: list[Any], by_item: list[Any]) -> list[Any]:
    """The cotangents of the items, from that of the last total."""
    back = list(running(reversed(by_total), operator.mul, initial=d))
    back.reverse()
    return [back[0], *map(operator.mul, back[1:], by_item)]


def all_to_items(ds: list[Any], by_total: list[Any], by_item: list[Any]) -> list[Any]:
    """The same from those of all totals."""
    result: list[Any] = []
    later: Any = None
    for d, slope, by in zip(reversed(ds), reversed([None, *by_total]), reversed([1.0, *by_item])):
        here = d if later is None else later if d is None else accumulate(d, later)
        result.append(None if here is None else here * by)
        later = None if here is None or slope is None else here * slope
    result.reverse()
    return result


__all__ = ["all_to_items", "cotangents", "has_rule", "last_to_items", "rule_of", "totals"]
