"""Printing and parsing: round trips of everything that attributes can hold, and errors that say where."""

from __future__ import annotations

import math
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.turns import each_in_long_turn, each_in_turn
from zyg.ir import types as t
from zyg.ir.core import Block, Const, Function, Instr, Position, Rule, Value, const
from zyg.ir.parsing import ParseError, parse_function, parse_module, parse_type
from zyg.ir.text import Opaque, ansi, format_function, format_instruction, format_type, format_value

scalars = st.sampled_from(list(t.SCALARS.values()))
value_types = st.recursive(
    st.one_of(
        scalars,
        st.just(t.OBJECT),
        st.just(t.TAPE),
        st.builds(t.Array, scalars, st.integers(0, 4), st.sampled_from("CA"), st.booleans()),
    ),
    lambda inner: st.builds(t.Stack, inner),
    max_leaves=3,
)
structured_types = st.recursive(
    st.one_of(value_types, st.just(t.NONE), st.just(t.RANGE), st.builds(t.NpScalar, scalars)),
    lambda inner: st.one_of(
        st.builds(t.Tuple, st.lists(inner, max_size=3).map(tuple)),
        st.builds(t.ListType, st.lists(inner, max_size=3).map(tuple)),
        st.builds(t.Optional, inner),
        st.builds(lambda items: t.Struct(Position, ("a", "b"), items), st.tuples(inner, inner)),
        st.builds(lambda a, b, c: t.PullbackType("f.rev", a, b, (c,)), inner, inner, value_types),
        st.builds(t.Const, st.one_of(st.integers(), st.text(), st.floats(allow_nan=False))),
    ),
    max_leaves=6,
)
plain_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.complex_numbers(allow_nan=False),
    st.just(...),
    st.builds(Rule, st.text(), st.text(), st.lists(st.integers(0, 5)).map(tuple)),
    st.sampled_from([math.sin, int, random, Opaque("something <odd> here"), Position]),
    structured_types,
)
values = st.recursive(
    plain_values,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.frozensets(st.one_of(st.text(), st.integers()), max_size=3),
        st.dictionaries(st.one_of(st.text(), st.integers()), inner, max_size=3),
    ),
    max_leaves=5,
)


def same(a, b) -> bool:
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (float, complex)):
        return repr(a) == repr(b)
    return type(a) is type(b) and a == b


def _with(instr: Instr) -> Function:
    block = Block("entry")
    block.instrs = [instr, Instr("return")]
    return Function("f", [block])


@each_in_turn
@settings(max_examples=300, deadline=None)
@given(value=values)
def test_attributes_round_trip(value):
    function = _with(Instr("poll", attrs={"thing": value, "last": 1}))
    function.attrs = {"about": value}
    text = format_function(function)
    again = parse_function(text)
    assert same(again.blocks[0].instrs[0].attrs["thing"], value)
    assert same(again.attrs["about"], value)
    assert format_function(again) == text


@each_in_long_turn
@settings(max_examples=200, deadline=None)
@given(value=plain_values)
def test_literal_operands_round_trip(value):
    function = _with(Instr("tuple", [const(value), Const(value, t.OBJECT)], [Value(t.OBJECT, "x")]))
    text = format_function(function)
    operands = parse_function(text).blocks[0].instrs[0].operands
    for operand, type in zip(operands, (const(value).type, t.OBJECT), strict=True):
        assert isinstance(operand, Const) and same(operand.value, value) and operand.type == type


@settings(max_examples=200, deadline=None)
@given(type=structured_types)
def test_types_round_trip(type):
    assert parse_type(format_type(type)) == type


@given(type=value_types)
def test_value_types_print_as_they_parse(type):
    assert str(type) == format_type(type)


@settings(deadline=None)
@given(
    file=st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), min_size=1),
    numbers=st.tuples(*[st.integers(0, 10**6)] * 4),
    function=st.sampled_from(["", "f", "A.f.<locals>.<lambda>"]),
)
def test_positions_round_trip(file, numbers, function):
    position = Position(file.strip() or "f.py", *numbers, function)
    text = format_function(_with(Instr("poll", position=position)))
    if "\x1c" <= min(position.file, default="a") <= "\x1f":
        return
    assert parse_function(text).blocks[0].instrs[0].position == position
    assert "#" not in format_function(_with(Instr("poll", position=position)), positions=False)


def test_closures():
    def outer(a):
        return lambda b=1: a + b

    type = t.Closure(outer.__code__, (t.F64, t.Tuple((t.I64,))), (t.I64,), (("k", t.BOOL),), 7, outer)
    text = format_type(type)
    again = parse_type(text)
    assert isinstance(again, t.Closure)
    assert again.items == type.items and again.kwdefaults == type.kwdefaults
    assert format_type(again) == text


def test_a_function_at_the_top_of_a_module_comes_back():
    type = t.Closure(math_user.__code__, (t.F64,), (), (), id(math_user.__globals__), math_user)
    assert parse_type(format_type(type)) == type


def math_user(x):
    return math.sin(x)


def test_names():
    """Values of one name are told apart; the hint itself survives a round trip."""
    values = [Value(t.F64, name) for name in ("x", "x", "x.1", "", "y z", "1st", "", ".0", "é", "x.y")]
    function = Function("f", [Block("entry", values)], ())
    function.entry.instrs.append(Instr("return"))
    text = format_function(function)
    names = re.findall(r"%([^:]+):", text)
    assert names == ["x", "x.1", "x.2", "0", "y_z", "_1st", "1", "2", "é", "x.y"]
    assert [v.name for v in parse_function(text).params] == ["x", "x", "x", "", "y_z", "_1st", "", "", "é", "x.y"]
    assert format_function(parse_function(text)) == text


def test_colours_only_add_escapes():
    text = "func @f(%x: f64) -> f64 {\nentry:\n  %y = neg %x : f64    # f.py:1:2-3:4 f\n  return %y\n}"
    function = parse_function(text)
    coloured = format_function(function, paint=ansi)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == format_function(function)


def test_one_instruction_for_a_message():
    function = parse_function("func @f(%x: f64) -> f64 {\nentry:\n  %y = neg %x : f64\n  return %y\n}")
    assert format_instruction(function.entry.instrs[0], function) == "%y = neg %x : f64"
    assert format_instruction(Instr("neg", [Value(t.F64, "lost")], [Value(t.F64)])) == "%? = neg %lost? : f64"


def test_values_are_separate_objects():
    text = "func @f(%x: f64) {\nentry:\n  return\n}\nfunc @g(%x: f64) {\nentry:\n  return\n}"
    a, b = parse_module(text).functions.values()
    assert a.params[0] is not b.params[0]


ERRORS = {
    "%z is not defined in this function": ("  %y = neg %z : f64", 3),
    "%x is defined twice": ("  %x = neg %x : f64", 3),
    "no block nowhere": ("  jump nowhere", 3),
    "1 results but 0 types": ("  %y = neg %x", 3),
    "unknown type f63": ("  %y = neg %x : f63", 3),
    "unexpected )": ("  %y = neg %x : f64)", 3),
    "unknown value what": ("  %y = neg what : f64", 3),
    "this < is never closed": ("  %y = neg <math.sin : f64", 3),
    "wrong arguments of type array": ("  %y = neg %x : array<f64>", 3),
    "expected an op": ("  %y = : f64", 3),
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors_say_where(message):
    line, number = ERRORS[message]
    with pytest.raises(ParseError, match=re.escape(message)) as caught:
        parse_function(f"func @f(%x: f64) {{\nentry:\n{line}\n  return\n}}")
    assert caught.value.number == number
    assert line.strip() in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fun @f() {\n}", "expected 'func"),
        ("func @f() {\n  return\n}", "an instruction before the first block"),
        ("func @f() {\nentry:\n  return\n", "not closed"),
        ("func @f() {\nentry(%x: f64):\n  return\n}", "the first block's parameters are those of the function"),
        ("func @f() {\na:\n  return\na:\n  return\n}", "appears twice"),
        ("func @f() {\na:\n  return\n}\nfunc @f() {\na:\n  return\n}", "function @f is defined twice"),
    ],
)
def test_errors_of_structure(text, message):
    with pytest.raises(ParseError, match=re.escape(message)):
        parse_module(text)


def test_format_value_of_an_object_without_a_name():
    assert format_value(random.Random(1)) == "<object of random.Random>"
