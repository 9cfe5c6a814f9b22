"""Custom rules in compiled code: a rule becomes a pair of functions that the call carries along (`ir.core.Rule`), for the
adjoint pass to use."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from zyg.autodiff.activity import differentiable
from zyg.errors import Misuse
from zyg.frontend.arrays import owner
from zyg.frontend.evaluator import Evaluator
from zyg.frontend.frames import Context, Stop
from zyg.frontend.functions import Outline, parameters_for, widened, widened_record
from zyg.frontend.merging import conflict
from zyg.frontend.sized import ResultLengths, lengths_of_results, tell
from zyg.frontend.values import (
    DIFFERENTIABLE,
    NONE,
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    ConflictValue,
    FunctionValue,
    Heap,
    Known,
    MaybeValue,
    Number,
    Record,
    Reference,
    TupleValue,
    describe,
    is_number,
    known,
    map_leaves,
    reachable,
    same_heap,
)
from zyg.ir.core import Const, Instr, Rule, Value, plain_name
from zyg.ir.plainly import get_plainly
from zyg.ir.records import record, replace
from zyg.ir.types import Array, cotangent_type
from zyg.rules import keyword_only
from zyg.transforms import describe as describe_callable

from .cotangents import Matching, array_seed, cotangent_of, number_as

if TYPE_CHECKING:
    from zyg.rules import Rule as UserRule


@record(eq=False)
class RulePair:
    """A rule, inferred for arguments of certain types: the names of its functions and the shape of its value."""

    plain: str
    rule: Rule | None  # None for a rule that always raises
    value: Abstract
    after: Heap  # the objects that the value reaches, and those that the function mutates, afterwards
    results: list[Value]
    operands: list[Value]
    fresh: bool = False  # whether its results are arrays that it has made, which nobody else knows
    lengths: Sequence[ResultLengths] = ()  # of each of these


def call_with_rule(e: Evaluator, rule: UserRule, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    """A call, under differentiation, of a function that has a rule."""
    try:
        args, keywords = rule.bind(args, keywords, known)
    except TypeError as error:
        e.type_error(str(error))
    roots = [widened(e, v, DIFFERENTIABLE) for v in (*args, *keywords.values())]
    heap = {i: widened_record(e, r) for i, r in reachable(roots, e.heap).items()}
    outline = Outline(heap)
    key = ("rule", rule.epoch, outline.of(roots), tuple(keywords), len(args), e.context)
    pair = e.inference.specialisations.get(key)
    if pair is None:
        pair = _infer_rule(e, rule, roots, len(args), tuple(keywords), heap, outline)
        e.inference.specialisations[key] = pair
    attrs = {} if pair.rule is None else {"rule": pair.rule}
    results = e.emit("call", *outline.leaves, types=tuple(v.type for v in pair.results), callee=pair.plain, **attrs)
    assert e.builder.block is not None
    e.calls.append((e.builder.block.instrs[-1], pair))
    e.inference.ruled |= any(isinstance(v.type, Array) for v in results)
    if pair.fresh:
        e.inference.fresh.update(results)
    if pair.rule is None:
        e.builder.append(Instr("unreachable"))
        raise Stop
    tell(e, results, pair.lengths, outline.leaves)
    leaves = dict(zip(map(id, pair.results), results))
    leaves.update(zip(map(id, pair.operands), outline.leaves))
    leaf = lambda v: v if isinstance(v, Const) else leaves[id(v)]
    ids: dict[Any, Any] = {("argument", n): i for i, n in outline.numbers.items()}
    for i, made in pair.after.items():
        if i not in ids:
            ids[i] = e.new_id("returned")
            e.heap[ids[i]] = made
    for i, made in pair.after.items():
        e.heap[ids[i]] = made.with_fields(map_leaves(x, leaf, ids.__getitem__) for x in made.fields)
    return map_leaves(pair.value, leaf, ids.__getitem__)


def _infer_rule(
    e: Evaluator,
    rule: UserRule,
    roots: list[Abstract],
    count: int,
    keywords: tuple[str, ...],
    heap: Heap,
    outline: Outline,
) -> RulePair:
    name = plain_name(f"{describe_callable(rule.target)}.rule", also=".")
    module = e.inference.module
    context = Context(e.options, e.context.level - 1, e.context.forwards)
    forward = Evaluator(e.inference, module.unique_name(f"{name}.forward"), context)
    module.add(forward.function)
    own, at_entry = parameters_for(e, forward, roots, heap, outline)
    operands = list(forward.function.params)
    check_parameters(e, rule, rule.function, count, keywords, "the rule for")
    try:
        made = forward.call(known(rule.function), own[:count], dict(zip(keywords, own[count:])))
    except Stop:
        return _raising_rule(forward)
    if not isinstance(made, TupleValue) or len(made.items) != 2:
        raise Misuse(
            f"the rule for {describe_callable(rule.target)}, which does not return two things",
            e.position,
            types=[describe(made, forward.heap)],
            hint="return value, back",
        )
    if isinstance(made.items[0], ConflictValue):
        raise conflict(e, made.items[0])
    if not isinstance(made.items[1], FunctionValue) and not (
        isinstance(made.items[1], Known) and callable(made.items[1].object)
    ):
        raise e.refuse(
            f"the rule for {describe_callable(rule.target)}, whose second result is not a function",
            types=[describe(made.items[1], forward.heap)],
            hint="return value, back, where back takes the cotangent of the value and gives those of the arguments",
        )
    named: dict[str, Abstract] = {}  # the arguments by keyword that the rule has an entry for
    if isinstance(made.items[1], FunctionValue):
        check_parameters(e, rule, made.items[1], 1 + len(rule.mutates), (), "the pullback of the rule for")
    value, back = widened(forward, made.items[0]), made.items[1]
    changed = [own[p] for p in rule.mutates if p < count]
    mutable = reachable(changed, at_entry)
    written = [Reference(i) for i in mutable]
    objects = {i: widened_record(forward, r) for i, r in reachable([value, *written], forward.heap).items()}
    if any(i in at_entry and i not in mutable for i in objects):
        raise e.refuse(
            f"a rule for {describe_callable(rule.target)} whose value is an object that it was given",
            hint="let the rule return a copy, or something new",
        )
    _same_objects(e, rule, {i: r for i, r in at_entry.items() if i not in mutable}, forward.heap)
    value_shape = Outline(objects)
    value_shape.of([value, *written])
    # Arrays that are written in place are operands, before and after; all else that there is afterwards is a result.
    in_place = [v for v in dict.fromkeys(_array_leaves(changed, at_entry)) if differentiable(v.type)]
    results = [v for v in value_shape.leaves if not (written and v in in_place)]
    stand_ins = [Value(v.type, v.name) for v in results]
    following = iter(stand_ins)
    stand_in = lambda v: v if written and v in in_place else next(following)
    template = map_leaves(value, stand_in)
    after = {i: objects[i].with_fields(map_leaves(x, stand_in) for x in objects[i].fields) for i in value_shape.order}
    back_heap = {i: widened_record(forward, r, DIFFERENTIABLE) for i, r in reachable([back], forward.heap).items()}
    back = widened(forward, back, DIFFERENTIABLE)
    back_shape = Outline(back_heap)
    back_shape.of([back])
    reverse = Evaluator(e.inference, module.unique_name(f"{name}.reverse"), context)
    reverse.function.attrs["rule_for"] = describe_callable(rule.target)  # as messages call it
    module.add(reverse.function)
    (own_back,), at_back = parameters_for(forward, reverse, [back], back_heap, back_shape)
    seeds = {id(v): Value(cotangent_type(v.type), f"d_{v.name}") for v in stand_ins if differentiable(v.type)}
    seeds.update((id(v), Value(cotangent_type(v.type), f"d_{v.name}")) for v in in_place)
    cotangents = [cotangent_of(reverse, v, after, seeds) for v in (template, *changed)]
    told = set(_leaf_values(cotangents, reverse.heap))
    if not told.issuperset(seeds.values()):
        raise e.refuse(
            f"a rule for {describe_callable(rule.target)} whose value is of a kind that has no cotangent in native code",
            types=[describe(value, forward.heap)],
            hint="return numbers, arrays, tuples, dicts or objects, or lists of a length that is known when compiling",
        )
    try:
        given = reverse.call(own_back, cotangents, {})
    except Stop:  # it raises, whatever its argument is: the types of what it would give are those of the arguments
        gradients, gathered = [k for k, v in enumerate(operands) if differentiable(v.type)], {}
        reverse.function.results = tuple(cotangent_type(operands[k].type) for k in gradients)
    else:
        if not same_heap(at_back, {i: reverse.heap[i] for i in at_back}):
            raise e.refuse(
                f"the rule for {describe_callable(rule.target)}, whose pullback may change an object or a variable that it holds",
                hint="keep what the pullback changes in an array, or leave the call to Python",
            )
        leaves, gradients, gathered = _rule_gradients(
            e, reverse, rule, given, own[:count], dict(zip(keywords, own[count:])), at_entry, operands
        )
        named = _keyword_entries(rule, given, keywords)
        reverse.builder.ret(*leaves)
        reverse.function.results = tuple(v.type for v in leaves)
    saved = list(back_shape.leaves)
    for key, (entry, _) in reverse.inputs.items():
        forward.input(entry.kind, entry.container, entry.name, entry.type)
        saved.extend(forward.input_leaves[key])
    for key in reverse.inputs:
        reverse.function.params.extend(reverse.input_leaves[key])
    reverse.inputs.clear()
    reverse.function.params.extend(seeds.values())
    reverse.function.params.extend(gathered.values())
    lengths = lengths_of_results(forward, results)
    forward.builder.ret(*results, *saved)
    forward.function.results = tuple(v.type for v in (*results, *saved))
    plain = Evaluator(e.inference, module.unique_name(name), context)
    module.add(plain.function)
    for p in forward.function.params:
        plain.function.params.append(Value(p.type, p.name))
    given = plain.emit("call", *plain.function.params, types=forward.function.results, callee=forward.function.name)
    assert plain.builder.block is not None
    plain.calls.append((plain.builder.block.instrs[-1], None))
    plain.builder.ret(*given[: len(results)])
    plain.function.results = tuple(v.type for v in results)
    with_entry = [*own[:count], *[v for n, v in zip(keywords, own[count:]) if n in named]]
    by_position = set(_leaf_values([_without_defaults(v) for v in with_entry], at_entry))
    pair_rule = Rule(
        forward.function.name,
        reverse.function.name,
        tuple(gradients),
        tuple(operands.index(v) for v in in_place),
        tuple(k for k, v in enumerate(operands) if differentiable(v.type) and v not in by_position),
        tuple(gathered),
    )
    fresh = not after and _are_new(forward, results)
    return RulePair(plain.function.name, pair_rule, template, after, stand_ins, operands, fresh, lengths)


def _are_new(forward: Evaluator, results: list[Value]) -> bool:
    """Whether these are arrays that the function has made, each another one."""
    made = {i.result for _, i in forward.function.instructions() if i.op == "alloc"}
    owners = [owner(forward, v) for v in results if isinstance(v.type, Array)]
    return made.issuperset(owners) and len(set(owners)) == len(owners)


def _raising_rule(forward: Evaluator) -> RulePair:
    """A rule that raises, whatever its arguments are: so does the call."""
    return RulePair(forward.function.name, None, NONE, {}, [], [])


def check_parameters(e: Evaluator, rule: UserRule, f: Any, count: int, keywords: tuple[str, ...], what: str) -> None:
    """Whether a rule, or what it returns, can be called with so many arguments."""
    code = f.code if isinstance(f, FunctionValue) else get_plainly(f, "__code__")
    if code is None:
        return
    defaults = len(f.defaults) if isinstance(f, FunctionValue) else len(get_plainly(f, "__defaults__") or ())
    takes_any = bool(code.co_flags & inspect.CO_VARARGS)
    if count > code.co_argcount and not takes_any or count + len(keywords) < code.co_argcount - defaults:
        raise Misuse(
            f"{what} {describe_callable(rule.target)}, which takes {code.co_argcount} positional arguments where {count} "
            "are given",
            e.position,
            hint="a rule takes the arguments of its function; what it returns takes one, the cotangent of the value",
        )


def _positional(function: Any) -> int | None:
    """How many positional parameters a function has; None if it takes any number, or does not tell."""
    code = get_plainly(function, "__code__")
    return None if code is None or code.co_flags & inspect.CO_VARARGS else code.co_argcount


def _keyword_entries(rule: UserRule, given: Abstract, keywords: Iterable[str]) -> dict[str, Abstract]:
    """What a rule's `back` gives for keyword-only arguments: it may do so behind the entries for all other parameters."""
    names, count = keyword_only(rule.function), _positional(rule.function)
    if count is None or not isinstance(given, TupleValue) or not names or len(given.items) != count + len(names):
        return {}
    return {n: given.items[count + names.index(n)] for n in keywords if n in names}


def _leaf_values(roots: Sequence[Abstract], heap: Heap) -> list[Value]:
    """The SSA values that these consist of, objects included."""
    fields = [x for r in reachable(list(roots), heap).values() for x in r.fields]
    outline: list[Value] = []
    for v in (*roots, *fields):
        map_leaves(v, lambda leaf: outline.append(leaf) or leaf)
    return outline


def _without_defaults(v: Abstract) -> Abstract:
    """What a rule can give a cotangent for: of a function that is what it captured."""
    return replace(v, defaults=(), kwdefaults=()) if isinstance(v, FunctionValue) else v


def _array_leaves(roots: Sequence[Abstract], heap: Heap) -> list[Value]:
    return [v for v in _leaf_values(roots, heap) if isinstance(v.type, Array)]


def _same_objects(e: Evaluator, rule: UserRule, before: Heap, after: Heap) -> None:
    if not same_heap(before, {i: after[i] for i in before}):
        raise e.refuse(
            f"the rule for {describe_callable(rule.target)}, which changes an object that it was given",
            hint="say so: zyg.adjoint(f, mutates=...); or return the new value instead",
        )


def _rule_gradients(
    e: Evaluator,
    reverse: Evaluator,
    rule: UserRule,
    given: Abstract,
    own: list[Abstract],
    named: dict[str, Abstract],
    heap: Heap,
    params: list[Value],
) -> tuple[list[Value], list[int], dict[int, Value]]:
    """The leaves of what a rule's `back` returns, and which operand of the call each belongs to; and parameters for the
    shadows that it adds to, per operand.  `own` are the arguments in terms of `params`, and `heap` the objects that they
    reach."""
    name = describe_callable(rule.target)
    if not own and isinstance(given, Known) and given.object is None:
        return [], [], {}
    entries = _keyword_entries(rule, given, named)
    # A call that leaves parameters to their defaults gives nothing to *args.
    count = getattr(get_plainly(rule.function, "__code__"), "co_argcount", 0)
    most = {count, count + len(keyword_only(rule.function))}
    if isinstance(given, TupleValue) and len(given.items) > len(own) and len(given.items) in most:
        given = TupleValue(given.items[: len(own)])  # entries for parameters that this call leaves to their defaults
    if not isinstance(given, TupleValue) or len(given.items) != len(own):
        raise Misuse(
            f"the rule for {name}, whose pullback does not return one entry for each of the {len(own)} positional arguments",
            e.position,
            types=[describe(given, reverse.heap)],
            hint="return a tuple with a cotangent per argument, None for those without: lambda d: (d, d)",
        )
    found = _Gradients(e, reverse, heap, name, params)
    for n, (w, item) in enumerate(zip(own, given.items)):
        found.of_argument(f"argument {n + 1}", w, item)
    for keyword, item in entries.items():
        found.of_argument(f"argument '{keyword}'", named[keyword], item)
    return found.leaves, found.indices, found.gathered


class _Gradients(Matching):
    """Takes the cotangents that a rule's `back` gives apart into those of the operands of the call, `params`. `leaves` are they,
    `indices` tells of which operand each is, and `gathered` has the shadows that are added to, per operand."""

    def __init__(self, caller: Evaluator, reverse: Evaluator, heap: Heap, name: str, params: list[Value]):
        super().__init__(reverse, heap, "cotangent", name, "its argument")
        self.caller = caller
        self.index = {id(v): k for k, v in enumerate(params)}
        self.leaves: list[Value] = []
        self.indices: list[int] = []
        self.gathered: dict[int, Value] = {}

    def of_argument(self, what: str, wanted: Abstract, given: Abstract) -> None:
        self.at = what
        self.match(wanted, given)

    def match(self, wanted: Abstract, given: Abstract) -> None:
        if isinstance(wanted, Known) and is_number(wanted):
            return
        if isinstance(wanted, (ArrayValue, ComplexArrayValue)) and _is_function(given):
            floats = wanted.floats if isinstance(wanted, ComplexArrayValue) else wanted
            shadow = Value(cotangent_type(floats.type), f"d_{floats.value.name}")
            self.gathered[self.index[id(floats.value)]] = shadow
            into = ArrayValue(shadow)
            self.e.call(given, [ComplexArrayValue(into) if floats is not wanted else into], {})
        elif isinstance(wanted, Number) and isinstance(given, ComplexValue):
            self.match(wanted, given.parts()[0])  # of a real number
        elif isinstance(wanted, MaybeValue) and not (isinstance(given, Known) and given.object is None):
            raise self.wrong(wanted, given)
        else:
            super().match(wanted, given)

    def match_growing(self, record: Record, given: Abstract) -> bool:
        return False  # (through Python)

    def number(self, wanted: Number, given: Abstract) -> None:
        self._leaf(wanted.value, number_as(self.e, given, cotangent_type(wanted.type)))

    def array(self, wanted: ArrayValue, given: ArrayValue) -> None:
        self._leaf(wanted.value, array_seed(self.e, given, wanted.value, self.name))

    def _leaf(self, wanted: Value, cotangent: Value) -> None:
        self.leaves.append(cotangent)
        self.indices.append(self.index[id(wanted)])

    def wrong(self, wanted: Abstract, given: Abstract, why: str = "") -> Exception:
        """What has a name that the argument has not is wrong through Python, too; of other things there are more that fit."""
        what, types = f"the cotangent of {self.at} that the rule for {self.name} gives", [describe(given, self.e.heap)]
        if why:
            hint = "give a cotangent with the names that the argument has, or None for zero"
            return Misuse(f"{what}: the argument {why}", self.caller.position, types=types, hint=hint)
        return self.caller.refuse(what, types=types, hint="give a cotangent of the structure of the argument, or None")


def _is_function(v: Abstract) -> bool:
    return isinstance(v, FunctionValue) or isinstance(v, Known) and callable(v.object)
