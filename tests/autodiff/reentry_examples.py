"""Programs in which C code calls Python code that changes something: special methods, callbacks, hooks of classes."""

from __future__ import annotations

import bisect
import functools
import heapq
import json
import math
import operator
import os
import random
import re
import sys
import types
from collections import deque

import numpy as np

# One way to ask an object each, with the method that is called by it, and what that gives.
_QUESTIONS = {
    "format": ("__format__(self, spec)", "f'{a:>3}'", "'u'"),
    "str": ("__str__(self)", "str(a)", "'u'"),
    "repr": ("__repr__(self)", "f'{a!r}'", "'u'"),
    "ascii": ("__repr__(self)", "ascii(a)", "'u'"),
    "percent": ("__str__(self)", "'%s' % a", "'u'"),
    "format_method": ("__format__(self, spec)", "'{}'.format(a)", "'u'"),
    "int": ("__int__(self)", "int(a)", "1"),
    "bool": ("__bool__(self)", "bool(a)", "True"),
    "truth": ("__bool__(self)", "1 if a else 0", "True"),
    "loop": ("__bool__(self)", "[1 for _ in [1] if a]", "True"),
    "not": ("__len__(self)", "not a", "1"),
    "and": ("__len__(self)", "a and 1", "1"),
    "operator_truth": ("__len__(self)", "operator.truth(a) + operator.not_(a)", "1"),
    "len": ("__len__(self)", "len(a)", "1"),
    "contains": ("__contains__(self, other)", "3 in a", "True"),
    "contains_by_iteration": ("__iter__(self)", "3 not in a", "iter([1])"),
    "operator_contains": ("__contains__(self, other)", "operator.contains(a, 2)", "True"),
    "item": ("__index__(self)", "[1, 2][a]", "0"),
    "set_item": ("__index__(self)", "operator.setitem([1, 2], a, 3)", "0"),
    "slice": ("__index__(self)", "[1, 2][a:]", "0"),
    "of_text": ("__index__(self)", "'ab'[a]", "0"),
    "array_item": ("__index__(self)", "np.zeros(3)[a]", "0"),
    "set_array_item": ("__index__(self)", "operator.setitem(np.zeros(3), a, 1.0)", "0"),
    "zeros": ("__index__(self)", "np.zeros(a)", "2"),
    "take": ("__index__(self)", "np.take(np.arange(3.0), a)", "1"),
    "insert": ("__index__(self)", "[1, 2].insert(a, 3)", "1"),
    "pop": ("__index__(self)", "[1, 2].pop(a)", "1"),
    "text_times": ("__index__(self)", "'ab' * a", "2"),
    "digits": ("__index__(self)", "round(2.567, a)", "1"),
    "enumerate": ("__index__(self)", "list(enumerate([1], a))", "1"),
    "fsum": ("__float__(self)", "math.fsum([a, 1.0])", "1.0"),
    "sorted_by_float": ("__float__(self)", "sorted([a, a], key=float)", "1.0"),
    "filter": ("__bool__(self)", "list(filter(None, [a, 1]))", "True"),
    "range": ("__index__(self)", "list(range(a))", "2"),
    "hex": ("__index__(self)", "hex(a) + bin(a) + oct(a)", "2"),
    "complex": ("__complex__(self)", "complex(a)", "1j"),
    "ceil": ("__ceil__(self)", "math.ceil(a)", "1"),
    "floor": ("__floor__(self)", "math.floor(a)", "1"),
    "trunc": ("__trunc__(self)", "math.trunc(a)", "1"),
    "sin": ("__float__(self)", "math.sin(a)", "1.0"),
    "log": ("__float__(self)", "math.log(a, 2.0)", "1.0"),
    "atan2": ("__float__(self)", "math.atan2(a, a)", "1.0"),
    "isnan": ("__float__(self)", "math.isnan(a)", "1.0"),
    "percent_float": ("__float__(self)", "'%f' % a", "1.0"),
    "lt": ("__lt__(self, other)", "a < a", "True"),
    "le": ("__le__(self, other)", "a <= 3", "True"),
    "reflected": ("__gt__(self, other)", "3.0 < a", "True"),
    "operators": ("__ge__(self, other)", "operator.ge(a, 1) + operator.le(1, a)", "True"),
    "more_operators": ("__eq__(self, other)", "operator.eq(a, 1) + operator.ne(a, 1) + operator.gt(2, 1)", "True"),
    "sorted": ("__lt__(self, other)", "sorted([a, a, a])", "True"),
    "sort": ("__lt__(self, other)", "[a, a].sort(reverse=True)", "True"),
    "max": ("__gt__(self, other)", "max(a, a)", "True"),
    "min": ("__lt__(self, other)", "min([a, a])", "False"),
    "tuples": ("__lt__(self, other)", "(1, a) < (1, 2)", "True"),
    "heap": ("__lt__(self, other)", "heapq.heappush([a], a)", "True"),
    "bisect": ("__lt__(self, other)", "bisect.bisect_left([a, a], 1)", "True"),
    "eq": ("__eq__(self, other)", "a == 3", "False"),
    "ne": ("__eq__(self, other)", "a != 3", "True"),
    "in_list": ("__eq__(self, other)", "a in [1, 2]", "False"),
    "index": ("__eq__(self, other)", "[1].index(a)", "True"),
    "count": ("__eq__(self, other)", "[1, 2].count(a)", "False"),
    "remove": ("__eq__(self, other)", "[1].remove(a)", "True"),
    "list_eq": ("__eq__(self, other)", "[a] == [1]", "True"),
    "hash": ("__hash__(self)", "hash(a)", "1"),
    "bytes": ("__bytes__(self)", "bytes(a)", "b''"),
    "dir": ("__dir__(self)", "dir(a)", "[]"),
    "length_hint": ("__length_hint__(self)", "operator.length_hint(a)", "1"),
    "fspath": ("__fspath__(self)", "os.fspath(a)", "'u'"),
    "sizeof": ("__sizeof__(self)", "sys.getsizeof(a)", "1"),
    "asarray": ("__array__(self, *args, **kwargs)", "np.asarray(a)", "np.ones(1)"),
    "join": ("__iter__(self)", "''.join(a)", "iter(['a'])"),
    "max_default": ("__iter__(self)", "max(a, default=0)", "iter([])"),
    "any": ("__iter__(self)", "any(a)", "iter([0])"),
    "getattribute": ("__getattribute__(self, name)", "a.foo", "1"),
    "instance": ("__getattribute__(self, name)", "isinstance(a, float)", "float"),
    "print": ("__str__(self)", "print(a, file=open(os.devnull, 'w'))", "'u'"),
}

_CALLS = {
    "sorted_key": "sorted([3, 1], key=f)",
    "bisect_key": "bisect.bisect([1, 2, 3], 2, key=f)",
    "insort_key": "bisect.insort([1, 2], 2, key=f)",
    "cmp_to_key": "sorted([2, 1], key=functools.cmp_to_key(lambda p, q: f(p) - q))",
    "made_elsewhere": "sorted([2, 1], key=BY_DIFFERENCE)",
    "vectorize": "np.vectorize(f)(np.ones(2))",
    "frompyfunc": "np.frompyfunc(f, 1, 1)(np.ones(2))",
    "fromfunction": "np.fromfunction(lambda k: f(1), (2,))",
    "piecewise": "np.piecewise(np.ones(2), [[True, True]], [lambda t: f(1)])",
    "json": "json.dumps([{1}], default=lambda o: f(1))",
    "sub": "LETTER.sub(lambda m: str(f(1)), 'aba')",
    "exec": "exec('f(1)', {'f': f})",
    "eval": "eval('f(1)', {'f': f})",
    "call": "f.__call__(1)",
}

LETTER = re.compile("a")
BY_DIFFERENCE = functools.cmp_to_key(operator.sub)

_QUESTION = """
def asks_{name}(x):
    s = [x]
    class A:
        def {method}:
            s.append(s[-1] * x)
            return {value}
    a = A()
    try:
        {question}
    except KeyError:
        pass
    return sum(s)
"""

_CALL = """
def asks_{name}(x):
    s = [x]
    def f(*args):
        s.append(s[-1] * x)
        return 5
    try:
        {call}
    except KeyError:
        pass
    return sum(s)
"""


def _made() -> dict:
    scope = dict(globals())
    for name, (method, question, value) in _QUESTIONS.items():
        exec(_QUESTION.format(name=name, method=method, question=question, value=value), scope)
    for name, call in _CALLS.items():
        exec(_CALL.format(name=name, call=call), scope)
    return {name: scope[f"asks_{name}"] for name in (*_QUESTIONS, *_CALLS)}


def cached_length(x):
    class Items:
        def __init__(self):
            self.square = None

        def __len__(self):
            if self.square is None:
                self.square = x * x
            return 3

    a = Items()
    k = len(a)
    return a.square * k + len(a)


def keeps_what_it_gets(x):
    class Writer:
        def __init__(self):
            self.total = 0.0

        def write(self, text):
            self.total = self.total + x * len(text)

        def flush(self):
            pass

    w = Writer()
    print("abc", 1.5, file=w)
    return w.total * x


def metaclasses(x):
    class Meta(type):
        def __getitem__(cls, k):
            return k * x

        def __contains__(cls, k):
            cls.asked = x * x
            return True

    class A(metaclass=Meta):
        pass

    class B:
        def __class_getitem__(cls, k):
            return k * x

    return (A[3.0] + B[2.0] * A.asked) if 1 in A else 0.0


def asked_of_a_class(x):
    class Classproperty:
        def __init__(self, f):
            self.f = f

        def __get__(self, instance, owner):
            return self.f(owner)

    class Meta(type):
        def __getattr__(cls, name):
            return len(name) * x

    class A(metaclass=Meta):
        k = x

        @Classproperty
        def square(cls):
            return cls.k * x

    return A.square + A().square * A.missing


def hooks(x):
    class A:
        def __init_subclass__(cls, scale=1.0, **more):
            cls.w = scale * x

        def __set_name__(self, owner, name):
            owner.nm = x

    class B(A, scale=x):
        y = A()

    made = type("C", (A,), {"v": x, "f": lambda self: self.v * x}, scale=2.0)
    other = types.new_class("D", (A,), {"scale": x})
    return B.w * B.nm + made().f() * made.w + other.w


def arguments_of_comparisons(x):
    got = []

    def below(p, q):
        got.append(p * q)
        return -1 if p < q else 1

    order = sorted([2.0 * x, x, x * x], key=functools.cmp_to_key(below))
    return sum(got) + order[0]


def value_of_a_comparison(x):
    class A:
        def __lt__(self, other):
            return other * x

    y = A() < x
    return y * x


def through_what_shows_a_dict(x):
    shown = types.MappingProxyType({"a": x, "b": 2.0})
    return (
        shown["a"] * shown.get("b")
        + sum(shown.values())
        + sum(v for _, v in shown.items()) * len(shown.copy())
        + len([*shown.keys(), *shown])
    )


def cells(x):
    f = lambda a: a * x
    cell = f.__closure__[0]
    y = cell.cell_contents * x
    cell.cell_contents = y
    return f(2.0) + x


def flat(x):
    return sum(list(np.array([[x, 1.0], [2.0, x * x]]).flat)[1:])


def hash_that_is_kept(x):
    class Key:
        def __init__(self, name):
            self.name, self.kept, self.x = name, None, x

        def __hash__(self):
            if self.kept is None:
                self.kept = hash(self.name)
            return self.kept

        def __eq__(self, other):
            return self.name == other.name

    a, b = Key("a"), Key("b")
    d = {a: x, b: 1.0}
    d[a] *= 2
    return d.pop(a) * len({a, b, Key("a")}) * a.x


def exception_in_a_method(x):
    s = []

    class A:
        def __lt__(self, other):
            s.append(x * x)
            raise ValueError(s[-1])

    for _ in range(2):
        try:
            sorted([A(), A()])
        except ValueError:
            s.append(s[-1] * x)
    return sum(s)


def nested_calls(x):
    """Code that C calls calls C code, which calls it in turn."""
    s = [x]

    class A:
        def __init__(self, depth):
            self.depth = depth

        def __lt__(self, other):
            s.append(s[-1] * x)
            if self.depth:
                sorted([A(self.depth - 1), A(self.depth - 1)])
            return self.depth < other.depth

    sorted([A(1), A(2), A(0)])
    return sum(s)


def with_defaults(x):
    s = []

    class A:
        def __lt__(self, other, scale=x, *, more=2.0):
            s.append(scale * more)
            return True

    sorted([A(), A()])
    return sum(s)


def generators(x):
    s = [x]

    class A:
        def __iter__(self):
            for k in range(3):
                s.append(s[-1] * x)
                yield str(k)

    return sum(s) + len("".join(A())) + s[-1]


def of_a_library(x):
    s = [x]

    class A(random.Random):
        def random(self):
            s.append(x * s[-1])
            return 0.5

    values = deque(A(1).sample([1, 2, 3], 2))
    return sum(s) + len(values)


def total_order(x):
    s = [x]

    @functools.total_ordering
    class A:
        def __init__(self, v):
            self.v = v

        def __eq__(self, other):
            return self.v == other.v

        def __lt__(self, other):
            s.append(s[-1] * x)
            return self.v < other.v

    a, b = A(x), A(2.0 * x)
    return sum(s) if a <= b and not a >= b and max(a, b) is b else 0.0


def counted_in_an_iterator(x):
    s = [x]

    def keep(v):
        s.append(s[-1] * v)

    return operator.countOf(map(keep, [x]), None) * sum(s)


def iterators_that_c_code_goes_through(x):
    s = [x]

    def keep(v):
        s.append(s[-1] * v)
        return v > 0.6

    r = all(map(keep, [x, 2.0 * x, x * x, 3.0])) + 2.0 * any(filter(keep, (x * x, x))) + (1.0 in zip(map(keep, [x])))
    r += len(",".join(map(str, map(keep, (x, 2.0))))) + all(iter(lambda: keep(x), True))
    r += len(list(zip(filter(keep, [2.0 * x, 0.5 * x]), filter(keep, [3.0 * x, x]))))
    return r * sum(k * v for k, v in enumerate(s, 1))


PROGRAMS = _made() | {
    f.__name__: f
    for f in (
        cached_length, keeps_what_it_gets, metaclasses, asked_of_a_class, hooks, arguments_of_comparisons, value_of_a_comparison,
        through_what_shows_a_dict, cells, flat, hash_that_is_kept, exception_in_a_method, nested_calls, with_defaults,
        generators, of_a_library, total_order, counted_in_an_iterator, iterators_that_c_code_goes_through,
    )
}  # fmt: skip

__all__ = ["PROGRAMS", "bisect", "heapq", "json", "math", "os", "re", "sys"]
