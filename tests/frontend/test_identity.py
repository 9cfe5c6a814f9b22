"""`is`, and comparisons that fall back on it, of what came in as an argument and what the function has besides: compiled code answers
as CPython does, or refuses, and the derivative is taken through Python."""

from __future__ import annotations

import contextlib
import operator
from dataclasses import dataclass

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = [pytest.mark.filterwarnings("ignore::zyg.FallbackWarning"), each_in_turn]


class Plain:
    def __init__(self, k=3.0):
        self.k = k


class Holder:
    sentinel = Plain()

    def __init__(self, kept):
        self.kept = kept


@dataclass(frozen=True)
class Frozen:
    k: float


@dataclass
class Record:
    k: float
    other: Plain


def helper(x):
    return x


def another(x):
    return x + 1.0


SENT, OTHER, LIST, LONG, DICT, ICE = Plain(), Plain(), [1.0, 2.0], [1.0] * 50, {"a": 1.0}, Frozen(1.0)
RANGE, SLICE, TUPLE, ARRAY = range(3), slice(1, 3, None), (1.0, 2.0), np.array([1.0, 2.0])
HOLDER, PAIR, NESTED, HELPER = Holder(SENT), (SENT, OTHER), [SENT, OTHER], helper
RECORD = Record(1.0, SENT)


def yes(x, flag):
    return x * 2.0 if flag else x * 3.0


def of_maybe(x, s):
    kept = s if x > 0.0 else None
    return yes(x, kept is SENT)


def of_choice(x, s):
    kept = s if x > 0.0 else OTHER
    return yes(x, kept is SENT)


def of_given_choice(x, s, other):
    kept = s if x > 0.0 else other
    return yes(x, kept is s) + yes(x, kept is other)


def index(x, s):
    return x * (NESTED.index(s) + 1.0)


def count(x, s):
    return x * (1.0 + [SENT, SENT, OTHER].count(s))


def removed(x, s):
    items = [OTHER, SENT]
    items.remove(s)
    return x * 2.0 if items[0] is OTHER else x * 3.0


def put_and_read(x, s):
    holder = Holder(s)
    return yes(x, holder.kept is SENT)


def called(x, s):
    def inner(t):
        return t is SENT

    return yes(x, inner(s))


def in_loop(x, s):
    total = x
    for item in (OTHER, s, SENT):
        if item is SENT:
            total = total * 2.0
    return total


def made_here(x, s):
    return yes(x, Plain() is s)


def captured():
    own = Plain()
    return lambda x, s: yes(x, s is own), (own, Plain())


def captured_list():
    own = [1.0, 2.0]
    return lambda x, s: yes(x, s is own), (own, [1.0, 2.0])


def with_default(x, s, d=SENT):
    return yes(x, s is d)


def stopped(x, s):
    return yes(x, zyg.stop_gradient(s) is s)


CASES = {
    "global": (lambda x, s: yes(x, s is SENT), (SENT, OTHER, Plain())),
    "is not": (lambda x, s: yes(x, s is not SENT), (SENT, OTHER)),
    "operator": (lambda x, s: yes(x, operator.is_(s, SENT)), (SENT, OTHER)),
    "==": (lambda x, s: yes(x, s == SENT), (SENT, OTHER)),
    "!=": (lambda x, s: yes(x, s != SENT), (SENT, OTHER)),
    "list": (lambda x, s: yes(x, s is LIST), (LIST, [1.0, 2.0])),
    "long list": (lambda x, s: yes(x, s is LONG), (LONG, [1.0] * 50)),
    "dict": (lambda x, s: yes(x, s is DICT), (DICT, {"a": 1.0})),
    "frozen": (lambda x, s: yes(x, s is ICE), (ICE, Frozen(1.0))),
    "range": (lambda x, s: yes(x, s is RANGE), (RANGE, range(3))),
    "slice": (lambda x, s: yes(x, s is SLICE), (SLICE, slice(1, 3, None))),
    "another array": (lambda x, s: yes(x, s is ARRAY), (np.array([1.0, 2.0]),)),
    "tuple": (lambda x, s: yes(x, s is PAIR), (PAIR,)),
    "function": (lambda x, s: yes(x, s is helper), (helper, another)),
    "== of functions": (lambda x, s: yes(x, s == helper), (helper, another)),
    "function by another name": (lambda x, s: yes(x, s is HELPER), (helper, another)),
    "attribute of a class": (lambda x, s: yes(x, s is Holder.sentinel), (Holder.sentinel, SENT)),
    "== of one of a class": (lambda x, s: yes(x, s == Holder.sentinel), (Holder.sentinel, SENT)),
    "attribute of a global": (lambda x, s: yes(x, s is HOLDER.kept), (SENT, OTHER)),
    "attribute of both": (lambda x, s: yes(x, s.kept is HOLDER.kept), (Holder(SENT), Holder(OTHER), HOLDER)),
    "item of a global": (lambda x, s: yes(x, s is NESTED[0]), (SENT, OTHER)),
    "item of an argument": (lambda x, s: yes(x, s[0] is SENT), ([SENT, OTHER], [OTHER, SENT], NESTED)),
    "item of a tuple": (lambda x, s: yes(x, s is PAIR[1]), (SENT, OTHER)),
    "two globals": (lambda x, s: yes(x, HOLDER.kept is SENT) + yes(x, RECORD.other is NESTED[0]), (1.0,)),
    "in a list": (lambda x, s: yes(x, s in [OTHER, SENT]), (SENT, Plain())),
    "in a tuple": (lambda x, s: yes(x, s in PAIR), (SENT, Plain())),
    "not in": (lambda x, s: yes(x, s not in (SENT,)), (SENT, Plain())),
    "lists of objects": (lambda x, s: yes(x, [s] == [SENT]), (SENT, OTHER)),
    "tuples of objects": (lambda x, s: yes(x, (s, 1.0) == (SENT, 1.0)), (SENT, OTHER)),
    "dicts of objects": (lambda x, s: yes(x, {"a": s} == {"a": SENT}), (SENT, OTHER)),
    "fields": (lambda x, s: yes(x, Record(1.0, s) == RECORD), (SENT, OTHER)),
    "methods": (lambda x, s: yes(x, s.__init__ == SENT.__init__), (SENT, OTHER)),
    "maybe": (of_maybe, (SENT, OTHER)),
    "choice": (of_choice, (SENT, OTHER)),
    "index": (index, (SENT, OTHER)),
    "count": (count, (SENT, OTHER)),
    "remove": (removed, (SENT, OTHER)),
    "put and read": (put_and_read, (SENT, OTHER)),
    "called": (called, (SENT, OTHER)),
    "in a loop": (in_loop, (SENT, OTHER)),
    "made here": (made_here, (SENT,)),
    "captured": captured(),
    "captured list": captured_list(),
    "default": (with_default, (SENT, OTHER)),
}


@pytest.mark.parametrize("x", [2.0, -1.0])
@pytest.mark.parametrize("case", CASES)
def test_as_in_python_or_refused(case, x):
    f, candidates = CASES[case]
    for s in candidates:
        expected = f(x, s)
        try:
            value, gradients = zyg.withgradient(f, x, s)
            assert (value, gradients[0]) == (expected, expected / x)
            assert zyg.jvp(f, (x, s), (1.0, None)) == (expected, expected / x)
        except ValueError as error:
            assert (
                isinstance(s, (list, dict)) and "also has by name" in str(error) and "pass a copy of it" in str(error)
            )
        try:
            assert zyg.jit(f)(x, s) == expected
        except zyg.Unsupported as refusal:
            assert "native code" in str(refusal) or "`is`" in str(refusal)


def test_stopped():
    """It is a copy, in plain Python, too."""
    assert zyg.withgradient(stopped, 2.0, SENT)[0] == stopped(2.0, SENT) == 6.0


def test_arrays_that_are_met_twice():
    """Through Python their derivatives are those of copies."""
    by_name = lambda x, a: yes(x, a is ARRAY)
    with pytest.raises(ValueError, match="`is` is asked there"):
        zyg.gradient(by_name, 2.0, ARRAY)
    with pytest.raises(ValueError, match="`is` is asked there"):
        zyg.gradient(lambda x, a, b: yes(x, a is b), 2.0, ARRAY, ARRAY)
    assert zyg.gradient(lambda x, a, b: yes(x, a is b), 2.0, ARRAY, np.ones(2))[0] == 3.0
    assert zyg.gradient(lambda x, a: x * ARRAY[0] if a is None else x * len(str(a)[:3]), 2.0, ARRAY)[0] == 3.0


def test_what_cannot_be_told_is_refused_with_its_line():
    with pytest.raises(zyg.Unsupported, match=r"(?s)`is` of two values that native code does not.*s is SENT") as caught:
        zyg.jit(CASES["global"][0])(2.0, SENT)
    assert "by identity" in str(caught.value)


def test_what_is_apart_stays_native():
    """Of other classes, of None, of what the function makes: nothing is asked."""

    def f(x, s, t=None):
        made = Plain(x)
        flags = (s is None, t is None, s is made, s is s, s is x, made is made, s is LIST, made is SENT)
        return x * sum([2.0**n for n in range(len(flags)) if flags[n]])

    assert zyg.jit(f)(2.0, OTHER) == f(2.0, OTHER)


@pytest.mark.parametrize("x", [2.0, -1.0])
@pytest.mark.parametrize("make", [Plain, lambda: [1.0], lambda: {"a": 1.0}, lambda: [1.0] * 50])
def test_of_two_arguments_where_paths_meet(make, x):
    given = make(), make()
    for pair in (given, (given[0], given[0])):
        with contextlib.suppress(zyg.Unsupported):
            assert zyg.jit(of_given_choice)(x, *pair) == of_given_choice(x, *pair)
        assert zyg.withgradient(of_given_choice, x, *pair)[0] == of_given_choice(x, *pair)


NUMBERS, WHOLE = [1.0, 2.0], [1, 2]


@pytest.mark.parametrize("numbers", [NUMBERS, WHOLE, [1.0] * 50])
def test_matrices_of_derivatives_by_what_is_asked_about(numbers):
    """These call the function with other objects in the place of its arguments."""

    def f(s):
        total = 2.0 if s is numbers else 3.0
        return s[0] * s[0] * total

    def apart(s):
        return s[0] * s[0] * (2.0 if s is NUMBERS else 3.0)

    x = np.zeros(len(numbers))
    x[0] = 4.0
    for make, expected in (
        (lambda: zyg.jacobian(f, numbers)[0], x),
        (lambda: zyg.hessian(f, numbers)[0][0], 4.0),
        (lambda: zyg.jacobian(apart, numbers)[0], x * (1.0 if numbers is NUMBERS else 1.5)),
    ):
        try:
            np.testing.assert_allclose(make(), expected)
        except (zyg.Unsupported, ValueError) as refusal:
            assert "`is`" in str(refusal) or "also has by name" in str(refusal)
