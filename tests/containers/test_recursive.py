"""Some random recursive programs over objects; `python -m tests.containers.recursive` runs more of them."""

import zyg

from ..turns import each_in_turn
from .recursive import check


@each_in_turn
def test_random_programs():
    refused = 0
    for number in range(8):
        try:
            check(number)
        except zyg.Unsupported:
            refused += 1
    assert refused < 4
