"""What is made of bound methods and partials: native like the gradient of one, with the object as it is at each call."""

import functools
import warnings

import numpy as np
import pytest

import zyg
from zyg.errors import FallbackWarning


class Spring:
    def __init__(self, stiffness, masses):
        self.stiffness = stiffness
        self.masses = masses

    def energy(self, x, scale=1.0):
        return scale * self.stiffness * x * x + self.masses[0] * x

    def stretched(self, x):
        self.stiffness = self.stiffness + 1.0
        return self.stiffness * x


@pytest.fixture(autouse=True)
def _natively():
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        yield


def test_a_method_is_native_and_sees_its_object_as_it_is():
    spring = Spring(3.0, np.array([1.0, 2.0]))
    value, slope = zyg.jit(spring.energy), zyg.grad(spring.energy)
    assert (value(2.0), slope(2.0), slope(2.0, scale=2.0)) == (14.0, 13.0, 25.0)
    spring.stiffness, spring.masses[0] = 4.0, 5.0
    assert (value(2.0), slope(2.0), zyg.gradient(spring.energy, 2.0)) == (26.0, 21.0, (21.0,))
    spring.masses = np.array([0.0])
    assert zyg.value_and_grad(spring.energy, argnums=(0, 1))(2.0, 1.0) == (16.0, (16.0, 16.0))
    assert zyg.derivative(spring.energy)(2.0) == zyg.jit(zyg.grad(spring.energy))(2.0) == 16.0
    assert zyg.gradient(lambda x: slope(x) * x, 2.0) == (32.0,)  # within compiled code
    assert len(value.signatures) == 1


def test_a_method_may_change_its_object():
    spring = Spring(3.0, np.array([1.0]))
    slope = zyg.grad(spring.stretched)
    assert (slope(2.0), slope(2.0), zyg.jit(spring.stretched)(1.0)) == (4.0, 5.0, 6.0)


def test_methods_of_many_objects_are_compiled_once():
    for k in range(3):
        spring = Spring(float(k), np.array([1.0]))
        assert zyg.grad(spring.energy)(2.0) == 4.0 * k + 1.0
    made = zyg.grad(Spring(1.0, np.array([1.0])).energy)
    made(1.0)
    again = zyg.grad(Spring(2.0, np.array([2.0])).energy)
    again(1.0)
    assert (
        made.signatures == again.signatures and made.__zyg_dispatcher__.unbound() is again.__zyg_dispatcher__.unbound()
    )


def test_partials_hold_what_is_read_at_each_call():
    held = functools.partial(lambda rates, x, power=1.0: rates[0] * x * x * power, [3.0], power=2.0)
    assert (zyg.jit(held)(2.0), zyg.grad(held)(2.0), zyg.grad(held)(2.0, power=1.0)) == (24.0, 24.0, 12.0)
    held.args[0][0] = 4.0
    assert (zyg.jit(held)(2.0), zyg.grad(held)(2.0)) == (32.0, 32.0)


def test_methods_of_classes():
    class Shapes:
        @classmethod
        def area(cls, x):
            return x * x

        @staticmethod
        def volume(x):
            return x * x * x

    assert (zyg.grad(Shapes.area)(2.0), zyg.grad(Shapes().volume)(2.0), zyg.jit(Shapes.area)(3.0)) == (4.0, 12.0, 9.0)


def test_decorators_above_and_below_those_of_methods():
    class Shapes:
        factor = 3.0

        @zyg.jit
        @staticmethod
        def square(x):
            return x * x

        @zyg.jit(fastmath=True)
        @classmethod
        def scaled(cls, x):
            return cls.factor * x * x

        @zyg.grad
        @staticmethod
        def slope(x):
            return x * x * x

        @zyg.derivative
        @staticmethod
        def rate(x):
            return x**4

        @classmethod
        @zyg.jit
        def below(cls, x):
            return cls.factor * x

    class Larger(Shapes):
        factor = 5.0

    for shapes in (Shapes, Shapes()):
        assert (shapes.square(2.0), shapes.scaled(2.0), shapes.slope(2.0), shapes.rate(1.0)) == (4.0, 12.0, 12.0, 4.0)
        assert zyg.gradient(lambda x, s=shapes: s.square(x) * s.scaled(x), 1.0) == (12.0,)
    assert (Larger().square(2.0), Larger.scaled(2.0), Larger().below(2.0)) == (4.0, 20.0, 10.0)


def test_errors_count_the_users_arguments():
    spring = Spring(1.0, np.array([1.0]))
    with pytest.raises(TypeError, match=r"grad of Spring\.energy by argument 1, but 1 positional argument was given"):
        zyg.grad(spring.energy, argnums=1)(2.0)
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'x'"):
        zyg.jit(spring.energy)()
