"""Classes that a function makes each time it is called: what `type` runs when it makes one (`__set_name__`, `__init_subclass__`,
`__slots__` that are computed), properties that are made step by step, keys of dicts that are tuples, and exceptions through several
calls: values, first and second derivatives."""

# ruff: noqa: RUF012

from __future__ import annotations

import functools
from collections import defaultdict
from typing import Any

import pytest

from tests.autodiff.tried import derivative, in_a_try
from tests.oracles import differences
from tests.turns import by_one_python_a_day
from zyg.autodiff.objects.api import pullback


class Named:
    """Keeps numbers when it is told its name."""

    def __init__(self, x):
        self.x = x

    def __set_name__(self, owner, name):
        self.x = self.x * len(name)
        owner.told = self.x

    def __get__(self, instance, owner=None):
        return self.x


class Counting:
    total = [0.0]

    def __init_subclass__(cls, weight=1.0, **keywords):
        super().__init_subclass__(**keywords)
        cls.weight = weight * 2.0
        Counting.total[0] += cls.weight


def told_their_names(x):
    class A:
        ab = Named(x)
        abc = Named(x * x)

    return A.ab * A().abc + A.told


def known_to_their_bases(x):
    Counting.total[0] = 0.0

    class A(Counting, weight=x):
        scale = x

    class B(A):
        pass

    return A.weight * B.weight * B.scale + Counting.total[0] * x


def with_slots(x):
    seen = [0.0]

    def slots():
        for name in ("a", "b"):
            seen[0] += x
            yield name

    class A:
        __slots__ = slots()

    class B:
        __slots__ = ("a",)

        def __init__(self, a):
            self.a = a

    one = A()
    one.a, one.b = x, B(seen[0])
    return one.a * one.b.a


def with_attributes(x):
    total = 0.0
    for k in range(3):

        class A:
            scale = x * k
            items = [x, scale]

            def __init__(self, v):
                self.v = v * self.scale

            def step(self):
                return self.v + A.scale * self.items[1]

        class B(A):
            def step(self):
                return super().step() * x

        A.items[0] = A.items[0] * x
        total += A(x).step() + B(total).step() + A.items[0]
    return total


class Wide(property):
    """A property that has its own way to get another function."""

    made = [1.0]

    def setter(self, f):
        Wide.made[0] = Wide.made[0] * 2.0
        return Wide(self.fget, f)


def with_properties(x):
    class A:
        def __init__(self, v):
            self._v, self.set = v, 0.0

        @property
        def v(self):
            return self._v * x

        @v.setter
        def v(self, value):
            if value < 0.0:
                raise ValueError(value)
            self._v = value
            self.set += value

        @v.deleter
        def v(self):
            self._v = self.set

        @functools.cached_property
        def c(self):
            return self._v * self.set

    a = A(x)
    for k in range(3):
        a.v = a.v + k
    try:
        a.v = -x
    except ValueError as error:
        a.v = error.args[0] * -2.0
    total = a.c
    del a.v
    return total + a.v


def with_derived_properties(x):
    Wide.made[0] = x

    class A:
        _v = x

        @Wide
        def w(self):
            return self._v * 2.0

        @w.setter
        def w(self, value):
            self._v = value * x

    a = A()
    a.w = a.w * 0.5
    return a.w + Wide.made[0]


def tables(x):
    """Nested loops over dicts whose keys are tuples."""
    m = {(i, i + 1): x * i for i in range(4)}
    mixed = {(0, "a"): x, "b": x * x, (1, (2, "c")): 3.0}
    out = defaultdict(float)
    for (i, k), a in m.items():
        for (k2, j), b in m.items():
            if k == k2:
                out[i, j] += a * b
        for key, c in mixed.items():
            out[key] += c * a
            mixed[key] = c * x
    return sum(out.values()) + sum(mixed.values())


def numbers_as_keys(x):
    m = {(0.5, 1): x, (1.5, 2): x * x}
    total = 0.0
    for (u, k), a in m.items():
        for (v, n), b in m.items():
            total += a * b * u * v + k * n
    return total


def through_several_calls(x):
    log = [x]

    def inner(n, depth):
        log[0] = log[0] * 1.1
        if depth:
            return inner(n, depth - 1) * x
        if n % 2:
            raise KeyError(n * x)
        return n * x

    def middle(n):
        try:
            return inner(n, n)
        except KeyError as error:
            log.append(error.args[0])
            if n == 3:
                raise ValueError(error.args[0] * x) from error
            return log[0]

    class Resource:
        def __enter__(self):
            log[0] += x
            return self

        def __exit__(self, kind, error, traceback):
            log[0] = log[0] * x
            return kind is ValueError and False

    total = 0.0
    for n in range(5):
        try:
            with Resource():
                total += middle(n)
        except ValueError as error:
            total += error.args[0]
            try:
                raise
            except ValueError as again:
                total += again.args[0] * x
    return total + sum(log)


def the_same_function_again(x):
    """Exceptions that come through a function which calls itself, is caught in it, and raised again by it."""
    state = [x]

    def f(n):
        state[0] = state[0] * x
        if n == 0:
            raise ValueError(state[0])
        try:
            return f(n - 1)
        except ValueError as error:
            state[0] += error.args[0]
            if n % 2:
                raise
            if n == 4:
                raise ValueError(state[0] * x) from None
            return state[0]

    total = 0.0
    for n in range(6):
        try:
            total += f(n)
        except ValueError as error:
            total += error.args[0] * 0.1
    return total + state[0]


PROGRAMS: dict[str, Any] = {
    f.__name__: f
    for f in (
        told_their_names, known_to_their_bases, with_slots, with_attributes, with_properties, with_derived_properties, tables, numbers_as_keys,
        through_several_calls, the_same_function_again,
    )
}  # fmt: skip


@by_one_python_a_day
@pytest.mark.parametrize("watched", [False, True], ids=["plain", "watched"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name, watched):
    f = in_a_try(PROGRAMS[name]) if watched else PROGRAMS[name]
    for x in (0.7, 1.1, 0.7):
        y, back = pullback(f, (x,))
        assert y == f(x)
        assert back(1.0)[0] == pytest.approx(differences.derivative(f, x), rel=1e-8)


@by_one_python_a_day
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "with_derived_properties"])
def test_second_derivatives(name):
    f = PROGRAMS[name]
    second = derivative(lambda x: derivative(f, x), 0.9)
    assert second == pytest.approx(differences.derivative(lambda x: derivative(f, x), 0.9), rel=1e-7, abs=1e-9)


def test_the_module_and_name_of_a_class():
    def f(x):
        class A:
            pass

        class B(A):
            __slots__ = ()

        names.append((A.__module__, A.__qualname__, B.__bases__ == (A,)))
        return x

    names: list[Any] = []
    f(1.0)
    pullback(f, (1.0,))
    assert names[0] == names[1]
