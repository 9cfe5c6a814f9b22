"""What `str`, `repr` and f-strings ask objects and exceptions, through Python: their methods are differentiated, and text carries no
derivative. Against differences."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from typing import Any

import pytest

import zyg
from tests.autodiff.against_differences import check, check_second
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


class Named:
    def __init__(self, value):
        self.value, self.asked = value, 0.0

    def __str__(self):
        return f"{type(self).__name__}({len(str(self.value)) > 100})"


class Counted(Named):
    """Its text changes it."""

    def __str__(self):
        self.asked = self.asked * self.value + self.value
        return super().__str__()

    def __repr__(self):
        self.asked += 2.0 * self.value
        return f"<{self!s}>"


class OnlyRepr:
    def __init__(self, log, value):
        self.log, self.value = log, value

    def __repr__(self):
        self.log.append(self.value * self.value)
        return "x" * len(self.log)


@dataclass
class Data:
    value: float
    name: str = "n"


def texts(x):
    total, log = 0.0, []
    for k in range(3):
        for each in (Named(x), Counted(x * k), Counted(x), OnlyRepr(log, x * k), Data(k)):
            total += (
                x * len(str(each))
                + len(f"{each}") * x * x
                + len(f"{each!r:>9}{each!s}{each:}")
                + len(repr(each)[:3]) * x
            )
            total += getattr(each, "asked", 0.0)
    return total + sum(log)


def test_methods_that_give_text():
    check(texts)


class Price:
    def __init__(self, value):
        self.value, self.asked = value, 0.0

    def __format__(self, spec):
        self.asked = self.asked * self.value + self.value * (2.0 if spec else 1.0)
        return f"{self.value:{spec or '.2f'}}"


class Cents(Price):
    def __format__(self, spec):
        return super().__format__(spec or ".1f") + " ct"


class NoText(Price):
    def __format__(self, spec):
        self.asked += self.value * self.value
        return self.asked


def test_formats():
    def formatted(x):
        prices, total = [Price(x), Cents(2.0 * x), Cents(3.0)], 0.0
        for k in range(3):
            for each in (*prices, NoText(x * k)):
                try:
                    total += len(f"{each:>9.1f}{each}") * x + len(format(each, "7.2f")) + len("{:>{}}".format(each, 8))
                    total += len(f"{each:{'>5' if k else ''}}")
                except TypeError as error:
                    total += len(str(error)) * x
                total += each.asked * x
        return total

    check(formatted)
    slope = lambda x: pullback(formatted, (x,))[1](1.0)[0]
    assert pullback(slope, (0.7,))[1](1.0)[0] == pytest.approx(differences.derivative(slope, 0.7))


def test_containers_of_objects():
    def shown(x):
        log, total = [], 0.0
        a, b = Counted(x), OnlyRepr(log, 2.0 * x)
        within = [a, 1.0]
        within += [within, {"w": within}]
        pair = within, a
        within.append(pair)
        for k in range(3):
            for each in ([a, b], (b,), (a, "q", 1.5), {"k": a, 2: [b, (a,)]}, [[], (), {}], within, {(1, 2): b}):
                total += len(str(each)) * x + len(f"{each}") + len(f"{each!r:>40}") * x + len(f"{repr(each)[:9]}") * k
                total += a.asked
        return total + sum(log)

    check(shown)
    slope = lambda x: pullback(shown, (x,))[1](1.0)[0]
    assert pullback(slope, (0.7,))[1](1.0)[0] == pytest.approx(differences.derivative(slope, 0.7))


class Growing:
    """The text of an item changes the list."""

    def __init__(self, items, value):
        self.items, self.value = items, value

    def __repr__(self):
        if len(self.items) < 5:
            self.items.append(Growing(self.items, self.value * 1.5))
        self.value *= self.value
        return f"g{len(self.items)}"


def test_a_container_that_changes_while_it_is_shown():
    def grown(x):
        items = []
        items.append(Growing(items, x))
        return len(repr(items)) * sum(g.value for g in items)

    check(grown)


def test_a_container_whose_item_has_no_text():
    def raised(x):
        log, total = [], 0.0
        for each in ([Counted(x), Wrong(log, x)], (Wrong(log, x * x),), {"k": [OnlyRepr(log, x), Wrong(log, x)]}):
            try:
                total += len(str(each))
            except ValueError as error:
                total += x * len(str(error))
            try:
                total += len(f"{each!s}")
            except ValueError as error:
                total += x * len(repr(error)) + sum(log)
        return total + sum(log)

    check(raised)


class Odd(Exception):
    def __init__(self, value, *more):
        super().__init__(*more)
        self.value = value


class Speaking(Odd):
    def __str__(self):
        self.value = self.value * 3.0
        return f"speaks of {self.args}"


class Hidden(Exception):
    args = property(lambda self: ("never", "seen"))


def test_exceptions_say_their_arguments():
    def raised(x):
        total, log = 0.0, []
        for k, error in enumerate(
            [
                ValueError("text", 1), ValueError(x > 0.0), ValueError(), KeyError("k"), KeyError("k", 2), Odd(x), Odd(x, "a", 2), Odd(x, OnlyRepr(log, x)),
                Speaking(x, "b"), OSError(2, "missing"), ValueError(OnlyRepr(log, x)), Hidden(OnlyRepr(log, x * x)), IndexError([x > 1]),
            ]
        ):  # fmt: skip
            try:
                total += x * k
                raise error
            except (ValueError, KeyError, OSError, IndexError, Odd, Hidden) as e:
                total += len(str(e)) * x + len(repr(e)) * x * x + len(f"{e}") + getattr(e, "value", 0.0) * x
        return total + sum(log)

    check(raised)


class Wrong:
    def __init__(self, log, value):
        self.log, self.value = log, value

    def __str__(self):
        self.log.append(self.value)
        return 3

    def __repr__(self):
        self.log.append(self.value * self.value)
        raise ValueError("no text")


class Words(str):
    pass


class Given:
    def __str__(self):
        return Words("words")


def test_what_is_no_text():
    def wrong(x):
        log, total = [], 0.0
        for each in (Wrong(log, x), Given()):
            for ask in (str, repr, lambda v: f"{v}", lambda v: f"{v!s:>9}"):
                try:
                    total += len(ask(each)) * x if type(each) is Wrong or ask is not repr else 0.0
                except (TypeError, ValueError) as error:
                    total += len(str(error)) * x
        assert type(str(Given())) is type(f"{Given()}") is Words
        return total + sum(log)

    try:
        check(wrong, times=1)
    except zyg.Unsupported as error:  # what had been done by a method that raised may be refused
        assert "exception" in str(error)


def test_a_method_that_is_replaced():
    def replaced(x):
        log, total = [], 0.0
        for k in range(3):
            each = OnlyRepr(log, x)
            total += len(str(each)) * x
            if k == 1:
                OnlyRepr.__str__ = lambda self: str(self.log.append(3.0 * self.value))
        del OnlyRepr.__str__
        return total + sum(log)

    check(replaced)


@each_in_long_turn
def test_second_derivatives():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        got = zyg.gradient(lambda x: zyg.gradient(texts, x)[0], 0.7)[0]
    wanted = differences.derivative(lambda x: pullback(texts, (x,))[1](1.0)[0], 0.7)
    assert got == pytest.approx(wanted, rel=1e-6)


@dataclasses.dataclass
class Written:
    a: Any
    b: Any = 1.0
    hidden: Any = dataclasses.field(default=2.0, repr=False)


@dataclasses.dataclass
class WrittenByHand:
    a: Any

    def __repr__(self):
        self.a = self.a * 2.0
        return f"by hand {self.a:.1f}"


class Derived(Written):
    pass


@dataclasses.dataclass(repr=False)
class Silent(WrittenByHand):
    pass


def texts_of_data_classes(x):
    total, w = x, Written(x, "t")
    for o in (w, Written(w), Written([w, x]), Derived(x, None), WrittenByHand(x), Written(WrittenByHand(x)), Silent(x)):
        for _ in range(2):
            total += x * repr(o).count("=") + x * (str(o) == f"{o}") + f"{o!r:>40}".count("a") * x
            inner = o.a
            total += (inner if isinstance(inner, float) else x) * 0.1
    w.a = w
    return total + x * repr(w).count("...")


def test_texts_of_data_classes():
    check(texts_of_data_classes)


@each_in_long_turn
def test_second_derivatives_of_texts_of_data_classes():
    check_second(texts_of_data_classes)
