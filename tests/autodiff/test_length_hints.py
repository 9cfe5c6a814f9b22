"""How many items an iterator says are left: against CPython, with the numbers that are multiplied by it."""

from __future__ import annotations

import itertools
import operator

import pytest

import zyg

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


def stepped(x, steps):
    for _ in range(steps):
        next(x, None)
    return x


WAYS = {
    "a list": lambda xs: operator.length_hint(iter(xs)),
    "a list of which some are taken": lambda xs: operator.length_hint(stepped(iter(xs), 2)),
    "a list that is over": lambda xs: operator.length_hint(stepped(iter(xs), 9)),
    "a tuple": lambda xs: operator.length_hint(stepped(iter((xs[0], 2.0, xs[1])), 1)),
    "backwards": lambda xs: operator.length_hint(stepped(reversed(xs), 1)),
    "a tuple backwards": lambda xs: operator.length_hint(reversed((xs[0], 1.0))),
    "a range": lambda xs: operator.length_hint(stepped(iter(range(4)), 1)),
    "zip has none": lambda xs: operator.length_hint(zip(xs, xs), 7),
    "enumerate has none": lambda xs: operator.length_hint(enumerate(xs), 5),
    "map has none": lambda xs: operator.length_hint(map(abs, xs), 3),
    "a generator has none": lambda xs: operator.length_hint((v for v in xs), 2),
    "chain has none": lambda xs: operator.length_hint(itertools.chain(xs, xs), 4),
    "a list that grows": lambda xs: (it := iter(xs), xs.append(1.0), operator.length_hint(it))[2],
    "a list itself": lambda xs: operator.length_hint(xs),
    "a number": lambda xs: operator.length_hint(1.5, 6),
}


@pytest.mark.parametrize("way", WAYS)
def test_as_in_cpython(way):
    def f(xs):
        kept = {1: xs[0]}  # (which native code does not take)
        return kept[1] * WAYS[way](xs)

    expected = WAYS[way]([2.0, 3.0, 4.0])
    value, (gradient,) = zyg.withgradient(f, [2.0, 3.0, 4.0])
    assert value == 2.0 * expected
    assert gradient[0] == expected and not any(gradient[1:])


@pytest.mark.parametrize("way", WAYS)
def test_second_derivatives_are_right_or_refused(way):
    def f(xs):
        kept = {1: xs[0]}
        return kept[1] * WAYS[way](xs)

    try:
        (second,) = zyg.gradient(lambda x: zyg.gradient(f, [x * x, 3.0, 4.0])[0][0] * x, 2.0)
    except zyg.Unsupported as error:
        assert "length hint" in str(error)
    else:
        assert second == WAYS[way]([2.0, 3.0, 4.0])


@pytest.mark.parametrize(
    "hint",
    [
        lambda: operator.length_hint(iter("abc")),
        lambda: operator.length_hint(iter({"a": 1})),
        lambda: operator.length_hint(iter({1, 2})),
        lambda: operator.length_hint(itertools.repeat(1.0, 3)),
        lambda: iter([1.0, 2.0]).__length_hint__(),
    ],
)
def test_what_is_not_known_is_refused(hint):
    def f(xs):
        kept = {1: xs[0]}
        return kept[1] * hint()

    with pytest.raises(zyg.Unsupported, match=r"(?s)length hint .*test_length_hints.*for its length"):
        zyg.gradient(f, [2.0, 3.0])
