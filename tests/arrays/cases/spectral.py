"""Eigenvalues of general matrices, roots of polynomials, tensors as matrices, order statistics without nan, sets of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.library.numpy_ import eigen

from ..case import case
from ..drawing import A, Num

L = np.linalg
REGULAR = A("n n", "d", "regular", 1)


def _spectrum(a: Any) -> Any:
    """What does not depend on the order of eigenvalues."""
    w, v = np.linalg.eig(a)
    return np.sum(np.abs(w) ** 1.5), np.sum(np.abs(v) ** 3), np.sum(np.abs(np.linalg.eigvals(a) + 0.5))


case(
    [L.eig, L.eigvals, eigen.eig_of, eigen.eigvals_of, eigen.spanning],
    _spectrum,
    a=A("n n", "dD", "regular", 1),
    tolerance=1e7,
)
case([L.eig, L.eigvals], lambda a: (np.linalg.eig(a)[0], np.linalg.eigvals(a)), a=A("n n|k n n", "dD", "finite"), tolerance=1e7, derivative=False)  # fmt: skip
case(np.roots, lambda p: np.abs(np.roots(p)).sum(), p=A("n", "d", "finite", 2), tolerance=1e7)
case(np.poly, lambda z: np.poly(z), z=A("n", "dlD", "finite", 1), tolerance=256)
case(
    np.polydiv, lambda u, v: np.polydiv(u, v), u=A("n", "d", "positive", 3), v=A("m", "d", "positive", 1), tolerance=1e6
)
case(L.tensorsolve, lambda a, b: np.linalg.tensorsolve(a, b), a=A("n n", "d", "regular", 1), b=A("n", "d", "finite"), tolerance=1e5)  # fmt: skip
case(L.tensorinv, lambda a: np.linalg.tensorinv(a, 1), a=REGULAR, tolerance=1e5)
for _name, _x, _y in (
    ("matvec", A("n m|k n m", "dlD"), A("m|k m", "dl")),
    ("vecmat", A("n|k n", "dlD"), A("n m|k n m", "dl")),
):
    if hasattr(np, _name):
        _function = getattr(np, _name)
        case(_function, (lambda f: lambda x, y: f(x, y))(_function), x=_x, y=_y, tolerance=256)
case([np.nanmedian, np.nanpercentile], lambda a: (np.nanmedian(a), np.nanmedian(a, axis=0), np.nanpercentile(a, 30.0, axis=-1, keepdims=True)),
     a=A("n|n m", "df", "any", 1), tolerance=64)  # fmt: skip
case(np.nanquantile, lambda a, q: np.nanquantile(a, q, axis=0), a=A("n m", "dl", "any", 1), q=Num("d", "probability"), tolerance=64)  # fmt: skip
case(np.unique, lambda a: np.unique(a, axis=0), a=A("n m|n m k", "dl", "finite"), exact=True)
case(
    np.unique,
    lambda a: np.unique(a, True, True, True, axis=1),
    a=A("n m", "dl?", "few", 1),
    exact=True,
    derivative=False,
)
case(
    np.histogram2d,
    lambda a, b, w: np.histogram2d(a, b, (3, [-1.0, 0.0, 2.0]), weights=w)[0],
    a=A("n", "d", "finite"),
    b=A("n", "d", "finite"),
    w=A("n", "d", "finite"),
    tolerance=64,
)
case(
    np.histogramdd,
    lambda a, w: np.histogramdd(a, (3, [-1.0, 0.0, 2.0]), weights=w)[0],
    a=A("n 2", "d", "finite", 1),
    w=A("n", "d", "finite"),
)
case(np.histogramdd, lambda a, b: np.histogramdd([a, b], 4, density=True), a=A("n", "dl", "finite", 1), b=A("n", "dl", "finite", 1), derivative=False)  # fmt: skip
case(np.histogram2d, lambda a, b: np.histogram2d(a, b, 4, density=True), a=A("n", "dl", "finite", 1), b=A("n", "dl", "finite", 1), derivative=False)  # fmt: skip
case([np.size, np.isscalar], lambda a: (np.size(a, 0), np.size(a, -1), np.isscalar(a), np.isscalar(2.0)), a=A("n|n m", "d"), derivative=False)  # fmt: skip
