"""Products and functions of numpy.linalg of stacks that are broadcast against each other: first derivatives against differences of
values, second ones, in all pairings of modes, against differences of gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import zyg

from ..turns import each_in_turn

R = np.random.default_rng(7)
A, T = R.normal(size=(3, 3)) + 4 * np.eye(3), R.normal(size=(2, 1, 3, 3)) + 4 * np.eye(3)
B, C, V = R.normal(size=(2, 3, 3)), R.normal(size=(4, 3, 1)), R.normal(size=3)
BIG, BIGS = R.normal(size=(12, 12)) + 9 * np.eye(12), R.normal(size=(4, 12, 1))
WIDE = R.normal(size=(4, 12, 12))
POINTS = R.normal(size=6)

EXAMPLES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "solve": (lambda a: np.linalg.solve(a, B), A),
    "solve of the other": (lambda b: np.linalg.solve(T[:, 0], b), B[0]),
    "solve (1, 3, 3)": (lambda a: np.linalg.solve(a, B), A[None]),
    "solve (12, 12)": (lambda a: np.linalg.solve(a, BIGS), BIG),
    "solve (2, 1, 3, 3)": (lambda a: np.linalg.solve(a, C), T),
    "solve (3,)": (lambda a: np.linalg.solve(a[:, 0], V)[..., None] + np.linalg.solve(a[:, 0], B), T),
    "solve and slogdet": (lambda a: np.linalg.solve(a, B) * np.linalg.slogdet(a)[1], A),
    "solve and an element": (lambda a: np.linalg.solve(a, B) * a[0, 0], A),
    "solve by both": (lambda a: np.linalg.solve(a, a * B), A),
    "solve through a broadcast": (lambda a: np.linalg.solve(np.broadcast_to(a, (2, 3, 3)), B), A),
    "inv": (lambda a: np.linalg.inv(np.broadcast_to(a, (2, 3, 3))) @ B, A),
    "det": (lambda a: np.linalg.det(np.broadcast_to(a, (2, 3, 3)) + B), A),
    "slogdet": (lambda a: np.linalg.slogdet(np.broadcast_to(a, (2, 3, 3)))[1] * B[:, 0, 0], A),
    "cholesky": (lambda a: np.linalg.cholesky(np.broadcast_to(a @ a.T, (2, 3, 3))) * B, A),
    "qr": (lambda a: np.linalg.qr(np.broadcast_to(a, (2, 3, 3)))[1] * B, A),
    "pinv": (lambda a: np.linalg.pinv(np.broadcast_to(a, (2, 3, 3))) @ B, A),
    "eigvalsh": (lambda a: np.linalg.eigvalsh(np.broadcast_to(a + a.T, (2, 3, 3))) * B[..., 0], A),
    "svd": (lambda a: np.linalg.svd(np.broadcast_to(a, (2, 3, 3)), compute_uv=False) * B[..., 0], A),
    "matrix_power": (lambda a: np.linalg.matrix_power(np.broadcast_to(a, (2, 3, 3)), -2) * B, A),
    "norm": (lambda a: np.linalg.norm(np.broadcast_to(a, (2, 3, 3)) * B, axis=(1, 2)), A),
    "lstsq": (lambda a: np.linalg.lstsq(np.broadcast_to(a[0], (3, 3)) + np.eye(3), B[0], rcond=None)[0], A),
    "tensorsolve": (lambda a: np.linalg.tensorsolve(np.broadcast_to(a[0], (3, 3)) + np.eye(3), V), A),
    "multi_dot": (
        lambda a: np.linalg.multi_dot([np.broadcast_to(a[0], (3, 3)), B[0], np.broadcast_to(a[1], (3, 3))]),
        A,
    ),
    "matmul": (lambda a: a @ B, A),
    "matmul from the right": (lambda a: B @ a, A),
    "matmul with itself": (lambda a: a @ (a[:, None] @ B) @ a[0, 0], T[:, 0]),
    "matmul through a broadcast": (lambda a: np.broadcast_to(a, (2, 3, 3)) @ B, A),
    "matmul from the right through a broadcast": (lambda a: B @ np.broadcast_to(a, (2, 3, 3)), A),
    "matmul of equal rows": (lambda x: np.broadcast_to(x, (3, 3)) @ A, V),
    "matmul of equal columns": (lambda x: np.broadcast_to(x[:, None], (3, 3)) @ A, V),
    "matmul of equal rows, transposed": (lambda x: A @ np.broadcast_to(x, (3, 3)).T, V),
    "matmul (12, 12)": (lambda a: np.broadcast_to(a, (4, 12, 12)) @ WIDE, BIG),
    "matmul of a stack and a vector": (lambda a: np.broadcast_to(a, (2, 3, 3)) @ V, A),
    "matmul of windows": (lambda x: sliding_window_view(x, 3) @ A, POINTS),
    "matrix and vector": (lambda x: np.broadcast_to(x, (3, 3)) @ V, V),
    "vector that is broadcast": (lambda x: A @ np.broadcast_to(x[0], 3) * x[1], V),
    "dot": (lambda x: np.dot(np.broadcast_to(x[0], 3), V) * x[1], V),
    "dot of matrices": (lambda x: np.dot(np.broadcast_to(x, (3, 3)), A), V),
    "vdot": (lambda x: np.vdot(np.broadcast_to(x, (3, 3)), A), V),
    "inner": (lambda x: np.inner(np.broadcast_to(x, (3, 3)), A), V),
    "outer": (lambda x: np.outer(np.broadcast_to(x, (2, 3)), np.broadcast_to(x[0], 3)), V),
    "tensordot": (lambda x: np.tensordot(np.broadcast_to(x, (2, 3, 3)), B, axes=([0, 1], [0, 2])), A),
    "einsum": (lambda a: np.einsum("ij,bjk->bik", a, B), A),
    "einsum through a broadcast": (lambda a: np.einsum("bij,bjk->ik", np.broadcast_to(a, (2, 3, 3)), B), A),
    "kron": (lambda x: np.kron(np.broadcast_to(x, (2, 3)), A), V),
    "cross": (lambda x: np.cross(np.broadcast_to(x, (2, 3)), B[:, 0]), V),
    "taken rows": (lambda x: np.broadcast_to(x, (3, 3))[[0, 2, 2]] * A, V),
    "taken rows of a stack": (lambda a: np.broadcast_to(a, (2, 3, 3))[[1, 0, 1]], A),
    "take": (lambda x: np.take(np.broadcast_to(x, (3, 3)), [0, 2, 2], axis=1) * A, V),
    "taken numbers": (lambda x: np.broadcast_to(x[0], 3)[[0, 2, 2]] * x[1], V),
    "taken from windows": (lambda x: sliding_window_view(x, 3)[[0, 2, 2]] * A, POINTS),
    "add.at": (lambda x: _added(np.broadcast_to(x, (3, 3)) * A), V),
    "convolve": (lambda x: np.convolve(np.broadcast_to(x[0], 3), V) * x[1], V),
    "interp": (lambda x: np.interp(np.linspace(0, 2, 5), np.arange(3.0), np.broadcast_to(x[0], 3)) * x[1], V),
    "sort": (lambda x: np.sort(np.broadcast_to(x, (2, 3)), axis=1) * B[:, 0], V),
    "cumsum": (lambda x: np.cumsum(np.broadcast_to(x, (2, 3)), axis=0) * B[:, 0], V),
    "prod": (lambda x: np.prod(np.broadcast_to(x, (2, 3)), axis=0), V),
    "max": (lambda x: np.max(np.broadcast_to(x, (2, 3)), axis=1), V),
    "fft": (lambda x: np.fft.rfft(np.broadcast_to(x, (2, 3))).imag, V),
    "trace": (lambda x: np.trace(np.broadcast_to(x, (3, 3)) * A), V),
    "var": (lambda x: np.var(np.broadcast_to(x, (2, 3)), axis=1), V),
}


def _added(x: Any) -> Any:
    made = np.zeros((2, 3))
    np.add.at(made, [0, 1, 1], x)
    return made


@each_in_turn
@pytest.mark.parametrize("name", EXAMPLES)
def test_derivatives_of_what_is_broadcast(name: str) -> None:
    made, x = EXAMPLES[name]

    def f(x: Any) -> Any:
        return np.sum(np.sin(made(x)) + 0.1 * made(x) ** 3)

    check(f, x)


def check(f: Any, x: Any) -> None:
    d = np.random.default_rng(1).normal(size=x.shape)
    slope = lambda y: np.sum(zyg.grad(f)(y) * d)
    first = differences(f, x, d)
    close = lambda got, wanted: np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-7)
    close(slope(x), first)
    close(zyg.jvp(f, (x,), (d,))[1], first)
    second = differences(slope, x, d)
    close(np.sum(zyg.hvp(f, x, d) * d), second)
    close(np.sum(zyg.grad(slope)(x) * d), second)


def differences(f: Any, x: Any, d: Any, h: float = 1e-3) -> Any:
    """Of sixth order."""
    at = lambda n: f(x + n * h * d) - f(x - n * h * d)
    return (45 * at(1) - 9 * at(2) + at(3)) / (60 * h)


@each_in_turn
@pytest.mark.parametrize("name", ["solve", "matmul of equal rows", "taken rows"])
def test_hessians_of_what_is_broadcast(name: str) -> None:
    made, x = EXAMPLES[name]
    f = lambda x: np.sum(np.sin(made(x)))
    d = np.random.default_rng(1).normal(size=x.shape)
    second = differences(lambda y: np.sum(zyg.grad(f)(y) * d), x, d)
    np.testing.assert_allclose(
        d.ravel() @ zyg.hessian(f, x).reshape(d.size, d.size) @ d.ravel(), second, rtol=1e-6, atol=1e-7
    )
    np.testing.assert_allclose(np.sum(zyg.jvp(zyg.grad(f), (x,), (d,))[1] * d), second, rtol=1e-6, atol=1e-7)


@each_in_turn
@pytest.mark.parametrize("name", ["solve", "matmul through a broadcast", "matmul of windows", "taken rows"])
def test_third_derivatives_of_what_is_broadcast(name: str) -> None:
    made, x = EXAMPLES[name]
    d = np.random.default_rng(1).normal(size=x.shape)

    def f(x: Any) -> Any:
        return np.sum(np.sin(made(x)))

    along = lambda y: np.sum(zyg.hvp(f, y, d) * d)
    again = lambda y: np.sum(zyg.grad(lambda z: np.sum(zyg.grad(f)(z) * d))(y) * d)
    wanted = differences(along, x, d)
    np.testing.assert_allclose(np.sum(zyg.grad(along)(x) * d), wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(np.sum(zyg.grad(again)(x) * d), wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(zyg.jvp(along, (x,), (d,))[1], wanted, rtol=1e-6, atol=1e-7)
