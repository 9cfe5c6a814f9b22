"""A function inferred on its own, for differentiation: into a module of its own, whose functions are then copied into the
module under construction and called."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from zyg.frontend.evaluator import Evaluator, Inference
from zyg.frontend.frames import Context, Stop
from zyg.frontend.functions import Outline, parameters_for, widened, widened_record
from zyg.frontend.infer import hidden_parameters, order_blocks
from zyg.frontend.later import growing, listed, returned
from zyg.frontend.merging import settled
from zyg.frontend.sized import as_sized, sizes
from zyg.frontend.turned import Axes, after_turn, before_turns
from zyg.frontend.values import (
    DIFFERENTIABLE,
    GIVEN,
    NONE,
    NUMBER_CLASSES,
    WRITTEN,
    Abstract,
    ArrayValue,
    CallableValue,
    ChoiceValue,
    FunctionValue,
    Heap,
    Known,
    Number,
    Reference,
    StructValue,
    is_number,
    known,
    leaf_values,
    map_leaves,
    reachable,
    same_record,
)
from zyg.ir.core import CALLING, Instr, Module, Value, callees, clone, plain_name
from zyg.ir.plainly import get_plainly
from zyg.ir.records import field, record, replace
from zyg.ir.types import Type
from zyg.transforms import describe as describe_callable


@record
class Body:
    """A function inferred on its own, for differentiation.

    Its parameters are the leaves of the callee, the arguments, the objects they reach, and then its hidden inputs; its
    results the leaves of its value, then those of the objects afterwards.
    """

    module: Module
    name: str
    args: list[Abstract]  # in terms of its parameters
    heap: Heap  # as it was at entry
    operands: list[Value]  # what the caller passes for the parameters
    order: list[Any]  # ids of the caller's objects
    value: Abstract  # in terms of its results
    after: Heap
    outputs: int  # how many of the results are leaves of the value
    results: list[Value] = field(default_factory=list)  # stand-ins for the results in `value` and `after`
    unchanged: frozenset[Hashable] = frozenset()  # those of the objects that hold what they held at entry
    axes: dict[int, Axes] = field(default_factory=dict)  # by the identity of a parameter, where its axes go (turned.py)
    real: Value | None = None  # the result that is the value as a float, where that is a real number of several kinds


def infer_body(
    e: Evaluator,
    f: Abstract,
    args: list[Abstract],
    keywords: dict[str, Abstract],
    level: int,
    not_none: str,
    forwards: bool = False,
    given: Mapping[Hashable, tuple[Type, list[Value]]] | None = None,
    seeded: Callable[[Abstract], Abstract] | None = None,
) -> Body:
    """Infer a call of `f` as a function of its own, at the given level of differentiation, the innermost `forwards` if it is.

    A value that may be None is checked when the code runs, if `not_none` has the message for it. Hidden inputs that are `given`
    have these types and values. `seeded` gives of its value the part whose cotangent is 1, if it is to be a number.
    """
    if e.depth > 40:
        raise e.refuse(
            "derivatives nested more than 40 deep", hint="a function that takes its own derivative cannot be compiled"
        )
    classes = DIFFERENTIABLE if e.inference.fixed else NUMBER_CLASSES
    roots = [widened(e, v, classes) for v in (f, *args, *keywords.values())]
    _refuse_lists_of_arrays(e, reachable(roots, e.heap))
    heap = {i: widened_record(e, r, classes) for i, r in reachable(roots, e.heap).items()}
    turns: list[tuple[Axes, bool] | None] = []
    roots[1:] = [before_turns(e, v, turns) for v in roots[1:]]
    known_sizes = [known for v in roots[1:] for known in sizes(e, v)]
    outline = Outline(heap)
    outline.of(roots)
    inference = Inference(e.options).within(e.inference)
    given = given or {}
    inference.given = {**inference.given, **{key: type for key, (type, _) in given.items()}}
    name = ir_name(f)
    inner = Evaluator(inference, name, Context(e.options, level, forwards or e.context.forwards))
    inference.module.add(inner.function)
    own, at_entry = parameters_for(e, inner, roots, heap, outline)
    _name_parameters(own[0], own[1:])
    count = len(args)
    body = Body(
        inference.module, name, own[1 : 1 + count], at_entry, list(outline.leaves), list(outline.order), NONE, {}, 0
    )
    params = [v for r in own[1:] for v in leaf_values(r)]
    with_turns = {id(v): turn for v, turn in zip(params, turns, strict=True) if turn is not None}
    with_sizes = {id(v): known for v, known in zip(params, known_sizes, strict=True) if id(v) not in with_turns}
    body.axes = {key: axes for key, (axes, _) in with_turns.items()}
    as_given = lambda v: after_turn(inner, as_sized(inner, v, with_sizes.get(id(v))), with_turns.get(id(v)))
    given_args = [map_leaves(r, as_given) for r in own[1:]]
    try:
        value = inner.call(own[0], given_args[:count], dict(zip(keywords, given_args[count:])))
    except Stop:
        pass
    else:
        if not not_none:
            growing.exact_lists(inner, value)
        value = widened(inner, settled(inner, value, not_none) if not_none else value)
        real = _as_float(inner, seeded(value)) if seeded is not None else None
        objects: list[Abstract] = [Reference(outline.inside(i)) for i in outline.order]
        kept = {i: widened_record(inner, r) for i, r in reachable([value, *objects], inner.heap).items()}
        _refuse_lists_of_arrays(inner, kept)
        shape = Outline(kept)
        shape.of([value])
        body.outputs = len(shape.leaves)
        shape.of(objects)
        if real is not None:
            shape.of([real])
        inner.builder.ret(*shape.leaves)
        inner.function.results = tuple(v.type for v in shape.leaves)
        body.results = [Value(v.type, v.name) for v in shape.leaves]
        following = iter(body.results)
        stand_in = lambda _: next(following)
        body.value = map_leaves(value, stand_in)
        for o in objects:
            map_leaves(o, stand_in)
        body.after = {i: kept[i].with_fields(map_leaves(x, stand_in) for x in kept[i].fields) for i in shape.order}
        body.real = body.results[-1] if real is not None else None
        body.unchanged = frozenset(i for i, r in at_entry.items() if same_record(r, inner.heap[i]))
    hidden_parameters(inference)
    for evaluator in inference.evaluators:
        order_blocks(evaluator.function)
    if inference.pooled or inference.windows:
        listed.check(inference, name)
    if inference.ruled:
        returned.check(inference)
    for key, (entry, _) in inner.inputs.items():
        if key in given:
            body.operands.extend(given[key][1])
        else:
            e.input(entry.kind, entry.container, entry.name, entry.type)
            body.operands.extend(e.input_leaves[key])
    return body


def _as_float(e: Evaluator, v: Abstract) -> Number | None:
    """A real number that is Python's on one path and NumPy's on another as a float, which its derivative is that of."""
    if isinstance(v, ChoiceValue) and all(map(is_number, v.options)):
        value = e.call(known(float), [v])
        return value if isinstance(value, Number) else None
    return None


def _refuse_lists_of_arrays(e: Evaluator, heap: Heap) -> None:
    """But lists of lists that came in as arguments, which stay as they are."""
    for r in heap.values():
        if r.kind == "growing" and not (growing.is_table(r) and r.state & GIVEN and not r.state & WRITTEN):
            growing.refuse_arrays(e, r)


def shown(f: Abstract) -> str:
    """The name of a function for a message."""
    if isinstance(f, FunctionValue):
        return f.name
    if isinstance(f, CallableValue) and f.parts():  # what zyg made of a function
        return shown(f.parts()[0])
    return describe_callable(f.object) if isinstance(f, Known) else "function"


def ir_name(f: Abstract) -> str:
    """The name of a function as a name in the IR."""
    return plain_name(shown(f))


def _name_parameters(f: Abstract, args: Sequence[Abstract]) -> None:
    """Give parameters the names that the source has for them."""
    code = f.code if isinstance(f, FunctionValue) else get_plainly(getattr(f, "object", None), "__code__")
    if code is None:
        return
    for name, v in zip(code.co_varnames, args):
        if isinstance(v, (Number, ArrayValue)):
            v.value.name = name
        elif isinstance(v, StructValue):
            for inner, item in zip(v.names, v.items):
                if isinstance(item, (Number, ArrayValue)):
                    item.value.name = f"{name}.{inner}"


def copy_functions(e: Evaluator, module: Module, root: str, moved: bool = False) -> str:
    """Copy a function with all that it calls into the module under construction; gives its name there.  `moved`: they are for
    nobody else, so themselves will do."""
    target = e.inference.module
    names: dict[str, str] = {}
    calls: list[Instr] = []
    known = 0
    work = [root]
    while work:
        name = work.pop()
        if name in names:
            continue
        names[name] = target.unique_name(name)
        made = module.functions[name]
        if moved:
            made.name = names[name]
        else:
            source, made = made, clone(made, names[name])
            if "offers" in source.attrs:
                made.attrs["offers"] = source.attrs["offers"]
        target.add(made)
        calls += [i for block in made.blocks for i in block.instrs if i.op in CALLING]
        for instr in calls[known:]:
            work += callees(instr)
        known = len(calls)
    for instr in calls:
        attrs = {**instr.attrs, "callee": names[instr.attrs["callee"]]}
        rule, pushing = attrs.get("rule"), attrs.get("tangent")
        if rule is not None:
            attrs["rule"] = replace(rule, forward=names[rule.forward], reverse=names[rule.reverse])
        if pushing is not None:
            attrs["tangent"] = replace(pushing, function=names[pushing.function])
        instr.attrs = attrs
    return names[root]


def call_copied(
    e: Evaluator, module: Module, root: str, operands: list[Value], moved: bool = False, **attrs: Any
) -> list[Value]:
    """Copy a function here, or move it, and call it."""
    name = copy_functions(e, module, root, moved)
    return e.emit("call", *operands, types=tuple(e.inference.module.functions[name].results), callee=name, **attrs)
