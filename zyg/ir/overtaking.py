"""Where a copy within one array reads what it has just written.

NumPy takes a temporary when an assignment overlaps, but not for arrays of one dimension whose strides go the same way: these it
copies one element after the other, from the end where the source lies before the target and reaches it. That is right where
both strides are equal; `m[1] = m[:, 2]` may read elements that it has overwritten.
"""

from __future__ import annotations

import numpy as np

OVERTAKING = (
    "what is assigned overlaps with where it goes, and lies there with another stride: NumPy would read elements "
    "that it has just written; assign a copy (x.copy())"
)

OVERTAKING_FLAT = (
    "what is assigned to the elements of `flat` overlaps with where it goes: NumPy would read elements that it has just written; "
    "assign a copy (x.copy())"
)


def overtakes(target: np.ndarray, source: np.ndarray) -> bool:
    """Whether copying `source` to `target`, both of one dimension and one length, reads an element that it has written."""
    n, to, of = len(target), target.strides[0], source.strides[0]
    if to == of or to * of <= 0 or n < 2:
        return False
    a, b = target.ctypes.data, source.ctypes.data
    if to < 0:
        a, b, to, of = a + (n - 1) * to, b + (n - 1) * of, -to, -of
    backwards = b < a < b + n * of
    places = (divmod(b + k * of - a, to) for k in range(n))
    return any(rest == 0 and 0 <= i < n and (i > k if backwards else i < k) for k, (i, rest) in enumerate(places))
