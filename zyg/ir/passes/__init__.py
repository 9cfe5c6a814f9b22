"""The optimiser: passes over SSA, and the order in which they run.

A pass is a function from a Function to whether it changed it, or from a Module to whether it changed that, or to which of its
functions it changed, where those are few; the module's docstring of each says what it takes and gives.  `optimise` runs a pipeline, a list that can be read:

    CLEAN       before differentiation: small code makes small adjoints
    FULL        after it: everything that makes code fast
    OWNERSHIP   last of all: retain and release of arrays
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..core import Function, Module
from ..records import record
from . import (
    cse,
    dce,
    fold,
    guards,
    induction,
    inline,
    licm,
    loop_simplify,
    merge,
    ownership,
    polls,
    ranges,
    simplify_cfg,
)


@record(frozen=True)
class Pass:
    """One entry of a pipeline. `why` says why it stands where it stands."""

    name: str
    run: Callable[..., bool | list[Function]]
    why: str
    whole_module: bool = False

    def has_work_in(self, function: Function, state: _State) -> bool:
        """Loops over elements that `expand` made functions of are as some would have them; the halves of their adjoints, which push
        arrays for each other, are not."""
        if self.name not in _NONE_IN_PARTS or not function.attrs.get("shallow"):
            return True
        return not _STACKS.isdisjoint(state.operations(function))


def _later(module: str, name: str = "run") -> Callable[..., bool | list[Function]]:
    """A pass whose module is loaded when there is something for it to do, which in code for scalars there never is."""

    def run(subject: Function | Module) -> bool | list[Function]:
        return getattr(import_module(f".{module}", __name__), name)(subject)

    return run


_distribute, _expand, _frames = _later("distribute"), _later("expand"), _later("frames")
_fuse, _fuse_first = _later("fuse"), _later("fuse", "run_before_differentiation")
_effects = _later("effects")
_idle, _jam = _later("idle"), _later("jam")
_shapes, _squares = _later("shapes"), _later("squares")
_mem2reg, _orders, _rare = _later("mem2reg"), _later("orders"), _later("rare")
_reuse, _stacks, _upward = _later("reuse"), _later("stacks"), _later("upward")
_side_by_side, _writes = _later("side_by_side"), _later("writes")

# What a pass is about: it has nothing to do where none of these operations is.
ABOUT: dict[str, frozenset[str]] = {
    "mem2reg": frozenset({"alloc"}),
    "shapes": frozenset({"broadcast", "reshape"}),
    "lengths": frozenset({"broadcast", "reshape"}),
    "orders": frozenset({"strided", "arrange"}),
    "called_once": frozenset({"apply"}),
    "effects": frozenset({"apply"}),
    "fuse": frozenset({"apply"}),
    "reuse": frozenset({"apply"}),
    "side_by_side": frozenset({"apply"}),
    "squares": frozenset({"abs", "hypot", "modulus", "select"}),
    "expand": frozenset({"apply"}),
    "writes": frozenset({"call"}),
    "stacks": frozenset({"stack"}),
    "guards": frozenset({"guard"}),
    "distribute": frozenset({"accum"}),
    "upward": frozenset({"load"}),
    "jam": frozenset({"load", "accum"}),
    "frames": frozenset({"stack"}),
    "rare": frozenset({"poll", "reserve", "rewind"}),
}


# What a pass that was there finds nothing new in: in what these have changed since.
NOTHING_FROM: dict[str, frozenset[str]] = {
    "simplify_cfg": frozenset({"simplify_cfg", "squares"}),
    "fold": frozenset({"dce", "loop_simplify", "licm", "writes"}),
    "dce": frozenset({"dce", "loop_simplify", "licm"}),
}

# Passes that make no operations of the kinds of ABOUT (which is checked with `verify`).
_ONLY_TAKE = frozenset({"simplify_cfg", "dce", "cse", "licm", "loop_simplify"})
_ASKED_ABOUT: frozenset[str] = frozenset().union(*ABOUT.values())

# Passes that find nothing in the functions that `expand` makes: those about counters and about loops that the user wrote, and
# about what makes arrays.
_NONE_IN_PARTS = frozenset({"ranges", "induction", "idle", "distribute", "upward", "jam", "rare", "ownership"})
_STACKS = frozenset({"push", "pop", "stack", "cursor"})


def _outline(module: Module) -> bool | list[Function]:
    return any("elements" in f.attrs for f in module.functions.values()) and _later("outline")(module)


def _inline_all(module: Module) -> list[Function]:
    return inline.run(module, rules=True)


def _inline_whole_arrays(module: Module) -> list[Function]:
    return inline.run(module, limit=0)


def _lengths(function: Function) -> bool:
    changed = cse.run(function)
    return bool(_shapes(function)) or changed


def _fold_final(function: Any) -> bool:
    return fold.run(function, final=True)


CLEAN: list[Pass] = [
    Pass("simplify_cfg", simplify_cfg.run, "inference leaves jumps to jumps; fewer blocks make all else cheaper"),
    Pass("fold", fold.run, "callees shrink before their size decides on inlining"),
    Pass("inline", inline.run, "bodies meet their arguments", whole_module=True),
    Pass("simplify_cfg", simplify_cfg.run, "calls that were inlined left blocks behind, and parameters for arguments"),
    Pass(
        "effects",
        _effects,
        "functions of elements are as small as they get, and nothing is dropped yet",
        whole_module=True,
    ),
    Pass("mem2reg", _mem2reg, "a captured variable is local once its closure is inlined"),
    Pass("fold", fold.run, "constants from callers and variables"),
    Pass("shapes", _shapes, "lengths that are equal become so for cse; what need not be broadcast is not tested"),
    Pass("cse", cse.run, "guards and indices repeat; each copy would be differentiated"),
    Pass("ranges", ranges.run, "guards that always hold need no reverse; indices lose their overflow checks"),
    Pass("fold", fold.run, "what follows from conditions that ranges decided"),
    Pass("dce", dce.run, "what fold and cse made useless"),
    Pass("simplify_cfg", simplify_cfg.run, "branches that fold and cse decided"),
    Pass("orders", _orders, "what lies in C order is fused; what sees the order has been inlined"),
    Pass("fuse", _fuse_first, "what never was in memory has no shadow, and is not on the tape", whole_module=True),
    Pass("merge", merge.run, "what is written twice is differentiated once", whole_module=True),
    Pass("reuse", _reuse, "equal functions have one name; what is computed twice is differentiated once"),
    Pass("squares", _squares, "functions of elements have met their norms; nothing is differentiated yet"),
]

FULL: list[Pass] = [
    Pass("simplify_cfg", simplify_cfg.run, "forward and reverse part meet in one block"),
    Pass(
        "called_once",
        _inline_whole_arrays,
        "what is asked of a derivative is known before its loops are written",
        whole_module=True,
    ),
    Pass("simplify_cfg", simplify_cfg.run, "how its arguments were made is seen"),
    Pass("orders", _orders, "as before; where nothing is differentiated this is the first time"),
    Pass("effects", _effects, "as before, of what differentiation made as well", whole_module=True),
    Pass("lengths", _lengths, "what need not be broadcast is fused; before differentiation it has been found out"),
    Pass("fuse", _fuse, "what differentiation made of whole arrays", whole_module=True),
    Pass("side_by_side", _side_by_side, "value and derivative compute the same things", whole_module=True),
    Pass("merge", merge.run, "sums of the same terms, written out once", whole_module=True),
    Pass("reuse", _reuse, "as before; where nothing is differentiated this is the first time"),
    Pass("expand", _expand, "whole arrays become loops, which all that follows knows", whole_module=True),
    Pass("merge", merge.run, "expand makes a function for each sum", whole_module=True),
    Pass("simplify_cfg", simplify_cfg.run, "the adjoint comes with a block per edge"),
    Pass("fold", _fold_final, "rules leave products with constants; stops are copies from here on"),
    Pass("inline", _inline_all, "adjoints of callees and rules", whole_module=True),
    Pass("simplify_cfg", simplify_cfg.run, "calls that were inlined left blocks behind, and parameters for arguments"),
    Pass("mem2reg", _mem2reg, "shadows of captured variables"),
    Pass("fold", _fold_final, "constants from callers and variables"),
    Pass("cse", cse.run, "forward and reverse compute the same things"),
    Pass("ranges", ranges.run, "after cse: a length is then one value, and guards on it are seen to hold"),
    Pass("fold", _fold_final, "what follows from conditions that ranges decided"),
    Pass("dce", dce.run, "unused cotangents, stacks that nobody pops"),
    Pass("simplify_cfg", simplify_cfg.run, "branches that were decided, blocks that dce emptied"),
    Pass("loop_simplify", loop_simplify.run, "preheaders for what follows"),
    Pass("induction", induction.run, "running indices are then linear functions of counters, which guards understands"),
    Pass("licm", licm.run, "what is invariant leaves the loop"),
    Pass("writes", _writes, "loops have one latch each; before what is only written is taken away", whole_module=True),
    Pass("stacks", _stacks, "what left the loop need not be remembered for each of its iterations"),
    Pass("dce", dce.run, "stacks that nobody reads any more"),
    Pass("idle", _idle, "loops that fed them"),
    Pass("guards", guards.run, "needs invariants outside of loops; only what ranges could not decide is left"),
    Pass("fold", _fold_final, "the fast versions of loops without their checks"),
    Pass("simplify_cfg", simplify_cfg.run, "empty preheaders, guards that fold decided"),
    Pass("dce", dce.run, "what is left of conditions"),
    Pass("distribute", _distribute, "after licm and guards: rows and offsets are seen best in loops without checks"),
    Pass("upward", _upward, "distribute knows loops as the adjoint pass makes them"),
    Pass("jam", _jam, "the innermost loops are as they will be"),
]

# After FULL and after all differentiation, once: no pass knows what moving code past a release means.
OWNERSHIP: list[Pass] = [
    Pass("frames", _frames, "loops count as they did: strips are not made yet"),
    Pass("polls", polls.run_module, "no pass that moves code has to know what a poll is", whole_module=True),
    Pass("rare", _rare, "polls are there now"),
    Pass("outline", _outline, "loops are as they will be, and arrays not counted yet", whole_module=True),
    Pass("ownership", ownership.run, "decides who frees which array"),
]

PIPELINES = {"clean": CLEAN, "full": FULL, "ownership": OWNERSHIP}
PIPELINE = FULL + OWNERSHIP


class _State:
    """What is known of a function between the steps of a pipeline: by which passes it was changed and when last, when each was
    asked, and which operations there are (perhaps some that are gone)."""

    __slots__ = ("asked", "changes", "known", "last")

    def __init__(self) -> None:
        self.asked: dict[Any, int] = {}
        self.changes: dict[str, int] = {}
        self.last = 0
        self.known: set[str] | None = None

    def changed(self, step: Pass, now: int) -> None:
        self.changes[step.name] = self.last = now
        if step.name not in _ONLY_TAKE:
            self.known = None

    def is_settled(self, step: Pass) -> bool:
        """Whether nothing that could make work for a pass has changed the function since it was there."""
        since = self.asked.get(step.run)
        if since is None:
            return False
        if self.last < since:
            return True
        leave = NOTHING_FROM.get(step.name, ())
        return not any(when >= since and name not in leave for name, when in self.changes.items())

    def check(self, function: Function) -> None:
        """AssertionError if a pass that only takes operations has made one that another pass asks about."""
        if self.known is not None:
            made = {i.op for b in function.blocks for i in b.instrs} - self.known
            assert made.isdisjoint(_ASKED_ABOUT), f"not known of @{function.name}: {sorted(made)}"

    def operations(self, function: Function) -> set[str]:
        if self.known is None:
            self.known = {instr.op for block in function.blocks for instr in block.instrs}
        return self.known


def optimise(
    module: Module,
    level: str = "full",
    *,
    entry: str | None = None,
    verify: bool = False,
    dump: Callable[[str, Module], None] | None = None,
) -> Module:
    """Run a pipeline over the module, in place.

    Where `entry` names the one function that is called from outside, those that it does not need any more are dropped.
    `dump(name, module)` is called after each pass that changed something, and the verifier looks at what it changed if `verify`.
    A pass is asked again if one that may have made work for it has changed the function since (NOTHING_FROM).
    """
    states: dict[Function, _State] = {}
    for now, step in enumerate(PIPELINES[level], 1):
        changed: list[Function] = []
        about = ABOUT.get(step.name)
        functions = list(module.functions.values())
        for function in functions:
            if function not in states:
                states[function] = _State()
        if step.whole_module:
            if about is None or any(not about.isdisjoint(states[f].operations(f)) for f in functions):
                found = step.run(module)
                if found:
                    of = found if isinstance(found, list) else list(module.functions.values())
                    changed += of
                    for function in of:
                        states.setdefault(function, _State()).changed(step, now)
        else:
            for function in functions:
                state = states[function]
                if state.is_settled(step) or not step.has_work_in(function, state):
                    continue
                if about is not None and about.isdisjoint(state.operations(function)):
                    continue
                state.asked[step.run] = now
                if step.run(function):
                    changed.append(function)
                    state.changed(step, now)
        if changed:
            if step.whole_module and entry is not None:
                inline.remove_unused(module, {entry})
            if verify:
                _verify(step, changed, module)
                for function in changed:
                    states[function].check(function)
            if dump is not None:
                dump(step.name, module)
    return module


def _verify(step: Pass, changed: list[Function], module: Module) -> None:
    """Verify the functions that a pass changed, of those that there are still."""
    from ..verify import VerifyError, verify  # on demand: it is not needed outside of tests

    try:
        for function in changed:
            if module.functions.get(function.name) is function:
                verify(function, module)
    except VerifyError as error:
        raise VerifyError(f"after pass {step.name}: {error}") from error
