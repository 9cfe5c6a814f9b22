"""What `match` asks of a value: whether a sequence pattern may go through it, and what a class pattern finds in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zyg.ir.core import Value, const
from zyg.library import matching

from . import classes, kinds
from .comparison import by_tag
from .instances import is_instance
from .later import flat
from .merging import conflict, settled
from .scalars import boolean, scalar_value
from .type_names import class_of
from .values import (
    NONE,
    Abstract,
    AttributedValue,
    CallableValue,
    ChoiceValue,
    ConflictValue,
    Known,
    MaybeValue,
    Number,
    PullbackValue,
    TupleValue,
    a_thing,
    describe,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator

_SEQUENCE = 1 << 5  # Py_TPFLAGS_SEQUENCE

_BEFORE = "test for None, or by isinstance, before the `match` statement"


# ---------------------------------------------------------------------------------------------- sequences


def is_sequence(e: Evaluator, v: Abstract) -> Abstract:
    """Whether a sequence pattern asks for the items of a value. Its class says so by a flag: sequences of C code have it, classes derived
    from `collections.abc.Sequence` or registered with it, and arrays of newer versions of NumPy; text has not."""
    from .iterators import is_iterator

    if isinstance(v, ConflictValue):
        raise conflict(e, v)
    if isinstance(v, MaybeValue) and v.absent is not None:
        return is_sequence(e, settled(e, v, ""))
    if isinstance(v, (MaybeValue, ChoiceValue)):
        options = (v.item,) if isinstance(v, MaybeValue) else v.options
        flags = [is_sequence(e, o) for o in options]
        if not all(isinstance(f, Known) for f in flags):
            raise e.refuse("a sequence pattern for this value", types=[describe(v, e.heap)], hint=_BEFORE)
        if isinstance(v, ChoiceValue):
            return flags[0] if len(set(map(_holds, flags))) == 1 else boolean(by_tag(e, v, lambda o: _flag(e, o)))
        if not _holds(flags[0]):
            return flags[0]
        e.facts[id(v.present)] = (v.present, v.present, True, False)
        return boolean(v.present)
    if is_iterator(e, v) or isinstance(v, (AttributedValue, CallableValue, flat.FlatValue, PullbackValue)):
        return Known(False)
    cls = class_of(e, v)
    if cls is None:
        raise e.refuse(f"a sequence pattern for {a_thing(v, e.heap)}", hint="unpack it: a, b = values")
    return Known(bool(cls.__flags__ & _SEQUENCE))


def _holds(v: Abstract) -> bool:
    return isinstance(v, Known) and v.object


def _flag(e: Evaluator, v: Abstract) -> Value:
    return const(_holds(is_sequence(e, v)))


# ------------------------------------------------------------------------------------------------ classes


def match_class(e: Evaluator, subject: Abstract, cls: Abstract, names: Abstract, positional: int) -> Abstract:
    """A class pattern: a tuple of attributes, or None."""
    if not isinstance(cls, Known) or not isinstance(cls.object, type):
        raise e.refuse("a class pattern whose class is not known when compiling", hint="name the class itself")
    matches = is_instance(e, subject, cls)
    if isinstance(matches, Known) and not matches.object:
        return NONE
    wanted = [n.object for n in kinds.known_items(e, names) or () if isinstance(n, Known)]

    def attributes(v: Abstract) -> Abstract:
        assert isinstance(cls, Known)
        itself, names = _by_place(e, cls.object, positional, wanted)
        return _found(e, v, names, (v,) if itself else ())

    if isinstance(matches, Known):
        return attributes(subject)
    assert isinstance(matches, Number) and isinstance(subject, MaybeValue)
    item = subject.item
    return e.if_else(matches.value, lambda: attributes(item), lambda: NONE)


def _by_place(e: Evaluator, cls: Any, count: int, named: list[str]) -> tuple[bool, list[str]]:
    """Whether the first sub-pattern is for the subject itself, and which attributes the others are for."""
    try:
        itself, by_place = False, ()
        if count:
            found = classes.look_up(e, cls, "__match_args__")
            itself, by_place = matching.places(cls, matching.ABSENT if found is None else cls.__match_args__, count)
        names = [*by_place, *named]
        for n, name in enumerate(names):
            matching.check_place(name)
            matching.check_name(cls, name, names[:n])
    except TypeError as error:
        e.type_error(str(error))
        raise
    return itself, names


def _found(e: Evaluator, v: Abstract, names: list[str], before: tuple[Abstract, ...]) -> Abstract:
    """The attributes of these names behind others that are there; None if one of them is not."""
    for n, name in enumerate(names):
        if classes.gives_by_code(e, v, name):
            with e.without_attribute_errors(f"the attribute '{name}' of a class pattern"):
                before = (*before, classes.get_attribute(e, v, name))
            continue
        has = classes.has_attribute(e, v, name)
        if not isinstance(has, Known):

            def others(name: str = name, n: int = n, before: tuple[Abstract, ...] = before) -> Abstract:
                return _found(e, v, names[n + 1 :], (*before, classes.get_attribute(e, v, name)))

            return e.if_else(scalar_value(e, has), others, lambda: NONE)
        if not has.object:
            return NONE
        before = (*before, classes.get_attribute(e, v, name))
    return TupleValue(before)
