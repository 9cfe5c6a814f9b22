"""Derivatives of operations on Python objects of unknown type, for code that runs through the Python back end.

A cotangent of an object is an object: a number for a number, a tuple for a tuple, a dict of fields for anything with
attributes, and None for zero, as `nothing` in Zygote.  The functions here are called from adjoint SSA.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from zyg.ir.ops import OPS


def accumulate(x: Any, y: Any) -> Any:
    """The sum of two cotangents; None is zero.

    >>> accumulate(None, 2.0), accumulate((1.0, None), (2.0, 3.0)), accumulate({"x": 1.0}, {"x": 1.0, "y": 2.0})
    (2.0, (3.0, 3.0), {'x': 2.0, 'y': 2.0})
    """
    if x is None:
        return y
    if y is None:
        return x
    if isinstance(x, (tuple, list)):
        return type(x)(map(accumulate, x, y)) if _same_length(x, y) else _mismatch(x, y)
    if isinstance(x, dict):
        return {key: accumulate(x.get(key), y.get(key)) for key in [*x, *(k for k in y if k not in x)]}
    return x + y


def _same_length(x: Any, y: Any) -> bool:
    return type(x) is type(y) and len(x) == len(y)


def _mismatch(x: Any, y: Any) -> Any:
    raise TypeError(f"cotangents {x!r} and {y!r} cannot be added")


class Rule:
    """The reverse of one operation: `rule(d, y, *operands)` gives a cotangent per operand, all None where `d` is."""

    def __init__(self, name: str, function: Callable[..., tuple[Any, ...]]):
        self.__name__ = self.__qualname__ = name
        self.function = function

    def __call__(self, d: Any, y: Any, *operands: Any) -> tuple[Any, ...]:
        if d is None:
            return (None,) * len(operands)
        contributions = self.function(d, y, *operands)
        return tuple(c() if callable(c) else c for c in contributions)

    def __repr__(self) -> str:
        return f"<adjoint of {self.__name__}>"


def _arithmetic(name: str) -> Callable[..., tuple[Any, ...]]:
    rule = OPS[name].vjp
    assert callable(rule)
    return rule


def getitem(d: Any, y: Any, container: Any, key: Any) -> tuple[Any, ...]:
    if isinstance(container, tuple):
        position = operator.index(key) % len(container)
        return tuple(d if k == position else None for k in range(len(container))), None
    raise TypeError(f"no derivative of an item of a {type(container).__name__} yet")


ARITHMETIC = {"add": "add", "sub": "sub", "mul": "mul", "neg": "neg", "truediv": "div", "mod": "mod", "pow": "pow"}
RULES: dict[str, Rule] = {op: Rule(op, _arithmetic(rule)) for op, rule in ARITHMETIC.items()}
RULES["pos"] = Rule("pos", lambda d, y, x: (d,))
RULES["getitem"] = Rule("getitem", getitem)
RULES["tuple"] = Rule("tuple", lambda d, y, *items: tuple(d))
RULES["list_to_tuple"] = Rule("list_to_tuple", lambda d, y, x: (list(d),))
for _op in ("add", "sub", "mul"):
    RULES[f"i{_op}"] = Rule(f"i{_op}", _arithmetic(_op))

# What gives an object but carries no derivative, by nature.
CONSTANT = frozenset(
    "lt le eq ne gt ge and or xor not invert lshift rshift floordiv ifloordiv is is_not contains global name "
    "string format import_name import_from make_slice len_ build_class assertion_error unbound free_cell".split()
)


def unpacked(*cotangents: Any) -> tuple[Any, ...] | None:
    """The cotangent of an unpacked tuple, from those of its items."""
    return None if all(c is None for c in cotangents) else cotangents


def pullback(function: Any, *args: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """(value, back) of a call; `back(d)` gives a cotangent for the function and one for each argument."""
    from zyg.rules import rule_for

    rule = rule_for(function)
    if rule is not None:
        value, back = rule.function(*args)
        return value, lambda d: (None, *([None] * len(args) if d is None else back(d)))
    import zyg

    value, native_back = zyg.pullback(function, *args)
    return value, lambda d: (None, *([None] * len(args) if d is None else native_back(d)))
