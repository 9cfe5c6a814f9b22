"""Which code is zyg's own."""

from __future__ import annotations

import os
from pathlib import Path

# With what ends a folder's name: `zyg_utils`, beside the package, is not in it.
PACKAGE = str(Path(__file__).parent) + os.sep
AUTODIFF = PACKAGE + "autodiff" + os.sep
ABOVE = frozenset({PACKAGE + "fallback.py", PACKAGE + "composed.py"})  # what calls it


def is_own(file: str, folder: str = PACKAGE) -> bool:
    """Whether a source file is in the package, or in this folder of it.

    >>> is_own(__file__), is_own(__file__, AUTODIFF), is_own(PACKAGE[:-1] + "_utils.py")
    (True, False, False)
    """
    return file.startswith(folder)
