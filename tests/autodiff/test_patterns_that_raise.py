"""`match` left by an exception of what it asks, or by one of its own, which is caught around it: what was changed until then is in the
derivatives."""

from __future__ import annotations

import pytest

import zyg
from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_turn

pytestmark = each_in_turn


class Getting(dict):
    z = 1.0

    def get(self, key, default=None):
        self.z = self.z * dict.__getitem__(self, "a")
        if key == "gone":
            raise KeyError(key)
        return dict.get(self, key, default)


class Spot:
    __match_args__: object = ("u", "v")

    def __init__(self, x):
        self.x = x
        self.z = x

    @property
    def u(self):
        self.z = self.z * self.x
        return self.z

    @property
    def v(self):
        self.z = self.z * self.x
        raise ValueError


class Twice(Spot):
    __match_args__ = ("u", "u")


class Named(Spot):
    __match_args__ = ("u",)

    def __getattribute__(self, name):
        if name == "w":
            self.z = self.z * self.x
            raise ValueError(name)
        return super().__getattribute__(name)


class Asking(type):
    total = 1.0

    def __instancecheck__(cls, x):
        cls.total = cls.total * x.x
        x.z = x.z * x.x
        return True


class Listed(metaclass=Asking):
    __match_args__ = ["u"]  # noqa: RUF012


class Few(metaclass=Asking):
    __match_args__ = ("u",)


class Numbered(metaclass=Asking):
    __match_args__ = (1,)


class Again(metaclass=Asking):
    __match_args__ = ("u", "u")


class Found(type):
    """Finds `__match_args__` by code, which raises."""

    @property
    def __match_args__(cls):
        raise ValueError

    def __instancecheck__(cls, x):
        x.z = x.z * x.x
        return True


class Hidden(metaclass=Found):
    pass


class Refusing(type):
    def __instancecheck__(cls, x):
        x.z = x.z * x.x
        raise ValueError


class Refused(metaclass=Refusing):
    pass


def by_get(x):
    m = Getting(a=x, b=x * 2.0, gone=1.0)
    r = 1.0
    try:
        match m:
            case {"a": p, "b": q, "gone": _}:
                r = p + q
            case _:
                r = 0.0
    except KeyError:
        r = x
    return m.z * r


def by_key(x):
    m = Getting(a=x, b=x * 2.0)
    r = 1.0
    key = KEYS
    try:
        match m:
            case {"a": p, key.first: q}:
                r = p + q
    except ValueError:
        r = x
    return m.z * r


class KEYS:
    first = "a"


def second_case(x):
    m = Getting(a=x, c=x)
    r = 1.0
    try:
        match m:
            case {"b": p}:
                r = p
            case {"a": p, "gone": q}:
                r = p * q
    except KeyError:
        r = x
    return m.z * r


def by_class(cls):
    def f(x):
        o = Spot(x)
        r = 1.0
        try:
            match o:
                case cls(p, q):
                    r = p * q
        except (TypeError, ValueError):
            r = x
        return o.z * r

    return f


def by_name(x):
    o = Named(x)
    r = 1.0
    try:
        match o:
            case Named(p, w=q):
                r = p * q
    except ValueError:
        r = x
    return o.z * r


def by_one_place(cls):
    def f(x):
        o = Spot(x)
        r = 1.0
        try:
            match o:
                case cls(p):
                    r = p
        except (TypeError, ValueError):
            r = x
        return o.z * r

    return f


def itself_twice(x):
    o = Twice(x)
    r = 1.0
    try:
        match o:
            case Twice(p, q):
                r = p * q
    except TypeError:
        r = x
    return o.z * r


def given_twice(x):
    o = Spot(x)
    r = 1.0
    try:
        match o:
            case Spot(p, u=q):
                r = p * q
    except TypeError:
        r = x
    return o.z * r


def nested(x):
    o = Spot(x)
    m = Getting(a=o.u, b=[o, x])
    r = 1.0
    try:
        match m:
            case {"a": p, "b": [Spot(q, v=_), *_]}:
                r = p * q
    except ValueError:
        r = x
    return o.z * r * m.z


def through_a_function(x):
    o = Spot(x)

    def asked():
        match o:
            case Spot(p, q):
                return p * q
        return 1.0

    try:
        return asked()
    except ValueError:
        return o.z * x


FUNCTIONS = {
    "get": by_get, "a key twice": by_key, "the second case": second_case, "places": by_class(Spot), "places twice": by_class(Twice),
    "a name": by_name, "a list": by_one_place(Listed), "too many": by_class(Few), "a number": by_one_place(Numbered),
    "asked, places twice": by_class(Again), "found": by_one_place(Hidden), "instances": by_one_place(Refused), "itself twice": itself_twice,
    "given twice": given_twice, "nested": nested, "through a function": through_a_function,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_was_changed_is_in_derivatives(name):
    check(FUNCTIONS[name], 1.3)
    if name != "instances":  # refused
        check_second(FUNCTIONS[name], 1.3)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_by_the_interface():
    assert zyg.gradient(by_get, 1.3)[0] == pytest.approx(4.0 * 1.3**3)
