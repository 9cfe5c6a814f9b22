"""`is True` and `is False` of what is a bool on one path and another number on another, which machine code does not tell apart: the
derivative goes through Python and is right, and compiled code says so. What can only be a bool, or never is one, is compiled."""

from __future__ import annotations

import functools
import operator
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_turn

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]


class Cell:
    def __init__(self) -> None:
        self.hit: Any = False


@dataclass(frozen=True)
class Frozen:
    hit: Any


class Pair(NamedTuple):
    hit: Any
    other: float


def of_a_search(x, y, c):
    def find(values, bound):
        for v in values:
            if v > bound:
                return v
        return False

    r = find([x, y], 10.0 if c else 0.0)
    return x * y if r is False else r


def of_the_best_so_far(x, y, c):
    best = False
    for v in (x, y, x * y):
        if v > (100 if c else 1) and (best is False or v < best):
            best = v
    return -1.0 * x if best is False else best * y


def of_a_flag_in_a_loop(x, y, c):
    flag = True
    for _ in range(3):
        if flag is True and c:
            flag = x
    return y * 2 if flag is True else flag * y


def of_a_condition(x, y, c):
    t = x > 0 if c else x
    return y if t is True else 2 * y


def is_not(x, y, c):
    t = x > 0 if c else x
    return y * 2 if t is not True else y


def by_the_operators_function(x, y, c):
    t = not c and x
    return y * 3 if operator.is_(t, False) else t * y


def by_pattern(x, y, c):
    t = x > 0 if c else x
    match t:
        case True:
            return y
        case _:
            return 2 * y


def by_a_pattern_of_a_tuple(x, y, c):
    match (False, x) if c else (x, False):
        case (False, v):
            return y * v
        case (v, False):
            return v * x * y


def beside_an_int(x, y, c):
    t = False if c else 0
    return y if t is False else 3 * y + x


def beside_none(x, y, c):
    t = False if c else None if x > 100 else x
    return y if t is False else x if t is None else t * y


def beside_a_complex_number(x, y, c):
    t = False if c else 1j * x
    return y if t is False else (t * 1j * y).real


def of_an_entry(x, y, c):
    o = {"hit": False}
    if not c:
        o["hit"] = x
    return y if o["hit"] is False else o["hit"] * y


def of_an_attribute(x, y, c):
    o = Cell()
    if not c:
        o.hit = x
    return y if o.hit is False else o.hit * y


def of_a_frozen_one(x, y, c):
    o = Frozen(False) if c else Frozen(x)
    return y if o.hit is not False else x * y


def of_an_item(x, y, c):
    xs = [x, y, False]
    if not c:
        xs[2] = x
    return y if xs[2] is False else x


def of_a_named_item(x, y, c):
    t = Pair(False, x) if c else Pair(x, y)
    return y if t.hit is False else t.hit * t.other


def of_an_item_of_many(x, y, c):
    xs = []
    for i in range(3):
        xs.append(x if i > 0 or c else False)
    return y if xs[0] is False else xs[0] * y


def of_an_item_by_its_number(x, y, c):
    t = x > 0 if c else x
    k = 0 if y > 2 else 1
    return y if (t, t)[k] is True else 2 * y


def of_one_of_numpys_bools(x, y, c):
    k = 1 if y < 2 or c else 0
    return y if [np.array([x, y])[0] > 0, True][k] is True else 2 * x


def of_what_is_popped(x, y, c):
    xs = [x, y, False] if c else [x, False, y]
    return y if xs.pop() is False else x


def of_a_default(x, y, c):
    r = next((v for v in (x, y) if v > (10 if c else 1)), False)
    return x * y if r is False else r


def of_and(x, y, c):
    t = c and y
    return x if t is False else t * x


def of_or(x, y, c):
    t = c or x
    return y if t is True else t * 2


def of_the_larger(x, y, c):
    return y if max(True, x * (0.01 if c else 5)) is True else 2 * y


def of_a_sum(x, y, c):
    t = sum([x, y][: 0 if c else 2], False)
    return y if t is False else t * x


def of_a_recursive_function(x, y, c):
    def hit(n):
        return (False if c else x) if n == 0 else hit(n - 1)

    return y if hit(3) is False else 2 * y


def of_a_generator(x, y, c):
    def hits():
        yield x if c else False
        yield True

    return sum([y if v is False else x * 2 if v is True else 3 * y for v in hits()])


def of_a_bit(x, y, c):
    t = (True if c else 3) & True
    return y if t is True else x


def of_numpys_bool(x, y, c):
    t = (np.array([x, y]) > 0)[0] if c else x > 0
    return y if t is True else x


REFUSED = [
    of_a_search, of_the_best_so_far, of_a_flag_in_a_loop, of_a_condition, is_not, by_the_operators_function, by_pattern,
    by_a_pattern_of_a_tuple, beside_an_int, beside_none, beside_a_complex_number, of_an_entry, of_an_attribute, of_a_frozen_one,
    of_an_item, of_an_item_by_its_number, of_one_of_numpys_bools, of_a_named_item, of_an_item_of_many, of_what_is_popped, of_a_default, of_and, of_or, of_the_larger, of_a_sum,
    of_a_recursive_function, of_a_generator, of_a_bit, of_numpys_bool,
]  # fmt: skip


def check_derivatives(f: Any, c: bool) -> None:
    value, (dx, dy, _) = zyg.withgradient(f, 0.5, 3.0, c)
    assert value == f(0.5, 3.0, c)
    wanted = [differences.derivative(g, v) for g, v in ((lambda x: f(x, 3.0, c), 0.5), (lambda y: f(0.5, y, c), 3.0))]
    assert (dx or 0.0, dy or 0.0) == pytest.approx(wanted, rel=1e-6, abs=1e-8)
    found, tangent = zyg.jvp(functools.partial(f, c=c), (0.5, 3.0), (1.0, 0.5))
    assert found == value and tangent == pytest.approx(wanted[0] + 0.5 * wanted[1], rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("c", [False, True])
@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_which_of_them_it_is_is_asked_in_python(f, c):
    check_derivatives(f, c)


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_compiled_code_does_not_answer(f):
    with pytest.raises(zyg.Unsupported, match=r"`is (True|False)` of a number that is bool on one path and") as caught:
        zyg.jit(f)(0.5, 3.0, True)
    assert "test_flags_that_met_numbers.py" in str(caught.value)
    remedy = "bool(x)" if "numpy" in f.__name__ else "and ask `is None`"
    assert remedy in str(caught.value)


def the_remedy(x, y, c):
    best = None
    for v in (x, y, x * y):
        if v > (100 if c else 1) and (best is None or v < best):
            best = v
    return -1.0 * x if best is None else best * y


def a_float_anyway(x, y, c):
    t = 1 if c else x
    return y if t is True or t * 2.0 is False else x * y


def a_product(x, y, c):
    b = x > 0
    t = b * b if c else x
    return y if t is True else x


def a_bool_anyway(x, y, c):
    t = True
    for _ in range(3):
        t = t and y > (10 if c else 1)
    return y if t is True else x


def made_a_bool(x, y, c):
    t = bool(x > 0 if c else x)
    return y if t is True else x


def made_a_float(x, y, c):
    t = float(c or x)
    return y if t is True else x


def never_complex(x, y, c):
    t = 1j if c else x
    return y if t is True else x


def equal(x, y, c):
    t = x > 0 if c else x
    return y if t in (True, False) else 2 * x


@pytest.mark.parametrize("c", [False, True])
@pytest.mark.parametrize(
    "f",
    [the_remedy, a_float_anyway, a_product, a_bool_anyway, made_a_bool, made_a_float, never_complex, equal],
    ids=lambda f: f.__name__,
)
def test_what_has_one_answer_is_compiled(f, c):
    assert zyg.jit(f)(0.5, 3.0, c) == f(0.5, 3.0, c)
    with warnings.catch_warnings():
        warnings.simplefilter("error", zyg.FallbackWarning)
        check_derivatives(f, c)
