"""BLAS and LAPACK: what is special about products, numpy.linalg, scipy.special; the differential test (tests/arrays) draws inputs."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import zyg
from zyg.autodiff.objects.api import pullback as python_pullback
from zyg.library import blas

from ..turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn

RNG = np.random.default_rng(7)


def slope(f, args, along, h=1e-6):
    """The directional derivative of a function of arrays, by differences."""
    up, down = ([a + s * h * v for a, v in zip(args, along)] for s in (1, -1))
    return (f(*up) - f(*down)) / (2 * h)


def agree(f, *args, rtol=1e-5, second=False):
    """Reverse and forward derivative of a number, native, against differences; the second one too, which takes long to compile."""
    along = [RNG.normal(size=np.shape(a)) for a in args]
    expected = slope(f, args, along)
    given = zyg.jit(lambda *a: zyg.gradient(f, *a))(*args)
    assert np.isclose(sum(np.sum(g * v) for g, v in zip(given, along)), expected, rtol, 1e-6)
    assert np.isclose(zyg.jit(lambda a, v: zyg.pushforward(f, *a)[1](*v))(args, along), expected, rtol, 1e-6)
    if not second:
        return
    squared = zyg.jit(lambda *a: sum_of_squares(zyg.gradient(f, *a)))
    twice = zyg.jit(lambda *a: zyg.gradient(lambda *b: sum_of_squares(zyg.gradient(f, *b)), *a))(*args)
    assert np.isclose(sum(np.sum(g * v) for g, v in zip(twice, along)), slope(squared, args, along, 1e-5), 1e-3, 1e-4)


def sum_of_squares(arrays):
    total = 0.0
    for a in arrays:
        total += np.sum(a * a)
    return total


def definite(n):
    a = RNG.normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


# ---------------------------------------------------------------------------------------------- products


LARGE = [((40, 30), (30, 50)), ((60,), (60, 5)), ((60, 5), (5,)), ((3, 20, 4), (4, 30))]


@pytest.mark.parametrize(("left", "right"), LARGE)
def test_large_products_of_all_layouts(left, right):
    """By BLAS: transposed, strided and reversed operands."""
    f = zyg.jit(lambda a, b: a @ b)
    a, b = RNG.normal(size=left), RNG.normal(size=right)
    views = [
        lambda x: x,
        lambda x: x.T.copy().T,
        lambda x: x.repeat(2, -1)[..., ::2],
        lambda x: x[::-1].copy()[::-1],
    ]
    for u in views:
        for v in views:
            assert np.allclose(f(u(a), v(b)), a @ b)
    single = f(a.astype("f4"), b.astype("f4"))
    assert single.dtype == np.float32 and np.allclose(single, a @ b, atol=1e-3)
    assert np.allclose(f(a + 1j, b - 2j * b), (a + 1j) @ (b - 2j * b))


def test_the_gradient_of_a_large_product_is_no_loop():
    a, b = RNG.normal(size=(30, 20)), RNG.normal(size=(20, 40))
    f = lambda a, b: np.sum(np.sin(a @ b))
    llvm = zyg.code_llvm(lambda a, b: zyg.gradient(f, a, b), a, b)
    assert "zyg_matmul_" in llvm  # which calls BLAS, or a kernel
    d = np.cos(a @ b)
    da, db = zyg.gradient(f, a, b)
    assert np.allclose(da, d @ b.T) and np.allclose(db, a.T @ d)


def test_cotangents_of_transposed_and_strided_views_of_matrices():
    """What a product adds to: a shadow whose columns lie together, or neither rows nor columns do; by BLAS, and by loops."""

    def f(a, b, x):
        return np.sum(np.sin(x @ a.T)) + np.sum(np.cos(b.T @ x.T)) + np.sum((x[:, ::2] @ a[::-2, ::2].T) ** 3)

    gradient = zyg.jit(lambda *args: zyg.gradient(f, *args))
    for n, k in ((22, 8), (4, 2), (1, 300)):
        a, b, x = RNG.normal(size=(n, k)), RNG.normal(size=(k, n)), RNG.normal(size=(n + 1, k))
        da, db, dx = gradient(a, b, x)
        sine, cosine = np.cos(x @ a.T), -np.sin(b.T @ x.T)
        cube = 3.0 * (x[:, ::2] @ a[::-2, ::2].T) ** 2
        expected = sine.T @ x
        expected[::-2, ::2] += cube.T @ x[:, ::2]
        assert np.allclose(da, expected) and np.allclose(db, (cosine @ x).T)
        expected = sine @ a + (b @ cosine).T
        expected[:, ::2] += cube @ a[::-2, ::2]
        assert np.allclose(dx, expected)


def products():
    agree(lambda a, b, x: np.sum(np.tanh(a @ b @ x)) + a[0] @ b @ x, RNG.normal(size=(9, 8)), RNG.normal(size=(8, 7)),
          RNG.normal(size=7))  # fmt: skip


def stacked_products():
    agree(lambda a, b: np.sum((a @ b) ** 2), RNG.normal(size=(2, 3, 4)), RNG.normal(size=(4, 2)), second=True)


def product_written_in_place_in_a_loop():
    def f(a, x):
        for _ in range(4):
            x = np.sin(a @ x)
            a[0] *= x[0]
        return np.sum(x)

    agree(lambda a, x: f(a.copy(), x), RNG.normal(size=(9, 9)), RNG.normal(size=9))


# ---------------------------------------------------------------------------------- numpy.linalg, in every mode


def systems(n):
    def f(a, b):
        x = np.linalg.solve(a, b)
        log = np.linalg.slogdet(a)[1]
        return np.sum(x * x) + log + np.sum(np.linalg.inv(a)[0])

    agree(f, RNG.normal(size=(n, n)) + n * np.eye(n), RNG.normal(size=n))


def cholesky(n):
    def f(a, b):
        factor = np.linalg.cholesky(a)
        z = np.linalg.solve(factor, b)
        return 0.5 * z @ z + np.sum(np.log(np.diagonal(factor)))

    agree(f, definite(n), RNG.normal(size=n))


def orthogonal_factorisations():
    def f(a):
        u, s, _ = np.linalg.svd(a, full_matrices=False)
        q, r = np.linalg.qr(a)
        w, v = np.linalg.eigh(a.T @ a)
        return np.sum(np.abs(u[0]) + s * s) + np.sum(np.abs(q[1])) + np.sum(r * r) + np.sum(np.abs(v[0]) * w)

    agree(f, RNG.normal(size=(5, 3)), rtol=1e-4)


# Neighbours cost about the same; small systems are solved by loops, large ones by LAPACK.
MODES = [
    products, stacked_products, product_written_in_place_in_a_loop,
    partial(systems, 3), partial(cholesky, 11), orthogonal_factorisations, partial(cholesky, 3), partial(systems, 11),
]  # fmt: skip


@each_in_long_turn
@pytest.mark.parametrize("check", MODES)
def test_every_mode(check):
    check()


# ------------------------------------------------------------------------------------------ singular input


def raised(f, *args):
    try:
        f(*args)
    except Exception as error:
        return type(error), str(error)
    return None


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda a, b: np.linalg.solve(a, b), (np.ones((3, 3)), np.ones(3))),
        (lambda a, b: np.linalg.solve(a, b), (np.zeros((20, 20)), np.ones(20))),
        (lambda a, b: np.linalg.solve(a, b), (np.eye(3), np.ones(4))),
        (lambda a: np.linalg.inv(a), (np.zeros((2, 3, 3)),)),
        (lambda a: np.linalg.inv(a), (np.zeros((2, 3)),)),
        (lambda a: np.linalg.inv(a), (np.zeros(3),)),
        (lambda a: np.linalg.cholesky(a), (-np.eye(3),)),
        (lambda a: np.linalg.cholesky(a), (-np.eye(20),)),
        (lambda a: np.linalg.matrix_power(a, 2), (np.ones((2, 3)),)),
        (lambda a, b: a @ b, (np.ones((2, 3)), np.ones((2, 3)))),
        (lambda a, b: np.dot(a, b), (np.ones((2, 3)), np.ones((2, 3)))),
        (lambda a, b: np.einsum("ij,kl->im", a, b), (np.ones((2, 3)), np.ones((2, 3)))),
    ],
)
def test_the_same_exceptions_as_numpy(f, args):
    expected = raised(f, *args)
    assert expected is not None and raised(zyg.jit(f), *args) == expected
    assert raised(lambda *a: zyg.gradient(lambda *b: np.sum(f(*b)), *a), *args)[0] is expected[0]


def test_the_determinant_of_a_singular_matrix_has_a_derivative():
    for a in (
        np.diag([1.0, 2.0, 0.0]),
        np.ones((3, 3)),
        np.outer([1.0, 2.0, 3.0], [1.0, 0.0, -1.0]) + np.diag([1.0, 0.0, 0.0]),
    ):
        (given,) = zyg.gradient(lambda a: np.linalg.det(a), a)
        expected = np.array([[slope(np.linalg.det, [a], [np.outer(i, j)]) for j in np.eye(3)] for i in np.eye(3)])
        assert np.allclose(given, expected, atol=1e-7)


def test_equal_eigenvalues():
    """Vectors of equal values have no derivative; the values have theirs."""
    c = np.arange(9.0).reshape(3, 3)

    def spectral(a):
        w, v = np.linalg.eigh(a)
        return np.sum(c * ((v * np.exp(w)) @ v.T))

    def rebuilt(a):
        u, s, vt = np.linalg.svd(a)
        return np.sum(c * ((u * s) @ vt))

    def values(a):
        return np.sum(np.linalg.eigvalsh(a) ** 2) + np.sum(np.linalg.svd(a)[1])

    same, two, apart = np.eye(3), np.diag([1.0, 1.0, 2.0]), np.diag([1.0, 1.5, 2.0])
    for f in (spectral, rebuilt):
        for gradient in (zyg.grad(f), lambda a, f=f: python_pullback(f, (a,))[1](1.0)[0]):
            assert np.isfinite(gradient(apart)).all()
            assert np.isnan(gradient(same)).any() and np.isnan(gradient(two)).any()
        assert np.isnan(zyg.jvp(f, (two,), (c,))[1])
    assert np.allclose(zyg.gradient(values, same)[0], 3.0 * same)
    assert np.allclose(zyg.jvp(values, (same,), (c,))[1], np.sum(3.0 * same * c))
    one_column = lambda a: np.linalg.eigh(a)[1][0, 2] ** 2  # of a value that is alone
    assert np.isfinite(zyg.gradient(one_column, two)[0]).all()
    (norm,) = zyg.gradient(lambda x: np.linalg.norm(x), np.zeros(3))
    assert norm.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_that_are_equal_but_for_rounding(dtype):
    """Differences of them are rounding errors, and derivatives that are divided by these would be anything."""
    c, b = RNG.normal(size=(4, 4)).astype(dtype), RNG.normal(size=(4, 4)).astype(dtype)

    def root(a):
        w, v = np.linalg.eigh(a)
        return np.sum(c * ((v * np.sqrt(w)) @ v.T))

    def polar(a):
        u, _, vt = np.linalg.svd(a)
        return np.sum(c * (u @ vt))

    def general(a):
        return np.sum(c * np.abs(np.linalg.eig(a + 0j)[1]) ** 2)

    def cubes(a):
        return np.sum(np.linalg.eigvalsh(a) ** 3)

    eps = np.finfo(dtype).eps
    for gap, right in ((0.0, False), (eps, False), (1e4 * eps, True)):
        q = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
        values = np.array([1.0, 1.0 + gap, 2.0, 3.0])
        a = ((q * values) @ q.T).astype(dtype)
        a = (a + a.T) / 2
        derivatives = {
            "root": lambda a: zyg.grad(root)(a),
            "polar": lambda a: zyg.grad(polar)(a),
            "jvp": lambda a: zyg.jvp(root, (a,), (b,))[1],
            "jvp of polar": lambda a: zyg.jvp(polar, (a,), (b,))[1],
            "hvp": lambda a: zyg.hvp(cubes, a, b),
            "through python": lambda a: python_pullback(root, (a,))[1](dtype(1.0))[0],
        }
        if dtype is np.float64:
            derivatives["general"] = lambda a: zyg.grad(general)(a)
        for name, derivative in derivatives.items():
            assert np.isfinite(derivative(a)).all() == right, (name, gap)
        assert np.allclose(zyg.grad(cubes)(a) + zyg.grad(cubes)(a).T, 6 * a @ a, rtol=100 * eps, atol=100 * eps)
        smooth = zyg.hvp(cubes, a, b + b.T)
        if right:
            assert np.allclose((smooth + smooth.T) / 2, 3 * (a @ (b + b.T) + (b + b.T) @ a), rtol=1e-2, atol=1e-2)


@each_in_long_turn
def test_second_derivatives_of_the_largest_values_of_matrices_of_low_rank():
    """Zeros that occur several times are no matter for a function that does not go by them, and nan for one that does."""
    a, v = RNG.normal(size=(2, 4)), RNG.normal(size=(2, 4))
    zeros, moved = np.diag([0.0, 0.0, 1.0, 2.0]), RNG.normal(size=(4, 4))

    def of_gram_matrix(a):
        return np.linalg.eigvalsh(a.T @ a)[-1]

    def of_outer_product(a):
        return np.linalg.svd(np.outer(a[0], a[1]), compute_uv=False)[0] ** 2 + np.linalg.norm(np.outer(a[0], a[1]), 2)

    def squares(a):
        return np.sum(np.linalg.eigvalsh(a) ** 2)

    def along(f, v):
        return lambda x: np.sum(zyg.grad(f)(x) * v)

    for f in (of_gram_matrix, of_outer_product):
        g = along(f, v)
        expected = (g(a + 1e-5 * v) - g(a - 1e-5 * v)) / 2e-5
        for found in (zyg.hvp(f, a, v), zyg.grad(g)(a), np.tensordot(zyg.hessian(f, a), v)):
            assert np.sum(found * v) == pytest.approx(expected, rel=1e-6)
        third = lambda x, f=f: np.sum(zyg.hvp(f, x, v) * v)
        assert np.isnan(zyg.jvp(third, (a,), (v,))[1])  # which would be by what was left out
    for found in (zyg.hvp(squares, zeros, moved), zyg.grad(along(squares, moved))(zeros)):
        assert np.isnan(np.sum(found))


def traced(power):
    """Of the eigenvalues, and the same without them."""
    values = lambda a: np.sum((np.linalg.eigvals(a) ** power).real)
    return values, lambda a: np.trace(np.linalg.matrix_power(a, power))


@each_in_long_turn
@pytest.mark.parametrize("power", [2, 3])
def test_eigenvalues_of_defective_matrices(power):
    """Their derivatives are nan where the vectors do not span the space; second ones already near that."""
    values, whole = traced(power)
    w = RNG.normal(size=(3, 3))
    block, equal = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 2.0]]), np.diag([3.0, 3.0, 1.0])
    ways = [
        lambda a: zyg.hvp(values, a, w),
        lambda a: zyg.grad(lambda a: np.sum(zyg.grad(values)(a) * w))(a),
        lambda a: zyg.jvp(zyg.grad(values), (a,), (w,))[1],
        lambda a: zyg.grad(lambda a: zyg.jvp(values, (a,), (w,))[1])(a),
    ]
    assert np.isnan(zyg.grad(values)(block)).all() and np.isnan(zyg.jvp(values, (block,), (w,))[1])
    near = block + 1e-12 * w
    for a in (near, equal):
        assert np.allclose(zyg.grad(values)(a), zyg.grad(whole)(a), atol=1e-6)
        assert np.allclose(zyg.jvp(values, (a,), (w,))[1], zyg.jvp(whole, (a,), (w,))[1], atol=1e-6)
    for second in ways:
        assert np.isnan(second(block)).all() and np.isnan(second(near)).all() and np.isnan(second(equal)).any()
        apart = np.diag([3.0, 2.0, 1.0]) + 0.1 * w
        assert np.allclose(second(apart), zyg.hvp(whole, apart, w))


@each_in_long_turn
def test_second_derivatives_through_vectors_of_values_that_are_near_each_other():
    """They are right to two digits, or nan."""
    c, w = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))

    def root(a):
        values, v = np.linalg.eigh((a + a.T) / 2)
        return np.sum(c * ((v * values**1.5) @ v.T))

    def polar(a):
        u, _, vt = np.linalg.svd(a)
        return np.sum(c * (u @ vt))

    def one(a):  # of a value that is far from the others
        return np.linalg.eigh((a + a.T) / 2)[1][0, 2] ** 2

    q = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    for f in (root, polar, one):
        ways = [
            lambda a, f=f: zyg.hvp(f, a, w),
            lambda a, f=f: zyg.grad(lambda a: np.sum(zyg.grad(f)(a) * w))(a),
            lambda a, f=f: zyg.grad(lambda a: zyg.jvp(f, (a,), (w,))[1])(a),
        ]
        for second in ways:
            for gap in (1e-3, 1e-6, 1e-8, 1e-10, 1e-13, 0.0):
                a = q @ np.diag([1.0, 1.0 + gap, 2.0]) @ q.T
                given = second(a)
                far = second(q @ np.diag([1.0, 1.0 + 1e-3, 2.0]) @ q.T)  # changes little from there
                assert np.isnan(given).all() or np.allclose(given, far, rtol=5e-2, atol=5e-2), (f, gap)
                assert f is one or np.isnan(given).all() == (gap < 5e-8), (f, gap)
                assert f is not one or gap < 1e-7 or np.isfinite(given).all()


@each_in_long_turn
def test_through_python():
    class Held:
        pass

    def f(a, b):
        held = Held()
        setattr(held, "".join(["va", "lue"]), np.linalg.cholesky(a))
        w, _ = np.linalg.eigh(a)
        return float(np.sum(held.value @ b)) + float(w[0])

    a, b = definite(3), RNG.normal(size=3)
    plain = lambda a, b: np.sum(np.linalg.cholesky(a) @ b) + np.linalg.eigh(a)[0][0]
    with pytest.warns(zyg.FallbackWarning):
        given = zyg.gradient(f, a, b)
    for x, y in zip(given, zyg.gradient(plain, a, b)):
        assert np.allclose(x, y)


# -------------------------------------------------------------------------------------------- the library


def test_without_scipy_numpys_own_library_serves():
    program = """
import sys
sys.modules["scipy"] = None
import numpy as np, zyg
a = np.eye(20) * 2.0
f = zyg.jit(lambda a: np.linalg.solve(a @ a, np.ones(20)))
assert np.allclose(f(a), 0.25), f(a)
from zyg.library import blas
assert not isinstance(blas.provider().library, tuple)
print("ok")
"""
    if blas.provider() is None or isinstance(blas.provider().library, tuple):
        pytest.skip("this NumPy's library cannot be called")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "ok\n", done.stderr


def test_scipys_library_serves_too():
    pytest.importorskip("scipy")
    program = """
import numpy.linalg._umath_linalg as own
own.__file__ = "/nonexistent"
import numpy as np, zyg
from zyg.library import blas
assert blas.provider().bits == 32 and blas.INTEGER is np.int32
a = np.random.default_rng(0).normal(size=(20, 20))
f = zyg.jit(lambda a: np.linalg.solve(a @ a, np.ones(20)) + np.linalg.svd(a)[1] + np.linalg.qr(a)[1][0] + np.linalg.eigvalsh(a))
b = np.linalg.solve(a @ a, np.ones(20)) + np.linalg.svd(a)[1] + np.linalg.qr(a)[1][0] + np.linalg.eigvalsh(a)
assert np.allclose(f(a), b)
print("ok")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "ok\n", done.stderr


# ------------------------------------------------------------------------------------------- scipy.special


def test_special_functions_in_every_mode():
    sc = pytest.importorskip("scipy.special")

    def f(x, y):
        total = np.sum(sc.gammaln(x) + sc.erfinv(0.3 * x) + sc.expit(y) * sc.xlogy(x, y) + sc.betaln(x, y))
        return total + np.sum(sc.i0(x) + sc.ndtri(0.5 * x) + sc.logsumexp(x) + sc.log_softmax(y)) + sc.psi(x[0])

    agree(f, RNG.uniform(0.3, 1.8, 5), RNG.uniform(0.5, 2.0, 5))


def test_an_argument_of_a_special_function_without_a_derivative_is_refused():
    sc = pytest.importorskip("scipy.special")
    assert np.isclose(zyg.gradient(lambda x: sc.gammainc(2.0, x), 1.5)[0], 1.5 * np.exp(-1.5))
    with pytest.raises(zyg.Unsupported), pytest.warns(zyg.FallbackWarning):
        zyg.gradient(lambda a: sc.gammainc(a, 1.5), 2.0)


def test_forward_over_reverse_of_systems_in_a_loop_that_is_left_early():
    def f(p):
        a = np.array([[2.0 + p[0], 1.0], [1.0, -3.0 * p[1]]])
        x = p
        for _ in range(100):
            x = x + np.linalg.solve(a, x)
            a = a + 0.01 * np.outer(x, x)
            if x[0] > 4.0:
                break
        return np.sum(x**3)

    p = np.array([0.1, 0.3])
    h = 1e-5
    expected = (zyg.gradient(f, p + h * p)[0] - zyg.gradient(f, p - h * p)[0]) / (2 * h)
    assert np.allclose(zyg.hvp(f, p, p), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "matrix", [np.eye(3), np.array([[0.0, 1.0], [-1.0, 0.0]]), np.zeros((0, 0)), np.ones((2, 1, 1))]
)
def test_eigenvalues_are_of_the_type_that_the_numpy_at_hand_gives(matrix):
    both = lambda a: (np.linalg.eigvals(a), *np.linalg.eig(a))
    for x, y in zip(zyg.jit(both)(matrix), both(matrix), strict=True):
        assert x.dtype == y.dtype and np.allclose(x, y)
    real = zyg.jit(np.roots)(np.array([1.0, -3.0, 2.0]))
    assert real.dtype == float and real.flags.owndata
