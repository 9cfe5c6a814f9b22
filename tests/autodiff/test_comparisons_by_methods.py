"""Comparisons by the methods of classes: which are called, in which order, what they change and what flows to the operands."""

import functools

import numpy as np
import pytest

from tests.autodiff.against_differences import check, check_second
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects import reentry
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn

SEEN = []


class Weight:
    """Its comparisons note what they have seen."""

    def __init__(self, v):
        self.v, self.times = v, 0.0

    def noted(self, other):
        self.times += 0.5 * self.v
        SEEN.append(self.v * (other if isinstance(other, float) else other.v))


class Less(Weight):
    def __lt__(self, other):
        self.noted(other)
        return self.v < (other if isinstance(other, float) else other.v)


@functools.total_ordering
class Total(Weight):
    def __eq__(self, other):
        self.noted(other)
        return self.v == other.v

    def __lt__(self, other):
        self.noted(other)
        return self.v < other.v

    __hash__ = None


class Heir(Total):
    """Which is asked first where it is the second operand."""

    def __gt__(self, other):
        SEEN.append(3.0 * self.v)
        return self.v > other.v

    def __ne__(self, other):
        SEEN.append(5.0 * self.v)
        return NotImplemented


class Unsure(Weight):
    def __lt__(self, other):
        self.noted(other)
        return NotImplemented

    __gt__ = __le__ = __lt__


class Value(Weight):
    """Of which comparisons are numbers."""

    def __lt__(self, other):
        return self.v * other.v

    def __eq__(self, other):
        return Answer(self.v * 0.5)

    __hash__ = None


class Answer:
    def __init__(self, v):
        self.v = v

    def __bool__(self):
        SEEN.append(self.v)
        return self.v > 0


class Keeper:
    def __eq__(self, other):
        self.kept = other
        return True

    __hash__ = None


def less(x):
    a, b = Less(x), Less(2.0 * x)
    return (a < b) + a.times + 2.0 * b.times + (b > a) * x + (a < 3.0) * x + sum(SEEN)


def one_or_the_other(x):
    a = Less(x)
    return x if a < 1.5 or a < Less(0.1) else x * x * sum(SEEN)


def by_total_ordering(x):
    a, b = Total(x), Total(x * x)
    r = x * (a >= b) + 2.0 * x * (a <= b) + 3.0 * x * (a > b) + 5.0 * x * (a != b) + (a == b)
    return r + a.times * b.times + sum(SEEN)


def the_heir_first(x):
    a, b = Total(x), Heir(x * x)
    r = x * (a < b) + 2.0 * x * (b < a) + 3.0 * x * (a != b) + 4.0 * x * (b != a) + 5.0 * x * (b != b)
    return r + a.times * b.times + sum(SEEN)


def both_unsure(x):
    a, b = Unsure(x), Unsure(2.0 * x)
    try:
        a < b  # noqa: B015
    except TypeError as error:
        return x * len(str(error)) + sum(SEEN) + a.times * b.times
    return 0.0


def second_is_sure(x):
    a, b = Unsure(x), Less(2.0 * x)
    return (x if a > b else x * x) + sum(SEEN) + a.times * b.times


def neither_knows(x):
    a, r = Less(x), x
    for compare in (lambda: a <= a, lambda: a < "a", lambda: Unsure(x) < None):
        try:
            compare()
        except (TypeError, AttributeError) as error:
            r += len(str(error)) * x
    return r + a.times + sum(SEEN) + (a == 3) + (a != "a") * x


def numbers(x):
    a, b = Value(x), Value(3.0 * x)
    return (a < b) + (b > a) * 2.0 + (x if a != b else x * x) + sum(SEEN) + (x if a < b else 0.0)


def in_loops(x):
    items = [Less(x * k % 0.9) for k in range(1, 6)]
    for i in range(len(items)):
        for j in range(i):
            if items[i] < items[j]:
                items[i], items[j] = items[j], items[i]
    return sum((k + 1) * i.v * i.times for k, i in enumerate(items))


PROGRAMS = [
    less, one_or_the_other, by_total_ordering, the_heir_first, both_unsure, second_is_sure, neither_knows, numbers, in_loops,
]  # fmt: skip


def fresh(f):
    def program(x):
        SEEN.clear()
        return f(x)

    return program


@pytest.mark.parametrize("f", PROGRAMS)
def test_as_in_python(f):
    check(fresh(f), times=1, rel=1e-7)


@each_in_long_turn
@pytest.mark.parametrize("f", [less, by_total_ordering, the_heir_first, numbers, in_loops])
def test_second_derivatives(f):
    check_second(fresh(f))


def test_no_code_is_put_in_place(monkeypatch):
    monkeypatch.setattr(reentry, "run_with_traps", lambda *args: pytest.fail("code was put in place"))
    for f in (less, one_or_the_other, by_total_ordering, the_heir_first, in_loops):
        pullback(fresh(f), (0.7,))


def test_a_number_that_is_kept():
    def f(x):
        keeper = Keeper()
        return (keeper == 2.0 * x, keeper.kept * x)[1]

    assert pullback(f, (0.7,))[1](1.0)[0] == pytest.approx(2.8)


def greatest_and_least(x):
    items = [Less(x * k % 0.9) for k in (2, 5, 1, 3, 4)]
    r = max(items).v + 2.0 * min(items).v + 3.0 * max(items, key=lambda i: Less(1.0 - i.v)).v
    return r + sum((k + 1) * i.v * i.times for k, i in enumerate(items)) + sum(SEEN)


def in_order(x):
    items = [Less(x * k % 0.9) for k in (2, 5, 1, 3, 4)]
    ordered = sorted(items, reverse=True)
    r = sum((k + 1) * i.v * i.times for k, i in enumerate(ordered))
    items.sort(key=lambda i: Total(i.v))
    return r + sum((k + 1) * i.v * i.times for k, i in enumerate(items)) + sum(SEEN)


def in_order_of_two_classes(x):
    items = [(Total if k % 2 else Heir)(x * k % 0.9) for k in (2, 5, 1, 3, 4)]
    r = sum((k + 1) * i.v * i.times for k, i in enumerate(sorted(items)))
    return r + max(items).v * min(items).times + sum(SEEN)


def by_numbers(x):
    items = [Value(x * k) for k in (2, -5, 1, 3)]
    return sum((k + 1) * i.v for k, i in enumerate(sorted(items))) + min(items).v


class Stopping(Less):
    def __lt__(self, other):
        self.noted(other)
        if self.v > 1.0:
            raise KeyError(self.v * other.v)
        return self.v < other.v


def left_in_the_middle(x):
    items, r = [Stopping(x * k) for k in (0.3, 0.2, 0.9, 2.0, 0.1)], 0.0
    for order in (sorted, max, min, lambda items: sorted(items, key=lambda i: Stopping(1.1 * i.v))):
        try:
            r += len(order(items)) * x
        except (KeyError, TypeError) as error:
            r += error.args[0] if isinstance(error, KeyError) else len(str(error)) * x
    return r + sum((k + 1) * i.v * i.times for k, i in enumerate(items)) + sum(SEEN)


def not_comparable(x):
    items = [Less(x), "a", Less(2.0 * x)]
    try:
        sorted(items)
    except (TypeError, AttributeError) as error:
        return len(str(error)) * x + sum(SEEN) + sum(i.times for i in items[::2])
    return 0.0


CHOICES = [greatest_and_least, in_order, in_order_of_two_classes, by_numbers, left_in_the_middle, not_comparable]


@pytest.mark.parametrize("f", CHOICES)
def test_choices_as_in_python(f):
    program = fresh(f)
    value, back = pullback(program, (0.7,))
    assert value == program(0.7)
    assert back(1.0)[0] == pytest.approx(differences.derivative(program, 0.7, 1e-3), rel=1e-7)


@each_in_long_turn
@pytest.mark.parametrize("f", [greatest_and_least, in_order, in_order_of_two_classes, by_numbers])
def test_second_derivatives_of_choices(f):
    program = fresh(f)
    slope = lambda x: pullback(program, (x,))[1](1.0)[0]
    value, back = pullback(slope, (0.7,))
    assert value == pytest.approx(slope(0.7))
    assert (back(1.0)[0] or 0.0) == pytest.approx(differences.derivative(slope, 0.7, 1e-3), rel=1e-6, abs=1e-9)


def test_choices_put_no_code_in_place(monkeypatch):
    monkeypatch.setattr(reentry, "run_with_traps", lambda *args: pytest.fail("code was put in place"))
    for f in (greatest_and_least, in_order, in_order_of_two_classes):
        pullback(fresh(f), (0.7,))


class Doubtful:
    """Whose truth is told, and noted."""

    def __init__(self, truth):
        self.truth = truth

    def __bool__(self):
        SEEN.append("asked")
        return self.truth


class Vague:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        return Doubtful(bool(self.v < other.v))


def mask_for_nothing(x):
    v = x * np.array([1.0, 2.0, 3.0])
    mask = v > x  # noqa: F841
    return np.sum(v * v)


def mask_tested_in_a_branch(x):
    v = x * np.array([1.0, 2.0, 3.0])
    mask = v > x
    if x > 100.0 and mask:
        return x
    return np.sum(v * v)


def mask_tested_within_try(x):
    v = x * np.array([1.0, 2.0, 3.0])
    mask = v > x
    try:
        if mask:
            return x
    except ValueError:
        x = 3.0 * x
    return np.sum(v) * x


def truth_for_nothing(x):
    less = Vague(x) < Vague(2.0 * x)  # noqa: F841
    SEEN.append("compared")
    return x * x


def truth_asked_twice(x):
    less = Vague(x) < Vague(2.0 * x)
    SEEN.append("compared")
    y = 1.0
    for _ in range(2):
        if less:
            y = y * x
    return y


@pytest.mark.parametrize(
    "f", [mask_for_nothing, mask_tested_in_a_branch, mask_tested_within_try, truth_for_nothing, truth_asked_twice]
)
def test_the_truth_is_asked_where_it_is_tested(f):
    SEEN.clear()
    f(0.7)
    expected = list(SEEN)
    SEEN.clear()
    pullback(f, (0.7,))
    assert expected == SEEN
    check(f)
    check_second(f)
