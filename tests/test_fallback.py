"""Falling back to the Python back end: when, with which warning, at what price, and that both ways give the same."""

import asyncio
import copy
import math
import operator
import random
import warnings
from fractions import Fraction

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg import api, fallback
from zyg.callables import DISPATCHER

quiet = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


def guarded(x):
    try:
        return math.log(x) * x
    except ValueError:
        return 2.0 * x


def looked_up(x, table):
    return x * table[1] + table["a"]


def dynamic(f):
    """A copy of `f` that native code refuses, and that means the same."""

    def wrapper(*args, **keywords):
        try:
            return f(*args, **keywords)
        finally:
            globals()["_touched"] = True

    return wrapper


def warned(call):
    """What `call` gives, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = call()
    return value, [w for w in caught if issubclass(w.category, zyg.FallbackWarning)]


# ------------------------------------------------------------------------------------------------ warning


def test_one_warning_per_function_at_the_users_line():
    def table_of(x, table):
        return x * table[1]

    value, caught = warned(lambda: [zyg.gradient(table_of, x, {1: 3.0}) for x in (1.0, 2.0)])
    assert value == [(3.0, {1: 1.0}), (3.0, {1: 2.0})]
    (warning,) = caught
    assert warning.filename == __file__
    text = str(warning.message)
    assert "table_of" in text
    assert "'table'" in text and "dict" in text
    _, caught = warned(lambda: zyg.grad(table_of)(1.0, {1: 3.0}))
    assert caught == []


def test_the_warning_names_line_construct_and_remedy():
    def opens(x):
        return float(str(x)) + x

    _, (warning,) = warned(lambda: zyg.gradient(opens, 1.0))
    text = str(warning.message)
    assert "return float(str(x)) + x" in text
    assert "^^^" in text
    assert "instead:" in text


def test_the_warning_names_the_users_line_for_what_is_in_the_library():
    def deep(x):
        return copy.deepcopy([x, 2.0])[0] * x

    value, (warning,) = warned(lambda: zyg.gradient(deep, 3.0))
    text = str(warning.message)
    assert value == (6.0,)
    assert (
        text.index("copy.py")
        < text.index("which is called here:")
        < text.index("return copy.deepcopy([x, 2.0])[0] * x")
    )
    assert "instead: call it outside" in text


def test_a_generator_is_no_value():
    def items(x):
        return (x * k for k in range(3))

    def yields(x):
        yield x

    for f in (items, yields):
        with pytest.raises(zyg.Unsupported, match="types found: generator\ninstead: go through it there"):
            zyg.gradient(f, 1.0)
        with pytest.warns(zyg.FallbackWarning), pytest.raises(zyg.Unsupported, match="go through it there"):
            zyg.pullback(f, 1.0)


def test_messages_say_list():
    def either(x, n):
        kept = [x] if n > 2 else x
        return kept * 2

    with pytest.raises(zyg.Unsupported, match="a value that is list on one path and f64 on another"):
        zyg.jit(either)(1.0, 1)


def test_messages_say_whose_numbers_they_are():
    def table(a, n):
        rows = [[0.0] * 2 for _ in range(n)]
        rows[0][1] = a[0]
        return rows[0][1]

    with pytest.raises(zyg.Unsupported, match=r"one of Python's numbers and NumPy's(.|\n)*instead: write float\(x\)"):
        zyg.jit(table)(np.ones(1), 2)


class Account:
    def __init__(self, x):
        self.x = x

    def times(self, k):
        return self.x * k


@pytest.mark.parametrize(
    ("function", "args", "expected", "instead"),
    [
        (float.__mul__, (2.0, 3.0), (3.0, 2.0), "x * y"),
        (np.ndarray.sum, (np.ones(2),), ([1.0, 1.0],), "x.sum(*args)"),
        ((2.0).__mul__, (3.0,), (2.0,), "x * y"),
        (list.pop, ([2.0, 3.0],), ([0.0, 1.0],), "x.pop(*args)"),
        (operator.itemgetter(0), ([2.0, 3.0],), ([1.0, 0.0],), "x[0]"),
        (operator.attrgetter("x"), (Account(2.0),), ((1.0,),), "x.name"),
        (operator.methodcaller("times", 3.0), (Account(2.0),), ((3.0,),), "x.method()"),
    ],
    ids=lambda x: getattr(x, "__qualname__", None),
)
def test_functions_in_c_without_weak_references(function, args, expected, instead):
    fallback._warned_kinds.clear()
    found, (warning,) = warned(lambda: zyg.gradient(function, *copy.deepcopy(args)))
    plain = [np.asarray(g if not hasattr(g, "x") else (g.x,)).tolist() for g in found]
    assert plain == [np.asarray(g).tolist() for g in expected]
    assert instead in str(warning.message).partition("instead: ")[2]
    again, caught = warned(lambda: zyg.gradient(function, *copy.deepcopy(args)))
    assert str(again) == str(found) and caught == []


def test_objects_without_a_hash_are_announced():
    class Scaled(list):
        __hash__ = None

        def __call__(self, x):
            return self[0] * x

    found, caught = warned(lambda: [zyg.gradient(Scaled([3.0]), 2.0) for _ in range(2)])
    assert found == [(3.0,)] * 2 and len(caught) <= 1


def test_native_code_does_not_warn():
    value, caught = warned(lambda: zyg.gradient(lambda x: x * x, 3.0))
    assert value == (6.0,)
    assert caught == []


@quiet
def test_jit_never_falls_back():
    for call in (
        lambda: zyg.jit(looked_up)(1.0, {1: 2.0, "a": 3.0}),
        lambda: zyg.gradient(zyg.jit(looked_up), 1.0, {1: 2.0, "a": 3.0}),
        lambda: zyg.jit(zyg.grad(looked_up))(1.0, {1: 2.0, "a": 3.0}),
        lambda: zyg.grad(zyg.jit(looked_up))(1.0, {1: 2.0, "a": 3.0}),
    ):
        with pytest.raises(TypeError, match="dict"):
            call()


# ------------------------------------------------------------------------------------------------ results


@quiet
@pytest.mark.parametrize(
    "f, args",
    [
        (lambda x, y: x * y, (2.0, 3.0)),
        (lambda x, n: x**n, (2.0, 3)),
        (lambda x, flag: x if flag else 2 * x, (2.0, True)),
        (lambda x, y: 3.0 * x, (2.0, 3.0)),
        (lambda x, y: 0.0 * x + y, (2.0, 3.0)),
        (lambda x, y: y if x > 1 else 2 * y, (2.0, 3.0)),
        (lambda t: t[0] * t[1][0], ((2.0, (3.0, 4.0)),)),
        (lambda a: a[0] * a[1], (np.array([2.0, 3.0, 4.0]),)),
        (lambda x: int(x) * 2.0, (2.5,)),
        (lambda x, s: x, (2.5, "text")),
    ],
)
def test_both_ways_give_the_same(f, args):
    native = zyg.withgradient(f, *args)
    value, back = fallback.python_pullback(f, args, {})
    assert value == native[0]
    assert repr(back(1.0)) == repr(native[1])
    other = zyg.withgradient(dynamic(f), *args)
    assert other[0] == native[0]
    assert repr(other[1]) == repr(native[1])


@quiet
def test_every_function_of_the_api():
    f = dynamic(lambda x, y: x * x * y)
    assert zyg.gradient(f, 2.0, 3.0) == (12.0, 4.0)
    assert zyg.withgradient(f, 2.0, 3.0) == (12.0, (12.0, 4.0))
    value, back = zyg.pullback(f, 2.0, 3.0)
    assert (value, back(1.0), back(2.0)) == (12.0, (12.0, 4.0), (24.0, 8.0))
    assert "pullback of" in repr(back)
    assert zyg.grad(f)(2.0, 3.0) == 12.0
    assert zyg.grad(f, 1)(2.0, 3.0) == 4.0
    assert zyg.grad(f, (1, 0))(2.0, 3.0) == (4.0, 12.0)
    assert zyg.value_and_grad(f, 1)(2.0, 3.0) == (12.0, 4.0)
    assert zyg.derivative(dynamic(lambda x: x * x))(3.0) == 6.0
    assert zyg.derivative(dynamic(lambda x: 3.0))(3.0) == 0.0
    assert zyg.jacobian(dynamic(lambda x, y: (x * y, x + y)), 2.0, 3.0)[0].tolist() == [3.0, 1.0]
    assert zyg.gradient(dynamic(lambda x, *, k=1.0: x * k), 2.0, k=3.0) == (3.0,)
    with pytest.raises(TypeError, match="argument 2"):
        zyg.grad(f, 2)(2.0, 3.0)


@quiet
@pytest.mark.parametrize("value", [(1.0, 2.0), [1.0], "text", True, None, np.zeros(2), {1: 2.0}])
def test_values_that_are_no_real_numbers(value):
    with pytest.raises(TypeError, match="number") as caught:
        zyg.gradient(dynamic(lambda x: value), 1.0)
    if value is not None:
        assert "pullback" in str(caught.value) and "jacobian" in str(caught.value)


@quiet
def test_arguments_that_native_code_does_not_take():
    assert zyg.gradient(lambda x: x * x, Fraction(1, 3)) == (pytest.approx(2 / 3),)
    assert zyg.gradient(looked_up, 2.0, {1: 3.0, "a": 4.0}) == (3.0, {1: 2.0, "a": 1.0})
    (big,) = zyg.gradient(lambda n: n * n, 2**70)
    assert big == 2.0**71
    assert zyg.gradient(lambda x, s: x * len(s), 2.0, {1, 2, 3}) == (3.0, None)


@quiet
def test_errors_of_the_function_are_its_own():
    seen = []

    def fails(x, table):
        seen.append(x)
        return table["missing"] * x

    for _ in range(2):
        with pytest.raises(KeyError, match="missing") as caught:
            zyg.gradient(fails, 1.0, {1: 2.0})
        assert caught.value.__context__ is None
    assert seen == [1.0, 1.0]
    with pytest.raises(TypeError, match="positional argument"):
        zyg.gradient(dynamic(lambda x: x), 1.0, 2.0)


@quiet
def test_side_effects_happen_once(capsys):
    def noisy(x, table):
        print("once")
        table["count"] += 1
        return x * table[1]

    table = {1: 2.0, "count": 0}
    zyg.gradient(noisy, 1.0, table)
    assert capsys.readouterr().out == "once\n"
    assert table["count"] == 1


# --------------------------------------------------------------------------------------- what is remembered


@quiet
def test_a_refusal_is_remembered_and_void_when_its_cause_is_mended(monkeypatch):
    from zyg import pipeline

    compiled = []
    compile = pipeline.compile
    monkeypatch.setattr(pipeline, "compile", lambda *a: compiled.append(a) or compile(*a))
    namespace = {"math": math, "__name__": __name__}
    exec("def helper(x):\n    return float(str(x)) + x\n\ndef f(x):\n    return helper(x) * x\n", namespace)
    f = namespace["f"]
    zyg.gradient(f, 2.0)
    attempts = len(compiled)
    for _ in range(3):
        zyg.gradient(f, 2.0)
    assert len(compiled) == attempts
    exec("def helper(x):\n    return math.sin(x)\n", namespace)
    expected = math.cos(2.0) * 2.0 + math.sin(2.0)
    assert zyg.gradient(f, 2.0) == (pytest.approx(expected, rel=1e-15),)
    assert len(compiled) > attempts
    attempts = len(compiled)
    zyg.gradient(f, 2.0)
    assert len(compiled) == attempts  # native, and installed


@quiet
def test_a_new_rule_makes_it_native():
    def foreign(x):
        return float(str(x))

    def f(x):
        return foreign(x) * 2.0

    with pytest.raises(zyg.Unsupported):
        zyg.jit(zyg.grad(f))(2.0)
    zyg.gradient(f, 2.0)
    zyg.adjoint(foreign)(lambda x: (float(x), lambda d: (d,)))
    assert zyg.gradient(f, 2.0) == (2.0,)


def test_one_refused_kind_of_argument_leaves_the_others_native():
    def f(x):
        return x[1] * 2.0

    (_, caught) = warned(lambda: zyg.gradient(f, {1: 2.0}))
    assert len(caught) == 1
    assert zyg.gradient(f, (1.0, 2.0)) == ((0.0, 2.0),) or zyg.gradient(f, (1.0, 2.0)) == ((None, 2.0),)
    zyg.jit(zyg.grad(f))((1.0, 2.0))


@quiet
def test_many_kinds_of_refused_calls_stay_bounded():
    def f(x, table):
        return x

    for n in range(3 * fallback.LIMIT):
        made = type(f"Kind{n}", (), {"__slots__": ()})
        assert zyg.gradient(f, 2.0, {made(): 1})[0] == 1.0


@each_in_turn
@quiet
def test_functions_that_one_code_calls_are_refused_one_by_one():
    """(after some of them, all functions that `many`, or a Hessian, was given went through Python)"""

    def many(function):
        return lambda x: function(x) * 2.0

    for n in range(2 * fallback.LIMIT):
        namespace = {}
        exec(f"def refused(x):\n    return len({{x, -1.0 - {n}}}) * x * x / 2.0", namespace)
        assert zyg.gradient(many(namespace["refused"]), 2.0) == (8.0,)
        assert zyg.hessian(namespace["refused"], 2.0) == 2.0
    function = many(lambda x: x * x)
    dispatcher = getattr(api._gradients[id(function.__code__)], DISPATCHER)
    assert dispatcher.native_code((function, 2.0), {}) is not None
    assert zyg.gradient(function, 2.0) == (8.0,)


# -------------------------------------------------------------------------------------- native code inside


def test_native_pullback():
    def smooth(x, y):
        return math.sin(x) * y

    value, back = fallback.native_pullback(smooth, (0.5, 2.0))
    assert value == math.sin(0.5) * 2.0
    assert back(1.0) == (math.cos(0.5) * 2.0, math.sin(0.5))
    assert fallback.native_pullback(guarded_by_text, (2.0,)) is None
    assert fallback.native_pullback(smooth, (0.5, object())) is None
    with pytest.raises(TypeError):
        fallback.native_pullback(zyg.jit(guarded_by_text), (2.0,))


def guarded_by_text(x):
    return float(str(x)) + x


@quiet
def test_jitted_functions_inside_stay_native():
    @zyg.jit
    def inner(x):
        return math.sin(x) * x

    f = dynamic(lambda x: inner(x) + inner(2.0 * x))
    expected = lambda x: math.cos(x) * x + math.sin(x)
    assert zyg.gradient(f, 0.5)[0] == pytest.approx(expected(0.5) + 2 * expected(1.0), rel=1e-14)
    refused = zyg.jit(guarded_by_text)
    with pytest.raises(zyg.Unsupported):
        zyg.gradient(dynamic(lambda x: refused(x)), 0.5)


# ------------------------------------------------------------------------------- other modes, second derivatives


def bent(x, table={1: 2.0, "two": 1}):  # noqa: B006
    try:
        return math.sin(x) * x * table[1]
    except KeyError:
        return x


SLOPE = lambda x: 2 * (math.sin(x) + x * math.cos(x))
BEND = lambda x: 2 * (2 * math.cos(x) - x * math.sin(x))


@quiet
def test_other_modes():
    assert zyg.jvp(bent, (0.5,), (2.0,)) == pytest.approx((bent(0.5), 2 * SLOPE(0.5)), rel=1e-14)
    _, push = zyg.pushforward(bent, 0.5)
    assert push(1.0) == pytest.approx(SLOPE(0.5), rel=1e-14)
    value, tangent = zyg.jvp(lambda x, t: {"a": x * t[1], "b": [x, 1.0]}, (2.0, {1: 3.0}), (1.0, {1: 0.5}))
    assert value == {"a": 6.0, "b": [2.0, 1.0]}
    assert tangent == {"a": 4.0, "b": [1.0, 0.0]}
    found = zyg.jacobian(lambda x, y: [bent(x), x * y], 0.5, 3.0)
    np.testing.assert_allclose(found[0], [SLOPE(0.5), 3.0], rtol=1e-14)
    np.testing.assert_allclose(found[1], [0.0, 0.5])


@each_in_turn
@quiet
@pytest.mark.parametrize(
    "second",
    [
        lambda x: zyg.derivative(zyg.derivative(bent))(x),
        lambda x: zyg.gradient(lambda x: zyg.gradient(bent, x)[0], x)[0],
        lambda x: zyg.gradient(lambda x: zyg.pullback(bent, x)[1](1.0)[0], x)[0],
        lambda x: zyg.hvp(bent, x, 1.0),
        lambda x: zyg.hessian(bent, x),
        lambda x: zyg.jvp(lambda x: zyg.gradient(bent, x)[0], (x,), (1.0,))[1],
        lambda x: zyg.gradient(lambda x: zyg.jvp(bent, (x,), (1.0,))[1], x)[0],
    ],
)
def test_second_derivatives(second):
    assert second(0.5) == pytest.approx(BEND(0.5), rel=1e-13)


@quiet
def test_inner_derivatives_do_not_meet_outer_ones():
    def sums(x):
        def inner(y):
            try:
                return x + y
            finally:
                len([])

        return x * zyg.derivative(inner)(1.0)

    def products(x):
        def inner(y):
            try:
                return x * y * y
            finally:
                len([])

        return x * zyg.derivative(inner)(2.0)

    assert zyg.derivative(sums)(3.0) == 1.0
    assert zyg.derivative(products)(3.0) == 24.0


def test_arrays_of_objects_have_no_gradient():
    with (
        pytest.warns(zyg.FallbackWarning),
        pytest.raises(TypeError, match=r"argument 'a' of .* is an array of objects"),
    ):
        zyg.gradient(lambda a: a[0] * a[1], np.array([1.0, 2.0], dtype=object))


@quiet
def test_memoryviews_have_no_gradient():
    with pytest.raises(TypeError, match=r"argument 'a' of .* is a memoryview"):
        zyg.gradient(lambda a: a[0] * a[1], memoryview(np.array([1.0, 2.0])))


@quiet
def test_super_in_a_method_of_a_known_object():
    """random.seed is a method of an object that zyg knows, and calls super()."""

    def f(x):
        random.seed(1)
        return random.random() * x

    random.seed(1)
    expected = random.random()
    assert zyg.gradient(f, 1.3) == (expected,)
    with pytest.raises(zyg.Unsupported, match="the attribute 'seed' of a super"):
        zyg.jit(f)(1.3)


@quiet
def test_functions_that_capture_themselves():
    def power(x, n=3):
        try:
            return x if n == 0 else power(x * x, n - 1)
        except KeyError:
            return x

    def counted(x):
        counted.calls += 1
        return other(x) * x

    def other(x):
        return x if x > 0.0 else counted(-x)

    counted.calls = 0
    assert zyg.gradient(power, 1.1) == pytest.approx((8.0 * 1.1**7,))
    assert zyg.gradient(counted, 3.0) == (6.0,)
    assert counted.calls == 1


async def _half(x):
    return 0.5 * x


async def _awaits(x):
    return await _half(x)


async def _loops(x):
    async for y in _gives(x):
        x += y
    return x


async def _enters(x):
    async with x as y:
        return y


async def _gives(x):
    yield x


def _runs(x):
    return asyncio.run(_awaits(x))


def _makes(x):
    async def inner():
        return await _half(x)

    return asyncio.run(inner())


@pytest.mark.parametrize(
    "function, culprit",
    [
        (_half, "_half"), (_awaits, "_awaits"), (_loops, "_loops"), (_enters, "_enters"), (_gives, "_gives"), (_runs, "_awaits"),
        (_makes, r"_makes.<locals>.inner"), (lambda x: _half(x), "_half"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_what_is_asynchronous_is_refused_with_its_place_and_a_remedy(function, culprit):
    for derivative in (zyg.gradient, zyg.pullback, lambda f, x: zyg.jvp(f, (x,), (1.0,)), zyg.hessian):
        with pytest.raises(zyg.Unsupported) as caught:
            derivative(function, 2.0)
        what, place, source, *_ = str(caught.value).splitlines()
        assert what == f"{culprit} is asynchronous"
        assert (
            place.endswith(f'in "{culprit}"') and "test_fallback.py" in place and source.strip().startswith("async def")
        )
        assert "instead: an ordinary function; async and await are not compiled" in str(caught.value)


def test_asynchronous_functions_are_refused_without_a_warning():
    async def f(x):
        return x * x

    async def g(x):
        yield x

    class Held:
        async def f(self, x):
            return x

    for function in (f, g, Held().f):
        for way in (zyg.gradient, zyg.withgradient, zyg.pullback, zyg.hessian, lambda f, x: zyg.grad(f)(x)):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with pytest.raises(zyg.Unsupported, match=r"is asynchronous(.|\n)*an ordinary function"):
                    way(function, 2.0)


@pytest.mark.filterwarnings("always::zyg.FallbackWarning")
def test_the_reason_for_a_second_derivative_through_python_is_at_a_line_of_the_program():
    def spectrum(A):
        return np.poly(A)

    with warnings.catch_warnings(record=True) as caught, pytest.raises(zyg.errors.Misuse):
        zyg.hvp(spectrum, np.eye(2), np.eye(2))
    texts = [str(w.message) for w in caught if issubclass(w.category, zyg.FallbackWarning)]
    assert texts
    assert not any("composed.py" in text for text in texts)
    assert all(f'{__file__}", line ' in text for text in texts)
