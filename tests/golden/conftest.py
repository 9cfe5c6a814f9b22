"""Golden files: IR text in, a pass, IR text out. Each `*.zir` here is collected by pytest.

Line 1 names what is tested, `# test: fold`; cases are separated by lines of `=====`, each with input, `-----`, expected
text.  A comment above a case's first function describes it and names the test.

    # test: <pass>      one pass, or several separated by spaces, run in order with the verifier between
    # test: clean       a pipeline
    # test: text        the parser and the printer: the expected text is what is printed
    # test: verify      no expected text; lines that the verifier complains about end in `# error: <part of message>`

For passes and pipelines the interpreter also runs the function before and after, on a few arguments.
"""

from __future__ import annotations

import copy
import itertools
import math
import re

import numpy as np
import pytest

from zyg.ir import verify as verifier
from zyg.ir.core import Module
from zyg.ir.dtypes import NUMPY_SCALARS
from zyg.ir.interpret import StepLimit, run
from zyg.ir.parsing import parse_module
from zyg.ir.passes import (
    cse,
    dce,
    distribute,
    fold,
    guards,
    idle,
    induction,
    inline,
    licm,
    loop_simplify,
    mem2reg,
    optimise,
    ownership,
    ranges,
    simplify_cfg,
    stacks,
    writes,
)
from zyg.ir.text import format_module
from zyg.ir.types import Array, Scalar

SEPARATOR, ARROW = "=====", "-----"


def _each(run_pass):
    def on_module(module: Module) -> None:
        for function in module.functions.values():
            run_pass(function)

    return on_module


TESTS = {
    "simplify_cfg": _each(simplify_cfg.run),
    "fold": _each(fold.run),
    "fold_final": _each(lambda f: fold.run(f, final=True)),
    "cse": _each(cse.run),
    "dce": _each(dce.run),
    "loop_simplify": _each(loop_simplify.run),
    "merge_returns": _each(loop_simplify.merge_returns),
    "induction": _each(induction.run),
    "licm": _each(licm.run),
    "mem2reg": _each(mem2reg.run),
    "ranges": _each(ranges.run),
    "guards": _each(guards.run),
    "idle": _each(idle.run),
    "distribute": _each(distribute.run),
    "stacks": _each(stacks.run),
    "ownership": _each(ownership.run),
    "inline": inline.run,
    "writes": writes.run,
    "clean": lambda module: optimise(module, "clean", verify=True),
    "full": lambda module: optimise(module, "full", verify=True),
    "text": lambda module: None,
}


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".zir":
        return ZirFile.from_parent(parent, path=file_path)
    return None


class ZirFile(pytest.File):
    def collect(self):
        text = self.path.read_text()
        head, _, rest = text.partition("\n")
        match = re.fullmatch(r"# test: ([\w ]+)", head)
        if match is None:
            raise self.CollectError(f"{self.path.name}: line 1 has to be `# test: <pass>`")
        kinds = match.group(1).split()
        cases = re.split(rf"^{SEPARATOR}\n", rest, flags=re.M)
        self.expected: dict[int, str] = {}  # what --update found
        self.cases = cases
        for number, case in enumerate(cases):
            title = re.search(r"^# (.+)", case, re.M)
            name = title.group(1) if title else str(number)
            yield ZirCase.from_parent(self, name=name, kinds=kinds, number=number)

    def update(self, number: int, case: str) -> None:
        head = self.path.read_text().partition("\n")[0]
        self.cases[number] = case
        self.path.write_text(head + "\n" + f"{SEPARATOR}\n".join(self.cases))


class ZirCase(pytest.Item):
    def __init__(self, *, kinds, number, **keywords):
        super().__init__(**keywords)
        self.kinds = kinds
        self.number = number

    def runtest(self):
        source, _, expected = self.parent.cases[self.number].partition(f"{ARROW}\n")
        if self.kinds == ["verify"]:
            check_verifier(source)
            return
        module = parse_module(source)
        before = parse_module(source)
        if self.kinds != ["text"]:
            verifier.verify(module)
        for kind in self.kinds:
            TESTS[kind](module)
            if kind != "text":
                verifier.verify(module)
        text = format_module(module) + "\n"
        assert format_module(parse_module(text)) + "\n" == text, "the text does not parse back to the same"
        if self.kinds != ["text"] and not re.search("fast=|strong=", source):
            check_meaning(before, module)
        if expected.strip() != text.strip():
            if self.config.getoption("--update"):
                last = self.number == len(self.parent.cases) - 1
                self.parent.update(self.number, f"{source}{ARROW}\n{text}" + ("" if last else "\n"))
            else:
                raise AssertionError(f"expected\n\n{expected}\nbut it is (pytest --update takes it over)\n\n{text}")

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, AssertionError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, self.number, f"{self.path.name}: {self.name}"


def check_verifier(source: str) -> None:
    """The lines that the verifier names are those with `# error:`, and the messages fit."""
    wanted: dict[int, str] = {}
    code: list[int] = []  # line numbers of block heads and instructions, in order
    for number, line in enumerate(source.split("\n")):
        statement, _, comment = line.partition("# error: ")
        if comment:
            wanted[number] = comment.strip()
        stripped = statement.strip()
        if stripped and not stripped.startswith(("#", "func", "}")):
            code.append(number)
    module = parse_module(source)
    found: dict[int, str] = {}
    lines = iter(code)
    for function in module.functions.values():
        places = {}
        for block in function.blocks:
            places[block] = next(lines)
            for instr in block.instrs:
                places[instr] = next(lines)
        for problem in verifier.problems(function, module):
            where = problem.instr or problem.block
            assert where is not None, problem.message
            found[places[where]] = problem.message
            assert problem.message in verifier.describe(problem, function)
    assert found.keys() == wanted.keys(), f"the verifier says {found}"
    for number, part in wanted.items():
        assert part in found[number], f"line {number + 2}: {found[number]}"


# ------------------------------------------------------------------------------- the same before and after


def check_meaning(before: Module, after: Module) -> None:
    name = next(iter(before.functions))
    params = before.functions[name].params
    if not all(isinstance(p.type, (Scalar, Array)) for p in params):
        return
    for n in range(8):
        arguments = [argument(p.type, n + k) for k, p in enumerate(params)]
        expected = outcome(before, name, arguments)
        got = outcome(after, name, arguments)
        if "not run" in (expected, got) or expected[0] is OverflowError:
            continue
        assert got == expected, f"for {arguments} it gave {expected} and now gives {got}"


def argument(type, n: int):
    if isinstance(type, Array):
        shape = [(n + k) % 4 for k in range(type.ndim)]
        return np.arange(math.prod(shape), dtype=NUMPY_SCALARS[type.dtype]).reshape(shape) + 1
    values = {"f": (2.0, -1.5, 0.0, math.inf, -0.0, math.nan, 3.0), "b": (True, False)}
    return next(itertools.islice(itertools.cycle(values.get(type.kind, (3, 0, 1, 2, 5))), n, None))


def outcome(module: Module, name: str, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        results = run(module, *arguments, entry=name, limit=20_000)
    except (StepLimit, NotImplementedError, AssertionError):  # the last: an index that the text does not guard
        return "not run"
    except Exception as error:
        return type(error), str(error)
    return [plain(v) for v in results], [plain(v) for v in arguments]


def plain(value):
    """Equal just for the same results, nan and the sign of zero included."""
    if isinstance(value, np.ndarray):
        return [plain(x) for x in value.ravel().tolist()]
    return value.hex() if isinstance(value, float) else value
