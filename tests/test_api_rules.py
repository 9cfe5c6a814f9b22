"""Custom rules: the rows of the seeds, and their relation to code compiled before."""

import dataclasses
import math

import pytest

import zyg


def make_functions():
    def add(a, b):
        return a + b

    def mul(a, b):
        return a * b

    return add, mul


def test_row_29_adjoint_of_add():
    add, _ = make_functions()
    zyg.adjoint(add)(lambda a, b: (add(a, b), lambda d: (d, d)))
    assert zyg.gradient(add, 2, 3) == (1.0, 1.0)
    assert zyg.gradient(lambda x: add(x * x, math.sin(x)), 2.0)[0] == pytest.approx(4.0 + math.cos(2.0))


def test_row_30_adjoint_of_mul():
    _, mul = make_functions()

    @zyg.adjoint(mul)
    def rule(a, b):
        return mul(a, b), lambda c: (c * b, c * a)

    assert zyg.gradient(mul, 2, 3) == (3.0, 2.0)
    assert mul(2, 3) == 6


def test_row_31_a_rule_may_compute_its_own_way():
    def norm(x, y):
        return math.sqrt(x * x + y * y)

    @zyg.adjoint(norm)
    def rule(x, y):
        r = math.hypot(x, y)
        return r, lambda d: (d * x / r, d * y / r)

    assert zyg.gradient(norm, 3.0, 4.0) == (0.6, 0.8)
    assert zyg.jit(norm)(3.0, 4.0) == 5.0


def test_row_21_a_new_rule_is_seen_by_code_compiled_before():
    def square(x):
        return x * x

    h = lambda x: square(x) + x
    slope = zyg.derivative(h)
    assert slope(3.0) == 7.0
    zyg.adjoint(square)(lambda x: (x * x, lambda d: (100.0 * d,)))
    assert slope(3.0) == 101.0
    assert zyg.gradient(h, 3.0) == (101.0,)
    zyg.adjoint(square)(lambda x: (x * x, lambda d: (10.0 * d,)))
    assert slope(3.0) == 11.0
    zyg.rules.remove(square)
    assert slope(3.0) == 7.0
    assert zyg.jit(h)(3.0) == 12.0


def test_closures_of_one_code_object_may_have_rules_of_their_own():
    def make(n):
        def h(x):
            return x * n

        return h

    two, three = make(2.0), make(3.0)
    assert zyg.gradient(two, 1.0) == (2.0,) and zyg.gradient(three, 1.0) == (3.0,)
    zyg.adjoint(two)(lambda x: (x * 2.0, lambda d: (d * 200.0,)))
    assert zyg.gradient(three, 1.0) == (3.0,)
    assert zyg.gradient(two, 1.0) == (200.0,)
    assert zyg.gradient(lambda f, x: f(x), three, 1.0)[1] == 3.0
    assert zyg.gradient(lambda f, x: f(x), two, 1.0)[1] == 200.0
    zyg.rules.remove(two)
    assert zyg.gradient(two, 1.0) == (2.0,) and zyg.gradient(three, 1.0) == (3.0,)


def test_functions_without_captures_share_a_rule_through_their_code():
    def make():
        def h(x):
            return x

        return h

    zyg.adjoint(make())(lambda x: (x, lambda d: (7.0 * d,)))
    assert zyg.gradient(make(), 1.0) == (7.0,)


def test_a_rule_that_answers_none():
    def h(x, n):
        return x * n

    zyg.adjoint(h)(lambda x, n: (x * n, lambda d: (d * n, None)))
    assert zyg.gradient(h, 2.0, 3.0) == (3.0, None)


def test_rules_for_builtins_and_for_jitted_functions():
    def cube(x):
        return x**3

    compiled = zyg.jit(cube)
    zyg.adjoint(compiled)(lambda x: (x**3, lambda d: (d * 1000.0,)))
    assert zyg.gradient(lambda x: compiled(x), 2.0) == (1000.0,)
    assert zyg.gradient(cube, 2.0) == (1000.0,)


def test_a_rule_with_keyword_arguments():
    def h(x, *, k):
        return x * k

    @zyg.adjoint(h)
    def rule(x, *, k):
        return x * k, lambda d: (d * k * 10.0,)

    assert zyg.gradient(lambda x: h(x, k=2.0), 1.0) == (20.0,)


def test_second_derivatives_through_a_rule():
    def s(x):
        return math.sin(x)

    @zyg.adjoint(s)
    def rule(x):
        return math.sin(x), lambda d: (d * math.cos(x),)

    second = zyg.derivative(zyg.derivative(lambda x: s(x) * x))
    assert second(0.7) == pytest.approx(2 * math.cos(0.7) - 0.7 * math.sin(0.7))


@dataclasses.dataclass
class Point:
    x: float
    y: float


def test_cotangents_that_are_structs_add_field_by_field():
    def width(p):
        return p.x

    def height(p):
        return p.y

    def dist(p):
        return math.sqrt(width(p) ** 2 + height(p) ** 2)

    zyg.adjoint(width)(lambda p: (p.x, lambda d: (Point(d, 0.0),)))
    zyg.adjoint(height)(lambda p: (p.y, lambda d: (Point(0.0, d),)))
    (found,) = zyg.gradient(dist, Point(1.0, 2.0))
    assert tuple(found) == pytest.approx((0.4472135954999579, 0.8944271909999159))


@pytest.mark.parametrize(
    "rule, words",
    [
        (lambda x: x, "pullback|value, back|two"),
        (lambda x: (x, lambda d: d), "tuple"),
        (lambda x: (x, lambda d: (d, d)), "1|one"),
    ],
)
def test_rules_of_the_wrong_form_are_refused(rule, words):
    def h(x):
        return x

    zyg.adjoint(h)(rule)
    with pytest.raises(TypeError, match=words):
        zyg.gradient(lambda x: h(x), 1.0)


def test_zygs_own_functions_as_captured_values():
    def make(ask):
        return lambda x: ask() * x

    assert zyg.gradient(make(zyg.nestlevel), 2.0) == (1.0,)
