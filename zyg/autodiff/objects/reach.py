"""Which Python functions C code may enter that works on some operands, and which operands bring none along."""

from __future__ import annotations

import ctypes
import gc
import io
import sys
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from types import (
    BuiltinFunctionType,
    CodeType,
    EllipsisType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    NoneType,
    NotImplementedType,
    TracebackType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple

import numpy as np

from zyg.backend.phrases import HASHED
from zyg.errors import Unsupported
from zyg.ir.plainly import has_plainly, own_attributes

from ..identity import note
from . import arithmetic, calls, foreign, iteration, structure
from .cotangents import is_closed
from .effects import asked_by, changes, functions_in

# Operators, text, truth and conversions of exactly these types run no Python code, whatever the instance.
PLAIN: frozenset[type] = frozenset(
    {float, int, bool, complex, str, bytes, bytearray, NoneType, EllipsisType, NotImplementedType, range, type}
    | {ModuleType, CodeType, FunctionType, BuiltinFunctionType, MethodType, Fraction, Decimal, date, timedelta}
    | {c for c in np.sctypeDict.values() if c is not np.object_}
)

# The same for what only asks how long something is, or whether it is empty.
SIZED: frozenset[type] = PLAIN | {list, tuple, dict, set, frozenset, deque, OrderedDict, defaultdict}

# Those of them that may bring functions along, to be called.
_CALLABLE = frozenset({FunctionType, BuiltinFunctionType, MethodType, type})
INERT = PLAIN - _CALLABLE

_SEQUENCES = (list, tuple, set, frozenset, deque)
_CONTAINERS = (*_SEQUENCES, dict)

# Modules of the library whose functions call nothing of the user's.
_CLOSED = frozenset(
    "abc typing enum fractions decimal numbers pathlib datetime random re os io inspect threading logging warnings "
    "string uuid types zyg codecs encodings".split()
)
# Modules whose functions only tell something (telling.py).
TOLD = frozenset(
    "logging logging.handlers traceback linecache warnings pprint reprlib textwrap string json json.encoder".split()
)
# Modules whose functions give what they have made of text, if they were given nothing else.
READ = frozenset(
    "json.decoder json.scanner csv pathlib pathlib._local pathlib._abc posixpath ntpath genericpath shlex configparser "
    "ast difflib urllib.parse html tempfile uuid base64 hmac fnmatch glob shutil locale codecs mimetypes platform".split()
)

_OWN = "zyg.autodiff.objects.stdlib_"  # what stands there for code in C

# Special methods that C code does not call to ask an operand something: those that differentiated code calls by itself.
_OTHERS = frozenset(
    f"__{name}__"
    for name in "init new del init_subclass set_name class_getitem enter exit call setattr delattr setitem delitem next "
    "post_init getstate setstate reduce reduce_ex copy deepcopy add radd iadd sub rsub isub mul rmul imul truediv rtruediv "
    "itruediv pow rpow ipow matmul rmatmul imatmul neg pos abs".split()
)


# ------------------------------------------------------------------------------------------------------- which functions


def entered(values: Iterable[Any], deep: bool = False, inside: bool = True) -> list[FunctionType]:
    """The Python functions that C code may call which works on these values, and on what is inside of containers: special methods
    of their classes; with `deep` any methods, and the values are called if they can be.

    >>> from collections import UserList
    >>> entered([3.0, "a", [1, (2.0, None)]]), "__lt__" in [f.__name__ for f in entered([UserList([1.0])])]
    ([], True)
    """
    found: dict[int, FunctionType] = {}
    seen: set[int] = set()
    work = list(values)
    plain = INERT if deep else PLAIN
    while work:
        x = work.pop()
        t = type(x)  # (isinstance would ask `x.__class__`, which may run code)
        if t in plain:
            continue
        if t.__flags__ & _HEAP and issubclass(t, _CONTAINERS) and _methods_of(t).reads is None:
            _add_methods(found, t, deep, seen)
        if not inside and issubclass(t, _CONTAINERS):
            continue
        if issubclass(t, _SEQUENCES):
            if not plain.issuperset(map(type, x)) and id(x) not in seen:
                seen.add(id(x))
                work.extend(x)
        elif issubclass(t, dict):
            if not (plain.issuperset(map(type, x)) and plain.issuperset(map(type, x.values()))) and id(x) not in seen:
                seen.add(id(x))
                work.extend(x)
                work.extend(x.values())
        elif t is FunctionType:
            _add(found, x)
        elif t is MethodType:
            work.append(x.__func__)
        elif issubclass(t, type):
            _add_methods(found, x, True, seen)
            _add_methods(found, t, deep, seen)
        elif issubclass(t, np.ndarray):
            if x.dtype.kind == "O":
                work.extend(x.flat)
        elif issubclass(t, (iteration.Values, iteration.Items, iteration.Keys)):
            work.append(x._mapping)
        elif t is structure.Names:
            _add_all(found, work, [x.space[name] for name in x.used if name in x.space])
        elif t is np.ufunc:
            _add_all(found, work, _function_of(x))
        elif t is BuiltinFunctionType:
            if type(x.__self__) is not ModuleType:
                work.append(x.__self__)
        elif is_closed(t):
            continue
        elif id(x) not in seen:
            seen.add(id(x))
            if issubclass(t, BaseException):
                work.extend(_arguments(x))
            if deep or not _calculates(x):
                _add_methods(found, t, deep, seen)
                _add_all(found, work, _held(x, t))
    return list(found.values())


_HEAP = 1 << 9


def _add_all(found: dict[int, FunctionType], work: list[Any], values: Iterable[Any]) -> None:
    """What is to be called if it can be."""
    for x in values:
        f = x.__func__ if type(x) is MethodType else x
        if type(f) is FunctionType:
            _add(found, f)
        else:
            work.append(x)


def _function_of(f: np.ufunc) -> list[Any]:
    """The Python function that a ufunc is made of (`obj` of NumPy's PyUFuncObject, which is public), if it is."""
    if not f.__name__.endswith("(vectorized)"):
        return []
    return [ctypes.py_object.from_address(id(f) + _UFUNC_OBJECT).value]


class _UFunc(ctypes.Structure):
    """What NumPy's ufuncobject.h declares, up to `obj`."""

    _fields_ = [
        *((name, ctypes.c_int) for name in ("nin", "nout", "nargs", "identity")),
        *((name, ctypes.c_void_p) for name in ("functions", "data")),
        *((name, ctypes.c_int) for name in ("ntypes", "reserved1")),
        *((name, ctypes.c_void_p) for name in ("name", "types", "doc", "ptr", "obj")),
    ]


_UFUNC_OBJECT = object.__basicsize__ + _UFunc.obj.offset


def _held(x: Any, t: type) -> Iterable[Any]:
    """What an object of a foreign class holds, which may call it."""
    module = str(t.__module__)
    if module.startswith("zyg."):
        return ()
    if issubclass(t, BaseException):  # not where it was raised, with all variables of the functions there
        return [v for v in gc.get_referents(x) if not isinstance(v, (TracebackType, type))]
    if module.partition(".")[0] in foreign.FOREIGN_PACKAGES:
        return list((own_attributes(x) or {}).values())
    methods = _methods_of(t)
    if methods.told:
        return [v for v in (own_attributes(x) or {}).values() if not _is_aside(type(v))]
    if not methods.every:  # not of Python
        return _held_in_c(x)
    return ()


_arguments = vars(BaseException)["args"].__get__  # whatever a class has under that name


def own_streams() -> list[Any]:
    """The standard streams where the user has put something else there: code in C writes to them, too."""
    return [
        x
        for x in (sys.stdout, sys.stderr)
        if type(x) not in _STREAMS and type(x).__module__.partition(".")[0] not in _TERMINALS
    ]


def _is_aside(t: type) -> bool:
    """Whether objects of a class run nothing of the user's for who has them: that which knows all loggers does not, for one logger."""
    return t in INERT or t is _LOCK or (t.__module__ == "logging" and t.__name__ == "Manager")


_STREAMS = frozenset({io.TextIOWrapper, io.StringIO, NoneType})
_TERMINALS = frozenset(
    {"_pytest", "ipykernel", "IPython", "idlelib"}
)  # of classes that stand for one, and let go of text
_LOCK = type(threading.RLock())


def _held_in_c(x: Any) -> list[Any]:
    """What an object of C code holds, by the garbage collector, also in lists and tuples. C code may have made these for itself
    and left places in them empty (`xml.etree.ElementTree.TreeBuilder` does), and to read such a place kills the interpreter; the
    collector passes over them."""
    found: list[Any] = []
    seen: set[int] = set()
    work = [x]
    while work:
        holder = work.pop()
        if id(holder) in seen:
            continue
        seen.add(id(holder))
        referents = gc.get_referents(holder)
        if INERT.issuperset(map(type, referents)):
            continue
        for v in referents:
            if type(v) is list or type(v) is tuple:
                work.append(v)
            elif type(v) is not dict or "__builtins__" not in v:
                found.append(v)
    return found


def _add(found: dict[int, FunctionType], f: FunctionType) -> None:
    if id(f) not in found and _is_entered(f):
        found[id(f)] = f


def _is_entered(f: FunctionType) -> bool:
    return not f.__code__.co_flags & 0x280 and is_followed(f)


def is_followed(f: FunctionType) -> bool:
    """Whether what C code calls there is differentiated: it is not of a library that calls nothing of the user's."""
    module = f.__globals__.get("__name__")
    if isinstance(module, str) and module != _OWN and (module.partition(".")[0] in _CLOSED or foreign.is_foreign(f)):
        return False
    if isinstance(module, str) and (
        module in TOLD or module in READ or module.startswith("namedtuple_")
    ):  # where `collections` makes methods
        return False
    try:
        return f not in calls.KNOWN
    except TypeError:
        return True


class _Methods(NamedTuple):
    """Of a class: what it was when its methods were looked at; all of them; the attributes that the special ones read which ask
    something, if they only calculate; and those that are followed, the special ones and all."""

    word: Any  # where its version stands
    version: int
    every: tuple[FunctionType, ...]
    reads: frozenset[str] | None
    special_followed: tuple[FunctionType, ...]
    every_followed: tuple[FunctionType, ...]
    told: bool  # it has methods that only tell something, which run as they are, and use what it holds


_methods: dict[type, _Methods] = {}
_MANY = 2000


def _methods_of(cls: type) -> _Methods:
    known = _methods.get(cls)
    if known is not None and known.word.value == known.version:
        return known
    from zyg.backend.cpython import type_version, version_word

    version = type_version(cls)
    special: list[FunctionType] = []
    every: list[FunctionType] = []
    asking: list[str] = []
    for c in cls.__mro__:
        if not c.__flags__ & _HEAP:
            continue
        for name, held in list(vars(c).items()):
            functions = functions_in(held)
            every += functions
            if name.startswith("__") and name.endswith("__"):
                special += functions
                if name not in _OTHERS and any(map(is_followed, functions)):
                    asking.append(name)
    made = _Methods(
        version_word(cls),
        version,
        tuple(every),
        read_by(cls, asking),
        tuple(filter(_is_entered, special)),
        tuple(filter(_is_entered, every)),
        any(c.__module__ in TOLD or c.__module__ in READ for c in cls.__mro__),
    )
    if len(_methods) > _MANY:
        _methods.clear()
    if version and not _passing(cls):
        _methods[cls] = made
    return made


def read_by(cls: type, names: Iterable[str]) -> frozenset[str] | None:
    """The attributes that special methods of a class read, of its instances, directly or by what they call; None if they do anything
    but calculate, or may give something that carries a derivative."""
    work = [(name, True) for name in names]
    looked_at = set(work)
    reads: set[str] = set()

    def look_at(more: Iterable[str], special: bool) -> None:
        for name in more:
            if (name, special) not in looked_at:
                looked_at.add((name, special))
                work.append((name, special))

    while work:
        name, special = work.pop()
        held = arithmetic.find(cls, name)
        if special and (held is None or type(held) in _OF_C):
            continue
        functions = functions_in(held)
        if not functions:
            return None
        for f in functions:
            if not is_followed(f):
                continue
            asked = asked_by(f, PLAIN)
            if asked is None or asked.gives_objects and not asked.gives_constants:
                return None
            if special and (name in _COMPARED or name not in _OTHERS) and not asked.gives_constants:
                return None
            for read in asked.reads - reads:
                found = arithmetic.find(cls, read)
                if type(found) is property:
                    look_at((read,), False)
                elif found is not None and type(found) not in _READ_PLAINLY:
                    return None
            reads |= asked.reads
            look_at(asked.special, True)
            look_at(asked.called, False)
    return frozenset(reads)


_COMPARED = frozenset(f"__{name}__" for name in "lt le eq ne gt ge".split())
# What stands in a class for a special method that runs no code of the class, and what is read from a class without running any.
_OF_C = frozenset({WrapperDescriptorType, MethodDescriptorType, BuiltinFunctionType, NoneType})
_READ_PLAINLY = PLAIN | {staticmethod, classmethod, MemberDescriptorType, GetSetDescriptorType} | _OF_C


def _passing(cls: type) -> bool:
    """Whether a class was made in a function: it is not kept."""
    return "<locals>" in cls.__qualname__


def _add_methods(found: dict[int, FunctionType], cls: type, every: bool, seen: set[int]) -> None:
    if id(cls) not in seen:
        seen.add(id(cls))
        known = _methods_of(cls)
        for f in known.every_followed if every else known.special_followed:
            found[id(f)] = f


def _calculates(x: Any) -> bool:
    """Whether the special methods that ask an object something do nothing but calculate with attributes of plain types."""
    known = _methods_of(type(x))
    if known.reads is None or not known.every:
        return False
    held = own_attributes(x)
    if type(held) is dict:
        if not PLAIN.issuperset(map(type, held.values())):
            return False
        if not all(type(held.get(name)) in INERT for name in known.reads):
            return False  # it may hold a function in the place of a method
        if not type(x).__dictoffset__:
            return True
    names = structure.fields_of(x) if held is None or has_plainly(type(x), "__slots__") else ()
    return all(type(getattr(x, name, None)) in PLAIN for name in names)


# ------------------------------------------------------------------------------------------------------------------ keys


def check_key(key: Any) -> None:
    """Refuse what is about to be a key of a dict or set, or is looked for there, if that runs code that changes something: the
    reverse pass asks for the hash of a key, too."""
    t = type(key)
    if t in PLAIN or (t in HASHED and t is not tuple):
        return
    if t is tuple or t is frozenset:
        for part in key:
            check_key(part)
        return
    found: dict[int, FunctionType] = {}
    # (What is found by identity is compared with nothing else.)
    for name in ("__hash__", "__eq__") if arithmetic.find(t, "__hash__") is not object.__hash__ else ():
        for f in functions_in(arithmetic.find(t, name)):
            _add(found, f)
    for f in found.values():
        if changes(f, t):
            raise Unsupported(
                f"a key of a dict or set whose `{f.__name__}` changes something, in code that is differentiated through Python",
                foreign.position_of(foreign.caller()),
                hint="let it calculate only, or use a list, or another key",
            )
    from ..python import knowledge

    knowledge.note_class(t)
    note(HASHED, t, (t,))


def check_keys(*keys: Any) -> None:
    """The same for the keys of a display."""


@calls.known(check_keys, exact=True)
def _check_keys(*keys: Any) -> tuple[Any, Any]:
    for key in keys:
        if type(key) not in PLAIN:
            check_key(key)
    return None, None


__all__ = ["INERT", "PLAIN", "SIZED", "check_key", "check_keys", "entered", "is_followed", "read_by"]
