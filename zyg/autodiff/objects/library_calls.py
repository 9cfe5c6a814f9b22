"""Functions and methods of packages that zyg's library knows: what they do natively they do in Python code, too.

A call is taken apart: numbers and arrays, also those in lists and tuples, become the arguments of a small function that has all else
in its code (`lambda f: lambda a0, a1: f([a0, a1], axis=None)`). Native code takes that, and has its pullback, unless it writes to an
array, or may give one that shares memory with another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np

import zyg
from zyg.errors import Unsupported
from zyg.fallback import check_reading, kinds_of, native_pullback, why_not_native
from zyg.ir.plainly import get_plainly, has_plainly
from zyg.library import registry

from . import foreign, native, scattering, structure, user_rules
from .backs import run
from .cotangents import Refused
from .native import OF_NUMPY
from .numpy_ import saved

_CALLS = 1024  # of so many kinds it is remembered what they are natively
_MOST = 24  # numbers and arrays in a call; longer lists are data
_EFFECTS = ("zyg.library.numpy_.random", "zyg.library.numpy_.error_state")  # whose functions do more than give a value

# Of each argument: True of a number or array, None of what is in the code, and of a list or tuple those of its items.
Shape = Any


class _Call:
    """A call taken apart. `called` makes the function of the numbers and arrays, from what is called and constants that are no
    literals; `of_function` is whether the arguments stand behind a function (not: behind what a method belongs to)."""

    def __init__(self, called: Any, shapes: tuple[Shape, ...], values: tuple[Any, ...], of_function: bool):
        self.called = called
        self.shapes = shapes
        self.values = values
        self.of_function = of_function


def knows(f: Any) -> bool:
    """Whether the library has an entry for a function, or a method of an array."""
    owner = get_plainly(f, "__self__")
    return registry.find(f) is not None or (
        isinstance(owner, (np.ndarray, np.ufunc)) and registry.method(type(owner), f.__name__) is not None
    )


def recognised(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call | None:
    """A call as one of a function that the library has, None if it has not, or if something is given that has no place there."""
    owner: Any = get_plainly(f, "__self__")
    method = isinstance(owner, (np.ndarray, np.ufunc))
    entry = registry.method(type(owner), f.__name__) if method else registry.find(f)
    if entry is None or entry.module in _EFFECTS:
        return None
    values = (*((owner,) if isinstance(owner, np.ndarray) else ()), *args, *kwargs.values())
    parts = _Parts()
    try:
        texts = [parts.text(v) for v in values]
    except TypeError:
        return None
    if not 0 < parts.count <= _MOST:
        return None
    first = len(values) - len(args) - len(kwargs)
    given = [*texts[first : first + len(args)]]
    given += [f"{name}={text}" for name, text in zip(kwargs, texts[first + len(args) :])]
    called = f"{texts[0] if first else 'f'}.{f.__name__}" if method else "f"
    source = f"lambda f, *c: lambda {', '.join(f'a{k}' for k in range(parts.count))}: {called}({', '.join(given)})"
    return _Call(
        _function(source, cast(Any, None if first else owner if method else f), tuple(parts.constants)),
        tuple(parts.shapes),
        values,
        not first,
    )


class _Parts:
    """How the arguments of a call are written: what is counted are the numbers and arrays."""

    def __init__(self) -> None:
        self.count = 0
        self.constants: list[Any] = []
        self.shapes: list[Shape] = []

    def text(self, value: Any) -> str:
        text, shape = self._written(value)
        self.shapes.append(shape)
        return text

    def _written(self, value: Any) -> tuple[str, Shape]:
        t = type(value)
        if t is float or t is int or t is complex or t in OF_NUMPY or t in _WIDER:
            self.count += 1
            return f"a{self.count - 1}", True
        if value is None or t is bool or t is str:
            return repr(value), None
        if t is list or t is tuple:
            items = [self._written(v) for v in value] if len(value) <= _MOST else []
            if len(items) < len(value):
                raise TypeError
            inner = ", ".join(text for text, _ in items)
            return f"[{inner}]" if t is list else f"({inner}{',' if len(items) == 1 else ''})", tuple(
                s for _, s in items
            )
        if t is type or isinstance(value, np.dtype) or value is np._NoValue:
            self.constants.append(value)
            return f"c[{len(self.constants) - 1}]", None
        raise TypeError


@lru_cache(_CALLS)
def _function(source: str, f: Any, constants: tuple[Any, ...]) -> Any:
    return eval(source, {})(f, *constants)


def leaves(shapes: tuple[Shape, ...], values: Any) -> list[Any]:
    """The numbers and arrays in the arguments of a call.

    >>> leaves((True, (None, True)), (1.0, ["a", 2.0]))
    [1.0, 2.0]
    """
    found: list[Any] = []
    for shape, value in zip(shapes, values):
        if shape is True:
            found.append(value)
        elif shape is not None:
            found += leaves(shape, value)
    return found


def _held(shapes: tuple[Shape, ...], values: Any) -> tuple[Any, ...]:
    """The arguments of a call; lists and tuples with what is in them now, as lists may change before their cotangents come."""
    return tuple([(v, _held(s, v)) if type(s) is tuple else v for s, v in zip(shapes, values)])


def _grouped(shapes: tuple[Shape, ...], values: Any, flowing: Iterator[Any], shadows: Any) -> tuple[Any, ...]:
    """The cotangents of arguments, from those of the numbers in them; those of the items of lists go to their shadows."""
    found = []
    for shape, value in zip(shapes, values):
        if shape is True:
            found.append(next(flowing))
        elif shape is None:
            found.append(None)
        else:
            whole, held = value
            items = _grouped(shape, held, flowing, shadows)
            if type(whole) is list:
                for k, c in enumerate(items):
                    if c is not None:
                        shadows.add_item(whole, k, c)
                found.append(None)
            else:
                found.append(None if all(c is None for c in items) else items)
    return tuple(found)


def run_call(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, shapes, values, of_function = back
    given = inner[0](inner, d, shadows)
    if given is None:
        return None
    found = _grouped(shapes, values, iter(given[1:]), shadows)
    return (None, *found) if of_function else found


def call_entry(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any] | None:
    """(value, back) of a call that the library knows, None if it does not, or if native code does not take it."""
    if isinstance(kwargs.get("out"), np.ndarray):
        return into(f, kwargs["out"], args, kwargs) if knows(f) else None
    call = recognised(f, args, kwargs)
    if call is None:
        return None
    operands = leaves(call.shapes, call.values)
    made = pulled(call.called, operands) or _partly("a derivative", f, call.called, operands)
    if made is None:
        return None
    return made[0], (run_call, made[1], call.shapes, _held(call.shapes, call.values), call.of_function)


def why_refused(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Unsupported | None:
    """What native code has said against a call that it did not take."""
    call = recognised(f, args, kwargs)
    if call is None:
        return None
    operands = widened(leaves(call.shapes, call.values))
    return why_not_native(call.called, operands, _accepted(call.called), getattr(call.called, "exact", True))


def pulled(called: Any, operands: Any) -> tuple[Any, Any] | None:
    """(value, back) of a function of numbers and arrays by native code, None if it does not take it. Of types that it has not the value is
    NumPy's, and the derivative that by wider ones."""
    wide = widened(operands)
    made = native_pullback(called, wide, _accepted(called), getattr(called, "exact", True))
    if made is None:
        return None
    value, back = native.as_in_python(*made) if wide is operands else called(*operands), made[1]
    forms = [structure.form(a) for a in operands]
    return value, (user_rules.run, back, called, forms, structure.form(value), None, (), len(operands), None)


# Types of numbers that native code has not, and those in which it computes their derivatives.
_WIDER: dict[Any, Any] = {np.float16: np.float64, np.complex64: np.complex128} | dict.fromkeys(
    (np.int8, np.int16, np.uint16, np.uint32), np.int64
)


def widened(operands: Any) -> Any:
    """Numbers and arrays as native code has them; the same operands where they are so already."""
    if not any(kind_of_number(x) in _WIDER for x in operands):
        return operands
    return [x.astype(_WIDER[kind]) if (kind := kind_of_number(x)) in _WIDER else x for x in operands]


def kind_of_number(x: Any) -> type:
    """Its own type, of an array that of its elements."""
    return x.dtype.type if isinstance(x, np.ndarray) else type(x)


def _in_types_of(like: Any, value: Any) -> Any:
    """A value, or its cotangent, in the types that another one has."""
    if isinstance(value, (tuple, list)):
        items = map(_in_types_of, like, value)
        return type(like)(*items) if has_plainly(like, "_fields") else type(like)(items)
    return value.astype(like.dtype) if isinstance(like, np.ndarray) else type(like)(value)


def _partly(what: str, f: Any, called: Any, operands: Sequence[Any]) -> tuple[Any, Any] | None:
    """The same where there is no derivative by some of the operands: what comes to these is refused."""
    active = _active_among(called, operands)
    if not active or len(active) == len(operands):
        return None
    by = _by(called, len(operands), active)(*operands)
    by.accept = _accepted(called)
    made = pulled(by, [operands[k] for k in active])
    if made is None:
        return None
    forms = [structure.form(x) for x in operands]
    return made[0], (run_partly, made[1], active, forms, _none_by(what, f))


def _none_by(what: str, f: Any) -> Refused:
    error = Unsupported(
        f"{what} of {foreign.name_of(f)} by an argument that it has none by",
        foreign.position_of(foreign.caller()),
        hint="pass it as a constant: zyg.stop_gradient(x)",
    )
    return Refused(error)


def _active_among(called: Any, operands: Sequence[Any]) -> tuple[int, ...]:
    """By which of the operands there is a derivative; the same for all operands of these types."""
    key = called, kinds_of(tuple(operands), {})
    if key not in _active:
        found = [
            native_pullback(_by(called, len(operands), (k,))(*operands), (x,), _accepted(called))
            for k, x in enumerate(operands)
        ]
        while len(_active) >= _CALLS:
            _active.pop(next(iter(_active)), None)
        _active[key] = tuple([k for k, made in enumerate(found) if made is not None])
    return _active[key]


_active: dict[Any, tuple[int, ...]] = {}


@lru_cache(_CALLS)
def _by(called: Any, count: int, active: tuple[int, ...]) -> Any:
    """What makes a function of some of the operands, which has captured the others."""
    names = [f"a{k}" for k in range(count)]
    some = ", ".join(names[k] for k in active)
    captured = ", ".join(f"b{k}" if k in active else name for k, name in enumerate(names))
    return eval(f"lambda f: lambda {captured}: lambda {some}: f({', '.join(names)})", {})(called)


def run_partly(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, active, forms, refused = back
    given = inner[0](inner, d, shadows)
    if given is None:
        return None
    by = dict(zip(active, given[1:]))
    return (None, *[by[k] if k in by else scattering.refuse(form, refused, shadows) for k, form in enumerate(forms)])


def into(f: Any, out: np.ndarray, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any] | None:
    """What is written to an array that was there before is what would be given without it; `where` says which elements are computed."""
    from . import calls, numpy_items

    rest = {k: v for k, v in kwargs.items() if k != "out"}
    where = rest.pop("where", True)
    parts: list[Any] = []
    key: Any = ...
    if where is not True:
        whole = [x for x in (*args, where) if isinstance(x, np.ndarray)]
        if not isinstance(f, np.ufunc) or not isinstance(where, np.ndarray) or where.dtype != bool:
            return None
        if any(x.shape != out.shape for x in whole) or not all(
            type(x) in (float, int) or isinstance(x, np.ndarray) for x in args
        ):
            return None
        key = where
        parts = [numpy_items.getitem(x, where) if isinstance(x, np.ndarray) else (x, None) for x in args]
    y, back = calls.call(f, tuple([x for x, _ in parts]) if parts else args, rest)
    shape = out[key].shape if parts else out.shape
    if not isinstance(y, np.ndarray) or y.shape != shape or not np.can_cast(y.dtype, out.dtype, "same_kind"):
        return None
    if y.dtype != out.dtype and not isinstance(f, np.ufunc):
        return None  # what adds up does so in the type of `out`
    writing = numpy_items.setitem(out, key, y)
    return out, (run_into, back, writing, [b for _, b in parts], len(args), tuple(kwargs), tuple(rest))


def run_into(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, writing, parts, count, names, others = back
    written = run(writing, None, shadows)
    given = run(inner, None if written is None else written[2], shadows)
    if given is None:
        given = (None,) * (1 + count + len(others))
    for part in parts:
        run(part, None, shadows)
    by_name = dict(zip(others, given[1 + count :]))
    return (*given[: 1 + count], *[by_name.get(name) for name in names])


# The same in Python, for second derivatives: its parts are native, and so are their derivatives (nested.py).


def entry_in_python(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    called, shapes, of_function, active, like = required(f, args, kwargs)
    values = (
        (*args, *kwargs.values())
        if of_function or isinstance(f.__self__, np.ufunc)
        else (f.__self__, *args, *kwargs.values())
    )
    operands = leaves(shapes, values)
    kept = [saved(a) for a in operands]  # arrays may be written before the derivative is asked for
    kept = kept if like is None else widened(kept)
    whole = entry_value(called, *kept)
    value = whole if like is None else _in_types_of(like, whole)
    forms = [structure.form(a) for a in operands]
    if active is None:

        def back(d: Any) -> Any:
            return entry_cotangents(called, d if like is None else _in_types_of(whole, d), *kept)

        inner = (user_rules.run, back, called, forms, structure.form(value), None, (), len(operands), None)
    else:

        def some(d: Any) -> Any:
            return partial_cotangents(called, active, d if like is None else _in_types_of(whole, d), *kept)

        by = [forms[k] for k in active]
        given = (user_rules.run, some, called, by, structure.form(value), None, (), len(active), None)
        inner = (run_partly, given, active, forms, _none_by("a derivative", f))
    return value, (run_call, inner, shapes, _held(shapes, values), of_function)


def required(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """What is called natively, with what; by which operands the derivative is, if not by all; and NumPy's value, if native code computes
    in wider types."""
    call = recognised(f, args, kwargs)
    assert call is not None
    operands = leaves(call.shapes, call.values)
    wide = widened(operands)
    whole = native_pullback(call.called, wide, _accepted(call.called)) is not None
    active = None if whole else _active_among(call.called, wide)
    return call.called, call.shapes, call.of_function, active, None if wide is operands else call.called(*operands)


def entry_value(called: Any, *operands: Any) -> Any:
    return called(*operands)


def entry_cotangents(called: Any, d: Any, *operands: Any) -> tuple[Any, ...]:
    made = native_pullback(called, operands, _accepted(called))
    if made is None:
        raise _unknown_second(called)
    return made[1](d)


def partial_cotangents(called: Any, active: tuple[int, ...], d: Any, *operands: Any) -> tuple[Any, ...]:
    """Those by some of the operands."""
    by = _by(called, len(operands), active)(*operands)
    made = native_pullback(by, [operands[k] for k in active], _accepted(called))
    if made is None:
        raise _unknown_second(called)
    return made[1](d)


def call_entry_value(called: Any, *operands: Any) -> tuple[Any, Any]:
    made = pulled(called, operands) or _partly("a derivative", _library_function(called), called, operands)
    if made is None:
        raise _unknown_second(called)
    return made[0], (run_behind_constants, made[1], 1)


def call_entry_cotangents(called: Any, d: Any, *operands: Any) -> tuple[Any, Any]:
    made = pulled(_pulled_back(called), (d, *operands))
    if made is None:
        raise _unknown_second(called)
    return made[0], (run_behind_constants, made[1], 1)


def call_partial_cotangents(called: Any, active: tuple[int, ...], d: Any, *operands: Any) -> tuple[Any, Any]:
    back, operands = _pulled_back_by(called, len(operands), active), (d, *operands)
    made = pulled(back, operands) or _partly("a second derivative", _library_function(called), back, operands)
    if made is None:
        raise _unknown_second(called)
    return made[0], (run_behind_constants, made[1], 2)


def _library_function(called: Any) -> Any:
    return called.__closure__[-1].cell_contents


def _unknown_second(called: Any) -> Unsupported:
    name = foreign.name_of(_library_function(called))
    hint = "differentiate it natively: put what is differentiated in a function of its own, and call that with zyg.jit"
    return Unsupported(
        f"a second derivative of {name} by way of Python", foreign.position_of(foreign.caller()), hint=hint
    )


@lru_cache(_CALLS)
def _pulled_back(f: Any) -> Any:
    """The pullback of a function, as a function of the cotangent and the arguments."""

    def pulled(d: Any, *args: Any) -> Any:
        return zyg.pullback(f, *args)[1](d)

    pulled.accept = None  # what it calls has been looked at
    return pulled


@lru_cache(_CALLS)
def _pulled_back_by(called: Any, count: int, active: tuple[int, ...]) -> Any:
    """The pullback of a function by some of its operands, as a function of the cotangent and of all operands."""
    names = ", ".join(f"a{k}" for k in range(count))
    some = ", ".join(f"a{k}" for k in active)
    pulled = eval(f"lambda zyg, by: lambda d, {names}: zyg.pullback(by({names}), {some})[1](d)", {})(
        zyg, _by(called, count, active)
    )
    pulled.accept = None  # what it calls has been looked at
    return pulled


def _accepted(called: Any) -> Any:
    """What refuses that which object code cannot call: of a function of the library that is what writes to its arguments."""
    return getattr(called, "accept", check_reading)


def run_behind_constants(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The first operands are constants."""
    given = back[1][0](back[1], d, shadows)
    return None if given is None else (None, *(None,) * back[2], *given[1:])


__all__ = [
    "call_entry", "call_entry_cotangents", "call_partial_cotangents", "entry_cotangents", "entry_value", "knows",
    "partial_cotangents", "pulled", "why_refused",
]  # fmt: skip
