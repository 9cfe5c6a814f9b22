"""Class patterns whose match runs no code of the user's, as it is known of the classes: by far the most."""

from __future__ import annotations

from typing import Any

from ..identity import note
from ..objects import attributes
from ..trying import bodies
from . import accesses, special
from .knowledge import forgets, note_class

_UNKNOWN: Any = object()
# By the classes of subject and pattern, the names and the number of sub-patterns by position: the attributes that are read, all of
# them plainly; None where that is not known, or where the match is of another kind. (For plain code, and in `try` bodies.)
_known: tuple[dict[Any, tuple[str, ...] | None], dict[Any, tuple[str, ...] | None]] = {}, {}


@forgets
def _forget() -> None:
    for known in _known:
        known.clear()


def is_no_instance(subject: Any, cls: Any) -> bool:
    """Whether it is certain that a subject is none of a class, and nobody is asked."""
    t = type(subject)
    return (
        type(cls) is type
        and not issubclass(t, cls)
        and (t in special.TELL_THEIR_CLASS or special.tells_its_class(subject))
    )


def names_read(subject: Any, cls: Any, names: tuple[str, ...], count: int) -> tuple[str, ...] | None:
    """The attributes that a match of an instance of the class reads, if that is all it does."""
    known = _known[1 if bodies else 0]
    key = type(subject), cls, names, count
    found = known.get(key, _UNKNOWN)  # (another thread may forget)
    return _looked_at(known, key, subject) if found is _UNKNOWN else found


def _looked_at(known: dict[Any, Any], key: Any, subject: Any) -> tuple[str, ...] | None:
    t, cls, names, count = key
    found = None
    if type(cls) is type and issubclass(t, cls):
        if count == 0:
            found = names
        elif not attributes.may_run_code(cls, "__match_args__"):
            places = getattr(cls, "__match_args__", ())
            if type(places) is tuple and len(places) >= count:
                found = (*places[:count], *names)
        if found is not None and len(set(found)) < len(found):
            found = None
        if found is not None and not all(type(n) is str and accesses.reads_plainly(subject, n) for n in found):
            return None  # which may come to be known
    note(known, key, (t, cls), found)
    note_class(t)
    note_class(cls)
    return found


__all__ = ["is_no_instance", "names_read"]
