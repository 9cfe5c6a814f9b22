"""Views that are made of a buffer, and functions that add up, or pick, by position: what the reverse pass does with the memory of
arrays, and is differentiated in turn for second derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import numpy_, numpy_in_python, numpy_items, shadows
from .backs import run, run_shifted
from .calls import call, call_foreign, known, method
from .cotangents import INERT, Refused
from .numpy_ import as_operand, give, is_number, of_objects, refuse, saved, taken
from .shadows import Shadows


@known(np.ndarray, exact=True)
def _ndarray(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A view of a buffer has its shadow where the memory of the buffer has its own; else what is in it means nothing."""
    return np.ndarray(*args, **kwargs), None


# Where the shadow of an array is carries no derivative; what is in it does.
def _plainly(function: Any) -> Any:
    return lambda *args: (function(*args), None)


for _function in (
    Shadows.of_array, Shadows.has_array, Shadows.refusal_of, Shadows.take_made, Shadows.found_of, Shadows.hush, shadows.owner_of, shadows.key_of, shadows.shadow_dtype,
):  # fmt: skip
    known(_function, exact=True)(_plainly(_function))


@known(Shadows.gain, exact=True)
def _gain(shadows: Shadows, array: np.ndarray, d: Any) -> tuple[Any, Any]:
    """An array that becomes a shadow is what it was."""
    view = shadows.placed(array, d)
    return None, None if view is None else (_run_gain, numpy_.inplace("add", view, d)[1])


def _run_gain(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = back[1][0](back[1], None, shadows)
    return (
        None if given is None else (None, None, None, given[1])
    )  # (of an array without dimensions it may be a number)


@method(np.ufunc, "at")
def _at(u: np.ufunc, a: Any, indices: Any, *operands: Any) -> tuple[Any, Any]:
    if not isinstance(a, np.ndarray) or a.dtype.kind not in "fc" or len(operands) != u.nin - 1:
        return call_foreign(u.at, a, indices, *operands)
    if u not in (np.add, np.subtract):
        back = call(numpy_in_python.at, (u, a, indices, *operands))[1]
        return None, None if back is None else (run_shifted, back)
    b, made = as_operand(operands[0])
    if of_objects(b):
        return call_foreign(u.at, a, indices, b)
    u.at(a, indices, b)
    return None, (_run_at, u is np.subtract, a, numpy_items.frozen(indices), b, made)


def _run_at(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, negative, a, indices, b, made = back
    if not shadows.has_array(a):
        return None
    refused = shadows.refusal_of(a)
    if refused is not None:
        given = refuse(b, refused, shadows)
    else:
        c = shadows.of_array(a)[indices]
        given = give(b, -c if negative else c + 0.0, shadows)
    return None, None, None, given if made is None else made[0](made, None, shadows)


@known(np.bincount)
def _bincount(x: Any, weights: Any = None, minlength: int = 0) -> tuple[Any, Any]:
    if weights is None or type(weights) in INERT:
        return np.bincount(x, weights, minlength), None
    weights, made = as_operand(weights)
    y = np.bincount(x, weights, minlength)
    return y, (_run_bincount, y, saved(np.asarray(x)), weights, made)


def _run_bincount(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, weights, made = back
    dy = taken(y, d, shadows)
    if dy is None:
        return None
    given = refuse(weights, dy, shadows) if type(dy) is Refused else give(weights, dy[x], shadows)
    return None, None, given if made is None else made[0](made, None, shadows)


@known(np.histogram)
def _histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[Any, Any]:
    if weights is not None or density:
        return call_foreign(np.histogram, a, bins, range, density, weights)
    return np.histogram(a, bins, range), None


@known(np.histogramdd)
def _histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any]:
    """Of a matrix here the number of columns is known, which native code wants to have."""
    if isinstance(sample, np.ndarray) and sample.ndim == 2 and isinstance(bins, (int, np.integer)):
        bins = (bins,) * sample.shape[1]
    return call_foreign(np.histogramdd, sample, bins, range, density, weights)


@known(np.unique)
def _unique(x: Any, **kwargs: Any) -> tuple[Any, Any]:
    if kwargs:
        return call_foreign(np.unique, x, **kwargs)
    x, made = as_operand(x)
    y, indices = np.unique(x, return_index=True)
    return y, (_run_unique, y, indices, x, made)


def _run_unique(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, indices, x, made = back
    dy = shadows.take_array(y)
    if dy is None:
        return None
    if type(dy) is not Refused:
        c = np.zeros(x.size, dy.dtype)
        c[indices] = dy
        dy = c.reshape(x.shape)
    given = give(x, dy, shadows)
    return None, given if made is None else made[0](made, None, shadows)


# ---------------------------------------------------------------------------------- functions that write to an array


_OPTIONS = frozenset({"casting", "where", "mode", "wrap"})


def _writing(f: Any, assigned: Any, written: Any = None) -> None:
    """Of a function that writes to its first argument: `assigned` gives, for its arguments, the key and the value of an assignment
    that does the same (None if there is none), where the value stands, and the back of what it did to get it. `written` is the function
    as Python code, of all that it does to numbers."""

    def handler(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        plain = args and isinstance(args[0], np.ndarray) and _OPTIONS.issuperset(kwargs)
        made = assigned(*args, **kwargs) if plain else None
        if made is not None:
            key, value, at, back = made
            return None, (_run_writing, numpy_items.setitem(args[0], key, value), at, back)
        of_floats = plain and args[0].flags.writeable and args[0].dtype.kind in "fc"
        if of_floats and written is not None and all(_is_of_numbers(args[0], x) for x in args[1:]):
            f(args[0].copy(), *args[1:], **kwargs)  # raises what it raises
            return call(written, args, kwargs)
        return call_foreign(f, *args, **kwargs)

    known(f)(handler)


def _run_writing(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, writing, at, inner = back
    given = run(writing, None, shadows)
    c = None if given is None else given[2]
    if inner is not None:
        given = run(inner, c, shadows)
        c = None if given is None else given[1]
    return (*[None] * (1 + at), c)


def _fits(x: np.ndarray, value: Any) -> bool:
    """Whether NumPy writes to the array what it makes of a value, and drops no imaginary part."""
    given = np.asarray(value)
    return given.dtype.kind in "fciub" and np.can_cast(given.dtype, x.dtype, "same_kind")


def _is_of_numbers(x: np.ndarray, value: Any) -> bool:
    """Whether an argument is an option or numbers that an array can take."""
    listed = type(value) in (list, tuple, range, np.ndarray, bool) or is_number(value)
    return isinstance(value, str) or listed and _fits(x, value)


def _copied(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> Any:
    if casting != "same_kind" or not _fits(dst, src):
        return None
    if where is True:
        return ..., src, 1, None
    if not isinstance(where, np.ndarray) or where.dtype.kind != "b" or where.shape != dst.shape:
        return None
    return _under(where, dst, src, 1)


def _masked(a: Any, mask: Any, values: Any) -> Any:
    if not isinstance(mask, np.ndarray) or mask.dtype.kind != "b" or mask.shape != a.shape or not _fits(a, values):
        return None
    return _under(mask, a, values, 2)


def _under(mask: np.ndarray, a: Any, values: Any, at: int) -> Any:
    """One value or a value for each element, which is written where the mask says so."""
    if np.ndim(values) == 0:
        return mask, values, at, None
    if not isinstance(values, np.ndarray) or values.shape != a.shape:
        return None
    part, then = numpy_items.getitem(values, mask)
    return mask, part, at, then


def _put(a: Any, ind: Any, v: Any, mode: str = "raise") -> Any:
    places = np.asarray(ind)
    if mode != "raise" or not _fits(a, v) or places.dtype.kind not in "iu" or not places.size:
        return None
    if np.any((places < -a.size) | (places >= a.size)):
        return None
    if np.ndim(v) and np.shape(v) != places.shape:
        return None
    if a.ndim == 0:
        return None if np.ndim(v) or places.size != 1 else ((), v, 2, None)
    return np.unravel_index(places % a.size, a.shape), v, 2, None


def _on_diagonal(a: Any, val: Any, wrap: bool = False) -> Any:
    count = min(a.shape) if a.ndim == 2 else 0
    if wrap or not count or not _fits(a, val) or np.ndim(val) and np.shape(val) != (count,):
        return None
    return (np.arange(count), np.arange(count)), val, 1, None


_writing(np.copyto, _copied, numpy_in_python.copyto)
_writing(np.putmask, _masked, numpy_in_python.putmask)
_writing(np.put, _put, numpy_in_python.put)
_writing(np.fill_diagonal, _on_diagonal)


@method(np.ndarray, "put")
def _put_by_method(x: np.ndarray, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y, back = call(np.put, (x, *args), kwargs)
    return y, None if back is None else (run_shifted, back)
