"""What classes have: kinds of attributes x ways to write and to read them, kinds of methods x ways to call them, x where the class stands."""

from __future__ import annotations

import copy
import dataclasses
import functools
import operator
import random
import re
import types
import typing
from collections.abc import Iterator
from typing import Any

from .compose import within


class Doubling:
    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = "_" + name

    def __get__(self, item: Any, owner: Any = None) -> Any:
        return self if item is None else getattr(item, self.name) * 2.0

    def __set__(self, item: Any, value: Any) -> None:
        setattr(item, self.name, value + 1.0)

    def __delete__(self, item: Any) -> None:
        setattr(item, self.name, 0.5)


class Computed:
    def __init__(self, function: Any):
        self.function = function

    def __get__(self, item: Any, owner: Any = None) -> Any:
        return self if item is None else self.function(item)


class Meta(type):
    shared = 1.25

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        made.w *= 1.5
        return made

    def of(cls, v: Any) -> Any:
        return cls(v).w * v


KNOWN = {"copy": copy, "dataclasses": dataclasses, "functools": functools, "operator": operator, "types": types, "typing": typing, "Doubling": Doubling, "Computed": Computed, "Meta": Meta}  # fmt: skip

INIT = "def __init__(self, v):\n    self.w = v * v\n    self.u = v"
HEADS = (
    "class C:\n    BODY", "class A:\n    BODY\nclass C(A):\n    pass", "class A:\n    BODY\nclass B:\n    u = 7.0\n    def m(self, v):\n        return v\nclass C(A, B):\n    pass",
    "class A:\n    BODY\nclass C(A):\n    def __init__(self, v):\n        super().__init__(v)\n        self.w += v",
    "class A:\n    BODY\nclass C(A):\n    def m(self, v):\n        return super().m(v) * v", "class C(metaclass=Meta):\n    BODY", "class A:\n    BODY\nC = type('C', (A,), {'extra': x})",
    "class A:\n    def __init_subclass__(cls, k=1.0):\n        cls.k = k\nclass C(A, k=x):\n    BODY", "def make(k):\n    class C:\n        BODY\n    return C\nC = make(x)", "class A:\n    u = 3.0\n    w = 2.0\n    def m(self, v):\n        return v\nclass C(A):\n    BODY",
    "class C(dict):\n    BODY", "class C(typing.Generic[typing.TypeVar('T')]):\n    BODY",
)  # fmt: skip
ATTRIBUTES = (
    INIT, "u = 2.0\ndef __init__(self, v):\n    self.w = v * v * self.u", "u = x\ndef __init__(self, v):\n    self.w = v", "u = Doubling()\n" + INIT,
    "def __init__(self, v):\n    self.w = v * v\n    self._u = v\n@property\ndef u(self):\n    return self._u * self.w\n@u.setter\ndef u(self, v):\n    self._u = v * 3.0\n@u.deleter\ndef u(self):\n    self._u = 1.0",
    "def __init__(self, v):\n    self.w = v * v\n@functools.cached_property\ndef u(self):\n    self.w += 1.0\n    return self.w * 2.0", "def __init__(self, v):\n    self.w = v * v\n@Computed\ndef u(self):\n    return self.w * 2.0",
    "__slots__ = ('u', 'w')\n" + INIT, "def __init__(self, v):\n    self.w = v * v\ndef __getattr__(self, name):\n    if name != 'u':\n        raise AttributeError(name)\n    return self.w * 2.0",
    INIT + "\ndef __getattribute__(self, name):\n    found = object.__getattribute__(self, name)\n    return found * 2.0 if name == 'u' else found", INIT + "\ndef __setattr__(self, name, v):\n    object.__setattr__(self, name, v * 1.5)",
    INIT + "\ndef __delattr__(self, name):\n    object.__setattr__(self, name, self.w)", "u: float = 1.5\nw: float = 2.0\ndef __init__(self, v):\n    self.__dict__.update(w=v, u=v * 2.0)", "log = []\ndef __init__(self, v):\n    self.w = v\n    self.u = v * v\n    self.log.append(v)",
    "total = 0.5\ndef __init__(self, v):\n    self.w = self.total * v\n    type(self).total = v\n    self.u = self.total + v", "def __new__(cls, v):\n    self = super().__new__(cls)\n    self.u = v * 2.0\n    return self\ndef __init__(self, v):\n    self.w = v * self.u",
)  # fmt: skip
WRITES = (
    "pass", "c.u = V", "c.u += V", "c.u *= c.w", "c.u, c.w = c.w, c.u", "del c.u", "setattr(c, 'u', V)", "c.__dict__['u'] = V", "vars(c).update(w=V)", "object.__setattr__(c, 'w', V)", "c = copy.copy(c)\nc.w = V", "d = copy.copy(c)\nc.w = V\nt += d.w",
    "d = copy.deepcopy(c)\nd.w = V\nt += d.w", "C.u = V", "C.w = V", "type(c).u = V\nt += C(x).u", "c.u = c.w = V", "for c.u in (x, V):\n    t += c.u", "d = c\nd.w = V", "c.__class__ = C", "c.w -= c.w * V", "c.__init__(V)", "delattr(c, 'w')\nc.w = V", "t += c.u\nc.w = V\nt += c.u",
    "try:\n    c.none\nexcept AttributeError:\n    c.w = V", "def g():\n    c.w = 5.0 * x\n    return V\nc.w += g()", "C.extra = lambda self, v: self.w * v\nt += c.extra(V)", "c.m = lambda v: v * V", "c.n = types.MethodType(lambda self, v: self.w * v, c)\nt += c.n(V)", "d = C(V)\nt += d.u * c.u\nc.u = d",
    "c.w = [V]\nc.w += [x]\nc.w = sum(c.w)",
)  # fmt: skip
READS = (
    "r = c.u", "r = c.u * c.w", "r = getattr(c, 'u')", "r = getattr(c, 'none', c.w)", "r = hasattr(c, 'u') * c.w", "r = sum(v for v in vars(c).values() if isinstance(v, float))", "r = operator.attrgetter('u', 'w')(c)[0]", "r = C(x).u + c.u", "r = C.u * x", "r = [c.u for i in range(3)][-1]", "r = sum(map(lambda o: o.w, [c, C(x)]))",
    "r = max([c, C(2.0)], key=lambda o: o.w).u", "match c:\n    case object(u=a, w=b):\n        r = a * b", "r = c.__dict__['w']", "r = sorted([C(2.0), c], key=operator.attrgetter('w'))[0].u", "r = 0.0\nfor o in (c, c):\n    o.w *= 1.5\n    r += o.w * o.u", "r = (lambda o: o.u * o.w)(c)", "r = copy.copy(c).u + copy.deepcopy(c).w",
    "r = isinstance(c, C) * c.w", "r = type(c)(x).w * c.w", "r = getattr(C, 'u', 3.0) * x", "r = c.u if c.w > 0 else c.w", "def g():\n    yield c.u\n    yield c.w\nr = sum(g())", "r = object.__getattribute__(c, 'w')", "r = f'{c.w:.2f}' and c.u", "r = {'k': c}['k'].u",
)  # fmt: skip
METHODS = (
    "def m(self, v):\n    return self.w * v * v", "@classmethod\ndef m(cls, v):\n    return cls(v).w * v", "@staticmethod\ndef m(v):\n    return v * v * v", "def n(self, v, k):\n    return self.w * v * k\nm = functools.partialmethod(n, k=3.0)", "@property\ndef m(self):\n    return lambda v: self.w * v",
    "@functools.cached_property\ndef m(self):\n    return self._m\ndef _m(self, v):\n    return self.w * v", "def m(self, v):\n    self.w *= v\n    return self.w + v", "def m(self, v, n=2):\n    return v * self.w if n == 0 else self.m(v * v, n - 1)", "m = lambda self, v: self.w * v", "def m(self, *args, **kwargs):\n    return self.w * sum(args) * 2.0",
    "@functools.lru_cache\ndef m(self, v):\n    return self.w * v", "@functools.singledispatchmethod\ndef m(self, v):\n    return self.w\n@m.register\ndef _(self, v: float):\n    return self.w * v * 3.0", "def m(self, v):\n    return sum(self.each(v))\ndef each(self, v):\n    yield self.w\n    yield v * self.w",
    "def __call__(self, v):\n    return self.w * v\ndef m(self, v):\n    return self(v) * 2.0", "def m(self, v):\n    def inner(k):\n        self.w += k\n        return self.w * v\n    return inner(v)", "def m(self, v):\n    return self.__class__(v).w * v + self.w", "@functools.wraps(len)\ndef m(self, v):\n    return self.w * v * v",
    "def m(self, v):\n    with self as k:\n        return k * v\ndef __enter__(self):\n    self.w *= 2.0\n    return self.w\ndef __exit__(self, *e):\n    self.w += 1.0", "def __getitem__(self, k):\n    return self.w * k\ndef m(self, v):\n    return self[v] * self[2]", "def __getattr__(self, name):\n    if name != 'm':\n        raise AttributeError(name)\n    return lambda v: self.w * v",
)  # fmt: skip
CALLS = (
    "r = c.m(V)", "r = C.m(c, V)", "r = getattr(c, 'm')(V)", "f = c.m\nc.w = x\nr = f(V)", "r = sum(map(c.m, [V, x]))", "r = functools.partial(c.m, V)()", "r = operator.methodcaller('m', V)(c)", "r = c.m(c.m(V))", "r = [o.m(V) for o in (c, C(x))][-1]", "r = C(x).m(V) * c.w", "r = type(c).m(c, V)", "r = c.__class__(V).m(x)",
    "r = functools.reduce(lambda a, v: a + c.m(v), [V, x], x)", "r = max([V, x], key=c.m)", "r = sorted([V, x, 0.2], key=lambda v: -c.m(v))[0]", "r = 0.0\nfor i in range(2):\n    r += c.m(V)", "r = (lambda g: g(V) + g(x))(c.m)", "r = c.m(v=V)", "r = c.m(*[V])", "r = c.m(**{'v': V})", "r = C.m(V)", "class E(C):\n    def m(self, v):\n        return super().m(v) * 2.0\nr = E(x).m(V)",
    "class E(C):\n    def go(self, v):\n        return super().m(v) + super().m(x)\nr = E(x).go(V)", "class E(C):\n    def m(self, v):\n        return C.m(self, v) * v\nr = E(x).m(V)", "r = {'k': c.m}['k'](V)", "def g():\n    yield c.m(V)\n    yield c.w\nr = sum(g())", "r = c.m(V) + c.w", "try:\n    r = c.m(V)\nfinally:\n    c.w = 1.0\nr += c.w * x",
)  # fmt: skip
VALUES = ("x", "x * x", "2.0", "c.w", "-x")


def programs(seed: int) -> Iterator[str]:
    """Without end."""
    draw = random.Random(seed)
    while True:
        attributes, method = draw.choice(ATTRIBUTES), draw.choice(METHODS)
        head = within(draw.choice(HEADS), attributes + "\n" + method, "BODY")
        value = draw.choice(VALUES)
        write = "\n".join(draw.choice(WRITES) for _ in range(draw.choice((1, 2))))
        read = draw.choice(draw.choice((READS, CALLS)))
        write, read = (re.sub(r"\bV\b", f"({value})", text) for text in (write, read))
        use = f"t = 0.0\nc = C(x)\n{write}\n{read}\nreturn r + t"
        whole = f"{head}\n{use}"
        # Native code takes classes that stand outside; not those of which it depends on the argument, or on calls, what they are.
        outside = not re.search(r"\bx\b", head) and not re.search(
            r"\bC\.\w+ =|type\(c\)\.u|self\.log|total =|lru_cache|class E", whole
        )
        yield f"{head}\n---\n{use}" if outside else whole
