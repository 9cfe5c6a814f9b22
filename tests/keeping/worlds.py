"""Modules that are executed again and again, as by one process after the other: nothing is left of the time before but what is on disk."""

from __future__ import annotations

import sys
import types
from typing import Any

import zyg
from zyg.pipeline import timings

PREAMBLE = "import math\nimport numpy as np\nimport zyg\nimport dataclasses\nfrom typing import NamedTuple\n"


class World:
    """`helper` is a module that `main` imports."""

    def __init__(self, main: str, helper: str = ""):
        self.helper = self._module("kept_helper", helper)
        self.main = self._module("kept_main", main)

    @staticmethod
    def _module(name: str, text: str) -> types.ModuleType:
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(PREAMBLE + text, f"/nowhere/{name}.py", "exec"), vars(module))
        return module

    def call(self, text: str) -> tuple[Any, bool]:
        """The value of an expression, and whether all programs that it wanted were on disk."""
        with timings() as times:
            value = eval(text, vars(self.main))
        stages = {stage for _, stage, _ in times}
        assert stages, "it was compiled before"
        return value, stages == {"kept"}

    def plain(self, text: str) -> Any:
        """The value of the expression in CPython."""
        own = vars(self.main)
        before = own.copy()
        own.update({name: _plain(x) for name, x in before.items()})
        try:
            return eval(text, own)
        finally:
            own.clear()
            own.update(before)


def _plain(x: Any) -> Any:
    return x.py_func if type(x) is type(zyg.jit(_plain)) else x


def same(a: Any, b: Any) -> bool:
    """Whether values are the same to the last bit, of the same classes."""
    if type(a).__qualname__ != type(b).__qualname__:  # (classes of two worlds are two)
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    if hasattr(a, "tobytes"):
        return (a.shape, a.strides, a.dtype) == (b.shape, b.strides, b.dtype) and a.tobytes() == b.tobytes()
    if hasattr(a, "__dict__") and not isinstance(a, type):
        return same(vars(a), vars(b))
    return repr(a) == repr(b)
