"""What one writes inside a function that is to be differentiated: hooks, checkpoints, and questions about the derivative.

Outside of differentiation each of them is what its body says.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from zyg.ir.plainly import has_plainly

from .library import hooks
from .rules import adjoint, tangent
from .twins import twins

T = TypeVar("T")


def hook(function: Callable[[Any], Any], x: T) -> T:
    """`x`; in a backward pass the cotangent goes through `function`: hook(neg, x) reverses a gradient.

    `function` may be anything that can be called. What it returns takes the place of the cotangent; None is zero. It finds what it
    has captured as that was when `hook` was called, and what it changes itself (a list of what it saw) stays changed.

    >>> import operator, zyg
    >>> zyg.gradient(lambda a, b: zyg.hook(operator.neg, a) * b, 2.0, 3.0)
    (-3.0, 2.0)
    """
    return x


adjoint(hook)(hooks.hook_rule)


def showgrad(x: T) -> T:
    """`x`; a backward pass prints the cotangent that arrives here.

    >>> import zyg
    >>> zyg.gradient(lambda a, b: zyg.showgrad(a) * b, 2.0, 3.0)
    gradient: 3.0
    (3.0, 2.0)
    """
    return x


adjoint(showgrad)(hooks.showgrad_rule)
tangent(showgrad)(hooks.showgrad_tangent_rule)


def checkpoint(function: Callable[..., T], /, *args: Any) -> T:
    """`function(*args)`; a backward pass computes it again instead of remembering what happened inside: less memory for
    one more evaluation. Side effects happen twice.

    >>> import math, zyg
    >>> zyg.gradient(lambda x: zyg.checkpoint(math.sin, x), 1.0)
    (0.5403023058681398,)
    """
    return function(*args)


def checkpointed(iterable: Iterable[T], every: int | None = None, *, snapshots: int | None = None) -> Iterable[T]:
    """`iterable`, to loop over: a backward pass keeps the state of the loop once in a while only, and computes the
    iterations between again.

        for i in zyg.checkpointed(range(n)):
            x = step(x)

    The state is what the loop changes: its variables, and the arrays that it writes.

    every: keep the state every so many iterations, about sqrt(n) if not given: memory for n / every states and the inside
        of `every` iterations; each iteration is computed twice.
    snapshots: keep at most so many states at a time, and compute iterations again as often as that asks for, by the binomial
        schedule of Griewank and Walther: with s snapshots, (s + r)! / (s! r!) iterations are computed r + 1 times or less.

    >>> import math, zyg
    >>> def f(x):
    ...     for i in zyg.checkpointed(range(1000), every=10):
    ...         x = math.sin(x)
    ...     return x
    >>> zyg.gradient(f, 1.0)
    (0.00012436381135847577,)
    """
    check_limits(every, snapshots)
    if every is None and not has_plainly(iterable, "__len__"):
        raise TypeError(f"checkpointed asks for a length, which {type(iterable).__name__} does not have; say every=")
    return iterable


def check_limits(every: Any, snapshots: Any) -> None:
    for name, value in (("every", every), ("snapshots", snapshots)):
        if value is not None and (not isinstance(value, (int, np.integer)) or isinstance(value, bool)):
            raise TypeError(f"{name} is a number of {'iterations' if name == 'every' else 'states'}, not {value!r}")
        if value is not None and value < 1:
            raise ValueError(f"{name} is at least 1, not {value}")
    if every is not None and snapshots is not None:
        raise TypeError("checkpointed takes either every= or snapshots=")


def stop_gradient(x: T) -> T:
    """`x`, as a constant to differentiation. Of an array, a list, a dict or an object that is a copy, also where nothing is
    differentiated.

    >>> import zyg
    >>> zyg.gradient(lambda x: x * zyg.stop_gradient(x), 3.0)
    (3.0,)
    """
    return constant(x)


def constant(x: Any) -> Any:
    """What is mutable has its derivative by identity, so the constant is a copy; functions and what C code made are themselves."""
    cls = type(x)
    if cls in _NUMBERS or callable(x):
        return x
    if isinstance(x, (np.ndarray, list, tuple, dict, set, frozenset, deque)) or cls.__flags__ & _HEAP_TYPE:
        return twins(x)
    return x


_NUMBERS = frozenset({float, int, complex, bool, str, type(None)})
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: of a class that Python code made, and a few of C


def isderiving() -> bool:
    """Whether this code is being differentiated.

    >>> import zyg
    >>> zyg.isderiving(), zyg.gradient(lambda x: 2 * x if zyg.isderiving() else x, 1.0)
    (False, (2.0,))
    """
    return False


def nestlevel() -> int:
    """How many derivatives are being taken around this code.

    >>> import zyg
    >>> zyg.nestlevel(), zyg.derivative(zyg.derivative(lambda x: zyg.nestlevel() * x * x))(1.0)
    (0, 4.0)
    """
    return 0
