"""What stands in the place of a pullback, or in a pullback, where emitted code knows what it means."""

from __future__ import annotations

from typing import Any

# What is known of methods that are read as attributes, and then called.
PLAIN = "read plainly"

# Where the place of a call (a list) has forward halves by the identity of what is called.
KNOWN_AT = 6


def nothing(back: Any, d: Any, shadows: Any) -> Any:
    """The pullback of what was recorded and carries nothing. With what a loop goes through it says that the loop's items have
    the part of it that they are in the place of a pullback; and the function that gives what these parts have gathered to what
    the loop goes through, unless that has a shadow."""
    return back[2](back, d, shadows) if len(back) > 2 else None


# The pullback of an operator that was run plainly, where it has to be other than None.
NOTHING = (nothing,)


def held(back: Any, d: Any, shadows: Any) -> Any:
    """Stands where an attribute that most likely is computed was one of the instance's own, as if it had been read plainly."""
    raise SystemError("only emitted code knows what was read")


HELD = (held,)


def step(back: Any, d: Any, shadows: Any) -> Any:
    """Stands for the pullback of an item that a generator gave to a loop, if nobody else has the generator: the next step of the
    generator's reverse half undoes it."""
    raise SystemError("only emitted code knows which generator gave an item")


STEP = (step,)


def viewed(back: Any, d: Any, shadows: Any) -> Any:
    """Stands for the pullback of a call of `items`, `values` or `keys` of a dict, whose view only a loop goes through, and in the place of
    the view there is the dict: nothing comes back by it."""
    return None


VIEWED = (viewed,)


def in_field(back: Any, d: Any, shadows: Any) -> Any:
    """The pullback of a field of a named tuple: (in_field, its number, how many there are)."""
    if d is None:
        return None
    parts = [None] * back[2]
    parts[back[1]] = d
    return (tuple(parts),)


def pulled(back: Any, d: Any, shadows: Any, wanted: tuple[int, ...]) -> Any:
    """What a pullback gives for the operands `wanted`: for code that is brief, and does not write that out."""
    if back is None:
        given: Any = None
    elif type(back) is float:
        given = None if d is None else (None, d * back)
    else:
        given = back[0](back, d, shadows)
    if given is None:
        return (None,) * len(wanted)
    return [given[k] for k in wanted]
