"""Vector functions of our own: accurate to the ulps that are promised, special values as NumPy has them."""

import ctypes

import llvmlite.binding as llvm
import numpy as np
import pytest

import zyg
from zyg.backend.llvm import vectormath
from zyg.backend.llvm.engine import engine

ULPS = {"exp": 1.0, "expm1": 2.0, "log": 1.0, "log1p": 1.0, "tanh": 2.5}
FEATURES = llvm.get_host_cpu_features()
WIDE = bool(FEATURES.get("avx512f") and FEATURES.get("avx512dq"))
precise = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="the oracle is in extended precision")
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-310, 709.9, -745.0, -746.0, 1e308, -1e308, 1.0, -1.0, -2.0])  # fmt: skip


def over_arrays(symbol: str, wide: bool):
    """The function on all elements of an array whose length is a multiple of its lanes."""
    _, lanes = vectormath.NAMES[symbol]
    vector = f"<{lanes} x double>"
    loop = f"""
define void @over(ptr %in, ptr %out, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr double, ptr %in, i64 %i
  %to = getelementptr double, ptr %out, i64 %i
  %x = load {vector}, ptr %from, align 8
  %y = call {vector} @{symbol}({vector} %x)
  store {vector} %y, ptr %to, align 8
  %next = add i64 %i, {lanes}
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""
    declared, body = vectormath.text(symbol, wide)
    module = engine().parse("\n".join([*sorted(declared), body]) + loop)
    module.verify()
    called = vectormath.wider(symbol, wide)
    library = engine().link([engine().machine.emit_object(module)], [called] if called else [], ["over"], {})
    over = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(library["over"])

    def apply(x):
        y = np.empty_like(x)
        over(x.ctypes.data, y.ctypes.data, len(x))
        return y

    apply.__dict__["library"] = library
    return apply


def drawn(name: str, n: int) -> np.ndarray:
    r = np.random.default_rng(0)
    small = r.normal(size=n) * 1e-3
    parts = {
        "exp": [r.normal(size=n) * 3, r.uniform(-745, 709.7, n), small],
        "expm1": [r.normal(size=n) * 3, r.uniform(-60, 709.7, n), small, np.exp(r.uniform(-700, 0, n))],
        "log": [np.exp(r.uniform(-744, 709, n)), 1 + small, r.uniform(0.5, 2, n)],
        "log1p": [np.exp(r.uniform(-700, 709, n)), -np.exp(r.uniform(-700, -1e-6, n)), r.uniform(-0.9999, 3, n), small],
        "tanh": [r.normal(size=n), r.uniform(-25, 25, n), small, -np.exp(r.uniform(-700, 0, n))],
    }[name]
    return np.concatenate(parts)


@precise
@pytest.mark.skipif(not (FEATURES.get("fma") and FEATURES.get("avx2")), reason="no fused multiply-add")
@pytest.mark.parametrize("wide", [False, pytest.param(True, marks=pytest.mark.skipif(not WIDE, reason="no AVX-512"))])
@pytest.mark.parametrize("symbol", vectormath.NAMES)
def test_accuracy(symbol, wide):
    name, _ = vectormath.NAMES[symbol]
    function = over_arrays(symbol, wide)
    x = drawn(name, 8000)
    y = function(x)
    exact = getattr(np, name)(x.astype(np.longdouble))
    errors = np.abs(y - exact) / np.maximum(np.spacing(np.abs(exact).astype(float)), 5e-324)
    assert errors.max() <= ULPS[name], x[errors.argmax()]
    special = np.resize(SPECIAL, 32)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(special)
    found = function(special)
    np.testing.assert_allclose(found, expected, rtol=4e-16, atol=0)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


def test_compiled_code_calls_them():
    """Lanes, what is left over, and the derivative agree with NumPy."""

    def f(x):
        return np.exp(x) + np.expm1(x) + np.log(x + 3.0) + np.log1p(x + 1.5) + np.tanh(x)

    x = np.random.default_rng(1).uniform(-2, 2, 71)
    np.testing.assert_allclose(zyg.jit(f)(x), f(x), rtol=4e-15)
    slope = zyg.gradient(lambda x: np.sum(f(x)), x)[0]
    expected = 2 * np.exp(x) + 1 / (x + 3.0) + 1 / (x + 2.5) + 1 / np.cosh(x) ** 2
    np.testing.assert_allclose(slope, expected, rtol=1e-13)


@pytest.mark.parametrize("n", [0, 3, 8, 71, 513, 1030])
@pytest.mark.parametrize("own", [True, False])
def test_sums_in_lanes(n, own, monkeypatch):
    """The formulas in a loop that sums, or the C library's functions lane by lane where the machine has no such vectors."""
    if not own:
        monkeypatch.setattr(type(engine()), "vector_variants", lambda self, name, arguments, single: ())

    def f(x):
        return np.sum(np.exp(-x * x) * np.tanh(x) + np.log(x + 3.0) * np.log1p(x + 1.5) - np.expm1(x))

    x = np.random.default_rng(2).uniform(-2, 2, n)
    value, (slope,) = zyg.value_and_grad(f)(x)[0], zyg.gradient(f, x)
    np.testing.assert_allclose(value, f(x), rtol=1e-13, atol=1e-14)
    exp, tanh = np.exp(-x * x), np.tanh(x)
    expected = (
        exp * (1 - tanh * tanh - 2 * x * tanh) + np.log1p(x + 1.5) / (x + 3.0) + np.log(x + 3.0) / (x + 2.5) - np.exp(x)
    )
    np.testing.assert_allclose(slope, expected, rtol=1e-12, atol=1e-14)
    both, slopes = zyg.jit(zyg.value_and_grad(f))(x)
    np.testing.assert_allclose(both, value, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(slopes, expected, rtol=1e-12, atol=1e-14)


def test_special_values_in_lanes():
    """Each in every lane."""
    for name in ULPS:
        f = getattr(np, name)
        with np.errstate(all="ignore"):
            for special in SPECIAL:
                x = np.full(16, 0.25)
                x[5] = special
                found = zyg.jit(lambda x, f=f: np.sum(f(x)))(x)
                np.testing.assert_allclose(found, np.sum(f(x)), rtol=1e-14)
