"""Operators on sequences, sets and dicts."""

from __future__ import annotations

import array
import operator
from collections import deque
from typing import Any

from zyg.autodiff import objects
from zyg.ir.plainly import is_in_class

from . import construction, item_methods, reentry
from .arithmetic import OF_CONTAINERS
from .cotangents import SETS, accumulate
from .reach import PLAIN
from .shadows import ABOUT, add_all, in_python, settle


def binary(op: str, a: Any, b: Any) -> tuple[Any, Any] | None:
    """(value, back) of an operator on sequences and dicts, None if it is something else."""
    if op == "add":
        if isinstance(a, tuple) and isinstance(b, tuple):
            return _tuple_sum(a, b)
        if isinstance(a, (list, deque, array.array)):
            y: Any = operator.add(a, b)
            return y, (run_list_sum, y, a, b, len(a), len(a) + len(b) - len(y))
        if isinstance(a, (str, bytes)):
            return a + b, None
    elif op == "mul":
        sequence, swapped = (a, False) if not isinstance(a, int) else (b, True)
        if isinstance(a, (list, tuple, deque, array.array)) and not isinstance(b, int):
            count, asked = reentry.index_of(b)
            if asked is not None:
                made = binary(op, a, count)
                return None if made is None else (made[0], (reentry.run_at_index, made[1], asked))
        if isinstance(sequence, tuple):
            return a * b, (run_tuple_repeated, len(sequence), swapped)
        if isinstance(sequence, (list, deque, array.array)):
            y = a * b
            return y, (run_list_repeated, y, sequence, len(sequence), -len(y))
        if isinstance(sequence, (str, bytes)):
            if type(a) in PLAIN and type(b) in PLAIN:
                return a * b, None
            return reentry.followed(operator.mul, (a, b))
    elif op == "or" and isinstance(a, dict) and isinstance(b, dict):
        return _dict_union(a, b)
    elif op == "mod" and isinstance(a, (str, bytes)):
        return _formatted(a, b)
    return objects.set_methods.operated(op, a, b)


def _tuple_sum(a: Any, b: Any) -> tuple[Any, Any]:
    return a + b, (run_tuple_sum, len(a))


def _list_sum(a: list[Any], b: list[Any]) -> tuple[Any, Any]:
    y = a + b
    return y, (run_sum_of_lists, y, a, b, len(a))


def _list_repeated(a: list[Any], count: int) -> tuple[Any, Any]:
    y = a * count
    return y, (run_list_repeated, y, a, len(a), -len(y))


def _dict_union(a: Any, b: Any) -> tuple[Any, Any]:
    if item_methods.are_own(a) or item_methods.are_own(b):
        return item_methods.call(item_methods.union, a, b)
    return _union(a, b)


def _union(a: dict[Any, Any], b: dict[Any, Any]) -> tuple[Any, Any]:
    y = a | b
    return y, (run_dict_union, y, a, b, frozenset(b))


def _formatted(a: Any, b: Any) -> tuple[Any, Any]:
    """Text by `%`, which asks what it is made of."""
    if type(a) in PLAIN and PLAIN.issuperset(map(type, b if type(b) is tuple else (b,))):
        return a % b, None
    return reentry.followed(operator.mod, (a, b))


def _of_sets(op: str) -> Any:
    return lambda a, b: objects.set_methods.operated(op, a, b)


# Where the types say all. (Classes derived from them may have methods of their own.)
_BY_TYPES: dict[tuple[str, type, type], Any] = {
    ("add", tuple, tuple): _tuple_sum,
    ("add", list, list): _list_sum,
    ("mul", list, int): _list_repeated,
    ("or", dict, dict): _union,
    **{("mod", str, t): _formatted for t in (int, float, tuple)},
    **{(op, s, t): _of_sets(op) for op in ("or", "and", "sub", "xor") for s in SETS for t in SETS},
}
for (_op, _first, _second), _record in _BY_TYPES.items():
    OF_CONTAINERS[_op][_first, _second] = _record


def run_tuple_sum(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (d[: back[1]] or None, d[back[1] :] or None)


def run_list_sum(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, y, a, b, length, lost = back  # what fell out of a deque with a largest length
    for index, c in enumerate(shadows.take_list(y) or (), lost):
        if c is not None:
            if index < length:
                shadows.add_item(a, index, c)
            else:
                shadows.add_item(b, index - length, c)


def _run_sum_of_lists(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, y, a, b, length = back
    shadow = shadows.items.get(id(y))
    if shadow:
        if len(shadow) > length:
            add_all(shadows, b, 0, shadow[length:])
        add_all(shadows, a, 0, shadow[:length])
        shadow.clear()


run_sum_of_lists = in_python("pull", _run_sum_of_lists)
settle(run_sum_of_lists, "zyg_pull_joined", *ABOUT)


def run_tuple_repeated(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, length, swapped = back
    total: Any = None
    for start in range(0, len(d), length or 1):
        total = accumulate(total, tuple(d[start : start + length]))
    return (None, total) if swapped else (total, None)


def run_list_repeated(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, y, x, length, first = back  # (counted from the end: of a deque with a largest length some fell out)
    if length == 1:
        total: Any = None
        for c in shadows.take_list(y) or ():
            if c is not None:
                total = c if total is None else total + c if type(total) is float else accumulate(total, c)
        if total is not None:
            shadows.add_item(x, 0, total)
        return
    for index, c in enumerate(shadows.take_list(y) or (), first):
        if c is not None:
            shadows.add_item(x, index % length, c)


def _run_dict_union(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, y, a, b, keys = back
    shadow = shadows.items.get(id(y))
    if not shadow:
        return
    to_a = to_b = None
    for key, c in shadow.items():
        if c is None:
            continue
        if key in keys:
            to = to_b = shadows.items_of(b) if to_b is None else to_b
        else:
            to = to_a = shadows.items_of(a) if to_a is None else to_a
        old = to.get(key)
        to[key] = c if old is None else old + c if type(old) is float else accumulate(old, c)
    shadow.clear()


run_dict_union = in_python("pull", _run_dict_union)
settle(run_dict_union, "zyg_pull_united", *ABOUT)


def extended(a: list[Any], b: list[Any]) -> tuple[Any, Any]:
    """`a += b` of two lists."""
    start = len(a)
    a.extend(b)
    return a, (construction.run_extended_by_list, a, start, b, len(b))


def inplace(op: str, a: Any, b: Any) -> tuple[Any, Any] | None:
    """(value, back) of an in-place operator on containers; None if it is something else."""
    if isinstance(a, (list, deque, array.array)):
        if op == "add" and is_in_class(type(b), "__radd__"):
            return None  # asked before the list, as arrays are: the sum becomes an array
        if op == "add":
            bounded = isinstance(a, deque) and a.maxlen is not None  # items fall out at the other end
            inner = objects.deque_methods.extend_bounded(a, b) if bounded else construction.record_list_extend(a, b)
            return a, (run_inplace, inner)
        if op == "mul" and isinstance(b, int):
            length = len(a)
            a *= b
            if isinstance(a, deque) and a.maxlen is not None:
                return a, (_run_bounded_repeated_in_place, a, length, -len(a))
            return a, (run_list_repeated_in_place, a, length)
    if op == "or" and item_methods.are_own(a):
        return item_methods.call(item_methods.united, a, b)
    if op == "or" and isinstance(a, dict):
        inner = construction.record_dict_update(a, b)
        return a, (run_inplace, inner)
    return objects.set_methods.operated(op, a, b, in_place=True)


def run_inplace(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return back[1][0](back[1], None, shadows)


def _run_bounded_repeated_in_place(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    run_list_repeated((run_list_repeated, back[1], *back[1:]), d, shadows)


def run_list_repeated_in_place(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, length = back
    for index, c in enumerate(construction.cut_off(shadows, x, length)):
        if c is not None:
            shadows.add_item(x, index % length, c)
