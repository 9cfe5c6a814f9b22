"""Products over several axes: tensordot, einsum, kron, cross, and chains of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, lists, orders
from zyg.frontend.arrays import constant
from zyg.frontend.elementwise import shape_text
from zyg.frontend.functions import in_any_order, shared_with_adjoint
from zyg.frontend.sized import alike, is_not_one, is_one, joint, of_lengths
from zyg.frontend.values import Abstract, Known, Number, TupleValue, describe, is_numeric, known
from zyg.ir.core import Value

from ..registry import emits, implements
from .layouts import is_complex, shape_of_products
from .products import matmul_arrays, of_one_type
from .reductions import delivered, element_type
from .views import stretched

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, ZERO, TWO = Known(None), Known(0), Known(2)


# --------------------------------------------------------------------------------------------- tensordot


@emits(np.tensordot, np.linalg.tensordot)
def tensordot(e: Evaluator, a: Abstract, b: Abstract, axes: Abstract = TWO) -> Abstract:
    return of_one_type(e, "np.tensordot", [a, b], lambda given: _tensordot(e, given[0], given[1], axes))


def _tensordot(e: Evaluator, x: Abstract, y: Abstract, axes: Abstract) -> Abstract:
    ndims = arrays.ndim(x), arrays.ndim(y)
    given = constant(e, axes, "axes")
    if isinstance(given, int):
        pairs = [[*range(ndims[0] - given, ndims[0])], [*range(given)]]
    else:
        pairs = [[s] if isinstance(s, int) else [*s] for s in given]
    if len(pairs) != 2 or len(pairs[0]) != len(pairs[1]) or len(pairs[0]) > min(ndims):
        e.throw("ValueError", "shape-mismatch for sum")
    first, second = ([axis % ndim for axis in which] for which, ndim in zip(pairs, ndims))
    if len(set(first)) < len(first) or len(set(second)) < len(second):
        e.throw("ValueError", "duplicate axes are not allowed in tensordot")
    for i, j in zip(first, second):
        if not alike(e, _length(e, x, i), _length(e, y, j)):
            e.guard(e.op("eq", _length(e, x, i), _length(e, y, j)), "ValueError", "shape-mismatch for sum")
    free = [k for k in range(ndims[0]) if k not in first], [k for k in range(ndims[1]) if k not in second]
    left = _flattened(e, x, [*free[0], *first], len(free[0]))
    right = _flattened(e, y, [*second, *free[1]], len(second))
    made = e.call(known(_product), [left, right])
    lengths = [_length(e, x, k) for k in free[0]] + [_length(e, y, k) for k in free[1]]
    return made if len(free[0]) == len(free[1]) == 1 else _reshaped(e, made, lengths)


def _product(a: Any, b: Any) -> Any:
    return matmul_arrays(a, b)


def _length(e: Evaluator, a: Abstract, axis: int) -> Value:
    return arrays.dims(e, a)[axis]


def _times(e: Evaluator, lengths: list[Value]) -> Abstract:
    return arrays.product(e, lengths)


def _flattened(e: Evaluator, a: Abstract, order: list[int], split: int) -> Abstract:
    """A matrix of an array: the axes `order`, the first `split` of them as its rows."""
    ndim = len(order)
    to = [order.index(k) for k in range(ndim)]
    seen = arrays.permuted(e, a, to) if order != [*range(ndim)] else a
    if (ndim, split) == (2, 1):
        return seen
    lengths = arrays.dims(e, seen)
    shape = TupleValue((_times(e, lengths[:split]), _times(e, lengths[split:])))
    return _packed_as(e, seen, shape)


def _packed_as(e: Evaluator, a: Abstract, shape: Abstract) -> Abstract:
    from .constructors import ascontiguousarray
    from .shaping import reshape

    return reshape(e, ascontiguousarray(e, a) if arrays.ndim(a) else a, shape)


def _reshaped(e: Evaluator, a: Abstract, lengths: list[Value]) -> Abstract:
    from zyg.frontend.values import Number

    from .shaping import reshape

    if not lengths:
        made = reshape(e, a, TupleValue(()))
        return arrays.scalar_of(e, made)
    return reshape(e, a, TupleValue(tuple(map(Number, lengths))))


# ------------------------------------------------------------------------------------------------ einsum


@emits(np.einsum)
def einsum(
    e: Evaluator, subscripts: Abstract, /, *operands_: Abstract, out: Abstract = NONE, optimize: Abstract = NONE
) -> Abstract:
    """The operands are taken one after the other, axes that no other has are summed up before: each step is a product of
    matrices, or stacks of them, of what is transposed and reshaped to fit; or a sum of products of elements."""
    if is_numeric(subscripts) or isinstance(subscripts, arrays.ARRAYS):
        text, operands_ = _by_axes(e, (subscripts, *operands_))
    else:
        text = constant(e, subscripts, "subscripts")
        if not isinstance(text, str):
            raise e.refuse(
                "np.einsum of this", types=[describe(subscripts, e.heap)], hint="write np.einsum('ij,jk->ik', a, b)"
            )
    if not operands_:
        e.throw("ValueError", "must specify the einstein sum subscripts string and at least one operand")
    if (
        len(operands_) == 1
        and isinstance(operands_[0], arrays.ARRAYS)
        and _sums_nothing(text, arrays.ndim(operands_[0]))
    ):
        made = _contraction_of(e, text, [operands_[0]])  # a view, of bools too
    else:
        made = of_one_type(e, "np.einsum", operands_, lambda given: _contraction_of(e, text, given))
    if isinstance(out, arrays.ARRAYS) and element_type(e, made) is not arrays.element_type(out):
        raise e.refuse(
            "np.einsum(out=...) of another type than the result", hint="assign it: out[...] = np.einsum(...)"
        )
    return delivered(e, made, out)


def contraction(text: str, *operands: Any) -> Any:
    """The same of arrays of one type."""
    return np.einsum(text, *operands)


@emits(contraction)
def _contraction_here(e: Evaluator, text: Abstract, *operands: Abstract) -> Abstract:
    assert isinstance(text, Known)
    return _contraction(e, text.object, [*operands])


@in_any_order
@shared_with_adjoint
def apart(text: str, operands: Any) -> Any:
    """The same, compiled once: products of matrices are not fused with what is around them."""
    return contraction(text, *operands)


def _contraction_of(e: Evaluator, text: str, given: list[Abstract]) -> Abstract:
    if _multiplies_matrices(text, [arrays.ndim(v) for v in given]):
        made = e.call(known(apart), [Known(text), TupleValue(tuple(given))])
    else:
        made = _contraction(e, text, given)
    if isinstance(made, arrays.ARRAYS):
        inputs, output = parse_subscripts(text, [arrays.ndim(v) for v in given])
        lengths: dict[str, list[Value]] = {letter: [] for letter in output}
        for letters, v in zip(inputs, given):
            for letter, length in zip(letters, arrays.dims(e, v)):
                lengths.setdefault(letter, []).append(length)
        of_lengths(e, made, [joint(e, lengths[letter]) for letter in output])
        if len(given) > 1:
            made = orders.contracted(e, made, given, inputs, output)
    return made


def _sums_nothing(text: str, ndim: int) -> bool:
    """Whether all axes of the only operand are axes of the result."""
    try:
        (letters,), output = parse_subscripts(text, [ndim])
    except ValueError:  # which is told where it is evaluated
        return False
    return {*letters} == {*output}


def _multiplies_matrices(text: str, ndims: list[int]) -> bool:
    """Whether two operands in turn have axes to be summed up together and axes of their own, in which the result is not as NumPy's
    dot is: rearranged, or of more than two axes."""
    try:
        inputs, output = parse_subscripts(text, ndims)
    except ValueError:  # which is told where it is evaluated
        return False
    if len(inputs) < 2 or (len(inputs) == 2 and max(map(len, inputs)) < 3):
        return False
    left = set(inputs[0])
    for number, letters in enumerate(inputs[1:], 1):
        right, others = set(letters), set(output).union(*inputs[number + 1 :])
        if (left & right) - others and left - right and right - left:
            return True
        left = (left | right) & others
    return False


def _contraction(e: Evaluator, text: str, given: list[Abstract]) -> Abstract:
    try:
        inputs, output = parse_subscripts(text, [arrays.ndim(v) for v in given])
    except ValueError as error:
        e.throw("ValueError", str(error))
        raise
    lengths: dict[str, Value] = {}
    for letters, v in zip(inputs, given):
        own: dict[str, Value] = {}
        for letter, length in zip(letters, arrays.dims(e, v)):
            if letter in own and not alike(e, own[letter], length):
                text = f"dimensions in single operand for collapsing index '{letter}' don't match ({{}} != {{}})"
                e.guard(e.op("eq", own[letter], length), "ValueError", text, own[letter], length)
            own[letter] = length
        for letter, length in own.items():
            known = lengths.get(letter)
            if known is None:
                lengths[letter] = length
            else:
                # An axis of length 1 is repeated, as elsewhere.
                one = is_one(e, known)
                fits = e.op("or", e.op("eq", length, known), e.op("or", one, is_one(e, length)))
                e.guard(fits, "ValueError", *_remapped(e, inputs, output, given))
                lengths[letter] = e.op("select", one, length, known)
    terms = [_diagonal(e, v, letters, lengths) for letters, v in zip(inputs, given)]
    while len(terms) > 1:
        (a, left), (b, right) = terms[0], terms[1]
        others = set(output).union(*(letters for _, letters in terms[2:]))
        terms[:2] = [_contracted(e, a, left, b, right, others)]
    value, letters = terms[0]
    made = _arranged(e, value, letters, output)
    return arrays.scalar_of(e, made) if isinstance(made, arrays.ARRAYS) and not output else made


def _by_axes(e: Evaluator, args: tuple[Abstract, ...]) -> tuple[str, tuple[Abstract, ...]]:
    """The other form of the arguments, each operand with a list of the numbers of its axes, in that of subscripts."""

    def axes_of(v: Abstract) -> tuple[Any, ...]:
        axes = constant(e, v, "the axes of np.einsum")
        if not isinstance(axes, tuple) or not all(
            axis is ... or isinstance(axis, int) and 0 <= axis < len(_LETTERS) for axis in axes
        ):
            e.throw("ValueError", "subscript is not within the valid range [0, 52)")
        return axes

    count = len(args) // 2 * 2
    return subscripts_of_axes([*map(axes_of, (*args[1:count:2], *args[count:]))], count // 2), args[0:count:2]


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def subscripts_of_axes(axes: Sequence[Sequence[Any]], operands: int) -> str:
    """Of the numbers of the axes of each operand, and of the result if they are given, the same as subscripts.

    >>> subscripts_of_axes([(0, ...), (0, 1), (1, 0)], 2)
    'A...,AB->BA'
    """
    texts = ["".join("..." if axis is ... else _LETTERS[axis] for axis in own) for own in axes]
    return "->".join([",".join(texts[:operands]), *texts[operands:]])


def parse_subscripts(text: str, ndims: list[int]) -> tuple[list[str], str]:
    """The letters of the operands and of the result, with capitals or further letters for the axes of an ellipsis.

    >>> parse_subscripts("ij,jk", [2, 2])
    (['ij', 'jk'], 'ik')
    >>> parse_subscripts("...i,i->...", [3, 1])
    (['ABi', 'i'], 'AB')
    """
    text = text.replace(" ", "")
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ndims):
        more = "more" if len(inputs) > len(ndims) else "fewer"  # as NumPy has it
        raise ValueError(f"{more} operands provided to einstein sum function than specified in the subscripts string")
    spare = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in text]
    most = 0
    for number, (letters, ndim) in enumerate(zip(inputs, ndims)):
        named = letters.replace("...", "")
        if not named.isalpha() and named:
            raise ValueError(f"invalid subscript in einstein sum subscripts string: {letters}")
        if "..." in letters:
            if ndim < len(named):
                raise ValueError(f"einstein sum subscripts string contains too many subscripts for operand {number}")
            most = max(most, ndim - len(named))
        elif ndim != len(named):
            few = "too many" if len(named) > ndim else "too few"
            raise ValueError(
                f"einstein sum subscripts string contains {few} subscripts for operand {number}"
                if few == "too many"
                else "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided "
                "to broadcast the extra dimensions."
            )
    dots = "".join(spare[:most])
    full = []
    for letters, ndim in zip(inputs, ndims):
        count = ndim - len(letters.replace("...", ""))
        full.append(letters.replace("...", dots[most - count :] if count else ""))
    if arrow:
        named = right.replace("...", "")
        for c in named:
            if not any(c in letters for letters in full):
                raise ValueError(
                    f"einstein sum subscripts string included output subscript '{c}' which never appeared in an input"
                )
            if named.count(c) > 1:
                raise ValueError(f"einstein sum subscripts string includes output subscript '{c}' multiple times")
        if most and "..." not in right:
            raise ValueError("output has more dimensions than subscripts given in einstein sum, but no '...' ellipsis "
                             "provided to broadcast the extra dimensions.")  # fmt: skip
        return full, right.replace("...", dots)
    all_letters = "".join(letters.replace("...", "") for letters in inputs)
    return full, dots + "".join(sorted(c for c in set(all_letters) if all_letters.count(c) == 1))


def _remapped(e: Evaluator, inputs: list[str], output: str, given: list[Abstract]) -> tuple[str, *tuple[Value, ...]]:
    """What NumPy says where lengths do not fit: the shapes of the operands, along the axes of the result and then those that are summed up."""
    axes = [*output, *sorted({c for own in inputs for c in own} - {*output})]
    text, values = "", []
    for own, v in zip(inputs, given):
        letters = list(dict.fromkeys(own))
        shape = [arrays.dims(e, v)[own.index(c)] for c in letters]
        places = [axis if axis in letters else "" for axis in axes]
        while places and not places[0]:
            del places[0]
        text += f"{shape_text(len(shape))}->({','.join('{}' if c else 'newaxis' for c in places)}"
        text += ",) " if len(axes) == 1 else ") "
        values += [*shape, *(shape[letters.index(c)] for c in places if c)]
    fault = "operands could not be broadcast together with remapped shapes [original->remapped]: "
    return fault + text, *values


def _diagonal(e: Evaluator, a: Abstract, letters: str, lengths: dict[str, Value]) -> tuple[Abstract, str]:
    """An array without repeated letters: of those the diagonal is seen."""
    unique = "".join(dict.fromkeys(letters))
    if unique == letters:
        return a, letters
    return arrays.permuted(e, a, [unique.index(c) for c in letters]), unique


def _summed(e: Evaluator, a: Abstract, letters: str, kept: set[str]) -> tuple[Abstract, str]:
    from .reductions import sum_

    gone = [k for k, c in enumerate(letters) if c not in kept]
    if not gone:
        return a, letters
    dtype = Known(arrays.numpy_dtype(arrays.element_type(a)))
    made = sum_(e, a, TupleValue(tuple(Known(k) for k in gone)) if len(gone) < len(letters) else NONE, dtype)
    rest = "".join(c for c in letters if c in kept)
    return made, rest


def _contracted(
    e: Evaluator, a: Abstract, left: str, b: Abstract, right: str, others: set[str]
) -> tuple[Abstract, str]:
    """The product of two operands, summed over the letters that they share and nobody else has."""
    from zyg.frontend.operators import binary

    a, left = _summed(e, a, left, others | set(right))
    b, right = _summed(e, b, right, others | set(left))
    if is_numeric(a) or is_numeric(b) or not left or not right:
        return binary(e, "mul", a, b), left + right
    batch = [c for c in left if c in right and c in others]
    inner = [c for c in left if c in right and c not in others]
    rows, columns = [c for c in left if c not in right], [c for c in right if c not in left]
    if not inner or not rows and not columns and (batch or len(inner) > 1):
        # Element by element: nothing is summed up, or each product stands in one sum only, which is then made in the same loop.
        letters = [*left, *columns] if inner else [*batch, *rows, *columns]
        x = _spread(e, a, left, letters)
        y = _spread(e, b, right, letters)
        return _summed(e, binary(e, "mul", x, y), "".join(letters), {*batch, *rows, *columns})
    for c in inner:
        i, j = left.index(c), right.index(c)
        mine, other = _length(e, a, i), _length(e, b, j)
        if not alike(e, mine, other):
            # An axis of length 1 is repeated: each product of it stands once in the sum of the others.
            a = e.call(known(_once), [a, Known(i), Number(other), _own_dtype(a)])
            b = e.call(known(_once), [b, Known(j), Number(mine), _own_dtype(b)])
    if len(batch) > 1:
        lengths = _lengths_of(e, ((a, left), (b, right)))
        a, b = (_as_long(e, v, own, batch, lengths) for v, own in ((a, left), (b, right)))
    x = _grouped(e, a, left, batch, rows, inner)
    y = _grouped(e, b, right, batch, inner, columns)
    made = e.call(known(matmul_arrays), [x, y])
    letters = [*batch, *rows, *columns]
    lengths = _lengths_of(e, ((a, left), (b, right)))
    shape = [lengths[c] for c in letters]
    from .shaping import reshape

    plain = len(rows) == 1 and len(columns) == 1 and len(batch) <= 1
    value = made if plain else reshape(e, made, TupleValue(tuple(map(Number, shape))))
    return (arrays.scalar_of(e, value) if not letters else value), "".join(letters)


def _own_dtype(a: Abstract) -> Abstract:
    return Known(arrays.numpy_dtype(arrays.element_type(a)))


def _once(a: Any, axis: int, other: int, dtype: Any) -> Any:
    """The factors of an axis that is summed up: their sum where the other operand has one for all of them."""
    return np.sum(a, axis, dtype, keepdims=True) if other == 1 and a.shape[axis] != 1 else a


def _as_long(e: Evaluator, a: Abstract, letters: str, batch: list[str], lengths: dict[str, Value]) -> Abstract:
    """An array repeated along axes of length 1 that are going to be put together with others."""
    shape = [lengths[c] if c in batch else d for c, d in zip(letters, arrays.dims(e, a))]
    if all(d is own or is_not_one(e, own) for d, own in zip(shape, arrays.dims(e, a))):
        return a
    return stretched(e, a, shape, writable=False)


def _lengths_of(e: Evaluator, terms: Any) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for v, letters in terms:
        for c, d in zip(letters, arrays.dims(e, v)):
            if c in found and found[c] is not d:
                d = e.op("select", is_one(e, found[c]), d, found[c])
            found[c] = d
    return found


def _grouped(e: Evaluator, a: Abstract, letters: str, *groups: list[str]) -> Abstract:
    """The axes put together by groups: batch, rows, columns; without a batch a matrix."""
    order = [letters.index(c) for group in groups for c in group]
    to = [order.index(k) for k in range(len(order))]
    seen = arrays.permuted(e, a, to) if order != [*range(len(order))] else a
    wanted = groups if groups[0] else groups[1:]
    if all(len(group) == 1 for group in wanted):
        return seen
    lengths = arrays.dims(e, seen)
    shape, at = [], 0
    for group in wanted:
        shape.append(_times(e, lengths[at : at + len(group)]))
        at += len(group)
    return _packed_as(e, seen, TupleValue(tuple(shape)))


def _spread(e: Evaluator, a: Abstract, letters: str, wanted: list[str]) -> Abstract:
    """The axes in the order wanted, with new ones of length 1 for those that are missing."""
    order = [letters.index(c) for c in wanted if c in letters]
    to = [order.index(k) for k in range(len(order))]
    seen = arrays.permuted(e, a, to) if order != [*range(len(order))] else a
    if len(letters) == len(wanted):
        return seen
    return arrays.seen(e, seen, "".join(":" if c in letters else "n" for c in wanted))


def _arranged(e: Evaluator, value: Abstract, letters: str, output: str) -> Abstract:
    value, letters = _summed(e, value, letters, set(output))
    if is_numeric(value) or letters == output:
        return value
    return arrays.permuted(e, value, [output.index(c) for c in letters])


# ------------------------------------------------------------------------------------- other products


@implements(np.trace, (np.ndarray, "trace"))
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


@implements(np.linalg.outer)
def linalg_outer(x1: Any, x2: Any, /) -> Any:
    x, y = np.asarray(x1), np.asarray(x2)
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={x.ndim} and x2.ndim={y.ndim}.")
    return np.outer(x, y)


@implements(np.linalg.diagonal)
def linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return np.diagonal(x, offset, -2, -1)


@implements(np.linalg.trace)
def linalg_trace(x: Any, /, *, offset: int = 0) -> Any:
    return np.sum(np.diagonal(x, offset, -2, -1), axis=-1)


@implements(np.kron)
def kron(a: Any, b: Any) -> Any:
    x, y = np.asarray(a), np.asarray(b)
    if x.ndim == 0 or y.ndim == 0:
        return np.multiply(x, y)
    if x.ndim == 1 and y.ndim == 1:
        return (x[:, None] * y[None, :]).reshape(len(x) * len(y))
    # An axis of each in turn: those of the result are pairs of them.
    ndim = max(x.ndim, y.ndim)
    lengths = (1,) * (ndim - x.ndim) + x.shape
    others = (1,) * (ndim - y.ndim) + y.shape
    axes = tuple(range(ndim))
    first, second = (), ()
    for k in axes:
        first, second = (*first, lengths[k], 1), (*second, 1, others[k])
    whole = x.reshape(first) * y.reshape(second)
    return whole.reshape(tuple([lengths[k] * others[k] for k in axes]))


@implements(np.cross)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    if axis is not None:
        return vector_product(a, b, axis, axis, axis)
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        raise ValueError("At least one array has zero dimension")
    return vector_product(a, b, axisa, axisb, axisc)


def vector_product(a: Any, b: Any, axisa: int, axisb: int, axisc: int) -> Any:
    x, y = np.moveaxis(np.asarray(a), axisa, -1), np.moveaxis(np.asarray(b), axisb, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError(
            f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {x.shape[-1]} and {y.shape[-1]} "
            "dimensional instead."
        )
    first = x[..., 1] * y[..., 2] - x[..., 2] * y[..., 1]
    second = x[..., 2] * y[..., 0] - x[..., 0] * y[..., 2]
    third = x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    if x.ndim == 1 and y.ndim == 1:
        return np.array([first, second, third])
    made = np.empty((*first.shape, 3), first.dtype)
    made[..., 0] = first
    made[..., 1] = second
    made[..., 2] = third
    return np.moveaxis(made, -1, axisc)


@implements(np.linalg.cross)
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return vector_product(x1, x2, axis, axis, axis)


@implements(np.vecdot, np.linalg.vecdot)
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    x, y = np.moveaxis(np.asarray(x1), axis, -1), np.moveaxis(np.asarray(x2), axis, -1)
    if x.ndim == 1 and y.ndim == 1:
        return np.vdot(x, y)
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(
            "vecdot: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n),(n)->() (size "
            f"{y.shape[-1]} is different from {x.shape[-1]})"
        )
    shape_of_products(x, y, (1, 1))
    made = np.conj(x) * y if is_complex(x) else x * y
    return np.sum(made, axis=-1, dtype=made.dtype)


@emits(np.linalg.multi_dot)
def multi_dot(e: Evaluator, arrays_: Abstract) -> Abstract:
    """In the order that needs the fewest multiplications for three; from the left for more, unless lengths tell."""
    items = lists.known_items(e, arrays_)
    if items is not None and len(items) < 2:
        e.throw("ValueError", "Expecting at least two arrays.")
    if items is None:
        raise e.refuse("np.linalg.multi_dot of this", types=[describe(arrays_, e.heap)], hint="pass a list of arrays")
    return of_one_type(e, "np.linalg.multi_dot", items, lambda given: _chain(e, given))


def _chain(e: Evaluator, given: list[Abstract]) -> Abstract:
    if len(given) == 2:
        return e.call(known(_product), given)
    if len(given) == 3:
        return e.call(known(three), given)
    value = given[0]
    for v in given[1:]:
        value = e.call(known(_product), [value, v])
    return value


def three(a: Any, b: Any, c: Any) -> Any:
    if a.ndim == 1 or c.ndim == 1:
        return matmul_arrays(matmul_arrays(a, b), c) if a.ndim == 1 else matmul_arrays(a, matmul_arrays(b, c))
    rows, columns = a.shape[0], c.shape[1]
    k, l = b.shape
    if rows * l * (k + columns) < k * columns * (l + rows):
        return matmul_arrays(matmul_arrays(a, b), c)
    return matmul_arrays(a, matmul_arrays(b, c))
