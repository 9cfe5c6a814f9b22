"""Order statistics of long rows: a few numbers of a sorted row, without sorting it.

Floyd and Rivest (Expected time bounds for selection, CACM 18, 1975): a sample, sorted, tells two numbers between which the one that is
wanted almost certainly stands; one pass counts what is below them and collects what is between, and only that is sorted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zyg.frontend.functions import shared, unchecked

from .. import kernels
from .sorting import sort_vector

LONG = 2000  # numbers of a row that is not sorted as a whole
FEW = 16  # places of which each may cost a pass
_STRIDE = 40503  # the golden ratio of 2**16: no period of the row is met again and again


def takes(rows: Any) -> bool:
    """Bytes are sorted by counting."""
    return rows.dtype.kind in "fi" and rows.dtype.itemsize > 1


def is_faster(rows: Any, places: Any) -> Any:
    return rows.shape[1] >= LONG and len(places) <= FEW


def places_of(wanted: Any, n: int, without_nan: bool) -> Any:
    """The places that are wanted of n elements that count: `wanted` has them, or gives them where rows have different numbers of such."""
    return wanted(n) if without_nan else wanted


@unchecked
def select_rows(rows: Any, wanted: Any, without_nan: bool) -> Any:
    """What sorting the rows of a packed matrix would give, at the places that are wanted (places_of), and the nans;
    the last place has a number if there are none, and what is in other places is not set."""
    result = np.empty(rows.shape, rows.dtype)
    for i in range(len(rows)):
        select(rows[i], wanted, without_nan, result[i])
    return result


@unchecked
def select(row: Any, wanted: Any, without_nan: bool, result: Any) -> None:
    count = len(row)
    if row.dtype.kind == "f":
        count -= int(np.count_nonzero(row != row))
        result[count:] = math.nan
        if count < len(row) and not without_nan:
            for place in wanted:
                result[place] = math.nan
            return
        if count < len(row):
            row = row[row == row]
    if count < LONG:
        result[:count] = row
        sort_vector(result[:count])
        return
    result[count - 1] = row[0]  # no nan
    sample = sample_of(row)
    between = np.empty(count, row.dtype)
    start, stop = 0, 0  # the places in order of the numbers that have been collected
    for place in places_of(wanted, count, without_nan):
        if not (start <= place < stop):
            at = int(place * (len(sample) / count))
            gap = 2 * int(math.sqrt(len(sample)))  # four standard deviations
            low = sample[at - gap] if at >= gap else np.min(row)
            high = sample[at + gap] if at + gap < len(sample) else np.max(row)
            below, found = collect(row, low, high, between)
            if below <= place < below + found:
                start, stop = below, below + found
            else:
                between[:] = row
                start, stop = 0, count
            sort_vector(between[: stop - start])
        result[place] = between[place - start]


@unchecked
def sample_of(row: Any) -> Any:
    """Of as many parts of the row one number each, in order; so many that sorting them, and what they leave, takes least time."""
    n = len(row)
    size = int((2.0 * n) ** (2 / 3))
    width = n // size
    result = np.empty(size, row.dtype)
    for i in range(size):
        result[i] = row[i * width + (i * _STRIDE & 65535) * width // 65536]
    sort_vector(result)
    return result


@shared
@unchecked
def collect(row: Any, low: Any, high: Any, between: Any) -> Any:
    """Put together the numbers from `low` to `high`; how many are less, and how many these are."""
    if row.dtype == np.float64:
        return kernels.collect(len(row), row, low, high, between)
    below, found = np.int64(0), np.int64(0)  # for NumPy's numbers it is not looked whether they are still below 2**63
    for i in range(len(row)):
        x = row[i]
        between[found] = x
        below += x < low
        found += (low <= x) & (x <= high)
    return int(below), int(found)
