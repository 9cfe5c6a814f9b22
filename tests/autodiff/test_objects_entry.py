"""What comes in and out of derivatives of object code: structures, foreign code, arguments that are one object."""

from __future__ import annotations

import gc
import json
import random
import statistics
from collections import namedtuple
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy as np
import pytest

from zyg.autodiff.objects.api import gradient_of, pullback
from zyg.autodiff.objects.shadows import Shadows
from zyg.errors import Unsupported

Named = namedtuple("Named", "p q")


@dataclass
class Record:
    a: float
    b: list


class Constant(Enum):
    TWO = 2.0


WEIGHTS = np.array([1.0, 2.0])


def gradient(f, *args, seed=1.0):
    return pullback(f, args)[1](seed)


def test_structures():
    (record,) = gradient(lambda r: replace(r, a=r.a * 2).a * r.b[1], Record(1.5, [1.0, 2.0]))
    assert record == (4.0, [0.0, 3.0])
    assert record._fields == ("a", "b")
    assert gradient(lambda n: n.p * n._replace(q=n.p).q + n.q, Named(1.5, 2.0)) == ((3.0, 1.0),)
    assert gradient(lambda d: d["x"][0] * d["y"][1], {"x": (2.0, 1.0), "y": [1.0, 3.0], "z": 1.0}) == (
        {"x": (3.0, None), "y": [0.0, 2.0], "z": None},
    )
    value, back = pullback(lambda x: [x, {"a": x * x}], (1.5,))
    assert value == [1.5, {"a": 2.25}]
    assert back([1.0, {"a": 1.0}]) == (4.0,)
    assert back([None, {"a": 1.0}]) == (3.0,)


def test_lists_of_tuples():
    def weighted(rows):
        return sum(row[0] * len(row[1]) for row in rows if len(row) > 1)

    assert gradient(weighted, [(2.0, "ab"), (3.0,), (0.5, "a")]) == ([(2.0, None), None, (1.0, None)],)
    assert gradient(lambda rows: rows[1][0] * rows[0][1], [(1, True), (2.0, 3.0)]) == ([None, (1.0, None)],)
    assert gradient(lambda rows: rows[0][1] * rows[2][1], [("a", 2.0), ("b",), ("c", 0.5), ()]) == (
        [(None, 0.5), None, (None, 2.0), None],
    )
    assert gradient(lambda rows: len(rows) * 1.0, [(1.0, 2.0)] * 2) == (None,)
    assert gradient(lambda rows: rows.pop()[0] * 2.0, [(1.0, 2.0), (3.0, 4.0)]) == ([None, (2.0, None)],)
    value, back = pullback(lambda rows: [(b, a) for a, b in rows], ([(1.0, 2.0), ("x", 3.0)],))
    assert value == [(2.0, 1.0), (3.0, "x")]
    assert back([(1.0, None), (3.0, None)]) == ([(None, 1.0), (None, 3.0)],)
    assert back([None, (None, None)]) == (None,)


def test_numbers_of_other_kinds():
    assert gradient(lambda x: x * x + 1, Fraction(3, 2)) == (3.0,)
    assert gradient(lambda x: x * x / Decimal(4), Decimal("1.5")) == (0.75,)
    assert gradient(lambda x: x * Constant.TWO.value, 1.5) == (2.0,)


def test_foreign_code_off_the_derivative_runs():
    rng = np.random.default_rng(0)
    assert gradient(lambda x: x * (0.0 * random.random() + 1.0) * json.loads("[2.0]")[0], 1.5) == (2.0,)
    assert gradient(lambda x: x + 0.0 * x * float(rng.normal(0.0, 1.0)), 1.5) == (1.0,)
    assert gradient(lambda x: x * int(str(2)) + len(f"{x:.3f}"), 1.5) == (2.0,)


class WithSlots:
    __slots__ = ("u",)


class WithBoth(WithSlots):
    pass


def test_the_dict_of_an_object_with_slots_is_refused():
    """What it holds under the name of a slot is not the attribute."""

    def f(x):
        o = WithBoth()
        o.u, o.w = x, x * x
        o.__dict__["u"] = 2.0
        return o.u * o.w

    with pytest.raises(Unsupported, match="whose class has __slots__"):
        gradient(f, 1.5)


def test_foreign_code_gets_a_generic_type():
    """Whose `__dict__` is that of the class."""
    assert gradient(lambda x: x * x if gc.is_tracked(list[int]) else x, 1.5) == (3.0,)


def test_foreign_code_on_the_derivative_is_refused():
    def weighted(x):
        return statistics.harmonic_mean([x, 2.0], weights=iter([1.0, 2.0]))

    with pytest.raises(Unsupported, match=r"statistics\.harmonic_mean") as caught:
        gradient(weighted, 1.5)
    assert caught.value.position is not None and caught.value.position.function.endswith("weighted")
    assert "@zyg.adjoint" in str(caught.value)

    def shuffled(x):
        items = [x, 2.0, 3.0]
        random.Random(1).shuffle(items)
        np.random.default_rng(0).shuffle(items)
        return items[0] + 2.0 * items[1] + 3.0 * items[2]

    with pytest.raises(Unsupported, match="changes its argument"):
        gradient(shuffled, 1.5)
    with pytest.raises(Unsupported, match="locals"):
        gradient(lambda x: locals()["x"] * x, 1.5)


def test_the_dict_of_a_function():
    def f(x):
        def counted(z):
            return z

        counted.a = x * x
        counted.__dict__["a"] *= 2.0
        return counted.a * counted(x)

    assert gradient(f, 1.5)[0] == pytest.approx(6.0 * 1.5**2)


def test_one_array_as_two_arguments():
    """The gradient is by each argument alone, where none is written; by a list it is by all its uses."""
    x = np.array([1.0, 2.0])
    first, second = gradient(lambda a, b: float((a * b * b).sum()), x, x)
    assert first.tolist() == [1.0, 4.0]
    assert second.tolist() == [2.0, 8.0]
    (found,) = gradient(lambda v: float((v * WEIGHTS).sum()), WEIGHTS)
    assert found.tolist() == [1.0, 2.0]

    def writes(a, b):
        a[0] = 3.0
        return float((a * b).sum())

    with pytest.raises(ValueError, match="shares memory"):
        gradient(writes, x, x)

    def fills(a, b):
        a.fill(3.0)
        return float(b.sum())

    def copies(a, b):
        np.copyto(a, 3.0)
        return float(b.sum())

    for f in (writes, fills, copies):
        with pytest.raises(ValueError, match="shares memory"):
            gradient(f, *[np.array([3.0, 3.0])] * 2)  # which is what is there already
    halves = np.array([1.0, 2.0, 3.0, 4.0])
    first, second = gradient(writes, halves[:2], halves[2:])
    assert first.tolist() == [0.0, 4.0]
    assert second.tolist() == [3.0, 2.0]
    items = [1.0, 2.0]
    assert gradient(lambda a, b: a[0] * b[0] * b[0], items, items) == ([3.0, 0.0], [3.0, 0.0])  # by the list


def test_what_others_than_the_arguments_got():
    items = [2.0, 3.0]
    _, back = pullback(lambda x: x * items[0] * items[1], (4.0,))
    shadows = Shadows()
    assert back.run(1.0, shadows) == (6.0,)
    assert gradient_of(items, shadows) == [12.0, 8.0]
