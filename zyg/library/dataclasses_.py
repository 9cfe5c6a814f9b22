"""Functions of the module `dataclasses`."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

from zyg.frontend import classes, type_names
from zyg.frontend.evaluator import Evaluator
from zyg.frontend.merging import settled
from zyg.frontend.values import Abstract, ChoiceValue, a_thing, known

from .registry import emits

_NO_INSTANCE = "replace() should be called on dataclass instances"


@emits(dataclasses.replace)
def replace(e: Evaluator, obj: Abstract, /, **changes: Abstract) -> Abstract:
    """A new instance with other values, made by its class."""
    obj = settled(e, obj, _NO_INSTANCE)
    if isinstance(obj, ChoiceValue):
        return e.each(obj, lambda option: replace(e, option, **changes))
    cls = type_names.class_of(e, obj)
    if cls is None:
        raise e.refuse(f"dataclasses.replace() of {a_thing(obj, e.heap)}", hint="call the class: Class(x, obj.y)")
    if not dataclasses.is_dataclass(cls):
        e.type_error(_NO_INSTANCE)
    fields: dict[str, Any] = getattr(cls, "__dataclass_fields__")  # noqa: B009
    values = dict(changes)
    error = "TypeError" if sys.version_info >= (3, 13) else "ValueError"
    for name, f in fields.items():
        kind = f._field_type.name
        if kind == "_FIELD_CLASSVAR":
            continue
        if not f.init:
            if name in changes:
                e.throw(error, f"field {name} is declared with init=False, it cannot be specified with replace()")
        elif name not in changes:
            if kind == "_FIELD_INITVAR" and f.default is dataclasses.MISSING:
                e.throw(error, f"InitVar {name!r} must be specified with replace()")
            values[name] = classes.get_attribute(e, obj, name)
    return e.call(known(cls), [], values)
