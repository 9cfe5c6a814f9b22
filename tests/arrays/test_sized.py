"""Arguments told apart by which axes are of length 1: values, derivatives and errors as NumPy's, whatever was called before."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

import zyg
from zyg.ir.types import F64, Array, ComplexArray, Sized
from zyg.pipeline import Request, compile
from zyg.typeof import Typing

from ..turns import EVERY_TURN, by_one_python_a_day, each_in_long_turn, each_in_turn
from .check import steps
from .test_fortran import by_differences

RNG = np.random.default_rng(107)


def array(*shape: int) -> np.ndarray:
    return RNG.uniform(0.5, 1.5, size=shape)


def in_place(x, y):
    z = x * 1.0
    z *= y
    z[:1] += y[:1]
    return z


def helper(a, b):
    """Recursive, so that it is compiled on its own."""
    return a * b if np.sum(a) < 1e3 else helper(a / 2, b)


def loop(x, y):
    h = np.zeros_like(x)
    for k in range(3):
        h = np.tanh(h + x * y) + k
    return h


def branches(x, y):
    z = x + y if np.sum(x) > 3 else x - y
    return z * x


TWO = [
    lambda x, y: np.exp(x) * y,
    lambda x, y: (x - x.mean(axis=0)) / (1 + x.std(axis=0)) * y,
    lambda x, y: np.where(x > y, x, 2 * y) + x,
    lambda x, y: x.T @ (x * y),
    lambda x, y: (x @ x.T) @ (y * x),
    lambda x, y: np.einsum("ij,ik->jk", x, x * y),
    lambda x, y: np.einsum("ij,ij->i", x, y * x)[:, None] * y,
    lambda x, y: np.concatenate([x * y, x]) * y[:1],
    lambda x, y: np.roll(x, 1, axis=0) * y + np.sort(x, axis=1) * x,
    lambda x, y: x.reshape(-1)[::-1].reshape(x.shape) * y,
    lambda x, y: x.T.reshape(x.shape) * y - y.T.reshape(y.shape) * x,
    lambda x, y: np.cumsum(x, axis=0) * y,
    lambda x, y: (x[:, None] * y[None]).sum(axis=0) * x,
    lambda x, y: np.linalg.norm(x, axis=1, keepdims=True) * y,
    lambda x, y: helper(x, y) + helper(y, x),
    in_place,
    loop,
    branches,
]
SHAPES = [(3, 4), (1, 4), (3, 1), (1, 1), (0, 4), (3, 0), (0, 1), (1, 0)]


def same_as_numpy(f, compiled, *args):
    try:
        with np.errstate(all="ignore"):
            expected = f(*(a.copy("K") for a in args))
    except ValueError as error:
        with pytest.raises(ValueError) as caught:
            compiled(*(a.copy("K") for a in args))
        assert str(caught.value) == str(error)
        return None
    found = compiled(*(a.copy("K") for a in args))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    assert np.shape(found) == expected.shape and steps(found) == steps(expected)
    return expected


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", TWO)
def test_values_and_gradients(f):
    """One function, called with arrays of one shape after another."""
    compiled = zyg.jit(f)
    pairs = [*itertools.product(SHAPES, SHAPES)]
    RNG.shuffle(pairs)
    total = lambda x, y: np.sum(np.sin(f(x, y)))
    gradient = zyg.grad(total, (0, 1))
    differentiated = 0
    for one, other in pairs[:: 1 if EVERY_TURN else 4]:
        x, y = array(*one), array(*other)
        fits = same_as_numpy(f, compiled, x, y) is not None
        if fits and x.size * y.size and differentiated < 5:
            differentiated += 1
            for k, g in enumerate(gradient(x, y)):
                assert g.shape == (x, y)[k].shape
                np.testing.assert_allclose(g, by_differences(total, [x, y], k), rtol=1e-5, atol=1e-7)


@each_in_turn
@pytest.mark.parametrize("one", [(4,), (1,), (0,), (3, 4), (3, 1), (1, 4), (2, 1, 4), (1, 1, 1)])
def test_shapes_that_do_not_fit_are_told_as_numpy_tells_them(one):
    compiled = [(f, zyg.jit(f)) for f in (np.add, lambda x, y: np.exp(x) * y * 2, lambda x, y: np.where(x > 1, x, y))]

    def into(x, y):
        x += y
        return x

    for other in [(3,), (4,), (5, 4), (1, 3), (3, 1), (2, 3, 4), (2, 1, 1)]:
        for f, native in [*compiled, (into, zyg.jit(into))]:
            same_as_numpy(f, native, array(*one), array(*other))


def test_each_argument_says_which_of_its_axes_are_of_length_one():
    of = Typing().argument
    assert of(array(3, 1)) == Sized(Array(F64, 2), (1,))
    assert of(array(3, 4)) == of(array(0, 2)) == Sized(Array(F64, 2))
    assert of(array(3, 1) * 1j) == Sized(ComplexArray(2), (1,))
    assert of(np.float64(1)) != of(np.array(1.0)) == Sized(Array(F64, 0))
    column = array(3, 2)[:, :1]
    assert of(column) == Sized(Array(F64, 2, "A"), (1,))
    assert of(array(4, 3).T).transpose == Array(F64, 2)
    double = zyg.jit(lambda x: x * 2)
    for shape in ((3, 1), (3, 4), (1, 1), (5, 1)):
        double(array(*shape))
    assert [str(*signature) for signature in double.signatures] == [
        "array<f64, 2, C, axis 1 of length 1>", "array<f64, 2, C>", "array<f64, 2, C, axes 0, 1 of length 1>"
    ]  # fmt: skip


def test_arguments_that_are_returned_are_the_same_objects_with_the_same_strides():
    wide = array(6, 5)
    for x in (array(3, 1), wide[:, :1], wide[:1], wide[::2, 1:2], wide.T[2:3], wide[::-1, :1], array(1)):
        assert zyg.jit(lambda x: x)(x) is x
        assert zyg.jit(lambda x: x.strides)(x) == x.strides
        assert steps(zyg.jit(lambda x: x.T)(x)) == steps(x.T)
        holder = [x, wide]
        zyg.jit(lambda h: h.reverse())(holder)
        assert holder[1] is x

    def doubled(x):
        x *= 2
        return x

    column = wide[:, 1:2]
    assert zyg.jit(doubled)(column) is column


SUMS = [
    np.sum,
    np.mean,
    np.std,
    np.max,
    lambda x: np.sum(x * x),
    lambda x: x.sum(axis=0),
    lambda x: x.sum(axis=-1),
]


@by_one_python_a_day
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", [(20000, 1), (1, 20000, 1), (1, 20000), (100, 200, 1), (200, 1, 100), (1, 1, 1), (1,)]
)
def test_sums_of_columns_are_added_up_in_numpys_order(shape, dtype):
    x = array(*shape).astype(dtype)
    for f in SUMS:
        np.testing.assert_array_equal(zyg.jit(f)(x), f(x))
    apart = np.repeat(x, 2, axis=-1)[..., ::2]
    for f in SUMS[:3]:
        np.testing.assert_allclose(zyg.jit(f)(apart), f(apart), rtol=1e-6 if dtype is np.float32 else 1e-13)


def test_gradients_of_columns_are_set_once():
    """As those of other arrays are: no zeros are put there first."""
    (type_,) = map(Typing().argument, [array(5, 1)])
    module = compile(Request(zyg.grad(lambda x: np.sum(np.exp(x))), (type_,)), until="optimised").module
    ops = [i.op for f in module.functions.values() for b in f.blocks for i in b.instrs]
    assert "fill" not in ops and "accum" not in ops, ops


@each_in_long_turn
def test_arguments_may_be_read_only_of_any_order_and_of_any_elements():
    f = lambda x, y: x * y + x.sum(axis=0) - y[..., :1]
    compiled = zyg.jit(f)
    x = array(3, 4)
    fixed = array(1, 4)
    fixed.flags.writeable = False
    wide = array(6, 8)
    others = [
        fixed, wide[::2, :1], wide[:1, ::2], wide[::2, ::2], np.asfortranarray(x), array(4, 3).T, array(4, 1).T,
        np.arange(4).reshape(1, 4), array(3, 1).astype(np.float32), array(3, 1) + 1j, array(1, 4) * 1j, array(1, 1) > 1,
    ]  # fmt: skip
    for y in others:
        for a, b in ((x, y), (y, x), (y, y)):
            if a.dtype.kind != "b" or b.dtype.kind != "b":  # (which NumPy does not subtract)
                np.testing.assert_allclose(compiled(a, b), f(a, b), rtol=1e-6)


@each_in_long_turn
def test_other_derivatives():
    f = lambda x, y: np.sum(np.sin(x * y) * x)
    x, y = array(3, 1), array(1, 4)
    c, s = np.cos(x * y), np.sin(x * y)
    by_x = np.sum(c * y * x + s, axis=1, keepdims=True)
    by_xx = np.sum(2 * c * y - s * y**2 * x, axis=1, keepdims=True)
    np.testing.assert_allclose(zyg.grad(f)(x, y), by_x, rtol=1e-12)
    np.testing.assert_allclose(zyg.grad(f, 1)(x, y), np.sum(c * x**2, axis=0, keepdims=True), rtol=1e-12)
    t = array(3, 1)
    np.testing.assert_allclose(zyg.jvp(f, (x, y), (t, np.zeros_like(y)))[1], np.sum(by_x * t), rtol=1e-12)
    np.testing.assert_allclose(zyg.hvp(f, x, y, t, argnums=0), by_xx * t, rtol=1e-11)
    np.testing.assert_allclose(zyg.hessian(f, x, y, argnums=0).reshape(3, 3), np.diag(by_xx.ravel()), rtol=1e-11)
    whole = lambda x, y: np.sin(x * y)
    expected = np.zeros((3, 4, 3, 1))
    for i in range(3):
        expected[i, :, i, 0] = (c * y)[i]
    np.testing.assert_allclose(zyg.jacobian(whole, x, y)[0], expected, rtol=1e-12)
    value, back = zyg.pullback(whole, x, y)
    np.testing.assert_allclose(value, s, rtol=1e-13)
    np.testing.assert_allclose(back(np.ones((3, 4)))[1], np.sum(c * x, axis=0, keepdims=True), rtol=1e-12)


def test_arguments_are_written_in_place():
    @zyg.jit
    def doubled(x, y):
        x *= 2
        x += y
        return x

    for shape in ((3, 4), (1, 4), (3, 1), (1, 1)):
        x, y = array(*shape), array(1, shape[1])
        expected = 2 * x + y
        result = doubled(x, y)
        assert result is x
        np.testing.assert_array_equal(x, expected)


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


class Plain:
    def __init__(self, w, b):
        self.w, self.b = w, b


HOLDERS = {
    "dict": (lambda w, b: {"w": w, "b": b}, lambda h: (h["w"], h["b"])),
    "list": (lambda w, b: [w, [b]], lambda h: (h[0], h[1][0])),
    "tuple": (lambda w, b: (w, (b, 1.0)), lambda h: (h[0], h[1][0])),
    "dataclass": (Layer, lambda h: (h.w, h.b)),
    "object": (Plain, lambda h: (h.w, h.b)),
}


@each_in_turn
@pytest.mark.parametrize("kind", HOLDERS)
def test_arrays_in_containers(kind):
    """They are told apart, too; what the function puts in their places may have other lengths."""
    make, parts = HOLDERS[kind]

    def f(holder, x):
        w, b = parts(holder)
        return np.sum(np.tanh(x @ w + b) * b)

    def changed(holder, x):
        if kind == "dict":
            holder["b"] = holder["b"] + x
        elif kind == "list":
            holder[1][0] = holder[1][0] + x
        elif kind != "tuple":
            holder.b = holder.b + x
        return np.sum(parts(holder)[1])

    gradient, native = zyg.grad(f, (0, 1)), zyg.jit(changed)
    for n, m in itertools.product((1, 2, 5), (1, 3)):
        w, b, x = array(4, m), array(m), array(n, 4)
        by_holder, by_x = gradient(make(w, b), x)
        found = (by_holder.w, by_holder.b) if kind in ("dataclass", "object") else parts(by_holder)
        of_arrays = lambda w, b, x: f(make(w, b), x)
        for k, g in enumerate((*found, by_x)):
            assert g.shape == (w, b, x)[k].shape
            np.testing.assert_allclose(g, by_differences(of_arrays, [w, b, x], k), rtol=1e-5, atol=1e-7)
        ours, theirs, more = make(w, b), make(w, b), array(2, m)
        np.testing.assert_allclose(native(ours, more), changed(theirs, more), rtol=1e-13)
        for a, e in zip(parts(ours), parts(theirs), strict=True):
            np.testing.assert_array_equal(a, e)


def test_loops_over_arguments_have_one_version():
    """Whether an array is repeated is not asked when the code runs."""
    f = lambda x, y, m, s: np.sum(((x - m) / s * y) ** 2)
    for shapes in [((3, 4), (3, 4), (4,), (4,)), ((3, 4), (3, 1), (1, 4), (4,)), ((5,), (5,), (1,), (5,))]:
        types = tuple(Typing().argument(array(*shape)) for shape in shapes)
        module = compile(Request(zyg.grad(f, (0, 1, 2, 3)), types), until="optimised").module
        blocks = [b.name for function in module.functions.values() for b in function.blocks]
        assert not any("strided" in name for name in blocks), blocks


def test_results_of_functions_that_are_compiled_on_their_own_are_as_long_as_these_say():
    """Recursive functions say so, too, of what they give at last, not of what they give in between."""

    def shorter(x, n):
        return x if n == 0 else shorter(x[1:], n - 1)

    def as_long(x, n):
        return x if n == 0 else as_long(x * 1.5, n - 1)

    for f in (lambda x, y: shorter(x, 2) * y, lambda x, y: as_long(x, 2) * y):
        compiled = zyg.jit(f)
        for n, m in itertools.product((1, 2, 3, 5), (1, 3, 5)):
            same_as_numpy(f, compiled, array(n), array(m))


@by_one_python_a_day
@pytest.mark.parametrize("n", [1, 2, 3])
def test_lengths_of_axes_that_are_left_are_at_hand_where_a_loop_of_length_1_goes(n):
    """Some are known by operations that stand elsewhere: a pullback of a gradient did not compile (internal error)."""

    def f(x, a):
        return np.sum((a[:, None] * a)[1:] * x) + np.dot(a, a) * x

    a, seed = array(n), array(n)
    _, back = zyg.pullback(lambda x, a: zyg.gradient(f, x, a), 0.7, a)
    dx, da = back((0.5, seed))
    by_x = lambda x: 0.5 * f(1.0, a) + seed @ zyg.gradient(f, x, a)[1]  # f is linear in x
    by_a = lambda a: 0.5 * f(1.0, a) + seed @ zyg.gradient(f, 0.7, a)[1]
    assert dx == pytest.approx(by_x(1.5) - by_x(0.5), rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(da, by_differences(by_a, [a], 0), rtol=1e-5, atol=1e-7)


def test_what_is_squeezed_of_axes_that_are_known_is_native():
    def f(X, w, y):
        r = X @ w - y
        return (r.T @ r).squeeze() / len(y)

    X, w, y = np.arange(12.0).reshape(4, 3) / 5, np.array([[0.3], [0.1], [0.2]]), np.ones((4, 1))
    assert zyg.jit(f)(X, w, y) == pytest.approx(f(X, w, y))
    np.testing.assert_allclose(zyg.grad(f, 1)(X, w, y), 2 * X.T @ (X @ w - y) / 4)
