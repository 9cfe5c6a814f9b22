"""First calls through Python, by the length of the function: processor time, in one process, the first of which loads modules."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import zyg

from ..growing import function_of
from ..report import duration, table
from .settings import Settings

AT = (0.3, 0.7)


def spent(call: Callable[..., Any], *args: Any) -> float:
    begin = time.process_time()
    call(*args)
    return time.process_time() - begin


def run(settings: Settings) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        for count in (10, 11) if settings.quick else (10, 11, 20, 40, 80, 160):
            f, g = function_of(count), function_of(count)
            first = spent(zyg.gradient, f, AT)
            second = spent(zyg.hvp, g, AT, (1.0, 0.5)) if count <= 40 else float("nan")
            figures[str(count)] = {"gradient": first, "hvp": second}
            rows.append([str(count), duration(first), duration(second) if second == second else "-"])
    print("first calls through Python, of functions with objects and containers; processor time")
    print(table(["statements", "gradient", "hvp"], rows))
    return figures
