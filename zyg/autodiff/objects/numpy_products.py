"""NumPy's products of vectors, matrices and arrays of any dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import builtins_, calls, numpy_
from .calls import known
from .cotangents import Refused
from .numpy_ import as_operand, give, is_number, refuse, saved, taken
from .numpy_entries import foreign_call, only, run_moved_list
from .shadows import owner_of


@known(np.dot)
def _dot(a: Any, b: Any, out: Any = None) -> tuple[Any, Any]:
    if out is not None:
        return foreign_call(np.dot, (a, b), {"out": out})
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return builtins_.shift(numpy_.elementwise(np.multiply, a, b, function=np.dot))
    if np.ndim(b) > 2 or (np.ndim(a) > 2 and np.ndim(b) > 1):
        return _tensordot(a, b, ((-1,), (-2,)))
    return builtins_.shift(numpy_.matmul(a, b, np.dot))


@known(np.inner)
def _inner(a: Any, b: Any) -> tuple[Any, Any]:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return builtins_.shift(numpy_.elementwise(np.multiply, a, b, function=np.inner))
    return _tensordot(a, b, ((-1,), (-1,)))


@known(np.vdot)
def _vdot(a: Any, b: Any) -> tuple[Any, Any]:
    (a, of_a), (b, of_b) = as_operand(a), as_operand(b)
    y = np.vdot(a, b)
    return y, (_run_vdot, a, b, saved(a), saved(b), of_a, of_b)


def _run_vdot(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, a, b, old_a, old_b, of_a, of_b = back
    if d is None:
        return None
    if type(d) is Refused:
        first, second = refuse(a, d, shadows), refuse(b, d, shadows)
    else:
        first = give(a, np.reshape(np.conj(d) * np.ravel(old_b), np.shape(old_a)), shadows)
        second = give(b, np.reshape(d * np.ravel(old_a), np.shape(old_b)), shadows)
    first = first if of_a is None else of_a[0](of_a, None, shadows)
    second = second if of_b is None else of_b[0](of_b, None, shadows)
    return None, first, second


@known(np.outer)
def _outer(a: Any, b: Any, out: Any = None) -> tuple[Any, Any]:
    if out is not None:
        return foreign_call(np.outer, (a, b), {"out": out})
    return _einsum_plain("i,j->ij", a, b, np.ravel)


@known(np.tensordot)
def _tensordot(a: Any, b: Any, axes: Any = 2) -> tuple[Any, Any]:
    na, nb = np.ndim(a), np.ndim(b)
    if isinstance(axes, int):
        first, second = list(range(na - axes, na)), list(range(axes))
    else:
        first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
    letters = [chr(97 + k) for k in range(na + nb)]
    of_a, of_b = letters[:na], letters[na:]
    for i, j in zip(first, second):
        of_b[j] = of_a[i]
    contracted = {of_a[i] for i in first}
    result = [c for c in of_a if c not in contracted] + [c for c in of_b if c not in contracted]
    return _einsum_plain(f"{''.join(of_a)},{''.join(of_b)}->{''.join(result)}", a, b)


def _einsum_plain(subscripts: str, a: Any, b: Any, flat: Any = None) -> tuple[Any, Any]:
    if flat is None:
        y, back = _einsum(subscripts, a, b)
        return y, None if back is None else (_run_without_first, back)
    (a, of_a), (b, of_b) = as_operand(a), as_operand(b)
    y = np.outer(a, b)
    return y, (_run_outer, y, a, b, saved(a), saved(b), of_a, of_b)


def _run_outer(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, a, b, old_a, old_b, of_a, of_b = back
    dy = shadows.take_array(y)
    if dy is None:
        return None
    if type(dy) is Refused:
        first, second = refuse(a, dy, shadows), refuse(b, dy, shadows)
    else:
        first = give(a, np.reshape(dy @ np.conj(np.ravel(old_b)), np.shape(old_a)), shadows)
        second = give(b, np.reshape(np.conj(np.ravel(old_a)) @ dy, np.shape(old_b)), shadows)
    first = first if of_a is None else of_a[0](of_a, None, shadows)
    second = second if of_b is None else of_b[0](of_b, None, shadows)
    return None, first, second


def _run_without_first(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, *given[2:])


@known(np.einsum)
def _einsum(subscripts: Any = "", *operands: Any, **kwargs: Any) -> tuple[Any, Any]:
    args = (subscripts, *operands)
    by_axes = not isinstance(subscripts, str)  # each operand with a list of its axes, instead of subscripts
    first, step = (0, 2) if by_axes else (1, 1)
    places = range(first, len(args) - len(args) % 2 if by_axes else len(args), step)
    made = [as_operand(args[k]) for k in places]
    arrays: list[Any] = [x for x, _ in made]
    if not all(isinstance(x, np.ndarray) and x.dtype.kind in "fciub" or is_number(x) for x in arrays):
        return foreign_call(np.einsum, args, kwargs)
    if not only(kwargs, "optimize", "order", "casting", "dtype") or not _keeps_numbers(arrays, kwargs.get("dtype")):
        return foreign_call(np.einsum, args, kwargs)
    given = list(args)
    for k, x in zip(places, arrays):
        given[k] = x
    y = np.einsum(*given, **kwargs)  # which raises what is wrong with the subscripts
    if len(arrays) == 1 and isinstance(y, np.ndarray) and owner_of(y) is owner_of(arrays[0]) and made[0][1] is None:
        return y, None  # a view: of a diagonal, or with its axes in another order
    axes = [*args[1 : places.stop : 2], *args[places.stop :]] if by_axes else None
    inputs, result = _letters(axes or subscripts, [np.ndim(x) for x in arrays])
    for k, letters in enumerate(inputs):
        if len(set(letters)) < len(letters):  # of an axis that is there twice it is about the diagonal, which is a view
            inputs[k] = "".join(dict.fromkeys(letters))
            arrays[k] = np.einsum(f"{letters}->{inputs[k]}", arrays[k])
    values, lists = [saved(x) for x in arrays], [back for _, back in made]
    return y, (_run_einsum, y, inputs, result, arrays, values, lists, first, step)


def _keeps_numbers(arrays: list[Any], dtype: Any) -> bool:
    """Whether what is computed in this type has the slopes of the numbers that were given."""
    return dtype is None or np.can_cast(np.result_type(*arrays), dtype, "same_kind")


def _letters(subscripts: Any, ndims: list[int]) -> tuple[list[str], str]:
    """Of the axes of the operands and of the result."""
    from zyg.library.numpy_.contractions import parse_subscripts, subscripts_of_axes

    text = subscripts if isinstance(subscripts, str) else subscripts_of_axes(subscripts, len(ndims))
    return parse_subscripts(text, ndims)


known(_letters, exact=True)(lambda subscripts, ndims: (_letters(subscripts, ndims), None))


def _run_einsum(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, inputs, result, arrays, values, lists, first, step = back
    dy = taken(y, d, shadows)
    if dy is None:
        return None
    flowing: list[Any] = [None] * (1 + first + step * len(arrays))
    for k, x in enumerate(arrays):
        at = 1 + first + step * k
        if type(dy) is Refused:
            flowing[at] = refuse(x, dy, shadows)
            continue
        others = [v for at, v in enumerate(values) if at != k]
        names = [s for at, s in enumerate(inputs) if at != k]
        have = set(result).union(*names)
        missing = [c for c in inputs[k] if c not in have]  # summed over: the same along these axes
        ones = [np.ones(np.shape(x)[inputs[k].index(c)]) for c in missing]
        spec = f"{','.join([result, *names, *missing])}->{inputs[k]}"
        flowing[at] = give(x, np.einsum(spec, np.asarray(dy), *map(np.conj, others), *ones), shadows)
    for k, made in enumerate(lists):
        if made is not None:
            flowing[1 + first + step * k] = made[0](made, None, shadows)
    return tuple(flowing)


@known(np.trace)
def _trace(x: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if args or kwargs or np.ndim(x) != 2:
        if len(args) > 3 or not only(kwargs, "offset", "axis1", "axis2"):
            return foreign_call(np.trace, (x, *args), kwargs)
        return builtins_.as_call(calls.call(_summed_diagonals, (x, *args), kwargs))
    x, made = as_operand(x)
    back = (_run_trace, x)
    return np.trace(x), back if made is None else (run_moved_list, back, made)


def _summed_diagonals(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1)


def _run_trace(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is not None:
        if type(d) is Refused:
            shadows.add_array(back[1], d)
        else:
            diagonal = np.arange(min(back[1].shape))
            shadows.of_array(back[1])[diagonal, diagonal] += d
    return None
