"""The builtin iterables, lists and tuples made of them, and what `in`, `+`, `*` and slices of lists mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zyg.frontend import comparison, iterators
from zyg.frontend.later import lists
from zyg.frontend.merging import settled
from zyg.frontend.python_numbers import message_of
from zyg.frontend.scalars import boolean, scalar_value
from zyg.frontend.values import Abstract, Known, RangeValue, SliceValue, TupleValue
from zyg.ir.core import const

from .registry import emits, implements

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

# Defaults of emitters' parameters.
ZERO, FALSE, NO_ITEMS = Known(0), Known(False), TupleValue(())


# ---------------------------------------------------------------------------------------------- iteration


@emits(range)
def _range(e: Evaluator, *args: Abstract) -> Abstract:
    if not 1 <= len(args) <= 3:
        e.type_error(f"range expected at {'least 1 argument' if not args else 'most 3 arguments'}, got {len(args)}")
    parts = []
    for v in args:
        parts.append(lists.index_argument(e, v))
    if len(parts) == 1:
        return RangeValue(Known(0), parts[0], Known(1))
    step = parts[2] if len(parts) == 3 else Known(1)
    nonzero = const(step.object != 0) if isinstance(step, Known) else e.op("ne", scalar_value(e, step), const(0))
    e.guard(nonzero, "ValueError", "range() arg 3 must not be zero")
    return RangeValue(parts[0], parts[1], step)


@emits(slice)
def _slice(e: Evaluator, *args: Abstract) -> Abstract:
    if not 1 <= len(args) <= 3:
        e.type_error(f"slice expected at {'least 1 argument' if not args else 'most 3 arguments'}, got {len(args)}")
    start, stop, step = (Known(None), args[0], Known(None)) if len(args) == 1 else (*args, Known(None))[:3]
    return SliceValue(start, stop, step)


@emits(enumerate)
def _enumerate(e: Evaluator, iterable: Abstract, start: Abstract = ZERO) -> Abstract:
    return iterators.enumerate_(e, iterable, start)


@emits(zip)
def _zip(e: Evaluator, *iterables: Abstract, strict: Abstract = FALSE) -> Abstract:
    if not isinstance(strict, Known):
        raise e.refuse(
            "zip() with a `strict` that is not known when compiling", hint="write strict=True or strict=False"
        )
    return iterators.zip_(e, list(iterables), bool(strict.object))


@emits(reversed)
def _reversed(e: Evaluator, v: Abstract) -> Abstract:
    return iterators.reversed_(e, v)


@emits(iter, instead={"": "write a loop: `while (x := f()) != sentinel:`"})
def _iter(e: Evaluator, v: Abstract) -> Abstract:
    return iterators.make_iterator(e, v)


@emits(next)
def _next(e: Evaluator, v: Abstract, default: Abstract | None = None) -> Abstract:
    return iterators.next_item(e, v, default)


@implements(map)
def map_(function: Any, /, *iterables: Any) -> Any:
    for items in zip(*iterables):
        yield function(*items)


@implements(filter)
def filter_(function: Any, iterable: Any, /) -> Any:
    for x in iterable:
        if x if function is None else function(x):
            yield x


# ------------------------------------------------------------------------------------------------- lists


@emits(tuple)
def _tuple(e: Evaluator, v: Abstract = NO_ITEMS) -> Abstract:
    return lists.to_tuple(e, settled(e, v, "'NoneType' object is not iterable"))


@emits(list)
def _list(e: Evaluator, v: Abstract = NO_ITEMS) -> Abstract:
    return lists.to_list(e, settled(e, v, "'NoneType' object is not iterable"))


def list_of(iterable: Any) -> list[Any]:
    result = []
    for x in iterable:
        result.append(x)
    return result


def list_extension(target: list[Any], iterable: Any) -> None:
    for x in iterable:
        target.append(x)


def list_concatenation(a: list[Any], b: list[Any]) -> list[Any]:
    result = []
    for x in a:
        result.append(x)
    for x in b:
        result.append(x)
    return result


def list_repetition(a: list[Any], count: int) -> list[Any]:
    result = []
    for _ in range(count):
        for x in a:
            result.append(x)
    return result


def copy_converted(source: Any, target: Any, count: int) -> None:
    for i in range(count):
        target[i] = source[i]


def contains_in_array(item: Any, container: Any) -> bool:
    return bool((container == item).any())


def same_item(x: Any, y: Any) -> bool:
    """How containers compare an item of theirs."""
    return x is y or x == y


@emits(same_item)
def _same_item(e: Evaluator, x: Abstract, y: Abstract) -> Abstract:
    return boolean(comparison.same_item(e, x, y))


def contains(item: Any, container: Any) -> bool:
    for x in container:  # noqa: SIM110
        if same_item(x, item):
            return True
    return False


def range_contains(r: Any, item: int) -> bool:
    if r.step > 0:
        return r.start <= item < r.stop and (item - r.start) % r.step == 0
    return r.stop < item <= r.start and (r.start - item) % -r.step == 0


LIST_INDEX, TUPLE_INDEX = message_of([].index, 4.0), message_of(().index, 4.0)


@implements((list, "index"))
def _index(items: Any, value: Any) -> int:
    for i in range(len(items)):
        if same_item(items[i], value):
            return i
    if LIST_INDEX == "4.0 is not in list":
        raise ValueError(f"{value!r} is not in list")
    raise ValueError(LIST_INDEX)


@implements((tuple, "index"))
def _tuple_index(items: Any, value: Any) -> int:
    for i in range(len(items)):
        if same_item(items[i], value):
            return i
    raise ValueError(TUPLE_INDEX)


@implements((tuple, "count"), (list, "count"))
def _count(items: Any, value: Any) -> int:
    result = 0
    for x in items:
        if same_item(x, value):
            result += 1
    return result


@emits((tuple, "_replace"))
def _replace(e: Evaluator, v: Abstract, /, **changes: Abstract) -> Abstract:
    from zyg.frontend.values import StructValue

    assert isinstance(v, StructValue)
    unknown = [n for n in changes if n not in v.names]
    if unknown:
        e.throw("ValueError", f"Got unexpected field names: {unknown!r}")
    return StructValue(v.cls, v.names, tuple(changes.get(n, i) for n, i in zip(v.names, v.items)))


@emits((tuple, "_asdict"))
def _asdict(e: Evaluator, v: Abstract) -> Abstract:
    from zyg.frontend.dicts import new_dict
    from zyg.frontend.values import StructValue

    assert isinstance(v, StructValue)
    return new_dict(e, dict(zip(v.names, v.items)))
