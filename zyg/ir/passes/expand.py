"""Write `apply` out as loops.

Input: any module, after differentiation.  Output: no `apply` is left; each is one loop over all elements where its arrays are
contiguous, and a nest of loops over the dimensions elsewhere.  Which of the two is found out when the code runs, unless the
types tell.  The function that is applied stands in the loop.

An array that is seen broadcast is indexed by the loops that move it (accesses.py).  What is reduced into an element that the
innermost loop does not move is held in a register in this loop; where the loop around it does not move the row that is
reduced into, it takes several rows at a time.

Sums are added up in NumPy's order, pairwise along the innermost loop (pairwise.py), and row by row along others.

Loops that are functions of their own are written once in a module for all `apply`s that want the same of them (`Parts`).

Invariant: none beyond the verifier's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from types import FunctionType
from typing import Any

from ..builder import Builder
from ..core import Block, Const, Function, Instr, Module, Value, array_type, clone_blocks, const
from ..core import Target as Edge
from ..readymade import is_library
from ..reductions import Running, combine, identity
from ..types import I64, Array, Scalar, Type
from .accesses import Access, Assumption, From, Index, Views, groups, is_one
from .fuse import returns
from .merge import SILENT
from .neighbours import groups_of
from .rewriting import constant_key

_SIZES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "u8": 1, "bool": 1}
_ROWS = 4  # of a reduction along an outer axis that are taken at once
_TINY = 8  # instructions of a function of which a processor works on several elements' at once only if told to
_FEW = 4  # `apply`s in a program, or a function of the library, for which that is worth LLVM's time: it takes a sixth more for a few per cent
MANY = 8  # the same, from which on their loops are functions of their own
LANES = 8
_ELEMENTWISE = frozenset({"set", "add", "mul"})
_SMALL = 24  # instructions of a function that is repeated for these, and of one that takes no longer than a sum waits


def run(module: Module) -> list[Function]:
    """Gives the functions that had any."""
    functions = list(module.functions.values())
    applies = {f: sum(i.op == "apply" for _, i in f.instructions()) for f in functions}
    of_program = sum(n for f, n in applies.items() if not is_library(f))
    parts: Parts = {}
    changed = []
    for f in functions:
        many = applies[f] if is_library(f) else of_program
        if expand(module, f, _TINY if many <= _FEW else 0, vectors=True, apart=many > MANY, parts=parts):
            changed.append(f)
    return changed


def expand(
    module: Module,
    function: Function,
    tiny: int = 0,
    vectors: bool = False,
    apart: bool = False,
    chosen: Callable[[Instr], bool] = lambda apply: True,
    parts: Parts | None = None,
) -> bool:
    """Write the `apply`s of one function out, or those of them that are chosen.

    Functions of more than `tiny` instructions are done for one vector at a time. `vectors`: calls of functions in the lanes of
    vectors are allowed, which have no derivatives. `apart`: the loops are functions of their own. `parts`: those that there are.
    """
    parts = {} if parts is None else parts
    work = [b for b in function.blocks if any(i.op == "apply" for i in b.instrs)]
    if not work:
        return False
    views = Views(function)
    while work:
        block = work.pop()
        for n, instr in enumerate(block.instrs):
            if instr.op == "apply" and chosen(instr):
                work.append(Expansion(module, function, views, parts, block, n, tiny, vectors, apart).run())
                break
    return True


Parts = dict[Hashable, Function]  # functions that are parts of loops, by what was wanted of them


class Expansion:
    """The loops for one `apply`, `block.instrs[index]`."""

    def __init__(
        self,
        module: Module,
        function: Function,
        views: Views,
        parts: Parts,
        block: Block,
        index: int,
        tiny: int,
        vectors: bool,
        outlined: bool = False,
    ):
        self.module = module
        self.function = function
        self.parts = parts
        self.apply = apply = block.instrs[index]
        self.callee = module.functions[apply.attrs["callee"]]
        self.modes: tuple[str, ...] = apply.attrs["modes"]
        self.kinds: tuple[str, ...] = apply.attrs.get("kinds", ("add",) * len(apply.results))
        self.views = views
        self.after = Block(f"{block.name}.after", list(apply.results))
        self.after.instrs = block.instrs[index + 1 :]
        self.after.handler = block.handler
        del block.instrs[index:]
        self.at = self.first = function.blocks.index(block) + 1
        self.b = Builder(function, block)
        self.b.position = apply.position
        self.accesses: dict[Value, Access] = {}
        self.lengths: list[Value] = []
        self.tiny, self.vectors, self.outlined = tiny, vectors, outlined
        self.contiguous = True  # whether the arrays of the version that is being written are
        self.set_once: set[int] = set()
        self.neighbours = groups_of(apply)
        behind = {k for group in self.neighbours for k, _ in group[1:]}
        outs = [v for k, v in enumerate(apply.operands[: len(self.modes)]) if k not in behind]
        self.apart = self.views.apart(outs, apply.operands[len(self.modes) :])

    def run(self) -> Block:
        """The block where control goes on afterwards."""
        b = self.b
        arrays = list(dict.fromkeys(v for v in self.apply.operands if isinstance(v.type, Array)))
        assumptions: list[Assumption] = []
        fast = {v: self.views.access(v, assumptions) or _plain(v) for v in arrays}
        shape = self.shape(arrays, fast)
        apart = any(self.views.lies_apart(a.array) for a in fast.values())
        conditions = [] if apart else self.conditions(fast, assumptions, shape)
        if apart:
            self.in_steps(arrays, shape)
        elif conditions:
            holds = conditions[0]
            for c in conditions[1:]:
                holds = b.op("and", holds, c)
            contiguous, general = self.block("contiguous"), self.block("strided")
            b.branch(holds, contiguous, general)
            b.at(contiguous)
            self.collapsed(fast, shape)
            b.at(general)
            self.in_steps(arrays, shape)
        else:
            self.collapsed(fast, shape)
        for block in self.function.blocks[self.first - 1 : self.at]:
            self.views.add(block.instrs)
        self.function.blocks.insert(self.at, self.after)
        return self.after

    def in_steps(self, arrays: list[Value], shape: list[Value]) -> None:
        """A loop for each dimension, over elements that may lie anywhere."""
        self.contiguous = False
        accesses = {v: self.views.access(v, None) or _plain(v) for v in arrays}
        self.accesses, self.lengths = self.without_ones(accesses, shape)
        self.fill_what_is_added_to()
        self.b.jump(self.after, *self.loops())

    def shape(self, arrays: list[Value], fast: dict[Value, Access]) -> list[Value]:
        """The number of iterations of each loop."""
        for v in arrays:
            made = self.views.made.get(v)
            if made is not None and made.op in ("broadcast", "alloc", "reshape"):
                return list(made.operands if made.op == "alloc" else made.operands[1:])
        first = min(arrays, key=lambda v: array_type(v).layout != "C")
        known = self.views.lengths(first)
        return [d if d is not None and is_one(d) else self.b.op("dim", first, axis=n) for n, d in enumerate(known)]

    def conditions(
        self, accesses: dict[Value, Access], assumptions: list[Assumption], shape: list[Value]
    ) -> list[Value]:
        """What has to hold for the arrays to be contiguous, and to be repeated only where that is known."""
        b = self.b
        result: list[Value] = []
        for a in dict.fromkeys(assumptions):
            result.append(b.op("eq", b.op("dim", a.array, axis=a.axis), shape[a.loop]))
        for array in dict.fromkeys(a.array for a in accesses.values()):
            if array_type(array).layout != "C":
                result.append(b.op("contiguous", array, strict=True))
        return result

    def collapsed(self, accesses: dict[Value, Access], shape: list[Value]) -> None:
        """Few loops over contiguous arrays."""
        b = self.b
        accesses, shape = self.in_memory_order(*self.without_ones(accesses, shape))
        together = groups(list(accesses.values()), len(shape))
        self.lengths = []
        for group in together:
            length = shape[group[0]]
            for loop in group[1:]:
                length = b.arith("mul", length, shape[loop])
            self.lengths.append(length)
        of = {loop: n for n, group in enumerate(together) for loop in group}
        seen: dict[tuple[Value, Index], Value] = {}
        self.accesses = {}
        for v, a in accesses.items():
            index = a.renumbered(of).index
            if a not in seen:
                seen[a] = self.reshaped(a.array, index)
            self.accesses[v] = Access(
                seen[a], tuple(i for k, i in enumerate(index) if type(i) is not int or not k or index[k - 1] != i)
            )
        self.fill_what_is_added_to()
        b.jump(self.after, *self.loops())

    def without_ones(
        self, accesses: dict[Value, Access], shape: list[Value]
    ) -> tuple[dict[Value, Access], list[Value]]:
        """The same without loops that are known to be of one round, and without the axes of the arrays that they would go through: the
        innermost loop is one that moves something."""
        left = [n for n, length in enumerate(shape) if not is_one(length)] or [*range(len(shape))][-1:]
        if len(left) == len(shape):
            return accesses, shape
        of = {loop: n for n, loop in enumerate(left)}
        seen: dict[tuple[Value, tuple[int, ...]], Value] = {}
        result: dict[Value, Access] = {}
        for v, a in accesses.items():
            index = tuple(i.start if isinstance(i, From) and i.loop not in of else i for i in a.index)
            gone = tuple(axis for axis, i in enumerate(index) if type(i) is int and i not in of)
            if (a.array, gone) not in seen:
                seen[a.array, gone] = self.without_axes(a.array, gone)
            kept = tuple(i for axis, i in enumerate(index) if axis not in gone)
            result[v] = Access(seen[a.array, gone], kept).renumbered(of)
        return result, [shape[loop] for loop in left]

    def without_axes(self, array: Value, axes: tuple[int, ...]) -> Value:
        """An array without axes of length 1."""
        if not axes:
            return array
        b, type = self.b, array_type(array)
        reduced = Array(type.dtype, type.ndim - len(axes), type.layout, type.writable)
        if type.layout == "C":
            known = self.views.lengths(array)  # maybe by what does not come before
            lengths = [
                d if isinstance(d, Const) else b.op("dim", array, axis=n) for n, d in enumerate(known) if n not in axes
            ]
            made = b.op("reshape", array, *lengths, type=reduced)
        else:
            spec = "".join("i" if n in axes else ":" for n in range(type.ndim))
            made = b.op("view", array, *[const(0)] * len(axes), type=reduced, spec=spec)
        assert b.block is not None
        self.views.add(b.block.instrs[-1:])
        return made

    def in_memory_order(
        self, accesses: dict[Value, Access], shape: list[Value]
    ) -> tuple[dict[Value, Access], list[Value]]:
        """The same with loops in the order of what is written, where elements may be gone through in any."""
        outs = [accesses[v] for v in self.apply.operands[: len(self.modes)]]
        order = outs[0].order() if outs and self.apart and not self.kinds else []
        if order == sorted(order) or sorted(order) != [*range(len(shape))] or any(a.order() != order for a in outs):
            return accesses, shape
        of = {loop: n for n, loop in enumerate(order)}
        return {v: a.renumbered(of) for v, a in accesses.items()}, [shape[loop] for loop in order]

    def fill_what_is_added_to(self) -> None:
        """New arrays that are to be zeros are filled, but for those of which what is added to an element is all that there is in it."""
        zero = self.apply.attrs.get("zero", ())
        every = range(len(self.lengths))
        moved = {k for k in zero if all(self.accesses[self.apply.operands[k]].moves(loop) for loop in every)}
        self.set_once = moved if self.contiguous else set()
        for k in zero:
            if k not in self.set_once:
                array = self.views.made[self.apply.operands[k]].operands[0]
                self.b.emit("fill", array, const(0.0, array_type(array).dtype))

    def reshaped(self, array: Value, index: Index) -> Value:
        """A contiguous array with an axis for each group of loops."""
        b, type = self.b, array.type
        assert isinstance(type, Array)
        if type.layout != "C":
            general = Array(type.dtype, type.ndim, "C", type.writable)
            array = b.op("view", array, type=general, spec=":" * type.ndim)
        lengths: list[Value] = []
        for axis, at in enumerate(index):
            if axis and isinstance(at, int) and index[axis - 1] == at:
                lengths[-1] = self.lengths[at]
            else:
                lengths.append(b.op("dim", array, axis=axis) if not isinstance(at, int) else self.lengths[at])
        if len(lengths) == type.ndim:
            return array
        return b.op("reshape", array, *lengths, type=Array(type.dtype, len(lengths), "C", type.writable))

    def block(self, name: str, *params: Value) -> Block:
        block = Block(name, list(params))
        self.function.blocks.insert(self.at, block)
        self.at += 1
        return block

    def zeros(self) -> list[Value]:
        results = self.callee.results[len(self.modes) :]
        return [identity(kind, t) for kind, t in zip(self.kinds, results, strict=True) if isinstance(t, Scalar)]

    # ------------------------------------------------------------------------------------ one element

    def position(self, v: Value, indices: Sequence[Value]) -> list[Value]:
        return [self.at_index(i, indices) for i in self.accesses[v].index]

    def at_index(self, i: int | From | Value, indices: Sequence[Value]) -> Value:
        if isinstance(i, From):
            return self.b.arith("sub" if i.back else "add", i.start, indices[i.loop])
        return indices[i] if isinstance(i, int) else i

    def computed(self, indices: Sequence[Value]) -> list[Value]:
        """What the function gives for the elements at one index."""
        return self.inlined([self.given(v, indices) for v in self.apply.operands[len(self.modes) :]])

    def given(self, v: Value, indices: Sequence[Value]) -> Value:
        """What the function takes of an operand, for the elements at one index."""
        if v not in self.accesses:
            return v
        array = self.accesses[v].array
        return self.b.op("load", array, *self.position(v, indices)) if isinstance(array.type, Array) else array

    def element(self, indices: Sequence[Value], held: Sequence[int] = ()) -> list[Value]:
        """Emit the work on the elements at one index; gives the terms of what is held in registers, then those of the
        results."""
        count = len(self.modes)
        results = self.computed(indices)
        for k, (mode, value) in enumerate(zip(self.modes, results, strict=False)):
            if k not in held:
                self.put(k, mode, [value], indices)
        return [results[k] for k in held] + results[count:]

    def put(self, k: int, mode: str, values: list[Value], indices: Sequence[Value]) -> None:
        b, v = self.b, self.apply.operands[k]
        array, at = self.accesses[v].array, self.position(v, indices)
        if mode == "set" or len(values) == 1 and k in self.set_once:
            b.emit("store", array, values[-1], *at)
        elif mode == "add" and len(values) == 1:
            b.emit("accum", array, values[0], *at)
        else:
            value = b.op("load", array, *at)
            for term in values:
                value = combine(b, mode, value, term)
            b.emit("store", array, value, *at)

    def inlined(self, given: list[Value]) -> list[Value]:
        """The body of the function for these arguments."""
        b = self.b
        body = clone_blocks(self.callee.blocks, {})
        if len(body) == 1 and body[0].terminator.op == "return":  # (one that always raises ends otherwise)
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

    # ------------------------------------------------------------------------------- functions of their own

    def reached(
        self, indices: Sequence[Value] = (), lengths: Sequence[Value] = (), held: Sequence[int] = ()
    ) -> list[Value]:
        """The values that the loops of these lengths inside of these counters need, but for what is held in registers."""
        operands = [v for k, v in enumerate(self.apply.operands) if k not in held]
        accesses = [self.accesses[v] for v in operands if v in self.accesses]
        found = [v for loop, v in enumerate(indices) if any(a.moves(loop) for a in accesses)]
        for v in operands:
            found += self.accesses[v].values() if v in self.accesses else [v]
        return list(dict.fromkeys(v for v in [*found, *lengths] if not isinstance(v, Const)))

    def part(
        self,
        what: str,
        results: Sequence[Type],
        operands: Sequence[Value],
        attrs: dict[str, Any],
        write: Callable[[Expansion], None],
        *,
        indices: Sequence[Value] = (),
        held: Sequence[int] = (),
        more: Hashable = None,
    ) -> Function:
        """The function that takes these values for a part of the work: the one that there is, or a new one, which `write` writes.
        `more`: on what that depends besides."""
        key = what, more, tuple(results), tuple(attrs.items()), self.wanted(operands, indices, held)
        function = self.parts.get(key)
        if function is None:
            function = Function(self.module.unique_name(f"{self.callee.name}.{what}"), [Block("entry")], tuple(results))
            function.attrs |= {"shallow": True, **returns(self.callee), **attrs}
            self.module.add(function)
            function.entry.params = [Value(v.type, v.name) for v in operands]
            params = dict(zip(operands, function.entry.params, strict=True))
            write(self.inside(function, lambda v: params.get(v, v)))
            self.parts[key] = function
        return function

    def wanted(self, operands: Sequence[Value], indices: Sequence[Value], held: Sequence[int]) -> Hashable:
        """All that the loops inside of these counters depend on, with values by their places among the operands."""
        numbers = {v: n for n, v in enumerate(operands)}
        number = lambda v: constant_key(v) if isinstance(v, Const) else numbers.get(v)

        def place(i: int | From | Value) -> Hashable:
            if isinstance(i, From):
                return i.loop, number(i.start), i.back
            return i if isinstance(i, int) else (number(i),)

        def reached(k: int, v: Value) -> Hashable:
            if k in held:
                return None
            access = self.accesses.get(v)
            return number(v) if access is None else (number(access.array), *map(place, access.index))

        quiet = all(i.op in SILENT for _, i in self.callee.instructions())
        return (
            self.callee,
            tuple(self.apply.attrs.items()),
            None if quiet else self.b.position,
            (self.contiguous, self.tiny, self.vectors, self.outlined, self.apart, frozenset(self.set_once)),
            tuple(v.type for v in operands),
            tuple(reached(k, v) for k, v in enumerate(self.apply.operands)),
            tuple(map(number, self.lengths)),
            tuple(map(number, indices)),
            tuple(held),
        )

    def inside(self, function: Function, replace: Callable[[Value], Value]) -> Expansion:
        """What writes such a part, whose values stand for those here."""
        e = Expansion.__new__(Expansion)
        e.module, e.function, e.callee, e.parts = self.module, function, self.callee, self.parts
        e.modes, e.kinds, e.neighbours = self.modes, self.kinds, self.neighbours
        e.views = self.views.with_confined(e.function.params[n] for n in function.attrs.get("noalias", ()))
        operands = [v if v in self.accesses else replace(v) for v in self.apply.operands]
        e.apply = Instr("apply", operands, self.apply.results, self.apply.attrs)
        e.contiguous, e.tiny, e.vectors, e.outlined = self.contiguous, self.tiny, self.vectors, self.outlined
        e.lengths = list(map(replace, self.lengths))
        e.apart, e.set_once = self.apart, self.set_once
        e.accesses = {v: a.replaced(replace) for v, a in self.accesses.items()}
        e.at = 1
        e.b = Builder(function, function.entry)
        e.b.position = self.b.position
        return e

    def alone(self, operands: Sequence[Value], held: Sequence[int] = ()) -> tuple[int, ...]:
        """Which of the operands of a function are written, and overlap no other."""
        arrays = [v for v in operands if isinstance(v.type, Array)]
        outs = {self.accesses[v].array for k, v in enumerate(self.apply.operands[: len(self.modes)]) if k not in held}
        return tuple(n for n, v in enumerate(operands) if v in outs and self.views.alone(v, arrays))

    def loops(self) -> list[Value]:
        """All loops; gives the results."""
        if not self.outlined or len(self.lengths) < 2 and self.contiguous:
            return self.nest([], self.zeros())
        operands = self.reached(lengths=self.lengths)
        attrs = {"shared": True, "elements": True, "noalias": self.alone(operands)}
        results = [v.type for v in self.apply.results]
        function = self.part("nest", results, operands, attrs, lambda e: e.b.ret(*e.nest([], e.zeros())))
        return list(self.b.emit("call", *operands, types=function.results, callee=function.name))

    def independent(self, indices: Sequence[Value], body: Body) -> None:
        """The innermost loop, of iterations that may be done at once: in the lanes of vectors by a function of its own."""
        if self.contiguous and self.in_lanes():
            self.each(indices, body)
        elif not self.rows_in_lanes(indices, body):
            _loop(self, list(indices), body)

    def rows_in_lanes(self, indices: Sequence[Value], body: Body) -> bool:
        """The same where arrays are not contiguous, but each of their rows may be, as in slices of them."""
        b, last, whole = self.b, len(self.lengths) - 1, self.accesses
        moved = [a for a in whole.values() if a.moves(last)]
        if self.contiguous or not indices or any(len(a.index) > 1 for a in moved) or not self.in_lanes():
            return False
        rows = {a.array: array_type(a.array) for a in moved}
        tests = [
            b.op("eq", b.op("stride", row, axis=0), const(_SIZES[str(type_.dtype)]))
            for row, type_ in rows.items() if type_.layout != "C"
        ]  # fmt: skip
        together, after = self.block("together"), Block("after")
        if tests:
            holds = tests[0]
            for test in tests[1:]:
                holds = b.op("and", holds, test)
            apart = self.block("apart")
            b.branch(holds, together, apart)
            b.at(apart)
            _loop(self, list(indices), body)
            b.jump(after)
        else:
            b.jump(together)
        b.at(together)
        flat = {
            row: b.op("view", row, type=Array(t.dtype, 1, "C", t.writable), spec=":") if t.layout != "C" else row
            for row, t in rows.items()
        }
        self.contiguous = True
        self.accesses = {v: a._replace(array=flat.get(a.array, a.array)) for v, a in whole.items()}
        self.each(indices, body)
        self.contiguous, self.accesses = False, whole
        b.jump(after)
        self.function.blocks.insert(self.at, after)
        self.at += 1
        b.at(after)
        return True

    def each(self, indices: Sequence[Value], body: Body) -> None:
        """The innermost loop, in lanes."""
        operands = self.reached(indices, self.lengths[-1:])

        def write(e: Expansion) -> None:
            # (A counter of a loop in which no array moves does not matter there.)
            params = dict(zip(operands, e.function.entry.params, strict=True))
            outer = [v if isinstance(v, Const) else params.get(v, const(0)) for v in indices]
            _loop(e, outer, body, plain=True)
            e.b.ret()

        attrs = {"shared": True, "elements": True, "each": LANES}
        function = self.part("each", (), operands, attrs, write, indices=indices, more=body.__code__)
        self.b.emit("call", *operands, types=(), callee=function.name)

    def in_lanes(self) -> bool:
        """Whether the innermost loop is one in lanes: it goes through elements behind each other, and what it writes overlaps nothing
        in another way than element by element."""
        from .pairwise import in_lanes

        if not (self.outlined and self.vectors and in_lanes(self.callee, functions=True)):
            return False
        last = len(self.lengths) - 1
        outs = [self.accesses[v] for v in self.apply.operands[: len(self.modes)]]
        # Where all are added to, they may overlap one another in any way: what is added is read from none of them, and a vector is
        # loaded, added to and stored before the next one is. (Where they do overlap, what comes to an element is added in another
        # order than element by element: the last place of a sum may be another one.)
        return (
            _ELEMENTWISE.issuperset(self.modes)
            and (self.apart or len(outs) == 1 or {*self.modes} == {"add"})
            and all(a.runs_along(last) for a in outs)
        )

    # ------------------------------------------------------------------------------------------- loops

    def nest(self, indices: list[Value], totals: list[Value]) -> list[Value]:
        """Loops from the len(indices)-th on; gives the results."""
        depth, b = len(indices), self.b
        if depth == len(self.lengths):
            terms = self.element(indices)
            return [combine(b, kind, t, x) for kind, t, x in zip(self.kinds, totals, terms, strict=True)]
        if depth == len(self.lengths) - 1:
            return self.row(indices, totals)
        if depth == len(self.lengths) - 2 and self.takes_several_rows(depth):
            whole = b.arith("sub", self.lengths[depth], b.op("and", self.lengths[depth], const(_ROWS - 1)))
            self.loop(const(0), whole, [], lambda i, _: self.rows(indices, i), step=_ROWS)
            self.loop(whole, self.lengths[depth], [], lambda i, _: self.nest([*indices, i], []))
            return totals
        return self.loop(const(0), self.lengths[depth], totals, lambda i, running: self.nest([*indices, i], running))

    def row(self, indices: list[Value], totals: list[Value]) -> list[Value]:
        """The innermost loop."""
        whole = self.accesses
        if indices and (self.outlined or not self.contiguous):  # (functions of rows are those of whole arrays)
            self.accesses = {v: self.access_in_row(a, indices) for v, a in whole.items()}
            self.load_what_stays(indices)
        results = self.innermost(indices, totals)
        self.accesses = whole
        return results

    def access_in_row(self, access: Access, indices: list[Value]) -> Access:
        """The same elements by a view of what the innermost loop goes through: where that is, is found once."""
        array, depth = access.array, len(indices)
        inner = [i == depth if type(i) is int else isinstance(i, From) and i.loop == depth for i in access.index]
        if inner.count(True) != 1 or len(inner) == 1:
            return access
        type_ = array_type(array)
        fixed = [self.at_index(i, indices) for i, moves in zip(access.index, inner, strict=True) if not moves]
        spec = "".join(":" if moves else "i" for moves in inner)
        layout = "C" if type_.layout == "C" and inner[-1] else "A"
        if self.contiguous and layout != "C":
            return access
        row = self.b.op("view", array, *fixed, type=Array(type_.dtype, 1, layout, type_.writable), spec=spec)
        assert self.b.block is not None
        self.views.add(self.b.block.instrs[-1:])
        return Access(row, tuple(i for i, moves in zip(access.index, inner, strict=True) if moves))

    def load_what_stays(self, indices: list[Value]) -> None:
        """Elements that the innermost loop reads again and again, and does not change, become numbers."""
        if not self.apart:
            return
        outs = self.apply.operands[: len(self.modes)]
        for v in dict.fromkeys(self.apply.operands[len(self.modes) :]):
            if v in self.accesses and v not in outs and not self.accesses[v].moves(len(indices)):
                loaded = self.b.op("load", self.accesses[v].array, *self.position(v, indices))
                self.accesses[v] = Access(loaded, ())

    def innermost(self, indices: list[Value], totals: list[Value]) -> list[Value]:
        b, depth = self.b, len(indices)
        held = [
            k for k, mode in enumerate(self.modes)
            if mode != "set" and not self.accesses[self.apply.operands[k]].moves(depth)
        ]  # fmt: skip
        kinds = [*(self.modes[k] for k in held), *self.kinds]
        results = [*(self.callee.results[k] for k in held), *(t.type for t in totals)]
        types = [t for t in results if isinstance(t, Scalar)]
        if self.neighbours or any(kind == "add" and t.kind == "f" for kind, t in zip(kinds, types, strict=True)):
            from .pairwise import pairwise

            sums = pairwise(self, indices, held, kinds)
        elif not kinds:
            self.independent(indices, lambda e, outer, i: e.element([*outer, i]))
            sums = []
        else:
            sums = self.reduced(indices, held, [Running(kind, t) for kind, t in zip(kinds, types, strict=True)])
        for k, total in zip(held, sums, strict=False):
            self.put(k, self.modes[k], [total], [*indices, const(0)])
        rest = zip(self.kinds, totals, sums[len(held) :], strict=True)
        return [combine(b, kind, t, x) for kind, t, x in rest]

    def reduced(self, indices: list[Value], held: list[int], reductions: list[Running]) -> list[Value]:
        """What the terms of the innermost loop come to, in any order."""
        b = self.b

        def parts(carried: list[Value]) -> list[list[Value]]:
            left = iter(carried)
            return [[next(left) for _ in r.start()] for r in reductions]

        def step(i: Value, carried: list[Value]) -> list[Value]:
            terms = self.element([*indices, i], held)
            return [v for r, own, x in zip(reductions, parts(carried), terms, strict=True) for v in r.step(b, own, x)]

        ends = self.loop(const(0), self.lengths[-1], [v for r in reductions for v in r.start()], step)
        return [r.result(b, own) for r, own in zip(reductions, parts(ends), strict=True)]

    def takes_several_rows(self, depth: int) -> bool:
        """Whether rows are reduced into one, by a small function."""
        if self.kinds or len(self.callee.blocks) > 1 or len(self.callee.entry.instrs) > _SMALL:
            return False
        # What is written to the rows themselves would be several rows of one array, which LLVM takes to overlap.
        outs = [self.accesses[v] for v in self.apply.operands[: len(self.modes)]]
        return bool(outs) and all(not a.moves(depth) and a.moves(depth + 1) for a in outs) and "set" not in self.modes

    def rows(self, indices: list[Value], first: Value) -> list[Value]:
        """The innermost loop for several rows at once."""

        def column(e: Expansion, outer: list[Value], j: Value) -> list[Value]:
            counters = [e.b.arith("add", outer[-1], const(k)) for k in range(_ROWS)]
            given = [e.computed([*outer[:-1], i, j]) for i in counters]
            for k, mode in enumerate(e.modes):
                e.put(k, mode, [results[k] for results in given], [*outer, j])
            return []

        self.independent([*indices, first], column)
        return []

    def loop(
        self,
        start: Value,
        stop: Value,
        totals: list[Value],
        body: Callable[[Value, list[Value]], list[Value]],
        step: int = 1,
        plain: bool = False,
    ) -> list[Value]:
        """for i in range(start, stop, step), carrying sums; control is behind it afterwards. `plain`: vectors are of no use."""
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
        # A sum waits for the one before: several at a time are quicker unless the function takes longer than that. Where it
        # takes mathematical functions, what is left over is worth shorter vectors too.
        instrs = self.callee.entry.instrs
        large = len(self.callee.blocks) > 1 or len(instrs) > (_SMALL if totals else self.tiny)
        large &= not totals or not any(i.attrs.get("vectormath") for i in instrs)
        kind = "plain" if plain or not self.contiguous else "large" if large else "small"
        b.jump(head, b.op("add", i, const(step), nsw=True), *following, elements=kind)
        self.function.blocks.insert(self.at, done)
        self.at += 1
        b.at(done)
        return ends


Body = FunctionType  # what is done for a counter, inside of others: (Expansion, list[Value], Value) -> list[Value]


def _loop(e: Expansion, indices: list[Value], body: Body, plain: bool = False) -> None:
    """The innermost loop, which carries nothing."""
    e.loop(const(0), e.lengths[-1], [], lambda i, _: body(e, indices, i), plain=plain)


def _plain(v: Value) -> Access:
    return Access(v, tuple(range(array_type(v).ndim)))
