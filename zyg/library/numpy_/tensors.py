"""Products of matrices with vectors, and systems of equations, of arrays of more dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..registry import implements
from .common import product
from .layouts import shape_of_products


def matvec(x1: Any, x2: Any, /) -> Any:
    a, v = np.asarray(x1), np.asarray(x2)
    if a.ndim < 2 or v.ndim < 1:
        which = 0 if a.ndim < 2 else 1
        raise ValueError(
            f"matvec: Input operand {which} does not have enough dimensions (has {(a, v)[which].ndim}, gufunc core with "
            f"signature (m,n),(n)->(m) requires {2 - which})"
        )
    if a.shape[-1] != v.shape[-1]:
        raise ValueError(
            "matvec: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (m,n),(n)->(m) (size "
            f"{v.shape[-1]} is different from {a.shape[-1]})"
        )
    shape_of_products(a, v, (2, 1))
    return np.matmul(a, v) if v.ndim == 1 else np.matmul(a, v[..., None])[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Any:
    v, a = np.asarray(x1), np.asarray(x2)
    if v.ndim < 1 or a.ndim < 2:
        which = 0 if v.ndim < 1 else 1
        raise ValueError(
            f"vecmat: Input operand {which} does not have enough dimensions (has {(v, a)[which].ndim}, gufunc core with "
            f"signature (n),(n,m)->(m) requires {1 + which})"
        )
    if a.shape[-2] != v.shape[-1]:
        raise ValueError(
            "vecmat: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n),(n,m)->(m) (size "
            f"{a.shape[-2]} is different from {v.shape[-1]})"
        )
    shape_of_products(v, a, (1, 2))
    turned = np.conj(v)
    return np.matmul(turned, a) if v.ndim == 1 else np.matmul(turned[..., None, :], a)[..., 0, :]


for _name, _entry in (("matvec", matvec), ("vecmat", vecmat)):  # of NumPy 2.2 and later
    if hasattr(np, _name):
        implements(getattr(np, _name))(_entry)


@implements(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    x, y = np.asarray(a), np.asarray(b)
    if axes is not None:
        moved = tuple([k % x.ndim for k in axes])
        x = np.transpose(x, tuple([k for k in tuple(range(x.ndim)) if k not in moved]) + moved)
    shape = x.shape[y.ndim :]
    n = product(shape)
    if x.size != n * n:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement \
            prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return np.linalg.solve(x.reshape((n, n)), y.ravel()).reshape(shape)


@implements(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Any:
    x = np.asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    n = product(x.shape[ind:])
    return np.linalg.inv(x.reshape((n, x.size // max(n, 1)))).reshape(x.shape[ind:] + x.shape[:ind])
