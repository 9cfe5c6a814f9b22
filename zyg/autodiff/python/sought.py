"""Attributes that are asked for because they may be missing: `hasattr(x, name)`, `getattr(x, name, default)`.

Where a `__getattr__` only looks whether it knows the name, in a dict that the object holds or in another object that it asks in turn,
nothing is to be undone of that, and an AttributeError is seen by nobody: CPython does it as it is.
"""

from __future__ import annotations

import builtins
import inspect
from collections import OrderedDict
from types import CodeType, FunctionType, GetSetDescriptorType
from typing import Any, NamedTuple

from zyg.errors import Unsupported
from zyg.frontend.capture import capture
from zyg.ir.core import Const, Function, Instr, Value

from ..identity import ByIdentity, note
from ..objects import attributes
from ..objects.arithmetic import find
from . import accesses
from .knowledge import forgets, has_plain_shadow, note_class, note_code


class Asks(NamedTuple):
    """What a `__getattr__` that only looks for a name does."""

    read: frozenset[str]  # the attributes of the object that it reads
    looked_into: frozenset[str]  # those whose items it looks for, by hash
    looks_into_itself: bool
    asked: frozenset[
        tuple[str, str | None]
    ]  # those that it asks for an attribute: of which name, None: the one that it looks for
    builtins: frozenset[str]


class _Class(NamedTuple):
    asks: Asks
    names: dict[str, Any]  # the global variables of its `__getattr__`


_LOOKED_INTO = frozenset({dict, set, frozenset, OrderedDict, str})
_DEEPEST = 20  # how many objects are asked by each other

_of_codes = ByIdentity()  # what was found, False where it may do more
_of_classes: dict[type, _Class | None] = {}


@forgets
def _forget() -> None:
    _of_classes.clear()


def changes_nothing(x: Any, name: Any, further: int = _DEEPEST) -> bool:
    """Whether nothing changes where `x` is asked for an attribute by `getattr` or `hasattr`, and it gives nothing but what was there
    before, or raises AttributeError; as far as that can be found out quickly."""
    cls = type(x)
    found = _of_classes.get(cls)
    if found is None:
        if cls in _of_classes or find(cls, "__getattr__") is None:
            return False
        found = _about(cls)
        note_class(cls)
        note(_of_classes, cls, (cls,), found)
        if found is None:
            return False
    if type(name) is not str or find(cls, name) is not None:
        return False
    held = x.__dict__
    if name in held:
        return True
    asks, names = found
    for attribute in asks.read:
        if attribute not in held:
            return False
    for attribute in asks.looked_into:
        if type(held[attribute]) not in _LOOKED_INTO:
            return False
    for builtin in asks.builtins:
        if builtin in names:
            return False
    for attribute, of in asks.asked:
        other, wanted = held[attribute], name if of is None else of
        if not _is_there_or_not(other, wanted) and not (further and changes_nothing(other, wanted, further - 1)):
            return False
    return True


def _is_there_or_not(x: Any, name: str) -> bool:
    """Whether no code runs to find that out."""
    return x is None or accesses.reads_plainly(x, name) or not attributes.may_run_code(x, name)


def _about(cls: type) -> _Class | None:
    method = find(cls, "__getattr__")
    if type(method) is not FunctionType or not attributes.plain_lookup(cls) or not has_plain_shadow(cls):
        return None
    if type(find(cls, "__dict__")) is not GetSetDescriptorType or find(cls, "__class__") is not _CLASS:
        return None
    asks = _of_codes.of(method.__code__)
    if asks is None:
        asks = _what_is_asked(method.__code__) or False
        _of_codes.note(method.__code__, asks)
    if not asks or any(find(cls, name) is not None for name in asks.read):
        return None
    if asks.looks_into_itself and not _has_items_of_dict(cls):
        return None
    note_code(method)
    return _Class(asks, method.__globals__)


def _has_items_of_dict(cls: type) -> bool:
    of_dict = all(find(cls, name) is getattr(dict, name) for name in ("__getitem__", "__contains__"))
    return of_dict and find(cls, "__missing__") is None


_CLASS = object.__dict__["__class__"]

# Of what values of a `__getattr__` are, as far as it matters.
_OBJECT, _NAME, _DICT, _CLASS_OF, _TRUTH, _TEXT, _ANYTHING, _RAISED = (
    "the object", "the name", "the dict of the object", "the class of the object", "a truth value", "text", "anything", "an exception",
)  # fmt: skip
_PARTS_OF_TEXT = frozenset({_NAME, _TEXT, _TRUTH})
_NOTHING_RUNS = frozenset("jump branch is is_not push_exception pop_exception reraise return".split())
_OF_TEXT = frozenset(
    "startswith endswith lower upper strip lstrip rstrip removeprefix removesuffix isupper islower isdigit isidentifier replace".split()
)


class _Held(NamedTuple):
    """What an object holds."""

    attribute: str


class _Builtin(NamedTuple):
    name: str


class _Method(NamedTuple):
    """A method of text."""

    name: str


def _what_is_asked(code: CodeType) -> Asks | None:
    """None if the function may do more than to look for a name.

    >>> def by_name(self, name):
    ...     if name in self.known:
    ...         return self.known[name]
    ...     return getattr(self.parent, name)
    >>> asks = _what_is_asked(by_name.__code__)
    >>> asks.looked_into, asks.asked
    (frozenset({'known'}), frozenset({('parent', None)}))
    >>> _what_is_asked((lambda self, name: self.known.setdefault(name, 1.0)).__code__)
    """
    if code.co_argcount != 2 or code.co_kwonlyargcount or code.co_freevars or code.co_flags & _OTHER_FORMS:
        return None
    try:
        function = capture(code)
    except Unsupported:
        return None
    try:
        return _Reading(function).asks()
    except _DoesMore:
        return None


_OTHER_FORMS = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


class _DoesMore(Exception):
    pass


class _Reading:
    """What the instructions of a function do."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.makers = {r: i for _, i in function.instructions() for r in i.results}
        self.read: set[str] = set()
        self.looked_into: set[str] = set()
        self.looks_into_itself = False
        self.asked: set[tuple[str, str | None]] = set()
        self.builtins: set[str] = set()
        self._kinds: dict[Value, Any] = dict(zip(function.params, (_OBJECT, _NAME)))

    def asks(self) -> Asks:
        for _, instr in self.function.instructions():
            self.of_instruction(instr)
        return Asks(
            frozenset(self.read),
            frozenset(self.looked_into),
            self.looks_into_itself,
            frozenset(self.asked),
            frozenset(self.builtins),
        )

    def kind(self, v: Any) -> Any:
        if isinstance(v, Const):
            return _TEXT if type(v.value) is str else _ANYTHING
        if v not in self._kinds:
            made = self.makers.get(v)
            self._kinds[v] = _ANYTHING if made is None else self.of_instruction(made)
        return self._kinds[v]

    def of_instruction(self, instr: Instr) -> Any:
        """What its result is, if it does no more than look."""
        op, operands = instr.op, instr.operands
        if op in _NOTHING_RUNS:
            return _TRUTH if op.startswith("is") else _ANYTHING
        if op in ("checked_local", "unbound"):
            return _ANYTHING
        if op == "global" and hasattr(builtins, instr.attrs["name"]):
            self.builtins.add(instr.attrs["name"])
            return _Builtin(instr.attrs["name"])
        if op == "getattr":
            return self._attribute(self.kind(operands[0]), instr.attrs["name"])
        if op == "call_object" and not instr.attrs["keywords"]:
            return self._call(self.kind(operands[0]), operands[1:])
        if op == "truth":
            kind = self.kind(operands[0])
            if kind not in _PARTS_OF_TEXT:
                self._look_into(kind)
            return _TRUTH
        if op == "not" and self.kind(operands[0]) == _TRUTH:
            return _TRUTH
        if op == "contains":
            return self._contains(*operands)
        if op == "getitem":
            return self._item(*operands)
        if op in ("eq", "ne", "format", "string", "add") and all(self.kind(v) in _PARTS_OF_TEXT for v in operands):
            return _TRUTH if op in ("eq", "ne") else _TEXT
        if op == "check_match" and isinstance(self.kind(operands[1]), _Builtin):
            return _TRUTH
        if op == "raise" and (not operands or self.kind(operands[0]) == _RAISED):
            return _ANYTHING
        raise _DoesMore

    def _attribute(self, of: Any, name: str) -> Any:
        if of == _OBJECT:
            return _DICT if name == "__dict__" else _CLASS_OF if name == "__class__" else self._held(name)
        if of in (_NAME, _TEXT) and name in _OF_TEXT:
            return _Method(name)
        if of == _CLASS_OF and name in ("__name__", "__qualname__"):
            return _TEXT
        raise _DoesMore

    def _call(self, callee: Any, args: Any) -> Any:
        if isinstance(callee, _Method) and all(isinstance(v, Const) for v in args):
            return _TRUTH if callee.name.startswith(("is", "starts", "ends")) else _TEXT
        if not isinstance(callee, _Builtin):
            raise _DoesMore
        found = getattr(builtins, callee.name, None)
        if found is type and [self.kind(v) for v in args] == [_OBJECT]:
            return _CLASS_OF
        if found in (getattr, hasattr) and len(args) >= 2:
            of, name = self.kind(args[0]), args[1]
            constant = name.value if isinstance(name, Const) else None
            if isinstance(of, _Held) and (self.kind(name) == _NAME or type(constant) is str):
                self.asked.add((of.attribute, constant))
                return _TRUTH if found is hasattr else _ANYTHING
        if isinstance(found, type) and issubclass(found, Exception) and all(map(self._is_text, args)):
            return _RAISED
        raise _DoesMore

    def _is_text(self, v: Any) -> bool:
        return isinstance(v, Const) or self.kind(v) in _PARTS_OF_TEXT

    def _contains(self, item: Any, container: Any) -> Any:
        if self.kind(item) not in (_NAME, _TEXT):
            raise _DoesMore
        kind = self.kind(container)
        if kind not in (_DICT, _NAME, _TEXT) and not _is_of_text(container):
            self._look_into(kind)
        return _TRUTH

    def _item(self, container: Any, key: Any) -> Any:
        if self.kind(key) not in (_NAME, _TEXT):
            raise _DoesMore
        kind = self.kind(container)
        if kind == _DICT:
            return self._held(key.value) if isinstance(key, Const) else _ANYTHING
        self._look_into(kind)
        return _ANYTHING

    def _held(self, attribute: str) -> _Held:
        self.read.add(attribute)
        return _Held(attribute)

    def _look_into(self, kind: Any) -> None:
        if kind == _OBJECT:
            self.looks_into_itself = True
        elif isinstance(kind, _Held):
            self.looked_into.add(kind.attribute)
        else:
            raise _DoesMore


def _is_of_text(v: Any) -> bool:
    """Whether a constant is text, or a container of text."""
    if not isinstance(v, Const):
        return False
    return type(v.value) is str or (type(v.value) in (tuple, frozenset) and all(type(x) is str for x in v.value))


__all__ = ["changes_nothing"]
