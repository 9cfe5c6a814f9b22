"""Loads that a loop does not change, running indices, and cotangents that add up over a loop."""

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.inspection.tape import tape_bytes

pytestmark = each_in_turn


def packed(triangle, x):
    """Products with a packed triangular matrix, by a running index; `y` and `z` are written again in each round."""
    d = len(x)
    y, z = np.empty(d), np.empty(d)
    total = 0.0
    for n in range(4):
        for j in range(d):
            z[j] = x[j] * (n + 1.0)
            y[j] = z[j] * z[j]
        at = 0
        for j in range(d):
            for r in range(j, d):
                y[r] += triangle[at] * z[j]
                at += 1
        for j in range(d):
            total += y[j] * y[j]
    return total


def overlapping(a, b):
    for i in range(len(b)):
        for j in range(len(a)):
            a[j] += b[i] * a[j]
    return np.sum(a)


def through_views(m):
    rows = m * 1.0
    for i in range(1, len(m)):
        before, row = rows[i - 1], rows[i]
        for j in range(len(row)):
            row[j] = row[j] * before[0] + before[j]
    return np.sum(rows * rows)


def beyond(x, n, k):
    total = 0.0
    for _ in range(n):
        total += x[k] * x[0]
    return total


def through_a_checked_view(a, x, k, n):
    total = 0.0
    for _ in range(n):
        row = a[k]
        total += row[0] * x
    return total


def written_in_a_branch(x, w):
    z = x * 1.0
    total = 0.0
    for i in range(len(x)):
        for j in range(len(w)):
            total += z[i] * w[j]
            if w[j] > 0.5:
                z[i] = total
    return total


def differences(f, args, k, h=1e-6):
    result = np.empty_like(args[k])
    for at in np.ndindex(result.shape):
        values = []
        for sign in (1, -1):
            moved = [np.array(a, copy=True) for a in args]
            moved[k][at] += sign * h
            values.append(f(*moved))
        result[at] = (values[0] - values[1]) / (2 * h)
    return result


rng = np.random.default_rng(11)
PROGRAMS = [
    (packed, (rng.normal(size=15), rng.normal(size=5))),
    (packed, (rng.normal(size=0), rng.normal(size=0))),
    (overlapping, (rng.normal(size=4), rng.normal(size=3) * 0.3)),
    (through_views, (rng.normal(size=(4, 3)),)),
    (written_in_a_branch, (rng.normal(size=4), rng.uniform(size=3))),
]


@each_in_long_turn
@pytest.mark.parametrize("f, args", PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_against_differences(f, args):
    copies = lambda: [a.copy() for a in args]
    value, back = zyg.pullback(f, *copies())
    np.testing.assert_allclose(value, f(*copies()), rtol=1e-14)
    for gradients in (back(1.0), zyg.gradient(f, *copies())):
        for k, d in enumerate(gradients):
            np.testing.assert_allclose(d, differences(f, args, k), rtol=1e-6, atol=1e-6)


def test_arguments_that_overlap_are_refused():
    memory = rng.normal(size=7)
    with pytest.raises(ValueError, match="overlap in memory and are written"):
        zyg.gradient(overlapping, memory[:5], memory[2:6])
    with pytest.raises(ValueError, match="two arrays in one list or object overlap in memory"):
        zyg.gradient(lambda arrays: overlapping(*arrays), [memory[:5], memory[2:6]])


def test_a_loop_without_iterations_reads_nothing():
    x = np.arange(1.0, 4.0)
    np.testing.assert_array_equal(zyg.gradient(beyond, x, 0, 100)[0], 0.0)
    np.testing.assert_array_equal(zyg.gradient(beyond, x, 2, -1)[0], [6.0, 0.0, 2.0])
    for k in (3, -4):
        with pytest.raises(IndexError, match=f"index {k} is out of bounds"):
            zyg.gradient(beyond, x, 1, k)


def test_views_stay_behind_their_checks():
    a = np.ones((3, 2))
    assert zyg.gradient(through_a_checked_view, a, 2.0, 10**12, 0)[1] == 0.0
    assert zyg.gradient(through_a_checked_view, a, 2.0, -1, 3)[1] == 3.0
    with pytest.raises(IndexError):
        zyg.gradient(through_a_checked_view, a, 2.0, 10**12, 3)


def test_the_tape_grows_with_rows_not_with_elements():
    per_row = [tape_bytes(packed, np.ones(d * (d + 1) // 2), np.ones(d)) / d for d in (16, 32, 64)]
    assert per_row[2] < 1.2 * per_row[0]


def doubled(a):
    a *= 2.0
    return np.sum(a**2)


def joined(a, b, way):
    y = a
    if way > 0:
        y = np.zeros_like(a)
    y[1:] *= b[:-1]
    return np.sum(y * b) + np.sum(a * a)


def halved(x, way):
    made = x
    if way >= 1:
        made = x * 0.5
        made[0] = 3.0
    return made


@pytest.mark.parametrize("way", [0, 1])
def test_arguments_that_are_only_read_may_overlap(way):
    """(what was joined with an array that is written to counted as written)"""
    f = lambda a, b: joined_and_read(a, b, way)
    memory = rng.normal(size=6)
    for a, b in ((memory, memory), (memory[:4], memory[1:5]), (np.broadcast_to(memory[0], 3), memory[:3])):
        apart = zyg.gradient(f, np.array(a), np.array(b))
        together = zyg.gradient(f, a, b)
        for wanted, found in zip(apart, together, strict=True):
            np.testing.assert_array_equal(wanted, found)
        for k, d in enumerate(together):
            np.testing.assert_allclose(d, differences(f, (np.array(a), np.array(b)), k), rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="overlap in memory and are written"):
        zyg.gradient(joined, memory[:5], memory[1:], way)


def joined_and_read(a, b, way):
    """`a` is only read where it is joined with what is written to."""
    y = a
    if way > 0:
        y = np.zeros_like(a)
        for k in range(len(a)):
            y[k] += 2.0 * b[k]
    z = halved(y, way)
    return np.sum(y * b * z) + np.sum(a * a) + np.sum(np.einsum("i,j->ij", y, z))


LINE = np.arange(60.0)
STRIDED = np.lib.stride_tricks.as_strided


@pytest.mark.parametrize(
    ("view", "apart"),
    [
        (lambda x: x.reshape(2, 30)[:, ::2], True),  # its rows end within a step of their elements
        (lambda x: x.reshape(3, 4, 5)[:, ::2, ::3], True),
        (lambda x: x.reshape(3, 4, 5).transpose(2, 0, 1)[::2, ::-1], True),
        (lambda x: STRIDED(x, (2, 2, 2), (8, 16, 32)), True),
        (lambda x: STRIDED(x, (2, 0, 3), (8, 8, 8)), True),  # there are none
        (lambda x: STRIDED(x, (0, 2), (0, 0)), True),
        (lambda x: STRIDED(x, (2, 2, 2), (8, 16, 24)), False),
        (lambda x: STRIDED(x, (3, 3), (8, 8)), False),
        (lambda x: STRIDED(x, (3, 2), (0, 8)), False),
    ],
)
def test_written_arrays_have_elements_that_are_apart(view, apart):
    a = view(LINE.copy())
    if apart:
        wanted = 8.0 * a
        np.testing.assert_allclose(zyg.gradient(doubled, a)[0], wanted)
    else:
        with pytest.raises(ValueError, match="elements of the array a overlap in memory"):
            zyg.gradient(doubled, a)
