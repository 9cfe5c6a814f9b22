"""What the registry knows of NumPy and SciPy, by what a user calls it."""

from __future__ import annotations

import functools
import importlib
import inspect
import types
from collections.abc import Collection, Hashable
from typing import Any

import numpy as np

from zyg import rules
from zyg.autodiff.objects import calls
from zyg.autodiff.objects import numpy_ as run_time
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
        return target[0].__module__.split(".")[0] == "numpy"
    if isinstance(target, np.ufunc):
        return True
    owner = getattr(target, "__objclass__", None)
    module = owner.__module__ if owner is not None else getattr(target, "__module__", None) or ""
    own = getattr(target, "__self__", None)
    if isinstance(own, (np.ndarray, np.generic, np.ufunc)):
        return True
    return module.split(".")[0] in ("numpy", "scipy")


# Makers that stand in front of brackets, by their class.
MAKERS = {type(getattr(np, name)): f"numpy.{name}" for name in ("r_", "c_", "s_", "mgrid", "ogrid")}


def name_of(target: Any) -> str:
    if isinstance(target, tuple):
        if target[0] in MAKERS:
            return MAKERS[target[0]]
        # The functions of numpy.random are methods of one RandomState.
        owner = "numpy.random" if target[0] is np.random.RandomState else target[0].__name__
        return f"{owner}.{target[1]}"
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
    for prefix in ("numpy.linalg", "numpy.fft", "numpy.random", "scipy.special", "scipy.linalg"):
        if module.startswith(prefix):
            return prefix
    return "numpy" if module.startswith("numpy") else module


def entries() -> dict[str, Any]:
    """The targets of all entries, and of all rules of the library's own, by name."""
    found: dict[str, Any] = {}
    for key in list(registry.all_entries()):
        target = target_of(key)
        if of_arrays(target):
            found[name_of(target)] = target
    return found | {name: rule.target for name, rule in library_rules()}


def entries_with_code() -> dict[str, tuple[Any, registry.Entry]]:
    """The entries of the registry by name, with what they are for."""
    targets = ((target_of(key), entry) for key, entry in list(registry.all_entries().items()))
    return {name_of(target): (target, entry) for target, entry in targets if of_arrays(target)}


def parameters(target: Any, entry: registry.Entry) -> tuple[list[str], list[str]]:
    """The parameters that an entry takes, and those that only the function itself has."""
    if isinstance(target, np.ufunc):
        return ["x"] if target.nin == 1 else [f"x{n + 1}" for n in range(target.nin)], []
    if hasattr(target, "__objclass__") and not callable(target):
        return [], []  # an attribute
    first = int(entry.emitter) + isinstance(target, tuple)  # the evaluator, the array
    own = list(inspect.signature(entry.function).parameters.values())[first:]
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    takes = [stars.get(p.kind, "") + p.name for p in own]
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in own):
        return takes, []
    called: Any = getattr(target[0], target[1], None) if isinstance(target, tuple) else target
    try:
        theirs = list(inspect.signature(called).parameters.values())[isinstance(target, tuple) :]
    except (TypeError, ValueError):
        return takes, []
    positional = len([p for p in own if p.kind is not inspect.Parameter.KEYWORD_ONLY])
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in own):
        positional = len(theirs)
    names = {p.name for p in own}
    return takes, [p.name for n, p in enumerate(theirs) if n >= positional and p.name not in names]


def uses_rules(entry: registry.Entry, targets: Collection[Any]) -> bool:
    """Whether an entry, or a helper that it names, is one of the targets of rules or calls one."""
    seen: list[Any] = []
    waiting = [entry.function]
    while waiting:
        function = waiting.pop()
        if any(function is s for s in seen) or not isinstance(function, types.FunctionType):
            continue
        seen.append(function)
        if any(function is t for t in targets):
            return True
        codes = [function.__code__, *(c for c in function.__code__.co_consts if isinstance(c, types.CodeType))]
        named = [function.__globals__.get(n) for code in codes for n in code.co_names]
        waiting += [f for f in named if own(f)]
    return False


def library_rules() -> list[tuple[str, rules.Rule]]:
    """All rules that the modules for arrays register; their targets are NumPy's functions, or helpers of these modules."""
    registry.all_entries()
    tables = (rules._rules, rules._tangents)
    found = [rule for table in tables for rule in table.values() if rule.function.__module__.startswith("zyg.library.")]
    return sorted(
        ((name_of(r.target), r) for r in found if of_arrays(r.target) or own(r.target)), key=lambda pair: pair[0]
    )


def own(target: Any) -> bool:
    return (getattr(target, "__module__", None) or "").startswith(
        ("zyg.library.numpy_", "zyg.library.scipy_", "zyg.library.special")
    )


def run_time_entries() -> dict[str, Any]:
    """What the Python back end has rules for, in tables of its own."""
    importlib.import_module("zyg.autodiff.objects.api")
    table: dict[Any, Any] = {**calls.KNOWN, **calls.METHODS}
    found = [
        target for target, handler in table.items() if of_arrays(target) and calls.call_plainly not in parts(handler)
    ]
    return {name_of(target): target for target in [*found, *run_time.UFUNCS]}


def parts(handler: Any) -> list[Any]:
    """What a handler is made of by functools.partial."""
    if not isinstance(handler, functools.partial):
        return [handler]
    return [part for piece in (handler.func, *handler.args) for part in parts(piece)]


_LANGUAGE = ((np.ndarray, "__getitem__"), (np.ndarray, "__setitem__"))


def with_entries(cases: list[Case]) -> list[Case]:
    """The cases of what there is; indexing and assignment are no functions, and always there."""
    known = entries()
    language = lambda target: isinstance(target, tuple) and target[:2] in _LANGUAGE
    return [c for c in cases if all(language(t) or name_of(t) in known for t in c.covers)]


def covered(cases: list[Case]) -> set[str]:
    return {name_of(target) for case in cases for target in case.covers}
