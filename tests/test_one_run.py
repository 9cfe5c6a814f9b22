"""Functions that change something besides their arguments run once for all columns of a Jacobian or Hessian, and for value and push of
a pushforward: these are the derivatives of one function, at the value that it gave."""

from __future__ import annotations

import contextlib
import functools

import numpy as np
import pytest

import zyg

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


class Counter:
    """A function of its number of calls."""

    def __init__(self):
        self.k = 0.0
        self.seen = []

    def next(self):
        self.k += 1.0
        return self.k

    def vector(self, x):
        return x * x * self.next()

    def number(self, x):
        return (x * x * x).sum() * self.next()


TABLE = np.zeros(1)


def vars_of(f):
    """The defaults of a function."""
    return [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]


def counted():
    """By an array that a closure has, a global one, an object, a list: functions of an array, what to reset, how often they ran."""
    cell = np.zeros(1)

    def of_cell(x, power):
        cell[0] += 1.0
        return x**power * cell[0]

    def of_global(x, power):
        TABLE[0] += 1.0
        return x**power * TABLE[0]

    def of_default(x, power, held=np.zeros(1)):  # noqa: B008
        held[0] += 1.0
        return x**power * held[0]

    counter = Counter()

    def of_object(x, power):
        counter.k += 1.0
        return x**power * counter.k

    def through_helper(x, power):
        return x**power * counter.next()

    runs = {
        of_cell: lambda: cell[0],
        of_global: lambda: TABLE[0],
        of_default: lambda: vars_of(of_default)[0][0],
        of_object: lambda: counter.k,
        through_helper: lambda: counter.k,
    }
    TABLE[0] = 0.0
    return runs


NAMES = [f.__name__ for f in counted()]
X = np.arange(20.0) + 1.0


def named(name):
    (found,) = [(f, runs) for f, runs in counted().items() if f.__name__ == name]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_jacobian_of_vectors(name):
    f, runs = named(name)
    np.testing.assert_allclose(zyg.jacobian(lambda x: f(x, 2), X)[0], np.diag(2 * X))
    assert runs() == 1.0
    np.testing.assert_allclose(zyg.jacobian(lambda x: f(x, 2), X)[0], np.diag(2 * X) * 2.0)
    assert runs() == 2.0


@pytest.mark.parametrize("name", NAMES)
def test_jacobian_of_numbers(name):
    f, runs = named(name)
    np.testing.assert_allclose(zyg.jacobian(lambda x: f(x, 2).sum(), X)[0], 2 * X)
    assert runs() == 1.0
    assert zyg.jacobian(lambda x: f(x, 2), 3.0, argnums=0) == 12.0
    assert runs() == 2.0


@pytest.mark.parametrize("name", NAMES)
def test_jacobian_of_structures(name):
    f, runs = named(name)
    found = zyg.jacobian(lambda d: {"a": f(d["x"], 2)}, {"x": X})[0]
    np.testing.assert_allclose(found["a"]["x"], np.diag(2 * X))
    assert runs() == 1.0
    np.testing.assert_allclose(zyg.jacobian(lambda x: [f(x, 2)[1], x[0]], X)[0][0], np.eye(20)[1] * 4 * 2.0)
    assert runs() == 2.0
    wide = zyg.jacobian(lambda x, y: f(x, 2)[:2] * y, X, 3.0)
    np.testing.assert_allclose(wide[0], np.eye(20)[:2] * 2 * X * 3.0 * 3.0)
    np.testing.assert_allclose(wide[1], X[:2] ** 2 * 3.0)


@pytest.mark.parametrize("name", NAMES)
def test_hessian(name):
    f, runs = named(name)
    np.testing.assert_allclose(zyg.hessian(lambda x: f(x, 3).sum(), X), np.diag(6 * X))
    assert runs() == 1.0
    found = zyg.hessian(lambda d: f(d["x"], 3).sum(), {"x": X})
    np.testing.assert_allclose(found["x"]["x"], np.diag(6 * X) * 2.0)
    assert runs() == 2.0
    found = zyg.hessian(lambda x, y: f(x, 3).sum() * y, X, 2.0, argnums=(0, 1))
    np.testing.assert_allclose(found[0][0], np.diag(6 * X) * 6.0)
    np.testing.assert_allclose(found[0][1], 3 * X**2 * 3.0)
    assert runs() == 3.0
    assert zyg.hessian(lambda x: f(x, 3), 2.0) == 12.0 * 4.0
    assert runs() == 4.0


def test_methods():
    counter = Counter()
    np.testing.assert_allclose(zyg.jacobian(counter.vector, X)[0], np.diag(2 * X))
    np.testing.assert_allclose(zyg.hessian(counter.number, X), np.diag(6 * X) * 2.0)
    assert counter.k == 2.0


def test_draws():
    rng, again = np.random.default_rng(0), np.random.default_rng(0)
    np.testing.assert_allclose(zyg.jacobian(lambda x: x * rng.normal(), X)[0], np.eye(20) * again.normal())
    np.testing.assert_allclose(zyg.hessian(lambda x: (x * x).sum() * rng.normal(), X), np.eye(20) * 2 * again.normal())
    assert rng.normal() == again.normal()


def test_printed_once(capsys):
    def f(x):
        print("run")
        return x * x

    zyg.jacobian(f, X)
    zyg.hessian(lambda x: f(x).sum(), X)
    assert capsys.readouterr().out == "run\nrun\n"


def test_arguments_are_changed_once():
    cell = np.zeros(1)

    def f(x):
        cell[0] += 1.0
        x[0] = x[0] * 2.0
        return x * cell[0]

    x = X.copy()
    expected = np.eye(20)
    expected[0, 0] = 2.0
    np.testing.assert_allclose(zyg.jacobian(f, x)[0], expected)
    assert x[0] == 2.0 * X[0] and cell[0] == 1.0


def test_compiled():
    """In code of `jit`, too."""
    cell = np.zeros(1)

    def f(x):
        cell[0] += 1.0
        return x * x * cell[0]

    np.testing.assert_allclose(zyg.jit(lambda x: zyg.jacobian(f, x)[0])(X), np.diag(2 * X))
    np.testing.assert_allclose(zyg.jit(lambda x: zyg.hessian(lambda y: f(y).sum(), x))(X), np.eye(20) * 2 * 2.0)


def test_derivatives_of_these():
    def make():
        cell = np.zeros(1)

        def f(x):
            cell[0] += 1.0
            return x * x * x * cell[0]

        return f

    f = make()
    total = lambda x: (zyg.jacobian(f, x)[0] ** 2).sum()
    np.testing.assert_allclose(zyg.gradient(total, X)[0], 36 * X**3)
    f = make()
    np.testing.assert_allclose(zyg.jvp(total, (X,), (np.ones(20),))[1], (36 * X**3).sum())
