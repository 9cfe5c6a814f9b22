"""The derivative of a dynamic program by dual numbers: its source is executed with a `math` that knows them, and run on
arguments in which each number is a direction of its own."""

from __future__ import annotations

import contextlib
import functools
import itertools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..oracles import dual, dual_arrays
from .tools import Program

_levels = itertools.count(1_000_000)


class _Functools:
    """`functools` without caches: duals of one value are not one."""

    __getattr__ = staticmethod(lambda name: getattr(functools, name))

    def cache(self, function: Any) -> Any:
        return function

    def lru_cache(self, maxsize: int) -> Any:
        return self.cache


def _isinstance(x: Any, kind: Any) -> bool:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return isinstance(dual.value_of(x), tuple(float if k is dual._dual_float else k for k in kinds))


_LIFTED = {
    "math": dual.namespace,
    "np": dual_arrays.numpy_on_duals,
    "functools": _Functools(),
    "float": dual._dual_float,
    "isinstance": _isinstance,
}
_IMPORTED = ("import math\n", "import functools\n", "import numpy as np\n")


def module_of(program: Program, filename: str, lifted: bool = False) -> Any:
    """The program, executed; `lifted`: to be run on duals."""
    module = types.ModuleType(__name__)  # dataclasses look their module up
    source = program.source
    if lifted:
        for line in _IMPORTED:
            source = source.replace(line, "\n", 1)
        module.__dict__.update(_LIFTED)
    exec(compile(source, filename, "exec"), module.__dict__)
    return module


def calls(program: Program, module: Any) -> Iterator[list[Any]]:
    """The arguments of each call, after the changes that come before it."""
    for texts, change in zip(program.calls, program.changes):
        with contextlib.suppress(Exception):  # what it changes may not be there any more
            exec(change, module.__dict__)
        yield [eval(text, module.__dict__) for text in texts]


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, dual.Dual)) and not isinstance(value, bool)


def parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """What a structure is made of: (key, part)."""
    if isinstance(value, (list, tuple, np.ndarray)):
        yield from enumerate(value)
    elif isinstance(value, dict):
        yield from value.items()
    elif hasattr(value, "__dict__"):
        yield from vars(value).items()


def with_parts(value: Any, new: dict[Any, Any]) -> Any:
    """`value` with other parts: a new tuple, anything else changed in place."""
    if isinstance(value, tuple):
        return type(value)(new.values())
    if isinstance(value, np.ndarray):
        value = dual_arrays.objects(value)
    for key, part in new.items():
        if isinstance(value, (list, dict, np.ndarray)):
            value[key] = part
        else:
            setattr(value, key, part)
    return value


def _seed(value: Any, directions: Iterator[int], level: int) -> Any:
    if is_number(value):
        return dual.Dual(dual.value_of(value), {next(directions): 1.0}, level)
    return with_parts(value, {key: _seed(part, directions, level) for key, part in parts(value)})


def _numbered(value: Any, directions: Iterator[int]) -> Any:
    """The structure with the number of its direction for each number; a dict by key for anything that has parts."""
    if is_number(value):
        return next(directions)
    return {key: _numbered(part, directions) for key, part in parts(value)}


def _gather(numbered: Any, tangents: dict[int, Any]) -> Any:
    if isinstance(numbered, dict):
        return {key: _gather(part, tangents) for key, part in numbered.items()}
    return dual.value_of(tangents.get(numbered, 0.0))


def gradients(program: Program, filename: str, returns: list[bool]) -> tuple[list[float | None], list[list[Any]]]:
    """For each call its value, and for each argument its derivatives: a number for a number, a dict by index, key or attribute
    otherwise. Calls that do not return, as `returns` tells, have none; they are made for what they leave behind."""
    module = module_of(program, filename, lifted=True)
    found = [_gradient(module, args, known) for args, known in zip(calls(program, module), returns)]
    return [value for value, _ in found], [slopes for _, slopes in found]


def _gradient(module: Any, args: list[Any], returns: bool) -> tuple[float | None, list[Any]]:
    directions = itertools.count()
    numbered = [_numbered(arg, directions) for arg in args]
    level = next(_levels)
    directions = itertools.count()
    seeded = [_seed(arg, directions, level) for arg in args]
    if not returns:
        with contextlib.suppress(Exception):
            module.f(*seeded)
        return None, []
    result = module.f(*seeded)
    tangents = result.tangents if isinstance(result, dual.Dual) and result.level == level else {}
    return dual.value_of(result), [_gather(n, tangents) for n in numbered]


def second_derivative(program: Program, filename: str) -> float:
    """By the first argument, a number, twice: duals of duals."""
    module = module_of(program, filename, lifted=True)
    x, *rest = next(calls(program, module))
    outer, inner = next(_levels), next(_levels)
    result = module.f(dual.Dual(dual.Dual(x, {0: 1.0}, outer), {0: 1.0}, inner), *rest)
    slope = result.tangents.get(0, 0.0) if isinstance(result, dual.Dual) and result.level == inner else 0.0
    bend = slope.tangents.get(0, 0.0) if isinstance(slope, dual.Dual) and slope.level == outer else 0.0
    return dual.value_of(bend)
