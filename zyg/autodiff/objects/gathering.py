"""The gradient of a value, of the form that it had (structure.py), from what flows and what shadows hold: `gather`."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from zyg.autodiff import objects
from zyg.errors import Unsupported
from zyg.gradient_classes import closure_gradient_class, gradient_class
from zyg.ir.plainly import get_plainly, own_attributes

from .cotangents import Refused
from .shadows import shadow_dtype
from .structure import COMPLEX, NOTHING, NUMBER, Flat, FlatForms, FlatTuples, Form, fields_class


def gather(form: Form, d: Any, shadows: Any, take: bool = False) -> Any:
    """The gradient of a value: `d` is what flows. With `take`, shadows start again from zero."""
    return _GATHER[form[0]](form, d, shadows, take)


_WITHOUT_ATTRIBUTES = frozenset({list, tuple, dict, deque})


def _check_attributes(x: Any, shadows: Any) -> None:
    """The gradient by a container has no place for attributes that its class adds."""
    if type(x) in _WITHOUT_ATTRIBUTES:
        return
    for name, c in (shadows.attributes_of(x) or {}).items():
        if c is not None and isinstance(name, str) and name in (own_attributes(x) or ()):
            raise Unsupported(
                f"a derivative by the attribute `{name}` of a {type(x).__qualname__}, a container whose gradient is by its items",
                hint="pass what the attribute holds by itself, or hold the container in an attribute of a plain class",
            )


def _number(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    if type(d) is Refused:
        raise d.error
    return d


def _nothing(form: Form, d: Any, shadows: Any, take: bool) -> None:
    return None


def _set(form: Form, d: Any, shadows: Any, take: bool) -> None:
    """The items of a set have no places that a gradient could be given in."""
    if take:
        shadows.take_dict(form[1])


def _again(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    """An object that stands in the value before: users see what it has in each place; what is taken is taken once."""
    return None if take else gather(form[1], None, shadows)


def _array(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    x = form[1]
    if not shadows.has_array(x):
        return None
    refused = shadows.refusal_of(x)
    if refused is not None:
        raise refused.error
    return shadows.take_array(x) if take else shadows.of_array(x).copy(order="K")


def _tuple(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, x, forms = form
    if type(forms) is FlatForms:
        return forms.gather(d)
    if not take and type(x) is not tuple:
        _check_attributes(x, shadows)
    parts = None if take else _together(forms, shadows)
    if parts is None:
        parts = [gather(f, None if d is None else d[k], shadows, take) for k, f in enumerate(forms)]
    if all(p is None for p in parts):
        return None
    names = get_plainly(type(x), "_fields")
    return tuple(parts) if names is None else gradient_class(type(x), tuple(names))(*parts)


def _together(forms: Any, shadows: Any) -> list[Any] | None:
    """The gradients of values of these forms, if they can be had together."""
    return objects.together.gather(forms, shadows) if isinstance(forms, objects.together.Alike) else None


def _numbers(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, x, length = form
    if not take and type(x) is not list:
        _check_attributes(x, shadows)
    items = shadows.items.get(id(x))
    if not items or items.count(None) == len(items):
        return None
    result = [0.0 if v is None else v for v in items]
    if Refused in map(type, result):
        raise next(v for v in result if type(v) is Refused).error
    result.extend([0.0] * (length - len(result)))
    if take:
        shadows.take_list(x)
    return result


def _list(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, x, forms = form
    if not take and type(x) is not list:
        _check_attributes(x, shadows)
    parts = None if take or type(forms) is list else _together(forms, shadows)
    if parts is not None:
        return None if not parts or parts[0] is None and _all_none(parts) else parts
    shadow = shadows.items.get(id(x))
    if not shadow and type(forms) is list:
        return _list_without_shadow(forms, shadows, take)
    items: list[Any] = list(shadow or ())
    if take:
        shadows.take_list(x)
    items.extend([None] * (len(forms) - len(items)))
    if type(forms) is FlatTuples and forms.are_gradients(items):
        return items if items.count(None) < len(items) else None
    if type(forms) is list and _carry_nothing(forms):
        return None
    parts = [
        None if f is NOTHING or (v is None and f is NUMBER) else _GATHER[f[0]](f, v, shadows, take)
        for f, v in zip(forms, items)
    ]
    if _all_none(parts):
        return None
    return [0.0 if p is None and f[0] == "number" else p for p, f in zip(parts, forms)]


def _carry_nothing(forms: list[Form]) -> bool:
    return bool(forms) and forms[0] is NOTHING and forms.count(NOTHING) == len(forms)


def _list_without_shadow(forms: list[Form], shadows: Any, take: bool) -> list[Any] | None:
    """The gradient of a list whose items have cotangents in shadows of their own, if any."""
    if _carry_nothing(forms):
        return None
    parts: list[Any] = []
    has_some = False
    for f in forms:
        if f is NUMBER or f is COMPLEX:
            parts.append(0.0)
        elif f is NOTHING:
            parts.append(None)
        else:
            c = _GATHER[f[0]](f, None, shadows, take)
            if c is not None:
                has_some = True
            parts.append(c)
    return parts if has_some else None


def _dict(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, x, forms = form
    if not take and type(x) is not dict:
        _check_attributes(x, shadows)
    if type(forms) is not dict and not take and type(forms) is objects.together.Keyed:
        together = _together(forms.alike, shadows)
        if together is not None:
            return None if together[0] is None and _all_none(together) else dict(zip(forms, together))
    items = shadows.items.get(id(x)) or _NO_ITEMS
    if take:
        items = shadows.take_dict(x) or _NO_ITEMS
    if type(forms) is Flat:
        if not items:
            return None
        parts = {k: items.get(k) if f is NUMBER else None for k, f in forms.items()}
        kinds = set(map(type, parts.values()))
        if Refused in kinds:
            raise next(c for c in parts.values() if type(c) is Refused).error
        return None if kinds <= _NONE else parts
    parts = {}
    has_some = False
    for k, f in forms.items():
        if f is NOTHING:
            parts[k] = None
            continue
        c = items.get(k) if f is NUMBER else _GATHER[f[0]](f, items.get(k), shadows, take)
        if c is not None:
            if type(c) is Refused:
                raise c.error
            has_some = True
        parts[k] = c
    return parts if has_some else None


_NONE = frozenset({type(None)})


def _all_none(parts: Iterable[Any]) -> bool:
    return _NONE.issuperset(map(type, parts))


_NO_ITEMS: dict[Any, Any] = {}


def _object(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, x, forms = form
    held = shadows.attributes_of(x) or {}
    parts: list[Any] = []
    has_some = False
    for name, f in forms.items():
        c = held.pop(name, None) if take else held.get(name)
        if f is NOTHING:
            parts.append(None)
            continue
        if f is not NUMBER:
            c = _GATHER[f[0]](f, c, shadows, take)
        if c is not None:
            if type(c) is Refused:
                raise c.error
            has_some = True
        parts.append(c)
    return fields_class(type(x), tuple(forms))(*parts) if has_some else None


def _function(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, f, cells = form
    parts = []
    for cell, inner in cells:
        held = shadows.attributes_of(cell) or {}
        flowing = held.pop("cell_contents", None) if take else held.get("cell_contents")
        parts.append(gather(inner, flowing, shadows, take))
    if all(p is None for p in parts):
        return None
    return closure_gradient_class(f.__name__, f.__code__.co_freevars)(*parts)


def _method(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    return gather(form[2], d, shadows, take)


def _partial(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, f, args, keywords = form
    held = shadows.attributes_of(f) or {}
    flowing = held.pop("args", None) if take else held.get("args")
    parts = gather(args, flowing, shadows, take), gather(keywords, None, shadows, take)
    return None if parts == (None, None) else gradient_class(functools.partial, ("args", "keywords"))(*parts)


_GATHER = {
    "number": _number, "nothing": _nothing, "again": _again, "array": _array, "tuple": _tuple, "numbers": _numbers, "list": _list,
    "set": _set, "dict": _dict, "object": _object, "function": _function, "method": _method, "partial": _partial,
}  # fmt: skip


def dense(form: Form, c: Any) -> Any:
    """A cotangent with zeros where there is nothing, as rules of users get it."""
    kind = form[0]
    if kind == "number":
        return 0.0 if c is None else c
    if kind == "array":
        return np.zeros(form[1].shape, shadow_dtype(form[1].dtype)) if c is None else c
    if kind == "numbers":
        return [0.0] * form[2] if c is None else c
    if kind in ("tuple", "list"):
        parts = [dense(f, None if c is None else c[k]) for k, f in enumerate(form[2])]
        names = get_plainly(type(form[1]), "_fields")
        if names is not None:
            return gradient_class(type(form[1]), tuple(names))(*parts)
        return tuple(parts) if kind == "tuple" else parts
    if kind == "dict":
        return {k: dense(f, None if c is None else c[k]) for k, f in form[2].items()}
    if kind == "object":
        parts = [dense(f, None if c is None else c[k]) for k, f in enumerate(form[2].values())]
        return fields_class(type(form[1]), tuple(form[2]))(*parts)
    return c
