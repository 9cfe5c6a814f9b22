"""Custom tangent rules in compiled code.

A call of a function that has one goes to a function of its own, which does what the call does without the rule, and carries
the rule along (`ir.core.TangentRule`): an IR function that gives value and tangent.  The tangent pass uses that.  The
adjoint pass does not: in reverse mode the function is differentiated by its adjoint rule, or as it stands.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from zyg.autodiff.activity import differentiable
from zyg.autodiff.helpers import lying_as
from zyg.errors import Misuse
from zyg.frontend.calls import unruled
from zyg.frontend.evaluator import Evaluator
from zyg.frontend.frames import Context, Stop
from zyg.frontend.functions import Outline, parameters_for, widened, widened_record
from zyg.frontend.merging import conflict
from zyg.frontend.values import (
    DIFFERENTIABLE,
    NONE,
    Abstract,
    ArrayValue,
    ConflictValue,
    Heap,
    Known,
    Number,
    TupleValue,
    describe,
    is_number,
    known,
    map_leaves,
    reachable,
    same_heap,
)
from zyg.ir.core import Const, Instr, TangentRule, Value, const, plain_name
from zyg.ir.plainly import get_plainly
from zyg.ir.records import record
from zyg.ir.types import Array, Type, cotangent_type
from zyg.rules import rule_for
from zyg.transforms import describe as describe_callable
from zyg.transforms import transform_of

from . import registry
from .cotangents import Matching, cotangent_of, number_as
from .custom import check_parameters
from .tangents import copied

if TYPE_CHECKING:
    from zyg.rules import Rule as UserRule


@record(eq=False)
class Ruled:
    """A call with a tangent rule, inferred for arguments of certain types."""

    plain: str
    rule: TangentRule | None  # None for a call that always raises
    value: Abstract
    after: Heap  # the objects that the value reaches
    results: list[Value]


def call_with_tangent_rule(
    e: Evaluator, rule: UserRule, callee: Abstract, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """A call, under differentiation, of a function that has a tangent rule."""
    try:
        args, keywords = rule.bind(args, keywords, known)
    except TypeError as error:
        e.type_error(str(error))
    roots = [widened(e, v, DIFFERENTIABLE) for v in (callee, *args, *keywords.values())]
    heap = {i: widened_record(e, r) for i, r in reachable(roots, e.heap).items()}
    outline = Outline(heap)
    key = ("tangent rule", rule.epoch, outline.of(roots), tuple(keywords), len(args), e.context)
    ruled = e.inference.specialisations.get(key)
    if ruled is None:
        ruled = _Inferred(e, rule, roots, len(args), tuple(keywords), heap, outline).run()
        e.inference.specialisations[key] = ruled
    attrs = {} if ruled.rule is None else {"tangent": ruled.rule}
    results = e.emit("call", *outline.leaves, types=tuple(v.type for v in ruled.results), callee=ruled.plain, **attrs)
    assert e.builder.block is not None
    e.calls.append((e.builder.block.instrs[-1], ruled))
    if ruled.rule is None:
        e.builder.append(Instr("unreachable"))
        raise Stop
    leaves = dict(zip(map(id, ruled.results), results))
    leaf = lambda v: v if isinstance(v, Const) else leaves[id(v)]
    ids: dict[Any, Any] = {i: e.new_id("returned") for i in ruled.after}
    for i, made in ruled.after.items():
        e.heap[ids[i]] = made
    for i, made in ruled.after.items():
        e.heap[ids[i]] = made.with_fields(map_leaves(x, leaf, ids.__getitem__) for x in made.fields)
    return map_leaves(ruled.value, leaf, ids.__getitem__)


class _Inferred:
    """Infers the two functions of a call with a tangent rule."""

    def __init__(
        self,
        e: Evaluator,
        rule: UserRule,
        roots: list[Abstract],
        count: int,
        keywords: tuple[str, ...],
        heap: Heap,
        outline: Outline,
    ):
        self.e, self.rule, self.roots, self.count, self.keywords = e, rule, roots, count, keywords
        self.heap, self.outline = heap, outline
        self.name = describe_callable(rule.target)

    def run(self) -> Ruled:
        e, module = self.e, self.e.inference.module
        base = plain_name(self.name, also=".")
        plain = Evaluator(e.inference, module.unique_name(f"{base}.ruled"), e.context)
        module.add(plain.function)
        own, at_entry = parameters_for(e, plain, self.roots, self.heap, self.outline)
        try:
            value = self._plain_value(plain, own)
        except Stop:
            return Ruled(plain.function.name, None, NONE, {}, [])
        if isinstance(value, ConflictValue):
            raise conflict(e, value)
        value = widened(plain, value)
        objects = {i: widened_record(plain, r) for i, r in reachable([value], plain.heap).items()}
        if any(i in at_entry for i in objects) or not same_heap(at_entry, {i: plain.heap[i] for i in at_entry}):
            raise e.refuse(
                f"the tangent rule for {self.name}, a function that changes an object that it is given, or gives it back",
                hint="return a new value instead",
            )
        shape = Outline(objects)
        shape.of([value])
        plain.builder.ret(*shape.leaves)
        plain.function.results = tuple(v.type for v in shape.leaves)
        stand_ins = [Value(v.type, v.name) for v in shape.leaves]
        following = iter(stand_ins)
        stand_in = lambda _: next(following)
        template = map_leaves(value, stand_in)
        after = {i: objects[i].with_fields(map_leaves(x, stand_in) for x in objects[i].fields) for i in shape.order}
        rule = self._pushing(plain, base, template, after, stand_ins)
        return Ruled(plain.function.name, rule, template, after, stand_ins)

    def _plain_value(self, plain: Evaluator, own: list[Abstract]) -> Abstract:
        """What the call gives without the rule; for what zyg cannot see into, the value that the rule gives."""
        args, keywords = own[1 : 1 + self.count], dict(zip(self.keywords, own[1 + self.count :]))
        target = self.rule.target
        if (
            isinstance(target, (FunctionType, type))
            or isinstance(get_plainly(type(target), "__call__"), FunctionType)
            or transform_of(target)
            or registry.find(target)
            or rule_for(target)
        ):
            with unruled(plain, target):
                return plain.call(own[0], args, keywords)
        context = Context(plain.options, plain.context.level - 1, plain.context.forwards)
        with plain.in_context(context):
            return self._pair(plain, args, keywords).items[0]

    def _pair(self, e: Evaluator, args: list[Abstract], keywords: dict[str, Abstract]) -> TupleValue:
        """The value and `push`, as the rule gives them."""
        check_parameters(e, self.rule, self.rule.function, self.count, self.keywords, "the tangent rule for")
        made = e.call(known(self.rule.function), args, keywords)
        if not isinstance(made, TupleValue) or len(made.items) != 2:
            raise Misuse(
                f"the tangent rule for {self.name}, which does not return two things",
                e.position,
                types=[describe(made, e.heap)],
                hint="return value, push, where push takes the tangents of the arguments and gives that of the value",
            )
        return made

    def _pushing(
        self, plain: Evaluator, base: str, template: Abstract, after: Heap, stand_ins: list[Value]
    ) -> TangentRule:
        """The function that gives value and tangent."""
        e, module = self.e, self.e.inference.module
        t = Evaluator(
            e.inference, module.unique_name(f"{base}.tangent_rule"), Context(e.options, e.context.level - 1, True)
        )
        module.add(t.function)
        own, at_entry = parameters_for(e, t, self.roots, self.heap, self.outline)
        operands = list(t.function.params)
        args, keywords = own[1 : 1 + self.count], dict(zip(self.keywords, own[1 + self.count :]))
        seeds = {id(v): Value(cotangent_type(v.type), f"d_{v.name}") for v in operands if differentiable(v.type)}
        tangents = [cotangent_of(t, a, at_entry, seeds) for a in args]
        # What has no place in the structure of a tangent (what a function captured, say) is a constant to the rule.
        told = _leaves(tangents, t.heap)
        perturbed = [k for k, v in enumerate(operands) if id(v) in seeds and seeds[id(v)] in told]
        t.function.params.extend(seeds[id(operands[k])] for k in perturbed)
        mutated = [a for n, a in enumerate(args) if n in self.rule.mutates]
        for a in mutated:
            if not isinstance(a, ArrayValue):
                raise e.refuse(
                    f"the tangent rule for {self.name}, which mutates something that is not an array",
                    hint="return a new value instead, or keep the numbers in an array",
                )
        try:
            pair = self._pair(t, args, keywords)
            given = t.call(pair.items[1], tangents, {})
        except Stop:
            self._raises(t, template, stand_ins, mutated)
        else:
            self._finish(t, pair.items[0], given, template, after, stand_ins, mutated)
        # The two take the same hidden inputs, whichever of them reads them.
        for one, other in ((plain, t), (t, plain)):
            one.calls.append((Instr("call", attrs={"callee": other.function.name}), None))
        mutates = tuple(operands.index(a.value) for a in mutated if isinstance(a, ArrayValue))
        return TangentRule(t.function.name, tuple(perturbed), len(operands), mutates)

    def _raises(self, t: Evaluator, template: Abstract, stand_ins: list[Value], mutated: list[Abstract]) -> None:
        more = [a.value for a in mutated if isinstance(a, ArrayValue)]
        t.function.results = (*[v.type for v in stand_ins], *map(cotangent_type, _varying([*stand_ins, *more])))

    def _finish(
        self,
        t: Evaluator,
        value: Abstract,
        given: Abstract,
        template: Abstract,
        after: Heap,
        stand_ins: list[Value],
        mutated: list[Abstract],
    ) -> None:
        """Return the value, in the types that the call has, and its tangent."""
        heap = t.heap
        t.heap = {**heap, **{i: r for i, r in after.items() if i not in heap}}
        values = _Values(t, after, self.name)
        values.match(template, value)
        if any(id(v) not in values.by_value for v in stand_ins):
            raise self.e.refuse(
                f"the tangent rule for {self.name}, whose value lacks something that the function gives",
                types=[describe(value, heap)],
                hint="return the value of the function and its tangent",
            )
        several = [given]
        if mutated:
            if not isinstance(given, TupleValue) or len(given.items) != 1 + len(mutated):
                raise Misuse(
                    f"the tangent rule for {self.name}, whose push does not return {1 + len(mutated)} tangents",
                    self.e.position,
                    types=[describe(given, heap)],
                    hint="return the tangent of the value, and that of each argument that is mutated",
                )
            several = list(given.items)
        tangents = _Tangents(t, after, self.name, values.by_value)
        for wanted, item in zip((template, *mutated), several):
            tangents.match(wanted, item)
        leaves = [values.by_value[id(v)] for v in stand_ins]
        more = [a.value for a in mutated if isinstance(a, ArrayValue)]
        for v, like in zip([*stand_ins, *more], [*leaves, *more]):
            if differentiable(v.type):
                found = tangents.by_value.get(id(v))
                leaves.append(found if found is not None else _zero(t, v.type, like))
        t.heap = heap
        t.builder.ret(*leaves)
        t.function.results = tuple(v.type for v in leaves)


class _Values(Matching):
    """Takes the value that a rule gives apart as that of the function."""

    def __init__(self, e: Evaluator, heap: Heap, name: str):
        super().__init__(e, heap, "value of the tangent rule", name, "its value")

    def match(self, wanted: Abstract, given: Abstract) -> None:
        if isinstance(wanted, Number) and is_number(given):
            from zyg.frontend.scalars import scalar_value

            value = scalar_value(self.e, given)
            same = value.type == wanted.type
            self.by_value[id(wanted.value)] = value if same else self.e.builder.cast(value, wanted.type)
        elif isinstance(wanted, Known):
            return
        else:
            super().match(wanted, given)

    def array(self, wanted: ArrayValue, given: ArrayValue) -> None:
        self.by_value[id(wanted.value)] = _as(self.e, given.value, wanted.value.type, self.name)


class _Tangents(Matching):
    def __init__(self, e: Evaluator, heap: Heap, name: str, values: dict[int, Value]):
        super().__init__(e, heap, "tangent", name, "its value")
        self.values = values  # what each array that is given has the tangent of, if it is not that array itself

    def number(self, wanted: Number, given: Abstract) -> None:
        self.by_value[id(wanted.value)] = number_as(self.e, given, cotangent_type(wanted.type))

    def array(self, wanted: ArrayValue, given: ArrayValue) -> None:
        # A copy: the rule may give back what it was given.
        like = self.values.get(id(wanted.value), wanted.value)
        copy = copied(self.e, given.value, like)
        self.by_value[id(wanted.value)] = _as(self.e, copy, cotangent_type(wanted.value.type), self.name)


def _as(e: Evaluator, array: Value, wanted: Type, name: str) -> Value:
    assert isinstance(wanted, Array) and isinstance(array.type, Array)
    if array.type.dtype != wanted.dtype:
        raise Misuse(
            f"an array with elements of type {array.type.dtype} from the tangent rule for {name}",
            e.position,
            hint=f"{wanted.dtype} is wanted",
        )
    if array.type == wanted:
        return array
    if array.type.layout != "C":
        array = copied(e, array)
    return array if array.type == wanted else e.op("view", array, type=wanted, spec=":" * wanted.ndim)


def _zero(e: Evaluator, type: Type, like: Value) -> Value:
    wanted = cotangent_type(type)
    if not isinstance(wanted, Array):
        return const(0.0, wanted)
    shape = [e.op("dim", like, axis=axis) for axis in range(wanted.ndim)]
    plain = Array(wanted.dtype, wanted.ndim, "C")
    made = e.op("alloc", *shape, type=plain, fill="zeros")
    return lying_as(e.op, made, like)


def _varying(values: list[Value]) -> list[Type]:
    return [v.type for v in values if differentiable(v.type)]


def _leaves(roots: list[Abstract], heap: Heap) -> set[Value]:
    found: set[Value] = set()
    fields = [x for r in reachable(list(roots), heap).values() for x in r.fields]
    for v in (*roots, *fields):
        map_leaves(v, lambda leaf: found.add(leaf) or leaf)
    return found
