"""Loops over ranges are unrolled where nothing else helps, the short ones first."""

from __future__ import annotations

import pytest

import zyg
from zyg.frontend.infer import infer
from zyg.frontend.unrolling import Unrolling
from zyg.ir.types import F64


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
