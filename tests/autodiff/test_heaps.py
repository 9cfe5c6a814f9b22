"""heapq through the Python back end, against the items that CPython's own functions give."""

from __future__ import annotations

import heapq
import random
from typing import Any

import pytest

from tests.oracles.linear import check
from tests.turns import each_in_turn
from zyg.fallback import python_pullback


def run(xs: Any, script: Any, made: Any, number: Any) -> Any:
    heap: Any = []
    total = 0.0
    k = 0
    for what, weight in script:
        if what == "push":
            heapq.heappush(heap, made(xs[k], k))
            k += 1
        elif what == "pop":
            total += weight * number(heapq.heappop(heap))
        elif what == "replace":
            total += weight * number(heapq.heapreplace(heap, made(xs[k], k)))
            k += 1
        elif what == "pushpop":
            total += weight * number(heapq.heappushpop(heap, made(xs[k], k)))
            k += 1
        elif what == "look":
            total += weight * number(heap[0]) + 0.5 * weight * number(heap[-1])
        else:
            heap[-1] = made(xs[k], k)
            heapq.heapify(heap)
            k += 1
    for item in heap:
        total += number(item)
    return total


def script_of(random: random.Random, length: int) -> tuple[list[tuple[str, float]], int]:
    script: list[tuple[str, float]] = []
    size = taken = 0
    for _ in range(length):
        what = random.choice(["push", "push", "push", "pop", "pop", "replace", "pushpop", "look", "set"])
        if not size and what in ("pop", "replace", "look", "set"):
            what = "push"
        size += {"push": 1, "pop": -1}.get(what, 0)
        taken += what in ("push", "replace", "pushpop", "set")
        script.append((what, random.choice([1.0, -0.5, 2.0])))
    return script, taken


MAKERS: dict[str, Any] = {
    "numbers": (lambda x, k: x, lambda item: item),
    "tuples": (lambda x, k: (x, k), lambda item: item[0]),
    "rounded first": (lambda x, k: (k % 3, x), lambda item: item[1]),
    "behind text": (lambda x, k: (str(k % 2), x, [k]), lambda item: item[1]),  # the lists may be compared
}


@each_in_turn
@pytest.mark.parametrize("kind", MAKERS)
def test_heaps(kind: str):
    made, number = MAKERS[kind]
    drawn = random.Random(kind)
    for _ in range(25):
        script, count = script_of(drawn, drawn.randrange(2, 60))
        # Some of them are equal.
        xs = [float(drawn.randrange(8)) if kind != "numbers" else drawn.random() for _ in range(count)]
        check(lambda numbers, script=script: run(numbers, script, made, number), xs)


class Job:
    def __init__(self, cost: Any):
        self.cost = cost
        self.asked = 0.0

    def __lt__(self, other: Any) -> bool:
        self.asked += self.cost
        return self.cost < other.cost


def test_comparisons_that_do_something():
    def f(a: float, b: float, c: float) -> float:
        jobs = [Job(a), Job(b), Job(c)]
        heap: list[Any] = []
        for job in jobs:
            heapq.heappush(heap, job)
        first = heapq.heappop(heap)
        return first.cost + sum(job.asked for job in jobs)

    h = 1e-6
    expected = []
    for k in range(3):
        up, down = [3.0, 1.0, 2.0], [3.0, 1.0, 2.0]
        up[k] += h
        down[k] -= h
        expected.append((f(*up) - f(*down)) / (2 * h))
    _, back = python_pullback(f, (3.0, 1.0, 2.0), {})
    assert [c or 0.0 for c in back(1.0)] == pytest.approx(expected, abs=1e-6)
