"""What goes through generators a step of each at a time, or through one after the other: `zip`, `enumerate`, `map`, `chain`, `islice`. Each
step of these generators changes what the consumer reads and changes as well, so that all has to be undone in its order: also
where one of them ends, or fails, when others have given their items, where loops are left, and where they are asked again."""

# ruff: noqa: C417
from __future__ import annotations

import itertools
import operator
from typing import Any

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn


def rising(s, x, number=4):
    """Each step changes `s`, the last one too."""
    for k in range(number):
        s[0] *= 1.0 + 0.1 * x
        yield x * (k + 1.0) + 0.2 * s[0]
    s[0] *= 1.0 + 0.3 * x


def failing(s, x, number=3):
    """The same, and an exception behind the last item."""
    for k in range(number):
        s[0] += 0.1 * x
        yield s[0] * (k + 2.0)
    s[0] *= 1.0 + 0.2 * x
    raise ValueError(number)


def closing(s, x):
    """It changes something when it is closed, too."""
    try:
        yield s[0]
        s[0] *= x
        yield x * s[0]
    finally:
        s[0] *= 1.0 + 0.4 * x


class Steps:
    """The same as `rising` by a class, which gives more where it is asked again at its end."""

    def __init__(self, s, x, number=3):
        self.s, self.x, self.number, self.k = s, x, number, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.k += 1
        self.s[0] *= 1.0 + 0.1 * self.x
        if self.k % (self.number + 1) == 0:
            raise StopIteration
        return self.x * self.k + self.s[0]


def flat(item: Any) -> Any:
    if isinstance(item, tuple):
        return sum((flat(v) * (1.0 + 0.5 * k) for k, v in enumerate(item)), 0.0)
    return item


def rows(s, x):
    for k in range(3):
        s[0] *= 1.0 + 0.1 * x
        yield rising(s, x, k)
    s[0] *= 1.0 + 0.1 * x


MAKERS = {
    "zip": lambda s, x: zip(rising(s, x, 3), rising(s, x, 3)),
    "zip, the second ends": lambda s, x: zip(rising(s, x, 4), rising(s, x, 2)),
    "zip, the first ends": lambda s, x: zip(rising(s, x, 2), rising(s, x, 4), [1.0, x, 3.0]),
    "zip, a list ends": lambda s, x: zip(rising(s, x, 3), [x, 2.0]),
    "zip, the second fails": lambda s, x: zip(rising(s, x, 5), failing(s, x, 2), rising(s, x, 5)),
    "zip, the first fails": lambda s, x: zip(failing(s, x, 2), rising(s, x, 5)),
    "zip with objects": lambda s, x: zip(rising(s, x, 5), Steps(s, x, 2)),
    "zip with objects first": lambda s, x: zip(Steps(s, x, 2), rising(s, x, 2)),
    "zip of one length": lambda s, x: zip(rising(s, x, 3), rising(s, x, 3), strict=True),
    "zip not of one length": lambda s, x: zip(rising(s, x, 3), rising(s, x, 2), strict=True),
    "zip of one": lambda s, x: zip(rising(s, x, 3)),
    "zip with itself": lambda s, x: zip(*[rising(s, x, 5)] * 2),
    "enumerate": lambda s, x: enumerate(rising(s, x, 3), 1),
    "enumerate, failing": lambda s, x: enumerate(failing(s, x, 2)),
    "enumerate zip, failing": lambda s, x: enumerate(zip(rising(s, x, 4), failing(s, x, 2))),
    "enumerate objects": lambda s, x: enumerate(Steps(s, x, 2)),
    "map": lambda s, x: map(lambda v: v * s[0], rising(s, x, 3)),
    "map, failing": lambda s, x: map(lambda v: v * s[0], failing(s, x, 2)),
    "map, whose function fails": lambda s, x: map(lambda v: v * s[0] if v < 3.0 * x else [][0], rising(s, x, 4)),
    "map of two": lambda s, x: map(lambda u, v: u * v + s[0], rising(s, x, 4), rising(s, x, 2)),
    "map of two, failing": lambda s, x: map(lambda u, v: u * v + s[0], rising(s, x, 4), failing(s, x, 2)),
    "map of two, whose function fails": lambda s, x: map(
        lambda u, v: u * v if u < 3.0 * x else [][0], rising(s, x, 4), rising(s, x, 4)
    ),
    "map of an operator": lambda s, x: map(operator.mul, rising(s, x, 3), [x, 2.0, x]),
    "map next": lambda s, x: map(next, [rising(s, x, 1), rising(s, x, 0), rising(s, x, 1)]),
    "map zip": lambda s, x: map(lambda p: p[0] * p[1] * s[0], zip(rising(s, x, 3), rising(s, x, 2))),
    "chain": lambda s, x: itertools.chain(rising(s, x, 2), (v * s[0] for v in rising(s, x, 2))),
    "chain of empty ones": lambda s, x: itertools.chain(rising(s, x, 0), rising(s, x, 0), rising(s, x, 1), rising(s, x, 0)),
    "chain, failing": lambda s, x: itertools.chain(rising(s, x, 1), failing(s, x, 1), rising(s, x, 1)),
    "chain, failing at once": lambda s, x: itertools.chain(rising(s, x, 1), failing(s, x, 0), rising(s, x, 1)),
    "chain with objects": lambda s, x: itertools.chain(Steps(s, x, 1), [x], rising(s, x, 1)),
    "chain of rows": lambda s, x: itertools.chain.from_iterable(rows(s, x)),
    "chain of failing rows": lambda s, x: itertools.chain.from_iterable(failing(s, x, k) for k in (1, 2)),
    "chain, a row fails": lambda s, x: itertools.chain.from_iterable(map(lambda k: [x * s[0]] * k, failing(s, 2, 0))),
    "chain, no row": lambda s, x: itertools.chain.from_iterable(v for v in ([x], x, [x])),
    "zip chain": lambda s, x: zip(itertools.chain(rising(s, x, 1), rising(s, x, 2)), rising(s, x, 3)),
    "zip chain of rows": lambda s, x: zip(rising(s, x, 3), itertools.chain.from_iterable(rows(s, x)), rising(s, x, 1)),
    "chain zip": lambda s, x: itertools.chain(zip(rising(s, x, 1), rising(s, x, 2)), enumerate(rising(s, x, 1))),
    "islice": lambda s, x: itertools.islice(rising(s, x, 4), 2),
    "islice beyond": lambda s, x: itertools.islice(rising(s, x, 2), 3),
    "islice in between": lambda s, x: itertools.islice(rising(s, x, 6), 1, 5, 2),
    "islice zip": lambda s, x: itertools.islice(zip(rising(s, x, 4), rising(s, x, 2)), 1, None),
    "islice failing": lambda s, x: itertools.islice(failing(s, x, 2), 1, None),
    "zip islice": lambda s, x: zip(itertools.islice(rising(s, x, 4), 2), rising(s, x, 4)),
    "filter": lambda s, x: filter(lambda v: v > 2.0 * x, rising(s, x, 4)),
    "filter chain": lambda s, x: filter(None, itertools.chain(rising(s, x, 2), [0.0], rising(s, x, 1))),
    "compress": lambda s, x: itertools.compress(rising(s, x, 5), [1, 0, 1, 0]),
    "closed": lambda s, x: zip(rising(s, x, 3), closing(s, x)),
    "tee": lambda s, x: zip(*itertools.tee(zip(rising(s, x, 3), rising(s, x, 2)))),
    "batches": lambda s, x: zip(rising(s, x, 2), itertools.pairwise(enumerate(rising(s, x, 3)))),
}  # fmt: skip


def by_loop(it, s, x):
    total = 0.0
    try:
        for item in it:
            total += flat(item) * s[0]
            s[0] *= 1.0 + 0.1 * x
    except (ValueError, IndexError, TypeError):
        s[0] *= 1.0 + 0.5 * x
    return total * s[0]


def by_loop_without_handler(it, s, x):
    total = 0.0
    for item in it:
        total += flat(item) * s[0]
        s[0] *= 1.0 + 0.1 * x
    return total * s[0]


def by_loops(it, s, x):
    """Three loops, of which the first is left from the middle, and the last may find an end once more."""
    total = 0.0
    for k in range(4):
        try:
            for item in it:
                total += flat(item) * s[0]
                s[0] *= 1.0 + 0.1 * x
                if k == 0:
                    break
            else:
                total *= 1.0 + 0.1 * s[0]
        except (ValueError, IndexError, TypeError):
            s[0] *= 1.0 + 0.5 * x
    return total * s[0]


def by_next(it, s, x):
    total = 0.0
    for k in range(7):
        try:
            total += flat(next(it)) * s[0]
        except StopIteration:
            s[0] *= 1.0 + 0.2 * x
        except (ValueError, IndexError, TypeError):
            s[0] *= 1.0 + 0.5 * x
        s[0] *= 1.0 + 0.1 * x * k
    return total * s[0]


def by_next_in_a_loop(it, s, x):
    """Others take items while a loop goes on."""
    total = 0.0
    try:
        for item in it:
            total += flat(item) * s[0]
            s[0] *= 1.0 + 0.1 * x
            total += flat(next(it, x)) * s[0]
    except (ValueError, IndexError, TypeError):
        s[0] *= 1.0 + 0.5 * x
    return total * s[0]


def at_once(it, s, x):
    try:
        found = list(it)
    except (ValueError, IndexError, TypeError):
        s[0] *= 1.0 + 0.5 * x
        found = [x * s[0]]
    return flat(tuple(found)) * s[0]


def by_sum(it, s, x):
    try:
        total = sum(flat(item) * s[0] for item in it)
    except (ValueError, IndexError, TypeError):
        total = s[0] * x
    return total * s[0]


def in_parts(it, s, x):
    try:
        first, *rest = it
    except (ValueError, IndexError, TypeError):
        first, rest = s[0], [x]
    return (flat(first) + flat(tuple(rest))) * s[0]


CONSUMERS = [by_loop, by_loops, by_next, by_next_in_a_loop, at_once, by_sum, in_parts]
CASES = [(name, consume) for name in MAKERS for consume in CONSUMERS]


def program(name, consume):
    def f(x):
        s = [1.0 + x]
        return consume(MAKERS[name](s, x), s, x)

    return f


@each_in_long_turn
@pytest.mark.parametrize(("name", "consume"), CASES)
def test_all_is_undone_in_its_order(name, consume):
    check(program(name, consume), times=2, rel=1e-6, step=1e-3)


@pytest.mark.parametrize(
    "name", [name for name in MAKERS if "fail" not in name and " no" not in name and name != "closed"]
)
def test_without_a_handler(name):
    check(program(name, by_loop_without_handler), times=2, rel=1e-6, step=1e-3)


@each_in_long_turn
@pytest.mark.parametrize(
    "name",
    [
        "zip, the second ends",
        "enumerate zip, failing",
        "map of two",
        "chain",
        "chain of rows",
        "zip chain",
        "islice zip",
    ],
)
@pytest.mark.parametrize("consume", [by_loop, by_loops, at_once])
def test_second_derivatives(name, consume):
    check_second(program(name, consume), step=1e-3)


def test_items_without_cotangents():
    """Nothing flows to any item, and what generators have changed is undone nevertheless."""

    def f(x):
        s = [x]
        count = 0
        for _, _ in zip(rising(s, x, 3), rising(s, x, 2)):
            count += 1
            s[0] *= x
        return s[0] * count

    check(f, rel=1e-6, step=1e-3)
