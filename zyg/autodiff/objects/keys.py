"""Keys and tests of items: what functions like `sorted` and `filter` call for each item. Nothing flows to what these calls give,
but they may have done something."""

from __future__ import annotations

import dis
import functools
import operator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from zyg.autodiff import objects
from zyg.autodiff.identity import ByIdentity
from zyg.autodiff.trying import bodies
from zyg.errors import Unsupported

from . import calls, draining, effects, foreign, iteration, later, ordering, reach, reentry
from .cotangents import accumulate
from .quiet import is_quiet
from .sources import WITHOUT_STEPS, Noted, Steps, picked, record_finish, run_item

_harmless = ByIdentity()  # of a code object
_looking = ByIdentity()  # the same
_MADE_BY_A_STATEMENT = 1 << 9  # Py_TPFLAGS_HEAPTYPE: its instances may be made by Python code
_STORING = (
    "STORE_ATTR",
    "STORE_SUBSCR",
    "STORE_SLICE",
    "STORE_GLOBAL",
    "STORE_DEREF",
    "STORE_NAME",
    "DELETE_",
    "IMPORT_",
    "YIELD",
)
_DOING = (*_STORING, "CALL", "PRECALL")


def is_harmless(f: Any) -> bool:
    """Whether a call of `f` does nothing but calculate, as far as its code tells.

    >>> is_harmless(lambda z: -z[1]), is_harmless(lambda z: print(z)), is_harmless(len), is_harmless({}.get), is_harmless([].append)
    (True, False, True, True, False)
    """
    if type(f) is not FunctionType:
        if type(f) is BuiltinFunctionType:
            return _only_calculates(f)
        if type(f) is type:
            return not f.__flags__ & _MADE_BY_A_STATEMENT
        return f is None or type(f).__module__ == "operator"
    found = _harmless.of(f.__code__)
    if found is None:
        found = not any(
            i.opname.startswith(_DOING) or (i.opname == "BINARY_OP" and i.argrepr.endswith("="))  # in place
            for i in dis.get_instructions(f.__code__)
        )
        _harmless.note(f.__code__, found)
    return found


def _only_calculates(f: Any) -> bool:
    """The same of a builtin function, or a method of a builtin class."""
    of = f.__self__
    if type(of) is ModuleType:
        return of.__name__ in _CALCULATING and f.__name__ not in _CHANGING
    if f.__name__ == "__getitem__" and hasattr(type(of), "__missing__"):
        return False  # as that of a defaultdict, which makes items
    return type(of) in reach.PLAIN or f.__name__ in _READING


_CALCULATING = frozenset({"builtins", "math", "cmath", "_operator"})
_CHANGING = frozenset(
    "next iter setattr delattr exec eval print input compile __import__ setitem delitem iadd isub imul imatmul itruediv ifloordiv imod"
    " ipow iand ior ixor ilshift irshift iconcat call".split()
)
_READING = frozenset({"get", "__getitem__", "__contains__", "count", "index"})


def only_looks(f: FunctionType) -> bool:
    """Whether a function stores and deletes nothing by itself: only what it calls may.

    >>> only_looks(lambda z: len(z.items)), only_looks(lambda z: z.__setitem__(0, 1.0))
    (True, True)
    """
    found = _looking.of(f.__code__)
    if found is None:
        found = not any(i.opname.startswith(_STORING) for i in dis.get_instructions(f.__code__))
        _looking.note(f.__code__, found)
    return found


def keys_of(
    items: list[Any], key: Any, drain: tuple[Any, ...] | None = None, better: Any = None
) -> tuple[list[Any], list[Any] | None]:
    """The key of each item, and the backs of the calls, if these may have done something. `drain`: where the items are from, which is
    undone, too, where an exception that leaves this is caught; None if they are arguments. `better`: each is compared at once."""
    if key is None:
        return items, None
    if calculates_with(key, items):
        if drain is None or not bodies:
            return [key(v) for v in items], None
        with draining.undone(drain):
            return [key(v) for v in items], None
    forward = calls.forward_of(key)
    found: list[Any] = []
    backs: list[Any] = []
    best, plain = None, True
    with reentry.undone((_run_keys_left, backs, drain, len(items)), backs):
        for v in items:
            k, back = forward(v)
            backs.append(back)
            found.append(k)
            if better is not None:  # what cannot be compared raises before the next key is asked for
                plain = plain and type(k) in reach.PLAIN
                if plain and (len(found) == 1 or better(k, best)):
                    best = k
    return found, backs


def _run_keys_left(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """An exception has left a call for a key, or a comparison of keys."""
    _, asked, drain, count = back
    ds = undo(asked, shadows)
    if drain is None:
        return ds
    return draining.give(drain, ds if ds is None else [*ds, *[None] * (count - len(ds))], shadows)


def calculates_with(f: Any, items: list[Any]) -> bool:
    """Whether calls of `f` with these items do nothing but calculate."""
    if not is_harmless(f):
        return False
    got = f if type(f) is FunctionType else _reading(f)
    if got is not None:
        return is_quiet(got, items)
    return f is None or reach.PLAIN.issuperset(map(type, items))


def calculates_alone(f: Any) -> bool:
    """The same, as far as the items are numbers or text."""
    return is_harmless(f) and is_quiet(f, ())


def _reading(f: Any) -> Any:
    """A function in Python that reads what an `operator.attrgetter` does, or as many items as an `itemgetter` by what runs no code;
    None of other callables.

    >>> _reading(operator.attrgetter("real", "imag"))(2.0), _reading(len)
    ((2.0, 0.0), None)
    """
    if type(f) is operator.attrgetter:
        names = f.__reduce__()[1]
        return objects.math_.reader_of(names) if objects.math_.are_names(names) else None
    if type(f) is operator.itemgetter:
        keys = f.__reduce__()[1]
        return _reading_items(len(keys)) if reach.PLAIN.issuperset(map(type, keys)) else None
    return None


@functools.lru_cache(100)
def _reading_items(count: int) -> Any:
    return eval(f"lambda x: ({', '.join([f'x[{at}]' for at in range(count)])})", {})


_SEQUENCES = frozenset({list, tuple})


class Compared:
    """What undoes that keys were compared, and then what undoes the calls for them. `of_items`: what is compared are the
    items."""

    __slots__ = ("asked", "back", "of_items")

    def __init__(self, back: Any, asked: list[Any] | None, of_items: bool = False):
        self.back = back
        self.asked = asked
        self.of_items = of_items


def chosen(
    function: Any, found: list[Any], asked: list[Any] | None, drain: tuple[Any, ...] | None = None, **options: Any
) -> tuple[Any, Any]:
    """What `min`, `max` or `sorted` choose among the numbers of the items, by their keys; with what undoes the comparisons."""
    if asked is None and (drain is None or not bodies):
        return _chosen(function, found, options)
    with reentry.undone((_run_keys_left, asked, drain, len(found))):
        y, back = _chosen(function, found, options)
    return y, asked if back is None else back if asked is None else Compared(back.back, asked)


def _chosen(function: Any, found: list[Any], options: dict[str, Any]) -> tuple[Any, Compared | None]:
    numbers = range(len(found))
    if reach.PLAIN.issuperset(map(type, found)) or (len(found) > 1 and ordering.all_ordered(found)):
        return function(numbers, key=found.__getitem__, **options), None
    return (_chosen_by_methods if _have_methods(found) else _chosen_in_c)(function, found, options)


def _chosen_in_c(function: Any, found: list[Any], options: dict[str, Any]) -> tuple[Any, Compared | None]:
    """The comparisons are followed as those of other code in C."""
    numbers = range(len(found))
    y, back = reentry.followed(function, (numbers,), {"key": found.__getitem__, **options}, others=(found,))
    return y, None if back is None else Compared(back, None)


def _have_methods(found: list[Any]) -> bool:
    """Whether all comparisons of the keys by order are by methods that are called by differentiated code."""
    return all(map(objects.queries.is_ordered_by_methods, set(map(type, found))))


def _chosen_by_methods(function: Any, found: list[Any], options: dict[str, Any]) -> tuple[Any, Compared | None]:
    """C code gets stand-ins, which compare the keys as differentiated code does."""
    backs: list[Any] = []
    standing = [_Standing(x, backs) for x in found]
    with reentry.gathering(backs):
        y = function(range(len(found)), key=standing.__getitem__, **options)
    return y, Compared((reentry.run_gathered, backs), None) if backs else None


@calls.known(_chosen_by_methods)
def _chosen_again(function: Any, found: list[Any], options: dict[str, Any]) -> tuple[Any, Any]:
    """A second derivative: stand-ins are no code that is differentiated."""
    return calls.call(_chosen_in_c, (function, found, options))


class _Standing:
    """Stands for an object that is compared; what that does goes to a list."""

    __slots__ = ("backs", "item")

    def __init__(self, item: Any, backs: list[Any]):
        self.item = item
        self.backs = backs

    def __lt__(self, other: _Standing) -> bool:
        return self._compare("lt", other)

    def __gt__(self, other: _Standing) -> bool:
        return self._compare("gt", other)

    def _compare(self, name: str, other: _Standing) -> bool:
        try:
            truth, back = objects.queries.TRUTHS[name](self.item, other.item)
        except BaseException as error:
            if bodies:
                self.backs.append(later.escaping.left_call(error))
            raise
        if back is not None:
            self.backs.append(back)
        return truth


def order_by(
    compare: Any, items: list[Any], reverse: bool, drain: tuple[Any, ...], sort: Any
) -> tuple[list[int], Compared | None]:
    """The order of items by a function that compares two of them, as `sorted` with `functools.cmp_to_key` makes it, and
    what undoes that it was called."""
    items = items[:]
    numbers = range(len(items))
    pairs: list[tuple[int, int]] = []
    backs: list[Any] = []
    asked = Compared((run_comparisons, pairs, backs, len(items)), None, True)
    with reentry.undone((_run_keys_left, asked, drain, len(items))):
        if _compares_alone(compare, items):
            found = list(map(functools.cmp_to_key(compare), items))
            return sort(numbers, key=found.__getitem__, reverse=reverse), None
        forward = calls.forward_by_others(compare)

        def ask(i: int, j: int) -> Any:
            pairs.append((i, j))
            try:
                y, back = forward(items[i], items[j])
            except BaseException as error:
                if bodies:
                    backs.append(later.escaping.left_call(error))
                raise
            backs.append(back)
            if type(y) in reach.PLAIN:
                return y
            less, below = reentry.followed(operator.lt, (y, 0))
            backs[-1] = run_comparison, back, below
            return -1 if less else 0

        order = sort(numbers, key=functools.cmp_to_key(ask), reverse=reverse)
    return order, None if backs.count(None) == len(backs) else asked


def _compares_alone(f: Any, items: list[Any]) -> bool:
    """Whether comparing any two of the items by a function, and its value with 0, does nothing but calculate."""
    if type(f) is not FunctionType:
        return f is operator.sub and reach.PLAIN.issuperset(map(type, items))
    if not is_harmless(f):
        asked = effects.asked_by(f, reach.PLAIN)
        if asked is None or asked.called and not (_MUTABLE.isdisjoint(asked.called) and all(map(_is_flat, items))):
            return False
    return is_quiet(f, items, further=1)


def _is_flat(x: Any) -> bool:
    """Whether an item is a number or text, or a container of such: of what it holds no method changes anything."""
    t = type(x)
    if t is dict:
        return reach.INERT.issuperset(map(type, x)) and reach.INERT.issuperset(map(type, x.values()))
    return t in reach.INERT or (t in _SEQUENCES and reach.INERT.issuperset(map(type, x)))


_MUTABLE = frozenset({*dir(list), *dir(dict)}) - {
    "get",
    "__getitem__",
    "__contains__",
    "count",
    "index",
    "keys",
    "values",
    "items",
}


def run_comparison(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, below = back
    given = calls.run(below, None, shadows)
    return calls.run(inner, None if given is None else given[0], shadows)


def run_comparisons(back: tuple[Any, ...], d: Any, shadows: Any) -> list[Any] | None:
    _, pairs, backs, count = back
    ds: list[Any] = [None] * count
    for k in range(len(backs) - 1, -1, -1):
        given = calls.run(backs[k], None, shadows)
        if given is not None:
            for at, c in zip(pairs[k], given[1:]):
                ds[at] = accumulate(ds[at], c)
    return None if ds.count(None) == count else ds


def undo(backs: list[Any] | Compared | None, shadows: Any) -> list[Any] | None:
    """Undo the calls; what flows to the items, if anything does."""
    if backs is None:
        return None
    if isinstance(backs, Compared):
        given = calls.run(backs.back, None, shadows)
        if backs.of_items:
            return given
        backs = backs.asked
        if backs is None:
            return None
    ds: list[Any] = [None] * len(backs)
    for k in range(len(backs) - 1, -1, -1):
        given = calls.run(backs[k], None, shadows)
        ds[k] = None if given is None else given[1]
    return ds


def added(ds: list[Any] | None, more: list[Any] | None) -> list[Any] | None:
    """The sums of the cotangents of items."""
    if ds is None or more is None:
        return more if ds is None else ds
    return [accumulate(a, b) for a, b in zip(ds, more)]


class Keyed(Steps):
    """Pairs of (whether an item is true, or what a function gives for it; (the item, its back)). That is asked for in the step that
    gives the item, and undone with it; with `until`, no longer once it was not."""

    __slots__ = ("asking", "function", "iterator", "until")

    def __init__(self, function: Any, iterator: Any, until: bool):
        super().__init__()
        self.function = function
        self.iterator = iterator
        self.until = until
        self.asking = True

    def __next__(self) -> Any:
        pair = next(self.iterator, None)
        if pair is None:
            self.backs.append(record_finish(self.iterator)[1])
            raise StopIteration
        item, back = pair
        truth, asked, truth_asked = False, None, None
        if self.asking:
            try:
                truth = item
                if self.function is not None:
                    truth, asked = calls.call(self.function, (item,))
                if type(truth) not in reach.SIZED:
                    truth, truth_asked = objects.queries.QUERIES["truth"](truth)
            except StopIteration as end:
                raise reentry.stopped(self.function, end) from None
            except BaseException as error:
                if asked is None and self.function is not None and bodies:
                    asked = later.escaping.left_call(error)
                reentry.leave(error, (run_keyed, back, asked, None))
                raise
            self.asking = not self.until or bool(truth)
        self.backs.append((run_keyed, back, asked, truth_asked))
        return truth, (item, (run_item, self, len(self.backs)))


def run_keyed(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, inner, asked, truth_asked = back
    calls.run(truth_asked, None, shadows)
    given = calls.run(asked, None, shadows)
    if given is not None:
        d = accumulate(d, given[1])
    calls.run(inner, d, shadows)


def selected(choose: Any, f: Any, iterable: Any, until: bool = False) -> tuple[Any, Any]:
    """The pairs that a function like `filter` chooses of those of an iterable, by whether `f` is true of the items; what flows to the
    iterable as a whole."""
    iterator, rec = iteration.with_backs(iterable)
    if f is not None and calculates_alone(f):
        if type(iterable) in _SEQUENCES:
            numbers = reach.PLAIN.issuperset(map(type, iterable))
        else:
            numbers = isinstance(iterable, iteration.Begun) and type(iterable) is not iteration.Direct
            numbers = numbers and iterable.only_calculates()
        if numbers:  # as a rule
            return picked(map(_SECOND, choose(_FIRST, map(_asking(f, until, iterator), iterator))), iterator), rec
        if type(iterator) not in WITHOUT_STEPS:
            steps = iterator if isinstance(iterator, Steps) else Noted(iterator)
            return picked(map(_SECOND, choose(_FIRST, map(_asking(f, until, steps), steps))), steps), rec
    asked = Keyed(f, iterator, until)
    return picked(map(_SECOND, choose(_FIRST, asked)), asked), rec


_FIRST, _SECOND = operator.itemgetter(0), operator.itemgetter(1)


def _asking(f: Any, until: bool, iterator: Any) -> Any:
    """The same as `Keyed` for a function that only calculates: nothing is undone, but with the steps that give items whose properties or
    operators do something."""
    asking = True

    def ask(pair: tuple[Any, Any]) -> tuple[Any, tuple[Any, Any]]:
        nonlocal asking
        item = pair[0]
        if not asking:
            return False, pair
        if type(item) in reach.PLAIN or is_quiet(f, (item,)):
            truth = f(item)
        else:
            truth = _asked(calls.forward_of(f), item, iterator, f)
        if type(truth) not in reach.SIZED:
            truth = _asked(_truth_of, truth, iterator, f)
        if until and not truth:
            asking = False
        return truth, pair

    return ask


def _truth_of(x: Any) -> tuple[Any, Any]:
    return reentry.called(bool, (x,), {})


def _asked(forward: Any, x: Any, steps: Any, f: Any) -> Any:
    """What is asked about an item is undone with the step that has given it."""
    asked = None
    try:
        y, asked = forward(x)
    except StopIteration as end:
        raise reentry.stopped(f, end) from None
    except BaseException as error:
        asked = later.escaping.left_call(error) if bodies else None
        raise
    finally:
        if asked is not None:
            if not isinstance(steps, Steps):
                raise _refused()  # numbers were expected
            steps.backs[-1] = (run_keyed, steps.backs[-1], asked, None)
    return y


def _refused() -> Unsupported:
    return Unsupported(
        "items chosen by Python code that changes something, of a class whose properties or operators do so",
        foreign.position_of(foreign.caller()),
        hint="choose in a loop or a comprehension",
    )


__all__ = ["Keyed", "added", "calculates_alone", "chosen", "is_harmless", "keys_of", "selected", "undo"]
