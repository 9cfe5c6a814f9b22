"""What a user may set per function."""

from __future__ import annotations

from .records import record

FAST_FLAGS = frozenset({"reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"})


@record(frozen=True)
class Options:
    """Compilation options, all off the path of exact Python semantics unless stated.

    fastmath: LLVM's fast-math flags to set on floating-point instructions.
    vectormath: vectorised mathematics (at most 4 ulp) where a loop vectorises.
    error_model: "python" raises ZeroDivisionError and domain errors; "numpy" gives inf and nan.
    boundscheck: indices are checked.
    cache: keep compiled code on disk.
    nogil: release the GIL for the whole call.
    """

    fastmath: frozenset[str] = frozenset()
    vectormath: bool = True
    error_model: str = "python"
    boundscheck: bool = True
    cache: bool = False
    nogil: bool = False
