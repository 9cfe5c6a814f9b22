"""Texts say what the things in them were when the text was made, and what objects do when they are asked for theirs is done. The oracle
is CPython."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import zyg

from ..turns import each_in_turn

pytestmark = [pytest.mark.filterwarnings("ignore::zyg.FallbackWarning"), each_in_turn]


@dataclass
class Point:
    x: float
    more: object = None


def of_an_object(x):
    p = Point(1.0)
    text = f"{p}"
    p.x = 7.0
    print(text)
    return x * p.x


def of_a_list(x):
    items = [1.0, 2.0]
    text = f"{items} {items!r:>20}"
    items[0] = 9.0
    print(text)
    return x * items[0]


def of_a_growing_list(x):
    items = []
    for i in range(3):
        items.append(x * i)
    text = f"{items}"
    items[0] = 9.0
    items.append(1.0)
    print(text, items)
    return x * items[0]


def of_a_dict(x):
    d = {"k": 1.0}
    text = f"{d}"
    d["k"] = 9.0
    print(text)
    return x * d["k"]


def of_an_array(x):
    a = np.ones(2)
    text, other = f"{a}", str(a)
    a[0] = 9.0
    print(text, other)
    return x * a[0]


def of_what_may_be_none(x):
    a = None
    if x > 1.0:
        a = np.ones(3)
    text = f"{a}"
    if a is not None:
        a[0] = 4.0
    print(text)
    return x


def of_nested_things(x):
    p = Point(x, [x, np.ones(2)])
    text = f"{p} {[p]} {(p, x)}"
    p.more[1][0] = 5.0
    p.x = 7.0
    print(text, p)
    return x * p.x


def of_an_error(x):
    a = np.ones(2)
    text = f"it was {a}"
    a *= x
    if x > 1.0:
        raise ValueError(text)
    print(text)
    return a.sum()


class Told:
    def __init__(self, x):
        self.x = x
        self.times = 0.0

    def tell(self):
        self.times += self.x


class Represented(Told):
    def __repr__(self):
        self.tell()
        return "r"


class Formatted(Told):
    def __format__(self, spec):
        self.times += self.x
        return "f"


SEEN = []


class Noted(Told):
    def __str__(self):
        SEEN.append(self.x)
        return "n"


def printed(cls):
    def f(x):
        told = cls(x)
        print(f"{told}", "and", f"{told}")
        return told.times * x + x

    return f


def unused(cls):
    def f(x):
        told = cls(x)
        text = f"{told}"  # noqa: F841
        return told.times * x + x

    return f


TEXTS = [
    of_an_object,
    of_a_list,
    of_a_growing_list,
    of_a_dict,
    of_an_array,
    of_what_may_be_none,
    of_nested_things,
    of_an_error,
]


def outcome(run, capsys):
    SEEN.clear()
    try:
        value = run()
    except ValueError as error:
        value = repr(error)
    return value, capsys.readouterr().out, list(SEEN)


@pytest.mark.parametrize("f", TEXTS)
@pytest.mark.parametrize("x", [0.5, 1.5])
def test_what_texts_say(f, x, capsys):
    expected = outcome(lambda: f(x), capsys)
    assert outcome(lambda: zyg.jit(f)(x), capsys) == expected
    assert outcome(lambda: zyg.withgradient(f, x)[0], capsys) == expected


@pytest.mark.parametrize("cls", [Represented, Formatted, Noted])
@pytest.mark.parametrize("make", [printed, unused])
def test_objects_that_change_something_when_they_are_told(cls, make, capsys):
    f = make(cls)
    expected = outcome(lambda: f(1.5), capsys)
    assert outcome(lambda: zyg.withgradient(f, 1.5)[0], capsys) == expected
    assert zyg.gradient(f, 1.5)[0] == pytest.approx((f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6)
    with pytest.raises(zyg.Unsupported, match="changes something"):
        zyg.jit(f)(1.5)


def read_as_complex(x):
    return complex(str(x)).real * x


def read_as_imaginary(x):
    return complex(f"{x}j").imag * x


def read_as_one_of_two(x):
    return complex("1.5" if x > 1.0 else "2j").real * x


def read_behind_a_number(x):
    return complex(1.0, str(x)).real * x


@pytest.mark.parametrize("f", [read_as_complex, read_as_imaginary, read_as_one_of_two, read_behind_a_number])
@pytest.mark.parametrize("x", [0.5, 1.5])
def test_complex_numbers_read_from_text(f, x):
    """What is read from text carries no derivative."""

    def told(run):
        try:
            return run()
        except TypeError as error:
            return str(error)

    expected = told(lambda: f(x))
    assert told(lambda: zyg.withgradient(f, x)[0]) == expected
    if isinstance(expected, float):
        assert zyg.gradient(f, x)[0] == pytest.approx(expected / x)
        assert zyg.hvp(f, x, 1.0) == 0.0
