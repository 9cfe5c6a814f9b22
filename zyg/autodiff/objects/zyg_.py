"""What zyg offers for use inside of differentiated code."""

from __future__ import annotations

import types
from typing import Any

import zyg
from zyg import inside
from zyg.errors import Unsupported
from zyg.ir.plainly import has_plainly

from ..trying import bodies
from . import gathering, scattering, structure
from .builtins_ import constant
from .calls import known
from .cotangents import INERT, is_number
from .passing import passes


@known(inside.stop_gradient)
def _stop_gradient(x: Any) -> tuple[Any, Any]:
    # What is mutable has its cotangent by identity: the constant is a copy.
    return _constant(x), None


def _constant(x: Any) -> Any:
    if type(x) is float:
        return (
            x * 1.0
        )  # another object: what goes by the identity of numbers tells it from the one that has a derivative
    if is_number(x) or type(x) in INERT or callable(x):
        return x
    if type(x) is tuple or isinstance(x, tuple) and has_plainly(x, "_fields"):
        items = [_constant(v) for v in x]
        return type(x)(*items) if has_plainly(x, "_fields") else tuple(items)
    made = inside.constant(x)
    if made is not x or not structure.holds_numbers(structure.form(x)):
        return made
    raise Unsupported(
        f"stop_gradient of a {type(x).__name__}, an object that others may change",
        hint="apply stop_gradient to the numbers and arrays in it",
    )


@known(_constant)
def _constant_in_turn(x: Any) -> tuple[Any, Any]:
    return _constant(x), None


constant(zyg.__getattr__)  # what is imported when it is first asked for


@known(inside.isderiving)
def _isderiving() -> tuple[Any, Any]:
    return True, None


@known(inside.nestlevel)
def _nestlevel() -> tuple[Any, Any]:
    return inside.nestlevel() + 1, None


@known(inside.checkpointed)
def _checkpointed(iterable: Any, every: Any = None, *, snapshots: Any = None) -> tuple[Any, Any]:
    return inside.checkpointed(iterable, every, snapshots=snapshots), (_run_same,)


def _run_same(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, d, None, None


@known(inside.checkpoint)
@passes()
def _checkpoint(function: Any, /, *args: Any) -> tuple[Any, Any]:
    from . import api

    if bodies or not all(map(is_number, args)) or not _keeps_to_itself(function):
        # What it writes, or uses without being given it, would be seen as it is when it runs again; and what it raises is caught.
        return _directly(function, args)
    forms = [structure.form(x) for x in (function, *args)]
    value = function(*args)
    return value, (_run_checkpoint, api.pullback, function, args, forms, structure.form(value))


@passes(lambda variables: [(_run_direct,)])
def _directly(function: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    from . import calls

    value, direct = calls.call(function, args)
    return value, (_run_direct, direct)


def _run_direct(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    from . import calls

    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, *given)


def _keeps_to_itself(function: Any, depth: int = 0) -> bool:
    """Whether a function uses numbers, functions and modules only, besides its arguments."""
    if isinstance(function, (types.BuiltinFunctionType, types.ModuleType, type)) or is_number(function):
        return True
    if not isinstance(function, types.FunctionType) or depth > 5:
        return False
    try:
        used = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:
        return False  # a variable that has no value yet
    codes = [function.__code__]
    for code in codes:
        codes.extend(c for c in code.co_consts if isinstance(c, types.CodeType))
        used.extend(function.__globals__[n] for n in code.co_names if n in function.__globals__)
    return all(v is function or _keeps_to_itself(v, depth + 1) for v in used)


def _apply(function: Any, *args: Any) -> Any:
    return function(*args)


def _run_checkpoint(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Compute it again, this time with all that the reverse pass wants."""
    _, pullback, function, kept, forms, form = back
    d = gathering.gather(form, d, shadows, take=True)
    if d is None:
        return None
    given = pullback(_apply, (function, *kept))[1](d)
    what = "the cotangent of a checkpointed function"
    return (None, *[scattering.scatter(form, c, shadows, what) for form, c in zip(forms, given)])
