"""ADBench's GMM and LSTM objectives, as plain loops and with whole arrays: value and gradient against JAX and C."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import zyg

from ..adbench import byhand, data, objectives, peers
from ..measure import Sampler, Samples, python_sampler, side_by_side
from ..report import duration, ratio, table
from .settings import Settings, fast_builds, has, say_what_is_absent

STYLES = {"loops": objectives.LOOPS, "points": objectives.POINTS, "arrays": objectives.ARRAYS}
QUICK = ("gmm_d2_K5", "lstm_l2_c1024")
FIRST_LEVEL = 0.3  # seconds of a first gradient


def norm_of(gradients: Any) -> float:
    return float(np.sqrt(sum(np.sum(np.square(np.asarray(g))) for g in gradients)))


def problem(instance: data.Instance, label: str, value: float, norm: float) -> str | None:
    """What is not as ADBench's own programs have it; the reference values have twelve digits."""
    if not (np.isclose(value, instance.value, rtol=1e-11) and np.isclose(norm, instance.norm, rtol=1e-11)):
        return f"{instance.name}, {label}: {value}, gradient of norm {norm}; {instance.value}, {instance.norm}"
    return None


def contenders(
    instance: data.Instance, args: tuple[Any, ...], settings: Settings, figures: dict[str, Any]
) -> tuple[dict[str, Sampler], dict[str, Sampler]]:
    """Samplers of values and of values with gradients, by label; what they give is checked."""
    values: dict[str, Sampler] = {}
    gradients: dict[str, Sampler] = {}
    found: list[str | None] = []
    for style, functions in STYLES.items():
        if instance.kind not in functions:
            continue
        for fast in (False,) if settings.quick or style == "points" else (False, True):
            label = f"{style}{' fast' if fast else ''}"
            options: dict[str, Any] = {"fastmath": True} if fast else {}
            value = zyg.jit(functions[instance.kind], **options)
            both = zyg.jit(zyg.value_and_grad(functions[instance.kind], data.differentiated(instance)), **options)
            begin = time.perf_counter()
            try:
                total, parts = both(*args)
            except (zyg.Unsupported, TypeError) as error:
                figures.setdefault("missing", []).append(f"{instance.name}, {label}")
                print(f"{instance.name}, {label}: not native: {error}")
                continue
            figures.setdefault(f"first gradient, {instance.kind} {label}", time.perf_counter() - begin)
            found.append(problem(instance, label, total, norm_of(parts)))
            found.append(problem(instance, f"{label}, value", value(*args), instance.norm))
            values[label], gradients[label] = python_sampler(value, *args), python_sampler(both, *args)
    for form in peers.FORMS[instance.kind] if has("jax") else ():
        value, both = peers.jax_value_and_grad(instance.kind, args, form)
        total, parts = both()
        found.append(problem(instance, f"JAX, {form}", float(total), norm_of(parts)))
        value()
        values[f"jax, {form}"], gradients[f"jax, {form}"] = python_sampler(value), python_sampler(both)
    for build in fast_builds("adbench.c"):
        case = byhand.case(instance.kind, args)
        total = build.run(f"{instance.kind}_adjoint", case)
        found.append(problem(instance, f"C by {build.label}", total, float(np.linalg.norm(case.gradient))))
        for samplers, what in ((values, "primal"), (gradients, "adjoint")):
            timed = lambda repeats, name=f"{instance.kind}_{what}", build=build, case=case: build.seconds(
                name, case, repeats
            )
            samplers[f"C, {build.label}"] = timed
    figures["wrong"] += filter(None, found)
    return values, gradients


def run(settings: Settings) -> dict[str, Any]:
    figures: dict[str, Any] = {"wrong": []}
    say_what_is_absent("jax")
    print("ADBench's objectives; v = value, v+g = value and gradient; `fast` is fastmath=True, C has -ffast-math")
    absent, quick = [], settings.few(QUICK)
    for instance in data.INSTANCES:
        path = data.find(instance, settings.data)
        if settings.quick and instance.name not in quick:
            continue
        if path is None:
            absent.append(instance.name)
            continue
        values, gradients = contenders(instance, data.read(instance, path), settings, figures)
        rounds = max(3, settings.rounds // 3) if "1k" not in str(path) else settings.rounds
        value = side_by_side(values, rounds, settings.seconds)
        gradient = side_by_side(gradients, rounds, settings.seconds)
        figures[instance.name] = entry = summary(value, gradient)
        jax, c = best("jax,", gradient), best("C,", gradient)
        first = gradient.get(f"jax, {peers.FORMS[instance.kind][0]}")
        rows = []
        for label in gradient:
            if label.split()[0] not in STYLES:
                continue
            level = 1.0 if label != "points" else None
            rows.append([
                f"{instance.name}, {label}", duration(value[label].median), duration(gradient[label].median),
                ratio(gradient[label].median / value[label].median),
                ratio(entry[f"{label} to jax"], level) if jax else "-",
                f"{ratio(gradient[label].ratio(first), instance.ahead)} (<{instance.ahead:.2f})"
                if first and instance.ahead and level else "-",
                ratio(entry[f"{label} to C"]) if c else "-",
            ])  # fmt: skip
        theirs = [gradient[label] for label in gradient if label.startswith("jax,")] + ([c] if c else [])
        for g in theirs:
            v = value[g.label]
            rows.append([f"{instance.name}, {g.label}", duration(v.median), duration(g.median), ratio(g.median / v.median), "", "", ""])  # fmt: skip
        heads = ["", "v", "v+g", "v+g/v", "v+g to the best JAX", "to its first form", "to C"]
        print(table(heads, rows) + "\n", flush=True)
    for label, seconds in figures.items():
        if label.startswith("first gradient"):
            print(f"{label}: {duration(seconds)}" + (f" (level {duration(FIRST_LEVEL)})" if "arrays" in label else ""))
    if absent:
        print(f"not here: {', '.join(absent)}; give --data FOLDER, ADBench's folder `data`")
    for text in figures["wrong"]:
        print("  DISAGREE " + text)
    return figures


def best(whose: str, samples: dict[str, Samples]) -> Samples | None:
    """The quickest of those whose labels begin so."""
    return min((s for label, s in samples.items() if label.startswith(whose)), key=lambda s: s.median, default=None)


def summary(values: dict[str, Samples], gradients: dict[str, Samples]) -> dict[str, float]:
    entry = {f"{label}, value": s.median for label, s in values.items()}
    entry |= {f"{label}, gradient": s.median for label, s in gradients.items()}
    for what, samples in (("value", values), ("gradient", gradients)):
        entry |= {f"{label}, {what}, least": s.least for label, s in samples.items()}
    for label, sample in gradients.items():
        if label.split()[0] in STYLES:
            for name, other in (("jax", best("jax,", gradients)), ("C", best("C,", gradients))):
                if other:
                    entry[f"{label} to {name}"] = sample.ratio(other)
    return entry
