"""What is looked at side by side: native code does what the functions in Python do that stand in its place at first."""

from __future__ import annotations

import gc
import random
import weakref
from collections import UserList, namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.memory import allocated, growth
from zyg.autodiff.objects import together
from zyg.autodiff.objects.cotangents import Refused
from zyg.backend import pulls

REFUSED = Refused(TypeError("no derivative"))
Pair = namedtuple("Pair", "x v")
SIZES = (0, 1, 2, 5, 40)


@pytest.fixture(autouse=True, scope="module")
def natively() -> None:
    pulls.ALIKE.start()


def in_python(builtin: Any) -> Any:
    return builtin.__self__[0]


class Plain:
    def __init__(self, x: Any, v: Any):
        self.x = x
        self.v = v


class Slotted:
    __slots__ = ("__weakref__", "v", "x")

    def __init__(self, x: Any, v: Any):
        self.x = x
        self.v = v


class Both(Slotted):
    def __init__(self, x: Any, v: Any):
        super().__init__(x, v)
        self.w = 0.5


@dataclass
class Data:
    x: Any
    v: Any = 0.25


class OfDict(dict[str, Any]):
    pass


CLASSES = [Plain, Slotted, Both, Data]
WITH_DICT = [Plain, Both, Data]


def drawn_value(rng: random.Random, x: Any = None) -> Any:
    kind = rng.choice(["float"] * 8 + ["int", "text", "none", "list", "dict", "dict of a class", "class", "itself"])
    return {
        "float": rng.uniform(-1.0, 1.0), "int": rng.randrange(3), "text": "a", "none": None, "list": [1.0], "dict": {"x": 1.0, "v": 2.0},
        "dict of a class": OfDict(x=1.0), "class": type(x), "itself": x,
    }[kind]  # fmt: skip


def drawn_object(rng: random.Random, cls: Any, odd: float) -> Any:
    """An object with which something may be unusual, as often as `odd` says."""
    x = cls(rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0))
    if rng.random() < odd:
        setattr(x, rng.choice(["x", "v"]), drawn_value(rng, x))
    if cls in WITH_DICT:
        if rng.random() < odd:
            vars(x)
        if rng.random() < odd:
            x.__dict__ = (OfDict if rng.random() < 0.3 else dict)(vars(x))
        if rng.random() < odd:
            x.other = drawn_value(rng, x)
        if rng.random() < odd:
            x.other = x.v
        if cls is Data and rng.random() < odd:
            del x.v
    return x


def attributes(x: Any) -> set[str]:
    """The names of what an object holds. (It is asked for its `__dict__`.)"""
    found = {*getattr(x, "__dict__", ())}
    for cls in type(x).__mro__:
        found |= {n for n in getattr(cls, "__slots__", ()) if n != "__weakref__" and hasattr(x, n)}
    return found


@pytest.mark.parametrize("odd", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_objects_that_hold_nothing_else(cls: Any, odd: float) -> None:
    rng = random.Random(f"{cls.__name__} {odd}")
    alike = 0
    for _ in range(300):
        held = [drawn_object(rng, cls, odd) for _ in range(rng.choice([1, 2, 5, 20]))]
        try:
            plan, columns, kinds = together.attributes_of(held)
        except together._Unlike:
            plan = None
        if plan is not None:
            assert kinds == [set(map(type, column)) for column in columns]
            assert list(columns) == [[getattr(x, name) for x in held] for name in plan.names]
            alike += 1
            assert all(attributes(x) == set(plan.names) for x in held)
    assert alike or cls is Both


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("cls", [Plain, Data])
def test_what_is_usual_is_found_natively(cls: Any, asked: bool) -> None:
    together.attributes_of([cls(0.5, 1.0)])
    held = [cls(0.5 * k, 1.0 + k) for k in range(6)]
    plan, _, _ = together.attributes_of(held)
    for x in held if asked else ():
        assert vars(x)
    columns = plan.read(held)
    assert together.types_alone(held, columns, plan.in_dict, None) == [{float}, {float}]
    held[3].other = 1.0
    with pytest.raises(AttributeError):  # Python is asked
        together.types_alone(held, columns, plan.in_dict, None)


@pytest.mark.parametrize("cls", [Plain, Data])
def test_objects_are_not_asked_for_their_dict(cls: Any) -> None:
    together.attributes_of([cls(0.5, 1.0)])
    held = [cls(0.5 * k, 1.0 + k) for k in range(6)]
    before = [len(gc.get_referents(x)) for x in held]
    for _ in range(5):
        together.attributes_of(held)
    assert [len(gc.get_referents(x)) for x in held] == before


def test_objects_that_are_not_alike() -> None:
    """Columns of other lengths or kinds, other classes: what Python says of them."""
    held = [Plain(1.0, 2.0) for _ in range(5)]
    plan, (xs, vs), _ = together.attributes_of(held)
    own = in_python(together.types_alone)
    for objects, columns, in_dicts in [
        (held, (xs, vs), True), (held, (xs, vs), False), (held, (vs, vs), True), (held, (xs,), True), (held, ([0.5] * 5, vs), True),
        (held, (xs, vs, vs), True),
    ]:  # fmt: skip
        assert together.types_alone(objects, columns, in_dicts, plan) == own(objects, columns, in_dicts, plan)


def test_types_and_identities() -> None:
    rng = random.Random(1)
    for size in SIZES:
        for _ in range(20):
            values = [drawn_value(rng, rng) for _ in range(size)]
            for given in (values, tuple(values), UserList(values), dict.fromkeys(map(str, values))):
                assert together.types_in(given) == set(map(type, given))
            assert together.identities(values) == (list(map(id, values)), set(map(id, values)))


def test_types_of_a_class_that_says_what_its_hash_is() -> None:
    class Meta(type):
        def __hash__(cls) -> int:
            raise ValueError("no hash")

    class Odd(metaclass=Meta):
        pass

    with pytest.raises(ValueError, match="no hash"):
        together.types_in([1.0, Odd()])


@pytest.mark.parametrize("cls", [Plain, Slotted])
def test_an_instance_for_each(cls: Any) -> None:
    for size in SIZES:
        mapping: dict[Any, Any] = {"before": 1}
        together.give_each(mapping, list(range(size)), list)
        assert mapping == {"before": 1, **{k: [] for k in range(size)}}
        assert len(set(map(id, mapping.values()))) == size + 1
    with pytest.raises(TypeError):
        together.give_each({}, [1], cls)


def drawn_column(rng: random.Random, size: int, odd: bool) -> Any:
    if rng.random() < 0.2:
        return iter(())
    share = rng.choice([0.0, 0.3, 1.0])
    column = [None if rng.random() < share else rng.choice([rng.uniform(-1.0, 1.0), (1.0, None)]) for _ in range(size)]
    if odd and column and rng.random() < 0.3:
        column[rng.randrange(size)] = REFUSED
    return column


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("form", [Pair, ("x", "v"), ("x", 3)], ids=str)
def test_rows(form: Any, odd: bool) -> None:
    rng = random.Random(f"{form} {odd}")
    for _ in range(400):
        size = rng.choice(SIZES)
        columns = [drawn_column(rng, size, odd) for _ in range(2)]
        again = [column if type(column) is list else [None] * size for column in columns]
        made = together.rows(form, columns, size)
        assert repr(made) == repr(in_python(together.rows)(form, again, size))
        if any(REFUSED in column for column in again):
            assert made is None
            continue
        expected = [
            None if row == (None, None) else dict(zip(form, row)) if type(form) is tuple else Pair(*row)
            for row in zip(*again)
        ]
        assert made == expected and list(map(type, made)) == list(map(type, expected))


def test_nothing_is_kept() -> None:
    """Neither by what is returned, nor where there is an error."""

    class Odd:
        pass

    def once() -> None:
        held = [Plain(0.5 * k, [k]) for k in range(20)]
        vars(held[3])
        together.attributes_of(held)
        together.types_in(held)
        together.identities(held)
        column = [np.float64(k) if k % 3 else None for k in range(20)]
        together.rows(Pair, [column, [None] * 20], 20)
        together.rows(("x", "v"), [column, column[::-1]], 20)
        together.rows(Pair, [column, [REFUSED] * 20], 20)
        together.give_each({}, list(range(20)), Odd)
        odd = Odd()
        reference = weakref.ref(odd)
        together.rows(Pair, [[odd], [None]], 1)
        del odd
        assert reference() is None

    def run(times: int) -> None:
        for _ in range(times):
            once()

    assert growth(run, 200, 800, allocated) < 1 << 12
