"""What is known of classes and functions, as long as these are as they were, and no longer than they are wanted.

Emitted code relies on what has been found out about them: which attributes may be read plainly, what a method is. Whoever keeps
such things notes what they are about (`note_class`, `note_code`) and says how to forget them (`forgets`). Before a pullback is made
all is forgotten if something is no longer as it was (`revalidate`); what is not there for good goes when it has been made (`release`).
"""

from __future__ import annotations

import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from ctypes import addressof, c_uint32
from operator import is_
from struct import pack
from types import CodeType, FunctionType
from typing import Any

from zyg.backend import pulls
from zyg.backend.cpython import FUNCTION_CODE, FUNCTION_DEFAULTS, type_version, version_word
from zyg.backend.phrases import forget_hashed

from ..identity import lasts, let_go, note
from ..objects import anew, attributes, calls, classes, queries
from ..objects.arithmetic import find
from ..objects.classes import without_flow
from ..objects.cotangents import INERT, VALUES

HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE

_when_changed: list[Callable[[], None]] = []
_when_made: list[Callable[[], None]] = []


def forgets(function: Callable[[], None]) -> Callable[[], None]:
    """The decorated function forgets what has been found out."""
    _when_changed.append(function)
    return function


def lets_go(function: Callable[[], None]) -> Callable[[], None]:
    """The decorated function lets go of what is there for one pullback only."""
    _when_made.append(function)
    return function


def is_of_python(cls: type) -> bool:
    """Whether a class and all its bases are made by class statements."""
    return all(c is object or c.__flags__ & HEAP_TYPE for c in cls.__mro__)


def has_plain_shadow(cls: type) -> bool:
    """Whether instances have shadows, and attributes as those of other classes made by class statements: these may be derived from
    containers or text, too."""
    return all(c in _BASES or c.__flags__ & HEAP_TYPE for c in cls.__mro__)


_BASES = frozenset({object, list, dict, set, deque, OrderedDict, defaultdict, str, bytes}) | classes.EXCEPTIONS


def is_of_values(cls: type) -> bool:
    """Whether what is of a class is a value, as that of a builtin class which it is derived from, with a cotangent that flows, and
    attributes are found in Python's usual way."""
    return (
        not _VALUES.isdisjoint(cls.__mro__)
        and all(c is object or c in _VALUES or c.__flags__ & HEAP_TYPE for c in cls.__mro__)
        and attributes.plain_lookup(cls)
        and find(cls, "__getattr__") is None
    )


_VALUES = frozenset({tuple, float, int, complex})


# What is of exactly these types has no cotangent that flows: it carries nothing, or has a shadow.
_WITHOUT_FLOW = frozenset({list, dict, set, deque}) | INERT
without_flow.update(_WITHOUT_FLOW)


def flows(kind: type) -> bool:
    """Whether what is of a type may have a cotangent that flows; other types are in `without_flow` from now on."""
    if kind in without_flow:
        return False
    if (
        find(kind, "__new__") is not object.__new__  # as classes of C code may be anything
        or not has_plain_shadow(kind)
        or not VALUES.isdisjoint(kind.__mro__)
        or type(find(kind, "__call__")) not in (type(None), FunctionType)
    ):
        return True
    note_class(kind)
    note(without_flow, kind, (kind,))
    return False


def is_plain(f: Any) -> bool:
    return type(f) is FunctionType and is_permanent(f)


def is_permanent(f: FunctionType) -> bool:
    """Whether a function holds nothing that it would be wrong to keep: no closure, but for the class of `super`."""
    return f.__closure__ is None or f.__code__.co_freevars == ("__class__",) or lasts(f)


# What has been found out holds as long as these are as they were: classes by their version, or else by what stands in them,
# functions by their code.
# Where the version stands, what it was, and the content; None of a class that was made anew, and is not there for long.
_classes: dict[type, tuple[c_uint32, int, list[Any] | None]] = {}
_codes: dict[FunctionType, tuple[CodeType, Any]] = {}
_MANY = 1000
_settled = 0  # how many classes and functions were known when it was last looked whether they are still there


def note_class(cls: type) -> None:
    if cls not in _classes:
        known = anew.about(cls)
        if known is not None:
            _note(_classes, cls, (known.word, known.version, None))
        else:
            _note(_classes, cls, (version_word(cls), type_version(cls), _content(cls)))


def note_code(f: FunctionType) -> None:
    if f not in _codes:
        _note(_codes, f, (f.__code__, f.__defaults__))


def _note(table: dict[Any, Any], x: Any, value: Any) -> None:
    if note(table, x, (x,), value):
        _lasting.append(x)
    else:
        note(_loose, x, (x,))


def note_set_plainly(cls: type, name: str) -> None:
    """`object.__setattr__` sets this attribute of instances itself."""
    if is_of_python(cls) and type(name) is str:
        note_class(cls)
        note(classes.plainly_set.setdefault(name, set()), cls, (cls,))


def _content(cls: type) -> list[Any]:
    """The names and what stands under them, of a class and its bases, but for `object`; of numbers the type."""
    held = [x for c in cls.__mro__[:-1] for part in (c.__dict__, c.__dict__.values()) for x in part]
    return [type(x) if type(x) in (float, int) else x for x in held]


# All these, as far as they are there for good; and those that are not, or are classes that change without making a difference.
_lasting: list[Any] = []
_loose: dict[Any, None] = {}
# What `runtime/standing.py` looks at: pairs of an address and the 32 bits that stood there, of those that last, and these themselves.
_table: tuple[bytes, list[Any]] | None = None
_stands = pulls.deferred("stands", lambda words: False, start=pulls.STANDING)
pulls.STANDING.when_started(lambda: pulls.settle(_stands, "zyg_stands", part="standing"))


def revalidate() -> None:
    """Forget what was found out if a class or a function that it is about is no longer as it was (or if it is about very many,
    which would all be kept)."""
    global _table
    table = _table  # (it holds whose memory is looked at, whatever other threads do)
    if table is not None and len(table[1]) == len(_lasting) and _stands(table[0]):
        if _loose and not all(map(_is_as_it_was, list(_loose))):  # (other threads add to these)
            forget_what_is_known()
        return
    if not all(map(_is_as_it_was, [*_lasting, *_loose])) or len(_codes) + len(_classes) > _MANY:
        forget_what_is_known()
    elif pulls.STANDING.started:
        lasting = list(_lasting)
        _table = _words_of(lasting), lasting
    else:
        _stands(b"")  # which counts


def _is_as_it_was(x: Any) -> bool:
    code = _codes.get(x)
    if code is not None:
        return x.__code__ is code[0] and x.__defaults__ is code[1]
    known = _classes.get(x)
    if known is None:  # another thread has forgotten it
        return True
    word, version, content = known
    if version and word.value == version:
        return True
    present = _content(x)
    if content is None or len(present) != len(content) or not all(map(is_, present, content)):
        return False
    _classes[x] = word, type_version(x), content
    _loose[x] = None
    return True


def _words_of(lasting: list[Any]) -> bytes:
    words: list[int] = []
    for x in lasting:
        if x in _loose:
            continue
        if x in _codes:
            for offset, held in zip((FUNCTION_CODE, FUNCTION_DEFAULTS), _codes[x]):
                at, word = id(x) + offset, 0 if held is None else id(held)
                words += at, word & 0xFFFF_FFFF, at + 4, word >> 32
        elif x in _classes:
            word, version, _ = _classes[x]
            if version:
                words += addressof(word), version
            else:  # there is none
                _loose[x] = None
    return pack(f"{len(words)}Q", *words)


# Classes that were there when the pullbacks that are being made were begun; those that were met since then; numbers of classes
# that have been set since then; and a place per pullback that is being made.
_there_before: weakref.WeakSet[type] = weakref.WeakSet()
_met: list[type] = []
_assigned: set[tuple[type, str]] = set()
# The names of all numbers of classes that differentiated code has set at some time: it most likely does so again.
_set_before: weakref.WeakKeyDictionary[type, set[str]] = weakref.WeakKeyDictionary()
_relied_on: set[tuple[type, str]] = set()  # numbers that have been taken for constants
_running: list[None] = []


def is_constant_number(owner: type, name: str) -> bool:
    """Whether a number that a class holds was there before all of what is being differentiated, and has not been set since."""
    if owner not in _there_before:
        _met.append(owner)
        return False
    if name in _set_before.get(owner, ()):
        return False
    _relied_on.add((owner, name))
    return True


def was_there_before(owner: type) -> bool:
    """Whether a class was there before all of what is being differentiated, as far as is known."""
    return owner in _there_before


def begin() -> None:
    """A pullback is about to be made."""
    _running.append(None)


def _end() -> None:
    _running.pop()
    if not _running:
        if _met:
            _there_before.update(_met)
            _met.clear()
        _assigned.clear()


def changes(x: Any, name: str, value: Any = None) -> None:
    """Differentiated code is about to set, or delete, an attribute of a class, or the code of a function."""
    if isinstance(x, FunctionType):
        if name in ("__code__", "__defaults__"):
            forget_what_is_known()
        return
    _set_before.setdefault(x, set()).add(name)
    if not (type(value) in (float, int) and type(x.__dict__.get(name)) in (float, int)):
        forget_what_is_known()
    elif (x, name) not in _assigned:
        # A number in the place of a number makes no difference but for instances that take it for theirs.
        _assigned.add((x, name))
        if (x, name) in _relied_on:
            forget_what_is_known()


def forget_what_is_known() -> None:
    from .compile import forget_callees

    global _table
    for forget in _when_changed:
        forget()
    without_flow.intersection_update(_WITHOUT_FLOW)
    classes.plainly_set.clear()
    anew.forget()
    _relied_on.clear()
    _classes.clear()
    _codes.clear()
    _lasting.clear()
    _loose.clear()
    _table = None
    forget_hashed()
    queries.forget_classes()
    calls.forget_made()
    forget_callees()


def release() -> None:
    """Let go of classes and functions that are not there for good, and of what closures captured: a pullback has been made."""
    global _settled
    _end()
    for go in _when_made:
        go()
    let_go()
    if len(_classes) + len(_codes) != _settled:
        # Where there is a new one, it may have come in the place of another.
        if not all(map(lasts, [*_classes, *_codes])):
            forget_what_is_known()
        _settled = len(_classes) + len(_codes)
