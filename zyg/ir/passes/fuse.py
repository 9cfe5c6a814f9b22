"""Make one `apply` of two where the first makes an array that only the second one reads.

Input: any module.  Output: a new array that is set by one `apply` and first read by another `apply` of the same block is set
by this one: its function calls that of the first, so the elements travel in registers.  If nobody else reads the array, it is
gone.  Chains become one loop without temporaries, also where an array is read several times in them, reductions at their end
included, before differentiation: their adjoint then has no temporaries either.  Arrays of complex numbers are two arrays.
Two that share an array, one of them new results only, become one as well (`side_by_side`): value and derivative in one loop.

Invariant: nothing is written between the two that the first one reads; what may raise stays in order, as elementwise functions
on the elements of arrays raise nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence

from ..core import CALLING, VIEWS, Block, Const, Function, Instr, Module, Value, array_type, clone_blocks, const, uses
from ..ops import OPS
from ..types import I64, Array, Scalar
from . import cse, dce, simplify_cfg
from .accesses import Views
from .inline import inline_call
from .rewriting import constant_key, replace_uses, same

_LARGEST = 200  # instructions of a fused function: registers are few
_ANY_LAYOUT = frozenset({"apply", "copyto", "addto", "fill", "dim", "overlap"})
_SMALL = 32  # instructions that may be done several times
_LARGEST_IN_LANES = 80  # of two for which one loop in the lanes of vectors is quicker than one in them and one by LLVM


def run(module: Module) -> bool:
    changed = False
    for function in list(module.functions.values()):
        if any(i.op == "apply" for _, i in function.instructions()):
            _split_parts(function)
            _drop_full_broadcasts(function)
            while _same_broadcasts(function) or _fuse_one(module, function) or _broadcast_before(function):
                changed = True
    return changed


def side_by_side(module: Module) -> bool:
    """Run two `apply`s over the same arrays at once, where neither needs what the other makes."""
    changed = False
    for function in list(module.functions.values()):
        applies = sum(i.op == "apply" for _, i in function.instructions())
        if applies:
            changed |= _one_view_each(module, function)
        if applies > 1 or changed:
            while _merge_one(module, function):
                changed = True
        if applies:
            changed |= _set_what_is_zero(function)
    return changed


def _one_view_each(module: Module, function: Function) -> bool:
    """Adding to several views of one new array at once, by a small function, is done for one after the other: what is
    written through one may lie before what is read through the other, so that such loops go element by element."""
    changed = False
    made = {r: i for _, i in function.instructions() for r in i.results}
    for block in function.blocks:
        for apply in [i for i in block.instrs if i.op == "apply"]:
            callee, outs = module.functions[apply.attrs["callee"]], _outs(apply)
            roots = [_root(made, v) for v in outs]
            read = {_root(made, v) for v in _ins(apply)}
            apart = [
                k for k, (v, root) in enumerate(zip(outs, roots, strict=True))
                if v is not root and root in roots[:k] + roots[k + 1 :] and root not in read and _is_new(made, root)
            ]  # fmt: skip
            touched = [k for k, root in enumerate(roots) if root in {roots[n] for n in apart}]
            if not apart or not _is_small(callee) or {apply.attrs["modes"][k] for k in touched} != {"add"}:
                continue
            if any(outs.count(outs[k]) > 1 for k in apart):
                continue
            at = block.instrs.index(apply)
            for k in apart:
                own = _with_results(module, callee, [k])
                attrs = {"callee": own.name, "modes": ("add",)}
                block.instrs.insert(at, Instr("apply", [outs[k], *_ins(apply)], [], attrs, [], apply.position))
            keep = [k for k in range(len(callee.results)) if k not in apart]
            modes = tuple(apply.attrs["modes"][k] for k in keep if k < len(outs))
            apply.operands[:] = [*(outs[k] for k in keep if k < len(outs)), *_ins(apply)]
            apply.attrs = {**apply.attrs, "callee": _with_results(module, callee, keep).name, "modes": modes}
            changed = True
            if not modes and not apply.results:
                block.instrs.remove(apply)
    return changed


def _is_small(function: Function) -> bool:
    from .pairwise import is_arithmetic

    return is_arithmetic(function) and len(function.entry.instrs) <= _SMALL


def _with_results(module: Module, function: Function, keep: list[int]) -> Function:
    """A copy that gives some of the results only."""
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
        before: dict[Instr, list[Instr]] = {}
        for instr in block.instrs:
            if instr.op in (*VIEWS, "dim", "stride"):
                continue
            used = [_root(made, v) for v in uses(instr)]
            for k, v in enumerate(_outs(instr) if instr.op == "apply" else ()):
                root = _root(made, v)
                if root in zeros and used.count(root) == 1 and instr.attrs["modes"][k] == "add":
                    if v is not root:
                        rest = _outside(made[v], zeros[root])
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
        block.instrs[:] = [i for instr in block.instrs for i in (*before.get(instr, ()), instr)]
        _mark_what_is_zero(block)
    return changed


def _outside(view: Instr, alloc: Instr) -> list[Instr] | None:
    """Fill what lies before and behind a slice of neighbours; None for other views."""
    step = view.operands[-1]
    if view.op != "view" or view.attrs["spec"] != "s" or view.operands[0] is not alloc.result:
        return None
    if not isinstance(step, Const) or abs(step.value) != 1:
        return None
    (whole,), (_, start, length, _) = alloc.operands, view.operands
    if same(whole, length):
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


def _mark_what_is_zero(block: Block) -> None:
    """The same for a new array that is seen broadcast: it is set if it turns out, when the code runs, that nothing in it is
    repeated, else filled before (the attribute `zero` has the positions)."""
    made = {r: i for i in block.instrs for r in i.results}
    zeros = {v for v, i in made.items() if i.op == "alloc" and i.attrs.get("fill") == "zeros"}
    for instr in block.instrs:
        if instr.op in (*VIEWS, "dim", "stride"):
            continue
        used = [_root(made, v) for v in uses(instr)]
        if instr.op == "apply":
            marked = tuple(
                k
                for k, (v, mode) in enumerate(zip(_outs(instr), instr.attrs["modes"], strict=True))
                if mode == "add" and v in made and made[v].op == "broadcast" and made[v].operands[0] in zeros
                and used.count(made[v].operands[0]) == 1
            )  # fmt: skip
            if marked:
                instr.attrs = {**instr.attrs, "zero": marked}
                for k in marked:
                    alloc = made[made[_outs(instr)[k]].operands[0]]
                    alloc.attrs = {**alloc.attrs, "fill": "empty"}
        zeros.difference_update(used)


def _merge_one(module: Module, function: Function) -> bool:
    made = {r: i for _, i in function.instructions() for r in i.results}
    for block in function.blocks:
        applies = [i for i in block.instrs if i.op == "apply"]
        for first, second in itertools.combinations(applies, 2):
            orders = {_any_order(module, first), _any_order(module, second)} - {None}
            if len(orders) > 1 and not _in_lanes(module, first, second):
                continue
            if False in orders and any(_goes_by_rows(made, i) for i in (first, second)):
                continue
            if _independent(block, made, first, second):
                _merge(module, block, made, first, second)
                return True
    return False


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


def _is_new(made: dict[Value, Instr], root: Value) -> bool:
    return root in made and made[root].op == "alloc"


def _root(made: dict[Value, Instr], v: Value) -> Value:
    """What an array is a view of: an `alloc`, or something unknown."""
    while (instr := made.get(v)) is not None and instr.op in VIEWS:
        v = instr.operands[0]
    return v


def _independent(block: Block, made: dict[Value, Instr], first: Instr, second: Instr) -> bool:
    """Whether `first` may wait for `second`, and the shapes are the same, as an array tells that they have in common."""
    arrays = [{v for v in i.operands if isinstance(v.type, Array)} for i in (first, second)]
    if not arrays[0] & arrays[1]:
        return False
    outs = [i.operands[: len(i.attrs["modes"])] for i in (first, second)]
    shared = _added_to_by_both(made, first, second)
    outs = [[v for v in own if v not in shared] for own in outs]
    arrays = [own - shared for own in arrays]
    fresh = lambda v: _is_new(made, _root(made, v))
    for mine, others in ((outs[0], arrays[1]), (outs[1], arrays[0])):
        # New arrays are nobody else's, unless they are seen in another way.
        if not all(map(fresh, mine)) or {_root(made, v) for v in mine} & {_root(made, v) for v in others}:
            return False
    start, end = block.instrs.index(first), block.instrs.index(second)
    roots, written_roots = {_root(made, v) for v in arrays[0]}, {_root(made, v) for v in outs[0]}
    if any({_root(made, v) for v in own} & shared for own in arrays):
        return False
    waiting = _waiting(block, first, second)
    results = {*first.results, *(r for i in waiting for r in i.results)}
    for instr in block.instrs[start + 1 : end + 1]:
        if instr in waiting:
            continue
        if not results.isdisjoint(instr.operands):
            return False
        given = [v for v in instr.operands if instr is not second or v not in shared]
        if any(_root(made, v) in written_roots | shared for v in given) and not (
            instr.op in VIEWS or instr.op in ("dim", "stride")
        ):
            return False
        if instr is second or instr.op == "alloc" or OPS[instr.op].effects not in ("write", "effect"):
            continue
        written = instr.operands[: len(instr.attrs["modes"])] if instr.op == "apply" else instr.operands[:1]
        if instr.op not in ("apply", "fill") or not all(fresh(v) and _root(made, v) not in roots for v in written):
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
        {v for v, mode in zip(_outs(i), i.attrs["modes"], strict=True) if mode == "add" and _outs(i).count(v) == 1}
        for i in (first, second)
    ]
    return {v for v in added[0] & added[1] if _is_new(made, v)}


def _merge(module: Module, block: Block, made: dict[Value, Instr], first: Instr, second: Instr) -> None:
    any_order = all(_any_order(module, i) is not False for i in (first, second))
    f, g = (module.functions[i.attrs["callee"]] for i in (first, second))
    outs = [len(i.attrs["modes"]) for i in (first, second)]
    signature = _Signature()
    given = [
        [signature.param(v, p) for v, p in zip(i.operands[n:], function.params, strict=True)]
        for i, n, function in ((first, outs[0], f), (second, outs[1], g))
    ]
    results = [[Value(t) for t in function.results] for function in (f, g)]
    shared = _added_to_by_both(made, first, second)
    own, totals = [], []
    for v, x in zip(_outs(first), results[0], strict=False):
        if v in shared:
            total = Instr("add", [x, results[1][_outs(second).index(v)]], [Value(x.type)], {}, [], second.position)
            totals.append(total)
            x = total.result
        own.append(x)
    others = [k for k, v in enumerate(_outs(second)) if v not in shared]
    ordered = [*own, *(results[1][k] for k in others), *results[0][outs[0] :], *results[1][outs[1] :]]
    both = Function(
        module.unique_name(f"{g.name}.with"), [Block("entry", signature.params)], tuple(v.type for v in ordered)
    )
    both.attrs = dict(g.attrs)
    both.entry.instrs = [
        Instr("call", given[0], results[0], {"callee": f.name}, [], first.position),
        Instr("call", given[1], results[1], {"callee": g.name}, [], second.position),
        *totals,
        Instr("return", ordered),
    ]
    module.add(both)
    inline_call(module, both, inline_call(module, both, both.entry, 0), 0)
    simplify_cfg.run(both)
    cse.run(both)
    modes = (*first.attrs["modes"], *(second.attrs["modes"][k] for k in others))
    second.operands[:] = [*_outs(first), *(_outs(second)[k] for k in others), *signature.operands]
    kinds = [i.attrs.get("kinds", ("add",) * len(i.results)) for i in (first, second)]
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
    }
    block.instrs.remove(first)


class _Signature:
    """The parameters of a fused function: each operand once."""

    def __init__(self) -> None:
        self.operands: list[Value] = []
        self.params: list[Value] = []

    def param(self, v: Value, like: Value) -> Value:
        for known, p in zip(self.operands, self.params, strict=True):
            if same(known, v):
                return p
        self.operands.append(v)
        self.params.append(Value(like.type, like.name))
        return self.params[-1]


def _drop_full_broadcasts(function: Function) -> None:
    """An array that is broadcast to the very shape that it has is itself."""
    if not any(i.op in ("broadcast", "view") for _, i in function.instructions()):
        return
    views = Views(function)
    replaced: dict[Value, Value] = {}
    for block in function.blocks:
        for n, instr in enumerate(block.instrs):
            if instr.op == "broadcast" and _same(views.lengths(instr.operands[0]), instr.operands[1:]):
                spec = ":" * (len(instr.operands) - 1)
                block.instrs[n] = Instr("view", instr.operands[:1], [instr.result], {"spec": spec}, [], instr.position)
            elif instr.op in _ANY_LAYOUT:
                # Views of all of a contiguous array are that array.
                for k, v in enumerate(instr.operands):
                    instr.operands[k] = replaced.get(v, v)
            whole = block.instrs[n]
            if whole.op == "view" and set(whole.attrs["spec"]) <= {":"}:
                source = replaced.get(whole.operands[0], whole.operands[0])
                if array_type(source).layout == "C":
                    replaced[whole.result] = source
    if replaced:
        dce.run(function)


def _same(shape: Sequence[Value | None], other: list[Value]) -> bool:
    return len(shape) == len(other) and all(x is not None and same(x, y) for x, y in zip(shape, other, strict=True))


def _users(function: Function, values: Iterable[Value]) -> dict[Value, list[Instr]]:
    """The instructions that use each of the values."""
    users: dict[Value, list[Instr]] = {v: [] for v in values}
    if users:
        for _, instr in function.instructions():
            for v in users.keys() & uses(instr):
                users[v].append(instr)
    return users


def _fuse_one(module: Module, function: Function) -> bool:
    for block in function.blocks:
        made = {i.result: i for i in block.instrs if i.op == "alloc"}
        for n, first in enumerate(block.instrs):
            if first.op != "apply" or not _sets_new_arrays(first, made):
                continue
            second = _first_reader(block, n, first)
            if second is not None and _fusible(module, block, first, second):
                _fuse(module, block, first, second)
                _drop_unread(module, function, block, second, made)
                return True
    return False


def _outs(apply: Instr) -> list[Value]:
    return apply.operands[: len(apply.attrs["modes"])]


def _ins(apply: Instr) -> list[Value]:
    return apply.operands[len(apply.attrs["modes"]) :]


def _sets_new_arrays(apply: Instr, made: dict[Value, Instr]) -> bool:
    """Whether all that it writes are arrays of this block, each set and read by nothing in it."""
    outs = _outs(apply)
    return (
        bool(outs)
        and set(apply.attrs["modes"]) == {"set"}
        and len(set(outs)) == len(outs)
        and all(v in made for v in outs)
        and not set(outs) & set(_ins(apply))
    )


def _first_reader(block: Block, n: int, first: Instr) -> Instr | None:
    """The instruction that is the first to use what `first` makes, if it is an `apply` that reads elements of it."""
    given = {*_outs(first), *first.results}
    for instr in block.instrs[n + 1 :]:
        if instr.op == "dim" or not given & set(uses(instr)):
            continue
        if instr.op != "apply" or set(first.results) & set(instr.operands):
            return None
        outs = _outs(instr)
        for v, mode in zip(outs, instr.attrs["modes"], strict=True):
            # What it writes there may only take the place of what it read.
            if v in given and (mode != "set" or v not in _ins(instr) or outs.count(v) > 1):
                return None
        return instr if given & set(_ins(instr)) else None
    return None


def _fusible(module: Module, block: Block, first: Instr, second: Instr) -> bool:
    size = sum(len(b.instrs) for i in (first, second) for b in module.functions[i.attrs["callee"]].blocks)
    if size > _LARGEST or len(module.functions[first.attrs["callee"]].blocks) > 8:
        return False
    if not _may_wait(block, first, second):
        return False
    # What the second one writes may be read by the first only at the same index.
    read = {v for v in _ins(first) if isinstance(v.type, Array)}
    start, end = block.instrs.index(first), block.instrs.index(second)
    made = {r: i for i in block.instrs[start:end] for r in i.results}
    fresh = {*_outs(first), *(v for v, i in made.items() if i.op == "alloc")}
    return all(_root(made, v) in fresh or read <= {v} for v in _outs(second))


def _may_wait(block: Block, first: Instr, second: Instr) -> bool:
    """Whether nothing between the two writes what the first one reads."""
    start, end = block.instrs.index(first), block.instrs.index(second)
    fresh: set[Value] = set(_outs(first))
    for instr in block.instrs[start + 1 : end]:
        if instr.op == "alloc" or instr.op in VIEWS and instr.operands[0] in fresh:
            fresh.add(instr.result)
        elif instr.op == "apply":
            if not fresh.issuperset(_outs(instr)):
                return False
        elif instr.op in CALLING or OPS[instr.op].effects in ("write", "effect") and not (
            instr.op in ("fill", "store", "copyto", "accum") and instr.operands[0] in fresh
        ):  # fmt: skip
            return False
    return True


def _replace_lengths(function: Function, made: Instr, users: list[Instr]) -> None:
    lengths = {i.result: made.operands[i.attrs["axis"]] for i in users if i.op == "dim"}
    if lengths:
        replace_uses(function, lengths)
        for block in function.blocks:
            block.instrs[:] = [i for i in block.instrs if not (i.results and i.results[0] in lengths)]


def _fuse(module: Module, block: Block, first: Instr, second: Instr) -> None:
    """Let the function of `second` call that of `first` for the elements that it reads, and set what `first` set as well."""
    f, g = (module.functions[i.attrs["callee"]] for i in (first, second))
    signature = _Signature()
    inner = [signature.param(v, p) for v, p in zip(_ins(first), f.params, strict=True)]
    made = [Value(t) for t in f.results]
    elements = dict(zip(_outs(first), made, strict=False))
    outer = [
        elements[v] if v in elements else signature.param(v, p) for v, p in zip(_ins(second), g.params, strict=True)
    ]
    results = [Value(t) for t in g.results]
    own, count = _outs(second), len(second.attrs["modes"])
    kept = [(v, x) for v, x in elements.items() if v not in own]
    ordered = [*(x for _, x in kept), *results[:count], *made[len(elements) :], *results[count:]]
    fused = Function(module.unique_name(g.name), [Block("entry", signature.params)], tuple(v.type for v in ordered))
    fused.attrs = dict(g.attrs)
    fused.entry.instrs = [
        Instr("call", inner, made, {"callee": f.name}, [], first.position),
        Instr("call", outer, results, {"callee": g.name}, [], second.position),
        Instr("return", ordered),
    ]
    module.add(fused)
    inline_call(module, fused, inline_call(module, fused, fused.entry, 0), 0)
    simplify_cfg.run(fused)
    kinds = [i.attrs.get("kinds", ("add",) * len(i.results)) for i in (first, second)]
    second.operands[:] = [*(v for v, _ in kept), *own, *signature.operands]
    second.results[:] = [*first.results, *second.results]
    modes = (*("set" for _ in kept), *second.attrs["modes"])
    second.attrs = {**second.attrs, "callee": fused.name, "modes": modes, "kinds": (*kinds[0], *kinds[1])}
    block.instrs.remove(first)


def _drop_unread(
    module: Module,
    function: Function,
    block: Block,
    apply: Instr,
    made: dict[Value, Instr],
) -> None:
    """Arrays that nobody reads any more are not set."""
    callee = module.functions[apply.attrs["callee"]]
    users = _users(function, [v for v in _outs(apply) if v in made and v not in _ins(apply)])
    unread = [
        k
        for k, v in enumerate(_outs(apply))
        if v in users and all(user is apply or user.op == "dim" for user in users[v])
    ]  # fmt: skip
    if not unread:
        return
    dropped = [_outs(apply)[k] for k in unread]
    for v in dropped:
        _replace_lengths(function, made[v], users[v])
    keep = lambda items: [x for k, x in enumerate(items) if k not in unread]
    apply.operands[:] = keep(apply.operands)
    apply.attrs = {**apply.attrs, "modes": tuple(keep(apply.attrs["modes"]))}
    callee.results = tuple(keep(callee.results))
    for b in callee.blocks:
        if b.instrs[-1].op == "return":
            b.instrs[-1].operands[:] = keep(b.instrs[-1].operands)
    simplify_cfg.run(callee)
    cse.run(callee)
    dce.run(callee)
    block.instrs[:] = [i for i in block.instrs if not (i.op == "alloc" and i.result in dropped)]


def _same_broadcasts(function: Function) -> bool:
    """An array that is seen twice in one shape is one array."""
    replaced: dict[Value, Value] = {}
    for block in function.blocks:
        known: dict[tuple[Hashable, ...], Instr] = {}
        for instr in block.instrs:
            if instr.op != "broadcast":
                continue
            like = known.setdefault(
                tuple(constant_key(v) if isinstance(v, Const) else v for v in instr.operands), instr
            )
            if like is not instr:
                replaced[instr.result] = like.result
        if replaced:
            block.instrs[:] = [i for i in block.instrs if not (i.results and i.results[0] in replaced)]
    replace_uses(function, replaced)
    return bool(replaced)


def _broadcast_before(function: Function) -> bool:
    """What is computed of one-dimensional arrays and then seen broadcast, which repeats it if its length is 1, is computed of
    the arrays seen broadcast: so it is not kept from being fused by what is known only when the code runs."""
    seen_arrays = [i.operands[0] for _, i in function.instructions() if i.op == "broadcast"]
    users = _users(function, seen_arrays)
    for block in function.blocks:
        made = {i.result: i for i in block.instrs if i.op == "alloc"}
        for seen in [i for i in block.instrs if i.op == "broadcast"]:
            array = seen.operands[0]
            if array not in made or len(seen.operands) != 2 or len(made[array].operands) != 1:
                continue
            others = [i for i in users[array] if i is not seen and i.op != "dim"]
            first = others[0] if len(others) == 1 else None
            if first is None or first.op != "apply" or first not in block.instrs or first.results:
                continue
            if _outs(first) != [array] or not _sets_new_arrays(first, made) or not _may_wait(block, first, seen):
                continue
            _replace_lengths(function, made[array], users[array])
            length = seen.operands[1]
            inputs = {v: Value(Array(v.type.dtype, 1, "A", v.type.writable), v.name)
                      for v in _ins(first) if isinstance(v.type, Array)}  # fmt: skip
            broadcasts = [Instr("broadcast", [v, length], [b], {}, [], seen.position) for v, b in inputs.items()]
            type = array.type
            assert isinstance(type, Array)
            result = Value(Array(type.dtype, 1), array.name)
            alloc = Instr("alloc", [length], [result], dict(made[array].attrs), [], seen.position)
            block.instrs[:] = [i for i in block.instrs if i is not first and i is not made[array]]
            first.operands[:] = [result, *(inputs.get(v, v) for v in _ins(first))]
            n = block.instrs.index(seen)
            block.instrs[n : n + 1] = [*broadcasts, alloc, first]
            replace_uses(function, {seen.result: result})
            return True
    return False


# -------------------------------------------------------------------------------------- arrays of complex numbers


def _split_parts(function: Function) -> None:
    """A new array of complex numbers of which only the real and the imaginary parts are seen is an array for each."""
    users: dict[Value, list[Instr]] = {}
    for _, instr in function.instructions():
        for v in dict.fromkeys(uses(instr)):
            users.setdefault(v, []).append(instr)
    replaced: dict[Value, Value] = {}
    for block in function.blocks:
        for n, alloc in reversed(list(enumerate(block.instrs))):
            if alloc.op != "alloc" or not _seen_in_parts(alloc, users.get(alloc.result, [])):
                continue
            type = alloc.result.type
            assert isinstance(type, Array)
            lengths = alloc.operands[:-1]
            parts = [
                Instr("alloc", list(lengths), [Value(Array(type.dtype, type.ndim - 1), alloc.result.name)],
                      dict(alloc.attrs), [], alloc.position)
                for _ in range(2)
            ]  # fmt: skip
            block.instrs[n : n + 1] = parts
            for user in users[alloc.result]:
                if user.op == "dim":
                    replaced[user.result] = lengths[user.attrs["axis"]]
                else:
                    index = user.operands[1]
                    assert isinstance(index, Const)
                    user.operands[:] = [parts[index.value].result]
                    user.attrs["spec"] = user.attrs["spec"][:-1]
    if replaced:
        replace_uses(function, replaced)
        dce.run(function)


def _seen_in_parts(alloc: Instr, users: list[Instr]) -> bool:
    last = alloc.operands[-1] if len(alloc.operands) > 1 else None
    return isinstance(last, Const) and last.value == 2 and all(
        user.op == "dim" and user.attrs["axis"] < len(alloc.operands) - 1
        or user.op == "view" and user.operands[0] is alloc.result and user.attrs["spec"] == ":" * (len(alloc.operands) - 1) + "i"
        and isinstance(user.operands[1], Const)
        for user in users
    )  # fmt: skip
