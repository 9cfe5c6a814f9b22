"""Programs that are on disk as a whole: what is found gives what compiling gives, and nothing is found that is not as it was."""

from __future__ import annotations

import gc
import marshal
import os
import subprocess
import sys
import tempfile
import traceback
import weakref

import numpy as np
import pytest

import zyg
from tests.turns import by_one_python_a_day, each_in_long_turn
from zyg.backend.llvm import cache
from zyg.keeping import programs

from .worlds import World, same


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("ZYG_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


FUNCTION = """
@zyg.jit(cache=True)
def f({arguments}):
    {body}
"""


def function(body, arguments="x"):
    return FUNCTION.format(arguments=arguments, body=body.replace("\n", "\n    "))


# name: main, helper, call
FOUND = {
    "numbers": (function("return x * x + math.sin(x)"), "", "f(2.5)"),
    "arrays": (function("return x @ x.T + np.exp(x[:, :1])"), "", "f(np.arange(6.0).reshape(2, 3))"),
    "a callee": ("def g(x):\n    return 2.0 * x\n" + function("return g(x) + 1.0"), "", "f(2.5)"),
    "a callee of another module": ("import kept_helper\n" + function("return kept_helper.g(x)"), "def g(x): return x / 3", "f(2.5)"),
    "a name of another module": ("from kept_helper import g\n" + function("return g(x)"), "def g(x): return x / 3", "f(2.5)"),
    "a callee of a callee": ("from kept_helper import g\n" + function("return g(x)"), "def h(x): return x + 1\ndef g(x): return h(x)", "f(2.5)"),
    "recursion": (function("return 1.0 if x < 1.0 else x * f(x - 1.0)"), "", "f(5.0)"),
    "a lambda": ("g = lambda x: x + 1\n" + function("return g(x)"), "", "f(2.5)"),
    "several results": (function("return x, [x, 1.0], {'a': x}, None, (2, True)"), "", "f(2.5)"),
    "a gradient by a list of objects": ("@dataclasses.dataclass\nclass P:\n    a: float\n    b: str\n" + function("s = 0.0\nfor p in x:\n    s += p.a * p.a\nreturn s") + "h = zyg.grad(f)\n", "", "h([P(1.0 * k, 'b') for k in range(50)])"),
    "a default that is made": ("@dataclasses.dataclass(order=True)\nclass P:\n    a: float\n    b: list = dataclasses.field(default_factory=list)\n" + function("p = P(x)\np.b.append(x)\nreturn p.b, p < P(3.0)"), "", "f(2.5)"),
    "an integer that has to be a constant": (function("return np.sum(x, axis=k)", "x, k"), "", "f(np.ones((2, 3)), 1)"),
    "a global that has to be a constant": ("k = 1\n" + function("return np.sum(x, axis=k)"), "", "f(np.ones((2, 3)))"),
    "objects that are changed": ("@dataclasses.dataclass\nclass P:\n    a: float\n" + function("for p in x:\n    p.a += 1.0\nreturn x[0].a"), "", "f([P(1.0), P(2.0)])"),
    "a range": (function("return range(n), None, (None, [n])", "n"), "", "f(3)"),
    "a sorting": (function("return np.sort(x)[::-1] + np.argsort(x)"), "", "f(np.array([3.0, 1.0, 2.0]))"),
    "a base of a class": ("def make():\n    class A:\n        def m(self): return self.a\n    class P(A):\n        def __init__(self, a): self.a = a\n    return P\nP = make()\n" + function("return x.m()"), "", "f(P(2.5))"),
    "a text": (function("return x if mode == 'a' else -x", "x, mode"), "", "f(2.5, 'b')"),
    "keywords": (function("return x - y", "x, *, y=2.0"), "", "f(2.5, y=3.0)"),
    "defaults": (function("return x - y", "x, y=2.0"), "", "f(2.5)"),
    "a global number": ("c = 2.0\n" + function("return c * x"), "", "f(2.5)"),
    "a global array": ("c = np.arange(3.0)\n" + function("return c * x"), "", "f(2.5)"),
    "a global list of many objects": ("c = [{'a': float(k), 'n': 'k'} for k in range(50)]\n" + function("return sum(p['a'] for p in c) * x"), "", "f(2.5)"),
    "a number of a module": ("import kept_helper\n" + function("return kept_helper.c * x"), "c = 3", "f(2.5)"),
    "a constant": ("c = ('a', 1)\n" + function("return x if c[0] == 'a' else -x"), "", "f(2.5)"),
    "an exception": (function("if x > 2.0:\n    raise ValueError(f'no {x}')\nreturn x"), "", "f(1.5)"),
    "a list": (function("x.append(3.0)\nreturn sum(x)"), "", "f([1.0, 2.0])"),
    "a list of numbers that is changed": (function("x[0] = 5.0\nreturn x"), "", "f([1.0, 2.0])"),
    "a dict": (function("x['b'] = x['a'] * 2.0\nreturn x"), "", "f({'a': 1.0})"),
    "a closure": ("def make(c):\n" + "\n".join("    " + line for line in function("return c * x").splitlines()) + "\n    return f\nf = make(3.0)\n", "", "f(2.5)"),
    "a captured function": ("def make(g):\n    @zyg.jit(cache=True)\n    def f(x):\n        return g(x)\n    return f\nf = make(lambda x: x * 7.0)\n", "", "f(2.5)"),
    "a named tuple": ("class P(NamedTuple):\n    a: float\n    b: float = 2.0\n    def area(self):\n        return self.a * self.b\n" + function("return P(x, x).area() + P(x).b"), "", "f(2.5)"),
    "a result of a class": ("@dataclasses.dataclass\nclass P:\n    a: float\n    b: float = 2.0\n" + function("return P(x)"), "", "f(2.5)"),
    "an argument of a class": ("@dataclasses.dataclass\nclass P:\n    a: float\n    b: float = 2.0\n    def area(self): return self.a * self.b\n" + function("x.a += 1.0\nreturn x.area(), x"), "", "f(P(2.5))"),
    "an object": ("class P:\n    k = 3.0\n    def __init__(self, a): self.a = a\n    @property\n    def twice(self): return 2 * self.a\n    @staticmethod\n    def s(x): return -x\n" + function("return P(x).twice + P.k + P.s(x)"), "", "f(2.5)"),
    "a jitted callee": ("@zyg.jit(fastmath=True)\ndef g(x): return x + x\n" + function("return g(x)"), "", "f(2.5)"),
    "a gradient": (function("return x * x * math.exp(x)") + "h = zyg.grad(f)\n", "", "h(0.5)"),
    "a gradient of arrays": (function("return np.sum(x ** 2 * np.sin(x))") + "h = zyg.value_and_grad(f)\n", "", "h(np.linspace(0, 1, 7))"),
    "a gradient inside": ("def g(x): return x ** 3\n" + function("return zyg.grad(g)(x)"), "", "f(2.5)"),
    "a second derivative": (function("return x ** 3 * math.sin(x)") + "h = zyg.jit(zyg.grad(zyg.grad(f)), cache=True)\n", "", "h(0.5)"),
    "a gradient by a class": ("@dataclasses.dataclass(frozen=True)\nclass P:\n    a: float\n    b: float\n" + function("return x.a * x.b") + "h = zyg.grad(f)\n", "", "h(P(2.0, 3.0))"),
    "a gradient inside of a function": (function("return x * x") + "h = zyg.jit(lambda x: zyg.gradient(f, x), cache=True)\n", "", "h(2.5)"),
    "a transform": (function("return np.fft.rfft(x).real"), "", "f(np.arange(6.0))"),
    "complex functions": (function("return complex(np.log(x + 1j))"), "", "f(2.5)"),
    "columns by brackets": (function("return np.c_[x, x]"), "", "f(np.arange(3.0))"),
    "a gradient by an array of a list of arrays": (function("made = []\nwhile x > 0.0:\n    made.append(np.arange(3.0) * x)\n    x -= 1.0\nreturn np.sum(np.array(made) ** 2)") + "h = zyg.grad(f)\n", "", "h(2.5)"),
    "linear algebra": (function("return np.linalg.solve(x, x[0])"), "", "f(np.eye(3) * 2 + 1)"),
    "a print": (function("print(x)\nreturn x"), "", "f(2.5)"),
    "an import inside": (function("import math as m\nfrom kept_helper import c\nreturn m.sqrt(x) + c"), "c = 2.0", "f(2.5)"),
    "a generator": (function("return sum(i * x for i in range(4))"), "", "f(2.5)"),
    "vector mathematics": (function("s = 0.0\nfor i in range(len(x)):\n    s += math.exp(x[i])\nreturn s"), "", "f(np.ones(100))"),
}  # fmt: skip


@by_one_python_a_day
@pytest.mark.parametrize("name", FOUND)
def test_what_is_found_gives_the_same(name):
    main, helper, call = FOUND[name]
    first, there = World(main, helper).call(call)
    assert not there
    world = World(main, helper)
    second, there = world.call(call)
    assert there and same(first, second)
    assert same(first, World(main, helper).plain(call)) or "grad" in main or "linalg" in main


METHODS = """
class {name}:
    k = {k}
    def __init__(self, a): self.a = a + {start}
    @property
    def twice(self): return {twice} * self.a
    @staticmethod
    def s(x): return {sign}x
    def method(self, x={default}): return x * self.a
"""
OBJECT = function("p = P(x)\nreturn p.twice + p.k * p.s(x) + p.method()")


def methods(name="P", k=3.0, start=1.0, twice=2, sign="-", default=1.0):
    return METHODS.format(name=name, k=k, start=start, twice=twice, sign=sign, default=default) + OBJECT


FIELDS = "@dataclasses.dataclass{frozen}\nclass P:\n    a: float\n    b: float = {b}\n"
FRAMED = "def make(c):\n    def g(x):\n        return c{0}\n    return g\n"

# name: what it was, what it is, call; each is main or (main, helper)
CHANGED = {
    "the body": (function("return x + 1"), function("return x + 2"), "f(2.5)"),
    "a constant of the body": (function("return x + 1"), function("return x + 1.0"), "f(2)"),
    "a sign of zero": (function("return x * 0.0"), function("return x * -0.0"), "f(2.5)"),
    "an argument's type": (function("return x + 1"), function("return x + 1"), "f(2.5)", "f(2)"),
    "a keyword": (function("return x - y", "x, *, y"), function("return x - y", "*, x, y"), "f(2.5, y=1.0)", "f(y=2.5, x=1.0)"),
    "a callee": ("def g(x): return x\n" + function("return g(x)"), "def g(x): return -x\n" + function("return g(x)"), "f(2.5)"),
    "a callee of another module": (
        ("import kept_helper\n" + function("return kept_helper.g(x)"), "def g(x): return x"),
        ("import kept_helper\n" + function("return kept_helper.g(x)"), "def g(x): return -x"),
        "f(2.5)",
    ),
    "a callee of a callee": (
        ("from kept_helper import g\n" + function("return g(x)"), "def h(x): return x\ndef g(x): return h(x)"),
        ("from kept_helper import g\n" + function("return g(x)"), "def h(x): return -x\ndef g(x): return h(x)"),
        "f(2.5)",
    ),
    "which callee a name stands for": (
        "def g(x): return x\ndef h(x): return -x\nk = g\n" + function("return k(x)"),
        "def g(x): return x\ndef h(x): return -x\nk = h\n" + function("return k(x)"),
        "f(2.5)",
    ),
    "a default": (function("return x + y", "x, y=1.0"), function("return x + y", "x, y=2.0"), "f(2.5)"),
    "a default of a callee": (
        "def g(x, y=1.0): return x + y\n" + function("return g(x)"),
        "def g(x, y=2.0): return x + y\n" + function("return g(x)"),
        "f(2.5)",
    ),
    "a default by keyword": (
        "def g(x, *, y=1.0): return x + y\n" + function("return g(x)"),
        "def g(x, *, y=2.0): return x + y\n" + function("return g(x)"),
        "f(2.5)",
    ),
    "a default that is set later": (
        "def g(x, y=1.0): return x + y\n" + function("return g(x)"),
        "def g(x, y=1.0): return x + y\ng.__defaults__ = (3.0,)\n" + function("return g(x)"),
        "f(2.5)",
    ),
    "code that is set later": (
        "def g(x): return x\n" + function("return g(x)"),
        "def g(x): return x\ng.__code__ = (lambda x: -x).__code__\n" + function("return g(x)"),
        "f(2.5)",
    ),
    "the type of a global": ("c = 2.0\n" + function("return c * x"), "c = np.ones(2)\n" + function("return c * x"), "f(2.5)"),
    "a number that is an integer": ("c = 2.0\n" + function("return c * x"), "c = 2\n" + function("return c * x"), "f(2)"),
    "a constant": ("c = ('a', 1)\n" + function("return x if c[0] == 'a' else -x"), "c = ('b', 1)\n" + function("return x if c[0] == 'a' else -x"), "f(2.5)"),
    "a text": ("c = 'a'\n" + function("return x if c == 'a' else -x"), "c = 'b'\n" + function("return x if c == 'a' else -x"), "f(2.5)"),
    "a global that has to be a constant": ("k = 1\n" + function("return np.sum(x, axis=k)"), "k = 0\n" + function("return np.sum(x, axis=k)"), "f(np.ones((2, 3)))"),
    "an integer that has to be a constant": (function("return np.sum(x, axis=k)", "x, k"), function("return np.sum(x, axis=k)", "x, k"), "f(np.ones((2, 3)), 1)", "f(np.ones((2, 3)), 0)"),
    "what need not be a constant any more": (
        "def g(x, k): return np.sum(x, axis=k)\n" + function("return g(x, k)", "x, k"),
        "def g(x, k): return float(np.sum(x)) * k\n" + function("return g(x, k)", "x, k"),
        "f(np.ones((2, 3)), 1)",
    ),
    "None": ("c = None\n" + function("return x if c is None else -x"), "c = 1.0\n" + function("return x if c is None else -x"), "f(2.5)"),
    "a global where a builtin was": (function("return abs(x)"), "def abs(x): return 7.0\n" + function("return abs(x)"), "f(-2.5)"),
    "a builtin where a global was": ("def abs(x): return 7.0\n" + function("return abs(x)"), function("return abs(x)"), "f(-2.5)"),
    "a function of a module": ("g = math.sin\n" + function("return g(x)"), "g = math.cos\n" + function("return g(x)"), "f(-2.5)"),
    "an attribute of a module": (
        ("import kept_helper\n" + function("return kept_helper.g(x)"), "def g(x): return x"),
        ("import kept_helper\nkept_helper.g = lambda x: 8.0 * x\n" + function("return kept_helper.g(x)"), "def g(x): return x"),
        "f(2.5)",
    ),
    "an attribute that was not there": (
        "import kept_helper\n" + function("if x > 9.0:\n    return kept_helper.g(x)\nreturn x"),
        ("import kept_helper\n" + function("if x > 9.0:\n    return kept_helper.g(x)\nreturn x"), "def g(x): return -x"),
        "f(2.5)",
    ),
    "a name that was not there": (
        function("if x > 9.0:\n    return g(x)\nreturn x"),
        "def g(x): return -x\n" + function("if x > 9.0:\n    return g(x)\nreturn x"),
        "f(2.5)",
    ),
    "a number of a module": (
        ("import kept_helper\n" + function("return kept_helper.c * x"), "c = 2"),
        ("import kept_helper\n" + function("return kept_helper.c * x"), "c = 3"),
        "f(2.5)",
    ),
    "a closure's function": (FRAMED.format("(x)") + "g = make(math.sin)\n" + function("return g(x)"), FRAMED.format("(x)") + "g = make(math.cos)\n" + function("return g(x)"), "f(2.5)"),
    "a closure's text": (FRAMED.format(" + 'b' == x") + "g = make('a')\n" + function("return g(x)"), FRAMED.format(" + 'b' == x") + "g = make('b')\n" + function("return g(x)"), "f('ab')"),
    "a method": (methods(), methods(twice=4), "f(2.5)"),
    "a static method": (methods(), methods(sign="3 * "), "f(2.5)"),
    "an attribute of a class": (methods(), methods(k=5.0), "f(2.5)"),
    "a default of a method": (methods(), methods(default=2.0), "f(2.5)"),
    "how objects are made": (methods(), methods(start=2.0), "f(2.5)"),
    "a base class": (methods("Q") + "class P(Q): pass\n", methods("Q", k=4.0) + "class P(Q): pass\n", "f(2.5)"),
    "a method that a class has from its base": (methods("Q") + "class P(Q): pass\n", methods("Q") + "class P(Q):\n    k = 8.0\n", "f(2.5)"),
    "a method that is set later": (methods(), methods() + "P.method = lambda self: 9.0\n", "f(2.5)"),
    "a field's default": (FIELDS.format(frozen="", b=2.0) + function("return P(x).b"), FIELDS.format(frozen="", b=3.0) + function("return P(x).b"), "f(2.5)"),
    "a class that is frozen": (
        FIELDS.format(frozen="", b=2.0) + function("p = P(x)\np.b = 2 * p.a\nreturn p.b"),
        FIELDS.format(frozen="", b=2.0) + function("p = P(x)\np.b = 2 * p.a\nreturn p.b").replace("2 * p", "3 * p"),
        "f(2.5)",
    ),
    "an argument's class": (
        FIELDS.format(frozen="", b=2.0) + "    def m(self): return self.a\n" + function("return x.m()"),
        FIELDS.format(frozen="", b=2.0) + "    def m(self): return self.b\n" + function("return x.m()"),
        "f(P(2.5))",
    ),
    "a named tuple": (
        "class P(NamedTuple):\n    a: float\n    b: float = 2.0\n" + function("return P(x).b"),
        "class P(NamedTuple):\n    a: float\n    b: float = 4.0\n" + function("return P(x).b"),
        "f(2.5)",
    ),
    "the model of the error": (function("return np.zeros(2) / x"), function("return np.zeros(2) / x").replace("cache=True", "cache=True, error_model='numpy'"), "f(2.5)"),
    "a jitted callee": ("@zyg.jit\ndef g(x): return x\n" + function("return g(x)"), "@zyg.jit\ndef g(x): return -x\n" + function("return g(x)"), "f(2.5)"),
    "by which argument": (function("return x * x * y", "x, y") + "h = zyg.grad(f, 0)\n", function("return x * x * y", "x, y") + "h = zyg.grad(f, 1)\n", "h(2.5, 3.0)"),
    "what a text is": (function("return x if mode == 'a' else -x", "x, mode"), function("return x if mode == 'a' else -x", "x, mode"), "f(2.5, 'a')", "f(2.5, 'b')"),
    "what is imported inside": (
        (function("from kept_helper import g\nreturn g(x)"), "def g(x): return x"),
        (function("from kept_helper import g\nreturn g(x)"), "def g(x): return -x"),
        "f(2.5)",
    ),
}  # fmt: skip


@by_one_python_a_day
@pytest.mark.parametrize("name", CHANGED)
def test_every_change_is_seen(name):
    before, after, *calls = CHANGED[name]
    before, after = [(x, "") if isinstance(x, str) else x for x in (before, after)]
    World(*before).call(calls[0])
    first = World(*before)
    value, there = first.call(calls[0])
    assert there and ("grad" in before[0] or same(value, first.plain(calls[0])))
    world = World(*after)
    value, there = world.call(calls[-1])
    assert not there
    expected = World(*after).plain(calls[-1]) if "grad" not in after[0] else World(*after).call(calls[-1])[0]
    assert same(value, expected)


TWO = "def g(x): return x\ndef h(x): return -x\n"
BASES = "class A:\n    def m(self): return 1.0\nclass B:\n    def m(self): return 2.0\nclass P({0}):\n    def __init__(self, a): self.a = a\n"
SEVERAL = {
    "a function in a tuple": (TWO + "fs = (g, math.sin)\n" + function("return fs[0](x)"), TWO + "fs = (h, math.sin)\n" + function("return fs[0](x)"), "f(2.5)"),
    "the code of a function in a tuple": (TWO + "fs = (g,)\n" + function("return fs[0](x)"), TWO.replace("return x", "return 2 * x") + "fs = (g,)\n" + function("return fs[0](x)"), "f(2.5)"),
    "what a function in a tuple calls": (
        "def k(x): return x\ndef g(x): return k(x)\nfs = (g,)\n" + function("return fs[0](x)"),
        "def k(x): return -x\ndef g(x): return k(x)\nfs = (g,)\n" + function("return fs[0](x)"),
        "f(2.5)",
    ),
    "the order of bases": (BASES.format("A, B") + function("return P(x).m()"), BASES.format("B, A") + function("return P(x).m()"), "f(2.5)"),
    "a base": (BASES.format("A") + function("return x if isinstance(P(x), A) else -x"), BASES.format("B") + function("return x if isinstance(P(x), A) else -x"), "f(2.5)"),
    "the method of an object that is a global": (
        methods() + "p = P(2.0)\n@zyg.jit(cache=True)\ndef f(x): return p.method(x)\n",
        methods().replace("return x * self.a", "return x + self.a") + "p = P(2.0)\n@zyg.jit(cache=True)\ndef f(x): return p.method(x)\n",
        "f(2.5)",
    ),
    "an attribute of an object that is a global": (
        methods() + "p = P(2.0)\n@zyg.jit(cache=True)\ndef f(x): return p.method(x)\n",
        methods() + "p = P(2.0)\np.a = 3\n@zyg.jit(cache=True)\ndef f(x): return p.method(x)\n",
        "f(2)",
    ),
    "a property where an attribute was": (methods(), methods() + "P.k = property(lambda self: self.a)\n", "f(2.5)"),
    "NumPy's function that is another one": (function("return float(np.sum(x))"), "np.sum = lambda x: np.max(x) * 2.0\n" + function("return float(np.sum(x))"), "f(np.ones(3))"),
    "a function that is captured by one that is captured": (
        "def a(t):\n    def g(x): return x if t == 'a' else -x\n    return g\ndef b(g):\n    def h(x): return g(x)\n    return h\nk = b(a('a'))\n" + function("return k(x)"),
        "def a(t):\n    def g(x): return x if t == 'a' else -x\n    return g\ndef b(g):\n    def h(x): return g(x)\n    return h\nk = b(a('b'))\n" + function("return k(x)"),
        "f(2.5)",
    ),
    "options of a callee": (
        "@zyg.jit\ndef g(x): return 1.0 / x\n" + function("return g(x)"),
        "@zyg.jit(error_model='numpy')\ndef g(x): return 1.0 / x\n" + function("return g(x)"),
        "f(2.5)",
    ),
    "a class method": (
        "class P:\n    k = 1.0\n    @classmethod\n    def m(cls, x): return cls.k * x\n" + function("return P.m(x)"),
        "class P:\n    k = -1.0\n    @classmethod\n    def m(cls, x): return cls.k * x\n" + function("return P.m(x)"),
        "f(2.5)",
    ),
    "slots": (
        "class P:\n    __slots__ = ('a', 'b')\n    def __init__(self, a): self.a = a\n    def m(self): return self.a\n" + function("return P(x).m()"),
        "class P:\n    __slots__ = ('a', 'b')\n    def __init__(self, a): self.b = a\n    def m(self): return 2 * self.b\n" + function("return P(x).m()"),
        "f(2.5)",
    ),
    "a constant of a module": (
        ("import kept_helper as k\n" + function("return x if k.mode == ('a', 1) else -x"), "mode = ('a', 1)"),
        ("import kept_helper as k\n" + function("return x if k.mode == ('a', 1) else -x"), "mode = ('a', 2)"),
        "f(2.5)",
    ),
    "a default by keyword of the function": (function("return x + y", "x, *, y=1.0"), function("return x + y", "x, *, y=1.0") + "f.py_func.__kwdefaults__ = {'y': 2.0}\n", "f(2.5)"),
    "the variable of an inner function": (
        function("def g(y):\n    return y + c\nreturn g(x)") + "c = 1\n",
        function("def g(y):\n    return y + c\nreturn g(x)") + "c = 1.5\n",
        "f(2)",
    ),
    "a generator": (function("return sum(i * x for i in range(4))"), function("return sum(i + x for i in range(4))"), "f(2.5)"),
    "a decorated callee": (
        "def twice(g):\n    def h(x): return 2 * g(x)\n    return h\n@twice\ndef g(x): return x\n" + function("return g(x)"),
        "def twice(g):\n    def h(x): return 3 * g(x)\n    return h\n@twice\ndef g(x): return x\n" + function("return g(x)"),
        "f(2.5)",
    ),
}  # fmt: skip


@pytest.fixture
def numpys_own():
    own = np.sum
    yield
    np.sum = own


@pytest.mark.parametrize("name", SEVERAL)
def test_other_changes_are_seen(name, numpys_own):
    """(Not all of these are kept.)"""
    before, after, call = SEVERAL[name]
    before, after = [(x, "") if isinstance(x, str) else x for x in (before, after)]
    for _ in range(2):
        world = World(*before)
        value, _ = world.call(call)
        assert same(value, world.plain(call))
    world = World(*after)
    value, there = world.call(call)
    assert same(value, world.plain(call)) and not there


ORDERED = ["tuple(c)", "[*c]", "[y for y in c]", "[next(iter(c)), 8 in c]", "list(map(float, c))"]


@pytest.mark.parametrize("expression", ORDERED)
def test_the_order_of_a_set_is_that_of_this_process(expression):
    """Of texts it is another one in each process; numbers in one place of the table come in the order in which they were put there."""
    for order in ("0, 8", "8, 0"):
        world = World(f"c = frozenset([{order}])\n" + function(f"return {expression}"))
        assert same(world.call("f(2.5)")[0], world.plain("f(2.5)"))


def test_what_is_in_a_set_does_not_depend_on_its_order():
    text = "c = frozenset([{}])\n" + function("return x if y in c else -x", "x, y")
    World(text.format("0, 8")).call("f(2.5, 8)")
    assert World(text.format("8, 0")).call("f(2.5, 8)") == (2.5, True)


def test_a_module_that_raises_where_it_had_something():
    text = "import kept_helper\n" + function("return kept_helper.q(x)")
    World(text, "def h(x): return x\ndef __getattr__(name): return h").call("f(2.5)")
    world = World(text, "def __getattr__(name): raise RuntimeError(name)")
    found = []
    for place in ("one", "empty"):
        with pytest.raises(Exception) as raised:
            world.main.f(2.5)
        found.append((type(raised.value), str(raised.value)))
        os.environ["ZYG_CACHE_DIR"] += place
    assert found[0] == found[1]


ASKED = """
def __getattr__(name): raise KeyError(name)
class Odd:
    __class__ = property(lambda self: 1 / 0)
class Meta(type):
    def __getattr__(cls, name): raise RuntimeError(name)
class P(metaclass=Meta):
    def k(x): return x + 1.0
k = vars(P)["k"]
del P.k
class Q:
    odd = Odd()
    def m(self, x): return x + 2.0
def make():
    def g(x): return x
    g.odd = Odd()
    return g
g = make()
"""


@pytest.mark.parametrize("body", ["g(x)", "k(x)", "Q().m(x)", "(lambda y: 2.0 * y)(x)"])
def test_what_the_user_has_made_is_not_asked(body):
    world = World(ASKED + f"f = zyg.jit(lambda x: {body}, cache=True)\n")
    assert world.call("f(2.5)")[0] == world.plain("f(2.5)")


@pytest.mark.parametrize("change", ["__code__ = (lambda x, y=1.0: -x).__code__", "__defaults__ = (5.0,)"])
def test_what_changes_while_it_is_kept(change, monkeypatch):
    """By another thread: what is kept is not what is there by now."""
    keep = programs.Program.keep
    text = "def g(x, y=1.0): return x + y\n" + function("return g(x)")
    world = World(text)

    def late(self, compiled):
        exec("g." + change, vars(world.main))
        keep(self, compiled)

    monkeypatch.setattr(programs.Program, "keep", late)
    assert world.call("f(2.5)") == (3.5, False)
    monkeypatch.setattr(programs.Program, "keep", keep)
    changed = World(text)
    exec("g." + change, vars(changed.main))
    value, there = changed.call("f(2.5)")
    assert value == changed.plain("f(2.5)") and not there


@pytest.mark.parametrize("change", ["c = 5.0", "c = -1.0"])
def test_values_of_globals_are_read_at_each_call(change):
    text = "c = 2.0\n" + function("return c * x")
    World(text).call("f(2.5)")
    assert World(text + change).call("f(2.5)") == (2.5 * float(change[4:]), True)


def test_what_changes_after_it_was_found_is_seen():
    text = "c = 2.0\ndef g(x): return x\n" + function("return c * g(x)")
    World(text).call("f(2.5)")
    world = World(text)
    assert world.call("f(2.5)") == (5.0, True)
    own = vars(world.main)
    own["c"] = 3.0
    assert world.main.f(2.5) == 7.5
    own["g"] = lambda x: x + 1
    assert world.main.f(2.5) == 10.5
    own["c"] = np.ones(2)
    assert same(world.main.f(2.5), np.array([3.5, 3.5]))
    del own["g"]
    with pytest.raises(NameError):
        world.main.f(2.5)


RULED = "def g(x): return x * x\n" + function("return g(x)") + "h = zyg.grad(f)\n"


def test_a_rule_that_is_made_before():
    World(RULED).call("h(2.5)")
    world = World(RULED)
    zyg.adjoint(world.main.g)(lambda x: (x * x, lambda d: (100.0,)))
    assert world.call("h(2.5)") == (100.0, False)
    zyg.rules.remove(world.main.g)
    assert world.main.h(2.5) == 5.0
    # With a rule it is not kept.
    zyg.adjoint(world.main.g)(lambda x: (x * x, lambda d: (100.0,)))
    assert World(RULED).call("h(2.5)") == (5.0, True)


def test_a_rule_that_is_made_afterwards():
    World(RULED).call("h(2.5)")
    world = World(RULED)
    assert world.call("h(2.5)") == (5.0, True)
    zyg.adjoint(world.main.g)(lambda x: (x * x, lambda d: (100.0,)))
    assert world.main.h(2.5) == 100.0


def test_rules_of_functions_that_share_what_was_found():
    text = "def make(c):\n    @zyg.jit(cache=True)\n    def f(x):\n        return c * x * x\n    return f\nf, g = make(1.0), make(2.0)\n"
    World(text).call("zyg.grad(f)(2.5)")
    world = World(text)
    assert world.call("zyg.grad(f)(2.5)") == (5.0, True)
    assert eval("zyg.grad(g)(2.5)", vars(world.main)) == 10.0
    zyg.adjoint(world.main.g)(lambda x: (x * x, lambda d: (100.0,)))
    assert eval("zyg.grad(g)(2.5)", vars(world.main)) == 100.0
    assert eval("zyg.grad(f)(2.5)", vars(world.main)) == 5.0


def test_what_was_found_keeps_no_function_alive():
    text = function("return c * x * x") + "c = 2.0\nh = zyg.grad(f)\n"
    World(text).call("h(2.5)")
    world = World(text)
    assert world.call("h(2.5)") == (10.0, True)
    gone = weakref.ref(world.main.f), weakref.ref(world.main.f.py_func)
    vars(world.main).clear()
    gc.collect()
    assert [one() for one in gone] == [None, None]


def test_a_rule_for_a_function_of_python():
    text = function("return math.sin(x)") + "h = zyg.grad(f)\n"
    World(text).call("h(0.0)")
    world = World(text)
    own = zyg.rules.rule_for(np.sin), zyg.rules.rule_for(world.main.math.sin)
    rule = lambda x: (x, lambda d: (50.0,))
    try:
        zyg.adjoint(world.main.math.sin)(rule)
        assert world.call("h(0.0)") == (50.0, False)
    finally:
        if own[1] is None:
            zyg.rules.remove(world.main.math.sin)
        else:
            zyg.adjoint(world.main.math.sin)(own[1].function)


FAILING = function("y = x + 1\nif x > 3.0:\n    raise ValueError('too large')\nreturn y / (x - 2.0)")


def _place_of_error(world, call):
    with pytest.raises(Exception) as raised:
        world.call(call)
    last = traceback.extract_tb(raised.value.__traceback__)[-1]
    return type(raised.value), str(raised.value), last.filename, last.lineno or 0, last.name, last.colno, last.end_colno


@pytest.mark.parametrize("call", ["f(2.0)", "f(5.0)"])
def test_errors_are_where_they_are_now(call):
    World(FAILING).call("f(1.0)")
    first = _place_of_error(World(FAILING), call)
    moved = _place_of_error(World("\n\n" + FAILING), call)
    assert moved[:3] == first[:3] and moved[3] == first[3] + 2 and moved[4:] == first[4:]
    world = World(FAILING)
    assert world.call("f(1.0)")[1]
    with pytest.raises(first[0]):
        world.main.f(2.0 if call == "f(2.0)" else 5.0)


def test_who_asks_what_it_is_made_of_is_told():
    text = function("return x * 3.0")
    first = World(text)
    first.call("f(2.5)")
    world = World(text)
    world.call("f(2.5)")
    (shown,), (known,) = world.main.f.inspect_llvm().values(), first.main.f.inspect_llvm().values()
    assert shown == known and "fmul" in shown
    assert world.main.f.signatures == first.main.f.signatures
    assert "f64" in world.main.f._repr_html_()
    assert zyg.code_typed(world.main.f, 2.5) is not None and zyg.explain(world.main.f, 2.5) is not None


def test_functions_made_anew_share_what_was_found():
    text = function("return x * 3.0")
    World(text).call("f(2.5)")
    world = World(text)
    assert world.call("zyg.grad(f)(2.5)") == (3.0, False)
    world = World(text)
    assert world.call("zyg.grad(f)(2.5)") == (3.0, True)
    with zyg.pipeline.timings() as times:
        assert eval("zyg.grad(f)(2.5)", vars(world.main)) == 3.0
    assert not times


def test_damaged_entries_are_written_anew(place):
    text = function("return x * 3.0")
    World(text).call("f(2.5)")
    for damage in (b"", b"rubbish", cache.MAGIC, cache.MAGIC + bytes(100)):
        for entry in place.iterdir():
            entry.write_bytes(damage)
        assert World(text).call("f(2.5)") == (7.5, False)
        assert World(text).call("f(2.5)") == (7.5, True)


def test_an_entry_whose_code_is_gone(place):
    text = function("return x * 3.0 + math.sin(x)")
    World(text).call("f(2.5)")
    (program,) = [entry for entry in place.iterdir() if b"kept_main" in entry.read_bytes()]
    for entry in place.iterdir():
        if entry != program:
            entry.unlink()
    value, there = World(text).call("f(2.5)")
    assert not there and value == World(text).call("f(2.5)")[0]


def test_a_directory_that_cannot_be_written(monkeypatch):
    """(for root, too, whom permissions do not stop)"""

    def refused(*args, **kwargs):
        raise PermissionError("not here")

    text, other = function("return x * 3.0"), function("return x * 4.0")
    World(text).call("f(2.5)")
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "mkstemp", refused)
        assert World(text).call("f(2.5)") == (7.5, True)
        assert World(other).call("f(2.5)") == (10.0, False)
    assert World(other).call("f(2.5)") == (10.0, False)  # nothing was kept


def test_source_that_was_changed_is_not_trusted(monkeypatch):
    text = function("return x * 3.0")
    World(text).call("f(2.5)")
    monkeypatch.setattr(zyg.circumstances, "source", lambda: None)
    assert World(text).call("f(2.5)") == (7.5, False)
    monkeypatch.setattr(zyg.circumstances, "source", lambda: "another")
    assert World(text).call("f(2.5)") == (7.5, False)
    assert World(text).call("f(2.5)") == (7.5, True)


def test_entries_are_data(place):
    World(function("return x * 3.0 + math.sin(x)")).call("f(2.5)")
    (entry,) = [entry for entry in place.iterdir() if b"kept_main" in entry.read_bytes()]
    content = cache.load(entry.name)
    assert content is not None

    def all_of(x):
        yield type(x)
        for item in x if type(x) is tuple else ():
            yield from all_of(item)

    assert {*all_of(marshal.loads(content))} <= {tuple, str, bytes, int, float, bool, type(None)}


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import dataclasses, math, traceback
import numpy as np
import zyg, helper
from zyg.pipeline import timings

@dataclasses.dataclass
class P:
    a: float
    b: float = 2.0
    def area(self): return self.a * self.b

scale = np.arange(3.0)

def callee(x): return helper.g(x) + math.exp(-x)

@zyg.jit(cache=True)
def loop(x, n):
    s = 0.0
    for i in range(n):
        s += callee(x * i)
    return s

@zyg.jit(cache=True)
def arrays(x): return np.sum(np.sin(x) * scale, axis=1), {"a": x[0] @ x[1], "b": [x.T, None]}

@zyg.jit(cache=True)
def classes(p):
    p.a += 1.0
    return P(p.area()), p

@zyg.jit(cache=True)
def error(x):
    return 1.0 / (x - 2.0)

def total(x): return np.sum(np.linalg.solve(np.eye(3) * 5.0 + x.T @ x, x[0] * scale))

def raised(f, x):
    try:
        f(x)
    except ZeroDivisionError as e:
        last = traceback.extract_tb(e.__traceback__)[-1]
        return str(e), last.lineno, last.name, last.colno

x = np.linspace(0.0, 1.0, 6).reshape(2, 3)
with timings() as times:
    shown = [
        loop(0.3, 7), arrays(x), classes(P(1.5)), raised(error, 2.0), error(3.0), zyg.grad(loop)(0.3, 7),
        zyg.jit(zyg.value_and_grad(total), cache=True)(x), zyg.jit(lambda p: p.a * p.b, cache=True)(P(2.0)),
    ]

def bits(v):
    if isinstance(v, np.ndarray):
        return v.shape, v.strides, v.tobytes().hex()
    if isinstance(v, dict):
        return {k: bits(item) for k, item in v.items()}
    if isinstance(v, P):
        return "P", bits([v.a, v.b])
    return [bits(item) for item in v] if isinstance(v, (list, tuple)) else v.hex() if isinstance(v, float) else v

print(bits(shown))
print(sorted({stage for _, stage, _ in times}), "zyg.frontend.infer" in sys.modules)
"""


@each_in_long_turn
def test_another_process_finds_programs(tmp_path, place):
    (tmp_path / "main.py").write_text(SCRIPT)

    def run(helper):
        (tmp_path / "helper.py").write_text(helper)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, str(tmp_path / "main.py"), str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    values, stages = run("def g(x): return x * x")
    assert "typed" in stages
    assert run("def g(x): return x * x") == [values, "['kept'] False"]
    others, stages = run("def g(x): return x * x * x")
    assert others != values and "typed" in stages


@each_in_long_turn
def test_processes_side_by_side(tmp_path, place):
    text = (
        "import zyg\n@zyg.jit(cache=True)\ndef f(x):\n    return x * 3.0 + sum(i * x for i in range(3))\nprint(f(2.5))"
    )
    (tmp_path / "main.py").write_text(text)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(tmp_path / "main.py")]
    several = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(3)]
    assert [process.communicate()[0].strip() for process in several] == ["15.0"] * 3
    assert not [entry for entry in place.iterdir() if entry.name.startswith(".new")]
