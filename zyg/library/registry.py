"""What compiled code does for a call of a function that is not its own: `math.sin`, `sum`, `np.zeros`, `a.copy()`.

An entry is found by the object that is called, or by (class, name) for a method:

    @implements(math.dist)            an ordinary Python function, which zyg compiles in its place
    def dist(p, q): ...

    @emits(math.sin)                  a primitive: gets the evaluator and abstract values, and emits instructions
    def sin(e, x): ...

    @implements((np.ndarray, "dot"))
    def dot(a, b): ...

An entry has the parameters that it supports, under the names that they have: an argument that it does not take is refused by
its name.  Adding a function is writing one such entry in one of the modules of this package; a new module is named in HOMES.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Hashable
from typing import Any

from zyg.frontend.values import known_key

from ..homes import home
from ..ir.records import record

NUMPY = (  # what programs use most comes first: looking for it, all before it is loaded
    "attributes", "constructors", "methods", "number_methods", "shaping", "views", "ufuncs", "arithmetic", "selection", "reductions",
    "extrema", "products", "diagonals", "taking", "positions", "sorting", "logic", "cumulative", "joining", "ranges",
    "common", "contractions", "ufunc_methods", "inplace", "dtypes", "repeating", "searching", "signals", "statistics",
    "splitting", "grids", "iterating", "applying", "polynomials", "tensors", "sets", "windows", "error_state",
)  # fmt: skip

# Where functions come from, by the module that they name as theirs (or the nearest one around it that is listed), and the
# modules of this package that have their entries. These are imported by need, in this order, up to the one that has what is
# looked for: a function that comes from nowhere here imports nothing.
HOMES: dict[str, tuple[str, ...]] = {
    "builtins": ("builtins_", "reductions", "iterables", "lists_", "complex_"),
    "dataclasses": ("dataclasses_",),
    "math": ("math_", "integers"),
    "cmath": ("cmath_",),
    "operator": ("operator_",),
    "_operator": ("operator_",),
    "_bisect": ("bisect_",),
    "functools": ("operator_",),
    "_functools": ("operator_",),
    "numpy": (*(f"numpy_.{name}" for name in NUMPY), "complex_"),
    "numpy.dtypes": ("numpy_.dtypes",),
    "numpy.fft": ("numpy_.fft",),
    "numpy.random": ("numpy_.random",),
    "numpy.linalg": (
        "numpy_.linalg",
        "numpy_.norms",
        "numpy_.hermitian",
        "numpy_.qr",
        "numpy_.singular",
        "numpy_.pseudo_inverses",
        "numpy_.least_squares",
        "numpy_.eigen",
        "numpy_.tensors",
        "numpy_.contractions",
        "numpy_.products",
        "numpy_.views",
    ),
    "scipy.special": ("special", "bessel", "hypergeometric"),
    "scipy.linalg": ("scipy_linalg", "scipy_matfuncs"),
    "zyg": ("derivatives", "reflection"),
    "zyg.library": (),  # its functions have their entries in their own modules
    "zyg.library.drivers": ("derivatives", "pullbacks", "tangents", "structured"),
    "zyg.library.hooks": ("reflection",),
}


@record(frozen=True)
class Entry:
    """`function` is Python code to compile, or an emitter; `instead` says, for arguments that it does not take, what to
    write in their place, and with the key "" for a number of arguments that it does not take. `lists` are its parameters that lists of
    run-time length are passed to as they are, `known` those for which they are refused; for others of NumPy's it gets arrays
    (frontend/run_time_lists.py)."""

    function: Callable[..., Any]
    emitter: bool
    module: str
    instead: dict[str, str]
    lists: tuple[str, ...]
    known: tuple[str, ...]


_entries: dict[Hashable, Entry] = {}
_pending: dict[str, list[str]] = {home: list(reversed(modules)) for home, modules in HOMES.items()}


def _key(target: Any) -> Hashable:
    if isinstance(target, tuple) and len(target) == 2 and isinstance(target[0], type):
        return ("method", target[0], target[1])
    return known_key(target)


def _register(
    targets: tuple[Any, ...],
    emitter: bool,
    instead: dict[str, str] | None,
    lists: tuple[str, ...],
    known: tuple[str, ...],
) -> Callable[[Any], Any]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for target in targets:
            key = _key(target)
            assert key not in _entries, f"{target} has an entry already"
            _entries[key] = Entry(function, emitter, function.__module__, instead or {}, lists, known)
        return function

    return register


def implements(
    *targets: Any, instead: dict[str, str] | None = None, lists: tuple[str, ...] = (), known: tuple[str, ...] = ()
) -> Callable[[Any], Any]:
    """The decorated Python function is compiled where `target` is called.

    It has the parameters of `target` that it supports, under their names. Others are refused where they are passed, unless
    they are the target's defaults (frontend/arguments.py); `instead` says what to write in their place.
    `lists` are those to which lists of run-time length are passed as they are, `known` those for which they are refused.
    """
    return _register(targets, False, instead, lists, known)


def emits(
    *targets: Any, instead: dict[str, str] | None = None, lists: tuple[str, ...] = (), known: tuple[str, ...] = ()
) -> Callable[[Any], Any]:
    """The decorated function is called with the evaluator and abstract values where `target` is called."""
    return _register(targets, True, instead, lists, known)


def find(target: Any) -> Entry | None:
    """The entry for a call of this object."""
    if isinstance(target, type) and issubclass(target, BaseException):
        return None  # exceptions are none of the library's: nothing is loaded for them
    try:
        key = known_key(target)
        return _entries.get(key) or _load(key, target)
    except TypeError:
        return None


def bring(target: Any) -> None:
    """Import what may hold rules for an object."""
    try:
        if _pending.get(_listed(home(target))):
            find(target)
    except TypeError:
        pass


def method(cls: type, name: str) -> Entry | None:
    """The entry for the method `name` of `cls`."""
    key = ("method", cls, name)
    return _entries.get(key) or _load(key, cls)


def all_entries() -> dict[Hashable, Entry]:
    for module in HOMES:
        _import(module, None)
    return _entries


def _load(key: Hashable, target: Any) -> Entry | None:
    """The entry, if one of the modules for functions of the target's home has it."""
    return _import(_listed(home(target)), key)


@functools.cache
def _listed(module: str) -> str:
    """The module itself or the nearest one around it that is in HOMES; "" if there is none."""
    while module and module not in HOMES:
        module = module.rpartition(".")[0]
    return module


def modules_of(module: str) -> tuple[str, ...]:
    """The modules of this package that have what comes from a module."""
    return HOMES.get(_listed(module), ())


def _import(home: str, key: Hashable) -> Entry | None:
    pending = _pending.get(home, [])
    while pending:
        name = pending[-1]
        importlib.import_module(f"zyg.library.{name}")
        if name in pending:  # else what was imported, or another thread, came here too
            pending.remove(name)
        if key in _entries:
            break
    return _entries.get(key)
