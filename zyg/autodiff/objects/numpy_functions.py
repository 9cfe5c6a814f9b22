"""NumPy's functions that work element by element, move elements, reduce and make arrays: one entry for each."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from zyg.errors import Unsupported

from . import builtins_, calls, foreign, memory, numpy_, numpy_items, structure
from .calls import known
from .cotangents import Refused, is_number
from .numpy_ import as_operand, elementwise, give, refuse, saved, taken
from .shadows import owner_of


def _functions(names: str, module: Any = np) -> list[Any]:
    """Those of the functions that this version of NumPy has."""
    return [getattr(module, name) for name in names.split() if hasattr(module, name)]


def _known(names: str, handler: Any, module: Any = np) -> None:
    for f in _functions(names, module):
        if f not in calls.KNOWN:
            known(f)(functools.partial(handler, f))


def foreign_call(f: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """A use of a function that its entry does not cover."""
    return calls.call_foreign(f, *args, **kwargs)


def only(kwargs: dict[str, Any], *names: str) -> bool:
    """Whether no other keyword arguments were given."""
    return all(k in names or v is None for k, v in kwargs.items())


def arguments(args: tuple[Any, ...], kwargs: dict[str, Any], *names: str) -> dict[str, Any]:
    """Arguments by name, of which the first ones may have been given by position. (What an entry does not cover is called as it was
    written: cotangents are told apart by their places.)"""
    return {**dict(zip(names, args)), **kwargs} if len(args) <= len(names) else {"": args}


# -------------------------------------------------------------------------------------------- universal functions


def call_ufunc(u: np.ufunc, *xs: Any, out: Any = None, casting: Any = "same_kind", **kwargs: Any) -> tuple[Any, Any]:
    if len(xs) > u.nin:
        xs, out = xs[: u.nin], xs[u.nin]
    out = out[0] if isinstance(out, tuple) else out
    if kwargs or len(xs) != u.nin:
        given = kwargs if out is None else {**kwargs, "out": out}
        return foreign_call(u, xs, given)
    if not any(isinstance(x, (np.ndarray, list, tuple)) or is_number(x) or type(x) is bool for x in xs):
        return foreign_call(u, xs, {} if out is None else {"out": out})
    y, back = numpy_.matmul(*xs) if u is np.matmul else elementwise(u, *xs)
    if out is None:
        return y, (builtins_.run_shift, back)
    if not np.can_cast(np.asarray(y).dtype, out.dtype, casting):
        u(*xs, out=out, casting=casting)  # raises
    writing = numpy_items.setitem(out, ..., y)
    return out, (run_out, back, writing, y, len(xs))


def run_out(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """A result that was written to an array that was there before."""
    _, inner, writing, _, count = back
    given = calls.run(writing, None, shadows)
    given = calls.run(inner, None if given is None else given[2], shadows)
    return None if given is None else (None, *given[:count], *[None] * (1 + count - len(given)))


@known(np.sign)
def _sign(x: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """That of complex numbers is no constant, and has no slope that is a number."""
    if np.iscomplexobj(x):
        return foreign_call(np.sign, (x, *args), kwargs)
    return call_ufunc(np.sign, x, *args, **kwargs)


for _u in (*numpy_.UFUNCS, np.matmul):
    if _u not in calls.KNOWN:
        known(_u)(functools.partial(call_ufunc, _u))
for _u in numpy_.CONSTANT_UFUNCS:
    if _u not in calls.KNOWN:
        known(_u)(functools.partial(numpy_.constant_ufunc, _u))


@known(np.conjugate)
def _conjugate(x: Any, **kwargs: Any) -> tuple[Any, Any]:
    if kwargs:
        return foreign_call(np.conjugate, (x,), kwargs)
    y = np.conjugate(x)
    return y, (_run_conjugate, y, x)


def _run_conjugate(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x = back
    dy = taken(y, d, shadows)
    return None if dy is None else (None, give(x, dy if type(dy) is Refused else np.conjugate(dy), shadows))


# --------------------------------------------------------------------------------------- functions that move elements


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
    places = f(np.arange(np.size(x)).reshape(np.shape(x)), *args, **kwargs)
    return (run_moved, y, x, [np.asarray(p) for p in places] if isinstance(y, (list, tuple)) else np.asarray(places))


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
            total = np.zeros(np.size(x), complex if np.iscomplexobj(dy) else float)
        _gather(total, p, dy)
    return None if total is None else (None, give(x, total.reshape(np.shape(x)), shadows))


def _gather(total: Any, places: Any, dy: Any) -> None:
    if np.iscomplexobj(dy):
        np.add.at(total, places.ravel(), np.asarray(dy).ravel())
    elif places.size:
        total += np.bincount(places.ravel(), np.broadcast_to(dy, places.shape).ravel(), total.size)


def run_moved_list(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    calls.run(back[1], d, shadows)
    return None, back[2][0](back[2], None, shadows)


_MOVING = """transpose ravel squeeze expand_dims swapaxes moveaxis rollaxis atleast_1d atleast_2d atleast_3d
 flip fliplr flipud rot90 roll repeat tile take split array_split hsplit vsplit dsplit diagonal
 copy reshape matrix_transpose permute_dims unstack take_along_axis"""


def _array(f: Any, x: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """`array` and its relatives: of arrays, of numbers, of lists of them; converted where a type is given."""
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        given = {**kwargs, "dtype": dtype}
        return f(x, *args, **given), None
    if isinstance(x, (list, tuple)):
        form = structure.form(x)
        y = f(x, dtype, *args, **kwargs)
        return y, (_run_array, y, form) if y.dtype.kind in "fciu" else None
    y = f(x, dtype, *args, **kwargs)
    if isinstance(x, np.ndarray) and owner_of(y) is owner_of(x):
        return y, None
    return y, (run_copied, y, x) if isinstance(x, np.ndarray) or is_number(x) else None


def _run_array(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, form = back
    c = shadows.take_array(y)
    if c is None:
        return None
    if type(c) is Refused:
        return None, structure.refuse(form, c, shadows)
    return None, structure.scatter(form, c, shadows)


def run_copied(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x = back
    c = taken(y, d, shadows)
    return None if c is None else (None, give(x, c, shadows))


_known("array asarray ascontiguousarray asfortranarray asanyarray", _array)


def _sorting(f: Any, x: Any, axis: int = -1, **kwargs: Any) -> tuple[Any, Any]:
    x, made = as_operand(x)
    y = f(x, axis=axis, **kwargs)
    if axis is None:
        order = np.argsort(x, axis=None, **kwargs)
    else:
        order = np.take_along_axis(np.arange(x.size).reshape(x.shape), np.argsort(x, axis=axis, **kwargs), axis)
    back = (run_moved, y, x, order)
    return y, back if made is None else (run_moved_list, back, made)


_known("sort", _sorting)


_known(_MOVING, moving)


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
        total = np.zeros(size, complex if np.iscomplexobj(dy) else float)
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


_known("concatenate stack vstack hstack dstack column_stack concat", _joining)


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


# -------------------------------------------------------------------------------------------------- reductions


def _reduction(f: Any, slope: Any) -> Any:
    """`sum` and its relatives: `slope(y, x, axis)` broadcasts against `x`, with `y` as if dimensions were kept."""

    def handler(x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        given = arguments(args, kwargs, "axis", "dtype", "out")
        if not only(given, "axis", "keepdims"):
            return foreign_call(f, (x, *args), kwargs)
        axis = given.pop("axis", None)
        kwargs = {k: v for k, v in given.items() if v is not None}
        x, made = as_operand(x)
        y = f(x, axis=axis, **kwargs)
        if not isinstance(x, np.ndarray):
            return y, (_run_same, x)
        if y.dtype.kind not in "fciu":
            return y, None
        kept = f(x, axis=axis, keepdims=True) if slope is not None else None
        back = (run_reduced, y, x, axis, slope, saved(x) if slope is not None else None, kept)
        return y, back if made is None else (run_moved_list, back, made)

    return handler


def _run_same(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, d


def run_reduced(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, axis, slope, values, kept = back
    dy = taken(y, d, shadows)
    if dy is None:
        return None
    if type(dy) is Refused:
        return None, refuse(x, dy, shadows)
    if axis is not None:
        axes = axis if isinstance(axis, tuple) else (axis,)
        shape = [1 if k in {a % x.ndim for a in axes} else n for k, n in enumerate(x.shape)]
        dy = np.reshape(dy, shape)
    elif isinstance(dy, np.ndarray):
        dy = dy.reshape((1,) * x.ndim)
    if slope is not None:
        shadows.hush()
        s = slope(kept, values, axis)
        dy = dy * (np.conj(s) if np.iscomplexobj(s) else s)
    shadows.add_array(x, np.broadcast_to(dy, x.shape))
    return None


def _count(x: Any, axis: Any) -> int:
    if axis is None:
        return x.size
    return math.prod(x.shape[a] for a in (axis if isinstance(axis, tuple) else (axis,)))


def _first_of(y: Any, x: Any, axis: Any) -> Any:
    """One at the first element that is the extreme along the axis: it gets all, as in Python's `max`."""
    hit = (x == y) | ((x != x) & (y != y))
    if axis is None:
        first = np.zeros(x.shape)
        first.reshape(-1)[np.argmax(hit)] = 1.0
        return first
    if isinstance(axis, tuple):
        axes = tuple(a % x.ndim for a in axis)
        rest = tuple(k for k in range(x.ndim) if k not in axes)
        moved = np.transpose(hit, rest + axes)
        flat = moved.reshape((*moved.shape[: len(rest)], -1))
        first = np.zeros(flat.shape)
        np.put_along_axis(first, np.argmax(flat, -1)[..., None], 1.0, -1)
        return np.transpose(first.reshape(moved.shape), np.argsort(rest + axes))
    first = np.zeros(x.shape)
    np.put_along_axis(first, np.expand_dims(np.argmax(hit, axis), axis), 1.0, axis)
    return first


def _prod_slope(y: Any, x: Any, axis: Any) -> Any:
    """The product of the others; where there are zeros, of those before and those after, which has derivatives of all orders."""
    if np.all(x != 0):
        return y / x
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    order = [a % x.ndim for a in axes] + [k for k in range(x.ndim) if k not in {a % x.ndim for a in axes}]
    moved = np.transpose(x, order)
    rows = moved.reshape((-1, *moved.shape[len(axes) :]))
    before, after = np.ones_like(rows), np.ones_like(rows)
    before[1:] = np.cumprod(rows[:-1], 0)
    after[:-1] = np.cumprod(rows[:0:-1], 0)[::-1]
    return np.transpose((before * after).reshape(moved.shape), np.argsort(order))


def _mean_slope(y: Any, x: Any, axis: Any) -> Any:
    return 1.0 / (_count(x, axis) or 1)  # of nothing there is no mean, and nothing to give anything to


REDUCTIONS: dict[str, Any] = {
    "sum": None,
    "mean": _mean_slope,
    "prod": _prod_slope,
    "max": _first_of,
    "min": _first_of,
    "amax": _first_of,
    "amin": _first_of,
}
for _name, _slope in REDUCTIONS.items():
    for _f in _functions(_name):
        if _f not in calls.KNOWN:
            known(_f)(_reduction(_f, _slope))


def _spread(f: Any, x: Any, axis: Any = None, ddof: int = 0, **kwargs: Any) -> tuple[Any, Any]:
    """`var` and `std`."""
    if kwargs and not only(kwargs, "keepdims"):
        return foreign_call(f, (x,), {"axis": axis, "ddof": ddof, **kwargs})
    x, made = as_operand(x)
    y = f(x, axis=axis, ddof=ddof, **kwargs)
    if not isinstance(x, np.ndarray):
        return y, (_run_zero, y, x)

    def slope(kept: Any, x: Any, axis: Any) -> Any:
        s = 2.0 * (x - x.mean(axis=axis, keepdims=True)) / (_count(x, axis) - ddof)
        s = s.conj() if s.dtype.kind == "c" else s  # (a back multiplies by the conjugate)
        return s if f is np.var else s / (2.0 * np.where(kept == 0, np.inf, kept))

    kept = f(x, axis=axis, ddof=ddof, keepdims=True)
    back = (run_reduced, y, x, axis, slope, saved(x), kept)
    return y, back if made is None else (run_moved_list, back, made)


_known("var std", _spread)


@known(np.where)
def _where(condition: Any, *xs: Any) -> tuple[Any, Any]:
    if not xs:
        return np.where(condition), None
    (a, of_a), (b, of_b) = map(as_operand, xs)
    y = np.where(condition, a, b)
    back = (_run_where, y, saved(np.asarray(condition)), a, b, of_a, of_b)
    return y, back if y.dtype.kind in "fciu" else None


def _run_where(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, condition, a, b, of_a, of_b = back
    dy = shadows.take_array(y)
    if dy is None:
        return None
    if type(dy) is Refused:
        first, second = refuse(a, dy, shadows), refuse(b, dy, shadows)
    else:
        first = give(a, np.where(condition, dy, 0.0), shadows)
        second = give(b, np.where(condition, 0.0, dy), shadows)
    first = first if of_a is None else of_a[0](of_a, None, shadows)
    second = second if of_b is None else of_b[0](of_b, None, shadows)
    return None, None, first, second


@known(np.clip)
def _clip(x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    given = arguments(args, kwargs, "a_min", "a_max")
    if not {"a_min", "a_max"}.issuperset(given):
        return foreign_call(np.clip, (x, *args), kwargs)
    if given.get("a_min") is None and given.get("a_max") is None:
        y, back = elementwise(np.positive, x)
        return y, (_run_unclipped, back, len(given))
    backs, y = [], x
    for name, choose in (("a_min", np.maximum), ("a_max", np.minimum)):
        if given.get(name) is not None:
            y, back = elementwise(choose, y, given[name])
            backs.append((back, name))
    return y, (_run_clip, backs, tuple(given))


def _run_clip(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    limits: dict[str, Any] = {}
    for inner, name in reversed(back[1]):
        given = calls.run(inner, d, shadows)
        d, limits[name] = (None, None) if given is None else given
    return None, d, *[limits.get(name) for name in back[2]]


def _run_unclipped(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, given[0], *[None] * back[2])


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


_known("full full_like", _filled)


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


builtins_.constant(*dict.fromkeys(f for f in _functions(
    "zeros ones empty zeros_like ones_like empty_like eye identity argmax argmin argsort argwhere nonzero flatnonzero "
    "searchsorted digitize count_nonzero any all isclose allclose array_equal array_equiv shape size ndim indices tri "
    "triu_indices tril_indices diag_indices unravel_index ravel_multi_index lexsort isin in1d result_type can_cast "
    "promote_types dtype finfo iinfo iscomplexobj isrealobj isscalar issubdtype may_share_memory shares_memory round_ "
    "broadcast_shapes ndindex errstate seterr geterr printoptions set_printoptions get_printoptions array_str array_repr "
    "array2string isneginf isposinf isreal iscomplex fromstring loadtxt genfromtxt savetxt "
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp"
) if f not in calls.KNOWN))  # fmt: skip


@known(np.ndenumerate)
def _ndenumerate(arr: Any) -> tuple[Any, Any]:
    """By the generator that the library has for it: what NumPy's class gives comes from code that zyg cannot see into."""
    from ...library.numpy_.taking import ndenumerate

    return builtins_.as_call(calls.call(ndenumerate, (arr,)))


def _scalar(f: Any, x: Any = 0.0) -> tuple[Any, Any]:
    """`np.float64(x)` and its relatives."""
    if isinstance(x, (list, tuple)):
        return _array(np.asarray, x, f)
    if isinstance(x, np.ndarray):
        y = f(x)  # (a number, where the array has no dimensions)
        return y, (run_copied, y, x)
    return f(x), (_run_scalar, x) if is_number(x) else None


@known(np.fromiter)
def _fromiter(iterable: Any, dtype: Any, count: int = -1, *, like: Any = None) -> tuple[Any, Any]:
    if count != -1 or like is not None:
        raise Unsupported(
            "np.fromiter(count=..., like=...) in code that is differentiated through Python",
            foreign.position_of(foreign.caller()),
            hint="use np.array(list(itertools.islice(iterable, count)))",
        )
    items, listed = calls.call(list, (iterable,))
    y, back = calls.call(np.array, (items, dtype))
    return y, (_run_fromiter, listed, back)


def _run_fromiter(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    calls.run(back[2], d, shadows)
    given = calls.run(back[1], None, shadows)
    return None if given is None else (*given[:2], None, None)


def _run_scalar(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (None, d.real if isinstance(d, complex) and not isinstance(back[1], complex) else d)


_known("float64 float32 complex128 complex64", _scalar)


@known(np.real)
def _real(x: Any) -> tuple[Any, Any]:
    from . import attributes

    return builtins_.shift(attributes.record_getattr(x, "real"))


@known(np.imag)
def _imag(x: Any) -> tuple[Any, Any]:
    from . import attributes

    return builtins_.shift(attributes.record_getattr(x, "imag"))


@known(np.round)
def _round(x: Any, decimals: int = 0, **kwargs: Any) -> tuple[Any, Any]:
    x, made = as_operand(x)
    y = np.round(x, decimals, **kwargs)
    back = (_run_zero, y, x)
    return y, back if made is None else (run_moved_list, back, made)


def _run_zero(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    dy = taken(back[1], d, shadows)
    return None if dy is None else (None, give(back[2], dy if type(dy) is Refused else np.zeros_like(dy), shadows))


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
    total = np.zeros(x.size + 1, complex if np.iscomplexobj(dy) else float)
    _gather(total, places, dy)
    shadows.add_array(x, total[1:].reshape(x.shape))
    return None


_known("triu tril diag", _masking)
