"""`min` and `max` of what has a length that is known at run time only: a value of the items' type, that can be put into a list."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_turn

pytestmark = each_in_turn

TABLE = np.array([[3.0, -4.0, 1.0], [0.5, 2.0, -1.0], [-7.0, 6.0, 2.5], [1.5, -2.0, 1.0]])


def of_rows(x):
    return [max(r) for r in x]


def smallest_of_rows(x):
    return [min(r) for r in x]


def appended(x):
    found = []
    for r in x:
        found.append(max(r))
    return found


def by_key(x):
    return [max(r, key=abs) for r in x]


def both(x):
    return [[max(r), min(r)] for r in x]


def by_index(x):
    return [max(x[i]) - min(x[i, 1:], default=3.0) for i in range(len(x))]


def with_default(x):
    return [max([v for v in r if v > 1.75], default=r[0]) for r in x]


def of_tuples(x):
    return [max(zip(r, r[::-1])) for r in x]


PROGRAMS = [of_rows, smallest_of_rows, appended, by_key, both, by_index, with_default, of_tuples]


@pytest.mark.parametrize("f", PROGRAMS)
def test_in_lists(f):
    found, wanted = zyg.jit(f)(TABLE), f(TABLE)
    assert found == wanted
    assert [type(v) for v in found] == [type(v) for v in wanted]


def squares(values):
    total = 0.0
    for v in np.array(values).ravel():
        total += v * v
    return total


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    def loss(x):
        return squares(f(x))

    ways = np.eye(TABLE.size).reshape(-1, *TABLE.shape)
    slopes = [differences.derivative(lambda t, way=way: loss(TABLE + t * way), 0.0) for way in ways]
    found = zyg.jit(zyg.grad(loss))(TABLE)
    assert found.ravel() == pytest.approx(slopes, abs=1e-6)
    way = np.cos(np.arange(TABLE.size)).reshape(TABLE.shape)
    curved = zyg.jit(lambda x: zyg.hvp(loss, x, way))(TABLE)
    assert (curved * way).sum() == pytest.approx(
        differences.derivative(lambda t: zyg.gradient(loss, TABLE + t * way)[0].ravel() @ way.ravel(), 0.0), abs=1e-5
    )


@pytest.mark.parametrize("f", [of_rows, by_key])
def test_of_nothing(f):
    for g in (f, zyg.jit(f)):
        with pytest.raises(
            ValueError, match=r"^(max\(\) arg is an empty sequence|max\(\) iterable argument is empty)$"
        ):
            g(np.zeros((2, 0)))


def of_arguments(x):
    return max(*x)


def of_numbers_and_arguments(x):
    return min(2.0, *x, x[0] - 0.5)


def of_a_list(x):
    picked = [v for v in x if v > -3.0]
    return min(*picked) + max(*picked, key=abs)


@pytest.mark.parametrize("f", [of_arguments, of_numbers_and_arguments, of_a_list])
def test_of_arguments_of_which_there_are_as_many_as_there_are(f):
    for x in (TABLE[1], TABLE[0], TABLE.ravel()):
        assert zyg.jit(f)(x) == f(x)
        slopes = [differences.derivative(lambda t, way=way, x=x: f(x + t * way), 0.0) for way in np.eye(len(x))]
        np.testing.assert_allclose(zyg.jit(zyg.grad(f))(x), slopes, atol=1e-8)


@pytest.mark.parametrize("f", [of_arguments, of_a_list])
@pytest.mark.parametrize("count", [0, 1])
def test_of_too_few_arguments(f, count):
    x = TABLE[1, :count]
    with pytest.raises(TypeError) as wanted:
        f(x)
    with pytest.raises(TypeError) as found:
        zyg.jit(f)(x)
    assert str(found.value) == str(wanted.value)
