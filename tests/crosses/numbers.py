"""Real numbers: kinds of operands, of Python and NumPy, x operators and functions x where the value goes; special values among them."""

from __future__ import annotations

import itertools
import math
import operator
import statistics
from array import array
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np


class Made:
    """No number, but one can be made of it."""

    def __init__(self, value: Any):
        self.value = value

    def __float__(self) -> float:
        return self.value * 1.0


KNOWN: dict[str, Any] = {
    "array": array,
    "statistics": statistics,
    "memoryview": memoryview,
    "Made": Made,
    "np": np,
    "math": math,
    "operator": operator,
    "Fraction": Fraction,
    "Decimal": Decimal,
}


def put(container: Any, method: str, *args: Any) -> Any:
    getattr(container, method)(*args)
    return container


KNOWN |= {"put": put, "itertools": itertools}
KINDS = {
    "x": "x", "minus": "-x", "float64": "np.float64(x)", "element": "np.array([x, 2.0])[0]", "short": "np.float32(x) * 1.0", "int": "3", "negative": "-2", "true": "(x > 0)", "float": "1.5", "np.int64": "np.int64(2)",
    "np.bool_": "np.bool_(x > 0)", "zero": "0.0", "minus zero": "-0.0", "inf": "math.inf", "nan": "math.nan", "0-d": "np.array(x)", "one": "np.array([x])", "array": "np.array([x, -2.0 * x, 1.5])", "ints": "np.array([1, 2, -3])",
    "float32": "np.array([1.5, -0.5, 2.0], np.float32)", "joined": "(x if x < 5 else 1)", "complex": "(x + 0j)", "made": "Made(x * x)",
}  # fmt: skip
BINARY = (
    *(f"a {op} b" for op in "+ - * / // % **".split()), "divmod(a, b)[0]", "divmod(a, b)[1]", "max(a, b)", "min(a, b)", "pow(a, b)", "a if a > b else b", "a if a == b else b * x", "a and b", "a or b",
    *(f"math.{f}(a, b)" for f in "atan2 hypot copysign fmod pow remainder ldexp log dist".split()),
    *(f"np.{f}(a, b)" for f in "maximum minimum fmax fmin power arctan2 hypot copysign fmod remainder mod floor_divide logaddexp divide subtract heaviside nextafter where".split()),
    "sum([a, b])", "sum([a], b)", "math.fsum([a, b])", "math.prod([a, b])", "np.array([a, b])", "np.where(a > b, a, b)", "a * x if not a < b else b", "operator.mul(a, b)", "[a, b][a > b]", "(a, b)[int(a > 1)]", "sorted([a, b])[0]",
    "(lambda p, q: p * q)(q=a, p=b)", "f'{a:.3f}' < f'{b:.3f}' and a", "np.clip(a, 0.1, b)", "np.clip(a, b, None)", "max([a, b], key=abs)", "min(a, b, default=1) if 0 else a", "a.__add__(b)", "a.__rtruediv__(b)", "operator.pow(a, b)", "math.sumprod([a], [b])",
    "math.prod([b], start=a)", "math.dist([a, 1.0], [b, 3.0])", "math.ldexp(a, 2) * b", "statistics.mean([a, b])", "statistics.fmean([a, b])", "array('d', [a, b])[0]", "put(array('d', [1.0]), '__setitem__', 0, a)[0] * b", "put(array('d', [1.0]), 'append', a)[1] * b",
    "put(array('d', [1.0]), 'insert', 0, a)[0] * b", "put(array('d', [1.0]), 'extend', [b, a])[2]", "put(np.zeros(2), '__setitem__', 0, a)[0] * b", "put(np.zeros(2), 'fill', a)[1] * b", "put(memoryview(array('d', [1.0])), '__setitem__', 0, a)[0] * b", "np.full(2, a)[0] * b", "np.append(a, b)[-1]",
    "np.insert([1.0, 2.0], 1, a)[1] * b", "np.linspace(a, b, 3)[1]", "np.interp(a, [0, 1, 2], [1, b, 3])", "np.fromiter([a, b], float)[0]", "np.concatenate([[a], [b]])[0]", "np.add.reduce([a, b])", "float(a) * float(b)", "complex(a, b).imag", "math.fma(a, b, a)", "list(itertools.accumulate([a, b]))[-1]",
)  # fmt: skip
UNARY = (
    *(f"{f}(a)" for f in "abs round int float bool -+ -- + not complex str repr len sum".split() if f.isalpha()), "-a", "+a", "not a", "~a", "round(a, 1)", "round(a, -1)", "float(int(a)) * a", "int(a * 10) % 3 * a",
    *(f"math.{f}(a)" for f in "sqrt exp log log1p expm1 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh floor ceil trunc fabs gamma lgamma erf erfc degrees radians cbrt exp2 log2 log10 ulp".split()),
    *(f"math.{f}(a)[0]" for f in "modf frexp".split()), "math.modf(a)[1]", "math.isnan(a) or a", "math.isfinite(a) and a", "math.isclose(a, a) * a",
    *(f"np.{f}(a)" for f in "sqrt exp log abs fabs sign floor ceil rint trunc square reciprocal cbrt exp2 log2 sinc deg2rad rad2deg positive negative conj real imag angle round around spacing isnan nan_to_num sum mean max min prod argmax".split()),
    "a.real", "a.imag", "a.conjugate()", "a.is_integer() or a", "a.hex() and a", "a.as_integer_ratio()[0] * 0 + a", "a ** 2", "a ** 0", "a ** -1", "a ** 0.5", "2 ** a", "0 ** a", "(-2) ** a", "1 / a", "a * a", "a - a", "a / a", "a // a", "a % a",
    "a * 0.0", "a.item()", "a.astype(float)", "a.astype(int) * x", "np.float32(a) * x", "np.int64(a) * x", "np.float64(a)", "np.array(a)", "np.array([a])[0]", "np.asarray(a, dtype=np.float32) * x", "[a] * 2", "a.__float__()", "a.__bool__() * x",
    "a.copy()", "a.sum()", "a.mean()", "a.T", "a[0]", "a[()]", "a.tolist()", "list(a)[0]", "range(int(abs(a)) + 3)[1] * x", "(a == a) * x", "a != a and x", "isinstance(a, float) * x", "isinstance(a, (int, np.floating)) * x", "type(a)(a)", "hash(a) * 0 + a",
    "float(Fraction(2)) * a", "Fraction(1, 2) * a", "a * Fraction(1, 2)", "math.floor(a) * x", "divmod(a, 1)[1]", "abs(a) ** 0.5", "bool(a) * x", "a < 1 < 2 and x", "0 < a <= x or x * 2", "np.any(a) * x", "np.all(a) * x", "complex(a).real", "np.size(a) * x", "np.ndim(a) + a",
)  # fmt: skip
AROUND = (
    "r = E", "r = 0\nfor i in range(3):\n    r += E", "r = 1\nr *= E", "r = [E, x][0]", "r = {'k': E}['k']", "t = []\nt.append(E)\nr = t[-1]", "r = np.zeros(3)\nr[1] = E", "r = np.array([E, E])", "def g():\n    return E\nr = g()",
    "r = (lambda v: v * x)(E)", "r = x\nwhile r < 4:\n    r += 1 + abs(E) * 0", "r = E\nr **= 2", "r = sum(E for i in range(2))", "r = E if x > 0 else 0", "r = np.ones(3)\nr *= E", "r, s = E, x\nr, s = s, r\nr = r * s",
)  # fmt: skip
VALUE = "return r if type(r) in (float, int, bool) else np.sum(r) * 1.0"


def programs(seed: int) -> Iterator[str]:
    return itertools.islice(_all(), seed, None)


def _all() -> Iterator[str]:
    around = itertools.cycle(AROUND)
    for form, a in itertools.product(UNARY, KINDS.values()):
        yield _program(form, a, "", next(around))
    for form, a, b in itertools.product(BINARY, KINDS.values(), KINDS.values()):
        if "x" in a + b:
            yield _program(form, a, b, next(around))


def _program(form: str, a: str, b: str, around: str) -> str:
    return f"a = {a}\n" + (f"b = {b}\n" if b else "") + around.replace("E", f"({form})") + f"\n{VALUE}"
