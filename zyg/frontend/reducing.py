"""Reductions of whole arrays, of all their elements or along axes.

The terms are what a function gives for the elements of the operands, so what stands before a reduction is fused into it
(ir/passes/fuse.py).  Along axes the result is an array that is seen broadcast over them, and every term is reduced into it:
the derivative is that of `apply`, and needs no rule of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from zyg.ir.core import Const, Value, const
from zyg.ir.reductions import identity
from zyg.ir.types import Array
from zyg.ir.types import Scalar as ScalarType

from .elementwise import Scalar, arguments, broadcast_shape, by_parts, element_function, real_part
from .orders import as_it_seems, laid_as, seen_in_order
from .scalars import scalar_value
from .turned import transposed_alike
from .values import Abstract, ArrayValue, ComplexArrayValue, ComplexValue, Known, Number

if TYPE_CHECKING:
    from .evaluator import Evaluator


def reduce(
    e: Evaluator,
    kind: str,
    key: Hashable,
    function: Scalar,
    operands: Sequence[Abstract],
    axes: tuple[int, ...],
    keepdims: bool = False,
    initial: Abstract | None = None,
    nonempty: str | None = None,
) -> Abstract:
    """Reduce what `function` gives for the elements of the operands, by an operation that `apply` knows, along axes of the
    first of them, which the others are broadcast to.  `nonempty` is the text of the ValueError where nothing is reduced."""
    from .arrays import ARRAYS, COMPLEX, allocate_unchecked, dims, permuted, seen

    broadcast_shape(e, [real_part(e, v) for v in operands if isinstance(v, (ArrayValue, ComplexArrayValue))])
    before = transposed_alike(e, operands) or _in_order(e, operands)
    if before is not None:
        sources, to = before
        own = tuple(n for n, axis in enumerate(to) if axis in axes)
        result = reduce(e, kind, key, function, sources, own, keepdims, initial, nonempty)
        left = [axis for axis in to if keepdims or axis not in axes]
        if not isinstance(result, ARRAYS):
            return result
        seen = permuted(e, result, [sorted(left).index(axis) for axis in left])
        if len(to) - len(axes) < 2:
            return seen
        return as_it_seems(e, seen, operands[:1], sorted(left))
    first = operands[0]
    assert isinstance(first, (ArrayValue, ComplexArrayValue))
    shape = dims(e, first)
    if nonempty is not None:
        check_not_empty(e, shape, axes, nonempty)
    if any(isinstance(v, (ComplexArrayValue, ComplexValue)) for v in operands):
        key, function, operands = by_parts(e, key, function, operands)
    name, types = element_function(e, key, function, operands)
    given = arguments(e, operands, shape)
    kinds = (kind,) * len(types)
    begin = _begin(e, kind, types, initial)
    if len(axes) == len(shape) and not keepdims:
        totals: Sequence[Value] = e.emit("apply", *given, types=types, callee=name, modes=(), kinds=kinds)
        if initial is not None:
            totals = [_combined(e, kind, x, y) for x, y in zip(begin, totals, strict=True)]
        if len(totals) == 1:
            return Number(totals[0], True)
        return ComplexValue(Number(totals[0]), Number(totals[1]), True)
    kept = [const(1) if axis in axes else d for axis, d in enumerate(shape)]
    outer = kept if keepdims else [d for axis, d in enumerate(shape) if axis not in axes]
    result = allocate_unchecked(e, outer, types[0] if len(types) == 1 else COMPLEX, "empty")
    result = laid_as(e, result, [first], [axis for axis in range(len(shape)) if keepdims or axis not in axes])
    outs = _parts(e, result if keepdims else seen(e, result, "".join(":n"[axis in axes] for axis in range(len(shape)))))
    for v, x in zip(outs, begin, strict=True):
        e.emit("fill", v.value, x)
    whole = [
        e.op("broadcast", v.value, *shape, type=Array(v.type.dtype, len(shape), "A", v.type.writable)) for v in outs
    ]
    e.emit("apply", *whole, *given, types=(), callee=name, modes=kinds)
    if isinstance(result, ArrayValue):
        e.inference.fresh.add(result.value)
    return result


def _in_order(e: Evaluator, operands: Sequence[Abstract]) -> tuple[list[Abstract], tuple[int, ...]] | None:
    """Arrays as they lie in memory, for loops that go through it, if that is known; and where their axes go."""
    from .arrays import dims, ndim

    first = operands[0]
    if any(isinstance(v, (ArrayValue, ComplexArrayValue)) and ndim(v) != ndim(first) for v in operands):
        return None
    return seen_in_order(e, dims(e, first), operands)


def _begin(e: Evaluator, kind: str, types: Sequence[ScalarType], initial: Abstract | None) -> list[Value]:
    if initial is None:
        return [identity(kind, t) for t in types]
    parts: Sequence[Abstract] = initial.parts() if isinstance(initial, ComplexValue) else [initial]
    return [scalar_value(e, x, t) for x, t in zip([*parts, Known(0.0)], types, strict=False)]


def _combined(e: Evaluator, kind: str, x: Value, y: Value) -> Value:
    from zyg.ir.reductions import combine

    return combine(e.builder, kind, x, y)


def _parts(e: Evaluator, a: Abstract) -> list[ArrayValue]:
    from .complex_arrays import part

    if isinstance(a, ComplexArrayValue):
        return [part(e, a, "real"), part(e, a, "imag")]
    assert isinstance(a, ArrayValue)
    return [a]


def check_not_empty(e: Evaluator, shape: list[Value], axes: tuple[int, ...], message: str) -> None:
    """ValueError where there are no elements along the axes, even if there are no results either."""
    nothing = _is_empty(e, [shape[n] for n in axes])
    e.guard(const(not nothing.value) if isinstance(nothing, Const) else e.op("not", nothing), "ValueError", message)


def _is_empty(e: Evaluator, lengths: list[Value]) -> Value:
    result: Value = const(False)
    for d in lengths:
        flag: Value = const(d.value == 0) if isinstance(d, Const) else e.op("eq", d, const(0))
        if isinstance(flag, Const):
            if flag.value:
                return flag
        elif isinstance(result, Const):
            result = flag
        else:
            result = e.op("or", result, flag)
    return result
