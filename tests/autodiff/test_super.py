"""What `super()` finds in the classes behind: descriptors of every kind, natively and through Python."""

from __future__ import annotations

import functools

import pytest

import zyg
from tests.oracles import differences
from tests.turns import by_one_python_a_day
from zyg.fallback import python_pullback


class Scaled:
    def __init__(self, k):
        self.k = k

    def __get__(self, x, cls):
        return self if x is None else self.k * x.v

    def __set__(self, x, value):
        x.v = value / self.k


class Tripled:
    def __get__(self, x, cls):
        return 3 * x.v


class Base:
    constant = 2.5
    scaled = Scaled(4.0)
    tripled = Tripled()

    def __init__(self, v):
        self.v = v

    @functools.cached_property
    def square(self):
        return self.v**2

    @property
    def p(self):
        return self.v * 3

    @p.setter
    def p(self, value):
        self.v = value / 3

    def method(self, k=2.0):
        return self.v * k

    partial = functools.partialmethod(method, 5.0)

    @classmethod
    def of_class(cls, z):
        return z * cls.constant

    @classmethod
    def made(cls, v):
        return cls(v * cls.constant)

    @staticmethod
    def static(z):
        return z * 7


class Middle(Base):
    constant = 1.5

    @property
    def p(self):
        return super().p * 2

    @p.setter
    def p(self, value):
        super(Middle, type(self)).p.fset(self, value * 2)

    @functools.cached_property
    def square(self):
        return super().square + self.v

    def method(self):
        bound = super().method
        return super().method(3.0) + bound()

    @classmethod
    def of_class(cls, z):
        return super().of_class(z) * 2

    @classmethod
    def made(cls, v):
        return super().made(v * v)


class Last(Middle):
    def again(self):
        return super().square * super(Middle, self).square

    def both(self):
        return self.square + super().square

    def descriptors(self):
        return super().scaled * super().tripled

    def others(self):
        kept = super()
        return kept.partial() + kept.static(self.v) + getattr(kept, "p") * kept.constant  # noqa: B009

    def asked(self):
        return Base.p.__get__(self, Last) * type(self).square.__get__(self)

    def set(self):
        self.p = self.v * self.v
        Base.p.__set__(self, self.v * self.v)
        return self.v


class Guessing(Base):
    """`__getattr__` is for names that are nowhere, not for those of the class."""

    def __getattr__(self, name):
        return self.v * 11

    @functools.cached_property
    def cube(self):
        return self.v**3


class Kept:
    rate = 2.0


class Keeping(Kept):
    def times(self, x):
        Kept.rate = x * x
        try:
            return super().rate * x
        finally:
            Kept.rate = 2.0


PROGRAMS = {
    "property": lambda x: Last(x).p,
    "cached property": lambda x: Last(x).square,
    "cached twice": lambda x: Last(x).again(),
    "cached in both": lambda x: Last(x).both(),
    "methods": lambda x: Last(x).method(),
    "class method": lambda x: Last.of_class(x) * Last(x).of_class(x),
    "made": lambda x: Last.made(x).p,
    "descriptors": lambda x: Last(x).descriptors(),
    "others": lambda x: Last(x).others(),
    "asked": lambda x: Last(x).asked(),
    "set": lambda x: Last(x).set(),
    "getattr": lambda x: Guessing(x).cube * Guessing(x).square * Guessing(x).unknown,
    "class attribute": lambda x: Keeping().times(x),
}


@by_one_python_a_day
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("through_python", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_super_finds(name, through_python):
    program = PROGRAMS[name]

    def function(x):
        if through_python:
            try:
                return program(x)
            finally:
                len([])
        return program(x)

    value, (gradient,) = zyg.withgradient(function, 1.7)
    assert value == program(1.7)
    assert gradient == pytest.approx(differences.derivative(program, 1.7), rel=1e-7)


class Watched(type):
    """A metaclass whose instances, the classes, make their own instances in its way."""

    def __call__(cls, *args):
        made = super().__call__(*args)
        made.seen = cls.k
        return made


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_a_metaclass_that_makes_instances():
    def program(x):
        class Local(metaclass=Watched):
            k = x * 3

            def __init__(self, v):
                self.v = v

        made = Local(x)
        return made.v * made.seen

    assert zyg.withgradient(program, 2.0) == (12.0, (12.0,))


class Scaling:
    def __init__(self, w):
        self.w = w

    def scaled(self, y):
        return y * self.w


class Moved(Scaling):
    def scaled(self, y):
        self = Moved(self.w * self.w)
        return super().scaled(y)


class MovedInACell(Scaling):
    def scaled(self, y):
        if y > 0.0:
            self = Moved(self.w * self.w)
        held = lambda: self.w
        return super().scaled(y) + held()


@pytest.mark.parametrize("cls", [Moved, MovedInACell])
def test_super_where_self_was_assigned_to_is_refused(cls):
    """It was that of the object that was passed: wrong values."""
    f = lambda x: cls(x).scaled(x)
    for run in (lambda: zyg.jit(f)(0.7), lambda: python_pullback(f, (0.7,), {})):
        with pytest.raises(zyg.Unsupported, match="a method that assigns to its first parameter"):
            run()


class Weighted:
    def __init__(self, a, b=2.0, **more):
        self.a, self.b = a, b * more.get("k", 1.0)

    def total(self, *xs, by=1.0):
        return sum(xs) * by * self.a

    @classmethod
    def of(cls, *args, **more):
        return cls(*args, **more)


class Passing(Weighted):
    def __init__(self, *args, **more):
        super().__init__(*args, **more)

    def total(self, *xs, **more):
        return super().total(*xs, **more) + super().total(self.b, *xs, by=0.5)

    @classmethod
    def of(cls, *args, **more):
        return super().of(*args, **more)


class Outermost(Passing):
    def __init__(self, x, **more):
        super().__init__(x, x * x, **more)
        self.c = x

    def total(self, *xs, **more):
        by, args = {"by": self.c}, [self.a, *xs]
        return super().total(*args, **by) + super().total(*(1.0, 2.0), **more)


def test_arguments_behind_stars():
    def program(x):
        last = Outermost.of(x, k=x * 3.0)
        return last.total(x, 2.0 * x, by=x) * last.b + Weighted.total(last, *(y for y in (last.a, last.b)))

    for _ in range(2):
        value, back = python_pullback(program, (0.7,), {})
        assert value == program(0.7)
        assert back(1.0)[0] == pytest.approx(differences.derivative(program, 0.7), rel=1e-7)
    with pytest.raises(TypeError, match="multiple values"):
        python_pullback(lambda x: Outermost(x, k=x).total(x, **{"by": x}, **{"by": 2.0}), (0.7,), {})


class Halves:
    def items(self, x):
        yield 0.5 * x
        yield x * x


class Products(Halves):
    def items(self, x):
        for v in super().items(x):
            yield v * x

    def named_items(self, x):
        for v in super(Products, self).items(x):  # noqa: UP008
            yield v * x


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_generators():
    """0.5 x**2 + x**3"""
    assert zyg.gradient(lambda x: sum(Products().items(x)), 2.0) == (14.0,)
    assert zyg.jit(zyg.grad(lambda x: sum(Products().named_items(x))))(2.0) == 14.0
    with pytest.raises(zyg.Unsupported, match="name the class and the object"):
        zyg.jit(lambda x: sum(Products().items(x)))(2.0)
