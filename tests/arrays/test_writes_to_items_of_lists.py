"""Items of lists of run-time length are copies in the list's memory (frontend/listed.py): what writes to one that does not lie in C order
is refused, as for others, by whatever name it is known."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn


def transposed(a, n):
    xs = []
    for _ in range(n):
        xs.append(a.T)
    return xs


def zeros(n):
    xs = []
    for _ in range(n):
        xs.append(np.zeros((3, 2)).T)
    return xs


def of_the_caller(a, n):
    xs = transposed(a, n)
    xs[0][0, 0] = 5.0
    return a[0, 0] + xs[1][0, 0]


def of_every_second(a, n):
    xs = []
    for _ in range(n):
        xs.append(a[:, ::2].T)
    xs[1][0, :] = 9.0
    return a[0, 0] + np.sum(xs[0])


def by_a_slice(a, n):
    xs = zeros(n)
    ys = xs[:]
    xs[0][0, 0] = a[0, 1]
    return ys[0][0, 0]


def in_several_places(a, n):
    z = np.zeros((3, 2)).T
    xs = []
    for _ in range(n):
        xs.append(z)
    xs[0][0, 0] = a[0, 1]
    return xs[1][0, 0] + z[0, 0]


def before_the_list_grows(a, n):
    xs = zeros(n)
    y = xs[0]
    for _ in range(50):
        xs.append(np.zeros((3, 2)).T)
    y[0, 0] = a[0, 1]
    return xs[0][0, 0]


def each(a, n):
    for y in transposed(a, n):
        y[0] = -1.0
    return np.sum(a * a)


def each_of_a_part(a, n):
    xs = transposed(a, n)
    for y in xs[1:]:
        y[0, 0] = 5.0
    return a[0, 0] + xs[0][0, 0]


def in_a_tuple(a, n):
    xs = []
    for i in range(n):
        xs.append((a.T, i))
    xs[0][0][0, 0] = 5.0
    return a[0, 0] + xs[1][0][0, 0]


def set_first(y):
    y[0, 0] = 5.0


def by_a_function(a, n):
    xs = transposed(a, n)
    set_first(xs[0])
    return a[0, 0] + xs[1][0, 0]


def first(xs):
    return xs[0]


def from_a_function(a, n):
    y = first(transposed(a, n))
    y[0, 0] = 5.0
    return a[0, 0]


def in_place(a, n):
    xs = transposed(a, n)
    y = xs[0]
    y += 5.0
    return a[0, 0] + xs[1][0, 0]


def in_place_at_an_index(a, n):
    xs = transposed(a, n)
    xs[0] += 5.0
    return a[0, 0] + xs[1][0, 0]


def as_out(a, n):
    xs = transposed(a, n)
    np.add(a.T, 1.0, out=xs[0])
    return a[0, 0] + xs[1][0, 0]


def by_add_at(a, n):
    xs = transposed(a, n)
    np.add.at(xs[0], (0, 0), 1.0)
    return a[0, 0] + xs[1][0, 0]


def by_sort(a, n):
    xs = []
    for _ in range(n):
        xs.append(a[:, ::-1].T)
    xs[0].sort(axis=0)
    return a[0, 0] + xs[1][0, 0] * 2


def by_fill(a, n):
    xs = transposed(a, n)
    xs[0].fill(3.0)
    return a[0, 0] + xs[1][0, 0]


def popped(a, n):
    xs = transposed(a, n)
    y = xs.pop()
    y[0, 0] = 5.0
    return a[0, 0] + xs[0][0, 0]


def one_or_another(a, n):
    xs = transposed(a, n)
    y = xs[0] if n > 1 else xs[1]
    y[0, 0] = 5.0
    return a[0, 0] + xs[1][0, 0]


def of_a_view(a, n):
    xs = transposed(a, n)
    y = xs[0].T[0]
    y[0] = 5.0
    return a[0, 0] + xs[1][0, 0]


def flattened(a, n):
    y = np.ravel(transposed(a, n)[0], order="K")
    y[0] = 5.0
    return a[0, 0]


def of_the_real_part(a, n):
    z = (a + 1j).T
    xs = []
    for _ in range(n):
        xs.append(z)
    xs[0].real[0, 0] = 5.0
    return z[0, 0].real + xs[1][0, 0].real


def beside_one_in_c_order(a, n):
    xs = [np.ones((6, 3))]
    for _ in range(n):
        xs.append(a.T)
    xs[1][0, 0] = 5.0
    return a[0, 0]


WRITING = [
    of_the_caller,
    of_every_second,
    by_a_slice,
    in_several_places,
    before_the_list_grows,
    each,
    each_of_a_part,
    in_a_tuple,
    by_a_function,
    from_a_function,
    in_place,
    in_place_at_an_index,
    as_out,
    by_add_at,
    by_sort,
    by_fill,
    popped,
    one_or_another,
    of_a_view,
    flattened,
    of_the_real_part,
    beside_one_in_c_order,
]


def given():
    return np.arange(1.0, 19.0).reshape(3, 6)


@pytest.mark.parametrize("function", WRITING, ids=lambda f: f.__name__)
def test_native_code_refuses_to_write(function):
    with pytest.raises(zyg.Unsupported, match="a change of an array that is in a list"):
        zyg.jit(function)(given(), 2)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("function", WRITING, ids=lambda f: f.__name__)
def test_derivatives_go_through_python(function):
    f = lambda a: function(a * 1.0, 2)
    gradient = zyg.gradient(f, given())[0]
    for at in np.ndindex(3, 6):
        step = np.zeros((3, 6))
        step[at] = 1e-6
        assert np.isclose(gradient[at], (f(given() + step) - f(given() - step)) / 2e-6, atol=1e-6)


def test_what_cannot_be_written_is_refused_too():
    def function(a, n):
        xs = []
        for _ in range(n):
            xs.append(np.broadcast_to(a[0], (3, 6)).T)
        xs[0][0, 0] = 1.0
        return xs[0][0, 0]

    with pytest.raises(ValueError, match="read-only"):
        function(given(), 2)
    with pytest.raises(zyg.Unsupported, match="a change of an array that is in a list"):
        zyg.jit(function)(given(), 2)


def test_a_copy_may_be_written():
    def function(a, n):
        xs = transposed(a, n)
        y = xs[0].copy()
        y[0, 0] = 5.0
        return y[0, 0] * xs[1][0, 0] + a[0, 0]

    assert zyg.jit(function)(given(), 2) == function(given(), 2)
    assert zyg.gradient(lambda a: function(a, 2), given())[0][0, 0] == 6.0
