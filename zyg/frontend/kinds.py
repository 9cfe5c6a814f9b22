"""What kind of thing an abstract value is, asked without the modules that know more of it (later.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .later import dicts, growing
from .values import Abstract, DictView, Reference, StructValue, TupleValue

if TYPE_CHECKING:
    from .evaluator import Evaluator


def kind_of(e: Evaluator, v: Abstract) -> str:
    """The kind of record that a reference is to; "" for values."""
    return e.heap[v.id].kind if isinstance(v, Reference) else ""


def is_list(e: Evaluator, v: Abstract) -> bool:
    return kind_of(e, v) in ("list", "growing")


def is_dict(e: Evaluator, v: Abstract) -> bool:
    return kind_of(e, v) == "dict"


def known_items(e: Evaluator, v: Abstract) -> tuple[Abstract, ...] | None:
    """The items of a tuple, named tuple, list of known length or view of a dict; None for anything else."""
    if isinstance(v, TupleValue):
        return v.items
    if isinstance(v, StructValue) and issubclass(v.cls, tuple):
        return v.items
    if isinstance(v, Reference):
        record = e.heap[v.id]
        if record.kind == "list":
            growing.refuse_mixed(e, record)
            return record.fields
    return dicts.VIEWS[v.name](e, v.of).items if isinstance(v, DictView) else None
