"""What the registry knows of NumPy and SciPy, by what a user calls it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from zyg import rules
from zyg.library import registry

from .case import Case


def target_of(key: Hashable) -> Any:
    """What an entry is for: a function, a descriptor, or (class, name)."""
    if isinstance(key, tuple) and key[0] == "method":
        return key[1:]
    return getattr(key, "object", key)


def of_arrays(target: Any) -> bool:
    """Whether it is NumPy's or SciPy's, not one of zyg's own helpers."""
    if isinstance(target, tuple):
        return issubclass(target[0], (np.ndarray, np.generic, np.ufunc))
    if isinstance(target, np.ufunc):
        return True
    owner = getattr(target, "__objclass__", None)
    module = owner.__module__ if owner is not None else getattr(target, "__module__", None) or ""
    own = getattr(target, "__self__", None)
    if isinstance(own, (np.ndarray, np.generic, np.ufunc)):
        return True
    return module.split(".")[0] in ("numpy", "scipy")


def name_of(target: Any) -> str:
    if isinstance(target, tuple):
        return f"{target[0].__name__}.{target[1]}"
    if isinstance(target, np.ufunc):
        home = "numpy" if getattr(np, target.__name__, None) is target else "scipy.special"
        return f"{home}.{target.__name__}"
    owner = getattr(target, "__objclass__", None)
    if owner is not None:
        return f"{owner.__name__}.{target.__name__}"
    own = getattr(target, "__self__", None)
    if isinstance(own, np.ufunc):
        return f"{own.__name__}.{target.__name__}"
    return f"{public(target.__module__)}.{target.__name__}" if hasattr(target, "__name__") else repr(target)


def public(module: str) -> str:
    for prefix in ("numpy.linalg", "numpy.fft", "numpy.random", "scipy.special"):
        if module.startswith(prefix):
            return prefix
    return "numpy" if module.startswith("numpy") else module


def entries() -> dict[str, Any]:
    """The targets of all entries, and of all rules of zyg's own for NumPy and SciPy, by name."""
    found: dict[str, Any] = {}
    for key in list(registry.all_entries()):
        target = target_of(key)
        if of_arrays(target):
            found[name_of(target)] = target
    for table in (rules._rules, rules._tangents):
        for rule in table.values():
            if rule.function.__module__.startswith("zyg.library") and of_arrays(rule.target):
                found[name_of(rule.target)] = rule.target
    return found


def with_entries(cases: list[Case]) -> list[Case]:
    """The cases of what there is; indexing and assignment are no functions, and always there."""
    known = entries()
    language = lambda target: isinstance(target, tuple) and target[1] in ("__getitem__", "__setitem__")
    return [c for c in cases if all(language(t) or name_of(t) in known for t in c.covers)]


def covered(cases: list[Case]) -> set[str]:
    return {name_of(target) for case in cases for target in case.covers}
