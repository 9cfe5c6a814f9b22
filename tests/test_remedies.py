"""Messages lead somewhere: names that users can import, what to write instead, the line."""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

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


def test_an_unfinished_generator_says_where_it_is() -> None:
    def steps(x: float) -> Iterator[float]:
        try:
            yield x
            yield x * 2.0
        finally:
            x *= 3.0

    def f(x: float) -> float:
        items = steps(x)
        return next(items)

    with pytest.raises(zyg.Unsupported, match=r"was not finished(.|\n)*, in \".*steps\"\n *def steps"):
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


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_solvers_and_integrals_point_at_implicit_differentiation() -> None:
    integrate, optimize = pytest.importorskip("scipy.integrate"), pytest.importorskip("scipy.optimize")
    by_root = lambda x: optimize.brentq(lambda t: t * t - x, 0.0, 10.0)
    for f in (by_root, lambda x: integrate.quad(lambda t: t * x, 0.0, 1.0)[0]):
        with pytest.raises(zyg.Unsupported, match=r"'Implicit differentiation' in docs/custom-adjoints\.md"):
            zyg.gradient(f, 2.0)
        with pytest.raises(zyg.Unsupported, match=r"'Implicit differentiation' in docs/custom-adjoints\.md"):
            zyg.jit(f)(2.0)

    @zyg.adjoint(optimize.brentq)
    def _(g: Callable[[float], float], low: float, high: float) -> Any:
        x = optimize.brentq(g, low, high)

        def back(d: float) -> Any:
            _, pull = zyg.pullback(lambda h: h(x), g)
            return pull(-d / zyg.derivative(g)(x))[0], None, None

        return x, back

    try:
        assert zyg.gradient(by_root, 2.0)[0] == pytest.approx(0.5 / 2.0**0.5)
    finally:
        rules.remove(optimize.brentq)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_text_that_is_run_says_what_to_write() -> None:
    with pytest.raises(zyg.Unsupported, match=r"eval without the names(.|\n)*test_remedies(.|\n)*eval\('lambda x"):
        zyg.gradient(lambda x: eval("x * x"), 2.0)
    with pytest.raises(zyg.Unsupported, match=r"evaluated from a string(.|\n)*as Python code"):
        zyg.gradient(lambda x: eval("x * x", {"x": x}), 2.0)
    with pytest.raises(zyg.Unsupported, match="write the statements as Python code"):
        zyg.gradient(lambda x: (d := {"x": x}, exec("y = x", d), d["y"])[2], 2.0)


def copied(x: float) -> float:
    return pickle.loads(pickle.dumps([x]))[0] * x


def copied_otherwise(x: float) -> float:
    return copy.deepcopy([x])[0] * x


WEIGHTS = pickle.dumps([3.0])


def with_weights(x: float) -> float:
    return pickle.loads(WEIGHTS)[0] * x + len(pickle.dumps(x)) * 0.0


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_copies_by_way_of_bytes_are_refused() -> None:
    """The copy was a constant."""
    with pytest.raises(zyg.Unsupported, match=r"copy\.deepcopy"):
        zyg.gradient(copied, 2.0)
    assert zyg.gradient(copied_otherwise, 2.0) == (4.0,)
    assert zyg.gradient(with_weights, 2.0) == (3.0,)


def changing(a: list[float]) -> float:
    a[0] = 2.0 * a[0]
    return a[0]


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_a_rule_that_changes_its_argument_says_where_it_was_called() -> None:
    zyg.adjoint(changing)(lambda a: (changing(a), lambda d: ([2.0 * d],)))
    try:
        with pytest.raises(zyg.Unsupported, match=r"changes its argument(.|\n)*test_remedies\.py(.|\n)*changing\(a\)"):
            python_pullback(lambda x: (a := [x], changing(a), a[0])[2], (1.5,), {})[1](1.0)
    finally:
        rules.remove(changing)


def test_integers_past_64_bits_say_which_operation() -> None:
    for f, symbol in (
        (lambda n: n * n, r"\*"),
        (lambda n: n + n, r"\+"),
        (lambda n: n**5, r"\*\*"),
        (lambda n: -n - n - n, "-"),
    ):
        with pytest.raises(
            OverflowError, match=f"integer result of {symbol} does not fit into 64 bits: begin with a float"
        ):
            zyg.jit(f)(2**62)


of_no_module = type("OfNoModule", (), {"__module__": None, "__call__": lambda self, x: x * x})()


def test_instances_of_a_class_that_is_of_no_module() -> None:
    assert python_pullback(lambda x: of_no_module(x), (3.0,), {})[1](1.0) == (6.0,)


def test_loops_over_arrays_of_several_numbers_of_dimensions_are_refused():
    def f(x, c):
        v = x.sum(axis=0)
        if c:
            v = x.copy()
        total = 0.0
        for row in v:
            total = total + np.sum(row)
        return total

    with pytest.raises(zyg.Unsupported, match="one number of dimensions here and another there"):
        zyg.jit(f)(np.ones((4, 4)), True)
