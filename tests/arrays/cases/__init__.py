"""The cases: a module per family of functions. A function of the registry without one fails the tests."""

from __future__ import annotations

import importlib
import pkgutil

from ..case import CASES

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["CASES"]
