"""Forward mode: tangents pushed through a function, and the product of a Hessian and a vector.

What these mean inside compiled code is the same, by way of their Transform; see `library/tangents.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from . import composed
from .api import native
from .assumptions import input_value
from .callables import DISPATCHER
from .departures import calls_out
from .dispatch import taken_apart
from .errors import ArgumentError, InternalError, Unsupported
from .fallback import Refusal, fall_back
from .rules import is_users, users_tangent_rules
from .transforms import ATTRIBUTE, Transform, checked_argnums, chosen, describe, required_arguments
from .twins import holds_of, twin, twins


def jvp(
    function: Callable[..., Any], arguments: tuple[Any, ...], tangents: tuple[Any, ...], /, **keywords: Any
) -> tuple[Any, Any]:
    """`(value, tangent of the value)`: the Jacobian times a vector, in one run of `function`.

    `tangents` has an entry per argument, of its structure: a number for a number, an array for an array, None for zero.
    What a function writes to an argument is seen by the caller; tangents are never written to.

    >>> import zyg
    >>> zyg.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.5))
    (6.0, 4.0)
    """
    if type(arguments) is tuple and type(tangents) is tuple and np.ndarray in map(type, arguments):
        tangents = tuple(map(_fitting, arguments, tangents)) + tangents[len(arguments) :]
    return native("jvp", function)(function, arguments, tangents, **keywords)


def _fitting(arg: Any, tangent: Any) -> Any:
    """The tangent of an array with elements of the type that the array's derivatives have."""
    if type(arg) is not np.ndarray or arg.dtype.kind not in "fiuc" or tangent is None:
        return tangent
    tangent = np.asarray(tangent)
    if tangent.dtype.kind == "c" and arg.dtype.kind != "c":
        raise TypeError(
            f"a tangent with elements of type {tangent.dtype} for an array of {arg.dtype}, which takes real ones"
        )
    if tangent.dtype.kind not in "fciub":
        raise TypeError(
            f"a tangent with elements of type {tangent.dtype} for an array of {arg.dtype}, which takes numbers"
        )
    return np.asarray(tangent, arg.dtype if arg.dtype.kind == "c" or arg.dtype == np.float32 else np.float64)


def pushforward(function: Callable[..., Any], /, *args: Any, **keywords: Any) -> tuple[Any, Callable[..., Any]]:
    """`(value, push)`: the value of any function, and a function from tangents of the positional arguments to the tangent
    of the value.

    `push` can be called many times and refers to the arguments, and what else the function reads, as they were. Each call runs native
    code of `function` again, on copies. A function that does more than copies can undo (draws numbers, prints) runs once, and `push` is
    made of its pullback; so does one that has one of the arguments besides, captured for instance, and what goes through Python.

    >>> import math, zyg
    >>> y, push = zyg.pushforward(math.sin, 0.5)
    >>> y, push(1.0)
    (0.479425538604203, 0.8775825618903728)
    """
    run = native("jvp", function, refused=_through_python)
    plain, bound, named = _apart(function, keywords)
    call = (plain, (*bound, *args), (None,) * (len(bound) + len(args)))
    if _is_bare(function) or not holds_of(function, args):
        code = _code(run, call, named)
        state = _State.of(*call[:2], named, code) if code is not None else None
        if code is None or state is not None:
            found = run(*call, **named)
            if type(found) is _ThroughPython:
                before = len(found.args) - len(args)
                push = lambda *tangents: found.push(*(None,) * before, *tangents)
                return found.value, Pushforward(function, args, push)
            if state is not None:
                hidden = (None,) * len(bound)
                return found[0], Pushforward(function, state.args[len(bound) :], lambda *t: state.push((*hidden, *t)))
            raise InternalError("a call that native code refused was native", "pushforward")
    if _follows_users_rules(function, args, keywords):
        value, push = composed.pushforward(Transform("pushforward"), function, args, keywords)
    else:
        value, push = composed.pushed_by(composed.pulled_plainly, function, args, keywords)
    return value, Pushforward(function, args, push)


def _apart(function: Any, keywords: dict[str, Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The function under bound methods and partials, with what is bound, and all keywords."""
    bound: tuple[Any, ...] = ()
    while isinstance(function, (MethodType, partial)):
        function, inner, named = taken_apart(function)
        bound, keywords = (*inner, *bound), {**named, **keywords}
    return function, bound, keywords


# The code of calls of functions that have captured nothing, with floats and arrays: to find it takes longer than to run it.
_codes: dict[Any, tuple[Any, Any]] = {}
LIMIT = 256


def _code(run: Any, call: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The native code of a call; None if it goes another way."""
    function, args, _ = call
    key = None
    if not keywords and _is_bare(function) and all(type(x) in _SIMPLE for x in args):
        kinds = tuple([(x.dtype, x.ndim, x.flags.num, type(x)) if isinstance(x, np.ndarray) else type(x) for x in args])
        key = (id(run), id(function.__code__), id(function.__globals__), kinds)
        _, known = _codes.get(key, (None, None))
        if known is not None and known.confirm():
            return known
    found = getattr(run, DISPATCHER).native_code(call, keywords)
    if key is not None and found is not None and found.entry is not None:
        while len(_codes) >= LIMIT:
            _codes.pop(next(iter(_codes)), None)
        _codes[key] = ((run, function), found)  # what is kept here keeps them alive
    return found


_SIMPLE = (float, complex, np.ndarray)


def _is_bare(function: Any) -> bool:
    """Whether this is a function that has nothing of its own besides its code."""
    return type(function) is FunctionType and not (
        function.__closure__ or function.__defaults__ or function.__kwdefaults__ or function.__dict__
    )


class _State:
    """What a call was given and what else the function has read, as it was: copies, on copies of which the function runs again."""

    def __init__(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any], inputs: Any):
        self.inputs = inputs
        values = tuple(map(input_value, inputs))
        arrays = [x for x in (*args, *values) if type(x) is np.ndarray]
        # Often there is nothing but numbers and an array.
        self.simple = (
            not keywords
            and len(arrays) < 2
            and _is_bare(function)
            and all(type(x) in _SIMPLE for x in (*args, *values))
        )
        self.kept = self.copied((function, args, keywords, values))
        self.args = self.kept[1]

    def copied(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        if not self.simple:
            return twins(given, functions=True)
        function, args, keywords, values = given
        one = lambda x: twin(x) if type(x) is np.ndarray else x
        return function, tuple(map(one, args)), keywords, tuple(map(one, values))

    @staticmethod
    def of(function: Any, args: tuple[Any, ...], keywords: dict[str, Any], code: Any) -> _State | None:
        """None if the function does what copies do not undo, or there are none."""
        if calls_out(code.compiled.inferred):
            return None
        try:
            return _State(function, args, keywords, code.compiled.inferred.inputs)
        except Exception:
            return None

    def push(self, tangents: tuple[Any, ...]) -> Any:
        function, args, keywords, values = self.copied(self.kept)
        if not self.inputs:
            return native("jvp", function)(function, args, tangents, **keywords)[1]
        from .library.reading import held  # on demand, as all of the library

        known = held(self.inputs)
        run = native("jvp", known, refused=_refused)
        return run(known, (values, function, *args), (None, None, *tangents), **keywords)[1]


def _refused(transform: Transform, args: tuple[Any, ...], keywords: dict[str, Any], refusal: Refusal) -> Any:
    raise refusal.error.with_traceback(None)


def _follows_users_rules(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether a call may follow rules for forward mode that are not zyg's own, as the compiler has found it."""
    if not users_tangent_rules():
        return False
    dispatcher = getattr(native("jvp", function), DISPATCHER)
    try:
        compiled = dispatcher.specialise((function, args, (None,) * len(args)), keywords).compiled
    except (Unsupported, ArgumentError, InternalError):
        return True
    followed = [guard[2] for guard in compiled.inferred.guards if guard[0] == "tangent rule"]
    return any(rule is not None and is_users(rule) for rule in followed)


class _ThroughPython(NamedTuple):
    """A call that native code has refused. args: with those that a bound method or partial object has."""

    args: tuple[Any, ...]
    value: Any
    push: Callable[..., Any]


def _through_python(transform: Transform, args: tuple[Any, ...], keywords: dict[str, Any], refusal: Refusal) -> Any:
    function, given, _ = args
    return _ThroughPython(given, *fall_back(Transform("pushforward"), (function, *given), keywords, refusal))


class Pushforward:
    """The function from tangents of the arguments of a call to the tangent of its value."""

    __slots__ = ("__weakref__", "_args", "_function", "_push")

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], push: Callable[..., Any]):
        self._function = function
        self._args = args
        self._push = push

    def __call__(self, *tangents: Any) -> Any:
        return self._push(*map(_fitting, self._args, tangents), *tangents[len(self._args) :])

    def __repr__(self) -> str:
        return f"<pushforward of {describe(self._function)}: tangents -> tangent of the value>"


def hvp(
    function: Callable[..., Any], /, *args: Any, argnums: int | tuple[int, ...] | list[int] = 0, **keywords: Any
) -> Any:
    """`hvp(function, *args, v)`: the Hessian of a real-valued function at `args` times `v`, without forming it: forward over
    reverse, for a small multiple of the cost of the gradient.

    argnums: by which argument, the first if it is not said; others are constants. For a tuple of them `v` is a tuple with a
        direction for each, and so is the product.

    >>> import zyg
    >>> zyg.hvp(lambda x: x * x * x, 2.0, 1.0)
    12.0
    >>> zyg.hvp(lambda x, y: x * x * y, 2.0, 3.0, (1.0, 0.5), argnums=(0, 1))
    (8.0, 4.0)
    """
    by = checked_argnums(argnums)
    if len(args) < 2:
        raise TypeError("hvp takes a function, its arguments, and a direction behind these: zyg.hvp(f, x, v)")
    *given, v = args
    if len(given) == 1 and type(given[0]) is tuple and required_arguments(function) == len(given[0]) > 1:
        raise TypeError(
            f"hvp takes the arguments of {describe(function)} one by one, and the direction behind them: zyg.hvp(f, x, y, v); "
            "it is zyg.jvp(f, (x, y), (tx, ty)) that takes tuples"
        )
    numbers = chosen("hvp", by, function, len(given))
    if not isinstance(by, tuple):
        v = _fitting(given[numbers[0]], v)
    elif not isinstance(v, (tuple, list)) or len(v) != len(numbers):
        raise TypeError(f"hvp by arguments {by} takes a tuple with a direction for each of them, not {v!r}")
    else:
        v = tuple([_fitting(given[n], t) for n, t in zip(numbers, v)])
    return native("hvp", function, by)(function, *given, v, **keywords)


for _function in (jvp, pushforward, hvp):
    setattr(_function, ATTRIBUTE, Transform(_function.__name__))
