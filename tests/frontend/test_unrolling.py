"""Loops over ranges are unrolled where nothing else helps, the short ones first."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn
from zyg.errors import Unsupported
from zyg.frontend.infer import infer
from zyg.frontend.unrolling import Unrolling, attempts
from zyg.ir.analysis import Loops
from zyg.ir.types import F64, I64
from zyg.typeof import type_of


class Body:
    def __init__(self, x, v):
        self.x = x
        self.v = v


def orbit(a, dt):
    bodies = [Body(a * i, 0.1 * i) for i in range(3)]
    for _ in range(20):
        for b in bodies:
            for c in bodies:
                if b is not c:
                    b.v += dt * (c.x - b.x)
        for b in bodies:
            b.x += dt * b.v
    return sum(b.x * b.v for b in bodies)


def test_steps_over_a_list_of_objects_stay_a_loop():
    assert zyg.jit(orbit)(0.7, 0.01) == pytest.approx(orbit(0.7, 0.01), rel=1e-14)
    inferred = infer(orbit, (F64, F64))
    assert sum(1 for _ in inferred.module.functions[inferred.entry].instructions()) < 200


def test_attempts_unroll_longer_and_longer_loops():
    first = Unrolling()
    assert not first.wants(3, "a") and not first.wants(20, "b") and not first.wants(301, "c")
    second = first.next()
    assert second is not None and second.limit == 4
    assert second.wants(3, "a") and second.wants(3, "a") and second.left == 297
    assert not second.wants(20, "b") and not second.wants(2000, "c")
    third = second.next()
    assert third is not None and third.limit == 32 and third.wants(20, "b")
    assert third.next() is None


def test_long_loops_are_tried_with_a_few_iterations():
    first = Unrolling()
    assert not first.wants(40, "a") and not first.wants(100, "b")
    second = first.next()
    assert second is not None and second.some
    assert second.wants(40, "a") and second.wants(100, "b") and second.left == 300 - 2 * 8


def layers(x):
    made = []
    for k in range(40):
        made.append(lambda v, k=k: v * 0.9 + 0.01 * k)
    for k in range(40):
        x = made[k](x) * made[-1](x)
    return made[20](x) + made[39](x) + len(made)


def test_what_is_at_the_end_of_a_long_loop_is_there():
    assert zyg.jit(layers)(0.7) == pytest.approx(layers(0.7), rel=1e-14)


def test_a_long_loop_is_not_unrolled_for_what_is_refused_in_any_case():
    tried = []

    def refuse(unrolling):
        tried.append((unrolling.wants(200, "a"), unrolling.left))
        raise Unsupported("a set")

    with pytest.raises(Unsupported, match="a set"):
        attempts(refuse)
    assert tried == [(False, 300), (True, 292)]
    tried.clear()
    assert attempts(lambda unrolling: unrolling.wants(200, "a") or refuse(unrolling))


def loops(f, *types):
    """How many loops there are after inference."""
    inferred = infer(f, types)
    return sum(len(Loops(function).all) for function in inferred.module.functions.values())


def once(x):
    total = 0.0
    for i in range(1):
        for j in range(2, 0, -2):
            if x > 10.0:
                break
            total += x * (i + j)
            x = x * x
        else:
            total += 1.0
    return total, i, j


def never_or_once(x, n):
    for k in range(0, n):
        x = x * k
    return x


def product(x):
    n = 1
    for k in (2, 3):
        if k > 2 and x < 0.0:
            continue
        n = n * k
    return x**n, n


def counted(x, c):
    steps = iter((1.0, 2.0, 3.0))
    while c > 0.0:
        x = x * 2.0
        c = c - 1.0
    for s in steps:
        x = x + s
        if x > 50.0:
            break
    return x + sum(steps)


def test_a_loop_of_one_round_is_none():
    assert loops(once, F64) == 0
    for x in (0.5, 11.0):
        assert zyg.jit(once)(x) == once(x)
    assert loops(never_or_once, F64, I64) == 1
    assert [zyg.jit(never_or_once)(2.0, n) for n in (0, 1, 3)] == [2.0, 0.0, 0.0]


def test_what_is_known_in_a_loop_over_a_tuple_stays_known():
    assert loops(product, F64) == 0
    for x in (-1.5, 1.5):
        assert zyg.jit(product)(x) == product(x)
    assert zyg.gradient(lambda x: product(x)[0], 1.5) == (pytest.approx(6 * 1.5**5),)


@pytest.mark.parametrize("x, c", [(1.0, 0.0), (1.0, 3.0), (30.0, 2.0)])
def test_a_loop_that_does_not_go_through_the_tuple_is_one(x, c):
    assert loops(counted, F64, F64) == 1
    assert zyg.jit(counted)(x, c) == counted(x, c)
    assert zyg.gradient(counted, x, c) == (2.0**c, None)


def test_sums_along_a_vector_are_one_loop():
    x = np.array([3.0, -1.0, 2.0])
    vector = type_of(x)
    assert loops(lambda a: np.cumsum(a), vector) == 1
    assert loops(lambda a: np.maximum.accumulate(a), vector) == 1
    assert zyg.jit(lambda a: np.cumsum(a))(x).tolist() == [3.0, 2.0, 4.0]


def records(x):
    out = []
    for i in range(60):
        kind = "a" if x > i * 0.05 else "b"
        x = x * 0.99
        out.append((kind, x))
    return sum(v for k, v in out if k == "a")


def pairs(t):
    return sum(a * b for a in t for b in t if a < b)


@pytest.mark.parametrize("f, argument", [(records, 1.0), (pairs, tuple(0.3 * i for i in range(14)))])
@each_in_long_turn
def test_what_comes_together_in_too_many_ways_goes_through_python(f, argument):
    """It took minutes to compile."""
    with pytest.raises(Unsupported, match="come together in more ways" if f is pairs else "a list of objects"):
        zyg.jit(f)(argument)
    with pytest.warns(zyg.FallbackWarning):
        (found,) = zyg.gradient(f, argument)
    if f is records:
        expected = (f(argument + 1e-7) - f(argument - 1e-7)) / 2e-7
    else:
        expected = [sum(b for b in argument if b != a) for a in argument]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
