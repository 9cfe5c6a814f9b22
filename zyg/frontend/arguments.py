"""Arguments of library functions that their entry does not take.

An entry has the parameters that it supports.  What else the function itself would take may be passed if it is the function's
own default, which changes nothing; otherwise the call is refused by the name of the argument.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.homes import public_module
from zyg.ir.plainly import get_plainly

from .values import Abstract, Known, describe, known_key

if TYPE_CHECKING:
    from zyg.library.registry import Entry

    from .evaluator import Evaluator

WITHOUT_ENTRY = "write it with functions that are, as a loop, or give it a rule: @zyg.adjoint(f, returns=...)"


def fitting(
    e: Evaluator, entry: Entry, called: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> tuple[list[Abstract], dict[str, Abstract]]:
    """The arguments that the entry of `called` takes: the others are defaults, or refused."""
    if isinstance(called, tuple) and (wrong := _complaint(called, len(args) - 1, keywords)) is not None:
        e.type_error(wrong)
    limit, names = _parameters(entry.function, entry.emitter)
    excess = args[limit:] if limit is not None else []
    foreign = [] if names is None else [k for k in keywords if k not in names]
    if not excess and not foreign:
        return args, keywords
    own = _signature(called)
    if own is None and not is_of_numpy(called):
        return args, keywords  # nothing is known of it: the entry says what does not fit
    if own is None and excess:
        raise e.refuse(f"{shown(called)} with {len(args)} positional arguments in native code", hint="pass fewer")
    given: list[tuple[str, Abstract]] = [(k, keywords[k]) for k in foreign]
    if excess and own is not None:
        positional = [p.name for p in own.parameters.values() if p.kind in _POSITIONAL]
        if len(args) > len(positional):
            return args, keywords
        given += zip(positional[len(args) - len(excess) :], excess)
    for name, v in given:
        default = _default(own, name)
        if own is not None and name not in own.parameters and not _takes_any(own):
            e.type_error(f"{_plain_name(called)}() got an unexpected keyword argument '{name}'")
        if not (isinstance(v, Known) and known_key(v.object) == known_key(default)):
            raise unsupported(e, called, name, v, entry.instead)
    return args[: len(args) - len(excess)], {k: v for k, v in keywords.items() if k not in foreign}


_BUILTIN = frozenset({list, dict, tuple, str, float, int, complex})


def _complaint(called: tuple[type, str], count: int, names: Iterable[str]) -> str | None:
    """What a method of a builtin class says of so many arguments, and some by these names, if that is not what it takes.

    >>> _complaint((float, "is_integer"), 1, ()), _complaint((list, "append"), 1, ())
    ('float.is_integer() takes no arguments (1 given)', None)
    """
    cls, name = called
    own = _signature(called) if cls in _BUILTIN else None
    if own is None:
        return None
    try:
        own.bind(None, *[None] * count, **dict.fromkeys(names))
    except TypeError:
        try:
            getattr(cls(), name)(*[None] * count, **dict.fromkeys(names))
        except TypeError as error:
            return str(error)
    return None


def unsupported(e: Evaluator, called: Any, argument: str, v: Abstract, instead: dict[str, str]) -> Exception:
    """The error for an argument of a library function that its entry does not take."""
    return e.refuse(
        f"{shown(called)}({argument}=...) in native code",
        types=[(argument, describe(v, e.heap))],
        hint=instead.get(
            argument, f"leave `{argument}` out, or call {shown(called)} outside of the function and pass what it gives"
        ),
    )


def shown(called: Any) -> str:
    """A library function as users write it: np.linalg.norm, ndarray.sort, math.dist.

    >>> import math, numpy
    >>> shown(numpy.sort), shown((numpy.ndarray, "sort")), shown(math.dist)
    ('np.sort', 'ndarray.sort', 'math.dist')
    """
    if isinstance(called, tuple):
        return f"{called[0].__name__}.{called[1]}"
    module = get_plainly(called, "__module__") or ("numpy" if type(called).__module__ == "numpy" else "")
    if isinstance(called, np.ufunc):
        module = "numpy" if getattr(np, called.__name__, None) is called else "scipy.special"
    name = _plain_name(called)
    if module == "builtins" or not isinstance(module, str) or not module:
        return name
    parts = [part for part in public_module(module, name, called).split(".") if not part.startswith("_")]
    if parts and parts[0] == "numpy":
        parts[0] = "np"
    return ".".join([*parts, name])


def _plain_name(called: Any) -> str:
    return called[1] if isinstance(called, tuple) else get_plainly(called, "__name__") or repr(called)


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_VARARGS, _VARKEYWORDS = 0x04, 0x08
_signatures: dict[Any, inspect.Signature | None] = {}


def _parameters(function: Callable[..., Any], emitter: bool) -> tuple[int | None, frozenset[str] | None]:
    """How many positional arguments a function takes, and its names for keywords; None for any."""
    code = get_plainly(function, "__code__")
    if code is None:  # an object that can be called: it says itself what does not fit
        return None, None
    first = 1 if emitter else 0
    positional = code.co_argcount
    names = code.co_varnames[max(code.co_posonlyargcount, first) : positional + code.co_kwonlyargcount]
    limit = None if code.co_flags & _VARARGS else positional - first
    return limit, None if code.co_flags & _VARKEYWORDS else frozenset(names)


def is_of_numpy(called: Any) -> bool:
    """Whether this is a function or method of NumPy's, whose own source is not to be compiled."""
    return shown(called).startswith(("np.", "ndarray."))


def _signature(called: Any) -> inspect.Signature | None:
    """The signature of the function itself, if it tells."""
    key = called if isinstance(called, tuple) else id(called)
    if key not in _signatures:
        function: Any = getattr(called[0], called[1], None) if isinstance(called, tuple) else called
        try:
            _signatures[key] = inspect.signature(function)
        except (TypeError, ValueError):
            _signatures[key] = None
    return _signatures[key]


def _takes_any(own: inspect.Signature) -> bool:
    return any(p.kind is inspect.Parameter.VAR_KEYWORD for p in own.parameters.values())


def _default(own: inspect.Signature | None, name: str) -> Any:
    if own is None or name not in own.parameters:
        return inspect.Parameter.empty
    return own.parameters[name].default
