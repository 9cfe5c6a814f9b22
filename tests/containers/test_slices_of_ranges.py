"""A slice of a range is a range, as CPython has it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn

RANGES = [(0, 0, 1), (0, 7, 1), (2, 9, 3), (-3, 8, 2), (8, -5, -3), (3, -1, -1), (5, 1, 2)]
ENDS = [None, 0, 1, -1, 3, -4, 9, -9, 2**63 - 1, -(2**63)]
STEPS = [None, 1, -1, 2, -3, 5, 2**63 - 1, -(2**63) + 1]


def parts(r):
    return r.start, r.stop, r.step, len(r), list(r)


SHAPES = [
    "r[a:]", "r[:b]", "r[a:b]", "r[::s]", "r[a::s]", "r[:b:s]", "r[a:b:s]",
    "r[::-1]", "r[1:]", "r[:-1]", "r[1:-1]", "r[::2]", "r[a::-1]", "r[:b:-2]", "r[::-1][1:]", "r[a:][::s]", "r[2:b][0:3]",
]  # fmt: skip


@pytest.mark.parametrize("text", SHAPES)
@pytest.mark.parametrize("given", ["range(n)", "range(m, n, t)"])
def test_of_numbers_known_at_run_time(text, given):
    f = eval(f"lambda m, n, t, a, b, s: parts({text.replace('r', given, 1)})", {"parts": parts})
    compiled = zyg.jit(f)
    none = [k for k, name in enumerate("abs") if name not in text]
    for (m, n, t), a, b, s in itertools.product(RANGES, ENDS[1:], ENDS[1:], STEPS[1:]):
        keys = [0 if k in none else v for k, v in enumerate((a, b, s))]
        if none and any(v != (ENDS[1], ENDS[1], STEPS[1])[k] for k, v in enumerate((a, b, s)) if k in none):
            continue  # it would be another time the same
        wanted = f(m, n, t, *keys)
        if max(map(abs, wanted[:3])) >= 2**63:
            with pytest.raises(OverflowError):
                compiled(m, n, t, *keys)
        else:
            assert compiled(m, n, t, *keys) == wanted


@pytest.mark.parametrize("ends", RANGES)
def test_of_constants(ends):
    for key in itertools.product(ENDS, ENDS[:6], STEPS[:5]):
        text = ":".join("" if k is None else str(k) for k in key)
        r = f"range{ends}[{text}]"
        if len(eval(r)) > 4 or key[1] not in (None, -1):
            continue
        f = eval(f"lambda x: ({r}.start, {r}.stop, {r}.step, [x + i for i in {r}])")
        assert zyg.jit(f)(1) == f(1)


def backwards(x):
    total = 0.0
    for i in range(len(x))[::-1]:
        total = total * 0.5 + x[i] * x[i]
    return total


def inside(x):
    total = 0.0
    for i in range(len(x))[1:-1]:
        total += x[i - 1] * x[i + 1]
    return total


def in_steps(x):
    total = 0.0
    for k in range(1, 4):
        for i in range(len(x))[k::k]:
            total += k * x[i] ** 2
    return total


@pytest.mark.parametrize("f", [backwards, inside, in_steps])
def test_derivatives_of_loops(f):
    x = np.array([0.5, -1.0, 2.0, 0.25, 1.5, -0.75, 3.0])
    assert zyg.jit(f)(x) == f(x)
    steps = np.eye(len(x)) * 1e-6
    slopes = [(f(x + step) - f(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(zyg.jit(zyg.grad(f))(x), slopes, atol=1e-8)
    np.testing.assert_allclose(zyg.jit(lambda x: zyg.hvp(f, x, x))(x), slopes, atol=1e-8)  # they are quadratic


def test_errors():
    for text, error in [
        ("range(n)[::n - 3]", ValueError),
        ("range(n)[::0]", ValueError),
        ("range(n)[1.5:]", TypeError),
        ("range(n)['a':]", TypeError),
    ]:
        f = eval(f"lambda n: len({text})")
        with pytest.raises(error) as wanted:
            f(3)
        with pytest.raises(error) as found:
            zyg.jit(f)(3)
        assert str(found.value) == str(wanted.value)
