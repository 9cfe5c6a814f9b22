"""In which order the elements of a new array lie in memory.

NumPy keeps the order of the operands ("K"): what it makes of a transposed array lies as that does.  This can be seen, by
`ravel`, `reshape` and `flags`, so zyg does the same.  Arrays whose strides are known not to grow from axis to axis, which most
are, need nothing for it: what is made of them is in C order.  Else the strides of the operands tell when the code runs.
Where nobody sees the order of a temporary it is made in C order after all (ir/passes/orders.py).

The rule is that of NumPy's iterator (npyiter_find_best_axis_ordering): an insertion sort of the axes from the last one on, by
the absolute strides of all operands; strides of 0 say nothing, and where operands disagree C order wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from zyg.ir.core import Const, Value, array_type, const
from zyg.ir.ops import VIEWS
from zyg.ir.types import I64, Array

from .sized import is_one
from .strides import REPEATED, Place, Steps, Stride, known_order, split
from .turned import inverse, transposed_alike
from .values import Abstract, ArrayValue, ComplexArrayValue

if TYPE_CHECKING:
    from .evaluator import Evaluator


def like(e: Evaluator, made: Abstract, a: Abstract, letter: str) -> Abstract:
    """A new array in C order, in the order that a letter asks for ("C", "F", "A", "K"; docs of np.copy) of what is made like `a`.
    "K" sorts the axes by the strides as they are (PyArray_NewLikeArray), those of 0 too."""
    from .arrays import dims, is_contiguous, ndim, permuted
    from .selection import reshaped

    n = ndim(made)
    if n < 2 or letter == "C" or letter != "F" and memory(a).type.layout == "C":
        return made
    pairs = [(j, k) for j in range(n) for k in range(j + 1, n)]
    if letter == "K":
        if sorted_strides(e, memory(a).value, repeats=False):
            return made
        before = None if seems(e, memory(a).value) else transposed_alike(e, [a])
        if before is not None and isinstance(made, ArrayValue):
            lengths = dims(e, made)
            return permuted(e, reshaped(e, made, [lengths[to] for to in before[1]]), before[1])
        order = known_order(e, dims(e, made), [_all_steps(e, a)], range(n), inwards=True)
        if order is not None:
            return _in_order(e, made, dims(e, made), order)
        steps = [_abs(e, stride(e, memory(a).value, axis).bytes) for axis in range(n)]
        swapped = {(j, k): e.op("lt", steps[j], steps[k]) for j, k in pairs}
    elif letter == "F":
        swapped = dict.fromkeys(pairs, const(True))
    else:
        fortran = is_contiguous(e, permuted(e, a, [*reversed(range(n))]))
        swapped = dict.fromkeys(pairs, e.op("and", fortran, e.op("not", is_contiguous(e, a))))
    usual = {(k, j): _not(e, s) for (j, k), s in swapped.items()}
    return _strided(e, made, dims(e, made), {**swapped, **usual})


def relaid(e: Evaluator, made: Abstract, a: Abstract, letter: str) -> Abstract:
    """What has been made in C order as it lies in the order that a letter asks for of what is made like `a`."""
    from .arrays import allocate_unchecked, copy_elements, dims, element_type

    if letter == "K" and sorted_strides(e, memory(a).value, repeats=False) and memory(made).type.layout == "C":
        return made
    laid = like(e, allocate_unchecked(e, dims(e, made), element_type(made), "empty"), a, letter)
    copy_elements(e, laid, made)
    return laid


def without(e: Evaluator, made: Abstract, a: Abstract, axes: Sequence[int], keepdims: bool) -> Abstract:
    """What reductions have made in C order of an array along axes, as it lies then."""
    from .arrays import allocate_unchecked, copy_elements, dims, element_type, ndim

    laid = allocate_unchecked(e, dims(e, made), element_type(made), "empty")
    laid = laid_as(e, laid, [a], [k for k in range(ndim(a)) if keepdims or k not in axes])
    if memory(laid).type.layout == "C":
        return made
    copy_elements(e, laid, made)
    return laid


def at_places(e: Evaluator, made: Abstract, a: Abstract, axis: int) -> Abstract:
    """What `reduceat` has made in C order, as it lies then: along the axis it goes by the indices, and strides say nothing."""
    from .arrays import allocate_unchecked, copy_elements, dims, element_type, ndim

    if ndim(made) < 2 or sorted_strides(e, memory(a).value):
        return made
    steps = _steps(e, a)
    steps[axis] = NOTHING
    laid = allocate_unchecked(e, dims(e, made), element_type(made), "empty")
    laid = _iterated(e, laid, dims(e, made), [steps])
    copy_elements(e, laid, made)
    return laid


def laid_as(
    e: Evaluator, made: Abstract, operands: Sequence[Abstract], axes: Sequence[int] | None = None, seeming: bool = True
) -> Abstract:
    """A new array in C order, with its elements in the order that NumPy gives it which makes it of these operands: element by
    element, or of some `axes` of the first one, for which the strides along those tell. Not `seeming`: in the order that it would
    give it if copies in place of its views were what they are."""
    from .arrays import dims

    shape = dims(e, made)
    steps = _steps_of_all(e, shape if axes is None else dims(e, operands[0]), operands, seeming)
    return made if steps is None else _iterated(e, made, shape, steps, axes)


def _steps_of_all(
    e: Evaluator, shape: Sequence[Value], operands: Sequence[Abstract], seeming: bool
) -> list[Steps] | None:
    """The steps of arrays that are broadcast to a shape; None if what is made of them is in C order in any case."""
    from .arrays import ndim

    arrays = [v for v in operands if isinstance(v, (ArrayValue, ComplexArrayValue))]
    if len(shape) < 2 or all(ndim(v) < 2 or sorted_strides(e, memory(v).value, seeming=seeming) for v in arrays):
        return None
    steps = [_steps(e, v, seeming) for v in arrays]
    return [[NOTHING] * (len(shape) - len(s)) + s for s in steps]


def order_of(e: Evaluator, shape: list[Value], operands: Sequence[Abstract]) -> tuple[int, ...] | None:
    """How the axes lie, from the outermost one on, of what is made of operands element by element, if that is known."""
    steps, axes = _steps_of_all(e, shape, operands, False), range(len(shape))
    return tuple(axes) if steps is None else known_order(e, shape, steps, axes)


def seen_in_order(
    e: Evaluator, shape: list[Value], operands: Sequence[Abstract], order: tuple[int, ...] | None = None
) -> tuple[list[Abstract], tuple[int, ...]] | None:
    """If the order is known of what is made of operands, and is not C order: the operands seen so that it is C order, and where the axes
    of what is made of those go."""
    from .arrays import ARRAYS, ndim, permuted, seen

    order = order or order_of(e, shape, operands)
    if order is None or order == tuple(range(len(order))):
        return None
    if any(isinstance(v, ARRAYS) and seems(e, memory(v).value) for v in operands):
        return None
    to, result = inverse(order), list[Abstract]()
    for v in operands:
        if isinstance(v, ARRAYS) and ndim(v):
            v = permuted(e, seen(e, v, "n" * (len(shape) - ndim(v)) + ":" * ndim(v)) if ndim(v) < len(shape) else v, to)
        result.append(v)
    return result, order


def as_it_seems(
    e: Evaluator, made: Abstract, operands: Sequence[Abstract], axes: Sequence[int] | None = None
) -> Abstract:
    """What was made of operands (see `laid_as`), their copies in place of NumPy's views taken for what they are, as it lies in NumPy. The
    copy of it that this is goes, if nobody sees where its elements are (ir/passes/orders.py)."""
    from .arrays import allocate_unchecked, dims, element_type

    arrays = [v for v in operands if isinstance(v, (ArrayValue, ComplexArrayValue))]
    if not any(seems(e, memory(v).value) for v in arrays):
        return made
    laid = laid_as(e, allocate_unchecked(e, dims(e, made), element_type(made), "empty"), operands, axes)
    e.emit("copyto", memory(laid).value, memory(made).value, lays=True)
    return laid


def selected(e: Evaluator, made: Abstract, indices: Sequence[Abstract], source: Abstract, whole: Abstract) -> Abstract:
    """What arrays of one shape have selected.  Single elements lie as the arrays do.  Else its first axes are theirs, in C order, and the
    rest lie inside of them as the last axes of the `source` do, a view of the `whole` array."""
    from .arrays import allocate_unchecked, copy_elements, dims, element_type, ndim

    own = ndim(indices[0])
    rest = ndim(made) - own
    told = [whole] if rest else indices
    if max(own, rest) < 2 or rest == 1 or all(sorted_strides(e, memory(v).value) for v in told):
        return made
    steps = [_steps(e, v) for v in indices]
    if rest:
        steps = [[*[NOTHING] * own, *_steps(e, source)[ndim(source) - rest :]]]
    laid = allocate_unchecked(e, dims(e, made), element_type(made), "empty")
    laid = _iterated(e, laid, dims(e, made), steps)
    copy_elements(e, laid, made)
    return laid


def contracted(
    e: Evaluator, made: Abstract, operands: Sequence[Abstract], letters: Sequence[str], output: str
) -> Abstract:
    """What np.einsum has made: in the order of an iteration over the axes of the result and those that are summed up."""
    from .arrays import allocate_unchecked, copy_elements, dims, element_type

    named = [*output, *dict.fromkeys(c for own in letters for c in own if c not in output)]
    usual = all(sorted_strides(e, memory(v).value) for v in operands) and all(
        [named.index(c) for c in own] == sorted({named.index(c) for c in own}) for own in letters
    )
    shape = dims(e, made)
    laid = allocate_unchecked(e, shape, element_type(made), "empty")
    if not usual:
        steps = []
        for v, own in zip(operands, letters):
            along = [[pair for pair, c in zip(_steps(e, v), own) if c == name] for name in named]
            steps.append(
                [
                    pairs[0]
                    if len(pairs) == 1
                    else (MANY, Stride(_sum(e, [_told(e, d, step.bytes) for d, step in pairs])))
                    for pairs in along
                ]
            )
        laid = _iterated(e, laid, shape, steps, range(len(shape)))
    if memory(laid).type.layout == memory(made).type.layout == "C":
        return made
    copy_elements(e, laid, made)
    return laid


def order_of_joined(e: Evaluator, shape: list[Value], parts: Sequence[Abstract]) -> tuple[int, ...] | None:
    """How the axes lie of what arrays of as many dimensions are put together to, from the outermost one on, if that is known."""
    if len(shape) < 2 or all(sorted_strides(e, memory(v).value, repeats=False) for v in parts):
        return tuple(range(len(shape)))
    return known_order(e, shape, [_all_steps(e, v) for v in parts], range(len(shape)), inwards=True)


def joined(e: Evaluator, made: Abstract, parts: Sequence[Abstract]) -> Abstract:
    """A new array that arrays are going to be put together in (PyArray_CreateMultiSortedStridePerm)."""
    from .arrays import dims

    shape = dims(e, made)
    order = order_of_joined(e, shape, parts)
    if order is not None:
        return _in_order(e, made, shape, order)
    steps = [[_abs(e, stride(e, memory(v).value, axis).bytes) for axis in range(len(shape))] for v in parts]
    many = [[_is_not(e, e.dim(memory(v).value, axis), 1) for axis in range(len(shape))] for v in parts]

    def compared(new: int, placed: int) -> tuple[Value, Value]:
        says = [_and(e, m[new], m[placed]) for m in many]
        return _votes(e, [(x, e.op("le", s[new], s[placed])) for x, s in zip(says, steps)])

    outside = _sorted(e, range(len(shape)), compared)
    return _strided(e, made, shape, {(k, j): v for (j, k), v in outside.items()})


def joined_by(e: Evaluator, made: Abstract, smaller: Callable[[int, int], Value]) -> Abstract:
    """The same by what is known of arrays when this runs: whether the stride along one axis is not larger than that along another one in
    any of them where both tell."""
    from .arrays import dims

    shape = dims(e, made)
    table = {(j, k): smaller(j, k) for j in range(len(shape)) for k in range(len(shape)) if j != k}

    def compared(new: int, placed: int) -> tuple[Value, Value]:
        return _and(e, table[placed, new], _not(e, table[new, placed])), table[new, placed]

    outside = _sorted(e, range(len(shape)), compared)
    return _strided(e, made, shape, {(k, j): v for (j, k), v in outside.items()})


def memory(a: Abstract) -> ArrayValue:
    from . import arrays

    return arrays.memory(a)


Inside = dict[tuple[int, int], Value]  # for two axes whether the first lies inside of the second


def _strided(e: Evaluator, made: Abstract, shape: list[Value], inside: Inside) -> Abstract:
    """A new array in C order, with its elements so that its axes lie as is told, and nothing between them."""
    return _with_strides(e, made, _without_gaps(e, shape, inside, const(_item(made))))


def _item(made: Abstract) -> int:
    """Bytes per element."""
    return 16 if isinstance(made, ComplexArrayValue) else max(1, memory(made).type.dtype.bits // 8)


def _with_strides(e: Evaluator, made: Abstract, strides: Sequence[Value]) -> Abstract:
    from .arrays import of_kind

    floats = memory(made)
    parts = [const(8)] * isinstance(made, ComplexArrayValue)
    type = Array(floats.type.dtype, floats.type.ndim, "A")
    return of_kind(made, ArrayValue(e.op("strided", floats.value, *strides, *parts, type=type)))


def sorted_strides(e: Evaluator, array: Value, repeats: bool = True, seeming: bool = True) -> bool:
    """The same for its memory: slices, and what has new axes or `repeats` (if that is to say nothing), are as what they are seen in."""
    if seeming and e.seeming and seems(e, array):
        return False
    while True:
        type = array.type
        assert isinstance(type, Array)
        if type.layout == "C" or type.ndim < 2:
            return True
        op, operands, _ = e.shaped.get(array, ("", (), {}))
        if op != "view" and not (repeats and op == "broadcast"):
            return False
        array = operands[0]


def seems(e: Evaluator, array: Value) -> bool:
    """Whether an array, or what it is a view of, is a copy where NumPy's is a view."""
    while array not in e.seeming:
        op, operands, _ = e.shaped.get(array, ("", (), {}))
        if op not in VIEWS:
            return False
        array = operands[0]
    return True


def record_read(e: Evaluator, array: Value, what: str) -> None:
    """`what` tells of gaps between the elements of an array: one that was put into a list of run-time length has others when it is
    taken out (pools.py). Which arrays may be out of such lists is known when inference ends (listed.py)."""
    if array_type(array).ndim:
        e.op("stride", array, axis=0, order=True)
        e.inference.reads[e.latest] = what


MANY = const(2)  # a length that lets the stride tell
NOTHING = MANY, REPEATED


def _steps(e: Evaluator, a: Abstract, seeming: bool = True) -> Steps:
    """What the strides along each axis are by which arrays are laid out."""
    from .arrays import ndim

    array = memory(a).value
    result: Steps = []
    for axis in range(ndim(a)):
        length, step = e.dim(array, axis), stride(e, array, axis, seeming)
        if isinstance(length, Const):
            result.append(NOTHING if length.value == 1 else (MANY, step))
        else:
            result.append((MANY if step.number == 0 else length, step))
    return result


def _all_steps(e: Evaluator, a: Abstract) -> Steps:
    """The same where strides of 0 tell as well."""
    from .arrays import dims

    return [(d, stride(e, memory(a).value, axis)) for axis, d in enumerate(dims(e, a))]


def _told(e: Evaluator, length: Value, step: Value) -> Value:
    """The absolute stride, 0 where that says nothing."""
    size = _abs(e, step)
    return size if isinstance(length, Const) else e.op("select", e.op("eq", length, const(1)), const(0), size)


def _abs(e: Evaluator, step: Value) -> Value:
    return const(abs(step.value)) if isinstance(step, Const) else e.op("abs", step)


def seen_axis(spec: str, operands: Sequence[Value], axis: int) -> tuple[str, int, list[Value]]:
    """What the op `view` shows along an axis of its result: the letter, the axis that it is of what is seen, and the letter's operands."""
    given = iter(operands)
    source = kept = -1
    for letter in spec:
        parts = [next(given) for _ in range({"i": 1, "s": 3}.get(letter, 0))]
        source += letter != "n"
        kept += letter != "i"
        if kept == axis and letter != "i":
            return letter, source, parts
    raise IndexError(f"a view {spec!r} has no axis {axis}")


def stride(e: Evaluator, array: Value, axis: int, seeming: bool = True) -> Stride:
    """The stride along an axis: that which the array was given, if it was made here. `seeming`: of copies in place of NumPy's
    views that of the views."""
    if seeming and array in e.seeming:
        return e.seeming[array][axis]
    op, operands, attrs = e.shaped.get(array, ("", (), {}))
    if array_type(array).layout == "C" and not (seeming and e.seeming and seems(e, array)):
        op = ""
    if op == "strided":
        return Stride(operands[axis + 1])
    if op == "transpose" and attrs["axes"].count(axis) == 1:
        return stride(e, operands[0], attrs["axes"].index(axis), seeming)
    if op == "broadcast":
        source = operands[0].type
        assert isinstance(source, Array)
        axis -= len(operands) - 1 - source.ndim
        if axis < 0:
            return REPEATED
        repeats, whole = is_one(e, e.dim(operands[0], axis)), stride(e, operands[0], axis, seeming)
        if isinstance(repeats, Const):
            return REPEATED if repeats.value else whole
        return Stride(lambda: e.op("select", repeats, const(0), whole.bytes))
    if op == "view":
        letter, source, parts = seen_axis(attrs["spec"], operands[1:], axis)
        if letter == "n":
            return REPEATED
        whole = stride(e, operands[0], source, seeming)
        return whole if letter == ":" else whole.times(e, parts[2])
    if op == "reshape" and (of := split(e, operands[0], operands[1:])) is not None:
        whole = stride(e, operands[0], of[axis], seeming)
        parts = [n for n, source in enumerate(of) if source == of[axis]]
        return whole if len(parts) == 1 else whole.part(e, [operands[1 + n] for n in parts], parts.index(axis))
    asked = partial(e.op, "stride", array, axis=axis, order=True)
    place = Place(array, (axis,)) if array_type(array).layout == "C" else None
    return Stride(lambda: e.once(("stride for order", array, axis), asked), place)


def _iterated(
    e: Evaluator, made: Abstract, shape: list[Value], told: list[Steps], axes: Sequence[int] | None = None
) -> Abstract:
    """A new array in C order, with its elements as those lie of what is made of operands, of which these are the strides
    (npyiter_find_best_axis_ordering). It has these `axes` of theirs."""
    count = len(told[0])
    kept = tuple(range(count)) if axes is None else tuple(axes)
    order = known_order(e, shape, told, kept)
    if order is not None:
        return _in_order(e, made, shape, order)
    if not _is_known(told):
        each = [v for steps in told for length, step in steps for v in (length, step.bytes)]
        types = tuple([I64] * len(kept))
        return _with_strides(
            e, made, e.emit("arrange", *each, *shape, types=types, axes=count, kept=kept, item=_item(made))
        )
    inside, places = (
        _sorted_by(e, [[step.bytes for _, step in steps] for steps in told]),
        {axis: n for n, axis in enumerate(kept)},
    )
    own = {(places[j], places[k]): v for (j, k), v in inside.items() if j in places and k in places}
    return _strided(e, made, shape, own)


def _in_order(e: Evaluator, made: Abstract, shape: list[Value], order: tuple[int, ...]) -> Abstract:
    """A new array in C order with its axes in this order in memory, from the outermost one on."""
    from .arrays import permuted
    from .selection import reshaped

    if order == tuple(range(len(order))):
        return made
    return permuted(e, reshaped(e, made, [shape[axis] for axis in order]), order)


def _is_known(told: list[Steps]) -> bool:
    """Whether the order can be found without looking at the arrays: no two axes of one of them have strides that would tell."""
    return all(sum(step.number != 0 for _, step in steps) < 2 for steps in told)


def _sorted_by(e: Evaluator, steps: list[list[Value]]) -> Inside:
    """The insertion sort for strides none of which tells."""

    def compared(new: int, placed: int) -> tuple[Value, Value]:
        says = [_and(e, _is_not(e, s[new], 0), _is_not(e, s[placed], 0)) for s in steps]
        return _votes(e, [(x, e.op("ge", s[new], s[placed])) for x, s in zip(says, steps)])

    return _sorted(e, range(len(steps[0]))[::-1], compared)


def _votes(e: Evaluator, votes: list[tuple[Value, Value]]) -> tuple[Value, Value]:
    """Whether two axes change places, and whether they are known to be as they should: for each operand whether it says
    something, and whether it is for that; one is enough."""
    stays: Value = const(False)
    goes: Value = const(False)
    for says, usual in votes:
        stays = _or(e, stays, _and(e, says, usual))
        goes = _or(e, goes, _and(e, says, _not(e, usual)))
    return _and(e, goes, _not(e, stays)), stays


def _sorted(e: Evaluator, axes: Sequence[int], compared: Callable[[int, int], tuple[Value, Value]]) -> Inside:
    """An insertion sort of axes: for two of them whether the first one comes before the second. Each is compared with those placed
    before it from the last of them on, up to one that it is to stay behind of; it goes before the last that it is to change places with."""
    before: Inside = {}
    placed: list[int] = []
    for new in axes:
        swaps, stops = {}, {}
        for k in placed:
            swaps[k], stops[k] = compared(new, k)
        for k in placed:
            for other in placed:
                if other != k:
                    swaps[k] = _and(e, swaps[k], _not(e, _and(e, before[k, other], stops[other])))
        for k in placed:
            goes = swaps[k]
            for other in placed:
                if other != k:
                    goes = _or(e, goes, _and(e, swaps[other], before[other, k]))
            before[new, k], before[k, new] = goes, _not(e, goes)
        placed.append(new)
    return before


def _is_not(e: Evaluator, v: Value, number: int) -> Value:
    return const(v.value != number) if isinstance(v, Const) else e.op("ne", v, const(number))


def _not(e: Evaluator, v: Value) -> Value:
    return const(not v.value) if isinstance(v, Const) else e.op("not", v)


def _sum(e: Evaluator, values: list[Value]) -> Value:
    total: Value = const(0)
    for v in values:
        total = v if isinstance(total, Const) and total.value == 0 else e.builder.arith("add", total, v)
    return total


def _and(e: Evaluator, x: Value, y: Value) -> Value:
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Const):
            return other if one.value else const(False)
    return e.op("and", x, y)


def _or(e: Evaluator, x: Value, y: Value) -> Value:
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Const):
            return const(True) if one.value else other
    return e.op("or", x, y)


def _without_gaps(e: Evaluator, shape: list[Value], inside: Inside, item: Value) -> list[Value]:
    strides = [item] * len(shape)
    for k in range(len(shape)):
        for other, length in enumerate(shape):
            if other == k:
                continue
            lies = inside[other, k]
            if not isinstance(lies, Const):
                strides[k] = e.op("mul", strides[k], e.op("select", lies, length, const(1)))
            elif lies.value:
                strides[k] = e.op("mul", strides[k], length)
    return strides
