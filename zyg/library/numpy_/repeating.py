"""Arrays repeated, moved along and made longer or shorter."""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import shared_with_adjoint, unchecked

from ..intrinsics import unsupported
from ..registry import implements
from .common import axis_index, is_sequence, lines, same_kind
from .joining import along
from .layouts import is_packed
from .ordering import empty_as, relaid


@implements(np.tile)
def tile(A: Any, reps: Any) -> Any:
    a = np.asarray(A)
    given = tuple(reps) if is_sequence(reps) else (reps,)
    given = tuple([int(count) if isinstance(count, bool) else count for count in given])
    n = max(a.ndim, len(given))
    once = True
    for count in given:
        once = once and count == 1
    if once:
        return np.copy(a[(None,) * (n - a.ndim)])
    counts = (1,) * (n - len(given)) + given
    lengths = (1,) * (n - a.ndim) + a.shape
    folded, stretched, whole = (), (), ()
    for count, length in zip(counts, lengths):
        folded = (*folded, 1, length)
        stretched = (*stretched, count, length)
        whole = (*whole, count * length)
    return np.broadcast_to(np.ascontiguousarray(a).reshape(folded), stretched).copy().reshape(whole)


@implements(np.repeat, (np.ndarray, "repeat"), lists=("repeats",))
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    source = np.asarray(a)
    if axis is None:
        source = source.ravel()
    axis = 0 if axis is None else axis_index(axis, source.ndim)
    if isinstance(repeats, (tuple, list, range)):  # of which floats are taken, too
        return repeated_each(source, np.asarray(repeats, np.int64), axis)
    if isinstance(repeats, np.ndarray):
        counts = np.asarray(repeats)
        if counts.dtype.kind == "f" or counts.dtype.kind == "c":
            raise TypeError(
                f"Cannot cast array data from dtype('{counts.dtype.name}') to dtype('int64') according to the rule 'safe'"
            )
        return repeated_each(source, counts.reshape(1) if counts.ndim == 0 else counts, axis)
    if repeats < 0 and source.shape[axis] > 0:
        raise ValueError("negative dimensions are not allowed")
    repeats = max(repeats, 0)
    shape = source.shape
    stretched = (*shape[: axis + 1], repeats, *shape[axis + 1 :])
    seen = np.broadcast_to(source[(slice(None),) * (axis + 1) + (None,)], stretched)
    return seen.copy().reshape((*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :]))


@shared_with_adjoint
@unchecked
def repeated_each(source: Any, counts: Any, axis: int) -> Any:
    n = source.shape[axis]
    if counts.ndim != 1:
        raise ValueError("object too deep for desired array")
    if len(counts) != n and len(counts) != 1:
        raise ValueError(f"operands could not be broadcast together with shape ({n},) ({len(counts)},)")
    step = 0 if len(counts) == 1 else 1
    total = 0
    for i in range(n):
        if counts[i * step] < 0:
            raise ValueError("repeats may not contain negative values.")
        total += int(counts[i * step])
    result = np.empty((*source.shape[:axis], total, *source.shape[axis + 1 :]), source.dtype)
    to, items = np.moveaxis(result, axis, 0), np.moveaxis(source, axis, 0)
    at = 0
    for i in range(n):
        for _ in range(int(counts[i * step])):
            to[at] = items[i]
            at += 1
    return result


@implements(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    source = np.asarray(a)
    shifts = np.asarray(shift) if isinstance(shift, list) else shift
    if axis is None:
        return rolled(source.ravel(), shift_along(shifts), 0).reshape(source.shape)
    axes = tuple(axis) if is_sequence(axis) else (axis,)
    if len(axes) == 1:
        return rolled(source, shift_along(shifts), axis_index(axes[0], source.ndim))
    result = np.copy(source) if len(axes) == 0 else source
    for n, k in enumerate(axes):
        result = rolled(result, shift_of(shifts, n, len(axes)), axis_index(k, source.ndim))
    return result


def shift_along(shifts: Any) -> int:
    """How far all of the shifts together go, along one axis."""
    if isinstance(shifts, np.ndarray):
        if shifts.ndim > 1:
            raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
        return int(np.sum(shifts.astype(np.int64)))
    if is_sequence(shifts):
        total = 0
        for s in shifts:
            total += int(s)
        return total
    return int(shifts)


def shift_of(shifts: Any, n: int, count: int) -> int:
    """The shift of the n-th of so many axes: one of as many, or the only one."""
    if isinstance(shifts, np.ndarray):
        if shifts.ndim > 1:
            raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
        given = shifts.reshape(-1)
    elif is_sequence(shifts):
        given = shifts
    else:
        return int(shifts)
    if len(given) == 1:
        return int(given[0])
    if len(given) != count:
        raise ValueError(
            "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg 0 with shape "
            f"({len(given)},) and arg 1 with shape ({count},)."
        )
    return int(given[n])


@shared_with_adjoint
def rolled(a: Any, shift: int, axis: int) -> Any:
    result = np.empty_like(a)
    n = a.shape[axis]
    if n > 0:
        k = shift % n
        result[along(axis, slice(k, n))] = a[along(axis, slice(0, n - k))]
        result[along(axis, slice(0, k))] = a[along(axis, slice(n - k, n))]
    return result


@implements(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    flat = np.ravel(a)
    shape = tuple(new_shape) if is_sequence(new_shape) else (new_shape,)
    size = 1
    for n in shape:
        if n < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
        size = size * n
    result = np.zeros(size, flat.dtype)
    if len(flat) > 0:
        for start in range(0, size, len(flat)):
            stop = min(start + len(flat), size)
            result[start:stop] = flat[: stop - start]
    return result.reshape(shape)


ENDS = ("f", "F", "b", "B", "fb", "fB", "Fb", "FB", "bf", "bF", "Bf", "BF")


@implements(np.trim_zeros, lists=("filt",))
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    if isinstance(filt, tuple):
        unsupported("np.trim_zeros of a tuple, whose length would depend on numbers, in native code", "pass a list")
    a = np.asarray(filt)
    if trim not in ENDS:
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    if isinstance(filt, list) and a.ndim > 1:
        raise TypeError("list indices must be integers or slices, not tuple")
    axes = tuple(range(a.ndim)) if axis is None else tuple(axis) if is_sequence(axis) else (axis,)
    result = a
    for given in axes:
        k = axis_index(given, a.ndim)
        # What is zero is looked for in the whole array, whatever has been trimmed along the axes before.
        used = np.any(lines(a, k) != 0, axis=0)
        first, last = 0, len(used)
        if "f" in trim or "F" in trim:
            while first < last and not used[first]:
                first += 1
        if "b" in trim or "B" in trim:
            while last > first and not used[last - 1]:
                last -= 1
        result = result[along(k, slice(first, last))]
    return result.tolist() if isinstance(filt, list) else result


@implements(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    if axis is None:
        return np.concatenate((np.asarray(arr).ravel(), np.asarray(values).ravel()))
    return np.concatenate((arr, values), axis)


@implements(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    source = np.asarray(arr)
    if axis is None:
        source = source.ravel()
    axis = 0 if axis is None else axis_index(axis, source.ndim)
    n = source.shape[axis]
    if isinstance(obj, slice):
        obj = np.arange(n)[obj]
    if is_sequence(obj) or isinstance(obj, np.ndarray):
        places = np.asarray(obj, int) if is_sequence(obj) and len(obj) == 0 else np.asarray(obj)
        if places.dtype.kind == "b":
            places = np.flatnonzero(places)
        return inserted_each(source, places, np.asarray(values, source.dtype), axis)
    if obj < -n or obj > n:
        raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {n}")
    at = obj + n if obj < 0 else obj
    new = np.array(values, source.dtype, copy=None, ndmin=source.ndim)
    new = np.moveaxis(new, 0, axis)
    count = new.shape[axis]
    result = empty_as(source, (*source.shape[:axis], n + count, *source.shape[axis + 1 :]), source.dtype, "A")
    result[along(axis, slice(0, at))] = source[along(axis, slice(0, at))]
    place = result[along(axis, slice(at, at + count))]
    place[...] = np.broadcast_to(new, place.shape)
    result[along(axis, slice(at + count, n + count))] = source[along(axis, slice(at, n))]
    return result


def inserted_each(source: Any, places: Any, values: Any, axis: int) -> Any:
    """Values before each of several places, of which one may be there several times; at one place there may be several."""
    if places.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    n, count = source.shape[axis], places.size
    if places.dtype.kind not in "iu":
        if count == 1:
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        raise IndexError("arrays used as indices must be of integer type")
    missing = source.ndim - values.ndim
    shown = values[(None,) * missing] if missing > 0 else values
    if count == 1:
        count = shown.shape[axis]
    at = np.zeros(count, np.int64)
    at[...] = places
    for i in range(count):
        if at[i] < -n or at[i] > n:
            if places.size == 1:
                raise IndexError(f"index [{at[i]}] is out of bounds for axis {axis} with size {n}")
            raise IndexError(f"index {at[i]} is out of bounds for axis {axis} with size {n}")
        if at[i] < 0:
            at[i] += n
    order = np.argsort(at, kind="stable")
    at[order] += np.arange(count)
    result = empty_as(source, (*source.shape[:axis], n + count, *source.shape[axis + 1 :]), source.dtype, "A")
    old = np.ones(n + count, bool)
    old[at] = False
    result[along(axis, at)] = shown
    result[along(axis, old)] = source
    return result


@implements(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    source = np.asarray(arr)
    if axis is None:
        source = source.ravel()
    axis = 0 if axis is None else axis_index(axis, source.ndim)
    n = source.shape[axis]
    if is_sequence(obj) or isinstance(obj, np.ndarray):
        places = np.asarray(obj, int) if is_sequence(obj) and len(obj) == 0 else np.asarray(obj)
        if places.dtype.kind == "f":
            raise IndexError("arrays used as indices must be of integer (or boolean) type")
        if places.dtype == bool or places.size != 1:
            return without(source, places if places.dtype == bool else places.ravel(), axis)
        return without(source, places.ravel(), axis, "A")
    if isinstance(obj, slice):
        return without(source, np.arange(n)[obj], axis, "A")
    if isinstance(obj, (bool, np.bool)):
        raise ValueError(
            f"boolean array argument obj to delete must be one dimensional and match the axis length of {n}"
        )
    if obj < -n or obj >= n:
        raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {n}")
    at = obj + n if obj < 0 else obj
    result = empty_as(source, (*source.shape[:axis], n - 1, *source.shape[axis + 1 :]), source.dtype, "A")
    result[along(axis, slice(0, at))] = source[along(axis, slice(0, at))]
    result[along(axis, slice(at, n - 1))] = source[along(axis, slice(at + 1, n))]
    return result


@unchecked
def without(source: Any, gone: Any, axis: int, order: str = "") -> Any:
    """The array without what stands at these places along an axis, or at those of a mask; without an order in that of what is
    selected by a mask, where the axis comes first."""
    n = source.shape[axis]
    keep = np.ones(n, bool)
    if gone.dtype == bool:
        if len(gone) != n:
            raise ValueError(
                f"boolean array argument obj to delete must be one dimensional and match the axis length of {n}"
            )
        for i in range(n):
            keep[i] = not gone[i]
    else:
        for i in range(len(gone)):
            at = gone[i]
            if at < -n or at >= n:
                raise IndexError(f"index {at} is out of bounds for axis {axis} with size {n}")
            keep[at + n if at < 0 else at] = False
    count = 0
    for i in range(n):
        if keep[i]:
            count += 1
    if order == "":
        return source[along(axis, keep)]
    result = empty_as(source, (*source.shape[:axis], count, *source.shape[axis + 1 :]), source.dtype, order)
    to, items = np.moveaxis(result, axis, 0), np.moveaxis(source, axis, 0)
    at = 0
    for i in range(n):
        if keep[i]:
            to[at] = items[i]
            at += 1
    return result


# ------------------------------------------------------------------------------------------------------ borders


def pairs(width: Any, ndim: int) -> Any:
    """Two numbers per axis, of what np.pad takes for them: a number, a pair, a pair per axis."""
    if not is_sequence(width):
        if isinstance(width, np.ndarray):
            unsupported("np.pad with an array of widths in native code", "pass them in tuples")
        return ((width, width),) * ndim
    if len(width) == 1 and is_sequence(width[0]):
        one = tuple(width[0])
        return ((one[0], one[-1]),) * ndim
    if len(width) == ndim and is_sequence(width[0]):
        return tuple([(w[0], w[-1]) for w in width])
    if len(width) == 2 and not is_sequence(width[0]):
        return ((width[0], width[1]),) * ndim
    if len(width) == 1:
        return ((width[0], width[0]),) * ndim
    raise ValueError(
        f"operands could not be broadcast together with remapped shapes [original->remapped]: and requested shape ({ndim},2)"
    )


# Modes that put on both sides of the lines along an axis what is computed of them.
STATISTICS = ("maximum", "minimum", "mean", "median")


@implements(np.pad)
def pad(
    array: Any, pad_width: Any, mode: Any = "constant", *, constant_values: Any = 0, end_values: Any = 0, stat_length: Any = None
) -> Any:  # fmt: skip
    a = np.asarray(array)
    widths = pairs(pad_width, a.ndim)
    for before, after in widths:
        if before < 0 or after < 0:
            raise ValueError("index can't contain negative values")
    if stat_length is not None and mode not in STATISTICS:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {{'stat_length'}}")
    if mode == "constant":
        values = pairs(constant_values, a.ndim)
        shape = tuple([before + n + after for n, (before, after) in zip(a.shape, widths)])
        result = empty_as(a, shape, a.dtype, "A")
        result[tuple([slice(before, before + n) for n, (before, after) in zip(a.shape, widths)])] = a
        for axis in tuple(range(a.ndim)):
            before, after = widths[axis]
            n = shape[axis]
            result[along(axis, slice(0, before))] = values[axis][0]
            result[along(axis, slice(n - after, n))] = values[axis][1]
        return result
    if mode != "linear_ramp" and mode not in STATISTICS and mode not in ("edge", "reflect", "symmetric", "wrap"):
        if mode != "empty":
            raise ValueError(f"mode '{mode}' is not supported")
        unsupported(
            "np.pad(mode=...) of this kind in native code",
            "use constant, edge, reflect, symmetric, wrap, linear_ramp, maximum, minimum, mean or median",
        )
    ends, counted = pairs(end_values, a.ndim), pairs(stat_length, a.ndim)
    if stat_length is not None:
        check_counts(counted)
    if a.size == 0:
        for axis in tuple(range(a.ndim)):
            before, after = widths[axis]
            if a.shape[axis] == 0 and (before > 0 or after > 0):
                raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        return np.empty(tuple([before + n + after for n, (before, after) in zip(a.shape, widths)]), a.dtype)
    result = a.copy() if a.ndim == 0 else a
    if mode != "linear_ramp" and mode not in STATISTICS and a.ndim > 0:
        result = continued(a, widths, mode)
        return result if is_packed(a) else relaid(result, a)
    for axis in tuple(range(a.ndim)):
        before, after = widths[axis]
        if mode == "linear_ramp":
            result = np.concatenate(
                (
                    ramp(result[along(axis, 0)], before, ends[axis][0], axis),
                    result,
                    np.flip(ramp(result[along(axis, -1)], after, ends[axis][1], axis), axis),
                ),
                axis,
            )
        else:
            first, last = of_ends(result, counted[axis], axis, mode)
            result = np.concatenate((np.repeat(first, before, axis), result, np.repeat(last, after, axis)), axis)
    return result if is_packed(a) and is_packed(result) else relaid(result, a)


def check_counts(counted: Any) -> None:
    for pair in counted:
        for count in pair:
            if count is None:
                kind = "NoneType" if counted[0][0] is None else "int"
                raise TypeError(
                    f"loop of ufunc does not support argument 0 of type {kind} which has no callable rint method"
                )
            if count < 0:
                raise ValueError("index can't contain negative values")


def of_ends(a: Any, counted: Any, axis: int, statistic: str) -> Any:
    """A statistic of the first so many lines along an axis, and one of the last ones; no numbers stand for all."""
    if counted[0] is None:
        of_lines = of_all(a, axis, statistic)
        return of_lines, of_lines
    n = a.shape[axis]
    first, last = min(counted[0], n), min(counted[1], n)
    if (first == 0 or last == 0) and (statistic == "maximum" or statistic == "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    return (
        of_all(a[along(axis, slice(0, first))], axis, statistic),
        of_all(a[along(axis, slice(n - last, n))], axis, statistic),
    )


def of_all(a: Any, axis: int, statistic: str) -> Any:
    """A statistic of the lines along an axis, as an element of the array."""
    if statistic == "maximum":
        return np.max(a, axis, keepdims=True)
    if statistic == "minimum":
        return np.min(a, axis, keepdims=True)
    found = np.mean(a, axis, keepdims=True) if statistic == "mean" else np.median(a, axis, keepdims=True)
    return (np.round(found) if a.dtype.kind in "iu" else found).astype(a.dtype)


def ramp(edge: Any, count: int, end: Any, axis: int) -> Any:
    """So many steps from a value to the edge of an array, without the edge."""
    return np.linspace(end, edge, count, endpoint=False, dtype=edge.dtype, axis=axis)


def continued(a: Any, widths: Any, mode: str) -> Any:
    """The array in the middle of a larger one, whose borders are filled axis by axis with lines of it."""
    inner = tuple([slice(before, before + n) for n, (before, after) in zip(a.shape, widths)])
    result = np.empty(tuple([before + n + after for n, (before, after) in zip(a.shape, widths)]), a.dtype)
    result[inner] = a
    for axis in tuple(range(a.ndim)):
        before, after = widths[axis]
        done = result[
            (slice(None),) * (axis + 1) + inner[axis + 1 :]
        ]  # what is outside along later axes is not there yet
        fill_borders(np.moveaxis(done, axis, 0), before, a.shape[axis], after, mode)
    return result


@unchecked
def fill_borders(lines: Any, before: int, n: int, after: int, mode: str) -> None:
    """Of so many lines on both sides of `n` that are there."""
    for i in range(before):
        lines[i] = lines[before + line_for(i - before, n, mode)]
    for i in range(n, n + after):
        lines[before + i] = lines[before + line_for(i, n, mode)]


@unchecked
def line_for(k: int, n: int, mode: str) -> int:
    """Which of `n` lines stands in the place of one outside of them."""
    if mode == "edge":
        return 0 if k < 0 else n - 1
    if mode == "wrap":
        return k % n
    if mode == "reflect":
        period = max(2 * (n - 1), 1)
        k = k % period
        return period - k if k >= n else k
    k = k % (2 * n)
    return 2 * n - 1 - k if k >= n else k


@implements(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    a = np.asarray(ary).ravel()
    steps = a[1:] - a[:-1]
    if to_begin is None and to_end is None:
        return steps
    first = np.empty(0, a.dtype) if to_begin is None else np.asarray(to_begin).ravel()
    last = np.empty(0, a.dtype) if to_end is None else np.asarray(to_end).ravel()
    for part in (first, last):
        same_kind(part, a.dtype)
    return np.concatenate((first.astype(a.dtype), steps, last.astype(a.dtype)))
