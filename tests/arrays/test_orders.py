"""In which order the elements of results lie in memory, and what follows from it: NumPy's, in compiled code too."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import zyg

from ..turns import each_in_long_turn, each_in_turn
from .check import steps

# Expressions of X, which lies in any order, and C, which is in C order.
MADE = [
    re.split(r"\s*;\s*", line)
    for line in [
        "X + 1; X * C; 1 - X; X + X.T; X[:1] * X; np.tanh(X); np.where(X > 0, X, 0.0); np.clip(X, 0, 1); X > 0; abs(X); X // 2; np.round(X, 1)",
        "np.copy(X); X.copy(); np.array(X); X.copy('K'); X.copy('A'); X.copy('F'); X.astype(float); X.astype(int); X.astype(np.float32, 'C')",
        "np.zeros_like(X); np.full_like(X, 2.0); np.ones_like(X, dtype=int); np.zeros_like(X, order='C'); np.zeros_like(X, shape=(2, 5)); np.copy(X[::-1])",
        "np.sort(X, axis=0); np.argsort(X, axis=0); np.partition(X, 1); np.cumsum(X, axis=0); np.maximum.accumulate(X, axis=1); np.roll(X, 1, axis=0); np.diff(X)",
        "np.concatenate([X, X]); np.concatenate([X, C], axis=1); np.stack([X, X], axis=1); np.stack([X, X], axis=-1); np.column_stack([X, X[:, 0]]); np.tile(X, 2); np.tile(X, (1, 1))",
        "X[[0, 2]]; X[:, [0, 2]]; X[:, X[0] > -9]; X[:, np.array([[0, 1], [1, 0]])]; X[None, :, [0, 1]]; X[1:, [0, 1]]; X[np.argsort(X, axis=0)[:2]]; X[:, [1]] * 2",
        "np.take(X, [0, 1], axis=1); np.take_along_axis(X, np.argsort(X, axis=0), axis=0); np.delete(X, 1, axis=1); np.delete(X, [0], axis=1); np.insert(X, 1, 0.5, axis=0)",
        "np.pad(X, 1); np.pad(X, 1, mode='edge'); np.repeat(X, 2, axis=1); np.gradient(X, axis=0); np.select([X > 0], [X], 0.0); np.argwhere(X > 0); np.nonzero(X)[1]",
        "X @ C; X @ X; X.T @ X; np.dot(X, 2.0); np.tensordot(X, X, 1); np.einsum('ij->ji', X); np.einsum('ij,jk->ik', X, X); np.einsum('i,j->ji', X[0], C[0])",
        "np.sum(X[:, :, None] * X, axis=1); np.max(X[None] * X[:, None], axis=0); np.mean(X[:, None], axis=1); np.var(X[:, :, None] * X, axis=1, keepdims=True)",
        "np.linalg.inv(X); np.linalg.solve(X, X); np.linalg.svd(X)[2]; np.kron(X, C[0]); np.tril(X); np.triu(X[None] * C); np.outer(X[0], X[1]); np.fft.fft(X)",
        "np.add(X, X, order='F'); np.exp(X, order='C'); np.multiply(X, C, order='C'); np.divmod(X, 2.0, order='F')[1]; np.exp(X * 1j, order='F'); np.exp(X, order='K')",
        "np.median(X, axis=0); np.median(X[:, :, None] * X, axis=1); np.median(X[:, None] + X, axis=0, keepdims=True); np.median(X[:, :, None] * X, axis=-1)",
        "np.vectorize(lambda v: v + 1.0)(X); np.vectorize(lambda v, w: v * w)(X, C); np.vectorize(lambda v, w: v * w)(X, X); np.vectorize(lambda v: 2 * v)(np.broadcast_to(X[0], (3, 3)))",
        "np.array(X, order='C'); np.array(X, order='F'); np.array(X, order='A'); np.array(X, np.float32, order='C'); np.array(X, np.float32, order='A'); np.asarray(X, int, order='F')",
        "np.choose((X > 0).astype(int), [X, 2 * X]); np.choose((X > 0).astype(int), [X, 0.0]); np.average(X[:, :, None] * X, axis=0, weights=[1.0, 2.0, 3.0])",
        "np.nanmedian(np.stack([X, X]), axis=0); np.nanmedian(X[:, :, None] * X, axis=1, keepdims=True); np.nanpercentile(X, [10, 20], axis=0); np.cross(X, X[::-1])",
        "np.nanquantile(X[:, :, None] * X, [[0.1], [0.3]], axis=0); np.nanquantile(X, [0.2, 0.6], axis=1, keepdims=True); np.add.reduceat(X[:, :, None] * X, [0, 1], axis=1)",
        "X * 1j; np.exp(1j * X).imag; (X * 1j).conj(); np.real(X); np.copy(np.broadcast_to(X[0], (3, 3))); np.broadcast_to(X[0], (3, 3)) * 1.0; np.asarray(X, order='C')",
    ]
]  # fmt: skip


def layouts(a: np.ndarray) -> list[np.ndarray]:
    wide = np.zeros((3, 6))
    wide[:, ::2] = a
    return [a, a.T, np.asfortranarray(a), wide[:, ::2], wide[:, ::2].T, a[::-1], a.T[:, ::-1]]


@each_in_long_turn
@pytest.mark.parametrize("number", range(len(MADE)))
def test_results_lie_as_those_of_numpy(number):
    # (The parts of a complex array that is gone are arrays of their own, without gaps.)
    f = eval(f"lambda X, C: ({', '.join(MADE[number])},)", {"np": np})
    compiled = zyg.jit(f)
    rng = np.random.default_rng(number)
    c = rng.normal(size=(3, 3)) + 4 * np.eye(3)
    for x in layouts(rng.normal(size=(3, 3)) + 4 * np.eye(3)):
        for text, expected, found in zip(MADE[number], f(x, c), compiled(x, c), strict=True):
            assert_alike(found, expected, text, x, not text.endswith((".imag", "np.real(X)")))
            assert found.flags.owndata >= expected.flags.owndata or "fft" in text, text


def assert_alike(found, expected, text, given, lies=True):
    np.testing.assert_allclose(
        found, expected, rtol=1e-6 if found.dtype == np.float32 else 1e-10, atol=1e-9, err_msg=text
    )
    if lies:
        assert steps(found) == steps(expected), (text, given.strides)


@each_in_turn
def test_the_order_of_axes_is_that_of_numpys_iterator():
    rng = np.random.default_rng(0)
    f = zyg.jit(lambda a, b: (a * b, a + b[0], np.copy(a), np.stack([a, b], axis=1), np.sum(a, axis=2)))
    shapes = [(2, 3, 4, 5), (2, 1, 4, 5), (1, 3, 4, 1), (2, 3, 1, 1)]
    for _ in range(60):
        made = []
        for _ in range(2):
            shape, order = rng.choice(shapes), rng.permutation(4)
            a = rng.normal(size=shape).transpose(order)
            made.append(np.broadcast_to(np.ascontiguousarray(a).transpose(np.argsort(order)), (2, 3, 4, 5)))
        a, b = made
        if a.flags.c_contiguous or b.flags.c_contiguous:
            continue
        expected = f.py_func(a, b)
        for e, g in zip(expected, f(a, b), strict=True):
            assert steps(g) == steps(e), (a.strides, b.strides)
            np.testing.assert_array_equal(g, e)


@each_in_long_turn
def test_what_indices_select_of_several_axes():
    f = zyg.jit(
        lambda x, i: (
            x[:, [0, 1]],
            x[[0, 1]],
            x[..., [1, 0]],
            x[i],
            x[:, i],
            x[x[:, 0, 0] > -9],
            np.delete(x, [0], 1),
            np.delete(x, [0, 1], 1),
        )
    )
    base = np.arange(24.0).reshape(2, 3, 4)
    for order in itertools.permutations(range(3)):
        for i in (np.array([[0, 1, 1], [1, 0, 0]]), np.array([[0, 1, 1], [1, 0, 0]]).T):
            x = base.transpose(order)
            for e, g in zip(f.py_func(x, i), f(x, i), strict=True):
                assert steps(g) == steps(e), order
                np.testing.assert_array_equal(g, e)


STACKED = [
    re.split(r"\s*;\s*", line)
    for line in [
        "np.cross(Z, Z[::-1]); np.cross(Z, Z[0]); np.linalg.qr(Z)[0]; np.linalg.qr(Z)[1]; np.linalg.qr(Z, 'complete')[1]; np.linalg.qr(Z, mode='r')",
        "np.add.reduceat(Z, [0, 2, 1], axis=0); np.maximum.reduceat(Z, [0, 1], axis=1); np.multiply.reduceat(Z, [0, 1], axis=2); np.cumulative_sum(Z, axis=1, include_initial=True)",
        "np.nanmedian(Z, axis=0); np.nanmedian(Z, axis=2); np.average(Z, axis=1, weights=[1.0, 2.0, 3.0]); np.average(Z, axis=(2, 0), weights=W); np.average(Z, axis=0, weights=Z * Z)",
        "np.average(Z, axis=1, weights=[1.0, 2.0, 3.0], returned=True)[1]; np.average(Z, axis=0, weights=Z * Z, returned=True)[1]; np.average(Z, axis=2, returned=True)[1]",
        "np.array(Z, order='C'); np.array(Z, order='A'); np.array(Z, np.float32, order='A'); np.asarray(Z, order='A'); np.choose((Z > 0).astype(int), [Z, 2 * Z])",
    ]
]  # fmt: skip


@each_in_long_turn
@pytest.mark.parametrize("number", range(len(STACKED)))
def test_results_of_three_dimensions_lie_as_those_of_numpy(number):
    f = eval(f"lambda Z, W: ({', '.join(STACKED[number])},)", {"np": np})
    compiled = zyg.jit(f)
    rng = np.random.default_rng(number)
    values, w = rng.normal(size=(3, 3, 3)), rng.uniform(0.5, 1.5, (3, 3))
    for order in itertools.permutations(range(3)):
        z = np.ascontiguousarray(values.transpose(order)).transpose(np.argsort(order))
        for given in (z, z[::-1], np.repeat(z, 2, axis=1)[:, ::2]):
            for text, expected, found in zip(STACKED[number], f(given, w), compiled(given, w), strict=True):
                assert_alike(found, expected, text, given)


def written_through(x, k):
    """What is written to another shape of a result shows in it where that shape is a view."""
    total = 0.0
    for y in (x.T * k, np.tanh(x.T), np.copy(x.T), x[:, [0, 2, 1]], x[:, x[0] > -9.0], np.sort(x.T, axis=0), x.T.copy(),
              np.concatenate([x.T, x.T], axis=1)[:, :3], np.cumsum(x.T, axis=0), np.where(x.T > 0.0, x.T, k), x * k):  # fmt: skip
        v = y.ravel()
        v[1:] *= k
        y.reshape(-1)[::2] += k * k
        np.ravel(y, "K")[:2] -= k
        total += (y * np.arange(9.0).reshape(3, 3)).sum()
    z = np.exp(1j * x).real
    w = z.ravel()
    w *= k
    return total + z.sum()


@each_in_long_turn
def test_writing_through_another_shape():
    x, k = np.random.default_rng(1).normal(size=(3, 3)), 0.7
    for given in (x, np.asfortranarray(x)):
        slope = (written_through(given, k + 1e-5) - written_through(given, k - 1e-5)) / 2e-5
        value, (by_x, by_k) = zyg.withgradient(written_through, given, k)
        np.testing.assert_allclose(value, written_through(given, k), rtol=1e-12)
        np.testing.assert_allclose(by_k, slope, rtol=1e-7)
        d = np.random.default_rng(2).normal(size=(3, 3))

        def at(h, given=given, d=d):
            moved = np.copy(given)
            moved += h * d
            return written_through(moved, k)

        np.testing.assert_allclose(np.sum(by_x * d), (at(1e-5) - at(-1e-5)) / 2e-5, rtol=1e-6)


def in_a_loop(a, s):
    for _ in range(3):
        a.reshape(-1)[::2] += s
    return np.sum(a * 0.5) + s


def helper(y):
    return y.ravel()


def through_calls_and_joins(x, k, flag):
    y = x * k if flag else x.T * k
    v = helper(y)
    v += k
    return y.sum()


@each_in_turn
def test_where_the_order_is_known_only_when_it_runs():
    x = np.arange(9.0).reshape(3, 3)
    for a in (x, x.T):
        given, expected = np.copy(a), np.copy(a)
        assert zyg.withgradient(in_a_loop, given, 2.0)[0] == in_a_loop(expected, 2.0)
        np.testing.assert_array_equal(given, expected)
        for flag in (True, False):
            got = zyg.withgradient(through_calls_and_joins, a, 2.0, flag)
            expected = through_calls_and_joins(a, 2.0, flag)
            assert got[0] == expected
            assert got[1][1] == pytest.approx((through_calls_and_joins(a, 2.1, flag) - expected) / 0.1)


def transposed_inside(x):
    y = x.T * 2.0
    return np.sum(np.exp(y + x.T))


def in_any_order(a):
    y = a * 2.0
    return np.sum(np.exp(y + a))


def test_temporaries_whose_order_nobody_sees_are_fused():
    x = np.arange(6.0).reshape(2, 3) / 6
    for f, given in ((transposed_inside, x), (in_any_order, x.T)):
        np.testing.assert_allclose(zyg.jit(f)(given), f(given), rtol=1e-14)
        code = str(zyg.code_typed(f, given))
        assert "alloc" not in code
        assert "strided" not in code


def of_narrow_numbers(a, k):
    y = np.sort(a.T, axis=0) * 2
    v = y.ravel()
    v[1:] += np.cumsum(a.T, axis=0).reshape(-1)[:-1].astype(a.dtype)
    return np.sum(y * np.arange(6.0).reshape(3, 2)) * k + np.sum(np.concatenate([a.T, y], axis=1)[:, 1:] * k)


@each_in_long_turn
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_shadows_of_narrow_numbers_lie_as_they_do(dtype):
    values = np.array([[1, 4, 2], [6, 3, 9]])
    for given in (values.astype(dtype), np.asfortranarray(values.astype(dtype))):
        expected = zyg.gradient(of_narrow_numbers, given.astype(float), 0.5)
        found = zyg.gradient(of_narrow_numbers, given, 0.5)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-5)
        _, tangent = zyg.jvp(of_narrow_numbers, (given, 0.5), (np.ones(given.shape, found[0].dtype), 0.0))
        np.testing.assert_allclose(tangent, np.sum(expected[0]), rtol=1e-5)
