"""Sums in NumPy's order, pairwise: eight running sums in blocks of up to 128 elements, halves added above (Higham, "The
accuracy of floating point summation", SIAM J. Sci. Comput. 14, 1993).

The eight sums are the lanes of vectors, in a function of its own that stands for one of them (`lane`); a call of it with
attrs["vector"] gives all eight, added up (backend/llvm/lowering/vectors.py).  Where a function cannot be done in vectors, what is done for an
element is written eight times.  The order within a block is free where the terms take mathematical functions that are vectorised, which are
approximate themselves, and in reverse parts (`any_order`), which have no order of NumPy's.  There LLVM makes vectors as it
likes, unless all of these functions are among those that can be written into the lanes, or loops are functions of their own
(expand.py), of which there are many: LLVM would take three times as long for each.  These are written as loops without sums are, in
lanes, and what is left over is, too (attrs["each"], backend/llvm/lowering/each.py).  In the version for arrays that are
not contiguous the function calls itself for each of the eight sums (`lane`).

It is a function that calls itself for the halves, made for one `apply` while it is written out (expand.py). It calls itself
to the depth of a logarithm and never fails (`shallow`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core import Block, Const, Function, Instr, Value, const, scalar_type
from ..reductions import combine, identity
from ..types import BOOL, F64, I64, Scalar
from .expand import Expansion
from .neighbours import shifted

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCK = 128
_LANES = 8
_VECTOR_BLOCK = 512
_ANY_ORDER = frozenset({"reassoc"})


def pairwise(outer: Expansion, indices: list[Value], held: list[int], kinds: list[str]) -> list[Value]:
    """The totals of the innermost loop."""
    operands = outer.reached(indices, held=held)
    types = [*(outer.callee.results[k] for k in held), *outer.callee.results[len(outer.modes) :]]
    apart = outer.alone(operands, held)
    attributes: dict[str, Any] = {"noalias": apart} if apart else {}

    def write(e: Expansion) -> None:
        params = list(e.function.entry.params)
        own = dict(zip(operands, params))
        _PairwiseSum(e, params, [own.get(v, v) for v in indices], held, kinds).run()

    function = outer.part("sum", types, operands, attributes, write, indices=indices, held=held, more=tuple(kinds))
    operands += [const(0), outer.lengths[-1], const(False)]
    stays = len(held) < len(outer.modes) or outer.apply.attrs.get("effects")
    attrs: dict[str, Any] = {} if stays else {"writes": ()}
    return outer.b.emit("call", *operands, types=function.results, callee=function.name, **attrs)


class _PairwiseSum:
    """The function that adds up the terms of elements start, start + 1, ..., start + count - 1 of the innermost loop."""

    def __init__(
        self, expansion: Expansion, params: list[Value], indices: Sequence[Value], held: Sequence[int], kinds: list[str]
    ):
        self.expansion, self.params, self.indices, self.held, self.kinds = expansion, params, indices, held, kinds

    def run(self) -> None:
        e, b = self.expansion, self.expansion.b
        body = [i for _, i in e.callee.instructions()]
        free = e.apply.attrs.get("any_order") or any("reassoc" in i.attrs.get("fast", ()) for i in body)
        any_order = free or any(i.attrs.get("vectormath") and i.op not in _VECTORISABLE for i in body)
        formulas = any(i.op in _FORMULAS for i in body)
        lanes = formulas or not any_order or bool(e.neighbours) or e.outlined
        in_vectors = lanes and e.contiguous and e.vectors and self.is_vectorisable()
        assert in_vectors or not e.neighbours
        start, count, lane = Value(I64, "start"), Value(I64, "count"), Value(BOOL, "lane")
        e.function.entry.params = [*self.params, start, count, lane]
        types = [t for t in e.function.results if isinstance(t, Scalar)]
        nothing: list[Value] = [_nothing(kind, t) for kind, t in zip(self.kinds, types, strict=True)]
        one: Callable[[Value, list[Value]], list[Value]] = lambda i, totals: self.add(totals, self.terms(i), any_order)
        stop = b.op("add", start, count)
        if not any_order and not e.contiguous:
            strided, whole = e.block("lane"), e.block("whole")
            b.branch(lane, strided, whole)
            b.at(strided)
            b.ret(*e.loop(start, stop, nothing, one, _LANES))
            b.at(whole)
        halves, base = e.block("halves"), e.block("base")
        b.branch(b.op("gt", count, const(_VECTOR_BLOCK if any_order else _BLOCK)), halves, base)
        b.at(halves)
        if any_order:
            # All blocks but the last are whole: what is left over of vectors is left over once.
            parts = b.op("floordiv", b.op("add", count, const(2 * _VECTOR_BLOCK - 1)), const(2 * _VECTOR_BLOCK))
            half = b.op("mul", parts, const(_VECTOR_BLOCK))
        else:
            half = b.op("mul", b.op("floordiv", count, const(16)), const(8))
        left = self.sums(start, half)
        right = self.sums(b.op("add", start, half), b.op("sub", count, half))
        b.ret(*self.add(left, right))
        b.at(base)
        if any_order and in_vectors and e.outlined and not e.neighbours:
            # Any order will do: what is left over of vectors is done at once, and short rows are.
            e.function.attrs["each"] = _LANES
            b.ret(*e.loop(start, stop, nothing, one, plain=True))
            return
        if any_order and not in_vectors:
            b.ret(*e.loop(start, stop, nothing, one))
            return
        whole_stop = b.op("sub", stop, b.op("and", count, const(_LANES - 1)))
        if in_vectors:
            total = self.in_lanes(start, whole_stop)
        elif e.contiguous:
            total = self.added(self.unrolled(start, whole_stop, nothing))
        else:
            total = self.added(self.called(start, whole_stop))
        # Only the last block has a rest; what the others give stays together in a vector.
        rest, none = e.block("rest"), e.block("none")
        b.branch(b.op("lt", whole_stop, stop), rest, none)
        b.at(none)
        b.ret(*total)
        b.at(rest)
        b.ret(*e.loop(whole_stop, stop, total, one, plain=True))

    def added(self, parts: list[list[Value]]) -> list[Value]:
        """The eight sums added up, neighbours first."""
        while len(parts) > 1:
            parts = [self.add(parts[k], parts[k + 1]) for k in range(0, len(parts), 2)]
        return parts[0]

    def sums(self, start: Value, count: Value, lane: bool = False) -> list[Value]:
        """What the function gives for a part."""
        function = self.expansion.function
        operands = [*self.params, start, count, const(lane)]
        return self.expansion.b.emit("call", *operands, types=function.results, callee=function.name)

    def unrolled(self, start: Value, stop: Value, nothing: list[Value]) -> list[list[Value]]:
        """The eight sums, side by side in one loop."""
        b, width = self.expansion.b, len(nothing)

        def eight(i: Value, totals: list[Value]) -> list[Value]:
            result: list[Value] = []
            for k in range(_LANES):
                result += self.add(totals[k * width : (k + 1) * width], self.terms(b.arith("add", i, const(k))))
            return result

        sums = self.expansion.loop(start, stop, nothing * _LANES, eight, _LANES, plain=True)
        return [sums[k * width : (k + 1) * width] for k in range(_LANES)]

    def is_vectorisable(self) -> bool:
        e = self.expansion
        stored = [e.accesses[v] for k, v in enumerate(e.apply.operands[: len(e.modes)]) if k not in self.held]
        last = len(self.indices)
        return (
            in_lanes(e.callee)
            and set(self.kinds) <= {"add"}
            and BOOL not in e.function.results
            and (not stored or e.apart)
            and all(a.runs_along(last) for a in stored)
        )

    def in_lanes(self, start: Value, stop: Value) -> list[Value]:
        """The sums of all lanes by a function for one of them, of which a call does all and adds them up."""
        e = self.expansion
        function = Function(e.module.unique_name(f"{e.function.name}.lane"), [Block("entry")], e.function.results)
        function.attrs = {"shallow": True, "vector": _LANES}
        e.module.add(function)
        params = {v: Value(v.type, v.name) for v in self.params}
        replace: Callable[[Value], Value] = lambda v: params.get(v, v)
        if e.neighbours:
            places = {k: self.params.index(e.accesses[v].array) for k, v in enumerate(e.apply.operands[: len(e.modes)])}
            function.attrs["neighbours"] = shifted(e.neighbours, places)
        inner, indices = e.inside(function, replace), [*map(replace, self.indices)]
        _PairwiseSum(inner, list(params.values()), indices, self.held, self.kinds).run_lane()
        types = e.function.results
        return list(
            e.b.emit("call", *self.params, start, stop, const(0), types=types, callee=function.name, vector=_LANES)
        )

    def run_lane(self) -> None:
        """One of eight sums, each of the elements that are eight apart."""
        e, b = self.expansion, self.expansion.b
        start, stop, lane = Value(I64, "start"), Value(I64, "stop"), Value(I64, "lane")
        e.function.entry.params = [*self.params, start, stop, lane]
        types = [t for t in e.function.results if isinstance(t, Scalar)]
        nothing: list[Value] = [_nothing(kind, t) for kind, t in zip(self.kinds, types, strict=True)]

        def one(first: Value, totals: list[Value]) -> list[Value]:
            return self.add(totals, self.terms(b.arith("add", first, lane)))

        b.ret(*e.loop(start, stop, nothing, one, _LANES, plain=True))

    def called(self, start: Value, stop: Value) -> list[list[Value]]:
        """The eight sums, one after the other."""
        b = self.expansion.b
        firsts = [b.arith("add", start, const(k)) for k in range(_LANES)]
        return [self.sums(first, b.op("sub", stop, first), True) for first in firsts]

    def terms(self, i: Value) -> list[Value]:
        return self.expansion.element([*self.indices, i], self.held)

    def add(self, xs: list[Value], ys: list[Value], any_order: bool = False) -> list[Value]:
        b = self.expansion.b
        attrs = {"fast": _ANY_ORDER} if any_order else {}
        return [
            combine(b, kind, x, y, **(attrs if scalar_type(x).kind == "f" else {}))
            for kind, x, y in zip(self.kinds, xs, ys, strict=True)
        ]


_VECTORISABLE = frozenset(
    {
        "add", "sub", "mul", "div", "sdiv", "neg", "abs", "fmin", "fmax", "sqrt", "floor", "ceil", "trunc", "rint",
        "copysign", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "xor", "not", "select", "slope", "stop", "cast",
        "load",
    }
)  # fmt: skip
_FORMULAS = frozenset(
    {"exp", "expm1", "log", "log1p", "tanh", "pow", "atan", "atan2"}
)  # that can be written into a loop in lanes

_MATHEMATICAL = frozenset(
    {
        "exp2", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "sinh", "cosh", "asinh", "acosh",
        "atanh", "cbrt", "erf", "erfc",
    }
)  # fmt: skip


def in_lanes(function: Function, functions: bool = False) -> bool:
    """Whether a function of elements can be done for several of them at once. `functions`: all mathematical ones may be
    called."""
    return len(function.blocks) == 1 and all(
        vectorisable(i) or functions and is_mathematical(i) for i in function.entry.body
    )


def is_mathematical(instr: Instr) -> bool:
    return instr.op in _MATHEMATICAL and bool(instr.attrs.get("vectormath")) and instr.result.type is F64


def is_arithmetic(function: Function) -> bool:
    """Whether a function of elements has nothing that takes long."""
    return len(function.blocks) == 1 and all(i.op in _VECTORISABLE for i in function.entry.body)


def vectorisable(instr: Instr) -> bool:
    """Whether an instruction can be done for several elements at once."""
    if instr.op in _FORMULAS and instr.attrs.get("vectormath") and instr.result.type is F64:
        return True
    if instr.op not in _VECTORISABLE or not all(isinstance(r.type, Scalar) for r in instr.results):
        return False
    if instr.op in ("abs", "cast"):
        given, result = scalar_type(instr.operands[0]), scalar_type(instr.result)
        return given.kind == "f" if instr.op == "abs" else result.kind == "f" or result is BOOL
    return True


def _nothing(kind: str, type: Scalar) -> Const:
    """What adds nothing to a float, be it a zero of either sign."""
    return const(-0.0, type) if kind == "add" and type.kind == "f" else identity(kind, type)
