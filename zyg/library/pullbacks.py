"""`zyg.pullback` in compiled code: the forward half is called, and what it saved becomes part of a value that can be called
with a cotangent."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from zyg.errors import Misuse
from zyg.frontend.boundary import disassemble
from zyg.frontend.evaluator import Evaluator
from zyg.frontend.frames import Stop
from zyg.frontend.kinds import known_items
from zyg.frontend.values import (
    NONE,
    Abstract,
    ArrayValue,
    Heap,
    Known,
    Number,
    PullbackValue,
    Reference,
    TupleValue,
)
from zyg.ir import types as t
from zyg.ir.core import Block, Instr, Module, Value, const
from zyg.ir.passes.inline import remove_unused
from zyg.ir.records import record
from zyg.ir.types import Array, Type, cotangent_type

from . import drivers
from .bodies import Body, call_copied, shown
from .cotangents import Gradients, Matching, array_seed, made_an_array, number_as
from .gradients import Differentiated, differentiate, finish_objects, returns_nothing, split_function
from .registry import emits

_numbers = itertools.count(1)


@record(eq=False)
class Plan:
    """What a pullback is, apart from what it saved: its reverse function, the shape of the cotangent it takes and of what
    it gives.

    A `PullbackValue` holds what the reverse function takes, and then the lengths of the arrays in the value, in order:
    cotangents have to be of the same shape.
    """

    module: Module
    reverse: str
    unique: str
    name: str
    value: Abstract
    after: Heap
    outputs: list[Value]
    seeds: tuple[int, ...]
    gradients: Gradients
    saved: tuple[Type, ...]
    type: t.PullbackType | None = None

    def arrays(self) -> list[ArrayValue]:
        """The arrays in the value that take a cotangent."""
        wanted = {id(self.outputs[r]) for r in self.seeds}
        return [ArrayValue(v) for v in self.outputs if id(v) in wanted and isinstance(v.type, Array)]

    def type_of(self, v: PullbackValue) -> t.PullbackType:
        assert self.type is not None
        return self.type

    def call(self, e: Evaluator, v: PullbackValue, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
        if keywords or len(args) != 1:
            e.type_error(f"the pullback of {self.name} takes 1 argument, the cotangent of its value")
        count = len(v.saved) - sum(x.type.ndim for x in self.arrays())
        seeds = Seeds(self, e, iter(v.saved[count:])).of(args[0])
        results = call_copied(e, self.module, self.reverse, [*v.saved[:count], *seeds])
        return TupleValue(tuple(self.gradients.mirror(e, results)))


class Seeds(Matching):
    """Takes a cotangent apart into the seeds of a reverse function, as the value of the forward function was."""

    def __init__(self, plan: Plan, e: Evaluator, lengths: Iterator[Value]):
        super().__init__(e, plan.after, "cotangent", plan.name, "its value")
        self.plan = plan
        self.objects: dict[str, str] = {}  # where those were that have been given a cotangent
        self.shapes = {id(a.value): [next(lengths) for _ in range(a.type.ndim)] for a in plan.arrays()}

    def match(self, wanted: Abstract, given: Abstract) -> None:
        if isinstance(wanted, Reference) and not (isinstance(given, Known) and given.object is None):
            first = self.objects.setdefault(str(wanted.id), self.at)
            if first != self.at:
                raise Misuse(
                    f"a cotangent for {self.plan.name} with two entries{first and f', {first} and {self.at},'} for one object, which stands in "
                    "its value in both places",
                    self.e.position,
                    hint="give all of its cotangent in the first place, None in the others",
                )
        super().match(wanted, given)

    def of(self, cotangent: Abstract) -> list[Value]:
        self.match(self.plan.value, cotangent)
        seeds = []
        for r in self.plan.seeds:
            v = self.plan.outputs[r]
            found = self.by_value.get(id(v))
            seeds.append(found if found is not None else self.zero(v))
        return seeds

    def zero(self, v: Value) -> Value:
        """The cotangent of what has None."""
        seed = cotangent_type(v.type)
        if isinstance(seed, Array):
            made = self.e.op(
                "alloc", *self.shapes[id(v)], type=Array(seed.dtype, seed.ndim, "C"), fill="zeros", name="seed"
            )
            return made if made.type == seed else self.e.op("view", made, type=seed, spec=":" * seed.ndim)
        return const(0.0, seed)

    def as_array(self, wanted: Abstract, given: Abstract) -> Abstract:
        return made_an_array(self.e, wanted, given)

    def check_shape(self, wanted: ArrayValue, given: ArrayValue) -> None:
        for axis, length in enumerate(self.shapes.get(id(wanted.value), ())):
            found = self.e.op("dim", given.value, axis=axis)
            self.e.guard(
                self.e.op("eq", found, length),
                "ValueError",
                f"the cotangent of {self.plan.name} has another shape than its value: along axis {axis} its length is "
                "{}, not {}",
                found,
                length,
            )

    def number(self, wanted: Number, given: Abstract) -> None:
        self.by_value[id(wanted.value)] = number_as(self.e, given, cotangent_type(wanted.type))

    def array(self, wanted: ArrayValue, given: ArrayValue) -> None:
        self.check_shape(wanted, given)
        self.by_value[id(wanted.value)] = array_seed(self.e, given, wanted.value, self.plan.name)


def any_value(e: Evaluator, body: Body) -> None:
    """Any value has a pullback."""


def pullback(e: Evaluator, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    f, rest = split_function(e, args, keywords, "pullback")
    return pullback_of(e, f, differentiate(e, f, rest, keywords, True, any_value))


@emits(drivers.pullback_by)
def pullback_by(e: Evaluator, places: Abstract, f: Abstract, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    """`drivers.pullback_by`."""
    chosen = [n for n, place in enumerate(known_items(e, places) or ()) if place is not NONE]
    return pullback_of(e, f, differentiate(e, f, list(args), keywords, True, any_value, chosen))


def pullback_of(e: Evaluator, f: Abstract, d: Differentiated) -> TupleValue:
    """(value, back)"""
    results = call_copied(e, d.body.module, d.adjoint.forward, d.body.operands)
    if returns_nothing(d.body):
        e.builder.append(Instr("unreachable"))
        raise Stop
    value = finish_objects(e, d.body, results)
    saved = results[len(d.body.results) :]
    remove_unused(d.body.module, {d.adjoint.reverse})
    plan = Plan(
        d.body.module,
        d.adjoint.reverse,
        f"{d.adjoint.reverse}#{next(_numbers)}",
        shown(f),
        d.body.value,
        d.body.after,
        d.body.results,
        d.adjoint.seeds,
        d.gradients(),
        d.adjoint.saved,
    )
    plan.gradients.callers.clear()  # it is called elsewhere
    values = dict(zip(map(id, d.body.results), results))
    for array in plan.arrays():
        saved += [e.op("dim", values[id(array.value)], axis=axis) for axis in range(array.type.ndim)]
    plan.saved = tuple(v.type for v in saved)
    plan.type = _pullback_type(e, plan, d)
    return TupleValue((value, PullbackValue(plan, tuple(saved))))


def _pullback_type(e: Evaluator, plan: Plan, d: Differentiated) -> t.PullbackType:
    heap, block = e.heap, e.builder.block
    e.heap = dict(heap) | plan.after
    e.at(Block("aside"))  # only the types matter here
    reverse = plan.module.functions[plan.reverse]
    dummies = [Value(result, "") for result in reverse.results]
    gradients = disassemble(e, TupleValue(tuple(plan.gradients.mirror(e, dummies))), [])
    value = disassemble(e, plan.value, [])
    e.heap = heap
    assert block is not None
    e.at(block)
    return t.PullbackType(plan.unique, value, gradients, plan.saved, plan)
