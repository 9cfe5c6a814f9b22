"""Binding of arguments, typing of arguments, and what makes compiled code stale."""

import dataclasses
import math
import types
from collections import namedtuple

import numpy as np
import pytest

from zyg import rules
from zyg.assumptions import input_value, inputs_fit, native_guards, rules_hold
from zyg.binding import Binder
from zyg.errors import UntypableValue
from zyg.ir.types import BOOL, F32, F64, I64, NONE, RANGE, Array, Closure, Const, NpScalar, ObjectOf, Struct, Tuple
from zyg.typeof import UNBOUND, type_of

# ------------------------------------------------------------------------------------------------ binding


def plain(x, y):
    return ("plain", x, y)


def defaults(x, y=2, z=3):
    return ("defaults", x, y, z)


def rest(x, *more):
    return ("rest", x, more)


def only(x, *, k, m=5):
    return ("only", x, k, m)


def positional(x, /, y=1):
    return ("positional", x, y)


def everything(a, b=2, /, c=3, *rest, d, e=5, **extra):
    return (a, b, c, rest, d, e, extra)


CALLS = [
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2, 3), {}),
    ((1, 2, 3, 4), {}),
    ((1,), {"y": 7}),
    ((), {"x": 1, "y": 2}),
    ((1,), {"x": 1}),
    ((1,), {"z": 9}),
    ((1,), {"k": 4}),
    ((1,), {"k": 4, "m": 6}),
    ((1,), {"nope": 4}),
    ((1, 2), {"d": 8}),
    ((1,), {"c": 9, "d": 8, "f": 10}),
    ((1, 2, 3, 4, 5), {"d": 1, "e": 2}),
    ((), {"a": 1, "d": 2}),
]


@pytest.mark.parametrize("function", [plain, defaults, rest, only, positional, everything], ids=lambda f: f.__name__)
@pytest.mark.parametrize("args, keywords", CALLS)
def test_binding_agrees_with_python(function, args, keywords):
    bind = Binder(function)
    try:
        expected = function(*args, **keywords)
    except TypeError as error:
        with pytest.raises(TypeError) as caught:
            bind(args, keywords)
        assert str(caught.value) == str(error)
        return
    bound, named = bind(args, keywords)
    assert function(*bound, **named) == expected
    assert len(bound) >= len(args)


def test_trailing_defaults_are_left_to_the_callee():
    assert Binder(defaults)((1,), {}) == ((1,), {})
    assert Binder(defaults)((1,), {"y": 5}) == ((1, 5), {})
    assert Binder(defaults)((1,), {"z": 5}) == ((1, 2, 5), {})


def test_arrays_are_not_compared_by_binding():
    a = np.zeros(3)
    bound, _ = Binder(defaults)((a,), {"z": a})
    assert bound[0] is a and bound[1] == 2 and bound[2] is a


# ------------------------------------------------------------------------------------------------- typing

Pair = namedtuple("Pair", "x y")


@dataclasses.dataclass
class Point:
    x: float
    y: float


def test_types_of_values():
    assert type_of(1.0) is F64 and type_of(1) is I64 and type_of(True) is BOOL and type_of(None) is NONE
    assert type_of(range(3)) is RANGE
    assert type_of(np.float32(1)) == NpScalar(F32)
    assert type_of((1.0, (2, None))) == Tuple((F64, Tuple((I64, NONE))))
    assert type_of(Pair(1.0, 2)) == Struct(Pair, ("x", "y"), (F64, I64))
    assert type_of(Point(1.0, 2.0)) == ObjectOf(Point, ("x", "y"), (F64, F64))
    assert type_of("s") == Const("s") and type_of(math) == Const(math) and type_of(math.sin) == Const(math.sin)


def test_types_of_arrays():
    a = np.zeros((3, 4))
    assert type_of(a) == Array(F64, 2, "C")
    assert type_of(a[:, ::2]) == Array(F64, 2, "A")
    assert type_of(a.T) == Array(F64, 2, "A")
    assert type_of(np.array(1.0)) == Array(F64, 0, "C")
    frozen = np.zeros(3, np.float32)
    frozen.flags.writeable = False
    assert type_of(frozen) == Array(F32, 1, "C", writable=False)


@pytest.mark.parametrize(
    "value, words",
    [
        (np.zeros(3, ">f8"), "byte order"),
        (np.array([None]), "object"),
        (np.zeros(3, np.float16), "float16"),
        (np.zeros(3, np.complex64), "complex64"),
        (np.ma.zeros(3), "subclass"),
        ([object()], "object"),
        ({1, 2}, "set"),
        (np.complex64(1j), "complex64"),
        (object(), "object"),
    ],
)
def test_values_that_have_no_type(value, words):
    with pytest.raises(UntypableValue, match=words):
        type_of(value)


def test_what_takes_the_place_of_a_masked_array_has_no_mask():
    with pytest.raises(UntypableValue) as caught:
        type_of(np.ma.zeros(3))
    assert "x.mask" in caught.value.hint


def test_functions_are_typed_by_code_and_captures():
    def make(n):
        return lambda x, k=1.0: x + n

    first, second, third = type_of(make(1)), type_of(make(2)), type_of(make(2.0))
    assert isinstance(first, Closure)
    assert first == second and hash(first) == hash(second)
    assert first != third
    assert third.captured == (F64,) and third.defaults == (F64,)


def test_a_function_that_captures_itself_has_a_finite_type():
    def make():
        def f(n):
            return f(n - 1) if n else 0

        return f

    f = make()
    assert type_of(f) == Closure(f.__code__, (Const(f),), (), (), id(f.__globals__))


def test_empty_cells_and_untypable_captures():
    def make():
        def f():
            return later

        def g():
            return box

        box = set()
        result = type_of(f), type_of(g)
        later = 1
        return *result, g, later

    empty, untypable, g, _ = make()
    assert empty.captured == (Const(UNBOUND),)
    assert untypable == Const(g)


# ----------------------------------------------------------------------------------------------- staleness


def test_guards_about_rules_become_the_epoch():
    def f(x):
        return x

    guards = [("global", {}, "f", f), ("rule", f, None), ("rule", math.sin, None)]
    assert native_guards(guards) == [guards[0], ("word", rules.epoch_address, rules.epoch())]
    assert native_guards(guards[:1]) == guards[:1]


def test_a_new_rule_is_seen():
    def f(x):
        return x

    assert rules_hold([("rule", f, None)])
    rules.adjoint(f)(lambda x: (x, lambda d: (d,)))
    assert not rules_hold([("rule", f, None)])
    assert rules_hold([("rule", f, rules.rule_for(f)), ("global", {}, "gone", None)])
    rules.remove(f)
    assert rules_hold([("rule", f, None)])


@dataclasses.dataclass
class Source:
    kind: str
    container: object
    name: str
    type: object


def test_inputs_are_looked_up_as_python_does():
    cell = types.CellType(1.0)
    space = {"n": 2}
    assert input_value(Source("cell", cell, "x", F64)) == 1.0
    assert input_value(Source("global", space, "n", I64)) == 2
    assert inputs_fit([Source("cell", cell, "x", F64), Source("global", space, "n", I64)])
    assert not inputs_fit([Source("cell", cell, "x", I64)])
    space.clear()
    assert not inputs_fit([Source("global", space, "n", I64)])
    with pytest.raises(NameError, match="'n'"):
        input_value(Source("global", space, "n", I64))
    del cell.cell_contents
    assert not inputs_fit([Source("cell", cell, "x", F64)])
