"""`yield from` of generators that give all their items in one go: recursion, values sent, generators left in the middle; what is
refused. Against differences."""

from __future__ import annotations

import pytest

from tests.oracles import differences
from tests.turns import each_in_turn
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.python import compile as compile_
from zyg.autodiff.python import escaping
from zyg.errors import Unsupported


class Branch:
    def __init__(self, value, children=()):
        self.value = value
        self.children = list(children)
        self.seen = 0.0

    def __iter__(self):
        yield self.value
        for child in self.children:
            yield from child
            self.seen += child.value

    def walk(self, scale=2.0, *, shift=0.0):
        for child in self.children:
            yield from child.walk(scale * 0.9, shift=self.value)
        yield self.value * scale + shift


def grown(depth, value):
    return Branch(value, [grown(depth - 1, value * 0.5), grown(depth - 1, value * value)] if depth else [])


def recursive(x):
    tree = grown(3, x)
    return sum(v * v for v in tree) + sum(tree.walk(x)) + tree.seen * max((v for v in tree.walk()), default=0.0)


def left_in_the_middle(x):
    tree, total = grown(3, x), 0.0
    for k, v in enumerate(tree):
        if k > 6:
            break
        total += v * v * k
    items = iter(tree)
    return total * next(items) * next(items) + tree.seen


def talk(x):
    y = yield x
    z = yield y * x
    return z * y


def talks(x):
    a = yield 1.0 * x
    r = yield from talk(x * x)
    s = yield from talk(r)
    yield r * a * s


def sent(x):
    items = talks(x)
    total = next(items)
    for k in range(5):
        total += items.send(2.0 * x + k)
    return total * total


def given(items, scale):
    for item in items:
        yield item * scale
    return scale


def passed_on(x):
    """The inner generator is made by who goes through the outer one; some of it has been taken."""

    def all_of(items, others):
        first = yield from items
        yield from others
        yield from [first, x]

    others = given([x, 2.0, 3.0 * x], x)
    total = next(others)
    items = given([x, x * x], 3.0 * x)
    for v in all_of(items, others):
        total = total * x + v
    return total + sum(items) * x + next(others, x)


def changed_meanwhile(x):
    kept = [x]

    def inner():
        for k in range(3):
            kept.append(kept[-1] * x)
            yield kept[k]

    def outer():
        yield from inner()
        kept[0] = kept[-1]

    total = 0.0
    for v in outer():
        kept[-1] += v
        total += v * kept[-1]
    return total * kept[0]


PROGRAMS = [recursive, left_in_the_middle, sent, passed_on, changed_meanwhile]


@pytest.fixture(autouse=True)
def without_handlers(monkeypatch):
    """As in a process that has not differentiated a handler yet."""
    monkeypatch.setattr(escaping, "generators_are_watched", False)
    compile_.forget()
    yield
    compile_.forget()


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivative(f):
    expected = differences.derivative(f, 0.7)
    for _ in range(2):
        value, back = pullback(f, (0.7,))
        assert value == f(0.7)
        assert back(1.0)[0] == pytest.approx(expected, rel=1e-7)
        assert back(-2.0)[0] == pytest.approx(-2.0 * expected, rel=1e-7)


@each_in_turn
def test_second_derivative():
    def slope(x):
        return pullback(changed_meanwhile, (x,))[1](1.0)[0]

    assert pullback(slope, (0.7,))[1](1.0)[0] == pytest.approx(differences.derivative(slope, 0.7), rel=1e-6)


def test_what_is_refused():
    def inner(x):
        yield x
        yield x * x

    def outer(items):
        yield from items

    def taken_meanwhile(x):
        items = inner(x)
        both = outer(items)
        return next(both) * next(items)

    def closed(x):
        items = inner(x)
        assert next(items)
        both = outer(items)
        total = next(both)
        both.close()
        return total + sum(items)  # which are none: CPython has closed it, too

    def left(x):
        total, items = 0.0, inner(x)
        for v in outer(items):
            total += v
            break
        for v in items:
            total += v * x
        return total

    def thrown(x):
        both = outer(inner(x))
        total = next(both)
        return total + both.throw(KeyError)

    escaping.generators_are_watched = True
    compile_.forget()
    with pytest.raises(Unsupported, match="thrown into a generator"):
        pullback(thrown, (0.7,))
    for f in (taken_meanwhile, closed, left):
        for watched in (False, True):
            escaping.generators_are_watched = watched
            compile_.forget()
            with pytest.raises(Unsupported, match="that another one gives the items of"):
                pullback(f, (0.7,))


def test_in_try_bodies():
    """There each item is taken by itself."""

    def f(x):
        try:
            return recursive(x) + sent(x)
        except ZeroDivisionError:
            return x

    value, back = pullback(f, (0.7,))
    assert value == f(0.7)
    assert back(1.0)[0] == pytest.approx(differences.derivative(f, 0.7), rel=1e-7)


def leaves(tree):
    if isinstance(tree, list):
        for part in tree:
            yield from leaves(part)
    else:
        yield tree


def squares(tree):
    for v in leaves(tree):
        yield v * v


def listed(tree, scale):
    return [v * scale for v in leaves(tree)]


def of_several(ways, tree):
    for way in ways:
        yield from way(tree)


def told(tree, scale=3.0):
    for part in tree:
        got = yield from told(part, scale * 0.5) if isinstance(part, list) else listed(part, scale)
        yield scale if got is None else got
    return scale * 2.0


def by_functions(x):
    tree = [x, [x * x, [0.5 * x, 2.0]], [[[x]]]]
    total = sum(v * v for v in leaves(tree))
    first = leaves(tree)
    total += next(first) * next(first)  # and no more
    for v in of_several([leaves, squares, lambda t: listed(t, x), lambda t: (w * x for w in leaves(t))] * 2, tree):
        total += v * x
        if total > 200.0:
            break
    return total


def values_of_generators(x):
    def inner(y, depth):
        if depth:
            got = yield from inner(y * x, depth - 1)
            yield got * y
            return got + y
        yield y
        return y * y

    return sum(inner(x, 4)) + sum(told([[x], [x, x]][:1], x))


def thrown_into(x):
    items, total = leaves([[x, 2.0 * x]]), 0.0
    total += next(items) * x
    try:
        items.throw(ValueError)
    except ValueError:
        total += x
    return total


class Walk:
    def __init__(self, parts):
        self.parts = parts

    def items(self, scale):
        for part in self.parts:
            yield from part.items(scale * 0.5) if isinstance(part, Walk) else leaves([part * scale])


def by_bound_and_unbound(x):
    tree = Walk([x, Walk([x * x, 3.0]), 2.0 * x])

    def each(ways):
        for way, *args in ways:
            yield from way(*args)

    ways = [(tree.items, x), (Walk.items, tree, 2.0), (tree.parts[1].items, x), (Walk.items, tree, x)]
    return sum(v * v for v in each(ways))


@pytest.mark.parametrize("function", [by_functions, values_of_generators, by_bound_and_unbound])
def test_generators_made_where_they_are_handed_over_to(function):
    for x in (0.7, 1.3):
        for _ in range(2):
            value, back = pullback(function, (x,))
            assert value == function(x)
            assert back(1.0)[0] == pytest.approx(differences.derivative(function, x), rel=1e-6)
            assert back(2.0)[0] == pytest.approx(2.0 * back(1.0)[0])
    slope = lambda v: pullback(function, (v,))[1](1.0)[0]
    second = pullback(slope, (0.7,))[1](1.0)[0]
    assert second == pytest.approx(differences.derivative(slope, 0.7), rel=1e-5)


def test_an_exception_thrown_into_what_hands_over_to_a_generator_made_there():
    with pytest.raises(Unsupported, match="yield from"):
        pullback(thrown_into, (1.5,))[1](1.0)
