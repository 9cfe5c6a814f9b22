"""Lengths of arrays that are equal: those that loops carry on, those of slices; and that others stay apart."""

from __future__ import annotations

import numpy as np

import zyg
from zyg.ir.parsing import parse_module
from zyg.ir.passes import cse, dce, fold, shapes
from zyg.ir.text import format_module
from zyg.ir.verify import verify

from ..turns import each_in_turn

LOOP = """
func @element(%x: f64, %y: f64) -> f64 {{
entry:
  %z = add %x, %y : f64
  return %z
}}
func @f(%n: i64, %m: i64, %x: array<f64, 1, C>) -> array<f64, 1, C> {{
entry:
  %first = alloc %m {{fill="zeros"}} : array<f64, 1, C>
  jump loop(%first, 0)
loop(%h: array<f64, 1, C>, %i: i64):
  %more = lt %i, %n : bool
  branch %more, body, done
body:
  %d = dim %h {{axis=0}} : i64
  %one = eq %m, 1 : bool
  %equal = eq %d, %m : bool
  %fits = or %equal, %one : bool
  guard %fits {{exc="ValueError", message="no"}}
  %length = select %one, %d, %m : i64
  %seen = broadcast %h, %length : array<f64, 1, A>
  %next = alloc {next} {{fill="empty"}} : array<f64, 1, C>
  apply @element %next, %seen, %seen {{modes=("set",)}}
  %even = eq %i, 4 : bool
  branch %even, other, again(%next)
other:
  %copied = alloc {next} {{fill="zeros"}} : array<f64, 1, C>
  jump again(%copied)
again(%made: array<f64, 1, C>):
  %j = add %i, 1 : i64
  jump loop(%made, %j)
done:
  return %h
}}
"""


def after_passes(text):
    module = parse_module(text)
    function = module.functions["f"]
    for run in (shapes.run, cse.run, fold.run, dce.run):
        run(function)
        verify(module)
    return format_module(module)


def test_what_a_loop_carries_on_has_its_length_each_time():
    made = after_passes(LOOP.format(next="%length"))
    assert "broadcast" not in made and "dim" not in made and "guard true" in made
    assert made.count("alloc %m") == 3


def test_what_changes_its_length_is_left_alone():
    text = LOOP.format(next="%longer").replace("  %next =", "  %longer = add %length, 1 : i64\n  %next =")
    made = after_passes(text)
    assert "broadcast" in made and "dim %h" in made and "guard %" in made


def recurrences(x, h):
    """What keeps its length, or takes that of a row; what grows; what has one element from the second time on."""
    kept = grown = single = h
    for row in x:
        kept = np.tanh(row + 0.5 * kept)
        grown = np.append(row[:1] * grown, 0.5)
        single = np.array([np.sum(row * single)])
    return np.sum(kept * kept) + np.sum(grown * grown) + np.sum(single)


@each_in_turn
def test_values_and_gradients_of_recurrences():
    x, step = np.random.default_rng(0).normal(size=(4, 3)), 1e-6
    compiled = zyg.value_and_grad(recurrences, 1)
    for h in (np.array([0.3, -0.2, 0.7]), np.array([0.4])):
        value, gradient = compiled(x, h)
        assert np.isclose(value, recurrences(x, h), rtol=1e-14)
        shifts = step * np.eye(len(h))
        slopes = [(recurrences(x, h + s) - recurrences(x, h - s)) / (2 * step) for s in shifts]
        np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-9)


def test_slices_that_leave_out_as_many_are_equally_long():
    def curvature(a):
        return a[2:] - 2.0 * a[1:-1] + a[:-2] + a[2:][::1]

    text = str(zyg.code_ssa(curvature, np.ones(5)))
    assert "broadcast" not in text
    compiled = zyg.jit(curvature)
    for n in range(7):
        a = np.random.default_rng(n).normal(size=n)
        np.testing.assert_array_equal(compiled(a), curvature(a))


@each_in_turn
def test_lengths_of_slices():
    def lengths(a, n):
        parts = (a[1:], a[3:], a[:-1], a[:-3], a[1:-1], a[2:-3], a[3:2], a[-2:], a[-3:-1], a[1:3], a[:2], a[0:-2], a[5:-5],
                 a[n:], a[:n], a[-1:1], a[1:0], a[2:-9223372036854775808])  # fmt: skip
        total = 0
        for k, part in enumerate(parts):
            total += (10 * k + 1) * len(part)
            for x in part:
                total = 3 * total % 1000003 + x
        return total

    compiled = zyg.jit(lengths)
    for n in range(9):
        assert compiled(np.arange(1, n + 1), n - 4) == lengths(list(range(1, n + 1)), n - 4)


@each_in_turn
def test_what_is_changed_in_place_from_a_view_of_itself():
    def smooth(v, k):
        v = v.copy()
        for _ in range(2):
            v[1:-1] += k * (v[2:] - 2.0 * v[1:-1] + v[:-2])
            v[1:] -= 0.5 * v[:-1]
        return np.sum(v * v)

    compiled = zyg.value_and_grad(smooth, (0, 1))
    for n in (1, 2, 3, 4, 9):
        v = np.random.default_rng(n).normal(size=n)
        value, (by_v, by_k) = compiled(v, 0.3)
        assert np.isclose(value, smooth(v, 0.3), rtol=1e-13)
        slopes = [(smooth(v + s, 0.3) - smooth(v - s, 0.3)) / 2e-6 for s in 1e-6 * np.eye(n)]
        np.testing.assert_allclose(by_v, slopes, rtol=1e-6, atol=1e-8)
        assert np.isclose(by_k, (smooth(v, 0.3 + 1e-6) - smooth(v, 0.3 - 1e-6)) / 2e-6, rtol=1e-6, atol=1e-8)
