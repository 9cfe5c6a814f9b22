"""What goes through values that are nested deeper than Python lets functions call each other: a long linked list that is an argument."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from zyg.errors import Unsupported

from . import calls
from .passing import passes

_DEEPER = 200_000  # calls within calls: of functions in Python, which take no room on C's stack


def however_deep(function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)`, of a function that looks at values and changes nothing. Unsupported: they are nested too deep even so."""
    try:
        return function(*args)
    except RecursionError:
        before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEPER))
    try:
        return function(*args)
    except RecursionError:
        what = "the derivative by a value whose parts hold parts, and so on, some ten thousand deep"
        raise Unsupported(
            what, hint="keep the parts in a list, and say which follows which by their places in it"
        ) from None
    finally:
        sys.setrecursionlimit(before)


@calls.known(however_deep)
@passes()
def _however_deep_in_turn(function: Any, *args: Any) -> tuple[Any, Any]:
    y, back = calls.call(function, args)
    return y, None if back is None else (_run_called, back)


def _run_called(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, *given)
