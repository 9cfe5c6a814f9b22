"""Derivatives of what is compared with NumPy by cases that have none: the parts that are numbers, smooth arguments."""

from __future__ import annotations

import importlib.util

import numpy as np

from ..case import case
from ..drawing import A, Num

WEIGHTS = A("n", "d", "positive")

case(np.arange, lambda s, x: np.arange(s, s + 3.1, 1.0 + 0.1 * x) * x, s=Num("d", "finite"), x=Num("d", "unit"))
case([np.frexp, np.divmod], lambda a: (np.frexp(a)[0] * a, np.divmod(a, 2.3)[1] * a), a=A("n|n m", "d", "positive"))
case(
    [np.setdiff1d, np.intersect1d],
    lambda a: (np.setdiff1d(a, a[:1]) ** 2, np.intersect1d(a, a[1:]) ** 2),
    a=A("n", "d", "finite", least=2),
)
case(
    [np.histogram, np.histogram_bin_edges],
    lambda a, w: (
        np.histogram(a, 3, (-9.0, 9.0), weights=w * w)[0],
        np.histogram(a, 4, (-9.0, 9.0), True, w)[0],
        np.histogram_bin_edges(a * a, 3),
    ),
    a=A("n", "d", "finite", least=2),
    w=WEIGHTS,
)
case(np.nextafter, lambda a: np.nextafter(a, 100.0) * a, a=A("n", "d", "finite"))

if importlib.util.find_spec("scipy") is not None:
    from scipy import special

    case(special.factorial, lambda a: special.factorial(a), a=A("n", "d", "positive"), tolerance=256)
