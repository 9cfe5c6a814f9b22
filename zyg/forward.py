"""Forward mode: tangents pushed through a function, and the product of a Hessian and a vector.

What these mean inside compiled code is the same, by way of their Transform; see `library/tangents.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import composed
from .api import native
from .callables import DISPATCHER
from .errors import ArgumentError, InternalError, Unsupported
from .fallback import Refusal, fall_back
from .rules import is_users, users_tangent_rules
from .transforms import ATTRIBUTE, Transform, checked_argnums, chosen, describe
from .twins import holds_of, twins


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
    return np.asarray(tangent, arg.dtype if arg.dtype.kind == "c" or arg.dtype == np.float32 else np.float64)


def pushforward(function: Callable[..., Any], /, *args: Any, **keywords: Any) -> tuple[Any, Callable[..., Any]]:
    """`(value, push)`: the value of any function, and a function from tangents of the positional arguments to the tangent
    of the value.

    `push` can be called many times and refers to the arguments as they were. Each call runs native code of `function` again, on copies
    of its arguments: its other side effects happen again (`zyg.jvp` runs it once). What goes through Python runs once, and so does a
    function that has one of the arguments besides, captured for instance: `push` is made of its pullback then.

    >>> import math, zyg
    >>> y, push = zyg.pushforward(math.sin, 0.5)
    >>> y, push(1.0)
    (0.479425538604203, 0.8775825618903728)
    """
    if holds_of(function, args):
        if _follows_users_rules(function, args, keywords):
            value, push = composed.pushforward(Transform("pushforward"), function, args, keywords)
        else:
            value, push = composed.pushed_by(composed.pulled_plainly, function, args, keywords)
        return value, Pushforward(function, args, push)
    kept = twins(args)
    found = native("jvp", function, refused=_through_python)(function, args, (None,) * len(args), **keywords)
    if type(found) is _ThroughPython:
        bound = len(found.args) - len(args)
        return found.value, Pushforward(function, kept, lambda *tangents: found.push(*(None,) * bound, *tangents))
    run = lambda *tangents: jvp(function, twins(kept), tangents, **keywords)[1]
    return found[0], Pushforward(function, kept, run)


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
    numbers = chosen("hvp", by, describe(function), len(given))
    if not isinstance(by, tuple):
        v = _fitting(given[numbers[0]], v)
    elif not isinstance(v, (tuple, list)) or len(v) != len(numbers):
        raise TypeError(f"hvp by arguments {by} takes a tuple with a direction for each of them, not {v!r}")
    else:
        v = tuple([_fitting(given[n], t) for n, t in zip(numbers, v)])
    return native("hvp", function, by)(function, *given, v, **keywords)


for _function in (jvp, pushforward, hvp):
    setattr(_function, ATTRIBUTE, Transform(_function.__name__))
