"""The reference semantics of the IR: run typed functions on Python numbers and NumPy arrays, without LLVM.

Numbers are Python floats, ints and bools (f32 values rounded to single precision, integers wrapped to their width),
arrays are ndarrays, stacks and tapes are lists.  A stack is a value: calls and `cursor` copy it.  Guards and checked
ops raise Python exceptions.  With `check_ownership` the interpreter counts the owners of each array as compiled code
would, and raises OwnershipError on use after the last release, and (at the end) when an array was not released.

It is slow and simple on purpose: passes and back ends are tested against it.
"""

from __future__ import annotations

import builtins
import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from . import types as t
from .core import Block, Const, Function, Instr, Module, Target, Value, scalar_type
from .departures import plain
from .dtypes import NUMPY_SCALARS, single
from .foreign import ARRAYS, address_of
from .ops import OPS
from .overtaking import overtakes
from .readymade import NeedsBody
from .types import BOOL, F32, F64, I32, I64, U8, Array, Scalar, Stack, Tape, Type

_INT_BITS: dict[Type, tuple[int, bool]] = {I64: (64, True), I32: (32, True), U8: (8, False)}


class OwnershipError(Exception):
    """Code that retains and releases wrongly."""


class StepLimit(Exception):
    """The function ran for longer than the caller allowed."""


def run(
    subject: Function | Module,
    *args: Any,
    entry: str | None = None,
    module: Module | None = None,
    limit: int | None = None,
    check_ownership: bool = False,
) -> tuple[Any, ...]:
    """The results of a function, or of `entry` of a module (its first function without it).

    >>> from zyg.ir.parsing import parse_function
    >>> run(parse_function("func @f(%x: f64) -> f64 {\\nentry:\\n  %y = mul %x, %x : f64\\n  return %y\\n}"), 3)
    (9.0,)
    """
    if isinstance(subject, Module):
        module = subject
        function = subject.functions[entry] if entry is not None else next(iter(subject.functions.values()))
    else:
        function = subject
    interpreter = Interpreter(module or Module([function]), limit, check_ownership)
    values = [machine_argument(a, p.type) for a, p in zip(args, function.params, strict=True)]
    results = interpreter.call(function, values)
    if check_ownership:
        interpreter.check_balance(results)
    return tuple(results)


# -------------------------------------------------------------------------------------------- machine values


def machine_value(value: Any, type: Scalar) -> Any:
    """A result of exact arithmetic as the machine keeps it: rounded to single precision, or wrapped to its width.

    >>> machine_value(0.1, F32), machine_value(300, U8), machine_value(2**63, I64)
    (0.10000000149011612, 44, -9223372036854775808)
    """
    if type is F64:
        return float(value)
    if type is F32:
        return single(float(value))
    if type is BOOL:
        return bool(value)
    bits, signed = _INT_BITS[type]
    value = int(value) % (1 << bits)
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def machine_argument(value: Any, type: Type) -> Any:
    return machine_value(value, type) if isinstance(type, Scalar) else value


def convert(value: Any, type: Scalar) -> Any:
    """The op `cast`. A float that does not fit into the integer type has no defined result; here it is 0."""
    if isinstance(value, float) and type.kind in "iu":
        value = int(value) if math.isfinite(value) else 0
        return value if machine_value(value, type) == value else 0
    return machine_value(value, type)


def unspecified(type: Type) -> Any:
    """Something of the type that spoils results which depend on it."""
    if isinstance(type, Scalar):
        return {"f": math.nan, "b": False}.get(type.kind, 0)
    if isinstance(type, Array):
        return np.zeros((0,) * type.ndim, NUMPY_SCALARS[type.dtype])
    return [] if isinstance(type, (Stack, Tape)) else None


def exception(name: str, message: str, values: Sequence[Any] = ()) -> BaseException:
    """The exception of a guard or a typed raise."""
    name = plain(name)
    cls: Any = getattr(builtins, name, None)
    if cls is None and "." in name:
        module, _, attribute = name.rpartition(".")
        cls = getattr(importlib.import_module(module), attribute)
    if values or "{{" in message or "}}" in message:
        message = message.format(*values)
    return (cls or RuntimeError)(*([message] if message else []))


def unflatten(type: Type, leaves: Iterator[Any]) -> Any:
    """The Python value of a structured type, from its leaves."""
    if isinstance(type, t.NoneType):
        return None
    if isinstance(type, t.Const):
        return type.value
    if isinstance(type, t.NpScalar):
        return NUMPY_SCALARS[type.scalar](next(leaves))
    if isinstance(type, t.Complex):
        return complex(next(leaves), next(leaves))
    if isinstance(type, t.ComplexArray):
        return next(leaves).view(np.complex128)[..., 0]
    if isinstance(type, t.Tuple):
        return tuple(unflatten(x, leaves) for x in type.items)
    if isinstance(type, t.ListType):
        return [unflatten(x, leaves) for x in type.items]
    if isinstance(type, t.Struct):
        values = [unflatten(x, leaves) for x in type.items]
        if issubclass(type.cls, tuple):
            return type.cls(*values)
        if type.cls is dict:
            return dict(zip(type.names, values, strict=True))
        made = object.__new__(type.cls)  # a dataclass: __init__ has run in compiled code
        for name, value in zip(type.names, values, strict=True):
            object.__setattr__(made, name, value)
        return made
    if isinstance(type, t.ObjectOf):
        made = object.__new__(type.cls)
        for name, item in zip(type.names, type.items, strict=True):
            object.__setattr__(made, name, unflatten(item, leaves))
        return made
    if isinstance(type, t.DictType):
        return {key: unflatten(item, leaves) for key, item in zip(type.keys, type.items, strict=True)}
    if isinstance(type, t.RangeType):
        return range(next(leaves), next(leaves), next(leaves))
    if isinstance(type, t.Optional):
        present, value = next(leaves), unflatten(type.item, leaves)
        return value if present else None
    if isinstance(type, t.OneOf):
        number, values = next(leaves), [unflatten(item, leaves) for item in type.items]
        return values[number]
    if isinstance(type, (Scalar, Array, t.ObjectType)):
        return next(leaves)
    raise NotImplementedError(f"a value of type {type} cannot be handed to Python here")


def leaves_of(value: Any, type: Type) -> list[Any]:
    """The leaves of a Python value of a structured type."""
    if isinstance(type, (t.NoneType, t.Const)):
        return []
    if isinstance(type, t.NpScalar):
        return [machine_value(value, type.scalar)]
    if isinstance(type, t.Complex):
        return [value.real, value.imag]
    if isinstance(type, t.ComplexArray):
        return [value[..., None].view(np.float64)]
    if isinstance(type, t.Fortran):
        return leaves_of(value.T, type.transpose)
    if isinstance(type, t.Sized):
        return leaves_of(value, type.array)
    if isinstance(type, (t.Tuple, t.ListType)):
        return [leaf for v, x in zip(value, type.items, strict=True) for leaf in leaves_of(v, x)]
    if isinstance(type, t.DictType):
        return [leaf for k, x in zip(type.keys, type.items, strict=True) for leaf in leaves_of(value[k], x)]
    if isinstance(type, (t.Struct, t.ObjectOf)):
        return [leaf for n, x in zip(type.names, type.items, strict=True) for leaf in leaves_of(getattr(value, n), x)]
    if isinstance(type, t.RangeType):
        return [value.start, value.stop, value.step]
    if isinstance(type, t.Optional):
        if value is None:
            return [False, *map(unspecified, t.flatten(type.item))]
        return [True, *leaves_of(value, type.item)]
    return [machine_argument(value, type)]


# ------------------------------------------------------------------------------------------------ interpreter


class Interpreter:
    """Runs functions of one module."""

    def __init__(self, module: Module, limit: int | None = None, check_ownership: bool = False):
        self.module = module
        self.steps_left = limit
        self.tape: list[Any] = []
        self.check_ownership = check_ownership
        self.owners: dict[int, int] = {}  # per allocated array, by identity
        self.stacked: set[int] = set()  # arrays that a stack keeps until the end
        self.allocated: list[np.ndarray[Any, Any]] = []  # kept, so that identities stay unique

    def call(self, function: Function, args: Sequence[Any]) -> list[Any]:
        values: dict[Value, Any] = {}
        block = function.entry
        for param, arg in zip(function.params, args, strict=True):
            values[param] = list(arg) if isinstance(param.type, Stack) else arg
        while True:
            try:
                following = self.block(block, values)
            except Exception as error:
                if block.handler is None:
                    raise
                args = [error, *self.arguments(block.handler, values)]
                block = block.handler.block
            else:
                if isinstance(following, list):
                    return following
                args = self.arguments(following, values)
                block = following.block
            values.update(zip(block.params, args, strict=True))

    def in_lanes(self, function: Function, args: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Several calls at once, which take the same way: each instruction is done for all before the next."""
        lanes = [dict(zip(function.params, own, strict=True)) for own in args]
        block = function.entry
        while True:
            for instr in block.instrs:
                given = [[self.value(v, values) for v in instr.operands] for values in lanes]
                if instr.targets or instr.op == "return":
                    break
                for values, operands in zip(lanes, given, strict=True):
                    values.update(zip(instr.results, self.instruction(instr, operands), strict=True))
            if instr.op == "return":
                return given
            following = self.successor(instr, given[0])
            for values in lanes:
                values.update(zip(following.block.params, self.arguments(following, values), strict=True))
            block = following.block

    def arguments(self, target: Target, values: dict[Value, Any]) -> list[Any]:
        return [self.value(v, values) for v in target.args]

    @staticmethod
    def value(v: Value, values: dict[Value, Any]) -> Any:
        return v.value if isinstance(v, Const) else values[v]

    def block(self, block: Block, values: dict[Value, Any]) -> Target | list[Any]:
        """Run a block; where it goes, or what it returns."""
        if self.steps_left is not None:
            self.steps_left -= len(block.instrs)
            if self.steps_left < 0:
                raise StepLimit(f"in block {block.name}")
        for instr in block.instrs:
            operands = [self.value(v, values) for v in instr.operands]
            if instr.targets:
                return self.successor(instr, operands)
            if instr.op == "return":
                return operands
            results = self.instruction(instr, operands)
            values.update(zip(instr.results, results, strict=True))
        raise AssertionError(f"block {block.name} has no terminator")

    @staticmethod
    def successor(instr: Instr, operands: list[Any]) -> Target:
        if instr.op == "jump":
            return instr.targets[0]
        if instr.op == "branch":
            return instr.targets[0 if operands[0] else 1]
        last = len(instr.targets) - 1
        return instr.targets[operands[0] if 0 <= operands[0] < last else last]

    def instruction(self, instr: Instr, operands: list[Any]) -> Sequence[Any]:
        if self.check_ownership:
            self.check_alive(instr, operands)
        special = _SPECIAL.get(instr.op)
        if special is not None:
            return special(self, instr, operands)
        evaluate = OPS[instr.op].eval
        if evaluate is None:
            raise NotImplementedError(f"the interpreter does not run {instr.op}")
        value = evaluate(*operands)
        type = instr.results[0].type
        if not isinstance(type, Scalar):
            return [value]
        fitting = machine_value(value, type)
        if instr.op in _CHECKED and fitting != value:
            raise OverflowError("integer result does not fit")
        return [fitting]

    # ------------------------------------------------------------------------------------------- ownership

    def count(self, array: Any, change: int) -> None:
        key = id(root(array))
        if key in self.owners:
            if self.owners[key] <= 0:
                raise OwnershipError("retain or release of an array that was freed")
            self.owners[key] += change

    def check_alive(self, instr: Instr, operands: list[Any]) -> None:
        for value in operands:
            if isinstance(value, np.ndarray) and self.owners.get(id(root(value)), 1) <= 0 and instr.op != "drop":
                raise OwnershipError(f"{instr.op} uses an array that was freed")

    def check_balance(self, results: list[Any]) -> None:
        """Each array that was made is owned by the results that hold it, and by nobody else."""
        expected: dict[int, int] = {}
        for value in _arrays(results):
            expected[id(root(value))] = expected.get(id(root(value)), 0) + 1
        for key, count in self.owners.items():
            if key in self.stacked:
                continue
            if count != expected.get(key, 0):
                raise OwnershipError(f"an array has {count} owners at the end, not {expected.get(key, 0)}")


def root(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _arrays(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _arrays(item)


# ----------------------------------------------------------------------------------------------- structural ops

_CHECKED = frozenset({"cadd", "csub", "cmul", "cneg", "ipow"})
Method = Callable[[Interpreter, Instr, list[Any]], Sequence[Any]]
_SPECIAL: dict[str, Method] = {}


def _runs(method: Method) -> Method:
    _SPECIAL[method.__name__.strip("_")] = method
    return method


@_runs
def _cast(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    type = instr.results[0].type
    assert isinstance(type, Scalar)
    return [convert(operands[0], type)]


@_runs
def _stop(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return operands


@_runs
def _undefined(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return [unspecified(r.type) for r in instr.results]


@_runs
def _guard(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    if not operands[0]:
        raise exception(instr.attrs["exc"], instr.attrs["message"], operands[1:])
    return ()


@_runs
def _raise(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    if "exc" in instr.attrs:
        raise exception(instr.attrs["exc"], instr.attrs["message"], operands)
    if len(operands) == 2:
        raise operands[0] from operands[1]
    raise operands[0]


_SPECIAL["reraise"] = _raise


@_runs
def _unreachable(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    raise AssertionError("control came to `unreachable`")


@_runs
def _call(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    callee, calls = self.module.functions[instr.attrs["callee"]], instr.attrs.get("vector")
    if calls is None:
        return self.call(callee, operands)
    given = self.in_lanes(callee, [[*operands[:-1], operands[-1] + k] for k in range(calls)])
    while len(given) > 1:
        given = [[a + b for a, b in zip(*given[k : k + 2], strict=True)] for k in range(0, len(given), 2)]
    return given[0]


@_runs
def _pycall(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    leaves = iter(operands)
    arguments = [unflatten(x, leaves) for x in instr.attrs["arguments"]]
    keywords = instr.attrs.get("keywords", ())
    split = len(arguments) - len(keywords)
    value = instr.attrs["callable"](*arguments[:split], **dict(zip(keywords, arguments[split:], strict=True)))
    return leaves_of(value, instr.attrs["result"])


@_runs
def _readymade(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    raise NeedsBody(instr.attrs["code"])


@_runs
def _checkpoint(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return ()


@_runs
def _poll(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return ()


@_runs
def _alloc(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    type = instr.results[0].type
    assert isinstance(type, Array)
    array = np.zeros(tuple(operands), NUMPY_SCALARS[type.dtype])
    if instr.attrs["fill"] == "empty" and type.dtype.kind == "f":
        array.fill(math.nan)
    if self.check_ownership:
        self.allocated.append(array)
        self.owners[id(array)] = 1
    return [array]


@_runs
def _dim(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return [operands[0].shape[instr.attrs["axis"]]]


@_runs
def _stride(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return [operands[0].strides[instr.attrs["axis"]]]


@_runs
def _fits(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return [instr.attrs["item"] * math.prod(operands) < 2**63]


@_runs
def _contiguous(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    array = operands[0]
    if instr.attrs.get("strict"):
        return [
            array.strides == tuple(array.itemsize * math.prod(array.shape[axis + 1 :]) for axis in range(array.ndim))
        ]
    return [array.flags.c_contiguous]


@_runs
def _arrange(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    """Of an array that NumPy makes in the same way."""
    count, kept, item = instr.attrs["axes"], instr.attrs["kept"], instr.attrs["item"]
    told, lengths = operands[: len(operands) - len(kept)], operands[len(operands) - len(kept) :]
    steps = [0 if n == 1 else abs(step) for n, step in zip(told[::2], told[1::2])]
    rows = [steps[k : k + count] for k in range(0, len(steps), count)]
    inner: list[int] = []  # from the innermost axis outwards
    for new in reversed(range(count)):
        at = len(inner)
        for k in reversed(range(len(inner))):
            says = [(row[new], row[inner[k]]) for row in rows if row[new] and row[inner[k]]]
            if any(x >= y for x, y in says):
                break
            if says:
                at = k
        inner.insert(at, new)
    strides, size = {}, item
    for axis in inner:
        strides[axis] = size
        if axis in kept:
            size *= lengths[kept.index(axis)]
    return [strides[axis] for axis in kept]


def _index(array: np.ndarray[Any, Any], indices: list[Any]) -> tuple[int, ...]:
    for i, n in zip(indices, array.shape, strict=True):
        if not 0 <= i < n:
            raise AssertionError(f"unguarded index {tuple(indices)} into an array of shape {array.shape}")
    return tuple(indices)


@_runs
def _load(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return [operands[0][_index(operands[0], operands[1:])].item()]


@_runs
def _store(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    array, value, *indices = operands
    array[_index(array, indices)] = value
    return ()


@_runs
def _accum(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    array, value, *indices = operands
    array[_index(array, indices)] += array.dtype.type(value)
    return ()


@_runs
def _view(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    array, *rest = operands
    numbers = iter(rest)
    key: list[Any] = []
    sizes = iter(array.shape)
    for letter in instr.attrs["spec"]:
        size = 1 if letter == "n" else next(sizes)
        if letter == "n":
            key.append(None)
            inside = True
        elif letter == "i":
            key.append(next(numbers))
            inside = 0 <= key[-1] < size
        elif letter == ":":
            key.append(slice(None))
            inside = True
        else:
            start, length, step = next(numbers), next(numbers), next(numbers)
            stop = start + length * step
            key.append(slice(start, stop if stop >= 0 else None, step) if length else slice(0, 0))
            inside = length == 0 or (0 <= start < size and 0 <= stop - step < size)
        if not inside:
            raise AssertionError(f"unguarded view {tuple(rest)} of an array of shape {array.shape}")
    return [array[(*key, ...)]]  # the ellipsis makes a 0-d array of a full index


@_runs
def _reshape(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    array, *shape = operands
    return [array.reshape(shape, copy=False)]


@_runs
def _reshapable(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    array, *shape = operands
    return [np.shares_memory(array, array.reshape(shape)) if array.size else True]


@_runs
def _transpose(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return [np.lib.stride_tricks.as_strided(*_transposed_strides(operands[0], instr.attrs["axes"]))]


@_runs
def _strided(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    array, *strides = operands
    seen = np.lib.stride_tricks.as_strided(array, array.shape, list(map(abs, strides)))
    return [seen[tuple(slice(None, None, -1 if stride < 0 else 1) for stride in strides)]]


def _transposed_strides(array: Any, axes: tuple[int, ...]) -> tuple[Any, list[int], list[int]]:
    merged = [[k for k, to in enumerate(axes) if to == axis] for axis in range(len(set(axes)))]
    shape = [min(array.shape[k] for k in sources) for sources in merged]
    return array, shape, [sum(array.strides[k] for k in sources) for sources in merged]


@_runs
def _fill(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    operands[0].fill(operands[1])
    return ()


@_runs
def _copyto(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    operands[0][...] = operands[1].copy()
    return ()


@_runs
def _addto(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    operands[0][...] += operands[1].copy()
    return ()


@_runs
def _broadcast(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    array, *shape = operands
    return [np.lib.stride_tricks.as_strided(*_broadcast_strides(array, shape))]


def _broadcast_strides(array: Any, shape: list[int]) -> tuple[Any, list[int], list[int]]:
    """np.broadcast_to gives an array that cannot be written, which is what the shadow of one is for."""
    seen = np.broadcast_to(array, shape)
    return array, list(shape), list(seen.strides)


@_runs
def _apply(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    modes = instr.attrs["modes"]
    outs, ins = operands[: len(modes)], operands[len(modes) :]
    function = self.module.functions[instr.attrs["callee"]]
    shape = next(v.shape for v in operands if isinstance(v, np.ndarray))
    assert all(v.shape == shape for v in operands if isinstance(v, np.ndarray)), "apply to arrays of several shapes"
    terms: list[Any] = [np.zeros(shape, NUMPY_SCALARS[scalar_type(r)]) for r in instr.results]
    for index in np.ndindex(*shape):
        given = [
            machine_value(v[index], scalar_type(param)) if isinstance(v, np.ndarray) else v
            for v, param in zip(ins, function.params, strict=True)
        ]
        results = self.call(function, given)
        for array, mode, value in zip(outs, modes, results, strict=False):
            array[index] = value if mode == "set" else _REDUCE[mode](array[index], value)
        for array, value in zip(terms, results[len(modes) :], strict=True):
            array[index] = value
    whole = all(v.flags.c_contiguous for v in operands if isinstance(v, np.ndarray))
    kinds = instr.attrs.get("kinds", ("add",) * len(instr.results))
    return [
        machine_value(_reduced(kind, a.ravel() if whole else a), scalar_type(r))
        for kind, a, r in zip(kinds, terms, instr.results, strict=True)
    ]


@_runs
def _foreign(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    import ctypes

    whole = ctypes.c_int32 if instr.attrs["int"] == 32 else ctypes.c_int64
    kinds: dict[Type, Any] = {F64: ctypes.c_double, F32: ctypes.c_float, I64: whole, I32: ctypes.c_int32, U8: ctypes.c_uint8}  # fmt: skip
    results, arguments, places = iter(instr.results), [], []
    restype = kinds[next(results).type] if instr.attrs.get("returns") else None
    given = iter(zip(operands, instr.operands, strict=True))
    for letter in instr.attrs["spec"]:
        if letter == "o":
            places.append(kinds[next(results).type]())
            arguments.append(ctypes.byref(places[-1]))
            continue
        value, operand = next(given)
        if letter in ARRAYS:
            arguments.append(ctypes.c_void_p(value.ctypes.data))
        else:
            number = kinds[operand.type](value)
            arguments.append(number if letter == "v" else ctypes.byref(number))
    types = [type(a) if isinstance(a, ctypes._SimpleCData) else ctypes.c_void_p for a in arguments]
    returned = ctypes.CFUNCTYPE(restype, *types)(address_of(instr.attrs["symbol"]))(*arguments)
    return [*([returned] if restype is not None else []), *(p.value for p in places)]


_REDUCE: dict[str, np.ufunc] = {
    "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "and": np.logical_and, "or": np.logical_or,
}  # fmt: skip


def _reduced(kind: str, terms: Any) -> Any:
    if kind == "add":
        return _sum(terms)
    if kind in ("max", "min"):
        from .reductions import identity

        scalar: Scalar = {"f8": F64, "f4": F32, "i8": I64, "i4": I32, "u1": U8}[terms.dtype.str[1:]]
        return _REDUCE[kind].reduce(terms.ravel(), initial=identity(kind, scalar).value)
    return _REDUCE[kind].reduce(terms.ravel())


def _sum(terms: Any) -> Any:
    """In the order of compiled code: rows one after the other, each pairwise."""
    if terms.ndim == 1:
        return np.add.reduce(terms)
    total = terms.dtype.type(0)
    for row in terms:
        total = total + _sum(row)
    return total


@_runs
def _overlap(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    if instr.attrs.get("copying"):
        return [overtakes(*operands)]
    return [bool(np.may_share_memory(operands[0], operands[1]))]


@_runs
def _same(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    a, b = operands
    return [a.ctypes.data == b.ctypes.data and a.shape == b.shape and a.strides == b.strides]


@_runs
def _retain(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    self.count(operands[0], 1)
    return ()


@_runs
def _release(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    self.count(operands[0], -1)
    return ()


class Frame(list[Any]):
    """A stack of at most `room` records."""

    def __init__(self, room: int):
        self.room = room

    def append(self, record: Any) -> None:
        assert len(self) < self.room, "more on a stack than it has room for"
        super().append(record)


@_runs
def _stack(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    room = instr.attrs.get("room")
    return [[] if room is None else Frame(room)]


@_runs
def _tape(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return [[]]


@_runs
def _cursor(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return [list(operands[0])]


@_runs
def _push(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    store, *values = operands
    store.append(values)
    if self.check_ownership:
        self.stacked.update(id(root(v)) for v in values if isinstance(v, np.ndarray))
    return ()


@_runs
def _pop(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return operands[0].pop()


@_runs
def _reserve(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return ()


@_runs
def _rewind(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    return ()


@_runs
def _drop(self: Interpreter, instr: Instr, operands: list[Any]) -> Sequence[Any]:
    operands[0].clear()
    return ()
