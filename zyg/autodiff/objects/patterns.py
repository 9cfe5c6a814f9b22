"""What `match` asks of a value, with what it changes by asking: the values at the keys of a mapping, the attributes of a class pattern."""

from __future__ import annotations

from typing import Any

from . import attributes, builtins_, calls, later
from .cotangents import accumulate
from .reach import PLAIN

_ABSENT = object()
_MATCHES_SELF = 1 << 22  # Py_TPFLAGS_MATCH_SELF: the first sub-pattern is for the subject itself


def record_match_keys(mapping: Any, keys: tuple[Any, ...]) -> tuple[Any, Any]:
    """The values at the keys of a mapping pattern, None if one is not there: its method `get` is asked for each."""
    if type(mapping) is dict and PLAIN.issuperset(map(type, keys)):
        return _of_dict(mapping, keys)
    if not keys:
        return (), None
    get, of_get = attributes.record_getattr(mapping, "get")
    backs: list[Any] = []
    values: list[Any] = []
    for n, key in enumerate(keys):
        if key in keys[:n]:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        value, back = calls.call(get, (key, _ABSENT))
        backs.append(back)
        if value is _ABSENT:
            return None, (_run_keys, of_get, backs)
        values.append(value)
    return tuple(values), (_run_keys, of_get, backs)


def _run_keys(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, of_get, backs = back
    total: Any = None
    for k in range(len(backs) - 1, -1, -1):
        given = calls.run(backs[k], None if d is None else d[k], shadows)
        total = accumulate(total, None if given is None else given[0])
    return calls.run(of_get, total, shadows)


def _of_dict(mapping: dict[Any, Any], keys: tuple[Any, ...]) -> tuple[Any, Any]:
    for n, key in enumerate(keys):
        if key in keys[:n]:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        if key not in mapping:
            return None, None
    return tuple([mapping[key] for key in keys]), (_run_of_dict, mapping, keys)


def _run_of_dict(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        for key, c in zip(back[2], d):
            if c is not None:
                shadows.add_key(back[1], key, c)


def record_match_class(subject: Any, cls: Any, names: tuple[str, ...], count: int) -> tuple[Any, Any]:
    """The attributes of a class pattern, None if it does not match."""
    if not isinstance(cls, type):
        raise TypeError("called match pattern must be a class")
    backs: list[Any] = []
    if type(cls) is not type or not issubclass(type(subject), cls):  # (nobody is asked by far the most often)
        matches, back = calls.call(isinstance, (subject, cls))
        if back is not None:
            backs.append((_run_of_instance, back))
        if not matches:
            return None, (_run_asked, backs) if backs else None
    values: list[Any] = []
    if count:
        itself, places = _by_place(cls, count)
        if itself:
            values.append(subject)
            backs.append(_ITSELF)
        names = (*places, *names)
    for n, name in enumerate(names):
        if name in names[:n]:
            raise TypeError(f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}")
        if later.accesses.reads_plainly(subject, name):
            value = getattr(subject, name, _ABSENT)
            if value is _ABSENT:
                return None, (_run_asked, backs)
            back = (attributes.run_attr, subject, name)
        else:
            try:
                value, back = builtins_.attempted(subject, name)
            except AttributeError as error:
                backs.append(later.escaping.swallowed(error))
                return None, (_run_asked, backs)
        values.append(value)
        backs.append(back)
    return tuple(values), (_run_asked, backs)


def _by_place(cls: type, count: int) -> tuple[bool, tuple[str, ...]]:
    """Whether the first sub-pattern is for the subject itself, and which attributes those by position are for."""
    found = getattr(cls, "__match_args__", None)
    itself = found is None and cls.__flags__ & _MATCHES_SELF != 0
    names = () if found is None else found
    if type(names) is not tuple:
        raise TypeError(f"{cls.__name__}.__match_args__ must be a tuple (got {type(names).__name__})")
    allowed = 1 if itself else len(names)
    if allowed < count:
        plural = "" if allowed == 1 else "s"
        raise TypeError(f"{cls.__name__}() accepts {allowed} positional sub-pattern{plural} ({count} given)")
    names = names[:count]
    for name in names:
        if type(name) is not str:
            raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
    return itself, names


def _run_itself(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return (d,)


_ITSELF = (_run_itself,)


def _run_of_instance(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(A function that is called gives its own cotangent first.)"""
    given = calls.run(back[1], None, shadows)
    return None if given is None else (given[1],)


def _run_asked(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Backs in the order of what they undo, of which the last ones are of the values, if there are values."""
    backs = back[1]
    total: Any = None
    before = len(backs) if d is None else len(backs) - len(d)
    for k in range(len(backs) - 1, -1, -1):
        given = calls.run(backs[k], d[k - before] if k >= before and d is not None else None, shadows)
        total = accumulate(total, None if given is None else given[0])
    return total, None, None


RECORD = {"match_keys": record_match_keys, "match_class": record_match_class}
