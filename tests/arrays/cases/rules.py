"""Rules of the library's own helpers, which compiled code meets inside of NumPy's functions."""

from __future__ import annotations

import numpy as np

from zyg.library.numpy_ import products, triangular

from ..case import case
from ..drawing import A


def _add_matvec(y, a, x):
    z = y.copy()
    products.add_matvec(z, a, x)
    return z


def _add_product(y, a, b):
    z = y.copy()
    products.add_product(z, a, b)
    return z


def _add_stacked(y, a, b):
    z = y.copy()
    products.add_stacked(z, a, b)
    return z


# What of nothing is, is said by the functions that call them.
D = {"dtypes": "d", "values": "finite", "least": 1}
case(products.dot_vectors, lambda a, b: products.dot_vectors(a, b), a=A("n", **D), b=A("n", **D))
case(products.matvec, lambda a, x: products.matvec(a, x), a=A("n m", **D), x=A("m", **D))
case(products.add_matvec, _add_matvec, y=A("n", **D), a=A("n m", **D), x=A("m", **D))
case(products.product, lambda a, b: products.product(a, b), a=A("n m", **D), b=A("m k", **D))
case(products.add_product, _add_product, y=A("n k", **D), a=A("n m", **D), b=A("m k", **D))
case(products.stacked, lambda a, b: products.stacked(a, b), a=A("p n m", **D), b=A("p m k", **D))
case(products.add_stacked, _add_stacked, y=A("p n k", **D), a=A("p n m", **D), b=A("p m k", **D))

# Rules that NumPy's functions do not need for all that they are asked for.
case(triangular.solve_lower, lambda t, b: np.linalg.solve(t, b), t=A("n n", "d", "regular", 1), b=A("n", **D))
