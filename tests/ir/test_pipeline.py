"""The pipelines as a whole: order, reports, speed."""

from __future__ import annotations

import sys

import pytest

from zyg.ir import passes
from zyg.ir.core import Value
from zyg.ir.parsing import parse_module
from zyg.ir.passes import CLEAN, FULL, OWNERSHIP, PIPELINE, Pass, optimise
from zyg.ir.text import format_module
from zyg.ir.types import F64
from zyg.ir.verify import VerifyError

from ..turns import each_in_turn
from .generate import Generator


def test_pipelines_are_readable_lists():
    assert PIPELINE == FULL + OWNERSHIP
    for entry in CLEAN + PIPELINE:
        assert entry.name and entry.why and callable(entry.run)
    names = [p.name for p in FULL]
    assert names.index("loop_simplify") < names.index("licm") < names.index("guards")
    assert names.index("cse") < names.index("ranges") < names.index("guards")


def test_dump_is_called_after_passes_that_changed_something():
    module = parse_module("func @f(%x: f64) -> f64 {\nentry:\n  %y = mul %x, 1.0 : f64\n  return %y\n}")
    seen = []
    optimise(module, "full", dump=lambda name, m: seen.append((name, str(m))))
    assert [name for name, _ in seen] == ["fold"]
    assert "return %x" in seen[0][1]


def test_a_pass_that_breaks_the_code_is_named(monkeypatch):
    def break_it(function):
        function.entry.instrs[-1].operands = [Value(F64, "nowhere")]
        return True

    monkeypatch.setitem(passes.PIPELINES, "full", [Pass("break_it", break_it, "to see")])
    module = parse_module("func @f(%x: f64) -> f64 {\nentry:\n  return %x\n}")
    with pytest.raises(VerifyError, match=r"after pass break_it: in @f, block entry: %nowhere is not defined"):
        optimise(module, "full", verify=True)


def test_running_again_changes_little():
    """After the pipeline its own cleaning passes find nothing more to do, on almost all functions."""
    changing = 0
    for seed in range(40):
        module = Generator(seed).make()
        optimise(module, "full")
        optimise(module, "full")
        before = format_module(module)
        optimise(module, "full")
        changing += format_module(module) != before
    assert changing <= 4


_STEPS = {step.name: step.run for step in CLEAN + FULL if not step.whole_module}  # of fold, the one that is final


@pytest.mark.parametrize("name", passes.NOTHING_FROM)
def test_passes_find_nothing_in_what_is_said_to_be_nothing_for_them(name):
    """A pass that was there is not asked again after these."""
    found = changed = 0
    for other in sorted(passes.NOTHING_FROM[name] & _STEPS.keys()):
        for seed in range(25):
            for function in Generator(seed).make().functions.values():
                while other != name and _STEPS[name](function):
                    pass
                if _STEPS[other](function):
                    changed += 1
                    found += bool(_STEPS[name](function))
    assert changed > 20
    assert not found


def size(module) -> int:
    return sum(1 for f in module.functions.values() for _ in f.instructions())


def work(module) -> int:
    """How many Python functions the pipeline calls: a measure of its work that does not depend on the machine."""
    calls = 0

    def count(frame, event, arg):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        optimise(module, "full")
    finally:
        sys.setprofile(None)
    return calls


@each_in_turn
def test_work_is_linear_in_size():
    """A long straight function, and one of many blocks."""

    def straight(count):
        lines = [f"  %v{n} = mul %v{n - 1}, %v{max(n - 2, 0)} : f64" for n in range(1, count)]
        return "func @f(%v0: f64) -> f64 {\nentry:\n" + "\n".join(lines) + f"\n  return %v{count - 1}\n}}"

    def branchy(count):
        lines = []
        for n in range(count):
            lines += [f"b{n}(%x{n}: f64):", f"  %c{n} = lt %x{n}, {float(n)} : bool", f"  branch %c{n}, t{n}, e{n}"]
            lines += [f"t{n}:", f"  %y{n} = add %x{n}, 1.0 : f64", f"  jump b{n + 1}(%y{n})"]
            lines += [f"e{n}:", f"  %z{n} = sin %x{n} : f64", f"  jump b{n + 1}(%z{n})"]
        head = "func @f(%x: f64) -> f64 {\nentry:\n  jump b0(%x)\n"
        return head + "\n".join(lines) + f"\nb{count}(%r: f64):\n  return %r\n}}"

    for make in (straight, branchy):
        small, large = (work(parse_module(make(n))) for n in (100, 800))
        assert large < 8 * 1.5 * small, make.__name__  # quadratic would be 8 * 8
