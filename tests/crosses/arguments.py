"""Kinds of arguments x what a function does with them x ways to ask for derivatives, against differences by each number in them."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import zyg

from .check import made, through_python

Pair = namedtuple("Pair", "u w")


@dataclasses.dataclass
class Data:
    u: Any
    w: Any


class Plain:
    def __init__(self, u: Any, w: Any):
        self.u, self.w = u, w


M = np.array([[0.7, 1.3, -0.4], [0.2, 2.1, 0.9]])
KINDS: dict[str, Any] = {
    "float": 0.7, "np.float64": np.float64(0.7), "0-d": np.array(0.7), "array": M[0].copy(), "matrix": M.copy(), "fortran": np.asfortranarray(M), "strided": M[:, ::2], "reversed": M[0][::-1], "transposed": M.T,
    "one": np.array([0.7]), "cube": M.reshape(1, 2, 3).copy(), "list": [0.7, 1.3], "tuple": (0.7, 1.3), "nested": [(0.7, 1.3), [0.2, 0.9]], "dict": {"u": 0.7, "w": 1.3}, "arrays": [M[0].copy(), M[1].copy()], "named": Pair(0.7, 1.3),
    "data": Data(0.7, 1.3), "plain": Plain(0.7, 1.3), "data of arrays": Data(M[0].copy(), M.copy()), "dict of arrays": {"u": M[0].copy(), "w": 1.3}, "with None": {"u": 0.7, "w": None, "v": 1.3}, "deep": {"u": [Pair(0.7, M[0].copy())], "w": (1.3,)},
    "ordered": OrderedDict(w=0.7, u=1.3), "tuple of arrays": (M[0].copy(), 1.3), "list of data": [Data(0.7, 1.3), Data(0.2, 0.9)], "read-only": M[0].copy(),
}  # fmt: skip
KINDS["read-only"].flags.writeable = False


def leaves(v: Any) -> Iterator[Any]:
    """The numbers in a structure, in order."""
    if isinstance(v, dict):
        v = list(v.values())
    elif dataclasses.is_dataclass(v) or type(v) is Plain:
        v = list(vars(v).values())
    if isinstance(v, np.ndarray):
        yield from (float(x) for x in v.ravel())
    elif isinstance(v, (list, tuple)):
        for item in v:
            yield from leaves(item)
    elif isinstance(v, float):
        yield float(v)


def rebuilt(v: Any, numbers: Iterator[float]) -> Any:
    """The same structure, of other numbers."""
    if isinstance(v, np.ndarray):
        made = np.array([next(numbers) for _ in range(v.size)]).reshape(v.shape)
        return made
    if isinstance(v, float):
        return type(v)(next(numbers))
    if isinstance(v, dict):
        return type(v)((k, rebuilt(w, numbers)) for k, w in v.items())
    if isinstance(v, Pair):
        return Pair(*(rebuilt(w, numbers) for w in v))
    if isinstance(v, (list, tuple)):
        return type(v)(rebuilt(w, numbers) for w in v)
    if dataclasses.is_dataclass(v) or type(v) is Plain:
        return type(v)(**{k: rebuilt(w, numbers) for k, w in vars(v).items()})
    return v


TOTAL = """
def total(v, k=1.0):
    if isinstance(v, (float, int)):
        return v * v * k + 0.3 * v
    if v is None:
        return 0.0
    if isinstance(v, np.ndarray):
        return np.sum(v ** 3) * k + np.sum(v * v[::-1] if v.ndim else v)
    t = 0.0
    if isinstance(v, dict):
        for n in v:
            t = t * 1.1 + total(v[n], k + 1.0)
        return t
    if isinstance(v, (list, tuple)):
        for item in v:
            t = t * 1.1 + total(item, k + 1.0)
        return t
    return total(v.u, k) * total(v.w, k + 1.0)
"""
FUNCTIONS = {
    "total": "return total(v)", "product": "return total(v) * total(v, 2.0)", "twice": "return total([v, v])", "kept": "d = {'k': v}\nreturn total(d['k']) * 2.0", "copied": "return total(copy.deepcopy(v))",
    "called": "return (lambda w: total(w, 3.0))(v)", "by keyword": "return total(k=1.5, v=v)",
    "in place": "if isinstance(v, np.ndarray):\n    v *= 2.0\nelif isinstance(v, list) and isinstance(v[0], float):\n    v[0] *= v[-1]\nelif isinstance(v, dict) and isinstance(v['w'], float):\n    v['w'] = v['w'] ** 2\nelif isinstance(v, Data) and isinstance(v.u, float):\n    v.u *= v.w\nreturn total(v)",
    "rebuilt": "if isinstance(v, (list, tuple)):\n    v = [*v, v[0]]\nelif isinstance(v, np.ndarray):\n    v = np.concatenate([v.ravel(), v.ravel()[:1]])\nelif isinstance(v, dict):\n    v = {**v, 'q': v['u']}\nreturn total(v)",
}  # fmt: skip
KNOWN = {"np": np, "copy": copy, "Data": Data}


def function(body: str) -> Callable[[Any], Any]:
    known = dict(KNOWN)
    exec(TOTAL, known)
    return made(body, known, "v")


def differences(f: Callable[[Any], Any], v: Any, direction: list[float], h: float = 1e-4) -> float:
    """Of f along a direction."""
    xs = list(leaves(v))
    at = lambda k: float(f(rebuilt(v, iter([x + k * h * d for x, d in zip(xs, direction, strict=True)]))))
    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)


def programs(seed: int) -> Iterator[tuple[str, str, str]]:
    return itertools.islice(itertools.product(FUNCTIONS, KINDS, ("natively", "through Python")), seed, None)


def check(case: tuple[str, str, str], second: bool = False) -> Iterator[tuple[str, str]]:
    name, kind, back_end = case
    f = function(FUNCTIONS[name] if back_end == "natively" else through_python(FUNCTIONS[name]))
    xs = list(leaves(KINDS[kind]))
    wanted = [differences(f, KINDS[kind], [float(k == n) for n in range(len(xs))]) for k in range(len(xs))]
    direction = [0.5 - 0.3 * k for k in range(len(xs))]
    along = sum(w * d for w, d in zip(wanted, direction, strict=True))
    tangent = rebuilt(KINDS[kind], iter(direction))

    def fresh() -> Any:
        v = copy.deepcopy(KINDS[kind])
        if kind in ("strided", "reversed", "transposed"):
            base = M.copy()
            v = {"strided": base[:, ::2], "reversed": base[0][::-1], "transposed": base.T}[kind]
        return v

    ways: dict[str, tuple[Callable[[], Any], list[float]]] = {
        "gradient": (lambda: leaves(zyg.gradient(f, fresh())[0]), wanted),
        "value and gradient": (lambda: leaves(zyg.withgradient(f, fresh())[1][0]), wanted),
        "grad of the second": (lambda: leaves(zyg.grad(lambda a, v: f(v) * a, 1)(1.0, fresh())), wanted),
        "pullback twice": (lambda: leaves(_pulled_twice(f, fresh())), [2 * w for w in wanted]),
        "forward": (lambda: leaves(zyg.jvp(f, (fresh(),), (tangent,))[1]), [along]),
        "pushforward": (lambda: leaves(zyg.pushforward(f, fresh())[1](tangent)), [along]),
        "jacobian": (lambda: leaves(zyg.jacobian(f, fresh())), wanted),
        "checkpoint": (lambda: leaves(zyg.gradient(lambda v: zyg.checkpoint(f, v), fresh())[0]), wanted),
    }
    if second:
        slope = lambda v: sum(g * d for g, d in zip(leaves(zyg.gradient(f, v)[0]), direction, strict=True))
        bends = [differences(slope, KINDS[kind], [float(k == n) for n in range(len(xs))]) for k in range(len(xs))]
        ways["hvp"] = (lambda: leaves(zyg.hvp(f, fresh(), tangent)), bends)
    for way, (run, expected) in ways.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = list(run())
            except zyg.Unsupported:
                yield way, "refused"
                continue
            except Exception as error:
                yield way, f"{type(error).__name__}: {str(error)[:200]}"
                continue
        same = len(found) == len(expected) and np.allclose(found, expected, rtol=1e-5, atol=1e-6)
        yield way, "right" if same else f"{expected} wanted, {found} found"


def _pulled_twice(f: Callable[[Any], Any], v: Any) -> Any:
    back = zyg.pullback(f, v)[1]
    back(1.0)
    return back(2.0)[0]
