"""Calls of compiled functions and of Python functions."""

from __future__ import annotations

from ....ir.core import Instr
from ....ir.readymade import Readymade
from ....ir.types import SCALARS, flatten
from ...tracebacks import placing
from ..boxing import Boxing
from ..lowered import ErrorSite, FunctionABI, LoweringError
from ..text import RUNTIME, by_value, component_types, components
from .function import FunctionLowering
from .registry import lowers


@lowers("call")
def call(e: FunctionLowering, instr: Instr) -> None:
    callee = e.lowered.signatures.get(instr.attrs["callee"])
    if callee is None:
        raise LoweringError(f"call of unknown function {instr.attrs['callee']}")
    args = ["ptr %ctx"] if callee.needs_ctx else []
    for value in instr.operands:
        types = component_types([value.type])
        args += [f"{t} {c}" for t, c in zip(types, e.components_of(value), strict=True)]
    status, parts = callee.call(e, args)
    if status is not None:
        e.check_status(status)
    index = 0
    for value in instr.results:
        count = len(components(by_value(value.type)))
        e.bind_copied(value, parts[index : index + count])
        index += count


@lowers("readymade", context=True, fails=True, runs_python=True)
def readymade(e: FunctionLowering, instr: Instr) -> None:
    code: Readymade = instr.attrs["code"]
    results = tuple(v.type for v in instr.results)
    there = FunctionABI(
        "@" + code.symbol, code.needs_ctx, tuple(v.type for v in instr.operands), results, True, fails=code.fails,
        taken=code.taken,
    )  # fmt: skip
    e.lowered.readymade[code.symbol] = code
    e.module.externals[code.symbol] = there.declaration()
    args = ["ptr %ctx"] * code.needs_ctx
    for value in instr.operands:
        args += [f"{t} {c}" for t, c in zip(component_types([value.type]), e.components_of(value), strict=True)]
    status, parts = there.call(e, args)
    if status is not None:
        before = len(e.lowered.errors) - 1
        if code.errors:  # its numbers count from 1
            e.lowered.errors += [
                ErrorSite(exception, message, instr.position, tuple(SCALARS[name] for name in types))
                for exception, message, types in code.errors
            ]
            failed = e.let(f"icmp sgt i32 {status}, 0")
            number = e.let(f"add i32 {status}, {before}")
            status = e.let(f"select i1 {failed}, i32 {number}, i32 {status}")
        e.check_status(status)
    index = 0
    for value in instr.results:
        count = len(components(by_value(value.type)))
        e.bind_copied(value, parts[index : index + count])
        index += count


@lowers("pycall", context=True, fails=True, runs_python=True)
def pycall(e: FunctionLowering, instr: Instr) -> None:
    boxing = Boxing(e)
    take = e.module.external("zyg_gil_take", "void", "ptr", RUNTIME)
    e.call("void", take, "ptr %ctx")
    function = e.object(instr.attrs["callable"])
    leaves = [c for v in instr.operands for c in e.components_of(v)]
    failed = e.name("pycall_failed")
    result = boxing.call(function, instr.attrs["arguments"], leaves, "%ctx", failed)
    values = boxing.unbox_result(result, instr.attrs["result"], "%ctx", failed)
    boxing.pin_arrays(flatten(instr.attrs["result"]), values, "%ctx", failed)
    boxing.release_slots()
    go_on = e.name("ok")
    e.jump(go_on)
    e.start(failed)
    boxing.release_slots()
    if instr.position is not None:
        where = instr.position, getattr(type(instr.attrs["callable"]), "own_frames", 0)
        place = e.object(placing(*where), "placing", *where)
        e.call("void", e.module.external("zyg_place", "void", "ptr", "cold"), f"ptr {place}")
    e.fail("-1")
    e.start(go_on)
    index = 0
    for value in instr.results:
        count = len(components(value.type))
        e.bind(value, values[index : index + count])
        index += count
