"""`match`: what sequence patterns and class patterns ask of a value, natively and through Python, against CPython and differences."""

# ruff: noqa: F841  (what patterns bind need not be used)

from __future__ import annotations

import array
import collections
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn


class Derived(Sequence):
    def __init__(self, x: Any) -> None:
        self.held = [x, x * x, 2.0]

    def __len__(self) -> int:
        return len(self.held)

    def __getitem__(self, i: Any) -> Any:
        return self.held[i]


@Sequence.register
class Registered:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: Any) -> Any:
        return [self.x, self.x * self.x][i]


class Unregistered:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> Any:
        return [self.x, self.x * self.x][i]


class Point:
    def __init__(self, x: Any) -> None:
        self.x = x


@dataclass
class Made:
    x: Any


@dataclass(frozen=True)
class Frozen:
    x: Any
    log: Any = None

    @property
    def noted(self) -> Any:
        self.log.append(self.x)
        return self.x


class Raising:
    def __init__(self, x: Any) -> None:
        self.x = x

    @property
    def y(self) -> Any:
        raise AttributeError("there is none")

    @property
    def z(self) -> Any:
        return self.missing

    @property
    def doubled(self) -> Any:
        return 2.0 * self.x


class Sometimes:
    def __init__(self, x: Any) -> None:
        self.x = x
        if x > 0.5:
            self.y = x * x


class Asked:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __getattr__(self, name: str) -> Any:
        if name == "made":
            return self.x * 3.0
        raise AttributeError(name)


class Named(collections.namedtuple("Named", "u v")):
    pass


def derived(x):
    match Derived(x):
        case [a, b, c]:
            return a * b * c
    return 0.5 * x


def registered(x):
    match Registered(x):
        case [a, b]:
            return a * b
    return 0.5 * x


def unregistered(x):
    match Unregistered(x):
        case [a, b]:
            return a * b
    return 0.5 * x * x


def user_list(x):
    match collections.UserList([x, 2.0 * x]):
        case [a, *b]:
            return a * b[0]
    return 0.5 * x


def deque(x):
    match collections.deque([x, 2.0 * x]):
        case [a, b]:
            return a * b
    return 0.5 * x


def numbers(x):
    match array.array("d", [1.0, 2.0]):
        case [a, b]:
            return a * b * x * x
    return 0.5 * x


def items_of_array(x):
    match np.array([x, x]):
        case [v, w]:
            return v * w
    return 0.5 * x


def rest_of_array(x):
    match np.array([x, 3.0 * x]):
        case [v, *w]:
            return v * w[0]
    return 0.5 * x


def all_of_array(x):
    match np.array([x, 3.0 * x]):
        case [*w]:
            return w[0] * w[1]
    return 0.5 * x


def ends_of_array(x):
    match np.array([x, 3.0 * x, 5.0]):
        case [v, *_, w]:
            return v * w * x
    return 0.5 * x


def class_of_item(x):
    match np.array([x, 3.0 * x]):
        case [float(v), _]:
            return v * x
    return 0.5 * x


def rows(x):
    match np.eye(2) * x:
        case [v, (w, u)]:
            return v[0] * u + w
    return 0.5 * x


def iterator_of_array(x):
    match np.array([x, x]).flat:
        case [v, w]:
            return v * w
    return 0.5 * x * x


def a_list_or_none(x):
    v = [x, 2.0 * x] if x > 0.5 else None
    match v:
        case [a, b]:
            return a * b
    return 0.5 * x


def a_tuple_or_none(x):
    v = (x, 2.0 * x) if x > 0.5 else None
    match v:
        case (a, b):
            return a * b
        case None:
            return x
    return 0.5 * x


def an_object_or_none(x):
    v = Point(x) if x > 0.5 else None
    match v:
        case (a, b):
            return a * b
        case Point(x=a):
            return a * x
    return 0.5 * x


def one_of_two(x):
    v = [x, 2.0 * x] if x > 0.5 else Point(x)
    match v:
        case [a, b]:
            return a * b
        case Point():
            return x * x * x
    return 0.5 * x


def text(x):
    match "ab":
        case [a, b]:
            return x
    return x * x


def generator(x):
    match (i * x for i in range(2)):
        case [a, b]:
            return x
    return x * x


def numbered(x):
    match enumerate([x, x]):
        case [a, b]:
            return x
    return x * x


def values_of_dict(x):
    match {"a": x}.values():
        case [a]:
            return x
    return x * x


def named(x):
    match Named(x, 2.0):
        case [u, v]:
            return u * v * x
    return x


def no_attribute(x):
    match Point(x):
        case Point(y=v):
            return v
    return x * x


def no_field(x):
    match Made(x):
        case Made(x=v, y=w):
            return v * w
    return x * x


def no_frozen_field(x):
    match Frozen(x):
        case Frozen(y=v):
            return v
    return x * x


def no_attribute_of_number(x):
    match x:
        case float(real=v, missing=w):
            return v * w
    return x * x


def attribute_of_number(x):
    match x:
        case float(real=v):
            return v * x
    return x


def property_that_raises(x):
    match Raising(x):
        case Raising(y=v):
            return v
    return x * x


def property_without_attribute(x):
    match Raising(x):
        case Raising(z=v):
            return v
    return x * x


def property_(x):
    match Raising(x):
        case Raising(doubled=v):
            return v * x
    return x


def property_that_notes(x):
    match Frozen(x, log := [1.0]):
        case Frozen(noted=v):
            return v * sum(log) * len(log)
    return x


def set_on_one_path(x):
    match Sometimes(x):
        case Sometimes(y=v, x=w):
            return v * w
    return 0.5 * x


def asked(x):
    match Asked(x):
        case Asked(made=v, x=w):
            return v * w
    return x


def asked_in_vain(x):
    match Asked(x):
        case Asked(gone=v):
            return v
    return x * x


def dict_itself(x):
    match {"a": x}:
        case dict(d):
            return d["a"] * x
    return x


def number_itself(x):
    match x:
        case float(v):
            return v * x
    return x


def frozen_by_place(x):
    match Frozen(x):
        case Frozen(v):
            return v * x
    return x


PROGRAMS = [
    *(derived, registered, unregistered, user_list, deque, numbers, items_of_array, rest_of_array, all_of_array),
    *(ends_of_array, class_of_item, rows, iterator_of_array, a_list_or_none, a_tuple_or_none, an_object_or_none),
    *(one_of_two, text, generator, numbered, values_of_dict, named, no_attribute, no_field, no_frozen_field),
    *(no_attribute_of_number, attribute_of_number, property_that_raises, property_without_attribute, property_),
    *(property_that_notes, set_on_one_path, asked, asked_in_vain, dict_itself, number_itself, frozen_by_place),
]


def through_python(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def g(x):
        {object(): 1}
        return f(x)

    return g


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.3, 0.7])
def test_as_in_cpython(f: Callable[[Any], Any], x: float) -> None:
    value = f(x)
    first = (f(x + 1e-5) - f(x - 1e-5)) / 2e-5
    second = (f(x + 1e-3) - 2.0 * value + f(x - 1e-3)) / 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        for g in (f, through_python(f)):
            found, (gradient,) = zyg.withgradient(g, x)
            assert math.isclose(found, value)
            assert math.isclose(gradient, first, rel_tol=1e-6, abs_tol=1e-8)
            assert math.isclose(zyg.hvp(g, x, 1.0), second, rel_tol=1e-5, abs_tol=1e-5)
            assert math.isclose(zyg.jvp(g, (x,), (1.0,))[1], first, rel_tol=1e-6, abs_tol=1e-8)
    try:
        assert math.isclose(zyg.jit(f)(x), value)
    except zyg.Unsupported:
        assert f not in NATIVE


NATIVE = [
    *(items_of_array, rest_of_array, all_of_array, ends_of_array, class_of_item, rows, a_list_or_none, a_tuple_or_none),
    *(an_object_or_none, text, named, no_attribute, no_field, no_frozen_field, no_attribute_of_number),
    *(attribute_of_number, property_, set_on_one_path, dict_itself, number_itself, frozen_by_place),
]


class Unnamed:
    pass


class Listed:
    __match_args__ = ["x"]  # noqa: RUF012
    x = 1.0


class Numbered:
    __match_args__ = (1,)


class Twice:
    __match_args__ = ("x",)
    x = 1.0


class Float(float):
    pass


def too_many(x):
    match Unnamed():
        case Unnamed(v):
            return v
    return x


def no_tuple(x):
    match Listed():
        case Listed(v):
            return v
    return x


def no_text(x):
    match Numbered():
        case Numbered(v):
            return v
    return x


def twice(x):
    match Twice():
        case Twice(v, x=w):
            return v * w
    return x


def one_too_many(x):
    match Twice():
        case Twice(v, w):
            return v * w
    return x


def without_dimensions(x):
    match np.array(x):
        case [*w]:
            return x * x
    return 0.5 * x


def derived_number_itself(x):
    match Float(2.0):
        case Float(v):
            return v * x
    return x


@pytest.mark.parametrize(
    "f",
    [too_many, no_tuple, no_text, twice, one_too_many, without_dimensions, derived_number_itself],
    ids=lambda f: f.__name__,
)
def test_errors_as_in_cpython(f: Callable[[Any], Any]) -> None:
    def outcome(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except TypeError as error:
            return str(error)

    expected = outcome(lambda: f(0.7))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        for g in (f, through_python(f)):
            assert outcome(lambda g=g: zyg.withgradient(g, 0.7)[0]) == expected
            assert isinstance(outcome(lambda g=g: zyg.hvp(g, 0.7, 1.0)), type(expected))


def test_hasattr_runs_properties_of_frozen_dataclasses_once() -> None:
    def f(x):
        log = [1.0]
        return getattr(Frozen(x, log), "noted", 1.0) * sum(log) * len(log)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        value, (gradient,) = zyg.withgradient(f, 0.7)
    assert math.isclose(value, f(0.7)) and math.isclose(gradient, 2.0 * (1.0 + 2.0 * 0.7))
