"""How matrices lie in memory, for library code that hands them to BLAS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays
from zyg.frontend.values import Abstract, ArrayValue, ComplexArrayValue, ComplexValue, Known, Number, TupleValue, known
from zyg.ir.core import Value, const
from zyg.ir.types import I64

from ..registry import emits
from .constructors import C_ORDER, like

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator


def step(a: Any, axis: int) -> int:
    """How many elements lie from one to the next along an axis; 0 where they do not lie in whole steps."""
    steps, rest = divmod(a.strides[axis], a.itemsize)
    return 0 if rest else steps


@emits(step)
def _step(e: Evaluator, a: Abstract, axis: Abstract) -> Abstract:
    assert isinstance(a, ArrayValue) and isinstance(axis, Known)
    n, ndim = axis.object % a.type.ndim, a.type.ndim
    if a.type.layout == "C":
        return arrays.product(e, [e.dim(a.value, k) for k in range(n + 1, ndim)])
    size = arrays.DTYPES[a.type.dtype].itemsize
    stride = e.op("stride", a.value, axis=n)
    steps = e.op("floordiv", stride, const(size))
    return Number(e.op("select", e.op("eq", e.op("mul", steps, const(size)), stride), steps, const(0, I64)))


def is_packed(a: Any) -> bool:
    """Whether an array's type says that it is C-contiguous."""
    return a.flags.c_contiguous


@emits(is_packed)
def _is_packed(e: Evaluator, a: Abstract) -> Abstract:
    return Known(arrays.memory(a).type.layout == "C")


def general(a: Any) -> Any:
    """The array, as one of any strides: what may be a copy or not has one type then."""
    return a


@emits(general)
def _general(e: Evaluator, a: Abstract) -> Abstract:
    assert isinstance(a, ArrayValue)
    return arrays.general(e, a)


def swapped(a: Any) -> Any:
    """The matrices transposed: a view."""
    return np.swapaxes(a, -1, -2)


@emits(swapped)
def _swapped(e: Evaluator, a: Abstract) -> Abstract:
    ndim = arrays.ndim(a)
    return arrays.permuted(e, a, [*range(ndim - 2), ndim - 1, ndim - 2])


def conjugated(a: Any) -> Any:
    """An array or a number conjugated: itself, if it is real."""
    return np.conj(a)


@emits(conjugated)
def _conjugated(e: Evaluator, a: Abstract) -> Abstract:
    return e.call(known(np.conj), [a]) if isinstance(a, (ComplexArrayValue, ComplexValue)) else a


def conj_swapped(a: Any) -> Any:
    """The conjugate transpose of the matrices: of real ones a view."""
    return np.conj(np.swapaxes(a, -1, -2))


@emits(conj_swapped)
def _conj_swapped(e: Evaluator, a: Abstract) -> Abstract:
    return _conjugated(e, _swapped(e, a))


def packed(a: Any) -> Any:
    """A C-contiguous copy, whatever the type says."""
    return a.copy()


@emits(packed)
def _packed(e: Evaluator, a: Abstract) -> Abstract:
    copy = like(e, a, Known(None), "empty", None, order=C_ORDER)
    arrays.assign(e, copy, a)
    return copy


def is_complex(a: Any) -> bool:
    return np.iscomplexobj(a)


@emits(is_complex)
def _is_complex(e: Evaluator, a: Abstract) -> Abstract:
    return Known(isinstance(a, (ComplexArrayValue, ComplexValue)))


def shape_text(lengths: Sequence[str]) -> str:
    return f"({lengths[0]},)" if len(lengths) == 1 else f"({','.join(lengths)})"


def stack_shape(*stacks: Any) -> tuple[int, ...]:
    """The shape of stacks of matrices that are multiplied, broadcast against each other, without the last two axes."""
    return np.broadcast_shapes(*(a.shape[:-2] for a in stacks))


@emits(stack_shape)
def _stack_shape(e: Evaluator, *stacks: Abstract) -> Abstract:
    return _together(e, stacks, [2] * len(stacks))


def shape_of_products(x: Any, y: Any, axes: tuple[int, int]) -> tuple[int, ...]:
    """The same of stacks of matrices or vectors, which have so many axes each."""
    return np.broadcast_shapes(x.shape[: x.ndim - axes[0]], y.shape[: y.ndim - axes[1]])


@emits(shape_of_products)
def _shape_of_products(e: Evaluator, x: Abstract, y: Abstract, axes: Abstract) -> Abstract:
    return _together(e, [x, y], arrays.constant(e, axes, "axes"))


def _together(e: Evaluator, stacks: Sequence[Abstract], axes: Any) -> Abstract:
    """The shape of stacks, of items that have so many axes, broadcast against each other; what NumPy says of those that can not be."""
    shapes = [arrays.dims(e, a)[: arrays.ndim(a) - count] for a, count in zip(stacks, axes)]
    product = [arrays.dims(e, stacks[0])[-2]] if axes[0] == 2 else []
    product += [arrays.dims(e, stacks[-1])[-1]] if axes[-1] == 2 else []
    text = ""
    for s, count in zip(shapes, axes):
        whole, stacked = ["{}"] * (len(s) + count), ["{}"] * len(s) + ["newaxis"] * len(product)
        text += f"{shape_text(whole)}->{shape_text(stacked)} "
    message = f"operands could not be broadcast together with remapped shapes [original->remapped]: {text} "
    message += f"and requested shape ({','.join(['{}'] * len(product))})"
    lengths = [*(d for a, s in zip(stacks, shapes) for d in (*arrays.dims(e, a), *s)), *product]
    result: list[Abstract] = []
    for axis in range(-max(map(len, shapes)), 0):
        common: Value = const(1)
        for d in (s[axis] for s in shapes if len(s) >= -axis):
            one = e.op("eq", common, const(1))
            fits = e.op("or", e.op("eq", d, common), e.op("or", one, e.op("eq", d, const(1))))
            e.guard(fits, "ValueError", message, *lengths)
            common = e.op("select", one, d, common)
        result.append(Number(common))
    return TupleValue(tuple(result))
