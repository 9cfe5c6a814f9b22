"""numpy.linalg: what follows from singular values: pseudo-inverses, least squares, ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import shared, shared_with_adjoint, unchecked
from zyg.rules import adjoint, tangent

from ..intrinsics import unsupported
from ..registry import implements
from .layouts import conj_swapped
from .linalg import floats, matrices, of_one_type
from .singular import svd_of, svd_stack
from .triangular import squared


@implements(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    x = matrices(a, "np.linalg.pinv")
    if rcond is not None and rtol is not None:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    given = rtol if rcond is None else rcond
    if hermitian:
        w, v = np.linalg.eigh(x)
        size = np.abs(w)
        kept = size > (default_rcond(x) if given is None else given) * np.max(size, axis=-1, keepdims=True, initial=0.0)
        inverse = np.where(kept, 1.0, 0.0).astype(w.dtype) / np.where(kept, w, w.dtype.type(1.0))
        return np.matmul(v * inverse[..., None, :], conj_swapped(v))
    return pinv_stack(x, default_rcond(x) if given is None else given)


def pinv_stack(x: Any, rcond: Any) -> Any:
    if x.ndim == 2:
        return pseudo_inverse(x, rcond)
    made = np.empty((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    for i in range(len(x)):
        made[i] = pinv_stack(x[i], rcond)
    return made


def default_rcond(x: Any) -> Any:
    return max(x.shape[-2], x.shape[-1]) * np.finfo(x.dtype).eps


@implements(default_rcond)
def _default_rcond(x: Any) -> Any:
    return max(x.shape[-2], x.shape[-1]) * (1.1920928955078125e-07 if x.dtype == np.float32 else 2.220446049250313e-16)


def pseudo_inverse(a: Any, rcond: Any) -> Any:
    return np.linalg.pinv(a, rcond)


@implements(pseudo_inverse)
@shared
@unchecked
def _pseudo_inverse(a: Any, rcond: Any) -> Any:
    u, s, vt = svd_of(a, False)
    over = np.zeros(len(s), s.dtype)
    for i in range(len(s)):
        if s[i] > rcond * s[0]:
            over[i] = 1 / s[i]
    return np.matmul(conj_swapped(vt) * over, conj_swapped(u))


@adjoint(pseudo_inverse)
def _pseudo_inverse_rule(a: Any, rcond: Any) -> Any:
    """G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
    separate" (1973), equation 4.12, transposed: for a rank that does not change."""
    y = pseudo_inverse(a, rcond)

    return y, lambda d: (pseudo_inverse_cotangent(a, y, d), None)


@shared
def pseudo_inverse_cotangent(a: Any, y: Any, d: Any) -> Any:
    yt, dt = conj_swapped(y), conj_swapped(d)
    made = -np.matmul(np.matmul(yt, d), yt)
    part = np.matmul(np.matmul(dt, y), yt)
    made = made + part - np.matmul(a, np.matmul(y, part))
    part = np.matmul(yt, np.matmul(y, dt))
    return made + part - np.matmul(np.matmul(part, y), a)


@tangent(pseudo_inverse)
def _pseudo_inverse_tangent(a: Any, rcond: Any) -> Any:
    y = pseudo_inverse(a, rcond)

    return y, lambda da, _: pseudo_inverse_tangent(a, y, da)


@shared
def pseudo_inverse_tangent(a: Any, y: Any, da: Any) -> Any:
    yt, turned = conj_swapped(y), conj_swapped(da)
    made = -np.matmul(np.matmul(y, da), y)
    part = np.matmul(np.matmul(y, yt), turned)
    made = made + part - np.matmul(np.matmul(part, a), y)
    part = np.matmul(np.matmul(turned, yt), y)
    return made + part - np.matmul(y, np.matmul(a, part))


@implements(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    x, y = floats(a, "np.linalg.lstsq"), floats(b, "np.linalg.lstsq")
    if x.ndim != 2:
        raise np.linalg.LinAlgError(f"{x.ndim}-dimensional array given. Array must be two-dimensional")
    if x.shape[0] != y.shape[0]:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    x, y = of_one_type(x, y)
    return least_squares(x, y, default_rcond(x) if rcond is None else rcond)


@shared_with_adjoint
def least_squares(x: Any, y: Any, cutoff: Any) -> Any:
    m, n = x.shape
    values = singular_values(x)
    rank = 0
    for i in range(len(values)):
        if values[i] > cutoff * values[0]:
            rank += 1
    best = np.matmul(pseudo_inverse(x, cutoff), y)
    rest = y - np.matmul(x, best)
    if y.ndim == 1:
        squares = np.zeros(1 if rank == n and m > n else 0, values.dtype)
        if rank == n and m > n:
            squares[0] = np.sum(squared(rest))
        return best, squares, np.int32(rank), values
    sums = np.zeros(y.shape[1] if rank == n and m > n else 0, values.dtype)
    if rank == n and m > n:
        sums[:] = np.sum(squared(rest), axis=0)
    return best, sums, np.int32(rank), values


def singular_values(a: Any) -> Any:
    return svd_of(a, False)[1]


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    x = floats(A, "np.linalg.matrix_rank")
    if x.ndim < 2:
        return int(np.any(x != 0))
    values = np.abs(np.linalg.eigvalsh(x)) if hermitian else svd_stack(x, False)[1]
    if x.ndim > 3:
        unsupported("np.linalg.matrix_rank of this many dimensions", "write a loop over the matrices")
    if tol is not None:
        return np.count_nonzero(values > np.asarray(tol)[..., None], axis=-1)
    relative = default_rcond(x) if rtol is None else np.asarray(rtol)[..., None]
    return np.count_nonzero(values > np.max(values, axis=-1, keepdims=True, initial=0) * relative, axis=-1)
