"""Class statements that make another class each time they run: what was found out about the last one is of no use where the next one
differs, in what its body did, in its bases, or by what came to it afterwards."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_turn
from zyg.autodiff.objects import anew
from zyg.fallback import python_pullback

pytestmark = each_in_turn

WAYS = (0, 0, 1, 0, 2, 2, 1, 1, 0, 2)


def methods_by_condition(x, y, way):
    class A:
        def __init__(self, v):
            self.v = v * x

        if way == 1:

            def get(self):
                return self.v * y

        elif way == 2:

            @property
            def v(self):
                return self.w * y

            @v.setter
            def v(self, v):
                self.w = v * v

            def get(self):
                return self.v

        else:

            def get(self):
                return self.v + y

    a = A(y)
    a.v = a.v * x
    return a.get() * a.v


def another_code_for_a_name(x, y, way):
    def first(self, v):
        self.v = v * x

    def second(self, v):
        self.v = v * v * y

    def third(self, v, w=1.5):
        self.v = v + w * x

    class A:
        __init__ = (first, second, third)[way]

    return A(x * y).v * A(y).v


def defaults(x, y, way):
    class A:
        def __init__(self, v, w=(2.0, x, y)[way]):
            self.v = v * w

        def get(self, k=(y, 3.0, x)[way]):
            return self.v * k

    return A(x).get() * A(y, x).get(x)


def set_afterwards(x, y, way):
    class A:
        def __init__(self, v):
            self.v = v

        def get(self):
            return self.v

    a = A(x)
    a.v = a.v * y
    if way == 1:
        A.get = lambda self: self.v * self.v * x
    elif way == 2:
        A.v = property(lambda self: self.w * y, lambda self, v: setattr(self, "w", v * v))  # type: ignore[assignment]
    b = A(y)
    b.v = b.v * x
    return b.get() * b.v + x * y


def decorated(x, y, way):
    def as_it_is(cls):
        return cls

    def with_another_beginning(cls):
        begin = cls.__init__

        def __init__(self, v):
            begin(self, v * y)
            self.v = self.v * x

        cls.__init__ = __init__
        return cls

    def derived(cls):
        class Derived(cls):
            def get(self):
                return super().get() * y

        return Derived

    @(as_it_is, with_another_beginning, derived)[way]
    class A:
        def __init__(self, v):
            self.v = v

        def get(self):
            return self.v * x

    a = A(y)
    a.v = a.v + x
    return a.get() * A(x).v


def asked_for_attributes(x, y, way):
    class A:
        def __init__(self, v):
            self.v = v

        if way == 1:

            def __getattr__(self, name):
                return self.v * y

        if way == 2:

            def __setattr__(self, name, value):
                object.__setattr__(self, name, value * y)

        if not way:
            w = None

    a = A(x)
    a.v = a.v * x
    b = a.w if way == 1 else 1.0
    return a.v * b


def every_read(x, y, way):
    class A:
        def __init__(self, v):
            self.v = v

        if way:

            def __getattribute__(self, name):
                found = object.__getattribute__(self, name)
                return found * (x if way == 1 else y) if name == "v" else found

    a = A(x * y)
    a.v = a.v * x
    return a.v


class Base:
    def times(self, k):
        return self.v * k  # type: ignore[attr-defined]


class Doubling:
    def times(self, k):
        return self.v * k * 2.0  # type: ignore[attr-defined]

    @property
    def w(self):
        return self.v * self.v  # type: ignore[attr-defined]


class Noting:
    def __init_subclass__(cls, **keywords):
        cls.times = lambda self, k: self.v * k * k  # type: ignore[attr-defined]


def bases(x, y, way):
    class A((Base, Doubling, Noting)[way]):
        def __init__(self, v):
            self.v = v
            if way != 1:
                self.w = v * y

    a = A(x)
    return a.times(y) * a.w


def local_bases(x, y, way):
    class A:
        def __init__(self, v):
            self.v = v

        if way == 1:

            def __setattr__(self, name, value):
                object.__setattr__(self, name, value * value)

    if way == 2:
        A.v = property(lambda self: self.u * x, lambda self, v: setattr(self, "u", v * y))  # type: ignore[assignment]

    class B(A):
        def get(self):
            return self.v * x

    b = B(y)
    b.v = b.v * x
    return b.get() * b.v


def metaclasses(x, y, way):
    class Meta(type):
        def __call__(cls, v):
            return super().__call__(v * y)

    class Making(type):
        def __new__(metacls, name, bases, namespace):
            return super().__new__(metacls, name, bases, namespace | {"get": lambda self: self.v * self.v * y})

    class A(metaclass=(type, Meta, Making)[way]):
        def __init__(self, v):
            self.v = v * x

        def get(self):
            return self.v

    return A(x).get() * A(y).v


def slots(x, y, way):
    class A:
        if way == 1:
            __slots__ = ("v",)
        elif way == 2:
            __slots__ = ("__dict__", "v", "w")  # type: ignore[assignment]

        def __init__(self, v):
            self.v = v
            if way != 1:
                self.w = v * y

    a = A(x)
    a.v = a.v * y
    try:
        a.u = a.v * x
        return a.u * a.w
    except AttributeError:
        return a.v * x


def makers(x, y, way):
    class A:
        if way == 1:

            def __new__(cls, v):
                made = super().__new__(cls)
                made.w = v * y
                return made

        def __init__(self, v):
            self.v = v
            if way != 1:
                self.w = x

        if way == 2:

            def __call__(self, k):
                return self.v * k

    a = A(x)
    return a.v * a.w * (a(y) if way == 2 else 1.0)


def numbers_of_the_class(x, y, way):
    class A:
        if way == 1:
            k = 2.0
        elif way == 2:
            k = x * y
        else:
            k = None  # type: ignore[assignment]

        def __init__(self, v):
            self.v = v

    a = A(x)
    if a.k is None:
        a.k = y
    A.k = y * y
    return a.v * a.k * A(y).k


def changed_by_c_code(x, y, way):
    class A:
        def __init__(self, v):
            self.v = v

        def get(self):
            return self.v * x

    a = A(y)
    t = a.get() * a.v
    if way == 1:
        type.__setattr__(A, "get", lambda self: self.v * self.v)
    elif way == 2:
        type.__delattr__(A, "get")
        a.get = lambda: x * x
    a.v = a.v * y
    return t * a.get()


def change(cls, way):
    if way == 1:
        cls.v = property(lambda self: self.w * 2.0, lambda self, v: setattr(self, "w", v * v))
    elif way == 2:
        cls.__init__ = lambda self, v: setattr(self, "v", v * v)


@zyg.adjoint(change)
def _(cls, way):
    return change(cls, way), lambda d: (None, None)


def changed_by_a_rule(x, y, way):
    """Whose code is not differentiated."""

    class A:
        def __init__(self, v):
            self.v = v

        def get(self):
            return self.v * x

    change(A, way)
    a = A(y)
    a.v = a.v * x
    return a.get() * a.v


def another_code_for_a_method(x, y, way):
    class A:
        def __init__(self, v):
            self.v = v

        def get(self):
            return self.v * 2.0

    t = A(x).get()
    if way == 1:
        A.__init__.__code__ = (lambda self, v: setattr(self, "v", v * v)).__code__
    elif way == 2:
        A.get.__code__ = (lambda self: self.v * self.v).__code__
    return t * A(x * y).get()


def closures(x, y, way):
    def made(k):
        class A:
            def __init__(self, v):
                self.v = v * k

            def get(self):
                return self.v + k

        return A

    a, b = made(x)(y), made(y * y)(x)
    return a.get() * b.get() * made((x, y, 2.0)[way])(x).v


def in_a_try(x, y, way):
    class A:
        def __init__(self, v):
            if way == 1:
                raise ValueError(v)
            self.v = v

    try:
        a = A(x * y)
    except ValueError as error:
        return error.args[0] * x
    return a.v * A(y).v


PROGRAMS = {
    f.__name__: f
    for f in (
        methods_by_condition, another_code_for_a_name, defaults, set_afterwards, decorated, asked_for_attributes, every_read, bases,
        local_bases, metaclasses, slots, makers, numbers_of_the_class, changed_by_c_code, changed_by_a_rule, another_code_for_a_method, closures, in_a_try,
    )
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_classes_that_differ(name):
    f = PROGRAMS[name]
    for n, way in enumerate(WAYS):
        x, y = 0.7 + 0.05 * n, 1.3 - 0.04 * n
        value, back = python_pullback(f, (x, y, way), {})
        assert value == f(x, y, way), way
        expected = differences.gradient(lambda x, y, way=way: f(x, y, way), x, y)
        assert [c or 0.0 for c in back(1.0)[:2]] == pytest.approx(expected, rel=1e-6, abs=1e-9), way


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name):
    f = PROGRAMS[name]
    for way in (0, 1, 2, 0):
        slope = lambda x, y, way=way: python_pullback(f, (x, y, way), {})[1](1.0)[0]
        value = lambda x, y, way=way: f(x, y, way)
        expected = differences.gradient(lambda *at: differences.gradient(value, *at)[0], 0.7, 1.3)  # noqa: B023
        found = python_pullback(slope, (0.7, 1.3), {})[1](1.0)[:2]
        assert [c or 0.0 for c in found] == pytest.approx(expected, rel=1e-5, abs=1e-7), way


def test_a_base_that_is_changed_between_runs():
    """Of what stands in its module a class is derived; its own names are the same each time."""

    def f(x):
        class A(Base):
            def __init__(self, v):
                self.v = v

        a = A(x)
        a.v = a.v * x
        return a.times(x)

    for _ in range(3):
        assert python_pullback(f, (0.5,), {})[1](1.0) == (pytest.approx(3 * 0.25),)
    Base.v = property(lambda self: self.u * 2.0, lambda self, v: setattr(self, "u", v * v))  # type: ignore[attr-defined]
    try:
        expected = differences.derivative(f, 0.5)
        for _ in range(3):
            assert python_pullback(f, (0.5,), {})[1](1.0) == (pytest.approx(expected, rel=1e-6),)
    finally:
        del Base.v  # type: ignore[attr-defined]
    for _ in range(3):
        assert python_pullback(f, (0.5,), {})[1](1.0) == (pytest.approx(3 * 0.25),)


def test_a_rule_for_one_of_them():
    def f(x, ruled):
        class A:
            def __init__(self, v):
                self.v = v

        if ruled:
            zyg.adjoint(A)(lambda v: (A(v), lambda d: (None,)))
        return A(x).v * x

    for ruled, slope in ((False, 1.0), (True, 0.5), (False, 1.0)):
        assert python_pullback(f, (0.5, ruled), {})[1](1.0)[0] == slope


def test_what_was_found_out_is_used_and_kept_no_longer_than_classes():
    seen: list[Any] = []

    def look(cls: Any) -> None:
        known = anew.about(cls)
        assert known is not None
        seen.append((weakref.ref(cls), known.answers))

    def f(x):
        class A:
            def __init__(self, v):
                self.v = v

        a = A(x)
        a.v = a.v * x
        return a.v

    def g(x):
        class A:
            def __init__(self, v):
                self.v = v

        a = A(x)
        zyg.stop_gradient(0.0)
        look(type(a))
        return a.v * x

    for _ in range(4):
        assert python_pullback(g, (0.5,), {})[1](1.0) == (1.0,)
    assert f(0.5) == 0.25
    gc.collect()
    assert all(reference() is None for reference, _ in seen)
    assert seen[-1][1] and seen[-1][1] is seen[-2][1]
