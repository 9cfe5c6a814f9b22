"""The listings of each stage, and the command line."""

import math
import re
import subprocess
import sys

import numpy as np
import pytest

import zyg
from zyg.__main__ import main
from zyg.inspection import listing, tape_bytes
from zyg.inspection.tape import tape

from .turns import each_in_turn


def f(x):
    return 5 * math.sin(math.log(x))


def power(x, n):
    r = 1
    while n > 0:
        n -= 1
        r *= x
    return r


def instructions(llvm):
    """The lines of LLVM code that do something."""
    return [line.strip() for line in llvm.splitlines() if re.match(r"\s+\S", line) and not line.strip().startswith(";")]


def test_ssa_shows_blocks_branches_and_source():
    text = zyg.code_ssa(power)
    assert "func @power(%x: object, %n: object)" in text
    assert ("branch" in text and "jump" in text) or text.count("branch") >= 2
    assert "# test_inspection.py:" in text and "r *= x" in text
    assert zyg.code_ssa(zyg.jit(power)) == text == zyg.code_ssa(zyg.grad(power))
    names = re.findall(r"^  (%\S+) =", text, re.M)
    assert len(names) == len(set(names)), "each value is assigned once"


def test_ssa_of_a_builtin_is_refused():
    with pytest.raises(zyg.Unsupported, match="not written in Python"):
        zyg.code_ssa(math.sin)


def test_row_02_llvm_of_a_constant_derivative(capfd):
    text = zyg.code_llvm(zyg.derivative(lambda x: 5 * x + 3), 10.0)
    assert capfd.readouterr().err == ""  # LLVM has nothing to say about places that no instruction has any more
    assert "5.0" in text
    body = instructions(text)
    assert len(body) == 1 and body[0].startswith("ret"), body
    asm = zyg.code_native(zyg.derivative(lambda x: 5 * x + 3), 10.0)
    assert "ret" in asm and "call" not in asm


def test_row_11_llvm_of_a_composed_derivative():
    text = zyg.code_llvm(zyg.jit(zyg.derivative(f), error_model="numpy"), 3.0)
    body = "\n".join(instructions(text))
    assert len(re.findall(r"call.*\blog\b", body)) == 1
    assert len(re.findall(r"call.*\bcos\b", body)) == 1
    assert body.count("call") == 2 and body.count("fdiv") == 1 and "br " not in body and "alloca" not in body
    text = zyg.code_llvm(zyg.derivative(f), 3.0)
    body = "\n".join(instructions(text))
    assert not re.search(r"call.*\bsin\b", body) and body.count("fdiv") == 1 and "alloca" not in body
    # The branches are the two checks of the domain: of log, and of cos at infinity.
    assert len(re.findall(r"\bbr i1", body)) == 2


def test_listings_for_reading_and_raw():
    assert "attributes #" in zyg.code_llvm(f, 3.0, raw=True) and "attributes #" not in zyg.code_llvm(f, 3.0)
    assert ".globl" in zyg.code_native(f, 3.0, raw=True) and ".globl" not in zyg.code_native(f, 3.0)
    assert "declare" not in zyg.code_llvm(f, 3.0)


def test_row_38_value_and_tangent_interleaved():
    lines = [line.strip() for line in zyg.code_tangent(power, 2.0, 5).splitlines()]
    (at,) = [n for n, line in enumerate(lines) if "mul %1, %x" in line]
    assert [line.split(" : ")[0].split(" = ")[1] for line in lines[at : at + 4]] == [
        "mul %1, %x", "mul %d_, %x", "mul %d_x, %1", "add %4, %5"
    ]  # fmt: skip
    # the loop carries both, and there is no stack
    assert any(line.startswith("loop(%n.1: i64, %1: f64, %d_: f64)") for line in lines)
    assert not any("push" in line for line in lines)


def test_row_14_the_adjoint_of_a_loop_is_a_loop_with_a_stack():
    text = zyg.code_adjoint(power, 2.0, 5)
    assert "stack" in text and "push" in text and "pop" in text
    assert len(text.splitlines()) < 80
    forward_and_reverse = zyg.code_adjoint(power, 2.0, 5, split=True)
    assert ".fwd" in forward_and_reverse and ".rev" in forward_and_reverse


def test_typed_shows_types_and_source():
    text = zyg.code_typed(power, 2.0, 5)
    assert ": f64" in text and ": i64" in text and "object" not in text and "r *= x" in text
    assert len(zyg.code_typed(power, 2.0, 5, optimised=False)) >= len(text) // 2


def test_arguments_may_be_types():
    from zyg.ir.types import F64, I64

    assert zyg.code_typed(power, F64, I64) == zyg.code_typed(power, 2.0, 5)


def test_wrong_arguments_are_named():
    with pytest.raises(TypeError, match="'n'"):
        zyg.code_typed(power, 1.0, {1})
    with pytest.raises(TypeError, match="not a function"):
        zyg.code_typed(3)
    for function in (power, zyg.jit(power)):
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
            zyg.code_llvm(function, 2.0)


def test_colours(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    code = zyg.code_ssa(power)
    assert "\x1b[" in str(code) and "\x1b[" in repr(code)
    assert "\x1b[" not in code[:]
    assert re.sub(r"\x1b\[[\d;]*m", "", str(code)) == code[:]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in str(code) and str(code) == code[:]


def test_highlighting_leaves_the_text_alone():
    llvm = 'define double @"f.1"(double %x) {\nentry:\n  %y = fmul double %x, 5.0e+00 ; comment\n  ret double %y\n}'
    code = listing.list_llvm(llvm, raw=True)
    assert re.sub(r"\x1b\[[\d;]*m", "", code.coloured) == llvm == code[:]
    asm = "\t.text\nf:\n\tmovsd\t%xmm0, 8(%rsp)\n\tret"
    code = listing.list_asm(asm, raw=True)
    assert re.sub(r"\x1b\[[\d;]*m", "", code.coloured) == asm == code[:]


# ------------------------------------------------------------------------------------------------ the tape


@each_in_turn
def test_tape_bytes_are_exact_and_linear():
    def product(x, n):
        r = 1.0
        for _ in range(n):
            r *= x
        return r

    assert [tape_bytes(product, 1.5, n) for n in (0, 1, 10, 1000)] == [0, 8, 80, 8000]
    assert tape_bytes(product, 1.5, 10, argnums=0) == 80
    assert tape_bytes(f, 3.0) == 0

    def recursive(x, n):
        return 1.0 if n == 0 else x * recursive(x, n - 1)

    first, second, third = (tape_bytes(recursive, 1.5, n) for n in (10, 20, 30))
    assert second - first == third - second > 0


def test_arrays_that_the_tape_refers_to_are_counted():
    def diffused(u, n):
        v = u.copy()
        for _ in range(n):
            v[1:-1] += 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2]) * v[1:-1]
        return (v * v).sum()

    found = tape(diffused, np.linspace(0.0, 1.0, 1002), 50)
    assert found.arrays == 3 * 50 * 1000 * 8 and found.peak == 3 * 50 * 24
    assert sum(saved.bytes for saved in found.saved) == found.arrays + found.peak
    explained = str(zyg.explain(diffused, np.linspace(0.0, 1.0, 1002), 50))
    assert "tape: at most 1203600 bytes, 1200000 bytes of them in arrays" in explained


def test_tape_bytes_leaves_the_arguments_alone():
    def h(a):
        for i in range(len(a)):
            a[i] = math.sin(a[i])
        return a[0] + a[1]

    a = np.array([1.0, 2.0])
    assert tape_bytes(h, a) > 0
    assert a.tolist() == [1.0, 2.0]


# --------------------------------------------------------------------------------------- the command line

SCRIPT = """
import numpy as np
def power(x, n):
    r = 1
    while n > 0:
        n -= 1
        r *= x
    return r
def first(a):
    return a[0]
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "sample_script.py"
    path.write_text(SCRIPT)
    return path


@pytest.mark.parametrize("stage", ["ssa", "typed", "adjoint", "tangent", "llvm", "native"])
def test_inspect(script, capsys, stage):
    assert main(["inspect", f"{script}:power", "2.0", "5", "--stage", stage]) == 0
    assert "power" in capsys.readouterr().out


def test_inspect_arrays_and_derivatives(script, capsys):
    assert main(["inspect", f"{script}:first", "np.zeros(3)", "--stage", "typed"]) == 0
    assert "array<f64" in capsys.readouterr().out
    assert main(["inspect", "math:sin", "0.5", "--derivative", "--stage", "llvm"]) == 0
    assert "cos" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [["nothing"], ["no_such_file.py:f"], ["math:nothing"], ["no_such_module:f"], ["math:sin", "1 +"]],
)
def test_inspect_says_what_is_wrong(words, capsys):
    assert main(["inspect", *words]) == 1
    assert capsys.readouterr().err.startswith("zyg inspect: ")


def test_the_module_runs():
    result = subprocess.run([sys.executable, "-m", "zyg", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("zyg ")
    assert main([]) == 0
    assert np is not None


def test_llvm_and_machine_code_name_the_lines_they_come_from():
    def helper(y):
        return math.sin(y) * 2.0

    def f(x):
        z = helper(x) + 1.0
        return z / 3.0

    for text in (zyg.code_llvm(f, 0.5), zyg.code_llvm(f, 0.5, optimised=False), zyg.code_native(f, 0.5)):
        plain = str.__str__(text)
        for line in ("return math.sin(y) * 2.0", "z = helper(x) + 1.0", "return z / 3.0"):
            assert f": {line}" in plain
        assert "!dbg" not in plain
        assert ".debug" not in plain
    assert "!DILocation" in zyg.code_llvm(f, 0.5, raw=True)


@each_in_turn
def test_a_reader_that_has_seen_enough():
    command = f"{sys.executable} -m zyg inspect zyg.bench:main --stage ssa | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
