"""What compiled code does for a call of a function that is not its own: `math.sin`, `sum`, `np.zeros`, `a.copy()`.

An entry is found by the object that is called, or by (class, name) for a method:

    @implements(math.dist)            an ordinary Python function, which zyg compiles in its place
    def dist(p, q): ...

    @emits(math.sin)                  a primitive: gets the evaluator and abstract values, and emits instructions
    def sin(e, x): ...

    @implements((np.ndarray, "dot"))
    def dot(a, b): ...

Adding a function is writing one such entry in one of the modules of this package.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Hashable
from typing import Any

from zyg.frontend.values import known_key

from ..ir.records import record

NUMPY = ("constructors", "methods", "shaping", "ufuncs", "reductions", "products", "inplace")
MODULES = (
    "builtins_",
    "lists_",
    "math_",
    "complex_",
    "cmath_",
    "operator_",
    *(f"numpy_.{name}" for name in NUMPY),
    "derivatives",
    "reflection",
)


@record(frozen=True)
class Entry:
    """`function` is Python code to compile, or an emitter."""

    function: Callable[..., Any]
    emitter: bool
    module: str


_entries: dict[Hashable, Entry] = {}
_loaded: list[bool] = []


def _key(target: Any) -> Hashable:
    if isinstance(target, tuple) and len(target) == 2 and isinstance(target[0], type):
        return ("method", target[0], target[1])
    return known_key(target)


def _register(targets: tuple[Any, ...], emitter: bool) -> Callable[[Any], Any]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for target in targets:
            key = _key(target)
            assert key not in _entries, f"{target} has an entry already"
            _entries[key] = Entry(function, emitter, function.__module__)
        return function

    return register


def implements(*targets: Any) -> Callable[[Any], Any]:
    """The decorated Python function is compiled where `target` is called."""
    return _register(targets, False)


def emits(*targets: Any) -> Callable[[Any], Any]:
    """The decorated function is called with the evaluator and abstract values where `target` is called."""
    return _register(targets, True)


def _load() -> None:
    if not _loaded:
        _loaded.append(True)
        for name in MODULES:
            importlib.import_module(f"zyg.library.{name}")


def find(target: Any) -> Entry | None:
    """The entry for a call of this object."""
    if not _loaded:
        _load()
    try:
        return _entries.get(known_key(target))
    except TypeError:
        return None


def method(cls: type, name: str) -> Entry | None:
    """The entry for the method `name` of `cls`."""
    if not _loaded:
        _load()
    return _entries.get(("method", cls, name))


def all_entries() -> dict[Hashable, Entry]:
    if not _loaded:
        _load()
    return _entries
