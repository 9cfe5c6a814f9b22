"""zyg asks classes and objects of the user's for what the program asks, and for nothing of its own: a `__getattr__` sees what CPython asks."""

from __future__ import annotations

import dataclasses
import math
import types
from collections import Counter

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.side_by_side import WAYS, outcome
from tests.turns import each_in_turn
from zyg.ir import plainly

pytestmark = [pytest.mark.filterwarnings("ignore::zyg.FallbackWarning"), each_in_turn]

ASKED: list = []
ANSWERS = [True]  # or AttributeError, for what there is not


def answer(what, name):
    ASKED.append((what, name))
    if name == "rate":
        return 2.0
    if not ANSWERS[0]:
        raise AttributeError(name)
    return float(len(name))


class Meta(type):
    def __getattr__(cls, name):
        return answer("class", name)


class Thing(metaclass=Meta):
    scale = 3.0

    def __init__(self, v):
        self.v = v

    def __getattr__(self, name):
        return answer("object", name)

    def times(self, k):
        return self.v * k

    def __mul__(self, other):
        return Thing(self.v * (other.v if isinstance(other, Thing) else other))

    __rmul__ = __mul__


class Rich(Thing):
    def __call__(self, x):
        return self.v * x

    def __iter__(self):
        return iter([self.v, self.v])

    def __len__(self):
        return 2

    def __getitem__(self, k):
        return self.v * k

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False


class Calling(Meta):
    def __call__(cls, x):
        return x * 3.0


class Called(metaclass=Calling):
    pass


ANSWERS[0] = False  # (dataclass() asks, too)


@dataclasses.dataclass
class Data(metaclass=Meta):
    a: float
    b: float = 2.0


ANSWERS[0] = True


class Failure(Exception, metaclass=Meta):
    pass


class Row(tuple, metaclass=Meta):
    __slots__ = ()


class Items(list, metaclass=Meta):
    pass


class Named(dict, metaclass=Meta):
    pass


class Slotted:
    __slots__ = ("a", "k", "nothing")

    def __init__(self, a, k):
        self.a, self.k = a, k

    def __getattr__(self, name):
        return answer("object", name)


def ruled(x):
    return x * x


@zyg.adjoint(ruled)
def _(x):
    return x * x, lambda d: (d * 2 * x,)


def in_a_dict(x):
    d = {("k", 1): Thing(x)}
    return d["k", 1].times(2)


def managed(x):
    with Rich(x) as r:
        return r.v * x


def unpacked(x):
    a, b = Rich(x)
    return a * b


def raised(x):
    try:
        raise Failure(x)
    except Failure as error:
        return error.args[0] * x


def at_last(x):
    try:
        return Thing(x).v
    finally:
        pass


def matched(x):
    match Thing(x):
        case Thing(v=v):
            return v * x


def set_again(x):
    thing = Thing(x)
    thing.v *= x
    del thing.v
    thing.v = x * x
    return thing.v


EXAMPLES = {
    "a method": lambda x: Thing(x).times(x),
    "an attribute by __getattr__": lambda x: Thing(x).rate * x,
    "one of the class": lambda x: Thing.rate * x * Thing.scale,
    "a call by the metaclass": lambda x: Called(x),
    "a dataclass": lambda x: Data(x).a * Data(x).b,
    "operators": lambda x: (Thing(x) * Thing(x)).v * (2.0 * Thing(x)).v,
    "a call": lambda x: Rich(x)(x),
    "items": lambda x: sum(Rich(x)) + Rich(x)[3] * len(Rich(x)),
    "with": managed,
    "unpacking": unpacked,
    "an exception": raised,
    "arrays": lambda x: np.sum(np.array([x, x]) * x) * isinstance(Thing(x), Thing),
    "getattr": lambda x: getattr(Thing(x), "v") * hasattr(Thing(x), "v"),  # noqa: B009
    "map": lambda x: list(map(Rich(x), [x, 2 * x]))[1],
    "finally": at_last,
    "a dict": in_a_dict,
    "match": matched,
    "a tuple": lambda x: Row((x, 2 * x))[1] * x,
    "sorted": lambda x: math.sin(x) * sorted([Thing(x), Thing(2 * x)], key=lambda t: t.v)[1].v,
    "a bound object": lambda x: types.MethodType(Rich(x), x)(),
    "a list": lambda x: [t.v for t in [Thing(x), Thing(x * x)]][1],
    "setting and deleting": set_again,
    "max": lambda x: max(Thing(x), Thing(2 * x), key=lambda t: t.v).v + (Thing(x) is None),
    "vars": lambda x: vars(Thing(x))["v"] * x,
    "wrong arguments": lambda x: math.sin(x, x),
    "what cannot be compared": lambda x: sorted([x, "b", x])[0],
}
OBJECT = Rich(2.0)
OUTSIDE = {
    "gradient": lambda x: zyg.gradient(OBJECT, x),
    "withgradient": lambda x: zyg.withgradient(OBJECT, x),
    "jit": lambda x: zyg.jit(OBJECT)(x),
    "pullback": lambda x: zyg.pullback(OBJECT, x)[1](1.0),
    "jvp": lambda x: zyg.jvp(OBJECT, (x,), (1.0,)),
    "grad": lambda x: zyg.grad(OBJECT)(x),
    "derivative": lambda x: zyg.derivative(zyg.derivative(OBJECT))(x),
    "jacobian": lambda x: zyg.jacobian(OBJECT, x),
    "explain": lambda x: zyg.explain(OBJECT, x),
    "an object as argument": lambda x: zyg.gradient(lambda t, x: t.v * x, Thing(2.0), x),
    "an object as argument of jit": lambda x: zyg.jit(lambda t, x: t.v * x)(Thing(2.0), x),
    "a class as argument": lambda x: zyg.gradient(lambda c, x: c.scale * x, Thing, x),
    "a dataclass": lambda x: zyg.gradient(lambda d: d.a * d.b, Data(x)),
    "a method": lambda x: zyg.gradient(OBJECT.times, x),
    "in a tuple": lambda x: zyg.gradient(lambda p: p[0].v * p[1], (OBJECT, x)),
    "a tangent": lambda x: zyg.jvp(lambda t: t.v * t.v, (Thing(x),), (Thing(1.0),)),
    "copied, for a pushforward": lambda x: zyg.pushforward(lambda t: t.v * t.v, Thing(x))[1](Thing(1.0)),
    "copied, a dataclass": lambda x: zyg.pushforward(lambda d: d.a * d.b, Data(x))[1](Data(1.0, 0.0)),
    "copied, beside rules": lambda x: zyg.jvp(lambda t: ruled(t.v) * t.v, (Thing(x),), (Thing(1.0),)),
    "copied, a list": lambda x: zyg.pushforward(lambda r: r[0] * r[1], Items([x, 2.0]))[1](Items([1.0, 0.0])),
    "copied, a dict": lambda x: zyg.pushforward(lambda r: r["a"] * r["b"], Named(a=x, b=2.0))[1](Named(a=1.0, b=0.0)),
    "copied, slots": lambda x: zyg.pushforward(lambda r: r.a * r.k, Slotted(x, 2.0))[1](Slotted(1.0, 0.0)),
}


@pytest.fixture(params=[True, False], ids=["answering", "raising"])
def _answers(request):
    ANSWERS[0] = request.param
    yield
    ANSWERS[0] = True


@pytest.mark.parametrize("name", EXAMPLES)
def test_only_what_cpython_asks_is_asked(name, _answers):
    f = EXAMPLES[name]
    ASKED.clear()
    kind, value = outcome(lambda: f(1.5))
    asked = Counter(ASKED)
    slope = differences.derivative(f, 1.5) if kind == "value" else None
    for way, run in WAYS.items():
        ASKED.clear()
        found = outcome(lambda: run(f, 1.5))  # noqa: B023
        assert not Counter(ASKED) - asked, way
        if kind == "value":
            assert found[0] == "value" and found[1][0] == value, (way, found)
            assert (found[1][1] or 0.0) == pytest.approx(slope, rel=1e-6), way
        else:
            assert found == (kind, value), way
    ASKED.clear()
    compiled = outcome(lambda: zyg.jit(f)(1.5))
    assert compiled == (kind, value) or compiled[0] == "Unsupported"
    assert not Counter(ASKED) - asked


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_zyg_is_given_is_not_asked(name, _answers):
    ASKED.clear()
    kind, found = outcome(lambda: OUTSIDE[name](1.5))
    assert kind == "value" or "jit" in name and kind in ("Unsupported", "ArgumentError"), found
    assert ASKED == [], ASKED


class Changing:
    def __init__(self, v):
        self.v = v

    @property
    def __code__(self):
        raise AssertionError

    def __getattribute__(self, name):
        if name.startswith("__"):
            raise AssertionError(name)
        return super().__getattribute__(name)


def test_looked_up_plainly():
    assert plainly.get_plainly(Changing(1.0), "__code__") is None
    assert plainly.get_plainly(Changing(1.0), "v") == 1.0
    assert plainly.own_attributes(Changing(1.0)) == {"v": 1.0}
    assert plainly.get_plainly(OBJECT.times, "__name__") == "times"
    assert plainly.get_plainly(math, "pi") == math.pi and plainly.get_plainly(math, "nothing") is None
    assert plainly.is_in_class(Rich, "__call__") and not plainly.is_in_class(Called, "__call__")
    assert plainly.code_or_itself(OBJECT) is OBJECT and plainly.code_or_itself(managed) is managed.__code__


class Counting(type):
    asked = 0

    def __getattr__(cls, name):
        Counting.asked += 1
        return float(Counting.asked)

    @property
    def here(cls):
        Counting.asked += 1
        return float(Counting.asked)


class Counted(metaclass=Counting):
    pass


@pytest.mark.parametrize(
    "f", [lambda x: Counted.there * x, lambda x: Counted.here * x, lambda x: hasattr(Counted, "z") * x * Counting.asked]
)
def test_code_of_the_metaclass_runs_as_often_as_the_program_asks(f):
    Counting.asked = 0  # (pytest asks what it collects)
    for k in range(1, 4):
        assert zyg.gradient(f, 1.5) == (k,)
        assert Counting.asked == k
