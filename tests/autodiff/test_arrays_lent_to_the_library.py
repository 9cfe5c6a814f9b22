"""Functions of the library whose adjoints are compiled by themselves read in the reverse half what they were given: where that changes
meanwhile, in the function that calls them or behind it, they have what it was."""

import numpy as np
import pytest

import zyg
from tests.oracles.differences import derivative
from tests.turns import each_in_turn


def least_squares(x, y):
    return np.sum(np.linalg.lstsq(x, y, rcond=None)[0] ** 2)


def three_matrices(x, y):
    return np.sum(np.einsum("ij,kj,lj->ikl", x, x, x) * y)


def every_other_column(x, y):
    rows = np.cumprod(x[:, ::2], axis=1)
    x[0] = x[1] * 0.9
    return np.sum(rows.T * y)


def products_of_every_other_column(x, y):
    rows = np.prod(x[:, ::2], axis=1)
    x *= 0.8
    return np.sum(rows * y)


def repeated(x, y):
    total = 0.0
    for _ in range(3):
        wide = np.broadcast_to(y[1], (3, 4))
        total += np.prod(np.cumprod(wide, axis=0)[1] * x[0, 0])
        y[...] = np.cumprod(y) * 0.5 + 0.3
    return total


def on_one_path(x, y):
    solved = np.linalg.lstsq(x[:, ::2], y, rcond=None)[0]
    if y[0] > 0.0:
        y[...] = np.repeat(y, np.array([2, 0, 1, 1]))
    return np.sum(np.sin(solved)) + y[1]


CASES = [least_squares, three_matrices, every_other_column, products_of_every_other_column, repeated, on_one_path]


def arguments():
    r = np.random.default_rng(5)
    return r.uniform(0.4, 1.2, (4, 3)), r.uniform(0.4, 1.2, 4)


def differences(f):
    def at(number, place):
        def moved(value):
            given = arguments()
            given[number][place] = value
            return f(*given)

        return derivative(moved, arguments()[number][place], 1e-3)

    return [np.array([at(n, k) for k in np.ndindex(x.shape)]).reshape(x.shape) for n, x in enumerate(arguments())]


@each_in_turn
@pytest.mark.parametrize("f", CASES)
def test_derivatives_are_by_what_was_given(f):
    expected = differences(f)
    value = f(*arguments())
    found, by = zyg.withgradient(f, *arguments())
    assert found == pytest.approx(value, rel=1e-12)
    x, y = arguments()
    again, back = zyg.pullback(f, x, y)
    x[...] = y[...] = 7.0
    assert again == found
    for answer in (by, back(1.0), back(1.0)):
        for one, other in zip(answer, expected):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


@each_in_turn
def test_results_lie_as_if_nothing_changed():
    def order(x):
        made = np.cumprod(x.T, axis=1)
        x *= 2.0
        return made.ravel("K")

    x = np.arange(1.0, 13.0).reshape(4, 3)
    expected = order(x.copy())
    assert zyg.pullback(order, x.copy())[0].tolist() == expected.tolist()
    assert zyg.withgradient(lambda x: order(x)[1], x.copy())[0] == expected[1]
