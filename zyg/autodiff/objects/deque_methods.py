"""The methods of deques, and of arrays of the array module."""

from __future__ import annotations

import array
from collections import deque
from typing import Any

from . import calls, construction, conversions, draining, iteration, reentry, subscripts
from .calls import method
from .methods_ import insert, query_methods, run_permuted, run_popped


@method(deque, "append", exact=True)
def _deque_append(x: Any, value: Any) -> tuple[Any, Any]:
    if x.maxlen is not None and len(x) == x.maxlen:
        if not x.maxlen:
            return None, None
        deque.append(x, value)
        return None, (_run_rotated_in, x, len(x) - 1, 0)
    deque.append(x, value)
    return None, (construction.run_appended, x, len(x) - 1)


def _run_rotated_in(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """A full deque of bounded length: what came in goes, and what fell out at the other end is there again."""
    _, x, index, fallen = back
    shadow = shadows.list_of(x)
    shadow.extend([None] * (index + 1 - len(shadow)))
    c = shadow.pop(index)
    shadow.insert(fallen, None)
    return None, c


@method(deque, "appendleft", exact=True)
def _appendleft(x: Any, value: Any) -> tuple[Any, Any]:
    if x.maxlen is not None and len(x) == x.maxlen:
        if not x.maxlen:
            return None, None
        deque.appendleft(x, value)
        return None, (_run_rotated_in, x, 0, len(x) - 1)
    deque.appendleft(x, value)
    return None, (_run_prepended, x)


def _run_prepended(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    shadow = shadows.items.get(id(back[1]))
    return (None, shadow.pop(0)) if shadow else None


@method(deque, "pop", exact=True)
def _deque_pop(x: Any) -> tuple[Any, Any]:
    y = deque.pop(x)
    return y, (run_popped, x, len(x))


@method(deque, "popleft", exact=True)
def _popleft(x: Any) -> tuple[Any, Any]:
    y = deque.popleft(x)
    return y, (run_popped, x, 0)


@method(deque, "extend")
def _deque_extend(x: Any, values: Any) -> tuple[Any, Any]:
    if x.maxlen is None:
        return None, construction.record_list_extend(x, values)
    return None, extend_bounded(x, values)


def extend_bounded(x: Any, values: Any) -> Any:
    """`x.extend(values)` of a deque with a largest length."""
    return _each_by(_deque_append, x, values)


@method(deque, "extendleft")
def _extendleft(x: Any, values: Any) -> tuple[Any, Any]:
    return None, _each_by(_appendleft, x, values)


def _each_by(step: Any, x: Any, values: Any) -> Any:
    if values is x:  # its items are read first
        items, drain = draining.drained(values)
        return (_run_steps_by_itself, [step(x, value)[1] for value in items], drain)
    iterator, rec = iteration.with_backs(values)
    steps: list[Any] = []
    back = (_run_steps, steps, rec)
    with reentry.undone(back):  # what came before the iterator raises stays
        for value, inner in iterator:
            steps.append((step(x, value)[1], inner))
    return back


def _run_steps_by_itself(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    taken: list[Any] = []
    for step in reversed(back[1]):
        given = calls.run(step, None, shadows)
        taken.append(None if given is None else given[1])
    draining.give(back[2], taken[::-1], shadows)


def _run_steps(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    for step, inner in reversed(back[1]):
        given = calls.run(step, None, shadows)
        if inner is not None:
            inner[0](inner, None if given is None else given[1], shadows)
    whole = None if back[2] is None else back[2][0](back[2], None, shadows)
    return None if whole is None else (None, whole[0])


@method(deque, "rotate", exact=True)
@reentry.by_index(1)
def _rotate(x: Any, n: int = 1) -> tuple[Any, Any]:
    length = len(x)
    deque.rotate(x, n)
    return None, (run_permuted, x, [(k - n) % length for k in range(length)])


@method(deque, "copy", "__copy__")
def _deque_copy(x: Any) -> tuple[Any, Any]:
    y = deque.copy(x)
    return y, (subscripts.run_list_part, y, x, 0, 1)


method(deque, "insert", exact=True)(insert)
for _cls in (deque, array.array):
    for _name in ("remove", "reverse", "clear"):
        if hasattr(_cls, _name):
            method(_cls, _name, exact=True)(calls.METHODS[list, _name])


@method(array.array, "append")
def _array_append(x: Any, value: Any) -> tuple[Any, Any]:
    if conversions.is_stored_as_number(x, value):
        return None, (_run_put, conversions.stored(lambda x, number: _array_append(x, number)[1], x, value), 1)
    array.array.append(x, value)
    return None, (construction.run_appended, x, len(x) - 1)


@method(array.array, "insert", exact=True)
def _array_insert(x: Any, index: Any, value: Any) -> tuple[Any, Any]:
    if conversions.is_stored_as_number(x, value):
        return None, (_run_put, conversions.stored(lambda x, number: insert(x, index, number)[1], x, value), 2)
    return insert(x, index, value)


def _run_put(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """`back[2]` is at which place the value stands among the arguments."""
    return *(None,) * back[2], calls.run(back[1], None, shadows)[-1]


method(array.array, "pop", exact=True)(calls.METHODS[list, "pop"])


@method(array.array, "extend", exact=True)
def _array_extend(x: Any, values: Any) -> tuple[Any, Any]:
    if type(values) not in (list, tuple):
        return None, construction.record_list_extend(x, values)
    numbers, drain = conversions.drained(values)
    return None, (_run_array_extended, construction.record_list_extend(x, numbers), numbers, drain)


def _run_array_extended(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, numbers, drain = back
    calls.run(inner, None, shadows)
    taken = shadows.take_list(numbers) or []
    return None, draining.give(drain, [*taken, *[None] * (len(numbers) - len(taken))], shadows)


@method(memoryview, "__setitem__")
def _memory_set(x: memoryview, key: Any, value: Any) -> tuple[Any, Any]:
    return None, subscripts.record_setitem(x, key, value)


query_methods(array.array, "index", "count", "tobytes", "buffer_info")


@method(array.array, "tolist")
def _tolist(x: Any) -> tuple[Any, Any]:
    y = x.tolist()
    return y, (subscripts.run_list_part, y, x, 0, 1)
