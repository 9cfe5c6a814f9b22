"""The reverse of `apply`, a function called on the elements of arrays.

Its reverse is an `apply` too: of the function that gives the cotangents of the elements, adding them to the shadows of the
arrays.  What it needs of the forward part is the elements that the function was given, so a chain of operations that were
fused into one function (passes/fuse.py) keeps none of its intermediate values, and computes them again in registers.
Broadcasting needs nothing: the shadow of an array that is seen broadcast is the shadow seen so, and adding to it sums up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from zyg.ir.builder import Builder
from zyg.ir.core import Block, Function, Instr, Module, Value, array_type, const
from zyg.ir.passes import cse, dce, fold, inline, simplify_cfg
from zyg.ir.types import F64, Array, cotangent_type

from . import helpers, masks
from .activity import differentiable

if TYPE_CHECKING:
    from .forward import ForwardPart
    from .instructions import ReverseInstructions


_MOST_PARTS = 8


class Reversal(NamedTuple):
    """What the forward part found out about the reverse of one `apply`."""

    function: str  # that gives the cotangents
    kept: dict[int, Value]  # per argument that it uses: what holds the value in the reverse part
    wanted: list[int]  # the arguments that get cotangents
    seeded: list[int]  # the results that have one
    lengths: list[Value]  # those of the loops, where no array says them: all that is added up are numbers


def _split(apply: Instr) -> tuple[list[Value], list[Value]]:
    count = len(apply.attrs["modes"])
    return apply.operands[:count], apply.operands[count:]


def _wanted(a: ForwardPart, apply: Instr) -> tuple[list[int], list[int]]:
    """Which arguments get cotangents, arrays first, and which results of the function (array elements first) have one."""
    outs, ins = _split(apply)
    function = a.module.functions[apply.attrs["callee"]]
    wanted = [k for k, v in enumerate(ins) if differentiable(v.type) and a.active(v)]
    wanted.sort(key=lambda k: not isinstance(ins[k].type, Array))
    seeded = [k for k, v in enumerate([*outs, *apply.results]) if differentiable(function.results[k]) and a.active(v)]
    return wanted, seeded


def forward_apply(a: ForwardPart, b: Builder, apply: Instr) -> None:
    wanted, seeded = _wanted(a, apply)
    if wanted and seeded:
        outs, ins = _split(apply)
        holders: dict[int, Value] = {}
        reversals: list[Reversal] = []
        for part in _apart(a, apply, wanted):
            # (Which operands are arrays says whether it has a parameter that tells the lengths.)
            key = (
                apply.attrs["callee"],
                *map(tuple, (part, seeded, (isinstance(v.type, Array) for v in [*outs, *ins]))),
            )
            found = a.reversed.get(key)
            if found is None:
                arrays = sum(isinstance(ins[k].type, Array) for k in part)
                reverse, used = reverse_function(a.module, apply.attrs["callee"], part, seeded, arrays)
                seen = [v for k, v in enumerate(ins) if k in used or k in part] + [
                    outs[k] for k in seeded if k < len(outs)
                ]
                unread = not any(isinstance(v.type, Array) for v in seen)
                if unread:
                    a.module.functions[reverse].entry.params.append(Value(F64, "unread"))
                found = a.reversed[key] = reverse, used, unread
            reverse, used, unread = found
            for k in used:
                if k not in holders:
                    holders[k] = a._kept(b, apply, ins[k]) if isinstance(ins[k].type, Array) else ins[k]
            lengths = _lengths(b, apply) if unread else []
            reversals.append(Reversal(reverse, {k: holders[k] for k in used}, part, seeded, lengths))
        a.made_by[apply] = (apply, reversals)
    b.append(apply)


def _lengths(b: Builder, apply: Instr) -> list[Value]:
    """How long the loops are."""
    array = next(v for v in apply.operands if isinstance(v.type, Array))
    return [b.op("dim", array, axis=k) for k in range(array_type(array).ndim)]


def _of_lengths(b: Builder, lengths: list[Value]) -> Value:
    """An array of these lengths, all elements of which lie in one place."""
    one = b.op("alloc", *[const(1)] * len(lengths), type=Array(F64, len(lengths), "C"), fill="zeros")
    return b.op("broadcast", one, *lengths, type=Array(F64, len(lengths), "A"))


def _apart(a: ForwardPart, apply: Instr, wanted: list[int]) -> list[list[int]]:
    """The arguments that get cotangents, in parts: those that are shifted or reversed views of one array (`x[1:] - x[:-1]`, `x - x[::-1]`)
    get them in loops of their own, since a loop that adds to both waits for each element, and takes longer than one for each in which
    the elements are computed again."""
    outs, ins = _split(apply)
    first: list[int] = []
    others: list[list[int]] = []
    seen: dict[Value, Value] = {}
    arrays = [ins[k] for k in wanted if isinstance(ins[k].type, Array)]
    whole = {a.activity.rep(v) for v in arrays if v not in a.slices}
    for k in wanted:
        v = ins[k]
        if v in a.slices and (seen.setdefault(a.activity.rep(v), v) is not v or a.activity.rep(v) in whole):
            others.append([k])
        else:
            first.append(k)
    in_place = any(a.activity.rep(v) in seen for v in outs)
    simple = len(a.module.functions[apply.attrs["callee"]].blocks) == 1
    if in_place or not simple or len(others) >= _MOST_PARTS:
        return [wanted]
    return [first, *others]


def reverse_apply(a: ReverseInstructions, apply: Instr) -> None:
    outs = _split(apply)[0]
    modes = apply.attrs["modes"]
    set_outs = [v for v, mode in zip(outs, modes) if mode == "set" and a._active_memory(v)]
    made = a.made_by.get(apply)
    if made is None:
        for v in set_outs:
            _clear(a, v)
        return
    assert isinstance(made[1], list)
    taken: dict[Value, Value] = {}
    for n, reversal in enumerate(made[1]):
        assert isinstance(reversal, Reversal)
        _reverse(a, apply, reversal, set_outs if n == len(made[1]) - 1 else [], taken)


def _reverse(
    a: ReverseInstructions, apply: Instr, reversal: Reversal, set_outs: list[Value], taken: dict[Value, Value]
) -> None:
    """`set_outs`: the arrays that the operation has set, whose shadows are 0 then; `taken`: the cotangents of the numbers that
    it has given, for all parts."""
    b = a.builder
    outs, ins = _split(apply)
    reverse, kept, wanted, seeded, lengths = reversal
    # In place, as in `a *= b`: what is read is what is set, element by element, and so are the shadows.
    cotangents = {k: v for k, v in enumerate([*outs, *apply.results]) if k in seeded}
    receiving = [k for k in wanted if isinstance(ins[k].type, Array)]
    replaced = {k for k in receiving if [*ins].count(ins[k]) == 1 and ins[k] in set_outs and outs.count(ins[k]) == 1}
    others = [k for k in receiving if k not in replaced]
    seeds: list[Value] = []
    clear = [v for v in set_outs if not any(ins[k] is v for k in replaced)]
    for v in cotangents.values():
        if isinstance(v.type, Array):
            shadow = a._needed_shadow(v)
            if any(a.activity.rep(ins[k]) is a.activity.rep(v) for k in others):
                shadow = helpers.copy(b, shadow)  # what is added to may be what is read
                if v in clear:
                    _clear(a, v)
                    clear.remove(v)
            seeds.append(shadow)
        else:
            if v not in taken:
                taken[v] = a._take(v) if a.active(v) else const(0.0, cotangent_type(v.type))
            seeds.append(taken[v])
    arguments = [a.need(v, a.current) for v in kept.values()]
    shape = [_of_lengths(b, [a.need(v, a.current) for v in lengths])] if lengths else []
    targets = [a._needed_shadow(ins[k]) for k in receiving]
    scalars = [k for k in wanted if k not in receiving]
    sums = b.emit(
        "apply",
        *targets,
        *arguments,
        *seeds,
        *shape,
        types=tuple(cotangent_type(ins[k].type) for k in scalars),
        callee=reverse,
        modes=tuple("set" if k in replaced else "add" for k in receiving),
        any_order=True,
    )
    for k, d in zip(scalars, sums, strict=True):
        a._add(ins[k], d)
    for v in clear:
        _clear(a, v)


def _clear(a: ReverseInstructions, array: Value) -> None:
    shadow = a._needed_shadow(array)
    a.builder.emit("fill", shadow, const(0.0, helpers.dtype(shadow)))


def reverse_function(
    module: Module, name: str, wanted: list[int], seeded: list[int], arrays: int
) -> tuple[str, list[int]]:
    """The function that gives the cotangents of the parameters `wanted` of function `name`, in this order, from those of its
    parameters that it uses and the cotangents of the results `seeded`; and which parameters these are.  The first `arrays`
    cotangents are those of elements of arrays, the others are summed up."""
    from .adjoint import adjoint

    own = module.unique_name(f"{name}.rev")
    source = module.functions[name]
    wrt = [k in wanted for k in range(len(source.params))]
    made = adjoint(module, name, wrt, outputs=seeded)
    joint = module.functions.pop(made.function)
    function = Function(own, [Block("entry")])
    b = Builder(function, function.entry)
    params = [Value(p.type, p.name) for p in source.params]
    seeds = [Value(p.type, p.name) for p in joint.params[len(params) :]]
    given = dict(zip(made.seeds, seeds, strict=True))
    results = b.emit("call", *params, *seeds, types=joint.results, callee=joint.name)
    cotangents = dict(zip(made.gradients, results[len(source.results) :], strict=True))
    b.ret(*[cotangents[k] for k in wanted])
    function.results = tuple(cotangents[k].type for k in wanted)
    module.add(joint)
    module.add(function)
    inline.inline_calls(module, function)
    del module.functions[joint.name]
    function.entry.params = [*params, *given.values()]
    simplify_cfg.run(function)
    masks.run(function, list(given.values()))
    for simplify in (fold.run, cse.run, dce.run, simplify_cfg.run):
        simplify(function)
    masks.add_nothing(function, arrays)
    mentioned = {v for _, i in function.instructions() for v in [*i.operands, *[x for t in i.targets for x in t.args]]}
    used = [k for k, p in enumerate(params) if p in mentioned]
    function.entry.params = [*[params[k] for k in used], *given.values()]
    return own, used
