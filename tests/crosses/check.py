"""A program, which is the text of a function's body in `x`, checked in every mode of differentiation through both back ends.

Values and exceptions are CPython's; first and second derivatives are compared with differences of what CPython computes.
"""

from __future__ import annotations

import itertools
import linecache
import textwrap
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import zyg

AT = 0.7
_numbers = itertools.count()
_THROUGH_PYTHON = "try:\n{}\nfinally:\n    len([])"  # what native code refuses


_NUMBERS = (int, float, complex, np.number, np.bool_)


def made(body: str, known: dict[str, Any], argument: str = "x") -> Callable[[Any], Any]:
    """A function of one argument, by a source that tracebacks and refusals can show; what stands before a line of dashes is defined
    outside of it."""
    outside, _, inside = body.rpartition("\n---\n")
    source = f"def f({argument}):\n" + textwrap.indent(inside, "    ") + "\n" + outside
    name = f"<cross {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = dict(known)
    exec(compile(source, name, "exec", dont_inherit=True), namespace)
    return namespace["f"]


def through_python(body: str) -> str:
    outside, dashes, inside = body.rpartition("\n---\n")
    return outside + dashes + _THROUGH_PYTHON.format(textwrap.indent(inside, "    "))


def differences(f: Callable[[float], Any], x: float) -> tuple[float, float] | None:
    """f'(x) and f''(x); None where two steps do not agree: there is a kink, or f remembers its calls."""
    found = []
    for h in (1e-3, 7e-4):
        a, b, c, d, e = (float(f(x + k * h)) for k in (-2, -1, 0, 1, 2))
        found.append(((8 * (d - b) - (e - a)) / (12 * h), (16 * (d + b) - (e + a) - 30 * c) / (12 * h * h)))
    (first, second), (again, afresh) = found
    if not _near(first, again, 1e-6) or not _near(second, afresh, 1e-4):
        return None
    return first, second


def _near(found: Any, wanted: float, tolerance: float) -> bool:
    return abs((0.0 if found is None else found) - wanted) <= tolerance * (1 + abs(wanted))


def _value_of(f: Callable[[float], Any], x: float) -> Any:
    try:
        value = f(x)
    except Exception as error:
        return type(error)
    return value if isinstance(value, _NUMBERS) or (isinstance(value, np.ndarray) and value.ndim == 0) else None


def _gradient(f: Any, x: float) -> Any:
    return zyg.withgradient(f, x)[1][0]


def _forward(f: Any, x: float) -> Any:
    return zyg.jvp(f, (x,), (1.0,))[1]


def _reverse_over_reverse(f: Any, x: float) -> Any:
    return zyg.gradient(lambda y: zyg.gradient(f, y)[0] or 0.0, x)[0]


FIRST = {"gradient": _gradient, "forward": _forward}
SECOND = {"hvp": lambda f, x: zyg.hvp(f, x, 1.0), "reverse over reverse": _reverse_over_reverse}


def check(
    body: str, known: dict[str, Any], second: bool = False, natively: bool = True, x: float = AT
) -> Iterator[tuple[str, str]]:
    """What came of it: pairs of a mode and "right", "refused", or what is wrong."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = made(body, known)
        wanted = _value_of(f, x)
        if wanted is None or not (isinstance(wanted, type) or np.isfinite(wanted)):
            yield "value", "no number"
            return
        if isinstance(wanted, type) and zlib.crc32(body.encode()) % 8:
            yield "value", "raises"
            return
        slopes = differences(f, x) if isinstance(wanted, (float, np.floating, np.ndarray)) else None
        g = made(through_python(body), known)
        yield "python value", _of_value(lambda: zyg.pullback(g, x)[0], wanted)
        if natively:
            yield "native value", _of_value(lambda: zyg.jit(f)(x), wanted)
        if slopes is None:
            return
        for back_end, function in (("python", g), ("native", f)):
            if back_end == "native" and not natively:
                continue
            for mode, derivative in FIRST.items():
                yield f"{back_end} {mode}", _of_slope(lambda: derivative(function, x), slopes[0], 1e-6)  # noqa: B023
            for mode, derivative in SECOND.items() if second else ():
                yield f"{back_end} {mode}", _of_slope(lambda: derivative(function, x), slopes[1], 1e-4)  # noqa: B023


def _of_value(run: Callable[[], Any], wanted: Any) -> str:
    try:
        found = run()
    except zyg.Unsupported:
        return "refused"
    except Exception as error:
        if _is_documented(error):
            return "refused"
        alike = isinstance(wanted, type) and type(error) in wanted.__mro__[:-3]
        return "right" if alike else f"{wanted} wanted, {_described(error)}"
    same = (
        not isinstance(wanted, type)
        and (isinstance(found, _NUMBERS) or type(found) is type(wanted))
        and _near(found, wanted, 1e-6 if getattr(wanted, "dtype", None) == np.float32 else 1e-12)
    )
    return "right" if same else f"{wanted!r} wanted, {found!r} found"


def _of_slope(run: Callable[[], Any], wanted: float, tolerance: float) -> str:
    try:
        found = run()
    except zyg.Unsupported:
        return "refused"
    except Exception as error:
        if _is_documented(error):
            return "refused"
        return f"{wanted!r} wanted, {_described(error)}"
    return "right" if _near(found, wanted, tolerance) else f"{wanted!r} wanted, {found!r} found"


def _is_documented(error: Exception) -> bool:
    """Powers whose type depends on the value (docs/semantics.md)."""
    return isinstance(error, ValueError) and "may not depend on the value" in str(error)


def _described(error: Exception) -> str:
    return f"{type(error).__name__} raised: {str(error)[:200]}"
