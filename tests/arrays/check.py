"""Runs a case: zyg's value, memory and exceptions against NumPy's; derivatives of all kinds against differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import zyg
from zyg.autodiff.objects.api import pullback as python_pullback

from .case import Case
from .drawing import Fixed, Rng, inputs, signature

STEP = 1e-3

# NumPy's scalars as compiled code gives them back (docs/semantics.md).
BOXED: dict[type, Callable[[Any], Any]] = {np.float64: float, np.int64: int, np.bool_: bool, np.complex128: complex}


class Mismatch(AssertionError):
    pass


class Refused(Exception):
    pass


def steps(a: np.ndarray) -> tuple[int, ...]:
    """How the elements lie in memory, as far as anything but `strides` tells."""
    return tuple(s for s, n in zip(a.strides, a.shape) if n > 1) if a.size else ()


class Checker:
    """Checks one case; what is compiled is kept for all its signatures."""

    def __init__(self, case: Case):
        self.case = case
        self.function = case.function
        self.compiled = zyg.jit(case.function)
        self.ordered = False  # whether results lie in memory in NumPy's order

    # ------------------------------------------------------------------------------------------------------ values

    def values(self, rng: Rng, draws: int) -> Iterator[str]:
        """Mismatches for one signature."""
        fixed = signature(rng, self.case.specs, plain=False)
        for _ in range(draws):
            drawn = inputs(rng, fixed, smooth=False)
            try:
                self.value(drawn)
            except Mismatch as error:
                yield f"{self.case}({describe(fixed)}): {error}\n{show(drawn)}"
                continue
            except zyg.Unsupported as error:
                if self.case.refused:
                    continue
                raise Refused(f"{self.case}({describe(fixed)}): {error}") from None
            if self.case.refused:
                yield f"{self.case}({describe(fixed)}) is not refused any more"

    def value(self, drawn: dict[str, Any]) -> None:
        theirs, ours = copies(drawn), copies(drawn)
        self.ordered = self.case.memory and all(np.size(x) for x in drawn.values() if isinstance(x, np.ndarray))
        expected = outcome(self.function, theirs)
        found = outcome(self.compiled, ours)
        if isinstance(found, zyg.Unsupported):
            raise found
        if isinstance(expected, Exception) or isinstance(found, Exception):
            if kind_of(expected) is not kind_of(found):
                raise Mismatch(f"NumPy: {said(expected)}; zyg: {said(found)}")
            return
        scale = largest([expected, *theirs.values()])
        self.same(found, expected, scale, "result")
        for name in drawn:
            if not isinstance(drawn[name], np.generic):  # numbers stay what they are
                self.same(ours[name], theirs[name], scale, name)
        if self.case.memory:
            self.same_memory(found, expected, ours, theirs)

    def same(self, found: Any, expected: Any, scale: float, what: str) -> None:
        expected = BOXED.get(type(expected), lambda v: v)(expected)
        if type(found) is not type(expected):
            raise Mismatch(
                f"{what}: {type(found).__name__} instead of {type(expected).__name__}: {found!r}, {expected!r}"
            )
        if isinstance(expected, (tuple, list)):
            if len(found) != len(expected):
                raise Mismatch(f"{what}: {len(found)} items instead of {len(expected)}")
            for n, (a, b) in enumerate(zip(found, expected)):
                self.same(a, b, scale, f"{what}[{n}]")
            return
        if not isinstance(expected, (np.ndarray, np.generic, int, float, complex)):
            if found != expected:
                raise Mismatch(f"{what}: {found!r} instead of {expected!r}")
            return
        a, b = np.asarray(found), np.asarray(expected)
        if a.dtype != b.dtype or a.shape != b.shape:
            raise Mismatch(f"{what}: {a.dtype}{a.shape} instead of {b.dtype}{b.shape}")
        if isinstance(expected, np.ndarray) and expected.flags.writeable != found.flags.writeable:
            raise Mismatch(f"{what}: writeable is {found.flags.writeable}")
        if self.ordered and steps(a) != steps(b):
            raise Mismatch(f"{what}: strides {a.strides} instead of {b.strides}")
        if b.dtype.kind not in "fc" or self.case.exact:
            equal = np.array_equal(a, b, equal_nan=b.dtype.kind in "fc")
        else:
            with np.errstate(all="ignore"):
                near = np.abs(a - b) <= self.case.tolerance * np.finfo(b.dtype).eps * scale
                equal = bool(np.all(near | (a == b) | (np.isnan(a) & np.isnan(b))))
        if not equal:
            raise Mismatch(f"{what}: {found!r} instead of {expected!r}")

    def same_memory(self, found: Any, expected: Any, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        parts = zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)))
        for n, (a, b) in enumerate(parts):
            for name in ours:
                if all(isinstance(x, np.ndarray) and x.size for x in (b, theirs[name])):
                    shares, should = np.shares_memory(a, ours[name]), np.shares_memory(b, theirs[name])
                    if shares != should:
                        raise Mismatch(f"result {n} {'shares' if shares else 'does not share'} memory with {name}")

    # --------------------------------------------------------------------------------------------------- derivatives

    def derivatives(self, rng: Rng, forward: bool = True) -> Iterator[str]:
        """Mismatches of the derivatives for one signature, in reverse and forward mode."""
        fixed = signature(rng, self.case.specs, plain=True)
        drawn = inputs(rng, fixed, smooth=True)
        try:
            self.derivative(rng, drawn, forward)
        except Mismatch as error:
            yield f"derivative of {self.case}({describe(fixed)}): {error}\n{show(drawn)}"
        except (zyg.Unsupported, zyg.FallbackWarning) as error:
            raise Refused(f"derivative of {self.case}({describe(fixed)}): {error}") from None

    def derivative(self, rng: Rng, drawn: dict[str, Any], forward: bool) -> None:
        args = list(copies(drawn).values())
        expected, weights, directions, slope = self.differences(rng, drawn)
        with warnings.catch_warnings():
            warnings.simplefilter("error", zyg.FallbackWarning)
            value, back = zyg.pullback(self.function, *copies(drawn).values())
            self.same(value, expected, largest([expected, *args]), "value of the pullback")
            self.cotangents(args, back(weights), directions, slope, "reverse mode")
            if not forward:
                return
            _, push = zyg.pushforward(self.function, *copies(drawn).values())
            tangent = push(*directions)
            near(inner(weights, tangent) if tangent is not None else 0.0, slope, "forward mode", tangent)

    def differences(self, rng: Rng, drawn: dict[str, Any]) -> tuple[Any, Any, list[Any], float]:
        """NumPy's value; weights of its parts, a direction for each argument, and the slope that they make."""
        args = list(copies(drawn).values())
        expected = self.function(*copies(drawn).values())
        weights = cotangent(rng, expected)
        directions = [direction(rng, a) for a in args]
        return expected, weights, directions, along(lambda *xs: inner(weights, self.function(*xs)), drawn, directions)

    def cotangents(self, args: list[Any], gradients: Any, directions: list[Any], slope: float, what: str) -> None:
        for a, g in zip(args, gradients):
            if isinstance(a, np.ndarray) and a.dtype.kind in "fc" and g is not None and np.shape(g) != a.shape:
                raise Mismatch(f"{what}: a cotangent of shape {np.shape(g)} for an array of shape {a.shape}")
            if isinstance(g, np.ndarray) and isinstance(a, np.ndarray) and a.dtype.kind == "f" and g.dtype != a.dtype:
                raise Mismatch(f"{what}: a cotangent of {g.dtype} for {a.dtype}")
        found = sum(inner(g, v) for g, v in zip(gradients, directions) if g is not None and v is not None)
        near(found, slope, what, gradients)

    def through_python(self, rng: Rng) -> Iterator[str]:
        """The same for the Python back end, which has tables of its own."""
        fixed = signature(rng, self.case.specs, plain=True)
        drawn = inputs(rng, fixed, smooth=True)
        try:
            expected, weights, directions, slope = self.differences(rng, drawn)
            args, theirs, ours = list(copies(drawn).values()), copies(drawn), copies(drawn)
            self.function(*theirs.values())
            value, back = python_pullback(self.function, tuple(ours.values()))
            scale = largest([expected, *args])
            self.same(boxed(value), expected, scale, "value through Python")
            for name in drawn:
                self.same(boxed(ours[name]), theirs[name], scale, f"{name} through Python")
            self.cotangents(args, back(weights), directions, slope, "through Python")
        except Mismatch as error:
            yield f"{self.case}({describe(fixed)}): {error}\n{show(drawn)}"
        except zyg.Unsupported as error:
            raise Refused(f"through Python, {self.case}({describe(fixed)}): {error}") from None

    def second_derivatives(self, rng: Rng) -> Iterator[str]:
        """Mismatches of the second derivative for one signature, in reverse over reverse and forward over reverse."""
        fixed = signature(rng, self.case.specs, plain=True)
        drawn = inputs(rng, fixed, smooth=True)
        expected = self.function(*copies(drawn).values())
        directions = [direction(rng, a) for a in drawn.values()]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", zyg.FallbackWarning)
                self.second(rng, drawn, cotangent(rng, expected), directions)
        except Mismatch as error:
            yield f"second derivative of {self.case}({describe(fixed)}): {error}\n{show(drawn)}"
        except (zyg.Unsupported, zyg.FallbackWarning) as error:
            raise Refused(f"second derivative of {self.case}({describe(fixed)}): {error}") from None

    def second(self, rng: Rng, drawn: dict[str, Any], weights: Any, directions: list[Any]) -> None:
        """The second derivative along two directions, against differences of NumPy's values."""
        others = [direction(rng, a) for a in drawn.values()]

        def gradients(*xs: Any) -> Any:
            return zyg.pullback(self.function, *xs)[1](weights)

        wanted, error = along_two(lambda *xs: inner(weights, self.function(*xs)), drawn, directions, others)
        found = gradients(*copies(drawn).values())
        own = [n for n, g in enumerate(found) if g is not None and others[n] is not None]
        _, push = zyg.pushforward(gradients, *copies(drawn).values())
        tangents = push(*directions)
        forward = sum(inner(tangents[n], others[n]) for n in own if tangents is not None and tangents[n] is not None)
        if not abs(forward - wanted) <= error:
            raise Mismatch(f"forward over reverse: {forward} along two directions, differences give {wanted}")
        if not own:
            return
        _, back = zyg.pullback(gradients, *copies(drawn).values())
        # (By integers there is a gradient, too, but no difference to compare it with.)
        nothing = [None if g is None else np.zeros_like(g) for g in found]
        cotangents = back(tuple(others[n] if n in own else nothing[n] for n in range(len(found))))
        reverse = sum(
            inner(g, v) for g, v in zip(cotangents, directions, strict=True) if g is not None and v is not None
        )  # fmt: skip
        if not abs(reverse - wanted) <= error:
            raise Mismatch(f"reverse over reverse: {reverse} along two directions, differences give {wanted}")


# ---------------------------------------------------------------------------------------------------------------- helpers


def boxed(v: Any) -> Any:
    """A value in which NumPy's scalars are as compiled code gives them: through Python there are both kinds."""
    if isinstance(v, (tuple, list)):
        return getattr(type(v), "_make", type(v))(map(boxed, v))
    return BOXED.get(type(v), lambda x: x)(v)


def outcome(function: Callable[..., Any], drawn: dict[str, Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*drawn.values())
        except Exception as error:
            return error


def drawn(case: Case, rng: Rng) -> dict[str, Any]:
    """Arguments as derivatives of a case are checked with."""
    return inputs(rng, signature(rng, case.specs, plain=True), smooth=True)


def copies(drawn: dict[str, Any]) -> dict[str, Any]:
    """Copies with the same strides."""

    def copied(a: Any) -> Any:
        if not isinstance(a, np.ndarray):
            return a
        base = a if a.base is None else a.base
        if not isinstance(base, np.ndarray):
            return a.copy(order="K")
        fresh = base.copy(order="K")
        offset = a.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        return np.ndarray(a.shape, a.dtype, fresh, offset, a.strides) if fresh.strides == base.strides and fresh.flags.c_contiguous else a.copy(order="K")  # fmt: skip

    return {name: copied(a) for name, a in drawn.items()}


def of_floats(case: Case) -> bool:
    """Whether a case takes floats and gives floats that depend on them: what is there in one of a few draws."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        drawn = inputs(rng, signature(rng, case.specs, plain=True), smooth=True)
        found = outcome(case.function, drawn)
        if any(holds_floats(v) for v in drawn.values()) and holds_floats(found):
            return True
    return False


def holds_floats(v: Any) -> bool:
    if isinstance(v, (tuple, list)):
        return any(map(holds_floats, v))
    if isinstance(v, (np.ndarray, np.generic)):
        return v.dtype.kind in "fc"
    return isinstance(v, (float, complex))


def kind_of(result: Any) -> type:
    """The class of an exception; of NumPy's private ones, the public class that they are of."""
    return next((c for c in type(result).__mro__ if not c.__module__.startswith("numpy._core")), type(result))


def said(result: Any) -> str:
    return f"{type(result).__name__}: {result}" if isinstance(result, Exception) else f"gives {result!r}"


def largest(values: list[Any]) -> float:
    """The largest finite magnitude, at least one."""
    top = 1.0
    for v in values:
        if isinstance(v, (tuple, list)):
            top = max(top, largest(list(v)))
        elif isinstance(v, (np.ndarray, np.generic, int, float, complex)) and np.asarray(v).dtype.kind in "fciu":
            with np.errstate(all="ignore"):
                a = np.abs(np.asarray(v, dtype=complex))
            a = a[np.isfinite(a)]
            top = max(top, float(a.max(initial=0.0)))
    return top


def cotangent(rng: Rng, value: Any) -> Any:
    """Weights of the parts of a result."""
    if type(value) is list:
        return [cotangent(rng, v) for v in value]
    if isinstance(value, tuple):
        return tuple(cotangent(rng, v) for v in value)
    a = np.asarray(value)
    drawn = rng.normal(size=a.shape)
    if a.dtype.kind == "c":
        drawn = drawn + 1j * rng.normal(size=a.shape)
    if isinstance(value, np.ndarray):
        return np.asarray(drawn).astype(a.dtype if a.dtype.kind in "fc" else float)
    return complex(drawn) if a.dtype.kind == "c" else float(drawn)


def direction(rng: Rng, a: Any) -> Any:
    """A direction to move an argument in, if it can be moved."""
    kind = np.asarray(a).dtype.kind
    if kind not in "fc":
        return None
    v = rng.uniform(-1.0, 1.0, np.shape(a))
    if kind == "c":
        v = v + 1j * rng.uniform(-1.0, 1.0, np.shape(a))
    return v if isinstance(a, np.ndarray) else v.item() if isinstance(v, np.ndarray) else type(a)(v)


def inner(a: Any, b: Any) -> float:
    if isinstance(b, (tuple, list)):
        return sum(inner(x, y) for x, y in zip(a, b) if x is not None and y is not None)
    return float(np.sum(np.real(np.conj(a) * b)))


def moved(drawn: dict[str, Any], directions: list[Any], by: float) -> list[Any]:
    at = lambda a, v: (
        np.asarray(a + by * v) if isinstance(a, np.ndarray) else a + by * v
    )  # NumPy's sums have no 0-d arrays
    return [a if v is None else at(a, v) for a, v in zip(drawn.values(), directions)]


def along(loss: Callable[..., float], drawn: dict[str, Any], directions: list[Any]) -> float:
    at = lambda by: loss(*moved(drawn, directions, by))
    return (8 * (at(STEP) - at(-STEP)) - (at(2 * STEP) - at(-2 * STEP))) / (12 * STEP)


WEIGHTS = ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0))


def along_two(
    loss: Callable[..., float], drawn: dict[str, Any], first: list[Any], second: list[Any]
) -> tuple[float, float]:
    """The second derivative along two directions, and how far off it may be: values are off by some 30 units in the last place."""
    total = size = 0.0
    for m, a in WEIGHTS:
        for n, b in WEIGHTS:
            both = [
                None if u is None else m * u + n * v for u, v in zip(first, second, strict=True)
            ]  # fmt: skip
            value = loss(*moved(drawn, both, STEP))
            total, size = total + a * b * value, max(size, abs(value))
    wanted = total / (12 * STEP) ** 2
    return wanted, 1e-6 * (1.0 + abs(wanted)) + 30 * np.finfo(float).eps * size / STEP**2


def near(found: float, wanted: float, what: str, shown: Any) -> None:
    if not abs(found - wanted) <= 1e-6 * (1.0 + abs(wanted)):
        raise Mismatch(f"{what}: {found} along a direction, differences give {wanted}; {shown!r}")


def describe(fixed: dict[str, Fixed]) -> str:
    return ", ".join(f"{name}: {f}" for name, f in fixed.items())


def show(drawn: dict[str, Any]) -> str:
    return "\n".join(f"    {name} = {a!r}" for name, a in drawn.items())
