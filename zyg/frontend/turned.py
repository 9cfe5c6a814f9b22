"""Arrays that are known to be others with their axes in another order.

What is made of them element by element is made of what they were before that, in C order, and seen in the other order: its loops
run through memory as NumPy's do, and its result lies as NumPy's does (orders.py).

An argument in Fortran order comes as its transpose (ir/types.py, Fortran), so this holds for it and for what is made of it,
and its cotangent.  It is taken for one only if none of its axes is of length 1: so it is known not to be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zyg.ir.core import Const, Value, array_type

from .values import Abstract, ArrayValue, ComplexArrayValue, map_leaves

if TYPE_CHECKING:
    from .evaluator import Evaluator

Axes = tuple[int, ...]  # where each axis goes


def as_given(e: Evaluator, transpose: Abstract) -> Abstract:
    """An argument in Fortran order, from its transpose."""
    from .arrays import memory, ndim, of_kind

    floats, count = memory(transpose), ndim(transpose)
    to = [*reversed(range(count)), *range(count, floats.type.ndim)]
    return of_kind(transpose, turned(e, floats, tuple(to), True))


def turned(e: Evaluator, param: ArrayValue, to: Axes, long: bool) -> ArrayValue:
    """A parameter of the function with its axis k as axis to[k], in the entry of the function. `long`: no axis is of length 1 or 0."""
    from .arrays import memory, permuted

    lengths = tuple([e.op("dim", param.value, axis=axis) for axis in range(param.type.ndim)])
    e.shaped[param.value] = ("given", lengths, {})
    if long:
        e.long.update(lengths)
    made = memory(permuted(e, param, to))
    made.value.name = param.value.name
    return made


def before(e: Evaluator, array: Value) -> tuple[Value, Axes] | None:
    """What an array was before its axes were put into another order, and which."""
    op, operands, attrs = e.shaped.get(array, ("", (), {}))
    if op != "transpose" or len(set(attrs["axes"])) < len(attrs["axes"]):
        return None
    return operands[0], attrs["axes"]


def before_turns(e: Evaluator, v: Abstract, found: list[tuple[Axes, bool] | None]) -> Abstract:
    """What is to be passed to a function for a value: its arrays as they were before their axes were put into another order. `found`
    gets for each leaf that order, and whether the array is known to have no axis of length 1 or 0."""

    def leaf(value: Value) -> Value:
        given = before(e, value)
        if given is None or array_type(given[0]).layout != "C":
            found.append(None)
            return value
        lengths = [e.dim(value, axis) for axis in range(len(given[1]))]
        found.append((given[1], all(is_long(e, d) for d in lengths)))
        return given[0]

    return map_leaves(v, leaf)


def after_turn(e: Evaluator, param: Value, turn: tuple[Axes, bool] | None) -> Value:
    """The array that a parameter stands for."""
    return param if turn is None else turned(e, ArrayValue(param), *turn).value


def inverse(to: Axes) -> Axes:
    return tuple(to.index(axis) for axis in range(len(to)))


def is_long(e: Evaluator, length: Value) -> bool:
    """Whether a length is known to be neither 1 nor 0."""
    return length.value > 1 if isinstance(length, Const) else length in e.long


def transposed_alike(
    e: Evaluator, operands: Sequence[Abstract], rows: bool = False
) -> tuple[list[Abstract], Axes] | None:
    """If all arrays of real numbers among the operands are known to be transposed alike, so that what is made of them is, too: the
    operands before that, and where their axes go.  What is made of those needs no other order than C order.  `rows`: there may be
    arrays of one dimension among them.

    That they fit together is for the caller to check."""
    from .arrays import dims, ndim, seen
    from .orders import sorted_strides
    from .selection import reshaped

    arrays = [v for v in operands if isinstance(v, (ArrayValue, ComplexArrayValue))]
    whole = [v for v in arrays if ndim(v) > 1 or not rows]
    given = [before(e, v.value) if isinstance(v, ArrayValue) else None for v in whole]
    turns = {found[1] for found in given if found is not None}
    if len(turns) != 1 or None in given or any(isinstance(v, ComplexArrayValue) for v in arrays):
        return None
    (to,) = turns
    sources = [found[0] for found in given if found is not None]
    if not all(sorted_strides(e, source, repeats=False, seeming=False) for source in sources):
        return None
    shapes = [dims(e, v) for v in whole]
    if not _lie_alike(e, shapes, [dims(e, v)[0] for v in arrays if v not in whole and ndim(v)]):
        return None
    shape = next((s for s in shapes if all(is_long(e, d) for d in s)), None)
    result: list[Abstract] = []
    rest = iter(zip(sources, shapes, strict=True))
    for v in operands:
        if v not in whole:
            one_axis = isinstance(v, ArrayValue) and ndim(v) == 1
            result.append(seen(e, v, "".join(":" if axis == len(to) - 1 else "n" for axis in to)) if one_axis else v)
            continue
        source, own = next(rest)
        array: Abstract = ArrayValue(source)
        if shape is not None and own != shape and array_type(source).layout == "C":
            equal = all(same(x, y) or is_long(e, x) for x, y in zip(own, shape, strict=True))
            array = reshaped(e, array, [shape[axis] for axis in to]) if equal else array
        result.append(array)
    return result, to


def _lie_alike(e: Evaluator, shapes: list[list[Value]], rows: list[Value]) -> bool:
    """Whether what is made of arrays of these shapes, and of arrays of one dimension, lies as they do, all of them alike, whatever the
    lengths are. Of two axes an array says how they lie if it has more than one element along both."""
    if any(all(is_long(e, d) for d in s) for s in shapes):
        return True
    if any(not any(is_long(e, s[-1]) or same(d, s[-1]) for s in shapes) for d in rows):
        return False
    # Along an axis along which all arrays go on, or none, each array says it of that and any along which itself goes on.
    along = [[s[axis] for s in shapes] for axis in range(len(shapes[0]))]
    differ = [d for d in along if not (all(same(x, d[0]) for x in d) or all(is_long(e, x) for x in d))]
    return len(differ) < 2


def same(x: Value, y: Value) -> bool:
    return x is y or isinstance(x, Const) and isinstance(y, Const) and x.value == y.value
