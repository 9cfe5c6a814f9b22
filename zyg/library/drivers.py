"""Derivatives that are programs over others: written in Python, and compiled with the functions they are called for.

`jvp`, `pullback` and `grad` mean here what they mean in any compiled code, so these nest and differentiate.  What they lack
there is `several`, which carries several tangents through one run.

The functions marked `compiled_only` are the instructions that these programs are made of: tangents.py and structured.py have
their emitters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import zyg
from zyg.composed import put_in

from .intrinsics import compiled_only

LANES = 8  # tangents per run where there are many; measured, see docs/decisions


@compiled_only
def several(function: Any, args: tuple[Any, ...], tangents: tuple[Any, ...], lanes: int, **keywords: Any) -> Any:
    """`zyg.jvp` with `lanes` tangents at once: a tuple for a number, one more dimension, the last, for an array."""


@compiled_only
def slope(function: Any, argnums: Any, asked: str) -> Any:
    """`zyg.grad(function, argnums)`, in errors by the name of what was asked for."""


@compiled_only
def pullback_by(places: Any, function: Any, *args: Any, **keywords: Any) -> Any:
    """`zyg.pullback` by the arguments that have a place; the others are constants, with None for a cotangent."""


@compiled_only
def copied_call(function: Any, args: tuple[Any, ...]) -> Any:
    """The function and copies of the arguments: what it has captured of these is the copy, too."""


@compiled_only
def kept_call(function: Any, args: tuple[Any, ...]) -> Any:
    """Copies of the function, with what it has captured, and of the arguments."""


@compiled_only
def told_apart(function: Any, args: tuple[Any, ...], **keywords: Any) -> Any:
    """What copies would hide is refused: that the function changes one of the arguments which it also has by another name. Gives what
    `once` does."""


@compiled_only
def once(function: Any, args: tuple[Any, ...], **keywords: Any) -> Any:
    """Whether a function may run only once, since it changes something that is no argument: if it ran again, for other columns, these
    would be those of another function."""


@compiled_only
def cannot(what: str, hint: str) -> Any:
    """Refuses to be compiled."""


@compiled_only
def zeros(x: Any, lanes: int) -> Any:
    """A zero cotangent for array `x`, or with `lanes` a zero tangent."""


@compiled_only
def table(x: Any, rows: int) -> Any:
    """Zeros for derivatives by the elements of `x`: a row for each of something else, a column for each of `x`."""


@compiled_only
def dependence(function: Any, args: tuple[Any, ...], **keywords: Any) -> Any:
    """Which arguments the value depends on, as far as data flow tells."""


@compiled_only
def packed(values: Any) -> Any:
    """The floats in a structure, as a vector."""


@compiled_only
def unpacked(values: Any, vector: Any, function: Any, others: Any) -> Any:
    """A new structure like `values`, with the numbers of a vector in it; a function and other values, of which copies are made,
    with the new objects where they hold those of `values`."""


@compiled_only
def columns_of_one(values: Any, matrix: Any) -> None:
    """An object that stands in several places of `values` has its derivatives in the columns of its first place: give the
    others the same."""


@compiled_only
def blocks(outer: Any, inner: Any, matrix: Any) -> Any:
    """A matrix of derivatives of the numbers in `outer` by those in `inner`, as a structure like the one of structures like the
    other."""


@compiled_only
def is_structure(*values: Any) -> Any:
    """Whether one of these is something else than a number or an array."""


@compiled_only
def is_vector(value: Any) -> Any:
    """Whether a value that is no array counts as one: tuples and lists of numbers."""


@compiled_only
def as_floats(args: Any, places: Any) -> Any:
    """The arguments, where those that have a place are tuples or lists of numbers, integers among them, of floats."""


@compiled_only
def as_varied(x: Any) -> Any:
    """A number or array with derivatives: integers as floats."""


def pushforward(function: Any, *args: Any, **keywords: Any) -> Any:
    if once(function, args, **keywords):
        cannot(
            "zyg.pushforward, in native code, of a function that changes something besides its arguments",
            "take zyg.jvp",
        )
    again, kept = kept_call(function, args)

    def push(*tangents: Any) -> Any:
        f, given = kept_call(again, kept)
        return zyg.jvp(f, given, tangents, **keywords)[1]

    return zyg.jvp(function, args, tuple([None for _ in args]), **keywords)[0], push


# These take the arguments, those that the derivative is by (an int, or a tuple of them), and for each argument its place among these
# (transforms.argument_places).


def hvp(function: Any, args: Any, v: Any, argnums: Any, places: Any, /, **keywords: Any) -> Any:
    if isinstance(argnums, int):
        tangents = tuple([v if p is not None else None for p in places])
    else:
        tangents = tuple([v[len(p)] if p is not None else None for p in places])
    return zyg.jvp(slope(function, argnums, "hvp"), args, tangents, **keywords)[1]


REAL = (
    "takes functions of real numbers with real values: write it as a function of real and imaginary part, or pull cotangents "
    "back with zyg.pullback, which takes complex ones"
)


def _is_complex(x: Any) -> bool:
    return isinstance(x, complex) or (isinstance(x, np.ndarray) and x.dtype == np.complex128)


def hessian(function: Any, args: Any, argnums: Any, places: Any, /, **keywords: Any) -> Any:
    if any(_is_complex(x) for x, p in zip(args, places) if p is not None):
        raise TypeError("zyg.hessian " + REAL)
    one_run = told_apart(function, args, **keywords)
    if not isinstance(argnums, int):
        given = as_floats(args, places)
        return _hessian_by_several(
            function, given, tuple([as_varied(given[n]) for n in argnums]), places, one_run, **keywords
        )
    x = args[argnums]
    if isinstance(x, np.ndarray):
        return _hessian_of_array(function, args, argnums, places, one_run, **keywords)
    if is_structure(x):
        given = as_floats(args, places)
        like = given[argnums]
        matrix = _hessian_of_numbers(function, given, (like,), places, one_run, **keywords)
        return blocks(like, like, matrix)
    tangents = tuple([1.0 if p is not None else None for p in places])
    second = zyg.jvp(slope(function, argnums, "hessian"), args, tangents, **keywords)[1]
    return 0.0 if second is None else second


def _hessian_by_several(function: Any, args: Any, chosen: Any, places: Any, one_run: Any, **keywords: Any) -> Any:
    """By the numbers in all of them together, then taken apart."""
    matrix = _hessian_of_numbers(function, args, chosen, places, one_run, **keywords)
    result, down = (), 0
    for x in chosen:
        row, across, rows = (), 0, packed(x).size
        for y in chosen:
            columns = packed(y).size
            row = (*row, blocks(x, y, matrix[down : down + rows, across : across + columns]))
            across = across + columns
        result = (*result, row)
        down = down + rows
    return result


def _hessian_of_numbers(function: Any, args: Any, chosen: Any, places: Any, one_run: Any, **keywords: Any) -> Any:
    """By a vector of the numbers in the chosen arguments."""
    rest = tuple([x if p is None else None for x, p in zip(args, places)])

    def flat(vector: Any, **options: Any) -> Any:
        own, f, others = unpacked(chosen, vector, function, rest)
        return f(*put_in(others, own, places), **options)

    matrix = _hessian_of_array(flat, (packed(chosen),), 0, ((),), one_run, **keywords)
    columns_of_one(chosen, matrix)
    columns_of_one(chosen, matrix.T)
    return matrix


def _hessian_of_array(function: Any, args: Any, argnum: Any, places: Any, one_run: Any, **keywords: Any) -> Any:
    x = args[argnum]
    n = x.size
    result = table(x, n)
    if one_run:
        f, given = copied_call(function, args)
        gradient, back = pullback_by(places, slope(f, argnum, "hessian"), *given, **keywords)
        if gradient is not None:
            _put_rows(result, gradient, back, argnum)
        return result.reshape(x.shape + x.shape)
    for start in range(0, n, LANES):
        tangents = tuple([_unit(x, start, LANES) if p is not None else None for p in places])
        f, given = copied_call(function, args)
        columns = several(slope(f, argnum, "hessian"), given, tangents, LANES, **keywords)[1]
        if columns is not None:
            _put_columns(result, start, columns.reshape((n, LANES)))
    return result.reshape(x.shape + x.shape)


def _put_rows(result: Any, value: Any, back: Any, argnum: Any) -> None:
    """The derivatives of an array by one argument, in reverse."""
    for row in range(value.size):
        seed = zeros(value, 0)
        seed.reshape(value.size)[row] = 1.0
        cotangent = back(seed)[argnum]
        if cotangent is not None:
            _put_row(result, row, cotangent)


def jacobian(function: Any, args: Any, argnums: Any, places: Any, /, **keywords: Any) -> Any:
    given = as_floats(args, places)
    if once(function, given, **keywords):
        found = _jacobian_in_one_run(function, given, places, **keywords)
        if argnums is None:
            return found
        return found[argnums] if isinstance(argnums, int) else tuple([found[n] for n in argnums])
    again, kept = copied_call(function, given)
    chosen = tuple([x for x, p in zip(kept, places) if p is not None])
    value = zyg.jvp(function, given, tuple([None for _ in given]), **keywords)[0]
    if _is_complex(value) or any(_is_complex(x) for x in chosen):
        raise TypeError("zyg.jacobian " + REAL)
    if is_structure(*chosen) or (is_structure(value) and not is_vector(value)):
        found = _jacobian_of_structures(again, kept, places, value, **keywords)
    elif isinstance(value, np.ndarray):
        found = _jacobian_of_array(again, kept, places, value, **keywords)
    elif isinstance(value, (tuple, list)):
        vector = lambda *args, **keywords: np.array(again(*args, **keywords))
        found = _jacobian_of_array(vector, kept, places, np.array(value), **keywords)
    elif not isinstance(value, (int, float, np.number)):
        found = "None, as that of a function without `return`" if value is None else f"a {type(value).__name__}"
        raise TypeError(
            f"zyg.jacobian takes functions whose value is a number, an array, or a structure of such, not {found}"
        )
    elif argnums is None:
        return zyg.gradient(again, *kept, **keywords)
    else:
        return zyg.grad(again, argnums)(*kept, **keywords)
    if argnums is None:
        return found
    return found[argnums] if isinstance(argnums, int) else tuple([found[n] for n in argnums])


def _jacobian_in_one_run(function: Any, args: Any, places: Any, **keywords: Any) -> Any:
    """In reverse, by one pullback."""

    def plain(*args: Any, **keywords: Any) -> Any:
        value = function(*args, **keywords)
        if is_structure(value):
            if not is_vector(value):
                cannot(ONE_RUN, ONE_RUN_HINT)
            return np.array(value)
        return value

    chosen = tuple([x for x, p in zip(args, places) if p is not None])
    if is_structure(*chosen):
        cannot(ONE_RUN, ONE_RUN_HINT)
    if any(_is_complex(x) for x in chosen):
        raise TypeError("zyg.jacobian " + REAL)
    varied = tuple([w and p is not None for w, p in zip(dependence(plain, args, **keywords), places)])
    value, back = pullback_by(places, plain, *args, **keywords)
    if _is_complex(value):
        raise TypeError("zyg.jacobian " + REAL)
    if not isinstance(value, (int, float, np.number, np.ndarray)):
        raise TypeError("zyg.jacobian takes functions whose value is a number, an array, or a structure of such")
    if not isinstance(value, np.ndarray):
        return tuple([d if wanted else None for d, wanted in zip(back(1.0), varied)])
    tables = tuple([table(x, value.size) if wanted else None for x, wanted in zip(args, varied)])
    _put_all_rows(tables, value, back)
    return tuple([None if t is None else _shaped(t, value, x) for t, x in zip(tables, args)])


ONE_RUN = (
    "the Jacobian, by or of a structure, of a function that changes something besides its arguments, or draws numbers"
)
ONE_RUN_HINT = "pass arrays and give an array, or take zyg.pullback"


def _jacobian_of_structures(function: Any, args: Any, places: Any, value: Any, **keywords: Any) -> tuple[Any, ...]:
    """By the numbers in all arguments together, then taken apart."""
    chosen = tuple([x if p is not None else None for x, p in zip(args, places)])
    rest = tuple([x if p is None else None for x, p in zip(args, places)])

    def flat(vector: Any, **options: Any) -> Any:
        own, f, others = unpacked(chosen, vector, function, rest)
        return packed(f(*_either(others, own, places), **options))

    matrix = _jacobian_of_array(flat, (packed(chosen),), ((),), packed(value), **keywords)[0]
    if matrix is None:
        return tuple([None for _ in args])
    columns_of_one(chosen, matrix)
    result, at = (), 0
    for x, wanted in zip(chosen, dependence(function, args, **keywords)):
        size = packed(x).size
        result = (*result, blocks(value, x, matrix[:, at : at + size]) if wanted else None)
        at = at + size
    return result


def _either(args: Any, chosen: Any, places: Any) -> Any:
    return tuple([x if p is None else c for x, c, p in zip(args, chosen, places)])


def _jacobian_of_array(function: Any, args: tuple[Any, ...], places: Any, value: Any, **keywords: Any) -> Any:
    """By the cheaper mode: a run forward carries LANES tangents and costs about as much as a run in reverse, for one
    cotangent."""
    varied = tuple([w and p is not None for w, p in zip(dependence(function, args, **keywords), places)])
    rows, columns = value.size, 0
    for x, wanted in zip(args, varied):
        if wanted:
            columns += _size(x)
    tables = tuple([table(x, rows) if wanted else None for x, wanted in zip(args, varied)])
    if (columns + LANES - 1) // LANES <= rows:
        _by_columns(tables, (), (), function, args, args, value, keywords)
    else:
        _by_rows(tables, function, args, places, value, keywords)
    return tuple([None if t is None else _shaped(t, value, x) for t, x in zip(tables, args)])


def _by_columns(
    tables: Any, before: Any, zero: Any, function: Any, args: Any, rest: Any, value: Any, keywords: Any
) -> None:
    """Forward: the columns for the first of the arguments `rest`, LANES of them in a run, and then for the others."""
    if len(rest) > 0:
        x, result, after = rest[0], tables[0], tuple([None for _ in rest[1:]])
        if result is not None:
            size = _size(x)
            lanes = LANES if isinstance(x, np.ndarray) else 1
            for start in range(0, size, lanes):
                tangents = (*zero, _unit(x, start, lanes), *after)
                f, given = copied_call(function, args)
                columns = several(f, given, tangents, lanes, **keywords)[1]
                _put_columns(result, start, columns.reshape((value.size, lanes)))
        _by_columns(tables[1:], (*before, x), (*zero, None), function, args, rest[1:], value, keywords)


def _by_rows(tables: Any, function: Any, args: Any, places: Any, value: Any, keywords: Any) -> None:
    """Reverse: a pullback of each unit vector."""
    _, back = pullback_by(places, function, *args, **keywords)
    _put_all_rows(tables, value, back)


def _put_all_rows(tables: Any, value: Any, back: Any) -> None:
    for row in range(value.size):
        seed = zeros(value, 0)
        seed.reshape(value.size)[row] = 1.0
        for result, cotangent in zip(tables, back(seed)):
            if result is not None:
                _put_row(result, row, cotangent)


def _size(x: Any) -> Any:
    return x.size if isinstance(x, np.ndarray) else 1


def _shaped(result: Any, value: Any, x: Any) -> Any:
    return result.reshape(value.shape + x.shape) if isinstance(x, np.ndarray) else result.reshape(value.shape)


def _unit(x: Any, start: Any, lanes: int) -> Any:
    """Tangents of `x`, each along one element: number `start` and those that follow."""
    if not isinstance(x, np.ndarray):
        return 1.0
    result = zeros(x, lanes)
    flat = result.reshape((x.size, lanes))
    for k in range(min(lanes, x.size - start)):
        flat[start + k, k] = 1.0
    return result


def _put_columns(result: Any, start: Any, columns: Any) -> None:
    rows, lanes = columns.shape
    for row in range(rows):
        for k in range(min(lanes, result.shape[1] - start)):
            result[row, start + k] = columns[row, k]


def _put_row(result: Any, row: Any, cotangent: Any) -> None:
    if isinstance(cotangent, np.ndarray):
        flat = cotangent.reshape(cotangent.size)
        for k in range(cotangent.size):
            result[row, k] = flat[k]
    else:
        result[row, 0] = cotangent
