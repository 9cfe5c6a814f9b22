"""numpy.linalg: systems of equations, inverses, determinants, Cholesky's factorisation, powers.

Derivatives come by the rules of what these are made of (triangular.py).  The references there and here:

* M. B. Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
  differentiation" (2008)
* I. Murray, "Differentiation of the Cholesky decomposition" (2016)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays
from zyg.frontend.functions import shared, unchecked
from zyg.frontend.values import Abstract, Known, TupleValue, describe
from zyg.rules import adjoint, tangent

from ..registry import emits, implements
from .constructors import asarray
from .diagonals import places_on_diagonal
from .layouts import conj_swapped, conjugated, is_complex, packed, stack_shape, swapped
from .products import operands
from .triangular import cholesky_lower, factor, factor_into, solve_factored, squared

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator


# ---------------------------------------------------------------------------------------------- arguments


def floats(a: Any, name: str) -> Any:
    """The argument of a function of this module, as an array of floats or complex numbers."""
    made = np.asarray(a)
    return made if made.dtype.kind in "fc" else made.astype(float)


@emits(floats)
def _floats(e: Evaluator, a: Abstract, name: Abstract) -> Abstract:
    assert isinstance(name, Known)
    made = a if isinstance(a, arrays.ARRAYS) else asarray(e, a)
    if not isinstance(made, arrays.ARRAYS):
        raise e.refuse(f"{name.object} of this", types=[describe(made, e.heap)], hint="pass arrays of numbers")
    return made if arrays.element_type(made).kind in "fc" else asarray(e, made, Known(np.dtype(float)))


def of_one_type(a: Any, b: Any) -> tuple[Any, Any]:
    """Two arrays in the element type that they have together."""
    common = np.result_type(a, b)
    return a.astype(common), b.astype(common)


@emits(of_one_type)
def _of_one_type(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    return TupleValue(tuple(operands(e, "numpy.linalg", a, b)))


def matrices(a: Any, name: str) -> Any:
    """The same, with at least two axes."""
    x = floats(a, name)
    if x.ndim < 2:
        raise np.linalg.LinAlgError(f"{x.ndim}-dimensional array given. Array must be at least two-dimensional")
    return x


def square(a: Any, name: str) -> Any:
    x = matrices(a, name)
    if x.shape[-1] != x.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return x


# ------------------------------------------------------------------------------------ systems of equations


@implements(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    x, y = square(a, "np.linalg.solve"), floats(b, "np.linalg.solve")
    n, rows = x.shape[-1], y.shape[0] if y.ndim == 1 else y.shape[-2]
    if n != rows:
        signature = "(m,m),(m)->(m)" if y.ndim == 1 else "(m,m),(m,n)->(m,n)"
        name = "solve1" if y.ndim == 1 else "solve"
        raise ValueError(
            f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"{signature} (size {rows} is different from {n})"
        )
    x, y = of_one_type(x, y)
    if y.ndim == 2 and x.ndim == 2 and y.shape[1] == 0:
        return np.zeros((n, 0), x.dtype)
    if y.ndim > 1 and (x.ndim > 2 or y.ndim > 2):
        batch = stack_shape(x, y)
        whole = np.broadcast_to(x, (*batch, n, n))
        lu, pivots = factor(whole)
        return solve_factored(whole, lu, pivots, np.broadcast_to(y, (*batch, n, y.shape[-1])), False)
    lu, pivots = factor(x)
    if y.ndim == 1:
        if x.ndim == 2:
            return solve_factored(x, lu, pivots, y[:, None], False)[:, 0]
        columns = np.broadcast_to(y[:, None], (*x.shape[:-1], 1))
        return solve_factored(x, lu, pivots, columns, False)[..., 0]
    return solve_factored(x, lu, pivots, y, False)


@implements(np.linalg.inv)
def inv(a: Any) -> Any:
    x = square(a, "np.linalg.inv")
    lu, pivots = factor(x)
    return solve_factored(x, lu, pivots, identities(x), False)


def identities(x: Any) -> Any:
    """Identity matrices in the shape of a stack of matrices."""
    return np.zeros(x.shape, x.dtype) + np.eye(x.shape[-1], dtype=x.dtype)


@implements(identities)
@unchecked
def _identities(x: Any) -> Any:
    made = np.zeros(x.shape, x.dtype)
    _put_ones(made)
    return made


@unchecked
def _put_ones(made: Any) -> None:
    if made.ndim == 2:
        places_on_diagonal(made, 0)[...] = 1
        return
    for i in range(len(made)):
        _put_ones(made[i])


@implements(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    x = square(a, "np.linalg.cholesky")
    if upper:
        return packed(conj_swapped(cholesky_lower(conj_swapped(x))))
    return cholesky_lower(x)


# -------------------------------------------------------------------------------------------- determinants


@implements(np.linalg.det)
def det(a: Any) -> Any:
    return determinant(square(a, "np.linalg.det"))


def determinant(a: Any) -> Any:
    return np.linalg.det(a)


@implements(determinant)
@unchecked
def _determinant(a: Any) -> Any:
    if a.ndim > 2:
        made = np.empty(a.shape[:-2], a.dtype)
        for i in range(len(a)):
            made[i] = _determinant(a[i])
        return made
    sign, result, _ = sign_and_product(a)
    return sign * result


@shared
@unchecked
def sign_and_product(a: Any) -> tuple[Any, Any, Any]:
    """Of a matrix: the sign of its determinant (a number of absolute value 1), its absolute value, and the logarithm of that."""
    from .. import blas

    one = a.dtype.type(1)
    size = one.real
    log = size - size
    lu, pivots = packed(a), np.empty(len(a), blas.INTEGER)
    if factor_into(lu, pivots):
        return one - one, log, np.log(log)
    sign = one
    for k in range(len(a)):
        x = lu[k, k]
        length = abs(x)
        if is_complex(a):
            sign = sign * (x / length)
        elif x < 0:
            sign = -sign
        if pivots[k] != k + 1:
            sign = -sign
        size *= length
        log += np.log(length)
    return sign, size, log


def cofactors(a: Any, value: Any) -> Any:
    """The derivative of the determinant, which has this value: det(a) * inv(a).T, and for a singular matrix what that tends
    to, by the singular values of the matrix."""
    if a.ndim > 2:
        return np.stack([cofactors(x, v) for x, v in zip(a, value)]) if len(a) else a
    return value * np.linalg.inv(a).T if value != 0 else singular_cofactors(a)


@implements(cofactors)
@shared
@unchecked
def _cofactors(a: Any, value: Any) -> Any:
    if a.ndim > 2:
        made = np.empty(a.shape, a.dtype)
        for i in range(len(a)):
            made[i] = _cofactors(a[i], value[i])
        return made
    if value != 0:
        return value * np.linalg.inv(a).T
    return singular_cofactors(a)


@shared
def singular_cofactors(a: Any) -> Any:
    u, s, vt = np.linalg.svd(a)
    others = np.empty(len(s), a.dtype)
    for i in range(len(s)):
        others[i] = np.linalg.det(u) * np.linalg.det(vt) * product_of_others(s, i, i)
    return np.matmul(conjugated(u) * others, conjugated(vt))


@unchecked
def product_of_others(s: Any, i: int, j: int) -> Any:
    """The product of the numbers but the i-th and the j-th."""
    product = s.dtype.type(1)
    for k in range(len(s)):
        if k != i and k != j:
            product = product * s[k]
    return product


def slopes_of_cofactors(a: Any, d: Any) -> Any:
    """The derivative of the cofactors of a in the direction d. It is linear in d, and symmetric: sum(e * this) is the same
    with e and d exchanged, as it is the second derivative of the determinant.

    With y = inv(a) it is det(a) * (trace(y @ d) * y - y @ d @ y).T; for a matrix that is nearly singular, where this is a
    difference of large numbers, it is found by singular values, of whose products nothing cancels.
    """
    if a.ndim > 2:
        made = np.empty(a.shape, a.dtype)
        for i in range(len(a)):
            made[i] = slopes_of_cofactors(a[i], d[i])
        return made
    value = np.linalg.det(a)
    if value != 0:
        y = np.linalg.inv(a)
        if np.sum(squared(a)) * np.sum(squared(y)) < NEARLY_SINGULAR:
            inner = np.matmul(y, d)
            return value * (np.trace(inner) * y - np.matmul(inner, y)).T
    return slopes_of_singular_cofactors(a, d)


# The square of a condition number from which on a matrix is treated as a singular one.
NEARLY_SINGULAR = 1e10


@shared
@unchecked
def slopes_of_singular_cofactors(a: Any, d: Any) -> Any:
    u, s, vt = np.linalg.svd(a)
    inner = np.matmul(np.matmul(conj_swapped(u), d), conj_swapped(vt))
    made = np.zeros(inner.shape, inner.dtype)
    for i in range(len(s)):
        for j in range(len(s)):
            if i != j:
                rest = product_of_others(s, i, j)
                made[i, j] -= inner[j, i] * rest
                made[i, i] += inner[j, j] * rest
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return sign * np.matmul(np.matmul(conjugated(u), made), conjugated(vt))


@adjoint(cofactors)
def _cofactors_rule(a: Any, value: Any) -> Any:
    return cofactors(a, value), lambda d: (conjugated(slopes_of_cofactors(a, conjugated(d))), None)


@tangent(cofactors)
def _cofactors_tangent(a: Any, value: Any) -> Any:
    return cofactors(a, value), lambda da, _: slopes_of_cofactors(a, da)


@adjoint(determinant)
def _determinant_rule(a: Any) -> Any:
    """Giles (2008), section 2.2.3."""
    value = determinant(a)
    return value, lambda d: (scaled(d, conjugated(cofactors(a, value))),)


@tangent(determinant)
def _determinant_tangent(a: Any) -> Any:
    value = determinant(a)
    return value, lambda da: (cofactors(a, value) * da).sum(axis=(-2, -1))


def scaled(d: Any, a: Any) -> Any:
    """The matrices of a stack times a number each."""
    return d[..., None, None] * a if isinstance(d, np.ndarray) else d * a


@implements(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    sign, log = sign_and_log(square(a, "np.linalg.slogdet"))
    return SlogdetResult(sign, log)


SlogdetResult = type(np.linalg.slogdet(np.eye(1)))


def sign_and_log(a: Any) -> tuple[Any, Any]:
    sign, log = np.linalg.slogdet(a)
    return sign, log


@implements(sign_and_log)
@unchecked
def _sign_and_log(a: Any) -> Any:
    if a.ndim > 2:
        signs, logs = np.empty(a.shape[:-2], a.dtype), np.empty(a.shape[:-2], a.real.dtype)
        for i in range(len(a)):
            signs[i], logs[i] = _sign_and_log(a[i])
        return signs, logs
    sign, _, log = sign_and_product(a)
    return sign, log


@adjoint(sign_and_log)
def _sign_and_log_rule(a: Any) -> Any:
    """Giles (2008), section 2.2.3. The logarithm of a singular matrix's determinant has no derivative: LinAlgError. What
    turns with the determinant of a complex matrix is its sign."""
    sign, log = sign_and_log(a)

    def back(d: Any) -> Any:
        if is_complex(a):
            return (scaled(d[1] - 1j * (np.conj(d[0]) * sign).imag, conj_swapped(np.linalg.inv(a))),)
        return (scaled(d[1], swapped(np.linalg.inv(a))),)

    return (sign, log), back


@tangent(sign_and_log)
def _sign_and_log_tangent(a: Any) -> Any:
    sign, log = sign_and_log(a)

    def push(da: Any) -> Any:
        change = (swapped(np.linalg.inv(a)) * da).sum(axis=(-2, -1))
        if is_complex(a):
            return sign * (1j * change.imag), change.real
        return change * 0, change

    return (sign, log), push


# ------------------------------------------------------------------------------------------ sums, powers


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    a, n = np.asarray(a), whole_exponent(n)
    if a.ndim < 2:
        raise np.linalg.LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if n == 0:
        result = np.empty_like(a)
        result[...] = np.eye(a.shape[-1], dtype=a.dtype)
        return result
    if n < 0:
        return positive_power(np.linalg.inv(a), -n)
    if n == 1:
        return a  # the array itself, as NumPy has it
    return positive_power(a, n)


def whole_exponent(n: Any) -> int:
    """The exponent; TypeError unless it is an integer."""
    if isinstance(n, (float, complex)):
        raise TypeError("exponent must be an integer")
    return int(n)


def positive_power(a: Any, n: int) -> Any:
    """By squaring, with the products that NumPy has, and no others: 0 times infinity is no 0."""
    if n == 3:
        return np.matmul(np.matmul(a, a), a)
    square, rest = a.copy(), n
    while rest % 2 == 0:
        square = np.matmul(square, square)
        rest //= 2
    result = square
    while rest > 1:
        square = np.matmul(square, square)
        rest //= 2
        if rest % 2 == 1:
            result = np.matmul(result, square)
    return result
