"""Recursion: what a recursive function changes, by which names its caller knows it, what it calls."""

from __future__ import annotations

import numpy as np
import pytest

import zyg


class Link:
    def __init__(self, value, following=None):
        self.value = value
        self.following = following


def lengthen(link, depth):
    if depth < 5:
        link.following = Link(link.value * 0.5)
        lengthen(link.following, depth + 1)
    return link


def lengthened(x):
    first = Link(x)
    lengthen(first, 0)
    return first.value + first.following.value


def test_a_recursion_that_makes_ever_longer_chains_is_refused():
    with pytest.raises(zyg.Unsupported, match="as deep as is known only when it runs"):
        zyg.jit(lengthened)(1.0)


class Fork:
    def __init__(self, value, left, right):
        self.value = value
        self.left = left
        self.right = right


def swap(fork, x, depth):
    """Changes what a fork refers to, while the caller holds the same objects by other names."""
    if fork.value > x - depth:
        fork.left, fork.right = fork.right, fork.left
    fork.left.value *= x + 1.0
    if depth > 0:
        swap(fork, x * 0.5, depth - 1)
    return fork.right


def aliased(x, y):
    left = Link(y)
    fork = Fork(x, left, Link(x * y))
    kept = swap(fork, x, 2)
    kept.value *= 3.0
    fork.left.value += left.value
    return fork.value + 2.0 * fork.left.value + 5.0 * fork.right.value + 7.0 * left.value


@pytest.mark.parametrize("x, y", [(0.7, 1.3), (-0.4, 0.9)])
def test_recursion_changes_objects_that_have_other_names(x, y):
    h = 1e-6
    assert zyg.jit(aliased)(x, y) == pytest.approx(aliased(x, y), rel=1e-14)
    differences = (
        (aliased(x + h, y) - aliased(x - h, y)) / (2 * h),
        (aliased(x, y + h) - aliased(x, y - h)) / (2 * h),
    )
    assert zyg.gradient(aliased, x, y) == pytest.approx(differences, rel=1e-7)


def doubled(x, a, n):
    part = np.sum(np.exp(a * x))
    return part + (doubled(x, a * 0.5, n - 1) if n > 0 else 0.0)


def test_recursion_around_whole_arrays():
    x = np.array([0.1, 0.4, -0.3])
    assert doubled(x, 1.0, 2) == zyg.jit(doubled)(x, 1.0, 2)
    found = zyg.gradient(doubled, x, 1.0, 2)[1]
    weights = (1.0, 0.5, 0.25)
    assert found == pytest.approx(sum(w * np.sum(x * np.exp(w * x)) for w in weights), rel=1e-12)
