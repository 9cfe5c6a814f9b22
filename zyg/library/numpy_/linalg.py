"""numpy.linalg: systems of equations, inverses, determinants, Cholesky's factorisation, powers.

Derivatives come by the rules of what these are made of (triangular.py).  The references there and here:

* M. B. Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
  differentiation" (2008)
* I. Murray, "Differentiation of the Cholesky decomposition" (2016)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend.calls import unchecked
from zyg.frontend.values import Abstract, ArrayValue, Known, describe
from zyg.rules import adjoint, tangent

from ..registry import emits, implements
from .constructors import asarray
from .layouts import packed, stack_shape, swapped
from .triangular import cholesky_lower, factor, factor_into, solve_factored

if TYPE_CHECKING:
    from zyg.frontend.infer import Evaluator


# ---------------------------------------------------------------------------------------------- arguments


def floats(a: Any, name: str) -> Any:
    """The argument of a function of this module, as an array of floats."""
    made = np.asarray(a)
    return made if made.dtype.kind in "fc" else made.astype(float)


@emits(floats)
def _floats(e: Evaluator, a: Abstract, name: Abstract) -> Abstract:
    assert isinstance(name, Known)
    made = a if isinstance(a, ArrayValue) else asarray(e, a)
    if not isinstance(made, ArrayValue):
        raise e.refuse(
            f"{name.object} of this",
            types=[describe(made, e.heap)],
            hint="pass arrays of real numbers; a complex system is a real one of its parts",
        )
    return made if made.type.dtype.kind == "f" else asarray(e, made, Known(np.dtype(float)))


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
    if y.ndim == 2 and x.ndim == 2 and y.shape[1] == 0:
        return np.zeros((n, 0), x.dtype)
    lu, pivots = factor(x)
    if y.ndim == 1:
        if x.ndim == 2:
            return solve_factored(x, lu, pivots, y[:, None], False)[:, 0]
        columns = np.broadcast_to(y[:, None], (*x.shape[:-1], 1))
        return solve_factored(x, lu, pivots, columns, False)[..., 0]
    if x.ndim == 2 and y.ndim == 2:
        return solve_factored(x, lu, pivots, y, False)
    batch = stack_shape(x, y)
    whole = np.broadcast_to(x, (*batch, n, n))
    lu, pivots = factor(whole)
    return solve_factored(whole, lu, pivots, np.broadcast_to(y, (*batch, n, y.shape[-1])), False)


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
    for i in range(len(made)):
        if made.ndim > 2:
            _put_ones(made[i])
        else:
            made[i, i] = 1


@implements(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    x = square(a, "np.linalg.cholesky")
    if upper:
        return packed(swapped(cholesky_lower(swapped(x))))
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


@unchecked
def sign_and_product(a: Any) -> tuple[Any, Any, Any]:
    """Of a matrix: the sign of its determinant, the absolute value of that, and its logarithm."""
    from .. import blas

    one = a.dtype.type(1)
    lu, pivots = packed(a), np.empty(len(a), blas.INTEGER)
    if factor_into(lu, pivots):
        return one - one, one - one, np.log(one - one)
    sign, size, log = one, one, one - one
    for k in range(len(a)):
        x = lu[k, k]
        if (x < 0) != (pivots[k] != k + 1):
            sign = -sign
        size *= abs(x)
        log += np.log(abs(x))
    return sign, size, log


def cofactors(a: Any, value: Any) -> Any:
    """The derivative of the determinant, which has this value: det(a) * inv(a).T, and for a singular matrix what that tends
    to, by the singular values of the matrix."""
    if a.ndim > 2:
        made = np.empty(a.shape, a.dtype)
        for i in range(len(a)):
            made[i] = cofactors(a[i], value[i])
        return made
    if value != 0:
        return value * np.linalg.inv(a).T
    u, s, vt = np.linalg.svd(a)
    others = np.empty(len(s), a.dtype)
    for i in range(len(s)):
        product = np.linalg.det(u) * np.linalg.det(vt)
        for j in range(len(s)):
            if j != i:
                product = product * s[j]
        others[i] = product
    return np.matmul(u * others, vt)


@adjoint(determinant)
def _determinant_rule(a: Any) -> Any:
    """Giles (2008), section 2.2.3."""
    value = determinant(a)
    return value, lambda d: (scaled(d, cofactors(a, value)),)


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
        signs, logs = np.empty(a.shape[:-2], a.dtype), np.empty(a.shape[:-2], a.dtype)
        for i in range(len(a)):
            signs[i], logs[i] = _sign_and_log(a[i])
        return signs, logs
    sign, _, log = sign_and_product(a)
    return sign, log


@adjoint(sign_and_log)
def _sign_and_log_rule(a: Any) -> Any:
    """Giles (2008), section 2.2.3. The logarithm of a singular matrix's determinant has no derivative: LinAlgError."""
    sign, log = sign_and_log(a)
    return (sign, log), lambda d: (scaled(d[1], swapped(np.linalg.inv(a))),)


@tangent(sign_and_log)
def _sign_and_log_tangent(a: Any) -> Any:
    sign, log = sign_and_log(a)

    def push(da: Any) -> Any:
        change = (swapped(np.linalg.inv(a)) * da).sum(axis=(-2, -1))
        return change * 0, change

    return (sign, log), push


# ------------------------------------------------------------------------------------------ sums, powers


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    if a.ndim < 2:
        raise np.linalg.LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if n < 0:
        return positive_power(np.linalg.inv(a), -n)
    return positive_power(a, n)


def positive_power(a: Any, n: int) -> Any:
    """By squaring."""
    result, square, rest = np.zeros_like(a) + np.eye(a.shape[-1], dtype=a.dtype), a + 0, n
    while rest > 0:
        if rest % 2 == 1:
            result = np.matmul(result, square)
        rest //= 2
        if rest > 0:
            square = np.matmul(square, square)
    return result
