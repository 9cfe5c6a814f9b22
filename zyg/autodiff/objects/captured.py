"""What functions have captured, as it was at a moment of the program.

`Captured(values, ...)` goes through all that the values lead to, by variables of functions, items and attributes, and notes what is in
each place: a cell, an attribute, a list, an array.  `run(call)` calls a function later.  Where the program has changed a place in
between, what was there at that moment is put back while the function runs, into the very object, so that whoever refers to it, by
whatever name, sees it; then comes back what the program has there.  What such functions change themselves stays: in places that the
program has not changed, for the next ones too, as what was there at their moments is noted anew.  Where both have changed a place, the
one change or the other would be lost: that is refused, but for what the code of the function says that it changes (`captured_changes.py`), which it
finds as it is.

So that what was put back is not seen by others, one function runs at a time.
"""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from sys import getrefcount
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, SimpleNamespace
from typing import Any
from weakref import getweakrefcount

import numpy as np

from zyg.transforms import transform_of

from ..identity import ByIdentity
from . import foreign
from .arithmetic import find
from .captured_changes import changed_by_itself, static_attribute
from .captured_places import (
    ABSENT,
    CLOSED,
    CONSTANTS,
    KINDS,
    PLACES,
    Array,
    Attribute,
    Bytes,
    Cell,
    Defaults,
    Dict,
    OwnAttribute,
    Place,
    Slot,
    State,
    one_at_a_time,
    others_in_memory,
    place_of,
    slots_of,
    space_of,
)  # fmt: skip

Change = tuple[Place, State, State]  # with what was, and what is in it


class Made:
    """The functions that a call of another one, a rule, has made, by the code of that one. It is over: what is in their variables stays
    there, but for those that they bind anew themselves."""

    def __init__(self, rule: Any):
        self.own = frozenset(map(id, getattr(rule, "__closure__", None) or ()))  # the variables of the rule itself
        self.by_zyg = str(getattr(rule, "__module__", "")).startswith("zyg.")
        code = _code_of(rule)
        self.codes, self.rebound = (frozenset(), frozenset()) if code is None else _made_in(code)

    def has(self, f: Any) -> bool:
        return type(f) is FunctionType and id(f.__code__) in self.codes

    def alone_in(self, f: Any) -> frozenset[int]:
        """The variables of a function, by identity, with arrays that the program cannot come to: nothing else refers to them, nor to
        what leads there. (`f` itself must not have become known to others.)"""
        if not self.has(f) or f.__closure__ is None or getrefcount(f.__closure__) > _ONE:
            return frozenset()
        # (Nothing here is bound to a variable, which would be one more that refers to it.)
        cells = f.__closure__
        return frozenset(
            [
                id(cells[k])
                for k, name in enumerate(f.__code__.co_freevars)
                if name not in self.rebound
                and getrefcount(cells[k]) == _ONE
                and type(content_of(cells[k])) is np.ndarray
                and getrefcount(cells[k].cell_contents) == _ONE
                and cells[k].cell_contents.base is None
                and getweakrefcount(cells[k].cell_contents) == 0
            ]
        )

    def holds_nothing(self, f: Any, alone: frozenset[int]) -> bool:
        """Whether a function has nothing but constants, and arrays of its own, in variables that stay."""
        if not self.has(f) or f.__defaults__ or f.__kwdefaults__:
            return False
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            if id(cell) in self.own or id(cell) in alone:
                continue
            if name in self.rebound or type(content_of(cell)) not in CONSTANTS:
                return False
        return True

    def given(self, user: Any) -> list[Any]:
        """What else is in the variables of `user` and of other functions of these, and in lists and the like there."""
        found: list[Any] = []
        seen: set[int] = set()
        work = [user]
        while work:
            x = work.pop()
            cls = type(x)
            if cls in CONSTANTS or id(x) in seen:
                continue
            seen.add(id(x))
            if self.has(x):
                work += [content_of(cell) for cell in x.__closure__ or () if id(cell) not in self.own]
                work += [x.__defaults__, x.__kwdefaults__]
            elif cls is functools.partial and (x is user or self.has(x.func)):
                work += [x.args, x.keywords, *([x.func] if self.has(x.func) else ())]
            elif cls is tuple or cls is list:
                work += x
            elif cls is dict:
                work += x.values()
            elif x is not user:
                found.append(x)
        return found


_ONE = 2  # what getrefcount says of what one place refers to, and itself
_made = ByIdentity()  # of code objects: what `_made_in` gives


def _code_of(rule: Any) -> CodeType | None:
    if isinstance(rule, functools.partial):
        return _code_of(rule.func)
    if isinstance(rule, MethodType):
        return _code_of(rule.__func__)
    return getattr(rule if isinstance(rule, FunctionType) else find(type(rule), "__call__"), "__code__", None)


def _made_in(code: CodeType) -> tuple[frozenset[int], frozenset[str]]:
    """The code of functions within a function, by identity, and the variables which that binds anew."""
    found = _made.of(code)
    if found is None:
        codes: set[int] = set()
        names: set[str] = set()
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                more = _made_in(inner)
                codes |= {id(inner), *more[0]}
                names |= more[1]
                names |= {i.argval for i in dis.get_instructions(inner) if i.opname in ("STORE_DEREF", "DELETE_DEREF")}
        found = frozenset(codes), frozenset(names)
        _made.note(code, found)
    return found


def content_of(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


class Captured:
    """What a function leads to, with what is there now.

    made: what the call has made that gave the function. but: identities of cells that are not asked for. What code changes by itself (`left`, by the keys of places) it finds as it is.
    """

    def __init__(self, user: Any, made: Made, but: frozenset[int] = frozenset(), left: frozenset[Any] | None = None):
        self.seen: dict[int, Any] = {}
        self.but = but | made.own
        self.held: list[tuple[Place, State]] = []
        self.objects: list[tuple[Any, frozenset[str]]] = []  # with the attributes that they had
        self.made: list[Place] = []  # in what had not been
        self.left_arrays: list[np.ndarray] = []
        self.of = made
        with one_at_a_time:
            work = [user]
            self.left = changed_by_itself(user, made) if left is None else left
            while work:
                x = work.pop()
                if type(x) in CONSTANTS or id(x) in self.seen or issubclass(type(x), CLOSED):
                    continue
                self.seen[id(x)] = x
                work += self._parts(x)
        self.places = {place for place, _ in self.held}
        self.holds = bool(self.held or self.objects)

    def _hold(self, make: Callable[..., Place], x: Any, *name: Any) -> Any:
        """What is in a place, which is to be in it when the function runs."""
        if (id(x), *name) in self.left:
            if make is not Array:
                return make(x, *name).read()
            self.left_arrays.append(x)
            return np.asarray(x)
        known = PLACES.get((id(x), *name))
        place = place_of(make, x, *name) if known is None else known
        state = place.now() if place is known else place.state  # (which has just been read)
        self.held.append((place, state))
        return state.content

    def _parts(self, x: Any) -> Iterator[Any]:
        """What is in it."""
        cls = type(x)
        if cls is np.ndarray:
            content = self._hold(Array, x)
            yield from _mutable(content.flat) if content.dtype.hasobject else ()
            return
        if cls is FunctionType:
            own = self.of.has(x)
            for name, cell in zip(x.__code__.co_freevars, x.__closure__ or ()):
                if id(cell) not in self.but and id(cell) not in self.seen:
                    self.seen[id(cell)] = cell
                    yield content_of(cell) if own and name not in self.of.rebound else self._hold(Cell, cell)
            if x.__defaults__ or x.__kwdefaults__:
                yield from self._hold(Defaults, x)
            if own and not space_of(x):
                return
        elif cls is MethodType:
            yield from (x.__func__, x.__self__)
            return
        elif cls is BuiltinFunctionType:
            yield x.__self__
        elif cls is _CACHED:
            yield x.__wrapped__
        elif cls is memoryview:
            yield x.obj
        elif issubclass(cls, functools.partial):
            yield from (x.func, x.args, x.keywords)
        elif issubclass(cls, (tuple, frozenset)):
            yield from _mutable(x)
        elif (make := next((make for kind, make in KINDS if issubclass(cls, kind)), None)) is not None:
            content = self._hold(make, x)
            if make is Dict:
                yield from (*_mutable(content[0]), *_mutable(content[1]))
            elif make is Array:
                yield from _mutable(content.flat) if content.dtype.hasobject else ()
            elif make is not Bytes:
                yield from _mutable(content)
        elif (transform := transform_of(x)) is not None:
            yield transform.function
        if _shows_attributes(cls):
            yield from self._attributes(x)

    def _attributes(self, x: Any) -> Iterator[Any]:
        space = space_of(x)
        if space:
            yield from [self._hold(OwnAttribute, x, name) for name in list(space)]
        self.objects.append((x, frozenset(space)))
        for descriptor in slots_of(type(x)):
            yield self._hold(Slot, x, descriptor)

    # ---- later

    def changed(self) -> list[Change]:
        """The places that the program has changed, with what was and what is in them."""
        found: list[Change] = []
        for k, (place, then) in enumerate(self.held):
            now = place.now()
            if now is then:
                continue
            if place.has(then.content):
                self.held[k] = place, now
            else:
                found.append((place, then, now))
        for x, names in self.objects:
            for name in _more(space_of(x), names):
                if (id(x), name) in self.left or type(static_attribute(type(x), name)) is functools.cached_property:
                    continue
                place = place_of(OwnAttribute, x, name)
                if not place.made:
                    found.append((place, State(ABSENT), place.now()))
        return found

    def run(self, call: Callable[[], Any], refused: Callable[[Place], Exception], lost: Callable[[], Exception]) -> Any:
        """What a function gives that finds what it has captured as that was.

        refused: the error for a place that the program has changed and that cannot be as it was; lost: that where both have changed one.
        """
        with one_at_a_time:
            changed = self.changed()
            for place, then, _ in changed:
                if not place.can_be_written(then.content):
                    raise refused(place)
            return self.run_showing(changed, call, lost)

    def run_showing(self, changed: list[Change], call: Callable[[], Any], lost: Callable[[], Exception]) -> Any:
        """What a function gives that finds these places as they were, and all others as they are."""
        running = _Running(self, changed)
        try:
            running.show()
            value = call()
        except BaseException as error:
            if running.end() and isinstance(error, Exception):
                raise lost() from error
            raise
        if running.end():
            raise lost()
        return value


class _Running:
    """One run of a function."""

    def __init__(self, captured: Captured, changed: list[Change]):
        self.captured = captured
        self.changed = changed
        self.shown: list[tuple[Place, State, State, Any]] = []
        put_back = {place for place, _, _ in self.changed}
        # (`changed` has just asked for their states.)
        self.before = [(place, place.state) for place, _ in captured.held if place not in put_back]
        # What others have captured, and this function changes by itself, or by another array, is noted for them.
        others = [place for key in captured.left if (place := PLACES.get(key)) is not None]
        arrays = [place.x for place, _ in captured.held if type(place) is Array] + captured.left_arrays
        others += others_in_memory(arrays, {*captured.places, *others})
        self.before += [(place, place.now()) for place in others]
        self.spaces = [list(space_of(x)) for x, _ in captured.objects]
        self.names = self.spaces

    def show(self) -> None:
        for place, then, now in self.changed:
            self.shown.append((place, then, now, now.content))
            place.state = then
            place.write(then.content)
        if self.changed:
            self.names = [list(space_of(x)) for x, _ in self.captured.objects]

    def end(self) -> bool:
        """Put back what the program has, and note what the function has changed; whether both have changed something."""
        both: list[Place] = []
        for k, (place, then, now, content) in enumerate(self.shown):
            if not place.has(then.content):
                together = place.with_both(then.content, content)
                if together is None:
                    both.append(place)
                    continue
                then.content, now.content = place.read(), together
                self.shown[k] = place, then, now, together
        for place, now in self.before:
            if not place.has(now.content):
                now.content = place.read()
                place.state = now
        for (x, _), names in zip(self.captured.objects, self.names):
            for name in _more(space_of(x), names):
                place = place_of(OwnAttribute, x, name)
                if place not in both:
                    place.made = True
                    self.captured.made.append(place)
        for place, _, now, content in self.shown:
            place.write(content)
            place.state = now
        if self.names is not self.spaces:
            for (x, _), order in zip(self.captured.objects, self.spaces):
                _put_in_order(space_of(x), order)
        return bool(both)


def _more(space: dict[str, Any], names: Iterable[str]) -> list[str]:
    """The names of a space that are not among these, in order."""
    return [name for name in space if name not in names]


def _put_in_order(space: dict[str, Any], order: list[str]) -> None:
    """As what had been put in stood; what is new comes behind that."""
    order = [name for name in order if name in space]
    order += _more(space, frozenset(order))
    if list(space) != order:
        items = {name: space[name] for name in order}
        space.clear()
        space.update(items)


_CACHED = type(functools.lru_cache(lambda: None))


def _mutable(items: Iterable[Any]) -> list[Any]:
    return [i for i in items if type(i) not in CONSTANTS]


def _shows_attributes(cls: type) -> bool:
    """Whether the attributes of objects of a class are the program's: those of a logger or a lock are as they are."""
    if cls in (FunctionType, functools.partial, SimpleNamespace):
        return True
    if issubclass(cls, np.ndarray):
        return cls is not np.ndarray
    module = str(cls.__module__).partition(".")[0]
    return module == "collections" or module not in _OTHERS


_OTHERS = sys.stdlib_module_names | foreign.FOREIGN_PACKAGES | {"zyg"}


__all__ = ["CONSTANTS", "Attribute", "Captured", "Change", "Made", "Place", "content_of", "one_at_a_time"]
