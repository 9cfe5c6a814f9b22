"""Functions that change something besides their arguments run once for all columns of a Jacobian or Hessian, and for value and push of
a pushforward: these are the derivatives of one function, at the value that it gave."""

from __future__ import annotations

import contextlib
import functools

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = [pytest.mark.filterwarnings("ignore::zyg.FallbackWarning"), each_in_turn]


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


@pytest.mark.parametrize("size", [None, 20, (20,)])
def test_draws_of_arrays(size):
    def f(x, rng):
        return x * x * rng.normal(0.0, 2.0, size)

    def by_own_generator(x):
        return x * np.random.default_rng(3).normal(size=20)

    drawn = np.random.default_rng(0).normal(0.0, 2.0, size) * X
    for rng in (np.random.default_rng(0), None):
        own = rng or np.random.default_rng(0)
        call, args = (f, (X, own)) if rng is not None else (lambda x: f(x, own), (X,))  # noqa: B023
        y, push = zyg.pushforward(call, *args)
        np.testing.assert_allclose(y, drawn * X)
        tangents = (np.ones(20), None)[: len(args)]
        np.testing.assert_allclose(push(*tangents), 2 * drawn)
        assert own.random() == after(size)
        own = np.random.default_rng(0)
        found = zyg.jacobian(call, *(X, own)[: len(args)], argnums=0)
        np.testing.assert_allclose(found, np.diag(2 * drawn))
        assert own.random() == after(size)
    np.testing.assert_allclose(zyg.jacobian(by_own_generator, X)[0], np.diag(by_own_generator(np.ones(20))))


def after(size):
    """What comes next."""
    rng = np.random.default_rng(0)
    rng.normal(size=size)
    return rng.random()


def test_draws_are_not_repeated_in_python():
    """Where native code ends with an error that CPython would not raise, and has drawn."""
    rng = np.random.default_rng(0)

    def f(x, n):
        drawn = rng.normal(size=3)
        return x * drawn[0] * (n * n * n % 7)

    with pytest.raises(OverflowError):
        zyg.gradient(f, 2.0, 10**9)
    assert rng.random() == after(3)


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


# -------------------------------------------------------------------------------------------------------- pushforward

FACTOR, ROW, SETTINGS = 3.0, np.array([3.0, 1.0]), {"k": 3.0}
BODY = Counter()


def helper(x):
    return x * FACTOR


def states():
    """Functions of a number that are 3 x, and what makes them others afterwards."""
    row, number, item, obj = np.array([3.0, 1.0]), 3.0, [3.0], Counter()
    obj.k = BODY.k = 3.0

    def of_default(x, row=np.array([3.0])):  # noqa: B008
        return x * row[0]

    def of_keyword(x, *, row=np.array([3.0])):  # noqa: B008
        return x * row[0]

    def captured_helper(x):
        return inner(x) + 0.0 * row[1]

    def inner(x):
        return x * row[0]

    def rebound(value):
        nonlocal number
        number = value

    def both(x):
        return x * row[0] * (FACTOR / 3.0)

    def set_row(values):
        values[0] = 5.0

    return {
        "captured array": (lambda x: x * row[0], lambda: set_row(row)),
        "captured number": (lambda x: x * number, lambda: rebound(5.0)),
        "captured list": (lambda x: x * item[0], lambda: set_row(item)),
        "captured object": (lambda x: x * obj.k, lambda: setattr(obj, "k", 5.0)),
        "global number": (lambda x: x * FACTOR, lambda: globals().update(FACTOR=5.0)),
        "global number of a helper": (lambda x: helper(x), lambda: globals().update(FACTOR=5.0)),
        "a function itself": (helper, lambda: globals().update(FACTOR=5.0)),
        "global array": (lambda x: x * ROW[0], lambda: set_row(ROW)),
        "another global array": (lambda x: x * ROW[0], lambda: globals().update(ROW=np.ones(2))),
        "global dict": (lambda x: x * SETTINGS["k"], lambda: SETTINGS.update(k=5.0)),
        "global object": (lambda x: x * BODY.k, lambda: setattr(BODY, "k", 5.0)),
        "default": (of_default, lambda: set_row(vars_of(of_default)[0])),
        "another default": (of_default, lambda: setattr(of_default, "__defaults__", (np.ones(1),))),
        "keyword default": (of_keyword, lambda: set_row(vars_of(of_keyword)[0])),
        "captured function": (captured_helper, lambda: set_row(row)),
        "captured and global": (both, lambda: (set_row(row), globals().update(FACTOR=7.0))),
        "partial": (functools.partial(lambda r, x: x * r[0], row), lambda: set_row(row)),
        "keyword of a partial": (functools.partial(lambda x, r: x * r[0], r=row), lambda: set_row(row)),
        "jitted": (zyg.jit(lambda x: x * row[0] * (FACTOR / 3.0)), lambda: set_row(row)),
    }


@pytest.mark.parametrize("name", states())
def test_push_is_at_the_value(name):
    globals().update(FACTOR=3.0, ROW=np.array([3.0, 1.0]))
    SETTINGS["k"] = 3.0
    for _ in range(2):
        f, change = states()[name]
        y, push = zyg.pushforward(f, 2.0)
        assert (y, push(1.0)) == (6.0, 3.0)
        change()
        assert f(2.0) != 6.0
        assert (push(1.0), push(2.0)) == (3.0, 6.0)
        globals().update(FACTOR=3.0, ROW=np.array([3.0, 1.0]))
        SETTINGS["k"] = 3.0


@pytest.mark.parametrize("name", NAMES)
def test_pushforward_of_what_changes(name):
    f, runs = named(name)
    y, push = zyg.pushforward(lambda x: f(x, 2), X)
    for _ in range(2):
        np.testing.assert_allclose(push(np.ones(20)), 2 * X)
    assert runs() == 1.0
    np.testing.assert_allclose(y, X**2)


def test_pushforward_of_methods():
    counter = Counter()
    _, push = zyg.pushforward(counter.vector, X)
    np.testing.assert_allclose(push(X), 2 * X * X)
    np.testing.assert_allclose(push(X), 2 * X * X)
    assert counter.k == 1.0
    counter.k = 8.0
    np.testing.assert_allclose(push(X), 2 * X * X)


def test_pushforward_of_draws(capsys):
    rng, again = np.random.default_rng(0), np.random.default_rng(0)
    y, push = zyg.pushforward(lambda x: x * rng.normal(), 1.0)
    drawn = again.normal()
    assert (y, push(1.0), push(1.0), rng.normal()) == (drawn, drawn, drawn, again.normal())

    def printing(x):
        print("run")
        return x * x

    y, push = zyg.pushforward(printing, 3.0)
    assert (y, push(1.0), push(2.0)) == (9.0, 6.0, 12.0)
    assert capsys.readouterr().out == "run\n"


def test_pushforward_in_compiled_code():
    def changed(x, row):
        own = 3.0

        def f(t):
            return t * row[0] * own

        y, push = zyg.pushforward(f, x)
        row[0], own = 5.0, 7.0
        return y, push(1.0)

    assert zyg.jit(changed)(2.0, np.array([3.0])) == changed(2.0, np.array([3.0])) == (18.0, 9.0)

    def drawn(x, row):
        def f(t):
            row[0] += 1.0
            return t * row[0]

        y, push = zyg.pushforward(f, x)
        return y + push(1.0)

    with pytest.raises(zyg.Unsupported, match="changes something besides its arguments"):
        zyg.jit(drawn)(2.0, np.array([3.0]))
    assert drawn(2.0, np.array([3.0])) == 8.0 + 4.0
    assert zyg.jvp(drawn, (2.0, np.array([3.0])), (1.0, None)) == (12.0, 4.0)


def test_keywords_as_they_were():
    row = np.array([3.0])
    y, push = zyg.pushforward(lambda x, row: x * row[0], 2.0, row=row)
    row[0] = 5.0
    assert (y, push(1.0)) == (6.0, 3.0)


def test_push_compiles_once():
    """Whatever function object is given."""

    def make(k):
        return lambda x: x * k[0] * FACTOR

    globals().update(FACTOR=3.0)
    for k in (1.0, 2.0, 3.0):
        y, push = zyg.pushforward(make(np.array([k])), 2.0)
        assert (y, push(1.0)) == (6.0 * k, 3.0 * k)
    with compilations() as count:
        y, push = zyg.pushforward(make(np.array([4.0])), 2.0)
        assert (y, push(1.0)) == (24.0, 12.0)
    assert not count


@contextlib.contextmanager
def compilations():
    from zyg import pipeline

    made, compile_ = [], pipeline.compile
    pipeline.compile = lambda request: made.append(request) or compile_(request)
    try:
        yield made
    finally:
        pipeline.compile = compile_
