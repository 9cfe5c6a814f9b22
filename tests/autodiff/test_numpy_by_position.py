"""Through Python, arguments of NumPy's functions mean the same by position as by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.turns import each_in_turn
from zyg.autodiff.objects.api import pullback

NUMPY: Any = np


@each_in_turn
@pytest.mark.parametrize(
    ("by_position", "by_name"),
    [
        (lambda a: np.cumsum(a, 0, float), lambda a: np.cumsum(a, axis=0, dtype=float)),
        (lambda a: a.cumsum(0, float), lambda a: a.cumsum(axis=0, dtype=float)),
        (lambda a: np.cumprod(a, 0, float), lambda a: np.cumprod(a, axis=0)),
        (lambda a: np.var(a, 0, float), lambda a: np.var(a, axis=0, dtype=float)),
        (lambda a: np.var(a, 0, None, None, 1), lambda a: np.var(a, axis=0, ddof=1)),
        (lambda a: a.std(None, None, None, 1), lambda a: a.std(ddof=1)),
        (lambda a: np.diff(a, 1, 0, a[:1]), lambda a: np.diff(a, 1, axis=0, prepend=a[:1])),
        (lambda a: np.sort(a, 0, "stable"), lambda a: np.sort(a, axis=0, kind="stable")),
        (lambda a: NUMPY.broadcast_to(a, (2, 2, 3), False), lambda a: np.broadcast_to(a, (2, 2, 3))),
        (lambda a: NUMPY.concatenate([a, a], 0, None), lambda a: np.concatenate([a, a])),
        (lambda a: NUMPY.outer(a, a, None), lambda a: np.outer(a, a)),
        (lambda a: np.unique(a, True)[0], lambda a: np.unique(a, return_index=True)[0]),
        (lambda a: a[0, 0].astype(float, "C") * a[0], lambda a: a[0, 0] * a[0]),
    ],
)
def test_by_position_is_by_name(by_position, by_name):
    a = np.array([[1.5, 2.0, 3.0], [0.5, -1.0, 4.0]])
    (value, back), (wanted, wanted_back) = pullback(by_position, (a,)), pullback(by_name, (a,))
    assert np.array_equal(value, wanted)
    d = np.cos(np.arange(np.size(value))).reshape(np.shape(value))
    d = float(d) if d.ndim == 0 else d
    assert np.allclose(back(d)[0], wanted_back(d)[0])


def test_results_go_where_they_are_sent():
    def f(a):
        out = np.zeros((6, 6))
        np.outer(a, a, out)
        return out

    a = np.arange(6.0)
    assert np.array_equal(pullback(f, (a,))[0], np.outer(a, a))
