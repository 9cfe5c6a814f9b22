"""Dominators, loops and liveness against their definitions, on random control flow."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zyg.ir.analysis import (
    Dominators,
    Liveness,
    Loops,
    PostDominators,
    confined_arrays,
    definitions,
    reverse_postorder,
    use_counts,
)
from zyg.ir.core import Block, Function, Instr, Target, Value
from zyg.ir.parsing import parse_function
from zyg.ir.types import BOOL

from ..turns import each_in_long_turn
from .generate import Generator


def random_graph(seed: int, handlers: bool = False) -> Function:
    """Any control flow, irreducible and unreachable parts included; no values."""
    r = random.Random(seed)
    blocks = [Block(f"b{n}") for n in range(r.randint(1, 9))]
    for block in blocks:
        kind = r.choice(("jump", "branch", "branch", "switch", "return", "raise"))
        count = {"jump": 1, "branch": 2, "switch": 3}.get(kind, 0)
        targets = [Target(r.choice(blocks[1:] or [Block("none")])) for _ in range(count)]
        if count and len(blocks) == 1:
            kind, targets = "return", []
        operands = [Value(BOOL)] if count > 1 else []
        block.instrs.append(Instr(kind, operands, targets=targets))
        if handlers and len(blocks) > 1 and r.random() < 0.3:
            block.handler = Target(r.choice(blocks[1:]))
    return Function("graph", blocks)


def reachable(function: Function, start: Block, without: Block | None = None) -> set[Block]:
    seen: set[Block] = set()
    work = [start]
    while work:
        block = work.pop()
        if block in seen or block is without:
            continue
        seen.add(block)
        work += [t.block for t in block.successors()]
        if block.handler is not None:
            work.append(block.handler.block)
    return seen


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**9), handlers=st.booleans())
def test_dominators(seed, handlers):
    function = random_graph(seed, handlers)
    dominators = Dominators(function)
    alive = reachable(function, function.entry)
    assert set(dominators.order) == alive == set(reverse_postorder(function))
    for a in alive:
        cut = reachable(function, function.entry, without=a)
        for b in alive:
            assert dominators.dominates(a, b) == (b not in cut), (a, b)
    for block, parent in dominators.immediate.items():
        strict = [a for a in alive if a is not block and dominators.dominates(a, block)]
        assert (parent is None) == (not strict)
        assert all(dominators.dominates(a, parent) for a in strict)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_post_dominators(seed):
    function = random_graph(seed)
    post = PostDominators(function)

    def returns(block: Block, without: Block | None = None) -> bool:
        return any(b.terminator.op == "return" for b in reachable(function, block, without))

    for block in function.blocks:
        assert post.returns(block) == returns(block)
    for a in function.blocks:
        for b in function.blocks:
            if post.returns(a) and post.returns(b):
                assert post.post_dominates(a, b) == (a is b or not returns(b, without=a)), (a, b)


@each_in_long_turn
@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_loops(seed):
    function = random_graph(seed)
    loops = Loops(function)
    dominators = loops.dominators
    back = {
        (b, t.block) for b in dominators.order for t in b.successors() if dominators.dominates(t.block, b)
    }  # fmt: skip
    assert {loop.header for loop in loops.all} == {header for _, header in back}
    for loop in loops.all:
        assert {(latch, loop.header) for latch in loop.latches} == {e for e in back if e[1] is loop.header}
        assert all(dominators.dominates(loop.header, b) for b in loop.blocks)
        for block in loop.blocks:  # each block of the loop comes round to the header inside of the loop
            inside = reachable_inside(block, loop.blocks)
            assert loop.header in inside or block is loop.header
        assert all(t.block not in loop.blocks for _, t in loop.exits)
        assert loop.depth == (loop.parent.depth + 1 if loop.parent else 1)
        if loop.parent is not None:
            assert loop.blocks < loop.parent.blocks and loop in loop.parent.children
    for block, loop in loops.of.items():
        assert block in loop.blocks
        assert not any(block in child.blocks for child in loop.children)
    for outer, inner in zip(loops.all, loops.all[1:], strict=False):
        assert not outer.blocks < inner.blocks, "outer loops come first"


def reachable_inside(start: Block, blocks: set[Block]) -> set[Block]:
    seen: set[Block] = set()
    work = [t.block for t in start.successors()]
    while work:
        block = work.pop()
        if block in blocks and block not in seen:
            seen.add(block)
            work += [t.block for t in block.successors()]
    return seen


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_liveness(seed):
    """A value is live into a block if a path from there uses it before coming to its definition."""
    for function in Generator(seed).make().functions.values():
        liveness = Liveness(function)
        defined = definitions(function)
        counts = use_counts(function)
        used_in = {b: set() for b in function.blocks}
        for block, instr in function.instructions():
            used_in[block].update(v for v in (*instr.operands, *(a for t in instr.targets for a in t.args)))
        for value, (home, _) in defined.items():
            wanted = set()
            work = [b for b in function.blocks if value in used_in[b] and b is not home]
            predecessors = function.predecessors()
            while work:
                block = work.pop()
                if block not in wanted:
                    wanted.add(block)
                    work += [p for p, _ in predecessors[block] if p is not home]
            for block in liveness.in_mask:
                assert liveness.is_live_in(value, block) == (block in wanted)
            assert (counts[value] > 0) == any(value in u for u in used_in.values())
        for block in liveness.in_mask:
            live = {v for v in defined if liveness.is_live_in(v, block)}
            assert liveness.live_in(block) == live
            out = set().union(*(liveness.live_in(t.block) for t in block.successors()))
            assert liveness.live_out(block) == out
            assert all(liveness.is_live_out(v, block) for v in out)


def test_preheader_and_latch():
    function = parse_function(
        """
        func @f(%n: i64, %c: bool) -> i64 {
        entry:
          branch %c, loop(0), done
        loop(%i: i64):
          %i.1 = add %i, 1 : i64
          %more = lt %i.1, %n : bool
          branch %more, loop(%i.1), done
        done:
          return %n
        }""".replace("\n        ", "\n")
    )
    (loop,) = Loops(function).all
    assert loop.preheader is None, "the block before it also goes elsewhere"
    assert loop.latch is loop.header
    assert [t.block.name for _, t in loop.exits] == ["done"]


def test_what_a_block_defines_is_not_available_in_its_handler():
    function = parse_function("""func @f(%x: object) -> object {
entry:
  jump work
work handler caught:
  %r = call_object %x {keywords=()} : object
  return %r
caught(%e: object):
  return %e
}""")
    _, work, caught = function.blocks
    dominators = Dominators(function)
    assert dominators.dominates(work, caught)
    assert not dominators.available(work, caught)


@pytest.mark.parametrize("blocks", [3000])
def test_long_functions_do_not_recurse(blocks):
    """Every analysis is iterative: some functions have thousands of blocks in a row."""
    chain = [Block(f"b{n}") for n in range(blocks)]
    for block, following in itertools.pairwise(chain):
        block.instrs.append(Instr("jump", targets=[Target(following)]))
    chain[-1].instrs.append(Instr("return"))
    function = Function("long", chain)
    assert reverse_postorder(function) == chain
    assert Dominators(function).dominates(chain[0], chain[-1])
    assert PostDominators(function).post_dominates(chain[-1], chain[0])
    assert not Loops(function).all
    Liveness(function)


CONFINED = """
func @f(%n: i64, %c: bool, %p: array<f64, 1, C>) -> f64 {
entry:
  %kept = alloc %n {fill="zeros"} : array<f64, 1, C>
  %seen = alloc %n {fill="zeros"} : array<f64, 1, C>
  %v = reshape %seen, %n : array<f64, 1, C>
  %saved = alloc %n {fill="zeros"} : array<f64, 1, C>
  %w = reshape %saved, %n : array<f64, 1, C>
  %s = stack : stack<array<f64, 1, C>>
  push %s, %w
  %passed = alloc %n {fill="zeros"} : array<f64, 1, C>
  %chosen = alloc %n {fill="zeros"} : array<f64, 1, C>
  %one = select %c, %chosen, %p : array<f64, 1, C>
  store %kept, 1.0, 0
  store %v, 1.0, 0
  jump next(%passed)
next(%q: array<f64, 1, C>):
  store %q, 2.0, 0
  %x = load %kept, 0 : f64
  drop %s
  return %x
}
"""


def test_confined_arrays_are_those_that_nothing_else_leads_to():
    function = parse_function(CONFINED)
    assert {v.name for v in confined_arrays(function)} == {"kept", "seen"}
