"""What the pullback of a user's rule keeps is what that was when the rule returned, whatever happens to it later: the contents of
arrays, lists and dicts, and the variables of functions that the rule was given.

What such a function changes itself, as that of `zyg.hook` does that counts or notes what it sees, is the program's: it finds it as it is,
and leaves its changes there.  Which that is, is told by its code (`effects.changed_names`); where it changes a copy nevertheless, that is
refused.
"""

from __future__ import annotations

import contextlib
import functools
from itertools import zip_longest
from types import CellType, CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from zyg.errors import Unsupported
from zyg.typeof import plain_class

from . import foreign, memory, structure
from .arithmetic import find
from .backs import run_unshifted
from .effects import Changed, changed_names


def kept(user: Any, rule: Any, f: Any) -> Any:
    """The pullback with copies of what it has captured. What the rule itself had captured before is not its to keep."""
    keeping = _Keeping(rule)
    made = keeping.of(user)
    return Watching(made, keeping, f) if keeping.watched or keeping.copies else made


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
    return (Watching(made, keeping, f) if keeping.watched or keeping.copies else made), back


def _run_kept(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """What has come to the copies belongs to what they are copies of."""
    _, copy, original = back
    structure.scatter(original, structure.gather(copy, None, shadows, take=True), shadows)


def _error(f: Any, what: str) -> Unsupported:
    return Unsupported(
        f"a derivative through the rule for {foreign.name_of(f)}, whose pullback keeps {what} afterwards",
        foreign.position_of(foreign.caller()),
        hint="let the rule keep a copy, or the function that it was given (`lambda d, k=o.k: k * d`)",
    )


class _Keeping:
    def __init__(self, rule: Any, with_arrays: bool = True):
        self.own = set(map(id, getattr(rule, "__closure__", None) or ()))
        self.code = getattr(rule, "__code__", None)
        self.with_arrays = with_arrays
        self.made: dict[int, Any] = {}
        self.arrays: list[np.ndarray] = []
        self.watched: list[Any] = []  # objects, which cannot be copied
        self.changing: dict[
            int, frozenset[str]
        ] = {}  # of objects, by identity: attributes that functions change themselves
        self.copies: list[Any] = []  # of what functions that the rule was given have
        self.given = 0  # such functions that are being copied

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
            return self._copied(x.copy()) if self.with_arrays else x
        if isinstance(x, FunctionType):
            return self._function(x)
        cls = type(x)
        if cls is tuple or cls is list:
            items = [self.of(i) for i in x]
            return x if cls is tuple and all(a is b for a, b in zip(items, x)) else self._copied(cls(items))
        if cls is dict:
            return self._copied({k: self.of(v) for k, v in x.items()})
        if cls is functools.partial:
            return self._partial(x)
        if cls is MethodType:
            self._called_with(x.__func__, x.__self__)
        elif not isinstance(x, (type, ModuleType)) and _attributes(x):
            self.watched.append(x)
            if self.code is not None:
                self._called_with(find(cls, "__call__"), x)
        return x

    def _copied(self, x: Any) -> Any:
        if self.given and type(x) is not tuple:
            self.copies.append(x)
        return x

    def _called_with(self, f: Any, x: Any) -> None:
        """A function that is given an object first, which it may change."""
        if type(f) is FunctionType and f.__code__.co_argcount:
            self._changes(x, changed_names(f.__code__).contents.get(f.__code__.co_varnames[0]))
        self.of(x)

    def _changes(self, x: Any, attributes: frozenset[str] | None) -> None:
        if attributes:
            self.changing[id(x)] = self.changing.get(id(x), frozenset()) | attributes

    def _partial(self, x: functools.partial[Any]) -> Any:
        code = getattr(x.func, "__code__", None)
        changed = changed_names(code).contents if type(code) is CodeType else {}
        names = code.co_varnames if type(code) is CodeType else ()
        self.given += 1
        args = [self._content(v, changed.get(n)) for n, v in zip_longest(names[: len(x.args)], x.args)]
        keywords = {n: self._content(v, changed.get(n)) for n, v in x.keywords.items()}
        self.given -= 1
        return functools.partial(self.of(x.func), *args, **keywords)

    def _content(self, x: Any, attributes: frozenset[str] | None) -> Any:
        """What stands in a variable, of which this may be changed."""
        if attributes and isinstance(x, (np.ndarray, list, dict)):
            return x
        self._changes(x, attributes)
        return self.of(x)

    def _function(self, f: FunctionType) -> Any:
        if f.__closure__ is None and f.__defaults__ is None and f.__kwdefaults__ is None:
            return f
        given = self.code is not None and not _is_in(f.__code__, self.code)  # whose variables may be bound anew
        changes = changed_names(f.__code__) if given else _NOTHING
        cells: list[CellType] = []
        contents: list[tuple[CellType, Any, frozenset[str] | None]] = []
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            found = _CONSTANT if id(cell) in self.own or name in changes.bound else _content(cell)
            if type(found) not in _CONSTANTS or (given and found is not _CONSTANT):
                cell = CellType()
                contents.append((cell, found, changes.contents.get(name)))
            cells.append(cell)
        made = FunctionType(f.__code__, f.__globals__, f.__name__, self.of(f.__defaults__), tuple(cells))
        made.__kwdefaults__ = self.of(f.__kwdefaults__)
        self.made[id(f)] = made  # it may have captured itself
        changed = given or made.__defaults__ is not f.__defaults__ or made.__kwdefaults__ is not f.__kwdefaults__
        self.given += given
        for cell, found, attributes in contents:
            cell.cell_contents = self._content(found, attributes)
            changed = changed or cell.cell_contents is not found
        self.given -= given
        return made if changed else f


def _attributes(x: Any, but: frozenset[str] = frozenset()) -> list[Any]:
    if "*" in but:
        return []
    held = [v for n, v in getattr(x, "__dict__", {}).items() if n not in but]
    for cls in type(x).__mro__:
        for n, slot in vars(cls).items():
            if type(slot) is MemberDescriptorType and n not in but and cls.__flags__ & _MADE_BY_A_STATEMENT:
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


_NOTHING = Changed(frozenset(), {})
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
        but = lambda x: keeping.changing.get(id(x), frozenset())
        self.numbers = [(x.__dict__, numbers) for x in keeping.watched if (numbers := _numbers_of(x, but(x)))]
        self.others = [(x, but(x), _numbers_held(x, but(x))) for x in keeping.watched]
        arrays = [a for x in keeping.watched for a in _arrays_in(_attributes(x, but(x)))] if keeping.with_arrays else []
        self.written = [memory.watch(array) for array in arrays]
        self.errors = _error(f, "an array that is written"), _error(f, "an object that changes")
        self.copies = [(x, _contents(x)) for x in keeping.copies]
        self.lost = Unsupported(
            f"a function that the rule for {foreign.name_of(f)} was given, which changes something that it captured in a way that zyg does not "
            "follow: the change would be lost",
            foreign.position_of(foreign.caller()),
            hint="let the function itself change it (`seen.append(d)`, `seen[key] = d`), or let it be a global variable",
        )

    def check(self) -> None:
        if any(self.written):
            raise self.errors[0]
        if any(_numbers_held(x, but) != before for x, but, before in self.others):
            raise self.errors[1]

    def check_copies(self) -> None:
        if any(_contents(x) != before for x, before in self.copies):
            raise self.lost

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
            given = self.user(*ds)
            self.check_copies()
            return given
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
    watching.check_copies()
    return y, None if back is None else (run_unshifted, back)


def _contents(x: Any) -> Any:
    """What tells whether a list, dict or array was changed."""
    if isinstance(x, np.ndarray):
        return x.tobytes()
    return [*map(id, x), *map(id, x.values())] if isinstance(x, dict) else [*map(id, x)]


def _numbers_of(x: Any, but: frozenset[str]) -> dict[str, Any]:
    """The floats that an object has as attributes (an integer may count something)."""
    if not plain_class(type(x)) or "*" in but:
        return {}
    return {n: v for n, v in getattr(x, "__dict__", {}).items() if n not in but and isinstance(v, (float, complex))}


def _numbers_held(x: Any, but: frozenset[str]) -> list[str]:
    """The floats in its slots, and in lists and dicts that it has."""
    if not plain_class(type(x)):
        return []
    own = set(map(id, getattr(x, "__dict__", {}).values()))
    found: list[Any] = []
    for v in _attributes(x, but):
        if isinstance(v, (list, dict)):
            found += v.values() if isinstance(v, dict) else v
        elif id(v) not in own:
            found.append(v)
    return [repr(v) for v in found if isinstance(v, (float, complex))]
