"""What is asked of text that is one of several constants."""

import pytest

import zyg


def length(x):
    s = "a" if x > 1 else "bb"
    return x * len(s)


@pytest.mark.parametrize("x", [0.5, 1.5])
def test_length_of_a_choice(x):
    assert zyg.jit(length)(x) == length(x)
    assert zyg.gradient(length, x) == (len("a" if x > 1 else "bb"),)
