"""How backs are run, whatever they are."""

from __future__ import annotations

from typing import Any

from .passing import hands_on


@hands_on
def run_padded(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What is left out at the end has no cotangent."""
    given = run(back[1], d, shadows)
    if given is None or len(given) >= back[2]:
        return given
    return (*given, *[None] * (back[2] - len(given)))


def run(back: Any, d: Any, shadows: Any) -> Any:
    """The cotangents that a back gives, None if there are none. A float is the slope by the only argument."""
    if back is None:
        return None
    if type(back) is float:
        return None if d is None else (None, d * back)
    return back[0](back, d, shadows)


@hands_on
def run_shifted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangent of `self` is that of the bound method."""
    given = run(back[1], d, shadows)
    return None if given is None else given[1:]


@hands_on
def run_unshifted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """A method called through its class: `self` is the first argument."""
    given = run(back[1], d, shadows)
    return None if given is None else (None, *given)


@hands_on
def run_placed(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangents of a call whose keyword arguments are in another order than the parameters."""
    _, inner, places = back
    given = run(inner, d, shadows)
    if given is None:
        return None
    return (None, *[given[1 + k] if 1 + k < len(given) else None for k in places])


__all__ = ["run", "run_padded", "run_placed", "run_shifted", "run_unshifted"]
