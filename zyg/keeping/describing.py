"""What an object is, as far as it matters to the compiler, in terms that mean the same in every process.

A description is plain data: two objects with equal descriptions lead to the same code.  Of functions it has the code, texts and places in the source
included, and the defaults, but not what they refer to by name or have captured: for that, code has guards.  Of classes it has all
that stands in them.  What cannot be told so has none (`NotPlain`).
"""

from __future__ import annotations

import dataclasses
import marshal
import sys
import types
from collections import namedtuple
from typing import Any

import numpy as np

from zyg.ir.plainly import get_plainly

from ..homes import found
from ..ir import types as t
from ..ir.options import Options
from ..ir.records import _FIELDS
from ..transforms import Transform, transform_of
from ..typeof import is_set

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))
_HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8
_DESCRIPTORS = (
    types.MemberDescriptorType, types.GetSetDescriptorType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)  # fmt: skip
_CODE = (
    "co_filename", "co_name", "co_qualname", "co_firstlineno", "co_flags", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount",
    "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_linetable", "co_exceptiontable",
)  # fmt: skip
# What stands in a class and tells nothing of what code makes of it.
_OF_NO_ACCOUNT = ("__annotations__", "__static_attributes__", "__firstlineno__", "__orig_bases__", "__doc__")
_NAMED = (types.FunctionType, types.BuiltinFunctionType, type, np.ufunc, type(np.sum))
_FIELD = ("name", "init", "repr", "hash", "compare", "kw_only")


class NotPlain(Exception):
    """Something that is found in this process only, or that nobody has looked into."""


def digest(*objects: Any) -> bytes:
    """A digest of the descriptions of objects."""
    from ..backend.llvm import cache

    describe = _Describing()
    try:
        return cache.digest_of(marshal.dumps(tuple([describe.of(x) for x in objects]), 2))
    except Exception:  # so deep, or so odd (`__class__` may be the user's code), that nobody can tell
        raise NotPlain from None


def named(x: Any) -> tuple[str, str] | None:
    """The module and the name in it by which one finds an object; None if there are none."""
    if not isinstance(x, _NAMED) and not is_zygs(type(x).__module__):
        return None  # asking it may run code of the user's
    name = get_plainly(x, "__qualname__") or get_plainly(x, "__name__")
    owner = x.__self__ if type(x) is types.BuiltinFunctionType else None
    module = get_plainly(x, "__module__") or get_plainly(owner, "__name__")
    if isinstance(x, np.ufunc):
        module = "numpy" if getattr(np, x.__name__, None) is x else "scipy.special"
    if type(module) is not str or type(name) is not str:
        return None
    return (module, name) if found(module, name) is x else None


def is_zygs(module: Any) -> bool:
    """Whether this is the name of a module of zyg."""
    return type(module) is str and module.startswith("zyg.")


def reads(x: Any) -> tuple[Any, ...] | None:
    """The hidden inputs that an object of zyg's own stands for, in whatever variables they are; None for others."""
    read = getattr(x, "reads", None) if is_zygs(type(x).__module__) else None
    return read if type(read) is tuple else None


def is_known_by_name(x: Any) -> tuple[str, str] | None:
    """Where one finds an object that is what it is as long as Python, NumPy and zyg are of the same versions (and the packages that
    `_version` tells of); None for others."""
    place = named(x)
    if place is None:
        return None
    top = place[0].partition(".")[0]
    if top in ("zyg", "numpy"):
        return place
    if isinstance(x, type):
        native = not x.__flags__ & _HEAP_TYPE or bool(x.__flags__ & _IMMUTABLE_TYPE)
    else:
        native = isinstance(x, (types.BuiltinFunctionType, np.ufunc))
    return place if native and (top in sys.stdlib_module_names or _version(top) is not None) else None


def _version(top: str) -> str | None:
    """Of a package that zyg has entries for, beside NumPy."""
    version = getattr(sys.modules.get(top), "__version__", None) if top == "scipy" else None
    return version if type(version) is str else None


_SINGLE = {
    id(x): name
    for name, x in (
        ("NotImplemented", NotImplemented),
        ("MISSING", dataclasses.MISSING),
        ("HAS_DEFAULT_FACTORY", getattr(dataclasses, "_HAS_DEFAULT_FACTORY", None)),
        *((f"numpy.{name}", getattr(np, name)) for name in ("r_", "c_", "s_", "index_exp", "mgrid", "ogrid")),
    )
    if x is not None
}


class _Describing:
    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        self.alive: list[Any] = []

    def of(self, x: Any) -> Any:
        if type(x) in PLAIN:
            return x
        if id(x) in self.seen:
            return "again", self.seen[id(x)]
        self.seen[id(x)] = len(self.seen)
        self.alive.append(x)
        return self._of(x)

    def all(self, items: Any) -> tuple[Any, ...]:
        return tuple([self.of(item) for item in items])

    def _of(self, x: Any) -> Any:
        cls = type(x)
        if id(x) in _SINGLE:
            return "single", _SINGLE[id(x)]
        if cls is tuple:
            return "tuple", self.all(x)
        if cls is types.FunctionType:
            place = is_known_by_name(x)
            return ("known", *place) if place is not None else self._function(x)
        if isinstance(x, t.Type):
            return self._type(x)
        if cls is types.CodeType:
            return "code", *[getattr(x, name) for name in _CODE], self.all(x.co_consts)
        if cls is frozenset:
            return "frozenset", tuple(sorted([marshal.dumps(self.of(item), 2) for item in x]))
        if cls is types.ModuleType or isinstance(x, types.ModuleType):
            if sys.modules.get(x.__name__) is not x:
                raise NotPlain
            return "module", x.__name__
        if isinstance(x, Transform):
            return "transform", x.kind, self.of(x.argnums), self.of(x.options), x.has_aux, self.of(x.function)
        if isinstance(x, Options):
            fields = [getattr(x, name) for name in getattr(Options, _FIELDS)]
            return "options", self.all(fields)
        if (transform := transform_of(x)) is not None:
            return "callable", self.of(transform)
        if isinstance(x, type):
            return self._class(x)
        place = is_known_by_name(x)
        if place is not None:
            return "known", *place, _version(place[0].partition(".")[0])
        return self._other(x)

    def _function(self, f: types.FunctionType) -> Any:
        defaults = tuple([_HELD.get(type(v)) or self.of(v) for v in f.__defaults__ or ()])
        keywords = tuple([(name, self.of(v)) for name, v in (f.__kwdefaults__ or {}).items()])
        attributes = tuple([(name, self.of(v)) for name, v in sorted(f.__dict__.items())])
        empty = tuple([not is_set(cell) for cell in f.__closure__ or ()])
        names = self.all((f.__name__, f.__qualname__, f.__module__, f.__doc__))
        has = f.__defaults__ is None, f.__kwdefaults__ is None
        return "function", self.of(f.__code__), names, named(f), has, defaults, keywords, attributes, empty

    def _type(self, x: t.Type) -> Any:
        if isinstance(x, (t.PullbackType, t.Stack, t.Tape)):
            raise NotPlain
        if isinstance(x, t.Closure):  # (its guards tell the rest of the function that came first)
            f = x.function
            names = None if f is None else (f.__name__, f.__qualname__, f.__module__, bool(f.__dict__))
            return "closure", self.of(x.code), names, self.all((x.captured, x.defaults, x.kwdefaults))
        return type(x).__name__, self.all([getattr(x, name) for name in getattr(x, _FIELDS)])

    def _class(self, cls: type) -> Any:
        place = is_known_by_name(cls)
        if place is not None:
            return "known", *place, _version(place[0].partition(".")[0])
        if type(cls) is not type:
            raise NotPlain
        inside = [(n, self._in_class(n, v)) for n, v in vars(cls).items() if n not in _OF_NO_ACCOUNT]
        names = cls.__module__, cls.__qualname__
        return "class", names, named(cls), self.all(cls.__mro__[1:]), tuple(inside)

    def _in_class(self, name: str, x: Any) -> Any:
        if name == "__dataclass_params__":
            return repr(x)
        if name == "__dataclass_fields__":
            return tuple([self._field(one) for one in x.values()])
        if name in _FIELDS_OF_NAMED_TUPLES and type(x) is dict:
            return tuple([(n, self.of(v)) for n, v in x.items()])
        if type(x) is list and name in ("__slots__", "__match_args__"):
            return "list", self.all(x)
        return self.of(x)

    def _field(self, x: Any) -> Any:
        if type(x) is not dataclasses.Field or x.metadata:
            raise NotPlain
        said = [getattr(x, name) for name in _FIELD]
        given = [None if v is dataclasses.MISSING else (self.of(v),) for v in (x.default, x.default_factory)]
        return "field", x._field_type.name, tuple([v is dataclasses.MISSING or v for v in said]), *given

    def _other(self, x: Any) -> Any:
        cls = type(x)
        if cls in (staticmethod, classmethod):
            return cls.__name__, self.of(x.__func__)
        if cls is property:
            return "property", self.all((x.fget, x.fset, x.fdel))
        if cls is types.MethodType:
            return "method", self.of(x.__func__), self.of(x.__self__)
        if cls in _DESCRIPTORS:
            return "descriptor", cls.__name__, x.__name__, x.__objclass__.__module__, x.__objclass__.__qualname__
        if cls is _tuplegetter:
            return "getter", self.all(x.__reduce__()[1])
        if isinstance(x, np.dtype) and x.isbuiltin == 1 and x.kind in "fiubc":
            return "dtype", x.str
        if isinstance(x, np.generic) and x.dtype.isbuiltin == 1 and x.dtype.kind in "fiubc":
            return "scalar", x.dtype.str, x.tobytes()
        if cls in (np.finfo, np.iinfo):
            return cls.__name__, self.of(getattr(x, "dtype", None))
        if (read := reads(x)) is not None:
            return "reads", cls.__name__, tuple([(source.kind, source.name, self.of(source.type)) for source in read])
        raise NotPlain


# What is read at each call, as hidden inputs of a type that is looked at then.
_HELD = {np.ndarray: ("an array",), list: ("a list",), dict: ("a dict",)}
_tuplegetter: Any = type(vars(namedtuple("_", "x"))["x"])  # the fields of named tuples
_FIELDS_OF_NAMED_TUPLES = ("_field_defaults", "_field_types")


__all__ = ["PLAIN", "NotPlain", "digest", "is_known_by_name", "is_zygs", "named", "reads"]
