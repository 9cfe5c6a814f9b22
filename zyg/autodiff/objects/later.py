"""The modules of `zyg.autodiff.python` that run-time functions call, which these are imported by: loaded when first used.

    from . import later

    later.special.special_method(...)       loads zyg.autodiff.python.special

(An import statement in a function takes one to two microseconds each time.)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zyg.autodiff.python import (
        accesses,
        compile,
        escaping,
        forms,
        handing,
        knowledge,
        matched,
        sites,
        sought,
        special,
    )


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    module = globals()[name] = import_module(f"zyg.autodiff.python.{name}")
    return module


__all__ = ["accesses", "compile", "escaping", "forms", "handing", "knowledge", "matched", "sites", "sought", "special"]
