"""Copies of arguments on which a function runs: they hang together as the arguments do, and looking at these runs none of their code."""

from __future__ import annotations

import contextlib
import functools
import threading

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.twins import holds_of, twins

pytestmark = [pytest.mark.filterwarnings("ignore::zyg.FallbackWarning"), each_in_turn]


class Buffer:
    def __init__(self):
        self.whole = np.zeros(3)
        self.view = self.whole[1:]


def of_view(x, s):
    with contextlib.suppress(KeyError):
        s.whole[1] = x * x
    return s.view[0] * x


def test_gradcheck_of_views():
    found = zyg.gradcheck(of_view, 2.0, Buffer())
    assert found and found.entries[0].derivative == 12.0


LAYOUTS = {
    "rows": lambda a: [a, a[1:], a[0]],
    "columns": lambda a: [a[:, 0], a[:, 1], a],
    "backwards": lambda a: [a[::-1], a, a[::2, ::-1]],
    "bytes": lambda a: [a, a.view(np.uint8)],
    "none of it": lambda a: [a[:0], a],
    "broadcast": lambda a: [np.broadcast_to(a[0], (3, 4)), a],
    "apart": lambda a: [a, a.copy()],
    "unaligned": lambda a: [np.frombuffer(bytearray(41), np.float64, 5, 1), a],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_arrays_that_share_memory(name):
    arrays = LAYOUTS[name](np.arange(12.0).reshape(3, 4))
    made = twins({"a": arrays, "again": arrays[0]})
    assert made["again"] is made["a"][0]
    for a, b in zip(arrays, made["a"]):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype and not np.may_share_memory(a, b)
        assert a.flags.c_contiguous == b.flags.c_contiguous
        for other, its in zip(arrays, made["a"]):
            assert np.shares_memory(a, other) == np.shares_memory(b, its)


class Slotted:
    __slots__ = ("__private", "k", "unset")

    def __init__(self, log):
        self.k = 3.0
        self.__private = np.ones(2)

    def private(self):
        return self.__private

    def __getattr__(self, name):
        raise AssertionError(name)

    @property
    def asked(self):
        raise AssertionError("asked")


class Wary:
    def __getattribute__(self, name):
        raise AssertionError(name)


class Untold(list):
    def __iter__(self):
        raise AssertionError("iterated")


def test_nothing_of_the_program_is_asked():
    value = Slotted([])
    a = np.ones(2)
    assert not holds_of(functools.partial(lambda s, x: x, value), (a,))
    assert holds_of(functools.partial(lambda s, x: x, value), (value.private(),))
    assert not holds_of(lambda: (Wary, value), ([Wary()], Untold([1])))
    assert holds_of(functools.partial(max, Untold([a])), (a,))


class Config:
    def __init__(self):
        self.lock = threading.Lock()
        self.k = 3.0
        self.array = np.ones(2)


def locked(x, c):
    with c.lock:
        return x * c.k


def unlocked(x, c):
    return x * c.k * c.array.sum()


def test_what_cannot_be_copied():
    config = Config()
    assert zyg.pushforward(locked, 2.0, config)[0] == 6.0
    assert zyg.pushforward(locked, 2.0, config)[1](1.0, None) == 3.0
    y, push = zyg.pushforward(unlocked, 2.0, config)
    config.k = 5.0
    config.array[:] = 7.0
    assert (y, push(1.0, None)) == (12.0, 6.0)
    made = twins(config)
    assert made.lock is config.lock and made.array is not config.array
    generator = (k for k in range(3))
    y, push = zyg.pushforward(lambda x, g: x * next(g) + x * next(g) * 2.0, 2.0, generator)
    assert (y, push(1.0, None), next(generator)) == (4.0, 2.0, 2)


def test_what_is_zygs_own():
    compiled, gradient = zyg.jit(lambda x: x * 2.0), zyg.gradient(lambda c: c.k * c.array.sum(), Config())[0]
    _, back = zyg.pullback(lambda x: x * x, 3.0)
    made = twins([compiled, gradient, back])
    assert made[0] is compiled and made[2] is back
    assert made[1].k == gradient.k and made[1].array is not gradient.array


def test_functions_by_what_they_have_captured():
    own, number = np.ones(2), 2.0

    def inner(x):
        return x * own[0] * number

    def outer(x, d=[own]):  # noqa: B006
        return inner(x) + d[0][0]

    f, a = twins((outer, own), functions=True)
    own[0], number = 5.0, 6.0
    assert f(1.0) == 3.0 and outer(1.0) == 35.0
    a[0] = 7.0
    assert f(1.0) == 7.0 * 2.0 + 7.0
    assert twins(outer) is outer
