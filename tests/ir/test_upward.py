"""Loops that are turned upward: random ones mean the same before and after; those whose order matters stay as they are."""

from __future__ import annotations

import random

import numpy as np
import pytest

import zyg
from zyg.ir.core import clone
from zyg.ir.parsing import parse_function
from zyg.ir.passes import upward
from zyg.ir.verify import verify

from ..turns import each_in_turn
from .test_distribute import Stencil, outcome


class Sums(Stencil):
    """A loop of few accesses with a sum that may be added up in any order."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.random = r = random.Random(seed)
        self.lines, self.values, self.count = [], ["%x"], 0
        self.load()
        for _ in range(r.randint(0, 3)):
            r.choice((self.accum, self.load, self.load, self.store, self.mix, self.take))()
        if r.random() < 0.1:
            self.values.append("%c")  # looked at on the way: the order matters then
            self.mix()
        fast = ' {fast={"reassoc"}}' if r.random() < 0.9 else ""
        operands = ["%c", r.choice(self.values)]
        op = r.choice(("add", "add", "sub"))
        if op == "add":
            r.shuffle(operands)
        self.lines.append(f"%sum = {op} {', '.join(operands)}{fast} : f64")
        self.carried = "%sum"


@each_in_turn
def test_random_loops_mean_the_same():
    turned = 0
    for seed in range(350):
        stencil = Sums(seed)
        before = parse_function(stencil.text())
        after = clone(before)
        verify(after)
        if not upward.run(after):
            continue
        turned += 1
        verify(after)
        for n in (0, 1, 5, 12):
            expected, got = (outcome(f, n, stencil.ndim) for f in (before, after))
            for x, y in zip(expected, got, strict=True):
                np.testing.assert_allclose(np.asarray(y), np.asarray(x), rtol=1e-11, atol=1e-11, err_msg=str(seed))
    assert 50 < turned < 300


def products(x, w):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = 0.0
    for k in range(len(w)):
        for i in range(len(x)):
            y[i] += w[k] * x[i]
    total = 0.0
    for i in range(len(x)):
        total += y[i] * y[i]
    return total


def running(x, w):
    """Each element is needed for the next one."""
    y = x.copy()
    for i in range(1, len(x)):
        y[i] += w[0] * y[i - 1]
    return y[-1]


@pytest.mark.parametrize(("function", "count"), [(products, 3), (running, 0)])
def test_gradients(function, count):
    draw = np.random.default_rng(1)
    x, w = draw.normal(size=37), 0.5 * draw.normal(size=3)
    by_both = zyg.gradient(function, x, w)
    for k, given in enumerate((x, w)):
        for n in range(0, len(given), 5):
            step = np.zeros_like(given)
            step[n] = 1e-6
            shifted = [[v + sign * step if m == k else v for m, v in enumerate((x, w))] for sign in (1, -1)]
            slope = (function(*shifted[0]) - function(*shifted[1])) / 2e-6
            assert by_both[k][n] == pytest.approx(slope, rel=1e-6, abs=1e-6)
    assert str(zyg.code_typed(zyg.grad(function, (0, 1)), x, w)).count("%past") >= count
    if not count:
        assert "%past" not in str(zyg.code_typed(zyg.grad(function, (0, 1)), x, w))
