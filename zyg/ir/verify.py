"""The verifier: what every function must satisfy between passes.

One small generator per invariant, each yielding what it finds wrong; `CHECKS` lists them in the order in which they
make sense (a later one may rely on the earlier ones).  `verify` raises the first problem as a VerifyError that names
the function, the block and the instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .analysis import Dominators
from .core import TERMINATORS, Block, Const, Function, Instr, Module, Target, Value, callees, uses
from .foreign import ARRAYS, arrays_written
from .ops import OPS
from .records import record
from .reductions import REDUCING
from .text import format_instruction, format_type
from .types import BOOL, F32, F64, I64, OBJECT, Array, ObjectType, Scalar, Stack, Tape, Tuple, Type, is_int


class VerifyError(Exception):
    """A function breaks an invariant of the IR."""


@record(frozen=True)
class Problem:
    """What is wrong, and where: in a block, at an instruction, or in the function as a whole."""

    message: str
    block: Block | None = None
    instr: Instr | None = None


Problems = Iterator[Problem]


def verify(subject: Function | Module, module: Module | None = None) -> None:
    """Raise VerifyError unless all invariants hold. Calls are checked against `module` if it is known."""
    if isinstance(subject, Module):
        for function in subject.functions.values():
            verify(function, subject)
        return
    for problem in problems(subject, module):
        raise VerifyError(describe(problem, subject))


def problems(function: Function, module: Module | None = None) -> list[Problem]:
    """What the first check that finds anything finds."""
    for check in CHECKS:
        found = list(check(function, module))
        if found:
            return found
    return []


def describe(problem: Problem, function: Function) -> str:
    where = f"in @{function.name}"
    if problem.block is not None:
        where += f", block {problem.block.name}"
    text = f"{where}: {problem.message}"
    if problem.instr is not None:
        text += f"\n    {format_instruction(problem.instr, function)}"
    return text


# ---------------------------------------------------------------------------------------------- structure


def check_blocks(function: Function, module: Module | None) -> Problems:
    """There is an entry; a block appears once; each ends in its only terminator."""
    if not function.blocks:
        yield Problem("the function has no blocks")
    if len(set(function.blocks)) != len(function.blocks):
        yield Problem("a block appears twice")
    for block in function.blocks:
        if not block.terminated:
            yield Problem("the block does not end in a terminator", block, block.instrs[-1] if block.instrs else None)
        for instr in block.instrs[:-1]:
            if instr.targets or instr.op in TERMINATORS:
                yield Problem("a terminator in the middle of a block", block, instr)


_TARGETS = {"jump": (1, 1), "branch": (2, 2), "switch": (1, None)}


def check_targets(function: Function, module: Module | None) -> Problems:
    """Terminators have as many targets as they need, in this function, never its entry."""
    present = set(function.blocks)
    for block in function.blocks:  # only terminators have any (check_blocks)
        instr = block.terminator
        least, most = _TARGETS.get(instr.op, (0, 0))
        if not least <= len(instr.targets) <= (len(instr.targets) if most is None else most):
            yield Problem(f"{instr.op} has {len(instr.targets)} targets", block, instr)
        for target in instr.targets:
            yield from _check_target(function, present, block, instr, target)
        if block.handler is not None:
            yield from _check_target(function, present, block, None, block.handler)


def _check_target(
    function: Function, present: set[Block], block: Block, instr: Instr | None, target: Target
) -> Problems:
    if target.block not in present:
        yield Problem(f"the target {target.block.name} is not a block of the function", block, instr)
    elif target.block is function.entry:
        yield Problem("the entry block has a predecessor", block, instr)


def check_arguments(function: Function, module: Module | None) -> Problems:
    """Edges pass a value of the right type for each parameter; a handler's first parameter is the exception."""
    for block in function.blocks:
        for target in block.successors():
            yield from _check_edge(block, block.terminator, target, [p.type for p in target.block.params])
        if block.handler is not None:
            types = [p.type for p in block.handler.block.params]
            if not types or types[0] is not OBJECT:
                yield Problem(f"the handler {block.handler.block.name} takes no object for the exception", block)
            yield from _check_edge(block, None, block.handler, types[1:])


def _check_edge(block: Block, instr: Instr | None, target: Target, expected: list[Type]) -> Problems:
    given = [a.type for a in target.args]
    if len(given) != len(expected):
        yield Problem(f"{target.block.name} takes {len(expected)} arguments, not {len(given)}", block, instr)
    elif given != expected and not all(_accepts(e, g) for e, g in zip(expected, given, strict=True)):
        yield Problem(f"{target.block.name} takes ({_list(expected)}), not ({_list(given)})", block, instr)


def _accepts(expected: Type, given: Type) -> bool:
    """Literals of any type may flow into `object`."""
    return expected == given or expected is OBJECT


def _list(types: Sequence[Type]) -> str:
    return ", ".join(map(format_type, types))


# ------------------------------------------------------------------------------------- values and dominance


def check_definitions(function: Function, module: Module | None) -> Problems:
    """Every value is defined once, and literals are not defined at all."""
    seen: set[Value] = set()
    for block in function.blocks:
        for value in block.params:
            if value in seen or isinstance(value, Const):
                yield Problem(f"the parameter %{value.name} is defined twice", block)
            seen.add(value)
        for instr in block.instrs:
            for value in instr.results:
                if value in seen or isinstance(value, Const):
                    yield Problem(f"%{value.name} is defined twice", block, instr)
                seen.add(value)


def check_value_types(function: Function, module: Module | None) -> Problems:
    """Values have value types (tuples and the like are exploded); literals fit theirs."""
    for block in function.blocks:
        for value in block.params:
            if type(value.type) not in _VALUE_TYPES:
                yield Problem(f"the parameter %{value.name} has the structured type {value.type}", block)
        for instr in block.instrs:
            for value in instr.results:
                if type(value.type) not in _VALUE_TYPES:
                    yield Problem(f"a result has the structured type {value.type}", block, instr)
            for value in _used(instr):
                if isinstance(value, Const) and not _literal_fits(value):
                    yield Problem(f"the literal {value.value!r} is no {value.type}", block, instr)


def _used(instr: Instr) -> Sequence[Value]:
    """What core.uses gives; most instructions have no targets."""
    return list(uses(instr)) if instr.targets else instr.operands


_VALUE_TYPES = frozenset({Scalar, ObjectType, Array, Stack, Tape})
_INT_RANGES = {"i64": (-(2**63), 2**63 - 1), "i32": (-(2**31), 2**31 - 1), "u8": (0, 255)}


def _literal_fits(c: Const) -> bool:
    if c.type is BOOL:
        return type(c.value) is bool
    if c.type is F64 or c.type is F32:
        return type(c.value) is float
    if isinstance(c.type, Scalar):
        low, high = _INT_RANGES[c.type.name]
        return type(c.value) is int and low <= c.value <= high
    return not isinstance(c.type, (Array, Stack, Tape))


def check_dominance(function: Function, module: Module | None) -> Problems:
    """A definition dominates its uses (uses in blocks that cannot be reached do not matter)."""
    dominators = Dominators(function)
    defined_in: dict[Value, tuple[Block, bool]] = {}
    for block in function.blocks:
        for value in block.params:
            defined_in[value] = (block, True)
        for instr in block.instrs:
            for value in instr.results:
                defined_in[value] = (block, False)

    def reaches(value: Value, block: Block) -> bool:
        """Whether a value defined outside of `block`'s instructions may be used in it."""
        if value not in defined_in:
            return False
        home, is_param = defined_in[value]
        if home is block:
            return is_param
        if not dominators.reachable(home):
            return False
        return dominators.dominates(home, block) if is_param else dominators.available(home, block)

    for block in dominators.order:
        here: set[Value] = set()  # what may be used at the instruction that is looked at
        for instr in block.instrs:
            for value in _used(instr):
                if value in here or isinstance(value, Const):
                    continue
                if not reaches(value, block):
                    what = "is used before its definition" if value in defined_in else "is not defined in this function"
                    yield Problem(f"%{value.name} {what}", block, instr)
                here.add(value)
            here.update(instr.results)
        for value in block.handler.args if block.handler is not None else ():
            if not isinstance(value, Const) and not reaches(value, block):
                yield Problem(f"%{value.name} is not available on the handler edge", block)


# ------------------------------------------------------------------------------------------------- typing


def check_typing(function: Function, module: Module | None) -> Problems:
    """Ops exist, operands fit them, and results have the types that the op table gives."""
    for block, instr in function.instructions():
        op, special = OPS.get(instr.op), _SPECIAL.get(instr.op)
        if op is None:
            yield Problem(f"there is no op {instr.op}", block, instr)
            continue
        try:
            expected = op.typing([v.type for v in instr.operands], instr.attrs)
            messages = [] if special is None else list(special(instr))
        except TypeError as error:
            yield Problem(f"{instr.op}: {error}", block, instr)
            continue
        except (IndexError, ValueError):
            yield Problem(f"{instr.op}: wrong number of operands", block, instr)
            continue
        given = [r.type for r in instr.results]
        if expected is not None and list(expected) != given:
            messages.append(f"{instr.op} gives ({_list(expected)}), not ({_list(given)})")
        if op.memory == "none" and any(isinstance(t, Array) for t in given):
            messages.append(f"{instr.op} does not say where the elements of an array are (Op.memory)")
        yield from (Problem(message, block, instr) for message in messages)


def check_results(function: Function, module: Module | None) -> Problems:
    """`return` gives the function's results; branches decide on truth values, switches on integers."""
    for block in function.blocks:
        instr = block.terminator
        types = [v.type for v in instr.operands]
        if instr.op == "return":
            wanted = list(function.results)
            if len(types) != len(wanted) or not all(map(_accepts, wanted, types)):
                yield Problem(f"the function gives ({_list(function.results)}), not ({_list(types)})", block, instr)
        elif instr.op == "branch" and (len(types) != 1 or types[0] not in (BOOL, OBJECT)):
            yield Problem("branch takes one bool or object", block, instr)
        elif instr.op == "switch" and (len(types) != 1 or not is_int(types[0])):
            yield Problem("switch takes one integer", block, instr)


def check_calls(function: Function, module: Module | None) -> Problems:
    """The callee exists and takes the operands, and so do the functions of a rule."""
    if module is None:
        return
    for block, instr in function.instructions():
        names = callees(instr)
        if not names:
            continue
        rule = instr.attrs.get("rule")
        for name in names:
            if name not in module.functions:
                yield Problem(f"there is no function @{name}", block, instr)
                return
        if instr.op == "apply":
            yield from _check_apply(module.functions[names[0]], block, instr)
            continue
        callee = module.functions[names[0]]
        yield from _check_call(callee, block, instr, exact=True)
        if rule is not None:
            yield from _check_call(module.functions[rule.forward], block, instr, exact=False)


def _check_apply(callee: Function, block: Block, instr: Instr) -> Problems:
    """The function takes and gives elements: of all arrays that are arguments, for all arrays that are set or added to."""
    element = lambda v: v.type.dtype if isinstance(v.type, Array) else v.type
    outs = len(instr.attrs["modes"])
    wanted = [p.type for p in callee.params]
    given = [element(v) for v in instr.operands[outs:]]
    if wanted != given:
        yield Problem(f"@{callee.name} takes ({_list(wanted)}), not ({_list(given)})", block, instr)
    results = [element(v) for v in [*instr.operands[:outs], *instr.results]]
    if list(callee.results) != results:
        yield Problem(f"@{callee.name} gives ({_list(callee.results)}), not ({_list(results)})", block, instr)


def _check_call(callee: Function, block: Block, instr: Instr, exact: bool) -> Problems:
    wanted = [p.type for p in callee.params]
    given = [v.type for v in instr.operands]
    if wanted != given:
        yield Problem(f"@{callee.name} takes ({_list(wanted)}), not ({_list(given)})", block, instr)
    results = [r.type for r in instr.results]
    promised = list(callee.results)
    if (promised if exact else promised[: len(results)]) != results:
        yield Problem(f"@{callee.name} gives ({_list(promised)}), not ({_list(results)})", block, instr)


# ------------------------------------------------------- structural ops: what the op table's typing cannot say

Special = Callable[[Instr], Iterator[str]]


def _guard(instr: Instr) -> Iterator[str]:
    if not instr.operands or instr.operands[0].type is not BOOL:
        yield "guard takes a bool first"
    if not isinstance(instr.attrs.get("exc"), str) or not isinstance(instr.attrs.get("message"), str):
        yield "guard needs the attributes exc and message, both strings"


def _raise(instr: Instr) -> Iterator[str]:
    if all(v.type is not OBJECT for v in instr.operands) and "exc" in instr.attrs:
        if not isinstance(instr.attrs["exc"], str) or not isinstance(instr.attrs.get("message"), str):
            yield "a typed raise needs the attributes exc and message, both strings"
    elif any(v.type is not OBJECT and not isinstance(v, Const) for v in instr.operands):
        yield "raise takes objects"


def _cast(instr: Instr) -> Iterator[str]:
    if len(instr.operands) != 1 or len(instr.results) != 1:
        yield "cast takes one value and gives one"
    elif not isinstance(instr.operands[0].type, Scalar) or not isinstance(instr.results[0].type, Scalar):
        yield "cast converts between scalar types"


def _alloc(instr: Instr) -> Iterator[str]:
    types = [r.type for r in instr.results]
    if len(types) != 1 or not isinstance(types[0], Array) or types[0].ndim != len(instr.operands):
        yield "alloc takes a length per dimension of its array"
    elif any(v.type is not I64 for v in instr.operands):
        yield "alloc takes i64 lengths"
    if instr.attrs.get("fill") not in ("empty", "zeros"):
        yield "alloc needs the attribute fill, 'empty' or 'zeros'"


def _axis(instr: Instr) -> Iterator[str]:
    (array,) = instr.operands
    if not isinstance(array.type, Array):
        yield f"{instr.op} takes an array"
    elif instr.attrs.get("axis") not in range(array.type.ndim):
        yield f"{instr.op} needs the attribute axis, below {array.type.ndim}"


def _written(instr: Instr) -> Iterator[str]:
    array = instr.operands[0].type
    if isinstance(array, Array) and not array.writable:
        yield f"{instr.op} writes to a read-only array"


def _view(instr: Instr) -> Iterator[str]:
    array, spec = instr.operands[0].type, instr.attrs.get("spec")
    result = instr.results[0].type
    if not isinstance(array, Array) or not isinstance(result, Array) or result.dtype is not array.dtype:
        yield "view takes an array and gives one of the same dtype"
    elif not isinstance(spec, str) or len(spec) - spec.count("n") != array.ndim or set(spec) - set("is:n"):
        yield f"view needs the attribute spec, {array.ndim} letters out of 'is:', and any number of 'n'"
    elif len(instr.operands) != 1 + spec.count("i") + 3 * spec.count("s"):
        yield "view takes an operand per 'i' and three per 's'"
    elif result.ndim != len(spec) - spec.count("i"):
        yield f"the view has {len(spec) - spec.count('i')} dimensions, not {result.ndim}"
    elif any(v.type is not I64 for v in instr.operands[1:]):
        yield "view takes i64 indices"


def _reshape(instr: Instr) -> Iterator[str]:
    array, result = instr.operands[0].type, instr.results[0].type
    if not isinstance(array, Array) or not isinstance(result, Array) or result.dtype is not array.dtype:
        yield "reshape takes an array and gives one of the same dtype"
    elif array.layout != "C" and result.layout == "C":
        yield "reshape gives a C-contiguous array of one that is"
    elif len(instr.operands) != 1 + result.ndim or any(v.type is not I64 for v in instr.operands[1:]):
        yield "reshape takes an i64 length per dimension of the result"


def _reshapable(instr: Instr) -> Iterator[str]:
    array, *shape = instr.operands
    if not isinstance(array.type, Array) or any(v.type is not I64 for v in shape):
        yield "reshapable takes an array and i64 lengths"


def _fits(instr: Instr) -> Iterator[str]:
    if not isinstance(instr.attrs.get("item"), int) or any(v.type is not I64 for v in instr.operands):
        yield "fits takes lengths of i64, and says how large an element is"


def _arrange(instr: Instr) -> Iterator[str]:
    axes, kept = instr.attrs.get("axes"), instr.attrs.get("kept")
    if not (isinstance(axes, int) and isinstance(kept, tuple) and isinstance(instr.attrs.get("item"), int)):
        yield "arrange says how many axes there are, which of them are kept, and how large an element is"
    elif not all(0 <= axis < axes for axis in kept) or len(instr.results) != len(kept):
        yield "arrange gives a stride per axis that is kept"
    elif (len(instr.operands) - len(kept)) % (2 * axes or 1) or any(v.type is not I64 for v in instr.operands):
        yield "arrange takes a length and a stride, both i64, per axis of each operand, and a length per axis that is kept"


def _strided(instr: Instr) -> Iterator[str]:
    array, result = instr.operands[0].type, instr.results[0].type
    if not isinstance(array, Array) or result != Array(array.dtype, array.ndim, "A") or array.layout != "C":
        yield "strided takes a C-contiguous array and gives one of any strides, of the same dtype and dimensions"
    elif len(instr.operands) != 1 + array.ndim or any(v.type is not I64 for v in instr.operands[1:]):
        yield "strided takes an i64 stride per dimension"


def _transpose(instr: Instr) -> Iterator[str]:
    array, result, axes = instr.operands[0].type, instr.results[0].type, instr.attrs.get("axes")
    if not isinstance(array, Array) or not isinstance(result, Array) or result.dtype is not array.dtype:
        yield "transpose takes an array and gives one of the same dtype"
    elif not isinstance(axes, tuple) or len(axes) != array.ndim or set(axes) != set(range(result.ndim)):
        yield f"transpose needs the attribute axes, {array.ndim} of the dimensions of the result, all of them"
    elif result.layout != "A":
        yield "transpose gives a strided array"


def _fill(instr: Instr) -> Iterator[str]:
    yield from _written(instr)
    types = [v.type for v in instr.operands]
    if len(types) != 2 or not isinstance(types[0], Array) or types[1] != types[0].dtype:
        yield "fill takes an array and a value of its dtype"


def _two_arrays(instr: Instr) -> Iterator[str]:
    types = [v.type for v in instr.operands]
    if len(types) != 2 or not all(isinstance(x, Array) for x in types):
        yield f"{instr.op} takes two arrays"


def _array_to_array(instr: Instr) -> Iterator[str]:
    yield from _two_arrays(instr)
    yield from _written(instr)
    to, source = (v.type for v in instr.operands)
    if isinstance(to, Array) and isinstance(source, Array) and (to.dtype, to.ndim) != (source.dtype, source.ndim):
        yield f"{instr.op} takes two arrays of one dtype and number of dimensions"


def _broadcast(instr: Instr) -> Iterator[str]:
    source, result = instr.operands[0].type, instr.results[0].type
    if not isinstance(source, Array) or not isinstance(result, Array) or source.dtype != result.dtype:
        yield "broadcast takes an array and gives one of the same dtype"
    elif result.layout != "A" or result.ndim < source.ndim or len(instr.operands) != 1 + result.ndim:
        yield "broadcast gives a strided array of at least as many dimensions, whose lengths it takes"


def _apply(instr: Instr) -> Iterator[str]:
    modes = instr.attrs.get("modes")
    if (
        not isinstance(modes, tuple)
        or any(m not in ("set", *REDUCING) for m in modes)
        or len(modes) > len(instr.operands)
    ):
        yield "apply needs the attribute modes, a tuple of 'set' and kinds of reductions"
        return
    kinds = instr.attrs.get("kinds", ("add",) * len(instr.results))
    if len(kinds) != len(instr.results) or any(k not in REDUCING for k in kinds):
        yield "apply takes a kind of reduction for each result"
    arrays = [v.type for v in instr.operands if isinstance(v.type, Array)]
    if len({t.ndim for t in arrays}) != 1:
        yield "apply takes arrays of one number of dimensions, at least one"
    for v in instr.operands[: len(modes)]:
        if not isinstance(v.type, Array) or not v.type.writable:
            yield "apply writes to writable arrays"


def _foreign(instr: Instr) -> Iterator[str]:
    spec = instr.attrs.get("spec")
    if not isinstance(spec, str) or set(spec) - set("rwmvpo") or instr.attrs.get("int") not in (32, 64):
        yield "foreign needs the attributes spec, a string of the letters rwmvpo, and int, 32 or 64"
        return
    letters = [letter for letter in spec if letter != "o"]
    if len(letters) != len(instr.operands) or not isinstance(instr.attrs.get("symbol"), str):
        yield "foreign needs an operand for each letter of spec but o, and the attribute symbol"
    elif any(isinstance(v.type, Array) != (x in ARRAYS) for x, v in zip(letters, instr.operands)):
        yield "foreign takes arrays for the letters rwm, numbers for v and p"
    elif not all(
        isinstance(v.type, Scalar) for v in [*instr.results, *instr.operands] if not isinstance(v.type, Array)
    ):
        yield "foreign takes and gives numbers and arrays"
    elif any(isinstance(v.type, Array) and not v.type.writable for v in arrays_written(instr)):
        yield "foreign writes to writable arrays"
    elif len(instr.results) != spec.count("o") + bool(instr.attrs.get("returns")):
        yield "foreign has a result for each letter o, and one with returns"


def _record(store: Stack) -> list[Type]:
    """The types of what one push puts on a stack: a tuple is a record of several values."""
    return list(store.item.items) if isinstance(store.item, Tuple) else [store.item]


def _push(instr: Instr) -> Iterator[str]:
    store, values = instr.operands[0].type, instr.operands[1:]
    if isinstance(store, Stack):
        if [v.type for v in values] != _record(store):
            yield f"push takes {', '.join(map(str, _record(store)))}"
    elif not isinstance(store, Tape):
        yield "push takes a stack or a tape first"


def _pop(instr: Instr) -> Iterator[str]:
    store = instr.operands[0].type
    if isinstance(store, Stack):
        if [v.type for v in instr.results] != _record(store):
            yield f"pop gives {', '.join(map(str, _record(store)))}"
    elif not isinstance(store, Tape):
        yield "pop takes a stack or a tape"


def _room(instr: Instr) -> Iterator[str]:
    types = [v.type for v in instr.operands]
    if len(types) != 2 or not isinstance(types[0], (Stack, Tape)) or types[1] is not I64:
        yield f"{instr.op} takes a stack and an i64"


def _stack(instr: Instr) -> Iterator[str]:
    if instr.operands or len(instr.results) != 1 or not isinstance(instr.results[0].type, Stack):
        yield "stack takes nothing and gives a stack"


def _one_array(instr: Instr) -> Iterator[str]:
    if len(instr.operands) != 1 or not isinstance(instr.operands[0].type, Array):
        yield f"{instr.op} takes an array"


_SPECIAL: dict[str, Special] = {
    "guard": _guard,
    "raise": _raise,
    "cast": _cast,
    "alloc": _alloc,
    "dim": _axis,
    "stride": _axis,
    "store": _written,
    "accum": _written,
    "view": _view,
    "reshape": _reshape,
    "reshapable": _reshapable,
    "transpose": _transpose,
    "strided": _strided,
    "arrange": _arrange,
    "fits": _fits,
    "contiguous": _one_array,
    "fill": _fill,
    "copyto": _array_to_array,
    "addto": _array_to_array,
    "broadcast": _broadcast,
    "apply": _apply,
    "foreign": _foreign,
    "overlap": _two_arrays,
    "same": _two_arrays,
    "retain": _one_array,
    "release": _one_array,
    "stack": _stack,
    "push": _push,
    "pop": _pop,
    "reserve": _room,
    "rewind": _room,
}

CHECKS = (
    check_blocks,
    check_targets,
    check_definitions,
    check_value_types,
    check_arguments,
    check_typing,
    check_results,
    check_dominance,
    check_calls,
)
