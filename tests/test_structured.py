"""Jacobians and Hessians by structures, and of functions that give structures: nested like JAX's. Natively and through Python."""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

pytestmark = each_in_turn

rng = np.random.default_rng(5)
W, B, X = rng.normal(size=(2, 3)), rng.normal(size=2), rng.normal(size=3)


@dataclass
class Layer:
    W: np.ndarray
    b: np.ndarray
    scale: float
    power: int = 2


Pair = namedtuple("Pair", "first second")


def native(p: dict[str, Any]) -> Any:
    return np.sum(np.tanh(p["W"] @ X + p["b"]) ** p["power"]) * p["scale"]


def by_python(p: dict[str, Any]) -> Any:
    try:
        return native(p)
    except KeyError:
        return 0.0


def of_vector(v: np.ndarray) -> Any:
    return native({"W": v[:6].reshape(2, 3), "b": v[6:8], "scale": v[8], "power": 2})


PARAMETERS = {"W": W, "b": B, "scale": 0.7, "power": 2}
FLAT = np.concatenate([W.ravel(), B, [0.7]])
PLACES = {"W": (slice(0, 6), (2, 3)), "b": (slice(6, 8), (2,)), "scale": (slice(8, 9), ())}


def differences() -> np.ndarray:
    def gradient(v: np.ndarray) -> np.ndarray:
        steps = np.eye(9) * 1e-4
        return np.array([(of_vector(v + s) - of_vector(v - s)) / 2e-4 for s in steps])

    return np.array([(gradient(FLAT + s) - gradient(FLAT - s)) / 2e-4 for s in np.eye(9) * 1e-4])


@each_in_long_turn
@pytest.mark.parametrize("function", [native, by_python])
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_the_hessian_by_a_dictionary(function):
    found, wanted = zyg.hessian(function, PARAMETERS), differences()
    assert found["power"] is None
    for one, (rows, shape) in PLACES.items():
        assert found[one]["power"] is None
        for other, (columns, shape_too) in PLACES.items():
            block = found[one][other]
            assert np.shape(block) == shape + shape_too
            np.testing.assert_allclose(np.ravel(block), wanted[rows, columns].ravel(), atol=1e-6)


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_the_hessian_by_an_object():
    def plain(p):
        return np.sum(np.tanh(p.W @ X + p.b) ** p.power) * p.scale

    def caught(p):
        try:
            return plain(p)
        except KeyError:
            return 0.0

    expected = zyg.hessian(native, PARAMETERS)
    for function in (plain, caught):
        found = zyg.hessian(function, Layer(W, B, 0.7))
        assert type(found).__name__ == type(found.W).__name__ == "LayerGradient"
        assert found._fields == ("W", "b", "scale", "power")
        assert found.power is None
        np.testing.assert_allclose(found.W.b, expected["W"]["b"], rtol=1e-12)
        np.testing.assert_allclose(found.b.scale, expected["b"]["scale"], rtol=1e-12)


class Grown:
    def __init__(self):
        self.v = 2.0
        self.w = 5.0


def grow(p):
    p.new = p.v * p.v
    del p.w
    return p.new * p.v


def grow_list(p):
    p.append(p[0] * p[0])
    return p[-1] * p[0]


def shrink(p):
    return p.pop() * p[0] ** 3


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_what_the_function_puts_into_its_argument_is_no_part_of_it():
    def caught(f):
        def g(p):
            try:
                return f(p)
            except KeyError:
                return 0.0

        return g

    for f in (grow, caught(grow)):
        found = zyg.hessian(f, Grown())
        assert found._fields == ("v", "w") and found.v.v == 12.0 and found.v.w == found.w.v == found.w.w == 0.0
        (found,) = zyg.jacobian(lambda p, f=f: [f(p), p.v], Grown())
        assert found._fields == ("v", "w")
        assert (found.v.tolist(), found.w.tolist()) == ([12.0, 1.0], [0.0, 0.0])
    for f in (grow_list, caught(grow_list)):
        assert zyg.hessian(f, [2.0, 1.0]).tolist() == [[12.0, 0.0], [0.0, 0.0]]
    for f in (shrink, caught(shrink)):
        assert zyg.hessian(f, [2.0, 1.0]).tolist() == [[12.0, 12.0], [12.0, 0.0]]


def test_tuples_and_lists_of_numbers_are_vectors():
    f = lambda p: p[0] * p[1] ** 2
    for x in ((3.0, 2.0), [3.0, 2.0], (3, 2), [3, 2]):
        assert np.array_equal(zyg.hessian(f, x), [[0.0, 4.0], [4.0, 6.0]])
        assert np.array_equal(zyg.jacobian(lambda p: (p[0] * p[1], p[0]), x)[0], [[2.0, 3.0], [1.0, 0.0]])


def test_lists_of_numbers_and_lists_are_structures():
    (found,) = zyg.jacobian(lambda x: [x, x * x, [x**3]], 2.0)
    assert found[:2] == [1.0, 4.0] and found[2].tolist() == [12.0]


@each_in_long_turn
def test_the_hessian_by_a_tuple_and_by_a_list_of_arrays():
    f = lambda p: np.sum(p[0] ** 3) * np.sum(p[1])
    a, b = np.array([1.0, 2.0]), np.array([[3.0]])
    for x in ((a, b), [a, b], Pair(a, b)):
        (aa, ab), (ba, bb) = found = zyg.hessian(f, x)
        assert type(found) is type(x) or type(found).__name__ == "PairGradient"
        np.testing.assert_allclose(aa, np.diag(6 * a * 3.0))
        np.testing.assert_allclose(ab, (3 * a**2)[:, None, None])
        np.testing.assert_allclose(ba, (3 * a**2)[None, None, :])
        assert bb.shape == (1, 1, 1, 1)
        assert not bb.any()
    assert a.tolist() == [1.0, 2.0]


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_jacobians_of_structures_by_structures():
    def plain(p, y):
        return {"h": p["W"] @ y + p["b"], "parts": (y * y, y[0])}

    def caught(p, y):
        try:
            return plain(p, y)
        except KeyError:
            return None

    p = {"W": W, "b": B}
    for function in (plain, caught):
        by_p, by_y = zyg.jacobian(function, p, X)
        np.testing.assert_allclose(by_p["h"]["b"], np.eye(2))
        np.testing.assert_allclose(by_p["h"]["W"], np.eye(2)[:, :, None] * X)
        assert by_p["parts"][0]["W"].shape == (3, 2, 3)
        assert not by_p["parts"][0]["W"].any()
        np.testing.assert_allclose(by_y["h"], W)
        np.testing.assert_allclose(by_y["parts"][0], np.diag(2 * X))
        np.testing.assert_allclose(by_y["parts"][1], [1.0, 0.0, 0.0])


def test_what_does_not_matter_is_none_and_keywords_are_constants():
    by_p, by_y = zyg.jacobian(lambda p, y, k=1.0: p["a"] * k, {"a": X}, 2.0, k=3.0)
    np.testing.assert_allclose(by_p["a"], 3.0 * np.eye(3))
    assert by_y is None
    assert zyg.hessian(lambda p: 3.0, {"a": 1.0}) == {"a": {"a": 0.0}}


@each_in_long_turn
def test_derivatives_of_structured_hessians_and_single_precision():
    f = lambda p: np.sum(p["x"] ** 3) * p["s"]
    third = zyg.gradient(lambda x: np.sum(zyg.hessian(f, {"x": x, "s": 2.0})["x"]["x"]), X)[0]
    np.testing.assert_allclose(third, np.full(3, 12.0))
    single = zyg.hessian(f, {"x": X.astype(np.float32), "s": np.float32(2.0)})
    assert single["x"]["x"].dtype == np.float32


def test_complex_numbers_are_refused():
    with pytest.raises(TypeError, match="real"):
        zyg.hessian(lambda p: abs(p["z"]) * p["x"], {"z": 1j, "x": 2.0})


class Layout:
    """Where the parts of a vector of parameters are, as users of flat vectors write it."""

    def __init__(self, **shapes):
        self.places, end = {}, 0
        for name, shape in shapes.items():
            begin, end = end, end + np.prod(shape)
            self.places[name] = slice(begin, end), shape

    def get(self, vector, name):
        place, shape = self.places[name]
        return np.reshape(vector[place], shape)


@pytest.mark.filterwarnings("error::zyg.FallbackWarning")
def test_slices_as_arguments_and_results():
    layout, x = Layout(a=(2, 2), b=(1, 2)), np.arange(6.0)

    def product(v):
        return np.sum(layout.get(v, "a") @ layout.get(v, "b").T)

    assert zyg.gradient(product, x)[0].tolist() == [4.0, 5.0, 4.0, 5.0, 2.0, 4.0]

    def written(v, place):
        v = v.copy()
        v[place] *= 2.0
        return np.sum(v * v), place, place == slice(1, 3), place.step

    for place in (slice(1, 3), slice(None), slice(-3, None), slice(4, 1, -2), slice(True, np.int64(3)), slice(0)):
        (value, same, *rest), back = zyg.pullback(written, x, place)
        assert (value, same, *rest) == written(x, place)
        assert (value, same, *rest) == zyg.jit(written)(x, place)
        weights = np.where(np.isin(np.arange(6), np.arange(6)[place]), 4.0, 1.0)
        gradient = back((1.0, None, None, None))
        assert gradient[0].tolist() == (2.0 * weights * x).tolist()
        assert gradient[1] is None
    with pytest.raises(TypeError, match="slice indices must be integers"):
        zyg.jit(written)(x, slice(1.5, 2))


@dataclass
class Scaled:
    x: float
    scale: ClassVar[float] = 2.0
    given: InitVar[float] = 0.5
    power: float = field(default=3.0, init=False)
    y: float = 1.5


def weighed(ps: list[Scaled]) -> float:
    return sum(p.x * p.scale * p.y**p.power for p in ps)


@pytest.mark.parametrize("count", [1, 5])
def test_attributes_of_a_class_are_none_of_its_instances(count):
    """What a dataclass has itself, other than a default that its instances take over, is in no gradient; each time anew."""
    make = lambda: [Scaled(1.0 + k) for k in range(count)]
    (expected,) = zyg.gradient(weighed, make())
    assert [g._fields for g in expected] == [("x", "y")] * count
    for _ in range(6):
        _, back = python_pullback(weighed, (make(),), {})
        (found,) = back(1.0)
        assert [g._fields for g in found] == [("x", "y")] * count
        for one, other in zip(found, expected):
            assert one == pytest.approx(other, rel=1e-14)


@pytest.mark.parametrize("count", [1, 5])
def test_an_attribute_of_an_instance_in_the_place_of_that_of_its_class(count):
    def make() -> list[Scaled]:
        ps = [Scaled(1.0 + k) for k in range(count)]
        ps[-1].power = 2.0
        ps[-1].scale = 0.5
        return ps

    for _ in range(6):
        _, back = python_pullback(weighed, (make(),), {})
        last = back(1.0)[0][-1]
        assert last._asdict() == pytest.approx(
            {
                "x": 0.5 * 1.5**2, "scale": count * 1.5**2, "power": count * 0.5 * 1.5**2 * math.log(1.5), "y": count * 0.5 * 2 * 1.5,
            },
            rel=1e-14,
        )  # fmt: skip
