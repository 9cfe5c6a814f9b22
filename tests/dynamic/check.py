"""Checks one dynamic program: value, exception and changed arguments of each of its calls against CPython, gradients against dual
numbers, through the back end that zyg chooses and, where that is native code, through the Python back end as well."""

from __future__ import annotations

import itertools
import linecache
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import zyg
from zyg.fallback import python_pullback

from . import oracle
from .tools import Program

_numbers = itertools.count()

# What docs/semantics.md says is refused.
DOCUMENTED = re.compile(
    "a derivative by (an operand of `.*`, which a special method has kept|what `.*` passes to Python code)"
    "|through the arguments of an? \\w+ that was not raised by differentiated code"
    "|the derivative of a call that was left by an exception, which was caught"
    "|with a number that is one object in several places of the arguments"
    "|a derivative by an int through `.*`, which has a cache"
    "|an exception that is thrown into a generator which gives the items of another one"
    "|StopIteration out of (`.*`,|a function) which an iterator calls"
    "|the derivative by what was passed to a call that was left by an exception"
    "|items chosen by Python code that changes something"
)


class Mismatch(AssertionError):
    pass


class Skipped(Exception):
    """The program does not allow a comparison."""


@dataclass
class Outcome:
    """Of one call: what it gives or raises, and its arguments afterwards, as plain structures."""

    kind: str  # "value" or "raised"
    result: Any
    args: Any


def check(program: Program, through: str = "both") -> str:
    """`through` is "both", or "python" for the Python back end alone. The result tells which back ends it went through: where
    native code refuses, what zyg chooses is the Python back end."""
    filename = _named(program)
    try:
        expected = outcomes(program, filename, lambda f, *args: f(*args))
    except RecursionError:
        raise Skipped("it calls itself without end") from None
    if not all(math.isfinite(call.result) for call in expected if call.kind == "value"):
        raise Skipped("a value is not finite")
    gradients = derivatives(program, filename, expected)
    native = False
    if through == "both":
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            found = outcomes(program, filename, zyg.withgradient)
        native = not any(issubclass(w.category, zyg.FallbackWarning) for w in warned)
        _compare_calls(program, expected, gradients, found, "zyg.withgradient", native)
    if native or through == "python":
        found = outcomes(program, filename, through_python)
        _compare_calls(program, expected, gradients, found, "the Python back end")
    return "both back ends" if native else "the Python back end"


def check_second(program: Program) -> str:
    """The second derivative by the first argument, through the Python back end."""
    check(program, "python")
    if program.parameters[0][0] != "x":
        raise Skipped("the first argument is no float")
    filename = _named(program)
    if outcomes(program, filename, lambda f, *args: f(*args))[0].kind != "value":
        raise Skipped("it raises")
    wanted = oracle.second_derivative(program, filename)
    if not math.isfinite(wanted) or abs(wanted) > 1e8:
        raise Skipped("the second derivative is not finite, or very large")
    module = oracle.module_of(program, filename)
    x, *rest = next(oracle.calls(program, module))
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


def _named(program: Program) -> str:
    """A file name under which the program's lines are found."""
    filename = f"<dynamic {next(_numbers)}>"
    linecache.cache[filename] = (len(program.source), None, program.source.splitlines(True), filename)
    return filename


def outcomes(program: Program, filename: str, run: Callable[..., Any]) -> list[Outcome]:
    """Of the program's calls, one after the other, in a module of their own."""
    module = oracle.module_of(program, filename)
    found: list[Outcome] = []
    for args in oracle.calls(program, module):
        try:
            result = run(module.f, *args)
        except zyg.Unsupported as refusal:
            if DOCUMENTED.search(str(refusal)):
                raise Skipped("refused, as documented") from refusal
            raise
        except (zyg.ZygError, RecursionError):
            raise
        except Exception as error:
            found.append(Outcome("raised", error, plain(args)))
        else:
            found.append(Outcome("value", result, plain(args)))
    return found


def through_python(f: Any, *args: Any) -> Any:
    value, back = python_pullback(f, args, {})
    gradient, again = back(1.0), back(1.0)
    # What NumPy sums may be rounded otherwise the next time, by where the memory lies.
    if not same(plain(gradient), plain(again)):
        raise Mismatch(f"the pullback gives {gradient}, and {again} when it is called again")
    return value, gradient


def _compare_calls(
    program: Program,
    expected: list[Outcome],
    gradients: list[Any],
    found: list[Outcome],
    name: str,
    native: bool = False,
) -> None:
    for number, (want, have, slopes) in enumerate(zip(expected, found, gradients)):
        try:
            _compare_call(program.parameters, want, have, slopes, name, native)
        except Mismatch as mismatch:
            mismatch.add_note(f"in call {number + 1} of {len(expected)}")
            raise


def _compare_call(
    parameters: tuple[str, ...], want: Outcome, have: Outcome, slopes: list[Any], name: str, native: bool
) -> None:
    if want.kind != have.kind or (want.kind == "raised" and type(want.result) is not type(have.result)):
        cause = have.result if isinstance(have.result, Exception) else None
        raise Mismatch(f"CPython {want.kind} {want.result!r}; {name} {have.kind} {have.result!r}") from cause
    if not same(want.args, have.args):
        if native and want.kind == "raised":  # as documented: what compiled code has changed is written when it returns
            raise Skipped("compiled code raises, and leaves the arguments as they were")
        raise Mismatch(f"CPython leaves the arguments as {want.args}, {name} as {have.args}")
    if want.kind == "raised":
        return
    value, gradient = have.result
    if not math.isclose(value, want.result, rel_tol=1e-12, abs_tol=1e-14):
        raise Mismatch(f"CPython gives {want.result!r}, {name} {value!r}")
    if len(gradient) != len(slopes):
        raise Mismatch(f"{len(gradient)} gradients for {len(slopes)} arguments")
    for parameter, wanted, g in zip(parameters, slopes, gradient):
        compare(wanted, g, f"d{parameter}", name)


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


_ANOTHER_CLASS = "dual numbers are of another class than those of the program, which asks for it"


def derivatives(program: Program, filename: str, expected: list[Outcome]) -> list[list[Any]]:
    """Of each call, by dual numbers."""
    try:
        values, gradients = oracle.gradients(program, filename, [call.kind == "value" for call in expected])
    except OverflowError:
        raise Skipped("a derivative is not finite, or very large") from None
    except TypeError as error:
        if "'Dual'" not in str(error):
            raise
        raise Skipped(_ANOTHER_CLASS) from None  # (a NumPy number goes through what looks like a sequence, say)
    for call, value in zip(expected, values):
        if value is not None and not math.isclose(call.result, value, rel_tol=1e-9, abs_tol=1e-9):
            raise Skipped(_ANOTHER_CLASS)
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
