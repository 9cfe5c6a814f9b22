"""What `match` asks of a value, with what it changes by asking: the values at the keys of a mapping, the attributes of a class pattern."""

from __future__ import annotations

from typing import Any

from zyg.library import matching
from zyg.library.matching import ABSENT

from . import attributes, builtins_, calls, later, reentry
from .cotangents import accumulate
from .passing import run_nothing_flows
from .reach import PLAIN


def record_match_keys(mapping: Any, keys: tuple[Any, ...]) -> tuple[Any, Any]:
    """The values at the keys of a mapping pattern, None if one is not there: its method `get` is asked for each."""
    if type(mapping) is dict and PLAIN.issuperset(map(type, keys)):
        return _of_dict(mapping, keys)
    if not keys:
        return (), None
    get, of_get = attributes.record_getattr(mapping, "get")
    backs: list[Any] = []
    values: list[Any] = []
    asked = _run_keys, of_get, backs
    with reentry.undone(asked, backs):
        for n, key in enumerate(keys):
            if key in keys[:n]:
                raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
            value, back = calls.call(get, (key, ABSENT))
            backs.append(back)
            if value is ABSENT:
                return None, asked
            values.append(value)
    return tuple(values), asked


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
    read = later.matched.names_read(subject, cls, names, count)
    if read is later.matched.NO_INSTANCE:
        return None, None
    if read is not None:
        attributes_read, fields = read
        values = [getattr(subject, name, ABSENT) for name in attributes_read]
        for value in values:
            if value is ABSENT:
                break
        else:
            if fields is not None:
                return tuple(values), (_run_fields, fields, tuple.__len__(subject))
            return tuple(values), (_run_read, subject, attributes_read)
    backs: list[Any] = []
    with reentry.gathering(backs):
        return _matched(subject, cls, names, count, backs)


def _matched(subject: Any, cls: type, names: tuple[str, ...], count: int, backs: list[Any]) -> tuple[Any, Any]:
    """The same, with the backs of what is asked in a list."""
    if type(cls) is not type or not issubclass(type(subject), cls):  # (nobody is asked by far the most often)
        matches, back = calls.call(isinstance, (subject, cls))
        if back is not None:
            backs.append((_run_of_instance, back))
        if not matches:
            return None, (_run_found, backs) if backs else None
    values: list[Any] = []
    if count:
        found = ABSENT
        if attributes.may_run_code(cls, "__match_args__"):
            found, back = _attribute(cls, "__match_args__")
            if back is not None:
                backs.append((run_nothing_flows, back))  # to a class
        else:
            found = getattr(cls, "__match_args__", ABSENT)
        itself, places = matching.places(cls, found, count)
        if itself:
            values.append(subject)
            backs.append(_ITSELF)
        names = (*places, *names)
    for n, name in enumerate(names):
        matching.check_place(name)
        matching.check_name(cls, name, names[:n])
        value, back = _attribute(subject, name)
        backs.append(back)
        if value is ABSENT:
            return None, (_run_found, backs)
        values.append(value)
    return tuple(values), (_run_found, backs)


def _run_read(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Attributes that were read plainly."""
    if d is not None:
        _, subject, names = back
        for k in range(len(names) - 1, -1, -1):
            if d[k] is not None:
                attributes.run_attr((None, subject, names[k]), d[k], shadows)


def _run_fields(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Fields of a named tuple, which has its cotangents in a tuple."""
    if d is None:
        return None
    _, places, length = back
    given: list[Any] = [None] * length
    for at, c in zip(places, d):
        given[at] = c
    return tuple(given), None, None


def _attribute(x: Any, name: str) -> tuple[Any, Any]:
    """(value, back) of an attribute, or ABSENT with what undoes that it was looked for."""
    if later.accesses.reads_plainly(x, name):
        value = getattr(x, name, ABSENT)
        return value, None if value is ABSENT else (attributes.run_attr, x, name)
    try:
        return builtins_.attempted(x, name)
    except AttributeError as error:
        return ABSENT, later.escaping.swallowed(error)


def _run_itself(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return (d,)


_ITSELF = (_run_itself,)


def _run_of_instance(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(A function that is called gives its own cotangent first.)"""
    given = calls.run(back[1], None, shadows)
    return None if given is None else (given[1],)


def _run_found(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Backs in the order of what they undo, of which the last ones are of the values, if there are values."""
    backs = back[1]
    total: Any = None
    before = len(backs) if d is None else len(backs) - len(d)
    for k in range(len(backs) - 1, -1, -1):
        given = calls.run(backs[k], d[k - before] if k >= before and d is not None else None, shadows)
        total = accumulate(total, None if given is None else given[0])
    return total, None, None


RECORD = {"match_keys": record_match_keys, "match_class": record_match_class}
