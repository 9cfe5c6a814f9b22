"""What the reverse part reads again, in place of a copy: arrays that are written before, in other iterations, or afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_turn
from zyg.inspection.tape import tape_bytes

pytestmark = each_in_turn


N = 3


def made_anew_in_each_iteration(a: Any) -> Any:
    x = a.copy()
    s = 0.0
    for _ in range(N):
        x += 0.1 * np.cos(x)
        y = x.copy()
        y *= y
        s += np.sum(y * y)
    return s


def handed_on_to_the_next_iteration(a: Any) -> Any:
    old = a.copy()
    s = 0.0
    for _ in range(N):
        new = np.sin(old)
        s += np.sum(old * old)
        old *= 2.0  # is what the iteration before made
        new += old
        s += np.sum(new * new)
        old = new
    return s


def filled_first_and_only_read_then(a: Any) -> Any:
    b = np.empty(len(a))
    for i in range(len(a)):
        b[len(a) - 1 - i] = a[i] * a[i]
    s = 0.0
    for i in range(len(a)):
        for j in range(len(a)):
            s += b[i] * b[j] * a[j]
    return s


def written_behind_the_loop_that_reads(a: Any) -> Any:
    b = a.copy()
    s = 0.0
    for i in range(len(a)):
        s += b[i] * b[i]
    for i in range(len(a)):
        b[i] = s * a[i]
    return s + np.sum(b * b)


def written_in_the_iteration_that_follows(a: Any) -> Any:
    s = 0.0
    for _ in range(N):
        for j in range(len(a)):
            s = np.sin(s + a[j] * a[j])
        a[1] = a[1] * s
    return s


def products_of_what_changes(a: Any) -> Any:
    m = np.outer(a, a)
    x = a.copy()
    for k in range(N):
        f = np.diag(x)
        f[0, 1] = x[1]
        x = f @ (m @ x)
        m[k % len(a), 0] += 0.1
        x = x / np.sum(x * x)
    return np.sum(x * a)


def blocks_of_points(a: Any) -> Any:
    n = len(a)
    b, c = np.empty(n), np.empty(n)
    s = 0.0
    for start in range(0, n, 2):
        stop = min(start + 2, n)
        for i in range(start, stop):
            c[i] = 0.0
        for k in range(N):
            for i in range(start, stop):
                b[i] = a[i] * k
            for i in range(start, stop):
                c[i] += b[i] * b[i]
        for i in range(start, stop):
            s += np.exp(c[i])
    return s


PROGRAMS = [
    made_anew_in_each_iteration, handed_on_to_the_next_iteration, filled_first_and_only_read_then,
    written_behind_the_loop_that_reads, written_in_the_iteration_that_follows, products_of_what_changes, blocks_of_points,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradient_is_that_of_differences(program: Any) -> None:
    at = np.array([0.3, -0.2, 0.5])
    value, (gradient,) = zyg.withgradient(zyg.jit(program), at.copy())
    assert np.isclose(value, program(at.copy()), rtol=1e-13)
    (wanted,) = differences.gradient(lambda x: program(x.copy()), at)
    assert np.allclose(gradient, wanted, rtol=1e-7, atol=1e-9)


def blocks(x: Any, w: Any) -> Any:
    """Weighted sums of points, by blocks: what is taken from the points has been written before."""
    n, d = x.shape
    columns = np.empty((d, n))
    for i in range(n):
        for j in range(d):
            columns[j, i] = x[i, j]
    y = np.empty(n)
    total = 0.0
    for start in range(0, n, 8):
        stop = min(start + 8, n)
        for i in range(start, stop):
            y[i] = 0.0
        for j in range(d):
            for i in range(start, stop):
                y[i] += w[j] * columns[j, i]
        for i in range(start, stop):
            total += y[i] * y[i]
    return total


def test_only_what_is_written_again_is_on_the_tape() -> None:
    n, d = 40, 5
    x, w = np.random.default_rng(1).normal(size=(n, d)), np.linspace(-1.0, 1.0, d)
    assert tape_bytes(blocks, x, w, argnums=1) <= 8 * n + 256  # y, and a little for each block
    value, gradient = zyg.value_and_grad(blocks, 1)(x, w)
    assert np.isclose(value, blocks(x, w)) and np.allclose(gradient, 2 * x.T @ (x @ w))


def test_items_of_stepped_ranges_are_not_negative() -> None:
    """So what is indexed by ranges from one of them to the next is in bounds."""

    def copied(x: Any) -> Any:
        n = len(x)
        y = np.empty(n)
        for start in range(0, n, 8):
            for i in range(start, min(start + 8, n)):
                y[i] = x[i]
        return y

    assert "IndexError" not in str(zyg.code_typed(copied, np.ones(20)))


@pytest.mark.parametrize(("start", "stop", "step"), [(2**63 - 20, 2**63 - 1, 7), (-9, 8, 5), (6, -3, -4), (5, 5, 3)])
def test_stepped_ranges_at_the_ends_of_the_numbers(start: int, stop: int, step: int) -> None:
    def visited(a: int, b: int) -> Any:
        items = []
        for i in range(a, b, step):
            items.append(i)
        return items

    assert zyg.jit(visited)(start, stop) == list(range(start, stop, step))


def filled_by_a_loop(x, y):
    t = np.zeros(len(x))
    for i in range(len(x)):
        t[i] = x[i] * y[i]
    return t, t * t


def set_once(x, y):
    t = x * 1.0
    t[0] = 3 * x[1] * y[0]
    return t, np.sin(t)


def seen_through_a_view(x, y):
    t = x * y
    t[1] = y[1]
    return t[1:], t * t


@pytest.mark.parametrize("f", [filled_by_a_loop, set_once, seen_through_a_view], ids=lambda f: f.__name__)
def test_results_may_change_before_the_pullback(f):
    x, y = np.arange(1.0, 5.0), np.arange(2.0, 6.0)
    seeds = tuple(np.ones(len(part)) for part in f(x, y))
    _, untouched = zyg.pullback(f, x, y)
    values, back = zyg.pullback(f, x, y)
    for value in values:
        value[:] = 0.0
    for got, expected in zip(back(seeds), untouched(seeds), strict=True):
        np.testing.assert_array_equal(got, expected)
    steps = [(x + 1e-6 * e, x - 1e-6 * e) for e in np.eye(4)]
    total = [(sum(map(np.sum, f(up, y))) - sum(map(np.sum, f(down, y)))) / 2e-6 for up, down in steps]
    np.testing.assert_allclose(back(seeds)[0], total, rtol=1e-7, atol=1e-7)
