"""What run-time functions find out once, by the class, and what they leave out where nothing can come back: attributes by names that are
computed, special methods that only ask, methods of C code that are kept in variables, generators. Against differences, where it was
found out for something else, too."""

from __future__ import annotations

import collections
import functools
import itertools
import math
import operator
import random
import re
from collections import namedtuple

import pytest

import zyg
from tests.autodiff.against_differences import check
from tests.turns import each_in_turn
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.python.knowledge import flows
from zyg.library import registry

pytestmark = each_in_turn


Pair = namedtuple("Pair", "a b")
NAMES = ("value", "x")


class Node:
    def __init__(self, value):
        self.value = value
        self.below = None
        self.pair = Pair(value, 2.0)
        self.items = [value]
        self.name = "node"


def by_name(x):
    node, total = Node(x), 0.0
    for name in ("value", "below", "pair", "items", "name", "below"):
        found = getattr(node, name)
        if found is None:
            setattr(node, name, Node(x * x))
        elif name == "pair":
            total += found.a * found.b
        elif name == "items":
            total += found[0] * len(found)
        elif name != "name":
            total += getattr(found, NAMES[0]) if name == "below" else found * 3.0
    return total


def test_attributes_by_names_that_are_computed():
    check(by_name)


def test_an_attribute_that_becomes_a_property(monkeypatch):
    check(by_name)
    with monkeypatch.context() as m:
        squares = property(lambda self: self.kept**2, lambda self, value: setattr(self, "kept", value))
        m.setattr(Node, "value", squares, raising=False)
        check(by_name)
    check(by_name)


class Number(float):
    pass


class Held:
    def __init__(self, x):
        self.x = x


def read_what_is_replaced(x):
    held = Held(None)
    total = 0.0
    for value in (Held(x), x, Number(x), (x, 1.0), None):
        held.x = value
        found = getattr(held, NAMES[1])
        total += 0.0 if found is None else found[0] if type(found) is tuple else getattr(found, "x", found) * 2.0
    return total


def test_attributes_that_hold_what_has_a_cotangent_and_what_has_none():
    check(read_what_is_replaced)


def test_what_has_no_cotangent_that_flows():
    class Own:
        pass

    class Derived(Pair):
        pass

    assert not any(map(flows, (Own, list, dict, type(None), str)))
    assert all(map(flows, (float, Number, Pair, Derived, functools.partial, type(len), type(zyg.jit(math.sin)))))


class Stack:
    def __init__(self):
        self.items = []
        self.asked = 0.0

    def push(self, item):
        self.items.append(item)

    def __len__(self):
        return len(self.items)

    def __bool__(self):
        return bool(self.items)


class Asked(Stack):
    def __len__(self):
        self.asked = self.asked * 0.5 + self.items[-1]
        return len(self.items)


def sized(x):
    total = 0.0
    for kind in (Stack, Asked, Stack):
        stack = kind()
        for k in range(4):
            stack.push(x * k)
        while stack:
            total = 0.9 * total + stack.items.pop() * (len(stack) if stack.items else 1.0)
        total += stack.asked
    return total


def test_special_methods_that_only_ask(monkeypatch):
    check(sized)
    with monkeypatch.context() as m:
        m.setattr(Stack, "__len__", lambda self: 2 * len(self.items) + 1)
        m.setattr(Stack, "__bool__", lambda self: len(self.items) > 1)
        check(sized)
    check(sized)


class Ruled:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)  # of an object with a `__len__` of its own


def test_the_length_of_what_an_attribute_holds():
    check(lambda x: x * len(Ruled(Ruled([x, x]))) + len(Ruled([x, x, 1.0])) * x * x)


def test_methods_of_c_code_that_are_kept_in_variables():
    def f(x):
        draws = random.Random(5)
        draw, items = draws.random, []
        append, total = items.append, 0.0
        for k in range(5):
            append(x * draw() + draws.gauss(x, 0.5))
            total += items[k] * draw()
        get = {"a": x}.get
        return total + get("a") * sum(map(get, "ab", (0.0, 2.0)))

    check(f)


def test_patterns_are_only_asked():
    number = re.compile(r"(\d+)(x?)")

    def f(x):
        total = 0.0
        for digits, name in number.findall("3x + 4 - 2x"):
            total += int(digits) * (x if name else 0.5)
        found = number.match("12x")
        return total * float(found.group(1)) + x * len(number.sub("y", "1 2"))

    check(f)


def test_a_substitution_calls_its_function():
    def f(x):
        seen = []

        def noted(found):
            seen.append(x * int(found.group()))
            return "y"

        re.compile(r"\d").sub(noted, "1 2 3")
        return sum(seen)

    check(f)


def test_rules_of_what_is_looked_up_often():
    @functools.cache
    def squared(k):
        return k * k

    getter = operator.attrgetter("value")

    def f(x):
        return squared(3) * x + getter(Node(x)) + sum(map(operator.itemgetter(0), [(x, 1), (2.0 * x, 2)]))

    check(f)
    zyg.adjoint(getter)(lambda node: (7.0, lambda d: (None,)))
    try:
        value, back = pullback(f, (0.7,))
        assert value == pytest.approx(9 * 0.7 + 7.0 + 3 * 0.7)
        assert back(1.0)[0] == pytest.approx(12.0)
    finally:
        zyg.rules.remove(getter)
    check(f)


def test_rules_are_brought_before_they_are_wanted():
    """For functions of modules whose entries have not been imported yet, and for what no module can be told of."""

    class Odd:
        def __call__(self, x):
            return x * x

    type.__setattr__(Odd, "__module__", 3)
    registry.bring(Odd())
    registry.bring(math.erf)
    assert zyg.rules.rule_for(Odd()) is None


def numbers(x, n):
    for k in range(n):
        yield x * k
        x = x * 0.9


def scaled(items, x):
    for item in items:
        if item > 0.3:
            yield item * x


def pipeline(x):
    total = sum(b * k for k, b in enumerate(scaled(numbers(x, 6), x)))
    both = list(numbers(x, 4))
    first = numbers(x, 5)
    total += next(first) + next(first) * x
    for item in first:
        total = total * 0.9 + item
        if item > 1.0:
            break
    return total + both[1] * max(scaled(both, x))


def test_generators_in_turn():
    check(pipeline)
    check(lambda x: pullback(pipeline, (x,))[1](1.0)[0], rel=1e-6)


class Tree:
    def __init__(self, x, depth):
        self.x = x
        self.below = [Tree(x * 0.5, depth - 1), Tree(x * x, depth - 1)] if depth else []

    def __iter__(self):
        yield self.x
        for tree in self.below:
            yield from tree

    def some(self):
        for tree in self.below:
            yield from itertools.islice(tree, 2)
        yield self.x


def test_generators_that_are_handed_over():
    check(lambda x: sum(k * y for k, y in enumerate(Tree(x, 3))) + sum(Tree(x, 2).some()))

    def left(x):
        total = 0.0
        for k, y in enumerate(Tree(x, 3)):
            total += y * k
            if k == 5:
                break
        return total

    check(left)
    nested = lambda x: sum(y * y for y in Tree(x, 2))
    check(lambda x: pullback(nested, (x,))[1](1.0)[0], rel=1e-6)


def test_running_extremes():
    def f(x):
        ys = list(itertools.accumulate([x, 0.5, x * x, 2.0 * x, 1.0], max))
        return sum(k * y for k, y in enumerate(ys)) + sum(itertools.accumulate([x, 0.5, 0.1 * x], min))

    check(f)
    _, back = pullback(lambda x: [*itertools.accumulate([x, 2.0 * x, x], max)], (0.5,))
    assert back([None, None, None])[0] in (None, 0.0)
    assert back([None, math.inf, None])[0] == math.inf  # (and nothing to the first one: no nan)


def test_partial_objects():
    def f(x):
        twice, moved = functools.partial(operator.mul, x), functools.partial(lambda a, b, c=1.0: a * b + c, x, c=x * x)
        total = 1.0
        for k in range(4):
            total = twice(total) + moved(k * x) + functools.partial(pow, x)(k)
        return total

    check(f)


def test_items_by_tuples_of_ints_and_text():
    """Keys that carry no derivative, of which a tuple consists; one that holds a number still tells of its derivative."""

    def table(x):
        kept, counted, word = {}, collections.defaultdict(float), "abc"
        for k in range(6):
            for n in range(3):
                kept[k, word[n]] = x * (k + n)
                counted[word[n], (k, n)] += x * x
                counted[k % 2, n] += kept[k, word[n]] * x
        kept[0, "a"] = 1.0
        del kept[1, "b"]
        kept[1, "b"] = x**3
        return (
            sum(kept.values())
            + sum(v * (1 + len(key)) for key, v in counted.items())
            + kept[1, "b"] * kept[2, word[-1]]
        )

    check(table)

    def by_number(x):
        kept = {}
        for k in range(3):
            kept[k, x * k] = x
        return sum(key[1] * v for key, v in kept.items())

    with pytest.raises(zyg.Unsupported, match="key"):
        pullback(by_number, (0.7,))[1](1.0)
