"""Activity: which values carry a derivative from which inputs to which outputs.

A value is *varied* if it depends differentiably on a parameter, *useful* if an output depends differentiably on it, and
*active* if both.  Only active values get cotangents.  Arrays that may share memory (views, block arguments, selects) form
one alias class, and a class is varied or useful as a whole.

Both analyses propagate bit sets, one bit per parameter (or output) of the function, so one pass answers for all of them.
A summary per function carries them across calls; recursive functions are iterated to a fixpoint.

What cuts a derivative is decided here and by the op table alone: an op whose `vjp` is "none", a cast of a float to an
integer, one to a bool, `stop`, an index, the condition of a select.  This is what decides about `None` in gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from zyg.ir.analysis import components
from zyg.ir.core import CALLING, Const, Function, Instr, Module, Value
from zyg.ir.foreign import arguments, arrays_written, sets_them_whole
from zyg.ir.ops import OPS, VIEWS
from zyg.ir.readymade import code_of
from zyg.ir.records import field, record
from zyg.ir.types import BOOL, TAPE, Array, Scalar, Stack, Type


def differentiable(t: Type) -> bool:
    """Whether values of type `t` can carry a derivative: numbers (integers too), arrays of numbers."""
    if isinstance(t, Array):
        t = t.dtype
    return isinstance(t, Scalar) and t is not BOOL


def _carries(t: Type) -> bool:
    """Whether what is passed on can carry a derivative: a field of a record, or what a function returns. A stack does by what
    is on it, and so does a tape."""
    return differentiable(t) or isinstance(t, Stack) or t is TAPE


@record
class Summary:
    """Across a function: `results[r]` and `arrays[p]` are bit sets of the parameters that flow into result `r`, and into
    the memory of array parameter `p`.  `written` are the array parameters in whose alias classes something may be written to,
    `changed` those whose own memory may be, `stored` those that are written by instructions, as against by Python functions that
    they are passed to.  `shares[r]` is the bit set of what result `r` may share memory with: parameters, and behind them the
    results before it.  `pops`: whether it takes something off a tape that it is given."""

    results: list[int] = field(default_factory=list)
    arrays: dict[int, int] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)
    stored: set[int] = field(default_factory=set)
    shares: list[int] = field(default_factory=list)
    changed: set[int] = field(default_factory=set)
    pops: bool = False

    def key(self) -> tuple[tuple[Any, ...], ...]:
        return (tuple(self.results), tuple(sorted(self.arrays.items())), tuple(sorted(self.written)),
                tuple(sorted(self.stored)), tuple(self.shares), tuple(sorted(self.changed)), (self.pops,))  # fmt: skip


class Aliases:
    """Alias classes of arrays, stacks and tapes: union-find over the values of a function. Without `tapes` they are those of what may be
    the same memory where nothing is taken off tapes."""

    def __init__(
        self, function: Function, module: Module, summaries: dict[str, Summary] | None = None, tapes: bool = True
    ):
        self.parent: dict[Value, Value] = {}
        self._holders: dict[
            Value, dict[int, Value]
        ] = {}  # per stack: an array that goes through it, in each place of its items
        passing = [i for b in function.blocks for i in b.instrs if i.op in ("push", "pop")]
        if not tapes:
            passing = [i for i in passing if i.operands[0].type is not TAPE]
        self._on_tape = {
            v
            for i in passing
            if i.operands[0].type is TAPE
            for v in [*i.operands[1:], *i.results]
            if isinstance(v.type, Stack)
        }
        for _, instr in function.instructions():
            for target in instr.targets:
                for param, arg in zip(target.block.params, target.args, strict=True):
                    self._join_if_memory(param, arg)
            if instr.op in VIEWS or instr.op in ("select", "cursor"):
                for operand in instr.operands:
                    self._join_if_memory(instr.result, operand)
            elif instr.op == "call":
                # Without knowing better, an array that a call returns may be (a view of) any of its array arguments.
                summary = summaries.get(instr.attrs["callee"]) if summaries is not None else None
                whole = [*instr.operands, *instr.results]
                for tape in instr.operands:
                    if tape.type is TAPE and tapes:
                        self._join_fields(tape, [*instr.operands, *instr.results])
                for r, result in enumerate(instr.results):
                    if isinstance(result.type, Array):
                        bits = -1 if summary is None else summary.shares[r]
                        for k, a in enumerate(whole):
                            if bits >> k & 1 and isinstance(a.type, Array):
                                self._join_if_memory(result, a)
        for instr in passing:  # when it is known which stacks are cursors of which
            if instr.op == "push":
                self._join_fields(instr.operands[0], instr.operands[1:])
            else:
                self._join_fields(instr.operands[0], instr.results)
        for p in function.params:
            # What a forward half has put on a stack may be (views of) arrays that it hands over beside it.
            through = self._holders.get(self.find(p), {}) if isinstance(p.type, Stack) else {}
            for held in through.values():
                assert isinstance(held.type, Array)
                for other in function.params:
                    if isinstance(other.type, Array) and other.type.dtype is held.type.dtype:
                        self._join(other, held)

    def find(self, v: Value) -> Value:
        while (up := self.parent.get(v, v)) is not v:
            above = self.parent.get(up, up)
            self.parent[v] = above
            v = above
        return v

    def _join_if_memory(self, a: Value, b: Value) -> None:
        if _is_memory(a) and _is_memory(b):  # not the index of a view
            self._join(a, b)

    def _join_fields(self, store: Value, values: list[Value]) -> None:
        """Arrays that go through one stack in the same place of its items are one class.  All memory that is on a tape is one class with the tape: the
        functions that share it may write to that memory."""
        for place, v in enumerate(values):
            if store.type is TAPE:
                self._join_if_memory(v, store)
            elif isinstance(v.type, Array):
                self._join(v, self._holders.setdefault(self.find(store), {}).setdefault(place, v))
                if store in self._on_tape:
                    self._join(v, store)

    def _join(self, a: Value, b: Value) -> None:
        a, b = self.find(a), self.find(b)
        if a is not b:
            self.parent[a] = b


def _is_memory(v: Value) -> bool:
    type = v.type
    return isinstance(type, (Array, Stack)) or type is TAPE


def differentiable_operands(instr: Instr) -> list[int]:
    """Which operands of an instruction its results depend on differentiably."""
    op = OPS[instr.op]
    if op.vjp == "none" or not instr.results:
        return []
    result = instr.results[0].type
    if not differentiable(result):
        return []
    if instr.op == "cast" and not _real(instr.results[0]) and _real(instr.operands[0]):
        return []  # an integer as wide as another, or wider, is the same number
    start = 1 if instr.op == "select" else 0
    return [k for k in range(start, len(instr.operands)) if differentiable(instr.operands[k].type)]


def _real(v: Value) -> bool:
    t = v.type.dtype if isinstance(v.type, Array) else v.type
    return isinstance(t, Scalar) and t.kind == "f"


def foreign_sources(instr: Instr) -> list[Value]:
    """What a C function may depend on differentiably: all floats that it is given."""
    return [v for letter, v in arguments(instr) if v is not None and letter != "w" and _real(v)]


def foreign_targets(instr: Instr) -> list[Value]:
    """The floats that a C function gives, and the arrays of floats that it writes to."""
    return [v for v in [*arrays_written(instr), *instr.results] if _real(v)]


def _ins(apply: Instr) -> list[Value]:
    return apply.operands[len(apply.attrs["modes"]) :]


def _initial_writes(function: Function) -> set[Instr]:
    """The instructions that give a new array its contents, all of them, before anybody has looked at it: in the block of its
    `alloc`.  An array that is written by nothing else keeps what it holds for as long as it lives."""
    initial: set[Instr] = set()
    for block in function.blocks:
        fresh: set[Value] = set()
        for instr in block.instrs:
            if instr.op == "alloc":
                fresh.add(instr.result)
                continue
            if instr.op == "dim":
                continue
            many = instr.op in ("apply", "foreign")
            outs = arrays_written(instr) if many else instr.operands[:1] if instr.op in ("fill", "copyto") else []
            whole = bool(outs) and all(v in fresh for v in outs)
            if whole and many:
                read = [v for v in instr.operands if v not in outs] if instr.op == "foreign" else _ins(instr)
                whole = sets_them_whole(instr) and not fresh.intersection(read) and len(set(outs)) == len(outs)
            elif whole:
                whole = instr.operands[1] not in fresh
            if whole:
                initial.add(instr)
            fresh.difference_update(instr.operands)
            for target in instr.targets:
                fresh.difference_update(target.args)
    return initial


class Activity:
    """The analyses for one function.

    `varied[v]` is the bit set of parameters that value (or alias class) `v` depends on, `useful[v]` the bit set of
    outputs that depend on `v`: bit r for result r.
    """

    def __init__(self, function: Function, module: Module, summaries: dict[str, Summary] | None = None):
        self.function = function
        self.module = module
        self.summaries = summaries if summaries is not None else summarise(module, function.name)
        self.aliases = Aliases(function, module, self.summaries)
        self.varied: dict[Value, int] = {}
        self.useful: dict[Value, int] = {}
        self.writers: dict[Value, list[Instr]] = {}  # per alias class
        self.written: set[Value] = set()  # alias classes
        self.stored: set[Value] = set()  # those of them that are not only passed to Python functions
        self._instrs = [instr for block in function.blocks for instr in block.instrs]
        self._find_written()
        self._flows = self._find_flows()
        self._reversed = [(sinks, sources) for sources, sinks in reversed(self._flows)]
        self._forward()

    def rep(self, v: Value) -> Value:
        return self.aliases.find(v) if _is_memory(v) else v

    def varied_by(self, v: Value) -> int:
        return 0 if isinstance(v, Const) else self.varied.get(self.rep(v), 0)

    def useful_for(self, v: Value) -> int:
        return 0 if isinstance(v, Const) else self.useful.get(self.rep(v), 0)

    # ----------------------------------------------------------------------------------------- memory

    def _find_written(self) -> None:
        initial = _initial_writes(self.function)
        for instr in self._instrs:
            if instr.op not in _WRITING or instr in initial:
                continue
            writers, stored = self._writes_to(instr)
            for v in writers:
                self.writers.setdefault(self.rep(v), []).append(instr)
            self.stored.update(self.rep(v) for v in stored)
        self.written.update(self.writers)

    def _writes_to(self, instr: Instr) -> tuple[list[Value], list[Value]]:
        """The memory that an instruction may write to, and what of it not only by a Python function that it is passed to."""
        if instr.op in ("store", "accum", "fill", "copyto", "addto", "push"):
            return instr.operands[:1], instr.operands[:1]
        if instr.op in ("apply", "foreign"):
            arrays = list(arrays_written(instr))
            return arrays, arrays
        if instr.op == "call":
            summary = self._summary_of(instr)
            return [instr.operands[p] for p in summary.written], [instr.operands[p] for p in summary.stored]
        if instr.op == "pycall" and not instr.attrs.get("reads"):
            return [v for v in instr.operands if isinstance(v.type, Array)], []
        return [], []

    def changed_parameters(self) -> set[int]:
        """The array parameters whose own memory may be written to. (An alias class has what joins them with others, too: `b` of
        `b = a if c else np.zeros(3)` is in one with `a`, which may be read while it only is the other one that was written to.)"""
        function = self.function
        suspects = {
            k for k, p in enumerate(function.params) if isinstance(p.type, Array) and self.rep(p) in self.written
        }
        comes_back = any(
            i.op == "pop" and i.operands[0].type is not TAPE and any(isinstance(r.type, (Array, Stack)) for r in i.results)
            or i.op == "call" and any(isinstance(v.type, Stack) for v in i.operands)
            for i in self._instrs
        )  # fmt: skip
        if not suspects or comes_back or self.takes_off_tapes():
            return suspects  # what comes from stacks is not followed
        held: dict[Value, int] = {function.params[k]: 1 << k for k in suspects}
        _propagate(held, self._shared_memory())
        bits = 0
        initial = _initial_writes(function)
        for instr in self._instrs:
            if instr.op == "call":
                for p in self._summary_of(instr).changed:
                    bits |= held.get(instr.operands[p], 0)
            elif instr.op in _WRITING and instr not in initial:
                for v in self._writes_to(instr)[0]:
                    bits |= held.get(v, 0)
        return {k for k in suspects if bits >> k & 1}

    def takes_off_tapes(self) -> bool:
        """Whether something that was put on a tape comes back."""
        return any(
            i.op == "pop" and i.operands[0].type is TAPE or i.op == "call" and self._summary_of(i).pops
            for i in self._instrs
        )

    def _shared_memory(self) -> list[tuple[list[Value], list[Value]]]:
        """Which arrays may be (views of) which others: each of the second list of any of the first."""
        found: list[tuple[list[Value], list[Value]]] = []
        for instr in self._instrs:
            for target in instr.targets:
                for param, arg in zip(target.block.params, target.args, strict=True):
                    if isinstance(param.type, Array):
                        found.append(([arg], [param]))
            if instr.op in VIEWS or instr.op == "select":
                found.append(([v for v in instr.operands if isinstance(v.type, Array)], [instr.result]))
            elif instr.op == "call":
                whole = [*instr.operands, *instr.results]
                for r, bits in enumerate(self.summaries[instr.attrs["callee"]].shares):
                    others = [v for v in _chosen(bits, whole) if isinstance(v.type, Array)]
                    if others and isinstance(instr.results[r].type, Array):
                        found.append((others, [instr.results[r]]))
                        found.append(([instr.results[r]], others))
        return found

    # ------------------------------------------------------------------------------------------- flows

    def _find_flows(self) -> list[tuple[list[Value], list[Value]]]:
        """What depends differentiably on what, instruction by instruction: each of the second list on all of the first."""
        found: list[tuple[list[Value], list[Value]]] = []

        def add(sources: Iterable[Value], sinks: Iterable[Value]) -> None:
            ends = [self.rep(v) for v in sinks if not isinstance(v, Const)]
            starts = [self.rep(v) for v in sources if not isinstance(v, Const)] if ends else []
            if starts:
                found.append((starts, ends))

        for instr in self._instrs:
            for target in instr.targets:
                for param, arg in zip(target.block.params, target.args, strict=True):
                    if differentiable(param.type):
                        add([arg], [param])
            flow = _FLOWS.get(instr.op)
            if flow is not None:
                for sources, sinks in flow(self, instr):
                    add(sources, sinks)
            elif instr.results and instr.op not in _OPAQUE:
                operands = differentiable_operands(instr)
                if operands:
                    add([instr.operands[k] for k in operands], [r for r in instr.results if differentiable(r.type)])
        return found

    def _apply(self, instr: Instr) -> Iterator[Flow]:
        outs = [*arrays_written(instr), *instr.results]
        return _by_bits(self.summaries[instr.attrs["callee"]].results, outs, _ins(instr))

    def _call(self, instr: Instr) -> Iterator[Flow]:
        summary = self._summary_of(instr)
        yield from _by_bits(summary.results, instr.results, instr.operands)
        for p, bits in summary.arrays.items():
            yield _chosen(bits, instr.operands), instr.operands[p : p + 1]

    def _forward(self) -> None:
        for bit, p in enumerate(self.function.params):
            if differentiable(p.type) or isinstance(p.type, Stack) or p.type is TAPE:
                self.varied[self.rep(p)] = self.varied.get(self.rep(p), 0) | 1 << bit
        _propagate(self.varied, self._flows)

    def _summary_of(self, call: Instr) -> Summary:
        """A call with a rule depends on what the rule gives cotangents for, whatever the function does."""
        summary = self.summaries[call.attrs["callee"]]
        pushing = call.attrs.get("tangent")
        if pushing is not None:
            bits = sum(1 << k for k in pushing.perturbed)
            arrays = {**summary.arrays, **{k: summary.arrays.get(k, 0) | bits for k in pushing.mutates}}
            written = set(pushing.mutates)
            return Summary(
                [bits | b for b in summary.results],
                arrays,
                summary.written | written,
                summary.stored | written,
                summary.shares,
                summary.changed | written,
            )
        rule = call.attrs.get("rule")
        if rule is None:
            return summary
        bits = 0
        for k in (*rule.gradients, *rule.gathers, *rule.constants):
            bits |= 1 << k
        mutates = set(rule.mutates)
        written, changed = summary.stored | mutates, summary.stored & summary.changed | mutates
        arrays = dict.fromkeys(rule.mutates, bits)
        return Summary([bits] * len(call.results), arrays, written, written, summary.shares, changed)

    # --------------------------------------------------------------------------------------- backward

    def backward(self, results: list[int]) -> None:
        """Find what is useful for the results with these indices."""
        self.useful = {}
        for instr in self._instrs:
            if instr.op == "return":
                for r in results:
                    self._use(instr.operands[r], 1 << r)
        # Array parameters are outputs too when a caller will look at them afterwards: the adjoint of an out-of-line
        # function sets `useful` for them by `mark_useful`.
        _propagate(self.useful, self._reversed)

    def mark_useful(self, v: Value, bits: int) -> None:
        self._use(v, bits)
        _propagate(self.useful, self._reversed)

    def _use(self, v: Value, bits: int) -> None:
        if not isinstance(v, Const):
            self.useful[self.rep(v)] = self.useful.get(self.rep(v), 0) | bits


Flow = tuple[Iterable[Value], Iterable[Value]]


def _propagate(found: dict[Value, int], flows: list[tuple[list[Value], list[Value]]]) -> None:
    """Let the bits of the first of each flow come to the second, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for sources, sinks in flows:
            bits = 0
            for v in sources:
                bits |= found.get(v, 0)
            if bits:
                for v in sinks:
                    old = found.get(v, 0)
                    if bits & ~old:
                        found[v] = old | bits
                        changed = True


def _chosen(bits: int, operands: list[Value]) -> list[Value]:
    return [v for k, v in enumerate(operands) if bits >> k & 1]


def _by_bits(dependences: list[int], results: list[Value], operands: list[Value]) -> Iterator[Flow]:
    """What each result depends on, by bit sets of operands; results that depend on the same go together."""
    alike: dict[int, list[Value]] = {}
    for v, bits in zip(results, dependences, strict=False):
        if bits and _carries(v.type):
            alike.setdefault(bits, []).append(v)
    for bits, sinks in alike.items():
        yield _chosen(bits, operands), sinks


def _foreign(activity: Activity, instr: Instr) -> Iterator[Flow]:
    yield foreign_sources(instr), foreign_targets(instr)


def _push(activity: Activity, instr: Instr) -> Iterator[Flow]:
    yield [v for v in instr.operands[1:] if _carries(v.type)], instr.operands[:1]


def _pop(activity: Activity, instr: Instr) -> Iterator[Flow]:
    yield instr.operands[:1], [r for r in instr.results if _carries(r.type)]


def _load(activity: Activity, instr: Instr) -> Iterator[Flow]:
    yield instr.operands[:1], instr.results


def _store(activity: Activity, instr: Instr) -> Iterator[Flow]:
    yield instr.operands[1:2], instr.operands[:1]


def _pycall(activity: Activity, instr: Instr) -> Iterator[Flow]:
    if any(differentiable(r.type) for r in instr.results):
        yield instr.operands, instr.results


# For all other operations the table of operations says it.
_FLOWS: dict[str, Callable[[Activity, Instr], Iterator[Flow]]] = {
    "load": _load, "store": _store, "accum": _store, "fill": _store, "copyto": _store, "addto": _store,
    "apply": Activity._apply, "call": Activity._call, "foreign": _foreign, "push": _push, "pop": _pop, "pycall": _pycall,
}  # fmt: skip
_WRITING = frozenset(
    {"store", "accum", "fill", "copyto", "addto", "push", "apply", "foreign", "call", "pycall"}
)  # what may write
_OPAQUE = frozenset({*VIEWS, "alloc", "stack", "tape", "cursor"})


def summarise(module: Module, root: str, known: dict[str, Summary] | None = None) -> dict[str, Summary]:
    """Summaries of all functions that `root` calls, directly or not (itself included): callees first, and those that call
    one another by fixpoint.  What is `known` is taken as it is, and added to."""
    called: dict[str, list[str]] = {}
    summaries: dict[str, Summary] = {} if known is None else known

    def calls(name: str) -> list[str]:
        if name in summaries:
            return []
        if name not in called:
            blocks = module.functions[name].blocks
            called[name] = list(dict.fromkeys([i.attrs["callee"] for b in blocks for i in b.instrs if i.op in CALLING]))
        return called[name]

    for component in components([root], calls):
        if component[0] in summaries:
            continue
        recursive = len(component) > 1 or component[0] in calls(component[0])
        for name in component:
            results = len(module.functions[name].results)
            summaries[name] = Summary([0] * results, shares=[0] * results)
        changed = True
        while changed:
            changed = False
            for name in component:
                new = _summary(module.functions[name], module, summaries)
                changed = changed or recursive and new.key() != summaries[name].key()
                summaries[name] = new
    return summaries


def summary_of(module: Module, name: str, summaries: dict[str, Summary]) -> Summary:
    """That of one more function, which is kept beside those that are known."""
    return summarise(module, name, summaries)[name]


def _summary(function: Function, module: Module, summaries: dict[str, Summary]) -> Summary:
    code = code_of(function)
    if code is not None:
        results, arrays, written, stored, shares, changed, (pops,) = code.summary
        return Summary([*results], dict(arrays), {*written}, {*stored}, [*shares], {*changed}, pops)
    activity = Activity(function, module, summaries)
    result = Summary([0] * len(function.results), shares=[0] * len(function.results))
    result.pops = activity.takes_off_tapes()
    has_tapes = any(v.type is TAPE for v in function.params) or any(i.op == "tape" for _, i in function.instructions())
    aliases = Aliases(function, module, summaries, tapes=False) if has_tapes and not result.pops else activity.aliases
    for instr in [block.instrs[-1] for block in function.blocks]:
        if instr.op == "return":
            memory = [*function.params, *instr.operands]
            for r, v in enumerate(instr.operands):
                if _carries(v.type):
                    result.results[r] |= activity.varied_by(v)
                if isinstance(v.type, Array):
                    for k, other in enumerate(memory[: len(function.params) + r]):
                        if isinstance(other.type, Array) and aliases.find(other) is aliases.find(v):
                            result.shares[r] |= 1 << k
    for k, p in enumerate(function.params):
        if isinstance(p.type, Array) or p.type is TAPE or isinstance(p.type, Stack):
            result.arrays[k] = activity.varied_by(p)
            if activity.rep(p) in activity.written:
                result.written.add(k)
            if activity.rep(p) in activity.stored:
                result.stored.add(k)
    result.changed = activity.changed_parameters()
    return result


def dependence(module: Module, name: str) -> tuple[bool, ...]:
    """For each parameter of function `name`: whether a differentiable path leads from it to a result."""
    summary = summarise(module, name)[name]
    bits = 0
    for b in summary.results:
        bits |= b
    return tuple(bool(bits >> k & 1) for k in range(len(module.functions[name].params)))
