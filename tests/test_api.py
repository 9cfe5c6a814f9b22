"""gradient and its relatives. Expected numbers are worked out by hand or by numerical differences."""

import dataclasses
import functools
import math
import operator
import pickle
import threading
import time
from collections import namedtuple

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_turn
from zyg import pipeline
from zyg.fallback import python_pullback
from zyg.transforms import transform_of


def f(x):
    return 5 * math.sin(math.log(x))


def power(x, n):
    r = 1
    while n > 0:
        n -= 1
        r *= x
    return r


def g(x, y):
    return 2 * x + 3 * y


# ------------------------------------------------------------------------------------------- seeds' rows


def test_row_01_derivative_of_a_line():
    line = lambda x: 5 * x + 3
    assert line(10) == 53 and zyg.jit(line)(10) == 53
    assert zyg.derivative(line)(10) == 5
    assert type(zyg.derivative(line)(10)) is float


def test_row_03_the_derivative_is_an_ordinary_function():
    slope = zyg.derivative(f)
    exact = lambda x: 5 * math.cos(math.log(x)) / x
    assert slope(3.0) == pytest.approx(exact(3.0), rel=1e-15)
    assert zyg.jit(slope)(3.0) == slope(3.0)
    assert list(map(slope, [1.0, 2.0])) == [slope(1.0), slope(2.0)]
    assert zyg.jit(lambda h, x: h(x) + 1.0)(slope, 3.0) == slope(3.0) + 1.0
    assert zyg.derivative(slope)(3.0) == pytest.approx(differences.derivative(exact, 3.0), rel=1e-8)
    assert "define" in zyg.code_llvm(slope, 3.0)


def test_row_04_derivative_takes_one_variable():
    with pytest.raises(TypeError, match="gradient"):
        zyg.derivative(g)
    with pytest.raises(TypeError, match="gradient"):
        zyg.derivative(lambda *args: args[0])(1.0, 1.0)
    assert zyg.gradient(g, 1, 1) == (2.0, 3.0)


def test_row_05_gradient_is_a_tuple():
    assert zyg.gradient(lambda x: 5 * x + 3, 10) == (5.0,)


def my_gradient(function, *args):
    _, back = zyg.pullback(function, *args)
    return back(1.0)


def test_row_06_gradient_is_a_seeded_pullback():
    assert my_gradient(math.sin, 0.5) == zyg.gradient(math.sin, 0.5) == (math.cos(0.5),)
    assert my_gradient(g, 1.0, 2.0) == (2.0, 3.0)
    assert zyg.jit(my_gradient)(math.sin, 0.5) == (math.cos(0.5),)
    assert zyg.jit(my_gradient)(f, 2.0) == zyg.gradient(f, 2.0)


def test_row_07_pullback():
    y, back = zyg.pullback(math.sin, 0.5)
    assert y == 0.479425538604203
    assert back(1.0) == (0.8775825618903728,)
    assert back(1) == (0.8775825618903728,)
    assert back(2.0) == (2 * 0.8775825618903728,)
    assert back(1.0) == (0.8775825618903728,)


def test_row_08_a_pullback_by_hand_composes():
    def dsin(x):
        return math.sin(x), lambda dy: (dy * math.cos(x),)

    def chained(x):
        y, back = dsin(x * x)
        (dx,) = back(1.0)
        return y, dx * 2 * x

    assert zyg.jit(chained)(0.5) == pytest.approx((math.sin(0.25), math.cos(0.25)))


def test_row_10_readable_reprs():
    _, back = zyg.pullback(math.sin, 0.5)
    assert "pullback" in repr(back) and "0x" not in repr(back)
    assert repr(zyg.derivative(f)) == "<zyg.derivative(f)>"
    assert repr(zyg.derivative(zyg.derivative(f))) == "<zyg.derivative(derivative(f))>"
    assert repr(zyg.grad(g, argnums=(0, 1))) == "<zyg.grad(g, argnums=(0, 1))>"
    assert repr(zyg.jit(f)) == "<zyg.jit(f)>"


def test_row_12_higher_derivatives():
    derivatives = [f]
    for _ in range(4):
        derivatives.append(zyg.derivative(derivatives[-1]))
    x, log = 3.0, math.log(3.0)
    s, c = math.sin(log), math.cos(log)
    assert derivatives[2](x) == pytest.approx(-(5 * (s + c)) / x**2, rel=1e-13)
    assert derivatives[3](x) == pytest.approx(5 * (3 * s + c) / x**3, rel=1e-13)
    assert derivatives[4](x) == pytest.approx(-50 * s / x**4, rel=1e-13)


def test_row_13_power_by_a_loop():
    assert zyg.gradient(power, 2, 5) == (80.0, None)
    assert zyg.derivative(lambda x: power(x, 5))(2) == 80.0
    assert zyg.gradient(power, 2.0, 0) == (0.0, None)
    assert zyg.derivative(zyg.derivative(lambda x: power(x, 5)))(2.0) == 160.0


def test_row_22_sine_of_a_square():
    s = lambda x: math.sin(x**2) * 5
    value, (slope,) = zyg.withgradient(s, 4.0)
    assert value == pytest.approx(-1.4395165833253265, rel=1e-15)
    assert slope == pytest.approx(-38.30637921293538, rel=1e-14)
    square, back1 = zyg.pullback(lambda x: x**2, 4.0)
    sine, back2 = zyg.pullback(math.sin, square)
    y, back3 = zyg.pullback(lambda x: x * 5, sine)
    assert y == value
    assert back1(*back2(*back3(1.0))) == pytest.approx((slope,))


def test_row_34_hook(capsys):
    assert zyg.gradient(lambda a, b: zyg.hook(operator.neg, a) * b, 2, 3) == (-3.0, 2.0)
    assert zyg.gradient(lambda a, b: zyg.hook(lambda d: -d, a) * b, 2.0, 3.0) == (-3.0, 2.0)
    clip = lambda d: max(-0.5, min(0.5, d))
    assert zyg.gradient(lambda a: zyg.hook(clip, a) * 100.0, 1.0) == (0.5,)
    assert zyg.hook(operator.neg, 2.0) == 2.0
    assert zyg.gradient(lambda a, b: zyg.showgrad(a) * b, 2.0, 3.0) == (3.0, 2.0)
    assert "3.0" in capsys.readouterr().out
    assert zyg.showgrad(2.0) == 2.0 and capsys.readouterr().out == ""


def test_row_35_checkpoint(capsys):
    def noisy(x):
        print("here", x)
        return math.sin(x)

    assert zyg.checkpoint(math.sin, 1.0) == math.sin(1.0)
    assert zyg.gradient(lambda x: zyg.checkpoint(math.sin, x), 1.0) == (math.cos(1.0),)
    capsys.readouterr()
    assert zyg.gradient(lambda x: zyg.checkpoint(noisy, x), 1.0) == (math.cos(1.0),)
    assert capsys.readouterr().out.count("here 1.0") == 2
    assert zyg.gradient(lambda x: zyg.checkpoint(lambda y: x * y, 2.0), 3.0) == (2.0,)


def test_row_36_reflection(capsys):
    def level(x):
        print(zyg.nestlevel(), zyg.isderiving())
        return x

    slope = lambda h, x: zyg.gradient(h, x)[0]
    assert zyg.nestlevel() == 0 and zyg.isderiving() is False
    zyg.jit(level)(1.0)
    zyg.gradient(level, 1.0)
    zyg.gradient(lambda x: x * slope(level, x), 1.0)
    assert capsys.readouterr().out.split("\n")[:3] == ["0 False", "1 True", "2 True"]


def test_row_37_gradcheck():
    report = zyg.gradcheck(lambda x, y: math.sin(x) * y, 0.5, 2.0)
    assert report and len(report.entries) == 2
    assert "agree" in str(report)

    def wrong(x):
        return x * x

    zyg.adjoint(wrong)(lambda x: (x * x, lambda d: (3 * d * x,)))
    with pytest.raises(zyg.GradcheckError, match="WRONG") as error:
        zyg.gradcheck(lambda x: wrong(x) + x, 2.0)
    assert error.value.report.failures
    assert not zyg.gradcheck(lambda x: wrong(x) + x, 2.0, raises=False)


def test_row_39_derivative_table():
    table = [
        (lambda x: 3.0, lambda x: None),
        (lambda x: x, lambda x: 1.0),
        (lambda x: 7 * x, lambda x: 7.0),
        (lambda x: x**3, lambda x: 3 * x**2),
        (lambda x: x**-2, lambda x: -2 * x**-3),
        (lambda x: math.sqrt(x), lambda x: 0.5 / math.sqrt(x)),
        (lambda x: 1 / x, lambda x: -1 / x**2),
        (lambda x: math.exp(x), math.exp),
        (lambda x: 2.0**x, lambda x: 2.0**x * math.log(2.0)),
        (lambda x: math.log(x), lambda x: 1 / x),
        (lambda x: math.log(x, 3), lambda x: 1 / (x * math.log(3))),
        (lambda x: math.sin(x), math.cos),
        (lambda x: math.cos(x), lambda x: -math.sin(x)),
        (lambda x: math.tan(x), lambda x: 1 / math.cos(x) ** 2),
        (lambda x: math.asin(x), lambda x: 1 / math.sqrt(1 - x * x)),
        (lambda x: math.acos(x), lambda x: -1 / math.sqrt(1 - x * x)),
        (lambda x: math.atan(x), lambda x: 1 / (1 + x * x)),
        (lambda x: math.sin(x) * math.exp(x), lambda x: math.exp(x) * (math.sin(x) + math.cos(x))),
        (lambda x: math.sin(x) / x, lambda x: (x * math.cos(x) - math.sin(x)) / x**2),
        (lambda x: math.sin(math.exp(x)), lambda x: math.cos(math.exp(x)) * math.exp(x)),
    ]
    for n, (function, exact) in enumerate(table):
        (found,) = zyg.gradient(function, 0.7)
        assert found == (None if exact(0.7) is None else pytest.approx(exact(0.7), rel=1e-13)), f"line {n}"


def test_row_40_many_parameters_cost_one_backward_pass():
    def sum_sin(a):
        s = 0.0
        for i in range(a.shape[0]):
            s += math.sin(a[i]) * i
        return s

    a = np.linspace(0.0, 1.0, 20000)
    _, (slope,) = zyg.withgradient(sum_sin, a)
    assert np.allclose(slope, np.cos(a) * np.arange(a.size), rtol=1e-12)
    compiled = zyg.jit(sum_sin)
    compiled(a)

    def best(run):
        times = []
        for _ in range(5):
            start = time.thread_time()
            run()
            times.append(time.thread_time() - start)
        return min(times)

    assert best(lambda: zyg.gradient(sum_sin, a)) < 50 * best(lambda: compiled(a))


# ---------------------------------------------------------------------------------------------- gradient


def test_none_is_decided_by_data_flow():
    assert zyg.gradient(lambda x, y: x, 1.0, 2.0) == (1.0, None)
    assert zyg.gradient(lambda x, y: x + 0.0 * y, 1.0, 2.0) == (1.0, 0.0)
    assert zyg.gradient(lambda x: float(int(x)), 2.5) == (None,)
    assert zyg.gradient(lambda x: x if x > 0 else -x, -2.0) == (-1.0,)
    assert zyg.gradient(lambda x, flag: x if flag else 2 * x, 1.0, True) == (1.0, None)
    assert zyg.gradient(lambda: 1.0) == ()


@pytest.mark.parametrize("transform", [zyg.gradient, zyg.withgradient, zyg.pullback])
def test_arguments_by_name_alone_are_refused(transform):
    f = lambda x: x * x
    message = r"by no argument: those given by name \(x\) are constants"
    with pytest.raises(TypeError, match=f"{transform.__name__} of .*{message}"):
        transform(f, x=2.0)
    with pytest.raises(TypeError, match=message):
        zyg.jit(lambda x: transform(lambda x: x * x, x=x)[0])(2.0)
    with pytest.raises(TypeError, match=message):
        python_pullback(lambda x: transform(f, x=x)[0], (2.0,), {})
    with pytest.raises(TypeError, match=r"0 positional arguments were given \(those given by name are constants\)"):
        zyg.grad(f)(x=2.0)


def test_keyword_arguments_are_constants():
    def h(x, y=2.0, *, k=3.0):
        return x * y * k

    assert zyg.gradient(h, 5.0) == (6.0,)
    assert zyg.gradient(h, 5.0, y=4.0) == (12.0,)
    assert zyg.gradient(h, 5.0, 4.0, k=1.0) == (4.0, 5.0)
    assert zyg.gradient(h, 5.0, k=2.0) == (4.0,)
    assert zyg.grad(h)(5.0, k=2.0) == 4.0


@dataclasses.dataclass
class Line:
    slope: float
    offset: float

    def at(self, x):
        return self.slope * x + self.offset


def test_bound_methods_and_partials():
    line = Line(3.0, 1.0)
    with pipeline.timings() as times:
        assert zyg.gradient(line.at, 2.0) == (3.0,)
        compiled = len(times)
        assert zyg.gradient(Line(5.0, 1.0).at, 2.0) == (5.0,)
        assert len(times) == compiled, "another object of the same class must not compile again"
    assert zyg.withgradient(line.at, 2.0) == (7.0, (3.0,))
    value, back = zyg.pullback(line.at, 2.0)
    assert value == 7.0 and back(2.0) == (6.0,)
    assert zyg.gradient(functools.partial(g, 1.0), 2.0) == (3.0,)
    assert zyg.gradient(functools.partial(g, y=1.0), 2.0) == (2.0,)
    assert zyg.gradient(Line.at, line, 2.0) == ((2.0, 1.0), 3.0)


class Scale:
    def __init__(self, by):
        self.by = by

    @zyg.jit
    def at(self, x):
        return self.by * x


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_bound_methods_of_jitted_functions():
    """A bound method has the attributes of its function, and is not that function."""
    at = Scale(3.0).at
    assert zyg.grad(at)(2.0) == zyg.derivative(at)(2.0) == 3.0
    assert zyg.gradient(lambda x: at(x) * x, 2.0) == (12.0,)
    by_method, by_x = zyg.gradient(lambda h, x: h(x) * x, at, 3.0)
    assert (by_method.by, by_x) == (9.0, 18.0)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_gradients_by_partials():
    """Of `a * x` with a held by the partial (natively such a partial is a constant)."""
    product = lambda a, x: a * x
    first, named = functools.partial(product, 2.0), functools.partial(product, x=2.0)
    assert zyg.gradient(lambda f: f(3.0), first)[0].args == (3.0,)
    assert zyg.gradient(lambda f: f(3.0), named)[0].keywords == {"x": 3.0}
    assert zyg.gradient(lambda fs: fs["a"](3.0), {"a": first})[0]["a"].args == (3.0,)
    assert zyg.grad(lambda x, f: f(x))(3.0, first) == 2.0
    assert zyg.jit(lambda f: f(3.0))(first) == 6.0


def test_attributes_of_partials():
    def positional(a):
        p = functools.partial(lambda a, x: a * x, a)
        return p(3.0) * p.args[0]

    def by_keyword(a):
        p = functools.partial(lambda a, x: a * x, x=a)
        p.keywords["x"] = 2 * a
        return p(3.0) * p.func(1.0, a)

    assert (zyg.jit(positional)(2.0), zyg.grad(positional)(2.0)) == (positional(2.0), 12.0)
    assert (zyg.jit(by_keyword)(2.0), zyg.grad(by_keyword)(2.0)) == (by_keyword(2.0), 24.0)


def test_transforms_can_be_pickled():
    again = pickle.loads(pickle.dumps(zyg.grad(g, 1)))
    assert again(1.0, 2.0) == 3.0 and repr(again) == "<zyg.grad(g, argnums=1)>"
    again = pickle.loads(pickle.dumps(zyg.jit(zyg.grad(g, 1), fastmath=True)))
    assert again(1.0, 2.0) == 3.0 and transform_of(again).options.fastmath
    assert pickle.loads(pickle.dumps(slope_of_cube)) is slope_of_cube


def test_jit_under_another_name_can_be_pickled():
    fast = zyg.jit(f, fastmath=True)
    again = pickle.loads(pickle.dumps(fast))
    assert again(3.0) == pytest.approx(f(3.0)) and repr(again) == repr(fast) and again is not fast
    assert transform_of(again).options == transform_of(fast).options
    assert pickle.loads(pickle.dumps(cubed)) is cubed
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(zyg.jit(lambda x: x))


@zyg.grad
def slope_of_cube(x):
    return x * x * x


@zyg.jit
def cubed(x):
    return x * x * x


def test_gradients_of_ints_are_floats():
    (found,) = zyg.gradient(lambda n: n * n, 3)
    assert found == 6.0 and type(found) is float


def test_float32_stays_float32():
    a = np.array([1.0, 2.0], np.float32)
    (found,) = zyg.gradient(lambda a: a[0] * a[1], a)
    assert found.dtype == np.float32 and found.tolist() == [2.0, 1.0]


Pair = namedtuple("Pair", "x y")


@dataclasses.dataclass
class Point:
    x: float
    y: float


def test_row_19_gradients_of_structures():
    (found,) = zyg.gradient(lambda p: p.x, Point(1.0, 2.0))
    assert found == (1.0, None) and found.x == 1.0 and found.y is None
    (found,) = zyg.gradient(lambda p: p.x * p.y, Pair(3.0, 2.0))
    assert found == (2.0, 3.0) and found.x == 2.0 and "x=2.0" in repr(found)
    (found,) = zyg.gradient(lambda t: t[0] * t[1][0], (3.0, (4.0, 5.0)))
    assert found == (4.0, (3.0, None))


def test_row_09_gradient_of_captured_values():
    def make(a):
        return lambda x: a * x

    with_function = lambda h, x: h(x)
    (captured, slope) = zyg.gradient(with_function, make(3.0), 2.0)
    assert slope == 3.0
    assert captured == (2.0,) or captured.a == 2.0


def test_a_function_without_return_says_so():
    with pytest.raises(TypeError, match="a function without `return` has the value None"):
        zyg.gradient(lambda x: None, 1.0)


@pytest.mark.parametrize("function", [lambda x: (x, x), lambda x: "s", lambda x: x > 0])
def test_a_value_that_is_not_a_real_scalar_is_refused(function):
    with pytest.raises(TypeError) as error:
        zyg.gradient(function, 1.0)
    assert "pullback" in str(error.value) and "jacobian" in str(error.value)


def test_array_values_are_refused_by_gradient():
    with pytest.raises(TypeError, match="jacobian"):
        zyg.gradient(lambda a: a.copy(), np.zeros(3))


def test_wrong_arguments():
    with pytest.raises(TypeError):
        zyg.gradient()
    with pytest.raises(TypeError, match="takes a function"):
        zyg.gradient(3.0, 1.0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        zyg.gradient(g, 1.0)
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        zyg.gradient(g, 1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        zyg.gradient(g, 1.0, 2.0, z=3.0)
    with pytest.raises(TypeError, match="'y'"):
        zyg.jit(zyg.grad(g))(1.0, {2.0})


@pytest.mark.parametrize("argnums", ["x", 1.5, True, (0, "x")])
def test_argnums_of_wrong_type(argnums):
    with pytest.raises(TypeError, match="argnums"):
        zyg.grad(g, argnums=argnums)


def test_grad_and_value_and_grad():
    assert zyg.grad(g)(1.0, 2.0) == 2.0
    assert zyg.grad(g, 1)(1.0, 2.0) == 3.0
    assert zyg.grad(g, (0, 1))(1.0, 2.0) == (2.0, 3.0)
    assert zyg.grad(g, (1,))(1.0, 2.0) == (3.0,)
    assert zyg.value_and_grad(g)(1.0, 2.0) == (8.0, 2.0)
    assert zyg.value_and_grad(g, (1, 0))(1.0, 2.0) == (8.0, (3.0, 2.0))
    assert zyg.jit(zyg.grad(g), fastmath=True)(1.0, 2.0) == 2.0
    for bad in ((0, 0), ()):
        with pytest.raises(ValueError):
            zyg.grad(g, argnums=bad)
    with pytest.raises((TypeError, ValueError), match="by argument 2, but 2 positional arguments were given"):
        zyg.grad(g, argnums=2)(1.0, 2.0)
    with pytest.raises(ValueError, match="twice"):
        zyg.grad(g, argnums=(0, 0))


# ---------------------------------------------------------------------------------------------- pullback


def test_a_pullback_is_of_the_values_of_the_forward_pass():
    a = np.array([1.0, 2.0, 3.0])

    def h(a):
        s = 0.0
        for i in range(len(a)):
            s += a[i] ** 2
        return s

    y, back = zyg.pullback(h, a)
    a[:] = 0.0
    assert y == 14.0
    (first,) = back(1.0)
    (second,) = back(2.0)
    assert first.tolist() == [2.0, 4.0, 6.0] and second.tolist() == [4.0, 8.0, 12.0]
    first[:] = 7.0
    assert back(1.0)[0].tolist() == [2.0, 4.0, 6.0]


def test_a_pullback_of_a_tuple_takes_a_tuple():
    y, back = zyg.pullback(lambda x, y: (x + y, x * y), 1.0, 2.0)
    assert y == (3.0, 2.0)
    assert back((1.0, 0.0)) == (1.0, 1.0)
    assert back((0.0, 1.0)) == (2.0, 1.0)


def test_a_pullback_checks_its_cotangent():
    _, back = zyg.pullback(lambda a: a.copy(), np.zeros(3))
    assert back(np.ones(3))[0].tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="shape"):
        back(np.ones(4))
    with pytest.raises(TypeError):
        back("x")
    with pytest.raises(TypeError):
        back()
    _, back = zyg.pullback(lambda x: (x, x), 1.0)
    with pytest.raises((TypeError, ValueError)):
        back(1.0)
    with pytest.raises((TypeError, ValueError)):
        back((1.0, 2.0, 3.0))


def integer_part(x):
    return x.sum(), np.arange(3) + 1


def parts(x):
    return x.sum(), x * 2.0, x > 0.0, (x.reshape(1, -1) * 1j, [x + 1.0])


def parts_by_name(x):
    return {"a": x * 2.0, "b": x.sum()}


def pairs(x):
    made = []
    for k in range(x.size + 1):
        made.append((x[0] * k, x[1] * 1j))
    return made, x.sum()


def by_python(f):
    return lambda x: {1: f(x), "kind": "text"}[1]


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("through", [lambda f: f, by_python], ids=["native", "python"])
def test_none_is_the_cotangent_of_a_part_that_does_not_matter(through):
    x, ones = np.array([1.0, 2.0, 3.0]), np.ones(3)
    _, back = zyg.pullback(through(integer_part), x)
    assert back((1.0, None))[0].tolist() == back((1.0, np.zeros(3)))[0].tolist() == [1.0] * 3
    _, back = zyg.pullback(through(parts), x)
    assert back((1.0, None, None, None))[0].tolist() == [1.0] * 3
    assert back((None, ones, None, (None, [ones])))[0].tolist() == [3.0] * 3
    assert back((None, None, None, (None, [ones])))[0].tolist() == [1.0] * 3
    _, back = zyg.pullback(through(parts_by_name), x)
    assert back({"b": 1.0})[0].tolist() == back({"a": None, "b": 1.0})[0].tolist() == [1.0] * 3
    assert back({"a": ones, "b": None})[0].tolist() == [2.0] * 3
    _, back = zyg.pullback(through(pairs), x)
    assert back((None, 1.0))[0].tolist() == [1.0] * 3
    assert back(([(1.0, None)] * 4, None))[0].tolist() == [6.0, 0.0, 0.0]


def test_none_as_a_cotangent_in_compiled_code():
    @zyg.jit
    def f(x):
        _, back = zyg.pullback(lambda x: (x.sum(), x.T, [x * 3.0]), x)
        return back((1.0, None, None))[0]

    assert f(np.ones((2, 3), order="F")).tolist() == [[1.0] * 3] * 2


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("f, value", [(lambda x: int(x), 1), (lambda x: round(x), 2), (lambda x: len([x]), 1)])
def test_an_integer_is_a_number_and_one_by_nature_has_no_derivative(f, value):
    for g in (f, by_python(f)):
        assert zyg.value_and_grad(g)(1.6) == (value, None)
        assert zyg.gradient(g, 1.6) == (None,)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_a_truth_value_is_no_number():
    for g in (lambda x: x > 1.0, by_python(lambda x: x > 1.0)):
        with pytest.raises(TypeError, match="not a real number"):
            zyg.grad(g)(1.6)


def test_a_pullback_in_threads():
    def h(x):
        y = x
        for _ in range(1000):
            y = math.sin(y) + x
        return y

    _, back = zyg.pullback(h, 0.5)
    (expected,) = back(1.0)
    found = []
    threads = [threading.Thread(target=lambda: found.extend(back(1.0) for _ in range(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(expected,)] * 80


# ---------------------------------------------------------------------------------------------- jacobian


@each_in_turn
def test_jacobian():
    found = zyg.jacobian(lambda x, y: (x * y, x + y), 2.0, 3.0)
    assert [j.tolist() for j in found] == [[3.0, 1.0], [2.0, 1.0]]
    assert zyg.jacobian(lambda x: x * x, 3.0) == (6.0,)

    def vector(a, s):
        out = np.empty(2)
        out[0] = a[0] * a[1] * s
        out[1] = a[0] + a[2]
        return out

    by_a, by_s = zyg.jacobian(vector, np.array([2.0, 3.0, 4.0]), 5.0)
    assert by_a.tolist() == [[15.0, 10.0, 0.0], [1.0, 0.0, 1.0]]
    assert by_s.tolist() == [6.0, 0.0]
    assert zyg.jacobian(lambda x, y: (x, x), 1.0, 2.0)[1] is None
    with pytest.raises(TypeError):
        zyg.jacobian(lambda x: None, 1.0)


# ------------------------------------------------------------------------------------ inside compiled code


def test_newton_with_a_compiled_second_derivative():
    @zyg.jit
    def minimise(x):
        slope = zyg.derivative(lambda x: (x - 2.0) ** 4 + math.cosh(x))
        for _ in range(60):
            x -= slope(x) / zyg.derivative(slope)(x)
        return x

    x = minimise(1.0)
    assert 4 * (x - 2.0) ** 3 + math.sinh(x) == pytest.approx(0.0, abs=1e-12)


def test_gradient_inside_compiled_code_and_inside_gradient():
    inner = lambda x, y: math.sin(x) * y
    assert zyg.jit(lambda x: zyg.gradient(inner, x, 3.0))(0.5) == (3.0 * math.cos(0.5), math.sin(0.5))
    outer = lambda x: zyg.gradient(inner, x, x)[0] + zyg.withgradient(inner, x, 2.0)[0]
    exact = lambda x: math.cos(x) - x * math.sin(x) + 2.0 * math.cos(x)
    assert zyg.gradient(outer, 0.5)[0] == pytest.approx(exact(0.5))


def test_stop_gradient():
    assert zyg.stop_gradient(2.0) == 2.0
    assert zyg.gradient(lambda x: x * zyg.stop_gradient(x), 3.0) == (3.0,)
    assert zyg.gradient(lambda x: zyg.stop_gradient(x), 3.0) == (None,)


# ------------------------------------------------------------------------------------------------- arrays


def test_the_function_runs_once_and_its_mutations_are_seen():
    def h(a):
        s = 0.0
        for i in range(len(a)):
            a[i] = a[i] * 2.0
            s += a[i] * a[i]
        return s

    a = np.array([1.0, 2.0])
    (slope,) = zyg.gradient(h, a)
    assert a.tolist() == [2.0, 4.0]
    assert slope.tolist() == [8.0, 16.0]


def test_overlapping_arguments():
    a = np.arange(4.0)
    dot = lambda u, v: u[0] * v[1] + u[1] * v[0]
    first, second = zyg.gradient(dot, a, a)
    assert first.tolist() == [1.0, 0.0, 0.0, 0.0] and second.tolist() == [1.0, 0.0, 0.0, 0.0]

    def write(u, v):
        u[0] = v[1] * 2.0
        return u[0] * v[0]

    with pytest.raises(ValueError, match="overlap"):
        zyg.gradient(write, a, a)
    with pytest.raises(ValueError, match="overlap"):
        zyg.gradient(write, a[:3], a[1:])
    u, v = zyg.gradient(write, np.arange(4.0), np.arange(4.0) + 1.0)
    assert u.tolist() == [0.0] * 4 and v.tolist() == [4.0, 2.0, 0.0, 0.0]


def test_gradients_are_fresh_arrays_of_the_arguments_shape():
    a = np.ones((3, 4)).T
    (slope,) = zyg.gradient(lambda a: a[0, 1] * 2.0, a)
    assert slope.shape == (4, 3) and slope[0, 1] == 2.0 and np.count_nonzero(slope) == 1
    ints = np.arange(3)
    (slope,) = zyg.gradient(lambda a: 1.5 * a[1], ints)
    assert slope.dtype == np.float64 and slope.tolist() == [0.0, 1.5, 0.0]


def test_gradcheck_of_arrays_and_structures():
    def h(a, p):
        s = 0.0
        for i in range(len(a)):
            a[i] = math.sin(a[i]) * p.x
            s += a[i] * p.y
        return s

    assert zyg.gradcheck(h, np.array([0.1, 0.2, 0.3]), Pair(1.5, 2.5))
