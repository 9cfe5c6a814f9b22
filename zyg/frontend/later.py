"""The modules of this package that code for scalars does without: they are loaded when something of theirs is first used; and those that
import who uses them, as an `import` where that is costs almost a microsecond each time.

    from .later import lists

    lists.append(e, v, item)        loads zyg.frontend.lists

Loading them takes as long as the compilation of a small function (docs/decisions/0014-the-first-call.md).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import (
        arrays,
        calls,
        classes,
        complex_arrays,
        complexes,
        construction,
        dicts,
        exceptions,
        flat,
        functions,
        growing,
        indexing,
        iterators,
        listed,
        lists,
        numpy_numbers,
        python_ops,
        returned,
        subscripts,
    )

__all__ = [
    "arrays",
    "calls",
    "classes",
    "complex_arrays",
    "complexes",
    "construction",
    "dicts",
    "exceptions",
    "flat",
    "functions",
    "growing",
    "indexing",
    "iterators",
    "listed",
    "lists",
    "numpy_numbers",
    "python_ops",
    "returned",
    "subscripts",
]

IN_CIRCLES = ("calls", "classes", "exceptions", "functions", "iterators", "python_ops")  # import who uses them


class _Later:
    """Stands for a module."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(f".{self._name}", __package__), attribute)
        setattr(self, attribute, value)
        return value


if not TYPE_CHECKING:
    globals().update({name: _Later(name) for name in __all__})
