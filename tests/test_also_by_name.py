"""A function that changes an argument which it also has by another name is refused by every transform: on copies of the arguments, of
which Hessians and Jacobians are made, the two would be apart."""

from __future__ import annotations

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
