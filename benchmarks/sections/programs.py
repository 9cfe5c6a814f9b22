"""The loop programs: primal, and value with gradient, against C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import zyg

from ..cases import BENCHMARKS, Benchmark, flat_gradient
from ..measure import Sampler, Samples, python_sampler, side_by_side
from ..report import duration, ratio, table
from .settings import Settings, builds, has_numba, numba_version

PRIMAL_LEVEL = 1.15
GRADIENT_LEVEL = 1.5


def names() -> list[str]:
    return list(BENCHMARKS)


def compiled(benchmark: Benchmark, contract: bool) -> tuple[Any, Any]:
    """The program, and its value with gradient, by zyg."""
    options: dict[str, Any] = {"fastmath": {"contract"}} if contract else {}
    value = zyg.jit(benchmark.function, **options)
    return value, zyg.jit(zyg.value_and_grad(benchmark.function, benchmark.argnums), **options)


def check(benchmark: Benchmark, size: int) -> list[str]:
    """What does not agree between CPython, zyg and C; empty if all is well."""
    args, make_case = benchmark.make(size)
    expected = benchmark.function(*args)
    value, value_and_gradient = compiled(benchmark, contract=False)
    problems = []
    if value(*args) != expected:
        problems.append(f"zyg gives {value(*args)!r}, CPython {expected!r}")
    total, gradients = value_and_gradient(*args)
    gradient = flat_gradient(gradients)
    if abs(total - expected) > 1e-14 * abs(expected):
        problems.append(f"with the gradient, zyg gives {total!r}, CPython {expected!r}")
    for build in builds(contract=False):
        for adjoint in filter(None, (benchmark.adjoint, benchmark.tuned)):
            case = make_case()
            if build.run(adjoint, case) != expected or build.run(benchmark.primal, case) != expected:
                problems.append(f"{build.label} {adjoint} gives {case.struct.value!r}, CPython {expected!r}")
            error = float(np.max(np.abs(case.gradient - gradient))) / float(np.max(np.abs(gradient)))
            if not error < 1e-9:
                problems.append(f"{build.label} {adjoint} and zyg differ by {error:.1e} in the gradient")
    return problems


def contenders(benchmark: Benchmark, size: int, contract: bool) -> tuple[dict[str, Sampler], dict[str, Sampler]]:
    """Samplers of the primal and of value with gradient, by label."""
    args, make_case = benchmark.make(size)
    value, value_and_gradient = compiled(benchmark, contract)
    primal = {"zyg": python_sampler(value, *args)}
    gradient = {"zyg": python_sampler(value_and_gradient, *args)}
    for build in builds(contract):
        case = make_case()
        timed = lambda name, build=build, case=case: lambda repeats: build.seconds(name, case, repeats)
        primal[build.label] = timed(benchmark.primal)
        gradient[build.label] = timed(benchmark.adjoint)
        if benchmark.tuned:
            gradient[f"{build.label} tuned"] = timed(benchmark.tuned)
    if has_numba():
        compiled_by_numba = numba_version(benchmark.function, **({"fastmath": {"contract"}} if contract else {}))
        compiled_by_numba(*args)
        primal["numba"] = python_sampler(compiled_by_numba, *args)
    value(*args)
    value_and_gradient(*args)
    return primal, gradient


def best(samples: dict[str, Samples], tuned: bool = False) -> Samples | None:
    """The faster of the C programs."""
    c = [s for label, s in samples.items() if label not in ("zyg", "numba") and label.endswith(" tuned") == tuned]
    return min(c, key=lambda s: s.median, default=None)


def run(settings: Settings, wanted: Sequence[str] = ()) -> dict[str, Any]:
    figures: dict[str, Any] = {"wrong": []}
    for name in wanted or names():
        problems = check(BENCHMARKS[name], BENCHMARKS[name].quick_size if name != "wave" else 3)
        figures["wrong"] += [f"{name}: {problem}" for problem in problems]
    print("values and gradients of zyg, CPython and C: " + ("agree" if not figures["wrong"] else "DISAGREE"))
    for problem in figures["wrong"]:
        print("  " + problem)
    for contract in (False, True):
        flags = "with contraction" if contract else "default options"
        rows = []
        for name in wanted or names():
            benchmark = BENCHMARKS[name]
            size = benchmark.quick_size if settings.quick else benchmark.size
            primal, gradient = contenders(benchmark, size, contract)
            values = side_by_side(primal, settings.rounds, settings.seconds)
            gradients = side_by_side(gradient, settings.rounds, settings.seconds)
            figures[f"{name}, {flags}"] = entry = summary(values, gradients)
            shown = lambda key, entry=entry, level=None: ratio(entry[key], level) if key in entry else "-"
            time = lambda samples: duration(samples.median) if samples else "-"
            rows.append([
                name, time(best(values)), time(values["zyg"]), shown("primal to C", level=PRIMAL_LEVEL),
                shown("primal to numba"), time(best(gradients)), time(gradients["zyg"]),
                shown("gradient to C", level=GRADIENT_LEVEL), shown("gradient to tuned C"),
                shown("C gradient to primal"), shown("zyg gradient to primal"),
            ])  # fmt: skip
        header = ["", "C", "zyg", f"zyg/C (<{PRIMAL_LEVEL})", "zyg/numba", "C v+g", "zyg v+g",
                  f"zyg/C (<{GRADIENT_LEVEL})", "to tuned C", "C v+g/v", "zyg v+g/v"]  # fmt: skip
        print(f"\nloop programs, {flags}; v = value, g = gradient; C is the better of the compilers")
        print(table(header, rows), flush=True)
    return figures


def summary(values: dict[str, Samples], gradients: dict[str, Samples]) -> dict[str, float]:
    entry = {f"{label}, value": s.median for label, s in values.items()}
    entry |= {f"{label}, gradient": s.median for label, s in gradients.items()}
    entry["zyg gradient to primal"] = gradients["zyg"].median / values["zyg"].median
    c_value, c_gradient, c_tuned = best(values), best(gradients), best(gradients, tuned=True)
    if c_value and c_gradient:
        entry["primal to C"] = values["zyg"].ratio(c_value)
        entry["gradient to C"] = gradients["zyg"].ratio(c_gradient)
        entry["C gradient to primal"] = c_gradient.median / c_value.median
    if c_tuned:
        entry["gradient to tuned C"] = gradients["zyg"].ratio(c_tuned)
    if "numba" in values:
        entry["primal to numba"] = values["zyg"].ratio(values["numba"])
    return entry
