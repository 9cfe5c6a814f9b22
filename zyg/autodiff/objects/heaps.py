"""The module heapq.

As long as comparisons run no Python code, CPython's own functions order the heap. Where they put an item is found out first, by the
same comparisons: it is a place on the way from the root to a leaf, and all on that way move by one. Else the heap is ordered by
code that is differentiated.
"""

from __future__ import annotations

import heapq
import operator
from collections.abc import Callable
from typing import Any

from . import calls
from .calls import known
from .ordering import less

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
    return calls.call(_heapify, (x,))


# ----------------------------------------------------------------------------------------------------------- places


def _place_up(heap: list[Any], item: Any) -> int | None:
    """Where `heappush` puts an item."""
    at = len(heap)
    first = item[0] if type(item) is tuple and item else None
    quick = type(first) is float
    while at:
        above = (at - 1) >> 1
        other = heap[above]
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


def _place_down(heap: list[Any], item: Any, count: int) -> int | None:
    """Where an item comes that is put at the root of a heap of so many items, in the place of the first."""
    way: list[int] = []
    at, left = 0, 1
    while left < count:
        right = left + 1
        at = left
        if right < count:
            a, b = heap[left], heap[right]
            below: bool | None = None
            if type(a) is tuple and type(b) is tuple and a and b:
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
    while way:
        at = way[-1]
        below = less(item, heap[at])
        if below is None:
            return None
        if not below:
            return at
        way.pop()
    return 0


# -------------------------------------------------------------------------------------------------------- operations


@known(heapq.heappush, exact=True)
def _record_push(heap: Any, item: Any, /) -> tuple[Any, Any]:
    at = _place_up(heap, item) if type(heap) is list else None
    if at is None:
        return calls.call(_heappush, (heap, item))
    heapq.heappush(heap, item)
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
    return heapq.heappop(heap), (run_popped, heap, at, count)


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
