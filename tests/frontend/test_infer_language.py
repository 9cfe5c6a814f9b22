"""The language, function by function: what inference makes of it gives what CPython gives.

PYTEST_DONT_REWRITE: the asserts in the functions are what is compiled.
"""

from __future__ import annotations

import functools
import math
import operator

import pytest

from .running import check

INF, NAN = math.inf, math.nan


# ------------------------------------------------------------------------------------------ control flow


def chain(x):
    return 0 < x <= 5 < 10


def walrus(x):
    if (y := x * 2) > 3:
        return y
    return -y


def ternary(x):
    return x if x > 0 else -x


def while_else(n):
    i = 0
    while i < n:
        if i * i == 49:
            break
        i += 1
    else:
        return -1
    return i


def for_else(x, n):
    s = 0.0
    for i in range(n):
        if x > 0 and i % 2:
            s += x * i
        else:
            continue
    else:
        s = -s
    return s


def nested_loops(n):
    s = 0
    for i in range(n):
        for j in range(i):
            if j % 3 == 0:
                continue
            if j > 7:
                break
            s += i * j
    return s


def return_from_loop(n):
    for i in range(n):
        if i * i > 50:
            return i
    return None


def none_until_set(n):
    best = None
    for i in range(n):
        if best is None or i * i % 7 > best:
            best = i * i % 7
    return best


def maybe_unbound(n):
    if n > 3:
        z = 1
    return z


def int_or_float(x, n):
    r = 1
    if n > 2:
        r = x
    return r


def rotate(x, y):
    a, b = x, y
    for _ in range(3):
        a, b = b, a + b
    return a, (b, 1)


def sort_three(a, b, c):
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return a, b, c


def number_pattern(x):
    match x:
        case 0:
            return 10
        case 1 | 2:
            return 20
        case n if n > 100:
            return n
        case _:
            return -1


def tuple_pattern(x, y):
    match (x, y):
        case (0, b):
            return b
        case (a, 0):
            return a
        case (a, b):
            return a * b


def string_argument(mode, x):
    if mode == "a":
        return x
    elif mode in ("b", "c"):
        return 2 * x
    raise KeyError(mode)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (chain, (3,)), (chain, (7,)), (walrus, (1,)), (walrus, (3,)), (ternary, (-2,)), (while_else, (100,)),
        (while_else, (5,)), (for_else, (2.0, 9)), (for_else, (-2.0, 9)), (nested_loops, (12,)), (return_from_loop, (20,)),
        (return_from_loop, (3,)), (none_until_set, (10,)), (none_until_set, (0,)), (maybe_unbound, (5,)),
        (maybe_unbound, (1,)), (int_or_float, (1.5, 3)), (rotate, (1.5, 2.5)), (sort_three, (3.0, 1.0, 2.0)),
        (number_pattern, (0,)), (number_pattern, (2,)), (number_pattern, (500,)), (number_pattern, (5,)),
        (tuple_pattern, (0, 5)), (tuple_pattern, (4, 0)), (tuple_pattern, (2, 3)), (string_argument, ("a", 1.0)),
        (string_argument, ("c", 1.0)), (string_argument, ("q", 1.0)),
    ],
)  # fmt: skip
def test_control_flow(function, args):
    check(function, *args)


# --------------------------------------------------------------------------------------------- arithmetic


def arithmetic(a, b):
    return a + b, a - b, a * b


def true_division(a, b):
    return a / b


def floor_division(a, b):
    return a // b


def modulo(a, b):
    return a % b


def power(a, b):
    return a**b


def comparisons(a, b):
    return a < b, a <= b, a == b, a != b, a > b, a >= b


def constant_powers(x):
    return x**2, x**-1, x**0.5, x**0, x**1, x**3


def bit_operations(a, b):
    return a & b, a | b, a ^ b, ~a, a << 3, a >> 2


def left_shift(a, b):
    return a << b


def right_shift(a, b):
    return a >> b


def unary(x):
    return -x, +x, abs(x), not x


def divide_both(a, b):
    return divmod(a, b)


def extremes(a, b, c):
    return min(a, b, c), max(a, b, c)


def to_int(x):
    return int(x)


def conversions(x):
    return float(x), bool(x), int(x)


def round_whole(x):
    return round(x)


def round_digits(x):
    return round(x, 2), round(x, 1), round(x, 0)


def round_integer(x, n):
    return round(x, n)


def modular_power(a, b, m):
    return pow(a, b, m)


ARITHMETIC = [
    *((arithmetic, p) for p in [(3, 4), (3.5, 4), (True, 2), (2**62, -2)]),
    *((true_division, p) for p in [
        (1, 3), (1.0, 0.0), (1, 0), (2**60 + 1, 3), (2**63 - 1, 7), (-(2**63), 3), (-(2**63), -1), (5, 2**62 + 1),
        (1, 2**63 - 1), (2**63 - 1, 2**63 - 2), (0, 2**62), (-(2**63), -(2**63)), (-(2**63), 2**63 - 1),
        (2**53 + 1, 1), (2**54 + 2, 2), (3 * 2**60 + 1, 2**61 + 5),
    ]),
    *((floor_division, p) for p in [(7, -2), (7.5, -2), (1, 0), (1.0, 0.0), (-7, 2), (-7.5, 2.5)]),
    *((modulo, p) for p in [(7, -2), (-7.5, 2), (1, 0), (1.0, 0.0), (-7, -1), (5.0, INF), (-5.0, INF)]),
    *((power, p) for p in [
        (2, 10), (2.0, 0.5), (0.0, -1.0), (10.0, 400.0), (2.0, -3), (0.0, 0.0), (INF, 2.0), (-2.0, 3.0), (NAN, 0.0),
    ]),
    *((comparisons, p) for p in [
        (1, 2), (1.5, 2), (2**53 + 1, float(2**53)), (2**63 - 1, 2.0**63), (-(2**63), -(2.0**63)), (3, NAN),
        (NAN, NAN), (True, 1), (5, INF), (2**62 + 1, 2.0**62), (float(2**53), 2**53 + 1),
    ]),
    (constant_powers, (3.0,)), (constant_powers, (0.0,)), (bit_operations, (12, 10)), (bit_operations, (-13, 7)),
    (left_shift, (1, 3)), (left_shift, (0, 70)), (left_shift, (1, -1)), (right_shift, (-5, 70)), (right_shift, (100, 2)),
    (unary, (3,)), (unary, (-2.5,)), (unary, (True,)), (unary, (0.0,)),
    (divide_both, (7, 2)), (divide_both, (-7.5, 2.0)), (divide_both, (1, 0)), (divide_both, (1.0, 0.0)),
    (extremes, (1, 2, 3)), (extremes, (1.5, NAN, 2.0)), (extremes, (NAN, 1.0, 2.0)),
    (to_int, (2.9,)), (to_int, (-2.9,)), (to_int, (NAN,)), (to_int, (INF,)),
    (conversions, (3,)), (conversions, (0,)), (conversions, (True,)), (conversions, (2.5,)),
    (round_whole, (2.5,)), (round_whole, (3.5,)), (round_whole, (-0.5,)), (round_whole, (NAN,)), (round_whole, (INF,)),
    (round_digits, (2.675,)), (round_digits, (1.005,)), (round_digits, (0.15,)), (round_digits, (-0.04,)),
    (round_digits, (1e300,)), (round_digits, (NAN,)),
    (round_integer, (125, -1)), (round_integer, (-135, -1)), (round_integer, (15, 2)), (round_integer, (2.5e5, -5)),
    (modular_power, (7, 123, 1000)), (modular_power, (-7, 3, 11)), (modular_power, (2, 3, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args"), ARITHMETIC)
def test_arithmetic(function, args):
    check(function, *args)


@pytest.mark.parametrize(
    ("function", "args"),
    [(arithmetic, (2**62, 2)), (left_shift, (1, 70)), (left_shift, (1, 63)), (to_int, (1e30,)), (unary, (-(2**63),))],
)
def test_integers_past_64_bits_raise(function, args):
    from .running import evaluate

    with pytest.raises(OverflowError, match="does not fit into 64 bits"):
        evaluate(function, *args)


# ------------------------------------------------------------------------------------------- sequences


def unpacking(x, y):
    (a, b), *c = (x, y), x, y
    a, b = b, a
    return a, b, c[0], c[1]


def tuple_index(i, x):
    return (x, x * 2, x * 3)[i]


def loop_over_tuple(x):
    t = 0.0
    for a in (x, 2, x * x):
        t += a
    for i, (p, q) in enumerate(((x, 1), (2.0, x))):
        t += i * p * q
    return t


def loop_over_mixture(x):
    t = 0.0
    for f, a in ((math.sin, x), (abs, -2), (lambda v: v * v, 3.5)):
        t += f(a)
    return t


def many_iterators(n):
    t = 0
    for i, x in enumerate(range(3, n, 2)):
        t += i * x
    for a, b in zip(range(n), range(n, 0, -1)):
        t += a * b
    for i in reversed(range(n)):
        t = t * 3 % 101 + i
    for i in range(n, -n, -3):
        t += i
    return t


def comprehension(n, x):
    v = [x * i for i in range(n)]
    return sum(v), len(v)


def list_operations(x):
    v = [x, 2 * x, 3 * x]
    v[1] = 7.0
    v.append(x)
    v += [1.0]
    return v[0] + v[1] * v[-1] + v[3], len(v)


def growing_list(n, x):
    v = []
    for i in range(n):
        v.append((x * i, i))
    t = 0.0
    for a, b in v:
        t += a * b
    return t, v[n // 2][0], v[-1][1]


def list_as_stack(n):
    v = [0.0, 1.0]
    for _ in range(n):
        v.append(v[-1] + v[-2])
    v[0] = 5.0
    w = v.pop()
    return sum(v), w, len(v), v[n // 2]


def reductions(n):
    return (
        sum(i * i for i in range(n)), any(i > 5 for i in range(n)), all(i < 5 for i in range(n)),
        max((i * 7) % 5 for i in range(n)), min((i * 7) % 5 - 1 for i in range(n)),
    )  # fmt: skip


def odd_sum(x, n):
    return sum(x * i for i in range(n) if i % 2)


def nested_generator(n):
    return sum(i * j for i in range(n) for j in range(i) if (i + j) % 2)


def searches(x):
    return (
        any(v > x for v in (1.0, 2.0, 3.0)), max((1.0, x, 2.0)), min([x, 1.0], key=lambda t: -t),
        max(range(5), key=lambda i: (i * 7) % 5), max((i * x for i in range(0)), default=-1.0),
        x in (1.0, 2.5), x not in range(3), (1, 2, 2).count(2), (1, 2).index(2),
    )  # fmt: skip


def empty_maximum(n):
    return max(i for i in range(n))


def generator_function(n):
    def g(m):
        for i in range(m):
            yield i * 2
            if i % 2:
                yield -i

    t = 0
    for v in g(n):
        t = t * 3 % 1000 + v
    return t, sum(g(3))


def endless_generator(n):
    def evens(k):
        i = 0
        while True:
            if i > k:
                return
            yield i
            i += 2

    it = evens(n)
    a = next(it)
    squares = list(map(lambda t: t * t, (1, 2, 3)))  # noqa: C417
    return a, sum(it), squares, tuple(x for x in (1, 2.5, 3) if x != 3)


def strict_zip(n):
    return sum(a * b for a, b in zip(range(n), range(4), strict=True))


def range_items(a, b, c, i):
    r = range(a, b, c)
    return r[i], len(r), r.start, i in r


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (unpacking, (1, 2.5)), (tuple_index, (1, 1.5)), (tuple_index, (-1, 1.5)), (tuple_index, (5, 1.5)),
        (loop_over_tuple, (1.5,)), (loop_over_mixture, (1.5,)), (many_iterators, (9,)), (comprehension, (5, 1.5)),
        (list_operations, (1.5,)), (growing_list, (7, 1.5)), (growing_list, (50, 1.5)), (list_as_stack, (7,)),
        (reductions, (9,)), (odd_sum, (1.5, 10)), (nested_generator, (7,)), (searches, (2.5,)), (empty_maximum, (0,)),
        (generator_function, (6,)), (endless_generator, (7,)), (endless_generator, (0,)), (strict_zip, (4,)),
        (strict_zip, (3,)), (strict_zip, (5,)), (range_items, (0, 10, 3, 2)), (range_items, (10, 0, -4, -1)),
        (range_items, (0, 3, 1, 7)), (range_items, (0, 3, 0, 1)),
    ],
)  # fmt: skip
def test_sequences(function, args):
    check(function, *args)


# ------------------------------------------------------------------------------------------- functions

SCALE = 2.5


def uses_globals(x):
    return x * SCALE + math.pi


def closure(x):
    k = 1.0

    def h(y):
        nonlocal k
        k += y
        return k * x

    return h(1) + h(2), k


def defaults(x):
    f = lambda y, z=2, *, w=3: y * z + w * x
    return f(x), f(x, 3), f(z=x, y=1, w=2)


def variadic(*a, **k):
    return a[0] + len(a) + k["q"]


def calls_variadic(x):
    return variadic(x, 1, 2, q=x), variadic(*(x, 1), **{"q": 3.0})


def wrong_call(x):
    return closure(x, 1)  # too many arguments


def missing_argument(x):
    return variadic()


def adder(k):
    return lambda x: x + k


def higher_order(x):
    f = adder(2.0)
    g = lambda h, y: h(h(y))
    return g(f, x)


def counter(n):
    c = 0

    def inc():
        nonlocal c
        c += 1
        return c

    for i in range(n):
        inc()
        if i % 2:
            inc()
    return c, inc()


def chosen_function(x, n):
    f = math.sin
    for _ in range(n):
        x = f(x)
        f = math.cos if x > 0.5 else abs
    return x


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def recursive_tuple(x, n):
    if n == 0:
        return (x, 0)
    a, b = recursive_tuple(x * 2, n - 1)
    return a + 1, b + n


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def recursion_with_nonlocal(n):
    count = 0

    def rec(k):
        nonlocal count
        count += 1
        return 1 if k < 2 else rec(k - 1) + rec(k - 2)

    return rec(n), count


def raises(x):
    if x > 1:
        raise ValueError(f"bad {x} {x!r:>5}")
    if x < -1:
        raise ValueError("neg {braces}")
    assert x != 0, "zero"
    return x


def with_operator(x):
    return (
        operator.itemgetter(1)((x, 2 * x)), operator.add(x, 1), operator.truediv(x, 2),
        functools.reduce(lambda a, b: a * b + 1, (x, 2, 3)), functools.reduce(operator.add, range(5), 10),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (uses_globals, (2.0,)), (closure, (2.0,)), (defaults, (1.5,)), (calls_variadic, (2.0,)), (wrong_call, (1.0,)),
        (missing_argument, (1.0,)), (higher_order, (1.0,)), (counter, (5,)), (chosen_function, (1.0, 4)),
        (factorial, (10,)), (fibonacci, (12,)), (even, (7,)), (recursive_tuple, (1.5, 4)), (ackermann, (2, 2)),
        (recursion_with_nonlocal, (6,)), (raises, (2,)), (raises, (2.5,)), (raises, (-2,)), (raises, (0,)), (raises, (1,)),
        (with_operator, (2.5,)),
    ],
)  # fmt: skip
def test_functions(function, args):
    check(function, *args)


def test_print(capsys):
    def prints(x):
        print("x is", x, end="!\n")
        print(f"v={x:.3f}", x * 2)
        return x

    check(prints, 1.5)
    assert capsys.readouterr().out == "x is 1.5!\nv=1.500 3.0\n" * 2


SET = frozenset({1, 2})


def sets_of_constants(x):
    total = 0.0
    for v in {1.5, 2.5}:
        total += v * x
    p, q = SET
    return total + p - q, x in {1.0, 2.0}, len(SET), sorted(SET)[0], max(SET), SET == (1, 2)


def item_of_a_set(x):
    return x * SET[0]


def test_sets_of_constants():
    check(sets_of_constants, 2.0)
    check(item_of_a_set, 2.0)
