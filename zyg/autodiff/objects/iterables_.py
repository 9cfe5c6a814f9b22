"""Iterators that builtin functions make, and their steps: `iter`, `next`, `enumerate`, `zip`, `filter`, `reversed`."""

from __future__ import annotations

import array
from collections import deque
from itertools import count, repeat
from typing import Any

import numpy as np

from zyg.autodiff import objects

from . import (
    calls,
    delegation,
    generator_items,
    generators,
    in_step,
    iteration,
    keys,
    later,
    reentry,
    reversals,
    wholes,
)
from .arithmetic import find, is_python, method_of
from .builtins_ import MISSING, as_call, run_shift, shift
from .calls import known
from .cotangents import INERT
from .iteration import Iterator
from .sources import BackwardsByIndex, Until, whole


@known(iter, exact=True)
def _iter(*args: Any) -> tuple[Any, Any]:
    return shift(iteration.record_iter(args[0])) if len(args) == 1 else calls.run_known(_until, *args)


def _until(x: Any, sentinel: Any = MISSING, /) -> tuple[Any, Any]:
    return (iter(x) if sentinel is MISSING else Iterator(Until(x, sentinel), "callable_iterator")), None


calls.takes_what(_iter, _until)


@known(next, exact=True)
def _next(*args: Any) -> tuple[Any, Any]:
    if len(args) == 1 or len(args) == 2:
        t = type(args[0])
        if t is generators.Generator:
            return generators.record_next(args[0]) if len(args) == 1 else _next_of_generator(*args)
        if t is iteration.Direct or t is iteration.Endless:
            return _next_directly(*args)
        if t is Iterator:
            return _stepped(*args)
        if t is count:
            return iteration.step_of_numbering(args[0], next(*args))
    return calls.run_known(_step, *args)


def _next_directly(it: iteration.Direct, default: Any = MISSING) -> tuple[Any, Any]:
    """No code runs where it steps on, and nothing is to be undone at its end."""
    step = next(it.base, None)
    if step is not None:
        return step[0], (iteration.run_part, it.whole, step[1])
    if default is MISSING:
        raise StopIteration
    return default, (run_next_default, None)


def _next_of_generator(generator: generators.Generator, default: Any) -> tuple[Any, Any]:
    """(Nobody sees the exception that tells of the end.)"""
    record = generator.record
    try:
        item = next(generator.forward)
    except StopIteration:
        if record.done:
            return default, (run_next_default, None)
        record.done = True
        return default, (run_next_default, (reversals.run_end, record, None))
    except BaseException as error:
        generator.fail(error)
        raise
    record.items += 1
    return item, (reversals.run_item, record, record.items)


def _step(it: Any, default: Any = MISSING) -> tuple[Any, Any]:
    step = find(type(it), "__next__")
    if step is None:
        return next(it), None  # raises the TypeError
    if is_python(step) and not isinstance(it, Iterator):
        function = step.__get__(it, type(it))
        if default is MISSING:
            return as_call(calls.call(function, ()))
        try:
            return as_call(later.escaping.attempt(calls.call, function, ()))
        except StopIteration as end:
            return default, (run_next_default, later.escaping.swallowed(end))
    if type(it) is generators.Generator:
        return generators.record_next(it) if default is MISSING else _next_of_generator(it, default)
    return _stepped(it, default)


calls.takes_what(_next, _step)


def _stepped(it: Any, default: Any = MISSING) -> tuple[Any, Any]:
    has, item, back = iteration.record_next(it)
    if not has:
        if default is MISSING:
            end = StopIteration()
            if back is not None:
                later.escaping.attach(end, back)
            raise end
        return default, (run_next_default, back)
    return item, None if back is None else (run_next, back)


def run_next(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    back[1][0](back[1], d, shadows)


known(Iterator.__next__)(_step)
known(generators.Generator.send)(generators.record_send)
known(reversals.run_sent)(lambda *args: calls.call(reversals.run_sent_by_step, args))
calls.AS_METHODS[generators.Generator.send] = generators.send_as_method, 2
known(delegation.delegated, exact=True)(delegation.record_delegated)
known(reversals.give_generator)(lambda *args: calls.call(reversals.give_by_steps, args))
known(reversals.resume_in_turn)(lambda *args: calls.call(reversals.one_by_one, args))
known(reversals.run_item)(lambda *args: calls.call(reversals.run_item_by_step, args))
known(generator_items.quickly)(lambda generator: calls.call(generator_items.slowly, (generator,)))
known(generators.Generator.throw)(generators.record_throw)
known(generators.Generator.close)(generators.record_close)
# (What refuses here is not differentiated: so the place is that of the user's code that reads the attribute.)
known(generators.Generator.refuse_frame)(generators.Generator.refuse_frame)


def run_next_default(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(run_next_default, back of the step that found the end)"""
    calls.run(back[1], None, shadows)
    return None, None, d


def _made(pairs: Any, kind: str, rec: Any) -> tuple[Any, Any]:
    return Iterator(pairs, kind), None if rec is None or rec is iteration.NOTHING else (run_shift, rec)


@known(enumerate, exact=True)
def _enumerate(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if len(args) == 1 and not kwargs:  # (what small loops take is this)
        (items,) = args
        t = type(items)
        if t is list:
            return iteration.Direct(zip(enumerate(items), count()), wholes.Numbered(items), "enumerate"), None
        if t is tuple:
            if INERT.issuperset(map(type, items)):
                return enumerate_plainly(iter(items), 0), None
            whole = wholes.NumberedTuple((items,))
            made = iteration.Direct(zip(enumerate(items), count()), whole, "enumerate")
            return made, (_run_zip_of_tuples, whole)
        if t not in iteration.SOURCES:
            handed = later.handing.handed_on(items)
            if handed is not None:
                container, read = handed
                return later.handing.read_for(_enumerate(container), [] if read is None else [(1, read)])
    return calls.run_known(_numbered, *args, **kwargs)


def _of_list(items: list[Any], start: int) -> iteration.Direct:
    return iteration.Direct(zip(enumerate(items, start), count()), wholes.Numbered(items), "enumerate")


def _numbered(iterable: Any, start: Any = 0) -> tuple[Any, Any]:
    if type(start) is not int:
        start, asked = reentry.index_of(start)
        if asked is not None:
            y, back = _numbered(iterable, start)
            return y, (reentry.run_at_index, back, asked)
    if type(iterable) is list:
        return _of_list(iterable, start), None
    counted = wholes.counted(iterable, start)
    if counted is not None:
        return counted, None
    handed = later.handing.all_handed_on((iterable,))
    if handed is not None:
        (items,), reads = handed
        return later.handing.read_for(_enumerate(items) if start == 0 else _numbered(items, start), reads)
    iterator, rec = in_step.own_pairs(iterable, iteration.pairs)
    if rec is None:
        return enumerate_plainly(iterator, start), None
    rec = None if in_step.is_undone(rec) else rec
    return _made(in_step.along(_of_enumerated, enumerate(iterator, start), iterator), "enumerate", rec)


calls.takes_what(_enumerate, _numbered)


def enumerate_plainly(iterator: Any, start: int) -> Any:
    return Iterator(zip(enumerate(iterator, start), repeat(None)), "enumerate")


def _of_enumerated(step: tuple[int, Any]) -> tuple[Any, Any]:
    index, (item, back) = step
    return (index, item), None if back is None else (iteration.run_second, back)


_LISTS = frozenset({list})
_SEQUENCES = frozenset({list, tuple})


@known(zip, exact=True)
def _zip(*iterables: Any, strict: bool = False) -> tuple[Any, Any]:
    if strict and not _as_long(iterables):
        return _zip_in_general(iterables, strict)
    if iterables and _LISTS.issuperset(map(type, iterables)):
        return iteration.Direct(zip(zip(*iterables, strict=strict), count()), wholes.Lists(iterables), "zip"), None
    if iterables and _SEQUENCES.issuperset(map(type, iterables)):
        whole = wholes.ListsAndTuples(iterables)
        made = iteration.Direct(zip(zip(*iterables, strict=strict), count()), whole, "zip")
        return made, (_run_zip_of_tuples, whole)
    if iterables and _SEQUENCES.issuperset(map(iteration.stepped_as, map(type, iterables))):
        whole, back = wholes.Lists(iterables), None
        if any(issubclass(type(x), tuple) for x in iterables):
            whole = wholes.ListsAndTuples(iterables)
            back = (_run_zip_of_tuples, whole)
        return iteration.Direct(zip(zip(*iterables, strict=strict), count()), whole, "zip"), back
    return _zip_in_general(iterables, strict)


def _as_long(iterables: tuple[Any, ...]) -> bool:
    """Whether they are known to be of one length."""
    return _SEQUENCES.issuperset(map(type, iterables)) and len(set(map(len, iterables))) == 1


def _zip_in_general(iterables: tuple[Any, ...], strict: bool) -> tuple[Any, Any]:
    together = wholes.together(iterables, strict)
    if together is not None:
        return together, None
    handed = later.handing.all_handed_on(iterables)
    if handed is not None:
        items, reads = handed
        return later.handing.read_for(_zip(*items, strict=strict), reads)
    if all(map(objects.stepped.is_known, map(type, iterables))):
        begun = iteration.all_with_backs(iterables, objects.stepped.begun)
        together = wholes.together(tuple([made for made, _ in begun]), strict)
        if together is not None:
            return together, (iteration.run_holders, [back for _, back in begun])
        iterators, recs = in_step.begin(tuple(begun), objects.stepped.pairs_of_begun)
    else:
        iterators, recs = in_step.begin(iterables)
    pairs = in_step.abreast_strictly(iterators) if strict else in_step.abreast(iterators)
    return Iterator(pairs, "zip"), in_step.back_of(recs)


def _run_zip_of_tuples(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return [None, *back[1].taken(shadows)]


@known(filter)
def _filter(f: Any, iterable: Any, /) -> tuple[Any, Any]:
    pairs, rec = keys.selected(filter, f, iterable)
    y, back = _made(pairs, "filter", rec)
    return y, None if back is None else (_run_second_of_two, back)


def _run_second_of_two(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, *given)


@known(reversed, exact=True)
def _reversed(*args: Any) -> tuple[Any, Any]:
    if len(args) == 1:  # (what small loops take is this)
        (x,) = args
        t = type(x)
        if t is list:
            return iteration.Direct(zip(reversed(x), count(len(x) - 1, -1)), x, "list_reverseiterator"), None
        if t is tuple and not INERT.issuperset(map(type, x)):
            gathered, number = list(x), len(x)
            made = iteration.Direct(zip(reversed(x), count(number - 1, -1)), gathered, "reversed")
            return made, (run_shift, (iteration.run_gathered, gathered, number))
    return calls.run_known(_from_the_end, *args)


def _from_the_end(x: Any) -> tuple[Any, Any]:
    made = method_of(x, "__reversed__")
    if made is not None:
        y, back = calls.call(made, ())
        return y, None if back is None else (run_shift, back)
    if isinstance(x, (list, deque, array.array)):
        return Iterator(_backwards(x), "list_reverseiterator"), None
    if isinstance(x, tuple) and not is_python(find(type(x), "__getitem__")):
        iterator, rec = iteration.tuple_pairs(x)
        iterator = zip(iterator, repeat(None)) if rec is None else iterator
        return Iterator(iter(list(iterator)[::-1]), "reversed"), None if rec is None else (run_shift, rec)
    if isinstance(x, (iteration.Values, iteration.Items)):
        iterator, rec = iteration.pairs(x)
        return Iterator(iter(list(iterator)[::-1]), "reversed"), None
    if is_python(find(type(x), "__getitem__")) and not isinstance(x, dict):
        length, asked = calls.call(len, (x,))
        steps = BackwardsByIndex(x, length)
        return Iterator(steps, "reversed"), (_run_backwards, whole(steps), asked)
    y = reversed(x)
    if isinstance(x, np.ndarray):
        return Iterator(iter(list(iteration.with_backs(x)[0])[::-1]), "reversed"), None
    return y, None


calls.takes_what(_reversed, _from_the_end)


def _backwards(x: Any) -> Any:
    base: Any = next(c for c in (list, deque, array.array) if isinstance(x, c))  # whatever a subclass does
    for index in range(base.__len__(x) - 1, -1, -1):
        if index < base.__len__(x):
            yield base.__getitem__(x, index), (iteration.run_list_item, x, index)


def _run_backwards(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    calls.run(back[1], None, shadows)
    calls.run(back[2], None, shadows)
