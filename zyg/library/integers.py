"""The functions of `math` for integers, raising what CPython raises; no derivative goes through them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zyg.frontend.lists import index_argument
from zyg.frontend.values import Abstract, Known, Number, known

from .builtins_ import int_of_float
from .intrinsics import machine, to_f64
from .registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator


@emits(math.gcd)
def _gcd(e: Evaluator, *integers: Abstract) -> Abstract:
    return _fold_integers(e, integers, greatest_common_divisor, 0)


@emits(math.lcm)
def _lcm(e: Evaluator, *integers: Abstract) -> Abstract:
    return _fold_integers(e, integers, least_common_multiple, 1)


def _fold_integers(e: Evaluator, integers: tuple[Abstract, ...], function: Any, start: int) -> Abstract:
    result: Abstract = Known(start)
    for v in integers:
        result = e.call(known(function), [result, cut_index(e, v)])
    return result


def cut_index(e: Evaluator, v: Abstract) -> Abstract:
    """An argument that has to be an int; no derivative goes through it."""
    found = index_argument(e, v)
    return Number(e.op("stop", found.value)) if isinstance(found, Number) else found


def greatest_common_divisor(a: int, b: int) -> int:
    a, b = abs(a), abs(b)
    while b:
        a, b = b, machine("mod", a, b)
    return a


def least_common_multiple(a: int, b: int) -> int:
    if a == 0 or b == 0:
        return 0
    return abs(a // greatest_common_divisor(a, b) * b)


def _on_integers(function: Any) -> Callable[..., Abstract]:
    """An emitter that checks the arguments to be ints and calls library code."""

    def emitter(e: Evaluator, *args: Abstract) -> Abstract:
        checked = [v if isinstance(v, Known) and v.object is None else cut_index(e, v) for v in args]
        return e.call(known(function), checked)

    return emitter


def factorial(n: int) -> int:
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    result = 1
    for i in range(2, n + 1):
        result *= i
    return result


def _check_not_negative(n: int, k: int) -> None:
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")


def comb(n: int, k: int) -> int:
    _check_not_negative(n, k)
    if k > n:
        return 0
    k = min(k, n - k)
    result = 1
    for i in range(1, k + 1):
        # Divide by what they share first, so that nothing passes 64 bits that the result does not.
        shared = greatest_common_divisor(result, i)
        result = result // shared * ((n - k + i) // (i // shared))
    return result


def perm(n: int, k: Any = None) -> int:
    if k is None:
        return factorial(n)
    _check_not_negative(n, k)
    if k > n:
        return 0
    result = 1
    for i in range(k):
        result *= n - i
    return result


def isqrt(n: int) -> int:
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = int_of_float(machine("floor", machine("sqrt", to_f64(n))))
    root = min(root, 3037000499)
    while root * root > n:
        root -= 1
    while root < 3037000499 and (root + 1) * (root + 1) <= n:
        root += 1
    return root


emits(math.factorial)(_on_integers(factorial))
emits(math.comb)(_on_integers(comb))
emits(math.perm)(_on_integers(perm))
emits(math.isqrt)(_on_integers(isqrt))
