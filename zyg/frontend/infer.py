"""Type inference: from untyped SSA and the types of arguments to typed SSA.

Inference is online partial evaluation with emission.  The untyped function is evaluated block by block on abstract values
(values.py); each operation has a handler that emits typed instructions and answers with an abstract value.  So types are
never guessed: they are those of what was emitted.  Control flow that depends on constants disappears, calls of Python
functions are evaluated in place, and mutable objects live as SSA values in an abstract heap.

A block starts from the join of the states of its edges (merging.py).  When a later edge, such as that of a loop, changes
the join, the block is evaluated again, until nothing changes; then the edges get their arguments.  This is the classic
fixpoint iteration of abstract interpretation (Cousot and Cousot 1977), with code as a by-product, as in online partial
evaluation (Jones, Gomard, Sestoft 1993, chapter 7) and Graal's partial escape analysis (Stadler et al. 2014) for objects.

A `Frame` is one activation of a Python function, a `Node` a block of it (several nodes per block where a loop over a tuple
is unrolled), an `Evaluator` the construction of one IR function, an `Inference` that of a whole module.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from zyg.errors import Unsupported, in_library
from zyg.ir import types as t
from zyg.ir.core import Function, Module, Value, plain_name
from zyg.ir.options import Options
from zyg.ir.plainly import get_plainly
from zyg.ir.records import record
from zyg.ir.types import Type, Write
from zyg.transforms import describe as describe_callable
from zyg.transforms import transform_of

from .boundary import Assembly, Disassembly, written_back
from .evaluator import Evaluator, Inference, Input
from .exact import require_classes
from .frames import Context, Stop
from .later import listed, returned
from .unrolling import Unrolling, attempts
from .values import (
    GIVEN,
    Reference,
    known,
)


@record(eq=False)
class Inferred:
    """The outcome: a module and its entry, whose parameters are those of `parameters` flattened, then those of `inputs`.

    `guards` are tuples whose first item is the kind: ("global", dict, name, object), ("builtin", globals, builtins, name,
    object), ("attr", owner, name, object), ("lacks", class, name), ("cell", cell, object), ("function", function, code,
    defaults, keyword defaults), ("rule", function, rule or None).  The code is valid as long as all of them hold.
    """

    module: Module
    entry: str
    parameters: tuple[Type, ...]
    inputs: tuple[Input, ...]
    result: Type
    guards: tuple[tuple[Any, ...], ...]
    writes: tuple[Write, ...] = ()  # what is written back into objects that came in as arguments


def infer(
    function: Any,
    arg_types: tuple[Type, ...],
    keywords: tuple[str, ...] = (),
    *,
    options: Options | None = None,
    context: Context | None = None,
    fixed: bool = False,
    exact: bool = False,
    bodies: bool = True,
) -> Inferred:
    """Typed SSA for a call of `function` with arguments of these types, the last `len(keywords)` of them by keyword.
    `context` is for code inside of derivatives. `fixed`: integers in global and captured variables are taken as constants.
    `exact`: what it gives has the classes that it has in CPython (exact.py). `bodies`: functions of the library that are on disk as
    machine code have bodies all the same (readymade.py).

    What cannot be typed as it is may be so with short loops unrolled (unrolling.py).
    """
    around = context or Context(options or Options())
    return attempts(lambda unrolling: _infer(function, arg_types, keywords, around, unrolling, fixed, exact, bodies))


def _infer(
    function: Any,
    arg_types: tuple[Type, ...],
    keywords: tuple[str, ...],
    context: Context,
    unrolling: Unrolling,
    fixed: bool,
    exact: bool,
    bodies: bool,
) -> Inferred:
    inference = Inference(context.options)
    inference.fixed, inference.bodies = fixed, bodies
    inference.unrolling = unrolling
    transform = transform_of(function)
    plain = transform is None or transform.kind == "jit"
    name = get_plainly(function, "__name__") or type(function).__name__ if plain else describe_callable(function)
    module = inference.module
    entry = module.unique_name(plain_name(name))
    e = Evaluator(inference, entry, context)
    module.add(e.function)
    params = e.function.params
    args = []
    names = _argument_names(function)
    assembly = Assembly(e, iter(()), lambda number: ("given", number), GIVEN)
    for n, arg_type in enumerate(arg_types):
        hint = names[n] if n < len(names) else ""
        leaves = [Value(leaf, hint) for leaf in t.flatten(arg_type)]
        params.extend(leaves)
        assembly.leaves = iter(leaves)
        args.append(assembly.of(arg_type))
    at_entry = dict(e.heap)
    positional = args[: len(args) - len(keywords)]
    result_type: Type = t.NONE
    writes: tuple[Write, ...] = ()
    try:
        e.outer = tuple(map(Reference, assembly.ids))
        result = e.call(known(function), positional, dict(zip(keywords, args[len(positional) :])))
        if exact:
            require_classes(e, result)
        leaves = []
        disassembly = Disassembly(e, leaves, {id: number for number, id in enumerate(assembly.ids)})
        result_type = disassembly.of(result)
        writes = written_back(e, disassembly, at_entry)
        if any(map(_has_table, arg_types)) and any(isinstance(w.content, (t.Sequence, t.ListType)) for w in writes):
            raise e.refuse(
                "a change of a list, where another argument is a list of lists that it may be part of",
                hint="use an array",
            )
        e.builder.ret(*leaves)
        e.function.results = tuple(v.type for v in leaves)
    except Stop:
        pass
    except Unsupported as error:
        error.guards = tuple(inference.guards.values())
        if not in_library(e.left_at):
            error.at(e.left_at)
        raise
    hidden_parameters(inference)
    for evaluator in inference.evaluators:
        order_blocks(evaluator.function)
        evaluator.forget()
    if inference.pooled or inference.windows:
        listed.check(inference, entry)
    if inference.ruled:
        returned.check(inference)
    inputs = tuple(entry for entry, _ in e.inputs.values())
    guards = tuple(inference.guards.values())
    return Inferred(module, entry, tuple(arg_types), inputs, result_type, guards, writes)


def _has_table(type: Type) -> bool:
    """Whether lists of lists of run-time length are in it."""
    if isinstance(type, t.Sequence):
        return isinstance(type.item, t.Sequence)
    return any(map(_has_table, t.children(type)))


def _argument_names(function: Any) -> tuple[str, ...]:
    for _ in range(20):
        transform = transform_of(function)
        if transform is None or transform.function is None:
            break
        function = transform.function
    code = get_plainly(function, "__code__")
    return code.co_varnames if code is not None else ()


def hidden_parameters(inference: Inference) -> None:
    """Append hidden parameters to all functions, and the arguments for them to all calls."""
    by_name = {e.function.name: e for e in inference.evaluators}
    changed = True
    while changed:
        changed = False
        for e in inference.evaluators:
            for instr, _ in e.calls:
                callee = by_name.get(instr.attrs["callee"])
                for entry, _ in list(callee.inputs.values()) if callee is not None else ():
                    key = (entry.kind, id(entry.container), entry.name)
                    if key not in e.inputs:
                        e.input(entry.kind, entry.container, entry.name, entry.type)
                        changed = True
    # In one order everywhere, so that functions that stand in for one another take them alike.
    order: dict[Hashable, int] = {}
    for e in inference.evaluators:
        for key in e.inputs:
            order.setdefault(key, len(order))
    for e in inference.evaluators:
        e.inputs = dict(sorted(e.inputs.items(), key=lambda item: order[item[0]]))
    for e in inference.evaluators:
        for instr, _ in e.calls:
            callee = by_name.get(instr.attrs["callee"])
            for key in callee.inputs if callee is not None else ():
                instr.operands.extend(e.input_leaves[key])
        for key in e.inputs:
            e.function.params.extend(e.input_leaves[key])


def order_blocks(function: Function) -> None:
    """Put the blocks into reverse postorder, with distinct names; drop what cannot be reached."""
    from zyg.ir.analysis import reverse_postorder

    function.blocks = reverse_postorder(function)
    names: dict[str, int] = {}
    for block in function.blocks:
        base = block.name
        number = names.get(base, 0)
        names[base] = number + 1
        if number:
            block.name = f"{base}_{number}"
