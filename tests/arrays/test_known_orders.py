"""The order of axes of results, where it is known when compiling (frontend/strides.py) and where it is not: of programs that are generated,
on lengths of 0, 1 and more.  The oracle is NumPy: where elements lie, and what may be seen without a copy."""

from __future__ import annotations

import random

import numpy as np
import pytest

import zyg

from ..turns import EVERY_TURN, each_in_long_turn, each_in_turn
from .check import steps

COUNT = 300 if EVERY_TURN else 15
LENGTHS = (1, 1, 2, 2, 2, 3, 3, 3, 4, 4)


def generated(rng: random.Random) -> tuple[str, list[np.ndarray]]:
    """The text of a function of two arrays, and arrays that it can be called with."""
    lengths = (0, *LENGTHS[::3]) if rng.random() < 0.1 else LENGTHS
    shapes = {"a": tuple(rng.choice(lengths) for _ in range(rng.choice((2, 3, 3))))}
    shapes["b"] = tuple(d if rng.random() < 0.8 else 1 for d in rng.sample(shapes["a"], len(shapes["a"])))
    values = {name: np.sin(1.0 + np.arange(float(np.prod(s)))).reshape(s) + 2 for name, s in shapes.items()}
    arguments = list(values.values())
    lines: list[str] = []
    for n in range(rng.randrange(3, 8)):
        text = step(rng, values)
        try:
            with np.errstate(all="ignore"):
                made = eval(text, {"np": np}, values)
        except (ValueError, IndexError):
            continue
        if isinstance(made, np.ndarray) and 1 <= made.ndim <= 4 and made.size <= 400:
            lines.append(f"    v{n} = {text}")
            values[f"v{n}"] = made
    results = [name for name, v in values.items() if name[0] == "v"] or ["a + 1"]
    return "def f(a, b):\n" + "\n".join(lines) + f"\n    return ({', '.join(results)},)\n", arguments


def step(rng: random.Random, values: dict[str, np.ndarray]) -> str:
    x = rng.choice([*values, *list(values)[-2:]])
    y = rng.choice([*values, *list(values)[-2:]])
    n, m = values[x].ndim, values[y].ndim
    axes = rng.sample(range(n), n)
    kind = rng.randrange(11)
    if kind == 0:
        return f"{x}.transpose({', '.join(map(str, axes))})"
    if kind == 1:
        keys = [rng.choice((":", ":", "::2", "::-1", "1:", ":-1", "None", "0")) for _ in range(n)]
        return f"{x}[{', '.join(keys)}]"
    if kind == 2:  # an axis in two, or two in one
        k = rng.randrange(n)
        shape = [f"{x}.shape[{j}]" for j in range(n)]
        if rng.random() < 0.6:
            factor = rng.choice((2, 1, 3))
            shape[k : k + 1] = [f"{x}.shape[{k}] // {factor}", str(factor)][:: rng.choice((1, -1))]
        else:
            shape[k : k + 2] = ["-1"]
        return f"{x}.reshape({', '.join(shape)})"
    if kind in (3, 4):
        return f"{x} {rng.choice('+*')} {y}"
    if kind == 5:
        return f"np.where({x} > 1.5, {x}, {y})"
    if kind == 6 and all(v.size for v in values.values()):
        letters = "ijkl"[:n]
        other = "".join(rng.sample("ijklm", m))
        output = "".join(rng.sample(sorted({*letters, *other}), rng.randrange(1, min(4, len({*letters, *other})) + 1)))
        return f"np.einsum('{letters},{other}->{output}', {x}, {y})"
    if kind == 7:
        return f"np.concatenate([{x}, {rng.choice((x, y))}], axis={rng.randrange(n)})"
    if kind == 8:
        return rng.choice(
            (f"{x}.copy('K')", f"np.copy({x})", f"{x}.astype(int)", f"np.ones_like({x})", f"np.exp(-{x})")
        )
    if kind == 9:
        return f"{x}.{rng.choice(('sum', 'max', 'mean'))}(axis={rng.randrange(n)}, keepdims={rng.random() < 0.3})"
    return rng.choice(
        (
            f"{x}.ravel()",
            f"{x} * {x}[..., ::-1]",
            f"({x} + 1).reshape(-1)",
            f"np.stack([{x}, {x}], axis={rng.randrange(n + 1)})",
        )
    )


@each_in_long_turn
@pytest.mark.parametrize("begin", range(4))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_results_lie_as_those_of_numpy(begin):
    for seed in range(begin * COUNT, (begin + 1) * COUNT):
        text, (a, b) = generated(random.Random(seed))
        scope = {"np": np}
        exec(text, scope)
        f = scope["f"]
        expected, found = f(a, b), zyg.jit(f)(a, b)
        empty = any(
            v.size == 0 for v in (a, b, *expected)
        )  # what is made of such an array with elements is in C order in NumPy
        for k, (x, y) in enumerate(zip(expected, found, strict=True)):
            assert x.shape == y.shape and x.dtype == y.dtype, (seed, k, text)
            np.testing.assert_allclose(y, x, rtol=1e-12, atol=1e-12, err_msg=f"{seed}, {k}: {text}")
            assert empty or steps(y) == steps(x), (seed, k, text, a.shape, b.shape)


@each_in_turn
@pytest.mark.parametrize("begin", range(4))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gradients_are_those_of_numpys_differences(begin):
    for seed in range(10000 + begin * COUNT // 3, 10000 + (begin + 1) * COUNT // 3):
        text, (a, b) = generated(random.Random(seed))
        scope = {"np": np}
        exec(text, scope)
        smooth = all(word not in text for word in ("max", "where", "astype"))
        results = [n for n, v in enumerate(scope["f"](a, b)) if v.dtype == float and v.size]
        if not smooth or not results or not a.size * b.size:
            continue

        def total(a, b):
            made = scope["f"](a, b)  # noqa: B023
            return sum([np.sum(np.sin(made[n]) * (n + 1)) for n in results])  # noqa: B023

        found = zyg.gradient(total, a, b)
        for g, x, other in zip(found, (a, b), (lambda v: (v, b), lambda v: (a, v))):  # noqa: B023
            h, direction = 1e-6, np.cos(np.arange(float(x.size))).reshape(x.shape)
            expected = (total(*other(x + h * direction)) - total(*other(x - h * direction))) / (2 * h)
            np.testing.assert_allclose(
                np.sum((0 if g is None else g) * direction), expected, rtol=2e-5, atol=1e-6, err_msg=text
            )
