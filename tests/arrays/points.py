"""Derivatives at special points: `python -m tests.arrays.points --count N --seed S`, or the cases whose names hold a word.

Zeros, ones, equal elements, whole numbers, two parameters that are equal, the identity matrix, weights that are 0, perfect fits:
where rules are singular, selections tie and a first cotangent vanishes while its derivative does not.  Differences tell from
both sides of a point whether there is a derivative; where there is none, both modes and the Python back end must agree on one.
A misfit `sum((f(x) - f(x0)) ** 2)` at x0 has the second derivative `2 J^T J`, which first differences give.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import zyg
from zyg.autodiff.objects.api import pullback as python_pullback

from .case import Case
from .cases import CASES
from .check import STEP, copies, cotangent, describe, direction, inner, moved, show
from .drawing import A, Fixed, Num, Rng, inputs, signature
from .registered import with_entries

# What numbers are drawn from, by what a case says of its domain (drawing.VALUES).
NUMBERS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(("any", "finite", "ties", "ascending"), (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -3.0)),
    **dict.fromkeys(("positive",), (1.0, 2.0, 0.5, 4.0)),
    "above": (2.0, 3.0, 1.5),
    "unit": (0.0, -0.0, 0.5, -0.5),
    "probability": (0.5, 0.25),
}
MATRICES = ("definite", "regular", "symmetric")

# Cases that take the absolute value of a square, which is smooth where that of its parts is not.
KINKED = {"eigh#3"}

Loss = Callable[..., float]


def specialised(rng: Rng, fixed: dict[str, Fixed], drawn: dict[str, Any]) -> dict[str, Any]:
    """`drawn` with floats at special points of their domains."""
    found: dict[str, Any] = {}
    for name, f in fixed.items():
        value = drawn[name]
        if isinstance(f.spec, A) and f.dtype in "dfD":
            value = _array(rng, f.spec.values, value)
            like = [a for a in found.values() if isinstance(a, np.ndarray) and a.shape == value.shape]
            if like and rng.random() < 0.3 and f.spec.values in NUMBERS:
                value = like[-1].astype(value.dtype)
        elif isinstance(f.spec, Num) and type(value) is float and not f.spec.choices and f.spec.values in NUMBERS:
            value = float(rng.choice(NUMBERS[f.spec.values]))
        found[name] = value
    return found


def _array(rng: Rng, values: str, drawn: np.ndarray) -> np.ndarray:
    if values in MATRICES and drawn.size:
        n, m = drawn.shape[-2:]
        diagonal = rng.choice([1.0, 2.0], m) if rng.random() < 0.5 else np.full(m, float(rng.choice([1.0, 2.0])))
        square = np.eye(n, m) * diagonal
        how = rng.integers(3)
        if how == 1 and values == "regular":
            square = square + np.triu(rng.integers(0, 3, (n, m)), 1)
        elif how == 2:
            square = square * np.arange(1.0, m + 1.0)
        return np.broadcast_to(square, drawn.shape).astype(drawn.dtype)
    if values not in NUMBERS:
        return drawn
    choices = NUMBERS[values]
    how = rng.integers(5)
    if how == 0:
        special = np.full(drawn.shape, float(rng.choice(choices)))
    elif how == 1:
        special = rng.choice(choices, drawn.shape)
    elif how == 2:  # a few elements among others
        special = np.where(rng.random(drawn.shape) < 0.4, rng.choice(choices, drawn.shape), drawn)
    elif how == 3 and drawn.ndim > 1:  # rows that are equal
        special = np.broadcast_to(drawn[:1], drawn.shape)
    else:
        special = np.where(rng.random(drawn.shape) < 0.6, choices[0], rng.choice(choices, drawn.shape))
    if values == "ascending":
        special = np.sort(special, axis=-1) + np.arange(1.0, drawn.shape[-1] + 1.0)
    return np.array(special).astype(drawn.dtype)


# --------------------------------------------------------------------------------------------------------- differences


def slope_at(loss: Loss, drawn: dict[str, Any], directions: list[Any]) -> tuple[float, float] | None:
    """The slope along a direction and how far off it may be; None if those of both sides are not the same."""
    h = STEP
    at = {k: loss(*moved(drawn, directions, k * h)) for k in (-3, -2, -1, 0, 1, 2, 3)}
    if not np.all(np.isfinite(list(at.values()))):
        return None
    right, left = (
        (sign * (-11 * at[0] + 18 * at[sign] - 9 * at[2 * sign] + 2 * at[3 * sign])) / (6 * h) for sign in (1, -1)
    )
    center = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)
    scale = 1.0 + abs(center)
    if abs(right - left) > 1e-4 * scale:
        return None
    return center, 1e-5 * scale


def bend_at(loss: Loss, drawn: dict[str, Any], first: list[Any], second: list[Any]) -> tuple[float, float] | None:
    """The second derivative along two directions by those along their sum and difference."""
    bends = []
    for sign in (1.0, -1.0):
        both = [None if u is None else u + sign * v for u, v in zip(first, second, strict=True)]
        h = 2e-3
        at = {k: loss(*moved(drawn, both, k * h)) for k in (-3, -2, -1, 0, 1, 2, 3)}
        values = np.array(list(at.values()))
        if not np.all(np.isfinite(values)) or np.max(np.abs(values)) > 1e8:
            return None
        right, left = ((2 * at[0] - 5 * at[s] + 4 * at[2 * s] - at[3 * s]) / h**2 for s in (1, -1))
        slopes = [s * (-11 * at[0] + 18 * at[s] - 9 * at[2 * s] + 2 * at[3 * s]) / (6 * h) for s in (1, -1)]
        center = (-at[2] + 16 * at[1] - 30 * at[0] + 16 * at[-1] - at[-2]) / (12 * h * h)
        size = float(np.max(np.abs(values)))
        if abs(right - left) > 2e-2 * (1.0 + abs(center)) or abs(slopes[0] - slopes[1]) > 1e-4 * (1.0 + abs(slopes[0])):
            return None
        bends.append((center, 1e-4 * (1.0 + abs(center)) + 1e-14 * size / h**2))
    return (bends[0][0] - bends[1][0]) / 4, bends[0][1] + bends[1][1]


# -------------------------------------------------------------------------------------------------------------- checks


class Points:
    """One signature of a case, at special points."""

    def __init__(self, case: Case, rng: Rng, python: bool = False) -> None:
        self.case, self.rng, self.python = case, rng, python
        self.fixed = signature(rng, case.specs, plain=True)
        self.base = inputs(rng, self.fixed, smooth=True)
        self.refusals: list[str] = []
        self.compared = 0

    def run(self, draws: int, second: bool) -> Iterator[str]:
        for _ in range(draws):
            drawn = specialised(self.rng, self.fixed, self.base)
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    expected = self.case.function(*copies(drawn).values())
                except Exception:
                    continue
                for text in self.problems(drawn, expected, second):
                    yield f"{self.case}({describe(self.fixed)}): {text}\n{show(drawn)}"

    def problems(self, drawn: dict[str, Any], expected: Any, second: bool) -> Iterator[str]:
        weights = self.weights(expected)
        directions = [direction(self.rng, a) for a in drawn.values()]
        if not any(v is not None for v in directions):
            return
        yield from self.first(drawn, weights, directions)
        if second and self.case.second and self.case.name not in KINKED:
            others = [direction(self.rng, a) for a in drawn.values()]
            yield from self.second(drawn, weights, directions, others)
            yield from self.fit(drawn, expected, directions, others)

    def weights(self, expected: Any) -> Any:
        """Some of them zero."""
        weights = cotangent(self.rng, expected)
        if isinstance(weights, np.ndarray) and self.rng.random() < 0.5:
            weights[self.rng.random(weights.shape) < 0.4] = 0.0
        return weights

    def attempt(self, what: str, run: Callable[[], Any]) -> Any:
        """None where it is refused."""
        try:
            return run()
        except zyg.Unsupported as error:
            self.refusals.append(f"{what} of {self.case}: {error}")
            return None

    # ---------------------------------------------------------------------------------------------------------- first

    def first(self, drawn: dict[str, Any], weights: Any, directions: list[Any]) -> Iterator[str]:
        function = self.case.function
        loss = lambda *xs: inner(weights, function(*xs))
        wanted = slope_at(loss, drawn, directions)
        found = {
            "reverse mode": self.attempt("gradient", lambda: zyg.pullback(function, *copies(drawn).values())[1](weights)),
            "Python": self.attempt(
                "gradient through Python", lambda: python_pullback(function, tuple(copies(drawn).values()))[1](weights)
            ),
        }  # fmt: skip
        slopes = {name: contracted(g, directions) for name, g in found.items() if g is not None}
        _, push = zyg.pushforward(function, *copies(drawn).values())
        tangent = push(*directions)
        slopes["forward mode"] = inner(weights, tangent) if tangent is not None else 0.0
        yield from self.disagreements("", wanted, slopes)

    def disagreements(self, order: str, wanted: tuple[float, float] | None, found: dict[str, float]) -> Iterator[str]:
        if wanted is not None:
            self.compared += 1
            for name, slope in found.items():
                if not abs(slope - wanted[0]) <= wanted[1]:
                    yield f"{order}{name} gives {slope}, differences {wanted[0]}"
        elif not order:
            yield from self.unlike(found)

    def unlike(self, found: dict[str, float]) -> Iterator[str]:
        """First derivatives where there is none."""
        values = list(found.values())
        finite = [v for v in values if np.isfinite(v)]
        if finite and (len(finite) < len(values) or max(finite) - min(finite) > 1e-8 * (1 + abs(max(finite, key=abs)))):
            yield f"where there is no derivative: {found}"

    # --------------------------------------------------------------------------------------------------------- second

    def second(self, drawn: dict[str, Any], weights: Any, directions: list[Any], others: list[Any]) -> Iterator[str]:
        function = self.case.function
        wanted = bend_at(lambda *xs: inner(weights, function(*xs)), drawn, directions, others)
        gradients = lambda *xs: zyg.pullback(function, *xs)[1](weights)
        yield from self.bends("second derivative: ", wanted, gradients, drawn, directions, others)

    def fit(self, drawn: dict[str, Any], expected: Any, directions: list[Any], others: list[Any]) -> Iterator[str]:
        """The misfit to what the function gives."""
        function, chosen = self.case.function, float_part(expected)
        if chosen is None:
            return
        part, target = chosen
        target = np.array(target) if isinstance(target, np.ndarray) else float(target)
        misfit = MISFITS[part](function, target)
        value = (lambda *xs: function(*xs)) if part is None else (lambda *xs: function(*xs)[part])
        rows = [jacobian_times(value, drawn, v) for v in (directions, others)]
        wanted = None
        if rows[0] is not None and rows[1] is not None:
            bend = 2 * float(np.sum(rows[0] * rows[1]))
            wanted = bend, 1e-5 * (1.0 + abs(bend))
        gradients = lambda *xs: zyg.pullback(misfit, *xs)[1](1.0)
        if wanted is not None:
            yield from self.bends("second derivative of a perfect fit: ", wanted, gradients, drawn, directions, others)

    def bends(
        self,
        order: str,
        wanted: tuple[float, float] | None,
        gradients: Callable[..., Any],
        drawn: dict[str, Any],
        directions: list[Any],
        others: list[Any],
    ) -> Iterator[str]:
        gradient = self.attempt(order, lambda: gradients(*copies(drawn).values()))
        if gradient is None:
            return
        own = [n for n, g in enumerate(gradient) if g is not None and others[n] is not None]
        if not own:
            return
        nothing = [None if g is None else np.zeros_like(g) for g in gradient]
        seeds = tuple(others[n] if n in own else nothing[n] for n in range(len(gradient)))
        found: dict[str, float] = {}

        def forward() -> float:
            tangents = zyg.pushforward(gradients, *copies(drawn).values())[1](*directions)
            return sum(inner(tangents[n], others[n]) for n in own if tangents is not None and tangents[n] is not None)

        runs = {
            "forward over reverse": forward,
            "reverse over reverse": lambda: contracted(
                zyg.pullback(gradients, *copies(drawn).values())[1](seeds), directions
            ),
        }
        if self.python:
            runs["Python"] = lambda: contracted(
                python_pullback(gradients, tuple(copies(drawn).values()))[1](seeds), directions
            )
        for name, run in runs.items():
            bend = self.attempt(f"{order}{name}", run)
            if bend is not None:
                found[name] = bend
        yield from self.disagreements(order, wanted, found)


MISFITS: dict[int | None, Callable[[Any, Any], Callable[..., Any]]] = {
    None: lambda f, target: lambda *xs: np.sum((f(*xs) - target) ** 2),
    0: lambda f, target: lambda *xs: np.sum((f(*xs)[0] - target) ** 2),
    1: lambda f, target: lambda *xs: np.sum((f(*xs)[1] - target) ** 2),
    2: lambda f, target: lambda *xs: np.sum((f(*xs)[2] - target) ** 2),
}


def float_part(value: Any) -> tuple[int | None, Any] | None:
    """What of a result is made of finite floats: None for all of it, or the index of the part."""
    if isinstance(value, tuple):
        return next(
            ((n, v) for n, v in enumerate(value[:3]) if float_part(v) is not None and not isinstance(v, tuple)), None
        )
    real = isinstance(value, (np.ndarray, np.floating, float)) and np.asarray(value).dtype == np.float64
    return (None, value) if real and np.all(np.isfinite(value)) else None


def jacobian_times(function: Callable[..., Any], drawn: dict[str, Any], directions: list[Any]) -> np.ndarray | None:
    """None where a slope is not the same on both sides."""
    h = STEP
    at = {k: np.asarray(function(*moved(drawn, directions, k * h)), dtype=float) for k in (-3, -2, -1, 0, 1, 2, 3)}
    right, left = ((s * (-11 * at[0] + 18 * at[s] - 9 * at[2 * s] + 2 * at[3 * s])) / (6 * h) for s in (1, -1))
    center = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)
    bends = [2 * at[0] - 5 * at[s] + 4 * at[2 * s] - at[3 * s] for s in (1, -1)]
    scale = 1.0 + np.abs(center)
    smooth = np.all(np.isfinite(center)) and np.all(np.abs(right - left) <= 1e-4 * scale)
    return (
        center
        if smooth and np.all(np.abs(bends[0] - bends[1]) <= 2e-2 * h * h * (10 + np.abs(bends[0]) / h**2))
        else None
    )


def contracted(gradients: Any, directions: list[Any]) -> float:
    return sum(inner(g, v) for g, v in zip(gradients, directions, strict=True) if g is not None and v is not None)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.arrays.points", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int, default=0, help="how many cases; all of them if it is 0")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=6, help="points of each")
    parser.add_argument(
        "--python", action="store_true", help="second derivatives through Python, too, which takes long"
    )
    parser.add_argument("--first", action="store_true", help="first derivatives alone")
    parser.add_argument("--part", default="0/1", help="I/N: of N parts, the one that begins with case I")
    options = parser.parse_args()
    faulthandler.enable()
    chosen = [c for c in with_entries(CASES) if c.derivative and not c.refused]
    chosen = [c for c in chosen if not options.names or any(n in str(c) for n in options.names)]
    part, parts = map(int, options.part.split("/"))
    chosen = chosen[part::parts]
    rng = np.random.default_rng(options.seed)
    if options.count:
        chosen = [chosen[int(i)] for i in rng.integers(len(chosen), size=options.count)]
    wrong = refused = compared = 0
    begin = time.monotonic()
    for case in chosen:
        points = Points(case, np.random.default_rng(int(rng.integers(2**31))), options.python)
        try:
            problems = list(points.run(options.draws, not options.first))
        except Exception as error:
            problems = [f"ERROR {case}({describe(points.fixed)}): {type(error).__name__}: {str(error)[:600]}"]
        compared += points.compared
        for text in problems[:2]:
            print(f"WRONG {text}", flush=True)
        for text in sorted(set(points.refusals)):
            print(f"REFUSED {text[:300]}", flush=True)
        wrong, refused = wrong + bool(problems), refused + bool(points.refusals)
    print(f"\n{len(chosen)} cases, {compared} derivatives compared with differences in {time.monotonic() - begin:.0f} s: {wrong} wrong, {refused} refused")  # fmt: skip
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
