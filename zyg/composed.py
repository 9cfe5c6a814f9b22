"""Forward mode, Jacobians and second derivatives made of pullbacks: what is done where native code refuses the direct way.

A Jacobian is a pullback per number in the value, and a tangent is the Jacobian times a vector; second derivatives are
derivatives of derivatives.  Slower than the native passes, but of anything that has a pullback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .errors import Misuse
from .rules import users_tangent_rules
from .transforms import Transform, describe

# A place in a structure: the steps that lead to a number, an index, a key or the index of an array's element each.
Path = tuple[Any, ...]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)


def places(value: Any, what: str) -> Iterator[Path]:
    """The places of the real numbers in a structure."""
    if _is_number(value):
        yield ()
    elif isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        for index in np.ndindex(value.shape):
            yield (index,)
    elif isinstance(value, (tuple, list)):
        for at, item in enumerate(value):
            yield from ((at, *path) for path in places(item, what))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from ((key, *path) for path in places(item, what))
    elif isinstance(value, (complex, np.complexfloating, np.ndarray)):
        raise Misuse(f"{what}, with a {type(value).__name__} in it that is no real number")


def filled(value: Any, numbers: Mapping[Path, Any], at: Path = ()) -> Any:
    """The structure of `value` with other numbers in it, 0 where none is given; None for what holds none."""
    if _is_number(value):
        return numbers.get(at, 0.0)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        array = np.zeros(value.shape, np.float32 if value.dtype == np.float32 else np.float64)
        for index in np.ndindex(value.shape):
            array[index] = numbers.get((*at, index), 0.0)
        return array
    if isinstance(value, (tuple, list)):
        items = [filled(item, numbers, (*at, n)) for n, item in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: filled(item, numbers, (*at, key)) for key, item in value.items()}
    return None


def dot(gradient: Any, tangent: Any) -> Any:
    """A cotangent applied to a tangent of the same structure; None is zero."""
    if gradient is None or tangent is None:
        return 0.0
    if isinstance(gradient, np.ndarray):
        return (gradient * np.asarray(tangent)).sum()
    if isinstance(gradient, dict):
        return sum(dot(gradient[key], tangent[key]) for key in gradient)
    if isinstance(gradient, (tuple, list)):
        names = getattr(type(gradient), "_fields", None)
        if names is not None and not isinstance(tangent, (tuple, list)):
            tangent = [tangent.get(n) if isinstance(tangent, dict) else getattr(tangent, n) for n in names]
        return sum(dot(g, t) for g, t in zip(gradient, tangent))
    return gradient * tangent


def jvp(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any]:
    from .api import pullback

    arguments, tangents = args
    if len(arguments) != len(tangents):
        raise TypeError(f"jvp of {describe(function)} with {len(arguments)} arguments and {len(tangents)} tangents")
    if users_tangent_rules():
        from .autodiff.objects.user_rules import forward_mode
        from .fallback import python_pullback

        with forward_mode():
            value, back = python_pullback(function, arguments, keywords)
    else:
        value, back = pullback(function, *arguments, **keywords)
    found = {
        path: sum(dot(g, t) for g, t in zip(back(filled(value, {path: 1.0})), tangents))
        for path in places(value, f"the tangent of the value of {describe(function)}")
    }
    return value, filled(value, found)


def _gradient_of(function: Callable[..., Any], keywords: dict[str, Any]) -> Callable[[Any], Any]:
    from .api import gradient

    def slope(x: Any) -> Any:
        return gradient(function, x)[0]

    def slope_with_keywords(x: Any) -> Any:
        return gradient(function, x, **keywords)[0]

    made = slope_with_keywords if keywords else slope
    made.__wrapped__ = function  # whom a warning is about
    return made


def hvp(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    from .api import gradient

    x, v = args
    slope = _gradient_of(function, keywords)

    def along(x: Any) -> Any:
        return dot(slope(x), v)

    along.__wrapped__ = function
    (found,) = gradient(along, x)
    return filled(x, {}) if found is None else found


def hessian(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    from .matrices import jacobian

    (x,) = args
    (found,) = jacobian(_gradient_of(function, keywords), x)
    if found is None:
        return 0.0 if _is_number(x) else np.zeros(np.shape(x) * 2)
    return found


def jacobian(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
    from .api import pullback

    value, back = pullback(function, *args, **keywords)
    shape = shape_of(value, "the value")
    paths = list(places(value, f"the Jacobian of {describe(function)}"))
    rows = [back(filled(value, {path: 1.0})) for path in paths]
    result: list[Any] = []
    for at, arg in enumerate(args):
        entries = [row[at] for row in rows]
        if not entries:
            result.append(np.zeros(shape + shape_of(arg, f"argument {at}")))
        elif all(entry is None for entry in entries):
            result.append(None)
        elif shape == () and _is_number(entries[0]):
            result.append(entries[0])
        else:
            own = shape_of(arg, f"argument {at}")
            stacked = np.stack([np.zeros(own) if entry is None else np.asarray(entry) for entry in entries])
            result.append(stacked.reshape(shape + own))
    return tuple(result)


def shape_of(value: Any, what: str) -> tuple[int, ...]:
    """The shape of a number, an array, or a (nested) tuple or list of numbers."""
    if _is_number(value):
        return ()
    if isinstance(value, np.ndarray):
        return value.shape
    if isinstance(value, (tuple, list)):
        shapes = {shape_of(item, what) for item in value}
        if len(shapes) == 1:
            return (len(value), *shapes.pop())
    raise TypeError(f"jacobian takes functions of numbers and arrays; {what} is a {type(value).__name__}")


__all__ = ["dot", "filled", "hessian", "hvp", "jacobian", "jvp", "places", "shape_of"]
