"""Lambdas that are called where they are made are part of the function: `map(lambda v: v * k, (a, b))`, once `map` is a loop or two calls
(`comprehensions`, `inlining`), calls what has been made for it, and nobody else has that."""

from __future__ import annotations

from types import CodeType

from zyg import rules
from zyg.frontend.capture import capture
from zyg.ir.analysis import use_counts
from zyg.ir.core import Block, Function, Instr, Target, Value, clone, map_uses

_LONGEST = 20  # instructions
_OF_ITS_OWN = frozenset("new_cell yield yield_from locals build_class name make_function".split())
# *args, **kwargs, and what is a generator or a coroutine
_OTHER_FLAGS = 0x2AC

# Attribute of instructions that stand where a function was not what it had been.
OTHERWISE = "otherwise"


def with_lambdas(f: Function) -> bool:
    """Take the lambdas of `f` in, in place; whether there were any."""
    if not any(i.op == "make_function" and i.attrs["code"].co_name == "<lambda>" for _, i in f.instructions()):
        return False
    makers = {r: i for _, i in f.instructions() for r in i.results}
    counts = use_counts(f)
    called: dict[Value, int] = {}
    for _, instr in f.instructions():
        if instr.op == "call_object":
            for v in instr.operands if instr.attrs.get(OTHERWISE) else instr.operands[:1]:
                called[v] = called.get(v, 0) + 1
    found = False
    for block in list(f.blocks):
        for instr in list(block.instrs):
            if instr.op != "call_object" or instr.attrs["keywords"] or instr.attrs.get(OTHERWISE):
                continue
            made = makers.get(instr.operands[0])
            if made is None or made.op != "make_function" or called[made.result] != counts[made.result]:
                continue
            body = _body(made, makers, len(instr.operands) - 1)
            if body is not None:
                block = _splice(f, block, instr, body)
                found = True
    return found


def _body(made: Instr, makers: dict[Value, Instr], arguments: int) -> Function | None:
    """The code of a lambda, with cells in the places of its free variables; None if it is not to be taken in."""
    code: CodeType = made.attrs["code"]
    if code.co_name != "<lambda>" or made.attrs["has"] not in ((), ("closure",)) or code.co_flags & _OTHER_FLAGS:
        return None
    if code.co_kwonlyargcount or code.co_argcount != arguments or rules.singled_out(code):
        return None
    cells: dict[str, Value] = {}
    if made.operands:
        closure = makers.get(made.operands[0])
        if closure is None or closure.op != "tuple":
            return None
        cells = dict(zip(code.co_freevars, closure.operands, strict=True))
    body = clone(capture(code))
    instrs = [i for _, i in body.instructions()]
    if len(instrs) > _LONGEST or any(i.op in _OF_ITS_OWN for i in instrs):
        return None
    if any(b.handler is not None for b in body.blocks) or sum(i.op == "return" for i in instrs) != 1:
        return None
    instead: dict[Value, Value] = {}
    for block in body.blocks:
        for instr in list(block.instrs):
            if instr.op == "free_cell":
                instead[instr.result] = cells[instr.attrs["name"]]
                block.instrs.remove(instr)
    _replace(body.blocks, instead)
    return body


def _splice(f: Function, block: Block, call: Instr, body: Function) -> Block:
    """Put it in the place of a call; the block behind it."""
    at = block.instrs.index(call)
    parameters = body.params
    body.entry.params = []
    _replace(body.blocks, dict(zip(parameters, call.operands[1:], strict=True)))
    end = next(b for b in body.blocks if b.terminator.op == "return")
    (result,) = end.terminator.operands
    if len(body.blocks) == 1:
        behind = block
        block.instrs[at : at + 1] = body.entry.instrs[:-1]
    else:
        behind = Block(f"{block.name}.called")
        behind.instrs = block.instrs[at + 1 :]
        block.instrs[at:] = [Instr("jump", targets=[Target(body.entry)], position=call.position)]
        end.instrs[-1] = Instr("jump", targets=[Target(behind)], position=call.position)
        for b in (*body.blocks, behind):
            b.in_generator = block.in_generator
            if block.handler is not None:
                b.handler = Target(block.handler.block, list(block.handler.args))
        where = f.blocks.index(block) + 1
        f.blocks[where:where] = [*body.blocks, behind]
    _replace(f.blocks, {call.result: result})
    return behind


def _replace(blocks: list[Block], instead: dict[Value, Value]) -> None:
    for block in blocks:
        for instr in block.instrs:
            map_uses(instr, lambda v: instead.get(v, v))
        if block.handler is not None:
            block.handler.args[:] = [instead.get(v, v) for v in block.handler.args]


__all__ = ["OTHERWISE", "with_lambdas"]
