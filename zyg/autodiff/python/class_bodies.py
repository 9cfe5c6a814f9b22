"""The body of a class statement as a function of the namespace that it fills, so that it is differentiated like others.

A body reads and writes names in the mapping that its frame has for its variables. Here these accesses are spelled out: as
items of a dict, which the function gets as its only parameter.
"""

from __future__ import annotations

from types import CodeType

from zyg.ir.core import Const, Function, Instr, Value
from zyg.ir.types import OBJECT


def is_class_body(code: CodeType) -> bool:
    """Whether a code object keeps its variables in a mapping (CO_NEWLOCALS is not set)."""
    return not code.co_flags & 0x02


def as_function(body: Function) -> Function:
    """The captured body of a class, rewritten in place as a function of its namespace."""
    from zyg.autodiff.objects import class_statements

    namespace = Value(OBJECT, ".namespace")
    body.params.append(namespace)
    own = {i.attrs["name"] for _, i in body.instructions() if i.op == "set_name"}
    if any(i.op == "setup_annotations" for _, i in body.instructions()):
        own.add("__annotations__")
    instead: dict[Value, Value] = {}
    for block in body.blocks:
        kept = []
        for instr in block.instrs:
            name = Const(instr.attrs.get("name"), OBJECT)
            if instr.op == "locals":
                instead[instr.result] = namespace
                continue
            if instr.op == "set_name":
                _become(instr, "setitem", namespace, name, instr.operands[0])
            elif instr.op == "del_name":
                _become(instr, "delitem", namespace, name)
            elif instr.op == "setup_annotations":
                instr.results = [Value(OBJECT)]
                _call(instr, class_statements.set_up_annotations, namespace)
            elif instr.op == "name" and instr.attrs["name"] in own:
                _call(instr, class_statements.look_up, namespace, name)
            elif instr.op == "name":
                instr.op = "global"
            elif instr.op == "class_deref" and instr.attrs["name"] in own:
                _call(instr, class_statements.look_up, namespace, name, instr.operands[1])
            elif instr.op == "class_deref":
                instr.op, instr.operands = "get_cell", [instr.operands[1]]
            kept.append(instr)
        block.instrs[:] = kept
    for _, instr in body.instructions():
        instr.operands = [instead.get(v, v) for v in instr.operands]
        for target in instr.targets:
            target.args[:] = [instead.get(v, v) for v in target.args]
    return body


def _become(instr: Instr, op: str, *operands: Value) -> None:
    instr.op, instr.operands, instr.attrs = op, list(operands), {}


def _call(instr: Instr, function: object, *operands: Value) -> None:
    _become(instr, "call_object", Const(function, OBJECT), *operands)
    instr.attrs = {"keywords": ()}
