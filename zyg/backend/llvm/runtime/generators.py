"""Random generators in memory of ours."""

from .layout import fill

TEXT = fill(
    """
; Let a generator (library/numpy_/bit_generators.py) point to its own state, wherever it lies now.
define void @zyg_generator_ready(ptr %words) {
  %of_64 = getelementptr i64, ptr %words, i64 5
  store ptr %of_64, ptr %words
  %numbers = getelementptr i64, ptr %words, i64 8
  store ptr %numbers, ptr %of_64
  ret void
}
"""
)
