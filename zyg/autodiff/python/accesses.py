"""Attributes that emitted code reads and sets by itself, and under which test.

An attribute is read plainly where the type of the object is in the set of types for which reading that name runs no code and
gives no bound method with a cotangent. The general functions add to these sets what they find out.
"""

from __future__ import annotations

import functools
from abc import ABCMeta
from collections.abc import Callable
from types import (
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple, cast

import numpy as np

from zyg.backend.pullbacks import HELD, PLAIN, in_field
from zyg.ir.core import Const, Instr
from zyg.ir.plainly import has_plainly, is_in_class

from .. import objects
from ..identity import note
from ..objects import anew, attributes, calls
from ..objects.arithmetic import find
from ..objects.classes import read_by_name, set_by_name
from ..objects.cotangents import FIELD, INERT, NUMERIC, VALUES
from ..objects.passing import passes
from ..trying import bodies
from .escaping import attempt
from .knowledge import (
    HEAP_TYPE,
    forgets,
    has_plain_shadow,
    is_constant_number,
    is_of_python,
    note_class,
    was_there_before,
)
from .readers import Asker, Reader, asker, is_undecided, reader, reader_of_class, setter
from .sites import CONTAINERS, Methods, nobody

# Operations whose reverse is written out where they were done plainly.
ACCESS = frozenset({"getattr", "setattr", "getitem", "setitem", "list_append", "get_cell", "set_cell"})


def is_rare(instr: Any) -> bool:
    """Whether a `record` is mostly done plainly and then records nothing at all."""
    direct = instr.attrs.get("direct")
    if direct is None or direct == "list_append":
        return False
    if "computed" in instr.attrs or "complex" in instr.attrs:
        return False
    if direct == "getitem":  # from the end of a list it notes the position
        key = instr.operands[2]
        return not (isinstance(key, Const) and type(key.value) is int and key.value < 0)
    return True


def is_part(made: Instr, instr: Instr) -> bool:
    """Whether a recorded instruction reads an item of what may be a tuple, or a field of what may be a named tuple."""
    if instr.op == "getattr":
        return "computed" in made.attrs
    if instr.op != "getitem" or "rare" not in made.attrs:
        return False
    at = instr.operands[1]
    return isinstance(at, Const) and type(at.value) is int and at.value >= 0


def part_of(instr: Instr) -> int | str:
    """Which one."""
    if instr.op == "getattr":
        return instr.attrs["name"]
    at = instr.operands[1]
    assert isinstance(at, Const)
    return at.value


class Readers(dict):
    """Per class what reads, or sets, an attribute that is not read plainly. (It is equal to itself alone: a constant of code.)"""

    __slots__ = ()
    __module__ = __name__

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


class Types:
    """What may be done with the attribute `name` of instances, by their types."""

    def __init__(self, what: str, name: str):
        self.__qualname__ = f"{what}_{name}"
        # Those whose attribute may be read (or set) plainly: exactly a set, in which code looks a type up at once. (What stands
        # for no type makes it a constant of its own.)
        self.plain: set[Any] = {nobody}
        self.properties = Readers()
        self.fields = Readers()  # where it is a field of named tuples: the pullbacks
        self.of_classes: dict[type, Any] = {}  # of an attribute of a class itself
        # The classes whose own attribute is a number that carries no derivative: exactly a set, as above.
        self.constants: set[Any] = {nobody}


# By class: what reads attributes whose names are only known when they are read; None where that is not known. (For plain code, and
# in `try` bodies.)
_askers: tuple[dict[type, Asker | None], dict[type, Asker | None]] = {}, {}

readable: dict[tuple[str, bool], Types] = {}
writable: dict[tuple[str, bool], Types] = {}


def readers(name: str, watched: bool) -> Types:
    """The types whose attribute `name` may be read plainly, as far as is known; `watched`: in `try` bodies."""
    if (name, watched) not in readable:
        readable[name, watched] = Types("readable", name)
    return readable[name, watched]


def writers(name: str, watched: bool) -> Types:
    """The types whose attribute `name` may be set plainly, as far as is known; `watched`: in `try` bodies."""
    if (name, watched) not in writable:
        writable[name, watched] = Types("writable", name)
    return writable[name, watched]


@forgets
def _forget() -> None:
    for types in (*readable.values(), *writable.values()):
        types.plain.intersection_update((ModuleType, nobody))
        types.properties.clear()
        types.fields.clear()
        types.of_classes.clear()
        types.constants.intersection_update((nobody,))
    _ways.clear()
    for plain in (*read_by_name.values(), *set_by_name.values()):
        plain.clear()
    for known in _askers:
        known.clear()


def record_getattr(x: Any, name: str, types: Types) -> tuple[Any, Any]:
    """RECORD["getattr"], which notes types that may be read plainly."""
    cls = type(x)
    read = types.properties.get(cls)
    if read is not None:
        y, back = read(x)  # (as `_read`, without a call)
        return y, (attributes.run_attr, x, name) if back is HELD else back
    if cls is ModuleType:
        if name in vars(x):  # else it may have a `__getattr__`
            types.plain.add(ModuleType)
    elif _reads_plainly(cls, name):
        note_class(cls)
        note(types.plain, cls, (cls,))
    else:
        read = functools.partial(_of_class, types, name) if _is_metaclass(cls) else reader(cls, name)
        found = find(cls, name)
        if (
            read is None and type(found) not in (float, int) and not is_undecided(cls, name)
        ):  # which may come to be known
            read = functools.partial(_in_general, name)
        if read is not None:
            note_class(cls)
            note(types.properties, cls, (cls,), read)
            y, back = made = _read(read, x, name)
            if type(back) is tuple and back[0] is in_field and type(found) is FIELD:
                note(types.fields, cls, (cls,), back)
            return made
    return objects.RECORD["getattr"](x, name)


def _read(read: Reader, x: Any, name: str) -> tuple[Any, Any]:
    y, back = read(x)
    return y, (attributes.run_attr, x, name) if back is HELD else back


def _in_general(name: str, x: Any) -> tuple[Any, Any]:
    """What nothing else is known of."""
    return objects.RECORD["getattr"](x, name)


def reads_plainly(x: Any, name: Any) -> bool:
    """Whether `getattr(x, name)` runs no code, and what it gives has its cotangent in the shadow of `x`."""
    if _askers[1 if bodies else 0].get(type(x)) is not None and type(name) is str and find(type(x), name) is None:
        return False
    return _is_noted(read_by_name, x, name, _reads_plainly)


def asked_by(cls: type, name: Any, caught: bool = False) -> Asker | None:
    """What reads an attribute, of any name, of instances that neither hold it nor have it from their class, most likely: `__getattr__` is
    asked then. None where the class has it, or where that is not known. `caught`: the caller handles exceptions."""
    known = _askers[1 if caught or bodies else 0]
    ask = known.get(cls)
    if ask is None:
        if cls in known or (method := find(cls, "__getattr__")) is None:
            return None
        ask = cast(Asker | None, attempt(asker, cls) if caught else asker(cls))
        if ask is None and calls.is_tried(method):  # which may come to be known
            return None
        note_class(cls)
        note(known, cls, (cls,), ask)
        if ask is None:
            return None
    return ask if type(name) is str and find(cls, name) is None else None


def writes_plainly(x: Any, name: Any) -> bool:
    """Whether `setattr(x, name, value)` runs no code, and sets what has its cotangent in the shadow of `x`."""
    return _is_noted(set_by_name, x, name, _writes_plainly)


def _is_noted(known: dict[str, set[Any]], x: Any, name: Any, holds: Callable[[type, str], bool]) -> bool:
    cls = type(x)
    if type(name) is not str or cls is ModuleType:
        return False
    plain = known.setdefault(name, set())
    if cls in plain:
        return True
    if not holds(cls, name):
        return False
    note_class(cls)
    note(plain, cls, (cls,))
    return True


def _of_class(types: Types, name: str, x: Any) -> tuple[Any, Any]:
    """What a class itself holds under a name, by what is known of this class."""
    reader = types.of_classes.get(x)
    if reader is None:
        reader = reader_of_class(x, name)
        if reader is None:
            return objects.RECORD["getattr"](x, name)
        note_class(x)
        owner = next((c for c in x.__mro__ if name in c.__dict__), x)
        if type(owner.__dict__.get(name)) in (float, int):
            if is_constant_number(owner, name):
                note(types.constants, x, (x,))
            elif not was_there_before(owner):  # which the next pullback knows
                return reader(x)
        note(types.of_classes, x, (x,), reader)
    return reader(x)


def record_method(x: Any, name: str, table: Methods) -> tuple[Any, Any]:
    """RECORD["getattr"] of what is only called, which notes types whose methods are read plainly."""
    cls = type(x)
    types = readers(name, bool(bodies))
    read = types.properties.get(cls)
    if read is not None:
        return _read(read, x, name)
    if cls is super:
        y = getattr(x, name)
        if type(y) is MethodType and type(y.__func__) is FunctionType and VALUES.isdisjoint(type(y.__self__).__mro__):
            return y, None  # of an object that has a shadow
    if cls is type or cls is ABCMeta:
        known = table.of_builtin.get(x)
        if known is not None:
            return known, None
        if x in table.of_classes:
            return getattr(x, name), None
        found = type(find(x, name))
        if found in (classmethod, staticmethod, FunctionType) and find(cls, name) is None:
            note_class(x)
            note(table.of_classes, x, (x,))
        elif not x.__flags__ & HEAP_TYPE and found in (WrapperDescriptorType, MethodDescriptorType) and _of_it(x, name):
            note(table.of_classes, x, (x,))
        elif found is ClassMethodDescriptorType and calls.is_of_class(y := getattr(x, name)):
            # There is one object for all that are equal, which a place can know again.
            table.of_builtin[x] = y = calls.of_class(y)[0]
            return y, None
    if name in vars(x) if cls is ModuleType else _reads_plainly(cls, name) or _has_function(cls, name):
        if cls is not ModuleType:
            note_class(cls)
        note(table, cls, (cls,), PLAIN)
    elif is_of_python(cls):  # a descriptor of the class, or what an instance has
        return record_getattr(x, name, types)
    return objects.RECORD["getattr"](x, name)


def _has_function(cls: type, name: str) -> bool:
    """Whether a class has a function under a name that instances give as it is, or bound to their class."""
    found = find(cls, name)
    return (
        type(found) in (staticmethod, classmethod)
        and type(found.__func__) is FunctionType
        and is_of_python(cls)
        and attributes.plain_lookup(cls)
    )


def _of_it(cls: type, name: str) -> bool:
    """Whether an attribute of a class is its instances' method, and not the one that it has as an instance of `type`."""
    return getattr(cls, name) is find(cls, name)


@passes()
def record_setattr(x: Any, value: Any, name: str, types: Types) -> Any:
    """RECORD["setattr"], which notes types that may be written plainly."""
    cls = type(x)
    write = types.properties.get(cls)
    if write is not None:
        return write(x, value)[1]
    if _writes_plainly(cls, name):
        note_class(cls)
        note(types.plain, cls, (cls,))
        if anew.about(cls) is not None and cls.__base__ is object and find(cls, name) is None:
            object.__setattr__(x, name, value)
            return attributes.run_set_attr, x, name
    else:
        write = setter(cls, name)
        if write is None:
            if is_undecided(cls, name):
                return objects.RECORD["setattr"](x, value, name)
            write = functools.partial(_set_in_general, name)
        note_class(cls)
        note(types.properties, cls, (cls,), write)
        return write(x, value)[1]
    return objects.RECORD["setattr"](x, value, name)


@passes()
def _set_in_general(name: str, x: Any, value: Any) -> tuple[Any, Any]:
    return None, objects.RECORD["setattr"](x, value, name)


def _is_metaclass(cls: type) -> bool:
    """Whether what is of this class is a class, whose attributes are found in Python's usual way, and which is equal to itself
    alone."""
    return (
        issubclass(cls, type)
        and find(cls, "__getattribute__") is type.__getattribute__
        and (cls.__hash__, cls.__eq__) == (type.__hash__, type.__eq__)
    )


# Whose instances are values, or have attributes that are found in ways of their own.
_WITH_OTHER_ATTRIBUTES = (type, ModuleType, super, tuple, *NUMERIC)
_APART = frozenset(_WITH_OTHER_ATTRIBUTES)  # (to ask an abstract class about a new one takes long)


class _Ways(NamedTuple):
    """How the attributes of the instances of a class are found and set."""

    usual: bool  # in Python's usual way
    alone: bool  # and nobody else is asked for those that are not there (`__getattr__`)
    set_plainly: bool


_ways: dict[type, _Ways] = {}


def _ways_of(cls: type) -> _Ways | None:
    """The same of a class whose instances have shadows, as those of other classes made by class statements; else None. (It is asked for
    each attribute, and is a long question to abstract classes.)"""
    ways = _ways.get(cls)
    if ways is None and _APART.isdisjoint(cls.__mro__) and has_plain_shadow(cls):
        usual, alone = attributes.plain_lookup(cls), find(cls, "__getattr__") is None
        ways = _Ways(usual, alone, find(cls, "__setattr__") in _SET_PLAINLY)
        if cls.__flags__ & HEAP_TYPE:
            note_class(cls)
        note(_ways, cls, (cls,), ways)
    return ways


def _reads_plainly(cls: type, name: str) -> bool:
    return _as_of_those_like_it(cls, name, _may_be_read)


def _writes_plainly(cls: type, name: str) -> bool:
    return _as_of_those_like_it(cls, name, _may_be_set)


def _as_of_those_like_it(cls: type, name: str, ask: Callable[[type, str], bool]) -> bool:
    """What is asked of a class and a name; of one that was made anew as it is of others like it."""
    known = anew.about(cls)
    if known is None:
        return ask(cls, name)
    answer = known.answers.get((ask, name))
    if answer is None:
        answer = ask(cls, name)
        found = find(cls, name)
        if found is None or type(found) is FunctionType:
            known.answers[ask, name] = answer
    return answer


def _may_be_read(cls: type, name: str) -> bool:
    if cls is np.ndarray:  # what its methods give a cotangent to has a shadow of its own
        return type(find(cls, name)) is MethodDescriptorType
    ways = _ways_of(cls)
    if (ways is None and issubclass(cls, _WITH_OTHER_ATTRIBUTES)) or has_plainly(cls, "__zyg_transform__"):
        return False
    found = find(cls, name)
    if cls in CONTAINERS:
        return type(found) is MethodDescriptorType or type(found) is WrapperDescriptorType
    if cls is FunctionType or cls is SimpleNamespace:  # what it is given by code
        return found is None
    if ways is None or not ways.usual:
        return False
    if found is None or attributes.is_slot(cls, found):  # (which may be empty)
        return ways.alone
    return type(found) in (FunctionType, MethodDescriptorType) or _stands_for_a_constant(cls, name, found)


def _stands_for_a_constant(cls: type, name: str, found: Any) -> bool:
    """Whether what a class holds for instances that have no such attribute of their own carries no derivative, or has it in a shadow
    of its own: it is no number, or one that was there before all of what is being differentiated."""
    kind = type(found)
    if kind in INERT:
        return True
    if kind is not float and kind is not int:
        if find(kind, "__get__") is not None or not VALUES.isdisjoint(kind.__mro__):
            return False
        if kind.__flags__ & HEAP_TYPE:
            note_class(kind)  # which may come to be a descriptor
        return True
    owner = next(c for c in cls.__mro__ if name in c.__dict__)
    return is_constant_number(owner, name)


def _may_be_set(cls: type, name: str) -> bool:
    if cls is FunctionType or cls is SimpleNamespace:
        return find(cls, name) is None
    ways = _ways_of(cls)
    if ways is None:
        return False
    found = find(cls, name)
    if found is not None and not attributes.is_slot(cls, found) and is_in_class(type(found), "__set__"):
        return False
    return ways.set_plainly


_SET_PLAINLY = (object.__setattr__, BaseException.__setattr__)
