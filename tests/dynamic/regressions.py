"""Functions that random dynamic programs have shown to be hard."""

import functools
import math


def steps(z, n, pull=0.5):
    while n > 0:
        n -= 1
        z = math.sin(z) * pull + 0.1
        yield z


def zip_takes_an_item_too_many(x):
    return sum(z * w for z, w in zip(steps(x, 3), (0.5, x)))


def zip_of_a_generator_second(x):
    return sum(z * w for z, w in zip((0.5, x), steps(x, 3)))


def filter_drops_items(x):
    return sum(filter(lambda z: z < 0.5, steps(x, 4)))


def first_item_left_aside(x):
    items = steps(x, 3)
    next(items)
    return sum(items)


def last_items_left_aside(x):
    items = steps(x, 5)
    first = next(items)
    next(items)
    return first


def left_by_break(x):
    r = 0.0
    for z in steps(x, 5):
        if z < 0.45:
            break
        r += z
    return r


def largest_by_key(x):
    return max(steps(x, 3), key=lambda z: -z)


def starred_target(x):
    first, *rest = steps(x, 3)
    return first * rest[1]


def drawn(z, n):
    total, got = z, 0.0
    for _ in range(n):
        got = yield total * 0.5 + got
        total = math.sin(total) + got
    return total


def end_of_what_is_sent_to(x):
    items = drawn(x, 2)
    total = next(items)
    try:
        for v in (x, x * x, 0.1):
            total = total * 0.5 + items.send(v)
        items.close()
    except StopIteration as end:
        total += end.value
    return total


@functools.singledispatch
def area_of(x):
    return x * 0.5


@area_of.register(list)
@area_of.register(tuple)
def _(x):
    return sum(area_of(item) for item in x)


def single_dispatch(x):
    return area_of([x, (x * x, x)])


class Compared:
    """Identity decides: its `__eq__` is not asked where it is a key."""

    def __init__(self, t):
        self.t = t

    def __eq__(self, other):
        self.t = self.t * 2
        return self is other

    __hash__ = object.__hash__


def key_by_identity(x):
    k = Compared(x)
    d = {k: x * x}
    return d[k] * k.t


def starred_constants(x):
    first, *rest = ("sin", 2, 0.5)
    *spec, last = (x, None)
    return getattr(math, first)(x) * sum(rest) * spec[0] if last is None else x


_HELPERS = ("steps", "drawn", "area_of", "_", "Compared")
FUNCTIONS = [f for name, f in globals().items() if callable(f) and name not in _HELPERS]
