"""The native callable type, whose instances Python calls at the cost of a C function.

An instance has a vectorcall function, a dispatcher (a Python callable) and a chain of entries.  A call tries the
entries in order; where none fits, the dispatcher gets the arguments.  It may compile, and put a new entry in front with
`set_entries`.  Instances take attributes and weak references, bind as methods, and take part in garbage collection.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import cpython as layout
from .llvm.engine import engine
from .llvm.native import Native
from .llvm.runtime import CALLABLE, GUARD, RECORD

Guard = tuple[Any, ...]

_FLAGS = (1 << 18) | (1 << 14) | (1 << 11) | (1 << 7)  # default, GC, vectorcall, no instantiation from Python
_Slots = {"call": 50, "clear": 51, "dealloc": 52, "traverse": 71, "members": 72, "getset": 73}


class _Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("value", ctypes.c_void_p)]


class _Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int), ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    ]  # fmt: skip


class _Member(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("type", ctypes.c_int), ("offset", ctypes.c_ssize_t), ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]  # fmt: skip


class _GetSet(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("get", ctypes.c_void_p), ("set", ctypes.c_void_p), ("doc", ctypes.c_char_p),
        ("closure", ctypes.c_void_p),
    ]  # fmt: skip


def _api(name: str) -> int | None:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value


_keep: list[Any] = []  # what the type refers to, for the life of the process
_type: type | None = None


def callable_type() -> type:
    """The type `zyg.Compiled`, made at first use."""
    global _type
    if _type is None:
        _type = _make_type()
    return _type


def _make_type() -> type:
    core = engine().part("callables")
    read_only, word = 1, 19  # READONLY, T_PYSSIZET
    offsets = (
        (b"__vectorcalloffset__", CALLABLE.vectorcall),
        (b"__dictoffset__", CALLABLE.dict),
        (b"__weaklistoffset__", CALLABLE.weakrefs),
    )
    members = (_Member * (len(offsets) + 1))(*(_Member(n, word, o, read_only, None) for n, o in offsets))
    getset = (_GetSet * 2)(
        _GetSet(b"__dict__", _api("PyObject_GenericGetDict"), _api("PyObject_GenericSetDict"), None, None)
    )
    values = {
        "members": ctypes.addressof(members),
        "getset": ctypes.addressof(getset),
        "call": _api("PyVectorcall_Call"),
        "traverse": core["zyg_traverse"],
        "clear": core["zyg_clear"],
        "dealloc": core["zyg_dealloc"],
    }
    slots = (_Slot * (len(values) + 1))(*(_Slot(_Slots[name], value) for name, value in values.items()))
    spec = _Spec(b"zyg.Compiled", CALLABLE.size, 0, _FLAGS, slots)
    last = (ctypes.c_uint64 * (RECORD.size // 8))()  # the record at the end of every chain
    last[RECORD.code // 8] = core["zyg_dispatch"]
    _keep.extend((core, members, getset, slots, spec, last))
    global _last_record
    _last_record = ctypes.addressof(last)
    make = ctypes.pythonapi.PyType_FromSpec
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p]
    cls = make(ctypes.addressof(spec))
    cls.__get__ = _bind
    cls.__repr__ = _represent
    cls.__reduce__ = _reduce
    return cls


_last_record = 0


def _bind(self: Any, instance: object, owner: type | None = None) -> Any:
    return self if instance is None else types.MethodType(self, instance)


def _represent(self: Any) -> str:
    name = self.__dict__.get("__qualname__") or self.__dict__.get("__name__") or "?"
    return f"<compiled function {name}>"


def _reduce(self: Any) -> str:
    """Pickled by name, like a function."""
    return self.__dict__["__qualname__"]


def is_callable_object(value: object) -> bool:
    return _type is not None and type(value) is _type


def new_callable(dispatcher: Callable[..., Any], name: str, **attributes: Any) -> Any:
    """A callable that has no native code yet: each call goes to `dispatcher`.

    `attributes` are set on it (`__doc__`, `__wrapped__`, ...).
    """
    cls = callable_type()
    allocate = ctypes.pythonapi.PyType_GenericAlloc
    allocate.restype, allocate.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_ssize_t]
    result = allocate(cls, 0)
    core = engine().part("callables")
    _put(result, CALLABLE.record, _last_record)
    _put(result, CALLABLE.vectorcall, core["zyg_vectorcall"])
    _put_object(result, CALLABLE.dispatcher, dispatcher)
    result.__name__ = name
    result.__qualname__ = attributes.pop("__qualname__", name)
    result.__module__ = attributes.pop("__module__", None)
    for key, value in attributes.items():
        setattr(result, key, value)
    return result


def _put(target: object, offset: int, word: int) -> None:
    ctypes.c_uint64.from_address(id(target) + offset).value = word


def _put_object(target: object, offset: int, value: object) -> None:
    """Store a new reference; what was there is kept until no native call is under way."""
    place = ctypes.c_void_p.from_address(id(target) + offset)
    if place.value:
        old = ctypes.cast(place.value, ctypes.py_object).value
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(old))
        e = engine()
        if e.running.value:
            e.graveyard.append(old)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
    place.value = id(value)


class Entry:
    """Native code for one specialisation of one callable: the code, and the record that it reads.

    `expected[k]` are the watched words as they were when all guards held; `zyg_revalidate` brings them up to date.
    """

    def __init__(
        self,
        native: Native,
        names: Sequence[str] = (),
        *,
        defaults: Mapping[str, Any] | None = None,
        guards: Sequence[Guard] = (),
        inputs: Sequence[tuple[Any, ...]] = (),
        positional_only: int = 0,
        keyword_only: int = 0,
    ):
        self.native = native
        count = len(native.signature.parameters)
        assert not names or len(names) == count, "a name for each parameter"
        self._objects: list[Any] = [native]  # keeps alive what the record points to
        places = (ctypes.c_void_p * max(1, len(inputs)))()
        rows, watch = _guard_rows(guards, inputs, places, self._objects)
        assert not (rows or watch) or native.signature.guarded, "the code was compiled without guards"
        table = (ctypes.c_uint64 * max(1, 5 * len(rows)))(*(word for row in rows for word in row))
        pairs = (ctypes.c_uint64 * max(1, 2 * len(watch)))()
        for k, address in enumerate(watch):
            pairs[2 * k] = address
            pairs[2 * k + 1] = ctypes.c_uint64.from_address(address).value
        interned = [sys.intern(n) for n in names] or [""] * count
        name_table = (ctypes.c_void_p * max(1, count))(*map(id, interned))
        values = [(defaults or {}).get(n, _MISSING) for n in interned]
        default_table = (ctypes.c_void_p * max(1, count))(*(None if v is _MISSING else id(v) for v in values))
        self._objects += [places, table, pairs, interned, name_table, values, default_table]
        words = {
            RECORD.code: native.address(),
            RECORD.next: _last_record,
            RECORD.watch_count: len(watch),
            RECORD.watch: ctypes.addressof(pairs),
            RECORD.guard_count: len(rows),
            RECORD.guards: ctypes.addressof(table),
            RECORD.inputs: ctypes.addressof(places),
            RECORD.parameter_count: count,
            RECORD.positional_count: count - keyword_only,
            # Without names nothing can be passed by keyword.
            RECORD.positional_only: positional_only if names else count,
            RECORD.names: ctypes.addressof(name_table),
            RECORD.defaults: ctypes.addressof(default_table),
        }
        self._record = (ctypes.c_uint64 * (RECORD.size // 8))()
        for offset, word in words.items():
            self._record[offset // 8] = word
        self._pairs = pairs
        if not self.revalidate():
            raise ValueError("a guard does not hold for the code that is being installed")

    @property
    def address(self) -> int:
        """Of the record."""
        return ctypes.addressof(self._record)

    def revalidate(self) -> bool:
        """Check the guards now; the hidden inputs are fetched again."""
        check = ctypes.PYFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(engine().part("entries")["zyg_revalidate"])
        return check(self.address)

    def set_next(self, record: int) -> None:
        self._record[RECORD.next // 8] = record


class _Missing:
    pass


_MISSING = _Missing()


def _guard_rows(
    guards: Sequence[Guard], inputs: Sequence[tuple[Any, ...]], places: Any, keep: list[Any]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """The guards as the runtime reads them, and the addresses of the words that tell when to look."""
    rows: list[tuple[int, ...]] = []
    watch: dict[int, None] = {}

    def dict_has(table: dict[str, Any], name: str, expected: object = _MISSING, place: int = 0) -> None:
        name = sys.intern(name)
        keep.extend((table, name, expected))
        rows.append((GUARD.name, id(table), id(name), 0 if expected is _MISSING else id(expected), place))
        watch[_version(table)] = None

    def dict_lacks(table: dict[str, Any], name: str) -> None:
        name = sys.intern(name)
        keep.extend((table, name))
        rows.append((GUARD.absent, id(table), id(name), 0, 0))
        watch[_version(table)] = None

    def word_is(address: int, expected: int) -> None:
        rows.append((GUARD.word, address, 0, expected, 0))
        watch[address] = None

    for kind, *rest in guards:
        if kind == "global":
            dict_has(*rest)
        elif kind == "builtin":
            globals_, builtins_, name, expected = rest
            dict_lacks(globals_, name)
            dict_has(builtins_, name, expected)
        elif kind == "absent":
            dict_lacks(*rest)
        elif kind == "attr":
            owner, name, expected = rest
            dict_has(_namespace(owner), name, expected)
        elif kind == "lacks":
            owner, name = rest
            dict_lacks(_namespace(owner), name)
        elif kind == "cell":
            cell, expected = rest
            keep.extend((cell, expected))
            word_is(id(cell) + layout.CELL_CONTENTS, id(expected))
        elif kind == "word":
            word_is(*rest)
        else:
            raise ValueError(f"unknown kind of guard: {kind}")
    for k, (kind, container, *name) in enumerate(inputs):
        if kind == "cell":
            keep.append(container)
            places[k] = id(container)
        else:
            dict_has(container, name[0], place=ctypes.addressof(places) + 8 * k)
    return rows, list(watch)


def _namespace(owner: Any) -> dict[str, Any]:
    """The dict that holds the attributes of a module, an instance or a class itself."""
    names = vars(owner)
    # A class shows a proxy, made anew each time; the dict is behind it.
    return names if isinstance(names, dict) else gc.get_referents(names)[0]


def _version(table: dict[str, Any]) -> int:
    """The address of the word that changes whenever the dict does."""
    return id(table) + layout.DICT_VERSION


def set_entries(target: Any, entries: Sequence[Entry]) -> None:
    """Install native code: calls try `entries` in this order, then the dispatcher."""
    following = _last_record
    for entry in reversed(entries):
        entry.set_next(following)
        following = entry.address
    _put(target, CALLABLE.record, following if entries else _last_record)
    _put_object(target, CALLABLE.entries, tuple(entries))


__all__ = ["Entry", "callable_type", "is_callable_object", "new_callable", "set_entries"]
