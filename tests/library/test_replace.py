"""dataclasses.replace natively."""

import sys
import warnings
from dataclasses import InitVar, dataclass, field, replace
from typing import Any

import numpy as np
import pytest

import zyg

from ..turns import each_in_turn


@dataclass(frozen=True)
class State:
    q: Any
    p: Any
    steps: int = 0


@dataclass
class Scaled:
    x: float
    factor: InitVar[float] = 2.0
    y: float = field(init=False)

    def __post_init__(self, factor):
        self.y = self.x * factor


def leapfrog(q, p):
    s = State(q, p)
    for _ in range(3):
        s = replace(s, p=s.p - 0.05 * np.sin(s.q))
        s = replace(s, q=s.q + 0.1 * s.p, steps=s.steps + 1)
    return np.sum(s.q * s.p) * s.steps


@each_in_turn
def test_values_and_derivatives():
    q, p = np.array([0.3, -1.2]), np.array([1.0, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert zyg.jit(leapfrog)(q, p) == pytest.approx(leapfrog(q, p), rel=1e-14)
        gradient = zyg.gradient(leapfrog, q, p)
    for k, d in enumerate(np.eye(4) * 1e-6):
        up, down = leapfrog(q + d[:2], p + d[2:]), leapfrog(q - d[:2], p - d[2:])
        assert np.concatenate(gradient)[k] == pytest.approx((up - down) / 2e-6, rel=1e-7)


def test_made_by_the_class():
    made = zyg.jit(lambda x: replace(Scaled(x), x=x * 3.0))(1.5)
    assert (made.x, made.y) == (4.5, 9.0)
    error = TypeError if sys.version_info >= (3, 13) else ValueError
    with pytest.raises(error, match="declared with init=False"):
        zyg.jit(lambda x: replace(Scaled(x), y=x).y)(1.0)
    with pytest.raises(TypeError, match="dataclass instances"):
        zyg.jit(lambda x: replace(x, y=x))(1.0)
