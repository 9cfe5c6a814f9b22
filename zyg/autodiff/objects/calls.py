"""Calls: by a user's rule, by what is known of a function, by differentiating it, or as foreign code.

`call(f, args, kwargs)` gives (value, back); the back of a call gives (cotangent of f, one per argument, one per keyword
argument).  `forward_of(f)` gives the function that does this for positional arguments, for code that calls at once.

* KNOWN: by the callable: `known(math.sin)` decorates `handler(*args, **kwargs) -> (value, back)`.
* METHODS: by class and name: `method(list, "append")` decorates `handler(self, *args, **kwargs) -> (value, back)`, whose back
  gives the cotangent of `self` first.
"""

from __future__ import annotations

import functools
import operator
import types
import weakref
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from zyg import rules
from zyg.autodiff import objects
from zyg.autodiff.identity import ByIdentity, lasts, note
from zyg.autodiff.trying import bodies
from zyg.library import registry
from zyg.transforms import transform_of

from . import foreign, generators, memory, native, numpy_, user_rules
from .cotangents import accumulate, is_number
from .native import NativeFirst

Handler = Callable[..., tuple[Any, Any]]
KNOWN: dict[Any, Handler] = {}
METHODS: dict[tuple[type, str], Handler] = {}
_told_apart = ByIdentity()  # the code of closures in KNOWN, of which each is a function of its own


def known(*functions: Any, exact: bool = False) -> Callable[[Handler], Handler]:
    """The decorated handler is what a call of each of these functions means under differentiation.

    exact: its backs give a cotangent for each argument of a call; those of others may leave out the last ones.
    """

    def register(handler: Handler) -> Handler:
        for f in functions:
            assert f not in KNOWN, f
            if type(f) is FunctionType and f.__closure__:
                _told_apart.note(f.__code__, True)
            entry = handler if exact else functools.partial(run_known, handler)
            KNOWN[f] = functools.partial(numpy_.guarded, f, entry) if _of_numpy(f) else entry
        return handler

    return register


def _of_numpy(f: Any) -> bool:
    return isinstance(f, np.ufunc) or (str(getattr(f, "__module__", None)).partition(".")[0] == "numpy" and callable(f))


def method(cls: type, *names: str, exact: bool = False) -> Callable[[Handler], Handler]:
    """The decorated handler is what a call of each of these methods of a builtin class means."""

    def register(handler: Handler) -> Handler:
        for name in names:
            assert (cls, name) not in METHODS, (cls, name)
            METHODS[cls, name] = handler if exact else functools.partial(run_known, handler)
        return handler

    return register


def run_known(handler: Handler, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """What a handler gives, with a back that has a cotangent for each argument."""
    y, back = handler(*args, **kwargs)
    if back is None:
        return y, None
    return y, (run_padded, back, 1 + len(args) + len(kwargs))


def run_padded(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What is left out at the end has no cotangent."""
    given = run(back[1], d, shadows)
    if given is None or len(given) >= back[2]:
        return given
    return (*given, *[None] * (back[2] - len(given)))


def run(back: Any, d: Any, shadows: Any) -> Any:
    """The cotangents that a back gives, None if there are none. A float is the slope by the only argument."""
    if back is None:
        return None
    if type(back) is float:
        return None if d is None else (None, d * back)
    return back[0](back, d, shadows)


# --------------------------------------------------------------------------------------- Python functions


class Function:
    """How the functions of one code object are called under differentiation."""

    __slots__ = ("_code", "codes", "generator", "made", "simple")

    def __init__(self, f: FunctionType):
        code = f.__code__
        self._code = weakref.ref(code)
        # The forward halves, plain and watched, as far as they have been asked for; and those for methods.
        self.codes: list[CodeType | None] = [None] * 4
        self.simple = not (code.co_kwonlyargcount or code.co_flags & (0x04 | 0x08))
        self.generator = bool(code.co_flags & 0x20)
        # What has been made for the functions that are called, in plain and in watched form: by the way of passing arguments.
        # Without a closure one function does for all, per module.
        self.made: tuple[dict[Any, Any], dict[Any, Any]] = {}, {}
        self.forward(f)

    @property
    def code(self) -> CodeType:
        code = self._code()
        assert code is not None  # who calls a function has it
        return code

    def forward(self, f: FunctionType, bound: bool = False) -> CodeType:
        """The forward half of `f`, one of these functions, in the form that is wanted now."""
        number = 2 * bound + bool(bodies)
        made = self.codes[number]
        if made is None:
            from zyg.autodiff.python import differentiated

            made = self.codes[number] = differentiated(self.code, bound, f.__globals__, bool(bodies))
        return made

    def present(self) -> dict[Any, Any]:
        """What has been made in the form that is wanted now."""
        return self.made[1 if bodies else 0]

    def bind(self, f: FunctionType) -> Callable[..., Any]:
        """The forward half as a function with the globals and the closure of `f`."""
        made = self._bind(f, False)
        return functools.partial(generators.call, made) if self.generator else made

    def bind_method(self, f: FunctionType) -> FunctionType:
        """The same, whose pullback gives the cotangent of the bound method in the place of that of `self`."""
        return self._bind(f, True)

    def _bind(self, f: FunctionType, bound: bool) -> FunctionType:
        present = self.present()
        known = present.get(bound) if f.__closure__ is None else None
        if known is not None and known.__globals__ is f.__globals__:
            return known
        made = _with_code(f, self.forward(f, bound))
        if f.__closure__ is None:
            note(present, bound, (f,), made)
        return made


def _with_code(f: FunctionType, code: CodeType) -> FunctionType:
    made = FunctionType(code, f.__globals__, f.__name__, None, f.__closure__)
    made.__qualname__ = f.__qualname__
    return made


_functions = ByIdentity()  # of a code object: a Function, or a handler
_CACHED = type(functools.lru_cache(lambda: None))
_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
_GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)
_resolved: dict[int, tuple[Any, Handler]] = {}  # by identity of a callable
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


def forget_made() -> None:
    """Bind forward halves again: functions may have been replaced."""
    for entry in list(_functions.values()):
        entry = entry.entry if type(entry) is NativeFirst else entry
        if type(entry) is Function:
            for made in entry.made:
                made.clear()
    for key, (f, _) in list(_resolved.items()):
        if isinstance(f, type) and f not in KNOWN:
            del _resolved[key]


def forward_of(f: Any) -> Callable[..., tuple[Any, Any]]:
    """`forward_of(f)(*args)` is (value, back) of `f(*args)`."""
    if type(f) is FunctionType:
        entry = _functions.get(id(f.__code__))
        if entry is None:
            entry = _function(f)
        if type(entry) is Function:
            if entry.simple and f.__defaults__ is None:
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
        return functools.partial(_method_handler(type(owner), f.__name__, f), owner) if not isinstance(owner, type) else (
            _class_method(f, owner)
        )  # fmt: skip
    if t is MethodType:
        return functools.partial(call_method, f)
    found = _resolved.get(id(f))
    if found is not None:
        return found[1]
    return _general(f)


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


def forward_in_python(f: Any) -> Callable[..., tuple[Any, Any]]:
    """`forward_of`, where `f` itself is not to be native code."""
    transform = transform_of(f)
    if transform is not None and transform.kind == "jit":
        f = transform.function
    entry = _functions.get(id(f.__code__)) or _function(f) if type(f) is FunctionType else None
    return functools.partial(call_bound, entry.entry, f) if type(entry) is NativeFirst else forward_of(f)


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


def record_call(f: Any, *args: Any) -> tuple[Any, Any]:
    """RECORD of a call without keywords."""
    return forward_of(f)(*args)


def record_keywords(names: tuple[str, ...], f: Any, *args: Any) -> tuple[Any, Any]:
    """RECORD of a call whose last arguments are keyword arguments."""
    split = len(args) - len(names)
    return call(f, args[:split], dict(zip(names, args[split:])))


def record_spread(f: Any, args: tuple[Any, ...], kwargs: Any = None) -> tuple[Any, Any]:
    """RECORD of `f(*args, **kwargs)`."""
    if type(args) is not tuple:
        return _spread_items(f, args, kwargs)
    forward = None
    if type(f) is FunctionType and f.__closure__ is None and type(kwargs) in (dict, types.NoneType):
        forward = objects.adapters.adapter(f, len(args), tuple(kwargs) if kwargs else ())
    if forward is not None:
        y, back = forward(*args, *kwargs.values()) if kwargs else forward(*args)
    else:
        y, back = call(f, args, kwargs if kwargs is None else dict(kwargs))
    if back is None:
        return y, None
    return y, (run_spread, back, len(args), kwargs, tuple(kwargs)) if kwargs else (run_spread_plain, back)


def _spread_items(f: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The same where the arguments come from a list or another iterable, which have no cotangent that flows."""
    if type(args) is list:
        items = tuple(args)
        y, back = record_spread(f, items, kwargs)
        return y, None if back is None else (run_spread_list, back, args)
    items, items_back = objects.unpacking.record_unpack_rest(args, 0, 0)
    y, back = record_spread(f, tuple(items), kwargs)
    return y, None if back is None else (run_spread_items, back, items, items_back)


def run_spread_plain(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    inner = back[1]
    given = inner[0](inner, d, shadows) if type(inner) is tuple else run(inner, d, shadows)
    return None if given is None else (given[0], tuple(given[1:]), None)


def run_spread_list(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, items = back
    given = run(inner, d, shadows)
    if given is None:
        return None
    if given[1] is not None:
        for index, c in enumerate(given[1]):
            if c is not None:
                shadows.add_item(items, index, c)
    return given[0], None, None


def run_spread_items(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, items, items_back = back
    given = run(inner, d, shadows)
    if given is not None and given[1] is not None:
        for index, c in enumerate(given[1]):
            if c is not None:
                shadows.add_item(items, index, c)
    source = run(items_back, (None,), shadows)
    return None if given is None else (given[0], None if source is None else source[0], None)


def run_spread(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, count, kwargs, names = back
    given = run(inner, d, shadows)
    if given is None:
        return None
    for name, c in zip(names, given[1 + count :]):
        if c is not None:
            shadows.add_key(kwargs, name, c)
    return given[0], tuple(given[1 : 1 + count]), None


def _function(f: FunctionType) -> Any:
    """What to do for functions of this code object (or for this very function, if it has a rule of its own)."""
    refresh()
    plain = objects.reentry.trapped(f)
    if plain is not None:
        return functools.partial(_call_trapped, plain)
    code = f.__code__
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
    if one_of_several or foreign.is_foreign(f):
        return handler  # not what functions of this code are in general
    _functions.note(code, handler)
    return handler


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
    elif (transform := transform_of(f)) is not None:
        from .nested import call_transform

        handler = functools.partial(call_transform, transform)
    elif foreign.is_compiler(f):
        handler = functools.partial(call_plainly, f)
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


def call_bound(entry: Function, f: FunctionType, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A call of a function with defaults, keywords, `*args` or `**kwargs`: brings the arguments in their places."""
    slots, places = arrange(entry, f, args, kwargs)
    y, back = entry.bind(f)(*slots)
    if back is None or places is None:
        return y, back
    return y, (run_bound, back, f, *places)


def arrange(entry: Function, f: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The values of the parameters, in the order of `co_varnames`; and where they came from, None if all were given in that
    order."""
    code = entry.code
    count, given = code.co_argcount, len(args)
    if not kwargs and given == count and entry.simple:
        return args, None
    names = code.co_varnames
    total = count + code.co_kwonlyargcount
    slots: list[Any] = [_MISSING] * total
    taken = min(given, count)
    slots[:taken] = args[:taken]
    where: list[int] = list(range(taken))  # the place of each argument among the parameters
    more: dict[str, Any] = {}
    flags = code.co_flags
    for name, value in kwargs.items():
        at = names.index(name, code.co_posonlyargcount, total) if name in names[code.co_posonlyargcount : total] else -1
        if at >= 0 and slots[at] is _MISSING:
            slots[at] = value
            where.append(at)
        elif at < 0 and flags & 0x08:
            more[name] = value
            where.append(-1)
        else:
            _complain(f, args, kwargs)
    if given > count and not flags & 0x04:
        _complain(f, args, kwargs)
    defaults = f.__defaults__ or ()
    by_default: list[tuple[int, Any]] = []
    for at in range(total):
        if slots[at] is _MISSING:
            if at >= count:
                key: Any = names[at]
                if key not in (f.__kwdefaults__ or {}):
                    _complain(f, args, kwargs)
                slots[at] = (f.__kwdefaults__ or {})[key]
            else:
                key = at - count + len(defaults)
                if key < 0:
                    _complain(f, args, kwargs)
                slots[at] = defaults[key]
            if is_number(slots[at]) or type(slots[at]) is tuple:
                by_default.append((at, key))
    if flags & 0x04:
        slots.append(args[count:])
    if flags & 0x08:
        slots.append(more)
    if not kwargs and not by_default and given == count and not flags & 0x0C:
        return slots, None
    return slots, (taken, max(given - count, 0), total, tuple(where[taken:]), tuple(kwargs), tuple(by_default), more)


_MISSING = object()


def run_bound(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, f, taken, spread, total, where, names, by_default, more = back
    given = run(inner, d, shadows)
    rest = [shadows.take_key(more, name) if at < 0 else None for at, name in zip(where, names)]
    if given is None:
        return (*[None] * (1 + taken + spread), *rest)
    for at, key in by_default:
        if given[1 + at] is not None:
            shadows.add_key(f, key, given[1 + at])  # `make_function` takes it from there
    if where:
        rest = [given[1 + at] if at >= 0 else r for at, r in zip(where, rest)]
    extra: Any = ()
    if spread:
        extra = given[1 + total]
        extra = extra if extra is not None else (None,) * spread
    return (*given[: 1 + taken], *extra, *rest)


def _complain(f: FunctionType, args: Any, kwargs: Any) -> None:
    """Raise the TypeError that CPython raises for these arguments."""
    empty = (lambda: None).__code__
    code = f.__code__.replace(
        co_code=empty.co_code, co_consts=empty.co_consts, co_freevars=(), co_cellvars=(), co_names=(),
        co_exceptiontable=b"", co_linetable=empty.co_linetable, co_stacksize=empty.co_stacksize,
    )  # fmt: skip
    stub = FunctionType(code, {}, f.__name__, f.__defaults__)
    stub.__qualname__ = f.__qualname__
    stub.__kwdefaults__ = f.__kwdefaults__
    stub(*args, **kwargs)
    raise TypeError(f"{f.__qualname__}() was called with arguments that do not fit")


# ------------------------------------------------------------------------------------------ other callables


def call_method(f: MethodType, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A bound method: its function with `self` in front."""
    y, back = call(f.__func__, (f.__self__, *args), kwargs)
    return y, None if back is None else (run_shifted, back)


def run_shifted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangent of `self` is that of the bound method."""
    given = run(back[1], d, shadows)
    return None if given is None else given[1:]


def run_unshifted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """A method called through its class: `self` is the first argument."""
    given = run(back[1], d, shadows)
    return None if given is None else (None, *given)


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
        handler = KNOWN.get(f) or functools.partial(call_foreign, f)
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


def _method_handler(cls: type, name: str, f: Any) -> Handler:
    rule = rules.rule_for(f) if rules.epoch() else None
    if rule is not None:
        return functools.partial(_by_rule_method, rule, f)
    handler = None if numpy_.of_objects(getattr(f, "__self__", None)) else method_handler(cls, name)
    if handler is not None and (cls, name) not in METHODS and type(_length_of(cls)) is FunctionType:
        return functools.partial(_refuse_length, name)
    if handler is not None:
        return handler
    return functools.partial(_foreign_method, f)


def _length_of(cls: type) -> Any:
    return next((vars(c)["__len__"] for c in cls.__mro__ if "__len__" in vars(c)), None)


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


def _class_method(f: Any, owner: Any) -> Handler:
    """A builtin class method: `dict.fromkeys`, `object.__new__`."""

    handler = KNOWN.get(f)
    if handler is None and f.__name__ == "__new__" and issubclass(owner, BaseException):
        return functools.partial(objects.classes.exception_new, owner)
    return handler if handler is not None else functools.partial(call_foreign, f)


def _general(f: Any) -> Handler:
    """Classes, callable objects, descriptors."""
    refresh()
    transform = transform_of(f)
    if transform is None and _without_rules(f):
        return _by_type(f)
    if transform is not None and transform.kind == "jit":
        return functools.partial(native.call_jitted, f)
    if transform is not None:
        from .nested import call_transform

        return functools.partial(call_transform, transform)
    rule = rules.rule_for(f)
    try:
        handler = KNOWN.get(f)
    except TypeError:
        handler = None  # not hashable
    if rule is not None:
        handler = functools.partial(user_rules.call, rule, f)
    tangent = user_rules.tangent_of(f)
    if tangent is not None:
        otherwise = handler if handler is not None else _by_type(f)
        handler = functools.partial(user_rules.call_by_tangent, tangent, otherwise, f)
    if handler is None:
        handler = _by_type(f)
        of_builtin = type(f) in _DESCRIPTORS and not f.__objclass__.__flags__ & _HEAP_TYPE
        if not of_builtin and not (isinstance(f, type) and lasts(f)):
            return handler
    return _resolve(f, handler)


_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: of a class statement, for one


def _without_rules(f: Any) -> bool:
    """Whether an object is an instance of a class that no rule is for, and has none of its own."""
    cls = type(f)
    if isinstance(f, type) or not cls.__flags__ & _HEAP_TYPE or rules.has_ruled_instances(cls):
        return False
    return cls is functools.partial or not _of_library(cls.__module__)


@functools.cache
def _of_library(module: str) -> bool:
    """Whether zyg's library knows functions of a module."""
    return bool(registry.modules_of(module))


def _by_type(f: Any) -> Handler:
    if isinstance(f, type):
        return functools.partial(objects.classes.construct, f)
    if type(f) in _DESCRIPTORS:
        return functools.partial(_unbound, f)
    if type(f) is types.MethodWrapperType:
        return functools.partial(_method_handler(type(f.__self__), f.__name__, f), f.__self__)
    if type(f) in _GETTERS:
        return objects.math_.getter(f)
    if type(f) is objects.stdlib_.KEY_WRAPPER:
        return functools.partial(objects.stdlib_.call_key_wrapper, f)
    if type(f) is _CACHED:
        return functools.partial(objects.stdlib_.call_cached, f)
    if type(f) is functools.partial:
        return functools.partial(objects.functools_.call_partial, f)
    return functools.partial(call_object, f)


def call_object(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """An object with `__call__`."""

    found = objects.arithmetic.find(type(f), "__call__")
    if type(found) is FunctionType:
        y, back = call(found, (f, *args), kwargs)
        return y, None if back is None else (run_shifted, back)
    if found is not None and is_differentiable_callable(found):
        return call(found.__get__(f, type(f)), args, kwargs)
    return call_foreign(f, *args, **kwargs)


def _unbound(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A method of a builtin class, called through the class."""
    if args:
        handler = method_handler(f.__objclass__, f.__name__)
        if handler is not None:
            y, back = handler(*args, **kwargs)
            return y, None if back is None else (run_unshifted, back)
    return call_foreign(f, *args, **kwargs)


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


# --------------------------------------------------------------------------------------------- foreign code


def call_foreign(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Code that zyg cannot see into: it runs, natively if the library has it."""
    made = native.call_entry(f, args, kwargs)
    if made is not None:
        return made
    return run_foreign(f, foreign.name_of(f), getattr(f, "__self__", f), args, kwargs)


def _run_consumer(f: Any, name: str, owner: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Foreign code that gets iterators: what it takes from these is noted."""
    items: list[Any] = []
    backs: list[Any] = []

    def noted(x: Any) -> Any:
        if not isinstance(x, objects.iteration.Iterator):
            return x
        return _noting(x, items, backs)

    y, back = run_foreign(f, name, owner, tuple(map(noted, args)), {k: noted(v) for k, v in kwargs.items()}, items)
    return y, (run_consumer, back, items, backs, 1 + len(args) + len(kwargs))


def _noting(x: Any, items: list[Any], backs: list[Any]) -> Any:
    for item, back in x.pairs:
        items.append(item)
        backs.append(back)
        yield item


def run_consumer(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, items, backs, count = back
    given = run(inner, d, shadows)
    taken = shadows.take_list(items) or []
    for k in range(len(backs) - 1, -1, -1):
        if backs[k] is not None:
            backs[k][0](backs[k], taken[k] if k < len(taken) else None, shadows)
    return None if given is None else given[:count]


def run_foreign(f: Any, name: str, owner: Any, args: Any, kwargs: Any, items: Any = None) -> tuple[Any, Any]:
    operands = (owner, *args, *kwargs.values())
    if any(isinstance(x, objects.iteration.Iterator) for x in operands[1:]):
        return _run_consumer(f, name, owner, args, kwargs)
    before = objects.structure.watch(operands)
    forms = [objects.structure.form(x) for x in operands] if before is not None else []
    value, entered = objects.reentry.followed(f, args, kwargs, True, (owner,), before)
    if items is not None:
        operands = (*operands, items)
    what = f"a derivative through `{name}`, which zyg cannot see into"
    if user_rules.tangent_of(f) is not None:
        what = f"a derivative in reverse mode through `{name}`, which has a rule for forward mode only"
    hint = f"give it a rule with @zyg.adjoint({name}), or wrap its arguments in zyg.stop_gradient"
    value, back = foreign.result(value, what, hint, operands)
    if before is not None:
        changed = objects.structure.changed(before)
        if changed:
            back = (objects.structure.run_changed, changed, forms, back, name, foreign.caller())
    held = memory.held_by(value, operands)
    if held:
        back = foreign.holding(held, back, f"`{name}`")
    return value, back if entered is None else (run_entered, back, entered)


def run_entered(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Foreign code has called Python code: what that did is undone."""
    _, outer, inner = back
    given = run(outer, d, shadows)
    called = run(inner, d, shadows)
    if given is None or called is None:
        return given if called is None else (None, *called)
    return [*map(accumulate, given[: 1 + len(called)], (None, *called)), *given[1 + len(called) :]]


def _foreign_method(f: Any, owner: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if f.__self__ is not owner:  # what was found for an object serves others of its class
        f = getattr(owner, f.__name__)
    return run_foreign(f, f"{type(owner).__name__}.{f.__name__}", owner, args, kwargs)
