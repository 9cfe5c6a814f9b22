"""`python -m tests.arrays.upstream`: what NumPy's own tests call, through compiled code, against NumPy.

python -m tests.arrays.upstream                         all modules below
python -m tests.arrays.upstream numeric einsum          those whose names hold one of these
python -m tests.arrays.upstream --only quantile         calls of what has this in its name
python -m tests.arrays.upstream --count 5               at most so many calls of each function and module
python -m tests.arrays.upstream --derivatives           gradients through Python, within `try`, against differences
python -m tests.arrays.upstream --refused               with what is refused, by function and reason
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import linecache
import math
import random
import sys
import time
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import zyg
from zyg.autodiff.objects.api import pullback as python_pullback

from ..programs.isolate import Crash, Marker, forked
from .case import Case
from .cases import CASES
from .check import Checker, Mismatch, boxed, copies, cotangent, direction, holds_floats, inner, largest, moved, outcome
from .recording import Call, Made, recorded
from .registered import name_of

MODULES = (
    *(f"numpy._core.tests.test_{name}" for name in (
        "multiarray", "numeric", "umath", "umath_complex", "ufunc", "indexing", "indexerrors", "item_selection", "shape_base", "einsum",
        "function_base", "getlimits", "nditer", "regression", "scalarmath", "scalar_methods", "mem_overlap", "nep50_promotions", "errstate",
        "simd", "half", "arrayprint", "casting_floatingpoint_errors", "array_coercion", "dtype", "numerictypes", "overrides",
    )),
    *(f"numpy.lib.tests.test_{name}" for name in (
        "function_base", "shape_base", "arraysetops", "nanfunctions", "twodim_base", "index_tricks", "stride_tricks", "histograms",
        "arraypad", "polynomial", "type_check", "ufunclike", "regression", "array_utils",
    )),
    *(f"numpy.linalg.tests.test_{name}" for name in ("linalg", "regression", "deprecations")),
    *(f"numpy.fft.tests.test_{name}" for name in ("pocketfft", "helper")),
    "numpy.ma.tests.test_core",
    "numpy.matrixlib.tests.test_numeric",
)  # fmt: skip

# What gives whatever is in memory, draws, or gives objects that compare by identity.
NOT_COMPARED = (
    "numpy.empty",
    "numpy.dtype",
    "numpy.iinfo",
    "numpy.finfo",
    "numpy.errstate",
    "numpy.random.",
    "Generator.",
)

# Where docs/semantics.md says that it is different: a part of what is found then.
DOCUMENTED = {
    "numpy.broadcast_arrays": "writeable is False",
    "numpy.cov": "instead of float64()",
    "numpy.partition": "result: array",
    "ndarray.partition": "a: array",
    "numpy.argpartition": "result: array",
    "numpy.cross": "3-dimensional vectors",
    "numpy.corrcoef": "instead of float64()",
    "numpy.sliding_window_view": "share memory",
    "numpy.poly": "ndarray instead of",
}

# What tests of everything else use, too: a few calls in each module.
COMMON = {
    "numpy.array",
    "numpy.asarray",
    "numpy.arange",
    "numpy.zeros",
    "numpy.ones",
    "numpy.eye",
    "numpy.linspace",
    "[]",
    "[] =",
}

SECONDS = 60.0  # of processor time, for one call
BATCH = 40  # calls per process: what is compiled goes with it

# Rounding that a function is allowed, as in its cases.
TOLERANCES: dict[str, float] = collections.defaultdict(lambda: 16.0)
for _case in CASES:
    for _target in _case.covers:
        TOLERANCES[name_of(_target)] = max(TOLERANCES[name_of(_target)], _case.tolerance)


# ------------------------------------------------------------------------------------------------- a call as a function


@dataclass
class Written:
    """The source of a function that makes a call, what it is called with, and what it names."""

    source: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=lambda: {"np": np})
    _memo: dict[int, str] = field(default_factory=dict)

    def expression(self, v: Any, top: bool = True) -> str:
        if isinstance(v, (np.ndarray, np.generic)) or top and type(v) in (float, complex):
            if id(v) not in self._memo:
                self._memo[id(v)] = name = "abcdefghijklmnopqrstuvwxyz"[len(self.arguments)]
                self.arguments[name] = v
            return self._memo[id(v)]
        if type(v) is float:
            if math.isfinite(v):
                return repr(v)
            return "np.nan" if v != v else "np.inf" if v > 0 else "-np.inf"
        if type(v) is complex:
            return repr(v) if math.isfinite(abs(v)) else f"complex({self.expression(v.real, False)}, {self.expression(v.imag, False)})"  # fmt: skip
        if type(v) is tuple:
            return f"({', '.join(self.expression(x, False) for x in v)}{',' * (len(v) == 1)})"
        if type(v) is list:
            return f"[{', '.join(self.expression(x, False) for x in v)}]"
        if type(v) is slice:
            return f"slice({', '.join(self.expression(x, False) for x in (v.start, v.stop, v.step))})"
        if isinstance(v, np.dtype):
            return f'np.dtype("{v.name}")'
        if isinstance(v, type):
            return v.__name__ if v in (float, int, bool, complex) else f"np.{v.__name__}"
        if isinstance(v, Made):
            return v.name.replace("numpy.", "np.")
        return "..." if v is Ellipsis else repr(v)

    def key(self, key: Any) -> str:
        if type(key) is tuple and key:
            return ", ".join(self.part(k) for k in key) + "," * (len(key) == 1)
        return self.part(key)

    def part(self, key: Any) -> str:
        if type(key) is not slice:
            return self.expression(key, False)
        start, stop, step = ("" if v is None else self.expression(v, False) for v in (key.start, key.stop, key.step))
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


def written(call: Call, within_try: bool = False) -> Written:
    made = Written()
    args = call.args
    if call.form in ("function", "method"):
        rest = args[call.form == "method" :]
        first = made.expression(args[0]) + f".{call.target}" if call.form == "method" else path(call, made)
        given = [made.expression(v) for v in rest] + [f"{k}={made.expression(v)}" for k, v in call.keywords.items()]
        body = [f"return {first}({', '.join(given)})"]
    elif call.form == "operator":
        operands = [made.expression(v) for v in args]
        body = [f"return {f' {call.name} '.join(operands) if len(args) == 2 else call.name + operands[0]}"]
        if call.name.endswith("=") and call.name[:-1] not in ("=", "!", "<", ">"):
            body = [" ".join([operands[0], call.name, operands[1]]), f"return {operands[0]}"]
    else:
        v = made.expression(args[0])
        where = f"{v}[{made.key(args[1])}]"
        body = [f"return {where}"] if call.form == "read" else [f"{where} = {made.expression(args[2])}", f"return {v}"]
    if within_try:
        body = ["try:", *(f"    {line}" for line in body), "except ArithmeticError:", "    return None"]
    made.source = f"def f({', '.join(made.arguments)}):\n" + "".join(f"    {line}\n" for line in body)
    return made


def path(call: Call, made: Written) -> str:
    """How a user names a function."""
    parts = call.name.split(".")
    for names in (parts[1:], ["lib", "stride_tricks", *parts[1:]]):
        found: Any = np
        for part in names:
            found = getattr(found, part, None)
        if found is call.target or isinstance(call.target, types.BuiltinMethodType) and found == call.target:
            return ".".join(["np", *names])
    made.names[parts[-1]] = call.target
    return parts[-1]


FUNCTIONS: dict[str, tuple[Any, Checker]] = {}


def checker(call: Call, made: Written) -> Checker:
    """Keeps what was compiled of the same source."""
    key = made.source if set(made.names) == {"np"} else f"{made.source}{id(call.target)}"
    if key not in FUNCTIONS:
        file = f"<numpy's tests {len(FUNCTIONS)}>"
        linecache.cache[file] = (len(made.source), None, made.source.splitlines(True), file)
        names = {"__name__": "numpys_tests", **made.names}
        exec(compile(made.source, file, "exec"), names)
        case = Case((), names["f"], {}, tolerance=TOLERANCES[call.name], name=call.name)
        FUNCTIONS[key] = case, Checks(case)
    return FUNCTIONS[key][1]


# ------------------------------------------------------------------------------------------------------------- checking


@dataclass
class Found:
    done: int = 0
    same: int = 0
    wrong: list[str] = field(default_factory=list)
    # By function and reason: how often, and an example.
    refused: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)

    def add(self, other: Found) -> None:
        self.done += other.done
        self.same += other.same
        self.wrong += other.wrong
        for key, (count, example) in other.refused.items():
            self.refuse(key, example, count)

    def refuse(self, key: tuple[str, str], example: str, count: int = 1) -> None:
        self.refused[key] = (self.refused.get(key, (0, ""))[0] + count, self.refused.get(key, (0, example))[1])


def shown(made: Written) -> str:
    return made.source + "".join(f"    {name} = {described(v)}\n" for name, v in made.arguments.items())


def described(v: Any) -> str:
    text = repr(v) if np.size(v) <= 60 else f"array of shape {np.shape(v)}"
    if isinstance(v, np.ndarray):
        text += f"  # {v.dtype}{v.shape} strides {v.strides}" + ("" if v.flags.writeable else ", read-only")
    return text


def check(calls: list[Call], derivatives: bool, marker: Marker) -> Found:
    found = Found()
    for call in calls:
        made = written(call, within_try=derivatives)
        marker.at(shown(made))
        found.done += 1
        try:
            if derivatives:
                found.same += differentiated(call, made)
            else:
                found.same += same_value(call, made)
        except Mismatch as error:
            if DOCUMENTED.get(call.name, "\0") in str(error):
                continue
            found.wrong.append(f"{str(error)[:600]}\n{shown(made)}")
        except zyg.Unsupported as error:
            raised = isinstance(outcome(checker(call, made).function, copies(made.arguments)), Exception)
            reason = str(error).splitlines()[0]
            found.refuse((call.name, reason + (" (NumPy raises)" if raised else "")), shown(made))
        except MemoryError:
            continue  # larger than can be compared
        except Exception as error:
            found.wrong.append(f"{type(error).__name__}: {str(error)[:600]}\n{shown(made)}")
    return found


class Checks(Checker):
    """Allows for what docs/semantics.md says of arrays without dimensions: compiled functions give numbers for some."""

    def same(self, found: Any, expected: Any, scale: float, what: str) -> None:
        if isinstance(expected, np.ndarray) and expected.ndim == 0 and not isinstance(found, np.ndarray):
            expected = expected[()]
        super().same(found, expected, scale, what)


def same_value(call: Call, made: Written) -> bool:
    checker(call, made).value(copies(made.arguments))
    return True


def differentiated(call: Call, made: Written) -> bool:
    """Whether there is a derivative to compare; Mismatch if it is not that of differences."""
    rng = np.random.default_rng(0)
    function = checker(call, made).function
    drawn = {name: off_the_grid(rng, v) for name, v in made.arguments.items()}
    if not any(map(holds_floats, drawn.values())) or largest(list(drawn.values())) > 1e6:
        return False  # (differences tell nothing)
    expected = outcome(function, copies(drawn))
    if isinstance(expected, Exception) or not holds_floats(expected) or not finite(expected):
        return False
    weights = cotangent(rng, expected)
    directions = [direction(rng, a) for a in copies(drawn).values()]

    def loss(by: float) -> float:
        at = outcome(function, dict(zip(drawn, moved(copies(drawn), directions, by), strict=True)))
        alike = not isinstance(at, Exception) and shapes(at) == shapes(expected)
        return inner(weights, at) if alike else math.nan

    with np.errstate(all="ignore"):
        slopes = [(8 * (loss(s) - loss(-s)) - (loss(2 * s) - loss(-2 * s))) / (12 * s) for s in (1e-3, 3e-4)]
    if any(isinstance(v, (np.ndarray, np.generic)) and v.dtype in ("f4",) for v in drawn.values()):
        return False
    if not abs(slopes[0] - slopes[1]) <= 1e-6 * (1 + abs(slopes[0])):
        return False
    value, back = python_pullback(function, tuple(copies(drawn).values()))
    checker(call, made).same(
        boxed(value), boxed(expected), largest([expected, *drawn.values()]), "value through Python"
    )
    gradients = back(weights)
    slope = sum(inner(g, v) for g, v in zip(gradients, directions, strict=True) if g is not None and v is not None)
    if not abs(slope - slopes[1]) <= 1e-5 * (1 + abs(slope)):
        raise Mismatch(f"through Python: {slope} along a direction, differences give {slopes[1]}; {gradients!r}")
    return True


def off_the_grid(rng: np.random.Generator, v: Any) -> Any:
    """Floats that are not equal to each other, and no integers: where functions have derivatives."""
    if not holds_floats(v):
        return v
    noise = np.asarray(rng.uniform(0.01, 0.1, np.shape(v)))
    if not isinstance(v, np.ndarray):
        return type(v)(v + float(noise))
    copy = copies({"v": v})["v"]
    if copy.flags.writeable and copy.dtype.kind in "fc":
        copy += noise.astype(copy.dtype)
    return copy


def shapes(v: Any) -> Any:
    return [shapes(x) for x in v] if isinstance(v, (tuple, list)) else np.shape(v)


def finite(v: Any) -> bool:
    if isinstance(v, (tuple, list)):
        return all(map(finite, v))
    return v is None or np.asarray(v).dtype.kind not in "fc" or bool(np.isfinite(v).all())


def chosen(calls: list[Call], count: int, only: list[str]) -> list[Call]:
    """At most so many of each function."""
    by_name: dict[str, list[Call]] = collections.defaultdict(list)
    for call in calls:
        if call.name.startswith(NOT_COMPARED) or call.keywords.get("overwrite_input"):
            continue
        if not only or any(part in call.name for part in only):
            by_name[call.name].append(call)
    rng = random.Random(0)
    some: list[Call] = []
    for function, found in by_name.items():
        most = 3 if function in COMMON and len(by_name) > 10 and count else count
        some += rng.sample(found, most) if 0 < most < len(found) else found
    return sorted(some, key=lambda call: written(call).source)  # what is of one source is compiled in one process


def of_module(name: str, options: argparse.Namespace) -> Iterator[tuple[str, Found]]:
    """What its calls give, one batch after the other; the module has been run by then, in this process."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    recorder = recorded(spec.origin, options.keep)
    calls = chosen(recorder.calls, options.count, options.only)
    yield f"{recorder.seen} calls, {recorder.outside} of what compiled code is not for, {len(calls)} tried", Found()
    while calls:
        try:
            found = forked(lambda marker: check(calls[:BATCH], options.derivatives, marker), SECONDS)  # noqa: B023
            calls = calls[BATCH:]
        except Crash as crash:
            at = crash.number
            # Those before it went well enough; they are done again to have what they gave.
            found = Found(done=1, wrong=[f"CRASH {crash}\n{crash.program}"])
            if at > 1:
                found.add(forked(lambda marker: check(calls[: at - 1], options.derivatives, marker), SECONDS))  # noqa: B023
            calls = calls[at:]
        yield "", found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.arrays.upstream", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--only", nargs="*", default=[], help="functions whose names hold one of these")
    parser.add_argument(
        "--count", type=int, default=0, help="at most so many calls of each function and module; 0: all"
    )
    parser.add_argument("--keep", type=int, default=1, help="so many calls of each signature")
    parser.add_argument("--derivatives", action="store_true")
    parser.add_argument("--refused", action="store_true", help="lists what is refused")
    options = parser.parse_args()
    for needed in ("pytest", "hypothesis"):
        if importlib.util.find_spec(needed) is None:
            print(f"NumPy's tests need {needed}, which is not here: nothing is tried")
            return 0
    warnings.simplefilter("ignore")
    total = Found()
    for name in MODULES:
        if options.modules and not any(part in name for part in options.modules):
            continue
        try:
            there = importlib.util.find_spec(name)
        except ImportError:
            there = None
        if there is None:
            print(f"{name}: this NumPy does not have it")
            continue
        begin = time.monotonic()
        found = in_a_process(name, options)
        total.add(found)
        print(f"{name}: {found.done} tried, {found.same} as NumPy, {len(found.wrong)} wrong, {time.monotonic() - begin:.0f} s\n", flush=True)  # fmt: skip
    if options.refused:
        for (function, reason), (count, example) in sorted(total.refused.items(), key=lambda item: -item[1][0]):
            print(f"REFUSED {count} {function}: {reason}\n{example}")
    refused = sum(count for count, _ in total.refused.values())
    print(f"{total.done} calls: {total.same} as NumPy, {len(total.wrong)} wrong, {refused} refused")
    return 1 if total.wrong else 0


def in_a_process(name: str, options: argparse.Namespace) -> Found:
    """A module's tests may leave anything behind."""

    def run(marker: Marker) -> Found:
        total = Found()
        marker.at(name)
        for text, found in of_module(name, options):
            if text:
                print(f"{name}: {text}", flush=True)
            for wrong in found.wrong:
                print(f"WRONG {wrong}", flush=True)
            total.add(found)
            marker.at(name)
        return total

    try:
        return forked(run, 1e6)
    except Crash as crash:
        print(f"CRASH while running {name}: {crash}", flush=True)
        return Found()


if __name__ == "__main__":
    sys.exit(main())
