"""The decoder: SSA that verifies, that reads as expected, and that is the same on all Pythons."""

from __future__ import annotations

import gc
import sys
import time
import weakref
from types import CodeType, FunctionType

import pytest

from zyg.errors import Unsupported
from zyg.frontend.bytecode import read
from zyg.frontend.capture import Capture, capture
from zyg.ir.core import Const
from zyg.ir.parsing import parse_function
from zyg.ir.text import format_function
from zyg.ir.types import OBJECT
from zyg.ir.verify import verify

from .constructs import CASES

FUNCTIONS = {function.__name__: function for function, _ in CASES}


def code_objects(code: CodeType) -> list[CodeType]:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return [code, *(c for i in inner for c in code_objects(i))]


def text(function: FunctionType) -> str:
    """SSA without header and positions."""
    lines = format_function(capture(function.__code__), positions=False).splitlines()
    return "\n".join(lines[1:-1])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_verifies(name):
    for code in code_objects(FUNCTIONS[name].__code__):
        function = capture(code)
        verify(function)
        assert function.attrs["code"] is code
        assert not function.predecessors()[function.entry]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_text_parses_back(name):
    function = capture(FUNCTIONS[name].__code__)
    printed = format_function(function)
    assert format_function(parse_function(printed)) == printed


def test_parameters():
    def f(a, b, /, c, *args, k, **kwargs):
        return a, b, c, args, k, kwargs

    function = capture(f.__code__)
    assert [p.name for p in function.params] == ["a", "b", "c", "k", "args", "kwargs"]
    assert all(p.type is OBJECT for p in function.params) and function.results == (OBJECT,)


def test_loop():
    def sum_of_squares(n):
        s = 0.0
        for i in range(n):
            s += i * i
        return s

    assert (
        text(sum_of_squares)
        == """\
entry:
  %0 = global {name="range"} : object
  %1 = call_object %0, %n {keywords=()} : object
  %2 = iter %1 : object
  jump loop(0.0)
loop(%s: object):
  %3, %i = next %2 : bool, object
  branch %3, body, done
body:
  %4 = mul %i, %i : object
  %s.1 = iadd %s, %4 : object
  jump loop(%s.1)
done:
  return %s"""
    )


def test_unused_values_do_not_go_around_loops():
    def f(n, k):
        total = n
        for _ in range(n):
            k + n
        return total, k

    function = capture(f.__code__)
    assert all(not b.params for b in function.blocks[1:])


def test_conditions():
    def f(a, b):
        if not a or b not in a:
            return a is None
        return b

    assert (
        text(f)
        == """\
entry:
  %0 = truth %a : bool
  branch %0, then, join
then:
  %1 = contains %b, %a : object
  %2 = truth %1 : bool
  branch %2, else, join
else:
  return %b
join:
  %3 = is %a, none : object
  return %3"""
    )


def test_closure():
    def outer(k):
        total = 0

        def add(x):
            nonlocal total
            total += x * k
            return total

        return add

    assert (
        text(outer)
        == """\
entry:
  %k.1 = new_cell %k {name="k"} : object
  %total = new_cell {name="total"} : object
  set_cell %total, 0
  %0 = tuple %k.1, %total : object
  %add = make_function %0 {code=<code test_closure.<locals>.outer.<locals>.add>, has=("closure",)} : object
  return %add"""
    )
    assert (
        text(outer(2))
        == """\
entry:
  %k = free_cell {name="k"} : object
  %total = free_cell {name="total"} : object
  %total.1 = get_cell %total {name="total"} : object
  %k.1 = get_cell %k {name="k"} : object
  %0 = mul %x, %k.1 : object
  %1 = iadd %total.1, %0 : object
  set_cell %total, %1
  %total.2 = get_cell %total {name="total"} : object
  return %total.2"""
    )


def test_unbound_is_checked_where_it_may_be():
    def f(c):
        if c:
            y = 1
        z = 2
        return y + z + y

    assert text(f).count("checked_local") == 1
    assert text(f).startswith("entry:\n  %unbound = unbound : object")


def test_handler_sees_the_variables_of_the_moment():
    def f(g):
        x = 1
        try:
            x = g()
            x = g(x)
        except ValueError:
            pass
        return x

    function = capture(f.__code__)
    protected = [b for b in function.blocks if b.handler is not None and b.handler.block.params[1:]]
    args = [b.handler.args[0] for b in protected]
    assert isinstance(args[0], Const) and args[0].value == 1
    assert [a.name for a in args[1:]] == ["x"]
    assert len({b.handler.block for b in protected}) == 1


def test_code_that_cannot_raise_has_no_handler():
    def f(x):
        try:
            y = x
        except ValueError:
            y = 1
        return y

    assert text(f) == "entry:\n  return %x"


def test_comprehension_has_no_handler():
    def f(xs):
        return [x + 1 for x in xs]

    assert all(b.handler is None for b in capture(f.__code__).blocks)


def test_positions():
    def f(x, y):
        return (x +
                y * 2)  # fmt: skip

    first = f.__code__.co_firstlineno
    positions = {i.op: i.position for _, i in capture(f.__code__).instructions()}
    assert positions["mul"][1:5] == (first + 2, 16, first + 2, 21)
    assert positions["add"].line == first + 1 and positions["add"].end_line == first + 2
    assert positions["mul"].function.endswith("f") and positions["mul"].file == __file__


def test_calls_are_normal():
    def f(g, o, a):
        return g(a), o.m(a, k=1), g(*a, **a), o(1)(2)

    ops = [i for _, i in capture(f.__code__).instructions() if i.op.startswith("call")]
    assert [(i.op, len(i.operands), i.attrs.get("keywords")) for i in ops] == [
        ("call_object", 2, ()),
        ("call_object", 3, ("k",)),
        ("call_spread", 3, None),
        ("call_object", 2, ()),
        ("call_object", 2, ()),
    ]


def test_constants():
    def f():
        return 1, 2.0, True, None, "s", 1180591620717411303424

    (result,) = [i for _, i in capture(f.__code__).instructions() if i.op == "return"]
    assert isinstance(result.operands[0], Const) and result.operands[0].value == (
        1,
        2.0,
        True,
        None,
        "s",
        1180591620717411303424,
    )

    def g(x):
        y = 1.0
        return -y, 10**30 + x

    verify(capture(g.__code__))


def test_generator_expression():
    def f(xs):
        return sum(x * x for x in xs)

    (inner,) = [c for c in f.__code__.co_consts if isinstance(c, CodeType)]
    function = capture(inner)
    assert function.attrs["generator"] and [i.op for _, i in function.instructions()].count("yield") == 1
    assert all(b.handler is None for b in function.blocks)


def test_async_is_refused():
    async def f(x):
        await x

    with pytest.raises(Unsupported, match="asynchronous") as caught:
        capture(f.__code__)
    assert caught.value.position.line == f.__code__.co_firstlineno


def test_cached_and_not_kept_alive():
    function = FunctionType(compile("lambda x: x + 1", "text", "eval").co_consts[0], {})
    first, second = capture(function.__code__), capture(function.__code__)
    assert first.blocks[0] is second.blocks[0]
    gone = weakref.ref(function.__code__)
    del function, first, second
    gc.collect()
    assert gone() is None


def test_deep_and_long_functions():
    steps = "".join(f"    if x > {i}:\n        x = x - {i}\n" for i in range(2000))
    long = f"def f(x, y):\n{steps}    return x + y\n"
    deep = "def g(x):\n    return " + "+".join(["x"] * 900) + "\n"
    space: dict = {}
    exec(long, space)
    exec(deep, space)
    assert len(capture(space["f"].__code__).blocks) > 2000
    capture(space["g"].__code__)


def test_speed():
    """A hundred instructions in about a millisecond; the bound here is loose, since machines are busy."""
    code = FUNCTIONS["comprehensions"].__code__
    count = len(read(code).instructions)
    best = min(_seconds(code) for _ in range(5))
    assert best < 0.1 * count / 1000


def _seconds(code: CodeType) -> float:
    start = time.thread_time()
    for _ in range(10):
        Capture(code).run()
    return (time.thread_time() - start) / 10


@pytest.mark.skipif(sys.version_info < (3, 12), reason="comprehensions are functions")
def test_inlined_comprehension_leaves_its_variable_alone():
    def f(xs):
        x = 1
        ys = [x for x in xs if x]
        return x, ys

    (result,) = [i for _, i in capture(f.__code__).instructions() if i.op == "tuple"]
    assert isinstance(result.operands[0], Const) and result.operands[0].value == 1
