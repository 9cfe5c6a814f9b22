"""`python -m tests.arrays.indices --count N --seed S`: keys of all kinds, drawn at random, against NumPy.

A key is drawn as a structure, for which code is compiled once (integers, slices, None, an ellipsis, arrays of integers and of
bools, lists, bools), and then with many arrays and indices.  Compared are `a[key]`, `a[key] = v`, `a[key] += v` and
`np.add.at(a, key, v)`: values, shapes, types, exceptions.  Indexing is linear: the derivative of `sum(w * a[key])` by `a` is
`np.add.at(zeros, key, w)`, and that of what is assigned is what is left of the weights at the key.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import zyg

Rng = np.random.Generator
PARTS = ("int", "slice", "all", "array", "array", "matrix", "bytes", "list", "mask", "mask2", "flags")
EXTRAS = ("none", "ellipsis", "bool")


@dataclass
class Key:
    """A structure: a source text whose parameters p0, p1, ... are drawn for the axes that they are for."""

    text: str
    parts: list[str]
    axes: list[int]  # the first axis that a part is for
    ndim: int

    def draw(self, rng: Rng, shape: tuple[int, ...], common: tuple[int, ...]) -> list[Any]:
        """Values for the parameters; arrays of indices have the shape `common`, or one that broadcasts to it."""
        values: list[Any] = []
        for part, axis in zip(self.parts, self.axes):
            n = shape[axis] if axis is not None else 0
            wrong = rng.random() < 0.03
            low, high = (-n - 1, n + 1) if wrong else (-n, n)
            if part == "int":
                values.append(int(rng.integers(low, high)) if high > low else 0)
            elif part == "slice":
                values += [int(rng.integers(-n - 1, n + 2)), int(rng.integers(-n - 1, n + 2))]
            elif part in ("array", "matrix", "bytes"):
                own = (
                    common[-1:]
                    if part == "array"
                    else (rng.choice([1, common[0]]), *common[1:])
                    if part == "matrix"
                    else common[-1:]
                )
                kind = {"bytes": np.uint8}.get(part, np.int64 if rng.random() < 0.7 else np.int32)
                if part == "bytes":
                    low = 0
                drawn = rng.integers(low, high, size=own) if high > low else np.zeros(own, np.int64)
                values.append(drawn.astype(kind))
            elif part == "mask":
                values.append(rng.random(n + wrong) < 0.5)
            elif part == "mask2":
                assert axis is not None
                values.append(rng.random((n, shape[axis + 1])) < 0.5)
        return values


def draw_key(rng: Rng) -> Key:
    ndim = int(rng.integers(1, 5))
    text: list[str] = []
    parts: list[str] = []
    axes: list[int] = []
    axis = count = 0
    ellipsis = False

    def parameter() -> str:
        nonlocal count
        count += 1
        return f"p{count - 1}"

    while axis < ndim and rng.random() < 0.9:
        if rng.random() < 0.2:
            extra = EXTRAS[int(rng.integers(len(EXTRAS)))]
            if extra == "none":
                text.append("None")
            elif extra == "bool" and rng.random() < 0.3:
                text.append(str(bool(rng.random() < 0.7)))
            elif extra == "ellipsis" and not ellipsis:
                ellipsis = True
                text.append("...")
                axis += int(rng.integers(0, ndim - axis + 1))
            continue
        part = PARTS[int(rng.integers(len(PARTS)))]
        if part == "mask2" and axis + 2 > ndim:
            continue
        if part == "all":
            text.append(":")
        elif part == "slice":
            step = str(rng.choice(["", ":1", ":2", ":-1", ":-2"]))
            text.append(f"{parameter()}:{parameter()}{step}")
        elif part == "list":
            text.append("[0, -1, 0]" if rng.random() < 0.5 else "[0]")
        elif part == "flags":
            text.append("[True, False]" if rng.random() < 0.2 else "[0, 0]")
        else:
            text.append(parameter())
        if part not in ("all", "list", "flags"):
            parts.append(part)
            axes.append(axis)
        axis += 2 if part == "mask2" else 1
    if ellipsis:  # axes behind it are counted from the end
        behind = ndim - axis
        seen = False
        for n, written in enumerate(_owners(text)):
            seen = seen or text[n] == "..."
            if written is not None and seen:
                axes[written] += behind
    return Key(", ".join(text) + ("," if len(text) == 1 else "") or "...", parts, axes, ndim)


def _owners(text: list[str]) -> list[int | None]:
    """For each part of a key which of the parts with parameters it is."""
    owners: list[int | None] = []
    count = 0
    for t in text:
        has = t.startswith("p")
        owners.append(count if has else None)
        count += has
    return owners


def base(rng: Rng, ndim: int, dtype: str) -> tuple[Any, tuple[int, ...]]:
    """An array, contiguous or not, by one with which it shares no memory."""
    shape = tuple(int(n) for n in rng.choice([0, 1, 2, 2, 3, 4], size=ndim))
    a = rng.integers(-9, 10, size=shape).astype(dtype)
    if dtype == "D":
        a = a + 1j * rng.integers(-9, 10, size=shape)
    return a, shape


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    try:
        return f(*args)
    except (IndexError, ValueError, TypeError) as error:
        return error


def agree(expected: Any, found: Any) -> bool:
    if isinstance(expected, Exception) or isinstance(found, Exception):
        return type(expected) is type(found)
    x, y = np.asarray(expected), np.asarray(found)
    return x.shape == y.shape and x.dtype == y.dtype and np.array_equal(x, y)


class Indexing:
    """The functions of one key, compiled."""

    def __init__(self, key: Key):
        self.key = key
        names = ", ".join(["a", *(f"p{n}" for n in range(sum(1 + (p == "slice") for p in key.parts)))])
        source = (
            f"def get({names}):\n    return a[{key.text}]\n"
            f"def put({names}, v):\n    a[{key.text}] = v\n"
            f"def add({names}, v):\n    a[{key.text}] += v\n"
            f"def at({names}, v):\n    np.add.at(a, ({key.text.replace('p0:', 'p0:')}), v)\n"
            f"def weighed({names}, w):\n    return np.sum(a[{key.text}] * w)\n"
            f"def assigned({names}, v, w):\n    b = a * 1.0\n    b[{key.text}] = v\n    return np.sum(b * w)\n"
        )
        if ":" in key.text:
            source = source.replace(f"def at({names}, v):\n    np.add.at(a, ({key.text}), v)\n", "")
        self.functions: dict[str, Any] = {"np": np}
        exec(source, self.functions)
        self.compiled = {n: zyg.jit(f) for n, f in self.functions.items() if n in ("get", "put", "add", "at")}

    def check(self, rng: Rng, dtype: str, layout: str) -> str | None:
        """What is wrong, or None."""
        a, shape = base(rng, self.key.ndim, dtype)
        if layout == "A":
            a = np.repeat(a, 2, axis=-1)[..., ::2]
        common = tuple(int(n) for n in rng.choice([0, 1, 2, 3], size=2))
        values = self.key.draw(rng, shape, common)
        expected = outcome(self.functions["get"], a.copy(), *values)
        found = outcome(self.compiled["get"], a.copy(), *values)
        if not agree(expected, found):
            return f"a[{self.key.text}] of {shape}, {values}: {expected!r}, not {found!r}"
        result = np.shape(expected) if not isinstance(expected, Exception) else (2,)
        for name in ("put", "add", "at"):
            if name not in self.compiled:
                continue
            for v in (2, rng.integers(0, 9, size=result).astype(dtype), np.ones(result[-1:], dtype), np.ones(5, dtype)):
                if name == "at" and np.ndim(v) and np.shape(v) != result:
                    continue  # NumPy 2.4 reads past the end of values that it should broadcast
                one, two = a.copy(), a.copy()
                expected, found = (
                    outcome(f[name], array, *values, v) for f, array in ((self.functions, one), (self.compiled, two))
                )
                if isinstance(expected, Exception) != isinstance(found, Exception) or not np.array_equal(one, two):
                    return f"{name} [{self.key.text}] of {shape}, {values}, {v!r}: {expected!r} {one!r}, not {found!r} {two!r}"
        if dtype == "d" and not isinstance(outcome(self.functions["get"], a, *values), Exception):
            return self.check_derivatives(rng, a, values)
        return None

    def check_derivatives(self, rng: Rng, a: Any, values: list[Any]) -> str | None:
        selected = self.functions["get"](a, *values)
        w = rng.normal(size=np.shape(selected))
        places = self.functions["get"](np.arange(a.size).reshape(a.shape), *values)
        expected = np.zeros(a.size)
        np.add.at(expected, places, w)
        found = zyg.gradient(self.functions["weighed"], a, *values, w)[0]
        if not np.allclose(found, expected.reshape(a.shape)):
            return f"derivative of a[{self.key.text}], {values}: {expected.reshape(a.shape)}, not {found}"
        v, w = rng.normal(size=np.shape(selected)), rng.normal(size=a.shape)
        gradient = zyg.gradient(self.functions["assigned"], a, *values, v, w)
        left = w.copy()
        self.functions["put"](left, *values, 0.0)
        if not np.allclose(gradient[0], left):
            return f"derivative of a[{self.key.text}] = v by a, {values}: {left}, not {gradient[0]}"
        last = np.full(a.size, -1)
        order = np.arange(np.size(places))
        last[np.ravel(places)] = order  # the last one wins
        wins = last[np.ravel(places)] == order
        by_value = np.where(wins, w.reshape(-1)[np.ravel(places)], 0.0).reshape(np.shape(places))
        if not np.allclose(gradient[1 + len(values)], by_value):
            return f"derivative of a[{self.key.text}] = v by v, {values}: {by_value}, not {gradient[1 + len(values)]}"
        return None


def run(count: int, seed: int, draws: int = 8) -> list[str]:
    wrong = []
    for n in range(count):
        rng = np.random.default_rng([seed, n])
        indexing = Indexing(draw_key(rng))
        dtype, layout = str(rng.choice(["d", "d", "l", "D"])), str(rng.choice(["C", "C", "A"]))
        for _ in range(draws):
            try:
                fault = indexing.check(rng, dtype, layout)
            except Exception as error:  # what is found is to be shown with its key
                fault = f"[{indexing.key.text}]: {type(error).__name__}: {error}"
            if fault is not None:
                wrong.append(f"seed {seed}, key {n}: {fault}")
                break
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    faults = run(options.count, options.seed)
    print("\n".join(faults))
    print(f"{options.count} keys, {len(faults)} wrong")
