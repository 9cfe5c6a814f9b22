"""Iteration. An iterator is a record in the heap; advancing it emits the test for the end and replaces the record.

`advance` is written in continuation-passing style: it emits code that ends in `on_item(value)` on the paths where there
is an item and in `on_end()` where there is none; each of the two has to leave the current block with a terminator.

Iterators whose position is known when compiling (those over tuples) make the evaluator unroll the loop: `static_position`
is part of what distinguishes the copies of a block.  Generators are iterators too: their record holds the variables that
are live where they stopped, and advancing one evaluates its code from there in place, up to the next `yield`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from zyg.ir.core import Block, Const, Instr, Value, const
from zyg.ir.plainly import is_in_class
from zyg.ir.types import I64
from zyg.remedies import remedy_for

from . import kinds
from .later import dicts, flat, growing, lists
from .merging import settled
from .scalars import boolean, scalar_value, to_int
from .type_names import python_type_name
from .unrolling import SOME
from .values import (
    Abstract,
    ArrayValue,
    ChoiceValue,
    ComplexArrayValue,
    DictView,
    FunctionValue,
    Known,
    Number,
    RangeValue,
    Record,
    Reference,
    SliceValue,
    TupleValue,
    describe,
    is_reference,
    known,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator
    from .frames import Frame, Node
    from .prepare import Prepared

OnItem = Callable[[Abstract], None]
OnEnd = Callable[[], None]


def new_iterator(e: Evaluator, meta: Hashable, *fields: Any) -> Reference:
    id = e.new_id("iterator")
    e.heap[id] = Record("iterator", meta, fields)
    return Reference(id)


def is_iterator(e: Evaluator, v: Abstract) -> bool:
    return isinstance(v, Reference) and e.heap[v.id].kind == "iterator"


def make_iterator(e: Evaluator, v: Abstract) -> Reference:
    """iter(v)"""
    from .exceptions import no_text

    v = settled(e, v, "'NoneType' object is not iterable")
    no_text(e, v)
    if is_iterator(e, v):
        assert isinstance(v, Reference)
        return v
    if isinstance(v, DictView) or kinds.is_dict(e, v):
        name, of = (v.name, v.of) if isinstance(v, DictView) else ("keys", v)
        return new_iterator(e, ("dict", name, tuple(dicts.named_items(e, of))), of, Known(0))
    items = kinds.known_items(e, v)
    if items is not None and not kinds.is_list(e, v):
        return new_iterator(e, ("tuple",), TupleValue(items), Known(0))
    if isinstance(v, RangeValue):
        return _range_iterator(e, v)
    if isinstance(v, flat.FlatValue):
        return new_iterator(e, ("array",), v, Known(0), Number(flat.length(e, v)))
    if isinstance(v, (ArrayValue, ComplexArrayValue)):
        from .arrays import length, ndim

        if ndim(v) == 0:
            e.type_error("iteration over a 0-d array")
        return new_iterator(e, ("array",), v, Known(0), Number(length(e, v)))
    if kinds.is_list(e, v):
        return new_iterator(e, ("list",), v, Known(0))
    if isinstance(v, ChoiceValue) and all(kinds.is_list(e, o) for o in v.options):
        return new_iterator(e, ("list",), v, Number(const(0)))
    if isinstance(v, ChoiceValue) and is_reference(v):
        made = e.each(v, lambda option: make_iterator(e, option))
        assert isinstance(made, Reference)
        return made
    if isinstance(v, Known) and type(v.object) in (str, frozenset):
        return new_iterator(e, ("tuple",), TupleValue(lists.in_order(e, v)), Known(0))
    from .classes import refuse_unless_without, user_iterator

    result = user_iterator(e, v)
    if result is not None:
        return result
    if isinstance(v, Known) and is_in_class(type(v.object), "__iter__"):
        raise e.refuse(
            f"a loop over a {type(v.object).__name__}",
            hint=remedy_for(v.object) or "loop over a tuple, a list, a range or an array",
        )
    refuse_unless_without(e, v, "a loop over an object", "__iter__", "__getitem__")
    e.type_error(f"'{python_type_name(e, v)}' object is not iterable")
    raise AssertionError


def static_position(e: Evaluator, v: Abstract | None) -> Hashable | None:
    """Where an iterator stands, if that is known when compiling and code has to be made per position; else None."""
    if not isinstance(v, Reference):
        return None
    record = e.heap[v.id]
    if record.kind != "iterator":
        return None
    meta = record.meta
    assert isinstance(meta, tuple)
    if meta[0] in ("tuple", "dict"):
        return record.fields[1].object
    if meta[0] in ("list", "reversed"):
        source, index = record.fields
        known = isinstance(index, Known) and isinstance(source, Reference) and e.heap[source.id].kind == "list"
        return (meta[0], index.object) if known else None
    if meta[0] in ("range", "stepped", "array", "running", "done", "unclear"):
        return None
    inner = tuple(static_position(e, f) for f in record.fields if isinstance(f, Reference))
    if meta[0] == "generator":
        return (meta[2], *inner)
    return inner if any(p is not None for p in inner) else None


def is_stepped(e: Evaluator, v: Abstract | None) -> bool:
    """Whether an iterator stands elsewhere with each item, as far as its position is known when compiling: one over a tuple does, a
    generator only where it stands in no loop, or in those that are stepped themselves."""
    if not isinstance(v, Reference):
        return False
    record = e.heap[v.id]
    if record.kind != "iterator" or static_position(e, v) is None:
        return False
    assert isinstance(record.meta, tuple)
    if record.meta[0] != "generator":
        inner = [f for f in record.fields if isinstance(f, Reference)]
        return record.meta[0] not in ("enumerate", "zip", "checkpointed") or any(is_stepped(e, f) for f in inner)
    prepared: Prepared = record.meta[1].prepared
    place = next(b for b, n in prepared.order.items() if n == record.meta[2])
    slots = dict(zip((*place.params, *prepared.live[place]), record.fields[1:]))
    around = [header for header, body in prepared.loops.items() if place in body]
    return all(any(is_stepped(e, slots.get(i)) for i in prepared.iterators[header]) for header in around)


def steps_in_lists(e: Evaluator, v: Reference) -> list[tuple[int, int]]:
    """For each list that an iterator of a known position goes through: how many items it has given, and how many there are."""
    record = e.heap[v.id]
    if record.kind != "iterator":
        return []
    if isinstance(record.meta, tuple) and record.meta[0] == "list":
        source, index = record.fields
        return [(index.object, len(e.heap[source.id].fields))] if isinstance(index, Known) else []
    return [step for f in record.fields if isinstance(f, Reference) for step in steps_in_lists(e, f)]


def advance(e: Evaluator, v: Abstract, on_item: OnItem, on_end: OnEnd) -> None:
    from .frames import Stop

    assert isinstance(v, Reference), v
    record = e.heap[v.id]
    assert isinstance(record.meta, tuple)
    with suppress(Stop):
        _ADVANCE[record.meta[0]](e, v.id, record, on_item, on_end)


def _branch(e: Evaluator, condition: Value, item: Callable[[], None], on_end: OnEnd) -> None:
    from .frames import Stop

    if isinstance(condition, Const):
        (item if condition.value else on_end)()
        return
    more, end = e.split(condition, "more", "end")
    heap = e.heap
    for block, then in ((more, item), (end, on_end)):
        e.heap = dict(heap)
        e.at(block)
        with suppress(Stop):
            then()
    raise Stop


# ------------------------------------------------------------------------------------------------- ranges


def range_length(e: Evaluator, r: RangeValue) -> Value:
    """len(range), by the formula of rangeobject.c."""
    if all(isinstance(p, Known) for p in r.parts()):
        return const(len(range(*(p.object for p in r.parts()))))
    start, stop, step = (to_int(e, p) for p in r.parts())
    if isinstance(step, Const):
        if step.value > 0:
            low, high, size = start, stop, step.value
        else:
            low, high, size = stop, start, -step.value
        if size == 1 and isinstance(low, Const) and low.value == 0 and e.is_natural(high):
            return high
        some = e.op("lt", low, high)
        gap = high if isinstance(low, Const) and low.value == 0 else e.op("sub", high, low)
        if size >= _LARGE_STEP:
            gap = _steps_across(e, e.op("sub", gap, const(1)), const(size) if size < 2**63 else const(-(2**63)))
        elif size != 1:
            # The gap may pass 2**63: then it is negative as a signed number, and the range is taken for an empty one. In
            # Python its loop would go on for 2**32 steps and more.
            gap = e.op("add", e.op("floordiv", e.op("sub", gap, const(1)), const(size)), const(1))
        length = e.op("select", some, gap, const(0))
        if not isinstance(length, Const) and (low.value >= 0 if isinstance(low, Const) else e.is_natural(low)):
            length = e.op("stop", length)  # no derivative flows into what is known to be a natural number
            e.nonnegative[id(length)] = length  # the gap does not pass 2**63
        return length
    up = e.op("gt", step, const(0))
    low, high = e.op("select", up, start, stop), e.op("select", up, stop, start)
    size = e.op("select", up, step, e.op("neg", step))
    gap = _steps_across(e, e.op("sub", e.op("sub", high, low), const(1)), size)
    return e.op("select", e.op("lt", low, high), gap, const(0))


_LARGE_STEP = 1 << 31


def _steps_across(e: Evaluator, gap: Value, size: Value) -> Value:
    """gap // size + 1, both as numbers without a sign."""
    least, most = const(-(2**63)), const(2**63 - 1)
    positive = e.op("gt", size, const(0))
    divisor = e.op("select", positive, size, const(1))  # a size of 2**63, or of 0 (which raised an error before)
    wide = e.op("lt", gap, const(0))
    half = e.op("and", e.op("shr", gap, const(1)), most)
    twice = e.op(
        "shl", e.op("floordiv", e.op("select", wide, half, gap), divisor), e.op("select", wide, const(1), const(0))
    )
    rest = e.op("sub", gap, e.op("mul", twice, divisor))
    more = e.op("or", e.op("lt", rest, const(0)), e.op("ge", rest, divisor))
    quotient = e.op("add", twice, e.op("select", e.op("and", wide, more), const(1), const(0)))
    quotient = e.op("select", e.op("eq", size, least), e.op("select", wide, const(1), const(0)), quotient)
    return e.op("add", quotient, const(1))


def _range_iterator(e: Evaluator, r: RangeValue) -> Reference:
    step = r.step
    bounds = [b for p in r.parts() if (b := _known_int(p)) is not None]
    if len(bounds) == 3:
        counters = range(*bounds)
        library = e.frame is not None and e.frame.library
        # (Of one round is what library code does with the rows of an array of one dimension.)
        if len(counters) == 1 or not library and e.inference.unrolling.wants(len(counters), e.site()):
            if e.inference.unrolling.some:
                counters = counters[:SOME]
            return new_iterator(e, ("tuple",), TupleValue(tuple(map(Known, counters))), Known(0))
    nonnegative = _all_natural(e, r)
    if isinstance(step, Known) and step.object in (1, -1):
        return new_iterator(e, ("range", step.object, nonnegative), r.start, Number(to_int(e, r.stop)))
    return new_iterator(e, ("stepped", nonnegative), r.start, Number(range_length(e, r)), step)


def _known_int(v: Abstract) -> int | None:
    if isinstance(v, Number):
        return v.value.value if isinstance(v.value, Const) else None
    return v.object if isinstance(v, Known) else None


def _all_natural(e: Evaluator, r: RangeValue) -> bool:
    """Whether no item of a range can be below 0, as far as is seen here."""
    if not isinstance(r.step, Known):
        return False
    if r.step.object < 0:
        return isinstance(r.stop, Known) and r.stop.object >= -1
    if isinstance(r.start, Known):
        return r.start.object >= 0
    return isinstance(r.start, Number) and e.is_natural(r.start.value)


def _counter(e: Evaluator, v: Abstract, nonnegative: bool = False) -> Abstract:
    """The item of a range: a number that no derivative flows into."""
    if isinstance(v, Known):
        return v
    value = e.op("stop", scalar_value(e, v), name="i")
    if nonnegative:
        e.nonnegative[id(value)] = value
    return Number(value)


def _advance_range(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    assert isinstance(record.meta, tuple)
    _, step, nonnegative = record.meta
    current = to_int(e, record.fields[0])
    stop = scalar_value(e, record.fields[1], I64)

    def item() -> None:
        # No overflow: there is a stop beyond.
        following = e.op("add", current, const(step))
        e.heap[id] = record.replace(0, Number(following))
        on_item(_counter(e, record.fields[0], nonnegative))

    _branch(e, e.op("lt" if step > 0 else "gt", current, stop), item, on_end)


def _advance_stepped(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    assert isinstance(record.meta, tuple)
    current, left, step = record.fields
    nonnegative = record.meta[1]
    remaining = to_int(e, left)

    def item() -> None:
        # The last addition may wrap; its result is not used.
        following = Number(e.op("add", to_int(e, current), to_int(e, step), nsw=True))
        rest = Number(e.op("sub", remaining, const(1)))
        e.heap[id] = record.with_fields((following, rest, step))
        on_item(_counter(e, current, nonnegative))

    _branch(e, e.op("gt", remaining, const(0)), item, on_end)


# ---------------------------------------------------------------------------------------------- sequences


def _advance_tuple(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    from .frames import Stop

    items, index = record.fields

    def step(one: Any) -> Abstract:
        if index.object >= len(one.items):
            on_end()
        else:
            e.heap[id] = record.replace(1, Known(index.object + 1))
            on_item(one.items[index.object])
        raise Stop

    if isinstance(items, ChoiceValue):  # tuples of this or that length
        e.each(items, step)
    step(items)


def _advance_dict(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    assert isinstance(record.meta, tuple)
    _, name, keys = record.meta
    of, index = record.fields
    now = tuple(dicts.named_items(e, of))
    if len(now) != len(keys):
        e.throw("RuntimeError", "dictionary changed size during iteration")
    if now != keys:
        raise e.refuse("a dictionary whose keys become others while it is looped over", hint="loop over tuple(d)")
    if index.object >= len(keys):
        on_end()
        return
    e.heap[id] = record.replace(1, Known(index.object + 1))
    on_item(dicts.VIEWS[name](e, of).items[index.object])


def _advance_array(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    from .indexing import element_or_row

    array, index, length = record.fields
    options = array.options if isinstance(array, ChoiceValue) else (array,)
    if len(options) > 1 and not all(isinstance(o, flat.FlatValue) for o in options):
        raise e.refuse(
            "a loop over arrays that have one number of dimensions here and another there",
            hint="loop in each branch, or let them have as many: np.atleast_2d(a)",
        )
    position = to_int(e, index)

    def at(one: Any) -> Abstract:
        return flat.load(e, one, position) if isinstance(one, flat.FlatValue) else element_or_row(e, one, position)

    def item() -> None:
        e.heap[id] = record.replace(1, Number(e.op("add", position, const(1))))
        on_item(e.each(array, at) if isinstance(array, ChoiceValue) else at(array))

    _branch(e, e.op("lt", position, length.value), item, on_end)


def _advance_list(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    from .subscripts import get_item

    source, index = record.fields
    if isinstance(source, ChoiceValue):
        length = scalar_value(e, e.each(source, lambda one: Number(to_int(e, lists.length(e, one)))))
        position = to_int(e, index)

        def one_of() -> None:
            now = e.heap[id]  # joins may have given the lists other names
            e.heap[id] = now.replace(1, Number(e.op("add", position, const(1))))
            on_item(e.each(now.fields[0], lambda one: get_item(e, one, Number(position))))

        _branch(e, e.op("lt", position, length), one_of, on_end)
        return
    content = e.heap[source.id]
    if content.kind == "list" and isinstance(index, Known):
        if index.object >= len(content.fields):
            e.heap[id] = Record("iterator", ("done",), ())
            on_end()
            return
        e.heap[id] = record.replace(1, Known(index.object + 1))
        on_item(content.fields[index.object])
        return
    position = to_int(e, index)

    def item() -> None:
        e.heap[id] = record.replace(1, Number(e.op("add", position, const(1))))
        on_item(growing.growing_item(e, source, position))

    _branch(e, e.op("lt", position, growing.growing_length(e, source)), item, on_end)


def _advance_reversed(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    """Over a list, from the index where its end was: what the list holds by then counts, as in CPython."""
    source, index = record.fields
    content = e.heap[source.id]
    if content.kind == "list" and isinstance(index, Known):
        if not 0 <= index.object < len(content.fields):
            e.heap[id] = Record("iterator", ("done",), ())
            on_end()
            return
        e.heap[id] = record.replace(1, Known(index.object - 1))
        on_item(content.fields[index.object])
        return
    position = to_int(e, index)

    def item() -> None:
        e.heap[id] = record.replace(1, Number(e.op("sub", position, const(1))))
        on_item(growing.growing_item(e, source, position))

    def ended() -> None:
        e.heap[id] = record.replace(1, Number(const(-1)))  # it stays at its end
        on_end()

    within = e.op("and", e.op("ge", position, const(0)), e.op("lt", position, growing.growing_length(e, source)))
    _branch(e, within, item, ended)


# ------------------------------------------------------------------------------------------- combinations


def _advance_enumerate(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    inner, count = record.fields

    def item(value: Abstract) -> None:
        following = Number(e.op("add", to_int(e, count), const(1)))
        if isinstance(count, Known) and static_position(e, inner) is not None:
            e.heap[id] = e.heap[id].replace(1, Known(count.object + 1))
        else:
            e.heap[id] = e.heap[id].replace(1, following)
        on_item(TupleValue((_counter(e, count), value)))

    advance(e, inner, item, on_end)


def _advance_checkpointed(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    """The loop is marked where it asks for the next item."""
    assert isinstance(record.meta, tuple)
    inner, *limits = record.fields
    if static_position(e, inner) is None:
        e.emit("checkpoint", *(to_int(e, v) for v in limits), types=(), kind=record.meta[1])
    advance(e, inner, on_item, on_end)


def _advance_zip(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    assert isinstance(record.meta, tuple)
    strict = record.meta[1]
    inner = record.fields

    def from_(n: int, values: tuple[Abstract, ...]) -> None:
        if n == len(inner):
            on_item(TupleValue(values))
            return

        def ended() -> None:
            if strict and n == 0:
                check(1)
            elif strict:
                _strict_error(e, n, "shorter")
            else:
                on_end()

        advance(e, inner[n], lambda value: from_(n + 1, (*values, value)), ended)

    def check(n: int) -> None:
        """The first has ended: strict asks the same of the others."""
        if n == len(inner):
            on_end()
            return
        advance(e, inner[n], lambda value: _strict_error(e, n, "longer"), lambda: check(n + 1))

    if not inner:
        on_end()
        return
    from_(0, ())


def _strict_error(e: Evaluator, n: int, what: str) -> None:
    before = "argument 1" if n == 1 else f"arguments 1-{n}"
    message = f"zip() argument {n + 1} is {what} than {before}"
    e.builder.append(Instr("raise", attrs={"exc": "ValueError", "message": message}))


# --------------------------------------------------------------------------------------------- generators


def settle(prepared: Prepared, block: Block, slots: list[Any]) -> tuple[Block, list[Any]]:
    """Follow jumps that do nothing else, so that equal places of a generator are recognised as equal."""
    for _ in range(100):
        if len(block.instrs) != 1 or block.instrs[0].op != "jump" or block in prepared.loops:
            break
        env = dict(zip((*block.params, *prepared.live[block]), slots))
        target = block.instrs[0].targets[0]
        wanted = (*target.args, *prepared.live[target.block])
        slots = [known(v.value) if isinstance(v, Const) else env[v] for v in wanted]
        block = target.block
    return block, slots


def make_generator(e: Evaluator, f: FunctionValue, prepared: Prepared, args: list[Abstract], library: bool) -> Abstract:
    entry = prepared.function.entry
    block, slots = settle(prepared, entry, args)
    plan = GeneratorPlan(prepared, f, library)
    captured = TupleValue(f.captured)
    return new_iterator(e, ("generator", plan, prepared.order[block]), captured, *slots)


class GeneratorPlan:
    """What a generator's record does not hold because it never changes. Plans of the same code are equal."""

    def __init__(self, prepared: Prepared, function: FunctionValue, library: bool):
        self.prepared = prepared
        self.function = function
        self.library = library

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GeneratorPlan) and other.prepared is self.prepared and self.library == other.library

    def __hash__(self) -> int:
        return id(self.prepared)


def suspend(e: Evaluator, frame: Frame, value: Abstract, instr: Instr) -> None:
    """`yield`: keep what is live behind it in the generator's record, and leave the frame with the value."""
    from .frames import Node

    if frame.generator is None:
        raise e.refuse("a generator", hint="consume it on the spot: a `for` loop, sum, min, max, any, all or tuple")
    block = next(reversed(e.node.chain))
    target = block.instrs[-1].targets[0]
    assert block.instrs[-2] is instr, "prepare ends blocks behind yields"
    names = (*target.args, *frame.prepared.live[target.block])
    resume, slots = settle(frame.prepared, target.block, [e.read(v) for v in names])
    record = e.heap[frame.generator]
    assert isinstance(record.meta, tuple)
    meta = ("generator", record.meta[1], frame.prepared.order[resume])
    e.heap[frame.generator] = Record("iterator", meta, (record.fields[0], *slots))
    position = static_position(e, Reference(frame.generator))
    way = frame.yields.get(position)
    if way is None:
        way = frame.yields[position] = Node(None, ("yield", position), 1 << 30, "yielded", frame.number)
    e.leave(frame, value, way)


def _advance_generator(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    from .frames import Frame, Stop

    assert isinstance(record.meta, tuple)
    _, plan, place = record.meta
    prepared: Prepared = plan.prepared
    resume = next(b for b, n in prepared.order.items() if n == place)
    captured, *slots = record.fields
    f: FunctionValue = plan.function
    free = dict(zip(f.code.co_freevars, captured.items))
    library = plan.library or (e.frame is not None and e.frame.library and False)
    frame = Frame(prepared, f.code, f.name, f.globals, free, e.frame, library, resume=resume, generator=id)
    # While it runs its variables are the frame's; only what it captured stays in the record.
    e.heap[id] = Record("iterator", ("running", plan), (captured,))
    straight = e.is_straight
    e.run(frame, slots)
    ways = [*frame.yields.values(), frame.exit]
    straight = straight and sum(bool(way.edges) for way in ways) == 1

    def leave_by(way: Node, then: Callable[[Abstract], None]) -> None:
        if not way.edges:
            return
        value = e.finish(way)[0]
        e.keep_straight(straight)
        with suppress(Stop):
            then(value)

    for way in list(frame.yields.values()):
        leave_by(way, on_item)

    def ended(_: Abstract) -> None:
        e.heap[id] = Record("iterator", ("done",), ())
        on_end()

    leave_by(frame.exit, ended)


def _advance_done(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    on_end()


def _advance_running(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    e.builder.append(Instr("raise", attrs={"exc": "ValueError", "message": "generator already executing"}))


def _advance_unclear(e: Evaluator, id: Hashable, record: Record, on_item: OnItem, on_end: OnEnd) -> None:
    raise e.refuse("an iterator that stands at different places of its code on different paths", hint="use one loop")


_ADVANCE: dict[str, Callable[..., None]] = {
    "range": _advance_range,
    "stepped": _advance_stepped,
    "tuple": _advance_tuple,
    "dict": _advance_dict,
    "array": _advance_array,
    "list": _advance_list,
    "reversed": _advance_reversed,
    "enumerate": _advance_enumerate,
    "zip": _advance_zip,
    "checkpointed": _advance_checkpointed,
    "generator": _advance_generator,
    "done": _advance_done,
    "running": _advance_running,
    "unclear": _advance_unclear,
}


# --------------------------------------------------------------------------------- iter, next, reversed, ...


def next_item(e: Evaluator, v: Abstract, default: Abstract | None = None) -> Abstract:
    """next(v) or next(v, default)"""
    if not is_iterator(e, v):
        from .classes import refuse_unless_without

        refuse_unless_without(e, v, "next() of an object", "__next__")
        e.type_error(f"'{python_type_name(e, v)}' object is not an iterator")
    from .exceptions import raise_value
    from .frames import Stop

    join = e.join()

    def ended() -> None:
        if default is None:
            with suppress(Stop):
                raise_value(e, Known(StopIteration))
        else:
            join.add(default)

    advance(e, v, join.add, ended)
    return join.finish()


def enumerate_(e: Evaluator, iterable: Abstract, start: Abstract) -> Abstract:
    return new_iterator(e, ("enumerate",), make_iterator(e, iterable), lists.index_argument(e, start))


def zip_(e: Evaluator, iterables: list[Abstract], strict: bool) -> Abstract:
    return new_iterator(e, ("zip", strict), *(make_iterator(e, i) for i in iterables))


def reversed_(e: Evaluator, v: Abstract) -> Abstract:
    items = kinds.known_items(e, v)
    if isinstance(v, Reference) and kinds.is_list(e, v):
        if items is not None:
            return new_iterator(e, ("reversed",), v, Known(len(items) - 1))
        last = e.op("sub", growing.growing_length(e, v), const(1))
        return new_iterator(e, ("reversed",), v, Number(last))
    if items is not None:
        return new_iterator(e, ("tuple",), TupleValue(items[::-1]), Known(0))
    if isinstance(v, RangeValue):
        return _range_iterator(e, reversed_range(e, v))
    if isinstance(v, (ArrayValue, ComplexArrayValue)):
        from .indexing import flipped

        return make_iterator(e, flipped(e, v))
    from .classes import refuse_unless_without

    refuse_unless_without(e, v, "reversed() of an object", "__reversed__", "__getitem__")
    e.type_error(f"'{describe(v, e.heap)}' object is not reversible")
    raise AssertionError


def reversed_range(e: Evaluator, r: RangeValue) -> RangeValue:
    if all(isinstance(p, Known) for p in r.parts()):
        back = range(*(p.object for p in r.parts()))[::-1]
        return RangeValue(Known(back.start), Known(back.stop), Known(back.step))
    start = to_int(e, r.start)
    step = to_int(e, r.step)
    count = range_length(e, r)
    last = e.op("add", start, e.op("mul", e.op("sub", count, const(1)), step))
    back = Known(-step.value) if isinstance(step, Const) else Number(e.op("neg", step))
    end = e.op("sub", start, step)
    return RangeValue(Number(last), Number(end), back)


def range_slice(e: Evaluator, r: RangeValue, key: SliceValue) -> RangeValue:
    """r[start:stop:step], a range (compute_slice in rangeobject.c)."""
    from . import operators
    from .indexing import slice_ends

    ends = [end for p in r.parts() if (end := _known_int(p)) is not None]
    keys = [p.object for p in key.parts() if isinstance(p, Known) and isinstance(p.object, (int, type(None)))]
    if len(ends) == 3 and len(keys) == 3 and keys[2] != 0:
        part = range(*ends)[slice(*keys)]
        return RangeValue(Known(part.start), Known(part.stop), Known(part.step))
    first, last, stride = slice_ends(e, key, range_length(e, r))

    def stopped(v: Abstract) -> Abstract:
        return v if isinstance(v, Known) else Number(e.op("stop", scalar_value(e, v, I64)))

    def item(position: Value) -> Abstract:
        offset = operators.binary(e, "mul", boolean(position), r.step)
        return stopped(operators.binary(e, "add", r.start, offset))

    start, stop = item(first), item(last)
    upwards = isinstance(stride, Const) and stride.value > 0 and isinstance(r.step, Known) and r.step.object > 0
    if upwards and isinstance(start, Number) and _all_natural(e, r):
        e.nonnegative[id(start.value)] = start.value
    return RangeValue(start, stop, stopped(operators.binary(e, "mul", r.step, boolean(stride))))
