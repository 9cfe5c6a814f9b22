"""A small part of `python -m tests.aliases`: one thing by several names, by every transform."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.aliases.check import check
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]


@each_in_long_turn
@pytest.mark.parametrize("start", range(0, 18, 3))
def test_no_wrong_number(start):
    wrong: list[str] = []
    count = check(range(start, start + 3), wrong.append)
    assert not wrong, "\n".join(wrong)
    assert count["ok"] + count["refused"] + count["by the object"] >= 16


def _copied(a, v, n):
    if n:
        np.copyto(v, a)
        _copied(a, v, n - 1)


def _shifted(a, v, n):
    if n:
        v[1:] = a[:-1]
        _shifted(a, v, n - 1)


def _summed(a, v, n):
    if n == 0:
        return np.dot(a, v)
    v += np.sin(a)
    return _summed(a, v, n - 1) + (a * a).sum()


@pytest.mark.parametrize("recurse", [_copied, _shifted, _summed])
@pytest.mark.parametrize("view", [lambda a: a, lambda a: a[::-1], lambda a: a.reshape(2, 2).reshape(4)])
def test_one_array_under_two_names_of_a_recursive_function(recurse, view):
    def f(x):
        a = np.array([x, 0.5 * x, 1.2 * x, 0.7])
        v = view(a)
        recurse(a, v, 2)
        return (a * a).sum() + v[0] * v[1]

    slope = pytest.approx((f(1.1 + 1e-6) - f(1.1 - 1e-6)) / 2e-6, rel=1e-6)
    assert zyg.gradient(f, 1.1) == (slope,)
    assert zyg.jvp(f, (1.1,), (1.0,))[1] == slope
    with pytest.raises(ValueError, match="recursive function"):  # (which compiled code keeps)
        zyg.jit(zyg.grad(f))(1.1)


def test_halves_of_an_array_in_a_recursive_function():
    def f(x):
        a = np.array([x, 0.5 * x, 1.2 * x, 0.7])
        return _summed(a[:2], a[2:], 2)

    slope = (f(1.1 + 1e-6) - f(1.1 - 1e-6)) / 2e-6
    assert zyg.jit(zyg.grad(f))(1.1) == pytest.approx(slope, rel=1e-6)
