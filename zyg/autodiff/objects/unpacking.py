"""`a, b = x` and `a, *rest, b = x`."""

from __future__ import annotations

from typing import Any

from . import calls, draining, iteration, later, reentry
from .arithmetic import find, is_python
from .shadows import add_all


def record_unpack(x: Any, number: int) -> Any:
    """RECORD of `a, b, ... = x`."""
    if not number:  # there is no result but the back
        return unpacked(x, 0)[0]
    return unpacked(x, number)


def unpacked(x: Any, number: int) -> tuple[Any, ...]:
    """The items of `x`, and their back."""
    if type(x) is tuple and len(x) == number:
        return (*x, (run_unpack_tuple,))
    if type(x) is list and len(x) == number:
        return (*x, (run_unpack_list, x))
    first = draining.FIRST.get(type(x))
    if first is not None:
        items, drain = first(x, number + 1)
        if len(items) != number:
            with reentry.undone((draining.run_left, drain)):
                _check(items, number)
        return (*items, (_run_first_items, drain))
    if iteration.stepped_as(type(x)) is tuple and len(items := tuple(iteration.own_items(x))) == number:
        return (*items, (run_unpack_tuple,))
    handed = later.handing.handed_on(x)
    if handed is not None:
        container, read = handed
        *items, back = unpacked(container, number)
        return (*items, back if read is None or back is None else (_run_handed_on, back, read))
    if find(type(x), "__iter__") is None and find(type(x), "__getitem__") is None:
        raise TypeError(f"cannot unpack non-iterable {type(x).__name__} object")
    iterator, rec = iteration.with_backs(x)
    items, backs = [], []
    with reentry.undone((_run_left, backs, rec)):
        for item, back in iterator:
            items.append(item)
            backs.append(back)
            if len(items) > number:
                break
        _check(items, number)
    return (*items, (run_unpack, backs, rec) if rec is not None else None)


def _run_handed_on(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Of the container by which an instance is gone through, which an attribute holds."""
    _, inner, read = back
    given = inner[0](inner, d, shadows)
    if given is not None:
        read[0](read, given[0], shadows)


def _check(items: list[Any], number: int) -> None:
    if len(items) > number:
        raise ValueError(f"too many values to unpack (expected {number})")
    if len(items) < number:
        raise ValueError(f"not enough values to unpack (expected {number}, got {len(items)})")


def _run_first_items(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Of what was made for this alone, or of an iterator, which has its cotangents in shadows."""
    draining.give(back[1], None if d is None else list(d), shadows)


def _run_left(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """An exception came before the items were somebody's."""
    _, backs, rec = back
    if rec is not None:
        run_unpack((run_unpack, backs, rec), None, shadows)


def run_unpack_tuple(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    for c in d:
        if c is not None:
            return (tuple(d),)
    return None


def run_unpack_list(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    for index, c in enumerate(d):
        if c is not None:
            shadows.add_item(back[1], index, c)


def run_unpack(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, backs, rec = back
    for k in range(len(backs) - 1, -1, -1):
        if backs[k] is not None:
            backs[k][0](backs[k], None if d is None else d[k], shadows)
    return rec[0](rec, None, shadows)


def record_unpack_rest(x: Any, before: int, after: int) -> tuple[Any, ...]:
    """RECORD of `a, *rest, b = x`."""
    t = type(x)
    if (t is tuple or t is list) and len(x) >= before + after:
        end = len(x) - after
        rest = [*x[before:end]]
        return (
            *x[:before],
            rest,
            *x[end:],
            (run_parts_of_tuple if t is tuple else run_parts_of_list, x, before, end, rest),
        )
    return (_rest_of_iterator if _steps_by_methods(t) else with_rest)(x, before, after)


def _steps_by_methods(cls: type) -> bool:
    """Whether code of the user's says what instances of a class are gone through by, or gives the items."""
    if cls in iteration.SOURCES:
        return False
    method = find(cls, "__iter__")
    return is_python(method) or is_python(find(cls, "__next__" if method is not None else "__getitem__"))


def run_parts_of_tuple(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, before, end, rest = back
    taken = shadows.take_list(rest)
    if taken is None and d is None:
        return None
    ds: list[Any] = [None] * len(x)
    if d is not None:
        ds[:before], ds[end:] = d[:before], d[before + 1 :]
    if taken is not None:
        ds[before : before + len(taken)] = taken
    return run_unpack_tuple(back, ds, shadows)


def run_parts_of_list(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, before, end, rest = back
    taken = shadows.take_list(rest)
    if taken is not None:
        add_all(shadows, x, before, taken)
    if d is not None:
        run_unpack_list((None, x), d[:before], shadows)
        for index, c in enumerate(d[before + 1 :], end):
            if c is not None:
                shadows.add_item(x, index, c)


def with_rest(x: Any, before: int, after: int, listed: bool = False) -> tuple[Any, ...]:
    """The items before and after the rest, the rest in a list, and their back; `x` is asked for its iterator once. `listed`: for its
    length, too."""
    iterator, rec = iteration.listed(x) if listed or not (before or after) else iteration.pairs(x)
    items, backs = [], []
    with reentry.undone((_run_left, backs, rec)):
        if rec is None:
            items = list(iterator)
        else:
            for item, back in iterator:
                items.append(item)
                backs.append(back)
        if len(items) < before + after:
            raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
    end = len(items) - after
    rest = items[before:end]
    back = None if rec is None else (run_unpack_rest, backs, rec, before, end, rest)
    return (*items[:before], rest, *items[end:], back)


def run_unpack_rest(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, backs, rec, before, end, rest = back
    taken = shadows.take_list(rest) or []
    taken = [*taken, *[None] * (end - before - len(taken))]
    first = d[:before] if d is not None else [None] * before
    last = d[before + 1 :] if d is not None else [None] * (len(backs) - end)
    return run_unpack((run_unpack, backs, rec), (*first, *taken, *last), shadows)


def _rest_of_iterator(x: Any, before: int, after: int) -> tuple[Any, ...]:
    """CPython makes a list of the iterator that gave the first items, and asks it for its iterator to do so: it may start again."""
    iterator, entered = iteration.record_iter(x)
    items, backs = [], []
    with reentry.undone((_run_first, entered, backs)):
        for k in range(before):
            found, item, back = iteration.record_next(iterator)
            backs.append(back)
            if not found:
                wanted = f"at least {before + after}"
                raise ValueError(f"not enough values to unpack (expected {wanted}, got {k})")
            items.append(item)
        *others, inner = with_rest(iterator, 0, after, True)
    return (*items, *others, (_run_rest_of_iterator, entered, backs, inner))


def _run_first(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, entered, backs = back
    for k in range(len(backs) - 1, -1, -1):
        calls.run(backs[k], None if d is None else d[k], shadows)
    calls.run(entered, None, shadows)


def _run_rest_of_iterator(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, entered, backs, inner = back
    calls.run(inner, None if d is None else d[len(backs) :], shadows)
    _run_first((_run_first, entered, backs), d, shadows)


RECORD = {"unpack": record_unpack, "unpack_rest": record_unpack_rest}
