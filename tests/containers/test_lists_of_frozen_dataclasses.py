"""Long lists of frozen dataclasses that hold numbers are arrays in native code, as lists of tuples are."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest

import zyg
from zyg.fallback import python_pullback


@dataclass(frozen=True)
class Inner:
    a: float
    b: float = 2.0


@dataclass(frozen=True)
class Outer:
    x: float
    inner: Inner
    n: int
    flag: bool = True

    @property
    def product(self):
        return self.x * self.inner.a


@dataclass(frozen=True, slots=True)
class Slotted:
    x: float
    v: float


@dataclass(frozen=True)
class Named:
    x: float
    name: str = "a"


@pytest.fixture(autouse=True)
def native():
    with warnings.catch_warnings():
        warnings.simplefilter("error", zyg.FallbackWarning)
        yield


def outers(count):
    return [Outer(0.5 + 0.01 * k, Inner(1.0 + 0.02 * k, 0.3), k, k % 2 == 0) for k in range(count)]


def slotted(count):
    return [Slotted(0.1 * k, 0.2 + 0.3 * k) for k in range(count)]


def f(ps):
    total = 0.0
    for p in ps:
        total += p.product * p.inner.b * p.n if p.flag else p.x**2
    return total


def products(ps):
    return sum(p.x * p.v for p in ps)


def numbers(gradient):
    return [0.0 if d is None else d for g in gradient for d in (g.x, *(g.inner or (0.0, 0.0)), g.n)]


def test_values_and_gradients():
    compiled = zyg.jit(f)
    for count in (50, 120, 50, 10):
        given = outers(count)
        assert compiled(given) == f(given)
        value, (gradient,) = zyg.withgradient(f, given)
        assert value == f(given) and len(gradient) == count and type(gradient[0]).__name__ == "OuterGradient"
        assert numbers(gradient) == pytest.approx(numbers(python_pullback(f, (given,), {})[1](1.0)[0]))


def test_each_place_has_its_own_derivative():
    """As natively those of short lists have."""
    one = Slotted(2.0, 3.0)
    assert zyg.gradient(products, [one] * 50)[0][7] == (3.0, 2.0)
    assert zyg.gradient(products, [one] * 5)[0][3] == (3.0, 2.0)


def test_other_calls_of_the_same_function():
    given = slotted(50)
    assert zyg.gradient(products, given)[0][1] == (0.5, 0.1)
    others = [*given[:-1], Slotted(1, 2.0)]  # an int
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        assert zyg.gradient(products, others)[0][-1] == (2.0, 1.0)
        mixed = [*given[:-1], Named(1.0)]
        assert zyg.gradient(lambda ps: sum(p.x for p in ps) ** 2, mixed)[0][-1].x == pytest.approx(
            2.0 * sum(p.x for p in mixed)
        )
        broken = [*given[:-1], object.__new__(Slotted)]
        with pytest.raises(AttributeError):
            zyg.gradient(products, broken)
    assert zyg.gradient(products, given)[0][1] == (0.5, 0.1)


def test_items_by_index_and_pairs():
    def pairs(ps):
        total = 0.0
        for i in range(len(ps)):
            for j in range(i + 1, len(ps)):
                d = ps[i].x - ps[j].x
                total += ps[i].v / (d * d + 0.1)
        return total

    given = slotted(50)
    value, (gradient,) = zyg.withgradient(pairs, given)
    assert value == pairs(given)
    (expected,) = python_pullback(pairs, (given,), {})[1](1.0)
    for g, e in zip(gradient, expected):
        assert math.isclose(g.x, e.x, rel_tol=1e-9) and math.isclose(g.v, e.v or 0.0, rel_tol=1e-9)


def test_pullbacks_of_lists_of_them():
    def scaled(ps, y):
        return [replace(p, x=p.x * y) for p in ps]

    value, back = zyg.pullback(scaled, slotted(50), 2.0)
    assert value == scaled(slotted(50), 2.0)
    for one in (Slotted(1.0, 0.5), (1.0, 0.5)):
        by_list, by_number = back([one] * 50)
        assert by_list[3] == (2.0, 0.5) and by_number == pytest.approx(sum(p.x for p in slotted(50)))


def test_tangents_jacobians_and_hessians():
    given = slotted(41)
    along = sum(p.v for p in given)
    # (Which is through Python, with a warning, where a process has rules for forward mode.)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        assert zyg.jvp(products, (given,), ([(1.0, 0.0)] * 41,)) == pytest.approx((products(given), along))
    assert zyg.jvp(products, (given,), ([Slotted(1.0, 0.0)] * 41,)) == pytest.approx((products(given), along))
    (rows,) = zyg.jacobian(lambda ps: np.array([ps[0].x * ps[1].v, ps[2].x]), given)
    assert rows[0].x.tolist() == [given[1].v, 0.0] and rows[2].x.tolist() == [0.0, 1.0]
    assert zyg.gradient(lambda ps: zyg.gradient(products, ps)[0][3].x ** 2, given)[0][3].v == 2.0 * given[3].v


def test_text_in_them_is_for_python():
    with pytest.raises(zyg.FallbackWarning):
        zyg.gradient(lambda ps: sum(p.x for p in ps), [Named(0.1 * k) for k in range(50)])
