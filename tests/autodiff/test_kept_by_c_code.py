# ruff: noqa: SIM105, SIM115, UP013 (programs as users write them)
"""What code in C keeps of what it is given: sets, copies, exceptions, classes of dicts, sequences with fields, generic classes."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import inspect
import os
import pickle
import sys
import time
import types
import typing
from unittest import mock

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]

X = 1.3


class Bag(set):
    pass


class Frozen(frozenset):
    pass


class Odd(set):
    """Is gone through by Python in its own way, and by C code as a set."""

    def __iter__(self):
        return iter([])


class Settings(typing.TypedDict, total=False):
    rate: float
    momentum: float


Called = typing.TypedDict("Called", {"a": float})


class Slots:
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v


@dataclasses.dataclass
class Pair:
    s: object
    t: float


class Wrong(OSError):
    def __init__(self, number, text):
        super().__init__(number, text)
        self.text = text


class Twice(SystemExit):
    def __init__(self, x):
        super().__init__(2.0 * x)


def work_set(x):
    work = {x}
    total, count = 0.0, 0
    while work:
        v = work.pop()
        total += v * v
        count += 1
        if count < 4:
            work.add(v * 2.0)
    return total


def pairs_in_a_set(x):
    s = {(x, "a"), (3.0 * x, "b")}
    return s.pop()[0] * s.pop()[0]


def popped_and_put_back(x):
    s = {x}
    v = s.pop()
    s.add(v)
    return v * s.pop() * max(copy.copy({v}))


def popped_by_methods(x):
    s = Bag([x, 2.0 * x])
    pop = s.pop
    return pop() * set.pop(s)


def changed_behind_an_operator(x):
    a, b = {x}, {3.0 * x}
    u, rest = a | b, a - b
    a.clear()
    a.add(1.0)
    return sum(v * v for v in u) * rest.pop()


def in_place(x):
    s = {x, 100.0, 7.0}
    s -= {7.0}
    s ^= {100.0, x * x}
    s |= {5.0 * x}
    s &= {x, 5.0 * x, 6.0}
    return sum(v * v for v in s)


def updated(x):
    s = {x, 100.0, 7.0, 8.0, 9.0}
    s.difference_update({7.0}, [8.0], (v for v in (9.0,)))
    s.symmetric_difference_update([100.0, x * x])
    s.intersection_update([x, 5.0], {x, 6.0}, iter([x]))
    s.update([x * x], {4.0 * x})
    return sum(v * v for v in s)


def new_sets(x):
    total = 0.0
    for kind in (set, frozenset, Bag, Frozen):
        s = kind([x, 100.0])
        total += sum(v * v for v in s.union([x * x], {2.0 * x})) + max(s.intersection([x], {x}))
        total += min(s.difference([100.0])) ** 2 + sum(s.symmetric_difference((100.0, 3.0 * x)))
        total += sum(v * v for v in s.copy()) + sum(v * v for v in s | {x**3}) + min(s & {x}) + min(s - {7.0})
    return total


def special_methods(x):
    s = {1.0}
    s.__ior__({x})
    return sum(s) * sum(frozenset.__ror__(frozenset([x]), {2.0 * x})) * sum({1.0} ^ frozenset([x]))


def left_by_an_exception(x):
    def items():
        yield x
        raise ValueError

    s = {2.0 * x}
    try:
        s.update([3.0 * x], items())
    except ValueError:
        pass
    try:
        s.symmetric_difference_update(items())
    except ValueError:
        return sum(v * v for v in s)


def code_of_exit(x):
    try:
        sys.exit(x)
    except SystemExit as e:
        return e.code * e.args[0]


def codes_of_exit(x):
    try:
        sys.exit((x, 2.0 * x))
    except SystemExit as e:
        return e.code[1] * e.args[0]


def no_code(x):
    try:
        sys.exit()
    except SystemExit as e:
        return x if e.code is None and e.args == () else 0.0


def raised(error, read):
    def program(x):
        try:
            raise error(x)
        except BaseException as e:
            return read(e)

    return program


def set_again(x):
    e = OSError(1, "a")
    e.errno = x
    e.errno = e.errno * x
    return e.errno


def attribute_of_an_attribute_error(x):
    o = Slots([x])
    try:
        return o.missing
    except AttributeError as e:
        return e.obj.v[0] ** 2


def errors_of_the_interpreter(x):
    try:
        open("/there/is/no/such/file")
    except OSError as e:
        number = e.errno
    try:
        return undefined
    except NameError as e:
        return number * len(e.name) * x


def keys_that_are_copied(x):
    key = Slots(1.0)
    return sum(copy.deepcopy({key: x}).values()) * max(copy.deepcopy({(key, 2.0 * x)}))[1]


Metres = typing.NewType("Metres", float)


class Numbers(list):
    pass


class Plain(dict):
    pass


class Doubling(collections.OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, 2.0 * value)


class Counting(type):
    def __len__(cls):
        return 3

    def __call__(cls, *args):
        return super().__call__(*args)


class Counted(metaclass=Counting):
    def __init__(self, v):
        self.v = v


class Namespace(types.SimpleNamespace):
    pass


class Begun(types.SimpleNamespace):
    def __init__(self, x):
        super().__init__(a=x)


def pickled_before(x):
    numbers = [1.0]
    written = pickle.dumps(numbers)
    numbers[0] = x
    return pickle.loads(written)[0] * numbers[0] ** 2


PROGRAMS = {
    "pop": lambda x: {x}.pop() * 2.0,
    "work set": work_set,
    "pairs": pairs_in_a_set,
    "popped and put back": popped_and_put_back,
    "popped by methods": popped_by_methods,
    "changed behind an operator": changed_behind_an_operator,
    "in place": in_place,
    "updated": updated,
    "new sets": new_sets,
    "special methods": special_methods,
    "left by an exception": left_by_an_exception,
    "unions of many": lambda x: sum(v * v for v in set().union(*[{x}, [2.0 * x], (3.0 * x,)])),
    "reduced": lambda x: sum(functools.reduce(set.union, [{x}, {2.0 * x}, {3.0 * x}])),
    "set with an iterator": lambda x: sum({1.0} | Odd([x])) * sum(set().union(Odd([x]))) * sum({5.0}.__or__(Odd([x]))),
    "typed dict": lambda x: Settings(rate=x, momentum=2.0 * x)["momentum"] ** 2,
    "typed dict of a dict": lambda x: Settings({"rate": x})["rate"] ** 2,
    "typed dict of pairs": lambda x: Settings([("rate", x)], momentum=3.0 * x)["momentum"] ** 2,
    "typed dict spread": lambda x: Settings(**{"rate": x, "momentum": 2.0})["rate"] ** 2,
    "typed dict called": lambda x: Called(a=x)["a"] ** 2,
    "typed dict in a partial": lambda x: functools.partial(Settings, rate=x)()["rate"] ** 2,
    "deepcopy of a frozen set": lambda x: max(copy.deepcopy(frozenset([x, 0.5]))) ** 2,
    "deepcopy of its subclass": lambda x: max(copy.deepcopy(Frozen([x, 0.5]))) * max(copy.copy(Frozen([x]))),
    "deepcopy of nested ones": lambda x: max(max(copy.deepcopy([frozenset([frozenset([x])])])[0])) ** 2,
    "deepcopy in a tuple": lambda x: max(copy.deepcopy((frozenset([x]), 1.0))[0]) ** 2,
    "deepcopy in an object": lambda x: max(copy.deepcopy(types.SimpleNamespace(v=frozenset([x]))).v) ** 2,
    "deepcopy of slots": lambda x: copy.deepcopy(Slots([x])).v[0] ** 2,
    "deepcopy of keys": keys_that_are_copied,
    "deepcopy of an exception": lambda x: (
        copy.deepcopy(SystemExit(x)).code * copy.deepcopy(ValueError(1, [x])).args[1][0]
    ),
    "asdict": lambda x: max(dataclasses.asdict(Pair(frozenset([x]), 1.0))["s"]) ** 2,
    "astuple": lambda x: max(dataclasses.astuple(Pair(frozenset([x]), 1.0))[0]) ** 2,
    "code": lambda x: SystemExit(x).code ** 2,
    "codes": lambda x: SystemExit(x, 3.0 * x).code[1] ** 2,
    "raised code": raised(lambda x: SystemExit(3.0 * x), lambda e: e.code * e.args[0]),
    "code of exit": code_of_exit,
    "codes of exit": codes_of_exit,
    "no code": no_code,
    "errno": raised(lambda x: OSError(x, "a", 2.0 * x), lambda e: e.errno * e.filename * e.args[0]),
    "derived": raised(lambda x: Wrong(x, 2.0 * x), lambda e: e.errno * e.strerror * e.text),
    "derived code": raised(Twice, lambda e: e.code * e.args[0]),
    "name": lambda x: NameError("a", name=x).name ** 2 * AttributeError("a", obj=x).obj,
    "import": lambda x: (
        ImportError(x, name=x, path=2.0 * x).name * ModuleNotFoundError("a", path=x).path * ImportError(x).msg
    ),
    "lineno": lambda x: (
        SyntaxError("a", ("f", x, 2.0 * x, "t")).lineno * SyntaxError("a", ("f", x, 2.0 * x, "t")).offset
    ),
    "set again": set_again,
    "with_traceback": lambda x: ValueError(x).with_traceback(None).args[0] ** 2,
    "attribute of an attribute error": attribute_of_an_attribute_error,
    "errors of the interpreter": errors_of_the_interpreter,
    "struct_time": lambda x: time.struct_time((x, *(0,) * 8)).tm_year * time.struct_time((0, x, *(0,) * 7))[1],
    "stat_result": lambda x: os.stat_result((1, x, *(0,) * 8)).st_ino ** 2,
    "terminal_size": lambda x: os.terminal_size((x, 2)).columns ** 2,
}
PROGRAMS |= {
    "new type": lambda x: Metres(x) ** 2,
    "list[float]": lambda x: list[float]([x])[0] * list[float](v for v in [x])[0],
    "dict[str, float]": lambda x: dict[str, float](a=x)["a"] * dict[str, float].fromkeys("ab", x)["b"],
    "tuple[float]": lambda x: tuple[float]((x,))[0] * max(set[float]([x])) * max(frozenset[float]([x])),
    "deque[float]": lambda x: collections.deque[float]([x])[0] ** 2,
    "defaultdict[str, float]": lambda x: collections.defaultdict[str, float](float, a=x)["a"] ** 2,
    "a generic list": lambda x: Numbers[float]([x])[0] ** 2 if Numbers[float]([x]).__orig_class__ else 0.0,
    "fromkeys": lambda x: (
        collections.OrderedDict.fromkeys("ab", x)["a"] * collections.defaultdict.fromkeys("ab", x)["b"]
    ),
    "fromkeys of a class": lambda x: Doubling.fromkeys("ab", x)["a"] * Plain.fromkeys("ab", x)["b"],
    "divmod": lambda x: x.__divmod__(0.3)[1] * x.__rdivmod__(20.5)[1],
    "metaclass": lambda x: Counted(x).v ** 2 * len(Counted),
    "pickled constants": lambda x: pickle.loads(pickle.dumps({"a": 2.5}))["a"] * x**2,
    "pickled before": pickled_before,
    "namespace": lambda x: Namespace(a=x).a * Namespace(a=2.0, b=x).b * Begun(x).a,
    "mock": lambda x: mock.Mock(a=x).a * mock.Mock(return_value=x)(3.0),
    "frames": lambda x: x**2 * len(sys._getframe().f_code.co_name) * inspect.currentframe().f_lineno,
}

# Natively, or by a tie in the differences, there is no second derivative to compare with; a left call is refused in second ones.
FIRST_ONLY = {"code of exit", "codes of exit", "no code"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivative(name):
    program = PROGRAMS[name]
    value, (gradient,) = zyg.withgradient(program, X)
    expected = differences.derivative(program, X)
    assert value == program(X)
    assert gradient == pytest.approx(expected, rel=1e-7)
    assert zyg.jvp(program, (X,), (2.0,))[1] == pytest.approx(2.0 * expected, rel=1e-7)


@each_in_long_turn
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in FIRST_ONLY])
def test_second_derivative(name):
    program = PROGRAMS[name]
    got = zyg.gradient(zyg.grad(program), X)[0] or 0.0
    assert got == pytest.approx(differences.derivative(zyg.grad(program), X), rel=1e-6, abs=1e-7)


def object_that_has_no_such_attribute(x):
    try:
        return x.missing
    except AttributeError as e:
        return e.obj * 2.0


def variables_of_a_frame(x):
    y = 2.0 * x  # noqa: F841
    return sys._getframe().f_locals["y"]


def variables_of_a_traceback(x):
    def f(y):
        raise ValueError(y)

    try:
        f(2.0 * x)
    except ValueError as e:
        return e.__traceback__.tb_next.tb_frame.f_locals["y"]


def frame_of_a_generator(x):
    items = (v for v in [x])
    return next(items) if items.gi_frame is not None else 0.0


def copied_iterator(x):
    items = iter((x, 2.0 * x))
    return next(copy.copy(items)) * next(items)


REFUSED = {
    "frame": (variables_of_a_frame, "local variables of a frame"),
    "traceback": (variables_of_a_traceback, "local variables of a frame"),
    "generator": (frame_of_a_generator, "frame of a generator"),
    "iterator": (copied_iterator, r"copy\.copy of an iterator"),
    "pickled": (lambda x: pickle.loads(pickle.dumps({"a": [x]}))["a"][0] * 2.0, r"`pickle\.loads` of what"),
    "reduce": (lambda x: ValueError(x).__reduce__()[1][0] * 2.0, r"ValueError\.__reduce__"),
    "set reduce": (lambda x: {x}.__reduce__()[1][0][0] * 2.0, r"set\.__reduce__"),
    "attribute error": (object_that_has_no_such_attribute, "arguments of an AttributeError"),
    "st_atime": (lambda x: os.stat_result((*(1,) * 7, x, 2.0, 3.0)).st_atime * 2.0, "`st_atime` of a stat_result"),
    "alias": (lambda x: types.GenericAlias(list, (x,)).__args__[0] * 2.0, r"types\.GenericAlias"),
    "list[x]": (lambda x: list[x].__args__[0] * 2.0, r"list\[...\] of a number"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    program, message = REFUSED[name]
    with pytest.raises(zyg.Unsupported, match=message):
        zyg.gradient(program, X)
    if name not in (
        "attribute error",
        "frame",
        "traceback",
        "generator",
        "iterator",
    ):  # of what the interpreter raises it is not known where it is from
        assert zyg.gradient(lambda x: program(2.0) * 0.0 + x, X) == (1.0,)


def test_annotations_with_numbers():
    """Python code makes them from 3.13 on."""
    program = lambda x: typing.Annotated[int, x].__metadata__[0] * 2.0
    if sys.version_info >= (3, 13):
        assert zyg.gradient(program, X) == (2.0,)
    else:
        with pytest.raises(zyg.Unsupported, match=r"Annotated\[...\] of a number"):
            zyg.gradient(program, X)
