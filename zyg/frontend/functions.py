"""Python functions: their bodies, evaluated in place of a call or on their own.

A function is evaluated in place unless it is recursive or large.  Then it becomes a *specialisation*: a function of typed SSA for
the types, constants and functions that it was called with, which takes what its arguments hold, objects included, and returns
its result and what became of those objects.  The result type of a recursive one is found by iteration from below: at first a
recursive call does not return, then it returns what the other paths return, and so on.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from zyg.ir.core import Const, Instr, Value, plain_name
from zyg.ir.plainly import get_plainly
from zyg.ir.records import field, record, replace
from zyg.transforms import transform_of

from .binding import bind
from .evaluator import Evaluator, Inference
from .frames import Context, Frame, Stop
from .prepare import Prepared, prepare
from .scalars import scalar_value
from .sized import ResultLengths, lengths_of_results, tell
from .values import (
    DIFFERENTIABLE,
    NUMBER_CLASSES,
    Abstract,
    ArrayValue,
    FunctionValue,
    Heap,
    Known,
    Number,
    Record,
    Reference,
    TupleValue,
    describe,
    known_key,
    map_leaves,
    reachable,
    references,
)

# Functions with more operations than this are compiled on their own when they are called.
INLINE_SIZE = 400
MAX_DEPTH = 60
MAX_ACTIVE = 40
MAX_LEAVES = 1000
MAX_ROUNDS = 12  # until a recursive function's result is known: an object more in each does not end
MAX_PARTS = 5000  # of one argument, all nested tuples and objects taken apart
_GENERATOR_FLAG = 0x20


UNCHECKED: set[Any] = set()
WITH_ADJOINT: set[Any] = set()
IN_ANY_ORDER: set[Any] = set()
SHARED: dict[Any, tuple[type, ...]] = {}  # with the classes of numbers whose constants become arguments like others


def unchecked(function: Any) -> Any:
    """Decorator for library code whose indices are in range by construction: compiled without bounds checks."""
    UNCHECKED.add(function.__code__)
    return function


def shared(function: Any) -> Any:
    """Decorator for library code that is compiled once for arguments of the same types, not in place of each call."""
    SHARED[function.__code__] = NUMBER_CLASSES
    return function


def shared_by_flags(function: Any) -> Any:
    """The same, for each combination of the flags and integers that are known when compiling."""
    SHARED[function.__code__] = DIFFERENTIABLE
    return function


def shared_with_adjoint(function: Any) -> Any:
    """The same for code through which derivatives go: so are the halves of its adjoint (autodiff/forward.py). Where derivatives are
    nested it is evaluated in place, as code with halves of adjoints can not be differentiated where their arrays lie in one another."""
    WITH_ADJOINT.add(function.__code__)
    return shared_by_flags(function)


def in_any_order(function: Any) -> Any:
    """Decorator for shared code that does not ask how its arguments lie in memory."""
    IN_ANY_ORDER.add(function.__code__)
    return function


def call_function(
    e: Evaluator, f: FunctionValue, args: list[Abstract], keywords: dict[str, Abstract], library: bool = False
) -> Abstract:
    library = library or f.globals.get("__name__", "").startswith("zyg.library.")
    slots = bind(e, f, args, keywords)
    prepared = prepare(f.code)
    if f.code.co_flags & _GENERATOR_FLAG:
        from .iterators import make_generator

        return make_generator(e, f, prepared, slots, library)
    large = not library and (_calls_itself(f) or prepared.size > INLINE_SIZE)
    if large or _is_shared(e, f, slots) or _is_active(e, f.code):
        return call_specialised(e, f, prepared, slots, library)
    return evaluate_in_place(e, f, prepared, slots, library)


def _is_shared(e: Evaluator, f: FunctionValue, slots: list[Abstract]) -> bool:
    if f.code not in SHARED or f.code in WITH_ADJOINT and e.context.level > 1:
        return False
    return not e.seeming or f.code in IN_ANY_ORDER or not any(_seems(e, s) for s in slots)


def _seems(e: Evaluator, v: Abstract) -> bool:
    """Whether there is an array in a value that is known here to lie otherwise than its NumPy counterpart (orders.py): a function of its own
    would not know."""
    from . import orders  # on demand: only arrays have an order

    if isinstance(v, ArrayValue):
        return orders.seems(e, v.value)
    return any(_seems(e, part) for part in v.parts() if isinstance(part, Abstract))


def evaluate_in_place(
    e: Evaluator, f: FunctionValue, prepared: Prepared, slots: list[Abstract], library: bool
) -> Abstract:
    if f.code in UNCHECKED and e.options.boundscheck:
        with e.in_context(Context(replace(e.options, boundscheck=False), e.context.level, e.context.forwards)):
            return evaluate_in_place(e, f, prepared, slots, library)
    if e.depth > MAX_DEPTH:
        raise e.refuse(
            f"calls of functions nested more than {MAX_DEPTH} deep, at {f.name}",
            hint="compute it in a loop, over a list of numbers for what differs, or write what several of them do in one function",
        )
    free = dict(zip(f.code.co_freevars, f.captured))
    inside = library or e.frame is not None and e.frame.library and not _is_user_code(f)
    frame = Frame(prepared, f.code, f.name, f.globals, free, e.frame, inside)
    return e.activate(frame, slots)


def _is_user_code(f: FunctionValue) -> bool:
    return not f.globals.get("__name__", "").startswith("zyg.library.")


def _is_active(e: Evaluator, code: Any) -> bool:
    """Whether this code is being evaluated in place around here."""
    frame = e.frame
    while frame is not None:
        if frame.code is code and frame.generator is None:
            return True
        frame = frame.parent
    return any(s.code is code for s in e.inference.active)


def _calls_itself(f: FunctionValue) -> bool:
    """A quick look: a function that mentions its own name as a global or a free variable."""
    code = f.code
    if code.co_name in code.co_freevars:
        return True
    if code.co_name in code.co_names and code.co_name in f.globals:
        found = f.globals[code.co_name]
        transform = transform_of(found)
        while transform is not None and transform.kind == "jit":
            found = transform.function
            transform = transform_of(found)
        return get_plainly(found, "__code__") is code
    return False


# ---------------------------------------------------------------------------------------- specialisations


@record(eq=False)
class Specialisation:
    """A function compiled on its own. `result` has the values of its result and of its arguments' objects, with the
    heap they reach as far as it changes it, in terms of the function's own values; None while nothing is known of it."""

    key: Hashable
    code: Any
    name: str
    result: tuple[list[Abstract], Heap] | None = None
    outline: Hashable = None
    leaves: list[Value] = field(default_factory=list)
    lengths: list[ResultLengths] = field(default_factory=list)  # of each of these
    called: bool = False  # while it was being inferred
    ready: bool = False  # it has no body here (readymade.py)
    round: int = 0


UNCHANGED = Record("unchanged", None, ())  # what a call leaves as it was: the caller has it already


class Outline:
    """A hashable description of values and of the objects they reach, and their leaves in order."""

    def __init__(self, heap: Heap):
        self.heap = heap
        self.numbers: dict[Hashable, int] = {}
        self.leaves: list[Value] = []
        self.order: list[Hashable] = []
        self.done = 0  # how many of these have been looked into

    def of(self, values: list[Abstract]) -> Hashable:
        shapes = [self.value(v) for v in values]
        while self.done < len(self.order):
            found = self.heap[self.order[self.done]]
            shapes.append((found.kind, _meta_key(found.meta), found.state, *map(self.value, found.fields)))
            self.done += 1
        return tuple(shapes)

    def value(self, v: Any) -> Hashable:
        if isinstance(v, Value):
            self.leaves.append(v)
            return v.type
        if isinstance(v, Reference):
            if v.id not in self.numbers:
                self.numbers[v.id] = len(self.order)
                self.order.append(v.id)
            return ("reference", self.numbers[v.id])
        return (v.head(), *map(self.value, v.parts()))

    def inside(self, id: Hashable) -> Hashable:
        """What an object is called in a function that gets it in its arguments."""
        return ("argument", self.numbers[id])


def _meta_key(meta: Any) -> Hashable:
    return known_key(meta) if isinstance(meta, type) else meta


def widened(e: Evaluator, v: Any, classes: tuple[type, ...] = NUMBER_CLASSES) -> Any:
    """Constants that are numbers of these classes become values: a recursive function is not specialised by them."""
    if isinstance(v, Known) and type(v.object) in classes:
        return Number(scalar_value(e, v))
    if isinstance(v, (Value, Reference, Known)):
        return v
    parts = v.parts()
    return v.with_parts([widened(e, p, classes) for p in parts]) if parts else v


def widened_record(e: Evaluator, r: Record, classes: tuple[type, ...] = NUMBER_CLASSES) -> Record:
    """Where an iterator stands is part of its type: loops over tuples are unrolled by it."""
    return r if r.kind == "iterator" else r.with_fields(widened(e, x, classes) for x in r.fields)


def parameters_for(
    outer: Evaluator, inner: Evaluator, roots: list[Abstract], heap: Heap, outline: Outline
) -> tuple[list[Abstract], Heap]:
    """Parameters of a function under construction for the leaves of these values, and the objects that they reach there."""
    inner.builder.position = outer.builder.position
    inner.depth = outer.depth + 1
    names = iter(outline.leaves)

    def parameter(_: Value) -> Value:
        given = next(names)
        value = Value(given.type, given.name)
        inner.function.params.append(value)
        return value

    own = [map_leaves(r, parameter, outline.inside) for r in roots]
    for id in outline.order:
        made = heap[id].with_fields(map_leaves(x, parameter, outline.inside) for x in heap[id].fields)
        inner.heap[outline.inside(id)] = made
    return own, dict(inner.heap)


def call_specialised(
    e: Evaluator, f: FunctionValue, prepared: Prepared, slots: list[Abstract], library: bool
) -> Abstract:
    e.refuse_answer(not library)
    if any(_parts(s, {}) > MAX_PARTS for s in slots):
        raise _ever_new_types(e, f, slots)
    classes = SHARED.get(f.code, NUMBER_CLASSES)
    if e.inference.fixed and not (_calls_itself(f) or _is_active(e, f.code)):
        classes = DIFFERENTIABLE
    roots = [widened(e, f, classes), *(widened(e, s, classes) for s in slots)]
    heap = {id: widened_record(e, r, classes) for id, r in reachable(roots, e.heap).items()}
    outline = Outline(heap)
    shape = outline.of(roots)
    # The objects that the caller has names for. Others are known only by what holds them, which the call may change.
    named = frozenset(outline.numbers[r.id] for r in (*e.surviving(), *map(Reference, references(TupleValue(tuple(roots)))))
                      if r.id in outline.numbers)  # fmt: skip
    key: tuple[Any, ...] = (f.code, id(f.globals), shape, named, e.context)
    spec = e.inference.specialisations.get(key)
    if spec is not None and spec.ready and _in_shared(e.inference):
        key = (*key, "body")
        spec = e.inference.specialisations.get(key)
    if spec is None:
        spec = _specialise(e, key, f, roots, heap, outline, named, library)
    elif spec in e.inference.active:
        spec.called = True
        if spec.result is None:
            return _never_returns(e, spec, outline)
    if spec.result is None:
        return _never_returns(e, spec, outline)
    types = tuple(v.type for v in spec.leaves)
    results = e.emit("call", *outline.leaves, types=types, callee=spec.name)
    e.calls.append((e.latest, spec))
    if spec not in e.inference.active:  # (of one that is being inferred more may turn out)
        tell(e, results, spec.lengths, outline.leaves)
    values, after = spec.result
    leaves = dict(zip(map(id, spec.leaves), results))
    ids: dict[Hashable, Hashable] = {}

    def rename(inner: Hashable) -> Hashable:
        if inner not in ids:
            assert spec is not None
            if isinstance(inner, tuple) and inner[:1] == ("argument",):
                ids[inner] = outline.order[inner[1]]
            else:
                ids[inner] = e.new_id("returned")
                e.heap[ids[inner]] = after[inner]
        return ids[inner]

    def leaf(v: Value) -> Value:
        return v if isinstance(v, Const) else leaves[id(v)]

    result = map_leaves(values[0], leaf, rename)
    for id_ in list(after):
        rename(id_)
    for inner, became in after.items():
        e.heap[ids[inner]] = became.with_fields(map_leaves(x, leaf, rename) for x in became.fields)
    return result


def _parts(v: Any, known_sizes: dict[int, int]) -> int:
    """How many nodes a value has; parts that occur again are counted again, but looked at once."""
    if isinstance(v, (Value, Reference, Known)):
        return 1
    if id(v) not in known_sizes:
        known_sizes[id(v)] = 1 + sum(_parts(p, known_sizes) for p in v.parts())
    return known_sizes[id(v)]


def _ever_new_types(e: Evaluator, f: FunctionValue, args: list[Abstract]) -> Exception:
    shown = [describe(a, e.heap) if _parts(a, {}) < 30 else "a large tuple" for a in args]
    return e.refuse(
        f"the recursion of {f.name}, whose arguments have a new type in each call",
        types=shown,
        hint="keep the types of the arguments the same",
    )


def _ever_deeper(e: Evaluator, f: FunctionValue) -> Exception:
    return e.refuse(
        f"the recursion of {f.name}, whose result holds objects within objects, as deep as is known only when it runs",
        hint="keep numbers in arrays or lists, and indices instead of references",
    )


def _never_returns(e: Evaluator, spec: Specialisation, outline: Outline) -> Abstract:
    e.emit("call", *outline.leaves, types=(), callee=spec.name)
    e.calls.append((e.latest, spec))
    e.builder.append(Instr("unreachable"))
    raise Stop


def _specialise(
    e: Evaluator,
    key: tuple[Any, ...],
    f: FunctionValue,
    roots: list[Abstract],
    heap: Heap,
    outline: Outline,
    named: frozenset[int],
    library: bool,
) -> Specialisation:
    inference = e.inference
    entry: str | None = None
    if not inference.bodies and f.code in SHARED and not _in_shared(inference):
        from . import readymade  # on demand: code for scalars has none

        entry = readymade.name_of(e, f, outline, key[2], named)
        name = inference.module.unique_name(plain_name(f.name))
        found = readymade.find(e, f, entry, outline.leaves, name) if entry is not None else None
        if found is not None:
            function, value, lengths = found
            inference.module.add(function)
            results = list(function.blocks[0].instrs[0].results)
            spec = Specialisation(key, f.code, name, ([value], {}), leaves=results, lengths=lengths, ready=True)
            inference.specialisations[key] = spec
            return spec
    if len(inference.active) > MAX_ACTIVE or len(outline.leaves) > MAX_LEAVES:
        raise _ever_new_types(e, f, roots[1:])
    spec = Specialisation(key, f.code, inference.module.unique_name(plain_name(f.name)))
    inference.specialisations[key] = spec
    around = _around(inference)
    inference.active.append(spec)
    try:
        for spec.round in range(MAX_ROUNDS):
            made = set(inference.specialisations)
            evaluators = len(inference.evaluators)
            functions = set(inference.module.functions)
            spec.called = False
            before = spec.outline
            _infer_body(e, spec, f, roots, heap, outline, named, library)
            if len(spec.leaves) > MAX_LEAVES:
                raise _ever_deeper(e, f)
            settled_ = spec.outline == before or not spec.called
            if settled_:
                break
            # Once more with what is known of the result now; what was made on the old assumption goes.
            inference.module.functions.pop(spec.name)
            for other in set(inference.module.functions) - functions:
                inference.module.functions.pop(other)
            for other_key in set(inference.specialisations) - made:
                inference.specialisations.pop(other_key)
            del inference.evaluators[evaluators:]
            for other_key in [
                k for k, (name, _) in inference.elements.items() if name not in inference.module.functions
            ]:
                inference.elements.pop(other_key)
        else:
            raise _ever_deeper(e, f)
    finally:
        inference.active.remove(spec)
    if entry is not None and spec.result is not None and not spec.result[1] and _is_by_itself(inference, around):
        from . import readymade

        readymade.offer(e, entry, inference.module.functions[spec.name], spec.result[0][0], spec.lengths)
    return spec


def _in_shared(inference: Inference) -> bool:
    """Whether this is in a function that is kept as machine code, with all that it calls."""
    return any(s.code in SHARED for s in inference.active)


def _around(inference: Inference) -> tuple[int, ...]:
    """How much there is of what inference knows of a whole module."""
    changes = (inference.listings, inference.pooled, inference.grown, inference.row_stores, inference.windows)
    return len(inference.evaluators), *map(len, changes)


def _is_by_itself(inference: Inference, before: tuple[int, ...]) -> bool:
    """Whether a function that has been inferred since has nothing to do with others."""
    evaluators, *changes = before
    return [*_around(inference)[1:]] == changes and not any(e.inputs for e in inference.evaluators[evaluators:])


def _infer_body(
    e: Evaluator,
    spec: Specialisation,
    f: FunctionValue,
    roots: list[Abstract],
    heap: Heap,
    outline: Outline,
    named: frozenset[int],
    library: bool,
) -> None:
    inner = Evaluator(e.inference, spec.name, e.context)
    e.inference.module.add(inner.function)
    own, at_entry = parameters_for(e, inner, roots, heap, outline)
    inner.depth = e.depth  # that of its body, which is evaluated one deeper
    inner.before = at_entry
    inner.outer = tuple(Reference(outline.inside(id)) for id in outline.order if outline.numbers[id] in named)
    callee = own[0]
    assert isinstance(callee, FunctionValue)
    parameters = f.code.co_varnames[: len(roots) - 1]
    for name, v in zip(parameters, own[1:]):
        if isinstance(v, Number):
            v.value.name = name
    inner.function.attrs["name"] = f.code.co_qualname
    if f.code in SHARED:
        inner.function.attrs["shared"] = True
        for n, p in enumerate(
            inner.function.params
        ):  # not what they are called by who calls it first: a module that is kept
            p.name = f"a{n}"  # has them in its text, which tells it from others
    try:
        result = evaluate_in_place(inner, callee, prepare(f.code), own[1:], library)
    except Stop:
        if spec.result is None:
            spec.outline = None
        return
    result = widened(inner, result)
    objects = list(inner.outer)
    after = {
        id: UNCHANGED if at_entry.get(id) is r else widened_record(inner, r)
        for id, r in reachable([result, *objects], inner.heap).items()
    }
    shape = Outline(after)
    spec.outline = shape.of([result, *objects])
    spec.lengths = lengths_of_results(inner, shape.leaves)
    # A value that is returned twice, or a constant, needs a name of its own in the template.
    stand_ins = [Value(v.type, v.name) for v in shape.leaves]
    inner.builder.ret(*shape.leaves)
    inner.function.results = tuple(v.type for v in shape.leaves)
    following = iter(stand_ins)

    def stand_in(v: Value) -> Value:
        del v
        return next(following)

    values = [map_leaves(result, stand_in), *objects]
    ordered: Heap = {}
    for id in shape.order:
        record = after[id]
        if record is UNCHANGED:
            continue
        ordered[id] = record.with_fields(map_leaves(x, stand_in) for x in record.fields)
    spec.result = (values, ordered)
    spec.leaves = stand_ins
