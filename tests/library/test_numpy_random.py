"""Random numbers in compiled code are those that NumPy draws, and constants to the derivative."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.errors import Unsupported

from .test_numpy_functions import same

pytestmark = each_in_turn

OUTSIDE = np.random.default_rng(5)
A = np.arange(12.0).reshape(4, 3)


def agree(function, *args):
    """With the same state of OUTSIDE and of numpy.random before."""
    state, legacy = OUTSIDE.bit_generator.state, np.random.get_state()
    expected = function(*args)
    after, legacy_after = OUTSIDE.bit_generator.state, np.random.get_state()[2]
    OUTSIDE.bit_generator.state = state
    np.random.set_state(legacy)
    same(zyg.jit(function)(*args), expected, 0.0)
    assert OUTSIDE.bit_generator.state == after and np.random.get_state()[2] == legacy_after


def shuffled(a):
    b = a * 1.0
    OUTSIDE.shuffle(b)
    return b


def inside(seed, n):
    r = np.random.default_rng(seed)
    other = np.random.default_rng([seed, 1])
    total = 0.0
    for _ in range(n):
        if r.random() < 0.5:
            total += r.normal()
        else:
            total -= other.integers(5)
        r, other = other, r
    return total, r.normal(size=3), other.permutation(4)


def seeded():
    np.random.seed(3)
    return np.random.standard_normal(3), np.random.rand(2, 3), np.random.randint(0, 9, size=3), np.random.randint(5)


def test_a_generator_from_outside():
    agree(
        lambda n: (OUTSIDE.normal(), OUTSIDE.normal(1.0, 2.0, (2, n)), OUTSIDE.random(n), OUTSIDE.uniform(-1, 1, n)), 3
    )
    agree(lambda: (OUTSIDE.integers(2, 9, size=4), OUTSIDE.integers(0, 5, (2, 2), endpoint=True), OUTSIDE.poisson(3.0)))
    agree(
        lambda a: (OUTSIDE.normal(a), OUTSIDE.gamma(2.0, size=3), OUTSIDE.choice(5, 2, p=[0.1, 0.2, 0.3, 0.2, 0.2])), A
    )
    agree(lambda a: (OUTSIDE.choice(a, 2, replace=False), OUTSIDE.permutation(a), OUTSIDE.permutation(5)), A)
    agree(lambda: (OUTSIDE.multivariate_normal(np.zeros(2), np.eye(2)), OUTSIDE.dirichlet([1.0, 2.0], size=2)))
    agree(shuffled, A)


def test_a_generator_made_inside():
    agree(inside, 3, 10)
    agree(inside, 0, 0)


def singles(n):
    r = np.random.default_rng(7)
    total = 0.0
    for _ in range(n):
        total += (
            r.random() * r.integers(8)
            + r.integers(10**12) * 1e-9
            - r.normal(0.5, 2.0)
            + r.uniform(-1, 2.5)
            + r.exponential(2)
        )
        total += (
            r.integers(2, 7, endpoint=True) + r.integers(-(2**63), 2**63 - 1) * 1e-18 + r.integers(0, 2**32 - 1) * 1e-9
        )
        total += (
            r.beta(1.5, 2.5) + r.standard_t(3.0) + r.chisquare(3.0) + r.wald(1.0, 2.0) + r.power(2.0) + r.poisson(3.0)
        )
        total += (
            r.poisson(1e5) * 1e-5
            + r.weibull(2.0)
            + r.standard_gamma(0.3)
            + r.laplace()
            + r.logistic(1.0, 2.0)
            + r.f(2.0, 3.0)
        )
        total += (
            r.gamma(2.0, 3.0)
            + r.lognormal(0.1, 0.2)
            + r.gumbel()
            + r.rayleigh()
            + r.pareto(3.0)
            + r.standard_cauchy() * 1e-3
        )
        total += (
            r.standard_normal() + r.standard_exponential() + r.integers(5, 6) + r.binomial(5, 0.3) + np.sum(r.random(2))
        )
    return total, r.random()


def test_single_numbers_are_drawn_by_the_functions_that_numpy_calls():
    value, after = zyg.jit(singles)(60)
    expected, expected_after = singles(60)
    assert value == pytest.approx(expected, rel=1e-13) and after == expected_after


def wrong(kind, x):
    r = np.random.default_rng(2)
    if kind == 0:
        return r.normal(0.0, x)
    if kind == 1:
        return r.uniform(2.0, x)
    if kind == 2:
        return r.uniform(0.0, x * np.inf)
    if kind == 3:
        return r.beta(x, 1.0)
    if kind == 4:
        return 1.0 * r.poisson(x)
    if kind == 5:
        return 1.0 * r.integers(5, int(x))
    return 1.0 * r.integers(5, int(x), endpoint=True)


def test_errors_of_single_numbers_are_numpys():
    compiled = zyg.jit(wrong)
    for kind in range(7):
        for x in (-1.0, 1.0, 5.0, 9.0):
            try:
                expected = wrong(kind, x)
            except (ValueError, OverflowError) as error:
                with pytest.raises(type(error), match=str(error)):
                    compiled(kind, x)
            else:
                assert compiled(kind, x) == expected


def test_what_is_drawn_again_is_the_same():
    def loss(x):
        r = np.random.default_rng(1)
        for _ in zyg.checkpointed(range(9), every=2):
            x = x * (1.0 + 0.1 * r.normal()) + 0.01 * r.random() * x * x
        return x

    (gradient,) = zyg.gradient(loss, 1.3)
    assert gradient == pytest.approx((loss(1.3 + 1e-6) - loss(1.3 - 1e-6)) / 2e-6, rel=1e-7)


def test_a_generator_as_an_argument():
    f = lambda x, r: x * r.normal(size=2)
    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(2):
        assert np.array_equal(zyg.jit(f)(np.ones(2), ours), f(np.ones(2), theirs))


def test_the_functions_of_the_module():
    agree(seeded)
    agree(
        lambda: (np.random.normal(0, 1, 4), np.random.uniform(size=2), np.random.permutation(5), np.random.choice(4, 2))
    )


def test_derivatives():
    def loss(x):
        r = np.random.default_rng(0)
        y = x * 1.0
        r.shuffle(y)
        return np.sum((x * r.normal(size=3)) ** 2) + np.sum(r.choice(x, 2) ** 3) + np.sum(y**2 * np.arange(3))

    x = np.array([1.0, 2.0, 3.0])
    (gradient,) = zyg.gradient(loss, x)
    for k in range(3):
        h = np.eye(3)[k] * 1e-5
        assert gradient[k] == pytest.approx((loss(x + h) - loss(x - h)) / 2e-5, rel=1e-6)
    with pytest.raises(Unsupported, match=r"derivative through `Generator\.normal`"):
        zyg.jit(zyg.grad(lambda m: OUTSIDE.normal(m)))(1.0)
    with pytest.raises(Unsupported, match=r"derivative through the C function random\.normal"):
        zyg.jit(zyg.grad(lambda m: np.random.default_rng(0).normal(m)))(1.0)


def test_an_array_of_draws_is_constant_though_it_is_written_to():
    def f(x):
        y = np.random.default_rng(1).normal(size=3)
        y[0] = x * x
        return np.sum(y**3) * x

    x, h = 1.3, 1e-4
    slope = (f(x + h) - f(x - h)) / (2 * h)
    assert zyg.jit(zyg.grad(f))(x) == pytest.approx(slope, rel=1e-6)
    assert zyg.jit(lambda x: zyg.jvp(f, (x,), (1.0,)))(x)[1] == pytest.approx(slope, rel=1e-6)
    curve = (f(x + h) - 2 * f(x) + f(x - h)) / h**2
    assert zyg.jit(lambda x: zyg.hvp(f, x, 1.0))(x) == pytest.approx(curve, rel=1e-5)
