"""The places that functions come to, and in which the program may put something else: variables, attributes, lists, arrays and their like.

There is one `Place` of each for all who have captured it (`captured.py`).  It reads what is in it, tells whether that is still so, by
identity and by bits, and puts back what was there, without running code of the program's.
"""

from __future__ import annotations

import array
import threading
from abc import abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from operator import is_
from types import CodeType, MemberDescriptorType, ModuleType
from typing import Any
from weakref import WeakSet, WeakValueDictionary, ref

import numpy as np

from . import memory

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


class Cell(Place):
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


class Defaults(Place):
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


class OwnAttribute(Attribute):
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


class Slot(Attribute):
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


class List(Place):
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


class Deque(Place):
    __slots__ = ()

    def read(self) -> tuple[Any, ...]:
        return tuple(deque.__iter__(self.x))

    def has(self, content: tuple[Any, ...]) -> bool:
        return deque.__len__(self.x) == len(content) and all(map(is_, deque.__iter__(self.x), content))

    def write(self, content: tuple[Any, ...]) -> None:
        deque.clear(self.x)
        deque.extend(self.x, content)


class Set(Place):
    __slots__ = ()

    def read(self) -> tuple[Any, ...]:
        return tuple(set.__iter__(self.x))

    def has(self, content: tuple[Any, ...]) -> bool:  # in any order
        return set.__len__(self.x) == len(content) and {*map(id, set.__iter__(self.x))} == {*map(id, content)}

    def write(self, content: tuple[Any, ...]) -> None:
        set.clear(self.x)
        set.update(self.x, content)


class Dict(Place):
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


class Bytes(Place):
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

    def __init__(self, first: Array) -> None:
        self.first = ref(first)
        self.places: WeakSet[Array] | None = None  # if there are more than the first one

    def add(self, place: Array) -> None:
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


class Array(Place):
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


PLACES: WeakValueDictionary[Any, Place] = WeakValueDictionary()  # by the identity of what they are, and a name


def place_of(make: Callable[..., Place], x: Any, *name: Any) -> Place:
    key = (id(x), *name)
    place = PLACES.get(key)
    if place is None:
        place = PLACES[key] = make(x, *name)
    return place


def others_in_memory(arrays: list[np.ndarray], but: set[Place]) -> Iterator[Place]:
    """The places that share memory with arrays."""
    for x in arrays:
        found = _memories.get(id(_owner(x)))
        if found is None or (found.places is None and found.first() in but):
            continue
        for place in [found.first()] if found.places is None else list(found.places):
            if place is not None and place not in but and np.may_share_memory(x, place.x):
                but.add(place)
                yield place


KINDS: tuple[tuple[Any, Callable[..., Place]], ...] = (
    (np.ndarray, Array),
    (list, List),
    (dict, Dict),
    (set, Set),
    (deque, Deque),
    ((bytearray, array.array), Bytes),
)
CLOSED = (type, ModuleType, CodeType, np.generic)  # what is not gone through


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
