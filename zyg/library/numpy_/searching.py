"""Places in sorted arrays, counts in bins, and values between given points."""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import shared, shared_by_flags, shared_with_adjoint, unchecked
from zyg.ir.departures import departing_class

from ..intrinsics import machine, select, unsupported
from ..registry import implements
from .binning import ESTIMATORS, count_of
from .common import inexact_dtype, is_sequence, product, result_dtype
from .sorting import before

BLOCK = 256  # elements that are looked for together


@unchecked
def place(a: Any, x: Any, right: bool) -> int:
    """Where x would stand in a sorted vector: in front of its equals, or behind them. Which half it is in is no branch, which
    a processor could not predict."""
    base, n = 0, len(a)
    while n > 1:
        half = n >> 1
        base = select(is_behind(x, a[base + half - 1], right), base + half, base)
        n -= half
    return base + 1 if n == 1 and is_behind(x, a[base], right) else base


def is_behind(x: Any, y: Any, right: bool) -> Any:
    """Whether x is to be put behind y."""
    return (not before(x, y)) if right else before(y, x)


@shared_by_flags
@unchecked
def places(a: Any, v: Any, right: bool) -> Any:
    """Where each element of a vector would stand in a sorted one. Those of a block go down together: no step waits for the
    one before, and each is an instruction for several of them."""
    result = np.zeros(len(v), np.int64)
    for start in range(0, len(v), BLOCK):
        stop = min(start + BLOCK, len(v))
        found, wanted = result[start:stop], v[start:stop]
        rest = len(a)
        while rest > 0:
            half = (rest + 1) >> 1
            for i in range(len(wanted)):
                low = found[i]
                behind = is_behind(wanted[i], a[machine("add", low, half - 1)], right)
                found[i] = select(behind, machine("add", low, half), low)
            rest -= half
    return result


def is_right(side: Any) -> bool:
    if side != "left" and side != "right":
        raise ValueError(f"search side must be 'left' or 'right' (got '{side}')")
    return side == "right"


def shaped(result: Any, like: Any) -> Any:
    """A vector in the shape of an array; a number for a number."""
    return result[0] if like.ndim == 0 else result.reshape(like.shape)


@implements(np.searchsorted, (np.ndarray, "searchsorted"))
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    right = is_right(side)
    common = result_dtype(a, v)
    source, wanted = np.asarray(a).astype(common), np.asarray(v).astype(common)
    if source.ndim != 1:
        raise ValueError("object too deep for desired array")
    if sorter is not None:
        source = in_order(source, np.asarray(sorter))
    return shaped(places(source, wanted.ravel(), right), wanted)


def in_order(a: Any, sorter: Any) -> Any:
    """An array in the order of these indices."""
    if sorter.dtype.kind != "i":
        raise TypeError("sorter must only contain integers")
    if sorter.ndim != 1:
        raise ValueError("object too deep for desired array")
    if len(sorter) != len(a):
        raise ValueError("sorter.size must equal a.size")
    if np.any((sorter < 0) | (sorter >= len(a))):
        raise ValueError("Sorter index out of range.")
    return a[sorter]


@implements(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    edges, values = np.asarray(bins), np.asarray(x)
    if values.dtype.kind == "c" or edges.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if edges.ndim != 1:
        raise ValueError("object too deep for desired array")
    rising = direction(edges)
    if rising == 0:
        raise ValueError("bins must be monotonically increasing or decreasing")
    ordered = edges if rising > 0 else edges[::-1]
    common = result_dtype(edges, values)
    found = places(ordered.astype(common), values.astype(common).ravel(), not right)
    if rising < 0:
        found = len(edges) - found
    return shaped(found, values)


@shared
@unchecked
def direction(a: Any) -> int:
    """1 for a vector that does not fall, -1 for one that does not rise, 0 for another."""
    rising, falling = True, True
    for i in range(len(a) - 1):
        rising = rising and a[i] <= a[i + 1]
        falling = falling and a[i] >= a[i + 1]
    return 1 if rising else -1 if falling else 0


_CUTS_FLOATS = np.lib.NumpyVersion(np.__version__) < "2.5.0"  # those in lists, with a DeprecationWarning


@implements(np.bincount, lists=("x",))
@unchecked
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    a = np.zeros(0, np.int64) if is_sequence(x) and len(x) == 0 else np.asarray(x)
    if a.ndim != 1:
        raise ValueError("object too deep for desired array")
    if _CUTS_FLOATS and a.dtype.kind == "f" and isinstance(x, (list, tuple)):
        a = a.astype(np.int64)
    if a.dtype.kind != "i" and a.dtype.kind != "u" and a.dtype.kind != "b":
        raise TypeError(
            f"Cannot cast array data from dtype('{a.dtype.name}') to dtype('int64') according to the rule 'safe'"
        )
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    count = minlength
    for i in range(len(a)):
        if a[i] < 0:
            raise ValueError("'list' argument must have no negative elements")
        count = max(count, int(a[i]) + 1)
    if weights is None:
        result = np.zeros(count, np.int64)
        for i in range(len(a)):
            result[int(a[i])] += 1
        return result
    w = np.asarray(weights)
    if w.dtype.kind == "c":
        raise TypeError(
            "Cannot cast array data from dtype('complex128') to dtype('float64') according to the rule 'safe'"
        )
    if w.ndim != 1:
        raise ValueError("object too deep for desired array")
    if len(w) != len(a):
        raise ValueError("The weights and list don't have the same length.")
    sums = np.zeros(count)
    for i in range(len(a)):
        sums[int(a[i])] += w[i]
    return sums


# -------------------------------------------------------------------------------------------------- histograms


def edges_of(a: Any, bins: Any, range: Any, whole: bool = False) -> Any:
    """The edges of the bins of a histogram, and whether these are alike (or were given); whole: the numbers were integers."""
    if isinstance(bins, (np.ndarray, tuple, list)):
        edges = np.asarray(bins)
        if edges.ndim != 1:
            raise ValueError("`bins` must be 1d, when an array")
        if direction(edges) <= 0:
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges, False
    if isinstance(bins, str):
        if bins == "stone":
            unsupported("np.histogram(bins='stone') in native code", "say how many bins there are")
        if bins not in ESTIMATORS:
            raise ValueError(f"{bins!r} is not a valid estimator for `bins`")
        first, last = outer_edges(a, range)
        count = count_of(a, bins, first, last, whole)
    else:
        if not isinstance(bins, (int, np.integer)):
            raise TypeError("`bins` must be an integer, a string, or an array")
        if bins < 1:
            raise ValueError("`bins` must be positive, when an integer")
        first, last = outer_edges(a, range)
        count = bins
    dtype = a.dtype if range is None else inexact_dtype(a, range[0], range[1])
    edges = equal_steps(first, last, np.empty(count + 1, dtype))
    if not rises(edges):
        raise ValueError(f"Too many bins for data range. Cannot create {count} finite-sized bins.")
    return edges, True


@shared_with_adjoint
def equal_steps(first: Any, last: Any, like: Any) -> Any:
    """As many numbers as there are in the other array, so that there is one function for any number of them."""
    return np.linspace(first, last, len(like)).astype(like.dtype)


@shared
@unchecked
def rises(a: Any) -> bool:
    """Whether no number of a vector is followed by one that is not larger."""
    rising = True
    for i in range(len(a) - 1):
        rising = rising and not a[i] >= a[i + 1]
    return rising


def outer_edges(a: Any, range: Any) -> Any:
    """Between which numbers the bins of a histogram lie."""
    first, last = a.dtype.type(0.0), a.dtype.type(1.0)
    if range is not None:
        first, last = float(range[0]), float(range[1])
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    elif len(a) > 0:
        first, last = least_and_largest(a)
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    if first == last:
        first, last = first - 0.5, last + 0.5
    return first, last


@shared_with_adjoint
@unchecked
def least_and_largest(a: Any) -> Any:
    low, high = a[0], a[0]
    for i in range(1, len(a)):
        x = a[i]
        low = x if x < low or x != x else low
        high = x if x > high or x != x else high
    return low, high


@unchecked
def bin_of(x: Any, edges: Any, alike: bool) -> int:
    """The number of the bin that x is in, -1 for none; the last bin is closed; alike: all are of the same length."""
    count = len(edges) - 1
    if not (x >= edges[0] and x <= edges[count]):
        return -1
    if not alike:
        return min(place(edges, x, True) - 1, count - 1)
    k = int(((x - edges[0]) / (edges[count] - edges[0])) * count)
    if k == count:
        k -= 1
    if x < edges[k]:
        k -= 1
    elif x >= edges[k + 1] and k != count - 1:
        k += 1
    return k


@shared_by_flags
@unchecked
def in_bins(a: Any, edges: Any, alike: bool) -> Any:
    """How many numbers are in each bin."""
    counts = np.zeros(len(edges) - 1, np.int64)
    for i in range(len(a)):
        k = bin_of(a[i], edges, alike)
        if k >= 0:
            counts[k] += 1
    return counts


@shared_with_adjoint
@unchecked
def weighed_in_bins(a: Any, edges: Any, alike: bool, weights: Any) -> Any:
    """What the numbers in each bin weigh."""
    sums = np.zeros(len(edges) - 1, weights.dtype)
    for i in range(len(a)):
        k = bin_of(a[i], edges, alike)
        if k >= 0:
            sums[k] += weights[i]
    return sums


@implements(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The numbers are counted, which has no derivative; their weights have one."""
    source = np.asarray(a)
    if source.dtype.kind == "c":
        unsupported("np.histogram of complex numbers in native code", "take their absolute values")
    check_weights(source, bins, weights)
    values = source.ravel().astype(inexact_dtype(source))
    edges, alike = edges_of(values, bins, range, source.dtype.kind in "iu")
    if weights is None:
        counts = in_bins(values, edges, alike)
    else:
        counts = weighed_in_bins(values, edges, alike, np.asarray(weights).ravel())
    if density:
        return counts / (edges[1:] - edges[:-1]).astype(float) / counts.sum(), edges
    return counts, edges


def check_weights(a: Any, bins: Any, weights: Any) -> None:
    if weights is not None and np.shape(weights) != a.shape:
        raise ValueError("weights should have the same shape as a.")
    if isinstance(bins, str) and weights is not None:
        raise TypeError("Automated estimation of the number of bins is not supported for weighted data")


TWO_COUNTS = departing_class(NotImplementedError)


@implements(np.histogram2d, known=("range",))
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The points are counted, which has no derivative; their weights have one."""
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    common = result_dtype(x, y)
    first, second = np.asarray(x).astype(common), np.asarray(y).astype(common)
    ranges = (None, None) if range is None else range
    if isinstance(bins, np.ndarray) and np.size(bins) < 3:
        if np.size(bins) == 1:
            raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
        if np.size(bins) == 2:
            raise TWO_COUNTS("np.histogram2d by an array of two numbers of bins: pass them in a tuple")
    each = bins if is_sequence(bins) and len(bins) == 2 else (bins, bins)
    counts, edges = counted((first, second), each, ranges, density, weights)
    return counts, edges[0], edges[1]


@implements(np.histogramdd, known=("sample", "bins", "range"))
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The points are counted, which has no derivative; their weights have one."""
    if is_sequence(sample):
        columns = coordinates(sample)
    elif is_sequence(bins):
        columns = columns_of(np.asarray(sample), bins)
    elif is_sequence(range):
        columns = columns_of(np.asarray(sample), range)
    else:
        unsupported(
            "np.histogramdd of an array, by a number of bins",
            "say how many bins there are along each dimension: bins=(10, 10)",
        )
    each = bins if is_sequence(bins) else [bins for _ in columns]
    if len(each) != len(columns):
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    ranges = [None for _ in columns] if range is None else range
    if len(ranges) != len(columns):
        raise ValueError("range argument must have one entry per dimension")
    counts, edges = counted(columns, each, ranges, density, weights)
    return counts, edges


def coordinates(sample: Any) -> Any:
    common = result_dtype(*sample)
    return [np.asarray(x).astype(common) for x in sample]


def columns_of(points: Any, each: Any) -> Any:
    """The columns of a matrix, which are as many as these."""
    if points.ndim != 2:
        raise ValueError("np.histogramdd takes a matrix, or a sequence of vectors")
    if points.shape[1] != len(each):
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    return [points[:, k] for k, _ in enumerate(each)]


def counted(columns: Any, bins: Any, ranges: Any, density: Any, weights: Any) -> Any:
    """How many points, whose coordinates these are, are in each cell between the edges, or what they weigh; and the edges."""
    edges = [edges_along(x, bins[k], ranges[k], k) for k, x in enumerate(columns)]
    shape = tuple([max(len(e) - 1, 0) for e in edges])
    places = np.zeros(len(columns[0]), np.int64)
    for x, e in zip(columns, edges):
        refine(places, x, e)
    counts = np.zeros(product(shape))
    fill_cells(counts, places, None if weights is None else np.asarray(weights))
    # NumPy counts what is outside, too, and shows the rest.
    table = np.empty(tuple([n + 2 for n in shape]))[tuple([slice(1, n + 1) for n in shape])]
    table[...] = counts.reshape(shape)
    if density:
        total = table.sum()
        for k, e in enumerate(edges):
            table = np.moveaxis(np.moveaxis(table, k, -1) / np.diff(e), -1, k)
        return table / total, edges
    return table, edges


def edges_along(a: Any, bins: Any, range: Any, k: int) -> Any:
    if isinstance(bins, (np.ndarray, tuple, list)):
        edges = np.asarray(bins)
        if edges.ndim != 1:
            raise ValueError(f"`bins[{k}]` must be a scalar or 1d array")
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError(f"`bins[{k}]` must be monotonically increasing, when an array")
        return edges
    if bins < 1:
        raise ValueError(f"`bins[{k}]` must be positive, when an integer")
    first, last = outer_edges(a, range)
    return np.linspace(first, last, bins + 1)


@unchecked
def refine(places: Any, x: Any, edges: Any) -> None:
    """The number of the cell that each point is in, by one more of its coordinates; -1 for none."""
    for i in range(len(x)):
        k = bin_between(x[i], edges)
        places[i] = places[i] * (len(edges) - 1) + k if places[i] >= 0 and k >= 0 else -1


@unchecked
def fill_cells(counts: Any, places: Any, weights: Any) -> None:
    for i in range(len(places)):
        if places[i] >= 0:
            counts[places[i]] += 1.0 if weights is None else weights[i]


@unchecked
def bin_between(x: Any, edges: Any) -> int:
    """The number of the bin that x is in, -1 for none; the last bin is closed."""
    count = len(edges) - 1
    if count < 1 or not (x >= edges[0] and x <= edges[count]):
        return -1
    return place(edges, x, True) - (2 if x == edges[count] else 1)


@implements(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    source = np.asarray(a)
    check_weights(source, bins, weights)
    return edges_of(source.ravel().astype(inexact_dtype(source)), bins, range, source.dtype.kind in "iu")[0]


# -------------------------------------------------------------------------------------------------- interpolation


@implements(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    for given in (np.asarray(x), np.asarray(xp)):
        if given.dtype.kind == "c":
            if given.ndim == 0:
                unsupported("np.interp of a complex number", "take its real part: x.real")
            raise TypeError(
                f"Cannot cast array data from {given.dtype!r} to dtype('float64') according to the rule 'safe'"
            )
    wanted, points, values = np.asarray(x).astype(float), np.asarray(xp).astype(float), np.asarray(fp)
    heights = values if values.dtype.kind == "c" else values.astype(float)
    if points.ndim != 1 or heights.ndim != 1:
        raise ValueError("object too deep for desired array")
    if len(points) == 0:
        raise ValueError("array of sample points is empty")
    if len(points) != len(heights):
        raise ValueError("fp and xp are not of the same length.")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        length = abs(period)
        wanted, points = wanted % length, points % length
        order = np.argsort(points)
        points, heights = points[order], heights[order]
        points = np.concatenate((points[-1:] - length, points, points[:1] + length))
        heights = np.concatenate((heights[-1:], heights, heights[:1]))
        return shaped(interpolated(wanted.ravel(), points, heights, heights[0], heights[-1]), wanted)
    low = heights[0] if left is None else heights.dtype.type(left)
    high = heights[-1] if right is None else heights.dtype.type(right)
    return shaped(interpolated(wanted.ravel(), points, heights, low, high), wanted)


@shared_with_adjoint
@unchecked
def interpolated(x: Any, xp: Any, fp: Any, low: Any, high: Any) -> Any:
    """On a segment that begins at a point, its slope is the derivative there."""
    n = len(xp)
    result = np.empty(len(x), fp.dtype)
    for i in range(len(x)):
        t = x[i]
        if t != t:
            result[i] = t
        elif t < xp[0]:
            result[i] = low
        elif t > xp[n - 1]:
            result[i] = high
        else:
            j = place(xp, t, True) - 1
            if j >= n - 1:
                result[i] = fp[n - 1]
            else:
                slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j])
                y = slope * (t - xp[j]) + fp[j]
                if y != y:
                    y = slope * (t - xp[j + 1]) + fp[j + 1]
                    if y != y and (fp[j] == fp[j + 1] or t == xp[j]):
                        y = fp[j]
                result[i] = y
    return result
