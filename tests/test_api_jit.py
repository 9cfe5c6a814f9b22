"""zyg.jit: calls, arguments, staleness, errors. The oracle is the plain Python function."""

import contextlib
import dataclasses
import functools
import gc
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
import weakref
from collections import namedtuple

import numpy as np
import pytest

import zyg
from zyg import dispatch, pipeline

from .memory import growth, linux
from .turns import each_in_turn


def f(x):
    """Five sines."""
    return 5 * math.sin(math.log(x))


def power(x, n):
    r = 1
    while n > 0:
        n -= 1
        r *= x
    return r


def agree(function, *args, **keywords):
    expected = function(*args, **keywords)
    compiled = zyg.jit(function)
    for _ in range(2):  # the second call takes the native entry
        found = compiled(*args, **keywords)
        assert type(found) is type(expected)
        assert found == expected or (found != found and expected != expected)
    return compiled


def test_a_scalar_function():
    compiled = agree(f, 3.0)
    assert compiled(2.0) == f(2.0)


def test_a_loop_and_several_types():
    compiled = agree(power, 2.5, 10)
    assert compiled(3, 4) == 81 and type(compiled(3, 4)) is int
    assert compiled(2.0, 3) == 8.0
    assert len(compiled.signatures) == 2
    assert repr(compiled.signatures) == "[(f64, i64), (i64, i64)]"


def test_attributes():
    compiled = zyg.jit(f)
    assert compiled.__name__ == "f" and compiled.__doc__ == f.__doc__ and compiled.__wrapped__ is f
    assert compiled.__module__ == __name__ and compiled.py_func is f
    assert compiled.signatures == []
    compiled(3.0)
    assert len(compiled.signatures) == 1
    assert "f" in repr(compiled) and "jit" in repr(compiled)
    (llvm,) = compiled.inspect_llvm().values()
    (asm,) = compiled.inspect_asm().values()
    assert "define" in llvm and "ret" in asm
    assert compiled.inspect_llvm(compiled.signatures[0]) == llvm


def test_decorator_with_options():
    @zyg.jit(fastmath={"contract"}, error_model="numpy", nogil=True)
    def g(x):
        return 1.0 / x

    assert g(2.0) == 0.5
    assert g(0.0) == math.inf
    assert zyg.jit(lambda x: x * 2.0, fastmath=True)(3.0) == 6.0


@pytest.mark.parametrize(
    "options, error",
    [
        ({"fastmath": {"quick"}}, ValueError),
        ({"error_model": "c"}, ValueError),
        ({"nogil": 1}, TypeError),
        ({"speed": 1}, TypeError),
    ],
)
def test_bad_options(options, error):
    with pytest.raises(error):
        zyg.jit(f, **options)
    with pytest.raises(TypeError, match="jit takes a function"):
        zyg.jit(3)


def with_defaults(x, n=2, *, scale=1.0):
    return x * n * scale


@pytest.mark.parametrize(
    "args, keywords",
    [
        ((3.0,), {}),
        ((3.0, 4), {}),
        ((3.0,), {"n": 4}),
        ((), {"n": 4, "x": 3.0}),
        ((3.0,), {"scale": 0.5}),
        ((3.0, 5), {"scale": 2}),
    ],
)
def test_arguments_are_bound_as_in_python(args, keywords):
    agree(with_defaults, *args, **keywords)


@pytest.mark.parametrize(
    "args, keywords",
    [((), {}), ((1.0, 2, 3), {}), ((1.0,), {"x": 2.0}), ((1.0,), {"wrong": 2.0}), ((1.0, 2, 0.5), {"scale": 3})],
)
def test_wrong_arguments_raise_as_in_python(args, keywords):
    with pytest.raises(TypeError) as expected:
        with_defaults(*args, **keywords)
    compiled = zyg.jit(with_defaults)
    for _ in range(2):
        with pytest.raises(TypeError) as found:
            compiled(*args, **keywords)
        assert str(found.value) == str(expected.value)
        compiled(1.0, 2)


def test_a_keyword_only_argument_cannot_be_passed_by_position():
    def g(x, *, k):
        return x * k

    compiled = zyg.jit(g)
    assert compiled(2.0, k=3.0) == 6.0
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        compiled(2.0, 3.0)
    assert compiled(2.0, k=3.0) == 6.0


def test_varargs():
    def total(*xs):
        s = 0.0
        for x in xs:
            s += x
        return s

    compiled = agree(total, 1.0, 2.0, 3.0)
    assert compiled() == 0.0
    assert compiled(1.0) == 1.0


@pytest.mark.parametrize(
    "value, words",
    [
        (np.zeros(3, ">f8"), "byte order"),
        (np.array([None]), "object"),
        ({1.0}, "set"),
        ({1: 1.0}, "dict with keys that are not strings"),
        (np.complex64(1j), "pass a complex"),
    ],
)
def test_an_argument_that_does_not_fit_is_named(value, words):
    compiled = zyg.jit(lambda first, second: first)
    with pytest.raises(TypeError, match=words) as error:
        compiled(1.0, value)
    assert "'second'" in str(error.value)


def test_methods():
    class C:
        @zyg.jit
        def m(self_x, y):
            return y

    assert C.m(1.0, 2.0) == 2.0


def test_jit_of_a_builtin_and_of_a_jitted_function():
    assert zyg.jit(math.sin)(0.5) == math.sin(0.5)
    inner = zyg.jit(f)
    outer = zyg.jit(inner, fastmath=True)
    assert outer.py_func is f
    assert outer(3.0) == pytest.approx(f(3.0))


def test_jitted_functions_call_each_other():
    inner = zyg.jit(f)

    @zyg.jit
    def outer(x):
        return inner(x) + inner(x + 1.0)

    assert outer(3.0) == f(3.0) + f(4.0)


# -------------------------------------------------------------------------------------------- structures

Pair = namedtuple("Pair", "x y")


@dataclasses.dataclass
class Point:
    x: float
    y: float


def test_tuples_named_tuples_and_dataclasses():
    agree(lambda p: (p[0] + p[1], p), (1.0, 2))
    agree(lambda p: Pair(p.y, p.x), Pair(1.0, 2))
    agree(lambda p: Point(p.y, p.x), Point(1.0, 2.5))
    agree(lambda p: None, 1.0)
    agree(lambda p: p is None, None)


def test_functions_as_arguments():
    def twice(g, x):
        return g(g(x))

    compiled = zyg.jit(twice)

    def make(n):
        return lambda x: x * n

    with pipeline.timings() as times:
        assert compiled(make(3.0), 2.0) == 18.0
        count = len(times)
        assert compiled(make(4.0), 2.0) == 32.0
    assert count > 0 and len(times) == count, "a new lambda with the same code must not compile again"
    assert compiled(math.sqrt, 16.0) == 2.0


# ------------------------------------------------------------------------------------- globals and cells

FACTOR = 2.0
helper = lambda x: x + 1.0


def uses_globals(x):
    return helper(x) * FACTOR


def test_globals_are_read_at_each_call(monkeypatch):
    compiled = zyg.jit(uses_globals)
    assert compiled(1.0) == 4.0
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert compiled(1.0) == 6.0
    monkeypatch.setitem(globals(), "FACTOR", 3)
    assert compiled(1.0) == 6.0
    monkeypatch.setitem(globals(), "helper", lambda x: x - 1.0)
    assert compiled(5.0) == 12.0
    monkeypatch.undo()
    assert compiled(1.0) == 4.0


def test_a_shadowed_builtin_is_seen(monkeypatch):
    def g(x):
        return abs(x)

    compiled = zyg.jit(g)
    assert compiled(-2.0) == 2.0
    monkeypatch.setitem(globals(), "abs", lambda x: x * 10.0)
    assert compiled(-2.0) == -20.0
    monkeypatch.undo()
    assert compiled(-2.0) == 2.0


def test_a_replaced_module_attribute_is_seen(monkeypatch):
    compiled = zyg.jit(f)
    assert compiled(3.0) == f(3.0)
    monkeypatch.setattr(math, "sin", math.cos)
    assert compiled(3.0) == f(3.0)
    monkeypatch.undo()
    assert compiled(3.0) == f(3.0)


def test_cells_are_read_at_each_call():
    def make():
        n = 2.0

        def g(x):
            return x * n

        def change(value):
            nonlocal n
            n = value

        return g, change

    g, change = make()
    compiled = zyg.jit(g)
    assert compiled(3.0) == 6.0
    change(5.0)
    assert compiled(3.0) == 15.0
    change(5)
    assert compiled(3.0) == 15.0


def test_a_global_that_is_missing_raises_name_error():
    def g(x):
        return x * not_there_at_all  # noqa: F821

    with pytest.raises(NameError, match="not_there_at_all"):
        zyg.jit(g)(1.0)


def test_assigning_to_a_global_is_refused():
    def g(x):
        global FACTOR
        FACTOR = x
        return x

    with pytest.raises(zyg.Unsupported, match="global"):
        zyg.jit(g)(1.0)
    assert FACTOR == 2.0


# ------------------------------------------------------------------------------------------------ errors


def test_run_time_errors_are_those_of_python():
    @zyg.jit
    def g(x, y):
        return x / y

    with pytest.raises(ZeroDivisionError):
        g(1.0, 0.0)
    with pytest.raises(ValueError, match="math domain error"):
        zyg.jit(f)(-1.0)
    with pytest.raises(OverflowError):
        zyg.jit(lambda n: n * n)(2**40)
    with pytest.raises(OverflowError):
        zyg.jit(lambda n: n)(2**70)


def test_an_error_has_the_line_of_the_user_in_its_traceback():
    def g(x):
        y = x - 1.0
        return 1.0 / y

    compiled = zyg.jit(g)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError) as error:
            compiled(1.0)
        entries = [(entry.path.name, entry.lineno + 1) for entry in error.traceback if hasattr(entry.path, "name")]
        assert ("test_api_jit.py", g.__code__.co_firstlineno + 2) in entries


class TooLarge(Exception):
    def __init__(self, v):
        self.v = 100.0 / (v - 3.0)


@dataclasses.dataclass(frozen=True)
class Fixed:
    v: float


def test_errors_that_python_makes_for_native_code_have_the_line_of_the_user():
    def own_class(x):
        if x > 1.0:
            raise TooLarge(x)
        return x

    def assigned(x):
        fixed = Fixed(x)
        fixed.v = x
        return fixed.v

    def printed(x):
        print(f"{x}", end=1)
        return x

    for function, x, line, raised, within in (
        (own_class, 2.0, 2, TooLarge, ""),
        (own_class, 3.0, 2, ZeroDivisionError, "__init__"),
        (assigned, 2.0, 2, dataclasses.FrozenInstanceError, ""),
        (printed, 2.0, 1, TypeError, ""),
    ):
        for call in (zyg.jit(function), functools.partial(zyg.gradient, function)):
            for _ in range(2):
                with pytest.raises(raised) as error:
                    call(x)
                own, *behind = [entry for entry in error.traceback if str(entry.path) == __file__][1:]
                assert (own.lineno + 1, own.name) == (function.__code__.co_firstlineno + line, function.__name__)
                assert [entry.name for entry in behind] == ([within] if within else [])
                assert not str(error.traceback[-1].path).startswith(os.path.dirname(zyg.__file__))


def test_what_cannot_be_compiled_shows_the_place():
    def g(x):
        with open(x) as stream:
            return stream.read()

    with pytest.raises(zyg.Unsupported) as error:
        zyg.jit(g)(1.0)
    text = str(error.value)
    assert "test_api_jit.py" in text and "open(x)" in text and "^" in text


def test_unknown_functions_that_would_carry_a_value_are_refused():
    import zlib

    def g(x):
        return zlib.crc32(x) * 2.0

    with pytest.raises(zyg.Unsupported) as error:
        zyg.jit(g)(1.0)
    assert "test_api_jit.py" in str(error.value)


def test_a_bug_in_the_compiler_is_told_from_an_error_of_the_user(monkeypatch):
    def broken(request):
        raise KeyError("oops")

    def f(x):  # never compiled before
        return x

    monkeypatch.setattr(pipeline, "STAGES", [("typed", broken)])
    with pytest.raises(zyg.InternalError, match=r"a bug in zyg, in stage .typed. of compiling .*f for") as e:
        zyg.jit(f)(1.0)
    assert isinstance(e.value.__cause__, KeyError)


class Late(Exception):
    pass


def late(number, frame):
    raise Late


def late_by_any(*args):
    raise Late


class Latecomer:
    def __call__(self, first, *rest):
        raise Late


@pytest.mark.parametrize("late", [late, late_by_any, Latecomer()])
def test_what_a_signals_handler_raises_is_no_bug(monkeypatch, late):
    monkeypatch.setattr(pipeline, "STAGES", [("typed", lambda request: signal.raise_signal(signal.SIGINT))])
    before = signal.signal(signal.SIGINT, late)
    try:
        with pytest.raises(Late):
            zyg.gradient(lambda x: x * 1.5, 1.0)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_failed_compilation_can_be_tried_again():
    space = {}
    exec("def g(x):\n    return later(x)", space)
    compiled = zyg.jit(space["g"])
    with pytest.raises(NameError):
        compiled(1.0)
    space["later"] = lambda x: x + 1.0
    assert compiled(1.0) == 2.0


# ------------------------------------------------------------------------------------------------ arrays


def test_mutation_is_seen_by_the_caller():
    @zyg.jit
    def scale(a, s):
        for i in range(len(a)):
            a[i] *= s

    a = np.arange(4.0)
    assert scale(a, 2.0) is None
    assert a.tolist() == [0.0, 2.0, 4.0, 6.0]
    strided = np.arange(8.0)
    scale(strided[::2], 2.0)
    assert strided.tolist() == [0.0, 1.0, 4.0, 3.0, 8.0, 5.0, 12.0, 7.0]


def test_a_read_only_array_that_would_be_written_is_refused_by_name():
    @zyg.jit
    def clear(target):
        target[0] = 0.0

    frozen = np.ones(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="target"):
        clear(frozen)
    assert frozen[0] == 1.0
    assert zyg.jit(lambda a: a[1])(frozen) == 1.0


def test_index_errors():
    g = zyg.jit(lambda a, i: a[i])
    a = np.arange(3.0)
    assert g(a, -1) == 2.0
    for i in (3, -4):
        with pytest.raises(IndexError):
            g(a, i)


# ------------------------------------------------------------------------------- specialisations, memory


def test_specialisations_are_capped_with_a_warning(monkeypatch):
    monkeypatch.setattr(dispatch, "LIMIT", 3)
    g = zyg.jit(lambda tag, x: x)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(9):
            assert g(f"tag{n}", 1.0 * n) == 1.0 * n
        for n in range(9):
            assert g(f"tag{n}", 1.0 * n) == 1.0 * n
    assert [w.category for w in caught] == [zyg.SpecialisationWarning]


def test_functions_that_are_differentiated_do_not_count_as_arguments(monkeypatch):
    monkeypatch.setattr(dispatch, "LIMIT", 3)
    functions = [lambda x: x, lambda x: x * x, lambda x: x**3, lambda x: x**4, lambda x: x**5]
    along = lambda f: zyg.jvp(lambda x: f(x), (1.0,), (1.0,))[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [along(f) for f in (*functions, *functions)] == [1.0, 2.0, 3.0, 4.0, 5.0] * 2
    several = lambda *xs: xs[0]
    with pytest.warns(zyg.SpecialisationWarning):
        for n in range(6):
            zyg.gradient(several, *[1.0] * (n + 1))


def test_a_compiled_function_can_be_collected():
    def g(x):
        return x + 1.0

    compiled = zyg.jit(g)
    compiled(1.0)
    gone = weakref.ref(compiled)
    gc.disable()
    try:
        del compiled
        assert gone() is None, "a compiled function is part of a cycle, so its code waits for the garbage collector"
    finally:
        gc.enable()


@linux
@pytest.mark.parametrize("count, what", [(200_000, "call"), (200_000, "gradient"), (5_000, "error")])
def test_memory_does_not_grow(count, what):
    compiled = zyg.jit(f)

    def error():
        with contextlib.suppress(ValueError):
            compiled(-1.0)

    run = {
        "call": lambda: compiled(3.0),
        "gradient": lambda: zyg.gradient(power, 1.5, 3),
        "error": error,
    }[what]

    def work(times):
        for _ in range(times):
            run()

    assert growth(work, 1000, count) < 1 << 20


def test_references_are_balanced():
    compiled = zyg.jit(lambda x, p: (x, p[0], None))
    x, p = 1234.5, (7.25, "s")
    compiled(x, p)
    before = sys.getrefcount(x), sys.getrefcount(p), sys.getrefcount(p[0])
    for _ in range(1000):
        compiled(x, p)
    assert (sys.getrefcount(x), sys.getrefcount(p), sys.getrefcount(p[0])) == before


def test_calls_from_threads():
    compiled = zyg.jit(power)
    results = []

    def run(base):
        for n in range(50):
            results.append(compiled(base, n) == base**n)

    threads = [threading.Thread(target=run, args=(base,)) for base in (2, 1.5, 2.0, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 200
    assert sum(results) > 190  # repeated multiplication and ** round differently for 1.5


@each_in_turn
def test_globals_that_other_threads_rebind_all_the_time():
    space = {}
    exec("def f(x):\n    return helper(x) * factor", space)
    space.update(helper=lambda x: x + 1.0, factor=2.0)
    compiled = zyg.jit(space["f"])
    stop, failures = threading.Event(), []

    def change():
        while not stop.is_set():
            space["helper"] = lambda x: x + 1.0
            space["helper"] = lambda x: x + 2.0
            space["factor"] = 2
            space["factor"] = 2.0

    def call():
        try:
            for _ in range(6):
                if compiled(1.0) not in (4.0, 6.0):
                    failures.append("wrong")
        except BaseException as error:
            failures.append(error)

    changing = threading.Thread(target=change)
    calling = [threading.Thread(target=call) for _ in range(2)]
    changing.start()
    for thread in calling:
        thread.start()
    for thread in calling:
        thread.join()
    stop.set()
    changing.join()
    assert not failures


def test_compiling_in_several_threads():
    results = []

    def work(k):
        for n in range(4):
            results.append(zyg.jit(lambda x, n=n: x * n + k)(2.0) == 2.0 * n + k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 16


def test_import_is_thin():
    script = "import sys, zyg; assert not {'numpy', 'llvmlite'} & set(sys.modules); dir(zyg); zyg.ir"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_public_names():
    for name in zyg.__all__:
        assert getattr(zyg, name) is not None
    assert set(zyg.__all__) <= set(dir(zyg))
    with pytest.raises(AttributeError):
        zyg.no_such_name  # noqa: B018


def test_pickling_goes_by_name():
    assert pickle.loads(pickle.dumps(module_level)) is module_level


module_level = zyg.jit(power)
module_level.__qualname__ = module_level.__name__ = "module_level"
