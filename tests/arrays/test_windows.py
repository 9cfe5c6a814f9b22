"""What is made of the windows of an array, which are a copy natively, lies in memory as what NumPy makes of its view."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn


def windows(x):
    return sliding_window_view(x, (3, 2))


MADE = {
    "times": lambda x, k: windows(x) * 2,
    "with another": lambda x, k: windows(x) + k,
    "along the first axis": lambda x, k: sliding_window_view(x, 3, axis=0) * 2,
    "along the second axis": lambda x, k: np.sin(sliding_window_view(x, 3, axis=1)),
    "of one row": lambda x, k: sliding_window_view(x[0], 3) * 2,
    "sums": lambda x, k: windows(x).sum(axis=(2, 3)),
    "sums of products": lambda x, k: (windows(x) * k).sum(axis=(2, 3)),
    "sums over places": lambda x, k: windows(x).sum(axis=(0, 1)),
    "sums along one axis": lambda x, k: windows(x).sum(axis=0),
    "largest": lambda x, k: windows(x).max(axis=(2, 3)),
    "deviations": lambda x, k: windows(x).std(axis=(-1, -2)),
    "einsum": lambda x, k: np.einsum("ijkl,kl->ij", windows(x), k),
    "tensordot": lambda x, k: np.tensordot(windows(x), k),
    "chosen": lambda x, k: np.where(windows(x) > 0.5, 1.0, x[0, 0]),
    "of the transpose": lambda x, k: windows(x.T) * 2,
    "of a view": lambda x, k: sliding_window_view(x[::2, ::-1], (2, 2)) * 2,
    "a view": lambda x, k: windows(x)[::2] * 2,
    "transposed": lambda x, k: sliding_window_view(x, 3, axis=1).T * 2,
    "complex": lambda x, k: windows(x + 1j) * 2,
    "singles": lambda x, k: windows(x.astype(np.float32)) * 2,
    "of length one": lambda x, k: sliding_window_view(x, (1, 2)) * 2,
    "copy": lambda x, k: np.copy(windows(x)),
    "joined": lambda x, k: np.concatenate((windows(x), windows(x) * 2)),
    "sorted": lambda x, k: np.sort(windows(x), axis=-1),
    "running sums": lambda x, k: windows(x).cumsum(axis=0),
    "two results": lambda x, k: np.modf(windows(x))[1],
    "an axis of them split": lambda x, k: _split(windows(x), 0) * 2,
    "one axis split": lambda x, k: _split(sliding_window_view(x, 3, axis=0)[::-1], 0) + 1,
    "the windows split": lambda x, k: _split(sliding_window_view(x, 4, axis=1).T, 0) + 1,
    "two axes in one": lambda x, k: windows(x).reshape(24, 3, 2) * 2,
    "written to": lambda x, k: _written(windows(x) * 2),
}
X, K = np.random.default_rng(3).normal(size=(6, 7)), np.arange(6.0).reshape(3, 2)


def _split(made, axis):
    return made.reshape(*made.shape[:axis], -1, 2, *made.shape[axis + 1 :])


def _written(made):
    made[0] = 5.0
    made[:, 1] += made[:, 2]
    return made


@each_in_long_turn
@pytest.mark.parametrize("name", MADE)
def test_what_is_made_of_windows(name):
    expected, got = MADE[name](X, K), zyg.jit(MADE[name])(X, K)
    np.testing.assert_allclose(got, expected, rtol=1e-6 if name == "singles" else 1e-13)
    assert got.strides == expected.strides
    assert got.dtype == expected.dtype


@pytest.mark.parametrize("name", ["sums of products", "einsum", "deviations", "written to", "times", "transposed"])
def test_derivatives(name):
    seed = np.cos(np.arange(MADE[name](X, K).size)).reshape(MADE[name](X, K).shape)
    f = lambda x: np.sum(MADE[name](x, K) ** 2 * seed)
    np.testing.assert_allclose(zyg.gradient(f, X)[0], differences.gradient(f, X)[0], rtol=1e-6, atol=1e-8)
    g = lambda x: np.sum(zyg.gradient(f, x)[0] * X)
    np.testing.assert_allclose(zyg.hessian(f, X).reshape(42, 42) @ X.ravel(), differences.gradient(g, X)[0].ravel(), rtol=1e-5, atol=1e-7)  # fmt: skip
