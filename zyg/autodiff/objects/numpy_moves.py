"""NumPy's functions that move elements, put arrays together, and make arrays of what they are given."""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.errors import Unsupported

from . import calls, foreign, memory, scattering, structure
from .calls import known
from .cotangents import Refused, is_number
from .numpy_ import OF_OBJECTS, as_operand, give, keeps, real_where, reals_in, refuse, taken
from .numpy_entries import arguments, foreign_call, known_as, only, run_moved_list
from .shadows import owner_of


def moving(f: Any, x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Each element of the result is one of the argument: a function of positions tells which."""
    if _is_written(args[2:], kwargs):
        return foreign_call(f, (x, *args), kwargs)
    x, made = as_operand(x)
    if not isinstance(x, (np.ndarray, np.generic, float, int, complex)):
        return foreign_call(f, (x, *args), kwargs)
    y = f(x, *args, **kwargs)
    back = _moved(f, y, x, args, kwargs)
    if made is not None:
        return y, (run_moved_list, back, made)
    return y, back


def _is_written(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the argument `out` is given, at the end or by its name."""
    return kwargs.get("out") is not None or any(isinstance(a, np.ndarray) for a in args)


@known(np.broadcast_to)
def _broadcast_to(x: Any, shape: Any, **kwargs: Any) -> tuple[Any, Any]:
    return _copied_view(lambda x: np.broadcast_to(x, shape), x, "broadcast_to")


def _copied_view(f: Any, x: Any, name: str) -> tuple[Any, Any]:
    """A copy: elements of the view that are one in memory would be one in the shadow."""
    if isinstance(x, np.ndarray) and x.flags.writeable:
        what = f"np.{name} of an array that is written afterwards, in code that is differentiated through Python"
        place = foreign.position_of(foreign.caller())
        memory.keep(x, Unsupported(what, place, hint="take a copy of the array, or write before"))
    y, back = moving(lambda x: np.array(f(x)), x)
    y.flags.writeable = False
    return y, back


@known(np.lib.stride_tricks.sliding_window_view)
def _sliding_window_view(x: Any, window: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if args or not only(kwargs, "axis"):
        return foreign_call(np.lib.stride_tricks.sliding_window_view, (x, window, *args), kwargs)
    return _copied_view(
        lambda x: np.lib.stride_tricks.sliding_window_view(x, window, **kwargs), x, "sliding_window_view"
    )


def _moved(f: Any, y: Any, x: Any, args: Any, kwargs: Any) -> Any:
    results = y if isinstance(y, (list, tuple)) else [y]
    if isinstance(x, np.ndarray) and all(isinstance(r, np.ndarray) and owner_of(r) is owner_of(x) for r in results):
        return None  # views: their shadows are in the memory of the argument's
    places = f(_positions(x), *args, **kwargs)
    return (run_moved, y, x, [np.asarray(p) for p in places] if isinstance(y, (list, tuple)) else np.asarray(places))


def _positions(x: Any) -> np.ndarray[Any, Any]:
    """The positions of elements, in an array that lies in memory as `x` does: what the orders "A" and "K" give hangs on that."""
    places = np.arange(np.size(x)).reshape(np.shape(x))
    if not isinstance(x, np.ndarray) or x.flags.c_contiguous:
        return places
    laid = np.empty_like(x, places.dtype, subok=False)
    if not x.flags.f_contiguous:  # with gaps
        laid = np.lib.stride_tricks.as_strided(np.empty(2 * x.size, laid.dtype), x.shape, [2 * s for s in laid.strides])
    laid[...] = places
    return laid


def run_moved(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, places = back
    several = isinstance(y, (list, tuple))
    total: Any = None
    for k, (r, p) in enumerate(zip(y, places) if several else [(y, places)]):
        dy = taken(r, (None if d is None else d[k]) if several and isinstance(y, tuple) else d, shadows)
        if dy is None:
            continue
        if type(dy) is Refused:
            return None, refuse(x, dy, shadows)
        if total is None:
            total = _zeros(np.size(x), dy)
        _gather(total, p, dy)
    return None if total is None else (None, give(x, total.reshape(np.shape(x)), shadows))


def _zeros(size: int, dy: Any) -> np.ndarray[Any, Any]:
    return np.zeros(size, np.result_type(dy, np.float64))  # complex numbers and long doubles stay what they are


def _gather(total: Any, places: Any, dy: Any) -> None:
    if total.dtype != np.float64:
        np.add.at(total, places.ravel(), np.asarray(dy).ravel())
    elif places.size:
        total += np.bincount(places.ravel(), np.broadcast_to(dy, places.shape).ravel(), total.size)


_MOVING = """transpose ravel squeeze expand_dims swapaxes moveaxis rollaxis atleast_1d atleast_2d atleast_3d
 flip fliplr flipud rot90 roll repeat tile take split array_split hsplit vsplit dsplit diagonal
 copy reshape matrix_transpose permute_dims unstack take_along_axis"""


def array_of(f: Any, x: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """`array` and its relatives: of arrays, of numbers, of lists of them; converted where a type is given."""
    if dtype is not None and not keeps(np.asarray(x).dtype, np.dtype(dtype)):
        given = {**kwargs, "dtype": dtype}
        y = f(x, *args, **given)
        return foreign.result(y, *OF_OBJECTS, (f, x)) if y.dtype.kind in "mM" else (y, None)
    if isinstance(x, (list, tuple)):
        form = structure.form(x)
        y = f(x, dtype, *args, **kwargs)
        if y.dtype.kind in "mM":
            return foreign.result(y, *OF_OBJECTS, (f, x))
        return y, (_run_array, y, form, reals_in(x, y)) if y.dtype.kind in "fciu" else None
    y = f(x, dtype, *args, **kwargs)
    if isinstance(x, np.ndarray) and owner_of(y) is owner_of(x):
        return y, None
    return y, (run_copied, y, x) if isinstance(x, np.ndarray) or is_number(x) else None


def _run_array(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, form, reals = back
    c = shadows.take_array(y)
    if c is None:
        return None
    if type(c) is Refused:
        return None, scattering.refuse(form, c, shadows)
    return None, scattering.scatter(form, real_where(reals, c), shadows)


def run_copied(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x = back
    c = taken(y, d, shadows)
    return None if c is None else (None, give(x, c, shadows))


known_as("array asarray ascontiguousarray asfortranarray asanyarray", array_of)


def _sorting(f: Any, x: Any, axis: int = -1, **kwargs: Any) -> tuple[Any, Any]:
    x, made = as_operand(x)
    y = f(x, axis=axis, **kwargs)
    if axis is None:
        order = np.argsort(x, axis=None, **kwargs)
    else:
        order = np.take_along_axis(np.arange(x.size).reshape(x.shape), np.argsort(x, axis=axis, **kwargs), axis)
    back = (run_moved, y, x, order)
    return y, back if made is None else (run_moved_list, back, made)


known_as("sort", _sorting)


known_as(_MOVING, moving)


def _joining(f: Any, arrays: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """`concatenate`, `stack` and their relatives, of a list or tuple of arrays and numbers."""
    if _is_written(args[1:], kwargs):
        return foreign_call(f, (arrays, *args), kwargs)
    if isinstance(arrays, np.ndarray):
        return moving(f, arrays, *args, **kwargs)
    items = list(arrays)
    operands = [as_operand(x) for x in items]
    y = f([x for x, _ in operands], *args, **kwargs)
    places, start = [], 0
    for x, _ in operands:
        places.append(np.arange(start, start + np.size(x)).reshape(np.shape(x)))
        start += np.size(x)
    where = f(places, *args, **kwargs)
    return y, (run_joined, y, arrays, operands, where, start)


def run_joined(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, arrays, operands, places, size = back
    dy = shadows.take_array(y)
    if dy is None:
        return None
    flowing: list[Any] = []
    if type(dy) is Refused:
        flowing = [refuse(x, dy, shadows) for x, _ in operands]
    else:
        total = _zeros(size, dy)
        _gather(total, places, dy)
        start = 0
        for x, _ in operands:
            part = total[start : start + np.size(x)].reshape(np.shape(x))
            flowing.append(give(x, part if isinstance(x, np.ndarray) else part[()], shadows))
            start += np.size(x)
    for k, (_, made) in enumerate(operands):
        if made is not None:
            flowing[k] = made[0](made, None, shadows)
    if isinstance(arrays, list):
        for k, c in enumerate(flowing):
            if c is not None:
                shadows.add_item(arrays, k, c)
        return None
    return None, tuple(flowing)


known_as("concatenate stack vstack hstack dstack column_stack concat", _joining)


@known(np.append)
def _append(x: Any, values: Any, axis: Any = None) -> tuple[Any, Any]:
    if axis is None:
        y, back = _joining(lambda xs: np.concatenate([np.ravel(x) for x in xs]), (x, values))
    else:
        y, back = _joining(lambda xs: np.concatenate(xs, axis), (x, values))
    return y, (_run_two, back)


def _run_two(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, *given[1], None)


def _masking(f: Any, x: Any, k: int = 0) -> tuple[Any, Any]:
    """`triu`, `tril` and `diag`: what is taken stays in its place, the rest is zero."""
    x, made = as_operand(x)
    y = f(x, k)
    if isinstance(x, np.ndarray) and owner_of(y) is owner_of(x):
        return y, None
    back = (_run_masked, y, x, f(np.arange(1, x.size + 1).reshape(x.shape), k))
    return y, back if made is None else (run_moved_list, back, made)


def _run_masked(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, places = back
    dy = shadows.take_array(y)
    if dy is None or type(dy) is Refused:
        return None if dy is None else (None, refuse(x, dy, shadows))
    total = _zeros(x.size + 1, dy)
    _gather(total, places, dy)
    shadows.add_array(x, total[1:].reshape(x.shape))
    return None


known_as("triu tril diag", _masking)


def _filled(f: Any, shape: Any, fill_value: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """`full` and `full_like`: the value is the second argument."""
    y = f(shape, fill_value, *args, **kwargs)
    return y, (_run_filled, y, fill_value) if y.dtype.kind in "fciu" else None


def _run_filled(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, value = back
    dy = shadows.take_array(y)
    if dy is None:
        return None
    return None, None, give(value, dy, shadows)


known_as("full full_like", _filled)


@known(np.linspace)
def _linspace(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    given = arguments(args, kwargs, "start", "stop", "num", "endpoint")
    if len(args) < 2 or not only(given, "start", "stop", "num", "endpoint") or not all(map(is_number, args[:2])):
        return foreign_call(np.linspace, args, kwargs)
    y = np.linspace(*args, **kwargs)
    num, endpoint = given.get("num", 50), given.get("endpoint", True)
    return y, (_run_linspace, y, num, endpoint, [np.iscomplexobj(x) for x in args[:2]])


def _run_linspace(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, num, endpoint, are_complex = back
    dy = shadows.take_array(y)
    if dy is None or type(dy) is Refused:
        return None if dy is None else (None, dy, dy)
    w = np.arange(num) / max(num - 1 if endpoint else num, 1)
    return None, *[complex(c) if z else float(c.real) for c, z in zip((dy @ (1.0 - w), dy @ w), are_complex)]


@known(np.arange)
def _arange(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y = np.arange(*args, **kwargs)
    if not only(kwargs, "dtype", "device", "like") and y.dtype.kind == "f":
        return foreign_call(np.arange, args, kwargs)
    return y, (_run_arange, y, len(args)) if len(args) > 1 and y.dtype.kind == "f" else None


def _run_arange(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """By the start and the step; how many numbers there are is a constant."""
    _, y, count = back
    dy = shadows.take_array(y)
    if dy is None or type(dy) is Refused:
        return None if dy is None else (None, dy, None, dy)[: 1 + count]
    return (None, float(np.sum(dy)), None, float(dy @ np.arange(len(dy))))[: 1 + count]
