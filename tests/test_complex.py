"""Complex numbers: values and exceptions as CPython's, bit for bit, and derivatives against closed forms and differences."""

import cmath
import math
import operator
import struct
import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import zyg

from .oracles import differences
from .turns import each_in_turn

pytestmark = each_in_turn

FAST = settings(max_examples=100, deadline=None)
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e300, 1.7e308, 5e-324, -1e-310, 710.0, 1e-160]
floats = st.one_of(st.sampled_from(SPECIAL), st.floats(-100, 100), st.floats())
numbers = st.builds(complex, floats, floats)
moderate = st.builds(complex, st.floats(-3, 3), st.floats(-3, 3))


def bits(x):
    """What tells values apart, signs of zeros included; all nans are one."""
    if isinstance(x, complex):
        return "complex", bits(x.real), bits(x.imag)
    if isinstance(x, tuple):
        return tuple(map(bits, x))
    if isinstance(x, float):
        return "nan" if x != x else struct.pack("d", x)
    return type(x), x


def outcome(f, *args):
    try:
        return bits(f(*args))
    except (ArithmeticError, ValueError, TypeError) as error:
        return type(error).__name__, str(error)


def same(compiled, f, *args):
    assert outcome(compiled, *args) == outcome(f, *args), (args, compiled(*args), f(*args))


# ---------------------------------------------------------------------------------------------- operators

OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
COMPILED = {symbol: zyg.jit(eval(f"lambda a, b: a {symbol} b")) for symbol in OPERATORS}


@pytest.mark.parametrize("symbol", OPERATORS)
@FAST
@given(numbers, numbers)
@example(1 + 2j, 0j)
@example(1 + 2j, complex(math.nan, 0.0))
@example(0j, -1 + 0j)
@example(2 + 0j, complex(1, math.inf))
@example(1 + 1j, 101 + 0j)
def test_of_two_complex_numbers(symbol, a, b):
    same(COMPILED[symbol], OPERATORS[symbol], a, b)


@pytest.mark.parametrize("symbol", OPERATORS)
@FAST
@given(
    numbers, st.one_of(floats, st.integers(-120, 120), st.integers(-(2**63), 2**63 - 1), st.booleans()), st.booleans()
)
def test_with_a_real_number(symbol, a, x, swapped):
    args = (x, a) if swapped else (a, x)
    same(COMPILED[symbol], OPERATORS[symbol], *args)


@pytest.mark.parametrize("n", [-7, -2, -1, 0, 1, 2, 3, 5, 100, 101, 0.5, 2.0, -1.5, 2j])
@settings(max_examples=60, deadline=None)
@given(numbers)
@example(0j)
def test_powers_with_a_constant_exponent(n, a):
    same(power_of(n), lambda z: z**n, a)


@cache
def power_of(n):
    return zyg.jit(eval(f"lambda z: z ** {n!r}"))


UNARY = ["abs(z)", "-z", "+z", "bool(z)", "not z", "z.real", "z.imag", "z.conjugate()", "complex(z)"]
UNARY_COMPILED = {text: zyg.jit(eval(f"lambda z: {text}")) for text in UNARY}


@pytest.mark.parametrize("name", UNARY)
@FAST
@given(numbers)
def test_of_one_complex_number(name, z):
    same(UNARY_COMPILED[name], eval(f"lambda z: {name}"), z)


parts = st.one_of(floats, st.integers(-5, 5), st.booleans(), numbers)


@FAST
@given(parts, parts)
def test_construction(x, y):
    same(CONSTRUCT, complex, x, y)


CONSTRUCT = zyg.jit(lambda x, y: complex(x, y))
REFUSED_BY_PYTHON = [
    "a // b", "a % b", "a < b", "a >= 1", "2.0 < b", "~a", "round(a)", "int(a)", "float(a)", "math.sin(a)", "divmod(a, b)",
    "max(a, b)", "pow(a, b, 3)", "a << 1", "a @ b", "complex(None)", "complex('1', a)", "complex(a, '1')", "cmath.exp('x')",
    "cmath.exp(None)", "a.is_integer()", "cmath.isclose(a, b, rel_tol=-1.0)", "cmath.log(a, 1)", "cmath.log(a, 0)",
    "complex(a, [])",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED_BY_PYTHON)
def test_errors(text):
    f = eval(f"lambda a, b: {text}", {"math": math, "cmath": cmath})
    a, b = 1 + 2j, 3 - 1j
    expected = (
        outcome(f, a, b)
        if "is_integer" not in text
        else ("AttributeError", "'complex' object has no attribute 'is_integer'")
    )
    try:
        found = bits(zyg.jit(f)(a, b))
    except Exception as error:
        found = type(error).__name__, str(error)
    assert found == expected


def test_constants_are_folded_with_the_same_results():
    f = lambda: (1j * 1j, 2**1j, abs(3 - 4j), (1 + 2j) / 3, complex("1e3-2j"), 1j == 1j, cmath.sqrt(-1))
    assert outcome(zyg.jit(f)) == outcome(f)
    with pytest.raises(ZeroDivisionError, match="complex division by zero"):
        zyg.jit(lambda: 1j / 0j)()


# -------------------------------------------------------------------------------------------- control flow


def partial_sums(z, n):
    total = 0  # an int at first
    for k in range(n):
        total += z**k / (k + 1)
    return total


def escape(c, n):
    z = 0j
    for k in range(n):
        if abs(z) > 2:
            return k
        z = z * z + c
    return n


def newton(z):
    """A root of z**3 - 1."""
    for _ in range(50):
        step = (z**3 - 1) / (3 * z**2)
        z -= step
        if abs(step) < 1e-14:
            break
    return z


def collected(n):
    found = []
    for k in range(n):
        found.append(1j**k)
    return found


def recursive(z, n):
    return z if n == 0 else recursive(z * z / (1 + abs(z)), n - 1) + 1j


def test_through_loops_branches_lists_and_recursion():
    assert zyg.jit(partial_sums)(0.5 + 0.25j, 10) == partial_sums(0.5 + 0.25j, 10)
    for c in (0.3 + 0.5j, 0.5 + 0.6j, 2 + 2j):
        assert zyg.jit(escape)(c, 50) == escape(c, 50)
    assert zyg.jit(newton)(1 + 2j) == newton(1 + 2j)
    assert zyg.jit(collected)(5) == collected(5)
    assert zyg.jit(recursive)(1 + 1j, 5) == recursive(1 + 1j, 5)
    assert zyg.jit(lambda z, w: [z, (w, 2)])(1j, 2) == [1j, (2, 2)]
    assert zyg.jit(lambda zs: sum(zs))([1j, 2 + 1j]) == 2 + 2j


SCALE = 2 - 1j


def test_globals_closures_and_arguments_of_several_types():
    offset = 1 + 1j
    f = zyg.jit(lambda z: SCALE * z + offset)
    assert f(1j) == SCALE * 1j + offset
    assert f(2) == SCALE * 2 + offset and f(0.5) == SCALE * 0.5 + offset
    assert type(f(np.complex128(1j))) is complex
    g = zyg.jit(lambda z: isinstance(z, complex))
    assert (g(1j), g(1.0), g(np.complex128(1))) == (True, False, True)


def test_a_number_that_meets_a_complex_one_is_complex():
    f = zyg.jit(lambda z, x: z if x > 0 else x)
    assert outcome(f, 1j, -2) == bits(-2 + 0j)
    assert zyg.jit(lambda z: z or None)(0j) is None


# ----------------------------------------------------------------------------------------------------- cmath

FUNCTIONS = (
    "exp", "log", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
)  # fmt: skip
OTHERS = ("phase", "polar", "isnan", "isinf", "isfinite")
CMATH = {name: zyg.jit(eval(f"lambda z: cmath.{name}(z)")) for name in (*FUNCTIONS, *OTHERS)}


@pytest.mark.parametrize("name", CMATH)
@FAST
@given(numbers)
@example(0j)
@example(-1 + 0j)
@example(complex(-1, -0.0))
@example(1j)
@example(1000 + 1j)
@example(complex(math.inf, 1))
@example(complex(1, math.inf))
def test_cmath(name, z):
    if name == "phase" and z.imag != 0 and abs(math.atan2(z.imag, z.real)) < sys.float_info.min:
        return  # CPython reports the C library's underflow as an overflow
    same(CMATH[name], getattr(cmath, name), z)


RECT, LOG_BASE = zyg.jit(lambda r, phi: cmath.rect(r, phi)), zyg.jit(lambda z, base: cmath.log(z, base))
CLOSE = zyg.jit(lambda a, b, r, t: cmath.isclose(a, b, rel_tol=r, abs_tol=t))


@FAST
@given(floats, floats)
def test_rect(r, phi):
    same(RECT, cmath.rect, r, phi)


@FAST
@given(numbers, numbers)
@example(2 + 0j, 1 + 0j)
@example(0j, 2 + 0j)
def test_log_to_a_base(z, base):
    same(LOG_BASE, cmath.log, z, base)


@FAST
@given(moderate, moderate, st.sampled_from([0.0, 1e-9, 0.5]), st.sampled_from([0.0, 1.0]))
@example(complex(math.inf, 0), complex(math.inf, 0), 0.0, 0.0)
def test_isclose(a, b, r, t):
    same(CLOSE, lambda a, b, r, t: cmath.isclose(a, b, rel_tol=r, abs_tol=t), a, b, r, t)


def test_without_checks():
    quiet = zyg.jit(lambda z: (1 / z, cmath.log(z), cmath.sqrt(z), z**-1), error_model="numpy")
    inverse, logarithm, root, power = quiet(0j)
    assert math.isinf(inverse.real) and math.isinf(power.real) and logarithm.real == -math.inf and root == 0


# ----------------------------------------------------------------------------------------------- derivatives

DERIVATIVES = {
    "exp": cmath.exp, "log": lambda z: 1 / z, "log10": lambda z: 1 / (z * math.log(10)), "sqrt": lambda z: 0.5 / cmath.sqrt(z),
    "sin": cmath.cos, "cos": lambda z: -cmath.sin(z), "tan": lambda z: 1 / cmath.cos(z) ** 2,
    "asin": lambda z: 1 / (cmath.sqrt(1 - z) * cmath.sqrt(1 + z)), "acos": lambda z: -1 / (cmath.sqrt(1 - z) * cmath.sqrt(1 + z)),
    "atan": lambda z: 1 / (1 + z * z), "sinh": cmath.cosh, "cosh": cmath.sinh, "tanh": lambda z: 1 / cmath.cosh(z) ** 2,
    "asinh": lambda z: 1 / (cmath.sqrt(1 + 1j * z) * cmath.sqrt(1 - 1j * z)),
    "acosh": lambda z: 1 / (cmath.sqrt(z - 1) * cmath.sqrt(z + 1)), "atanh": lambda z: 1 / (1 - z * z),
}  # fmt: skip
POINTS = [0.3 + 0.4j, -1.2 + 0.7j, 0.5 - 2.0j, -0.6 - 0.1j, 1.5 + 1e-9j, 0.4 + 0j, -0.4 + 0j, -2.5 + 1e-3j]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("z", POINTS)
def test_derivative_of_cmath(name, z):
    """The pullback is multiplication by the conjugate of the derivative; the pushforward by the derivative."""
    slope = DERIVATIVES[name](z)
    value, back = zyg.pullback(getattr(cmath, name), z)
    assert value == getattr(cmath, name)(z)
    for d in (1.0, 1j, 0.3 - 2j):
        assert back(d)[0] == pytest.approx(slope.conjugate() * d, rel=1e-13)
        assert zyg.jvp(getattr(cmath, name), (z,), (complex(d),))[1] == pytest.approx(slope * d, rel=1e-13)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivative_of_cmath(name):
    """Of Re f'(z), against differences of the closed form along both axes."""
    f, h = getattr(cmath, name), 1e-5
    inner = lambda z: zyg.pullback(f, z)[1](1.0)[0].real
    for z in (0.3 + 0.4j, -1.2 + 0.7j):
        slope = DERIVATIVES[name]
        along = [(slope(z + s) - slope(z - s)).real / (2 * h) for s in (h, 1j * h)]
        assert zyg.gradient(inner, z)[0] == pytest.approx(complex(*along), rel=1e-8)
        assert zyg.hvp(lambda x: f(x + 0.4j).real, 0.3, 1.0) == pytest.approx(
            ((slope(0.3 + h + 0.4j) - slope(0.3 - h + 0.4j)) / (2 * h)).real, rel=1e-7
        )


def numerical(f, *args):
    """The gradient by central differences: dL/dre + i dL/dim for complex arguments."""

    def along(n, direction, h=1e-6):
        moved = [[*args[:n], args[n] + s * h * direction, *args[n + 1 :]] for s in (1, -1)]
        return (f(*moved[0]) - f(*moved[1])) / (2 * h)

    return tuple(
        complex(along(n, 1.0), along(n, 1j)) if isinstance(a, complex) else along(n, 1.0) for n, a in enumerate(args)
    )


REAL_FUNCTIONS = [
    (lambda z: abs(z), (3 + 4j,)),
    (lambda z, w: (z / w).imag, (1 + 2j, -0.5 + 1j)),
    (lambda z, w: (z * w.conjugate()).real, (1 + 2j, -0.5 + 1j)),
    (lambda z, x: (x / z + z / x - x * z).imag, (1 + 2j, 0.7)),
    (lambda z: (z**3 + z**-2).real, (1 - 0.5j,)),
    (lambda z: (z**0.5 + z ** (1 + 2j)).imag, (1 - 0.5j,)),
    (lambda z, x: (z**x).real, (1 - 0.5j, 2.0)),
    (lambda z, x: (z**x).real, (1 - 0.5j, 2.5)),
    (lambda z, w: (z**w).imag, (1 - 0.5j, 2 + 0j)),
    (lambda x, w: (x**w).imag, (1.5, 2 - 1j)),
    (lambda z: cmath.phase(z) + cmath.polar(z)[0], (1 - 0.5j,)),
    (lambda r, phi: (cmath.rect(r, phi) * (1 + 2j)).real, (1.5, 0.3)),
    (lambda z: cmath.log(z, 2 + 1j).imag, (1 - 0.5j,)),
    (lambda x: abs(cmath.exp(1j * x) + 1), (0.7,)),
    (lambda x, y: abs(complex(x, y)), (0.7, -2.0)),
    (lambda z: abs(newton(z) - z), (1 + 2j,)),
    (lambda z: partial_sums(z, 6).imag, (0.5 + 0.25j,)),
    (lambda z: abs(recursive(z, 3)), (1 + 1j,)),
]


@pytest.mark.parametrize("f, args", REAL_FUNCTIONS)
def test_gradients_against_differences(f, args):
    found = zyg.gradient(f, *args)
    assert found == tuple(pytest.approx(g, rel=1e-7) for g in numerical(f, *args))
    assert [type(g) for g in found] == [complex if isinstance(a, complex) else float for a in args]


def test_parts_and_none():
    assert zyg.gradient(lambda z: z.real, 1 + 2j) == (1 + 0j,)
    assert zyg.gradient(lambda z: z.imag, 1 + 2j) == (1j,)
    assert zyg.gradient(lambda z: 2.0, 1 + 2j) == (None,)
    assert zyg.gradient(lambda z, x: x, 1 + 2j, 1.0) == (None, 1.0)
    assert zyg.gradient(lambda p: (p[0] * p[1]).real, (1j, 2.0)) == ((2 + 0j, 0.0),)


def test_points_without_a_derivative():
    assert zyg.gradient(abs, 0j) == (0j,)
    unused = lambda z: cmath.sqrt(z).real if z.real > 1 else z.imag
    assert zyg.gradient(unused, 0j) == (1j,)


def test_gradient_of_a_complex_value_names_pullback():
    with pytest.raises(TypeError, match=r"zyg\.pullback"):
        zyg.gradient(lambda z: z * z, 1 + 2j)


def test_pullbacks_take_real_and_complex_cotangents():
    value, back = zyg.pullback(lambda z, x: z * x, 1 + 2j, 3.0)
    assert value == 3 + 6j
    assert back(1) == (3 + 0j, 1.0) and back(1j) == (3j, 2.0) and back(np.complex128(1j)) == (3j, 2.0)
    assert back(None) == (0j, 0.0)
    with pytest.raises(TypeError, match="number"):
        back("1")
    _, back = zyg.pullback(abs, 3 + 4j)
    with pytest.raises(TypeError, match="number"):
        back(1j)


def test_rules_get_and_give_complex_cotangents():
    def square(z):
        return z * z

    @zyg.adjoint(square)
    def rule(z):
        return z * z, lambda d: (10 * d * z.conjugate(),)

    try:
        assert zyg.gradient(lambda z: square(z).real, 1 + 2j) == (10 - 20j,)
        assert zyg.pullback(square, 1 + 2j)[1](1j) == ((10 - 20j) * 1j,)
    finally:
        zyg.rules.remove(square)


def test_second_derivatives_and_mixes_of_modes():
    f = lambda x: abs(cmath.exp(1j * x) + x) ** 2
    x, h = 0.7, 1e-4
    expected = (f(x + h) - 2 * f(x) + f(x - h)) / h**2
    assert zyg.derivative(zyg.derivative(f))(x) == pytest.approx(expected, rel=1e-6)
    assert zyg.hvp(f, x, 1.0) == pytest.approx(expected, rel=1e-6)
    assert zyg.jvp(zyg.derivative(f), (x,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)


# ---------------------------------------------------------------------------------------------------- arrays


def vector():
    return np.array([1 + 2j, 3 - 4j, -0.5j])


def matrix():
    return np.arange(6.0).reshape(2, 3) * (1 + 1j)


ARRAY_FUNCTIONS = [
    (lambda a: a[0] * a[1] / a[2], vector), (lambda a: a[-1], vector), (lambda a: a[1:], vector), (lambda a: a[::-1], vector),
    (lambda a: a.real, vector), (lambda a: a[::2].imag, vector), (lambda a: len(a), vector), (lambda a: a.sum(), vector),
    (lambda a: a.mean(), vector), (lambda a: a.conj(), vector), (lambda a: a.copy(), vector), (lambda a: sum(a), vector),
    (lambda a: np.zeros_like(a), vector), (lambda a: np.array([a[0], 1, 2.5]), vector), (lambda a: a.astype(complex), vector),
    (lambda a: np.full(2, 1 + 1j), vector), (lambda a: np.ones(2, complex), vector), (lambda a: list(a), vector),
    (lambda a: a[0] / 0, vector), (lambda a: abs(a[1]), vector), (lambda a: np.conj(a[0]), vector), (lambda a: a.dtype, vector),
    (lambda a: np.angle(a[0]), vector), (lambda a: a[0] == a[0], vector), (lambda a: a[0] ** 3, vector), (lambda a: a[7], vector),
    (lambda a: a[0] ** -2 + a[1] ** 2, vector), (lambda a: a.item(1), vector), (lambda a: 1j * a[0].real, vector),
    (lambda a: a[0].real * 1j, vector), (lambda a: type(a[0] * 2), vector), (lambda a: np.real(a[0]), vector),
    (lambda m: m[1], matrix), (lambda m: m[:, 1], matrix), (lambda m: m[1, 2], matrix), (lambda m: (m.shape, m.size, m.ndim), matrix),
    (lambda m: m[..., 0], matrix), (lambda m: m.reshape(3, 2), matrix), (lambda m: m.ravel(), matrix), (lambda m: m.sum(), matrix),
    (lambda m: [row[1] for row in m], matrix), (lambda m: m.imag[1].sum(), matrix), (lambda m: m[:, ::2].sum(), matrix),
    (lambda a: a[()], lambda: np.array(3 + 1j)), (lambda a: a, lambda: np.array(3 + 1j)),
]  # fmt: skip


@pytest.mark.parametrize("f, make", ARRAY_FUNCTIONS)
def test_arrays(f, make):
    with np.errstate(all="ignore"):
        try:
            expected = f(make())
        except IndexError as error:
            with pytest.raises(IndexError, match=str(error)):
                zyg.jit(f)(make())
            return
    found = zyg.jit(f)(make())
    assert repr(found) == repr(expected.item() if isinstance(expected, np.generic) else expected)


def test_assignment():
    def plain(a, x):
        b = a.copy()
        b[0] = x
        b[1] += 2j
        b[2:] = a[:1]
        b *= 2
        b[:2] -= a[1:]
        b.real[2] = 7.0
        return b

    assert np.array_equal(zyg.jit(plain)(vector(), 3), plain(vector(), 3))

    def fills(n, x):
        m = np.empty((n, 3), dtype=complex)
        m[:] = x
        m[0] = np.arange(3)
        m[:, 1] = [1, 2j]
        m.fill(m[0, 2]) if n > 2 else None
        return m

    assert np.array_equal(zyg.jit(fills)(2, 1j), fills(2, 1j))


def test_dot_products():
    a, b, x = vector(), vector()[::-1] * 1j, np.array([1.0, 2.0, 3.0])
    for f in (
        lambda a, b, x: np.dot(a, b), lambda a, b, x: np.vdot(a, b), lambda a, b, x: a.dot(x), lambda a, b, x: np.vdot(x, a),
        lambda a, b, x: np.vdot(a[0], 2j),
    ):  # fmt: skip
        assert zyg.jit(f)(a, b, x) == pytest.approx(f(a, b, x), rel=1e-15)
    assert np.allclose(zyg.gradient(lambda a: np.vdot(a, b).real, a)[0], b)


def test_assignment_to_parts():
    def f(a, x):
        c = a.copy()
        c.imag = x * x
        c.real += 1.0
        return c

    a, x = vector(), np.array([1.0, 2.0, 3.0])
    assert np.array_equal(zyg.jit(f)(a, x), f(a, x))
    da, dx = zyg.gradient(lambda a, x: np.vdot(f(a, x), f(a, x)).real, a, x)
    assert np.allclose(da, 2 * (a.real + 1)) and np.allclose(dx, 4 * x**3)


def test_arrays_are_not_copied():
    def write(a):
        a[0] = 7j
        return a

    a = vector()
    assert zyg.jit(write)(a) is a and a[0] == 7j
    part = zyg.jit(lambda a: a.imag)(a)
    assert part.base is a or part.base is a.base
    part[1] = 5.0
    assert a[1] == 3 + 5j
    frozen = vector()
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        zyg.jit(write)(frozen)


def test_strided_arguments():
    base = np.arange(12.0) * (1 - 1j)
    f = zyg.jit(lambda a: a[1] + 2 * a[-1])
    for a in (base[::2], base[::-3], base.reshape(3, 4)[:, 1]):
        assert f(a) == a[1] + 2 * a[-1]


@pytest.mark.parametrize("n", [0, 1, 3, 4, 7, 64, 65, 130, 1001])
def test_sums_are_numpys(n):
    rng = np.random.default_rng(n)
    a = rng.normal(size=2 * n) + 1j * rng.normal(size=2 * n)
    f = zyg.jit(lambda a: a.sum())
    assert f(a) == a.sum() and f(a[::2]) == a[::2].sum()


def energy(a):
    total = 0.0
    for z in a:
        total += abs(z) ** 2
    return total


def transform(x):
    n = len(x)
    result = np.zeros(n, dtype=complex)
    for k in range(n):
        for j in range(n):
            result[k] += x[j] * cmath.exp(-2j * math.pi * k * j / n)
    return result


def test_gradients_by_arrays():
    (g,) = zyg.gradient(energy, vector())
    assert g.dtype == complex and np.allclose(g, 2 * vector())
    strided = np.arange(8.0)[::2] * (1 + 1j)
    assert np.allclose(zyg.gradient(energy, strided)[0], 2 * strided)
    assert np.array_equal(zyg.gradient(lambda m: m[:, 1].imag.sum(), matrix())[0], np.array([[0, 1j, 0], [0, 1j, 0]]))
    assert np.array_equal(zyg.gradient(lambda a: (a.sum() * 1j).imag, vector())[0], np.ones(3))


def test_pullback_and_tangent_of_a_transform():
    x = np.array([1.0, 2.0, 0.5, -1.0])
    value, back = zyg.pullback(transform, x)
    assert np.allclose(value, np.fft.fft(x))
    seed = np.array([1, 1j, 0.5, -2j])
    matrix = np.fft.fft(np.eye(4))
    assert np.allclose(back(seed)[0], (matrix.conj().T @ seed).real)
    assert np.allclose(back([1, 0, 0, 0])[0], np.ones(4))
    with pytest.raises(ValueError, match="shape"):
        back(np.zeros(3, complex))
    assert np.allclose(zyg.jvp(transform, (x,), (np.eye(4)[1],))[1], matrix[1])
    z = x + 1j
    assert np.allclose(zyg.pullback(transform, z)[1](seed)[0], matrix.conj().T @ seed)


def test_second_derivative_through_an_array():
    def f(a):
        b = np.zeros(len(a), complex)
        for i in range(len(a)):
            b[i] = a[i] * a[i] + a[0]
        return abs(b.sum())

    g = lambda a: zyg.gradient(f, a)[0][1].imag
    found = zyg.gradient(g, vector())[0]
    h = 1e-5
    for k in range(3):
        for unit in (1.0, 1j):
            moved = [vector(), vector()]
            moved[0][k] += h * unit
            moved[1][k] -= h * unit
            difference = (g(moved[0]) - g(moved[1])) / (2 * h)
            assert (found[k] * unit.conjugate()).real == pytest.approx(difference, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(
    "f",
    [lambda a: a < a, lambda a: a[0] < a[1], lambda a: float(a[0]), lambda a: np.float32(2) * 1j],
)  # fmt: skip
def test_refused(f):
    with pytest.raises(zyg.Unsupported):
        zyg.jit(f)(vector())


# -------------------------------------------------------------------------------------------- whole arrays


def operands():
    rng = np.random.default_rng(5)
    draw = lambda *shape: rng.normal(size=shape) + 1j * rng.normal(size=shape)
    return draw(5), draw(5) + 3, draw(3, 5), rng.normal(size=5)


WHOLE_ARRAYS = [
    lambda a, b, m, x: a + b, lambda a, b, m, x: a * b - 1, lambda a, b, m, x: 2j * a / b, lambda a, b, m, x: -a,
    lambda a, b, m, x: m + a, lambda a, b, m, x: m[:, :1] * a, lambda a, b, m, x: x * 1j, lambda a, b, m, x: a * x,
    lambda a, b, m, x: a == a, lambda a, b, m, x: a != b, lambda a, b, m, x: abs(a), lambda a, b, m, x: np.conj(a) * b,
    lambda a, b, m, x: np.exp(1j * x), lambda a, b, m, x: np.sqrt(a) + np.log(b), lambda a, b, m, x: a**2 + b**-1,
    lambda a, b, m, x: np.add(a, b)[::2], lambda a, b, m, x: (m * m).real.sum(), lambda a, b, m, x: np.zeros((2, 0), complex) + 1,
    lambda a, b, m, x: a[0] * b, lambda a, b, m, x: (a.reshape(5, 1) * b).sum(), lambda a, b, m, x: np.array(2j) * 3,
]  # fmt: skip


@pytest.mark.parametrize("f", WHOLE_ARRAYS)
def test_whole_arrays(f):
    found, expected = zyg.jit(f)(*operands()), f(*operands())
    assert np.shape(found) == np.shape(expected) and np.asarray(found).dtype == np.asarray(expected).dtype
    assert np.allclose(found, expected, rtol=1e-15, atol=1e-15)


def test_whole_arrays_that_do_not_fit():
    with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(3,\) \(2,\)"):
        zyg.jit(lambda a: a + a[:2])(vector())


@pytest.mark.parametrize(
    "f",
    [
        lambda a, b, m, x: abs((a * b - m).sum()),
        lambda a, b, m, x: (a / b + m * 2j).sum().imag,
        lambda a, b, m, x: (np.exp(1j * x) * a).sum().real,
        lambda a, b, m, x: np.abs(a * a + b).sum(),
        lambda a, b, m, x: (np.conj(a) * b).sum().real + ((m + a) ** 2).sum().imag,
        lambda a, b, m, x: (np.sqrt(a) + np.log(b) + np.sin(a * x)).sum().imag,
        lambda a, b, m, x: (m[1] * a - m[0] / b).sum().real + (a.real * x).sum(),
    ],
)  # fmt: skip
def test_derivatives_of_whole_arrays(f):
    args = operands()
    found = zyg.gradient(f, *args)
    rng = np.random.default_rng(6)
    directions, slopes = [], []
    for n, (a, g) in enumerate(zip(args, found)):
        direction = rng.normal(size=a.shape) + (1j * rng.normal(size=a.shape) if a.dtype == complex else 0.0)
        moved = [[*args[:n], a + s * 1e-6 * direction, *args[n + 1 :]] for s in (1, -1)]
        slope = (f(*moved[0]) - f(*moved[1])) / 2e-6
        along = 0.0 if g is None else (np.conj(g) * direction).real.sum()
        assert along == pytest.approx(slope, rel=1e-6, abs=1e-7)
        directions.append(direction)
        slopes.append(along)
    assert zyg.jvp(f, args, tuple(directions))[1] == pytest.approx(sum(slopes), rel=1e-10, abs=1e-12)


def test_complex64_is_refused():
    with pytest.raises(TypeError, match="complex64"):
        zyg.jit(lambda a: a[0])(np.zeros(2, np.complex64))


def test_hessian_jacobian_and_derivative_are_for_real_numbers():
    for call in (
        lambda: zyg.hessian(abs, 3 + 4j),
        lambda: zyg.jacobian(lambda z: z * z, 1j),
        lambda: zyg.jacobian(lambda x: complex(x, x), 1.0),
        lambda: zyg.jacobian(transform, np.ones(3)),
        lambda: zyg.derivative(abs)(3 + 4j),
    ):
        with pytest.raises(TypeError, match=r"pullback|hvp"):
            call()


def test_gradcheck_goes_along_both_parts():
    assert len(zyg.gradcheck(lambda z, x: abs(z * x), 1 + 2j, 3.0).entries) == 3


# -------------------------------------------------------------------------------------- in structures, optional


def maybe(z, flag):
    w = None
    if flag:
        w = z * z
    return z.real if w is None else w.imag


def test_structures_of_complex_numbers():
    assert zyg.gradient(lambda zs: abs(zs[0] * zs[1]), [1j, 2j]) == ([2j, 1j],)
    assert zyg.gradient(lambda zs: zs[0].real, [1j, 2j]) == ([1 + 0j, 0j],)
    assert zyg.gradient(lambda d: abs(d["a"] * d["b"]), {"a": 1j, "b": 2.0}) == ({"a": 2j, "b": 1.0},)
    value, back = zyg.pullback(lambda zs: [2 * z for z in zs], [1j, 2j])
    assert value == [2j, 4j] and back([1, 1j]) == ([2, 2j],)
    assert zyg.gradient(maybe, 1 + 2j, True) == (4 + 2j, None)
    assert zyg.gradient(maybe, 1 + 2j, False) == (1 + 0j, None)
    assert zyg.jit(lambda z: z in (1j, 2j))(2j) is True

    def kind(z):
        match z:
            case 1j:
                return 1
            case complex(real=0):
                return 2
            case _:
                return 3

    assert [zyg.jit(kind)(z) for z in (1j, 2j, 1 + 0j)] == [1, 2, 3]


def test_hooks_and_checkpoints(capsys):
    assert zyg.gradient(lambda z: zyg.hook(lambda d: 2 * d, z).real, 1j) == (2 + 0j,)
    assert zyg.gradient(lambda z: (zyg.stop_gradient(z) * z).real, 1 + 2j) == (1 - 2j,)
    assert zyg.gradient(lambda z: zyg.checkpoint(cmath.exp, z).real, 1j) == zyg.gradient(
        lambda z: cmath.exp(z).real, 1j
    )
    zyg.gradient(lambda z: zyg.showgrad(z).real, 1j)
    assert "(1+0j)" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------- through Python

THROUGH_PYTHON = [
    "(z * w).real", "(z / w).imag", "(z + w - 2 * z).real", "(z ** 2).real", "(z ** -3).imag", "(z ** 0.5).real",
    "(z ** w).real", "(2 ** z).imag", "abs(z * w)", "(-z).imag", "z.conjugate().imag", "complex(z.real * 2, w.imag).imag",
    "complex(z, w).real", "cmath.exp(z * w).real", "cmath.sqrt(z * w).real", "cmath.phase(z)", "cmath.polar(z)[0]",
    "cmath.rect(abs(z), 0.5).real", "sum([z, w, z]).imag", "np.abs(np.array([z, w])).sum()", "np.conj(z).imag",
    "(np.array([z, w]) * np.array([w, z]))[0].imag", "np.exp(np.array([z, w])).real.sum()", "abs(np.complex128(z) * w)",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("text", THROUGH_PYTHON)
def test_the_python_back_end_has_the_same_convention(text):
    body = f"def f(z, w):\n    try:\n        return {text}\n    except KeyError:\n        return 0.0"
    scope = {"cmath": cmath, "np": np}
    exec(body, scope)
    z, w = 0.6 - 1.2j, 1.5 + 0.5j
    found = zyg.gradient(scope["f"], z, w)
    for g, expected in zip(found, numerical(scope["f"], z, w), strict=True):
        assert (g or 0j) == pytest.approx(expected, rel=1e-6, abs=1e-8)


NUMBERS = lambda x: np.array([x + 1j * x * x, 1.0 - 0.5j * x, 2.0 + 0.0j])


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(
    "of_array",
    [
        lambda a: np.abs(2.0**a).sum(),
        lambda a: np.abs(np.power(3, a)).sum() + np.abs(np.power(-2.0, a)).sum(),
        lambda a: abs(2.0 ** complex(a[0])) + abs(3 ** complex(a[1])),
        lambda a: abs(np.logspace(0, a[0], 3).sum()),
        lambda a: np.std(a) + np.var(a, ddof=1),
        lambda a: np.std(np.stack([a, a * a]), axis=0).sum(),
        lambda a: np.abs(np.linspace(0.0, a[0], 4) ** 2).sum() + np.abs(np.linspace(a[0], a[1], 4)).sum(),
    ],
)
def test_powers_of_real_constants_and_spreads_of_complex_numbers(of_array, native):
    def function(x):
        if native:
            return of_array(NUMBERS(x))
        try:
            return of_array(NUMBERS(x))
        finally:
            len([])

    wanted = differences.derivative(lambda x: of_array(NUMBERS(x)), 0.7)
    assert zyg.derivative(function)(0.7) == pytest.approx(wanted, rel=1e-8)


def through_a_handler(function):
    """The same, which native code does not take."""

    def tried(*args):
        try:
            return function(*args)
        except KeyError:
            return None

    return tried


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize(
    ("function", "at", "direction"),
    [
        (lambda z: z.real * z.imag, (0.3 + 0.4j,), (1 + 2j,)),
        (lambda z: abs(z) ** 2 * z, (0.3 + 0.4j,), (1 + 2j,)),
        (lambda x: (x * 1j + 2.0) ** 2, (0.3,), (1.5,)),
        (lambda z, x: {"a": z * z * x, "b": [z.conjugate(), x]}, (0.3 + 0.4j, 0.7), (1 + 2j, -1.0)),
        (lambda a: a * a[::-1].conj(), (np.array([0.3 + 0.4j, 1.0 - 0.2j]),), (np.array([1 + 2j, 0.5j]),)),
    ],
)
def test_tangents_through_python(function, at, direction):
    step = 1e-6
    moved = lambda by: function(*[x + by * v for x, v in zip(at, direction)])
    value, tangent = zyg.jvp(through_a_handler(function), at, direction)
    numbers = lambda v: [p for x in v.values() for p in numbers(x)] if isinstance(v, dict) else list(np.ravel(v))
    wanted = (np.array(numbers(moved(step))) - numbers(moved(-step))) / (2 * step)
    np.testing.assert_allclose(numbers(tangent), wanted, rtol=1e-7)
    assert numbers(value) == numbers(function(*at))


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_products_of_hessians_through_python():
    z, v = 0.3 + 0.4j, 1 + 2j
    slope = lambda z: 4 * abs(z) ** 2 * z  # the gradient of |z|**4
    wanted = (slope(z + 1e-6 * v) - slope(z - 1e-6 * v)) / 2e-6
    assert abs(zyg.hvp(through_a_handler(lambda z: abs(z) ** 4), z, v) - wanted) < 1e-7
