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


def test_a_character_at_a_place_found_when_the_code_runs():
    def f(x, n):
        return x * 3.0 if "abc"[n] == "b" else x

    g = zyg.jit(f)
    assert [g(1.5, n) for n in (0, 1, -1, -2)] == [f(1.5, n) for n in (0, 1, -1, -2)]
    with pytest.raises(IndexError, match="string index out of range"):
        g(1.5, 3)
