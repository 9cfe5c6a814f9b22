"""Checkpointed loops: `for i in zyg.checkpointed(range(n), every=k)`.

Input: functions with a `checkpoint` instruction in the head of each such loop.  Output: the body of the loop is a function
of its own, the *segment*, and calls of it bear the attribute "checkpoint": the adjoint pass keeps what such a call starts
from, nothing of what happens inside, and runs it again in the reverse part.  SSA form makes explicit what that is: the
parameters of the loop's head and what the loop uses from outside; arrays that it writes are kept as copies.

* `every`: the segment is the loop for that many iterations.  What is left of the loop calls it until the loop is done.
* `snapshots`: binomial checkpointing (Griewank and Walther, Algorithm 799: revolve, 2000) is the recursion

      run(state, n, s):  one iteration if n == 1, else
                         state = run(state, m, s)           # checkpointed
                         run(state, n - m, s - 1)           # where m = split(n, s)

  The reverse part of a call of `run` with s snapshots has at most s states at a time, and the split is the one for which
  the fewest iterations are computed again.
"""

from __future__ import annotations

from typing import Any

from zyg.ir.analysis import Dominators, Loop, Loops
from zyg.ir.builder import Builder
from zyg.ir.core import Block, Const, Function, Instr, Module, Target, Value, clone_blocks, const, map_uses, uses
from zyg.ir.ops import VIEWS
from zyg.ir.parsing import parse_function
from zyg.ir.passes import loop_simplify
from zyg.ir.types import I64, Array, Scalar

GO_ON = const(0)  # the status of a segment that may be followed by another; those above tell by which exit it left


def outline(module: Module, root: str) -> None:
    """Outline the checkpointed loops of `root` and of all that it calls."""
    seen: set[str] = set()
    work = [root]
    while work:
        name = work.pop()
        if name in seen:
            continue
        seen.add(name)
        function = module.functions[name]
        while (marked := _innermost(function)) is not None:
            loop, marker = marked
            _Outliner(module, function, loop, marker).run()
        work.extend(i.attrs["callee"] for _, i in function.instructions() if i.op == "call")


def _innermost(function: Function) -> tuple[Loop, Instr] | None:
    """The innermost loop that is to be checkpointed; marks that no loop fits are taken out."""
    if not any(i.op == "checkpoint" for _, i in function.instructions()):
        return None
    loop_simplify.run(function)
    loops = Loops(function)
    found: list[tuple[int, Loop, Instr]] = []
    for block in function.blocks:
        for instr in [i for i in block.instrs if i.op == "checkpoint"]:
            loop = loops.of.get(block)
            if loop is not None and _can_outline(loop, instr):
                found.append((loop.depth, loop, instr))
            else:
                block.instrs.remove(instr)
    if not found:
        return None
    _, loop, marker = max(found, key=lambda entry: entry[0])
    return loop, marker


def _can_outline(loop: Loop, marker: Instr) -> bool:
    """Whether the loop is one that its iterable controls, and all that crosses its border is numbers and arrays."""
    if loop.preheader is None or loop.latch is None or any(b.handler is not None for b in loop.blocks):
        return False
    inside = _defined(loop)
    if any(v in inside for v in marker.operands):
        return False
    crossing = [v for b in loop.blocks for i in b.instrs for v in uses(i) if v not in inside]
    return all(isinstance(v, Const) or isinstance(v.type, (Scalar, Array)) for v in [*crossing, *loop.header.params])


def _defined(loop: Loop) -> set[Value]:
    result: set[Value] = set()
    for block in loop.blocks:
        result.update(block.params)
        for instr in block.instrs:
            result.update(instr.results)
    return result


class _Outliner:
    """Puts a call of the segment in place of one loop."""

    def __init__(self, module: Module, function: Function, loop: Loop, marker: Instr):
        self.module = module
        self.function = function
        self.loop = loop
        self.marker = marker
        self.position = marker.position
        loop.header.instrs[:] = [i for i in loop.header.instrs if i is not marker]
        for block in loop.blocks:
            block.instrs[:] = [i for i in block.instrs if i is not marker]
        self.blocks = [b for b in function.blocks if b in loop.blocks]
        self._take_views_inside()
        self.dominators = Dominators(function)
        self.inside = _defined(loop)
        self.home = {v: b for b in self.blocks for v in b.params} | {
            v: b for b in self.blocks for i in b.instrs for v in i.results
        }
        self.live_in = list(dict.fromkeys(v for b in self.blocks for i in b.instrs for v in uses(i)
                                          if v not in self.inside and not isinstance(v, Const)))  # fmt: skip
        self.exits = [(source, target) for source in self.blocks for target in source.successors()
                      if target.block not in loop.blocks]  # fmt: skip
        outside = [b for b in function.blocks if b not in loop.blocks]
        used = [v for b in outside for i in b.instrs for v in uses(i)] + [a for _, t in self.exits for a in t.args]
        self.live_out = list(dict.fromkeys(v for v in used if v in self.inside))
        self.carried = loop.header.params
        types = [I64, *(v.type for v in self.carried), *(v.type for v in self.live_out)]
        self.types = tuple(types)

    def run(self) -> None:
        segment = self._segment()
        if self.marker.attrs["kind"] == "every":
            self._replace(segment, self.marker.operands, {"checkpoint": True})
        else:
            self._replace(self._recursion(segment), self.marker.operands, {})

    def _take_views_inside(self) -> None:
        """Views that are made outside of the loop of memory that it writes are made inside: copies of an array and of a
        view of it would be apart."""
        written = {"store", "accum", "fill", "copyto", "addto", "apply", "call", "pycall", "foreign"}
        if not any(i.op in written for b in self.blocks for i in b.instrs):
            return
        definition = {r: i for b in self.function.blocks for i in b.instrs for r in i.results}
        inside = _defined(self.loop)
        made: dict[Value, Value] = {}
        instrs: list[Instr] = []

        def remake(v: Value) -> Value:
            instr = definition.get(v)
            if v in inside or instr is None or instr.op not in VIEWS:
                return v
            if v not in made:
                base, *rest = instr.operands
                made[v] = Value(v.type, v.name)
                copy = Instr(instr.op, [remake(base), *rest], [made[v]], dict(instr.attrs), [], instr.position)
                instrs.append(copy)
            return made[v]

        for block in self.blocks:
            for instr in block.instrs:
                for v in uses(instr):
                    if isinstance(v.type, Array):
                        remake(v)
        if not made:
            return
        for block in self.blocks:
            for instr in block.instrs:
                map_uses(instr, lambda v: made.get(v, v))
        self.loop.header.instrs[:0] = instrs

    def _segment(self) -> str:
        """The loop as a function of its state, what it uses from outside, and how many iterations to do at most: gives a
        status, the state afterwards, and the values that are used behind the loop."""
        function = Function(self.module.unique_name(f"{self.function.name}.segment"), [], self.types)
        function.attrs = dict(self.function.attrs)
        copies: dict[Value, Value] = {v: Value(v.type, v.name) for v in self.live_in}
        entry = Block("entry", [Value(v.type, v.name) for v in self.carried])
        limit, count = Value(I64, "iterations"), Value(I64, "done")
        start = list(entry.params)
        entry.params += [*copies.values(), limit]
        body = clone_blocks(self.blocks, copies)
        twin = dict(zip(self.blocks, body, strict=True))
        header = twin[self.loop.header]
        header.params.append(count)
        function.blocks = [entry, *body]
        b = Builder(function, entry)
        b.position = self.position
        b.jump(header, *start, const(0))
        state = [copies[v] for v in self.carried]
        for source in self.blocks:
            if source is self.loop.latch:
                for target in twin[source].successors():
                    if target.block is header:
                        self._limit(function, header, target, count, limit, copies)
        for number, (source, exit) in enumerate(self.exits, 1):
            target = next(
                t
                for t, original in zip(twin[source].successors(), source.successors(), strict=True)
                if original is exit
            )
            leave = Block(f"leave{number}")
            target.block, target.args = leave, []
            function.blocks.append(leave)
            b.at(leave)
            known = [v if self.dominators.dominates(self.home[v], source) else None for v in self.live_out]
            b.ret(const(number), *state, *(self._value(b, v, w, copies) for v, w in zip(known, self.live_out)))
        self.module.add(function)
        return function.name

    def _limit(
        self, function: Function, header: Block, target: Target, count: Value, limit: Value, copies: dict[Value, Value]
    ) -> None:
        """Behind an iteration: another one, unless these were enough."""
        again, enough = Block("again"), Block("enough")
        function.blocks += [again, enough]
        following = list(target.args)
        target.block, target.args = again, []
        b = Builder(function, again)
        b.position = self.position
        done = b.op("add", count, const(1), nsw=True)
        onward = [*following, done]
        b.branch(b.op("lt", done, limit), header, enough, onward, [])
        b.at(enough)
        b.ret(GO_ON, *following, *(self._value(b, None, v, copies) for v in self.live_out))

    def _value(self, b: Builder, v: Value | None, like: Value, copies: dict[Value, Value]) -> Value:
        """The copy of `v`; without it some value of the same type, which nobody looks at."""
        if v is not None:
            return copies[v]
        if isinstance(like.type, Scalar):
            return const(0, like.type)
        assert isinstance(like.type, Array)
        shape = [const(0)] * like.type.ndim
        nothing = b.op("alloc", *shape, type=Array(like.type.dtype, like.type.ndim, "C"), fill="empty")
        if nothing.type == like.type:
            return nothing
        return b.op("view", nothing, type=like.type, spec=":" * like.type.ndim)

    def _replace(self, callee: str, limits: list[Value], attrs: dict[str, Any]) -> None:
        """The loop becomes one around a call of `callee`."""
        function, loop = self.function, self.loop
        outer = Block(f"{loop.header.name}.segments", [Value(v.type, v.name) for v in self.carried])
        b = Builder(function, outer)
        b.position = self.position
        results = b.emit("call", *outer.params, *self.live_in, *limits, types=self.types, callee=callee, **attrs)
        status, after = results[0], results[1 : 1 + len(self.carried)]
        value = dict(zip(self.live_out, results[1 + len(self.carried) :], strict=True))
        leaving = [Target(t.block, [value.get(a, a) for a in t.args]) for _, t in self.exits]
        again = Target(outer, list(after))
        if len(leaving) == 1:
            more = b.op("eq", status, GO_ON)
            b.append(Instr("branch", [more], targets=[again, leaving[0]]))
        else:
            b.append(Instr("switch", [status], targets=[again, *leaving]))
        assert loop.preheader is not None
        for target in loop.preheader.successors():
            if target.block is loop.header:
                target.block = outer
        at = function.blocks.index(self.blocks[0])
        function.blocks[:] = [b for b in function.blocks if b not in loop.blocks]
        function.blocks.insert(min(at, len(function.blocks)), outer)
        for block in function.blocks:
            if block is not outer:
                for instr in block.instrs:
                    map_uses(instr, lambda v: value.get(v, v))

    def _recursion(self, segment: str) -> str:
        """The function `run` of the docstring."""
        split = _split(self.module)
        name = self.module.unique_name(f"{self.function.name}.binomial")
        function = self.module.add(Function(name, [], self.types))
        function.attrs = dict(self.function.attrs)
        state = [Value(v.type, v.name) for v in self.carried]
        given = [Value(v.type, v.name) for v in self.live_in]
        length, snapshots = Value(I64, "length"), Value(I64, "snapshots")
        b = Builder(function)
        b.position = self.position
        entry, one, several, rest, done = (b.new_block(n) for n in ("entry", "one", "several", "rest", "done"))
        entry.params = [*state, *given, length, snapshots]
        b.at(entry).branch(b.op("le", length, const(1)), one, several)
        b.at(one)
        b.ret(*b.emit("call", *state, *given, const(1), types=self.types, callee=segment))
        b.at(several)
        first = b.op("call", length, snapshots, type=I64, callee=split, name="first")
        left = b.emit("call", *state, *given, first, snapshots, types=self.types, callee=name, checkpoint=True)
        b.branch(b.op("eq", left[0], GO_ON), rest, done)
        b.at(rest)
        after = left[1 : 1 + len(state)]
        length_left = b.op("sub", length, first, nsw=True)
        fewer = b.op("sub", snapshots, const(1), nsw=True)
        b.ret(*b.emit("call", *after, *given, length_left, fewer, types=self.types, callee=name))
        b.at(done).ret(*left)
        return name


# beta(s, r) = (s + r)! / (s! r!) iterations can be reversed with s snapshots so that none is computed more than r times
# again.  With the smallest r for which that is enough, the first part may have as many as beta(s, r - 1) iterations, and
# the second beta(s - 1, r).
_SPLIT = """
func @zyg.split(%n: i64, %s: i64) -> i64 {
entry:
  jump grow(0, 1)
grow(%r: i64, %beta: i64):
  %enough = ge %beta, %n : bool
  branch %enough, found, more
more:
  %r.1 = add %r, 1 : i64
  %total = add %s, %r.1 : i64
  %product = mul %beta, %total : i64
  %beta.1 = floordiv %product, %r.1 : i64
  jump grow(%r.1, %beta.1)
found:
  %total.1 = add %s, %r : i64
  %shorter = mul %beta, %r : i64
  %most = floordiv %shorter, %total.1 : i64
  %less = sub %total.1, 1 : i64
  %second = mul %most, %s : i64
  %keep = floordiv %second, %less : i64
  %wanted = sub %n, %keep : i64
  %small = lt %wanted, %most : bool
  %first = select %small, %wanted, %most : i64
  %some = gt %first, 1 : bool
  %result = select %some, %first, 1 : i64
  return %result
}
"""


def _split(module: Module) -> str:
    """The function that says how many of n iterations to put into the first part."""
    if "zyg.split" not in module.functions:
        module.add(parse_function(_SPLIT.strip()))
    return "zyg.split"
