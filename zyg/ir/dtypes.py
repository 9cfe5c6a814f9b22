"""Machine scalars as NumPy has them, and single precision for Python's floats."""

from __future__ import annotations

import math
import struct

import numpy as np

from .types import BOOL, F32, F64, I32, I64, U8, Scalar

NUMPY_SCALARS: dict[Scalar, type] = {
    F64: np.float64, F32: np.float32, I64: np.int64, I32: np.int32, U8: np.uint8, BOOL: np.bool_,
}  # fmt: skip


def single(x: float) -> float:
    """A float rounded to single precision.

    >>> single(0.1), single(1e300)
    (0.10000000149011612, inf)
    """
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)
