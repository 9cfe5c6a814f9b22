"""What runs, and is differentiated, where `isinstance` and `issubclass` ask a class or an object."""

import abc
import collections

import pytest

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
