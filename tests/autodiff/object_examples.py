# ruff: noqa: B023, C405, C409, C410, C416, C418, RUF034 (the examples use each function in all of its forms)
"""Uses of what the run-time rules of the Python back end know, one expression each: functions of a number near 0.7.

`tests/autodiff/test_objects_entries.py` checks that every entry of the tables is used by one of them.
"""

from __future__ import annotations

import array
import cmath
import contextlib
import contextvars
import copy
import dataclasses
import functools
import itertools
import math
import operator
import random
import sys
import types
import typing
import weakref
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from typing import NamedTuple

import numpy as np

import zyg

_LA = np.linalg


def matrix(x):
    return np.array([[x, 1.0, 0.2], [0.5, x * x, 2.0], [0.3, -1.0, 3.0 + x]])


def vector(x):
    return np.array([x, 2.0 * x, -1.0 - x])


def changed(make, change, result):
    """A program that makes a container, changes it by a method, and takes a number from it."""

    def program(x):
        c = make(x)
        change(c, x)
        return result(c)

    return program


def weighted(c):
    total = 0.0
    for k, v in enumerate(c):
        total += (k + 1.5) * v * v
    return total


def total(d):
    return sum((len(k) + 1.0) * v * v for k, v in d.items())


def sum_of_sets(a, b):
    made = a.union(b), a.intersection(b, [9.0]), a.difference(b), a.symmetric_difference(b), a.copy()
    return sum((k + 1.5) * sum(v * v for v in s) for k, s in enumerate(made))


def sum_by_operators(a, b):
    made = (
        a.__or__(b),
        a.__ror__(b),
        a.__and__(b),
        a.__rand__(b),
        a.__sub__(b),
        a.__rsub__(b),
        a.__xor__(b),
        a.__rxor__(b),
    )
    return sum((k + 1.5) * sum(v * v for v in s) for k, s in enumerate(made))


def code_of_exit(x):
    try:
        sys.exit(x * x)
    except SystemExit as e:
        return e.code * x


class Namespace(types.SimpleNamespace):
    b = 2.0


class Begun(types.SimpleNamespace):
    def __init__(self, x):
        super().__init__(a=x * x)


class Meta(type):
    def __new__(cls, name, bases, namespace):
        return super().__new__(cls, name, bases, namespace)

    def __init__(cls, name, bases, namespace):
        super().__init__(name, bases, namespace)
        cls.twice = 2.0 * namespace["k"]


def made_by_a_metaclass(x):
    class C(metaclass=Meta):
        k: float = x * x
        m = k

    return C.k * C.m * C.twice


def pairwise_sum(pairs):
    return sum(a * b for a, b in pairs)


class Bag:
    def __init__(self, v):
        self.v = v

    def scaled(self, k):
        return self.v * k


def deleted(x):
    b = Bag(x)
    b.w = 3.0 * x
    first = b.w
    delattr(b, "w")
    setattr(b, "".join([b"".join([b"w"]).decode()]), x * x)
    return first * b.w * getattr(b, "missing", x) if hasattr(b, "w") else x


def flat(a):
    return float((a * np.arange(1.0, a.size + 1.0).reshape(a.shape)).sum())


def filled(x):
    a = np.zeros((2, 2))
    a.fill(x * x)
    return flat(a)


def sorted_in_place(x):
    a = vector(x)
    a.sort()
    return flat(a)


def written(x):
    a = vector(x)
    a[1:] = a[:-1] * x
    a[0] += a[2]
    a *= 2.0
    a /= x + 2.0
    a -= 0.1
    a **= 2
    return flat(a)


def out_argument(x):
    a = np.zeros(3)
    np.multiply(vector(x), x, out=a)
    return flat(a)


def default_of_next(x):
    it = iter([x, 2.0 * x])
    return next(it) * next(it, 5.0) + next(it, x * 3.0)


def until(x):
    values = [x, x * x, 3.0]
    return weighted(iter(lambda: values.pop(0), 3.0))


def exception(x):
    try:
        raise ValueError(x * 2.0)
    except ValueError as error:
        return error.args[0] * x


class Own(ValueError):
    def __init__(self, x):
        super().__init__(x * 3.0)


def number_methods(x):
    total = x * 0.0
    for name in "add sub mul truediv floordiv mod pow".split():
        for form in (f"__{name}__", f"__r{name}__"):
            total += getattr(x, form)(2.0) + getattr(3, form)(2) * x
            if name not in ("floordiv", "mod"):
                total += (getattr(complex(x, 2.0), form)(1.5 + 0.5j) * (1 - 2j)).real
    for form in ("__neg__", "__pos__", "__abs__"):
        total += getattr(x, form)() * x + getattr(3, form)() * x + abs(getattr(complex(x, 2.0), form)())
    return total + float.__mul__(x, x) + (x.__add__("") is NotImplemented)


def added_at(x):
    a = np.zeros(3)
    np.add.at(a, [0, 2, 0], vector(x))
    np.subtract.at(a, np.array([1, 1]), x * x)
    return flat(a)


def namespaces(x):
    n = types.SimpleNamespace(a=x, b=x * x)
    n.c = n.a * n.b
    return n.c * n.__dict__["b"] * vars(n)["a"]


def named_tuples(x):
    class Inside(NamedTuple):
        a: float
        b: float = x * x

    made = namedtuple("made", "a b c", defaults=[x, x * x])(x)
    return Inside(x).b * Inside(x, 2.0).b + made.a * made.b * made.c


MODULE = types.ModuleType("module")
exec("held = 1.0\ndef get(): return held\ndef put(v):\n global held\n held = v", MODULE.__dict__)


def module_variables(x):
    MODULE.put(x * x)
    total = MODULE.held * MODULE.get() * vars(MODULE)["held"]
    MODULE.held = x
    total += MODULE.get()
    vars(MODULE)["held"] = x * total
    return total * MODULE.held


VARIABLE = contextvars.ContextVar("variable", default=2.0)


def context_variables(x):
    first = VARIABLE.set(x * x)
    second = VARIABLE.set(VARIABLE.get() * x)
    total = VARIABLE.get() * x
    VARIABLE.reset(second)
    total += VARIABLE.get() * 3.0
    VARIABLE.reset(first)
    third = contextvars.ContextVar("third", default=x * x)
    total += third.get() * third.get(5.0) + third.get()
    return total + VARIABLE.get() * x + contextvars.ContextVar("other").get(x * x)


@contextlib.contextmanager
def scope(x, log):
    yield 2.0 * x
    log.append(x)


def context_managers(x):
    log = [x]
    with scope(x * x, log) as y, scope(y, log=log) as z:
        x *= y
    manager = scope(z, log)
    z *= type(manager).__enter__(manager)  # as ExitStack calls them
    type(manager).__exit__(manager, None, None, None)
    return sum(log) * x + z


def weak_references(x):
    bag = Bag(x)
    weak, end, proxy = weakref.ref(bag), weakref.finalize(bag, print), weakref.proxy(bag)
    end.detach()
    total = weak().v * x + isinstance(proxy, weakref.ProxyTypes)
    bag.extra, bag.more = total, x
    object.__delattr__(bag, "extra")
    bag.__delattr__("more")
    return total * (2.0 if hasattr(bag, "extra") or hasattr(bag, "more") else 3.0)


def counted(x):
    h, _ = np.histogram(vector(x), 2)
    return flat(np.bincount([0, 2, 0], vector(x), 4)) + float(h[0]) * x + np.bincount([1, 1])[1] * x


def view_of_a_buffer(x):
    a = vector(x) * x
    b = np.ndarray((2,), float, a.data, 8)
    b[0] *= x
    return flat(a) + flat(b)


@dataclasses.dataclass(frozen=True)
class FrozenPair:
    a: float
    b: float


class Doubling:
    __slots__ = ("v",)

    def __init__(self, v):
        object.__setattr__(self, "v", v)

    def __setattr__(self, name, value):
        for set_plainly in [super().__setattr__]:  # (called at once it would not be bound)
            set_plainly(name, value * 2.0)

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


def set_in_two_ways(x):
    made = Doubling(x * x)
    first = made.v
    made.v = x
    return first * x + made.v


class Reals(list):
    def __init__(self, values):
        list.__init__(self, values)

    def __getitem__(self, k):
        return super().__getitem__(k) * 2.0

    def __setitem__(self, k, v):
        super().__setitem__(k, v + 1.0)

    def __delitem__(self, k):
        super().__delitem__(k)

    def __iter__(self):
        return super().__iter__()


class Table(dict):
    def __init__(self, **values):
        dict.__init__(self, **values)

    def __getitem__(self, k):
        return super().__getitem__(k) * 2.0

    def __setitem__(self, k, v):
        super().__setitem__(k, v * v)

    def __delitem__(self, k):
        super().__delitem__(k)

    def __iter__(self):
        return super().__iter__()


class Queue(deque):
    def __getitem__(self, k):
        return super().__getitem__(k) * 2.0

    def __setitem__(self, k, v):
        super().__setitem__(k, v * v)

    def __delitem__(self, k):
        super().__delitem__(k)

    def __iter__(self):
        return super().__iter__()


class Row(array.array):
    def __getitem__(self, k):
        return super().__getitem__(k) * 2.0

    def __setitem__(self, k, v):
        super().__setitem__(k, v * v)

    def __delitem__(self, k):
        super().__delitem__(k)

    def __iter__(self):
        return super().__iter__()


class Pair(tuple):
    def __new__(cls, a, b):
        return tuple.__new__(cls, (a, b))

    def __getitem__(self, k):
        return super().__getitem__(k) * 2.0

    def __iter__(self):
        return super().__iter__()


class Real(float):
    def __new__(cls, x):
        return float.__new__(cls, x)


def subclassed(make):
    def program(x):
        c = make(x)
        c[0] = x
        first = c[1] * c[0]
        del c[0]
        return first + weighted(c)

    return program


class Counting(list):
    """Overrides what it calls in its base."""

    calls = 0

    def append(self, v):
        super().append(v * 2.0)
        self.calls += 1

    def extend(self, values):
        super().extend(values)
        self.calls += 1

    def insert(self, at, v):
        super().insert(at, v)
        self.calls += 1

    def pop(self, at=-1):
        return super().pop(at) * 3.0


class Updating(dict):
    def update(self, other):
        super().update(other)
        self["n"] = self["n"] * 2.0


def overridden(x):
    c = Counting([x])
    c.append(x * x)
    c.extend([x])
    c.insert(0, 3.0 * x)
    d = Updating(n=x)
    d.update({"m": x})
    return weighted(c) * c.pop() + total(d) * c.calls


class Made:
    """Objects of a class that makes them by `__new__`."""

    def __new__(cls, v):
        made = object.__new__(cls)
        made.v = v * v
        return made

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)


class Whole(int):
    def __new__(cls, v):
        return int.__new__(cls, v)


class Plane(complex):
    def __new__(cls, a, b):
        return complex.__new__(cls, a, b)


class Named(dict):
    def __new__(cls, **options):
        return dict.__new__(cls)


class Listed(list):
    def __new__(cls, values):
        return list.__new__(cls)


class Elements(set):
    def __new__(cls, values):
        return set.__new__(cls)


class Frozen(frozenset):
    def __new__(cls, values):
        return frozenset.__new__(cls, values)


class Text(str):
    def __new__(cls, v):
        return str.__new__(cls, v)


class Problem(Exception):
    def __new__(cls, *args):
        return Exception.__new__(cls, *args)

    def __init__(self, x):
        super().__init__(x * 3.0)


class Initialised:
    def __init__(self, v):
        super().__init__()
        self.v = v


def problem(x):
    try:
        raise Problem(x * 2.0)
    except Problem as error:
        return error.args[0] * x


def class_statement(x):
    class Inner(Made):
        pass

    return Inner(x).v * x


def evaluated(x):
    names = {}
    exec("k = 2.0", names)
    return x * len(names) + len(globals()["PROGRAMS"]) * len(vars(Bag(3.0))) * x * len(str(eval("k", names)))


def table(x):
    t = Table(a=x, b=2.0)
    t["c"] = x
    first = t["a"] * t["c"]
    del t["b"]
    return first + sum(t[k] for k in t)


def _partial(x):
    f = functools.partial(lambda a, b, c=1.0: a * b + c, x, c=x * x)
    return f(3.0) * f(x, c=2.0)


PROGRAMS = {
    "choice": lambda x: random.Random(3).choice([x, 2.0 * x, x * x]) * random.Random(2).choice((x, x * x)),
    "choices": lambda x: sum(
        random.Random(3).choices([x, 2.0 * x, x * x], [1.0, x, 2], k=5) + random.Random(2).choices((x, x * x), k=4)
    ),
    "sample": lambda x: sum(random.Random(3).sample([x, x * x, x**3], 2)) * random.Random(5).sample((x, x * x), 1)[0],
    "joined bytes": lambda x: x * x * len(b",".join(bytes([k]) for k in (1, 2))),
    # numbers
    "float": lambda x: float(x) * float(3),
    "int": lambda x: 3 * x + int(x),
    "complex": lambda x: (complex(x, 2.0 * x) * complex(x)).real,
    "repr": lambda x: len(repr("text")) * x,
    "abs": lambda x: abs(-x) + abs(complex(x, 1.0)),
    "round": lambda x: round(x) + round(x, 3) * 0.0 + x,
    "divmod": lambda x: divmod(7.3, x)[1] * x,
    "pow": lambda x: pow(x, 3) + pow(2.0, x) + pow(3, 2, 5),
    "numbers themselves": lambda x: x.__float__() * x + (3).__float__() * x,
    "__call__": lambda x: types.MethodType(lambda a, b: a[0] * b, [x]).__call__(x) * math.sin.__call__(x),
    "conjugate": lambda x: (complex(x, x * x).conjugate() * (1 + 2j)).imag + x.conjugate() + (3).conjugate() * x,
    "min": lambda x: min(x, 2.0) * max([x, 0.1, 0.2]) + max((x, 0.5), key=lambda v: -v) + min([], default=x),
    "sum": lambda x: sum([x, 2.0]) * sum((x, x * x), x) + sum(v for v in [x, 1.0]),
    # containers
    "list": lambda x: weighted(list((x, x * x, 1.0))),
    "tuple": lambda x: weighted(tuple([x, x * x, 1.0])) + weighted(tuple((x, 1.0))),
    "set": lambda x: sum(set([x, 2.0, x * x])) + sum(frozenset([x, 2.0])),
    "iterators of sets": lambda x: sum(v * v for v in set.__iter__({x, 3 * x})) + max(frozenset.__iter__(frozenset([x, 2 * x]))),
    "dict": lambda x: total(dict([("a", x), ("bb", 2.0)], ccc=x * x)) + total(dict({"a": x})),
    "defaultdict": lambda x: total(defaultdict(float, {"a": x}, bb=x * x)) + defaultdict(lambda: x)["c"],
    "missing items": lambda x: total(defaultdict(lambda: x, a=x * x)) + defaultdict(lambda: x * x).__missing__("c"),
    "OrderedDict": lambda x: total(OrderedDict([("a", x)], bb=x * x)) + weighted(OrderedDict(a=x, b=2.0).values()),
    "OrderedDict edits": changed(
        lambda x: OrderedDict([("z", x)]),
        lambda d, x: (d.clear(), d.update(a=x), d.update(b=d.setdefault("c", x) * d.pop("a")), d.move_to_end("c")),
        total,
    ),
    "methods of OrderedDict": changed(
        lambda x: OrderedDict([("z", x), ("yy", x * x)]),
        lambda d, x: (d.__setitem__("aaa", x * d["yy"]), d.__delitem__("yy"), [d.update({k: d[k] * x}) for k in list(d.__iter__())]),
        total,
    ),
    "deque": lambda x: weighted(deque([x, 2.0, x * x], 2)) + weighted(deque((x, 1.0))),
    "array": lambda x: weighted(array.array("d", [x, 2.0, x * x])),
    "sorted": lambda x: weighted(sorted([2.0, x, x * x])) + weighted(sorted((x, 3.0), key=lambda v: -v, reverse=True)),
    "append": changed(lambda x: [x], lambda c, x: c.append(x * x), weighted),
    "extend": changed(lambda x: [x], lambda c, x: c.extend((x * x, 1.0)), weighted),
    "insert": changed(lambda x: [x, 2.0], lambda c, x: c.insert(1, x * x), weighted),
    "pop": changed(lambda x: [x, 2.0, x * x], lambda c, x: c.append(c.pop() * c.pop(0)), weighted),
    "remove": changed(lambda x: [x, 2.0, x * x], lambda c, x: c.remove(2.0), weighted),
    "clear": changed(lambda x: [x, 2.0], lambda c, x: (c.clear(), c.append(x)), weighted),
    "copy": changed(lambda x: [x, 2.0], lambda c, x: c.extend(c.copy()), weighted),
    "reverse": changed(lambda x: [x, 2.0, x * x], lambda c, x: c.reverse(), weighted),
    "sort": changed(lambda x: [2.0, x, x * x], lambda c, x: c.sort(key=lambda v: v * v), weighted),
    "fromkeys": lambda x: total(dict.fromkeys(["a", "bb"], x)),
    "get": lambda x: {"a": x}.get("a", 1.0) * {"a": 1.0}.get("b", x),
    "setdefault": changed(lambda x: {"a": x}, lambda d, x: d.update(bb=d.setdefault("ccc", x * x) * d.setdefault("a", 0.0)), total),
    "dict pop": changed(lambda x: {"a": x, "b": 2.0}, lambda d, x: d.update(cc=d.pop("a") * d.pop("z", x)), total),
    "popitem": lambda x: {"a": 2.0, "b": x}.popitem()[1] * x,
    "update": changed(lambda x: {"a": x}, lambda d, x: d.update({"bb": x * x, "a": 3.0 * x}), total),
    "dict copy": changed(lambda x: {"a": x}, lambda d, x: d.update(bb=d.copy()["a"]), total),
    "dict clear": changed(lambda x: {"a": x}, lambda d, x: (d.clear(), d.update(b=x)), total),
    "values": lambda x: weighted({"a": x, "b": x * x}.values()),
    "set add": changed(lambda x: {x}, lambda c, x: (c.add(x * x), c.add(5.0), c.discard(5.0)), sum),
    "set copy": changed(lambda x: {x}, lambda c, x: c.update(c.copy(), [x * x]), sum),
    "set pop": changed(lambda x: {x}, lambda c, x: c.add(c.pop() * x), sum),
    "set updates": changed(
        lambda x: {x, 9.0, 8.0},
        lambda c, x: (c.difference_update([8.0]), c.symmetric_difference_update({9.0, x * x}), c.intersection_update([x, x * x])),
        sum,
    ),
    "sets of several": lambda x: sum(sum_of_sets(kind([x, 9.0]), {9.0, x * x}) for kind in (set, frozenset)),
    "operators of sets": lambda x: sum(sum_by_operators(kind([x, 9.0]), {9.0, x * x}) for kind in (set, frozenset)),
    "operators of sets in place": changed(
        lambda x: {x, 9.0},
        lambda c, x: (c.__ior__({x * x}), c.__isub__({9.0}), c.__ixor__({8.0}), c.__iand__({x, x * x})),
        sum,
    ),
    "exit": code_of_exit,
    "frame": lambda x: x * len(sys._getframe().f_code.co_name),
    "divmod by methods": lambda x: (2.5).__divmod__(x)[1] * x.__rdivmod__(2.5)[1] * sum((7).__divmod__(3) + (3).__rdivmod__(7)),
    "new type": lambda x: typing.NewType("Metres", float)(x) * x,
    "derived namespaces": lambda x: Namespace(a=x).a * types.SimpleNamespace.__new__(Namespace).b * Begun(x).a,
    "set union": lambda x: sum({x}.union([x * x], {2.0})) + sum({x, 2.0}.intersection({x})) + sum({x, 2.0}.difference({2.0})),
    "counts": changed(lambda x: Counter("abca", d=x), lambda c, x: (c.update("ad"), c.update({"a": x})), total),
    "deque methods": changed(
        lambda x: deque([x, 2.0, x * x]),
        lambda c, x: (c.append(x), c.appendleft(x * 3), c.extend([x]), c.extendleft([x, 1.0]), c.rotate(2), c.append(c.pop() * c.popleft())),
        weighted,
    ),
    "full deque": changed(lambda x: deque([x, 2.0], maxlen=2), lambda c, x: (c.append(c[0] * x), c.appendleft(x), c.extend([x])), weighted),
    "deque edits": changed(
        lambda x: deque([x, 2.0, 1.0]).__copy__(), lambda c, x: (c.insert(1, x * x), c.remove(2.0), c.reverse(), c.extend(c.copy())), weighted
    ),
    "deque clear": changed(lambda x: deque([x]), lambda c, x: (c.clear(), c.append(x * x)), weighted),
    "array edits": changed(
        lambda x: array.array("d", [x, 2.0]),
        lambda c, x: (c.append(x * x), c.extend([x]), c.insert(0, x), c.append(c.pop()), c.remove(2.0), c.reverse()),
        weighted,
    ),
    "tolist": lambda x: weighted(array.array("d", [x, x * x]).tolist()),
    "array clear": changed(lambda x: array.array("d", [x]), lambda c, x: (getattr(c, "clear", lambda: c.pop())(), c.append(x)), weighted),
    # iterators
    "iter": lambda x: weighted(iter([x, 2.0])) + weighted(iter((x, 2.0))),
    "iter with sentinel": until,
    "next": default_of_next,
    "enumerate": lambda x: sum(k * v for k, v in enumerate((x, x * x), 2)),
    "zip": lambda x: pairwise_sum(zip([x, 2.0], (x * x, x), strict=True)),
    "map": lambda x: weighted(map(lambda a, b: a * b, [x, 2.0], (x, x * x))),
    "filter": lambda x: weighted(filter(lambda v: v > 0.1, [x, -1.0, x * x])) + weighted(filter(None, [0.0, x])),
    "reversed": lambda x: weighted(reversed([x, 2.0])) + weighted(reversed((x, 3.0))) + weighted(reversed({"a": x}.values())),
    # attributes, objects
    "made": lambda x: Made(x).v * Whole(3) * (Plane(x, 2.0) * 1j).imag + Initialised(x).v,
    "made containers": lambda x: weighted(Listed([x, x * x])) + total(Named(a=x, b=x * x)) + sum(Elements([x])) + sum(Frozen([x])) + x * len(Text(3)),
    "problem": problem,
    "class statement": class_statement,
    "names": evaluated,
    "zyg": lambda x: zyg.stop_gradient(2.0) * x * zyg.checkpoint(lambda v: v * x, x) * len([k for k in zyg.checkpointed(range(3))]),
    "zyg questions": lambda x: x * (0.0 * zyg.nestlevel() + 1.0) * (2.0 if zyg.isderiving() else 2.0),
    "getattr": deleted,
    "overridden methods": overridden,
    "subclass of list": subclassed(lambda x: Reals([x, x * x, 2.0])),
    "subclass of deque": subclassed(lambda x: Queue([x, x * x, 2.0])),
    "subclass of array": subclassed(lambda x: Row("d", [x, x * x, 2.0])),
    "subclass of dict": table,
    "subclass of tuple": lambda x: Pair(x, 2.0)[0] * weighted(Pair(x, x * x)),
    "subclass of float": lambda x: Real(x * x) * x,
    "object methods": set_in_two_ways,
    "dataclasses.asdict": lambda x: (lambda d: d["a"] * d["b"])(dataclasses.asdict(FrozenPair(x, x * x))),
    "dataclasses.astuple": lambda x: (lambda t: t[0] * t[1])(dataclasses.astuple(FrozenPair(x, x * x))),
    "dataclasses.replace": lambda x: (lambda p: p.a * p.b)(dataclasses.replace(FrozenPair(x, x * x), b=3.0 * x)),
    "exception": exception,
    # functools, itertools, copy
    "reduce": lambda x: functools.reduce(lambda a, b: a * b + 1.0, [x, 2.0, x * x]) + functools.reduce(operator.mul, (x, 3.0), x),
    "partial": _partial,
    "chain": lambda x: weighted(itertools.chain([x], (x * x, 2.0))),
    "from_iterable": lambda x: weighted(itertools.chain.from_iterable([[x], (x * x, 2.0)])),
    "islice": lambda x: weighted(itertools.islice([x, 2.0, x * x], 1, 3)),
    "takewhile": lambda x: weighted(itertools.takewhile(lambda v: v < 2.0, [x, x * x, 5.0, x])),
    "dropwhile": lambda x: weighted(itertools.dropwhile(lambda v: v > 2.0, [5.0, x, x * x])),
    "filterfalse": lambda x: weighted(itertools.filterfalse(lambda v: v > 2.0, [5.0, x, x * x])),
    "starmap": lambda x: weighted(itertools.starmap(lambda a, b: a * b, [(x, 2.0), [x, x]])),
    "accumulate": lambda x: weighted(itertools.accumulate([x, 2.0, x * x])) + weighted(itertools.accumulate((2.0, x), operator.mul, initial=x)),
    "product": lambda x: pairwise_sum(itertools.product([x, 2.0], (x, 3.0))),
    "combinations": lambda x: pairwise_sum(itertools.combinations([x, 2.0, x * x], 2)),
    "permutations": lambda x: sum(a * b * b for a, b in itertools.permutations([x, 2.0, x * x], 2)),
    "combinations_with_replacement": lambda x: pairwise_sum(itertools.combinations_with_replacement([x, 2.0], 2)),
    "pairwise": lambda x: pairwise_sum(itertools.pairwise([x, 2.0, x * x])),
    "MethodType": lambda x: types.MethodType(lambda self, k: self * k, x)(x * x),
    "mappingproxy": lambda x: len(types.MappingProxyType({"a": "b"})) * x,
    "zip_longest": lambda x: pairwise_sum(itertools.zip_longest([x, 2.0, x], (x * x,), fillvalue=3.0)),
    "compress": lambda x: weighted(itertools.compress([x, 2.0, x * x], [1, 0, 1])),
    "cycle": lambda x: weighted(itertools.islice(itertools.cycle([x, 2.0]), 5)),
    "repeat": lambda x: weighted(itertools.repeat(x, 3)),
    "count": lambda x: weighted(itertools.islice(itertools.count(x, x), 3)),
    "tee": lambda x: weighted(itertools.chain(*itertools.tee([x, x * x]))),
    "groupby": lambda x: sum(weighted(g) for _, g in itertools.groupby([x, x * x, 5.0], lambda v: v > 2.0)),
    "copy.copy": lambda x: copy.copy(Bag(x)).v * weighted(copy.copy([x, 2.0])),
    "copy.deepcopy": lambda x: copy.deepcopy({"a": [x, Bag(x)]})["a"][1].v * copy.deepcopy([[x]])[0][0] * x,
    # math
    **{
        f.__name__: (lambda f: lambda x: f(x))(f)
        for f in (
            math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.sinh, math.cosh, math.tanh, math.asinh,
            math.atanh, math.exp, math.expm1, math.log, math.log2, math.log10, math.log1p, math.sqrt, math.fabs,
            math.degrees, math.radians, math.erf, math.erfc, math.gamma, math.lgamma, math.exp2, math.cbrt,
        )
    },
    "acosh": lambda x: math.acosh(1.0 + x),
    "log of a base": lambda x: math.log(x, 1.5 + x),
    "math.pow": lambda x: math.pow(x, 1.0 + x),
    "atan2": lambda x: math.atan2(x, 1.0 + x),
    "copysign": lambda x: math.copysign(x, -1.0),
    "fmod": lambda x: math.fmod(5.0, x),
    "remainder": lambda x: math.remainder(5.0, x),
    "nextafter": lambda x: math.nextafter(x, 5.0),
    "hypot": lambda x: math.hypot(x, 2.0, x * x),
    "ldexp": lambda x: math.ldexp(x, 3),
    "modf": lambda x: math.modf(x + 3.0)[0],
    "frexp": lambda x: math.frexp(x)[0],
    "fsum": lambda x: math.fsum([x, x * x, 2.0]),
    "prod": lambda x: math.prod([x, x, 2.0], start=x),
    "dist": lambda x: math.dist([x, 2.0], (1.0, x)),
    # cmath
    **{
        f"cmath.{f.__name__}": (lambda f: lambda x: (f(complex(x, 0.4 * x)) * (1 + 2j)).real)(f)
        for f in (
            cmath.exp, cmath.sin, cmath.cos, cmath.tan, cmath.sinh, cmath.cosh, cmath.tanh, cmath.asin, cmath.acos, cmath.atan,
            cmath.asinh, cmath.acosh, cmath.atanh, cmath.log, cmath.log10, cmath.sqrt,
        )
    },
    "cmath.log of a base": lambda x: cmath.log(complex(x, x), 2.0 + x).real,
    "cmath.phase": lambda x: cmath.phase(complex(x, 2.0)),
    "cmath.polar": lambda x: cmath.polar(complex(x, 2.0))[0] * cmath.polar(complex(x, 2.0))[1],
    "cmath.rect": lambda x: (cmath.rect(x, 2.0 * x) * (1 + 2j)).imag,
    # operator
    **{
        f"operator.{name}": (lambda f: lambda x: f(x, 1.5) + f(2.0, x))(getattr(operator, name))
        for name in ("add", "sub", "mul", "truediv", "mod", "pow", "iadd", "isub", "imul", "itruediv", "imod", "ipow")
    },
    "operator.floordiv": lambda x: operator.floordiv(7.3, x) * x + operator.ifloordiv(7.3, x) * x,
    "operator.unary": lambda x: operator.neg(x) * operator.pos(x) * operator.abs(x) + operator.invert(2) * x,
    "operator.bits": lambda x: x * (operator.and_(6, 3) + operator.or_(6, 3) + operator.xor(6, 3) + operator.lshift(1, 2) + operator.rshift(8, 1)),
    "operator.in-place bits": lambda x: x * (operator.iand(6, 3) + operator.ior(6, 3) + operator.ixor(6, 3) + operator.ilshift(1, 2) + operator.irshift(8, 1)),
    "operator.matmul": lambda x: flat(operator.matmul(matrix(x), vector(x))) + flat(operator.imatmul(matrix(x), matrix(x))),
    "operator.items": lambda x: operator.getitem([x, 2.0], 0) * operator.concat([1.0], [x])[1] * operator.iconcat([1.0], [x])[1],
    "operator.setitem": changed(lambda x: [x, 2.0, 3.0], lambda c, x: (operator.setitem(c, 1, x * x), operator.delitem(c, 2)), weighted),
    "operator.call": lambda x: operator.call(lambda a: a * a, x),
    "itemgetter": lambda x: operator.itemgetter(1, 0)([x, x * x])[0] * operator.itemgetter("a")({"a": x}),
    "attrgetter": lambda x: operator.attrgetter("v")(Bag(x)) * operator.attrgetter("v.v", "v")(Bag(Bag(x)))[0],
    "methodcaller": lambda x: operator.methodcaller("scaled", x)(Bag(x)),
    # arrays
    "written": written,
    "out": out_argument,
    "fill": filled,
    "sort in place": sorted_in_place,
    **{
        f"np.{u.__name__}": (lambda u: lambda x: float(u(x + 1.5 * np.arange(3.0) * 0.1, 2.0 - x).sum()))(u)
        for u in (
            np.add, np.subtract, np.multiply, np.divide, np.power, np.float_power, np.remainder, np.fmod, np.maximum, np.minimum,
            np.fmax, np.fmin, np.arctan2, np.hypot, np.logaddexp, np.logaddexp2, np.copysign, np.heaviside,
        )
    },
    **{
        f"np.{u.__name__}": (lambda u: lambda x: flat(u(np.array([x, 0.3 * x, 0.9]))))(u)
        for u in (
            np.negative, np.positive, np.absolute, np.fabs, np.sqrt, np.cbrt, np.square, np.reciprocal, np.exp, np.exp2, np.expm1,
            np.log, np.log2, np.log10, np.log1p, np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh,
            np.arcsinh, np.arctanh, np.deg2rad, np.radians, np.rad2deg, np.degrees, np.floor, np.ceil, np.rint, np.trunc, np.sign,
        )
    },
    "np.arccosh": lambda x: flat(np.arccosh(1.0 + np.array([x, 2.0]))),
    "np.conjugate": lambda x: float(np.real(np.conjugate(np.array([complex(x, x * x)])) * (1 + 2j))[0]),
    "np.matmul": lambda x: flat(np.matmul(matrix(x), vector(x))) + flat(matrix(x) @ matrix(x)),
    **{
        f"np.{name}": (lambda f, args: lambda x: flat(np.asarray(f(matrix(x), *args))))(getattr(np, name), args)
        for name, args in (
            ("transpose", ()), ("ravel", ()), ("squeeze", ()), ("expand_dims", (0,)), ("swapaxes", (0, 1)), ("moveaxis", (0, 1)),
            ("rollaxis", (1,)), ("broadcast_to", ((2, 3, 3),)), ("atleast_1d", ()), ("atleast_2d", ()), ("atleast_3d", ()), ("flip", (0,)),
            ("fliplr", ()), ("flipud", ()), ("rot90", ()), ("roll", (1,)), ("repeat", (2,)), ("tile", (2,)), ("take", ([2, 0, 2],)),
            ("diagonal", ()), ("copy", ()), ("reshape", (9,)), ("asarray", ()), ("ascontiguousarray", ()), ("asfortranarray", ()),
            ("asanyarray", ()), ("sort", ()), ("sum", (0,)), ("mean", (1,)), ("prod", ()), ("max", (0,)), ("min", ()), ("var", ()),
            ("std", (1,)), ("cumsum", (0,)), ("cumprod", (1,)), ("unique", ()), ("diff", ()), ("triu", ()), ("tril", (-1,)), ("diag", ()), ("clip", (-0.5, 0.9)), ("trace", ()),
            ("round", ()), ("amax", ()), ("amin", ()), ("matrix_transpose", ()), ("permute_dims", ((1, 0),)),
        )
        if hasattr(np, name)
    },
    "np.split": lambda x: flat(np.split(vector(x), 3)[1]) + flat(np.array_split(vector(x), 2)[0]),
    "np.hsplit": lambda x: flat(np.hsplit(matrix(x), 3)[1]) + flat(np.vsplit(matrix(x), 3)[0]) + flat(np.dsplit(np.tile(matrix(x), (1, 1, 2))[..., None], 1)[0]),
    "np.unstack": lambda x: flat(getattr(np, "unstack", list)(matrix(x))[1]),
    "np.take_along_axis": lambda x: flat(np.take_along_axis(vector(x), np.array([2, 0, 2]), 0)),
    "np.concatenate": lambda x: flat(np.concatenate([vector(x), vector(x) * x])) + flat(np.append(vector(x), [x])),
    "np.concat": lambda x: flat(getattr(np, "concat", np.concatenate)((vector(x), vector(x) * x))),
    "np.stack": lambda x: flat(np.stack([vector(x), vector(x) * x])) + flat(np.vstack((vector(x), vector(x)))),
    "np.hstack": lambda x: flat(np.hstack([vector(x), vector(x)])) + flat(np.dstack([vector(x), vector(x) * x])),
    "np.column_stack": lambda x: flat(np.column_stack([vector(x), vector(x) * x])),
    "np.where": lambda x: flat(np.where(matrix(x) > 0.6, matrix(x), x * x)),
    "np.full": lambda x: flat(np.full((2, 2), x)) + flat(np.full_like(np.zeros(2), x * x)),
    "np.fromiter": lambda x: flat(np.fromiter((v * x for v in [x, 2.0]), float)),
    "np.ndenumerate": lambda x: sum(v * x * (at[0] + 1) for at, v in np.ndenumerate(vector(x))),
    "np.linspace": lambda x: flat(np.linspace(x, 2.0 * x, 4)),
    "np.float64": lambda x: np.float64(x) * np.float32(3.0) + np.float64(x).item() + np.complex128(x).real + np.complex64(2.0).real,
    "np.add.at": added_at,
    "np.bincount": counted,
    "SimpleNamespace": namespaces,
    "NamedTuple": named_tuples,
    "variables of modules": module_variables,
    "context variables": context_variables,
    "context managers": context_managers,
    "weak references": weak_references,
    "np.ndarray": view_of_a_buffer,
    "number methods": number_methods,
    "np.real": lambda x: float(np.real(np.array([complex(x, 2.0)]))[0] * np.imag(np.array([complex(1.0, x)]))[0]),
    "np.dot": lambda x: float(np.dot(vector(x), vector(x))) + flat(matrix(x).dot(vector(x))) + np.inner(vector(x), vector(x)),
    "np.vdot": lambda x: np.vdot(vector(x), vector(x)) + flat(np.outer(vector(x), vector(x))),
    "np.tensordot": lambda x: flat(np.tensordot(matrix(x), matrix(x), 1)) + flat(np.einsum("ij,kj->ik", matrix(x), matrix(x))),
    **{
        f"ndarray.{name}": (lambda name, args: lambda x: flat(np.asarray(getattr(matrix(x), name)(*args))))(name, args)
        for name, args in (
            ("sum", ()), ("mean", (0,)), ("prod", ()), ("max", ()), ("min", ()), ("var", ()), ("std", ()), ("cumsum", ()), ("trace", ()),
            ("clip", (-0.5, 0.9)), ("round", ()), ("transpose", ()), ("reshape", (9,)), ("ravel", ()), ("flatten", ()), ("copy", ()),
            ("squeeze", ()), ("swapaxes", (0, 1)), ("take", ([1, 1],)), ("repeat", (2,)), ("diagonal", ()), ("astype", (np.float64,)),
            ("item", (0,)), ("tolist", ()), ("conj", ()), ("conjugate", ()), ("__getitem__", (1,)), ("__copy__", ()),
        )
    },
    **{
        f"number.{name}": (lambda name, args: lambda x: float(getattr(np.float64(x) * 1.0, name)(*args)))(name, args)
        for name, args in (
            ("sum", ()), ("mean", ()), ("prod", ()), ("max", ()), ("min", ()), ("var", ()), ("std", ()), ("clip", (0.1, 0.9)),
            ("round", ()), ("conj", ()), ("conjugate", ()), ("item", ()),
        )
    },
    "type.__new__": made_by_a_metaclass,
    "ndarray.__setitem__": changed(lambda x: vector(x), lambda a, x: a.__setitem__(1, x * x), flat),
    "np.linalg.norm": lambda x: _LA.norm(vector(x)) + _LA.norm(matrix(x), axis=1)[0] + _LA.norm(vector(x), 1) + _LA.norm(vector(x), np.inf),
    "np.linalg.inv": lambda x: flat(_LA.inv(matrix(x))) + flat(_LA.matrix_power(matrix(x), 3)),
    "np.linalg.solve": lambda x: flat(_LA.solve(matrix(x), vector(x))),
    "np.linalg.det": lambda x: _LA.det(matrix(x)) + _LA.slogdet(matrix(x))[1],
}  # fmt: skip

if sys.version_info >= (3, 12):
    PROGRAMS["sumprod"] = lambda x: math.sumprod([x, 2.0], (x, x * x))
    PROGRAMS["batched"] = lambda x: sum(sum(batch) * batch[0] for batch in itertools.batched([x, x * x, 2.0], 2))
if sys.version_info >= (3, 13):
    PROGRAMS["fma"] = lambda x: math.fma(x, x, x)
