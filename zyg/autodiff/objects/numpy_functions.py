"""NumPy's universal functions, choices, constants, and what has an entry of its own."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from zyg.errors import Unsupported

from . import (  # noqa: F401  (the last one has its entries in its module)
    builtins_,
    calls,
    foreign,
    numpy_,
    numpy_items,
    numpy_reductions,
    reentry,
)
from .calls import known
from .cotangents import Refused, is_number
from .numpy_ import as_operand, elementwise, give, keeps, refuse, saved, taken
from .numpy_entries import arguments, foreign_call, functions_of, known_as, run_moved_list, run_zero
from .numpy_moves import array_of, run_copied

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


@known(np.divmod)
def _divmod(x: Any, y: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The quotient is an integer by nature, as that of `//` is."""
    if args or kwargs:
        return foreign_call(np.divmod, (x, y, *args), kwargs)
    quotient, _ = numpy_.constant_ufunc(np.floor_divide, x, y)
    remainder, back = elementwise(np.remainder, x, y)
    return (quotient, remainder), (_run_part, back, 1)


@known(np.frexp)
def _frexp(x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The exponent is an integer."""
    if args or kwargs:
        return foreign_call(np.frexp, (x, *args), kwargs)
    exponent = np.frexp(x)[1]
    mantissa, back = elementwise(np.multiply, x, np.ldexp(1.0, -exponent), function=lambda x, scale: np.frexp(x)[0])
    return (mantissa, exponent), (_run_part, back, 0)


def _run_part(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """One of several results carries a derivative."""
    given = calls.run(back[1], None if d is None else d[back[2]], shadows)
    return None if given is None else (None, *given)


# ------------------------------------------------------------------------------------------ choices and numbers


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


builtins_.constant(*dict.fromkeys(f for f in functions_of(
    "zeros ones empty zeros_like ones_like empty_like eye identity argmax argmin argsort argwhere nonzero flatnonzero "
    "searchsorted digitize count_nonzero any all isclose allclose array_equal array_equiv shape size ndim indices tri "
    "triu_indices tril_indices diag_indices unravel_index ravel_multi_index lexsort isin in1d result_type can_cast "
    "promote_types dtype finfo iinfo iscomplexobj isrealobj isscalar issubdtype may_share_memory shares_memory round_ "
    "broadcast_shapes ndindex geterr printoptions set_printoptions get_printoptions array_str array_repr "
    "array2string isneginf isposinf isreal iscomplex fromstring loadtxt genfromtxt savetxt "
    "bool_"
) if f not in calls.KNOWN))  # fmt: skip


@known(np.ndenumerate)
def _ndenumerate(arr: Any) -> tuple[Any, Any]:
    """By the generator that the library has for it: what NumPy's class gives comes from code that zyg cannot see into."""
    from ...library.numpy_.iterating import ndenumerate

    return builtins_.as_call(calls.call(ndenumerate, (arr,)))


def _scalar(f: Any, x: Any = 0.0) -> tuple[Any, Any]:
    """`np.float64(x)` and its relatives."""
    if isinstance(x, (list, tuple)):
        return array_of(np.asarray, x, f)
    if isinstance(x, np.ndarray):
        y = f(x)  # (a number, where the array has no dimensions)
        return y, (run_copied, y, x) if keeps(x.dtype, y.dtype) else None
    y = f(x)
    return y, (_run_scalar, x) if is_number(x) and keeps(np.asarray(x).dtype, y.dtype) else None


@known(np.fromiter)
def _fromiter(iterable: Any, dtype: Any, count: int = -1, *, like: Any = None) -> tuple[Any, Any]:
    if count != -1 or like is not None:
        raise Unsupported(
            "np.fromiter(count=..., like=...) in code that is differentiated through Python",
            foreign.position_of(foreign.caller()),
            hint="use np.array(list(itertools.islice(iterable, count)))",
        )
    items, listed = calls.call(list, (iterable,))
    with reentry.undone(listed):
        y, back = calls.call(np.array, (items, dtype))
    return y, (_run_fromiter, listed, back)


def _run_fromiter(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    calls.run(back[2], d, shadows)
    given = calls.run(back[1], None, shadows)
    return None if given is None else (*given[:2], None, None)


def _run_scalar(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (None, d.real if isinstance(d, complex) and not isinstance(back[1], complex) else d)


known_as("float64 float32 complex128 complex64 int8 int16 int32 int64 uint8 uint16 uint32 uint64", _scalar)


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
    back = (run_zero, y, x)
    return y, back if made is None else (run_moved_list, back, made)
