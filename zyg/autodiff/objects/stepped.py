"""Instances of users' classes that are gone through: by their `__iter__`, and by the `__next__` of what that gives.

What takes items in their order and leaves none aside, as loops and `sum` do, runs the pullbacks of the steps as those of the items:
there is nothing to count, as in `sources`.
"""

from __future__ import annotations

from itertools import chain, repeat
from typing import Any

from zyg.autodiff import objects
from zyg.backend import pullbacks

from .. import trying
from . import calls, draining, later
from .arithmetic import find, find_special, is_python
from .draining import give_backs, leading_pairs
from .iteration import NOTHING, SOURCES, Iterator
from .sources import ByNext, check_iterator, next_of, whole


def iterated(x: Any) -> tuple[Any, Any] | None:
    """(iterator, back) by an `__iter__` that is differentiated, or the container of which it is one; None for objects without one."""
    handed = later.handing.handed_on(x)
    if handed is not None:
        return handed
    cls = type(x)
    method = find_special(cls, "__iter__")
    if not is_python(method):
        return None
    forward = later.special.special_method("__iter__", cls, 1)
    made, back = calls.call(method.__get__(x, cls), ()) if forward is None else forward(x)
    if not isinstance(made, Iterator) and find(type(made), "__next__") is None:
        raise TypeError(f"iter() returned non-iterator of type '{type(made).__name__}'")
    return made, back


def is_known(cls: type) -> bool:
    """Whether what is gone through is of a builtin class, or has an `__iter__` that is differentiated."""
    return cls in SOURCES or is_python(find_special(cls, "__iter__"))


def begun(x: Any) -> tuple[Any, Any]:
    """(what an object of a known class is gone through by, the back of asking its `__iter__` for that), or (`x`, None)."""
    made = None if type(x) in SOURCES else iterated(x)
    if made is None:
        return x, None
    iterator, back = made
    return iterator, (_run_made, back, NOTHING)


def pairs_of_begun(made: tuple[Any, Any]) -> tuple[Any, Any]:
    """`in_step.own_pairs` of what has begun so; the back says nothing of the begin."""
    x, back = made
    if back is None or not has_steps(x):
        inner, rec = objects.in_step.own_pairs(x)
    else:
        steps = ByNext(x)
        inner, rec = steps, whole(steps)
    return inner, rec if back is None else (_run_made, back[1], NOTHING if rec is None else rec)


def asks(x: Any) -> bool:
    """Whether code of the user's says what something is gone through by."""
    return type(x) not in SOURCES and is_python(find_special(type(x), "__iter__"))


def has_steps(x: Any) -> bool:
    """Whether the items come from a `__next__` that is differentiated."""
    return not isinstance(x, Iterator) and is_python(find(type(x), "__next__"))


def goes_by_itself(x: Any) -> bool:
    """The same of what a program goes through: it is its own iterator then, if its class says so by an `__iter__`."""
    if not has_steps(x):
        return False
    if find_special(type(x), "__iter__") is None:
        iter(x)  # raises the TypeError, or goes by `__getitem__`
        return False
    return True


class Steps(chain[Any]):
    """Pairs (item, back) of an iterator for who takes them in their order, without Python code but that of a generator."""

    __slots__ = ("end",)

    end: list[Any]

    def back_of_end(self) -> Any:
        """What undoes the step that found the end."""
        return self.end[0] if self.end else None


def steps(x: Any) -> Steps:
    """The items of an object with a `__next__`."""
    check_iterator(x)
    later.escaping.watch_generators()
    end: list[Any] = []
    made = Steps(_steps(x, end))
    made.end = end
    return made


def _steps(x: Any, end: list[Any]) -> Any:
    known, bodies = later.special.methods_asked("__next__", True), trying.bodies
    while True:
        cls = type(x)
        bodies.append(None)
        try:
            found = known.get(cls)
            if found is not None and cls.__next__ is found[1]:
                item, back = found[2](x)
            else:
                item, back = next_of(x)
                back = None if back is None else (_run_step, back)
        except StopIteration as error:
            end.append(later.escaping.swallowed(error))
            return
        finally:
            bodies.pop()
        yield item, back


def _run_step(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    calls.run(back[1], d, shadows)


# ------------------------------------------------------------------------------------------------------ consumers


def through(x: Any, loop: Any) -> tuple[Any, Any] | None:
    """What `loop` gives, for an instance of a class with `__iter__` or `__next__`; None for others."""
    made = iterated(x)
    if made is None:
        return (steps(x), _BY_STEPS) if goes_by_itself(x) else None
    iterator, back = made
    owned = objects.generator_items.owned_if_quiet(iterator, back)
    if owned is not None:
        return owned[0], (_run_made_owned, owned[1][1], back)
    objects.generators.is_alone(iterator, back)
    rec: tuple[Any, ...] | None
    items, rec = (steps(iterator), _BY_STEPS) if has_steps(iterator) else loop(iterator)
    if back is None:
        return items, rec
    if rec is None:
        return zip(items, repeat(None)), (_run_made, back, NOTHING)
    if rec[0] is pullbacks.nothing:  # items say which part they are of what is gone through
        return items, (pullbacks.nothing, rec[1], _run_made, back, rec)
    return items, (_run_made, back, rec)


def _run_by_steps(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Each item has a back of its own."""


_BY_STEPS = (_run_by_steps,)


def _run_made(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """`x.__iter__()` gave what has been gone through: (..., its back, back of that)"""
    rec = back[-1]
    inner = rec[0](rec, None, shadows)
    given = calls.run(back[-2], None if inner is None else inner[0], shadows)
    return None if given is None else (given[0],)


def _run_made_owned(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(_run_made_owned, the generator that `x.__iter__()` gave, which the reverse of the loop has undone, its back)"""
    given = calls.run(back[2], None, shadows)
    return None if given is None else (given[0],)


def leading(x: Any, types: frozenset[type]) -> Any:
    """`draining.leading`, of the same instances; None for others."""
    made = iterated(x)
    if made is None:
        return _leading_steps(x, types) if goes_by_itself(x) else None
    iterator, back = made
    with objects.reentry.undone((_run_step, back)):
        if has_steps(iterator):
            items, drain, rest = _leading_steps(iterator, types)
        else:
            items, drain, rest = draining.leading(iterator, types)
    return items, drain if back is None else (_give_made, drain, back), rest


def _leading_steps(x: Any, types: frozenset[type]) -> tuple[list[Any], tuple[Any, ...], Any]:
    iterator = steps(x)
    items: list[Any] = []
    backs: list[Any] = []
    rest = None
    with objects.reentry.gathering(backs):
        for item, back in iterator:
            items.append(item)
            backs.append(back)
            if type(item) not in types or (type(item) is tuple and not draining.fits(item, types)):
                rest = Iterator(ByNext(x))
                break
    return items, (_give_steps, backs, iterator.back_of_end()), rest


def _give_steps(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, backs, end = drain
    calls.run(end, None, shadows)
    give_backs((give_backs, backs, None), ds, shadows)


def _give_made(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> Any:
    _, inner, back = drain
    given = calls.run(back, draining.give(inner, ds, shadows), shadows)
    return None if given is None else given[0]


@calls.known(leading)
def _leading_in_turn(x: Any, types: frozenset[type]) -> tuple[Any, Any]:
    """The same where this is differentiated in turn."""
    return calls.call(leading_pairs, (x, types))


__all__ = ["Steps", "iterated", "leading", "steps", "through"]
