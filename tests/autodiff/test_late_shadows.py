"""Shadows that only the reverse part uses are made there."""

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn


X, A = np.array([0.1, 0.2, 0.3]), np.arange(6.0).reshape(2, 3) / 7


def chain(x, a):
    total = 0.0
    for c in range(len(x)):
        y = np.exp(a * x[c])
        total += np.sum(y @ y.T) * y[0, c]
    return total


def by_hand(x, a):
    dx, da = np.zeros_like(x), np.zeros_like(a)
    for c in range(len(x)):
        y = np.exp(a * x[c])
        ones = np.ones((2, 2))
        dy = (ones + ones.T) @ y * y[0, c]
        dy[0, c] += np.sum(y @ y.T)
        da += dy * y * x[c]
        dx[c] += np.sum(dy * y * a)
    return dx, da


def test_none_is_made_in_the_forward_part():
    text = str(zyg.code_adjoint(chain, X, A))
    function = next(part for part in text.split("\n\n") if part.startswith("func @chain.adj"))
    forward, reverse = function.split("rewind", 1)
    assert reverse.count('fill="zeros"') >= 1
    lines = [line for line in forward.splitlines() if 'fill="zeros"' in line]
    names = [line.split("=")[0].strip() for line in lines]
    assert names == ["%d_x", "%d_a"]  # at the end of it: what is returned


@pytest.mark.parametrize("transform", ["gradient", "pullback", "checkpoint"])
def test_gradients(transform):
    if transform == "gradient":
        got = zyg.gradient(chain, X, A)
    elif transform == "pullback":
        _, back = zyg.pullback(chain, X, A)
        doubled = back(2.0)
        got = back(1.0)
        np.testing.assert_allclose(doubled[1], 2 * got[1], rtol=1e-14)
        assert not np.shares_memory(doubled[1], got[1])
    else:
        got = zyg.gradient(lambda x, a: zyg.checkpoint(chain, x, a), X, A)
    for g, e in zip(got, by_hand(X, A), strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-12)


def left_in_the_middle(x):
    total = 0.0
    for c in range(len(x)):
        y = np.exp(x * c)
        if y[0] > 1.3:
            return total + y[1]
        total += np.sum(y) if c % 2 else y[2]
    return total


def test_loops_that_are_left():
    for x in (X, X + 1.0):
        h = 1e-6
        expected = [(left_in_the_middle(x + h * e) - left_in_the_middle(x - h * e)) / (2 * h) for e in np.eye(3)]
        np.testing.assert_allclose(zyg.gradient(left_in_the_middle, x)[0], expected, rtol=1e-6)


@each_in_long_turn
def test_second_derivatives():
    h = 1e-5
    v = np.array([1.0, -2.0, 0.5])
    expected = (by_hand(X + h * v, A)[0] - by_hand(X - h * v, A)[0]) / (2 * h)
    np.testing.assert_allclose(zyg.hvp(lambda x: chain(x, A), X, v), expected, rtol=1e-6)


def rows_in_place(a, w):
    for i in range(len(a)):
        b = w @ a[i]
        c = w @ (b * a[i])
        a[i] = c * np.sin(b)
    return np.sum(a)


def test_a_loop_that_goes_through_arrays_keeps_one_record():
    a, w = np.linspace(0.3, 1.4, 12).reshape(3, 4), np.linspace(-0.5, 0.7, 16).reshape(4, 4)
    assert str(zyg.code_adjoint(rows_in_place, a, w)).count(" = stack ") == 1
    f = lambda v: rows_in_place(v[:12].reshape(3, 4).copy(), v[12:].reshape(4, 4))
    v = np.concatenate([a.ravel(), w.ravel()])
    near = [(f(v + h) - f(v - h)) / 2e-6 for h in 1e-6 * np.eye(len(v))]
    np.testing.assert_allclose(zyg.grad(f)(v), near, rtol=1e-6, atol=1e-8)
