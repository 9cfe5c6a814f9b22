"""Python code that C code calls: what is refused, and what traps are like while they are set.

(Programs that are differentiated are in reentry_examples.py.)"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import gc
import threading
import types
import weakref

import numpy as np
import pytest

import zyg
from tests.autodiff.reentry_examples import iterators_that_c_code_goes_through
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects import reach, reentry
from zyg.autodiff.objects.api import pullback


def changing_hash(x):
    s = []

    class A:
        def __hash__(self):
            s.append(x)
            return 1

    with contextlib.suppress(KeyError, TypeError):  # a refusal is not for these
        {A(): 1}
    return sum(s) * x


def changing_eq_in_a_tuple(x):
    s = []

    class A:
        def __eq__(self, other):
            s.append(x)
            return True

        def __hash__(self):
            return 7

    d = {}
    d[1, A()] = x
    return sum(s) + d.popitem()[1]


def enumeration(x):
    class E(enum.Enum):
        A = x

    return E.A.value * x


def part_of_a_slice(x):
    return slice(x, 1).start * x


def key_of_pairs(x):
    return min(dict(zip([x], [1]))) * x


def records(x):
    return np.rec.array([(x, 1.0)])[0][0] * x


def operand_that_is_kept(x):
    s = []

    class A:
        def __contains__(self, other):
            s.append(other)
            return True

    return s[0] * x if 2.0 * x in A() else 0.0


def argument_of_a_callback(x):
    s = []
    np.frompyfunc(lambda t: s.append(t) or 0.0, 1, 1)(np.array([x, 1.0]))
    return s[0] + s[1]


def value_of_a_callback(x):
    return np.frompyfunc(lambda t: t * x, 1, 1)(np.ones(2)).sum()


@pytest.mark.parametrize(
    ("program", "match"),
    [
        (changing_hash, "a key of a dict or set whose `__hash__` changes something"),
        (changing_eq_in_a_tuple, "whose `__eq__` changes something"),
        (enumeration, "the class E, which is made by a metaclass"),
        (part_of_a_slice, "a part of a slice"),
        (key_of_pairs, "a key of a dict"),
        (records, "numpy.rec.array"),
        (operand_that_is_kept, "an operand of `in`"),
        (argument_of_a_callback, "passes to Python code"),
        (value_of_a_callback, "makes of Python code that it calls"),
    ],
)
def test_refused(program, match):
    with pytest.raises(zyg.Unsupported, match=match) as refused:
        pullback(program, (0.7,))[1](1.0)
    assert refused.value.position is not None and refused.value.hint


def test_constants_are_not_refused():
    class E(enum.Enum):
        A = 2.0

    def program(x):
        class F(enum.Enum):
            B = 3.0

        return x * E.A.value * F.B.value * slice(2, 3).stop

    assert pullback(program, (0.7,))[1](1.0) == (18.0,)


class Own(np.ndarray):
    def __mul__(self, other):
        return float(np.asarray(self).sum())


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("kind", ["matrix", "masked", "own"])
def test_subclasses_of_arrays(kind):
    x = {
        "matrix": lambda: np.matrix([[1.0, 2.0], [3.0, 4.0]]),
        "masked": lambda: np.ma.array([1.0, 2.0], mask=[0, 1]),
        "own": lambda: np.ones(3).view(Own),
    }[kind]()

    def program(x, y):
        return np.sum(x * x) * y

    value, back = pullback(program, (x, 2.0))
    assert value == program(x, 2.0)
    with pytest.raises(zyg.Unsupported):
        back(1.0)


def test_a_mapping_that_is_shown():
    x = types.MappingProxyType({"a": 1.5, "b": 2.0})
    assert pullback(lambda d: d["a"] * d["a"], (x,))[1](1.0)[0] == {"a": 3.0, "b": None}


# --------------------------------------------------------------------------------------------------------------- traps


def test_functions_are_as_they_were():
    def f(v, /, w=2.0, *, k=1.0):
        return v * w * k

    code, defaults = f.__code__, f.__defaults__
    seen = []

    def program(x):
        def g(v):
            seen.append((f.__code__ is code, g.__code__.co_name))
            return f(v) * x

        sum(np.vectorize(g)(np.ones(2)))
        np.vectorize(f)(np.ones(2))
        return x

    pullback(program, (0.7,))
    assert seen and all(same and name == "g" for same, name in seen)
    assert f.__code__ is code and f.__defaults__ is defaults and not reentry._traps


def test_an_exception_that_leaves_c_code():
    class A:
        def __lt__(self, other):
            raise KeyError("a")

    code = A.__lt__.__code__
    with pytest.raises(KeyError):
        pullback(lambda x: sorted([A(), A()]) and x, (0.7,))
    assert A.__lt__.__code__ is code and not reentry._traps and reentry._running.run is None


def test_another_thread_runs_the_function_itself():
    """Its calls are no part of the pullback, and it may differentiate the function meanwhile."""
    inside, done = threading.Event(), threading.Event()
    results = []

    class A:
        def __init__(self, v):
            self.v = v

        def __eq__(self, other):
            if not inside.is_set():
                inside.set()
                done.wait(20)
            log.append(self.v)
            return self.v == other.v

    log = []
    first = [A(1.0)]

    def elsewhere():
        inside.wait(20)
        results.append(A(1.0) == A(1.0))
        results.append(pullback(lambda x: (A(x) == A(2.0), log[-1] * x)[1], (3.0,))[1](1.0))
        done.set()

    thread = threading.Thread(target=elsewhere)
    thread.start()
    # The C code waits for the other thread in an item of its own: the traps of the second are set all along.
    _, back = pullback(
        lambda x: ([*first, A(x)].index(A(2.0 * x)) if 0 else first.count(A(1.0)), log[-1] * x)[1], (0.7,)
    )
    thread.join(20)
    assert results == [True, (6.0,)]
    assert back(1.0) == (1.0,)
    assert not reentry._traps


def test_coroutines_are_left_alone():
    class A:
        async def run(self):
            return 1

        def __repr__(self):
            return "A"

    code = A.run.__code__
    assert pullback(lambda x: (print(A(), A.run.__code__ is code), x)[1], (0.7,))[1](1.0) == (1.0,)
    assert asyncio.run(A().run()) == 1


@each_in_turn
def test_nothing_is_kept():
    gone = []

    def program(x):
        class A:
            def __init__(self):
                self.v = None

            def __lt__(self, other):
                self.v = x
                return False

        a = A()
        gone.append(weakref.ref(A))
        return max(a, A()).v or a.v or x

    for _ in range(3):
        pullback(program, (0.7,))
    gc.collect()
    assert not any(r() for r in gone)


def test_plain_operands_cost_nothing():
    assert not reach.entered([1.0, "a", [1, 2.0], {"a": (1, 2)}, np.ones(3), {1, 2}, None])


class Counts:
    """Its special methods calculate with what it holds, and change it."""

    def __init__(self, v):
        self.v, self.seen = v, 0.0

    def __lt__(self, other):
        self.seen = other.v * self.v
        return self.v < other.v


def second_of_loops(x):
    a, r = Counts(x), 0.0
    while not (a < Counts(0.5)) and r < 5:
        r = r * a.seen + x
        a.v *= 0.7
    return r


def length_of_a_local_class(x):
    y = x
    for _ in range(2):

        class Stack:
            def __init__(self):
                self.items = [x]

            def __len__(self):
                return len(self.items) + 1

        y = len(Stack()) * y * y
    return y


@each_in_long_turn
@each_in_turn
@pytest.mark.parametrize(
    "f",
    [second_of_loops, iterators_that_c_code_goes_through, length_of_a_local_class],
    ids=["loops", "iterators", "length"],
)
def test_second_derivatives(f):
    outer = lambda x: pullback(f, (x,))[1](1.0)[0]
    value, back = pullback(outer, (0.9,))
    assert value == pytest.approx(differences.derivative(f, 0.9), rel=1e-6)
    assert back(1.0)[0] == pytest.approx(differences.derivative(outer, 0.9), rel=1e-5)


class Stores(list):
    def __contains__(self, item):
        self[0] = item
        return True

    def __eq__(self, other):
        self.append(1.0 * self[0])
        return True


class Long(list):
    def __len__(self):
        return 100


class Divides:
    def __init__(self, v):
        self.v = v

    def __rdivmod__(self, other):
        return self.v / other, self.v - other

    def __pow__(self, other, modulus=None):
        return self.v * (modulus or 17)


def compared(x):
    items = Stores([x, 2.0])
    return (items == 3) * sum(items)


def divided(x):
    quotient, rest = divmod(5, Divides(x))
    return quotient + rest * rest


def to_a_modulus(x):
    return pow(Divides(x), 2, 3) * x


@pytest.mark.parametrize("f", [compared, divided, to_a_modulus])
def test_methods_of_containers_and_of_several_operands(f):
    value, back = pullback(f, (1.3,))
    assert value == f(1.3)
    assert back(1.0) == (pytest.approx(differences.derivative(f, 1.3), rel=1e-7),)


def kept(x):
    items = Stores([x, 2.0])
    return (2 * x in items) * items[0]


def longer(x):
    items = Long()
    items.append(x)
    return items[0] * len(items)


@pytest.mark.parametrize("f, what", [(kept, "which a special method has kept"), (longer, "a `__len__` of its own")])
def test_containers_with_ways_of_their_own_are_refused(f, what):
    with pytest.raises(zyg.Unsupported, match=what) as error:
        pullback(f, (1.3,))[1](1.0)
    assert error.value.position is not None
