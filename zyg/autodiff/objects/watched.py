"""What foreign code changes: what it was given is compared with copies, and derivatives by what has changed are refused."""

from __future__ import annotations

import array
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from zyg.errors import Unsupported
from zyg.ir.plainly import own_attributes
from zyg.remedies import rule_of

from . import foreign, iteration, scattering, structure
from .cotangents import INERT, Refused, accumulate
from .structure import SEQUENCES


def watch(values: Iterable[Any]) -> list[tuple[Any, Any]] | None:
    """Copies of the mutable ones among the arguments of foreign code; None if there are none."""
    held: list[tuple[Any, Any]] = []
    for x in values:
        if isinstance(x, (float, str)) or type(x) in INERT or type(x) is int:
            continue
        if isinstance(x, np.ndarray):
            if x.dtype.kind in "fciu" and x.flags.writeable:
                held.append((x, x.copy()))
        elif isinstance(x, SEQUENCES):
            held.append((x, list(iteration.own_items(x))))
        elif isinstance(x, dict):
            held.append((x, dict(x)))
        elif isinstance(x, structure.Names):
            held.append((x.space, dict(x.space)))
            held.extend(watch(x.space[name] for name in x.used if name in x.space) or ())
        elif isinstance(x, set):
            held.append((x, tuple(set.__iter__(x))))
        elif not isinstance(x, (ModuleType, type, FunctionType)):
            own = own_attributes(x)
            if own and isinstance(own, dict):  # `list[int]` has that of the class
                held.append((x, dict(own)))
    return held or None


def changed(held: list[tuple[Any, Any]]) -> list[Any]:
    """Those of the watched objects that are not as they were."""
    return [x for x, old in held if not _same(x, old)]


def _same(x: Any, old: Any) -> bool:
    if isinstance(x, np.ndarray):
        return x.shape == old.shape and x.tobytes() == old.tobytes()
    if isinstance(x, SEQUENCES):
        now = list(iteration.own_items(x))
        if isinstance(x, array.array):
            return now == old
        return len(now) == len(old) and all(a is b for a, b in zip(now, old))
    if isinstance(x, set):
        return len(x) == len(old) and all(a is b for a, b in zip(set.__iter__(x), old))
    now = x if isinstance(x, dict) else x.__dict__
    if len(now) != len(old):
        return False
    # (Not by looking keys up, which may run code.)
    return all(k is other and v is was for (k, v), (other, was) in zip(dict.items(now), old.items()))


def run_changed(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Foreign code changed its arguments: what has come to them is refused where it goes on."""
    from .calls import run

    _, objects, operands, forms, inner, name, place = back
    refused: Refused | None = None
    for x in objects:
        if foreign.has_shadow(x, shadows):
            what = f"a derivative through `{name}`, which changes its argument and which zyg cannot see into"
            hint = f"{rule_of(name)}, or let it work on a copy"
            refused = Refused(Unsupported(what, foreign.position_of(place), hint=hint))
    given = run(inner, d, shadows)
    if refused is None:
        return given
    for x in operands:
        if foreign.is_opaque(x):
            shadows.mark(x, refused)
    flowing = [scattering.refuse(form, refused, shadows) for form in forms]
    return [accumulate(a, b) for a, b in zip(flowing, given)] if given is not None else flowing
