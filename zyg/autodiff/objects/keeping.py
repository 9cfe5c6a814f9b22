"""What the pullback of a user's rule keeps is what that was when the rule returned, whatever happens to it later: the contents of
arrays, lists and dicts, and the variables of functions that the rule was given."""

from __future__ import annotations

import contextlib
import functools
from types import CellType, CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from zyg.errors import Unsupported
from zyg.typeof import plain_class

from . import foreign, memory, structure
from .backs import run_unshifted


def kept(user: Any, rule: Any, f: Any) -> Any:
    """The pullback with copies of what it has captured. What the rule itself had captured before is not its to keep."""
    keeping = _Keeping(rule)
    made = keeping.of(user)
    return Watching(made, keeping, f) if keeping.watched else made


def kept_in_turn(user: Any, rule: Any, f: Any) -> tuple[Any, Any]:
    """The same where this is differentiated in turn: with the arrays themselves, by which their derivatives are found, and which are
    not to be written then."""
    keeping = _Keeping(rule, with_arrays=False)
    made = keeping.of(user)
    error = _error(f, "an array that is written")
    for array in keeping.arrays:
        memory.keep(array, error)
    for x in keeping.watched:
        for array in _arrays_in(_attributes(x)):
            memory.keep(array, error)
    back = None if made is user else (_run_kept, structure.form(made), structure.form(user))
    return (Watching(made, keeping, f) if keeping.watched else made), back


def _run_kept(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """What has come to the copies belongs to what they are copies of."""
    _, copy, original = back
    structure.scatter(original, structure.gather(copy, None, shadows, take=True), shadows)


def _error(f: Any, what: str) -> Unsupported:
    return Unsupported(
        f"a derivative through the rule for {foreign.name_of(f)}, whose pullback keeps {what} afterwards",
        foreign.position_of(foreign.caller()),
        hint="let the rule keep a copy",
    )


class _Keeping:
    def __init__(self, rule: Any, with_arrays: bool = True):
        self.own = set(map(id, getattr(rule, "__closure__", None) or ()))
        self.code = getattr(rule, "__code__", None)
        self.with_arrays = with_arrays
        self.made: dict[int, Any] = {}
        self.arrays: list[np.ndarray] = []
        self.watched: list[Any] = []  # objects, which cannot be copied

    def of(self, x: Any) -> Any:
        if type(x) in _CONSTANTS:
            return x
        if id(x) not in self.made:
            self.made[id(x)] = x  # what contains itself
            self.made[id(x)] = self._copy(x)
        return self.made[id(x)]

    def _copy(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            self.arrays.append(x)
            return x.copy() if self.with_arrays else x
        if isinstance(x, FunctionType):
            return self._function(x)
        cls = type(x)
        if cls is tuple or cls is list:
            items = [self.of(i) for i in x]
            return x if cls is tuple and all(a is b for a, b in zip(items, x)) else cls(items)
        if cls is dict:
            return {k: self.of(v) for k, v in x.items()}
        if cls is functools.partial:
            return functools.partial(self.of(x.func), *map(self.of, x.args), **self.of(x.keywords))
        if cls is MethodType:
            self.of(x.__self__)
        elif not isinstance(x, (type, ModuleType)) and _attributes(x):
            self.watched.append(x)
        return x

    def _function(self, f: FunctionType) -> Any:
        if f.__closure__ is None and f.__defaults__ is None and f.__kwdefaults__ is None:
            return f
        given = self.code is not None and not _is_in(f.__code__, self.code)  # whose variables may be bound anew
        cells: list[CellType] = []
        contents: list[tuple[CellType, Any]] = []
        for cell in f.__closure__ or ():
            found = _CONSTANT if id(cell) in self.own else _content(cell)
            if type(found) not in _CONSTANTS or (given and found is not _CONSTANT):
                cell = CellType()
                contents.append((cell, found))
            cells.append(cell)
        made = FunctionType(f.__code__, f.__globals__, f.__name__, self.of(f.__defaults__), tuple(cells))
        made.__kwdefaults__ = self.of(f.__kwdefaults__)
        self.made[id(f)] = made  # it may have captured itself
        changed = given or made.__defaults__ is not f.__defaults__ or made.__kwdefaults__ is not f.__kwdefaults__
        for cell, found in contents:
            cell.cell_contents = self.of(found)
            changed = changed or cell.cell_contents is not found
        return made if changed else f


def _attributes(x: Any) -> list[Any]:
    held = list(getattr(x, "__dict__", {}).values())
    for cls in type(x).__mro__:
        for slot in vars(cls).values():
            if type(slot) is MemberDescriptorType and cls.__flags__ & _MADE_BY_A_STATEMENT:
                with contextlib.suppress(AttributeError):
                    held.append(slot.__get__(x))
    return held


_MADE_BY_A_STATEMENT = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def _arrays_in(items: Any) -> list[np.ndarray]:
    """The arrays among these, and in lists, tuples and dicts among them."""
    found: list[np.ndarray] = []
    for v in items:
        if isinstance(v, np.ndarray):
            found.append(v)
        elif isinstance(v, (list, tuple, dict)):
            found += [i for i in (v.values() if isinstance(v, dict) else v) if isinstance(i, np.ndarray)]
    return found


def _is_in(code: CodeType, outer: CodeType) -> bool:
    """Whether a function is made in another one."""
    return any(c is code or _is_in(code, c) for c in outer.co_consts if isinstance(c, CodeType))


_CONSTANT = None
_CONSTANTS = frozenset({type(None), bool, int, float, complex, str, bytes})


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _CONSTANT


class Watching:
    """A pullback that has objects, whose numbers are for it what they were. It is refused if an array in one is written, or a number
    in a list."""

    def __init__(self, user: Any, keeping: _Keeping, f: Any):
        self.user = user
        self.numbers = [(x.__dict__, numbers) for x in keeping.watched if (numbers := _numbers_of(x))]
        self.others = [(x, _numbers_held(x)) for x in keeping.watched]
        arrays = [a for x in keeping.watched for a in _arrays_in(_attributes(x))] if keeping.with_arrays else []
        self.written = [memory.watch(array) for array in arrays]
        self.errors = _error(f, "an array that is written"), _error(f, "an object that changes")

    def check(self) -> None:
        if any(self.written):
            raise self.errors[0]
        if any(_numbers_held(x) != before for x, before in self.others):
            raise self.errors[1]

    def changed(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Attributes that are other numbers by now, with what they were."""
        found = [(space, {n: v for n, v in held.items() if space.get(n) is not v}) for space, held in self.numbers]
        return [(space, held) for space, held in found if held]

    def __call__(self, *ds: Any) -> Any:
        self.check()
        changed = self.changed()
        now = [{n: space[n] for n in held if n in space} for space, held in changed]
        for space, held in changed:
            space.update(held)
        try:
            return self.user(*ds)
        finally:
            for (space, held), values in zip(changed, now):
                for n in [n for n, v in held.items() if space.get(n) is v]:  # else the pullback itself has changed it
                    if n in values:
                        space[n] = values[n]
                    else:
                        del space[n]


def call_in_turn(watching: Watching, *ds: Any) -> tuple[Any, Any]:
    from . import calls

    watching.check()
    if watching.changed():
        raise watching.errors[1]
    y, back = calls.call(watching.user, ds)
    return y, None if back is None else (run_unshifted, back)


def _numbers_of(x: Any) -> dict[str, Any]:
    """The floats that an object has as attributes (an integer may count something)."""
    if not plain_class(type(x)):
        return {}
    return {n: v for n, v in getattr(x, "__dict__", {}).items() if isinstance(v, (float, complex))}


def _numbers_held(x: Any) -> list[str]:
    """The floats in its slots, and in lists and dicts that it has."""
    if not plain_class(type(x)):
        return []
    own = set(map(id, getattr(x, "__dict__", {}).values()))
    found: list[Any] = []
    for v in _attributes(x):
        if isinstance(v, (list, dict)):
            found += v.values() if isinstance(v, dict) else v
        elif id(v) not in own:
            found.append(v)
    return [repr(v) for v in found if isinstance(v, (float, complex))]
