"""What exceptions out of differentiated code tell is what CPython's tell: texts, names, objects, causes, and the user's lines."""

from __future__ import annotations

import os
import traceback
from typing import Any

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.fallback import python_pullback

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]

NUMPY: Any = np
IN_PLACE = ("+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "<<=", ">>=", "&=", "|=", "^=")


class Plain:
    pass


class Asked:
    def __getattr__(self, name):
        raise AttributeError(name)


def written(statement):
    space: dict[str, Any] = {"Plain": Plain}
    exec(f"def f(x):\n    y = {statement[0]}\n    z = {statement[1]}\n    y {statement[2]} z\n    return x\n", space)
    return space["f"]


def natively(f):
    return zyg.jit(f)


def through_python(f):
    return lambda x: python_pullback(f, (x,), {})


def second(f):
    return through_python(lambda x: python_pullback(f, (x,), {})[1](1.0)[0])


def error_of(f):
    with pytest.raises(Exception) as caught:
        f(1.5)
    return caught.value


@pytest.mark.parametrize("way", [natively, through_python, second])
@pytest.mark.parametrize("symbol", IN_PLACE)
def test_operators_are_named_as_they_are_written(way, symbol):
    for operands in (("x", '"a"'), ("x", "None"), ("None", "x"), ("Plain()", "x"), ("x", "Plain()"), ("'a'", "None")):
        for sign in (symbol, f"= y {symbol[:-1]}"):
            f = written((*operands, sign))
            error = error_of(f)
            found = error_of(way(f))
            assert (type(found), str(found)) == (type(error), str(error))


def number_for_a_pair(x):
    a, b = x
    return a * b


def attribute_of_a_module(x):
    return NUMPY.nothing_there * x


def attribute_that_is_asked_for(x):
    return Asked().missing * x


def attribute(x):
    made: Any = Plain()
    return made.missing * x


NAMES: dict[str, Any] = {}
exec("def variable(x):\n    return x * nowhere\n", NAMES)
exec("def deleted(x):\n    global gone\n    gone = x\n    del gone\n    return gone * x\n", NAMES)
variable, deleted = NAMES["variable"], NAMES["deleted"]


def item(x):
    table: dict[Any, Any] = {"a": x}
    return table[("b", 1)]


def stopped(x):
    def items():
        yield x
        raise StopIteration(3)

    given = items()
    return next(given) * next(given)


def stopped_within(x):
    def items():
        yield next(iter(())) * x

    return next(items())


CASES = [number_for_a_pair, attribute_of_a_module, attribute_that_is_asked_for, attribute, variable, deleted, item, stopped, stopped_within]  # fmt: skip


@pytest.mark.parametrize("way", [through_python, second, zyg.grad])
@pytest.mark.parametrize("f", CASES)
def test_exceptions_tell_what_cpythons_tell(way, f):
    if f is attribute_that_is_asked_for and way is zyg.grad:
        return  # native code does not know that what raised was a method that was asked
    error, found = error_of(f), error_of(way(f))
    assert (type(found), found.args) == (type(error), error.args)
    assert getattr(found, "name", None) == getattr(error, "name", None)
    if way is not zyg.grad:  # (which may be native, and knows no objects)
        assert type(getattr(found, "obj", None)) is type(getattr(error, "obj", None))
        assert type(found.__cause__) is type(error.__cause__)
        assert found.__suppress_context__ == error.__suppress_context__


def test_a_cause_is_not_left_out_natively():
    def f(x):
        if x > 1.0:
            raise ValueError("too large") from KeyError("limit")
        return x * x

    with pytest.raises(zyg.Unsupported, match="from"):
        zyg.jit(f)(0.5)
    with pytest.raises(ValueError, match="too large") as caught:
        zyg.grad(f)(1.5)
    assert isinstance(caught.value.__cause__, KeyError)


TABLE = {("a", 1): 1.0}  # (whose keys native code does not know)


def looked_up(x):
    return TABLE["b", len([x])] * x


def calling(x):
    return looked_up(x) + x


@pytest.mark.parametrize(
    "run",
    [
        lambda: zyg.grad(calling)(1.5),
        lambda: zyg.grad(zyg.grad(calling))(1.5),
        lambda: zyg.hessian(calling, 1.5),
        lambda: zyg.hvp(calling, 1.5, 1.0),
        lambda: zyg.jvp(calling, (1.5,), (1.0,)),
        lambda: zyg.jacobian(calling, 1.5),
        lambda: zyg.pullback(zyg.grad(calling), 1.5),
    ],
)
def test_tracebacks_have_the_users_lines(run):
    with pytest.raises(KeyError) as caught:
        run()
    frames = traceback.extract_tb(caught.value.__traceback__)
    package = os.path.dirname(zyg.__file__)
    own = [n for n, frame in enumerate(frames) if frame.filename.startswith(package)]
    names = [frame.name for frame in frames]
    assert names[-2:] == ["calling", "looked_up"]
    assert not own or own[-1] < names.index("calling")  # (only the call of zyg itself)


def test_tracebacks_of_exceptions_that_led_to_another():
    def f(x):
        try:
            return looked_up(x)
        except KeyError as error:
            raise ValueError("not there") from error

    with pytest.raises(ValueError, match="not there") as caught:
        zyg.grad(zyg.grad(f))(1.5)
    cause = caught.value.__cause__
    assert cause is not None
    assert [frame.name for frame in traceback.extract_tb(cause.__traceback__)] == ["f", "looked_up"]


def test_tracebacks_of_cotangents_that_do_not_fit():
    _, back = zyg.pullback(lambda x: [x * TABLE["a", len([x])]], 1.5)
    with pytest.raises((TypeError, ValueError)):
        back([1.0, 2.0])
