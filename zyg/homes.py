"""Where objects come from."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np


def home(target: Any) -> str:
    """The module that it says it is from; for methods and attributes that of their class; ufuncs do not say."""
    if isinstance(target, np.ufunc):
        if getattr(np, target.__name__, None) is target:
            return "numpy"
        special = sys.modules.get("scipy.special")
        return "scipy.special" if getattr(special, target.__name__, None) is target else ""
    module = getattr(target, "__module__", None)
    if module is not None:
        return module if isinstance(module, str) else ""
    cls = getattr(target, "__objclass__", None)
    if cls is None:
        bound = getattr(target, "__self__", target)
        cls = bound if isinstance(bound, type) else type(bound)  # a method of a class
    return cls.__module__


def found(module: str, name: str) -> Any:
    """What has this name in a module that is there; the module itself if there is nothing.  (Nothing is asked: what has no such name might
    make something up, or raise.)"""
    here = sys.modules.get(module)
    x: Any = here
    for part in name.split("."):
        x = vars(x).get(part, here) if isinstance(x, (types.ModuleType, type)) else here
        x = x.__func__ if type(x) in (staticmethod, classmethod) else x
    return x


__all__ = ["found", "home"]
