"""The loop programs with their inputs, for Python and for C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import native, programs


@dataclass(frozen=True)
class Benchmark:
    """`make(size)` gives the arguments of `function` and a maker of the C case.

    `adjoint` is the C adjoint that the level is set against; `tuned`, where there is one, goes beyond it.
    """

    name: str
    function: Callable[..., float]
    argnums: tuple[int, ...]
    make: Callable[[int], tuple[tuple[Any, ...], Callable[[], native.Case]]]
    size: int
    quick_size: int
    growth: tuple[int, ...]
    unit: str
    tuned: str | None = None

    @property
    def primal(self) -> str:
        return f"{self.name}_primal"

    @property
    def adjoint(self) -> str:
        return f"{self.name}_adjoint"


def flat_gradient(gradients: tuple[Any, ...]) -> np.ndarray:
    """The gradient as one vector, as the C programs write it."""
    return np.concatenate([np.ravel(np.asarray(g, dtype=float)) for g in gradients])


def make_power(n: int) -> tuple[tuple[Any, ...], Callable[[], native.Case]]:
    x = 1.0 + 0.1 / n
    return (x, n), lambda: native.Case(np.array([x]), np.zeros(1), tape=n, n=n, steps=n)


def make_lorenz(steps: int) -> tuple[tuple[Any, ...], Callable[[], native.Case]]:
    # Ten units of time whatever the number of steps, so that values and derivatives stay of ordinary size.
    inputs = (1.0, 2.0, 3.0, 10.0, 28.0, 8.0 / 3.0, 10.0 / steps)
    return (*inputs, steps), lambda: native.Case(np.array(inputs), np.zeros(6), tape=12 * steps, n=0, steps=steps)


def make_wave(steps: int, n: int = 100) -> tuple[tuple[Any, ...], Callable[[], native.Case]]:
    grid = np.linspace(0.0, 1.0, n)
    u0 = np.sin(3.0 * grid)[:, None] * np.cos(5.0 * grid)
    c, dt = 0.2, 0.5
    inputs = np.concatenate([[c, dt], u0.ravel()])
    size = n * n
    make = lambda: native.Case(inputs, np.zeros(size), tape=(steps + 1) * size, n=n, steps=steps, work=2 * size)
    return (u0, c, dt, steps), make


def make_nbody(steps: int) -> tuple[tuple[Any, ...], Callable[[], native.Case]]:
    """The sun and the four giant planets, in astronomical units, years and solar masses times 4 pi^2."""
    x = np.array([
        [0.0, 0.0, 0.0],
        [4.84143144246472090, -1.16032004402742839, -0.103622044471123109],
        [8.34336671824457987, 4.12479856412430479, -0.403523417114321381],
        [12.8943695621391310, -15.1111514016986312, -0.223307578892655734],
        [15.3796971148509165, -25.9193146099879641, 0.179258772950371181],
    ])  # fmt: skip
    v = 365.24 * np.array([
        [0.0, 0.0, 0.0],
        [0.00166007664274403694, 0.00769901118419740425, -0.0000690460016972063023],
        [-0.00276742510726411196, 0.00499852801234917238, 0.0000230417297573763929],
        [0.00296460137564761618, 0.00237847173959480950, -0.0000296589568540237556],
        [0.00268067772490389322, 0.00162824170038242295, -0.0000951592254519715870],
    ])  # fmt: skip
    relative = [
        1.0,
        0.000954791938424326609,
        0.000285885980666130812,
        0.0000436624404335156298,
        0.0000515138902046611451,
    ]
    mass = 39.478417604357434 * np.array(relative)
    v[0] = -(v[1:] * mass[1:, None]).sum(axis=0) / mass[0]
    dt = 0.01
    inputs = np.concatenate([[dt], x.ravel(), v.ravel(), mass])
    record = 15 + 20
    return (x, v, mass, dt, steps), lambda: native.Case(inputs, np.zeros(35), record * steps, n=5, steps=steps, work=30)


def make_gauss_seidel(sweeps: int, n: int = 100) -> tuple[tuple[Any, ...], Callable[[], native.Case]]:
    grid = np.linspace(0.0, 1.0, n)
    u0 = np.sin(3.0 * grid)[:, None] * np.cos(5.0 * grid)
    f = 0.01 * np.cos(4.0 * grid)[:, None] * np.sin(7.0 * grid)
    inputs = np.concatenate([u0.ravel(), f.ravel()])
    make = lambda: native.Case(inputs, np.zeros(2 * n * n), tape=0, n=n, steps=sweeps, work=n * n)
    return (u0, f, sweeps), make


_DECADES = (10**3, 10**4, 10**5, 10**6, 10**7)

BENCHMARKS = {
    b.name: b
    for b in (
        Benchmark("power", programs.power, (0,), make_power, 1000, 1000, _DECADES, "iteration"),
        Benchmark(
            "lorenz",
            programs.lorenz,
            (0, 1, 2, 3, 4, 5),
            make_lorenz,
            10_000,
            2_000,
            _DECADES,
            "step",
            "lorenz_adjoint_tuned",
        ),
        Benchmark("wave", programs.wave, (0,), make_wave, 200, 40, (50, 200, 800, 3200), "step", "wave_adjoint_tuned"),
        Benchmark("nbody", programs.nbody, (0, 1, 2), make_nbody, 1000, 200, _DECADES[:-1], "step"),
        Benchmark(
            "gauss_seidel", programs.gauss_seidel, (0, 1), make_gauss_seidel, 20, 5, (20, 80, 320, 1280), "sweep"
        ),
    )
}
