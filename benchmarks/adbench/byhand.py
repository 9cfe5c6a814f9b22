"""The objectives in C (`c/adbench.c`), compiled with -ffast-math."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import native


def packed(*parts: Any) -> np.ndarray:
    return np.concatenate([np.ravel(np.asarray(p, dtype=float)) for p in parts])


def case(kind: str, args: tuple[Any, ...]) -> native.Case:
    """The C case of an instance."""
    if kind == "gmm":
        alphas, means, icf, x, gamma, m = args
        (n, d), k = x.shape, len(alphas)
        inputs = packed(n, d, k, gamma, m, alphas, means, icf, x)
        work = 2 * k * d * d + k + 32 * (d + k + k * d) + k * d
        return native.Case(inputs, np.zeros(k * (1 + d) + icf.size), tape=0, n=n, steps=n, work=work)
    main, extra, state, sequence = args
    length, b = sequence.shape
    layers = main.shape[0] // 2
    inputs = packed(layers, length, b, main, extra, state, sequence)
    tape = length * layers * 8 * b
    return native.Case(
        inputs, np.zeros(main.size + extra.size), tape, n=length, steps=length, work=2 * state.size + 3 * b
    )
