"""Loops over elements that stand in functions of their own, in lanes: many operations on whole arrays in one program."""

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.backend.llvm import engine


def many(x, y, rows, single, whole):
    """Elementwise in every way: new arrays and old ones, backwards, broadcast, of several types."""
    a = x - 2.0 * y
    b = np.sqrt(a * a + 1.0)
    c = np.where(a > 0.0, b, -b)
    d = np.sin(c) + np.arctan2(x, b)
    e = np.zeros_like(x)
    e[1:] = d[1:] * b[:-1]
    e += 0.5 * c
    e *= b
    f = e[::-1] * x
    g = rows * f + d
    h = g / (1.0 + np.abs(rows))
    h[:, 1:] -= h[:, :-1] * 0.25
    k = single * np.float32(1.5) + single
    flags = (whole > 2) & (x > 0.5)
    n = whole * 3 - whole
    m = np.where(flags, n, 7)
    steps = h[:, ::2] + 1.0
    beside = rows[:, 1:] - rows[:, :-1]
    beside[1:, ::2] *= rows[1:, 1::2]
    return e, f, h, k, flags, m, steps, beside


def total(x, y, rows, single, whole):
    e, f, h, _, _, m, steps, beside = many(x, y, rows, single, whole)
    return np.sum(e * f) + np.sum(np.exp(-h * h)) + np.sum(m * x) + np.sum(steps**2) + np.sum(beside[0] * x[1:])


@each_in_turn
@pytest.mark.parametrize("masks", [True, False])
def test_elements_in_lanes(monkeypatch, masks):
    if not masks:
        monkeypatch.setattr(engine, "has_masks", lambda: False)
    native, gradient = zyg.jit(many), zyg.jit(zyg.grad(total))
    random = np.random.default_rng(1)
    for n in (0, 1, 2, 3, 7, 8, 9, 17, 100):
        x, y, rows = random.random(n), random.random(n), random.random((3, n)) - 0.5
        args = x, y, rows, random.random(n).astype(np.float32), random.integers(0, 5, n)
        for got, expected in zip(native(*args), many(*args), strict=True):
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-15)
        slopes, direction, step = gradient(*args), random.random(n), 1e-6
        ahead, behind = total(x + step * direction, *args[1:]), total(x - step * direction, *args[1:])
        np.testing.assert_allclose(np.sum(slopes * direction), (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-6)


@each_in_turn
@pytest.mark.parametrize("masks", [True, False])
def test_sums_of_reverse_parts_over_rows_of_any_length(monkeypatch, masks):
    """Of integers, which are added up to the same number in any order."""
    if not masks:
        monkeypatch.setattr(engine, "has_masks", lambda: False)

    def loss(x, w, centre, scale):
        y = x - centre[:, None]  # whose reverse adds up rows
        z = y * scale[:, None]  # and this one's
        a, b = np.sum(z, axis=1), np.sum(z * w, axis=0)
        return np.sum(w * y * z) + np.sum(a * scale) + np.sum(b * b) + np.sum(z[:, ::-1] * x) + np.sum(w * x)

    gradient = zyg.jit(zyg.grad(loss, (2, 3)))
    random = np.random.default_rng(2)
    lanes = 0
    for n in [*range(13), 31, 32, 33, 36, 39, 40, 63, 511, 513, 1027, 2050]:
        x, w = (random.integers(-4, 5, (3, n)).astype(float) for _ in range(2))
        centre, scale = (random.integers(-4, 5, 3).astype(float) for _ in range(2))
        y = x - centre[:, None]
        b = np.sum(y * scale[:, None] * w, axis=0)
        of_z = w * y + scale[:, None] + 2 * b * w + x[:, ::-1]
        by_centre, by_scale = gradient(x, w, centre, scale)
        assert np.array_equal(by_centre, -np.sum(w * y * scale[:, None] + of_z * scale[:, None], axis=1))
        assert np.array_equal(by_scale, np.sum(of_z * y, axis=1) + np.sum(y * scale[:, None], axis=1))
        lanes = lanes or str(zyg.code_llvm(gradient, x, w, centre, scale, raw=True)).count("phi <8 x double>")
    assert lanes


@each_in_turn
@pytest.mark.parametrize("masks", [True, False])
def test_sums_of_functions_over_rows_of_any_length(monkeypatch, masks):
    """What is left over of a row is done in lanes, too."""
    if not masks:
        monkeypatch.setattr(engine, "has_masks", lambda: False)

    def loss(x, scale):
        y = x * scale[:, None]
        e = np.exp(y - np.max(y, axis=1, keepdims=True))
        p = e / np.sum(e, axis=1, keepdims=True)
        q = np.log(p + 0.5) * np.tanh(y) + np.log1p(np.exp(y))
        a, b = np.sum(q * q, axis=1), np.sum(q * p, axis=0)
        return np.sum(np.sqrt(a + 1.0) * scale) + np.sum(np.expm1(b * b)) + np.sum(np.arctan(q) * p)

    native, gradient = zyg.jit(loss), zyg.jit(zyg.grad(loss, (0, 1)))
    random = np.random.default_rng(3)
    for n in [*range(1, 18), 511, 513, 1027]:
        x, scale = random.normal(size=(3, n)), random.normal(size=3)
        np.testing.assert_allclose(native(x, scale), loss(x, scale), rtol=1e-12)
        by_x, by_scale = gradient(x, scale)
        dx, ds, step = random.normal(size=(3, n)), random.normal(size=3), 1e-6
        ahead, behind = (loss(x + h * dx, scale + h * ds) for h in (step, -step))
        found = np.sum(by_x * dx) + np.sum(by_scale * ds)
        np.testing.assert_allclose(found, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-6)


def test_equal_loops_are_one_function_and_those_that_compute_stand_apart():
    def f(x, y):
        a = x - y
        a[0] = 0.5  # so that what follows is not one loop
        b = y - a
        b[0] = 0.5
        c = a - b
        c[0] = 0.5
        d = b - c
        d[0] = 0.5
        e = c - d
        e[0] = 0.5
        g = d - e
        g[0] = 0.5
        h = e - g
        h[0] = 0.5
        i = g - h
        i[0] = 0.5
        j = h - i
        for k in range(len(j)):
            j[k] = j[k] * 0.5 + k
        return j

    x = np.linspace(0.0, 1.0, 11)
    np.testing.assert_allclose(zyg.jit(f)(x, x * x), f(x, x * x), rtol=1e-13)
    text = zyg.code_llvm(f, x, x * x, optimised=False)
    assert text.count("call fastcc void @py.sub.element.each(") == 9 and text.count("element.each(") == 10
    assert text.count("@py.f.loop(") == 2
