"""Classes and attributes: attribute access, super, special methods."""

from __future__ import annotations

import enum
import functools
import sys
import types as python_types
from collections import namedtuple
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.assumptions import can_change
from zyg.ir.core import const
from zyg.ir.departures import departing
from zyg.ir.plainly import get_plainly, has_plainly, in_class, is_in_class, own_attributes
from zyg.ir.records import record
from zyg.library import registry
from zyg.remedies import OUTSIDE, operator_for, qualified, remedy, remedy_for
from zyg.transforms import transform_of
from zyg.typeof import UNBOUND, dtype_scalar, generated, plain_class, struct_fields, taken_over

from .bytecode import SUPER_HINT, SUPER_OF_ANOTHER, assigns_first
from .environment import constant_or_input, held
from .exceptions import ExceptionValue
from .later import arrays, complex_arrays, complexes, construction, flat, numpy_numbers
from .merging import conflict, settled
from .scalars import as_index
from .type_names import certain, class_of, python_type_name, type_name
from .values import (
    LENT,
    LISTED,
    NONE,
    READ_ONLY,
    ROW,
    Abstract,
    ArrayValue,
    AttributedValue,
    ChoiceValue,
    ComplexArrayValue,
    ComplexValue,
    ConflictValue,
    FunctionValue,
    Known,
    MaybeValue,
    MethodValue,
    Number,
    PullbackValue,
    RangeValue,
    Record,
    Reference,
    Shape,
    SliceValue,
    StructValue,
    TupleValue,
    a_thing,
    describe,
    is_reference,
    known,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator


def is_object_class(cls: Any) -> bool:
    """Whether compiled code makes and follows instances of a class, or should and refuses it with a reason."""
    return isinstance(cls, type) and (struct_fields(cls) is not None or plain_class(cls))


def rest_on(e: Evaluator, cls: type) -> None:
    """The code that is being made has instances of this class: that it follows them hangs on what the class and its bases have."""
    if cls in e.inference.classes:
        return
    e.inference.classes.add(cls)
    e.inference.guard("mro", cls, cls.__mro__)
    for base in filter(can_change, cls.__mro__):
        for name in taken_over(cls):
            if name in vars(base):
                e.inference.guard("attr", base, name, vars(base)[name])
            else:
                e.inference.guard("lacks", base, name)


def object_record(e: Evaluator, v: Abstract) -> Record | None:
    """The record of an instance; None for anything else."""
    if isinstance(v, Reference) and e.heap[v.id].kind == "object":
        return e.heap[v.id]
    return None


def _in_list(e: Evaluator, what: str, name: str) -> Exception:
    return e.refuse(
        f"{what} of a {name} that is in a list whose length is not known when compiling",
        hint="change it before it is put there, or keep a list per attribute",
    )


def writable(e: Evaluator, v: Reference, what: str, in_place: bool = False) -> Record:
    """The record of an object that is about to be changed; a list `in_place` if its length stays."""
    record = e.heap[v.id]
    if record.state & LENT:
        raise e.refuse(
            f"{what} of a {describe(v, e.heap)} out of a list of many that is an argument",
            hint="keep what changes in arrays, one per key",
        )
    if record.state & READ_ONLY:
        raise e.refuse(
            f"{what} of a {describe(v, e.heap)} that is a global or captured variable", hint="pass it as an argument"
        )
    if record.state & LISTED and not (in_place and record.state & ROW):
        raise _in_list(e, what, describe(v, e.heap))
    return record


# ---------------------------------------------------------------------------------------------- attributes


# What has attributes that compiled code may not know.
_OWN_ATTRIBUTES = (Number, ArrayValue, ComplexValue, ComplexArrayValue, TupleValue, Reference, StructValue)


def get_attribute(e: Evaluator, v: Abstract, name: str) -> Abstract:
    found = find_attribute(e, v, name)
    if found is not None:
        return found
    if isinstance(v, MaybeValue) and v.absent is None:
        if hasattr(None, name):
            message = f"the attribute '{name}' of None, where this may be None, is not known to native code: test for None first"
            e.guard(v.present, departing("TypeError"), message)
            return get_attribute(e, v.item, name)
        e.guard(v.present, "AttributeError", f"'NoneType' object has no attribute '{name}'")
        return get_attribute(e, v.item, name)
    if isinstance(v, ConflictValue):
        raise conflict(e, v)
    if isinstance(v, ChoiceValue) and is_reference(v):
        return e.each(v, lambda one: get_attribute(e, one, name))
    if isinstance(v, (PullbackValue, ChoiceValue, ExceptionValue)) or class_of(e, v) is None:
        raise e.refuse(f"the attribute '{name}' of {a_thing(v, e.heap)}", hint=OUTSIDE)
    cls = class_of(e, v)
    own = look_up(e, cls, "__getattr__")
    if own is not None and is_object_class(cls) and look_up(e, cls, name) is None:
        return construction.call_known(e, own[1], [v, Known(name)])
    # (Of annotations the metaclass says that the class itself has none.)
    if find_in_class(cls, name) or has_plainly(cls, name) or isinstance(v, Known) and has_plainly(v.object, name):
        cached = isinstance((find_in_class(cls, name) or (None, None))[1], functools.cached_property)
        written = operator_for(name)
        if written is not None:
            hint = f"write the operator: {written}"
        else:
            hint = "write a property, or set the attribute in __init__" if cached else remedy(qualified(cls)) or OUTSIDE
        raise e.refuse(f"the attribute '{name}' of {_with_article(cls)}", types=[describe(v, e.heap)], hint=hint)
    e.throw("AttributeError", f"{_subject(v, cls)} has no attribute '{name}'")
    raise AssertionError


def refuse_unless_without(e: Evaluator, v: Abstract, what: str, *methods: str) -> None:
    """Before a TypeError for what lacks these methods: what has one of them in CPython is only unknown to compiled code."""
    cls = class_of(e, v)
    if cls is None or any(find_in_class(cls, name) is not None for name in methods):
        kind = describe(v, e.heap) if cls is None else cls.__name__
        hint = remedy_for(v.object) if isinstance(v, Known) else None
        hint = (
            hint
            or f"write `{methods[0]}` as a plain method of a class, or call a function or method by its name instead"
        )
        raise e.refuse(f"{what} of type '{kind}'", types=[describe(v, e.heap)], hint=hint)


def _with_article(cls: type) -> str:
    return f"{'an' if cls.__name__[0] in 'aeiou' else 'a'} {cls.__name__}"


def _subject(v: Abstract, cls: Any) -> str:
    if isinstance(v, Known) and isinstance(v.object, type):
        return f"type object '{v.object.__name__}'"
    if isinstance(v, Known) and isinstance(v.object, python_types.ModuleType):
        return f"module '{v.object.__name__}'"
    return f"'{type_name(cls)}' object"


def find_attribute(e: Evaluator, v: Abstract, name: str) -> Abstract | None:
    if isinstance(v, Known):
        return _known_attribute(e, v.object, name)
    if isinstance(v, AttributedValue):
        return v.attribute(e, name)
    if isinstance(v, SuperValue):
        return _found_in_class(e, v.receiver, v.classes, name)
    if isinstance(v, StructValue):
        if v.lent and (found := look_up(e, v.cls, name)) is not None and asks_the_class(found[1]):
            return _class_attribute(e, v.cls, v, name)
        if v.lent and name == "__dict__":
            raise e.refuse(f"the __dict__ of a {v.cls.__name__}", hint="name the attributes")
        if name in v.names:
            return v.items[v.names.index(name)]
        if issubclass(v.cls, tuple) and name in ("_replace", "_asdict") and _copies_as_named_tuples_do(v.cls, name):
            return MethodValue((tuple, name), v)
        return _class_attribute(e, v.cls, v, name)
    if isinstance(v, Reference):
        record = e.heap[v.id]
        if isinstance(record.meta, Shape):
            return _object_attribute(e, v, record, record.meta.cls, name)
        if record.kind in ("list", "growing") and _has_method(list, name):
            return MethodValue((list, name), v)
        if record.kind == "dict" and _has_method(dict, name):
            return MethodValue((dict, name), v)
        return None
    if isinstance(v, (ArrayValue, ComplexArrayValue)):
        return arrays.attribute(e, v, name)
    if isinstance(v, ComplexValue):
        return complexes.attribute(e, v, name)
    if isinstance(v, Number):
        return _number_attribute(e, v, name)
    if isinstance(v, RangeValue) and name in ("start", "stop", "step"):
        return getattr(v, name)
    if isinstance(v, SliceValue) and name in ("start", "stop", "step"):
        return getattr(v, name)
    if isinstance(v, TupleValue) and _has_method(tuple, name):
        return MethodValue((tuple, name), v)
    if isinstance(v, FunctionValue):
        return _function_attribute(e, v, name)
    if isinstance(v, MethodValue) and isinstance(v.receiver, TupleValue):
        names = getattr(v.function, "names", ())  # of what it is bound to, where that is its attributes
        return v.receiver.items[names.index(name)] if name in names else None
    return None


_Named = namedtuple("_Named", "x")


def _copies_as_named_tuples_do(cls: type, name: str) -> bool:
    """Whether a method of named tuples, and `_make`, which it calls, are what `collections` made."""
    return all(_code_of(cls, method) is _code_of(_Named, method) for method in (name, "_make"))


def _code_of(cls: type, name: str) -> Any:
    found = find_in_class(cls, name)
    held = None if found is None else found[1]
    return get_plainly(get_plainly(held, "__func__", held), "__code__")


def _object_attribute(e: Evaluator, v: Reference, record: Record, cls: type, name: str) -> Abstract | None:
    found = look_up(e, cls, name)
    if found is not None and asks_the_class(found[1]):
        return _class_attribute(e, cls, v, name)
    own = record.named()
    if name == "__dict__":
        raise e.refuse(f"the __dict__ of a {cls.__name__}", hint="name the attributes")
    if name not in own:
        return _class_attribute(e, cls, v, name)
    field = own[name]
    if isinstance(field, MaybeValue) and field.absent is UNBOUND:
        if found is not None and not isinstance(found[1], python_types.MemberDescriptorType):
            raise e.refuse(
                f"the attribute '{name}', which is that of the object or that of its class",
                hint="set it in __init__, for all objects",
            )
        e.guard(field.present, "AttributeError", f"'{cls.__name__}' object has no attribute '{name}'")
        return field.item
    return field


def _has_method(cls: type, name: str) -> bool:
    return registry.method(cls, name) is not None


def _known_attribute(e: Evaluator, obj: Any, name: str) -> Abstract | None:
    if type(obj) in (bool, int, float) or obj is None or isinstance(obj, str):
        if type(obj) in (bool, int, float):
            return _number_attribute(e, Known(obj), name)
        return MethodValue((type(obj), name), Known(obj)) if _has_method(type(obj), name) else None
    if type(obj).__module__.startswith("numpy") and _has_method(type(obj), name):
        return MethodValue((type(obj), name), Known(obj))
    if isinstance(obj, type) and (said := _by_metaclass(e, obj, name)) is not None:
        return said
    try:
        value = getattr(obj, name)
    except AttributeError:
        _guard_absence(e, obj, name)
        return None
    if isinstance(obj, (python_types.ModuleType, type)):
        e.inference.guard("attr", obj, name, value)
        if isinstance(value, np.ndarray):
            return held(e, value)
        if isinstance(obj, python_types.ModuleType) and not isinstance(value, (bool, int, float)):
            return constant_or_input(e, "global", vars(obj), name, value) if name in vars(obj) else known(value)
        return known(value)
    if isinstance(obj, (np.finfo, np.iinfo)) and isinstance(value, np.generic):
        scalar = dtype_scalar(value.dtype)
        return Number(const(value.item(), scalar), True) if scalar is not None else None
    if transform_of(obj) is not None or isinstance(obj, (np.dtype, np.ufunc, np.finfo, np.iinfo)) or callable(value):
        return known(value)
    raise e.refuse(
        f"the attribute '{name}' of {obj!r}, an object that native code does not know",
        hint=remedy_for(obj)
        or "pass it as an argument (of a bound method: compile a function that calls it, lambda x: obj.method(x))",
    )


def _by_metaclass(e: Evaluator, cls: type, name: str) -> Abstract | None:
    """An attribute of a class that code of its metaclass gives: a property, or `__getattr__`, for what nothing has."""
    meta = type(cls)
    if not _is_said_by_metaclass(cls, name):
        return None
    if in_class(meta, "__getattribute__") is not type.__getattribute__:
        raise e.refuse(f"an attribute of {cls.__name__}, whose metaclass has a __getattribute__", hint="call a method")
    found = look_up(e, meta, name)
    if found is not None:
        return construction.call_known(e, found[1].fget, [Known(cls)])
    look_up(e, cls, name)
    own = look_up(e, meta, "__getattr__")
    assert own is not None
    return construction.call_known(e, own[1], [Known(cls), Known(name)])


def _is_said_by_metaclass(cls: type, name: str) -> bool:
    """Whether code of its metaclass runs where a class is asked for an attribute. (That of enumerations is known.)"""
    meta: Any = type(cls)
    if not meta.__flags__ & _HEAP_TYPE or issubclass(meta, enum.EnumType):
        return False
    if in_class(meta, "__getattribute__") is not type.__getattribute__:
        return True
    found = find_in_class(meta, name)
    if found is not None:
        return is_kind(found[1], property)
    return find_in_class(cls, name) is None and is_in_class(meta, "__getattr__")


_NO_NAMES: dict[str, Any] = {}


def _guard_absence(e: Evaluator, obj: Any, name: str) -> None:
    """An object that has no such attribute may get one: of its own, or by its class."""
    for owner in (obj, type(obj)):
        for cls in owner.__mro__ if isinstance(owner, type) else ():
            e.inference.guard("lacks", cls, name)
    own = own_attributes(obj)
    if isinstance(own, dict):
        e.inference.guard("missing", own, _NO_NAMES, name)


def find_in_class(cls: type, name: str) -> tuple[type, Any] | None:
    """Where in the classes of an instance a name is defined, and as what."""
    for base in cls.__mro__:
        if name in vars(base):
            return base, vars(base)[name]
    return None


# What a class of descriptors may say in another way than the kind it is derived from.
_SAID_BY_KINDS = ("__get__", "__set__", "__delete__", "__getattribute__", "fget", "fset", "fdel", "__func__")


def is_kind(attribute: Any, kind: type) -> bool:
    """Whether what stands in a class is a property, a static method, ..., or of a class derived from these that does not say itself
    what is got or set.

    >>> class Doubling(property):
    ...     def __get__(self, instance, cls=None):
    ...         return 2.0 * super().__get__(instance, cls)
    >>> is_kind(property(), property), is_kind(type("Named", (property,), {})(), property), is_kind(Doubling(), property)
    (True, True, False)
    """
    own = type(attribute)
    return own is kind or (
        issubclass(own, kind) and all(getattr(own, name, None) is getattr(kind, name, None) for name in _SAID_BY_KINDS)
    )


def asks_the_class(attribute: Any) -> bool:
    """Whether what stands in a class is asked also for an attribute that an instance has by itself."""
    own = type(attribute)
    return own is not python_types.MemberDescriptorType and (
        is_in_class(own, "__set__") or is_in_class(own, "__delete__")
    )


def _runs_code(attribute: Any) -> bool:
    """Whether an attribute that stands in a class is what Python code gives."""
    own = type(attribute)
    plain = own is python_types.FunctionType or is_kind(attribute, staticmethod) or is_kind(attribute, classmethod)
    return (
        is_in_class(own, "__get__") and not plain and own.__flags__ & _HEAP_TYPE != 0 or isinstance(attribute, property)
    )


_HEAP_TYPE = 1 << 9


def look_up(e: Evaluator, cls: type, name: str) -> tuple[type, Any] | None:
    """`find_in_class`, and the code that is being made depends on its outcome."""
    for base in cls.__mro__:
        if name in vars(base):
            e.inference.guard("attr", base, name, vars(base)[name])
            return base, vars(base)[name]
        e.inference.guard("lacks", base, name)
    return None


def _class_attribute(e: Evaluator, cls: Any, v: Abstract, name: str) -> Abstract | None:
    """What an instance finds in its class: a method, a property, a constant."""
    if is_object_class(cls) and look_up(e, cls, "__getattr__") is not None:
        attribute = (look_up(e, cls, name) or (None, None))[1]
        if is_kind(attribute, property):  # it is asked where this raises AttributeError
            raise e.refuse(f"a property of {_with_article(cls)}, which has a __getattr__", hint="write a method")
    found = _found_in_class(e, v, cls.__mro__, name)
    if found is not None:
        return found
    if isinstance(v, StructValue) and issubclass(v.cls, tuple) and name == "_fields":
        return TupleValue(tuple(map(Known, v.names)))
    if name == "__class__":
        return Known(cls)
    return None


def _found_in_class(e: Evaluator, v: Abstract, classes: tuple[type, ...], name: str) -> Abstract | None:
    for base in classes:
        if name not in vars(base):
            e.inference.guard("lacks", base, name)
            continue
        attribute = vars(base)[name]
        e.inference.guard("attr", base, name, attribute)
        if isinstance(v, Known) and isinstance(v.object, type):  # super() in a class method
            if is_kind(attribute, classmethod):
                return MethodValue(attribute.__func__, v)
            if isinstance(attribute, python_types.FunctionType):
                return known(attribute)
            if is_kind(attribute, property):
                break
        if isinstance(attribute, python_types.FunctionType) or transform_of(attribute) is not None:
            return MethodValue(attribute, v)
        if is_kind(attribute, property):
            if attribute.fget is None:
                e.throw("AttributeError", f"property '{name}' of '{class_of(e, v).__name__}' object has no getter")
            return construction.call_known(e, attribute.fget, [v])
        if is_kind(attribute, staticmethod):
            return known(attribute.__func__)
        if is_kind(attribute, classmethod):
            return MethodValue(attribute.__func__, Known(class_of(e, v)))
        if base is tuple and _has_method(tuple, name) and isinstance(v, StructValue):
            return MethodValue((tuple, name), TupleValue(v.items))
        if base is object and name == "__init__":
            return MethodValue(object.__init__, v)
        if isinstance(attribute, (bool, int, float, str, tuple, type, python_types.BuiltinFunctionType)):
            return known(attribute)
        if attribute is None:
            return NONE
        if isinstance(attribute, np.ndarray):
            return held(e, attribute)
        break
    return None


@record(slots=True, eq=False)
class SuperValue(Abstract):
    """super(): looks attributes up in the classes behind the one in whose code it stands."""

    receiver: Abstract
    classes: tuple[type, ...]

    def head(self) -> Hashable:
        return ("super", self.classes)

    def parts(self) -> tuple[Any, ...]:
        return (self.receiver,)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return SuperValue(parts[0], self.classes)


def super_value(e: Evaluator, args: tuple[Abstract, ...]) -> Abstract:
    """super() or super(cls, instance)"""
    if args:
        owner, receiver = args if len(args) == 2 else (args[0], None)
    else:
        frame = e.frame
        while frame is not None and frame.library:
            frame = frame.parent
        if frame is not None and frame.generator is not None:  # which keeps what is live, not its arguments
            raise e.refuse("super() in a generator", hint="name the class and the object: super(Class, self)")
        if frame is None or "__class__" not in frame.free or not frame.arguments:
            e.throw("RuntimeError", "super(): no arguments")
        assert frame is not None
        if assigns_first(frame.code):
            raise e.refuse(SUPER_OF_ANOTHER, hint=SUPER_HINT)
        owner, receiver = frame.free["__class__"], frame.arguments[0]
    if not isinstance(owner, Known) or not isinstance(owner.object, type) or receiver is None:
        raise e.refuse("super() of a class that is not known when compiling", hint="name the class: super(Class, self)")
    if isinstance(receiver, Known):  # a classmethod gets the class
        cls = receiver.object if isinstance(receiver.object, type) else type(receiver.object)
    else:
        cls = class_of(e, receiver)
    if not isinstance(cls, type) or owner.object not in cls.__mro__:
        e.type_error("super(type, obj): obj must be an instance or subtype of type")
    order = cls.__mro__
    return SuperValue(receiver, order[order.index(owner.object) + 1 :])


def _number_attribute(e: Evaluator, v: Abstract, name: str) -> Abstract | None:
    cls = class_of(e, v)
    if name == "real" or name == "numerator" and issubclass(cls, (int, np.integer)):
        return v if cls is not bool else as_index(e, v)
    if name != "conjugate":
        certain(e, v, f"the attribute '{name}'")
    if name == "imag":
        if isinstance(v, Number) and v.numpy:
            return Number(const(cls(0).item(), v.type), True)
        return Known(0.0 if cls is float else 0)
    if name == "denominator" and issubclass(cls, (int, np.integer)):
        return Known(1)
    if name == "__class__":
        return Known(cls)
    if isinstance(v, Number) and v.numpy:
        said = numpy_numbers.attribute(v, cls, name)
        if said is not None:
            return said
    for base in cls.__mro__:
        if _has_method(base, name):
            return MethodValue((base, name), v)
    return None


def _function_attribute(e: Evaluator, v: FunctionValue, name: str) -> Abstract | None:
    if name in ("__name__", "__qualname__"):
        return Known(v.name if name == "__name__" else v.code.co_qualname)
    return None


def set_attribute(e: Evaluator, v: Abstract, name: str, value: Abstract) -> None:
    v = settled(e, v, f"'NoneType' object has no attribute '{name}'{_WITHOUT_DICT}", "AttributeError")
    if object_record(e, v) is not None:
        assert isinstance(v, Reference)
        _set_field(e, v, name, value)
        return
    if isinstance(v, ChoiceValue) and is_reference(v):
        e.each(v, lambda one: set_attribute(e, one, name, value) or NONE)
        return
    if isinstance(v, ComplexArrayValue) and name in ("real", "imag"):
        arrays.check_writable(e, v.floats)
        arrays.assign(e, complex_arrays.part(e, v, name), value)
        return
    if isinstance(v, (ArrayValue, ComplexArrayValue)) and name == "flat":
        flat.assign(e, v, value)
        return
    if isinstance(v, StructValue):
        if issubclass(v.cls, tuple):
            e.throw("AttributeError", "can't set attribute")
        if v.lent:
            raise e.refuse(
                f"an assignment to '{name}' of a {v.cls.__name__} out of a list of many that is an argument",
                hint="keep what changes in arrays, one per attribute",
            )
        if not construction.frozen(v.cls):
            raise _in_list(e, f"an assignment to '{name}'", v.cls.__name__)
        _frozen(e, name)
    raise e.refuse(f"an assignment to the attribute '{name}' of {a_thing(v, e.heap)}", hint=_instead_of_storing(v))


def _instead_of_storing(v: Abstract) -> str:
    if isinstance(v, Known) and isinstance(v.object, type):
        return "keep it in an attribute of an object that the function is given"
    return (
        "keep it in an object of a plain class, or in a list, that the function is given; or return it beside the value"
    )


_INSTEAD_OF_ASKING = "set the attribute in __init__, to None where there is nothing, and test for None"
_INSTEAD_OF_DEL = "set the attribute to None"


def store_attribute(e: Evaluator, v: Abstract, name: str, value: Abstract) -> None:
    """object.__setattr__(v, name, value), as __post_init__ of frozen dataclasses calls it."""
    if object_record(e, v) is None or asks_the_class((look_up(e, class_of(e, v), name) or (None, None))[1]):
        raise e.refuse(f"object.__setattr__ of {a_thing(v, e.heap)}", hint=_instead_of_storing(v))
    assert isinstance(v, Reference)
    record = writable(e, v, f"an assignment to '{name}'")
    e.heap[v.id] = record.with_named(record.named() | {name: value})


def gives_by_code(e: Evaluator, v: Abstract, name: str) -> bool:
    """Whether an attribute of an object is what a property gives, or `__getattr__`."""
    cls = class_of(e, v)
    if isinstance(v, Known):
        if isinstance(v.object, type):
            return _is_said_by_metaclass(v.object, name)
        return type(v.object).__flags__ & _HEAP_TYPE != 0 and is_in_class(type(v.object), "__getattr__")
    if not isinstance(v, (Reference, StructValue)) or not is_object_class(cls):
        return False
    found = look_up(e, cls, name)
    return look_up(e, cls, "__getattr__") is not None or found is not None and _runs_code(found[1])


def has_attribute(e: Evaluator, v: Abstract, name: str) -> Abstract:
    """hasattr(v, name)"""
    if isinstance(v, ConflictValue):
        raise conflict(e, v)
    if gives_by_code(e, v, name):
        raise e.refuse("hasattr() of what a property or __getattr__ gives", hint=_INSTEAD_OF_ASKING)
    record = object_record(e, v)
    if record is not None:
        cls: Any = class_of(e, v)
        found = look_up(e, cls, name)
        if found is not None and not isinstance(found[1], python_types.MemberDescriptorType):
            return Known(True)
        field = record.named().get(name)
        if isinstance(field, MaybeValue) and field.absent is UNBOUND:
            return Number(field.present)
        return Known(field is not None)
    if find_attribute(e, v, name) is not None:
        return Known(True)
    if isinstance(v, MaybeValue) and v.absent is None:
        item = has_attribute(e, v.item, name)
        if isinstance(item, Known) and (item.object or not hasattr(None, name)):
            return item if item.object == hasattr(None, name) else Number(v.present)
    v = certain(e, v, "hasattr()", lambda cls: find_in_class(cls, name) is not None)
    cls = class_of(e, v)
    if cls is None or isinstance(v, MaybeValue):
        raise e.refuse(f"hasattr() of {a_thing(v, e.heap)}", hint=_INSTEAD_OF_ASKING)
    return Known(look_up(e, cls, name) is not None or isinstance(v, Known) and hasattr(v.object, name))


def _set_field(e: Evaluator, v: Reference, name: str, value: Abstract) -> None:
    cls: Any = class_of(e, v)
    found = look_up(e, cls, name)
    if found is not None:
        attribute = found[1]
        if is_kind(attribute, property):
            if attribute.fset is None:
                e.throw("AttributeError", f"property '{name}' of '{cls.__name__}' object has no setter")
            construction.call_known(e, attribute.fset, [v, value])
            return
        if asks_the_class(attribute):
            raise e.refuse(
                f"an assignment to '{name}' of a {cls.__name__}, which is a descriptor", hint="use a property"
            )
    if construction.frozen(cls):
        _frozen(e, name)
    record = writable(e, v, f"an assignment to '{name}'")
    own = record.named()
    is_slot = found is not None and isinstance(found[1], python_types.MemberDescriptorType)
    if name not in own and not is_slot and not get_plainly(cls, "__dictoffset__", 0):
        _cannot_set(e, cls, name)
    own[name] = value
    e.heap[v.id] = record.with_named(own)


def _cannot_set(e: Evaluator, cls: type, name: str) -> None:
    """The AttributeError of an assignment to, or `del` of, an attribute of instances that have no dict."""
    if look_up(e, cls, name) is not None:
        e.throw("AttributeError", f"'{cls.__name__}' object attribute '{name}' is read-only")
    e.throw("AttributeError", f"'{cls.__name__}' object has no attribute '{name}'{_WITHOUT_DICT}")


_WITHOUT_DICT = " and no __dict__ for setting new attributes" * (sys.version_info >= (3, 13))


def del_attribute(e: Evaluator, v: Abstract, name: str) -> None:
    v = settled(e, v, f"'NoneType' object has no attribute '{name}'{_WITHOUT_DICT}", "AttributeError")
    record = object_record(e, v)
    if record is None:
        raise e.refuse(f"`del` of the attribute '{name}' of {a_thing(v, e.heap)}", hint=_INSTEAD_OF_DEL)
    assert isinstance(v, Reference)
    cls: Any = class_of(e, v)
    found = look_up(e, cls, name)
    if found is not None and is_in_class(type(found[1]), "__delete__"):
        raise e.refuse(f"`del` of '{name}' of a {cls.__name__}, which its class describes", hint=_INSTEAD_OF_DEL)
    own = writable(e, v, f"`del` of '{name}'").named()
    if name not in own and get_plainly(cls, "__dictoffset__", 0):
        e.throw("AttributeError", f"'{cls.__name__}' object has no attribute '{name}'")
    if name not in own:
        _cannot_set(e, cls, name)
    if isinstance(own[name], MaybeValue) and own[name].absent is UNBOUND:
        raise e.refuse(f"`del` of the attribute '{name}', which is set on some paths only", hint=_INSTEAD_OF_DEL)
    del own[name]
    e.heap[v.id] = record.with_named(own)


def _frozen(e: Evaluator, name: str) -> None:
    from dataclasses import FrozenInstanceError

    from .exceptions import ExceptionValue, raise_value

    raise_value(e, ExceptionValue(FrozenInstanceError, (Known(f"cannot assign to field '{name}'"),)))


# --------------------------------------------------------------------------------------- special methods

_SPECIAL = {
    "neg": "__neg__", "pos": "__pos__", "invert": "__invert__", "abs": "__abs__", "len": "__len__", "bool": "__bool__",
    "getitem": "__getitem__", "setitem": "__setitem__", "contains": "__contains__", "iter": "__iter__", "call": "__call__",
    "and": "__and__", "or": "__or__",
}  # fmt: skip


_GENERATED = ("__lt__", "__le__", "__gt__", "__ge__")  # methods that dataclass() writes and that are called as they are
_REFLECTED = {"lt": "__gt__", "gt": "__lt__", "le": "__ge__", "ge": "__le__", "eq": "__eq__", "ne": "__ne__"}


def special(e: Evaluator, v: Abstract, name: str) -> Any:
    """The user's own special method of an instance; None where there is none."""
    if not isinstance(v, (StructValue, Reference)):
        return None
    cls = class_of(e, v)
    if not is_object_class(cls):
        return None
    found = look_up(e, cls, name)
    if found is None:
        return None
    method = found[1]
    own = isinstance(method, python_types.FunctionType) and not generated(method.__code__)
    if own or isinstance(method, python_types.FunctionType) and name in _GENERATED:
        return method
    if method is None or transform_of(method) is not None:
        return method
    if not isinstance(method, python_types.FunctionType) and found[0].__flags__ & _HEAP_TYPE:
        what = f"the {name} of {_with_article(cls)}, which is no plain function but a {type(method).__name__}"
        raise e.refuse(what, hint="write it as a plain method")
    return None


def operator_method(e: Evaluator, name: str, *operands: Abstract) -> Abstract | None:
    """The operator by the operands' special methods, as Python tries them; None if there are none."""
    own = _SPECIAL.get(name, f"__{name}__")
    v = operands[0]
    attempts = [(special(e, v, own), list(operands))]
    if len(operands) == 2 and name not in ("getitem", "contains", "delitem", "call") and not name.startswith("i"):
        v = _in_front_of(e, v, operands[1])
        reflected = _REFLECTED.get(name, f"__r{own[2:]}")
        other = special(e, operands[1], reflected)
        left, right = class_of(e, v), class_of(e, operands[1])
        if other is not None and not (left is right and name not in _REFLECTED):
            # (Of comparisons what is derived is asked first, whether it has a method of its own or not.)
            first = _derives(right, left) and (name in _REFLECTED or other is not special(e, v, reflected))
            attempts.insert(0 if first else 1, (other, [operands[1], v]))
    for method, args in attempts:
        if method is not None and (result := _answer(e, own, method, args)) is not None:
            return result
    return None


def _derives(cls: Any, base: Any) -> bool:
    """Whether a class is derived from another one, as operators ask: an abstract class has no say in it."""
    return isinstance(base, type) and isinstance(cls, type) and cls is not base and base in cls.__mro__


def _answer(e: Evaluator, name: str, method: Any, args: list[Abstract]) -> Abstract | None:
    """What a special method gives; None if it gives NotImplemented."""
    result = construction.call_known(e, method, args)
    if isinstance(result, Known) and result.object is NotImplemented:
        return None
    if _may_be_not_implemented(result):
        raise e.refuse(
            f"{name} of {a_thing(args[0], e.heap)}, which returns NotImplemented on some paths only",
            hint="decide by the type of the other operand alone: `if not isinstance(other, Class): return NotImplemented`",
        )
    return result


def equality(e: Evaluator, name: str, a: Abstract, b: Abstract) -> tuple[bool, Abstract | None, bool]:
    """Whether special methods have been asked for `a == b` or `a != b`, what one of them says (None: they do not know), and whether it
    was asked for the contrary: `!=` asks `__eq__` where a class has no `__ne__`."""
    v = _in_front_of(e, a, b)
    attempts = [[v, b], [b, v]]
    if _derives(class_of(e, b), class_of(e, v)):
        attempts.reverse()
    asked = False
    for args in attempts:
        own = special(e, args[0], f"__{name}__")
        method = own or (special(e, args[0], "__eq__") if name == "ne" else None)
        if method is not None:
            asked = True
            if (result := _answer(e, f"__{name}__", method, args)) is not None:
                return True, result, own is None
    return asked, None, False


def _in_front_of(e: Evaluator, v: Abstract, behind: Abstract) -> Abstract:
    """What the method of an object behind a NumPy number gets: NumPy makes an array of the object, and has Python's number for its
    items. Classes that say so are left alone."""
    cls = class_of(e, behind)
    if not is_object_class(cls) or (number := numpy_numbers.python_number(e, v)) is v:
        return v
    if any(look_up(e, cls, name) for name in ("__array_ufunc__", "__array_priority__")):
        return v
    if look_up(e, cls, "__len__") and look_up(e, cls, "__getitem__"):
        raise e.refuse(
            f"a NumPy number in front of a {type_name(cls)}, which has __len__ and __getitem__: NumPy makes an array of its items",
            hint="write float(x), or `__array_priority__ = 1.0` in the class, so that its methods are asked",
        )
    return number


def _may_be_not_implemented(v: Abstract) -> bool:
    return isinstance(v, ChoiceValue) and any(isinstance(o, Known) and o.object is NotImplemented for o in v.options)


def user_iterator(e: Evaluator, v: Abstract) -> Reference | None:
    method = special(e, v, "__iter__")
    if method is None:
        return None
    result = construction.call_known(e, method, [v])
    if special(e, result, "__next__") is not None:
        name = python_type_name(e, result)
        raise e.refuse(f"a loop by the method __next__ of {name}", hint="write __iter__ as a generator, with yield")
    from .iterators import is_iterator, make_iterator

    if not is_iterator(e, result) and not isinstance(result, (ChoiceValue, MaybeValue, ConflictValue)):
        e.type_error(f"iter() returned non-iterator of type '{python_type_name(e, result)}'")
    return make_iterator(e, result)
