"""Classes that override what compiled code does itself are refused, not passed over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import pytest

import zyg


@dataclass
class Scaled:
    x: float

    def __setattr__(self, name, value):
        object.__setattr__(self, name, 2 * value)


class Reversed(NamedTuple):
    x: float
    y: float

    def __getitem__(self, index):
        return (self.y, self.x)[index]


@dataclass(frozen=True)
class Plain:
    x: float


@pytest.mark.parametrize("function", [lambda x: Scaled(x).x, lambda x: Reversed(x, 1.0)[0]])
def test_made_inside(function):
    with pytest.raises(zyg.Unsupported, match="does not follow"):
        zyg.jit(function)(1.5)


@pytest.mark.parametrize("value", [Scaled(1.0), Reversed(1.0, 2.0)])
def test_passed_in(value):
    with pytest.raises(TypeError, match="does not follow"):
        zyg.jit(lambda p: p.x)(value)


def test_what_dataclass_itself_writes_is_fine():
    assert zyg.jit(lambda x: Plain(x).x)(1.5) == zyg.jit(lambda p: p.x)(Plain(1.5)) == 1.5
