"""Numbers with two slopes in two directions and the mixed second one, and arguments of them that CPython and NumPy's arrays of objects work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Dual:
    """value + d e + c g + m e g"""

    value: float
    d: float = 0.0
    c: float = 0.0
    m: float = 0.0

    @staticmethod
    def of(x: Any) -> Dual:
        return x if isinstance(x, Dual) else Dual(float(x))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        o = Dual.of(other)
        return Dual(self.value + o.value, self.d + o.d, self.c + o.c, self.m + o.m)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        x, y = self, Dual.of(other)
        return Dual(
            x.value * y.value,
            x.value * y.d + x.d * y.value,
            x.value * y.c + x.c * y.value,
            x.value * y.m + x.d * y.c + x.c * y.d + x.m * y.value,
        )

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Any:
        return self + -1.0 * Dual.of(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > Dual.of(other).value
