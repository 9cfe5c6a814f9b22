"""What an object is an instance of: isinstance."""

from __future__ import annotations

import types as python_types
from collections.abc import Sequence
from typing import TYPE_CHECKING

from zyg.asking import asks_nobody, tells_its_class
from zyg.ir.plainly import is_in_class

from . import kinds
from .merging import conflict
from .scalars import boolean, negate
from .type_names import certain, class_of
from .values import (
    Abstract,
    ChoiceValue,
    ComplexValue,
    ConflictValue,
    Known,
    MaybeValue,
    Number,
    a_thing,
    describe,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator


def _classes(e: Evaluator, classinfo: Abstract) -> list[type]:
    """The classes of isinstance's second argument: a class, a union, a tuple of such."""
    items = kinds.known_items(e, classinfo)
    if items is not None:
        return [cls for item in items for cls in _classes(e, item)]
    given = classinfo.object if isinstance(classinfo, Known) else None
    if isinstance(given, python_types.UnionType):
        return [cls for part in given.__args__ for cls in _classes(e, Known(part))]
    if isinstance(given, type):
        return [given]
    if is_in_class(type(given), "__instancecheck__"):
        raise e.refuse(
            f"isinstance() with {given!r}", hint="name the class itself: collections.abc.Sequence, not typing.Sequence"
        )
    e.type_error("isinstance() arg 2 must be a type, a tuple of types, or a union")
    raise AssertionError


def is_instance(e: Evaluator, v: Abstract, classinfo: Abstract) -> Abstract:
    """isinstance(v, classinfo)"""
    wanted = _classes(e, classinfo)
    if isinstance(v, ConflictValue):
        raise conflict(e, v)
    if isinstance(v, MaybeValue) and v.absent is None:
        item = is_instance(e, v.item, classinfo)
        none = any(issubclass(type(None), c) for c in wanted)
        if isinstance(item, Known) and item.object == none:
            return item
        if isinstance(item, Known):
            flag = v.present if item.object else negate(e, v.present)
            e.facts[id(flag)] = (flag, v.present, bool(item.object), not item.object)
            return boolean(flag)
        raise e.refuse("isinstance of this optional value", types=[describe(v, e.heap)], hint="test for None first")
    if isinstance(v, ChoiceValue):
        flags = [is_instance(e, o, classinfo) for o in v.options]
        if all(isinstance(f, Known) and f.object == flags[0].object for f in flags if isinstance(flags[0], Known)):
            return flags[0]
        raise e.refuse("isinstance of a choice between functions", types=[describe(v, e.heap)], hint=_FLAG)
    v = certain(e, v, "a test of the type", lambda cls: issubclass(cls, tuple(wanted)))
    cls = class_of(e, v)
    if cls is None:
        raise e.refuse(f"isinstance of {a_thing(v, e.heap)}", hint=_FLAG)
    if isinstance(v, (Number, ComplexValue)) and v.classes:
        cls = next(iter(v.classes))
    if not tells_its_class(cls):
        raise e.refuse(f"isinstance of a {cls.__name__}, which has a `__class__` of its own", hint=_FLAG)
    return is_subclass(e, cls, wanted)


_FLAG = "give the objects an attribute that says what they are, and compare that"


def is_subclass(e: Evaluator, cls: type, wanted: Sequence[type]) -> Known:
    """Asked when compiling, once: so nothing of the user's may run then."""
    for other in wanted:
        if not asks_nobody(other, cls):
            raise e.refuse(
                f"a test for a {other.__name__}, which asks code of its class (`__instancecheck__`, `__subclasshook__`)",
                hint="test for a plain class, or " + _FLAG,
            )
    return Known(issubclass(cls, tuple(wanted)))
