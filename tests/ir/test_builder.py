"""The builder, and SSA construction: variables assigned along random control flow read as they would run."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zyg.ir.analysis import Dominators, reverse_postorder
from zyg.ir.builder import Builder, Variables
from zyg.ir.core import Block, Const, Function, Instr, Position, Target, Value, clone, const, map_uses, uses
from zyg.ir.interpret import run
from zyg.ir.parsing import parse_function
from zyg.ir.text import format_function
from zyg.ir.types import BOOL, F32, F64, I64
from zyg.ir.verify import verify

from ..turns import each_in_turn


def program(seed: int):
    """Blocks that assign variables and choose where to go by a list of decisions: a branch takes the next one."""
    r = random.Random(seed)
    count = r.randint(2, 8)
    names = "abc"
    blocks = []
    for _ in range(count):
        assignments = []
        for _ in range(r.randint(0, 3)):
            source = r.choice([*names, *range(5)])
            assignments.append((r.choice(names), source, r.randint(0, 3)))
        kind = r.choice(("jump", "branch", "branch", "return"))
        targets = [r.randrange(1, count) for _ in range({"jump": 1, "branch": 2}.get(kind, 0))]
        blocks.append((assignments, targets))
    return names, blocks


def simulate(names, blocks, decisions: list[bool]) -> list[int] | None:
    """What running it gives: the variables' values at the return; None if the decisions don't last that long."""
    values = dict.fromkeys(names, 100)
    at, step = 0, 0
    for _ in range(200):
        assignments, targets = blocks[at]
        for name, source, plus in assignments:
            values[name] = (values[source] if isinstance(source, str) else source) + plus
        if not targets:
            return [values[n] for n in names]
        if len(targets) == 1:
            at = targets[0]
        elif step == len(decisions):
            return None
        else:
            at = targets[0 if decisions[step] else 1]
            step += 1
    return None


def build(names, blocks, seed: int) -> Function:
    """The same in SSA form. Branches read decision `step` from a number's bits, itself a variable."""
    function = Function("program")
    real = [Block(f"b{n}") for n in range(len(blocks))]
    bits = Value(I64, "bits")
    function.blocks = list(real)
    real[0].params = [bits]
    function.results = (I64,) * len(names)
    ssa = Variables(type_of=lambda v: I64, initial=lambda v: const(100), name_of=str)
    builder = Builder(function)
    edges = [set() for _ in blocks]
    for n, (_, targets) in enumerate(blocks):
        for t in targets:
            edges[t].add(n)
    order = list(range(len(blocks)))
    random.Random(seed).shuffle(order)
    order.remove(0)
    filled: set[int] = set()

    def seal_ready():
        for n, block in enumerate(real):
            if block not in ssa.sealed and edges[n] <= filled:
                ssa.seal(block)

    ssa.write(real[0], "step", bits)
    seal_ready()
    for n in [0, *order]:
        block = real[n]
        assignments, targets = blocks[n]
        builder.at(block)
        for name, source, plus in assignments:
            value = ssa.read(block, source) if isinstance(source, str) else const(source)
            ssa.write(block, name, builder.op("add", value, const(plus)))
        if not targets:
            builder.ret(*[ssa.read(block, name) for name in names])
        elif len(targets) == 1:
            builder.jump(real[targets[0]])
        else:
            step = ssa.read(block, "step")
            decision = builder.op("eq", builder.op("mod", step, const(2)), const(0))
            rotated = builder.op("floordiv", step, const(2))
            ssa.write(block, "step", rotated)
            builder.branch(decision, real[targets[0]], real[targets[1]])
        for target in block.successors():
            ssa.add_edge(block, target)
        filled.add(n)
        seal_ready()
    ssa.finish(function.blocks)
    alive = set(reverse_postorder(function))
    function.blocks = [b for b in function.blocks if b in alive]
    return function


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_variables_read_what_was_assigned(seed):
    names, blocks = program(seed)
    function = build(names, blocks, seed)
    try:
        verify(function)
    except Exception as error:
        raise AssertionError(format_function(function)) from error
    for n in range(6):
        bits = random.Random(seed + n).getrandbits(60)
        decisions = [not bits >> k & 1 for k in range(60)]
        expected = simulate(names, blocks, decisions)
        if expected is not None:
            got = run(function, bits, limit=100_000)
            assert list(got) == expected, format_function(function)


@each_in_turn
@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_no_redundant_parameters(seed):
    """In reducible control flow each parameter joins at least two values (Braun et al., the minimality of SSA form)."""
    names, blocks = program(seed)
    function = build(names, blocks, seed)
    if len(function.blocks) < len(blocks) or not reducible(function):
        return
    for block, edges in function.predecessors().items():
        for n, param in enumerate(block.params if block is not function.entry else ()):
            arriving = {repr(a) if isinstance(a, Const) else a for _, t in edges if (a := t.args[n]) is not param}
            assert len(arriving) != 1, format_function(function)


def reducible(function: Function) -> bool:
    dominators = Dominators(function)
    position = {b: n for n, b in enumerate(dominators.order)}
    back = [(b, t.block) for b in dominators.order for t in b.successors() if position[t.block] <= position[b]]
    return all(dominators.dominates(header, latch) for latch, header in back)


def test_a_cycle_that_nothing_enters():
    """Dead code may be a cycle of blocks with one predecessor each."""
    blocks = [Block("a"), Block("b")]
    ssa = Variables(type_of=lambda v: I64)
    for block, other in zip(blocks, reversed(blocks), strict=True):
        block.instrs.append(Instr("jump", targets=[Target(other)]))
        ssa.add_edge(block, block.successors()[0])
    for block in blocks:
        ssa.seal(block)
    assert ssa.read(blocks[0], "x").type is I64


def test_a_variable_that_is_never_assigned():
    block = Block("entry")
    ssa = Variables()
    ssa.seal(block)
    with pytest.raises(KeyError):
        ssa.read(block, "x")


def test_a_loop_variable_that_does_not_change_needs_no_parameter():
    entry, loop, done = Block("entry"), Block("loop"), Block("done")
    ssa = Variables(type_of=lambda v: F64)
    ssa.seal(entry)
    x = Value(F64, "x")
    ssa.write(entry, "x", x)
    entry.instrs.append(Instr("jump", targets=[Target(loop)]))
    ssa.add_edge(entry, entry.successors()[0])
    inner = ssa.read(loop, "x")  # the loop is not sealed yet: a parameter for now
    loop.instrs.append(Instr("branch", [const(True)], targets=[Target(loop), Target(done)]))
    for target in loop.successors():
        ssa.add_edge(loop, target)
    ssa.seal(loop)
    ssa.seal(done)
    done.instrs.append(Instr("return", [inner]))
    ssa.finish([entry, loop, done])
    assert loop.params == [] and done.instrs[-1].operands == [x]


def test_a_thousand_blocks_in_a_row():
    blocks = [Block(str(n)) for n in range(5000)]
    ssa = Variables(type_of=lambda v: I64)
    ssa.seal(blocks[0])
    ssa.write(blocks[0], "x", const(1))
    for block, following in itertools.pairwise(blocks):
        block.instrs.append(Instr("jump", targets=[Target(following)]))
        ssa.add_edge(block, block.successors()[0])
        ssa.seal(following)
    assert ssa.read(blocks[-1], "x").value == 1


# ------------------------------------------------------------------------------------------------ the builder


def new_builder():
    function = Function("f", [Block("entry")])
    return Builder(function, function.entry)


def test_results_have_the_types_of_the_table_and_instructions_the_position():
    b = new_builder()
    b.position = Position("f.py", 3)
    x = b.op("lt", Value(F64), const(1.0), name="less")
    assert x.type is BOOL and x.name == "less"
    assert b.block.instrs[0].position == Position("f.py", 3)


def test_arithmetic_of_rules_folds_zeros_and_ones():
    b = new_builder()
    d, x = b.traced(Value(F64, "d")), b.traced(Value(F64, "x"))
    assert (d * 1.0).value() is d.leaf
    assert (d * 0.0).value().value == 0.0
    assert (0.0 + d).value() is d.leaf
    assert (d - 0.0).value() is d.leaf
    assert (d / 1.0).value() is d.leaf
    assert not b.block.instrs
    (d * x + 1.0).value()
    assert [i.op for i in b.block.instrs] == ["mul", "add"]


def test_arithmetic_of_rules_finds_a_common_type():
    b = new_builder()
    n, single, double = Value(I64, "n"), Value(F32, "s"), Value(F64, "d")
    assert b.arith("mul", n, single).type is F32
    assert b.arith("mul", single, double).type is F64
    assert b.arith("mul", single, const(2.0)).type is F32
    assert b.arith("mul", n, const(2.0)).type is F64
    assert b.arith("mul", n, const(2)).type is I64


def test_nothing_follows_a_terminator():
    b = new_builder()
    b.ret()
    with pytest.raises(AssertionError):
        b.ret()


# ---------------------------------------------------------------------------------------------------- core


def test_clone_shares_nothing_that_changes():
    function = parse_function("""func @f(%x: f64, %c: bool) -> f64 {name="f"} {
entry:
  branch %c, a(%x), b
a(%y: f64):
  %z = mul %y, 2.0 {fast={"nnan"}} : f64
  return %z
b:
  return %x
}""")
    copy = clone(function, "g")
    assert copy.name == "g"
    text = format_function(function)
    assert format_function(copy) == text.replace("@f", "@g")
    original = {id(v) for b in function.blocks for v in b.params}
    original |= {id(r) for _, i in function.instructions() for r in i.results}
    for _, instr in copy.instructions():
        assert not any(id(v) in original for v in uses(instr))
        instr.attrs["changed"] = True
        map_uses(instr, lambda v: const(0.0) if v.type is F64 else v)
    copy.attrs["name"] = "g"
    assert format_function(function) == text


def test_const_knows_its_type():
    assert const(True).type is BOOL and const(1).type is I64 and const(1.0).type is F64
    assert const(1, F64).value == 1.0 and type(const(1, F64).value) is float
    assert const(2.5, F32).type is F32
