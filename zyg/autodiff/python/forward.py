"""The forward half: the function itself, which also records what its reverse will want.

Operations on objects of unknown type become `record` instructions, that give their results and a pullback.  Where edges meet,
a block parameter tells which one control came along.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Any

from zyg.errors import Unsupported
from zyg.ir.analysis import Dominators, components, use_counts
from zyg.ir.core import Block, Const, Function, Instr, Value, const, map_uses
from zyg.ir.types import BOOL, I64, OBJECT, TAPE

from .. import objects
from ..objects import delegation, queries, reach, sources
from ..trying import ENTER, LEAVE
from . import (
    accesses,
    begun,
    complexes,
    comprehensions,
    counted,
    escaping,
    expressions,
    inlining,
    loops,
    rules,
    sites,
    slopes,
    special,
)
from .activity import ARITHMETIC, CONTROL, INTEGRAL, Activity
from .brief import QUIET
from .computed import LENGTH
from .items import calls_before_loops
from .likely import counting, gone_through, likely_types, spans
from .normal import Normal, is_call_of, successors

QUERIES = queries.DIRECT
# What gives exactly a bool.
_BOOLEAN = frozenset("is is_not not truth contains match_sequence match_mapping check_match".split())

_PROLOGUE = frozenset({"tape", "new_cell", "free_cell", "unbound"})
_CALLED_FIRST = (globals, delegation.handed_over)
# What the pass calls on its own account.
_SILENT_CALLS = (
    escaping.take,
    escaping.attach,
    escaping.leave_generator,
    globals,
    ENTER,
    LEAVE,
    inlining.as_it_was,
    inlining.are_natural,
    counted.as_range,
    comprehensions.is_filled,
    delegation.handed_over,
    begun.is_handed_over,
    begun.iterator_of,
)


class Saved(Value):
    """Stands in the reverse half for `primal`, a value of the forward half, wanted in the reverse of `block`."""

    __slots__ = ("block", "primal")

    def __init__(self, primal: Value, block: Block):
        super().__init__(primal.type, primal.name)
        self.primal = primal
        self.block = block


class ForwardHalf:
    """A function in normal form, which becomes the forward half, and what is known about it."""

    def __init__(
        self,
        normal: Normal,
        brief: bool = False,
        computed: AbstractSet[str] = frozenset(),
        members: Mapping[tuple[str, str], type] = MappingProxyType({}),
        constants: Mapping[tuple[str, str], type] = MappingProxyType({}),
        fields: AbstractSet[str] = frozenset(),
    ):
        self.function = function = normal.function
        self.brief = brief  # nothing is written out that a run-time function does, too
        self.computed = computed  # names of attributes that likely are
        self.fields = fields  # those of them that likely are fields of named tuples
        self.constants = (
            constants  # the classes that they most likely stand for, by these and numbers that the classes hold
        )
        self.members = members  # the enumerations that global names most likely stand for, by these and their members
        self.params = list(function.params)
        self.blocks = list(function.blocks)
        self.activity = Activity(function)
        self.edges = function.predecessors()
        self.dominators = Dominators(function)
        self.cyclic = blocks_in_cycles(function)
        self.returning = next((b for b in function.blocks if b.terminator.op == "return"), None)
        self.marked = normal.exits  # where the reverse half may start, if at more than one place
        self.landings = normal.landings
        self.live = self._live()
        self.home = {p: b for b in function.blocks for p in b.params}
        self.home |= {r: b for b, i in function.instructions() for r in i.results}
        self.kinds: dict[Instr, str] = {}
        self.originals: dict[Instr, Instr] = {}  # what `record` instructions stand for
        self.came: dict[Block, Value] = {}
        self.taken: dict[Block, Value] = {}  # per handler the pullback of the call that raised
        self.wholes: dict[Value, Value] = {}  # per iterator of a loop the back of what it goes through
        self.backs: dict[Value, Value] = {}  # of calls, per value
        # `next` of loops, whose items are taken apart
        self.stepped = {
            b.instrs[-2]
            for b in function.blocks
            if b.terminator.targets and b.terminator.targets[0].block.instrs[0].op == "item"
        }
        for block in function.blocks:
            if is_call_of(block.instrs[0], escaping.take):
                self.taken[block] = block.instrs[0].result
        self.scope = self._namespace()
        self.makers = {r: i for _, i in function.instructions() for r in i.results}
        self.counts = use_counts(function)
        self.gathered = {} if brief else gathered(function)
        self.only_tested = _only_tested(function)  # comparisons whose truth alone matters
        self.counting: set[Value] = set() if brief else counting(function)
        self.spans: set[Value] = set() if brief else spans(function)
        self.complex: set[Value] = set() if brief else complexes.likely_complex(function)
        # Attributes that are only called, by their calls; and per attribute what is known of the method.
        self.called = {} if brief else called_attributes(function)
        self.handled = {i for b in function.blocks if b.handler is not None for i in b.instrs}
        self.methods: dict[Instr, Value] = dict.fromkeys(self.called.values(), Value(OBJECT))
        tested: dict[Block, dict[Value, Value]] = {}
        self.rare: dict[Block, Value] = {}
        # Numbers that a block has found to be real, by the value that is None then: what it has recorded rarely.
        self.tested = tested
        self.found_at_start = {} if brief else self._test_parameters()
        self.viewed = {} if brief else self._viewed()
        for block in function.blocks:
            if block not in self.live:
                calls_before_loops(block, self.makers)
        for block in self.dominators.order:
            if block in self.live:
                block.instrs[:] = [self._recorded(block, instr) for instr in block.instrs]
                if not brief:
                    self._record_rarely(block)
            elif block.instrs[0].op == "item":
                self._leave_item(block)
        for block in self.blocks:
            if block in self.live and len(self.edges[block]) > 1:
                self._number_edges(block)
        self.tape: Value | None = None
        self.early: set[Value] = set()
        if self.marked:
            self._mark()

    def _live(self) -> set[Block]:
        """The blocks from which the function can return, or be left suspended."""
        live: set[Block] = set()
        work = [b for b in (self.returning, *self.marked) if b is not None]
        while work:
            block = work.pop()
            if block not in live:
                live.add(block)
                work += [source for source, _ in self.edges[block]]
        return live

    # ---- instructions

    def _mark(self) -> None:
        """Where the reverse half may start at several places, the last thing on the tape tells at which."""
        f = self.function
        entry = f.entry
        self.tape = Value(TAPE, "tape")
        entry.instrs.insert(0, Instr("tape", [], [self.tape]))
        self.kinds[entry.instrs[0]] = "none"
        for number, block in enumerate(self.marked):
            mark = Instr("push", [self.tape, const(number)])
            self.kinds[mark] = "mark"
            ((source, _),) = self.edges[block]
            source.instrs.insert(len(source.instrs) - 1, mark)
        # What is there before anything happens can be given away before the function is left for the first time.
        self.prologue = next(n for n, i in enumerate(entry.instrs) if not is_prologue(i))
        self.early = {*entry.params, *[r for i in entry.instrs[: self.prologue] for r in i.results]}

    def _namespace(self) -> Value | None:
        """The dict of the globals, if cotangents may flow by way of them."""
        if not any(
            i.op == "set_global" or (i.op == "global" and i.result in self.activity.flowing)
            for _, i in self.function.instructions()
        ):
            return None
        entry, scope = self.function.entry, Value(OBJECT, "globals")
        made = Instr("call_object", [Const(globals, OBJECT)], [scope], {"keywords": ()})
        entry.instrs.insert(next(n for n, i in enumerate(entry.instrs) if not is_prologue(i)), made)
        self.home[scope] = entry
        return scope

    def _leave_item(self, block: Block) -> None:
        """In a loop that ends with an exception in any case, which is not recorded: an item that comes without a pullback stays as it is."""
        item = block.instrs[0]
        pair, iterator = item.operands
        if iterator in self.wholes:
            block.instrs[0] = self._recorded(block, item)
        elif "apart" in item.attrs:
            count = {"count": len(item.results)}
            block.instrs[0] = Instr("unpack", [pair], item.results, count, [], item.position)
        else:
            del block.instrs[0]
            as_it_is = lambda v: pair if v is item.result else v
            for other in self.function.blocks:
                for instr in other.instrs:
                    map_uses(instr, as_it_is)
                if other.handler is not None:
                    other.handler.args[:] = map(as_it_is, other.handler.args)

    def _recorded(self, block: Block, instr: Instr) -> Instr:
        if instr in self.kinds:
            return instr
        kind = self._kind(instr)
        made = instr
        if kind == "item":
            back = Value(OBJECT)
            over = gone_through(self.makers, instr.results[0])
            attrs = {**instr.attrs, "over": over}
            made = Instr("item", [*instr.operands], [*instr.results, back], attrs, [], instr.position)
            made.operands[1] = self.wholes[made.operands[1]]
            self.home[back] = block
        if kind == "record":
            made = self._record(instr)
            self.originals[made] = instr
            if instr in self.methods:
                method = self.methods[instr] = Value(OBJECT)
                made.results.insert(1, method)
                self.home[method] = block
            if instr.op == "iter":
                self.wholes[instr.result] = made.results[-1]
            if instr.op in ("call_object", "call_spread") and not accesses.is_rare(made):
                self.backs[instr.result] = made.results[-1]
            self.home[made.results[-1]] = block
        self.kinds[made] = kind
        return made

    def _record(self, instr: Instr) -> Instr:
        """`record` takes the run-time function of the op, then what it is called with."""
        op = instr.op
        attrs: dict[str, Any] = {"of": op}
        operands = [*instr.operands, *[Const(x, OBJECT) for x in extra_operands(instr)]]
        if op == "iter" and instr.attrs.get("loop"):
            function: Any = loops.loop_over if "calls" in instr.attrs else loops.loop
            if "apart" in instr.attrs:
                function = loops.loop_apart
            elif function is loops.loop and "alone" in instr.attrs and self.counts[operands[0]] == 1:
                back = self.backs.get(operands[0])
                if back is not None and not (self.brief and "left" not in instr.attrs):
                    function = loops.loop_alone if self.brief else loops.loop_own
                    if self.handled and not self.brief:
                        function = loops.loop_own_tried
                    if operands[0] in self.viewed:
                        function = loops.OF_VIEWS[self.viewed[operands[0]], function]
                    operands.append(back)
        elif is_call_of(instr, sources.finish):
            attrs["of"], function, operands = "finish", sources.record_finish, operands[1:]
            if not self.brief:
                attrs |= {"direct": "finish", "types": sources.WITHOUT_STEPS}
        elif is_call_of(instr, sources.leave):
            attrs["of"], function, operands = "finish", objects.generator_items.record_leave, operands[1:]
            if not self.brief:
                attrs |= {"direct": "finish", "types": sources.WITHOUT_STEPS}
        elif op == "call_object" and self.brief and not instr.attrs["keywords"]:
            attrs["of"], function = "call_plainly", objects.RECORD[op]
        elif self._is_length(instr):
            attrs |= {"of": "len", "direct": "len", "types": reach.SIZED}
            function = special.record_len
        elif self._asks_for_class(instr):
            attrs |= {"of": "isinstance", "direct": "isinstance", "types": special.TELL_THEIR_CLASS}
            function = special.record_isinstance
            classes = self.makers.get(instr.operands[2])
            if classes is not None and classes.op == "tuple":
                operands += classes.operands
        elif op == "match_class" and not self.brief and instr not in self.handled:
            attrs |= {"direct": "match_class", "types": special.TELL_THEIR_CLASS}
            function = objects.RECORD[op]
        elif self._begins_expression(instr):
            attrs["of"], function = "expression", expressions.begin
            operands.append(Const(sites.new_site(), OBJECT))
        elif op == "call_object" and not instr.attrs["keywords"]:
            function = sites.forward_of_constants if self._of_constants(instr) else sites.forward_at
            read = self.called.get(instr)
            operands.append(Const(sites.new_site(self._table(read)), OBJECT))
            if read is not None:
                operands += [self.methods[read], read.operands[0]]
                attrs["method"] = True
                name, count = read.attrs["name"], len(instr.operands) - 1
                if (name, count) in sites.OF_CONTAINERS:
                    attrs |= {"inline": name, "handlers": sites.OF_CONTAINERS[name, count]}
                if name == "get" and count in (1, 2):
                    attrs["get"] = sites.GET
                if instr.result in self.viewed:
                    attrs["view"] = sites.OF_VIEWS[name]
            written = self._elementary(instr, read)
            if written is not None:
                attrs["elementary"] = written
        elif op == "call_object" and not self.brief and instr not in self.handled:
            function = sites.forward_of_constants if self._of_constants(instr) else sites.forward_with_names
            attrs["names"] = instr.attrs["keywords"]
            operands.append(Const(sites.new_site(), OBJECT))
        elif op == "call_object":
            attrs["of"], function = "call_keywords", sites.record_keywords
            operands[:0] = [Const(sites.new_site(), OBJECT), Const(instr.attrs["keywords"], OBJECT)]
        elif op == "call_spread" and not self.brief:
            function = sites.record_spread
            operands.insert(0, Const(sites.new_spread_site(), OBJECT))
        elif op == "set_global":
            assert self.scope is not None
            function = objects.RECORD[op]
            operands += [Const(instr.attrs["name"], OBJECT), self.scope]
        elif self.brief:
            function = objects.RECORD[op]
        elif op in QUERIES:
            constants = tuple(k for k, v in enumerate(instr.operands) if self.activity.inert(v))
            function = queries.record_of(op, instr in self.only_tested, constants)
            attrs |= {"direct": op, "plain": QUERIES[op][: len(instr.operands)]}
        elif instr in self.methods:
            objects.has_attribute(instr.attrs["name"])
            attrs["direct"], function = "method", accesses.record_method
            table = self._table(instr)
            assert table is not None
            operands.append(Const(table, OBJECT))
            call = next(call for call, other in self.called.items() if other is instr)
            attrs["checked"] = table.checked
            attrs["handlers"] = sites.OF_CONTAINERS.get((table.name, len(call.operands) - 1), ())
            if self._elementary(call, instr) is not None:
                attrs["module"] = math
        elif op == "getattr":
            if objects.has_attribute(instr.attrs["name"]):
                attrs["direct"] = op
            function = accesses.record_getattr
            read_of = self.makers.get(instr.operands[0])
            if read_of is not None and read_of.op == "global":
                named = read_of.attrs["name"], instr.attrs["name"]
                cls = self.members.get(named) or self.constants.get(named)
                if cls is not None:
                    attrs["class"] = cls
            operands.append(Const(accesses.readers(instr.attrs["name"], instr in self.handled), OBJECT))
            if read_of is not None and read_of.op == "global" and named in self.constants:
                attrs["constants"] = operands[-1].value.constants
        elif op == "setattr":
            if objects.has_attribute(instr.attrs["name"]):
                attrs["direct"] = op
            function = accesses.record_setattr
            operands.append(Const(accesses.writers(instr.attrs["name"], instr in self.handled), OBJECT))
        else:
            function = special.OPERATORS.get(op) or objects.RECORD[op]
            if op in special.WITH_CONSTANT and any(map(self.activity.inert, instr.operands)):
                function = special.WITH_CONSTANT[op]
            written = rules.base(op) in rules.DIRECT or op in ("getitem", "setitem", "list_append", "unpack")
            if self._is_about_slice(instr):
                function = special.record_part if op == "getitem" else special.record_set_part
            elif written:
                attrs["direct"] = op
                attrs |= likely_types(instr, self.makers, self.counts, self.spans)
            if complexes.is_about_complex(instr, self.complex):
                attrs["complex"] = tuple(v in self.complex for v in instr.operands)
            likely = self._likely_container(instr)
            if likely is not None:
                attrs["likely"] = likely
                attrs["surely"] = self.gathered.get(instr.operands[0]) is likely
        if (
            attrs.get("direct") in ("getattr", "setattr")
            and instr.attrs["name"] in self.computed
            and "class" not in attrs
        ):
            attrs["computed"] = "field" if instr.attrs["name"] in self.fields else "called"
        return Instr(
            "record", [Const(function, OBJECT), *operands], [*instr.results, Value(OBJECT)], attrs, [], instr.position
        )

    def _elementary(self, call: Instr, read: Instr | None) -> slopes.Elementary | None:
        """What a call computes, if it looks like one of a function of the module math, of a variable and constants."""
        of = read or self.makers.get(call.operands[0])
        if of is None or of.op not in ("getattr", "global"):
            return None
        _, *arguments = call.operands
        constant = [type(v.value) is float for v in arguments[1:] if isinstance(v, Const)]
        if not arguments or isinstance(arguments[0], Const) or len(constant) < len(arguments) - 1 or not all(constant):
            return None
        return slopes.elementary(of.attrs["name"], len(arguments))

    def _viewed(self) -> dict[Value, str]:
        """What looks like views of dicts that one loop goes through, and nothing else has: the names of the methods that give them."""
        found: dict[Value, str] = {}
        for block, loop in self.function.instructions():
            if loop.op == "iter" and {"loop", "alone"} <= {*loop.attrs} and "calls" not in loop.attrs:
                (whole,) = loop.operands
                call = self.makers.get(whole)
                read = self.called.get(call) if call is not None else None
                if read is None or call is None or block not in self.live or self.counts[whole] > 1:
                    continue
                if read.attrs["name"] in sites.OF_VIEWS and len(call.operands) == 1 and not call.attrs["keywords"]:
                    found[whole] = read.attrs["name"]
        return found

    def _of_constants(self, call: Instr) -> bool:
        """Whether a call has arguments, none of which carries a derivative, and is of what has a name (others are
        functions, which may be made anew each time)."""
        callee, *arguments = call.operands
        made = self.makers.get(callee)
        named = made is not None and made.op in ("global", "getattr", "get_cell")
        return named and bool(arguments) and all(map(self.activity.inert, arguments))

    def _is_length(self, instr: Instr) -> bool:
        """Whether a call looks like one of `len`."""
        if instr.op != "call_object" or self.brief or instr in self.handled or len(instr.operands) != 2:
            return False
        asked = self.makers.get(instr.operands[1])
        if LENGTH in self.computed and (
            asked is None or asked.op != "getattr"
        ):  # what an attribute holds is a container
            return False
        callee = self.makers.get(instr.operands[0])
        named = callee is not None and callee.op == "global" and callee.attrs["name"] == "len"
        return named and not instr.attrs["keywords"] and not isinstance(instr.operands[1], Const)

    def _asks_for_class(self, instr: Instr) -> bool:
        """Whether a call looks like one of `isinstance`."""
        if instr.op != "call_object" or self.brief or instr in self.handled or len(instr.operands) != 3:
            return False
        callee = self.makers.get(instr.operands[0])
        named = callee is not None and callee.op == "global" and callee.attrs["name"] == "isinstance"
        return named and not instr.attrs["keywords"]

    def _begins_expression(self, instr: Instr) -> bool:
        """Whether a call makes the generator of a generator expression."""
        made = self.makers.get(instr.operands[0]) if instr.op == "call_object" else None
        return made is not None and expressions.is_of_expression(made) and self.counts[made.result] == 1

    def _is_about_slice(self, instr: Instr) -> bool:
        """Whether an item is a slice, by its key: it is never read or set plainly."""
        if instr.op not in ("getitem", "setitem"):
            return False
        key = instr.operands[1]
        if isinstance(key, Const):
            return type(key.value) is slice
        made = self.makers.get(key)
        return made is not None and made.op == "make_slice"

    def _likely_container(self, instr: Instr) -> type | None:
        """What an item is most likely read of, or set, if its key tells."""
        if instr.op not in ("getitem", "setitem"):
            return None
        key = instr.operands[1]
        if not isinstance(key, Const):
            return list if key in self.counting else None
        return dict if type(key.value) is str else list if type(key.value) is int and key.value >= 0 else None

    def _record_rarely(self, block: Block) -> None:
        """What is hardly ever recorded gives no pullback: a block has one value, None at first, for all that it has recorded
        nevertheless. As long as that is None, operands of plain operators have been real numbers, and so have the results."""
        known = self._tested_before(block)
        rare: Value | None = None
        number = 0
        for instr in block.instrs:
            if self.kinds.get(instr) != "record" or not accesses.is_rare(instr):
                continue
            if rare is None:
                rare = Value(OBJECT, "")
            instr.attrs["rare"] = number
            number += 1
            del self.home[instr.results.pop()]
            original = self.originals[instr]
            if original.op in QUERIES:
                asked = [k for k, v in enumerate(original.operands) if not self._is_plain(v, QUERIES[original.op][k])]
                real = {
                    k: known[v] for k in asked if (v := original.operands[k]) in known and original.op != "contains"
                }
                instr.attrs["tests"] = tuple(k for k in asked if k not in real)
                instr.attrs["ints"] = tuple(k for k in instr.attrs["tests"] if original.operands[k] in self.counting)
                instr.attrs["flags"] = len(dict.fromkeys(real.values()))
                instr.operands += dict.fromkeys(real.values())
            if rules.base(original.op) in rules.DIRECT and "exactly" not in instr.attrs:
                unknown = [v for v in original.operands if not self.activity.number(v)]
                flags = dict.fromkeys(known[v] for v in unknown if v in known)
                instr.attrs["tests"] = tuple(
                    k for k, v in enumerate(original.operands) if v in unknown and v not in known
                )
                instr.attrs["ints"] = tuple(k for k in instr.attrs["tests"] if original.operands[k] in self.counting)
                instr.attrs["flags"] = len(flags)
                instr.attrs["flagged"] = tuple(
                    tuple(k for k, v in enumerate(original.operands) if v in unknown and known.get(v) is flag)
                    for flag in flags
                )
                instr.operands += flags
                known.update(dict.fromkeys(unknown, rare))
                if rules.base(original.op) != "pow":  # of a negative base it may be complex
                    known[original.result] = rare
            instr.operands.append(rare)
        if rare is not None:
            self.rare[block] = self.home_of(rare, block)
            start = Instr("nothing_recorded", [], [rare])
            self.kinds[start] = "none"
            block.instrs.insert(_first_place(block), start)
        self.tested[block] = known

    def home_of(self, v: Value, block: Block) -> Value:
        self.home[v] = block
        return v

    def _tested_before(self, block: Block) -> dict[Value, Value]:
        """What is known at the start of a block."""
        above = self.dominators.immediate[block]
        while above is not None and (above not in self.tested or not self.dominators.available(above, block)):
            above = self.dominators.immediate[above]
        return dict(self.found_at_start if above is None else self.tested[above])

    def _test_parameters(self) -> dict[Value, Value]:
        """Per parameter that loops calculate with, what is None where it is a real number: found out at the start."""
        used = {
            v
            for block, instr in self.function.instructions()
            if block in self.cyclic and rules.base(instr.op) in rules.DIRECT
            for v in instr.operands
        }
        entry = self.function.entry
        found: dict[Value, Value] = {}
        for p in self.params:
            if p in used and not self.activity.number(p):
                found[p] = self.home_of(Value(OBJECT, ""), entry)
                test = Instr("nothing_recorded", [p], [found[p]])
                self.kinds[test] = "none"
                entry.instrs.insert(_first_place(entry), test)
        return found

    def _table(self, read: Instr | None) -> sites.Methods | None:
        """What is known of calls of an attribute that is only called."""
        if read is None:
            return None
        call = next(call for call, other in self.called.items() if other is read)
        watched = call in self.handled
        checked = not (watched or read in self.handled or self.function.attrs.get("generator"))
        return sites.methods_of(read.attrs["name"], len(call.operands) - 1, watched, checked)

    def _kind(self, instr: Instr) -> str:
        """How an instruction is reversed: not at all ("none"), by its rule for numbers, by a plain function of objects that
        run plainly, by what it recorded, by passing its cotangent on ("copy"), or as that of a part of a tuple."""
        op = instr.op
        if op in CONTROL or instr in self.stepped or "counts" in instr.attrs or is_call_of(instr, *_SILENT_CALLS):
            return "none"
        if self.brief and is_call_of(instr, *QUIET):
            return "none"
        if op == "getitem" and self.gathered.get(instr.operands[0]) is tuple and _is_position(instr.operands[1]):
            return "part"
        if op == "global":
            return "global" if instr.result in self.activity.flowing else "none"
        if (op in ARITHMETIC or op in INTEGRAL) and all(map(self.activity.number, instr.operands)):
            return "none" if self.activity.inert(instr.result) else "rule"
        if op in ("get_cell", "set_cell"):
            return "access"
        if op in QUERIES:
            return "none" if self.brief or self._runs_plainly(instr) else "record"
        if op in objects.RECORD:
            return "record"
        if op in objects.PLAIN:
            return "plain"
        if op == "checked_local":
            return "copy"
        if op in ("item", "yield", "yield_from"):
            return op
        if op == "new_cell":
            return "cell" if instr.operands and not self.activity.inert(instr.operands[0]) else "none"
        if op in objects.CONSTANT:
            return "none"
        raise Unsupported(
            f"the derivative of `{op}`", instr.position, hint="move it out of the differentiated function"
        )

    def _runs_plainly(self, instr: Instr) -> bool:
        """Whether a comparison or the like runs no Python code, as far as is known before it runs."""
        if instr.op in ("truth", "not"):
            made = self.makers.get(instr.operands[0])
            if made is not None and (made.op in _BOOLEAN or made in self.only_tested):
                return True
        return all(self._is_plain(v, types) for v, types in zip(instr.operands, QUERIES[instr.op]))

    def _is_plain(self, v: Value, types: AbstractSet[type]) -> bool:
        if isinstance(v, Const):
            return type(v.value) in types or (
                type(v.value) in (tuple, frozenset) and reach.PLAIN.issuperset(map(type, v.value))
            )
        made = self.makers.get(v)
        if made is not None and made.op == "len_":
            return int in types
        return float in types and self.activity.number(v)

    def _number_edges(self, block: Block) -> None:
        """A block parameter that tells which edge control came along."""
        edges = self.edges[block]
        two = len(edges) == 2
        # They are asked for one by one: rounds of a loop before the way into it.
        edges.sort(key=lambda edge: not self.dominators.dominates(block, edge[0]))
        came = Value(BOOL if two else I64, "came")
        block.params.append(came)
        self.home[came] = block
        self.came[block] = came
        for number, (_, target) in enumerate(edges):
            target.args.append(const(bool(number)) if two else const(number))

    # ---- what the reverse half can have

    def settled(self, v: Value) -> bool:
        """Whether `v` has been computed, once and for all, when the function returns."""
        if self.marked:
            return v in self.early
        home = self.home.get(v)
        if home is None or home in self.cyclic or self.returning is None:
            return False
        if home is self.returning:
            return True
        if v in home.params:
            return self.dominators.dominates(home, self.returning)
        return self.dominators.available(home, self.returning)


def is_prologue(instr: Instr) -> bool:
    """Whether an instruction is one of those that come first in a function."""
    return instr.op in _PROLOGUE or is_call_of(instr, *_CALLED_FIRST)


def _first_place(block: Block) -> int:
    """Behind what has to come first in a block."""
    at = 0
    while is_prologue(block.instrs[at]) or is_call_of(block.instrs[at], escaping.take):
        at += 1
    return at


def gathered(function: Function) -> dict[Value, type]:
    """The parameters `*args` and `**kwargs`: exactly a tuple, and a dict."""
    code = function.attrs.get("code")
    if code is None:
        return {}
    at = code.co_argcount + code.co_kwonlyargcount
    kinds = ((tuple, inspect.CO_VARARGS), (dict, inspect.CO_VARKEYWORDS))
    return dict(zip(function.params[at:], [kind for kind, flag in kinds if code.co_flags & flag]))


def _is_position(key: Value) -> bool:
    return isinstance(key, Const) and type(key.value) is int


def _only_tested(function: Function) -> set[Instr]:
    """Comparisons whose results are used for nothing but one test, which stands right behind: their truth is asked with them. Asked
    anywhere else (in a branch, in a `try` body, several times or never) it is asked there, as arrays have none and `__bool__` may do
    something."""
    counts = use_counts(function)
    found: set[Instr] = set()
    for block in function.blocks:
        for instr, following in itertools.pairwise(block.instrs):
            tested = following.op in ("truth", "not") and following.operands[0] in instr.results
            if instr.op in queries.TRUTHS and tested and counts[instr.result] == 1:
                found.add(instr)
    return found


def called_attributes(function: Function) -> dict[Instr, Instr]:
    """Calls by position of an attribute that is used for nothing else, with the instruction that reads it."""
    counts = use_counts(function)
    makers = {r: i for _, i in function.instructions() for r in i.results}
    found: dict[Instr, Instr] = {}
    for _, instr in function.instructions():
        if instr.op == "call_object" and not instr.attrs["keywords"]:
            read = makers.get(instr.operands[0])
            if read is not None and read.op == "getattr" and counts[read.result] == 1:
                found[instr] = read
    return found


def extra_operands(instr: Instr) -> list[Any]:
    """The attributes of a Python op that its run-time functions take, in order."""
    return [instr.attrs[name] for name in objects.ATTRS.get(instr.op, ())]


def blocks_in_cycles(function: Function) -> set[Block]:
    """The blocks that control can come back to."""
    cyclic: set[Block] = set()
    for component in components(function.blocks, successors):
        if len(component) > 1 or component[0] in successors(component[0]):
            cyclic.update(component)
    return cyclic
