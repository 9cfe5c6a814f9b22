"""Operations on all elements of arrays: filled, added, copied, compared by address.

Each but the last is a loop or several, which LLVM makes more of.  Where a module has many, one function does an operation
for all arrays of the same types: in a program on whole arrays, copies and sums of cotangents are half of its loops.  For vectors
and matrices of doubles that is one which is the same for every program (elementloops.py).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ....ir.core import Block, Const, Function, Instr, Value
from ....ir.types import F64, Array, Type
from .. import kept, runtime
from ..lowered import WHOLE_ARRAYS, FunctionABI, Lowered
from ..text import ARENA, RUNTIME, SIZES, component_types, symbol
from .arrays import (
    ArrayParts,
    access,
    accumulate,
    element,
    parts_of,
    product,
    read,
    release_owner,
    size_of,
    strides_of,
    write,
)
from .control import ONE_AT_A_TIME, loop_marks
from .function import NO_MEMORY, FunctionLowering
from .registry import has_loops, lowers, may_fail, uses_context


def copies_at_once(instr: Instr) -> bool:
    """Whether a `copyto` is one memmove."""
    types = [v.type for v in instr.operands]
    return all(isinstance(t, Array) and (t.layout == "C" or t.ndim == 0) for t in types)


def takes_a_temporary(instr: Instr) -> bool:
    return not copies_at_once(instr)


def is_cleared(instr: Instr) -> bool:
    """Whether a `fill` is one memset."""
    target, value = instr.operands
    assert isinstance(target.type, Array)
    zero = isinstance(value, Const) and not value.value and str(value.value) != "-0.0"
    return target.type.layout == "C" and zero


def fills_each(instr: Instr) -> bool:
    return _of_dimensions(instr) and not is_cleared(instr)


def copies_each(instr: Instr) -> bool:
    return _of_dimensions(instr) and not copies_at_once(instr)


def _of_dimensions(instr: Instr) -> bool:
    type = instr.operands[0].type
    return isinstance(type, Array) and type.ndim > 0


def by_shared(e: FunctionLowering, instr: Instr) -> bool:
    """Call the function that does this for all arrays of these types, in a module that has them."""
    if not e.lowered.shares or e.function.attrs.get("by itself") or not has_loops(instr):
        return False
    types = tuple(_parameter(v.type) for v in instr.operands)
    key: Hashable = (instr.op, types, e.flags(instr))
    abi = e.lowered.shared.get(key)
    if abi is None:
        abi = e.lowered.shared[key] = _shared(e, instr, types)
    arguments = ["ptr %ctx"] if abi.needs_ctx else []
    for value in instr.operands:
        parts = zip(component_types([value.type]), e.components_of(value), strict=True)
        arguments += [f"{t} {c}" for t, c in parts]
    status, _ = abi.call(e, arguments)
    if status is not None:  # which says nothing of the place
        e.check(e.let(f"icmp eq i32 {status}, 0"), e.site(*NO_MEMORY))
    return True


def _shared(e: FunctionLowering, instr: Instr, types: tuple[Type, ...]) -> FunctionABI:
    params = [Value(t, "a") for t in types]
    block = Block("entry", params)
    block.instrs = [Instr(instr.op, list(params), attrs=instr.attrs), Instr("return")]
    function = Function(f"{instr.op}.each.{len(e.lowered.shared)}", [block])
    function.attrs = {"by itself": True, "noinline": True}
    abi = FunctionABI(
        symbol("zyg." + function.name), uses_context(instr), types, (), may_run_python=False, fails=may_fail(instr)
    )
    e.lowered.signatures[function.name] = abi

    def write(to: Lowered, _: str, linkage: str) -> None:
        FunctionLowering(to, function, False, e.vector_variants).lower(linkage)

    by_kernels = have_kernels([t for t in types if isinstance(t, Array)])
    # In a program of few loops LLVM makes something of what it knows of strides. The number of the only error does not matter. (It is a
    # function all the same, so there is nothing to lose where it is a short one.)
    apart = e.lowered.keeps and WHOLE_ARRAYS in e.module.flags and not by_kernels
    if apart and (found := kept.apart(e.lowered, [function.name], write, least=0)) is not None:
        return found[0]
    write(e.lowered, function.name, "internal ")
    if e.lowered.settled and by_kernels:
        e.lowered.settled.add(abi.symbol)
    return abi


def _parameter(type: Type) -> Type:
    return Array(type.dtype, type.ndim, type.layout) if isinstance(type, Array) else type


def have_kernels(types: list[Array]) -> bool:
    """Whether these are vectors or matrices of doubles."""
    return all(t.dtype is F64 and 0 < t.ndim < 3 for t in types)


def by_kernel(e: FunctionLowering, name: str, arrays: list[ArrayParts], *rest: str) -> bool:
    """Call the kernel that does this, if there is one, in a module with many loops over elements."""
    if WHOLE_ARRAYS not in e.module.flags or not have_kernels([a.type for a in arrays]):
        return False
    if all(a.type.layout == "C" for a in arrays):
        arrays = [ArrayParts(Array(F64, 1), [a.data, a.owner, size_of(e, a)]) for a in arrays]
    lengths = [f"i64 {n}" for n in ["1", *arrays[0].shape][-2:]]
    places = [[f"ptr {a.data}", *(f"i64 {n}" for n in ["0", *strides_of(e, a)][-2:])] for a in arrays]
    arguments = [*lengths, *(part for place in places for part in place), *rest]
    types = ", ".join(argument.partition(" ")[0] for argument in arguments)
    e.call("void", e.module.external(name, "void", types, ARENA), *arguments)
    return True


@lowers("fill", loops=fills_each)
def fill(e: FunctionLowering, instr: Instr) -> None:
    target, value = instr.operands
    a, annotation = parts_of(e, target), access(e, target)
    if not is_cleared(instr) and by_kernel(e, "zyg_fill", [a], f"double {e.value(value)}"):
        return
    if by_shared(e, instr):
        return
    if is_cleared(instr):
        length = product(e, size_of(e, a), str(SIZES[a.type.dtype]))
        name = e.module.intrinsic("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1 immarg")
        e.emit(f"call void {name}(ptr {a.data}, i8 0, i64 {length}, i1 false){annotation}")
        return
    v = e.value(value)
    each_element(e, [a], lambda at: write(e, v, at[0], a.type.dtype, annotation))


@lowers("addto", loops=_of_dimensions)
def addto(e: FunctionLowering, instr: Instr) -> None:
    target, source = instr.operands
    a, b = parts_of(e, target), parts_of(e, source)
    if not e.flags(instr) and by_kernel(e, "zyg_add_to", [a, b]):
        return
    if by_shared(e, instr):
        return

    def add(at: list[str]) -> None:
        value = read(e, at[1], b.type.dtype, access(e, source))
        accumulate(e, at[0], a.type.dtype, value, access(e, target), e.flags(instr))

    each_element(e, [a, b], add)


@lowers("copyto", context=takes_a_temporary, fails=takes_a_temporary, loops=copies_each)
def copyto(e: FunctionLowering, instr: Instr) -> None:
    """As if by way of a temporary: memmove where both are contiguous, a real temporary where strides overlap."""
    if by_shared(e, instr):
        return
    target, source = instr.operands
    a, b = parts_of(e, target), parts_of(e, source)
    size = SIZES[a.type.dtype]
    if copies_at_once(instr):
        length = product(e, size_of(e, a), str(size))
        memmove(e, a.data, b.data, length)
        return
    plain, careful, done = e.name("copy"), e.name("overlapping"), e.name("copied")
    e.branch(ranges_meet(e, a, b), careful, plain, likely=False)
    e.start(careful)
    length = product(e, size_of(e, b), str(size))
    callee = e.module.external("zyg_array_new", "ptr", "ptr, i64, i1", ARENA)
    header = e.call("ptr", callee, "ptr %ctx", f"i64 {length}", "i1 false", hint="header")
    e.check(e.let(f"icmp ne ptr {header}, null"), e.site(*NO_MEMORY))
    data = e.field("ptr", header, runtime.HEADER.data, "header")
    temporary = ArrayParts(Array(a.type.dtype, a.type.ndim), [data, header, *b.shape])
    copy_elements(e, temporary, b)
    copy_elements(e, a, temporary)
    release_owner(e, header)
    e.jump(done)
    e.start(plain)
    copy_elements(e, a, b, access(e, target), access(e, source))
    e.jump(done)
    e.start(done)


def copy_elements(e: FunctionLowering, a: ArrayParts, b: ArrayParts, to: str = "", of: str = "") -> None:
    if by_kernel(e, "zyg_copy_to", [a, b]):
        return
    tag = e.module.tag("array")
    to, of = to or tag, of or tag
    each_element(e, [a, b], lambda at: write(e, read(e, at[1], b.type.dtype, of), at[0], a.type.dtype, to))


def memmove(e: FunctionLowering, to: str, source: str, length: str) -> None:
    name = e.module.intrinsic("llvm.memmove.p0.p0.i64", "void", "ptr, ptr, i64, i1 immarg")
    e.emit(f"call void {name}(ptr {to}, ptr {source}, i64 {length}, i1 false)")


def each_element(e: FunctionLowering, arrays: list[ArrayParts], body: Callable[[list[str]], None]) -> None:
    """Loops over arrays of one shape; `body` gets the addresses of the elements."""
    flat = all(a.type.layout == "C" for a in arrays)
    shape = [size_of(e, arrays[0])] if flat else arrays[0].shape
    if flat:
        arrays = [ArrayParts(Array(a.type.dtype, 1), [a.data, a.owner, shape[0]]) for a in arrays]
    nest(e, shape, [], lambda indices: body([element(e, a, indices) for a in arrays]))


def nest(e: FunctionLowering, shape: list[str], indices: list[str], body: Callable[[list[str]], None]) -> None:
    if not shape:
        body(indices)
        return
    head, inside, done = e.name("each"), e.name("element"), e.name("done")
    before = e.label
    e.jump(head)
    e.start(head)
    index, following = "%" + e.name("k"), "%" + e.name("k")
    place = len(e.lines)
    e.lines.append("")
    e.branch(e.let(f"icmp slt i64 {index}, {shape[0]}"), inside, done)
    e.start(inside)
    nest(e, shape[1:], [*indices, index], body)
    e.emit(f"{following} = add nuw nsw i64 {index}, 1")
    e.lines[place] = f"  {index} = phi i64 [ 0, %{before} ], [ {following}, %{e.label} ]"
    e.emit(f"br label %{head}{loop_marks(e, ONE_AT_A_TIME)}")
    e.start(done)


@lowers("overlap")
def overlap(e: FunctionLowering, instr: Instr) -> None:
    a, b = (parts_of(e, v) for v in instr.operands)
    meets, before = ranges_meet(e, a, b), e.label
    look, done = e.name("look"), e.name("overlap")
    e.branch(meets, look, done, likely=False)
    e.start(look)
    shared = overtakes(e, a, b) if instr.attrs.get("copying") else elements_overlap(e, a, b)
    e.jump(done)
    e.start(done)
    e.define(instr, [e.let(f"phi i1 [ false, %{before} ], [ {shared}, %{look} ]", instr.result.name)])


def elements_overlap(e: FunctionLowering, a: ArrayParts, b: ArrayParts) -> str:
    """Whether elements overlap too where ranges do: those of two columns of a matrix do not."""
    count = a.type.ndim + b.type.ndim
    table = e.alloca(f"[{max(1, count)} x i64]", "strides")
    steps = zip(a.shape + b.shape, strides_of(e, a) + strides_of(e, b), strict=True)
    for k, (extent, stride) in enumerate(steps):
        several = e.let(f"icmp sgt i64 {extent}, 1")
        e.set_field("i64", e.let(f"select i1 {several}, i64 {stride}, i64 0"), table, 8 * k)
    callee = e.module.external("zyg_apart", "i1", "ptr, ptr, i64, i64, ptr, i64", RUNTIME)
    sizes = [f"i64 {SIZES[x.type.dtype]}" for x in (a, b)]
    arguments = [f"ptr {a.data}", f"ptr {b.data}", *sizes, f"ptr {table}", f"i64 {count}"]
    return e.let(f"xor i1 {e.call('i1', callee, *arguments)}, true")


def overtakes(e: FunctionLowering, a: ArrayParts, b: ArrayParts) -> str:
    """Whether NumPy, copying b to a, would read what it has just written (of vectors, of complex numbers too)."""
    strides = [f"i64 {strides_of(e, x)[0]}" for x in (a, b)]
    callee = e.module.external("zyg_overtakes", "i1", "ptr, ptr, i64, i64, i64", RUNTIME)
    return e.call("i1", callee, f"ptr {a.data}", f"ptr {b.data}", f"i64 {a.shape[0]}", *strides)


def ranges_meet(e: FunctionLowering, a: ArrayParts, b: ArrayParts) -> str:
    """Whether the address ranges from first to last element intersect."""
    (a_low, a_high), (b_low, b_high) = address_range(e, a), address_range(e, b)
    first = e.let(f"icmp ult ptr {a_low}, {b_high}")
    second = e.let(f"icmp ult ptr {b_low}, {a_high}")
    both = e.let(f"and i1 {first}, {second}")
    for extent in a.shape + b.shape:
        filled = e.let(f"icmp ne i64 {extent}, 0")
        both = e.let(f"and i1 {both}, {filled}")
    return both


def address_range(e: FunctionLowering, a: ArrayParts) -> tuple[str, str]:
    """The first address, and that after the last, of an array that is not empty."""
    low = high = a.data
    if a.type.layout == "C":
        length = product(e, size_of(e, a), str(SIZES[a.type.dtype]))
        return low, e.let(f"getelementptr i8, ptr {high}, i64 {length}")
    for extent, stride in zip(a.shape, a.strides, strict=True):
        last = e.let(f"sub i64 {extent}, 1")
        span = e.let(f"mul i64 {last}, {stride}")
        backwards = e.let(f"icmp slt i64 {span}, 0")
        down = e.let(f"select i1 {backwards}, i64 {span}, i64 0")
        up = e.let(f"select i1 {backwards}, i64 0, i64 {span}")
        low = e.let(f"getelementptr i8, ptr {low}, i64 {down}")
        high = e.let(f"getelementptr i8, ptr {high}, i64 {up}")
    return low, e.let(f"getelementptr i8, ptr {high}, i64 {SIZES[a.type.dtype]}")
