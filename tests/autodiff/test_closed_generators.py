"""Generators that CPython closes where a loop over them is left: what they raise then, second derivatives, trace functions."""

from __future__ import annotations

import functools
import sys
from collections import UserList
from pathlib import Path
from types import CodeType

import pytest

import zyg
from tests.oracles import differences
from tests.turns import by_one_python_a_day, each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback
from zyg.own import AUTODIFF, PACKAGE, is_own

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


def changing(state, x):
    state[0] = state[0] * x + 0.5
    raise ValueError("out of a call")


def raises_when_closed(state, x):
    try:
        yield x * state[0]
        yield x * x
    finally:
        state[0] *= x
        raise ValueError("closed")


def calls_what_raises(state, x):
    try:
        yield x * state[0]
        yield x * x
    finally:
        state[0] += x
        changing(state, x)


def raises_another(state, x):
    try:
        yield x * state[0]
    except GeneratorExit:
        state[0] *= 3.0 * x
        raise KeyError("another") from None
    finally:
        state[0] += x


def returns_when_closed(state, x):
    try:
        yield x * state[0]
    except GeneratorExit:
        state[0] *= 3.0 * x
        return x * x


CLOSED = [raises_when_closed, calls_what_raises, raises_another, returns_when_closed]


def first(items, state, x):
    for v in items(state, x):
        state[0] += v
        return v * state[0]


def caught(items):
    def function(x):
        state = [x]
        try:
            v = first(items, state, x)
        except (ValueError, KeyError):
            return x * 100.0
        return v * state[0]

    return function


def uncaught(items):
    def function(x):
        state = [x]
        for v in items(state, x):
            state[0] *= v
            break
        return state[0] * state[0]

    return function


@pytest.fixture
def ignored(monkeypatch):
    """What sys.unraisablehook is given."""
    given = []
    monkeypatch.setattr(
        sys, "unraisablehook", lambda u: given.append((u.exc_type, str(u.exc_value), u.object.__name__))
    )
    return given


@each_in_turn
@pytest.mark.parametrize("way", [caught, uncaught])
@pytest.mark.parametrize("items", CLOSED)
def test_what_a_generator_raises_when_it_is_closed_comes_to_no_handler(items, way, ignored):
    function = way(items)
    value = function(0.7)
    expected = ignored[:]
    assert len(expected) == (items is not returns_when_closed)
    ignored.clear()
    got, back = pullback(function, (0.7,))
    assert got == value
    assert ignored == expected
    assert back(1.0)[0] == pytest.approx(differences.derivative(function, 0.7), rel=1e-7)


def test_a_hook_that_raises(monkeypatch, capfd):
    def hook(unraisable):
        raise RuntimeError("in the hook")

    monkeypatch.setattr(sys, "unraisablehook", hook)
    function = caught(raises_when_closed)
    assert pullback(function, (0.7,))[0] == function(0.7)
    assert capfd.readouterr().err.count("RuntimeError: in the hook") == 2


def goes_on(x):
    try:
        yield x * x
    except GeneratorExit:
        yield 3.0 * x
        yield x**3


def closed_in_vain(x):
    steps = goes_on(x)
    v = next(steps)
    try:
        steps.close()
    except RuntimeError:
        v *= x
    return v * sum(steps)


def test_generators_that_go_on_when_they_are_closed(ignored):
    assert zyg.gradient(closed_in_vain, 0.7)[0] == pytest.approx(6.0 * 0.7**5)

    def function(x):
        for v in goes_on(x):
            return v

    assert function(0.7) == 0.7 * 0.7
    with pytest.raises(zyg.Unsupported, match="the generator goes_on, which gives an item when it is closed"):
        pullback(function, (0.7,))


def test_refusals_out_of_closed_generators_are_raised(ignored):
    def items(x):
        try:
            yield x
        finally:
            recurse(x)

    def recurse(x):
        return recurse(x)

    def function(x):
        try:
            for v in items(x):
                return v
        except RecursionError:
            return x * 100.0

    with pytest.raises(zyg.Unsupported, match="RecursionError out of a generator that is closed"):
        pullback(function, (0.7,))
    assert not ignored


# --------------------------------------------------------------------------------------------- where loops are left


def items(state, x):
    try:
        for k in range(1, 9):
            yield x * k * state[0]
    finally:
        state[0] = state[0] * x + 1.0


class Held:
    def __init__(self, state, x):
        self.state, self.x = state, x

    def __iter__(self):
        yield 0.1 * self.x
        try:
            yield self.x
            yield self.x * self.state[0]
        finally:
            self.state[0] *= self.x

    def given(self, factor=2.0):
        try:
            yield factor * self.x
            yield self.state[0] * self.x
        finally:
            self.state[0] += self.x * self.x


def in_a_function(x):
    state, total = [x], 0.0
    for v in items(state, x):
        total += v * v * state[0]
        if v > 1.0:
            break
    return total * state[0]


def in_a_generator(x):
    def squares(state):
        for v in items(state, x):
            yield v * v * state[0]
            if v > 1.0:
                return

    state, total = [x], 0.0
    for w in squares(state):
        total += w * state[0]
    return total * state[0]


def squares_of(state, x):
    for v in items(state, x):
        yield v * v * state[0]
        if v > 1.0:
            break
    yield state[0]


def in_a_generator_that_is_taken_in(x):
    state, total = [x], 0.0
    for w in squares_of(state, x):
        total += w * state[0]
    return total * state[0]


def given_in_other_ways(x):
    state, total = [x], 0.0
    for v in Held(state, x):
        total += v * state[0]
        if v > 0.5 * x:
            break
    for v in Held(state, x).given():
        total += v * state[0]
        break
    for v in Held(state, x).given(factor=x):
        total *= v + state[0]
        break
    for v in items(*[state], **{"x": x * x}):
        total *= v * state[0]
        break
    for u in [x, x * x]:
        for v in items(x=u, state=state):
            total += v
            if v > 1.0:
                break
    return total * state[0]


def left_at_once(x):
    state = [x]

    def search():
        for u in items(state, x):
            for v in items(state, u):
                if v > 0.5:
                    return v * state[0]

    return search() * state[0]


def what_functions_return(x):
    def made(state, x):
        return items(state, x)

    def handed_on(*args):
        steps = made(*args)
        return steps

    class Holding:
        def __iter__(self):
            return handed_on(state, x)

    state, total = [x], 0.0
    for v in made(state, x):
        total += v
        break
    for v in Holding():
        total += v * state[0]
        break
    for v in functools.partial(handed_on, state)(x):
        total += v * state[0]
        break
    try:
        for v in handed_on(state, x):
            total += v * state[0]
            break
        total *= state[0]
    except ValueError:
        total = 0.0
    return total * state[0]


WHERE = [
    what_functions_return,
    in_a_function,
    in_a_generator,
    in_a_generator_that_is_taken_in,
    given_in_other_ways,
    left_at_once,
]


@each_in_turn
@pytest.mark.parametrize("function", WHERE)
def test_where_loops_are_left(function):
    value, back = pullback(function, (0.7,))
    assert value == function(0.7)
    assert back(1.0)[0] == pytest.approx(differences.derivative(function, 0.7), rel=1e-7)


@each_in_long_turn
@each_in_turn
@pytest.mark.parametrize("function", [in_a_function, in_a_generator, caught(calls_what_raises)])
def test_second_and_inner_derivatives(function, ignored):
    derivative = lambda x: pullback(function, (x,))[1](1.0)[0]
    expected = differences.derivative(derivative, 0.7)
    assert zyg.grad(zyg.grad(function))(0.7) == pytest.approx(expected, rel=1e-6)
    value, (slope,) = zyg.withgradient(lambda x: zyg.grad(function)(x) * x, 0.7)
    assert value == pytest.approx(derivative(0.7) * 0.7)
    assert slope == pytest.approx(expected * 0.7 + derivative(0.7), rel=1e-6)


@by_one_python_a_day
@pytest.mark.parametrize("function", WHERE)
def test_trace_functions_that_read_variables(function):
    """As a debugger does."""

    def trace(frame, event, arg):
        if not is_own(frame.f_code.co_filename):
            dict(frame.f_locals)
        return trace

    expected = zyg.withgradient(function, 0.7)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        got = zyg.withgradient(function, 0.7)
    finally:
        sys.settrace(before)
    assert got == expected


def test_what_stays_refused():
    def one_of(condition, x):
        steps = items([x], x)
        return steps if condition else [x]

    def kept(x):
        steps = items([x], x)
        for v in steps:
            return v

    def given_by_another(x):
        for v in one_of(x > 0.0, x):
            return v

    def in_an_expression(x):
        for v in (w * w for w in items([x], x)):
            return v

    def numbered(x):
        for _, v in enumerate(items([x], x)):
            return v

    def left_with_its_loop(x):
        for v in squares_of([x], x):
            return v

    for function in (kept, given_by_another, in_an_expression, numbered, left_with_its_loop):
        with pytest.raises(zyg.Unsupported, match="was not finished, and has a `try`"):
            pullback(function, (0.3,))


KEPT = []


def keep(steps):
    KEPT.append(steps)
    return steps


@functools.lru_cache
def remembered(x):
    try:
        yield x
        yield x * x
    finally:
        LOG.append("closed")


def keep_first(x):
    steps = KEPT[0] if KEPT else remembered.__wrapped__(x)
    if not KEPT:
        KEPT.append(steps)
    return steps


LOG = []


class Keeping:
    def __init__(self, x):
        self.steps = remembered.__wrapped__(x)

    def __iter__(self):
        return self.steps


@pytest.mark.parametrize(
    "make",
    [
        lambda x: keep(remembered.__wrapped__(x)),
        lambda x: remembered(x),
        lambda x: keep_first(x),
        lambda x: KEPT[0] if KEPT else KEPT.append(remembered.__wrapped__(x)) or KEPT[0],
    ],
)
def test_what_somebody_else_has_is_not_closed(make):
    def function(x):
        total = 0.0
        for v in make(x):
            total += v
            break
        for v in KEPT[0] if KEPT else make(x):
            total += v * v
        return total

    expected = 0.7 + 0.7**4, 1.0 + 4.0 * 0.7**3
    for ask in (lambda: (function(0.7), expected[1]), lambda: zyg.withgradient(function, 0.7)):
        LOG.clear()
        KEPT.clear()
        remembered.cache_clear()
        value, slope = ask()
        assert value == pytest.approx(expected[0])
        assert slope == (expected[1] if isinstance(slope, float) else (pytest.approx(expected[1]),))
        assert LOG == ["closed"]


def test_iterators_that_objects_keep_are_not_closed():
    def function(x):
        held, total = Keeping(x), 0.0
        for v in held:
            total += v
            break
        for v in held:
            total += v * v
        return total

    assert zyg.withgradient(function, 0.7) == (function(0.7), (pytest.approx(1.0 + 4.0 * 0.7**3),))


# ------------------------------------------------------------------------------------------------- zyg's own code


def test_which_code_is_zygs_own():
    beside = Path(PACKAGE).with_name("zyg_utils") / "loops.py"
    assert not is_own(str(beside))
    assert is_own(zyg.__file__)
    assert not is_own(zyg.__file__, AUTODIFF)


@pytest.mark.parametrize("name", ["zyg_user.py", "zyg_utils/loops.py", "zygote/__init__.py"])
def test_modules_whose_names_begin_like_zygs_keep_their_variables(name):
    source = """
def items(x):
    try:
        yield x
        yield x * x
    finally:
        closed.append(x)

def first(x):
    for v in items(x):
        return v * v

closed = []
gradient = zyg.withgradient(first, 3.0)
"""
    variables = {"zyg": zyg}
    exec(compile(source, str(Path(PACKAGE).parent / name), "exec"), variables)
    assert variables["gradient"] == (9.0, (6.0,))
    assert variables["closed"] == [3.0]
    assert isinstance(variables["first"].__code__, CodeType)


# ------------------------------------------------------------------------------- handlers that closing does not come to


def until_an_index_error(x):
    k = 0
    try:
        while True:
            yield [x, x * x, x + 1.0][k]
            k += 1
    except IndexError:
        return


def until_one_of_several(x):
    try:
        try:
            yield x * x
            yield x
        except (KeyError, ValueError):
            yield x * x * x
    except Exception as error:
        raise RuntimeError from error


def zipped_with_less(x):
    return sum(a * b for a, b in zip(UserList([x, x * x]), [x]))


def zipped_with_generators(x):
    return sum(a * b for a, b in zip(until_an_index_error(x), until_one_of_several(x))) + next(until_one_of_several(x))


def gone_through_to_the_end(x):
    return sum(a * x for a in until_an_index_error(x)) + sum(UserList([x, x * x]))


@pytest.mark.parametrize("function", [zipped_with_less, zipped_with_generators, gone_through_to_the_end])
def test_handlers_for_other_exceptions(function):
    value, back = pullback(function, (0.7,))
    assert value == function(0.7)
    assert back(1.0) == (pytest.approx(differences.derivative(function, 0.7), rel=1e-7),)


class SomeError(BaseException):
    pass


def until_any_exception(x, seen):
    try:
        yield x
        yield x
    except BaseException:
        seen.append(x)


def until_what_is_called_so(x, seen):
    try:
        yield x
        yield x
    except SomeError:
        seen.append(x)


def at_the_end(x, seen):
    try:
        yield x
        yield x
    except IndexError:
        return
    finally:
        seen.append(x)


@pytest.mark.parametrize("items", [until_any_exception, until_what_is_called_so, at_the_end])
def test_handlers_that_closing_comes_to(items, monkeypatch):
    def program(x):
        seen = []
        for _ in zip(items(x, seen), [1.0]):
            pass
        return x * x

    monkeypatch.setitem(globals(), "SomeError", GeneratorExit)
    with pytest.raises(zyg.Unsupported, match="not finished, and has a `try`"):
        pullback(program, (0.7,))
