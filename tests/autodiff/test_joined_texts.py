"""`join` of iterators whose items are made by code that is differentiated."""

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects import reentry
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn

SEEN = []


class Leaf:
    def __init__(self, v):
        self.v, self.shown = v, 0.0

    def __repr__(self):
        self.shown += self.v
        SEEN.append(self.v * self.v)
        return f"<{len(SEEN)}>"


class Tree(Leaf):
    def __init__(self, *parts):
        super().__init__(parts[0].v)
        self.parts = parts

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"

    def __iter__(self):
        for part in self.parts:
            part.shown *= 1.5
            yield str(part)


def shown(x):
    leaves = [Leaf(x * k) for k in range(1, 4)]
    tree = Tree(*leaves, Tree(leaves[0], Leaf(x)))
    text = repr(tree) + "|".join(str(leaf) for leaf in leaves) + "".join(filter(None, map(repr, leaves)))
    return len(text) * x + sum(SEEN) + sum(leaf.shown for leaf in leaves)


def by_generators(x):
    tree = Tree(*[Leaf(x * k) for k in range(1, 4)])

    def lines():
        for k, part in enumerate(tree.parts):
            part.v *= x
            yield f"{k}: {part!r}"
        SEEN.append(x)

    text = "\n".join(lines()) + ", ".join(tree) + b",".join(repr(p).encode() for p in tree.parts).decode()
    return len(text) * x + sum(SEEN) + tree.parts[1].shown * tree.parts[2].v


def what_is_no_text(x):
    def parts():
        yield "a"
        SEEN.append(x * x)
        yield 3
        SEEN.append(x * 5.0)

    r = x
    try:
        "".join(parts())
    except TypeError as error:
        r *= len(str(error))
    return r + sum(SEEN)


def left_by_an_exception(x):
    def parts():
        yield "a"
        SEEN.append(x * x)
        raise KeyError(3.0 * x)

    try:
        "".join(parts())
    except KeyError as error:
        return error.args[0] * sum(SEEN)
    return 0.0


def half_used(x):
    texts = (repr(Leaf(x * k)) for k in range(4))
    first = next(texts)
    return len(first + "-".join(texts)) * sum(SEEN) + len(", ".join(texts))


PROGRAMS = [shown, by_generators, what_is_no_text, left_by_an_exception, half_used]


def fresh(f):
    def program(x):
        SEEN.clear()
        return f(x)

    return program


@pytest.mark.parametrize("f", PROGRAMS)
def test_as_in_python(f):
    check(fresh(f), times=1, rel=1e-7)


@each_in_long_turn
@pytest.mark.parametrize("f", [shown, by_generators, half_used])
def test_second_derivatives(f):
    check_second(fresh(f))


@pytest.mark.parametrize("f", PROGRAMS)
def test_nothing_is_put_in_place(monkeypatch, f):
    monkeypatch.setattr(reentry, "run_with_traps", lambda *args: pytest.fail("code was put in place"))
    pullback(fresh(f), (0.7,))
