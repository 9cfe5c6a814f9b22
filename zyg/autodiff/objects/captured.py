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
import dis
import functools
import sys
import threading
from abc import abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from inspect import getattr_static
from operator import is_
from sys import getrefcount
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any
from weakref import WeakSet, WeakValueDictionary, getweakrefcount, ref

import numpy as np

from zyg.transforms import transform_of

from ..identity import ByIdentity
from . import foreign, memory
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

    def with_both(self, then: Any, content: Any) -> Any:
        """What the program has there, `content`, with what a function has added that found `then`. None: that cannot be told."""
        return None

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


class _Defaults(Place):
    """What stands for parameters of a function that a call leaves out."""

    __slots__ = ()

    def read(self) -> tuple[Any, Any]:
        return self.x.__defaults__, self.x.__kwdefaults__

    def has(self, content: tuple[Any, Any]) -> bool:
        return self.x.__defaults__ is content[0] and self.x.__kwdefaults__ is content[1]

    def write(self, content: tuple[Any, Any]) -> None:
        self.x.__defaults__, self.x.__kwdefaults__ = content


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

    def with_both(self, then: tuple[Any, ...], content: tuple[Any, ...]) -> Any:
        found = self.read()
        if len(found) < len(then) or not all(map(is_, found, then)):
            return None
        return (*content, *found[len(then) :])


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


class _Memory:
    """What arrays share that are views of one another, with the places that these are."""

    __slots__ = ("__weakref__", "first", "places")

    def __init__(self, first: _Array) -> None:
        self.first = ref(first)
        self.places: WeakSet[_Array] | None = None  # if there are more than the first one

    def add(self, place: _Array) -> None:
        if self.places is None:
            first = self.first()
            self.places = WeakSet(() if first is None else (first,))
        self.places.add(place)


_memories: WeakValueDictionary[int, _Memory] = WeakValueDictionary()  # by the identity of what owns it


def _owner(x: np.ndarray) -> Any:
    owner: Any = x
    while True:
        base = owner.base if isinstance(owner, np.ndarray) else memory.seen_by(owner)
        if base is None:
            return owner
        owner = base


class _Array(Place):
    __slots__ = ("memory",)

    def __init__(self, x: np.ndarray):
        super().__init__(x)
        owner = id(_owner(x))
        memory = _memories.get(owner)
        if memory is None:
            memory = _memories[owner] = _Memory(self)
        else:
            memory.add(self)
        self.memory = memory

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
_FEW = 1 << 10  # bytes that are copied to be compared
_AT_ONCE = 1 << 15  # elements that are compared in the cache


def _same_bits(x: Any, y: Any) -> bool:
    if x.dtype.kind == "c" and x.nbytes >= _FEW and x.dtype.itemsize <= 16:
        return _same_bits(x.real, y.real) and _same_bits(x.imag, y.imag)
    kind = _AS_INTEGERS.get(x.dtype.itemsize)
    if kind is None or x.nbytes < _FEW:
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


def _others_in_memory(arrays: list[np.ndarray], but: set[Place]) -> Iterator[Place]:
    """The places that share memory with arrays."""
    for x in arrays:
        found = _memories.get(id(_owner(x)))
        if found is None or (found.places is None and found.first() in but):
            continue
        for place in [found.first()] if found.places is None else list(found.places):
            if place is not None and place not in but and np.may_share_memory(x, place.x):
                but.add(place)
                yield place


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
            self.left = _owned(user, made) if left is None else left
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
            if make is not _Array:
                return make(x, *name).read()
            self.left_arrays.append(x)
            return np.asarray(x)
        known = _places.get((id(x), *name))
        place = _place(make, x, *name) if known is None else known
        state = place.now() if place is known else place.state  # (which has just been read)
        self.held.append((place, state))
        return state.content

    def _parts(self, x: Any) -> Iterator[Any]:
        """What is in it."""
        cls = type(x)
        if cls is np.ndarray:
            content = self._hold(_Array, x)
            yield from _mutable(content.flat) if content.dtype.hasobject else ()
            return
        if cls is FunctionType:
            own = self.of.has(x)
            for name, cell in zip(x.__code__.co_freevars, x.__closure__ or ()):
                if id(cell) not in self.but and id(cell) not in self.seen:
                    self.seen[id(cell)] = cell
                    yield content_of(cell) if own and name not in self.of.rebound else self._hold(_Cell, cell)
            if x.__defaults__ or x.__kwdefaults__:
                yield from self._hold(_Defaults, x)
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
            for name in _more(space_of(x), names):
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
        self.shown: list[tuple[Place, State, State, Any]] = []
        put_back = {place for place, _, _ in self.changed}
        # (`changed` has just asked for their states.)
        self.before = [(place, place.state) for place, _ in captured.held if place not in put_back]
        # What others have captured, and this function changes by itself, or by another array, is noted for them.
        others = [place for key in captured.left if (place := _places.get(key)) is not None]
        arrays = [place.x for place, _ in captured.held if type(place) is _Array] + captured.left_arrays
        others += _others_in_memory(arrays, {*captured.places, *others})
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
                place = _place(_Attribute, x, name)
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


class _Owned:
    """The keys of the places that functions and those that they call change, as their code says.

    data: whether this includes arrays and lists.
    """

    def __init__(self, data: bool):
        self.data = data
        self.keys: set[Any] = set()
        self.seen: set[Any] = set()

    def note_content(self, x: Any) -> None:
        if self.data or not isinstance(x, (np.ndarray, list)):
            self.keys.add((id(x),))


def _owned(user: Any, made: Made) -> frozenset[Any]:
    """What a pullback changes by itself. Arrays and lists, though, which a pullback computes with, are for it what they were, also if it
    writes to them: only a hook's function, and others that rules of zyg's own are given, may write to them as they are."""
    owned = _Owned(data=made.by_zyg)
    for f in (user, *(made.given(user) if made.by_zyg else ())):
        _note_owned(f, (), {}, owned, 0)
    return frozenset(owned.keys)


def _note_owned(f: Any, given: tuple[Any, ...], named: dict[str, Any], owned: _Owned, depth: int) -> None:
    found, seen = owned.keys, owned.seen
    if type(f) is functools.partial:
        return _note_owned(f.func, (*f.args, *given), {**f.keywords, **named}, owned, depth)
    if type(f) is MethodType:
        return _note_owned(f.__func__, (f.__self__, *given), named, owned, depth)
    if type(f) is not FunctionType:
        call = find(type(f), "__call__") if f is not _UNKNOWN and not issubclass(type(f), _CLOSED) else None
        if type(call) is FunctionType:
            _note_owned(call, (f, *given), named, owned, depth)
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
    for path in changed.contents:
        if (x := _at(path, f, variables)) is not _UNKNOWN:
            owned.note_content(x)
    for *path, name in changed.attributes:
        x = _at(tuple(path), f, variables)
        found.add((id(x), name))
        descriptor = _static(type(x), name) if x is not _UNKNOWN else None
        if type(descriptor) is MemberDescriptorType:
            found.add((id(x), descriptor))
        elif type(descriptor) is property:
            _note_owned(descriptor.fset, (x, _UNKNOWN), {}, owned, depth + 1)
    for callee, args, keywords in changed.calls:
        g = _at(callee, f, variables)
        if g is _UNKNOWN or issubclass(type(g), _CLOSED):
            continue
        passed = tuple([_at(p, f, variables) for p in args])
        by_name = {n: _at(p, f, variables) for n, p in keywords.items()}
        if type(g) is not FunctionType or g.__closure__ or any(x is not _UNKNOWN for x in (*passed, *by_name.values())):
            _note_owned(g, passed, by_name, owned, depth + 1)
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


__all__ = ["CONSTANTS", "Attribute", "Captured", "Change", "Made", "Place", "content_of", "one_at_a_time"]
