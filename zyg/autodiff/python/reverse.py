"""The reverse half: a block for each block of the function, and the edges the other way."""

from __future__ import annotations

from typing import Any

from zyg.ir.analysis import Loops
from zyg.ir.builder import Builder, Variables
from zyg.ir.core import Block, Const, Function, Instr, Target, Value, map_uses
from zyg.ir.types import I64, OBJECT, TAPE

from .. import objects
from ..objects import delegation
from ..objects.queries import TRUTHS
from ..used_later import UsedLater
from . import accesses, complexes, landing, rules
from .carrying import carried
from .forward import ForwardHalf, Saved, extra_operands
from .likely import holds_constants
from .normal import SUSPENDED, is_call_of
from .zeros import NOTHING, drop_zeros, is_nothing

_TAKE_CELL = Const(objects.Shadows.take_cell, OBJECT)
_ACCUMULATE = Const(objects.accumulate, OBJECT)
_JOINED = Const(objects.joined, OBJECT)
_JOINED_BY_NAME = Const(objects.joined_by_name, OBJECT)


class ReverseHalf:
    """Makes the reverse half of a forward half, and completes the forward half with what it keeps."""

    def __init__(self, forward: ForwardHalf):
        self.forward = forward
        self.activity = forward.activity
        self.function = Function(f"{forward.function.name}.rev", [], (OBJECT,))
        self.function.attrs = {
            k: v for k, v in forward.function.attrs.items() if k in ("name", "file", "line", "generator")
        }
        self.builder = Builder(self.function)
        self.cotangents: Variables[Value | tuple[Value, int | str]] = Variables(
            type_of=lambda v: OBJECT,
            initial=lambda v: NOTHING,
            name_of=lambda v: f"d_{v.name}" if isinstance(v, Value) and v.name else "",
            at_start=self._cotangent_at_start,
        )
        self.back, self.seed, self.shadows = (Value(OBJECT, name) for name in ("back", "d", "shadows"))
        self.tape, self.cursor = Value(TAPE, "tape"), Value(TAPE, "cursor")
        self.saved: dict[tuple[Value, Block], Saved] = {}
        self.lookups: dict[
            tuple[Value, str], list[Value]
        ] = {}  # per value, the object whose shadow was found last, and that
        self.bodies: dict[Block, Block] = {}  # where the reverse of a block begins
        self.tails: dict[Block, Block] = {}  # where it goes on to the blocks before
        self.current = forward.blocks[0]
        self.halfway: Block | None = None  # the block whose reverse is being made for a landing
        self.taken: dict[
            Block, dict[Value, Value]
        ] = {}  # per such block, values of it and what they are in its landing
        self.loops: Loops | None = None
        # Per value that may be a tuple, the numbers of the items that are read: these have cotangents of their own, which become
        # part of the tuple's where that is wanted.
        self.places: dict[Value, dict[int | str, None]] = {}
        for made, instr in forward.originals.items():
            if accesses.is_part(made, instr) and not self.activity.inert(instr.operands[0]):
                self.places.setdefault(instr.operands[0], {})[accesses.part_of(instr)] = None
        for instr, kind in forward.kinds.items():
            if kind == "part" and not self.activity.inert(instr.operands[0]):
                self.places.setdefault(instr.operands[0], {})[accesses.part_of(instr)] = None

    def run(self) -> Function:
        """The reverse half; the forward half pushes what it needs and returns its pullback."""
        forward = self.forward
        entry = self.builder.new_block("entry")
        entry.params = [self.back, self.seed, self.shadows]
        self.cotangents.sealed.add(entry)
        if not forward.live:  # the function always raises: this is never called
            self.builder.at(entry).ret(NOTHING)
            return self.function
        # An exception that comes out of a `yield` was thrown in after the item had been given; one that comes out of a generator that
        # was handed over to is undone with what that did before.
        entered_at_tail = {
            b
            for b in forward.blocks
            if b in forward.live and b.handler and b.handler.block in forward.live and b.instrs[0].op not in SUSPENDED
        }
        for block in forward.blocks:
            if block in forward.live:
                self.bodies[block] = self.tails[block] = self.builder.new_block(f"{block.name}.r")
                if block in entered_at_tail:
                    self.tails[block] = self.builder.new_block(f"{block.name}.not.r")
        self.reversed_by = {body: block for block, body in self.bodies.items()}
        self.used_later = self._used_later()
        self._start(entry)
        layout = [entry]
        # Per block those that come after it, as long as their reverses are not made.
        behind: dict[Block, set[Block]] = {}
        for block, edges in forward.edges.items():
            for source, _ in edges:
                if block in forward.live:
                    behind.setdefault(source, set()).add(block)
        for block in self._order():
            if not behind.get(block):  # what comes into a loop's reverse is known at the end
                self.cotangents.seal(self.bodies[block])
            for source, _ in forward.edges[block]:
                behind[source].discard(block)
            layout += dict.fromkeys([self.bodies[block], self.tails[block]])
            made = len(self.function.blocks)
            self._reverse_block(block)
            layout += self.function.blocks[made:]
        for block in [*self.bodies.values(), *self.tails.values()]:
            if block not in self.cotangents.sealed:
                self.cotangents.seal(block)
        self.function.blocks[:] = layout
        for block, taken in self.taken.items():
            landing.tell_so_far(block, list(taken))
        self._keep(entry)
        self.cotangents.finish(self.function.blocks)
        drop_zeros(self.function)
        return self.function

    def _start(self, entry: Block) -> None:
        """Where the reverse half begins: where the forward half was left."""
        forward, b = self.forward, self.builder.at(entry)
        if not forward.marked:
            assert forward.returning is not None
            b.jump(self.bodies[forward.returning])
        else:
            b.append(Instr("cursor", [self.tape], [self.cursor]))
            last = self.cursor
            if self._passes_marks:
                last = Value(TAPE, "last")
                b.append(Instr("cursor", [self.tape], [last]))
            (where,) = b.emit("pop", last, types=(I64,), name="where")
            b.switch(where, *[self.bodies[block] for block in forward.marked])
        for target in entry.terminator.targets:
            self.cotangents.add_edge(entry, target)

    def _order(self) -> list[Block]:
        """Live blocks, from the return backwards, those that come together after those that they come from."""
        forward = self.forward
        postorder: list[Block] = []
        seen: set[Block] = set()
        for root in forward.marked or [forward.returning]:
            if root is not None and root not in seen:
                seen.add(root)
                self._visit(root, seen, postorder)
        return postorder[::-1]

    def _visit(self, root: Block, seen: set[Block], postorder: list[Block]) -> None:
        forward = self.forward
        stack = [(root, iter([s for s, _ in forward.edges[root]]))]
        while stack:
            block, rest = stack[-1]
            for b in rest:
                if b not in seen:
                    seen.add(b)
                    stack.append((b, iter([s for s, _ in forward.edges[b]])))
                    break
            else:
                postorder.append(block)
                stack.pop()

    # --------------------------------------------------------------------------------------------- blocks

    def _reverse_block(self, block: Block) -> None:
        b = self.builder.at(self.bodies[block])
        self.current = block
        if block is self.forward.returning:
            self._add(block.terminator.operands[0], self.seed)
        completes = block.terminator.op not in ("raise", "reraise") or block in self.forward.marked
        for instr in reversed(block.instrs) if completes else ():
            b.position = instr.position
            self._reverse_instr(instr)
        b.position = block.instrs[0].position
        tail = self.tails[block]
        if tail is not self.bodies[block]:
            self._go(tail)
            if self.bodies[block] in self.cotangents.sealed:
                self.cotangents.seal(tail)
            b.at(tail)
        if block is self.forward.function.entry:
            b.ret(b.op("tuple", NOTHING, *[self._read(p) for p in self.forward.params]))
            return
        self._reverse_edges(block)

    def _go(self, target: Block) -> None:
        self.builder.jump(target)
        self.cotangents.add_edge(self._here, self._here.terminator.targets[0])

    def _reverse_edges(self, block: Block) -> None:
        """To the reverses of the blocks before, with the cotangents of the block's parameters."""
        b = self.builder
        came = self.forward.came.get(block)
        taken = {p: self._take(p) for p in block.params if p is not came and not self.activity.inert(p)}
        edges = self.forward.edges[block]
        if came is None:
            self._reverse_edge(block, *edges[0], taken)
            return
        ways = [b.new_block(f"{source.name}.to.{block.name}.r") for source, _ in edges]
        number = self._primal(came)
        if len(edges) == 2:
            b.branch(number, ways[1], ways[0])
        else:
            b.switch(number, *ways)
        for target in self._here.terminator.targets:
            self.cotangents.add_edge(self._here, target)
        for way, (source, target) in zip(ways, edges, strict=True):
            self.cotangents.seal(way)
            b.at(way)
            self._reverse_edge(block, source, target, taken)

    def _reverse_edge(self, block: Block, source: Block, target: Target, taken: dict[Value, Value]) -> None:
        raised = target is source.handler
        params = block.params[1:] if raised else block.params
        if source in self.forward.landings and raised:
            self._reverse_halfway(block, source)
            params = []
        elif raised and block in self.forward.taken:
            self._reverse_raised(block, source)
            for instr in reversed(source.instrs):  # the other operations of such a block carry nothing
                if self.forward.kinds.get(instr) == "global":
                    self._reverse_global(instr)
        for p, arg in zip(params, target.args, strict=True):
            if p in taken:
                self._add(arg, taken[p])
        self._go(self.tails[source] if raised else self.bodies[source])

    def _reverse_raised(self, handler: Block, source: Block) -> None:
        """What the instruction did that raised: the callee has left its pullback."""
        instr = next((i for i in source.instrs if self.forward.kinds.get(i) == "record"), None)
        if instr is None and self.forward.stepped.isdisjoint(source.instrs):
            return
        if instr is None:  # a step of a loop: what it did before it raised
            operands = [self._primal(self.forward.taken[handler]), NOTHING, self.shadows]
            self.builder.emit("pull", *operands, types=(), of="raised", wanted=())
            return
        self._reverse_raised_in(handler, self.forward.originals[instr])

    def _reverse_raised_in(self, handler: Block, original: Instr) -> None:
        operands = [self._primal(self.forward.taken[handler]), NOTHING, self.shadows]
        wanted = self._wanted(original)
        parts = self.builder.emit("pull", *operands, types=(OBJECT,) * len(wanted), of="raised", wanted=tuple(wanted))
        self._spread(original, wanted, parts)

    def _reverse_halfway(self, handler: Block, source: Block) -> None:
        """What the operations of a block did that an exception left halfway: the one that raised, then those before."""
        forward, b = self.forward, self.builder
        done = [i for i in source.instrs if landing.is_undone(forward.originals.get(i, i))]
        recorded = [i for i in source.instrs if i in forward.originals]
        place = Value(I64, "place")
        handler.params.append(place)
        forward.home[place] = handler
        self.taken[source] = {}
        if recorded:
            after = b.new_block(f"{source.name}.halfway.r")
            ways = [b.new_block(f"{source.name}.{k}.raised.r") for k in range(len(recorded))]
            b.switch(self._primal(place), *ways)
            for target in self._here.terminator.targets:
                self.cotangents.add_edge(self._here, target)
            for k, (way, made) in enumerate(zip(ways, recorded, strict=True)):
                made.attrs["place"] = k
                self.cotangents.seal(way)
                b.at(way)
                self._reverse_raised_in(handler, forward.originals[made])
                self._go(after)
            self.cotangents.seal(after)
            b.at(after)
        self.halfway = source
        for instr in reversed(done):
            self._reverse_instr(instr)
        self.halfway = None

    # ---- cotangents

    def _used_later(self) -> UsedLater:
        """What `_reverse_instr` and `_reverse_edge` may add to is used: operands, of what is recorded those of the original."""
        forward = self.forward
        following: dict[Block, list[Block]] = {}
        passed: dict[Block, list[Value]] = {}
        for block in forward.blocks:
            for source, target in forward.edges[block] if block in forward.live else ():
                following.setdefault(source, []).append(block)
                passed.setdefault(source, []).extend(target.args)

        def both(block: Block) -> list[Instr]:
            return [*block.instrs, *(forward.originals[i] for i in block.instrs if i in forward.originals)]

        return UsedLater(
            [block for block in reversed(forward.dominators.order) if block in forward.live],
            following=lambda block: following.get(block, ()),
            passed=lambda block: passed.get(block, ()),
            used=lambda block: [v for i in both(block) for v in i.operands],
            defined=lambda block: [*block.params, *(r for i in both(block) for r in i.results)],
        )

    def _cotangent_at_start(self, reverse: Block, v: Value | tuple[Value, int | str]) -> Value | None:
        """Nothing, if nothing can have been added to the cotangent of `v` (or an item of it) when the reverse of a block begins."""
        block = self.reversed_by.get(reverse)
        if block is None or self.used_later(v[0] if isinstance(v, tuple) else v, block):
            return None
        return NOTHING

    @property
    def _here(self) -> Block:
        assert self.builder.block is not None
        return self.builder.block

    def _read(self, v: Value) -> Value:
        if v in self.places:
            self._join(v)
        return self.cotangents.read(self._here, v)

    def _join(self, v: Value) -> None:
        """The cotangents of items become part of that of the tuple."""
        places = sorted(self.places[v], key=lambda at: (type(at) is str, at))
        parts = [self.cotangents.read(self._here, (v, at)) for at in places]
        if all(map(is_nothing, parts)):
            return
        for at in places:
            self.cotangents.write(self._here, (v, at), NOTHING)
        old = self.cotangents.read(self._here, v)
        function = _JOINED if all(type(at) is int for at in places) else _JOINED_BY_NAME
        operands = [function, old, self._primal(v), Const(tuple(places), OBJECT), *parts]
        (new,) = self.builder.emit("join", *operands, types=(OBJECT,))
        self.cotangents.write(self._here, v, new)

    def _add_item(self, v: Value, at: int | str, component: Value) -> None:
        """Add to the cotangent of an item, or a field, if `v` is a tuple: else the component is None."""
        key = v, at
        old = self.cotangents.read(self._here, key)
        if not is_nothing(old):
            operands = [_ACCUMULATE, old, component]
            (component,) = self.builder.emit("accumulate", *operands, types=(OBJECT,), numbers=False)
        self.cotangents.write(self._here, key, component)

    def _take(self, v: Value) -> Value:
        """The cotangent of `v`, which is thereby used up: where control comes again, it starts from zero."""
        d = self._read(v)
        self.cotangents.write(self._here, v, NOTHING)
        return d

    def _add(self, v: Value, contribution: Value, rare: Value | None = None) -> None:
        """Add to the cotangent of `v`; where `rare` is None, that is a number."""
        if self.activity.inert(v) or is_nothing(contribution):
            return
        old = self.cotangents.read(self._here, v)  # without those of items, which come to it later
        operands: list[Value] = (
            [old, contribution] if rare is None or self.activity.number(v) else [old, contribution, rare]
        )
        new = contribution
        if not is_nothing(old):
            operands = [_ACCUMULATE, *operands]
            attrs: dict[str, Any] = {"brief": True} if self.forward.brief else {}
            if v in self.forward.complex:
                attrs["complex"] = True
            numbers = self.activity.number(v)
            (new,) = self.builder.emit("accumulate", *operands, types=(OBJECT,), numbers=numbers, **attrs)
        if not isinstance(new, Const) and not new.name and v.name:
            new.name = f"d_{v.name}"
        self.cotangents.write(self._here, v, new)

    def _primal(self, v: Value) -> Value:
        """A value of the forward half."""
        if isinstance(v, Const):
            return v
        if self.halfway is not None and self.forward.home.get(v) is self.halfway:
            v = self._taken_by_landing(v, self.halfway)
        key = (v, self.current)
        if key not in self.saved:
            self.saved[key] = Saved(v, self.current)
        return self.saved[key]

    def _taken_by_landing(self, v: Value, block: Block) -> Value:
        """A value of a block that was left halfway, if it had been computed."""
        taken = self.taken[block]
        if v not in taken:
            handler = self.forward.landings[block]
            taken[v] = Value(v.type)
            handler.params.append(taken[v])
            self.forward.home[taken[v]] = handler
        return taken[v]

    def _looked_up(self, v: Value, kind: str) -> list[Value]:
        """For accesses to the objects that `v` is: variables with the last of them, and its shadow."""
        if isinstance(v, Const):
            kind = f"{kind} of {id(v.value)}"
            v = NOTHING
        if (v, kind) not in self.lookups:
            self.lookups[v, kind] = [Value(OBJECT), Value(OBJECT)]
        return self.lookups[v, kind]

    # ------------------------------------------------------------------------------------------ instructions

    def _reverse_instr(self, instr: Instr) -> None:
        kind = self.forward.kinds[instr]
        if kind == "none":
            return
        getattr(self, f"_reverse_{kind}")(instr)

    def _wanted(self, instr: Instr) -> list[int]:
        return [k for k, v in enumerate(instr.operands) if not self.activity.inert(v)]

    def _spread(self, instr: Instr, wanted: list[int], parts: list[Value], rare: Value | None = None) -> None:
        for k, part in zip(wanted, parts, strict=True):
            self._add(instr.operands[k], part, rare)

    def _cotangent_of_results(self, results: list[Value], together: bool = False) -> Value:
        """One result: its cotangent; several (`together`, if they are by the op's nature): the tuple of theirs."""
        ds = [NOTHING if self.activity.inert(r) else self._take(r) for r in results]
        if not ds and not together:
            return NOTHING
        return ds[0] if len(ds) == 1 and not together else self.builder.op("tuple", *ds)

    def _parts_of(self, d: Value) -> list[Value]:
        """The cotangents that a tuple of them was made of."""
        return next(list(i.operands) for i in reversed(self._here.instrs) if i.results == [d])

    def _reverse_copy(self, instr: Instr) -> None:
        self._add(instr.operands[0], self._take(instr.result))

    @property
    def _passes_marks(self) -> bool:
        """Whether more marks may be met than the one at which the reverse half starts: a generator is resumed."""
        return bool(self.function.attrs.get("generator"))

    def _reverse_mark(self, instr: Instr) -> None:
        if self._passes_marks:
            self.builder.emit("pop", self.cursor, types=(I64,))

    def _reverse_yield(self, instr: Instr) -> None:
        """Where a generator gave a value, its reverse gets the cotangent of that."""
        d = self.builder.op("yield", self._cotangent_of_results(instr.results))
        self._add(instr.operands[0], d)

    def _reverse_yield_from(self, instr: Instr) -> None:
        """Where a generator gave the items of another one: their cotangents go to the reverse of that."""
        b = self.builder
        (handed,) = next(i.results for i in self.forward.function.entry.instrs if is_call_of(i, delegation.handed_over))
        operands = [self._primal(handed), self._cotangent_of_results(instr.results), self.shadows]
        steps = b.op("call_object", Const(delegation.undo, OBJECT), *operands, keywords=())
        operands[1] = b.op("yield_from", steps)
        b.op("call_object", Const(delegation.is_undone, OBJECT), *operands, keywords=())

    def _reverse_item(self, instr: Instr) -> None:
        *items, back = instr.results
        ds = [NOTHING if self.activity.inert(item) else self._take(item) for item in items]
        if "apart" not in instr.attrs:
            (d,) = ds
        else:  # (None if all are)
            (d,) = self.builder.emit("parts", *ds, types=(OBJECT,))
        whole = instr.operands[1]
        operands = [self._primal(back), d, self.shadows, self._primal(whole), NOTHING, NOTHING]
        operands += self._looked_up(whole, "items")
        attrs = {"of": "item", "wanted": (), "access": "get_next", **instr.attrs}
        self.builder.emit("pull", *operands, types=(), **attrs)

    def _reverse_part(self, instr: Instr) -> None:
        """An item of what is a tuple."""
        d = self._take(instr.result)
        if not is_nothing(d):
            self._add_item(instr.operands[0], accesses.part_of(instr), d)

    def _reverse_cell(self, instr: Instr) -> None:
        """What a new cell gathered belongs to what was put into it."""
        cell = self._primal(instr.result)
        attrs = {"keywords": (), "unless_in": "holders"}
        self._add(instr.operands[0], self.builder.op("call_object", _TAKE_CELL, self.shadows, cell, **attrs))

    def _reverse_rule(self, instr: Instr) -> None:
        """Numbers: by the rule of the op table."""
        d = self._take(instr.result)
        wanted = self._wanted(instr)
        if is_nothing(d) or not wanted:
            return
        of = rules.base(instr.op)
        attrs = {"of": of, "wanted": tuple(wanted)}
        written = rules.written_out(of, instr.operands)
        if written is not None:
            attrs["expressions"] = tuple(written[k] for k in wanted)
        operands = [_rule(of, wanted), d, *self._rule_operands(instr, attrs.get("expressions"))]
        parts = self.builder.emit("rule", *operands, types=(OBJECT,) * len(wanted), **attrs)
        self._spread(instr, wanted, parts)

    def _rule_operands(self, instr: Instr, written: tuple[rules.Expression, ...] | None = None) -> list[Value]:
        """Result and operands, as far as the expressions use them; for a rule without expressions all."""
        places: set[Any] = {"y", *range(len(instr.operands))}
        used = places if written is None else set[Any]().union(*map(rules.leaves, written))
        result = self._primal(instr.results[0]) if "y" in used else NOTHING
        return [result, *[self._primal(v) if k in used else NOTHING for k, v in enumerate(instr.operands)]]

    def _reverse_plain(self, instr: Instr) -> None:
        """Objects whose operation runs plainly: their function is called always, also where no cotangent flows."""
        b = self.builder
        d = self._cotangent_of_results(instr.results)
        wanted = self._wanted(instr)
        if not instr.operands and not extra_operands(instr):  # nothing was put into it
            return
        if instr.op == "list" and holds_constants(instr):
            return
        if instr.op == "make_function" and "defaults" not in instr.attrs["has"]:
            return  # (what is captured, and defaults by keyword, have shadows)
        if instr.op == "tuple":  # the cotangent of a tuple is the tuple of those of its items
            if wanted and not is_nothing(d):
                parts = b.emit("cotangents", d, types=(OBJECT,) * len(wanted), wanted=tuple(wanted))
                self._spread(instr, wanted, parts)
            return
        operands = [self.shadows, d, *map(self._primal, instr.results[:1]), *map(self._primal, instr.operands)]
        operands += [Const(x, OBJECT) for x in extra_operands(instr)]
        given = b.op("call_object", Const(objects.PLAIN[instr.op], OBJECT), *operands, keywords=())
        if wanted:
            parts = b.emit("cotangents", given, types=(OBJECT,) * len(wanted), wanted=tuple(wanted))
            self._spread(instr, wanted, parts)

    def _reverse_access(self, instr: Instr) -> None:
        """What is always done plainly."""
        wanted = self._wanted(instr)
        d = self._cotangent_of_results(instr.results)
        cell = instr.operands[0]
        objects.has_attribute("cell_contents")
        operands = [NOTHING, d, self.shadows, self._primal(cell), NOTHING, Const("cell_contents", OBJECT)]
        operands += self._looked_up(cell, "attributes")
        attrs = {"of": instr.op, "wanted": tuple(wanted), "access": instr.op}
        self._spread(instr, wanted, self.builder.emit("pull", *operands, types=(OBJECT,) * len(wanted), **attrs))

    def _reverse_global(self, instr: Instr) -> None:
        """A global variable is an item of a dict, which differentiated code may have set."""
        d = self._take(instr.result)
        if not is_nothing(d):
            assert self.forward.scope is not None
            operands = [
                NOTHING,
                d,
                self.shadows,
                self._primal(self.forward.scope),
                NOTHING,
                Const(instr.attrs["name"], OBJECT),
                *self._looked_up(self.forward.scope, "items"),
            ]
            self.builder.emit("pull", *operands, types=(), of="global", wanted=(), access="get_global")

    def _reverse_record(self, instr: Instr) -> None:
        original = self.forward.originals[instr]
        results = original.results[1:] if original.op == "next" else original.results
        d = self._cotangent_of_results(results, original.op in ("unpack", "unpack_rest", "with_enter"))
        tested = "plain" in instr.attrs and (original.op not in TRUTHS or original in self.forward.only_tested)
        wanted = self._wanted(original) if not tested else []
        rare = None if "rare" not in instr.attrs else self._primal(instr.operands[-1])
        operands = [self._primal(instr.results[-1]) if rare is None else rare, d, self.shadows]
        of = rules.base(original.op)
        attrs = {"of": of, "wanted": tuple(wanted)}
        if rare is not None:
            attrs["rare"] = instr.attrs["rare"]
        if self.forward.brief:
            attrs["brief"] = True
        elif "complex" in instr.attrs:
            written = attrs["expressions"] = complexes.expressions(original, self.forward.complex, wanted)
            used = set().union(*map(rules.leaves, written))
            y = self._primal(original.results[0]) if "y" in used else NOTHING
            operands += [y, *[self._primal(v) if k in used else NOTHING for k, v in enumerate(original.operands)]]
        elif "exactly" in instr.attrs or of == "floordiv":  # done plainly, it carries nothing
            pass
        elif (written := rules.written_out(of, original.operands)) is not None:
            attrs["expressions"] = tuple(written[k] for k in wanted)
            operands += self._rule_operands(original, attrs["expressions"])
            if original.results[0] in self.forward.counting:
                attrs["counts"] = True
        elif of in rules.DIRECT:
            attrs["rule"] = True
            operands += [
                _rule(of, wanted),
                *self._rule_operands(original),
            ]
        elif of in accesses.ACCESS and instr.attrs.get("direct") in (of, "method") and "constants" not in instr.attrs:
            attrs["access"] = of
            if instr.attrs["direct"] == "method":
                attrs["called"] = True
            if "computed" in instr.attrs and of == "getattr":
                attrs["computed"] = instr.attrs["computed"]
            if "likely" in instr.attrs:
                attrs |= {"likely": instr.attrs["likely"], "surely": instr.attrs["surely"]}
            key = self._primal(original.operands[1]) if of in ("getitem", "setitem") else NOTHING
            x = original.operands[0]
            operands += [self._primal(x), key, Const(original.attrs.get("name"), OBJECT)]
            operands += self._looked_up(x, "attributes" if of.endswith("attr") else "items")
            if accesses.is_part(instr, original) and 0 in wanted and not is_nothing(d):
                attrs["component"] = True
        elif of == "unpack":
            operands += self._parts_of(d)
        elif "inline" in instr.attrs:
            attrs["inline"] = instr.attrs["inline"]
            x = self.forward.called[original].operands[0]
            operands += [self._primal(x), *self._looked_up(x, "items")]
        more = 1 if "component" in attrs else 0
        parts = self.builder.emit("pull", *operands, types=(OBJECT,) * (len(wanted) + more), **attrs)
        if more:
            *parts, component = parts
            self._add_item(original.operands[0], accesses.part_of(original), component)
        self._spread(original, wanted, parts, rare if {"expressions", "rule"} & {*attrs} else None)

    # ------------------------------------------------------------------------------------------------ the tape

    def _keep(self, entry: Block) -> None:
        """Decide where what the reverse half wants is kept, and complete both halves."""
        forward = self.forward
        pushed: dict[Block, dict[Value, list[Saved]]] = {}
        settled: dict[Value, Value] = {}
        replacement: dict[Value, Value] = {}
        for (v, block), saved in self.saved.items():
            if forward.settled(v):
                replacement[saved] = settled.setdefault(v, Value(v.type, v.name))
            else:
                pushed.setdefault(self._place_to_push(v, block), {}).setdefault(v, []).append(saved)
        there = self._carried(pushed)
        if there is not None:
            for wanted in pushed.values():
                for v, several in wanted.items():
                    at_end = there.get(v, NOTHING)  # (of a block that every way leaves by an exception)
                    if not is_nothing(at_end):
                        at_end = settled.setdefault(at_end, Value(at_end.type, at_end.name))
                    replacement.update(dict.fromkeys(several, at_end))
            pushed = {}
        start: list[Instr] = []
        kept: list[Value] = list(settled)
        given: list[Value] = list(settled.values())
        if pushed or forward.marked:
            tape, cursor = forward.tape, self.cursor
            if tape is None:
                tape = Value(TAPE, "tape")
                forward.function.entry.instrs.insert(0, Instr("tape", [], [tape]))
                start.append(Instr("cursor", [self.tape], [cursor]))
            kept.insert(0, tape)
            given.insert(0, self.tape)
            for block, wanted in pushed.items():
                came = forward.came.get(block)
                values = sorted(wanted, key=lambda v: v is not came)  # (which may be pushed by the blocks before)
                popped = [Value(v.type, v.name) for v in values]
                for v, p in zip(values, popped):
                    replacement.update(dict.fromkeys(wanted[v], p))
                push = Instr("push", [tape, *values])
                block.instrs.insert(_place_of_push(block, values), push)
                self.bodies[block].instrs.insert(0, Instr("pop", [cursor], popped))
        start += [Instr("nothing_looked_up", [], values) for values in self.lookups.values()]
        start.insert(0, Instr("unpack", [self.back], [Value(OBJECT), *given], {"count": 1 + len(given)}))
        entry.instrs[:0] = start
        for block in self.function.blocks:
            for instr in block.instrs:
                map_uses(instr, lambda v: replacement.get(v, v))
        self.cotangents.replace(lambda v: replacement.get(v, v))
        self.kept = kept

    def _carried(self, pushed: dict[Block, dict[Value, list[Saved]]]) -> dict[Value, Value] | None:
        """Per value that would be pushed, what stands for it where the function returns; None where there has to be a tape."""
        forward = self.forward
        if forward.marked or forward.cyclic or forward.returning is None or not pushed:
            return None
        order = [b for b in forward.dominators.order if b in forward.live]
        wanted = {block: list(values) for block, values in pushed.items()}
        return carried(wanted, order, forward.edges, forward.returning)

    def _place_to_push(self, v: Value, block: Block) -> Block:
        """Where `v`, which is wanted in the reverse of a block, is pushed: where the loops are left that do not change it."""
        forward = self.forward
        if forward.marked or any(b.handler is not None for b in forward.blocks):
            return block
        if self.loops is None:
            self.loops = Loops(forward.function, forward.dominators)
        while self.loops.complete and (loop := self.loops.of.get(block)) is not None:
            if forward.home[v] in loop.blocks:
                break
            ends = {target.block for _, target in loop.exits if target.block in forward.live}
            if len(ends) != 1:
                break
            (end,) = ends
            if not all(source in loop.blocks for source, _ in forward.edges[end]):
                break
            block = end
        return block


def _rule(of: str, wanted: list[int]) -> Const:
    """The function that gives the cotangents of the operands `wanted`, if not only these."""
    shorter = objects.BY_FIRST if wanted == [0] else objects.BY_SECOND if wanted == [1] else {}
    return Const(shorter.get(of, objects.RULES[of]), OBJECT)


def _place_of_push(block: Block, values: list[Value]) -> int:
    """Before the terminator; before a step of a loop, too, if what is pushed is there and nothing can come in between: the back
    end makes one instruction of the step and the branch."""
    at = len(block.instrs) - 1
    if at and block.handler is None and block.instrs[at - 1].op == "next":
        at -= not any(r in values for r in block.instrs[at - 1].results)
    return at
