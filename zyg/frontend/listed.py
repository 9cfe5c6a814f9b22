"""Arrays in lists of run-time length, which are kept by value (growing.py): a program that changes an array after it was put into
such a list, or an item of the list in place, would see the difference. It is refused.

An array may be changed by a `store` and the like to any view of it, wherever it came from: each array value has *roots*, the
places where its memory is made: an `alloc`, a parameter, the result of a call. What calls do is found in summaries of the
functions called. A change is in the way if control may come to it from where the array was listed without coming by the place
where that root is made anew, as in the next iteration of a loop.

Lists in lists are in the same memory, and their items may be set where they are: `table[i][j] = x`. That is right as long as
there is one place for each row. It is refused if a row that was put there is read by its former memory later on, or was put
there twice, and if a row that was taken out is used after the list took in another one, which may have moved its memory.

Of an array in such a list it is not kept how large the gaps are between its elements (pools.py). That somebody asks for what tells them of
an array which may be out of a list that took in one with gaps, or of a view of it, is refused, too: by the roots of the lists' memory.

The windows of `sliding_window_view` are a copy, too, where NumPy's are a view: that the array is changed before the windows are
used for the last time is refused in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from zyg.errors import Unsupported
from zyg.ir.core import Block, Function, Instr, Module, Value
from zyg.ir.ops import OPS, SAME_MEMORY
from zyg.ir.readymade import CHANGED, SHARES
from zyg.ir.records import field, record
from zyg.ir.types import Array

if TYPE_CHECKING:
    from .evaluator import Inference

Root = Instr | tuple[Any, int]  # an `alloc`, ("parameter", n), or (a `call`, n) for its result n

_WRITES = frozenset({"store", "accum", "fill", "copyto", "addto"})
WHAT = "a change of an array that is in a list whose length is not known when compiling"
WHAT_OF_ROWS = "a list in a list whose length is not known when compiling, which has another name too"
HINT_OF_ROWS = "make the list of lists first, and use its items as table[i][j] then"
WHAT_OF_WINDOWS = "a change of an array whose windows, as sliding_window_view gave them, are used afterwards"
HINT_OF_WINDOWS = "take the windows of a copy, sliding_window_view(a.copy(), ...), or take them anew"
WHAT_OF_GAPS = "{} of an array out of a list whose length is not known when compiling, where arrays are put into it that are not contiguous"
HINT_OF_GAPS = "put copies into the list, or make an array of it: np.stack(xs)"
TELLING_GAPS = {"strides": "the strides", "flags": "the flags", "nditer": "np.nditer"}
SHOWN_WINDOWS = "windows of an argument, as sliding_window_view gives them, as a result"
HINT = "put a copy into the list, xs.append(x.copy()), or make a new array instead of changing one"


@record
class Summary:
    """What a function does with its parameters, by number, and which of its results may be the same memory or a list's."""

    written: set[int] = field(default_factory=set)
    listed: set[int] = field(default_factory=set)
    shown: set[int] = field(default_factory=set)  # in results that are windows of them
    aliases: dict[int, set[int]] = field(default_factory=dict)
    pools: set[int] = field(default_factory=set)
    replaced: set[int] = field(default_factory=set)  # of those written, the ones in other ways than as items of rows
    shared: bool = False  # what it puts into lists may have another name afterwards
    # What is not kept of arrays in lists that are parameters, or results, and what is read of parameters (Inference.lost, reads).
    lost: dict[int, set[str]] = field(default_factory=dict)
    lost_of_results: dict[int, set[str]] = field(default_factory=dict)
    read: dict[int, set[str]] = field(default_factory=dict)

    def size(self) -> int:
        sets = (self.written, self.listed, self.shown, self.pools, self.replaced)
        for table in (self.aliases, self.lost, self.lost_of_results, self.read):
            sets += tuple(table.values())
        return sum(map(len, sets)) + self.shared


def check(inference: Inference, entry: str) -> None:
    """Raise Unsupported if an array in a list of run-time length may be changed."""
    if not (inference.pooled or inference.windows):
        return
    for analysis in analyses(inference.module, {}, inference):
        analysis.check(analysis.function.name == entry)


def analyses(module: Module, summaries: dict[str, Summary], inference: Inference) -> list[Analysis]:
    """The functions that have to do with arrays, analysed; `summaries` is filled in. Functions are looked at again where what is known
    of one that they call has changed."""
    calls = {f.name: [i.attrs["callee"] for _, i in f.instructions() if i.op == "call"]
             for f in module.functions.values() if _has_arrays(f)}  # fmt: skip
    callers: dict[str, list[str]] = {name: [] for name in calls}
    for name, called in calls.items():
        summaries[name] = Summary()
        for callee in called:
            if callee in callers:
                callers[callee].append(name)
    found: dict[str, Analysis] = {}
    work = dict.fromkeys(_callees_first(calls))
    while work:
        name = next(iter(work))
        del work[name]
        before = summaries[name].size()
        found[name] = Analysis(module.functions[name], module, summaries, inference)
        if summaries[name].size() != before:
            work.update(dict.fromkeys(callers[name]))
    return [found[name] for name in calls]


def _has_arrays(function: Function) -> bool:
    return any(isinstance(p.type, Array) for p in function.params) or any(
        isinstance(r.type, Array) for block in function.blocks for i in block.instrs for r in i.results
    )


def _callees_first(calls: dict[str, list[str]]) -> list[str]:
    """The functions in an order in which those that one calls come before it, as far as there is one."""
    order: dict[str, None] = {}
    seen: set[str] = set()
    for root in calls:
        work = [root]
        while work:
            name = work[-1]
            if name not in seen:
                seen.add(name)
                work += [callee for callee in calls[name] if callee in calls and callee not in seen]
            else:
                work.pop()
                order.setdefault(name)
    return list(order)


class Analysis:
    """The roots of a function's arrays; what it finds goes into the function's summary."""

    def __init__(self, function: Function, module: Module, summaries: dict[str, Summary], inference: Inference):
        self.function = function
        self.summaries = summaries
        self.inference = inference
        self.roots: dict[Value, set[Root]] = {}
        self.places = {i: (b, n) for b in function.blocks for n, i in enumerate(b.instrs)}
        self._find_roots()
        self.pools: set[Root] = set()
        for instr in self.places:
            if instr in inference.listings and instr.op == "copyto":
                self.pools |= self.of(instr.operands[0])
            elif instr.op == "call" and self._summary(instr).pools:
                self.pools.add((instr, 0))
        self.lost = self._find_lost() if inference.lost else {}
        self._summarise(summaries[function.name])

    def of(self, v: Value) -> set[Root]:
        return self.roots.get(v, set())

    def _summary(self, call: Instr) -> Summary:
        return self.summaries.get(call.attrs["callee"]) or Summary()

    def _find_roots(self) -> None:
        for n, p in enumerate(self.function.params):
            if isinstance(p.type, Array):
                self.roots[p] = {("parameter", n)}
        giving = [i for i in self.places if i.results or i.targets]
        changed = True
        while changed:
            changed = False
            rest = []
            for instr in giving:
                gives = False
                for v, found in self._sources(instr):
                    gives = True
                    own = self.roots.setdefault(v, set())
                    if not found <= own:
                        own |= found
                        changed = True
                if gives:
                    rest.append(instr)
            if len(self.function.blocks) == 1:  # what is used stands behind what gives it
                break
            giving = rest

    def _sources(self, instr: Instr) -> Iterator[tuple[Value, set[Root]]]:
        """Array values that an instruction or its edges define, and what they may be."""
        for target in instr.targets:
            for p, v in zip(target.block.params, target.args):
                if isinstance(p.type, Array):
                    yield p, self.of(v)
        if instr.op == "call":
            summary = self._summary(instr)
            for n, result in enumerate(instr.results):
                if isinstance(result.type, Array):
                    given = [self.of(instr.operands[k]) for k in summary.aliases.get(n, ())]
                    # Rows may be parts of the lists that it returns.
                    made: set[Root] = {(instr, 0 if summary.pools else n)}
                    yield result, made.union(*given)
            return
        for n, result in enumerate(instr.results):
            if isinstance(result.type, Array):
                if instr.op == "readymade":
                    bits = instr.attrs["code"].summary[SHARES][n]
                    given = [self.of(v) for k, v in enumerate(instr.operands) if bits >> k & 1]
                    yield result, {instr}.union(*given)
                elif instr.op in SAME_MEMORY:
                    yield result, self.of(instr.operands[0])
                elif OPS[instr.op].memory == "chosen":
                    yield result, set().union(*map(self.of, instr.operands))
                else:
                    yield result, {instr}

    def _find_lost(self) -> dict[Root, set[str]]:
        """What arrays do not have any more that are in the memory of lists: by the roots of that."""
        lost: dict[Root, set[str]] = {}
        copies: list[tuple[set[Root], set[Root]]] = []
        for instr in self.places:
            if instr in self.inference.listings and instr.op == "copyto":
                copies.append((self.of(instr.operands[0]), self.of(instr.operands[1])))
                for root in self.of(instr.operands[0]):
                    lost.setdefault(root, set()).update(self.inference.lost.get(instr, ()))
            elif instr.op == "call":
                summary = self._summary(instr)
                for values, table in ((instr.operands, summary.lost), (instr.results, summary.lost_of_results)):
                    for n, what in table.items():
                        for root in self.of(values[n]):
                            lost.setdefault(root, set()).update(what)
        before = -1
        while before != (before := sum(map(len, lost.values()))):
            for to, source in copies:
                for root in to:
                    lost[root].update(*(lost.get(other, ()) for other in source))
        return lost

    def reads(self) -> Iterator[tuple[Instr, set[Root], str]]:
        """Where what tells of gaps is read of arrays, with their roots."""
        for instr in self.places:
            if instr in self.inference.reads:
                yield instr, self.of(instr.operands[0]), self.inference.reads[instr]
            elif instr.op == "call":
                for n, read in self._summary(instr).read.items():
                    for what in read:
                        yield instr, self.of(instr.operands[n]), what

    def _summarise(self, summary: Summary) -> None:
        numbers = lambda roots: {r[1] for r in roots if isinstance(r, tuple) and r[0] == "parameter"}
        if self.inference.lost:
            for root, what in self.lost.items():
                for n in numbers({root}):
                    summary.lost.setdefault(n, set()).update(what)
            for _, roots, what in self.reads():
                for n in numbers(roots):
                    summary.read.setdefault(n, set()).add(what)
        for change, roots in self.changes():
            summary.written |= numbers(roots)
            if not self._in_rows(change):
                summary.replaced |= numbers(roots)
        summary.shared |= any(True for _ in self._read_elsewhere()) or any(
            self._summary(i).shared for i in self.places if i.op == "call"
        )
        for _, roots in self.listings():
            summary.listed |= numbers(roots)
        for _, roots, held in self.windows():
            if any(i.op == "return" for i in self._uses(held)):
                summary.shown |= numbers(roots)
        for block in self.function.blocks:
            last = block.instrs[-1] if block.instrs else None
            if last is not None and last.op == "return":
                for n, v in enumerate(last.operands):
                    if isinstance(v.type, Array):
                        summary.aliases.setdefault(n, set()).update(numbers(self.of(v)))
                        lost = set().union(*(self.lost.get(root, ()) for root in self.of(v)))
                        if lost:
                            summary.lost_of_results.setdefault(n, set()).update(lost)
                        if self.of(v) & self.pools:
                            summary.pools.add(n)

    def changes(self) -> Iterator[tuple[Instr, set[Root]]]:
        """Instructions that change arrays, but those of the lists themselves, and of what roots."""
        for instr, changed in self.changed_values():
            roots = set().union(*map(self.of, changed))
            if roots:
                yield instr, roots

    def changed_values(self) -> Iterator[tuple[Instr, list[Value]]]:
        for instr in self.places:
            if instr in self.inference.listings:
                continue
            changed: list[Value] = []
            if instr.op in _WRITES:
                changed = instr.operands[:1]
            elif instr.op == "apply":
                changed = instr.operands[: len(instr.attrs["modes"])]
            elif instr.op == "foreign":
                changed = [
                    v for v, letter in zip(instr.operands, instr.attrs["spec"].replace("o", "")) if letter in "wm"
                ]
            elif instr.op == "call":
                changed = [instr.operands[n] for n in self._summary(instr).written]
            elif instr.op == "pycall" and not instr.attrs.get("reads"):
                changed = instr.operands
            elif instr.op == "readymade":
                changed = [instr.operands[n] for n in instr.attrs["code"].summary[CHANGED]]
            if changed:
                yield instr, changed

    def listings(self) -> Iterator[tuple[Instr, set[Root]]]:
        """Where arrays are put into lists, and their roots."""
        for instr in self.places:
            if instr in self.inference.pooled:
                yield instr, self.of(instr.operands[1])
            elif instr.op == "call":
                for n in self._summary(instr).listed:
                    yield instr, self.of(instr.operands[n])

    def windows(self) -> Iterator[tuple[Instr, set[Root], list[Value]]]:
        """Where windows of arrays are made, the roots of these, and what has the windows."""
        for instr in self.places:
            if instr in self.inference.windows:
                yield instr, self.of(instr.operands[0]), [self.inference.windows[instr]]
            elif instr.op == "call" and self._summary(instr).shown:
                roots = set().union(*(self.of(instr.operands[n]) for n in self._summary(instr).shown))
                yield instr, roots, instr.results

    def check_windows(self, changes: list[tuple[Instr, set[Root]]], is_entry: bool) -> None:
        for made, roots, held in self.windows():
            uses = self._uses(held)
            if is_entry and self._parameters(roots) and any(i.op == "return" for i in uses):
                raise Unsupported(SHOWN_WINDOWS, made.position, hint="return a copy of them")
            for change, changed in changes:
                common = self._common(roots, changed, is_entry)
                if not any(self.reaches(made, change, made_at(root)) for root in common):
                    continue
                if change.op == "call" and change in uses or any(self.reaches(change, use, made) for use in uses):
                    raise Unsupported(WHAT_OF_WINDOWS, change.position, hint=HINT_OF_WINDOWS)

    def _common(self, kept: set[Root], changed: set[Root], is_entry: bool) -> set[Root]:
        roots = kept & changed
        if is_entry and self._parameters(kept) and self._parameters(changed):
            roots.add(("parameter", 0))  # two arguments may be the same array
        return roots

    def check(self, is_entry: bool) -> None:
        changes = list(self.changes())
        self.check_windows(changes, is_entry)
        if self.inference.lost:
            for read, roots, what in self.reads():
                if any(what in self.lost.get(root, ()) for root in roots):
                    raise Unsupported(WHAT_OF_GAPS.format(TELLING_GAPS[what]), read.position, hint=HINT_OF_GAPS)
        rows: set[Root] = set()
        for change, roots in changes:
            if roots & self.pools and not self._in_rows(change):
                raise Unsupported(WHAT, change.position, hint=HINT)
            rows |= roots & self.pools
        if rows:
            for reason in self._other_names(self._together(rows)):
                raise Unsupported(WHAT_OF_ROWS, reason.position, hint=HINT_OF_ROWS)
        for listing, listed in self.listings():
            for change, changed in changes:
                for root in self._common(listed, changed, is_entry):
                    if self.reaches(listing, change, made_at(root)):
                        raise Unsupported(WHAT, change.position, hint=HINT)

    def _in_rows(self, change: Instr) -> bool:
        """Whether a change sets items of lists that are items."""
        if change.op != "call":
            return change in self.inference.row_stores
        operands = [change.operands[n] for n in self._summary(change).replaced]
        return not any(self.of(v) & self.pools for v in operands)

    def _together(self, rows: set[Root]) -> set[Root]:
        """The roots of lists, with those that the same value may have."""
        before = -1
        while before != (before := len(rows)):
            for roots in self.roots.values():
                if roots & rows:
                    rows |= roots & self.pools
        return rows

    def _other_names(self, rows: set[Root]) -> Iterator[Instr]:
        """Instructions for which it matters that rows are kept in the list's memory, where the rows of such lists are set."""
        yield from self._read_elsewhere()
        for instr in self.places:
            if (
                instr.op == "call"
                and self._summary(instr).shared
                and self._concerns((*instr.operands, *instr.results), rows)
            ):
                yield instr
        taking_in = [(i, roots) for i, roots in self._taking_in() if roots & rows]
        for instr, roots in taking_in:
            rows_too = instr.op == "call" and self._concerns(instr.operands, rows) > 1
            if rows_too or any(isinstance(r, tuple) and r[0] == "parameter" for r in roots):
                yield instr
        for taken in list(self.places):
            roots = set().union(*(self.of(v) & rows for v in taken.operands if isinstance(v.type, Array)))
            if not roots or taken in self.inference.listings or not (taken.op in SAME_MEMORY or taken.op == "call"):
                continue
            begin = [r for r in roots if r not in self.inference.grown]
            uses: list[Instr] | None = None
            for instr, into in taking_in:
                if any(r in into and self.reaches(taken, instr, made_at(r)) for r in begin):
                    uses = self._uses(taken.results) if uses is None else uses
                    yield from (use for use in uses if self.reaches(instr, use, taken))

    def _concerns(self, values: Iterable[Value], rows: set[Root]) -> int:
        """How many of these values may be the memory of such lists."""
        return sum(not rows.isdisjoint(self.of(v)) for v in values)

    def _taking_in(self) -> Iterator[tuple[Instr, set[Root]]]:
        """Where lists take something in, with the roots of their memory."""
        for instr in self.places:
            if instr in self.inference.pooled:
                yield instr, self.of(instr.operands[0])
            elif instr.op == "call" and (self._summary(instr).pools or self._summary(instr).listed):
                yield instr, set().union(*map(self.of, instr.operands))

    def _read_elsewhere(self) -> Iterator[Instr]:
        """Uses of what was put into lists, by its former memory."""
        users: dict[Root, list[Instr]] | None = None
        for listing, roots in self.listings():
            if users is None:
                users = {}
                for instr in self.places:
                    for root in set().union(*map(self.of, instr.operands)):
                        users.setdefault(root, []).append(instr)
            for root in roots - self.inference.grown:
                for user in users.get(root, ()):
                    if self.reaches(listing, user, made_at(root)):
                        yield user

    def _uses(self, taken: Iterable[Value]) -> list[Instr]:
        """The instructions that use arrays, by any name."""
        names = {v for v in taken if isinstance(v.type, Array)}
        before = -1
        while before != (before := len(names)):
            for block in self.function.blocks:
                for instr in block.instrs:
                    if instr.op in (*SAME_MEMORY, "select") and not names.isdisjoint(instr.operands):
                        names.update(instr.results)
                    for target in instr.targets:
                        names.update(p for p, v in zip(target.block.params, target.args) if v in names)
        return [i for i in self.places if i.op not in SAME_MEMORY and not names.isdisjoint(i.operands)]

    def _parameters(self, roots: set[Root]) -> bool:
        return any(isinstance(r, tuple) and r[0] == "parameter" for r in roots)

    def reaches(self, start: Instr, end: Instr, made: Instr | None) -> bool:
        """Whether control may come from one instruction to another without coming by `made`."""
        block, n = self.places[start]
        seen: set[Block] = set()
        work: list[tuple[Block, int]] = [(block, n + 1)]
        while work:
            block, n = work.pop()
            for instr in block.instrs[n:]:
                if instr is end:
                    return True
                if instr is made:
                    break
            else:
                for target in block.instrs[-1].targets if block.instrs else ():
                    if target.block not in seen:
                        seen.add(target.block)
                        work.append((target.block, 0))
        return False


def made_at(root: Root) -> Instr | None:
    if isinstance(root, Instr):
        return root
    return root[0] if isinstance(root[0], Instr) else None
