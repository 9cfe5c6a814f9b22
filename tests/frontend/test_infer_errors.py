"""What is refused, and how it is said; completeness of the handlers."""

from __future__ import annotations

import functools
import math
import time

import numpy as np
import pytest
from scipy import special

import zyg
from zyg.errors import Unsupported
from zyg.fallback import python_pullback
from zyg.frontend import python_ops
from zyg.frontend.infer import infer
from zyg.ir.ops import OPS
from zyg.ir.types import F64, I64

from .running import evaluate


def test_every_python_op_has_a_handler_or_a_refusal():
    known = set(python_ops.HANDLERS) | set(python_ops.UNSUPPORTED)
    assert [name for name, op in OPS.items() if op.level == "python" and name not in known] == []


def refusal(function, *types) -> str:
    with pytest.raises(Unsupported) as caught:
        infer(function, types)
    return str(caught.value)


def test_a_refusal_shows_place_types_and_what_to_write_instead():
    def f(x):
        d = {1: x}
        return d

    text = refusal(f, F64)
    assert "a dictionary" in text
    assert "test_infer_errors.py" in text and 'in "test_a_refusal' in text
    assert "d = {1: x}" in text and "^^^" in text
    assert "instead: use strings that are written out as keys" in text


def test_unknown_function_whose_result_is_used():
    def f(x):
        return time.time() + x

    text = refusal(f, F64)
    assert "the value of time.time(...), a function that native code does not know" in text
    assert "call it outside of the function" in text


def returned_at_once(x):
    return np.packbits(x > 0.0)


def kept_and_returned(x):
    found = np.packbits(x > 1.0)  # the call
    return found


def of_a_ufunc(x):
    y = x * 2.0
    return special.eval_legendre(3, y)


def in_a_callee(x):
    return kept_and_returned(x * 2.0)


def an_iterator(x):
    y = x * 2.0
    return iter(y)


@pytest.mark.parametrize(
    "f, line",
    [(returned_at_once, "return np.packbits"), (kept_and_returned, "found = np.packbits"), (of_a_ufunc, "return special.eval"),
     (in_a_callee, "found = np.packbits"), (an_iterator, "return iter(y)")],
)  # fmt: skip
def test_what_is_returned_and_cannot_be_is_shown_at_its_own_line(f, line):
    with pytest.raises(Unsupported) as caught:
        zyg.jit(f)(np.arange(3.0))
    text = str(caught.value)
    assert f"\n    {line}" in text and "^^^" in text


def test_different_types_on_two_paths():
    def f(x):
        y = range(3) if x > 0 else x
        return y

    text = refusal(f, F64)
    assert "range on one path and f64 on another" in text


def test_a_tuple_that_grows_in_a_loop():
    def f(x, n):
        t = ()
        for _ in range(n):
            t = (*t, x)
        return t

    text = refusal(f, F64, I64)
    assert "instead" in text


def test_global_assignment():
    def f(x):
        global SOMETHING
        SOMETHING = x

    assert "an assignment to a global variable" in refusal(f, F64)


def test_recursion_with_ever_new_types():
    def f(t, n):
        return 0 if n == 0 else f((t, t), n - 1)

    assert "a new type in each call" in refusal(f, F64, I64)


def test_type_errors_are_python_s():
    def f(x):
        return x + None

    assert isinstance(_error(f, 1.0), TypeError)
    assert str(_error(f, 1.0)) == "unsupported operand type(s) for +: 'float' and 'NoneType'"

    def g(x):
        return x.nothing

    assert str(_error(g, 1.0)) == "'float' object has no attribute 'nothing'"

    def h(x):
        return x(1)

    assert str(_error(h, 1.0)) == "'float' object is not callable"

    def k(x):
        return undefined_name + x  # noqa: F821

    assert str(_error(k, 1.0)) == "name 'undefined_name' is not defined"


def _error(function, *args):
    try:
        evaluate(function, *args)
    except Exception as error:
        return error
    raise AssertionError("no error")


def test_int_that_no_float_can_hold():
    def f(n, x, c):
        r = n
        if c:
            r = x
        return r

    assert evaluate(f, 2**53, 1.5, False) == 2.0**53
    with pytest.raises(OverflowError, match="an int and a float meet"):
        evaluate(f, 2**53 + 1, 1.5, False)


def test_type_depends_on_value():
    def f(x, n):
        return x**n

    with pytest.raises(ValueError, match="negative power is a float"):
        evaluate(f, 2, -1)
    with pytest.raises(ValueError, match="complex"):
        evaluate(f, -8.0, 1 / 3)


def test_guards_and_inputs():
    result = infer(uses_globals, (F64,))
    kinds = [g[0] for g in result.guards]
    assert "attr" in kinds and "global" in kinds
    assert [(i.kind, i.name, str(i.type)) for i in result.inputs] == [
        ("global", "FACTOR", "f64"),
        ("global", "TABLE", "array<f64, 1, C>"),
    ]


FACTOR = 2.0
TABLE = np.arange(3.0)


def uses_globals(x):
    return math.sin(x) * FACTOR + TABLE[1]


def test_positions_are_those_of_the_user_s_code_in_library_code_too():
    def f(x):
        return math.dist((x, 1.0), (2.0, x))

    module = infer(f, (F64,)).module
    for function in module.functions.values():
        for _, instr in function.instructions():
            if instr.position is not None:
                assert instr.position.file == __file__


@pytest.mark.parametrize(
    "function",
    [
        lambda x: len(f"{x}"), lambda x: f"{x:.1f}" == "2.0", lambda x: str(x) in ("2.0", "3.0"), lambda x: "." in str(x),
        lambda x: f"{x}"[1:], lambda x: sum(1 for _ in str(x)), lambda x: bool(str(x)), lambda x: f"{x}" + "!",
        lambda x: str(x) < "3", lambda x: "a b".split(), lambda x: f"{x}".startswith("2"), lambda x: {"2.0": x}[str(x)],
    ],
)  # fmt: skip
def test_computations_with_strings_are_refused_not_wrong(function):
    with pytest.raises(Unsupported):
        evaluate(function, 2.0)


def test_a_try_is_shown_where_it_stands():
    def protected(x):
        y = x + 1
        try:
            z = x * 2.0
            return y * z
        except ValueError:
            return 0.0

    with pytest.raises(Unsupported, match="try/except") as caught:
        infer(protected, (F64,))
    line = protected.__code__.co_firstlineno + 2
    assert caught.value.position[1:5] == (line, 8, line, 11)


class Steps:
    def __init__(self, x):
        self.x, self.left = x, 3

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.x * self.left


class Stepped(Steps):
    def __iter__(self):
        return Steps(self.x)


class Itself(Steps):
    def __iter__(self):
        return self


@pytest.mark.parametrize(
    "f, words",
    [
        (lambda x, n: ((x,) * n)[0], "a tuple times a number"),
        (lambda x, n: len(n * "ab") * x, "a str times a number"),
        (lambda x, n: sum([v * n for v in Stepped(x)]), "the method __next__ of Steps"),
        (lambda x, n: sum([v * n for v in Itself(x)]), "the method __next__ of Itself"),
    ],
)
def test_what_python_runs_is_refused_and_no_error_of_the_users(f, words):
    with pytest.raises(Unsupported, match=words):
        zyg.jit(f)(1.5, 2)
    slope = f(1.0, 2) if words.startswith("the method") else 1.0 if "tuple" in words else 4.0
    with pytest.warns(zyg.FallbackWarning):
        assert zyg.gradient(f, 1.5, 2)[0] == slope


class Cached:
    def __init__(self, v):
        self.v = v

    @functools.cached_property
    def square(self):
        return self.v * self.v


class Mapping(dict):
    pass


def test_refusals_say_what_to_write_instead():
    assert "write a property" in refusal(lambda x: Cached(x).square, F64)
    assert "[... for i in range(n)]" in refusal(lambda x, n: len([Cached(x)] * n), F64, I64)
    assert "use a tuple, or a list" in refusal(lambda x: len(set()) * x, F64)
    assert "Mapping(...), a class that" in refusal(lambda x: Mapping(a=x)["a"], F64)


class Failure(Exception):
    def __init__(self, cost, by=2.0):
        super().__init__(cost)
        self.total = cost * by


KEPT = Failure(1.0)


@pytest.mark.parametrize("made", ["Failure(x, by=x)", "Failure(*[x], **{'by': x})", "KEPT"])
def test_exceptions_that_only_their_own_code_makes(made):
    space = {"Failure": Failure, "KEPT": KEPT}
    exec(f"def f(x):\n    raise {made}", space)
    assert "an exception that is" in refusal(space["f"], F64)


def test_attributes_of_exceptions():
    assert "the attribute 'total'" in refusal(lambda x: Failure(x).total, F64)


def any_keywords(*args, **named):
    return 1.0


class Keywords:
    def method(self, **named):
        return 1.0


CALLS = [
    lambda x: any_keywords(a=x, **{"a": 2}),
    lambda x: any_keywords(**x),
    lambda x: Keywords().method(a=x, **{"a": 2}),
    lambda x: (lambda **named: 1.0)(a=x, **{"a": 2}),
    lambda x: dict(a=x, **{"a": 1})["a"],
]


@pytest.mark.parametrize("f", CALLS)
def test_errors_of_keywords_name_what_is_called(f):
    with pytest.raises(TypeError) as expected:
        f(1.5)
    for run in (zyg.jit(f), lambda x: zyg.gradient(f, x), lambda x: python_pullback(f, (x,), {})):
        with pytest.raises(TypeError) as found:
            run(1.5)
        assert str(found.value) == str(expected.value)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_exec_asks_for_the_variables_of_its_caller():
    def f(x):
        items = [x]
        exec("items[0] = 3.0")
        return items[0] * x

    with pytest.raises(Unsupported, match="exec without the names"):
        zyg.jit(f)(1.5)
    with pytest.raises(Unsupported):
        zyg.gradient(f, 1.5)
