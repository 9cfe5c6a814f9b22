"""Single functions of NumPy, and what is next to them, as programs of one line: where a library is slow in one place only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Line(NamedTuple):
    name: str
    function: Callable[..., Any]
    make: Callable[[int], tuple[Any, ...]]
    sizes: tuple[int, ...]


def _normal(*shape: int) -> Any:
    return np.random.default_rng(0).normal(size=shape)


def _complex(n: int) -> tuple[Any, ...]:
    return (_normal(n) + 1j * _normal(n)[::-1],)


def _matrix(n: int) -> tuple[Any, ...]:
    return (_normal(n, n),)


def _vector(n: int) -> tuple[Any, ...]:
    return (_normal(n),)


def _two(n: int) -> tuple[Any, ...]:
    return _normal(n), _normal(2 * n)[n:].copy()


OF_MATRICES, OF_VECTORS, OF_BORDERS = (30, 100, 200), (100, 4096, 65536), (20, 300)

LINES = (
    Line("singular values", lambda A: np.sum(np.linalg.svd(A, compute_uv=False)), _matrix, OF_MATRICES),
    Line("norm(A, 2)", lambda A: np.linalg.norm(A, 2), _matrix, OF_MATRICES),
    Line("cond", lambda A: np.linalg.cond(A), _matrix, OF_MATRICES),
    Line("eigvalsh", lambda A: np.sum(np.linalg.eigvalsh(A + A.T) ** 3), _matrix, OF_MATRICES),
    Line("vdot, complex", lambda z: np.vdot(z, z).real, _complex, OF_VECTORS),
    Line("z.conj() @ z", lambda z: (z.conj() @ z).real, _complex, OF_VECTORS),
    Line("sum, complex", lambda z: np.sum(z).real, _complex, OF_VECTORS),
    Line("|fft|^2", lambda z: np.sum(np.abs(np.fft.fft(z)) ** 2), _complex, OF_VECTORS),
    Line("hypot(x, y)", lambda x, y: np.sum(np.hypot(x, y)), _two, OF_VECTORS),
    Line("hypot(x, x[::-1])", lambda x: np.sum(np.hypot(x, x[::-1])), _vector, OF_VECTORS),
    Line("exp(1j * x)", lambda x: np.sum(np.exp(1j * x).real), _vector, OF_VECTORS),
    Line("prod of rows", lambda A: np.sum(np.prod(1 + 0.01 * A, axis=1)), _matrix, OF_BORDERS),
    Line("prod of columns", lambda A: np.sum(np.prod(1 + 0.01 * A, axis=0)), _matrix, OF_BORDERS),
    Line("pad, reflect", lambda A: np.sum(np.pad(A, 2, mode="reflect") ** 2), _matrix, OF_BORDERS),
    Line("pad, wrap", lambda A: np.sum(np.pad(A, 2, mode="wrap") ** 2), _matrix, OF_BORDERS),
    Line("kron", lambda A: np.sum(np.kron(A[:20, :20], A[:15, :15]) ** 2), _matrix, (20,)),
)
