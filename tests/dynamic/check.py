"""Checks one dynamic program: value, exception and changed arguments against CPython, gradients against dual numbers, through
the back end that zyg chooses and through the Python back end."""

from __future__ import annotations

import itertools
import linecache
import math
import warnings
from collections.abc import Callable
from typing import Any

import zyg
from zyg.fallback import python_pullback

from . import oracle
from .generate import Program

_numbers = itertools.count()


class Mismatch(AssertionError):
    pass


class Skipped(Exception):
    """The program does not allow a comparison."""


def check(program: Program, through: str = "both") -> str:
    """`through` is "both", or "python" for the Python back end alone, which is quicker. The result tells which back ends it went
    through: zyg falls back to Python where native code refuses."""
    number = next(_numbers)
    filename = f"<dynamic {number}>"
    linecache.cache[filename] = (len(program.source), None, program.source.splitlines(True), filename)
    kind, expected, expected_args = outcome(program, filename, lambda f, args: f(*args))
    if kind == "value":
        if not math.isfinite(expected):
            raise Skipped("the value is not finite")
        gradients = derivatives(program, filename)
    ways = [("the Python back end", through_python)]
    if through == "both":
        ways.insert(0, ("zyg.withgradient", through_zyg))
    native = through == "both"
    for name, run in ways:
        found_kind, found, found_args = outcome(program, filename, run)
        if run is through_zyg:
            native = not refused_natively.pop()
        if kind != found_kind or (kind == "raised" and type(expected) is not type(found)):
            cause = found if isinstance(found, Exception) else None
            raise Mismatch(f"CPython {kind} {expected!r}; {name} {found_kind} {found!r}") from cause
        if not same(expected_args, found_args):
            raise Mismatch(f"CPython leaves the arguments as {expected_args}, {name} as {found_args}")
        if kind == "value":
            value, gradient = found
            if not math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-14):
                raise Mismatch(f"CPython gives {expected!r}, {name} {value!r}")
            if len(gradient) != len(gradients):
                raise Mismatch(f"{len(gradient)} gradients for {len(gradients)} arguments")
            for at, (wanted, g) in enumerate(zip(gradients, gradient)):
                compare(wanted, g, f"d{program.parameters[at]}", name)
    return "both back ends" if native else "the Python back end"


def check_second(program: Program) -> str:
    """The second derivative by the first argument, through the Python back end."""
    check(program, "python")
    if program.parameters[0][0] != "x":
        raise Skipped("the first argument is no float")
    filename = f"<dynamic {next(_numbers) - 1}>"
    kind, _, _ = outcome(program, filename, lambda f, args: f(*args))
    if kind != "value":
        raise Skipped("it raises")
    wanted = oracle.second_derivative(program, filename)
    if not math.isfinite(wanted) or abs(wanted) > 1e8:
        raise Skipped("the second derivative is not finite, or very large")
    module = oracle.module_of(program, filename)
    x, *rest = oracle.arguments(program, module)
    slope = lambda x: zyg.gradient(module.f, x, *rest)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        try:
            value, back = python_pullback(slope, (x,), {})
            found = 0.0 if value is None else back(1.0)[0]
        except zyg.Unsupported as error:
            raise Skipped("refused, as documented") from error
    compare(wanted, found, "d2x0", "the Python back end")
    return "the Python back end, second derivatives too"


def outcome(program: Program, filename: str, run: Callable[[Any, list[Any]], Any]) -> tuple[str, Any, Any]:
    """("value", v, arguments afterwards) or ("raised", error, arguments afterwards), in a module of its own."""
    module = oracle.module_of(program, filename)
    args = oracle.arguments(program, module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        try:
            value = run(module.f, args)
        except (zyg.ZygError, RecursionError):
            raise
        except Exception as error:
            return "raised", error, plain(args)
    return "value", value, plain(args)


refused_natively: list[bool] = []


def through_zyg(f: Any, args: list[Any]) -> Any:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", zyg.FallbackWarning)
        try:
            return zyg.withgradient(f, *args)
        finally:
            refused_natively.append(any(issubclass(w.category, zyg.FallbackWarning) for w in warned))


def through_python(f: Any, args: list[Any]) -> Any:
    value, back = python_pullback(f, tuple(args), {})
    return value, back(1.0)


def plain(value: Any) -> Any:
    """A structure of numbers as nested dicts."""
    if oracle.is_number(value):
        return value
    return {key: plain(part) for key, part in oracle.parts(value)}


def same(x: Any, y: Any) -> bool:
    if isinstance(x, dict):
        return isinstance(y, dict) and list(x) == list(y) and all(same(x[k], y[k]) for k in x)
    # An int among floats is a float for native code.
    return not isinstance(y, dict) and math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-14)


def derivatives(program: Program, filename: str) -> list[Any]:
    """By dual numbers; checked to be stable, which they are not at a kink or where rounding is amplified."""
    _, gradients = oracle.value_and_gradient(program, filename)
    for found in numbers(gradients):
        if not math.isfinite(found) or abs(found) > 1e8:
            raise Skipped("a derivative is not finite, or very large")
    return gradients


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for part in value for number in numbers(part)]
    return [value]


def compare(wanted: Any, found: Any, place: str, name: str) -> None:
    if isinstance(wanted, dict):
        for key, part in wanted.items():
            compare(part, None if found is None else part_of(found, key, place, name), f"{place}[{key!r}]", name)
        return
    given = 0.0 if found is None else found
    if not isinstance(given, (int, float)) or not abs(given - wanted) <= 1e-9 * (1.0 + abs(wanted)):
        raise Mismatch(f"{place}: dual numbers give {wanted!r}, {name} {found!r}")


def part_of(gradient: Any, key: Any, place: str, name: str) -> Any:
    try:
        return gradient[key] if isinstance(gradient, (dict, list)) or isinstance(key, int) else getattr(gradient, key)
    except (KeyError, IndexError, AttributeError, TypeError):
        raise Mismatch(f"{place} of {name} is {gradient!r}, without {key!r}") from None
