"""Where objects come from."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np

from zyg.ir.plainly import get_plainly


def home(target: Any) -> str:
    """The module that it says it is from; for methods and attributes that of their class; ufuncs do not say."""
    if isinstance(target, np.ufunc):
        if getattr(np, target.__name__, None) is target:
            return "numpy"
        special = sys.modules.get("scipy.special")
        return "scipy.special" if getattr(special, target.__name__, None) is target else ""
    module = get_plainly(target, "__module__")
    if module is not None:
        return module if isinstance(module, str) else ""
    cls = get_plainly(target, "__objclass__")
    if cls is None:
        bound = get_plainly(target, "__self__", target)
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


def public_module(module: str, name: str, function: object) -> str:
    """The module that users have a function from: `scipy.special` for one that says it is from `scipy.special._lambertw`.

    >>> import json
    >>> public_module("json", "dumps", json.dumps), public_module("json._private", "dumps", json.dumps)
    ('json', 'json')
    """
    parts = module.split(".")
    private = next((n for n, part in enumerate(parts) if n and part.startswith("_")), len(parts))
    public = ".".join(parts[:private])
    return public if found(public, name) is get_plainly(function, "__func__", function) else module


__all__ = ["found", "home", "public_module"]
