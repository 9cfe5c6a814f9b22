"""Tangents and cotangents of another structure than what they are for are refused, with the place: natively and through Python."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.errors import Misuse

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]

TABLE = {("key", 1): 1.0}


class Pair:
    def __init__(self, x, y):
        self.x, self.y = x, y


def of_dicts(ds):
    return sum(d["a"] * d["b"] for d in ds)


def of_pairs(ps):
    return sum(p.x * p.y for p in ps)


def of_array(a):
    return np.sum(a * a)


def of_number(x):
    return x * x


def through_python(function):
    def refused(x):
        return function(x) * TABLE[("key", len([1]))]

    return refused


def dicts(count=2, **last):
    return [*({"a": 1.0, "b": 0.5} for _ in range(count - 1)), last]


def pairs(last, count=2):
    return [*(Pair(1.0, 0.5) for _ in range(count - 1)), last]


WHOLE = dicts(a=3.0, b=4.0)
MANY = dicts(12, a=3.0, b=4.0)
ARRAY = np.arange(3.0)
WRONG = {
    "a key too many": (of_dicts, WHOLE, dicts(a=1.0, b=1.0, c=1.0), TypeError, r"argument 0\[1\] has no key 'c'"),
    "of many, a key too many": (of_dicts, MANY, dicts(12, a=1.0, c=1.0), TypeError, r"argument 0\[11\] has no key 'c'"),
    "of many, a number for a dict": (of_dicts, MANY, [*MANY[:11], 1.0], TypeError, r"argument 0\[11\] is"),
    "an item too few": (of_dicts, WHOLE, dicts(1, a=1.0, b=1.0), TypeError, "argument 0 has 2 items, not 1"),
    "an item too many": (of_dicts, WHOLE, dicts(3, a=1.0, b=1.0), TypeError, "argument 0 has 2 items, not 3"),
    "text for a number": (of_dicts, WHOLE, dicts(a="q", b=1.0), TypeError, r"argument 0\[1\]\['a'\] is"),
    "an array for a number": (of_dicts, WHOLE, dicts(a=np.ones(2), b=1.0), TypeError, r"argument 0\[1\]\['a'\] is"),
    "a complex number": (of_dicts, WHOLE, dicts(a=1j, b=1.0), TypeError, r"argument 0\[1\]\['a'\] is"),
    "a number for a list": (of_dicts, WHOLE, 1.0, TypeError, "argument 0 is"),
    "an attribute too many": (of_pairs, pairs(Pair(1.0, 2.0)), pairs({"x": 1.0, "z": 1.0}), TypeError, r"argument 0\[1\] has no attribute 'z'"),
    "a number for an object": (of_pairs, pairs(Pair(1.0, 2.0)), pairs(1.0), TypeError, r"argument 0\[1\] is"),
    "a dimension too many": (of_array, ARRAY, np.ones((3, 1)), TypeError, "argument 0 is"),
    "a number for an array": (of_array, ARRAY, 1.0, TypeError, "argument 0 is"),
    "another length": (of_array, ARRAY, np.ones(1), ValueError, "another shape than its argument: along axis 0 its length is 1, not 3"),
    "an array of text": (of_array, ARRAY, np.array(["a"] * 3), TypeError, "elements of type <U1"),
    "complex numbers": (of_array, ARRAY, np.ones(3) * 1j, TypeError, "takes real ones"),
    "an array for the number": (of_number, 2.0, np.ones(2), TypeError, "argument 0 is"),
}  # fmt: skip
LEFT_OUT = {
    "a key": (of_dicts, WHOLE, dicts(a=1.0), 0.5 * 1.0 + 0.5 * 1.0 + 4.0),
    "of many, a key": (of_dicts, MANY, dicts(12, a=1.0), 11 * (0.5 * 1.0 + 0.5 * 1.0) + 4.0),
    "an attribute": (of_pairs, pairs(Pair(1.0, 2.0)), pairs({"x": 1.0}), 0.5 * 1.0 + 0.5 * 1.0 + 2.0),
    "an item": (of_dicts, WHOLE, [None, {"a": None, "b": 1.0}], 3.0),
}


@pytest.mark.parametrize("way", [lambda f: f, through_python])
@pytest.mark.parametrize("name", WRONG)
def test_tangents_of_another_structure(way, name):
    function, at, tangent, error, message = WRONG[name]
    f = way(function)
    with pytest.raises(error, match=message):
        zyg.jvp(f, (at,), (tangent,))
    with pytest.raises(error, match=message):
        zyg.pushforward(f, at)[1](tangent)
    with pytest.raises(error, match=message):
        zyg.hvp(f, at, tangent)


@pytest.mark.parametrize("way", [lambda f: f, through_python])
@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_left_out_is_zero(way, name):
    function, at, tangent, wanted = LEFT_OUT[name]
    assert zyg.jvp(way(function), (at,), (tangent,))[1] == pytest.approx(wanted)
    assert zyg.pushforward(way(function), at)[1](tangent) == pytest.approx(wanted)


def test_cotangents_through_python_are_read_as_natively():
    def pair(x):
        return Pair(x, x * x)

    def array(x):
        return np.array([x, x * x])

    for way in (lambda f: f, lambda f: lambda x: f(x * TABLE[("key", len([1]))])):
        assert zyg.pullback(way(pair), 3.0)[1]((1.0, 1.0)) == (7.0,)
        with pytest.raises(ValueError, match="1"):
            zyg.pullback(way(pair), 3.0)[1]((1.0,))
        with pytest.raises(TypeError, match="array of real numbers, not of complex128"):
            zyg.pullback(way(array), 3.0)[1](np.ones(2) * 1j)


def squares(a):
    return a * a


def differences(f, x, h):
    """Of a function that runs in plain Python."""
    return np.array([(f(x + h * unit) - f(x - h * unit)) / (2 * h) for unit in np.eye(len(x))])


STANDING_FOR_ARRAYS = {
    "list": lambda x: [x[0], 2.0],
    "tuple": lambda x: (1, x[1]),
    "list of run-time length": lambda x: [v for v in x],  # noqa: C416
    "array of integers": lambda x: np.array([3, 1]),
    "array of float32": lambda x: np.array([3, 1], np.float32),
    "array of bools": lambda x: x > 1.5,
}


@pytest.mark.parametrize("name", STANDING_FOR_ARRAYS)
def test_what_numpy_makes_an_array_of_stands_for_one_in_compiled_code(name):
    """As it does outside."""
    given, x = STANDING_FOR_ARRAYS[name], np.array([1.0, 2.0])

    def pulled(x):
        return zyg.pullback(squares, x)[1](given(x))[0]

    def pushed(x):
        return zyg.jvp(squares, (x,), (given(x),))[1]

    for f in (pulled, pushed):
        expected = 2.0 * x * np.array(given(x), float)
        np.testing.assert_array_equal(f(x), expected)
        np.testing.assert_array_equal(zyg.jit(f)(x), expected)
        total = lambda x: np.sum(f(x) ** 2)  # noqa: B023
        np.testing.assert_allclose(zyg.grad(total)(x), differences(total, x, 1e-5), rtol=1e-7)
        rows = differences(lambda x: differences(total, x, 1e-4), x, 1e-4)  # noqa: B023
        np.testing.assert_allclose(zyg.hessian(total, x), rows, rtol=1e-4, atol=1e-4)


def test_rows_stand_for_a_matrix_and_real_numbers_for_complex_ones():
    def matrix(A):
        return zyg.pullback(squares, A)[1]([[1.0, 2.0], [3.0, A[0, 0]]])[0]

    def complex_ones(z):
        return zyg.pullback(squares, z)[1]([1.0, z[0]])[0]

    A, z = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0 + 1.0j, 2.0 - 1.0j])
    for f, x in ((matrix, A), (complex_ones, z)):
        np.testing.assert_array_equal(zyg.jit(f)(x), f(x))


def test_lists_of_another_shape_or_of_other_things_do_not():
    x = np.array([1.0, 2.0])
    with pytest.raises(ValueError, match=r"another shape.*length is 3, not 2"):
        zyg.jit(lambda x: zyg.pullback(squares, x)[1]([1.0, 2.0, 3.0]))(x)
    for given in ([[1.0, 2.0]], [None, 1.0], ["a", "b"], 1.0, [1.0, 1j]):
        with pytest.raises(Misuse, match=r"its value is array[\s\S]*back\(given\)[\s\S]*instead: give"):

            def f(x):
                back = zyg.pullback(squares, x)[1]
                return back(given)  # noqa: B023

            zyg.jit(f)(x)
