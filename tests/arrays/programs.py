"""Random programs of whole arrays mixed with loops, branches, updates in place, views and helpers, against NumPy and differences.

    python -m tests.arrays.programs --count 200 --seed 1

Numbers stay of ordinary size (what grows is squashed), and a program has a few kinks only, so that differences tell; where two
steps of different length do not agree, nothing is said of the derivative.
"""

from __future__ import annotations

import argparse
import faulthandler
import itertools
import linecache
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import zyg

from ..oracles.differences import kinked

PARAMETERS = ("A", "B", "u", "v", "s")
_names = itertools.count()


class Writer:
    """Writes one program. `vectors` have n numbers, `matrices` n by n; all are float64."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng
        self.vectors = ["u", "v"]
        self.matrices = ["A", "B"]
        self.scalars = ["s"]
        self.lines: list[str] = []
        self.fresh = itertools.count()
        self.budget = int(rng.integers(3, 7))

    def pick(self, choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def number(self) -> str:
        return repr(float(np.round(self.rng.uniform(-1.5, 1.5), 2)))

    # ---------------------------------------------------------------------------------------------------- expressions

    def scalar(self, depth: int = 1) -> str:
        if depth == 0 or self.rng.random() < 0.3:
            return self.pick([*self.scalars, self.number()])
        v, A = self.vector(depth - 1), self.matrix(depth - 1)
        return self.pick([
            f"np.sum({v})", f"np.mean({A})", f"({v}) @ ({self.vector(depth - 1)})", f"np.max({v})", f"np.tanh({self.scalar(depth - 1)})",
            f"({A}).mean()", f"np.trace({A})", f"np.sin({self.scalar(depth - 1)} + {self.scalar(depth - 1)})",
            f"{self.pick(self.vectors)}[{self.pick(['0', '-1', '1', 'n - 1'])}]", f"{self.pick(self.matrices)}[1, {self.pick('01')}]",
            f"np.linalg.norm({v})", f"np.dot({v}, {self.pick(self.vectors)})", f"np.var({v})",
        ])  # fmt: skip

    def vector(self, depth: int = 2) -> str:
        if depth == 0 or self.rng.random() < 0.25:
            return self.pick(self.vectors)
        a, b = self.vector(depth - 1), self.vector(depth - 1)
        A = self.matrix(depth - 1)
        return self.pick([
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"np.sin({a})", f"np.tanh({a})", f"({a}) * {self.scalar(depth - 1)}",
            f"np.where({a} > {self.scalar(0)}, {a}, {b})", f"np.maximum({a}, {b})", f"np.abs({a})", f"np.exp(-({a}) ** 2)",
            f"({a}) / (1.0 + {b} * {b})", f"({A}) @ ({a})", f"np.sum({A}, axis={self.pick('01')})", f"({A}).mean(axis={self.pick('01')})",
            f"np.cumsum({a})", f"({a})[::-1]", f"np.roll({a}, 1)", f"({A})[{self.pick(['0', '-1', '1'])}]", f"({A})[:, {self.pick(['0', '-1'])}]",
            f"{self.pick(self.vectors)}[order]", f"np.sort({a})", f"np.diag({A})", f"np.clip({a}, -0.7, 0.8)", f"np.max({A}, axis=0)",
            f"np.concatenate((({a})[1:], ({b})[:1]))", "np.einsum('ij,j->i', " + f"{A}, {a})", f"helper({a}, {b})", f"({A}).T @ ({a})",
        ])  # fmt: skip

    def matrix(self, depth: int = 1) -> str:
        if depth <= 0 or self.rng.random() < 0.25:
            return self.pick(self.matrices)
        A, B, u = self.matrix(depth - 1), self.matrix(depth - 1), self.vector(depth - 1)
        return self.pick([
            f"({A} + {B})", f"({A} * {B})", f"({A}).T", f"np.tanh({A} @ {B})", f"({A} - {u})", f"({A} * ({u})[:, None])", f"np.outer({u}, {self.pick(self.vectors)})",
            f"np.sin({A})", f"np.where({A} > 0.1, {A}, {B})", f"np.exp({A} * 0.1)", f"({A})[::-1]", f"({A} * {self.scalar(0)})", f"np.tril({A})",
            f"({A})[:, order]", f"np.transpose({A})", f"np.cumsum({A}, axis=0)", f"np.minimum({A}, {u})", f"({u} + ({u})[:, None])", f"np.copy({A})", f"np.array({A})",
            f"np.sort({A}, axis={self.pick('01')})", f"np.roll({A}, 1, axis={self.pick('01')})", f"np.concatenate((({A})[1:], ({B})[:1]))",
            f"np.hstack((({A})[:, 1:], ({B})[:, :1]))", f"np.column_stack((({A})[:, 0], ({B})[:, 1:]))", f"np.einsum('ij->ji', {A})",
            f"np.einsum('ij,jk->ki', {A}, {B})", f"np.full_like({A}, {self.scalar(0)})", f"np.diff({A}, axis=0, append=0.5)",
            f"np.take({A}, order, axis={self.pick('01')})", f"(({A})[None] * ({B})[:, None]).sum({self.pick('012')})",
            f"np.asfortranarray({A})", f"({A}).copy({self.pick(['', repr('K'), repr('F')])})",
        ])  # fmt: skip

    # ----------------------------------------------------------------------------------------------------- statements

    def add(self, indent: int, text: str) -> None:
        self.lines.append("    " * (indent + 1) + text)

    def statements(self, indent: int, count: int) -> None:
        for _ in range(count):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.statement(indent)

    def statement(self, indent: int) -> None:
        kind = self.rng.random()
        if kind < 0.22:
            name = self.pick([*self.vectors, f"w{next(self.fresh)}"] if indent == 0 else self.vectors)
            self.add(indent, f"{name} = np.tanh({self.vector()})")
            if name not in self.vectors:
                self.vectors.append(name)
        elif kind < 0.36:
            name = self.pick([*self.matrices, f"M{next(self.fresh)}"] if indent == 0 else self.matrices)
            self.add(indent, f"{name} = np.sin({self.matrix()})")
            if name not in self.matrices:
                self.matrices.append(name)
        elif kind < 0.44:
            name = self.pick([*self.scalars, f"t{next(self.fresh)}"] if indent == 0 else self.scalars)
            self.add(indent, f"{name} = np.tanh({self.scalar()})")
            if name not in self.scalars:
                self.scalars.append(name)
        elif kind < 0.66:
            self.update(indent)
        elif kind < 0.74 and indent == 0:
            self.view()
        elif kind < 0.9 and indent < 2:
            self.add(indent, self.pick(["for k in range(3):", "for k in range(1, n):", "for _ in range(2):"]))
            self.statements(indent + 1, int(self.rng.integers(1, 4)))
            self.add(indent + 1, f"s = np.tanh(s + {self.scalar(1)})")
        elif indent < 2:
            self.add(indent, f"if {self.scalar(1)} > {self.number()}:")
            self.update(indent + 1)
            if self.rng.random() < 0.5:
                self.add(indent, "else:")
                self.update(indent + 1)
        else:
            self.update(indent)

    def update(self, indent: int) -> None:
        """In place; what is read may be what is written."""
        u, A = self.pick(self.vectors), self.pick(self.matrices)
        v = self.vector(1)
        self.add(indent, self.pick([
            f"{u} += 0.3 * {v}", f"{u} *= np.cos({v})", f"{u}[1:] -= 0.5 * ({v})[:-1]", f"{u}[::2] = {self.scalar(1)}", f"{u}[:] = np.tanh({v})",
            f"{A}[0] = {v}", f"{A}[:, 1] += {v}", f"{A} *= np.tanh({self.matrix(1)})", f"{A}[1:, :-1] -= 0.2 * {self.pick(self.matrices)}[:-1, 1:]",
            f"{A} -= np.tanh({v})", f"{u}[order] = np.sin({v})", f"{u}[{u} > 0.3] *= 0.5", f"np.add.at({u}, twice, 0.1 * {v})", f"{A}[order, twice] = {v}",
            f"{u}[twice] += 0.25", f"{A}[{A} < -0.5] = {self.scalar(0)}", f"{u}[0], {u}[1] = {u}[1], {u}[0]", f"scale({u}, {self.scalar(1)})",
            f"{u}[n - 1] = np.sin({self.scalar(1)})", f"np.multiply({u}, {v}, out={u})", f"{A}[1] = {A}[0] * {A}[1]",
            f"{u}[order] = {u}[::-1]", f"np.add.at({u}, twice, 0.5 * {u})", f"np.add.at({u}, twice, {u})", f"{A}[order] = {A}",
            f"{A}.ravel()[1:] *= np.cos({self.scalar(0)})", f"{A}.reshape(-1)[::2] += {self.scalar(0)}", f"{A}.T.ravel()[:2] = {self.scalar(0)}",
            f"np.ravel({A}, {self.pick([repr(x) for x in 'KAF'])})[:3] *= 0.5", f"{A}.reshape(n * n, 1)[n:] -= 0.25", f"{A}.flat[1::2] *= 0.75",
        ]))  # fmt: skip

    def view(self) -> None:
        name = f"w{next(self.fresh)}"
        A, u = self.pick(self.matrices), self.pick(self.vectors)
        if self.rng.random() < 0.3:
            name = f"M{next(self.fresh)}"
            self.add(0, f"{name} = {self.pick([f'{A}.T', f'{A}[::-1]', f'{A}[:, ::-1]'])}")
            self.matrices.append(name)
        else:
            self.add(
                0,
                f"{name} = {self.pick([f'{A}[0]', f'{A}[:, 1]', f'{u}[::-1]', f'{A}[-1]', f'{A}.reshape(-1)[::n + 1]', f'{A}.ravel()[:n]', f'{A}.T.reshape(-1)[1 : n + 1]', f'np.ravel({A}, order={chr(39)}K{chr(39)})[-n:]'])}",
            )
            self.vectors.append(name)
        self.update(0)

    def write(self) -> str:
        # What is bound in a loop or branch is bound before it too: names are made at the top level only.
        self.lines = []
        while self.budget > 0:
            self.statements(0, 1)
        total = " + ".join([f"np.sum({x} * {self.number()})" for x in [*self.vectors, *self.matrices]] + self.scalars)
        body = "\n".join(self.lines)
        return (
            "import numpy as np\n\n\n"
            "def helper(x, y):\n    z = x * 0.5\n    z[1:] += y[:-1]\n    for k in range(len(z)):\n"
            "        if z[k] > 0.2:\n            z[k] = np.sin(z[k])\n    return z\n\n\n"
            "def scale(x, t):\n    x *= np.cos(t)\n\n\n"
            f"def f({', '.join(PARAMETERS)}, order, twice):\n    n = len(u)\n{body}\n    return {total}\n"
        )


def drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Ordinary numbers, or special ones: zeros, ones, equal ones, a few whole ones, the identity."""
    ordinary = rng.normal(size=shape)
    how = int(rng.integers(16))
    special = {
        0: np.zeros(shape), 1: np.ones(shape), 2: np.full(shape, ordinary.flat[0]), 3: rng.integers(-1, 2, shape) * 1.0,
        4: np.eye(shape[0], shape[-1]) if len(shape) == 2 else np.eye(shape[0])[0], 5: np.where(rng.random(shape) < 0.3, 0.0, ordinary),
    }  # fmt: skip
    return special.get(how, ordinary)


def make(seed: int) -> tuple[str, Callable[[], tuple[Any, ...]]]:
    rng = np.random.default_rng(seed)
    source = Writer(rng).write()
    n = int(rng.integers(2, 5))
    values: list[Any] = [drawn(rng, shape) for shape in ((n, n), (n, n), (n,), (n,))]
    values.append(float(rng.normal() if rng.random() < 0.8 else rng.integers(-1, 2)))
    values[:2] = [np.asfortranarray(x) if rng.random() < 0.25 else x for x in values[:2]]
    order, twice = rng.permutation(n), rng.integers(0, n, n)

    def fresh() -> tuple[Any, ...]:
        return (*(np.copy(x) if isinstance(x, np.ndarray) else x for x in values), order.copy(), twice.copy())

    return source, fresh


def load(source: str) -> Callable[..., Any]:
    filename = f"<arrays program {next(_names)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    scope: dict[str, Any] = {"__name__": __name__}
    exec(compile(source, filename, "exec"), scope)
    return scope["f"]


def moved(x: Any, d: Any) -> Any:
    """A number or an array, which stays in its order in memory, and what is added to it."""
    y = np.copy(x) if isinstance(x, np.ndarray) else x
    y += d
    return y


def near(a: Any, b: Any, tolerance: float) -> bool:
    return bool(np.all(np.abs(np.asarray(a) - np.asarray(b)) <= tolerance * (1.0 + np.abs(np.asarray(b)))))


def check(seed: int) -> Iterator[str]:
    """What is wrong with a program; raises what the compiler refuses."""
    source, fresh = make(seed)
    f = load(source)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        plain = fresh()
        expected = f(*plain)
        given = fresh()
        found = zyg.jit(f)(*given)
        if not near(found, expected, 1e-10):
            yield f"value {found} instead of {expected}"
            return
        for name, mine, theirs in zip(PARAMETERS, given, plain):
            if not near(mine, theirs, 1e-10):
                yield f"{name} is left as {mine} instead of {theirs}"
        count = len(PARAMETERS)
        with_slope = fresh()
        value, slopes = zyg.jit(zyg.value_and_grad(f, tuple(range(count))))(*with_slope)
        if not near(value, expected, 1e-10):
            yield f"with its gradient, value {value} instead of {expected}"
        rng = np.random.default_rng(seed)
        for _ in range(2):
            direction = [rng.uniform(-1, 1, np.shape(x)) for x in fresh()[:count]]
            slope = sum(float(np.sum(d * s)) for d, s in zip(direction, slopes) if s is not None)
            tangents = *(d if d.ndim else float(d) for d in map(np.asarray, direction)), None, None
            _, tangent = zyg.jvp(f, fresh(), tangents)
            if not near(tangent, slope, 1e-9):
                yield f"slope {slope} in reverse mode, {tangent} in forward mode, along {direction}"

            def at(h: float, direction: Any = direction) -> float:
                args = fresh()
                return f(*(moved(x, h * d) for x, d in zip(args, direction)), *args[count:])

            steps = [(8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h) for h in (1e-4, 3e-5)]
            if (
                near(steps[0], steps[1], 1e-7)
                and not near(slope, steps[1], 1e-6)
                and not kinked(at, 0.0, tolerance=1e-6)
            ):
                yield f"slope {slope} instead of {steps[1]} along {direction}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.arrays.programs")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    faulthandler.enable()
    wrong = refused = 0
    for seed in range(options.seed, options.seed + options.count):
        try:
            problems = list(check(seed))
        except zyg.Unsupported as error:
            refused += 1
            print(f"seed {seed} refused: {str(error)[:300]}", flush=True)
            continue
        except Exception as error:
            problems = [f"{type(error).__name__}: {error}"[:800]]
        if problems:
            wrong += 1
            print(f"seed {seed}: {'; '.join(problems)}\n{make(seed)[0]}", flush=True)
    print(f"{options.count} programs: {wrong} wrong, {refused} refused")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
