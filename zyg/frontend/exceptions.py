"""Exceptions and the texts in them. Text whose parts are known becomes a constant; other text is put together by Python,
when it is raised or printed."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.ir import types as t
from zyg.ir.core import Instr, Value
from zyg.ir.departures import departs
from zyg.ir.plainly import get_plainly
from zyg.ir.records import record

from .told import refuse_changes
from .values import (
    MUTABLE_KINDS,
    NUMBER_CLASSES,
    Abstract,
    ArrayValue,
    Known,
    Number,
    Record,
    Reference,
    TupleValue,
    describe,
    known,
    map_leaves,
    reachable,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator

MOST_VALUES = 8  # in the message of an exception that native code makes itself: a context has room for so many


@record(slots=True, eq=False)
class ExceptionValue(Abstract):
    """An exception that was made and not yet raised."""

    cls: type[BaseException]
    args: tuple[Abstract, ...]

    def head(self) -> Hashable:
        return ("exception", self.cls, len(self.args))

    def parts(self) -> tuple[Any, ...]:
        return self.args

    def with_parts(self, parts: list[Any]) -> Abstract:
        return ExceptionValue(self.cls, tuple(parts))


@record(slots=True, eq=False)
class TextValue(Abstract):
    """A string with parts that are known at run time only: `template` is for str.format, with these arguments."""

    template: str
    args: tuple[Abstract, ...]

    def head(self) -> Hashable:
        return ("text", self.template)

    def parts(self) -> tuple[Any, ...]:
        return self.args

    def with_parts(self, parts: list[Any]) -> Abstract:
        return TextValue(self.template, tuple(parts))


def no_text(e: Evaluator, *values: Abstract) -> None:
    """Refuse a computation with a string that is not known when compiling."""
    if any(isinstance(v, TextValue) for v in values):
        raise e.refuse(
            "a computation with a string that is made when the code runs",
            hint="strings like it can be printed, put into other strings and be the text of an error",
        )


def format_value(e: Evaluator, v: Abstract, conversion: str, spec: Abstract) -> Abstract:
    """A replacement field of an f-string."""
    if not isinstance(spec, Known):
        raise e.refuse("an f-string whose format is not known when compiling", hint="write the format out")
    field = "{" + (f"!{conversion}" if conversion else "") + (f":{spec.object}" if spec.object else "") + "}"
    if isinstance(v, Known) and (type(v.object) in NUMBER_CLASSES or v.object is None or isinstance(v.object, str)):
        try:
            return Known(field.format(v.object))
        except (TypeError, ValueError) as error:
            e.throw(type(error).__name__, str(error))
    if isinstance(v, TextValue) and not conversion and not spec.object:
        return v
    if (
        isinstance(v, TextValue)
        and type(v.template) is str
        and not conversion
        and re.fullmatch(r"\{(![rsa])\}", v.template)
    ):
        # `{x!r:>5}` where the interpreter converts and formats in two steps.
        return TextValue(v.template[:-1] + ":" + spec.object + "}", v.args)
    return TextValue(field, (_as_it_is(e, v),))


def _as_it_is(e: Evaluator, v: Abstract) -> Abstract:
    """A copy of what may change before the text is put together, which says what it was when it was made."""
    copies: dict[Value, Value] = {}

    def leaf(x: Value) -> Value:
        if isinstance(x.type, t.Array) and x not in copies:
            made = e.call(known(np.copy), [ArrayValue(x)])
            assert isinstance(made, ArrayValue)
            copies[x] = made.value
        return copies.get(x, x)

    refuse_changes(e, v)
    objects = {i: r for i, r in reachable([v], e.heap).items() if r.kind in MUTABLE_KINDS}
    ids = {i: e.new_id("told") for i in objects}
    rename = lambda i: ids.get(i, i)
    for i, found in objects.items():
        fields = tuple(map_leaves(f, leaf, rename) for f in found.fields)
        e.heap[ids[i]] = Record(found.kind, found.meta, fields)
    return map_leaves(v, leaf, rename)


class Percent(str):
    """The template of `template % values`, behind the interface of str.format."""

    __slots__ = ()

    def format(self, *values: Any) -> str:
        return str.__mod__(self, values)


class Numbered(str):
    """A template that a program formats by itself, and that cannot become a part of another."""

    __slots__ = ()


def percent(e: Evaluator, template: str, values: Abstract) -> Abstract:
    """`template % values`"""
    items = values.items if isinstance(values, TupleValue) else (values,)
    return _formatted(e, Percent(template), items, "%")


def format_method(e: Evaluator, template: Abstract, args: list[Abstract]) -> Abstract:
    """`template.format(*args)`"""
    assert isinstance(template, Known)
    return _formatted(e, Numbered(template.object), tuple(args), "format()")


def _formatted(e: Evaluator, template: str, values: tuple[Abstract, ...], what: str) -> Abstract:
    for v in values:
        if isinstance(v, (TextValue, ExceptionValue, Reference)):
            raise e.refuse(f"{what} with a {describe(v, e.heap)}", hint="use an f-string")
    if all(isinstance(v, Known) for v in values):
        try:
            return Known(template.format(*(v.object for v in values if isinstance(v, Known))))
        except (TypeError, ValueError, IndexError, KeyError) as error:
            e.throw(type(error).__name__, str(error))
    return TextValue(template, tuple([_as_it_is(e, v) for v in values]))


def join_strings(e: Evaluator, parts: list[Abstract]) -> Abstract:
    if all(isinstance(p, Known) for p in parts):
        return Known("".join(p.object for p in parts if isinstance(p, Known)))
    template, args = "", []
    for p in parts:
        if isinstance(p, Known):
            template += str(p.object).replace("{", "{{").replace("}", "}}")
        elif isinstance(p, TextValue) and type(p.template) is str:
            template += p.template
            args.extend(p.args)
        else:
            raise e.refuse(
                "this part of an f-string",
                types=[describe(p, e.heap)],
                hint="leave it out, or make the text outside of the function",
            )
    return TextValue(template, tuple(args))


class Raise:
    """Called from compiled code: raises `cls` with arguments of which some are texts to be formatted."""

    own_frames = 1  # in tracebacks

    def __init__(self, cls: type[BaseException], layout: tuple[tuple[str | None, int], ...]):
        self.cls = cls
        self.layout = layout
        self.__name__ = self.__qualname__ = f"raise_{cls.__name__}"

    def __call__(self, *values: Any) -> None:
        raise self.cls(*texts(self.layout, values))


class Print:
    """Called from compiled code: a function some of whose arguments are texts to be formatted. `keywords` are constant ones,
    `names` those that the last arguments are passed by."""

    own_frames = 1

    def __init__(
        self,
        function: Any,
        layout: tuple[tuple[str | None, int], ...],
        keywords: tuple[tuple[str, Any], ...] = (),
        names: tuple[str, ...] = (),
    ):
        self.function = function
        self.layout = layout
        self.keywords = keywords
        self.names = names
        self.__name__ = self.__qualname__ = get_plainly(function, "__qualname__", "call")

    def __call__(self, *values: Any) -> Any:
        args = texts(self.layout, values)
        positional = len(args) - len(self.names)
        named = dict(zip(self.names, args[positional:]))
        return self.function(*args[:positional], **dict(self.keywords), **named)


def texts(layout: tuple[tuple[str | None, int], ...], values: tuple[Any, ...]) -> list[Any]:
    """Arguments from a flat list of values: (template, count) takes `count` of them, (None, 1) one as it is."""
    result: list[Any] = []
    at = 0
    for template, count in layout:
        part = values[at : at + count]
        result.append(part[0] if template is None else template.format(*part))
        at += count
    return result


def flat_arguments(args: list[Abstract]) -> tuple[tuple[tuple[str | None, int], ...], list[Abstract]]:
    layout: list[tuple[str | None, int]] = []
    values: list[Abstract] = []
    for a in args:
        if isinstance(a, TextValue):
            layout.append((a.template, len(a.args)))
            values.extend(a.args)
        else:
            layout.append((None, 1))
            values.append(a)
    return tuple(layout), values


def call_of_python(
    e: Evaluator, function: Any, args: list[Abstract], keywords: dict[str, Abstract], returned: t.Type = t.NONE
) -> Abstract:
    """The same as `python_call` with texts and keywords among the arguments."""
    constants = tuple((key, v.object) for key, v in keywords.items() if isinstance(v, Known))
    named = {key: v for key, v in keywords.items() if not isinstance(v, Known)}
    layout, values = flat_arguments([*args, *named.values()])
    plain = not keywords and all(template is None for template, _ in layout)
    return python_call(e, function if plain else Print(function, layout, constants, tuple(named)), values, returned)


def python_call(
    e: Evaluator, function: Any, args: list[Abstract], returned: t.Type = t.NONE, reads: bool = False
) -> Abstract:
    """Call a Python callable with boxed arguments; what comes back is of type `returned`, or else TypeError (NONE: anything,
    and it is ignored). `reads` promises that it writes to none of its arguments, and does nothing else besides."""
    from .boundary import assemble, disassemble

    if not reads:
        refuse_changes(e, *args)
    leaves: list[Value] = []
    types = tuple(disassemble(e, a, leaves) for a in args)
    expected = t.flatten(returned)
    attrs = {"callable": function, "arguments": types, "result": returned} | ({"reads": True} if reads else {})
    told = function.function if isinstance(function, Print) else function
    if told is builtins.print or isinstance(told, Raise):
        attrs["tells"] = True
    else:
        e.refuse_answer(not reads)
    values = e.emit("pycall", *leaves, types=tuple(expected), **attrs)
    return assemble(e, returned, iter(values))


def _importable(cls: type[BaseException]) -> str | None:
    """The name by which native code finds an exception class; None for those of which it keeps the class itself."""
    if cls.__module__ == "builtins" or departs(cls.__name__):
        return cls.__name__
    module = sys.modules.get(cls.__module__)
    if cls.__module__.startswith("numpy.") and getattr(module, cls.__name__, None) is cls:
        return f"{cls.__module__}.{cls.__name__}"
    return None


def _message(args: tuple[Abstract, ...]) -> tuple[str, tuple[Value, ...]] | None:
    """The template and the values of an exception's only argument, if that is a text of numbers that Python prints alike."""
    if not args:
        return "", ()
    text = args[0]
    if len(args) == 1 and isinstance(text, Known) and isinstance(text.object, str):
        return text.object, ()
    if (
        len(args) > 1
        or not isinstance(text, TextValue)
        or type(text.template) is not str
        or len(text.args) > MOST_VALUES
    ):
        return None
    alike = (t.F64, t.I64) if "!" not in text.template else ()  # np.float64(1.5) and 1.5, but for repr
    values = tuple(a.value for a in text.args if isinstance(a, Number) and (not a.numpy or a.type in alike))
    return (text.template, values) if values and len(values) == len(text.args) else None


def stop_iteration(e: Evaluator, v: ExceptionValue) -> None:
    """Where StopIteration is raised within a generator, what leaves that is a RuntimeError."""
    frame = e.frame
    while frame is not None and frame.generator is None:
        frame = frame.parent
    if (
        frame is not None and frame.library
    ):  # `map`, `filter`: the iterator is at its end, and what the function did stays done
        raise e.refuse(
            "StopIteration out of a function which an iterator calls", hint="write a loop, or a generator that returns"
        )
    if frame is not None:
        e.throw("RuntimeError", "generator raised StopIteration")


def raise_value(e: Evaluator, v: Abstract) -> None:
    """`raise v`"""
    from .frames import Stop

    if isinstance(v, Known) and isinstance(v.object, type) and issubclass(v.object, BaseException):
        v = ExceptionValue(v.object, ())
    if isinstance(v, Known) and isinstance(v.object, BaseException):
        if vars(v.object):
            raise e.refuse("an exception that is there already, and has attributes", hint="make a new one to raise")
        v = ExceptionValue(type(v.object), tuple(map(Known, v.object.args)))
    if not isinstance(v, ExceptionValue):
        e.type_error("exceptions must derive from BaseException")
    assert isinstance(v, ExceptionValue)
    if issubclass(v.cls, StopIteration):
        stop_iteration(e, v)
    e.refuse_answer(issubclass(v.cls, AttributeError))
    name, message = _importable(v.cls), _message(v.args)
    if name is not None and message is not None:
        e.builder.append(Instr("raise", list(message[1]), attrs={"exc": name, "message": message[0]}))
        raise Stop
    layout, values = flat_arguments(list(v.args))
    python_call(e, Raise(v.cls, layout), values)
    e.builder.append(Instr("unreachable"))
    raise Stop
