"""Mappings whose methods change what they hold, where C code asks them for keys and items: each method is called when, and as often as,
CPython calls it, and what it does is in the derivatives."""

from __future__ import annotations

import functools
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import pytest

import zyg
from tests.autodiff.against_differences import check, check_second
from tests.turns import by_one_python_a_day
from zyg.errors import ZygError

LOG: list[str] = []


class Held:
    def __init__(self, x):
        self.x = x

    def __getitem__(self, key):
        if not isinstance(key, str):
            raise TypeError(key)
        LOG.append(f"get {key}")
        self.x = self.x * 1.5
        return self.x


class Listed(Held):
    def keys(self):
        LOG.append("keys")
        self.x = self.x * 2.0
        return ["a", "b"]


class Lazy(Held):
    def keys(self):
        LOG.append("begin")
        yield "a"
        self.x = self.x * 2.0
        LOG.append("between")
        yield "b"
        LOG.append("end")
        self.x = self.x * self.x


class Names:
    def __init__(self, of):
        self.of, self.left = of, ["b", "a"]

    def __iter__(self):
        LOG.append("iter")
        self.of.x = self.of.x * 1.25
        return self

    def __next__(self):
        LOG.append("next")
        if not self.left:
            raise StopIteration
        self.of.x = self.of.x * 2.0
        return self.left.pop()

    def __length_hint__(self):
        LOG.append("hint")
        self.of.x = self.of.x * 1.1
        return 2


class Stepped(Held):
    def keys(self):
        return Names(self)


class Indexed(Held):
    def keys(self):
        held = self

        class Sequence:
            def __len__(self):
                LOG.append("len")
                held.x = held.x * 1.1
                return 2

            def __getitem__(self, k):
                LOG.append(f"name {k}")
                held.x = held.x * 1.2
                return ("a", "b")[k]

        return Sequence()


class Abstract(Held, Mapping):
    def __iter__(self):
        LOG.append("begin")
        self.x = self.x * 1.25
        yield "a"
        self.x = self.x * 2.0
        yield "b"
        LOG.append("end")

    def __len__(self):
        LOG.append("len")
        self.x = self.x * 1.1
        return 2


class Computed(Held):
    @property
    def keys(self):
        LOG.append("ask")
        self.x = self.x * 1.1
        return lambda: ["a", "b"]


class Found(Held):
    def __getattr__(self, name):
        if name != "keys":
            raise AttributeError(name)
        LOG.append("ask")
        self.x = self.x * 1.1
        return lambda: ["a", "b"]


class OwnDict(dict):
    def __init__(self, x):
        super().__init__(a=x, b=x * x)
        self.n = x

    def __iter__(self):
        LOG.append("iter")
        return iter(["b"])

    def keys(self):
        LOG.append("keys")
        self.n = self.n * 2.0
        return ["b", "a"]

    def __getitem__(self, key):
        LOG.append(f"get {key}")
        return super().__getitem__(key) * self.n


class OwnOrdered(OrderedDict):
    def __init__(self, x):
        super().__init__(a=x, b=x * x)

    def __getitem__(self, key):
        LOG.append(f"get {key}")
        return super().__getitem__(key) * 3.0


class OwnUser(UserDict):
    def __init__(self, x):
        super().__init__(a=x, b=x * x)

    def __getitem__(self, key):
        LOG.append(f"get {key}")
        self.data["b"] = self.data["b"] * 1.5
        return self.data[key]


class Value(NamedTuple):
    x: float

    def keys(self):
        return ["a", "b"]

    def __getitem__(self, key):
        return self.x if key == "a" else self.x * self.x


CLASSES = [Listed, Lazy, Stepped, Indexed, Abstract, Computed, Found, OwnDict, OwnOrdered, OwnUser, ChainMap, UserDict]


def kept(**names):
    return names["a"] * names["b"]


def some(first, **names):
    return first * names["a"] * names["b"]


def of(d):
    return d["a"] * d["b"]


def updated(m):
    d = {"a": 1.0}
    d.update(m)
    return of(d)


def united(m):
    d = {"a": 1.0}
    d |= m
    return of(d)


def ordered_updated(m):
    d = OrderedDict(a=1.0)
    d.update(m)
    return of(d)


def ordered_united(m):
    d = OrderedDict(a=1.0)
    d |= m
    return of(d)


class Derived(dict):
    pass


WAYS = {
    "call": lambda m: kept(**m), "more": lambda m: some(2.0, **m), "twice": lambda m: kept(**m, **{"c": 1.0}),
    "partial": lambda m: functools.partial(kept, **m)(), "dict_by_name": lambda m: of(dict(**m)), "display": lambda m: of({**m}),
    "behind": lambda m: of({"a": 1.0, **m}), "dict": lambda m: of(dict(m)), "derived": lambda m: of(Derived(m)), "update": updated,
    "united": united, "counter": lambda m: of(Counter(m)), "ordered": lambda m: of(OrderedDict(m)), "ordered_updated": ordered_updated,
    "ordered_united": ordered_united, "default": lambda m: of(defaultdict(float, m)), "user": lambda m: of(UserDict(m)),
    "chained": lambda m: of(dict(ChainMap(m))), "chained_call": lambda m: kept(**ChainMap(m)),
}  # fmt: skip


def program(cls, way):
    def f(x):
        m = cls({"a": x, "b": x * x}) if cls in (ChainMap, UserDict) else cls(x)
        y = way(m)
        return y * m.x if isinstance(m, Held) else y

    return f


@by_one_python_a_day
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cls", CLASSES)
def test_mappings_are_asked_as_cpython_asks_them(cls, way):
    f = program(cls, WAYS[way])
    LOG.clear()
    try:
        value = f(0.7)
    except (TypeError, AttributeError, KeyError) as error:
        with pytest.raises(type(error)):
            zyg.gradient(f, 0.7)
        return
    log = list(LOG)
    LOG.clear()
    assert zyg.withgradient(f, 0.7)[0] == pytest.approx(value, rel=1e-13)
    assert log == LOG
    check(f, times=2)
    if way in ("call", "display", "ordered"):
        check_second(f)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("way", ["call", "display", "dict", "update", "ordered"])
def test_mappings_that_are_values(way):
    f = program(Value, WAYS[way])
    check(f)
    check_second(f)


class Failing(Lazy):
    def __getitem__(self, key):
        if key == "b":
            raise ValueError(self.x)
        return super().__getitem__(key)


def caught(way):
    def f(x):
        m = Failing(x)
        d = {"a": 1.0}
        try:
            if way == "update":
                d.update(m)
            elif way == "display":
                d = {**d, **m}
            else:
                kept(**m)
        except ValueError as error:
            return error.args[0] * m.x * d["a"]
        return 0.0

    return f


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("way", ["update", "display", "call"])
def test_what_was_done_before_an_exception_counts(way):
    check(caught(way))
    check_second(caught(way))


def repeated(x):
    return kept(**{"a": x}, **Listed(x))


def numbered(x):
    class Numbered(Held):
        def keys(self):
            return [1, 2]

    return kept(**Numbered(x))


def not_iterable(x):
    class Wrong(Held):
        def keys(self):
            return 3

    return kept(**Wrong(x))


def no_mapping(x):
    return kept(**Held(x))


def not_displayed(x):
    return of({**Held(x)})


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("f", [repeated, numbered, not_iterable, no_mapping, not_displayed])
def test_what_is_no_mapping_of_names_raises_what_cpython_raises(f):
    with pytest.raises(TypeError) as plain:
        f(0.7)
    with pytest.raises(TypeError) as found:
        zyg.gradient(f, 0.7)
    assert not isinstance(found.value, ZygError)
    assert str(found.value) == str(plain.value)
