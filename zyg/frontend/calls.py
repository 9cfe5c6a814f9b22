"""Calls: what is called, how arguments meet parameters, and whether the callee is evaluated in place or on its own.

A Python function is evaluated in place unless it is recursive or large.  Then it becomes a *specialisation*: a function of
typed SSA for the types, constants and functions that it was called with, which takes what its arguments hold, objects
included, and returns its result and what became of those objects.  The result type of a recursive one is found by
iteration from below: at first a recursive call does not return, then it returns what the other paths return, and so on.
"""

from __future__ import annotations

import builtins
import functools
import types as python_types
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg import rules
from zyg.errors import UntypableValue
from zyg.ir import types as t
from zyg.ir.core import Const, Instr, Value
from zyg.ir.records import field, record, replace
from zyg.library import registry
from zyg.transforms import Transform, transform_of
from zyg.typeof import UNBOUND, plain_class, type_of

from .arguments import WITHOUT_ENTRY, fitting, is_of_numpy, shown
from .merging import settled
from .prepare import Prepared, prepare
from .scalars import scalar_value
from .values import (
    DIFFERENTIABLE,
    MUTABLE_KINDS,
    NUMBER_CLASSES,
    Abstract,
    CallableValue,
    ChoiceValue,
    ConflictValue,
    FunctionValue,
    Heap,
    Known,
    MethodValue,
    Number,
    PullbackValue,
    Record,
    Reference,
    TupleValue,
    describe,
    is_choice_of_data,
    is_reference,
    known_key,
    map_leaves,
    reachable,
    references,
)

if TYPE_CHECKING:
    from zyg.rules import Rule

    from .infer import Evaluator, Frame

# Functions with more operations than this are compiled on their own when they are called.
INLINE_SIZE = 400
MAX_DEPTH = 60
MAX_ACTIVE = 40
MAX_LEAVES = 1000
MAX_ROUNDS = 12  # until a recursive function's result is known: an object more in each does not end
MAX_PARTS = 5000  # of one argument, all nested tuples and objects taken apart
_GENERATOR_FLAG = 0x20
_VARARGS, _VARKEYWORDS = 0x04, 0x08


UNCHECKED: set[Any] = set()


def unchecked(function: Any) -> Any:
    """Decorator for library code whose indices are in range by construction: compiled without bounds checks."""
    UNCHECKED.add(function.__code__)
    return function


SHARED: set[Any] = set()


def shared(function: Any) -> Any:
    """Decorator for library code that is compiled once for arguments of the same types, not in place of each call."""
    SHARED.add(function.__code__)
    return function


# ------------------------------------------------------------------------------------------------ globals


def global_value(e: Evaluator, frame: Frame, name: str) -> Abstract:
    """What a global or builtin name stands for: a number or array is read at each call, the rest is a guarded constant."""
    from .infer import known

    scope = frame.globals
    if name in scope:
        value = scope[name]
        if frame.library:
            return known(value)
        return constant_or_input(e, "global", scope, name, value)
    inside = scope.get("__builtins__", builtins)
    inside = inside if isinstance(inside, dict) else vars(inside)
    if name not in inside:
        e.inference.guard("missing", scope, inside, name)
        e.throw("NameError", f"name '{name}' is not defined")
    if not frame.library:
        e.inference.guard("builtin", scope, inside, name, inside[name])
    return known(inside[name])


def constant_or_input(
    e: Evaluator, kind: str, container: Any, name: str | None, value: Any, by_rule: bool = True
) -> Abstract:
    """A hidden parameter for what holds numbers or arrays, a constant for everything else (and, `by_rule`, for what has a rule)."""
    from .infer import known

    constant = e.inference.fixed and (type(value) in (int, bool) or isinstance(value, np.integer))
    if not constant and (
        (not callable(value) and not isinstance(value, (python_types.ModuleType, str, type(None))))
        or (is_data(value) and not (by_rule and _told_apart(e, value)))
    ):
        try:
            data_type = type_of(value)
        except UntypableValue as error:
            if type(value) in (list, dict):  # what it holds now is no constant
                return ConflictValue(error.what, (error.what,), error.hint)
            data_type = None
        if data_type is not None and (t.flatten(data_type) or isinstance(data_type, t.MUTABLE)):
            return e.input(kind, container, name, data_type)
    if kind == "global":
        e.inference.guard("global", container, name, value)
    else:
        e.inference.guard("cell", container, value)
    return known(value)


def _told_apart(e: Evaluator, value: Any) -> bool:
    """Whether an object is to be known by identity, since calls of it may have a rule under differentiation."""
    return e.context.level > 0 and rules.has_ruled_instances(type(value))


def is_data(value: Any) -> bool:
    data = (bool, int, float, complex, np.ndarray, np.generic, tuple)
    return isinstance(value, data) or callable(value) and transform_of(value) is None and plain_class(type(value))


def function_value(e: Evaluator, function: python_types.FunctionType, library: bool = False) -> FunctionValue:
    """A Python function object as an abstract value."""
    from .infer import known

    if not library:
        # All of these can be assigned to.
        kwdefaults = function.__kwdefaults__
        e.inference.guard("function", function, function.__code__, function.__defaults__, kwdefaults)
        for name, value in (kwdefaults or {}).items():
            e.inference.guard("global", kwdefaults, name, value)
    captured = []
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:
            captured.append(Known(UNBOUND))
            continue
        captured.append(known(content) if library else constant_or_input(e, "cell", cell, None, content))
    return FunctionValue(
        function.__code__,
        function.__globals__,
        function.__name__,
        tuple(captured),
        tuple(held(e, v) for v in function.__defaults__ or ()),
        tuple((n, held(e, v)) for n, v in (function.__kwdefaults__ or {}).items()),
        function,
    )


def held(e: Evaluator, value: Any, by_rule: bool = True) -> Abstract:
    """An object that code refers to directly, such as the default of a parameter: arrays and mutable objects are read at
    each call, out of a cell that holds them; the rest is a constant."""
    from .infer import known

    if isinstance(value, tuple) and type(value) is not tuple or isinstance(value, (np.ndarray, list, dict)):
        pass
    elif type(value) is tuple and any(isinstance(v, (tuple, np.ndarray, list, dict)) for v in value):
        return TupleValue(tuple(held(e, v) for v in value))
    elif not plain_class(type(value)):
        return known(value)
    cell = e.inference.cells.setdefault(id(value), python_types.CellType(value))
    return constant_or_input(e, "cell", cell, None, value, by_rule)


# -------------------------------------------------------------------------------------------------- calls


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
    from .classes import refuse_unless_without, special
    from .infer import known
    from .type_names import class_of

    method = special(e, callee, "__call__")
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
    from .type_names import python_type_name

    refuse_unless_without(e, callee, "a call of an object", "__call__")
    e.type_error(f"'{python_type_name(e, callee)}' object is not callable")
    raise AssertionError


def _by_rule(
    e: Evaluator, callee: Abstract, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract | None:
    """Under differentiation, a call of a function that has a custom rule."""
    from zyg.rules import key_of, rule_for, tangent_rule_for

    if e.frame is not None and e.frame.library and not _is_own_rule(rule_for(function) or tangent_rule_for(function)):
        return None  # what users make of the functions that the library is written in does not change the library
    if e.unruled is None or key_of(e.unruled) != key_of(function):
        pushing = tangent_rule_for(function)
        e.inference.guard("tangent rule", function, pushing)
        if pushing is not None:
            from zyg.library.tangent_rules import call_with_tangent_rule

            return call_with_tangent_rule(e, pushing, callee, args, keywords)
    e.unruled = None
    rule = rule_for(function)
    e.inference.guard("rule", function, rule)
    if rule is None:
        return None
    from zyg.library.custom import call_with_rule

    return call_with_rule(e, rule, args, keywords)


def _is_own_rule(rule: Rule | None) -> bool:
    return rule is not None and rule.function.__module__.startswith("zyg.library.")


@contextmanager
def unruled(e: Evaluator, function: Any) -> Iterator[None]:
    """The next call of `function` itself is made without its tangent rule."""
    e.unruled = function
    yield
    e.unruled = None


def call_object(e: Evaluator, obj: Any, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    from . import classes, construction
    from .exceptions import ExceptionValue
    from .infer import known

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
            raise e.refuse(f"{shown(obj)}, which is not supported natively", hint=WITHOUT_ENTRY)
        library = obj.__module__ is not None and obj.__module__.startswith("zyg.library.")
        return call_function(e, function_value(e, obj, library), args, keywords, library)
    if isinstance(obj, python_types.MethodType):
        receiver = constant_or_input(e, "cell", obj, None, obj.__self__) if False else known(obj.__self__)
        return e.call(known(obj.__func__), [receiver, *args], keywords)
    if isinstance(obj, functools.partial):
        bound = [known(a) for a in obj.args]
        named = {k: known(v) for k, v in obj.keywords.items()} | keywords
        return e.call(known(obj.func), [*bound, *args], named)
    if not isinstance(obj, type) and plain_class(type(obj)) and hasattr(type(obj), "__call__"):  # noqa: B004
        instance = held(e, obj, by_rule=False)
        method = classes.special(e, instance, "__call__")
        if method is not None:
            return e.call(known(method), [instance, *args], keywords)
        if not isinstance(instance, Known):
            return e.call(instance, args, keywords)
    if isinstance(obj, type):
        if issubclass(obj, BaseException):
            return ExceptionValue(obj, tuple(args))
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
    from .infer import Context, known

    context = Context(transform.options or e.options, e.context.level)
    with e.in_context(context):
        return e.call(known(transform.function), args, keywords)


def _call_entry(
    e: Evaluator, entry: registry.Entry, obj: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    args, keywords = fitting(e, entry, obj, args, keywords)
    for key, choice in (*enumerate(args), *keywords.items()):
        if isinstance(choice, ChoiceValue) and is_choice_of_data(choice):
            return e.each(choice, lambda one: _call_entry(e, entry, obj, *_with(args, keywords, key, one)))  # noqa: B023
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
            name = getattr(obj, "__name__", None) or str(obj[1] if isinstance(obj, tuple) else obj)
            found = [describe(a, e.heap) for a in args] + [f"{k}={describe(v, e.heap)}" for k, v in keywords.items()]
            raise e.refuse(f"these arguments of {name}()", types=found, hint="see its documentation") from None
        raise
    return result


def _with(
    args: list[Abstract], keywords: dict[str, Abstract], key: int | str, v: Abstract
) -> tuple[list[Abstract], dict[str, Abstract]]:
    """Arguments of which one, by position or name, is another."""
    if isinstance(key, str):
        return args, {**keywords, key: v}
    return [*args[:key], v, *args[key + 1 :]], keywords


def _call_method(e: Evaluator, m: MethodValue, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    from .infer import known

    if isinstance(m.function, tuple) and isinstance(m.receiver, ChoiceValue):
        return e.each(m.receiver, lambda one: _call_method(e, MethodValue(m.function, one), args, keywords))
    if isinstance(m.function, tuple):
        entry = registry.method(*m.function)
        assert entry is not None
        return _call_entry(e, entry, m.function, [m.receiver, *args], keywords)
    return e.call(known(m.function), [m.receiver, *args], keywords)


def _unknown_call(e: Evaluator, obj: Any, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    """A Python callable that zyg knows nothing of: called with boxed arguments, for its effects only."""
    from .exceptions import Print, flat_arguments, python_call

    name = getattr(obj, "__qualname__", None) or repr(obj)
    if not callable(obj):
        e.type_error(f"'{type(obj).__name__}' object is not callable")
    constants = []
    for key, v in keywords.items():
        if not isinstance(v, Known):
            raise e.refuse(
                f"a call of {name}, which compiled code does not know, with the keyword argument {key}",
                types=[describe(v, e.heap)],
                hint="pass it by position",
            )
        constants.append((key, v.object))
    described = f"the value of {name}(...), a function that compiled code does not know"
    hint = f"write it in Python, or give it a rule: @zyg.adjoint({name})"
    if is_of_numpy(obj):
        described, hint = f"{shown(obj)}, which is not supported natively", WITHOUT_ENTRY
    elif not isinstance(obj, (python_types.BuiltinFunctionType, python_types.FunctionType, type, np.ufunc)):
        described = f"a call of a {type(obj).__qualname__} object"
        hint = "write a function, or a plain class with __call__"
    if obj is not builtins.print:
        for a in args:
            if any(e.heap[i].kind in MUTABLE_KINDS for i in reachable([a], e.heap)):
                raise e.refuse(
                    f"a {describe(a, e.heap)} as an argument of {name}, which compiled code does not know",
                    hint="it might be changed or kept there; pass numbers, tuples or arrays",
                )
    layout, values = flat_arguments(args)
    plain = not constants and all(template is None for template, _ in layout)
    python_call(e, obj if plain else Print(obj, layout, tuple(constants)), values)
    if obj is builtins.print:
        return Known(None)
    return ConflictValue(described, (described,), hint=hint)


# --------------------------------------------------------------------------------------------- arguments


def bind(e: Evaluator, f: FunctionValue, args: list[Abstract], keywords: dict[str, Abstract]) -> list[Abstract]:
    """Arguments in the order of the code's parameters; TypeError with CPython's text where they do not fit."""
    code = f.code
    positional = code.co_argcount
    names = code.co_varnames
    total = positional + code.co_kwonlyargcount
    name = f"{code.co_qualname}()"
    slots: list[Abstract | None] = [None] * total
    slots[: min(len(args), positional)] = args[:positional]
    extra_names: dict[str, Abstract] = {}
    for key, v in keywords.items():
        if key in names[code.co_posonlyargcount : total]:
            n = names.index(key)
            if slots[n] is not None:
                e.type_error(f"{name} got multiple values for argument '{key}'")
            slots[n] = v
        elif code.co_flags & _VARKEYWORDS:
            extra_names[key] = v
        elif key in names[: code.co_posonlyargcount]:
            e.type_error(f"{name} got some positional-only arguments passed as keyword arguments: '{key}'")
        else:
            e.type_error(f"{name} got an unexpected keyword argument '{key}'")
    if len(args) > positional and not code.co_flags & _VARARGS:
        _too_many(e, f, len(args), name)
    first_default = positional - len(f.defaults)
    for n in range(max(first_default, 0), positional):
        if slots[n] is None:
            slots[n] = f.defaults[n - first_default]
    for key, v in f.kwdefaults:
        if key in names[positional:total] and slots[names.index(key)] is None:
            slots[names.index(key)] = v
    for kind, low, high in (("positional", 0, positional), ("keyword-only", positional, total)):
        missing = [f"'{names[n]}'" for n in range(low, high) if slots[n] is None]
        if missing:
            _missing(e, name, kind, missing)
    result: list[Abstract] = [s for s in slots if s is not None]
    if code.co_flags & _VARARGS:
        result.append(TupleValue(tuple(args[positional:])))
    if code.co_flags & _VARKEYWORDS:
        from .dicts import new_dict

        result.append(new_dict(e, extra_names))
    return result


def _too_many(e: Evaluator, f: FunctionValue, given: int, name: str) -> None:
    count, defaults = f.code.co_argcount, len(f.defaults)
    takes = f"from {count - defaults} to {count}" if defaults else str(count)
    plural = "" if takes == "1" else "s"
    e.type_error(
        f"{name} takes {takes} positional argument{plural} but {given} {'was' if given == 1 else 'were'} given"
    )


def _missing(e: Evaluator, name: str, kind: str, missing: list[str]) -> None:
    if len(missing) == 1:
        e.type_error(f"{name} missing 1 required {kind} argument: {missing[0]}")
    listed = f"{', '.join(missing[:-1])}{',' if len(missing) > 2 else ''} and {missing[-1]}"
    e.type_error(f"{name} missing {len(missing)} required {kind} arguments: {listed}")


# ------------------------------------------------------------------------------------- Python functions


def call_function(
    e: Evaluator, f: FunctionValue, args: list[Abstract], keywords: dict[str, Abstract], library: bool = False
) -> Abstract:
    library = library or f.globals.get("__name__", "").startswith("zyg.library.")
    slots = bind(e, f, args, keywords)
    prepared = prepare(f.code)
    if f.code.co_flags & _GENERATOR_FLAG:
        from .iterators import make_generator

        return make_generator(e, f, prepared, slots, library)
    large = not library and (_calls_itself(f) or prepared.size > INLINE_SIZE)
    if large or f.code in SHARED or _is_active(e, f.code):
        return call_specialised(e, f, prepared, slots, library)
    return evaluate_in_place(e, f, prepared, slots, library)


def evaluate_in_place(
    e: Evaluator, f: FunctionValue, prepared: Prepared, slots: list[Abstract], library: bool
) -> Abstract:
    from .infer import Context, Frame

    if f.code in UNCHECKED and e.options.boundscheck:
        with e.in_context(Context(replace(e.options, boundscheck=False), e.context.level)):
            return evaluate_in_place(e, f, prepared, slots, library)
    if e.depth > MAX_DEPTH:
        raise e.refuse(f"calls of functions nested more than {MAX_DEPTH} deep, at {f.name}")
    free = dict(zip(f.code.co_freevars, f.captured))
    inside = library or e.frame is not None and e.frame.library and not _is_user_code(f)
    frame = Frame(prepared, f.code, f.name, f.globals, free, e.frame, inside)
    return e.activate(frame, slots)


def _is_user_code(f: FunctionValue) -> bool:
    return not f.globals.get("__name__", "").startswith("zyg.library.")


def _is_active(e: Evaluator, code: Any) -> bool:
    """Whether this code is being evaluated in place around here."""
    frame = e.frame
    while frame is not None:
        if frame.code is code and frame.generator is None:
            return True
        frame = frame.parent
    return any(s.code is code for s in e.inference.active)


def _calls_itself(f: FunctionValue) -> bool:
    """A quick look: a function that mentions its own name as a global or a free variable."""
    code = f.code
    if code.co_name in code.co_freevars:
        return True
    if code.co_name in code.co_names and code.co_name in f.globals:
        found = f.globals[code.co_name]
        transform = transform_of(found)
        while transform is not None and transform.kind == "jit":
            found = transform.function
            transform = transform_of(found)
        return getattr(found, "__code__", None) is code
    return False


# ---------------------------------------------------------------------------------------- specialisations


@record(eq=False)
class Specialisation:
    """A function compiled on its own. `result` has the values of its result and of its arguments' objects, with the
    heap they reach as far as it changes it, in terms of the function's own values; None while nothing is known of it."""

    key: Hashable
    code: Any
    name: str
    result: tuple[list[Abstract], Heap] | None = None
    outline: Hashable = None
    leaves: list[Value] = field(default_factory=list)
    called: bool = False  # while it was being inferred
    round: int = 0


UNCHANGED = Record("unchanged", None, ())  # what a call leaves as it was: the caller has it already


class Outline:
    """A hashable description of values and of the objects they reach, and their leaves in order."""

    def __init__(self, heap: Heap):
        self.heap = heap
        self.numbers: dict[Hashable, int] = {}
        self.leaves: list[Value] = []
        self.order: list[Hashable] = []
        self.done = 0  # how many of these have been looked into

    def of(self, values: list[Abstract]) -> Hashable:
        shapes = [self.value(v) for v in values]
        while self.done < len(self.order):
            found = self.heap[self.order[self.done]]
            shapes.append((found.kind, _meta_key(found.meta), found.state, *map(self.value, found.fields)))
            self.done += 1
        return tuple(shapes)

    def value(self, v: Any) -> Hashable:
        if isinstance(v, Value):
            self.leaves.append(v)
            return v.type
        if isinstance(v, Reference):
            if v.id not in self.numbers:
                self.numbers[v.id] = len(self.order)
                self.order.append(v.id)
            return ("reference", self.numbers[v.id])
        return (v.head(), *map(self.value, v.parts()))


def _meta_key(meta: Any) -> Hashable:
    return known_key(meta) if isinstance(meta, type) else meta


def widened(e: Evaluator, v: Any, classes: tuple[type, ...] = NUMBER_CLASSES) -> Any:
    """Constants that are numbers of these classes become values: a recursive function is not specialised by them."""
    if isinstance(v, Known) and type(v.object) in classes:
        return Number(scalar_value(e, v))
    if isinstance(v, (Value, Reference, Known)):
        return v
    parts = v.parts()
    return v.with_parts([widened(e, p, classes) for p in parts]) if parts else v


def widened_record(e: Evaluator, r: Record, classes: tuple[type, ...] = NUMBER_CLASSES) -> Record:
    """Where an iterator stands is part of its type: loops over tuples are unrolled by it."""
    return r if r.kind == "iterator" else r.with_fields(widened(e, x, classes) for x in r.fields)


def call_specialised(
    e: Evaluator, f: FunctionValue, prepared: Prepared, slots: list[Abstract], library: bool
) -> Abstract:

    if any(_parts(s, {}) > MAX_PARTS for s in slots):
        raise _ever_new_types(e, f, slots)
    classes = NUMBER_CLASSES
    if e.inference.fixed and not (_calls_itself(f) or _is_active(e, f.code)):
        classes = DIFFERENTIABLE
    roots = [widened(e, f, classes), *(widened(e, s, classes) for s in slots)]
    heap = {id: widened_record(e, r, classes) for id, r in reachable(roots, e.heap).items()}
    outline = Outline(heap)
    shape = outline.of(roots)
    # The objects that the caller has names for. Others are known only by what holds them, which the call may change.
    named = frozenset(outline.numbers[r.id] for r in (*e.surviving(), *map(Reference, references(TupleValue(tuple(roots)))))
                      if r.id in outline.numbers)  # fmt: skip
    key = (f.code, id(f.globals), shape, named, e.context)
    spec = e.inference.specialisations.get(key)
    if spec is None:
        spec = _specialise(e, key, f, roots, heap, outline, named, library)
    elif spec in e.inference.active:
        spec.called = True
        if spec.result is None:
            return _never_returns(e, spec, outline)
    if spec.result is None:
        return _never_returns(e, spec, outline)
    types = tuple(v.type for v in spec.leaves)
    results = e.emit("call", *outline.leaves, types=types, callee=spec.name)
    e.calls.append((e.latest, spec))
    values, after = spec.result
    leaves = dict(zip(map(id, spec.leaves), results))
    ids: dict[Hashable, Hashable] = {}

    def rename(inner: Hashable) -> Hashable:
        if inner not in ids:
            assert spec is not None
            if isinstance(inner, tuple) and inner[:1] == ("argument",):
                ids[inner] = outline.order[inner[1]]
            else:
                ids[inner] = e.new_id("returned")
                e.heap[ids[inner]] = after[inner]
        return ids[inner]

    def leaf(v: Value) -> Value:
        return v if isinstance(v, Const) else leaves[id(v)]

    result = map_leaves(values[0], leaf, rename)
    for id_ in list(after):
        rename(id_)
    for inner, became in after.items():
        e.heap[ids[inner]] = became.with_fields(map_leaves(x, leaf, rename) for x in became.fields)
    return result


def _parts(v: Any, known_sizes: dict[int, int]) -> int:
    """How many nodes a value has; parts that occur again are counted again, but looked at once."""
    if isinstance(v, (Value, Reference, Known)):
        return 1
    if id(v) not in known_sizes:
        known_sizes[id(v)] = 1 + sum(_parts(p, known_sizes) for p in v.parts())
    return known_sizes[id(v)]


def _ever_new_types(e: Evaluator, f: FunctionValue, args: list[Abstract]) -> Exception:
    shown = [describe(a, e.heap) if _parts(a, {}) < 30 else "a large tuple" for a in args]
    return e.refuse(
        f"the recursion of {f.name}, whose arguments have a new type in each call",
        types=shown,
        hint="keep the types of the arguments the same",
    )


def _ever_deeper(e: Evaluator, f: FunctionValue) -> Exception:
    return e.refuse(
        f"the recursion of {f.name}, whose result holds objects within objects, as deep as is known only when it runs",
        hint="keep numbers in arrays or lists, and indices instead of references",
    )


def _never_returns(e: Evaluator, spec: Specialisation, outline: Outline) -> Abstract:
    from .infer import Stop

    e.emit("call", *outline.leaves, types=(), callee=spec.name)
    e.calls.append((e.latest, spec))
    e.builder.append(Instr("unreachable"))
    raise Stop


def _specialise(
    e: Evaluator,
    key: Hashable,
    f: FunctionValue,
    roots: list[Abstract],
    heap: Heap,
    outline: Outline,
    named: frozenset[int],
    library: bool,
) -> Specialisation:
    inference = e.inference
    if len(inference.active) > MAX_ACTIVE or len(outline.leaves) > MAX_LEAVES:
        raise _ever_new_types(e, f, roots[1:])
    base = "".join(c if c.isalnum() or c == "_" else "_" for c in f.name).strip("_") or "lambda"
    spec = Specialisation(key, f.code, inference.module.unique_name(base))
    inference.specialisations[key] = spec
    inference.active.append(spec)
    try:
        for spec.round in range(MAX_ROUNDS):
            made = set(inference.specialisations)
            evaluators = len(inference.evaluators)
            functions = set(inference.module.functions)
            spec.called = False
            before = spec.outline
            _infer_body(e, spec, f, roots, heap, outline, named, library)
            if len(spec.leaves) > MAX_LEAVES:
                raise _ever_deeper(e, f)
            settled_ = spec.outline == before or not spec.called
            if settled_:
                break
            # Once more with what is known of the result now; what was made on the old assumption goes.
            inference.module.functions.pop(spec.name)
            for other in set(inference.module.functions) - functions:
                inference.module.functions.pop(other)
            for other_key in set(inference.specialisations) - made:
                inference.specialisations.pop(other_key)
            del inference.evaluators[evaluators:]
            for other_key in [
                k for k, (name, _) in inference.elements.items() if name not in inference.module.functions
            ]:
                inference.elements.pop(other_key)
        else:
            raise _ever_deeper(e, f)
    finally:
        inference.active.remove(spec)
    return spec


def _infer_body(
    e: Evaluator,
    spec: Specialisation,
    f: FunctionValue,
    roots: list[Abstract],
    heap: Heap,
    outline: Outline,
    named: frozenset[int],
    library: bool,
) -> None:
    from .infer import Evaluator, Stop

    inner = Evaluator(e.inference, spec.name, e.context)
    e.inference.module.add(inner.function)
    inner.builder.position = e.builder.position
    inner.depth = e.depth
    names = iter(outline.leaves)
    fresh: dict[int, Value] = {}

    def leaf(v: Value) -> Value:
        del v
        outer = next(names)
        value = fresh[len(fresh)] = Value(outer.type, outer.name)
        inner.function.params.append(value)
        return value

    def rename(id: Hashable) -> Hashable:
        return ("argument", outline.numbers[id])

    own = [map_leaves(r, leaf, rename) for r in roots]
    for id in outline.order:
        record = heap[id]
        inner.heap[rename(id)] = record.with_fields(map_leaves(x, leaf, rename) for x in record.fields)
    at_entry = inner.before = dict(inner.heap)
    inner.outer = tuple(Reference(rename(id)) for id in outline.order if outline.numbers[id] in named)
    callee = own[0]
    assert isinstance(callee, FunctionValue)
    parameters = f.code.co_varnames[: len(roots) - 1]
    for name, v in zip(parameters, own[1:]):
        if isinstance(v, Number):
            v.value.name = name
    inner.function.attrs["name"] = f.code.co_qualname
    try:
        result = evaluate_in_place(inner, callee, prepare(f.code), own[1:], library)
    except Stop:
        if spec.result is None:
            spec.outline = None
        return
    result = widened(inner, result)
    objects = list(inner.outer)
    after = {
        id: UNCHANGED if at_entry.get(id) is r else widened_record(inner, r)
        for id, r in reachable([result, *objects], inner.heap).items()
    }
    shape = Outline(after)
    spec.outline = shape.of([result, *objects])
    # A value that is returned twice, or a constant, needs a name of its own in the template.
    stand_ins = [Value(v.type, v.name) for v in shape.leaves]
    inner.builder.ret(*shape.leaves)
    inner.function.results = tuple(v.type for v in shape.leaves)
    following = iter(stand_ins)

    def stand_in(v: Value) -> Value:
        del v
        return next(following)

    values = [map_leaves(result, stand_in), *objects]
    ordered: Heap = {}
    for id in shape.order:
        record = after[id]
        if record is UNCHANGED:
            continue
        ordered[id] = record.with_fields(map_leaves(x, stand_in) for x in record.fields)
    spec.result = (values, ordered)
    spec.leaves = stand_ins
