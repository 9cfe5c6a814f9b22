"""Assignments within one array that NumPy carries out one element after the other: where that reads what was just written, zyg
says so; everything else has NumPy's value."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import zyg
from zyg.autodiff.objects import api as objects
from zyg.ir.overtaking import overtakes

from ..turns import each_in_turn

SLICES = [
    slice(*p) for p in [(0, 5), (1, 6), (4, None, -1), (0, 10, 2), (9, None, -2), (2, 7), (5, 0, -1), (0, 13, 3), (12, None, -3)]
]  # fmt: skip


def set_part(v, a, b, s, c, d, t):
    v[a:b:s] = v[c:d:t]


def copy_part(v, a, b, s, c, d, t):
    np.copyto(v[a:b:s], v[c:d:t])


def given_parts(to, of):
    to[:] = of


def whole(p):
    """The bounds of a slice as numbers."""
    step = p.step or 1
    return p.start, (p.stop if p.stop is not None else -99), step


@each_in_turn
@pytest.mark.parametrize("dtype", [float, complex, np.int64])
@pytest.mark.parametrize("f", [set_part, copy_part, given_parts])
def test_right_or_refused(f, dtype):
    v = np.arange(15).astype(dtype)
    refused = 0
    compiled = zyg.jit(f)
    for a, b in itertools.product(SLICES, repeat=2):
        given, expected, first = v.copy(), v.copy(), v.copy()
        first[a] = v[b]
        expected[a] = expected[b]
        args = (given[a], given[b]) if f is given_parts else (given, *whole(a), *whole(b))
        if np.array_equal(first, expected):
            compiled(*args)
            assert np.array_equal(given, expected), (a, b)
        else:
            refused += 1
            with pytest.raises(ValueError, match="assign a copy"):
                compiled(*args)
    assert refused


@pytest.mark.parametrize("n", [2, 3, 5])
def test_what_numpy_does(n):
    """The rule itself, for rows, columns and diagonals of a matrix."""
    m = np.random.default_rng(n).normal(size=(n, n))
    parts = [lambda m, k=k: m[k] for k in range(n)] + [lambda m, k=k: m[:, k] for k in range(n)]
    parts += [
        lambda m: m.reshape(-1)[:: n + 1],
        lambda m, n=n: m.reshape(-1)[:n],
        lambda m: m[0, ::-1],
        lambda m: m[::-1, 0],
    ]
    for to, of in itertools.product(parts, repeat=2):
        one, two = m.copy(), m.copy()
        target, source = to(one), of(one)
        predicted = overtakes(target, source)
        target[...] = source
        to(two)[...] = of(m)
        assert predicted == (not np.array_equal(one, two))


def column_from_row(m):
    m = m.copy()
    m[1] = m[:, 2]
    return np.sum(m * m)


def column_from_a_copy(m):
    m = m.copy()
    m[1] = m[:, 2].copy()
    return np.sum(m * m * m)


def halves(v):
    v = v.copy()
    v[:4] = v[::2]
    return np.sum(v * v * v)


@each_in_turn
@pytest.mark.parametrize("pullback", [zyg.pullback, lambda f, x: objects.pullback(f, (x,))], ids=["native", "python"])
def test_gradients(pullback):
    m = np.random.default_rng(1).normal(size=(4, 4))
    with pytest.raises(ValueError, match="assign a copy"):
        pullback(column_from_row, m)
    for f, x in ((column_from_a_copy, m), (halves, m.reshape(-1)[:8])):
        (g,) = pullback(f, x)[1](1.0)
        step = 1e-6 * np.eye(x.size).reshape(x.size, *x.shape)
        expected = np.array([(f(x + h) - f(x - h)) / 2e-6 for h in step]).reshape(x.shape)
        np.testing.assert_allclose(g, expected, rtol=1e-6, atol=1e-7)
