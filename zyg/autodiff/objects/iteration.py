"""Iteration: items together with the backs by which their cotangents reach what is iterated over.

`pairs(x)` gives (iterator of (item, back), back of the whole), or (iterator of items, None) where the items carry nothing.
An iterator that escapes, `iter(x)`, `zip(x, y)` and so on, is an `Iterator` of pairs.

Where the source has a cotangent that flows, as a tuple has, those of its items gather in the shadow of a holder.
"""

from __future__ import annotations

import collections
import enum
import functools
import operator
from abc import abstractmethod
from collections.abc import Callable, Generator, ItemsView, KeysView, ValuesView
from itertools import count, islice, repeat
from typing import Any

import numpy as np

from zyg.autodiff import objects
from zyg.backend.labels import is_label as is_label
from zyg.backend.phrases import PLAIN_KEYS
from zyg.errors import Unsupported

from ..identity import ByIdentity
from . import foreign, later, sources
from .cotangents import INERT, Refused, accumulate, is_number, refused_in
from .shadows import ABOUT, in_python, settle


class Holder:
    """Has a shadow for the items of what has none of its own."""

    __slots__ = ("length",)

    def __init__(self, length: int = -1):
        self.length = length

    def __len__(self) -> int:
        return self.length


# What goes through a list or tuple by an iterator of it, beside places.
_BY_ITERATORS = frozenset({"list_iterator", "tuple_iterator", "list_reverseiterator", "reversed"})


class Iterator:
    """An iterator of items that remembers their backs."""

    __slots__ = ("__weakref__", "kind", "pairs")

    def __init__(self, pairs: Any, kind: str = "iterator"):
        self.pairs = pairs
        self.kind = kind

    def only_calculates(self) -> bool:
        """Whether nothing is to be undone of an item that is left aside."""
        return False

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        """C code takes an item. (Differentiated code takes the pairs.)"""
        run = objects.reentry.running()
        return next(self.pairs)[0] if run is None else run.next_of(self)

    def __length_hint__(self) -> Any:
        """How many items are left, as far as that is known here."""
        base = self.base if type(self) is Direct else None
        if self.kind in _BY_ITERATORS and type(base) is zip:
            return operator.length_hint(base.__reduce__()[1][0])
        return NotImplemented

    def tells_length(self) -> bool:
        """Whether the builtin iterator has a length hint: `zip`, `map`, generators have none."""
        return self.kind in ("repeat", "reversed") or self.kind.endswith("iterator")

    def length_hint(self, default: int) -> int:
        """What `operator.length_hint` gives of the builtin iterator in whose place this one is."""
        found = self.__length_hint__()
        if found is not NotImplemented:
            return found
        if not self.tells_length():
            return default
        what, hint = (
            "a length hint of an iterator that is no list's or tuple's",
            "ask what it goes through for its length",
        )
        raise Unsupported(what, foreign.position_of(foreign.caller()), hint=hint)

    def __repr__(self) -> str:
        return f"<{self.kind} object at {id(self):#x}>"


class Begun(Iterator):
    """An iterator whose pairs are begun when somebody asks for them: who takes all at once may know a shorter way."""

    __slots__ = ("_made",)

    def __init__(self, kind: str):
        self.kind = kind
        self._made: Any = None

    def is_begun(self) -> bool:
        return self._made is not None

    @property
    def pairs(self) -> Any:
        made = self._made
        if made is None:
            made = self._made = self.begun()
        return made

    @abstractmethod
    def begun(self) -> Any: ...


class Direct(Begun):
    """An iterator whose items belong to parts of what has a shadow: `base` gives (item, which part).

    `whole` is the list that is gone through, or a `wholes.Whole`, which adds the cotangents of items."""

    __slots__ = ("base", "whole")

    def __init__(self, base: Any, whole: Any, kind: str):
        self.base = base
        self.whole = whole
        self.kind = kind
        self._made: Any = None

    def only_calculates(self) -> bool:
        return True

    def begun(self) -> Any:
        """The pairs, for who does not take `base` and `whole`."""
        return map(functools.partial(_part_of, self.whole), self.base)  # (that has not `self`, which has it)


class Endless(Direct):
    """The same without an end: nobody takes all of it at once."""

    __slots__ = ()


def _part_of(whole: Any, step: tuple[Any, Any]) -> tuple[Any, Any]:
    return step[0], (run_part, whole, step[1])


def run_part(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, whole, part = back
    if d is None:
        return
    if type(whole) is list:
        shadows.add_item(whole, part, d)
        return
    of, adder = whole.found
    if of is shadows:
        adder(part, d)
    else:
        whole.add(shadows, part, d)


class Keys(KeysView):
    """What `dict.keys()` gives."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"dict_keys({list(self)!r})"


class Values(ValuesView):
    """What `dict.values()` gives."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"dict_values({list(self)!r})"


class Items(ItemsView):
    """What `dict.items()` gives."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"dict_items({list(self)!r})"


# ---------------------------------------------------------------------------------------- backs of items


def run_list_item(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_item(back[1], back[2], d)


def _run_dict_item(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_key(back[1], back[2], d)


run_dict_item = in_python("pull", _run_dict_item)
settle(run_dict_item, "zyg_pull_dict_item", *ABOUT)


def run_dict_pair(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        if d[0] is not None:
            mark_keys(back[1], back[2], d[0], shadows, back[3])
        if d[1] is not None:
            shadows.add_key(back[1], back[2], d[1])


def run_gathered(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangent of a tuple that was gone through, from what a list that stands for it has gathered: a tuple has no shadow."""
    length = back[-1]
    taken = shadows.items.pop(id(back[1]), None)
    if not taken:
        return None
    return (tuple(taken) if len(taken) == length else (*taken, *[None] * (length - len(taken))),)


def run_array_item(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if type(d) is Refused:
        shadows.add_array(back[1], d)
    elif d is not None:
        shadows.of_array(back[1])[back[2]] += d


def run_second(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The second of two: `(index, item)`."""
    inner = back[1]
    if inner is not None:
        inner[0](inner, None if d is None else d[1], shadows)


def of_group(group: tuple[tuple[Any, Any], ...]) -> tuple[Any, Any]:
    """The pair of a tuple of items, from a tuple of pairs."""
    return tuple([item for item, _ in group]), (run_zip, [back for _, back in group])


def run_zip(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    backs = back[1]
    k = len(backs)
    while k:
        k -= 1
        inner = backs[k]
        if inner is not None:
            inner[0](inner, None if d is None else d[k], shadows)


def run_holder(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangent of a tuple, from what its items have gathered."""
    taken = shadows.take_list(back[1])
    if taken is None:
        return (None,)
    taken.extend([None] * (back[1].length - len(taken)))
    return (tuple(taken),)


def run_holders(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The same for several sources, the last one first: (run_holders, backs)."""
    given: list[Any] = [None] * len(back[1])
    for k in range(len(given) - 1, -1, -1):
        inner = back[1][k]
        if inner is not None:
            given[k] = (inner[0](inner, None, shadows) or (None,))[0]
    return (None, *given)


def run_call(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """An item that a call gave: (run_call, back of the call, backs of its arguments)."""

    given = objects.calls.run(back[1], d, shadows)
    arguments = back[2]
    for k in range(len(arguments) - 1, -1, -1):
        inner = arguments[k]
        if inner is not None:
            inner[0](inner, None if given is None else given[1 + k], shadows)


def nothing(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Nothing flows to what is iterated over: it has a shadow."""


NOTHING = (nothing,)


# ----------------------------------------------------------------------------------------------- sources


def own_items(x: Any) -> Any:
    """What the builtin class of a container gives when it is gone through, whatever a subclass does in its place."""
    t = type(x)
    found = _container.get(id(t))
    if found is None:
        found = next((base for base in CONTAINERS if issubclass(t, base)), None) or iter
        _container.note(t, found)
    return iter(x) if found is iter else found.__iter__(x)


_container = ByIdentity()  # by class, which of the following it is derived from


# An OrderedDict has an order of its own, which the methods of dict do not know.
CONTAINERS: tuple[Any, ...] = (list, tuple, collections.OrderedDict, dict, set, frozenset, collections.deque)


def own_views(mapping: Any) -> Any:
    """What has the `values` and `items` of a mapping's builtin class, whatever a subclass does in their place."""
    if isinstance(mapping, dict):
        return collections.OrderedDict if isinstance(mapping, collections.OrderedDict) else dict
    return type(mapping)


def tuple_pairs(x: tuple[Any, ...]) -> tuple[Any, Any]:
    if INERT.issuperset(map(type, tuple.__iter__(x))):
        return tuple.__iter__(x), None
    holder = Holder(tuple.__len__(x))
    return zip(tuple.__iter__(x), zip(repeat(run_list_item), repeat(holder), count())), (run_holder, holder)


def _list(x: Any) -> tuple[Any, Any]:
    items = x if type(x) is list else own_items(x)
    return zip(items, zip(repeat(run_list_item), repeat(x), count())), NOTHING


def _values(x: Any) -> tuple[Any, Any]:
    mapping = x._mapping
    values = own_views(mapping).values(mapping)
    return zip(values, zip(repeat(run_dict_item), repeat(mapping), own_items(mapping))), NOTHING


def _items(x: Any) -> tuple[Any, Any]:
    mapping = x._mapping
    entries = own_views(mapping).items(mapping)
    backs = zip(repeat(run_dict_pair), repeat(mapping), own_items(mapping), repeat(place_of_keys(mapping)))
    return zip(entries, backs), NOTHING


def _set(x: Any) -> tuple[Any, Any]:
    if PLAIN_KEYS.issuperset(map(type, own_items(x))):
        return own_items(x), None
    return zip(own_items(x), zip(repeat(run_dict_item), repeat(x), own_items(x))), NOTHING


def _array(x: np.ndarray) -> tuple[Any, Any]:
    if x.ndim == 1 and x.dtype.kind in "fciu":
        return zip(x, zip(repeat(run_array_item), repeat(x), count())), NOTHING
    return _of_objects(x, x) if x.dtype.kind in "OV" else (iter(x), None)


def _of_objects(items: Any, x: np.ndarray) -> tuple[Any, Any]:
    """The items of an array of objects or records: what comes to them is refused if what went in carries a derivative."""
    from .numpy_ import OF_OBJECTS

    found = list(items)
    return zip(found, [foreign.result(v, *OF_OBJECTS, (x,))[1] for v in found]), NOTHING


def _flat(x: np.flatiter[Any]) -> tuple[Any, Any]:
    base = x.base
    if base.dtype.kind not in "fciu":
        return _of_objects(x, base) if base.dtype.kind in "OV" else (x, None)
    return zip(x, zip(repeat(run_array_item), repeat(base), islice(np.ndindex(base.shape), x.index, None))), NOTHING


def iterator_pairs(x: Iterator) -> tuple[Any, Any]:
    if type(x.pairs) in objects.in_step.KINDS:
        noted = sources.Noted(x.pairs)  # not everybody asks for what undoes the end, before which no item may be undone
        return noted, sources.whole(noted)
    return x.pairs, sources.whole(x.pairs) or NOTHING


def _stepped(made: Any) -> tuple[Any, Any]:
    return made, sources.whole(made)


def _plain(x: Any) -> tuple[Any, Any]:
    return iter(x), None


def is_number_key(key: Any) -> bool:
    """Whether a key of a dict is a number that may carry a derivative, or holds one.

    >>> is_number_key("a"), is_number_key(3), is_number_key(0.5), is_number_key((1, 0.5))
    (False, False, True, True)
    """
    if type(key) in PLAIN_KEYS:
        return False
    return (
        any(map(is_number_key, key)) if isinstance(key, (tuple, frozenset)) else is_number(key) and type(key) is not int
    )


def place_of_keys(mapping: Any) -> Any:
    """Where the keys of a dict are asked for, if there are any that may carry a derivative."""
    if all(map(is_label, mapping if type(mapping) is dict else own_items(mapping))):
        return None
    if not any(map(is_number_key, own_items(mapping))):
        return None
    return foreign.caller()


def _keys(x: Any) -> tuple[Any, Any]:
    mapping = x._mapping if type(x) is Keys else x
    keys = own_items(mapping)
    place = place_of_keys(mapping)
    if place is None:
        return keys, None
    return zip(keys, zip(repeat(run_key), repeat(mapping), own_items(mapping), repeat(place))), NOTHING


def run_key(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The derivative by a key of a dict would go to where the key was put in."""
    if d is not None:
        mark_keys(back[1], back[2], d, shadows, back[3])


def mark_keys(mapping: Any, key: Any, d: Any, shadows: Any, place: Any = None) -> None:
    if is_number_key(key):
        what, hint = "a derivative by a key of a dict", "keep the number in a value of the dict, or in a list"
        error = Unsupported(what, foreign.position_of(place), hint=hint)
        shadows.mark(mapping, refused_in(d) or Refused(error), keys=True)


def _numbering(x: count) -> tuple[Any, Any]:
    return map(functools.partial(step_of_numbering, x), x), NOTHING


def step_of_numbering(x: count, item: Any) -> tuple[Any, Any]:
    """(item, back) of what a counter has given that C code made, such as classes have for their instances' numbers: whole numbers
    that it counts depend on nothing that is differentiated."""
    return (item, None) if type(item) is int else step_of_unknown(x, item)


SOURCES: dict[type, Callable[[Any], tuple[Any, Any]]] = {
    list: _list, tuple: tuple_pairs, collections.deque: _list, Values: _values, Items: _items, Iterator: iterator_pairs,
    Direct: iterator_pairs, Endless: iterator_pairs, set: _set, frozenset: _set, np.ndarray: _array, np.flatiter: _flat, dict: _keys, Keys: _keys, str: _plain, bytes: _plain, range: _plain,
    bytearray: _plain, type(iter(range(1))): _plain, collections.Counter: _keys, collections.defaultdict: _keys,
    collections.OrderedDict: _keys, count: _numbering,
}  # fmt: skip


def pairs(x: Any) -> tuple[Any, Any]:
    """(iterator, back): of pairs (item, back of the item), or of plain items if back is None."""
    source = SOURCES.get(type(x))
    if source is not None:
        return source(x)
    return _general(x)


def stepped_as(cls: type) -> type:
    """The builtin class of sequences in whose way instances of a class are gone through; the class itself if there is none.

    >>> from collections import namedtuple
    >>> stepped_as(namedtuple("Point", "x y")), stepped_as(dict)
    (<class 'tuple'>, <class 'dict'>)
    """
    for base in (list, tuple):
        if issubclass(cls, base) and cls.__iter__ is base.__iter__:
            return base
    return cls


def _general(x: Any, by_loop: bool = False) -> tuple[Any, Any]:
    t = type(x)
    stepped = stepped_as(t)
    if stepped is not t:
        return SOURCES[stepped](x)
    if _is_enumeration(x):
        return iter(x), None
    iterated = objects.stepped.iterated(x)
    if iterated is not None:
        made, back = iterated
        if by_loop:
            objects.generators.is_alone(made, back)
        inner, rec = _stepped(sources.ByNext(made)) if objects.stepped.has_steps(made) else pairs(made)
        if back is None:
            return inner, rec
        if rec is None:
            inner, rec = ((item, None) for item in inner), NOTHING
        return inner, (_run_made, back, rec)
    if objects.stepped.goes_by_itself(x):
        return _stepped(sources.ByNext(x))
    made_plainly = plain_pairs(x)
    if made_plainly is not None:
        return made_plainly
    if objects.arithmetic.find_special(t, "__iter__") is None and objects.arithmetic.is_python(
        objects.arithmetic.find(t, "__getitem__")
    ):
        return _stepped(sources.ByIndex(x))
    iter(x)  # raises the TypeError
    return unknown(x), NOTHING


def _is_enumeration(x: Any) -> bool:
    """Whether the items are the members of an enumeration, which are there as long as it is."""
    t = type(x)
    return issubclass(t, enum.EnumMeta) and objects.arithmetic.find(t, "__iter__") is enum.EnumMeta.__iter__


def plain_pairs(x: Any) -> Any:
    """The pairs of an instance of a builtin class, whatever a subclass does; None for other objects."""
    import array
    import io

    for base in (list, tuple, collections.deque, array.array, set, frozenset, np.ndarray):
        if isinstance(x, base):
            return _list(x) if base is array.array else SOURCES[base](x)
    if isinstance(x, dict):
        return _keys(x)
    mapping = objects.structure.mapping_of(x)
    if mapping is not None:
        return _keys(mapping)
    return (iter(x), None) if isinstance(x, (str, bytes, range, io.IOBase)) or objects.matches.are_matches(x) else None


def _run_made(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """`x.__iter__()` gave something that is iterated over in turn."""

    _, made, rec = back
    inner = rec[0](rec, None, shadows)
    given = objects.calls.run(made, None if inner is None else inner[0], shadows)
    return None if given is None else (given[0],)


def unknown(x: Any) -> Generator[tuple[Any, Any], None, None]:
    for item in x:
        yield step_of_unknown(x, item)


def step_of_unknown(x: Any, item: Any) -> tuple[Any, Any]:
    """(item, back) of what an iterator has given that zyg cannot see into."""
    name = type(x).__name__
    memory = x.obj if type(x) is memoryview else None
    hint = "make a list of it outside of the function, or take it out of the derivative's path with zyg.stop_gradient"
    return foreign.result(
        item, f"a derivative through the items of a {name}, which zyg cannot see into", hint, (x, memory)
    )


def pairs_to_end(x: Any) -> tuple[Any, Any]:
    """`pairs`, for who takes all of them, and notes what undoes the end (`sources.record_finish`)."""
    return objects.in_step.loop(x) if type(x) is Iterator else pairs(x)


def listed(x: Any, pairs: Any = pairs) -> Any:
    """`pairs`, for what makes a list or tuple of the items: CPython asks `x` for its length, then."""
    iterator, rec = pairs(x)
    if type(x) is Iterator and isinstance(x.pairs, sources.ByIndex) and not x.pairs.over:
        x = x.pairs.sequence  # which the iterator asks
        if not objects.arithmetic.is_python(objects.arithmetic.find(type(x), "__len__")):
            return iterator, rec
    t = type(x)
    find, is_python = objects.arithmetic.find, objects.arithmetic.is_python
    if (
        t in SOURCES
        or _is_enumeration(x)
        or not (is_python(find(t, "__len__")) or is_python(find(t, "__length_hint__")))
    ):
        return iterator, rec
    with objects.reentry.undone(rec or NOTHING):
        asked = _asked_for_length(x)
    if asked is None:
        return iterator, rec
    return (zip(iterator, repeat(None)) if rec is None else iterator), (_run_listed, asked, rec)


def begun(x: Any) -> tuple[Any, Any]:
    """What C code goes through that asks for an iterator first, and then makes a list of that, which asks it for its own; and what undoes
    that."""
    t = type(x)
    if t not in SOURCES:
        method = objects.arithmetic.find_special(t, "__iter__")
        is_python = objects.arithmetic.is_python
        if is_python(method) or (method is None and is_python(objects.arithmetic.find(t, "__getitem__"))):
            return later.handing.handed_on(x) or record_iter(x)
    return x, None


def _asked_for_length(x: Any) -> Any:
    """What undoes that `x` has been asked for its length."""
    t = type(x)
    find, is_python = objects.arithmetic.find, objects.arithmetic.is_python
    if is_python(find(t, "__len__")) and not is_python(find(t, "__length_hint__")):
        try:
            return objects.calls.call(len, (x,))[1]
        except TypeError:  # then CPython goes on without
            from .effects import changes

            if changes(find(t, "__len__"), t):
                hint = "raise it before anything is changed"
                raise Unsupported(
                    f"a list of a {t.__name__} whose `__len__` changes something and raises TypeError", hint=hint
                ) from None
    return objects.reentry.followed(operator.length_hint, (x, 8))[1]


def _run_listed(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, asked, rec = back
    objects.calls.run(asked, None, shadows)
    return None if rec is None else rec[0](rec, d, shadows)


def with_backs(x: Any) -> Any:
    """An iterator of (item, back) in any case, for consumers; what flows to `x` as a whole is the second result."""
    iterator, rec = pairs(x)
    return (iterator, rec) if rec is not None else (zip(iterator, repeat(None)), None)


def noted_with_backs(x: Any) -> Any:
    """The same for what may leave items aside."""
    iterator, rec = with_backs(x)
    return (iterator if isinstance(x, Iterator) and x.only_calculates() else sources.noted(iterator)), rec


def all_with_backs(iterables: tuple[Any, ...], each: Any = noted_with_backs) -> list[Any]:
    """The same for each of several; what the first ones did is undone where a later one raises an exception."""
    found: list[Any] = []
    recs: list[Any] = []
    with objects.reentry.gathering(recs):
        for x in iterables:
            found.append(each(x))
            recs.append(found[-1][1])
    return found


# --------------------------------------------------------------------------------------------- operations


def record_iter(x: Any) -> tuple[Any, Any]:
    """RECORD of `iter(x)`."""

    if isinstance(x, Iterator):
        return x, None
    t = type(x)
    if t is list:
        return Direct(zip(x, count()), x, "list_iterator"), None
    if t is tuple:
        if INERT.issuperset(map(type, x)):
            return Iterator(zip(x, repeat(None)), "tuple_iterator"), None
        gathered = list(x)
        return Direct(zip(x, count()), gathered, "tuple_iterator"), (run_gathered, gathered, len(x))
    if t is dict and PLAIN_KEYS.issuperset(map(type, x)):
        return Iterator(zip(x, repeat(None)), "dict_keyiterator"), None
    forward = later.special.special_method("__iter__", t, 1)
    method: Any = objects.arithmetic.find_special(t, "__iter__") if forward is None else None
    if forward is not None or objects.arithmetic.is_python(method):
        made, back = objects.calls.call(method.__get__(x, t), ()) if forward is None else forward(x)
        if isinstance(made, Iterator) or objects.arithmetic.is_python(objects.arithmetic.find(type(made), "__next__")):
            return made, back
    iterator, rec = pairs(x)
    if rec is None:
        return iterator if type(x) is range else Iterator(zip(iterator, repeat(None))), None
    return Iterator(iterator), None if rec is NOTHING else rec


def loop(x: Any) -> tuple[Any, Any]:
    """For a `for` loop: (iterator, back of the loop); the iterator gives pairs (item, back), or plain items if the back is
    None."""
    if type(x) is Iterator:
        return objects.in_step.loop(x)
    source = SOURCES.get(type(x))
    return source(x) if source is not None else _general(x, True)


def loop_alone(x: Any, back: Any) -> tuple[Any, Any]:
    """The same for what a call has just given to the loop and to nothing else; `back` is that of the call."""
    objects.generators.is_alone(x, back)
    return loop(x)


def loop_over(call: tuple[Any, ...]) -> tuple[Any, Any]:
    """The same for what a call gives: of what, and with which arguments."""
    y, back = objects.calls.call(call[0], call[1:])
    with objects.reentry.undone(back):
        items, whole = loop(y)
    return items, None if whole is None and back is None else (run_loop_over, whole, back)


def run_loop_over(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, whole, call = back
    given = None if whole is None else whole[0](whole, None, shadows)
    given = objects.calls.run(call, None if given is None else given[0], shadows)
    return None if given is None else (tuple(given),)


def record_next(it: Any) -> tuple[Any, ...]:
    """RECORD of a step of a loop: (whether there is an item, the item, back)."""
    if isinstance(it, Iterator):
        pair = next(it.pairs, None)
        return (False, *sources.record_finish(it.pairs)) if pair is None else (True, *pair)
    source = SOURCES.get(type(it))
    if source is None:
        if objects.arithmetic.is_python(objects.arithmetic.find(type(it), "__next__")):
            return sources.ByNext(it).step()
        source = pairs
    iterator, rec = source(it)
    if rec is not None:
        pair = next(iterator, None)
        return (False, *sources.record_finish(iterator)) if pair is None else (True, *pair)
    for item in iterator:
        return True, item, None
    return False, None, None


__all__ = ["Iterator", "accumulate", "loop", "pairs", "record_iter", "record_next"]
