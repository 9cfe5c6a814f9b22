"""Changes of functions and classes in place are seen by code that was compiled before."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass

import pytest

import zyg
from zyg.autodiff.identity import ByIdentity
from zyg.fallback import python_pullback
from zyg.frontend.prepare import _cache as prepared
from zyg.frontend.prepare import prepare


def make(text, **scope):
    exec(text, scope)
    return scope


@pytest.fixture
def pair():
    """A function, and one that calls it."""
    return make("def g(x, k=2.0, *, m=1.0):\n    return x * k + m\ndef f(x):\n    return g(x) + 1.0\n")


CHANGES = {
    "code": lambda g: setattr(g, "__code__", make("def g(x, k, *, m):\n    return x - k * m\n")["g"].__code__),
    "defaults": lambda g: setattr(g, "__defaults__", (10.0,)),
    "keyword defaults": lambda g: setattr(g, "__kwdefaults__", {"m": 5.0}),
    "an item of the keyword defaults": lambda g: g.__kwdefaults__.update(m=7.0),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changes_of_a_function(pair, change):
    f, g = pair["f"], pair["g"]
    compiled, inner = zyg.jit(f), zyg.jit(g)
    lazily = zyg.grad(f)
    for _ in range(2):
        assert compiled(3.0) == f(3.0)
        assert inner(3.0) == g(3.0)
        before = lazily(3.0), zyg.gradient(f, 3.0)
        change(g)
    slope = f(4.0) - f(3.0)
    assert compiled(3.0) == f(3.0)
    assert inner(3.0) == g(3.0)
    assert lazily(3.0) == slope
    assert zyg.gradient(f, 3.0) == (slope,)
    del before


def test_a_default_that_is_taken_away(pair):
    f, g = pair["f"], pair["g"]
    compiled, inner = zyg.jit(f), zyg.jit(g)
    assert (compiled(3.0), inner(3.0)) == (8.0, 7.0)
    g.__defaults__ = None
    with pytest.raises(TypeError):
        inner(3.0)
    with pytest.raises(TypeError):
        compiled(3.0)


def test_a_method_in_front_of_an_inherited_one():
    @dataclass
    class Base:
        x: float

        def m(self):
            return self.x

    @dataclass
    class Derived(Base):
        pass

    f = zyg.jit(lambda p: p.m())
    assert f(Derived(3.0)) == 3.0
    Derived.m = lambda self: self.x * 100
    assert f(Derived(3.0)) == 300.0
    del Derived.m
    assert f(Derived(3.0)) == 3.0
    Base.m = lambda self: -self.x
    assert f(Derived(3.0)) == -3.0


def test_an_operator_that_a_class_gets_later():
    @dataclass
    class Number:
        x: float

        def __add__(self, other):
            return Number(self.x + other.x)

    @dataclass
    class Doubled(Number):
        pass

    f = zyg.jit(lambda p, q: (p + q).x)
    assert f(Doubled(1.0), Doubled(2.0)) == 3.0
    Doubled.__add__ = lambda self, other: Number(2 * (self.x + other.x))
    assert f(Doubled(1.0), Doubled(2.0)) == 6.0


BODY = """
class Other:
    def __eq__(self, other):
        return True
class Base:
    pass
class Held(Base):
    def __init__(self, v):
        self.v = v
@dataclass
class Data:
    a: float
    b: float = 2.0
    def __post_init__(self):
        pass
Named = namedtuple("Named", "p q", defaults=[2.0])
class Made(type):
    pass
class Thing(metaclass=Made):
    def __init__(self, v):
        self.v = v
def f(x):
    held, data, named, thing = Held(x), Data(x), Named(x), Thing(x)
    total = held.v + getattr(held, "w", 5.0) + (held == 3.0) + data.a * data.b + named.p * named.q + thing.v
    if hasattr(held, "u"):
        total += 10.0
    held.v = x * x
    return total + held.v
def of_arguments(x):
    return g(x, Held(2.0))
def g(x, held):
    return x * held.v + (held == 3.0) + getattr(held, "w", 5.0)
"""
LATER = (
    "Held.w = property(lambda self: self.v)",
    "Held.u = 3.0",
    "Held.__setattr__ = lambda self, n, v: object.__setattr__(self, n, v * 2)",
    "del Held.__setattr__",
    "Held.__getattribute__ = lambda self, n: 4.0 if n == 'v' else object.__getattribute__(self, n)",
    "del Held.__getattribute__",
    "Held.__bases__ = (Other,)",
    "Held.v = property(lambda self: self.__dict__['v'] * 5, lambda self, v: self.__dict__.__setitem__('v', v))",
    "del Held.v",
    "Held.__getattr__ = lambda self, n: 3.0",
    "Data.__init__.__defaults__ = (7.0,)",
    "Data.__post_init__ = lambda self: setattr(self, 'a', 0.0)",
    "Data.__init__ = lambda self, a: setattr(self, 'a', a * 2)",
    "Named.__new__.__defaults__ = (8.0,)",
    "Named.p = property(lambda self: 4.0 * self[0])",
    "Named.__new__ = lambda cls, p: tuple.__new__(cls, (p, p))",
    "Made.__call__ = lambda cls, v: type.__call__(cls, v * 2)",
)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize(("name", "changes"), [("f", LATER), ("of_arguments", LATER[:7])])
def test_classes_that_get_something_later(name, changes):
    module = make("from dataclasses import dataclass\nfrom collections import namedtuple\n" + BODY)
    f = module[name]
    for change in ("", *changes):
        exec(change, module)
        slope = (f(3.0 + 1e-5) - f(3.0 - 1e-5)) / 2e-5
        assert zyg.withgradient(f, 3.0)[1] == (pytest.approx(slope),), change
        value, back = python_pullback(f, (3.0,), {})
        assert (value, back(1.0)[0]) == (f(3.0), pytest.approx(slope)), change
        assert zyg.withgradient(f, 3.0)[0] == f(3.0), change


def test_the_code_of_a_method():
    @dataclass
    class P:
        x: float

        def m(self):
            return self.x

    f = zyg.jit(lambda p: p.m())
    assert f(P(3.0)) == 3.0
    P.m.__code__ = (lambda self: self.x + 1.0).__code__
    assert f(P(3.0)) == 4.0


def test_what_is_known_of_an_object_goes_with_it_whatever_interrupts():
    """Ctrl-C while code is freed: an entry that stayed would be found for the next code at that address."""

    def interrupt(frame, event, arg):
        raise KeyboardInterrupt

    table = ByIdentity()
    code = (lambda x: x).__code__.replace(co_name="freed")
    table.note(code, "known")
    prepare(code)
    key = id(code)
    gc.collect()
    assert key in table and key in prepared
    sys.settrace(interrupt)
    try:
        del code
        gc.collect()
    finally:
        sys.settrace(None)
    assert key not in table and key not in prepared
