"""What a call of a class is, as a forward half of so many arguments: by its metaclass, its `__new__` and its `__init__`."""

from __future__ import annotations

from collections import deque
from enum import EnumType
from functools import partial
from itertools import zip_longest
from types import BuiltinFunctionType, FunctionType, WrapperDescriptorType
from typing import Any

from zyg import rules
from zyg.transforms import transform_of

from .. import objects
from ..objects import anew, calls, classes
from ..objects.adapters import constructing
from ..objects.arithmetic import find
from ..objects.passing import passes
from ..trying import bodies
from .bound import forward_of_method
from .knowledge import has_plain_shadow, is_permanent, is_plain, note_class, note_code


def constructor(cls: Any, arity: int, names: tuple[str, ...] = ()) -> Any:
    """The forward half of a class, for `arity` arguments and further ones by keyword; None where that is not known before it is called."""
    if cls in classes.EXCEPTIONS and not names:
        return partial(classes.make_exception, cls)
    of_metaclass = find(type(cls), "__call__")
    if of_metaclass is not type.__call__:
        return _by_metaclass(cls, of_metaclass, arity, names)
    return by_type(cls, arity, names)


def constructor_of_new(cls: Any, arity: int) -> Any:
    """The same of a class that was made anew, where those like it are called as most classes are; else None."""
    known = anew.about(cls)
    if known is None:
        return None
    usual = known.answers.get(constructor_of_new)
    if usual is None:
        usual = known.answers[constructor_of_new] = _is_called_as_usual(cls)
    if not usual or cls in calls.KNOWN or rules.has_rule(cls):
        return None
    calls.refresh()
    init = cls.__init__
    if init is object.__init__:
        return by_type(cls, arity, ())
    key = init.__code__, arity, bool(bodies)
    made = known.made.get(key)
    if made is None:
        made = known.made[key] = _by_init(cls, object.__new__, init, arity, ())
    return made


def _is_called_as_usual(cls: Any) -> bool:
    """Whether a call makes an empty object, and gives it to a function `__init__`, if anything."""
    init = find(cls, "__init__")
    usual = find(cls, "__new__") is object.__new__ and (init is object.__init__ or type(init) is FunctionType)
    return usual and find(cls, "__del__") is None and transform_of(cls) is None


def _by_metaclass(cls: Any, method: Any, arity: int, names: tuple[str, ...]) -> Any:
    """The same of a class whose metaclass says what a call is."""
    forward = forward_of_method(method, arity + 1, names) if is_plain(method) else None
    if forward is None or isinstance(cls, EnumType):
        return None
    note_class(type(cls))
    note_code(method)

    @passes()
    def call(*args: Any) -> tuple[Any, Any]:
        if type(cls).__call__ is not method:
            split = len(args) - len(names)
            return classes.construct(cls, *args[:split], **dict(zip(names, args[split:])))
        return forward(cls, *args)

    return call


def by_type(cls: Any, arity: int, names: tuple[str, ...]) -> Any:
    """The same of a class that is called as classes are, or of what its metaclass leaves to `type.__call__`."""
    if type(cls) is not type:
        note_class(type(cls))
    init = find(cls, "__init__")
    if find(cls, "__del__") is not None:
        return None
    new = find(cls, "__new__")
    if new is object.__new__ and init is object.__init__ and not arity and not names:
        if not calls.KNOWN.keys().isdisjoint(cls.__mro__[:-1]):
            return None
        note_class(cls)
        return partial(_make_bare, cls)
    if new is not object.__new__ and not (new in _MAKES_EMPTY and type(init) is FunctionType):
        if init is object.__init__:
            return _maker(cls, arity, names)
        if issubclass(cls, BaseException):
            return _of_exception(cls, arity, names)
        if type(new) is staticmethod and is_plain(init) and has_plain_shadow(cls):
            return _maker(cls, arity, names, init)
        handler = None if names else classes.handler_of_container(cls)
        if handler is None:
            return None
        note_class(cls)
        return partial(classes.make_container, cls, handler)
    return _by_init(cls, new, init, arity, names)


def _by_init(cls: Any, new: Any, init: Any, arity: int, names: tuple[str, ...]) -> Any:
    """The same where `new` makes an empty object of a class, and `init` is its `__init__`."""
    forward = forward_of_method(init, arity + 1, names)
    if forward is None or not is_permanent(init):
        return None
    note_class(cls)
    note_code(init)

    @passes()
    def generally(*args: Any) -> tuple[Any, Any]:
        split = len(args) - len(names)
        return classes.make_as_it_is(cls, *args[:split], **dict(zip(names, args[split:])))

    return constructing(arity + len(names))(cls, new, init, forward, generally)


@passes()
def _make_bare(cls: Any) -> tuple[Any, Any]:
    return cls(), None


# What these make of a class is empty, whatever the arguments.
_MAKES_EMPTY = frozenset({list.__new__, dict.__new__, set.__new__, deque.__new__})


def makes_empty(cls: Any) -> bool:
    """Whether all that is in a new instance is what `__init__` puts there."""
    new = find(cls, "__new__")
    return new is object.__new__ or new in _MAKES_EMPTY


_OF_C = frozenset({WrapperDescriptorType})


def _of_exception(cls: Any, arity: int, names: tuple[str, ...]) -> Any:
    """The forward half of a class of exceptions with an `__init__` of its own, or none: `__new__` keeps the arguments."""
    init, new = find(cls, "__init__"), cls.__new__
    if type(new) is not BuiltinFunctionType:
        return None
    if type(init) in _OF_C and not names and calls.KNOWN.keys().isdisjoint(cls.__mro__[:-1]):
        note_class(cls)
        return partial(classes.make_exception, cls)
    if not is_plain(init):
        return None
    forward = forward_of_method(init, arity + 1, names)
    if forward is None:
        return None
    note_class(cls)
    note_code(init)

    def construct(*args: Any) -> tuple[Any, Any]:
        split = len(args) - len(names)
        if cls.__init__ is not init or cls.__new__ is not new:
            return classes.make_as_it_is(cls, *args[:split], **dict(zip(names, args[split:])))
        made = new(cls, *args[:split], **dict(zip(names, args[split:]))) if names else new(cls, *args)
        classes.arguments_are_known(made)
        attributes = classes.attributes_from(made, args)
        y, back = forward(made, *args)
        if y is not None:
            raise TypeError(f"__init__() should return None, not '{type(y).__name__}'")
        return made, (classes.run_exception_made, made, len(args), attributes, back)

    return construct


def _maker(cls: Any, arity: int, names: tuple[str, ...], init: Any = object.__init__) -> Any:
    """The forward half of a class whose instances are made by its `__new__` alone, as those of named tuples, or by both."""
    new = cls.__new__
    if not is_plain(new):
        made = None if names else classes.handler_of_value(cls)
        if made is not None:
            note_class(cls)
        return made
    calls.forward_of(new)
    forward = forward_of_method(new, arity + 1, names)
    begin = None if init is object.__init__ else forward_of_method(init, arity + 1, names)
    if forward is None or (begin is None and init is not object.__init__):
        return None
    note_class(cls)
    note_code(new)
    if begin is not None:
        note_code(init)

    @passes()
    def construct(*args: Any) -> tuple[Any, Any]:
        if cls.__new__ is not new or cls.__init__ is not init:
            split = len(args) - len(names)
            return classes.make_as_it_is(cls, *args[:split], **dict(zip(names, args[split:])))
        made, back = forward(cls, *args)
        if type(made) is cls:
            return (made, back) if begin is None else _begun(begin, made, args, back)
        return (made, back) if not isinstance(made, cls) else _begun_otherwise(made, args, names, back)

    return construct


def _begun_otherwise(made: Any, args: tuple[Any, ...], names: tuple[str, ...], back: Any) -> tuple[Any, Any]:
    """What `__new__` has made is of a class derived from the one that was called."""
    split = len(args) - len(names)
    _, then = objects.call(made.__init__, args[:split], dict(zip(names, args[split:])))
    return made, (run_new_and_init, back, then)


@passes(lambda variables: [(_run_init_left, variables["back"])])
def _begun(begin: Any, made: Any, args: tuple[Any, ...], back: Any) -> tuple[Any, Any]:
    """The `__init__` of a class whose `__new__` has made an instance."""
    y, then = begin(made, *args)
    if y is not None:
        raise TypeError(f"__init__() should return None, not '{type(y).__name__}'")
    return made, (run_new_and_init, back, then)


def _run_init_left(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return run_new_and_init((None, back[2], back[1]), None, shadows)


def run_new_and_init(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """`__new__` has made an instance, and then its `__init__` was called."""
    then = calls.run(back[2], None, shadows)
    if then is not None and then[0] is not None:
        d = objects.accumulate(d, then[0])  # (of an instance that has a cotangent which flows)
    given = calls.run(back[1], d, shadows)
    if then is None or given is None:
        return then if given is None else given
    return None, *[objects.accumulate(a, b) for a, b in zip_longest(given[1:], then[1:])]
