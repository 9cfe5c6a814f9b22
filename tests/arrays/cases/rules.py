"""Rules of the library's own helpers, which compiled code meets inside of NumPy's functions."""

from __future__ import annotations

import numpy as np

from zyg.library.numpy_ import extrema, gathering, products, triangular

from ..case import case
from ..drawing import A


def _add_matvec(y, a, x):
    z = y.copy()
    products.add_matvec(z, a, x)
    return z


def _add_outer(c, x, y):
    z = c.copy()
    products.add_outer(z, x, y)
    return z


def _add_product(y, a, b):
    z = y.copy()
    products.add_product(z, a, b)
    return z


def _add_stacked(y, a, b):
    z = y.copy()
    products.add_stacked(z, a, b)
    return z


def _add_taken(y, a):
    z = y.copy()
    gathering.add_taken(z, np.arange(len(a)) % len(y), a)
    return z


def _add_places(y, a):
    z = y.copy()
    extrema._add_at_places(z, np.arange(len(y)) % y.shape[1], a)
    return z


# What of nothing is, is said by the functions that call them.
D = {"dtypes": "d", "values": "finite", "least": 1}
case(products.dot_vectors, lambda a, b: products.dot_vectors(a, b), a=A("n", **D), b=A("n", **D))
case(products.matvec, lambda a, x: products.matvec(a, x), a=A("n m", **D), x=A("m", **D))
case(products.add_matvec, _add_matvec, y=A("n", **D), a=A("n m", **D), x=A("m", **D))
case(products.add_outer, _add_outer, c=A("n m", **D), x=A("n", **D), y=A("m", **D))
case(products.product, lambda a, b: products.product(a, b), a=A("n m", **D), b=A("m k", **D))
case(products.add_product, _add_product, y=A("n k", **D), a=A("n m", **D), b=A("m k", **D))
case(products.stacked, lambda a, b: products.stacked(a, b), a=A("p n m", **D), b=A("p m k", **D))
case(products.add_stacked, _add_stacked, y=A("p n k", **D), a=A("p n m", **D), b=A("p m k", **D))
case(gathering.taken, lambda a: gathering.taken(a, np.array([0, -1, 0])), a=A("n m", **D))
case(gathering.add_taken, _add_taken, y=A("n m", **D), a=A("k m", **D))
case(extrema._at_places, lambda a: extrema._at_places(a, np.arange(len(a)) % a.shape[1]), a=A("n m", **D))
case(extrema._add_at_places, _add_places, y=A("n m", **D), a=A("n", **D))

# Rules that NumPy's functions do not need for all that they are asked for.
case(triangular.solve_lower, lambda t, b: np.linalg.solve(t, b), t=A("n n", "d", "regular", 1), b=A("n", **D))
