"""Arrays that the forward half of an adjoint leaves for the reverse half live until that has run."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import by_one_python_a_day
from zyg import pipeline
from zyg.ir.core import Function, Module
from zyg.ir.types import Array

A = np.array([0.5, 1.5, 0.7])


def cubes(x, a):
    return x * x * np.sum(a**3)


def weighed(x, a):
    return x * np.sum(np.exp(a) * a) + np.sum(np.where(a > x, a * a, x))


def unowned(function: Function) -> list[str]:
    """What is pushed onto a stack though it is only borrowed, and is not counted for the stack."""
    found = []
    for block in function.blocks:
        counted = [i.operands[0] for i in block.instrs if i.op == "retain"]
        for push in (i for i in block.instrs if i.op == "push"):
            found += [
                str(v)
                for v in push.operands[1:]
                if v in function.params and isinstance(v.type, Array) and v not in counted
            ]
    return found


@by_one_python_a_day
@pytest.mark.parametrize("f", [cubes, weighed])
@pytest.mark.parametrize("derivative", [zyg.hessian, zyg.jacobian], ids=["hessian", "jacobian"])
def test_borrowed_arrays_are_counted_where_they_are_pushed(f, derivative, monkeypatch):
    """Also by derivatives of the functions that loops over elements are: an array was freed and then written to (heap corruption)."""
    owned: list[Module] = []

    def own(request, inferred, run=pipeline.own):
        owned.append(run(request, inferred).module)
        return inferred

    stages = [(name, own if name == "owned" else run) for name, run in pipeline.STAGES]
    monkeypatch.setattr(pipeline, "STAGES", stages)
    value, back = zyg.pullback(lambda x, a: derivative(f, x, a, argnums=(0, 1)), 0.7, A)
    ones = tuple(tuple(np.ones_like(b) for b in row) for row in value) if derivative is zyg.hessian else value
    back(ones)
    assert owned and not [p for module in owned for f in module.functions.values() for p in unowned(f)]
