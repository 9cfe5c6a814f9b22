"""The functions of `math`, against CPython on ordinary and special values: values bit for bit, errors with their texts."""

from __future__ import annotations

import math
import random

import pytest

from tests.frontend.running import check
from tests.turns import each_in_turn

pytestmark = each_in_turn

VALUES = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.7, 1e308, -1e308, 1e-310, math.inf, math.nan, 710.0, 200.0, 171.0, -171.5,
    5, -3, 0, True, 1e17,
]  # fmt: skip
UNARY = (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sqrt cbrt exp exp2 expm1 log log2 log10 log1p erf erfc "
    "gamma lgamma fabs isnan isinf isfinite degrees radians modf frexp ulp"
).split()
BINARY = "atan2 copysign fmod remainder pow nextafter hypot isclose log".split()


@pytest.mark.parametrize("name", UNARY)
def test_one_argument(name):
    for x in VALUES:
        check(getattr(math, name), x)


@pytest.mark.parametrize("name", BINARY)
def test_two_arguments(name):
    pick = random.Random(name)
    for x in VALUES:
        for y in pick.sample(VALUES, 4):
            check(getattr(math, name), x, y)


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc"])
def test_to_integers(name):
    for x in VALUES:
        if not (isinstance(x, float) and 2.0**63 <= abs(x) < math.inf):
            check(getattr(math, name), x)


@pytest.mark.parametrize("x", [1.0, 3.3, -5.5, 1e-300, 5e-324, math.inf, math.nan, 0.0])
def test_ldexp(x):
    for i in (0, 1, -1, 1023, 1024, -1074, -1080, 2000, -2200, 5000, -5000):
        check(math.ldexp, x, i)


@pytest.mark.parametrize("name", ["gcd", "lcm", "comb"])
def test_integers(name):
    for a in (0, 1, -4, 12, 30, 61):
        for b in (0, 1, 3, -6, 18, 29):
            check(getattr(math, name), a, b)


def test_more_integers():
    for n in (0, 1, 5, 20, -1):
        check(math.factorial, n)
        check(math.perm, n, 3)
    for n in (0, 1, 15, 16, 10**18 - 1, 2**62, 2**63 - 1, -1):
        check(math.isqrt, n)
    check(math.gcd, 2.5, 1)


def norm(a, b, c):
    return math.hypot(a, b, c)


def distance(a, b, c, d):
    return math.dist((a, b, c), (b, d, a))


def exact_sum(*a):
    return math.fsum(a)


def builtin_sum(*a):
    return sum(a)


def product(*a):
    return math.prod(a)


def sum_of_products(*a):
    return math.sumprod(a, a[::-1])


def sum_of_products_of_iterators(*a):
    return math.sumprod((x * 2.0 for x in a), map(math.sin, a))


def test_many_arguments():
    pick = random.Random(3)

    def value() -> float:
        scaled = pick.gauss(0, 1) * 10 ** pick.randint(-12, 12)
        return pick.choice([pick.gauss(0, 1), scaled, pick.choice([1.0, 2.0, 0.1, 1e16, -1e16, 1e-320])])

    for _ in range(25):
        check(norm, value(), value(), value())
        check(distance, value(), value(), value(), value())
        check(exact_sum, value(), value(), value(), value())
        check(builtin_sum, value(), value(), value(), value(), value())
        check(product, value(), value(), value())
        if hasattr(math, "sumprod"):
            check(sum_of_products, value(), value(), value(), value())
            check(sum_of_products_of_iterators, value(), value())


def test_special_sums():
    check(norm, 5e-324, 1e-323, 0.0)
    check(norm, 1e308, 1e308, 1e308)
    check(norm, math.inf, math.nan, 1.0)
    check(norm, 0.0, 0.0, 0.0)
    for values in ((math.inf, -math.inf), (math.inf, 1.0), (1e308, 1e308, -1e308), (math.nan, 1.0), (1, 2.5, True)):
        check(exact_sum, *values)
        check(builtin_sum, *values)


def series(n, x):
    return sum(x / (i + 1) for i in range(n)), math.fsum(x / (i + 1) for i in range(n)), math.prod(x for _ in range(n))


def test_sums_over_generators():
    check(series, 50, 0.1)


def test_error_model_numpy_has_no_guards():
    from tests.frontend.running import compiled
    from zyg.ir.options import Options

    def f(x, y):
        return math.log(x) / y + math.exp(x) ** y

    text = str(compiled(f, 1.0, 2.0, options=Options(error_model="numpy")).module)
    assert " guard " not in text
