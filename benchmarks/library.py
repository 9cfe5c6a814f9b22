"""What the standard library and builtin containers do for programs with numbers in them, one part at a time: for gradients through the Python back
end. As in `everyday`, each program takes a tenth of a millisecond or so."""

from __future__ import annotations

import ast
import csv
import difflib
import functools
import io
import itertools
import math
import operator
import struct
from collections.abc import Callable, Iterator
from dataclasses import asdict, astuple, dataclass, field
from datetime import date
from typing import Any, NamedTuple

from .everyday import VALUES, registering

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}
program = registering(PROGRAMS)

# ------------------------------------------------------------------------------------------------ text that is read

_FLOWS = [(f"20{20 + k // 12}-{1 + k % 12:02}-{1 + (7 * k) % 28:02}", 0.1 * k - 1.0) for k in range(40)]


@program(0.05)
def dates_from_text(rate: float) -> float:
    """Present values of flows whose days are written out."""
    start, total = date.fromisoformat(_FLOWS[0][0]), 0.0
    for _ in range(3):
        for day, amount in _FLOWS:
            years = (date.fromisoformat(day) - start).days / 365.0
            total += amount / (1.0 + rate) ** years
    return total


_PACKED = struct.pack("<60d", *VALUES[:60])


@program(0.7)
def binary_records(x: float) -> float:
    row, total = struct.Struct("<2d"), 0.0
    for k in range(0, 60, 2):
        a, b = struct.unpack_from("<2d", _PACKED, 8 * k)
        c, d = row.unpack_from(_PACKED, 8 * k)
        total += a * x + b * x * x + c * d
    for (v,) in struct.iter_unpack("<d", _PACKED):
        total += v * x
    return total + len(struct.pack("<d", total)) * x + int.from_bytes(_PACKED[:2], "big") * x


_SETTINGS = ["{'a': 1.5, 'b': [2.0, 3.0]}", "{'a': 0.5, 'b': [1.0]}"]


@program(0.7)
def settings_from_text(x: float) -> float:
    total = 0.0
    for text in _SETTINGS:
        settings = ast.literal_eval(text)
        total += settings["a"] * x + sum(b * x * x for b in settings["b"])
    names = {"alpha": x, "beta": x * x, "gamma": 1.0}
    for word in ("alfa", "bata", "gama"):
        (name,) = difflib.get_close_matches(word, names, 1)
        total += names[name]
    return total


@program(VALUES[:20], 0.19)
def tables_that_are_written(prices: list[float], tax: float) -> float:
    target, total = io.StringIO(), 0.0
    writer = csv.DictWriter(target, ["k", "net", "gross"])
    writer.writeheader()
    for k, price in enumerate(prices):
        row = {"k": k, "net": price, "gross": price * (1.0 + tax)}
        writer.writerow(row)
        total += row["gross"]
    return total + 0.001 * len(target.getvalue().splitlines())


# ------------------------------------------------------------------------------------------------------ data classes


@dataclass
class _Layer:
    name: str
    depth: Any
    density: Any = 1.0


@dataclass
class _Column:
    layers: list[_Layer]
    factor: Any = 1.0
    notes: dict[str, Any] = field(default_factory=dict)


@program(VALUES[:6], 0.3)
def data_classes_as_dicts(depths: list[float], factor: float) -> float:
    total = 0.0
    for k in range(3):
        column = _Column([_Layer(f"l{i}", d * (k + 1)) for i, d in enumerate(depths)], factor, {"k": factor * k})
        plain = asdict(column)
        plain["layers"][0]["depth"] *= 2.0
        total += sum(layer["depth"] * layer["density"] for layer in plain["layers"]) * plain["factor"]
        total += plain["notes"]["k"] + sum(astuple(layer)[1] for layer in column.layers)
        total += 0.001 * sum(len(repr(layer)[:6]) for layer in column.layers)
    return total


class _Limits(NamedTuple):
    low: Any
    high: Any


@program(VALUES[:60], 0.2, 0.9)
def captured_named_tuples(values: list[float], low: float, high: float) -> float:
    limits = _Limits(low, high)

    def scaled(v: Any) -> Any:
        return (v - limits.low) / (limits.high - limits.low)

    return sum(scaled(v) ** 2 for v in values)


# ---------------------------------------------------------------------------------------------------------- functions


def _priced(margin: Any, **fixed: Any) -> Callable[..., Any]:
    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def call(*args: Any, **kwargs: Any) -> Any:
            return f(*args, margin=margin, **(fixed | kwargs))

        return call

    return decorate


@program(VALUES[:30], 0.3)
def decorators_with_options(lengths: list[float], margin: float) -> float:
    @_priced(margin, scale=2.0)
    def price(length: Any, width: Any = 1.0, *, margin: Any, scale: Any = 1.0) -> Any:
        return length * width * scale * (1.0 + margin)

    return sum(price(v) + price(v, 0.5) + price(v, width=v, scale=1.5) for v in lengths)


# ------------------------------------------------------------------------------------------------------- containers


@program(VALUES[:8])
def lists_in_place(values: list[float]) -> float:
    total = 0.0
    for k in range(20):
        items = values[k % 4 :] + values[:1]
        items[-1] += 0.1 * k
        items.reverse()
        del items[0]
        items[1:3] = [items[2], items[1] * 1.1]
        items.sort()
        total += items[0] * items[::-1][1] + sum(items.copy())
    return total


@program(VALUES[:30], 0.9)
def running_totals(values: list[float], keep: float) -> float:
    total = sum(itertools.accumulate(itertools.repeat(keep, 60), lambda a, b: 0.99 * a + b))
    total += sum(map(lambda v, k: v * keep * k, values, range(30))) + sum(
        map(operator.mul, itertools.repeat(keep), values)
    )

    def decays() -> Iterator[Any]:
        v = keep
        while True:
            yield v
            v = 0.9 * v + 0.01

    total += sum(itertools.islice(decays(), 60))
    return total + sum(itertools.accumulate(range(30), lambda a, k: a * keep + k, initial=keep))


# ------------------------------------------------------------------------------------- what arguments hold, in depth


_MODEL = {
    "name": "run",
    "solver": {"kind": "rk4", "step": 0.01, "steps": 60},
    "spring": {"mass": 1.5, "force": {"k": 2.0, "c": 0.1, "label": "s"}, "ends": [0.0, 1.0, 3.0]},
    "parts": [{"id": k, "weight": 0.1 * k, "tags": ["x"] * (k % 3)} for k in range(6)],
}


@program(_MODEL)
def settings_in_arguments(model: dict[str, Any]) -> float:
    """Dicts in dicts, with numbers and texts."""
    solver, force, mass = model["solver"], model["spring"]["force"], model["spring"]["mass"]
    x, v = model["spring"]["ends"][1], 0.0
    for _ in range(solver["steps"]):
        v -= (force["k"] * x + force["c"] * v) / mass * solver["step"]
        x += v * solver["step"]
    return x + sum(part["weight"] ** 2 for part in model["parts"])


class _Node:
    def __init__(self, depth: int, at: int = 1):
        self.value = 0.1 * at
        self.left = _Node(depth - 1, 2 * at) if depth else None
        self.right = _Node(depth - 1, 2 * at + 1) if depth else None

    def total(self, scale: Any) -> Any:
        below = [node.total(0.9 * scale) for node in (self.left, self.right) if node is not None]
        return scale * self.value**2 + sum(below)


@program(_Node(4), 0.7)
def trees_of_objects(root: _Node, scale: float) -> float:
    return root.total(scale)


def _tree(depth: int, at: int = 1) -> dict[str, Any]:
    parts = [_tree(depth - 1, 2 * at + k) for k in range(2)] if depth else []
    return {"name": f"n{at}", "cost": 0.1 + 0.01 * at, "parts": parts}


@program(_tree(4), 0.07)
def trees_of_dicts(tree: dict[str, Any], overhead: float) -> float:
    """The cost of all, and its dearest part with the names that lead to it."""

    def cost(node: dict[str, Any], depth: int) -> Any:
        return (node["cost"] + sum(cost(p, depth + 1) for p in node["parts"])) * (1.0 + overhead / (1.0 + depth))

    def walk(node: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        path = (*path, node["name"])
        yield "/".join(path), math.sin(7.0 * node["cost"])
        for part in node["parts"]:
            yield from walk(part, path)

    name, most = max(walk(tree, ()), key=lambda item: item[1])
    return cost(tree, 0) + most * len(name)


__all__ = ["PROGRAMS"]
