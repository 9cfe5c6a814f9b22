"""Classes and attributes: dataclasses and named tuples as structs, attribute access, isinstance, class patterns."""

from __future__ import annotations

import dataclasses
import types as python_types
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.ir.types import BOOL, F32, F64, I32, I64, U8, Scalar
from zyg.typeof import struct_fields, unfollowed_method

from . import lists
from .boundary import conflict
from .operators import settled
from .values import (
    NONE,
    Abstract,
    ArrayValue,
    ChoiceValue,
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
    SliceValue,
    StructValue,
    TupleValue,
    describe,
)

if TYPE_CHECKING:
    from .infer import Evaluator

_PYTHON_CLASS: dict[Scalar, type] = {F64: float, I64: int, BOOL: bool}
_NUMPY_CLASS: dict[Scalar, type] = {
    F64: np.float64, F32: np.float32, I64: np.int64, I32: np.int32, U8: np.uint8, BOOL: np.bool_,
}  # fmt: skip


def class_of(e: Evaluator, v: Abstract) -> Any:
    """type(v), a class; None where it is not known."""
    if isinstance(v, Known):
        return type(v.object)
    if isinstance(v, Number):
        return _NUMPY_CLASS[v.type] if v.numpy else _PYTHON_CLASS.get(v.type)
    if isinstance(v, TupleValue):
        return tuple
    if isinstance(v, StructValue):
        return v.cls
    if isinstance(v, ArrayValue):
        return np.ndarray
    if isinstance(v, FunctionValue):
        return python_types.FunctionType
    if isinstance(v, MethodValue):
        return python_types.MethodType
    if isinstance(v, RangeValue):
        return range
    if isinstance(v, SliceValue):
        return slice
    if isinstance(v, Reference):
        record = e.heap[v.id]
        if record.kind == "object":
            return record.meta
        if record.kind in ("list", "growing"):
            return list
        if record.kind == "iterator" and isinstance(record.meta, tuple) and record.meta[0] == "generator":
            return python_types.GeneratorType
    from .exceptions import ExceptionValue, TextValue

    if isinstance(v, ExceptionValue):
        return v.cls
    if isinstance(v, TextValue):
        return str
    return None


# ------------------------------------------------------------------------------------------- construction


def is_struct_class(cls: Any) -> bool:
    return isinstance(cls, type) and struct_fields(cls) is not None


def construct(e: Evaluator, cls: type, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    """cls(*args, **keywords) for a dataclass or a named tuple."""
    method = unfollowed_method(cls)
    if method is not None:
        raise e.refuse(
            f"the class {cls.__qualname__}, whose {method} compiled code does not follow",
            hint=f"take {method} out of the class",
        )
    if issubclass(cls, tuple):
        return _construct_named_tuple(e, cls, args, keywords)
    params = cls.__dataclass_params__  # type: ignore[attr-defined]
    if not params.init or "__init__" not in vars(cls) or not _is_generated(cls):
        raise e.refuse(
            f"the class {cls.__qualname__} with its own __init__",
            hint="let @dataclass make __init__, and use __post_init__",
        )
    bound = _bind_fields(e, cls, args, keywords)
    names = struct_fields(cls) or ()
    id = e.new_id("object")
    record = Record("object", cls, tuple(bound.get(n, Known(_MISSING)) for n in names))
    e.heap[id] = record
    post_init = getattr(cls, "__post_init__", None)
    if post_init is not None:
        extra = [bound[name] for name, f in _pseudo_fields(cls) if name in bound and f]
        call_known(e, post_init, [Reference(id), *extra])
    for name, field in zip(names, e.heap[id].fields):
        if isinstance(field, Known) and field.object is _MISSING:
            e.heap[id] = e.heap[id].replace(names.index(name), _class_default(cls, name))
    if params.frozen:
        return StructValue(cls, names, e.heap[id].fields)
    return Reference(id)


class _Missing:
    """A field that __post_init__ has yet to set."""


_MISSING = _Missing()


def _class_default(cls: type, name: str) -> Abstract:
    from .infer import known

    return known(vars(cls)[name]) if name in vars(cls) else Known(_MISSING)


def _is_generated(cls: type) -> bool:
    code = getattr(vars(cls)["__init__"], "__code__", None)
    return code is not None and code.co_filename == "<string>"


def _pseudo_fields(cls: type) -> list[tuple[str, bool]]:
    """(name, is InitVar) of all fields that __init__ takes, in order."""
    fields: dict[str, Any] = cls.__dataclass_fields__  # type: ignore[attr-defined]
    kinds = {n: f._field_type.name for n, f in fields.items()}
    return [(n, kinds[n] == "_FIELD_INITVAR") for n in fields if kinds[n] in ("_FIELD", "_FIELD_INITVAR")]


def _bind_fields(e: Evaluator, cls: type, args: list[Abstract], keywords: dict[str, Abstract]) -> dict[str, Abstract]:
    from .infer import known

    fields: dict[str, Any] = cls.__dataclass_fields__  # type: ignore[attr-defined]
    taking = [n for n, _ in _pseudo_fields(cls) if fields[n].init]
    positional = [n for n in taking if not fields[n].kw_only]
    name = f"{cls.__qualname__}.__init__()"
    if len(args) > len(positional):
        required = sum(
            fields[n].default is dataclasses.MISSING and fields[n].default_factory is dataclasses.MISSING
            for n in positional
        )
        most = len(positional) + 1
        takes = f"from {required + 1} to {most}" if required + 1 < most else str(most)
        plural = "" if takes == "1" else "s"
        e.type_error(f"{name} takes {takes} positional argument{plural} but {len(args) + 1} were given")
    bound = dict(zip(positional, args))
    for key, v in keywords.items():
        if key not in taking:
            e.type_error(f"{name} got an unexpected keyword argument '{key}'")
        if key in bound:
            e.type_error(f"{name} got multiple values for argument '{key}'")
        bound[key] = v
    missing = []
    for n, _ in _pseudo_fields(cls):
        f = fields[n]
        if n in bound:
            continue
        if f.default is not dataclasses.MISSING:
            bound[n] = known(f.default)
        elif f.default_factory is not dataclasses.MISSING:
            bound[n] = call_known(e, f.default_factory, [])
        elif f.init:
            missing.append(f"'{n}'")
    if missing:
        e.type_error(_missing_message(name, missing))
    return bound


def _missing_message(name: str, missing: list[str]) -> str:
    if len(missing) == 1:
        return f"{name} missing 1 required positional argument: {missing[0]}"
    listed = f"{', '.join(missing[:-1])}{',' if len(missing) > 2 else ''} and {missing[-1]}"
    return f"{name} missing {len(missing)} required positional arguments: {listed}"


def _construct_named_tuple(e: Evaluator, cls: type, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    from .infer import known

    names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
    defaults: dict[str, Any] = cls._field_defaults  # type: ignore[attr-defined]
    name = f"{cls.__name__}.__new__()"
    if len(args) > len(names):
        e.type_error(f"{name} takes {len(names) + 1} positional arguments but {len(args) + 1} were given")
    bound = dict(zip(names, args))
    for key, v in keywords.items():
        if key not in names:
            e.type_error(f"{name} got an unexpected keyword argument '{key}'")
        if key in bound:
            e.type_error(f"{name} got multiple values for argument '{key}'")
        bound[key] = v
    missing = [f"'{n}'" for n in names if n not in bound and n not in defaults]
    if missing:
        e.type_error(_missing_message(name, missing))
    return StructValue(cls, names, tuple(bound[n] if n in bound else known(defaults[n]) for n in names))


def call_known(
    e: Evaluator, function: Any, args: list[Abstract], keywords: dict[str, Abstract] | None = None
) -> Abstract:
    from .infer import known

    return e.call(known(function), args, keywords)


# ---------------------------------------------------------------------------------------------- attributes


def get_attribute(e: Evaluator, v: Abstract, name: str) -> Abstract:
    found = find_attribute(e, v, name)
    if found is not None:
        return found
    if isinstance(v, MaybeValue) and v.absent is None:
        e.guard(v.present, "AttributeError", f"'NoneType' object has no attribute '{name}'")
        return get_attribute(e, v.item, name)
    if isinstance(v, ConflictValue):
        raise conflict(e, v)
    if isinstance(v, (PullbackValue, ChoiceValue)) or class_of(e, v) is None:
        raise e.refuse(f"the attribute '{name}' of a {describe(v, e.heap)}")
    cls = class_of(e, v)
    if (
        isinstance(v, (Number, ArrayValue, TupleValue))
        and hasattr(cls, name)
        or isinstance(v, Reference)
        and hasattr(cls, name)
    ):
        raise e.refuse(f"the attribute '{name}' of a {describe(v, e.heap)}", hint="see the list of what is supported")
    subject = (
        f"type object '{v.object.__name__}'"
        if isinstance(v, Known) and isinstance(v.object, type)
        else f"'{cls.__name__}' object"
    )
    e.throw("AttributeError", f"{subject} has no attribute '{name}'")
    raise AssertionError


def find_attribute(e: Evaluator, v: Abstract, name: str) -> Abstract | None:
    if isinstance(v, Known):
        return _known_attribute(e, v.object, name)
    if isinstance(v, StructValue):
        if name in v.names:
            return v.items[v.names.index(name)]
        if name == "_replace" and issubclass(v.cls, tuple):
            return MethodValue((tuple, name), v)
        return _class_attribute(e, v.cls, v, name)
    if isinstance(v, Reference):
        record = e.heap[v.id]
        if record.kind == "object":
            cls: Any = record.meta
            names = struct_fields(cls) or ()
            if name in names:
                field = record.fields[names.index(name)]
                if isinstance(field, Known) and field.object is _MISSING:
                    e.throw("AttributeError", f"'{cls.__name__}' object has no attribute '{name}'")
                return field
            return _class_attribute(e, cls, v, name)
        if record.kind in ("list", "growing") and _has_method(list, name):
            return MethodValue((list, name), v)
        return None
    if isinstance(v, ArrayValue):
        from . import arrays

        return arrays.attribute(e, v, name)
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
    return None


def _has_method(cls: type, name: str) -> bool:
    from zyg.library import registry

    return registry.method(cls, name) is not None


def _known_attribute(e: Evaluator, obj: Any, name: str) -> Abstract | None:
    from zyg.transforms import transform_of

    from .calls import constant_or_input
    from .infer import known

    if type(obj) in (bool, int, float) or obj is None or isinstance(obj, str):
        if type(obj) in (bool, int, float):
            return _number_attribute(e, Known(obj), name)
        return MethodValue((type(obj), name), Known(obj)) if _has_method(type(obj), name) else None
    try:
        value = getattr(obj, name)
    except AttributeError:
        return None
    if isinstance(obj, (python_types.ModuleType, type)):
        e.inference.guard("attr", obj, name, value)
        if isinstance(obj, python_types.ModuleType) and not isinstance(value, (bool, int, float)):
            return constant_or_input(e, "global", vars(obj), name, value) if name in vars(obj) else known(value)
        return known(value)
    if transform_of(obj) is not None or isinstance(obj, (np.dtype, np.ufunc)) or callable(value):
        return known(value)
    raise e.refuse(
        f"the attribute '{name}' of {obj!r}, an object that compiled code does not know",
        hint="pass it as an argument: numbers, arrays, tuples, named tuples and dataclasses",
    )


def _class_attribute(e: Evaluator, cls: Any, v: Abstract, name: str) -> Abstract | None:
    """What an instance finds in its class: a method, a property, a constant."""
    from .infer import known

    for base in cls.__mro__:
        if name not in vars(base):
            continue
        attribute = vars(base)[name]
        e.inference.guard("attr", base, name, attribute)
        if isinstance(attribute, python_types.FunctionType):
            return MethodValue(attribute, v)
        if isinstance(attribute, property):
            return call_known(e, attribute.fget, [v])
        if isinstance(attribute, staticmethod):
            return known(attribute.__func__)
        if isinstance(attribute, classmethod):
            return MethodValue(attribute.__func__, Known(cls))
        if isinstance(attribute, (bool, int, float, str, tuple)) or attribute is None:
            return known(attribute)
        if base is tuple and _has_method(tuple, name) and isinstance(v, StructValue):
            return MethodValue((tuple, name), TupleValue(v.items))
        break
    if isinstance(v, StructValue) and issubclass(v.cls, tuple) and name == "_fields":
        return TupleValue(tuple(map(Known, v.names)))
    if name == "__class__":
        return Known(cls)
    return None


def _number_attribute(e: Evaluator, v: Abstract, name: str) -> Abstract | None:
    cls = class_of(e, v)
    if name == "real":
        return v
    if name == "imag":
        return Known(0.0 if cls is float else 0)
    if name == "dtype" and isinstance(v, Number) and v.numpy:
        return Known(np.dtype(cls))
    if name == "ndim" and isinstance(v, Number) and v.numpy:
        return Known(0)
    if name == "shape" and isinstance(v, Number) and v.numpy:
        return TupleValue(())
    if name == "size" and isinstance(v, Number) and v.numpy:
        return Known(1)
    if name == "__class__":
        return Known(cls)
    for base in cls.__mro__:
        if _has_method(base, name):
            return MethodValue((base, name), v)
    return None


def _function_attribute(e: Evaluator, v: FunctionValue, name: str) -> Abstract | None:
    if name in ("__name__", "__qualname__"):
        return Known(v.name if name == "__name__" else v.code.co_qualname)
    return None


def set_attribute(e: Evaluator, v: Abstract, name: str, value: Abstract) -> None:
    v = settled(e, v, f"'NoneType' object has no attribute '{name}'")
    if isinstance(v, Reference) and e.heap[v.id].kind == "object":
        record = e.heap[v.id]
        cls: Any = record.meta
        names = struct_fields(cls) or ()
        attribute = getattr(cls, name, None)
        if isinstance(attribute, property):
            if attribute.fset is None:
                e.throw("AttributeError", f"property '{name}' of '{cls.__name__}' object has no setter")
            call_known(e, attribute.fset, [v, value])
            return
        if cls.__dataclass_params__.frozen:
            _frozen(e, name)
        if name not in names:
            raise e.refuse(
                f"a new attribute '{name}' of a {cls.__name__}", hint=f"declare it as a field of {cls.__name__}"
            )
        e.heap[v.id] = record.replace(names.index(name), value)
        return
    if isinstance(v, StructValue):
        if issubclass(v.cls, tuple):
            e.throw("AttributeError", "can't set attribute")
        if v.cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            _frozen(e, name)
        raise e.refuse(
            f"an assignment to '{name}' of a {v.cls.__name__} that was not made in the compiled code",
            types=[describe(v, e.heap)],
            hint=f"make a new {v.cls.__name__}, or keep what changes in an array",
        )
    raise e.refuse(f"an assignment to the attribute '{name}' of a {describe(v, e.heap)}")


def _frozen(e: Evaluator, name: str) -> None:
    from .exceptions import ExceptionValue, raise_value

    raise_value(e, ExceptionValue(dataclasses.FrozenInstanceError, (Known(f"cannot assign to field '{name}'"),)))


# ------------------------------------------------------------------------------------- isinstance, match


def is_instance(e: Evaluator, v: Abstract, classes: Abstract) -> Abstract:
    """isinstance(v, classes)"""
    from .operators import negate
    from .python_ops import boolean

    items = lists.known_items(e, classes)
    if items is None and isinstance(classes, Known) and isinstance(classes.object, python_types.UnionType):
        items = tuple(map(Known, classes.object.__args__))
    wanted = []
    for c in items if items is not None else (classes,):
        if isinstance(c, TupleValue):
            inner = is_instance(e, v, c)
            if isinstance(inner, Known) and inner.object:
                return inner
            continue
        if not isinstance(c, Known) or not isinstance(c.object, type):
            e.type_error("isinstance() arg 2 must be a type, a tuple of types, or a union")
        assert isinstance(c, Known)
        wanted.append(c.object)
    if isinstance(v, ConflictValue):
        raise conflict(e, v)
    if isinstance(v, MaybeValue) and v.absent is None:
        item = is_instance(e, v.item, classes)
        none = any(issubclass(type(None), c) for c in wanted)
        if isinstance(item, Known) and item.object == none:
            return item
        if isinstance(item, Known):
            flag = v.present if item.object else negate(e, v.present)
            e.facts[id(flag)] = (flag, v.present, bool(item.object), not item.object)
            return boolean(flag)
        raise e.refuse("isinstance of this optional value", types=[describe(v, e.heap)])
    if isinstance(v, ChoiceValue):
        flags = [is_instance(e, o, classes) for o in v.options]
        if all(isinstance(f, Known) and f.object == flags[0].object for f in flags if isinstance(flags[0], Known)):
            return flags[0]
        raise e.refuse("isinstance of a choice between functions", types=[describe(v, e.heap)])
    cls = class_of(e, v)
    if cls is None:
        raise e.refuse(f"isinstance of a {describe(v, e.heap)}")
    return Known(any(issubclass(cls, c) for c in wanted))


def match_class(e: Evaluator, subject: Abstract, cls: Abstract, names: Abstract, positional: int) -> Abstract:
    """A class pattern: a tuple of attributes, or None."""
    if not isinstance(cls, Known) or not isinstance(cls.object, type):
        raise e.refuse("a class pattern whose class is not known when compiling")
    matches = is_instance(e, subject, cls)
    if isinstance(matches, Known) and not matches.object:
        return NONE

    def attributes(v: Abstract) -> Abstract:
        assert isinstance(cls, Known)
        wanted: list[str] = []
        items: list[Abstract] = []
        if positional:
            if cls.object in (bool, float, int, str, tuple, list, bytes):
                items.append(v)
            else:
                match_args = getattr(cls.object, "__match_args__", ())
                if len(match_args) < positional:
                    e.type_error(
                        f"{cls.object.__name__}() accepts {len(match_args)} positional sub-pattern"
                        f"{'' if len(match_args) == 1 else 's'} ({positional} given)"
                    )
                wanted.extend(match_args[:positional])
        wanted.extend(n.object for n in lists.known_items(e, names) or () if isinstance(n, Known))
        items.extend(get_attribute(e, v, n) for n in wanted)
        return TupleValue(tuple(items))

    if isinstance(matches, Known):
        return attributes(subject)
    assert isinstance(matches, Number) and isinstance(subject, MaybeValue)
    return MaybeValue(matches.value, attributes(subject.item), None)


# --------------------------------------------------------------------------------------- special methods

_SPECIAL = {
    "neg": "__neg__", "pos": "__pos__", "invert": "__invert__", "abs": "__abs__", "len": "__len__", "bool": "__bool__",
    "getitem": "__getitem__", "setitem": "__setitem__", "contains": "__contains__", "iter": "__iter__", "call": "__call__",
    "and": "__and__", "or": "__or__",
}  # fmt: skip


def _special(e: Evaluator, v: Abstract, name: str) -> Any:
    """The user's own special method of a struct; None where there is none."""
    if not isinstance(v, (StructValue, Reference)):
        return None
    cls = class_of(e, v)
    if not isinstance(cls, type) or struct_fields(cls) is None:
        return None
    for base in cls.__mro__:
        if name in vars(base):
            method = vars(base)[name]
            user = isinstance(method, python_types.FunctionType) and method.__code__.co_filename != "<string>"
            return method if user else None
    return None


def operator_method(e: Evaluator, name: str, *operands: Abstract) -> Abstract | None:
    """The operator by the operands' special methods, as Python tries them; None if there are none."""
    special = _SPECIAL.get(name, f"__{name}__")
    v = operands[0]
    method = _special(e, v, special)
    if method is not None:
        result = call_known(e, method, list(operands))
        if not (isinstance(result, Known) and result.object is NotImplemented):
            return result
    if len(operands) == 2 and name not in ("getitem", "contains", "setitem"):
        swapped = {"lt": "__gt__", "gt": "__lt__", "le": "__ge__", "ge": "__le__", "eq": "__eq__", "ne": "__ne__"}
        reflected = swapped.get(name, f"__r{special[2:]}")
        method = _special(e, operands[1], reflected)
        if method is not None:
            result = call_known(e, method, [operands[1], v])
            if not (isinstance(result, Known) and result.object is NotImplemented):
                return result
    return None


def user_iterator(e: Evaluator, v: Abstract) -> Reference | None:
    method = _special(e, v, "__iter__")
    if method is None:
        return None
    result = call_known(e, method, [v])
    from .iterators import make_iterator

    return make_iterator(e, result)
