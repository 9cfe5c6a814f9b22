"""Binding of arguments, typing of arguments, and what makes compiled code stale."""

import dataclasses
import math
import types
from collections import namedtuple

import numpy as np
import pytest

from zyg import rules
from zyg.dispatch import _Binder, holds, watch_words
from zyg.errors import UntypableValue
from zyg.ir.types import BOOL, F32, F64, I64, NONE, RANGE, Array, Closure, Const, NpScalar, Struct, Tuple
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
    bind = _Binder(function)
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
    assert _Binder(defaults)((1,), {}) == ((1,), {})
    assert _Binder(defaults)((1,), {"y": 5}) == ((1, 5), {})
    assert _Binder(defaults)((1,), {"z": 5}) == ((1, 2, 5), {})


def test_arrays_are_not_compared_by_binding():
    a = np.zeros(3)
    bound, _ = _Binder(defaults)((a,), {"z": a})
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
    assert type_of(Point(1.0, 2.0)) == Struct(Point, ("x", "y"), (F64, F64))
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
        (np.zeros(3, complex), "complex128"),
        (np.ma.zeros(3), "subclass"),
        ([1, 2], "np.array"),
        ({}, "dict"),
        (1j, "real and imaginary"),
        (object(), "object"),
    ],
)
def test_values_that_have_no_type(value, words):
    with pytest.raises(UntypableValue, match=words):
        type_of(value)


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

        box = {}
        result = type_of(f), type_of(g)
        later = 1
        return *result, g, later

    empty, untypable, g, _ = make()
    assert empty.captured == (Const(UNBOUND),)
    assert untypable == Const(g)


# ----------------------------------------------------------------------------------------------- staleness


def words_of(guards):
    import ctypes

    return [ctypes.c_uint64.from_address(word).value for word in watch_words(guards)]


def changed(guards, change):
    before = words_of(guards)
    assert words_of(guards) == before
    change()
    return words_of(guards) != before


def test_a_rebound_global_is_seen():
    space = {"f": math.sin, "__builtins__": {}}
    guard = ("global", space, "f", math.sin)
    assert holds(guard)
    assert changed([guard], lambda: space.update(g=1))
    assert holds(guard)
    assert changed([guard], lambda: space.update(f=math.cos))
    assert not holds(guard)


def test_a_shadowed_and_a_replaced_builtin_are_seen():
    space, names = {}, {"abs": abs}
    guard = ("builtin", space, names, "abs", abs)
    assert holds(guard)
    assert changed([guard], lambda: space.update(abs=1)) and not holds(guard)
    assert changed([guard], space.clear) and holds(guard)
    assert changed([guard], lambda: names.update(abs=max)) and not holds(guard)


def test_a_replaced_module_attribute_is_seen():
    module = types.ModuleType("m")
    module.f = math.sin
    guard = ("attr", module, "f", math.sin)
    assert holds(guard)
    assert changed([guard], lambda: setattr(module, "f", math.cos)) and not holds(guard)


def test_a_changed_cell_is_seen():
    cell = types.CellType(math.sin)
    guard = ("cell", cell, math.sin)
    assert holds(guard)
    assert changed([guard], lambda: setattr(cell, "cell_contents", math.cos)) and not holds(guard)


def test_a_new_rule_is_seen():
    def f(x):
        return x

    guard = ("rule", f, None)
    assert holds(guard)
    assert changed([guard], lambda: rules.adjoint(f)(lambda x: (x, lambda d: (d,)))) and not holds(guard)
    assert holds(("rule", f, rules.rule_for(f)))
