"""Checks one program: zyg against CPython for values, and against dual numbers for derivatives."""

from __future__ import annotations

import itertools
import linecache
import math
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import zyg
from zyg.library.drivers import several as several_at_once

from ..oracles import dual
from .generate import Program

_names = itertools.count()


class Mismatch(AssertionError):
    pass


def load(program: Program) -> Callable[..., Any]:
    """The program's `f`, compiled so that tracebacks show its source."""
    filename = f"<program {next(_names)}>"
    linecache.cache[filename] = (len(program.source), None, program.source.splitlines(True), filename)
    module = types.ModuleType(__name__)  # dataclasses look their module up
    exec(compile(program.source, filename, "exec"), module.__dict__)
    return module.f


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[str, Any]:
    """("value", v) or ("raised", class)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return "value", function(*args)
        except zyg.ZygError:
            raise
        except Exception as error:
            if type(error) is RuntimeError or any(note.startswith("zyg:") for note in getattr(error, "__notes__", ())):
                raise  # the compiler itself failed
            return "raised", type(error)


def equal(x: Any, y: Any) -> bool:
    """The same to the last bit (any NaN equals any NaN), in value and in kind."""
    if isinstance(x, np.ndarray):
        return x.dtype == y.dtype and x.shape == y.shape and np.array_equal(x, y, equal_nan=True)
    if isinstance(x, (float, np.floating)):
        return isinstance(y, float) and (x == y or (math.isnan(x) and math.isnan(y)))
    return bool(x == y)


def check_value(program: Program, f: Callable[..., Any]) -> tuple[str, Any]:
    """Value, exception and mutated arguments as in CPython; returns CPython's outcome. Whole numbers are passed as ints and bools,
    too, to the function that was called with floats."""
    compiled = zyg.jit(f, vectormath=False)
    expected = check_call(program, f, compiled, lambda arg: arg)
    for other in (_as_int, _as_bool):
        if any(type(other(arg)) is not type(arg) for arg in program.args) and expected[0] == "value":
            check_call(program, f, compiled, other)
    return expected


def _as_int(arg: Any) -> Any:
    return int(arg) if isinstance(arg, float) and arg.is_integer() else arg


def _as_bool(arg: Any) -> Any:
    return bool(arg) if isinstance(arg, float) and arg in (0.0, 1.0) else arg


def check_call(
    program: Program, f: Callable[..., Any], compiled: Callable[..., Any], other: Callable[[Any], Any]
) -> tuple[str, Any]:
    """The same for one call, with arguments that `other` gives for the program's."""
    expected_args, actual_args = (tuple(map(other, program.fresh_args())) for _ in range(2))
    expected = outcome(f, expected_args)
    actual = outcome(compiled, actual_args)
    if expected[0] != actual[0] or not equal(expected[1], actual[1]):
        types = ", ".join(type(arg).__name__ for arg in actual_args)
        raise Mismatch(f"CPython gives {expected}, zyg {actual} for ({types})")
    if expected[0] == "value":
        for name, x, y in zip(program.parameters, expected_args, actual_args):
            if isinstance(x, np.ndarray) and not equal(x, y):
                raise Mismatch(f"CPython leaves {name} as {x}, zyg as {y}")
    return expected


def _flat(entry: Any, like: Any) -> np.ndarray:
    return np.zeros(np.shape(like)).ravel() if entry is None else np.ravel(np.asarray(entry, dtype=float))


def _close(expected: np.ndarray, actual: np.ndarray) -> bool:
    scale = 1.0 + float(np.max(np.abs(expected), initial=0.0))
    return bool(np.all(np.abs(expected - actual) <= 1e-9 * scale))


def _well_conditioned(f: Callable[..., Any], program: Program, expected: np.ndarray) -> bool:
    """Whether inputs changed in their last digits leave the gradient as it is (no kink near, no amplified rounding)."""
    for factor in (1 + 1e-12, 1 - 1e-12):
        moved = tuple(
            arg * factor if isinstance(arg, float) or (isinstance(arg, np.ndarray) and arg.dtype.kind == "f") else arg
            for arg in program.fresh_args()
        )
        try:
            _, gradients = dual.value_and_gradient(f, *moved)
        except Exception:
            return False
        if not _close(expected, _concatenate(gradients, program.args)):
            return False
    return True


def _concatenate(gradients: tuple[Any, ...], args: tuple[Any, ...]) -> np.ndarray:
    return np.concatenate([_flat(g, arg) for g, arg in zip(gradients, args)])


def check_gradient(program: Program, f: Callable[..., Any], value: tuple[str, Any]) -> bool:
    """The gradient as by dual numbers; False where the program does not allow the comparison."""
    if value[0] == "raised":
        actual = outcome(lambda *args: zyg.gradient(f, *args), program.fresh_args())
        if actual != value:
            raise Mismatch(f"CPython raises {value[1].__name__}, zyg.gradient gives {actual}")
        return True
    try:
        _, gradients = dual.value_and_gradient(f, *program.fresh_args())
        expected = _concatenate(gradients, program.args)
    except (ArithmeticError, ValueError):
        return False  # NumPy scalars answer with inf and nan where duals raise
    if not np.all(np.isfinite(expected)) or np.max(np.abs(expected), initial=0.0) > 1e10:
        return False
    result, actual_gradients = zyg.withgradient(f, *program.fresh_args())
    if not (math.isclose(result, value[1], rel_tol=1e-12, abs_tol=1e-12) or equal(value[1], result)):
        raise Mismatch(f"the value is {value[1]!r}, with the gradient {result!r}")
    if len(actual_gradients) != len(program.args):
        raise Mismatch(f"{len(actual_gradients)} gradients for {len(program.args)} arguments")
    actual = _concatenate(actual_gradients, program.args)
    if not _close(expected, actual) and _well_conditioned(f, program, expected):
        raise Mismatch(f"dual numbers give the gradient\n  {gradients}\nzyg\n  {actual_gradients}")
    return True


def _directions(args: tuple[Any, ...], lanes: int) -> list[tuple[Any, ...]]:
    """Tangents for the arguments, a tuple of them for each lane: unlike one another, some of them zero."""
    random = np.random.default_rng(len(args) + lanes)

    def tangent(arg: Any) -> Any:
        if isinstance(arg, np.ndarray):
            return random.integers(-2, 3, arg.shape) / 2.0
        return float(random.integers(-2, 3)) / 2.0

    return [tuple(map(tangent, args)) for _ in range(lanes)]


def check_tangent(program: Program, f: Callable[..., Any], value: tuple[str, Any]) -> bool:
    """Forward mode, one direction alone and several at once, as by dual numbers."""
    single, *several = _directions(program.args, 3)
    if value[0] == "raised":
        actual = outcome(lambda *args: zyg.jvp(f, args, single), program.fresh_args())
        if actual != value:
            raise Mismatch(f"CPython raises {value[1].__name__}, zyg.jvp gives {actual}")
        return True
    try:
        _, gradients = dual.value_and_gradient(f, *program.fresh_args())
        expected = _concatenate(gradients, program.args)
    except (ArithmeticError, ValueError):
        return False
    if not np.all(np.isfinite(expected)) or np.max(np.abs(expected), initial=0.0) > 1e10:
        return False
    result, actual = zyg.jvp(f, program.fresh_args(), single)
    if not (math.isclose(result, value[1], rel_tol=1e-12, abs_tol=1e-12) or equal(value[1], result)):
        raise Mismatch(f"the value is {value[1]!r}, with a tangent {result!r}")
    joined = tuple(np.stack(ts, axis=-1) if isinstance(ts[0], np.ndarray) else ts for ts in zip(*several, strict=True))
    _, more = zyg.jit(lambda args, tangents: several_at_once(f, args, tangents, 2))(program.fresh_args(), joined)
    for direction, found in zip([single, *several], [actual, *more], strict=True):
        along = _concatenate(direction, program.args)
        wanted, scale = float(expected @ along), 1.0 + float(np.abs(expected) @ np.abs(along))
        if abs(found - wanted) > 1e-9 * scale and _well_conditioned(f, program, expected):
            raise Mismatch(f"dual numbers give the tangent {wanted} along {direction}, zyg {found}")
    return True


def _reverse(f: Callable[..., Any]) -> Callable[..., Any]:
    return zyg.grad(f)


def _forward(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *rest: zyg.jvp(lambda x: f(x, *rest), (x,), (1.0,))[1]


MIXES = {
    "reverse over reverse": (_reverse, _reverse),
    "forward over reverse": (_forward, _reverse),
    "reverse over forward": (_reverse, _forward),
    "forward over forward": (_forward, _forward),
}


def check_second(program: Program, f: Callable[..., Any], value: float) -> bool:
    """The second derivative in the first argument, in all mixes of modes, as by duals of duals; and that of a perfect fit, where
    first cotangents are 0."""
    rest = program.fresh_args()[1:]
    copies = lambda: tuple(a.copy() if isinstance(a, np.ndarray) else a for a in rest)
    lifted = dual.lift(f)
    inner = lambda x: dual.gradient(lambda x: lifted(x, *map(dual.promote, copies())), x)[0]
    try:
        slope = dual.value_of(inner(program.args[0]))
        expected = dual.value_of(dual.gradient(inner, program.args[0])[0])
    except (ArithmeticError, ValueError):
        return False
    if not math.isfinite(expected) or abs(expected) > 1e8 or abs(slope) > 1e4:
        return False
    if zyg.grad(f)(program.args[0], *copies()) is None:
        return False
    for name, (outer, inner_mode) in MIXES.items():
        actual = outer(inner_mode(f))(program.args[0], *copies())
        if abs((actual or 0.0) - expected) > 1e-7 * (1 + abs(expected)):
            nearby = [dual.value_of(dual.gradient(inner, program.args[0] * (1 + e))[0]) for e in (1e-11, -1e-11)]
            if all(abs(v - expected) <= 1e-7 * (1 + abs(expected)) for v in nearby):
                raise Mismatch(f"duals of duals give the second derivative {expected}, zyg by {name} {actual}")
    misfit = lambda x, *rest: (f(x, *rest) - value) ** 2
    for name, (outer, inner_mode) in MIXES.items():
        actual = outer(inner_mode(misfit))(program.args[0], *copies())
        if abs((actual or 0.0) - 2.0 * slope**2) > 1e-7 * (1 + 2.0 * slope**2 + abs(expected)):
            raise Mismatch(f"a perfect fit has the second derivative {2.0 * slope**2}, zyg by {name} {actual}")
    return True


def check(program: Program, what: str = "gradient") -> None:
    """`what` is "value", "gradient" (that too, in both modes), or "second" (all of it)."""
    f = load(program)
    value = check_value(program, f)
    if what == "value" or (value[0] == "value" and not math.isfinite(value[1])):
        return
    if (
        check_gradient(program, f, value)
        and check_tangent(program, f, value)
        and what == "second"
        and value[0] == "value"
    ):
        check_second(program, f, value[1])
