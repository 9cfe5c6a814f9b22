"""gradcheck: what it compares, and what it says when there is nothing to compare."""

import cmath
import dataclasses
import math

import numpy as np
import pytest

import zyg
from zyg import places

from .turns import each_in_turn


@dataclasses.dataclass
class Point:
    x: float
    y: float


class Layer:
    def __init__(self):
        self.scale = 2.0
        self.weights = np.array([1.0, 2.0])


def power(x, n):
    r = 1.0
    while n > 0:
        r *= x
        n -= 1
    return r


@each_in_turn
@pytest.mark.parametrize(
    "function, args, count",
    [
        (lambda x: x * x, (3,), 1),
        (power, (2.0, 5), 1),
        (lambda z: z * z * 1j + z.conjugate(), (1.0 + 2j,), 4),
        (lambda z: abs(z) ** 2, (1.0 + 2j,), 2),
        (lambda p: p["a"] * p["b"][1], ({"a": 2.0, "b": [3.0, 4.0]},), 3),
        (lambda p: (p.x * p.y, Point(p.x, 2.0)), (Point(2.0, 3.0),), 6),
        (lambda layer: layer.scale * layer.weights[1], (Layer(),), 3),
        (lambda a: a[0] * a[1] * 1.0, (np.array([2, 3]),), 2),
        (lambda t: t[0] * t[1][0], ((2.0, (3.0,)),), 2),
    ],
)
def test_row_37_structures_ints_and_complex_numbers(function, args, count):
    report = zyg.gradcheck(function, *args)
    assert report and len(report.entries) == count


def test_parameters_are_varied_in_place_and_put_back():
    w = np.array([1.0, 2.0])
    report = zyg.gradcheck(lambda: w[0] * w[1] ** 2, zyg.Params([w]))
    assert [e.place for e in report.entries] == ["parameter 0[0]", "parameter 0[1]"]
    assert w.tolist() == [1.0, 2.0]


def test_a_wrong_derivative_is_found_in_each_part():
    with pytest.raises(zyg.GradcheckError, match=r"z\.imag"):
        zyg.gradcheck(lambda z: z * zyg.stop_gradient(z), 1.0 + 2.0j)
    with pytest.raises(zyg.GradcheckError, match=r"p\['a'\]\[0\]"):
        zyg.gradcheck(lambda p: p["a"][0] * zyg.stop_gradient(p["a"][0]), {"a": [3.0]})


@pytest.mark.parametrize(
    "function, args, words",
    [
        (lambda x: "a", (3.0,), "its value, a str, holds no number"),
        (lambda x: None, (3.0,), "its value, a NoneType, holds no number"),
        (lambda: 2.0, (), "no argument holds a number"),
        (lambda s: 2.0, ("a",), "no argument holds a number"),
    ],
)
def test_nothing_to_compare(function, args, words):
    with pytest.raises(TypeError, match=words):
        zyg.gradcheck(function, *args)


def test_an_object_in_a_circle_is_entered_once():
    a = Layer()
    a.other = a
    assert [places.text(p) for p in places.places(a)] == [".scale", ".weights[0]", ".weights[1]"]


def test_put_leaves_what_is_immutable_alone():
    p = (1.0, (2.0, 3.0 + 1j))
    changed = places.put(p, (("item", 1), ("item", 1), ("part", "imag")), 5.0)
    assert changed == (1.0, (2.0, 3.0 + 5j)) and p == (1.0, (2.0, 3.0 + 1j))


def test_of_functions_of_cmath():
    assert zyg.gradcheck(lambda z: cmath.exp(z) * math.sin(z.real), 0.3 + 0.7j)
