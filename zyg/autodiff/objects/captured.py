"""What functions have captured, as it was at a moment of the program.

`Captured(values, ...)` goes through all that the values lead to, by variables of functions, items and attributes, and notes what is in
each place: a cell, an attribute, a list, an array.  `run(call)` calls a function later.  Where the program has changed a place in
between, what was there at that moment is put back while the function runs, into the very object, so that whoever refers to it, by
whatever name, sees it; then comes back what the program has there.  What such functions change themselves stays: in places that the
program has not changed, for the next ones too, as what was there at their moments is noted anew.  Where both have changed a place, the
one change or the other would be lost: that is refused, but for what the code of the function says that it changes (`_owned`), which it
finds as it is.

So that what was put back is not seen by others, one function runs at a time.
"""

from __future__ import annotations

import array
import contextlib
import functools
import sys
import threading
from abc import abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from inspect import getattr_static
from operator import is_
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from zyg.transforms import transform_of

from . import foreign
from .arithmetic import find
from .effects import Path, changed_names

ABSENT: Any = type(
    "Absent", (), {"__slots__": ()}
)()  # what is in a cell without a value, or an attribute that there is not
CONSTANTS = frozenset({type(None), bool, int, float, complex, str, bytes})
one_at_a_time = threading.RLock()


class State:
    """What was in a place at some moments. It goes along with what functions change, so that the next ones find that."""

    __slots__ = ("content",)

    def __init__(self, content: Any):
        self.content = content


class Place:
    """Something that can be changed. There is one of it for all who have captured it."""

    __slots__ = ("__weakref__", "made", "state", "x")

    def __init__(self, x: Any):
        self.x = x
        self.state = State(self.read())  # the last one that is known
        self.made = False  # whether a function has made it, where there was nothing

    @abstractmethod
    def read(self) -> Any:
        """What is in it, as something that does not change."""

    @abstractmethod
    def has(self, content: Any) -> bool:
        """Whether this is still in it, the very objects, or all the bits."""

    @abstractmethod
    def write(self, content: Any) -> None:
        """Put this in."""

    def can_be_written(self, content: Any) -> bool:
        return True

    def now(self) -> State:
        if not self.has(self.state.content):
            self.state = State(self.read())
        return self.state


class _Cell(Place):
    __slots__ = ()

    def read(self) -> Any:
        try:
            return self.x.cell_contents
        except ValueError:
            return ABSENT

    def has(self, content: Any) -> bool:
        return self.read() is content

    def write(self, content: Any) -> None:
        if content is not ABSENT:
            self.x.cell_contents = content
        elif self.read() is not ABSENT:
            del self.x.cell_contents


class Attribute(Place):
    """An attribute of an object."""

    __slots__ = ("name",)
    name: str


class _Attribute(Attribute):
    """One that stands in the `__dict__` of the object."""

    __slots__ = ()

    def __init__(self, x: Any, name: str):
        self.name = name
        super().__init__(x)

    def read(self) -> Any:
        return space_of(self.x).get(self.name, ABSENT)

    def has(self, content: Any) -> bool:
        return space_of(self.x).get(self.name, ABSENT) is content

    def write(self, content: Any) -> None:
        if content is ABSENT:
            space_of(self.x).pop(self.name, None)
        else:
            space_of(self.x)[self.name] = content


class _Slot(Attribute):
    __slots__ = ("descriptor",)

    def __init__(self, x: Any, descriptor: MemberDescriptorType):
        self.descriptor = descriptor
        self.name = descriptor.__name__
        super().__init__(x)

    def read(self) -> Any:
        try:
            return self.descriptor.__get__(self.x)
        except AttributeError:
            return ABSENT

    def has(self, content: Any) -> bool:
        return self.read() is content

    def write(self, content: Any) -> None:
        if content is not ABSENT:
            self.descriptor.__set__(self.x, content)
        elif self.read() is not ABSENT:
            self.descriptor.__delete__(self.x)


class _List(Place):
    __slots__ = ()

    def read(self) -> tuple[Any, ...]:
        return tuple(list.__iter__(self.x))

    def has(self, content: tuple[Any, ...]) -> bool:
        return list.__len__(self.x) == len(content) and all(map(is_, list.__iter__(self.x), content))

    def write(self, content: tuple[Any, ...]) -> None:
        list.__setitem__(self.x, slice(None), content)


class _Deque(Place):
    __slots__ = ()

    def read(self) -> tuple[Any, ...]:
        return tuple(deque.__iter__(self.x))

    def has(self, content: tuple[Any, ...]) -> bool:
        return deque.__len__(self.x) == len(content) and all(map(is_, deque.__iter__(self.x), content))

    def write(self, content: tuple[Any, ...]) -> None:
        deque.clear(self.x)
        deque.extend(self.x, content)


class _Set(Place):
    __slots__ = ()

    def read(self) -> tuple[Any, ...]:
        return tuple(set.__iter__(self.x))

    def has(self, content: tuple[Any, ...]) -> bool:  # in any order
        return set.__len__(self.x) == len(content) and {*map(id, set.__iter__(self.x))} == {*map(id, content)}

    def write(self, content: tuple[Any, ...]) -> None:
        set.clear(self.x)
        set.update(self.x, content)


class _Dict(Place):
    __slots__ = ()

    def read(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        own = _own_dict(self.x)
        return tuple(own.keys(self.x)), tuple(own.values(self.x))

    def has(self, content: tuple[tuple[Any, ...], tuple[Any, ...]]) -> bool:
        own, (keys, values) = _own_dict(self.x), content
        if dict.__len__(self.x) != len(keys):
            return False
        return all(map(is_, own.values(self.x), values)) and all(map(is_, own.keys(self.x), keys))

    def write(self, content: tuple[tuple[Any, ...], tuple[Any, ...]]) -> None:
        own = _own_dict(self.x)
        own.clear(self.x)
        for k, v in zip(*content):
            own.__setitem__(self.x, k, v)


def _own_dict(x: Any) -> Any:
    return OrderedDict if isinstance(x, OrderedDict) else dict


class _Bytes(Place):
    """A bytearray, or an array of the module `array`."""

    __slots__ = ()

    def read(self) -> Any:
        return self.x[:]

    def has(self, content: Any) -> bool:
        return bytes(self.x) == bytes(content)

    def write(self, content: Any) -> None:
        self.x[:] = content


class _Array(Place):
    __slots__ = ()

    def read(self) -> np.ndarray:
        return np.array(self.x, subok=False)

    def has(self, content: np.ndarray) -> bool:
        x = np.asarray(self.x)
        if x.shape != content.shape or x.dtype != content.dtype:
            return False
        return all(map(is_, x.flat, content.flat)) if x.dtype.hasobject else _same_bits(x, content)

    def write(self, content: np.ndarray) -> None:
        np.asarray(self.x)[...] = content

    def can_be_written(self, content: np.ndarray) -> bool:
        x = np.asarray(self.x)
        return x.flags.writeable and x.shape == content.shape and x.dtype == content.dtype


_AS_INTEGERS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_AT_ONCE = 1 << 15  # elements that are compared in the cache


def _same_bits(x: Any, y: Any) -> bool:
    if x.dtype.kind == "c" and x.dtype.itemsize <= 16:
        return _same_bits(x.real, y.real) and _same_bits(x.imag, y.imag)
    kind = _AS_INTEGERS.get(x.dtype.itemsize)
    if kind is None:
        return x.tobytes() == y.tobytes()
    x, y = x.view(kind), y.view(kind)
    if x.size > _AT_ONCE and x.flags.forc and x.strides == y.strides:
        x, y = x.ravel("K"), y.ravel("K")
        parts = range(0, x.size, _AT_ONCE)
        return all(np.array_equal(x[k : k + _AT_ONCE], y[k : k + _AT_ONCE]) for k in parts)
    return np.array_equal(x, y)


_places: WeakValueDictionary[Any, Place] = WeakValueDictionary()  # by the identity of what they are, and a name


def _place(make: Callable[..., Place], x: Any, *name: Any) -> Place:
    key = (id(x), *name)
    place = _places.get(key)
    if place is None:
        place = _places[key] = make(x, *name)
    return place


Change = tuple[Place, State, State]  # with what was, and what is in it

_KINDS: tuple[tuple[Any, Callable[..., Place]], ...] = (
    (np.ndarray, _Array),
    (list, _List),
    (dict, _Dict),
    (set, _Set),
    (deque, _Deque),
    ((bytearray, array.array), _Bytes),
)
_CLOSED = (type, ModuleType, CodeType, np.generic)


class Captured:
    """What values lead to, with what is there now.

    user: the function that will be called. but: identities of cells that are not asked for. What the code of the function and of the
    values changes by itself (`left`, by the keys of places) it finds as it is.
    """

    def __init__(
        self, values: Iterable[Any], user: Any = None, but: Iterable[int] = (), left: frozenset[Any] | None = None
    ):
        self.seen: dict[int, Any] = {}
        self.held: list[tuple[Place, State]] = []
        self.objects: list[tuple[Any, frozenset[str]]] = []  # with the attributes that they had
        self.made: list[Place] = []  # in what had not been
        self.but = frozenset(but)
        with one_at_a_time:
            work = list(values)
            self.left = _owned([user, *work]) if left is None else left
            while work:
                x = work.pop()
                if type(x) in CONSTANTS or id(x) in self.seen or issubclass(type(x), _CLOSED):
                    continue
                self.seen[id(x)] = x
                work += self._parts(x)
        self.places = {place for place, _ in self.held}
        self.holds = bool(self.held or self.objects)

    def _hold(self, make: Callable[..., Place], x: Any, *name: Any) -> Any:
        """What is in a place, which is to be in it when the function runs."""
        if (id(x), *name) in self.left:
            return np.asarray(x) if make is _Array else make(x, *name).read()
        place = _place(make, x, *name)
        state = place.now()
        self.held.append((place, state))
        return state.content

    def _parts(self, x: Any) -> Iterator[Any]:
        """What is in it."""
        cls = type(x)
        if cls is FunctionType:
            for cell in x.__closure__ or ():
                if id(cell) not in self.but and id(cell) not in self.seen:
                    self.seen[id(cell)] = cell
                    yield self._hold(_Cell, cell)
            yield from (x.__defaults__, x.__kwdefaults__)
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
        elif (make := next((make for kind, make in _KINDS if issubclass(cls, kind)), None)) is not None:
            content = self._hold(make, x)
            if make is _Dict:
                yield from (*_mutable(content[0]), *_mutable(content[1]))
            elif make is _Array:
                yield from _mutable(content.flat) if content.dtype.hasobject else ()
            elif make is not _Bytes:
                yield from _mutable(content)
        elif (transform := transform_of(x)) is not None:
            yield transform.function
        if _shows_attributes(cls):
            yield from self._attributes(x)

    def _attributes(self, x: Any) -> Iterator[Any]:
        space = space_of(x)
        if space:
            yield from [self._hold(_Attribute, x, name) for name in list(space)]
        self.objects.append((x, frozenset(space)))
        for descriptor in slots_of(type(x)):
            yield self._hold(_Slot, x, descriptor)

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
            for name in space_of(x).keys() - names:
                if (id(x), name) in self.left or type(_static(type(x), name)) is functools.cached_property:
                    continue
                place = _place(_Attribute, x, name)
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
        self.shown: list[tuple[Place, Any, State, Any]] = []
        put_back = {place for place, _, _ in self.changed}
        kept = [place for place, _ in captured.held if place not in put_back]
        # (What others have captured, and this function changes by itself, is noted for them.)
        kept += [place for key in captured.left if (place := _places.get(key)) is not None]
        self.before = [(place, place.now()) for place in kept]
        self.names = [frozenset(space_of(x)) for x, _ in captured.objects]

    def show(self) -> None:
        for place, then, now in self.changed:
            self.shown.append((place, then.content, now, now.content))
            place.state = then
            place.write(then.content)
        if self.changed:
            self.names = [frozenset(space_of(x)) for x, _ in self.captured.objects]

    def end(self) -> bool:
        """Put back what the program has, and note what the function has changed; whether both have changed something."""
        both = [place for place, then, _, _ in self.shown if not place.has(then)]
        for place, now in self.before:
            if not place.has(now.content):
                now.content = place.read()
                place.state = now
        for (x, _), names in zip(self.captured.objects, self.names):
            for name in space_of(x).keys() - names:
                place = _place(_Attribute, x, name)
                if place not in both:
                    place.made = True
                    self.captured.made.append(place)
        for place, _, now, content in self.shown:
            place.write(content)
            place.state = now
        return bool(both)


_CACHED = type(functools.lru_cache(lambda: None))


def _mutable(items: Iterable[Any]) -> list[Any]:
    return [i for i in items if type(i) not in CONSTANTS]


def space_of(x: Any) -> dict[str, Any]:
    """The attributes that an object has in its `__dict__`."""
    try:
        space = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}
    return space if type(space) is dict else {}


def slots_of(cls: type) -> list[MemberDescriptorType]:
    """The slots of objects of a class, of what class statements made."""
    spaces = [vars(c) for c in cls.__mro__]
    return [v for space in spaces if "__slots__" in space for v in space.values() if type(v) is MemberDescriptorType]


def _shows_attributes(cls: type) -> bool:
    """Whether the attributes of objects of a class are the program's: those of a logger or a lock are as they are."""
    if cls in (FunctionType, functools.partial, SimpleNamespace):
        return True
    if issubclass(cls, np.ndarray):
        return cls is not np.ndarray
    module = str(cls.__module__).partition(".")[0]
    return module == "collections" or module not in _OTHERS


_OTHERS = sys.stdlib_module_names | foreign.FOREIGN_PACKAGES | {"zyg"}


# ------------------------------------------------------------------------------------------- what code itself changes

_UNKNOWN: Any = object()
_CALLS = 8  # one in another


def _owned(functions: list[Any]) -> frozenset[Any]:
    """The keys of the places that functions and those that they call change, as their code says."""
    found: set[Any] = set()
    seen: set[Any] = set()
    for f in functions:
        _note_owned(f, (), {}, found, seen, 0)
    return frozenset(found)


def _note_owned(
    f: Any, given: tuple[Any, ...], named: dict[str, Any], found: set[Any], seen: set[Any], depth: int
) -> None:
    if type(f) is functools.partial:
        return _note_owned(f.func, (*f.args, *given), {**f.keywords, **named}, found, seen, depth)
    if type(f) is MethodType:
        return _note_owned(f.__func__, (f.__self__, *given), named, found, seen, depth)
    if type(f) is not FunctionType:
        call = find(type(f), "__call__") if f is not _UNKNOWN and not issubclass(type(f), _CLOSED) else None
        if type(call) is FunctionType:
            _note_owned(call, (f, *given), named, found, seen, depth)
        return None
    if depth > _CALLS or foreign.is_foreign(f) or str(f.__globals__.get("__name__")).startswith("zyg."):
        return None
    key = (f, *map(id, given), *((n, id(v)) for n, v in named.items()))
    if key in seen:
        return None
    seen.add(key)
    changed = changed_names(f.__code__)
    if not (changed.bound or changed.contents or changed.attributes or changed.calls):
        return None
    variables = _variables(f, given, named)
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
        if name in changed.bound:
            found.add((id(cell),))
    found.update((id(x),) for path in changed.contents if (x := _at(path, f, variables)) is not _UNKNOWN)
    for *path, name in changed.attributes:
        x = _at(tuple(path), f, variables)
        found.add((id(x), name))
        descriptor = _static(type(x), name) if x is not _UNKNOWN else None
        if type(descriptor) is MemberDescriptorType:
            found.add((id(x), descriptor))
        elif type(descriptor) is property:
            _note_owned(descriptor.fset, (x, _UNKNOWN), {}, found, seen, depth + 1)
    for callee, args, keywords in changed.calls:
        g = _at(callee, f, variables)
        if g is _UNKNOWN or issubclass(type(g), _CLOSED):
            continue
        passed = tuple([_at(p, f, variables) for p in args])
        by_name = {n: _at(p, f, variables) for n, p in keywords.items()}
        if type(g) is not FunctionType or g.__closure__ or any(x is not _UNKNOWN for x in (*passed, *by_name.values())):
            _note_owned(g, passed, by_name, found, seen, depth + 1)
    return None


def _variables(f: FunctionType, given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """What the variables of a function stand for when it begins."""
    code = f.__code__
    names = code.co_varnames[: code.co_argcount]
    variables = dict(f.__kwdefaults__ or {})
    if f.__defaults__:
        variables.update(zip(names[-len(f.__defaults__) :], f.__defaults__))
    variables.update(zip(names, given))
    variables.update(named)
    for name, cell in zip(code.co_freevars, f.__closure__ or ()):
        with contextlib.suppress(ValueError):
            variables[name] = cell.cell_contents
    return variables


def _at(path: Path | None, f: FunctionType, variables: dict[str, Any]) -> Any:
    """What stands at the end of a path, without running code."""
    if not path:
        return _UNKNOWN
    if path[0]:
        x, rest = variables.get(path[0], _UNKNOWN), path[1:]
    else:
        x, rest = f.__globals__.get(path[1], _UNKNOWN), path[2:]
    for name in rest:
        if x is _UNKNOWN:
            break
        x = _attribute(x, name)
    return x


def _attribute(x: Any, name: str) -> Any:
    if isinstance(x, ModuleType):
        return vars(x).get(name, _UNKNOWN)
    if isinstance(x, type):
        return _UNKNOWN
    found = space_of(x).get(name, _UNKNOWN)
    if found is not _UNKNOWN:
        return found
    found = _static(type(x), name)
    if type(found) is FunctionType:
        return MethodType(found, x)
    if type(found) is staticmethod:
        return found.__func__
    if type(found) is MemberDescriptorType:
        with contextlib.suppress(AttributeError):
            return found.__get__(x)
    return _UNKNOWN


def _static(cls: type, name: str) -> Any:
    return getattr_static(cls, name, None)


__all__ = ["CONSTANTS", "Attribute", "Captured", "Change", "Place", "one_at_a_time"]
