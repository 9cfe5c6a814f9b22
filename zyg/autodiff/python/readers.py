"""Attributes that are not read and set plainly: by class of the object a function that reads (or sets) one and gives its pullback too
(HELD, where it is one of the instance's own).

What Python's protocol comes to is found out once per class: the property, the descriptor, `__getattr__`, what a class itself holds.
`accesses` keeps these functions as long as the classes are as they were; where there is none, the general functions do the work.
"""

from __future__ import annotations

import enum
import functools
import operator
from collections import deque
from collections.abc import Callable
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    NoneType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from zyg.backend.pullbacks import HELD, in_field
from zyg.ir.plainly import get_plainly

from ..objects import attributes, calls, classes, dates, functools_, native
from ..objects.arithmetic import find, is_python
from ..objects.cotangents import DATES, accumulate, is_number, is_place
from ..objects.math_ import place_got
from ..objects.passing import passes
from .bound import call_known_method, forward_of_method
from .knowledge import (
    changes,
    has_plain_shadow,
    is_constant_number,
    is_of_values,
    is_plain,
    note_class,
    note_code,
)

# Classes whose attributes C code gives, each with a handler of its own.
_OF_C = frozenset({complex, np.ndarray, deque})

Reader = Callable[[Any], tuple[Any, Any]]
Asker = Callable[[Any, str], tuple[Any, Any]]


def reader(cls: type, name: str) -> Reader | None:
    """What reads the attribute of instances of a class, and gives value and pullback; None if that is not known."""
    if cls in _OF_C or cls in classes.EXCEPTIONS:
        return attributes.attribute_handler(cls, name)
    found = find(cls, name)
    if cls in DATES and type(found) in attributes.OF_C:
        return dates.reader(cls, name)
    if not attributes.plain_lookup(cls) or issubclass(cls, type):
        return None
    fields = get_plainly(cls, "_fields", ())
    if name == "__class__" and found is _CLASS:
        return _class_of
    if type(found).__name__ == "_tuplegetter" and name in fields:
        return _field(type(found).__get__, found, cls, (in_field, fields.index(name), len(fields)))
    if type(found) is FunctionType and issubclass(cls, tuple) and not cls.__dictoffset__:
        return functools.partial(_method_of_tuple, found)
    place = _place_of(found) if find(cls, "__getitem__") is tuple.__getitem__ else None
    if place is not None:
        return _item_of_tuple(found.fget, place, in_field if is_place(cls, name, place) else _run_item_of_tuple)
    if type(found) is property and (is_of_values(cls) or has_plain_shadow(cls)):
        return _of_property(found) if find(cls, "__getattr__") is None else None
    if not has_plain_shadow(cls):
        return None
    if name == "__dict__":
        return attributes.instance_dict if type(found) in (GetSetDescriptorType, NoneType) else None
    other = find(cls, "__getattr__")
    if found is None or attributes.is_slot(cls, found):
        forward = _forward_of(other, 2)
        if forward is None:
            return None
        if found is not None:
            return _read_or_asked(name, forward)
        if not cls.__dictoffset__:
            return _asked(name, forward)
        if type(find(cls, "__dict__")) is GetSetDescriptorType:
            return _held_or_asked(name, forward)
        return _read_or_asked(name, forward)
    if other is not None:
        return None
    if type(found) is functools.cached_property:
        forward = _forward_of(found.func, 1)
        return None if forward is None else _kept(name, functools.partial(_keep, name, forward))
    if type(found) is functools.partialmethod:
        read = _by_partial_method(found, cls)
        return _kept(name, read) if cls.__dictoffset__ else read
    if found is _OF_MEMBERS.get(name):
        return functools.partial(_of_member, f"_{name}_")
    forward = _forward_of(find(type(found), "__get__"), 3)
    if forward is None:
        return None
    made = _by_descriptor(forward, found, cls)
    note_class(type(found))
    return made if _is_of_data(type(found)) or not cls.__dictoffset__ else _kept(name, made)


def _is_of_data(descriptor: type) -> bool:
    """Whether what has the name of a descriptor in an instance's `__dict__` is not asked."""
    return find(descriptor, "__set__") is not None or find(descriptor, "__delete__") is not None


def _of_property(found: property) -> Any:
    """The forward half of a property's function, or of a getter of the module `operator`, which never changes."""
    if type(found.fget) in calls.GETTERS:
        return functools.partial(call_known_method, calls.forward_of(found.fget))
    return _forward_of(found.fget, 1)


def is_undecided(cls: type, name: str) -> bool:
    """Whether it is still being tried to run a function natively that an attribute is read or set by."""
    found = find(cls, name)
    kind = type(found)
    functions = (found.fget, found.fset) if kind is property else (find(kind, "__get__"), find(kind, "__set__"))
    return any(map(calls.is_tried, (*functions, find(cls, "__setattr__"), find(cls, "__getattr__"))))


_CLASS = object.__dict__["__class__"]


def _class_of(x: Any) -> tuple[Any, Any]:
    return type(x), None


# What members of enumerations have by a property of the library, and keep under `_value_` and `_name_`.
_OF_MEMBERS = {name: vars(enum.Enum)[name] for name in ("value", "name")}


def _of_member(name: str, x: Any) -> tuple[Any, Any]:
    return getattr(x, name), (attributes.run_attr, x, name)


def _forward_of(f: Any, arity: int) -> Any:
    """The forward half of a plain function for `arity` arguments, which is noted, or of a method of a builtin class; None for
    others."""
    if type(f) in (WrapperDescriptorType, MethodDescriptorType):
        return calls.method_handler(f.__objclass__, f.__name__)
    if not is_plain(f):
        return None
    note_code(f)
    return forward_of_method(f, arity)


# What follows makes readers: functions of the object, which CPython calls faster than partial objects.


def _field(get: Any, found: Any, cls: type, back: tuple[Any, ...]) -> Reader:
    """A field of a named tuple."""

    def read(x: Any) -> tuple[Any, Any]:
        return get(found, x, cls), back

    return read


def _place_of(found: Any) -> int | None:
    """The place whose item a property gets by an `itemgetter`."""
    getter = found.fget if type(found) is property else None
    return place_got(calls.forward_of(getter)) if type(getter) is operator.itemgetter else None


def _item_of_tuple(get: Any, place: int, run: Any) -> Reader:
    """What a property gets by an `itemgetter`."""
    backs: dict[int, tuple[Any, ...]] = {}  # by length
    length = tuple.__len__

    def read(x: Any) -> tuple[Any, Any]:
        y, count = get(x), length(x)
        back = backs.get(count)
        if back is None:
            back = run, place if place >= 0 else place + count, count
            if len(backs) < _LENGTHS:
                backs[count] = back
        return y, back

    return read


_LENGTHS = 16


def _run_item_of_tuple(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """As of a field of a named tuple (`in_field`), but that the name does not tell the place."""
    if d is None:
        return None
    parts = [None] * back[2]
    parts[back[1]] = d
    return (tuple(parts),)


def _method_of_tuple(function: FunctionType, x: Any) -> tuple[Any, Any]:
    """A method bound to what has a cotangent that flows."""
    y = MethodType(function, x)
    return y, (attributes.run_bound_method, y)


def _asked(name: str, forward: Any) -> Reader:
    """`__getattr__` is asked for what no instance has."""

    def read(x: Any) -> tuple[Any, Any]:
        try:
            return forward(x, name)
        except AttributeError as error:
            attributes.tell(error, x, name)
            raise

    return read


def asker(cls: type) -> Asker | None:
    """What reads attributes that a class has not, of any name: what an instance holds, or what a `__getattr__` gives that is a plain
    function. None if it is not so."""
    if not attributes.plain_lookup(cls) or not has_plain_shadow(cls) or issubclass(cls, BaseException):
        return None
    if cls.__dictoffset__ and type(find(cls, "__dict__")) is not GetSetDescriptorType:
        return None
    forward = _forward_of(find(cls, "__getattr__"), 2)
    if forward is None:
        return None
    return attributes.held_or_asked(forward) if cls.__dictoffset__ else attributes.asked(forward)


def _held_or_asked(name: str, forward: Any) -> Reader:
    """`__getattr__` is asked for what the instance does not hold. (An AttributeError on the way costs more than all else.)"""

    ask = _asked(name, forward)

    def read(x: Any) -> tuple[Any, Any]:
        held = x.__dict__
        if name in held:
            y = held[name]
            return y, HELD
        return ask(x)

    return read


def _read_or_asked(name: str, forward: Any) -> Reader:
    """`__getattr__` is asked for what an instance has not."""

    ask = _asked(name, forward)

    def read(x: Any) -> tuple[Any, Any]:
        try:
            return object.__getattribute__(x, name), (attributes.run_attr, x, name)
        except AttributeError:
            pass
        return ask(x)

    return read


def _kept(name: str, otherwise: Reader) -> Reader:
    """An attribute of the instance comes before what its class says."""

    def read(x: Any) -> tuple[Any, Any]:
        held = x.__dict__
        if name in held:
            y = held[name]
            return y, HELD
        return otherwise(x)

    return read


def _keep(name: str, forward: Any, x: Any) -> tuple[Any, Any]:
    """The first time the function of a cached property is called, and what it gives becomes an attribute."""
    y, back = forward(x)
    x.__dict__[name] = y
    return y, (_run_keep, back, x, name)


def _run_keep(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, x, name = back
    return calls.run(inner, accumulate(d, shadows.take_attr(x, name)), shadows)


def _by_descriptor(forward: Any, found: Any, cls: type) -> Reader:
    def read(x: Any) -> tuple[Any, Any]:
        y, back = forward(found, x, cls)
        return y, None if back is None else (_run_by_descriptor, back)

    return read


def _run_by_descriptor(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    inner = back[1]
    given = inner[0](inner, d, shadows)
    return None if given is None else (given[1],)


def _by_partial_method(found: functools.partialmethod[Any], cls: type) -> Reader:
    @passes()
    def read(x: Any) -> tuple[Any, Any]:
        return functools_.read_partial_method(found, x, cls)

    return read


def reader_of_class(cls: type, name: str) -> Reader | None:
    """What reads the attribute of a class itself; None if that may run code."""
    of_metaclass, held = find(type(cls), name), find(cls, name)
    of_c = (GetSetDescriptorType, MemberDescriptorType)
    if name == "__dict__" or (of_metaclass is not None and type(of_metaclass) not in of_c):
        return None
    if (held is None and of_metaclass is None) or is_python(find(type(held), "__get__")):
        return None
    kind = type(y := getattr(cls, name))
    owner = next((c for c in cls.__mro__ if name in c.__dict__), cls)
    flows = is_number(y) or kind is tuple
    if (kind is float or kind is int) and owner.__dict__.get(name) is y and is_constant_number(owner, name):
        flows = False
    back = (attributes.run_attr, owner, name) if flows else None
    return functools.partial(_held_by_class, name, kind, back)


def _held_by_class(name: str, kind: type, back: Any, cls: type) -> tuple[Any, Any]:
    y = getattr(cls, name)
    return (y, back) if type(y) is kind else attributes.record_getattr(cls, name)


def setter(cls: type, name: str) -> Any:
    """The forward half of what sets the attribute of instances of a class, called with the object and the value; None for what is
    set in another way."""
    if cls is type and find(type, name) is None:
        return functools.partial(_set_number_of_class, name)
    if issubclass(cls, type) or not has_plain_shadow(cls):
        return None
    method = find(cls, "__setattr__")
    if method is not object.__setattr__:
        forward = _forward_of(method, 3)
        return None if forward is None else functools.partial(_by_setattr, forward, name)
    found = find(cls, name)
    if type(found) is property:
        return _forward_of(found.fset, 2)
    forward = _forward_of(find(type(found), "__set__"), 3)
    if forward is None:
        return None
    note_class(type(found))
    return functools.partial(_by_setting_descriptor, forward, found)


@passes()
def _set_number_of_class(name: str, cls: type, value: Any) -> tuple[Any, Any]:
    """A class counts, or keeps a rate: a number takes the place of a number."""
    if type(value) not in _REAL or type(cls.__dict__.get(name)) not in _REAL:
        return None, attributes.record_setattr(cls, value, name)
    native.assigned(name)
    changes(cls, name, value)
    setattr(cls, name, value)
    return None, (attributes.run_set_attr, cls, name)


_REAL = frozenset({float, int})


@passes(lambda variables: [(_run_by_setattr,)])
def _by_setattr(forward: Any, name: str, x: Any, value: Any) -> tuple[Any, Any]:
    y, back = forward(x, name, value)
    return y, None if back is None else (_run_by_setattr, back)


def _run_by_setattr(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (given[0], given[2])


@passes(lambda variables: [(_run_by_setting_descriptor,)])
def _by_setting_descriptor(forward: Any, found: Any, x: Any, value: Any) -> tuple[Any, Any]:
    y, back = forward(found, x, value)
    return y, None if back is None else (_run_by_setting_descriptor, back)


def _run_by_setting_descriptor(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    inner = back[1]
    given = inner[0](inner, None, shadows)
    return None if given is None else given[1:]


__all__ = ["asker", "reader", "reader_of_class", "setter"]
