"""What zyg offers for use inside of differentiated code."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from zyg import inside
from zyg.errors import Unsupported

from . import structure
from .calls import known
from .cotangents import INERT, is_number


@known(inside.stop_gradient)
def _stop_gradient(x: Any) -> tuple[Any, Any]:
    # What is mutable has its cotangent by identity: the constant is a copy.
    return _constant(x), None


def _constant(x: Any) -> Any:
    if is_number(x) or type(x) in INERT or callable(x):
        return x
    if isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, tuple):
        items = [_constant(v) for v in x]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, (list, dict, set, *structure.SEQUENCES)):
        return copy.deepcopy(x)
    if not structure.holds_numbers(structure.form(x)):
        return x
    raise Unsupported(
        f"stop_gradient of a {type(x).__name__}, an object that others may change",
        hint="apply stop_gradient to the numbers and arrays in it",
    )


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
def _checkpoint(function: Any, /, *args: Any) -> tuple[Any, Any]:
    from . import api

    forms = [structure.form(x) for x in (function, *args)]
    kept = copy.deepcopy(args)
    value = function(*args)
    return value, (_run_checkpoint, api.pullback, function, kept, forms, structure.form(value))


def _apply(function: Any, *args: Any) -> Any:
    return function(*args)


def _run_checkpoint(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Compute it again, this time with all that the reverse pass wants."""
    _, pullback, function, kept, forms, form = back
    d = structure.gather(form, d, shadows, take=True)
    if d is None:
        return None
    given = pullback(_apply, (function, *kept))[1](d)
    what = "the cotangent of a checkpointed function"
    return (None, *[structure.scatter(form, c, shadows, what) for form, c in zip(forms, given)])
