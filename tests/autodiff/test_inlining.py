"""Generators that become part of the loops that go through them, against differences of the functions under CPython."""

from __future__ import annotations

import itertools
import operator
import types
from itertools import accumulate

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.python.inlining import as_it_was, with_generators
from zyg.frontend.capture import capture


def decaying(x, n):
    for _ in range(n):
        yield x
        x = 0.9 * x + 0.01


def thrice(x):
    yield x
    y = x * x
    yield y
    if y > 0.2:
        return
    yield x * y


def never(x):
    if x > 1e9:
        yield x


def endless(x):
    while True:
        x = x * 0.8 + 0.1
        yield x


def all_of(x):
    yield from decaying(x, 3)
    for v in thrice(x):
        yield v * x
    yield from [x, x * 2.0]


def recursive(x, n):
    if n:
        yield x
        yield from recursive(x * 0.5, n - 1)


def several_yields(x):
    total = 1.0
    for v in thrice(x):
        total = total * v + x
    return total


def left_early(x):
    total = 0.0
    for k, v in enumerate(endless(x)):
        total += v
        if k > 5:
            break
    for v in endless(x):
        if v > 0.453:
            break
        total = total * v
    else:
        total = -1.0
    return total + v


def returns_in_the_loop(x):
    for v in endless(x):
        if v > 0.408:
            return v * v * x
    return 0.0


def returns_the_first(x):
    for v in decaying(x, 5):
        return v * v
    return x


def nothing_given(x):
    total = x
    for v in never(x):
        total *= v
    else:
        total = total * 3.0
    return total


def within_each_other(x):
    total = 0.0
    for a in decaying(x, 3):
        for b in thrice(a * 0.5):
            if b < 0.01:
                continue
            total += a * b
        total = total * a + b
    return total


def of_generators(x):
    return sum(v * v for v in all_of(x)) + max([v * x for v in all_of(x * 0.5)])


def by_recursion(x):
    total = 0.0
    for v in recursive(x, 4):
        total = total * 0.5 + v * v
    return total


def changes_what_the_loop_sees(x):
    seen = [x]

    def items(y):
        for k in range(3):
            seen.append(seen[-1] * y)
            yield k + seen[0]
            seen[0] = seen[0] * x

    total = 0.0
    for v in items(x * 0.5):
        total += v * seen[-1]
        seen[0] += total
    return total + seen[0]


def of_the_function_around(x):
    scale = x * 2.0

    def items(n):
        for k in range(n):
            yield k * scale * x

    total = 0.0
    for v in items(3):
        total += v * v
    scale = x
    for v in items(2):
        total += v
    return total


def called_for_other_things(x):
    made = decaying(x, 4)
    total = next(made)
    for v in made:
        total = total * v
    for v in itertools.islice(decaying(x, 10), 2):
        total += v
    return total + sum(decaying(x, 3))


def sends(x):
    def echo(y):
        while y < 2.0:
            got = yield y
            y = y * 1.5 if got is None else got

    total = 0.0
    for v in echo(x):
        total += v
    there = echo(x)
    return total + next(there) * there.send(x * x)


def state_in_generator(x):
    def walk(tree):
        if isinstance(tree, tuple):
            for part in tree:
                yield from walk(part)
        else:
            yield tree

    total = 1.0
    for leaf in walk((x, (x * x, (3.0, x + 1.0)), 2.0)):
        total = total * leaf + 0.1
    return total


def loop_in_a_generator(x):
    def doubled(y):
        for v in decaying(y, 3):
            yield 2.0 * v
            yield v * v

    return sum([v * x for v in doubled(x)])


def of_itertools(x):
    xs, scale = [x, 2.0, x * x, 0.5 - x], x * 0.5
    total = 0.0
    for v in itertools.accumulate(xs):
        total = total * x + v
        xs[2] = xs[2] * scale
    for v in itertools.accumulate(xs, lambda a, b: a * b + scale):
        if v > 1.61:
            continue
        total += v * v
    for v in accumulate(never(x)):
        total = total * v
    for v in accumulate(tuple(xs), operator.mul):
        total += v
    for v in map(lambda a, b: a * b * b, xs, xs[1:]):
        total += v * scale
    for v in itertools.starmap(pow, [(x, 2), (2.0, x)]):
        total += v * v
    for v in itertools.starmap(min, (xs, xs[:2])):
        total += v * v
    return total


def of_tests(x):
    xs, asked = [x, 2.0, -x, 0.5, x * x], [1.0]

    def small(v):
        asked.append(asked[-1] * v)
        return abs(v) < 1.0

    there, total = iter(xs), 0.0
    for v in itertools.takewhile(small, there):
        total += v * v
    for v in there:
        total = total * v
    for v in itertools.dropwhile(small, xs):
        total = total * x + v
    for v in itertools.filterfalse(small, xs):
        total += v * v
    for v in filter(small, xs):
        total += v * v * v
    for v in filter(None, xs):
        total += v * 0.5
    for k, v in enumerate(map(abs, xs)):
        total += k * v * v
        if v < x:
            break
    for v in map(small, [x, x * x]):
        total += v * x
    return total + sum([v * asked[-1] for v in map(lambda v: v * v * x, xs)])  # noqa: C417


def squared(xs):
    for v in xs:
        yield v * v


def differences_of(xs, scale):
    last = None
    for v in xs:
        if last is not None:
            yield (v - last) * scale
        last = v


def pairs(xs):
    pair = []
    for v in xs:
        pair.append(v)
        if len(pair) == 2:
            yield pair
            pair = []
    if pair:
        yield pair


def of_each_other(x):
    total = 0.0
    for k, pair in enumerate(pairs(differences_of(squared(decaying(x, 6)), x))):
        total += sum(pair) * (k + 1.0)
    for v in differences_of(accumulate(squared(thrice(x))), 0.5):
        total = total * 0.9 + v
    for v in squared(squared([x, 0.5 * x])):
        total += v
        if v > 0.3:
            break
    return total


def of_each_other_in_variables(x):
    noted = [x]

    def scaled(xs, by):
        noted.append(noted[-1] * by)
        for v in xs:
            noted.append(v)
            yield v * by * len(noted)

    def shifted(xs):
        noted.append(x * 2.0)
        for k in range(2):
            for v in xs:  # over in the second round
                yield v + noted[-1] + k

    inner = scaled([x, 0.5, x * x], x)
    noted.append(x * x)
    outer = shifted(scaled(inner, 0.7))
    unused = scaled([x], 3.0)
    noted.append(x * 3.0)
    total = 0.0
    for v in outer:
        total += v * noted[-2]
    for _v in outer:
        total += 100.0
    for _ in range(2):
        again = scaled([v, x], 0.2)
        for v in again:
            total += v
    return total + sum(noted) + (unused is None)


def in_rounds(x):
    total = 0.0
    items = squared(decaying(x, 5))
    for k in range(3):
        for v in items:
            total = total * x + v
            if v < 0.3:
                break
        total += k
    return total


LOG = []


def products(xs, p):
    for v in xs:
        LOG.append(("product", len(LOG)))
        p = p * v
        yield p


def checked(xs):
    for v in xs:
        if v > 1.91:
            raise ValueError(v)
        LOG.append(("checked", len(LOG)))
        yield v


def of_what_asks_in_between(x):
    """What is asked of a product, in the same block, where other code may have run between."""
    LOG.clear()
    return sum(s * s for s in checked(products(checked([x, 0.5, x + 0.3]), x)))


PROGRAMS = [
    of_what_asks_in_between, of_each_other, of_each_other_in_variables, in_rounds,
    of_itertools, of_tests, several_yields, left_early, returns_in_the_loop, returns_the_first, nothing_given, within_each_other, of_generators,
    by_recursion, changes_what_the_loop_sees, of_the_function_around, called_for_other_things, sends, state_in_generator,
    loop_in_a_generator,
]  # fmt: skip


@each_in_turn
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradient(f):
    for x in (0.7, 0.3):
        value, back = pullback(f, (x,))
        assert value == f(x)
        assert back(1.0)[0] == pytest.approx(differences.derivative(f, x), rel=1e-6)


@each_in_long_turn
@each_in_turn
def test_second_derivative():
    for f in (within_each_other, of_generators):
        slope = lambda x, f=f: pullback(f, (x,))[1](1.0)[0]
        value, back = pullback(slope, (0.6,))
        assert value == pytest.approx(slope(0.6))
        assert back(1.0)[0] == pytest.approx(differences.derivative(slope, 0.6), rel=1e-5)


def test_what_is_taken_in():
    ops = [i.op for _, i in with_generators(capture(several_yields.__code__), globals()).instructions()]
    assert "yield" not in ops
    assert any(i.operands[:1] and getattr(i.operands[0], "value", None) is as_it_was
               for _, i in with_generators(capture(several_yields.__code__), globals()).instructions())  # fmt: skip
    assert with_generators(capture(called_for_other_things.__code__), globals()) is not None


def test_another_function_of_that_name(monkeypatch):
    assert pullback(several_yields, (0.5,))[1](1.0)[0] == pytest.approx(differences.derivative(several_yields, 0.5))
    monkeypatch.setitem(globals(), "thrice", lambda x: [x, x * x * x])
    assert pullback(several_yields, (0.5,))[1](1.0)[0] == pytest.approx(differences.derivative(several_yields, 0.5))
    monkeypatch.undo()
    monkeypatch.setattr(thrice, "__code__", never.__code__)
    assert pullback(several_yields, (0.5,))[1](1.0)[0] == pytest.approx(differences.derivative(several_yields, 0.5))


def of_chain(x):
    total = 0.0
    for k, v in enumerate(squared(decaying(x, 3))):
        total += k * v
    return total


def test_a_chain_is_taken_in(monkeypatch):
    made = with_generators(capture(of_chain.__code__), globals())
    asked = [i for _, i in made.instructions() if i.operands[:1] and getattr(i.operands[0], "value", None) is as_it_was]
    assert len(asked) == 3
    assert [i.op for _, i in made.instructions()].count("iter") == 2  # over the range, and of the chain as it was

    def check():
        return pullback(of_chain, (0.5,))[1](1.0)[0] == pytest.approx(differences.derivative(of_chain, 0.5))

    assert check()
    others = {"decaying": (lambda x, n: iter([x, x]), repeated), "squared": (list_of, tripled)}
    for name, (other, generator) in others.items():
        monkeypatch.setitem(globals(), name, other)
        assert check()
        monkeypatch.undo()
        monkeypatch.setattr(globals()[name], "__code__", generator.__code__)
        assert check()
        monkeypatch.undo()
    assert check()


def repeated(x, n):
    for k in range(n):
        yield x * k


def tripled(xs):
    for v in xs:
        yield v * 3.0


def list_of(xs):
    return [v * 3.0 for v in xs]


def total_of_totals(xs):
    total = 0.0
    for v in accumulate(xs):
        total += v * v
    return total


def test_another_function_of_the_library(monkeypatch):
    assert pullback(total_of_totals, ([1.0, 2.0],))[1](1.0) == ([8.0, 6.0],)
    assert "yield" not in [
        i.op for _, i in with_generators(capture(total_of_totals.__code__), globals()).instructions()
    ]
    monkeypatch.setitem(globals(), "accumulate", reversed)
    assert pullback(total_of_totals, ([1.0, 2.0],))[1](1.0) == ([2.0, 4.0],)
    with pytest.raises(TypeError, match="not iterable"):
        monkeypatch.undo()
        pullback(total_of_totals, (2.0,))


RULED = """
def items(x):
    yield x
    yield x * x

def total(x):
    s = 0.0
    for v in items(x):
        s += v
    return s
"""


def test_a_rule_that_comes_later():
    module = types.ModuleType("ruled")
    exec(RULED, vars(module))
    total = module.total
    assert pullback(total, (0.5,))[1](1.0)[0] == 2.0

    @zyg.adjoint(module.items)
    def _rule(x):
        return [x, x * x], lambda d: (10.0,)

    assert pullback(total, (0.5,))[1](1.0)[0] == 10.0


def raising(x):
    yield x
    yield x / (x - 0.5)


def divides(x):
    total = 0.0
    for v in raising(x):
        total += v
    return total


def stops(x):
    def items(y):
        yield y
        yield next(iter(()))

    for v in items(x):
        x = x * v
    return x


def tried(x):
    try:
        return divides(x)
    except ZeroDivisionError:
        return x * 2.0


def test_exceptions():
    with pytest.raises(ZeroDivisionError):
        pullback(divides, (0.5,))
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        pullback(stops, (0.5,))
    assert pullback(tried, (0.5,))[1](1.0)[0] == 2.0
    assert pullback(divides, (0.7,))[1](1.0)[0] == pytest.approx(differences.derivative(divides, 0.7))


def many_within_each_other(x):
    total = 0.0
    for a in all_of(x):
        for b in all_of(a):
            for c in all_of(b):
                total += a * b * c
            for c in thrice(b):
                total += c
        for b in thrice(a):
            for c in thrice(b):
                total += c
    return total


def test_growth_is_bounded():
    before = capture(many_within_each_other.__code__)
    after = with_generators(before, globals())
    count = lambda f: len(list(f.instructions()))
    assert count(before) < count(after) < count(before) + 250
