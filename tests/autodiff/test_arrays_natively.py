"""Small arrays through Python, where native code records what is done with them and runs it back."""

import operator
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.cotangents import Refused
from zyg.autodiff.objects.numpy_items import run_number, run_written_item
from zyg.autodiff.objects.numpy_native import run as run_back
from zyg.autodiff.objects.numpy_shortcuts import FUNCTIONS, OPERATORS
from zyg.autodiff.objects.shadows import Shadows
from zyg.backend import pulls
from zyg.errors import Unsupported
from zyg.fallback import python_pullback

pytestmark = each_in_turn
X, Y = np.array([0.7, -1.2, 0.4]), np.array([1.5, 0.3, -2.0])
W = np.cos(np.arange(12.0)).reshape(4, 3)
FORMULAS = {
    "operators": lambda x, y, w, s: np.sum((x + y) * (x - y) / (y * y + 2.0) - w),
    "numbers": lambda x, y, w, s: np.sum((x * s + s - 1.0) / s + (2 - s * x) * (s - x) + s / (y * y + 1) - x / 3 * 0.5),
    "broadcast": lambda x, y, w, s: np.sum((w * x + y) * (x / (w + 3.0)) - w[:, :1] * x + y * w[1:2]),
    "of_three_axes": lambda x, y, w, s: np.sum((w[:, None, :] - w[None, :2]) ** 2 * x * s),
    "products": lambda x, y, w, s: np.sum(w @ x) + x @ w.T @ np.ones(4) * s + np.sum(w.T @ (w * y)) + np.dot(x, y),
    "outer": lambda x, y, w, s: np.sum(np.outer(x, y) * (w.T @ w)),
    "with_itself": lambda x, y, w, s: np.sum(x * x + x @ x * x) + np.dot(x, x) * s,
    "powers": lambda x, y, w, s: np.sum(x**2 + w**3 * x + (y * y + 1.0) ** -0.5),
    "functions": lambda x, y, w, s: np.sum(
        np.exp(x) + np.log(y * y + 1) + np.sqrt(x * x + s) + np.sin(x) * np.cos(y) + np.tanh(w) + np.log1p(w * w)
        - np.reciprocal(y) + np.square(x) + -x + np.abs(y) * np.fabs(x)
    ),
    "choices": lambda x, y, w, s: np.sum(
        np.maximum(x, y) * np.minimum(w, s) + np.where(x > 0, x, s) + np.where(w > x, w, y) + np.maximum(x, 0.0) ** 2
        + x * (x > 0) + (y > 0) * y * s
    ),
    "sums": lambda x, y, w, s: np.sum(np.sum(w, axis=0) * x) + np.sum(w.mean(axis=1, keepdims=True) * w)
    + np.mean(w * s) + np.sum(w.sum((0, 1), keepdims=True) * x),
    "largest": lambda x, y, w, s: np.sum(np.max(w, axis=1, keepdims=True) * w) + np.sum(w.max(axis=0) * x)
    + np.sum(np.min(np.maximum(w, 0.0), axis=-1)) * s + np.sum(np.min(w, axis=0, keepdims=True) * y),
    "ints": lambda x, y, w, s: np.sum((s * np.arange(3) + 1.0) * x + (np.arange(3) - s) / s * np.arange(1, 4) ** 2),
    "views": lambda x, y, w, s: np.sum(w.T[1] ** 2) + np.sum(w.reshape(3, 4)[:, ::-1] * w[:3, 1:2]) + np.sum(x[::2] * y[1:]),
    "elements": lambda x, y, w, s: x[0] * y[-1] + s * x[1] / y[0] - (x[2] - 2.0) * 3 + w[1][2] * x[0] / s + w[1, -1] * w[-2, 0],
    "of_zero_slopes": lambda x, y, w, s: np.sum(x.copy() * 0.0) + np.sum(np.copy(w)) * s,
}  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def natively():
    pulls.start()


def kept(f):
    """A program that holds what it is given in a dict, which native code refuses."""

    def program(x, y, w, s):
        held = dict(zip("xyws", (x, y, w, s)))
        return f(*[held[k] for k in "xyws"])

    return program


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name):
    f = kept(FORMULAS[name])
    args = X, Y, W, 0.8
    value, back = python_pullback(f, args, {})
    assert value == f(*args)
    for given in (back(1.0), back(1.0)):  # a pullback may be called again
        found = sum(
            np.vdot(c, np.sin(1.0 + np.arange(np.size(c))).reshape(np.shape(c))) for c in given if c is not None
        )

        def along(h):
            return f(*[a + h * np.sin(1.0 + np.arange(np.size(a))).reshape(np.shape(a)) for a in args])

        assert found == pytest.approx((along(1e-6) - along(-1e-6)) / 2e-6, rel=1e-6, abs=1e-7)


@each_in_long_turn
@pytest.mark.parametrize("name", ["numbers", "products", "powers", "choices", "views", "elements"])
def test_second_derivatives(name):
    f = kept(FORMULAS[name])

    def slope(s):
        return np.sum(python_gradient(f, s)[0] * Y)

    def python_gradient(f, s):
        return zyg.gradient(f, X, Y, W, s)

    found = python_pullback(slope, (0.8,), {})[1](1.0)[0]
    assert (found or 0.0) == pytest.approx((slope(0.8 + 1e-5) - slope(0.8 - 1e-5)) / 2e-5, rel=1e-5, abs=1e-7)


LEFT = {
    "a list": lambda x: np.sum(np.tanh([x[0], 2.0]) ** 2),
    "no dimensions": lambda x: np.sum(np.tanh(np.array(x[0])) ** 2),
    "numbers": lambda x: np.dot(x[0], x[1]) ** 2 + np.tanh(x[0]) ** 2,
    "three dimensions": lambda x: np.sum(np.dot(x[:, None, None] * np.ones((3, 2, 3)), x) ** 2),
    "options": lambda x: np.sum(np.tanh(x, out=np.zeros(3)) ** 2),
}


@each_in_long_turn
@pytest.mark.parametrize("name", LEFT)
def test_second_derivatives_of_what_is_left_to_python(name):
    def slope(x):
        return np.sum(zyg.gradient(lambda x: LEFT[name]({"x": x}["x"]), x)[0])

    found = python_pullback(slope, (X,), {})[1](1.0)[0]
    expected = [(slope(X + 1e-5 * e) - slope(X - 1e-5 * e)) / 2e-5 for e in np.eye(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_nothing_times_an_infinite_slope_is_nothing():
    zero = np.array([0.0, 4.0])

    def f(x):
        held = [x]
        return np.where(np.array([False, True]), np.sqrt(held[0]) + np.log(held[0]) + 1.0 / held[0], held[0])[1]

    with np.errstate(all="ignore"):
        (found,) = python_pullback(f, (zero,), {})[1](1.0)
    np.testing.assert_allclose(found, [0.0, 0.25 + 0.25 - 1 / 16])


@pytest.mark.parametrize("f", [lambda x: x / 0.0, lambda x: x * 1e300 * 1e300, lambda x: np.sum(x - np.inf * x)])
def test_numpy_warns(f):
    def program(x):
        return np.sum({"x": f(x)}["x"])

    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        value = program(X)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert python_pullback(program, (X,), {})[0] == pytest.approx(value, nan_ok=True)
    assert [str(w.message) for w in found] == [str(w.message) for w in expected] != []


def test_what_vanishes_is_an_error_where_numpy_is_told_so():
    def program(x):
        return np.sum({"x": x * 1e-300 * 1e-300}["x"])

    with np.errstate(under="raise"), pytest.raises(FloatingPointError, match="underflow"):
        python_pullback(program, (X,), {})


def test_arrays_that_are_written_afterwards():
    def f(x, s):
        held = {"a": x * 1.0}
        a = held["a"]
        y = a * a + np.tanh(a) * s + a[0] * 2.0
        a *= 3.0
        a[0] = s
        y += a
        return np.sum(y * a)

    def plainly(x, s):
        y = x * x + np.tanh(x) * s + 2.0 * x[0]
        a = np.array([s, 3.0 * x[1], 3.0 * x[2]])
        return np.sum((y + a) * a)

    given, expected = python_pullback(f, (X, 0.3), {})[1](1.0), zyg.gradient(plainly, X, 0.3)
    np.testing.assert_allclose(given[0], expected[0])
    assert given[1] == pytest.approx(expected[1])


def test_elements_that_are_written():
    def f(x, s):
        held = {"m": np.zeros((2, 3))}
        m = held["m"]
        m[0, 1] += x[0] * s
        m[0, 1] += x[1]
        m[1, -1] = m[0, 1] * x[2]
        m[0, 0] -= s
        m[0, 0] *= m[1, 2]
        v = m[1]
        v[2] = v[2] * v[2]
        return m[0, 0] + np.sum(m)

    def plainly(x, s):
        a = x[0] * s + x[1]
        b = a * x[2]
        return -2.0 * s * b + a + b * b

    given, expected = python_pullback(f, (X, 0.3), {})[1](1.0), zyg.gradient(plainly, X, 0.3)
    np.testing.assert_allclose(given[0], expected[0])
    assert given[1] == pytest.approx(expected[1])


def test_large_arrays_and_other_types_go_through_python():
    x = np.linspace(-1.0, 1.0, 5000)
    f = lambda x: np.sum({"y": x * x + x}["y"])
    np.testing.assert_allclose(python_pullback(f, (x,), {})[1](1.0)[0], 2 * x + 1)
    small = x[:3].astype(np.float32)
    found = python_pullback(f, (small,), {})[1](1.0)[0]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 2 * small + 1)
    big_endian = x[:3].astype(">f8")
    np.testing.assert_allclose(python_pullback(f, (big_endian,), {})[1](1.0)[0], 2 * x[:3] + 1)


def test_errors_are_numpys():
    with pytest.raises(ValueError, match="could not be broadcast"):
        python_pullback(lambda x, w: np.sum({"y": x + w.T}["y"]), (X, W), {})
    with pytest.raises(IndexError, match="out of bounds"):
        python_pullback(lambda x: {"y": x[3]}["y"], (X,), {})
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        python_pullback(lambda x, w: np.sum({"y": x @ w}["y"]), (X, W), {})


OPAQUE = np.frompyfunc(lambda v: v, 1, 1)


def written(a, value):
    held = {"a": a}
    held["a"][1] = value
    return held["a"]


REFUSED = {
    "an array": lambda x: float(OPAQUE({"y": np.tanh(x * 2.0)}["y"])[0]),
    "an array that is a product": lambda x: float(OPAQUE(x[None] @ {"x": x}["x"])[0]),
    "a sum": lambda x: OPAQUE(np.sum({"x": x}["x"])),
    "a product of vectors": lambda x: OPAQUE(np.dot({"x": x}["x"], x)),
    "an element": lambda x: OPAQUE({"x": x}["x"][0]),
    "an element beside others": lambda x: {"x": x}["x"][0] * OPAQUE(x[1]),
    "an array that was written": lambda x: np.sum(np.array(OPAQUE(written(np.zeros(3), x[0] * 2.0)), float)),
    "what was written": lambda x: OPAQUE(written(np.zeros(3), x[0] * 2.0)[1]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_is_passed_on(name):
    _, back = python_pullback(REFUSED[name], (X,), {})
    with pytest.raises(Unsupported, match=r"`<lambda> \(vectorized\)`"):
        back(1.0)


def test_refusals_go_through_backs():
    x, refused = X.copy(), Refused(ValueError())
    of_product, of_sum = OPERATORS["mul"](x, x), FUNCTIONS[np.sum](x)
    assert of_product is not None and of_sum is not None
    y, back = of_product
    for run, d, at in ((back, None, y), (of_sum[1], refused, None), ((run_number, x, 1), refused, None)):
        shadows = Shadows()
        if at is not None:
            shadows.add_array(at, refused)
        run[0](run, d, shadows)
        assert shadows.refusal_of(x) is refused
    shadows = Shadows()
    shadows.add_array(x, refused)
    assert run_written_item((run_written_item, x, 1, 2.0), None, shadows) == (None, None, refused)
    assert back[0] is run_back


ROUNDED = {"sin", "cos"}  # by the C library

# What Python does before there is native code, and what that does.
ODD = np.array([np.inf, np.nan, -0.0, 0.0, 5e-324, 1.5, -np.inf, -2.0, 1e300, 1.0])
TURNED = np.array([np.roll(ODD, k) for k in range(len(ODD))])
ELEMENTS = {
    **{name: lambda x, y, f=f: f(x, y) for name, f in {
        "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
        "maximum": np.maximum, "minimum": np.minimum,
    }.items()},
    **{f.__name__: lambda x, y, f=f: f(x) + y for f in (
        np.exp, np.log, np.log1p, np.sqrt, np.sin, np.cos, np.tanh, np.negative, np.square, np.reciprocal, np.abs, np.fabs,
    )},
    "second power": lambda x, y: x**2 - y,
    **{f"power {n}": lambda x, y, n=n: x**n - y for n in (1.5, 3, 0.5, -1, 1)},
    "numbers": lambda x, y: 2.0 * x - y / 3.0 + (1.0 - x) * 0.5,
    "divided": lambda x, y: 2.0 / x + y,
    "where": lambda x, y: np.where(x > y, x, y),
    "masked": lambda x, y: x * (y > 0.0),
}  # fmt: skip
PRODUCTS = {
    "matrix and vector": lambda x, y: x @ y[0],
    "vector and matrix": lambda x, y: x[0] @ y,
    "matrices": lambda x, y: x @ y,
    "vectors": lambda x, y: np.dot(x[0], y[1]),
    "outer": lambda x, y: np.outer(x[0], y[1]),
    "sums": lambda x, y: np.sum(x, axis=0) + np.mean(y, axis=1),
    "largest": lambda x, y: np.max(x, axis=0) + np.min(y, axis=1),
}


def gradients():
    found = {}
    for name, f in {**ELEMENTS, **PRODUCTS}.items():
        value, back = python_pullback(
            lambda x, y, f=f: {"z": f({"x": x}["x"], {"y": y}["y"])}["z"],
            (TURNED[:4], TURNED[2:6] if name in ELEMENTS else TURNED),
            {},
        )
        found[name] = [value]
        for weights in ([0.0], [1.0, 0.0, -2.0], [0.0, np.inf, 1.0, -0.0]):
            found[name] += back(np.resize(weights, np.shape(value)) if np.shape(value) else weights[0])
    return found


@pytest.fixture(scope="module")
def both_ways():
    """What is found in a process of its own, in Python, and by native code."""
    program = (
        "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); import numpy as np; np.seterr(all='ignore')\n"
        "from zyg.backend import pulls; from tests.autodiff.test_arrays_natively import gradients\n"
        "found = gradients(); assert not pulls.ARRAYS.started; pulls.start()\n"
        "pickle.dump((found, gradients()), sys.stdout.buffer)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(sys.path), stdout=subprocess.PIPE, check=True
    )
    return pickle.loads(done.stdout)


@each_in_long_turn
@pytest.mark.parametrize("name", [*ELEMENTS, *PRODUCTS])
def test_native_code_finds_what_python_finds(both_ways, name):
    in_python, natively = (found[name] for found in both_ways)
    for expected, c in zip(in_python, natively, strict=True):
        if name in ELEMENTS and name not in ROUNDED:
            np.testing.assert_array_equal(c, expected)
        else:
            np.testing.assert_allclose(c, expected, rtol=1e-14)


def test_a_start_that_is_interrupted_goes_on():
    begun = []

    def interrupted():
        begun.append("interrupted")
        if len(begun) == 1:
            raise KeyboardInterrupt

    start = pulls.Start("pulls", 1, 1)
    for begin in (interrupted, lambda: begun.append("next")):
        start.when_started(begin)
    counted = pulls.deferred("pull", lambda: 1.0, start=start)
    with pytest.raises(KeyboardInterrupt):
        counted()
    assert not start.started
    assert counted() == counted() == 1.0
    assert begun == ["interrupted", "interrupted", "next"] and start.started
