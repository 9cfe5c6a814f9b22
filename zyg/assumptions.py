"""What compiled code rests on: that a global still names the same function, that a module's attribute is still the same, that
no rule was registered since, that numbers and arrays in globals and cells still have the types they had.

The native entry sees when one of them may be broken (a dict's version tag, a cell's content, the epoch of the rules) and looks the
names up again by itself; `native_guards` and `native_input` say what it looks at.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

from . import rules
from .errors import UntypableValue
from .ir.records import record
from .ir.types import Closure, Type, children
from .typeof import input_type


@record(frozen=True, eq=False)
class Input:
    """A hidden parameter: what a global or a closure cell holds, read at each call."""

    kind: str  # "global" or "cell"
    container: Any
    name: str | None
    type: Type


def has_own_rule(kind: str, function: Any) -> bool:
    """Whether a function has no rule but those of zyg itself. `function`: it, or its module and name, where that need not be loaded."""
    if type(function) is tuple:
        module, name = function
        function = sys.modules.get(module)
        for part in name.split("."):
            function = getattr(function, part, None)
    return function is None or not rules.has_users_rule(kind, function)


def native_guards(guards: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Guards as the native entry takes them: about words of memory, and about names in dicts."""
    native: dict[Any, tuple[Any, ...]] = {}

    def add(*guard: Any) -> None:
        native.setdefault((guard[0], *map(id, guard[1:])), guard)

    for guard in guards:
        kind, *rest = guard
        if kind in ("rule", "tangent rule", "own rule", "ruled instances"):
            # All of them at once, by the epoch of the registry: a new rule is rare.
            native["rules"] = ("word", rules.epoch_address, rules.epoch())
        elif kind in ("imported", "order"):  # a module when it was compiled, the order of a set: they stay
            continue
        elif kind == "missing":
            namespace, builtin_names, name = rest
            add("absent", namespace, name)
            add("absent", builtin_names, name)
        elif kind == "attr":
            _add_attribute(add, *rest)
        elif kind == "lacks":
            owner, name = rest
            if can_change(owner):
                add("lacks", owner, name)
        elif kind == "function":
            _add_function(native, *rest)
        elif kind == "mro":
            _add_bases(native, *rest)
        else:
            add(*guard)
    return list(native.values())


_IMMUTABLE_TYPE, _HEAP_TYPE = 1 << 8, 1 << 9


def _add_attribute(add: Callable[..., None], owner: Any, name: str, expected: Any) -> None:
    """An attribute of a module or a class: of a class it may be in a base, and must not be in the classes before."""
    if not isinstance(owner, type):
        if name in vars(owner):  # else a module's __getattr__ made it up
            add("attr", owner, name, expected)
        return
    for base in owner.__mro__:
        if not can_change(base):
            return
        if name in vars(base):
            add("attr", base, name, vars(base)[name])
            return
        add("lacks", base, name)


def can_change(cls: type) -> bool:
    """Whether attributes can be set: a builtin class stays as it is."""
    return bool(cls.__flags__ & _HEAP_TYPE) and not cls.__flags__ & _IMMUTABLE_TYPE


def _add_function(native: dict[Any, tuple[Any, ...]], function: types.FunctionType, *expected: Any) -> None:
    """What a function object refers to, word by word."""
    from .backend import cpython as layout

    fields = (layout.FUNCTION_CODE, layout.FUNCTION_DEFAULTS, layout.FUNCTION_KWDEFAULTS)
    for offset, value in zip(fields, expected, strict=True):
        address = id(function) + offset
        native["word", address] = ("word", address, 0 if value is None else id(value))


def _add_bases(native: dict[Any, tuple[Any, ...]], cls: type, expected: tuple[type, ...]) -> None:
    from .backend import cpython as layout

    if can_change(cls):
        address = id(cls) + layout.TYPE_MRO
        native["word", address] = ("word", address, id(expected))


def rules_hold(guards: Iterable[tuple[Any, ...]], parameters: Iterable[Type] = ()) -> bool:
    """Whether the functions that had no rule still have none, and the others the same one; and whether the closures
    among the arguments are still one type for all that have their code."""
    if any(map(_has_singled_out, parameters)):
        return False
    find = {
        "rule": rules.rule_for,
        "tangent rule": rules.tangent_rule_for,
        "ruled instances": rules.has_ruled_instances,
    }
    return all(
        has_own_rule(*guard[1:]) if guard[0] == "own rule" else find[guard[0]](guard[1]) is guard[2]
        for guard in guards
        if guard[0] in find or guard[0] == "own rule"
    )


def _has_singled_out(type: Type) -> bool:
    if isinstance(type, Closure) and type.captured and rules.singled_out(type.code):
        return True
    return any(map(_has_singled_out, children(type)))


def input_value(source: Any) -> Any:
    """What a hidden input (a number or an array in a global or a cell) holds now; raises as Python's lookup would."""
    if source.kind == "cell":
        return source.container.cell_contents
    try:
        return source.container[source.name]
    except KeyError:
        raise NameError(f"name {source.name!r} is not defined", name=source.name) from None


def inputs_fit(inputs: Iterable[Any]) -> bool:
    """Whether the hidden inputs have the types that were compiled for."""
    try:
        return all(input_type(input_value(source)) == source.type for source in inputs)
    except (UntypableValue, NameError, ValueError):
        return False


def native_input(source: Any) -> tuple[Any, ...]:
    return ("cell", source.container) if source.kind == "cell" else ("global", source.container, source.name)


__all__ = [
    "Input",
    "can_change",
    "has_own_rule",
    "input_value",
    "inputs_fit",
    "native_guards",
    "native_input",
    "rules_hold",
]
