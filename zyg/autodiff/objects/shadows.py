"""The shadows of mutable objects, found by identity.

One `Shadows` is made for each run of a reverse pass. A shadow has the shape that its object had at the point of the
program that the reverse pass has come to: changes of structure (`append`, `pop`, `del`, sorting) are undone on it as the
reverse pass goes by.

* a list, deque or other sequence: a list of cotangents, None where there is none; it may be shorter than its object;
* a dict: a dict by key; a set: a dict by element; any object: a dict by attribute name; a cell: the cotangent itself;
* an ndarray: an array like the one that owns its memory, seen through the same view.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import operator
import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterable
from types import CellType, ModuleType
from typing import Any, ClassVar

import numpy as np

from zyg.backend import pulls
from zyg.backend.cpython import ARRAY_DATA
from zyg.backend.pullbacks import nothing
from zyg.errors import Unsupported
from zyg.remedies import remedy

from ..identity import ByIdentity
from .cotangents import Refused, accumulate, sums
from .holders import CLASSES, Holder, class_for, has_attribute

_FEW = 12  # cotangents that are added one by one


class Joined:
    """An object whose attributes differentiated code has at hand as a dict, too. Pullbacks hold it as long as that matters."""

    __slots__ = ("__weakref__", "mapping", "owner")

    def __init__(self, owner: Any, mapping: dict[Any, Any]):
        self.owner = owner
        self.mapping = mapping
        _joined.note(self, weakref.ref(self))


_joined = ByIdentity()
_of_classes: list[Joined] = []  # where code that is not differentiated had taken the dict of a class


def joined_now() -> list[Joined]:
    return [joined for reference in list(_joined.values()) if (joined := reference()) is not None]


def join_class(mapping: dict[Any, Any]) -> None:
    """If a dict is that of a class, its items and the attributes of the class are one from now on."""
    if any(joined.mapping is mapping for joined in joined_now()):
        return
    owner = next((c for c in _classes() if _dict_of(c) is mapping), None)
    if owner is not None:
        _of_classes.append(Joined(owner, mapping))


def _classes() -> list[type]:
    """All classes that there are. (The garbage collector does not list those that a program has frozen.)"""
    found, seen = [object], {id(object)}
    for cls in found:
        new = [c for c in type.__subclasses__(cls) if id(c) not in seen]
        found += new
        seen.update(map(id, new))
    return found


def _dict_of(cls: type) -> Any:
    """What `cls.__dict__` shows."""
    return gc.get_referents(type.__dict__["__dict__"].__get__(cls))[0]


has_attribute("cell_contents")

F64 = np.dtype(float)


class Elsewhere(float):
    """A place behind the end of any list (it is made of infinity): what comes to it is for something else."""

    __slots__ = ()

    @abstractmethod
    def add(self, shadows: Any, d: Any) -> None:
        """Add a cotangent to what this stands for."""


class Undone:
    """A generator of which all is undone."""

    __slots__ = ("cotangents",)

    left = 0
    sent = None

    def __init__(self, cotangents: Any):
        self.cotangents = cotangents


class Shadows:
    """What one reverse pass has gathered for mutable objects."""

    add_part: ClassVar[Any]  # a function of the shadows, a shadow, a part of it, and what is to be added
    __slots__ = ("arrays", "error_state", "holders", "items", "kept", "marks", "refusals", "reversals", "views")

    def __init__(self) -> None:
        self.items: dict[int, Any] = {}  # by identity: the cotangents of items
        self.holders: dict[int, Holder] = {}  # by identity: the cotangents of attributes
        self.reversals: dict[int, Any] = {}  # by identity: the steps of `sources` that are not undone yet
        self.views: dict[
            int, np.ndarray
        ] = {}  # by identity of an array: its shadow, which may be a view of the owner's
        # By identity of the owner of memory of which there are views: the memory of its shadow, and where its own begins.
        self.arrays: dict[int, tuple[np.ndarray, int, int]] = {}
        # NumPy's (a dict), while it is told to ignore what the reverse pass comes to.
        self.error_state: Any = None
        self.refusals: dict[int, Refused] = {}  # by identity of the owner of memory: why it has no cotangent
        self.marks: dict[
            Any, Refused
        ] = {}  # by identity of what foreign code, or the keys of a dict, keep: why it has none
        self.kept: list[Any] = []  # identities stay taken as long as these live
        if _joined:
            self._join()

    def _join(self) -> None:
        """The attributes of an object and the items of its `__dict__` are one."""
        for joined in joined_now():
            self._share(joined.owner, joined.mapping)

    # ---- what zyg does not see

    def mark(self, x: Any, refused: Refused, keys: bool = False) -> None:
        """A cotangent would come to what an object that zyg cannot see into has kept, or to the `keys` of a dict."""
        self.marks[_mark_key(x), keys] = refused
        self.kept.append(x)

    def mark_of(self, x: Any, keys: bool = False) -> Refused | None:
        return self.marks.get((_mark_key(x), keys)) if self.marks else None

    # ---- for compiled code, which looks shadows up by itself: they stay the same objects

    def items_of(self, x: Any) -> Any:
        """The shadow of the items of a list or dict, made if there is none."""
        shadow = self.items.get(id(x))
        return self.new_items(x) if shadow is None else shadow

    def new_items(self, x: Any) -> Any:
        """The shadow of the items of a list or dict that has none yet."""
        t = type(x)
        shadow: Any = [] if t is list else {} if t is dict or isinstance(x, dict) else []
        self.items[id(x)] = shadow
        self.kept.append(x)
        return shadow

    def gone_through(self, x: Any) -> Any:
        """The shadow of the items of a list or dict that a loop goes through; of something else what adds to its parts."""
        return self.items_of(x) if isinstance(x, (list, dict)) else x.adder(self)

    def adder(self, x: Any) -> Callable[[Any, Any], None]:
        """What adds to the parts of what a loop goes through."""
        if isinstance(x, list):
            return functools.partial(self.add_item, x)
        return functools.partial(self.add_key, x) if isinstance(x, dict) else x.adder(self)

    def steps_of(self, whole: Any) -> Any:
        """The reverse half of a generator that a loop alone has, (what runs its pullback, its record): resumed, it undoes the step that
        gave an item."""
        back = whole[1].back
        steps = self.reversals.get(id(back))
        if steps is None:  # the loop was left where it gave its last item
            steps = self.reversals[id(back)] = back[0](back, None, self)
            steps.send(None)
        return steps

    def all_undone(self, whole: Any, cotangents: Any) -> None:
        """The same has come to its start, and gives the cotangents of the arguments of the call that made the generator."""
        self.reversals[id(whole[1].back)] = Undone(cotangents)

    def shadow_gone_through(self, whole: Any, kind: type) -> Any:
        """For what a loop says that it goes through: the shadow of its items if that is a list, or a dict; else None."""
        if whole is not None and whole[0] is nothing and (type(of := whole[1]) is kind or isinstance(of, kind)):
            shadow = self.items.get(id(of))
            if shadow is None:
                if type(whole[-1]) is not int:
                    return self.new_items(of)
                # What stands for a tuple of so many items, and is taken from here when the loop has been gone through.
                shadow = self.items[id(of)] = [None] * whole[3]
            return shadow
        return None

    def shadows_gone_through(self, whole: Any, kinds: tuple[type, ...]) -> tuple[Any, ...]:
        """The same where items are tuples: the shadow for each of their items; Nones if these are not lists and dicts as in
        `kinds`."""
        if whole is not None and whole[0] is nothing and not isinstance(of := whole[1], (list, dict)):
            found = of.parts(self)
            if found is not None:
                if len(kinds) == 2:  # as a rule
                    if len(found) == 2 and type(found[0]) is kinds[0] and type(found[1]) is kinds[1]:
                        return found
                elif tuple(map(type, found)) == kinds:
                    return found
        return (None,) * len(kinds)

    def shadows_apart(self, whole: Any, kinds: tuple[type, ...]) -> tuple[Any, ...]:
        """The same where each item of a tuple has a place of its own, in a list."""
        found = None
        if whole is not None and whole[0] is nothing and not isinstance(whole[1], (list, dict)):
            found = whole[1].apart(self, len(kinds))
        return found or (None,) * len(kinds)

    def says_where(self, whole: Any, kind: Any) -> bool | None:
        """Whether the parts of what a loop says that it goes through name what they are parts of."""
        if whole is not None and whole[0] is nothing and not isinstance(whole[1], (list, dict)):
            return whole[1].says_where or None
        return None

    def holder_of(self, x: Any) -> Holder:
        """The shadow of the attributes of an object, made if there is none."""
        holder = self.holders.get(id(x))
        return self.new_holder(x) if holder is None else holder

    def new_holder(self, x: Any) -> Holder:
        """The shadow of the attributes of an object that has none yet."""
        made = CLASSES.get(id(type(x)))
        if made is None or made.__asked__:
            if issubclass(type(x), (ModuleType, Holder)):
                # Its attributes are the global variables of its functions, or in the dict of a shadow, which may be shared.
                return self._share(x, x.__dict__)
            made = class_for(x, made)
        holder = self.holders[id(x)] = made()
        self.kept.append(x)
        return holder

    def _share(self, x: Any, mapping: dict[Any, Any]) -> Holder:
        """The shadow of the attributes of an object that are the items of a dict."""
        holder = self.holders[id(x)] = Holder()
        holder.__dict__ = self.dict_of(mapping)
        self.kept.append(x)
        return holder

    def put_back(self, shadow: list[Any], index: int, d: Any) -> None:
        """Undo a `pop`: the item at `index`, which was the last, is there again, with the cotangent of what was popped."""
        if d is not None:
            shadow.extend([None] * (index - len(shadow)))
            shadow.append(d)

    def undo_rotation(self, shadow: list[Any], minus: int) -> Any:
        """Undo an `append` to a full deque of `-minus` items: what came in goes, and what fell out is there again."""
        d = shadow.pop() if len(shadow) == -minus else None
        if shadow:
            shadow.insert(0, None)
        return d

    def in_tuple(self, d: Any, index: int, length: int) -> tuple[Any, ...]:
        """The cotangent of a tuple, from that of an item."""
        result = [None] * length
        result[index] = d
        return tuple(result)

    # ---- sequences

    def add_item(self, sequence: Any, index: int, d: Any) -> None:
        """Add `d` to the cotangent of an item; `index` counts from 0."""
        shadow = self.items.get(id(sequence))
        if shadow is None:
            shadow = self.new_list(sequence)
        if index >= len(shadow):
            shadow.extend([None] * (index - len(shadow)))
            shadow.append(d)
            return
        old = shadow[index]
        shadow[index] = d if old is None else old + d if type(old) is float else accumulate(old, d)

    def add_items(self, sequence: Any, parts: Iterable[tuple[int, Any]]) -> None:
        """Add to the cotangents of several items, by index."""
        shadow = self.list_of(sequence)
        for index, d in parts:
            if d is None:
                continue
            if index >= len(shadow):
                shadow.extend([None] * (index + 1 - len(shadow)))
            old = shadow[index]
            shadow[index] = d if old is None else old + d if type(old) is float else accumulate(old, d)

    def take_item(self, sequence: Any, index: int) -> Any:
        """The cotangent of an item, which starts again from zero."""
        shadow = self.items.get(id(sequence))
        if shadow is None or index >= len(shadow):
            return None
        d = shadow[index]
        shadow[index] = None
        return d

    def take_appended(self, sequence: Any, index: int) -> Any:
        """Undo an append: the cotangent of the item at `index`, which was the last."""
        shadow = self.items.get(id(sequence))
        return shadow.pop() if shadow and len(shadow) > index else None

    def list_of(self, sequence: Any) -> list[Any]:
        """The shadow of a sequence, made if there is none."""
        shadow = self.items.get(id(sequence))
        return self.new_list(sequence) if shadow is None else shadow

    def new_list(self, sequence: Any) -> list[Any]:
        """The shadow of a sequence that has none yet."""
        shadow: list[Any] = []
        self.items[id(sequence)] = shadow
        self.kept.append(sequence)
        return shadow

    def take_list(self, sequence: Any) -> list[Any] | None:
        """All cotangents of a sequence, which start again from zero; None if there are none."""
        shadow = self.items.get(id(sequence))
        if not shadow:
            return None
        taken = shadow[:]
        shadow.clear()  # compiled code may hold it
        return taken

    # ---- dicts, sets

    def add_key(self, mapping: Any, key: Any, d: Any) -> None:
        """Add `d` to the cotangent of the value at `key`."""
        shadow = self.items.get(id(mapping))
        if shadow is None:
            shadow = self.dict_of(mapping)
        old = shadow.get(key)
        shadow[key] = d if old is None else old + d if type(old) is float else accumulate(old, d)

    def take_key(self, mapping: Any, key: Any) -> Any:
        """The cotangent of the value at `key`, which starts again from zero."""
        shadow = self.items.get(id(mapping))
        return None if shadow is None else shadow.pop(key, None)

    def dict_of(self, mapping: Any) -> dict[Any, Any]:
        """The shadow of a dict or set, made if there is none."""
        shadow = self.items.get(id(mapping))
        if shadow is None:
            shadow = self.items[id(mapping)] = {}
            self.kept.append(mapping)
        return shadow

    def take_dict(self, mapping: Any) -> dict[Any, Any] | None:
        """All cotangents of a dict or set, which start again from zero; None if there are none."""
        shadow = self.items.get(id(mapping))
        if not shadow:
            return None
        taken = dict(shadow)
        shadow.clear()  # it may also be that of the attributes of an object
        return taken

    # ---- attributes

    def attributes_of(self, obj: Any) -> dict[str, Any] | None:
        """The cotangents of attributes by name; None if there are none."""
        holder = self.holders.get(id(obj))
        if holder is None:
            return self.items.get(id(obj.__dict__)) if isinstance(obj, (ModuleType, Holder)) else None
        return holder.__dict__

    def add_attr(self, obj: Any, name: str, d: Any) -> None:
        """Add `d` to the cotangent of an attribute."""
        holder = self.holder_of(obj)
        if name.startswith("__"):  # not what a holder has by itself
            _add_part(self, holder, name, d)
            return
        old = getattr(holder, name, None)
        setattr(holder, name, d if old is None else old + d if type(old) is float else accumulate(old, d))

    def take_attr(self, obj: Any, name: str) -> Any:
        """The cotangent of an attribute, which starts again from zero."""
        holder = self.holders.get(id(obj))
        if holder is None and isinstance(obj, (ModuleType, Holder)) and id(obj.__dict__) in self.items:
            holder = self.holder_of(obj)
        if holder is None:
            return None
        if name.startswith("__"):
            return holder.__dict__.pop(name, None)
        d = getattr(holder, name, None)
        if d is not None:
            setattr(holder, name, None)
        return d

    def take_attributes(self, obj: Any) -> dict[str, Any]:
        """The cotangents of all attributes, which start again from zero."""
        shadow = self.attributes_of(obj)
        taken = dict(shadow or ())
        if shadow:
            shadow.clear()
        return taken

    # ---- cells

    def add_cell(self, cell: CellType, d: Any) -> None:
        """Add `d` to the cotangent of what a cell holds."""
        self.add_attr(cell, "cell_contents", d)

    def take_cell(self, cell: CellType) -> Any:
        """The cotangent of what a cell holds, which starts again from zero."""
        holder: Any = self.holders.get(id(cell))
        if holder is None:
            return None
        d = holder.cell_contents
        if d is not None:
            holder.cell_contents = None
        return d

    # ---- arrays

    def of_array(self, array: np.ndarray) -> np.ndarray:
        """The shadow of an array: an array of its shape, which shares memory with the shadows of its views."""
        view = self.views.get(id(array))
        if view is None:
            if array.base is None and array.dtype is F64 and id(array) not in self.arrays and array.flags.c_contiguous:
                view = np.zeros(array.shape)  # (as below, of most arrays)
            else:
                view = self._view(array)
            self.views[id(array)] = view
            self.kept.append(array)
        return view

    def has_array(self, array: np.ndarray) -> bool:
        """Whether anything has been gathered for the memory of an array."""
        if not self.views and not self.arrays:
            return False
        key = key_of(array)
        return key in self.views or key in self.arrays

    def refusal_of(self, array: np.ndarray) -> Refused | None:
        """Why the memory of an array has no cotangent; None where it has one."""
        return self.refusals.get(key_of(array)) if self.refusals else None

    def take_array(self, array: np.ndarray) -> Any:
        """A copy of the shadow of an array, which starts again from zero; None if there is none."""
        if not self.has_array(array):
            return None
        if self.refusals and key_of(array) in self.refusals:
            return self.refusals[key_of(array)]
        view = self.of_array(array)
        taken = view.copy()
        view[...] = 0.0
        return taken

    def take_made(self, array: np.ndarray) -> Any:
        """The shadow of an array that an operation has made, with memory of its own: before that it had none, so there will be none
        from now on. NumPy ignores what goes wrong from here to the end of the reverse pass."""
        if self.error_state is None:
            self.hush()
        if self.arrays:
            self.arrays.pop(id(array), None)
        if self.refusals and id(array) in self.refusals:
            return self.refusals[id(array)]
        return self.views.pop(id(array), None)

    def found_of(self, array: np.ndarray) -> Any:
        """The shadow of an array, None if there is none, or why it has none."""
        if self.error_state is None:
            self.hush()
        if self.refusals:
            refused = self.refusal_of(array)
            if refused is not None:
                return refused
        shadow = self.views.get(id(array))
        return self.of_array(array) if shadow is None and self.has_array(array) else shadow

    def gain(self, array: np.ndarray, d: Any) -> None:
        """Add `d` to the shadow of an array: an array of its shape and type that nobody else has, which may become the shadow."""
        view = self.placed(array, d)
        if view is not None:
            view += d

    def placed(self, array: np.ndarray, d: np.ndarray) -> np.ndarray | None:
        """The shadow to which `d` is to be added; None where it has become the shadow."""
        view = self.views.get(id(array))
        if view is None:  # (what NumPy calculates from arrays without dimensions are numbers)
            if array.base is not None or not array.ndim or d.dtype is not array.dtype or d.strides != array.strides:
                return self.of_array(array)
            self.views[id(array)] = d
            self.kept.append(array)
        return view

    def hush(self) -> None:
        """NumPy ignores overflows and the like until the end of the reverse pass."""
        if self.error_state is None:
            self.error_state = np.seterr(all="ignore")

    def end(self) -> None:
        """The reverse pass is over."""
        if self.error_state is not None:
            np.seterr(**self.error_state)
            self.error_state = None

    def let_go(self) -> None:
        """Nobody looks at them any more. What undoes generators is in the shadows, and has them: a circle."""
        self.holders = {}
        self.reversals = {}
        self.kept = []

    def add_array(self, array: np.ndarray, d: Any) -> None:
        """Add `d`, an array of the same shape or a number, to the shadow of an array."""
        if array.dtype.kind == "b":
            return
        view = self.of_array(array)
        if type(d) is Refused:
            self.refusals[key_of(array)] = d
            return
        if view.dtype.kind != "c" and (type(d) is complex or getattr(d, "dtype", view.dtype).kind == "c"):
            d = np.real(d)
        np.add(view, d, out=view, casting="unsafe")

    def _view(self, array: np.ndarray) -> np.ndarray:
        wanted = shadow_dtype(array.dtype)
        owner = owner_of(array)
        if owner is array and array.base is None and id(array) not in self.arrays:
            if array.flags.c_contiguous:
                return np.zeros(array.shape, wanted)
            return np.zeros_like(array, wanted, subok=False)
        known = self.arrays.get(key_of(owner)) or self._memory_of(owner)
        memory, low, itemsize = known
        ratio = memory.dtype.itemsize // itemsize
        if wanted.itemsize != array.dtype.itemsize * ratio:
            raise Unsupported(
                f"a view of {owner.dtype} memory as {array.dtype} on the derivative's path",
                hint="convert with astype instead of view",
            )
        if array.size == 0:
            return np.zeros(array.shape, wanted)
        if _overlaps_itself(array):
            from . import foreign

            raise Unsupported(
                "a derivative by an array whose elements share memory, as those of as_strided and np.broadcast_to may, in code that goes "
                "through Python",
                foreign.position_of(foreign.place_in_half()),
                hint=f"{remedy('numpy.lib.stride_tricks.as_strided')}; if it is an argument, pass a copy: np.copy(x)",
            )
        offset = (_address(array) - low) * ratio
        strides = array.strides if ratio == 1 else tuple([s * ratio for s in array.strides])
        return np.ndarray(array.shape, wanted, memory, offset, strides)

    def _memory_of(self, owner: np.ndarray) -> tuple[np.ndarray, int, int]:
        """The memory of the shadow of an array of which there are views: laid out as the array's own."""
        exporter = _exporter(owner) if owner.base is not None else None
        if exporter is None and owner.flags.c_contiguous:
            low, size = _address(owner), owner.size
        else:
            low, high = _byte_bounds(owner if exporter is None else np.frombuffer(exporter, np.uint8))
            size = -((low - high) // owner.dtype.itemsize)
        # Its own shadow has the same strides: that memory serves, with what has come there.
        before = self.views.get(id(owner))
        memory = np.zeros(size, shadow_dtype(owner.dtype)) if before is None else before.ravel("K")
        known = self.arrays[key_of(owner)] = (memory, low, owner.dtype.itemsize)
        self.kept += [owner] if exporter is None else [owner, exporter]
        if owner.base is None:
            self.views[id(owner)] = self._view(owner)
        return known


# ---- what native code does, too (`backend/llvm/runtime/cotangents.py`), once there are enough calls


def _add_part(shadows: Any, shadow: Any, part: Any, d: Any) -> None:
    """Add `d` to a part of a shadow."""
    if type(shadow) is list:
        there = len(shadow)
        if part < there:
            old = shadow[part]
            if type(old) is tuple and type(d) is tuple and len(old) == len(d):
                shadow[part] = sums(old, d)
            else:
                shadow[part] = accumulate(old, d)
        elif type(part) is not int and isinstance(part, Elsewhere):
            part.add(shadows, d)
        else:
            shadow += [None] * (part - there)
            shadow.append(d)
        return
    items: Any = None
    if type(shadow) is dict or not isinstance(shadow, Holder):
        items = shadow
    elif part[:2] == "__":  # which any object has
        items = shadow.__dict__
    old = getattr(shadow, part, None) if items is None else items.get(part)
    if type(old) is tuple and type(d) is tuple and len(old) == len(d):
        d = sums(old, d)
    elif old is not None:
        d = accumulate(old, d)
    if items is None:
        setattr(shadow, part, d)
    else:
        items[part] = d


def _add_all(shadows: Any, sequence: Any, start: int, ds: list[Any]) -> None:
    """Add to the cotangents of the items from `start` on."""
    shadow = shadows.items.get(id(sequence))
    if shadow is None:
        shadow = shadows.items[id(sequence)] = [None] * start
        shadow += ds
        shadows.kept.append(sequence)
        return
    there = len(shadow) - start  # how many have a place in the shadow
    if there <= 0:
        shadow += [None] * -there
        shadow += ds
        return
    if there < len(ds):
        shadow += ds[there:]
        ds = ds[:there]
    stop = start + len(ds)
    before = shadow[start:stop]
    if len(ds) > _FEW:
        try:  # in C, if all are numbers: others have no differences
            shadow[start:stop] = list(map(operator.sub, before, map(operator.neg, ds)))
            return
        except TypeError:
            pass
    shadow[start:stop] = [
        d
        if old is None
        else old
        if d is None
        else old + d
        if type(old) is float
        else sums(old, d)
        if type(old) is tuple and type(d) is tuple and len(old) == len(d)
        else accumulate(old, d)
        for old, d in zip(before, ds)
    ]


def _add_at_places(shadows: Any, sequence: Any, places: Any, ds: list[Any]) -> None:
    """Add to the cotangents of the items at these places."""
    shadows.add_items(sequence, zip(places, ds))


def _add_keys(shadows: Any, mapping: Any, keys: tuple[Any, ...], ds: Any, first: int) -> None:
    """Add to the cotangents of the values at `keys` those from `first` on, of which there may be fewer."""
    for key, d in zip(keys, ds[first:]):
        if d is not None:
            shadows.add_key(mapping, key, d)


def in_python(name: str, function: Any) -> Any:
    """A built-in function that does what this one does."""
    return pulls.deferred(name, function, start=pulls.COTANGENTS)


add_part = Shadows.add_part = in_python("add", _add_part)  # (not bound: emitted code gives it the shadows)
add_all = in_python("add", _add_all)
add_keys = in_python("add", _add_keys)
add_at_places = in_python("add", _add_at_places)
ABOUT = pulls.slots_of(Shadows, "items", "kept"), Shadows, accumulate


def settle(builtin: Any, symbol: str, *state: Any) -> None:
    """Let native code do what a built-in function does, once there is any."""
    pulls.COTANGENTS.when_started(lambda: pulls.settle(builtin, symbol, *state, part="cotangents"))


settle(add_all, "zyg_add_all", *ABOUT)
settle(add_keys, "zyg_add_keys", *ABOUT)
settle(add_at_places, "zyg_add_at_places", *ABOUT)
settle(add_part, "zyg_add_part", Holder, accumulate)


def _overlaps_itself(array: np.ndarray) -> bool:
    """Whether elements may share memory: they do not where each axis steps over all that lies in those of smaller steps."""
    within = array.itemsize
    for step, length in sorted(zip(map(abs, array.strides), array.shape)):
        if length > 1:
            if step < within:
                return True
            within += step * (length - 1)
    return False


_byte_bounds: Any = np.lib.array_utils.byte_bounds if hasattr(np.lib, "array_utils") else getattr(np, "byte_bounds")  # noqa: B009


def _address(array: np.ndarray) -> int:
    """Where the elements of an array begin. (`array.ctypes` and the array interface take ten times as long to say so.)"""
    return _word.from_address(id(array) + ARRAY_DATA).value


_word = ctypes.c_size_t


def owner_of(array: np.ndarray) -> np.ndarray:
    """The array whose memory an array is a view of."""
    while (base := array.base) is not None:
        if isinstance(base, memoryview):
            base = base.obj
        if not isinstance(base, np.ndarray):
            break
        array = base
    return array


def _exporter(owner: np.ndarray) -> Any:
    """What the memory of an array belongs to, if not to the array: a bytearray, for instance, which others may share."""
    base = owner.base
    if isinstance(base, memoryview):
        base = base.obj
    if base is None:
        return None
    try:
        np.frombuffer(base, np.uint8)
    except (TypeError, ValueError, BufferError, AttributeError):
        return None
    return base


def _mark_key(x: Any) -> int:
    return key_of(x) if isinstance(x, np.ndarray) else id(x)


def key_of(array: np.ndarray) -> int:
    """The identity of the memory of an array."""
    owner = owner_of(array)
    if owner.base is None:
        return id(owner)
    exporter = _exporter(owner)
    return id(owner if exporter is None else exporter)


def shadow_dtype(dtype: np.dtype) -> np.dtype:
    """The element type of the cotangents of an array: float32 for float32 (and smaller floats), complex for complex, else
    float64.

    >>> shadow_dtype(np.dtype("int32")), shadow_dtype(np.dtype("float32"))
    (dtype('float64'), dtype('float32'))
    """
    if dtype.kind in "fc":
        return np.dtype(np.float32) if dtype.itemsize < 4 else dtype
    if dtype.kind in "iub":
        return np.dtype(np.float64)
    if dtype.names is not None:
        raise Unsupported(
            f"the derivative by an array of records, {dtype}, or by a field of it", hint=remedy("numpy.void") or ""
        )
    raise Unsupported(f"the derivative of an array of {dtype}", hint="use arrays of numbers")
