"""`with` looks both methods of a manager up in its class before it calls one, and what looking them up changes is in the derivatives."""

import pytest

import zyg
from tests.autodiff.against_differences import check, check_second

LOG: list[str] = []


class Doubling:
    """A descriptor."""

    def __init__(self, name):
        self.name = name

    def __get__(self, manager, owner):
        LOG.append(f"look {self.name}")
        manager.x = manager.x * 2.0

        def method(*exception):
            LOG.append(self.name)
            manager.x = manager.x * 1.5
            return manager.x if self.name == "enter" else None

        return method


class Manager:
    def __init__(self, x):
        self.x = x


class ByProperties(Manager):
    @property
    def __enter__(self):
        LOG.append("look enter")
        self.x = self.x * self.x
        return lambda: self.x

    @property
    def __exit__(self):
        LOG.append("look exit")
        self.x = self.x * 3.0
        return lambda *exception: LOG.append("exit")


class ByOne(Manager):
    def __enter__(self):
        LOG.append("enter")
        return self.x

    @property
    def __exit__(self):
        LOG.append("look exit")
        self.x = self.x * 2.0
        x = self.x

        def leave(*exception):
            self.x = self.x * x
            return True

        return leave


class ByOther(Manager):
    @property
    def __enter__(self):
        self.x = self.x * 2.0
        LOG.append("look enter")
        return lambda: self.x

    def __exit__(self, *exception):
        LOG.append("exit")
        self.x = self.x * 1.5
        return True


class ByDescriptors(Manager):
    __enter__ = Doubling("enter")
    __exit__ = Doubling("exit")


class Failing(Manager):
    def __enter__(self):
        raise AssertionError

    @property
    def __exit__(self):
        self.x = self.x * 2.0
        raise ValueError(self.x)


class Derived(float):
    def __enter__(self):
        return self * 2.0

    def __exit__(self, *exception):
        pass


def entered(cls):
    def f(x):
        m = cls(x)
        with m as v:
            t = v * m.x
        return t * m.x

    return f


def left_by_an_exception(x):
    m = ByOne(x)
    t = 1.0
    with m as v:
        t = v * x
        raise ValueError(x)
    return t * m.x


def failed(x):
    m = Failing(x)
    try:
        with m:
            pass
    except ValueError as error:
        return error.args[0] * m.x


def a_value(x):
    with Derived(x) as v:
        return v * x


PROGRAMS = [*map(entered, (ByProperties, ByOne, ByOther, ByDescriptors)), left_by_an_exception, failed, a_value]


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("f", PROGRAMS, ids=["properties", "one", "other", "descriptors", "left", "failed", "value"])
def test_managers_are_entered_as_cpython_enters_them(f):
    LOG.clear()
    value = f(0.7)
    log = list(LOG)
    LOG.clear()
    assert zyg.withgradient(f, 0.7)[0] == value
    assert log == LOG
    check(f)
    check_second(f)
