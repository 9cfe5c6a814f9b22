"""`in` goes through objects whose class has no `__contains__`: by their `__iter__`, or by their `__getitem__` until IndexError."""

import pytest

import zyg
from tests.autodiff.against_differences import check, check_second

LOG: list[str] = []


class Held:
    def __init__(self, x):
        self.x = x


class Indexed(Held):
    def __getitem__(self, k):
        LOG.append(f"get {k}")
        if k > 2:
            raise IndexError
        self.x = self.x * 1.5
        return self.x


class Generating(Held):
    def __iter__(self):
        try:
            yield self.x
            self.x = self.x * 2.0
            yield 5.0
        finally:
            LOG.append("closed")
            self.x = self.x * 1.5


class Stepped(Held):
    left = 2

    def __iter__(self):
        LOG.append("iter")
        return self

    def __next__(self):
        LOG.append("next")
        if not self.left:
            raise StopIteration
        self.left -= 1
        self.x = self.x * 2.0
        return self.x


class Equal(Held):
    def __eq__(self, other):
        LOG.append("eq")
        self.x = self.x * 1.5
        return other == 5.0

    __hash__ = None


def among(cls, item):
    def f(x):
        o = cls(x)
        return (item in o) * o.x * x + (o.x in o) * x + o.x * x * x

    return f


def of_a_local_class(x):
    class Items:
        def __iter__(self):
            return iter([x, 1.0])

    return (1.0 in Items()) * x * x


def compared(x):
    class Items:
        def __iter__(self):
            return iter([Equal(x), kept])

    kept = Equal(x * x)
    return ((5.0 in Items()) + (2.0 in Items()) + (kept in Items())) * kept.x


PROGRAMS = [among(cls, item) for cls in (Indexed, Generating, Stepped) for item in (5.0, 5, "a")]


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("f", [*PROGRAMS, of_a_local_class, compared])
def test_what_is_looked_for_among_items(f):
    LOG.clear()
    value = f(0.7)
    log = list(LOG)
    LOG.clear()
    assert zyg.withgradient(f, 0.7)[0] == value
    assert log == LOG
    check(f, times=2)
    check_second(f)
    assert zyg.hvp(f, 0.7, 1.0) == pytest.approx(zyg.grad(zyg.grad(f))(0.7))


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_what_refuses_to_be_looked_through():
    class Refusing(Indexed):
        __contains__ = None

    with pytest.raises(TypeError, match=r"is not a container|not iterable"):
        zyg.gradient(lambda x: (5.0 in Refusing(x)) * x, 0.7)
