"""Code objects of the assembler against what `Bytecode`, which does all of it, makes of the same instructions."""

from __future__ import annotations

import dis
from types import CodeType, FunctionType
from typing import Any

import pytest
from bytecode import Bytecode, CompilerFlags, Instr, Label
from bytecode.instr import UNSET, InstrLocation

import zyg.backend.python as emitter
from tests.turns import by_one_python_a_day
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.python import compile as compiled
from zyg.backend.assembly import Instruction, Signature, assemble


def by_package(signature: Signature, items: list[Any], depth: int) -> CodeType:
    made = Bytecode()
    made.argnames = list(signature.argument_names)
    made.argcount, made.posonlyargcount, made.kwonlyargcount = signature.counts
    made.cellvars, made.freevars = signature.cells, signature.free
    made.name, made.qualname, made.filename = signature.name, signature.qualname, signature.filename
    made.first_lineno = signature.first_line
    made.flags = CompilerFlags(signature.flags)
    made.docstring = signature.docstring
    for item in items:
        if isinstance(item, Instruction):
            plain = item.arg is None and item.name not in ("LOAD_CONST", "RETURN_CONST")
            place = None if item.location is None else InstrLocation(*item.location)
            arg: Any = UNSET if plain else item.arg
            made.append(Instr(item.name, arg, location=place))
        else:
            made.append(item)
    return made.to_code(stacksize=depth, compute_exception_stack_depths=False)


def described(code: CodeType) -> dict[str, Any]:
    """All that a code object says, but for the numbers of its constants."""
    attributes = (
        "co_name co_qualname co_filename co_firstlineno co_flags co_argcount co_posonlyargcount co_kwonlyargcount"
    )
    names = "co_nlocals co_stacksize co_names co_varnames co_cellvars co_freevars"
    bytecode: Any = dis.Bytecode(code)
    steps = [(i.opname, i.argval, i.offset) for i in dis.get_instructions(code) if i.opname != "EXTENDED_ARG"]
    places = [
        place if end is None or end <= 127 else (line, last)  # later columns the package writes to a wrong table
        for place in code.co_positions()
        for line, last, _, end in [place]
    ]

    def begin(at: int) -> int:  # what extends an argument raises nothing
        while code.co_code[at] == dis.EXTENDED_ARG:
            at += 2
        return at

    return {
        "attributes": [getattr(code, name) for name in (attributes + " " + names).split()],
        "steps": [(name, repr(arg), at) for name, arg, at in steps],
        "places": places,
        "regions": [(begin(r.start), r.end, r.target, r.depth, r.lasti) for r in bytecode.exception_entries],
        "first constant": code.co_consts[0],
    }


def captured(x: float, n: int) -> float:
    """Cells, loops, handlers, a generator, and a text that is a constant."""
    values = [x * k for k in range(n)]
    kept = {"a": x, "b": [x]}
    total = 0.0

    def add(v: float) -> None:
        nonlocal total
        total += v * x

    for k, v in enumerate(values):
        try:
            if k % 3 == 0 and v != 0:
                raise ValueError(v)
            add(v / (k - 1))
        except ZeroDivisionError:
            total -= v
        except ValueError as error:
            total += error.args[0] * kept["b"][0]
    kept["a"] *= total
    total += sum(v * v for v in values if v is not None)
    return total + kept["a"]


def test_the_package_makes_the_same_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0

    def compared(signature: Signature, items: list[Any], depth: int) -> CodeType:
        nonlocal seen
        seen += 1
        made = assemble(signature, items, depth)
        assert described(made) == described(by_package(signature, items, depth))
        return made

    compiled.forget()
    monkeypatch.setattr(emitter, "assemble", compared)
    value, back = pullback(captured, (0.5, 9))
    assert value == captured(0.5, 9)
    assert back(1.0)[0] == pytest.approx((captured(0.5 + 1e-6, 9) - captured(0.5 - 1e-6, 9)) / 2e-6)
    assert seen >= 4


@by_one_python_a_day
@pytest.mark.parametrize("count", [1, 100, 127, 128, 255, 256, 40_000])
def test_jumps_over_much_code(count: int) -> None:
    end, again = Label(), Label()
    items = [
        Instruction("RESUME", 0, (1, None, None, None)),
        again,
        Instruction("LOAD_FAST", "x", (2, 3, 200, 4)),
        Instruction("POP_JUMP_FORWARD_IF_FALSE" if "POP_JUMP_FORWARD_IF_FALSE" in dis.opmap else "POP_JUMP_IF_FALSE", end),
        *[Instruction("NOP") for _ in range(count)],
        Instruction("LOAD_CONST", False, (7, 7, 130, 150)),
        Instruction("STORE_FAST", "x"),
        Instruction("JUMP_BACKWARD", again),
        end,
        Instruction("LOAD_CONST", "end", (5, 5, 3, 9)),
        Instruction("RETURN_VALUE"),
    ]  # fmt: skip
    signature = Signature(["x"], (1, 0, 0), name="f", qualname="f", filename="f.py", flags=3)
    code = assemble(signature, items, 2)
    run = FunctionType(code, {})
    assert run(True) == run(False) == "end"
    assert described(code)["steps"] == described(by_package(signature, items, 2))["steps"]
    places = list(code.co_positions())
    assert len(places) == len(code.co_code) // 2
    # (of columns beyond 127 the line is kept)
    assert (2, 3, 200, 4) in places and (7, 7, None, None) in places and places[-1] == (5, 5, 3, 9)
