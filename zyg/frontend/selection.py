"""Keys with arrays among their parts: `a[rows, columns]`, `a[a > 0]`, and assignments to these.

The integers and slices of the key make a view first.  Masks become the positions where they hold.  The arrays of indices are
checked, broadcast against each other and seen as one axis; the array is brought into the form

    (axes before, axes with indices, axes behind)

whose middle becomes that axis, in a gather or a scatter that is written in Python (library/numpy_/gathering.py) and so has its
derivative by itself.  The result is shown in its proper shape at last.

Where the axes of the indices go is NumPy's rule: in place of those that they index if these stand side by side in the key
(integers are indices here too), else first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.ir.core import Const, Value, const
from zyg.ir.types import BOOL, F64, I64

from . import arrays, kinds, lists, orders
from .arrays import ARRAYS, dims, element_type, memory, ndim, of_kind, permuted
from .scalars import scalar_value
from .values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    Known,
    Number,
    SliceValue,
    TupleValue,
    describe,
    is_numeric,
    known,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator

_SHAPES = "shape mismatch: value array of shape"
_RESULT = "could not be broadcast to indexing result of shape"


def get(e: Evaluator, a: Abstract, parts: list[Abstract], rows: Value | None = None) -> Abstract:
    return Selection(e, a, parts, rows).gathered()


def set(e: Evaluator, a: Abstract, parts: list[Abstract], value: Abstract) -> None:
    value = _as_elements(e, a, value)
    if _fills(a, parts, value):
        _fill_where(e, a, parts[0], value)
        return
    Selection(e, a, parts).scatter(value)


def _as_elements(e: Evaluator, a: Abstract, value: Abstract) -> Abstract:
    """NumPy's numbers, and arrays, as elements of a: converted as whole arrays are, before they are put anywhere."""
    if not isinstance(a, ArrayValue):
        return value
    dtype = a.type.dtype
    value = arrays.real_if_needed(e, a, value)
    if isinstance(value, Number) and value.numpy:
        return Number(arrays.converted(e, value, dtype), True)
    if isinstance(value, ArrayValue) and value.type.dtype is not dtype:
        from zyg.library.numpy_.methods import astype

        return astype(e, value, Known(arrays.numpy_dtype(dtype)))
    return value


def _fills(a: Abstract, parts: list[Abstract], value: Abstract) -> bool:
    """Whether a mask over all of a real array is filled with a number."""
    mask = parts[0]
    return (
        len(parts) == 1
        and isinstance(a, ArrayValue)
        and isinstance(mask, ArrayValue)
        and mask.type.dtype is BOOL
        and isinstance(value, Number)
    )


def _fill_where(e: Evaluator, a: Abstract, mask: Abstract, value: Abstract) -> None:
    """a[mask] = number, element by element and without a branch."""
    from .comparison import truth
    from .elementwise import lift_to

    assert isinstance(a, ArrayValue) and isinstance(mask, ArrayValue)
    check_mask(e, mask, dims(e, a), 0)
    dtype = a.type.dtype
    filling = Number(arrays.element(e, value, dtype), True)

    def choose(e: Evaluator, x: Abstract, m: Abstract, v: Abstract) -> Abstract:
        flag = truth(e, m)
        return Number(e.op("select", flag, scalar_value(e, v, dtype), scalar_value(e, x, dtype)), True)

    lift_to(e, "fill where", choose, [a, mask, filling], a)


def apart(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    """b, or a copy of it where it shares memory with a."""
    from zyg.library.numpy_ import inplace as whole

    mine, other = memory(a), memory(b)
    if (
        element_type(a) is not element_type(b)
        and not isinstance(a, ComplexArrayValue)
        and not isinstance(b, ComplexArrayValue)
    ):
        return b
    if arrays.separate(e, mine.value, other.value):
        return b
    result = e.call(known(whole.without_overlap), [mine, other])
    assert isinstance(result, ArrayValue)
    return of_kind(b, result)


def check_mask(e: Evaluator, mask: ArrayValue, lengths: Sequence[Value], first: int) -> None:
    """IndexError unless a mask has the lengths of the axes from `first` on."""
    for n in range(mask.type.ndim):
        own, length = e.dim(mask.value, n), lengths[first + n]
        message = (
            f"boolean index did not match indexed array along axis {first + n}; size of axis is {{}} but size of "
            "corresponding boolean axis is {}"
        )
        e.guard(e.op("eq", own, length), "IndexError", message, length, own)


class Selection:
    """The elements of `a` that a key with arrays selects. Where `rows` is 0 at run time, indices may be out of range."""

    def __init__(self, e: Evaluator, a: Abstract, parts: list[Abstract], rows: Value | None = None):
        from zyg.library.numpy_ import gathering

        from . import indexing

        self.e = e
        self.array = a
        selecting = [n for n, p in enumerate(parts) if not self._shows(p)]
        together = selecting == list(range(selecting[0], selecting[-1] + 1))
        base = indexing.basic_view(e, a, parts)
        self.whole_mask = len(parts) == 1 and isinstance(parts[0], ArrayValue) and parts[0].type.dtype is BOOL
        indices: list[tuple[int, Abstract]] = []  # axes of the base, and what indexes them
        masks: list[tuple[int, ArrayValue]] = []
        unchecked: list[tuple[ArrayValue, Value, int]] = []
        axis = own = 0  # of the base, of the array
        before = 0
        for n, p in enumerate(parts):
            if n == selecting[0]:
                before = axis
            if isinstance(p, ArrayValue) and p.type.dtype is BOOL:
                check_mask(e, p, dims(e, a), own)
                masks.append((axis, p))
                axis += p.type.ndim
            elif isinstance(p, ArrayValue):
                indices.append((axis, p))
                unchecked.append((p, dims(e, a)[own], own))
                axis += 1
            elif indexing.is_flag(p):
                indices.append((axis, self._flag(p)))
                axis += 1
            elif isinstance(p, SliceValue) or indexing.is_none(p):
                axis += 1
            own += indexing.axes_of_part(p)
        base = self._without_masks(base, masks, indices)
        axes = [k for k, _ in indices]
        if not together:
            before = 0
        rest = [k for k in range(ndim(base)) if k not in axes]
        order = [*rest[:before], *axes, *rest[before:]]
        self.base = permuted(e, base, [order.index(k) for k in range(len(order))])
        self.axes_first = permuted(e, base, [[*axes, *rest].index(k) for k in range(len(order))])
        lengths = dims(e, self.base)
        self.leading = TupleValue((Known(None),) * before)
        self.prefix, self.suffix = lengths[:before], lengths[before + len(axes) :]
        self._broadcast([v for _, v in indices])
        if e.options.boundscheck:
            count = Number(self._count() if rows is None else e.op("mul", self._count(), rows))
            for index, length, own in unchecked:
                self._call(gathering.check_range, flat(e, index), Number(length), Known(own), count)

    def _shows(self, p: Abstract) -> bool:
        """Whether a part keeps the arrays left and right of it apart."""
        from . import indexing

        return isinstance(p, SliceValue) or indexing.is_none(p) or indexing.is_ellipsis(p)

    def _call(self, function: Callable[..., Any], *arguments: Abstract) -> Abstract:
        return self.e.call(known(function), list(arguments))

    def _flag(self, p: Abstract) -> Abstract:
        """A bool indexes a new axis: there is one of it, or none."""
        e = self.e
        count = e.op("select", scalar_value(e, p), const(1), const(0))
        return arrays.allocate_unchecked(e, [count], I64, "zeros")

    def _without_masks(
        self, base: Abstract, masks: list[tuple[int, ArrayValue]], indices: list[tuple[int, Abstract]]
    ) -> Abstract:
        """Put the positions where masks hold among the indices; the axes of a mask are seen as one where they can be."""
        from zyg.library.numpy_ import gathering

        e = self.e
        for first, mask in reversed(masks):
            count = mask.type.ndim
            positions = self._call(gathering.flat_nonzero, flat(e, mask))
            if count > 1 and memory(base).type.layout == "C":
                lengths = dims(e, base)
                merged = scalar_value(e, arrays.product(e, lengths[first : first + count]), I64)
                base = reshaped(e, base, [*lengths[:first], merged, *lengths[first + count :]])
                indices[:] = [(k - (count - 1) * (k > first), v) for k, v in indices]
                count = 1
            if count == 1:
                indices.append((first, positions))
                continue
            lengths = TupleValue(tuple(map(Number, dims(e, mask))))
            separate = kinds.known_items(e, self._call(gathering.unravelled, positions, lengths))
            assert separate is not None
            indices += [(first + n, v) for n, v in enumerate(separate)]
        indices.sort(key=lambda item: item[0])
        return base

    def _broadcast(self, indices: list[Abstract]) -> None:
        """The indices seen as one axis each, and the shape that they had."""
        from .elementwise import broadcast, broadcast_shape

        e = self.e
        if len(indices) == 1:
            self.shape = dims(e, indices[0])
        else:
            text = "shape mismatch: indexing arrays could not be broadcast together with shapes"
            self.shape = broadcast_shape(e, [memory(v) for v in indices], "IndexError", text)
            indices = [ArrayValue(broadcast(e, memory(v), self.shape)) for v in indices]
        self.given = indices
        self.indices = TupleValue(tuple(flat(e, v) for v in indices))

    # ------------------------------------------------------------------------------------ reading, writing

    @property
    def ndim(self) -> int:
        """The number of dimensions of what is selected."""
        return len(self.prefix) + len(self.shape) + len(self.suffix)

    def gathered(self, packed: bool = False) -> Abstract:
        """The elements, `packed` in C order or, as NumPy's brackets give them, with the axes of the indices outermost in memory."""
        from zyg.library.numpy_ import gathering

        e = self.e
        rest = [*self.prefix, *self.suffix]
        if packed and self.prefix:
            made = arrays.allocate(e, [*self.prefix, self._count(), *self.suffix], element_type(self.array), "empty")
            self._call(gathering.gather, made, self.base, self.leading, self.indices)
            e.inference.fresh.add(memory(made).value)
            return reshaped(e, made, [*self.prefix, *self.shape, *self.suffix])
        if self._takes_rows():
            made = self._call(gathering.taken, self.axes_first, self.indices.items[0])
        else:
            made = arrays.allocate(e, [self._count(), *rest], element_type(self.array), "empty")
            self._call(gathering.gather, made, self.axes_first, TupleValue(()), self.indices)
        e.inference.fresh.add(memory(made).value)
        if len(self.shape) > 1:
            made = reshaped(e, made, [*self.shape, *rest])
            e.inference.fresh.add(memory(made).value)
        if not packed:
            made = orders.selected(e, made, self.given, self.axes_first, self.array)
        if self.prefix:
            n, before = len(self.shape), len(self.prefix)
            to = [*range(before, before + n), *range(before), *range(before + n, n + len(rest))]
            made = permuted(e, made, to)
        return made

    def _takes_rows(self) -> bool:
        """Whether elements are selected by a kernel (library/kernels.py): doubles, or rows of doubles, by one list of int64."""
        of_doubles = isinstance(self.base, ArrayValue) and self.base.type.dtype is F64 and self.base.type.ndim <= 2
        by = [memory(v).type.dtype for v in self.indices.items]
        return of_doubles and by == [I64]

    def _count(self) -> Value:
        if len(self.shape) == 1:
            return self.shape[0]
        return scalar_value(self.e, arrays.product(self.e, self.shape), I64)

    def scatter(self, value: Abstract) -> None:
        """Assign a value; the last one wins where an index comes more than once."""
        from zyg.library.numpy_ import gathering

        self._call(gathering.scatter, self.base, self._value(value), self.leading, self._indices_apart())

    def update(self, function: Abstract, value: Abstract) -> None:
        """Replace each element by `function` of it and of what belongs to it in `value`, one after the other."""
        from zyg.library.numpy_ import gathering

        given = value
        if isinstance(value, ARRAYS):
            given = self._spread(value, "array is not broadcastable to correct shape", "")
        if self._adds_rows(function, given):
            self._call(gathering.add_taken, self.base, *self._indices_apart().items, given)
            return
        self._call(gathering.update, self.base, given, self.leading, self._indices_apart(), function)

    def _adds_rows(self, function: Abstract, value: Abstract) -> bool:
        """Whether a kernel adds the elements of an array: doubles, or rows of doubles, to those that one list of int64 selects."""
        of_doubles = isinstance(value, ArrayValue) and value.type.dtype is F64 and value.type.ndim == ndim(self.base)
        return function == known(np.add) and of_doubles and not self.prefix and self._takes_rows()

    def _indices_apart(self) -> TupleValue:
        return TupleValue(tuple(apart(self.e, self.array, v) for v in self.indices.items))

    def _value(self, value: Abstract) -> Abstract:
        """A number, or an array with an element for each one that is assigned to, the indices along one axis."""
        from zyg.library.numpy_.constructors import array

        e = self.e
        if is_numeric(value):
            return value
        if lists.is_sequence(e, value):
            value = array(e, value)
        if not isinstance(value, ARRAYS):
            raise e.refuse(
                "an assignment to a part of an array",
                types=[describe(self.array), describe(value, e.heap)],
                hint="assign a number, or an array",
            )
        if self.whole_mask and ndim(value) and not self.suffix:
            value = self._for_mask(value)
        return self._spread(value, _SHAPES, _RESULT)

    def _spread(self, value: Abstract, fault: str, into: str) -> Abstract:
        e = self.e
        if ndim(value) == 0:
            return arrays.scalar_of(e, value)
        shape = [*self.prefix, *self.shape, *self.suffix]
        value = apart(e, self.array, arrays.fitted(e, value, shape, fault, into))
        if len(self.shape) == 1:
            return value
        return reshaped(e, contiguous(e, value), [*self.prefix, self._count(), *self.suffix])

    def _for_mask(self, value: Abstract) -> Abstract:
        e = self.e
        if ndim(value) > 1:
            e.type_error(
                "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, "
                f"input has {ndim(value)} dimensions"
            )
        (given,) = dims(e, value)
        message = "NumPy boolean array indexing assignment cannot assign {} input values to the {} output values where the mask is true"
        fits = e.op("or", e.op("eq", given, self.shape[0]), e.op("eq", given, const(1)))
        e.guard(fits, "ValueError", message, given, self.shape[0])
        return value


# -------------------------------------------------------------------------------------------------- shapes


def reshaped(e: Evaluator, a: Abstract, shape: Sequence[Value]) -> Abstract:
    """A contiguous array in another shape of the same size."""
    from zyg.ir.types import Array

    floats = memory(a)
    assert floats.type.layout == "C"
    if isinstance(a, ComplexArrayValue):
        shape = [*shape, const(2)]
    type = Array(floats.type.dtype, len(shape), "C", floats.type.writable)
    return of_kind(a, ArrayValue(e.op("reshape", floats.value, *shape, type=type)))


def contiguous(e: Evaluator, a: Abstract) -> Abstract:
    """The array, or a copy of it, as one whose type says that it is contiguous."""
    from zyg.library.numpy_.methods import copy

    return a if memory(a).type.layout == "C" else copy(e, a)


def flat(e: Evaluator, a: Abstract) -> Abstract:
    """All elements along one axis, to be read."""
    if ndim(a) == 1:
        return a
    return reshaped(e, contiguous(e, a), [scalar_value(e, arrays.size(e, a), I64)])


__all__ = ["Const", "Selection", "apart", "check_mask", "contiguous", "flat", "get", "reshaped", "set"]
