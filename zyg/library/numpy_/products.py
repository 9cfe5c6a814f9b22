"""Products of vectors and matrices.

Each kind of product is a Python function of its own, with its rules: small ones are loops, larger ones are calls of BLAS,
which takes transposed matrices as they are.  The rules add straight to the arrays that gather the cotangents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays
from zyg.frontend.functions import shared, unchecked
from zyg.frontend.merging import settled
from zyg.frontend.operators import binary
from zyg.frontend.selection import contiguous
from zyg.frontend.values import Abstract, ArrayValue, Known, describe, is_numeric, known
from zyg.ir.types import BOOL, F64
from zyg.rules import adjoint, tangent

from .. import blas, kernels
from ..intrinsics import unsupported
from ..registry import emits, implements
from .common import put_into_alike
from .layouts import general, is_complex, is_packed, packed, stack_shape, step, swapped
from .ufuncs import as_arrays, strong

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

# Multiplications up to which loops are faster than a call of BLAS: of matrices, of a matrix and a vector, of vectors.
SMALL, THIN, SHORT = 216, 64, 24
NONE = Known(None)
PLAIN, TRANSPOSED = blas.PLAIN, blas.TRANSPOSED
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
    made = of_one_type(e, "np.matmul", [a, b], lambda given: e.call(known(_of_dimensions(*given)), given))
    if isinstance(out, Known) and out.object in (None, Ellipsis):
        return made if out.object is None else as_arrays(e, made)
    return e.call(known(matmul_into), [made, out])


def _of_dimensions(a: Abstract, b: Abstract) -> Any:
    """What multiplies such arrays; for the most usual ones a function that has nothing to choose."""
    if isinstance(a, ArrayValue) and isinstance(b, ArrayValue) and arrays.ndim(a) == 2 and arrays.ndim(b) <= 2:
        return matmul_matrices if arrays.ndim(b) == 2 else matmul_vector
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
    from .reductions import delivered

    a, b = (asarray(e, v) if is_numeric(v) else v for v in (a, b))
    return delivered(e, _product(e, "np.outer", a, b, outer_arrays), out, "multiply")


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
        return complex_product(matmul_arrays, a, b)
    if b.ndim == 1:
        return dot_vectors(a, b) if a.ndim == 1 else stacked(a, b[:, None])[..., 0] if a.ndim > 2 else matvec(a, b)
    if a.ndim == 1:
        return matvec(swapped(b), a) if b.ndim == 2 else stacked(a[None, :], b)[..., 0, :]
    return product(a, b) if a.ndim == 2 and b.ndim == 2 else stacked(a, b)


def matmul_matrices(a: Any, b: Any) -> Any:
    """The same of two real matrices."""
    k = b.shape[0]
    if a.shape[1] != k:
        raise ValueError(f"{MATMUL_CORE}{k} is different from {a.shape[1]})")
    return product(a, b)


def matmul_vector(a: Any, b: Any) -> Any:
    """The same of a real matrix and a vector."""
    k = len(b)
    if a.shape[1] != k:
        raise ValueError(f"{MATMUL_CORE}{k} is different from {a.shape[1]})")
    return matvec(a, b)


def dot_arrays(a: Any, b: Any) -> Any:
    if b.ndim == 1:
        _check_aligned(a, b, 0)
    else:
        _check_aligned(a, b, b.ndim - 2)
    if is_complex(a):
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
    return dot_arrays(np.conj(x), y) if is_complex(a) else dot_vectors(x, y)


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


# -------------------------------------------------------------------------------------------- two vectors


@unchecked
def dot_vectors(a: Any, b: Any) -> Any:
    """(Tangents of integers are floats: one of the two may be of another type.)"""
    n = len(a)
    if by_blas(a) and a.dtype == b.dtype and n > SHORT:
        x, y = vector(a), vector(b)
        return a.dtype.type(blas.dot(n, x, step(x, 0), y, step(y, 0)))
    total = a.dtype.type(0) * b.dtype.type(0)
    for i in range(n):
        total += a[i] * b[i]
    return total


@adjoint(dot_vectors)
def _dot_vectors_rule(a: Any, b: Any) -> Any:
    def back(d: Any) -> Any:
        return lambda da: add_scaled(da, d, b), lambda db: add_scaled(db, d, a)

    return dot_vectors(a, b), back


@tangent(dot_vectors)
def _dot_vectors_tangent(a: Any, b: Any) -> Any:
    return dot_vectors(a, b), lambda da, db: dot_vectors(da, b) + dot_vectors(a, db)


@unchecked
def add_scaled(y: Any, s: Any, x: Any) -> None:
    """y += s * x"""
    for i in range(len(y)):
        y[i] += s * x[i]


# ------------------------------------------------------------------------------------- matrix and vector


@unchecked
def matvec(a: Any, x: Any) -> Any:
    y = np.empty(a.shape[0], a.dtype)
    matvec_into(y, a, x, False)
    return y


@adjoint(matvec)
def _matvec_rule(a: Any, x: Any) -> Any:
    def back(d: Any) -> Any:
        return lambda da: add_outer(da, d, x), lambda dx: add_matvec(dx, swapped(a), d)

    return matvec(a, x), back


@tangent(matvec)
def _matvec_tangent(a: Any, x: Any) -> Any:
    def push(da: Any, dx: Any) -> Any:
        dy = matvec(da, x)
        add_matvec(dy, a, dx)
        return dy

    return matvec(a, x), push


def add_matvec(y: Any, a: Any, x: Any) -> None:
    """y += a @ x"""
    matvec_into(y, a, x, True)


@adjoint(add_matvec, mutates="y")
def _add_matvec_rule(y: Any, a: Any, x: Any) -> Any:
    add_matvec(y, a, x)

    def back(_: Any, d: Any) -> Any:
        return d, lambda da: add_outer(da, d, x), lambda dx: add_matvec(dx, swapped(a), d)

    return None, back


@tangent(add_matvec, mutates="y")
def _add_matvec_tangent(y: Any, a: Any, x: Any) -> Any:
    add_matvec(y, a, x)

    def push(dy: Any, da: Any, dx: Any) -> Any:
        made = dy.copy()
        add_matvec(made, da, x)
        add_matvec(made, a, dx)
        return None, made

    return None, push


@unchecked
def matvec_into(y: Any, a: Any, x: Any, adds: bool) -> None:
    """y = a @ x, or y += a @ x. `y` lies apart from the others."""
    if blas.AVAILABLE and are_doubles(y, a, x):
        doubles_into(general(y), general(a), general(x), adds)
    else:
        elements_into(y, a, x, adds)


@shared
@unchecked
def doubles_into(y: Any, a: Any, x: Any, adds: bool) -> None:
    """The same of doubles, once in a module for all layouts."""
    n, k = a.shape
    a0, a1 = a.strides
    kernels.matvec(n, k, a, a0, a1, x, x.strides[0], y, y.strides[0], 1 if adds else 0)


@shared
@unchecked
def elements_into(y: Any, a: Any, x: Any, adds: bool) -> None:
    """The same of other numbers."""
    n, k = a.shape
    if by_blas(y) and a.dtype == y.dtype and x.dtype == y.dtype and n * k > THIN and step(y, 0) > 0:
        m, v = matrix(a), vector(x)
        beta = 1.0 if adds else 0.0
        if by_rows(m):
            blas.gemv(TRANSPOSED, k, n, 1.0, m, leading(m, 0), v, step(v, 0), beta, y, step(y, 0))
        else:
            blas.gemv(PLAIN, n, k, 1.0, m, leading(m, 1), v, step(v, 0), beta, y, step(y, 0))
        return
    for i in range(n):
        total = y.dtype.type(0)
        for j in range(k):
            total += a[i, j] * x[j]
        if adds:
            y[i] += total
        else:
            y[i] = total


@unchecked
def add_outer(c: Any, x: Any, y: Any) -> None:
    """c += outer(x, y). `c` lies apart from the others."""
    if are_doubles(c, x, y):
        c0, c1 = c.strides
        kernels.add_outer(len(x), len(y), c, c0, c1, x, x.strides[0], y, y.strides[0])
        return
    for i in range(len(x)):
        for j in range(len(y)):
            c[i, j] += x[i] * y[j]


@adjoint(add_outer, mutates="c")
def _add_outer_rule(c: Any, x: Any, y: Any) -> Any:
    add_outer(c, x, y)

    def back(_: Any, d: Any) -> Any:
        return d, lambda dx: add_matvec(dx, d, y), lambda dy: add_matvec(dy, swapped(d), x)

    return None, back


@tangent(add_outer, mutates="c")
def _add_outer_tangent(c: Any, x: Any, y: Any) -> Any:
    add_outer(c, x, y)

    def push(dc: Any, dx: Any, dy: Any) -> Any:
        made = dc.copy()
        add_outer(made, dx, y)
        add_outer(made, x, dy)
        return None, made

    return None, push


# ------------------------------------------------------------------------------------------- two matrices


@unchecked
def product(a: Any, b: Any) -> Any:
    c = np.empty((a.shape[0], b.shape[1]), a.dtype)
    product_into(c, a, b, False)
    return c


@adjoint(product)
def _product_rule(a: Any, b: Any) -> Any:
    def back(d: Any) -> Any:
        return lambda da: add_product(da, d, swapped(b)), lambda db: add_product(db, swapped(a), d)

    return product(a, b), back


@tangent(product)
def _product_tangent(a: Any, b: Any) -> Any:
    def push(da: Any, db: Any) -> Any:
        dc = product(da, b)
        add_product(dc, a, db)
        return dc

    return product(a, b), push


def add_product(c: Any, a: Any, b: Any) -> None:
    """c += a @ b"""
    product_into(c, a, b, True)


@adjoint(add_product, mutates="c")
def _add_product_rule(c: Any, a: Any, b: Any) -> Any:
    add_product(c, a, b)

    def back(_: Any, d: Any) -> Any:
        return d, lambda da: add_product(da, d, swapped(b)), lambda db: add_product(db, swapped(a), d)

    return None, back


@tangent(add_product, mutates="c")
def _add_product_tangent(c: Any, a: Any, b: Any) -> Any:
    add_product(c, a, b)

    def push(dc: Any, da: Any, db: Any) -> Any:
        made = dc.copy()
        add_product(made, da, b)
        add_product(made, a, db)
        return None, made

    return None, push


@unchecked
def product_into(c: Any, a: Any, b: Any, adds: bool) -> None:
    """c = a @ b, or c += a @ b. `c` lies apart from the others."""
    if are_doubles(c, a, b):
        rows_into(general(c), general(a), general(b), adds)
        return
    if not is_packed(c) and by_columns(c):  # a transposed matrix, say its shadow: what is asked for is c.T = b.T @ a.T
        c, a, b = swapped(c), swapped(b), swapped(a)
    if is_packed(c):
        rows_into(c, a, b, adds)
    else:
        rows_into(general(c), general(a), general(b), adds)


@shared
@unchecked
def rows_into(c: Any, a: Any, b: Any, adds: bool) -> None:
    """The same: of doubles, once in a module for all layouts."""
    n, k = a.shape
    m = b.shape[1]
    if are_doubles(c, a, b):
        (a0, a1), (b0, b1), (c0, c1) = a.strides, b.strides, c.strides
        kernels.matmul(n, m, k, a, a0, a1, b, b0, b1, c, c0, c1, 1 if adds else 0)
        return
    if by_blas(c) and a.dtype == c.dtype and b.dtype == c.dtype and n * m * k > SMALL and by_rows(c):
        many_rows_into(general(c), general(a), general(b), adds)
        return
    zero = c.dtype.type(0)
    tiles = m // 4
    for i in range(n):
        for tile in range(tiles):  # sums of their own: each product does not wait for the one before
            j = 4 * tile
            t, u, v, w = zero, zero, zero, zero
            for l in range(k):
                factor = a[i, l]
                t += factor * b[l, j]
                u += factor * b[l, j + 1]
                v += factor * b[l, j + 2]
                w += factor * b[l, j + 3]
            put(c, i, j, t, adds)
            put(c, i, j + 1, u, adds)
            put(c, i, j + 2, v, adds)
            put(c, i, j + 3, w, adds)
        for rest in range(m % 4):
            total = zero
            for l in range(k):
                total += a[i, l] * b[l, 4 * tiles + rest]
            put(c, i, 4 * tiles + rest, total, adds)


@shared
@unchecked
def many_rows_into(c: Any, a: Any, b: Any, adds: bool) -> None:
    """The same by BLAS, where the elements of a row of `c` lie together: once in a module, for all layouts."""
    n, k = a.shape
    m = b.shape[1]
    x, y = matrix(a), matrix(b)
    # What are rows to us are columns to BLAS: it is asked for the transposed of c, which is b.T @ a.T.
    first, from_y = (PLAIN, leading(y, 0)) if by_rows(y) else (TRANSPOSED, leading(y, 1))
    second, from_x = (PLAIN, leading(x, 0)) if by_rows(x) else (TRANSPOSED, leading(x, 1))
    blas.gemm(first, second, m, n, k, 1.0, y, from_y, x, from_x, 1.0 if adds else 0.0, c, leading(c, 0))


@unchecked
def put(c: Any, i: int, j: int, x: Any, adds: bool) -> None:
    if adds:
        c[i, j] += x
    else:
        c[i, j] = x


# ------------------------------------------------------------------------------------- stacks of matrices


@unchecked
def stacked(a: Any, b: Any) -> Any:
    """a @ b of stacks of matrices, which are broadcast against each other."""
    c = np.empty((*stack_shape(a, b), a.shape[-2], b.shape[-1]), a.dtype)
    add_or_put_stacked(c, a, b, False)
    return c


@unchecked
def add_or_put_stacked(c: Any, a: Any, b: Any, adds: bool) -> None:
    """`stacked_into`, of doubles once in a module for all layouts."""
    if are_doubles(c, a, b):
        stacked_into(general(c), general(a), general(b), adds)
    else:
        stacked_into(c, a, b, adds)


@shared
@unchecked
def stacked_into(c: Any, a: Any, b: Any, adds: bool) -> None:
    """c = a @ b, or c += a @ b, where c may have axes that the others have not, or the others axes that are summed up."""
    if c.ndim == 2 and a.ndim == 2 and b.ndim == 2:
        product_into(c, a, b, adds)
        return
    ndim = max(c.ndim, a.ndim, b.ndim)
    n = max(_extent(c, ndim), _extent(a, ndim), _extent(b, ndim))
    if _extent(a, ndim) == 0 or _extent(b, ndim) == 0:
        n = 0
    for i in range(n):
        stacked_into(_at(c, ndim, i), _at(a, ndim, i), _at(b, ndim, i), adds)


def _extent(x: Any, ndim: int) -> int:
    """The length of the first of `ndim` axes."""
    return x.shape[0] if x.ndim == ndim else 1


@unchecked
def _at(x: Any, ndim: int, i: int) -> Any:
    """x[i] where x has the first of `ndim` axes, and more than one element along it."""
    if x.ndim < ndim:
        return x
    return x[i if x.shape[0] > 1 else 0]


@adjoint(stacked)
def _stacked_rule(a: Any, b: Any) -> Any:
    def back(d: Any) -> Any:
        return lambda da: add_stacked(da, d, swapped(b)), lambda db: add_stacked(db, swapped(a), d)

    return stacked(a, b), back


@tangent(stacked)
def _stacked_tangent(a: Any, b: Any) -> Any:
    def push(da: Any, db: Any) -> Any:
        dc = stacked(da, b)
        add_stacked(dc, a, db)
        return dc

    return stacked(a, b), push


def add_stacked(c: Any, a: Any, b: Any) -> None:
    """c += a @ b, summed over the axes that c has not."""
    c += np.matmul(a, b).reshape(-1, *c.shape).sum(0)


@implements(add_stacked)
def _add_stacked(c: Any, a: Any, b: Any) -> None:
    add_or_put_stacked(c, a, b, True)


@adjoint(add_stacked, mutates="c")
def _add_stacked_rule(c: Any, a: Any, b: Any) -> Any:
    add_stacked(c, a, b)

    def back(_: Any, d: Any) -> Any:
        return d, lambda da: add_stacked(da, d, swapped(b)), lambda db: add_stacked(db, swapped(a), d)

    return None, back


@tangent(add_stacked, mutates="c")
def _add_stacked_tangent(c: Any, a: Any, b: Any) -> Any:
    add_stacked(c, a, b)

    def push(dc: Any, da: Any, db: Any) -> Any:
        made = dc.copy()
        add_stacked(made, da, b)
        add_stacked(made, a, db)
        return None, made

    return None, push


# -------------------------------------------------------------------------------------------- for BLAS


def by_blas(a: Any) -> bool:
    """Whether BLAS has functions for arrays of this type."""
    return blas.AVAILABLE and (a.dtype == np.float64 or a.dtype == np.float32)


def are_doubles(a: Any, b: Any, c: Any) -> bool:
    return a.dtype == np.float64 and b.dtype == np.float64 and c.dtype == np.float64


@emits(are_doubles)
def _are_doubles(e: Evaluator, *given: Abstract) -> Abstract:
    return Known(all(isinstance(v, ArrayValue) and v.type.dtype is F64 for v in given))


def vector(x: Any) -> Any:
    """A vector whose elements lie in whole steps forward."""
    if is_packed(x):
        return x
    return general(x) if step(x, 0) > 0 else copied(x)


def matrix(a: Any) -> Any:
    """A matrix whose rows, or columns, lie together."""
    if is_packed(a):
        return a
    return general(a) if by_rows(a) or by_columns(a) else copied(a)


@shared
@unchecked
def copied(a: Any) -> Any:
    """A copy of what is in no order that BLAS takes: rarely needed, so it is not written out where it is."""
    return general(packed(a))


def by_rows(a: Any) -> bool:
    """Whether the elements of a row lie together, and the rows apart."""
    if is_packed(a):
        return True
    return (step(a, 1) == 1 or a.shape[1] == 1) and (step(a, 0) >= a.shape[1] or a.shape[0] == 1)


def by_columns(a: Any) -> bool:
    return by_rows(swapped(a))


def leading(a: Any, axis: int) -> int:
    """From one row to the next (axis 0), or from one column to the next (axis 1), in elements, as BLAS asks for it: not less
    than there are in one of them, even if there is only one."""
    least = max(1, a.shape[1 - axis])
    return max(step(a, axis), least)
