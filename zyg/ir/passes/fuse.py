"""Make one `apply` of two where the first makes an array that only the second one reads.

Input: any module.  Output: a new array that is set by one `apply` and first read by another `apply` of the same block is set
by this one: its function calls that of the first, so the elements travel in registers.  If nobody else reads the array, it is
gone.  Chains become one loop without temporaries, also where an array is read several times in them, reductions at their end
included, before differentiation: their adjoint then has no temporaries either.  Arrays of complex numbers are two arrays.

Invariant: nothing is written between the two that the first one reads; what may raise stays in order, as elementwise functions
on the elements of arrays raise nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from ..core import CALLING, Block, Const, Function, Instr, Module, Value, array_type, uses
from ..ops import OPS, VIEWS
from ..types import Array
from . import cse, dce, simplify_cfg
from .accesses import Lengths
from .inline import inline_calls
from .orders import is_found_by_index, users_of
from .rewriting import constant_key, replace_uses, same

_LARGEST = 200  # instructions of a fused function: registers are few
_LIGHT = 8  # instructions of a function, with its return
_ARITHMETIC = frozenset(
    {"add", "sub", "mul", "div", "sdiv", "neg", "abs", "cast", "select", "lt", "le", "gt", "ge", "eq", "ne"}
)
_ANY_LAYOUT = frozenset({"apply", "copyto", "addto", "fill", "dim", "overlap"})


def run(module: Module) -> bool:
    return _run(module, steps=False)


def run_before_differentiation(module: Module) -> bool:
    """What is computed of every second element, say, is fused with what is broadcast too: adjoints gain more by it than values lose, whose
    loops over elements behind each other become one over elements that lie apart."""
    return _run(module, steps=True)


def _run(module: Module, steps: bool) -> bool:
    changed = False
    for function in list(module.functions.values()):
        if any(i.op == "apply" for _, i in function.instructions()):
            if any(i.op == "transpose" for _, i in function.instructions()):
                dce.run(function)  # what is transposed there and back leaves views that nobody uses
            _split_parts(module, function)
            _drop_full_broadcasts(function)
            while (
                _same_broadcasts(function)
                or _fuse_pairs(module, function)
                or _broadcast_before(module, function, steps)
            ):
                changed = True
    return changed


def root_of(made: dict[Value, Instr], v: Value) -> Value:
    """What an array is a view of: an `alloc`, or something unknown."""
    while (instr := made.get(v)) is not None and instr.op in VIEWS:
        v = instr.operands[0]
    return v


class Signature:
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
    known = Lengths(function)
    replaced: dict[Value, Value] = {}
    for block in function.blocks:
        for n, instr in enumerate(block.instrs):
            if instr.op == "broadcast" and (
                len(instr.attrs.get("unrepeated", ())) == len(instr.operands) - 1
                or _same(known.lengths(instr.operands[0]), instr.operands[1:])
            ):
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
        apart = users.keys().isdisjoint  # of what most instructions use: that is found out without a list of it
        for block in function.blocks:
            for instr in block.instrs:
                if not apart(instr.operands) or instr.targets and not apart(uses(instr)):
                    for v in users.keys() & uses(instr):
                        users[v].append(instr)
    return users


def _fuse_pairs(module: Module, function: Function) -> bool:
    """Go through the function once. (What has been fused may let something before it be.)"""
    changed = False
    for block in function.blocks:
        made = {i.result: i for i in block.instrs if i.op == "alloc"}
        users: dict[Value, list[Instr]] | None = None  # of what is made, kept as it is while pairs are fused
        for first in [i for i in block.instrs if i.op == "apply"]:
            if not _sets_new_arrays(first, made):
                continue
            second = _first_reader(block, block.instrs.index(first), first)
            if second is not None and _fusible(module, block, first, second):
                if users is None:
                    users = _users(function, made)
                before = {v for v in (*first.operands, *second.operands) if v in made}
                _fuse(module, block, first, second)
                for v in before:
                    others = [user for user in users[v] if user is not first and user is not second]
                    users[v] = [*others, second] if v in second.operands else others
                _drop_unread(module, function, block, second, made, users)
                changed = True
    return changed


def outs_of(apply: Instr) -> list[Value]:
    return apply.operands[: len(apply.attrs["modes"])]


def ins_of(apply: Instr) -> list[Value]:
    return apply.operands[len(apply.attrs["modes"]) :]


def _sets_new_arrays(apply: Instr, made: dict[Value, Instr]) -> bool:
    """Whether all that it writes are arrays of this block, each set and read by nothing in it."""
    outs = outs_of(apply)
    return (
        bool(outs)
        and set(apply.attrs["modes"]) == {"set"}
        and len(set(outs)) == len(outs)
        and all(v in made for v in outs)
        and not set(outs) & set(ins_of(apply))
    )


def _first_reader(block: Block, n: int, first: Instr) -> Instr | None:
    """The instruction that is the first to use what `first` makes, if it is an `apply` that reads elements of it."""
    given = {*outs_of(first), *first.results}
    seen = _seen_before(block, n, first)
    for instr in block.instrs[n + 1 :]:
        if instr.op == "dim" or given.isdisjoint(uses(instr)) and seen.isdisjoint(uses(instr)):
            continue
        if instr.op != "apply" or not seen.union(first.results).isdisjoint(instr.operands):
            return None
        outs = outs_of(instr)
        for v, mode in zip(outs, instr.attrs["modes"], strict=True):
            # What it writes there may only take the place of what it read.
            if v in given and (mode != "set" or v not in ins_of(instr) or outs.count(v) > 1):
                return None
        return instr if given & set(ins_of(instr)) else None
    return None


def _seen_before(block: Block, n: int, first: Instr) -> set[Value]:
    """The views of what `first` sets that were made before it does."""
    outs = outs_of(first)
    seen = set[Value]()
    for instr in block.instrs[:n]:
        if instr.op in VIEWS and (instr.operands[0] in outs or instr.operands[0] in seen):
            seen.add(instr.result)
    return seen


def _fusible(module: Module, block: Block, first: Instr, second: Instr) -> bool:
    size = sum(len(b.instrs) for i in (first, second) for b in module.functions[i.attrs["callee"]].blocks)
    if size > _LARGEST or len(module.functions[first.attrs["callee"]].blocks) > 8:
        return False
    if not _may_wait(block, first, second):
        return False
    # What the second one writes may be read by the first only at the same index.
    read = {v for v in ins_of(first) if isinstance(v.type, Array)}
    before = block.instrs[: block.instrs.index(second)]
    made = {r: i for i in before for r in i.results}
    return all(read <= {v} or _is_new(made, root_of(made, v), first, before) for v in outs_of(second))


def _is_new(made: dict[Value, Instr], root: Value, first: Instr, before: list[Instr]) -> bool:
    """Whether this is an array that `first` makes, or that is made after it, or with which nothing had been done by then but to fill it."""
    if root not in made or made[root].op != "alloc":
        return False
    at, end = before.index(made[root]), before.index(first)
    if root in outs_of(first) or at > end:
        return True
    own = {root}
    for instr in before[at + 1 : end]:
        if not own.isdisjoint(uses(instr)):
            if instr.op in VIEWS:
                own.add(instr.result)
            elif instr.op not in ("dim", "stride", "fill"):
                return False
    return own.isdisjoint(ins_of(first))


def _may_wait(block: Block, first: Instr, second: Instr) -> bool:
    """Whether nothing between the two writes what the first one reads."""
    start, end = block.instrs.index(first), block.instrs.index(second)
    fresh: set[Value] = set(outs_of(first))
    for instr in block.instrs[start + 1 : end]:
        if instr.op == "alloc" or instr.op in VIEWS and instr.operands[0] in fresh:
            fresh.add(instr.result)
        elif instr.op == "apply":
            if not fresh.issuperset(outs_of(instr)):
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
    signature = Signature()
    inner = [signature.param(v, p) for v, p in zip(ins_of(first), f.params, strict=True)]
    made = [Value(t) for t in f.results]
    elements = dict(zip(outs_of(first), made, strict=False))
    outer = [
        elements[v] if v in elements else signature.param(v, p) for v, p in zip(ins_of(second), g.params, strict=True)
    ]
    results = [Value(t) for t in g.results]
    own, count = outs_of(second), len(second.attrs["modes"])
    kept = [(v, x) for v, x in elements.items() if v not in own]
    ordered = [*(x for _, x in kept), *results[:count], *made[len(elements) :], *results[count:]]
    fused = Function(module.unique_name(g.name), [Block("entry", signature.params)], tuple(v.type for v in ordered))
    fused.attrs = {**g.attrs, **returns(f)}
    fused.entry.instrs = [
        Instr("call", inner, made, {"callee": f.name}, [], first.position),
        Instr("call", outer, results, {"callee": g.name}, [], second.position),
        Instr("return", ordered),
    ]
    module.add(fused)
    inline_calls(module, fused)
    simplify_cfg.run(fused)
    kinds = [i.attrs.get("kinds", ("add",) * len(i.results)) for i in (first, second)]
    second.operands[:] = [*(v for v, _ in kept), *own, *signature.operands]
    second.results[:] = [*first.results, *second.results]
    modes = (*("set" for _ in kept), *second.attrs["modes"])
    second.attrs = {
        **second.attrs,
        "callee": fused.name,
        "modes": modes,
        "kinds": (*kinds[0], *kinds[1]),
        "effects": any(i.attrs.get("effects") for i in (first, second)),
    }
    block.instrs.remove(first)


def returns(function: Function) -> dict[str, bool]:
    """The attribute that checks which always fail stay checks, if the function has it."""
    return {"returns": True} if function.attrs.get("returns") else {}


def _drop_unread(
    module: Module,
    function: Function,
    block: Block,
    apply: Instr,
    made: dict[Value, Instr],
    users: dict[Value, list[Instr]],
) -> None:
    """Arrays that nobody reads any more are not set."""
    callee = module.functions[apply.attrs["callee"]]
    ins = ins_of(apply)
    unread = [
        k
        for k, v in enumerate(outs_of(apply))
        if v in made and v not in ins and all(user is apply or user.op == "dim" for user in users[v])
    ]
    if not unread:
        return
    dropped = [outs_of(apply)[k] for k in unread]
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


def _broadcast_before(module: Module, function: Function, steps: bool) -> bool:
    """What is computed of arrays and then seen broadcast to as many axes is computed of the arrays seen broadcast: so it is not kept from
    being fused by what is known only when the code runs, whether a length is 1.

    If it is, the same is computed several times: no more of it than a few operations of arithmetic, but of arrays of one axis, which
    hardly ever have one element. `steps`: also of what is seen in steps."""
    found: list[_Broadcasts] = []
    for block in function.blocks:
        seen = [i for i in block.instrs if i.op == "broadcast"]
        if seen:
            broadcasts = _Broadcasts(module, function, block, seen, steps)
            if any(map(broadcasts.may_be_moved, seen)):
                found.append(broadcasts)
    if not found:
        return False
    users = _users(function, [v for each in found for v in (*each.made, *each.seen)])
    changed = [each.run(users) for each in found]
    return any(changed)


class _Broadcasts:
    """The arrays of one block that are seen broadcast."""

    def __init__(self, module: Module, function: Function, block: Block, seen: list[Instr], steps: bool):
        self.module = module
        self.function = function
        self.block = block
        self.steps = steps
        self.known = Lengths(function)
        self.ones: dict[Value, bool] = {}
        self.made = {i.result: i for i in block.instrs if i.op == "alloc"}
        self.seen = {i.result: i for i in seen}
        self.users: dict[Value, list[Instr]] = {}  # of both, kept as it is

    def may_be_moved(self, seen: Instr) -> bool:
        """Whether it shows an array of this block with as many axes, none of which is known to be of length 1 (or of at most 1, as of `x[:1]`)
        where there are several."""
        made = self.made.get(seen.operands[0])
        if made is None or len(made.operands) != len(seen.operands) - 1:
            return False
        return len(made.operands) == 1 or not any(map(self.is_one, made.operands))

    def is_one(self, length: Value) -> bool:
        found = self.ones.get(length)
        if found is None:
            made = self.known.made.get(length)
            if made is not None and made.op == "select":  # what two arrays have together, or the end of a slice
                found = any(map(self.is_one, made.operands[1:]))
            else:
                found = isinstance(length, Const) and length.value == 1
            self.ones[length] = found
        return found

    def run(self, users: dict[Value, list[Instr]]) -> bool:
        self.users = users
        changed = False
        work = [i for i in self.seen.values() if self.may_be_moved(i)]
        while work:
            seen = work.pop()
            first = self.only_sets(seen) if seen.result in self.seen and self.may_be_moved(seen) else None
            if first is not None:
                work += filter(self.may_be_moved, self.move(first, seen))
                changed = True
        return changed

    def only_sets(self, seen: Instr) -> Instr | None:
        """What sets an array that is read in no other way than broadcast like this, if it may be set where it is seen."""
        array = seen.operands[0]
        others = [i for i in self.users[array] if i is not seen and i.op != "dim"]
        first = others[0] if len(others) == 1 else None
        if first is None or first.op != "apply" or first not in self.block.instrs or first.results:
            return None
        if (
            outs_of(first) != [array]
            or not _sets_new_arrays(first, self.made)
            or not _may_wait(self.block, first, seen)
        ):
            return None
        if len(seen.operands) > 2:
            if not self.is_light(first) or any(i.op not in ("apply", "dim") for i in self.users[seen.result]):
                return None
            if not self.steps and any(isinstance(v.type, Array) and self.known.lies_apart(v) for v in ins_of(first)):
                return None
        return first

    def is_light(self, apply: Instr) -> bool:
        """Whether it is a little arithmetic."""
        callee = self.module.functions[apply.attrs["callee"]]
        return (
            len(callee.blocks) == 1
            and len(callee.entry.instrs) <= _LIGHT
            and all(i.op in _ARITHMETIC for i in callee.entry.instrs[:-1])
        )

    def move(self, first: Instr, seen: Instr) -> list[Instr]:
        """Set the array in the shape in which it is seen, where it is; gives what shows the arrays of which it is computed broadcast."""
        block, users = self.block, self.users
        array, *lengths = seen.operands
        made = self.made.pop(array)
        _replace_lengths(self.function, made, users[array])
        block.instrs[:] = [i for i in block.instrs if i is not first and i is not made]
        inputs: dict[Value, Instr] = {}
        for v in ins_of(first):
            if not isinstance(v.type, Array) or v in inputs:
                continue
            known = self.seen.get(v)
            source = v if known is None else known.operands[0]
            shown = Value(Array(v.type.dtype, len(lengths), "A", v.type.writable), v.name)
            attrs = {"unrepeated": whole} if (whole := _whole(seen, known)) else {}
            inputs[v] = instr = Instr("broadcast", [source, *lengths], [shown], attrs, [], seen.position)
            self.seen[shown] = instr
            users[shown] = [first]
            if v in users:
                users[v].remove(first)
            if source in users:
                users[source].append(instr)
            if known is not None and not users[v]:
                del self.seen[v]
                block.instrs[:] = [i for i in block.instrs if i is not known]
                if source in users:
                    users[source].remove(known)
        type = array_type(array)
        result = Value(Array(type.dtype, type.ndim), array.name)
        alloc = Instr("alloc", lengths, [result], dict(made.attrs), [], seen.position)
        first.operands[:] = [result, *(inputs[v].result if v in inputs else v for v in ins_of(first))]
        whole = Instr("view", [result], [seen.result], {"spec": ":" * type.ndim}, [], seen.position)
        n = block.instrs.index(seen)
        block.instrs[n : n + 1] = [*inputs.values(), alloc, first, whole]
        self.made[result] = alloc
        users[result] = [first, *_look_through(self.function, whole, users.pop(seen.result))]
        del self.seen[seen.result]
        return list(inputs.values())


def _whole(seen: Instr, before: Instr | None) -> tuple[int, ...]:
    """The axes that are known not to be repeated of an array that is seen as another one was, of which it was an operand: itself, or what it
    was `before` it was seen in the shape of that one."""
    whole = seen.attrs.get("unrepeated", ())
    if before is None:
        return whole
    missing = len(before.operands) - 1 - array_type(before.operands[0]).ndim
    return tuple(axis for axis in before.attrs.get("unrepeated", ()) if axis + missing in whole)


def _look_through(function: Function, whole: Instr, users: Sequence[Instr]) -> list[Instr]:
    """What takes arrays of any layout takes what `whole` is a view of; blocks, calls and the like go on getting their type.  Gives what
    uses that now."""
    (source,), seen = whole.operands, whole.result
    through = [user for user in users if user.op in _ANY_LAYOUT]
    for user in through:
        user.operands[:] = [source if v is seen else v for v in user.operands]
    if len(through) < len(users):
        return [whole, *through]
    for block in function.blocks:
        block.instrs[:] = [i for i in block.instrs if i is not whole]
    return through


# -------------------------------------------------------------------------------------- arrays of complex numbers


def _split_parts(module: Module, function: Function) -> None:
    """A new array of complex numbers of which only the real and the imaginary parts are seen is an array for each.  Code that
    sees how a part lies in memory finds it with gaps, but for that which called the compiled function: it finds parts of complex numbers
    (`parts`) without."""
    pairs = [i.result for _, i in function.instructions() if i.op == "alloc" and _ends_in_two(i)]
    if not pairs:
        return
    users = users_of(function)
    calls = (i for f in module.functions.values() for _, i in f.instructions() if i.op == "call")
    also = frozenset[str]() if any(i.attrs["callee"] == function.name for i in calls) else frozenset({"return"})
    replaced: dict[Value, Value] = {}
    for block in function.blocks:
        for n, alloc in reversed(list(enumerate(block.instrs))):
            if alloc.op != "alloc" or not _seen_in_parts(
                alloc, users, also if alloc.attrs.get("parts") else frozenset()
            ):
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
            for user in users.get(alloc.result, ()):
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


def _ends_in_two(alloc: Instr) -> bool:
    last = alloc.operands[-1] if len(alloc.operands) > 1 else None
    return isinstance(last, Const) and last.value == 2


def _seen_in_parts(alloc: Instr, users: dict[Value, list[Instr]], also: frozenset[str]) -> bool:
    return _ends_in_two(alloc) and all(
        user.op == "dim" and user.attrs["axis"] < len(alloc.operands) - 1
        or user.op == "view" and user.operands[0] is alloc.result and user.attrs["spec"] == ":" * (len(alloc.operands) - 1) + "i"
        and isinstance(user.operands[1], Const) and is_found_by_index(users, user.result, also)
        for user in users.get(alloc.result, ())
    )  # fmt: skip
