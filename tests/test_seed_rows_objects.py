"""More rows of the feature list that come from the founding documents: objects, containers, parameters, complex numbers, rules
for foreign code, mixes of modes.  Row N is test_row_NN_...; where a row may run through Python, the warning of that is off."""

import cmath
import ctypes
import ctypes.util
import io
import math
import re
import statistics
import sys

import numpy as np
import pytest

import zyg

from .turns import each_in_turn

through_python = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


# ------------------------------------------------------------------------------------------------ row 9


def test_row_09_gradient_by_captured_values():
    def scaled(w, b):
        return lambda x: w * x + b

    (df,) = zyg.gradient(lambda f: f(3.0), scaled(2.0, 5.0))
    assert (df.w, df.b) == (3.0, 1.0)
    df, dx = zyg.gradient(lambda f, x: f(x) * f(x), scaled(2.0, 5.0), 3.0)
    assert (df.w, df.b, dx) == (66.0, 22.0, 44.0)


class Affine:
    def __init__(self, w, b):
        self.w = w
        self.b = b

    def __call__(self, x):
        return self.w * x + self.b


@through_python
def test_row_09_gradient_by_the_fields_of_a_callable_object():
    (df,) = zyg.gradient(lambda f: f(3.0), Affine(2.0, 5.0))
    assert (df.w, df.b) == (3.0, 1.0)
    (dx,) = zyg.gradient(Affine(2.0, 5.0), 3.0)
    assert dx == 2.0


# ----------------------------------------------------------------------------------------------- row 16


@through_python
def test_row_16_control_flow_recursion_closures_structs_dictionaries():
    def fold(tree, leaf):
        if isinstance(tree, dict):
            return fold(tree["left"], leaf) * fold(tree["right"], leaf)
        return leaf(tree)

    def f(x, y):
        shift = Affine(y, 1.0)
        leaf = lambda z: math.sin(z) if z > 0 else shift(z)
        tree = {"left": {"left": x, "right": -y}, "right": x * y}
        return fold(tree, leaf)

    x, y = 0.7, 0.4
    dx, dy = zyg.gradient(f, x, y)
    # f = sin(x) * (1 - y*y) * sin(x*y)
    assert f(x, y) == pytest.approx(math.sin(x) * (1 - y * y) * math.sin(x * y), rel=1e-15)
    assert dx == pytest.approx(
        (1 - y * y) * (math.cos(x) * math.sin(x * y) + math.sin(x) * y * math.cos(x * y)), rel=1e-14
    )
    assert dy == pytest.approx(math.sin(x) * (-2 * y * math.sin(x * y) + (1 - y * y) * x * math.cos(x * y)), rel=1e-14)


# ----------------------------------------------------------------------------------------------- row 17

fs = {"sin": math.sin, "cos": math.cos, "tan": math.tan}


@through_python
@pytest.mark.parametrize(
    "name, slope", [("sin", math.cos(1.0)), ("cos", -math.sin(1.0)), ("tan", 1 / math.cos(1.0) ** 2)]
)
def test_row_17_a_function_chosen_at_run_time(name, slope, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(name + "\n"))
    assert zyg.gradient(lambda x: fs[input()](x), 1.0) == (pytest.approx(slope, rel=1e-15),)


def test_row_17_one_warning_with_the_line(monkeypatch):
    def chosen(x):
        return fs[input()](x)

    monkeypatch.setattr(sys, "stdin", io.StringIO("sin\n" * 3))
    with pytest.warns(zyg.FallbackWarning, match=r"fs\[input\(\)\]\(x\)") as caught:
        assert zyg.gradient(chosen, 1.0) == (math.cos(1.0),)
        assert zyg.gradient(chosen, 2.0) == (math.cos(2.0),)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.raises(zyg.Unsupported, match=r"fs\[input\(\)\]\(x\)"):
        zyg.gradient(zyg.jit(chosen), 1.0)


# ------------------------------------------------------------------------------------------ rows 19 to 21


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Point(width(self) + width(other), height(self) + height(other))

    def __sub__(self, other):
        return Point(width(self) - width(other), height(self) - height(other))


def width(p):
    return p.x


def height(p):
    return p.y


def dist(p):
    return math.sqrt(width(p) ** 2 + height(p) ** 2)


def test_row_19_gradient_of_an_attribute():
    (dp,) = zyg.gradient(lambda a: a.x, Point(1, 2))
    assert dp == (1.0, None)
    assert (dp.x, dp.y) == (1.0, None)
    assert re.search(r"\(x=1\.0, y=None\)", repr(dp))


def test_row_20_dist_of_a_point_with_operators():
    (dp,) = zyg.gradient(lambda a: dist(a), Point(1, 2))
    assert dp == pytest.approx((0.4472135954999579, 0.8944271909999159), rel=1e-15)
    da, db = zyg.gradient(lambda a, b: dist(a - b), Point(4.0, 6.0), Point(1.0, 2.0))
    assert da == pytest.approx((0.6, 0.8), rel=1e-15)
    assert db == pytest.approx((-0.6, -0.8), rel=1e-15)


def test_row_21_rules_of_getters_that_give_a_point_then_of_the_constructor():
    class Spot:
        def __init__(self, x, y):
            self.x = x
            self.y = y

    def wide(p):
        return p.x

    def high(p):
        return p.y

    def far(p):
        return math.sqrt(wide(p) ** 2 + high(p) ** 2)

    slope = zyg.derivative(lambda x: far(Spot(x, 1)))
    assert slope(1) == pytest.approx(0.7071067811865475, rel=1e-15)
    zyg.adjoint(wide)(lambda p: (p.x, lambda d: (Spot(d, 0.0),)))
    zyg.adjoint(high)(lambda p: (p.y, lambda d: (Spot(0.0, d),)))
    (dp,) = zyg.gradient(lambda p: high(p), Spot(1, 2))
    assert (dp.x, dp.y) == (0.0, 1.0)
    (dp,) = zyg.gradient(lambda p: far(p), Spot(1, 2))
    assert (dp.x, dp.y) == pytest.approx((0.4472135954999579, 0.8944271909999159), rel=1e-15)
    zyg.adjoint(Spot)(lambda a, b: (Spot(a, b), lambda d: (d.x, d.y)))
    assert slope(1) == pytest.approx(0.7071067811865475, rel=1e-15)
    assert zyg.gradient(lambda x: far(Spot(x, 1)), 1)[0] == pytest.approx(0.7071067811865475, rel=1e-15)


# ------------------------------------------------------------------------------------------ rows 23 and 24


def two(x):
    return [x[0] + x[1], x[0] * x[1]]


def outer(y):
    return [math.exp(y[0] + y[1]), math.log(y[0]) + math.log(y[1])]


def composed(x):
    return outer(two(x))


@each_in_turn
@pytest.mark.parametrize("make", [list, tuple, np.array])
def test_row_23_vector_valued_functions(make):
    value, back = zyg.pullback(two, make([1.0, 2.0]))
    assert list(value) == [3.0, 2.0]
    assert list(back([1.0, 0.0])[0]) == [1.0, 1.0]
    assert list(back([0.0, 1.0])[0]) == [2.0, 1.0]
    (found,) = zyg.jacobian(two, make([1.0, 2.0]))
    assert np.asarray(found).tolist() == [[1.0, 1.0], [2.0, 1.0]]


def test_row_24_composition():
    x = [1.0, 2.0]
    value, back = zyg.pullback(composed, x)
    assert list(value) == pytest.approx([148.4131591025766, 1.791759469228055], rel=1e-15)
    assert list(back([0.0, 1.0])[0]) == pytest.approx([4 / 3, 5 / 6], rel=1e-15)
    y1, back1 = zyg.pullback(two, x)
    y2, back2 = zyg.pullback(outer, y1)
    assert list(y2) == list(value)
    assert list(back1(back2([0.0, 1.0])[0])[0]) == pytest.approx([4 / 3, 5 / 6], rel=1e-15)


# ------------------------------------------------------------------------------------------ rows 25 to 27


def test_row_25_a_linear_layer():
    rng = np.random.default_rng(1)
    W, b = rng.random((2, 3)), rng.random(2)
    (dx,) = zyg.gradient(lambda x: np.sum(W @ x + b), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(dx, W.sum(axis=0), rtol=1e-15)
    dW, db = zyg.gradient(lambda W, b: np.sum(W @ np.array([1.0, 2.0, 3.0]) + b), W, b)
    assert dW.tolist() == [[1.0, 2.0, 3.0]] * 2
    assert db.tolist() == [1.0, 1.0]


@through_python
def test_row_26_implicit_parameters():
    rng = np.random.default_rng(2)
    W, b = rng.random((2, 3)), rng.random(2)
    x = np.array([1.0, 2.0, 3.0])
    loss = lambda: np.sum(W @ x + b)
    grads = zyg.gradient(loss, zyg.Params([W, b]))
    assert grads[W].tolist() == [[1.0, 2.0, 3.0]] * 2
    assert grads[b].tolist() == [1.0, 1.0]
    before = loss()
    W -= 0.01 * grads[W]
    assert loss() == pytest.approx(before - 0.01 * 28.0)
    assert zyg.gradient(loss, zyg.Params([W, b]))[W].tolist() == [[1.0, 2.0, 3.0]] * 2
    assert "Grads" in repr(grads)


def test_row_27_matrix_valued_functions():
    rng = np.random.default_rng(3)
    W, b, X = rng.random((2, 3)), rng.random((2, 1)), rng.random((3, 10))
    value, back = zyg.pullback(lambda X: W @ X + b, X)
    assert value.shape == (2, 10)
    cotangent = rng.random((2, 10))
    (dX,) = back(cotangent)
    assert dX.shape == (3, 10)
    np.testing.assert_allclose(dX, W.T @ cotangent, rtol=1e-14)


# ----------------------------------------------------------------------------------------------- row 28


def test_row_28_complex_numbers_with_conjugation():
    z = 0.3 + 0.4j
    value, back = zyg.pullback(cmath.sin, z)
    assert value == pytest.approx(cmath.sin(z), rel=1e-15)
    assert back(1.0 + 0j)[0] == pytest.approx(cmath.cos(z).conjugate(), rel=1e-15)
    (dz,) = zyg.gradient(lambda z: abs(z) ** 2, z)
    assert dz == pytest.approx(2 * z, rel=1e-15)
    (dz,) = zyg.gradient(lambda z: (z * z).real, z)
    assert dz == pytest.approx((2 * z).conjugate(), rel=1e-15)


# ----------------------------------------------------------------------------------------- rows 32 and 33


def test_row_32_a_forward_rule():
    def cube(x):
        return x * x * x

    @zyg.tangent(cube)
    def cube_tangent(x):
        return cube(x), lambda dx: 300.0 * x * x * dx

    assert zyg.jvp(lambda x: 2.0 * cube(x), (2.0,), (1.0,)) == (16.0, 2400.0)
    assert zyg.gradient(lambda x: 2.0 * cube(x), 2.0) == (24.0,)


@through_python
def test_row_32_rules_for_functions_of_other_packages_and_keywords():
    @zyg.adjoint(statistics.fmean)
    def fmean_rule(data, weights=None):
        return statistics.fmean(data, weights), lambda d: ([d / len(data)] * len(data), None)

    def f(x, y):
        return x * statistics.fmean([x, y])

    assert zyg.gradient(f, 2.0, 4.0) == (4.0, 1.0)

    def scaled(x, *, by=1.0):
        return x * by

    @zyg.adjoint(scaled)
    def scaled_rule(x, *, by=1.0):
        return scaled(x, by=by), lambda d: (10.0 * d * by,)

    assert zyg.gradient(lambda x: scaled(x, by=3.0), 2.0) == (30.0,)
    assert zyg.gradient(lambda x: scaled(x), 2.0) == (10.0,)


def test_row_33_a_rule_for_a_ctypes_function():
    c_cos = ctypes.CDLL(ctypes.util.find_library("m")).cos
    c_cos.restype, c_cos.argtypes = ctypes.c_double, [ctypes.c_double]
    zyg.adjoint(c_cos)(lambda x: (c_cos(x), lambda d: (-d * math.sin(x),)))
    dx = zyg.derivative(lambda x: 2.0 * c_cos(x * x))(0.7)
    assert dx == pytest.approx(-4.0 * 0.7 * math.sin(0.49), rel=1e-15)


@through_python
def test_row_33_a_rule_for_code_in_place():
    def double(a):
        for i in range(len(a)):
            a[i] *= 2.0

    @zyg.adjoint(double, mutates="a")
    def double_rule(a):
        double(a)
        return None, lambda d, da: (2.0 * da,)

    def f(a):
        double(a)
        return float(a[0]) * float(a[1])

    (da,) = zyg.gradient(f, np.array([3.0, 4.0]))
    assert da.tolist() == [16.0, 12.0]


@through_python
def test_row_33_a_substitution_argmax_by_softmax():
    def pick(scores):
        return [1.0 if s == max(scores) else 0.0 for s in scores]

    @zyg.adjoint(pick)
    def pick_rule(scores):
        weights = [math.exp(s - max(scores)) for s in scores]
        soft = [w / sum(weights) for w in weights]

        def back(d):
            inner = sum(s * e for s, e in zip(soft, d))
            return ([s * (e - inner) for s, e in zip(soft, d)],)

        return pick(scores), back

    def f(a, b):
        one = pick([a, b])
        return 2.0 * one[0] + 3.0 * one[1]

    value, (da, db) = zyg.withgradient(f, 0.1, 0.4)
    assert value == 3.0
    p = 1 / (1 + math.exp(0.3))
    assert (da, db) == pytest.approx((-p * (1 - p), p * (1 - p)), rel=1e-13)


# ----------------------------------------------------------------------------------------------- row 38


def wave(x):
    return 5 * math.sin(math.log(x))


def test_row_38_modes_and_their_mixes():
    x, log = 3.0, math.log
    slope = 5 * math.cos(log(x)) / x
    bend = -(5 * (math.sin(log(x)) + math.cos(log(x)))) / x**2
    forward = lambda f: lambda x: zyg.jvp(f, (x,), (1.0,))[1]
    reverse = zyg.derivative
    assert forward(wave)(x) == pytest.approx(slope, rel=1e-14)
    assert reverse(wave)(x) == pytest.approx(slope, rel=1e-14)
    for outer_mode in (forward, reverse):
        for inner_mode in (forward, reverse):
            assert outer_mode(inner_mode(wave))(x) == pytest.approx(bend, rel=1e-13)
    assert zyg.hessian(wave, x) == pytest.approx(bend, rel=1e-13)


def test_row_38_value_and_tangent_are_interleaved():
    text = re.sub(r"#.*", "", str.__str__(zyg.code_typed(lambda x: zyg.jvp(wave, (x,), (1.0,)), 3.0)))
    ops = re.findall(r"= (log|sin|cos|div|mul)\b", text)
    # log, its tangent, then sin and cos of it: neither value nor tangent are computed in a pass of their own.
    assert ops.index("log") < ops.index("sin")
    assert sorted(ops[ops.index("log") + 1 :]).count("mul") >= 2
    assert "stack" not in text and "push" not in text
