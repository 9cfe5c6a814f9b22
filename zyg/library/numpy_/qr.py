"""numpy.linalg: the QR factorisation.

The core is for one matrix and has the rules; stacks are done one after the other.  The references:

* M. Seeger, A. Hetzel, Z. Dai, E. Meissner, N. D. Lawrence, "Auto-Differentiating Linear Algebra" (2017)
* Z.-Q. Wan, S.-X. Zhang, "Automatic Differentiation for Complex Valued SVD" (2019): phases of complex matrices

The rules hold for complex matrices too (see triangular.py for the convention).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import shared, shared_by_flags, unchecked
from zyg.rules import adjoint, tangent

from .. import blas
from ..intrinsics import unsupported
from ..registry import implements
from .layouts import conj_swapped, is_complex, packed
from .linalg import matrices
from .ordering import relaid_as
from .triangular import lower_half, solve_lower

QRResult = type(np.linalg.qr(np.eye(1)))


@implements(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    x = matrices(a, "np.linalg.qr")
    if mode == "r":
        return laid_as_triangle(qr_stack(x, False)[1], x)
    if mode != "reduced" and mode != "complete":
        if mode in ("raw", "full", "f", "economic", "e"):
            unsupported("np.linalg.qr with this mode", "use mode='reduced', 'complete' or 'r'")
        raise ValueError(f"Unrecognized mode '{mode}'")
    q, r = qr_stack(x, mode == "complete")
    return QRResult(q, laid_as_triangle(r, x))


def laid_as_triangle(r: Any, a: Any) -> Any:
    """As NumPy's lie, which are np.triu of a copy of a stack."""
    k, n = r.shape[-2], r.shape[-1]
    return r if a.ndim == 2 else relaid_as(r, (np.tri(k, n, dtype=bool), a[..., :k, :]))


def qr_stack(a: Any, whole: bool) -> tuple[Any, Any]:
    if a.ndim == 2:
        return qr_of(a, whole)
    m, n = a.shape[-2], a.shape[-1]
    k = m if whole else min(m, n)
    qs, rs = np.empty((*a.shape[:-1], k), a.dtype), np.empty((*a.shape[:-2], k, n), a.dtype)
    for i in range(len(a)):
        q, r = qr_stack(a[i], whole)
        qs[i] = q
        rs[i] = r
    return qs, rs


def qr_of(a: Any, whole: bool) -> tuple[Any, Any]:
    """Of a matrix; with `whole` q is square, by further columns, and r has rows of zeros below."""
    q, r = np.linalg.qr(a, "complete" if whole else "reduced")
    return q, r


@implements(qr_of)
@shared
@unchecked
def _qr_of(a: Any, whole: bool) -> Any:
    """As NumPy calls LAPACK, so that the signs, or the phases, are NumPy's."""
    m, n = a.shape
    k = min(m, n)
    width = m if whole else k
    r = np.zeros((width, n), a.dtype)
    if k == 0:
        return np.eye(m, width, dtype=a.dtype), r
    columns, tau = np.zeros((max(width, n), m), a.dtype), np.empty(k, a.dtype)
    columns[:n] = a.T
    work = np.empty(1, a.dtype)
    blas.geqrf(m, n, columns, m, tau, work, -1)
    length = max(int(work[0].real), m, n)
    work = np.empty(length, a.dtype)
    blas.geqrf(m, n, columns, m, tau, work, length)
    for i in range(k):
        for j in range(i, n):
            r[i, j] = columns[j, i]
    if is_complex(a):
        blas.ungqr(m, width, k, columns, m, tau, work, length)
    else:
        blas.orgqr(m, width, k, columns, m, tau, work, length)
    return packed(columns[:width].T), r


def mirrored(m: Any) -> Any:
    """The lower triangle, and what it is mirrored to above the diagonal, which is real: copyltu of Seeger et al."""
    low = lower_half(m)
    return low + conj_swapped(low)


@adjoint(qr_of)
def _qr_rule(a: Any, whole: bool) -> Any:
    """Seeger et al. (2017), section 3.2 (of LQ there), for a matrix that has as many rows as columns, or more; the further
    columns of a wide matrix are q @ (those of r)."""
    q, r = qr_of(a, whole)
    return (q, r), lambda d: (qr_cotangent(a, q, r, *d, whole), None)


@shared_by_flags
def qr_cotangent(a: Any, q: Any, r: Any, dq: Any, dr: Any, whole: bool) -> Any:
    m, n = a.shape
    if whole and m > n:
        first = q[:, :n]
        turned = dq[:, :n] + completion_cotangent(first, q[:, n:], dq[:, n:])
        return tall_cotangent(first, r[:n], turned, dr[:n])
    if m >= n:
        return tall_cotangent(q, r, dq, dr)
    rest = dr[:, m:]
    more = dq + np.matmul(a[:, m:], conj_swapped(rest))
    left = tall_cotangent(q, r[:, :m], more, dr[:, :m])
    return np.concatenate((left, np.matmul(q, rest)), axis=1)


def tall_cotangent(q: Any, r: Any, dq: Any, dr: Any) -> Any:
    inner = np.matmul(r, conj_swapped(dr)) - np.matmul(conj_swapped(dq), q)
    whole = dq + np.matmul(q, mirrored(inner))
    # whole times the conjugate transpose of inv(r)
    return conj_swapped(solve_lower(packed(conj_swapped(r)), packed(conj_swapped(whole)), True))


@tangent(qr_of)
def _qr_tangent(a: Any, whole: bool) -> Any:
    q, r = qr_of(a, whole)
    m, n = a.shape

    def push(da: Any, _: Any) -> Any:
        if whole and m > n:
            first = q[:, :n]
            dfirst, dr = qr_tangents(first, r[:n], da)
            dq = np.concatenate((dfirst, completion_tangent(first, q[:, n:], dfirst)), axis=1)
            return dq, np.concatenate((dr, np.zeros((m - n, n), a.dtype)), axis=0)
        return qr_tangents(q, r, da)

    return (q, r), push


@shared
def qr_tangents(q: Any, r: Any, da: Any) -> Any:
    k = q.shape[1]
    # da @ inv(r)
    changed = conj_swapped(solve_lower(packed(conj_swapped(r[:, :k])), packed(conj_swapped(da[:, :k])), False))
    inner = np.matmul(conj_swapped(q), changed)
    low = np.tril(inner, -1)
    turn = low - conj_swapped(low)
    if is_complex(q):
        turn = turn + 1j * np.diag(np.diagonal(inner.imag))
    dq = changed - np.matmul(q, inner) + np.matmul(q, turn)
    dr = np.matmul(conj_swapped(q), da) - np.matmul(turn, r)
    return dq, np.triu(dr)


# The columns that complete q are determined by the ones before them, since LAPACK's q is a product of Householder's
# reflections, which these give (G. Ballard et al., "Reconstructing Householder vectors from tall-skinny QR", 2015): with the
# upper square of q less the identity as `head`, and what is below as `tail`,
#
#     further = [0; I] + (q - [I; 0]) @ x,    head^H @ x = tail^H
#
# Where a column needs no reflection `head` is singular: q jumps there. What depends on the space only that the further columns span
# has a derivative all the same, and gets it from their staying orthogonal to the others.


def completion(q: Any) -> tuple[Any, Any, Any]:
    """head, q - [I; 0] and x of the above."""
    k = q.shape[1]
    moved = q.copy()
    for i in range(k):
        moved[i, i] -= 1
    head = moved[:k]
    return head, moved, np.linalg.solve(conj_swapped(head), conj_swapped(q[k:]))


def is_reflected(q: Any) -> bool:
    """Whether each column of q has a reflection of its own."""
    k = q.shape[1]
    return bool(np.abs(np.linalg.det(q[:k] - np.eye(k))) > 0.5)


def completion_cotangent(q: Any, further: Any, d: Any) -> Any:
    """What the cotangent of the further columns adds to that of q."""
    if not is_reflected(q):
        return -np.matmul(further, np.matmul(conj_swapped(d), q))
    head, moved, x = completion(q)
    dx = np.linalg.solve(head, np.matmul(conj_swapped(moved), d))
    below = conj_swapped(dx)
    return np.matmul(d, conj_swapped(x)) + np.concatenate((-np.matmul(x, below), below), axis=0)


def completion_tangent(q: Any, further: Any, dq: Any) -> Any:
    if not is_reflected(q):
        return -np.matmul(q, np.matmul(conj_swapped(dq), further))
    head, moved, x = completion(q)
    k = q.shape[1]
    dx = np.linalg.solve(conj_swapped(head), conj_swapped(dq[k:]) - np.matmul(conj_swapped(dq[:k]), x))
    return np.matmul(dq, x) + np.matmul(moved, dx)
