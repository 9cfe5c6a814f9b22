"""Complex numbers: kinds of operands x operators and functions of Python and NumPy, constants and arrays among them."""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Iterator

import numpy as np

KNOWN = {"np": np, "cmath": cmath, "math": math}
KINDS = {
    "real": "1.5", "int": "3", "constant": "(1.2 - 0.7j)", "unit": "1j", "negative": "-2.0", "left": "(-1.5 + 0j)", "x": "x", "z": "complex(x, x * x)",
    "element": "np.array([complex(x, -x)])[0]", "array": "np.array([x + 1j * x * x, 1.0 - 0.5j * x, 2.0 + 0j])", "float64": "np.float64(x)",
    "reals": "np.array([x, 1.5, x * x])", "constants": "np.array([1 + 2j, 0.5 - 1j, 2.0])",
}  # fmt: skip
BINARY = ("a + b", "a - b", "a * b", "a / b", "a ** b", "np.multiply(a, b)", "np.divide(a, b)", "np.power(a, b)")
UNARY = (
    *(f"np.{f}(a)" for f in "exp log sqrt sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh log2 log10 log1p expm1 exp2".split()),
    *(f"np.{f}(a)" for f in "square reciprocal conj abs angle real imag sinc nan_to_num positive negative absolute sum prod mean".split()),
    "-a", "+a", "abs(a)", "a.conjugate()", "a.real", "a.imag", "a * a.conjugate()", "a ** 2", "a ** 3", "a ** -1", "a ** 0.5", "a ** 0", "a ** 1j", "2 ** a", "1 / a", "a / abs(a)",
    "a == a", "np.isclose(a, a) * a", "a is a and a",
)  # fmt: skip
OF_NUMBERS = (
    *(f"cmath.{f}(a)" for f in "exp log sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh log10 phase".split()),
    "cmath.log(a, 2)", "cmath.log(a, 1 + 1j)", "cmath.log(3, a)", "cmath.rect(abs(a), 0.3)", "complex(*cmath.polar(a))", "complex(a)", "complex(a.real, a.imag)", "complex(a, 1)", "complex(1, a)",
    "complex(real=a.real, imag=a.imag)", "pow(a, 2)", "sum([a, a * a])", "a.real + a.imag * 1j", "sum([a], start=1j)", "math.prod([a, a])", "complex(imag=a.real)", "max(a.real, a.imag)",
    "math.hypot(a.real, a.imag)", "math.atan2(a.imag, a.real)", "np.linalg.norm(a)", "np.array([a, a * a]).prod()", "np.full(3, a)", "np.where(a.real > 0, a, 2j)", "divmod(a.real, 0.3)[1]",
    "np.outer(a, a)", "np.dot(a, a)", "np.vdot(a, a)", "np.inner(a, a)", "np.add.reduce([a, a])", "np.polyval([1, 2j], a)", "np.linspace(a, 2j, 3)", "np.complex128(a)", "np.asarray(a)", "np.array(a)",
    "np.hypot(abs(a), 1.0)", "np.array([[a]])", "np.stack([a, a])", "np.atleast_1d(a)", "np.diff([a, 1j])", "np.cumsum([a, 1j])", "np.tile(a, 2)", "np.repeat(a, 2)", "np.var([a, 1j])", "np.std([a, 1j])",
    "np.clip(a.real, 0, 1)", "np.sign(a.real) * a", "np.copy(a)", "np.ravel(a)", "np.reshape(a, (1,))", "np.squeeze(a)", "np.trace([[a]])", "np.diag([a, 1j])", "np.kron(a, [1, 1j])", "np.average([a, 1j], weights=[1, 3])",
)  # fmt: skip
OF_ARRAYS = (
    *(f"a.{f}()" for f in "sum mean prod cumsum cumprod copy ravel var std".split()),
    "a @ a", "np.vdot(a, a * a)", "np.dot(a, a)", "np.inner(a, a)", "np.outer(a, a)", "np.linalg.norm(a)", "np.fft.fft(a)", "np.fft.ifft(a)", "np.diff(a)", "np.roll(a, 1) * a", "a[::-1] * a",
    "np.where(a.real > 1, a, a * 2j)", "np.convolve(a, a)", "np.correlate(a, a * 1j, 'full')", "np.einsum('i,i', a, a)", "np.concatenate([a, a * 2j])", "np.stack([a, a.real + 0j])", "np.trapezoid(a)",
    "np.interp(0.3, [0, 1, 2.0], a.real)", "np.average(a, weights=[1, 2, 3.0])", "np.cross(a, a * a)", "np.kron(a, a)", "np.diag(a) @ a", "np.linalg.solve(np.diag(a) + 0.1, a)", "np.linalg.inv(np.diag(a) + 0.1)",
    "np.linalg.det(np.diag(a) + 0.3)", "np.clip(a.real, 0, 1)", "np.sort(a.real)", "np.tensordot(a, a, 1)", "np.linspace(a[0], a[1], 3)", "np.full(3, a[0])", "np.median(a.imag)", "a.real * 1j + a.imag",
    "np.maximum(a.real, a.imag)", "np.hypot(a.real, a.imag)", "np.cov(a)", "np.gradient(a)", "np.polyval([1, 2j], a)", "np.vander(a, 3)", "np.tile(a, 2)", "np.pad(a, 1)", "np.flip(a) * a",
    "a.reshape(3, 1) @ a.reshape(1, 3)", "a.astype(complex)", "np.ptp(a.real)", "np.trace(np.outer(a, a))", "np.triu(np.outer(a, a))", "np.linalg.eigvals(np.outer(a, a) + np.diag([1, 2, 3.0]))",
    "np.linalg.svd(np.outer(a, a) + np.diag([1, 2, 3.0]))[1]",
)  # fmt: skip
IN_PLACE = (
    "a += b",
    "a -= b",
    "a *= b",
    "a /= b",
    "a **= b",
    "a[0] = b",
    "a[1:] *= b",
    "a.real = b",
    "a.imag[:] = b",
    "a.real[0] += b",
    "a[a.real > 0.8] = b",
    "np.add(a, b, out=a)",
    "a[...] = b",
)
VALUE = "return np.sum(np.abs(r) * 1.3 + np.real(r) * 0.7 + np.imag(r) * 0.4)"


def programs(seed: int) -> Iterator[str]:
    return itertools.islice(_all(), seed, None)


def _all() -> Iterator[str]:
    for form, (_, a), (_, b) in itertools.product(BINARY, KINDS.items(), KINDS.items()):
        if "x" in a + b:
            yield f"a = {a}\nb = {b}\nr = {form}\n{VALUE}"
    for forms, kinds in (
        (UNARY, ("z", "element", "array", "x")),
        (OF_NUMBERS, ("z", "x", "element")),
        (OF_ARRAYS, ("array", "reals")),
    ):
        for form, kind in itertools.product(forms, kinds):
            yield f"a = {KINDS[kind]}\nr = {form}\n{VALUE}"
    for form, a, (_, b) in itertools.product(IN_PLACE, ("array", "constants", "reals", "z"), KINDS.items()):
        if "x" in KINDS[a] + b:
            yield f"a = {KINDS[a]}\nb = {b}\n{form}\nr = a\n{VALUE}"
