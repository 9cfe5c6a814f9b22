"""Terminators, checks and what happens between instructions: interrupts."""

from __future__ import annotations

from collections.abc import Callable

from ....ir.core import Const, Instr, Target, Value
from .. import runtime
from ..text import RUNTIME, SELF, value_types
from .function import FunctionLowering
from .registry import lowers


def _may_not_hold(instr: Instr) -> bool:
    condition = instr.operands[0]
    return not (isinstance(condition, Const) and condition.value)


@lowers("guard", context=lambda instr: len(instr.operands) > 1, fails=_may_not_hold)
def guard(e: FunctionLowering, instr: Instr) -> None:
    condition, *details = instr.operands
    holds = e.value(condition)
    site = e.site(instr.attrs["exc"], instr.attrs.get("message", ""), tuple(v.type for v in details))
    if not details:
        e.check(holds, site)
        return
    go_on, cold = e.name("ok"), e.name("error")
    e.branch(holds, go_on, cold, likely=True)
    e.start(cold)
    save_error_values(e, details)
    e.fail(site)
    e.start(go_on)


def save_error_values(e: FunctionLowering, values: list[Value]) -> None:
    for index, value in enumerate(values[: runtime.CTX.error_slots]):
        type, component = e.llvm_type(value), e.value(value)
        if type == "i1":
            type, component = "i8", e.let(f"zext i1 {component} to i8")
        e.set_field(type, component, "%ctx", runtime.CTX.error + 8 * index, "ctx")


@lowers("raise", context=lambda instr: bool(instr.operands), fails=True)
def raise_(e: FunctionLowering, instr: Instr) -> None:
    save_error_values(e, instr.operands)
    types = tuple(v.type for v in instr.operands)
    e.fail(e.site(instr.attrs["exc"], instr.attrs.get("message", ""), types))


def edge(e: FunctionLowering, target: Target, split_edges: list[tuple[str, str]] | None) -> str:
    """Record the edge from the present block, by way of a block of its own if there is a list of these; gives the label
    to jump to."""
    args = e.arguments(target)
    label, destination = e.label, e.labels[target.block]
    if split_edges is not None:
        label = e.name("edge")
        split_edges.append((label, destination))
        destination = label
    e.edges.setdefault(target.block, []).append((label, args))
    return destination


def jump_to(e: FunctionLowering, instr: Instr, template: Callable[[list[str]], str]) -> None:
    """A terminator with several targets; two edges to one block are told apart by blocks of their own."""
    blocks = [t.block for t in instr.targets]
    split_edges: list[tuple[str, str]] = []
    destinations = [edge(e, t, split_edges if t.args and blocks.count(t.block) > 1 else None) for t in instr.targets]
    e.emit(template(destinations))
    for label, destination in split_edges:
        e.start(label)
        e.jump(destination)


# Of a loop over elements, what LLVM need not spend time and code on.  Vectors of a large function are as quick one at a time;
# the version for arrays that are not contiguous is there for completeness.
ONE_AT_A_TIME = ('unroll.disable"',)
PLAIN = ('unroll.disable"', 'vectorize.enable", i1 false')
_MARKS = {"large": ONE_AT_A_TIME, "plain": PLAIN}


def loop_marks(e: FunctionLowering, marks: tuple[str, ...]) -> str:
    """The annotation of a jump that goes back in a loop, of independent iterations perhaps."""
    nodes = [e.module.node(f'!{{!"llvm.loop.{mark}}}') for mark in marks]
    if e.parallel:
        nodes.append(e.module.node(f'!{{!"llvm.loop.parallel_accesses", !{e.module.access_group()}}}'))
    if not nodes:
        return ""
    listed = ", ".join(f"!{node}" for node in nodes)
    return f", !llvm.loop !{e.module.node(f'!{{{SELF}, {listed}}}')}"


@lowers("jump")
def jump(e: FunctionLowering, instr: Instr) -> None:
    marks = loop_marks(e, _MARKS.get(instr.attrs.get("elements", ""), ()))
    jump_to(e, instr, lambda to: f"br label %{to[0]}{marks}")


@lowers("branch")
def branch(e: FunctionLowering, instr: Instr) -> None:
    condition = e.value(instr.operands[0])
    likely = instr.attrs.get("likely")
    weights = "" if likely is None else f", !prof !{e.module.likely if likely else e.module.unlikely}"
    marks = loop_marks(e, ())
    jump_to(e, instr, lambda to: f"br i1 {condition}, label %{to[0]}, label %{to[1]}{weights}{marks}")


@lowers("switch")
def switch(e: FunctionLowering, instr: Instr) -> None:
    value = instr.operands[0]
    type, name = e.llvm_type(value), e.value(value)

    def case(number: int) -> str:
        return ("false", "true")[number] if type == "i1" else str(number)

    def template(to: list[str]) -> str:
        cases = " ".join(f"{type} {case(number)}, label %{label}" for number, label in enumerate(to[:-1]))
        return f"switch {type} {name}, label %{to[-1]} [ {cases} ]"

    jump_to(e, instr, template)


@lowers("return")
def return_(e: FunctionLowering, instr: Instr) -> None:
    pairs = [("i32", "0")] if e.abi.fails else []
    for value in instr.operands:
        pairs += zip(value_types([value.type]), e.copied(value), strict=True)
    give(e, pairs)


def give(e: FunctionLowering, pairs: list[tuple[str, str]]) -> None:
    """Return what the function gives: (LLVM type, value) pairs."""
    if not pairs:
        e.emit("ret void")
    elif not e.abi.fails and len(pairs) == 1:
        e.emit(f"ret {pairs[0][0]} {pairs[0][1]}")
    elif e.abi.packed:
        vector = "poison"
        for k, (type, value) in enumerate(pairs):
            vector = e.let(f"insertelement {e.abi.result} {vector}, {type} {value}, i64 {k}")
        e.emit(f"ret {e.abi.result} {vector}")
    else:
        e.emit(f"ret {e.abi.result} {e.aggregate(e.abi.result, pairs)}")


@lowers("unreachable")
def unreachable(e: FunctionLowering, instr: Instr) -> None:
    e.emit("unreachable")


@lowers("checkpoint")
def checkpoint(e: FunctionLowering, instr: Instr) -> None:
    """It concerns differentiation only."""


@lowers("poll", context=True, fails=True, runs_python=True)
def poll(e: FunctionLowering, instr: Instr) -> None:
    """Adds up the work in the context; every so often the runtime looks at signals and lets other threads run."""
    if instr.attrs.get("rare"):
        callee = e.module.external("zyg_work", "i32", "ptr, i64", RUNTIME)
        e.check_status(e.call("i32", callee, "ptr %ctx", e.typed(instr.operands[0])))
        return
    work = e.at("%ctx", runtime.CTX.work)
    done = e.let(f"add i64 {e.field('i64', work, 0, 'ctx')}, {e.value(instr.operands[0])}")
    e.set_field("i64", done, work, 0, "ctx")
    go_on, slow = e.name("polled"), e.name("poll")
    e.branch(e.let(f"icmp slt i64 {done}, {runtime.POLL_WORK}"), go_on, slow, likely=True)
    e.start(slow)
    callee = e.module.external("zyg_poll", "i32", "ptr", RUNTIME)
    e.check_status(e.call("i32", callee, "ptr %ctx", attributes="cold"), go_on)
