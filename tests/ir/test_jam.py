"""Iterations that go through an inner loop together: random nests mean the same, to the last bit where sums have an order."""

from __future__ import annotations

import random

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.ir.core import clone
from zyg.ir.interpret import run
from zyg.ir.parsing import parse_function
from zyg.ir.passes import jam
from zyg.ir.verify import verify

pytestmark = each_in_turn

MARGIN = 4


class RandomNest:
    """The text of a function of arrays y, x (perhaps one and the same) and a matrix, with two loops around random accesses."""

    def __init__(self, seed: int):
        self.random = r = random.Random(seed)
        self.count = 0
        self.exact = True
        self.up = r.random() < 0.5, r.random() < 0.5
        self.fresh = r.random() < 0.7  # whether y is memory of the function's own
        self.matrix = "load"
        self.before, self.body, self.behind = [], [], []
        self.stage, self.values = self.before, ["%v"]
        for _ in range(r.randint(0, 2)):
            self.load(r.choice(("%x", "%a", "%y")) if r.random() < 0.2 else r.choice(("%x", "%a")))
        early = [*self.values]
        self.stage = self.body
        self.values.append("%c")
        for _ in range(r.randint(2, 6)):
            r.choice((self.add_to, self.add_to, self.load, self.load, self.store, self.mix))()
        value = r.choice(self.values)
        fast = r.random() < 0.3
        self.exact &= not fast
        marks = ' {fast={"reassoc"}}' if fast else ""
        self.sum = self.let(f"{r.choice(('add', 'sub'))} %c, {value}{marks} : f64")
        if r.random() < 0.15:
            self.sum = r.choice(self.values)
        self.stage, self.values = self.behind, [*early, "%c"]
        for _ in range(r.randint(0, 2)):
            r.choice((self.add_to, self.store, self.mix))("%x") if r.random() < 0.8 else self.load()
        self.total = self.let(f"add %t, {r.choice(self.values)} : f64")
        self.carried = r.choice((early[0], *early))

    def let(self, text: str) -> str:
        self.count += 1
        self.stage.append(f"%l{self.count} = {text}")
        return f"%l{self.count}"

    def place(self, array: str = "") -> tuple[str, str]:
        r = self.random
        array = array or r.choice(("%y", "%y", "%y", "%a", "%a", "%x"))
        inner = self.stage is self.body
        row = self.let(f"add %j, {r.choice((0, 0, 0, 1, -1)) + MARGIN} : i64")
        column = self.let(f"add %i, {r.choice((0, 0, 0, 0, 1, -1)) + MARGIN} : i64") if inner else "2"
        if array == "%a":
            return array, r.choice((f"{row}, {column}",) * 5 + (f"{column}, {row}", f"2, {column}"))
        return array, r.choice((column,) * 5 + (row,)) if array == "%y" else row

    def load(self, array: str = "") -> None:
        array, index = self.place(array)
        self.values.append(self.let(f"load {array}, {index} : f64"))

    def store(self, array: str = "") -> None:
        array, index = self.place(array)
        self.stage.append(f"store {array}, {self.random.choice(self.values)}, {index}")

    def mix(self, _: str = "") -> None:
        x, y = self.random.choices(self.values, k=2)
        product = self.let(f"mul {x}, 0.5 : f64")
        self.values.append(self.let(f"sub {product}, {y} : f64"))

    def add_to(self, array: str = "") -> None:
        array, index = self.place(array)
        value = self.random.choice(self.values)
        if self.random.random() < 0.5:
            old = self.let(f"load {array}, {index} : f64")
            self.stage.append(f"store {array}, {self.let(f'add {old}, {value} : f64')}, {index}")
        else:
            marked = self.random.random() < 0.7
            self.exact &= not marked
            self.stage.append(f"accum {array}, {value}, {index}{' {cotangent=true}' if marked else ''}")

    def loop(self, name: str, counter: str, limit: str, up: bool, inside: str, out: str) -> str:
        if up:
            return f"%{name}.go = lt %{counter}, {limit} : bool\n  branch %{name}.go, {inside}, {out}"
        return f"%{name}.go = eq %{counter}, 0 : bool\n  branch %{name}.go, {out}, {inside}"

    def text(self) -> str:
        starts = ["0" if up else limit for up, limit in zip(self.up, ("%n", "%m"))]
        steps = [1 if up else -1 for up in self.up]
        lines = ["\n  ".join(["", *part]) for part in (self.before, self.body, self.behind)]
        y = "" if self.fresh else "%y"
        return f"""func @f(%y{"0" if self.fresh else ""}: array<f64, 1, C>, %x: array<f64, 1, C>, %a0: array<f64, 2, C>, %n: i64, %m: i64) -> (f64, f64, array<f64, 1, C>, array<f64, 2, C>) {{
entry:
  %s = dim %a0 {{axis=0}} : i64
  %a = alloc %s, %s {{fill="empty"}} : array<f64, 2, C>
  copyto %a, %a0
  {'%y = alloc %s {fill="empty"} : array<f64, 1, C>' if not y else "%unused = add %s, 1 : i64"}
  {"copyto %y, %y0" if not y else "%unused2 = add %s, 1 : i64"}
  jump outer({starts[0]}, 0.0, 0.25)
outer(%j: i64, %t: f64, %v: f64):
  {self.loop("outer", "j", "%n", self.up[0], "enter", "end")}
enter:{lines[0]}
  jump inner({starts[1]}, 0.0)
inner(%i: i64, %c: f64):
  {self.loop("inner", "i", "%m", self.up[1], "body", "behind")}
body:{lines[1]}
  %i.1 = add %i, {steps[1]} : i64
  jump inner(%i.1, {self.sum})
behind:{lines[2]}
  %j.1 = add %j, {steps[0]} : i64
  jump outer(%j.1, {self.total}, {self.carried})
end:
  return %t, %v, %y, %a
}}"""


def outcome(function, n, m, same):
    random = np.random.default_rng(n * 17 + m)
    size = max(n, m) + 2 * MARGIN
    y, x, a = random.normal(size=size), random.normal(size=size), random.normal(size=(size, size))
    x = y if same else x
    return *run(function, y, x, a, n, m), x


@pytest.mark.parametrize("start", [0, 70])
def test_random_nests_mean_the_same(start, monkeypatch):
    monkeypatch.setattr(jam, "WIDTHS", (4, 3))
    monkeypatch.setattr(jam, "SAVED", 0.0)
    monkeypatch.setattr(jam, "LONGEST", 60)
    changed = exact = 0
    for seed in range(start, start + 70):
        nest = RandomNest(seed)
        before = parse_function(nest.text())
        after = clone(before)
        verify(after)
        if not jam.run(after):
            continue
        verify(after)
        changed += 1
        exact += nest.exact
        for n, m, same in ((1, 2, False), (9, 3, True), (11, 4, False)):
            expected, got = (outcome(f, n, m, same) for f in (before, after))
            for x, y in zip(expected, got, strict=True):
                x, y = np.asarray(x), np.asarray(y)
                if nest.exact:
                    np.testing.assert_array_equal(y, x, err_msg=str(seed))
                else:
                    scale = max(1.0, np.max(np.abs(x), initial=0.0))
                    np.testing.assert_allclose(y / scale, x / scale, atol=1e-11, err_msg=str(seed))
    assert changed > 15 and exact > 5, (changed, exact)


NEST = """
func @f(%y: array<f64, 1, C>, %x: array<f64, 2, C>, %n: i64, %m: i64) {
entry:
  jump outer(0)
outer(%j: i64):
  %more = lt %j, %n : bool
  branch %more, enter, end
enter:
  jump inner(1)
inner(%i: i64):
  %go = lt %i, %m : bool
  branch %go, body, behind
body:
  %before = add %i, -1 : i64
  %v = load %x, %j, %i : f64
  BODY
  %i.1 = add %i, 1 : i64
  jump inner(%i.1)
behind:
  %j.1 = add %j, 1 : i64
  jump outer(%j.1)
end:
  return
}
"""


@pytest.mark.parametrize(
    "body, together, independent",
    [
        ("accum %y, %v, %i", True, True),
        ("accum %y, %v, %i {cotangent=true}\n  accum %y, %v, %before {cotangent=true}", True, False),
        ("accum %y, %v, %i\n  accum %y, %v, %before", False, False),
        ("%w = load %y, %before : f64\n  %u = add %v, %w : f64\n  store %y, %u, %i", False, False),
        ("%w = exp %v : f64\n  accum %y, %w, %i", False, False),
    ],
    ids=["own elements", "cotangents of neighbours", "neighbours in order", "a recurrence", "work that nothing saves"],
)
def test_what_goes_together(body, together, independent, monkeypatch):
    monkeypatch.setattr(jam, "SAVED", 0.0)
    function = parse_function(NEST.replace("BODY", body))
    assert jam.run(function) is together
    verify(function)
    jammed = [b for b in function.blocks if b.name.startswith("body.by")]
    assert [b.terminator.attrs.get("parallel", False) for b in jammed] == [independent] * len(jammed)
    # y may be memory of x for all that is known
    assert sum(i.op == "overlap" for _, i in function.instructions()) == together


def rows(w, x, out):
    for j in range(len(w)):
        s = 0.0
        for i in range(len(x)):
            s += w[j, i] * x[i]
        out[j] = s
    return np.sum(out * out)


def columns(w, x, out):
    for j in range(len(w)):
        for i in range(len(out)):
            out[i] += w[j, i] * x[j]
    return np.sum(out * out)


@pytest.mark.parametrize("program", [rows, columns])
def test_products_by_loops(program):
    assert ".by4" in zyg.code_typed(zyg.jit(program), np.ones((9, 9)), np.ones(9), np.zeros(9))
    value, gradient = zyg.jit(program), zyg.grad(program, (0, 1))
    random = np.random.default_rng(3)
    for n in (1, 4, 7, 21):
        w, x = random.normal(size=(n, n)), random.normal(size=n)
        outs = np.zeros(n), np.zeros(n)
        assert value(w, x, outs[0]) == program(w, x, outs[1])
        np.testing.assert_array_equal(*outs)
        dw, dx = gradient(w, x, np.zeros(n))
        w = w if program is rows else w.T
        y = 2.0 * (w @ x)
        np.testing.assert_allclose(dw if program is rows else dw.T, np.outer(y, x), rtol=1e-12)
        np.testing.assert_allclose(dx, w.T @ y, rtol=1e-11)
    # the result is a row of the matrix: as in CPython, what is written is read again
    for n in (5, 12):
        w = random.normal(size=(n, n))
        mine, theirs = w.copy(), w.copy()
        assert value(mine, mine[n - 1], mine[3]) == program(theirs, theirs[n - 1], theirs[3])
        np.testing.assert_array_equal(mine, theirs)
