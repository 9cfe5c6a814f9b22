"""`hasattr(x, name)` and `getattr(x, name, default)` of objects with a `__getattr__`, which may do no more than to look for a name, or
anything: values, first and second derivatives, exceptions, and classes that change meanwhile."""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict
from typing import Any

import pytest

from tests.autodiff.tried import derivative, in_a_try
from tests.oracles import differences
from tests.turns import by_one_python_a_day
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.python.sought import changes_nothing


class Settings:
    """Asks its parent."""

    def __init__(self, parent=None, **values):
        self._parent, self._values = parent, values

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._values:
            return self._values[name]
        if self._parent is not None:
            return getattr(self._parent, name)
        raise AttributeError(name)


class Kept:
    def __init__(self, values):
        self.__dict__["values"] = values

    def __getattr__(self, name):
        try:
            return self.__dict__["values"][name]
        except KeyError as error:
            raise AttributeError(f"{type(self).__name__!r} has no {name!r}") from error


class Dotted(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Missing(Dotted):
    def __missing__(self, key):
        self[key] = made = self.first * 2.0
        return made


class Delegating:
    def __init__(self, other):
        self.other = other

    def __getattr__(self, name):
        return getattr(self.other, name)


class Disc:
    scale = 2.0

    def __init__(self, r):
        self.r = r
        self.asked = 0.0

    def area(self):
        return math.pi * self.r**2

    @property
    def half(self):
        self.asked += self.r
        return self.r / 2.0

    @property
    def none(self):
        raise AttributeError("none of this")


class Counting:
    """Changes something whenever it is asked."""

    def __init__(self, x):
        self.x = x
        self.asked = x

    def __getattr__(self, name):
        self.asked = self.asked * 1.5
        if name == "double":
            return self.x * 2.0
        raise AttributeError(name)


class Noting:
    """What it looks into has methods of its own."""

    def __init__(self, x):
        self.x = x
        self.known = Noted(a=x)

    def __getattr__(self, name):
        if name in self.known:
            return self.known[name]
        raise AttributeError(name)


class Noted(dict):
    asked = 1.0

    def __contains__(self, key):
        self.asked = self.asked + self["a"]
        return dict.__contains__(self, key)


class Making(Settings):
    """What it looks into makes what is missing."""

    def __init__(self, x):
        self._values = defaultdict(lambda: x * 3.0)
        self._parent = None

    def __getattr__(self, name):
        return self._values[name]


class Text(str):
    def __getattr__(self, name):
        raise AttributeError(name)


def settings(x):
    base = Settings(lr=x, clip=2.0)
    inner = base.lr, Settings(base, decay=0.5 * x)
    total = 0.0
    for k in range(4):
        c = (base, inner[1], Settings(inner[1], lr=x * x))[k % 3]
        total = total * 0.7 + c.lr + getattr(c, "decay", x) * c.clip
        if hasattr(c, "decay"):
            total *= 1.0 + c.decay
        if hasattr(c, "_hidden") or hasattr(c, "nothing"):
            total += 100.0
        if k == 2:
            base._values["decay"] = x * 3.0
    return total


def defaults(x):
    c = Kept({"a": x, "b": [x, 2.0], "n": 3})
    total = 0.0
    for _ in range(3):
        total += getattr(c, "a", 1.0) * getattr(c, "missing", x * 2.0) + getattr(c, "n", 1)
        found = getattr(c, "b", None)
        found[0] = found[0] * 1.5  # it is the list itself
        total += c.b[0] * getattr(c, "b", [])[1]
        total += sum(getattr(c, "none", (x, total)))
    return total


def dotted(x):
    d = Dotted(a=x)
    total = 0.0
    for name in ("a", "b", "keys", "a"):
        if hasattr(d, name) and name != "keys":
            total += getattr(d, name) * 2.0
        total += getattr(d, "c", total + x)
        d["b"] = total
    return total


def missing(x):
    d = Missing(first=x)
    total = 1.0 if hasattr(d, "second") else 0.0
    return total + d["second"] * getattr(d, "third", 0.0) + len(d)


def delegating(x):
    d = Delegating(Delegating(Disc(x)))
    total = 0.0
    for k in range(3):
        total += d.area() + getattr(d, "r", 0.0) * d.scale + getattr(d, "h", x)
        if hasattr(d, "half"):
            total += d.half
        if hasattr(d, "none"):
            total += 50.0
        total += getattr(d, "none", x * k)
        d.other.other.r = d.r * 1.1
    return total + d.asked


def counting(x):
    c = Counting(x)
    total = 0.0
    for _ in range(3):
        if not hasattr(c, "nothing"):
            total += getattr(c, "double", 0.0) + getattr(c, "other", c.asked)
    return total * c.asked


def noting(x):
    n = Noting(x)
    total = getattr(n, "b", x) + getattr(n, "a", 1.0)
    total += 1.0 if hasattr(n, "c") else 2.0
    return total * n.known.asked


def making(x):
    m = Making(x)
    total = 1.0 if hasattr(m, "a") else 0.0
    m._values["a"] = m._values["a"] * x
    return total + getattr(m, "a", 0.0) + len(m._values) + getattr(m, "b", 0.0)


def beside(x):
    """An attribute that the instance has meanwhile, and a default that changes later."""
    c = Settings(a=x)
    default = [x]
    got = getattr(c, "b", default)
    got[0] = got[0] * x
    c.b = default[0] * 2.0
    total = getattr(c, "b", 0.0) + default[0]
    del c.b
    return total + getattr(c, "b", default)[0] * (2.0 if hasattr(c, "b") else 3.0)


def on_text(x):
    t = Text("abc")
    return x * len(t) + getattr(t, "weight", x * x) + (0.0 if hasattr(t, "weight") else x)


def changed(x):
    """The class is another one later."""

    class Local:
        def __init__(self):
            self.values = {"a": x}

        def __getattr__(self, name):
            if name in self.values:
                return self.values[name]
            raise AttributeError(name)

    one, total = Local(), 0.0
    for k in range(4):
        total += getattr(one, "b", x) * (2.0 if hasattr(one, "c") else 1.0)
        if k == 1:
            Local.__getattr__ = lambda self, name: self.values["a"] * 4.0
        if k == 2:
            Local.b = x * 0.5
    return total


def raising(x):
    """Exceptions that are no AttributeError are the program's."""
    total = 0.0
    for values in ({"a": x}, None, 3, {}):
        c = Settings()
        c._values = values
        try:
            total += getattr(c, "a", x * x)
            total += 1.0 if hasattr(c, "a") else x
        except TypeError as error:
            total += 2.0 * x * len(str(error))
    return total


def in_try_statements(x):
    c = Settings(Settings(a=x))
    total = 0.0
    for name in ("a", "b", "a"):
        try:
            total += getattr(c, name) if hasattr(c, name) else getattr(c, name, None) or x * 0.5
            total += getattr(c, "nothing")  # noqa: B009
        except AttributeError as error:
            total += x * len(error.name) if error.obj is not None else 0.0
    return total


PROGRAMS: dict[str, Any] = {
    f.__name__: f
    for f in (
        settings, defaults, dotted, missing, delegating, counting, noting, making, beside, on_text, changed, raising, in_try_statements
    )
}  # fmt: skip


@by_one_python_a_day
@pytest.mark.parametrize("watched", [False, True], ids=["plain", "watched"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name, watched):
    f = in_a_try(PROGRAMS[name]) if watched else PROGRAMS[name]
    for x in (0.7, 1.3, 0.7):
        y, back = pullback(f, (x,))
        assert y == f(x) and type(y) is type(f(x))
        assert back(1.0)[0] == pytest.approx(differences.derivative(f, x), rel=1e-8)


@by_one_python_a_day
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name):
    f = PROGRAMS[name]
    second = derivative(lambda x: derivative(f, x), 0.9) or 0.0
    assert second == pytest.approx(differences.derivative(lambda x: derivative(f, x), 0.9), rel=1e-7, abs=1e-9)


def test_what_changes_nothing():
    base = Settings(a=1.0)
    assert changes_nothing(base, "a") and changes_nothing(base, "b")
    assert changes_nothing(Settings(Settings(base)), "b")
    assert changes_nothing(Kept({}), "b")
    assert changes_nothing(Dotted(), "b")
    assert changes_nothing(Delegating(Disc(1.0)), "r") and changes_nothing(
        Delegating(Delegating(Disc(1.0))), "other_things"
    )
    ordered = Settings()
    ordered._values = OrderedDict()
    assert changes_nothing(ordered, "a")


def test_what_may_change_something():
    assert not changes_nothing(Delegating(Disc(1.0)), "half")
    assert not changes_nothing(Missing(), "b")
    assert not changes_nothing(Counting(1.0), "b")
    assert not changes_nothing(Noting(1.0), "b")
    assert not changes_nothing(Making(1.0), "b")
    assert not changes_nothing(Settings(Counting(1.0)), "b")
    assert not changes_nothing(Delegating(math), "pi")
    assert not changes_nothing(Delegating(Disc), "pi")
    without = Delegating.__new__(Delegating)  # it asks itself, for ever
    assert not changes_nothing(without, "b")
    circle = Settings()
    circle._parent = circle
    assert not changes_nothing(circle, "b")


def test_names_of_builtins_may_be_other_things(monkeypatch):
    asked = []

    def wrong(x, name):
        asked.append(name)
        return 2.0

    monkeypatch.setitem(globals(), "getattr", wrong)
    assert not changes_nothing(Delegating(Disc(1.0)), "b")
    y, back = pullback(lambda x: x * (1.0 if hasattr(Delegating(x), "b") else 0.0), (3.0,))
    assert (y, back(1.0)[0], asked) == (3.0, 1.0, ["b"])


@pytest.mark.parametrize("what", ["hasattr", "getattr"])
def test_recursion_without_end(what):
    def f(x):
        one = Delegating.__new__(Delegating)
        if what == "hasattr":
            return x if hasattr(one, "b") else 0.0
        return getattr(one, "b", x)

    with pytest.raises(RecursionError):
        f(1.0)
    with pytest.raises(RecursionError):
        pullback(f, (1.0,))
