"""`eval` and `exec` of text, through Python: what holds nothing that is differentiated runs, and all else is refused."""

import math
import sys

import numpy as np
import pytest

import zyg
from tests.oracles import differences

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


class Held:
    value = 2.0


def of_a_global():
    return STATE[0]


STATE = [1.0]


def _exec(text, *spaces):
    exec(text, *spaces)
    return spaces[-1]


CONSTANTS = {
    "numbers": lambda x: eval("x*y", {"x": 2.0, "y": 3.0}) * x,
    "nothing": lambda x: eval(" 2 * 3", {}) * x,
    "two dictionaries": lambda x: eval("a + b", {"a": 1.0}, {"b": 2.0}) * x,
    "a module": lambda x: eval("math.sin(k) + math.pi", {"math": math, "k": 0.5}, {}) * x,
    "arrays": lambda x: (eval("np.sin(a) * 2", {"a": np.array([1.0, 2.0]), "np": np}) * x).sum(),
    "a list": lambda x: eval("sum(z * z for z in zs)", {"zs": [1.0, 2.0]}) * x,
    "a function within": lambda x: eval("(lambda a: a * k)(2.0)", {"k": 3.0}) * x,
    "statements": lambda x: _exec("y = k * 3", {"k": 2.0})["y"] * x,
    "a list that changes": lambda x: (zs := [1.0], eval("zs.append(3.0)", {"zs": zs}), zs[1] * x)[2],
    "a list that is given back": lambda x: (zs := [x, 1.0], eval("zs", {"zs": [zs]})[0][0] * x)[1],
}


@pytest.mark.parametrize("f", CONSTANTS.values(), ids=CONSTANTS)
def test_evaluated_constants(f):
    value, (gradient,) = zyg.withgradient(f, 0.7)
    assert value == f(0.7) and gradient == pytest.approx(differences.derivative(f, 0.7), rel=1e-9)


def _put(x, run, text, *spaces):
    zs = [1.0]
    run(text, {"zs": zs, "k": x} if not spaces else {"zs": zs}, *spaces)
    return zs[-1] * x


def _held(x):
    held = Held()
    held.value = x
    return eval("held.value * 2", {"held": held})


def _assigned(x):
    STATE[0] = x
    return eval("f() * 2", {"f": of_a_global})


def _captured(x):
    k = x * 2
    return eval("f()", {"f": lambda: k})


REFUSED = {
    "a number": lambda x: eval("x * y", {"x": x, "y": 3.0}),
    "in the second dictionary": lambda x: eval("a + b", {"a": 1.0}, {"b": x}),
    "in a list": lambda x: eval("sum(z * z for z in zs)", {"zs": [1.0, x]}),
    "in an array": lambda x: eval("a * 2", {"a": np.array([x, 2.0])}).sum(),
    "in an object": _held,
    "in a global of a function": _assigned,
    "captured": _captured,
    "looked up": lambda x: (
        STATE.__setitem__(0, x),
        eval("__import__('sys').modules[name].STATE[0]", {"name": __name__}),
    )[1],
    "statements": lambda x: _exec("y = k * 3", {"k": x})["y"],
    "put in by eval": lambda x: _put(x, eval, "zs.append(k)"),
    "put in by exec": lambda x: _put(x, exec, "zs[0] = k"),
    "put in from the second dictionary": lambda x: _put(x, exec, "zs.append(k)", {"k": x}),
}


@pytest.mark.parametrize("f", REFUSED.values(), ids=REFUSED)
def test_what_is_differentiated_and_goes_through_text_is_refused(f):
    with pytest.raises(zyg.Unsupported, match=r"(?s)(evaluated from a string|`(eval|exec)`).*test_evaluated.*instead"):
        zyg.gradient(f, 0.7)


def test_errors_of_text_are_cpythons():
    assert __name__ in sys.modules
    with pytest.raises(SyntaxError):
        zyg.gradient(lambda x: eval("1 +", {}) * x, 2.0)
    with pytest.raises(NameError, match="name 'q' is not defined"):
        zyg.gradient(lambda x: eval("q", {"p": 1.0}) * x, 2.0)
