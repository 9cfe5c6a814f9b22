"""Elementwise expressions that end in a sum: one text for NumPy, zyg, Numba and (with another `np`) JAX; loops for Numba.
And short ones of everyday, for NumPy, zyg and JAX."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import native


def gaussian(m, s, x):
    return np.sum(np.exp(-((x - m) ** 2) / (2 * s * s)))


def huber(delta, m, x):
    r = x - m
    a = np.abs(r)
    return np.sum(np.where(a <= delta, 0.5 * r * r, delta * (a - 0.5 * delta)))


def activation(x, y):
    return np.sum(np.tanh(x * y + x) * np.log(1.0 + y * y))


def gaussian_loop(m, s, x):
    total = 0.0
    for v in x:
        total += math.exp(-((v - m) ** 2) / (2 * s * s))
    return total


def huber_loop(delta, m, x):
    total = 0.0
    for v in x:
        r = v - m
        a = abs(r)
        total += 0.5 * r * r if a <= delta else delta * (a - 0.5 * delta)
    return total


def activation_loop(x, y):
    total = 0.0
    for i in range(len(x)):
        total += math.tanh(x[i] * y[i] + x[i]) * math.log(1.0 + y[i] * y[i])
    return total


@dataclass(frozen=True)
class Expression:
    name: str
    function: Callable[..., Any]
    loop: Callable[..., Any]
    make: Callable[[int], tuple[Any, ...]]

    def case(self, args: tuple[Any, ...]) -> native.Case:
        """The C case: two numbers, then the arrays."""
        numbers = [a for a in args if not isinstance(a, np.ndarray)] or [0.0, 0.0]
        arrays = [a for a in args if isinstance(a, np.ndarray)]
        inputs = np.concatenate([numbers, *arrays])
        size = sum(np.size(a) for a in args)
        return native.Case(inputs, np.zeros(size), tape=0, n=len(arrays[0]), steps=0)


def with_namespace(function: Callable[..., Any], np: Any) -> Callable[..., Any]:
    """The same function with another module for `np`."""
    return types.FunctionType(function.__code__, {**function.__globals__, "np": np}, function.__name__)


def _normal(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=n)


def sum_of_squares(x):
    return np.sum(x * x)


def clipped(x):
    return np.sum(np.clip(x, -1.0, 1.0))


def variation(x):
    return np.sum(np.abs(x[1:] - x[:-1]))


def variance(x):
    return np.var(x)


def largest(x):
    return np.max(x)


def log_sum_exp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def softplus(x):
    return np.sum(np.log1p(np.exp(x)))


def power(x):
    return np.sum(np.abs(x) ** 1.7)


def cosine(x):
    y = x[::-1] + 1.0
    return np.sum(x * y) / np.sqrt(np.sum(x * x) * np.sum(y * y))


def ordered(x):
    return np.sum(np.sort(x) * x)


EVERYDAY: tuple[Callable[..., Any], ...] = (
    sum_of_squares, clipped, variation, variance, largest, log_sum_exp, softplus, power, cosine, ordered,
)  # fmt: skip

EXPRESSIONS = (
    Expression("gaussian", gaussian, gaussian_loop, lambda n: (0.3, 0.7, _normal(n, 0))),
    Expression("huber", huber, huber_loop, lambda n: (0.8, 0.1, _normal(n, 1))),
    Expression("activation", activation, activation_loop, lambda n: (_normal(n, 2), _normal(n, 3))),
)
