"""`map` of lists beside ranges, tuples and what repeats an object, and running totals of tuples, ranges and iterators that go by places: taken whole, in
part, by several, with lists that grow meanwhile, functions that raise, and functions that change something. Against differences."""

from __future__ import annotations

import itertools
import operator
from itertools import accumulate, islice, repeat

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn


def mapped(x):
    xs, t = [x, 2.0 * x, 3.0], (x, x * x, 5.0, x)
    total = sum(map(operator.mul, xs, range(5))) + sum(map(pow, xs, repeat(2))) + sum(map(operator.mul, repeat(x), t))
    total += sum(map(lambda a, b, c: a * b + c * x, t, repeat(x * x), xs)) + sum(map(max, t, repeat(1.5)))
    total += max(map(lambda a, k: a * k, t, range(1, 9))) + list(map(lambda a, k: a * k, t, range(4)))[3]
    m = map(lambda a, b: a * b, xs, repeat(x))
    xs.append(x * x)
    total += next(m) * 2.0
    xs.append(x)
    total += sum(m)
    m = map(operator.mul, xs, t)
    xs.append(7.0 * x)
    return total + sum(m) + sum(a * b for a, b in zip(map(operator.add, t, range(4)), xs))


def held_elsewhere(x):
    r, limited = repeat(x), repeat(x * x, 3)
    m = map(operator.mul, [x, 2.0], r)
    total = next(r) + next(m) + next(r) * next(m)
    total += sum(map(operator.mul, [x, 2.0, 3.0, 4.0], limited)) + len(list(limited)) * x
    a = accumulate(limited := repeat(x, 5), operator.mul)
    total += next(a) + next(limited) * 3.0 + sum(a) + len(list(limited))
    z = zip([x, x * x, 3.0], [1.0, x, 2.0])
    a = accumulate(z, lambda p, q: (p[0] * q[1], p[1] + q[0]))
    total += next(z)[0]
    return total + sum(p[0] + p[1] * x for p in a) + len(list(z))


def totals(x):
    t = (x, x * x, 3.0, 2.0 * x)
    total = sum(accumulate(t)) + sum(accumulate(t, operator.mul)) + list(accumulate(t, max))[-1]
    total += sum(accumulate(range(5), lambda a, b: a * x + b, initial=x)) + sum(accumulate(t, initial=x * x))
    total += sum(accumulate(repeat(x, 6), lambda a, b: a * 0.5 + b)) + sum(accumulate(repeat(x, 3), initial=2.0))
    total += sum(a * k for k, a in enumerate(accumulate(t, lambda a, b: a * b + 1.0)))
    a = accumulate(t, lambda a, b: a + b * x)
    total += next(a) + next(a) * 2.0
    total += sum(a)
    for v in itertools.islice(accumulate((x, [x][0], 4.0), operator.mul), 2):
        total += v * v
    total += sum(accumulate(reversed([x, 2.0, x * x]), operator.mul)) + sum(accumulate({"a": x, "b": x * x}.values()))
    return total + list(accumulate((x, x), lambda a, b: a * b))[1] + len(list(accumulate(())))


def of_other_items(x):
    pairs = list(accumulate(((x, 1), (2.0, x), (x * x, 3)), lambda a, b: (a[0] * b[0], a[1] + b[1])))
    lists = list(accumulate(([x], [2.0 * x]), lambda a, b: a + b))
    lists[1][0] *= x
    return sum(p * q for p, q in pairs) + sum(lists[1]) + sum(map(lambda a, b: a[0] * b, ([x], (x, 1.0)), (x, 2.0)))


def that_raise(x):
    def careful(a, b):
        if b > 2.5:
            raise ValueError(a * b)
        return a * b

    total = x
    for values in ((x, 2.0, 3.0), range(4), repeat(x, 3), (x, x)):
        try:
            for v in accumulate(values, careful):
                total += v
        except ValueError as error:
            total += error.args[0] * 0.5
        try:
            total += sum(map(careful, [x, 2.0, x, 1.0], values))
        except ValueError as error:
            total += error.args[0]
    return total


def that_change_something(x):
    seen = [x]

    def add(a, b):
        seen.append(a * b)
        return seen[-2] + b

    total = sum(accumulate((x, 2.0, x * x), add)) + sum(map(add, (x, 3.0), range(5)))
    for v in map(add, [x, x], repeat(x)):
        seen[0] = v
        total += v * seen[0]
    return total + sum(seen)


def sliced(x):
    def gen(held):
        v = x
        while True:
            held[0] *= 1.01
            yield v
            v = v * 0.9 + 0.1 * held[0]

    total, held = 0.0, [x]
    for start, stop, step in ((0, 4, None), (1, 4, 1), (2, 2, None), (3, 9, 2), (5, 2, 1), (0, 0, None)):
        total += sum(islice(gen(held), start, stop, step)) * held[0] + len(list(islice(gen(held), start, stop)))
        total += max(islice(gen(held), start, stop + 1), default=x) + held[0]
    g = gen(held)
    first, second = islice(g, 3), islice(g, 4)
    total += next(first) + sum(second) * 2.0 + sum(first) + len(list(first)) + next(second, x) + next(g) * 3.0
    third = islice(g, 1, 5)
    total += next(g) + sum(third) * held[0] + len(list(third))
    limited = islice((v * x for v in (x, 2.0, x * x)), 1, None)
    total += sum(limited) + len(list(limited)) + sum(islice((v for v in [x, x]), 5))
    a, b, *rest = islice(g, 5)
    return total + a * b + sum(rest) * held[0] + sum(v * k for k, v in enumerate(islice(g, 2, 6)))


def sliced_with_others(x):
    def gen():
        for k in range(9):
            yield x * k if k % 4 != 3 else [x * k, 1.0]

    total = 0.0
    try:
        total += sum(islice(gen(), 6))
    except TypeError:
        total += x
    it = islice(gen(), 1, 6)
    try:
        total += sum(it)
    except TypeError:
        total += x * x
    left = list(it)
    total += sum(v for v in left if isinstance(v, float)) + len(left)
    it = islice((v if v else 1 // 0 for v in (x, 2.0, 0, x)), 4)
    try:
        total += sum(it)
    except ZeroDivisionError:
        total += len(list(it)) + x
    return total + sum(islice(gen(), 4, 7)) * x


FUNCTIONS = [
    mapped,
    held_elsewhere,
    totals,
    of_other_items,
    that_raise,
    that_change_something,
    sliced,
    sliced_with_others,
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_first_derivatives(f):
    check(f)


@each_in_long_turn
@pytest.mark.parametrize("f", FUNCTIONS)
def test_second_derivatives(f):
    check_second(f)
