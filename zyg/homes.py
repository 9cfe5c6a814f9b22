"""Where objects come from."""

from __future__ import annotations

import sys
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
    return (cls or type(getattr(target, "__self__", target))).__module__


__all__ = ["home"]
