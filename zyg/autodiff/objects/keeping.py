"""What the pullback of a user's rule keeps of an array is what that held when the rule returned, whatever happens to it later."""

from __future__ import annotations

import contextlib
import functools
from types import CellType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from zyg.errors import Unsupported

from . import foreign, memory


def kept(user: Any, rule: Any, f: Any) -> Any:
    """The pullback with copies of the arrays that it has captured. What the rule itself had captured before is not its to keep."""
    keeping = _Keeping(rule)
    made = keeping.of(user)
    return _Watching(made, keeping.watched, f) if keeping.watched else made


def unwritten(user: Any, rule: Any, f: Any) -> tuple[Any, None]:
    """The same where this is differentiated in turn: the arrays themselves, by which their derivatives are found, and which are not
    to be written then."""
    keeping = _Keeping(rule)
    keeping.of(user)
    error = _error(f)
    for array in (*keeping.arrays, *keeping.watched):
        memory.keep(array, error)
    return user, None


def _error(f: Any) -> Unsupported:
    return Unsupported(
        f"a derivative through the rule for {foreign.name_of(f)}, whose pullback keeps an array that is written afterwards",
        foreign.position_of(foreign.caller()),
        hint="let the rule keep a copy of the array",
    )


class _Keeping:
    def __init__(self, rule: Any):
        self.own = set(map(id, getattr(rule, "__closure__", None) or ()))
        self.made: dict[int, Any] = {}
        self.arrays: list[np.ndarray] = []
        self.watched: list[np.ndarray] = []  # what objects hold: these cannot be copied

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
            return x.copy()
        if isinstance(x, FunctionType):
            return self._function(x)
        cls = type(x)
        if cls is tuple or cls is list:
            items = [self.of(i) for i in x]
            return x if all(a is b for a, b in zip(items, x)) else cls(items)
        if cls is dict:
            values = {k: self.of(v) for k, v in x.items()}
            return x if all(values[k] is v for k, v in x.items()) else values
        if cls is functools.partial:
            return functools.partial(self.of(x.func), *map(self.of, x.args), **self.of(x.keywords))
        if cls is MethodType:
            self.of(x.__self__)
        elif not isinstance(x, (type, ModuleType)):
            self.watched += _arrays_in(_attributes(x))
        return x

    def _function(self, f: FunctionType) -> Any:
        if f.__closure__ is None and f.__defaults__ is None and f.__kwdefaults__ is None:
            return f
        cells: list[CellType] = []
        contents: list[tuple[CellType, Any]] = []
        for cell in f.__closure__ or ():
            found = _CONSTANT if id(cell) in self.own else _content(cell)
            if type(found) not in _CONSTANTS:
                cell = CellType()
                contents.append((cell, found))
            cells.append(cell)
        made = FunctionType(f.__code__, f.__globals__, f.__name__, self.of(f.__defaults__), tuple(cells))
        made.__kwdefaults__ = self.of(f.__kwdefaults__)
        self.made[id(f)] = made  # it may have captured itself
        changed = made.__defaults__ is not f.__defaults__ or made.__kwdefaults__ is not f.__kwdefaults__
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


_CONSTANT = None
_CONSTANTS = frozenset({type(None), bool, int, float, complex, str, bytes})


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _CONSTANT


class _Watching:
    """A pullback that has objects with arrays: it is refused if one of these is written."""

    def __init__(self, user: Any, arrays: list[np.ndarray], f: Any):
        self.user = user
        self.written = [memory.watch(array) for array in arrays]
        self.error = _error(f)

    def __call__(self, *ds: Any) -> Any:
        if any(self.written):
            raise self.error
        return self.user(*ds)
