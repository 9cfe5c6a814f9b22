"""The Python back end: what comes out of SSA behaves as what went in."""

from __future__ import annotations

import copy
import gc
import inspect
import sys
import traceback
import types
import weakref
from typing import Any

import pytest

from tests.frontend import constructs
from tests.frontend.constructs import CASES
from zyg.backend import opcodes
from zyg.backend.python import CannotEmit, Emitter, emit, emit_function
from zyg.frontend.capture import capture
from zyg.ir.core import Function
from zyg.ir.ops import OPS
from zyg.ir.parsing import parse_function


def round_trip(code: types.CodeType) -> types.CodeType:
    return emit(capture(code), code, nested=round_trip)


def emitted(function: Any) -> Any:
    return emit_function(capture(function.__code__), function, nested=round_trip)


def outcome(function: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call gives: result or exceptions with their contexts and lines, what was logged, and what is left."""
    constructs.LOG.clear()
    constructs.GLOBAL = 0
    arguments = copy.deepcopy(arguments)
    try:
        result = ("returned", repr(function(*arguments)))
    except Exception as error:
        result = ("raised", _describe(error))
    return result, repr(arguments), repr(constructs.LOG), sys.exc_info()


def _describe(error: BaseException | None) -> Any:
    if error is None:
        return None
    lines = [(f.f_code.co_name, line) for f, line in traceback.walk_tb(error.__traceback__)][1:]
    return type(error), str(error), lines, error.__suppress_context__, _describe(error.__context__)


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda x: getattr(x, "__name__", "") or repr(x)[:40])
def test_behaves_the_same(function, arguments):
    assert outcome(emitted(function), arguments) == outcome(function, arguments)


@pytest.mark.parametrize("name", {f.__name__: f for f, _ in CASES})
def test_twice_around(name):
    """Decoding what was emitted works too, and does the same."""
    function = {f.__name__: f for f, _ in CASES}[name]
    twice = emitted(emitted(function))
    for f, arguments in CASES:
        if f is function:
            assert outcome(twice, arguments) == outcome(function, arguments)


def test_signature_is_kept():
    def f(a, /, b: int = 2, *args, k: str = "k", **kwargs) -> float:
        """What it does."""
        return a, b, args, k, kwargs

    f.attribute = 1
    g = emitted(f)
    assert inspect.signature(g) == inspect.signature(f)
    assert (g.__doc__, g.__name__, g.__qualname__, g.__module__) == (
        f.__doc__,
        f.__name__,
        f.__qualname__,
        f.__module__,
    )
    assert g.attribute == 1 and g.__code__.co_flags == f.__code__.co_flags
    assert g(1, 2, 3, k=4, z=5) == f(1, 2, 3, k=4, z=5)


def test_positions_are_kept():
    def f(x):
        y = x + 1
        return (y +
                y / (x - x))  # fmt: skip

    def where(function):
        try:
            function(1)
        except ZeroDivisionError as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            return last.lineno, last.end_lineno, last.colno, last.end_colno, last.name

    assert where(emitted(f)) == where(f)


@pytest.mark.parametrize("column", [60, 120, 250])
def test_line_tables_cover_the_code_and_no_more(column):
    """The interpreter makes a table of lines from them when a function is traced or profiled, and checks no bounds."""
    text = f"def f(x):\n    y = 2 * x\n    {'z = ':<{column}}y + (x * y) / (x - y)\n    return z\n"
    scope: dict[str, Any] = {}
    exec(compile(text, "<long lines>", "exec"), scope)
    code = emitted(scope["f"]).__code__
    ranges = list(code.co_lines())
    assert ranges[-1][1] == len(code.co_code)
    assert {line for *_, line in ranges} <= {None, 1, 2, 3, 4}


def test_temporaries_and_variables_live_as_long_as_in_the_interpreter():
    class Thing:
        pass

    def f(log):
        thing = Thing()
        gone = weakref.ref(thing)
        log.append(gone() is not None)  # a variable holds it, though it is not used again
        for _ in iter([Thing()]):
            pass
        weakref.finalize(Thing(), log.append, "temporary")
        log.append("next")
        del thing
        log.append(gone() is None)
        other = Thing()
        gone = weakref.ref(other)
        other = None
        log.append(gone() is None)

    logs: list[Any] = [[], []]
    gc.disable()
    try:
        f(logs[0])
        emitted(f)(logs[1])
    finally:
        gc.enable()
    assert logs[0] == logs[1] == [True, "temporary", "next", True, True]


def test_iterator_of_a_finished_loop_is_let_go():
    class Items:
        def __iter__(self):
            yield 1

    def f(make):
        it = []
        for x in make():
            it.append(x)
        return sys.getrefcount(KEPT)

    KEPT = Items()
    assert emitted(f)(lambda: KEPT) == f(lambda: KEPT)


@pytest.mark.parametrize("text", ["locals()", "vars()", "dir()", "eval('x')", "exec('x = 1')"])
def test_reading_the_frame_is_refused(text):
    space: dict[str, Any] = {}
    exec(f"def f(x):\n    return {text}\n", space)
    with pytest.raises(CannotEmit, match=r"\(\) of the variables of f"):
        emitted(space["f"])


def test_looking_elsewhere_is_not_refused():
    def f(x):
        return sorted(vars(x)), eval("1 + 1", {}), "real" in dir(1)

    assert emitted(f)(types.SimpleNamespace(a=1)) == (["a"], 2, True)


def test_from_text():
    function = parse_function("""\
func @f(%x: object, %n: object) -> object {
entry:
  jump loop(%x, 0)
loop(%total: object, %i: object):
  %0 = lt %i, %n : object
  %1 = truth %0 : bool
  branch %1, body, done
body:
  %2 = iadd %total, %x : object
  %3 = iadd %i, 1 : object
  jump loop(%2, %3)
done:
  return %total
}""")
    f = types.FunctionType(emit(function), {})
    assert f(2.0, 3) == 8.0 and f(2, 0) == 2


def test_parameters_are_passed_all_at_once():
    function = parse_function("""\
func @f(%a: object, %b: object, %n: object) -> object {
entry:
  jump loop(%a, %b, %n)
loop(%x: object, %y: object, %k: object):
  %0 = truth %k : bool
  branch %0, body, done
body:
  %1 = sub %k, 1 : object
  jump loop(%y, %x, %1)
done:
  %2 = tuple %x, %y : object
  return %2
}""")
    f = types.FunctionType(emit(function), {})
    assert f(1, 2, 0) == (1, 2) and f(1, 2, 1) == (2, 1) and f(1, 2, 4) == (1, 2)


def test_switch_and_a_lone_next():
    function = parse_function("""\
func @f(%k: object, %xs: object) -> object {
entry:
  %it = iter %xs : object
  %more, %x = next %it : bool, object
  %0 = tuple %more, %x : object
  switch %k, zero, one, other(%k)
zero:
  return %0
one:
  return "one"
other(%v: object):
  return %v
}""")
    f = types.FunctionType(emit(function), {})
    assert f(0, [7]) == (True, 7) and f(0, []) == (False, None) and f(1, []) == "one" and f(5, []) == 5


def test_deep_expressions():
    space: dict[str, Any] = {}
    exec("def f(x):\n    return " + "+".join(["x"] * 900) + "\n", space)
    assert emitted(space["f"])(2) == 1800


def test_every_python_op_has_a_lowering():
    """Ops of the Python level, and the operators that they share with machines."""
    tables = (
        opcodes.OPERATIONS, opcodes.BINARY_OPS, opcodes._COMPARISONS, opcodes._PLAIN, opcodes._NAMED,
        opcodes._LEAVES_BELOW, opcodes._CONTAINER,
    )  # fmt: skip
    known = {name for table in tables for name in table}
    assert not {name for name, op in OPS.items() if op.level == "python"} - known
    assert known >= {
        "add",
        "sub",
        "mul",
        "neg",
        "floordiv",
        "mod",
        "pow",
        "lt",
        "eq",
        "and",
        "or",
        "xor",
        "not",
        "invert",
    }


def test_code_is_about_as_long_as_the_interpreters():
    before = sum(len(f.__code__.co_code) for f, _ in CASES)
    after = sum(len(emit(capture(f.__code__)).co_code) for f, _ in CASES)
    assert after < 1.25 * before


def test_emitter_needs_no_template():
    def f(a, b):
        return a * b

    function = capture(f.__code__)
    bare = Function("f", function.blocks, function.results)
    code = Emitter(bare, None, lambda c: c).run()
    assert types.FunctionType(code, {})(2, 3) == 6
