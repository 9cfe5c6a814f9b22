"""Calls that object code writes out or remembers: elementary functions, partial functions, generators, context managers."""

from __future__ import annotations

import collections
import contextlib
import functools
import math
import re

import pytest

import zyg
from tests.oracles.differences import derivative
from tests.turns import each_in_turn
from zyg import rules
from zyg.fallback import python_pullback

pytestmark = each_in_turn


def slope(f, *args):
    """The gradient through Python by the first argument; called twice, so that places remember what they call."""
    for _ in range(2):
        value, back = python_pullback(f, args, {})
    assert value == f(*args) or value != value
    return back(1.0)[0]


FUNCTIONS = (
    "sin cos tan asin acos atan sinh cosh tanh asinh atanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt fabs degrees radians "
    "erf erfc gamma lgamma"
).split()


def test_elementary_functions_by_their_slopes():
    scope: dict = {"math": math}
    by_module = " + ".join(f"{k + 1} * math.{name}(x) * x" for k, name in enumerate(FUNCTIONS))
    by_name = " + ".join(f"{k + 1} * {name}(x) * x" for k, name in enumerate(FUNCTIONS))
    exec(f"from math import *\ndef f(x):\n    return {by_module}\ndef g(x):\n    return {by_name}\n", scope)
    for x in (0.3, 0.71):
        expected = derivative(scope["f"], x)
        assert slope(scope["f"], x) == pytest.approx(expected, rel=1e-9)
        assert slope(scope["g"], x) == pytest.approx(expected, rel=1e-9)
    assert slope(lambda x: math.acosh(x) * x, 1.7) == pytest.approx(derivative(lambda x: math.acosh(x) * x, 1.7))
    assert slope(lambda x: math.pow(x, 1.5), 0.7) == pytest.approx(1.5 * 0.7**0.5)
    assert slope(lambda x: math.pow(x, 3.0), -0.7) == pytest.approx(3.0 * 0.49)


def test_slopes_at_the_ends_of_what_floats_can_hold():
    assert slope(lambda x: math.sqrt(x) * 0.0 + x, 0.0) == 1.0  # nothing times infinity
    assert slope(lambda x: math.sqrt(x), 0.0) == math.inf
    assert slope(lambda x: math.pow(x, 0.5), 0.0) == math.inf
    assert slope(lambda x: math.pow(x, 2.0), 0.0) == 0.0
    assert slope(lambda x: math.pow(x, 1.5), 1e-215) == pytest.approx(1.5e-215**0.5 * 1.5**0.5, rel=1e-12)
    assert slope(lambda x: math.log(x), 5e-324) == math.inf
    assert math.isnan(slope(lambda x: math.exp(x), math.nan))
    assert slope(lambda x: math.exp(x), -math.inf) == 0.0
    assert slope(lambda x: math.tanh(x), math.inf) == 0.0
    with pytest.raises(ValueError):
        slope(lambda x: math.sqrt(x), -1.0)
    assert slope(lambda n: math.sin(n), 2) == pytest.approx(math.cos(2.0))


def test_what_only_looks_like_an_elementary_function():
    class Other:
        def __init__(self, by):
            self.by = by

        def exp(self, x):
            return self.by * x

    def f(y, m):
        return m.exp(y) + m.exp(2.0)

    for other in (math, Other(3.0), math, Other(4.0)):
        expected = math.exp(0.5) if other is math else other.by
        assert slope(f, 0.5, other) == pytest.approx(expected)


def test_a_rule_for_an_elementary_function_is_seen():
    def f(x):
        return math.cosh(x) * 2.0

    assert slope(f, 0.5) == pytest.approx(2.0 * math.sinh(0.5))

    @zyg.adjoint(math.cosh)
    def rule(x):
        return math.cosh(x), lambda d: (d * 100.0,)

    try:
        assert slope(f, 0.5) == 200.0
    finally:
        rules.remove(math.cosh)
    assert slope(f, 0.5) == pytest.approx(2.0 * math.sinh(0.5))


def _weighted(x, y, by=0.5, *, shift=0.0):
    return by * x + (1.0 - by) * y * y + shift


def test_partial_functions_that_are_called_again_and_again():
    def f(x):
        step = functools.partial(_weighted, x, by=0.3 * x)
        other = functools.partial(step, shift=x)
        total = 0.0
        for k in range(4):
            total = step(total) + other(0.1 * k) * step(x, shift=1.0)
            if k == 2:
                step.keywords["by"] = x * x
        return total

    assert slope(f, 0.7) == pytest.approx(derivative(f, 0.7))


def test_generators_that_are_left_and_gone_on_with():
    def steps(x, n):
        for k in range(n):
            sent = yield x
            x = x * 0.9 + (sent or 0.1) * k

    def both(x):
        taken = yield from steps(x, 3)
        yield x * x if taken is None else taken
        yield from [x, 2.0 * x]
        yield from steps(0.5 * x, 2)

    def f(x):
        items = steps(x, 6)
        total = 0.0
        for v in items:
            total += v * v
            if v > 0.5:
                total += next(items)
            else:
                break
        for v in items:
            total *= v
        for _ in items:
            total = 0.0
        total += sum(v * w for v, w in zip(both(x), steps(x, 9)))
        for v in both(x):
            total += v * v
        return total

    assert slope(f, 0.7) == pytest.approx(derivative(f, 0.7))


def test_generators_that_fail_in_a_loop():
    def failing(x):
        try:
            yield x
            yield 2.0 * x
            raise ValueError(x)
        finally:
            x = x * 2.0

    def f(x):
        total = 0.0
        try:
            for v in failing(x):
                total += v * v
        except ValueError as error:
            total += 3.0 * error.args[0]
        return total

    assert slope(f, 0.7) == pytest.approx(derivative(f, 0.7))


@contextlib.contextmanager
def _scope(log, x, fail=False):
    """A manager."""
    log.append(x)
    try:
        yield 0.5 * x
    except ZeroDivisionError:
        log.append(3.0 * x)
    finally:
        log[0] = log[0] * x
    if fail:
        yield x


def test_context_managers_made_of_generators():
    def f(x):
        log = []
        with _scope(log, x) as y, _scope(log, x=y * y) as z:
            x = x * z
        manager = _scope(log, x)
        kept, described = manager.args[1], manager.__doc__
        with manager as y:
            x += 1 / 0
        for _ in range(3):
            with _scope(log, x) as y:
                x = y * 0.9 + 0.1
        try:
            with _scope(log, x, fail=True):
                pass
        except RuntimeError as error:
            x += len(str(error))
        return sum(log) * x + y + kept * len(described)

    assert slope(f, 0.7) == pytest.approx(derivative(f, 0.7))
    with pytest.raises(zyg.Unsupported, match="not finished"):
        slope(lambda x: _scope([], x).__enter__() * x, 0.7)


def _gathered(x, *rest, **options):
    total = x * len(rest)
    for k, v in enumerate(rest):
        total += v * v * (k + 1)
    for name, v in options.items():
        total += v * len(name)
    return total


def _passed_on(*args, **kwargs):
    y = _gathered(*args, **kwargs)
    kwargs["more"] = y
    return _gathered(*args, **kwargs) + kwargs["more"]


class _Of:
    def __init__(self, x, *rest, **options):
        self.total = _gathered(x, *rest, **options)

    def method(self, *rest, **options):
        return self.total + _gathered(1.0, *rest, **options)


def test_arguments_that_are_spread():
    def f(x):
        total = 0.0
        for k in range(3):
            args = (x, 2.0, x * x)[: k + 1]
            total += _passed_on(*args) + _passed_on(*args, a=x, bc=x * x)
            total += _gathered(*[x, 0.5]) + _gathered(*(x, k)) + _gathered(*[x]) + _gathered(*args, *args)
            total += _Of(*args, a=x).method(*args) + _Of(x).method(ab=x) + _gathered(x, **{"a": x})
            total += max(*args, 0.1) + min(*[x, 0.9]) + _gathered(*(v * x for v in args))
        return total

    assert slope(f, 0.7) == pytest.approx(derivative(f, 0.7))

    def several(x):
        return sum(g(*args) for g in (_gathered, _passed_on, max, lambda a, b: a * b) for args in [(x, 0.3), (0.1, x)])

    assert slope(several, 0.7) == pytest.approx(derivative(several, 0.7))

    def wrong(x):
        return _gathered(*[x], **{"x": x})

    with pytest.raises(TypeError, match="multiple values for argument 'x'"):
        slope(wrong, 0.7)
    with pytest.raises(TypeError, match=r"_gathered\(\) argument after \* must be an iterable, not float"):
        slope(lambda x: _gathered(*x), 0.7)


def test_functions_of_the_standard_library_that_keep_what_they_have_found():
    @functools.singledispatch
    def doubled(x):
        return x * 2.0

    @doubled.register
    def _(x: list):
        return x[0] * 3.0

    def f(x):
        total = [0.0]

        def replace(found):
            total[0] += x * len(found.group(0))
            return "y"

        text = re.sub(r"a+(b|c)?", replace, "aab xac a")
        return doubled(x) + doubled([x]) + total[0] * len(text)

    assert slope(f, 0.7) == pytest.approx(derivative(f, 0.7))


def counted(f):
    def inner(*args, **more):
        inner.calls = inner.calls + 1
        inner.last = f(*args, **more) + 0.5 * inner.last
        return inner.last

    inner.calls, inner.last = 0, 0.0
    return inner


class Scales:
    factor = 3.0

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def times(cls, x, by=2.0):
        return cls.factor * x * by

    @counted
    def through(self, x, y=1.0):
        return self.square(x) * y + self.times(x)


def handlers(x):
    """A place where functions with different numbers of arguments are called in turn, some of them made anew."""
    log = []
    kept = Scales()
    for k in range(4):
        later = [
            (log.append, (x,)),
            (lambda a, b: log.append(a * b), (x, k)),
            (kept.square, (x,)),
            (kept.times, (x, 0.5)),
            (lambda: log.append(x * x), ()),
        ]
        for f, args in later:
            f(*args)
    return sum(v * (k + 1) for k, v in enumerate(log))


def static_methods(x):
    scales = Scales()
    Scales.through.calls, Scales.through.last = 0, 0.0
    total = sum(
        [scales.square(x) + scales.times(x, by=k) + Scales.square(x) * scales.through(x, y=k) for k in range(4)]
    )
    scales.square = lambda x: x * x * 7.0  # of the instance
    return total + scales.square(x) * Scales.through.last + Scales.through.calls


@pytest.mark.parametrize("f", [handlers, static_methods])
def test_what_is_called_by_any_number_of_arguments_and_without_an_object(f, monkeypatch):
    assert slope(f, 0.7) == pytest.approx(derivative(f, 0.7), rel=1e-8)
    twice = derivative(lambda x: slope(f, x), 0.7)
    assert slope(lambda x: python_pullback(f, (x,), {})[1](1.0)[0], 0.7) == pytest.approx(twice, rel=1e-6)
    monkeypatch.setattr(Scales, "square", lambda self, x: x * x * x)  # it is an instance's method now
    monkeypatch.setattr(Scales, "times", staticmethod(lambda x, by=1.0: x + by))
    if f is static_methods:
        return
    assert slope(f, 0.7) == pytest.approx(derivative(f, 0.7), rel=1e-8)


def numbers_of_functions(x):
    """Attributes of functions carry derivatives, between calls as well."""

    def step(y):
        step.total = step.total * 0.5 + y
        step.seen.append(y)
        return step.total

    step.total, step.seen = x * x, [x]
    for _ in range(3):
        x = step(x)
    del step.total
    return x + sum(step.seen) + getattr(step, "total", 2.0)


def keys_that_are_asked(x):
    """Methods of containers that compare, also with items of a class."""

    class Item:
        def __init__(self, x):
            self.x, self.asked = x, 0.0

        def __eq__(self, other):
            self.asked += self.x
            return self is other

    a = Item(x)
    plain = collections.OrderedDict([("a", x), ("b", x * x), ("c", 2.0)])
    for name in ("a", "b", "a"):
        plain.move_to_end(name)
    at = [a, "z"].index("z") + [x, 2.0].count(2.0) + (1.0, a).index(a)
    return a.asked * x * at + sum(v * k for k, v in enumerate(plain.values()))


def test_attributes_of_functions_and_keys_that_are_asked():
    assert slope(keys_that_are_asked, 0.7) == pytest.approx(derivative(keys_that_are_asked, 0.7), rel=1e-8)
    f = numbers_of_functions
    assert slope(f, 0.7) == pytest.approx(derivative(f, 0.7), rel=1e-8)
    assert slope(lambda x: slope(f, x), 0.7) == pytest.approx(derivative(lambda x: slope(f, x), 0.7), rel=1e-6)


WRONG_CALLS = [
    "next()", "sorted([x], [x])", "sum()", "len()", "abs(x, x)", "isinstance(x)", "enumerate()", "reversed([x], [x])", "getattr(x)",
    "math.sin(x, x)", "math.atan2(x)", "list([x], [x])", "float(x, x)", "map(abs)", "filter(abs)", "[x].append()", "[x].pop(0, 1)",
    "{}.get()", "{}.update({}, {})", "dict([], [])", "functools.reduce(max)", "sorted([x], other=1)", "math.sin(x=x)",
    "[x].sort(1)", "collections.deque().append()",
]  # fmt: skip


@pytest.mark.parametrize("call", WRONG_CALLS)
def test_arguments_that_builtin_functions_do_not_take(call):
    function = eval(f"lambda x: {call}")
    with pytest.raises(TypeError) as expected:
        function(1.0)
    for _ in range(2):
        with pytest.raises(TypeError, match=f"^{re.escape(str(expected.value))}$"):
            python_pullback(function, (1.0,), {})
