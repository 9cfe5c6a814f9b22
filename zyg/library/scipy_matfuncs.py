"""scipy.linalg: functions of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg as sl

from zyg.frontend.functions import shared, unchecked
from zyg.inside import stop_gradient
from zyg.rules import adjoint, tangent

from .numpy_.layouts import conj_swapped
from .numpy_.linalg import floats
from .registry import implements


@implements(sl.expm)
def expm(A: Any) -> Any:
    x = floats(A, "scipy.linalg.expm")
    if x.ndim < 2 and x.size == 1:
        return np.exp(x.reshape(1, 1))
    if x.ndim < 2:
        raise np.linalg.LinAlgError("The input array must be at least two-dimensional")
    if x.shape[-1] != x.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return stack_of_exponentials(x)


def stack_of_exponentials(x: Any) -> Any:
    if x.ndim == 2:
        return exponential(x)
    made = np.empty(x.shape, x.dtype)
    for i in range(len(x)):
        made[i] = stack_of_exponentials(x[i])
    return made


def exponential(a: Any) -> Any:
    """Of one square matrix."""
    return sl.expm(a)


@implements(exponential)
@shared
def _exponential(a: Any) -> Any:
    n = len(a)
    above, below = outside(a)
    if not above and not below:
        made = np.zeros(a.shape, a.dtype)
        for i in range(n):
            made[i, i] = np.exp(a[i, i])
        return made
    norm = one_norm(a)
    if not np.isfinite(norm):
        return np.full(a.shape, np.nan, a.dtype)
    halvings = max(0, math.ceil(math.log2(norm / THIRTEEN)))
    made = approximation(a * a.real.dtype.type(2.0**-halvings), degree_for(float(norm)))
    for _ in range(halvings):
        made = np.matmul(made, made)
    if not above:
        return np.tril(made)
    return made if below else np.triu(made)


@unchecked
def outside(a: Any) -> tuple[bool, bool]:
    """Whether there is anything above the diagonal, and below."""
    above = below = False
    for i in range(len(a)):
        for j in range(len(a)):
            if a[i, j] != 0:
                above = above or j > i
                below = below or j < i
    return above, below


def one_norm(a: Any) -> Any:
    return np.max(np.sum(np.abs(a), axis=0))


# N. J. Higham, "The scaling and squaring method for the matrix exponential revisited" (2005), table 2.3: up to which norm a rational
# approximation is as precise as double precision.
THIRTEEN = 5.371920351148152


def degree_for(norm: float) -> int:
    if norm <= 1.495585217958292e-2:
        return 3
    if norm <= 2.539398330063230e-1:
        return 5
    if norm <= 9.504178996162932e-1:
        return 7
    return 9 if norm <= 2.097847961257068 else 13


@shared
@unchecked
def approximation(a: Any, degree: int) -> Any:
    """Padé's, of the same degree above and below: (even + odd powers) / (even - odd powers). That of degree 13 is cut into two
    pieces, which save products."""
    coefficients = np.ones(degree + 1, a.dtype)
    for k in range(1, degree + 1):
        coefficients[k] = coefficients[k - 1] * ((degree - k + 1) / (k * (2 * degree - k + 1)))
    square = np.matmul(a, a)
    count = 4 if degree == 13 else degree // 2 + 1
    powers = np.empty((count, *a.shape), a.dtype)
    powers[0] = np.eye(len(a), dtype=a.dtype)
    for k in range(1, count):
        powers[k] = square if k == 1 else np.matmul(powers[k - 1], square)
    even, odd = np.zeros(a.shape, a.dtype), np.zeros(a.shape, a.dtype)
    for k in range(count):
        even += coefficients[2 * k] * powers[k]
        odd += coefficients[2 * k + 1] * powers[k]
    if degree == 13:
        upper, other = np.zeros(a.shape, a.dtype), np.zeros(a.shape, a.dtype)
        for k in range(1, count):
            upper += coefficients[2 * k + 6] * powers[k]
            other += coefficients[2 * k + 7] * powers[k]
        even += np.matmul(powers[3], upper)
        odd += np.matmul(powers[3], other)
    odd = np.matmul(a, odd)
    return np.linalg.solve(even - odd, even + odd)


def frechet(a: Any, change: Any) -> Any:
    """The derivative of the exponential in a direction: a block of the exponential of a matrix of twice the size. I. Najfeld,
    T. F. Havel, "Derivatives of the matrix exponential and their computation" (1995)."""
    n = len(a)
    size = float(stop_gradient(one_norm(change)))
    if not size < math.inf:
        return a * change  # nan
    if size == 0.0:
        size = 1.0  # what happens to be 0 has a derivative, too
    both = np.zeros((2 * n, 2 * n), a.dtype)
    both[:n, :n] = a
    both[n:, n:] = a
    both[:n, n:] = change / size  # which needs no more halvings, then
    return exponential(both)[:n, n:] * size


@adjoint(exponential)
def _exponential_rule(a: Any) -> Any:
    return exponential(a), lambda d: (frechet(conj_swapped(a), d),)


@tangent(exponential)
def _exponential_tangent(a: Any) -> Any:
    return exponential(a), lambda da: frechet(a, da)
