"""Classes whose metaclass says what a call is, and what `super` finds there."""

from __future__ import annotations

import pytest

from tests.autodiff.against_differences import check
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


class Counting(type):
    def __call__(cls, *args, **kwargs):
        made = super().__call__(*args, **kwargs)
        made.number = len(cls.made) + made.weight * 0.5
        cls.made.append(made)
        return made


class Stone(metaclass=Counting):
    made: list[Stone] = []  # noqa: RUF012

    def __init__(self, weight, *, scale=1.0):
        if weight < 0:
            self.weight = weight
            raise ValueError(weight * 2)
        self.weight = weight * scale


def test_positions_and_keywords():
    def f(x):
        Stone.made.clear()
        total = 0.0
        for k in range(4):
            total += Stone(x * k).number + Stone(x, scale=x * k).weight ** 2
        return total * Stone.made[-1].number

    check(f)


def test_an_exception_in_the_constructor():
    def f(x):
        Stone.made.clear()
        total = 0.0
        for k in (1.0, -1.0, 2.0, -2.0):
            try:
                total += Stone(x * k).number
            except ValueError as error:
                total += error.args[0] * x
        return total

    check(f)
    for _ in range(2):
        second = differences.derivative(lambda x: pullback(f, (x,))[1](1.0)[0], 0.7)
        assert pullback(lambda x: pullback(f, (x,))[1](1.0)[0], (0.7,))[1](1.0)[0] == pytest.approx(second, rel=1e-7)


def test_another_method_from_then_on():
    def f(x):
        Stone.made.clear()
        return sum([Stone(x * k).number * x for k in range(3)])

    def twice(cls, *args):
        made = type.__call__(cls, *args)
        made.number = made.weight**2
        return made

    check(f)
    before = Counting.__call__
    try:
        Counting.__call__ = twice
        check(f)
    finally:
        Counting.__call__ = before
    check(f)


def test_replaced_while_it_runs():
    def f(x):
        Stone.made.clear()
        before, total = Counting.__call__, 0.0
        try:
            for k in range(4):
                if k == 2:
                    Counting.__call__ = lambda cls, *args: x**3
                made = Stone(x * k)
                total += made.number if k < 2 else made
        finally:
            Counting.__call__ = before
        return total

    check(f)


class Plainly(type):
    def __call__(cls, *args, **kwargs):
        return type.__call__(cls, *args, **kwargs)


class Ground(metaclass=Plainly):
    def __init__(self, x, by=2.0):
        self.x, self.by = x, by


class Upper(Ground):
    def __init__(self, x, **more):
        super().__init__(x, **more)
        self.by *= x


class Bare(metaclass=Plainly):
    pass


class Few(dict, metaclass=Plainly):
    def __init__(self, x):
        super().__init__(a=x)


class Pair(tuple, metaclass=Plainly):
    def __new__(cls, x, y):
        return super().__new__(cls, (x, y))


class Amount(float, metaclass=Plainly):
    pass


class Off(Exception, metaclass=Plainly):
    def __init__(self, x):
        super().__init__(x)
        self.x = x


def test_what_a_metaclass_leaves_to_type():
    def f(x):
        total = 0.0
        for k in range(3):
            total += Ground(x * k).by * x + Ground(x, by=x * k).by * Upper(x, by=x).by + Upper(x).by
            bare = Bare()
            bare.x = x * k
            total += bare.x * Few(x * k)["a"] + Pair(x, k)[0] * Pair(k, y=x)[1] + Amount(x * k)
            try:
                raise Off(x * k)
            except Off as error:
                total += error.x * error.args[0]
            try:
                Ground(x, x, x)
            except TypeError as error:
                total += len(str(error)) * x
        return total

    check(f)


def test_another_constructor_from_then_on():
    def squared(self, x, by=2.0):
        self.x, self.by = x, by * x * x

    def f(x):
        before, total = Ground.__init__, 0.0
        try:
            for k in range(4):
                if k == 2:
                    Ground.__init__ = squared
                total += Ground(x * k).by * x + Ground(x, by=x).by
        finally:
            Ground.__init__ = before
        return total

    check(f)
    check(lambda x: Ground(x).by * x)


def test_super_about_a_class_that_is_derived():
    class Meta(type):
        def weight(cls, x):
            return x * 2.0

    class MetaOfMeta(type):
        def weight(cls, x):
            return x * 3.0

    class Inner(Meta, metaclass=MetaOfMeta):
        def weight(cls, x):
            return super().weight(x) + x * x

    class Thing(metaclass=Inner):
        pass

    def f(x):
        # (Of `Inner` itself, `super(Meta, Inner)` finds what its bases have; of `Thing`, what its metaclass has.)
        return Thing.weight(x) * x + super(Inner, Thing).weight(x) + super(Inner, Inner).weight(Thing, x)

    check(f)


@each_in_long_turn
def test_second_derivatives():
    def f(x):
        Stone.made.clear()
        return sum([Stone(x * k, scale=x).number ** 2 for k in range(3)])

    def g(x):
        total = 0.0
        for k in range(3):
            total += Ground(x * k).by * x + Upper(x, by=x * k).by + Pair(x, k)[0] ** 2 + Few(x * k)["a"] ** 2
            total += Ground(x * k, x).x * Upper(x).by + Amount(x * k) * x
            try:
                raise Off(x * k)
            except Off as error:
                total += error.x * error.args[0]
        return total

    def first(x):
        return pullback(f, (x,))[1](1.0)[0] + pullback(g, (x,))[1](1.0)[0]

    for _ in range(2):
        assert pullback(first, (0.7,))[1](1.0)[0] == pytest.approx(differences.derivative(first, 0.7), rel=1e-7)
