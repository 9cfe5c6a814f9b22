"""Corners of NumPy's functions that its own tests try: compiled code gives what NumPy gives, or raises what it raises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zyg
from tests.arrays.case import Case
from tests.arrays.check import Checker
from tests.turns import each_in_turn
from zyg.fallback import python_pullback

NUMPY: Any = np
FLOATS = np.array([3.0, 1.0, 2.0, 0.5])
INTS = np.arange(5)
BYTES = np.array([1, 2], np.uint8)
NOTHING, NO_ROWS = np.zeros(0), np.zeros((0, 2))
SINGLE, BOOLS, COMPLEX = np.array([1.1, 2, 3], np.float32), np.array([True, False]), np.array([1 + 2j, 3.0])
WIDE = np.array([10**9, 2], np.int32)
LONG = np.array([10**12, 2, 3])
TABLE = np.linspace(-2.0, 2.0, 20).reshape(4, 5)


def chosen_of_what_was_computed(a):
    """np.copyto of an expression, by masks of views: what is seen broadcast flows from block to block."""
    b = a[1].copy()
    for _ in range(3):
        b[b < 0.3] *= 1
    b += b[-1]
    row = a[2]
    np.copyto(b.T, np.square(np.where(row > 0.1, 0.35, b)), where=b.T > 1)
    np.copyto(a[1:, -1], np.abs(-1.0 - row[[-1]]), where=a[1:, -1] > 1)
    return b


def chosen_of_slices(a):
    b = a * 2.0
    if np.sum(b) > 2.0:
        np.add(2.0, 0.7, out=a, where=((b * a) * a) > 0)
    np.copyto(a[::2].T, np.square(b[:-1][::2]) + 0.35, where=a[::2].T > 2.0)
    if np.max(b) > -0.25:
        b.T[-2:][b.T[-2:] < 0.1] *= -0.25
    return b


def flat_item(a):
    a.flat[1] = a
    return a


def complex_rows(a):
    into = [np.ones((2, 2), kind).T for kind in (int, float, bool)]
    for c in into:
        c[[0, -1]] = a
        c[1] = a[:1]
        c[0, 0] = a[1]
    return into[0], into[1], into[2], a.astype(bool)


def added_at(a):
    np.add.at(a, 0, np.ones((1, 1)))


CORNERS = {
    "einsum of no axes": (lambda x: np.einsum("", x), 3.0),
    "einsum of no axes that are left": (lambda x: np.einsum("ij->", x), TABLE),
    "running sums along no axis": (lambda x: np.cumsum(x, axis=4), TABLE),
    "qr of no such mode": (lambda x: NUMPY.linalg.qr(x, mode="none"), TABLE),
    "products of one matrix": (lambda x: np.linalg.multi_dot([x]), TABLE),
    "reduce of a number": (lambda x: NUMPY.power.reduce(x), 3),
    "accumulate of a number": (lambda x: np.add.accumulate(x), 3.0),
    "reduceat of a number": (lambda x: np.add.reduceat(x, [0]), 3.0),
    "at with too many operands": (lambda a: NUMPY.negative.at(a, [0], 1.0), FLOATS),
    "at with too few": (lambda a: NUMPY.add.at(a, [0]), FLOATS),
    "at of what takes matrices": (lambda a: NUMPY.matmul.at(a, [0], 1.0), FLOATS),
    "at of what gives two": (lambda a: NUMPY.modf.at(a, [0]), FLOATS),
    "at of a number": (lambda x: NUMPY.add.at(x, [0], 1), 3.0),
    "a bool in a shape": (lambda a: NUMPY.reshape(a, (True, -1)), FLOATS),
    "a bool as a count": (lambda a: np.tile(a, (True, 2)), FLOATS),
    "one axis as two of another order": (lambda a: (a.reshape((2, 2), order="F"), np.reshape(a, (2, -1), "F")), FLOATS),
    "a shape whose size wraps": (lambda a: a.reshape((2, 13, 419, 691, 823, 2977518503)), np.ones(20)[::2]),
    "choices together": (lambda u: np.choose([0, 1], (1000, u)), BYTES),
    "choices of floats": (lambda u: np.choose([0, 1], (1.0, u)), BYTES.astype(np.float32)),
    "numbers joined": (lambda a: np.concatenate([a, 1.0], axis=None), np.float32(1.0)),
    "numbers joined to bytes": (lambda a: np.concatenate([a, 1000], axis=None), BYTES),
    "a choice of nothing": (lambda a: NUMPY.choose(a, ()), np.array(1)),
    "border of nothing": (lambda a: np.pad(a, 0, "maximum"), NOTHING),
    "ramp beside nothing": (lambda a: np.pad(a, 0, "linear_ramp"), NOTHING),
    "border of no rows": (lambda a: np.pad(a, ((0, 0), (1, 1)), "maximum"), NO_ROWS),
    "border where nothing is": (lambda a: np.pad(a, 1, "maximum"), NO_ROWS),
    "fraction that is a bool": (lambda a: np.quantile(a, True, method="weibull"), INTS),
    "weights that are nothing": (lambda a: np.quantile(a, [0.5], weights=a * 0, method="inverted_cdf"), INTS),
    "weights of another method": (lambda a: np.quantile(a, 0.5, weights=a), INTS),
    "weights of nothing first": (lambda a: np.quantile(a, [0.0, 1.0], weights=a, method="inverted_cdf"), INTS),
    "out that is a number": (lambda a: NUMPY.outer(a, a, out=1), INTS),
    "arrays instead of numbers": (lambda x: NUMPY.divmod(x, 2.0, out=...), 5.0),
    "an array of a product": (lambda a: NUMPY.matmul(a, a, out=...), FLOATS),
    "an array of a reduction": (lambda a: NUMPY.multiply.reduce(a, out=...), FLOATS),
    "real parts summed": (lambda z: np.cumsum(z, dtype=float), FLOATS + 1j),
    "real parts multiplied": (lambda z: np.prod(z, dtype=float), FLOATS + 1j),
    "running sums of a number": (lambda x: np.nancumsum(x), 2.5),
    "dots by position": (lambda a: NUMPY.add(a, a, ...), FLOATS),
    "expressions by masks": (chosen_of_what_was_computed, TABLE),
    "expressions by masks of slices": (chosen_of_slices, np.linspace(-1.0, 2.0, 6)),
    "a number that becomes complex": (lambda a: (a[0].astype(complex), (a[0] + 1j).astype(np.float32)), FLOATS),
    "complex rows in others": (complex_rows, COMPLEX),
    "means with integers for weights": (lambda a: np.average(a, weights=a), LONG),
    "means with weights of singles": (lambda a: np.average(a.astype(float), weights=a), SINGLE),
    "products with numbers": (lambda a: (np.dot(a, 3), np.inner(3, a), a.dot(3)), WIDE),
    "a product with a number that is refused": (lambda a: np.vdot(a, 0.5), FLOATS),
    "more dimensions than places": (added_at, FLOATS),
    "bounds of a number": (lambda a: (np.clip(0.0, a, 3), np.linspace(0, a, 3), np.geomspace(1, a[1], 3)), SINGLE),
    "steps between bytes": (lambda a: np.linspace(a, a[0], 3), BYTES),
    "counts are NumPy's": (lambda a: (np.count_nonzero(a) * a, a * np.linalg.matrix_rank(np.eye(2))), BYTES + np.uint8(150)),
    "digits of a byte": (lambda a: round(a[0], 1) * 3, BYTES + np.uint8(150)),
    "elements are Python's": (lambda a: np.vectorize(lambda v: 1 / v)(a), FLOATS - 1.0),
    "elements that do not fit": (lambda a: np.vectorize(lambda v: v * 100)(a), WIDE),
    "powers of what is infinite": (lambda a: tuple(np.linalg.matrix_power(a, n) for n in (0, 2, 3, 5)), np.array([[np.inf, 1.0], [1.0, 2.0]])),
    "bools that are close": (lambda a: (np.isclose(a, a), np.allclose(a, True), np.isclose(True, False)), BOOLS),
    "phases that are bytes": (lambda a: np.unwrap(a), np.array([100, 200, 3], np.uint8)),
    "phases that wrap": (lambda a: np.unwrap(a), np.array([2**31 - 1, -(2**31), 0], np.int32)),
    "ranges of singles": (lambda a: (np.arange(a[0], a[2]), np.arange(a[0], 3, 0.1), np.arange(0, 3, 0.5, dtype=int)), SINGLE),
    "a range without a step": (lambda a: np.arange(a[0], a[1], a[0] * 0), FLOATS),
    "a range of bytes that goes down": (lambda a: np.arange(a[1], a[0]), BYTES),
    "an array in an item": (flat_item, FLOATS),
    "an integral of a number": (lambda a: NUMPY.trapezoid(a[0]), FLOATS),
    "a correlation with a number": (lambda a: NUMPY.correlate(a, 3), FLOATS),
    "interpolation at complex points": (lambda a: NUMPY.interp(a, [1.0, 2.0], [3.0, 4.0]), COMPLEX),
    "polynomials with coefficients that are arrays": (lambda a: (np.polyval(a, 2.0), np.polyval(a, a[0]), np.polyval(a, a[:, :1]), np.polyval(a.astype(int), 3)), TABLE),
    "triangles without rows": (lambda a: (np.tri(-1), np.tri(2, -3), np.tri(int(a[3] - 3))), FLOATS),
    "dots in a tuple": (lambda a: NUMPY.add(a, a, out=(...,)), FLOATS),
}  # fmt: skip


@each_in_turn
@pytest.mark.parametrize("corner", CORNERS)
def test_corners(corner):
    function, argument = CORNERS[corner]
    Checker(Case((), function, {})).value({"a": argument})


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64, np.float64])
@pytest.mark.parametrize("product", [np.prod, lambda x: x.prod(), lambda x: np.prod(x, axis=0)])
def test_slopes_of_products_of_integers_do_not_wrap(product, dtype):
    large = {np.uint8: 200, np.int32: 10**5, np.int64: 2**40}.get(dtype, 1e5)
    x = np.array([large, 0, large, 3], dtype)
    found = python_pullback(lambda x: product(x) * 1.0, (x,), {})[1](1.0)[0]
    assert found.tolist() == [0.0, 3.0 * large**2, 0.0, 0.0]
    if dtype is not np.uint8:
        assert zyg.jit(zyg.grad(lambda x: np.prod(x) * 1.0))(x).tolist() == found.tolist()


@pytest.mark.parametrize("f", [np.sign, lambda x: np.heaviside(x, 0.5)])
def test_functions_of_zero_slope_have_zeros(f):
    """(None natively, where data flows)"""
    x = np.array([1.5, -2.0, 0.0, np.nan, np.inf])
    of_sum = lambda x: np.sum(f(x))
    for slopes in (
        zyg.jit(zyg.grad(of_sum))(x),
        zyg.gradient(of_sum, x)[0],
        python_pullback(of_sum, (x,), {})[1](1.0)[0],
    ):
        assert slopes.tolist() == [0.0] * 5
    assert zyg.gradient(f, 1.5) == python_pullback(f, (1.5,), {})[1](1.0) == (0.0,)
    np.testing.assert_array_equal(zyg.jit(f)(x), f(x))


@each_in_turn
@pytest.mark.parametrize("number", ["x.sum()", "x[1]", "(x[0] * x[1])"])
def test_numbers_have_what_arrays_without_dimensions_have(number):
    said_of = "v.shape, v.ndim, v.size, v.itemsize, v.nbytes, v.strides, v.dtype"
    said = eval(f"lambda x: ({said_of.replace('v', number)})")
    x = np.array([0.5, -1.5, 2.0])
    assert zyg.jit(said)(x) == said(x)
    for key in ("x[0] > 0", "x[1] > 0", "True, None", "None, x[0] > 0", "np.array(False)", "..., True"):
        taken = eval(f"lambda x: {number}[{key}]")
        assert zyg.jit(taken)(x).shape == taken(x).shape and zyg.jit(taken)(x).tolist() == taken(x).tolist()
    for name in ("[0]", "[0:1]", "[1.0]", "[None, 0]", "[[]]", "[x > 0]", "[[True]]"):
        with pytest.raises(IndexError, match="invalid index to scalar variable"):
            zyg.jit(eval(f"lambda x: {number}{name}"))(x)


WAYS = """[None]|[...]|[()]|[None, None]|.reshape(1)|.reshape(())|.reshape(-1, 1)|.ravel()|.flatten()|.copy()|.squeeze()|.transpose()|.T
.conj()|.repeat(2)|.take([0, 0])|.cumsum()|.cumprod()|.item()|.tolist()|.astype(float, copy=False)""".replace(
    "\n", "|"
).split("|")


@each_in_turn
@pytest.mark.parametrize("way", WAYS)
def test_what_is_made_of_a_number_has_its_derivative(way):
    f = eval(f"lambda x: np.sum(np.sin((x[0] * x[1]){way}) * 1.5) + x[1]", {"np": np})
    x = np.array([0.5, -1.5])
    slope = 1.5 * np.size(eval(f"np.float64(1.0){way}")) * np.cos(x[0] * x[1])
    expected = [slope * x[1], slope * x[0] + 1.0]
    np.testing.assert_allclose(zyg.jit(zyg.grad(f))(x), expected, rtol=1e-14)
    np.testing.assert_allclose(python_pullback(f, (x,), {})[1](1.0)[0], expected, rtol=1e-14)
