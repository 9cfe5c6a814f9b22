"""Native code in the place of Python code: what it raises and CPython does not, and what it gives another type than CPython,
is computed in Python. The oracle is CPython; derivatives are compared with differences of what it gives."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import zyg
from tests.turns import by_one_python_a_day, each_in_long_turn, each_in_turn

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


def slope(f: Callable[..., Any], x: float, *rest: Any, h: float = 1e-6) -> float:
    return (f(x + h, *rest) - f(x - h, *rest)) / (2 * h)


def agree(f: Callable[..., Any], x: float, *rest: Any) -> None:
    """Value, with its type, and derivative are those of CPython's run."""
    expected = f(x, *rest)
    value, gradient = zyg.withgradient(f, x, *rest)
    assert repr(value) == repr(expected)
    assert (0.0 if gradient[0] is None else gradient[0]) == pytest.approx(slope(f, x, *rest), rel=1e-5, abs=1e-7)


# ------------------------------------------------------------------------------------- errors, at the top level


def factorial(n):
    k = 1
    for i in range(1, n):
        k *= i
    return k


def quotient(x, n):
    return x * factorial(n) / factorial(n - 1)


def series(x):
    return sum(x**n / math.factorial(n) for n in range(30))


def chosen(x):
    return sum(x / math.comb(70, k) for k in range(20, 40))


def root(x):
    return abs((x - 3.0) ** 0.5)


def variable_root(x, y):
    return abs((x - 3.0) ** y)


def scaled(x, k):
    return x * 10**k


def rounded(x, k):
    return round(x, 2) * 0.0 + x * 10**k


def shifted(x, k):
    return x * (1 << k) / (3 << k - 2)


def large(x, y):
    return x * (int(y) % 1000)


def many(x, y):
    return x + math.floor(y) % 7


def inverse(x, n):
    return x * pow(n, -1, 5)


def negated(x, n):
    return x * (abs(n) % 10) + (-n) % 7 + (n // -1) % 5


def met(x, n):
    r = n
    for _ in range(3):
        r = r * 1.0 if x > 100.0 else r + 1
    return x * (r % 10)


CASES = [
    (quotient, 1.5, 25),
    (series, 0.5),
    (chosen, 2.0),
    (root, 1.0),
    (variable_root, 1.0, 0.5),
    (scaled, 2.0, -3),
    (shifted, 2.0, 70),
    (large, 2.0, 1e30),
    (many, 2.0, 1e30),
    (negated, 2.0, -(2**63)),
    (met, 2.0, 2**60 + 1),
    (inverse, 2.0, 3),
    (rounded, 2.0, -3),
]


@each_in_turn
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_calls_that_native_code_ends_with_an_error_of_its_own(case):
    f, *args = case
    agree(f, *args)


@each_in_long_turn
@pytest.mark.parametrize("case", CASES[:6], ids=lambda case: case[0].__name__)
def test_all_derivatives_of_such_calls(case):
    f, x, *rest = case
    value, d = f(x, *rest), pytest.approx(slope(f, x, *rest), rel=1e-5)
    second = pytest.approx((f(x + 1e-3, *rest) - 2 * value + f(x - 1e-3, *rest)) / 1e-6, rel=1e-4, abs=1e-6)
    zeros = [0.0] * len(rest)
    assert zyg.gradient(f, x, *rest)[0] == d
    assert zyg.grad(f)(x, *rest) == d
    assert zyg.value_and_grad(f)(x, *rest) == (value, d)
    assert zyg.derivative(lambda x: f(x, *rest))(x) == d
    y, back = zyg.pullback(f, x, *rest)
    assert y == value and back(2.0)[0] / 2 == d
    assert zyg.jvp(f, (x, *rest), (1.0, *zeros)) == (value, d)
    y, push = zyg.pushforward(f, x, *rest)
    assert y == value and push(1.0, *zeros) == d
    assert zyg.jacobian(f, x, *rest)[0] == d
    assert zyg.hessian(f, x, *rest) == second
    assert zyg.hvp(f, x, *rest, 1.0) == second


def test_the_warning_names_the_line():
    def f(x, n):
        return x * factorial(n)

    with warnings.catch_warnings():
        warnings.simplefilter("error", zyg.FallbackWarning)
        assert zyg.gradient(f, 1.0, 10) == (math.factorial(9), None)
        with pytest.raises(zyg.FallbackWarning, match=r"(?s)f is differentiated .* past|64 bits.*k \*= i"):
            zyg.gradient(f, 1.0, 30)
    assert zyg.gradient(f, 1.0, 30) == (float(math.factorial(29)), None)
    with warnings.catch_warnings():
        warnings.simplefilter("error", zyg.FallbackWarning)
        assert zyg.gradient(f, 1.0, 30) == (float(math.factorial(29)), None)  # it has been said
        assert zyg.gradient(f, 1.0, 10) == (math.factorial(9), None)


def test_jitted_code_keeps_the_error():
    with pytest.raises(OverflowError, match="64 bits"):
        zyg.jit(quotient)(1.0, 25)
    with pytest.raises(OverflowError, match="64 bits"):
        zyg.jit(zyg.grad(quotient))(1.0, 25)
    with pytest.raises(OverflowError, match="64 bits"):
        zyg.gradient(zyg.jit(quotient), 1.0, 25)
    with pytest.raises(ValueError, match="complex"):
        zyg.grad(zyg.jit(root))(1.0)


def test_keywords_and_methods():
    class Model:
        def __init__(self, n):
            self.n = n

        def at(self, x):
            return x * factorial(self.n)

    assert zyg.grad(quotient)(1.0, n=25) == pytest.approx(24.0)
    assert zyg.grad(Model(30).at)(1.0) == float(math.factorial(29))
    assert zyg.gradient(functools.partial(quotient, n=25), 1.0) == (pytest.approx(24.0),)


def test_what_others_see_happens_once(capsys):
    def appends(x, items):
        items.append(x)
        return x * factorial(30) * len(items)

    items = [1.0]
    assert zyg.gradient(appends, 2.0, items)[0] == 2 * float(math.factorial(29))
    assert items == [1.0, 2.0]

    def writes(x, a):
        a[0] += 1.0
        return x * a[0] * factorial(30)

    a = np.zeros(2)
    with pytest.raises(OverflowError) as raised:  # as it has written to the array
        zyg.gradient(writes, 2.0, a)
    assert any("array" in note for note in raised.value.__notes__)
    assert a[0] == 1.0

    counted = []
    ask = np.frompyfunc(lambda v: counted.append(v) or 1.0, 1, 1)

    def asks(x):
        ask(3.0)
        return x * factorial(30)

    with pytest.raises(OverflowError):
        zyg.gradient(asks, 2.0)
    assert counted == [3.0]

    def prints(x):
        print("once")
        return x * factorial(30)

    with pytest.raises(OverflowError) as raised:
        zyg.gradient(prints, 2.0)
    assert any("print" in note for note in raised.value.__notes__)
    assert capsys.readouterr().out == "once\n"


# ---------------------------------------------------------------------------- errors, in code that runs through Python


def caught(x):
    try:
        return x * factorial(25) / factorial(24)
    except ArithmeticError:
        return x


def suppressed(x, k):
    y = x
    with contextlib.suppress(ValueError):
        y = abs(fractional(x, k))
    return y


def fractional(x, k):
    y = x
    for _ in range(k):
        y = y - 3.0
    return y**0.5


def otherwise(x, k):
    r = 0.0
    try:
        y = powers(x, k)
    except Exception:
        r = 1.0
    else:
        r = 3.0 * y
    finally:
        r = r + x
    return r


def powers(x, k):
    s = 0.0
    for i in range(3):
        s = s + x * 10 ** (k + i)
    return s


def recursive(x, n):
    try:
        return x * descending(n) / descending(n - 1)
    except ArithmeticError:
        return x


def descending(n):
    return 1 if n < 2 else n * descending(n - 1)


@pytest.mark.parametrize(
    "case",
    [
        (caught, 1.5),
        (suppressed, 2.0, 1),
        (suppressed, 4.0, 1),
        (otherwise, 2.0, -5),
        (otherwise, 2.0, 1),
        (recursive, 2.0, 30),
    ],
    ids=lambda case: f"{case[0].__name__} {case[1:]}",
)
def test_handlers_meet_no_errors_but_cpythons(case):
    f, *args = case
    for _ in range(4):
        agree(f, *args)


def test_errors_of_cpython_still_reach_handlers():
    def helper(x, n):
        s = 0.0
        for i in range(n):
            s += math.sqrt(x - i)
        return s

    def f(x):
        try:
            return helper(x, 5)
        except ValueError:
            return 2.0 * x

    agree(f, 2.0)
    agree(f, 7.0)


def test_errors_of_jitted_code_reach_handlers():
    native = zyg.jit(factorial)

    def f(x):
        try:
            return x * native(30)
        except OverflowError:
            return 5.0 * x

    agree(f, 2.0)


def test_a_callee_that_prints_does_so_once(capsys):
    def helper(n):
        k = 1
        for i in range(1, n):
            k *= i
        print("helper")
        return k * k

    def f(x):
        try:
            return x * helper(18)
        except ArithmeticError:
            return x

    assert zyg.gradient(f, 1.0) == (float(math.factorial(17) ** 2),)
    assert capsys.readouterr().out == "helper\n"


@each_in_turn
def test_inner_derivatives():
    def inner(y, n):
        return y * y * factorial(n)

    def f(x):
        try:
            return zyg.gradient(inner, x, 25)[0] / math.factorial(24)
        except ArithmeticError:
            return x

    assert zyg.withgradient(f, 1.5) == (pytest.approx(3.0), (pytest.approx(2.0),))


# -------------------------------------------------------------------------------------------------------- types


class Pair(NamedTuple):
    first: Any
    second: Any


def sums(n):
    r = 0
    for _ in range(n):
        r = r + 0.5
    return r


def flags(n):
    r = False
    for _ in range(n):
        r = r + 1
    return r


def waves(n):
    r = 1.0
    for _ in range(n):
        r = r + 2j
    return r


def pairs(n):
    return sums(n), (n, waves(n)), Pair(flags(n), 1)


def perhaps(n):
    return None if n == 1 else sums(n)


def truths(n):
    r = True
    for _ in range(n):
        r = 0.5
    return r


def columns(n):
    return [sums(n), 0.5]


def chosen_row(a, n):
    r = 0
    for i in range(n):
        r = r + a[i]
    return r


TYPES = [sums, flags, waves, pairs, perhaps, truths, columns]


@pytest.mark.parametrize("helper", TYPES, ids=lambda f: f.__name__)
def test_types_are_cpythons(helper):
    def f(x, n):
        seen.append(repr(helper(n)))
        try:
            return x * 2.0
        finally:
            pass

    seen: list[str] = []
    for n in (0, 1, 2, 3, 4):
        zyg.gradient(f, 3.0, n)
        assert seen.pop() == repr(helper(n))
    assert not seen


@dataclass(frozen=True)
class Frozen:
    item: Any


@dataclass
class Plain:
    item: Any


def largest(a):
    for _ in range(1):
        pass
    return max(a)


def absent(a):
    for _ in range(1):
        pass
    return a[0] if a[1] > 0 else None


def held(a):
    for _ in range(1):
        pass
    return (1, {"k": a[0]}, [a[0], 1.0], Plain(a[1]), Frozen((a[0], 2)))


def doubled(a):
    return ([2 * x for x in a], 1)


def met_in_lists(a):
    return ([0.5 * i if i else 0 for i in range(len(a))], 1)


@by_one_python_a_day
@pytest.mark.parametrize("helper", [largest, absent, held, doubled, met_in_lists], ids=lambda f: f.__name__)
def test_numbers_of_numpy_and_in_objects(helper):
    def f(x, a):
        with contextlib.suppress(KeyError):
            seen.append(repr(helper(a)))
            return x

    seen: list[str] = []
    for a in (np.zeros(2), np.array([0.5, 0.25]), np.array([3, 4])):
        assert zyg.gradient(f, 1.0, a)[0] == 1.0
        assert seen.pop() == repr(helper(a))


def test_an_int_that_meets_numpys_numbers():
    def f(x, n):
        seen.append(repr(chosen_row(np.array([0.5, 0.25, 2.0]), n)))
        try:
            return x * 2.0
        finally:
            pass

    seen: list[str] = []
    for n in (0, 1, 2):
        zyg.gradient(f, 3.0, n)
        assert seen.pop() == repr(chosen_row(np.array([0.5, 0.25, 2.0]), n))


def test_jitted_code_gives_what_it_gives():
    native = zyg.jit(sums)

    def f(x, n):
        with contextlib.suppress(KeyError):
            return x if isinstance(native(n), float) else 2.0 * x

    assert zyg.withgradient(f, 3.0, 0) == (f(3.0, 0), (1.0, None)) == (3.0, (1.0, None))


# ----------------------------------------------------------------------------------------------- random programs

STEPS = [
    "k = k * {n}0", "k = k - {n}", "k = k << {n}", "k = -k", "k = abs(k)", "k = k ** 2 % 10**15", "k = k // {n}", "k = k % {n}",
    "k = k + 0.5", "k = k / {n}", "k = k + x", "k = k - x * {n}", "k = True if k > {n} else k", "k = (k - {n}) ** 0.5",
    "k = k + {n} ** (i - {n})", "k = int(k)", "k = k * 1e10", "k = round(k)", "k = max(k, {n})", "k = min(k, x)",
]  # fmt: skip
AROUND = [
    "    try:\n        y = use(helper(x, m))\n    except ArithmeticError:\n        y = -1.0 * x\n    return y",
    "    y = x\n    with contextlib.suppress(ValueError, TypeError):\n        y = use(helper(x, m))\n    return y",
    "    y = x\n    try:\n        y = use(helper(x, m))\n    except (OverflowError, ZeroDivisionError):\n        y = 3.0 * x\n"
    "    except Exception as error:\n        y = len(type(error).__name__) * x\n    else:\n        y = y + x\n"
    "    finally:\n        y = y * 2.0\n    return y",
]  # fmt: skip


def use(v: Any) -> Any:
    """Tells the classes of numbers apart."""
    if isinstance(v, bool):
        return 1000.0 + v
    if isinstance(v, int):
        return 2000.0 + v % 1000
    if isinstance(v, complex):
        return v.real + 2.0 * v.imag
    return v


def program(seed: int) -> str:
    draw = random.Random(seed)
    lines = ["def helper(x, m):", f"    k = {draw.choice(['m', '1', 'x', '2', 'm + 1'])}", "    for i in range(m):"]
    for _ in range(draw.randint(1, 3)):
        indent = "        " + draw.choice(["", "", f"if i > {draw.randint(0, 2)}: "])
        lines.append(indent + draw.choice(STEPS).format(n=draw.randint(1, 7)))
    return "\n".join([*lines, "    return k", "", "def f(x, m):", draw.choice(AROUND)])


@each_in_turn
@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_programs(first):
    for seed in range(first, first + 20):
        text = program(seed)
        space: dict[str, Any] = {"contextlib": contextlib, "use": use}
        exec(text, space)
        f = space["f"]
        for x, m in itertools.product((0.75, 2.5), (0, 1, 3, 12)):
            expected = outcome(f, x, m)
            found = outcome(lambda *args: zyg.pullback(*args)[0], f, x, m)
            assert found == expected, f"{text}\nx = {x}, m = {m}"


def outcome(f: Callable[..., Any], *args: Any) -> str:
    try:
        return repr(f(*args))
    except Exception as error:
        return repr(error)
