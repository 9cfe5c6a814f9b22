"""What is known of the lengths of arrays: which are the same, which are 1 and which are not.

Lengths that are the same need not be compared when the code runs.  Two are the same if they mean the same (`Meaning`): the length of one
axis of one array, or what is computed alike from such.  A function tells those who call it how long its results are, by its parameters and by
each other (`ResultLengths`).

Of an array that is an argument, or in a container that is one, the type says which axes are of length 1 (ir/types.py, Sized): along these it
is repeated, along all others what it is put together with is as long or does not fit.  Code that asked at each operator which of the two
it is would need loops for either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from zyg.ir.core import Const, Value, array_type, const
from zyg.ir.types import Array

from .turned import is_long
from .values import Abstract, ArrayValue, ComplexArrayValue, leaf_values

if TYPE_CHECKING:
    from .evaluator import Evaluator


# What is the same for integers that are the same, wherever they are computed: a number, the length of an axis of an array, or the first
# value that was computed so.
Meaning = int | Value | tuple[Value, int]
COMPUTED = frozenset({"stop", "add", "sub", "mul", "cadd", "csub", "cmul", "floordiv", "select", "eq", "lt", "gt"})


class KnownLengths:
    """What an evaluator knows of the lengths of arrays, besides how the arrays were made that it made itself."""

    def __init__(self) -> None:
        self.sized: dict[Value, frozenset[int]] = {}  # by array, the axes that are known not to be of length 1
        self.not_one: set[Value] = set()  # their lengths
        self.ones: set[Value] = set()  # lengths that are known to be 1, though they are no constants of the program
        self.told: dict[Value, Sequence[Value | None]] = {}  # by array, its lengths; None for those that are not known
        # By array, for each of its axes: as long as which axis of which other array.
        self.as_of: dict[Value, Sequence[tuple[Value, int] | None]] = {}
        self.dims: dict[Value, tuple[Value, int]] = {}  # which axis of which array a length is that of
        # How integers were computed of which nobody has asked yet what they mean; what those mean of which somebody has.
        self.computed: dict[Value, tuple[str, tuple[Value, ...]]] = {}
        self.alike: dict[Value, Meaning] = {}
        # By an op and what its operands mean, the first value that was computed so.
        self.formulas: dict[tuple[Any, ...], Value] = {}
        # What the lengths of arrays mean that are the same as an integer that was computed, on several ways (carried.py).
        self.means: dict[tuple[Value, int], Meaning] = {}


def with_ones(e: Evaluator, argument: Abstract, ones: tuple[int, ...]) -> Abstract:
    """An argument whose axes `ones`, and no others, are of length 1."""
    from .arrays import memory, ndim, of_kind

    floats = memory(argument)
    known: list[bool | None] = [axis in ones for axis in range(ndim(argument))]
    known += [False] * (floats.type.ndim - len(known))  # (the parts of complex numbers)
    return of_kind(argument, ArrayValue(as_sized(e, floats.value, tuple(known))))


Sizes = tuple[bool | None, ...]  # per axis of an array whether it is of length 1, None if that is not known


def sizes(e: Evaluator, v: Abstract) -> Iterator[Sizes | None]:
    """What is known of the arrays that a value consists of, for each of its leaves; None if nothing is."""
    for leaf in leaf_values(v):
        known: Sizes = ()
        if isinstance(leaf.type, Array):
            lengths = [e.dim(leaf, axis) for axis in range(leaf.type.ndim)]
            known = tuple([False if is_not_one(e, d) else True if is_known_one(e, d) else None for d in lengths])
        yield known if any(one is not None for one in known) else None


def as_sized(e: Evaluator, param: Value, known: Sizes | None) -> Value:
    """A parameter of which that is known."""
    if known is None:
        return param
    e.lengths.sized[param] = frozenset(axis for axis, one in enumerate(known) if one is False)
    if True not in known:
        return param
    type, name = array_type(param), param.name
    if type.layout == "C":
        lengths = [const(1) if one else e.dim(param, axis) for axis, one in enumerate(known)]
        made = e.op("reshape", param, *lengths, type=type, name=name)
    else:
        # The first element along such axes, with the strides that they have.
        first = [const(n) for one in known if one for n in (0, 1, 1)]
        made = e.op("view", param, *first, type=type, name=name, spec="".join("s" if one else ":" for one in known))
    # The program reads these lengths as it reads others: whether a gradient is None does not depend on them.
    told = [e.op("dim", made, axis=axis) if one else e.dim(param, axis) for axis, one in enumerate(known)]
    e.lengths.ones.update(length for length, one in zip(told, known, strict=True) if one)
    e.lengths.told[made] = told
    return made


def joint(e: Evaluator, lengths: Sequence[Value]) -> Value | None:
    """The length of an axis that arrays with axes of these lengths have together, if that is known and they fit."""
    different = list(dict.fromkeys(d for d in lengths if not is_known_one(e, d)))
    if len(different) > 1:
        return next((d for d in different if is_not_one(e, d)), None)
    return different[0] if different else lengths[0] if lengths else const(1)


def of_lengths(e: Evaluator, made: Abstract, lengths: Sequence[Value | None]) -> Abstract:
    """An array that a call has made, of which is known how long it is, where that is not None."""
    from .arrays import ARRAYS, memory, ndim

    if isinstance(made, ARRAYS) and ndim(made) == len(lengths):
        of_parts = [const(2)] * isinstance(made, ComplexArrayValue)
        e.lengths.told[memory(made).value] = [*lengths, *of_parts]
    return made


def meaning(e: Evaluator, length: Value, depth: int = 32) -> Meaning:
    """What is the same for lengths that are the same, as far as that is seen in the last `depth` steps of how they were computed."""
    if isinstance(length, Const):
        return length.value
    known = e.lengths
    if (place := known.dims.get(length)) is not None:
        return known.means.get(place, place)
    if length not in known.computed or not depth:
        return known.alike.get(length, length)
    op, operands = known.computed.pop(length)
    parts = [meaning(e, v, depth - 1) for v in operands]
    found = known.alike[length] = parts[0] if op == "stop" else known.formulas.setdefault((op, *parts), length)
    return found


def length_of(e: Evaluator, array: Value, axis: int) -> tuple[Meaning, Value | None]:
    """What the length of an axis means, and the value that it is, if it need not be asked for."""
    known, array, axis = e.known_length(array, axis)
    if known is None:
        place = array, axis
        return e.lengths.means.get(place, place), None
    return meaning(e, known), known


def alike(e: Evaluator, x: Value, y: Value) -> bool:
    """Whether lengths are known to be the same."""
    return x is y or meaning(e, x) == meaning(e, y)


# The length of each axis of a result: a number; (n, axis), the length of an axis of parameter n, or of result -1 - n if n is below 0;
# (n, -1), parameter n itself, an integer; None if it is not known.
ResultLengths = tuple[int | tuple[int, int] | None, ...]


def lengths_of_results(e: Evaluator, results: Sequence[Value]) -> list[ResultLengths]:
    """How long the arrays are that the function under construction returns."""
    places: dict[Meaning, tuple[int, int]] = {p: (n, -1) for n, p in enumerate(e.function.params)}
    found: list[ResultLengths] = []
    for n, result in enumerate(results):
        lengths: list[int | tuple[int, int] | None] = []
        for axis in range(result.type.ndim if isinstance(result.type, Array) else 0):
            length = meaning(e, e.dim(result, axis))
            if isinstance(length, tuple) and length[0] in places:
                place = places[length[0]][0], length[1]
            else:
                place = length if isinstance(length, int) else places.get(length)
            if place is None:
                places[length] = -1 - n, axis
            lengths.append(place)
        found.append(tuple(lengths))
    return found


def tell(e: Evaluator, results: Sequence[Value], given: Sequence[ResultLengths], operands: Sequence[Value]) -> None:
    """The arrays that a call gives are as long as the function says, which got these operands."""

    def told(length: int | tuple[int, int] | None) -> Value | None:
        if not isinstance(length, tuple):
            return None if length is None else const(length)
        place, axis = length
        array = operands[place] if place >= 0 else results[-1 - place]
        return array if axis < 0 else e.dim(array, axis)

    for result, lengths in zip(results, given):
        if any(length is not None for length in lengths):
            e.lengths.told[result] = list(map(told, lengths))


def is_known_one(e: Evaluator, length: Value) -> bool:
    """Whether a length is known to be 1."""
    return length.value == 1 if isinstance(length, Const) else length in e.lengths.ones


def is_not_one(e: Evaluator, length: Value) -> bool:
    """Whether a length is known not to be 1."""
    if isinstance(length, Const):
        return length.value != 1
    return length in e.lengths.not_one or is_long(e, length) or is_not_one_by(e, meaning(e, length))


def is_not_one_by(e: Evaluator, length: Meaning) -> bool:
    """The same of what a length means."""
    if isinstance(length, tuple):
        return length[1] in e.lengths.sized.get(length[0], ())
    return length != 1 if isinstance(length, int) else length in e.lengths.not_one or is_long(e, length)


def is_one(e: Evaluator, length: Value) -> Value:
    """Whether a length is 1."""
    if is_known_one(e, length):
        return const(True)
    return const(False) if is_not_one(e, length) else e.op("eq", length, const(1))
