"""Custom adjoints of everything that can be called: methods, constructors, ufuncs, foreign functions, in-place code; with
keywords and defaults. Oracles: derivatives by hand, and the same program without the rule."""

import ctypes
import ctypes.util
import dataclasses
import functools
import math
import struct

import numpy as np
import pytest

import zyg
from zyg.autodiff.objects.api import pullback as python_pullback
from zyg.library import gradients

from .turns import by_one_python_a_day, each_in_turn


@pytest.fixture
def rule():
    """Registers rules that are forgotten after the test."""
    targets = []

    def register(target, **options):
        targets.append(target)
        return zyg.adjoint(target, **options)

    yield register
    for target in targets:
        if zyg.rules.rule_for(target) is not None:
            zyg.rules.remove(target)


# ------------------------------------------------------------------------------------------- classes


@dataclasses.dataclass
class Pair:
    x: float
    y: float

    def norm(self):
        return math.sqrt(self.x**2 + self.y**2)


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Point(width(self) + width(other), height(self) + height(other))

    def norm(self):
        return math.sqrt(self.x**2 + self.y**2)


def width(p):
    return p.x


def height(p):
    return p.y


def dist(p):
    return math.sqrt(width(p) ** 2 + height(p) ** 2)


@pytest.mark.parametrize("cls", [Pair, Point])
def test_row_21_getters_and_then_the_constructor(rule, cls):
    make = lambda x: dist(cls(x, 1))
    assert zyg.derivative(make)(1.0) == pytest.approx(0.7071067811865475, abs=1e-15)
    rule(width)(lambda p: (p.x, lambda d: (cls(d, 0.0),)))
    rule(height)(lambda p: (p.y, lambda d: (cls(0.0, d),)))
    (found,) = zyg.gradient(dist, cls(1.0, 2.0))
    assert (found.x, found.y) == pytest.approx((0.4472135954999579, 0.8944271909999159), abs=1e-15)
    rule(cls)(lambda a, b: (cls(a, b), lambda d: (d.x, d.y)))
    assert zyg.gradient(make, 1.0) == pytest.approx((0.7071067811865475,), abs=1e-15)
    rule(cls)(lambda a, b: (cls(a, b), lambda d: (10 * d.x, d.y)))
    assert zyg.gradient(make, 1.0) == pytest.approx((7.071067811865475,), abs=1e-15)


@pytest.mark.parametrize("cls", [Pair, Point])
def test_a_method(rule, cls):
    @rule(cls.norm)
    def norm(p):
        r = math.hypot(p.x, p.y)
        return r, lambda d: (cls(10 * d * p.x / r, 10 * d * p.y / r),)

    assert zyg.gradient(lambda x: cls(x, 4.0).norm(), 3.0) == (6.0,)
    assert zyg.gradient(lambda x: cls.norm(cls(x, 4.0)), 3.0) == (6.0,)
    (found,) = zyg.gradient(lambda p: p.norm(), cls(3.0, 4.0))
    assert (found.x, found.y) == (6.0, 8.0)


def test_struct_cotangents_add_field_by_field(rule):
    def swap(p):
        return Pair(p.y, p.x)

    rule(swap)(lambda p: (Pair(p.y, p.x), lambda d: (Pair(d.y, d.x),)))

    def f(x):
        p = Pair(x, 2.0)
        q = swap(p)
        return p.x * 3.0 + q.y * q.x + swap(q).x

    assert zyg.gradient(f, 5.0) == (3.0 + 2.0 + 1.0,)


def test_dict_and_list_cotangents(rule):
    def total(d):
        return d["a"] * 2.0 + d["b"]

    rule(total)(lambda d: (d["a"] * 2.0 + d["b"], lambda g: ({"a": 2.0 * g, "b": g},)))
    assert zyg.gradient(lambda x: total({"a": x, "b": x * x}) + total({"a": x, "b": 1.0}), 3.0) == (10.0,)

    def first(items):
        return items[0] * items[1]

    rule(first)(lambda items: (items[0] * items[1], lambda g: ([g * items[1], g * items[0]],)))
    assert zyg.gradient(lambda x: first([x, x + 1.0]), 3.0) == (7.0,)


# ------------------------------------------------------------------------------------------- arguments


def test_row_32_defaults_and_keywords(rule):
    def scaled(x, k=2.0):
        return x * k

    rule(scaled)(lambda x, k=2.0: (x * k, lambda d: (d * k, d * x)))
    assert zyg.gradient(lambda x: scaled(x), 3.0) == (2.0,)
    assert zyg.gradient(lambda x: scaled(x, x), 3.0) == (6.0,)
    assert zyg.gradient(lambda x: scaled(x, k=5.0), 3.0) == (5.0,)
    assert zyg.gradient(lambda x: scaled(x, k=x), 3.0) == (6.0,)
    assert zyg.gradient(lambda x: scaled(k=x, x=5.0), 3.0) == (5.0,)
    assert zyg.gradient(scaled, 3.0, k=4.0) == (4.0,)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        zyg.gradient(lambda x: scaled(k=x), 3.0)


def test_defaults_before_arguments_of_any_number(rule):
    def f(x, a=2.0, *rest):
        return x * a

    rule(f)(lambda x, a=2.0, *rest: (x * a, lambda d: (d * a, d * x, *tuple([7.0 * d for _ in rest]))))
    assert zyg.gradient(lambda x: f(x), 3.0) == (2.0,)
    assert zyg.gradient(lambda x: f(x, x), 3.0) == (6.0,)
    assert zyg.gradient(lambda x: f(x, 2.0, x, x), 3.0) == (16.0,)


def test_a_gap_is_filled_by_the_default(rule):
    def f(x, a=2.0, b=3.0):
        return x * a + b

    rule(f)(lambda x, a=2.0, b=3.0: (x * a + b, lambda d: (a * d, x * d, d)))
    assert zyg.gradient(lambda x: f(x, b=x * x), 3.0) == (8.0,)


def test_keyword_only_arguments_are_constants_or_refused(rule):
    def f(x, *, k):
        return x * k

    rule(f)(lambda x, *, k: (x * k, lambda d: (d * k,)))
    assert zyg.gradient(lambda x: f(x, k=3.0), 2.0) == (3.0,)
    with pytest.raises(zyg.Unsupported, match=r"by a keyword argument of .*f"):
        zyg.gradient(lambda x: f(x, k=x), 2.0)
    assert zyg.gradient(lambda x: f(x, k=zyg.stop_gradient(x)), 2.0) == (2.0,)


# ------------------------------------------------------------------------------- functions of other packages


def test_a_ufunc_on_numbers_and_elements(rule):
    rule(np.sin)(lambda x: (np.sin(x), lambda d: (7.0 * d,)))
    assert zyg.gradient(lambda x: np.sin(x), 1.0) == (7.0,)
    assert zyg.gradient(lambda a: np.sin(a[0]) * a[1], np.array([1.0, 2.0]))[0].tolist() == [14.0, math.sin(1.0)]


@each_in_turn
def test_row_32_a_ufunc_that_zyg_does_not_know(rule):
    erfcx = pytest.importorskip("scipy.special").erfcx
    rule(erfcx)(lambda x: (erfcx(x), lambda d: (d * (2 * x * erfcx(x) - 2 / math.sqrt(math.pi)),)))
    f = lambda x: float(erfcx(x) * x)
    assert zyg.jit(f)(0.5) == f(0.5)
    assert zyg.gradcheck(f, 0.5)


@pytest.fixture
def c_sine():
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    sine = library.sin
    sine.restype, sine.argtypes = ctypes.c_double, [ctypes.c_double]
    return sine


def test_what_differentiation_refuses_is_not_tried_again_with_loops_unrolled(c_sine, monkeypatch):
    def f(x):
        for _ in range(3):
            for _ in range(5):
                x = c_sine(x) * x
        return x

    asked = []
    original = gradients.adjoint
    monkeypatch.setattr(gradients, "adjoint", lambda *args, **named: asked.append(args) or original(*args, **named))
    with pytest.raises(zyg.Unsupported, match=r"sin.*cannot see into"):
        zyg.jit(zyg.grad(f))(0.5)
    assert len(asked) == 1


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_what_writes_to_an_array_unseen_has_no_derivative():
    """Natively the array was taken to be as it had been."""

    def f(a, x):
        struct.pack_into("d", a, 0, 9.0)
        return a[0] * x

    a = np.array([1.0, 2.0])
    assert zyg.jit(f)(a, 1.5) == 13.5 and a[0] == 9.0
    for derivative in (zyg.gradient, lambda f, *args: zyg.jvp(f, args, (np.ones(2), 1.0))):
        with pytest.raises(zyg.Unsupported, match="cannot see into"):
            derivative(f, np.array([1.0, 2.0]), 1.5)
        with pytest.raises(zyg.Unsupported, match="cannot see into"):
            zyg.jit(lambda a, x: zyg.gradient(f, a, x))(np.array([1.0, 2.0]), 1.5)

    def said(a):
        print(a, f"{a}")
        return (a * a).sum()

    assert zyg.gradient(said, np.ones(2))[0].tolist() == [2.0, 2.0]


def test_row_33_a_ctypes_function(rule, c_sine):
    f = lambda x: c_sine(x) * x
    assert zyg.jit(f)(0.5) == f(0.5)
    with pytest.raises(zyg.Unsupported, match=r"sin.*cannot see into"):
        zyg.jit(zyg.grad(f))(0.5)
    rule(c_sine)(lambda x: (c_sine(x), lambda d: (d * math.cos(x),)))
    assert zyg.gradient(f, 0.5) == pytest.approx((math.cos(0.5) * 0.5 + math.sin(0.5),), rel=1e-15)
    second = zyg.derivative(zyg.derivative(f))(0.5)
    assert second == pytest.approx(2 * math.cos(0.5) - 0.5 * math.sin(0.5), rel=1e-15)


def test_row_33_a_function_of_a_c_extension_says_what_it_returns(rule):
    @rule(np.linalg.norm, returns=np.float64)
    def norm(a):
        r = np.linalg.norm(a)

        def back(d):
            g = np.zeros(len(a))
            for i in range(len(a)):
                g[i] = d * a[i] / r
            return (g,)

        return r, back

    (g,) = zyg.gradient(lambda a: np.linalg.norm(a) ** 2 * 0.5, np.array([3.0, 4.0]))
    assert g.tolist() == pytest.approx([3.0, 4.0])


def test_a_foreign_function_that_returns_something_else_than_was_said(rule):
    text = functools.lru_cache(lambda x: "a")
    rule(text, returns=float)(lambda x: (text(x), lambda d: (d,)))
    with pytest.raises(TypeError, match="'a' where f64 was expected"):
        zyg.gradient(lambda x: text(x) * x, 0.5)


def test_a_foreign_function_that_does_not_say_what_it_returns(rule):
    square = functools.lru_cache(lambda x: x * x)
    rule(square)(lambda x: (square(x), lambda d: (2 * x * d,)))
    with pytest.raises(zyg.Unsupported, match=r"returns=float"):
        zyg.jit(zyg.grad(lambda x: square(x) * x))(0.5)


def argmax(a):
    best = 0
    for i in range(len(a)):
        if a[i] > a[best]:
            best = i
    chosen = np.zeros(len(a))
    chosen[best] = 1.0
    return chosen


def test_row_33_softmax_in_place_of_argmax(rule):
    @rule(argmax)
    def substituted(a):
        s = np.zeros(len(a))
        total = 0.0
        for i in range(len(a)):
            s[i] = math.exp(a[i])
            total += s[i]
        for i in range(len(a)):
            s[i] /= total

        def back(d):
            inner = 0.0
            for i in range(len(s)):
                inner += d[i] * s[i]
            g = np.zeros(len(s))
            for i in range(len(s)):
                g[i] = s[i] * (d[i] - inner)
            return (g,)

        return argmax(a), back

    a = np.array([1.0, 2.0, 0.5])
    value, (g,) = zyg.withgradient(lambda a: argmax(a)[1] * 3.0, a)
    p = np.exp(a) / np.exp(a).sum()
    assert value == 3.0
    np.testing.assert_allclose(g, 3.0 * p[1] * (np.eye(3)[1] - p), rtol=1e-14)


# ------------------------------------------------------------------------------------------- in-place code


def scale(a, s):
    for i in range(len(a)):
        a[i] *= s


def scale_rule(a, s):
    print("by rule")
    before = a.copy()
    scale(a, s)

    def back(d, after):
        total = 0.0
        g = np.zeros(len(after))
        for i in range(len(after)):
            g[i] = s * after[i]
            total += after[i] * before[i]
        return g, total

    return None, back


def scaled_twice(a, s):
    scale(a, s)
    scale(a, s * s)
    return a.sum() * a[0]


@each_in_turn
def test_row_33_a_rule_over_in_place_code(rule, capsys):
    a = np.array([1.0, 2.0, 3.0, 4.0])
    wanted = zyg.gradient(scaled_twice, a.copy(), 2.0)
    rule(scale, mutates="a")(scale_rule)
    given = a.copy()
    got = zyg.gradient(scaled_twice, given, 2.0)
    assert capsys.readouterr().out == "by rule\nby rule\n"
    assert got[0].tolist() == wanted[0].tolist() and got[1] == wanted[1] == 1920.0
    assert given.tolist() == (8.0 * a).tolist()
    _, back = zyg.pullback(scaled_twice, a.copy(), 2.0)
    assert back(1.0)[0].tolist() == back(1.0)[0].tolist() == wanted[0].tolist()


def test_none_for_what_is_written_says_that_nothing_of_it_is_left(rule):
    def reset(a, x):
        a[0] = x

    @rule(reset, mutates=0)
    def _(a, x):
        a[0] = x
        return None, lambda d, after: (None, after[0])

    def f(a, x):
        y = a[0] * a[0]
        reset(a, x)
        return y + 3.0 * a[0]

    g, dx = zyg.gradient(f, np.array([5.0]), 2.0)
    assert g.tolist() == [10.0] and dx == 3.0


class Account:
    def __init__(self, total):
        self.total = total
        self.count = 0.0

    def add(self, x):
        self.total = self.total + x * x
        self.count += 1
        return self.total


def test_a_method_that_changes_its_object(rule):
    def f(x):
        a = Account(1.0)
        r = 0.0
        for i in range(3):
            r += a.add(x * i)
        return a.total * r + a.count

    wanted = zyg.gradient(f, 2.0)

    @rule(Account.add, mutates="self")
    def add(self, x):
        self.total = self.total + x * x
        self.count += 1
        return self.total, lambda d, after: ((after.total + d, after.count), (after.total + d) * 2 * x)

    assert zyg.withgradient(f, 2.0) == (f(2.0), wanted)


def test_a_rule_that_writes_without_saying_so_is_refused(rule):
    rule(scale)(lambda a, s: (scale(a, s), lambda d: (None, 0.0)))
    with pytest.raises(zyg.Unsupported, match="mutates="):
        zyg.jit(zyg.grad(scaled_twice))(np.array([1.0, 2.0]), 2.0)


def test_what_a_rule_writes_is_one_of_its_arguments(rule):
    with pytest.raises(
        ValueError, match=r"mutates names argument 5, but the rule for .*scale has 2; they are counted from 0"
    ):
        rule(scale, mutates=(0, 5))(lambda a, s: (scale(a, s), lambda d, a: (a, 0.0)))
    rule(scale, mutates=0)(lambda *args: (scale(*args), lambda d, a: (a, 0.0)))


def test_what_a_rule_keeps_is_what_it_was(rule):
    def square(a):
        return a[0] * a[0]

    rule(square)(lambda a: (a[0] * a[0], lambda d: (np.array([2 * a[0] * d, 0.0]),)))

    def f(a):
        y = square(a)
        a[0] = 100.0
        return y + a[0]

    (g,) = zyg.gradient(f, np.array([3.0, 1.0]))
    assert g.tolist() == [6.0, 0.0]
    a = np.array([3.0, 1.0])
    _, back = zyg.pullback(square, a)
    a[:] = 77.0
    assert back(1.0)[0].tolist() == [6.0, 0.0]


@pytest.mark.parametrize(
    "mutates, error",
    [("b", "no such parameter"), (-1, "positions"), (1.5, "positions"), (True, "positions")],
)
def test_mutates_names_arguments(mutates, error):
    with pytest.raises((TypeError, ValueError), match=error):
        zyg.adjoint(scale, mutates=[mutates])(scale_rule)
    assert zyg.rules.rule_for(scale) is None


# ------------------------------------------------------------------------------------------- through Python


def through_python(f, *args):
    return python_pullback(f, args)[1](1.0)


def test_no_more_cotangents_than_parameters():
    def half(x):
        return 0.5 * x

    zyg.adjoint(half)(lambda x: (0.5 * x, lambda d: (0.5 * d, d)))
    with pytest.raises(
        zyg.Unsupported, match=r"one entry for each of the 1 parameters(.|\n)*types found: \(float, float\)"
    ):
        through_python(half, 1.0)


def test_row_33_in_place_code_and_ctypes_through_python(rule, c_sine):
    wanted = through_python(scaled_twice, np.array([1.0, 2.0, 3.0, 4.0]), 2.0)
    rule(scale, mutates="a")(scale_rule)
    got = through_python(scaled_twice, np.array([1.0, 2.0, 3.0, 4.0]), 2.0)
    assert got[0].tolist() == wanted[0].tolist() and got[1] == wanted[1] == 1920.0
    rule(c_sine)(lambda x: (c_sine(x), lambda d: (d * math.cos(x),)))
    assert through_python(lambda x: c_sine(x) * x, 0.5) == pytest.approx((math.cos(0.5) * 0.5 + math.sin(0.5),))


def test_row_32_keywords_through_python(rule):
    def f(x, *, k):
        return x * k

    rule(f)(lambda x, *, k: (x * k, lambda d: (d * k,)))
    assert through_python(lambda x: f(x, k=3.0), 2.0) == (3.0,)
    with pytest.raises(zyg.Unsupported, match=r"by a keyword argument of .*f"):
        through_python(lambda x: f(x, k=x), 2.0)
    assert through_python(lambda x: f(x, k=zyg.stop_gradient(x)), 2.0) == (2.0,)


def test_row_35_checkpoint_of_in_place_code_through_python():
    def f(a, s):
        zyg.checkpoint(scale, a, s)
        return a[0] * weights[0]

    weights = np.array([5.0])
    g, ds = through_python(f, np.ones(2), 3.0)
    assert g.tolist() == [15.0, 0.0] and ds == 5.0


def test_constant_integers_are_known_to_rules():
    def scaled(x, axis):
        return x * (3.0 if axis == 0 else 4.0)

    @zyg.adjoint(scaled)
    def _(x, axis):
        if axis != 0:
            raise RuntimeError("never compiled")
        factor = 3.0 if axis == 0 else [1, 2]  # of two types, if it were not known
        return x * factor, lambda d: (d * factor, None)

    try:
        assert zyg.jit(zyg.grad(lambda x: scaled(x, 0) * x))(2.0) == 12.0
    finally:
        zyg.rules.remove(scaled)


# -------------------------------------------------------------------------- tangent rules, through Python


@pytest.fixture
def tangent_rule():
    added = []

    def add(target, function):
        zyg.tangent(target)(function)
        added.append(target)

    yield add
    for target in added:
        zyg.rules.remove(target, "tangent")


def squared(x):
    return x * x


def scaled_by(a, k=2.0):
    return a * k


def test_tangent_rules_through_python(tangent_rule, c_sine):
    def number(x):
        s = {1}  # noqa: F841
        return squared(x) * x + c_sine(x)

    def array(x):
        s = {1}  # noqa: F841
        return scaled_by(np.array([x, 2.0]), k=x).sum()

    tangent_rule(squared, lambda x: (x * x, lambda dx: 100.0 * x * dx))
    tangent_rule(c_sine, lambda x: (c_sine(x), lambda dx: 7.0 * dx))
    tangent_rule(scaled_by, lambda a, k=2.0: (a * k, lambda da, dk=0.0: 5.0 * da * k + dk * a))
    with pytest.warns(zyg.FallbackWarning):
        assert zyg.jvp(number, (3.0,), (1.0,))[1] == pytest.approx(300.0 * 3.0 + 9.0 + 7.0)
        assert zyg.jvp(array, (3.0,), (2.0,))[1] == pytest.approx(2.0 * (15.0 + 5.0))
    assert through_python(array, 3.0) == (8.0,)
    with pytest.raises(zyg.Unsupported, match="has a rule for forward mode only"):
        through_python(number, 3.0)


def cubed(x):
    return x**3


@by_one_python_a_day
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("adjoint", [None, "alone", "calling", "in the pullback"])
def test_tangent_rules_in_derivatives_of_derivatives(rule, tangent_rule, adjoint):
    """Told by a tangent rule that is wrong on purpose: where it counts is alike natively and through Python."""
    tangent_rule(cubed, lambda x: (x**3, lambda dx: 1000.0 * dx))
    if adjoint is not None:
        rules = {
            "alone": lambda x: (x**3, lambda d: (d * 3 * x * x,)),
            "calling": lambda x: (cubed(x), lambda d: (d * 3 * x * x,)),
            "in the pullback": lambda x: (x**3, lambda d: (d * 3 * cubed(x) / x,)),
        }
        rule(cubed)(rules[adjoint])
    native = lambda x: cubed(x) ** 2
    in_python = lambda x: {"y": cubed(x) ** 2}["y"] * len({x > 0})
    x, y = 2.0, 8.0
    # The gradient is 2 y 3 x**2, of which the tangents are those of y, and of x**2.
    of_gradient = {
        None: 30 * x**4,
        "alone": 30 * x**4,
        "calling": 2 * 1000 * 3 * x * x + 2 * y * 6 * x,
        "in the pullback": 2 * 3 * x * x * 3 * x * x + 2 * y * 3 * (1000 / x - y / x**2),
    }[adjoint]
    for f in (native, in_python):
        assert zyg.gradient(f, x) == (6 * x**5,)
        value, tangent = zyg.jvp(zyg.grad(f), (x,), (1.0,))
        assert value == 6 * x**5 and tangent == pytest.approx(of_gradient)
        assert zyg.jvp(f, (x,), (1.0,))[1] == 2 * y * 1000
        # Forward over forward: the tangent is 2 y 1000, and y is x**3 in the rule.
        assert zyg.jvp(lambda x: zyg.jvp(f, (x,), (1.0,))[1], (x,), (1.0,))[1] == 2 * 3 * x * x * 1000  # noqa: B023
        assert zyg.derivative(zyg.derivative(f))(x) == pytest.approx(30 * x**4)
    for way in (lambda f: zyg.hvp(f, x, 1.0), lambda f: zyg.hessian(f, x)):
        assert way(native) == pytest.approx(of_gradient)
        assert way(in_python) == pytest.approx(30 * x**4)


# ------------------------------------------------------------------- callable objects, keyword-only arguments


class Quadratic:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return x * x * self.k


QUADRATIC, ANOTHER = Quadratic(1.0), Quadratic(2.0)


def test_a_rule_for_a_callable_object(rule, tangent_rule):
    by_name = lambda x: QUADRATIC(x)
    another = lambda x: ANOTHER(x)
    given = lambda c, x: c(x)
    assert zyg.gradient(by_name, 1.0) == (2.0,)
    rule(QUADRATIC)(lambda x: (x * x * QUADRATIC.k, lambda d: (50.0 * d,)))
    assert zyg.gradient(by_name, 1.0) == zyg.gradient(zyg.jit(by_name), 1.0) == (50.0,)
    assert zyg.gradient(another, 1.0) == (4.0,)
    with pytest.warns(zyg.FallbackWarning, match="one of these has a rule of its own"):
        assert zyg.gradient(given, QUADRATIC, 1.0)[1] == 50.0
        assert zyg.gradient(given, ANOTHER, 1.0)[1] == 4.0
    tangent_rule(ANOTHER, lambda x: (x * x * ANOTHER.k, lambda dx: 70.0 * dx))
    assert zyg.jvp(another, (1.0,), (1.0,)) == (2.0, 70.0)
    assert zyg.jvp(given, (ANOTHER, 1.0), (None, 1.0)) == (2.0, 70.0)
    assert zyg.gradient(another, 1.0) == (4.0,)


def scaled_and_shifted(x, k=2.0, *, scale=1.0, shift=0.0):
    return x * scale * k + shift


def total(x, *, a):
    return (a * x).sum()


def test_entries_for_keyword_only_arguments(rule):
    rule(scaled_and_shifted)(
        lambda x, k=2.0, *, scale=1.0, shift=0.0: (
            x * scale * k + shift,
            lambda d: (d * scale * k, d * x * scale, d * x * k * 7.0, d * 11.0),
        )
    )
    rule(total)(lambda x, *, a: ((a * x).sum(), lambda d: (d * a.sum(), d * x * np.ones(2))))
    f = scaled_and_shifted
    for program, expected in (
        (lambda x: f(1.0, scale=x), 14.0),
        (lambda x: f(x, scale=x), 48.0),
        (lambda x: f(1.0, shift=2.0 * x, scale=x), 36.0),
        (lambda x: f(x, shift=1.0), 2.0),
        (lambda x: total(2.0, a=np.array([x, 1.0])), 2.0),
    ):
        assert zyg.gradient(program, 3.0) == through_python(program, 3.0) == (expected,)


def test_keyword_only_arguments_without_entries(rule):
    rule(scaled_and_shifted)(lambda x, *, scale=1.0: (x * scale, lambda d: (d * scale,)))
    rule(total)(lambda x, *, a: ((a * x).sum(), lambda d: (d * a.sum(),)))
    for program in (lambda x: scaled_and_shifted(1.0, scale=x), lambda x: total(1.0, a=np.array([x, 1.0]))):
        for run in (zyg.gradient, through_python):
            with pytest.raises(zyg.Unsupported, match="by a keyword argument of"):
                run(program, 3.0)


def test_forward_mode_through_a_rule_without_derivatives_that_changes_its_argument():
    def reset(a):
        a *= 0.0
        a += 2.0
        return 1.0

    @zyg.adjoint(reset)
    def _rule(a):
        return reset(a), lambda d: (None,)

    def f(x):
        a = x.copy()
        y = reset(a)
        return np.sum(a * x) * y

    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(zyg.Unsupported, match=r"forward mode through .*reset"):
        zyg.jit(lambda x: zyg.jvp(f, (x,), (np.ones(3),)))(x)


@each_in_turn
def test_a_value_that_is_written_when_its_rule_has_kept_it():
    y = np.array([1.0, -2.0])

    def f(m):
        z, i, total = np.linalg.solve(m, y), np.linalg.inv(m), 0.0
        z[0], i[0, 0] = 0.0, 0.0
        i *= 2.0
        for k in range(2):
            y_next = np.linalg.solve(m, z)
            y_next[k] *= 2.0
            total += y_next @ z
        return z @ y + np.sum(i**2) + total

    m = np.array([[3.0, 1.0], [0.5, 2.0]])
    found, expected = zyg.grad(f)(m), np.zeros((2, 2))
    for k in range(4):
        step = np.eye(4)[k].reshape(2, 2) * 1e-6
        expected.flat[k] = (f(m + step) - f(m - step)) / 2e-6
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


# ------------------------------------------------------------------------------------- what a pullback keeps


def kept_by_cell(a):
    y = np.exp(a)
    return y, lambda d: (d * y,)


def kept_by_default(a):
    y = np.exp(a)
    return y, lambda d, y=y: (d * y,)


def kept_by_partial(a):
    y = np.exp(a)
    return y, functools.partial(lambda y, d: (d * y[0],), [y])


def kept_by_functions(a):
    y, held = np.exp(a), {"y": (a,)}

    def slope(d, n=1):
        return slope(d, n - 1) if n else d * np.exp(held["y"][0])

    return y, lambda d: (slope(d),)


class Keeps:
    def __init__(self, y):
        self.y = y

    def back(self, d):
        return (d * self.y,)


def kept_by_object(a):
    y = np.exp(a)
    return y, Keeps(y).back


class KeepsInSlot:
    __slots__ = ("y",)

    def __init__(self, y):
        self.y = y

    def __call__(self, d):
        return (d * self.y[0],)


def kept_by_slot(a):
    y = np.exp(a)
    return y, KeepsInSlot([y])


KEPT_BY_OBJECTS = [kept_by_object, kept_by_slot]
RULES_THAT_KEEP = [kept_by_cell, kept_by_default, kept_by_partial, kept_by_functions, *KEPT_BY_OBJECTS]


def with_rule(rule):
    def exp(a):
        return np.exp(a)

    zyg.adjoint(exp)(rule)
    return exp


@pytest.mark.parametrize("rule", RULES_THAT_KEEP)
def test_through_python_a_pullback_keeps_what_arrays_held(rule):
    exp = with_rule(rule)

    def overwritten(a):
        y = exp(a)
        total = np.sum(y)
        y[:] = 0.0
        a[:] = 0.0
        return total

    def left(a):
        return np.sum(exp(a) * a)

    a = np.array([1.0, 2.0])
    np.testing.assert_allclose(python_pullback(overwritten, (a.copy(),), {})[1](1.0)[0], np.exp(a))
    np.testing.assert_allclose(python_pullback(left, (a,), {})[1](1.0)[0], (a + 1) * np.exp(a))


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("rule", [kept_by_cell, *KEPT_BY_OBJECTS])
def test_second_derivatives_of_what_a_pullback_keeps(rule):
    exp = with_rule(rule)

    def slopes(f):
        return lambda a: np.sum(python_pullback(f, (a,), {})[1](1.0)[0])

    def overwritten(a):
        y = exp(a)
        total = np.sum(y)
        y[:] = 0.0
        return total

    a = np.array([1.0, 2.0])
    np.testing.assert_allclose(python_pullback(slopes(lambda a: np.sum(exp(a))), (a,), {})[1](1.0)[0], np.exp(a))
    with pytest.raises(zyg.Unsupported, match="keeps an array that is written afterwards"):
        python_pullback(slopes(overwritten), (a,), {})


def test_what_a_rule_has_captured_itself_is_not_copied():
    count = np.zeros(1)

    def twice(x):
        return 2 * x

    @zyg.adjoint(twice)
    def _(x):
        def back(d):
            count[0] += 1
            return (2 * d,)

        return 2 * x, back

    assert python_pullback(lambda x: twice(x)[0], (np.ones(2),), {})[1](1.0)[0].tolist() == [2.0, 0.0]
    assert count[0] == 1


def test_shapes_that_a_rule_gives_are_named(rule):
    def scaled(x, a):
        return x * np.sum(a)

    @rule(scaled)
    def _(x, a):
        return scaled(x, a), lambda d: (d, np.ones(3))

    with pytest.raises(
        ValueError, match=r"the rule for .*scaled gave .* argument 'a' has: along axis 0 .* is 3, not 2"
    ):
        zyg.gradient(lambda x, a: scaled(x, a), 2.0, np.ones(2))
    with pytest.raises(ValueError, match=r"of argument 2 that the rule for .*scaled gave should have the shape \(2,\)"):
        python_pullback(lambda x, a: scaled(x, a), (2.0, np.ones(2)), {})[1](1.0)


class Weight:
    def __init__(self, v):
        self.v = v

    def times(self, x):
        return self.v * x

    def __call__(self, x):
        return self.v * x

    def __radd__(self, x):
        return x + self.v

    @staticmethod
    def tripled(x):
        return 3.0 * x


def halved(x):
    return 0.5 * x


PASSED_ON = {
    "map of a function": lambda x: sum(map(halved, [x])),
    "map of a method": lambda x: sum(map(Weight(2.0).times, [x])),
    "map of a method of two": lambda x: sum(map(Weight.times, [Weight(2.0)], [x])),
    "map of an object": lambda x: sum(map(Weight(2.0), [x])),
    "map of a static method": lambda x: next(map(Weight.tripled, [x])),
    "map of a partial object": lambda x: max(map(functools.partial(Weight.times, Weight(2.0)), [x])),
    "partial": lambda x: functools.partial(Weight(2.0).times, x)(),
    "partial of a function": lambda x: functools.partial(halved)(x),
    "reduce": lambda x: functools.reduce(Weight.times, [Weight(2.0), x]),
    "map of a library function": lambda x: sum(map(math.sin, [x])),
    "partial of a library function": lambda x: functools.partial(math.sin, x)(),
    "map of a ufunc": lambda x: sum(map(np.sin, [x])),
}


@each_in_turn
@pytest.mark.parametrize("shown", PASSED_ON)
def test_rules_of_what_the_library_calls(rule, shown):
    """(ignored natively: functions that are passed to others follow their rules there, too)"""
    of_method = lambda self, x: (self.v * x, lambda d: (None, 100.0 * d))
    rule(Weight.times)(of_method)
    rule(Weight.__call__)(of_method)
    rule(Weight.tripled)(lambda x: (3.0 * x, lambda d: (100.0 * d,)))
    rule(halved)(lambda x: (0.5 * x, lambda d: (100.0 * d,)))
    rule(math.sin)(lambda x: (0.0, lambda d: (100.0 * d,)))
    rule(np.sin)(lambda x: (x * 0.0, lambda d: (100.0 * d,)))
    f = PASSED_ON[shown]
    assert zyg.jit(zyg.grad(f))(3.0) == 100.0
    assert zyg.gradient(f, 3.0) == python_pullback(f, (3.0,), {})[1](1.0) == (100.0,)
    assert zyg.jvp(f, (3.0,), (1.0,))[1] == 100.0


def test_what_the_library_is_written_in_follows_its_own_rules(rule):
    wanted = zyg.gradient(lambda x: np.hypot(x, 2.0) + math.dist((x, 0.0), (0.0, 1.0)) + np.sinc(x), 3.0)
    for f in (math.hypot, math.sqrt, np.sqrt, math.sin, np.sin, abs, np.abs):
        rule(f)(lambda *args: (0.0, lambda d: tuple(100.0 * d for _ in args)))
    assert zyg.gradient(lambda x: np.hypot(x, 2.0) + math.dist((x, 0.0), (0.0, 1.0)) + np.sinc(x), 3.0) == wanted


def _square(x):
    return x * x


class _Box:
    pass


@pytest.mark.parametrize("made", [lambda x: x * x, lambda x: (x * x, None), lambda x: (x * x, lambda d: (d,), 1)])
def test_through_python_what_is_no_rule_is_shown_with_the_call(made):
    zyg.adjoint(_square)(made)

    def f(x):
        box = _Box()
        box.x = x
        return _square(box.x) * 2.0

    with pytest.raises(zyg.Unsupported, match="which does not return a value and a function") as raised:
        python_pullback(f, (0.7,), {})
    assert "return _square(box.x) * 2.0" in str(raised.value)
    assert "^^^" in str(raised.value)
    assert "return value, back" in str(raised.value)


def product(x, y):
    return x * y


@pytest.mark.parametrize(
    "back, words",
    [
        (lambda d: (d,), "does not return one entry for each of the 2 positional arguments"),
        (lambda d: d, "does not return one entry for each of the 2 positional arguments"),
        (lambda d: None, "does not return one entry for each of the 2 positional arguments"),
        (lambda d: (d, d, d), "does not return one entry for each of the 2"),
        (lambda d: ("a", d), "cotangent of argument 1 that the rule for .*product gave should be .*, not a str"),
        (
            lambda d: (d, {"a": 1.0}),
            "cotangent of argument 2 that the rule for .*product gave should be .*, not a dict",
        ),
        (lambda d: (np.ones(3), 1.0), "cotangent of argument 1 that the rule for .*product gave should"),
    ],
)
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_what_is_wrong_with_a_pullback_is_said_with_its_place(rule, back, words):
    rule(product)(lambda x, y: (x * y, back))
    said = rf"(?s){words}.*, line \d+, in \".*product\(.*instead: return"
    numbers = lambda x: product(x, 3.0) * len({x > 0})
    of_an_array = lambda x: product(np.array([x, 2.0]), 3.0).sum() * len({x > 0})
    for f in (numbers, of_an_array):
        for way in (zyg.gradient, through_python):
            with pytest.raises((TypeError, ValueError), match=said):
                way(f, 2.0)
    if not words.startswith("cotangent of argument 1"):  # natively it is inferred
        with pytest.raises(TypeError, match=said):
            zyg.gradient(lambda x: product(x, 3.0) * 1.0, 2.0)
    with pytest.raises((TypeError, ValueError), match=rf"(?s){words}"):
        zyg.hessian(numbers, 2.0)
