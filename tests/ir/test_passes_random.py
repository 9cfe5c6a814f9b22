"""Every pass and the pipelines on random functions: the verifier is content, the interpreter sees no difference."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.turns import each_in_long_turn, each_in_turn
from zyg.ir.core import Module
from zyg.ir.interpret import StepLimit, run
from zyg.ir.parsing import parse_module
from zyg.ir.passes import (
    CLEAN,
    FULL,
    cse,
    dce,
    fold,
    guards,
    inline,
    licm,
    loop_simplify,
    mem2reg,
    optimise,
    ranges,
    simplify_cfg,
    stacks,
)
from zyg.ir.text import format_module
from zyg.ir.verify import verify

from .generate import Generator

pytestmark = each_in_turn

LIMIT = 200_000


def bits(value):
    """Equal for results that are the same, nan and the sign of zero included."""
    if isinstance(value, np.ndarray):
        return tuple(bits(float(x)) for x in value.ravel())
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value.hex()
    return value


def outcome(module: Module, arguments, **options):
    """What a call gives: results and what became of the arrays; or the exception."""
    arguments = copy.deepcopy(arguments)
    try:
        results = run(module, *arguments, entry="main", limit=LIMIT, **options)
    except StepLimit:
        return "endless"
    except (ArithmeticError, ValueError, IndexError, RuntimeError) as error:
        return type(error), str(error)
    return [bits(v) for v in results], [bits(v) for v in arguments if isinstance(v, np.ndarray)]


def arguments(seed: int):
    random = np.random.default_rng(seed)
    x, y = random.choice([0.0, -0.0, 1.0, -1.5, 0.3, 7.0, math.inf, math.nan, 1e300], 2)
    n = int(random.integers(-3, 5))
    arrays = [random.normal(size=int(random.integers(0, 5))) for _ in range(2)]
    return [float(x), float(y), n, bool(random.integers(2)), *arrays]


def check(seed: int, transform, **options) -> None:
    module = Generator(seed).make()
    verify(module)
    before = format_module(module)
    expected = [outcome(module, arguments(seed + n)) for n in range(4)]
    changed = transform(module)
    verify(module)
    after = format_module(module)
    if changed is False:
        assert before == after, "the pass says that it changed nothing"
    for n in range(4):
        got = outcome(module, arguments(seed + n), **options)
        if expected[n] != got and "endless" not in (expected[n], got):
            if expected[n][0] is OverflowError:
                continue  # overflow checks may die with their values
            raise AssertionError(f"{expected[n]} became {got}\n\n{before}\n\n--- became ---\n\n{after}")


def each_function(run_pass):
    def transform(module: Module) -> bool:
        return any([run_pass(f) for f in module.functions.values()])  # noqa: C419 (all of them)

    return transform


def after_loop_simplify(*passes):
    def transform(module: Module) -> None:
        for f in module.functions.values():
            loop_simplify.run(f)
            for run_pass in passes:
                run_pass(f)

    return transform


TRANSFORMS = {
    "simplify_cfg": each_function(simplify_cfg.run),
    "fold": each_function(fold.run),
    "cse": each_function(cse.run),
    "dce": each_function(dce.run),
    "loop_simplify": each_function(loop_simplify.run),
    "merge_returns": each_function(loop_simplify.merge_returns),
    "licm": after_loop_simplify(licm.run),
    "guards": after_loop_simplify(licm.run, guards.run),
    "mem2reg": each_function(mem2reg.run),
    "ranges": each_function(ranges.run),
    "stacks": each_function(stacks.run),
    "inline": lambda module: inline.run(module),
}


@each_in_long_turn
@pytest.mark.parametrize("name", TRANSFORMS)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_pass(name, seed):
    check(seed, TRANSFORMS[name])


def pipelines(*levels):
    def transform(module: Module) -> None:
        for level in levels:
            optimise(module, level, verify=True)

    return transform


PIPELINES = {"clean": pipelines("clean"), "full": pipelines("full"), "both": pipelines("clean", "full")}


@pytest.mark.parametrize("name", PIPELINES)
@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_pipeline(name, seed):
    """The verifier runs after each pass."""
    check(seed, PIPELINES[name])


@pytest.mark.parametrize("levels", [("ownership",), ("clean", "full", "ownership")])
@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_ownership(levels, seed):
    """Arrays are released neither too early nor too late, and all of them are."""
    check(seed, pipelines(*levels), check_ownership=True)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_round_trip(seed):
    module = Generator(seed).make()
    text = format_module(module)
    again = parse_module(text)
    assert format_module(again) == text
    verify(again)


def test_pipelines_give_reasons():
    for entry in CLEAN + FULL:
        assert entry.why
