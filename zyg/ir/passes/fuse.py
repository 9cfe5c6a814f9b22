"""Make one `apply` of two where the first makes an array that only the second one reads.

Input: any module.  Output: a new array that is set by one `apply` and read by nothing but another `apply` of the same block is
gone; the function of the second calls that of the first, so the elements travel in registers.  Chains become one loop
without temporaries, reductions at their end included, before differentiation: their adjoint then has no temporaries either.
Two that share an array, one of them new results only, become one as well (`side_by_side`): value and derivative in one loop.

Invariant: nothing is written between the two that the first one reads; what may raise stays in order, as elementwise functions
on the elements of arrays raise nothing.
"""

from __future__ import annotations

import itertools

from ..core import CALLING, VIEWS, Block, Function, Instr, Module, Value, uses
from ..ops import OPS
from ..types import Array
from . import cse, dce, simplify_cfg
from .inline import inline_call
from .rewriting import replace_uses, same

_LARGEST = 200  # instructions of a fused function: registers are few


def run(module: Module) -> bool:
    changed = False
    for function in list(module.functions.values()):
        if any(i.op == "apply" for _, i in function.instructions()):
            _drop_full_broadcasts(function)
            while _fuse_one(module, function):
                changed = True
    return changed


def side_by_side(module: Module) -> bool:
    """Run two `apply`s over the same arrays at once, where neither needs what the other makes."""
    changed = False
    for function in list(module.functions.values()):
        if sum(i.op == "apply" for _, i in function.instructions()) > 1:
            while _merge_one(module, function):
                changed = True
    return changed


def _merge_one(module: Module, function: Function) -> bool:
    made = {r: i for _, i in function.instructions() for r in i.results}
    for block in function.blocks:
        applies = [i for i in block.instrs if i.op == "apply"]
        for first, second in itertools.combinations(applies, 2):
            if _independent(block, made, first, second):
                _merge(module, block, first, second)
                return True
    return False


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
    fresh = lambda v: v in made and made[v].op == "alloc"
    for mine, others in ((outs[0], arrays[1]), (outs[1], arrays[0])):
        # New arrays are nobody else's, unless they are seen in another way.
        if not all(map(fresh, mine)) or {_root(made, v) for v in mine} & {_root(made, v) for v in others}:
            return False
    start, end = block.instrs.index(first), block.instrs.index(second)
    roots = {_root(made, v) for v in arrays[0]}
    for instr in block.instrs[start + 1 : end + 1]:
        if any(v in first.results or v in outs[0] for v in instr.operands):
            return False
        if instr is second or instr.op == "alloc" or OPS[instr.op].effects not in ("write", "effect"):
            continue
        written = instr.operands[: len(instr.attrs["modes"])] if instr.op == "apply" else instr.operands[:1]
        if instr.op not in ("apply", "fill") or not all(fresh(v) and v not in roots for v in written):
            return False
    return True


def _merge(module: Module, block: Block, first: Instr, second: Instr) -> None:
    f, g = (module.functions[i.attrs["callee"]] for i in (first, second))
    outs = [len(i.attrs["modes"]) for i in (first, second)]
    signature = _Signature()
    given = [
        [signature.param(v, p) for v, p in zip(i.operands[n:], function.params, strict=True)]
        for i, n, function in ((first, outs[0], f), (second, outs[1], g))
    ]
    results = [[Value(t) for t in function.results] for function in (f, g)]
    ordered = [*results[0][: outs[0]], *results[1][: outs[1]], *results[0][outs[0] :], *results[1][outs[1] :]]
    both = Function(
        module.unique_name(f"{g.name}.with"), [Block("entry", signature.params)], tuple(v.type for v in ordered)
    )
    both.attrs = dict(g.attrs)
    both.entry.instrs = [
        Instr("call", given[0], results[0], {"callee": f.name}, [], first.position),
        Instr("call", given[1], results[1], {"callee": g.name}, [], second.position),
        Instr("return", ordered),
    ]
    module.add(both)
    inline_call(module, both, inline_call(module, both, both.entry, 0), 0)
    simplify_cfg.run(both)
    cse.run(both)
    second.operands[:] = [*first.operands[: outs[0]], *second.operands[: outs[1]], *signature.operands]
    kinds = [i.attrs.get("kinds", ("add",) * len(i.results)) for i in (first, second)]
    second.results[:] = [*first.results, *second.results]
    modes = (*first.attrs["modes"], *second.attrs["modes"])
    any_order = all(i.attrs.get("any_order", False) for i in (first, second))
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
    """An array that is broadcast to the very shape that it was made with is itself."""
    shapes = {i.result: i.operands for _, i in function.instructions() if i.op == "alloc"}
    replaced: dict[Value, Value] = {}
    for block in function.blocks:
        for n, instr in enumerate(block.instrs):
            if instr.op == "broadcast" and _same(shapes.get(instr.operands[0]), instr.operands[1:]):
                spec = ":" * (len(instr.operands) - 1)
                block.instrs[n] = Instr("view", instr.operands[:1], [instr.result], {"spec": spec}, [], instr.position)
            elif instr.op == "apply":
                # Its arrays may be of any layout: those that are views of all of a contiguous array are that array.
                for k, v in enumerate(instr.operands):
                    instr.operands[k] = replaced.get(v, v)
            whole = block.instrs[n]
            if whole.op == "view" and set(whole.attrs["spec"]) <= {":"} and whole.operands[0].type.layout == "C":  # type: ignore[attr-defined]
                replaced[whole.result] = whole.operands[0]
    if replaced:
        dce.run(function)


def _same(shape: list[Value] | None, other: list[Value]) -> bool:
    return shape is not None and len(shape) == len(other) and all(map(same, shape, other))


def _fuse_one(module: Module, function: Function) -> bool:
    users: dict[Value, list[Instr]] = {}
    for _, instr in function.instructions():
        for v in dict.fromkeys(uses(instr)):
            users.setdefault(v, []).append(instr)
    for block in function.blocks:
        made = {i.result: i for i in block.instrs if i.op == "alloc"}
        for second in reversed(block.instrs):
            if second.op != "apply":
                continue
            outs = len(second.attrs["modes"])
            for v in dict.fromkeys(second.operands[outs:]):
                if v not in made or v in second.operands[:outs]:
                    continue
                first = _producer(block, v, users[v], second)
                if first is not None and _fusible(module, block, first, second):
                    _replace_lengths(function, made[v], users[v])
                    _fuse(module, block, first, second, v)
                    return True
    return False


def _producer(block: Block, array: Value, users: list[Instr], second: Instr) -> Instr | None:
    """The `apply` that sets all of `array`, if `second` is the only reader."""
    first = None
    for user in users:
        if user is second or user.op == "dim":
            continue
        if user.op != "apply" or first is not None:
            return None
        first = user
    if first is None or first.operands[0] is not array or first.attrs["modes"] != ("set",) or first.results:
        return None
    if array in first.operands[1:] or first not in block.instrs:
        return None
    return first


def _fusible(module: Module, block: Block, first: Instr, second: Instr) -> bool:
    size = sum(len(b.instrs) for i in (first, second) for b in module.functions[i.attrs["callee"]].blocks)
    if size > _LARGEST or len(module.functions[first.attrs["callee"]].blocks) > 8:
        return False
    read = {v for v in first.operands[1:] if isinstance(v.type, Array)}
    start, end = block.instrs.index(first), block.instrs.index(second)
    if start > end:
        return False
    fresh: set[Value] = {first.operands[0]}
    for instr in block.instrs[start + 1 : end]:
        if instr.op == "alloc":
            fresh.add(instr.result)
        elif instr.op == "apply":
            if not fresh.issuperset(instr.operands[: len(instr.attrs["modes"])]):
                return False
        elif instr.op in CALLING or OPS[instr.op].effects in ("write", "effect") and not (
            instr.op in ("fill", "store", "copyto", "accum") and instr.operands[0] in fresh
        ):  # fmt: skip
            return False
    # What the second one writes may be read by the first only at the same index.
    outs = second.operands[: len(second.attrs["modes"])]
    return all(v in fresh or read <= {v} for v in outs)


def _replace_lengths(function: Function, made: Instr, users: list[Instr]) -> None:
    lengths = {i.result: made.operands[i.attrs["axis"]] for i in users if i.op == "dim"}
    if lengths:
        replace_uses(function, lengths)
        for block in function.blocks:
            block.instrs[:] = [i for i in block.instrs if not (i.results and i.results[0] in lengths)]


def _fuse(module: Module, block: Block, first: Instr, second: Instr, array: Value) -> None:
    """Let the function of `second` call that of `first` for the elements of `array`."""
    f, g = (module.functions[i.attrs["callee"]] for i in (first, second))
    outs = len(second.attrs["modes"])
    signature = _Signature()
    param = signature.param
    inner = [param(v, p) for v, p in zip(first.operands[1:], f.params, strict=True)]
    element = Value(f.results[0], array.name)
    outer = [element if v is array else param(v, p) for v, p in zip(second.operands[outs:], g.params, strict=True)]
    fused = Function(module.unique_name(g.name), [Block("entry", signature.params)], g.results)
    fused.attrs = dict(g.attrs)
    results = [Value(t) for t in g.results]
    fused.entry.instrs = [
        Instr("call", inner, [element], {"callee": f.name}, [], first.position),
        Instr("call", outer, results, {"callee": g.name}, [], second.position),
        Instr("return", list(results)),
    ]
    module.add(fused)
    inline_call(module, fused, inline_call(module, fused, fused.entry, 0), 0)
    second.operands[outs:] = signature.operands
    second.attrs["callee"] = fused.name
    kept = (i for i in block.instrs if i is not first and not (i.op == "alloc" and i.result is array))
    block.instrs[:] = list(kept)
