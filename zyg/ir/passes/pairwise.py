"""Sums in NumPy's order, pairwise: eight running sums in blocks of up to 128 elements, halves added above (Higham, "The
accuracy of floating point summation", SIAM J. Sci. Comput. 14, 1993).  Where the terms take mathematical functions that are
vectorised, which are approximate themselves, the running sums of a block are as many as a vector has lanes.

It is a function that calls itself for the halves, made for one `apply` while it is written out (expand.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..builder import Builder
from ..core import Block, Const, Function, Instr, Value, const
from ..reductions import combine, identity
from ..types import I64
from .accesses import Access
from .expand import Expansion

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCK = 128
_LANES = 8
_VECTOR_BLOCK = 512
_ANY_ORDER = frozenset({"reassoc"})


def pairwise(outer: Expansion, indices: list[Value], held: list[int], kinds: list[str]) -> list[Value]:
    """The totals of the innermost loop."""
    reached: list[Value] = [*indices]
    for v in outer.apply.operands:
        if v in outer.accesses:
            access = outer.accesses[v]
            reached += [access.array, *(i for i in access.index if isinstance(i, Value))]
        else:
            reached.append(v)
    operands = list(dict.fromkeys(v for v in reached if not isinstance(v, Const)))
    types = [*(outer.callee.results[k] for k in held), *outer.callee.results[len(outer.modes) :]]
    name = outer.module.unique_name(f"{outer.callee.name}.sum")
    function = Function(name, [Block("entry")], tuple(types))
    outer.module.add(function)
    params = {v: Value(v.type, v.name) for v in operands}
    _PairwiseSum(outer, function, params, indices, held, kinds).run()
    return outer.b.emit("call", *operands, const(0), outer.lengths[-1], types=function.results, callee=name)


class _PairwiseSum:
    """The function that adds up the terms of elements start, start + 1, ..., start + count - 1 of the innermost loop."""

    def __init__(
        self,
        outer: Expansion,
        function: Function,
        params: dict[Value, Value],
        indices: Sequence[Value],
        held: list[int],
        kinds: list[str],
    ):
        self.params, self.held, self.kinds = params, held, kinds
        replace: Callable[[Value], Value] = lambda v: params.get(v, v)
        self.indices = list(map(replace, indices))
        self.expansion = e = Expansion.__new__(Expansion)
        e.module, e.function, e.callee = outer.module, function, outer.callee
        e.modes, e.kinds = outer.modes, outer.kinds
        apply = outer.apply
        operands = [v if v in outer.accesses else replace(v) for v in apply.operands]
        e.apply = Instr("apply", operands, apply.results, apply.attrs)
        e.accesses = {
            v: Access(replace(a.array), tuple(i if isinstance(i, int) else replace(i) for i in a.index))
            for v, a in outer.accesses.items()
        }
        e.at = 1
        e.b = Builder(function, function.entry)
        e.b.position = outer.b.position

    def run(self) -> None:
        e, b = self.expansion, self.expansion.b
        vector = any(i.attrs.get("vectormath") for _, i in e.callee.instructions())
        start, count = Value(I64, "start"), Value(I64, "count")
        e.function.entry.params = [*self.params.values(), start, count]
        halves, base = e.block("halves"), e.block("base")
        b.branch(b.op("gt", count, const(_VECTOR_BLOCK if vector else _BLOCK)), halves, base)
        b.at(halves)
        half = b.op("mul", b.op("floordiv", count, const(16)), const(8))
        name, types = e.function.name, e.function.results
        left = b.emit("call", *self.params.values(), start, half, types=types, callee=name)
        rest = b.op("add", start, half), b.op("sub", count, half)
        right = b.emit("call", *self.params.values(), *rest, types=types, callee=name)
        b.ret(*self.add(left, right))
        b.at(base)
        stop = b.op("add", start, count)
        zeros: list[Value] = [identity(kind, t) for kind, t in zip(self.kinds, types, strict=True)]  # type: ignore[arg-type]
        if vector:
            b.ret(*e.loop(start, stop, zeros, lambda i, totals: self.add(totals, self.terms(i), any_order=True)))
            return
        few, block = e.block("few"), e.block("block")
        b.branch(b.op("lt", count, const(_LANES)), few, block)
        b.at(few)
        b.ret(*e.loop(start, stop, zeros, lambda i, totals: self.add(totals, self.terms(i))))
        b.at(block)
        lanes = [self.terms(b.arith("add", start, const(k))) for k in range(_LANES)]
        whole = b.op("sub", stop, b.op("and", count, const(_LANES - 1)))
        width = len(lanes[0])

        def eight(i: Value, totals: list[Value]) -> list[Value]:
            result: list[Value] = []
            for k in range(_LANES):
                result += self.add(totals[k * width : (k + 1) * width], self.terms(b.arith("add", i, const(k))))
            return result

        sums = e.loop(b.op("add", start, const(_LANES)), whole, [t for lane in lanes for t in lane], eight, _LANES)
        parts = [sums[k * width : (k + 1) * width] for k in range(_LANES)]
        while len(parts) > 1:
            parts = [self.add(parts[k], parts[k + 1]) for k in range(0, len(parts), 2)]
        b.ret(*e.loop(whole, stop, parts[0], lambda i, totals: self.add(totals, self.terms(i))))

    def terms(self, i: Value) -> list[Value]:
        return self.expansion.element([*self.indices, i], self.held)

    def add(self, xs: list[Value], ys: list[Value], any_order: bool = False) -> list[Value]:
        b = self.expansion.b
        attrs = {"fast": _ANY_ORDER} if any_order else {}
        return [
            combine(b, kind, x, y, **(attrs if x.type.kind == "f" else {}))  # type: ignore[attr-defined]
            for kind, x, y in zip(self.kinds, xs, ys, strict=True)
        ]
