"""Reductions, cumulative functions, extremes and their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..case import case
from ..drawing import A, Num

SHAPES = "n|n m|n m k|"


def _reduction(
    name: str, dtypes: str, values: str = "any", least: int = 0, derivative: bool = True, **options: Any
) -> None:
    function = getattr(np, name)
    targets: list[Any] = [function]
    array = lambda dims: A(dims, dtypes, values, least)
    add: Callable[..., None] = lambda f, dims: case(targets, f, a=array(dims), derivative=derivative, **options)
    add(lambda a: function(a), SHAPES if name not in ("std", "nanstd") else "n|n m|n m k")
    add(lambda a: function(a, axis=0), "n|n m|n m k")
    add(lambda a: function(a, axis=-1, keepdims=True), "n|n m|n m k")
    add(lambda a: function(a, axis=1), "n m|n m k")
    if name not in ("argmax", "argmin", "nanargmax", "nanargmin", "median", "quantile", "percentile"):
        add(lambda a: function(a, axis=(0, 1)), "n m|n m k")
    if hasattr(np.ndarray, name):
        targets = [(np.ndarray, name)]
        method = eval(f"lambda a: a.{name}()")
        add(method, "n|n m")
        add(eval(f"lambda a: a.{name}(axis=1)"), "n m|n m k")


_reduction("sum", "dfli?D", "finite")
_reduction("mean", "dfl?D", "finite")
_reduction("prod", "dfliD", "unit")
_reduction("var", "dfl", "finite")
_reduction("std", "dfl", "finite", least=2)
_reduction("max", "dfli?", exact=True)
_reduction("min", "dfli?", exact=True)
_reduction("argmax", "dfl?", "ties", exact=True, derivative=False)
_reduction("argmin", "dfl?", "ties", exact=True, derivative=False)
_reduction("any", "dfl?", "ties", exact=True, derivative=False)
_reduction("all", "dfl?", "ties", exact=True, derivative=False)
_reduction("ptp", "dfl", "finite", exact=True)
_reduction("median", "dfl", "finite")
_reduction("nansum", "dfl")
_reduction("nanmean", "df")
_reduction("nanmax", "df", exact=True)
_reduction("nanmin", "df", exact=True)
_reduction("nanprod", "df", "unit")
_reduction("nanvar", "df", "finite")
_reduction("nanstd", "df", "finite", least=2)
_reduction("nanargmax", "df", "ties", least=1, exact=True, derivative=False)
_reduction("nanargmin", "df", "ties", least=1, exact=True, derivative=False)
_reduction("count_nonzero", "dfl?", "ties", exact=True, derivative=False)
for _name, _same in (("amax", "max"), ("amin", "min")):
    case(getattr(np, _name), eval(f"lambda a: np.{_name}(a, axis=0)"), a=A("n|n m", "dl"), exact=True)
case(np.var, lambda a: np.var(a, axis=0, ddof=1), a=A("n m", "df", "finite", 2))
case(np.std, lambda a: np.std(a, ddof=1), a=A("n|n m", "df", "finite", 2))
case(np.average, lambda a, w: np.average(a, weights=w), a=A("n", "d", "finite"), w=A("n", "d", "positive"))
case(np.average, lambda a: np.average(a, axis=0), a=A("n|n m", "dl", "finite"))
# By every method; at fractions that fall on elements values only, as methods have kinks and jumps there.
for _fractions, _smooth in (((0.137, 0.371, 0.623, 0.871), True), ((0.0, 0.2, 0.25, 0.5, 1.0), False)):
    case(
        [np.quantile, np.nanquantile],
        lambda a, q: (
            np.quantile(a, q, 0, method="hazen"),
            np.quantile(a, q, 0, method="averaged_inverted_cdf"),
            np.quantile(a, q, 0, method="midpoint"),
            np.nanquantile(a, q, 0, method="weibull"),
        ),
        a=A("n|n m", "df", "any", 1),
        q=Num("d", choices=_fractions),
        derivative=_smooth,
    )
    case(
        np.quantile,
        lambda a, q: (
            np.quantile(a, q, 0, method="lower"),
            np.quantile(a, q, 0, method="nearest"),
            np.quantile(a, q, 0, method="closest_observation"),
            np.quantile(a, [0, 1], axis=0),
            np.quantile(a, [1, 0], 0, method="weibull"),
        ),
        a=A("n|n m", "dfl", "any", 1),
        q=Num("d", choices=_fractions),
        derivative=_smooth,
    )
case(np.quantile, lambda a: np.quantile(a, 0.3), a=A("n|n m", "df", "finite", 1))
case(np.quantile, lambda a: np.quantile(a, 0.7, axis=0), a=A("n|n m", "d", "finite", 1))
case(
    [np.quantile, np.percentile],
    lambda a, w: (
        np.quantile(a, [0, 0.3, 1], axis=0, weights=abs(w) + 0.1, method="inverted_cdf"),
        np.percentile(a, [40, 80], axis=0, weights=abs(w[:, 0]) + 0.1, method="inverted_cdf"),
    ),
    a=A("n m", "dl", "finite", 1),
    w=A("n m", "d", "finite", 1),
    second=False,
)
case(
    [np.nanquantile, np.nanpercentile],
    lambda a, w: (
        np.nanquantile(a, [0.2, 0.9], axis=1, weights=abs(w) + 0.1, method="inverted_cdf"),
        np.nanpercentile(a, [60], weights=abs(w) + 0.1, method="inverted_cdf"),
    ),
    a=A("n m", "d", "any", 1),
    w=A("n m", "d", "finite", 1),
    second=False,
)
case(
    np.quantile,
    lambda a: np.quantile(a, [0.25, 0.6], axis=0),
    a=A("n|n m", "df", "finite", 1),
    tolerance=1e9,
    derivative=False,
)
case(np.mean, lambda a, m: np.mean(a, axis=0, where=m), a=A("n|n m", "dfl", "finite"), m=A("n|n m", "?"))
case(np.percentile, lambda a: np.percentile(a, 30), a=A("n|n m", "d", "finite", 1))
case(np.sum, lambda a: np.sum(a, dtype=np.float32), a=A("n|n m", "df", "finite"), derivative=False, tolerance=64)
case(np.sum, lambda a: np.sum(a, initial=2.0), a=A("n|n m", "d", "finite"))
case(np.sum, lambda a, m: np.sum(a, where=m), a=A("n|n m", "d", "finite"), m=A("n|n m", "?"))
case(np.max, lambda a: np.max(a, initial=0.5), a=A("n|n m", "d"))
case(np.max, lambda a: np.max(a, axis=0), a=A("n m", "d", "ties"), exact=True)


def _cumulative(name: str, values: str) -> None:
    function = getattr(np, name)
    case(function, lambda a: function(a), a=A("n|n m", "dfli?", values))
    case(function, lambda a: function(a, axis=0), a=A("n|n m", "dfl", values))
    case(function, lambda a: function(a, axis=-1), a=A("n|n m|n m k", "dl", values))
    if hasattr(np.ndarray, name):
        case((np.ndarray, name), eval(f"lambda a: a.{name}()"), a=A("n|n m", "dl", values))


_cumulative("cumsum", "finite")
_cumulative("cumprod", "unit")
_cumulative("nancumsum", "finite")
_cumulative("nancumprod", "unit")
for _f in (np.add, np.multiply, np.maximum, np.minimum):
    case((np.ufunc, "reduce"), (lambda f: lambda a: f.reduce(a))(_f), a=A("n|n m", "dl", "finite"))
    case((np.ufunc, "reduceat"), (lambda f: lambda a: f.reduceat(a, [1, 0]))(_f), a=A("n|n m", "dl", "finite", least=2))
    case((np.ufunc, "accumulate"), (lambda f: lambda a: f.accumulate(a))(_f), a=A("n|n m", "dl", "finite"))
case(
    (np.ufunc, "reduce"),
    lambda a, p, m: (
        np.subtract.reduce(a, axis=-1, initial=p, where=m),
        np.hypot.reduce(a, axis=None, where=m),
        np.divide.reduce(a, axis=0, initial=p, keepdims=True),
        np.nanmax(a, axis=0, initial=p, where=m),
    ),
    a=A("n|n m", "dl", "positive"),
    p=Num("d"),
    m=A("n|n m", "?"),
)
case(
    (np.ufunc, "reduce"),
    lambda a, p, m: (
        np.logical_and.reduce(a, initial=p),
        np.logical_or.reduce(a, axis=-1, initial=p, where=m),
        np.bitwise_or.reduce(m, axis=0, initial=p),
        np.not_equal.reduce(m, axis=-1, initial=p),
    ),
    a=A("n|n m", "dl?", "ties"),
    p=Num("dl?"),
    m=A("n|n m", "?"),
    derivative=False,
)
case(np.diff, lambda a: np.diff(a), a=A("n|n m", "dfl"))
case(np.diff, lambda a: np.diff(a, axis=0), a=A("n|n m", "d"))
case(np.diff, lambda a: np.diff(a, n=2), a=A("n|n m", "d"))
case(np.ediff1d, lambda a: np.ediff1d(a), a=A("n|n m", "dl"))
case(np.gradient, lambda a: np.gradient(a), a=A("n", "d", "finite", 2))
case(np.gradient, lambda a: np.gradient(a, 0.5, axis=0), a=A("n|n m", "d", "finite", 2))
case(np.trapezoid, lambda a: np.trapezoid(a), a=A("n|n m", "df", "finite", 1))
case(np.trapezoid, lambda a, x: np.trapezoid(a, x), a=A("n", "d", "finite", 1), x=A("n", "d", "finite", 1))
case(np.trapezoid, lambda a: np.trapezoid(a, dx=0.5, axis=0), a=A("n m", "d", "finite", 1))
