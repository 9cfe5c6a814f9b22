"""What the pullback of a user's rule keeps is what that was when the rule returned, whatever happens to it later.

The pullback has the very objects: what shares memory or is one object is so for it, and what it changes is the program's.  Where the
program has changed something since, that is as it was while the pullback runs (`captured.py`).
"""

from __future__ import annotations

import functools
from sys import getrefcount
from types import BuiltinFunctionType, CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from zyg.errors import Unsupported

from . import foreign, gathering, scattering, structure
from .backs import run, run_unshifted
from .captured import CONSTANTS, Attribute, Captured, Made, Place, content_of, one_at_a_time


def kept(user: Any, rule: Any, f: Any) -> Any:
    """The pullback, which finds what it has captured as that is now. What the rule itself had captured before is not its to keep."""
    alone = getrefcount(user) <= _CALLERS
    captured = _captured(user, rule, alone)
    return user if captured is None else Watching(user, captured, f)


def kept_in_turn(user: Any, rule: Any, f: Any) -> tuple[Any, Any]:
    """The same where this is differentiated in turn. Derivatives by what has been put back would be lost: the pullback has a copy, but
    for arrays and objects, to run where the program has changed what that has copies of."""
    alone = getrefcount(user) <= _CALLERS
    captured = _captured(user, rule, alone)
    if captured is None:
        return user, None
    second = _Copies(captured.of, captured.left).of(user)
    back = (_run_kept, structure.form(second), structure.form(user)) if second is not user else None
    return Watching(user, captured, f, _Second(second, captured)), back


_CALLERS = 3  # what getrefcount says of what the variables of a function and of its caller refer to


def _captured(user: Any, rule: Any, alone: bool) -> Captured | None:
    """What a pullback has captured, if something of it may change. alone: only who asks has the pullback."""
    made = Made(rule)
    its_own: frozenset[int] = made.alone_in(user) if alone else frozenset()
    if made.holds_nothing(user, its_own):
        return None
    captured = Captured(user, made, its_own)
    return captured if captured.holds else None


def _run_kept(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What has come to the pullback, and to what is in its copy, belongs to what that is a copy of."""
    _, copy, original = back
    scattering.scatter(original, gathering.gather(copy, None, shadows, take=True), shadows)


_WRITTEN, _CHANGES = "an array that is written", "an object that changes"


def _error(f: Any, place: Any, what: str) -> Unsupported:
    return Unsupported(
        f"a derivative through the rule for {foreign.name_of(f)}, whose pullback keeps {what} afterwards",
        foreign.position_of(place),
        hint="let the rule keep a copy, or the function that it was given (`lambda d, k=o.k: k * d`)",
    )


class _Copies:
    """Copies of functions, with their variables, and of lists and the like in these, but for what stands in the places `left`."""

    def __init__(self, made: Made, left: frozenset[Any]):
        self.of_rule = made
        self.left = left
        self.made: dict[int, Any] = {}

    def of(self, x: Any) -> Any:
        if type(x) in CONSTANTS:
            return x
        if id(x) not in self.made:
            self.made[id(x)] = x  # what contains itself
            self.made[id(x)] = x if (id(x),) in self.left else self._copy(x)
        return self.made[id(x)]

    def _copy(self, x: Any) -> Any:
        cls = type(x)
        if cls is FunctionType:
            return self._function(x)
        if cls is tuple or cls is list:
            items = [self.of(i) for i in x]
            return x if cls is tuple and all(a is b for a, b in zip(items, x)) else cls(items)
        if cls is dict:
            return {k: self.of(v) for k, v in x.items()}
        if cls is functools.partial:
            return functools.partial(self.of(x.func), *map(self.of, x.args), **self.of(x.keywords))
        return x

    def _function(self, f: FunctionType) -> Any:
        if f.__closure__ is None and f.__defaults__ is None and f.__kwdefaults__ is None:
            return f
        given = not self.of_rule.has(f)  # whose variables may be bound anew
        cells: list[CellType] = []
        contents: list[tuple[CellType, Any]] = []
        for cell in f.__closure__ or ():
            left = id(cell) in self.of_rule.own or (id(cell),) in self.left
            found = None if left else content_of(cell)
            if id(cell) in self.made:
                cell = self.made[id(cell)]
            elif type(found) not in CONSTANTS or (given and found is not None):
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


class _Second:
    """A pullback of which functions that the rule was given are copies, too."""

    def __init__(self, user: Any, captured: Captured):
        self.user = user
        own = Captured(user, captured.of, left=captured.left)
        self.of = captured.places - own.places  # what it has copies of, wholly
        self.before = [(state, state.content) for place, state in captured.held if place in self.of]
        self.copies = [(place, state.content) for place, state in own.held if place not in captured.places]

    def is_as_it_was(self) -> bool:
        """Whether no function has changed since what it has copies of."""
        return all(state.content is content for state, content in self.before)

    def has_changed(self) -> bool:
        return not all(place.has(content) for place, content in self.copies)


# (An object that can be called may be the cotangent of one.)
_ADDERS = (FunctionType, BuiltinFunctionType, MethodType, functools.partial)


class Watching:
    """A pullback that has objects, or functions that its rule was given, with what they have captured."""

    def __init__(self, user: Any, captured: Captured, f: Any, second: _Second | None = None):
        self.user, self.captured, self.f, self.second = user, captured, f, second
        self.caller = foreign.caller()

    def __call__(self, *ds: Any) -> Any:
        given = self._run(self.user, *ds)
        return (
            tuple([self._adding(c) if isinstance(c, _ADDERS) else c for c in given]) if type(given) is tuple else given
        )

    def _run(self, function: Any, *args: Any) -> Any:
        return self.captured.run(functools.partial(function, *args), self.refused, self.lost)

    def _adding(self, adder: Any) -> Any:
        """What adds a cotangent to what it is given is called later, and finds what the pullback finds."""
        return lambda *args: self._run(adder, *args)

    def refused(self, place: Place) -> Unsupported:
        return _error(self.f, self.caller, _WRITTEN if isinstance(place.x, np.ndarray) else _CHANGES)

    def lost(self) -> Unsupported:
        return Unsupported(
            f"the pullback of the rule for {foreign.name_of(self.f)}, or a function that the rule was given, which changes something that "
            "it captured, and that the program has changed since: one of the changes would be lost",
            foreign.position_of(self.caller),
            hint="let it change what only it changes, a copy of an array, or let its own code do that (`seen.append(d)`, `seen[key] = d`)",
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
