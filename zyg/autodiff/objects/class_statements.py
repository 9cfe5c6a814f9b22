"""Class statements: the body is differentiated, and what the attributes of the class gather goes to the names that it set."""

from __future__ import annotations

import builtins
import collections
import dis
import functools
import operator
import sys
import types
from types import CellType, FunctionType
from typing import Any

from zyg.errors import Unsupported
from zyg.ir.plainly import get_plainly

from . import anew, builtins_, calls, cells, foreign, functions, later, reentry, scattering, structure, subscripts
from .arithmetic import find, is_python
from .calls import known, method
from .cotangents import Refused, accumulate


@known(builtins.__build_class__)
def _build_class(body: FunctionType, name: str, /, *bases: Any, **keywords: Any) -> tuple[Any, Any]:
    """(class, back) of a class statement."""
    if all(issubclass(type(base), type) for base in bases):
        return _built(body, name, bases, bases, keywords)
    resolved, asked = _resolved(bases)
    if asked is None:
        return _built(body, name, bases, resolved, keywords)
    with reentry.undone(asked):
        made, back = _built(body, name, bases, resolved, keywords)
    return made, (_run_built, asked, back)


def _run_built(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, asked, inner = back
    given = calls.run(inner, d, shadows)
    flowing = calls.run(asked, None, shadows)
    behind = () if given is None else given[3 + len(flowing) :]
    return (None, None if given is None else given[1], None, *flowing, *behind)


def _resolved(bases: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    """What stands in for bases that are no classes, by their `__mro_entries__`, and what undoes that these have been asked."""
    found: list[Any] = []
    asked: list[Any] = []
    back = _run_resolved, len(bases), asked
    with reentry.undone(back):
        for place, base in enumerate(bases):
            if issubclass(type(base), type):
                found.append(base)
                continue
            try:
                entries, of_entries = builtins_.attempted(base, "__mro_entries__")
            except AttributeError as error:
                found.append(base)
                asked.append((place, later.escaping.swallowed(error), None))
                continue
            if _is_of_library(entries):
                given, called = entries(bases), None
            else:
                asked.append((place, of_entries, None))
                given, called = calls.call(entries, (bases,))
                asked[-1] = place, of_entries, called
            if not isinstance(given, tuple):
                raise TypeError("__mro_entries__ must return a tuple")
            found.extend(given)
    return tuple(found), back if any(x is not None for _, *backs in asked for x in backs) else None


def _is_of_library(entries: Any) -> bool:
    """Whether classes and generic aliases of the library stand in for themselves."""
    code = getattr(getattr(entries, "__func__", entries), "__code__", None)
    return code is None or foreign.is_of_library(code.co_filename)


def _run_resolved(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, count, asked = back
    flowing: list[Any] = [None] * count
    for place, of_entries, called in reversed(asked):
        given = calls.run(called, None, shadows)
        if given is not None and given[1] is not None:
            flowing = list(map(accumulate, flowing, given[1]))
        given = calls.run(of_entries, None if given is None else given[0], shadows)
        if given is not None:
            flowing[place] = accumulate(flowing[place], given[0])
    return tuple(flowing)


def _built(
    body: FunctionType, name: str, bases: tuple[Any, ...], resolved: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Any, Any]:
    """The same, with what stands in for the bases."""
    meta = metaclass(resolved, keywords)
    if meta is None:
        made = builtins.__build_class__(body, name, *resolved, **keywords)
        if _stand_in(bases, resolved):
            type.__setattr__(made, "__orig_bases__", bases)
        form = structure.form(body)
        if not structure.holds_numbers(form) or not _reads_captured(body.__code__):
            return made, None
        return made, (_run_unknown, made, form, foreign.caller())
    namespace: dict[str, Any] = {}
    _, back = forward_of_body(body)(namespace)
    named = {k: v for k, v in keywords.items() if k != "metaclass"}
    _note_bases(namespace, bases, resolved)
    with reentry.undone(back):
        made, meta_back = (calls.call if runs_code(meta) else _by_type)(meta, (name, resolved, namespace), named)
    anew.made_by_statement(made)
    return made, (_run_class, made, namespace, back, meta_back, len(bases), tuple(keywords), tuple(named))


def _reads_captured(code: types.CodeType) -> bool:
    """Whether the body of a class reads a captured variable itself. (Its methods are followed.)"""
    reading = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
    return any(i.opname in reading for i in dis.get_instructions(code))


def _run_unknown(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """A class with a namespace of its own kind, as enumerations have: what comes to it, or to what stands in it, is refused."""
    _, made, form, place = back
    if any(foreign.has_shadow(x, shadows) for x in (made, *vars(made).values())):
        what = f"a derivative through the class {made.__name__}, which is made by a metaclass with `__prepare__`"
        error = Unsupported(what, foreign.position_of(place), hint="keep numbers in an object of a plain class")
        return None, scattering.refuse(form, Refused(error), shadows)
    return None


def metaclass(bases: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The class of a class with such bases, by the rules of the language; None if it has a namespace of its own kind (as enumerations
    have). It is not asked for one: `types.prepare_class` would, and it is asked when the class is made."""
    meta = keywords["metaclass"] if "metaclass" in keywords else type(bases[0]) if bases else type
    if not isinstance(meta, type):
        return None
    for other in map(type, bases):
        if issubclass(other, meta):
            meta = other
        elif not issubclass(meta, other):
            return None  # there is none, as Python will say
    owner = next((c for c in get_plainly(meta, "__mro__", ()) if "__prepare__" in vars(c)), None)
    return meta if owner is type else None


def runs_code(meta: Any) -> bool:
    """Whether making a class runs code of the user's metaclass, which may compute with what is in the namespace. (The `__call__`
    that a metaclass has makes the instances of the class.)"""
    own = [c for c in meta.__mro__ if c.__module__ not in ("builtins", "abc", "typing", "_py_abc")]
    return any(is_python(vars(c).get("__init__")) or "__new__" in vars(c) for c in own)


def forward_of_body(body: FunctionType) -> Any:
    """The forward half of the body of a class, a function of the namespace."""
    return functions.Function(body).bind(body)


def _stand_in(bases: tuple[Any, ...], resolved: tuple[Any, ...]) -> bool:
    """Whether others stand in for the bases of a class statement."""
    return len(bases) != len(resolved) or any(map(operator.is_not, bases, resolved))


def _note_bases(namespace: dict[str, Any], bases: tuple[Any, ...], resolved: tuple[Any, ...]) -> None:
    """A class knows the bases of its statement, where others stand in for them."""
    if _stand_in(bases, resolved):
        namespace["__orig_bases__"] = bases


def _by_type(make: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any]:
    """A class that C code makes, which calls `__set_name__`, `__init_subclass__` and what a metaclass has. The last of `args` is the
    namespace."""
    if make is type and _is_made_quietly(*args):
        made, back = type(*args, **keywords), None
    else:
        made, back = reentry.followed(make, args, keywords, deep=True)
    made_of(made, args[-1])
    if type(made) is type:
        with_known_code(made)  # as that of `typing.NamedTuple`
    return made, (_run_made, made, args[-1], back)


def _is_made_quietly(name: Any, bases: Any, namespace: Any) -> bool:
    """Whether `type` makes a class of this without running code: no base wants to know of it, and nothing in it wants to know its name."""
    if type(bases) is not tuple or type(namespace) is not dict:
        return False
    for base in bases:
        if type(base) is not type or any("__init_subclass__" in vars(c) for c in base.__mro__ if c is not object):
            return False
    slots = namespace.get("__slots__", ())
    if type(slots) is not str and not (type(slots) in _LISTED and all(type(slot) is str for slot in slots)):
        return False
    return not any(is_python(find(kind, "__set_name__")) for kind in set(map(type, namespace.values())) - _NAMELESS)


_LISTED = (tuple, list)
_NAMELESS = frozenset(
    {FunctionType, property, staticmethod, classmethod, str, float, int, bool, types.NoneType, CellType}
)


def made_of(made: Any, namespace: dict[str, Any]) -> None:
    """Says to a second derivative that a class was made of a namespace, where C code that calls functions has done that. The
    module of the class is that of the program: C code takes the one of the frame that calls it."""
    if "__module__" not in namespace and made.__module__.startswith("zyg."):
        type.__setattr__(made, "__module__", foreign.module_of_caller())


@known(made_of)
def _made_of(made: Any, namespace: dict[str, Any]) -> tuple[Any, Any]:
    made_of(made, namespace)
    return None, (_run_made, made, namespace, None)


@known(type, exact=True)
def _type(x: Any, *more: Any, **keywords: Any) -> tuple[Any, Any]:
    return _by_type(type, (x, *more), keywords) if more else (type(x), None)


def _run_class(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, made, namespace, inner, meta_back, count, keywords, named = back
    given = calls.run(meta_back, None, shadows)
    move_attributes(made, namespace, shadows)
    calls.run(inner, None, shadows)
    if given is None:
        return None
    flowing = dict(zip(named, given[4:]))
    return (*[None] * (3 + count), *[flowing.get(name) for name in keywords])


@known(type.__new__)
def _type_new(cls: Any, name: Any, bases: Any, namespace: dict[str, Any], /, **keywords: Any) -> tuple[Any, Any]:
    made, back = _by_type(type.__new__, (cls, name, bases, namespace), keywords)
    return made, back


@calls.method(type, "__init__")
def _type_init(cls: type, /, *args: Any, **keywords: Any) -> tuple[Any, Any]:
    return None, None


def _run_made(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[3], None, shadows)
    move_attributes(back[1], back[2], shadows)
    return None if given is None else (None, *given)


def move_attributes(made: Any, namespace: dict[str, Any], shadows: Any) -> None:
    """What the attributes of a class have gathered belongs to the names that its body set; the defaults of an `__init__` that
    was generated (of a dataclass), and of its fields, were attributes."""
    if id(made) in shadows.holders:
        for name in namespace:
            d = shadows.take_attr(made, name)
            if d is not None:
                shadows.add_key(namespace, name, d)
    fields = vars(made).get("__dataclass_fields__", {})
    for name in vars(made).get("__annotations__", ()) if fields else ():
        if name in fields and name in namespace and namespace[name] is not fields[name]:
            d = shadows.take_attr(fields[name], "default")
            if d is not None:
                shadows.add_key(namespace, name, d)
    for name, sign in (("__init__", "__dataclass_fields__"), ("__new__", "_field_defaults")):
        made_for_it = getattr(made, name, None)
        if isinstance(made_for_it, FunctionType) and namespace.get(name) is not made_for_it and hasattr(made, sign):
            for key, d in defaults_of(made_for_it, shadows):
                if key in namespace:
                    shadows.add_key(namespace, key, d)


def defaults_of(function: FunctionType, shadows: Any) -> list[tuple[str, Any]]:
    """What the defaults of a function have gathered, by the names of the parameters."""
    found = []
    by_name = shadows.take_dict(function.__kwdefaults__) if function.__kwdefaults__ else None
    for key, d in ((shadows.take_dict(function) or {}) | (by_name or {})).items():
        if type(key) is int:
            count = function.__code__.co_argcount
            key = function.__code__.co_varnames[count - len(function.__defaults__ or ()) + key]
        if d is not None:
            found.append((key, d))
    return found


def with_known_code(cls: type) -> None:
    """Let methods that the library wrote for a class have the code objects of those that it wrote before, if they are equal. A class
    that a function makes anew at each call has the same ones each time, but code is known by identity."""
    for held in vars(cls).values():
        f = get_plainly(held, "__func__", held)
        if type(f) is FunctionType and f.__code__.co_filename == "<string>":
            if len(_written) >= _MANY:
                _written.clear()
            code = f.__code__
            f.__code__ = _written.setdefault((code.co_qualname, code), code)


_written: dict[tuple[str, types.CodeType], types.CodeType] = {}
_MANY = 1000


@known(collections.namedtuple)
def _namedtuple(
    name: Any, fields: Any, *, defaults: Any = None, module: Any = None, **keywords: Any
) -> tuple[Any, Any]:
    given = None if defaults is None else tuple(defaults)
    module = foreign.module_of_caller() if module is None else module
    made = collections.namedtuple(name, fields, defaults=given, module=module, **keywords)
    with_known_code(made)
    if given is None:
        return made, None
    return made, (_run_namedtuple, made, given, structure.form(defaults))


def _run_namedtuple(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, made, given, form = back
    gathered = dict(defaults_of(made.__new__, shadows))
    names = made._fields[len(made._fields) - len(given) :]
    c = scattering.scatter(form, tuple([gathered.get(n) for n in names]), shadows) if gathered else None
    return None, None, None, c


def namespace(cls: type, /, *args: Any, **attributes: Any) -> tuple[Any, Any]:
    """An instance of SimpleNamespace, or of a class derived from it."""
    if args:  # from 3.13 on
        return calls.call_foreign(cls, *args, **attributes)
    made = cls(**attributes)
    return made, (_run_namespace, made, tuple(attributes))


known(types.SimpleNamespace)(functools.partial(namespace, types.SimpleNamespace))


@known(types.SimpleNamespace.__new__)
def _new_namespace(cls: type, /, *args: Any, **attributes: Any) -> tuple[Any, Any]:
    return types.SimpleNamespace.__new__(cls), None


@method(types.SimpleNamespace, "__init__")
def _init_namespace(x: Any, /, *args: Any, **attributes: Any) -> tuple[Any, Any]:
    if args:
        foreign.refuse(
            "attributes of a SimpleNamespace from a mapping, in code that is differentiated",
            foreign.caller(),
            "give them as keyword arguments",
        )
    types.SimpleNamespace.__init__(x, **attributes)
    return None, (_run_namespace, x, tuple(attributes))


def _run_namespace(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, *[shadows.take_attr(back[1], name) for name in back[2]]


# ------------------------------------------------------------------------------------------ names in a body


def look_up(namespace: dict[str, Any], name: str, cell: CellType | None = None) -> Any:
    """What a name in the body of a class stands for: an item of the namespace, else a free variable or a global."""
    if name in namespace:
        return namespace[name]
    if cell is not None:
        return cell.cell_contents
    return _global(name)


@known(look_up)
def _look_up(namespace: dict[str, Any], name: str, cell: CellType | None = None) -> tuple[Any, Any]:
    if name in namespace:
        y, back = subscripts.record_getitem(namespace, name)
        return y, None if back is None else (_run_item, back)
    if cell is not None:
        y, back = cells.record_get_cell(cell, name)
        return y, None if back is None else (_run_item, back)
    return _global(name), None


def _run_item(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    calls.run(back[1], d, shadows)


def _global(name: str) -> Any:
    frame: Any = sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith("zyg."):
        frame = frame.f_back
    for names in (frame.f_globals, frame.f_builtins):
        if name in names:
            return names[name]
    raise NameError(f"name '{name}' is not defined", name=name)


def set_up_annotations(namespace: dict[str, Any]) -> None:
    """Make the dict of the annotations."""
    namespace.setdefault("__annotations__", {})


@known(set_up_annotations)
def _set_up_annotations(namespace: dict[str, Any]) -> tuple[Any, Any]:
    return set_up_annotations(namespace), None
