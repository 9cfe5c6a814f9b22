"""Products of arrays of bools: whether any product is one."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn

draw = np.random.default_rng(1)
b, c, i, x = (
    np.array([True, False, True]),
    np.array([False, True, False]),
    np.array([1, 2, 3]),
    np.linspace(0.5, 2.0, 3),
)
B, C, NONE = draw.random((3, 3)) > 0.5, draw.random((2, 3, 3)) > 0.6, np.zeros((0, 3), bool)

PRODUCTS = """
b @ b; b @ c; B @ b; b @ B.T; B @ B; C @ B; C @ C; B @ i; NONE @ B; NONE.T @ NONE; B.dot(b)
np.dot(b, b); np.dot(b, True); np.dot(B, B); np.dot(C, C); np.vdot(B, B); np.inner(B, b); np.inner(C, B)
np.outer(b, c); np.outer(b, True); np.tensordot(C, B, 1); np.kron(B, B); np.vecdot(B, B); np.linalg.matmul(B, B)
np.einsum("i,i", b, c); np.einsum("ij,jk->ik", B, B); np.einsum("ij,ij->ij", B, B); np.einsum("ij,jk,kl->il", B, B, B)
np.einsum("ij->i", B); np.einsum("ij->", B); np.einsum("ii->i", B); np.einsum("i,j", b, b)
np.linalg.multi_dot([B, B, B]); np.linalg.multi_dot([b, B, B, b]); np.linalg.matrix_power(B, 2)
np.matmul(B, B, out=np.ones((3, 3), bool)); np.dot(B, B, out=np.ones((3, 3), bool)); np.einsum("ij,jk", B, B, out=np.ones((3, 3), bool))
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("product", [text.strip() for text in PRODUCTS if text.strip()])
def test_products(product):
    function = eval(f"lambda: {product}", globals())
    expected, got = np.asarray(function()), np.asarray(zyg.jit(function)())
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def test_what_they_choose_has_a_derivative():
    f = lambda x, b: np.sum(x[b @ np.outer(b, b)] ** 3)
    np.testing.assert_allclose(zyg.gradient(f, x, b)[0], np.where(b, 3 * x**2, 0))


@pytest.mark.parametrize("subscripts", ["ij->ji", "ii->i", "ij", "...", "i...->...i"])
def test_what_is_no_sum_is_a_view(subscripts):
    def f(a):
        seen = np.einsum(subscripts, a)
        seen[0] = True
        a[1] = False
        return seen

    expected, got = B & False, B & False
    result, found = f(expected), zyg.jit(f)(got)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(found, result)
    assert np.shares_memory(found, got)
