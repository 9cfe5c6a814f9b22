"""Plain records: `@record` is `@dataclass`, made without executing source text.

Building a standard dataclass costs some 300 microseconds, as it writes methods as text and compiles them.  The compiler
has a hundred records, which would be a fifth of the time to the first gradient.  Here `__init__` is a template (one for
each number of fields) under the names of the fields, and the other methods are shared.

What is the same: fields in the order of annotations, inherited ones first, with defaults and `field(default_factory=)`;
`eq`, `frozen`, `slots`; methods that the class has itself are kept.  What is not: `frozen` makes a record hashable by
its fields, and type checkers hold its users to it, but assignment is not refused when running.

>>> @record(frozen=True, slots=True)
... class Point:
...     x: float
...     y: float = 0.0
>>> Point(1.0), Point(1.0) == Point(1.0, 0.0), replace(Point(1.0), y=2.0)
(Point(x=1.0, y=0.0), True, Point(x=1.0, y=2.0))
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from types import CodeType, FunctionType
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")
_FIELDS = "__record_fields__"
_REQUIRED = object()


class Field:
    """What `field` says of a field beyond its name; a plain default is said without it."""

    __slots__ = ("compare", "default", "factory", "init", "repr")

    def __init__(self, default: Any, factory: Any, init: bool, repr: bool, compare: bool):
        self.default, self.factory = default, factory
        self.init, self.repr, self.compare = init, repr, compare


def field(
    *, default: Any = _REQUIRED, default_factory: Any = None, init: bool = True, repr: bool = True, compare: bool = True
) -> Any:
    """A field with a default that is made anew for each record, or that takes no part in `__init__` or comparison."""
    return Field(default, default_factory, init, repr, compare)


_PLAIN = Field(_REQUIRED, None, True, True, True)


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(
    *, init: bool = ..., eq: bool = ..., frozen: bool = ..., slots: bool = ...
) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(field_specifiers=(field,))
def record(cls: Any = None, /, *, init: bool = True, eq: bool = True, frozen: bool = False, slots: bool = False) -> Any:
    """Class decorator: `__init__`, `__repr__`, `__match_args__` and, if `eq`, `__eq__` from the annotated fields."""
    if cls is None:
        return lambda cls: _make(cls, init, eq, frozen, slots)
    return _make(cls, init, eq, frozen, slots)


def _make(cls: type, init: bool, eq: bool, frozen: bool, slots: bool) -> type:
    fields: dict[str, Field] = {}
    for base in reversed(cls.__mro__[1:]):
        fields.update(vars(base).get(_FIELDS, {}))
    own: dict[str, Field] = {}
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        if not str(annotation).startswith(("ClassVar", "typing.ClassVar")):
            own[name] = _field(vars(cls).get(name, _REQUIRED))
    fields.update(own)
    namespace: dict[str, Any] = {_FIELDS: fields}
    names = tuple(name for name, f in fields.items() if f.init)
    namespace["__match_args__"] = names
    if init and "__init__" not in vars(cls):
        namespace["__init__"] = _init(cls, names, fields)
    if cls.__repr__ is object.__repr__:
        namespace["__repr__"] = _represent
    if eq:
        namespace |= _comparison(tuple(name for name, f in fields.items() if f.compare), frozen)
        if "__eq__" in vars(cls):
            del namespace["__eq__"]
        if vars(cls).get("__hash__") is not None:
            del namespace["__hash__"]
    for name, f in own.items():
        if isinstance(vars(cls).get(name), Field):
            if f.default is _REQUIRED:
                delattr(cls, name)
            else:
                setattr(cls, name, f.default)
    if slots:
        kept = {k: v for k, v in vars(cls).items() if k not in own and k not in ("__dict__", "__weakref__")}
        inherited = {n for base in cls.__mro__[1:] for n in vars(base).get(_FIELDS, ())}
        namespace["__slots__"] = tuple(name for name in own if name not in inherited)
        return type(cls)(cls.__name__, cls.__bases__, {**kept, **namespace})
    for name, value in namespace.items():
        setattr(cls, name, value)
    return cls


def _field(given: Any) -> Field:
    if isinstance(given, Field):
        return given
    return _PLAIN if given is _REQUIRED else Field(given, None, True, True, True)


# ------------------------------------------------------------------------------------------------ methods


@lru_cache(None)
def _template(count: int, after: bool) -> CodeType:
    """The code of `__init__` for so many fields, which calls `_after(self)` in the end or does not."""
    names = [f"f{k}" for k in range(count)]
    lines = [f"self.{name} = {name}" for name in names] + (["_after(self)"] if after else []) or ["pass"]
    scope: dict[str, Any] = {}
    exec(f"def __init__({', '.join(['self', *names])}):\n    " + "\n    ".join(lines), scope)
    return scope["__init__"].__code__


def _init(cls: type, names: tuple[str, ...], fields: dict[str, Field]) -> Callable[..., None]:
    fresh = tuple((name, f.factory) for name, f in fields.items() if f.factory is not None)
    then = getattr(cls, "__post_init__", None)

    def after(self: Any) -> None:
        for name, factory in fresh:
            if name not in names or getattr(self, name) is _REQUIRED:
                setattr(self, name, factory())
        if then is not None:
            then(self)

    template = _template(len(names), bool(fresh or then))
    outside = template.co_names[len(names) :]  # `_after`, if it is called
    code = template.replace(
        co_varnames=("self", *names),
        co_names=names + outside,
        co_name="__init__",
        co_qualname=f"{cls.__qualname__}.__init__",
    )
    defaults = [fields[n].default for n in names]
    optional = len(defaults)
    while optional and (defaults[optional - 1] is not _REQUIRED or fields[names[optional - 1]].factory is not None):
        optional -= 1
    function = FunctionType(code, {"_after": after}, "__init__", tuple(defaults[optional:]))
    return function


def _comparison(names: tuple[str, ...], frozen: bool) -> dict[str, Any]:
    if not names:
        key: Callable[[Any], Any] = lambda self: ()
    elif len(names) == 1:
        only = attrgetter(names[0])
        key = lambda self: (only(self),)
    else:
        key = attrgetter(*names)

    def __eq__(self: Any, other: object) -> Any:
        if self is other:
            return True
        return key(self) == key(other) if self.__class__ is other.__class__ else NotImplemented

    return {"__eq__": __eq__, "__hash__": (lambda self: hash(key(self))) if frozen else None}


def _represent(self: Any) -> str:
    shown = ", ".join(f"{n}={getattr(self, n)!r}" for n, f in getattr(self, _FIELDS).items() if f.repr)
    return f"{type(self).__qualname__}({shown})"


def replace(old: T, /, **changes: Any) -> T:
    """A copy with other values for some fields."""
    for name, f in getattr(old, _FIELDS).items():
        if f.init:
            changes.setdefault(name, getattr(old, name))
    return type(old)(**changes)


__all__ = ["field", "record", "replace"]
