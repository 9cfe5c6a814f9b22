"""Programs through Python that go by CPython's protocols in less usual ways: length hints, the old protocol of iteration, keys,
modules and descriptors that run code, items that subclasses of containers say, integers that objects stand for."""

from __future__ import annotations

import collections
import copy
import enum
import io
import itertools
import math
import types
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.turns import by_one_python_a_day
from zyg.autodiff.objects.api import pullback


class Hinted:
    """An iterator that is asked how many items there will be."""

    def __init__(self, x):
        self.x, self.asked, self.left = x, 0.0, 3

    def __length_hint__(self):
        self.asked += self.x * self.x
        return self.left

    def __iter__(self):
        return self

    def __next__(self):
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return self.x * self.left


class Sized:
    def __init__(self, x):
        self.x, self.asked = x, 0.0

    def __len__(self):
        self.asked += 3 * self.x**2
        return 2

    def __iter__(self):
        yield self.x
        yield 2 * self.x


def of(make, use):
    def program(x):
        m = make(x)
        return use(m) + m.asked

    return program


def _filled(q, m):
    q[0:1] = m
    return sum(q)


def _extended(q, m):
    q.extend(m)
    return sum(q)


_LISTING = {
    "list": lambda m: sum(list(m)),
    "star": lambda m: sum([*m]),
    "tuple": lambda m: sum(tuple(m)),
    "sorted": lambda m: sorted(m)[1],
    "call": lambda m: (lambda *a: sum(a))(*m),
    "extend": lambda m: _extended([], m),
    "slice": lambda m: _filled([1.0], m),
    "sum": lambda m: sum(m),
    "fromiter": lambda m: np.fromiter(m, float).sum(),
    "loop": lambda m: sum([v * v for v in m]),
}


class Old:
    """Items until IndexError."""

    def __init__(self, x, seen):
        self.x, self.seen = x, seen

    def __getitem__(self, i):
        self.seen.append(self.x * i)
        if i > 3:
            raise IndexError
        return i * self.x


def old(x, seen) -> Any:
    return Old(x, seen)


def old_list(x):
    seen = []
    return sum(list(old(x, seen))) * x + sum(seen)


def old_loops(x):
    seen = []
    total = max(old(x, seen))
    for v in old(x, seen):
        total += v * x
    first, second, *rest = old(x, seen)
    return total + first * second + sum(rest) + sum(seen)


def counter_of_objects(x):
    class Key:
        def __init__(self, n, v):
            self.n, self.v = n, v

        def __eq__(self, other):
            return self.n == other.n

        def __hash__(self):
            return hash(self.n)

    counted = collections.Counter([Key(1, x), Key(1, 2.0), Key(2, x * x)])
    return sum(k.v * n for k, n in counted.items())


def kept_by_contains(x):
    class Cache:
        def __init__(self):
            self.cost, self.held = x, {3: x * x}

        def __contains__(self, k):
            self.cost += 0.1 * k * x
            return k in self.held

        def __lt__(self, k):
            self.cost *= k
            return True

    c = Cache()
    found = c.held[3] if 3 in c else 0.0
    return (found if c < 2 else 0.0) * c.cost


module = types.ModuleType("module")
exec(
    """
def __getattr__(name):
    if name != "twice":
        raise AttributeError(name)
    store[0] += scale
    return scale * len(name)
""",
    module.__dict__,
)


def module_attribute(x):
    vars(module).update(scale=x * x, store=[0.0])
    return module.twice * module.store[0]


def enumeration_of_constants(x):
    class E(enum.Enum):
        A = 1
        B = 2

        @property
        def scaled(self):
            return self.value * x

    return E.A.scaled + E.B.scaled * x


def by_index(x):
    seen = []

    class N:
        def __index__(self):
            seen.append(x**3)
            return 1

    a: Any = N()
    queue = collections.deque([1.0, x, 3.0])
    queue.rotate(a)
    made = [x, 2.0] * a + list(itertools.islice([1.0, x], a)) + list(itertools.repeat(x, a))
    return sum(made) * queue[0] + sum(seen) + sum(y * z for y, z in zip(queue, made))


class Clamped:
    def __set_name__(self, owner, name):
        self.place = "_" + name

    def __get__(self, item, owner=None):
        return math.tanh(getattr(item, self.place))

    def __set__(self, item, value):
        setattr(item, self.place, value * item.gain)

    def __delete__(self, item):
        item.gain *= 3.0


class Watched:
    level = Clamped()

    def __init__(self, z, gain):
        self.gain = gain
        self.level = z

    @property
    def area(self):
        return self.gain * self.gain

    @area.setter
    def area(self, v):
        self.gain = v * v

    def __setattr__(self, name, value):
        super().__setattr__(name, value)

    def __getattribute__(self, name):
        return super().__getattribute__(name)

    def __delattr__(self, name):
        super().__delattr__(name)


def descriptors_by_object(x):
    w = Watched(1.0, x)
    w.level += x
    w.area = x * 1.5
    object.__setattr__(w, "level", w.level * x)
    object.__setattr__(w, "extra", x)
    del w.level
    object.__delattr__(w, "extra")
    return w.level * w.area + object.__getattribute__(w, "area") * hasattr(w, "extra") + w._level


class Doubled(list):
    def __iter__(self):
        return (2 * v for v in list.__iter__(self))


def own_items(x):
    a = np.zeros(2)
    a[:] = Doubled([x, 2.0])
    return np.sum(a * Doubled([1.0, x])) + (np.ones(2) + Doubled([x, x])).sum()


class Reversed(tuple):
    def __iter__(self):
        return iter([0.0])


def reversed_tuple(x):
    return next(iter(reversed(Reversed((1.0, x)))))


class Dotted(dict):
    """Attributes are items, by methods of another class."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


def attributes_that_are_items(x):
    d = Dotted(a=x)
    d.b = x * 0.3
    setattr(d, "c", x * x)  # noqa: B010
    d.a = d.b * d.c
    v = d.b + d.a
    del d.b
    d["b"] = v * x
    delattr(d, "c")
    return d.b * d.a + len(d)


PROGRAMS = {
    **{f"hint of {name}": of(Hinted, use) for name, use in _LISTING.items()},
    **{f"length of {name}": of(Sized, use) for name, use in _LISTING.items()},
    **{
        f.__name__: f
        for f in (
            old_list, old_loops, counter_of_objects, kept_by_contains, module_attribute, enumeration_of_constants, by_index,
            descriptors_by_object, own_items, reversed_tuple, attributes_that_are_items,
        )
    },
}  # fmt: skip


@by_one_python_a_day
@pytest.mark.parametrize("name", PROGRAMS)
def test_protocol(name):
    program = PROGRAMS[name]
    value, back = pullback(program, (1.3,))
    assert value == program(1.3)
    assert back(1.0)[0] == pytest.approx(differences.derivative(program, 1.3), rel=1e-6)


class Told:
    """As a key, it changes something one call away."""

    def __init__(self, x):
        self.t = x

    def tell(self):
        self.t = self.t * self.t
        return True

    def __eq__(self, other):
        return self.tell()

    def __hash__(self):
        return 7


def key_one_call_away(x):
    a, b = Told(x), Told(x)
    d = {a: 1}
    d[b] = 2
    return a.t + b.t


def finaliser(x):
    r = []

    class Ending:
        def __del__(self):
            r.append(x * 3)

    e = Ending()
    del e
    return sum(r) + x


def finaliser_of_what_is_initialised(x):
    r = []

    class Ended:
        def __init__(self, by):
            self.by = by

        def __del__(self):
            r.append(x * self.by)

    e = Ended(3.0)
    del e
    return sum(r) + x


def weak_callback(x):
    r = []
    a = Told(x)
    weakref.finalize(a, lambda: r.append(x * 3))
    del a
    return sum(r) + x


def array_of_own_items(x):
    return np.stack([Doubled([x, 2.0]), [1.0, 2.0]]).sum()


def copy_of_own_items(x):
    return sum(copy.copy(Doubled([x, 2.0])))


def keys_from(x):
    return sum(dict.fromkeys([x, x * 2]))


def distance_of_objects(x):
    class F:
        def __float__(self):
            return x

    return math.dist([F()], [1.0])


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (key_one_call_away, "whose `__eq__` changes something"),
        (finaliser, "an object with a finaliser, Ending.__del__"),
        (finaliser_of_what_is_initialised, "an object with a finaliser, Ended.__del__"),
        (weak_callback, "a callback of finalize"),
        (array_of_own_items, "numpy.stack"),
        (copy_of_own_items, "whose __iter__ says how it is copied"),
        (keys_from, "a derivative by a key of a dict"),
        (distance_of_objects, "math.dist of objects"),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_refused_with_its_place(program, message):
    with pytest.raises(zyg.Unsupported, match=message) as refused:
        _, back = pullback(program, (1.3,))
        back(1.0)
    assert program.__name__ in str(refused.value)


def test_finalisers_that_calculate_only():
    class Plain:
        def __init__(self, x):
            self.x = x

        def __del__(self):
            self.closed = True

    f = lambda x: Plain(x).x * x
    assert pullback(f, (3.0,))[1](1.0) == (6.0,)


def test_methods_of_c_code_are_those_of_their_object():
    """What a place remembers of a class is not of the first object that came there."""

    def popped(x, owner):
        try:
            return x * float(owner.pop())
        except KeyError:
            return x

    def read(x, file):
        try:
            return x * float(file.readline())
        except ValueError:
            return x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        assert [zyg.gradient(popped, 1.0, s)[0] for s in ({2}, {4})] == [2.0, 4.0]
        assert [zyg.gradient(read, 1.0, io.StringIO(s))[0] for s in ("5\n", "7\n")] == [5.0, 7.0]


def test_a_callable_is_not_asked_for_attributes():
    """As in CPython, where a call looks on the class alone."""

    class Asked:
        def __init__(self, state):
            self.__dict__["state"] = state

        def __getattr__(self, name):
            self.state[0] = self.state[0] + self.state[1]
            return self.state[1]

        def __call__(self, a):
            return a * a

    def f(x):
        state = [0.0, x]
        asked = Asked(state)
        seen = asked.something
        return asked(x) + state[0] + 0.0 * seen

    value, back = pullback(f, (0.7,))
    assert (value, back(1.0)[0]) == (f(0.7), 2.4)
