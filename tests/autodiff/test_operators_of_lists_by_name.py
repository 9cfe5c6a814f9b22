"""Operators of lists and tuples by the names of their methods, in code that goes through Python."""

from __future__ import annotations

import pytest

import zyg
from tests.turns import by_one_python_a_day
from zyg.fallback import python_pullback

TEXTS = """list.__add__(a, b)|a.__add__(b)|list.__mul__(a, 2)|list.__rmul__(a, 2)|list.__imul__(a, 2)|a.__imul__(3)|list.__iadd__(a, b)
a.__iadd__(b)|list.__iadd__(a, a)|a.__iadd__(x * k for k in range(3))|list.__iadd__(a, (x, x * x))|tuple.__add__((x,), (x * x,))
(x, 1.0).__mul__(3)|tuple.__rmul__((x, x), 0)|list.__mul__(a, True)|Own(a).__iadd__(b)|list.__add__(Own(a), b)|Own(a).__add__(b)""".replace("\n", "|").split("|")  # fmt: skip


class Own(list):
    def __iadd__(self, others):
        return super().__iadd__([2.0 * x for x in others])


def function(text):
    space = {"Own": Own}
    exec(
        f"def f(x):\n  a = [x, 2.0]; b = [x * x, x]\n  c = {text}\n  return sum(y * (k + 1.5) for k, y in enumerate([*a, *c])) * x",
        space,
    )
    return space["f"]


@by_one_python_a_day
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_operators_by_name(text):
    f = function(text)
    try:
        value, back = python_pullback(f, (3.0,), {})
        (found,) = back(1.0)
    except zyg.Unsupported:
        assert "Own" in text and "__add__" in text  # of a derived class it is up to C code
        return
    assert value == f(3.0)
    assert found == pytest.approx((f(3.0 + 1e-6) - f(3.0 - 1e-6)) / 2e-6, rel=1e-8)
    second = zyg.gradient(lambda x: python_pullback(f, (x,), {})[1](1.0)[0], 3.0)[0]
    slopes = [zyg.gradient(f, 3.0 + h)[0] for h in (1e-5, -1e-5)]
    assert second == pytest.approx((slopes[0] - slopes[1]) / 2e-5, rel=1e-6)


@pytest.mark.parametrize(
    "text", ["list.__add__(a, 2)", "list.__mul__(a, 2.0)", "list.__iadd__(a, 2)", "a.__add__((1.0,))"]
)
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_errors_are_cpythons(text):
    f = function(text)
    with pytest.raises(TypeError) as expected:
        f(3.0)
    with pytest.raises(TypeError) as found:
        zyg.gradient(f, 3.0)
    assert str(found.value) == str(expected.value)
