"""Calls: what is called decides who answers. Python functions are in functions.py, what the library knows has an entry in its
registry, and anything else is left to Python."""

from __future__ import annotations

import builtins
import functools
import sys
import types as python_types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg import rules
from zyg.errors import Unsupported, in_library
from zyg.homes import home
from zyg.ir.plainly import get_plainly, is_in_class
from zyg.library import registry
from zyg.remedies import instead_of, operator_for, qualified, remedy
from zyg.transforms import Transform, transform_of
from zyg.typeof import plain_class

from .arguments import WITHOUT_ENTRY, fitting, is_of_numpy, shown
from .environment import function_value, held
from .frames import Context
from .functions import call_function
from .kinds import known_items
from .later import classes, construction, exceptions, lists
from .merging import settled
from .run_time_lists import as_arrays
from .type_names import class_of, python_type_name
from .values import (
    MUTABLE_KINDS,
    Abstract,
    CallableValue,
    ChoiceValue,
    ConflictValue,
    FunctionValue,
    Known,
    MethodValue,
    PullbackValue,
    Reference,
    TupleValue,
    a_thing,
    describe,
    is_choice_of_data,
    is_reference,
    known,
    reachable,
)

if TYPE_CHECKING:
    from zyg.rules import Rule

    from .evaluator import Evaluator


def call(e: Evaluator, callee: Abstract, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    callee = settled(e, callee, "'NoneType' object is not callable")
    if isinstance(callee, Known):
        return call_object(e, callee.object, args, keywords)
    if isinstance(callee, FunctionValue):
        if callee.function is not None and e.context.level > 0:
            result = _by_rule(e, callee, callee.function, args, keywords)
            if result is not None:
                return result
        entry = registry.find(callee.function) if callee.function is not None else None
        if entry is not None:  # one of zyg's own functions, that came as an argument or a captured value
            return _call_entry(e, entry, callee.function, args, keywords)
        return call_function(e, callee, args, keywords)
    if isinstance(callee, MethodValue):
        return _call_method(e, callee, args, keywords)
    if isinstance(callee, ChoiceValue):
        return e.each(callee, lambda option: e.call(option, args, keywords))
    if isinstance(callee, CallableValue):
        return callee.call(e, args, keywords)
    if isinstance(callee, PullbackValue):
        return callee.plan.call(e, callee, args, keywords)
    method = classes.special(e, callee, "__call__")
    if method is not None:
        if e.context.level > 0:
            cls = class_of(e, callee)
            ruled = rules.has_ruled_instances(cls)
            e.inference.guard("ruled instances", cls, ruled)
            if ruled:
                raise e.refuse(
                    f"a call of a {cls.__qualname__} that is not known when compiling: one of these has a rule of its own",
                    hint="call it by a global name, or give the rule to a function",
                )
        return e.call(known(method), [callee, *args], keywords)
    classes.refuse_unless_without(e, callee, "a call of an object", "__call__")
    e.type_error(f"'{python_type_name(e, callee)}' object is not callable")
    raise AssertionError


def _by_rule(
    e: Evaluator, callee: Abstract, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract | None:
    """Under differentiation, a call of a function that has a custom rule."""
    rule, pushing = rules.rules_for(function)
    if e.frame is not None and e.frame.library and not e.frame.calls_given:
        given = rule or pushing
        if given is not None and _is_of_library(function) and not _is_own_rule(given):
            return None  # what users make of the functions that the library is written in does not change the library
    if e.unruled is None or rules.key_of(e.unruled) != rules.key_of(function):
        if pushing is not None and not e.context.forwards and rule is not None:
            pushing = None  # nobody asks for tangents, and without them it is not what it is differentiated by
        else:
            e.inference.guard("tangent rule", function, pushing)
        if pushing is not None:
            from zyg.library.tangent_rules import call_with_tangent_rule

            return call_with_tangent_rule(e, pushing, callee, args, keywords)
    e.unruled = None
    e.inference.guard("rule", function, rule)
    if rule is None:
        return None
    entry = registry.find(function) if _is_own_rule(rule) else None
    if entry is not None:
        args, keywords = fitting(e, entry, function, args, keywords)
    from zyg.library.custom import call_with_rule

    return call_with_rule(e, rule, args, keywords)


def _is_own_rule(rule: Rule) -> bool:
    return rule.function.__module__.startswith("zyg.library.")


def _is_of_library(function: Any) -> bool:
    """Whether the library may be written in a function; users' own ones come to it as arguments, or are methods of such."""
    if registry.find(function) is not None:
        return True
    module = get_plainly(function, "__module__")
    return isinstance(module, str) and module.startswith("zyg.")


@contextmanager
def unruled(e: Evaluator, function: Any) -> Iterator[None]:
    """The next call of `function` itself is made without its tangent rule."""
    e.unruled = function
    yield
    e.unruled = None


def call_object(e: Evaluator, obj: Any, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    if e.context.level > 0 and callable(obj):
        result = _by_rule(e, Known(obj), obj, args, keywords)
        if result is not None:
            return result
    entry = registry.find(obj)
    if entry is not None:
        return _call_entry(e, entry, obj, args, keywords)
    transform = transform_of(obj)
    if transform is not None and transform.kind == "jit":
        return _call_jitted(e, transform, args, keywords)
    if transform is not None:
        from zyg.library.derivatives import call_transform

        for n, a in enumerate(args):
            if isinstance(a, ChoiceValue) and is_reference(a):
                before, after = args[:n], args[n + 1 :]
                return e.each(a, lambda one: call_object(e, obj, [*before, one, *after], keywords))  # noqa: B023
        return call_transform(e, transform, args, keywords)
    if isinstance(obj, python_types.FunctionType):
        if is_of_numpy(obj):
            raise e.refuse(
                f"{shown(obj)}, which is not supported natively", hint=remedy(qualified(obj)) or WITHOUT_ENTRY
            )
        library = obj.__module__ is not None and obj.__module__.startswith("zyg.library.")
        try:
            return call_function(e, function_value(e, obj, library), args, keywords, library)
        except Unsupported as error:
            raise _of_a_package(e, obj, error) from None
    if isinstance(obj, python_types.MethodType):
        return e.call(known(obj.__func__), [held(e, obj.__self__), *args], keywords)
    if isinstance(obj, functools.partial):
        bound = [held(e, a) for a in obj.args]
        named = {k: held(e, v) for k, v in obj.keywords.items()} | keywords
        return e.call(known(obj.func), [*bound, *args], named)
    if not isinstance(obj, type) and plain_class(type(obj)) and is_in_class(type(obj), "__call__"):
        instance = held(e, obj, by_rule=False)
        method = classes.special(e, instance, "__call__")
        if method is not None:
            return e.call(known(method), [instance, *args], keywords)
        if not isinstance(instance, Known):
            return e.call(instance, args, keywords)
    if isinstance(obj, type):
        if issubclass(obj, BaseException):
            if keywords:
                raise e.refuse("an exception that is made with keyword arguments", hint="pass them by position")
            return exceptions.ExceptionValue(obj, tuple(args))
        if classes.is_object_class(obj):
            return construction.construct(e, obj, args, keywords)
    entry = registry.method(type(obj), "__call__")
    if entry is not None:
        return _call_entry(e, entry, (type(obj), "__call__"), [Known(obj), *args], keywords)
    from .foreign import call_foreign

    result = call_foreign(e, obj, args, keywords)
    return result if result is not None else _unknown_call(e, obj, args, keywords)


def _call_jitted(e: Evaluator, transform: Transform, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    """A jitted function keeps its own options wherever it is called from."""
    context = Context(transform.options or e.options, e.context.level, e.context.forwards)
    with e.in_context(context):
        return e.call(known(transform.function), args, keywords)


_OF_ARRAYS = "zyg.library.numpy_"  # the modules of our own that work as NumPy's functions do
_MOST_CHOICES = 5  # in a list: code is made for each combination


def _call_entry(
    e: Evaluator, entry: registry.Entry, obj: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    args, keywords = fitting(e, entry, obj, args, keywords)
    args, keywords = as_arrays(e, entry, obj, args, keywords)
    of_arrays = is_of_numpy(obj) or str(get_plainly(obj, "__module__", "")).startswith(_OF_ARRAYS)
    for key, v in (*enumerate(args), *keywords.items()):
        choices = [i for i in (_within(e, v) if of_arrays else (v,)) if is_choice_of_data(i)]
        if choices:
            choice = choices[0]
            assert isinstance(choice, ChoiceValue)
            if len(set(map(id, choices))) > _MOST_CHOICES:
                raise e.refuse(
                    f"{shown(obj)}() of more than {_MOST_CHOICES} numbers or arrays that are of this or that kind",
                    types=[describe(choice, e.heap)],
                    hint="give them one type and number of dimensions",
                )
            made = lambda one: _with(args, keywords, key, _replaced(e, v, choice, one))  # noqa: B023
            return e.each(choice, lambda one: _call_entry(e, entry, obj, *made(one)))  # noqa: B023
    if not entry.emitter:
        function: Any = entry.function
        return call_function(e, function_value(e, function, True), args, keywords, True)
    for n, a in enumerate(args):
        if isinstance(a, ChoiceValue) and is_reference(a) and obj not in (iter, enumerate, zip, reversed):
            return e.each(a, lambda one: _call_entry(e, entry, obj, [*args[:n], one, *args[n + 1 :]], keywords))  # noqa: B023
    try:
        result = entry.function(e, *args, **keywords)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            # The arguments did not fit the emitter's parameters.
            name = get_plainly(obj, "__name__") or str(obj[1] if isinstance(obj, tuple) else obj)
            found = [describe(a, e.heap) for a in args] + [f"{k}={describe(v, e.heap)}" for k, v in keywords.items()]
            hint = entry.instead.get("") or _as_taken(name, entry.function)
            raise e.refuse(f"these arguments of {name}()", types=found, hint=hint) from None
        raise
    return result


def _as_taken(name: str, emitter: Any) -> str:
    """How a call is to be written, by the parameters of its emitter."""
    import inspect  # (slow to load)

    parameters = list(inspect.signature(emitter).parameters.values())[1:]
    texts = [f"{'*' * (p.kind is p.VAR_POSITIONAL)}{p.name}" for p in parameters if p.kind is not p.VAR_KEYWORD]
    return f"write {name}({', '.join(texts)})"


def _within(e: Evaluator, v: Abstract) -> Iterator[Abstract]:
    """A value, and what is in it if it is a tuple or list of known length, of which functions of NumPy's make an array."""
    yield v
    if not isinstance(v, Known):
        for item in known_items(e, v) or ():
            yield from _within(e, item)


def _replaced(e: Evaluator, v: Abstract, item: Abstract, one: Abstract) -> Abstract:
    """A tuple or list with something else in the place of an item, wherever it stands in it."""
    if v is item:
        return one
    items = known_items(e, v)
    if items is None:
        return v
    made = [_replaced(e, i, item, one) for i in items]
    return v.with_parts(made) if isinstance(v, TupleValue) else lists.new_list(e, made)


def _with(
    args: list[Abstract], keywords: dict[str, Abstract], key: int | str, v: Abstract
) -> tuple[list[Abstract], dict[str, Abstract]]:
    """Arguments of which one, by position or name, is another."""
    if isinstance(key, str):
        return args, {**keywords, key: v}
    return [*args[:key], v, *args[key + 1 :]], keywords


def _call_method(e: Evaluator, m: MethodValue, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    if isinstance(m.function, tuple) and isinstance(m.receiver, ChoiceValue):
        return e.each(m.receiver, lambda one: _call_method(e, MethodValue(m.function, one), args, keywords))
    if isinstance(m.function, tuple):
        entry = registry.method(*m.function)
        assert entry is not None
        return _call_entry(e, entry, m.function, [m.receiver, *args], keywords)
    return e.call(known(m.function), [m.receiver, *args], keywords)


def _of_a_package(e: Evaluator, function: Any, error: Unsupported) -> Unsupported:
    """What is refused in the own code of a function of SciPy or the like is refused of the function, where the user's code calls it."""
    from zyg.autodiff.objects.foreign import FOREIGN_PACKAGES  # (slow to load)

    package = home(function).partition(".")[0]
    if package not in FOREIGN_PACKAGES or package in sys.stdlib_module_names or type(error) is not Unsupported:
        return error
    if e.position is None or in_library(e.position) or not in_library(error.position):
        return error
    refused = e.refuse(f"{qualified(function)}, whose own code native code does not take", hint=instead_of(function))
    refused.guards, refused.final = error.guards, error.final
    return refused


_MADE_BY_A_STATEMENT = 1 << 9  # Py_TPFLAGS_HEAPTYPE: attributes of the class can be set


def _unknown_call(e: Evaluator, obj: Any, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    """A Python callable that zyg knows nothing of: called with boxed arguments, for its effects only."""
    from .exceptions import call_of_python

    name = shown(obj) if isinstance(obj, np.ufunc) else qualified(obj)
    if not callable(obj):
        e.type_error(f"'{type(obj).__name__}' object is not callable")
    kind = "class" if isinstance(obj, type) else "function"
    described, hint = f"the value of {name}(...), a {kind} that native code does not know", instead_of(obj)
    of_python = isinstance(obj, type) and obj.__module__.partition(".")[0] in sys.stdlib_module_names
    if of_python:  # what it makes is all there is to a call
        described = f"{shown(obj)}, a class that native code does not know"
    elif is_of_numpy(obj):
        described, hint = f"{shown(obj)}, which is not supported natively", WITHOUT_ENTRY
    elif isinstance(obj, _METHODS_IN_C):
        described, hint = f"a call of {name}, a method of a class in C", _as_method(obj.__name__)
    elif not isinstance(obj, (python_types.BuiltinFunctionType, python_types.FunctionType, type, np.ufunc)):
        described = f"a call of a {type(obj).__qualname__} object"
        hint = remedy(qualified(type(obj))) or "write a function, or a plain class with __call__"
    if obj in (builtins.exec, builtins.eval) and len(args) + len(keywords) == 1:
        raise e.refuse(
            f"{name} without the names to use, which are the variables of the frame that calls it",
            hint="write the text as Python code, or pass a dictionary of names",
        )
    if obj is not builtins.print:
        for a in (*args, *keywords.values()):
            if isinstance(a, Known) and isinstance(a.object, type) and a.object.__flags__ & _MADE_BY_A_STATEMENT:
                raise e.refuse(
                    f"the class {a.object.__qualname__} as an argument of {name}, which native code does not know",
                    hint=remedy(name) or _MIGHT_CHANGE,
                )
            if any(e.heap[i].kind in MUTABLE_KINDS for i in reachable([a], e.heap)):
                if of_python:
                    raise e.refuse(described, hint=hint)
                raise e.refuse(
                    f"{a_thing(a, e.heap)} as an argument of {name}, which native code does not know",
                    hint=hint if isinstance(obj, _METHODS_IN_C) else remedy(name) or _MIGHT_CHANGE,
                )
            if isinstance(a, Reference) and e.heap[a.id].kind == "iterator":
                raise e.refuse(
                    f"{a_thing(a, e.heap)} as an argument of {name}, which native code does not know",
                    hint="go through it with a loop",
                )
    call_of_python(e, obj, args, keywords)
    if obj is builtins.print:
        return Known(None)
    return ConflictValue(described, (described,), hint, e.position)


_METHODS_IN_C = (
    python_types.MethodDescriptorType, python_types.WrapperDescriptorType, python_types.MethodWrapperType,
    python_types.ClassMethodDescriptorType,
)  # fmt: skip


def _as_method(name: str) -> str:
    if name.startswith("__"):
        return f"write the operator: {operator_for(name) or 'x * y'}"
    return f"call it as a method, in a function: lambda x, *args: x.{name}(*args)"


_MIGHT_CHANGE = (
    "write out what it does, or pass numbers, tuples and arrays alone: it might change or keep what it is given"
)
