"""Rules of the library's own helpers, which compiled code meets inside of NumPy's functions."""

from __future__ import annotations

import numpy as np

from zyg.library.numpy_ import extrema, gathering, multiplying, triangular

from ..case import case
from ..drawing import A


def _adding(add):
    def added(y, a, b):
        z = y.copy()
        add(z, a, b)
        return z

    return added


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
case(multiplying.dot_vectors, lambda a, b: multiplying.dot_vectors(a, b), a=A("n", **D), b=A("n", **D))
case(
    multiplying.dot_complex,
    lambda a, b: multiplying.dot_complex(a, b, True),
    a=A("n|40", "D", "finite"),
    b=A("n|40", "D", "finite"),
)
case(multiplying.matvec, lambda a, x: multiplying.matvec(a, x), a=A("n m", **D), x=A("m", **D))
case(multiplying.add_matvec, _adding(multiplying.add_matvec), y=A("n", **D), a=A("n m", **D), b=A("m", **D))
case(multiplying.add_outer, _adding(multiplying.add_outer), y=A("n m", **D), a=A("n", **D), b=A("m", **D))
case(multiplying.product, lambda a, b: multiplying.product(a, b), a=A("n m", **D), b=A("m k", **D))
case(multiplying.add_product, _adding(multiplying.add_product), y=A("n k", **D), a=A("n m", **D), b=A("m k", **D))
case(multiplying.stacked, lambda a, b: multiplying.stacked(a, b), a=A("p n m", **D), b=A("p m k", **D))
case(multiplying.add_stacked, _adding(multiplying.add_stacked), y=A("p n k", **D), a=A("p n m", **D), b=A("p m k", **D))
case(gathering.taken, lambda a: gathering.taken(a, np.array([0, -1, 0])), a=A("n m", **D))
case(gathering.add_taken, _add_taken, y=A("n m", **D), a=A("k m", **D))
case(extrema._at_places, lambda a: extrema._at_places(a, np.arange(len(a)) % a.shape[1]), a=A("n m", **D))
case(extrema._add_at_places, _add_places, y=A("n m", **D), a=A("n", **D))

# Rules that NumPy's functions do not need for all that they are asked for.
case(triangular.solve_lower, lambda t, b: np.linalg.solve(t, b), t=A("n n", "d", "regular", 1), b=A("n", **D))
