"""Functions that random dynamic programs have shown to be hard."""

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


FUNCTIONS = [f for name, f in globals().items() if callable(f) and name != "steps"]
