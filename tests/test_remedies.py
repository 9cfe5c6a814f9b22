"""Messages lead somewhere: names that users can import, what to write instead, the line."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
import pytest

import zyg
from zyg import rules
from zyg.fallback import python_pullback

from .turns import each_in_turn

pytestmark = each_in_turn


def test_names_are_those_that_users_import() -> None:
    integrate = pytest.importorskip("scipy.integrate")
    stats = pytest.importorskip("scipy.stats")
    with pytest.raises(zyg.Unsupported, match=r"@zyg.adjoint\(scipy\.integrate\.quad\)"):
        python_pullback(lambda x: integrate.quad(lambda t: t * x, 0.0, 1.0)[0], (1.0,), {})[1](1.0)
    with pytest.raises(zyg.Unsupported, match=r"@zyg.adjoint\(scipy\.stats\.rv_continuous\.logpdf\)"):
        python_pullback(lambda x: stats.norm.logpdf(x), (1.0,), {})[1](1.0)


def test_the_cotangent_of_a_dict() -> None:
    _, back = zyg.pullback(lambda x: {"a": x, "b": x * 2.0}, 2.0)
    with pytest.raises(TypeError, match="should be a dict with the keys 'a', 'b', not a float"):
        back(1.0)
    assert back({"b": 1.0}) == (2.0,)


def test_an_unfinished_generator_says_where_it_stands() -> None:
    def steps(x: float) -> Iterator[float]:
        try:
            yield x
            yield x * 2.0
        finally:
            x *= 3.0

    def f(x: float) -> float:
        items = steps(x)
        return next(items)

    with pytest.raises(zyg.Unsupported, match=r"was not finished(.|\n)*steps(.|\n)*yield x\n"):
        python_pullback(f, (2.0,), {})


def test_keywords_of_functions_that_compiled_code_does_not_know() -> None:
    called = functools.lru_cache(lambda x, *, scale, shift: x * scale + shift)
    zyg.adjoint(called, returns=float)(
        lambda x, *, scale, shift: (called(x, scale=scale, shift=shift), lambda d: (d * scale,))
    )
    try:
        f = zyg.jit(lambda x, s: called(x, scale=s * 2.0, shift=1.0))
        assert f(3.0, 0.5) == 4.0
    finally:
        rules.remove(called)


def test_all_elements_are_set_through_flat() -> None:
    def f(a: np.ndarray, v: np.ndarray) -> float:
        a = a * 1.0
        setattr(a, "flat", v)  # noqa: B010
        return np.sum(a * np.arange(6.0).reshape(2, 3))

    value, (da, dv) = zyg.withgradient(zyg.jit(f), np.ones((2, 3)), np.array([1.0, 2.0, 3.0, 4.0]))
    assert value == 0 + 2 + 6 + 12 + 4 + 10 and not da.any() and dv.tolist() == [4.0, 6.0, 2.0, 3.0]
