"""Gradients by parameters inside of functions that are differentiated, through Python. Oracle: differences of what the inner
gradients give."""

import numpy as np
import pytest

import zyg

from .oracles import differences
from .turns import by_one_python_a_day, each_in_long_turn

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


class Model:
    def __init__(self):
        self.weights = np.array([1.0, 2.0])
        self.scale = 3.0

    def loss(self):
        return self.weights[0] ** 2 * self.weights[1] * self.scale**3


W = np.array([1.0, 2.0])
LIST = [np.array([1.0, 2.0]), np.array([0.5])]
MODEL = Model()
PARAMS = zyg.Params([W])


def of_an_array(x):
    return zyg.gradient(lambda: W[0] ** 2 * W[1] * x * x, zyg.Params([W]))[W][0]


def with_the_value(x):
    value, grads = zyg.withgradient(lambda: W[0] ** 2 * W[1] * x * x, PARAMS)
    return value * grads[W][1]


def the_value_alone(x):
    return zyg.withgradient(lambda: W[0] * x**2, PARAMS)[0]


def by_a_pullback(x):
    y, back = zyg.pullback(lambda: W[0] ** 2 * W[1] * x**3, PARAMS)
    return back(x)[W][0] * y + back(1.0)[W][1]


def of_an_attribute(x):
    return zyg.gradient(lambda: MODEL.weights[0] ** 2 * x**2, zyg.Params([MODEL.weights]))[MODEL.weights][0]


def of_an_object(x):
    grads = zyg.gradient(lambda: MODEL.loss() * x**2, zyg.Params([MODEL]))[MODEL]
    return grads.scale * grads.weights[1]


def of_a_list(x):
    grads = zyg.gradient(lambda: LIST[0][0] ** 2 * LIST[0][1] * x**2 * LIST[1][0], zyg.Params(LIST))
    return grads[LIST[0]][1] * grads[LIST[1]][0]


def of_what_has_the_derivative(x):
    w = np.array([x, 2.0 * x])
    return zyg.gradient(lambda: w[0] ** 2 * w[1], zyg.Params([w]))[w][0]


def of_a_view(x):
    w = np.array([x, 2.0, x * x])
    part = w[1:]
    return zyg.gradient(lambda: (w * w * w).sum(), zyg.Params([part]))[part] @ np.array([x, 1.0])


def of_two_that_overlap(x):
    w = np.array([x, 2.0, x * x])
    part = w[1:]
    y, back = zyg.pullback(lambda: (w * part[1]).sum(), zyg.Params([w, part]))
    return back(y)[w] @ w + back(1.0)[part].sum()


def sums_of_grads(x):
    grads = zyg.gradient(lambda: W[0] ** 2 * W[1] * x * x, PARAMS)
    squares = (2 * grads + grads / x - grads).map(lambda g: g * g)
    return sum(g.sum() for g in squares.values()) + sum(squares[p][0] for p in PARAMS)


def steps_of_descent(x):
    w = np.array([x, 2.0 * x])
    params = zyg.Params([w])
    for _ in range(3):
        grads = zyg.gradient(lambda: w[0] ** 2 * w[1], params)
        for p in params:
            p -= 0.1 * grads[p]
    return w[0] * w[1]


def of_what_is_not_used(x):
    grads = zyg.gradient(lambda: W[0] * x * x, zyg.Params([W, LIST[0]]))
    return x if grads[LIST[0]] is not None else grads[W][0] * x


def of_a_method(x):
    model = Model()
    model.scale = x
    return zyg.gradient(model.loss, zyg.Params([model.weights]))[model.weights].sum()


FUNCTIONS = [
    *(of_an_array, with_the_value, the_value_alone, by_a_pullback, of_an_attribute, of_an_object, of_a_list),
    *(of_what_has_the_derivative, of_a_view, of_two_that_overlap, sums_of_grads, steps_of_descent, of_what_is_not_used),
    of_a_method,
]


@by_one_python_a_day
@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives_of_gradients_by_parameters(f):
    slope = differences.derivative(f, 1.3)
    assert zyg.gradient(f, 1.3)[0] == pytest.approx(slope, rel=1e-7)
    value, tangent = zyg.jvp(f, (1.3,), (1.0,))
    assert value == pytest.approx(f(1.3)) and tangent == pytest.approx(slope, rel=1e-7)


@each_in_long_turn
@pytest.mark.parametrize("f", [of_an_array, by_a_pullback, of_an_object, of_a_list, steps_of_descent])
def test_second_derivatives(f):
    slope = lambda x: zyg.gradient(f, x)[0]
    assert zyg.hessian(f, 1.3) == pytest.approx(differences.derivative(slope, 1.3), rel=1e-6)


@each_in_long_turn
def test_a_gradient_by_parameters_of_a_gradient_by_parameters():
    inner = lambda: zyg.gradient(lambda: W[0] ** 2 * W[1] ** 3, PARAMS)[W][0]
    assert zyg.gradient(inner, PARAMS)[W].tolist() == [16.0, 24.0]
    third = lambda: zyg.gradient(inner, PARAMS)[W][1]
    assert zyg.gradient(third, PARAMS)[W].tolist() == [24.0, 24.0]
    value, back = zyg.pullback(inner, PARAMS)
    assert value == 16.0 and back(2.0)[W].tolist() == [32.0, 48.0]


def test_an_object_twice():
    def inner():
        found = zyg.gradient(MODEL.loss, zyg.Params([MODEL]))[MODEL]
        return found.weights[0] * found.scale

    found = zyg.gradient(inner, zyg.Params([MODEL]))[MODEL]
    # inner is 6 w0**3 w1**2 s**5
    assert found.weights.tolist() == [18.0 * 4 * 3**5, 12.0 * 2 * 3**5] and found.scale == 30.0 * 4 * 3**4


def test_a_pullback_through_python_by_objects_and_by_arrays_that_overlap():
    _, back = zyg.pullback(lambda: MODEL.weights[0] ** 2 * MODEL.scale, zyg.Params([MODEL]))
    assert back(2.0)[MODEL].weights.tolist() == [12.0, 0.0] and back(2.0)[MODEL].scale == 2.0
    part = W[1:]
    f = lambda: float({"a": W * W}["a"].sum()) * len({W[0] > 0})
    for params in (zyg.Params([W, part]), zyg.Params([part, W])):
        _, back = zyg.pullback(f, params)
        for grads in (back(1.0), zyg.gradient(f, params)):
            assert grads[W].tolist() == [2.0, 4.0] and grads[part].tolist() == [4.0]


def test_what_is_wrong_is_said_there_too():
    with pytest.raises(TypeError, match="jacobian does not take Params"):
        zyg.gradient(lambda x: x * zyg.jacobian(lambda: x * W, PARAMS)[0][0], 2.0)
    with pytest.raises(TypeError, match="takes a function without arguments, and the parameters"):
        zyg.gradient(lambda x: zyg.gradient(lambda y: y * x, PARAMS, 3.0)[0], 2.0)
