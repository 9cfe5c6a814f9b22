"""Vector functions of our own: accurate to the ulps that are promised, special values as NumPy has them."""

import ctypes
import itertools

import llvmlite.binding as llvm
import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.backend.llvm import vectormath
from zyg.backend.llvm.engine import engine

ULPS = {
    "exp": 1.0,
    "expm1": 2.0,
    "log": 1.0,
    "log1p": 1.1,
    "tanh": 2.5,
    "pow": 1.1,
    "log1p_of_exp": 2.0,
    "atan": 2.0,
    "atan2": 2.0,
}
ORACLES = {"pow": np.power, "log1p_of_exp": lambda x: np.log1p(np.exp(x))}
UNARY = [name for name in ULPS if name not in vectormath.BINARY]
FEATURES = llvm.get_host_cpu_features()
WIDE = bool(FEATURES.get("avx512f") and FEATURES.get("avx512dq"))
precise = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="the oracle is in extended precision")
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-310, 709.9, -745.0, -746.0, 1e308, -1e308, 1.0, -1.0, -2.0])  # fmt: skip

EXPONENTS = np.array([0.5, -0.5, 2.0, 3.0, -3.0, 1.7, 2.0**52 + 1, -(2.0**52) - 1, 2.0**53, 2.0**1000])


def over_arrays(symbol: str, wide: bool):
    """The function on all elements of an array whose length is a multiple of its lanes."""
    name, lanes = vectormath.NAMES[symbol]
    arity = 2 if name in vectormath.BINARY else 1
    vector = f"<{lanes} x double>"
    loop = f"""
define void @over(ptr %in, ptr %more.in, ptr %out, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr double, ptr %in, i64 %i
  %to = getelementptr double, ptr %out, i64 %i
  %from1 = getelementptr double, ptr %more.in, i64 %i
  %x0 = load {vector}, ptr %from, align 8
  %x1 = load {vector}, ptr %from1, align 8
  %y = call {vector} @{symbol}({", ".join(f"{vector} %x{k}" for k in range(arity))})
  store {vector} %y, ptr %to, align 8
  %next = add i64 %i, {lanes}
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""
    declared, body = vectormath.text(symbol, wide)
    module = engine().worker.parse("\n".join([*sorted(declared), body]) + loop)
    module.verify()
    called = vectormath.wider(symbol, wide)
    library = engine().link([engine().worker.machine.emit_object(module)], [called] if called else [], ["over"], {})
    over = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(library["over"])

    def apply(*args):
        y = np.empty_like(args[0])
        over(args[0].ctypes.data, args[-1].ctypes.data, y.ctypes.data, len(y))
        return y

    apply.__dict__["library"] = library
    return apply


def drawn(name: str, n: int) -> tuple[np.ndarray, ...]:
    r = np.random.default_rng(0)
    small = r.normal(size=n) * 1e-3
    if name == "pow":
        sizes = np.exp(r.uniform(-5, 5, n)), np.exp(r.uniform(-700, 700, n)), np.exp(r.uniform(-2, 0, n))
        exponents = r.uniform(-50, 50, n), r.uniform(-1, 1, n), r.uniform(300, 760, n)
        about_1 = 1 + r.uniform(-0.04, 0.04, n), 1 + small * 1e-3
        large = r.uniform(-17000, 17000, n), r.normal(size=n) * 1e8
        x, y = (
            np.concatenate([*sizes, *about_1, r.normal(size=n)]),
            np.concatenate([*exponents, *large, r.integers(-9, 10, n)]),
        )
        return x, y
    if name == "atan2":
        angles, sizes = r.uniform(-np.pi, np.pi, n), np.exp(r.uniform(-700, 700, n))
        near = np.ldexp(np.resize([1.0, 2.0, 0.5], n) * (1 + small), r.integers(-1000, 1000, n))
        y = [
            r.normal(size=n),
            np.sin(angles) * sizes,
            near,
            np.exp(r.uniform(-744, 709, n)),
            r.uniform(0.2, 1, n) * 1.7e308,
        ]
        x = [
            r.normal(size=n),
            np.cos(angles) * sizes,
            np.ldexp(1.0, np.frexp(near)[1]),
            -np.exp(r.uniform(-744, 709, n)),
            y[4][::-1],
        ]
        return np.concatenate(y), np.concatenate(x)
    parts = {
        "atan": [
            r.normal(size=n),
            r.uniform(0.4, 0.6, n),
            -np.exp(r.uniform(-744, 709, n)),
            np.exp(small),
            2 * np.exp(small),
        ],
        "exp": [r.normal(size=n) * 3, r.uniform(-745, 709.7, n), small],
        "expm1": [r.normal(size=n) * 3, r.uniform(-60, 709.7, n), small, np.exp(r.uniform(-700, 0, n))],
        "log": [np.exp(r.uniform(-744, 709, n)), 1 + small, r.uniform(0.5, 2, n)],
        "log1p": [np.exp(r.uniform(-700, 709, n)), -np.exp(r.uniform(-700, -1e-6, n)), r.uniform(-0.9999, 3, n), small],
        "log1p_of_exp": [r.normal(size=n) * 3, r.uniform(-745, 709.7, n), r.uniform(-40, 40, n), small],
        "tanh": [r.normal(size=n), r.uniform(-25, 25, n), small, -np.exp(r.uniform(-700, 0, n))],
    }[name]
    return (np.concatenate(parts),)


@each_in_turn
@precise
@pytest.mark.skipif(not (FEATURES.get("fma") and FEATURES.get("avx2")), reason="no fused multiply-add")
@pytest.mark.parametrize(
    "symbol, wide",
    [
        pytest.param(symbol, wide, marks=pytest.mark.skipif(wide and not WIDE, reason="this machine has no AVX-512"))
        for symbol, (name, _) in vectormath.NAMES.items()
        for wide in (False, True)
        if wide or name not in vectormath.ONLY_WIDE  # else it is the C library's that is called
    ],
)
def test_accuracy(symbol, wide):
    name, _ = vectormath.NAMES[symbol]
    function, oracle = over_arrays(symbol, wide), ORACLES.get(name) or getattr(np, name)
    args = drawn(name, 8000)
    with np.errstate(all="ignore"):
        exact = oracle(*(x.astype(np.longdouble) for x in args))
        y, rounded = function(*args), exact.astype(float)
        errors = np.abs(y - exact) / np.maximum(np.spacing(np.abs(rounded)), 5e-324)
    errors[(y == rounded) | (np.isnan(y) & np.isnan(rounded))] = 0.0
    assert errors.max() <= ULPS[name], [x[errors.argmax()] for x in args]
    special: tuple[np.ndarray, ...] = (np.resize(SPECIAL, 32),)
    if name in vectormath.BINARY:
        both = np.array([*itertools.product(np.concatenate([SPECIAL, EXPONENTS]), repeat=2)])
        both = np.resize(both, (-(-len(both) // 8) * 8, 2))
        special = np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])
    with np.errstate(all="ignore"):
        expected = oracle(*special)
    found = function(*special)
    np.testing.assert_allclose(found, expected, rtol=4e-16, atol=0)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


@precise
@pytest.mark.skipif(not WIDE, reason="this machine has no AVX-512")
def test_what_is_exact():
    """exp(0), powers of one, and of small integers, to the last bit, as the tables are not exact."""
    small = np.array([0.0, -0.0, 5e-324, 1e-300, -1e-300, 1e-17, -1e-17, 0.0])
    np.testing.assert_array_equal(over_arrays("zyg_v8_exp", True)(small), 1.0)
    pow = over_arrays("zyg_v8_pow", True)
    y = np.random.default_rng(3).normal(size=800) * 10.0 ** np.arange(-4, 4).repeat(100)
    np.testing.assert_array_equal(pow(np.ones(800), y), 1.0)
    n, k = np.repeat(np.arange(1.0, 101.0), 8), np.tile(np.arange(8.0), 100)
    np.testing.assert_array_equal(pow(n, k), n**k)
    np.testing.assert_array_equal(pow(n * n, np.full(800, 0.5)), n)


def test_compiled_code_calls_them():
    """Lanes, what is left over, and the derivative agree with NumPy."""

    def f(x):
        return np.exp(x) + np.expm1(x) + np.log(x + 3.0) + np.log1p(x + 1.5) + np.tanh(x)

    x = np.random.default_rng(1).uniform(-2, 2, 71)
    np.testing.assert_allclose(zyg.jit(f)(x), f(x), rtol=4e-15)
    slope = zyg.gradient(lambda x: np.sum(f(x)), x)[0]
    expected = 2 * np.exp(x) + 1 / (x + 3.0) + 1 / (x + 2.5) + 1 / np.cosh(x) ** 2
    np.testing.assert_allclose(slope, expected, rtol=1e-13)


@each_in_turn
@pytest.mark.parametrize("n", [0, 3, 8, 71, 513, 1030])
@pytest.mark.parametrize("whose", ["own", "libmvec's", "none"])
def test_sums_in_lanes(n, whose, monkeypatch):
    """The formulas in a loop that sums, or the C library's functions, lane by lane where the machine has no such vectors."""
    if whose == "none":
        monkeypatch.setattr(type(engine()), "vector_variants", lambda self, name, arguments, single: ())
    elif whose != "own":
        monkeypatch.setattr(vectormath, "NAMES", {})

    def f(x):
        return np.sum(
            np.exp(-x * x) * np.tanh(x) + np.log(x + 3.0) * np.log1p(x + 1.5) - np.expm1(x) + (x + 2.5) ** 1.7
        )

    x = np.random.default_rng(2).uniform(-2, 2, n)
    value, (slope,) = zyg.value_and_grad(f)(x)[0], zyg.gradient(f, x)
    np.testing.assert_allclose(value, f(x), rtol=1e-13, atol=1e-14)
    exp, tanh = np.exp(-x * x), np.tanh(x)
    expected = (
        1.7 * (x + 2.5) ** 0.7
        + exp * (1 - tanh * tanh - 2 * x * tanh)
        + np.log1p(x + 1.5) / (x + 3.0)
        + np.log(x + 3.0) / (x + 2.5)
        - np.exp(x)
    )
    np.testing.assert_allclose(slope, expected, rtol=1e-12, atol=1e-14)
    both, slopes = zyg.jit(zyg.value_and_grad(f))(x)
    np.testing.assert_allclose(both, value, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(slopes, expected, rtol=1e-12, atol=1e-14)


@each_in_turn
def test_special_values_in_lanes():
    """Each in every lane."""
    for name in UNARY:
        f = ORACLES.get(name) or getattr(np, name)
        with np.errstate(all="ignore"):
            for special in SPECIAL:
                x = np.full(16, 0.25)
                x[5] = special
                found = zyg.jit(lambda x, f=f: np.sum(f(x)))(x)
                np.testing.assert_allclose(found, np.sum(f(x)), rtol=1e-14)
