"""Elementwise operations that raise do so in derivatives as in NumPy, whether anybody reads what they make or not."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

MESSAGE = "Integers to negative integer powers"


def product(x, a):
    return np.sum(x * a**-2)


def power_alone(x, a):
    return a**-1


def chosen(x, a):
    return np.where(x > 0, x, a**-1)


def unread(x, a):
    a**-1
    return np.sum(x)


def unread_by_array(x, a):
    a ** (0 * a - 1)
    return np.sum(x)


def dotted(x, a):
    return x @ a**-1


PROGRAMS = [product, power_alone, chosen, unread, unread_by_array, dotted]
WAYS = {
    "jit": lambda f, x, a: zyg.jit(f)(x, a),
    "pullback": zyg.pullback,
    "gradient": lambda f, x, a: zyg.gradient(lambda x, a: np.sum(f(x, a)), x, a),
    "jvp": lambda f, x, a: zyg.jvp(f, (x, a), (x, 1.0 * a)),
    "hvp": lambda f, x, a: zyg.hvp(lambda x: np.sum(f(x, a)), x, x),
    "jitted gradient": lambda f, x, a: zyg.jit(zyg.grad(lambda x, a: np.sum(f(x, a))))(x, a),
}


@each_in_turn
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_what_raises_for_each_element_raises(program, way):
    with pytest.raises(ValueError, match=MESSAGE):
        program(np.ones(3), np.arange(1, 4))
    with pytest.raises(ValueError, match=MESSAGE):
        WAYS[way](program, np.ones(3), np.arange(1, 4))


@pytest.mark.parametrize("way", ["jit", "pullback", "gradient"])
def test_where_there_is_no_element_nothing_raises(way):
    assert product(np.ones(0), np.ones(0, int)) == 0.0
    WAYS[way](product, np.ones(0), np.ones(0, int))
