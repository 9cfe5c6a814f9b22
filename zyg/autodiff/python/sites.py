"""Places where something is called: each remembers what was called there last, and its forward half.

Emitted code looks at a `Site` itself, and calls `forward_at` where another callable has come. Of an attribute that is only called
`Methods` tells per class what the call is; of an operator, a table by the types of the operands.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from functools import cache, partial
from random import Random
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from zyg.backend.pullbacks import KNOWN_AT
from zyg.rules import has_ruled_instances

from .. import objects
from ..identity import lasts, note, taken_out
from ..objects import calls, classes, foreign_calls, numpy_shortcuts, spreading
from ..objects.adapters import adapter, compiled, of_local
from ..objects.arithmetic import find
from ..objects.cotangents import DATES
from ..objects.passing import passes
from ..trying import bodies
from .bound import call_known_method, call_known_method_with_names, forward_of_method
from .constructors import by_type, constructor, constructor_of_new, makes_empty
from .knowledge import (
    HEAP_TYPE,
    has_plain_shadow,
    is_of_python,
    is_of_values,
    is_permanent,
    is_plain,
    lets_go,
    note_class,
    note_code,
)


def nobody() -> None:
    """Stands for no callee. (It is not a constant like others, so that the sites of a code object stay apart.)"""


class Methods(dict):
    """What a call of the method `name` with so many arguments is, by the type of the object: a function of it and of the
    arguments, that gives value and pullback; PLAIN where the method is read as an attribute, and then called. (Without a `__dict__`
    its methods are found faster.) `checked`: who looks here finds out whether an object has the attribute of its own."""

    __slots__ = ("__qualname__", "checked", "name", "of_builtin", "of_classes")
    __module__ = __name__

    def __init__(self, name: str, arity: int, checked: bool):
        super().__init__()
        self.name = name
        self.checked = checked
        self.of_classes: set[type] = set()  # the classes that hold a method under this name
        self.of_builtin: dict[type, BuiltinFunctionType] = {}  # and builtin classes that have a class method
        self.__qualname__ = f"methods_{name}_{arity}"


methods: dict[tuple[str, int, bool, bool], Methods] = {}

# Whose instances are what their class says, and have no cotangent that flows.
CONTAINERS = (list, dict, set, deque, str, bytes)
# Builtin classes whose methods' handlers say which arguments they take.
_TOLD_BY_COUNT = frozenset({*CONTAINERS, tuple, int, float, complex})


# Methods that are written out, by name and number of arguments: the classes, and the run-time functions.
OF_CONTAINERS = {
    (name, count): tuple([(cls, calls.METHODS[cls, name]) for cls in classes])
    for name, count, classes in (("append", 1, (list, deque)), ("pop", 0, (list, deque)), ("popleft", 0, (deque,)))
}


# `get` of dicts: the run-time function, what runs the pullback of an item that is there, what stands for one that is not, and the
# pullback then.
GET = (
    calls.METHODS[dict, "get"],
    objects.iteration.run_dict_item,
    objects.builtins_.MISSING,
    objects.dict_methods.GET_DEFAULT,
)

# Methods of dicts that give views, by name: the run-time functions.
OF_VIEWS = {name: calls.METHODS[dict, name] for name in ("items", "values", "keys")}


def methods_of(name: str, arity: int, watched: bool, checked: bool) -> Methods:
    """What is known of calls of a method; `watched`: in `try` bodies; `checked`: see `Methods`."""
    way = name, arity, watched, checked
    if way not in methods:
        methods[way] = Methods(name, arity, checked)
    return methods[way]


# (The other one is of methods that are told which class they are of.)
_BUILTIN_METHODS = (BuiltinFunctionType, type(re.compile("").match))

_CALLEES = 16  # how many are remembered per place; so are as many functions that are made anew

# At a call: the callable that was called last and its forward half; the function of the bound method that was called last and its
# forward half, which takes `self` first; and what `begun` notes.
Site = list[Any]


# For places where methods of several classes are called: by function and number of arguments.
_of_methods: tuple[dict[tuple[FunctionType, int], Any], dict[tuple[FunctionType, int], Any]] = {}, {}


_EMPTY = (nobody, None, nobody, None, nobody, None)
_METHOD = slice(2, 4)
# Behind these: forward halves by the identity of further callables, which emitted code looks at; what is known of a method that is
# called; these callables, with their forward halves where they last, and those that are made anew; and, where arguments stand
# behind stars, a place per number of arguments.
_TABLE, _MANY_AT, _ANEW_AT, _SIZES_AT = range(KNOWN_AT + 1, KNOWN_AT + 5)
# Functions of the library that no rule has taken the place of, as far as that was asked.
as_they_are: set[Any] = set()

# The places where anything may be noted: few of all that there are, in programs that change their classes and functions.
_filled: dict[int, Site] = {}
_MOST = 10_000
_passing: list[Site] = []  # sites that hold what is there for one pullback only
_passing_functions: list[Site] = []  # sites that hold functions which are made anew


def new_site(table: Methods | None = None) -> Site:
    """A place of a call; `table`: for methods that are read there."""
    return [*_EMPTY, {}, table, {}, []]


@lets_go
def _let_go() -> None:
    for site in taken_out(_passing):
        _clear(site)
    for site in taken_out(_passing_functions):
        site[KNOWN_AT].clear()
        site[_ANEW_AT] = []


def forget_sites() -> None:
    """There are new rules, or something is no longer as it was."""
    for known in (*operators, *methods.values(), *_of_methods):
        known.clear()
    as_they_are.clear()
    for table in methods.values():
        table.of_classes.clear()
        table.of_builtin.clear()
    for site in list(_filled.values()):
        _clear(site)
    _filled.clear()


def fill(site: Site) -> None:
    """Something is about to be noted at a place."""
    if len(_filled) > _MOST:
        forget_sites()
    _filled[id(site)] = site


def _clear(site: Site) -> None:
    site[:KNOWN_AT] = _EMPTY
    for inner in (site[KNOWN_AT], site[_MANY_AT], *site[_SIZES_AT:]):
        inner.clear()
    site[_ANEW_AT] = []


def forward_at(f: Any, site: Site, arity: int) -> Any:
    """The forward half of `f` for `arity` arguments, which the place remembers."""
    t = type(f)
    if t is MethodType and site[2] is not nobody and type(f.__func__) is FunctionType:  # another one than the last
        made = _of_methods[1 if bodies else 0].get((f.__func__, arity))
        if made is not None:
            made = partial(made, f.__self__)
            _keep_for_now(site, f, made)
            return made
    fill(site)
    if t is FunctionType and "<locals>" in f.__qualname__:
        made = of_local(f, arity)
        if made is not None:
            if site[0] is nobody:
                site[:2] = f, made
                _passing.append(site)
            else:
                _keep_for_now(site, f, made)
            return made
    many = site[_MANY_AT]
    if many and t in _BY_IDENTITY:
        known = many.get(f)
        if known is not None:
            site[KNOWN_AT][id(f)] = known
            return known
    if t is type:
        made = constructor_of_new(f, arity)
        if made is not None:
            _remember_class(site, f, made)
            return made
    if t is MethodType and type(f.__func__) not in _BY_IDENTITY:  # an object of the user's, which may have no hash
        return objects.forward_of(f)
    if t is MethodType:
        known = _of_methods[1 if bodies else 0]
        made = known.get((f.__func__, arity))
        if made is not None and site[2] is not nobody:
            made = partial(made, f.__self__)
            _keep_for_now(site, f, made)
            return made
        made = made or forward_of_method(f.__func__, arity + 1)
        if made is None:
            return objects.forward_of(f)
        site[_METHOD] = f.__func__, made
        if not lasts(f.__func__):
            _passing.append(site)
        if is_permanent(f.__func__):
            note_code(f.__func__)
            note(known, (f.__func__, arity), (f.__func__,), made)
            _note_method(f, site[_TABLE], made)
        return partial(made, f.__self__)
    if t is BuiltinFunctionType and calls.is_of_class(f):
        f, forward = calls.of_class(f)
        if not calls.takes(forward, arity):
            return partial(calls.call_wrongly, f)
        if site[0] is nobody:
            site[:2] = f, forward
        return forward
    if t in _BUILTIN_METHODS and type(f.__self__) is not ModuleType and f.__name__ != "__new__":
        if site[_TABLE] is None:  # where no method is read: it was bound elsewhere
            handler = calls.inherited_handler(type(f.__self__), f.__name__)
            if handler is not None:
                return partial(handler, f.__self__)
        forward = objects.forward_of(f)
        if type(f.__self__) is Random and site[0] is nobody:  # a function of the module `random`, most likely
            site[:2] = f, forward
            _passing.append(site)
            return forward
        if type(f.__self__) in _TOLD_BY_COUNT and site[_TABLE] is not None and not calls.takes(forward, arity):
            return partial(calls.call_wrongly, f)  # (others are looked up here each time)
        _note_method_of_builtin(f, site[_TABLE])
        return forward
    if t is MethodWrapperType and type(f.__self__) in CONTAINERS and f.__name__ != "__init__":
        forward = objects.forward_of(f)
        if not calls.takes(forward, arity):
            return partial(calls.call_wrongly, f)
        _note_method_of_builtin(f, site[_TABLE])
        return forward
    if t is partial and not has_ruled_instances(t):
        made = objects.functools_.forward_of_partial(f, arity)
        if made is not None:
            _remember(site, f, made)
            _passing.append(site)
            return made
    known = _of_objects[1 if bodies else 0]
    made = known.get((t, arity))
    if made is not None and t.__call__ is made[1]:
        return partial(made[2], f)
    forward = objects.forward_of(f)
    if (
        type(forward) is partial
        and forward.func is calls.call_object
        and is_of_python(t)
        and not has_ruled_instances(t)
    ):
        noted(known, (t, arity), (t,), t, "__call__", arity + 1, False)
    elif t is FunctionType:
        forward = adapter(f, arity) or forward
        _remember(site, f, forward)
        if not lasts(f):
            _passing.append(site)
        if is_permanent(f):
            note_code(f)
    elif isinstance(f, type) and type(forward) is partial and forward.func is classes.construct:
        made = constructor(f, arity)
        if made is not None:
            _remember_class(site, f, made)
            return made
    elif (
        t is WrapperDescriptorType
        or t is MethodDescriptorType
        or t is BuiltinFunctionType
        or (t is type and not f.__flags__ & HEAP_TYPE)
        or (isinstance(f, type) and t.__hash__ is type.__hash__ and f in calls.KNOWN)
        or t in _OF_NUMPY
    ):
        if not calls.takes(forward, arity):
            return partial(calls.call_wrongly, f)
        if (t is BuiltinFunctionType or t is type) and (f, arity) in calls.SHORT and forward is calls.KNOWN[f]:
            forward = calls.SHORT[f, arity]
        _remember(site, f, forward)
    elif t in calls.GETTERS or (type(forward) is partial and forward.func is objects.stdlib_.call_cached):
        site[:2] = f, forward
        _passing.append(site)
    return forward


def _remember_class(site: Site, f: type, made: Any) -> None:
    if site[0] is nobody or f is site[0]:
        site[:2] = f, made
        if not lasts(f):
            _passing.append(site)
    else:
        _keep_for_now(site, f, made)


def _keep_for_now(site: Site, f: Any, made: Any) -> None:
    """Something that is made anew each time may come again all the same, as what stands in a list or dict does: emitted code looks
    it up. Where others have come too often, it does so no more."""
    known = site[_ANEW_AT]
    if known is None:
        return
    if not known:
        _passing_functions.append(site)
    if len(known) < _CALLEES:
        known.append(f)
        site[KNOWN_AT][id(f)] = made
    else:
        site[KNOWN_AT].clear()
        site[_ANEW_AT] = None


def forward_of_constants(f: Any, site: Site, about: int | tuple[str, ...]) -> Any:
    """The same where no argument carries a derivative: `about` is how many there are, or the names of the last ones, which
    are passed by position."""
    fill(site)
    t = type(f)
    if isinstance(about, tuple):
        of_class = t is type or t is BuiltinFunctionType and calls.is_of_class(f)
        made = _made_of_constants(f, site, about) if of_class else None
        return made or forward_with_names(f, site, about)
    if t is type:
        return _made_of_constants(f, site, ()) or forward_at(f, site, about)
    if t is objects.stdlib_.CACHED:
        made = objects.stdlib_.cached_of_constants(f)
        if made is not None:
            site[:2] = f, made
            _passing.append(site)
            return made
    elif t is BuiltinFunctionType and calls.is_of_class(f):
        return _made_of_constants(f, site, ()) or _of_constants(*calls.of_class(f), site) or forward_at(f, site, about)
    elif t is BuiltinFunctionType and type(f.__self__) is ModuleType:
        return _of_constants(f, objects.forward_of(f), site) or forward_at(f, site, about)
    elif t is MethodType and type(f.__self__) is Random and objects.draws.gives_number(f.__func__):
        made = partial(_draw, f.__func__)
        site[_METHOD] = f.__func__, made
        _passing.append(site)
        return partial(made, f.__self__)
    return forward_at(f, site, about)


def _of_constants(f: Any, forward: Any, site: Site) -> Any:
    """A function of C code that zyg cannot see into."""
    made = foreign_calls.of_constants(forward)
    if made is not None:
        site[:2] = f, made
    return made


def _made_of_constants(f: Any, site: Site, names: tuple[str, ...]) -> Any:
    """What a class, or a class method, makes, if it says what that means; else None."""
    short = getattr(objects.forward_of(f), "of_constants", None)
    if short is None:
        return None
    made = partial(short, names)
    site[:2] = f, made
    return made


@passes()
def _draw(f: Any, draws: Any, *args: Any) -> tuple[Any, Any]:
    if objects.draws.is_as_made(draws):
        return f(draws, *args), None
    return call_known_method(calls.forward_of(f), draws, *args)


# Whose methods are C code's, and whose instances have no attributes of their own.
_BUILTIN = frozenset(CONTAINERS) | DATES | objects.matches.OF_TEXT


_REALS = frozenset({int, float})


def _note_method_of_builtin(f: BuiltinFunctionType | MethodWrapperType, table: Methods | None) -> None:
    """A method bound to an instance of a builtin class, or of one derived from it."""
    if table is None or f.__name__ != table.name:
        return
    if type(f.__self__) in _BUILTIN:
        table[type(f.__self__)] = calls.method_handler_of(f)
    elif type(f.__self__) in _REALS:
        handler = calls.method_handler_of(f)
        if type(handler) is partial and handler.func is objects.builtins_.ask:  # nothing comes back to the number
            table[type(f.__self__)] = handler
    elif type(f.__self__) is np.ndarray:
        shortcut = _shortcut(f)
        if shortcut is not None:
            table[np.ndarray] = shortcut
    else:
        _note_inherited(f, table)


def _shortcut(f: Any) -> Any:
    """What a call of a bound method of an array is, by its short path: a function of the array and the arguments."""
    shortcut = numpy_shortcuts.METHODS.get(f.__name__)
    return shortcut if shortcut is not None and calls.method_handler_of(f) is shortcut else None


def _remember(site: Site, f: Any, forward: Any) -> None:
    """What is called at a place: the first callable is looked at there, further ones here."""
    if site[0] is nobody:
        site[:2] = f, forward
    elif len(site[_MANY_AT]) < _CALLEES:
        site[_MANY_AT][f] = forward
    else:
        site[:2] = f, forward


def _note_inherited(f: Any, table: Methods) -> None:
    """The same for a method that a class has from a builtin class."""
    cls = type(f.__self__)
    if cls not in table or type(find(cls, table.name)) is not MethodDescriptorType:
        return
    if cls.__dictoffset__ == 0 or (table.checked and not bodies):
        handler = calls.inherited_handler(cls, table.name)
        if handler is not None:
            if cls.__dictoffset__ != 0:
                # Another object: emitted code takes the handler itself for that of an object that has no attributes of its own.
                handler = partial(handler)
            note(table, cls, (cls,), handler)


_KEPT = frozenset({FunctionType, BuiltinFunctionType, type})


def _note_method(f: MethodType, table: Methods | None, forward: Any) -> None:
    """A method that nothing but a change of the class can replace, or an attribute of the object, is called without being read."""
    cls = type(f.__self__)
    if table is None or find(cls, table.name) is not f.__func__:
        return
    if cls in table:
        if cls.__dictoffset__ == 0 or (table.checked and not bodies):
            note(table, cls, (cls,), forward)
    elif (
        (cls.__dictoffset__ == 0 or (table.checked and not bodies))
        and is_of_values(cls)  # (then the cotangent of `self` is that of the object)
        and not table.name.startswith("__")
    ):
        note_class(cls)
        note(table, cls, (cls,), forward)


def forward_with_names(f: Any, site: Site, names: tuple[str, ...]) -> Any:
    """What takes the place of `f` where its last arguments have these names, and are passed by position."""
    return partial(record_keywords, site, names, f)


@passes()
def record_keywords(site: Site, names: tuple[str, ...], f: Any, *args: Any) -> tuple[Any, Any]:
    """RECORD["call_keywords"], which remembers the forward half for these keywords."""
    if f is site[0]:
        return site[1](*args)
    t = type(f)
    made: Any
    if t is MethodType and f.__func__ is site[2]:
        return site[3](f.__self__, *args)
    fill(site)
    if t is MethodType:
        if is_plain(f.__func__):
            if calls.known_entry(f.__func__) is not None:
                made = adapter(f.__func__, 1 + len(args) - len(names), names, bound=True)
            elif (handler := calls.handler_of_code(f.__func__)) is not None:
                made = partial(call_known_method_with_names, handler, names)
            else:
                made = None
            if made is not None:
                note_code(f.__func__)
                site[_METHOD] = f.__func__, made
                if not lasts(f.__func__):
                    _passing.append(site)
    elif t is BuiltinFunctionType and type(f.__self__) is np.ndarray:
        made = site[_MANY_AT].get(f.__name__)
        if made is None and _shortcut(f) is not None:
            made = site[_MANY_AT][f.__name__] = passing_names(1 + len(args), names)(_shortcut(f))
        if made is not None:
            return made(f.__self__, *args)
    else:
        made = site[_MANY_AT].get(f) if t in _KEPT or t in _OF_NUMPY else None
        if made is not None:
            return made(*args)
        if t is FunctionType:
            if calls.known_entry(f) is not None:
                made = adapter(f, len(args) - len(names), names)
                if is_permanent(f):
                    note_code(f)
        elif t in _OF_NUMPY or _is_of_c(f, t):
            forward = objects.forward_of(f)
            if not calls.takes(forward, len(args) - len(names), names):
                forward = partial(calls.call_wrongly, f)
            made = passing_names(len(args), names)(forward)
        elif isinstance(f, type):
            made = _constructor_by_name(f, len(args) - len(names), names)
        if made is not None:
            _remember(site, f, made)
            if t not in _OF_NUMPY and not lasts(f):
                _passing.append(site)
            return made(*args)
    if t is BuiltinFunctionType and type(f.__self__) in _TOLD_BY_COUNT:
        split = len(args) - len(names)
        if not calls.takes(objects.forward_of(f), split, names):
            return calls.call_wrongly(f, *args[:split], **dict(zip(names, args[split:])))
    return objects.RECORD["call_keywords"](names, f, *args)


def _constructor_by_name(cls: type, arity: int, names: tuple[str, ...]) -> Any:
    """The forward half of a class that is called with arguments by keyword, too; None for those that are made in another way."""
    forward = objects.forward_of(cls)
    made = type(forward) is partial and forward.func is classes.construct
    return constructor(cls, arity, names) if made else None


def _is_of_c(f: Any, t: type) -> bool:
    """Whether a builtin function, or class, is there for good."""
    return type(f.__self__) is ModuleType if t is BuiltinFunctionType else t is type and not f.__flags__ & HEAP_TYPE


# Universal functions, and those that ask arguments for their own; they last as long as NumPy does.
_OF_NUMPY = frozenset({np.ufunc, type(np.sum)}) - {FunctionType}
_BY_IDENTITY = _KEPT | _OF_NUMPY | {partial}  # what is compared by what it is


@cache
def passing_names(count: int, names: tuple[str, ...]) -> Any:
    """What makes functions of `count` arguments by position, that pass the last ones by these names: written out, since they run at
    each call."""
    arguments = [f"a{k}" for k in range(count)]
    split = count - len(names)
    passed = [*arguments[:split], *[f"{name}={a}" for name, a in zip(names, arguments[split:])]]
    return compiled(
        [
            "def make(forward):",
            f"    def call({', '.join(arguments)}):",
            f"        return forward({', '.join(passed)})",
            "    return call",
        ]
    )


def new_spread_site() -> Site:
    """A place of a call `f(*args)`, which has a place per number of arguments (and names of those by keyword)."""
    return [*new_site(), {}]


_of_tuple: Any = tuple.__iter__


@passes(lambda variables: [(spreading.run_spread_plain, variables["count"])] if "count" in variables else [])
def record_spread(site: Site, f: Any, args: Any, kwargs: Any = None) -> tuple[Any, Any]:
    """RECORD["call_spread"], which remembers the forward half for so many arguments."""
    if type(args) is not tuple or kwargs is not None and type(kwargs) is not dict:
        if type(args) is list and (kwargs is None or type(kwargs) is dict):
            return _record_spread_list(site, f, args, kwargs)
        if type(args) in _WITHOUT_DERIVATIVE and (kwargs is None or type(kwargs) is dict):
            return _record_spread_plain(site, f, args, kwargs)
        if isinstance(args, tuple) and find(type(args), "__iter__") is _of_tuple:
            return record_spread(site, f, tuple(args), kwargs)  # (whose cotangents are a tuple, too)
        return objects.RECORD["call_spread"](f, args, kwargs)
    if kwargs:
        return _record_spread_by_name(site, f, args, kwargs)
    count = len(args)
    known = site[_SIZES_AT].get(count) or _new_size(site, count)
    if f is known[0]:
        y, back = known[1](*args)
    elif type(f) is MethodType:
        function = f.__func__
        method = known[3] if function is known[2] else _of_methods[1 if bodies else 0].get((function, count))
        if method is None:
            y, back = forward_at(f, known, count)(*args)
        else:
            y, back = method(f.__self__, *args)
    else:
        y, back = (known[KNOWN_AT].get(id(f)) or forward_at(f, known, count))(*args)
    return y, None if back is None else (spreading.run_spread_plain, back, count)


@passes(lambda variables: [(spreading.run_spread_list, variables["args"])])
def _record_spread_list(site: Site, f: Any, args: list[Any], kwargs: Any) -> tuple[Any, Any]:
    """The same where the arguments come from a list, which has no cotangent that flows."""
    y, back = record_spread(site, f, tuple(args), kwargs)
    return y, None if back is None else (spreading.run_spread_list, back, args)


# What holds text and ints.
_WITHOUT_DERIVATIVE = frozenset({str, bytes, range})


@passes(lambda variables: [(spreading.run_spread_of_nothing,)])
def _record_spread_plain(site: Site, f: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The same where the arguments come from what carries no derivative."""
    y, back = record_spread(site, f, tuple(args), kwargs)
    return y, None if back is None else (spreading.run_spread_of_nothing, back)


def _new_size(site: Site, shape: Any) -> Site:
    fill(site)
    sizes = site[_SIZES_AT]
    if len(sizes) >= _CALLEES:
        sizes.clear()
    made = sizes[shape] = new_site()
    return made


@passes(lambda variables: _around_spread_by_name(variables))
def _record_spread_by_name(site: Site, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The same where there are arguments by keyword."""
    names = tuple(kwargs)
    shape = len(args), names
    known = site[_SIZES_AT].get(shape)
    if known is None:
        spreading.check_names(names)
        known = _new_size(site, shape)
    if type(f) is MethodType and type(f.__func__) is FunctionType:
        function = f.__func__
        if function is not known[2] and calls.known_entry(function) is not None:
            method = forward_of_method(function, 1 + len(args), names)
            if method is not None:
                fill(known)
                known[_METHOD] = function, method
                if is_permanent(function):
                    note_code(function)
                if not lasts(function):
                    _passing.append(known)
        forward, passed = (known[3], (f.__self__, *args)) if function is known[2] else (None, args)
    else:
        forward = known[1] if f is known[0] else known[_MANY_AT].get(f) if type(f) in _KEPT else None
        passed = args
    if forward is None:
        if type(f) is FunctionType:
            forward = None if calls.known_entry(f) is None else adapter(f, len(args), names)
        elif isinstance(f, type):
            forward = _constructor_by_name(f, len(args), names)
        if forward is not None:
            fill(known)
            _remember(known, f, forward)
            if type(f) is FunctionType and is_permanent(f):
                note_code(f)
            if not lasts(f):
                _passing.append(known)
    if forward is None:
        return objects.RECORD["call_spread"](f, args, kwargs)
    y, back = forward(*passed, *kwargs.values())
    return y, None if back is None else (spreading.run_spread, back, len(args), kwargs, names)


def _around_spread_by_name(variables: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    args, kwargs, names = variables["args"], variables["kwargs"], variables["names"]
    return [] if variables["forward"] is None else [(spreading.run_spread, len(args), kwargs, names)]


# What special methods of classes are, by the types of the operands: whether they are those of the second one, the method, and its
# forward half.
Table = dict[Any, tuple[bool, Any, Any]]
Tables = tuple[Table, Table]
operators: list[Table] = []


def new_tables() -> Tables:
    """A table for plain code, and one for what is called while a `try` body runs."""
    operators.extend(({}, {}))
    return operators[-2], operators[-1]


def noted(table: dict[Any, Any], key: Any, about: tuple[type, ...], cls: type, slot: str, arity: int, of: bool) -> None:
    """Note what a special method of a class is, if it is a plain function."""
    method = find(cls, slot)
    if is_plain(method):
        forward = forward_of_method(method, arity)
        if forward is not None:
            note(table, key, about, (of, method, forward))
            note_code(method)


# Of callable objects: by class and number of arguments.
_of_objects = new_tables()
# Of classes that a metaclass calls: by class, number of arguments, and the names of those by keyword; None where that is not known.
_of_types = new_tables()


def made_by_type(cls: type, count: int, names: tuple[str, ...]) -> Any:
    """The forward half of `type.__call__` for a class, and so many arguments by position and further ones by keyword; None where it is
    not known before it is called."""
    known = _of_types[1 if bodies else 0]
    key = cls, count, names
    if key not in known:
        made = by_type(cls, count, names) if makes_empty(cls) and has_plain_shadow(cls) else None
        note(known, key, (cls,), made)
        note_class(cls)
    return known[key]
