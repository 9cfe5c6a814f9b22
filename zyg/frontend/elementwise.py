"""Functions of numbers on whole arrays: broadcasting, and the function that is applied to the elements.

What an operator or a ufunc means for the elements is what it means for NumPy scalars, and is emitted by the same code, into a
function of its own that `apply` calls for each index.  Results are new arrays; chains of them are fused before they are
differentiated (ir/passes/fuse.py).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from zyg.ir.analysis import has_effects
from zyg.ir.core import Value, const
from zyg.ir.types import BOOL, F32, F64, U8, Array
from zyg.ir.types import Scalar as ScalarType

from .alternatives import refuse_unlike
from .orders import as_it_seems, laid_as, order_of, seen_in_order
from .scalars import scalar_value
from .sized import alike, is_known_one, is_not_one, is_one
from .turned import transposed_alike
from .values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    Known,
    Number,
    TupleValue,
    describe,
    known,
    known_key,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator

Scalar = Callable[..., Abstract]  # what a function does to numbers: gets the evaluator and the numbers


def lift(
    e: Evaluator,
    key: Hashable,
    function: Scalar,
    operands: Sequence[Abstract],
    outputs: int = 1,
    in_order: bool = False,
) -> Abstract:
    """Apply `function` to the elements of the arrays among `operands`, which are broadcast against each other; the others are
    numbers, the same for all elements.  `key` tells functions apart.  With several outputs the function gives a tuple.  `in_order`: the
    result is known to be in C order.

    Arrays of no dimensions give a number, as in NumPy.
    """
    from .arrays import COMPLEX, allocate_unchecked, ndim, permuted, scalar_of

    refuse_unlike(e, function, operands)
    arrays = [v for v in operands if isinstance(v, (ArrayValue, ComplexArrayValue))]
    if all(ndim(v) == 0 for v in arrays):
        return function(e, *(scalar_of(e, v) if v in arrays else v for v in operands))
    shape = broadcast_shape(e, [real_part(e, v) for v in arrays])
    before = None if in_order else transposed_alike(e, operands, rows=True)
    if before is None and not in_order:
        order = order_of(e, shape, operands)
        in_order = order == tuple(range(len(shape)))
        before = None if order is None or in_order else seen_in_order(e, shape, operands, order)
    if before is not None:
        sources, axes = before
        made = lift(e, key, function, sources, outputs, True)
        items = made.items if isinstance(made, TupleValue) else (made,)
        seen = tuple(as_it_seems(e, permuted(e, v, axes), operands) for v in items)
        return seen[0] if outputs == 1 else TupleValue(seen)
    given = operands
    if any(isinstance(v, (ComplexArrayValue, ComplexValue)) for v in operands):
        key, function, operands = by_parts(e, key, function, operands)
    name, types = element_function(e, key, function, operands)
    result: Abstract
    if outputs == len(types):
        outs = [_laid(e, allocate_unchecked(e, shape, t, "empty"), given, in_order) for t in types]
        result = outs[0] if outputs == 1 else TupleValue(tuple(outs))
    else:
        from .complex_arrays import part

        refuse_complex64(e, given)
        result = _laid(e, allocate_unchecked(e, shape, COMPLEX, "empty"), given, in_order)
        assert isinstance(result, ComplexArrayValue)
        outs = [part(e, result, name) for name in ("real", "imag")]
    out_values = [_memory(v) for v in outs]
    modes = ("set",) * len(outs)
    e.emit("apply", *out_values, *arguments(e, operands, shape), types=(), callee=name, modes=modes)
    if outputs == len(types):
        e.inference.fresh.update(out_values)
    if isinstance(result, TupleValue):
        return TupleValue(tuple(as_it_seems(e, v, given) for v in result.items))
    return as_it_seems(e, result, given)


def _laid(e: Evaluator, made: Abstract, operands: Sequence[Abstract], in_order: bool) -> Abstract:
    return made if in_order else laid_as(e, made, operands, seeming=False)


def refuse_complex64(e: Evaluator, operands: Sequence[Abstract]) -> None:
    """Refuses a complex result of what makes a complex64 together: float32 arrays and Python's complex numbers, which are weak."""
    strong = [v for v in operands if isinstance(v, (ArrayValue, ComplexArrayValue)) or getattr(v, "numpy", False)]
    types = [v.type.dtype if isinstance(v, ArrayValue) else v.type if isinstance(v, Number) else None for v in strong]
    if F32 in types and all(t in (F32, BOOL, U8) for t in types):
        raise e.refuse(
            "arrays of float32 and a Python complex number, which make a complex64",
            hint="convert first: a.astype(float)",
        )


def real_part(e: Evaluator, v: Abstract) -> ArrayValue:
    from .complex_arrays import part

    if isinstance(v, ComplexArrayValue):
        return part(e, v, "real")
    assert isinstance(v, ArrayValue)
    return v


def by_parts(
    e: Evaluator, key: Hashable, function: Scalar, operands: Sequence[Abstract]
) -> tuple[Hashable, Scalar, list[Abstract]]:
    """A function of complex numbers and arrays of them as one of their real and imaginary parts."""
    from .complex_arrays import part

    kinds = tuple(isinstance(v, (ComplexArrayValue, ComplexValue)) for v in operands)
    parts: list[Abstract] = []
    for v in operands:
        if isinstance(v, ComplexArrayValue):
            parts += [part(e, v, "real"), part(e, v, "imag")]
        else:
            parts += v.parts() if isinstance(v, ComplexValue) else [v]

    def of_parts(e: Evaluator, *numbers: Abstract) -> Abstract:
        rest = iter(numbers)
        python = lambda v: Number(v.value) if isinstance(v, Number) else v
        return function(
            e, *(ComplexValue(python(next(rest)), python(next(rest)), True) if c else next(rest) for c in kinds)
        )

    return (key, kinds), of_parts, parts


def lift_into(e: Evaluator, key: Hashable, function: Scalar, a: ArrayValue, b: Abstract) -> bool:
    """`function` of the elements of `a` and of `b`, in the memory of `a`: `a += b`.  False, and nothing is done, where the
    elements that come out are of another type than those of `a`."""
    refuse_unlike(e, function, [a, b])
    _, types = element_function(e, key, function, [a, b])
    if types != (a.type.dtype,):
        return False
    lift_to(e, key, function, [a, b], a)
    return True


def lift_to(
    e: Evaluator,
    key: Hashable,
    function: Scalar,
    operands: Sequence[Abstract],
    out: ArrayValue,
    shown: Sequence[Abstract] | None = None,
) -> None:
    """`function` of the elements of the operands, set in the memory of `out`, whose shape they are broadcast to.  The
    function gives numbers of the type of `out`.  `shown`: what NumPy names where they do not fit, in its order."""
    from .arrays import separate

    refuse_unlike(e, function, operands)
    shape = [e.dim(out.value, axis) for axis in range(out.type.ndim)]
    shown = [*operands, out] if shown is None else shown
    check_fewer_axes(e, out, shown)
    _check_fit(e, [b for b in operands if isinstance(b, ArrayValue) and b.value is not out.value], shape, shown)
    before = transposed_alike(e, [out, *operands], rows=True)
    if before is not None:
        to, *sources = before[0]
        assert isinstance(to, ArrayValue)
        lift_to(e, key, function, sources, to, shown)
        return
    name, types = element_function(e, key, function, operands)
    assert types == (out.type.dtype,)
    given: list[Abstract] = []
    for b in operands:
        if isinstance(b, ArrayValue) and b.value is not out.value and not separate(e, out.value, b.value):
            from zyg.library.numpy_.inplace import without_overlap

            b = e.call(known(without_overlap), [out, b])
        given.append(b)
    e.emit("apply", out.value, *arguments(e, given, shape), types=(), callee=name, modes=("set",))


def arguments(e: Evaluator, operands: Sequence[Abstract], shape: Sequence[Value]) -> list[Value]:
    return [
        broadcast(e, v, shape) if isinstance(v, ArrayValue) else v.value
        for v in operands
        if isinstance(v, (ArrayValue, Number))
    ]


def shape_text(ndim: int) -> str:
    """The text of a shape, with places for its lengths."""
    return "(" + ",".join(["{}"] * ndim) + (",)" if ndim == 1 else ")")


def check_fewer_axes(e: Evaluator, out: Abstract, operands: Sequence[Abstract]) -> None:
    """ValueError if an operand, of all including `out`, has more axes than the array that the result is put into."""
    from .arrays import dims, ndim

    given = [v for v in operands if isinstance(v, (ArrayValue, ComplexArrayValue))]
    if all(ndim(v) <= ndim(out) for v in given):
        return
    common = broadcast_shape(e, [real_part(e, v) for v in given])
    e.throw("ValueError", _too_small(ndim(out), len(common)), *dims(e, out), *common)


def check_fits_output(e: Evaluator, out: Abstract, result: Abstract) -> None:
    """ValueError unless what an elementwise function gives broadcasts to the shape of `out`, which it is put into."""
    from .arrays import dims

    check_fewer_axes(e, out, [result, out])
    if not isinstance(result, (ArrayValue, ComplexArrayValue)):
        return
    own, common = dims(e, out), broadcast_shape(e, [real_part(e, result), real_part(e, out)])
    for x, y in zip(own, common, strict=True):
        if not alike(e, x, y):
            e.guard(e.op("eq", x, y), "ValueError", _too_small(len(own), len(own)), *own, *common)


def _too_small(own: int, common: int) -> str:
    return f"non-broadcastable output operand with shape {shape_text(own)} doesn't match the broadcast shape {shape_text(common)}"


def _check_fit(e: Evaluator, operands: Sequence[ArrayValue], shape: list[Value], shown: Sequence[Abstract]) -> None:
    """ValueError unless operands broadcast to the shape of what is written. `shown`: all that the error names."""
    from .arrays import ARRAYS, dims

    shapes = [dims(e, v) if isinstance(v, ARRAYS) else [] for v in shown]
    message = f"operands could not be broadcast together with shapes {' '.join(shape_text(len(s)) for s in shapes)} "
    lengths = [d for s in shapes for d in s]
    common, conditions = list(shape), []
    for b in operands:
        for axis in range(-b.type.ndim, 0):
            x, y = shape[axis], e.dim(b.value, b.type.ndim + axis)
            if not alike(e, x, y) and not is_known_one(e, y):
                met, y_is_one = common[axis], is_one(e, y)
                met_is_one = is_one(e, met)
                fits = e.op("or", e.op("eq", y, x), y_is_one)
                meets = fits if met is x else e.op("or", e.op("eq", y, met), y_is_one)
                e.guard(e.op("or", meets, met_is_one), "ValueError", message, *lengths)
                common[axis] = e.op("select", met_is_one, y, met)
                conditions.append(fits)
    for fits in conditions:  # what is written has one element where operands have several
        e.guard(fits, "ValueError", _too_small(len(shape), len(shape)), *shape, *common)


def element_function(
    e: Evaluator, key: Hashable, function: Scalar, operands: Sequence[Abstract]
) -> tuple[str, tuple[ScalarType, ...]]:
    """The function of the module that does to elements what `function` does to numbers, and the types of what it gives: one,
    or two for the parts of a complex number."""
    from .evaluator import Evaluator
    from .frames import Stop

    def part(v: Abstract) -> Hashable:
        if isinstance(v, ArrayValue):
            return v.type.dtype
        if isinstance(v, Number):
            return v.type, v.numpy, v.classes
        assert isinstance(v, Known)
        return known_key(v.object)

    whole_key = ("element", key, tuple(map(part, operands)), e.context)
    known = e.inference.elements.get(whole_key)
    if known is not None:
        return known
    name = e.inference.module.unique_name(f"{key if isinstance(key, str) else 'element'}.element")
    inner = Evaluator(e.inference, name, e.context)
    e.inference.module.add(inner.function)
    inner.builder.position = e.builder.position
    inner.depth = e.depth + 1
    inner.of_elements = True
    numbers: list[Abstract] = []
    for v in operands:
        if isinstance(v, Known):
            numbers.append(v)
            continue
        assert isinstance(v, (ArrayValue, Number))
        given = Value(v.type.dtype if isinstance(v, ArrayValue) else v.type, v.value.name)
        inner.function.entry.params.append(given)
        numbers.append(Number(given, True) if isinstance(v, ArrayValue) else Number(given, v.numpy, v.classes))
    try:
        value = function(inner, *numbers)
        if not isinstance(value, (Number, Known, ComplexValue, TupleValue)):
            raise e.refuse(
                "this operation on whole arrays",
                types=[describe(v, e.heap) for v in operands],
                hint="write a loop over the elements",
            )
        if isinstance(value, ComplexValue):
            elements = [scalar_value(inner, p, F64) for p in value.parts()]
        elif isinstance(value, TupleValue):
            elements = [scalar_value(inner, p) for p in value.items]
        else:
            elements = [scalar_value(inner, value)]
    except Stop:
        # For numbers of these types it always raises.
        del e.inference.module.functions[name]
        raised = inner.latest.attrs
        e.throw(raised["exc"], raised["message"])
    else:
        inner.builder.ret(*elements)
        inner.function.results = tuple(v.type for v in elements)
        if has_effects(e.inference.module, name):
            inner.function.attrs["returns"] = True  # a check that always fails stays a check
    types = tuple(v.type for v in elements if isinstance(v.type, ScalarType))
    made = e.inference.elements[whole_key] = (name, types)
    return made


def sum_elements(e: Evaluator, a: ArrayValue) -> Number:
    """The sum of all elements of an array of floats, in NumPy's order."""
    name, _ = element_function(e, "sum", lambda e, x: x, [a])
    return Number(e.emit("apply", a.value, types=(a.type.dtype,), callee=name, modes=())[0], True)


def _memory(v: Abstract) -> Value:
    assert isinstance(v, ArrayValue)
    return v.value


def broadcast_shape(
    e: Evaluator,
    arrays: Sequence[ArrayValue],
    exc: str = "ValueError",
    fault: str = "operands could not be broadcast together with shapes",
) -> list[Value]:
    """The shape of arrays broadcast against each other; ValueError when the code runs if they do not fit."""
    shapes = [[e.dim(a.value, axis) for axis in range(a.type.ndim)] for a in arrays]
    ndim = max(map(len, shapes))
    text = " ".join("(" + ",".join(["{}"] * len(s)) + (",)" if len(s) == 1 else ")") for s in shapes)
    message = f"{fault} {text} "
    lengths = [d for s in shapes for d in s]
    result: list[Value] = []
    for axis in range(ndim):
        common: Value | None = None
        for s in shapes:
            if axis < ndim - len(s):
                continue
            d = s[axis - (ndim - len(s))]
            if common is None or is_known_one(e, common):
                common = d
            elif is_known_one(e, d) or alike(e, d, common) or _includes(e, common, d):
                pass
            elif _includes(e, d, common):
                common = d
            elif is_not_one(e, common) or is_not_one(e, d):
                # Both are equal, but where the other one is 1.
                other, common = (d, common) if is_not_one(e, common) else (common, d)
                e.once(("fits", other, common, exc), partial(_check_same, e, other, common, exc, message, lengths))
            else:
                common = _joint(e, common, d, exc, message, lengths)
        assert common is not None
        result.append(common)
    return result


def _check_same(e: Evaluator, other: Value, length: Value, exc: str, message: str, lengths: Sequence[Value]) -> Value:
    """That an axis is as long as another one, which is not of length 1, or repeated along it."""
    fits = e.op("or", e.op("eq", other, length), is_one(e, other))
    e.guard(fits, exc, message, *lengths)
    return fits


def _joint(e: Evaluator, one: Value, other: Value, exc: str, message: str, lengths: Sequence[Value]) -> Value:
    """The length of an axis that two arrays have together. (Where they have been compared before there is nothing to test again.)"""

    def compared() -> Value:
        first_is_one = e.op("eq", one, const(1))
        fits = e.op("or", e.op("eq", other, one), e.op("or", first_is_one, e.op("eq", other, const(1))))
        e.guard(fits, exc, message, *lengths)
        both = _parts(e, one) | _parts(e, other)
        common = e.op("select", first_is_one, other, one)
        e.broadcasts[common] = both
        return common

    return e.once(("joint length", one, other, exc), compared)


def broadcast(e: Evaluator, a: ArrayValue, shape: Sequence[Value]) -> Value:
    """An array seen in a shape that it fits."""
    own = [e.dim(a.value, axis) for axis in range(a.type.ndim)]
    there = shape[len(shape) - len(own) :]
    whole = [alike(e, x, y) or is_not_one(e, x) for x, y in zip(own, there, strict=True)]
    if len(own) == len(shape) and all(whole):
        return a.value
    axes = tuple([axis for axis, as_long in enumerate(whole) if as_long])
    attrs: dict[str, Any] = {"unrepeated": axes} if axes else {}
    return e.op("broadcast", a.value, *shape, type=Array(a.type.dtype, len(shape), "A", a.type.writable), **attrs)


def _parts(e: Evaluator, length: Value) -> frozenset[Value]:
    """The lengths that are 1 or this one, as has been found out on the way here."""
    return e.broadcasts.get(length, frozenset()) | {length}


def _includes(e: Evaluator, length: Value, other: Value) -> bool:
    return _parts(e, other) <= _parts(e, length)
