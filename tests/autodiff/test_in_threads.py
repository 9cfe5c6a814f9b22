"""Derivatives through Python that are made in several threads at the same time."""

from __future__ import annotations

import sys
import threading

import pytest

from tests.turns import each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


def classes_made_anew(x):
    total = 0.0
    for _ in range(3):

        class A:
            def __init__(self, v):
                self.v = v

        total += A(x).v * A(x * x).v
    return total


def closures_and_containers(x):
    d, gone = {"a": x, "b": 2 * x}, []

    def step(y):
        gone.append(y * x)
        return gone[-1] * d["a"]

    for _ in range(3):
        d["b"] = step(d["b"])
    return d["b"] + sum(gone)


def generators_and_instances(x):
    def items(y):
        for k in range(3):
            yield y * k

    class Scaled:
        by = 1.0

        def __init__(self, a):
            self.a = a

        def __call__(self, z):
            Scaled.by = self.a
            return self.a * z + Scaled.by

    f = Scaled(x)
    return sum(f(v) for v in items(x)) + max(map(f, [x, 2 * x]))


@pytest.fixture
def restless():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_several_threads_make_pullbacks(restless):
    functions = (classes_made_anew, closures_and_containers, generators_and_instances)

    def result(f):
        value, back = pullback(f, (0.7,))
        return value, back(1.0)

    wanted = [result(f) for f in functions]
    troubles = []

    def work(first):
        for k in range(first, first + 200):
            try:
                found = result(functions[k % 3])
                if found != wanted[k % 3]:
                    troubles.append(found)
            except BaseException as error:
                troubles.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not troubles
