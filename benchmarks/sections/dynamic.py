"""Gradients of dynamic programs through the Python back end, against CPython and HIPS autograd, of everyday programs, one habit
of the language at a time, and of ordinary programs; native programs with objects and dictionaries, against the same with scalars."""

from __future__ import annotations

import importlib.util
import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import zyg
from zyg.fallback import Refusal, fall_back
from zyg.transforms import Transform

from .. import (
    applications,
    arguments,
    designs,
    everyday,
    library,
    mixed,
    ordinary,
    ordinary_more,
    ordinary_third,
    small_arrays,
    small_arrays_by_hand,
)
from ..dynamic import ORBIT, PROGRAMS, WAYS
from ..measure import Sampler, Samples, apart, python_sampler, side_by_side
from ..report import duration, ratio, table
from .settings import Settings

# A gradient through Python takes so many times as long as the function in CPython, and so many seconds more.
LEVEL_TIMES, LEVEL_SECONDS = 15.0, 50e-6
LEVEL_AUTOGRAD = 5.0
LEVEL_NATIVE = 1.1


def has_autograd() -> bool:
    return importlib.util.find_spec("autograd") is not None


def through_python(function: Any, args: tuple[Any, ...]) -> Any:
    return gradient_of(function, (*args, math))[: len(args)]


def through_autograd(function: Any, args: tuple[Any, ...]) -> Any:
    import autograd
    import autograd.numpy as anp

    by = tuple(range(len(args)))
    gradient = autograd.grad(lambda *args: function(*args, anp), by)
    return lambda: gradient(*args)


def flat(value: Any) -> Iterable[float]:
    if isinstance(value, dict):
        value = [value[k] for k in sorted(value)]
    if isinstance(value, np.ndarray):
        yield from map(float, value.ravel())
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from flat(item)
    else:
        yield 0.0 if value is None else float(value)


def run(settings: Settings) -> dict[str, Any]:
    figures: dict[str, Any] = {"wrong": []}
    rows = []
    for name, (function, args) in settings.few(PROGRAMS.items()):
        # Each program in a process of its own: one that handles exceptions lets functions of all others leave pullbacks with them.
        problem, entry = apart(lambda function=function, args=args: against_autograd(settings, function, args))
        figures[name] = entry
        if problem:
            figures["wrong"].append(f"{name}: {problem}")
        row = [name, *(duration(entry[label]) for label in ("CPython", "zyg")), f"{entry['to CPython']:.1f}x"]
        row.append(ratio(entry["above"], LEVEL_TIMES))
        if has_autograd():
            ahead = entry["autograd to zyg"]
            row += [duration(entry["autograd"]), f"{ahead:.1f}x {'ok' if ahead >= LEVEL_AUTOGRAD else '!!'}"]
        rows.append(row)
    print("gradients through the Python back end")
    header = ["", "CPython, value", "zyg, gradient", "ratio", f"less {duration(LEVEL_SECONDS)} (<{LEVEL_TIMES:.0f})"]
    header += ["autograd", f"autograd/zyg (>{LEVEL_AUTOGRAD:.0f})"] if has_autograd() else []
    print(table(header, rows))
    if not has_autograd():
        print("HIPS autograd is absent (pip install autograd): no comparison with it")
    for problem in figures["wrong"]:
        print("  DISAGREE " + problem)
    print()
    of_everyday(settings, figures)
    of_small_arrays(settings, figures)
    native(settings, figures)
    return figures


def against_autograd(settings: Settings, function: Any, args: tuple[Any, ...]) -> tuple[str | None, dict[str, float]]:
    """What is wrong, and the figures of a program that autograd runs, too."""
    own = lambda: through_python(function, args)
    samplers = {"CPython": interpreted(function, *args, math), "zyg": interpreted(own)}
    problem = None
    if has_autograd():
        theirs = through_autograd(function, args)
        samplers["autograd"] = interpreted(theirs)
        if not all(math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12) for x, y in zip(flat(own()), flat(theirs()))):
            problem = f"zyg gives {own()}, autograd {theirs()}"
    entry, samples = measured(settings, samplers)
    if has_autograd():
        entry["autograd to zyg"] = samples["autograd"].ratio(samples["zyg"])
    return problem, entry


def everyday_program(
    settings: Settings, function: Any, args: tuple[Any, ...], gradient: Any
) -> tuple[str | None, dict[str, float]]:
    """What is wrong, and the figures of an everyday program."""
    own = lambda: gradient(function, args)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", zyg.FallbackWarning)
        problem = disagreement(function, args, gradient)
    entry = measured(settings, {"CPython": interpreted(function, *args), "zyg": interpreted(own)})[0]
    through_python = gradient is gradient_of or any(issubclass(w.category, zyg.FallbackWarning) for w in caught)
    return problem, entry | {"native": float(not through_python)}


def interpreted(function: Any, *args: Any) -> Sampler:
    """Calls that run in the interpreter, in one thread."""
    return python_sampler(function, *args, clock=time.process_time)


def measured(settings: Settings, samplers: dict[str, Sampler]) -> tuple[dict[str, float], dict[str, Samples]]:
    samples = side_by_side(samplers, settings.rounds, settings.seconds)
    entry = {label: s.median for label, s in samples.items()}
    entry["to CPython"] = samples["zyg"].ratio(samples["CPython"])
    entry["above"] = (samples["zyg"].least - LEVEL_SECONDS) / samples["CPython"].least
    return entry, samples


def gradient_of(function: Any, args: tuple[Any, ...]) -> Any:
    """As `zyg.gradient` goes through Python, where native code has refused."""
    return fall_back(_GRADIENT, (function, *args), {}, _REFUSED)


_GRADIENT = Transform("gradient")
_REFUSED = Refusal(zyg.Unsupported("benchmarks go through Python"))
_REFUSED.announced = True


def gradient_as_called(function: Any, args: tuple[Any, ...]) -> Any:
    """Natively where zyg can."""
    return zyg.gradient(function, *args)


def moved(value: Any, by: Callable[[float], float]) -> Any:
    """The same with something added to each float."""
    if isinstance(value, float):
        return value + by(value)
    if isinstance(value, np.ndarray):
        return np.array([x + by(x) for x in value.ravel()]).reshape(value.shape)
    if isinstance(value, dict):
        return {k: moved(v, by) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([moved(v, by) for v in value])
    names = attributes(value)
    if not names:
        return value
    made = object.__new__(type(value))
    for name in names:
        object.__setattr__(made, name, moved(getattr(value, name), by))
    return made


def attributes(value: Any) -> list[str]:
    """The names of the attributes of an object of a benchmark."""
    names = getattr(type(value), "__dataclass_fields__", None) or getattr(value, "__dict__", ())
    return list(names) if type(value).__module__.startswith("benchmarks.") else []


def floats(value: Any, gradient: Any) -> Iterable[float]:
    """The gradient by each float, in the order of `moved`."""
    if isinstance(value, float):
        yield 0.0 if gradient is None else float(gradient)
    elif isinstance(value, np.ndarray):
        yield from map(float, np.zeros(value.size) if gradient is None else gradient.ravel())
    elif isinstance(value, (list, tuple, dict)):
        keys = value if isinstance(value, dict) else range(len(value))
        for k in keys:
            yield from floats(value[k], None if gradient is None else gradient[k])
    else:
        for name in attributes(value):
            yield from floats(getattr(value, name), getattr(gradient, name, None))


def disagreement(function: Any, args: tuple[Any, ...], gradient: Any = gradient_of) -> str | None:
    """What a gradient says of one direction, if differences say something else."""

    direction: list[float] = []  # small numbers (2e-6 farad) move by less

    def choose(x: float) -> float:
        direction.append((1.0 + 1.0 / (len(direction) + 1)) * (min(abs(x), 1.0) or 1.0))
        return 0.0

    def along(step: float) -> float:
        parts = iter(direction)
        return function(*moved(args, lambda _: step * next(parts)))

    moved(args, choose)
    expected = (along(1e-6) - along(-1e-6)) / 2e-6
    got = sum(d * part for d, part in zip(direction, floats(args, gradient(function, args)), strict=True))
    return (
        None if math.isclose(got, expected, rel_tol=1e-4, abs_tol=1e-6) else f"zyg gives {got}, differences {expected}"
    )


def of_everyday(settings: Settings, figures: dict[str, Any]) -> None:
    programs = everyday.PROGRAMS | designs.PROGRAMS | applications.PROGRAMS | mixed.PROGRAMS | library.PROGRAMS
    compared(settings, figures, "everyday programs, through the Python back end", programs, gradient_of)
    what = "programs whose arguments are containers of objects, as zyg.gradient takes them: natively where it can"
    compared(settings, figures, what, arguments.PROGRAMS, gradient_as_called)
    what = "ordinary programs, as zyg.gradient takes them: natively where it can"
    programs = ordinary.PROGRAMS | ordinary_more.PROGRAMS | ordinary_third.PROGRAMS
    compared(settings, figures, what, programs, gradient_as_called)


def compared(settings: Settings, figures: dict[str, Any], what: str, programs: dict[str, Any], gradient: Any) -> None:
    entries, rows = [], []
    for name, (function, args) in settings.few(programs.items()):
        problem, entry = apart(
            lambda function=function, args=args: everyday_program(settings, function, args, gradient)
        )
        figures[name] = entry
        entries.append(entry)
        if problem:
            figures["wrong"].append(f"{name}: {problem}")
        row = [duration(entry["CPython"]), duration(entry["zyg"]), f"{entry['to CPython']:.1f}x"]
        rows.append([name, *row, ratio(entry["above"], LEVEL_TIMES), "native" if entry["native"] else ""])
    print(what)
    header = [
        "",
        "CPython, value",
        "zyg, gradient",
        "ratio",
        f"less {duration(LEVEL_SECONDS)} (<{LEVEL_TIMES:.0f})",
        "",
    ]
    print(table(header, rows))
    above = [entry["above"] for entry in entries]
    within, own = sum(a <= LEVEL_TIMES for a in above), sum(entry["native"] for entry in entries)
    print(f"{within} of {len(above)} within the level, median {statistics.median(above):.1f}; {own:.0f} native")
    for problem in figures["wrong"]:
        print("  DISAGREE " + problem)
    print()


def small_arrays_program(settings: Settings, name: str) -> tuple[str | None, dict[str, float]]:
    """What is wrong, and the figures of a program with small arrays; autograd's too, if it runs it, and of a gradient by hand."""
    function, args = small_arrays.PROGRAMS[name]
    problem = disagreement(function, args)
    own = lambda: gradient_of(function, args)
    samplers = {"CPython": interpreted(function, *args), "zyg": interpreted(own)}
    theirs = by_autograd(name) if has_autograd() else None
    if theirs is not None:
        samplers["autograd"] = interpreted(theirs)
        if not np.allclose(list(flat(own())), list(flat(theirs())), rtol=1e-9, atol=1e-12):
            problem = f"zyg gives {own()}, autograd {theirs()}"
    by_hand = small_arrays_by_hand.GRADIENTS.get(name)
    if by_hand is not None:
        samplers["by hand"] = interpreted(by_hand, *args)
        if not np.allclose(list(flat(own())), list(flat(by_hand(*args))), rtol=1e-9, atol=1e-12):
            problem = f"zyg gives {own()}, by hand it is {by_hand(*args)}"
    entry, samples = measured(settings, samplers)
    if theirs is not None:
        entry["autograd to zyg"] = samples["autograd"].ratio(samples["zyg"])
        if by_hand is not None:
            entry["autograd to by hand"] = samples["autograd"].ratio(samples["by hand"])
    return problem, entry


def by_autograd(name: str) -> Callable[[], Any] | None:
    """autograd's gradient of a program with small arrays; None if it refuses: it has none of what writes to arrays."""
    import autograd
    import autograd.numpy as anp

    function, args = small_arrays.with_numpy(anp)[name]
    gradient = autograd.grad(function, tuple(range(len(args))))
    try:
        gradient(*args)
    except (TypeError, ValueError):
        return None
    return lambda: gradient(*args)


def of_small_arrays(settings: Settings, figures: dict[str, Any]) -> None:
    rows = []
    for name in settings.few(small_arrays.PROGRAMS):
        problem, entry = apart(lambda name=name: small_arrays_program(settings, name))
        figures[f"small arrays: {name}"] = entry
        if problem:
            figures["wrong"].append(f"{name}: {problem}")
        row = [name, duration(entry["CPython"]), duration(entry["zyg"]), f"{entry['to CPython']:.1f}x"]
        row.append(ratio(entry["above"], LEVEL_TIMES))
        if "autograd" in entry:
            ahead = entry["autograd to zyg"]
            row += [duration(entry["autograd"]), f"{ahead:.1f}x {'ok' if ahead >= LEVEL_AUTOGRAD else '!!'}"]
        else:
            row += ["-", "-"]
        row.append(duration(entry["by hand"]) if "by hand" in entry else "-")
        row.append(f"{entry['autograd to by hand']:.1f}x" if "autograd to by hand" in entry else "-")
        rows.append(row)
    print("objects and containers with small arrays, through the Python back end")
    header = ["", "CPython, value", "zyg, gradient", "ratio", f"less {duration(LEVEL_SECONDS)} (<{LEVEL_TIMES:.0f})"]
    header += ["autograd", f"autograd/zyg (>{LEVEL_AUTOGRAD:.0f})", "NumPy by hand", "autograd/by hand"]
    print(table(header, rows))
    for problem in figures["wrong"]:
        print("  DISAGREE " + problem)
    print()


def native(settings: Settings, figures: dict[str, Any]) -> None:
    """The orbit, written three ways."""
    samplers: dict[str, Sampler] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", zyg.FallbackWarning)
        for name, function in WAYS.items():
            gradient = zyg.value_and_grad(function, (0, 1, 2, 3))
            try:
                value, _ = gradient(*ORBIT)
            except (zyg.FallbackWarning, zyg.Unsupported) as error:
                figures["wrong"].append(f"{name} is not native: {str(error).splitlines()[0]}")
                print(f"{name}: not native")
                continue
            assert math.isclose(value, function(*ORBIT), rel_tol=1e-12)
            samplers[f"{name}, value"] = python_sampler(zyg.jit(function), *ORBIT)
            samplers[f"{name}, gradient"] = python_sampler(gradient, *ORBIT)
    samples = side_by_side(samplers, max(settings.rounds, 7), settings.seconds)
    rows = []
    for label, sample in samples.items():
        name, what = label.split(", ")
        times = sample.ratio(samples[f"scalars, {what}"])
        figures[f"orbit, {label}"] = {"seconds": sample.median, "to scalars": times}
        rows.append([label, duration(sample.median), ratio(times, LEVEL_NATIVE)])
    print(f"native code: an orbit of {ORBIT[-1]} steps, written three ways")
    print(table(["", "median", f"to scalars (<{LEVEL_NATIVE})"], rows))
