"""A slice of the random keys, and what they do not come by: views, shapes, positions, a.flat, truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zyg
from zyg.autodiff.objects.api import pullback

from ..turns import TURN, each_in_long_turn, each_in_turn
from . import indices


@each_in_long_turn
def test_random_keys():
    assert indices.run(1, seed=3 + TURN, draws=6) == []


A = np.arange(6.0).reshape(2, 3)
NUMBER: Any = 3.0


def outcome(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return type(error).__name__, str(error)


def statements(a):
    np.put(a, [1, -1, 2], [9.0, 8.0])
    np.place(a, a > 7.0, [7.0, 6.0])
    np.putmask(a.T, a.T > 6.5, [9.0, 8.0])
    np.copyto(a, 2.0, where=a > 8.5)
    columns: Any = (slice(None), [0, 0])
    np.multiply.at(a, columns, 2.0)
    np.add.at(a, ([0, 0], [1, 1]), [1.0, 5.0])
    a[[0, 0], [1, 1]] += [1.0, 5.0]
    a.flat[3] = 4.0
    a.flat[::2] = [1.0, 2.0]
    a[::-1] = a
    a[:, [0, 1]] = a[:, [1, 0]]
    np.fill_diagonal(a, [5.0, 4.0])
    return a


def values(a):
    return (
        a.take([7, -9], mode="wrap"), np.choose([0, 1], [[1, 2], [3.0, 4.0]]), np.unravel_index(np.argmax(a), a.shape),
        np.ravel_multi_index(([5, -1], [0, 1]), (3, 4), mode="clip"), np.argwhere(a > 2), a[np.ix_([0, 1], [True, False, True])],
        bool(a[:1, 1:2]), 4.0 in a, 9.0 in a, a.item(4), a.flat[-2], sum(x for x in a.flat),
        [i for i, x in np.ndenumerate(a) if x > 2], list(np.ndindex(2, 1)), a.T.flags.c_contiguous, a.strides,
        np.shares_memory(a[:, ::2], a[:, 1::2]), np.shares_memory(a, a.T), a[0].tolist(),
    )  # fmt: skip


@each_in_long_turn
def test_statements_and_values():
    assert np.array_equal(zyg.jit(statements)(A.copy()), statements(A.copy()))
    for expected, found in zip(values(A), zyg.jit(values)(A), strict=True):
        assert np.array_equal(expected, found) and type(expected) in (type(found), np.float64, np.int64)


RAISING = [
    lambda a: a[[0, 1], [0, 1, 2]], lambda a: a[:, [0, -4]], lambda a: a[np.zeros(3, bool)], lambda a: a[np.zeros(2)],
    lambda a: a[..., ...], lambda a: a.take([7], axis=1), lambda a: np.transpose(a, (0, 0)), lambda a: np.moveaxis(a, 2, 0),
    lambda a: a.reshape(4, -1), lambda a: np.squeeze(a, 0), lambda a: bool(a), lambda a: bool(a[:0]), lambda a: a < a < a,
    lambda a: np.broadcast_to(a, (4, 3)), lambda a: np.nonzero(NUMBER), lambda a: np.unravel_index(12, (3, 4)), lambda a: float(a),
]  # fmt: skip


@each_in_turn
@pytest.mark.parametrize("f", RAISING)
def test_errors_are_those_of_numpy(f):
    assert outcome(zyg.jit(f), A.copy()) == outcome(f, A.copy())


def test_another_shape_is_a_view_where_the_strides_allow_one():
    def f(a):
        return (
            a[:, ::2].reshape(2, 2, 1),
            a.T.reshape(-1),
            a[::-1, None].reshape(2, 1, 3),
            a.ravel(),
            a.T.ravel(),
            a.reshape(3, 2, order="F"),
        )

    for expected, found in zip(f(A), zyg.jit(f)(A), strict=True):
        assert np.array_equal(expected, found) and np.shares_memory(expected, A) == np.shares_memory(found, A)


@each_in_turn
@pytest.mark.parametrize("mode", ["forward", "reverse", "second"])
def test_derivatives_of_the_family(mode):
    def f(a):
        b = a * 1.0
        b[a > 0.3] *= 2.0
        b.T.reshape(-1)[0] = 7.0  # a copy
        b[:, ::2].reshape(-1, 1)[1] *= 3.0
        np.add.at(b, ([0, 0, 1], [1, 1, -1]), b[0])
        np.diagonal(np.flip(b, 1))
        b.flat[1] = b.flat[2] * b.flat[0]
        picked = np.take_along_axis(b, np.argsort(a, axis=1), axis=1)
        return (
            np.sum(np.sin(picked.T[::-1, None])) + np.sum(np.diagonal(b, 1) ** 2) + sum(x * x for x in np.rot90(b).flat)
        )

    rng = np.random.default_rng(0)
    a, d = rng.normal(size=(2, 2, 3))
    h = 1e-6
    expected = (f(a + h * d) - f(a - h * d)) / (2 * h)
    if mode == "reverse":
        assert np.sum(zyg.gradient(f, a)[0] * d) == pytest.approx(expected, rel=1e-6)
    elif mode == "forward":
        assert zyg.jvp(f, (a,), (d,))[1] == pytest.approx(expected, rel=1e-6)
    else:
        slopes = [zyg.gradient(f, a + s * h * d)[0] for s in (1, -1)]
        assert np.allclose(zyg.hvp(f, a, d), (slopes[0] - slopes[1]) / (2 * h), atol=1e-5)


def test_ndenumerate_through_python():
    def f(a):
        total = 0.0
        for (i, _), x in np.ndenumerate(a):
            total += i * x * x
        return total

    _, back = pullback(f, (A.copy(),))
    assert np.array_equal(back(1.0)[0], [[0.0, 0.0, 0.0], [6.0, 8.0, 10.0]])


def flat_reversed(a):
    b = a * 1.0
    b.flat = b[::-1]
    return np.sum(b * np.arange(7.0))


def flat_repeated(a):
    b = a * 1.0
    b.flat = b[1:4]
    return np.sum(b * np.arange(7.0))


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("native", [True, False])
def test_values_of_flat_that_overlap_it(native):
    """Of as many elements NumPy takes a copy; of others it would read what it has just written."""
    a = np.arange(1.0, 8.0)

    def through_python(f):
        def function(x):
            try:
                return f(x)
            finally:
                len([])

        return function

    way = (lambda f: f) if native else through_python
    value, (gradient,) = zyg.withgradient(way(flat_reversed), a)
    assert value == flat_reversed(a)
    assert gradient.tolist() == np.arange(7.0)[::-1].tolist()
    with pytest.raises(ValueError, match="assign a copy"):
        zyg.withgradient(way(flat_repeated), a)


SCATTERED = [
    "c[k] = c",
    "c[k] = c[::-1]",
    "c[k[:3]] = c[3:]",
    "c[k] *= c",
    "np.put(c, k, c)",
    "np.put_along_axis(c, k, c, 0)",
    "np.putmask(c, k > 2, c[::-1])",
    "np.add.at(c, k, c)",
    "np.multiply.at(c, k[:3], c[3:])",
]


@each_in_turn
@pytest.mark.parametrize("statements", [SCATTERED[n::3] for n in range(3)], ids=str)
def test_what_was_computed_is_scattered_into_itself(statements):
    """It is read as a whole before it is written: an operator has just made it, but it is no longer without another name."""
    bodies = "".join(f"    c = b * 2\n    {s}\n    total = 1.5 * total + c @ weights\n" for s in statements)
    names = {"np": np, "weights": np.arange(1.0, 7.0)}
    exec(f"def f(b, k):\n    total = 0.0\n{bodies}    return total\n", names)
    f, b, k = names["f"], np.arange(1.0, 7.0), np.array([4, 3, 2, 0, 5, 0])
    value, (gradient, _) = zyg.withgradient(f, b, k)
    assert value == f(b, k)
    h = 1e-4  # (a polynomial of the second degree)
    assert np.allclose(gradient, [(f(b + h * d, k) - f(b - h * d, k)) / (2 * h) for d in np.eye(6)])
