"""numpy.linalg: pseudo-inverses.

The singular values up to a limit count as 0, so that the pseudo-inverse Y of A is that of A without them: A = K + R, where K has
the singular values that are kept, with their vectors, and R the others.  As long as none of them comes to the limit Y is a smooth
function of A, whether singular values are equal or not.  The derivatives are written in A, Y and R alone, not in the single
vectors, which equal singular values leave open: they are right there, too, and so are their own derivatives.

Between a kept and another pair of vectors, of the singular values s and r < s, the change T of Y (transposed) follows from the
change M of A by

    T - (r / s)^2 T = M / s^2 + (r / s^3) M^H,    for all pairs at once:  T - Y^H Y T R^H R = Y^H Y M + Y^H Y Y^H M^H R

which is a linear equation of Stein's kind (`stein`).  Where R is 0 it is solved already, and what comes out is

* G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate"
  (1973), equation 4.12.

Of a matrix whose rank is not full, and whose other singular values are 0, this is the derivative for changes that keep the rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import shared, unchecked
from zyg.rules import adjoint, tangent

from ..registry import implements
from .hermitian import eigh_of
from .layouts import conj_swapped, packed
from .linalg import matrices, square
from .singular import svd_of
from .triangular import squared


@implements(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Any:
    x = matrices(a, "np.linalg.pinv")
    if rcond is not None:
        if rtol is not np._NoValue:
            raise ValueError("`rtol` and `rcond` can't be both set.")
        limit = rcond
    elif rtol is np._NoValue:
        limit = 1e-15
    else:
        limit = default_rcond(x) if rtol is None else rtol
    limits = limit_of_each(x, np.asarray(limit))
    if hermitian:
        x = square(x, "np.linalg.pinv")
        half = 0.5 * (np.tril(x, -1) + np.tril(x))  # of its diagonal a half
        return pinv_stack(half + conj_swapped(half), limits, True)
    return pinv_stack(x, limits, False)


def limit_of_each(x: Any, limit: Any) -> Any:
    """An array with the limit of each matrix of a stack, broadcast (and refused) as NumPy does for their singular values."""
    stack = x.shape[:-2]
    limits = np.empty((*stack, max(1, min(x.shape[-2], x.shape[-1]))))
    np.add(limit[..., None] * np.ones((*stack, 1)), 0.0, out=limits)
    return limits[..., 0]


def pinv_stack(x: Any, limits: Any, hermitian: bool) -> Any:
    if x.ndim == 2:
        return pseudo_inverse(x, limits[()], hermitian)
    made = np.empty((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    for i in range(len(x)):
        made[i] = pinv_stack(x[i], limits[i], hermitian)
    return made


def default_rcond(x: Any) -> Any:
    return max(x.shape[-2], x.shape[-1]) * np.finfo(x.dtype).eps


@implements(default_rcond)
def _default_rcond(x: Any) -> Any:
    return max(x.shape[-2], x.shape[-1]) * (1.1920928955078125e-07 if x.dtype == np.float32 else 2.220446049250313e-16)


# --------------------------------------------------------------------------------------------- one matrix


def kept_and_rest(a: Any, rcond: Any, hermitian: bool) -> tuple[Any, Any]:
    """The pseudo-inverse of a matrix without the singular values that are cut off, and the part of the matrix that these make up,
    which is without rows if none is. With `hermitian` the singular values are the sizes of eigenvalues."""
    if hermitian:
        w, u = np.linalg.eigh(a)
        s, vt = np.abs(w), conj_swapped(u * np.sign(w))
    else:
        u, s, vt = np.linalg.svd(a, full_matrices=False)
    kept = s > rcond * np.max(s, initial=0.0)
    over = np.where(kept, 1.0, 0.0) / np.where(kept, s, 1.0)
    y = np.matmul(conj_swapped(vt) * over.astype(s.dtype), conj_swapped(u))
    if np.all(kept):
        return y, np.empty((0, a.shape[1]), a.dtype)
    return y, np.matmul(u * np.where(kept, s.dtype.type(0.0), s), vt)


@implements(kept_and_rest)
@shared
@unchecked
def _kept_and_rest(a: Any, rcond: Any, hermitian: bool) -> Any:
    if hermitian:
        w, u = eigh_of(a, False)
        s, vt = np.abs(w), conj_swapped(u * np.sign(w))
    else:
        u, s, vt = svd_of(a, False)
    over, cut_off = np.zeros(len(s), s.dtype), np.zeros(len(s), s.dtype)
    limit, rank = rcond * np.max(s, initial=0.0), 0
    for i in range(len(s)):
        if s[i] > limit:
            over[i] = 1 / s[i]
            rank += 1
        else:
            cut_off[i] = s[i]
    y = np.matmul(conj_swapped(vt) * over, conj_swapped(u))
    if rank == len(s):
        return y, np.empty((0, a.shape[1]), a.dtype)
    return y, np.matmul(u * cut_off, vt)


def pseudo_inverse(a: Any, rcond: Any, hermitian: bool) -> Any:
    y, _ = kept_and_rest(a, rcond, hermitian)
    return y


@adjoint(pseudo_inverse)
def _pseudo_inverse_rule(a: Any, rcond: Any, hermitian: bool) -> Any:
    y, rest = kept_and_rest(a, rcond, hermitian)

    return y, lambda d: (pseudo_inverse_cotangent(a, y, rest, d), None, None)


@tangent(pseudo_inverse)
def _pseudo_inverse_tangent(a: Any, rcond: Any, hermitian: bool) -> Any:
    y, rest = kept_and_rest(a, rcond, hermitian)

    return y, lambda da, *_: pseudo_inverse_tangent(a, y, rest, da)


@adjoint(kept_and_rest)
def _kept_and_rest_rule(a: Any, rcond: Any, hermitian: bool) -> Any:
    y, rest = kept_and_rest(a, rcond, hermitian)

    def back(d: Any) -> Any:
        dy, d_rest = d
        made = pseudo_inverse_cotangent(a, y, rest, dy)
        return (made + rest_cotangent(a, y, rest, d_rest) if len(rest) > 0 else made), None, None

    return (y, rest), back


@tangent(kept_and_rest)
def _kept_and_rest_tangent(a: Any, rcond: Any, hermitian: bool) -> Any:
    y, rest = kept_and_rest(a, rcond, hermitian)

    def push(da: Any, *_: Any) -> Any:
        return pseudo_inverse_tangent(a, y, rest, da), rest_tangent(a, y, rest, da) if len(rest) > 0 else rest * 0.0

    return (y, rest), push


def turned(x: Any) -> Any:
    """Conjugate and transposed, packed: what is done from both sides is compiled once."""
    return packed(conj_swapped(x))


@shared
def pseudo_inverse_tangent(a: Any, y: Any, rest: Any, da: Any) -> Any:
    made = turned(change_behind(a, y, rest, da)) - np.matmul(np.matmul(y, da), y)
    return made + change_behind(turned(a), turned(y), turned(rest), turned(da))


@shared
def pseudo_inverse_cotangent(a: Any, y: Any, rest: Any, d: Any) -> Any:
    yt = turned(y)
    made = change_behind_transposed(a, y, rest, turned(d)) - np.matmul(np.matmul(yt, d), yt)
    return made + turned(change_behind_transposed(turned(a), yt, turned(rest), packed(d)))


@shared
def change_behind(a: Any, y: Any, rest: Any, da: Any) -> Any:
    """That of y, transposed, of the vectors kept on the left and the others on the right."""
    yt = turned(y)
    part = np.matmul(yt, np.matmul(y, da))
    part = part - np.matmul(np.matmul(part, y), a)
    if rest.size > 0:
        across = np.matmul(np.matmul(yt, turned(da)), rest)
        part = stein(y, rest, part + np.matmul(yt, np.matmul(y, across)))
    return part


@shared
def change_behind_transposed(a: Any, y: Any, rest: Any, d: Any) -> Any:
    """The linear map that is transposed to this."""
    e = stein(y, rest, d) if rest.size > 0 else d
    yt = turned(y)
    part = np.matmul(yt, np.matmul(y, e))
    made = part - np.matmul(np.matmul(part, y), a)
    if rest.size > 0:
        made = made + np.matmul(np.matmul(rest, turned(part)), yt)
    return made


@shared
def rest_tangent(a: Any, y: Any, rest: Any, da: Any) -> Any:
    made = outside(a, y, da) - change_of_rest(y, rest, da)
    return made - turned(change_of_rest(turned(y), turned(rest), turned(da)))


@shared
def rest_cotangent(a: Any, y: Any, rest: Any, d: Any) -> Any:
    made = outside(a, y, d) - change_of_rest_transposed(y, rest, d)
    return made - turned(change_of_rest_transposed(turned(y), turned(rest), turned(d)))


def outside(a: Any, y: Any, x: Any) -> Any:
    """What x has beside the vectors that are kept."""
    made = x - np.matmul(a, np.matmul(y, x))
    return made - np.matmul(np.matmul(made, y), a)


@shared
def change_of_rest(y: Any, rest: Any, da: Any) -> Any:
    """What the rest loses of the vectors kept on the left and the others on the right."""
    yt = turned(y)
    part = np.matmul(np.matmul(np.matmul(yt, np.matmul(y, da)), turned(rest)), rest)
    return stein(y, rest, part + np.matmul(np.matmul(yt, turned(da)), rest))


@shared
def change_of_rest_transposed(y: Any, rest: Any, d: Any) -> Any:
    yt, e = turned(y), stein(y, rest, d)
    part = np.matmul(np.matmul(np.matmul(yt, np.matmul(y, e)), turned(rest)), rest)
    return part + np.matmul(np.matmul(rest, turned(e)), yt)


# ------------------------------------------------------------------------------------------ Stein's equation

NOTHING = 1e-17  # a square of the rest, by the smallest that is kept, which goes beneath the last place


def stein(y: Any, rest: Any, r: Any) -> Any:
    """The solution t of t - y^H y t rest^H rest = r, for a pseudo-inverse of a matrix and what was cut off of it: the singular
    values of y and of rest have products below 1."""
    if np.sum(squared(y)) * np.sum(squared(rest)) < NOTHING:
        return r.copy()
    _, s, left = np.linalg.svd(y, full_matrices=False)
    _, cut_off, right = np.linalg.svd(rest, full_matrices=False)
    products = (s * s)[:, None] * (cut_off * cut_off)
    inner = np.matmul(np.matmul(left, r), conj_swapped(right)) * (products / (1.0 - products))
    return r + np.matmul(np.matmul(conj_swapped(left), inner), right)


@implements(stein)
@shared
@unchecked
def _stein(y: Any, rest: Any, r: Any) -> Any:
    if np.sum(squared(y)) * np.sum(squared(rest)) < NOTHING:
        return r.copy()
    _, s, left = svd_of(y, False)
    _, cut_off, right = svd_of(rest, False)
    products = (s * s)[:, None] * (cut_off * cut_off)
    inner = np.matmul(np.matmul(left, r), conj_swapped(right)) * (products / (1 - products))
    return r + np.matmul(np.matmul(conj_swapped(left), inner), right)


@adjoint(stein)
def _stein_rule(y: Any, rest: Any, r: Any) -> Any:
    t = stein(y, rest, r)

    return t, lambda d: stein_cotangents(y, rest, t, stein(y, rest, d))


@shared
def stein_cotangents(y: Any, rest: Any, t: Any, e: Any) -> Any:
    """By that of r, the equation being its own adjoint."""
    et = conj_swapped(e)
    behind = np.matmul(np.matmul(t, conj_swapped(rest)), rest)
    before = np.matmul(conj_swapped(y), np.matmul(y, t))
    dy = np.matmul(np.matmul(y, e), conj_swapped(behind)) + np.matmul(np.matmul(y, behind), et)
    d_rest = np.matmul(np.matmul(rest, conj_swapped(before)), e) + np.matmul(np.matmul(rest, et), before)
    return dy, d_rest, e


@tangent(stein)
def _stein_tangent(y: Any, rest: Any, r: Any) -> Any:
    t = stein(y, rest, r)

    return t, lambda dy, d_rest, dr: stein(y, rest, dr + stein_change(y, rest, t, dy, d_rest))


@shared
def stein_change(y: Any, rest: Any, t: Any, dy: Any, d_rest: Any) -> Any:
    yt = conj_swapped(y)
    behind = np.matmul(np.matmul(t, conj_swapped(rest)), rest)
    before = np.matmul(yt, np.matmul(y, t))
    made = np.matmul(conj_swapped(dy), np.matmul(y, behind)) + np.matmul(yt, np.matmul(dy, behind))
    made = made + np.matmul(np.matmul(before, conj_swapped(d_rest)), rest)
    return made + np.matmul(np.matmul(before, conj_swapped(rest)), d_rest)
