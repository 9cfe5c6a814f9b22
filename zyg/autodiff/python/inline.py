"""What emitted code may do by itself in the place of the run-time functions, and under which test.

An attribute is read plainly where the type of the object is in the set of types for which reading that name runs no code and
gives no bound method with a cotangent; an item, of a list by a natural number. The general function adds to these sets what
it finds out, and `revalidate` empties them where classes have changed.  A callee is looked up once per place: `Site` keeps the last one and its forward half.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterable
from functools import partial
from itertools import count
from operator import is_
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from zyg.backend.cpython import type_version
from zyg.backend.phrases import forget_hashed
from zyg.backend.pulling import in_field
from zyg.backend.recording import PLAIN, nothing
from zyg.ir.core import Const
from zyg.rules import has_ruled_instances

from .. import objects
from ..identity import lasts, let_go, note
from ..objects import attributes, calls, classes, generators, sources
from ..objects.adapters import adapter, constructing
from ..objects.arithmetic import find
from ..objects.cotangents import INERT, NUMERIC, VALUES
from ..objects.iteration import Direct, Entries, Items, Values

MemberDescriptorType = attributes.MemberDescriptorType


# Operations whose reverse is written out where they were done plainly.
ACCESS = frozenset({"getattr", "setattr", "getitem", "setitem", "list_append", "get_cell", "set_cell"})


def is_rare(instr: Any) -> bool:
    """Whether a `record` is mostly done plainly and then records nothing at all."""
    direct = instr.attrs.get("direct")
    if direct is None or direct == "list_append":
        return False
    if "computed" in instr.attrs:
        return False
    if direct == "getitem":  # from the end of a list it notes the position
        key = instr.operands[2]
        return not (isinstance(key, Const) and type(key.value) is int and key.value < 0)
    return True


def nobody() -> None:
    """Stands for no callee. (It is not a constant like others, so that the sites of a code object stay apart.)"""


class Properties(dict):
    """Per class the forward half of the getter, or setter, of a property. (It is equal to itself alone: a constant of code.)"""

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
        self.properties = Properties()


class Methods(dict):
    """What a call of the method `name` with so many arguments is, by the type of the object: a function of it and of the
    arguments, that gives value and pullback; PLAIN where the method is read as an attribute, and then called. (Without a `__dict__`
    its methods are found faster.)"""

    __slots__ = ("__qualname__", "name", "of_classes")
    __module__ = __name__

    def __init__(self, name: str, arity: int):
        super().__init__()
        self.name = name
        self.of_classes: set[type] = set()  # the classes that hold a method under this name
        self.__qualname__ = f"methods_{name}_{arity}"


readable: dict[str, Types] = {}
writable: dict[str, Types] = {}
methods: dict[tuple[str, int], Methods] = {}

# Whose instances are what their class says, and have no cotangent that flows.
_CONTAINERS = (list, dict, set, deque, str, bytes)


def readers(name: str) -> Types:
    """The types whose attribute `name` may be read plainly, as far as is known."""
    if name not in readable:
        readable[name] = Types("readable", name)
    return readable[name]


def writers(name: str) -> Types:
    """The types whose attribute `name` may be set plainly, as far as is known."""
    if name not in writable:
        writable[name] = Types("writable", name)
    return writable[name]


# Methods that are written out, by name and number of arguments: the classes, and the run-time functions.
OF_CONTAINERS = {
    (name, count): tuple([(cls, calls.METHODS[cls, name]) for cls in classes])
    for name, count, classes in (("append", 1, (list, deque)), ("pop", 0, (list, deque)), ("popleft", 0, (deque,)))
}


def methods_of(name: str, arity: int) -> Methods:
    """What is known of calls of a method."""
    if (name, arity) not in methods:
        methods[name, arity] = Methods(name, arity)
    return methods[name, arity]


def record_getattr(x: Any, name: str, types: Types) -> tuple[Any, Any]:
    """RECORD["getattr"], which notes types that may be read plainly."""
    cls = type(x)
    getter = types.properties.get(cls)
    if getter is not None:
        return getter(x)
    if cls is ModuleType:
        if name in vars(x):  # else it may have a `__getattr__`
            types.plain.add(ModuleType)
    elif _reads_plainly(cls, name):
        note_class(cls)
        note(types.plain, cls, (cls,))
    else:
        getter = _getter(cls, name)
        if getter is not None:
            note_class(cls)
            note(types.properties, cls, (cls,), getter)
    return objects.RECORD["getattr"](x, name)


def _getter(cls: type, name: str) -> Any:
    """What reads a property or a field of a named tuple, and gives value and pullback; None for others."""
    if cls is complex or cls in classes.EXCEPTIONS:
        return attributes.attribute_handler(cls, name)
    found = find(cls, name)
    if not attributes.plain_lookup(cls) or issubclass(cls, type):
        return None
    if type(found) is property:
        function: Any = found.fget
        if not is_plain(function) or not is_of_python(cls) or find(cls, "__getattr__") is not None:
            return None
        note_code(function)
        return forward_of_method(function, 1)
    fields = getattr(cls, "_fields", ())
    if type(found).__name__ != "_tuplegetter" or name not in fields:
        return None
    get, back = type(found).__get__, (in_field, fields.index(name), len(fields))
    return lambda x: (get(found, x, cls), back)


def is_plain(f: Any) -> bool:
    return type(f) is FunctionType and _permanent(f)


def record_method(x: Any, name: str, table: Methods) -> tuple[Any, Any]:
    """RECORD["getattr"] of what is only called, which notes types whose methods are read plainly."""
    cls = type(x)
    if cls is super:
        y = getattr(x, name)
        if type(y) is MethodType and type(y.__func__) is FunctionType and VALUES.isdisjoint(type(y.__self__).__mro__):
            return y, None  # of an object that has a shadow
    if cls is type:
        if x in table.of_classes:
            return getattr(x, name), None
        found = type(find(x, name))
        if found in (classmethod, staticmethod, FunctionType) and find(type, name) is None:
            note_class(x)
            note(table.of_classes, x, (x,))
        elif not x.__flags__ & HEAP_TYPE and found in (WrapperDescriptorType, MethodDescriptorType) and _of_it(x, name):
            note(table.of_classes, x, (x,))
    if name in vars(x) if cls is ModuleType else _reads_plainly(cls, name):
        if cls is not ModuleType:
            note_class(cls)
        note(table, cls, (cls,), PLAIN)
    return objects.RECORD["getattr"](x, name)


def _of_it(cls: type, name: str) -> bool:
    """Whether an attribute of a class is its instances' method, and not the one that it has as an instance of `type`."""
    return getattr(cls, name) is find(cls, name)


def record_setattr(x: Any, value: Any, name: str, types: Types) -> Any:
    """RECORD["setattr"], which notes types that may be written plainly."""
    cls = type(x)
    setter = types.properties.get(cls)
    if setter is not None:
        return setter(x, value)[1]
    if _writes_plainly(cls, name):
        note_class(cls)
        note(types.plain, cls, (cls,))
    else:
        setter = _setter(cls, name)
        if setter is not None:
            note_class(cls)
            note(types.properties, cls, (cls,), setter)
    return objects.RECORD["setattr"](x, value, name)


def _setter(cls: type, name: str) -> Any:
    """The forward half of the setter of a property; None for what is set in another way."""
    found = find(cls, name)
    if type(found) is not property or not is_plain(found.fset) or issubclass(cls, type):
        return None
    if not is_of_python(cls) or find(cls, "__setattr__") is not object.__setattr__:
        return None
    function: Any = found.fset
    note_code(function)
    return forward_of_method(function, 2)


def _reads_plainly(cls: type, name: str) -> bool:
    if issubclass(cls, (type, ModuleType, super, tuple, *NUMERIC)) or hasattr(cls, "__zyg_transform__"):
        return False
    found = find(cls, name)
    if cls in _CONTAINERS:
        return type(found) is MethodDescriptorType
    if not attributes.plain_lookup(cls) or not is_of_python(cls):
        return False
    if found is None:
        return find(cls, "__getattr__") is None
    return type(found) in (MemberDescriptorType, FunctionType) or _stands_for_a_constant(cls, name, found)


def _stands_for_a_constant(cls: type, name: str, found: Any) -> bool:
    """Whether what a class holds for instances that have no such attribute of their own carries no derivative: it is no number,
    or one that was there before all of what is being differentiated."""
    if type(found) in INERT:
        return True
    if type(found) is not float and type(found) is not int:
        return False
    owner = next(c for c in cls.__mro__ if name in c.__dict__)
    if owner not in _there_before:
        _met.append(owner)
        return False
    return (owner, name) not in _assigned


# Classes that were there when the pullbacks that are being made were begun; those that were met since then; numbers of classes
# that have been set since then; and a place per pullback that is being made.
_there_before: weakref.WeakSet[type] = weakref.WeakSet()
_met: list[type] = []
_assigned: set[tuple[type, str]] = set()
_running: list[None] = []


def begin() -> None:
    """A pullback is about to be made."""
    _running.append(None)


def _end() -> None:
    _running.pop()
    if not _running:
        _there_before.update(_met)
        _met.clear()
        _assigned.clear()


def _writes_plainly(cls: type, name: str) -> bool:
    if issubclass(cls, (type, ModuleType, super, tuple, *NUMERIC)) or not is_of_python(cls):
        return False
    found = find(cls, name)
    if found is not None and type(found) is not MemberDescriptorType and hasattr(type(found), "__set__"):
        return False
    return find(cls, "__setattr__") is object.__setattr__


def note_set_plainly(cls: type, name: str) -> None:
    """`object.__setattr__` sets this attribute of instances itself."""
    if is_of_python(cls) and type(name) is str:
        note_class(cls)
        note(classes.plainly_set.setdefault(name, set()), cls, (cls,))


def is_of_python(cls: type) -> bool:
    """Whether a class and all its bases are made by class statements."""
    return all(c is object or c.__flags__ & HEAP_TYPE for c in cls.__mro__)


# What has been found out holds as long as these are as they were: classes by their version, or else by what stands in them,
# functions by their code.
_classes: dict[type, tuple[int, list[Any]]] = {}
_codes: dict[FunctionType, tuple[CodeType, Any]] = {}
_MANY = 1000


def note_class(cls: type) -> None:
    if cls not in _classes:
        note(_classes, cls, (cls,), (type_version(cls), _content(cls)))


def note_code(f: FunctionType) -> None:
    if f not in _codes:
        note(_codes, f, (f,), (f.__code__, f.__defaults__))


def _content(cls: type) -> list[Any]:
    """The names and what stands under them, of a class and its bases, but for `object`; of numbers the type."""
    held = [x for c in cls.__mro__[:-1] for part in (c.__dict__, c.__dict__.values()) for x in part]
    return [type(x) if type(x) in (float, int) else x for x in held]


def revalidate() -> None:
    """Forget what was found out if a class or a function that it is about is no longer as it was (or if it is about very many,
    which would all be kept)."""
    for f, (code, defaults) in _codes.items():
        if f.__code__ is not code or f.__defaults__ is not defaults:
            return forget_what_is_known()
    for cls, (version, content) in _classes.items():
        now = type_version(cls)
        if not now or now != version:
            present = _content(cls)
            if len(present) != len(content) or not all(map(is_, present, content)):
                return forget_what_is_known()
            _classes[cls] = now, content
    if len(_codes) + len(_classes) > _MANY:
        forget_what_is_known()


def changes(x: Any, name: str, value: Any = None) -> None:
    """Differentiated code is about to set, or delete, an attribute of a class, or the code of a function."""
    if isinstance(x, FunctionType):
        if name in ("__code__", "__defaults__"):
            forget_what_is_known()
    elif not (type(value) in (float, int) and type(x.__dict__.get(name)) in (float, int)):
        forget_what_is_known()
    elif (x, name) not in _assigned:
        # A number in the place of a number makes no difference but for instances that take it for theirs.
        _assigned.add((x, name))
        if x in _there_before:
            forget_what_is_known()


def forget_what_is_known() -> None:
    from .compile import forget_callees

    for types in (*readable.values(), *writable.values()):
        types.plain.intersection_update((ModuleType, nobody))
        types.properties.clear()
    classes.plainly_set.clear()
    _classes.clear()
    _codes.clear()
    forget_hashed()
    calls.forget_made()
    forget_callees()


# At a call: the callable that was called last and its forward half; the function of the bound method that was called last and its
# forward half, which takes `self` first.
Site = list[Any]


# For places where methods of several classes are called: by function and number of arguments.
_of_methods: dict[tuple[FunctionType, int], Any] = {}


_EMPTY = (nobody, None, nobody, None)
_SIZE = len(_EMPTY)
_TABLE, _MANY_AT = (
    _SIZE,
    _SIZE + 1,
)  # what is known of a method that is called; more callables with their forward halves
_settled = 0  # how many classes and functions were known when it was last looked whether they are still there
_passing: list[Site] = []  # sites that hold what is there for one pullback only


def new_site(table: Methods | None = None) -> Site:
    """A place of a call; `table`: for methods that are read there."""
    return [*_EMPTY, table, {}]


def release() -> None:
    """Let go of classes and functions that are not there for good, and of what closures captured: a pullback has been made."""
    global _settled
    _end()
    while _passing:
        _clear(_passing.pop())
    let_go()
    if len(_classes) + len(_codes) != _settled:
        # Where there is a new one, it may have come in the place of another.
        if not all(map(lasts, _classes)) or not all(map(lasts, _codes)):
            forget_what_is_known()
        _settled = len(_classes) + len(_codes)


def forget_sites(codes: Iterable[CodeType]) -> None:
    """There are new rules."""
    for known in (*operators, *methods.values(), _of_methods):
        known.clear()
    for table in methods.values():
        table.of_classes.clear()
    for code in codes:
        for constant in code.co_consts:
            if type(constant) is list:
                _clear(constant)


def _clear(site: Site) -> None:
    site[:_SIZE] = _EMPTY
    site[_MANY_AT].clear()


def loop(x: Any) -> tuple[Any, Any]:
    """`objects.loop`, but where items belong to parts of what has a shadow, that part stands in the place of a pullback."""
    t = type(x)
    if t is list:
        return zip(x, count()), (nothing, x)
    if t is tuple:
        if INERT.issuperset(map(type, x)):
            return iter(x), None
        return zip(x, count()), (nothing, [], run_gathered, len(x))
    if t is Direct:
        return x.base, (nothing, x.whole)
    if t is Items or t is Values:
        mapping = x._mapping
        if type(mapping) is dict:
            if t is Items:
                return zip(mapping.items(), mapping), (nothing, Entries(mapping))
            return zip(mapping.values(), mapping), (nothing, mapping)
    if t is generators.Generator:
        items = generators.quickly(x)
        return items, sources.whole(items)
    return objects.loop(x)


def run_gathered(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangent of a tuple that a loop went through: a list that has nothing but a shadow stood for it."""
    _, gathered, _, length = back
    taken = shadows.take_list(gathered)
    return None if taken is None else ((*taken, *[None] * (length - len(taken))),)


def forward_at(f: Any, site: Site, arity: int) -> Any:
    """The forward half of `f` for `arity` arguments, which the place remembers."""
    t = type(f)
    if t is MethodType:
        made = _of_methods.get((f.__func__, arity))
        if made is not None and site[2] is not nobody:
            return partial(made, f.__self__)
        made = made or forward_of_method(f.__func__, arity + 1)
        if made is None:
            return objects.forward_of(f)
        site[2:_SIZE] = f.__func__, made
        if not lasts(f.__func__):
            _passing.append(site)
        if _permanent(f.__func__):
            note_code(f.__func__)
            note(_of_methods, (f.__func__, arity), (f.__func__,), made)
            _note_method(f, site[_TABLE], made)
        return partial(made, f.__self__)
    if t is FunctionType or t is type or t is BuiltinFunctionType and type(f.__self__) is ModuleType:
        known = site[_MANY_AT].get(f)
        if known is not None:
            return known
    if t is FunctionType and type(site[0]) is FunctionType and f.__code__ is site[0].__code__:
        # A function that is made anew each time: it is not worth remembering.
        code = f.__code__
        entry = calls.known_function(code)
        if entry is not None and entry.simple and f.__defaults__ is None and arity == code.co_argcount:
            if f.__closure__ is None or entry.generator:
                return entry.bind(f)
            return FunctionType(entry.forward, f.__globals__, code.co_name, None, f.__closure__)
    if t is partial and not has_ruled_instances(t):
        made = objects.functools_.forward_of_partial(f, arity)
        if made is not None:
            site[:2] = f, made
            _passing.append(site)
            return made
    made = _of_objects.get((t, arity))
    if made is not None and t.__call__ is made[1]:
        return partial(made[2], f)
    forward = objects.forward_of(f)
    if (
        type(forward) is partial
        and forward.func is calls.call_object
        and is_of_python(t)
        and not has_ruled_instances(t)
    ):
        noted(_of_objects, (t, arity), (t,), t, "__call__", arity + 1, False)
    elif t is FunctionType:
        forward = adapter(f, arity) or forward
        _remember(site, f, forward)
        if not lasts(f):
            _passing.append(site)
        if _permanent(f):
            note_code(f)
    elif isinstance(f, type) and type(forward) is partial and forward.func is classes.construct:
        made = _constructor(f, arity)
        if made is not None:
            site[:2] = f, made
            if not lasts(f):
                _passing.append(site)
            return made
    elif (
        t is WrapperDescriptorType
        or (t is BuiltinFunctionType and (type(f.__self__) is ModuleType or f.__name__ == "__new__"))
        or (t is type and not f.__flags__ & HEAP_TYPE)
        or (isinstance(f, type) and t.__hash__ is type.__hash__ and f in calls.KNOWN)
    ):
        _remember(site, f, forward)
    elif t is BuiltinFunctionType:
        table = site[_TABLE]
        if table is not None and type(f.__self__) in _CONTAINERS and f.__name__ == table.name:
            table[type(f.__self__)] = calls.method_handler_of(f)
    return forward


def _remember(site: Site, f: Any, forward: Any) -> None:
    """What is called at a place: the first callable is looked at there, further ones here."""
    if site[0] is nobody:
        site[:2] = f, forward
    elif len(site[_MANY_AT]) < _CALLEES:
        site[_MANY_AT][f] = forward
    else:
        site[:2] = f, forward


_CALLEES = 16  # how many are remembered per place


def _note_method(f: MethodType, table: Methods | None, forward: Any) -> None:
    """A method that nothing but a change of the class can replace is called without being read."""
    cls = type(f.__self__)
    if table is not None and cls.__dictoffset__ == 0 and cls in table and find(cls, table.name) is f.__func__:
        note(table, cls, (cls,), forward)


def record_keywords(site: Site, names: tuple[str, ...], f: Any, *args: Any) -> tuple[Any, Any]:
    """RECORD["call_keywords"], which remembers the forward half for these keywords."""
    if f is site[0]:
        return site[1](*args)
    t = type(f)
    made: Any
    if t is MethodType:
        if f.__func__ is site[2]:
            return site[3](f.__self__, *args)
        if is_plain(f.__func__) and calls.known_function(f.__func__.__code__) is not None:
            made = adapter(f.__func__, 1 + len(args) - len(names), names, bound=True)
            if made is not None:
                note_code(f.__func__)
                site[2:_SIZE] = f.__func__, made
                if not lasts(f.__func__):
                    _passing.append(site)
    else:
        made = None
        if t is FunctionType:
            if _permanent(f) and calls.known_function(f.__code__) is not None:
                made = adapter(f, len(args) - len(names), names)
                note_code(f)
        elif isinstance(f, type):
            forward = objects.forward_of(f)
            if type(forward) is partial and forward.func is classes.construct:
                made = _constructor(f, len(args) - len(names), names)
        if made is not None:
            site[:2] = f, made
            if not lasts(f):
                _passing.append(site)
            return made(*args)
    return objects.RECORD["call_keywords"](names, f, *args)


def new_spread_site() -> Site:
    """A place of a call `f(*args)`, which remembers for how many arguments, too."""
    return [*new_site(), -1]


def record_spread(site: Site, f: Any, args: Any, kwargs: Any = None) -> tuple[Any, Any]:
    """RECORD["call_spread"], which remembers the forward half for so many arguments."""
    if type(args) is not tuple or kwargs is not None and (type(kwargs) is not dict or kwargs):
        return objects.RECORD["call_spread"](f, args, kwargs)
    count = len(args)
    if site[-1] != count:
        _clear(site)
        site[-1] = count
    y, back = (site[1] if f is site[0] else forward_at(f, site, count))(*args)
    return y, None if back is None else (calls.run_spread_plain, back)


def forward_of_method(f: Any, arity: int, names: tuple[str, ...] = ()) -> Any:
    """The forward half of the function of a bound method, for `arity` arguments with `self` and further ones by keyword; its
    pullback gives the cotangent of `self` first. None if it is not a plain function that takes these."""
    if type(f) is not FunctionType:
        return None
    entry = calls.known_function(f.__code__)
    if entry is None:
        forward = objects.forward_of(f)
        if f in calls.KNOWN and not names:
            return partial(call_known_method, forward)
        entry = calls.known_function(f.__code__)
    return None if entry is None else adapter(f, arity, names, bound=True)


def call_known_method(forward: Any, *args: Any) -> tuple[Any, Any]:
    y, back = forward(*args)
    return y, None if back is None else (calls.run_shifted, back)


def _permanent(f: FunctionType) -> bool:
    """Whether a function holds nothing that it would be wrong to keep: no closure, but for the class of `super`."""
    return f.__closure__ is None or f.__code__.co_freevars == ("__class__",) or lasts(f)


def _constructor(cls: Any, arity: int, names: tuple[str, ...] = ()) -> Any:
    """The forward half of a class whose instances are made by its `__init__` alone."""
    if cls in classes.EXCEPTIONS and not names:
        return partial(classes.make_exception, cls)
    init = find(cls, "__init__")
    if find(type(cls), "__call__") is not type.__call__:
        return None
    if find(cls, "__new__") is not object.__new__:
        return _maker(cls, arity, names) if init is object.__init__ else None
    forward = forward_of_method(init, arity + 1, names)
    if forward is None or not _permanent(init):
        return None
    note_class(cls)
    note_code(init)

    def generally(*args: Any) -> tuple[Any, Any]:
        split = len(args) - len(names)
        return classes.construct(cls, *args[:split], **dict(zip(names, args[split:])))

    return constructing(arity + len(names))(cls, init, forward, generally)


def _maker(cls: Any, arity: int, names: tuple[str, ...]) -> Any:
    """The forward half of a class whose instances are made by its `__new__` alone, as those of named tuples."""
    new = cls.__new__
    if not is_plain(new):
        return None
    calls.forward_of(new)
    forward = forward_of_method(new, arity + 1, names)
    if forward is None:
        return None
    note_class(cls)
    note_code(new)

    def construct(*args: Any) -> tuple[Any, Any]:
        if cls.__new__ is not new:
            split = len(args) - len(names)
            return classes.construct(cls, *args[:split], **dict(zip(names, args[split:])))
        made, back = forward(cls, *args)
        if type(made) is cls or not isinstance(made, cls):
            return made, back
        split = len(args) - len(names)
        _, then = objects.call(made.__init__, args[:split], dict(zip(names, args[split:])))
        return made, (run_new_and_init, back, then)

    return construct


def run_new_and_init(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """`__new__` has made an instance of a class derived from the one that was called."""
    then = calls.run(back[2], None, shadows)
    return objects.accumulate(calls.run(back[1], d, shadows), None if then is None else tuple(then))


# What special methods of classes are, by the types of the operands: whether they are those of the second one, the method, and its
# forward half.
operators: list[dict[Any, tuple[bool, Any, Any]]] = []


def new_table() -> dict[Any, tuple[bool, Any, Any]]:
    operators.append({})
    return operators[-1]


def noted(table: dict[Any, Any], key: Any, about: tuple[type, ...], cls: type, slot: str, arity: int, of: bool) -> None:
    """Note what a special method of a class is, if it is a plain function."""
    method = find(cls, slot)
    if is_plain(method):
        forward = forward_of_method(method, arity)
        if forward is not None:
            note(table, key, about, (of, method, forward))
            note_code(method)


# Of callable objects: by class and number of arguments.
_of_objects = new_table()
HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
