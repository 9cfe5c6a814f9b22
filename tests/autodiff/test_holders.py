"""Shadows of the attributes of objects of classes that a function makes anew each time it is called."""

from __future__ import annotations

import pytest

from tests.oracles import differences
from zyg.autodiff.objects import holders
from zyg.autodiff.objects.api import pullback


def program(x, names):
    class A:
        def __init__(self, v):
            self.v = v

    a, b = A(x), A(x * x)
    for name in names:  # further attributes, which only some instances have
        setattr(a, name, a.v * x)
        b.v = b.v + getattr(a, name)
    if names:
        delattr(a, names[-1])
        setattr(a, names[-1], b.v)
        b.v = b.v * getattr(a, names[-1])
    return a.v * b.v


def test_classes_that_are_made_anew():
    for names in ((), ("p",), (), ("q", "p"), ("p",), ("not a name", "q"), ()):
        f = lambda x, names=names: program(x, names)
        for x in (0.7, 1.2):
            y, back = pullback(f, (x,))
            assert y == f(x)
            for _ in range(2):
                assert back(1.0)[0] == pytest.approx(differences.derivative(f, x), rel=1e-8)


def test_holders_of_classes_that_are_alike_are_of_one_class():
    program_of_one = lambda x: program(x, ("p",))
    for _ in range(3):
        pullback(program_of_one, (1.0,))[1](1.0)
    made = len(holders._made)
    for _ in range(20):
        pullback(program_of_one, (1.0,))[1](1.0)
    assert len(holders._made) == made
