"""A slice of `python -m tests.crosses`, and what its crosses have found."""

from __future__ import annotations

import itertools

import pytest

from tests.turns import TURN, each_in_turn

from . import arguments, bindings, classes, complexes, containers, effects, everyday, keywords, numbers, views
from .check import check

pytestmark = each_in_turn
FOUND = {
    "OrderedDict": (
        containers,
        "c = OrderedDict([('a', x), ('b', x * x)])\nc.update(c=x ** 3)\nc['a'] *= x\ndel c['b']\nd = c | {'q': x}\n"
        "return sum(v * (k + 1) for k, v in enumerate(d.values())) * c.pop('a')",
    ),
    "complex numbers of objects": (
        classes,
        "class C:\n    def __init__(self, v):\n        self.v = v\n    def __complex__(self):\n        return complex(self.v, self.v * self.v)\n"
        "return abs(complex(C(x))) ** 2 + complex(complex(x, x)).imag",
    ),
    "parts of complex numbers by methods": (
        classes,
        "class C:\n    def __init__(self, v):\n        self.v = v\n    def __float__(self):\n        return self.v * self.v\n"
        "return abs(complex(C(x), C(2.0 * x))) ** 2 + complex(imag=x).imag",
    ),
    "truth values in functions of numbers": (
        numbers,
        "a = x > 0\nreturn np.fabs(a) * np.arctan2(np.bool_(a), x) * np.abs(a)",
    ),
    "numbers that arrays make of objects": (
        numbers,
        "a, b = Made(x * x), np.array(x)\nz = array('d', [a, b, 1.0])\nz[2] = b\nz.append(a)\nz.extend([b, a])\nz.insert(0, a)\nw = np.zeros(3)\nw[0] = a\n"
        "w[1:].fill(b)\nz[-1:] = array('d', [a])\nreturn sum(k * v for k, v in enumerate(z)) + w @ [1.0, 2.0, 3.0] + math.ldexp(b, 2) + statistics.fmean([a, b])",
    ),
    "questions to objects": (
        classes,
        "class C:\n    def __init__(self, v):\n        self.v = v\n        self.held = [v, 1.0]\n    def __bool__(self):\n        return self.v > 0.1\n"
        "    def __len__(self):\n        return len(self.held)\n    def __contains__(self, k):\n        return k in self.held\n"
        "c = C(x)\nr = x ** 3 if c else x\nr += len(c) * x * x + (x in c) * x ** 4 + (not c) * x\nreturn r + c.v ** 2 if len([d for d in (c, c) if d]) > 1 else 0.0",
    ),
    "questions that only calculate": (
        classes,
        "class C:\n    def __init__(self, v):\n        self.v = v\n    def __bool__(self):\n        return self.v > 0.1\n    def __lt__(self, o):\n        return self.v * o.v\n"
        "c = C(x)\nr = x ** 3 if c else x\nreturn r + (c < C(x * x)) * x + bool(c) * c.v ** 2",
    ),
    "an array without dimensions": (numbers, "return np.array(x * x)"),
    "attributes that are set as items of __dict__": (
        classes,
        "class C:\n    def __getattr__(self, name):\n        self.__dict__[name] = len(name) * x\n        return self.__dict__[name]\n"
        "c = C()\nreturn c.a * c.a * c.bc",
    ),
    "an exception thrown into a generator": (
        effects,
        "def g(z):\n    try:\n        t = yield z * x\n    except ValueError as e:\n        t = e.args[0] * x\n    yield t * z\n"
        "h = g(x)\nr = next(h) * h.throw(ValueError(x * x))\nh.close()\nreturn r",
    ),
    **{
        f"{form} of a complex number": (complexes, f"a = complex(x, x * x)\nr = {form}\n{complexes.VALUE}")
        for form in ("np.angle(a)", "np.sinc(a)", "np.linalg.norm(a)", "np.polyval([1, 2j], a)", "np.kron(a, [1, 1j])")
    },
}

SECOND = (
    "attributes that are set as items of __dict__",
    "an exception thrown into a generator",
    "OrderedDict",
    "parts of complex numbers by methods",
    "numbers that arrays make of objects",
    "questions to objects",
    "questions that only calculate",
)


def _checked(body, known, **modes):
    wrong = [
        f"{mode}: {outcome}"
        for mode, outcome in check(body, known, **modes)
        if outcome not in ("right", "refused", "raises", "no number")
    ]
    assert not wrong, "\n".join([body, *wrong])


@pytest.mark.parametrize("name", FOUND)
def test_found(name):
    cross, body = FOUND[name]
    outcomes = dict(check(body, cross.KNOWN, second=name in SECOND, natively=False))
    assert set(outcomes.values()) == {"right"}, outcomes


# One of so many of the first 4000 programs.
SLICES = {
    bindings: 499,
    classes: 200,
    complexes: 499,
    containers: 200,
    effects: 400,
    everyday: 2000,
    keywords: 499,
    numbers: 499,
    views: 400,
}


@pytest.mark.parametrize("cross", SLICES, ids=lambda m: m.__name__.rpartition(".")[2])
def test_a_slice(cross):
    for body in itertools.islice(cross.programs(TURN), 0, 4000, SLICES[cross]):
        _checked(body, cross.KNOWN, natively=False)


@pytest.mark.parametrize("start", range(2))
def test_second_derivatives_of_keywords(start):
    for body in itertools.islice(keywords.programs(7 * start), 0, None, 1200):
        _checked(body, keywords.KNOWN, second=True, natively=False)


def test_a_slice_of_arguments():
    for case in itertools.islice(arguments.programs(TURN), 0, None, 193):
        wrong = [f"{way}: {outcome}" for way, outcome in arguments.check(case) if outcome not in ("right", "refused")]
        assert not wrong, (case, wrong)
