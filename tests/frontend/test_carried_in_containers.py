"""Arrays that loops carry round in lists, dicts, objects, tuples and closures, that functions hand on, and that share memory: of programs
that are generated.  What is known of their lengths (frontend/carried.py), and of which of them lie apart (`arrays.separate`), is held against
NumPy: its values, its errors, and what it leaves in the arguments."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import zyg

from ..turns import EVERY_TURN, each_in_turn

pytestmark = pytest.mark.filterwarnings("ignore:::numpy", "ignore:invalid value", "ignore:overflow")

COUNT = 240 if EVERY_TURN else 24


class Pair:
    def __init__(self, p, q):
        self.p = p
        self.q = q

    def swap(self):
        self.p, self.q = self.q, self.p

    def step(self):
        for _ in range(2):
            old = self.p
            self.p = self.q
            self.q = old * 0.5
            self.p[1:] += old[:-1]


def half(x):
    if len(x) > 2:
        return x[:2]
    return x * 1.0


def either(x, y, k):
    if k == 0:
        return x
    if k == 1:
        return y
    return x + y


def same(x, y):
    r = x[1:] * 1.0
    for _ in range(2):
        r = r + x[1:]
    return r, x[1:] + y[:1]


def perhaps(x, k):
    r = None
    for _ in range(k):
        r = x if r is None else r[1:] + x[:1]
    return x[:1] if r is None else r


def deep(x, n):
    if n <= 0:
        return x
    y = deep(x, n - 1)
    if n % 2:
        y[1:] += x[:-1]
    return np.concatenate([y, x[:1]])[:4]


def shortened(x, n):
    for k in range(n):
        yield x
        x = x[1:] if k else x + 1.0


def mixed(x, y):
    r = o = x * 1.0
    for k in range(2):
        o[1:] += y[:-1] * 0.5
        o = r if k else y * 1.0
        y = r
    return o


SPACE = {f.__name__: f for f in (Pair, half, either, same, perhaps, deep, shortened, mixed)}

# By kind of what holds arrays: how it begins, where an array is found in it, and what is done to it.
HOLDERS: dict[str, tuple[list[str], list[str], list[str]]] = {
    "list": (
        ["L = [u, v * 1.0]"], ["L[0]", "L[-1]"],
        ["L[{i}] = {new}", "L = [{row}, {row}]", "L = L[::-1]", "L[0], L[1] = L[1], L[0]", "L = [q + {row} for q in L]"],
    ),
    "dict": (
        ["d = {'a': u, 'b': w}"], ["d['a']", "d['b']"],
        ["d['a'] = {new}", "d = {{'a': {row}, 'b': {row}}}", "d['a'], d['b'] = d['b'], d['a']"],
    ),
    "object": (["o = Pair(u, v)"], ["o.p", "o.q"], ["o.p = {new}", "o = Pair({row}, {row})", "o.swap()", "o.step()"]),
    "tuple": (["t = (w, u)"], ["t[0]", "t[1]"], ["t = ({row}, {row})", "t = t[::-1]", "t = (t[1], {new})"]),
    "matrix": (
        ["m = np.outer(a, b)"], ["m[0]", "m[:, 0]", "m.T[0]", "m.sum(axis=0)"],
        ["m = m[1:]", "m = m[:, :2]", "m = m.T", "m[1:] += m[:-1]", "m += {row}", "m = np.stack([{row}, {row}])", "m = np.diag(np.diag(m))"],
    ),
    "complex": (
        ["z = a + 1j * b[:1]"], ["z.real", "z.imag"],
        ["z = z * {row}", "z[1:] += z[:-1]", "z = z[1:]", "z.real[:] = {row}", "z = {row} + 1j * {row}"],
    ),
    "closure": (
        ["h = b * 1.0", "def get(): return h", "def put(x):", "    nonlocal h", "    h = x"], ["get()"], ["put({new})", "put({row})"],
    ),
    "optional": (["p = None"], [], ["p = {new}", "p = None", "{x} = p if p is not None else {row}"]),
}  # fmt: skip


class Generator:
    def __init__(self, rng: random.Random):
        self.rng = rng
        self.loops = 0
        self.holders = [HOLDERS[name] for name in HOLDERS if rng.random() < 0.3]

    def place(self) -> str:
        return self.rng.choice(["u", "v", "w", *(place for _, found, _ in self.holders for place in found)])

    def row(self) -> str:
        return self.place() + self.rng.choice(("", "", "", "", "", "", "[1:]", "[::-1]", "[:1]", "[::2]"))

    def new(self) -> str:
        a, b = self.row(), self.row()
        return self.rng.choice((
            f"{a} + {b}", f"{a} * 0.5 - {b}", f"{a} * 1.0", a, a, f"{a}[:-1] + {a}[1:]", f"np.concatenate([{a}, {b}])[:4]",
            f"np.zeros(len({a}))", f"np.zeros({a}.size) + {b}", f"np.where({a} > {b}, {a}, {b})", "np.ones(k + 1)", f"{a}[k:]",
            f"{a}[{a} > 0.1]", f"half({a})", f"either({a}, {b}, k)", f"same({a}, {b})[0]", f"perhaps({a}, k)", f"deep({a}, 2)",
            f"mixed({a}, {b})",
        ))  # fmt: skip

    def statement(self) -> str:
        x, y = self.rng.sample(("u", "v", "w"), 2)
        a = self.row()
        steps = [step for _, _, steps in self.holders for step in steps]
        if steps and self.rng.random() < 0.4:
            step = self.rng.choice(steps)
            return step.format(row=a, new=self.new(), i=self.rng.choice((0, 1)), x=x)
        to = self.place()
        return self.rng.choice((
            f"{to}[1:] += {a}[:-1]", f"{to}[:-1] -= {a}[1:]", f"{to}[:] = {a}[::-1]", f"{x} += {a}", f"np.add({x}, {a}, out={x})",
            f"{x}, {y} = {y}, {x}", f"{x}, {y} = same({a}, {self.row()})", *[f"{x} = {self.new()}"] * 5,
        ))  # fmt: skip

    def lines(self, depth: int, looped: bool) -> list[str]:
        kind = self.rng.random()
        self.loops += 1
        i = f"i{self.loops}"
        if depth and kind < 0.14:
            times = self.rng.choice(("n", "2", "len(u)"))
            return [f"for {i} in range({times}):", f"    k = {i}", *self.block(depth - 1, True)]
        if depth and kind < 0.18:
            return [f"{i} = 0", f"while {i} < n:", f"    {i} += 1", *self.block(depth - 1, True)]
        if depth and kind < 0.24:
            over = self.rng.choice((f"({self.row()}, {self.row()})", f"shortened({self.row()}, n)"))
            return [f"for q in {over}:", "    u = " + self.rng.choice(("q", "q + v", "q * 1.0"))]
        condition = self.rng.choice(("u.sum() > v.sum()", "len(u) > 2", "k == 1", "u.size == v.size", "len(v) < 2"))
        if depth and kind < 0.34:
            return [f"if {condition}:", *self.block(depth - 1, looped), "else:", *self.block(depth - 1, looped)]
        if looped and kind < 0.4:
            return [f"if {condition}:", "    " + self.rng.choice(("break", "continue"))]
        return [self.statement()]

    def block(self, depth: int, looped: bool) -> list[str]:
        return [f"    {line}" for _ in range(self.rng.randrange(1, 5)) for line in self.lines(depth, looped)]

    def program(self) -> str:
        body = ["for i in range(n):", "    k = i", *self.block(2, True), *self.lines(1, False)]
        begin = [
            self.rng.choice(("u, v, w = a, a[1:], b * 1.0", "u, v, w = a * 1.0, b, b", "u, v, w = a, a * 2.0, b")),
            "k = 0",
        ]
        begin += [line for lines, _, _ in self.holders for line in lines]
        given = [f"{place} + 0" for place in ("u", "v", "w", *(p for _, found, _ in self.holders for p in found))]
        lines = [*begin, self.statement(), *body, "return " + ", ".join(given)]
        return "\n".join(["def f(a, b, n):", *(f"    {line}" for line in lines)])


def outcome(f: Any, given: list[Any]) -> tuple[Any, list[Any]]:
    copies = [v.copy() if isinstance(v, np.ndarray) else v for v in given]
    try:
        with np.errstate(all="ignore"):
            return f(*copies), copies[:2]
    except (ValueError, IndexError) as error:
        return type(error), []


@pytest.mark.parametrize("seed", range(COUNT))
@each_in_turn
def test_values(seed):
    rng = random.Random(seed)
    text = Generator(rng).program()
    space: dict[str, Any] = {"np": np, **SPACE}
    exec(text, space)
    native = zyg.jit(space["f"])
    for _ in range(5):
        size = rng.choice((1, 2, 3, 4, 4, 5))
        a, b = np.sin(1.0 + np.arange(float(size))) + 0.3, np.cos(0.5 + np.arange(float(rng.choice((size, size, 1)))))
        given = [a, b, rng.choice((0, 1, 2, 3))]
        (expected, after), (found, left) = outcome(space["f"], given), outcome(native, given)
        if isinstance(expected, type) or isinstance(found, type):
            assert found is expected, (text, given)
            continue
        for x, y in zip((*found, *left), (*expected, *after), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12, err_msg=text)
