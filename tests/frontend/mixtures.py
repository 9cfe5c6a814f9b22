"""`python -m tests.frontend.mixtures`: operands of all kinds in all forms of expressions, natively against CPython.

Each form with each pair of kinds, as arguments and written out. Native code gives what CPython gives, raises where it raises, or
refuses. What an int that meets a float gives (docs/semantics.md) and 0-d results are compared by value alone.
"""

from __future__ import annotations

import copy
import itertools
import math
import re
import warnings
from collections import namedtuple
from typing import Any

import numpy as np

import zyg

Pair = namedtuple("Pair", "a b")
KINDS: dict[str, Any] = {
    "n": 2, "negative": -2, "x": 1.5, "truth": True, "z": 1 + 2j, "nx": np.float64(0.5), "ni": np.int64(3), "nf": np.float32(0.25),
    "nb": np.bool_(True), "items": (1.5, 2), "pair": Pair(1.0, 2), "listed": [1.5, 2.0], "array": np.array([1.0, 2.0]),
    "ints": np.array([1, 2]), "mask": np.array([True, False]), "matrix": np.eye(2), "text": "ab", "none": None, "d": {"a": 1.0},
}  # fmt: skip
WRITTEN = ("n", "negative", "x", "items", "text", "none")
BINARY = [
    *(f"p {op} q" for op in "+ - * / // % ** @ < >= == != in is and or & | ^ << >>".split()),
    *(f"{f}(p, q)" for f in "divmod max min pow round np.maximum np.add np.power math.atan2 math.hypot np.full sum".split()),
    "p[q]", "[*p, q]", "range(p, q)[0]", "np.where(p, q, 1.0)", "isinstance(p, type(q))",
]  # fmt: skip
UNARY = [
    *(f"{op} p" for op in "- + ~ not".split()),
    *(f"{f}(p)" for f in "abs len int float bool complex round sum max min sorted list tuple any all repr str".split()),
    *(f"{f}(p)" for f in "math.sqrt math.floor math.trunc np.sqrt np.sum np.mean np.array np.ndim np.shape np.sort".split()),
    "p[0]", "p[-1]", "p[1:]", "p.real", "p.sum()", "p.count(1)", "p.a", "[v for v in p]",
]  # fmt: skip


def outcome(f: Any, args: list[Any]) -> Any:
    try:
        return f(*copy.deepcopy(args))
    except zyg.Unsupported:
        return zyg.Unsupported
    except Exception as error:
        return type(error)


def alike(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, type):
        return isinstance(found, type)  # which exception is for other tests
    if isinstance(wanted, (np.ndarray, np.generic, int, float, complex)):
        if not isinstance(found, (np.ndarray, np.generic, int, float, complex)) or np.shape(found) != np.shape(wanted):
            return False
        return bool(np.all(np.isclose(found, wanted, rtol=1e-14, equal_nan=True)))
    if isinstance(wanted, (tuple, list)):
        return type(found) is type(wanted) and len(found) == len(wanted) and all(map(alike, found, wanted))
    return found == wanted


def cases() -> Any:
    for form in UNARY:
        for p in KINDS:
            yield form, (p,), {}
    for form in BINARY:
        for p, q in itertools.product(KINDS, KINDS):
            yield form, (p, q), {}
            if q in WRITTEN:
                yield form, (p,), {"q": KINDS[q]}
            if p in WRITTEN:
                yield form, (q,), {"p": KINDS[p]}


def documented(form: str, args: list[Any], wanted: Any) -> bool:
    """What docs/semantics.md says is different: powers of ints and of negative numbers."""
    return (
        re.search(r"\*\*|pow\(", form) is not None
        and not isinstance(wanted, type)
        and not any(isinstance(a, np.ndarray) for a in args)
    )


def main() -> None:
    warnings.simplefilter("ignore")
    counts = {"right": 0, "refused": 0, "documented": 0, "other": 0}
    for form, names, written in cases():
        parameters = [name for name in ("p", "q") if name not in written][: len(names)]
        text = form
        for name, value in written.items():
            text = re.sub(rf"\b{name}\b", f"({value!r})", text)
        try:
            f = eval(f"lambda {', '.join(parameters)}: {text}", {"np": np, "math": math, "Pair": Pair})
        except SyntaxError:
            continue
        args = [KINDS[name] for name in names]
        wanted, found = outcome(f, args), outcome(zyg.jit(f), args)
        kind = "refused" if found is zyg.Unsupported else "right" if alike(found, wanted) else "other"
        if kind == "other" and found is ValueError and documented(text, args, wanted):
            kind = "documented"
        counts[kind] += 1
        if kind == "other":
            print(f"{text}  with {', '.join(names)}: CPython {wanted!r}, natively {found!r}", flush=True)
    print(counts)


if __name__ == "__main__":
    main()
