"""The op table: complete, and its derivatives right."""

from __future__ import annotations

import cmath
import math

import pytest

from zyg.ir import ops, verify
from zyg.ir.builder import Builder
from zyg.ir.core import Block, Function, Instr, Value, const
from zyg.ir.interpret import _SPECIAL, run
from zyg.ir.ops import OPS, SAME_MEMORY, VIEWS, is_pure, is_removable
from zyg.ir.types import BOOL, F64, I64, OBJECT, Array

EFFECTS = {"pure", "read", "write", "check", "value_check", "effect"}
# machine ops without an `eval`: the interpreter has a method for each
STRUCTURAL = {name for name, op in OPS.items() if op.level == "machine" and op.eval is None}
TERMINATORS = {"jump", "branch", "switch", "return"}


@pytest.mark.parametrize("name", OPS)
def test_an_entry_is_complete(name):
    op = OPS[name]
    assert op.name == name and op.doc and callable(op.typing)
    assert op.effects in EFFECTS
    assert callable(op.vjp) or op.vjp in ("none", "structural")
    if op.level == "machine":
        assert op.eval is not None or name in _SPECIAL or name in TERMINATORS, "no meaning for the interpreter"
    if op.commutative:
        assert op.eval is not None and op.eval(3, 5) == op.eval(5, 3)


def test_an_op_that_gives_arrays_says_where_their_elements_are():
    """By this the analyses of memory know under how many names an array may be written."""
    array = Array(F64, 1)
    for name, op in OPS.items():
        assert op.memory in ("none", "new", "shared", "chosen", "told")
        for operands in ([array], [array, array], [BOOL, array, array], [array, I64], [array, F64, I64], [array, F64]):
            try:
                results = op.typing(operands, {})
            except (TypeError, IndexError, ValueError):
                continue
            if any(isinstance(t, Array) for t in results or ()):
                assert op.memory != "none", name
    told = {name: op.memory for name, op in OPS.items() if op.memory != "none"}
    shared = dict.fromkeys(("view", "reshape", "transpose", "broadcast", "strided", "stop"), "shared")
    others = dict.fromkeys(("call", "pycall", "readymade", "pop"), "told")
    assert told == {**shared, **others, "alloc": "new", "undefined": "new", "select": "chosen"}
    assert shared.keys() == SAME_MEMORY and SAME_MEMORY - {"stop"} == VIEWS


def test_an_op_of_stated_types_has_to_say_it():
    with pytest.raises(AssertionError, match="where are the elements"):
        ops.op("another_view", OPS["view"].typing, "a view")
    assert "another_view" not in OPS


def test_the_verifier_sees_arrays_of_which_it_is_not_said():
    array = Array(F64, 1)
    given, made = Value(array), Value(array)
    block = Block("entry", [given])
    function = Function("f", [block], (array,))
    block.instrs += [Instr("cast", [given], [made], {}), Instr("return", [made])]
    assert any("where the elements of an array are" in p.message for p in verify.problems(function))


def test_effects():
    assert is_pure("add") and not is_pure("load") and not is_pure("cadd")
    assert is_removable("load") and is_removable("cadd")
    assert not is_removable("guard") and not is_removable("store")


# ------------------------------------------------------------------------------------- values at special points


@pytest.mark.parametrize(
    ("name", "operands", "result"),
    [
        ("div", (1.0, 0.0), math.inf),
        ("div", (1.0, -0.0), -math.inf),
        ("div", (0.0, 0.0), math.nan),
        ("sdiv", (-1.0, 0.0), -math.inf),
        ("pow", (0.0, -1.0), math.inf),
        ("pow", (-0.0, -3.0), -math.inf),
        ("pow", (-0.0, -2.0), math.inf),
        ("pow", (-8.0, 1 / 3), math.nan),
        ("pow", (1e300, 2.0), math.inf),
        ("pow", (-1e300, 3.0), -math.inf),
        ("pow", (math.nan, 0.0), 1.0),
        ("fmin", (math.nan, 1.0), 1.0),
        ("fmin", (1.0, math.nan), 1.0),
        ("fmax", (math.nan, 1.0), 1.0),
        ("fmax", (2.0, 1.0), 2.0),
        ("maximum", (2.0, 1.0), 2.0),
        ("maximum", (math.nan, 1.0), math.nan),
        ("maximum", (1.0, math.nan), math.nan),
        ("minimum", (2.0, 1.0), 1.0),
        ("minimum", (1.0, math.nan), math.nan),
        ("log", (0.0,), -math.inf),
        ("log", (-1.0,), math.nan),
        ("log1p", (-1.0,), -math.inf),
        ("sqrt", (-1.0,), math.nan),
        ("exp", (1000.0,), math.inf),
        ("sinh", (-1000.0,), -math.inf),
        ("cosh", (-1000.0,), math.inf),
        ("atanh", (-1.0,), -math.inf),
        ("lgamma", (-2.0,), math.inf),
        ("gamma", (-0.0,), -math.inf),
        ("gamma", (-1.0,), math.nan),
        ("floor", (-0.0,), -0.0),
        ("ceil", (-0.5,), -0.0),
        ("trunc", (-0.5,), -0.0),
        ("rint", (-0.5,), -0.0),
        ("rint", (2.5,), 2.0),
        ("floor", (math.inf,), math.inf),
        ("fmod", (-7.0, 3.0), -1.0),
        ("mod", (-7.0, 3.0), 2.0),
        ("mod", (-7, 3), 2),
        ("floordiv", (-7, 3), -3),
        ("add", (2**63 - 1, 1), -(2**63)),
        ("mul", (2**62, 4), 0),
        ("neg", (-(2**63),), -(2**63)),
        ("shl", (1, 63), -(2**63)),
        ("fma", (0.1, 10.0, -1.0), 5.551115123125783e-17),
        ("fma", (1e200, 1e200, -math.inf), -math.inf),
    ],
)
def test_evaluation(name, operands, result):
    value = OPS[name].eval(*operands)
    assert type(value) is type(result)
    if isinstance(result, float):
        assert value.hex() == result.hex() or (math.isnan(value) and math.isnan(result))
    else:
        assert value == result


@pytest.mark.parametrize("name", ["cadd", "csub", "cmul", "cneg", "ipow"])
def test_checked_arithmetic_raises(name):
    operands = {"cneg": (-(2**63),), "cadd": (2**63 - 1, 1), "csub": (-2, 2**63 - 1), "cmul": (2**32, 2**31)}
    with pytest.raises(OverflowError):
        OPS[name].eval(*operands.get(name, (2, 63)))


# ----------------------------------------------------------------------------------------------- derivatives

UNARY = {
    "neg": [0.3, -2.0],
    "abs": [0.3, -2.0],
    "sqrt": [0.3, 4.0],
    "cbrt": [0.3, 8.0, -1.5],
    "exp": [0.3, -2.0],
    "exp2": [0.3, -2.0],
    "expm1": [0.3, -2.0, 1e-9],
    "log": [0.3, 5.0],
    "log2": [0.3, 5.0],
    "log10": [0.3, 5.0],
    "log1p": [0.3, 5.0, -0.5, 1e-9],
    "sin": [0.3, -2.0],
    "cos": [0.3, -2.0],
    "tan": [0.3, -2.0],
    "asin": [0.3, -0.9],
    "acos": [0.3, -0.9],
    "atan": [0.3, -2.0],
    "sinh": [0.3, -2.0],
    "cosh": [0.3, -2.0],
    "tanh": [0.3, -2.0],
    "asinh": [0.3, -2.0],
    "acosh": [1.3, 4.0],
    "atanh": [0.3, -0.9],
    "erf": [0.3, -1.2],
    "erfc": [0.3, -1.2],
    "lgamma": [0.3, 4.5, -1.5, 12.0],
    "gamma": [0.3, 4.5, -1.5],
    "digamma": [0.3, 4.5, -1.5, 12.0],
    "trunc": [0.3, -2.7],
    "rint": [0.3, -2.7],
    "floor": [0.3, -2.7],
    "ceil": [0.3, -2.7],
}
BINARY = {
    "add": [(0.3, 2.0)],
    "sub": [(0.3, 2.0)],
    "mul": [(0.3, -2.0)],
    "div": [(0.3, -2.0)],
    "sdiv": [(0.3, -2.0)],
    "pow": [(0.3, 2.5), (2.0, -1.5), (1.0, 0.0)],
    "mod": [(7.3, 2.0), (-7.3, 2.0), (7.3, -2.0), (-7.3, -2.0)],
    "fmod": [(7.3, 2.0), (-7.3, 2.0), (7.3, -2.0), (-7.3, -2.0)],
    "remainder": [(7.3, 2.0), (-7.3, 2.0), (6.3, -2.0)],
    "fmin": [(0.3, 2.0), (2.0, 0.3)],
    "fmax": [(0.3, 2.0), (2.0, 0.3)],
    "minimum": [(0.3, 2.0), (2.0, 0.3)],
    "maximum": [(0.3, 2.0), (2.0, 0.3)],
    "atan2": [(0.3, 2.0), (-0.3, -2.0)],
    "hypot": [(0.3, 2.0), (-3.0, 4.0)],
    "modulus": [(0.3, 2.0), (-3.0, 4.0)],
    "copysign": [(0.3, -2.0), (-0.3, -2.0)],
    "nextafter": [(0.3, 2.0)],
    "fma": [(0.3, 2.0, -1.5)],
}
ANALYTIC = {
    name: getattr(cmath, name)
    for name in (
        "exp", "log", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan",
        "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    )
}  # fmt: skip
# tested on their own below
OTHER = {"slope", "select", "cast", "ipow", "cadd", "csub", "cmul", "cneg"}


def test_all_rules_are_tested():
    with_rules = {name for name, op in OPS.items() if callable(op.vjp)}
    assert with_rules == UNARY.keys() | BINARY.keys() | OTHER


def slopes(name: str, operands, d: float = 1.0):
    op = OPS[name]
    cotangents = op.vjp(d, op.eval(*operands), *operands)
    return [c() if callable(c) else c for c in cotangents]


def difference(function, x: float) -> float:
    """A central difference of fourth order."""
    h = 1e-3 * max(abs(x), 0.1)
    near, far = function(x + h) - function(x - h), function(x + 2 * h) - function(x - 2 * h)
    return (8.0 * near - far) / (12.0 * h)


@pytest.mark.parametrize(("name", "x"), [(n, x) for n, xs in UNARY.items() for x in xs])
def test_unary_rule(name, x):
    (slope,) = slopes(name, (x,), 1.5)
    if name in ANALYTIC:  # complex step: exact to rounding
        expected = ANALYTIC[name](complex(x, 1e-30)).imag / 1e-30
        assert slope / 1.5 == pytest.approx(expected, rel=1e-13)
    else:
        assert (slope or 0.0) / 1.5 == pytest.approx(difference(OPS[name].eval, x), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize(("name", "operands"), [(n, o) for n, os in BINARY.items() for o in os])
def test_binary_rule(name, operands):
    for n, slope in enumerate(slopes(name, operands, 1.5)):

        def moved(x, n=n):
            return OPS[name].eval(*operands[:n], x, *operands[n + 1 :])

        assert (slope or 0.0) / 1.5 == pytest.approx(difference(moved, operands[n]), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "operands", "d", "expected"),
    [
        ("sqrt", (0.0,), 0.0, [0.0]),  # a strong zero at the singular point
        ("sqrt", (0.0,), 1.0, [math.inf]),
        ("cbrt", (0.0,), 0.0, [0.0]),
        ("log", (0.0,), 1.0, [math.inf]),
        ("log1p", (-1.0,), 0.0, [0.0]),
        ("asin", (1.0,), 0.0, [0.0]),
        ("acos", (-1.0,), 0.0, [0.0]),
        ("acosh", (1.0,), 0.0, [0.0]),
        ("atanh", (1.0,), 0.0, [0.0]),
        ("sdiv", (1.0, 0.0), 0.0, [0.0, 0.0]),
        ("sdiv", (1.0, 0.0), 1.0, [math.inf, -math.inf]),
        ("abs", (0.0,), 1.0, [0.0]),
        ("hypot", (0.0, 0.0), 1.0, [0.0, 0.0]),
        ("atan2", (0.0, 0.0), 0.0, [0.0, 0.0]),
        ("pow", (0.0, 0.0), 1.0, [0.0, 0.0]),
        ("pow", (0.0, 1.0), 1.0, [1.0, 0.0]),
        ("pow", (0.0, 2.0), 1.0, [0.0, 0.0]),
        ("pow", (0.0, 0.5), 1.0, [math.inf, 0.0]),
        ("pow", (0.0, 0.5), 0.0, [0.0, 0.0]),
        ("pow", (-2.0, 3.0), 1.0, [12.0, 0.0]),
        ("fmin", (1.0, 1.0), 1.0, [1.0, 0.0]),  # the first of two equal ones, as Python's min
        ("fmax", (1.0, 1.0), 1.0, [1.0, 0.0]),
        ("maximum", (1.0, 1.0), 1.0, [1.0, 0.0]),
        ("fmin", (math.nan, 1.0), 1.0, [0.0, 1.0]),
        ("fmin", (1.0, math.nan), 1.0, [1.0, 0.0]),
        ("ipow", (0, 0), 1.0, [0.0, 0.0]),
        ("ipow", (0, 1), 1.0, [1.0, 0.0]),
        ("ipow", (3, 2), 2.0, [12.0, 2.0 * 9.0 * math.log(3.0)]),
        ("cadd", (3, 2), 2.0, [2.0, 2.0]),
        ("csub", (3, 2), 2.0, [2.0, -2.0]),
        ("cmul", (3, 2), 2.0, [4.0, 6.0]),
        ("cneg", (3,), 2.0, [-2.0]),
        ("mod", (-7, 3), 1.0, [1.0, 3.0]),
        ("select", (True, 1.0, 2.0), 3.0, [None, 3.0, 0.0]),
        ("modulus", (0.0, 0.0), 1.0, [0.0, 0.0]),
        ("slope", (7.0, 2.0, 5.0), 1.5, [1.5, None, 3.0]),
        ("slope", (7.0, math.inf, 5.0), 0.0, [0.0, None, 0.0]),
        ("slope", (7.0, 0.0, 5.0), 1.5, [1.5, None, None]),
        ("slope", (7, 2.0, 5), 1.5, [1.5, None, 3.0]),
        ("select", (False, 1.0, 2.0), 3.0, [None, 0.0, 3.0]),
        ("mod", (1e15, 3.0), 1.0, [1.0, -333333333333333.0]),
    ],
)
def test_rule_at_a_special_point(name, operands, d, expected):
    assert slopes(name, operands, d) == expected


@pytest.mark.parametrize("name", sorted({*UNARY, *BINARY} - {"nextafter"}))
def test_traced_rules_emit_what_they_compute(name):
    """The rule on SSA values gives instructions that compute what the rule on numbers gives."""
    points = [(x,) for x in UNARY.get(name, [])] or BINARY[name]
    operands = points[0]
    values = [Value(F64, "x") for _ in operands]
    d = Value(F64, "d")
    function = Function("rule", [Block("entry", [d, *values])])
    builder = Builder(function, function.entry)
    out = builder.op(name, *values)
    cotangents = OPS[name].vjp(builder.traced(d), builder.traced(out), *map(builder.traced, values))
    cotangents = [c() if callable(c) else c for c in cotangents]
    results = [const(0.0) if c is None else c.value() if hasattr(c, "value") else const(c) for c in cotangents]
    function.results = tuple(r.type for r in results)
    builder.ret(*results)
    got = run(function, 1.5, *operands)
    assert got == pytest.approx([c or 0.0 for c in slopes(name, operands, 1.5)], rel=1e-15)


# --------------------------------------------------------------------------------------------------- typings


def test_typing_refuses_what_does_not_fit():
    for name, types in {"add": [F64, I64], "sin": [I64], "not": [F64], "cadd": [F64, F64], "lt": [F64, BOOL]}.items():
        with pytest.raises(TypeError):
            OPS[name].typing(types, {})
    assert OPS["add"].typing([OBJECT, I64], {}) == (OBJECT,)
    assert OPS["lt"].typing([F64, F64], {}) == (BOOL,)
