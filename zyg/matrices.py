"""All partial derivatives at once: the Jacobian of a function, and its Hessian.

Both are programs over the derivatives proper, written in Python and compiled with the function: `library/drivers.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .api import native, pullback
from .errors import Misuse, Unsupported
from .transforms import ATTRIBUTE, Transform


def hessian(function: Callable[..., Any], x: Any, /, **keywords: Any) -> Any:
    """The second derivatives of a real-valued function of an array, in an array of shape x.shape + x.shape; of a function of
    a number, a number. Forward over reverse, several columns per pass.

    >>> import zyg, numpy as np
    >>> zyg.hessian(lambda x: x[0] * x[0] * x[1], np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    return native("hessian", function)(function, x, **keywords)


def jacobian(function: Callable[..., Any], /, *args: Any, **keywords: Any) -> tuple[Any, ...]:
    """All partial derivatives: an entry per positional argument, an array of shape value.shape + argument.shape (a
    float for number by number), or None where the value does not depend on it. Tuples and lists of numbers count as
    vectors.

    By the cheaper mode: in reverse, an element of the value at a time; or forward, several elements of the arguments at a
    time. The function runs once per pass, the first time on `args` themselves and then on copies.

    >>> import zyg
    >>> zyg.jacobian(lambda x, y: (x * y, x + y), 2.0, 3.0)
    (array([3., 1.]), array([2., 1.]))
    """
    try:
        return native("jacobian", function)(function, *args, **keywords)
    except Misuse:
        raise
    except Unsupported:
        return _by_rows(function, args, keywords)


def _by_rows(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
    """One pullback per element of the value, for what native code has no arrays for."""
    value, back = pullback(function, *args, **keywords)
    shape = _shape(value, "the value")
    rows = [back(seed) for seed in _unit_seeds(value, shape)]
    result: list[Any] = []
    for at, arg in enumerate(args):
        entries = [row[at] for row in rows]
        if not entries:
            result.append(np.zeros(shape + _shape(arg, f"argument {at}")))
        elif entries[0] is None:
            result.append(None)
        elif shape == () and _is_number(entries[0]):
            result.append(entries[0])
        else:
            stacked = np.stack([np.asarray(entry) for entry in entries])
            result.append(stacked.reshape(shape + _shape(arg, f"argument {at}")))
    return tuple(result)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.generic))


def _shape(value: Any, what: str) -> tuple[int, ...]:
    """The shape of a number, an array, or a (nested) tuple of numbers."""
    if _is_number(value):
        return ()
    if isinstance(value, np.ndarray):
        return value.shape
    if isinstance(value, (tuple, list)):
        shapes = {_shape(item, what) for item in value}
        if len(shapes) == 1:
            return (len(value), *shapes.pop())
    raise TypeError(f"jacobian takes functions of numbers and arrays; {what} is a {type(value).__name__}")


def _unit_seeds(value: Any, shape: tuple[int, ...]) -> Iterable[Any]:
    """Cotangents of `value` with one 1 each, in C order."""
    for index in itertools.product(*map(range, shape)):
        yield _seed(value, index)


def _seed(value: Any, index: tuple[int, ...] | None) -> Any:
    """A cotangent of `value` that is 1 at `index` and 0 elsewhere; all 0 if `index` is None."""
    if isinstance(value, np.ndarray):
        seed = np.zeros(value.shape, np.float32 if value.dtype == np.float32 else np.float64)
        if index is not None:
            seed[index] = 1.0
        return seed
    if isinstance(value, (tuple, list)):
        items = [_seed(v, index[1:] if index is not None and at == index[0] else None) for at, v in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    return 0.0 if index is None else 1.0


for _function in (jacobian, hessian):
    setattr(_function, ATTRIBUTE, Transform(_function.__name__))
