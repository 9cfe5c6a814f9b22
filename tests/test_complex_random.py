"""Random programs on complex numbers: loops, branches, arrays, tuples and mixed numbers.

Values are compared with CPython bit by bit, gradients with numbers that carry a tangent (written here, so that nothing is
shared with zyg), which are pushed through the same source along every real direction of the arguments.
"""

import cmath
import math
import random
import struct
import types

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn

# ------------------------------------------------------------------------------------------------ the oracle


class Carrier:
    """A number with its derivative along one real direction."""

    def __init__(self, value, tangent):
        self.value = value
        self.tangent = tangent

    def __add__(self, other):
        a, b = self, carried(other)
        return Carrier(a.value + b.value, a.tangent + b.tangent)

    def __sub__(self, other):
        a, b = self, carried(other)
        return Carrier(a.value - b.value, a.tangent - b.tangent)

    def __mul__(self, other):
        a, b = self, carried(other)
        return Carrier(a.value * b.value, a.tangent * b.value + a.value * b.tangent)

    def __truediv__(self, other):
        a, b = self, carried(other)
        quotient = a.value / b.value
        return Carrier(quotient, (a.tangent - quotient * b.tangent) / b.value)

    def __pow__(self, n):
        return Carrier(self.value**n, n * self.value ** (n - 1) * self.tangent if n else 0.0)

    __radd__ = __add__

    def __rmul__(self, other):
        return carried(other) * self

    def __rsub__(self, other):
        return carried(other) - self

    def __rtruediv__(self, other):
        return carried(other) / self

    def __neg__(self):
        return Carrier(-self.value, -self.tangent)

    def __abs__(self):
        size = abs(self.value)
        slope = (complex(self.value).conjugate() * self.tangent).real / size if size else 0.0
        return Carrier(size, slope)

    @property
    def real(self):
        return Carrier(self.value.real, complex(self.tangent).real)

    @property
    def imag(self):
        return Carrier(self.value.imag, complex(self.tangent).imag)

    def conjugate(self):
        return Carrier(self.value.conjugate(), complex(self.tangent).conjugate())

    def __lt__(self, other):
        return self.value < carried(other).value

    def __gt__(self, other):
        return self.value > carried(other).value


def carried(x):
    return x if isinstance(x, Carrier) else Carrier(x, 0.0)


SLOPES = {"exp": cmath.exp, "sin": cmath.cos, "cos": lambda z: -cmath.sin(z), "sqrt": lambda z: 0.5 / cmath.sqrt(z),
          "log": lambda z: 1 / z, "tanh": lambda z: 1 / cmath.cosh(z) ** 2, "atan": lambda z: 1 / (1 + z * z)}  # fmt: skip


def function(name):
    plain, slope = getattr(cmath, name), SLOPES[name]
    return lambda z: Carrier(plain(carried(z).value), slope(carried(z).value) * carried(z).tangent)


def make_complex(x, y):
    x, y = carried(x), carried(y)
    return Carrier(complex(x.value, y.value), complex(x.tangent, y.tangent))


class Slots(list):
    """In place of an array of complex numbers."""

    def sum(self):
        return sum(self, start=0j)


ORACLE = {
    "cmath": types.SimpleNamespace(**{name: function(name) for name in SLOPES}),
    "np": types.SimpleNamespace(zeros=lambda n, dtype: Slots([0j] * n)),
    "complex": make_complex,
}

# --------------------------------------------------------------------------------------------- the programs


class Maker:
    """Writes a function of two complex numbers, a float and an int, whose value is a float."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.complexes = ["z", "w"]
        self.reals = ["x"]
        self.lines = []

    def number(self, depth=0):
        pick = self.rng.random()
        if depth > 2 or pick < 0.35:
            return self.rng.choice([*self.complexes, *self.complexes, *self.reals, f"{self.rng.uniform(-2, 2):.2f}", "1j",
                                    f"({self.rng.uniform(-1, 1):.1f}+{self.rng.uniform(0, 1):.1f}j)"])  # fmt: skip
        a, b = self.number(depth + 1), self.number(depth + 1)
        if pick < 0.75:
            return f"({a} {self.rng.choice('++-**')} {b})"
        if pick < 0.82:
            return f"({a} / (abs({b}) + 1.5))" if self.rng.random() < 0.5 else f"({a} / ({b} * 0.1 + (3+1j)))"
        if pick < 0.9:
            return f"cmath.{self.rng.choice(list(SLOPES))}({a} * 0.2 + (0.7+0.3j))"
        if pick < 0.94:
            return f"complex({self.real(depth + 1)}, {self.real(depth + 1)})"
        if pick < 0.97:
            return f"({self.rng.choice(self.complexes)}).conjugate()"
        return f"({self.rng.choice(self.complexes)} ** {self.rng.choice([2, 3])})"

    def real(self, depth=0):
        pick = self.rng.random()
        if depth > 2 or pick < 0.3:
            return self.rng.choice([*self.reals, f"{self.rng.uniform(-2, 2):.2f}"])
        if pick < 0.8:
            return f"({self.rng.choice(self.complexes)}){self.rng.choice(['.real', '.imag'])}"
        return f"abs({self.rng.choice(self.complexes)})"

    def write(self, indent, depth=0):
        pad = "    " * indent
        for _ in range(self.rng.randint(1, 4)):
            kind = self.rng.random()
            if kind < 0.35:
                target = self.rng.choice([*self.complexes, f"c{len(self.complexes)}"] if not depth else self.complexes)
                self.lines.append(f"{pad}{target} = {self.number()} * 0.5 + 0j")
                if target not in self.complexes:
                    self.complexes.append(target)
            elif kind < 0.45:
                self.lines.append(f"{pad}x = {self.real()} * 0.5")
            elif kind < 0.55:
                self.lines.append(f"{pad}a[{self.rng.randint(0, 2)}] {self.rng.choice(['=', '+='])} {self.number()}")
            elif kind < 0.65:
                p, q = self.rng.sample(self.complexes, 2)
                self.lines.append(f"{pad}{p}, {q} = {q}, {p} * 0.9")
            elif kind < 0.75 and depth < 2:
                self.lines.append(f"{pad}if {self.real()} < {self.real()}:")
                self.write(indent + 1, depth + 1)
                if self.rng.random() < 0.5:
                    self.lines.append(f"{pad}else:")
                    self.write(indent + 1, depth + 1)
            elif kind < 0.85 and depth < 2:
                k = f"k{indent}"
                self.lines.append(f"{pad}for {k} in range({self.rng.choice(['n', '2', '3'])}):")
                self.write(indent + 1, depth + 1)
                if self.rng.random() < 0.3:
                    self.lines.append(f"{pad}    if abs({self.rng.choice(self.complexes)}) > 3.0:")
                    self.lines.append(f"{pad}        {self.rng.choice(['break', 'continue'])}")
            else:
                self.lines.append(f"{pad}s += {self.number()} * 0.25")

    def source(self):
        self.write(1)
        result = self.rng.choice(
            ["abs(s + a.sum())", "s.real + a[1].imag", "(s * a[0] + s).imag", "abs(s) * x + a.sum().real"]
        )
        body = "\n".join(self.lines)
        return f"def f(z, w, x, n):\n    s = 0\n    a = np.zeros(3, dtype=complex)\n{body}\n    s = s + 0j\n    return {result}\n"


def compiled(source, scope):
    exec(compile(source, "<random>", "exec"), scope)
    return scope["f"]


def bits(x):
    return "nan" if x != x else struct.pack("d", x)


def check(seed):
    source = Maker(seed).source()
    rng = random.Random(-seed)
    f = compiled(source, {"cmath": cmath, "np": np})
    args = (complex(rng.gauss(0, 1), rng.gauss(0, 1)), complex(rng.gauss(0, 1), rng.gauss(0, 1)), rng.gauss(0, 1), 3)
    with np.errstate(all="ignore"):
        try:
            expected = float(f(*args))
        except (ArithmeticError, ValueError) as error:
            with pytest.raises(type(error)):
                zyg.jit(f)(*args)
            return
    assert bits(zyg.jit(f)(*args)) == bits(expected), source
    value, gradients = zyg.withgradient(f, *args)
    assert bits(float(value)) == bits(expected), source
    if not math.isfinite(expected):
        return
    oracle = compiled(source, dict(ORACLE))

    def along(n, direction):
        return carried(oracle(*[Carrier(a, direction) if k == n else a for k, a in enumerate(args)])).tangent

    exact = [complex(along(n, 1.0).real, along(n, 1j).real) for n in range(2)] + [along(2, 1.0).real]
    size = max(1.0, *map(abs, exact))
    for n, (g, e) in enumerate(zip(gradients, exact)):
        assert abs((g or 0.0) - e) <= 1e-9 * size, (source, args, n, g, e)
    _, tangent = zyg.jvp(f, args, (1 - 2j, 0.5j, 2.0, None))
    pushed = along(0, 1 - 2j).real + along(1, 0.5j).real + along(2, 2.0).real
    assert abs((tangent or 0.0) - pushed) <= 1e-8 * size, (source, args)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    check(seed)


if __name__ == "__main__":  # python -m tests.test_complex_random FIRST LAST
    import sys

    for number in range(*map(int, sys.argv[1:3])):
        check(number)
