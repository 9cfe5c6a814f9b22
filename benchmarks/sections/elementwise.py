"""Elementwise expressions that end in a sum, value and gradient: against NumPy, Numba, JAX and C."""

from __future__ import annotations

from typing import Any

import numpy as np

import zyg

from ..adbench.peers import configure_jax
from ..elementwise import EVERYDAY, EXPRESSIONS, Expression, with_namespace
from ..measure import Sampler, Samples, python_sampler, side_by_side
from ..report import duration, ratio, table
from .settings import Settings, fast_builds, has, say_what_is_absent

NUMPY_LEVEL = 0.5  # zyg's value to NumPy's
NUMBA_LEVEL = 1.1  # both with fastmath
GRADIENT_LEVEL = 2.5  # gradient to value
JAX_LEVEL = 1.0


def zyg_pair(function: Any, count: int, fast: bool) -> tuple[Any, Any]:
    options: dict[str, Any] = {"fastmath": True} if fast else {}
    return zyg.jit(function, **options), zyg.jit(zyg.value_and_grad(function, tuple(range(count))), **options)


def jax_pair(expression: Expression, count: int) -> tuple[Any, Any]:
    import jax
    import jax.numpy as jnp

    configure_jax()
    function = with_namespace(expression.function, jnp)
    value, both = jax.jit(function), jax.jit(jax.value_and_grad(function, tuple(range(count))))
    return (lambda *args: value(*args).block_until_ready()), (lambda *args: jax.block_until_ready(both(*args)))


def contenders(expression: Expression) -> tuple[dict[str, Any], dict[str, Any]]:
    """Functions by label, compiled once for all sizes: values, and values with gradients."""
    count = len(expression.make(1))
    values: dict[str, Any] = {"NumPy": expression.function}
    gradients: dict[str, Any] = {}
    values["zyg"], gradients["zyg"] = zyg_pair(expression.function, count, fast=False)
    values["zyg fast"], gradients["zyg fast"] = zyg_pair(expression.function, count, fast=True)
    if has("numba"):
        import numba

        values["numba"] = numba.njit(fastmath=True)(expression.function)
        values["numba loop"] = numba.njit(fastmath=True)(expression.loop)
    if has("jax"):
        values["jax"], gradients["jax"] = jax_pair(expression, count)
    return values, gradients


def check(expression: Expression, values: dict[str, Any], gradients: dict[str, Any]) -> list[str]:
    args = expression.make(1001)
    expected = expression.function(*args)
    problems = [f"{label}: {f(*args)} instead of {expected}" for label, f in values.items()
                if not np.isclose(f(*args), expected, rtol=1e-12)]  # fmt: skip
    reference: np.ndarray | None = None
    for build in fast_builds("elementwise.c"):
        case = expression.case(args)
        if not np.isclose(build.run(f"{expression.name}_adjoint", case), expected, rtol=1e-12):
            problems.append(f"{build.label}: {case.struct.value} instead of {expected}")
        reference = case.gradient
    for label, f in gradients.items():
        value, parts = f(*args)
        gradient = np.concatenate([np.ravel(np.asarray(p)) for p in parts])
        if not np.isclose(value, expected, rtol=1e-12):
            problems.append(f"{label}, with gradient: {value} instead of {expected}")
        reference = gradient if reference is None else reference
        if not np.allclose(gradient, reference, rtol=1e-9, atol=1e-12):
            problems.append(f"{label}: another gradient than C's")
    return problems


def samplers(expression: Expression, functions: dict[str, Any], size: int, what: str) -> dict[str, Sampler]:
    args = expression.make(size)
    result = {}
    for label, function in functions.items():
        given = args
        if label == "jax":
            import jax.numpy as jnp

            given = tuple(jnp.asarray(a) for a in args)
        function(*given)
        result[label] = python_sampler(function, *given)
    for build in fast_builds("elementwise.c"):
        case = expression.case(args)
        timed = lambda repeats, build=build, case=case: build.seconds(f"{expression.name}_{what}", case, repeats)
        result[f"C, {build.label}"] = timed
    return result


def best(samples: dict[str, Samples], prefix: str) -> Samples | None:
    return min((s for label, s in samples.items() if label.startswith(prefix)), key=lambda s: s.median, default=None)


def run(settings: Settings) -> dict[str, Any]:
    figures: dict[str, Any] = {"wrong": []}
    sizes = (1000,) if settings.quick else (10**3, 10**4, 10**5, 10**6, 10**7)
    say_what_is_absent("numba", "jax")
    for expression in EXPRESSIONS[:1] if settings.quick else EXPRESSIONS:
        try:
            values, gradients = contenders(expression)
            problems = check(expression, values, gradients)
        except zyg.Unsupported as error:
            figures.setdefault("missing", []).append(expression.name)
            print(f"{expression.name}: not native: {error}")
            continue
        figures["wrong"] += [f"{expression.name}, {problem}" for problem in problems]
        rows = []
        for size in sizes:
            sampled = side_by_side(samplers(expression, values, size, "primal"), settings.rounds, settings.seconds)
            slopes = side_by_side(samplers(expression, gradients, size, "adjoint"), settings.rounds, settings.seconds)
            figures[f"{expression.name}, {size}"] = entry = summary(sampled, slopes)
            shown = lambda key, level=None, entry=entry: ratio(entry[key], level) if key in entry else "-"
            rows.append([
                f"{size:.0e}".replace("e+0", "e"), duration(sampled["zyg"].median), shown("value to NumPy", NUMPY_LEVEL),
                shown("value to numba", NUMBA_LEVEL), shown("value to C"), duration(slopes["zyg"].median),
                shown("gradient to value", GRADIENT_LEVEL), shown("gradient to jax", JAX_LEVEL), shown("gradient to C"),
                shown("fast gradient to jax", JAX_LEVEL),
            ])  # fmt: skip
        print(f"{expression.name}: value and gradient; the ratios to Numba and C are with fastmath on both sides")
        header = ["doubles", "zyg", f"to NumPy (<{NUMPY_LEVEL})", f"to Numba (<{NUMBA_LEVEL})", "to C", "zyg v+g",
                  f"to value (<{GRADIENT_LEVEL})", "to JAX (<1)", "to C", "fast to JAX"]  # fmt: skip
        print(table(header, rows) + "\n", flush=True)
    everyday(settings, figures)
    for problem in figures["wrong"]:
        print("  DISAGREE " + problem)
    return figures


def everyday(settings: Settings, figures: dict[str, Any]) -> None:
    """Short expressions: the least times of many short samples."""
    rows = []
    for function in EVERYDAY[:1] if settings.quick else EVERYDAY:
        value, both = zyg.jit(function), zyg.jit(zyg.value_and_grad(function))
        jax_both = None
        if has("jax"):
            import jax
            import jax.numpy as jnp

            configure_jax()
            jitted = jax.jit(jax.value_and_grad(with_namespace(function, jnp)))
            jax_both = lambda x, jitted=jitted, jax=jax: jax.block_until_ready(jitted(x))
        for size in (1000,) if settings.quick else (10**3, 10**4, 10**5):
            x = np.random.default_rng(4).normal(size=size)
            if not np.isclose(value(x), function(x), rtol=1e-12):
                figures["wrong"].append(f"{function.__name__}: {value(x)} instead of {function(x)}")
            timed = {
                "NumPy": python_sampler(function, x), "zyg": python_sampler(value, x), "both": python_sampler(both, x)
            }  # fmt: skip
            if jax_both is not None:
                given = jnp.asarray(x)
                if not np.allclose(jax_both(given)[1], both(x)[1], rtol=1e-8, atol=1e-12):
                    figures["wrong"].append(f"{function.__name__}: another gradient than JAX's")
                timed["jax"] = python_sampler(jax_both, given)
            sampled = side_by_side(timed, 8 * settings.rounds, settings.seconds / 50)
            least = {label: samples.least for label, samples in sampled.items()}
            entry = {
                "value to NumPy": least["zyg"] / least["NumPy"],
                "gradient to value": least["both"] / least["zyg"],
                **({"gradient to jax": least["both"] / least["jax"]} if "jax" in least else {}),
            }
            figures[f"{function.__name__}, {size}"] = entry
            rows.append([
                function.__name__, f"{size:.0e}".replace("e+0", "e"), duration(least["zyg"]),
                ratio(entry["value to NumPy"], NUMPY_LEVEL), duration(least["both"]),
                ratio(entry["gradient to value"], GRADIENT_LEVEL),
                ratio(entry["gradient to jax"], JAX_LEVEL) if "jax" in least else "-",
            ])  # fmt: skip
    print("everyday expressions, the least of all rounds")
    header = [
        "",
        "doubles",
        "zyg",
        f"to NumPy (<{NUMPY_LEVEL})",
        "zyg v+g",
        f"to value (<{GRADIENT_LEVEL})",
        "to JAX (<1)",
    ]
    print(table(header, rows) + "\n", flush=True)


def summary(values: dict[str, Samples], gradients: dict[str, Samples]) -> dict[str, float]:
    entry = {f"{label}, value": s.median for label, s in values.items()}
    entry |= {f"{label}, gradient": s.median for label, s in gradients.items()}
    for what, samples in (("value", values), ("gradient", gradients)):
        entry |= {f"{label}, {what}, least": s.least for label, s in samples.items()}
    entry["value to NumPy"] = values["zyg"].ratio(values["NumPy"])
    entry["gradient to value"] = gradients["zyg"].median / values["zyg"].median
    for what, samples in (("value", values), ("gradient", gradients)):
        if numba := best(samples, "numba"):
            entry[f"{what} to numba"] = samples["zyg fast"].ratio(numba)
        if c := best(samples, "C,"):
            entry[f"{what} to C"] = samples["zyg fast"].ratio(c)
    if "jax" in gradients:
        entry["gradient to jax"] = gradients["zyg"].ratio(gradients["jax"])
        entry["fast gradient to jax"] = gradients["zyg fast"].ratio(gradients["jax"])
    return entry
