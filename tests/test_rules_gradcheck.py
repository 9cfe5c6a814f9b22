"""Every derivative rule that zyg comes with is checked against differences; the rules are found here, so that a new one without
a case is a failure."""

import cmath
import math
import sys

import pytest

import zyg
import zyg.inside
from tests.turns import each_in_turn
from zyg import rules
from zyg.autodiff.objects import math_ as run_time
from zyg.autodiff.objects.api import pullback as python_pullback
from zyg.library import registry

from .arrays.registered import library_rules

pytestmark = each_in_turn


# ---------------------------------------------------------------------------------------- rules of zyg's own functions

OWN_CASES = {
    "hook": (lambda x: zyg.hook(lambda d: d, x) * x, (0.7,)),
    "showgrad": (lambda x: zyg.showgrad(x) * x, (0.7,)),
}


def all_rules():
    registry.all_entries()
    return [rule for table in (rules._rules, rules._tangents) for rule in table.values() if written_here(rule)]


def written_here(rule):
    return rule.function.__module__.startswith("zyg.")


def is_there(target):
    return getattr(sys.modules.get(target.__module__), target.__qualname__, None) is target


def own_rules():
    """The rules that are not those for arrays, which tests/arrays finds and checks."""
    of_arrays = [rule for _, rule in library_rules()]
    # Not those that other tests have made, or examples in docstrings.
    ours = [rule for rule in all_rules() if (rule.target.__module__ or "").startswith("zyg.") and is_there(rule.target)]
    return {rule.target.__qualname__: rule for rule in ours if not any(rule is other for other in of_arrays)}


def test_zygs_own_rules_have_a_case():
    assert {"hook", "showgrad"} <= set(own_rules()) <= set(OWN_CASES)


@pytest.mark.parametrize("name", OWN_CASES)
def test_zygs_own_rules(name):
    f, args = OWN_CASES[name]
    assert zyg.gradcheck(f, *args)


# ---------------------------------------------------------------------------------- mathematics, natively and at run time

WHERE = {
    "acosh": (1.7,), "atan2": (0.3, 0.7), "copysign": (0.3, -0.7), "fmod": (2.3, 0.7), "hypot": (0.3, 0.7), "log": (0.7, 2.5),
    "pow": (0.3, 0.7), "remainder": (2.3, 0.7), "nextafter": (0.3, 0.7), "dist": ((0.3, 0.7), (0.1, 0.2)),
    "fsum": ((0.3, 0.7),), "prod": ((0.3, 0.7),), "sumprod": ((0.3, 0.7), (0.2, 0.4)), "fma": (0.3, 0.7, 0.2),
    "frexp": (0.3,), "modf": (1.3,), "cbrt": (0.7,), "gamma": (1.3,), "lgamma": (1.3,), "rect": (0.3, 0.7),
}  # fmt: skip
NO_DERIVATIVE = {"comb", "factorial", "gcd", "lcm", "perm", "isqrt", "isclose", "isfinite", "isinf", "isnan", "ceil", "floor",
                 "trunc", "ulp"}  # fmt: skip


def ldexp(x):
    return math.ldexp(x, 2)


def of_module(name):
    """The functions of a module that compiled code knows."""
    entries = registry.all_entries()
    found = (getattr(key, "object", None) for key in entries)
    return sorted({f.__name__: f for f in found if getattr(f, "__module__", None) == name}.items())


MATH = [(name, ldexp if name == "ldexp" else f) for name, f in of_module("math") if name not in NO_DERIVATIVE]


def arguments(name, default):
    return WHERE.get(name, default)


def test_the_functions_are_found():
    assert len(MATH) > 30 and len(of_module("cmath")) > 10


@pytest.mark.parametrize("name, function", MATH, ids=[name for name, _ in MATH])
def test_mathematics_natively(name, function):
    args = arguments(name, (0.3,))
    call = {2: lambda x, y: function(x, y), 3: lambda x, y, z: function(x, y, z)}.get(len(args), lambda x: function(x))
    assert zyg.gradcheck(call, *args)


@pytest.mark.parametrize("name, function", MATH, ids=[name for name, _ in MATH])
def test_mathematics_through_python_is_that_of_native_code(name, function):
    args = arguments(name, (0.3,))
    call = {2: lambda x, y: function(x, y), 3: lambda x, y, z: function(x, y, z)}.get(len(args), lambda x: function(x))
    value, back = python_pullback(call, args)
    wanted, native = zyg.pullback(call, *args)
    seed = (1.0, 0.0) if isinstance(wanted, tuple) else 1.0
    assert value == wanted
    assert numbers(back(seed)) == pytest.approx(numbers(native(seed)), rel=1e-12)


def numbers(gradient):
    return [0.0 if x is None else x for g in gradient for x in (g if isinstance(g, tuple) else (g,))]


SLOPES = sorted(run_time.SLOPES, key=lambda f: f.__name__)


@pytest.mark.parametrize("function", SLOPES, ids=lambda f: f.__name__)
def test_slopes_at_run_time(function):
    x = arguments(function.__name__, (0.3,))[0]
    h = 1e-6
    difference = (function(x + h) - function(x - h)) / (2 * h)
    assert run_time.SLOPES[function](function(x), x) == pytest.approx(difference, rel=1e-7)


COMPLEX = [(name, f) for name, f in of_module("cmath") if name not in NO_DERIVATIVE]


@pytest.mark.parametrize("name, function", COMPLEX, ids=[name for name, _ in COMPLEX])
def test_complex_mathematics(name, function):
    args = WHERE[name] if name == "rect" else (0.3 + 0.4j,)
    call = (lambda x, y: function(x, y)) if len(args) == 2 else (lambda z: function(z))
    assert zyg.gradcheck(call, *args)


@pytest.mark.parametrize(
    "function", sorted(run_time.COMPLEX_SLOPES, key=lambda f: f.__name__), ids=lambda f: f.__name__
)
def test_complex_slopes_at_run_time(function):
    z, h = 0.3 + 0.4j, 1e-6
    difference = (function(z + h) - function(z - h)) / (2 * h)
    assert run_time.COMPLEX_SLOPES[function](function(z), z) == pytest.approx(difference, rel=1e-7)


def test_cmath_is_there():
    assert cmath.exp in [f for _, f in COMPLEX] and math.sin in [f for _, f in MATH]
