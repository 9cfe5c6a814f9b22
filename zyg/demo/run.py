"""The command `zyg demo`."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import zyg

from . import byhand, fit, model
from .inc import InC

WIDTH = 78
AGREE = 1e-9  # relative; rounding alone makes differences of some 1e-13 here


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="zyg demo", description="Fit a predator-prey model to pelts of 1900-1920.")
    parser.add_argument("--show", action="store_true", help="print SSA, adjoint and LLVM IR of the model's inner step")
    options = parser.parse_args(arguments)
    return show() if options.show else demo()


def show() -> int:
    """Every stage of the inner step, linked to its source lines."""
    args = (30.0, 4.0, 0.5, 0.025, 0.8, 0.025, 0.05)
    for title, stage in (
        ("SSA from the bytecode", zyg.code_ssa),
        ("Typed SSA", zyg.code_typed),
        ("Adjoint", zyg.code_adjoint),
        ("LLVM IR", zyg.code_llvm),
    ):
        print(f"\n{'=' * WIDTH}\n{title} of zyg/demo/model.py: step\n{'=' * WIDTH}")
        print(stage(model.step, *args))
    return 0


def start(hare: np.ndarray, lynx: np.ndarray) -> np.ndarray:
    """A first guess: a cycle of ten years about the mean of the data."""
    rate = 2 * math.pi / 10
    return np.log([rate, rate / lynx.mean(), rate, rate / hare.mean(), hare[0], lynx[0]])


def demo() -> int:
    years, hare, lynx = model.pelts()
    steps = model.STEPS
    count = (len(years) - 1) * steps
    print("Hudson's Bay Company, pelts of hare and lynx, 1900-1920 (Elton and Nicholson 1942; Howard 2009).")
    print(f"Lotka-Volterra, {steps} RK4 steps a year in a Python loop ({count} in all), 6 parameters.\n")

    value_and_grad = zyg.jit(zyg.value_and_grad(model.loss))
    begin = time.perf_counter()
    value_and_grad(start(hare, lynx), hare, lynx, steps)
    print(f"zyg.value_and_grad(loss), compile included: {time.perf_counter() - begin:.2f} s\n")

    last = minimise(lambda q: value_and_grad(q, hare, lynx, steps), start(hare, lynx))
    print_fit(last.x, years, hare, lynx)
    agreed = agreement(value_and_grad, last.x, hare, lynx)
    print("\nThe derivatives agree." if agreed else "\nThe derivatives DISAGREE.")
    return 0 if agreed else 1


def minimise(function: fit.ValueAndGradient, guess: np.ndarray) -> fit.Progress:
    print(f"{'iteration':>9}  {'loss':>14}  {'max |gradient|':>14}")
    begin, last = time.perf_counter(), None
    for last in fit.minimise(function, guess):
        print(f"{last.iteration:9d}  {last.value:14.9f}  {last.slope:14.3e}", flush=True)
    assert last is not None
    took = time.perf_counter() - begin
    print(f"{last.evaluations} values with gradient in {took * 1e3:.1f} ms, printing included\n")
    return last


def print_fit(q: np.ndarray, years: Sequence[int], hare: np.ndarray, lynx: np.ndarray) -> None:
    for name, x in zip(model.NAMES, q):
        print(f"  {name:<10} {math.exp(x):10.5f}")
    spread = math.sqrt(model.loss(q, hare, lynx, model.STEPS) / (2 * len(years)))
    print(f"  typical error of a value: {100 * math.expm1(spread):.0f} %\n")
    print("Pelts in thousands: hare seen H, fitted h; lynx seen L, fitted l.")
    points = model.trajectory(q, len(years), model.STEPS)
    scale = (WIDTH - 7) / max(float(hare.max()), *(max(p) for p in points))
    for year, seen_hare, seen_lynx, (h, l) in zip(years, hare, lynx, points):
        row = [" "] * (WIDTH - 6)
        for letter, x in (("l", l), ("h", h), ("L", seen_lynx), ("H", seen_hare)):
            row[round(x * scale)] = letter
        print(f"{year} |{''.join(row).rstrip()}")


# ---------------------------------------------------------------------------------- agreement and speed


def agreement(value_and_grad: Callable[..., Any], q: np.ndarray, hare: np.ndarray, lynx: np.ndarray) -> bool:
    """Compares value and gradient with the derivative by hand, away from the minimum too, and prints the speeds."""
    steps = model.STEPS
    compiled_loss = zyg.jit(model.loss)
    compiled_byhand = zyg.jit(byhand.loss_and_gradient)
    in_c, compiler = InC.make(hare, lynx, steps)

    def by_hand(function: Callable[..., float], x: np.ndarray) -> tuple[float, np.ndarray]:
        gradient = np.zeros(6)
        return function(x, hare, lynx, steps, gradient), gradient

    rivals: list[tuple[str, Callable[[np.ndarray], tuple[float, np.ndarray]]]] = [
        ("by hand, CPython", lambda x: by_hand(byhand.loss_and_gradient, x)),
        ("by hand, zyg.jit", lambda x: by_hand(compiled_byhand, x)),
    ]
    if in_c is not None:
        rivals.append((f"by hand, C ({compiler} -O3)", in_c.value_and_gradient))
    elsewhere = start(hare, lynx)
    print(f"\n{'largest relative difference to zyg':<{WIDTH - 24}}{'value':>12}{'gradient':>12}")
    worst = 0.0
    for name, function in rivals:
        value_error = gradient_error = 0.0
        for x in (elsewhere, 0.5 * (elsewhere + q)):
            value, gradient = value_and_grad(x, hare, lynx, steps)
            other_value, other_gradient = function(x)
            value_error = max(value_error, abs(value - other_value) / abs(value))
            scale = float(np.max(np.abs(gradient)))
            gradient_error = max(gradient_error, float(np.max(np.abs(gradient - other_gradient))) / scale)
        worst = max(worst, value_error, gradient_error)
        print(f"  {name:<{WIDTH - 26}}{value_error:12.1e}{gradient_error:12.1e}")
    value = model.loss(q, hare, lynx, steps)
    same = compiled_loss(q, hare, lynx, steps) == value
    print(f"  zyg.jit(loss) and CPython: {'the same to the last bit' if same else 'DIFFERENT'}")

    gradient = np.zeros(6)
    table: list[tuple[str, float | None, float]] = [
        (
            "CPython, by hand",
            per_call(lambda: model.loss(q, hare, lynx, steps)),
            per_call(lambda: byhand.loss_and_gradient(q, hare, lynx, steps, gradient)),
        ),
        ("zyg.jit, by hand", None, per_call(lambda: compiled_byhand(q, hare, lynx, steps, gradient))),
        (
            "zyg",
            per_call(lambda: compiled_loss(q, hare, lynx, steps)),
            per_call(lambda: value_and_grad(q, hare, lynx, steps)),
        ),
    ]
    if in_c is not None:
        table.append(
            (
                f"C, by hand ({compiler} -O3)",
                per_call(lambda: in_c.repeat_value(q, 100)) / 100,
                per_call(lambda: in_c.repeat_value_and_gradient(q, 100)) / 100,
            )
        )
    print(f"\n{'microseconds':<30}{'value':>12}{'value and gradient':>22}{'zyg is':>12}")
    zyg_time = table[2][2]
    for name, value_time, gradient_time in table:
        shown = f"{value_time * 1e6:12.1f}" if value_time is not None else f"{'':12}"
        ratio = "" if name == "zyg" else f"{gradient_time / zyg_time:10.2f} x"
        print(f"  {name:<28}{shown}{gradient_time * 1e6:22.1f}{ratio:>12}")
    if in_c is None:
        print(f"  (not compared with C: {compiler})")
    return worst < AGREE and same


def per_call(function: Callable[[], Any], seconds: float = 0.02, rounds: int = 7) -> float:
    """Seconds per call: the least of several rounds."""
    times, best = 1, math.inf
    for _ in range(rounds):
        while True:
            begin = time.perf_counter()
            for _ in range(times):
                function()
            took = time.perf_counter() - begin
            if took > seconds or times > 10**7:
                break
            times = max(times * 2, round(times * seconds / max(took, 1e-7)))
        best = min(best, took / times)
    return best


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
