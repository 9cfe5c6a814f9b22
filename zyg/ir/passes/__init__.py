"""The optimiser: passes over SSA, and the order in which they run.

A pass is a function from a Function (or a Module) to whether it changed it; the module's docstring of each says what it
takes and gives.  `optimise` runs a pipeline, a list that can be read:

    CLEAN       before differentiation: small code makes small adjoints
    FULL        after it: everything that makes code fast
    OWNERSHIP   last of all: retain and release of arrays
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..core import Module
from . import (
    cse,
    dce,
    distribute,
    expand,
    fold,
    frames,
    fuse,
    guards,
    induction,
    inline,
    licm,
    loop_simplify,
    mem2reg,
    merge,
    ownership,
    polls,
    ranges,
    rare,
    simplify_cfg,
    stacks,
)


class Pass(NamedTuple):
    """One entry of a pipeline. `why` says why it stands where it stands."""

    name: str
    run: Callable[..., bool]
    why: str
    whole_module: bool = False


def _inline_all(module: Module) -> bool:
    return inline.run(module, rules=True)


def _fold_final(function: Any) -> bool:
    return fold.run(function, final=True)


CLEAN: list[Pass] = [
    Pass("simplify_cfg", simplify_cfg.run, "inference leaves jumps to jumps; fewer blocks make all else cheaper"),
    Pass("fold", fold.run, "callees shrink before their size decides on inlining"),
    Pass("inline", inline.run, "bodies meet their arguments", whole_module=True),
    Pass("simplify_cfg", simplify_cfg.run, "calls that were inlined left blocks behind, and parameters for arguments"),
    Pass("mem2reg", mem2reg.run, "a captured variable is local once its closure is inlined"),
    Pass("fold", fold.run, "constants from callers and variables"),
    Pass("cse", cse.run, "guards and indices repeat; each copy would be differentiated"),
    Pass("ranges", ranges.run, "guards that always hold need no reverse; indices lose their overflow checks"),
    Pass("fold", fold.run, "what follows from conditions that ranges decided"),
    Pass("dce", dce.run, "what fold and cse made useless"),
    Pass("simplify_cfg", simplify_cfg.run, "branches that fold and cse decided"),
    Pass("fuse", fuse.run, "what never was in memory has no shadow, and is not on the tape", whole_module=True),
]

FULL: list[Pass] = [
    Pass("simplify_cfg", simplify_cfg.run, "forward and reverse part meet in one block"),
    Pass("fuse", fuse.run, "what differentiation made of whole arrays", whole_module=True),
    Pass("side_by_side", fuse.side_by_side, "value and derivative compute the same things", whole_module=True),
    Pass("expand", expand.run, "whole arrays become loops, which all that follows knows", whole_module=True),
    Pass("merge", merge.run, "expand makes a function for each sum", whole_module=True),
    Pass("simplify_cfg", simplify_cfg.run, "the adjoint comes with a block per edge"),
    Pass("fold", _fold_final, "rules leave products with constants; stops are copies from here on"),
    Pass("inline", _inline_all, "adjoints of callees and rules", whole_module=True),
    Pass("simplify_cfg", simplify_cfg.run, "calls that were inlined left blocks behind, and parameters for arguments"),
    Pass("mem2reg", mem2reg.run, "shadows of captured variables"),
    Pass("fold", _fold_final, "constants from callers and variables"),
    Pass("cse", cse.run, "forward and reverse compute the same things"),
    Pass("ranges", ranges.run, "after cse: a length is then one value, and guards on it are seen to hold"),
    Pass("fold", _fold_final, "what follows from conditions that ranges decided"),
    Pass("dce", dce.run, "unused cotangents, stacks that nobody pops"),
    Pass("simplify_cfg", simplify_cfg.run, "branches that were decided, blocks that dce emptied"),
    Pass("loop_simplify", loop_simplify.run, "preheaders for what follows"),
    Pass("induction", induction.run, "running indices are then linear functions of counters, which guards understands"),
    Pass("licm", licm.run, "what is invariant leaves the loop"),
    Pass("stacks", stacks.run, "what left the loop need not be remembered for each of its iterations"),
    Pass("dce", dce.run, "stacks that nobody reads any more"),
    Pass("guards", guards.run, "needs invariants outside of loops; only what ranges could not decide is left"),
    Pass("fold", _fold_final, "the fast versions of loops without their checks"),
    Pass("simplify_cfg", simplify_cfg.run, "empty preheaders, guards that fold decided"),
    Pass("dce", dce.run, "what is left of conditions"),
    Pass("distribute", distribute.run, "after licm and guards: rows and offsets are seen best in loops without checks"),
]

# After FULL and after all differentiation, once: no pass knows what moving code past a release means.
OWNERSHIP: list[Pass] = [
    Pass("frames", frames.run, "loops count as they did: strips are not made yet"),
    Pass("polls", polls.run_module, "no pass that moves code has to know what a poll is", whole_module=True),
    Pass("rare", rare.run, "polls are there now"),
    Pass("ownership", ownership.run, "decides who frees which array"),
]

PIPELINES = {"clean": CLEAN, "full": FULL, "ownership": OWNERSHIP}
PIPELINE = FULL + OWNERSHIP


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
    `dump(name, module)` is called after each pass that changed something, and the verifier runs there if `verify`.
    A pass that found nothing to do is not asked again until another has changed the function.
    """
    changes: dict[Any, int] = {}  # per function, how often it was changed
    settled: dict[tuple[Any, Any], int] = {}  # per pass and function, `changes` when the pass found nothing to do
    for step in PIPELINES[level]:
        changed = False
        for subject in [module] if step.whole_module else list(module.functions.values()):
            version = changes.get(subject, 0)
            if settled.get((step.run, subject)) == version and not step.whole_module:
                continue
            if step.run(subject):
                changed = True
                for function in module.functions.values() if step.whole_module else [subject]:
                    changes[function] = changes.get(function, 0) + 1
            else:
                settled[step.run, subject] = version
        if changed:
            if step.whole_module and entry is not None:
                inline.remove_unused(module, {entry})
            _report(step, module, verify, dump)
    return module


def _report(step: Pass, module: Module, verify: bool, dump: Callable[[str, Module], None] | None) -> None:
    if verify:
        from ..verify import VerifyError  # on demand: it is not needed outside of tests
        from ..verify import verify as verify_module

        try:
            verify_module(module)
        except VerifyError as error:
            raise VerifyError(f"after pass {step.name}: {error}") from error
    if dump is not None:
        dump(step.name, module)
