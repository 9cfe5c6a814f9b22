"""Arrays: their parts, elements, views and memory."""

from __future__ import annotations

import math

import numpy as np

from ....ir.core import Const, Instr, Value
from ....ir.dtypes import NUMPY_SCALARS
from ....ir.types import BOOL, F64, Array, Scalar
from .. import runtime
from ..text import ARENA, MEMORY_TYPES, RUNTIME, SCALAR_TYPES, SIZES, literal
from .function import NO_MEMORY, FunctionLowering
from .registry import lowers

NO_VIEW = (
    "ValueError",
    "the derivative of an array in another shape, which is a view of an array whose axes are in another order in memory; "
    "use a copy: np.ascontiguousarray(a)",
)
TOO_BIG = ("ValueError", "array is too big; its size in bytes does not fit into 64 bits")


class ArrayParts:
    """The components of an array by name."""

    __slots__ = ("data", "owner", "shape", "strides", "type")

    def __init__(self, type: Array, parts: list[str]):
        self.type = type
        self.data, self.owner = parts[0], parts[1]
        self.shape = parts[2 : 2 + type.ndim]
        self.strides = parts[2 + type.ndim :]


def parts_of(e: FunctionLowering, value: Value) -> ArrayParts:
    assert isinstance(value.type, Array)
    return ArrayParts(value.type, e.components_of(value))


def strides_of(e: FunctionLowering, a: ArrayParts) -> list[str]:
    """Strides in bytes; those of layout C follow from the shape."""
    if a.type.layout != "C":
        return a.strides
    strides = [str(SIZES[a.type.dtype])]
    for extent in reversed(a.shape[1:]):
        strides.append(product(e, strides[-1], extent))
    return strides[::-1] if a.type.ndim else []


def product(e: FunctionLowering, x: str, y: str) -> str:
    if x == "1":
        return y
    if y == "1":
        return x
    return e.let(f"mul nsw i64 {x}, {y}")


def size_of(e: FunctionLowering, a: ArrayParts) -> str:
    total = "1"
    for extent in a.shape:
        total = product(e, total, extent)
    return total


def element(e: FunctionLowering, a: ArrayParts, indices: list[str]) -> str:
    """The address of an element, which is in bounds."""
    if not indices:
        return a.data
    if a.type.layout == "C":
        linear = indices[0]
        for extent, index in zip(a.shape[1:], indices[1:], strict=True):
            row = e.let(f"mul nsw i64 {linear}, {extent}")
            linear = e.let(f"add nsw i64 {row}, {index}")
        return e.let(f"getelementptr inbounds {MEMORY_TYPES[a.type.dtype]}, ptr {a.data}, i64 {linear}", "p")
    address = a.data
    for stride, index in zip(a.strides, indices, strict=True):
        offset = e.let(f"mul nsw i64 {index}, {stride}")
        address = e.let(f"getelementptr inbounds i8, ptr {address}, i64 {offset}", "p")
    return address


def read(e: FunctionLowering, address: str, dtype: Scalar, annotation: str, hint: str = "t") -> str:
    value = e.let(f"load {MEMORY_TYPES[dtype]}, ptr {address}{annotation}", hint)
    return e.let(f"icmp ne i8 {value}, 0", hint) if dtype is BOOL else value


def write(e: FunctionLowering, value: str, address: str, dtype: Scalar, annotation: str) -> None:
    if dtype is BOOL:
        value = e.let(f"zext i1 {value} to i8")
    e.emit(f"store {MEMORY_TYPES[dtype]} {value}, ptr {address}{annotation}")


def access(e: FunctionLowering, array: Value) -> str:
    """Annotations of an access to an array's elements."""
    parallel = f", !llvm.access.group !{e.module.access_group()}" if e.parallel else ""
    return e.module.tag("array") + e.scopes.annotation(array) + parallel


@lowers("load")
def load(e: FunctionLowering, instr: Instr) -> None:
    a = parts_of(e, instr.operands[0])
    address = element(e, a, [e.value(i) for i in instr.operands[1:]])
    annotation = access(e, instr.operands[0])
    e.define(instr, [read(e, address, a.type.dtype, annotation, instr.result.name)])


@lowers("store")
def store(e: FunctionLowering, instr: Instr) -> None:
    array, value, *indices = instr.operands
    a = parts_of(e, array)
    address = element(e, a, [e.value(i) for i in indices])
    write(e, e.value(value), address, a.type.dtype, access(e, array))


@lowers("accum")
def accum(e: FunctionLowering, instr: Instr) -> None:
    array, value, *indices = instr.operands
    a = parts_of(e, array)
    address = element(e, a, [e.value(i) for i in indices])
    accumulate(e, address, a.type.dtype, e.value(value), access(e, array), e.flags(instr))


def accumulate(e: FunctionLowering, address: str, dtype: Scalar, value: str, annotation: str, flags: str = "") -> None:
    old = read(e, address, dtype, annotation)
    operation = f"fadd {flags}" if dtype.kind == "f" else "or " if dtype is BOOL else "add "
    write(e, e.let(f"{operation}{SCALAR_TYPES[dtype]} {old}, {value}"), address, dtype, annotation)


@lowers("dim")
def dim(e: FunctionLowering, instr: Instr) -> None:
    e.define(instr, [parts_of(e, instr.operands[0]).shape[instr.attrs["axis"]]])


@lowers("stride")
def stride(e: FunctionLowering, instr: Instr) -> None:
    e.define(instr, [strides_of(e, parts_of(e, instr.operands[0]))[instr.attrs["axis"]]])


@lowers("fits")
def fits(e: FunctionLowering, instr: Instr) -> None:
    """By floats, whose product does not wrap: it is wrong by less than what memory could ever hold."""
    total = literal(float(instr.attrs["item"]), F64)
    for v in instr.operands:
        total = e.let(f"fmul double {total}, {e.let(f'sitofp i64 {e.value(v)} to double')}")
    e.define(instr, [e.let(f"fcmp olt double {total}, {literal(2.0**63, F64)}")])


@lowers("contiguous")
def contiguous(e: FunctionLowering, instr: Instr) -> None:
    """Axes of one element may have any stride, and all may where there is none, unless it is strict."""
    a = parts_of(e, instr.operands[0])
    if instr.attrs.get("strict"):
        usual = strides_of(e, ArrayParts(Array(a.type.dtype, a.type.ndim), [a.data, a.owner, *a.shape]))
        tests = [e.let(f"icmp eq i64 {x}, {y}") for x, y in zip(strides_of(e, a), usual, strict=True)]
        result = tests[0] if tests else "true"
        for test in tests[1:]:
            result = e.let(f"and i1 {result}, {test}")
        e.define(instr, [result])
        return
    result, empty, expected = "true", "false", str(SIZES[a.type.dtype])
    for length, step in reversed([*zip(a.shape, strides_of(e, a), strict=True)]):
        fits = e.let(f"icmp eq i64 {step}, {expected}")
        either = e.let(f"or i1 {fits}, {e.let(f'icmp eq i64 {length}, 1')}")
        result = e.let(f"and i1 {result}, {either}")
        empty = e.let(f"or i1 {empty}, {e.let(f'icmp eq i64 {length}, 0')}")
        expected = e.let(f"mul i64 {expected}, {length}")
    e.define(instr, [e.let(f"or i1 {result}, {empty}")])


@lowers("arrange")
def arrange(e: FunctionLowering, instr: Instr) -> None:
    """By the runtime, which gets the steps along all axes, 0 for those of length 1, and lengths, 1 for axes that the new array has not."""
    axes, kept = instr.attrs["axes"], instr.attrs["kept"]
    told, lengths = instr.operands[: -len(kept)], instr.operands[-len(kept) :]
    table = e.alloca(f"[{len(told) // 2} x i64]", "steps")
    for n, (length, step) in enumerate(zip(told[::2], told[1::2], strict=True)):
        size = e.value(step)
        if not (isinstance(length, Const) and length.value != 1):
            one = e.let(f"icmp eq i64 {e.value(length)}, 1")
            size = e.let(f"select i1 {one}, i64 0, i64 {size}")
        e.set_field("i64", size, table, 8 * n)
    strides, order = (e.alloca(f"[{axes} x i64]", hint) for hint in ("strides", "order"))
    for axis in range(axes):
        e.set_field("i64", e.value(lengths[kept.index(axis)]) if axis in kept else "1", strides, 8 * axis)
    callee = e.module.external("zyg_arrange", "void", "ptr, i64, i64, i64, ptr, ptr", RUNTIME)
    operands = len(told) // 2 // axes
    sizes = [f"i64 {n}" for n in (operands, axes, instr.attrs["item"])]
    e.call("void", callee, f"ptr {table}", *sizes, f"ptr {order}", f"ptr {strides}")
    for axis, v in zip(kept, instr.results, strict=True):
        e.bind(v, [e.field("i64", strides, 8 * axis)])


_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def no_memory(instr: Instr) -> tuple[str, str]:
    """The error for an array that there is no memory for, as NumPy words it where the shape is known."""
    type = instr.result.type
    assert isinstance(type, Array)
    dims = instr.operands
    dtype = np.dtype(NUMPY_SCALARS[type.dtype])
    if instr.attrs.get("parts"):
        dims, dtype = dims[:-1], np.dtype(complex)
    shape = [v.value for v in dims if isinstance(v, Const)]
    if len(shape) < len(dims):
        axes = "1 axis" if len(dims) == 1 else f"{len(dims)} axes"
        return NO_MEMORY[0], f"Unable to allocate an array with {axes} and data type {dtype}"
    bytes = math.prod(shape) * dtype.itemsize
    unit = max(bytes.bit_length() - 1, 0) // 10
    amount = f"{bytes / 1024**unit:#.{3 if unit else 0}g}"
    return NO_MEMORY[
        0
    ], f"Unable to allocate {amount} {_UNITS[unit]} for an array with shape {tuple(shape)} and data type {dtype}"


@lowers("alloc", context=True, fails=True)
def alloc(e: FunctionLowering, instr: Instr) -> None:
    type = instr.result.type
    assert isinstance(type, Array)
    shape = [e.value(v) for v in instr.operands]
    item, zeroed = SIZES[type.dtype], "true" if instr.attrs.get("fill") == "zeros" else "false"
    if 0 < len(shape) < 5:
        name = "zyg_array_make" + (str(len(shape)) if len(shape) > 1 else "")
        callee = e.module.external(name, "ptr", f"ptr, {'i64, ' * len(shape)}i64, i1", ARENA)
        lengths = [f"i64 {extent}" for extent in shape]
        header = e.call("ptr", callee, "ptr %ctx", *lengths, f"i64 {item}", f"i1 {zeroed}", hint="header")
    else:
        size, overflows = str(item), []
        for extent in shape:
            both = e.with_overflow("umul", size, extent)
            size = e.let(f"extractvalue {{i64, i1}} {both}, 0")
            overflows.append(e.let(f"extractvalue {{i64, i1}} {both}, 1"))
        if overflows:
            # A length of 0 makes the array empty however long the others are; NumPy refuses these as we do.
            e.check_none(overflows, e.site(*TOO_BIG))
        callee = e.module.external("zyg_array_new", "ptr", "ptr, i64, i1", ARENA)
        header = e.call("ptr", callee, "ptr %ctx", f"i64 {size}", f"i1 {zeroed}", hint="header")
    if 1 < len(shape) < 5:
        e.check_made(header, no_memory(instr), TOO_BIG)
    else:
        e.check(e.let(f"icmp ne ptr {header}, null"), e.site(*no_memory(instr)))
    data = e.field("ptr", header, runtime.HEADER.data, "header", (instr.result.name or "a") + ".d")
    parts = [data, header, *shape]
    if type.layout != "C":
        parts += strides_of(e, ArrayParts(Array(type.dtype, type.ndim), parts))
    e.define(instr, parts)


@lowers("view")
def view(e: FunctionLowering, instr: Instr) -> None:
    a = parts_of(e, instr.operands[0])
    operands = [e.value(v) for v in instr.operands[1:]]
    type = instr.result.type
    assert isinstance(type, Array)
    data, shape, strides = a.data, [], []
    dimensions = iter(zip(a.shape, strides_of(e, a), strict=True))
    for letter in instr.attrs["spec"]:
        if letter == "n":
            shape.append("1")
            strides.append("0")
            continue
        extent, stride = next(dimensions)
        if letter == ":":
            shape.append(extent)
            strides.append(stride)
            continue
        # Not inbounds: an empty slice may start one past the end.
        offset = e.let(f"mul i64 {operands.pop(0)}, {stride}")
        data = e.let(f"getelementptr i8, ptr {data}, i64 {offset}", (instr.result.name or "view") + ".d")
        if letter == "s":
            shape.append(operands.pop(0))
            strides.append(product(e, stride, operands.pop(0)))
    parts = [data, a.owner, *shape]
    e.define(instr, parts if type.layout == "C" else [*parts, *strides])


@lowers("broadcast")
def broadcast(e: FunctionLowering, instr: Instr) -> None:
    a = parts_of(e, instr.operands[0])
    shape = [e.value(v) for v in instr.operands[1:]]
    missing = len(shape) - len(a.shape)
    strides = ["0"] * missing
    whole = instr.attrs.get("unrepeated", ())
    for axis, (extent, stride) in enumerate(zip(a.shape, strides_of(e, a), strict=True)):
        repeats = "" if axis in whole else e.let(f"icmp eq i64 {extent}, 1")
        strides.append(e.let(f"select i1 {repeats}, i64 0, i64 {stride}") if repeats else stride)
    e.define(instr, [a.data, a.owner, *shape, *strides])


@lowers("transpose")
def transpose(e: FunctionLowering, instr: Instr) -> None:
    a = parts_of(e, instr.operands[0])
    type = instr.result.type
    assert isinstance(type, Array)
    shape, strides = [""] * type.ndim, [""] * type.ndim
    for extent, stride, axis in zip(a.shape, strides_of(e, a), instr.attrs["axes"], strict=True):
        if not shape[axis]:
            shape[axis], strides[axis] = extent, stride
            continue
        shorter = e.let(f"icmp slt i64 {extent}, {shape[axis]}")
        shape[axis] = e.let(f"select i1 {shorter}, i64 {extent}, i64 {shape[axis]}")
        strides[axis] = e.let(f"add i64 {strides[axis]}, {stride}")
    e.define(instr, [a.data, a.owner, *shape, *strides])


@lowers("strided")
def strided(e: FunctionLowering, instr: Instr) -> None:
    a = parts_of(e, instr.operands[0])
    strides = [e.value(v) for v in instr.operands[1:]]
    data = a.data
    for extent, stride in zip(a.shape, strides, strict=True):
        last = e.let(f"sub i64 {extent}, 1")
        back = e.let(f"mul i64 {e.let(f'sub i64 0, {stride}')}, {last}")
        start = e.let(f"select i1 {e.let(f'icmp slt i64 {stride}, 0')}, i64 {back}, i64 0")
        data = e.let(f"getelementptr i8, ptr {data}, i64 {start}", (instr.result.name or "strided") + ".d")
    e.define(instr, [data, a.owner, *a.shape, *strides])


def _is_strided(instr: Instr) -> bool:
    type = instr.operands[0].type
    return isinstance(type, Array) and type.layout != "C"


@lowers("reshape", fails=_is_strided)
def reshape(e: FunctionLowering, instr: Instr) -> None:
    a = parts_of(e, instr.operands[0])
    type = instr.result.type
    assert isinstance(type, Array)
    shape = [e.value(v) for v in instr.operands[1:]]
    parts = [a.data, a.owner, *shape]
    if _is_strided(instr):
        holds, strides = _restrided(e, a, shape)
        e.check(holds, e.site(*NO_VIEW))
        parts += [e.field("i64", strides, 8 * k) for k in range(type.ndim)]
    elif type.layout != "C":
        parts += strides_of(e, ArrayParts(Array(type.dtype, type.ndim), parts))
    e.define(instr, parts)


@lowers("reshapable")
def reshapable(e: FunctionLowering, instr: Instr) -> None:
    a = parts_of(e, instr.operands[0])
    if not _is_strided(instr):
        e.define(instr, ["true"])
        return
    holds, _ = _restrided(e, a, [e.value(v) for v in instr.operands[1:]])
    e.define(instr, [holds])


def _restrided(e: FunctionLowering, a: ArrayParts, shape: list[str]) -> tuple[str, str]:
    """Whether an array can be seen in another shape, and where its strides are then."""
    tables = []
    for numbers in (a.shape, a.strides, shape, [""] * len(shape)):
        table = e.alloca(f"[{max(1, len(numbers))} x i64]", "table")
        tables.append(table)
        for k, number in enumerate(numbers):
            if number:
                e.set_field("i64", number, table, 8 * k)
    dims, strides, to_dims, to_strides = tables
    callee = e.module.external("zyg_reshape", "i1", "i64, i64, ptr, ptr, i64, ptr, ptr", RUNTIME)
    holds = e.call(
        "i1", callee, f"i64 {SIZES[a.type.dtype]}", f"i64 {len(a.shape)}", f"ptr {dims}", f"ptr {strides}",
        f"i64 {len(shape)}", f"ptr {to_dims}", f"ptr {to_strides}",
    )  # fmt: skip
    return holds, to_strides


@lowers("same")
def same(e: FunctionLowering, instr: Instr) -> None:
    a, b = (parts_of(e, v) for v in instr.operands)
    result = e.let(f"icmp eq ptr {a.data}, {b.data}")
    pairs = list(zip(a.shape, b.shape)) + list(zip(strides_of(e, a), strides_of(e, b)))
    for x, y in pairs:
        equal = e.let(f"icmp eq i64 {x}, {y}")
        result = e.let(f"and i1 {result}, {equal}")
    e.define(instr, [result])


@lowers("retain")
def retain(e: FunctionLowering, instr: Instr) -> None:
    callee = e.module.external("zyg_array_retain", "void", "ptr", RUNTIME)
    e.call("void", callee, f"ptr {parts_of(e, instr.operands[0]).owner}")


@lowers("release", context=True)
def release(e: FunctionLowering, instr: Instr) -> None:
    release_owner(e, parts_of(e, instr.operands[0]).owner)


def release_owner(e: FunctionLowering, owner: str) -> None:
    callee = e.module.external("zyg_array_release", "void", "ptr, ptr", RUNTIME)
    e.call("void", callee, "ptr %ctx", f"ptr {owner}")
