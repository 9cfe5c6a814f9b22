"""The nested optimisations of Siskind and Pearlmutter (2008), in all four pairings of modes.

The solutions are known from that paper's programs as they circulate in benchmarks; dual numbers nested in dual numbers,
run by CPython over the same source, give the same.
"""

import importlib.util
import itertools
from pathlib import Path

import pytest

import zyg

from .oracles import dual
from .turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn

PATH = Path(__file__).parent.parent / "docs" / "examples" / "nested_optimisation.py"
SPEC = importlib.util.spec_from_file_location("nested_optimisation", PATH)
assert SPEC is not None and SPEC.loader is not None
example = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(example)

PAIRINGS = [
    pytest.param(outer, inner, id=f"{outer.__name__}-over-{inner.__name__}")
    for outer, inner in itertools.product((example.forward, example.reverse), repeat=2)
]


def by_duals(f, x):
    return dual.gradient(f, x)[0]


@pytest.mark.parametrize(("outer", "inner"), PAIRINGS)
def test_saddle(outer, inner):
    p, q = zyg.jit(lambda: example.saddle(outer, inner))()
    assert p == pytest.approx((8.246324826140356e-06,) * 2, rel=1e-12)
    assert q == pytest.approx((8.246324826140356e-06,) * 2, rel=1e-12)


@pytest.mark.parametrize(("outer", "inner"), PAIRINGS)
def test_particle(outer, inner):
    assert zyg.jit(lambda: example.particle(outer, inner))() == pytest.approx(0.20719187464861194, rel=1e-12)


@each_in_long_turn
def test_saddle_by_duals():
    found = dual.lift(example.saddle)(by_duals, by_duals)
    assert found[0] == found[1] == pytest.approx((8.246324826140356e-06,) * 2, rel=1e-12)


@pytest.mark.parametrize(("outer", "inner"), PAIRINGS)
def test_the_slope_of_the_flight(outer, inner):
    flight = dual.lift(example.flight)
    for w in (0.0, 0.3, -1.5):
        slope = dual.gradient(lambda w: flight(by_duals, w), w)[0]
        found = zyg.jit(lambda w: outer(lambda v: example.flight(inner, v[0]), (w,)))(w)
        assert found == pytest.approx((slope,), rel=1e-11)
