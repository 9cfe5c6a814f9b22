"""NumPy's functions that multiply vectors and matrices: which product it is, by the numbers of dimensions, and its errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays
from zyg.frontend.merging import settled
from zyg.frontend.operators import binary
from zyg.frontend.selection import contiguous
from zyg.frontend.sized import joint, of_lengths
from zyg.frontend.values import Abstract, ArrayValue, Known, describe, is_numeric, known
from zyg.ir.types import BOOL, F64

from ..intrinsics import unsupported
from ..registry import emits
from .common import put_into_alike
from .layouts import is_complex, packed, swapped
from .multiplying import dot_complex, dot_vectors, matvec, product, stacked
from .ufuncs import as_arrays, strong

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE = Known(None)
CORE = "matmul: Input operand {} has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) (size "
MATMUL_CORE = CORE.format(1)


# ------------------------------------------------------------------------------------------------ entries


@emits(np.linalg.matmul)
def linalg_matmul(e: Evaluator, x1: Abstract, x2: Abstract) -> Abstract:
    return matmul(e, x1, x2)


@emits(np.matmul)
def matmul(e: Evaluator, x1: Abstract, x2: Abstract, out: Abstract = NONE) -> Abstract:
    a, b = settled(e, x1, "None is no array"), settled(e, x2, "None is no array")
    for n, v in enumerate((a, b)):
        if is_numeric(v) or isinstance(v, arrays.ARRAYS) and arrays.ndim(v) == 0:
            e.throw("ValueError", f"matmul: Input operand {n} does not have enough dimensions (has 0, gufunc core with "
                    "signature (n?,k),(k,m?)->(n?,m?) requires 1)")  # fmt: skip
    made = of_one_type(e, "np.matmul", [a, b], partial(_multiplied, e))
    if isinstance(out, Known) and out.object in (None, Ellipsis):
        return made if out.object is None else as_arrays(e, made)
    return e.call(known(matmul_into), [made, out])


def _multiplied(e: Evaluator, given: list[Abstract]) -> Abstract:
    x, y = (arrays.dims(e, v) for v in given)
    function = _of_dimensions(*given)
    if function is not matmul_arrays:
        e.guard(e.op("eq", x[1], y[0]), "ValueError", f"{MATMUL_CORE}{{}} is different from {{}})", y[0], x[1])
        if all(arrays.element_type(v) is F64 for v in given):
            # Kernels take doubles that lie in any way: with one rule for all of them there is less to compile.
            given = [arrays.general(e, v) for v in given]
    made = e.call(known(function), given)
    stacks = (x[:-2], y[:-2])
    most = max(map(len, stacks))
    lengths = [joint(e, [s[axis - most + len(s)] for s in stacks if axis >= most - len(s)]) for axis in range(most)]
    return of_lengths(e, made, [*lengths, *x[-2:-1], *(y[-1:] if len(y) > 1 else [])])


def _of_dimensions(a: Abstract, b: Abstract) -> Any:
    """What multiplies such arrays; for the most usual ones, real matrices on the left, what only multiplies."""
    if isinstance(a, ArrayValue) and isinstance(b, ArrayValue) and arrays.ndim(a) == 2 and arrays.ndim(b) <= 2:
        return product if arrays.ndim(b) == 2 else matvec
    return matmul_arrays


def matmul_into(made: Any, out: Any) -> Any:
    if np.ndim(made) != out.ndim:
        unsupported(
            "np.matmul(out=...) of other dimensions than the result, in native code", "assign it: out[...] = ..."
        )
    return put_into_alike(made, out, "np.matmul", "matmul: Output operand 0 has a mismatch in its core dimension")


@emits((np.ndarray, "dot"), np.dot)
def dot(e: Evaluator, a: Abstract, b: Abstract, out: Abstract = NONE) -> Abstract:
    made = _product(e, "np.dot", a, b, dot_arrays)
    if isinstance(out, Known) and out.object is None:
        return made
    message = "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
    if isinstance(out, arrays.ARRAYS):
        e.guard(arrays.is_contiguous(e, out), "ValueError", message)
    return e.call(known(put_into_alike), [made, out, Known("np.dot"), Known(message)])


@emits(np.inner)
def inner(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    return _product(e, "np.inner", a, b, inner_arrays)


@emits(np.vdot)
def vdot(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    """The first argument conjugated, if it is complex."""
    return _product(e, "np.vdot", a, b, vdot_arrays)


@emits(np.outer)
def outer(e: Evaluator, a: Abstract, b: Abstract, out: Abstract = NONE) -> Abstract:
    from .constructors import asarray
    from .reductions import delivered_elements

    a, b = (asarray(e, v) if is_numeric(v) else v for v in (a, b))
    return delivered_elements(e, _product(e, "np.outer", a, b, outer_arrays), out, "multiply")


def _product(e: Evaluator, name: str, a: Abstract, b: Abstract, function: Any) -> Abstract:
    """A product in which numbers, and arrays of no dimensions, multiply."""
    a, b = settled(e, a, "None is no array"), settled(e, b, "None is no array")
    if (is_numeric(a) or isinstance(a, arrays.ARRAYS)) and (is_numeric(b) or isinstance(b, arrays.ARRAYS)):
        flat = [is_numeric(v) or arrays.ndim(v) == 0 for v in (a, b)]
        if any(flat) and function not in (outer_arrays, vdot_arrays):
            x, y = (strong(e, v) if is_numeric(v) else v for v in (a, b))  # arrays of no dimensions, to NumPy
            made = binary(e, "mul", x, y)
            return contiguous(e, made) if isinstance(made, arrays.ARRAYS) else made
    return of_one_type(e, name, [a, b], lambda given: e.call(known(function), given))


def of_one_type(
    e: Evaluator, name: str, given: Sequence[Abstract], function: Callable[[list[Abstract]], Abstract]
) -> Abstract:
    """A sum of products of arrays: of what NumPy converts them to. Of bools it is whether there is a product: they are counted."""
    made = operands(e, name, *given)
    if any(arrays.element_type(v) is not BOOL for v in made):
        return function(made)
    from .constructors import asarray

    counts = function([asarray(e, v, Known(np.dtype(float))) for v in made])
    return e.call(known(np.not_equal), [counts, Known(0.0)])


def operands(e: Evaluator, name: str, *given: Abstract) -> list[Abstract]:
    """Arrays of one element type, that of the product: what NumPy converts them to."""
    from .constructors import asarray

    made = [v if isinstance(v, arrays.ARRAYS) else asarray(e, v) for v in given]
    for v in made:
        if not isinstance(v, arrays.ARRAYS):
            raise e.refuse(f"{name} of this", types=[describe(v, e.heap)], hint="pass arrays")
    types = [*map(arrays.element_type, made)]
    common = np.result_type(*map(arrays.numpy_dtype, types))
    result: list[Abstract] = []
    for v, scalar in zip(made, types):
        result.append(v if arrays.numpy_dtype(scalar) == common else asarray(e, v, Known(common)))
    return result


# ------------------------------------------------------------------------------------ products by dimensions


def matmul_arrays(a: Any, b: Any) -> Any:
    k = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != k:
        raise ValueError(f"{MATMUL_CORE}{k} is different from {a.shape[-1]})")
    if is_complex(a):
        if a.ndim == 1 and b.ndim == 1:
            return dot_complex(a, b, False)
        return complex_product(matmul_arrays, a, b)
    if b.ndim == 1:
        return dot_vectors(a, b) if a.ndim == 1 else stacked(a, b[:, None])[..., 0] if a.ndim > 2 else matvec(a, b)
    if a.ndim == 1:
        return matvec(swapped(b), a) if b.ndim == 2 else stacked(a[None, :], b)[..., 0, :]
    return product(a, b) if a.ndim == 2 and b.ndim == 2 else stacked(a, b)


def dot_arrays(a: Any, b: Any) -> Any:
    if b.ndim == 1:
        _check_aligned(a, b, 0)
    else:
        _check_aligned(a, b, b.ndim - 2)
    if is_complex(a):
        if a.ndim == 1 and b.ndim == 1:
            return dot_complex(a, b, False)
        return complex_product(dot_arrays, a, b)
    if a.ndim == 1 and b.ndim == 1:
        return dot_vectors(a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul_arrays(a, b)
    if b.ndim == 1:
        return matmul_arrays(a, b)
    rows = np.ascontiguousarray(a).reshape(count_of(a.shape[:-1]), a.shape[-1])
    columns = np.moveaxis(b, -2, 0).copy().reshape(b.shape[-2], count_of(b.shape[:-2] + b.shape[-1:]))
    return product(rows, columns).reshape(a.shape[:-1] + b.shape[:-2] + b.shape[-1:])


def inner_arrays(a: Any, b: Any) -> Any:
    _check_aligned(a, b, b.ndim - 1)
    if is_complex(a):
        if a.ndim == 1 and b.ndim == 1:
            return dot_complex(a, b, False)
        return complex_product(inner_arrays, a, b)
    if a.ndim == 1 and b.ndim == 1:
        return dot_vectors(a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul_arrays(a, b if b.ndim == 1 else swapped(b))
    rows = np.ascontiguousarray(a).reshape(count_of(a.shape[:-1]), a.shape[-1])
    others = np.ascontiguousarray(b).reshape(count_of(b.shape[:-1]), b.shape[-1])
    return product(rows, swapped(others)).reshape(a.shape[:-1] + b.shape[:-1])


def count_of(lengths: Any) -> int:
    count = 1
    for length in lengths:
        count *= length
    return count


def _shape_text(shape: Any) -> str:
    if len(shape) == 0:
        return "()"
    if len(shape) == 1:
        return f"({shape[0]},)"
    if len(shape) == 2:
        return f"({shape[0]},{shape[1]})"
    if len(shape) == 3:
        return f"({shape[0]},{shape[1]},{shape[2]})"
    return f"({shape[0]},{shape[1]},{shape[2]},...)"


def _check_aligned(a: Any, b: Any, axis: int) -> None:
    if a.shape[-1] != b.shape[axis]:
        raise ValueError(
            f"shapes {_shape_text(a.shape)} and {_shape_text(b.shape)} not aligned: "
            f"{a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[axis]} (dim {axis})"
        )


def vdot_arrays(a: Any, b: Any) -> Any:
    x, y = a.ravel(), b.ravel()
    if len(x) != len(y):
        raise ValueError(f"cannot reshape array of size {len(y)} into shape ({len(x)},)")
    return dot_complex(x, y, True) if is_complex(a) else dot_vectors(x, y)


def outer_arrays(a: Any, b: Any) -> Any:
    x, y = a.ravel(), b.ravel()
    return x[:, None] * y[None, :]


def complex_product(function: Any, a: Any, b: Any) -> Any:
    """The product of arrays of complex numbers by those of their parts, which are copied, so that BLAS takes them, and their
    cotangents, as they are."""
    p, q, r, s = packed(a.real), packed(a.imag), packed(b.real), packed(b.imag)
    re = function(p, r) - function(q, s)
    im = function(p, s) + function(q, r)
    return re + 1j * im
