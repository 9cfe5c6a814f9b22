"""What a function refers to besides its arguments: globals, captured variables, defaults.

Numbers and arrays are read at each call, as hidden parameters; everything else is a constant that a guard watches.
"""

from __future__ import annotations

import builtins
import types as python_types
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg import rules
from zyg.errors import UntypableValue
from zyg.ir import types as t
from zyg.transforms import transform_of
from zyg.typeof import UNBOUND, input_type, plain_class

from .values import Abstract, ConflictValue, FunctionValue, Known, TupleValue, known

if TYPE_CHECKING:
    from .evaluator import Evaluator
    from .frames import Frame


def global_value(e: Evaluator, frame: Frame, name: str) -> Abstract:
    """What a global or builtin name stands for: a number or array is read at each call, the rest is a guarded constant."""
    scope = frame.globals
    if name in scope:
        value = scope[name]
        if frame.library:
            return known(value)
        return constant_or_input(e, "global", scope, name, value)
    inside = scope.get("__builtins__", builtins)
    inside = inside if isinstance(inside, dict) else vars(inside)
    if name not in inside:
        e.inference.guard("missing", scope, inside, name)
        e.throw("NameError", f"name '{name}' is not defined")
    if not frame.library:
        e.inference.guard("builtin", scope, inside, name, inside[name])
    return known(inside[name])


def constant_or_input(
    e: Evaluator, kind: str, container: Any, name: str | None, value: Any, by_rule: bool = True
) -> Abstract:
    """A hidden parameter for what holds numbers or arrays, a constant for everything else (and, `by_rule`, for what has a rule)."""
    given = e.inference.given.get((kind, id(container), name))
    if given is not None:
        return e.input(kind, container, name, given)
    constant = e.inference.fixed and (type(value) in (int, bool) or isinstance(value, np.integer))
    if not constant and (
        (not callable(value) and not isinstance(value, (python_types.ModuleType, str, type(None))))
        or (is_data(value) and not (by_rule and _told_apart(e, value)))
    ):
        try:
            data_type = input_type(value)
        except UntypableValue as error:
            if type(value) in (list, dict):  # what it holds now is no constant
                return ConflictValue(error.what, (error.what,), error.hint)
            data_type = None
        if data_type is not None and (t.flatten(data_type) or isinstance(data_type, t.MUTABLE)):
            return e.input(kind, container, name, data_type)
    if kind == "global":
        e.inference.guard("global", container, name, value)
    else:
        e.inference.guard("cell", container, value)
    return known(value)


def _told_apart(e: Evaluator, value: Any) -> bool:
    """Whether an object is to be known by identity, since calls of it may have a rule under differentiation."""
    return e.context.level > 0 and rules.has_ruled_instances(type(value))


def is_data(value: Any) -> bool:
    data = (bool, int, float, complex, np.ndarray, np.generic, tuple)
    return isinstance(value, data) or callable(value) and transform_of(value) is None and plain_class(type(value))


def guard_function(e: Evaluator, function: python_types.FunctionType) -> None:
    """The code that is being made depends on the code and the defaults of a function, to which one can assign."""
    kwdefaults = function.__kwdefaults__
    e.inference.guard("function", function, function.__code__, function.__defaults__, kwdefaults)
    for name, value in (kwdefaults or {}).items():
        e.inference.guard("global", kwdefaults, name, value)


def function_value(e: Evaluator, function: python_types.FunctionType, library: bool = False) -> FunctionValue:
    """A Python function object as an abstract value."""
    if not library:
        guard_function(e, function)
    captured = []
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:
            captured.append(Known(UNBOUND))
            continue
        captured.append(known(content) if library else constant_or_input(e, "cell", cell, None, content))
    return FunctionValue(
        function.__code__,
        function.__globals__,
        function.__name__,
        tuple(captured),
        tuple(held(e, v) for v in function.__defaults__ or ()),
        tuple((n, held(e, v)) for n, v in (function.__kwdefaults__ or {}).items()),
        function,
    )


def held(e: Evaluator, value: Any, by_rule: bool = True) -> Abstract:
    """An object that code refers to directly, such as the default of a parameter: arrays and mutable objects are read at
    each call, out of a cell that holds them; the rest is a constant."""
    if isinstance(value, tuple) and type(value) is not tuple or isinstance(value, (np.ndarray, list, dict)):
        pass
    elif type(value) is tuple and any(isinstance(v, (tuple, np.ndarray, list, dict)) for v in value):
        return TupleValue(tuple(held(e, v) for v in value))
    elif not plain_class(type(value)):
        return known(value)
    cell = e.inference.cells.setdefault(id(value), python_types.CellType(value))
    return constant_or_input(e, "cell", cell, None, value, by_rule)
