"""Cotangents and tangents that are given by names: a dict, a named tuple, an object, for a value whose parts have names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zyg.ir.plainly import get_plainly, own_attributes


class UnknownName(Exception):
    """The name of a part that the value has not."""

    def __init__(self, name: Any):
        super().__init__(name)
        self.name = name


def by_names(given: Any, names: Iterable[Any]) -> dict[Any, Any] | None:
    """The parts of what is given by names, each under the one of `names` that it is for: `x` may stand for `_x`, as in gradients. What
    is left out is not in it. None for what is given by position, or is no structure.

    >>> from collections import namedtuple
    >>> by_names({"b": 1.0, "a": 2.0}, ["a", "b"]), by_names(namedtuple("Pair", "x b")(1.0, 2.0), ["_x", "b"])
    ({'b': 1.0, 'a': 2.0}, {'_x': 1.0, 'b': 2.0})
    >>> by_names([1.0, 2.0], ["a", "b"]) is None
    True
    """
    parts = parts_by_name(given)
    if parts is None:
        return None
    names = tuple(names)
    known = {n.lstrip("_"): n for n in names if isinstance(n, str)}
    known.update(zip(names, names))
    found = {}
    for name, part in parts.items():
        if name not in known:
            raise UnknownName(name)
        found[known[name]] = part
    return found


def parts_by_name(given: Any) -> dict[Any, Any] | None:
    """The parts of a dict, named tuple or object by name; None for anything else."""
    if isinstance(given, dict):
        return given
    if isinstance(given, tuple):
        names = get_plainly(type(given), "_fields")
        return None if names is None else dict(zip(names, given))
    from .autodiff.objects.structure import fields_of, has_fields

    cls = type(given)
    if not has_fields(cls) or cls.__module__.startswith("zyg."):
        return None
    return {name: getattr(given, name) for name in fields_of(given)} or (
        {} if (own_attributes(given) is not None) else None
    )
