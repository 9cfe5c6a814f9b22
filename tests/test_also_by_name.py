"""A function that changes an argument which it also has by another name is refused by every transform: on copies of the arguments, of
which Hessians and Jacobians are made, the two would be apart."""

from __future__ import annotations

import functools
from fractions import Fraction

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]


class Body:
    def __init__(self, x):
        self.x = x


BODY, ARRAY, NUMBERS, NAMED = Body(2.0), np.array([1.0, 2.0]), [1.0, 2.0], {"a": 1.0, "b": 2.0}


def of_body(body):
    body.x = body.x * 2
    return body.x * BODY.x * BODY.x


def of_array(a):
    a[0] = a[0] * 2
    return a[0] * ARRAY[0] * ARRAY[1]


def of_list(a):
    a[0] = a[0] * 2
    return a[0] * NUMBERS[0] * NUMBERS[1]


def of_dict(a):
    a["a"] = a["a"] * 2
    return a["a"] * NAMED["a"] * NAMED["b"]


def of_two(a, b):
    a[0] = a[0] * 2
    return a[0] * b[0] * b[1]


CASES = {
    "body": (of_body, (BODY,), Body(1.0)),
    "array": (of_array, (ARRAY,), np.ones(2)),
    "list": (of_list, (NUMBERS,), [1.0, 1.0]),
    "dict": (of_dict, (NAMED,), {"a": 1.0, "b": 1.0}),
    "one array twice": (of_two, (ARRAY, ARRAY), np.ones(2)),
    "views of an array": (of_two, (ARRAY, ARRAY[::-1]), np.ones(2)),
}
TRANSFORMS = {
    "gradient": lambda f, args, tangent: zyg.gradient(f, *args),
    "grad": lambda f, args, tangent: zyg.grad(f)(*args),
    "pullback": lambda f, args, tangent: zyg.pullback(f, *args),
    "jvp": lambda f, args, tangent: zyg.jvp(f, args, tuple([tangent for _ in args])),
    "pushforward": lambda f, args, tangent: zyg.pushforward(f, *args),
    "jacobian": lambda f, args, tangent: zyg.jacobian(f, *args),
    "hvp": lambda f, args, tangent: zyg.hvp(f, *args, tangent),
    "hessian": lambda f, args, tangent: zyg.hessian(f, *args),
    "hessian by each": lambda f, args, tangent: zyg.hessian(f, *args, argnums=tuple(range(len(args)))),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_what_is_changed_and_has_another_name_is_refused(transform, case):
    with pytest.raises((ValueError, zyg.Unsupported), match=r"overlap in memory|global or captured|also has by name"):
        TRANSFORMS[transform](*CASES[case])


def test_apart_the_same_functions_have_hessians():
    x = np.array([3.0, 5.0])
    np.testing.assert_allclose(
        zyg.hessian(of_two, x, np.array([1.0, 2.0]), argnums=(0, 1))[0][1], [[4.0, 2.0], [0.0, 0.0]]
    )
    assert zyg.hessian(of_body, Body(3.0)).x.x == 0.0
    assert x.tolist() == [3.0, 5.0]


# ----------------------------------------------------------------------- what a closure captured that is given beside it


def captured_body(change, objects):
    body = Body(2.0)

    def f(b):
        if change:
            b.x = b.x * 2
        return b.x * body.x * body.x

    def through_python(b):
        {b.x: 1, "a": 2}.clear()
        return f(b)

    return (through_python if objects else f), body, Body(1.0), lambda d: d if isinstance(d, float) else d.x


def captured_list(change, objects):
    numbers = [2.0, 2.0]

    def f(b):
        if change:
            b[0] = b[0] * 2
        return b[0] * numbers[0] * numbers[0]

    return f, numbers, [1.0, 0.0], lambda d: d if isinstance(d, float) else d[0]


@pytest.mark.parametrize("change", [False, True])
@pytest.mark.parametrize(
    "make, objects",
    [(captured_body, False), (captured_body, True), (captured_list, False)],
    ids=["body", "body through Python", "list"],
)
def test_what_a_closure_captured_is_the_argument_in_every_transform(make, objects, change):
    slope = 96.0 if change else 12.0  # (2 x)^3 or x^3 at 2

    def by(transform):
        f, x, tangent, part = make(change, objects)
        return part(transform(f, x, tangent))

    assert by(lambda f, x, t: zyg.gradient(f, x)[0]) == slope
    assert by(lambda f, x, t: zyg.pullback(f, x)[1](1.0)[0]) == slope
    assert by(lambda f, x, t: zyg.jvp(f, (x,), (t,))[1]) == slope
    assert by(lambda f, x, t: zyg.pushforward(f, x)[1](t)) == slope
    assert by(lambda f, x, t: zyg.jacobian(f, x)[0]) == slope
    assert by(lambda f, x, t: zyg.hvp(f, x, t)) == slope
    second = by(lambda f, x, t: zyg.hessian(f, x))
    assert (second.x if hasattr(second, "x") else second[0]) == slope


@pytest.mark.parametrize("change", [False, True])
def test_what_a_closure_captured_is_another_argument_than_that_of_the_derivative(change):
    def run(transform):
        body = Body(2.0)

        def f(a, b):
            if change:
                b.x = a[0] * b.x
            return a * (b.x * body.x)

        return transform(f, np.array([3.0, 1.0]), body)

    # a b.x^2, where b.x may be a[0] times 2
    expected = np.array([[108.0, 0.0], [24.0, 36.0]]) if change else np.array([[4.0, 0.0], [0.0, 4.0]])
    np.testing.assert_allclose(run(lambda f, a, b: zyg.jacobian(f, a, b, argnums=0)), expected)
    columns = run(lambda f, a, b: [*map(zyg.pushforward(f, a, b)[1], np.eye(2), (None, None))])
    np.testing.assert_allclose(np.transpose(columns), expected)


def through_python(body):
    try:
        body.x = body.x * 2
        return body.x * BODY.x
    except KeyError:
        return 0.0


def test_pushforward_through_python_is_by_the_object_as_jvp_is():
    BODY.x = 2.0
    value, push = zyg.pushforward(through_python, BODY)  # 4 x**2
    assert (value, BODY.x) == (16.0, 4.0)
    assert push(Body(1.0)) == 16.0 and push(Body(0.5)) == 8.0 and BODY.x == 4.0
    BODY.x = 2.0
    assert zyg.jvp(through_python, (BODY,), (Body(1.0),)) == (16.0, 16.0)
    BODY.x = 2.0


class Scaled:
    def __init__(self, k):
        self.k = k

    def of(self, x, a):
        try:
            a[0] = a[0] * x
            return {"first": a[0] * self.k, "all": a}
        except KeyError:
            return {}


def test_pushforward_through_python_of_a_bound_method():
    a = [2.0, 3.0]
    value, push = zyg.pushforward(Scaled(3.0).of, 5.0, a)
    assert value["first"] == 30.0 and value["all"] is a and a == [10.0, 3.0]
    a[1] = 7.0
    assert push(1.0, None) == {"first": 6.0, "all": [2.0, 0.0]}
    assert push(None, [1.0, 1.0]) == {"first": 15.0, "all": [5.0, 1.0]}
    with pytest.raises(TypeError, match=r"(2 arguments and 1|3 arguments and 2) tangents"):
        push(1.0)


def test_pushforward_in_code_that_is_differentiated_through_python():
    def slope(x):
        try:
            y, push = zyg.pushforward(lambda v: v**3, x)
            return y + push(2.0)  # x**3 + 6 x**2
        except KeyError:
            return 0.0

    assert zyg.withgradient(slope, 2.0) == (32.0, (36.0,))


def test_pushforward_of_functions_that_have_the_argument_besides():
    x, n = [3.0], [0]

    class Times:
        def __init__(self, x):
            self.x = x

        def __call__(self, a):
            return a[0] * self.x[0]

        def method(self, a):
            return a[0] * self.x[0]

    class Slotted:
        __slots__ = ("x",)

    times, slotted = Times(x), Slotted()
    slotted.x = x

    def default(a, b=x):
        return a[0] * b[0]

    def counted(a):
        n[0] += 1
        return a[0] * x[0]

    deep = lambda a: a[0] * x[0]
    for _ in range(6):
        deep = (lambda h: lambda a: h(a))(deep)
    part = functools.partial(lambda k, a: a[0] * k[0], x)
    for f in (times, times.method, default, lambda a: a[0] * times.x[0], lambda a: a[0] * slotted.x[0], part, deep):
        assert zyg.jvp(f, (x,), ([1.0],)) == (9.0, 6.0)
        assert zyg.pushforward(f, x)[1]([1.0]) == 6.0
    with_rule = lambda v: v * v  # a rule for forward mode of another function changes nothing
    zyg.tangent(with_rule)(lambda v: (v * v, lambda dv: 100.0 * dv))
    assert zyg.pushforward(deep, x)[1]([1.0]) == 6.0
    ruled = lambda a: with_rule(a[0]) * x[0]
    assert zyg.jvp(ruled, (x,), ([1.0],)) == (27.0, 309.0)
    with pytest.raises(ValueError, match="also has by name"):
        zyg.pushforward(ruled, x)
    value, push = zyg.pushforward(counted, x)
    x[0] = 100.0
    assert (value, push([1.0]), push([2.0]), n) == (9.0, 6.0, 12.0, [1])


def recursive(x):
    def f(a, n):
        return a[0] * x[0] if n == 0 else f(a, n - 1)

    return f


def test_a_function_that_calls_itself_and_has_the_argument_is_not_differentiated_in_part():
    x, y = [3.0], [3.0]
    f = recursive(x)
    for given in (y, x, y, x):  # whatever was compiled before
        for transform in ("gradient", "jvp", "jacobian", "pushforward", "pullback"):
            call = lambda: TRANSFORMS[transform](f, (given, 1), None)  # noqa: B023
            if transform in ("jvp", "pushforward"):
                call = lambda: zyg.jvp(f, (given, 1), ([1.0], None))  # noqa: B023
            if given is x:
                with pytest.raises(ValueError, match="also has by name"):
                    call()
            else:
                call()
    assert zyg.gradient(f, y, 2) == ([3.0], None)


def test_derivatives_by_what_functions_that_call_themselves_have_captured():
    def powers(k):
        def f(n):
            return k if n == 0 else k * f(n - 1)

        return f

    def in_turn(k):
        def f(n):
            return k if n == 0 else k * g(n - 1)

        def g(n):
            return k if n == 0 else k * f(n - 1)

        return f

    assert zyg.gradient(lambda f: f(3), powers(2.0))[0].k == 32.0
    assert zyg.gradient(lambda f: np.sum(f(3)), powers(np.array([2.0])))[0].k == [32.0]
    assert zyg.gradient(lambda f: f(3), in_turn(2.0))[0].k == 32.0


def test_derivatives_by_what_stands_beside_captured_things_that_native_code_cannot_take():
    def scaled(k, choices):
        def f(x):
            return float(len(choices)) if x > 100.0 else k * x

        return f

    assert zyg.gradient(lambda f: f(3.0), scaled(2.0, {1, 2}))[0].k == 3.0
    assert zyg.gradient(lambda f: f(3.0), scaled(2.0, Fraction(1, 2)))[0].k == 3.0


def test_the_message_says_which_name_it_has():
    def caught(a):
        try:
            return a[0] * NUMBERS[1]
        except KeyError:
            return 0.0

    with pytest.raises(ValueError, match=r"argument 0 is a list .* as `NUMBERS`, .*: copy.deepcopy\(x\)"):
        zyg.value_and_grad(caught)(NUMBERS)
    assert zyg.value_and_grad(caught)([1.0, 2.0]) == (2.0, [2.0, 0.0])
