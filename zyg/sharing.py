"""Compiled code for callables that are made anew: `zyg.grad(f)` in each round of a loop is compiled once.

Two functions are the same to the compiler if their code objects are, with the same globals and defaults, and if what they
have captured is: data of whatever value (it is read at each call), or functions that are the same in this sense.  Code that
was compiled for one is then code for the other, once its guards and hidden inputs name the other's cells.

Refusals are shared in the same way, by the kinds of the arguments and of the captured data: what native code refuses is not
compiled in vain for each function made anew.

What is kept here refers to no function and no cell, so it keeps nothing alive that a user has captured.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from zyg.ir.plainly import get_plainly

from . import rules
from .assumptions import Input
from .errors import Unsupported, type_text
from .fallback import KNOWN_BY_IDENTITY, Refusal, cell_kind, kinds_of, names_of
from .homes import home
from .ir.records import record, replace
from .pipeline import Compiled
from .rules import Rule
from .transforms import Transform, transform_of

T = TypeVar("T")
KEPT = 32  # functions; programs that make functions without end must not grow without end
SEVERAL = 4  # versions for one shape, which differ in the constants that they take globals and attributes for


@record(frozen=True)
class Place:
    """Stands for an object that belongs to one of the functions."""

    number: int


@record(frozen=True)
class Refused:
    """Why a call has no native code, as long as there are the same rules and names stand for what they stood for."""

    error: Unsupported
    epoch: int


@record
class Shape:
    """`key` is equal for what is the same to the compiler; `objects` are what belongs to this one, in order."""

    key: Hashable
    objects: list[Any]

    def places(self) -> dict[int, Place]:
        """The places of the objects, by identity."""
        return {id(value): Place(n) for n, value in reversed([*enumerate(self.objects)])}

    def place_to_object(self, value: Any) -> Any:
        return self.objects[value.number] if type(value) is Place else value


_compiled: dict[Hashable, list[Compiled]] = {}
_refused: dict[Hashable, Refused] = {}
_PLAIN = (type(None), bool, int, float, str)


def shape_of(transform: Transform) -> Shape | None:
    """The shape of what a callable stands for; None if its code cannot be another's."""
    objects: list[Any] = []
    levels: list[Hashable] = [(transform.kind, transform.argnums, transform.options, transform.has_aux)]
    function: Any = transform.function
    while (inner := transform_of(function)) is not None:
        objects.append(function)
        levels.append((inner.kind, inner.argnums, inner.options, inner.has_aux))
        function = inner.function
    found = _function(function, objects)
    return None if found is None else Shape((tuple(levels), found), objects)


def _function(function: Any, objects: list[Any]) -> Hashable | None:
    if not isinstance(function, types.FunctionType) or function.__kwdefaults__ or function.__dict__:
        return None
    defaults = function.__defaults__
    if not all(type(v) in _PLAIN for v in defaults or ()):
        return None
    objects.append(function)
    if defaults is not None:
        objects.append(defaults)
    parts: list[Hashable] = []
    for cell in function.__closure__ or ():
        part = _place(cell, objects)
        if part is None:
            objects.append(cell)
            try:
                content = cell.cell_contents
            except ValueError:
                part = "unbound"
            else:
                part = "data"
                if isinstance(content, types.FunctionType):
                    part = _place(content, objects) or _function(content, objects)
                    if part is None:
                        return None
        parts.append(part)
    # Numbers that are equal and not the same (1, 1.0, True; 0.0, -0.0) are told apart by how they are written.
    said = tuple(map(repr, defaults)) if defaults is not None else None
    return _Same(function.__code__), _Same(function.__globals__), said, tuple(parts)


def _place(value: Any, objects: list[Any]) -> Place | None:
    return next((Place(n) for n, known in enumerate(objects) if known is value), None)


class _Same:
    """Compares an object by identity."""

    __slots__ = ("object",)

    def __init__(self, object: Any):
        self.object = object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.object is other.object

    def __hash__(self) -> int:
        return id(self.object)


def find(shape: Shape, *request: Hashable) -> list[Compiled]:
    """What was compiled for functions of this shape, as code for this one, where attributes are what they were then; the
    native entry finds out whether the other guards hold."""
    found = [_renamed(compiled, shape.place_to_object) for compiled in _use(_compiled, (shape.key, request)) or ()]
    return [c for c in found if all(_is_as_it_was(*guard[1:]) for guard in c.inferred.guards if guard[0] == "attr")]


def _is_as_it_was(owner: Any, name: str, expected: Any) -> bool:
    """Whether an attribute of a module or class has the value that code rests on."""
    if getattr(owner, name, None) is expected:
        return True
    first = next((vars(cls) for cls in get_plainly(owner, "__mro__", ()) if name in vars(cls)), {})
    return first.get(name) is expected


def note(shape: Shape, compiled: Compiled, *request: Hashable) -> None:
    """Keep code for other functions of the same shape, if nothing in it is this one's own."""
    places = shape.places()
    if any(id(value) in places for value in compiled.native.objects):
        return
    kept = _renamed(compiled, lambda v: places.get(id(v), v))
    inferred = kept.inferred
    mentioned = [*(v for guard in inferred.guards for v in guard), *(source.container for source in inferred.inputs)]
    if any(_holds_data(v) for v in mentioned):
        return
    others = _compiled.get((shape.key, request), [])
    _keep(_compiled, (shape.key, request), [kept, *others][:SEVERAL])


def find_refusal(shape: Shape, args: tuple[Any, ...], keywords: dict[str, Any]) -> Unsupported | None:
    """Why a call of a function of this shape is refused, if one like it was."""
    refused = _use(_refused, _call_of(shape, args, keywords)) if _refused else None
    if refused is None:
        return None
    error = _copied(refused.error, shape.place_to_object)
    return error if refused.epoch == rules.epoch() and Refusal(error).holds() else None


def note_refusal(shape: Shape, args: tuple[Any, ...], keywords: dict[str, Any], error: Unsupported) -> None:
    """Keep why a call is refused for other functions of the same shape, if nothing in it is this one's own."""
    captured = [cell for cell in shape.objects if isinstance(cell, types.CellType)]
    if any(map(_by_identity, (*args, *keywords.values()))) or any(map(_is_known_by_identity, captured)):
        return
    places = shape.places()
    kept = _copied(error, lambda v: places.get(id(v), v))
    # Of captured data their kinds are part of the call.
    kept.guards = tuple(g for g in kept.guards if not (g[0] == "cell" and type(g[1]) is Place and _holds_data(g[2])))
    if not any(_holds_data(v) for guard in kept.guards for v in guard):
        _keep(_refused, _call_of(shape, args, keywords), Refused(kept, rules.epoch()))


def _call_of(shape: Shape, args: tuple[Any, ...], keywords: dict[str, Any]) -> Hashable:
    captured = tuple(cell_kind(v) for v in shape.objects if isinstance(v, types.CellType))
    return shape.key, kinds_of(args, keywords), captured


def _by_identity(value: Any) -> bool:
    """Whether the kind of a value names objects by identity, which may be gone when the call is made again."""
    if isinstance(value, tuple):
        return any(map(_by_identity, value))
    return isinstance(value, (types.FunctionType, types.MethodType, functools.partial, *KNOWN_BY_IDENTITY))


def _is_known_by_identity(cell: types.CellType) -> bool:
    """(The functions in cells are part of the shape.)"""
    try:
        content = cell.cell_contents
    except ValueError:
        return False
    return not isinstance(content, types.FunctionType) and _by_identity(content)


def _copied(error: Unsupported, rename: Callable[[Any], Any]) -> Unsupported:
    """A refusal without what led to it, and the types as they are written."""
    found = Unsupported(
        error.what, error.position, types=map(type_text, error.types), hint=error.hint, notes=error.notes
    )
    found.guards = tuple((guard[0], *map(rename, guard[1:])) for guard in names_of(error))
    return found


def _use(table: dict[Hashable, T], key: Hashable) -> T | None:
    """What a table has for a key. What is used goes last."""
    if key not in table:
        return None
    table[key] = found = table.pop(key)
    return found


def _keep(table: dict[Hashable, T], key: Hashable, value: T) -> None:
    table.pop(key, None)
    while len(table) >= KEPT:
        table.pop(next(iter(table)))
    table[key] = value


def _holds_data(value: Any) -> bool:
    """Whether a reference to an object could keep alive what a user has made and does not need any more."""
    if type(value) in (*_PLAIN, Place):
        return False
    if isinstance(value, tuple):
        return any(map(_holds_data, value))
    if isinstance(value, types.FunctionType):
        return bool(value.__closure__) and not _is_library(value.__module__)
    if isinstance(value, dict):
        return "__name__" not in value  # else the namespace of a module
    if (transform := transform_of(value)) is not None:
        return transform.function is not None and _holds_data(transform.function)
    if isinstance(value, (types.ModuleType, type, types.CodeType, Rule)) or _is_library(type(value).__module__):
        return False
    return getattr(sys.modules.get(home(value)), get_plainly(value, "__name__", ""), None) is not value


def _is_library(module: str | None) -> bool:
    return module is not None and module.startswith("zyg.library.")


def _renamed(compiled: Compiled, rename: Any) -> Compiled:
    inferred = compiled.inferred
    guards = tuple((guard[0], *map(rename, guard[1:])) for guard in inferred.guards)
    inputs = tuple(Input(s.kind, rename(s.container), s.name, s.type) for s in inferred.inputs)
    return Compiled(replace(inferred, guards=guards, inputs=inputs), compiled.native, compiled.anew)
