"""Cotangents taken apart, of values of the forms that they had (structure.py): what belongs to objects goes to their shadows, `scatter`.

So do refusals (`refuse`), which everything in a value gets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from zyg.errors import Misuse, excerpt
from zyg.gradient_classes import closure_gradient_class
from zyg.ir.plainly import get_plainly
from zyg.named import UnknownName, by_names

from . import foreign
from .cotangents import Refused, is_number
from .structure import COMPLEX, Form, parts_of


def scatter(form: Form, c: Any, shadows: Any, what: str = "the cotangent") -> Any:
    """Take the cotangent `c` of a value apart: what belongs to mutable objects goes to their shadows; the rest, which
    flows, is the result. `what` names the cotangent in messages."""
    return None if c is None else _SCATTER[form[0]](form, c, shadows, what)


def _scatter_number(form: Form, c: Any, shadows: Any, what: str) -> Any:
    return c if type(c) is float else _as_number(c, what) if form is COMPLEX else _as_real(c, what)


def _scatter_nothing(form: Form, c: Any, shadows: Any, what: str) -> None:
    return None


def _scatter_again(form: Form, c: Any, shadows: Any, what: str) -> None:
    """An object that stands in the value before got all of its cotangent there."""
    if what.startswith(GIVEN) and c is not None:
        raise TypeError(
            f"{what} is of an object that the value holds before: give all of its cotangent there, None here"
        )


GIVEN = "the cotangent of the value"  # that a pullback is called with, as against one that was gathered, which is in all places


def _scatter_array(form: Form, c: Any, shadows: Any, what: str) -> None:
    if callable(c):  # it adds to what it is given
        add, c = c, np.zeros(form[1].shape, np.result_type(form[1].dtype, np.float32))
        add(c)
    _add_array(form[1], c, shadows, what)


def _scatter_numbers(form: Form, c: Any, shadows: Any, what: str) -> None:
    for index, part in enumerate(_sequence(c, form[2], what)):
        if part is not None:
            shadows.add_item(form[1], index, _as_real(part, f"{what}[{index}]"))


def _scatter_tuple(form: Form, c: Any, shadows: Any, what: str) -> Any:
    names = None if type(c) is tuple else get_plainly(type(form[1]), "_fields")
    named = None if names is None else _by_names(c, names, what)
    parts = _sequence(c, len(form[2]), what) if named is None else [named.get(n) for n in names or ()]
    flowing = tuple([scatter(f, p, shadows, f"{what}[{k}]") for k, (f, p) in enumerate(zip(form[2], parts))])
    return None if all(p is None for p in flowing) else flowing


def _scatter_list(form: Form, c: Any, shadows: Any, what: str) -> None:
    for index, (f, part) in enumerate(zip(form[2], _sequence(c, len(form[2]), what))):
        flowing = scatter(f, part, shadows, f"{what}[{index}]")
        if flowing is not None:
            shadows.add_item(form[1], index, flowing)


def _scatter_dict(form: Form, c: Any, shadows: Any, what: str) -> None:
    named = _by_names(c, form[2], what, "key")
    if named is None:
        raise misfit(TypeError, what, f"should be a dict, not {kind_of(c)}")
    for key, part in named.items():
        flowing = scatter(form[2][key], part, shadows, f"{what}[{key!r}]")
        if flowing is not None:
            shadows.add_key(form[1], key, flowing)


def _scatter_method(form: Form, c: Any, shadows: Any, what: str) -> Any:
    return scatter(form[2], c, shadows, what)


def _scatter_partial(form: Form, c: Any, shadows: Any, what: str) -> None:
    args, keywords = _fields_of(c, ("args", "keywords"), what)
    flowing = scatter(form[2], args, shadows, f"{what}.args")
    if flowing is not None:
        shadows.add_attr(form[1], "args", flowing)
    scatter(form[3], keywords, shadows, f"{what}.keywords")


def _scatter_function(form: Form, c: Any, shadows: Any, what: str) -> None:
    names = form[1].__code__.co_freevars
    gradient = closure_gradient_class(form[1].__name__, names)
    if type(c) is gradient:  # in which some variables have other names
        c = tuple(c)
    for name, (cell, inner), part in zip(names, form[2], _fields_of(c, names, what)):
        flowing = scatter(inner, part, shadows, f"{what}.{name}")
        if flowing is not None:
            shadows.add_cell(cell, flowing)


def _scatter_object(form: Form, c: Any, shadows: Any, what: str) -> None:
    for (name, inner), part in zip(form[2].items(), _fields_of(c, form[2], what)):
        flowing = scatter(inner, part, shadows, f"{what}.{name}")
        if flowing is not None:
            shadows.add_attr(form[1], name, flowing)


_SCATTER = {
    "number": _scatter_number, "nothing": _scatter_nothing, "again": _scatter_again, "array": _scatter_array, "numbers": _scatter_numbers,
    "tuple": _scatter_tuple, "list": _scatter_list, "set": _scatter_nothing, "dict": _scatter_dict, "method": _scatter_method,
    "partial": _scatter_partial, "function": _scatter_function, "object": _scatter_object,
}  # fmt: skip


def _by_names(c: Any, names: Iterable[Any], what: str, kind: str = "attribute") -> dict[Any, Any] | None:
    try:
        return by_names(c, names)
    except UnknownName as error:
        raise misfit(TypeError, what, f"has the {kind} {error.name!r}, which the value has not") from None


def _fields_of(c: Any, names: Collection[str], what: str) -> Iterable[Any]:
    """The parts of the cotangent of something with attributes."""
    if type(c) is tuple:
        return _sequence(c, len(names), what)
    if is_number(c) or isinstance(c, (str, list, np.ndarray)):
        raise misfit(
            TypeError, what, f"should have the fields of the value, as a named tuple or object, not be {kind_of(c)}"
        )
    named = _by_names(c, names, what)
    if isinstance(c, dict) and named is not None:
        return [named.get(name) for name in names]
    # (An object may give more by its class: properties, defaults.)
    return [_field(c, name) if named is None or name not in named else named[name] for name in names]


def _field(c: Any, name: str) -> Any:
    value = getattr(c, name, None)
    return getattr(c, name.lstrip("_"), None) if value is None else value


def _as_real(c: Any, what: str) -> Any:
    """The cotangent of a real number, of a complex one the real part: but a caller of a pullback is told."""
    c = _as_number(c, what)
    if not isinstance(c, (complex, np.complexfloating)):
        return c
    if what.startswith(GIVEN):
        raise misfit(TypeError, what, f"should be a real number, not {kind_of(c)}")
    return c.real


def _as_number(c: Any, what: str) -> Any:
    if is_number(c) or isinstance(c, (bool, np.bool_)):
        return float(c) if isinstance(c, (bool, np.bool_)) or type(c) is int else c
    if isinstance(c, np.ndarray) and c.ndim == 0:
        return c[()]
    raise misfit(TypeError, what, f"should be a number, not {kind_of(c)}")


def _sequence(c: Any, length: int, what: str) -> Any:
    if not isinstance(c, (tuple, list, np.ndarray)):
        raise misfit(TypeError, what, f"should be a sequence of {length}, not {kind_of(c)}")
    if len(c) != length:
        raise misfit(ValueError, what, f"should have {length} entries; it has {len(c)}")
    return c


def _add_array(x: np.ndarray, c: Any, shadows: Any, what: str) -> None:
    if not isinstance(c, (np.ndarray, list, tuple)) and not (x.ndim == 0 and is_number(c)):
        raise misfit(TypeError, what, f"should be an array of {x.ndim} dimensions, not {kind_of(c)}")
    c = np.asarray(c)
    if c.dtype.kind not in "fciub":
        raise misfit(TypeError, what, f"should be an array of numbers, not of {c.dtype}")
    if c.dtype.kind == "c" and x.dtype.kind != "c" and what.startswith(GIVEN):
        raise misfit(TypeError, what, f"should be an array of real numbers, not of {c.dtype}")
    if c.shape != x.shape:
        raise misfit(ValueError, what, f"should have the shape {x.shape}, not {c.shape}")
    shadows.add_array(x, c)


def misfit(cls: type[Exception], what: str, said: str) -> Exception:
    """The error of a cotangent that is not as its value is; of one that a rule gave, or another function in the program, with the place."""
    if what.startswith(GIVEN):
        return cls(f"{what} {said}")
    position = foreign.position_of(foreign.place_in_half())
    hint = "return what is like the argument: a number for a number, an array of its shape for an array, a tuple for a tuple, or None"
    if cls is TypeError:
        return Misuse(f"{what} {said}", position, hint=hint)
    return cls(
        "\n".join([f"{what} {said}", *([excerpt(position)] if position is not None else []), f"instead: {hint}"])
    )


def kind_of(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def refuse(form: Form, refused: Refused, shadows: Any) -> Any:
    """Pass a refusal on to all numbers in a value; what flows is the result."""
    return _refuse(form, refused, shadows, set())


def _refuse(form: Form, refused: Refused, shadows: Any, met: set[int]) -> Any:
    """`met`: the forms that it has come to, which may hold themselves."""
    kind = form[0]
    if kind == "number":
        return refused
    if kind not in ("tuple", "method"):  # whose parts flow to who holds them, each time
        if id(form) in met:
            return None
        met.add(id(form))
    if kind == "array":
        shadows.add_array(form[1], refused)
    elif kind == "numbers":
        for index in range(form[2]):
            shadows.add_item(form[1], index, refused)
    elif kind == "tuple":
        flowing = tuple([_refuse(f, refused, shadows, met) for f in form[2]])
        return None if all(p is None for p in flowing) else flowing
    elif kind == "list":
        for index, f in enumerate(form[2]):
            if (c := _refuse(f, refused, shadows, met)) is not None:
                shadows.add_item(form[1], index, c)
    elif kind == "dict":
        for key, f in form[2].items():
            if (c := _refuse(f, refused, shadows, met)) is not None:
                shadows.add_key(form[1], key, c)
    elif kind == "set":
        for item, f in zip(form[2], parts_of(form)):
            if (c := _refuse(f, refused, shadows, met)) is not None:
                shadows.add_key(form[1], item, c)
    elif kind == "object":
        for name, f in form[2].items():
            if (c := _refuse(f, refused, shadows, met)) is not None:
                shadows.add_attr(form[1], name, c)
    elif kind == "function":
        for cell, f in form[2]:
            if (c := _refuse(f, refused, shadows, met)) is not None:
                shadows.add_cell(cell, c)
    elif kind == "method":
        return _refuse(form[2], refused, shadows, met)
    elif kind == "partial":
        if (c := _refuse(form[2], refused, shadows, met)) is not None:
            shadows.add_attr(form[1], "args", c)
        _refuse(form[3], refused, shadows, met)
    return None
