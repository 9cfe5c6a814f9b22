"""Which components of arrays are passed: whatever is asked of a view, and nothing, LLVM reads what is written."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.backend.llvm.engine import engine
from zyg.backend.llvm.lower import lower
from zyg.backend.llvm.lowered import no_variants
from zyg.ir.parsing import parse_module

PROGRAM = """
func @main(%a: array<f64, {ndim}, {layout}>, %k: i64) -> i64 {{
entry:
  %x = call %a, %k {{callee="f"}} : i64
  return %x
}}
func @f(%a: array<f64, {ndim}, {layout}>, %k: i64) -> i64 {{
entry:
  %b = view %a{operands} {{spec="{spec}"}} : array<f64, {left}, A>
  {use}
  return %r
}}
"""


def uses(ndim, left):
    yield "%r = add %k, 1 : i64"
    yield f"%r = stride %a {{axis={ndim - 1}}} : i64"
    for axis in {0, left - 1}:
        yield f"%r = dim %b {{axis={axis}}} : i64"
        yield f"%r = stride %b {{axis={axis}}} : i64"


@each_in_turn
@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("layout", "CA")
def test_views_of_which_little_is_used(ndim, layout):
    for letters in map("".join, itertools.product(":is", repeat=ndim)):
        operands = "".join({":": "", "i": ", %k", "s": ", %k, %k, 1"}[c] for c in letters)
        for spec in (letters, letters + "n", "n" + letters):
            left = len(spec) - spec.count("i")
            for use in uses(ndim, left) if left else ():
                text = PROGRAM.format(ndim=ndim, layout=layout, operands=operands, spec=spec, left=left, use=use)
                lowered = lower(parse_module(text), "main", no_variants)
                engine().worker.parse(lowered.text).close()


def test_an_array_of_which_only_the_strides_are_used():
    def f(m):
        b = m.T / m
        c = b.T / b
        return np.sum(c.T / c)

    m = np.array([[1.0, 2.0], [3.0, 5.0]])
    by_complex_steps = [[f(m + 1e-30j * unit).imag / 1e-30 for unit in row] for row in np.eye(4).reshape(2, 2, 2, 2)]
    np.testing.assert_allclose(zyg.grad(f)(m), by_complex_steps, rtol=1e-12)
