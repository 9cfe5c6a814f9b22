"""What dicts of tuples, dicts of dicts, states out of states, slices of generators, and generators side by side do through Python by short
ways: values against CPython, derivatives against differences, and what goes by the long way."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from typing import NamedTuple

import pytest

import zyg
from tests.autodiff.against_differences import check, check_second, slope_of
from tests.turns import by_one_python_a_day
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.objects.shadows import Shadows
from zyg.backend import pulls
from zyg.backend.labels import is_label

# ------------------------------------------------------------------------------------------------- keys that are tuples


def product(x):
    p = {(1, 0): x, (0, 2): x * x, (0, 0): 1.5}
    q = {(0, 0): 2.0 * x, (1, 1): x}
    d = {}
    for (i, j), a in p.items():
        for (k, m), b in q.items():
            d[(i + k, j + m)] = d.get((i + k, j + m), 0.0) + a * b
    return sum(c * x**i * (1.0 - x) ** j for (i, j), c in d.items())


def product_by_membership(x):
    d = {}
    for i in range(4):
        for j in range(3):
            e = (i % 2, j)
            if e in d:
                d[e] += x * i
            else:
                d[e] = x * x + j
    try:
        return d[1, 2] * d[0, 1]
    except KeyError:
        return 0.0


def keys_by_tuple(x):
    out = defaultdict(float)
    for m in ((1, 2), (0, 1), (1, 1)):
        for n in ((0, 1), (2, 0)):
            out[tuple(i + j for i, j in zip(m, n))] += x * m[0] + x * x * n[1]
    return sum(v * (k[0] + 2 * k[1]) for k, v in out.items())


def texts_in_keys(x):
    d = {}
    for name in ("a", "b", "a"):
        for n in (None, True, b"x"):
            d[name + "!", n] = d.get((name + "!", n), x) * x + 1.0
    return sum(d.values())


def numbers_that_are_given_instead(x):
    d = {"a": x}
    y = x * 3.0
    total = d.get("a", y) + d.get("b", y) + (d.get("b") or 0.0) + d.get("b", 2.0) * x
    none = d.get("c")
    return total if none is None else 0.0


def other_gets(x):
    class Table(dict):
        def get(self, key, default=None):
            return 10.0 * super().get(key, default)

    class Lookup:
        def get(self, key, default):
            return default * x + len(key)

    total = 0.0
    for d in ({"a": x}, Table(a=x), defaultdict(float, a=x), Lookup()):
        total += d.get("a", x) + d.get("b", x * x)
    return total


@by_one_python_a_day
@pytest.mark.parametrize(
    "f",
    [product, product_by_membership, keys_by_tuple, texts_in_keys, numbers_that_are_given_instead, other_gets],
)
def test_keys_and_defaults(f):
    check(f)
    check_second(f)


def test_numbers_within_keys_are_refused():
    def f(x):
        d = {}
        for i in range(3):
            d[i, x] = x * i
        return sum(k[1] * v for k, v in d.items())

    for _ in range(3):
        with pytest.raises(zyg.Unsupported, match="key of a dict"):
            pullback(f, (0.7,))[1](1.0)


def test_keys_that_cannot_be_keys():
    def f(x):
        d = {}
        total = 0.0
        for key in ((1, 2), (1, [2])):
            try:
                d[key] = x
                total += d.get(key, x)
            except TypeError:
                total += x * x
            try:
                total += d.get([key], x)
            except TypeError:
                total += 2.0 * x
        return total

    check(f)


# ------------------------------------------------------------------------------------------------- loops over views


def nested(x):
    graph = {"a": {"b": x, "c": x * x}, "b": {"c": 2.0 * x}, "c": {}}
    total = 0.0
    for u, edges in graph.items():
        for v, w in edges.items():
            total += w * w * len(u + v)
        for w in edges.values():
            total += w
        for v in edges.keys():  # noqa: SIM118
            total += graph[u][v] * 0.5
    return total + sum(graph["a"].values()) * sum(graph["b"].values(), x)


def methods_of_these_names(x):
    class Bag:
        def __init__(self):
            self.held = {"a": x, "b": x * x}

        def items(self):
            yield from self.held.items()

        def values(self):
            return [v * x for v in self.held.values()]

        def keys(self):
            return self.held

    class Odd(dict):
        def items(self):
            return {("k", 2.0): x}

    odd = Odd(a=x)
    odd.values = lambda: [x, x * x]
    total = 0.0
    for d in (Bag(), {"a": x}, odd, defaultdict(float, a=x)):
        for k, v in d.items():
            total += v * len(k)
        for v in d.values():
            total += v * v
        for k in d.keys():  # noqa: SIM118
            total += len(k) * x
    return total


def changed_on_the_way(x):
    d = {"a": x, "b": x * x}
    total = 0.0
    try:
        for k, v in d.items():
            total += v
            d[k + "!"] = x
    except RuntimeError:
        total += x**3
    return total + sum(d.values())


@by_one_python_a_day
@pytest.mark.parametrize("f", [nested, methods_of_these_names, changed_on_the_way])
def test_views(f):
    check(f)
    check_second(f)


def test_given_dicts_of_dicts():
    def f(graph, x):
        total = 0.0
        for edges in graph.values():
            for w in edges.values():
                total += w * x
            total += sum(edges.values()) * x
        return total

    graph = {"a": {"b": 1.0, "c": 2, "d": 4.0}, "b": {"c": 3.0, "n": None}, "c": {}, "d": {"a": "text"}}
    graph = {u: {v: w for v, w in edges.items() if isinstance(w, (int, float))} for u, edges in graph.items()}
    for _ in range(3):
        found, by_x = pullback(f, (graph, 0.5))[1](1.0)
        assert by_x == 20.0
        assert found == {"a": {"b": 1.0, "c": 1.0, "d": 1.0}, "b": {"c": 1.0}, "c": None, "d": None}


# ------------------------------------------------------------------------------------------------- states out of states


class State:
    def __init__(self, x, v):
        self.x, self.v = x, v


class Anything:
    def __init__(self, **kw):
        self.__dict__.update(kw)

    def copy(self, **changes):
        return type(self)(**{**self.__dict__, **changes})


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Hidden:
    """Its `__dict__` is something else."""

    def __init__(self, x):
        object.__setattr__(self, "x", x)

    @property
    def __dict__(self):
        return {"x": self.x * 2.0, "v": self.x}


def stepped(x):
    s = State(x, 0.5 * x)
    for _ in range(5):
        s = type(s)(**{**vars(s), "x": s.x + 0.1 * s.v})
        s = type(s)(**{**s.__dict__, "v": s.v - 0.1 * s.x * x})
    return s.x * s.v


def copied(x):
    s = Anything(x=x, v=x * x, name="s")
    for n in range(5):
        s = s.copy(x=s.x + 0.1 * s.v, name=s.name + str(n))
    return s.x * len(s.name)


def also_seen_as_a_dict(x):
    s = State(x, 0.5 * x)
    own = vars(s)
    own["x"] = own["x"] * x
    t = State(**{**vars(s), "v": x})
    own["v"] = 3.0
    t.__dict__.update({"x": t.x * t.v, "w": x})
    t.__dict__.update(own)
    t.__dict__.update(v=x * x)
    return t.x * s.v + t.w * t.v + own["x"]


def others(x):
    total = 0.0
    for make in (lambda: State(x, x * x), lambda: Slotted(x), lambda: Hidden(x), lambda: 1.0, lambda: None):
        s = make()
        try:
            d = {**vars(s), "y": x}
            total += d["x"] * d["y"] + d.get("v", 0.0)
        except TypeError:
            total += x**3
        try:
            d = dict(**s.__dict__)
            total += d["x"]
        except AttributeError:
            total += x**2
    return total


def another_vars(x):
    def vars(s):
        return {"x": s.x * x, "v": s.v}

    s = State(x, x)
    return State(**{**vars(s), "v": x}).x


space = {"State": State}
exec(
    """
def vars(s):
    if s.x < 0:
        raise ValueError(s.x)
    return {"x": s.x * s.v, "v": s.v}


def global_vars(x):
    s = State(x, x)
    total = State(**{**vars(s), "v": x}).x
    try:
        total += State(**{**vars(State(-x, x)), "v": x}).x
    except ValueError as error:
        total += error.args[0] * x
    return total
""",
    space,
)
global_vars = space["global_vars"]


def other_holders(x):
    import types

    class Base:
        kept = 3.0

    Base.kept = x
    total = 0.0
    for holder in (types.SimpleNamespace(x=x, y=x * x), State(x, x * x)):
        d = {**vars(holder)}
        total += sum(d.values())
        holder.__dict__.update({"x": x * x})
        total += holder.x * x
    return total + {**vars(Base)}["kept"]


def keywords_that_are_none(x):
    def f(**kw):
        kw["a"] = 5.0
        return sum(v for v in kw.values())

    options = {"a": x, "b": x * x}
    total = f(**{**options, "c": x}) + f(**{"a": x}) + options["a"]
    for bad in ({1: x}, {"a": 1.0, 2: x}):
        try:
            total += f(**{**bad})
        except TypeError:
            total += x * x
    return total


@by_one_python_a_day
@pytest.mark.parametrize(
    "f",
    [stepped, copied, also_seen_as_a_dict, others, another_vars, global_vars, other_holders, keywords_that_are_none],
)
def test_states(f):
    check(f)
    check_second(f)


class Place(NamedTuple):
    x: float
    v: float


def test_named_tuples_that_are_replaced():
    def f(x):
        p = Place(x, 1.0)
        for _ in range(4):
            p = p._replace(x=p.x + 0.1 * p.v * x)
        return p.x

    check(f)
    check_second(f)


# ------------------------------------------------------------------------------------------------- slices, side by side


def series(x):
    t = 1.0
    for n in itertools.count(1):
        yield t
        t = t * x / n


def noting(x, notes, most):
    for n in range(most):
        yield x**n
        notes.append(x * n)
    notes.append(x)


def slices(x):
    total = 0.0
    for t in itertools.islice(series(x), 6):
        total += t * x
    for t in itertools.islice(series(x), 2, 7):
        total = total * 0.9 + t
    for t in itertools.islice(series(x), 1, 9, 3):
        total += t * t
    for t in itertools.islice(series(x), 0):
        total += t
    return total


def slices_that_end_early(x):
    notes = []
    total = 0.0
    for t in itertools.islice(noting(x, notes, 3), 10):
        total += t
    for t in itertools.islice(noting(x, notes, 3), 3):
        total += t * t
    for t in itertools.islice(noting(x, notes, 3), 5, None):
        total += t * t
    for t in itertools.islice(noting(x, notes, 3), 5, 5):
        total += t * t
    for t in itertools.islice(noting(x, notes, 3), 2, 2):
        total += t * t
    for t in itertools.islice(noting(x, notes, 3), 3, 8):
        total += t * t
    return total + sum(notes)


def slices_that_go_on(x):
    steps = series(x)
    sliced = itertools.islice(steps, 7)
    total = 0.0
    for n, t in enumerate(sliced):
        total += t
        if n == 2:
            break
    for t in sliced:
        total = total * x + t
    for t in sliced:
        total += 100.0 * t
    first = next(steps)
    other = itertools.islice(steps, 4)
    total += next(other)
    for t in other:
        total += t * x
    left = itertools.islice(steps, 1, 5)
    for t in left:
        total += t
        break
    return total + first + sum(left) + next(steps)


def failing(x):
    yield x
    yield x * x
    raise ValueError


def slices_that_fail(x):
    total = 0.0
    for make in (lambda: itertools.islice(failing(x), 2), lambda: itertools.islice(failing(x), 5)):
        try:
            for t in make():
                total += t * x
        except ValueError:
            total = total * x
    return total


def side_by_side(x):
    total = 0.0
    for a, b in zip(itertools.islice(series(x), 5), series(x * x)):
        total += a * b
    for pair in zip(series(x), (x * k for k in range(4))):
        total += pair[0] * pair[1]
    for a, b in zip((x * k for k in range(4)), series(x)):
        total = total * 0.9 + a - b
    same = series(x)
    for n, (a, b) in enumerate(zip(same, same)):
        total += a * b * x
        if n > 2:
            break
    return total + next(same)


def side_by_side_with_notes(x):
    notes = []
    total = 0.0
    for a, b in zip(noting(x, notes, 2), noting(x * x, notes, 5)):
        total += a * b
    for a, b in zip(noting(x, notes, 5), noting(x * x, notes, 2)):
        total += a * b * x
    both = zip(series(x), series(2.0 * x))
    for a, b in both:
        total += a * b
        break
    a, b = next(both)
    total += a - b
    for n, (a, b) in enumerate(both):
        total += a * b * n
        if n > 2:
            break
    return total + sum(notes)


def side_by_side_that_fail(x):
    total = 0.0
    for make in (lambda: zip(failing(x), series(x)), lambda: zip(series(x), failing(x))):
        try:
            for a, b in make():
                total += a * b
        except ValueError:
            total = total * x
    return total


@by_one_python_a_day
@pytest.mark.parametrize(
    "f",
    [
        slices, slices_that_end_early, slices_that_go_on, slices_that_fail, side_by_side, side_by_side_with_notes,
        side_by_side_that_fail,
    ],
)  # fmt: skip
def test_generators(f):
    check(f)
    check_second(f)


# ------------------------------------------------------------------------------------------------- orders, heaps, maps


def orders(x):
    values = [x, x * x, 1.5, 2.0 * x]
    total = 0.0
    for p in itertools.permutations(values, 3):
        t = 0.0
        for a, b in zip(p, p[1:]):  # noqa: RUF007
            t += a * b
        total += t * t * p[0]
    for pair in itertools.combinations(values, 2):
        total += pair[0] / pair[1]
    for (v,) in itertools.zip_longest(values):
        total += v
    for pair in itertools.zip_longest(values, [x]):
        total += pair[0] * (pair[1] or 2.0)
    for pair in itertools.product(values, repeat=2):
        total += pair[0] * pair[1]
    for triple in itertools.combinations_with_replacement(values[:2], 3):
        total += triple[0] * triple[2]
    return total


def heaps_of_tuples(x):
    heap = []
    for n, v in enumerate((x, 3.0 * x, 0.5, x * x, 0.5, 2.0)):
        heapq.heappush(heap, (v, n))
    heapq.heappush(heap, (0.5, 1, "longer"))
    total = 0.0
    for k in range(12):
        v, n = heapq.heappop(heap)[:2]
        total = total * 0.9 + v * n * x
        if k < 6:
            heapq.heappush(heap, (v + x * (k + 1), k))
    return total


def taken_apart(x):
    total = 0.0
    for k in range(4):
        a, b = map(lambda t: t * x + k, (x, total))  # noqa: C417
        (c,) = map(lambda t: t * t, [x])  # noqa: C417
        total += a * 0.1 + b * 0.01 + c
    try:
        a, b = map(float, "1")
    except ValueError:
        total += x
    return total


@by_one_python_a_day
@pytest.mark.parametrize("f", [orders, heaps_of_tuples, taken_apart])
def test_orders_heaps_and_maps(f):
    check(f)
    check_second(f)


# ------------------------------------------------------------------------------------------------- natively


def test_native_code_does_the_same():
    keys = [*[(1, "a"), "b", 3, None, True, b"c", ()], *[(1, 0.5), 0.5, (1, (2,)), 1j, frozenset(), object()]]
    before = [is_label(key) for key in keys]
    slopes = [slope_of(f)(0.7) for f in (product, keys_by_tuple, stepped, copied, also_seen_as_a_dict, nested, orders)]
    pulls.COTANGENTS.start()
    assert [is_label(key) for key in keys] == before == [True] * 7 + [False] * 6
    assert slopes == [
        slope_of(f)(0.7) for f in (product, keys_by_tuple, stepped, copied, also_seen_as_a_dict, nested, orders)
    ]


def test_updates_are_undone_natively():
    from zyg.autodiff.objects import construction, iteration

    pulls.COTANGENTS.start()
    x, y = {}, {}
    for given, there, expected in (
        ({"a": 1.0, "b": None, "c": (1.0, None)}, {"a": 2.0}, {"a": 3.0, "c": (1.0, None)}),
        ({"z": 5.0}, {}, {}),
    ):
        shadows = Shadows()
        shadows.dict_of(x).update(given)
        shadows.dict_of(y).update(there)
        back = (construction.run_dict_updated, x, y, ("a", "b", "c"))
        assert back[0](back, None, shadows) is None
        assert shadows.items[id(y)] == expected
        assert shadows.items[id(x)] == {k: v for k, v in given.items() if k == "z"}
        back = (iteration.run_dict_item, y, (1, 2))
        back[0](back, None, shadows)
        back[0](back, 2.0, shadows)
        back[0](back, 0.5, shadows)
        assert shadows.items[id(y)] == expected | {(1, 2): 2.5}


def test_places_in_heaps_natively():
    import random

    from zyg.autodiff.objects import heaps

    pulls.COTANGENTS.start()
    draw = random.Random(3)
    kinds = [
        lambda: draw.random(),
        lambda: float(draw.randrange(4)),
        lambda: (draw.random(), "a"),
        lambda: (float(draw.randrange(4)), draw.randrange(3)),
        lambda: (draw.randrange(5), 0.5),
        lambda: draw.randrange(5),
        lambda: draw.choice([draw.random(), draw.randrange(2)]),
        lambda: Place(draw.random(), 1.0),
        lambda: draw.choice([float("nan"), draw.random()]),
        lambda: draw.choice([(), (0.5,), (draw.random(), draw.random())]),
    ]
    for kind in kinds:
        for _ in range(60):
            heap = []
            for _ in range(draw.randrange(9)):
                heapq.heappush(heap, kind())
            item = kind()
            assert heaps._place_up(heap, item) == heaps._up_in_python(heap, item)
            for count in range(1, len(heap) + 1):
                assert heaps._place_down(heap, item, count) == heaps._down_in_python(heap, item, count)


def test_long_linked_lists():
    class Node:
        def __init__(self, v, behind):
            self.v, self.behind = v, behind

    def f(head, x):
        total = 0.0
        while head is not None:
            total += head.v * head.v * x
            head = head.behind
        return total

    head = None
    for k in range(3000):
        head = Node(0.5 * k, head)
    by_head, by_x = pullback(f, (head, 2.0))[1](1.0)
    assert by_x == sum(0.25 * k * k for k in range(3000))
    for k in range(2999, -1, -1):
        assert by_head.v == 2.0 * k
        by_head = by_head.behind
    assert by_head is None
