"""Small pieces of SSA that the adjoint pass emits: shadows, copies, trip counts, sums."""

from __future__ import annotations

from collections.abc import Callable

from zyg.errors import Unsupported
from zyg.ir.analysis import Loop, Loops
from zyg.ir.builder import Builder
from zyg.ir.core import Block, Const, Function, Instr, Module, Value, array_type, const
from zyg.ir.counters import advance, find_counter
from zyg.ir.plainly import get_plainly
from zyg.ir.types import F64, I64, Array, Scalar, Stack, Tuple, Type, cotangent_type


def shadow_type(t: Type) -> Array:
    """The type of the shadow of an array."""
    result = cotangent_type(t)
    assert isinstance(result, Array)
    return result


def dtype(v: Value) -> Scalar:
    assert isinstance(v.type, Array)
    return v.type.dtype


def called_by(instr: Instr) -> str:
    """What a message calls the Python function that a `pycall` calls."""
    called = instr.attrs.get("callable")
    return get_plainly(called, "__qualname__") or get_plainly(called, "__name__") or repr(called)


def refuse_unseen_writes(instr: Instr, active: Callable[[Value], bool], rule: str) -> None:
    """Refuse a call of Python that may write to an array with a derivative: nobody sees what of it is another number then."""
    if instr.attrs.get("reads") or instr.attrs.get("tells"):
        return
    if any(isinstance(v.type, Array) and active(v) for v in instr.operands):
        name = called_by(instr)
        raise Unsupported(
            f"a derivative by an array that `{name}` gets, which zyg cannot see into and which may write to it",
            instr.position,
            hint=f"give it a rule with @{rule}({name}), or pass a copy",
        )


def zeros_like(b: Builder, array: Value, name: str) -> Value:
    """A new zeroed shadow for `array`."""
    made = shadow_type(array.type)
    contiguous = Array(made.dtype, made.ndim, "C")
    return lying_as(b.op, b.op("alloc", *lengths(b, array), type=contiguous, name=name, fill="zeros"), array)


def zeros_apart(b: Builder, shadow: Value) -> Value:
    """A new array of zeros of the type and shape of a shadow, each element in a place of its own."""
    wanted = array_type(shadow)
    contiguous = Array(wanted.dtype, wanted.ndim, "C")
    made = b.op("alloc", *lengths(b, shadow), type=contiguous, name=shadow.name, fill="zeros")
    return as_layout(b, made, wanted)


def lying_as(op: Callable[..., Value], made: Value, array: Value) -> Value:
    """A new array of the shape of `array` (with lanes as one dimension more, it may be), whose elements lie next to each other in
    the order in which those of `array` do, backwards along axes along which they do. So lie shadows: where an array, or a view of
    it, is contiguous or can be seen in another shape, its shadow is and can, too, and code that is compiled for that case asks
    for the array alone."""
    assert isinstance(array.type, Array) and isinstance(made.type, Array)
    ndim, given = array.type.ndim, made.type
    if array.type.layout == "C":
        return made
    wanted = Array(given.dtype, given.ndim, "A")
    shape = [op("dim", array, axis=axis) for axis in range(ndim)]
    extra = given.ndim > ndim
    size = const(given.dtype.bits // 8)
    item = op("mul", op("dim", made, axis=ndim), size) if extra else size
    strides = _strides_without_gaps(op, array, shape, item)
    return op("strided", made, *strides, *[size] * extra, type=wanted, name=made.name)


def empty_like(op: Callable[..., Value], array: Value) -> Value:
    """A new array that code cannot tell from `array` by how it lies: contiguous where that is, with its axes in the same order, and
    seen in another shape where that can be. Gaps are as small as that allows: a column of a large matrix does not make a matrix."""
    assert isinstance(array.type, Array)
    ndim, size = array.type.ndim, const(array.type.dtype.bits // 8)
    shape = [op("dim", array, axis=axis) for axis in range(ndim)]
    plain = Array(array.type.dtype, ndim, "C")
    if array.type.layout == "C" or not ndim:
        return op("alloc", *shape, type=plain, name=array.name, fill="empty")
    many = [op("gt", d, const(1)) for d in shape]
    steps = [op("abs", op("stride", array, axis=axis)) for axis in range(ndim)]
    at_once: Value = const(False)
    padded = []
    for k in range(ndim):
        at_once = op("or", at_once, op("and", many[k], op("eq", steps[k], size)))
        # Whether another axis goes on where this one ends, or there is nothing to go on.
        follows: Value = op("not", many[k])
        for other in range(ndim):
            if other != k:
                next_ = op("eq", steps[other], op("mul", steps[k], shape[k]))
                follows = op("or", follows, op("and", many[other], next_))
        padded.append(op("select", follows, shape[k], op("add", shape[k], const(1))))
    item = op("select", at_once, size, op("mul", size, const(2)))
    strides = _strides_without_gaps(op, array, padded, item)
    # The memory of an array with one axis more, of which one element is seen.
    room = op("floordiv", item, size)
    for k in range(ndim):
        room = op("mul", room, op("select", op("gt", padded[k], shape[k]), const(2), const(1)))
    made = op("alloc", *shape, room, type=Array(plain.dtype, ndim + 1, "C"), name=array.name, fill="empty")
    laid = op("strided", made, *strides, size, type=Array(plain.dtype, ndim + 1, "A"), name=array.name)
    return op("view", laid, const(0), type=Array(plain.dtype, ndim, "A"), spec=":" * ndim + "i", name=array.name)


def _strides_without_gaps(op: Callable[..., Value], array: Value, shape: list[Value], item: Value) -> list[Value]:
    """Each axis steps over all those with smaller strides in `array`, and among equal ones over the later; what is repeated there
    lies outermost."""
    far = const(2**62)
    given = [op("stride", array, axis=axis) for axis in range(len(shape))]
    steps = [op("select", op("eq", step, const(0)), far, op("abs", step)) for step in given]
    strides = [item] * len(shape)
    for inner in range(1, len(shape)):
        for outer in range(inner):
            usual = op("le", steps[inner], steps[outer])
            strides[outer] = op("mul", strides[outer], op("select", usual, shape[inner], const(1)))
            strides[inner] = op("mul", strides[inner], op("select", usual, const(1), shape[outer]))
    return [op("select", op("lt", g, const(0)), op("neg", s), s) for g, s in zip(given, strides, strict=True)]


def strides_of_shadow(op: Callable[..., Value], array: Value, strides: list[Value]) -> list[Value]:
    """The strides of the shadow, in bytes, of an array with these."""
    own, wide = dtype(array).bits // 8, shadow_type(array.type).dtype.bits // 8
    return strides if own == wide else [op("mul", op("floordiv", s, const(own)), const(wide)) for s in strides]


def as_layout(b: Builder, array: Value, wanted: Array) -> Value:
    """A C-contiguous array seen as one of type `wanted`, which may be of layout "A"."""
    if array.type == wanted:
        return array
    return b.op("view", array, type=wanted, name=array.name, spec=":" * wanted.ndim)


def lengths(b: Builder, array: Value) -> list[Value]:
    assert isinstance(array.type, Array)
    return [b.op("dim", array, axis=axis) for axis in range(array.type.ndim)]


def copy(b: Builder, array: Value) -> Value:
    """A contiguous copy of an array, of the same type."""
    assert isinstance(array.type, Array)
    plain = Array(array.type.dtype, array.type.ndim, "C")
    made = b.op("alloc", *lengths(b, array), type=plain, name=array.name, fill="empty")
    b.emit("copyto", made, array)
    return as_layout(b, made, array.type)


def twin(b: Builder, array: Value) -> Value:
    """A copy of an array for code that runs on it instead: of the same type, and lying alike (see empty_like)."""
    assert isinstance(array.type, Array)
    made = empty_like(b.op, array)
    b.emit("copyto", made, array)
    return as_layout(b, made, array.type)


def of_rule(reverse: Function) -> str:
    """What messages call the function that a rule is for, by its half `reverse`."""
    return reverse.attrs.get("rule_for", reverse.name)


def check_shape(b: Builder, reverse: Function, argument: Value, cotangent: Value, like: Value) -> None:
    """The cotangent that the rule for a function gives for an array, by its half `reverse`, has its shape, which is that of `like`."""
    name = of_rule(reverse)
    assert isinstance(argument.type, Array)
    of = f"argument '{argument.name}'" if argument.name else "an argument"
    for axis in range(argument.type.ndim):
        length, given = b.op("dim", like, axis=axis), b.op("dim", cotangent, axis=axis)
        message = f"the rule for {name} gave a cotangent of another shape than {of} has: along axis {axis} its length is {{}}, not {{}}"
        b.emit("guard", b.op("eq", length, given), given, length, exc="ValueError", message=message)


def fields(stack: Type) -> tuple[Type, ...]:
    """The types of what one push puts on a stack."""
    assert isinstance(stack, Stack)
    return stack.item.items if isinstance(stack.item, Tuple) else (stack.item,)


def record(types: list[Type]) -> Type:
    """The item type of a stack for these values."""
    return types[0] if len(types) == 1 else Tuple(tuple(types))


def sum_function(module: Module, array: Type) -> str:
    """The name of a function of the module that sums an array of this type; it is made at its first use."""
    assert isinstance(array, Array)
    name = f"zyg.sum.{array.dtype}.{array.ndim}{array.layout}"
    if name not in module.functions:
        module.add(_sum_function(name, array))
    return name


def dot_function(module: Module, array: Type, tangents: Type, lanes: int) -> str:
    """The name of a function of the module that gives the inner products of an array with the lanes of a tangent array of
    its shape (see tangent.py); it is made at its first use."""
    assert isinstance(array, Array) and isinstance(tangents, Array)
    name = f"zyg.dot.{array.dtype}.{array.ndim}{array.layout}.{tangents.dtype}{tangents.layout}.{lanes}"
    if name not in module.functions:

        def terms(b: Builder, arrays: list[Value], indices: list[Value]) -> list[Value]:
            c = b.op("load", arrays[0], *indices)
            along = [[]] if lanes == 1 else [[const(lane)] for lane in range(lanes)]
            return [b.arith("mul", c, b.op("load", arrays[1], *indices, *lane)) for lane in along]

        dtype = F64 if F64 in (array.dtype, tangents.dtype) else array.dtype
        module.add(_summing_function(name, [array, tangents], [dtype] * lanes, terms))
    return name


def _sum_function(name: str, array: Array) -> Function:
    return _summing_function(
        name, [array], [array.dtype], lambda b, arrays, indices: [b.op("load", arrays[0], *indices)]
    )


def _summing_function(
    name: str,
    types: list[Array],
    dtypes: list[Scalar],
    terms: Callable[[Builder, list[Value], list[Value]], list[Value]],
) -> Function:
    """A function of arrays that gives the sums, over the indices of the first one, of the terms that `terms` emits."""
    function = Function(name, [], tuple(dtypes))
    arrays = [Value(t, "a") for t in types]
    b = Builder(function)
    entry = b.new_block("entry")
    entry.params = list(arrays)
    b.at(entry)
    shape = lengths(b, arrays[0])
    done = Block("done")
    sums = lambda: [Value(t, "total") for t in dtypes]

    def nest(axis: int, indices: list[Value], totals: list[Value], finish: Block) -> None:
        """Loop over dimension `axis`; go on at `finish` with the sums as arguments."""
        if axis == len(shape):
            b.jump(finish, *[b.op("add", s, t) for s, t in zip(totals, terms(b, arrays, indices))])
            return
        head, body = b.new_block(f"head{axis}"), b.new_block(f"body{axis}")
        step = Block(f"step{axis}")
        i, running = Value(I64, "i"), sums()
        head.params = [i, *running]
        b.jump(head, const(0), *totals)
        b.at(head)
        b.branch(b.op("lt", i, shape[axis]), body, finish, (), running)
        b.at(body)
        nest(axis + 1, [*indices, i], running, step)
        inner = sums()
        step.params = list(inner)
        function.blocks.append(step)
        b.at(step).jump(head, b.op("add", i, const(1), nsw=True), *inner)

    nest(0, [], [const(0.0, t) for t in dtypes], done)
    results = sums()
    done.params = list(results)
    function.blocks.append(done)
    b.at(done).ret(*results)
    return function


class Position:
    """Where values are defined, kept up to date while the pass inserts instructions."""

    def __init__(self, function: Function):
        self.definition: dict[Value, Instr] = {}
        self.block: dict[Value, Block] = {}
        for block in function.blocks:
            for p in block.params:
                self.block[p] = block
            for instr in block.instrs:
                self.note(instr, block)

    def note(self, instr: Instr, block: Block) -> None:
        for r in instr.results:
            self.definition[r] = instr
            self.block[r] = block

    def insert(self, instrs: list[Instr], block: Block) -> None:
        """Put instructions before the terminator of `block`."""
        block.instrs[-1:-1] = instrs
        for instr in instrs:
            self.note(instr, block)


def induction(loop: Loop, param: Value) -> tuple[Value, int] | None:
    """(start, step) if `param`, a parameter of the loop's header, is `start + k * step` in iteration k."""
    header = loop.header
    index = header.params.index(param)
    start = following = None
    for source in [*[s for s, _ in loop.entering], *loop.latches]:
        for target in source.successors():
            if target.block is header:
                if source in loop.blocks:
                    following = target.args[index]
                else:
                    start = target.args[index]
    if start is None or following is None:
        return None
    step = _step(loop, param, following)
    return None if step is None else (start, step)


def _step(loop: Loop, param: Value, following: Value) -> int | None:
    for block in loop.blocks:
        for instr in block.instrs:
            if following in instr.results:
                return advance(instr, param)
    return None


def trip_count(function: Function, loop: Loop, loops: Loops, where: Position, live: set[Block]) -> Value | None:
    """How often the latch of a loop is passed, if the loop is left at one place only, its head or its latch, by comparing
    a counter with a bound.

    The value is computed before the loop, and before all loops around it that do not change its operands.
    """
    leaving = [source for source, target in loop.exits if target.block in live]
    counter = find_counter(loop)
    if counter is None or leaving != [counter.block] or not counter.ends or counter.op == "ne":
        return None
    start, step, op, right = counter.start, counter.step, counter.op, counter.bound
    if start is None:
        return None
    home: Loop = loop
    while home.parent is not None and not any(_defined_inside(home.parent, v, where) for v in (start, right)):
        home = home.parent
    block = home.preheader
    assert block is not None, "loops are in simplified form"
    b = Builder(function, Block("count"))
    first = b.arith("add", start, const(step if counter.tested is not counter.param else 0))
    near, far = (first, right) if step > 0 else (right, first)
    distance = b.arith("sub", far, near)
    if op in ("le", "ge"):
        distance = b.arith("add", distance, const(1))
    if abs(step) != 1:
        distance = b.arith("add", distance, const(abs(step) - 1))
        distance = b.op("floordiv", distance, const(abs(step)), name="trips")
    positive = b.op("gt", distance, const(0)) if not isinstance(distance, Const) else const(distance.value > 0)
    trips = b.arith("select", positive, distance, const(0))
    if isinstance(trips, Const):
        return trips
    trips.name = "trips"
    assert b.block is not None
    where.insert(b.block.instrs, block)
    return trips


def _defined_inside(loop: Loop, v: Value, where: Position) -> bool:
    return not isinstance(v, Const) and where.block.get(v) in loop.blocks


__all__ = [
    "F64", "Position", "as_layout", "copy", "dot_function", "dtype", "fields", "induction", "lengths", "lying_as", "record",
    "shadow_type",
    "sum_function", "trip_count", "zeros_like",
]  # fmt: skip


def two_arrays(x: Value, y: Value) -> str:
    """The two in an error; items of a list and attributes have no names of their own."""
    if x.name and y.name:
        return f"the arrays {x.name} and {y.name}"
    return f"the array {x.name or y.name} and another one" if x.name or y.name else "two arrays in one list or object"
