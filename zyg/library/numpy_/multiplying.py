"""Products of two vectors, matrices, or stacks of matrices, and sums of such products, with their rules.

Small ones are loops, larger ones are calls of BLAS, which takes transposed matrices as they are; those of doubles are kernels.  The rules
add straight to the arrays that gather the cotangents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend.functions import shared, unchecked
from zyg.frontend.values import Abstract, ArrayValue, Known
from zyg.ir.types import F64
from zyg.rules import adjoint, tangent

from .. import blas, kernels
from ..registry import emits, implements
from .layouts import general, is_packed, packed, stack_shape, step, swapped

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

# Multiplications up to which loops are faster than a call of BLAS: of matrices, of a matrix and a vector, of vectors.
SMALL, THIN, SHORT = 216, 64, 24
PLAIN, TRANSPOSED = blas.PLAIN, blas.TRANSPOSED


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


def dot_complex(a: Any, b: Any, conjugates: bool) -> Any:
    """sum(a * b), or sum(conj(a) * b), of vectors of complex numbers."""
    return np.vdot(a, b) if conjugates else np.dot(a, b)


@implements(dot_complex)
@unchecked
def _dot_complex(a: Any, b: Any, conjugates: bool) -> Any:
    """By BLAS as a matrix of one column times a vector: how a function in Fortran gives a complex number is not settled."""
    n = len(a)
    if blas.AVAILABLE and n > SHORT:
        return many_dot_complex(packed_or_copied(a), packed_or_copied(b), conjugates)
    re, im, sign = 0.0, 0.0, -1.0 if conjugates else 1.0
    for i in range(n):
        x, y = a[i].real, sign * a[i].imag
        re += x * b[i].real - y * b[i].imag
        im += x * b[i].imag + y * b[i].real
    return np.complex128(complex(re, im))


def packed_or_copied(a: Any) -> Any:
    return a if is_packed(a) else packed(a)


@shared
@unchecked
def many_dot_complex(a: Any, b: Any, conjugates: bool) -> Any:
    n = len(a)
    one, zero, made = np.ones(1, a.dtype), np.zeros(1, a.dtype), np.empty(1, a.dtype)
    blas.gemv_complex(blas.CONJUGATED if conjugates else TRANSPOSED, n, 1, one, a, n, b, 1, zero, made, 1)
    return made[0]


@adjoint(dot_complex)
def _dot_complex_rule(a: Any, b: Any, conjugates: bool) -> Any:
    def back(d: Any) -> Any:
        if conjugates:
            return np.conj(d) * b, d * a, None
        return d * np.conj(b), d * np.conj(a), None

    return dot_complex(a, b, conjugates), back


@tangent(dot_complex)
def _dot_complex_tangent(a: Any, b: Any, conjugates: bool) -> Any:
    def push(da: Any, db: Any, _: Any) -> Any:
        return dot_complex(da, b, conjugates) + dot_complex(a, db, conjugates)

    return dot_complex(a, b, conjugates), push


# ------------------------------------------------------------------------------------- matrix and vector


@unchecked
def matvec(a: Any, x: Any) -> Any:
    y = np.empty(a.shape[0], a.dtype)
    matvec_into(y, a, x, False)
    return y


def add_matvec(c: Any, a: Any, x: Any) -> None:
    """c += a @ x"""
    matvec_into(c, a, x, True)


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


# ------------------------------------------------------------------------------------------- two matrices


@unchecked
def product(a: Any, b: Any) -> Any:
    c = np.empty((a.shape[0], b.shape[1]), a.dtype)
    product_into(c, a, b, False)
    return c


def add_product(c: Any, a: Any, b: Any) -> None:
    """c += a @ b"""
    product_into(c, a, b, True)


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


def add_stacked(c: Any, a: Any, b: Any) -> None:
    """c += a @ b, summed over the axes that c has not."""
    c += np.matmul(a, b).reshape(-1, *c.shape).sum(0)


@implements(add_stacked)
def _add_stacked(c: Any, a: Any, b: Any) -> None:
    add_or_put_stacked(c, a, b, True)


# -------------------------------------------------------------------------------------------------- rules


def rules_of(multiply: Callable[..., Any], add: Callable[..., Any], to_left: Any, to_right: Any) -> None:
    """The rules of what multiplies two arrays, multiply(a, b), and of what adds the product to a third one, add(c, a, b): these are linear
    in either. With the cotangent d of the product, to_left(da, d, b) and to_right(db, a, d) add to those of a and b."""

    @adjoint(multiply)
    def multiplied_back(a: Any, b: Any) -> Any:
        return multiply(a, b), lambda d: (lambda da: to_left(da, d, b), lambda db: to_right(db, a, d))

    @tangent(multiply)
    def multiplied_along(a: Any, b: Any) -> Any:
        def push(da: Any, db: Any) -> Any:
            made = multiply(da, b)
            add(made, a, db)
            return made

        return multiply(a, b), push

    rules_of_adding(add, to_left, to_right)


def rules_of_adding(add: Callable[..., Any], to_left: Any, to_right: Any) -> None:
    @adjoint(add, mutates="c")
    def added_back(c: Any, a: Any, b: Any) -> Any:
        add(c, a, b)
        return None, lambda _, d: (d, lambda da: to_left(da, d, b), lambda db: to_right(db, a, d))

    @tangent(add, mutates="c")
    def added_along(c: Any, a: Any, b: Any) -> Any:
        add(c, a, b)

        def push(dc: Any, da: Any, db: Any) -> Any:
            made = dc.copy()
            add(made, da, b)
            add(made, a, db)
            return None, made

        return None, push


rules_of(matvec, add_matvec, add_outer, lambda dx, a, d: add_matvec(dx, swapped(a), d))
rules_of_adding(add_outer, add_matvec, lambda dy, x, d: add_matvec(dy, swapped(d), x))
rules_of(
    product, add_product,
    lambda da, d, b: add_product(da, d, swapped(b)), lambda db, a, d: add_product(db, swapped(a), d),
)  # fmt: skip
rules_of(
    stacked, add_stacked,
    lambda da, d, b: add_stacked(da, d, swapped(b)), lambda db, a, d: add_stacked(db, swapped(a), d),
)  # fmt: skip


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
