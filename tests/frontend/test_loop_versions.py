"""Loops whose variables are Python's numbers in the first rounds and NumPy's in the others: each kind has a loop of its own."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

import zyg

from ..turns import each_in_long_turn, each_in_turn
from .number_joins import alike

pytestmark = pytest.mark.filterwarnings("ignore")

# What each leaves in `r` is of a kind that hangs on how often the loops ran; @ is the number that it begins with.
LOOPS = {
    "sum": "r = @\nfor v in a:\n    r += v",
    "indices": "r = @\nfor i in range(len(a)):\n    r = r + a[i] * a[i]",
    "while": "r = @\ni = 0\nwhile i < len(a):\n    r += a[i]\n    i += 1",
    "break": "r = @\nfor v in a:\n    if v > 2:\n        break\n    r += v",
    "break behind": "r = @\nfor v in a:\n    r += v\n    if r > 2:\n        break",
    "else": "r = @\nfor v in a:\n    if v > 4:\n        break\n    r += v\nelse:\n    r = r + 1",
    "continue": "r = @\nfor v in a:\n    if v < 2:\n        continue\n    r += v",
    "largest": "r = @\nfor v in a:\n    if v > r:\n        r = v",
    "range": "lo = hi = @\nfor v in a:\n    if v > hi:\n        hi = v\n    if v < lo:\n        lo = v\nr = (lo, hi)",
    "last": "r = @\nfor v in a:\n    r = v",
    "alternating": "r = @\nfor v in a:\n    r = v if v > r else @",
    "starting anew": "r = @\nfor v in a:\n    r += v\n    if r > 4:\n        r = @",
    "two in turn": "p, q = @, @\nfor v in a:\n    p, q = q, p + v\nr = (p, q)",
    "three in turn": "p, q, s = @, @, @\nfor v in a:\n    p, q, s = q, s, p + v\nr = (p, q, s)",
    "both ways": "r = @\nfor v in a:\n    if v > 2:\n        r = r + v\n    else:\n        r = 7",
    "nested": "r = @\nfor i in range(len(a)):\n    for j in range(i):\n        r += a[j]",
    "rows": "r = []\nfor i in range(len(a)):\n    s = @\n    for j in range(i):\n        s += a[j] * a[i]\n    r.append(s + a[0])",
    "nested while": "r = @\nk = 0\nwhile k < len(a):\n    j = 0\n    while j < k:\n        r += a[j]\n        j += 1\n    k += 1",
    "break out of both": "r = @\nfor i in range(len(a)):\n    for v in a:\n        if v + i > 4:\n            break\n        r += v\n    if r > 10:\n        break",
    "unrolled": "r = @\nfor k in (1, 2):\n    for v in a:\n        r = r + k * v",
    "perhaps None": "r = None\ns = 0\nfor v in a:\n    if v > 2:\n        r = v\n    s += v\nr = (0 if r is None else r, s)",
    "recurrence": "r = @\nfor v in a:\n    r = r * a[0] - v",
    "function": "def g(s, v):\n    return s + v if v > 1 else s\nr = 0\nfor v in a:\n    r = g(r, v)",
    "inner function": "def g(n):\n    s = @\n    for v in a[:n]:\n        s += v\n    return s\nr = 0\nfor i in range(len(a)):\n    r += g(i)",
    "generator": "def g():\n    s = @\n    for v in a:\n        s += v\n        yield s\nr = 0\nfor v in g():\n    r = v - r",
    "arrays": "r = @\nfor v in a:\n    r = r + v * a",
    "array in place": "r = @\nb = a + 1\nfor v in a:\n    r += b\n    b = b - v\nr = (r, b)",
    "some arrays": "r = @\nfor v in a:\n    if v > 1:\n        r = r * v + a",
    "rows of arrays": "r = []\nfor i in range(len(a)):\n    s = @\n    for j in range(i):\n        s = s + a[j] * a\n    r.append(float(np.max(s)))",
    "dimensions": "r = @\nfor v in a:\n    r = v + r if v < 3 else r + a\nr = float(np.max(r))",
    "tuple": "t = (@, @)\nfor v in a:\n    t = (t[1], t[0] + v)\nr = t",
}  # fmt: skip


def program(loop: str, start: str = "0") -> Any:
    return function(LOOPS[loop].replace("@", start), "r")


def function(body: str, result: str) -> Any:
    namespace: dict[str, Any] = {"np": np}
    exec(f"def f(a):\n{textwrap.indent(body, '    ')}\n    return {result}", namespace)
    return namespace["f"]


@each_in_long_turn
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("start", ["0", "1", "0.5"])
def test_as_in_cpython(loop: str, start: str) -> None:
    f = program(loop, start)
    native = zyg.jit(f)
    for dtype in ("float32", "int32", "uint8", "int64", "float64"):
        for values in ([], [1], [5], [1, 2], [3, 1, 2], [1, 2, 1, 5, 3, 2]):
            a = np.array(values, dtype)
            if loop == "both ways" and start == "0.5" and dtype in ("int32", "uint8"):
                with pytest.raises(zyg.Unsupported, match="of a number that is float on one path and int"):
                    native(a)  # 7 + v is of a smaller type than 0.5 + v
                continue
            wanted, found = f(a), native(a)
            assert alike(found, wanted), (dtype, values, wanted, found)


DIFFERENTIABLE = sorted(
    LOOPS.keys()
    - {
        "range",
        "two in turn",
        "three in turn",
        "perhaps None",
        "tuple",
        "rows",
        "generator",
        "arrays",
        "array in place",
        "some arrays",
        "rows of arrays",
    }
)


@each_in_turn
@pytest.mark.parametrize("loop", DIFFERENTIABLE)
def test_derivatives(loop: str) -> None:
    """Those of the same program for float64, of values that float32 holds exactly."""
    f = program(loop)
    native = zyg.jit(lambda x: zyg.withgradient(f, x))
    for values in ([], [1], [5], [1, 2], [3, 1, 2], [1, 2, 1, 5, 3, 2]):
        a = np.array(values, "float32")
        value, (slope,) = native(a)
        assert alike(value, f(a))
        step = 1e-6
        for n in range(len(a)):
            up, down = np.array(values, float), np.array(values, float)
            up[n] += step
            down[n] -= step
            # (at a kink one side is taken, by what is compared; both sides are those of exact programs)
            sides = [(f(up) - f(np.array(values, float))) / step, (f(np.array(values, float)) - f(down)) / step]
            assert min(abs(slope[n] - s) for s in sides) < 1e-3 * (1 + abs(slope[n])), (values, n, slope, sides)


@pytest.mark.parametrize("loop", ["sum", "indices", "while", "break", "continue", "largest", "nested", "rows"])
def test_no_loop_tells_kinds_apart(loop: str) -> None:
    """In every block that is in a loop the numbers that it carries are of one type: there is no choice by number."""
    f = zyg.code_typed(program(loop), np.zeros(3, np.float32))
    assert "undefined" not in str(f) and "select" not in str(f)


@each_in_turn
def test_versions_do_not_multiply() -> None:
    """Sixteen variables, each of either kind in each round, are not 65536 loops."""
    names = [f"v{n}" for n in range(16)]
    lines = [f"{' = '.join(names)} = 0", "for i in range(len(a)):"]
    lines += [f"    if a[i] > {n}:\n        {name} = a[i]" for n, name in enumerate(names)]
    f = function("\n".join(lines), f"({', '.join(names)})")
    a = np.array([3, 9, 1], np.float32)
    assert alike(zyg.jit(f)(a), f(a))
    assert len(str(zyg.code_typed(f, a)).splitlines()) < 3000
