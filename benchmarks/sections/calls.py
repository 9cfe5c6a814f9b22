"""What a call from Python costs: 5*sin(log(x)) and its derivative."""

from __future__ import annotations

import math
from typing import Any

import zyg

from .. import native
from ..measure import Sampler, python_sampler, side_by_side
from ..programs import five_sin_log
from ..report import duration, ratio, table
from .settings import Settings, has_numba, numba_version

C_LEVEL = 1.5
NUMBA_LEVEL = 0.5


def derivative_by_hand(x: float) -> float:
    return 5 * math.cos(math.log(x)) / x


def run(settings: Settings) -> dict[str, Any]:
    value, slope = zyg.jit(five_sin_log), zyg.jit(zyg.derivative(five_sin_log))
    values = {"zyg": value, "CPython": five_sin_log}
    slopes = {"zyg": slope, "CPython": derivative_by_hand}
    for family, path in native.compilers().items():
        try:
            extension = native.call_extension(path, family)
        except RuntimeError as error:
            print(f"no C extension by {family}: {error}")
            continue
        values[f"C extension, {family}"], slopes[f"C extension, {family}"] = extension.value, extension.derivative
    if has_numba():
        values["numba"], slopes["numba"] = numba_version(five_sin_log), numba_version(derivative_by_hand)
    figures: dict[str, Any] = {}
    for what, functions in (("value", values), ("derivative", slopes)):
        assert all(math.isclose(f(3.0), functions["CPython"](3.0), rel_tol=1e-15) for f in functions.values())
        samplers: dict[str, Sampler] = {label: python_sampler(f, 3.0) for label, f in functions.items()}
        samples = side_by_side(samplers, max(settings.rounds, 7), settings.seconds)
        c = min((s for label, s in samples.items() if label.startswith("C ")), key=lambda s: s.median, default=None)
        rows = [[label, duration(s.median), duration(s.least)] for label, s in samples.items()]
        figures[what] = {label: s.median for label, s in samples.items()}
        print(f"call of 5*sin(log(x)), {what}; the loop around it included")
        print(table(["", "median", "least"], rows))
        if c:
            figures[what]["to C"] = samples["zyg"].ratio(c)
            print(f"zyg to the C extension: {ratio(figures[what]['to C'], C_LEVEL)} (level {C_LEVEL})")
        if "numba" in samples:
            figures[what]["to numba"] = samples["zyg"].ratio(samples["numba"])
            print(f"zyg to Numba: {ratio(figures[what]['to numba'], NUMBA_LEVEL)} (level {NUMBA_LEVEL})")
    return figures
