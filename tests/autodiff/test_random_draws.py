"""Draws whose number and seed are arguments, natively and through Python: against differences, with the same seed."""

from __future__ import annotations

import random

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

X = np.array([0.5, -0.3, 0.8])


def prices(x, n, seed):
    rng = np.random.default_rng(seed)
    paths = x[0] * np.exp(np.cumsum(x[1] + x[2] * rng.standard_normal((n, 5)), axis=1))
    return np.mean(np.maximum(paths[:, -1] - 0.1, 0.0))


def single_draws(x, n, seed):
    rng = np.random.default_rng(seed)
    total = 0.0
    for _ in range(n):
        total += np.exp(x[0] * rng.standard_normal()) * rng.uniform(0.5, 1.0)
    return total * x[1]


def integers(x, n, seed):
    rng = np.random.default_rng(seed=seed)
    return np.sum(x[rng.integers(0, 3, size=n)] ** 2 * rng.poisson(2.0, n))


def of_the_module(x, n, seed):
    np.random.seed(seed)
    return np.sum(np.sin(np.outer(np.random.randn(n), x))) * np.random.uniform(0.5, 1.0, size=n).sum()


def chosen(x, n, seed):
    rng = np.random.default_rng(seed)
    return np.sum(rng.choice(x, size=n) ** 2) + rng.permutation(x)[0] ** 3 + rng.choice(n) * x[1]


def shuffled(x, n, seed):
    rng = np.random.default_rng(seed)
    y = x * x
    rng.shuffle(y)
    return y[0] + 2.0 * y[1] ** 2 + rng.normal(1.0, 2.0, n)[0] * x[0]


@each_in_turn
@pytest.mark.parametrize(
    "f", [prices, single_draws, integers, of_the_module, chosen, shuffled], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("through_python", [False, True])
def test_derivatives(f, through_python):
    wanted = [(f(X + 1e-6 * e, 7, 3) - f(X - 1e-6 * e, 7, 3)) / 2e-6 for e in np.eye(3)]
    if through_python:
        value, back = python_pullback(f, (X, 7, 3), {})
        gradient = back(1.0)
    else:
        value, gradient = zyg.jit(zyg.value_and_grad(f, argnums=(0, 1, 2)))(X, 7, 3)
    assert value == pytest.approx(f(X, 7, 3), rel=1e-14)
    np.testing.assert_allclose(gradient[0], wanted, rtol=1e-7, atol=1e-8)
    assert gradient[1] in (None, 0.0) and gradient[2] in (None, 0.0)


@each_in_long_turn
def test_second_derivatives_through_python():
    def slope(x):
        return python_pullback(prices, (x, 7, 3), {})[1](1.0)[0][2]

    found = python_pullback(slope, (X,), {})[1](1.0)[0]
    wanted = [(slope(X + 1e-5 * e) - slope(X - 1e-5 * e)) / 2e-5 for e in np.eye(3)]
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8)


@each_in_turn
@pytest.mark.parametrize(
    "draw",
    [
        lambda x, rng: rng.normal(0.0, x[0], 3)[0],
        lambda x, rng: rng.normal(scale=x[0]),
        lambda x, rng: rng.exponential(x[0], size=2)[0],
        lambda x, rng: rng.uniform(x[0], 2.0),
        lambda x, rng: rng.normal(x)[0],
    ],
)
def test_by_the_parameters_of_a_distribution_they_are_refused(draw):
    def f(x):
        return draw(x, np.random.default_rng(1))

    value, back = python_pullback(f, (X,), {})
    assert value == f(X)
    with pytest.raises(zyg.Unsupported, match="by its parameters"):
        back(1.0)
    assert python_pullback(lambda x: f(X) * x[0], (X,), {})[1](1.0)[0][0] == f(X)


@each_in_turn
@pytest.mark.parametrize(
    "draw",
    [
        lambda x, seed: random.Random(seed).randint(1, 6) * x,
        lambda x, seed: random.Random(seed).randrange(6) * x,
        lambda x, seed: random.Random(seed).getrandbits(3) * x,
        lambda x, seed: random.Random(seed).choice([1.0, x, 2.0]) * x,
        lambda x, seed: random.Random(seed).uniform(0.0, x),
        lambda x, seed: random.Random(seed).gauss(x, x * x),
        lambda x, seed: sum(random.Random(seed).sample([x, x * x, 3.0], 2)),
    ],
)
def test_pythons_generators_are_seeded_by_arguments(draw):
    value, back = python_pullback(draw, (2.0, 7), {})
    assert value == draw(2.0, 7)
    wanted = (draw(2.0 + 1e-6, 7) - draw(2.0 - 1e-6, 7)) / 2e-6
    given = back(1.0)
    assert given[0] == pytest.approx(wanted, rel=1e-6)
    assert given[1] is None


class Fixed(random.Random):
    """Its draws are of a user's."""

    scale = 1.0

    def random(self):
        return 0.25 * self.scale


def by_constants(x):
    rng = random.Random(3)
    total = 0.0
    for k in range(5):
        total += x * rng.gauss(0.0, 1.0 + k) + rng.uniform(x, 2.0) * rng.randint(1, 6) + rng.gauss(x, 2.0)
        total *= rng.uniform(0.5, 1.0) + rng.expovariate(2.0)
    return total


def of_the_library(x):
    random.seed(4)
    total = x
    for _ in range(4):
        total += x * random.random() + total * random.uniform(0.0, 1.0)
    return total * random.randint(2, 5)


def by_another_class(x):
    total = 0.0
    for rng in (random.Random(1), Fixed(), random.Random(2), Fixed()):
        if isinstance(rng, Fixed):
            rng.scale = x
        total += rng.uniform(1.0, 2.0) * x
    return total


def by_another_function(x):
    rng = random.Random(1)
    total = rng.uniform(1.0, 2.0)
    rng.random = lambda: 0.5 * x
    return total * rng.uniform(1.0, 2.0) * x


def of_items(x):
    rng, own = random.Random(1), Fixed()
    own.scale = 2.0
    items = [x, x * x, 2.0]
    random.seed(3)
    total = (
        rng.choice(items) * rng.choice((x, 3.0 * x))
        + own.choice(items)
        + random.choice([x] * 3) * rng.choice("ab").count("a")
    )
    items[0] = 5.0 * x
    try:
        total += rng.choice([])
    except IndexError:
        total *= rng.choice(items) + rng.choice(range(4))
    return total


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize(
    "f", [by_constants, of_the_library, by_another_class, by_another_function, of_items], ids=lambda f: f.__name__
)
def test_draws_of_constants(f):
    value, back = python_pullback(f, (0.7,), {})
    assert value == f(0.7)
    assert back(1.0)[0] == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6, rel=1e-7)
    second = zyg.derivative(zyg.derivative(f))(0.7)
    slope = zyg.derivative(f)
    assert second == pytest.approx((slope(0.7 + 1e-6) - slope(0.7 - 1e-6)) / 2e-6, rel=1e-6, abs=1e-6)
