"""`python -m tests.frontend.number_joins`: Python's and NumPy's numbers that meet at a join, in each construct, with each operation behind it.

Native code gives what CPython gives, of its type, or raises (an int past 64 bits, a division by zero), or refuses. Which of Python's
types and float64 it is, or int and int64, is lost where they meet (docs/semantics.md).
"""

from __future__ import annotations

import itertools
import textwrap
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import zyg

DTYPES = ("float32", "int32", "uint8", "int64", "float64", "bool")
STARTS = (
    "0",
    "300",
    "7",
    "0.1",
    "1e300",
    "True",
    "2.5j",
    "np.float64(0.1)",
    "np.float32(0.1)",
    "np.int64(300)",
    "np.uint8(200)",
)
# Each leaves in `r` a start on one path and an element on another.
CONSTRUCTS = {
    "branch": "r = {start}\nif c:\n    r = a[0]",
    "conditional": "r = a[0] if c else {start}",
    "never": "r = {start}\nfor v in a:\n    if v > 250:\n        r = v",
    "always": "r = {start}\nfor v in a:\n    r = v",
    "sum": "r = {start}\nfor v in a:\n    if c:\n        r += v",
    "product": "r = {start}\nfor v in a:\n    if c:\n        r *= v",
    "difference": "r = {start}\nfor v in a:\n    if c:\n        r = r - v",
    "builtin sum": "r = sum((v for v in a if c), {start})",
    "max": "r = max(a[0], {start})",
    "min": "r = min({start}, a[0], a[1])",
    "default": "r = max((v for v in a if c), default={start})",
    "or": "r = c and a[0] or {start}",
    "function": "def g(c):\n    if c:\n        return a[0]\n    return {start}\nr = g(c)",
    "lambda": "r = (lambda p: p if c else {start})(a[1])",
    "cell": "s = {start}\ndef g():\n    nonlocal s\n    if c:\n        s = a[0]\ng()\nr = s",
    "tuple": "t = (1, {start})\nif c:\n    t = (2, a[0])\nk, r = t",
    "item": "r = ({start}, a[0])[k - 2]",
    "list": "l = [{start}]\nif c:\n    l = [a[0]]\nr = l[0]",
    "appended": "l = [{start}]\nfor v in a:\n    l.append(v)\nr = l[k - 2] if c else l[0]",
    "field": "o = Cell()\no.v = {start}\nif c:\n    o.v = a[0]\nr = o.v",
    "dict": "d = {{'v': {start}}}\nif c:\n    d['v'] = a[0]\nr = d['v']",
    "generator": "def g():\n    yield {start}\n    yield a[0]\nfor v in g():\n    r = v\n    if not c:\n        break",
    "none": "r = None\nif c:\n    r = a[0]\nif r is None:\n    r = {start}",
    "twice": "r = {start}\nfor v in a:\n    if v > 2:\n        r = v\n    elif not c:\n        r = r + 1",
    "try": "try:\n    r = a[9 if c else 0]\nexcept IndexError:\n    r = {start}",
}  # fmt: skip
OPERATIONS = (
    "r", "r * 3", "r + 100", "r * 100000 * 100000", "r * 1e300", "1 / (r - r)", "1.5 - r", "r * r", "r ** 2", "2 ** r", "r // 2",
    "7 % (r + 1)", "-r", "abs(r)", "~r", "r << 3", "r & 5", "r * a[1]", "a * r", "r / a", "np.array([1, 2]) * r",
    "np.ones(2, np.float32) * r", "r == 300", "r < a[0]", "float(r)", "int(r)", "bool(r)", "not r", "round(r)", "math.sqrt(abs(r))",
    "np.sqrt(abs(r))", "np.exp(r)", "max(r, 1)", "min(a[0], r)", "(r, 1)", "[r, r]", "[0.5, r]", "f'{r}'", "str(r)", "isinstance(r, float)",
    "isinstance(r, np.generic)", "type(r)", "r.real", "r.dtype", "np.float32(r) * 3", "np.add(r, r)", "np.where(a > 2, r, a)", "np.array([r, 1])", "a.sum() + r",
    "np.full(2, r)", "sum([r, 1])", "np.maximum(r, a)", "divmod(r, 2)", "round(r, 1)", "range(r)[0]", "a[r]", "written(a, r)", "np.clip(a, 0, r)",
    "r if r > 3 else r * r", "[v for v in a if v > r]", "r and 5", "complex(r)", "hash(r) == 0", "r in (300, 1)", "{'v': r}", "np.linspace(0, r, 3)", "pow(r, 3)", "math.floor(r)", "r + 1j",
    "np.full(2, 1.5, np.float32) + r", "np.abs(r)", "np.isnan(r)", "np.sum(r)", "np.dot(a, r)", "sorted([r, 0])",
    "r is True", "r is False", "(r, r)[k - 2] is True", "(r and True) is True", "max(r, True) is True",
)  # fmt: skip


class Cell:
    v: Any


def written(a: np.ndarray, r: Any) -> np.ndarray:
    b = a.copy()
    b[0] = r
    b[1:] += b[0]
    return b


NAMESPACE = {"np": np, "Cell": Cell, "written": written, "math": __import__("math")}


def program(construct: str, start: str, operation: str) -> Any:
    body = textwrap.indent(CONSTRUCTS[construct].format(start=start), "    ")
    namespace = dict(NAMESPACE)
    exec(f"def f(a, c, k=2):\n{body}\n    return {operation}", namespace)
    return namespace["f"]


def elements(dtype: str) -> np.ndarray:
    return np.array([200, 2, 7, 100], dtype)


def outcome(f: Any, *args: Any) -> Any:
    try:
        return f(*args)
    except zyg.Unsupported:
        return zyg.Unsupported
    except Exception as error:
        return error


# What loses its class where it meets, as docs/semantics.md has it.
_JOINED = (
    {bool, int, float, np.float64},
    {np.int64, float},
    {bool, int, np.int64},
    {bool, np.bool_},
    {int, float, complex, np.float64, np.complex128, bool},
)


def alike(found: Any, wanted: Any) -> bool:
    """Whether a value, its type and what it holds are CPython's, or differ as is documented."""
    if isinstance(wanted, (tuple, list, dict)):
        if isinstance(wanted, dict):
            found, wanted = list(found.values()), list(wanted.values())
        return len(found) == len(wanted) and all(map(alike, found, wanted))
    if isinstance(wanted, np.ndarray):
        return isinstance(found, np.ndarray) and found.dtype == wanted.dtype and _close(found, wanted)
    if isinstance(wanted, (int, float, complex, np.generic)):
        if type(found) is not type(wanted) and not any({type(found), type(wanted)} <= kinds for kinds in _JOINED):
            return False
        return _close(found, wanted)
    return bool(found == wanted)


def _close(found: Any, wanted: Any) -> bool:
    kind = np.result_type(found, wanted) if isinstance(wanted, (np.ndarray, np.generic)) else np.dtype(float)
    if not isinstance(wanted, np.ndarray) and isinstance(wanted, int) and isinstance(found, int):
        return bool(found == wanted)
    return np.shape(found) == np.shape(wanted) and bool(
        np.all(np.isclose(found, wanted, rtol=1e-6 if kind == np.float32 else 1e-14, atol=0.0, equal_nan=True))
    )


def judge(f: Any, a: np.ndarray, c: bool) -> str:
    """How native code does: "right", "refused", "loud" where it raises and CPython goes on, or "wrong"."""
    wanted, found = outcome(f, a.copy(), c), outcome(zyg.jit(f), a.copy(), c)
    if found is zyg.Unsupported:
        return "refused"
    if isinstance(found, Exception):
        if isinstance(wanted, Exception):
            return "right" if type(wanted) is type(found) else f"wrong: {wanted!r}, natively {found!r}"
        loud = isinstance(found, (OverflowError, ZeroDivisionError, ValueError))
        return f"loud: {wanted!r}, natively {found!r}" if loud else f"wrong: {wanted!r}, natively {found!r}"
    right = not isinstance(wanted, Exception) and alike(found, wanted)
    return "right" if right else f"wrong: {wanted!r}, natively {found!r}"


def cases(
    dtypes: Any = DTYPES, starts: Any = STARTS, constructs: Any = tuple(CONSTRUCTS), operations: Any = OPERATIONS
) -> Iterator[Any]:
    yield from itertools.product(constructs, operations, starts, dtypes)


def main(step: int = 1, start: int = 0, show: str = "wrong") -> None:
    counts: dict[str, int] = {}
    for construct, operation, first, dtype in itertools.islice(cases(), start, None, step):
        f = program(construct, first, operation)
        for c in (False, True):
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                found = judge(f, elements(dtype), c)
            kind = found.partition(":")[0]
            counts[kind] = counts.get(kind, 0) + 1
            if kind in show:
                print(f"{construct} of {first} and {dtype}, {operation}, c={c}: {found}", flush=True)
    print(counts)


if __name__ == "__main__":
    import sys

    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
