"""Exceptions that carry numbers out of a call are caught, whatever calls on behalf of the `try` body: the numbers' derivatives are those
of a plain call."""

from __future__ import annotations

import functools
import gc
import itertools
import operator
import weakref
from collections import defaultdict

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

pytestmark = each_in_turn


class Found(Exception):
    def __init__(self, value):
        super().__init__(value)
        self.value = value


def found(a, b=2.0, *rest, k=0.5, **more):
    y = a * b * k
    if y > -100.0:
        raise Found(y * y)
    return y


SEEN = []


def seen(a):
    SEEN.append(a * 3.0)
    if a > 2.0:
        raise Found(a * a)
    return a


def passing_all(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs)

    return inner


def raising_again(f):
    def inner(a, b):
        try:
            return f(a, b)
        except Found as error:
            raise Found(error.value * a) from error

    return inner


def partly(f):
    return lambda a, b: functools.partial(f, a)(b)


def plainly(a, b):
    raise Found(a * b * b)


decorated = passing_all(found)
cached = functools.lru_cache(maxsize=None)(found)


@functools.singledispatch
def by_class(x, y):
    raise Found(x * y)


class Asked:
    def __init__(self, v):
        self.v = v

    def __call__(self, x, *, k=1.0):
        raise Found(self.v * x * k)

    def __add__(self, other):
        raise Found(self.v * other)

    def __radd__(self, other):
        raise Found(self.v * other * 2.0)

    def __iadd__(self, other):
        raise Found(self.v * other * 7.0)

    def __divmod__(self, other):
        raise Found(self.v * other * 7.0)

    def __neg__(self):
        raise Found(self.v * self.v)

    def __abs__(self):
        raise Found(self.v * self.v * 2.0)

    def __lt__(self, other):
        raise Found(self.v * other)

    def __eq__(self, other):
        raise Found(self.v * other * 5.0)

    __hash__ = None

    def __contains__(self, item):
        raise Found(self.v * item * item)

    def __getitem__(self, key):
        raise Found(self.v * key * key)

    def __setitem__(self, key, value):
        raise Found(self.v * key * value)

    def __delitem__(self, key):
        raise Found(self.v * key * 3.0)

    def method(self, x):
        raise Found(self.v * x)

    @functools.singledispatchmethod
    def single(self, x):
        raise Found(self.v * x)


class Made:
    def __init__(self, x, y=1.0):
        raise Found(x * y * y)


class MadeNew:
    def __new__(cls, x):
        raise Found(x * x)


def steps(x):
    yield x
    raise Found(x * x * x)


def with_list(items):
    raise Found(items[0] * items[1])


def with_function(f):
    raise Found(f() ** 2)


def with_keyword(*, k):
    raise Found(k[0] * k[-1])


def iadd(x, y):
    a = Asked(x)
    a += y


def delete(x, y):
    del Asked(x)[y]


CASES = {
    "extra parameters": lambda x, y: found(x, y),
    "a list": lambda x, y: found(*[x, y]),
    "a list that is not written out": lambda x, y: found(*sorted([x, y])),
    "names": lambda x, y: found(*(x,), **{"b": y}),
    "further names": lambda x, y: found(*(x,), y, **{"z": y, "k": x}),
    "partial": lambda x, y: functools.partial(found, x)(y),
    "partial by name": lambda x, y: functools.partial(found, b=y)(x),
    "partials of partials": lambda x, y: functools.partial(lambda a, b: functools.partial(found, a * y)(b), x)(y),
    "partial again": lambda x, y: functools.partial(raising_again(partly(plainly)), x)(y),
    "partial, and names": lambda x, y: functools.partial(found, x)(b=y, k=x),
    "partial, and a star": lambda x, y: functools.partial(found, b=y)(*[x]),
    "decorated": lambda x, y: decorated(x, y),
    "decorated, by name": lambda x, y: decorated(x, b=y),
    "cached": lambda x, y: cached(x, y),
    "cached, by name": lambda x, y: cached(x, b=y),
    "single dispatch": lambda x, y: by_class(x, y),
    "single dispatch of a method": lambda x, y: Asked(x).single(y),
    "an object": lambda x, y: Asked(x)(y, k=y),
    "an object, by stars": lambda x, y: Asked(x)(*[y], **{"k": y}),
    "method by name": lambda x, y: Asked(x).method(**{"x": y}),
    "methodcaller": lambda x, y: operator.methodcaller("method", y)(Asked(x)),
    "add": lambda x, y: Asked(x) + y,
    "radd": lambda x, y: y + Asked(x),
    "iadd": iadd,
    "operator.add": lambda x, y: operator.add(Asked(x), y),
    "divmod": lambda x, y: divmod(Asked(x), y),
    "neg": lambda x, y: -Asked(x * y),
    "abs": lambda x, y: abs(Asked(x * y)),
    "lt": lambda x, y: Asked(x) < y,
    "gt": lambda x, y: y > Asked(x),
    "eq": lambda x, y: Asked(x) == y,
    "in": lambda x, y: y in Asked(x),
    "getitem": lambda x, y: Asked(x)[y],
    "itemgetter": lambda x, y: operator.itemgetter(3)(Asked(x * y)),
    "setitem": lambda x, y: operator.setitem(Asked(x), y, x),
    "delitem": delete,
    "default factory": lambda x, y: defaultdict(lambda: found(x, y))["a"],
    "init": lambda x, y: Made(*[x], **{"y": y}),
    "new": lambda x, y: MadeNew(x * y),
    "sum of map": lambda x, y: sum(map(found, [x, x], [y, y])),
    "list of map of tuples": lambda x, y: list(map(found, (x, x), [y, y])),
    "loop over map": lambda x, y: [2.0 * z for z in map(found, [x], [y])],
    "next of map": lambda x, y: next(map(found, [x], (y,))),
    "starmap": lambda x, y: list(itertools.starmap(found, [(x, y)])),
    "starmap of lists": lambda x, y: list(itertools.starmap(found, ([x, y], [x, x]))),
    "filter": lambda x, y: list(filter(lambda z: found(z, y), [x, y])),
    "takewhile": lambda x, y: list(itertools.takewhile(found, [x * y, y])),
    "accumulate": lambda x, y: list(itertools.accumulate([x, y], found)),
    "accumulate from": lambda x, y: list(itertools.accumulate((x, y), found, initial=y)),
    "reduce": lambda x, y: functools.reduce(found, [x, y]),
    "reduce of a generator": lambda x, y: functools.reduce(lambda a, b: seen(a * b), (z for z in (x, 2.0 * x, y, 9.0))),
    "sorted": lambda x, y: sorted([x, y], key=found),
    "sorted tuple": lambda x, y: sorted((z for z in (x, y)), key=found),
    "sort": lambda x, y: [x, y].sort(key=found),
    "min": lambda x, y: min([x, y], key=found),
    "max by items that raise": lambda x, y: max([Asked(x), Asked(y)], key=lambda v: v[1.5]),
    "seen before: sum of map": lambda x, y: sum(map(seen, [x, y, 5.0 * x, y])),
    "seen before: list of map": lambda x, y: list(map(seen, (x, y, 5.0 * x, y))),
    "seen before: sorted": lambda x, y: sorted([x, y, 5.0 * x, y], key=seen),
    "seen before: reduce": lambda x, y: functools.reduce(lambda a, b: seen(b) + a, [x, y, 5.0 * x, y]),
    "seen before: filter": lambda x, y: sum(filter(seen, (z for z in (x, y, 5.0 * x)))),
    "sum of a generator": lambda x, y: sum(found(z, y) for z in [x]),
    "a generator": lambda x, y: [a * b for a, b in zip(steps(x * y), [y, y])],
    "what was sent to a generator": lambda x, y: drive(told(y), x * y),
    "what was sent to a generator within another": lambda x, y: drive(telling(x), x * y),
    "what was sent to a generator, by a name": lambda x, y: (lambda send: send(x))(begun(told(y)).send),
    "a list as argument": lambda x, y: with_list([x, y]),
    "a tuple as argument": lambda x, y: with_list((x, y)),
    "a lambda as argument": lambda x, y: with_function(lambda z=x: z * y),
    "a tuple by name": lambda x, y: with_keyword(k=(x, y)),
}  # fmt: skip


def told(k):
    a = yield k
    b = yield a * k
    raise Found(a * b * k)


def telling(k):
    yield from told(k)


def begun(generator):
    next(generator)
    generator.send(3.0)
    return generator


def drive(generator, x):
    first = next(generator)
    return generator.send(generator.send(x) * first)


def caught(body):
    def f(x, y):
        SEEN.clear()
        try:
            body(x, y)
        except Found as error:
            return error.value * y + sum(SEEN)
        return -1.0

    return f


@pytest.mark.parametrize("body", CASES.values(), ids=list(CASES))
def test_numbers_of_exceptions_have_their_derivatives(body):
    f = caught(body)
    x, y, h = 1.5, 0.7, 1e-6
    wanted = (f(x + h, y) - f(x - h, y)) / (2 * h), (f(x, y + h) - f(x, y - h)) / (2 * h)
    for _ in range(2):  # what is called at a place is remembered there
        value, back = python_pullback(f, (x, y), {})
        assert value == f(x, y) != -1.0
        assert [c or 0.0 for c in back(1.0)] == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def checkpointed(x, y):
    try:
        return zyg.checkpoint(plainly, x, y)
    except Found as error:
        return error.value * x


def test_what_a_checkpointed_function_raises_has_its_derivative():
    """(nothing came to the arguments)"""
    assert python_pullback(checkpointed, (1.5, 0.7), {})[1](1.0) == pytest.approx((2 * 1.5 * 0.49, 2 * 1.5**2 * 0.7))


def written_out(x, y):
    try:
        with_list([x, y])
    except Found as error:
        return error.value * y


def second(x, y):
    try:
        decorated(x, b=y)
    except Found as error:
        return error.value * y * x


def test_what_is_made_for_a_call_that_raises_is_undone():
    """A list or tuple that was written out as an argument, behind the name of a global: its items had no derivative."""
    assert python_pullback(written_out, (1.5, 0.7), {})[1](1.0) == pytest.approx((0.49, 2 * 1.5 * 0.7))


def sent(x, y):
    try:
        return drive(told(y), x)
    except Found as error:
        return error.value * y * x


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("f", [written_out, second, sent], ids=lambda f: f.__name__)
def test_second_derivatives(f):
    h = 1e-5
    slope = lambda x: python_pullback(f, (x, 0.7), {})[1](1.0)[0]
    found = python_pullback(slope, (1.5,), {})[1](1.0)[0]
    assert (found or 0.0) == pytest.approx((slope(1.5 + h) - slope(1.5 - h)) / (2 * h), abs=1e-5)


def kept_by_an_operand(x, y):
    try:
        [1.0, 2.0].index(Asked(x))
    except Found as error:
        return error.value * y


def test_what_is_not_known_to_come_back_is_refused():
    with pytest.raises(zyg.Unsupported, match="passes to Python code"):
        python_pullback(kept_by_an_operand, (1.5, 0.7), {})[1](1.0)


def keyed(x, y):
    try:
        return max(x, y, key=found)
    except Found as error:
        return error.value * y


def of_a_refusal(x, y):
    try:
        return zyg.gradient(keyed, x, y)[0]
    except Exception as error:
        return error.args[0] * 0.5


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_a_refusal_is_not_for_handlers_that_fail_with_it():
    """(what the handler raised came out, a TypeError of text times 0.5)"""
    with pytest.raises(zyg.Unsupported, match="left by an exception"):
        python_pullback(of_a_refusal, (1.5, 0.7), {})
    assert python_pullback(lambda x: x * x, (2.0,), {})[1](1.0) == (4.0,)


# Calls with stars among their arguments.


class Finder:
    def __init__(self, a=1.0, *rest, k=2.0):
        self.a = a
        if rest:
            found(a, *rest, k=k)

    def find(self, *given, **more):
        return found(self.a, *given, **more)

    def __call__(self, a, b, c):
        return found(a * self.a, b, c, k=c)


STARRED = {
    "behind": lambda f, x, y, rest: f(x, *rest),
    "in front": lambda f, x, y, rest: f(*rest, y),
    "twice": lambda f, x, y, rest: f(*rest, *rest),
    "between": lambda f, x, y, rest: f(x, *rest, y, *rest, x),
    "keyword": lambda f, x, y, rest: f(x, *rest, k=y),
    "keywords": lambda f, x, y, rest: f(*rest, y, k=x, j=y),
    "list": lambda f, x, y, rest: f(x, *list(rest)),
    "list and keyword": lambda f, x, y, rest: f(*list(rest), *rest, k=y),
    "method": lambda f, x, y, rest: Finder(x).find(*rest, y, k=x),
    "class": lambda f, x, y, rest: Finder(x, *rest, k=y).a,
    "object": lambda f, x, y, rest: Finder(x)(y, *rest),
    "decorated": lambda f, x, y, rest: functools.partial(f, x)(*rest, y),
}


def retried(call, f):
    def run(x, y):
        rest = x * y, y
        total = 0.0
        for _ in range(2):
            try:
                total = total + call(f, x, y, rest)
            except Found as error:
                total = total + error.value
                rest = error.value * 0.1, rest[0]
        return total * x

    return run


def in_place(x, y):
    rest = x * y, y
    try:
        return found(x, *rest, k=y)
    except Found as error:
        x = error.value
    try:
        return found(*rest, x) * y
    except Found as error:
        return error.value * x


@pytest.mark.parametrize("name", [*STARRED, "in place"])
def test_stars(name):
    f = in_place if name == "in place" else retried(STARRED[name], found)
    value, back = python_pullback(f, (0.8, 0.7), {})
    assert value == f(0.8, 0.7)
    assert back(1.0) == pytest.approx(differences.gradient(f, 0.8, 0.7), rel=1e-6)


# Setters that refuse a value, and raise with it.


class Checked:
    def __init__(self, w):
        self._w = w

    @property
    def w(self):
        return self._w

    @w.setter
    def w(self, value):
        if value < 0.0:
            raise Found(value)
        self._w = value * 2.0


class CheckedBySetattr:
    def __init__(self, w):
        self.w = w

    def __setattr__(self, name, value):
        if value < 0.0:
            raise Found(value)
        super().__setattr__(name, value)


class NotNegative:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, cls=None):
        return getattr(instance, self.name)

    def __set__(self, instance, value):
        if value < 0.0:
            raise Found(value)
        setattr(instance, self.name, value)


class CheckedByDescriptor:
    w = NotNegative()

    def __init__(self, w):
        self.w = w


def assigned(thing, value):
    thing.w = value


def set_by_name(thing, value):
    thing.w = value


def set_by_object(thing, value):
    object.__setattr__(thing, "w", value)


def set_in_place(thing, value):
    thing.w += value


@pytest.mark.parametrize("put", [assigned, set_by_name, set_by_object, set_in_place])
@pytest.mark.parametrize("cls", [Checked, CheckedBySetattr, CheckedByDescriptor])
def test_setters(cls, put):
    def f(x, y):
        thing, total = cls(x), 0.0
        for value in (y, -3.0 * x, 2.0 * x, -5.0 * x * y):
            try:
                put(thing, value)
            except Found as error:
                total = total * y + error.value * thing.w
        try:
            thing.w = -x
        except Found as error:
            total = total + error.value
        try:
            cls(x).w = -y * x
        except Found as error:
            total = total * error.value
        return total * thing.w

    value, back = python_pullback(f, (0.8, 0.7), {})
    assert value == f(0.8, 0.7)
    assert back(1.0) == pytest.approx(differences.gradient(f, 0.8, 0.7), rel=1e-6)


RATE = LEVEL = 1.0


def put(values, x):
    values.append(x * x)
    raise Found(x)


def test_global_variables_as_arguments():
    """What a call did that raised goes to the global variables that it was given, which are read in the call's block."""

    def f(x):
        global RATE, LEVEL
        RATE, LEVEL = x * 2.0, x * x
        values = []
        for again in range(3):
            try:
                put(values, RATE * LEVEL if again == 1 else LEVEL)
            except Found:
                LEVEL = LEVEL * 1.5
        try:
            put(values, RATE)
        except Found as error:
            return sum(values) * error.value
        return x

    value, back = python_pullback(f, (1.5,), {})
    assert value == f(1.5)
    assert back(1.0) == pytest.approx(differences.gradient(f, 1.5), rel=1e-6)


class SetBefore(Exception):
    """Its own attribute `value`, which is that of StopIteration elsewhere, is set before its arguments are."""

    def __init__(self, first, value):
        self.value = value
        super().__init__(first)


def attribute_set_before_arguments(x, y):
    try:
        raise SetBefore(x * 2.0, y * 3.0)
    except SetBefore as error:
        return error.value * x + error.args[0] * y


def test_an_attribute_that_is_set_before_the_arguments():
    assert python_pullback(attribute_set_before_arguments, (2.0, 5.0), {})[1](1.0) == (25.0, 10.0)


def test_exceptions_are_not_kept_where_no_call_lets_go_of_them():
    gone = []

    class Noted(Exception):
        pass

    def f(x):
        try:
            raise Noted(x)
        except Noted as error:
            gone.append(weakref.ref(error))
            return error.args[0] * x

    _, back = python_pullback(f, (3.0,), {})
    assert back(1.0) == (6.0,)
    del back
    gc.collect()
    assert gone[0]() is None
