"""The texts and classes of exceptions that NumPy raises, raised by compiled code."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn


def added(a, b):
    a += b
    return a


ONES = np.ones
A, V, Z = np.ones((3, 4)), np.ones(3), np.ones(2) + 1j
RAISING = """
added(np.arange(3), 1.5)
added(np.arange(3), V)
added(ONES(4), ONES((2, 4)))
added(ONES(4), ONES((1, 4)))
added(ONES(4), ONES((2, 3)))
added(ONES(4), V)
added(ONES(1), V)
added(ONES(1), ONES(0))
added(ONES((1, 4)), ONES((4, 1)))
added(ONES((2, 1)), ONES((2, 4)))
added(ONES((1, 3)), ONES((2, 4)))
added(ONES(()), V)
added(ONES((2, 2)), V)
added(ONES(2) + 0j, ONES((3, 2)))
np.add(ONES(4), 1, out=V.copy())
np.add(ONES(4), ONES((2, 4)), out=ONES(4))
np.add(ONES(4), ONES((2, 3)), out=ONES(4))
np.add(ONES(4), 1, out=ONES(4), where=ONES(3) > 0)
np.add(ONES(4), V, out=ONES(1))
np.add(ONES((3, 1)), V, out=ONES((3, 1)))
np.sin(ONES(4), out=V.copy())
np.sin(ONES(4), out=ONES(1))
np.exp(ONES(4), out=ONES(1), where=ONES(1) > 0)
np.clip(ONES((1, 4)), 0, 1, out=ONES(4))
np.clip(ONES(4), 0, 1, out=ONES(1))
np.clip(ONES(1), ONES(1), 2, out=ONES(()))
np.fix(ONES((2, 4)), out=ONES((1, 4)))
np.round(ONES(1), 1, out=ONES(4))
np.round(ONES((1, 4)), out=ONES(4))
np.outer(V, V, out=ONES((1, 3)))
np.add(V, 1.5, out=np.zeros(3, int))
np.add(V, V, dtype=int)
np.negative(V, dtype=int)
np.gcd(V, V)
np.sign(V > 0)
np.floor(Z)
np.ceil(Z[0])
np.trunc(Z)
np.cbrt(Z)
np.einsum("ij,k", A)
np.einsum("ij", A, V)
np.einsum("ij,jk->ik", A, A)
np.einsum("ij,jk,kl->il", A, A.T, A.T)
np.einsum("i,j,ij", V, V, A)
np.einsum("i,i->i", V, ONES(4))
np.einsum("...i,i->...", A, V)
np.einsum("bij,bjk->bik", A[None], A[None])
np.einsum("ii,i", A[:, :3], ONES(4))
np.convolve(V, V, "foo")
ONES((2, 3, 4)) @ ONES((3, 4, 2))
ONES((2, 5, 3, 4)) @ ONES((3, 1, 4, 2))
(ONES((2, 3, 4)) + 1j) @ ONES((3, 4, 2))
ONES((2, 0, 4)) @ ONES((3, 4, 2))
np.linalg.solve(ONES((2, 3, 3)), ONES((3, 3, 2)))
np.linalg.solve(ONES((2, 1, 3, 3)), ONES((5, 3, 3, 2)))
np.linalg.vecdot(ONES((2, 3)), ONES((3, 3)))
np.matvec(ONES((2, 3, 4)), ONES((3, 4)))
np.vecmat(ONES((2, 3)), ONES((3, 3, 4)))
np.correlate(V, V, 7)
np.polyder(V, -1)
np.polyval(3.0, V)
np.polyval(A, ONES(3))
np.result_type()
np.swapaxes(A, 0, 2)
A.swapaxes(-3, 0)
np.diagonal(A, 0, 2, 1)
A.diagonal(axis2=5)
np.trace(A, 0, 0, 2)
np.quantile(V, 0.5, method="middle")
np.nanpercentile(V, 50, method="middle")
""".strip().splitlines()


@pytest.mark.parametrize("call", RAISING)
def test_exceptions(call):
    function = eval(f"lambda A, V, Z: {call}", globals())
    with pytest.raises((TypeError, ValueError)) as expected:
        function(A, V, Z)
    with pytest.raises((TypeError, ValueError)) as got:
        zyg.jit(function)(A, V, Z)
    assert type(got.value).__name__ == type(expected.value).__name__
    assert str(got.value) == str(expected.value)


@pytest.mark.parametrize("function", [np.std, np.nanstd, np.ptp, np.var, np.median, np.sum, np.max])
def test_outputs_are_not_larger_than_what_a_reduction_gives(function):
    for out in (ONES(4), ONES(1), ONES((3, 1))):
        for call in (function, zyg.jit(lambda a, out: function(a, out=out))):
            with pytest.raises(ValueError):
                call(V, out=out)
