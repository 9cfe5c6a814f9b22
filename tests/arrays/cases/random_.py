"""Random numbers: those that NumPy draws from the same state."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import case
from ..drawing import A, Num

SEED = Num("l", "few")
DRAWS = {
    "beta": "0.5, 2.0", "binomial": "5, 0.4", "chisquare": "3.0", "dirichlet": "np.array([1.0, 2.0])", "exponential": "2.0", "f": "3.0, 4.0",
    "gamma": "2.0, 1.5", "geometric": "0.3", "gumbel": "0.0, 1.0", "laplace": "0.0, 1.0", "logistic": "0.0, 1.0",
    "lognormal": "0.0, 0.5", "logseries": "0.4", "multinomial": "5, np.array([0.3, 0.7])", "negative_binomial": "3, 0.4",
    "multivariate_normal": "np.zeros(2), np.eye(2)", "normal": "1.0, 2.0", "pareto": "3.0", "poisson": "2.5", "power": "2.0",
    "random": "", "random_sample": "", "rayleigh": "1.5", "standard_cauchy": "", "standard_exponential": "", "standard_gamma": "2.0",
    "standard_normal": "", "standard_t": "4.0", "triangular": "0.0, 0.4, 1.0", "uniform": "-1.0, 2.0", "vonmises": "0.0, 1.0",
    "wald": "1.0, 2.0", "weibull": "1.5", "zipf": "2.5", "integers": "0, 9", "randint": "0, 9", "noncentral_chisquare": "2.0, 1.0",
    "noncentral_f": "2.0, 3.0, 1.0", "hypergeometric": "4, 5, 3",
}  # fmt: skip


def _draw(name: str, arguments: str, generator: bool) -> Any:
    size = f"{arguments}, size=3" if arguments else "3"
    if generator:
        text = f"lambda seed: np.random.default_rng(seed).{name}({size})"
    else:
        text = f"lambda seed: (np.random.seed(seed), np.random.{name}({size}))[1]"
    return eval(text, {"np": np})


for _name, _arguments in DRAWS.items():
    _exact: dict[str, Any] = {"exact": True, "derivative": False}
    if hasattr(np.random.Generator, _name):
        case([np.random.default_rng, (np.random.Generator, _name)], _draw(_name, _arguments, True), seed=SEED, **_exact)
    if hasattr(np.random, _name):
        case([np.random.seed, getattr(np.random, _name)], _draw(_name, _arguments, False), seed=SEED, **_exact)


def _shuffled(a, seed):
    b = a.copy()
    np.random.seed(seed)
    np.random.shuffle(b)
    return b


def _generator_shuffled(a, seed):
    b = a.copy()
    np.random.default_rng(seed).shuffle(b)
    return b


def _legacy(a, seed):
    np.random.seed(seed)
    return np.random.permutation(a), np.random.choice(a, 2), np.random.rand(2), np.random.randn(3)


case([np.random.shuffle], _shuffled, a=A("n|n m", "d", "finite"), seed=SEED, exact=True)
case((np.random.Generator, "shuffle"), _generator_shuffled, a=A("n|n m", "d", "finite"), seed=SEED, exact=True)
case(
    [np.random.permutation, np.random.choice, np.random.rand, np.random.randn],
    _legacy,
    a=A("n", "d", "finite", 1),
    seed=SEED,
    exact=True,
    derivative=False,
)
case(
    (np.random.Generator, "permutation"),
    lambda a, seed: np.random.default_rng(seed).permutation(a),
    a=A("n|n m", "d", "finite"),
    seed=SEED,
    exact=True,
)
case(
    (np.random.Generator, "permuted"),
    lambda a, seed: np.random.default_rng(seed).permuted(a),
    a=A("n", "d", "finite"),
    seed=SEED,
    exact=True,
)
case(
    (np.random.Generator, "choice"),
    lambda a, seed: np.random.default_rng(seed).choice(a, 2),
    a=A("n", "d", "finite", 1),
    seed=SEED,
    exact=True,
)
