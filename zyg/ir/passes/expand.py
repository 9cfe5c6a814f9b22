"""Write `apply` out as loops.

Input: any module, after differentiation.  Output: no `apply` is left; each is one loop over all elements where its arrays are
contiguous, and a nest of loops over the dimensions elsewhere.  Which of the two is found out when the code runs, unless the
types tell.  The function that is applied stands in the loop.

Sums are added up in NumPy's order, pairwise: eight running sums in blocks of up to 128 elements, halves added above (Higham,
"The accuracy of floating point summation", SIAM J. Sci. Comput. 14, 1993).  Where the terms take mathematical functions that
are vectorised, the running sums of a block are as many as a vector has lanes.

Invariant: none beyond the verifier's.
"""

from __future__ import annotations

from collections.abc import Callable

from ..builder import Builder
from ..core import Block, Const, Function, Instr, Module, Value, clone_blocks, const
from ..core import Target as Edge
from ..types import I64, Array

Emit = Callable[[list[Value]], list[Value]]
_BLOCK = 128
_LANES = 8
_VECTOR_BLOCK = 512
_ANY_ORDER = frozenset({"reassoc"})
_SIZES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "u8": 1, "bool": 1}


def run(module: Module) -> bool:
    changed = [expand(module, function) for function in list(module.functions.values())]
    return any(changed)


def expand(module: Module, function: Function) -> bool:
    """Write the `apply`s of one function out."""
    work = [b for b in function.blocks if any(i.op == "apply" for i in b.instrs)]
    changed = bool(work)
    while work:
        block = work.pop()
        for n, instr in enumerate(block.instrs):
            if instr.op == "apply":
                work.append(_Expansion(module, function, block, n).run())
                break
    return changed


class _Expansion:
    """The loops for one `apply`, `block.instrs[index]`."""

    def __init__(self, module: Module, function: Function, block: Block, index: int):
        self.module = module
        self.function = function
        self.apply = apply = block.instrs[index]
        self.callee = module.functions[apply.attrs["callee"]]
        self.modes = apply.attrs["modes"]
        self.after = Block(f"{block.name}.after", list(apply.results))
        self.after.instrs = block.instrs[index + 1 :]
        self.after.handler = block.handler
        del block.instrs[index:]
        self.at = function.blocks.index(block) + 1
        self.b = Builder(function, block)
        self.b.position = apply.position

    def run(self) -> Block:
        """The block where control goes on afterwards."""
        b = self.b
        arrays = list(dict.fromkeys(v for v in self.apply.operands if isinstance(v.type, Array)))
        ndim = arrays[0].type.ndim  # type: ignore[attr-defined]
        shape = [b.op("dim", arrays[0], axis=axis) for axis in range(ndim)]
        strided = [v for v in arrays if v.type.layout != "C"]  # type: ignore[attr-defined]
        if not strided:
            self.flat({v: v for v in arrays}, shape)
        else:
            contiguous: Value = const(True)
            for v in strided:
                expected: Value = const(_SIZES[str(v.type.dtype)])  # type: ignore[attr-defined]
                for axis in reversed(range(ndim)):
                    same = b.op("eq", b.op("stride", v, axis=axis), expected)
                    contiguous = same if isinstance(contiguous, Const) else b.op("and", contiguous, same)
                    expected = expected if axis == 0 else b.arith("mul", expected, shape[axis])
            fast, general = self.block("contiguous"), self.block("strided")
            b.branch(contiguous, fast, general)
            b.at(fast)
            seen = {
                v: v if v not in strided else b.op(
                    "view", v, type=Array(v.type.dtype, ndim, "C", v.type.writable), spec=":" * ndim  # type: ignore[attr-defined]
                )
                for v in arrays
            }  # fmt: skip
            self.flat(seen, shape)
            b.at(general)
            totals = self.nest({v: v for v in arrays}, shape, [], self.zeros())
            b.jump(self.after, *totals)
        self.function.blocks.insert(self.at, self.after)
        return self.after

    def block(self, name: str, *params: Value) -> Block:
        block = Block(name, list(params))
        self.function.blocks.insert(self.at, block)
        self.at += 1
        return block

    def zeros(self) -> list[Value]:
        return [const(0.0 if r.type.kind == "f" else 0, r.type) for r in self.apply.results]  # type: ignore[attr-defined]

    # ------------------------------------------------------------------------------------ one element

    def element(self, arrays: dict[Value, Value], indices: list[Value]) -> list[Value]:
        """Emit the work on the elements at one index; gives the terms of the sums."""
        b = self.b
        count = len(self.modes)
        given = [
            b.op("load", arrays[v], *indices) if isinstance(v.type, Array) else v for v in self.apply.operands[count:]
        ]
        results = self.inlined(given)
        for v, mode, value in zip(self.apply.operands[:count], self.modes, results, strict=False):
            if mode == "set":
                b.emit("store", arrays[v], value, *indices)
            else:
                b.emit("accum", arrays[v], value, *indices)
        return results[count:]

    def inlined(self, given: list[Value]) -> list[Value]:
        """The body of the function for these arguments."""
        b = self.b
        body = clone_blocks(self.callee.blocks, {})
        if len(body) == 1:
            values = dict(zip(body[0].params, given, strict=True))
            replace: Callable[[Value], Value] = lambda v: values.get(v, v)
            for instr in body[0].instrs[:-1]:
                instr.operands[:] = map(replace, instr.operands)
                b.append(instr)
            return list(map(replace, body[0].terminator.operands))
        results = [Value(t) for t in self.callee.results]
        after = Block("element", results)
        b.append(Instr("jump", targets=[Edge(body[0], given)]))
        for block in body:
            last = block.instrs[-1]
            if last.op == "return":
                block.instrs[-1] = Instr("jump", targets=[Edge(after, last.operands)], position=last.position)
        for block in [*body, after]:
            self.function.blocks.insert(self.at, block)
            self.at += 1
        b.at(after)
        return results

    # -------------------------------------------------------------------------------------- contiguous

    def flat(self, arrays: dict[Value, Value], shape: list[Value]) -> None:
        b = self.b
        if len(shape) > 1:
            size = shape[0]
            for d in shape[1:]:
                size = b.arith("mul", size, d)
            arrays = {
                v: b.op("reshape", a, size, type=Array(a.type.dtype, 1, "C", a.type.writable))  # type: ignore[attr-defined]
                for v, a in arrays.items()
            }
            shape = [size]
        b.jump(self.after, *self.nest(arrays, shape, [], self.zeros()))

    def pairwise(self, arrays: dict[Value, Value], size: Value) -> list[Value]:
        """Call a function that sums the terms along one dimension; it is made here."""
        operands = list(dict.fromkeys(v for v in self.apply.operands if not isinstance(v, Const)))
        name = self.module.unique_name(f"{self.callee.name}.sum")
        function = Function(name, [Block("entry")], self.callee.results[len(self.modes) :])
        params = {v: Value(arrays[v].type if v in arrays else v.type, v.name) for v in operands}
        self.module.add(function)
        _PairwiseSum(self, function, params).run()
        given = [arrays.get(v, v) for v in operands]
        return self.b.emit("call", *given, const(0), size, types=function.results, callee=name)

    # ------------------------------------------------------------------------------------------- loops

    def nest(
        self, arrays: dict[Value, Value], shape: list[Value], indices: list[Value], totals: list[Value]
    ) -> list[Value]:
        """Loops over the dimensions from the len(indices)-th on; gives the sums."""
        if len(indices) == len(shape) - 1 and totals and all(t.type.kind == "f" for t in totals):  # type: ignore[attr-defined]
            rows = {v: self.row(a, indices) for v, a in arrays.items()} if indices else arrays
            return [self.b.op("add", t, s) for t, s in zip(totals, self.pairwise(rows, shape[-1]), strict=True)]
        if len(indices) == len(shape):
            return [self.b.op("add", t, term) for t, term in zip(totals, self.element(arrays, indices), strict=True)]
        return self.loop(
            const(0),
            shape[len(indices)],
            totals,
            lambda i, running: self.nest(arrays, shape, [*indices, i], running),
        )

    def row(self, array: Value, indices: list[Value]) -> Value:
        type = array.type
        assert isinstance(type, Array)
        spec = "i" * len(indices) + ":"
        return self.b.op("view", array, *indices, type=Array(type.dtype, 1, type.layout, type.writable), spec=spec)

    def loop(
        self,
        start: Value,
        stop: Value,
        totals: list[Value],
        body: Callable[[Value, list[Value]], list[Value]],
        step: int = 1,
    ) -> list[Value]:
        """for i in range(start, stop, step), carrying sums; control is behind it afterwards."""
        b = self.b
        i = Value(I64, "i")
        running = [Value(t.type, "total") for t in totals]
        head = self.block("head", i, *running)
        inside = Block("body")
        b.jump(head, start, *totals)
        b.at(head)
        more = b.op("lt", i, stop)
        ends = [Value(t.type, "total") for t in totals]
        done = Block("done", ends)
        b.branch(more, inside, done, (), running)
        self.function.blocks.insert(self.at, inside)
        self.at += 1
        b.at(inside)
        following = body(i, running)
        b.jump(head, b.op("add", i, const(step), nsw=True), *following)
        self.function.blocks.insert(self.at, done)
        self.at += 1
        b.at(done)
        return ends


class _PairwiseSum:
    """The function that adds up the terms of elements start, start + 1, ..., start + count - 1, in NumPy's order."""

    def __init__(self, expansion: _Expansion, function: Function, params: dict[Value, Value]):
        self.params = params
        self.expansion = e = _Expansion.__new__(_Expansion)
        e.module, e.function, e.callee, e.modes = expansion.module, function, expansion.callee, expansion.modes
        replace: Callable[[Value], Value] = lambda v: params.get(v, v)
        e.apply = Instr(
            "apply", list(map(replace, expansion.apply.operands)), expansion.apply.results, expansion.apply.attrs
        )
        e.at = 1
        e.b = Builder(function, function.entry)
        e.b.position = expansion.b.position

    def run(self) -> None:
        e, b = self.expansion, self.expansion.b
        vector = any(i.attrs.get("vectormath") for _, i in e.callee.instructions())
        start, count = Value(I64, "start"), Value(I64, "count")
        e.function.entry.params = [*self.params.values(), start, count]
        halves, base = e.block("halves"), e.block("base")
        b.branch(b.op("gt", count, const(_VECTOR_BLOCK if vector else _BLOCK)), halves, base)
        b.at(halves)
        half = b.op("mul", b.op("floordiv", count, const(16)), const(8))
        left = b.emit("call", *self.params.values(), start, half, types=e.function.results, callee=e.function.name)
        right = b.emit(
            "call",
            *self.params.values(),
            b.op("add", start, half),
            b.op("sub", count, half),
            types=e.function.results,
            callee=e.function.name,
        )
        b.ret(*[b.op("add", x, y) for x, y in zip(left, right, strict=True)])
        b.at(base)
        stop = b.op("add", start, count)
        if vector:
            add = lambda i, totals: [
                b.op("add", t, x, fast=_ANY_ORDER) for t, x in zip(totals, self.terms(i), strict=True)
            ]
            zeros: list[Value] = [const(0.0, t) for t in e.function.results]
            b.ret(*e.loop(start, stop, zeros, add))
            return
        few, block = e.block("few"), e.block("block")
        b.branch(b.op("lt", count, const(_LANES)), few, block)
        b.at(few)
        negative: list[Value] = [const(-0.0, t) for t in e.function.results]
        b.ret(*e.loop(start, stop, negative, lambda i, totals: self.add(totals, self.terms(i))))
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
        e = self.expansion
        return e.element({v: v for v in self.params.values()}, [i])

    def add(self, xs: list[Value], ys: list[Value]) -> list[Value]:
        return [self.expansion.b.op("add", x, y) for x, y in zip(xs, ys, strict=True)]
