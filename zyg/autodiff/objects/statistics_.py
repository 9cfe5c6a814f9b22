"""The functions of `statistics`: their slopes, or what they do in Python, which is differentiated."""

from __future__ import annotations

import _statistics
import bisect
import math
import statistics
from collections.abc import Callable
from typing import Any

from zyg.ir.plainly import has_plainly

from . import calls, conversions, draining, effects, iteration, reach
from .arithmetic import find, is_python
from .calls import known
from .cotangents import accumulate, is_number
from .passing import passes
from .reentry import undone
from .stdlib_ import means


def _statistic(f: Callable[..., Any], slopes: Callable[[list[Any], Any], list[Any]], more: Any = None) -> None:
    """The entry of a function of data: the slopes by the items, from these and the value; and that of a call with more arguments."""
    known(f)(_handler(f, slopes, more, draining.drained))


def _handler(f: Callable[..., Any], slopes: Any, more: Any, drained: Any) -> calls.Handler:
    def handler(data: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if args or kwargs:
            return more(data, *args, **kwargs) if more else calls.call_foreign(f, data, *args, **kwargs)
        items, drain = drained(data)
        with draining.undone(drain):
            y = f(items)
        return y, (_run_statistic, drain, items, y, slopes)

    return handler


def data_tells_its_length(data: Any) -> bool:
    """Whether `fmean` asks code of the user's how many numbers there are."""
    return type(data) not in iteration.SOURCES and is_python(find(type(data), "__len__"))


def _mean_of_many(data: Any) -> tuple[Any, Any]:
    """`fmean`, which asks for the length first."""
    count, asked = calls.call(len, (data,))
    with undone(asked):
        total, added = calls.call(math.fsum, (data,))
    with undone((_run_mean, asked, added, 1)):
        if not count:
            raise statistics.StatisticsError("fmean requires at least one data point")
    return total / count, (_run_mean, asked, added, count)


def _run_mean(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, asked, added, count = back
    given = calls.run(added, None if d is None else d / count, shadows)
    first = calls.run(asked, None, shadows)
    of_data = accumulate(None if given is None else given[1], None if first is None else first[1])
    return None, of_data


def _run_statistic(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, drain, items, y, slopes = back
    ds = None if d is None else [d * s for s in slopes(items, y)]
    return None, draining.give(drain, ds, shadows)


def _deviations(items: list[Any], over: float) -> list[Any]:
    """The slopes of the sum of squared deviations, over a number."""
    mean = sum(items) / len(items)
    return [2.0 * (x - mean) / over for x in items]


def _rounded(target: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """The entry of a function of lists: its value, which is rounded in its own way, and the derivatives of another one."""

    def handler(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        given = [x for x in (*args, *kwargs.values()) if not (x is None or type(x) in (str, bool) or is_number(x))]
        if any(isinstance(x, iteration.Iterator) or not has_plainly(x, "__len__") or _changes(x) for x in given):
            return calls.call_foreign(target, *args, **kwargs)
        y = target(*args, **kwargs)
        return y, calls.call(function, args, kwargs)[1]

    return handler


def _changes(x: Any) -> bool:
    """Whether something may change where its items are read."""
    if type(x) in iteration.SOURCES:
        return False
    methods = [find(type(x), name) for name in ("__iter__", "__next__", "__getitem__", "__len__")]
    return any(is_python(f) and effects.changes(f, type(x)) for f in methods)


def _rounded_by(target: Callable[..., Any]) -> Callable[[Callable[..., Any]], None]:
    """The decorated function is what `target` is, but for rounding."""

    def register(function: Callable[..., Any]) -> None:
        known(target, exact=True)(_rounded(target, function))

    return register


def _weighted_mean(data: Any, weights: Any) -> Any:
    return sum([a * b for a, b in zip(data, weights)]) / sum(weights)


def _variance(data: Any, xbar: Any = None) -> Any:
    return _squares(data, xbar) / (len(data) - 1)


def _pvariance(data: Any, mu: Any = None) -> Any:
    return _squares(data, mu) / len(data)


def _squares(data: Any, about: Any) -> Any:
    middle = sum(data) / len(data) if about is None else about
    return sum([(x - middle) ** 2 for x in data])


def _stdev(data: Any, xbar: Any = None) -> Any:
    return _root(_variance(data, xbar))


def _pstdev(data: Any, mu: Any = None) -> Any:
    return _root(_pvariance(data, mu))


def _root(variance: Any) -> Any:
    return math.sqrt(variance) if variance else 0.0 * variance  # of a perfect fit the derivative is 0


def _harmonic_mean(data: Any, weights: Any = None) -> Any:
    if not all(data):
        return 0.0
    weights = [1.0] * len(data) if weights is None else weights
    return sum(weights) / sum([w / x for w, x in zip(weights, data)])


_statistic(statistics.mean, lambda items, y: [1.0 / len(items)] * len(items))
_plain_mean = _handler(
    statistics.fmean,
    lambda items, y: [1.0 / len(items)] * len(items),
    _rounded(statistics.fmean, _weighted_mean),
    conversions.drained,
)


@known(statistics.fmean)
def _fmean(data: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if not args and not kwargs and data_tells_its_length(data):
        return _mean_of_many(data)
    return _plain_mean(data, *args, **kwargs)


_statistic(
    statistics.variance, lambda items, y: _deviations(items, len(items) - 1), _rounded(statistics.variance, _variance)
)
_statistic(
    statistics.pvariance, lambda items, y: _deviations(items, len(items)), _rounded(statistics.pvariance, _pvariance)
)
_statistic(
    statistics.stdev,
    lambda items, y: [s / (2.0 * y) if y else 0.0 for s in _deviations(items, len(items) - 1)],
    _rounded(statistics.stdev, _stdev),
)
_statistic(
    statistics.pstdev,
    lambda items, y: [s / (2.0 * y) if y else 0.0 for s in _deviations(items, len(items))],
    _rounded(statistics.pstdev, _pstdev),
)
_statistic(statistics.geometric_mean, lambda items, y: [y / (len(items) * x) for x in items])
_statistic(
    statistics.harmonic_mean,
    lambda items, y: [y * y / (len(items) * x * x) for x in items],
    _rounded(statistics.harmonic_mean, _harmonic_mean),
)


@_rounded_by(statistics.covariance)
def _covariance(x: Any, y: Any) -> Any:
    return _products(x, y) / (len(x) - 1)


@_rounded_by(statistics.correlation)
def _correlation(x: Any, y: Any, method: str = "linear") -> Any:
    if method == "ranked":
        return 0.0  # ranks are integers
    return _products(x, y) / (_products(x, x) * _products(y, y)) ** 0.5


@_rounded_by(statistics.linear_regression)
def _linear_regression(x: Any, y: Any, proportional: bool = False) -> Any:
    if proportional:
        return statistics.LinearRegression(sum([a * b for a, b in zip(x, y)]) / sum([a * a for a in x]), 0.0)
    slope = _products(x, y) / _products(x, x)
    return statistics.LinearRegression(slope, sum(y) / len(y) - slope * (sum(x) / len(x)))


def _products(x: Any, y: Any) -> Any:
    """The sum of the products of the deviations from the means."""
    of_x, of_y = sum(x) / len(x), sum(y) / len(y)
    return sum([(a - of_x) * (b - of_y) for a, b in zip(x, y)])


@means(statistics.median)
def _median(data: Any) -> Any:
    items = sorted(data)
    n = len(items)
    if n == 0:
        raise statistics.StatisticsError("no median for empty data")
    return items[n // 2] if n % 2 == 1 else (items[n // 2 - 1] + items[n // 2]) / 2


@means(statistics.median_grouped)
def _median_grouped(data: Any, interval: Any = 1.0) -> Any:
    items = sorted(data)
    n = len(items)
    if n == 0:
        raise statistics.StatisticsError("no median for empty data")
    x = items[n // 2]
    first = bisect.bisect_left(items, x)
    count = bisect.bisect_right(items, x, lo=first) - first
    interval, x = float(interval), float(x)
    return x - interval / 2.0 + interval * (n / 2 - first) / count


def _picks(f: Callable[..., Any]) -> None:
    """The entry of a function of data that gives one of these, or a list of some."""

    @known(f)
    def handler(data: Any) -> tuple[Any, Any]:
        items, drain = draining.drained(data, asked=f in _SORTING)
        with draining.undone(drain):
            if not reach.PLAIN.issuperset(map(type, items)):
                return calls.call_foreign(f, data)
            y = f(items)
        places = {id(x): k for k, x in reversed([*enumerate(items)])}
        chosen = [places[id(x)] for x in (y if type(y) is list else [y])]
        return y, (_run_picked, drain, len(items), y, chosen)


def _run_picked(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, drain, count, y, chosen = back
    taken = shadows.take_list(y) or [] if type(y) is list else [d]
    ds: list[Any] = [None] * count
    for k, c in zip(chosen, taken):
        ds[k] = c
    return None, draining.give(drain, ds if any(c is not None for c in taken) else None, shadows)


_SORTING = frozenset({statistics.median_low, statistics.median_high})  # which make a list


for _f in (statistics.median_low, statistics.median_high, statistics.mode, statistics.multimode):
    _picks(_f)


def _from_samples(cls: Any, data: Any) -> Any:
    data = list(data)
    sigma = statistics.stdev(data)
    return cls(statistics.mean(data), sigma)


@known(vars(statistics.NormalDist)["from_samples"].__func__, exact=True)
@passes()
def _normal_from_samples(cls: Any, data: Any) -> tuple[Any, Any]:
    return calls.call(_from_samples, (cls, data))


@known(_statistics._normal_dist_inv_cdf)
def _inverse_of_normal(p: float, mu: float, sigma: float, /) -> tuple[Any, Any]:
    y = _statistics._normal_dist_inv_cdf(p, mu, sigma)
    return y, (_run_inverse_of_normal, y, mu, sigma)


def _run_inverse_of_normal(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, mu, sigma = back
    if d is None:
        return None
    z = (y - mu) / sigma
    return None, d * (sigma * math.sqrt(2.0 * math.pi) * math.exp(0.5 * z * z)), d, d * z
