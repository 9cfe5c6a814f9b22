"""Put the bodies of functions in place of calls.

Input: a module.  Output: calls to functions that are small, or called from one place only, are replaced by their
bodies, callees before callers.  Recursive functions stay calls, and so do calls with a derivative rule and
checkpointed ones (unless `rules=True`), and those of functions that are `shared`: they consist of loops, which other passes
write out several times over.

Invariant: a stack that was passed by value is still a copy (by `cursor`) in the inlined body.
"""

from __future__ import annotations

from ..analysis import components
from ..core import CALLING, Block, Function, Instr, Module, Target, Value, callees, clone_blocks
from ..types import Stack, Tape
from .rewriting import substitute

OUT_OF_LINE = frozenset({"rule", "tangent", "checkpoint"})  # attributes of calls that differentiation has to see
SMALL = 40  # instructions
LARGEST = 4000  # instructions in a function that is inlined into


def run(module: Module, limit: int = SMALL, rules: bool = False) -> list[Function]:
    """Gives the functions in which calls were replaced."""
    order, recursive = bottom_up(module)
    sites: dict[str, int] = {}
    size: dict[str, int] = {}
    for function in module.functions.values():
        size[function.name] = sum(len(b.instrs) for b in function.blocks)
        for block in function.blocks:
            for instr in block.instrs:
                if instr.op in CALLING:
                    callee = instr.attrs["callee"]
                    sites[callee] = sites.get(callee, 0) + 1

    def wanted(instr: Instr, caller: str) -> bool:
        if instr.op != "call" or "vector" in instr.attrs or (not rules and not OUT_OF_LINE.isdisjoint(instr.attrs)):
            return False
        callee = instr.attrs["callee"]
        if callee in recursive or callee not in module.functions or _has_tape(module.functions[callee]):
            return False
        if "shared" in module.functions[callee].attrs:
            return False
        return (size[callee] <= limit or sites[callee] == 1) and size[caller] + size[callee] <= LARGEST

    changed: list[Function] = []
    for name in order:
        function = module.functions[name]
        work = [b for b in function.blocks if any(i.op == "call" for i in b.instrs)]
        while work:
            block = work.pop()
            for n, instr in enumerate(block.instrs):
                if wanted(instr, name):
                    size[name] += size[instr.attrs["callee"]]
                    work.append(inline_call(module, function, block, n))
                    if changed[-1:] != [function]:
                        changed.append(function)
                    break
    return changed


def inline_call(module: Module, function: Function, block: Block, index: int) -> Block:
    """Inline the call `block.instrs[index]`; the block where control goes on afterwards."""
    call = block.instrs[index]
    callee = module.functions[call.attrs["callee"]]
    after = Block(f"{block.name}.after", call.results)
    after.instrs = block.instrs[index + 1 :]
    after.handler = block.handler and Target(block.handler.block, list(block.handler.args))
    del block.instrs[index:]
    arguments = [_by_value(block, v, call) for v in call.operands]
    body = clone_blocks(callee.blocks, {})
    block.instrs.append(Instr("jump", targets=[Target(body[0], arguments)], position=call.position))
    for b in body:
        last = b.instrs[-1]
        if last.op == "return":
            b.instrs[-1] = Instr("jump", targets=[Target(after, last.operands)], position=last.position)
        if b.handler is None and block.handler is not None:
            b.handler = Target(block.handler.block, list(block.handler.args))
    at = function.blocks.index(block) + 1
    function.blocks[at:at] = [*body, after]
    if "lanes" in callee.attrs:
        function.attrs["lanes"] = callee.attrs["lanes"]
    return after


def inline_calls(module: Module, function: Function) -> None:
    """Inline the calls of a function of one block; where what is called has one block too, so has the function still."""
    block = function.entry
    called = [module.functions[i.attrs["callee"]] for i in block.instrs if i.op == "call"]
    if any(len(callee.blocks) > 1 for callee in called):
        at = 0
        while at < len(block.instrs):
            if block.instrs[at].op == "call":
                block, at = inline_call(module, function, block, at), 0
            else:
                at += 1
        return
    instrs: list[Instr] = []
    replaced: dict[Value, Value] = {}
    for instr in block.instrs:
        substitute(instr, replaced)
        if instr.op != "call":
            instrs.append(instr)
            continue
        callee = module.functions[instr.attrs["callee"]]
        values: dict[Value, Value] = {}
        (body,) = clone_blocks(callee.blocks, values)
        given = dict(zip(body.params, instr.operands, strict=True))
        for i in body.instrs:
            substitute(i, given)
        last = body.instrs.pop()
        instrs += body.instrs
        if last.op != "return":
            instrs.append(last)
            break
        replaced.update(zip(instr.results, last.operands, strict=True))
        if "lanes" in callee.attrs:
            function.attrs["lanes"] = callee.attrs["lanes"]
    block.instrs[:] = instrs


def _by_value(block: Block, value: Value, call: Instr) -> Value:
    if not isinstance(value.type, Stack):
        return value
    copy = Value(value.type, value.name)
    block.instrs.append(Instr("cursor", [value], [copy], position=call.position))
    return copy


def _has_tape(function: Function) -> bool:
    return any(isinstance(v.type, Tape) for v in function.params)


def bottom_up(module: Module) -> tuple[list[str], set[str]]:
    """The functions' names, callees before callers, and which of them are recursive."""
    calls = {
        name: list(dict.fromkeys([i.attrs["callee"] for b in f.blocks for i in b.instrs if i.op in CALLING]))
        for name, f in module.functions.items()
    }
    inside = lambda name: [callee for callee in calls[name] if callee in calls]
    order: list[str] = []
    recursive: set[str] = set()
    for component in components(calls, inside):
        order += component
        if len(component) > 1 or component[0] in calls[component[0]]:
            recursive.update(component)
    return order, recursive


def remove_unused(module: Module, roots: set[str]) -> bool:
    """Drop the functions that cannot be reached from `roots` by calls (and the rules on calls)."""
    reached: set[str] = set()
    work = list(roots)
    while work:
        name = work.pop()
        if name in reached or name not in module.functions:
            continue
        reached.add(name)
        for block in module.functions[name].blocks:
            for instr in block.instrs:
                if instr.op in CALLING:
                    work += callees(instr)
    if len(reached) == len(module.functions):
        return False
    module.functions = {name: f for name, f in module.functions.items() if name in reached}
    return True
