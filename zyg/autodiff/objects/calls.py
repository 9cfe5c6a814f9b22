"""Calls: by a user's rule, by what is known of a function, by differentiating it, or as foreign code.

`call(f, args, kwargs)` gives (value, back); the back of a call gives (cotangent of f, one per argument, one per keyword
argument).  `forward_of(f)` gives the function that does this for positional arguments, for code that calls at once.

* KNOWN: by the callable: `known(math.sin)` decorates `handler(*args, **kwargs) -> (value, back)`.
* METHODS: by class and name: `method(list, "append")` decorates `handler(self, *args, **kwargs) -> (value, back)`, whose back
  gives the cotangent of `self` first.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
import weakref
from collections.abc import Callable
from inspect import Parameter
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from zyg import rules
from zyg.autodiff import objects
from zyg.autodiff.identity import ByIdentity, lasts, note
from zyg.backend.pulls import TABLES
from zyg.errors import Unsupported
from zyg.ir.plainly import get_plainly, is_in_class, own_attributes
from zyg.library import registry
from zyg.transforms import transform_of

from . import foreign, library_calls, native, numpy_, user_rules
from .backs import run as run
from .backs import run_padded, run_placed, run_shifted, run_unshifted
from .cotangents import DATES, NUMERIC
from .foreign_calls import call_foreign, foreign_function, run_foreign
from .functions import Function, call_bound, having_made
from .native import NativeFirst
from .passing import passes, stands_for

Handler = Callable[..., tuple[Any, Any]]
KNOWN: dict[Any, Handler] = {}
TABLES.append(KNOWN)
KNOWN_CODES: dict[int, tuple[CodeType, Handler]] = {}  # by identity (code is compared by value)
METHODS: dict[tuple[type, str], Handler] = {}
# By the function that a method of one of zyg's own classes is: what a call by position means, with the object first, and
# how many arguments there are; its backs give the cotangent of the object first.
AS_METHODS: dict[FunctionType, tuple[Handler, int]] = {}
# By a builtin function or class and how many arguments it is called with, where that is shorter than what is known in general.
SHORT: dict[tuple[Any, int], Handler] = {}
_told_apart = ByIdentity()  # the code of closures in KNOWN, of which each is a function of its own


def known(*functions: Any, exact: bool = False, of_arrays: bool = True) -> Callable[[Handler], Handler]:
    """The decorated handler is what a call of each of these functions means under differentiation.

    exact: its backs give a cotangent for each argument of a call; those of others may leave out the last ones.
    of_arrays: functions of NumPy work on their arguments.
    """

    def register(handler: Handler) -> Handler:
        for f in functions:
            assert f not in KNOWN, f
            if type(f) is FunctionType and f.__closure__:
                _told_apart.note(f.__code__, True)
            entry = handler if exact else functools.partial(run_known, handler)
            KNOWN[f] = functools.partial(numpy_.guarded, f, entry) if of_arrays and _of_numpy(f) else entry
            stands_for(handler, f)
        return handler

    return register


def known_code(code: CodeType) -> Callable[[Handler], Handler]:
    """The decorated handler is what a call of any function with this code means; its backs give a cotangent for each argument."""

    def register(handler: Handler) -> Handler:
        KNOWN_CODES[id(code)] = code, handler
        return handler

    return register


def _of_numpy(f: Any) -> bool:
    return isinstance(f, np.ufunc) or (str(get_plainly(f, "__module__")).partition(".")[0] == "numpy" and callable(f))


def method(cls: type, *names: str, exact: bool = False) -> Callable[[Handler], Handler]:
    """The decorated handler is what a call of each of these methods of a builtin class means."""

    def register(handler: Handler) -> Handler:
        for name in names:
            assert (cls, name) not in METHODS, (cls, name)
            METHODS[cls, name] = handler if exact else functools.partial(run_known, handler)
        return handler

    return register


@passes(lambda variables: [(run_padded, 1 + len(variables["args"]) + len(variables["kwargs"]))])
def run_known(handler: Handler, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """What a handler gives, with a back that has a cotangent for each argument."""
    y, back = handler(*args, **kwargs)
    if back is None:
        return y, None
    if kwargs:
        places = _places(handler, len(args), tuple(kwargs))
        if places is not None:
            return y, (run_placed, back, places)
    return y, (run_padded, back, 1 + len(args) + len(kwargs))


def takes(forward: Any, count: int, names: tuple[str, ...] = ()) -> bool:
    """Whether a handler takes so many arguments by position, and those with these names, as far as its parameters tell."""
    bound: tuple[Any, ...] = ()
    while type(forward) is functools.partial:  # (one that has attributes stays within another one)
        forward, bound = forward.func, (*forward.args, *bound)
        if forward is run_known:
            forward, bound = bound[0], bound[1:]
    own = type(forward) is FunctionType and forward.__globals__.get("__package__") == __package__
    return not own or _takes(forward, len(bound) + count, names)


@functools.cache
def _takes(handler: Handler, count: int, names: tuple[str, ...]) -> bool:
    try:
        inspect.signature(handler).bind(*[None] * count, **dict.fromkeys(names))
    except TypeError:
        return False
    return True


def takes_what(handler: Any, other: Handler) -> None:
    """A handler passes its arguments on to another one, that says which there may be."""
    handler.__signature__ = inspect.signature(other)


def call_wrongly(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A call of a builtin function with arguments that its handler does not take: the TypeError is that of the function."""
    f(*args, **kwargs)
    raise Unsupported(f"these arguments of {getattr(f, '__qualname__', f)} in code that is differentiated")


@functools.cache
def _places(handler: Handler, count: int, names: tuple[str, ...]) -> tuple[int, ...] | None:
    """Which parameters of a handler so many arguments and the named ones are for; None where they are in order."""
    parameters = inspect.signature(handler).parameters.values()
    named = {Parameter.POSITIONAL_OR_KEYWORD}
    if not any(p.kind is Parameter.VAR_POSITIONAL for p in parameters):  # (behind which places depend on the call)
        named.add(Parameter.KEYWORD_ONLY)
    index = {p.name: k for k, p in enumerate(parameters) if p.kind in named}
    places = (*range(count), *(index.get(name, count + k) for k, name in enumerate(names)))
    return None if places == tuple(range(len(places))) else places


# Of a code object (or a function that is not like others of its code): a Function, or a handler.
_functions = ByIdentity()
_CACHED = type(functools.lru_cache(lambda: None))
_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)
_resolved: dict[int, tuple[Any, Handler]] = {}  # by identity of a callable
# Class methods of builtin classes are made anew each time they are read, and are equal: that which came first, and what it means.
_of_classes: dict[BuiltinFunctionType, tuple[BuiltinFunctionType, Handler]] = {}
_epoch = -1


def refresh() -> None:
    """A new rule may be for anything: forget what was found."""
    global _epoch
    if _epoch != rules.epoch():
        from zyg.autodiff.python import forget_callees

        forget()
        forget_callees()
        _epoch = rules.epoch()


def forget() -> None:
    """Look every callable up again."""
    _functions.clear()
    _resolved.clear()
    _of_classes.clear()
    _of_builtin.clear()
    _of_wrappers.clear()


def forget_made() -> None:
    """Bind forward halves again: functions may have been replaced."""
    _of_builtin.clear()
    _of_wrappers.clear()
    for entry in list(having_made):
        for made in entry.made:
            made.clear()
    having_made.clear()
    for key, (f, _) in list(_resolved.items()):
        if isinstance(f, type) and f not in KNOWN:
            _resolved.pop(key, None)


def forward_of(f: Any, by_name: bool = False) -> Callable[..., tuple[Any, Any]]:
    """`forward_of(f)(*args)` is (value, back) of `f(*args)`. `by_name`: for calls with keywords, which may be in another order than
    the parameters."""
    if type(f) is FunctionType:
        entry = _functions.get(id(f.__code__))
        if entry is None:
            entry = _function(f)
        if type(entry) is Function:
            if entry.simple and f.__defaults__ is None and not by_name:
                return entry.bind(f)
            return functools.partial(call_bound, entry, f)
        return functools.partial(entry.call, f) if type(entry) is NativeFirst else entry
    return forward_of_object(f)


def forward_of_object(f: Any) -> Callable[..., tuple[Any, Any]]:
    """The same for what is not a Python function."""
    t = type(f)
    if t is BuiltinFunctionType or issubclass(t, BuiltinFunctionType):
        found = _resolved.get(id(f))
        if found is not None:
            return found[1]
        owner = f.__self__
        if owner is None or type(owner) is types.ModuleType:
            return _resolve(f, _builtin(f))
        if isinstance(owner, type):
            return of_class(f)[1] if is_of_class(f) else _class_method(f, owner)
        return functools.partial(_method_handler(type(owner), f.__name__, f), owner)
    if t is MethodType:
        return functools.partial(call_method, f)
    found = _resolved.get(id(f))
    if found is not None:
        return found[1]
    return _general(f)


@passes()
def call(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> tuple[Any, Any]:
    """(value, back) of `f(*args, **kwargs)`."""
    if not kwargs:
        return forward_of(f)(*args)
    if type(f) is FunctionType:
        entry = _functions.get(id(f.__code__))
        if entry is None:
            entry = _function(f)
        if type(entry) is Function:
            return call_bound(entry, f, *args, **kwargs)
        return entry.call(f, *args, **kwargs) if type(entry) is NativeFirst else entry(*args, **kwargs)
    return forward_of_object(f)(*args, **kwargs)


def forward_in_python(f: Any, by_name: bool = False) -> Callable[..., tuple[Any, Any]]:
    """`forward_of`, where `f` itself is not to be native code."""
    transform = transform_of(f)
    if transform is not None and transform.kind == "jit":
        f = transform.function
    entry = _functions.get(id(f.__code__)) or _function(f) if type(f) is FunctionType else None
    return functools.partial(call_bound, entry.entry, f) if type(entry) is NativeFirst else forward_of(f, by_name)


def differentiated(f: FunctionType) -> Callable[..., tuple[Any, Any]]:
    """`forward_of`, by the code of `f` whatever else is known of it."""
    entry = Function(f)
    return entry.bind(f) if entry.simple and f.__defaults__ is None else functools.partial(call_bound, entry, f)


def call_in_python(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> tuple[Any, Any]:
    """The same, where `f` itself is not to be native code."""
    entry = _functions.get(id(f.__code__)) or _function(f) if type(f) is FunctionType else None
    if type(entry) is NativeFirst:
        return call_bound(entry.entry, f, *args, **(kwargs or {}))
    return call(f, args, kwargs)


@passes()
def record_call(f: Any, *args: Any) -> tuple[Any, Any]:
    """RECORD of a call without keywords."""
    return forward_of(f)(*args)


@passes()
def record_keywords(names: tuple[str, ...], f: Any, *args: Any) -> tuple[Any, Any]:
    """RECORD of a call whose last arguments are keyword arguments."""
    split = len(args) - len(names)
    return call(f, args[:split], dict(zip(names, args[split:])))


def handler_of_code(f: FunctionType) -> Handler | None:
    """What a call of a function means whose code many functions share; None if its own code says it, or a rule."""
    known = KNOWN_CODES.get(id(f.__code__))
    return known[1] if known is not None and forward_of(f) is known[1] else None


def _function(f: FunctionType) -> Any:
    """What to do for functions of this code object (or for this very function, if it has a rule of its own)."""
    refresh()
    plain = objects.reentry.trapped(f)
    if plain is not None:
        return functools.partial(_call_trapped, plain)
    code = f.__code__
    own = _functions.of(f)
    if own is not None:
        return own
    tangent = user_rules.tangent_of(f)
    if tangent is not None:
        entry = _reverse_mode(f)
        handler: Any = functools.partial(call_bound, entry, f) if type(entry) is Function else entry
        handler = functools.partial(entry.call, f) if type(entry) is NativeFirst else handler
        handler = functools.partial(user_rules.call_by_tangent, tangent, handler, f)
    else:
        handler = _reverse_mode(f)
    one_of_several = rules.singled_out(code) or (
        f.__closure__ and (id(code) in _told_apart or rules.rule_for(f) is not None)
    )
    is_foreign = foreign.is_foreign(f)
    if one_of_several or is_foreign:  # not what functions of this code are in general
        if (is_foreign or type(handler) is Function) and lasts(f):
            _functions.note(f, handler)
        return handler
    _functions.note(code, handler)
    return handler


@passes()
def _call_trapped(f: FunctionType, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return call(f, args, kwargs)


def _reverse_mode(f: FunctionType) -> Any:
    code = f.__code__
    if rules.singled_out(code):
        rule = rules.rule_for(f)
        if rule is not None:
            return functools.partial(user_rules.call, rule, f)
        return Function(f)
    handler: Any
    rule = rules.rule_for(f)
    if rule is not None:
        handler = functools.partial(user_rules.call, rule, f)
    elif f in KNOWN:
        handler = KNOWN[f]
    elif id(code) in KNOWN_CODES:
        handler = KNOWN_CODES[id(code)][1]
    elif (transform := transform_of(f)) is not None:
        from .nested import call_transform

        handler = functools.partial(call_transform, transform)
    elif foreign.is_compiler(f):
        handler = functools.partial(call_plainly, f)
    elif (told := objects.telling.handler_of(f)) is not None:
        handler = told
    elif foreign.is_foreign(f):
        handler = functools.partial(call_foreign, f)
    else:
        handler = Function(f)
        if native.worthwhile(code) and not _is_half(code) and not str(f.__globals__.get("__name__")).startswith("zyg."):
            handler = NativeFirst(handler)
    return handler


def known_function(code: CodeType) -> Function | None:
    """The entry of a code object whose functions are differentiated as Python code, if that is known already."""
    entry = _functions.get(id(code))
    return entry if type(entry) is Function else None


def is_tried(f: Any) -> bool:
    """Whether it is still being tried to run a function natively."""
    return type(f) is FunctionType and type(_functions.get(id(f.__code__))) is NativeFirst


def known_entry(f: FunctionType) -> Function | None:
    """The same of a function, which may be one that is not like others of its code."""
    entry = _functions.get(id(f.__code__)) or _functions.of(f)
    return entry if type(entry) is Function else None


def call_plainly(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """What carries no derivative."""
    return f(*args, **kwargs), None


def settle(code: CodeType, entry: Function) -> None:
    """From now on the functions of a code object are differentiated as Python code."""
    from zyg.autodiff.python import forget_callees

    _functions.note(code, entry)
    forget_callees()


def _is_half(code: CodeType) -> bool:
    from zyg.autodiff.python import is_half

    return is_half(code)


# ------------------------------------------------------------------------------------------ other callables


@passes(lambda variables: [(run_shifted,)])
def call_method(f: MethodType, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A bound method: its function with `self` in front."""
    y, back = call(f.__func__, (f.__self__, *args), kwargs)
    return y, None if back is None else (run_shifted, back)


def forward_by_others(f: Any, by_name: bool = False) -> Callable[..., tuple[Any, Any]]:
    """`forward_of`, for what calls a function that it was given (`map`, `functools.partial`), and gives it no cotangent: that of
    a method bound to a number or tuple is left in the method's shadow."""
    forward = forward_of(f, by_name)
    bound = isinstance(f, (MethodType, BuiltinFunctionType, types.MethodWrapperType))
    return (
        functools.partial(_leaving, f, forward)
        if bound and issubclass(type(f.__self__), (tuple, *NUMERIC))
        else forward
    )


@passes(lambda variables: [(_run_leaving, variables["f"])])
def _leaving(f: Any, forward: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y, back = forward(*args, **kwargs)
    return y, None if back is None else (_run_leaving, back, f)


def _run_leaving(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = run(back[1], d, shadows)
    if given is None or given[0] is None:
        return given
    shadows.add_attr(back[2], "__self__", given[0])
    return (None, *given[1:])


def _resolve(f: Any, handler: Handler) -> Handler:
    _resolved[id(f)] = (f, handler)
    return handler


def _builtin(f: Any) -> Handler:
    """A function that is not of Python code, of a module."""
    refresh()
    rule = rules.rule_for(f)
    if rule is not None:
        handler: Any = functools.partial(user_rules.call, rule, f)
    else:
        handler = KNOWN.get(f) or foreign_function(f)
    return user_rules.with_tangent(f, handler)


def method_handler(cls: type, name: str) -> Handler | None:
    """The handler of a builtin method of a class, which may be inherited from a builtin class. (What Python code in between
    defines under that name is not it.)"""
    for c in cls.__mro__:
        handler = METHODS.get((c, name))
        if handler is not None:
            return handler
        if name in c.__dict__ and not isinstance(c.__dict__[name], FunctionType):
            return None
    return None


# Of methods of builtin classes, by class and name: the handlers that were found.
_of_builtin: dict[tuple[type, str], Handler] = {}


def _method_handler(cls: type, name: str, f: Any) -> Handler:
    refresh()
    found = _of_builtin.get((cls, name))
    if found is not None:
        return found
    rule = rules.rule_for(f) if rules.epoch() else None
    if rule is not None:
        return functools.partial(_by_rule_method, rule, f)
    if cls in DATES:
        handler = objects.dates.method(cls, name)
    else:
        handler = None if numpy_.of_objects(get_plainly(f, "__self__")) else method_handler(cls, name)
    if handler is None and cls in objects.matches.OF_TEXT:
        handler = objects.matches.method(cls, name, functools.partial(_method_of, name))
    if handler is not None and (cls, name) not in METHODS and _counts_otherwise(cls):
        return functools.partial(_refuse_length, name)
    if handler is not None:
        if not issubclass(cls, np.ndarray):
            note(_of_builtin, (cls, name), (cls,), handler)
        return handler
    return functools.partial(call_foreign_method, f)


def _method_of(name: str, owner: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return call_foreign_method(getattr(owner, name), owner, *args, **kwargs)


def inherited_handler(cls: type, name: str) -> Handler | None:
    """The handler that was found for bound methods of this name, if it serves all instances of the class."""
    return _of_builtin.get((cls, name))


def _length_of(cls: type) -> Any:
    return next((vars(c)["__len__"] for c in cls.__mro__ if "__len__" in vars(c)), None)


def _counts_otherwise(cls: type) -> bool:
    return issubclass(cls, objects.iteration.CONTAINERS) and type(_length_of(cls)) is FunctionType


def _refuse_length(name: str, owner: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The places of items are counted by `len`."""
    cls = type(owner)
    foreign.refuse(
        f"{name}() of a {cls.__qualname__}, a container with a `__len__` of its own, in code that is differentiated",
        foreign.caller(),
        "keep the container in an attribute of a plain class",
    )


def method_handler_of(f: Any) -> Handler:
    """What a call of a bound builtin method is: a function of the object and the arguments."""
    return _method_handler(type(f.__self__), f.__name__, f)


def _by_rule_method(rule: Any, f: Any, owner: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y, back = user_rules.call(rule, f, owner, *args, **kwargs)
    return y, None if back is None else (run_shifted, back)


def is_of_class(f: BuiltinFunctionType) -> bool:
    """Whether it is a class method of a builtin class, such as `date.fromisoformat`."""
    owner = f.__self__
    return type(owner) is type and not owner.__flags__ & _HEAP_TYPE and f.__name__ != "__new__"


def of_class(f: BuiltinFunctionType) -> tuple[BuiltinFunctionType, Handler]:
    """A class method of a builtin class: the object that stands for all that are equal, and what its call means."""
    refresh()
    found = _of_classes.get(f)
    if found is None:
        rule = rules.rule_for(f) if rules.epoch() else None
        ruled = rule is not None and rules.is_users(rule)
        handler = functools.partial(user_rules.call, rule, f) if ruled else _class_method(f, f.__self__)
        found = _of_classes[f] = f, user_rules.with_tangent(f, handler)
    return found


def _class_method(f: Any, owner: Any) -> Handler:
    """A builtin class method: `dict.fromkeys`, `object.__new__`."""

    handler = KNOWN.get(f)
    if owner in DATES:
        return objects.dates.caller_of(f)
    if handler is None and f.__name__ == "fromkeys" and issubclass(owner, dict):
        return functools.partial(objects.dict_methods.from_keys, owner)
    if handler is None and f.__name__ == "__new__" and issubclass(owner, BaseException):
        return functools.partial(objects.classes.exception_new, owner)
    if handler is None and f.__name__ == "fromkeys" and isinstance(owner, type) and issubclass(owner, dict):
        return functools.partial(objects.item_methods.call, objects.item_methods.from_keys, owner)
    return handler if handler is not None else foreign_function(f)


def _general(f: Any) -> Handler:
    """Classes, callable objects, descriptors."""
    refresh()
    if type(f) is types.MethodWrapperType:
        found = _of_wrappers.get((type(f.__self__), f.__objclass__, f.__name__))
        if found is not None:
            return functools.partial(found, f.__self__)
    transform = transform_of(f)
    if transform is None and _without_rules(f):
        return _by_type(f)
    if transform is not None and transform.kind == "jit":
        return functools.partial(native.call_jitted, f)
    rule, tangent = rules.rules_for(f)
    if transform is not None:
        from .nested import call_transform

        handler: Any = functools.partial(call_transform, transform)
    else:
        try:
            handler = KNOWN.get(f)
        except TypeError:
            handler = None  # not hashable
    if rule is not None:
        handler = functools.partial(user_rules.call, rule, f)
    if tangent is not None and rules.is_users(tangent):
        otherwise = handler if handler is not None else _by_type(f)
        handler = functools.partial(user_rules.call_by_tangent, tangent, otherwise, f)
    if transform is not None:
        return handler  # (many are made for one call)
    if handler is None:
        handler = _by_type(f)
        if type(f) is types.MethodWrapperType:
            cls = type(f.__self__)
            made = _of_builtin.get((cls, f.__name__))
            if made is not None:
                note(_of_wrappers, (cls, f.__objclass__, f.__name__), (cls,), made)
            return handler
        of_builtin = type(f) in _DESCRIPTORS and not f.__objclass__.__flags__ & _HEAP_TYPE
        if not of_builtin and not (isinstance(f, type) and lasts(f)):
            return handler
    return _resolve(f, handler)


# Of bound special methods of builtin classes, by the class of the object, that of the method, and its name.
_of_wrappers: dict[tuple[type, type, str], Handler] = {}
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: of a class statement, for one


def _without_rules(f: Any) -> bool:
    """Whether an object is an instance of a class that no rule is for, and has none of its own."""
    cls = type(f)
    if isinstance(f, type) or not cls.__flags__ & _HEAP_TYPE or rules.has_ruled_instances(cls):
        return False
    if cls is _CACHED:  # (the library may know functions with a cache)
        return f not in KNOWN
    module = cls.__module__  # whatever the class says that it is
    return cls is functools.partial or cls in GETTERS or not (isinstance(module, str) and _of_library(module))


@functools.cache
def _of_library(module: str) -> bool:
    """Whether zyg's library knows functions of a module (of Cython's: of classes of functions)."""
    return module.startswith("_cython_") or bool(registry.modules_of(module))


def _by_type(f: Any) -> Handler:
    if isinstance(f, type):
        return objects.dates.caller_of(f) if f in DATES else functools.partial(objects.classes.construct, f)
    if type(f) in _DESCRIPTORS:
        return functools.partial(_unbound, f, method_handler(f.__objclass__, f.__name__))
    if type(f) is types.MethodWrapperType:
        return functools.partial(_method_handler(type(f.__self__), f.__name__, f), f.__self__)
    if type(f) in GETTERS:
        return objects.math_.getter(f)
    if type(f) is objects.stdlib_.KEY_WRAPPER:
        return functools.partial(objects.stdlib_.call_key_wrapper, f)
    if type(f) is _CACHED:
        return functools.partial(objects.stdlib_.call_cached, f)
    if type(f) is functools.partial:
        return functools.partial(objects.functools_.call_partial, f)
    if type(f) is staticmethod:
        return functools.partial(_call_static, f)
    if type(f) is types.GenericAlias:
        return functools.partial(call_alias, f)
    if isinstance(f, weakref.ref) and objects.arithmetic.find(type(f), "__call__") is weakref.ref.__call__:
        return functools.partial(call_plainly, f)  # the object, whose cotangents are its own
    return functools.partial(call_object, f)


@passes(lambda v: [(run_shifted,)] if type(objects.arithmetic.find(type(v["f"]), "__call__")) is FunctionType else [])
def call_object(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """An object with `__call__`."""

    found = objects.arithmetic.find(type(f), "__call__")
    if type(found) is FunctionType:
        y, back = call(found, (f, *args), kwargs)
        return y, None if back is None else (run_shifted, back)
    if found is not None and is_differentiable_callable(found):
        return call(found.__get__(f, type(f)), args, kwargs)
    if found is not None and not is_in_class(type(found), "__get__"):  # that of typing.NewType
        return call(found, args, kwargs)
    return call_foreign(f, *args, **kwargs)


@passes()
def _call_static(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return call(f.__func__, args, kwargs)


@passes()
def call_alias(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """`list[float](...)` makes a list, which may remember the alias."""
    y, back = call(f.__origin__, args, kwargs)
    if own_attributes(y) is not None and not isinstance(y, type):
        y.__dict__["__orig_class__"] = f
    return y, back


@passes(lambda variables: [(run_unshifted,)] if variables["args"] and variables["handler"] is not None else [])
def _unbound(f: Any, handler: Handler | None, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A method of a builtin class, called through the class."""
    if handler is None or not args:
        return call_foreign(f, *args, **kwargs)
    y, back = handler(*args, **kwargs)
    return y, None if back is None else (run_unshifted, back)


def is_differentiable_callable(f: Any) -> bool:
    """Whether something in the place of a method is not a builtin's own, so that a call of it has to be differentiated."""
    t = type(f)
    if t is FunctionType or t is MethodType:
        return True
    if t in (
        types.WrapperDescriptorType,
        types.MethodDescriptorType,
        types.BuiltinFunctionType,
        types.GetSetDescriptorType,
    ):
        return False
    return isinstance(f, (staticmethod, classmethod, functools.partialmethod)) or transform_of(f) is not None


def call_foreign_method(f: Any, owner: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if f.__self__ is not owner:  # what was found for an object serves others of its class
        f = getattr(owner, f.__name__)
    made = library_calls.call_entry(f, args, kwargs) if isinstance(owner, (np.ndarray, np.ufunc)) else None
    if made is not None:
        return made
    return run_foreign(f, f"{type(owner).__name__}.{f.__name__}", owner, args, kwargs)
