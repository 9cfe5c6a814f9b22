"""The methods of arrays and NumPy's numbers, and numpy.linalg."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from zyg.errors import Unsupported

from . import builtins_, calls, foreign, gathering, numpy_, numpy_items, structure
from .calls import known, method
from .cotangents import Refused, is_number
from .numpy_ import as_operand, give, refuse, saved, taken
from .numpy_entries import arguments, foreign_call, only, run_moved_list
from .numpy_moves import moving, run_copied

# ----------------------------------------------------------------------------------------------------- methods


def _drop_function(made: tuple[Any, Any]) -> tuple[Any, Any]:
    """From the back of a call of a function to that of the method: the array comes first."""
    y, back = made
    return y, None if back is None else (calls.run_shifted, back)


def _as_function(f: Any, x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return _drop_function(calls.KNOWN[f](x, *args, **kwargs))


for _name in "sum mean prod max min var std cumsum dot trace clip round".split():
    method(np.ndarray, _name)(functools.partial(_as_function, getattr(np, _name)))
    if _name not in ("dot", "trace"):
        method(np.generic, _name)(functools.partial(_as_function, getattr(np, _name)))


def _conjugate(x: np.ndarray, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Unlike the function, the method gives an array of real numbers itself."""
    if x.dtype.kind != "c" and not args and not kwargs:
        return x, None
    return _as_function(np.conjugate, x, *args, **kwargs)


for _name in ("conj", "conjugate"):
    method(np.ndarray, _name)(_conjugate)
    method(np.generic, _name)(functools.partial(_as_function, np.conjugate))


def _moving_method(f: Any, x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if any(map(numpy_.is_hidden, args)):
        return calls.call_foreign(getattr(x, f.__name__), *args, **kwargs)
    return _drop_function(moving(f, x, *args, **kwargs))


for _name in "transpose reshape ravel flatten copy squeeze swapaxes take repeat diagonal __copy__".split():
    method(np.ndarray, _name)(functools.partial(_moving_method, getattr(np.ndarray, _name)))


def _number_method(name: str) -> Any:
    """A method that numbers have, too: of the positions of an array without dimensions it gives where its elements come from."""

    def called(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, name)(*args, **kwargs)

    called.__name__ = name
    return called


for _name in "transpose reshape ravel flatten copy squeeze take repeat cumprod".split():
    method(np.generic, _name)(functools.partial(_moving_method, _number_method(_name)))


for (
    _name
) in "any all argmax argmin argsort nonzero searchsorted tobytes tofile view setflags __len__ __contains__".split():
    method(np.ndarray, _name, exact=True)(functools.partial(builtins_.ask, getattr(np.ndarray, _name)))


@method(np.ndarray, "resize")
def _resize(x: np.ndarray, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """NumPy does it only if nobody else refers to the array, as those who record what is done with it do."""
    raise Unsupported(
        "`resize` of an array, in code that is differentiated through Python",
        foreign.position_of(foreign.caller()),
        hint="make a new one: b = np.zeros(n), b[:len(a)] = a",
    )


@method(np.ndarray, "astype")
def _astype(x: np.ndarray, dtype: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y = x.astype(dtype, *args, **kwargs)
    if y.dtype.hasobject:
        return foreign.result(y, *numpy_.OF_OBJECTS, (x,))
    if y is x or not numpy_.keeps(x.dtype, y.dtype):
        return y, None
    return y, (calls.run_shifted, (run_copied, y, x))


@method(np.ndarray, "item")
def _item(x: np.ndarray, *index: Any) -> tuple[Any, Any]:
    y = x.item(*index)
    where = index if len(index) != 1 else np.unravel_index(operator_index(index[0], x.size), x.shape)
    return y, (numpy_items.run_number, x, tuple(where) if index else (0,) * x.ndim) if is_number(y) else None


def operator_index(k: Any, size: int) -> Any:
    return k if isinstance(k, tuple) else k % max(size, 1)


@method(np.generic, "item", "tolist")
def _number_item(x: Any, *index: Any) -> tuple[Any, Any]:
    return x.item(*index), (_run_same,)


def _run_same(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return (d,)


@method(np.generic, "astype")
def _number_astype(x: Any, dtype: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y = x.astype(dtype, *args, **kwargs)
    return y, (_run_same,) if numpy_.keeps(x.dtype, y.dtype) else None


@method(np.ndarray, "tolist")
def _tolist(x: np.ndarray) -> tuple[Any, Any]:
    y = x.tolist()
    return y, (_run_tolist, structure.form(y), x)


def _run_tolist(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, form, x = back
    c = gathering.gather(form, d, shadows, take=True)
    if c is not None:
        shadows.add_array(x, np.array(_filled(c, x.shape), complex if np.iscomplexobj(x) else float))
    return None


def _filled(c: Any, shape: tuple[int, ...]) -> Any:
    if c is None:
        return np.zeros(shape)
    return [_filled(v, shape[1:]) for v in c] if isinstance(c, list) else c


@method(np.ndarray, "fill")
def _fill(x: np.ndarray, value: Any) -> tuple[Any, Any]:
    return None, (_run_fill, numpy_items.setitem(x, ..., value))


def _run_fill(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (None, given[2])


@method(np.ndarray, "sort")
def _sort(x: np.ndarray, axis: int = -1, **kwargs: Any) -> tuple[Any, Any]:
    order = np.take_along_axis(np.arange(x.size).reshape(x.shape), np.argsort(x, axis=axis, **kwargs), axis)
    x[...] = x.ravel()[order]
    return None, (_run_sort, x, order)


def _run_sort(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, order = back
    dy = shadows.take_array(x)
    if dy is not None and type(dy) is not Refused:
        c = np.zeros(x.size, dy.dtype)
        c[order.ravel()] = dy.ravel()
        shadows.add_array(x, c.reshape(x.shape))


@method(np.ndarray, "__getitem__")
def _getitem(x: np.ndarray, key: Any) -> tuple[Any, Any]:
    return numpy_items.getitem(x, key)


@method(np.ndarray, "__setitem__")
def _setitem(x: np.ndarray, key: Any, value: Any) -> tuple[Any, Any]:
    return None, numpy_items.setitem(x, key, value)


# ------------------------------------------------------------------------------------------------ numpy.linalg


@known(np.linalg.norm)
def _norm(x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    given = arguments(args, kwargs, "ord", "axis", "keepdims")
    if not only(given, "ord", "axis", "keepdims"):
        return foreign_call(np.linalg.norm, (x, *args), kwargs)
    ord, axis, keepdims = given.get("ord"), given.get("axis"), given.get("keepdims", False)
    whole, (x, made) = x, as_operand(x)
    if not isinstance(x, np.ndarray):
        return foreign_call(np.linalg.norm, (whole, *args), kwargs)
    vector = x.ndim == 1 if axis is None else isinstance(axis, int)
    plain = ord is None or (vector and ord in (1, 2)) or (ord == "fro" and not vector)
    if not plain or np.iscomplexobj(x):
        return foreign_call(np.linalg.norm, (whole, *args), kwargs)
    y = np.linalg.norm(x, ord, axis, keepdims)
    back = (_run_norm, y, x, saved(x), ord, np.linalg.norm(x, ord, axis, True))
    return y, back if made is None else (run_moved_list, back, made)


def _run_norm(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, value, ord, kept = back
    dy = taken(y, d, shadows)
    if dy is None:
        return None
    if type(dy) is Refused:
        return None, refuse(x, dy, shadows)
    if ord == 1:
        slope = np.sign(value)
    else:
        slope = np.where(kept == 0, 0.0, value / np.where(kept == 0, 1.0, kept))
    shadows.add_array(x, slope * np.reshape(dy, kept.shape))
    return None


def _as_in_the_library(f: Any, x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The library's own Python code, in the place of a function whose results are of one type or another, or that calls one
    which it is given, or may give what it was given."""
    from zyg.library import registry

    entry = registry.find(f)
    assert entry is not None and not entry.emitter
    return calls.call(entry.function, (x, *args), kwargs)


for _f in (
    np.linalg.eig,
    np.linalg.eigvals,
    np.roots,
    np.cov,
    np.corrcoef,
    np.poly,
    np.polyder,
    np.polyint,
    np.apply_along_axis,
    np.fromfunction,
    np.trim_zeros,
):
    known(_f)(functools.partial(_as_in_the_library, _f))


@known(np.linalg.inv)
def _inv(x: Any) -> tuple[Any, Any]:
    x, made = as_operand(x)
    y = np.linalg.inv(x)
    back = (_run_inv, y, x, y.copy())
    return y, back if made is None else (run_moved_list, back, made)


def _adjoint(a: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(a, -1, -2))


def _run_inv(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, value = back
    dy = shadows.take_array(y)
    if dy is None or type(dy) is Refused:
        return None if dy is None else (None, refuse(x, dy, shadows))
    shadows.add_array(x, -_adjoint(value) @ dy @ _adjoint(value))
    return None


@known(np.linalg.solve)
def _solve(a: Any, b: Any) -> tuple[Any, Any]:
    (a, of_a), (b, of_b) = as_operand(a), as_operand(b)
    y = np.linalg.solve(a, b)
    return y, (_run_solve, y, a, b, saved(a), y.copy(), of_a, of_b)


def _run_solve(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, a, b, matrix, value, of_a, of_b = back
    dy = shadows.take_array(y)
    if dy is None:
        return None
    if type(dy) is Refused:
        refuse(a, dy, shadows)
        refuse(b, dy, shadows)
    else:
        vector = value.ndim == matrix.ndim - 1
        db = np.linalg.solve(_adjoint(matrix), dy[..., None] if vector else dy)
        da = -db @ _adjoint(value[..., None] if vector else value)
        give(a, da, shadows)
        give(b, db[..., 0] if vector else db, shadows)
    first = None if of_a is None else of_a[0](of_a, None, shadows)
    second = None if of_b is None else of_b[0](of_b, None, shadows)
    return None, first, second


@known(np.linalg.det)
def _det(x: Any) -> tuple[Any, Any]:
    x, made = as_operand(x)
    y = np.linalg.det(x)
    back = (_run_det, y, x, saved(x), saved(y))  # (of stacks y is an array, which may be written)
    return y, back if made is None else (run_moved_list, back, made)


def _run_det(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    from zyg.library.numpy_.linalg import cofactors

    _, y, x, value, found = back
    dy = taken(y, d, shadows)
    if dy is None or type(dy) is Refused:
        return None if dy is None else (None, refuse(x, dy, shadows))
    shadows.add_array(x, np.asarray(dy)[..., None, None] * np.conj(cofactors(value, found)))
    return None


@known(np.linalg.slogdet)
def _slogdet(x: Any) -> tuple[Any, Any]:
    x, made = as_operand(x)
    y = np.linalg.slogdet(x)
    back = (_run_slogdet, y[1], x, saved(x))
    return y, back if made is None else (run_moved_list, back, made)


def _run_slogdet(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, value = back
    dy = taken(y, None if d is None else d[1], shadows)
    if dy is None or type(dy) is Refused:
        return None if dy is None else (None, refuse(x, dy, shadows))
    shadows.add_array(x, np.asarray(dy)[..., None, None] * _adjoint(np.linalg.inv(value)))
    return None


@known(np.linalg.matrix_power)
def _matrix_power(x: Any, n: int) -> tuple[Any, Any]:
    x, made = as_operand(x)
    steps: list[Any] = []
    base: Any = x
    if n < 0:
        base, back = _inv(x)
        steps.append(back)
        n = -n
    if n == 0:
        return np.linalg.matrix_power(x, 0), None
    y = base
    if n == 1:
        y, back = numpy_.elementwise(np.positive, base)
        steps.append(back)
    for _ in range(n - 1):
        y, back = numpy_.matmul(y, base)
        steps.append(back)
    return y, (_run_matrix_power, steps, made)


def _run_matrix_power(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    for step in reversed(back[1]):
        calls.run(step, None, shadows)
    return None if back[2] is None else (None, back[2][0](back[2], None, shadows), None)
