"""Splitting loops: random stencils mean the same before and after; what pays is split, and nothing else."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from tests.turns import each_in_turn
from zyg.ir.core import clone
from zyg.ir.interpret import run
from zyg.ir.parsing import parse_function
from zyg.ir.passes import distribute
from zyg.ir.verify import verify

pytestmark = each_in_turn

MARGIN = 6  # around what the counter reaches, so that all offsets are in bounds


class Stencil:
    """The text of a function with a loop of random accesses to two arrays, in one or two dimensions."""

    def __init__(self, seed: int):
        self.random = r = random.Random(seed)
        self.ndim = r.choice((1, 2))
        self.sign = r.choice((1, 1, -1))
        self.span = r.choice((1, 1, 2, 3))
        self.arrays = r.choice(("", "", "swapped", "same"))  # whether they come as block parameters
        self.lines: list[str] = []
        self.values = ["%x", "%c"]
        self.count = 0
        for _ in range(r.randint(2, 7)):
            r.choice((self.accum, self.accum, self.accum, self.take, self.load, self.store, self.mix))()
        self.carried = r.choice(self.values)

    def let(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def place(self, offset: int | None = None) -> str:
        """An array and indices, with their computation before."""
        r = self.random
        offset = r.randint(-self.span, self.span) if offset is None else offset
        base = "%k" if self.sign > 0 else self.let("sub %n, %k : i64")
        shift = MARGIN if self.sign > 0 else MARGIN + 1
        column = self.let(f"add {base}, {offset + shift} : i64")
        array = r.choice(("%s", "%s", "%s", "%r"))
        if self.ndim == 1:
            return f"{array}, {column}" if r.random() < 0.9 else f"{array}, 2"
        row = r.choice(("%i", "%above", "%below", "0"))
        return f"{array}, {row}, {column}"

    def load(self) -> None:
        self.values.append(self.let(f"load {self.place()} : f64"))

    def store(self) -> None:
        array, index = self.place().split(", ", 1)
        self.lines.append(f"store {array}, {self.random.choice(self.values)}, {index}")

    def take(self) -> None:
        place = self.place(0 if self.random.random() < 0.7 else None)
        self.values.append(self.let(f"load {place} : f64"))
        array, index = place.split(", ", 1)
        self.lines.append(f"store {array}, 0.0, {index}")
        if self.random.random() < 0.3:
            self.lines.append(f"accum {array}, {self.values[-1]}, {index} {{cotangent=true}}")

    def mix(self) -> None:
        x, y = self.random.choices(self.values, k=2)
        product = self.let(f"mul {x}, 0.5 : f64")
        self.values.append(self.let(f"sub {product}, {y} : f64"))

    def accum(self) -> None:
        array, index = self.place().split(", ", 1)
        marked = " {cotangent=true}" if self.random.random() < 0.95 else ""
        self.lines.append(f"accum {array}, {self.random.choice(self.values)}, {index}{marked}")

    def text(self) -> str:
        array = f"array<f64, {self.ndim}, C>"
        shape = "%m" if self.ndim == 1 else "5, %m"
        body = "\n  ".join(self.lines)
        start = following = ""
        params = "%t: i64"
        if self.arrays:
            start, following = {"swapped": (", %sa, %ra", ", %r, %s"), "same": (", %ra, %ra", ", %s, %r")}[self.arrays]
            params = f"%t: i64, %s: {array}, %r: {array}"
        text = f"""func @f(%s0: {array}, %r0: {array}, %n: i64, %i: i64, %x: f64) -> (f64, {array}, {array}) {{
entry:
  %m = add %n, {2 * MARGIN + 2} : i64
  %sa = alloc {shape} {{fill="empty"}} : {array}
  %ra = alloc {shape} {{fill="empty"}} : {array}
  copyto %sa, %s0
  copyto %ra, %r0
  jump outer(2{start})
outer({params}):
  %last = eq %t, 0 : bool
  branch %last, end, row
row:
  %above = add %i, -1 : i64
  %below = add %i, 1 : i64
  %t.1 = add %t, -1 : i64
  jump head(%n, %x)
head(%k: i64, %c: f64):
  %done = eq %k, 0 : bool
  branch %done, again, body
body:
  {body}
  %k.1 = add %k, -1 : i64
  jump head(%k.1, {self.carried})
again:
  store {"%r, %c, 0" if self.ndim == 1 else "%r, %c, 0, 0"}
  jump outer(%t.1{following})
end:
  return %x, %sa, %ra
}}"""
        return text if self.arrays else text.replace("%s,", "%sa,").replace("%r,", "%ra,")


@pytest.fixture
def short_strips(monkeypatch):
    monkeypatch.setattr(distribute, "STRIP", 11)
    monkeypatch.setattr(distribute, "FEWEST", 4)


def outcome(function, n, ndim):
    random = np.random.default_rng(n)
    shape = (n + 2 * MARGIN + 2,) if ndim == 1 else (5, n + 2 * MARGIN + 2)
    return run(function, random.normal(size=shape), random.normal(size=shape), n, 2, 0.25)


def split(function) -> bool:
    return any(b.name.endswith(".strips") for b in function.blocks)


@pytest.mark.parametrize("start", range(0, 600, 50))
def test_random_stencils_mean_the_same(start, short_strips):
    for seed in range(start, start + 50):
        stencil = Stencil(seed)
        before = parse_function(stencil.text())
        after = clone(before)
        verify(after)
        if not distribute.run(after):
            continue
        verify(after)
        for n in (0, 1, 3, 4, 11, 12, 29):
            expected, got = (outcome(f, n, stencil.ndim) for f in (before, after))
            for x, y in zip(expected, got, strict=True):
                scale = max(1.0, np.max(np.abs(np.asarray(x)), initial=0.0))
                np.testing.assert_allclose(np.asarray(y) / scale, np.asarray(x) / scale, atol=1e-12, err_msg=str(seed))


def test_constants_fit():
    """What is carried arrives, or is added at places that the loop has been at."""
    assert 0 < distribute.LONGEST <= distribute.FEWEST <= distribute.STRIP


def test_many_of_them_are_split():
    functions = [parse_function(Stencil(seed).text()) for seed in range(400)]
    for function in functions:
        distribute.run(function)
    assert sum(map(split, functions)) > 20
    assert sum(any(v.name == "carried" for b in f.blocks for v in b.params) for f in functions) > 5


ROW = """func @f(%n: i64, %i: i64, %x: f64, %p: array<f64, 2, C>, %q: array<f64, 2, C>) -> array<f64, 2, C> {
entry:
  %m = add %n, 4 : i64
  %s = alloc 5, %m {fill="zeros"} : array<f64, 2, C>
  %r = alloc 5, %m {fill="zeros"} : array<f64, 2, C>
  %low = add %i, 1 : i64
  jump head(%n)
head(%k: i64):
  %done = eq %k, 0 : bool
  branch %done, end, body
body:
  %k.1 = add %k, -1 : i64
  %k.2 = add %k, 1 : i64
  BODY
  jump head(%k.1)
end:
  return %s
}"""


def row(*lines: str):
    function = parse_function(ROW.replace("BODY", "\n  ".join(lines)))
    changed = distribute.run(function)
    verify(function)
    return function, changed


ACCUMS = ["accum %s, %x, %i, %k {cotangent=true}", "accum %s, %x, %i, %k.1 {cotangent=true}"]


def test_neighbours_are_sunk():
    function, changed = row(*ACCUMS)
    assert changed and split(function)
    again = clone(function)
    assert not distribute.run(again), "a second run finds nothing"


@pytest.mark.parametrize(
    "lines",
    [
        ACCUMS[:1],  # vectorises as it is
        [line.replace(" {cotangent=true}", "") for line in ACCUMS],  # perhaps somebody's own sums
        [*ACCUMS, "%y = load %s, %i, %k.1 : f64"],  # looks at what the accum of this iteration added
        [*ACCUMS, "%y = load %s, %i, %k.1 : f64", "store %s, 0.0, %i, %k.1"],
        [*ACCUMS, "%y = load %s, %i, 3 : f64"],  # sometimes
        [*ACCUMS, "%y = load %s, %n, %k : f64"],  # perhaps the same row
        [*ACCUMS, "%v = view %s, 0, 5, 2 {spec=\"s:\"} : array<f64, 2, A>", "%y = load %v, %i, %k : f64"],
        [*ACCUMS, "%ok = lt %k, %n : bool", 'guard %ok {exc="IndexError", message="no"}'],
        ["accum %s, %x, %k, %i {cotangent=true}", "accum %s, %x, %k.1, %i {cotangent=true}"],  # down a column
        [*ACCUMS, "fill %r, 0.0"],
    ],
)  # fmt: skip
def test_what_stays(lines):
    function, changed = row(*lines)
    assert not changed and not split(function)


def test_overlap_is_tested():
    function, changed = row(*[line.replace("%s", "%p") for line in ACCUMS], "%y = load %q, %i, %k : f64")
    assert changed and split(function)
    assert [i.op for b in function.blocks if b.name == "head.choose" for i in b.instrs] == [
        "lt",
        "overlap",
        "or",
        "branch",
    ]


def test_views_are_looked_through():
    lines = [
        "%v = view %s, %i {spec=\"i:\"} : array<f64, 1, C>",
        "%w = view %s, %low {spec=\"i:\"} : array<f64, 1, C>",
        "accum %v, %x, %k {cotangent=true}",
        "accum %w, %x, %k.1 {cotangent=true}",
    ]  # fmt: skip
    assert split(row(*lines)[0])


def test_a_cotangent_taken_and_given_back_stays():
    take = ["%d = load %s, %i, %k : f64", "store %s, 0.0, %i, %k"]
    function, changed = row(*take, "accum %r, %d, %i, %k {cotangent=true}", "accum %s, %d, %i, %k {cotangent=true}")
    assert changed
    assert [i.op for b in function.blocks if b.name == "body" for i in b.instrs[2:]] == ["load", "accum", "jump"]
    function, changed = row(*take, "%h = mul %d, 0.5 : f64", "accum %s, %h, %i, %k {cotangent=true}")
    assert changed
    assert [i.op for b in function.blocks if b.name == "body" for i in b.instrs[2:]] == ["load", "mul", "store", "jump"]
    looked = "%y = load %s, %i, %n : f64"
    assert not row(*take, looked, "accum %s, %d, %i, %k {cotangent=true}")[1]


def test_nothing_to_do_is_found_at_once():
    """A function without cotangents of elements is scanned once."""

    function, _ = row(*[f"%y{n} = load %s, %i, %k : f64" for n in range(1000)])
    best = min(_timed(function) for _ in range(5))
    assert best < 2e-3


def _timed(function) -> float:

    start = time.thread_time()
    distribute.run(function)
    return time.thread_time() - start
