"""The instances: what comes with the sources, and what a copy of ADBench's folder `data` adds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SHIPPED = Path(__file__).parents[1] / "data"


@dataclass(frozen=True)
class Instance:
    """A file with its reference values: the objective and the 2-norm of its gradient, by ADBench's hand-written C++.

    `ahead` is the best ratio to JAX of ADBench's other tools (ManualEigen, Tapenade), where they were found to be ahead
    of it: times of gradients measured side by side on one core (AMD Zen 4, November 2026).
    """

    kind: str
    file: str
    value: float
    norm: float
    ahead: float | None = None

    @property
    def name(self) -> str:
        return self.file.rsplit("/", 1)[-1].removesuffix(".txt")


INSTANCES = (
    Instance("gmm", "gmm/1k/gmm_d2_K5.txt", -5240.59056255, 1277.18886468),
    Instance("gmm", "gmm/1k/gmm_d10_K25.txt", -25649.6526212, 2662.39860131),
    Instance("gmm", "gmm/1k/gmm_d32_K50.txt", -176686.522223, 11824.979407, 22.5 / 30.8),
    Instance("gmm", "gmm/1k/gmm_d64_K25.txt", -944188.541866, 50253.3046012),
    Instance("gmm", "gmm/1k/gmm_d64_K100.txt", -352803.631981, 25023.5232944),
    Instance("gmm", "gmm/10k/gmm_d10_K10.txt", -321576.546122, 47059.287396),
    Instance("gmm", "gmm/10k/gmm_d32_K25.txt", -2560311.18667, 165962.041347, 110 / 173),
    Instance("lstm", "lstm/lstm_l2_c1024.txt", 0.666665179559, 0.0947413801145, 4.31 / 4.77),
    Instance("lstm", "lstm/lstm_l4_c1024.txt", 0.710676638558, 0.107445363091, 8.31 / 9.36),
    Instance("lstm", "lstm/lstm_l2_c4096.txt", 0.694856334237, 0.101360540211, 17.5 / 27.0),
)


def find(instance: Instance, folder: Path | None = None) -> Path | None:
    """The file of an instance, in `folder` or among those shipped."""
    places = [SHIPPED / instance.file, *([folder / instance.file] if folder else [])]
    return next((path for path in places if path.exists()), None)


def _numbers(path: Path) -> np.ndarray:
    return np.array(path.read_text().split(), dtype=float)


def read_gmm(path: Path) -> tuple[Any, ...]:
    """alphas, means, icf, x, gamma, m."""
    numbers = _numbers(path)
    d, k, n = (int(v) for v in numbers[:3])
    at = 3

    def take(*shape: int) -> np.ndarray:
        nonlocal at
        size = int(np.prod(shape))
        at += size
        return numbers[at - size : at].reshape(shape).copy()

    alphas, means, icf, x = take(k), take(k, d), take(k, d * (d + 1) // 2), take(n, d)
    return alphas, means, icf, x, float(numbers[at]), int(numbers[at + 1])


def read_lstm(path: Path) -> tuple[Any, ...]:
    """main, extra, state, sequence."""
    numbers = _numbers(path)
    layers, length, b = (int(v) for v in numbers[:3])
    shapes = [(2 * layers, 4 * b), (3, b), (2 * layers, b), (length, b)]
    ends = 3 + np.cumsum([r * c for r, c in shapes])
    return tuple(numbers[end - r * c : end].reshape(r, c).copy() for (r, c), end in zip(shapes, ends))


def read(instance: Instance, path: Path) -> tuple[Any, ...]:
    return (read_gmm if instance.kind == "gmm" else read_lstm)(path)


def differentiated(instance: Instance) -> tuple[int, ...]:
    """The arguments by which the gradient is taken."""
    return (0, 1, 2) if instance.kind == "gmm" else (0, 1)
