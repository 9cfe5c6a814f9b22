"""Machine code against the interpreter on random functions, as generated and after the optimiser."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ir.generate import Generator
from tests.ir.test_passes_random import arguments, bits, outcome
from tests.turns import each_in_turn
from zyg.ir.core import Module
from zyg.ir.passes import optimise
from zyg.ir.types import BOOL, F64, I64, Array, Tuple

from .native import native

pytestmark = each_in_turn

ARRAY = Array(F64, 1)


def machine_outcome(module: Module, given):
    """As `outcome` of the interpreter, by machine code."""
    function = native(module, (F64, F64, I64, BOOL, ARRAY, ARRAY), Tuple((F64, I64, ARRAY)), entry="main")
    given = copy.deepcopy(given)
    try:
        results = function(*given)
    except (ArithmeticError, ValueError, IndexError, RuntimeError) as error:
        return type(error), str(error)
    return [bits(v) for v in results], [bits(v) for v in given if isinstance(v, np.ndarray)]


def check(seed: int, optimised: bool) -> None:
    module = Generator(seed).make()
    given = arguments(seed)
    expected = outcome(module, given)
    if expected == "endless":
        return
    if optimised:
        optimise(module)
        optimise(module, "ownership")
        expected = outcome(module, given)  # an overflow check may have died with its value
    assert machine_outcome(module, given) == expected, seed


@pytest.mark.parametrize("optimised", [False, True], ids=["raw", "optimised"])
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_random_functions(optimised, seed):
    check(seed, optimised)
