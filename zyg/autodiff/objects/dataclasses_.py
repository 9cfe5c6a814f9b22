"""`dataclasses.replace`: for each class, and each choice of fields, it is a function that is written out and differentiated."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from zyg.autodiff.identity import note

from . import calls

_FIELDS = "__dataclass_fields__"
_copies: dict[tuple[type, tuple[str, ...]], tuple[Any, Callable[..., Any]]] = {}  # with the fields as they were


@calls.known(dataclasses.replace, exact=True)
def _replace(obj: Any, /, **changes: Any) -> tuple[Any, Any]:
    cls, names = type(obj), tuple(changes)
    fields = getattr(cls, _FIELDS, None)
    known = _copies.get((cls, names))
    if known is None or known[0] is not fields:
        made = None if fields is None or obj.__class__ is not cls else _copying(cls, fields, names)
        if made is None:
            return dataclasses.replace(obj, **changes), None  # raises the error
        known = fields, made
        note(_copies, (cls, names), (cls,), known)
    return calls.forward_of(known[1])(obj, *changes.values())


def _copying(cls: type, fields: dict[str, Any], names: tuple[str, ...]) -> Callable[..., Any] | None:
    """What makes an instance from another one and the values of the fields `names`; None where it is an error."""
    taken: list[str] = []
    for name, f in fields.items():
        kind = getattr(f, "_field_type", None)
        if kind is _CLASS_VARIABLE:
            continue
        if not f.init:
            if name in names:
                return None
        elif name not in names:
            if kind is _ARGUMENT and f.default is dataclasses.MISSING:
                return None
            taken.append(name)
    parameters = [f"a{k}" for k in range(len(names))]
    arguments = [f"{name}={a}" for name, a in zip(names, parameters)] + [f"{name}=old.{name}" for name in taken]
    source = f"def replace({', '.join(['old', *parameters])}):\n    return new({', '.join(arguments)})"
    scope: dict[str, Any] = {"__name__": __name__, "new": cls}
    exec(compile(source, "<dataclasses.replace>", "exec"), scope)
    return scope["replace"]


# What fields are that are no attributes of instances: the module's own marks.
_CLASS_VARIABLE = getattr(dataclasses, "_FIELD_CLASSVAR")  # noqa: B009
_ARGUMENT = getattr(dataclasses, "_FIELD_INITVAR")  # noqa: B009
