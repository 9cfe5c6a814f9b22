"""Windows for signals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..intrinsics import cut
from ..registry import implements


def length(M: Any) -> float:
    """The length of a window, which may be no integer, but is a constant to the derivative."""
    return cut(float(M))


def places(M: float) -> Any:
    """1 - M, 3 - M, ..., M - 1: where the points of a window of length M are, from its middle, twice."""
    return np.arange(1.0 - M, M, 2.0)


@implements(np.hanning)
def hanning(M: float) -> Any:
    M = length(M)
    if M <= 1:
        return np.ones(int(M == 1))
    return 0.5 + 0.5 * np.cos(math.pi * places(M) / (M - 1.0))


@implements(np.hamming)
def hamming(M: float) -> Any:
    M = length(M)
    if M <= 1:
        return np.ones(int(M == 1))
    return 0.54 + 0.46 * np.cos(math.pi * places(M) / (M - 1.0))


@implements(np.blackman)
def blackman(M: float) -> Any:
    M = length(M)
    if M <= 1:
        return np.ones(int(M == 1))
    n = places(M)
    return 0.42 + 0.5 * np.cos(math.pi * n / (M - 1.0)) + 0.08 * np.cos(2.0 * math.pi * n / (M - 1.0))


@implements(np.bartlett)
def bartlett(M: float) -> Any:
    M = length(M)
    if M <= 1:
        return np.ones(int(M == 1))
    n = places(M)
    return np.where(n <= 0, 1 + n / (M - 1.0), 1 - n / (M - 1.0))


@implements(np.kaiser)
def kaiser(M: float, beta: Any) -> Any:
    M = length(M)
    if M == 1:
        return np.ones(1)
    alpha = (M - 1.0) / 2.0
    at = (np.arange(M) - alpha) / alpha
    return np.i0(beta * np.sqrt(1 - at**2.0)) / np.i0(float(beta))
