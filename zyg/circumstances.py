"""What code depends on beside the program that it is made of: all of zyg's source, and the versions of Python, NumPy and LLVM, and the
processor.  Digests of it are part of the names by which code is found on disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import zyg

ROOT = Path(zyg.__file__).parent


@cache
def source() -> str | None:
    """What stands for all of zyg's source; None if some of it was changed since it was imported.

    It is not read, which would take longer than most functions: whatever writes a file changes when that was (and who keeps the
    time of modification changes that of the inode)."""
    found = sorted(_files(str(ROOT)))
    if not found or max(max(modified, changed) for _, modified, changed, *_ in found) > zyg._imported_at * 1e9:
        return None
    from .backend.llvm import cache as disk

    return disk.digest_of_much(repr(found).encode())


def _files(folder: str) -> Iterator[tuple[str, int, int, int, int]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from _files(entry.path)
        elif entry.name.endswith(".py"):
            yield _stamp(entry.path)


def _stamp(path: str) -> tuple[str, int, int, int, int]:
    found = os.stat(path)
    return path, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


@cache
def versions() -> tuple[str, ...]:
    """NumPy's, how it was built, and what LLVM compiles for."""
    import numpy as np

    from .backend.llvm.engine import engine

    folder = os.path.dirname(np.__file__)
    files = [os.path.join(folder, name) for name in ("__init__.py", "__config__.py", "version.py")]
    build = repr([_stamp(path) for path in files if os.path.exists(path)])
    return np.__version__, build, engine().circumstances()


__all__ = ["ROOT", "source", "versions"]
