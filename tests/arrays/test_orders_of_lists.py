"""In which order arrays lie that are put together of lists whose length is known only when the code runs."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn


def windows(x, n):
    return np.stack([x[i % len(x) : i % len(x) + 1] for i in range(n)])


def appended(x, n):
    xs = []
    for i in range(n):
        xs.append(x * i)
    return np.stack(xs, 1)


def after_one_in_c_order(x, n):
    xs = [np.zeros(x.shape)]
    for _ in range(n):
        xs.append(x)
    return np.stack(xs, 2)


def an_item(x, n):
    xs = [x * i for i in range(n)]
    return xs[n - 1] * 2


def summed(x, n):
    total = x * 0
    for part in [x * i for i in range(n)]:
        total = total + part
    return total


FUNCTIONS = [
    windows,
    appended,
    after_one_in_c_order,
    an_item,
    summed,
    lambda x, n: np.concatenate([x for i in range(n)]),
    lambda x, n: np.concatenate([x for i in range(n)], 1),
    lambda x, n: np.vstack([x for i in range(n)]),
    lambda x, n: np.hstack([x for i in range(n)]),
    lambda x, n: np.dstack([x for i in range(n)]),
    lambda x, n: np.column_stack([x for i in range(n)]),
    lambda x, n: np.stack([x for i in range(n)], -1),
    lambda x, n: np.stack([x + 1j for i in range(n)], -1),
    lambda x, n: np.concatenate([x.T if i > n else x for i in range(n)]) if x.shape[0] == x.shape[1] else x + 0,
    lambda x, n: np.concatenate([x for i in range(n)], None),
    lambda x, n: np.array([x for i in range(n)]),
]
FORTRAN = np.asfortranarray(np.arange(8.0).reshape(4, 2))
THREE = np.arange(24.0).reshape(4, 2, 3)
ARRAYS = {
    "Fortran": FORTRAN,
    "C": FORTRAN.copy("C"),
    "square": np.arange(9.0).reshape(3, 3).T,
    "strided": np.arange(64.0).reshape(8, 8)[::2, ::-3].T,
    "row": FORTRAN[:1],
    "Fortran of three": np.asfortranarray(THREE),
    "moved": THREE.transpose(1, 0, 2),
    "backwards": np.asfortranarray(THREE)[:, ::-1],
}


@pytest.mark.parametrize("which", range(len(FUNCTIONS)))
@pytest.mark.parametrize("name", ARRAYS)
def test_what_is_put_together_lies_as_in_numpy(which, name):
    function, x = FUNCTIONS[which], ARRAYS[name]
    expected, found = function(x, 3), zyg.jit(function)(x, 3)
    assert np.array_equal(found, expected)
    assert found.strides == expected.strides


def test_the_order_is_seen_by_ravel():
    function = lambda x, n: np.concatenate([x for i in range(n)]).ravel("A")
    assert np.array_equal(zyg.jit(function)(FORTRAN, 2), function(FORTRAN, 2))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: [x * i for i in range(n)][n - 1].ravel("K"),
        lambda x, n: [x * i for i in range(n)][n - 1].flags.c_contiguous,
        lambda x, n: [x * i for i in range(n)][n - 1].strides,
    ],
)
def test_how_an_item_itself_lies_is_refused(function):
    with pytest.raises(zyg.Unsupported, match="out of a list"):
        zyg.jit(function)(FORTRAN, 3)


@pytest.mark.parametrize("function", [appended, after_one_in_c_order, windows])
def test_derivatives(function):
    weights = np.arange(1.0, 100.0)
    f = lambda x: np.sum(np.sin(function(x, 3)).ravel() * weights[: function(x, 3).size])
    gradient = zyg.gradient(f, FORTRAN)[0]
    for at in np.ndindex(FORTRAN.shape):
        step = np.zeros(FORTRAN.shape)
        step[at] = 1e-6
        assert np.isclose(gradient[at], (f(FORTRAN + step) - f(FORTRAN - step)) / 2e-6, atol=1e-5)
