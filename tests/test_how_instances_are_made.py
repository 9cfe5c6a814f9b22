"""Classes that say how their instances are made, what their attributes are and what operators do: in both back ends what CPython makes, or refused."""

from __future__ import annotations

import functools
from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_turn
from zyg.fallback import python_pullback

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


class Doubled(namedtuple("Doubled", "p q")):
    __slots__ = ()

    def __new__(cls, p, q=2.0):
        return super().__new__(cls, p * 2, q)


class Pair(NamedTuple):
    p: float
    q: float = 2.0


class Counted(Pair):
    made: list = []  # noqa: RUF012

    def __init__(self, *args):
        self.made.append(len(args))


class Hidden(Pair):
    @property
    def p(self):
        return 7.0 * self.q


Old = namedtuple("Old", "p q r")
Old.__new__.__defaults__ = (2.0, 3.0)


class Scaling(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.a = made.a * 2
        return made


class Scales(Scaling):
    pass


@dataclass
class Scaled(metaclass=Scales):
    a: float


class Tripling:
    def __init__(self, function):
        self.function = function

    def __get__(self, instance, cls):
        return lambda v: self.function(instance, 3 * v)


class Plain:
    def __init__(self, v):
        self.v = v

    def _set(self, k, v):
        self.v = v * k


class Described(Plain):
    @Tripling
    def __init__(self, v):
        self.v = v


class Partial(Plain):
    __init__ = functools.partialmethod(Plain._set, 5.0)


class Jitted(Plain):
    @zyg.jit
    def __init__(self, v):
        self.v = v * 4


@dataclass
class Set:
    a: float
    b: float = 2.0


Set.__init__.__defaults__ = (9.0,)


@dataclass
class Late:
    a: float


def post_init(self):  # of which the __init__ that there is knows nothing
    self.a = 0.0


Late.__post_init__ = post_init  # pyright: ignore[reportAttributeAccessIssue]


# As in `python -c`: what is written there has the file name of what dataclass() writes.
exec(
    "@dataclass\nclass Always:\n    a: float\n    __eq__ = lambda self, other: True\n    __hash__ = None\n"
    "    __call__ = lambda self, x: self.a * x\n"
)


class Operated(Plain):
    def _with(self, k, other=None):
        return self.v * k + (other.v if other else 0.0)

    def _at(self, n, *others):
        return n

    __add__ = functools.partialmethod(_with, 3.0)
    __iadd__ = functools.partialmethod(_with, 4.0)
    __call__ = functools.partialmethod(_with, 5.0)
    __len__ = functools.partialmethod(_at, 0)
    __eq__ = functools.partialmethod(_at, True)
    __hash__ = None


def operated(x):
    a, b = Operated(x), Operated(2 * x)
    total = a + Plain(x)
    total += (x if b else 3.0) + (a == b) + a() + [b].index(a)
    b += Plain(x)
    return total + b


class Asked(Plain):
    @property
    def missing(self):
        raise AttributeError("missing")

    def __getattr__(self, name):
        return self.v * len(name)


class Items(dict):
    pass


@dataclass
class Tagged(Items):
    a: float


EXAMPLES = {
    "new of a named tuple": lambda x: Doubled(x).p * Doubled(x, x).q,
    "init of a named tuple": lambda x: Counted(x).p + Counted(x, 3.0).q * len(Counted.made),
    "property over a field": lambda x: Hidden(x, x * 2).p * Hidden(x)[0],
    "defaults of new": lambda x: Old(x).p * Old(x).q + Old(x, x).r,
    "call of a metaclass": lambda x: Scaled(x).a,
    "descriptor": lambda x: Described(x).v,
    "partial method": lambda x: Partial(x).v,
    "compiled": lambda x: Jitted(x).v,
    "defaults of init": lambda x: Set(x).a * Set(x).b,
    "post_init that comes later": lambda x: Late(x).a,
    "lambdas of exec": lambda x: x * (Always(x) == Always(x + 1)) + Always(x)(x),  # noqa: F821
    "operators that are no functions": operated,
    "property that raises AttributeError": lambda x: Asked(x).missing + Asked(x).v,
    "dataclass that is a dict": lambda x: Tagged(x).a + len(Tagged(x)) + bool(Tagged(x)) * x,
}
REFUSED = {"descriptor"}  # of all back ends


@each_in_turn
@pytest.mark.parametrize("name", EXAMPLES)
def test_instances_are_made_as_in_cpython(name):
    f = EXAMPLES[name]
    Counted.made.clear()
    expected, seen = f(1.5), list(Counted.made)

    def check(call):
        Counted.made.clear()
        if name in REFUSED:
            with pytest.raises(zyg.Unsupported):
                call()
            return
        value, slopes = call()
        assert value == expected and Counted.made == seen
        assert (slopes or 0.0) == pytest.approx(differences.derivative(slope_of, 1.5), rel=1e-6)

    def slope_of(x):
        Counted.made.clear()
        return f(x)

    check(lambda: (lambda value, back: (value, back(1.0)[0]))(*python_pullback(f, (1.5,), {})))
    check(lambda: (lambda value, gradient: (value, gradient[0]))(*zyg.withgradient(f, 1.5)))
    check(lambda: zyg.jvp(f, (1.5,), (1.0,)))
    try:
        value = zyg.jit(f)(1.5)
    except zyg.Unsupported:
        return
    assert value == expected
