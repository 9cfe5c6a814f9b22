"""What is known when compiling: operations that are not emitted, and code that goes on in the block that there is."""

from __future__ import annotations

import itertools
from collections import namedtuple

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn
from zyg.errors import Unsupported
from zyg.frontend.folding import folded
from zyg.frontend.infer import infer
from zyg.ir.core import Const, Value, const
from zyg.ir.ops import OPS
from zyg.ir.types import BOOL, F64, I64
from zyg.typeof import type_of

INTS = (-(2**63), -3, -1, 0, 1, 2, 7, 2**63 - 1)
OF_INTS = ("add", "sub", "mul", "cadd", "csub", "cmul", "eq", "ne", "lt", "le", "gt", "ge", "and", "or")


def outcome(op, *values):
    try:
        return OPS[op].eval(*values)
    except OverflowError:
        return None


@pytest.mark.parametrize("op", OF_INTS)
def test_operations_on_ints_are_what_they_are_when_the_code_runs(op):
    for a, b in itertools.product(INTS, INTS):
        found = folded(op, [const(a), const(b)])
        assert (found.value if isinstance(found, Const) else None) == outcome(op, a, b), (a, b)
        x = Value(I64)
        for operands, of in (([x, const(b)], lambda n, b=b: (n, b)), ([const(a), x], lambda n, a=a: (a, n))):
            found = folded(op, operands)
            assert found is None or found is x and all(outcome(op, *of(n)) == n for n in INTS)
    x = Value(I64)
    if op in ("eq", "ne", "lt", "le", "gt", "ge"):
        assert folded(op, [x, x]).value is OPS[op].eval(3, 3)


@pytest.mark.parametrize("op", ["and", "or", "eq", "ne"])
def test_operations_on_flags(op):
    x = Value(BOOL)
    for a in (False, True):
        assert folded("not", [const(a)]).value is (not a)
        for b in (False, True):
            assert folded(op, [const(a), const(b)]).value is bool(OPS[op].eval(a, b))
        for operands in ([x, const(a)], [const(a), x]):
            found = folded(op, operands)
            for b in (False, True):
                expected = bool(OPS[op].eval(a, b))
                assert found is None or (b if found is x else found.value) is expected


def test_floats_are_left_to_the_optimiser():
    x = Value(F64)
    assert folded("eq", [x, x]) is None  # nan
    assert folded("add", [x, const(0.0)]) is None  # -0.0
    assert folded("mul", [const(2.0), const(3.0)]) is None
    assert folded("select", [const(True), x, const(1.0)]) is x


def blocks(f, *args):
    inferred = infer(f, tuple(map(type_of, args)))
    return len(inferred.module.functions[inferred.entry].blocks)


Options = namedtuple("Options", "square twice")


def by_options(x, options, kind):
    if options.square is None:
        y = x
    elif x.ndim == 1 and kind == "sum":
        y = x * x
    else:
        y = -x
    for k in (1, 2, 3):
        if k == 2:
            continue
        for factor in (0.5, float(k)):
            y = y * factor
    while options.twice is None:
        return y
    return np.sum(y) + len(x.shape)


def test_code_without_a_choice_is_one_block():
    def f(x):
        return by_options(x, Options(2.0, True), "sum")

    def g(x):
        return by_options(x, Options(None, None), "")[1]

    x = np.array([1.0, -2.0])
    assert blocks(f, x) == 1
    for function in (f, g):
        assert zyg.jit(function)(x) == function(x)
    assert zyg.gradient(f, x)[0] == pytest.approx(0.75 * 2 * x)


def choices(x, n):
    """Ways that are known in one round of a loop and not in the next, and loops that are left from within."""
    best = last = None
    for i in range(n):
        for k in (1, 2, 3):
            if best is None:
                best = x * k
                break
            if x * i > best:
                best = x * i
                if k == 2:
                    break
            if last is None or last < k:
                last = k
        else:
            best = best - 1.0
    return -1.0 if best is None else best if last is None else best + last


@pytest.mark.parametrize("n", range(6))
def test_ways_that_are_known_in_some_rounds(n):
    for x in (-1.5, 0.25, 2.0):
        assert zyg.jit(choices)(x, n) == choices(x, n)


@each_in_long_turn
def test_loops_that_are_unrolled_for_ever_are_refused():
    def grows(x):
        xs = [x, 2.0]
        for y in xs:
            xs.append(y)
        return xs[0]

    items = tuple(range(6000))

    def long(x):
        for k in items:
            x = x + k
        return x

    with pytest.raises(Unsupported, match="a loop over a list that grows meanwhile"):
        zyg.jit(grows)(1.0)
    with pytest.raises(Unsupported, match="too long to unroll"):
        zyg.jit(long)(1.0)


def alternating():
    k = 1.0
    while True:
        yield k
        k = -k


def paired(n):
    """A generator that goes through a tuple and, for each of its items, stays where it is."""
    for t in (1.0, 2.0):
        i = 0
        while i < n:
            yield t
            i += 1


@pytest.mark.parametrize("make", [alternating, lambda: paired(4000)], ids=["alternating", "paired"])
def test_loops_over_generators_that_give_item_after_item_at_one_place_are_loops(make):
    def f(x):
        for i, sign in zip(range(7000), make()):
            x = x + sign * i
        return x

    x = 0.5
    assert blocks(f, x) < 40
    assert zyg.jit(f)(x) == f(x)
    assert zyg.gradient(zyg.jit(f), x) == (1.0,)


def test_loops_over_generators_with_a_place_per_item_are_none():
    def items(x):
        yield x
        for k in (1.0, 2.0):
            yield x * k
            yield k

    def f(x):
        total = None
        for y in items(x):
            total = y if total is None else total * y
        return total

    assert blocks(f, 1.5) < 3
    assert zyg.jit(f)(1.5) == f(1.5)


MANY = tuple(float(k) for k in range(50))
SOME = MANY[:12]


class Holder:
    def __init__(self, held):
        self.held = held


def number(x):
    for k in MANY:
        if x > k:
            x = x - k
        else:
            x = x + 1.0
    return x


def flag_and_count(x):
    n, found = 0, False
    for i, k in enumerate(MANY):
        if x * k > 3.0:
            n += i
            continue
        if x < k:
            found = True
        elif x == 3.0:
            break
    return n * x if found else x


def attribute(x):
    p = Holder(x)
    for k in reversed(MANY):
        if p.held > k:
            p.held = p.held - 1.0
        else:
            p.held = p.held * 0.5 + k
    return p.held


def item(x):
    d = {"a": x, "b": 1.0}
    for k, m in zip(MANY, MANY):
        if d["a"] > k:
            d["b"] = d["b"] + m
        else:
            d["a"] = d["a"] * 0.5
    return d["a"] + d["b"]


def nested(x):
    s = 0.0
    for k in SOME:
        for m in SOME:
            if x > m:
                s += k * x
            else:
                s -= m
    return s


def generated(x):
    s = 0.0
    for k in (x * k if x > k else k for k in MANY):
        if k > 2.0:
            s += k * x
        else:
            s -= k
    return s


def optional(x):
    last, total = None, 0
    for k in MANY:
        if x > k:
            last = k
        elif last is not None and x * last > 1.0:
            total = total + last
    return x if last is None else total * x


@pytest.mark.parametrize(
    "function", [number, flag_and_count, attribute, item, nested, generated, optional], ids=lambda f: f.__name__
)
@each_in_long_turn
def test_rounds_with_choices_are_evaluated_one_after_the_other(function):
    """Each block of a round, once all that leads to it is: a round that is evaluated on some of its ways only would be so again, with all
    that follow."""
    for x in (-1.07, 0.77, 4.03):
        assert zyg.jit(function)(x) == function(x)
        below, above = function(x - 1e-6), function(x + 1e-6)
        assert zyg.gradient(zyg.jit(function), x)[0] == pytest.approx((above - below) / 2e-6, rel=1e-4, abs=1e-6)


def test_a_length_is_one_value():
    def f(x):
        n = len(x)
        if n != x.shape[0]:
            raise ValueError("never")
        return np.zeros(n).reshape(1, n)[0]

    assert blocks(f, np.ones(3)) == 1
    assert zyg.jit(f)(np.ones(3)).shape == (3,)


class TestListsOfOneObject:
    """What is put into a list on some ways only, and stands in it several times, is refused: the list is not taken for an empty one."""

    @staticmethod
    def chosen(x, n):
        p, found = Holder(x), []
        for _ in range(n):
            if x > 1.25:
                found.append(p)
        return len(found) + 0.0

    @staticmethod
    def left(x, n):
        p, found, k = Holder(x), [], 0
        while k < n:
            k += 1
            if k > 1:
                break
            if p.held > 1.25:
                found.append(p)
        total = 0.0
        for q in found:
            total = total + q.held
        return total

    @staticmethod
    def then_numbers(x, n):
        p, found = Holder(x), []
        for _ in range(n):
            if x > 1.25:
                found.append(p)
            elif x > 1.0:
                found.append(x)
        found.append(2.0)
        return len(found) + 0.0

    @pytest.mark.parametrize("name", ["chosen", "left", "then_numbers"])
    def test_is_not_empty(self, name):
        f = getattr(self, name)
        for x, n in ((1.3, 0), (1.3, 1), (1.3, 3), (1.1, 2)):
            try:
                found = zyg.jit(f)(x, n)
            except Unsupported as refusal:
                assert "a list" in str(refusal)
            else:
                assert found == f(x, n)
