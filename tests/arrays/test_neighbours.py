"""Gradients of differences of elements that lie close together, against those written by hand."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn


def variation(x):
    return np.sum(np.abs(x[1:] - x[:-1]))


def bending(x):
    return np.sum((x[2:] - 2 * x[1:-1] + x[:-2]) ** 2) + np.sum(x * x)


def far(x):
    return np.sum(np.exp(x[7:] * x[:-7]))


def farther(x):
    return np.sum(x[8:] * x[:-8])


def of_variation(x):
    s = np.sign(np.diff(x))
    return np.append(0.0, s) - np.append(s, 0.0)


def of_bending(x):
    d = 2 * (x[2:] - 2 * x[1:-1] + x[:-2])
    return np.pad(d, (2, 0)) - 2 * np.pad(d, 1) + np.pad(d, (0, 2)) + 2 * x


def of_products(x, apart, d):
    return np.pad(d * x[:-apart], (apart, 0)) + np.pad(d * x[apart:], (0, apart))


def reversed_too(x):
    return np.sum(np.hypot(x, x[::-1]))


def reversed_in_place(x):
    y = x.copy()
    y[:] = y * y[::-1]
    return np.sum(y * y * y)


def with_its_first(x):
    return np.sum(x * x[:1] + x[::-1])


CASES = {
    "reversed": (reversed_too, lambda x: 2 * x / np.hypot(x, x[::-1]), 1),
    "reversed in place": (reversed_in_place, lambda x: 6 * x**2 * x[::-1] ** 3, 1),
    "first": (with_its_first, lambda x: x[0] + 1.0 + np.sum(x) * (np.arange(len(x)) == 0), 1),
    "variation": (variation, of_variation, 1),
    "bending": (bending, of_bending, 2),
    "far": (far, lambda x: of_products(x, 7, np.exp(x[7:] * x[:-7])), 7),
    "farther": (farther, lambda x: of_products(x, 8, np.ones(len(x) - 8)), 8),
}


@each_in_turn
@pytest.mark.parametrize("name", CASES)
def test_gradients_of_neighbours(name):
    function, by_hand, least = CASES[name]
    compiled, alone = zyg.value_and_grad(function), zyg.grad(function)
    for n in (least, least + 1, *range(15, 20), 127 + least, 128 + least, 137 + least, 1030):
        x = np.random.default_rng(n).normal(size=n)
        x[n // 2 - 1] = x[n // 2]
        value, gradient = compiled(x)
        np.testing.assert_allclose(value, function(x), rtol=1e-13)
        for found in (gradient, alone(x)):
            np.testing.assert_allclose(found, by_hand(x), rtol=1e-12, atol=1e-13)


def test_the_gradient_of_neighbours_takes_one_loop_in_lanes():
    text = str(zyg.code_typed(zyg.value_and_grad(variation), np.zeros(9)))
    assert text.count("vector=8") == 1 and text.count("accum") == 2  # in lanes, and what is left over


def of_slices(x):
    """What is added to in one loop overlaps a few elements apart, in several ways at once."""
    a, b, c, d = x[:-4], x[2:-2], x[4:], x[1:-3]
    first = a * b + c
    second = np.tanh(first * d) + a
    third = second * first * c
    y = x.copy()
    y[:-4] = y[2:-2] * y[4:] + y[1:-3] * third / (1 + a * a)
    y[3:-1] += y[2:-2] * y[1:-3] * y[:-4]
    total = np.sum(a * b * c * d) + np.sum(np.exp(a * b) / (1 + c * c)) * np.sum(np.sin(d) * a)
    return total + np.sum(first * second * third) + np.sum(y * y) + np.sum(np.sqrt(1 + y * y) * x)


def of_rows(x):
    """The same with rows of one array, which may be one row."""
    rows = x.reshape(3, -1).copy()
    total = 0.0
    for i in range(3):
        rows[i] = rows[i] * rows[i - 1] + np.tanh(rows[i - 1] * x[: len(rows[i])]) / (1 + np.exp(-rows[i - 2]))
        rows[i - 1] = rows[i] * rows[i - 2] + np.sin(rows[i])
        total += np.sum(rows[i] * rows[i - 1] * rows[0])
    rows[:, 1:] *= 0.5 + np.cos(rows[:, :-1]) * rows[:, 1:]
    rows[1:] += rows[:-1] * np.exp(rows[1:])
    return total + np.sum(rows * rows) + np.sum(rows[1:] * rows[:-1]) + np.sum(np.sqrt(1 + rows * rows))


@each_in_turn
@pytest.mark.parametrize("function", [of_slices, of_rows])
def test_gradients_that_overlap(function):
    gradient = zyg.grad(function)
    for n in (6, 15, 27, 60):
        x = np.random.default_rng(n).normal(size=n) * 0.5
        by_complex_steps = [function(x + 1e-30j * row).imag / 1e-30 for row in np.eye(n)]
        np.testing.assert_allclose(gradient(x), by_complex_steps, rtol=1e-11, atol=1e-12)
    assert ".rev.each" in str(zyg.code_llvm(zyg.grad(function), x))  # in lanes
