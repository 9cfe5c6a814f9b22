"""Programs of linear algebra with their gradients written by hand in NumPy."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def matvec(A, x):
    y = A @ x
    return np.sum(y * y)


def matvec_gradient(A, x):
    y = A @ x
    d = 2.0 * y
    return np.sum(y * y), (np.outer(d, x), A.T @ d)


def matmul(A, B):
    C = A @ B
    return np.sum(C * C)


def matmul_gradient(A, B):
    C = A @ B
    D = 2.0 * C
    return np.sum(C * C), (D @ B.T, A.T @ D)


def cholesky_solve(A, b):
    """b . A^-1 b and the logarithm of the determinant, as in a Gaussian likelihood; A is symmetric."""
    L = np.linalg.cholesky(A)
    y = np.linalg.solve(L, b)
    return np.sum(y * y) + 2.0 * np.sum(np.log(np.diag(L)))


def cholesky_solve_gradient(A, b):
    """As differentiating step by step has it: by A through L, whose lower triangle is what is read."""
    L = np.linalg.cholesky(A)
    y = np.linalg.solve(L, b)
    db = np.linalg.solve(L.T, 2.0 * y)
    dL = np.diag(2.0 / np.diag(L)) - np.outer(db, y)
    # Giles (2008): half of the lower triangle of L^T dL, between the inverses of L.
    P = np.tril(L.T @ dL)
    P[np.diag_indices(len(A))] *= 0.5
    S = np.linalg.solve(L.T, np.linalg.solve(L.T, P.T).T)
    lower = np.tril(S + S.T)
    lower[np.diag_indices(len(A))] *= 0.5
    return np.sum(y * y) + 2.0 * np.sum(np.log(np.diag(L))), (lower, db)


@dataclass(frozen=True)
class Program:
    name: str
    function: Callable[..., Any]
    gradient: Callable[..., Any]
    make: Callable[[int], tuple[Any, ...]]

    def with_namespace(self, np: Any) -> Callable[..., Any]:
        """The function with another module for `np`."""
        scope = {**self.function.__globals__, "np": np}
        return types.FunctionType(self.function.__code__, scope, self.function.__name__)


def _normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


def _definite(n: int) -> np.ndarray:
    A = _normal(n, n)
    return A @ A.T + n * np.eye(n)


PROGRAMS = (
    Program("A @ x", matvec, matvec_gradient, lambda n: (_normal(n, n), _normal(n))),
    Program("A @ B", matmul, matmul_gradient, lambda n: (_normal(n, n), _normal(n, n).T.copy())),
    Program("Cholesky solve", cholesky_solve, cholesky_solve_gradient, lambda n: (_definite(n), _normal(n))),
)
