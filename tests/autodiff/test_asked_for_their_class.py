"""What runs, and is differentiated, where `isinstance` and `issubclass` ask a class or an object."""

import abc
import collections
import warnings

import pytest

import zyg
from tests.turns import each_in_turn
from zyg.autodiff.objects import reentry
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn

SEEN = []


class Body(abc.ABC):
    @abc.abstractmethod
    def volume(self): ...

    def __add__(self, other):
        return self.volume() + (other.volume() if isinstance(other, Body) else other)

    __radd__ = __add__


class Box(Body):
    def __init__(self, side):
        self.side = side

    def volume(self):
        return self.side**3


class Rows(collections.UserList):
    def first(self):
        return self[0]


class Virtual:
    pass


Body.register(Virtual)


class Answering(abc.ABC):  # noqa: B024
    """Whoever has a `side` is one, and is noted."""

    @classmethod
    def __subclasshook__(cls, other):
        SEEN.append(3.0)
        return hasattr(other, "volume") or NotImplemented


class Heir(Answering):
    pass


class Asked(abc.ABCMeta):
    def __instancecheck__(cls, x):
        SEEN.append(x.side)
        return True


class ByMetaclass(metaclass=Asked):
    pass


class Pretender:
    def __init__(self, side):
        self.side = side

    @property
    def __class__(self):
        SEEN.append(self.side)
        return Box


class Looked:
    def __init__(self, side):
        self.side = side

    def __getattribute__(self, name):
        if name == "__class__":
            SEEN.append(object.__getattribute__(self, "side"))
        return object.__getattribute__(self, name)


NUMBER, OF_ROWS = int | float, Rows | Body


def plainly_asked(x):
    b, v = Box(x), Virtual()
    r = sum([b, Box(2.0 * x), 1.0]) if isinstance(b, Body) and not isinstance(3, Body) else 0.0
    if (
        isinstance(v, (int, Body))
        and issubclass(Virtual, Body)
        and not issubclass(int, Body)
        and issubclass(Box, abc.ABC)
    ):
        r *= x
    if isinstance(Rows([x]), collections.UserList) and isinstance(x, NUMBER) and not isinstance([], OF_ROWS):
        r += x
    return r


@pytest.mark.parametrize("ask", [
    lambda x: isinstance(Box(x), Answering) + isinstance(Virtual(), (int, Answering)),
    lambda x: isinstance(Box(x), Heir) + isinstance(1.0, Heir | int),
    lambda x: issubclass(Box, Answering),
    lambda x: isinstance(Box(x), ByMetaclass),
    lambda x: isinstance(Pretender(x), Body),
    lambda x: isinstance(Looked(x), Body),
    lambda x: isinstance(Looked(x), (Body, int)),
])  # fmt: skip
def test_what_answers_is_followed(ask):
    def f(x):
        for cls in (Answering, Heir, Body):
            cls._abc_caches_clear()  # what was asked before is not asked again
        SEEN.clear()
        asked = ask(x)
        return (asked + 1) * x + sum(SEEN)

    value, back = pullback(f, (0.7,))
    h = 1e-6
    assert value == f(0.7) and SEEN
    assert back(1.0)[0] == pytest.approx((f(0.7 + h) - f(0.7 - h)) / (2 * h), rel=1e-7)


def test_no_code_is_put_in_place_for_classes_that_do_not_answer(monkeypatch):
    found = []
    monkeypatch.setattr(reentry, "entered", lambda *args, **kwargs: found.append(args) or [])
    value, back = pullback(plainly_asked, (0.7,))
    assert value == pytest.approx(plainly_asked(0.7))
    assert back(1.0)[0] == pytest.approx(4 * 9 * 0.7**3 + 1 + 1)
    assert not found


G = {"v": 1.0}


class Doubling:
    @classmethod
    def __subclasshook__(cls, other):
        G["v"] *= 2.0
        return NotImplemented


class DoublingClass(type):
    def __subclasscheck__(cls, other):
        G["v"] *= 2.0
        return False


class Saying(type):
    def __instancecheck__(cls, x):
        return True


class AnyBody(metaclass=Saying):
    pass


class Claiming:
    def __init__(self, x):
        self.x = x

    @property
    def __class__(self):
        self.x *= 3.0
        return int


def test_an_abstract_class_asks_what_is_derived_from_it_and_registered():
    """(what these do was left out of the derivative)"""
    parent, registering = (abc.ABCMeta(name, (), {}) for name in ("Parent", "Registering"))
    kept = [abc.ABCMeta("Child", (Doubling, parent), {}), DoublingClass("Registered", (), {})]
    registering.register(kept[1])

    def f(x, cls):
        thing = type("Thing", (), {})()
        G["v"] = x
        return G["v"] + isinstance(thing, cls) * x if isinstance(thing, cls) else G["v"]

    for cls in (parent, registering):
        value, back = pullback(f, (0.7, cls))
        assert value == f(0.7, cls) == 1.4 and back(1.0)[0] == 2.0


def test_compiled_code_does_not_answer_for_classes_that_answer_themselves():
    """(it asked their bases)"""
    body = Box(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        assert zyg.gradient(lambda x: x * (3.0 if isinstance(body, AnyBody) else 1.0), 0.7) == (3.0,)

        def f(x):
            c = Claiming(x)
            return c.x * isinstance(c, int) + c.x

        assert zyg.withgradient(f, 1.0) == (4.0, (4.0,))
    with pytest.raises(zyg.Unsupported, match="which asks code of its class"):
        zyg.jit(lambda x: x if isinstance(body, AnyBody) else -x)(1.0)


class Abstract(abc.ABC):  # noqa: B024
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        return self.v * 2.0

    def __add__(self, other):
        return self.v * 3.0


class Apart:
    def __init__(self, v):
        self.v = v

    def __gt__(self, other):
        return self.v * 7.0

    def __radd__(self, other):
        return self.v * 13.0


Abstract.register(Apart)


def test_operators_ask_by_what_classes_are_derived_from_not_by_what_they_are_registered_with():
    for f, slope in ((lambda x: (Abstract(x) < Apart(x)) * 1.0, 2.0), (lambda x: Abstract(x) + Apart(x), 3.0)):
        assert pullback(f, (1.5,))[1](1.0) == (slope,)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", zyg.FallbackWarning)
            assert zyg.withgradient(f, 1.5) == (f(1.5), (slope,))
