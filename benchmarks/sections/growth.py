"""Growth with the trip count: the time and the tape of a gradient are linear in it.  Ratios are of least times."""

from __future__ import annotations

from typing import Any

from ..cases import BENCHMARKS, Benchmark
from ..measure import side_by_side
from ..report import duration, ratio, table
from .programs import best, contenders
from .settings import Settings


def tape_bytes(benchmark: Benchmark, size: int) -> int | None:
    """Bytes on the tape at the end of the forward pass of value with gradient."""
    try:
        from zyg.inspection import tape_bytes as measure
    except ImportError:
        return None
    args, _ = benchmark.make(size)
    return measure(benchmark.function, *args, argnums=benchmark.argnums)


def run(settings: Settings) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for benchmark in BENCHMARKS.values():
        sizes = benchmark.growth[:2] if settings.quick else benchmark.growth
        rows, ratios = [], []
        for size in sizes:
            _, samplers = contenders(benchmark, size, contract=False)
            samplers.pop("numba", None)
            samples = side_by_side(samplers, max(3, settings.rounds // 2), settings.seconds)
            c, zyg_time = best(samples), samples["zyg"].least
            ratios.append(samples["zyg"].least / c.least if c else float("nan"))
            tape = tape_bytes(benchmark, size)
            figures[f"{benchmark.name}, {size}"] = {"zyg": zyg_time, "to C": ratios[-1], "tape": tape}
            rows.append([
                str(size), duration(zyg_time), duration(zyg_time / size), ratio(ratios[-1]) if c else "-",
                "-" if tape is None else str(tape), "-" if tape is None else f"{tape / size:.2f}",
            ])  # fmt: skip
        print(f"{benchmark.name}: value and gradient by {benchmark.unit}s")
        header = [f"{benchmark.unit}s", "zyg", f"per {benchmark.unit}", "zyg/C", "tape bytes", f"per {benchmark.unit}"]
        print(table(header, rows))
        spread = max(ratios) / min(ratios)
        figures[benchmark.name] = spread
        print(f"the ratio to C varies by {100 * (spread - 1):.0f} % (level 20 %)\n", flush=True)
    return figures
