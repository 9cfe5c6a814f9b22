"""Lengths of arrays that loops carry round, and of those that come on one of several ways (frontend/carried.py): of programs that are
generated, in which they stay, change, become 1, were 1, and in which variables share memory.  The oracle is NumPy, and for derivatives
central differences of what NumPy computes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import zyg

from ..turns import EVERY_TURN, by_one_python_a_day, each_in_long_turn, each_in_turn

pytestmark = pytest.mark.filterwarnings(
    "ignore:::numpy", "ignore:Mean of empty slice", "ignore:invalid value", "ignore:overflow"
)

COUNT = 240 if EVERY_TURN else 24

ROWS = ("u", "v", "w")
MATRICES = ("m", "x")


def row(rng: random.Random) -> str:
    a, b, c = (rng.choice(ROWS) for _ in range(3))
    return rng.choice((
        f"{a} = {b} + {c}", f"{a} = np.sin({a}) * {b}", f"{a} = {b} - {c} * 0.5", f"{a} = {b}", f"{a} = {b}[::-1]",
        f"{a} = {a}[:-1] + {a}[1:]", f"{a} = {b}[1:]", f"{a} = {b}[:2]", f"{a} = {b}[:1]", f"{a} = {a}[::2]",
        f"{a} = np.concatenate([{b}, {c}])[:5]", f"{a}, {b} = {b}, {a}", f"{a} += {b}", f"{a}[1:] += {b}[:-1]",
        f"{a}[:2] *= {b}[:2]", f"{a} = np.zeros(len({b})) + {c}", f"{a} = np.ones(3)", f"{a} = np.zeros_like({a}) + {b}.mean()",
        f"{a} = {rng.choice(MATRICES)}.sum(axis={rng.choice((0, 1))})", f"{a} = np.diag({rng.choice(MATRICES)})",
        f"{a} = {b}[np.argsort({b})]", f"{a} = {b}[{b} > 0.1]", f"{a} = np.cumsum({b})", f"{a} = np.arange({b}.size) * 0.1 + {c}",
    ))  # fmt: skip


def matrix(rng: random.Random) -> str:
    a, b, r = rng.choice(MATRICES), rng.choice(MATRICES), rng.choice(ROWS)
    return rng.choice((
        f"{a} = {a} + {b}", f"{a} = np.tanh({a}) * {b}", f"{a} = {b}.T", f"{a} = {b}[:, :1]", f"{a} = {b}[:1]", f"{a} = {b} * {r}",
        f"{a} = {b} / (1 + {b}.sum(axis=1, keepdims=True) ** 2)", f"{a} = {b} @ {b}.T * 0.1", f"{a} += {r}", f"{a}[1:] += {b}[:-1]",
        f"{a} = np.outer({r}, {rng.choice(ROWS)})[:4]", f"{a} = {b}", f"{a} = {r}[:, None] - {b}", f"{a} = np.concatenate([{a}, {b}])[:5]",
        f"{a} = {b} - np.diag({b})", f"{a} = {a} * {b}[:, :1]", f"{a} = {a} - {b}[0]",
    ))  # fmt: skip


def block(rng: random.Random, depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(rng.randrange(2, 5)):
        kind = rng.random()
        if kind < 0.12 and depth:
            lines += [
                f"for {'ijk'[depth]} in range({rng.choice(('n', '2', 'len(u)'))}):",
                *indented(block(rng, depth - 1)),
            ]
        elif kind < 0.3:
            condition = rng.choice(("u.sum() > v.sum()", "len(u) > 2", "m.shape[0] == 1", "n % 2 == 0"))
            lines += [f"if {condition}:", *indented([statement(rng)]), "else:", *indented([statement(rng)])]
        else:
            lines.append(statement(rng))
    return lines


def statement(rng: random.Random) -> str:
    return row(rng) if rng.random() < 0.6 else matrix(rng)


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def generated(rng: random.Random) -> str:
    begin = ["u, v, w = a.copy(), a[1:], b * 1.0", "m, x = c.copy(), np.outer(a, b)"]
    body = ["for i in range(n):", *indented(block(rng, 2)), *block(rng, 0)]
    return "\n".join(["def f(a, b, c, n):", *indented([*begin, *body, "return u + 0, v + 0, w + 0, m + 0, x + 0"])])


def arguments(rng: random.Random) -> list[Any]:
    size = rng.choice((1, 2, 3, 4, 4))
    lengths = size, rng.choice((size, size, 1)), rng.choice((size, 1)), size
    a, b = (np.sin(1.0 + np.arange(float(k))) + 0.3 for k in lengths[:2])
    return [a, b, np.cos(np.arange(float(lengths[2] * size))).reshape(lengths[2], size), rng.choice((0, 1, 2, 3))]


def compiled(text: str) -> Any:
    space: dict[str, Any] = {"np": np}
    exec(text, space)
    return space["f"]


def outcome(f: Any, given: list[Any]) -> Any:
    copies = [v.copy() if isinstance(v, np.ndarray) else v for v in given]
    try:
        with np.errstate(all="ignore"):
            return f(*copies)
    except (ValueError, IndexError, ZeroDivisionError) as error:
        return type(error)


@pytest.mark.parametrize("seed", range(COUNT))
@each_in_long_turn
def test_values(seed):
    rng = random.Random(seed)
    text = generated(rng)
    f = compiled(text)
    native = zyg.jit(f)
    for _ in range(4):
        given = arguments(rng)
        expected, found = outcome(f, given), outcome(native, given)
        if isinstance(expected, type) or isinstance(found, type):
            assert found is expected, (text, given)
            continue
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12, err_msg=text)


@pytest.mark.parametrize("seed", range(1000, 1000 + COUNT // 2))
@each_in_turn
def test_gradients(seed):
    rng = random.Random(seed)
    text = generated(rng) + "\n\ndef total(a, b, c, n):\n    return sum([np.sin(v).sum() for v in f(a, b, c, n)])"
    space: dict[str, Any] = {"np": np}
    exec(text, space)
    total = space["total"]
    given = arguments(rng)
    value = outcome(total, given)
    if isinstance(value, type) or not np.isfinite(value):
        return
    gradient = zyg.gradient(total, *[v.copy() if isinstance(v, np.ndarray) else v for v in given])
    for k in range(3):
        expected = np.zeros_like(given[k])
        for at in np.ndindex(expected.shape):
            sides = []
            for h in (1e-6, 0.0, -1e-6):
                moved = [v.copy() if isinstance(v, np.ndarray) else v for v in given]
                moved[k][at] += h
                sides.append(total(*moved))
            if abs(sides[0] + sides[2] - 2 * sides[1]) > 1e-9 * (1 + abs(sides[1])):
                return  # a kink: elements that are sorted are equal, say
            expected[at] = (sides[0] - sides[2]) / 2e-6
        found = np.zeros_like(expected) if gradient[k] is None else gradient[k]
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * (1 + np.abs(expected).max()), err_msg=text)


def text_of(f: Any, *args: Any) -> str:
    return str(zyg.code_typed(f, *args))


def test_what_a_loop_carries_is_as_long_as_in_front_of_it():
    def f(x, n):
        y = x.copy()
        for _ in range(n):
            y = y + 0.1 * x
        return y

    x = np.ones((3, 2))
    assert "broadcast" not in text_of(f, x, 4)
    np.testing.assert_allclose(zyg.jit(f)(x, 4), f(x, 4))


def test_a_row_that_becomes_longer_in_the_loop_is_of_any_length():
    def f(x, n):
        y = x[:1]
        for _ in range(n):
            y = np.concatenate([y, x]) * y
        return y

    x = np.arange(1.0, 4.0)
    for n in range(2):
        np.testing.assert_allclose(zyg.jit(f)(x, n), f(x, n))
    with pytest.raises(ValueError, match="could not be broadcast"):
        zyg.jit(f)(x, 2)


def test_what_an_iteration_makes_shares_no_memory_with_what_it_was_given():
    def f(u, n):
        for _ in range(n):
            step = -2.0 * u
            step[1:] += u[:-1]
            u = u + 0.1 * step
        return u

    u = np.arange(1.0, 6.0)
    assert "overlap" not in text_of(f, u, 3)
    np.testing.assert_allclose(zyg.jit(f)(u, 3), f(u, 3))


def test_what_an_earlier_iteration_was_given_may_share_memory():
    def f(u, n):
        step = np.zeros(5)
        for _ in range(n):
            step[1:] += u[:-1]
            u = step
        return u

    def g(u, n):
        for k in range(n):
            step = np.ones(5)
            other = step if k % 2 else u
            step[1:] += other[:-1]
            u = step
        return u

    u = np.arange(1.0, 6.0)
    for h in (f, g):
        for n in range(5):
            np.testing.assert_allclose(zyg.jit(h)(u, n), h(u, n))


def test_what_is_known_of_lengths_settles():
    def repeated(x, n):
        for _ in range(n):
            yield x

    def f(a, n):
        m = np.outer(a, a)
        w = a * 1.0
        for i in range(n):
            for _ in repeated(w, n):
                if i > 0:
                    w = np.concatenate([a, w[::2]])[:4]
            for _ in range(n):
                m = m[:, :2]
        return m, w

    for size in (1, 3):
        a = np.arange(1.0, 1.0 + size)
        for x, y in zip(zyg.jit(f)(a, 3), f(a, 3), strict=True):
            np.testing.assert_allclose(x, y)


@by_one_python_a_day
def test_many_variables_that_take_over_each_others_arrays():
    """Each round of the evaluation finds out about the length of one more."""
    names = [f"x{k}" for k in range(45)]
    first, *others = names
    text = f"""
def f(x, n):
    {", ".join(others)} = {", ".join(["x"] * len(others))}
    {first} = x[1:]
    for _ in range(n):
        {", ".join(names)} = {", ".join([*others, first])}
    return {", ".join([f"{name} + 1.0" for name in names])}
"""
    f = compiled(text)
    x = np.arange(1.0, 5.0)
    for n in (0, 1, 2, 44, 45):
        for found, expected in zip(zyg.jit(f)(x, n), f(x, n), strict=True):
            np.testing.assert_allclose(found, expected)


def test_what_a_loop_leaves_may_be_what_was_there_before_it():
    def f(u, w, n):
        u = u * 1.0
        before = u
        w = w * 1.0
        for _ in range(n):
            u = np.zeros(len(u))
        before += w
        return u * 1.0, w * 1.0

    u, w = np.arange(1.0, 5.0), np.full(4, 0.5)
    for n in range(3):
        for found, expected in zip(zyg.jit(f)(u, w, n), f(u, w, n), strict=True):
            np.testing.assert_allclose(found, expected)
