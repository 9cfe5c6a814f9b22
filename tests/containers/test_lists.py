"""Lists in compiled code: of any length, as arguments and results, of numbers, tuples, lists and objects."""

import math

import numpy as np
import pytest

import zyg

from ..turns import each_in_long_turn, each_in_turn
from .agreement import agree
from .test_classes import Named, Point

pytestmark = each_in_turn

WEIGHTS = [1.0, 2.0, 3.0]


def many_methods(v):
    v.append(v[0] * 2)
    v[1] = v[-1] + v.pop(0)
    v.insert(1, 10.0)
    v.reverse()
    v.extend([1.0, 2.0])
    v += [3.0]
    w, u, z = v[1:3], v[::-1], v[-2:]
    return sum(v) * w[0] + u[1] * max(v) - min(v) + z[0] + len(v) + v.index(10.0) + (3.0 in v)


def pairs_in_a_loop(n, x):
    r = []
    for i in range(n):
        r.append((i * x, i))
    s = 0.0
    for a, i in r:
        s += a * i
    return s


def rows(m):
    s = 0.0
    for row in m:
        for v in row:
            s += v * v
    m[0][1] = s
    return s + m[1][0]


def row_by_index(m, i, j):
    m[i][j] *= 2
    return m[i][j] * m[0][0]


def closures(x):
    kept = []
    for i in range(3):
        kept.append(lambda y, i=i: y * i + x)
    return sum(f(x) for f in kept)


def runge_kutta(state, h):
    def slope(x, y):
        return y, -x

    a = slope(*state)
    b = slope(*(p + h / 2 * q for p, q in zip(state, a)))
    c = slope(*[p + h / 2 * q for p, q in zip(state, b)])
    return sum(p + h * q for p, q in zip(state, c))


def indexed_tuple(t):
    s = 0.0
    for i in range(3):
        s += t[i] * i
    return s


def slice_object(v):
    s = slice(1, 3)
    return sum(v[s])


def generated(v):
    yield from v
    yield from (b * 2 for b in v)
    yield 1.0


def grid(x):
    cells = [[0.0] * 3 for _ in range(2)]
    cells[1][2] = x
    return cells[1][2] + sum(sum(r) for r in cells)


def objects(x, n):
    points = [Point(x * i, 1.0) for i in range(n)]
    return sum(p.dist() for p in points) * points[1].x


def objects_changed(x):
    points = [Point(x * i, 1.0) for i in (1, 2, 3)]
    for p in points:
        p.x += 1
    return sum(p.dist() for p in points)


def objects_filtered(x, n):
    points = []
    for i in range(n):
        p = Point(math.sin(x * i), 1.0)
        p.x *= 2
        if p.x > 0:
            points.append(p)
    return sum(p.x * p.y for p in points)


def halving(v):
    while len(v) > 1:
        v.append(v.pop(0) * 0.5 + v.pop(0))
    return v[0]


def removing(v, i):
    v.remove(v[1])
    del v[i]
    return sum(v) * v[0]


def appended_on_one_path(v, x):
    if x > 0:
        v.append(x)
    return sum(v) * len(v)


def swapped(v, w, n):
    for _ in range(n):
        v, w = w, v
        v.append(w[0] * 2)
    return sum(v) - sum(w)


def two_names(v, x):
    w = v
    w.append(x)
    v[0] = w[-1] * 2
    return sum(v)


def stack_machine(x):
    stack = []
    for k in (1.0, 2.0, 3.0):
        stack.append(k * x)
    while len(stack) > 1:
        a = stack.pop()
        b = stack.pop()
        stack.append(a * b)
    return stack[0]


def bubble(v):
    n = len(v)
    for i in range(n):
        for j in range(n - 1 - i):
            if v[j] > v[j + 1]:
                v[j], v[j + 1] = v[j + 1], v[j]
    return sum(a * i for i, a in enumerate(v))


def slices_replaced(v, i):
    v[1:2] = [10.0, v[0]]
    v[i:] = (3.0 * v[1],)
    v[:0] = v
    del v[-1:]
    w = [1.0, 2.0, 3.0]
    w[1:] = [v[0]]
    return sum(a * k for k, a in enumerate(v)) + sum(w)


def first_and_rest(v):
    a, *rest, b = v
    rest.append(a)
    return sum(rest) * b


@each_in_long_turn
@pytest.mark.parametrize(
    "function, args",
    [
        (slices_replaced, ([1.0, 2.0, 3.0], 3)),
        (slices_replaced, ([1.0, 2.0, 3.0], -1)),
        (first_and_rest, ([1.0, 2.0, 3.0, 4.0],)),
        (first_and_rest, ((1.0, 2.0),)),
        (many_methods, ([1.0, 5.0, 2.0],)),
        (lambda v: sorted(v)[1] * sorted(v, reverse=True)[0] + sorted(v, key=lambda a: -a)[2], ([3.0, 1.0, 2.0, 5.0],)),
        (pairs_in_a_loop, (5, 2.0)),
        (rows, ([[1.0, 2.0], [3.0, 4.0]],)),
        (row_by_index, ([[1.0, 2.0], [3.0, 4.0]], 1, 0)),
        (lambda v: sum(a * b for a, b in v), ([(1.0, 2.0), (3.0, 4.0)],)),
        (lambda v: v[0].x * v[1].y, ([Named(1.0, 2.0), Named(3.0, 4.0)],)),
        (closures, (2.0,)),
        (runge_kutta, ((1.0, 2.0), 0.1)),
        (indexed_tuple, ((1.0, 2.0, 3.0),)),
        (slice_object, ([1.0, 2.0, 3.0, 4.0],)),
        (slice_object, ((1.0, 2.0, 3.0, 4.0),)),
        (lambda v: sum(generated(v)), ([1.0, 2.0],)),
        (lambda v: sum(generated(v)), ((1.0, 2.0),)),
        (grid, (2.0,)),
        (objects, (2.0, 4)),
        (objects_changed, (2.0,)),
        (objects_filtered, (2.0, 9)),
        (halving, ([1.0, 2.0, 3.0, 4.0],)),
        (removing, ([1.0, 2.0, 3.0, 4.0], 1)),
        (appended_on_one_path, ([1.0, 2.0], 3.0)),
        (appended_on_one_path, ([1.0, 2.0], -3.0)),
        (swapped, ([1.0, 2.0], [3.0], 3)),
        (two_names, ([1.0, 2.0], 3.0)),
        (stack_machine, (2.0,)),
        (bubble, ([3.0, 1.0, 2.0],)),
        (lambda x: sum(WEIGHTS) * x + WEIGHTS[1], (2.0,)),
        (lambda v, i: v[i] * v[-1], ([1.0, 2.0, 3.0], -2)),
        (lambda v: sum(v), ([],)),
        (lambda v: sum(v), ([1, 2, 3],)),
    ],
)
def test_lists(function, args):
    agree(function, *args)


@pytest.mark.parametrize(
    "function, args",
    [
        (lambda v: (sorted(v), sorted([3, 1, 2]), v == [1.0], v == list(v), [1.0] + v, v * 2), ([3.0, 1.0],)),  # noqa: RUF005
        (lambda v: [a * 2 for a in v if a > 1], ([1.0, 2.0, 3.0],)),
        (lambda v: [(a, b) for a, b in v], ([(1.0, 2), (3.0, 4)],)),
        (lambda v: [Point(a, 1) for a in v], ([1.0, 2.0],)),
        (lambda v: v[5], ([1.0],)),
        (lambda v: v.pop(3), ([1.0],)),
        (lambda v: v.index(4.0), ([1.0],)),
        (lambda v: v.remove(4.0), ([1.0],)),
        (lambda v: (v.clear(), v.append(1.0)), ([1.0],)),
        (lambda v: v, ([1, 2],)),
        (lambda v: [v, v], ([1.0],)),
        (lambda v: v.sort(), ([3.0, 1.0, 2.0],)),
        (lambda v: v.sort(key=lambda p: (-p[1], p[0])), ([(3.0, 1), (1.0, 2), (0.5, 2)],)),
        (lambda v: (v[:2], v[1:], v[::2], v[::-1], v[-1:0:-1], v[5:], v[:-1]), ([1.0, 2.0, 3.0],)),
        (lambda v: list(reversed(v)), ([1.0, 2.0],)),
        (lambda v: list(enumerate(v)), ([1.0, 2.0],)),
        (lambda v: list(zip(v, v)), ([True, False],)),
        (lambda v, w: (v == w, v != w), ([1.0, 2.0], [1.0, 2.0])),
    ],
)
def test_values(function, args):
    agree(function, *args, gradient=False)


def test_lists_of_any_length_share_code():
    compiled = zyg.jit(lambda v: sum(a * a for a in v))
    for n in (1, 5, 100, 1000):
        v = [float(i) for i in range(n)]
        assert compiled(v) == sum(a * a for a in v)
    assert len(compiled.signatures) == 1


def test_gradients_are_lists():
    assert zyg.gradient(lambda v: v[0] * v[1], [2.0, 3.0, 4.0]) == ([3.0, 2.0, 0.0],)
    assert zyg.gradient(lambda v: v[0] * v[1], [2, 3]) == ([3.0, 2.0],)
    assert zyg.gradient(lambda v: v[0][0] * v[1][1], [(2.0, 3.0), (4.0, 5.0)]) == ([(5.0, 0.0), (0.0, 2.0)],)
    assert zyg.gradient(lambda v: v[0][0] * v[1][1], [[2.0, 3.0], [4.0, 5.0]]) == ([[5.0, 0.0], [0.0, 2.0]],)
    assert zyg.gradient(lambda v: len(v) * 1.0, [2.0, 3.0]) == (None,)


def test_the_same_list_in_two_places():
    def change(m):
        m[0][0] = 5.0
        return m[1][0]

    row = [1.0]
    assert zyg.jit(change)([row, row]) == 5.0
    assert zyg.jit(change)([[1.0], [2.0]]) == 2.0


def test_an_argument_that_is_also_a_global_is_not_mistaken():
    def change(v):
        v[0] = 10.0
        return sum(WEIGHTS)

    assert zyg.jit(change)([1.0]) == 6.0
    with pytest.raises(zyg.Unsupported, match="global"):
        zyg.jit(change)(WEIGHTS)
    assert WEIGHTS == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "function, args, words",
    [
        (lambda n: [[[1.0]] for i in range(n)], (3,), "a list whose"),
        (lambda n: [(1.0, "a") if i else 2.0 for i in range(n)], (3,), "one path"),
        (lambda v: v.append(None), ([1.0],), "do not have one type"),
        (lambda v: sum(v), ([1.0] * 50 + [2],), "that are not numbers of one type"),
    ],
)
def test_refused(function, args, words):
    with pytest.raises((zyg.Unsupported, TypeError), match=words):
        zyg.jit(function)(*args)


def test_arrays_in_objects_and_lists():
    def f(d, v):
        d["a"][0] = 2.0
        return float(d["a"].sum() * v[0][1])

    agree(f, {"a": np.array([1.0, 3.0])}, [np.array([1.0, 2.0])], gradient=False)
    g = zyg.gradient(f, {"a": np.array([1.0, 3.0])}, [np.array([1.0, 2.0])])
    assert g[0]["a"].tolist() == [0.0, 2.0] and g[1][0].tolist() == [0.0, 5.0]


def test_reversed_lists_that_change():
    """What the list holds when its turn comes counts, as in CPython, and an end that was found stays."""

    def known_length(x):
        items, total = [x, 2.0 * x, 3.0 * x], 0.0
        for a, b in zip(items, reversed(items)):
            items[1] += a * b
            total += a * b * b
        return total

    def growing(x, n=5):
        items, total = [x], 0.0
        for i in range(n):
            items.append(x * i)
        for i, q in enumerate(reversed(items)):
            items[i // 2] = q * x
            if i == 1:
                items.append(x)
            total += q * (i + 1)
        return total + len(items)

    def shrinking(x, n=6):
        items, total = [x * i for i in range(n)], 0.0
        for q in reversed(items):
            total += q * x
            if len(items) > 2:
                items.pop()
                items.pop()
        return total

    def by_hand(x):
        items = [x, x * x]
        backwards = reversed(items)
        items.append(3.0 * x)
        first = next(backwards)
        items[0] = 5.0 * x
        return first * next(backwards) + next(backwards, 2.0 * x)

    for f in (known_length, growing, shrinking, by_hand):
        assert zyg.jit(f)(0.6) == f(0.6)
        assert zyg.jit(zyg.derivative(f))(0.6) == pytest.approx((f(0.6 + 1e-6) - f(0.6 - 1e-6)) / 2e-6, rel=1e-7)


def test_loops_over_lists_that_grow_meanwhile_come_to_an_end():
    """That such a loop ends is seen by what it does, or another iterator of a length that is known; else it was unrolled for ever."""

    def with_a_range(x):
        items, total = [x], 0.0
        for p, k in zip(items, range(5)):
            items.append(p * x)
            total += p * (k + 1)
        return total + sum(items)

    def with_a_long_list(x):
        items, total = [x] * 60, 0.0
        for p, k in zip(items, [1.0] * 64):
            items.append(p * x)
            total += p * k
        return total

    def left(x):
        items = [x]
        for k, p in enumerate(items):
            items.append(p * x)
            if k > 5:
                break
        return sum(items)

    for f in (with_a_range, with_a_long_list, left):
        assert zyg.jit(f)(0.9) == f(0.9)
        assert zyg.jit(zyg.derivative(f))(0.9) == pytest.approx((f(0.9 + 1e-6) - f(0.9 - 1e-6)) / 2e-6, rel=1e-7)


def test_a_loop_over_a_list_that_grows_with_no_end_in_sight_is_refused():
    def f(x, n):
        items = [x]
        for p, _ in zip(items, range(n)):
            items.append(p * x)
        return items[-1]

    with pytest.raises(zyg.Unsupported, match="grows meanwhile"):
        zyg.jit(f)(0.9, 4)
    assert zyg.gradient(lambda x: f(x, 4), 0.9)[0] == pytest.approx(5 * 0.9**4)
