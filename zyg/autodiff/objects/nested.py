"""Derivatives inside of differentiated code: zyg's own functions are differentiated as the Python code that they are.

`zyg.gradient(f, x)` in object code is the forward half of `f`, called, and its reverse half, called. Both are code that the
adjoint pass made, and is differentiated like other code, with the run-time functions that it calls. What these look up (what
function is meant, what a value looks like) carries no derivative, and runs as it is: that is what is said here.
"""

from __future__ import annotations

from typing import Any

from zyg import fallback, rules, transforms
from zyg.autodiff.python import inline
from zyg.errors import Unsupported

from . import calls, class_statements, foreign, structure
from .arithmetic import find, is_python, method_of
from .calls import known


def _plainly(function: Any) -> Any:
    def handler(*args: Any, **kwargs: Any) -> tuple[Any, None]:
        return function(*args, **kwargs), None

    return handler


for _function in (
    calls.forward_of, calls.forward_in_python, calls.refresh, calls.known_function, structure.form, inline.release, inline.readers, inline.writers,
    rules.epoch, transforms.describe, transforms.transform_of, foreign.caller, foreign.is_foreign, foreign.name_of, find,
    is_python, method_of, class_statements.metaclass, class_statements.forward_of_body,
    class_statements.runs_code,
):  # fmt: skip
    known(_function)(_plainly(_function))


@known(calls.call)
def _call(f: Any, args: Any, kwargs: Any = None) -> tuple[Any, Any]:
    return _through(calls.forward_in_python(f), args, kwargs)


@known(calls.call_in_python)
def _call_in_python(f: Any, args: Any, kwargs: Any = None) -> tuple[Any, Any]:
    return _through(calls.forward_in_python(f), args, kwargs)


def _through(forward: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Differentiate a call of the forward half: what it gives is a value and its pullback."""
    y, back = calls.record_spread(forward, tuple(args), kwargs or {})
    return y, None if back is None else (_run_through, back)


def _run_through(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The forward half came in the place of the function that it belongs to, and what looked it up."""
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, None, *given[1:])


@known(calls.call_bound)
def _call_bound(entry: Any, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Arguments are brought in their places as ever; it is the forward half that is differentiated."""
    if not entry.generator:
        slots, places = calls.arrange(entry, f, args, kwargs)
        pair, back = calls.call(entry.bind(f), tuple(slots))
        if places is None or pair[1] is None:
            return pair, None if back is None else (_run_bound, back)
        made = (pair[0], (calls.run_bound, pair[1], f, *places))
        return made, None if back is None else (_run_arranged, (calls.run_bound, (_run_inner, back), f, *places))
    count, defaults = entry.code.co_argcount, f.__defaults__ or ()
    missing = count - len(args)
    if kwargs or not entry.simple or entry.generator or not 0 <= missing <= len(defaults):
        raise Unsupported(
            "a derivative of a derivative through a call with keywords, or of a function with *args or keyword-only parameters",
            foreign.position_of(foreign.caller()),
            hint="call it by position, or write a function around it that has the parameters that are needed",
        )
    slots = (*args, *defaults[len(defaults) - missing :]) if missing else args
    y, back = calls.call(entry.bind(f), slots)
    return y, None if back is None else (_run_bound, back)


def _run_arranged(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangents of the parameters go where these came from."""
    return (None, None, *calls.run(back[1], d, shadows))


def _run_inner(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What is asked of the pullback of a bound call is asked of that of the forward half, which is in it."""
    if d is not None and d[1] is not None:
        d = (d[0], d[1][1])
    return calls.run(back[1], d, shadows)


def _run_bound(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, None, None, *given[1:])


def call_transform(transform: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A call of zyg.gradient and the like, or of what zyg.grad and the like gave."""
    direct = transform.kind in transforms.DIRECT_KINDS
    function, rest = (args[0], args[1:]) if direct else (transform.function, args)
    implementation = fallback.implementation(transform)
    y, back = calls.call(implementation, (transform, function, rest, kwargs))
    return y, None if back is None else (_run_transform, back, direct, len(rest), kwargs)


def _run_transform(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, direct, count, kwargs = back
    given = calls.run(inner, d, shadows)
    if given is None:
        return None
    _, _, d_function, d_args, *_ = given
    d_kwargs = [shadows.take_key(kwargs, name) for name in kwargs]
    first = (None, d_function) if direct else (d_function,)
    return (*first, *(d_args if d_args is not None else [None] * count), *d_kwargs)
