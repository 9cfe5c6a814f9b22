"""Class patterns whose match runs no code of the user's, as it is known of the classes: by far the most."""

from __future__ import annotations

from typing import Any

from ..identity import note
from ..objects import attributes
from ..objects.arithmetic import find
from ..objects.cotangents import FIELD
from ..trying import bodies
from . import accesses, special
from .knowledge import forgets, note_class

Read = tuple[tuple[str, ...], tuple[int, ...] | None]
NO_INSTANCE: Read = (), ()
_UNKNOWN: Any = object()
# By the classes of subject and pattern, the names and the number of sub-patterns by position: the attributes that are read, all of
# them plainly; None where that is not known, or where the match is of another kind. (For plain code, and in `try` bodies.)
_known: tuple[dict[Any, Read | None], dict[Any, Read | None]] = {}, {}


@forgets
def _forget() -> None:
    for known in _known:
        known.clear()


def names_read(subject: Any, cls: Any, names: tuple[str, ...], count: int) -> Read | None:
    """The attributes that a match reads, if that is all it does, and in which places they are, of fields of a named tuple; NO_INSTANCE
    where it does not match, since the subject is none of the class; None where more is to be done."""
    t = type(subject)
    if type(cls) is not type or type(t) is not type:  # metaclasses may be asked, even for a hash
        return None
    known = _known[1 if bodies else 0]
    key = t, cls, names, count
    found = known.get(key, _UNKNOWN)  # (another thread may forget)
    return _looked_at(known, key, subject) if found is _UNKNOWN else found


def _looked_at(known: dict[Any, Any], key: Any, subject: Any) -> Read | None:
    t, cls, names, count = key
    read: Read | None = None
    if not issubclass(t, cls):
        if t in special.TELL_THEIR_CLASS or special.tells_its_class(subject):
            read = NO_INSTANCE
    else:
        found = _attributes(cls, names, count)
        if found is not None:
            read = _read(subject, found)
            if read is None:
                return None  # which may come to be known
    note(known, key, (t, cls), read)
    note_class(t)
    note_class(cls)
    return read


def _attributes(cls: type, names: tuple[str, ...], count: int) -> tuple[str, ...] | None:
    """The attributes that the sub-patterns are for, if the class says so without running code, and there is nothing wrong with them."""
    found = names
    if count:
        places = find(cls, "__match_args__")
        if type(places) is not tuple or len(places) < count or not all(type(n) is str for n in places):
            return None
        found = (*places[:count], *names)
    return found if len(set(found)) == len(found) else None


def _read(subject: Any, names: tuple[str, ...]) -> Read | None:
    t = type(subject)
    fields = [find(t, n) for n in names]
    if names and issubclass(t, tuple) and attributes.plain_lookup(t) and all(type(f) is FIELD for f in fields):
        return names, tuple([f.__reduce__()[1][0] for f in fields])
    return (names, None) if all(accesses.reads_plainly(subject, n) for n in names) else None


__all__ = ["NO_INSTANCE", "names_read"]
