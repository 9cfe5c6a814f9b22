"""The rules of `zyg.hook` and `zyg.showgrad`: Python functions, compiled like the rules of users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zyg.transforms import describe


def hook_rule(function: Any, x: Any) -> Any:
    return x, lambda d: (None, through(function, d))


def through(function: Any, d: Any) -> Any:
    """A cotangent by way of the function of a hook."""
    if not callable(function):
        raise TypeError(f"hook takes a function and a value: {function!r} cannot be called")
    given = function(d)
    return zero(d) if given is None else given


def zero(d: Any) -> Any:
    """A cotangent that is zero, of a number or an array. (None is that of a structure.)"""
    if isinstance(d, np.ndarray):
        return np.zeros_like(d)
    return type(d)(0) if isinstance(d, (int, float, complex, np.number)) else None


class Hooked:
    """What compiled code calls for a hook that it cannot compile: gives a cotangent of the type of the one that it gets."""

    def __init__(self, function: Callable[[Any], Any]):
        self.function = function
        self.__name__ = self.__qualname__ = describe(function)

    def __call__(self, d: Any) -> Any:
        given = self.function(d)
        if given is None:
            return zero(d)
        if isinstance(d, np.ndarray):
            if np.shape(given) == d.shape and np.can_cast(np.asarray(given).dtype, d.dtype, "same_kind"):
                return np.ascontiguousarray(given, d.dtype)
        elif isinstance(given, (int, float, np.number)) and not isinstance(given, np.complexfloating):
            return type(d)(given)
        raise TypeError(
            f"the hook {self.__name__} gave {given!r} for the cotangent {d!r}; it has to be of the same kind"
        )


def showgrad_rule(x: Any) -> Any:
    def back(d: Any) -> Any:
        print("gradient:", d)
        return (d,)

    return x, back


def showgrad_tangent_rule(x: Any) -> Any:
    return x, lambda t: t
