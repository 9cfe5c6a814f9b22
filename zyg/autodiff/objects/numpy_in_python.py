"""Functions of NumPy that write to arrays, call functions, or take brackets, as Python code that is differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.ir.overtaking import OVERTAKING_FLAT

from . import calls, numpy_items
from .calls import known, known_code, method
from .numpy_ import as_operand

SPARSE_VIEWS_IN_A_LIST = np.lib.NumpyVersion(np.__version__) < "2.5.0"  # what np.meshgrid gives without copies

# ------------------------------------------------------------------------------------------------------ writing


def place(a: Any, mask: Any, values: Any) -> None:
    found = np.nonzero(np.reshape(np.asarray(mask, bool), a.shape))
    count = len(found[0])
    if count:
        if np.size(values) == 0:
            raise ValueError("Cannot insert from an empty array!")
        a[found] = np.resize(values, count)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    places = np.ravel(np.asarray(ind, int))
    if places.size and np.size(v):
        # "raise", where they lie within the array, as "wrap".
        places = np.clip(places, 0, a.size - 1) if mode == "clip" else places % a.size
        a[np.unravel_index(places, a.shape)] = np.resize(v, places.size)


def putmask(a: Any, mask: Any, values: Any) -> None:
    found = np.nonzero(np.reshape(np.asarray(mask, bool), a.shape))
    if len(found[0]) and np.size(values):
        a[found] = np.ravel(np.array(values))[np.ravel_multi_index(found, a.shape) % np.size(values)]


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    # Of copies: what is written to the arrays afterwards is none of theirs.
    source = np.array(src)
    source = np.reshape(source, source.shape[max(source.ndim - dst.ndim, 0) :])
    mask = np.broadcast_to(np.array(where), dst.shape)
    dst[mask] = np.broadcast_to(source, dst.shape)[mask]


def put_along_axis(a: Any, indices: Any, values: Any, axis: Any) -> None:
    a[places_along(indices, a.shape, axis)] = values


def places_along(indices: Any, shape: tuple[int, ...], axis: Any) -> Any:
    """The key of the elements at these places of an axis."""
    if axis is None:
        return np.unravel_index(indices, shape)
    if np.ndim(indices) != len(shape):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    parts = list(np.ogrid[tuple([slice(n) for n in shape])])
    parts[axis] = indices
    return tuple(parts)


def at(u: Any, a: Any, key: Any, *operands: Any) -> None:
    """One element after the other; those of different places at once."""
    places, turns = in_turns(a.shape, key)
    operands = tuple([np.ravel(np.broadcast_to(np.array(x), places.shape)) for x in operands])
    for turn in turns:
        found = np.unravel_index(places.ravel()[turn], a.shape)
        a[found] = u(a[found], *[x[turn] for x in operands])


def in_turns(shape: tuple[int, ...], key: Any) -> tuple[Any, list[Any]]:
    """The places that a key names, and lists of those of which none is there twice."""
    places = np.arange(int(np.prod(shape))).reshape(shape)[key]
    rest, turns = np.arange(np.size(places)), []
    while len(rest):
        _, first = np.unique(np.ravel(places)[rest], return_index=True)
        turns.append(rest[np.sort(first)])
        rest = np.delete(rest, first)
    return np.asarray(places), turns


def reduceat(u: Any, a: Any, indices: Any, axis: int = 0) -> Any:
    rows = np.moveaxis(a, axis, 0)
    ends = [*[int(k) for k in indices[1:]], len(rows)]
    parts = [u.reduce(rows[int(i) : j], axis=0) if i < j else rows[int(i)] for i, j in zip(indices, ends)]
    if len(parts) == 0:
        return np.take(a, np.zeros(0, int), axis)
    return np.stack(parts, axis) if a.ndim > 1 else np.array(parts)


def in_place(name: str, f: Any, written: Any) -> Any:
    """An entry of a function that writes to an array of floats; of others it is up to code that zyg cannot see into."""

    def entry(a: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if not isinstance(a, np.ndarray) or a.dtype.kind not in "fc":
            return calls.call_foreign(f, a, *args, **kwargs)
        return calls.call(written, (a, *args), kwargs)

    entry.__name__ = name
    return entry


for _f, _written in ((np.place, place), (np.put_along_axis, put_along_axis)):
    known(_f)(in_place(_f.__name__, _f, _written))


@method(np.ndarray, "partition")
def _partition(x: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if x.dtype.kind not in "fc":
        return calls.call_foreign(x.partition, *args, **kwargs)
    back = calls.call(partition, (x, *args), kwargs)[1]
    return None, None if back is None else (calls.run_shifted, back)


def partition(x: Any, kth: Any, axis: int = -1, **options: Any) -> None:
    x[...] = np.partition(x, kth, axis, **options)


@method(np.ufunc, "reduceat")
def _reduceat(u: Any, a: Any, indices: Any, axis: Any = 0, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    a, made = as_operand(a)
    if made is not None or args or kwargs or not isinstance(a, np.ndarray) or a.dtype.kind not in "fc":
        return calls.call_foreign(u.reduceat, a, indices, axis, *args, **kwargs)
    u.reduceat(a, indices, axis)  # raises what it raises
    y, back = calls.call(reduceat, (u, a, indices, axis))
    return y, None if back is None else (calls.run_shifted, back)


def set_attribute(x: np.ndarray, name: str, value: Any) -> Any:
    """The back of `x.flat = value`, `x.real = value`, `x.imag = value`."""
    if name == "imag" and x.dtype.kind == "f":
        x.imag = value  # raises the TypeError
    if name != "flat":
        back = numpy_items.setitem(getattr(x, name) if x.dtype.kind == "c" else x, ..., value)
    else:
        if isinstance(value, np.ndarray) and value.size != x.size and np.may_share_memory(x, value):
            raise ValueError(OVERTAKING_FLAT)
        back = calls.call(set_flat, (x, value))[1]
    return None if back is None else (_run_set_attribute, back, name == "flat")


def set_flat(x: Any, value: Any) -> None:
    if np.size(value):
        x[...] = np.reshape(np.resize(value, x.size), x.shape)


def _run_set_attribute(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (None, given[2])


# ------------------------------------------------------------------------------------------------ calls of functions


@known(np.piecewise)
def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y, back = calls.call(piecewise, (x, condlist, funclist, *args), kwargs)
    return y, back


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kwargs: Any) -> Any:
    x = np.asarray(x)
    y = np.zeros_like(x)
    for where, f in zip(conditions(x, condlist, len(funclist)), funclist):
        if not callable(f):
            y[where] = f
        elif np.any(where):
            y[where] = f(x[where], *args, **kwargs)
    return y


def conditions(x: Any, given: Any, count: int) -> Any:
    """A row of bools for each of so many functions: the last one may be for where no condition holds."""
    if np.isscalar(given) or (not isinstance(given[0], (list, np.ndarray)) and x.ndim != 0):
        given = [given]
    rows = np.asarray(given, bool)
    if len(rows) == count - 1:
        return np.concatenate([rows, ~np.any(rows, axis=0, keepdims=True)])
    if len(rows) != count:
        raise ValueError(f"with {len(rows)} condition(s), either {len(rows)} or {len(rows) + 1} functions are expected")
    return rows


@known_code(np.vectorize.__call__.__code__)
def _vectorized(v: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    xs = [np.asarray(x) for x in args]
    plain = not kwargs and v.signature is None and not v.excluded and args and not any(x.dtype.kind == "O" for x in xs)
    shape = np.broadcast_shapes(*[x.shape for x in xs]) if plain else ()
    if not plain or 0 in shape:
        return calls.call_foreign(type(v).__call__, v, *args, **kwargs)
    types = [np.dtype(t) for t in v.otypes or ""]
    y, back = calls.call(vectorized, (v.pyfunc, shape, types, v.cache, *args))
    return y, None if back is None else (_run_vectorized, back)


def _run_vectorized(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, None, *given[5:])


def vectorized(f: Any, shape: tuple[int, ...], types: list[Any], keeps_first: bool, *args: Any) -> Any:
    """Where no types are given, NumPy calls the function once more, for those that the first elements give."""
    columns = [np.ravel(np.broadcast_to(np.array(x), shape)) for x in args]
    rows = list(zip(*[x.tolist() for x in columns]))
    found = []
    if not types:
        first = f(*[x[0] for x in columns])
        types = [np.asarray(v).dtype for v in (first if isinstance(first, tuple) else (first,))]
        if keeps_first:
            found.append(first)
    for items in rows[len(found) :]:
        found.append(f(*items))
    if isinstance(found[0], tuple):
        return tuple([np.reshape(np.array(list(v), t), shape) for v, t in zip(zip(*found), types)])
    return np.reshape(np.array(found, types[0]), shape)


# ------------------------------------------------------------------------------------------ views that repeat elements


@known(np.broadcast_arrays)
def _broadcast_arrays(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return calls.call_foreign(np.broadcast_arrays, *args, **kwargs) if kwargs else calls.call(stretched, args)


def stretched(*args: Any) -> Any:
    shape = np.broadcast_shapes(*[np.shape(x) for x in args])
    return tuple([np.broadcast_to(x, shape) if np.shape(x) != shape else np.asarray(x) for x in args])


@known(np.meshgrid)
def _meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: str = "xy", **kwargs: Any) -> tuple[Any, Any]:
    if copy or kwargs or indexing not in ("xy", "ij"):
        return calls.call_foreign(np.meshgrid, *xi, copy=copy, sparse=sparse, indexing=indexing, **kwargs)
    y, back = calls.call(grid, (bool(sparse), indexing, *xi))
    return y, None if back is None else (_run_grid, back)


def _run_grid(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, *given[3:])


def grid(sparse: bool, indexing: str, *xi: Any) -> Any:
    """np.meshgrid without copies."""
    along = range(len(xi)) if indexing == "ij" or len(xi) < 2 else (1, 0, *range(2, len(xi)))
    views = [np.reshape(x, (1,) * k + (-1,) + (1,) * (len(xi) - k - 1)) for k, x in zip(along, xi)]
    if sparse:
        return views if SPARSE_VIEWS_IN_A_LIST else tuple(views)
    return np.broadcast_arrays(*views)


# ---------------------------------------------------------------------------------------------- np.r_ and np.c_


@known_code(type(np.r_).__getitem__.__code__)
def _in_brackets(brackets: Any, key: Any) -> tuple[Any, Any]:
    items = key if type(key) is tuple else (key,)
    if any(isinstance(x, str) for x in items):
        y, back = calls.call_foreign(type(brackets).__getitem__, brackets, key)
        return y, back
    kinds = [x if np.isscalar(x) else np.asarray(ranged(x)).dtype for x in items]
    y, back = calls.call(joined, (items, brackets.ndmin == 2, np.result_type(*kinds)))
    return y, None if back is None else (_run_in_brackets, back, type(key) is tuple)


def _run_in_brackets(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    if given is None or given[1] is None:
        return None
    return None, None, given[1] if back[2] else given[1][0]


def joined(items: Any, as_columns: bool, dtype: Any) -> Any:
    parts = [np.array(ranged(x), dtype) for x in items]
    if as_columns:
        return np.concatenate([np.reshape(x, (-1, 1)) if x.ndim < 2 else x for x in parts], axis=-1)
    return np.concatenate([np.atleast_1d(x) for x in parts])


def ranged(x: Any) -> Any:
    """What stands in brackets: a slice is the numbers that it names."""
    if not isinstance(x, slice):
        return x
    start = 0 if x.start is None else x.start
    if isinstance(x.step, (complex, np.complexfloating)):
        return np.linspace(start, x.stop, int(abs(x.step)))
    return np.arange(start, x.stop, 1 if x.step is None else x.step)
