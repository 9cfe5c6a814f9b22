"""Instances: a class is called."""

from __future__ import annotations

import array
import builtins
import collections
import enum
import functools
import random
import sys
import types
import weakref
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from zyg import tracebacks
from zyg.autodiff import objects
from zyg.errors import Unsupported
from zyg.ir.plainly import get_plainly, is_in_class

from ..identity import ByIdentity
from . import calls, effects, foreign, later, structure
from .arithmetic import find, is_python
from .cotangents import NUMERIC, accumulate, is_number
from .passing import passes
from .shadows import add_all


@passes()
def construct(cls: type, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """(value, back) of `cls(*args, **kwargs)`."""
    call = find(type(cls), "__call__")
    if call is not type.__call__:
        if isinstance(cls, enum.EnumMeta):
            if (len(args) > 1 or "names" in kwargs) and kwargs.get("module") is None:
                kwargs = {**kwargs, "module": foreign.module_of_caller()}
            made = cls(*args, **kwargs)
            return made, _back_of_enumeration(made, args, kwargs) if isinstance(made, type) else None  # (else a member)
        if not is_in_class(type(call), "__get__"):  # that of a TypedDict is `dict`
            return calls.call(call, args, kwargs)
        if is_python(call):
            return calls.call(call.__get__(cls, type(cls)), args, kwargs)
        return calls.call_foreign(cls, *args, **kwargs)
    return make_as_it_is(cls, *args, **kwargs)


def _back_of_enumeration(made: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Enum("Name", {"A": x})` makes: the values come from a dict, if nothing computes with them."""
    values = args[1] if len(args) > 1 else kwargs.get("names")
    if not structure.holds_numbers(structure.form((values, kwargs.get("start")))):
        return None
    by_name = type(values) is dict and made._member_type_ is object and not made._use_args_
    plain = by_name and find(made, "__init__") is find(enum.Enum, "__init__")
    return _run_enumeration, made, values if plain else {}, foreign.caller()


def _run_enumeration(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, made, values, place = back
    for name, member in made._member_map_.items():
        value = shadows.take_attr(member, "_value_") if name in values else None
        if value is not None:
            shadows.add_key(values, name, value)
    if any(foreign.has_shadow(x, shadows) for x in (made, *made._member_map_.values())):
        foreign.refuse(f"a derivative by a value in the enumeration {made.__name__}", place, "keep numbers in a dict")


@calls.method(type, "__call__", exact=True)
@passes()
def make(cls: type, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The same, as `type.__call__` does it: by `__new__` and `__init__`."""
    if cls.__flags__ & _HEAP and find(type(cls), "__call__") is not type.__call__:
        forward = later.sites.made_by_type(cls, len(args), tuple(kwargs))
        if forward is not None:
            return forward(*args, *kwargs.values()) if kwargs else forward(*args)
    return make_as_it_is(cls, *args, **kwargs)


@passes()
def make_as_it_is(cls: type, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The same by what the class is now, whatever was found out about it."""
    new = find(cls, "__new__")
    new = new.__func__ if isinstance(new, staticmethod) else new
    init = find(cls, "__init__")
    if find(cls, "__del__") is not None:
        check_finaliser(cls)
    if not is_python(new) and not is_python(init):
        if type(init).__flags__ & _HEAP:  # what its `__get__` gives is called
            return calls.call_foreign(cls, *args, **kwargs)
        return _of_builtin(cls, new, init, args, kwargs)
    made: Any
    if new is object.__new__:
        if init is object.__init__ and (args or kwargs):
            cls(*args, **kwargs)  # raises the TypeError
        made, new_back = object.__new__(cls), None
    else:
        made, new_back = _call_new(new, (cls, *args), kwargs)
    init_back = None
    if isinstance(made, cls) and (init := find(type(made), "__init__")) is not object.__init__:
        y, init_back = _call_init(init.__get__(made, type(made)), args, kwargs, new_back)
        if y is not None:
            raise TypeError(f"__init__() should return None, not '{type(y).__name__}'")
    if new_back is None:
        return made, None if init_back is None else (run_init, init_back)
    return made, (run_construct, new_back, init_back)


@passes(lambda variables: [(_run_new_left,)])
def _call_new(new: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    return calls.call(new, args, kwargs)


def _around_init(new_back: Any) -> list[tuple[Any, ...]]:
    return [(run_init,)] if new_back is None else [(_run_init_left, new_back)]


@passes(lambda variables: _around_init(variables["new_back"]))
def _call_init(init: Any, args: tuple[Any, ...], kwargs: dict[str, Any], new_back: Any) -> tuple[Any, Any]:
    return calls.call(init, args, kwargs)


def _run_new_left(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return run_construct((None, back[1], None), None, shadows)


def _run_init_left(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return run_construct((None, back[2], back[1]), None, shadows)


def check_finaliser(cls: type) -> None:
    """Refuse a class whose `__del__` changes something: a pullback keeps objects, so that would happen late, or never."""
    for f in effects.functions_in(find(cls, "__del__")):
        _check_late(f, cls, f"an object with a finaliser, {cls.__name__}.__del__, which changes something")


def _check_late(f: Any, cls: type | None, what: str) -> None:
    if str(f.__module__).partition(".")[0] not in sys.stdlib_module_names and effects.changes(f, cls):
        hint = "let a `with` statement, or a call, do what has to be done in the end"
        raise Unsupported(f"{what}, in differentiated code", foreign.position_of(foreign.caller()), hint=hint)


def _with_callback(make: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Weak references, and what they call in the end."""
    if isinstance(args[0], type):  # classes go when the garbage collector finds them, whatever holds them
        return make(*args, **kwargs), None
    for f in (args[2:] if make is weakref.finalize and kwargs else args)[1:]:
        for function in effects.functions_in(get_plainly(f, "__func__", f)):
            _check_late(function, None, f"a callback of {make.__name__}, {function.__name__}, which changes something")
    made, cls = make(*args, **kwargs), type(args[0])
    if issubclass(cls, _FLOWING) or make is weakref.proxy and not _is_used_by_names(cls):
        what = f"a weak reference to a {cls.__name__}, in code that is differentiated through Python"
        foreign.refuse(what, foreign.caller(), "keep the object itself, or a weakref.ref of an object of a plain class")
    return made, None


def _is_used_by_names(cls: type) -> bool:
    """Whether what there is to an instance are its attributes and methods: of operators a proxy leaves no trace."""
    if any(not c.__flags__ & _HEAP for c in cls.__mro__[:-1]):
        return False
    return all(
        find(cls, name) is None
        for name in ("__getitem__", "__iter__", "__next__", "__float__", "__complex__", "__call__")
    )


_HEAP = 1 << 9


for _make in (weakref.ref, weakref.finalize, weakref.proxy):
    calls.known(_make)(functools.partial(_with_callback, _make))


@calls.known(types.MethodType, exact=True)
def _bind(function: Any, x: Any, /) -> tuple[Any, Any]:
    y = types.MethodType(function, x)
    of = function.__self__ if type(function) in _BOUND else function
    if issubclass(type(of), _FLOWING):
        foreign.refuse(
            "a method of a number or tuple that is bound to something else", foreign.caller(), "use a lambda"
        )
    return y, (_run_bind, y) if issubclass(type(x), _FLOWING) else None


_FLOWING = (tuple, *NUMERIC)
_BOUND = (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)


def _run_bind(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """As `attributes.run_bound_method`."""
    left = shadows.take_attr(back[1], "__self__")
    return None, None, d if left is None else accumulate(d, left)


def run_init(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Only `__init__` ran code; its cotangents are those of a bound method."""
    given = calls.run(back[1], None, shadows)
    return None if given is None else (None, *given[1:])


def run_construct(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, new_back, init_back = back
    second = calls.run(init_back, None, shadows)
    if second is not None and second[0] is not None:
        d = accumulate(d, second[0])  # (of an instance that has a cotangent which flows)
    first = calls.run(new_back, d, shadows)
    if first is None:
        return second
    first = (None, *first[2:])
    if second is None:
        return first
    return tuple([accumulate(a, b) for a, b in zip(first, (None, *second[1:]))])


def _of_builtin(cls: type, new: Any, init: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """A class without code of its own: of a builtin type, or derived from one."""
    for base in cls.__mro__[1:]:
        handler = calls.KNOWN.get(base)
        if handler is not None and base is not object and base is not type:
            return _derived(cls, base, handler, args, kwargs)
    if issubclass(cls, BaseException):
        return make_exception(cls, *args, **kwargs)
    if cls.__module__ == "ctypes" or not cls.__flags__ & (1 << 9) or find(cls, "__new__") is not object.__new__:
        return calls.call_foreign(cls, *args, **kwargs)
    return cls(*args, **kwargs), None


def _derived(cls: type, base: type, handler: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """An instance of a subclass of a builtin class: made of a value of that class, and its cotangents are of that."""
    if base in _WITHOUT_NUMBERS:
        return cls(*args, **kwargs), None
    if base is types.SimpleNamespace:
        return objects.class_statements.namespace(cls, *args, **kwargs)
    if base is collections.OrderedDict:
        followed = objects.item_methods.construct(cls, args, kwargs)
        if followed is not None:
            return followed
    if base is weakref.ref:
        return _with_callback(cls, *args, **kwargs)
    if base in _VALUES:
        if find(cls, "__new__") is not base.__new__:  # as `time.struct_time` has one of its own
            return cls(*args, **kwargs), handler(*args, **kwargs)[1]
        plain, back = handler(*args, **kwargs)  # (what the arguments are asked for they are asked once)
        return base.__new__(cls, plain), back
    if not issubclass(base, _COPIED):
        raise Unsupported(
            f"an instance of {cls.__name__}, a class derived from {base.__name__}, in code that is differentiated through Python",
            foreign.position_of(foreign.caller()),
            hint=f"use {base.__name__} itself, or keep one in an attribute of a plain class",
        )
    plain, back = handler(*args, **kwargs)
    made = _made_of(cls, plain)
    return made, (_run_moved, made, plain, back)


# What is made of arguments that have no derivative, or goes to the functions among them.
_WITHOUT_NUMBERS = frozenset({property, staticmethod, classmethod, random.Random, np.errstate, np.random.RandomState})
# What a class derived from these is made of.
_COPIED = (list, set, frozenset, dict, collections.deque, array.array, bytearray, Fraction, Decimal)
_COPIED += (np.generic, np.ndarray, functools.partial)


def handler_of_container(cls: type) -> Any:
    """How to make what an instance of a class derived from a builtin container is made of; None if code of the class takes part."""
    new = find(cls, "__new__")
    init = find(cls, "__init__")
    if is_python(new) or is_python(init) or find(cls, "__del__") is not None:
        return None
    base = next((c for c in cls.__mro__[1:] if c in calls.KNOWN), None)
    return calls.KNOWN[base] if base in _CONTAINERS and new is base.__new__ and init is base.__init__ else None


_CONTAINERS = frozenset({list, set, dict, collections.deque})


def make_container(cls: type, handler: Any, *args: Any) -> tuple[Any, Any]:
    """An instance of such a class, with that handler."""
    if len(args) == 1 and type(args[0]) is list and issubclass(cls, list):
        made = cls(args[0])
        return made, (_run_of_list, made, args[0])
    plain, back = handler(*args)
    made = _made_of(cls, plain)
    return made, (_run_moved, made, plain, back)


def _made_of(cls: type, plain: Any) -> Any:
    """An instance with the items of one of the builtin class."""
    if isinstance(plain, array.array):
        return cls(plain.typecode, plain)
    if isinstance(plain, collections.deque):
        return cls(plain, plain.maxlen)
    if isinstance(plain, collections.defaultdict):
        return cls(plain.default_factory, plain)
    return cls(plain)


def _run_of_list(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, made, items = back
    taken = shadows.take_list(made)
    if taken:
        add_all(shadows, items, 0, taken)


_VALUES = (tuple, float, int, complex, str, bytes)


def handler_of_value(cls: type) -> Any:
    """How to make an instance of a class derived from that of a value; None if code of the class takes part."""
    base: Any = next((c for c in cls.__mro__[1:] if c in calls.KNOWN), None)
    if base not in _VALUES or find(cls, "__new__") is not base.__new__ or find(cls, "__init__") is not object.__init__:
        return None
    handler = calls.KNOWN[base]

    @passes()
    def make_value(*args: Any) -> tuple[Any, Any]:
        plain, back = handler(*args)
        return base.__new__(cls, plain), back

    return make_value


def _run_moved(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What a copy has gathered belongs to what it was made of."""
    _, made, plain, inner = back
    items = shadows.items.pop(id(made), None)
    if items:
        shadows.items[id(plain)] = items
        shadows.kept.append(plain)
    return calls.run(inner, d, shadows)


_KNOWN_ARGUMENTS = "__zyg_arguments__"
_NOTED = "__zyg_attributes__"
OF_ZYG = frozenset(
    {_KNOWN_ARGUMENTS, _NOTED}
)  # what exceptions have in their `__dict__`, besides what is the program's


def arguments_are_known(exception: Any) -> Any:
    """What the arguments of an exception come from has been recorded, unlike with those that the interpreter raises."""
    held = _marks(exception)
    if _KNOWN_ARGUMENTS not in held:
        held[_KNOWN_ARGUMENTS] = True
        tracebacks.note(exception)
    return exception


_apart = ByIdentity()


def _marks(exception: Any) -> dict[str, Any]:
    """Where zyg notes something of an exception: its `__dict__`, which costs nothing, until the program looks at that."""
    found = _apart.of(exception) if _apart else None
    return exception.__dict__ if found is None else found


def show_dict(exception: BaseException) -> None:
    """The program has the `__dict__` of an exception: nothing but what is the program's is to be in it from now on."""
    if _apart.of(exception) is None:
        held = exception.__dict__
        try:
            _apart.note(exception, {name: held[name] for name in OF_ZYG if name in held})
        except TypeError:
            raise Unsupported(
                f"the __dict__ of a {type(exception).__name__}, an exception of a class without code in Python, in code that is differentiated",
                foreign.position_of(foreign.caller()),
                hint="read its attributes by their names, or raise one of a class of your own",
            ) from None
        for name in OF_ZYG:
            held.pop(name, None)


def make_exception(cls: type[BaseException], /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """(value, back) of a call of a class of exceptions without code of its own."""
    made = arguments_are_known(cls(*args, **kwargs))
    return made, (_run_exception, made, len(args) + len(kwargs), attributes_from(made, (*args, *kwargs.values())))


def has_known_arguments(exception: Any) -> bool:
    return _KNOWN_ARGUMENTS in _marks(exception)


def attributes_of_c(exception: Any) -> tuple[str, ...]:
    """The names of what C code of an exception's class keeps beside `args`: the `code` of SystemExit, the `errno` of OSError.

    >>> attributes_of_c(ValueError()), attributes_of_c(SystemExit())
    ((), ('code',))
    """
    for cls in type(exception).__mro__:
        if cls in EXCEPTIONS:
            return _attributes_of_c(cls)
    raise AssertionError


@functools.cache
def _attributes_of_c(cls: type) -> tuple[str, ...]:
    return tuple(
        name
        for c in cls.__mro__
        if c in EXCEPTIONS
        for name, held in vars(c).items()
        if isinstance(held, (types.MemberDescriptorType, types.GetSetDescriptorType))
        if not name.startswith("__") and name != "args" and (c, name) != (StopIteration, "value")
    )


def attributes_from(exception: Any, values: tuple[Any, ...]) -> tuple[tuple[str, int, range | None], ...]:
    """Which attributes of C code were made of the arguments of an exception: their names, which argument, which item of so many."""
    names = attributes_of_c(exception)
    if not names:
        return ()
    found: list[tuple[str, int, range | None]] = []
    for name in names:
        y = getattr(exception, name, None)
        if y is None or not flows(y):
            continue
        for k, value in enumerate(values):
            if value is y:
                found.append((name, k, None))
            elif type(value) is tuple and any(part is y for part in value):
                at = next(at for at, part in enumerate(value) if part is y)
                found.append((name, k, range(at, len(value))))
            else:
                continue
            note_attribute(exception, name, y)
            break
        else:
            if y is exception.args:  # SystemExit with several arguments
                found.append((name, -1, None))
                note_attribute(exception, name, y)
    return tuple(found)


def flows(y: Any) -> bool:
    """Whether a value has a cotangent that flows.

    >>> flows(1.5), flows(("a", (2.0,))), flows([1.0])
    (True, True, False)
    """
    return any(map(flows, y)) if isinstance(y, tuple) else is_number(y)


def note_attribute(exception: Any, name: str, value: Any) -> None:
    """It is known what an attribute of C code comes from, as long as it is this."""
    _marks(exception).setdefault(_NOTED, {})[name] = value


def is_noted(exception: Any, name: str, value: Any) -> bool:
    noted = _marks(exception).get(_NOTED, {})
    return name in noted and noted[name] is value


def _run_exception(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The arguments of an exception are its `args`; those by keyword are none of them."""
    _, exception, count, attributes = back[:4]
    if id(exception) not in shadows.holders:
        return (None,) * (1 + count)
    held = shadows.take_attr(exception, "args")
    first = shadows.take_attr(exception, "value") if isinstance(exception, StopIteration) else None
    if held is None and first is None and not attributes:
        return (None,) * (1 + count)
    held = held or ()
    held = (*held, *[None] * (count - len(held)))
    if first is not None:
        held = (accumulate(held[0], first), *held[1:])
    for name, k, at in attributes:
        c = shadows.take_attr(exception, name)
        if c is None:
            continue
        if k < 0:
            held = tuple([accumulate(a, b) for a, b in zip(held, c)])
            continue
        if at is not None:
            c = (*[None] * at.start, c, *[None] * (len(at) - 1))
        held = (*held[:k], accumulate(held[k], c), *held[k + 1 :])
    return (None, *held)


def run_exception_made(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The same where `__init__` has run, too."""
    second = calls.run(back[-1], None, shadows)
    if id(back[1]) not in shadows.holders:
        return None if second is None else (None, *second[1:])
    first = _run_exception(back, d, shadows)
    return first if second is None else (None, *map(accumulate, first[1:], second[1:]))


# ---------------------------------------------------------------------------------------- object's own methods


@calls.known(object.__new__)
def _object_new(cls: type, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return object.__new__(cls, *args, **kwargs), None


@calls.known(tuple.__new__, exact=True)
def _tuple_new(cls: type, /, items: Any = ()) -> tuple[Any, Any]:
    if type(items) is tuple:
        return tuple.__new__(cls, items), _AS_IT_IS
    plain, back = calls.KNOWN[tuple](items)
    return tuple.__new__(cls, plain), None if back is None else (_run_second_argument, back)


def _run_as_it_is(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, d


_AS_IT_IS = (_run_as_it_is,)


def _number_new(base: Any, cls: type, /, *args: Any) -> tuple[Any, Any]:
    plain, back = calls.KNOWN[base](*args)
    made = base.__new__(cls, plain)
    return made, None if back is None else _AS_IT_IS if back == 1.0 else (_run_second_argument, back)


for _base in (float, int, complex):
    calls.known(_base.__new__, exact=True)(functools.partial(_number_new, _base))


def exception_new(base: Any, cls: type, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """`__new__` of an exception keeps the arguments."""
    made = arguments_are_known(base.__new__(cls, *args, **kwargs))
    return made, (_run_exception_new, made, len(args) + len(kwargs), attributes_from(made, (*args, *kwargs.values())))


def _run_exception_new(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = _run_exception(back, d, shadows)
    return None, *given


def _new(base: Any, cls: type, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return base.__new__(cls, *args, **kwargs), None


for _base in (list, dict, set, str):
    calls.known(_base.__new__, exact=True)(functools.partial(_new, _base))


def _run_second_argument(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, None, *given[1:])


@calls.method(type, "__setattr__")
@calls.method(object, "__setattr__")
@passes(lambda variables: [(_run_setattr,)])
def _object_setattr(x: Any, name: str, value: Any) -> tuple[Any, Any]:
    back = objects.attributes.set_plainly(x, name, value)
    return None, None if back is None else (_run_setattr, back)


def _run_setattr(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (given[0], None, given[1])


@calls.method(type, "__delattr__")
@calls.method(object, "__delattr__")
def _object_delattr(x: Any, name: str) -> tuple[Any, Any]:
    return None, objects.attributes.delete_plainly(x, name)


@calls.known(type.__delattr__)
@calls.known(object.__delattr__)
def _delete_by_object(x: Any, name: str) -> tuple[Any, Any]:
    return None, objects.attributes.delete_plainly(x, name)


@calls.known(type.__setattr__, exact=True)
@passes(lambda variables: [(_run_set_by_descriptor,)])
def _set_by_type(x: type, name: str, value: Any) -> tuple[Any, Any]:
    back = objects.attributes.set_plainly(x, name, value)
    return None, None if back is None else (_run_set_by_descriptor, back)


@calls.known(object.__setattr__, exact=True)
@passes(lambda variables: [(_run_set_by_descriptor,)])
def _set_by_object(x: Any, name: str, value: Any) -> tuple[Any, Any]:
    """The same through the class, as in `__init__` of frozen dataclasses."""
    cls = type(x)
    known = plainly_set.get(name) if type(name) is str else None
    if known is None or cls not in known:
        found = find(cls, name)
        if found is not None and is_in_class(type(found), "__set__") and type(found) is not types.MemberDescriptorType:
            back = objects.attributes.set_plainly(x, name, value)
            return None, None if back is None else (_run_set_by_descriptor, back)
        later.knowledge.note_set_plainly(cls, name)
    object.__setattr__(x, name, value)
    return None, (_run_set_by_object, x, name)


# The classes for which `object.__setattr__` sets the attribute itself, by its name: as far as is known, and as long as they are as they
# were.
plainly_set: dict[str, set[type]] = {}
# By name, where that is not known when code is emitted: the types whose attribute is read plainly, or set, but for modules.
read_by_name: dict[str, set[Any]] = {}
set_by_name: dict[str, set[Any]] = {}
# What is of exactly these types has no cotangent that flows (`python/knowledge.py` says which).
without_flow: set[Any] = set()


def _run_set_by_descriptor(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (None, given[0], None, given[1])


def _run_set_by_object(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    held = shadows.take_attr(back[1], back[2])
    return None if held is None else (None, None, None, held)


@calls.method(object, "__getattribute__")
def _object_getattribute(x: Any, name: str) -> tuple[Any, Any]:
    cls = type(x)
    if name == "__dict__":
        return objects.attributes.instance_dict(x)
    made = objects.attributes.by_descriptor(x, name, cls, find(cls, name))
    if made is not None:
        return made
    return object.__getattribute__(x, name), (objects.attributes.run_attr, x, name)


@calls.method(type, "__getattribute__")
def _type_getattribute(x: type, name: str) -> tuple[Any, Any]:
    return objects.attributes.of_class(x, name)


@calls.method(object, "__init__")
def _object_init(x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    object.__init__(x, *args, **kwargs)
    return None, None


def _exception_init(cls: Any, x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    cls.__init__(arguments_are_known(x), *args, **kwargs)
    return None, (_run_exception, x, len(args) + len(kwargs), attributes_from(x, (*args, *kwargs.values())))


EXCEPTIONS = {c for c in vars(builtins).values() if isinstance(c, type) and issubclass(c, BaseException)}


@calls.method(BaseException, "with_traceback", exact=True)
def _with_traceback(x: BaseException, traceback: Any, /) -> tuple[Any, Any]:
    return x.with_traceback(traceback), None


@calls.method(BaseException, "add_note", exact=True)
def _add_note(x: BaseException, note: Any, /) -> tuple[Any, Any]:
    return x.add_note(note), None


for _base in EXCEPTIONS:
    if "__init__" in _base.__dict__:
        calls.method(_base, "__init__", exact=True)(functools.partial(_exception_init, _base))
