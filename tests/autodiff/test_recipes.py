"""The recipes of itertools' documentation (3.11 to 3.13), with numbers through them; and copies of one iterator in two places."""

from __future__ import annotations

import collections
import functools
import heapq
import math
import operator
import sys
from collections import deque
from contextlib import suppress
from itertools import (
    accumulate,
    chain,
    combinations,
    compress,
    count,
    cycle,
    filterfalse,
    groupby,
    islice,
    pairwise,
    product,
    repeat,
    starmap,
    tee,
    zip_longest,
)

import pytest

from tests.turns import each_in_turn
from zyg.fallback import python_pullback

if sys.version_info >= (3, 12):
    from math import sumprod
else:

    def sumprod(a, b):
        return sum(map(operator.mul, a, b))


def take(n, iterable):
    return list(islice(iterable, n))


def prepend(value, iterator):
    return chain([value], iterator)


def tabulate(function, start=0):
    return map(function, count(start))


def flatten(list_of_lists):
    return chain.from_iterable(list_of_lists)


def ncycles(iterable, n):
    return chain.from_iterable(repeat(tuple(iterable), n))


def tail13(n, iterable):
    try:
        size = len(iterable)
    except TypeError:
        return iter(deque(iterable, maxlen=n))
    else:
        return islice(iterable, max(0, size - n), None)


def consume(iterator, n=None):
    if n is None:
        collections.deque(iterator, maxlen=0)
    else:
        next(islice(iterator, n, n), None)


def nth(iterable, n, default=None):
    return next(islice(iterable, n, None), default)


def quantify(iterable, pred=bool):
    return sum(map(pred, iterable))


def first_true(iterable, default=False, predicate=None):
    return next(filter(predicate, iterable), default)


def all_equal13(iterable, key=None):
    return len(take(2, groupby(iterable, key))) <= 1


def unique_justseen(iterable, key=None):
    if key is None:
        return map(operator.itemgetter(0), groupby(iterable))
    return map(next, map(operator.itemgetter(1), groupby(iterable, key)))


def unique_everseen(iterable, key=None):
    seen = set()
    if key is None:
        for element in filterfalse(seen.__contains__, iterable):
            seen.add(element)
            yield element
    else:
        for element in iterable:
            k = key(element)
            if k not in seen:
                seen.add(k)
                yield element


def unique(iterable, key=None, reverse=False):
    sequenced = sorted(iterable, key=key, reverse=reverse)
    return unique_justseen(sequenced, key=key)


def sliding_window(iterable, n):
    it = iter(iterable)
    window = collections.deque(islice(it, n - 1), maxlen=n)
    for x in it:
        window.append(x)
        yield tuple(window)


def sliding_window11(iterable, n):
    it = iter(iterable)
    window = deque(islice(it, n), maxlen=n)
    if len(window) == n:
        yield tuple(window)
    for x in it:
        window.append(x)
        yield tuple(window)


def grouper(iterable, n, *, incomplete="fill", fillvalue=None):
    iterators = [iter(iterable)] * n
    match incomplete:
        case "fill":
            return zip_longest(*iterators, fillvalue=fillvalue)
        case "strict":
            return zip(*iterators, strict=True)
        case "ignore":
            return zip(*iterators)
        case _:
            raise ValueError("Expected fill, strict, or ignore")


def batched(iterable, n):
    if n < 1:
        raise ValueError("n must be at least one")
    it = iter(iterable)
    while batch := tuple(islice(it, n)):
        yield batch


def roundrobin11(*iterables):
    num_active = len(iterables)
    nexts = cycle(iter(it).__next__ for it in iterables)
    while num_active:
        try:
            for next in nexts:
                yield next()
        except StopIteration:
            num_active -= 1
            nexts = cycle(islice(nexts, num_active))


def roundrobin(*iterables):
    iterators = map(iter, iterables)
    for num_active in range(len(iterables), 0, -1):
        iterators = cycle(islice(iterators, num_active))
        yield from map(next, iterators)


def partition(predicate, iterable):
    t1, t2, p = tee(iterable, 3)
    p1, p2 = tee(map(predicate, p))
    return compress(t1, map(operator.not_, p1)), compress(t2, p2)


def iter_except(func, exception, first=None):
    with suppress(exception):
        if first is not None:
            yield first()
        while True:
            yield func()


def iter_except11(func, exception, first=None):
    try:
        if first is not None:
            yield first()
        while True:
            yield func()
    except exception:
        pass


def before_and_after(predicate, it):
    it = iter(it)
    transition = []

    def true_iterator():
        for elem in it:
            if predicate(elem):
                yield elem
            else:
                transition.append(elem)
                return

    def remainder_iterator():
        yield from transition
        yield from it

    return true_iterator(), remainder_iterator()


def powerset(iterable):
    s = list(iterable)
    return chain.from_iterable(combinations(s, r) for r in range(len(s) + 1))


def sum_of_squares(iterable):
    return sumprod(*tee(iterable))


def reshape(matrix, cols):
    return batched(chain.from_iterable(matrix), cols)


def transpose(matrix):
    return zip(*matrix, strict=True)


def matmul_(m1, m2):
    n = len(m2[0])
    return batched(starmap(sumprod, product(m1, transpose(m2))), n)


def convolve(signal, kernel):
    kernel = tuple(kernel)[::-1]
    n = len(kernel)
    window = collections.deque([0.0], maxlen=n) * n
    for x in chain(signal, repeat(0.0, n - 1)):
        window.append(x)
        yield sumprod(kernel, window)


def convolve12(signal, kernel):
    kernel = tuple(kernel)[::-1]
    n = len(kernel)
    padded_signal = chain(repeat(0, n - 1), signal, repeat(0, n - 1))
    windowed_signal = sliding_window(padded_signal, n)
    return map(sumprod, repeat(kernel), windowed_signal)


def polynomial_from_roots(roots):
    expansion = [1]
    for r in roots:
        expansion = convolve(expansion, (1, -r))
    return list(expansion)


def polynomial_from_roots12(roots):
    factors = zip(repeat(1), map(operator.neg, roots))
    return list(functools.reduce(convolve, factors, [1]))


def polynomial_eval(coefficients, x):
    n = len(coefficients)
    if not n:
        return type(x)(0)
    powers = map(pow, repeat(x), reversed(range(n)))
    return sumprod(coefficients, powers)


def polynomial_derivative(coefficients):
    n = len(coefficients)
    powers = reversed(range(1, n))
    return list(map(operator.mul, coefficients, powers))


def nth_combination(iterable, r, index):
    pool = tuple(iterable)
    n = len(pool)
    c = math.comb(n, r)
    if index < 0:
        index += c
    if index < 0 or index >= c:
        raise IndexError
    result = []
    while r:
        c, n, r = c * r // n, n - 1, r - 1
        while index >= c:
            index -= c
            c, n = c * (n - r) // n, n - 1
        result.append(pool[-1 - n])
    return tuple(result)


def triplewise(iterable):
    for (a, _), (b, c) in pairwise(pairwise(iterable)):
        yield a, b, c


def dotproduct(vec1, vec2):
    return sum(map(operator.mul, vec1, vec2))


def running_mean(iterable):
    for n, s in enumerate(accumulate(iterable), 1):
        yield s / n


def lookahead(iterator):
    lookahead, iterator = tee(iterator, 2)
    return next(lookahead, None), iterator


def weighed(items):
    total = 0.0
    for k, z in enumerate(items):
        if isinstance(z, (tuple, list)):
            z = weighed(z)
        total = total + (k + 1.5) * (0.25 if z is None else z * z)
    return total


def generated(x, y):
    yield x
    yield y
    yield x * y
    yield y * y
    yield x + y


SOURCES = {
    "list": lambda x, y: list(generated(x, y)),
    "tuple": lambda x, y: tuple(generated(x, y)),
    "generator": generated,
}


def after_two(s):
    items = iter(s)
    consume(items, 2)
    return items


def after_all(s, x):
    items = iter(s)
    consume(items)
    return [x, *items]


def looked_ahead(s):
    first, items = lookahead(s)
    return [first, *items]


def both(pair):
    return list(map(weighed, pair))


big = lambda v: v > 1.0
RECIPES = {
    "take": lambda s, x, y: take(3, s),
    "prepend": lambda s, x, y: prepend(x, s),
    "tabulate": lambda s, x, y: [*take(4, tabulate(lambda n: x**n * y)), *s],
    "flatten": lambda s, x, y: flatten([s, [x], (y,)]),
    "ncycles": lambda s, x, y: ncycles(s, 3),
    "tail": lambda s, x, y: tail13(3, s),
    "consume": lambda s, x, y: after_two(s),
    "consume all": lambda s, x, y: after_all(s, x),
    "nth": lambda s, x, y: [nth(s, 3), nth([x], 4, y)],
    "quantify": lambda s, x, y: [x * quantify(s, big)],
    "first_true": lambda s, x, y: [first_true(s, y, lambda v: v < 1.0)],
    "all_equal": lambda s, x, y: [x * all_equal13(s), y * all_equal13([x, x])],
    "unique_justseen": lambda s, x, y: unique_justseen(s),
    "unique_justseen, key": lambda s, x, y: unique_justseen(s, big),
    "unique_everseen": lambda s, x, y: unique_everseen(s),
    "unique_everseen, key": lambda s, x, y: unique_everseen(s, big),
    "unique": lambda s, x, y: unique(s),
    "unique, key": lambda s, x, y: unique(s, lambda v: -v),
    "sliding_window": lambda s, x, y: sliding_window(s, 3),
    "sliding_window of 3.11": lambda s, x, y: sliding_window11(s, 3),
    "grouper": lambda s, x, y: grouper(s, 2, fillvalue=y),
    "grouper, None": lambda s, x, y: grouper(s, 2),
    "grouper, ignore": lambda s, x, y: grouper(s, 2, incomplete="ignore"),
    "grouper, strict": lambda s, x, y: grouper(s, 5, incomplete="strict"),
    "batched": lambda s, x, y: batched(s, 2),
    "roundrobin of 3.11": lambda s, x, y: roundrobin11(s, [x], (y, x)),
    "roundrobin": lambda s, x, y: roundrobin(s, [x], (y, x)),
    "roundrobin of generators": lambda s, x, y: roundrobin(s, generated(y, x), (z * z for z in (x, y))),
    "partition": lambda s, x, y: both(partition(big, s)),
    "before_and_after": lambda s, x, y: both(before_and_after(big, s)),
    "powerset": lambda s, x, y: powerset(s),
    "sum_of_squares": lambda s, x, y: [sum_of_squares(s)],
    "convolve": lambda s, x, y: convolve(s, [x, y]),
    "convolve of 3.12": lambda s, x, y: convolve12(s, [x, y]),
    "polynomial_from_roots": lambda s, x, y: polynomial_from_roots(s),
    "polynomial_from_roots of 3.12": lambda s, x, y: polynomial_from_roots12(s),
    "polynomial_eval": lambda s, x, y: [polynomial_eval(list(s), y)],
    "polynomial_derivative": lambda s, x, y: polynomial_derivative(list(s)),
    "nth_combination": lambda s, x, y: nth_combination(s, 2, 4),
    "triplewise": lambda s, x, y: triplewise(s),
    "dotproduct": lambda s, x, y: [dotproduct(s, [x, y, x])],
    "running_mean": lambda s, x, y: running_mean(s),
    "lookahead": lambda s, x, y: looked_ahead(s),
    "reshape": lambda s, x, y: reshape([s, (y, x)], 3),
    "transpose": lambda s, x, y: transpose([(x, y), (x * y, 1.0), take(2, s)]),
    "matmul": lambda s, x, y: matmul_([(x, y), take(2, s)], [[x, 1.0], [2.0, y]]),
    "iter_except": lambda s, x, y: iter_except(list(s).pop, IndexError),
    "iter_except of 3.11": lambda s, x, y: iter_except11(deque(s).popleft, IndexError, lambda: x),
    "iter_except of a heap": lambda s, x, y: iter_except(functools.partial(heapq.heappop, sorted(s)), IndexError),
}  # fmt: skip

TWICE = {
    "sumprod": lambda a, b: [sumprod(a, b)],
    "dist": lambda a, b: [math.dist(tuple(a), tuple(z * z for z in b))],
    "map": lambda a, b: map(operator.mul, a, b),
    "zip": zip,
    "zip_longest": lambda a, b: zip_longest(a, islice(b, 2), fillvalue=0.5),
    "product": product,
    "chain": chain,
    "chain.from_iterable": lambda a, b: chain.from_iterable([a, b]),
    "chain.from_iterable of a tuple": lambda a, b: chain.from_iterable((a, (z * z for z in b))),
    "merge": lambda a, b: heapq.merge(sorted(a), sorted(b)),
    "compress": compress,
    "second first": lambda a, b: [weighed(b) * weighed(a)],
    "extend": lambda a, b: [*a, *b],
    "filters": lambda a, b: chain(filter(big, a), filterfalse(big, b)),
    "groupby": lambda a, b: [*[(k * k, *g) for k, g in groupby(a)], *b],
    "accumulate": lambda a, b: zip(accumulate(a), b),
    "pairwise": lambda a, b: zip(pairwise(a), b),
    "cycle": lambda a, b: zip(islice(cycle(a), 7), islice(cycle(b), 7)),
    "dict": lambda a, b: dict(zip(count(), a), **dict(zip("abcde", b))).values(),
    "reduce": lambda a, b: [functools.reduce(operator.mul, a, functools.reduce(operator.add, b))],
}


def check(f):
    x, y, h = 1.5, 0.7, 1e-6
    value, back = python_pullback(f, (x, y), {})
    wanted = (f(x + h, y) - f(x - h, y)) / (2 * h), (f(x, y + h) - f(x, y - h)) / (2 * h)
    assert value == pytest.approx(f(x, y), rel=1e-13)
    assert [c or 0.0 for c in back(1.0)] == pytest.approx(wanted, rel=1e-6, abs=1e-5)


@each_in_turn
@pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_recipes(recipe, source):
    check(lambda x, y: weighed(recipe(source(x, y), x, y)))


@each_in_turn
@pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))
@pytest.mark.parametrize("taken", TWICE.values(), ids=list(TWICE))
def test_copies_of_one_iterator_in_two_places(taken, source):
    """What was taken by the first copy is undone when what was taken of the second has its cotangents."""
    check(lambda x, y: weighed(taken(*tee(source(x, y)))))
