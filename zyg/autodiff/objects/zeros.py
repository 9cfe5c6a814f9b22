"""Zeros in gradients: what the value depends on by data flow, if not on the path that was taken, has a derivative of 0.0, not None."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from zyg.autodiff.python.dependence import ANY, Attribute, Item, Path
from zyg.ir.plainly import get_plainly

from .arithmetic import find
from .shadows import shadow_dtype
from .structure import Form, fields_class, gradient_class


def lacking(gradient: Any, paths: Iterable[Path]) -> bool:
    """Whether one of these parts may have none: quickly, as there may be many."""
    if gradient is None:
        return any(True for _ in paths)
    if type(gradient) not in _WITH_PARTS and not isinstance(gradient, tuple):
        return False
    return any(_lacks(gradient, path) for path in paths if path)


_WITH_PARTS = frozenset({list, dict})
_is_none = functools.partial(operator.is_, None)


def _lacks(gradient: Any, path: Path) -> bool:
    step, rest = path[0], path[1:]
    if step is not ANY:
        try:
            part = _getter(step)(gradient)
        except _NOT_THERE:
            return False
        return lacking(part, (rest,))
    if type(gradient) is dict:
        return False
    parts = gradient
    while rest and rest[0] is not ANY:  # the same part of all of them
        if any(map(_is_none, parts)):
            return True
        try:
            parts, rest = list(map(_getter(rest[0]), parts)), rest[1:]
        except _NOT_THERE:
            return True
    return any(map(_is_none, parts)) or (rest != () and any(_lacks(part, rest) for part in parts if type(part) is list))


_NOT_THERE = (IndexError, KeyError, TypeError, AttributeError)


def _getter(step: Any) -> Any:
    return operator.attrgetter(step.name) if isinstance(step, Attribute) else operator.itemgetter(step.key)


def completed(form: Form, gradient: Any, paths: Iterable[Path]) -> Any:
    """The gradient of a value of this form, with zeros for those of its parts (`dependence.flowing`) that have none.

    >>> from .structure import form
    >>> completed(form([(1.0, 2.0), (3.0, 4.0)]), [None, (1.0, None)], {(ANY, Item(0))})
    [(0.0, None), (1.0, None)]
    """
    paths = list(paths)
    if not paths:
        return gradient
    kind = form[0]
    if kind == "again":
        return completed(form[1], gradient, paths)
    if kind == "number":
        return 0.0 if gradient is None and () in paths else gradient
    if kind == "array":  # (a shape is none of its elements)
        wanted = gradient is None and any(not any(isinstance(step, Attribute) for step in path) for path in paths)
        return np.zeros(form[1].shape, shadow_dtype(form[1].dtype)) if wanted else gradient
    if kind == "numbers":
        wanted = gradient is None and type(form[1]) is list and any(len(path) == 1 for path in paths)
        return [0.0] * form[2] if wanted else gradient
    if kind in ("tuple", "list"):
        return _of_items(form, gradient, paths)
    if kind == "dict" and type(form[1]) is dict:
        return _of_keys(form, gradient, paths)
    if kind == "object":
        return _of_attributes(form, gradient, paths)
    return gradient


def _of_items(form: Form, gradient: Any, paths: list[Path]) -> Any:
    kind, x, forms = form
    names = get_plainly(type(x), "_fields")
    if type(x) not in (list, tuple) and names is None:
        return gradient
    parts = [None] * len(forms) if gradient is None else list(gradient)
    found: list[Form] | None = None
    for k, below in _by_place(paths, len(parts), names).items():
        if lacking(parts[k], below):
            found = list(forms) if found is None else found
            parts[k] = completed(found[k], parts[k], below)
    if found is None or all(p is None for p in parts):
        return gradient
    if kind == "list":
        return [0.0 if p is None and f[0] == "number" else p for p, f in zip(parts, found)]
    return tuple(parts) if names is None else gradient_class(type(x), tuple(names))(*parts)


def _by_place(paths: list[Path], count: int, names: tuple[str, ...] | None) -> dict[int, list[Path]]:
    """What is wanted of each of so many items."""
    everywhere = [path[1:] for path in paths if path and path[0] is ANY]
    below = dict.fromkeys(range(count), everywhere) if everywhere else {}
    for step, *rest in filter(None, paths):
        k = count
        if isinstance(step, Item) and type(step.key) is int:
            k = step.key if step.key >= 0 else step.key + count
        elif isinstance(step, Attribute) and names is not None and step.name in names:
            k = names.index(step.name)
        if 0 <= k < count:
            below[k] = [*below.get(k, ()), tuple(rest)]
    return below


def _of_keys(form: Form, gradient: Any, paths: list[Path]) -> Any:
    """(By keys that are not known no entry is reached for certain.)"""
    parts = dict.fromkeys(form[2]) if gradient is None else gradient
    for path in paths:
        key = path[0].key if path and isinstance(path[0], Item) else None
        if key is not None and key in form[2]:
            parts = {**parts, key: completed(form[2][key], parts[key], [path[1:]])}
    return None if all(p is None for p in parts.values()) else parts


def _of_attributes(form: Form, gradient: Any, paths: list[Path]) -> Any:
    _, x, forms = form
    cls = type(x)
    parts = dict.fromkeys(forms) if gradient is None else dict(zip(forms, gradient))
    for path in paths:
        name = path[0].name if path and isinstance(path[0], Attribute) else ""
        if name in forms and type(find(cls, name)) is not property and cls.__getattribute__ is object.__getattribute__:
            parts[name] = completed(forms[name], parts[name], [path[1:]])
    return None if all(p is None for p in parts.values()) else fields_class(cls, tuple(forms))(*parts.values())


__all__ = ["completed", "lacking"]
