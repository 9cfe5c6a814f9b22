"""The module heapq.

As long as comparisons run no Python code, CPython's own functions order the heap. Where they put an item is found out first, by the
same comparisons: it is a place on the way from the root to a leaf, and all on that way move by one. Else the heap is ordered by
code that is differentiated.
"""

from __future__ import annotations

import builtins
import functools
import heapq
import inspect
import operator
from collections.abc import Callable
from typing import Any

from zyg.backend import pulls
from zyg.errors import Unsupported

from . import calls, draining, foreign, iteration, keys, methods_, places
from .arithmetic import find, is_python
from .calls import known
from .effects import changes
from .ordering import all_ordered, less

# The module keeps these, which its functions in C do without.
_siftdown: Callable[..., None] = getattr(heapq, "_siftdown")  # noqa: B009
_siftup: Callable[..., None] = getattr(heapq, "_siftup")  # noqa: B009


# ------------------------------------------------------------------------------------------- in differentiated code


def _heappush(heap: list[Any], item: Any) -> None:
    heap.append(item)
    _siftdown(heap, 0, len(heap) - 1)


def _heappop(heap: list[Any]) -> Any:
    last = heap.pop()
    if not heap:
        return last
    item = heap[0]
    heap[0] = last
    _siftup(heap, 0)
    return item


def _heapreplace(heap: list[Any], item: Any) -> Any:
    first = heap[0]
    heap[0] = item
    _siftup(heap, 0)
    return first


def _heappushpop(heap: list[Any], item: Any) -> Any:
    if heap and operator.lt(heap[0], item):
        item, heap[0] = heap[0], item
        _siftup(heap, 0)
    return item


def _heapify(x: list[Any]) -> None:
    for k in reversed(range(len(x) // 2)):
        _siftup(x, k)


@known(heapq.heapify, exact=True)
def _record_heapify(x: Any, /) -> tuple[Any, Any]:
    if type(x) is list and all_ordered(x):
        before = x[:]
        try:
            order = _order_of_heap(before)
        except TypeError:  # it is raised again where it belongs
            pass
        else:
            x[:] = [before[k] for k in order]
            return None, (methods_.run_permuted, x, order)
    return calls.call(_heapify, (x,))


def _order_of_heap(items: list[Any]) -> list[int]:
    """The places of items in the order that `heapify` brings them to."""
    heap = items[:]
    heapq.heapify(heap)
    places = {id(item): k for k, item in enumerate(items)}
    if len(places) == len(items):
        return [places[id(item)] for item in heap]
    # One is there twice: they are ordered with their places, by the same comparisons.
    numbered = list(map(_Numbered, items, range(len(items))))
    heapq.heapify(numbered)
    return [item.place for item in numbered]


class _Numbered:
    __slots__ = ("item", "place")

    def __init__(self, item: Any, place: int):
        self.item = item
        self.place = place

    def __lt__(self, other: _Numbered) -> Any:
        return self.item < other.item


# ---------------------------------------------------------------------------------------------------- a few of many


def _few(function: Any, reverse: bool) -> None:
    """nsmallest and nlargest: as if the items were sorted, and the first ones taken."""

    def meaning(n: Any, iterable: Any, key: Any) -> list[Any]:
        return sorted(iterable, key=key, reverse=reverse)[: max(n, 0)]

    @known(function)
    def handler(n: Any, iterable: Any, key: Any = None) -> tuple[Any, Any]:
        if _is_asked(iterable):
            return calls.call(_in_python()[function.__name__], (n, iterable, key))
        if type(n) is not int:
            return calls.call(meaning, (n, iterable, key))
        standing = draining.is_standing(iterable)
        items, drain = draining.drained(iterable)
        if (
            key is None
            and not {float, int, tuple}.issuperset(map(type, items))
            and any(map(_changes, set(map(type, items))))
        ):
            if not standing:
                hint = f"let `{function.__name__}` go through a list of the items"
                what = f"`heapq.{function.__name__}` of an iterator whose items change something when they are compared"
                raise Unsupported(what, foreign.position_of(foreign.caller()), hint=hint)
            y, back = calls.call(_in_python()[function.__name__], (n, items, key))
            return y, (_run_few_in_python, back, items, drain)
        found, asked = keys.keys_of(items, key)
        order, asked = keys.chosen(lambda numbers, key: function(n, numbers, key), found, asked)
        y = [items[k] for k in order]
        return y, (_run_few, y, order, len(items), drain, asked)


def _is_asked(x: Any) -> bool:
    """Whether code of the user's tells how long an iterable is, or gives its items: each in its turn with what is done with them."""
    cls = type(x)
    if cls in iteration.SOURCES or isinstance(x, iteration.Iterator):
        return False
    return any(is_python(find(cls, name)) for name in ("__iter__", "__len__", "__getitem__"))


@functools.cache
def _in_python() -> dict[str, Any]:
    """The functions of `heapq` by their own code, without those of C code, which zyg cannot see into."""

    def without_c(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "_heapq":
            raise ImportError(name)
        return builtins.__import__(name, *args, **kwargs)

    namespace: dict[str, Any] = {"__name__": "heapq", "__builtins__": {**vars(builtins), "__import__": without_c}}
    exec(compile(inspect.getsource(heapq), heapq.__file__, "exec"), namespace)
    return namespace


def _changes(cls: type) -> bool:
    """Whether comparisons of instances of a class change something."""
    methods = [find(cls, name) for name in ("__eq__", "__lt__", "__gt__")]
    return any(is_python(f) and changes(f, cls) for f in methods)


def _run_few_in_python(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, items, drain = back
    given = calls.run(inner, d, shadows)
    n, key = (None, None) if given is None else (given[1], given[3] if len(given) > 3 else None)
    return None, n, draining.give(drain, shadows.take_list(items), shadows), key


def _run_few(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, order, count, drain, asked = back
    taken = shadows.take_list(y)
    parts: list[Any] = [None] * count
    for k, c in zip(order, taken or ()):
        parts[k] = c
    ds = keys.added(None if taken is None else parts, keys.undo(asked, shadows))
    return None, None, draining.give(drain, ds, shadows)


_few(heapq.nsmallest, False)
_few(heapq.nlargest, True)


# ------------------------------------------------------------------------------------------------------------ merge


@known(heapq.merge)
def _record_merge(*iterables: Any, key: Any = None, reverse: bool = False) -> tuple[Any, Any]:
    if iterables and {list}.issuperset(map(type, iterables)) and all(keys.calculates_with(key, x) for x in iterables):
        asked = [keys.keys_of(x, key)[0] for x in iterables]
        if all(map(all_ordered, asked)):
            steps = heapq.merge(*map(places.steps_of_list, iterables), key=_KeyOfStep(key), reverse=reverse)
            return iteration.Direct(steps, places.Chained(), "generator"), None
    return calls.differentiated(heapq.merge)(*iterables, key=key, reverse=reverse)


class _KeyOfStep:
    """The key of an item that comes with its place."""

    __slots__ = ("key",)

    def __init__(self, key: Any):
        self.key = key

    def __call__(self, step: tuple[Any, Any]) -> Any:
        key = step[0] if self.key is None else self.key(step[0])
        if not all_ordered([key]):
            hint = "let `heapq.merge` go through copies of the lists"
            raise Unsupported("lists of plain items that get other ones while they are merged", None, hint=hint)
        return key


# ----------------------------------------------------------------------------------------------------------- places


def _up_in_python(heap: list[Any], item: Any) -> int | None:
    """Where `heappush` puts an item."""
    at = len(heap)
    number = type(item) is float
    first = item[0] if type(item) is tuple and item else None
    quick = type(first) is float
    while at:
        above = (at - 1) >> 1
        other = heap[above]
        if number and type(other) is float:
            if item < other:
                at = above
                continue
            break
        if quick and type(other) is tuple and other:
            key = other[0]
            if type(key) is float:
                if first < key:
                    at = above
                    continue
                if first > key:
                    break
        below = less(item, other)
        if below is None:
            return None
        if not below:
            break
        at = above
    return at


def _down_in_python(heap: list[Any], item: Any, count: int) -> int | None:
    """Where an item comes that is put at the root of a heap of so many items, in the place of the first."""
    way: list[int] = []
    at, left = 0, 1
    while left < count:
        right = left + 1
        at = left
        if right < count:
            a, b = heap[left], heap[right]
            below: bool | None = None
            if type(a) is float and type(b) is float:
                below = a < b
            elif type(a) is tuple and type(b) is tuple and a and b:
                x, y = a[0], b[0]
                if type(x) is float and type(y) is float:
                    if x < y:
                        below = True
                    elif x > y:
                        below = False
            if below is None:
                below = less(a, b)
                if below is None:
                    return None
            if not below:
                at = right
        way.append(at)
        left = 2 * at + 1
    number = type(item) is float
    first = item[0] if type(item) is tuple and item else None
    quick = type(first) is float
    while way:
        at = way[-1]
        other = heap[at]
        below = item < other if number and type(other) is float else None
        if quick and type(other) is tuple and other:
            key = other[0]
            if type(key) is float:
                below = True if first < key else False if first > key else None
        if below is None:
            below = less(item, other)
        if below is None:
            return None
        if not below:
            return at
        way.pop()
    return 0


# (Once there are enough calls, native code compares floats, and tuples that begin with floats.)
_place_up = pulls.deferred("ask", _up_in_python, start=pulls.COTANGENTS)
_place_down = pulls.deferred("ask", _down_in_python, start=pulls.COTANGENTS)


def _place_natively() -> None:
    pulls.settle(_place_up, "zyg_place_up", part="cotangents")
    pulls.settle(_place_down, "zyg_place_down", part="cotangents")


pulls.COTANGENTS.when_started(_place_natively)


# -------------------------------------------------------------------------------------------------------- operations


_push, _pop = heapq.heappush, heapq.heappop


@known(heapq.heappush, exact=True)
def _record_push(heap: Any, item: Any, /) -> tuple[Any, Any]:
    at = _place_up(heap, item) if type(heap) is list else None
    if at is None:
        return calls.call(_heappush, (heap, item))
    _push(heap, item)
    return None, (run_pushed, heap, at, len(heap) - 1)


def run_pushed(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(run_pushed, heap, where the item came, how many there were before it)"""
    _, heap, top, at = back
    shadow = shadows.items.get(id(heap))
    if not shadow:
        return None
    if len(shadow) <= at:
        shadow += [None] * (at + 1 - len(shadow))
    c = shadow.pop()
    while at > top:  # what is there came from above
        at = (at - 1) >> 1
        shadow[at], c = c, shadow[at]
    return None if c is None else (None, None, c)


@known(heapq.heappop, exact=True)
def _record_pop(heap: Any, /) -> tuple[Any, Any]:
    if type(heap) is not list:
        return calls.call(_heappop, (heap,))
    count = len(heap) - 1
    at = _place_down(heap, heap[count], count) if count > 0 else 0
    if at is None:
        return calls.call(_heappop, (heap,))
    return _pop(heap), (run_popped, heap, at, count)


def run_popped(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """(run_popped, heap, where the last item came, how many are left)"""
    _, heap, at, count = back
    shadow = shadows.items.get(id(heap))
    if shadow:
        if len(shadow) < count:
            shadow += [None] * (count - len(shadow))
        if count:
            shadow.append(_lift(shadow, at, d))
        else:
            shadow[:] = (d,)
    elif d is not None:
        shadows.add_item(heap, 0, d)


def _lift(shadow: list[Any], at: int, d: Any) -> Any:
    """An item that came to the root, and down to a place, is gone, and that with cotangent `d` is at the root again; what had come
    up on the way goes down. Gives the cotangent of the item."""
    c = shadow[at]
    while at:
        above = (at - 1) >> 1
        shadow[at] = shadow[above]
        at = above
    shadow[0] = d
    return c


@known(heapq.heapreplace, exact=True)
def _record_replace(heap: Any, item: Any, /) -> tuple[Any, Any]:
    at = _place_down(heap, item, len(heap)) if type(heap) is list and heap else None
    if at is None:
        return calls.call(_heapreplace, (heap, item))
    return heapq.heapreplace(heap, item), (run_replaced, heap, at, len(heap))


def run_replaced(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(run_replaced, heap, where the item came, how many there are)"""
    _, heap, at, count = back
    shadow = shadows.list_of(heap)
    if len(shadow) < count:
        shadow += [None] * (count - len(shadow))
    return None, None, _lift(shadow, at, d)


@known(heapq.heappushpop, exact=True)
def _record_pushpop(heap: Any, item: Any, /) -> tuple[Any, Any]:
    if type(heap) is list:
        above = less(heap[0], item) if heap else False
        if above:
            return _record_replace(heap, item)
        if above is not None:
            return item, (_run_given_back,)
    return calls.call(_heappushpop, (heap, item))


def _run_given_back(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, d
