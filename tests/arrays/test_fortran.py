"""Arguments in Fortran order: what is made of them and their derivatives lie as NumPy's, have its values, and raise its errors."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from zyg.ir.types import Fortran
from zyg.typeof import Typing

from ..turns import each_in_turn
from .check import steps

RNG = np.random.default_rng(84)


def fortran(*shape: int, dtype: type = float) -> np.ndarray:
    return np.asfortranarray(RNG.normal(size=shape) * (4 if np.dtype(dtype).kind in "iu" else 1)).astype(dtype)


def by_differences(f, args, k, h=1e-6):
    """The gradient by argument k, of a function of arrays."""
    at = args[k].copy("K")
    result = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        before = at[index]
        values = []
        for x in (before + h, before - h):
            at[index] = x
            values.append(f(*(at.copy("K") if n == k else a.copy("K") for n, a in enumerate(args))))
        at[index] = before
        result[index] = (values[0] - values[1]) / (2 * h)
    return result


def in_place(x):
    y = np.exp(-x)
    y *= x
    y += x[0, 0]
    y[1] = x[0] * x[1]
    return y


def written(x):
    for i in range(x.shape[0]):
        x[i, 1] *= x[i, 0]
    x[:, 0] += 1.0
    return x


def masked(x):
    y = x * 1.0
    y[x > 0] = 0.5
    return np.where(y > 0.6, y, x - 1)


ONE = [
    lambda x: np.exp(-x) * 2,
    lambda x: x - x.mean(axis=0),
    lambda x: x / x.sum(axis=1, keepdims=True),
    lambda x: x.T @ x,
    lambda x: x @ x.T,
    lambda x: np.tanh(x[:, 1:] * x[:, :-1]),
    lambda x: x[::-1] * 2 + x[:, ::-1],
    lambda x: x[1] * x[:, 0].sum(),
    lambda x: np.sum(x[:, None] * x, axis=1),
    lambda x: np.maximum(x, 0).T,
    lambda x: x.T.T * x.T[0, 0],
    lambda x: np.concatenate([x, x * 2]),
    lambda x: np.sort(x, axis=0),
    lambda x: x.reshape(-1)[2:].copy(),
    lambda x: np.ravel(x, "F") * x.ravel("K"),
    lambda x: np.cumsum(x, axis=1),
    lambda x: np.outer(x[:, 0], x[0]),
    lambda x: (x**2 + 1j * x).real,
    in_place,
    written,
    masked,
]


@each_in_turn
@pytest.mark.parametrize("f", ONE)
def test_one_argument(f):
    x = fortran(3, 4)
    compiled = zyg.jit(f)
    expected, found = f(x.copy("K")), compiled(x.copy("K"))
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    assert steps(found) == steps(expected)
    weights = RNG.normal(size=expected.shape)
    total = lambda x: np.sum(f(x) * weights)
    (g,) = zyg.gradient(total, x.copy("K"))
    np.testing.assert_allclose(g, by_differences(total, [x], 0), rtol=1e-5, atol=1e-7)
    assert steps(g) == steps(x)


TWO = [
    lambda x, y: np.exp(-x) * y,
    lambda x, y: x * y + x / (1 + y**2),
    lambda x, y: x * y[0] + y[:, :1],
    lambda x, y: x * y.mean(axis=0) - y.mean(axis=1, keepdims=True),
    lambda x, y: np.where(x > y, x, 2 * y),
    lambda x, y: (x.T * y.T).T,
    lambda x, y: x @ y.T,
]


@each_in_turn
@pytest.mark.parametrize("f", TWO)
def test_two_arguments(f):
    x, y = fortran(3, 4), fortran(3, 4)
    for args in ((x, y), (x, y.copy("C")), (x.copy("C"), y), (x, np.repeat(y, 2, axis=1)[:, ::2])):
        expected, found = f(*args), zyg.jit(f)(*args)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
        assert steps(found) == steps(expected)
        total = lambda x, y: np.sum(f(x, y) ** 2)
        for k, g in enumerate(zyg.gradient(total, *args)):
            np.testing.assert_allclose(g, by_differences(total, args, k), rtol=1e-5, atol=1e-6)


@each_in_turn
@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 1, 4), (1, 3, 4), (3, 4), (3, 1), (1, 1), (0, 4), (2, 3, 4, 5)])
def test_shapes(shape):
    def f(x, b):
        return np.exp(x) * b, x + x.sum(axis=0), x.sum(axis=-1), x.max(initial=0.0), np.copy(x), x[..., 1:]

    x, b = fortran(*shape), RNG.normal(size=shape[-1])
    for found, expected in zip(zyg.jit(f)(x, b), f(x, b), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
        if isinstance(expected, np.ndarray):
            assert steps(found) == steps(expected)
    g = zyg.grad(lambda x: np.sum(np.exp(x) * b))(x)
    np.testing.assert_allclose(g, np.exp(x) * b, rtol=1e-14)
    assert steps(g) == steps(x)


def test_sums_are_added_up_in_numpys_order():
    for shape in ((300, 7), (7, 300), (40, 50), (5, 60, 7)):
        x = fortran(*shape)
        for f in (np.sum, lambda x: x.sum(axis=0), lambda x: x.sum(axis=-1), lambda x: np.sum(x * x)):
            np.testing.assert_array_equal(zyg.jit(f)(x), f(x))


@each_in_turn
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int32, np.uint8, bool, complex])
def test_element_types(dtype):
    x = fortran(3, 4, dtype=dtype) if dtype is not complex else fortran(3, 4) * (1 + 2j)
    f = lambda x: (x * 2, x + x[0], x[1:] - 1, x.T * x.T, x[:, 1], x.T[1:])
    for found, expected in zip(zyg.jit(f)(x), f(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert found.dtype == expected.dtype and steps(found) == steps(expected)


def test_derivatives_of_complex_arrays():
    z = np.asfortranarray(RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4)))
    g = zyg.grad(lambda z: np.sum(np.abs(z) ** 2 * z.real))(z)
    re, im = z.real, z.imag
    np.testing.assert_allclose(g, 3 * re**2 + im**2 + 2j * re * im, rtol=1e-12)
    assert steps(g) == steps(z)


@each_in_turn
def test_other_derivatives():
    x, t, w = fortran(3, 4), fortran(3, 4), RNG.normal(size=(3, 4))
    f = lambda x: np.sin(x) * x
    slope = np.cos(x) * x + np.sin(x)
    for tangent in (t, t.copy("C")):
        y, dy = zyg.jvp(f, (x,), (tangent,))
        np.testing.assert_allclose(y, f(x), rtol=1e-13)
        np.testing.assert_allclose(dy, slope * t, rtol=1e-13)
    for cotangent in (w, np.asfortranarray(w)):
        y, back = zyg.pullback(f, x)
        np.testing.assert_allclose(back(cotangent)[0], slope * w, rtol=1e-13)
        assert steps(back(cotangent)[0]) == steps(x)
    np.testing.assert_allclose(zyg.jacobian(f, x)[0].reshape(12, 12), np.diag(slope.ravel()), rtol=1e-12, atol=1e-14)
    second = 2 * np.cos(x) - x * np.sin(x)
    np.testing.assert_allclose(zyg.hvp(lambda x: np.sum(f(x)), x, t), second * t, rtol=1e-11)
    hessian = zyg.hessian(lambda x: np.sum(f(x)), x)
    np.testing.assert_allclose(hessian.reshape(12, 12), np.diag(second.ravel()), rtol=1e-11, atol=1e-13)
    of_gradient = zyg.grad(lambda x: np.sum(zyg.grad(lambda x: np.sum(f(x)))(x) * w))
    np.testing.assert_allclose(of_gradient(x), second * w, rtol=1e-11)
    kept = zyg.grad(lambda x: np.sum(zyg.checkpoint(f, x) * w))
    np.testing.assert_allclose(kept(x), slope * w, rtol=1e-12)
    value, (by_x, by_pair) = zyg.withgradient(lambda x, pair: np.sum(f(x) * pair[0] + pair[1]), x, (x, t))
    np.testing.assert_allclose(value, np.sum(f(x) * x + t))
    np.testing.assert_allclose(by_x, slope * x, rtol=1e-12)
    np.testing.assert_allclose(by_pair[0], f(x), rtol=1e-12)


def test_a_tangent_of_another_shape_is_told_by_its_axes():
    with pytest.raises(ValueError, match="along axis 1 its length is 3, not 4"):
        zyg.jvp(lambda x: x * 2, (fortran(3, 4),), (np.ones((3, 3)),))


@pytest.mark.parametrize("shapes", [((3, 4), (4, 3)), ((3, 4), (3,)), ((3, 4), (2, 4)), ((2, 3, 4), (2, 4, 3))])
def test_errors_tell_the_shapes_as_they_are(shapes):
    a, b = fortran(*shapes[0]), fortran(*shapes[1])

    def into(a, b):
        c = a * 1.0
        c += b
        return c

    for f in (lambda a, b: np.exp(a) * b, lambda a, b: b - a, into):
        with pytest.raises(ValueError) as expected:
            f(a, b)
        with pytest.raises(ValueError) as found:
            zyg.jit(f)(a, b)
        assert str(found.value) == str(expected.value)


def test_what_is_read_only_stays_so():
    x = fortran(3, 4)
    x.flags.writeable = False
    assert not zyg.jit(lambda x: x.T[1:])(x).flags.writeable
    assert not zyg.jit(lambda x: x)(x).flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        zyg.jit(written)(x)
    np.testing.assert_array_equal(zyg.jit(lambda x: x[:, 1] * 2)(x), x[:, 1] * 2)


def test_views_share_memory_with_the_argument():
    x = fortran(3, 4)
    f = zyg.jit(lambda x: (x, x.T, x[:, 1], x[1:, ::2], x.T.T))
    for found, expected in zip(f(x), f.py_func(x), strict=True):
        assert steps(found) == steps(expected) and np.shares_memory(found, x)
        np.testing.assert_array_equal(found, expected)


def test_they_are_of_a_type_of_their_own():
    x = fortran(3, 4)
    assert isinstance(Typing().argument(x), Fortran)
    assert str(Typing().argument(x)) == "array<f64, 2, F>"
    assert not isinstance(Typing().argument(x[:, :1]), Fortran)
    assert not isinstance(Typing().argument(x[1:]), Fortran)


EDGES = [(1, 1), (1, 3), (3, 1), (3, 3), (2, 1), (1, 2)]


@each_in_turn
def test_slices_and_transposes_of_any_lengths_lie_as_numpys():
    """Where lengths are 1, arrays do not say how what is made of them lies."""
    slices = zyg.jit(
        lambda x, y, b: (x[1:] * y[1:], x[1:] + y[:1], x[:, 1:] - y, x[:, :1] * y[1:], x[:, :1] * b, x[1:] * b)
    )
    transposes = zyg.jit(lambda x, y, b: (x.T * y.T, x.T[:1] * y.T, x.T + y.T[:, :1], x.T * b, x.T[:, :1] * b))
    cubes = zyg.jit(lambda x, y: (x.T * y.T, x.T + y.T[:1], x.T[:, :1] * y.T, x.T * y.T[0, 0]))
    rng = np.random.default_rng(1)

    def check(f, *args):
        try:
            expected = f.py_func(*args)
        except ValueError:
            with pytest.raises(ValueError):
                f(*args)
            return
        for e, g in zip(expected, f(*args), strict=True):
            np.testing.assert_array_equal(g, e)
            assert steps(g) == steps(e), [a.shape for a in args]

    for n, m in [(2, 2), (2, 3), (3, 2), (3, 4)]:
        for b in (rng.normal(size=m), rng.normal(size=1)):
            check(slices, fortran(n, m), fortran(n, m), b)
    for one in EDGES:
        for other in EDGES:
            for b in (rng.normal(size=one[0]), rng.normal(size=1)):
                check(transposes, rng.normal(size=one), rng.normal(size=other), b)
    shapes = [(2, 3, 4), (2, 1, 4), (1, 3, 4), (2, 3, 1), (1, 1, 4), (2, 1, 1), (1, 3, 1)]
    for one in shapes:
        for other in shapes:
            check(cubes, rng.normal(size=one), rng.normal(size=other))
