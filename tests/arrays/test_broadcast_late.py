"""What is broadcast only if a length is 1, which is known when the code runs, is fused with what reads it."""

import numpy as np
import pytest

import zyg
from tests.turns import by_one_python_a_day, each_in_long_turn
from zyg.ir.passes import PIPELINES

RNG = np.random.default_rng(3)


def layer(x, g, b):
    """A normalisation, scaled."""
    mu = x.mean(axis=-1, keepdims=True)
    va = x.var(axis=-1, keepdims=True)
    return np.sum(np.tanh((x - mu) / np.sqrt(va + 1e-3) * g + b) ** 2)


def turned(x, g, b):
    """Halves of rows, turned by angles: lengths that may differ by one."""
    return np.sum(np.sin(x[:, ::2] * g - x[:, 1::2] * b) * np.cos(x[:, ::2] * b + x[:, 1::2] * g))


def written(x, g, b):
    """What is read by a product is written before its sum is made."""
    y = x.copy()
    p = y * g
    y[0] = 2.0 * b
    return np.sum((p + b) * y)


def several(x, g, b):
    """A product of which others make something, too."""
    p = x * g
    return np.sum(p + b) + np.sum((p - b) ** 3)


def transposed(x, g, b):
    y = (x * g).T
    z = np.zeros(y.shape)
    z += y * 2.0
    z.T[...] += (x - b) ** 2
    return np.sum(z * y) + np.sum(np.abs(np.diff(z, axis=0))) + np.sum(np.abs(np.diff(z.T, axis=0)))


def differences(f, args, h=1e-5):
    for n, a in enumerate(args):
        d = np.zeros_like(a)
        for at in np.ndindex(a.shape):
            ends = []
            for step in (h, -h):
                moved = [v.copy() for v in args]
                moved[n][at] += step
                ends.append(f(*moved))
            d[at] = (ends[0] - ends[1]) / (2 * h)
        yield d


SHAPES = [
    ((3, 4), (4,), (4,)),
    ((3, 4), (1,), (4,)),
    ((3, 4), (4,), (1,)),
    ((1, 4), (4,), (1,)),
    ((3, 1), (1,), (4,)),
    ((3, 1), (4,), (4,)),
]
HALVES = [
    ((3, 4), (2,), (2,)),
    ((3, 4), (1,), (2,)),
    ((2, 3), (2,), (1,)),
    ((2, 3), (1,), (1,)),
    ((2, 4), (2, 2), (1, 2)),
]


@by_one_python_a_day
@pytest.mark.parametrize("f", [layer, several, written, transposed, turned])
def test_gradients_whatever_is_broadcast(f):
    gradient = zyg.grad(zyg.jit(f), (0, 1, 2))
    for shapes in HALVES if f is turned else SHAPES:
        if f in (written, transposed) and any(len(s) == 1 and s[0] > shapes[0][1] for s in shapes[1:]):
            continue
        args = [RNG.normal(size=s) for s in shapes]
        try:
            expected = [*differences(f, args)]
        except ValueError:
            with pytest.raises(ValueError, match="broadcast"):
                gradient(*args)
            continue
        for d, e in zip(gradient(*[a.copy() for a in args]), expected, strict=True):
            np.testing.assert_allclose(d, e, rtol=1e-5, atol=1e-6)


@each_in_long_turn
def test_second_derivatives_whatever_is_broadcast():
    for shapes in SHAPES:
        args = [RNG.normal(size=s) for s in shapes]
        v = RNG.normal(size=shapes[0])
        ends = [zyg.gradient(layer, args[0] + h * v, *args[1:])[0] for h in (1e-5, -1e-5)]
        np.testing.assert_allclose(zyg.hvp(layer, *args, v), (ends[0] - ends[1]) / 2e-5, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "f, shapes, most",
    [
        (layer, SHAPES[0], 6),  # mean, its sum of squares, the standard deviation, and the sum of the result
        (turned, HALVES[0], 3),  # two angles, of lengths that may differ, and the sum
        (several, SHAPES[0], 2),
    ],
)
def test_it_is_one_loop(f, shapes, most, monkeypatch):
    left = []
    (reuse,) = [step for step in PIPELINES["clean"] if step.name == "reuse"]

    def count(function, run=reuse.run):
        changed = run(function)
        left.append(sum(i.op == "apply" for _, i in function.instructions()))
        return changed

    object.__setattr__(reuse, "run", count)
    try:
        zyg.gradient(zyg.jit(lambda x, g, b: f(x, g, b)), *[RNG.normal(size=s) for s in shapes])
    finally:
        object.__setattr__(reuse, "run", count.__defaults__[0])
    assert max(left) <= most


@by_one_python_a_day
@pytest.mark.parametrize("of", [np.real, np.imag, np.abs])
def test_complex_numbers_that_are_seen_broadcast_and_as_they_are(of):
    """The parts of what is new are arrays that are seen before they are set."""

    def both(x, d):
        e = d * 2.0
        return np.sum(of(x * e)) + np.sum(of(e))

    rng = np.random.default_rng(3)
    x, d = (rng.normal(size=shape) + 1j * rng.normal(size=shape) for shape in ((4, 6), (6,)))
    for seen in (x, x[::-1], x[:, ::-1]):
        np.testing.assert_allclose(zyg.jit(both)(seen, d), both(seen, d), rtol=1e-13)
        value, grads = zyg.withgradient(both, seen, d)
        np.testing.assert_allclose(value, both(seen, d), rtol=1e-13)
        u, v, h = seen * 1j + 1.0, d * 0.5 - 1j, 1e-6
        steps = (both(seen + h * u, d + h * v) - both(seen - h * u, d - h * v)) / (2 * h)
        along = sum(np.sum(np.real(np.conj(g) * w)) for g, w in zip(grads, (u, v), strict=True))
        np.testing.assert_allclose(along, steps, rtol=1e-7)
