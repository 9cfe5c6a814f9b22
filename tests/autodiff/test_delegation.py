"""`yield from` of generators that give all their items in one go: recursion, values sent, generators left in the middle; what is
refused. Against differences."""

from __future__ import annotations

import pytest

from tests.oracles import differences
from tests.turns import by_one_python_a_day, each_in_long_turn, each_in_turn
from zyg.autodiff.objects import calls, delegation
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


@pytest.mark.parametrize("watched", [False, True], ids=["plain", "watched"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivative(f, watched):
    escaping.generators_are_watched = watched
    expected = differences.derivative(f, 0.7)
    for _ in range(2):
        value, back = pullback(f, (0.7,))
        assert value == f(0.7)
        assert back(1.0)[0] == pytest.approx(expected, rel=1e-7)
        assert back(-2.0)[0] == pytest.approx(-2.0 * expected, rel=1e-7)


@each_in_long_turn
@each_in_turn
@pytest.mark.parametrize("watched", [False, True], ids=["plain", "watched"])
def test_second_derivative(watched):
    escaping.generators_are_watched = watched

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

    def thrown(x):
        both = outer(inner(x))
        total = next(both)
        return total + both.throw(KeyError)

    escaping.generators_are_watched = True
    compile_.forget()
    with pytest.raises(Unsupported, match="thrown into a generator"):
        pullback(thrown, (0.7,))
    for f in (taken_meanwhile, closed):
        for watched in (False, True):
            escaping.generators_are_watched = watched
            compile_.forget()
            with pytest.raises(Unsupported, match="that another one gives the items of"):
                pullback(f, (0.7,))


def test_closed_with_the_other_one():
    """CPython closes a generator with the one that gives its items: there is nothing to be had from it then."""

    def inner(x):
        yield x
        yield x * x

    def outer(items):
        yield from items

    def left(x):
        total, items = 0.0, inner(x)
        for v in outer(items):
            total += v * x
            break
        for v in items:
            total += v * 10.0
        return total + sum(items)

    def closed(x):
        items = inner(x)
        both = outer(items)
        total = next(both) * x
        both.close()
        return total + next(items, x)

    def over(x):
        items = inner(x)
        total = sum(outer(items)) * x
        return total + next(items, x)

    for f in (left, closed, over):
        for watched in (False, True):
            escaping.generators_are_watched = watched
            compile_.forget()
            value, back = pullback(f, (0.7,))
            assert value == f(0.7)
            assert back(1.0)[0] == pytest.approx(differences.derivative(f, 0.7), rel=1e-7)


def test_in_try_bodies():
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


@each_in_long_turn
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


class Failed(Exception):
    pass


def failing(parts, scale):
    """Goes down to the parts, of which one may fail, before or behind an item."""
    for k, part in enumerate(parts):
        if isinstance(part, list):
            got = yield from failing(part, scale * part[0] if isinstance(part[0], float) else scale)
            scale += 0.1 * got
        elif part < 0.0 and k == 0:
            raise Failed(part * scale)
        else:
            yield part * scale
            if part < 0.0:
                raise Failed(part * scale * scale)
    return scale


def failed_within(x):
    """The exception comes to who goes through the outermost one, where nothing has come, some items, or in the midst of a loop."""
    total = 0.0
    for parts in (
        [[[-x]]],
        [x, [x, 2.0]],
        [x, [x, [2.0, -x], 3.0]],
        [[x, x * x], [x, [-x, 5.0]]],
        [[], [x, [x], -0.5]][1:],
    ):
        try:
            for v in failing(parts, x):
                total = total * x + v
        except Failed as error:
            total += total * error.args[0]
        try:
            total += sum(failing(parts, 2.0 * x))
        except Failed as error:
            total *= error.args[0]
    return total


class Node:
    def __init__(self, value, children=()):
        self.value = value
        self.children = children
        self.seen = 0.0

    def __iter__(self):
        self.value = self.value * 1.1
        yield self.value
        for child in self.children:
            yield from child
            self.seen += child.value * self.value
        self.value *= 1.5
        if self.value > 6.0:
            raise Failed(self.value * self.seen)
        self.seen += self.value


def made_before_the_try_statement(x):
    """What was changed by generators that gave the items of others is undone from where these were left."""
    tree = Node(x, [Node(2.0 * x), Node(x * x, [Node(3.0 * x), Node(7.0 * x)]), Node(x)])
    items, total = iter(tree), 0.0
    for k in range(2):
        total += next(items) * (x + k)
    try:
        for v in items:
            total = total * x + v
    except Failed as error:
        total += error.args[0] * total
    total += sum(items)  # there are none
    return total + tree.seen + sum(child.value * child.seen for child in tree.children)


def caught_on_the_way(x):
    """In a generator that gives the items of one which gives those of what fails."""
    noted = [x]

    def cautious(parts, scale):
        for part in parts:
            try:
                yield from failing(part, scale)
                noted.append(noted[-1] * x)
            except Failed as error:
                yield error.args[0]
                noted.append(noted[-1] + scale)
            finally:
                scale *= 1.1

    def outer(parts):
        yield from cautious(parts, x)
        yield from cautious(parts[:1], x * x)
        yield noted[-1]

    total = 0.0
    for k, v in enumerate(outer([[x, [-x]], [x, 2.0], [[x, -1.0]]])):
        total += v * v * (k + x)
    return total * noted[-1]


def held_and_used_again(x):
    """A generator that is known by a name is over when it has failed, and so is one that gave its items."""

    def outer(items, others):
        yield 0.5 * x
        yield from items
        yield from others

    items, others, total = failing([x, [x, -x], 2.0], x), failing([x, [2.0]], x), 0.0
    both = outer(items, others)
    try:
        for v in both:
            total = total * x + v
    except Failed as error:
        total += error.args[0]
    return total + next(items, x * x) + sum(both) + sum(others) * x


def closed_and_left(x):
    items, total = failing([x, [x, [x * x, 2.0]], 3.0], x), 0.0
    total += next(items) + next(items) * x + next(items)
    items.close()
    for v in failing([x, [x, [x, x * x]]], x):
        total += v * total
        if total > 3.0:
            break
    try:
        for v in failing([x, [[x, -x]]], x):
            total += v
            if v > 100.0:
                break
    except Failed:
        total *= x
    return total + sum(items)


def wrongly_ended(x):
    """StopIteration out of a generator is a RuntimeError."""

    def inner(y):
        yield y
        yield next(iter(())) * y

    def outer(y):
        yield from inner(y * y)

    total = 0.0
    try:
        for v in outer(x):
            total += v
    except RuntimeError:
        total *= x
    return total


FAILING = [
    failed_within,
    made_before_the_try_statement,
    caught_on_the_way,
    held_and_used_again,
    closed_and_left,
    wrongly_ended,
]


@by_one_python_a_day
@pytest.mark.parametrize("f", FAILING, ids=lambda f: f.__name__)
def test_exceptions_out_of_what_was_handed_over_to(f):
    escaping.generators_are_watched = True
    for x in (0.7, 1.3):
        expected = differences.derivative(f, x)
        for _ in range(2):
            value, back = pullback(f, (x,))
            assert value == f(x)
            assert back(1.0)[0] == pytest.approx(expected, rel=1e-6)
            assert back(2.0)[0] == pytest.approx(2.0 * expected, rel=1e-6)


@each_in_long_turn
@each_in_turn
@pytest.mark.parametrize("f", FAILING, ids=lambda f: f.__name__)
def test_exceptions_out_of_what_was_handed_over_to_in_second_derivatives(f):
    escaping.generators_are_watched = True
    slope = lambda x: pullback(f, (x,))[1](1.0)[0]
    second = pullback(slope, (0.7,))[1](1.0)[0]
    assert second == pytest.approx(differences.derivative(slope, 0.7), rel=1e-5)


def test_a_handler_that_was_differentiated_before(monkeypatch):
    """Then, too, an item that comes through many generators is taken once."""
    monkeypatch.setattr(delegation, "record_delegated", None)
    monkeypatch.setitem(calls.KNOWN, delegation.delegated, None)
    calls.forget()
    escaping.generators_are_watched = True

    def f(x):
        try:
            return sum(v * v for v in grown(3, x)) + sum(grown(3, x).walk())
        except ZeroDivisionError:
            return x

    assert pullback(f, (0.7,))[1](1.0)[0] == pytest.approx(differences.derivative(f, 0.7), rel=1e-7)
