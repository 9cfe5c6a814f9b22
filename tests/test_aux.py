"""`has_aux` of grad and value_and_grad: what a function gives beside the value that is differentiated."""

import copy
import functools
import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn


def misfit(x, w):
    residual = w * x - 1.0
    return (residual * residual).sum(), {"residual": residual, "count": len(w)}


def dynamic(f):
    """Native code refuses it."""

    @functools.wraps(f)
    def wrapper(*args):
        try:
            return f(*args)
        finally:
            repr(wrapper)

    return wrapper


@pytest.fixture(params=[lambda f: f, dynamic], ids=["native", "python"])
def through(request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if request.param is dynamic else "error", zyg.FallbackWarning)
        yield request.param


@each_in_turn
def test_value_and_gradient_of_the_first_of_two(through):
    w = np.array([1.0, 2.0, 3.0])
    f = through(misfit)
    gradient, aux = zyg.grad(f, has_aux=True)(2.0, w)
    assert gradient == 44.0 and aux["residual"].tolist() == [1.0, 3.0, 5.0] and aux["count"] == 3
    (value, aux), (by_x, by_w) = zyg.value_and_grad(f, argnums=(0, 1), has_aux=True)(2.0, w)
    assert (value, by_x, by_w.tolist()) == (35.0, 44.0, [4.0, 12.0, 20.0])

    def whole(x):
        slope, aux = zyg.grad(f, has_aux=True)(x, w)
        return slope * x + aux["residual"][0]

    assert zyg.gradient(through(whole), 2.0) == (101.0,)  # of (2 w.(w x - 1)) x + w[0] x - 1


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_native_within_python():
    @dynamic
    def whole(x):
        slope, double = zyg.grad(lambda y: (y**3, 2.0 * y), has_aux=True)(x)
        return slope * double

    assert zyg.gradient(whole, 1.5) == (pytest.approx(18 * 1.5**2),)


def test_the_aux_is_what_the_function_gave(through):
    y = np.array([1.0, 2.0])
    for f, wanted in [
        (lambda x: ((x * x).sum(), x), [2.0, 4.0]),
        (lambda x: (x[0], x[0]), [1.0, 0.0]),
        (lambda x: (2.0, x), None),
    ]:
        (_, aux), gradient = zyg.value_and_grad(through(f), has_aux=True)(y)
        assert aux is y or aux == 1.0
        assert (gradient if gradient is None else gradient.tolist()) == wanted


def test_errors_of_aux(through):
    for f in (lambda x: x * x, lambda x: (x, x, x), lambda x: None, lambda x: ("a", x), lambda x: (x * 1j, x)):
        with pytest.raises(TypeError, match=r"has_aux|value is not a real number"):
            zyg.grad(through(f), has_aux=True)(2.0)
    with pytest.raises(TypeError, match="has_aux is True or False"):
        zyg.grad(misfit, has_aux=1)  # pyright: ignore[reportArgumentType]


@dataclass
class Point:
    x: float
    y: float


def test_gradients_by_objects_can_be_pickled(through):
    (by_point,) = zyg.gradient(through(lambda p: p.x * p.y), Point(2.0, 3.0))
    for again in (pickle.loads(pickle.dumps(by_point)), copy.copy(by_point), copy.deepcopy(by_point)):
        assert again == by_point == (3.0, 2.0) and again.x == 3.0 and type(again) is type(by_point)
    k = 2.0
    (by_function, _) = zyg.gradient(through(lambda f, x: f(x)), lambda x: k * x, 3.0)
    assert pickle.loads(pickle.dumps(by_function)) == by_function == (3.0,)
