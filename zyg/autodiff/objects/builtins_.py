"""Builtin functions and classes, and the methods of builtin containers."""

from __future__ import annotations
import __future__

import abc
import builtins
import functools
import os
import sys
from collections import ChainMap, OrderedDict, defaultdict
from decimal import Decimal
from fractions import Fraction
from types import BuiltinFunctionType, CodeType, ModuleType
from typing import Any

import numpy as np

from zyg import asking
from zyg.autodiff import objects
from zyg.ir.plainly import own_attributes
from zyg.remedies import remedy

from ..trying import bodies
from . import calls, foreign, later, reach, reentry, structure
from .arithmetic import BINARY_RECORD, by_methods, find, method_of, record_abs, run_kink
from .calls import known
from .classes import read_by_name, set_by_name, without_flow
from .cotangents import INERT, VALUES, accumulate, is_number, real_like
from .passing import passes


def shift(made: tuple[Any, Any]) -> tuple[Any, Any]:
    """From the back of an operation to that of a call: nothing for the function, then the cotangents of the operands."""
    y, back = made
    return y, None if back is None else (run_shift, back)


def run_shift(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, *given)


# ------------------------------------------------------------------------------------------- without derivative


def constant(*functions: Any) -> None:
    """Calls of these give values that carry no derivative, and run no code of the user's."""
    for f in functions:
        known(f, exact=True)(functools.partial(_constant, f))


def _constant(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return f(*args, **kwargs), None


def queries(*functions: Any, plain: frozenset[type] = reach.PLAIN, deep: bool = False) -> None:
    """Calls of these give values that carry no derivative, too, but may call special methods of what is not of a `plain` type (or,
    with `deep`, anything)."""
    for f in functions:
        known(f, exact=True)(functools.partial(_query, f, plain, deep))


def _query(f: Any, plain: frozenset[type], deep: bool, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if kwargs or not (plain.issuperset(map(type, args)) or (not deep and len(args) == 1 and _holds_plain(args[0]))):
        return reentry.called(f, args, kwargs, deep)
    return f(*args), None


def ask(f: Any, x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The same for a method of a builtin container."""
    plain = reach.PLAIN
    if (
        not kwargs
        and (type(x) in plain or _holds_plain(x))
        and (not args or plain.issuperset(map(type, args)) or all(map(_is_plain, args)))
    ):
        return f(x, *args), None
    y, back = reentry.followed(f, (x, *args), kwargs)
    return y, None if back is None else (_run_asked_plainly, back)


def _is_plain(x: Any) -> bool:
    return type(x) in reach.PLAIN or _holds_plain(x)


def _holds_plain(x: Any) -> bool:
    """Whether a builtin container has nothing in it whose special methods could run code of the user's."""
    t = type(x)
    if t not in reach.SIZED or not reach.PLAIN.issuperset(map(type, x)):
        return False
    return t not in _MAPPINGS or reach.PLAIN.issuperset(map(type, x.values()))


_MAPPINGS = frozenset({dict, OrderedDict, defaultdict})


def _run_asked_plainly(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return calls.run(back[1], None, shadows)


constant(
    callable, id, chr, slice, object, property, staticmethod, classmethod, input, open, sys.getrecursionlimit,
    sys.setrecursionlimit, sys.exc_info, sys.intern, breakpoint, __import__,
)  # fmt: skip
queries(
    hash, ascii, ord, bin, hex, oct, format, bytes, bytearray, range, dir, any, all, sys.getsizeof, compile, os.fspath,
)  # fmt: skip


@known(print, exact=True)
def _print(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    streams = reach.own_streams() if kwargs.get("file") is None else []
    if not streams and not kwargs and reach.PLAIN.issuperset(map(type, args)):
        return print(*args), None
    _, back = reentry.followed(print, args, kwargs, True, tuple(streams))
    return None, None if back is None else (reentry.run_called, back)


def _text(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    made = objects.queries.text(f, args[0]) if len(args) == 1 and not kwargs else None
    return _query(f, reach.PLAIN, False, *args, **kwargs) if made is None else shift(made)


for _function in (str, repr):
    known(_function, exact=True)(functools.partial(_text, _function))


@known(bool, exact=True)
@passes(lambda variables: [(run_shift,)])
def _bool(x: Any = False, /) -> tuple[Any, Any]:
    return (bool(x), None) if type(x) in reach.SIZED else shift(objects.queries.QUERIES["truth"](x))


@known(len, exact=True)
def _len(x: Any, /) -> tuple[Any, Any]:
    cls = type(x)
    if cls in reach.SIZED:
        return len(x), None
    found = objects.queries.BY_CLASS["__len__"][1 if bodies else 0].get(cls)
    if found is not None and cls.__len__ is found[1]:
        forward = found[2]
    else:
        forward = later.special.special_method("__len__", cls, 1)
    if forward is not None:
        y, back = forward(x)
        if back is None and type(y) is int and y >= 0:
            return y, None
        return shift(objects.queries.length_given(y, back))
    made = objects.queries.sized(x)
    return reentry.called(len, (x,), {}) if made is None else shift(made)


def tells_its_class(x: Any) -> bool:
    """Whether nothing of the user's runs where an object is asked for its `__class__`."""
    t = type(x)
    if t in reach.SIZED or t is abc.ABCMeta:
        return True
    return objects.attributes.plain_lookup(t) and asking.tells_its_class(t)


_CLASSES = frozenset({type})


def _checked(f: Any) -> Any:
    def handler(x: Any, cls: Any, /) -> tuple[Any, Any]:
        if type(x) in reach.SIZED and (type(cls) is type or type(cls) is tuple and _CLASSES.issuperset(map(type, cls))):
            return f(x, cls), None  # nobody is asked: by far the most frequent
        if type(cls) is type and issubclass(type(x), cls):
            return f(x, cls), None  # which is not asked
        derived = x if f is issubclass else type(x)
        if isinstance(derived, type) and tells_its_class(x) and asking.asks_nobody(cls, derived):
            return f(x, cls), None
        classes = [c for part in asking.classes_in(cls) for c in asking.asked(part)]
        return shift(reentry.followed(f, (x, cls), others=(*classes, *map(type, classes)), inside=False))

    return handler


known(isinstance, exact=True)(_checked(isinstance))
known(issubclass, exact=True)(_checked(issubclass))


def user_frame() -> Any:
    """The frame of the user's code that called what is being handled."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("zyg."):
        frame = frame.f_back
    return frame


@known(sys._getframe)
def _frame(depth: int = 0, /) -> tuple[Any, Any]:
    frame = user_frame()
    for _ in range(depth):
        frame = frame.f_back
        while frame is not None and frame.f_globals.get("__name__", "").startswith("zyg."):
            frame = frame.f_back
        if frame is None:
            raise ValueError("call stack is not deep enough")
    return frame, None


def _module_of_frame(depth: int = 0) -> tuple[Any, Any]:
    try:
        return _frame(depth)[0].f_globals.get("__name__"), None
    except ValueError:
        return None, None


if hasattr(sys, "_getframemodulename"):  # from 3.12 on
    known(getattr(sys, "_getframemodulename"))(_module_of_frame)  # noqa: B009


@known(globals)
def _globals() -> tuple[Any, Any]:
    return user_frame().f_globals, None


@known(super, exact=True)
def _super(*args: Any) -> tuple[Any, Any]:
    make: Any = super
    y = make(*args)
    bound = len(args) == 2 and not VALUES.isdisjoint(type(args[1]).__mro__)
    return y, (_run_third_of_three,) if bound else None


def _run_third_of_three(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """`super(cls, x)` stands for `x`, where that has a cotangent that flows."""
    return None, None, d


def _unknown_names(what: str) -> Any:
    hint = "use the variables by name, or pass a dictionary of them"
    foreign.refuse(
        f"{what} in code that is differentiated, whose variables are not in its frame",
        foreign.caller(),
        f"{known}, or pass a dictionary of the variables" if (known := remedy(what.partition(" ")[0])) else hint,
    )


@known(locals)
def _locals() -> tuple[Any, Any]:
    return _unknown_names("locals()")


@known(vars)
def _vars(*args: Any) -> tuple[Any, Any]:
    if not args:
        return _unknown_names("vars()")
    x, *others = args
    if others:
        raise TypeError(f"vars expected at most 1 argument, got {len(args)}")
    if objects.attributes.plain_lookup(type(x)) and not (own_attributes(x) is not None):
        vars(x)  # a TypeError
    return shift(objects.attributes.record_getattr(x, "__dict__"))


@known(eval)
def _eval(code: Any, globals: Any = None, locals: Any = None, /) -> tuple[Any, Any]:
    if globals is None:
        return _unknown_names("eval without the names to use")
    spaces = _spaces(code.lstrip() if isinstance(code, (str, bytes)) else code, globals, locals)
    y, back = calls.run_foreign(_value_of, "eval", eval, (code, *spaces), {})
    if _are_open_to_view(spaces):
        return y, back
    y, unseen = foreign.hidden(y, "a derivative through code that is evaluated from a string", remedy("eval") or "")
    return y, back if unseen is None else (_run_evaluated, unseen, back)


def _run_evaluated(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    calls.run(back[1], d, shadows)
    return calls.run(back[2], d, shadows)


def _value_of(code: Any, *spaces: Any) -> Any:
    return eval(code, *map(_space, spaces))


def _spaces(code: Any, globals: Any, locals: Any) -> tuple[Any, ...]:
    """The names that code is run with; a mapping of the user's own as it is."""
    used = _names_in(code)
    return tuple([structure.Names(s, used) if isinstance(s, dict) else s for s in (globals, locals) if s is not None])


def _space(names: Any) -> Any:
    return names.space if type(names) is structure.Names else names


def _are_open_to_view(spaces: tuple[Any, ...]) -> bool:
    """Whether what an expression gives is made of what its names stand for in these, as far as it carries a derivative."""
    if not all(type(s) is structure.Names for s in spaces):
        return False
    found = ChainMap(*[s.space for s in reversed(spaces)], builtins.__dict__)
    return all(_is_open_to_view(found[name]) for name in spaces[0].used if name in found)


def _is_open_to_view(x: Any) -> bool:
    """Functions of the user's, objects with methods and the user's modules lead to more than they hold."""
    if isinstance(x, (tuple, list)) and type(x) in (tuple, list):
        return all(map(_is_open_to_view, x))
    if isinstance(x, ModuleType):
        return x.__name__.partition(".")[0] in _LIBRARIES
    if isinstance(x, BuiltinFunctionType):
        return x not in _LOOKING_AROUND and (x.__self__ is None or isinstance(x.__self__, ModuleType))
    if type(x) is type:
        return x.__module__ == "builtins"
    return (
        is_number(x) or type(x) in INERT or isinstance(x, np.ufunc) or type(x) is np.ndarray and not x.dtype.hasobject
    )


_LIBRARIES = frozenset({"math", "cmath", "numpy"})
_LOOKING_AROUND = frozenset({__import__, globals, locals, vars, eval, exec, compile, getattr, open, input, breakpoint})


@known(exec)
def _exec(code: Any, globals: Any = None, locals: Any = None, /) -> tuple[Any, Any]:
    if globals is None:
        return _unknown_names("exec without the names to use")
    return calls.run_foreign(_run_code, "exec", exec, (code, *_spaces(code, globals, locals)), {})


def _run_code(code: Any, *spaces: Any) -> None:
    if isinstance(code, (str, bytes)):
        # It inherits the `from __future__ import annotations` of the function that runs it, not ours.
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("zyg."):
            frame = frame.f_back
        inherits = frame.f_globals.get("annotations") is _ANNOTATIONS
        code = compile(code, "<string>", "exec", _ANNOTATIONS.compiler_flag if inherits else 0, dont_inherit=True)
    exec(code, *map(_space, spaces))


_ANNOTATIONS = __future__.annotations


def _names_in(code: Any) -> set[str]:
    """The names that code reads or writes, in the functions that it defines as well.

    >>> sorted(_names_in("def f(x): return x * scale\\ny = f(2.0)"))
    ['f', 'scale', 'y']
    """
    if not isinstance(code, CodeType):
        try:
            code = compile(code, "<string>", "exec")
        except (SyntaxError, TypeError, ValueError):
            return set()  # as exec will tell
    return set(code.co_names).union(*(_names_in(c) for c in code.co_consts if isinstance(c, CodeType)))


# ------------------------------------------------------------------------------------------------- numbers


@known(abs, exact=True)
@passes(lambda variables: [(run_shift,)])
def _abs(x: Any) -> tuple[Any, Any]:
    if type(x) is float:
        return abs(x), 1.0 if x > 0 else -1.0 if x < 0 else (run_kink,)
    return shift(record_abs(x))


@known(float, exact=True)
def _float(x: Any = 0.0, /) -> tuple[Any, Any]:
    t = type(x)
    if t is float:
        return x, 1.0
    if t is int:
        return float(x), 1.0
    if t is str or t is bool:
        return float(x), None
    if issubclass(t, float) and (t.__float__ if type(t) is type else find(t, "__float__")) is _to_float:
        return float(x), 1.0
    if isinstance(x, (Fraction, Decimal)):
        return float(x), 1.0
    for name in ("__float__", "__index__"):
        made = method_of(x, name)
        if made is not None:
            y, back = as_call(_given(x, name, made))
            return float(y), back
    return float(x), 1.0 if not isinstance(x, np.ndarray) else (run_float_of_array, x)


_to_float = float.__float__


def run_float_of_array(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_array(back[1], d)


def as_call(made: tuple[Any, Any]) -> tuple[Any, Any]:
    y, back = made
    return y, None if back is None else (run_shift, back)


# An integer by nature, whatever it is made of: it cuts the path of the derivative, as in native code.
queries(int)


@known(complex)
def _complex(real: Any = 0.0, imag: Any = None) -> tuple[Any, Any]:
    if isinstance(real, str):
        return complex(*((real,) if imag is None else (real, imag))), None
    real, of_real = _number_in(real, "__complex__", "__float__", "__index__")
    if imag is None:
        return complex(real), (run_complex, (real, of_real))
    imag, of_imag = _number_in(imag, "__float__", "__index__")
    return complex(real, imag), (run_complex, (real, of_real), (imag, of_imag))


@passes()
def _complex_of_two(real: Any, imag: Any) -> tuple[Any, Any]:
    if type(real) is float and type(imag) is float:
        return complex(real, imag), _OF_PARTS
    return calls.KNOWN[complex](real, imag)


calls.SHORT[complex, 2] = _complex_of_two


def _run_of_parts(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (None, d.real, d.imag)


_OF_PARTS = (_run_of_parts,)


def _number_in(x: Any, *names: str) -> tuple[Any, Any]:
    """The number that an argument of `complex` is, or that its first method among `names` gives, and the back of this."""
    if is_number(x):
        return x, None
    if isinstance(x, np.ndarray):
        return x.item() if x.size == 1 else complex(x), (run_float_of_array, x)
    for name in names:
        made = method_of(x, name)
        if made is not None:
            return _given(x, name, made)
    return x, None


_KINDS = {"__complex__": complex, "__float__": float, "__index__": int}


def _given(x: Any, name: str, method: Any) -> tuple[Any, Any]:
    """(what such a method gives, back)"""
    y, back = calls.call(method, ())
    kind = _KINDS[name]
    if not isinstance(y, kind):
        of = f"{type(x).__name__}." if kind is float else ""
        raise TypeError(f"{of}{name} returned non-{kind.__name__} (type {type(y).__name__})")
    return y, back


def run_complex(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = [None]
    for (x, inner), turn in zip(back[1:], (1, -1j)):
        c = None if d is None else real_like(x, turn * complex(d))
        if inner is not None:  # a method, which is gone through even if nothing comes of its value
            made = calls.run(inner, c, shadows)
            c = made[0] if made else None
        given.append(c)
    return tuple(given)


@known(round, exact=True)
@passes()
def _round(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if len(args) == 1 and not kwargs and (type(args[0]) is float or type(args[0]) is int):
        return round(args[0]), None
    return calls.run_known(_rounded, *args, **kwargs)


def _rounded(x: Any, ndigits: Any = None) -> tuple[Any, Any]:
    if ndigits is not None and type(ndigits) is not int:
        ndigits, asked = reentry.index_of(ndigits)
        if asked is not None:
            y, back = _rounded(x, ndigits)
            return y, (reentry.run_at_index, back, asked)
    method = method_of(x, "__round__")
    if method is not None:
        return as_call(calls.call(method, () if ndigits is None else (ndigits,)))
    y = round(x) if ndigits is None else round(x, ndigits)
    if ndigits is None or type(x) is int:
        return y, None
    return y, 0.0


calls.takes_what(_round, _rounded)


@known(divmod)
@passes(lambda variables: [(run_shift,)])
def _divmod(a: Any, b: Any) -> tuple[Any, Any]:
    made = by_methods("divmod", a, b)
    if made is not None:
        return shift(made)
    (q, _), (r, second) = BINARY_RECORD["floordiv"](a, b), BINARY_RECORD["mod"](a, b)
    return (q, r), (run_divmod, second)


def run_divmod(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None if d is None else d[1], shadows)
    return None if given is None else (None, *given)


@known(pow)
def _pow(base: Any, exp: Any, mod: Any = None) -> tuple[Any, Any]:
    if mod is not None:
        method = method_of(base, "__pow__")
        return (pow(base, exp, mod), None) if method is None else as_call(calls.call(method, (exp, mod)))
    return shift(BINARY_RECORD["pow"](base, exp))


# ---------------------------------------------------------------------------------------------- attributes


MISSING = object()
_ABSENT = object()  # (another one: second derivatives pass it as a default)


@known(getattr, exact=True)
def _getattr(x: Any, name: str, default: Any = MISSING, /) -> tuple[Any, Any]:
    known = read_by_name.get(name) if type(name) is str else None
    if (known is not None and type(x) in known) or later.accesses.reads_plainly(x, name):
        y = getattr(x, name) if default is MISSING else getattr(x, name, _ABSENT)
        if y is _ABSENT:
            return default, (_run_third, None)
        return (y, None) if _is_without_flow(y) else (y, (_run_read_plainly, x, name))
    if default is MISSING:
        read = later.accesses.asked_by(type(x), name)
        y, back = objects.attributes.record_getattr(x, name) if read is None else read(x, name)
        return y, None if back is None else (_run_read, back, 3)
    if later.sought.changes_nothing(x, name):
        y = getattr(x, name, _ABSENT)
        if y is _ABSENT:
            return default, (_run_third, None)
        if _is_without_flow(y):
            return y, None
    read = later.accesses.asked_by(type(x), name, True)
    try:
        y, back = attempted(x, name) if read is None else later.escaping.attempt(read, x, name)
        return y, None if back is None else (_run_read, back, 4)
    except AttributeError as error:
        return default, (_run_third, later.escaping.swallowed(error))


def _is_without_flow(y: Any) -> bool:
    kind = type(y)
    return kind in without_flow or (kind is not float and not later.knowledge.flows(kind))


def _run_read(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(run_read, back, how many cotangents to give): of a back that gives that of the object first."""
    given = calls.run(back[1], d, shadows)
    return None if given is None or given[0] is None else (None, given[0], None, None)[: back[2]]


def _run_read_plainly(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is None:
        return
    _, x, name = back
    holder = shadows.holders.get(id(x))
    if holder is None or name.startswith("__"):
        shadows.add_attr(x, name, d)
        return
    old = getattr(holder, name, None)
    setattr(holder, name, d if old is None else old + d if type(old) is float else accumulate(old, d))


def _run_written_plainly(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, None, shadows.take_attr(back[1], back[2])


def attempted(x: Any, name: str) -> tuple[Any, Any]:
    """An attribute that there may not be."""
    if not objects.attributes.may_run_code(x, name):
        return objects.attributes.record_getattr(x, name)
    return later.escaping.attempt(objects.attributes.record_getattr, x, name)


def _run_third(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if back[1] is not None:
        back[1][0](back[1], None, shadows)
    return None, None, None, d


@known(hasattr, exact=True)
def _hasattr(x: Any, name: str, /) -> tuple[Any, Any]:
    known = read_by_name.get(name) if type(name) is str else None
    if (known is not None and type(x) in known) or later.sought.changes_nothing(x, name):
        return hasattr(x, name), None
    if later.accesses.reads_plainly(x, name):
        return hasattr(x, name), None
    read = later.accesses.asked_by(type(x), name, True)
    if read is None and not objects.attributes.may_run_code(x, name):
        return hasattr(x, name), None
    try:
        _, back = attempted(x, name) if read is None else later.escaping.attempt(read, x, name)
        return True, None if back is None else (_run_hasattr, back)
    except AttributeError as error:
        back = later.escaping.swallowed(error)
        return False, None if back is None else (_run_hasattr, back)


def _run_hasattr(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None or given[0] is None else (None, given[0], None)


@known(setattr, exact=True)
@passes(lambda variables: [(_run_setattr,)])
def _setattr(x: Any, name: str, value: Any, /) -> tuple[Any, Any]:
    known = set_by_name.get(name) if type(name) is str else None
    if (known is not None and type(x) in known) or later.accesses.writes_plainly(x, name):
        setattr(x, name, value)
        return None, (_run_written_plainly, x, name)
    back = objects.attributes.record_setattr(x, value, name)
    return None, None if back is None else (_run_setattr, back)


def _run_setattr(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = back[1][0](back[1], None, shadows)
    return None if given is None else (None, given[0], None, given[1])


@known(delattr)
def _delattr(x: Any, name: str, /) -> tuple[Any, Any]:
    return None, objects.attributes.record_delattr(x, name)
