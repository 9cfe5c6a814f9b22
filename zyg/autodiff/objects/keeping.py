"""What the pullback of a user's rule keeps is what that was when the rule returned, whatever happens to it later.

What the rule itself has made, its functions and the arrays, lists and dicts in their variables, the pullback has copies of.  What cannot
be copied, objects and functions that the rule was given, is as it was while the pullback runs (`captured.py`): so what such a function
changes itself, as that of `zyg.hook` does that counts or notes what it sees, is the program's.
"""

from __future__ import annotations

import functools
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from zyg.errors import Unsupported

from . import foreign, memory, structure
from .arithmetic import find
from .backs import run, run_unshifted
from .captured import CONSTANTS, Attribute, Captured, Place, one_at_a_time


def kept(user: Any, rule: Any, f: Any) -> Any:
    """The pullback with copies of what it has captured. What the rule itself had captured before is not its to keep."""
    copies = _Copies(rule)
    made = copies.of(user)
    captured = Captured(copies.others, made, copies.own) if copies.others else None
    return made if captured is None or not captured.holds else Watching(made, captured, f)


def kept_in_turn(user: Any, rule: Any, f: Any) -> tuple[Any, Any]:
    """The same where this is differentiated in turn: with the arrays themselves, by which their derivatives are found, and which are
    not to be written then.  Functions that were given have copies, too, to run where the program changes what they have captured."""
    copies = _Copies(rule, with_arrays=False)
    made = copies.of(user)
    error = _error(f, foreign.caller(), _WRITTEN)
    for array in copies.arrays:
        memory.keep(array, error)
    captured = Captured(copies.others, made, copies.own)
    if not captured.holds:
        return made, None if made is user else (_run_kept, [(structure.form(made), structure.form(user))])
    second = _Copies(rule, with_arrays=False, left=captured.left).of(user)
    pairs = [(structure.form(g), structure.form(user)) for g in (made, second) if g is not user]
    watching = Watching(made, captured, f, _Second(second, captured))
    return watching, (_run_kept, pairs) if pairs else None


def _run_kept(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """What has come to the copies belongs to what they are copies of."""
    for copy, original in back[1]:
        structure.scatter(original, structure.gather(copy, None, shadows, take=True), shadows)


_WRITTEN, _CHANGES = "an array that is written", "an object that changes"


def _error(f: Any, place: Any, what: str) -> Unsupported:
    return Unsupported(
        f"a derivative through the rule for {foreign.name_of(f)}, whose pullback keeps {what} afterwards",
        foreign.position_of(place),
        hint="let the rule keep a copy, or the function that it was given (`lambda d, k=o.k: k * d`)",
    )


class _Copies:
    """with_arrays: arrays are copied, too. left: functions that the rule was given are copied, but for what stands in these places."""

    def __init__(self, rule: Any, with_arrays: bool = True, left: frozenset[Any] | None = None):
        self.own = set(map(id, getattr(rule, "__closure__", None) or ()))
        self.code = _code_of(rule)
        self.with_arrays = with_arrays
        self.left = left
        self.made: dict[int, Any] = {}
        self.arrays: list[np.ndarray] = []
        self.others: list[Any] = []  # what is not copied

    def of(self, x: Any) -> Any:
        if type(x) in CONSTANTS:
            return x
        if id(x) not in self.made:
            self.made[id(x)] = x  # what contains itself
            self.made[id(x)] = x if self.left is not None and (id(x),) in self.left else self._copy(x)
        return self.made[id(x)]

    def _copy(self, x: Any) -> Any:
        cls = type(x)
        if isinstance(x, np.ndarray):
            self.arrays.append(x)
            return x.copy() if self.with_arrays else x
        if cls is FunctionType and (self.left is not None or self._is_own(x)):
            return self._function(x)
        if cls is tuple or cls is list:
            items = [self.of(i) for i in x]
            return x if cls is tuple and all(a is b for a, b in zip(items, x)) else cls(items)
        if cls is dict:
            return {k: self.of(v) for k, v in x.items()}
        if cls is functools.partial and (self.left is not None or self._is_own(x.func)):
            return functools.partial(self.of(x.func), *map(self.of, x.args), **self.of(x.keywords))
        if not issubclass(cls, (type, ModuleType)) and not (
            cls is BuiltinFunctionType and type(x.__self__) is ModuleType
        ):
            self.others.append(x)
        return x

    def _is_own(self, f: Any) -> bool:
        """Whether the rule has made a function."""
        return type(f) is FunctionType and self.code is not None and _is_in(f.__code__, self.code)

    def _function(self, f: FunctionType) -> Any:
        if f.__closure__ is None and f.__defaults__ is None and f.__kwdefaults__ is None:
            return f
        given = not self._is_own(f)  # whose variables may be bound anew
        cells: list[CellType] = []
        contents: list[tuple[CellType, Any]] = []
        for cell in f.__closure__ or ():
            left = id(cell) in self.own or (self.left is not None and (id(cell),) in self.left)
            found = _CONSTANT if left else _content(cell)
            if id(cell) in self.made:
                cell = self.made[id(cell)]
            elif type(found) not in CONSTANTS or (given and found is not _CONSTANT):
                self.made[id(cell)] = cell = CellType()
                contents.append((cell, found))
            cells.append(cell)
        made = FunctionType(f.__code__, f.__globals__, f.__name__, self.of(f.__defaults__), tuple(cells))
        made.__kwdefaults__ = self.of(f.__kwdefaults__)
        made.__dict__.update(f.__dict__)
        self.made[id(f)] = made  # it may have captured itself
        changed = given or made.__defaults__ is not f.__defaults__ or made.__kwdefaults__ is not f.__kwdefaults__
        for cell, found in contents:
            cell.cell_contents = self.of(found)
            changed = changed or cell.cell_contents is not found
        return made if changed else f


def _code_of(rule: Any) -> Any:
    if isinstance(rule, functools.partial):
        return _code_of(rule.func)
    if isinstance(rule, MethodType):
        return _code_of(rule.__func__)
    return getattr(rule if isinstance(rule, FunctionType) else find(type(rule), "__call__"), "__code__", None)


def _is_in(code: CodeType, outer: CodeType) -> bool:
    """Whether a function is made in another one."""
    return any(c is code or _is_in(code, c) for c in outer.co_consts if isinstance(c, CodeType))


_CONSTANT = None


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _CONSTANT


class _Second:
    """A pullback of which functions that the rule was given are copies, too."""

    def __init__(self, user: Any, captured: Captured):
        self.user = user
        own = Captured([user], left=captured.left)
        self.of = captured.places - own.places  # what it has copies of, wholly
        self.before = [(state, state.content) for place, state in captured.held if place in self.of]
        self.copies = [(place, state.content) for place, state in own.held if place not in captured.places]

    def is_as_it_was(self) -> bool:
        """Whether no function has changed since what it has copies of."""
        return all(state.content is content for state, content in self.before)

    def has_changed(self) -> bool:
        return not all(place.has(content) for place, content in self.copies)


class Watching:
    """A pullback that has objects, or functions that its rule was given, with what they have captured."""

    def __init__(self, user: Any, captured: Captured, f: Any, second: _Second | None = None):
        self.user, self.captured, self.f, self.second = user, captured, f, second
        self.caller = foreign.caller()

    def __call__(self, *ds: Any) -> Any:
        return self.captured.run(functools.partial(self.user, *ds), self.refused, self.lost)

    def refused(self, place: Place) -> Unsupported:
        return _error(self.f, self.caller, _WRITTEN if isinstance(place.x, np.ndarray) else _CHANGES)

    def lost(self) -> Unsupported:
        return Unsupported(
            f"a function that the rule for {foreign.name_of(self.f)} was given, which changes something that it captured, and that the "
            "program has changed since: one of the changes would be lost",
            foreign.position_of(self.caller),
            hint="let the function change what only it changes, or let its own code do that (`seen.append(d)`, `seen[key] = d`)",
        )


def call_in_turn(watching: Watching, *ds: Any) -> tuple[Any, Any]:
    from . import calls

    captured, second, user = watching.captured, watching.second, watching.user
    with one_at_a_time:
        changed = captured.changed()
        copied = [] if second is None else [change for change in changed if change[0] in second.of]
        if second is not None and copied:
            if not second.is_as_it_was():
                raise watching.refused(copied[0][0])
            user = second.user
        shown = [change for change in changed if change not in copied]
        attributes: list[tuple[Any, str, Exception]] = []
        for place, _, _ in shown:
            if not isinstance(place, Attribute):
                raise watching.refused(place)
            attributes.append((place.x, place.name, watching.refused(place)))
        y, back = captured.run_showing(shown, lambda: calls.call(user, ds), watching.lost)
        if second is not None and copied and second.has_changed():
            raise watching.lost()
    if back is None:
        return y, None
    return y, (run_unshifted, (_run_shown, back, attributes) if attributes else back)


def _run_shown(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Attributes were what they had been: what comes to them would be taken for the cotangent of what is there now."""
    _, inner, attributes = back
    before = [shadows.take_attr(x, name) for x, name, _ in attributes]
    given = run(inner, d, shadows)
    for (x, name, error), held in zip(attributes, before):
        if shadows.take_attr(x, name) is not None:
            raise error
        if held is not None:
            shadows.add_attr(x, name, held)
    return given
