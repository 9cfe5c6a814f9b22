"""All partial derivatives at once: the Jacobian of a function, and its Hessian.

Both are programs over the derivatives proper, written in Python and compiled with the function: `library/drivers.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .api import native
from .transforms import ARGNUMS, ATTRIBUTE, Transform, checked_argnums, chosen


def hessian(
    function: Callable[..., Any], /, *args: Any, argnums: int | tuple[int, ...] | list[int] = 0, **keywords: Any
) -> Any:
    """The second derivatives of a real-valued function of an array, in an array of shape x.shape + x.shape; of a function of
    a number, a number; by a structure (dict, tuple, list, object), a structure of such structures of arrays. Forward over
    reverse, several columns per pass; a function that changes something besides its arguments runs once.

    argnums: by which argument, the first if it is not said; others are constants. For a tuple of them a tuple of tuples: a
        block by the one argument and the other, of shape x.shape + y.shape.

    >>> import zyg, numpy as np
    >>> zyg.hessian(lambda x: x[0] * x[0] * x[1], np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    >>> zyg.hessian(lambda p: p["a"] ** 2 * p["b"], {"a": 2.0, "b": 3.0})
    {'a': {'a': 6.0, 'b': 4.0}, 'b': {'a': 4.0, 'b': 0.0}}
    >>> zyg.hessian(lambda x, y: x * x * y, 2.0, 3.0, argnums=(0, 1))
    ((6.0, 4.0), (4.0, 0.0))
    """
    by = checked_argnums(argnums)
    chosen("hessian", by, function, len(args))
    return native("hessian", function, by)(function, *args, **keywords)


def jacobian(
    function: Callable[..., Any],
    /,
    *args: Any,
    argnums: int | tuple[int, ...] | list[int] | None = None,
    **keywords: Any,
) -> Any:
    """All partial derivatives: an entry per positional argument, an array of shape value.shape + argument.shape (a
    float for number by number), or None where the value does not depend on it. Tuples and lists of numbers count as
    vectors; for other structures the entry is one: for each part of the value, for each part of the argument.

    argnums: by which arguments; a tuple with an entry for each of them, for a number the entry itself.

    By the cheaper mode: in reverse, an element of the value at a time; or forward, several elements of the arguments at a
    time. The function runs once per pass, the first time on `args` themselves and then on copies; just once, and in reverse, if
    it changes something besides its arguments, or draws numbers.

    >>> import zyg
    >>> zyg.jacobian(lambda x, y: (x * y, x + y), 2.0, 3.0)
    (array([3., 1.]), array([2., 1.]))
    >>> zyg.jacobian(lambda x, y: (x * y, x + y), 2.0, 3.0, argnums=1)
    array([2., 1.])
    """
    by = None if argnums is None else checked_argnums(argnums)
    chosen("jacobian", by, function, len(args))
    return native("jacobian", function, by)(function, *args, **keywords)


for _function in (jacobian, hessian):
    setattr(_function, ATTRIBUTE, Transform(_function.__name__, argnums=ARGNUMS[_function.__name__]))
