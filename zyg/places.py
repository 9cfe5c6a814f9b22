"""The numbers inside structures: where they are, and structures with other numbers in these places.

A place is a path of steps: ("attr", name), ("item", key or index), ("element", index into an array), and for a complex number
last of all ("part", "real" or "imag").  Structures are numbers, arrays, tuples, lists, dicts, dataclasses, named tuples and
objects with attributes, nested.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from zyg.ir.plainly import own_attributes

from .typeof import struct_fields

Place = tuple[tuple[str, Any], ...]


def places(value: Any, prefix: Place = (), _seen: frozenset[int] = frozenset()) -> Iterator[Place]:
    """The places of all numbers, in order; what an object refers to in a circle is entered once.

    >>> list(map(text, places({"a": (1.0, 2), "b": np.zeros(2)})))
    ["['a'][0]", "['a'][1]", "['b'][0]", "['b'][1]"]
    """
    if id(value) in _seen:
        return
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fiuc":
            for index in np.ndindex(value.shape):
                yield from _parts(value.dtype.kind == "c", (*prefix, ("element", index)))
        return
    if _is_number(value):
        yield from _parts(isinstance(value, (complex, np.complexfloating)), prefix)
        return
    _seen |= {id(value)}
    for step, item in _children(value):
        yield from places(item, (*prefix, step), _seen)


def _parts(is_complex: bool, place: Place) -> Iterator[Place]:
    if not is_complex:
        yield place
        return
    yield (*place, ("part", "real"))
    yield (*place, ("part", "imag"))


def _children(value: Any) -> list[tuple[tuple[str, Any], Any]]:
    names = struct_fields(type(value))
    if names is not None:
        return [(("attr", name), getattr(value, name)) for name in names]
    if isinstance(value, (tuple, list)):
        return [(("item", n), item) for n, item in enumerate(value)]
    if isinstance(value, dict):
        return [(("item", key), item) for key, item in value.items()]
    plain = (own_attributes(value) is not None) and type(value).__module__ != "builtins" and not isinstance(value, type)
    return [(("attr", name), item) for name, item in vars(value).items()] if plain else []


def get(value: Any, place: Place) -> Any:
    """What stands at a place."""
    for kind, at in place:
        value = getattr(value, at) if kind in ("attr", "part") else value[at]
    return value


def put(value: Any, place: Place, number: float) -> Any:
    """`value` with another number at a place: the same object where that can be changed, a copy with the change else."""
    if not place:
        return type(value)(number) if isinstance(value, np.floating) else number
    (kind, at), rest = place[0], place[1:]
    if kind == "part":
        return complex(number, value.imag) if at == "real" else complex(value.real, number)
    if kind == "element":
        if value.dtype.kind in "iu":
            value = value.astype(np.float64)
        value[at] = put(value[at], rest, number)
        return value
    item = put(getattr(value, at) if kind == "attr" else value[at], rest, number)
    if isinstance(value, tuple):
        if kind == "attr":
            named: Any = value
            return named._replace(**{at: item})
        items = [item if n == at else x for n, x in enumerate(value)]
        return tuple(items)
    if kind == "attr":
        object.__setattr__(value, at, item)
    else:
        value[at] = item
    return value


def unit(value: Any, place: Place | None) -> Any:
    """A cotangent of `value` that is 1 at a place (i for an imaginary part), 0 elsewhere; structs and objects take the plain
    tuple of their fields' cotangents."""
    if place is not None and len(place) == 1 and place[0] == ("part", "imag"):
        return 1j
    if isinstance(value, np.ndarray):
        dtype = np.result_type(value.dtype, np.float32) if value.dtype.kind in "fc" else np.float64
        seed = np.zeros(value.shape, dtype)
        if place is not None:
            seed[place[0][1]] = unit(0.0, place[1:])
        return seed
    if _is_number(value):
        return 1.0 if place is not None else 0.0
    items = {}
    for step, item in _children(value):
        inside = place is not None and place[0] == step
        items[step[1]] = unit(item, place[1:] if inside and place is not None else None)
    if isinstance(value, dict):
        return items
    return list(items.values()) if isinstance(value, list) else tuple(items.values()) if items else None


def entry(gradient: Any, place: Place) -> float | None:
    """The entry of a gradient at a place of what it belongs to; None if there is none."""
    for kind, at in place:
        if gradient is None:
            return None
        if kind == "part":
            gradient = complex(gradient)
        gradient = getattr(gradient, at) if kind in ("attr", "part") else gradient[at]
    return None if gradient is None else float(gradient)


def text(place: Place) -> str:
    """A place as one would write it.

    >>> text((("attr", "x"), ("item", "a"), ("element", (1, 2)), ("part", "real")))
    ".x['a'][1, 2].real"
    """
    result = ""
    for kind, at in place:
        if kind in ("attr", "part"):
            result += f".{at}"
        else:
            result += f"[{', '.join(map(str, at))}]" if kind == "element" else f"[{at!r}]"
    return result


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex, np.number)) and not isinstance(value, bool)
