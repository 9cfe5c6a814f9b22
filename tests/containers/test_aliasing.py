"""Some random programs about aliasing; `python -m tests.containers.aliasing` runs more of them."""

import pytest

import zyg
from tests.turns import each_in_turn

from .aliasing import check

pytestmark = each_in_turn


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_random_programs(start):
    refused = 0
    for number in range(start, start + 10):
        try:
            check(number)
        except zyg.Unsupported:
            refused += 1
    assert refused < 4
