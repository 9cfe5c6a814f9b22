"""The functions of `statistics` in programs that go through Python as a whole."""

from __future__ import annotations

import statistics

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]

X = 1.3


def data(x):
    return [x, 3.0 * x, x * x, 2.0, 5.0 * x]


def normal(x):
    return statistics.NormalDist(x, 2.0 * x)


def fitted(x):
    return statistics.NormalDist.from_samples(data(x))


FUNCTIONS = {
    "median_low": lambda x: statistics.median_low(data(x)[:4]) ** 2,
    "median_high": lambda x: statistics.median_high(v * x for v in (1.0, 4.0, 3.0, 2.0)) ** 2,
    "median_grouped": lambda x: statistics.median_grouped([x, 2.0 * x, 2.0 * x, 3.0 * x], interval=x * x) ** 2,
    "mode": lambda x: statistics.mode([2.0, x, x, 7.0]) ** 2,
    "multimode": lambda x: statistics.multimode([x, x, 2.0 * x, 3.0 * x, 3.0 * x])[1] ** 2,
    "harmonic_mean": lambda x: statistics.harmonic_mean(data(x), weights=[1.0, x, 2.0, x * x, 3.0]),
    "variance": lambda x: statistics.variance(data(x), x**3),
    "pvariance": lambda x: statistics.pvariance(data(x), mu=x**3),
    "stdev": lambda x: statistics.stdev(data(x), xbar=x**3) + statistics.stdev(data(x), None),
    "pstdev": lambda x: statistics.pstdev(data(x), x**3),
    "perfect fit": lambda x: statistics.stdev([2.0, 2.0], None) * x + statistics.pstdev([x, x], x) + x,
    "quantiles": lambda x: statistics.quantiles(data(x), n=5)[2] * statistics.quantiles(data(x), method="inclusive")[1],
    "inv_cdf": lambda x: normal(x).inv_cdf(x / 5.0) ** 2,
    "normal quantiles": lambda x: normal(x).quantiles(5)[3] ** 2,
    "from_samples": lambda x: fitted(x).mean * fitted(x).stdev,
    "cdf": lambda x: normal(x).cdf(2.5) * normal(x).pdf(x * x) * normal(x).zscore(0.3),
    "sums": lambda x: (normal(x) * 2.0 + statistics.NormalDist(1.0, x)).variance * (normal(x) - 2.0 * x).mean,
    "overlap": lambda x: normal(x).overlap(statistics.NormalDist(1.0, 1.5)),
}


def through_python(f):
    return lambda x: f(x) * {x}.pop()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivative(name):
    program = through_python(FUNCTIONS[name])
    value, (gradient,) = zyg.withgradient(program, X)
    assert value == program(X)
    assert gradient == pytest.approx(differences.derivative(program, X), rel=1e-6)


@each_in_long_turn
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "perfect fit"])
def test_second_derivative(name):
    slope = zyg.grad(through_python(FUNCTIONS[name]))
    assert zyg.gradient(slope, X)[0] == pytest.approx(differences.derivative(slope, X), rel=1e-6)


@pytest.mark.parametrize(
    "f", [statistics.median_grouped, statistics.mode, statistics.median_low, statistics.NormalDist.from_samples]
)
def test_errors(f):
    with pytest.raises(statistics.StatisticsError):
        zyg.gradient(lambda x: f([]) * {x}.pop(), X)
