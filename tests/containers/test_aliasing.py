"""Some random programs about aliasing; `python -m tests.containers.aliasing` runs more of them."""

import pytest

import zyg
from tests.turns import one_of_three

from .aliasing import check

pytestmark = one_of_three(0)


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_random_programs(start):
    refused = 0
    for number in range(start, start + 10):
        try:
            check(number)
        except zyg.Unsupported:
            refused += 1
    assert refused < 4
