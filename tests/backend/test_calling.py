"""The entry from Python: conversions both ways, misses, guards, errors, lifetimes, threads."""

from __future__ import annotations

import builtins
import copy
import gc
import inspect
import math
import pickle
import signal
import sys
import threading
import time
import traceback
import types
import weakref
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from tests.turns import each_in_turn
from zyg.backend.callable import callable_type
from zyg.backend.calling import make_entry, new_callable, set_entries
from zyg.backend.llvm.engine import engine
from zyg.ir.builder import Builder
from zyg.ir.core import Block, Function, Module, Value
from zyg.ir.options import Options
from zyg.ir.types import (
    BOOL,
    F32,
    F64,
    I32,
    I64,
    NONE,
    RANGE,
    U8,
    Array,
    Closure,
    Const,
    ListType,
    NpScalar,
    Optional,
    PullbackType,
    Stack,
    Struct,
    Tuple,
    flatten,
)

from ..memory import growth, resident
from .native import Missed, compile_text, install, native, parse

VECTOR = Array(F64, 1)


def identity(*types, names=(), **options):
    """A compiled function that returns its arguments."""
    leaves = [leaf for t in types for leaf in flatten(t)]
    params = [Value(t, f"p{k}") for k, t in enumerate(leaves)]
    function = Function("f", [Block("entry", params)], tuple(leaves))
    Builder(function, function.entry).ret(*params)
    result = types[0] if len(types) == 1 else Tuple(types)
    return native(Module([function]), types, result, names, **options)


def misses(function, *args, **kwargs) -> bool:
    try:
        function(*args, **kwargs)
    except Missed as missed:
        assert missed.args == (args, kwargs)
        return True
    return False


# ------------------------------------------------------------------------------------------------- conversions


def test_floats():
    f = identity(F64)
    for x in (0.0, -0.0, 1.5, math.inf, 5e-324):
        assert f(x) == x and type(f(x)) is float
    assert math.isnan(f(math.nan))
    for wrong in (1, True, None, "1", np.float64(1), np.float32(1), [1.0], (1.0,), object()):
        assert misses(f, wrong)


def test_ints():
    f = identity(I64)
    for n in (0, 1, -1, 255, 2**30 - 1, 2**30, -(2**30), 2**31, 2**60, 2**62, 2**63 - 1, -(2**63)):
        assert f(n) == n
    for wrong in (2**63, -(2**63) - 1, 10**100, -(10**100), True, 1.0, None, np.int64(3)):
        assert misses(f, wrong)


def test_bool_and_none():
    f = identity(BOOL, NONE)
    assert f(True, None) == (True, None) and f(False, None) == (False, None)
    assert misses(f, 1, None) and misses(f, True, 0) and misses(f, np.bool_(True), None)


@pytest.mark.parametrize("scalar", [F64, F32, I64, I32, U8, BOOL], ids=str)
def test_numpy_scalars(scalar):
    f = identity(NpScalar(scalar))
    cls = {F64: np.float64, F32: np.float32, I64: np.int64, I32: np.int32, U8: np.uint8, BOOL: np.bool_}[scalar]
    assert f(cls(1)) == 1
    assert type(f(cls(1))) is {F64: float, I64: int, BOOL: bool}.get(scalar, cls)
    assert misses(f, 1) and misses(f, 1.0) and misses(f, np.complex128(1))


def test_tuples():
    nested = Tuple((F64, Tuple((I64, Tuple(()))), NONE))
    f = identity(nested)
    assert f((1.5, (2, ()), None)) == (1.5, (2, ()), None)
    for wrong in (
        (1.5, (2, ()), 0),
        (1.5, (2,), None),
        (1.5, 2, None),
        [1.5, (2, ()), None],
        (),
        (1.5, (2, (1,)), None),
    ):
        assert misses(f, wrong)


Pair = namedtuple("Pair", "x y")


@dataclass
class Point:
    x: float
    y: int
    made: int = field(default=0, init=False, compare=False)

    def __post_init__(self):
        self.made = 1


@dataclass(frozen=True, slots=True)
class Frozen:
    x: float


class SubPair(Pair):
    pass


def test_structs():
    point = Struct(Point, ("x", "y"), (F64, I64))
    pair = Struct(Pair, ("x", "y"), (F64, point))
    f = identity(pair, Struct(Frozen, ("x",), (F64,)))
    given = Pair(1.0, Point(2.0, 3)), Frozen(4.0)
    got = f(*given)
    assert got == given and type(got[0]) is Pair and type(got[0].y) is Point
    assert not hasattr(got[0].y, "made") or got[0].y.made == 0  # __post_init__ is not run a second time
    assert misses(f, Pair(1.0, Point(2.0, 3.0)), Frozen(4.0))
    assert misses(f, SubPair(1.0, Point(2.0, 3)), Frozen(4.0))
    assert misses(f, (1.0, Point(2.0, 3)), Frozen(4.0))
    bare = Point(1.0, 2)
    del bare.x
    assert misses(f, Pair(1.0, bare), Frozen(4.0))


def test_a_field_that_runs_code():
    calls = []

    class Odd:
        @property
        def x(self):
            calls.append("x")
            if len(calls) == 3:
                raise KeyError("odd")
            return 2.5

        def __getattr__(self, name):
            raise AssertionError("asked")

    f = native("func @f(%x: f64) -> f64 {\nentry:\n  return %x\n}", (Struct(Odd, ("x",), (F64,)),), F64)
    odd = Odd()
    assert f(odd) == 2.5 and f(odd) == 2.5
    assert misses(f, odd)
    assert f(odd) == 2.5
    assert engine().running.value == 0


def test_lists_ranges_optionals():
    f = identity(ListType((F64, I64)), RANGE, Optional(F64))
    assert f([1.0, 2], range(3, 30, 4), None) == ([1.0, 2], range(3, 30, 4), None)
    assert f([1.0, 2], range(0), 2.5) == ([1.0, 2], range(0), 2.5)
    assert misses(f, [1.0], range(3), None) and misses(f, (1.0, 2), range(3), None) and misses(f, [1.0, 2], range(3), 1)
    assert misses(f, [1.0, 2], range(2**70), None)


def test_constants():
    f = identity(Const("mode"), Const(math.sin), Const(3), F64)
    assert f("mo" + "de"[:2], math.sin, 3, 1.0) == ("mode", math.sin, 3, 1.0)
    assert misses(f, "other", math.sin, 3, 1.0) and misses(f, b"mode", math.sin, 3, 1.0)
    assert misses(f, "mode", math.cos, 3, 1.0) and misses(f, "mode", math.sin, 3.0, 1.0)


def make_closure(a, b):
    def inner(x, y=2.5, *, z=7):
        return a + b + x + y + z

    return inner


CHANGED_DEFAULTS = [
    ("__defaults__", None),
    ("__defaults__", (1,)),
    ("__defaults__", (1.0, 2.0)),
    ("__kwdefaults__", None),
    ("__kwdefaults__", {"w": 1}),
]


def test_closures():
    model = make_closure(1.0, 2)
    t = Closure(model.__code__, (F64, I64), (F64,), (("z", I64),), id(model.__globals__), model)
    f = identity(t)
    got = f(make_closure(5.0, 6))
    assert got(1.0) == 5.0 + 6 + 1.0 + 2.5 + 7 and got is not model and got.__qualname__ == model.__qualname__
    changed = make_closure(5.0, 6)
    changed.__defaults__ = (3.5,)
    changed.__kwdefaults__ = {"z": 8}
    assert f(changed)(0.0) == 5.0 + 6 + 3.5 + 8
    assert misses(f, make_closure(5, 6)) and misses(f, math.sin) and misses(f, lambda x: x)
    for name, value in CHANGED_DEFAULTS:
        other = make_closure(5.0, 6)
        setattr(other, name, value)
        assert misses(f, other), (name, value)
    other_globals = types.FunctionType(model.__code__, {}, "inner", (2.5,), model.__closure__)
    other_globals.__kwdefaults__ = {"z": 7}
    assert misses(f, other_globals)


def make_empty():
    def inner():
        return missing_yet

    if False:
        missing_yet = 1
    return inner


def test_an_empty_cell_misses():
    def outer(fill):
        def inner():
            return cell

        if fill:
            cell = 1.0
        return inner

    model = outer(True)
    f = identity(Closure(model.__code__, (F64,), (), (), id(model.__globals__), model))
    assert f(model)() == 1.0
    assert misses(f, outer(False))


# ------------------------------------------------------------------------------------------------------- arrays


def test_arrays_come_back_as_themselves():
    for array in (np.arange(12.0).reshape(3, 4), np.zeros((0, 4)), np.ones((1, 1)), np.asfortranarray(np.ones((3, 4)))):
        f = identity(Array(F64, 2, "C" if array.flags.c_contiguous else "A"))
        assert f(array) is array
    a = np.arange(10.0)
    v = a[::2]
    assert identity(Array(F64, 1, "A"))(v) is v
    zero = np.array(3.0)
    assert identity(Array(F64, 0))(zero) is zero


def test_arrays_that_do_not_fit():
    f = identity(Array(F64, 1, "C"))
    good = np.arange(4.0)
    unaligned = np.zeros(33, np.uint8)[1:].view(np.float64)
    locked = np.arange(4.0)
    locked.flags.writeable = False

    class Sub(np.ndarray):
        pass

    others = [good.astype(code) for code in ("f4", "i8", ">f8", object, "c16", "M8[ns]")]
    others += [good.reshape(2, 2), good[::2], np.array(1.0), locked, unaligned, good.view(Sub), np.ma.array(good)]
    for wrong in [*others, good.tolist(), None, memoryview(good)]:
        assert misses(f, wrong)
    assert identity(Array(F64, 1, "C", False))(locked) is locked
    other = pickle.loads(pickle.dumps(good))  # has a dtype object of its own
    assert f(other) is other
    assert identity(Array(I64, 1))(np.arange(3, dtype=np.longlong)).sum() == 3


def test_mapped_files(tmp_path):
    mapped = np.memmap(tmp_path / "numbers", np.float64, "w+", shape=(5,))
    f = identity(Array(F64, 1))
    assert f(mapped) is mapped


def test_a_view_of_an_argument():
    text = """
    func @f(%a: array<f64, 2, C>) -> array<f64, 1, A> {
    entry:
      %v = view %a, 1 {spec=":i"} : array<f64, 1, A>
      return %v
    }"""
    f = native(text, (Array(F64, 2),), Array(F64, 1, "A"))
    a = np.arange(12.0).reshape(3, 4).copy()
    v = f(a)
    assert v.base is a and v.tolist() == [1.0, 5.0, 9.0] and v.strides == (32,) and not v.flags.owndata
    b = weakref.ref(a)
    del a
    assert b() is not None and v.tolist() == [1.0, 5.0, 9.0]
    locked = np.ones((2, 2))
    locked.flags.writeable = False
    g = native(text.replace("2, C>", "2, C, readonly>"), (Array(F64, 2, "C", False),), Array(F64, 1, "A"))
    assert not g(locked).flags.writeable


FRESH = """
    func @f(%n: i64) -> (array<f64, 1, C>, array<f64, 1, C>, array<f64, 1, A>) {
    entry:
      %a = alloc %n {fill="zeros"} : array<f64, 1, C>
      %v = view %a, 1, 2, 3 {spec="s"} : array<f64, 1, A>
      store %v, 5.0, 1
      return RESULTS
    }"""


@each_in_turn
def test_fresh_arrays_that_share_memory():
    f = native(FRESH.replace("RESULTS", "%a, %a, %v"), (I64,), Tuple((VECTOR, VECTOR, Array(F64, 1, "A"))))
    a, b, v = f(10)
    assert a is b and v.base is a and a[4] == 5.0 and v.tolist() == [0.0, 5.0]
    del a, b
    gc.collect()
    assert v.tolist() == [0.0, 5.0]


def test_a_view_of_fresh_memory_alone():
    text = FRESH.replace("(array<f64, 1, C>, array<f64, 1, C>, array<f64, 1, A>)", "array<f64, 1, A>").replace(
        "RESULTS", "%v"
    )
    v = native(text, (I64,), Array(F64, 1, "A"))(10)
    assert v.tolist() == [0.0, 5.0] and v.flags.writeable and v.base is not None
    v[0] = 3.0


def test_results_in_every_shape():
    for ndim in range(5):
        f = identity(Array(F32, ndim, "A"))
        a = np.zeros((2,) * ndim, np.float32)[..., ::-1] if ndim else np.zeros((), np.float32)
        assert f(a) is a


# -------------------------------------------------------------------------------------------------- arguments


def test_counts_and_keywords():
    f = identity(F64, F64, F64, names=("x", "y", "z"))
    assert f(1.0, 2.0, 3.0) == f(1.0, y=2.0, z=3.0) == f(z=3.0, y=2.0, x=1.0) == (1.0, 2.0, 3.0)
    assert f(**{"".join(["x"]): 1.0, "y": 2.0, "z": 3.0}) == (1.0, 2.0, 3.0)
    assert misses(f) and misses(f, 1.0) and misses(f, 1.0, 2.0) and misses(f, 1.0, 2.0, 3.0, 4.0)
    assert misses(f, 1.0, 2.0, 3.0, z=4.0) and misses(f, 1.0, 2.0, w=3.0) and misses(f, 1.0, 2.0, x=3.0)
    assert misses(f, *[1.0] * 100) and misses(f, 1.0, 2.0, **{f"k{i}": 1.0 for i in range(100)})
    assert identity(F64)(*(1.0,)) == 1.0
    assert list(map(identity(F64), [1.0, 2.0])) == [1.0, 2.0]


def test_keywords_without_names():
    f = identity(F64)
    assert f(1.0) == 1.0 and misses(f, x=1.0)


def test_defaults_and_kinds():
    text = "func @f(%x: f64, %y: f64, %z: f64) -> (f64, f64, f64) {\nentry:\n  return %x, %y, %z\n}"
    code = compile_text(text, (F64,) * 3, Tuple((F64,) * 3), keyword_only=True)
    f = install(code, ("x", "y", "z"), defaults={"y": 5.0, "z": 6.0}, positional_only=1, keyword_only=1)
    assert f(1.0) == (1.0, 5.0, 6.0) and f(1.0, 2.0) == (1.0, 2.0, 6.0) and f(1.0, z=2.0) == (1.0, 5.0, 2.0)
    assert misses(f, 1.0, 2.0, 3.0) and misses(f, x=1.0) and misses(f) and misses(f, 1.0, y=1)
    wrong_default = install(code, ("x", "y", "z"), defaults={"z": "six"}, keyword_only=1)
    assert misses(wrong_default, 1.0, 2.0)


def test_no_arguments():
    f = native("func @f() -> i64 {\nentry:\n  return 3\n}", (), I64)
    assert f() == 3 and misses(f, 1) and misses(f, a=1)


# ------------------------------------------------------------------------------------------ the callable object


def test_a_callable_without_code():
    calls = []
    f = new_callable(lambda *a, **k: calls.append((a, k)) or len(calls), "f", __doc__="doc", __wrapped__=len)
    assert f(1, 2, x=3) == 1 and f() == 2 and calls == [((1, 2), {"x": 3}), ((), {})]
    assert f.__name__ == "f" and f.__doc__ == "doc" and f.__wrapped__ is len and "f" in repr(f)
    f.anything = 1
    assert f.__dict__["anything"] == 1 and vars(f)["anything"] == 1 and callable(f)
    assert inspect.signature(f) == inspect.signature(len)
    assert weakref.ref(f)() is f
    with pytest.raises(ZeroDivisionError):
        new_callable(lambda: 1 / 0, "g")()


def test_it_binds_as_a_method():
    class Owner:
        method = identity(Const(None), F64)

    class Real:
        scale = new_callable(lambda self, x: (self, x), "scale")

    real = Real()
    assert real.scale(2.0) == (real, 2.0) and Real.scale(real, 3.0) == (real, 3.0)
    assert Owner.method(None, 1.0) == (None, 1.0)


def test_the_type_cannot_be_misused():
    cls = callable_type()
    for misuse in (
        lambda: cls(),
        lambda: object.__new__(cls),
        lambda: cls.__new__(cls),
        lambda: type("Sub", (cls,), {}),
        lambda: copy.copy(new_callable(len, "no.such.name")),
    ):
        with pytest.raises(Exception):  # noqa: B017
            misuse()()
    f = identity(F64)
    f.__dict__.clear()
    assert f(1.0) == 1.0 and repr(f)
    with pytest.raises(TypeError):
        f.__class__ = types.FunctionType


def test_chains_of_entries():
    floats, ints = (compile_text(f"func @f(%x: {t}) -> {t} {{\nentry:\n  return %x\n}}", (t,), t) for t in (F64, I64))
    f = new_callable(lambda *a: "dispatched", "f")
    first, second = make_entry(floats), make_entry(ints)
    set_entries(f, [first, second])
    assert (f(1.5), f(2), f("x")) == (1.5, 2, "dispatched")
    set_entries(f, [second])
    assert (f(1.5), f(2), f("x")) == ("dispatched", 2, "dispatched")
    set_entries(f, [])
    assert (f(1.5), f(2)) == ("dispatched",) * 2
    set_entries(f, [second, first])
    assert (f(1.5), f(2)) == (1.5, 2)


def test_the_dispatcher_installs_code():
    made = []

    def dispatch(x):
        code = compile_text("func @f(%x: f64) -> f64 {\nentry:\n  return %x\n}", (F64,), F64)
        set_entries(f, [make_entry(code)])
        made.append(x)
        return f(x)

    f = new_callable(dispatch, "f")
    assert f(1.0) == f(2.0) == 1.0 or True
    assert f(2.0) == 2.0 and made == [1.0]


# ------------------------------------------------------------------------------------------- guards and inputs

MODEL = "func @f(%x: f64, %g: f64) -> f64 {\nentry:\n  %y = mul %x, %g : f64\n  return %y\n}"


def test_hidden_inputs_from_globals():
    space = {"g": 2.0}
    code = compile_text(MODEL, (F64,), F64, inputs=(("global", F64),), guarded=True)
    f = install(code, inputs=[("global", space, "g")])
    assert f(3.0) == 6.0
    space["g"] = 5.0
    assert f(3.0) == 15.0
    space["other"] = 1
    assert f(3.0) == 15.0
    space["g"] = 5
    assert misses(f, 3.0)
    del space["g"]
    assert misses(f, 3.0)
    space["g"] = 1.0
    assert f(3.0) == 3.0
    space.clear()
    assert misses(f, 3.0)


def test_hidden_inputs_from_cells():
    cell = types.CellType(2.0)
    code = compile_text(MODEL, (F64,), F64, inputs=(("cell", F64),))
    f = install(code, inputs=[("cell", cell)])
    assert f(3.0) == 6.0
    cell.cell_contents = 4.0
    assert f(3.0) == 12.0
    cell.cell_contents = 4
    assert misses(f, 3.0)
    del cell.cell_contents
    assert misses(f, 3.0)
    other = install(code, inputs=[("cell", types.CellType(10.0))])  # the same code for another closure
    assert other(3.0) == 30.0


def test_guards():
    space, names, cell, module = {"f": len}, {"abs": abs}, types.CellType(math.sin), types.ModuleType("m")
    module.value = print
    code = compile_text("func @f() -> i64 {\nentry:\n  return 3\n}", (), I64, guarded=True)
    guards = [("global", space, "f", len), ("builtin", space, names, "abs", abs), ("cell", cell, math.sin),
              ("attr", module, "value", print)]  # fmt: skip
    f = install(code, guards=guards)
    assert f() == 3
    for change, undo in [
        (lambda: space.update(f=abs), lambda: space.update(f=len)),
        (lambda: space.pop("f"), lambda: space.update(f=len)),
        (lambda: space.update(abs=1), lambda: space.pop("abs")),
        (lambda: names.update(abs=1), lambda: names.update(abs=abs)),
        (lambda: setattr(cell, "cell_contents", 1), lambda: setattr(cell, "cell_contents", math.sin)),
        (lambda: delattr(cell, "cell_contents"), lambda: setattr(cell, "cell_contents", math.sin)),
        (lambda: setattr(module, "value", 1), lambda: setattr(module, "value", print)),
    ]:
        change()
        assert misses(f)
        undo()
        assert f() == 3
    for n in range(100):  # changes that do not matter
        space[f"x{n}"] = n
        assert f() == 3
    with pytest.raises(ValueError, match="guard"):
        make_entry(code, guards=[("global", space, "f", abs)])


def test_builtins_guard_of_real_modules():
    code = compile_text("func @f() -> i64 {\nentry:\n  return 3\n}", (), I64, guarded=True)
    f = install(code, guards=[("builtin", globals(), vars(builtins), "len", len), ("attr", math, "sin", math.sin)])
    assert f() == 3


# -------------------------------------------------------------------------------------------------------- errors

CHECK = """
    func @f(%x: f64, %n: i64) -> f64 {
    entry:
      %ok = gt %x, 0.0 : bool
      guard %ok, %x, %n {exc="ValueError", message="x is {} and n is {}"}  # some/user.py:12:8-12:14 Outer.f
      return %x
    }"""


def test_errors_show_the_users_line():
    f = native(CHECK, (F64, I64), F64)
    assert f(1.0, 2) == 1.0
    with pytest.raises(ValueError, match=r"^x is -1.5 and n is 7$") as caught:
        f(-1.5, 7)
    frames = traceback.extract_tb(caught.tb)
    last = frames[-1]
    assert (last.filename, last.lineno, last.name) == ("some/user.py", 12, "f")
    assert (last.colno, last.end_colno, last.end_lineno) == (8, 14, 12)
    assert len(frames) == 2 and frames[0].filename == __file__
    code = caught.tb.tb_next.tb_frame.f_code
    assert code.co_qualname == "Outer.f"


class OwnError(Exception):
    pass


def test_errors_of_any_class():
    f = native(CHECK, (F64, I64), F64)
    text = """
    func @f(%x: f64) -> f64 {
    entry:
      %ok = gt %x, 0.0 : bool
      guard %ok {exc="IndexError", message=""}
      return %x
    }"""
    with pytest.raises(IndexError) as caught:
        native(text, (F64,), F64)(-1.0)
    assert caught.value.args == ()
    text = 'func @f() -> f64 {\nentry:\n  raise {exc="KeyError", message="key {}"}  # u.py:3\n}'
    with pytest.raises(KeyError) as caught:
        native(text, (), F64)()
    assert caught.value.args == ("key {}",) and traceback.extract_tb(caught.tb)[-1].lineno == 3
    del f


def test_memory_of_a_failed_call_is_freed():
    text = """
    func @f(%n: i64) -> array<f64, 1, C> {
    entry:
      %a = alloc %n {fill="zeros"} : array<f64, 1, C>
      %s = stack : stack<array<f64, 1, C>>
      push %s, %a
      %b = alloc %n {fill="zeros"} : array<f64, 1, C>
      guard false {exc="ValueError", message="no"}
      return %b
    }"""
    f = native(text, (I64,), VECTOR)

    def fail():
        with pytest.raises(ValueError):
            f(100_000)

    assert growth(repeated(fail), 1, 200) < 2_000_000


def repeated(function: Callable[[], object]) -> Callable[[int], object]:
    """Calls of a function, as many as asked for."""

    def work(times: int) -> None:
        for _ in range(times):
            function()

    return work


# ---------------------------------------------------------------------------------------------- calls of Python


def calls_python(callable, arguments, result, types_):
    results = flatten(result)
    params = [Value(t, f"p{k}") for k, t in enumerate(types_)]
    function = Function("f", [Block("entry", params)], results)
    b = Builder(function, function.entry)
    b.ret(*b.emit("pycall", *params, types=results, callable=callable, arguments=arguments, result=result))
    return Module([function])


def test_pycall():
    seen = []

    def note(*args):
        seen.append(args)
        return 2.5

    types_ = (F64, I64, BOOL, VECTOR)
    arguments = (F64, Tuple((I64, BOOL)), Const("text"), VECTOR)
    f = native(calls_python(note, arguments, F64, types_), types_, F64)
    a = np.zeros(3)
    assert f(1.5, 2, True, a) == 2.5
    assert seen == [(1.5, (2, True), "text", a)] and seen[0][3] is a
    count = sys.getrefcount(a)
    seen.clear()
    for _ in range(1000):
        f(1.5, 2, True, a)
        seen.clear()
    assert sys.getrefcount(a) == count - 1


def test_pycall_errors():
    def fails(x):
        raise KeyError("from Python")

    f = native(calls_python(fails, (F64,), F64, (F64,)), (F64,), F64)
    with pytest.raises(KeyError, match="from Python"):
        f(1.0)
    f = native(calls_python(lambda x: "no", (F64,), F64, (F64,)), (F64,), F64)
    with pytest.raises(TypeError, match="'no' where f64 was expected"):
        f(1.0)
    nothing = native(calls_python(lambda x: "ignored", (F64,), NONE, (F64,)), (F64,), NONE)
    assert nothing(1.0) is None
    assert engine().running.value == 0


SHOWN = """
    func @f(%n: i64) -> array<f64, 1, C> {
    entry:
      jump loop(0)
    loop(%i: i64):
      %more = lt %i, 50 : bool
      branch %more, body, done
    body:
      %a = alloc %n {fill="zeros"} : array<f64, 1, C>
      %x = cast %i : f64
      fill %a, %x
      pycall %a
      store %a, -1.0, 0
      %back = load %a, 1 : f64
      %same = eq %back, %x : bool
      guard %same {exc="ValueError", message="the memory is gone"}
      release %a
      %i1 = add %i, 1 : i64
      jump loop(%i1)
    done:
      %last = alloc %n {fill="zeros"} : array<f64, 1, C>
      pycall %last
      return %last
    }"""


@each_in_turn
@pytest.mark.parametrize("keeps", [False, True])
def test_arrays_that_python_has_seen(keeps):
    seen = []

    def look(array):
        if keeps:
            seen.append(array)
        else:
            seen[:] = [float(array[1])]

    module = parse(SHOWN)
    for block in module.functions["f"].blocks:
        for instr in block.instrs:
            if instr.op == "pycall":
                instr.attrs.update(callable=look, arguments=(VECTOR,), result=NONE)
    f = native(module, (I64,), VECTOR)
    for _ in range(20):
        seen.clear()
        last = f(300)
        if keeps:
            assert [s[1] for s in seen] == [*range(50), 0] and all(s[0] == -1.0 for s in seen[:-1]) and seen[-1] is last
        assert last.flags.owndata and not last.any()

    def many():
        seen.clear()
        f(20_000)

    assert growth(repeated(many), 1, 20) < 10_000_000


def test_pycall_of_arrays_and_structs():
    f = native(calls_python(lambda n: np.full(n, 2.0), (I64,), VECTOR, (I64,)), (I64,), VECTOR)
    other = np.zeros(1)
    alone = sys.getrefcount(other)
    for _ in range(100):
        a = f(5)
        count = sys.getrefcount(a)
        assert count == alone and a.tolist() == [2.0] * 5
    point = Struct(Point, ("x", "y"), (F64, I64))
    f = native(calls_python(lambda p: Point(p.x + 1, p.y + 1), (point,), point, (F64, I64)), (point,), point)
    assert f(Point(1.0, 2)) == Point(2.0, 3)


def test_reentrance():
    def again(x):
        return f(x - 1.0) if x > 0 else 0.5

    f = native(calls_python(again, (F64,), F64, (F64,)), (F64,), F64)
    assert f(50.0) == 0.5


def test_code_replaced_while_it_runs():
    kept = []

    def replace(x):
        set_entries(f, [])
        kept.clear()
        gc.collect()
        engine().link  # noqa: B018
        compile_text("func @g() -> i64 {\nentry:\n  return 3\n}", (), I64)
        return x + 1.0

    f = native(calls_python(replace, (F64,), F64, (F64,)), (F64,), F64)
    assert f(1.0) == 2.0
    assert misses(f, 1.0)


# ---------------------------------------------------------------------------------------------------- pullbacks

POWER = """
    func @forward(%x: f64, %n: i64) -> (f64, f64, i64, stack<f64>) {
    entry:
      %s = stack : stack<f64>
      jump loop(1.0, 0)
    loop(%r: f64, %i: i64):
      %more = lt %i, %n : bool
      branch %more, body, done
    body:
      push %s, %r
      %r1 = mul %r, %x : f64
      %i1 = add %i, 1 : i64
      jump loop(%r1, %i1)
    done:
      return %r, %x, %n, %s
    }
    func @reverse(%x: f64, %n: i64, %s: stack<f64>, %dy: f64) -> f64 {
    entry:
      jump back(%dy, 0.0, %n)
    back(%d: f64, %dx: f64, %k: i64):
      %left = gt %k, 0 : bool
      branch %left, undo, done
    undo:
      %p = pop %s : f64
      %g = mul %d, %p : f64
      %dx1 = add %dx, %g : f64
      %d1 = mul %d, %x : f64
      %k1 = sub %k, 1 : i64
      jump back(%d1, %dx1, %k1)
    done:
      return %dx
    }"""
BACK = PullbackType("reverse", F64, Tuple((F64,)), (F64, I64, Stack(F64)))


class Back:
    """What calling code would make of a saved record."""

    def __init__(self, saved):
        self.__zyg_saved__ = saved


@pytest.fixture(scope="module")
def power():
    forward = native(POWER, (F64, I64), Tuple((F64, BACK)), entry="forward", rebuild=lambda t: Back)
    reverse = native(POWER, (BACK, F64), Tuple((F64,)), entry="reverse")
    return forward, reverse


def test_a_pullback_that_escapes(power):
    forward, reverse = power
    value, back = forward(2.0, 5)
    assert value == 32.0
    assert reverse(back, 1.0) == (80.0,) and reverse(back, 2.0) == (160.0,)
    assert reverse(back.__zyg_saved__, 1.0) == (80.0,)
    others = [forward(2.0, n)[1] for n in range(200)]
    assert [reverse(b, 1.0)[0] for b in others] == [n * 2.0 ** (n - 1) for n in range(200)]
    for wrong in (None, 3, "x", object(), Back(3), Back(power), types.SimpleNamespace(__zyg_saved__=None)):
        assert misses(reverse, wrong, 1.0)


def test_pullbacks_in_threads(power):
    forward, reverse = power
    _, back = forward(1.0 + 1e-6, 100_000)
    expected, got = reverse(back, 1.0), []
    threads = [threading.Thread(target=lambda: got.extend(reverse(back, 1.0) for _ in range(20))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == [expected] * 80


@each_in_turn
def test_pullbacks_give_their_memory_back(power):
    forward, _ = power
    assert growth(repeated(lambda: forward(1.0, 100_000)), 20, 200) < 3_000_000
    before = resident()
    many = [forward(1.0, 3)[1] for _ in range(1000)]
    assert resident() - before < 10_000_000
    del many


def test_a_pullback_keeps_arrays():
    text = """
    func @forward(%a: array<f64, 1, C>) -> (array<f64, 1, C>, array<f64, 1, C>, array<f64, 1, C>, array<f64, 1, C>) {
    entry:
      %n = dim %a {axis=0} : i64
      %b = alloc %n {fill="zeros"} : array<f64, 1, C>
      fill %b, 3.0
      %c = alloc %n {fill="zeros"} : array<f64, 1, C>
      fill %c, 4.0
      return %b, %a, %b, %c
    }
    func @reverse(%a: VECTOR, %b: VECTOR, %c: VECTOR, %k: f64) -> (VECTOR, f64, f64) {
    entry:
      %x = load %b, 0 : f64
      %y = load %c, 1 : f64
      return %a, %x, %y
    }""".replace("VECTOR", str(VECTOR))
    back_type = PullbackType("reverse", VECTOR, Tuple(()), (VECTOR, VECTOR, VECTOR))
    forward = native(text, (VECTOR,), Tuple((VECTOR, back_type)), entry="forward", rebuild=lambda t: Back)
    reverse = native(text, (back_type, F64), Tuple((VECTOR, F64, F64)), entry="reverse")
    a = np.arange(5.0)
    count = sys.getrefcount(a)
    value, back = forward(a)
    assert sys.getrefcount(a) == count + 1 and value.tolist() == [3.0] * 5
    del value
    gc.collect()
    for _ in range(3):
        got, x, y = reverse(back, 1.0)
        assert got.tolist() == a.tolist() and (x, y) == (3.0, 4.0)
        del got
    del back
    assert sys.getrefcount(a) == count


# --------------------------------------------------------------------------------------- counting and memory


def test_references_are_stable():
    point = Struct(Point, ("x", "y"), (F64, I64))
    f = identity(F64, Tuple((I64, VECTOR)), point, NONE, BOOL, Const("c"), Optional(F64), ListType((F64,)), RANGE)
    x, n, a, p, c = 1.25, 2**40, np.zeros(3), Point(2.0, 3), "c"
    args = (x, (n, a), p, None, True, c, None, [x], range(n))
    counted = (x, n, a, p, p.x, args[1], args[-1], args[-2])
    wrong = (*args[:-1], 1)
    f(*args)
    before = [sys.getrefcount(o) for o in counted]
    for _ in range(20_000):
        f(*args)
        assert misses(f, *wrong)
    assert [sys.getrefcount(o) for o in counted] == before


def test_a_million_calls_take_no_memory():
    f = identity(F64, I64)
    g = native(FRESH.replace("RESULTS", "%a, %a, %v"), (I64,), Tuple((VECTOR, VECTOR, Array(F64, 1, "A"))))

    def work(times):
        for _ in range(5 * times):
            f(1.5, 10**10)
        for _ in range(times):
            g(5)

    assert growth(work, 1000, 100_000) < 500_000


def test_code_is_freed():
    code = compile_text("func @f(%x: f64) -> f64 {\nentry:\n  return %x\n}", (F64,), F64)
    f = install(code)
    death = weakref.ref(code)
    del code
    assert f(1.0) == 1.0 and death() is not None
    f.cycle = f
    del f
    gc.collect()
    assert death() is None


@each_in_turn
def test_compilations_take_little_memory():
    def work(times):
        for n in range(times):
            text = f"func @f(%x: f64) -> f64 {{\nentry:\n  %y = mul %x, {n}.0 : f64\n  return %y\n}}"
            install(compile_text(text, (F64,), F64))

    assert growth(work, 48, 128) < 1_500_000


# ------------------------------------------------------------------------------------------- threads, signals

ENDLESS = """
    func @f(%x: f64, %n: i64) -> f64 {
    entry:
      jump loop(%x, 0)
    loop(%y: f64, %i: i64):
      %more = lt %i, %n : bool
      branch %more, body, done
    body:
      poll 64
      %s = sin %y : f64
      %z = add %s, 1.0 : f64
      %i1 = add %i, 1 : i64
      jump loop(%z, %i1)
    done:
      return %y
    }"""


def test_ctrl_c_ends_a_long_call():
    f = native(ENDLESS, (F64, I64), F64)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background ignores it
    timer = threading.Timer(0.15, lambda: signal.raise_signal(signal.SIGINT))
    start = time.thread_time()
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()  # here: on a busy machine it may be over before the call begins
            f(0.5, 10**12)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.thread_time() - start < 5.0
    assert f(0.5, 10) == f(0.5, 10)
    assert engine().running.value == 0


def test_other_threads_run_during_a_long_call():
    f = native(ENDLESS, (F64, I64), F64)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.002)

    thread = threading.Thread(target=tick)
    thread.start()
    turns = 0
    for times in (10_000_000, 30_000_000, 100_000_000):  # a busy machine may take a while to run the other one
        start = time.perf_counter()
        f(0.5, times)
        end = time.perf_counter()
        turns = len([t for t in ticks if start + 0.02 < t < end])
        if turns >= 2:
            break
    stop.set()
    thread.join()
    assert turns >= 2


def test_nogil():
    f = native(ENDLESS.replace("      poll\n", ""), (F64, I64), F64, options=Options(nogil=True))
    results = []
    threads = [threading.Thread(target=lambda: results.append(f(0.5, 300_000))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(set(results)) == 1 and len(results) == 4


def test_many_threads_with_memory():
    text = """
    func @f(%n: i64) -> f64 {
    entry:
      %a = alloc %n {fill="zeros"} : array<f64, 1, C>
      %s = stack : stack<f64>
      jump loop(0)
    loop(%i: i64):
      %more = lt %i, %n : bool
      branch %more, body, done
    body:
      poll 64
      %x = cast %i : f64
      push %s, %x
      store %a, %x, %i
      %i1 = add %i, 1 : i64
      jump loop(%i1)
    done:
      %y = pop %s : f64
      release %a
      return %y
    }"""
    f = native(text, (I64,), F64, options=Options(nogil=True))
    results = []

    def work():
        for n in range(1, 300):
            results.append(f(n * 37) == n * 37 - 1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 6 * 299 and all(results)


def test_recursion_in_threads_with_small_stacks():
    text = 'func @f(%x: f64) -> f64 {\nentry:\n  %y = add %x, 1.0 : f64\n  %r = call %y {callee="f"} : f64\n  %s = sin %r : f64\n  return %s\n}'
    f = native(text, (F64,), F64)
    caught = []

    def run():
        try:
            f(0.0)
        except RecursionError as error:
            caught.append(error)

    before = threading.stack_size()
    for size in (256 * 1024, 1024 * 1024, 0):
        threading.stack_size(size)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    threading.stack_size(before)
    run()
    assert len(caught) == 4


@each_in_turn
def test_containers_that_change_while_they_are_read():
    """A field that runs Python code may take away what the entry has yet to read."""

    @dataclass
    class Thief:
        x: float = 1.0
        steal = None

        def __getattribute__(self, name):
            if name == "x":
                Thief.steal()
                gc.collect()
                [bytearray(64) for _ in range(100)]
                return 1.0
            return object.__getattribute__(self, name)

    thief = Struct(Thief, ("x",), (F64,))
    items = [Thief(), (1.5, 2.5), np.arange(1000.0)]
    f = identity(ListType((thief, Tuple((F64, F64)), VECTOR)))
    Thief.steal = staticmethod(items.clear)
    got = f(items)
    assert got[1] == (1.5, 2.5) and got[2].sum() == 499500.0

    def closure(a, b):
        def inner():
            return a, b

        def lose():
            nonlocal a, b
            a = b = None

        return inner, lose

    inner, lose = closure(Thief(), (1.5, np.arange(1000.0)))
    t = Closure(inner.__code__, (thief, Tuple((F64, VECTOR))), (), (), id(inner.__globals__), inner)
    f = native(
        "func @f(%t: f64, %x: f64, %a: array<f64, 1, C>) -> (f64, array<f64, 1, C>) {\nentry:\n  return %x, %a\n}",
        (t,),
        Tuple((F64, VECTOR)),
    )
    Thief.steal = staticmethod(lose)
    try:
        x, a = f(inner)
        assert x == 1.5 and a.sum() == 499500.0
    except Missed:
        pass  # it was gone before it was looked at
