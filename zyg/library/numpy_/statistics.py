"""Order statistics and covariances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zyg.frontend.functions import shared_by_flags, shared_with_adjoint, unchecked

from ..intrinsics import cut, unsupported
from ..registry import implements
from . import selecting
from .common import axis_index, constant, inexact_dtype, is_differentiated, is_sequence, lines
from .extrema import first_equal
from .layouts import packed
from .ordering import laid_without
from .reductions import store
from .sorting import orders, sorted_copy

FEW = 8  # elements that are looked for in a row
MANY = 100  # elements of such a row


def reduced_lines(a: Any, axis: Any) -> Any:
    """The lines of an array along one or several axes (None: all of them) as rows, and its shape without and with them."""
    if axis is None:
        return a.ravel().reshape((1, a.size)), (), (1,) * a.ndim
    gone = tuple([axis_index(k, a.ndim) for k in axis]) if is_sequence(axis) else (axis_index(axis, a.ndim),)
    rest = tuple([k for k in tuple(range(a.ndim)) if k not in gone])
    outer = tuple([a.shape[k] for k in rest])
    kept = tuple([1 if k in gone else a.shape[k] for k in tuple(range(a.ndim))])
    if len(gone) == 1:
        return lines(a, gone[0]), outer, kept
    moved = np.ascontiguousarray(np.transpose(a, rest + gone))
    count, length = 1, 1
    for n in outer:
        count = count * n
    for k in gone:
        length = length * a.shape[k]
    return moved.reshape((count, length)), outer, kept


# The methods that give an element, and those that go between two.
DISCRETE = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
CONTINUOUS = (
    "linear", "midpoint", "averaged_inverted_cdf", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased",
    "normal_unbiased",
)  # fmt: skip


def _methods_named() -> str:
    """How NumPy names its methods where it is asked for another one."""
    quantile: Any = np.quantile
    try:
        quantile(0.0, 0.5, method="")
    except ValueError as error:
        return str(error).partition("method")[2]
    return ""


METHODS = _methods_named()

# Those that name an element where fractions are integers, 0 and 1: the first also for a single one.
AT_ENDS = ("linear", "averaged_inverted_cdf", "interpolated_inverted_cdf", "weibull")


def alpha_and_beta(method: str) -> Any:
    """The parameters of Hyndman and Fan (1996)."""
    if method == "interpolated_inverted_cdf":
        return 0.0, 1.0
    if method == "hazen":
        return 0.5, 0.5
    if method == "weibull":
        return 0.0, 0.0
    return (1 / 3, 1 / 3) if method == "median_unbiased" else (3 / 8, 3 / 8)


def element_at(n: int, q: Any, method: str) -> int:
    """Which one of n sorted elements a discrete method gives for the fraction q."""
    if method == "lower":
        return math.floor((n - 1) * q)
    if method == "higher":
        return math.ceil((n - 1) * q)
    if method == "nearest":
        return int(np.rint((n - 1) * q))
    if method in AT_ENDS:
        return int((n - 1) * q)  # 0 or 1
    where = n * q - 1.0 if method == "inverted_cdf" else n * q - 1.5
    before = math.floor(where)
    stays = where == before and (method == "inverted_cdf" or before % 2 == 1)
    return max(before if stays else before + 1, 0)


def place_at(n: int, q: Any, method: str) -> Any:
    """Between which two of n sorted elements the fraction q is, and how far from the first to the second."""
    if method == "linear":
        where = q * (n - 1)
    elif method == "midpoint":
        where = 0.5 * (math.floor((n - 1) * q) + math.ceil((n - 1) * q))
    elif method == "averaged_inverted_cdf":
        where = n * q - 1.0
    else:
        alpha, beta = alpha_and_beta(method)
        where = n * q + (alpha + q * (1 - alpha - beta)) - 1
    before = math.floor(where)
    t = where - before
    if method == "averaged_inverted_cdf":
        t = 0.5 if t == 0 else 1.0
    if where >= n - 1:
        return n - 1, n - 1, t
    return (0, 0, t) if where < 0 else (before, before + 1, t)


# Rows have a derivative: it goes to the elements that are picked. Then the rows stay as they are, and it is found out at which places in
# them those elements are that stand in order at the places that are wanted, and the last one. Else rows are sorted so far. `wanted` are
# these places, or a function of how many elements count where rows may have nans that do not: so the same code is for all statistics.


@shared_by_flags
@unchecked
def in_order(rows: Any, wanted: Any, without_nan: bool) -> Any:
    if selecting.takes(rows) and selecting.is_faster(rows, selecting.places_of(wanted, rows.shape[1], without_nan)):
        return selecting.select_rows(rows, wanted, without_nan)
    return sorted_copy(rows)


@shared_by_flags
@unchecked
def places_in_order(rows: Any, wanted: Any, without_nan: bool) -> Any:
    order = np.empty(rows.shape, np.int64)
    length = rows.shape[1]
    places = selecting.places_of(wanted, length, without_nan)
    if length < MANY or len(places) > FEW:
        return orders(rows, False)
    selected = in_order(rows, wanted, without_nan)
    for i in range(len(rows)):
        count = numbers(selected, None, i) if without_nan else length
        if count > 0:
            order[i, count - 1] = place_of(rows[i], selected[i, count - 1], 0)
        places = selecting.places_of(wanted, count, without_nan)
        for j in places:
            order[i, j] = place_of(rows[i], selected[i, j], equal_before(selected[i], places, j))
        if without_nan:
            nans_in_order(rows[i], order[i], count)
    return order


@unchecked
def equal_before(row: Any, places: Any, j: int) -> int:
    """How many of the elements at these places of a sorted row stand before the one at place j and are equal to it: so many are passed
    in what is not sorted, so that each is another one."""
    count, first = 0, j
    for k in places:
        if k < j and row[k] == row[j]:
            count += 1
            first = min(first, k)
    return min(count, j - first)  # a place may be asked for several times


@unchecked
def nans_in_order(row: Any, order: Any, count: int) -> None:
    """Put the places of the nans behind the numbers."""
    if count == len(row):
        return
    for j in range(len(row)):
        if row[j] != row[j]:
            order[count] = j
            count += 1


@unchecked
def place_of(row: Any, value: Any, passed: int) -> int:
    """Where a value stands in a row, after it has been passed so often."""
    at = first_equal(row, value)
    while passed > 0:
        at += 1 + first_equal(row[at + 1 :], value)
        passed -= 1
    return at


def ranked(rows: Any, order: Any, i: int, j: int) -> Any:
    """Which element of a row stands at place j in order."""
    return rows[i, j] if order is None else rows[i, order[i, j]]


@unchecked
def places_wanted(n: int, q: Any, method: str, element: bool) -> Any:
    """Which of n sorted elements are wanted for the fractions q."""
    result = np.zeros(2 * len(q) if n > 0 else 0, np.int64)
    for k in range(len(q) if n > 0 else 0):
        if element:
            result[k] = element_at(n, q[k], method)
        else:
            result[2 * k], result[2 * k + 1], _ = place_at(n, q[k], method)
    return result


@shared_by_flags
@unchecked
def quantile_places(rows: Any, q: Any, without_nan: bool, method: str, element: bool) -> Any:
    return places_in_order(rows, quantiles_wanted(rows, q, without_nan, method, element), without_nan)


@shared_by_flags
@unchecked
def quantile_rows(rows: Any, q: Any, without_nan: bool, method: str, element: bool) -> Any:
    return in_order(rows, quantiles_wanted(rows, q, without_nan, method, element), without_nan)


def quantiles_wanted(rows: Any, q: Any, without_nan: bool, method: str, element: bool) -> Any:
    wanted = lambda n: places_wanted(n, q, method, element)
    return wanted if without_nan else wanted(rows.shape[1])


@unchecked
def at_quantiles(rows: Any, order: Any, q: Any, without_nan: bool, method: str, element: bool, like: Any) -> Any:
    """Of ordered rows, what stands at the fractions q of their length, an element or between two of them; of a row with a nan a
    nan, or what its numbers alone would give. Numbers have the type of `like`, their differences that of the rows, as NumPy's do."""
    result = np.empty((len(q), rows.shape[0]), like.dtype)
    for i in range(rows.shape[0]):
        n = numbers(rows, order, i) if without_nan else rows.shape[1]
        last = ranked(rows, order, i, n - 1) if n > 0 else rows.dtype.type(math.nan)
        for k in range(len(q)):
            if last != last:
                result[k, i] = last
            elif element:
                result[k, i] = ranked(rows, order, i, element_at(n, q[k], method))
            else:
                below, above, t = place_at(n, q[k], method)
                x, y = ranked(rows, order, i, below), ranked(rows, order, i, above)
                step, weight = y - x, like.dtype.type(t if t < 0.5 else 1.0 - t)
                result[k, i] = x + step * weight if t < 0.5 else y - step * weight
    return result


@unchecked
def numbers(rows: Any, order: Any, i: int) -> int:
    """How many elements of a sorted row are no nan."""
    n = rows.shape[1]
    while n > 0 and ranked(rows, order, i, n - 1) != ranked(rows, order, i, n - 1):
        n -= 1
    return n


def quantile_of(
    a: Any, q: Any, axis: Any, method: Any, keepdims: bool, out: Any, message: str, without_nan: bool = False
) -> Any:
    if method not in DISCRETE and method not in CONTINUOUS:
        raise ValueError(f"{method!r} is not a valid method{METHODS}")
    source, fractions = np.asarray(a), np.asarray(q)
    if source.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    element, dtype = method in DISCRETE, source.dtype
    if fractions.dtype.kind in "iub":
        element = (
            element or method == "linear" or method in AT_ENDS and (fractions.ndim > 0 or fractions.dtype.kind == "b")
        )
    if not element:
        if source.dtype.kind == "b":
            raise TypeError(
                "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the "
                "logical_xor function instead."
            )
        # A fraction that is a Python float is as precise as the array.
        dtype = inexact_dtype(source, q)
        source = source.astype(inexact_dtype(source))
    rows, outer, kept = reduced_lines(source, axis)
    like = np.empty(0, dtype)
    found = quantiles_of_rows(rows, fractions.ravel(), without_nan, method, element, message, like)
    shape = kept if constant(keepdims, "the flag keepdims") else outer
    if without_nan and fractions.ndim > 0 and len(outer) > 0:
        # As NumPy's lie: those of one line together.
        by_lines = packed(found.T).reshape((*shape, *fractions.shape))
        first = tuple(range(fractions.ndim))
        return store(np.moveaxis(by_lines, tuple([n + len(shape) for n in first]), first), out)
    return store(reshaped(found, (*fractions.shape, *shape)), out)


@shared_with_adjoint
@unchecked
def quantiles_of_rows(rows: Any, q: Any, without_nan: bool, method: str, element: bool, message: str, like: Any) -> Any:
    for k in range(len(q)):
        if not (0.0 <= q[k] <= 1.0):
            raise ValueError(message)
    if rows.shape[1] == 0 and not without_nan:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    if is_differentiated() and rows.dtype.kind == "f":
        order = quantile_places(cut(rows), cut(q), without_nan, method, element)
        return at_quantiles(rows, order, q, without_nan, method, element, like)
    ordered = quantile_rows(rows, cut(q), without_nan, method, element)
    return at_quantiles(ordered, None, q, without_nan, method, element, like)


def reshaped(a: Any, shape: Any) -> Any:
    """In another shape; a number if it has no axes."""
    return a.ravel()[0] if len(shape) == 0 else a.reshape(shape)


def weighted_quantile_of(
    a: Any,
    q: Any,
    axis: Any,
    method: Any,
    keepdims: bool,
    out: Any,
    weights: Any,
    message: str,
    without_nan: bool = False,
) -> Any:
    """The first element in order with which the weights so far reach the fraction of all weights."""
    if method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    source, fractions = np.asarray(a), np.asarray(q)
    if source.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if source.dtype == np.float32:
        unsupported("quantiles of float32 with weights, in native code", "convert first: a.astype(float)")
    flat = fractions.ravel()
    for k in range(len(flat)):
        if not (0.0 <= flat[k] <= 1.0):
            raise ValueError(message)
    rows, outer, kept = reduced_lines(source, axis)
    shares = reduced_lines(weight_of_each(source, np.asarray(weights), axis), axis)[0]
    if np.any(shares < 0):
        raise ValueError("Weights must be non-negative.")
    found = at_weights(rows, orders(cut(rows), False), cut(shares).astype(np.float64), flat, without_nan)
    shape = kept if constant(keepdims, "the flag keepdims") else outer
    return store(reshaped(found, (*fractions.shape, *shape)), out)


def weight_of_each(a: Any, weights: Any, axis: Any) -> Any:
    """A weight for each element; there may be one for each place along an axis."""
    if weights.ndim == a.ndim:
        if weights.shape == a.shape:
            return weights
        if axis is not None:
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if is_sequence(axis):
        unsupported("quantiles along several axes with weights of these alone", "broadcast the weights to a.shape")
    k = axis_index(axis, a.ndim)
    if weights.ndim != 1 or weights.shape[0] != a.shape[k]:
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    return np.broadcast_to(weights.reshape((weights.shape[0],) + (1,) * (a.ndim - k - 1)), a.shape)


@unchecked
def at_weights(rows: Any, order: Any, shares: Any, q: Any, without_nan: bool) -> Any:
    """Of rows whose order is known, the elements at the fractions q of their weights."""
    result = np.empty((len(q), rows.shape[0]), rows.dtype)
    for i in range(rows.shape[0]):
        n = rows.shape[1]
        if without_nan:
            n = numbers(rows, order, i)
            if n == 0:
                n = rows.shape[1]
        total = 0.0
        for j in range(n):
            total += shares[i, order[i, j]]
        if not (0.0 < total < math.inf):
            raise ValueError("Weights included NaN, inf or were all zero.")
        last = ranked(rows, order, i, n - 1)
        for k in range(len(q)):
            j, reached = 0, shares[i, order[i, 0]]
            # What weighs nothing is not the first element that reaches 0.
            while j < n - 1 and (reached == 0.0 or reached / total < q[k]):
                j += 1
                reached += shares[i, order[i, j]]
            result[k, i] = last if last != last else ranked(rows, order, i, j)
    return result


ORDER = {"interpolation": "use method='linear'"}


@implements(np.quantile, instead=ORDER)
def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: Any = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    if weights is not None:
        return weighted_quantile_of(a, q, axis, method, keepdims, out, weights, "Quantiles must be in the range [0, 1]")
    return quantile_of(a, q, axis, method, keepdims, out, "Quantiles must be in the range [0, 1]")


@implements(np.percentile, instead=ORDER)
def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: Any = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    fractions = np.asarray(q) / 100 if is_sequence(q) else q / 100
    if weights is not None:
        return weighted_quantile_of(
            a, fractions, axis, method, keepdims, out, weights, "Percentiles must be in the range [0, 100]"
        )
    return quantile_of(a, fractions, axis, method, keepdims, out, "Percentiles must be in the range [0, 100]")


@implements(np.nanquantile, instead=ORDER)
def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: Any = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    if weights is not None:
        return weighted_quantile_of(
            a, q, axis, method, keepdims, out, weights, "Quantiles must be in the range [0, 1]", True
        )
    return quantile_of(a, q, axis, method, keepdims, out, "Quantiles must be in the range [0, 1]", True)


@implements(np.nanpercentile, instead=ORDER)
def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: Any = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    fractions = np.asarray(q) / 100 if is_sequence(q) else q / 100
    if weights is not None:
        return weighted_quantile_of(
            a, fractions, axis, method, keepdims, out, weights, "Percentiles must be in the range [0, 100]", True
        )
    return quantile_of(a, fractions, axis, method, keepdims, out, "Percentiles must be in the range [0, 100]", True)


@implements(np.median)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    return median_of(a, axis, keepdims, out, False)


@implements(np.nanmedian)
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    return median_of(a, axis, keepdims, out, True)


def median_of(a: Any, axis: Any, keepdims: bool, out: Any, without_nan: bool) -> Any:
    source = np.asarray(a)
    source = source.astype(inexact_dtype(source))
    rows, outer, kept = reduced_lines(source, axis)
    shape = kept if constant(keepdims, "the flag keepdims") else outer
    made = reshaped(middles(rows, without_nan), shape)
    if axis is not None and not is_sequence(axis) and source.ndim > 1:
        k = axis_index(axis, source.ndim)
        if not without_nan or source.shape[k] < LINE_BY_LINE:
            made = laid_without(made, source, (k,), keepdims)
    return store(made, out)


LINE_BY_LINE = 600  # from this length on NumPy's nanmedian goes from line to line


@shared_with_adjoint
@unchecked
def middles(rows: Any, without_nan: bool) -> Any:
    """Of each row the element in the middle of its order, or what is between two; of a row with a nan a nan, or what its numbers give."""
    if is_differentiated() and rows.dtype.kind == "f":
        return at_middles(rows, middle_places(cut(rows), without_nan))
    return sorted_middles(rows, without_nan)


@shared_by_flags
@unchecked
def sorted_middles(rows: Any, without_nan: bool) -> Any:
    """The same, which has no derivative."""
    rows = in_order(rows, middle_wanted(rows, without_nan), without_nan)
    return at_middles(rows, places_of_middles(rows, None, without_nan))


@shared_by_flags
@unchecked
def middle_places(rows: Any, without_nan: bool) -> Any:
    order = places_in_order(rows, middle_wanted(rows, without_nan), without_nan)
    return places_of_middles(rows, order, without_nan)


def middle_wanted(rows: Any, without_nan: bool) -> Any:
    return around_middle if without_nan else around_middle(rows.shape[1])


def around_middle(n: int) -> Any:
    return np.arange(max(n // 2 - 1, 0), min(n // 2 + 1, n))


@unchecked
def places_of_middles(rows: Any, order: Any, without_nan: bool) -> Any:
    """Where in ordered rows the two elements are between which the middle is, or the same place twice: of the one element there, or of
    a nan; -1 where there is none."""
    places = np.empty((rows.shape[0], 2), np.int64)
    for i in range(rows.shape[0]):
        n = numbers(rows, order, i) if without_nan else rows.shape[1]
        last = ranked(rows, order, i, n - 1) if n > 0 else rows.dtype.type(math.nan)
        first, second = (n - 1) // 2, n // 2
        if last != last:
            first, second = n - 1, n - 1
        places[i, 0] = first if order is None or first < 0 else order[i, first]
        places[i, 1] = second if order is None or second < 0 else order[i, second]
    return places


@unchecked
def at_middles(rows: Any, places: Any) -> Any:
    """Nothing but elements is looked at, so that a derivative has nothing to keep."""
    result = np.empty(rows.shape[0], rows.dtype)
    for i in range(rows.shape[0]):
        first, second = places[i, 0], places[i, 1]
        if first < 0:
            result[i] = math.nan
        elif first == second:
            result[i] = rows[i, first]
        else:
            result[i] = (rows[i, first] + rows[i, second]) / 2
    return result


# -------------------------------------------------------------------------------------------------- covariances


def observations(v: Any, rowvar: bool, name: str, dtype: Any) -> Any:
    """A matrix with a row for each variable, of float64 or complex128 where nothing else is asked for."""
    a = np.asarray(v)
    if a.ndim > 2:
        raise ValueError(f"{name} has more than 2 dimensions")
    a = a.astype(np.result_type(a, np.float64) if dtype is None else dtype)
    if a.ndim == 2 and not constant(rowvar, "the flag rowvar"):
        return a.T
    return np.array(a, copy=None, ndmin=2)


def weights_of(v: Any, count: int, name: str) -> Any:
    """The weights of so many observations."""
    weights = np.asarray(v).astype(float)
    if weights.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if weights.shape[0] != count:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if np.any(weights < 0):
        raise ValueError(f"{name} cannot be negative")
    return weights


def covariances(m: Any, y: Any, rowvar: bool, freedom: Any, fweights: Any, aweights: Any, dtype: Any) -> Any:
    x = observations(m, rowvar, "m", dtype)
    more = None if y is None else observations(y, rowvar, "y", dtype)
    if fweights is None and aweights is None:
        return unweighted_covariances(x, more, freedom)
    if more is not None:
        x = np.concatenate((x, more), 0)
    n = x.shape[1]
    weights = np.ones(n)
    if fweights is not None:
        repeated = weights_of(fweights, n, "fweights")
        if np.any(repeated != np.around(repeated)):
            raise TypeError("fweights must be integer")
        weights = repeated
    if aweights is not None:
        weights = weights * weights_of(aweights, n, "aweights")
    total = np.sum(weights)
    if total == 0.0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    count = total - freedom
    if aweights is not None and freedom != 0:
        count = total - freedom * np.sum(weights * np.asarray(aweights)) / total
    centred = (x - (np.sum(x * weights, 1) / total)[:, None]).astype(x.dtype)
    return (centred @ np.conjugate((centred * weights).T)) * scale_of(count)


@shared_with_adjoint
def unweighted_covariances(x: Any, more: Any, freedom: Any) -> Any:
    if more is not None:
        x = np.concatenate((x, more), 0)
    centred = x - x.mean(1)[:, None]
    return (centred @ np.conjugate(centred.T)) * scale_of(x.shape[1] - freedom)


def scale_of(count: Any) -> Any:
    return np.true_divide(1.0, max(float(count), 0.0))


@implements(np.cov)
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None, aweights: Any = None,
    *, dtype: Any = None,
) -> Any:  # fmt: skip
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    freedom = ddof if ddof is not None else 0 if bias else 1
    c = covariances(m, y, rowvar, freedom, fweights, aweights, dtype)
    if y is not None:
        return c
    return c.reshape(()) if np.ndim(m) <= 1 or len(c) == 1 else c


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = covariances(x, y, rowvar, 1, None, None, dtype)
    if y is None and (np.ndim(x) <= 1 or len(c) == 1):
        return c[0, 0] / c[0, 0]
    return normalised(c)


@shared_with_adjoint
def normalised(c: Any) -> Any:
    """Correlations from covariances."""
    deviations = np.sqrt(np.real(np.diagonal(c)))
    return clipped(c / deviations[:, None] / deviations[None, :])


@unchecked
def clipped(c: Any) -> Any:
    """Between -1 and 1, the parts of complex numbers each."""
    result = c.copy()
    for part in (result.real, result.imag) if c.dtype.kind == "c" else (result,):
        for i in range(len(part)):
            for j in range(part.shape[1]):
                part[i, j] = min(max(part[i, j], -1.0), 1.0)
    return result
