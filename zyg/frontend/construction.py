"""Making objects: instances of plain classes, of dataclasses, and named tuples."""

from __future__ import annotations

import inspect
import types as python_types
from typing import TYPE_CHECKING, Any

from zyg.ir.plainly import get_plainly
from zyg.transforms import transform_of
from zyg.typeof import field_order, generated, is_dataclass, obstacle, struct_fields

from .type_names import python_type_name
from .values import Abstract, Known, Record, Reference, Shape, StructValue, known

if TYPE_CHECKING:
    from .evaluator import Evaluator


def construct(e: Evaluator, cls: type, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    """cls(*args, **keywords)"""
    from .classes import asks_the_class, get_attribute, look_up, rest_on

    rest_on(e, cls)
    reason = obstacle(cls)
    if reason is None and (look_up(e, type(cls), "__call__") or (type, None))[0] is not type:
        reason = "whose metaclass makes its instances", "give it an ordinary metaclass"
    if reason is not None:
        raise e.refuse(f"the class {cls.__qualname__}, {reason[0]}", hint=reason[1])
    if issubclass(cls, tuple):
        return _construct_named_tuple(e, cls, args, keywords)
    id = e.new_id("object")
    owner, init = _initialiser(e, cls)
    if owner is object and (args or keywords):
        e.type_error(f"{cls.__name__}() takes no arguments")
    _refuse_abstract(e, cls)
    if owner is object:
        e.heap[id] = Record("object", Shape(cls, ()), ())
    elif is_dataclass(owner) and isinstance(init, python_types.FunctionType) and generated(init.__code__):
        bound = _bind_fields(e, owner, _defaults(e, init), args, keywords)
        for name in bound:
            found = look_up(e, cls, name)
            if found is not None and asks_the_class(found[1]):
                raise e.refuse(f"the field '{name}' of a {cls.__name__}, which is a descriptor", hint="use a property")
        names = tuple(n for n in struct_fields(owner) or () if n in bound)
        e.heap[id] = Record("object", Shape(cls, names), tuple(bound[n] for n in names))
        look_up(e, cls, "__post_init__")
        if "__post_init__" in init.__code__.co_names:  # there was one when dataclass() wrote __init__
            post_init = get_attribute(e, Reference(id), "__post_init__")
            extra = [bound[name] for name, is_init_var in _pseudo_fields(owner) if name in bound and is_init_var]
            e.call(post_init, extra)
    else:
        e.heap[id] = Record("object", Shape(cls, ()), ())
        result = call_known(e, init, [Reference(id), *args], keywords)
        if not (isinstance(result, Known) and result.object is None):
            e.type_error(f"__init__() should return None, not '{python_type_name(e, result)}'")
    if frozen(cls):
        named = e.heap[id].named()
        for name in struct_fields(cls) or ():
            if name not in named and name in vars(cls):
                named[name] = _class_default(cls, name)
        names = field_order(cls, tuple(named))
        return StructValue(cls, names, tuple(named[n] for n in names))
    return Reference(id)


def _refuse_abstract(e: Evaluator, cls: type) -> None:
    """What object.__new__ says of a class with abstract methods."""
    from .classes import look_up

    look_up(e, cls, "__abstractmethods__")
    if inspect.isabstract(cls):
        try:
            object.__new__(cls)
        except TypeError as error:
            e.type_error(str(error))


def frozen(cls: Any) -> bool:
    """Whether instances of a class never change: frozen dataclasses travel by value, as tuples do."""
    parameters = get_plainly(cls, "__dataclass_params__")
    return parameters is not None and parameters.frozen


def _initialiser(e: Evaluator, cls: type) -> tuple[type, Any]:
    """The class that has the `__init__` which an instance gets, and that; `object` where it is Python's own, which does nothing."""
    from .classes import look_up

    owner, init = look_up(e, cls, "__init__") or (object, None)
    if isinstance(init, python_types.FunctionType) or transform_of(init) is not None:
        return owner, init
    if isinstance(init, python_types.WrapperDescriptorType):
        return object, None
    raise e.refuse(f"the class {cls.__qualname__}, whose __init__ is no function", hint="write it as a plain method")


def _class_default(cls: type, name: str) -> Abstract:
    return known(vars(cls)[name])


def _pseudo_fields(cls: type) -> list[tuple[str, bool]]:
    """(name, is InitVar) of all fields that __init__ takes, in order."""
    fields: dict[str, Any] = cls.__dataclass_fields__
    kinds = {n: f._field_type.name for n, f in fields.items()}
    return [(n, kinds[n] == "_FIELD_INITVAR") for n in fields if kinds[n] in ("_FIELD", "_FIELD_INITVAR")]


def _defaults(e: Evaluator, function: python_types.FunctionType) -> dict[str, Any]:
    """The defaults of the parameters of what dataclass() or namedtuple() wrote, which one may have set since."""
    from .environment import guard_function

    guard_function(e, function)
    code, by_position = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    return dict(zip(names[len(names) - len(by_position) :], by_position)) | (function.__kwdefaults__ or {})


def _bind_fields(
    e: Evaluator, cls: type, defaults: dict[str, Any], args: list[Abstract], keywords: dict[str, Abstract]
) -> dict[str, Abstract]:
    from dataclasses import MISSING

    fields: dict[str, Any] = cls.__dataclass_fields__
    taking = [n for n, _ in _pseudo_fields(cls) if fields[n].init]
    positional = [n for n in taking if not fields[n].kw_only]
    name = f"{cls.__qualname__}.__init__()"
    if len(args) > len(positional):
        required = sum(n not in defaults for n in positional)
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
        if f.init and n not in defaults:
            missing.append(f"'{n}'")
        elif f.default_factory is not MISSING:
            bound[n] = call_known(e, f.default_factory, [])
        elif f.init or f.default is not MISSING:
            bound[n] = known(defaults.get(n, f.default))
    if missing:
        e.type_error(_missing_message(name, missing))
    return bound


def _missing_message(name: str, missing: list[str]) -> str:
    if len(missing) == 1:
        return f"{name} missing 1 required positional argument: {missing[0]}"
    listed = f"{', '.join(missing[:-1])}{',' if len(missing) > 2 else ''} and {missing[-1]}"
    return f"{name} missing {len(missing)} required positional arguments: {listed}"


def _construct_named_tuple(e: Evaluator, cls: type, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    names: tuple[str, ...] = cls._fields
    defaults = _defaults(e, cls.__new__)
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
    return e.call(known(function), args, keywords)
