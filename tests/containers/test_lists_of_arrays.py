"""Lists of arrays whose length is known only when the code runs: they grow, are joined, sorted, cut; changes of what is in
them are refused."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import zyg

from ..turns import each_in_turn

pytestmark = each_in_turn


RNG = np.random.default_rng(8)
A, X = RNG.normal(size=(3, 4)), RNG.normal(size=4)


def joined(a):
    rows = []
    for i in range(len(a)):
        rows.append(a[i] * i + 1.0)
    ragged = [row[: i + 1] for i, row in enumerate(rows)]
    return np.sum(np.stack(rows, axis=1)[:, 0] * np.array(rows)[0, :3].sum()) + np.sum(np.concatenate(ragged) ** 2)


def recurrence(a):
    states = [a[0]]
    for row in a:
        states.append(np.tanh(states[-1] * row) + row)
    return np.sum(np.vstack(states[1:]) * np.vstack(states[:-1])) + sum(u @ v for u, v in zip(states, reversed(states)))


def with_numbers(a):
    """Tuples of arrays and numbers; pop, insert, sort, unpacking."""
    pairs = [(row, row.sum()) for row in a]
    pairs.insert(0, (a[0] * 2.0, 0.5))
    pairs.pop()
    first, *rest = sorted(pairs, key=lambda pair: pair[1])
    return np.sum(first[0] * rest[-1][0]) * first[1]


def of_other_kinds(a):
    whole = [np.arange(k, k + 3) for k in range(len(a))]
    complexes = [row * 1j for row in a]
    points = [row.sum() for row in a]
    return np.stack(whole).sum() + np.abs(np.stack(complexes)).sum() + np.stack(points).prod()


def kernel(a):
    """Nested comprehensions, and lists of different lengths."""
    gram = np.array([[np.exp(-np.sum((p - q) ** 2)) for q in a] for p in a])
    triangle = []
    for i, row in enumerate(gram.tolist()):
        part = []
        for j in range(i + 1):
            part.append(row[j] * j)
        triangle.append(part)
    pairs = np.array([[row[0], row[-1] * 2.0] for row in a])
    return np.linalg.slogdet(gram + np.eye(len(a)))[1] + sum(sum(part) for part in triangle) + np.sum(pairs**2)


@pytest.fixture(autouse=True)
def natively():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@each_in_turn
@pytest.mark.parametrize("f", [joined, recurrence, with_numbers, of_other_kinds, kernel])
def test_values_and_derivatives(f: Callable[..., Any]):
    assert zyg.jit(f)(A) == pytest.approx(f(A), rel=1e-13)
    gradient = zyg.gradient(f, A)[0]
    h, d = 1e-6, RNG.normal(size=A.shape)
    assert np.sum(gradient * d) == pytest.approx((f(A + h * d) - f(A - h * d)) / (2 * h), rel=1e-6, abs=1e-8)


def test_second_derivative():
    d, h = RNG.normal(size=A.shape), 1e-5
    first = lambda a: zyg.gradient(recurrence, a)[0]
    by_difference = (first(A + h * d) - first(A - h * d)) / (2 * h)
    np.testing.assert_allclose(zyg.hvp(recurrence, A, d), by_difference, rtol=1e-5, atol=1e-6)


def test_shapes_and_errors():
    f = zyg.jit(lambda a, n: np.stack([a[k:] for k in range(n)]))
    np.testing.assert_array_equal(f(A, 1), A[None])
    for n, message in ((2, "all input arrays must have the same shape"), (0, "need at least one array to stack")):
        with pytest.raises(ValueError, match=message):
            f(A, n)
    with pytest.raises(IndexError, match="list index out of range"):
        zyg.jit(lambda a: [row * 2 for row in a][len(a)])(A)


def in_place(x, n):
    states = []
    for _ in range(n):
        x += 1.0
        states.append(x)
    return np.sum(np.array(states))


def item_changed(x, n):
    states = [x * k for k in range(n)]
    states[0][0] = 5.0
    return np.sum(np.array(states))


def change(states):
    states[-1][0] = 1.0


def changed_by_a_call(x, n):
    states = [x * k for k in range(n)]
    change(states)
    return np.sum(np.array(states))


def source_changed(x, n):
    states = [x[k:] for k in range(n)]
    x[0] = 2.0
    return states[0].sum()


def perhaps_the_same(x, y, n):
    states = [x for _ in range(n)]
    y[0] = 2.0
    return states[0].sum()


@pytest.mark.parametrize("f", [in_place, item_changed, changed_by_a_call, source_changed])
def test_changes_of_what_is_listed_are_refused(f: Callable[..., Any]):
    with pytest.raises(zyg.Unsupported, match=r"a change of an array that is in a list"):
        zyg.jit(f)(X.copy(), 3)


def test_lists_in_lists_stay_as_they_are():
    def appended(a):
        rows = []
        for x in a:
            row = [x[0]]
            rows.append(row)
            row.append(1.0)
        return sum(sum(row) for row in rows)

    def set_inside(a):
        rows = [[x * 2 for x in row] for row in a]
        rows[0][0] = 3.0
        return sum(sum(row) for row in rows)

    with pytest.raises(zyg.Unsupported, match="a list that is in a list whose length is not known"):
        zyg.jit(appended)(A)
    assert zyg.jit(set_inside)(A) == pytest.approx(set_inside(A))  # its items may be others
    with pytest.raises(ValueError, match="inhomogeneous shape"):
        zyg.jit(lambda a: np.array([list(a[: i + 1]) for i in range(len(a))]))(X)


def test_an_array_of_no_arrays_is_refused():
    """NumPy makes an array of one dimension of an empty list; compiled code cannot tell before."""

    @zyg.jit
    def above(a, level):
        rows = [row for row in a if row[0] > level]
        return np.array(rows).sum(axis=0)

    assert np.array_equal(above(A, -np.inf), A.sum(axis=0))
    with pytest.raises(NotImplementedError, match=r"empty list of arrays, .* test for an empty list first"):
        above(A, np.inf)


def test_two_arguments_may_be_one():
    with pytest.raises(zyg.Unsupported, match="a change of an array that is in a list"):
        zyg.jit(perhaps_the_same)(X.copy(), X.copy(), 2)


def test_copies_and_new_arrays_are_not_in_the_way():
    def f(x, n):
        x, board, seen, boards = x.copy(), np.zeros((n, 4)), [], []
        for k in range(n):
            x = x * 0.5
            seen.append(x)
            board[k] = x
            boards.append(board.copy())
        return np.sum(np.array(seen) ** 2) + np.sum(np.stack(boards)[:, 0])

    assert zyg.jit(f)(X, 3) == pytest.approx(f(X, 3), rel=1e-14)
