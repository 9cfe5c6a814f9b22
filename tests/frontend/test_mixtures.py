"""Operands of all kinds where a number, an index or text is expected: what CPython gives and raises, or a refusal.

A slice of `python -m tests.frontend.mixtures`: forms that once took what CPython does not.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import operator
from typing import Any

import numpy as np
import pytest

import zyg
from zyg.fallback import python_pullback

from ..turns import each_in_long_turn, each_in_turn
from .mixtures import alike, outcome
from .tries import check, programs

pytestmark = each_in_turn

KINDS: tuple[Any, ...] = (
    2, -1, True, 0.5, 1j, np.float64(0.5), np.float32(0.25), np.int64(3), np.bool_(True), np.complex128(1 + 2j),
    np.array(0.5), np.array(3), np.array([1, 2]), "ab", None, (1.0, 2.0), [1.0, 2.0],
)  # fmt: skip
FORMS = (
    "[1.0, 2.0, 3.0, 4.0][p]", "[1.0, 2.0, 3.0, 4.0][p:]", "(1, 2, 3, 4)[p]", "'abcd'[p]", "range(5)[p]", "np.zeros(5)[p:]",
    "[1.0, 2.0, 3.0, 4.0].pop(p)", "[1.0, 2.0].insert(p, 3.0)", "list(range(p))", "np.zeros(p)", "operator.index(p)",
    "math.gcd(p)", "math.ldexp(1.0, p)", "math.trunc(p)", "math.floor(p)", "math.sqrt(p)", "math.degrees(p)", "math.frexp(p)",
    "math.fsum([p, p])", "math.dist([p], [p])", "round(2, p)", "pow(p, 2, 3)", "[*[1.0, 2.0], p]", "p.real", "p.imag", "p.conjugate()",
    "f'{p:.2f}'", "'ab' % p == 'ab'", "'%s' % p", "divmod(0.5, p)",
    "list(enumerate([1.0], p))",
)  # fmt: skip


@each_in_long_turn
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore")
def test_as_in_cpython_or_refused(form: str) -> None:
    f = eval(f"lambda p: {form}", {"np": np, "math": math, "operator": operator})
    for p in KINDS:
        wanted, found = outcome(f, [p]), outcome(zyg.jit(f), [p])
        assert found is zyg.Unsupported or alike(found, wanted), (p, wanted, found)


DICT = {"a": 1.0}
STATEMENTS = (
    "s = [1.0, 3.0]; s += p", "s = [1.0, 3.0]; s *= p", "s = np.ones(2); s @= p", "s = np.eye(2); s @= p", "s = 'ab'; s %= p",
    "s = {**p}", "s = (lambda **a: a)(**p)", "s = [1.0, 2.0][p:]", "s = {'b': 2.0}; s.update(p)", "s = {'b': 2.0}; s |= p",
)  # fmt: skip


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.filterwarnings("ignore")
def test_statements_natively_and_through_python(statement: str) -> None:
    namespace: dict[str, Any] = {"np": np}
    exec(f"def f(p):\n    {statement}\n    return s", namespace)
    f = namespace["f"]
    for p in (*KINDS, [[1.0, 2.0], [3.0, 4.0]], np.eye(2), [], (), DICT):
        wanted = outcome(f, [p])
        for found in (outcome(zyg.jit(f), [p]), outcome(lambda p: python_pullback(f, (p,), {})[0], [p])):
            assert found is zyg.Unsupported or alike(found, wanted), (p, wanted, found)


LIBRARY: tuple[tuple[str, Any], ...] = (
    ("np.arange(p)", np.float32(3.5)), ("np.arange(0, p)", np.int32(3)), ("np.block(p)", [[1.0, 2.0], [3.0, 4.0]]),
    ("np.roots(p)", np.array([0.5, 1.5, -2.0], np.float32)), ("np.zeros(p)", [2, 1]), ("np.zeros(p)", True),
    ("np.gradient(p)", np.array([True, False])), ("np.clip(p)", None), ("np.einsum(p)", "ab"),
    ("np.broadcast_shapes(p, (2, 1))", 2.5), ("np.abs(p, dtype=int)", 0.5), ("np.invert(p, dtype=bool)", 2),
    ("np.abs(p, dtype=complex)", np.ones(2)),
    *((f"np.{f}(p, dtype=float)", np.ones((2, 2), int)) for f in ("concatenate", "stack", "vstack", "hstack")),
    *((f"np.{f}(p)", np.zeros((0, 3))) for f in ("concatenate", "stack", "vstack", "hstack")),
    ("np.concatenate(p, axis=None)", np.ones(2)), ("np.mean(p, dtype=int)", np.ones(2)), ("np.var(p, dtype=int)", np.ones(2)),
    ("np.nanmean(p, dtype=int)", [1, 2]), ("np.modf(p, dtype=int)", np.ones(2, int)), ("np.fromiter(p, float)", np.eye(2)),
    ("np.cumsum(p, axis=1)", 0.5), ("np.nancumprod(p, axis=0)", 0.5),
)  # fmt: skip


def test_of_the_library() -> None:
    for form, p in LIBRARY:
        f = eval(f"lambda p: {form}", {"np": np})
        wanted, found = outcome(f, [p]), outcome(zyg.jit(f), [p])
        assert found is zyg.Unsupported or alike(found, wanted), (form, p, wanted, found)
        assert getattr(found, "dtype", None) == getattr(wanted, "dtype", None) or found is zyg.Unsupported, form


def test_dicts_of_pairs_whose_number_is_not_known() -> None:
    for make in (lambda p: dict(zip("ab", p)), lambda p: {"c": 1.0} | dict(zip("ab", p)), lambda p: dict(enumerate(p))):
        with pytest.raises(zyg.Unsupported):
            zyg.jit(make)([1.0, 2.0])
    assert zyg.jit(lambda x: dict(zip("ab", (x, 2.0 * x))))(1.5) == {"a": 1.5, "b": 3.0}


USES = (
    "return len(r)", "return bool(r)", "return [v for v in r]", "return 'a' in r", "return r == []", "return tuple(r)", "return r[0:1]",
    "return len(r + [1.0])", "r.clear(); return len(r)", "r[0] = 1.0; return len(r)", "del r[0]; return len(r)",
    "r.append(1.0); return len(r)", "r += [1.0]; return len(r)", "return len({'k': r}['k'])", "return (lambda *a: len(a))(*r)",
)  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_lists_of_items_of_several_types_that_may_be_there(use: str) -> None:
    for items in ("r.append('a'); r.append('b')", "r.append(x); r.append('b')", "r.extend(zip('ab', [x, x]))"):
        namespace: dict[str, Any] = {}
        exec(f"def f(x):\n    r = []\n    if x > 0.0: {items}\n    {use}", namespace)
        for x in (1.0, -1.0):
            wanted, found = outcome(namespace["f"], [x]), outcome(zyg.jit(namespace["f"]), [x])
            assert found is zyg.Unsupported or alike(found, wanted), (items, x, wanted, found)


def test_tuples_are_not_told_apart_by_identity() -> None:
    with pytest.raises(zyg.Unsupported, match="`is` of two values"):
        zyg.jit(lambda p, q: p is q)((1.5, 2.0), (1.5, 2.0))
    assert zyg.jit(lambda p: p is p)((1.5, 2.0))


def test_ways_out_of_nested_tries() -> None:
    """A slice of `python -m tests.frontend.tries`."""
    for source in [*itertools.islice(programs(1), 0, None, 7), *itertools.islice(programs(2), 0, None, 149)]:
        for x in (1.0, 2.0):
            with contextlib.suppress(SyntaxError):
                check(source, x, natively=False)


def test_clip_without_bounds_is_a_copy() -> None:
    def f(p: np.ndarray) -> float:
        r = np.clip(p, None, None)
        s = np.sum(r * r * p)
        p[...] = 7.0
        return s + np.sum(r)

    a = np.array([1.5, -0.5])
    value, back = python_pullback(f, (a.copy(),), {})
    assert value == f(a.copy()) and back(1.0)[0].tolist() == [7.75, 1.75]


def test_numpy_types_of_arrays_of_their_own_type_are_the_arrays() -> None:
    def f(p: np.ndarray) -> float:
        r = np.float64(p)
        p[...] = 7.0
        return np.sum(r)

    assert f(np.ones(2)) == zyg.jit(f)(np.ones(2)) == python_pullback(f, (np.ones(2),), {})[0] == 14.0
