"""Copies with other fields, by `dataclasses.replace` and `_replace` of named tuples: for each class, and each choice of fields, that is a
function that is written out and differentiated.  And the making of data classes, most of which carries no derivative, and is done plainly."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections import namedtuple
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from zyg.autodiff.identity import note
from zyg.ir.plainly import get_plainly

from . import calls, class_statements
from .arithmetic import find
from .cotangents import FIELD, INERT

_FIELDS = "__dataclass_fields__"
_copies: dict[tuple[type, tuple[str, ...]], tuple[Any, Callable[..., Any]]] = {}  # with what says how they are made


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
    parameters = _parameters(names)
    arguments = [f"{name}={a}" for name, a in zip(names, parameters)] + [f"{name}=old.{name}" for name in taken]
    return _written(parameters, f"new({', '.join(arguments)})", new=cls)


def _parameters(names: tuple[str, ...]) -> list[str]:
    return [f"a{k}" for k in range(len(names))]


def _written(parameters: list[str], result: str, **names: Any) -> Callable[..., Any]:
    """The function of the old instance and of what is to be new."""
    source = f"def replace({', '.join(['old', *parameters])}):\n    return {result}"
    scope: dict[str, Any] = {"__name__": __name__, **names}
    exec(compile(source, "<replace>", "exec"), scope)
    return scope["replace"]


@functools.cache
def _of_fields(items: tuple[str, ...], parameters: tuple[str, ...]) -> CodeType:
    """The same code for all named tuples with such fields: what they call is the same."""
    return _written([*parameters], f"new(cls, ({''.join(items)}))").__code__


# What fields are that are no attributes of instances: the module's own marks.
_CLASS_VARIABLE = getattr(dataclasses, "_FIELD_CLASSVAR")  # noqa: B009
_ARGUMENT = getattr(dataclasses, "_FIELD_INITVAR")  # noqa: B009


_Example = namedtuple("_Example", "x")
_MAKE = _Example._make.__func__.__code__


@calls.known_code(_Example._replace.__code__)
def _replace_fields(old: Any, /, **changes: Any) -> tuple[Any, Any]:
    cls, names = type(old), tuple(changes)
    make, fields = find(cls, "_make"), get_plainly(cls, "_fields", ())
    known = _copies.get((cls, names))
    if known is None or known[0] is not make:
        usual = type(make) is classmethod and make.__func__.__code__ is _MAKE
        plain = all(type(find(cls, name)) is FIELD for name in fields)
        if not usual or not plain or not set(names) <= set(fields):
            return calls.differentiated(find(cls, "_replace"))(old, **changes)
        parameters = _parameters(names)
        by_name = dict(zip(names, parameters))
        items = tuple([f"{by_name.get(name, f'old.{name}')}, " for name in fields])
        scope = {"__name__": __name__, "new": tuple.__new__, "cls": cls}
        known = make, FunctionType(_of_fields(items, tuple(parameters)), scope)
        note(_copies, (cls, names), (cls,), known)
    return calls.forward_of(known[1])(old, *changes.values())


# What makes a data class, and the same with code of its own: the other one has the rule below.
_process: Any = vars(dataclasses)["_process_class"]
_processed = FunctionType(_process.__code__.replace(), _process.__globals__, _process.__name__, _process.__defaults__)


@calls.known(_process, exact=True)
def _make(cls: type, *options: Any) -> tuple[Any, Any]:
    """Most of the work is the signature, which a class without a text of its own is given as that: `inspect` has long functions."""
    described = bool(cls.__doc__)
    if not described:
        cls.__doc__ = cls.__name__
    try:
        made, back = (
            (_process(cls, *options), None) if _is_plain(cls, options) else calls.forward_of(_processed)(cls, *options)
        )
    except BaseException:
        if not described:
            cls.__doc__ = None
        raise
    if not described:
        made.__doc__ = signature(made)
    class_statements.with_known_code(made)
    return made, back


def _is_plain(cls: type, options: tuple[Any, ...]) -> bool:
    """Whether no code of the user's runs where a class becomes a data class, and no derivative goes through it, but from the defaults of
    an `__init__` to attributes of the class (`class_statements.move_attributes`)."""
    if type(cls) is not type or options[_SLOTS] and not _without_values(cls):
        return False
    own = vars(cls)
    defaults = [f.default for base in cls.__mro__[1:] for f in vars(base).get(_FIELDS, {}).values()]
    for name in own.get("__annotations__", ()):
        if type(own.get(name)) not in (float, int):
            found = find(cls, name)
            defaults.append(found.default if type(found) is dataclasses.Field else found)
    return _WITHOUT_DERIVATIVE.issuperset(map(type, defaults))


def _without_values(cls: type) -> bool:
    """Whether a class holds methods alone, so that another one with slots is made of it."""
    held = [value for name, value in vars(cls).items() if not (name.startswith("__") and name.endswith("__"))]
    plain = {type(dataclasses.field()), FunctionType, property, staticmethod, classmethod, *_WITHOUT_DERIVATIVE}
    return plain.issuperset(map(type, held)) and find(cls, "__init_subclass__") is vars(object)["__init_subclass__"]


_SLOTS = _process.__code__.co_varnames.index("slots") - 1  # among the options
_WITHOUT_DERIVATIVE = INERT | {type(dataclasses.MISSING)}


def signature(cls: type) -> str:
    """What `dataclasses` says of a class."""
    try:
        return cls.__name__ + str(inspect.signature(cls)).replace(" -> None", "")
    except (TypeError, ValueError):
        return cls.__name__
