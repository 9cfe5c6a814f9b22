"""Entries of random signatures, called with objects that fit, that nearly fit, and that do not fit at all."""

from __future__ import annotations

import random
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.turns import each_in_turn
from zyg.ir.types import (
    BOOL,
    F32,
    F64,
    I32,
    I64,
    NONE,
    RANGE,
    U8,
    Array,
    Const,
    ListType,
    NpScalar,
    Optional,
    Struct,
    Tuple,
    Type,
)
from zyg.typeof import type_of

from .native import Missed
from .test_calling import identity


@dataclass
class Record:
    a: object
    b: object


Named = namedtuple("Named", "a b")
NUMPY = {F64: np.float64, F32: np.float32, I64: np.int64, I32: np.int32, U8: np.uint8, BOOL: np.bool_}


def random_type(r: random.Random, depth: int) -> Type:
    kind = r.randrange(12 if depth else 7)
    if kind == 0:
        return r.choice([F64, I64, BOOL])
    if kind == 1:
        return NONE
    if kind == 2:
        return NpScalar(r.choice(list(NUMPY)))
    if kind == 3:
        return Const(r.choice(["text", len, 7]))
    if kind == 4:
        return RANGE
    if kind in (5, 6):
        return Array(r.choice(list(NUMPY)), r.randrange(4), r.choice("CA"))
    items = tuple(random_type(r, depth - 1) for _ in range(r.randrange(4)))
    pair = (random_type(r, depth - 1), random_type(r, depth - 1))
    if kind in (7, 8):
        return Tuple(items)
    if kind == 9:
        return ListType(items)
    if kind == 10:
        return Struct(r.choice([Record, Named]), ("a", "b"), pair)
    item = random_type(r, 0)
    return Optional(item) if item is not NONE else NONE


def random_object(r: random.Random, t: Type) -> object:
    """An object of the type."""
    if t is F64:
        return r.choice([0.0, -1.5, 1e300, float("inf")])
    if t is I64:
        return r.choice([0, -1, 5, 2**40, -(2**63), 2**63 - 1])
    if t is BOOL:
        return r.random() < 0.5
    if isinstance(t, NpScalar):
        return NUMPY[t.scalar](r.randrange(2))
    if isinstance(t, Const):
        return t.value
    if t is RANGE:
        return range(r.randrange(-5, 5), r.randrange(10), r.choice([1, 2, -1]))
    if isinstance(t, Array):
        array = np.ones(tuple(r.randrange(4) for _ in range(t.ndim)), NUMPY[t.dtype])
        return array.T if t.layout == "A" and r.random() < 0.5 else array
    if isinstance(t, Optional):
        return None if r.random() < 0.5 else random_object(r, t.item)
    if isinstance(t, (Tuple, ListType)):
        items = [random_object(r, i) for i in t.items]
        return tuple(items) if isinstance(t, Tuple) else items
    if isinstance(t, Struct):
        return t.cls(*(random_object(r, i) for i in t.items))
    return None


def garbage(r: random.Random) -> object:
    choices = [
        lambda: r.choice([None, 1, 1.5, True, "text", b"x", 2**100, 1j, (), [], {}, len, object, range(2**80), ...]),
        lambda: np.zeros(3)[::-1],
        lambda: np.array(["a"]),
        lambda: np.zeros((2, 2), ">f8"),
        lambda: np.zeros(2, [("a", "f8")]),
        lambda: np.longdouble(1),
        lambda: random_object(r, random_type(r, 2)),
    ]
    return r.choice(choices)()


def spoil(r: random.Random, value: object) -> object:
    """The object with something in it replaced."""
    if isinstance(value, (tuple, list)) and value and r.random() < 0.7:
        k = r.randrange(len(value))
        items = [*value[:k], spoil(r, value[k]), *value[k + 1 :]]
        return type(value)(*items) if isinstance(value, Named) else type(value)(items)
    return garbage(r)


def equal(x: object, y: object) -> bool:
    if isinstance(x, np.ndarray):
        return x is y
    if isinstance(x, (tuple, list)):
        return type(x) is type(y) and len(x) == len(y) and all(map(equal, x, y))  # type: ignore[arg-type]
    if isinstance(x, Record):
        return equal(x.a, y.a) and equal(x.b, y.b)
    return x == y


@each_in_turn
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_random_signatures(seed):
    r = random.Random(seed)
    types = tuple(random_type(r, 2) for _ in range(r.randrange(1, 4)))
    f = identity(*types)
    for _ in range(10):
        values = tuple(random_object(r, t) for t in types)
        got = f(*values)
        assert equal(got if len(types) > 1 else (got,), values)
        spoiled = [*values]
        k = r.randrange(len(values))
        spoiled[k] = spoil(r, values[k])
        try:
            f(*spoiled)
        except Missed:
            continue
        # It was taken: then it must be of the type after all.
        assert fits(types[k], spoiled[k]), (types[k], spoiled[k])


def fits(t: Type, value: object) -> bool:
    if isinstance(t, Optional):
        return value is None or fits(t.item, value)
    if isinstance(t, Const):
        return value is t.value or (type(value) is type(t.value) and value == t.value)
    if isinstance(t, (Tuple, ListType)):
        cls = tuple if isinstance(t, Tuple) else list
        return type(value) is cls and len(value) == len(t.items) and all(map(fits, t.items, value))
    if isinstance(t, Struct):
        return type(value) is t.cls and fits(t.items[0], value.a) and fits(t.items[1], value.b)
    if isinstance(t, Array):
        if type(value) is not np.ndarray:
            return False
        its = type_of(value)
        return isinstance(its, Array) and (its.dtype, its.ndim) == (t.dtype, t.ndim) and t.layout in ("A", its.layout)
    return type_of(value) == t


@pytest.mark.parametrize("count", [0, 1, 7, 100])
def test_many_parameters(count):
    f = identity(*[F64] * count) if count != 1 else identity(Tuple((F64,)))
    values = tuple(float(k) for k in range(count))
    assert (f(*values) if count != 1 else f(values)) == values
