"""Run two `apply`s over the same arrays in one loop: value and derivative compute the same things.

Input: any module, best after `fuse`.  Output: two `apply`s of a block that share an array, one of them with new results only,
are one, which gives the results of both.  So that more can be: adding to several views of one new array is done for one after
the other, and what is added to zeros that nobody has seen is what they are set to.

Invariant: nothing is written between the two that the first one reads; sums in NumPy's order keep it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import cached_property

from ..analysis import Dominators, confined_arrays, definitions
from ..core import Block, Const, Function, Instr, Module, Value, array_type, clone_blocks, const, uses
from ..ops import OPS, VIEWS
from ..types import I64, Array, Scalar
from . import cse, dce, neighbours, simplify_cfg
from .fuse import Signature, ins_of, outs_of, returns, root_of
from .inline import inline_calls
from .neighbours import groups_of, same_length

_SMALL = 32  # instructions that may be done several times
_LARGEST_IN_LANES = 80  # of two for which one loop in the lanes of vectors is quicker than one in them and one by LLVM


def run(module: Module) -> bool:
    """Run two `apply`s over the same arrays at once, where neither needs what the other makes."""
    changed = False
    for function in list(module.functions.values()):
        applies = sum(i.op == "apply" for _, i in function.instructions())
        changed |= applies > 0 and _drop_unread(module, function)
        if applies:
            changed |= _one_view_each(module, function)
            changed |= _forwards(function)
        if applies > 1 or changed:
            changed |= _merge_all(module, function)
        if applies:
            changed |= _set_what_is_zero(function)
    return changed


def _one_view_each(module: Module, function: Function) -> bool:
    """Adding to several views of one new array at once, by a small function, is done for one after the other: what is
    written through one may lie before what is read through the other, so that such loops go element by element."""
    changed = False
    made = {r: i for _, i in function.instructions() for r in i.results}
    memory = _Memory(function, made)
    for block in function.blocks:
        for apply in [i for i in block.instrs if i.op == "apply"]:
            callee, outs = module.functions[apply.attrs["callee"]], outs_of(apply)
            roots = [root_of(made, v) for v in outs]
            read = {root_of(made, v) for v in ins_of(apply) if isinstance(v.type, Array)}
            apart = [
                k for k, (v, root) in enumerate(zip(outs, roots, strict=True))
                if v is not root and root in roots[:k] + roots[k + 1 :] and _is_new(made, root) and not memory.shared({root}, read)
            ]  # fmt: skip
            touched = [k for k, root in enumerate(roots) if root in {roots[n] for n in apart}]
            if not apart or not _is_small(callee) or {apply.attrs["modes"][k] for k in touched} != {"add"}:
                continue
            if any(outs.count(outs[k]) > 1 for k in apart) or groups_of(apply):
                continue
            groups = neighbours.in_lanes(apply, callee) and neighbours.found(made, outs, roots)
            if groups:
                _furthest_first(module, apply, groups)
                changed = True
                continue
            at = block.instrs.index(apply)
            for k in apart:
                own = with_results(module, callee, [k])
                attrs = {"callee": own.name, "modes": ("add",)}
                block.instrs.insert(at, Instr("apply", [outs[k], *ins_of(apply)], [], attrs, [], apply.position))
            keep = [k for k in range(len(callee.results)) if k not in apart]
            modes = tuple(apply.attrs["modes"][k] for k in keep if k < len(outs))
            apply.operands[:] = [*(outs[k] for k in keep if k < len(outs)), *ins_of(apply)]
            apply.attrs = {**apply.attrs, "callee": with_results(module, callee, keep).name, "modes": modes}
            changed = True
            if not modes and not apply.results:
                block.instrs.remove(apply)
    return changed


def _furthest_first(module: Module, apply: Instr, groups: tuple[neighbours.Group, ...]) -> None:
    """Write to slices that lie close together in the order of their elements."""
    count = len(apply.attrs["modes"])
    ahead = {k: distance for group in groups for k, distance in group}
    order = sorted(range(count), key=lambda k: -ahead.get(k, 0))
    callee = module.functions[apply.attrs["callee"]]
    keep = [*order, *range(count, len(callee.results))]
    apply.operands[:count] = [apply.operands[k] for k in order]
    apply.attrs = {
        **apply.attrs,
        "callee": with_results(module, callee, keep).name,
        "modes": tuple(apply.attrs["modes"][k] for k in order),
        "neighbours": neighbours.shifted(groups, {k: n for n, k in enumerate(order)}),
    }


def _forwards(function: Function) -> bool:
    """Adding to a new array seen backwards is adding to it with all that is read seen backwards: so it can be one with what else
    is added to it."""
    changed = False
    made = {r: i for _, i in function.instructions() for r in i.results}
    memory = _Memory(function, made)
    for block in function.blocks:
        for apply in [i for i in block.instrs if i.op == "apply" and i.attrs["modes"] == ("add",) and not i.results]:
            (out,) = outs_of(apply)
            root = _turned(made, out)
            if root is None or not _is_new(made, root):
                continue
            if memory.shared({root}, [root_of(made, v) for v in ins_of(apply) if isinstance(v.type, Array)]):
                continue
            at = block.instrs.index(apply)
            _, *ends = made[out].operands
            turned: dict[Value, Value] = {}
            for v in ins_of(apply):
                if not isinstance(v.type, Array) or v in turned:
                    continue
                other = _turned(made, v)
                if other is None:
                    known = (i for i in block.instrs[:at] if i.op == "view" and _turned(made, i.result) is v)
                    view = next(known, None)
                    if view is None:
                        type = Array(v.type.dtype, 1, "A", v.type.writable)
                        view = Instr("view", [v, *ends], [Value(type, v.name)], {"spec": "s"}, [], apply.position)
                        made[view.result] = view
                        block.instrs.insert(at, view)
                        at += 1
                    other = view.result
                turned[v] = other
            apply.operands[:] = [root, *(turned.get(v, v) for v in ins_of(apply))]
            changed = True
    return changed


def _turned(made: dict[Value, Instr], v: Value) -> Value | None:
    """The array that `v` shows backwards from end to end."""
    view = made.get(v)
    if view is None or view.op != "view" or view.attrs["spec"] != "s":
        return None
    array, start, length, step = view.operands
    first = made.get(start)
    if first is None or first.op != "add" or first.operands[0] is not length:
        return None
    back = all(isinstance(v, Const) and v.value == -1 for v in (step, first.operands[1]))
    return array if back and _as_long(made, array, length) else None


def _as_long(made: dict[Value, Instr], array: Value, length: Value) -> bool:
    """Whether an array of one dimension has that length."""
    alloc, dim = made.get(array), made.get(length)
    if alloc is not None and alloc.op == "alloc":
        return same_length(made, alloc.operands[0], length)
    return dim is not None and dim.op == "dim" and dim.operands[0] is array


def _is_small(function: Function) -> bool:
    from .pairwise import is_arithmetic

    return is_arithmetic(function) and len(function.entry.instrs) <= _SMALL


def _drop_unread(module: Module, function: Function) -> bool:
    """What is set, or added to, that nobody reads: a gradient beside its tangent, of which only that is asked for."""
    changed = dce.run(function)
    several = any(i.op == "apply" and len(i.attrs["modes"]) + len(i.results) > 1 for _, i in function.instructions())
    for apply, places in dce.unread(function).items() if several else ():
        count = len(apply.attrs["modes"])
        kept = [k for k in range(count) if k not in places]
        operands = [*(apply.operands[k] for k in kept), *ins_of(apply)]
        callee = module.functions[apply.attrs["callee"]]
        if groups_of(apply) or not any(isinstance(v.type, Array) for v in operands):
            continue
        apply.operands[:] = operands
        own = with_results(module, callee, [*kept, *range(count, len(callee.results))])
        apply.attrs = {**apply.attrs, "callee": own.name, "modes": tuple(apply.attrs["modes"][k] for k in kept)}
        changed = True
    if changed:
        dce.run(function)
    return changed


def with_results(module: Module, function: Function, keep: Sequence[int]) -> Function:
    """A copy that gives these of the results, in this order."""
    copy = Function(
        module.unique_name(function.name), clone_blocks(function.blocks, {}), tuple(function.results[k] for k in keep)
    )
    copy.attrs = dict(function.attrs)
    for block in copy.blocks:
        if block.instrs[-1].op == "return":
            block.instrs[-1].operands[:] = [block.instrs[-1].operands[k] for k in keep]
    module.add(copy)
    dce.run(copy)
    return copy


def _set_what_is_zero(function: Function) -> bool:
    """What is added to all of a new array of zeros, before anybody has seen it, is what it is set to; so is what is added to
    a slice, outside of which it remains to be filled."""
    changed = False
    for block in function.blocks:
        made = {r: i for i in block.instrs for r in i.results}
        zeros = {v: i for v, i in made.items() if i.op == "alloc" and i.attrs.get("fill") == "zeros"}
        if not zeros:
            continue
        before: dict[Instr, list[Instr]] = {}
        for instr in block.instrs:
            if instr.op in (*VIEWS, "dim", "stride"):
                continue
            used = [root_of(made, v) for v in uses(instr)]
            first = {group[0][0]: len(group) for group in groups_of(instr)}
            for k, v in enumerate(outs_of(instr) if instr.op == "apply" else ()):
                root = root_of(made, v)
                if root in zeros and used.count(root) == first.get(k, 1) and instr.attrs["modes"][k] == "add":
                    if v is not root:
                        rest = _outside(made, made[v], zeros[root])
                        if rest is None:
                            continue
                        before[instr] = [*before.get(instr, ()), *rest]
                    modes = list(instr.attrs["modes"])
                    modes[k] = "set"
                    instr.attrs = {**instr.attrs, "modes": tuple(modes)}
                    zeros[root].attrs = {**zeros[root].attrs, "fill": "empty"}
                    changed = True
            for root in used:
                zeros.pop(root, None)
            if not zeros:
                break
        block.instrs[:] = [i for instr in block.instrs for i in (*before.get(instr, ()), instr)]
        _mark_what_is_zero(block, made)
    return changed


def _outside(made: dict[Value, Instr], view: Instr, alloc: Instr) -> list[Instr] | None:
    """Fill what lies before and behind a slice of neighbours; None for other views."""
    step = view.operands[-1]
    if view.op != "view" or view.attrs["spec"] != "s" or view.operands[0] is not alloc.result:
        return None
    if not isinstance(step, Const) or abs(step.value) != 1:
        return None
    (whole,), (_, start, length, _) = alloc.operands, view.operands
    if same_length(made, whole, length):
        return []
    instrs: list[Instr] = []

    def let(op: str, *operands: Value) -> Value:
        instrs.append(Instr(op, list(operands), [Value(I64)], {}, [], view.position))
        return instrs[-1].result

    first = start if step.value > 0 else let("add", let("sub", start, length), const(1))
    end = let("add", first, length)
    type = array_type(alloc.result)
    for at, count in ((const(0), first), (end, let("sub", whole, end))):
        part = Value(Array(type.dtype, 1, "C", type.writable))
        instrs.append(Instr("view", [alloc.result, at, count, const(1)], [part], {"spec": "s"}, [], view.position))
        instrs.append(Instr("fill", [part, const(0.0, type.dtype)], [], {}, [], view.position))
    return instrs


def _mark_what_is_zero(block: Block, made: dict[Value, Instr]) -> None:
    """The same for a new array that is seen broadcast: it is set if it turns out, when the code runs, that nothing in it is
    repeated, else filled before (the attribute `zero` has the positions)."""
    zeros = {v for v, i in made.items() if i.op == "alloc" and i.attrs.get("fill") == "zeros"}
    for instr in block.instrs:
        if not zeros:
            return
        if instr.op in (*VIEWS, "dim", "stride"):
            continue
        used = [root_of(made, v) for v in uses(instr)]
        if instr.op == "apply":
            marked = tuple(
                k
                for k, (v, mode) in enumerate(zip(outs_of(instr), instr.attrs["modes"], strict=True))
                if mode == "add" and v in made and made[v].op == "broadcast" and made[v].operands[0] in zeros
                and used.count(made[v].operands[0]) == 1
            )  # fmt: skip
            if marked:
                instr.attrs = {**instr.attrs, "zero": marked}
                for k in marked:
                    alloc = made[made[outs_of(instr)[k]].operands[0]]
                    alloc.attrs = {**alloc.attrs, "fill": "empty"}
        zeros.difference_update(used)


class _Memory:
    """Which arrays may be new ones, of an `alloc`, by other names: what comes round a loop, or out of a stack, in which they were put."""

    def __init__(self, function: Function, made: dict[Value, Instr]):
        self.function = function
        self.made = made

    def now_made_by(self, block: Block, instr: Instr) -> None:
        """What another instruction gave is what this one gives."""
        for r in instr.results:
            self.made[r] = instr
            if "places" in vars(self):
                self.places[r] = block, instr

    @cached_property
    def confined(self) -> set[Value]:
        return confined_arrays(self.function)

    @cached_property
    def places(self) -> dict[Value, tuple[Block, Instr | None]]:
        return definitions(self.function)

    @cached_property
    def dominators(self) -> Dominators:
        return Dominators(self.function)

    def shared(self, new: Iterable[Value], others: Iterable[Value]) -> bool:
        """Whether one of the others, none of which is a view, may be one of these new arrays."""
        others = set(others)
        return any(v in others or any(self._may_be(x, v) for x in others) for v in new)

    def _may_be(self, other: Value, new: Value) -> bool:
        if _is_new(self.made, other):
            return False
        (before, by), (here, alloc) = self.places[other], self.places[new]
        if before is here:
            assert alloc is not None
            later = by is not None and here.instrs.index(by) > here.instrs.index(alloc)
        else:
            later = before is not self.function.entry and not self.dominators.available(before, here)
        return later and new not in self.confined


def _merge_all(module: Module, function: Function) -> bool:
    """Merge pair by pair, from the first one of each block on, until there is none left."""
    made = {r: i for _, i in function.instructions() for r in i.results}
    memory = _Memory(function, made)
    changed = False
    for block in function.blocks:
        applies = [i for i in block.instrs if i.op == "apply"]
        arrays = {i: {v for v in i.operands if isinstance(v.type, Array)} for i in applies}
        order = {i: _any_order(module, i) for i in applies} if len(applies) > 1 else {}
        apart: set[tuple[Instr, Instr]] = set()  # pairs that are as they were when they could not be merged
        while (pair := _next_pair(module, block, memory, applies, arrays, order, apart)) is not None:
            first, second = pair
            at = {i: n for n, i in enumerate(block.instrs) if i.op == "apply"}
            apart = {(a, b) for a, b in apart if second not in (a, b) and not at[a] <= at[first] <= at[b]}
            meeting = _meeting(module, memory, first, second)
            _merge(module, block, made, first, second)
            if meeting:
                outs = outs_of(second)
                groups = neighbours.found(made, outs, [root_of(made, v) for v in outs])
                _furthest_first(module, second, groups or ())
            applies.remove(first)
            memory.now_made_by(block, second)
            arrays[second] = {v for v in second.operands if isinstance(v.type, Array)}
            order[second] = _any_order(module, second)
            changed = True
    return changed


def _next_pair(
    module: Module,
    block: Block,
    memory: _Memory,
    applies: Sequence[Instr],
    arrays: dict[Instr, set[Value]],
    order: dict[Instr, bool | None],
    apart: set[tuple[Instr, Instr]],
) -> tuple[Instr, Instr] | None:
    """The first two that can be one. `apart`: those that cannot, to which what is found is added."""
    made = memory.made
    for pair in itertools.combinations(applies, 2):
        first, second = pair
        if arrays[first].isdisjoint(arrays[second]) or pair in apart:
            continue
        apart.add(pair)
        orders = {order[first], order[second]} - {None}
        if len(orders) > 1 and not _in_lanes(module, first, second):
            continue
        if False in orders and any(_goes_by_rows(made, i) for i in pair):
            continue
        if any(map(groups_of, pair)) and not _remain_in_lanes(module, first, second):
            continue
        if _independent(block, memory, first, second, _meeting(module, memory, first, second)):
            return pair
    return None


def _goes_by_rows(made: dict[Value, Instr], apply: Instr) -> bool:
    """Whether a loop needs the indices of each axis: a sum in NumPy's order over whole arrays, which goes through them from end to
    end, would have another order in it."""
    arrays = [v for v in apply.operands if isinstance(v.type, Array) and v.type.ndim > 1]
    return any(v in made and made[v].op in VIEWS for v in arrays)


def _any_order(module: Module, apply: Instr) -> bool | None:
    """Whether the order of its sums is free; None if it has none.  Sums in NumPy's order are no part of loops over others,
    which LLVM vectorises only where all of them are free."""
    callee = module.functions[apply.attrs["callee"]]
    outs = len(apply.attrs["modes"])
    kinds = apply.attrs.get("kinds", ("add",) * len(apply.results))
    sums = [t for k, t in zip(kinds, callee.results[outs:], strict=True) if k == "add"]
    if not any(isinstance(t, Scalar) and t.kind == "f" for t in sums):
        return None
    return bool(apply.attrs.get("any_order")) or any(i.attrs.get("vectormath") for _, i in callee.instructions())


def _in_lanes(module: Module, first: Instr, second: Instr) -> bool:
    """Whether a loop over both can be written in the lanes of vectors, with all sums in NumPy's order, which is also one of
    those that are free."""
    from .pairwise import in_lanes

    callees = [module.functions[i.attrs["callee"]] for i in (first, second)]
    return all(map(in_lanes, callees)) and sum(len(f.entry.instrs) for f in callees) <= _LARGEST_IN_LANES


def _remain_in_lanes(module: Module, first: Instr, second: Instr) -> bool:
    """Whether a loop over both is written in lanes without fail."""
    alike = (neighbours.in_lanes(i, module.functions[i.attrs["callee"]]) for i in (first, second))
    return all(alike) and _in_lanes(module, first, second)


def _meeting(module: Module, memory: _Memory, first: Instr, second: Instr) -> set[Value]:
    """New arrays to which two `apply`s add in slices that lie close together, so that one can do both."""
    made = memory.made
    outs = [dict(zip(outs_of(i), i.attrs["modes"], strict=True)) for i in (first, second)]
    both = outs[0] | outs[1]
    roots = {v: root_of(made, v) for v in both}
    common = {roots[v] for v in outs[0]} & {roots[v] for v in outs[1]}
    read = {root_of(made, v) for i in (first, second) for v in ins_of(i) if isinstance(v.type, Array)}
    if not common or outs[0].keys() & outs[1].keys() or not all(_is_new(made, r) for r in common):
        return set()
    if memory.shared(common, read):
        return set()
    if any(mode != "add" for v, mode in both.items() if roots[v] in common):
        return set()
    close = neighbours.found(made, list(both), list(roots.values())) and _remain_in_lanes(module, first, second)
    return common if close else set()


def _is_new(made: dict[Value, Instr], root: Value) -> bool:
    return root in made and made[root].op == "alloc"


def _independent(block: Block, memory: _Memory, first: Instr, second: Instr, meeting: set[Value]) -> bool:
    """Whether `first` may wait for `second`, and the shapes are the same, as an array tells that they have in common.
    `meeting`: arrays to which both may add."""
    made = memory.made
    arrays = [{v for v in i.operands if isinstance(v.type, Array)} for i in (first, second)]
    if not arrays[0] & arrays[1]:
        return False
    outs = [i.operands[: len(i.attrs["modes"])] for i in (first, second)]
    shared = _added_to_by_both(made, first, second)
    shared |= meeting | {v for own in outs for v in own if root_of(made, v) in meeting}
    outs = [[v for v in own if v not in shared] for own in outs]
    arrays = [own - shared for own in arrays]
    fresh = lambda v: _is_new(made, root_of(made, v))
    for mine, others in ((outs[0], arrays[1]), (outs[1], arrays[0])):
        # New arrays are nobody else's, unless they are seen in another way.
        if not all(map(fresh, mine)):
            return False
        if memory.shared({root_of(made, v) for v in mine}, [root_of(made, v) for v in others]):
            return False
    start, end = block.instrs.index(first), block.instrs.index(second)
    roots, written_roots = {root_of(made, v) for v in arrays[0]}, {root_of(made, v) for v in outs[0]}
    shared_roots = {root_of(made, v) for v in shared}
    if any(memory.shared(shared_roots, [root_of(made, v) for v in own]) for own in arrays):
        return False
    waiting = _waiting(block, first, second)
    results = {*first.results, *(r for i in waiting for r in i.results)}
    for instr in block.instrs[start + 1 : end + 1]:
        if instr in waiting:
            continue
        if not results.isdisjoint(instr.operands):
            return False
        if instr.op in VIEWS or instr.op in ("dim", "stride"):
            continue
        given = [v for v in instr.operands if isinstance(v.type, Array) and (instr is not second or v not in shared)]
        if memory.shared(written_roots | shared_roots, [root_of(made, v) for v in given]):
            return False
        if instr is second or instr.op == "alloc" or OPS[instr.op].effects not in ("write", "effect"):
            continue
        written = instr.operands[: len(instr.attrs["modes"])] if instr.op == "apply" else instr.operands[:1]
        if instr.op not in ("apply", "fill") or not all(map(fresh, written)):
            return False
        if memory.shared({root_of(made, v) for v in written}, roots):
            return False
    return True


def _waiting(block: Block, first: Instr, second: Instr) -> list[Instr]:
    """What is computed between the two of the sums of the first one, and can be computed behind the second."""
    found: list[Instr] = []
    known = set(first.results)
    for instr in block.instrs[block.instrs.index(first) + 1 : block.instrs.index(second)]:
        if not known.isdisjoint(uses(instr)) and OPS[instr.op].effects == "pure" and instr.op not in VIEWS:
            found.append(instr)
            known.update(instr.results)
    return found


def _added_to_by_both(made: dict[Value, Instr], first: Instr, second: Instr) -> set[Value]:
    """New arrays to which two `apply`s add, each as a whole."""
    added = [
        {v for v, mode in zip(outs_of(i), i.attrs["modes"], strict=True) if mode == "add" and outs_of(i).count(v) == 1}
        for i in (first, second)
    ]
    grouped = {outs_of(i)[k] for i in (first, second) for group in groups_of(i) for k, _ in group}
    return {v for v in (added[0] & added[1]) - grouped if _is_new(made, v)}


def _merge(module: Module, block: Block, made: dict[Value, Instr], first: Instr, second: Instr) -> None:
    any_order = all(_any_order(module, i) is not False for i in (first, second))
    f, g = (module.functions[i.attrs["callee"]] for i in (first, second))
    outs = [len(i.attrs["modes"]) for i in (first, second)]
    signature = Signature()
    given = [
        [signature.param(v, p) for v, p in zip(i.operands[n:], function.params, strict=True)]
        for i, n, function in ((first, outs[0], f), (second, outs[1], g))
    ]
    results = [[Value(t) for t in function.results] for function in (f, g)]
    shared = _added_to_by_both(made, first, second)
    own, totals = [], []
    for v, x in zip(outs_of(first), results[0], strict=False):
        if v in shared:
            total = Instr("add", [x, results[1][outs_of(second).index(v)]], [Value(x.type)], {}, [], second.position)
            totals.append(total)
            x = total.result
        own.append(x)
    others = [k for k, v in enumerate(outs_of(second)) if v not in shared]
    ordered = [*own, *(results[1][k] for k in others), *results[0][outs[0] :], *results[1][outs[1] :]]
    both = Function(
        module.unique_name(f"{g.name}.with"), [Block("entry", signature.params)], tuple(v.type for v in ordered)
    )
    both.attrs = {**g.attrs, **returns(f)}
    both.entry.instrs = [
        Instr("call", given[0], results[0], {"callee": f.name}, [], first.position),
        Instr("call", given[1], results[1], {"callee": g.name}, [], second.position),
        *totals,
        Instr("return", ordered),
    ]
    module.add(both)
    inline_calls(module, both)
    simplify_cfg.run(both)
    cse.run(both)
    modes = (*first.attrs["modes"], *(second.attrs["modes"][k] for k in others))
    second.operands[:] = [*outs_of(first), *(outs_of(second)[k] for k in others), *signature.operands]
    kinds = [i.attrs.get("kinds", ("add",) * len(i.results)) for i in (first, second)]
    groups = groups_of(first) + neighbours.shifted(groups_of(second), {k: len(own) + n for n, k in enumerate(others)})
    waiting = _waiting(block, first, second)
    block.instrs[:] = [i for i in block.instrs if i not in waiting]
    at = block.instrs.index(second) + 1
    block.instrs[at:at] = waiting
    second.results[:] = [*first.results, *second.results]
    second.attrs = {
        **second.attrs,
        "callee": both.name,
        "modes": modes,
        "kinds": (*kinds[0], *kinds[1]),
        "any_order": any_order,
        "effects": any(i.attrs.get("effects") for i in (first, second)),
        "neighbours": groups,
    }
    block.instrs.remove(first)
