"""Arrays: element by element, views, assignment, constructors, NumPy's scalars."""

from __future__ import annotations

import math

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

from .running import check, evaluate

pytestmark = each_in_turn


def element(a, i):
    return a[i]


def two_indices(a, i, j):
    return a[i, j], a[i][j]


def part(a, i, j, k):
    return a[i:j:k].copy()


def store(a, i, v):
    a[i] = v
    a[i] += 2


def store_slice(a, v):
    a[1:3] = v


def overlapping(a):
    a[1:] = a[:-1]
    a[::2] *= 3
    a += a


def rows(m):
    t = 0.0
    for r in m:
        for x in r:
            t += x
    m[0] = m[1]
    m[:, 1] = 7
    m[1, :] -= m[0]
    m[...] += 1
    return t


def constructors(n, x):
    a = np.zeros(n)
    b = np.ones((n, 2))
    c = np.full(3, x)
    d = np.zeros_like(b)
    f = np.arange(n)
    g = np.arange(0.0, x, 0.3)
    for i in range(n):
        a[i] = i * x
    d.fill(2.0)
    return a, b, c, d, f, g, np.array((1, 2, 3)), np.array([[1.0, x], [2, 3]]), len(b), b.shape, b.ndim, b.size


def sums(a):
    return a.sum(), np.sum(a), sum(a)


def dots(a, b):
    return a.dot(b), np.dot(a, b)


def divisions(a):
    return 1.0 / a[0], a[0] / 2, a[0] // 0.0, a[0] % 0.0, a[0] ** 2, -a[0], abs(a[0])


def integers(a):
    return a[0] // 0, a[0] % 0, a[0] + 2**62, a[0] * a[0], a[0] / 0


def single(a):
    return a[0] * 2, a[0] + 0.1, a[0] * a[0], a[0] / 3, a[0] == 0.1, a[0] + np.float64(1), math.sqrt(a[0]), float(a[0])


def accumulate(a):
    s = 0.0
    for x in a:
        s += x
    return s


def mean(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * a[-i]
    return s / len(a)


def count_positive(a):
    n = 0
    for i in range(len(a)):
        if a[i] > 0:
            n += 1
    return n


def orders(a):
    t = 0.0
    for x in reversed(a):
        t = t * 2 + x
    for i, x in enumerate(a[::-1]):
        t += i * x
    for x, y in zip(a, a[1:]):  # noqa: RUF007
        t -= x * y
    return t


def unpack(a):
    x, y, *z = a
    return x + y, sum(z)


def swap(a, i, j):
    a[i], a[j] = a[j], a[i]


def store_first(a, x):
    a[0] = x


def bubble_sort(a):
    n = len(a)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a


def array_or_view(a, c):
    if c:
        return a
    return a[::2]


def new_axes(a, i):
    return a[None, :], a[:, None], a[None], a[None, i:, None], a.reshape(2, 3)[1, None], a.reshape(2, 3)[..., None, :]


def slice_object(a, i, j):
    s = slice(i, j)
    return a[s].copy(), a[slice(j)].copy(), s.start


A = np.arange(6.0)
RANDOM = np.random.default_rng(1).standard_normal
CASES = [
    (element, A, 2), (element, A, -1), (element, A, 6), (element, A, -7), (element, A, 1.5),
    (two_indices, A.reshape(2, 3), 1, -2), (two_indices, A.reshape(2, 3), 2, 0), (two_indices, A.reshape(2, 3), 0, 5),
    (store, A, 1, 2.5), (store, A, 9, 1), (store, np.arange(4), 1, 2.7),
    (store_slice, A, 5), (store_slice, A, A[2:4]), (store_slice, A, A[:3]), (store_slice, A, (1, 2)),
    (overlapping, A), (rows, A.reshape(3, 2).copy()),
    (constructors, 4, 1.5), (constructors, 0, 0.1), (constructors, -1, 0.1),
    (sums, A), (sums, RANDOM(7)), (sums, RANDOM(100)), (sums, RANDOM(1000)), (sums, RANDOM(501).astype(np.float32)),
    (sums, np.arange(10)), (sums, np.arange(10, dtype=np.int32)), (sums, RANDOM(1000)[::3]),
    (dots, A, A), (dots, A, np.arange(5.0)),
    (divisions, A), (divisions, A + 1.5), (integers, np.array([5])), (integers, np.array([2**62 + 2**61])),
    (single, np.array([0.1], np.float32)), (accumulate, RANDOM(9).astype(np.float32)), (mean, A),
    (count_positive, A - 2), (count_positive, np.arange(-2, 3)), (orders, A), (unpack, A), (unpack, A[:1]), (swap, A, 0, -1),
    (store_first, np.arange(3), 2.9), (store_first, np.arange(3, dtype=np.uint8), 300), (store_first, np.arange(3), math.nan),
    (new_axes, A, 2), (slice_object, A, 1, 4), (bubble_sort, RANDOM(8)), (array_or_view, A, True), (array_or_view, A, False),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args"), [(f, a) for f, *a in CASES])
def test_arrays(function, args):
    with np.errstate(all="ignore"):
        check(function, *args)


@pytest.mark.parametrize("step", [None, 1, 2, -1, -3, 0])
def test_slices_clip_as_in_python(step):
    for start in (None, -9, -3, -1, 0, 2, 7):
        for stop in (None, -9, -2, 0, 3, 8):
            check(part, A, start, stop, step)


def test_read_only_arrays_are_not_written():
    a = A.copy()
    a.flags.writeable = False
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        evaluate(store_first, a, 1.0)


def test_no_bounds_checks_without_boundscheck():
    from zyg.ir.options import Options

    from .running import compiled

    text = str(compiled(element, A, 1, options=Options(boundscheck=False)).module)
    assert " guard " not in text


def test_another_shape_of_a_strided_array_is_a_view_where_numpy_gives_one():
    def f(a):
        a[::2].reshape(1, 2)[0, 0] = 5.0
        a[::-1, None].reshape(2, 2)[1, 1] = 6.0
        a.reshape(2, 2).T.reshape(4)[0] = 7.0  # a copy
        return a

    assert list(evaluate(f, np.arange(4.0))) == list(f(np.arange(4.0)))


@pytest.mark.parametrize(
    "f",
    [lambda x: x == None, lambda x: x != "a", lambda x: x in [1, 2], lambda x: (x, 1) == (x * 1, 1)],  # noqa: E711
)
def test_comparisons_that_would_ask_an_array_for_its_truth_are_refused(f):
    with pytest.raises(zyg.Unsupported, match="a comparison"):
        zyg.jit(f)(np.arange(3.0))


@pytest.mark.parametrize("dtype", [complex, float, np.float32])
@pytest.mark.parametrize("name", ["mean", "std", "var", "sum", "cumsum"])
def test_reductions_of_real_arrays_in_another_type(name, dtype):
    a = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
    f = zyg.jit(lambda a: getattr(a, name)(dtype=dtype))
    if dtype is complex and name == "std":
        with pytest.raises(zyg.Unsupported, match="complex"):
            f(a)
        return
    found = f(a)
    assert np.allclose(found, getattr(a, name)(dtype=dtype), rtol=1e-6)


def test_running_sums_of_truth_values():
    a = np.array([0.0, 0.0, 2.0, 0.0])
    assert zyg.jit(lambda a: np.cumsum(a, dtype=bool))(a).tolist() == np.cumsum(a, dtype=bool).tolist()
    assert zyg.jit(lambda a: np.cumsum(a))(np.array([-0.0, -0.0])).tolist() == [-0.0, -0.0]


@pytest.mark.parametrize("dtype", [[("x", "f8"), ("y", "f8", (2,))], object, "f8,i8"])
def test_an_array_of_a_type_that_is_refused(dtype):
    with pytest.raises(zyg.Unsupported, match="the dtype"):
        zyg.jit(lambda: np.array([(1.0, [2.0, 3.0])], dtype=dtype))()
