"""Products of matrices and a Cholesky solve, value and gradient: against NumPy's calls and autograd's gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import zyg

from ..linalg import PROGRAMS, Program
from ..measure import python_sampler, side_by_side
from ..report import duration, ratio, table
from .settings import Settings, has, say_what_is_absent

SIZES = (4, 32, 256)
LEVELS = {4: 0.1, 256: 1.1}  # times to NumPy's, value to value and gradient to gradient


def autograd_gradient(program: Program) -> Any:
    import autograd
    import autograd.numpy as anp

    function = program.with_namespace(anp)
    return autograd.value_and_grad(lambda args: function(*args))


def run(settings: Settings) -> dict[str, Any]:
    figures: dict[str, Any] = {"wrong": []}
    say_what_is_absent("autograd")
    rows = []
    for program in PROGRAMS:
        value = zyg.jit(program.function)
        both = zyg.jit(zyg.value_and_grad(program.function, tuple(range(len(program.make(2))))))
        try:
            both(*program.make(2))
        except (zyg.Unsupported, TypeError) as error:
            figures.setdefault("missing", []).append(program.name)
            print(f"{program.name}: not native: {error}")
            continue
        for n in SIZES[:2] if settings.quick else SIZES:
            args = program.make(n)
            expected, total = program.function(*args), both(*args)
            byhand = program.gradient(*args)
            near = [np.isclose(value(*args), expected, rtol=1e-10), np.isclose(total[0], expected, rtol=1e-10)]
            near += [np.allclose(ours, theirs, rtol=1e-7, atol=1e-9) for ours, theirs in zip(total[1], byhand[1])]
            if not all(near):
                figures["wrong"].append(f"{program.name}, n = {n}: another value or gradient than NumPy's")
            samplers = {
                "zyg": python_sampler(value, *args),
                "NumPy": python_sampler(program.function, *args),
                "zyg, gradient": python_sampler(both, *args),
                "NumPy, gradient": python_sampler(program.gradient, *args),
            }
            if has("autograd"):
                samplers["autograd"] = python_sampler(autograd_gradient(program), args)
            samples = side_by_side(samplers, settings.rounds, settings.seconds)
            entry = figures[f"{program.name}, {n}"] = {label: s.median for label, s in samples.items()}
            entry |= {f"{label}, least": s.least for label, s in samples.items()}
            entry["to NumPy"] = samples["zyg"].ratio(samples["NumPy"])
            entry["gradient to NumPy"] = samples["zyg, gradient"].ratio(samples["NumPy, gradient"])
            row = [f"{program.name}, n = {n}", duration(entry["zyg"]), duration(entry["NumPy"]),
                   ratio(entry["to NumPy"], LEVELS.get(n)), duration(entry["zyg, gradient"]),
                   duration(entry["NumPy, gradient"]), ratio(entry["gradient to NumPy"], LEVELS.get(n))]  # fmt: skip
            if has("autograd"):
                entry["to autograd"] = samples["zyg, gradient"].ratio(samples["autograd"])
                row += [duration(entry["autograd"]), ratio(entry["to autograd"], 0.1 if n == 4 else 1.0)]
            rows.append(row)
    print("matrices: value, and value with gradient; NumPy's gradient is written by hand with its calls")
    header = ["", "zyg", "NumPy", "ratio", "zyg v+g", "NumPy v+g", "ratio"]
    print(table(header + (["autograd v+g", "ratio"] if has("autograd") else []), rows))
    for problem in figures["wrong"]:
        print("  DISAGREE " + problem)
    return figures
