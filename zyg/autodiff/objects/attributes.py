"""Attributes: of instances, through properties and other descriptors, of classes and modules, of builtin types."""

from __future__ import annotations

import collections
import functools
import gc
import weakref
from types import (
    BuiltinFunctionType,
    CellType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from zyg import tracebacks
from zyg.backend.pullbacks import in_field
from zyg.errors import Unsupported
from zyg.ir.plainly import is_in_class, own_attributes

from ..identity import ByIdentity
from . import calls, classes, dates, foreign, later, native, numpy_
from .arithmetic import find, is_python
from .cotangents import DATES, INERT, NUMERIC, accumulate, is_number
from .holders import Holder
from .passing import passes
from .scattering import kind_of
from .shadows import Joined

OF_C = (GetSetDescriptorType, MemberDescriptorType)
_BOUND = (BuiltinFunctionType, MethodWrapperType)


def record_getattr(x: Any, name: str) -> tuple[Any, Any]:
    """(value, back) of `x.name`."""
    cls = type(x)
    if cls is ModuleType:
        return _of_module(x, name)
    found = find(cls, name)
    if found is None or is_slot(cls, found):
        if plain_lookup(cls):
            if name == "__dict__":
                return instance_dict(x)
            method = find(cls, "__getattr__")
            if method is None:
                return getattr(x, name), (run_attr, x, name)
            try:
                return object.__getattribute__(x, name), (run_attr, x, name)
            except AttributeError:
                pass
            return _called(_by_method(method.__get__(x, cls), x, name))
        return _general(x, name, cls, found)
    if type(found) is FunctionType and plain_lookup(cls):
        y = getattr(x, name)
        if type(y) is MethodType and y.__func__ is found:
            return y, (run_bound_method, y) if issubclass(type(x), (tuple, *NUMERIC)) else None
        return y, (run_attr, x, name)  # the instance has its own
    if (
        name == "__dict__"
        and type(found) is GetSetDescriptorType
        and found.__objclass__ is not type
        and plain_lookup(cls)
    ):
        return instance_dict(x)
    return _general(x, name, cls, found)


def _of_module(x: ModuleType, name: str) -> tuple[Any, Any]:
    """A module may have a function `__getattr__` for the names that it has not."""
    own = vars(x)
    if name in own or "__getattr__" not in own or hasattr(ModuleType, name):
        return getattr(x, name), (run_attr, x, name)
    y, back = _by_method(own["__getattr__"], x, name)
    return y, None if back is None else (_run_of_module, back)


def behind(proxy: Any) -> Any:
    """The object that a `weakref.proxy` stands for: a method that every object has is bound to it. ReferenceError if it is gone."""
    return proxy.__sizeof__.__self__


def _by_method(method: Any, x: Any, name: str) -> tuple[Any, Any]:
    """What a method that is asked for an attribute gives."""
    try:
        return calls.call(method, (name,))
    except AttributeError as error:
        tell(error, x, name)
        raise


def tell(error: AttributeError, x: Any, name: str) -> None:
    """The AttributeError of a method that was asked tells what was looked for, as CPython has it."""
    if error.name is None and error.obj is None:
        error.name, error.obj = name, x


def asked(forward: Any) -> Any:
    """What reads attributes of any name that nobody has, by the forward half of `__getattr__`. (It stands here to be differentiated.)"""

    @passes()
    def read(x: Any, name: str) -> tuple[Any, Any]:
        try:
            return forward(x, name)
        except AttributeError as error:
            tell(error, x, name)
            raise

    return read


def held_or_asked(forward: Any) -> Any:
    """The same of attributes that an instance may hold."""

    @passes()
    def read(x: Any, name: str) -> tuple[Any, Any]:
        if name in x.__dict__:
            return object.__getattribute__(x, name), (run_attr, x, name)
        try:
            return forward(x, name)
        except AttributeError as error:
            tell(error, x, name)
            raise

    return read


def _run_of_module(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    calls.run(back[1], d, shadows)


def plain_lookup(cls: type) -> bool:
    """Whether attributes of instances are found in Python's usual way."""
    return find(cls, "__getattribute__") in _USUAL


_LOOKED_UP_PLAINLY = (
    *(object, SimpleNamespace, dict, list, tuple, set, frozenset, int, float, complex, str, bytes),
    *(collections.deque, collections.OrderedDict, collections.defaultdict, BaseException),
)
_USUAL = frozenset({vars(c)["__getattribute__"] for c in _LOOKED_UP_PLAINLY if "__getattribute__" in vars(c)})


def is_slot(cls: type, found: Any) -> bool:
    """Whether what a class holds is a place for an attribute of instances, from `__slots__`. (What classes of C code hold in such places
    is also set by what makes their objects.)"""
    return type(found) is MemberDescriptorType and "__slots__" in vars(found.__objclass__)


def may_run_code(x: Any, name: str) -> bool:
    """Whether looking an attribute up may run code of the user's."""
    cls = type(x)
    found = find(cls, name)
    return not plain_lookup(cls) or find(cls, "__getattr__") is not None or is_python(find(type(found), "__get__")) or (
        type(found) in (property, functools.cached_property)
    )  # fmt: skip


def run_attr(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is None:
        return
    _, x, name = back
    holder = shadows.holders.get(id(x))
    if holder is None or name.startswith("__"):
        shadows.add_attr(x, name, d)
        return
    old = getattr(holder, name, None)
    setattr(holder, name, d if old is None else old + d if type(old) is float else accumulate(old, d))


def run_bound_method(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """A method bound to what has a cotangent that flows: that is the cotangent of the method, with what is in the method's shadow
    (`calls.forward_by_others`)."""
    left = shadows.take_attr(back[1], "__self__")
    return (d if left is None else accumulate(d, left),)


def _called(made: tuple[Any, Any]) -> tuple[Any, Any]:
    """From a call of a method bound to the object: the cotangent of the method is that of the object."""
    y, back = made
    return y, None if back is None else (_run_called, back)


def _run_called(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return calls.run(back[1], d, shadows)


def _general(x: Any, name: str, cls: type, found: Any) -> tuple[Any, Any]:
    if type(found) in OF_C and cls in DATES:
        return dates.reader(cls, name)(x)
    if issubclass(cls, type):  # (isinstance would ask `x.__class__`, which may run code)
        return of_class(x, name)
    if issubclass(cls, super):
        return _of_super(x, name)
    if issubclass(cls, ModuleType):
        return _of_module(x, name)
    if not plain_lookup(cls):
        method = find(cls, "__getattribute__")
        if is_python(method):
            return _custom(x, name, cls, method)
        if cls in weakref.ProxyTypes:
            return record_getattr(behind(x), name)
        if found is None:
            if issubclass(type(x), (BaseException, functools.partial)) and name in x.__dict__:
                return x.__dict__[name], (run_attr, x, name)
            return _foreign(x, name, cls)
    kind = type(found)
    if kind is property:
        if found.fget is None:
            return getattr(x, name), None
        if find(cls, "__getattr__") is not None:
            return _property_or(x, name, found, find(cls, "__getattr__"))
    else:
        handler = attribute_handler(cls, name)
        if handler is not None:
            return handler(x)
    made = by_descriptor(x, name, cls, found)
    if made is not None:
        return made
    if issubclass(cls, BaseException) and name in classes.attributes_of_c(x):
        return _kept_by_exception(x, name)
    if kind is GetSetDescriptorType:
        return _foreign(x, name, cls)
    y = getattr(x, name)
    if is_in_class(kind, "__get__"):
        if isinstance(y, MethodType) or isinstance(y, _BOUND) and y.__self__ is x:
            return y, (run_bound_method, y) if issubclass(type(x), (tuple, *NUMERIC)) else None
        if kind.__name__ == "_tuplegetter":  # a field of a named tuple
            index = x._fields.index(name)
            return y, (in_field, index, len(x))
        if kind in (staticmethod, classmethod, FunctionType):
            return y, None
        fields = getattr(cls, "__match_args__", ()) if kind is MemberDescriptorType else ()
        if name in fields and issubclass(cls, tuple):
            index = fields.index(name)
            if tuple.__getitem__(x, index) is y:  # a field of a sequence of C code, `time.struct_time`
                return y, (in_field, index, len(x))
        return _foreign(x, name, cls)
    held = own_attributes(x)
    if held is not None and name in held:
        return y, (run_attr, x, name)
    return y, (run_attr, _owner(cls, name), name)


def _property_or(x: Any, name: str, found: property, other: Any) -> tuple[Any, Any]:
    """`__getattr__` is asked when the property raises AttributeError."""
    try:
        y, back = later.escaping.attempt(calls.call, found.fget, (x,))
        return y, None if back is None else (_run_first, back)
    except AttributeError as error:
        return _after(later.escaping.swallowed(error), _called(_by_method(other.__get__(x, type(x)), x, name)))


def _after(first: Any, made: tuple[Any, Any]) -> tuple[Any, Any]:
    """What was asked first has raised; `first` undoes what it did."""
    y, back = made
    return y, back if first is None else (_run_after, first, back)


def _run_after(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[2], d, shadows)
    calls.run(back[1], None, shadows)
    return given


def _owner(cls: type, name: str) -> type:
    return next(c for c in cls.__mro__ if name in c.__dict__)


def _run_first(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """From a call of a function with the object as its argument."""
    given = calls.run(back[1], d, shadows)
    return None if given is None else (given[1],)


_run_descriptor = _run_first


def special_of(x: Any, method: Any) -> tuple[Any, Any]:
    """(what a special method that the class of `x` holds is for `x`, back), as CPython looks it up: whatever the object holds itself."""
    kind = type(method)
    if kind is property and method.fget is not None:
        y, back = calls.call(method.fget, (x,))
        return y, None if back is None else (_run_first, back)
    get = find(kind, "__get__")
    if is_python(get):
        y, back = calls.call(get.__get__(method, kind), (x, type(x)))
        return y, None if back is None else (_run_first, back)
    if get is None:
        return method, None
    y = method.__get__(x, type(x))
    return y, (run_bound_method, y) if issubclass(type(x), (tuple, *NUMERIC)) and type(y) is MethodType else None


def by_descriptor(x: Any, name: str, cls: type, found: Any) -> tuple[Any, Any] | None:
    """What a property, or another descriptor in Python, gives, which stands in the class; None where there is none."""
    kind = type(found)
    if kind is property and found.fget is not None:
        y, back = calls.call(found.fget, (x,))
        return y, None if back is None else (_run_first, back)
    if kind is functools.cached_property and plain_lookup(cls):  # (else its own code asks for the `__dict__`)
        return _cached(x, name, found)
    if is_python(find(kind, "__get__")):
        held = held_by(x)
        if name in held and find(kind, "__set__") is None:
            return held[name], (run_attr, x, name)
        y, back = calls.call(find(kind, "__get__").__get__(found, kind), (x, cls))
        return y, None if back is None else (_run_descriptor, back)
    return None


def held_by(x: Any) -> dict[str, Any]:
    """The attributes of an instance in its `__dict__`, whatever its class says of attributes."""
    try:
        return object.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}


def _custom(x: Any, name: str, cls: type, method: Any) -> tuple[Any, Any]:
    """A class with its own `__getattribute__`; `__getattr__` is asked when that raises."""
    other = find(cls, "__getattr__")
    if other is None:
        return _called(_by_method(method.__get__(x, cls), x, name))
    try:
        return _called(later.escaping.attempt(calls.call, method.__get__(x, cls), (name,)))
    except AttributeError as error:
        return _after(later.escaping.swallowed(error), _called(_by_method(other.__get__(x, cls), x, name)))


def _cached(x: Any, name: str, found: functools.cached_property) -> tuple[Any, Any]:
    """The first time the function is called, and what it gives becomes an attribute."""
    held = object.__getattribute__(x, "__dict__")
    if name in held:
        return held[name], (run_attr, x, name)
    y, back = calls.call(found.func, (x,))
    held[name] = y
    return y, (_run_cached, x, name, back)


def _run_cached(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, name, inner = back
    given = calls.run(inner, accumulate(d, shadows.take_attr(x, name)), shadows)
    return None if given is None else (given[1],)


def of_class(x: type, name: str) -> tuple[Any, Any]:
    """A class attribute. Its number may have been set by code that is differentiated."""
    found = find(type(x), name)
    held = find(x, name)
    if found is not None and (held is None or is_in_class(type(found), "__set__")):
        made = by_descriptor(x, name, type(x), found)
        if made is not None:
            return made
    if held is not None and is_python(find(type(held), "__get__")) and not is_in_class(type(found), "__set__"):
        y, back = calls.call(find(type(held), "__get__").__get__(held, type(held)), (None, x))
        return y, None if back is None else (_run_of_class, back)
    if held is None and found is None and is_python(find(type(x), "__getattr__")):
        y, back = _by_method(find(type(x), "__getattr__").__get__(x, type(x)), x, name)
        return y, None if back is None else (_run_of_class, back)
    y = getattr(x, name)
    if type(y) is MappingProxyType and name == "__dict__":
        return y, (_run_instance_dict, Joined(x, gc.get_referents(y)[0]))
    if is_number(y) or type(y) is tuple:
        owner = next((c for c in x.__mro__ if name in c.__dict__), x)
        return y, (run_attr, owner, name)
    return y, None


def _run_of_class(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """A class has its cotangents in its shadow."""
    calls.run(back[1], d, shadows)


def _of_super(x: Any, name: str) -> tuple[Any, Any]:
    """`super().name`: what the classes after a class have, bound to the object (to the class, in class methods)."""
    own, start = x.__self__, x.__self_class__
    if name == "__self__":
        return own, (run_bound_method, x)
    after = start.__mro__[start.__mro__.index(x.__thisclass__) + 1 :] if start is not None else ()
    owner = next((c for c in after if name in c.__dict__), None)
    if owner is None or name == "__class__":
        return getattr(x, name), None
    found = owner.__dict__[name]
    kind = type(found)
    get = find(kind, "__get__")
    if get is None:
        return getattr(x, name), (run_attr, owner, name)
    if own is not start:
        if kind is property:
            y, back = calls.call(found.fget, (own,))
            return y, None if back is None else (_run_first, back)
        if kind is functools.cached_property:
            return _cached(own, name, found)
    if is_python(get):
        y, back = calls.call(get.__get__(found, kind), (None if own is start else own, start))
        return y, None if back is None else (_run_descriptor, back)
    y = getattr(x, name)
    return y, (run_bound_method, y) if issubclass(type(own), (tuple, *NUMERIC)) and own is not start else None


def instance_dict(x: Any) -> tuple[Any, Any]:
    """(value, back) of `x.__dict__`: the attributes and the items of the dict have one shadow."""
    cls = type(x)  # (`isinstance` asks a `__getattribute__` of the user's for the class)
    if issubclass(cls, BaseException):
        classes.show_dict(x)
    held = object.__getattribute__(x, "__dict__")
    if issubclass(cls, Holder):  # which has its attributes there in any case (`Shadows.new_holder`)
        return held, None
    if has_slots(cls):
        raise Unsupported(
            f"the __dict__ of a {type(x).__name__}, whose class has __slots__ as well, in code that is differentiated",
            foreign.position_of(foreign.caller()),
            hint="read and set its attributes with getattr and setattr",
        )
    return held, (_run_instance_dict, Joined(x, held)) if type(held) is dict else None


_with_slots = ByIdentity()


def has_slots(cls: type) -> bool:
    """Whether instances have attributes that are not items of their `__dict__`, where there may be others of these names."""
    found = _with_slots.of(cls)
    if found is None:
        # (What classes of C code hold, as functions and partial objects do, has no items beside it.)
        made = [c for c in cls.__mro__ if "__slots__" in vars(c)]
        found = any(is_slot(cls, held) for c in made for held in vars(c).values())
        _with_slots.note(cls, found)
    return found


def _run_instance_dict(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Nothing flows; what flows through the items has come to the shadow."""


def _set_instance_dict(x: Any, value: Any) -> Any:
    """`x.__dict__ = value`."""
    if x.__dict__ and x.__dict__ is not value:
        raise Unsupported(
            f"another __dict__ for a {type(x).__name__} that has attributes, in code that is differentiated",
            foreign.position_of(foreign.caller()),
            hint="set the attributes one by one, or update the dict that there is",
        )
    x.__dict__ = value
    return None if issubclass(type(x), Holder) else (_run_instance_dict, Joined(x, value))


def _foreign(x: Any, name: str, cls: type) -> tuple[Any, Any]:
    if name == "__dict__":
        return instance_dict(x)
    y = getattr(x, name)
    if type(y) in INERT or name.startswith("__") and name.endswith("__") and not classes.flows(y):
        return y, None
    if cls is MethodType and type(x.__func__) is FunctionType:
        return y, (run_attr, x.__func__, name)  # a method has the attributes of its function
    hint = "take it out of the derivative's path with zyg.stop_gradient"
    return foreign.result(y, f"a derivative through the attribute `{name}` of a {cls.__name__}", hint, (x,))


# ----------------------------------------------------------------------------------- attributes of builtin types


def _real(x: Any) -> tuple[Any, Any]:
    return x.real, (_run_real, issubclass(type(x), (complex, np.complexfloating)))


def _run_real(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (complex(d, 0.0) if back[1] else d,)


def _imag(x: Any) -> tuple[Any, Any]:
    if not issubclass(type(x), (complex, np.complexfloating)):
        return x.imag, None
    return x.imag, (_run_imag,)


def _run_imag(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (complex(0.0, d),)


def _constant(name: str) -> Any:
    def attribute(x: Any) -> tuple[Any, Any]:
        return getattr(x, name), None

    return attribute


def _exception_args(x: BaseException) -> tuple[Any, Any]:
    return _argument(x, "args")


def _argument(x: BaseException, name: str) -> tuple[Any, Any]:
    y = getattr(x, name)
    if classes.has_known_arguments(x):
        return y, (run_attr, x, name)
    return _of_interpreter(x, y)


def _kept_by_exception(x: BaseException, name: str) -> tuple[Any, Any]:
    """What C code of an exception has made of its arguments."""
    y = getattr(x, name)
    if not classes.flows(y):
        return y, None
    if classes.is_noted(x, name, y):
        return y, (run_attr, x, name)
    return (y, None) if type(y) is int and name != "obj" else _of_interpreter(x, y)


def _of_interpreter(x: BaseException, y: Any) -> tuple[Any, Any]:
    tracebacks.note(x)
    what = f"a derivative through the arguments of {kind_of(x)} that was not raised by differentiated code"
    return foreign.hidden(y, what, "raise an exception with what you need, or keep that in a variable")


def _stop_value(x: StopIteration) -> tuple[Any, Any]:
    return _argument(x, "value")


def _cell_contents(x: CellType) -> tuple[Any, Any]:
    return x.cell_contents, (run_attr, x, "cell_contents")


@calls.method(FunctionType, "__get__")
def _bind(f: FunctionType, x: Any, cls: Any = None) -> tuple[Any, Any]:
    y = f.__get__(x, cls)
    return y, (_run_bind, y) if issubclass(type(x), (tuple, *NUMERIC)) else None


def _run_bind(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, *run_bound_method(back, d, shadows)


def _with_function(name: str) -> Any:
    """The method of a property that makes another one, with a function more; a class derived from it has its own way."""
    make = getattr(property, name)

    def handler(x: property, f: Any, /) -> tuple[Any, Any]:
        if type(x) is property:
            return make(x, f), None
        return calls.call_foreign_method(getattr(x, name), x, f)

    return handler


for _name in ("getter", "setter", "deleter"):
    calls.method(property, _name)(_with_function(_name))


@calls.method(property, "__get__")
def _property_get(found: property, x: Any, cls: Any = None) -> tuple[Any, Any]:
    if x is None or found.fget is None:
        return found.__get__(x, cls), None
    return calls.call(found.fget, (x,))


@calls.method(property, "__set__")
def _property_set(found: property, x: Any, value: Any) -> tuple[Any, Any]:
    return (found.__set__(x, value), None) if found.fset is None else calls.call(found.fset, (x, value))


def _bound_to(x: Any) -> tuple[Any, Any]:
    """What a method is bound to: where that has a cotangent that flows, it is left in the method's shadow."""
    return x.__self__, (run_attr, x, "__self__") if issubclass(type(x.__self__), (tuple, *NUMERIC)) else None


def _defaults(x: FunctionType) -> tuple[Any, Any]:
    return x.__defaults__, (_run_defaults, x) if x.__defaults__ else None


def _run_defaults(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Where calls that leave them out add to their cotangents."""
    for k, c in enumerate(d or ()):
        if c is not None:
            shadows.add_key(back[1], k, c)


def _part_of_slice(name: str) -> Any:
    def attribute(x: slice) -> tuple[Any, Any]:
        y = getattr(x, name)
        if type(y) is int or not is_number(y):
            return y, None
        return foreign.hidden(y, "a derivative through a part of a slice", "keep the number in a variable")

    return attribute


def _variables_of_frame(x: FrameType) -> tuple[Any, Any]:
    """In the frame of a function that is differentiated there are other variables."""
    if later.compile.is_half(x.f_code):
        foreign.refuse(
            "the local variables of a frame (`f_locals`) of code that is differentiated",
            foreign.caller(),
            "use the variables by name, or keep them in a dictionary",
        )
    return x.f_locals, None


def _plain_of(name: str) -> Any:
    def attribute(x: Any) -> tuple[Any, Any]:
        return getattr(x, name), (run_attr, x, name)

    return attribute


ATTRIBUTES: dict[tuple[type, str], Any] = {
    (float, "real"): _real, (int, "real"): _real, (complex, "real"): _real,
    (float, "imag"): _imag, (int, "imag"): _imag, (complex, "imag"): _imag,
    (int, "numerator"): _constant("numerator"), (int, "denominator"): _constant("denominator"),
    **{(slice, name): _part_of_slice(name) for name in ("start", "stop", "step")},
    (CellType, "cell_contents"): _cell_contents, (FrameType, "f_locals"): _variables_of_frame,
    **{(of, "__self__"): _bound_to for of in (MethodType, *_BOUND)},
    (FunctionType, "__defaults__"): _defaults,
    (collections.deque, "maxlen"): _constant("maxlen"),
    (range, "start"): _constant("start"), (range, "stop"): _constant("stop"), (range, "step"): _constant("step"),
    (BaseException, "args"): _exception_args, (StopIteration, "value"): _stop_value,
    (functools.partial, "func"): _constant("func"), (functools.partial, "args"): _plain_of("args"),
    (functools.partial, "keywords"): _constant("keywords"),
    **numpy_.ATTRIBUTES,
}  # fmt: skip


def attribute_handler(cls: type, name: str) -> Any:
    for c in cls.__mro__:
        handler = ATTRIBUTES.get((c, name))
        if handler is not None:
            return handler
        if name in c.__dict__:
            return None
    return None


# -------------------------------------------------------------------------------------------- setattr, delattr


@passes(lambda variables: [(_run_set_by_call,)] if _sets_by_call(find(type(variables["x"]), "__setattr__")) else [])
def record_setattr(x: Any, value: Any, name: str) -> Any:
    """`x.name = value`."""
    cls = type(x)
    method = find(cls, "__setattr__")
    if cls in weakref.ProxyTypes:
        return record_setattr(behind(x), value, name)
    if _sets_by_call(method):
        return _shifted(calls.call(method.__get__(x, cls), (name, value))[1])
    return set_plainly(x, name, value)


def _sets_by_call(method: Any) -> bool:
    return method is not object.__setattr__ and (is_python(method) or _is_other(method, "__setattr__"))


def _is_other(method: Any, name: str) -> bool:
    """Whether what a class has under the name is another method of a class of C code: `__setattr__ = dict.__setitem__`."""
    return type(method) in (WrapperDescriptorType, MethodDescriptorType) and method.__name__ != name


def _shifted(back: Any) -> Any:
    return None if back is None else (_run_set_by_call, back)


def _run_set_by_call(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (given[0], given[2])


_INSTEAD = {
    "shape": "use a = a.reshape(shape)",
    "dtype": "use a = a.view(dtype)",
    "strides": "use np.lib.stride_tricks.as_strided",
}


@passes(lambda variables: [(_run_setter,)])
def set_plainly(x: Any, name: str, value: Any) -> Any:
    """What `object.__setattr__` does."""
    cls = type(x)
    found = find(cls, name)
    if type(found) is property and found.fset is not None:
        back = calls.call(found.fset, (x, value))[1]
        return None if back is None else (_run_setter, back)
    if found is not None and type(found) is not property and is_python(find(type(found), "__set__")):
        back = calls.call(find(type(found), "__set__").__get__(found, type(found)), (x, value))[1]
        return None if back is None else (_run_setter, back)
    if name == "__dict__" and isinstance(value, dict) and type(found) is GetSetDescriptorType:
        return _set_instance_dict(x, value)
    of_array = issubclass(cls, np.ndarray)
    if of_array and name in ("flat", "real", "imag") and x.dtype.kind in "fc":
        from . import numpy_in_python

        return numpy_in_python.set_attribute(x, name, value)
    if of_array and name in _INSTEAD and x.dtype.kind in "fc":
        raise Unsupported(
            f"an assignment to the attribute `{name}` of an array, in code that is differentiated through Python",
            foreign.position_of(foreign.caller()),
            hint=_INSTEAD[name],
        )
    if type(found) is GetSetDescriptorType and foreign.is_opaque(x):
        setattr(x, name, value)
        what = f"a derivative through the attribute `{name}` of a {cls.__name__}"
        return foreign.result(
            None, what, "keep the number in a variable, or in an object of a plain class", (x, value)
        )[1]
    if issubclass(type(x), (type, ModuleType)):
        native.assigned(name)
    of_exception = issubclass(type(x), BaseException) and name in classes.attributes_of_c(x)
    if issubclass(type(x), (type, FunctionType)):
        _changes(x, name, value)
    method = find(cls, "__setattr__")
    base: Any = type if issubclass(type(x), type) else object
    base.__setattr__(x, name, value) if method is base.__setattr__ or is_python(method) else setattr(x, name, value)
    if of_exception:
        classes.note_attribute(x, name, value)
    if type(x) is FunctionType and name == "__defaults__":
        return (_run_set_defaults, x, value)
    # The globals of a module are read as items of its dict.
    return (run_set_attr, x, name)


def _run_set_defaults(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What calls that left defaults out have added."""
    _, function, value = back
    return None, tuple([shadows.take_key(function, k) for k in range(len(value))]) if value is not None else None


def run_set_attr(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, shadows.take_attr(back[1], back[2])


def _run_setter(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (given[1], given[2])


def _changes(x: Any, name: str, value: Any = None) -> None:
    later.knowledge.changes(x, name, value)


@passes(lambda variables: [(_run_called,)] if _deletes_by_call(find(type(variables["x"]), "__delattr__")) else [])
def record_delattr(x: Any, name: str) -> Any:
    """`del x.name`."""
    cls = type(x)
    method = find(cls, "__delattr__")
    if cls in weakref.ProxyTypes:
        return record_delattr(behind(x), name)
    if _deletes_by_call(method):
        back = calls.call(method.__get__(x, cls), (name,))[1]
        return None if back is None else (_run_called, back)
    return delete_plainly(x, name)


def _deletes_by_call(method: Any) -> bool:
    return is_python(method) or _is_other(method, "__delattr__")


@passes(lambda variables: [(_run_first,)])
def delete_plainly(x: Any, name: str) -> Any:
    """What `object.__delattr__` does."""
    cls = type(x)
    found = find(cls, name)
    if type(found) is property and found.fdel is not None:
        back = calls.call(found.fdel, (x,))[1]
        return None if back is None else (_run_first, back)
    method = None if found is None else find(type(found), "__delete__")
    if method is not None and is_python(method):
        back = calls.call(method.__get__(found, type(found)), (x,))[1]
        return None if back is None else (_run_first, back)
    if issubclass(type(x), type):
        _changes(x, name)
    base: Any = type if issubclass(type(x), type) else object
    base.__delattr__(x, name) if is_python(find(cls, "__delattr__")) else delattr(x, name)
    return (_run_deleted, x, name)


def _run_deleted(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    shadows.take_attr(back[1], back[2])


RECORD = {"getattr": record_getattr, "setattr": record_setattr, "delattr": record_delattr}
