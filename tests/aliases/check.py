"""A program of `generate.py` by every transform, compared with dual numbers through CPython."""

from __future__ import annotations

import itertools
import linecache
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import zyg

from .duals import Dual
from .generate import Program

VALUES = ((1.25, -0.75), (0.5, 1.5))
DIRECTION = ((0.5, -1.0), (2.0, 0.25))
_numbers = itertools.count()


class Item:
    def __init__(self, x, y, other=None):
        self.x, self.y, self.other = x, y, other


class Setting:
    """A function and its arguments, with numbers of a kind in the place of the values. `apart`: in the place of one object that has
    several names there are several."""

    def __init__(self, program: Program, number: Callable[[int, int], Any], apart: bool = False):
        kind, pattern = program.kind, program.pattern
        first = self.made(kind, 0, number)
        if pattern == "same":
            second = self.made(kind, 1, number) if apart else first
        elif pattern == "overlapping":
            second = self.made(kind, 1, number) if apart else first[::-1]
        else:
            second = self.made(kind, 1, number)
        if pattern == "within" and kind == "list":
            first.append(second)
        elif pattern == "within":
            first.other = second
        self.args = first, second
        also = self.made(kind, 0, lambda slot, at: Dual(VALUES[0][at])) if apart else first
        name = f"<aliases {next(_numbers)}>"
        text = program.text()
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        space: dict[str, Any] = {"G": also}
        exec(compile(text, name, "exec"), space)
        self.f = space["make"](also) if pattern == "captured" else space["f"]

    @staticmethod
    def made(kind: str, slot: int, number: Callable[[int, int], Any]) -> Any:
        numbers = [number(slot, at) for at in (0, 1)]
        if kind == "array":
            return np.array(numbers, object if isinstance(numbers[0], Dual) else float)
        return numbers if kind == "list" else Item(*numbers)


def plain(program: Program) -> Setting:
    return Setting(program, lambda slot, at: _value(program, slot, at))


def _value(program: Program, slot: int, at: int) -> float:
    if slot == 1 and program.pattern in ("same", "overlapping"):
        return VALUES[0][at if program.pattern == "same" else 1 - at]
    return VALUES[slot][at]


def apart(program: Program) -> bool:
    """Whether a derivative is by the place, not by the object: of arrays, and of what is also a global variable."""
    return program.kind == "array" and program.pattern != "apart" or program.pattern == "global"


def dual(
    program: Program, d: Callable[[int, int], float], c: Callable[[int, int], float], by_object: bool = False
) -> Dual:
    """The value with its slopes in two directions, which say the number for each number of each argument."""
    number = lambda slot, at: Dual(_value(program, slot, at), d(slot, at), c(slot, at))
    setting = Setting(program, number, apart(program) and not by_object)
    return Dual.of(setting.f(*setting.args))


def numbers_of(program: Program, gradient: Any) -> list[float]:
    """The derivatives by the two numbers of an argument."""
    if gradient is None:
        return [0.0, 0.0]
    found = [gradient.x, gradient.y] if program.kind == "object" else [gradient[0], gradient[1]]
    return [0.0 if v is None else float(v) for v in found]


def _tangent(program: Program, slot: int, with_inner: bool = True) -> Any:
    slot = 0 if program.pattern == "same" and not apart(program) else slot
    made = Setting.made(program.kind, slot, lambda s, at: DIRECTION[s][at])
    if program.pattern == "within" and slot == 0:
        inner = _tangent(program, 1) if with_inner else None
        if program.kind == "list":
            made.append(inner)
        else:
            made.other = inner
    return made


REFUSALS = (zyg.Unsupported, ValueError)


def outcomes(program: Program) -> Iterator[tuple[str, str]]:
    """(transform, "ok", "refused: ..." or what is wrong)"""
    setting = plain(program)
    value = float(setting.f(*setting.args))
    zero = lambda slot, at: 0.0
    unit = lambda s, a: lambda slot, at: float((slot, at) == (s, a))
    along = lambda slot, at: DIRECTION[slot][at]
    by_first = lambda slot, at: DIRECTION[0][at] if slot == 0 else 0.0
    told = dual(program, zero, zero).value
    same_slot = program.pattern == "same" and not apart(program)
    slots = (0, 0) if same_slot else (0, 1)

    def expected(by_object: bool) -> dict[str, list[float]]:
        flat = [dual(program, unit(s, at), zero, by_object).d for s in slots for at in (0, 1)]
        slope = dual(program, along, zero, by_object).d
        hvp = [dual(program, unit(0, at), by_first, by_object).m for at in (0, 1)]
        made = {"value": [value], "jvp": [value, slope], "pushforward": [slope], "hvp": hvp}
        return made | dict.fromkeys(("gradient", "pullback", "jacobian", "checkpoint"), flat)

    right = expected(False)
    # By the rule that what a function has by name is a constant: where the name is seen in another function, through Python, it is
    # not known to be one, and the derivative is by the object.
    named = program.pattern in ("global", "captured")
    whole = expected(True) if named else right

    tangents = lambda: (_tangent(program, 0), _tangent(program, 1))
    both = lambda found: [n for g in found for n in numbers_of(program, g)]
    transforms: dict[str, Callable[[Setting], Any]] = {
        "value": lambda s: [float(zyg.withgradient(s.f, *s.args)[0])],
        "gradient": lambda s: both(zyg.gradient(s.f, *s.args)),
        "pullback": lambda s: both(zyg.pullback(s.f, *s.args)[1](1.0)),
        "jvp": lambda s: [float(x or 0.0) for x in zyg.jvp(s.f, s.args, tangents())],
        "pushforward": lambda s: [float(zyg.pushforward(s.f, *s.args)[1](*tangents()) or 0.0)],
        "jacobian": lambda s: both(zyg.jacobian(s.f, *s.args)),
        "hvp": lambda s: numbers_of(program, zyg.hvp(s.f, *s.args, _tangent(program, 0, False))),
        "checkpoint": lambda s: both(zyg.gradient(lambda *a: zyg.checkpoint(s.f, *a), *s.args)),
    }
    if program.pattern == "captured" and program.kind != "array":
        del transforms["checkpoint"]  # (there the closure is another one's)
    for name, run in transforms.items():
        try:
            found = run(plain(program))
        except REFUSALS as error:
            first = str(error).split("\n")[0]
            yield name, "internal: " + first if "a bug in zyg" in first else "refused: " + first
            continue
        except Exception as error:
            yield name, f"raises {type(error).__name__}: {error}"
            continue
        told_apart = name == "value" or math.isclose(told, value, rel_tol=1e-9, abs_tol=1e-9)
        if told_apart and np.allclose(found, right[name], rtol=1e-7, atol=1e-9):
            yield name, "ok"
        elif named and np.allclose(found, whole[name], rtol=1e-7, atol=1e-9):
            yield name, "by the object"
        else:
            yield name, f"gives {found}, not {right[name] if told_apart else 'a refusal'}"


def check(numbers: Any, report: Callable[[str], None] = print) -> Counter[str]:
    count: Counter[str] = Counter()
    for n in numbers:
        program = Program(n)
        try:
            found = list(outcomes(program))
        except ArithmeticError:
            continue
        for transform, said in found:
            verdict = said.partition(":")[0] if said.startswith(("refused", "ok", "by the object")) else "wrong"
            count[verdict] += 1
            count[f"{verdict}, {program.kind}, {program.pattern}"] += 1
            if verdict == "wrong":
                report(f"{n} {program.kind} {program.pattern} {transform}: {said}\n{program.text()}")
    return count
