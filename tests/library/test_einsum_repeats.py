"""np.einsum of operands with axes of length 1 where others have longer ones: these are repeated.  The oracle is NumPy, for gradients its
differences."""

from __future__ import annotations

import random

import numpy as np
import pytest

import zyg

from ..turns import EVERY_TURN, by_one_python_a_day, each_in_turn

COUNT = 60 if EVERY_TURN else 12


def drawn(rng: random.Random) -> tuple[str, list[np.ndarray]]:
    operands = ["".join(rng.sample("ijklm", rng.choice((2, 3, 4)))) for _ in range(2)]
    letters = sorted({*operands[0], *operands[1]})
    output = "".join(rng.sample(letters, rng.randrange(min(4, len(letters)) + 1)))
    lengths = {c: rng.choice((1, 2, 3)) for c in letters}
    shapes = [tuple(lengths[c] if rng.random() < 0.75 else 1 for c in own) for own in operands]
    arrays = [np.cos(k + np.arange(float(np.prod(s)))).reshape(s) for k, s in enumerate(shapes)]
    return f"{','.join(operands)}->{output}", arrays


@pytest.mark.parametrize("begin", range(3))
@each_in_turn
def test_values_and_gradients(begin):
    for seed in range(begin * COUNT, (begin + 1) * COUNT):
        text, (a, b) = drawn(random.Random(seed))
        f = eval(f"lambda a, b: np.einsum('{text}', a, b)", {"np": np})
        expected = f(a, b)
        found = zyg.jit(f)(a, b)
        assert np.shape(found) == np.shape(expected), (text, a.shape, b.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=f"{text} {a.shape} {b.shape}")
        if seed % 4 == 0:
            total = lambda a, b: np.sum(np.sin(f(a, b)))  # noqa: B023
            h, direction = 1e-6, np.sin(np.arange(float(a.size))).reshape(a.shape)
            slope = (total(a + h * direction, b) - total(a - h * direction, b)) / (2 * h)
            (by_a, _) = zyg.gradient(total, a, b)
            np.testing.assert_allclose(np.sum(by_a * direction), slope, rtol=1e-6, atol=1e-8, err_msg=text)


@by_one_python_a_day
def test_batches_of_several_axes_of_which_either_operand_repeats_one():
    for text, shapes in (
        ("ijkl,jilm->jki", ((1, 2, 1, 2), (1, 2, 1, 2))),
        ("ijk,jkil->ikl", ((2, 1, 3), (1, 1, 2, 1))),
        ("ijkl,jkl->jik", ((1, 0, 1, 3), (1, 3, 1))),
    ):
        a, b = (np.arange(1.0, 1.0 + np.prod(s)).reshape(s) for s in shapes)
        f = eval(f"lambda a, b: np.einsum('{text}', a, b)", {"np": np})
        np.testing.assert_allclose(zyg.jit(f)(a, b), f(a, b))
